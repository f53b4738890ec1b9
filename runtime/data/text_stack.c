/* text_stack.c: texts that one thread makes, which die together: those of a round of a loop, or of a call.
 *
 * In: sizes, marks. Out: bytes that live until what stands around is left (fl_texts_leave), unless they are
 * named as alive then. Short texts are cut from chunks, one behind the other; each long one is a block of its
 * own, which stays where it is as long as it lives, and has room to grow when texts are appended to it again
 * and again. What always holds: bytes that were given out are never written again, only those behind them;
 * leaving a mark voids every mark that was made later; nothing is locked, as only one thread may use a stack.
 */
#include "data/data_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
  LONG = 1024,            /* bytes from which a text is a block of its own */
  CHUNK_MIN = 4096,       /* bytes of the first chunk, */
  CHUNK_MAX = 256 * 1024, /* and at most */
  LOOKED_AT = 8,          /* long texts, the newest first, among which one that grows is found */
  WORTH = 4               /* a long text of which less than one in so many is alive is copied */
};

typedef struct Chunk {
  struct Chunk *below;
  size_t size;
  char bytes[];
} Chunk;

typedef struct Long {
  struct Long *older;
  FlBlock block; /* of the pool; capacity 0: from malloc */
  size_t used, capacity;
  char bytes[];
} Long;

struct FlTextStack {
  FlPool *pool;
  char *at, *end; /* what is free of `top` */
  Chunk *top, *spare;
  Long *newest;
};

FlTextStack *fl_text_stack_new(FlPool *pool) {
  FlTextStack *s = calloc(1, sizeof *s);
  if (!s) fl_pool_give_up(pool, (int64_t)sizeof *s);
  else s->pool = pool;
  return s;
}

static void free_long(FlTextStack *s, Long *l) {
  FlBlock block = l->block;
  if (block.capacity) fl_pool_give(s->pool, block);
  else free(l);
}

static Long *pop_long(FlTextStack *s) {
  Long *l = s->newest;
  s->newest = l->older;
  return l;
}

void fl_text_stack_free(FlTextStack *s) {
  while (s->newest) free_long(s, pop_long(s));
  for (Chunk *c = s->top; c;) {
    Chunk *below = c->below;
    free(c);
    c = below;
  }
  free(s->spare);
  free(s);
}

/* ---- making ------------------------------------------------------------------------------------------- */

static bool add_chunk(FlTextStack *s, size_t n) {
  size_t size = s->top ? s->top->size * 2 : CHUNK_MIN;
  if (size > CHUNK_MAX) size = CHUNK_MAX;
  if (size < n) size = n;
  Chunk *c = s->spare && s->spare->size >= n ? s->spare : NULL;
  if (c) s->spare = NULL;
  else if ((c = malloc(sizeof *c + size))) c->size = size;
  if (!c) {
    fl_pool_give_up(s->pool, (int64_t)size);
    return false;
  }
  c->below = s->top;
  s->top = c;
  s->at = c->bytes;
  s->end = c->bytes + c->size;
  return true;
}

static char *add_long(FlTextStack *s, size_t n, size_t capacity) {
  FlBlock block = {0};
  size_t need = sizeof(Long) + capacity;
  bool large = s->pool && need >= FL_POOL_MIN;
  Long *l = large ? NULL : malloc(need);
  if (large && fl_pool_take(s->pool, need, FL_BLOCK_SWEPT, &block)) l = block.data;
  if (!l) {
    fl_pool_give_up(s->pool, (int64_t)need);
    return NULL;
  }
  *l = (Long){.older = s->newest, .block = block, .used = n, .capacity = capacity};
  s->newest = l;
  return l->bytes;
}

char *fl_text_stack_alloc(FlTextStack *s, size_t n) {
  if (n >= LONG) return add_long(s, n, n);
  if ((size_t)(s->end - s->at) < n && !add_chunk(s, n)) return NULL;
  char *out = s->at;
  s->at += n;
  return out;
}

/* The long text that ends where `end` is. */
static Long *long_to(FlTextStack *s, const char *end) {
  Long *l = s->newest;
  for (int k = 0; l && k < LOOKED_AT; k++, l = l->older)
    if (l->bytes + l->used == end) return l;
  return NULL;
}

char *fl_text_stack_append(FlTextStack *s, const char *text, size_t n, size_t more) {
  if (n && text + n == s->at && (size_t)(s->end - s->at) >= more && n + more < LONG) {
    s->at += more;
    return (char *)(uintptr_t)text;
  }
  if (n + more < LONG) return fl_text_stack_alloc(s, n + more);
  Long *l = n >= LONG ? long_to(s, text + n) : NULL;
  if (!l) return add_long(s, n + more, n + more);
  if (l->capacity - l->used >= more) {
    l->used += more;
    return (char *)(uintptr_t)text;
  }
  return add_long(s, n + more, 2 * (n + more));
}

/* ---- leaving ------------------------------------------------------------------------------------------ */

void fl_text_stack_mark(const FlTextStack *s, FlTextMark *mark) {
  *mark = (FlTextMark){s->top, s->at, s->newest};
}

