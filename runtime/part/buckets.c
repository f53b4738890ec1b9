/* buckets.c: all rows by a word, when the words are spread evenly.
 *
 * Comes in: codes, of which one word counts, or pairs of word and row. Goes out: pairs in ascending order of
 * words, those of equal words in their order; or word that the words are too uneven for this. Always holds:
 * the result is unique, so neither the number of buckets nor the cut into chunks can matter.
 *
 * One pass counts the leading bits of the words by chunk, a second puts each pair in its bucket; a bucket
 * fits in a cache and is sorted there (sort_near.c). */
#include "part/part_internal.h"

enum {
  LARGEST = 1 << 16, /* rows of a bucket */
  MEAN = 1 << 12,
  MOST_BITS = 11
};

typedef struct Buckets {
  const FlPartCodes *codes;
  const FlPartPair *from; /* what is sorted; NULL: the words of codes */
  int32_t w;
  uint64_t low; /* no word is below it */
  int shift, bits;
  int64_t n, chunks;
  int64_t *place; /* [chunks][2^bits] */
  int64_t *start; /* [2^bits + 1] */
  FlPartPair *pairs;
} Buckets;

/* The words of the rows [row, row + n) above the lowest. */
static void read_words(const Buckets *b, int64_t row, int64_t n, uint64_t *word) {
  if (b->from == NULL) fl_part_read_words(b->codes, b->w, row, n, word);
  for (int64_t i = 0; b->from != NULL && i < n; i++) word[i] = b->from[row + i].key - b->low;
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Buckets *b = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *count = b->place + (c << b->bits);
    fl_part_chunk(c, b->n, &from, &to);
    memset(count, 0, sizeof *count << b->bits);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t rows = fl_part_min(FL_PART_BATCH, to - row);
      read_words(b, row, rows, word);
      for (int64_t i = 0; i < rows; i++) count[word[i] >> b->shift]++;
    }
  }
  return 0;
}

static int32_t scatter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Buckets *b = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *place = b->place + (c << b->bits);
    fl_part_chunk(c, b->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t rows = fl_part_min(FL_PART_BATCH, to - row);
      read_words(b, row, rows, word);
      for (int64_t i = 0; i < rows; i++)
        b->pairs[place[word[i] >> b->shift]++] =
            b->from != NULL ? b->from[row + i] : (FlPartPair){word[i], row + i};
    }
  }
  return 0;
}

/* Counts become places; false when a bucket is too large. */
static bool place_buckets(Buckets *b) {
  int64_t at = 0, n_buckets = INT64_C(1) << b->bits;
  for (int64_t k = 0; k < n_buckets; k++) {
    b->start[k] = at;
    for (int64_t c = 0; c < b->chunks; c++) {
      int64_t *place = &b->place[(c << b->bits) + k], count = *place;
      *place = at;
      at += count;
    }
    if (at - b->start[k] > LARGEST) return false;
  }
  b->start[n_buckets] = at;
  return true;
}

/* ---- one bucket ------------------------------------------------------------------------------------------
 */

static int32_t bucket_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Buckets *b = env;
  int64_t most = 0;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) most = fl_part_max(most, b->start[k + 1] - b->start[k]);
  FlPartPair *spare = malloc((size_t)(most + 1) * sizeof *spare);
  if (spare == NULL) return 1;
  for (int64_t k = begin; k < end; k++)
    fl_part_sort_near_pairs(b->pairs + b->start[k], spare, b->start[k + 1] - b->start[k]);
  free(spare);
  return 0;
}

/* How many buckets there are for words of so many bits: two at least, as no word may be shifted by 64. */
static void cut(Buckets *b, int bits) {
  b->chunks = fl_part_chunks(b->n);
  b->bits = (int)fl_part_min(MOST_BITS, fl_part_max(1, fl_part_bits((uint64_t)(b->n / MEAN))));
  b->bits = (int)fl_part_min(b->bits, bits);
  b->shift = bits - b->bits;
}

/* Puts all pairs into b->pairs, or into new ones where that is NULL; it stays, or becomes, NULL when the
 * words are too uneven. `cost`: nanoseconds to read a word. */
static FlStatus sort_all(FlPartMem *m, Buckets *b, double cost) {
  FlPartPair *room = b->pairs;
  b->pairs = NULL;
  b->place = fl_part_alloc(m, b->chunks << b->bits, sizeof *b->place);
  b->start = fl_part_alloc(m, (INT64_C(1) << b->bits) + 1, sizeof *b->start);
  if (b->place == NULL || b->start == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, b, b->chunks, (1.0 + cost) * FL_PART_CHUNK) != 0) return 1;
  if (place_buckets(b)) {
    b->pairs = room != NULL ? room : fl_part_alloc(m, b->n, sizeof *b->pairs);
    if (b->pairs == NULL) return 1;
    if (fl_part_for(m->ctx, scatter_body, b, b->chunks, (3.0 + cost) * FL_PART_CHUNK) != 0) return 1;
    double rows = (double)b->n / (double)(INT64_C(1) << b->bits);
    if (fl_part_for(m->ctx, bucket_body, b, INT64_C(1) << b->bits, 10.0 * rows) != 0) {
      return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
    }
  }
  fl_part_release(m, b->place);
  fl_part_release(m, b->start);
  return 0;
}

FlStatus fl_part_sort_buckets(FlPartMem *m, const FlPartCodes *codes, int32_t w, FlPartPair **pairs) {
  Buckets b = {.codes = codes, .w = w, .n = codes->n};
  cut(&b, codes->words[w].bits);
  FlStatus status = sort_all(m, &b, codes->words[w].stored != NULL ? 1.0 : codes->words[w].n_digits);
  *pairs = b.pairs;
  return status;
}

typedef struct Span {
  const FlPartPair *pairs;
  _Atomic uint64_t low, high;
} Span;

static int32_t span_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Span *s = (Span *)(uintptr_t)env;
  uint64_t low = UINT64_MAX, high = 0;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint64_t key = s->pairs[i].key;
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  /* relaxed: read when the loop is over. */
  uint64_t seen = atomic_load_explicit(&s->low, memory_order_relaxed);
  while (low < seen && !atomic_compare_exchange_weak_explicit(&s->low, &seen, low, memory_order_relaxed,
                                                              memory_order_relaxed)) {}
  seen = atomic_load_explicit(&s->high, memory_order_relaxed);
  while (high > seen && !atomic_compare_exchange_weak_explicit(&s->high, &seen, high, memory_order_relaxed,
                                                               memory_order_relaxed)) {}
  return 0;
}

FlStatus fl_part_sort_even(FlPartMem *m, FlPartPair *a, FlPartPair *spare, int64_t n, FlPartPair **sorted) {
  Span s = {.pairs = a, .low = UINT64_MAX};
  *sorted = n == 0 ? a : NULL;
  if (n == 0) return 0;
  if (fl_part_for(m->ctx, span_body, &s, n, 0.5) != 0) return 1;
  Buckets b = {.from = a, .low = s.low, .n = n, .pairs = spare};
  int bits = fl_part_bits(s.high - s.low);
  if (bits == 0) {
    *sorted = a;
    return 0;
  }
  cut(&b, bits);
  FlStatus status = sort_all(m, &b, 0.0);
  *sorted = b.pairs;
  return status;
}
