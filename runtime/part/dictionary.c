/* dictionary.c: the different texts of a column and their codes, found by all workers in one table.
 *
 * Comes in: an array of texts. Goes out: codes that hang on its buffer, unless a sample of its rows shows
 * that most are different, or the table fills. Always holds: the dictionary is in ascending order, so that
 * codes compare as the texts do and no schedule shows; a column that gets no codes is only slower.
 *
 * Texts of at most 16 bytes are two words, compared and hashed as such; longer ones have XXH3's hash
 * (github.com/Cyan4973/xxHash) and are compared by their bytes. The table has open addresses; a slot is 0 or
 * holds 32 bits of the hash and an entry number + 1, and changes once, from 0, by a compare-and-swap that
 * releases the entry written before it; probes acquire it. A worker that loses the race for a slot keeps its
 * entry for the next new text. A table that a cache holds is tried first: most columns that have codes have
 * few; then one whose entries have numbers of two bytes, as the numbers of all rows may have to live in a
 * file. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "part/dictionary.h"

#include "data/unwritten.h"
#include "part/part_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
  LEAST_ROWS = 1 << 12, /* below that hashing anew is as good */
  SAMPLE = 1 << 16,
  PLACES = 1 << 4, /* so many parts of the column have the sample, */
  EVERY = 1 << 5,  /* of which one row in so many is in it: one that lives in a file comes by large pages */
  FIRST = SAMPLE / PLACES, /* of them are looked at first: where fewer than */
  REPEATS = FIRST / 256,   /* have a text that was met before, far too few of all will */
  AHEAD = 64,              /* texts of it that are asked for at once */
  NARROW = UINT16_MAX,     /* entries that are numbered by two bytes */
  PROBES = 1 << 9,         /* of one text, before it is given up */
  PIECE = 1 << 14,         /* rows of one task, which may leave one entry unused */
  SHORT = 16,
  FLAGS = 257 /* texts of at most one byte */
};

typedef struct Word2 {
  uint64_t low, high;
} Word2;

typedef struct Entry {
  Word2 word;
  FlText text;
} Entry;

/* The tables that are tried one after the other: different texts, and twice as many slots. */
static const struct {
  int slot_bits;
  int64_t room;
} sizes[] = {{12, 1 << 11}, {17, NARROW}, {19, 1 << 18}};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct Table {
  const FlText *texts;
  int64_t n;
  int slot_bits;
  _Atomic uint64_t *slots;
  Entry *entries;
  int64_t room;
  _Atomic int64_t n_entries;
  _Atomic int32_t full;
  void *found;   /* [n] entry of each row, */
  int32_t width; /* of so many bytes */
} Table;

