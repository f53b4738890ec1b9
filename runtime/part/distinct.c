/* distinct.c: the first rows of all keys.
 *
 * Comes in: key columns. Goes out: the rows that no row before them equals, ascending. Always holds: nothing
 * depends on the way that is gone, nor on how much memory there is.
 *
 * Words that are hardly more than the rows have a bit each (group_table.c); what fits in memory is grouped
 * (group.c). Else nearly all rows may be first ones, and few bits a row tell most of them: a row's hash sets
 * some bits of a word, at once, and a row that finds them set may equal one before it, which is noted by bits
 * of a second, smaller set. Another sweep does the same with the rows whose bits are there, by another hash.
 * The few rows that both second sets have are gathered and sorted; all others are first rows. Where too many
 * are left the rows move (order_parts.c). */
#include "part/part_internal.h"

enum { LEVELS = 2 };

/* A set of hashes, and some that are not in it. */
typedef struct Filter {
  uint64_t *words;
  uint64_t n;
} Filter;

typedef struct Bits {
  const FlPartCodes *codes;
  Filter once, again[LEVELS]; /* rows that went by; those that met their bits */
  int32_t levels;             /* of `again`, that rows are asked for */
  int64_t most;               /* rows that may be met, or gathered */
  _Atomic int64_t met;
  FlPartPair *pairs; /* those that are gathered */
  uint64_t *first;
} Bits;

/* ---- hashes -------------------------------------------------------------------------------------------- */

static inline uint64_t hash_of(uint64_t word, int32_t level) {
  return fl_part_mix(word + (uint64_t)level * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t *place_of(const Filter *f, uint64_t hash) {
  return &f->words[(uint64_t)((unsigned __int128)hash * f->n >> 64)];
}

static inline uint64_t bits_of(uint64_t hash) {
  return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) | UINT64_C(1) << (hash >> 12 & 63);
}

/* Whether it was there. Of two that enter the same one of them sees it: all of its bits are one word. */
static inline bool enter(const Filter *f, uint64_t hash) {
  uint64_t bits = bits_of(hash);
  return (__atomic_fetch_or(place_of(f, hash), bits, __ATOMIC_RELAXED) & bits) == bits;
}

static inline bool has(const Filter *f, uint64_t hash) {
  uint64_t bits = bits_of(hash);
  return (*place_of(f, hash) & bits) == bits;
}

/* The rows of n words that every level has met, by their places in `at`. */
static int64_t find_met(const Bits *b, const uint64_t *word, int64_t n, int32_t *at) {
  int64_t found = n;
  for (int64_t i = 0; i < n; i++) at[i] = (int32_t)i;
  for (int32_t level = 0; level < b->levels; level++) {
    int64_t some = found;
    found = 0;
    for (int64_t k = 0; k < some; k++)
      __builtin_prefetch(place_of(&b->again[level], hash_of(word[at[k]], level)));
    for (int64_t k = 0; k < some; k++) {
      int32_t i = at[k];
      at[found] = i;
      found += has(&b->again[level], hash_of(word[i], level));
    }
  }
  return found;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

/* Counts; false: there are more than there may be. */
static bool count_met(Bits *b, int64_t n) {
  return atomic_fetch_add_explicit(&b->met, n, memory_order_relaxed) + n <= b->most;
}

/* Rows go by the next level. */
static int32_t enter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Bits *b = (Bits *)(uintptr_t)env;
  uint64_t word[FL_PART_BATCH];
  int32_t at[FL_PART_BATCH];
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, b->codes->n, &from, &to);
    if (ctx != NULL) fl_pool_breathe(fl_ctx_pool(ctx));
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row), met = 0;
      fl_part_read_words(b->codes, 0, row, n, word);
      int64_t some = find_met(b, word, n, at);
      for (int64_t k = 0; k < some; k++) {
        word[k] = hash_of(word[at[k]], b->levels);
        __builtin_prefetch(place_of(&b->once, word[k]), 1);
      }
      for (int64_t k = 0; k < some; k++) {
        if (!enter(&b->once, word[k])) continue;
        (void)enter(&b->again[b->levels], word[k]);
        met++;
      }
      if (met > 0 && !count_met(b, met)) return 0;
    }
  }
  return 0;
}

