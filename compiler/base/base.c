/* base.c: see base.h. Arenas are chains of blocks; maps and the interner are open-addressing tables that live
 * in an arena and abandon their old slots when they grow. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- guards ----
 *
 * What is made within a guard is in its lists, so that it can be freed when the work is left in the middle.
 */

typedef struct Link {
  struct Link *prev, *next; /* itself: in no list */
} Link;

typedef struct Guard {
  struct Guard *outer;
  jmp_buf out;
  Link pieces, arenas;
  char bug[FL_BUG_TEXT]; /* what was found; "": memory is what was missing */
} Guard;

typedef struct Block {
  struct Block *next;
  size_t cap;
} Block;

typedef struct Arena {
  FlArena room; /* first, as others see it: of the block at the head */
  Link link;
  Block *head, *spare; /* spare: of what was cleared */
  size_t bytes;        /* of all blocks */
} Arena;

static FlArena *arena_of(Link *l) { return (FlArena *)((char *)l - offsetof(Arena, link)); }

/* The guard around what the thread does. The one thing that cannot be passed along: every function of the
 * compiler may ask for memory. */
static _Thread_local Guard *guard;

static void link_alone(Link *l) { l->prev = l->next = l; }

static void link_into(Link *list, Link *l) {
  if (!list) {
    link_alone(l);
    return;
  }
  l->prev = list;
  l->next = list->next;
  list->next->prev = l;
  list->next = l;
}

static void unlink_it(Link *l) {
  l->prev->next = l->next;
  l->next->prev = l->prev;
}

/* All of `from` to `to`; NULL: to no list. */
static void move_links(Link *from, Link *to) {
  while (from->next != from) {
    Link *l = from->next;
    unlink_it(l);
    link_into(to, l);
  }
}

void fl_no_memory(void) {
  if (guard) longjmp(guard->out, 1);
  static const char message[] = "flow: out of memory, and nobody who is told of it (fl_guard)\n";
  ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
  (void)ignored;
  abort();
}

void fl_bug(const char *fmt, ...) {
  char text[FL_BUG_TEXT];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (guard) {
    memcpy(guard->bug, text, sizeof text);
    longjmp(guard->out, 1);
  }
  fprintf(stderr, "internal error: %s\n", text);
  abort();
}

bool fl_guard_bugs(void (*work)(void *arg), void *arg, char bug[FL_BUG_TEXT]) {
  Guard g = {.outer = guard};
  link_alone(&g.pieces);
  link_alone(&g.arenas);
  bool done = setjmp(g.out) == 0;
  if (done) {
    guard = &g;
    work(arg);
  }
  guard = g.outer;
  if (done) {
    move_links(&g.pieces, guard ? &guard->pieces : NULL);
    move_links(&g.arenas, guard ? &guard->arenas : NULL);
    return true;
  }
  while (g.pieces.next != &g.pieces) fl_piece_free(g.pieces.next + 1);
  while (g.arenas.next != &g.arenas) fl_arena_free(arena_of(g.arenas.next));
  if (bug) memcpy(bug, g.bug, sizeof g.bug);
  else if (g.bug[0]) fl_bug("%s", g.bug); /* which is for a guard further out */
  return false;
}

bool fl_guard(void (*work)(void *arg), void *arg) { return fl_guard_bugs(work, arg, NULL); }

static void *must_alloc(size_t bytes) {
  void *p = malloc(bytes);
  if (!p) fl_no_memory();
  return p;
}

/* ---- pieces ---- */

void *fl_piece_new(size_t n, size_t size) {
  if (size && n > (SIZE_MAX - sizeof(Link)) / size) fl_no_memory();
  Link *l = calloc(1, sizeof *l + n * size);
  if (!l) fl_no_memory();
  link_into(guard ? &guard->pieces : NULL, l);
  return l + 1;
}

void *fl_piece_grow(void *piece, size_t bytes) {
  if (!piece) return fl_piece_new(1, bytes);
  Link *old = (Link *)piece - 1, *list = old->next == old ? NULL : old->prev;
  unlink_it(old);
  Link *l = realloc(old, sizeof *l + bytes);
  link_into(list, l ? l : old);
  if (!l) fl_no_memory();
  return l + 1;
}