/* Does `t` lie in the chunks above the mark, or reach there: one that was made before, and appended to since?
 */
static bool is_above(const FlTextStack *s, const FlTextMark *mark, const FlText *t) {
  for (const Chunk *c = s->top; c; c = c->below) {
    const char *from = c == mark->chunk ? mark->at : c->bytes;
    if (t->ptr >= c->bytes && t->ptr < c->bytes + c->size && t->ptr + t->len > from) return true;
    if (c == mark->chunk) return false;
  }
  return false;
}

static bool is_in(const Long *l, const FlText *t) {
  return t->ptr >= l->bytes && t->ptr < l->bytes + l->used;
}

static void pop_chunks(FlTextStack *s, const FlTextMark *mark) {
  while (s->top != mark->chunk) {
    Chunk *c = s->top;
    s->top = c->below;
    Chunk *larger = s->spare && s->spare->size >= c->size ? s->spare : c;
    free(larger == c ? s->spare : c);
    s->spare = larger;
  }
  s->at = mark->at;
  s->end = s->top ? s->top->bytes + s->top->size : mark->at;
}

/* Long texts above the mark go, but for those that are alive; of these only what is alive counts as used.
 * Returns those of which too little is alive: these are copied, and then freed. */
static Long *sort_long(FlTextStack *s, const FlTextMark *mark, const FlText *live, int32_t n) {
  Long *kept = NULL, *small = NULL;
  while (s->newest != mark->newest) {
    Long *l = pop_long(s);
    size_t used = 0, alive = 0;
    for (int32_t i = 0; i < n; i++)
      if (is_in(l, &live[i])) {
        size_t end = (size_t)(live[i].ptr - l->bytes) + (size_t)live[i].len;
        alive += (size_t)live[i].len;
        if (end > used) used = end;
      }
    Long **to = alive < LONG || alive < l->used / WORTH ? &small : &kept;
    if (!used) {
      free_long(s, l);
      continue;
    }
    if (to == &kept) l->used = used;
    l->older = *to;
    *to = l;
  }
  while (kept) {
    Long *l = kept;
    kept = l->older;
    l->older = s->newest;
    s->newest = l;
  }
  return small;
}

bool fl_text_stack_has(const FlTextStack *s, const char *text) {
  static const FlTextMark all = {0};
  FlText t = {text, 1};
  if (is_above(s, &all, &t)) return true;
  const Long *l = s->newest;
  while (l && !is_in(l, &t)) l = l->older;
  return l != NULL;
}

/* Which of the texts lie where memory is about to be given away; their bytes together. */
static size_t find_moving(const FlTextStack *s, const FlTextMark *mark, const Long *small, const FlText *live,
                          int32_t n, bool *moves) {
  size_t bytes = 0;
  for (int32_t i = 0; i < n; i++) {
    moves[i] = live[i].len > 0 && is_above(s, mark, &live[i]);
    for (const Long *l = small; l && live[i].len > 0 && !moves[i]; l = l->older)
      moves[i] = is_in(l, &live[i]);
    if (moves[i]) bytes += (size_t)live[i].len;
  }
  return bytes;
}

/* There is no memory to move what is alive: all of it stays where it is. */
static void stay(FlTextStack *s, Long *small, int64_t bytes) {
  while (small) {
    Long *l = small;
    small = l->older;
    l->older = s->newest;
    s->newest = l;
  }
  fl_pool_give_up(s->pool, bytes);
}

void fl_text_stack_leave(FlTextStack *s, const FlTextMark *mark, FlText *live, int32_t n) {
  if (s->at == mark->at && s->top == mark->chunk && s->newest == mark->newest) return;
  bool few_move[16], *moves = n <= 16 ? few_move : malloc((size_t)n * sizeof *moves);
  if (!moves) {
    stay(s, NULL, n);
    return;
  }
  Long *small = sort_long(s, mark, live, n);
  /* What has to move is gathered outside before its place is given away. */
  size_t bytes = find_moving(s, mark, small, live, n, moves), at = 0;
  char few[LONG], *gathered = bytes <= sizeof few ? few : malloc(bytes);
  if (!gathered) {
    stay(s, small, (int64_t)bytes);
    if (moves != few_move) free(moves);
    return;
  }
  for (int32_t i = 0; i < n && bytes; i++) {
    if (!moves[i]) continue;
    memcpy(gathered + at, live[i].ptr, (size_t)live[i].len);
    at += (size_t)live[i].len;
  }
  while (small) {
    Long *l = small;
    small = l->older;
    free_long(s, l);
  }
  pop_chunks(s, mark);
  at = 0;
  for (int32_t i = 0; i < n && bytes; i++) {
    if (!moves[i]) continue;
    char *to = fl_text_stack_alloc(s, (size_t)live[i].len);
    size_t len = (size_t)live[i].len;
    live[i] = to ? (FlText){memcpy(to, gathered + at, len), live[i].len} : (FlText){NULL, 0};
    at += len;
  }
  if (moves != few_move) free(moves);
  if (gathered != few) free(gathered);
}