/* Gathers the rows that all levels have met; the others are first rows. */
static int32_t gather_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Bits *b = (Bits *)(uintptr_t)env;
  uint64_t word[FL_PART_BATCH];
  int32_t at[FL_PART_BATCH];
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, b->codes->n, &from, &to);
    if (ctx != NULL) fl_pool_breathe(fl_ctx_pool(ctx));
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      fl_part_read_words(b->codes, 0, row, n, word);
      int64_t met = find_met(b, word, n, at);
      for (int64_t i = 0; i < n; i += 64) {
        int64_t left = fl_part_min(64, n - i);
        b->first[(row + i) / 64] = left == 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
      }
      if (met == 0) continue;
      int64_t place = atomic_fetch_add_explicit(&b->met, met, memory_order_relaxed);
      if (place + met > b->most) return 0;
      for (int64_t k = 0; k < met; k++) {
        int64_t i = row + at[k];
        b->first[i / 64] &= ~(UINT64_C(1) << i % 64);
        b->pairs[place + k] = (FlPartPair){word[at[k]], i};
      }
    }
  }
  return 0;
}

/* One sweep; *fits: false where more rows are met than may be. */
static FlStatus sweep(FlPartMem *m, Bits *b, FlKernelFn body, bool *fits) {
  atomic_store_explicit(&b->met, 0, memory_order_relaxed);
  if (fl_part_for(m->ctx, body, b, fl_part_chunks(b->codes->n), 10.0 * FL_PART_CHUNK) != 0)
    return fl_part_fail_memory(m);
  *fits = atomic_load_explicit(&b->met, memory_order_relaxed) <= b->most;
  return 0;
}

/* The first of those that were gathered. */
static FlStatus mark_gathered(FlPartMem *m, const Bits *b, FlPartPair *spare) {
  int64_t n = atomic_load_explicit(&b->met, memory_order_relaxed);
  FlPartPair *sorted = b->pairs;
  if (fl_part_sort_pairs(m, b->pairs, spare, n, 64, &sorted) != 0) return 1;
  for (int64_t i = 0, next; i < n; i = next) {
    int64_t row = sorted[i].row;
    for (next = i + 1; next < n && sorted[next].key == sorted[i].key; next++)
      row = fl_part_min(row, sorted[next].row);
    b->first[row / 64] |= UINT64_C(1) << row % 64;
  }
  return 0;
}

/* ---- by bits ------------------------------------------------------------------------------------------- */

static bool make_filter(FlPartMem *m, Filter *f, int64_t bytes) {
  f->n = (uint64_t)bytes / sizeof *f->words;
  f->words = fl_part_near(m, (int64_t)f->n, sizeof *f->words);
  return f->words != NULL;
}

static void clear(const Filter *f) { memset(f->words, 0, f->n * sizeof *f->words); }

FlStatus fl_part_first_bits(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, uint64_t *first,
                            bool *done) {
  int64_t n = codes->n, large = bytes / 8 * 5;
  Bits b = {.codes = codes, .first = first};
  *done = bytes >= n / 2 && bytes >= 1 << 12; /* of fewer bits too many rows are met */
  if (!*done) return 0;
  if (!make_filter(m, &b.once, large)) return 1;
  for (int32_t level = 0; level < LEVELS; level++) {
    if (!make_filter(m, &b.again[level], bytes / 8)) return 1;
    clear(&b.again[level]);
  }
  int64_t gathered = large / 2 / (int64_t)sizeof(FlPartPair);
  for (; b.levels < LEVELS && *done; b.levels++) {
    clear(&b.once);
    b.most = b.levels + 1 < LEVELS ? n / 3 : gathered / 2; /* each that is met has one that it met */
    if (sweep(m, &b, enter_body, done) != 0) return 1;
  }
  fl_part_release(m, b.once.words);
  FlPartPair *spare = NULL;
  if (*done) {
    b.most = gathered;
    b.pairs = fl_part_near(m, gathered, sizeof *b.pairs);
    spare = fl_part_near(m, gathered, sizeof *spare);
    if (b.pairs == NULL || spare == NULL || sweep(m, &b, gather_body, done) != 0) return 1;
  }
  if (*done && mark_gathered(m, &b, spare) != 0) return 1;
  fl_part_release(m, b.pairs);
  fl_part_release(m, spare);
  for (int32_t level = 0; level < LEVELS; level++) fl_part_release(m, b.again[level].words);
  return 0;
}

/* Whether a few rows show that words of the key are many more than rows. */
static bool is_sparse(const FlPartCodes *codes) {
  enum { SOME = 64 };
  uint64_t least = UINT64_MAX, greatest = 0;
  for (int64_t k = 0; k < SOME; k++) {
    uint64_t word;
    fl_part_read_words(codes, 0, (int64_t)((__int128)(codes->n - 1) * k / (SOME - 1)), 1, &word);
    least = word < least ? word : least;
    greatest = word > greatest ? word : greatest;
  }
  return greatest - least > 2 * (uint64_t)codes->n;
}