static inline uint64_t load8(const char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* The bytes of a short text, zeros behind them; of a long one its hash. Equal texts give equal words, and
 * with the length short texts of equal words are equal. */
static inline Word2 words_of(FlText t) {
  if (t.len > SHORT) return (Word2){XXH3_64bits(t.ptr, (size_t)t.len), 0};
  if (t.len > 8) return (Word2){load8(t.ptr), load8(t.ptr + t.len - 8) >> (8 * (SHORT - t.len))};
  if (t.len == 8) return (Word2){load8(t.ptr), 0};
  if (t.len >= 4) {
    uint32_t head, tail;
    memcpy(&head, t.ptr, sizeof head);
    memcpy(&tail, t.ptr + t.len - 4, sizeof tail);
    return (Word2){head | (uint64_t)tail << (8 * (t.len - 4)), 0};
  }
  uint64_t low = 0;
  for (int64_t k = 0; k < t.len; k++) low |= (uint64_t)(unsigned char)t.ptr[k] << (8 * k);
  return (Word2){low, 0};
}

static inline uint64_t hash_of(Word2 w, int64_t len) {
  unsigned __int128 product = (unsigned __int128)(w.low ^ UINT64_C(0xa0761d6478bd642f)) *
                              (w.high ^ (uint64_t)len ^ UINT64_C(0xe7037ed1a0b428db));
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#if defined(__x86_64__)
/* The same by one load of as many bytes as there are, since how long a text is cannot be foreseen. */
__attribute__((target("avx512bw,avx512vl"))) static void hash_masked(const FlText *texts, int64_t n,
                                                                     Word2 *word, uint64_t *hash) {
  for (int64_t i = 0; i < n; i++) {
    if (texts[i].len > SHORT) {
      word[i] = words_of(texts[i]);
    } else {
      const __mmask16 bytes = (__mmask16)((1u << texts[i].len) - 1);
      const __m128i all = _mm_maskz_loadu_epi8(bytes, texts[i].ptr);
      word[i] = (Word2){(uint64_t)_mm_cvtsi128_si64(all), (uint64_t)_mm_extract_epi64(all, 1)};
    }
    hash[i] = hash_of(word[i], texts[i].len);
  }
}
#endif

/* Words and hashes of some texts. */
static void hash_texts(const FlText *texts, int64_t n, Word2 *word, uint64_t *hash) {
#if defined(__x86_64__)
  if (fl_cpu_level() >= 4) {
    hash_masked(texts, n, word, hash);
    return;
  }
#endif
  for (int64_t i = 0; i < n; i++) {
    word[i] = words_of(texts[i]);
    hash[i] = hash_of(word[i], texts[i].len);
  }
}

static inline bool is_text(const Entry *e, Word2 w, FlText t) {
  if (e->word.low != w.low || e->word.high != w.high || e->text.len != t.len) return false;
  return t.len <= SHORT || memcmp(e->text.ptr, t.ptr, (size_t)t.len) == 0;
}

/* The entry of a text, -1 when there is no room for it. *spare: an unused entry of this task, or -1. */
static inline int64_t find_or_add(Table *t, Word2 w, uint64_t hash, FlText text, int64_t *spare) {
  const uint64_t mask = (UINT64_C(1) << t->slot_bits) - 1, tag = hash >> 32 << 32;
  uint64_t at = hash & mask;
  for (int probe = 0; probe < PROBES; probe++, at = (at + 1) & mask) {
    uint64_t slot = atomic_load_explicit(&t->slots[at], memory_order_acquire);
    if (slot == 0) {
      if (*spare < 0) *spare = atomic_fetch_add_explicit(&t->n_entries, 1, memory_order_relaxed);
      if (*spare >= t->room) return -1;
      t->entries[*spare] = (Entry){w, text};
      if (atomic_compare_exchange_strong_explicit(&t->slots[at], &slot, tag | (uint64_t)(*spare + 1),
                                                  memory_order_acq_rel, memory_order_acquire)) {
        int64_t id = *spare;
        *spare = -1;
        return id;
      }
    }
    if ((slot ^ tag) >> 32 != 0) continue;
    int64_t id = (int64_t)(slot & UINT32_MAX) - 1;
    if (is_text(&t->entries[id], w, text)) return id;
  }
  return -1;
}

static inline int flag_of(FlText text) { return text.len ? 1 + (unsigned char)*text.ptr : 0; }

/* The same for a text of at most one byte, as columns of flags have them: each is hashed once. flags: entries
 * + 1 of those that were met, 0 of others. */
static inline int64_t find_flag(Table *t, uint32_t *flags, FlText text, int64_t *spare) {
  uint32_t *flag = &flags[flag_of(text)];
  if (*flag == 0) {
    Word2 w = words_of(text);
    *flag = (uint32_t)(find_or_add(t, w, hash_of(w, text.len), text, spare) + 1);
  }
  return (int64_t)*flag - 1;
}

/* The entries of n texts, where each is of at most one byte and was met before. */
static bool find_flags(const Table *t, const uint32_t *flags, const FlText *texts, int64_t n, void *to) {
  bool all = true;
  for (int64_t i = 0; i < n; i++) all &= texts[i].len <= 1;
  if (!all) return false;
  for (int64_t i = 0; i < n; i++) {
    uint32_t flag = flags[flag_of(texts[i])];
    all &= flag != 0;
    if (t->width == 2) ((uint16_t *)to)[i] = (uint16_t)(flag - 1);
    else ((uint32_t *)to)[i] = flag - 1;
  }
  return all;
}

static int32_t find_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Table *t = (Table *)(uintptr_t)env;
  Word2 word[FL_PART_BATCH];
  uint64_t hash[FL_PART_BATCH];
  const uint64_t mask = (UINT64_C(1) << t->slot_bits) - 1;
  uint32_t flags[FLAGS] = {0};
  int64_t spare = -1, last = fl_part_min(end * PIECE, t->n);
  FlSlices slices = fl_part_slices(ctx, t->found, FL_PART_BATCH * t->width, 1);
  for (int64_t row = begin * PIECE; row < last; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, last - row);
    if (atomic_load_explicit(&t->full, memory_order_relaxed)) break;
    void *to = fl_slice(&slices, (char *)t->found + row * t->width);
    const bool found = find_flags(t, flags, t->texts + row, count, to);
    if (!found) hash_texts(t->texts + row, count, word, hash);
    for (int64_t i = 0; !found && i < count; i++) __builtin_prefetch((const void *)&t->slots[hash[i] & mask]);
    for (int64_t i = 0; !found && i < count; i++) {
      FlText text = t->texts[row + i];
      int64_t id =
          text.len <= 1 ? find_flag(t, flags, text, &spare) : find_or_add(t, word[i], hash[i], text, &spare);
      if (id < 0) atomic_store_explicit(&t->full, 1, memory_order_relaxed);
      if (t->width == 2) ((uint16_t *)to)[i] = (uint16_t)id;
      else ((uint32_t *)to)[i] = (uint32_t)id;
    }
    fl_slice_done(&slices, count * t->width);
  }
  fl_slices_end(&slices);
  /* What nobody points to has no length that a text can have. */
  if (spare >= 0 && spare < t->room) t->entries[spare].text.len = -1;
  return 0;
}