void fl_piece_free(void *piece) {
  if (!piece) return;
  Link *l = (Link *)piece - 1;
  unlink_it(l);
  free(l);
}

static char *grow_bytes(FlBytes *b, size_t cap) { return fl_piece_grow(b->at, cap); }

static void free_bytes(FlBytes *b) { fl_piece_free(b->at); }

FlBytes fl_piece_bytes(void) {
  static const FlBytesMemory pieces = {grow_bytes, free_bytes};
  return (FlBytes){.memory = &pieces};
}

/* ---- arena ---- */

enum {
  BLOCK_BYTES = 1 << 16,
  HUGE_BYTES = 1 << 21, /* of a block once an arena is large: a page of the system that is cleared at once */
  MANY_BYTES = 1 << 19, /* such an arena */
  BLOCK_HEADER = (sizeof(Block) + 15) / 16 * 16
};

/* Of an arena without a block: there is no byte, and yet a place, as memset and its like ask for. */
static FlArena no_room(void) {
  static const _Alignas(16) char nothing[16];
  char *at = (char *)(uintptr_t)nothing;
  return (FlArena){at, at};
}

FlArena *fl_arena_new(void) {
  Arena *a = must_alloc(sizeof *a);
  *a = (Arena){.room = no_room()};
  link_into(guard ? &guard->arenas : NULL, &a->link);
  return &a->room;
}

static void free_blocks(Block *b) {
  while (b) {
    Block *next = b->next;
    free(b);
    b = next;
  }
}

void fl_arena_free(FlArena *arena) {
  Arena *a = (Arena *)arena;
  if (!a) return;
  free_blocks(a->head);
  free_blocks(a->spare);
  unlink_it(&a->link);
  free(a);
}

void fl_arena_clear(FlArena *arena) {
  Arena *a = (Arena *)arena;
  while (a->head) {
    Block *b = a->head;
    a->head = b->next;
    b->next = a->spare;
    a->spare = b;
  }
  a->room = no_room();
}

/* Of those that were cleared, one for that many bytes that is not much larger; NULL: there is none. */
static Block *spare_block(Arena *a, size_t bytes) {
  size_t most = bytes > BLOCK_BYTES / 4 ? 4 * bytes : HUGE_BYTES;
  for (Block **at = &a->spare; *at; at = &(*at)->next) {
    Block *b = *at;
    if (b->cap < bytes || b->cap > most) continue;
    *at = b->next;
    return b;
  }
  return NULL;
}

/* NULL: no memory. */
static Block *block_of(Arena *a, size_t bytes) {
  Block *b = spare_block(a, bytes);
  if (b) return b;
  bool huge = a->bytes >= MANY_BYTES && bytes <= BLOCK_BYTES / 4;
  size_t cap = huge ? HUGE_BYTES - BLOCK_HEADER : bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
  b = huge ? aligned_alloc(HUGE_BYTES, HUGE_BYTES) : malloc(BLOCK_HEADER + cap);
  if (!b) return NULL;
  if (huge) (void)madvise(b, HUGE_BYTES, MADV_HUGEPAGE);
  *b = (Block){.cap = cap};
  a->bytes += cap;
  return b;
}

/* From a new block; NULL: there is none. */
static void *try_block(Arena *a, size_t bytes) {
  Block *b = a->head, *fresh = block_of(a, bytes);
  if (!fresh) return NULL;
  char *p = (char *)fresh + BLOCK_HEADER;
  if (b && bytes > BLOCK_BYTES / 4) { /* a large piece goes behind the current block, which still has room */
    fresh->next = b->next;
    b->next = fresh;
  } else {
    fresh->next = b;
    a->head = fresh;
    a->room = (FlArena){p + bytes, p + fresh->cap};
  }
  return p;
}

/* NULL: there is none. */
static void *try_bytes(FlArena *a, size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  bool fits = (size_t)(a->end - a->at) >= bytes;
  return fits ? fl_arena_bytes(a, bytes) : try_block((Arena *)a, bytes);
}