/* One key of numbers that are not dense, where groups do not fit in memory. */
static FlStatus by_bits(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, uint64_t *first, bool *done) {
  const FlPartCol *col = &keys[0].side[0];
  FlPartCodes codes;
  int64_t bytes = col->n * FL_PART_GROUP_BYTES;
  *done = n_keys == 1 && col->valid == NULL && fl_dtype_info[col->dtype].kind != FL_KIND_TEXT &&
          fl_pool_room(fl_part_pool(m), bytes) < bytes;
  if (!*done) return 0;
  if (fl_part_encode_whole(m, keys, 1, &codes) != 0) return 1;
  *done = is_sparse(&codes);
  return *done ? fl_part_first_bits(m, &codes, fl_pool_room(fl_part_pool(m), col->n), first, done) : 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

typedef struct Marked {
  const uint64_t *bits;
  int64_t n, *place; /* [chunks + 1] rows before the chunk */
  int64_t *rows;
} Marked;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Marked *k = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, k->n, &from, &to);
    for (int64_t w = from / 64; w * 64 < to; w++) count += __builtin_popcountll(k->bits[w]);
    k->place[c + 1] = count;
  }
  return 0;
}

static int32_t rows_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Marked *k = env;
  int64_t size = (int64_t)sizeof *k->rows;
  FlSlices slices = fl_part_slices(ctx, k->rows, FL_PART_CHUNK * size, 1);
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *rows = fl_slice(&slices, k->rows + k->place[c]);
    fl_part_chunk(c, k->n, &from, &to);
    for (int64_t w = from / 64; w * 64 < to; w++)
      for (uint64_t left = k->bits[w]; left != 0; left &= left - 1) *rows++ = w * 64 + __builtin_ctzll(left);
    fl_slice_done(&slices, (k->place[c + 1] - k->place[c]) * size);
  }
  fl_slices_end(&slices);
  return 0;
}

/* The rows whose bits are set, ascending. NULL: error recorded. */
static FlArray *rows_of(FlPartMem *m, const FlOpDesc *desc, const uint64_t *bits, int64_t n) {
  int64_t chunks = fl_part_chunks(n);
  Marked k = {.bits = bits, .n = n, .place = fl_part_zalloc(m, chunks + 1, sizeof *k.place)};
  if (k.place == NULL || fl_part_for(m->ctx, count_body, &k, chunks, 0.1 * FL_PART_CHUNK) != 0) return NULL;
  for (int64_t c = 0; c < chunks; c++) k.place[c + 1] += k.place[c];
  if (k.place[chunks] == n && desc->i == FL_DISTINCT_TAKEN) return fl_part_all_rows(m->ctx, n);
  FlArray *out = fl_array_new(m->ctx, FL_I64, 1, &k.place[chunks]);
  if (out == NULL) return NULL;
  k.rows = out->data;
  if (fl_part_for(m->ctx, rows_body, &k, chunks, 1.0 * FL_PART_CHUNK) == 0) return out;
  fl_array_unref(out);
  return NULL;
}

/* ---- the operator -------------------------------------------------------------------------------------- */

/* By the words of the keys. */
static FlStatus by_words(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, uint64_t *first) {
  FlPartCodes codes;
  FlPartGroups groups;
  int64_t room;
  if (fl_part_encode(m, keys, n_keys, 1, false, &codes) != 0) return 1;
  if (codes.n_words == 1 && fl_part_table_sweeps(m, &codes, 0) < INT64_MAX)
    return fl_part_mark_table(m, &codes, first);
  if (fl_part_groups_are_far(m, &codes, &room)) return fl_part_first_parts(m, &codes, room, first);
  if (fl_part_group_codes(m, &codes, false, NULL, &groups) != 0) return 1;
  for (int64_t k = 0; k < groups.g; k++) first[groups.first[k] / 64] |= UINT64_C(1) << groups.first[k] % 64;
  fl_part_release(m, groups.id);
  fl_part_release(m, groups.first);
  return 0;
}

static FlStatus distinct_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **rows) {
  FlPartKey *keys;
  bool done = false;
  if (fl_part_keys(m, desc, args, &keys) != 0) return 1;
  /* The first rows of all groups: a bit for each row is looked up in any order, and little more. */
  int64_t n = keys[0].side[0].n;
  uint64_t *first = fl_part_zalloc(m, n / 64 + 1, sizeof *first);
  if (first == NULL || by_bits(m, keys, desc->n_columns, first, &done) != 0) return 1;
  if (!done) memset(first, 0, (size_t)(n / 64 + 1) * sizeof *first);
  if (!done && by_words(m, keys, desc->n_columns, first) != 0) return 1;
  *rows = rows_of(m, desc, first, n);
  return *rows == NULL;
}

FlStatus fl_rt_distinct(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, distinct_rows);
}