/* Row k of the sample of a column. */
static int64_t sampled(int64_t n, int64_t wanted, int64_t k) {
  enum { EACH = SAMPLE / PLACES };
  if (n < (int64_t)SAMPLE * EVERY)
    return fl_part_sampled((int64_t)((__int128)n * k / wanted), (int64_t)((__int128)n * (k + 1) / wanted), k);
  int64_t begin = k / EACH * (n / PLACES) + k % EACH * EVERY;
  return fl_part_sampled(begin, begin + EVERY, k);
}

/* The texts k to k + n of a sample of so many, from everywhere; their bytes are on the way. */
static void sample_texts(const Table *t, int64_t wanted, int64_t k, int64_t n, FlText *text) {
  int64_t row[AHEAD];
  for (int64_t i = 0; i < n; i++) {
    const int64_t which = wanted < SAMPLE ? k + i : (k + i) * PLACES % SAMPLE + (k + i) / FIRST;
    row[i] = sampled(t->n, wanted, which);
    __builtin_prefetch(&t->texts[row[i]]);
  }
  for (int64_t i = 0; i < n; i++) {
    text[i] = t->texts[row[i]];
    __builtin_prefetch(text[i].ptr);
  }
}

/* Whether a sample has few enough different texts. The table is empty again: its texts are to be those that
 * workers meet first, which stand close together, so that comparing them needs few pages of the file. */
static bool sample_repeats(Table *t) {
  int64_t wanted = fl_part_min(t->n, SAMPLE), spare = -1;
  FlText text[AHEAD];
  for (int64_t k = 0; k < wanted; k++) {
    if (k % AHEAD == 0) sample_texts(t, wanted, k, fl_part_min(AHEAD, wanted - k), text);
    if (k == FIRST && wanted == SAMPLE && atomic_load(&t->n_entries) > FIRST - REPEATS) return false;
    FlText met = text[k % AHEAD];
    Word2 w = words_of(met);
    if (find_or_add(t, w, hash_of(w, met.len), met, &spare) < 0) return false;
  }
  int64_t different = atomic_load(&t->n_entries);
  atomic_store(&t->n_entries, 0);
  memset((void *)t->slots, 0, sizeof *t->slots << t->slot_bits);
  return wanted == t->n ? different <= t->n / 4 : different <= wanted / 5 * 4;
}

typedef struct Renumber {
  const void *found;
  const uint32_t *place;
  void *codes;
  int32_t from, width; /* bytes of a number that was found, and of a code */
} Renumber;

#define RENUMBER(FROM, TO)                                                                                   \
  for (int64_t i = 0; i < n; i++) ((TO *)to)[i] = (TO)r->place[((const FROM *)r->found)[row + i]]

static int32_t renumber_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  enum { BATCH = 1 << 12 };
  const Renumber *r = env;
  FlSlices slices = fl_part_slices(ctx, r->codes, BATCH * r->width, 1);
  for (int64_t row = begin; row < end; row += BATCH) {
    int64_t n = fl_part_min(BATCH, end - row);
    void *to = fl_slice(&slices, (char *)r->codes + row * r->width);
    if (r->from == 4 && r->width == 4) RENUMBER(uint32_t, uint32_t);
    else if (r->from == 4) RENUMBER(uint32_t, uint16_t);
    else if (r->width == 2) RENUMBER(uint16_t, uint16_t);
    else RENUMBER(uint16_t, uint8_t);
    fl_slice_done(&slices, n * r->width);
  }
  fl_slices_end(&slices);
  return 0;
}