void *fl_arena_bytes_of_new(FlArena *a, size_t bytes) {
  void *p = try_block((Arena *)a, bytes);
  if (!p) fl_no_memory();
  return p;
}

char *fl_arena_strndup(FlArena *a, const char *s, size_t len) {
  char *p = fl_arena_alloc(a, len + 1);
  if (len) memcpy(p, s, len);
  return p;
}

char *fl_arena_take(FlArena *a, char *text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char *p = try_bytes(a, size);
  if (p) memcpy(p, text, size);
  free(text);
  if (!p) fl_no_memory();
  return p;
}

/* Of a format of which all that it inserts are texts: the length of what it makes, and that at `out` unless
 * it is NULL. false: it is another one. */
static bool put_texts(const char *fmt, va_list ap, char *out, size_t *len) {
  size_t n = 0;
  for (const char *at = fmt; *at;) {
    bool text = *at == '%';
    if (text && at[1] != 's') return false;
    const char *from = text ? va_arg(ap, const char *) : at;
    if (text && !from) return false;
    size_t size = text ? strlen(from) : (size_t)(strchrnul(at, '%') - at);
    if (out) memcpy(out + n, from, size);
    n += size;
    at += text ? 2 : size;
  }
  if (out) out[n] = '\0';
  *len = n;
  return true;
}

char *fl_arena_printf(FlArena *a, const char *fmt, ...) {
  va_list ap;
  size_t len;
  va_start(ap, fmt);
  bool texts = put_texts(fmt, ap, NULL, &len);
  va_end(ap);
  char *at = a->at; /* where it stands already, if it has room there */
  size_t room = (size_t)(a->end - a->at);
  if (!texts) {
    va_start(ap, fmt);
    len = (size_t)vsnprintf(at, room, fmt, ap);
    va_end(ap);
  }
  char *p = fl_arena_bytes(a, len + 1);
  if (!texts && p == at && len < room) return p;
  va_start(ap, fmt);
  if (texts) (void)put_texts(fmt, ap, p, &len);
  else vsnprintf(p, len + 1, fmt, ap);
  va_end(ap);
  return p;
}

void *fl_vec_grow(FlArena *a, void *at, int n, int *cap, size_t size) {
  int want = *cap ? *cap * 2 : 8;
  char *p = fl_arena_bytes(a, (size_t)want * size);
  size_t used = (size_t)n * size;
  if (n) memcpy(p, at, used);
  memset(p + used, 0, (size_t)want * size - used);
  *cap = want;
  return p;
}

/* ---- interner ---- */

typedef struct Name {
  size_t len;
  char text[];
} Name;

struct FlInterner {
  FlArena *arena;
  Name **slots;
  size_t n, cap;
};

static uint64_t hash_bytes(const char *s, size_t len) { /* FNV-1a */
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
  return h;
}

FlInterner *fl_interner_make(FlArena *a) {
  FlInterner *in = FL_NEW(a, FlInterner);
  in->arena = a;
  in->cap = 256;
  in->slots = FL_NEW_ARRAY(a, Name *, in->cap);
  return in;
}

static Name **interner_slot(Name **slots, size_t cap, const char *s, size_t len) {
  size_t i = (size_t)hash_bytes(s, len) & (cap - 1);
  while (slots[i] && (slots[i]->len != len || (len && memcmp(slots[i]->text, s, len) != 0)))
    i = (i + 1) & (cap - 1);
  return &slots[i];
}

const char *fl_intern(FlInterner *in, const char *s, size_t len) {
  Name **slot = interner_slot(in->slots, in->cap, s, len);
  if (*slot) return (*slot)->text;
  if ((in->n + 1) * 2 > in->cap) {
    size_t cap = in->cap * 2;
    Name **slots = FL_NEW_ARRAY(in->arena, Name *, cap);
    for (size_t i = 0; i < in->cap; i++)
      if (in->slots[i]) *interner_slot(slots, cap, in->slots[i]->text, in->slots[i]->len) = in->slots[i];
    in->slots = slots;
    in->cap = cap;
    slot = interner_slot(in->slots, in->cap, s, len);
  }
  Name *name = fl_arena_alloc(in->arena, sizeof *name + len + 1);
  name->len = len;
  if (len) memcpy(name->text, s, len);
  *slot = name;
  in->n++;
  return name->text;
}

const char *fl_intern_z(FlInterner *in, const char *s) { return fl_intern(in, s, strlen(s)); }

/* ---- map ---- */

typedef struct Entry {
  const void *key;
  void *value;
} Entry;

struct FlMap {
  FlArena *arena;
  Entry *slots;
  size_t n, cap;
};

FlMap *fl_map_make(FlArena *a) {
  FlMap *m = FL_NEW(a, FlMap);
  m->arena = a;
  m->cap = 16;
  m->slots = FL_NEW_ARRAY(a, Entry, m->cap);
  return m;
}

static Entry *map_slot(Entry *slots, size_t cap, const void *key) {
  uint64_t h = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
  size_t i = (size_t)(h >> 32) & (cap - 1);
  while (slots[i].key && slots[i].key != key) i = (i + 1) & (cap - 1);
  return &slots[i];
}

void *fl_map_get(const FlMap *m, const void *key) { return map_slot(m->slots, m->cap, key)->value; }

void fl_map_set(FlMap *m, const void *key, void *value) {
  Entry *e = map_slot(m->slots, m->cap, key);
  if (!e->key) {
    if ((m->n + 1) * 2 > m->cap) {
      size_t cap = m->cap * 2;
      Entry *slots = FL_NEW_ARRAY(m->arena, Entry, cap);
      for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].key) *map_slot(slots, cap, m->slots[i].key) = m->slots[i];
      m->slots = slots;
      m->cap = cap;
      e = map_slot(slots, cap, key);
    }
    e->key = key;
    m->n++;
  }
  e->value = value;
}

/* ---- text builder ---- */

static void text_reserve(FlText1 *t, size_t more) {
  if (t->len + more + 1 <= t->cap) return;
  size_t cap = t->cap ? t->cap : 128;
  while (cap < t->len + more + 1) cap *= 2;
  t->s = fl_piece_grow(t->s, cap);
  t->cap = cap;
}

void fl_text_add(FlText1 *t, const char *s, size_t len) {
  text_reserve(t, len);
  if (len) memcpy(t->s + t->len, s, len);
  t->len += len;
  t->s[t->len] = '\0';
}

void fl_text_addz(FlText1 *t, const char *s) { fl_text_add(t, s, strlen(s)); }
void fl_text_addc(FlText1 *t, char c) { fl_text_add(t, &c, 1); }

void fl_text_addf(FlText1 *t, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int len = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  text_reserve(t, (size_t)len);
  vsnprintf(t->s + t->len, (size_t)len + 1, fmt, again);
  va_end(again);
  t->len += (size_t)len;
}

void fl_text_reset(FlText1 *t) {
  fl_piece_free(t->s);
  *t = (FlText1){0};
}

/* ---- spelling ---- */

/* Optimal string alignment distance, cut off above `limit`. */
static int distance(const char *a, const char *b, int limit) {
  enum { MAX = 64 };
  int na = (int)strlen(a), nb = (int)strlen(b);
  if (na > MAX || nb > MAX || na - nb > limit || nb - na > limit) return limit + 1;
  int rows[3][MAX + 1];
  for (int j = 0; j <= nb; j++) rows[0][j] = j;
  for (int i = 1; i <= na; i++) {
    int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int best = up[j - 1] + (a[i - 1] != b[j - 1]);
      if (up[j] + 1 < best) best = up[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
        best = up2[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[na % 3][nb];
}

const char *fl_closest(const char *name, const char *const *candidates, int n) {
  int limit = (int)strlen(name) / 3;
  if (limit < 1) limit = 1;
  const char *best = NULL;
  int best_distance = limit + 1;
  for (int i = 0; i < n; i++) {
    int d = distance(name, candidates[i], limit);
    if (d < best_distance && d < (int)strlen(candidates[i])) {
      best_distance = d;
      best = candidates[i];
    }
  }
  return best;
}