/* Puts the texts in order: place[entry]. */
static FlDictionary *in_order(FlPartMem *m, const Table *t, uint32_t *place) {
  int64_t n = fl_part_min(atomic_load(&t->n_entries), t->room), used = 0;
  FlText *texts = fl_part_alloc(m, n, sizeof *texts);
  FlPartPair *items = fl_part_alloc(m, n, sizeof *items), *spare = fl_part_alloc(m, n, sizeof *spare);
  if (texts == NULL || items == NULL || spare == NULL) return NULL;
  for (int64_t k = 0; k < n; k++) {
    texts[k] = t->entries[k].text;
    if (texts[k].len >= 0) items[used++].row = k;
  }
  FlPartTexts side = {{texts, NULL}, n};
  if (fl_part_order_texts(m, &side, items, spare, used) != 0) return NULL;
  FlDictionary *d = fl_dictionary_new(m->ctx, used);
  for (int64_t k = 0; d != NULL && k < used; k++) {
    d->texts[k] = texts[items[k].row];
    place[items[k].row] = (uint32_t)k;
  }
  return d;
}

static FlStatus attach(FlPartMem *m, const Table *t, const FlArray *a) {
  uint32_t *place = fl_part_alloc(m, t->room, sizeof *place);
  FlDictionary *d = place != NULL ? in_order(m, t, place) : NULL;
  if (d == NULL) return 1;
  Renumber r = {t->found, place, NULL, t->width, fl_text_codes_width(d->n)};
  FlBuffer *codes = fl_buffer_new(m->ctx, t->n * r.width);
  r.codes = codes != NULL ? codes->data : NULL;
  if (codes == NULL || fl_part_for(m->ctx, renumber_body, &r, t->n, 1.0) != 0) {
    fl_buffer_unref(codes);
    fl_dictionary_unref(d);
    return 1;
  }
  (void)fl_text_codes_attach(a, d, codes, r.width); /* false: another thread was first, with the same */
  return 0;
}

/* Of a size of sizes[], in the place of a smaller one. */
static FlStatus make_table(FlPartMem *m, Table *t, int size) {
  int32_t width = sizes[size].room <= NARROW ? 2 : 4;
  if (size > 0) {
    fl_part_release(m, (void *)t->slots);
    fl_part_release(m, t->entries);
  }
  if (width != t->width) {
    if (size > 0) fl_part_release(m, t->found);
    t->width = width;
    if ((t->found = fl_part_alloc(m, t->n, (size_t)width)) == NULL) return 1;
  }
  t->slot_bits = sizes[size].slot_bits;
  t->room = sizes[size].room;
  t->slots = fl_part_zalloc(m, INT64_C(1) << t->slot_bits, sizeof *t->slots);
  t->entries = fl_part_alloc(m, t->room, sizeof *t->entries);
  atomic_store(&t->n_entries, 0);
  atomic_store(&t->full, 0);
  return t->slots == NULL || t->entries == NULL;
}

static FlStatus find_all(FlPartMem *m, Table *t) {
  return fl_part_for(m->ctx, find_body, t, (t->n + PIECE - 1) / PIECE, 8.0 * PIECE);
}

/* `any`: however many rows a text has. */
static FlStatus find_codes(FlPartMem *m, const FlArray *a, bool any) {
  Table t = {.texts = a->data, .n = a->dims[0]};
  for (int size = 0; size < SIZES; size++) {
    if (make_table(m, &t, size) != 0) return 1;
    if (size == 1 && !any && !sample_repeats(&t)) return 0;
    if (find_all(m, &t) != 0) return 1;
    if (!atomic_load(&t.full))
      return any || size > 0 || atomic_load(&t.n_entries) <= t.n / 4 ? attach(m, &t, a) : 0;
  }
  return 0;
}

FlStatus fl_part_find_codes(FlCtx *ctx, const FlArray *a, bool any) {
  const void *codes;
  bool whole =
      a->rank == 1 && a->data == a->buffer->data && a->dims[0] * (int64_t)sizeof(FlText) == a->buffer->bytes;
  const bool many = any || a->dims[0] >= LEAST_ROWS || a->dims[0] >= fl_unwritten_from();
  if (a->dtype != FL_TEXT || !whole || !many) return 0;
  if (fl_text_codes(a, &codes) != NULL) return 0;
  FlPartMem m = {.ctx = ctx};
  FlStatus status = find_codes(&m, a, any);
  fl_part_mem_reset(&m);
  return status;
}
