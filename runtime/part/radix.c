/* radix.c: stable sorting of 64-bit words, alone or each with a row number.
 *
 * Comes in: elements of one or two words, of which the first is the key. Goes out: the same elements by
 * ascending key bits, equal ones in their old order. Always holds: the result is unique, so the cut into
 * chunks is free.
 *
 * Least significant digit first (D. Knuth, TAOCP 3, 5.2.5), digits of at most 8 bits; each pass counts by
 * chunk, turns the counts into places digit by digit and chunk by chunk, and scatters all chunks at once. A
 * digit that is the same everywhere costs its count only. Few elements are merged instead; many pairs with
 * keys of many bits are sorted in buckets (sort_strips.c). */
#include "part/part_internal.h"

enum {
  DIGIT = 8,
  BUCKETS = 1 << DIGIT,
  SMALL = 1024,
  MANY = 1 << 17,
  FEW_PASSES = 3 /* which cost no more than buckets that are sorted in a cache */
};

typedef struct Pass {
  const uint64_t *from;
  uint64_t *to;
  int64_t n;
  int width, shift;
  uint64_t mask;
  int64_t *places; /* [chunks][BUCKETS] */
} Pass;

static inline __attribute__((always_inline)) void count_chunks(const Pass *p, int width, int64_t begin,
                                                               int64_t end) {
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, counts[BUCKETS] = {0};
    fl_part_chunk(c, p->n, &from, &to);
    for (int64_t i = from; i < to; i++) counts[p->from[i * width] >> p->shift & p->mask]++;
    memcpy(p->places + c * BUCKETS, counts, sizeof counts);
  }
}

static inline __attribute__((always_inline)) void scatter_chunks(const Pass *p, int width, int64_t begin,
                                                                 int64_t end) {
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    int64_t *place = p->places + c * BUCKETS;
    fl_part_chunk(c, p->n, &from, &to);
    for (int64_t i = from; i < to; i++) {
      const uint64_t *element = p->from + i * width;
      uint64_t *slot = p->to + place[element[0] >> p->shift & p->mask]++ * width;
      slot[0] = element[0];
      if (width == 2) slot[1] = element[1];
    }
  }
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pass *p = env;
  (void)ctx;
  if (p->width == 2) {
    count_chunks(p, 2, begin, end);
  } else {
    count_chunks(p, 1, begin, end);
  }
  return 0;
}

static int32_t scatter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pass *p = env;
  (void)ctx;
  if (p->width == 2) {
    scatter_chunks(p, 2, begin, end);
  } else {
    scatter_chunks(p, 1, begin, end);
  }
  return 0;
}

/* Turns counts into first places; false when one bucket has everything. */
static bool place_chunks(const Pass *p, int64_t chunks) {
  int64_t next = 0;
  for (int64_t b = 0; b < BUCKETS; b++) {
    int64_t before = next;
    for (int64_t c = 0; c < chunks; c++) {
      int64_t count = p->places[c * BUCKETS + b];
      p->places[c * BUCKETS + b] = next;
      next += count;
    }
    if (next - before == p->n) return false;
  }
  return true;
}

static FlStatus sort_large(FlPartMem *m, uint64_t *a, uint64_t *spare, int64_t n, int width, int shift,
                           int bits, uint64_t **sorted) {
  int64_t chunks = fl_part_chunks(n);
  int passes = (bits + DIGIT - 1) / DIGIT;
  int64_t *places = fl_part_alloc(m, chunks * BUCKETS, sizeof *places);
  *sorted = a;
  if (places == NULL) return 1;
  for (int k = 0; k < passes; k++) {
    int low = bits * k / passes, high = bits * (k + 1) / passes;
    Pass p = {a, spare, n, width, shift + low, (UINT64_C(1) << (high - low)) - 1, places};
    if (fl_part_for(m->ctx, count_body, &p, chunks, FL_PART_CHUNK) != 0) return 1;
    if (!place_chunks(&p, chunks)) continue;
    if (fl_part_for(m->ctx, scatter_body, &p, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
    uint64_t *other = a;
    a = spare;
    spare = other;
  }
  fl_part_release(m, places);
  *sorted = a;
  return 0;
}

/* Bottom-up merging on key & mask. The result is in `a`. */
static void merge_small(FlPartPair *a, FlPartPair *spare, int64_t n, uint64_t mask) {
  enum { RUN = 16 };
  for (int64_t start = 0; start < n; start += RUN) {
    int64_t end = fl_part_min(start + RUN, n);
    for (int64_t i = start + 1; i < end; i++) {
      FlPartPair x = a[i];
      int64_t j = i;
      for (; j > start && (a[j - 1].key & mask) > (x.key & mask); j--) a[j] = a[j - 1];
      a[j] = x;
    }
  }
  FlPartPair *from = a, *to = spare;
  for (int64_t run = RUN; run < n; run *= 2) {
    for (int64_t start = 0; start < n; start += 2 * run) {
      int64_t middle = fl_part_min(start + run, n), end = fl_part_min(start + 2 * run, n);
      int64_t i = start, j = middle;
      for (int64_t k = start; k < end; k++) {
        bool left = j >= end || (i < middle && (from[i].key & mask) <= (from[j].key & mask));
        to[k] = left ? from[i++] : from[j++];
      }
    }
    FlPartPair *other = from;
    from = to;
    to = other;
  }
  if (from != a) memcpy(a, from, (size_t)n * sizeof *a);
}

void fl_part_sort_small(FlPartPair *a, FlPartPair *spare, int64_t n) { merge_small(a, spare, n, UINT64_MAX); }

FlStatus fl_part_sort_pairs(FlPartMem *m, FlPartPair *a, FlPartPair *spare, int64_t n, int bits,
                            FlPartPair **sorted) {
  *sorted = a;
  if (n < 2 || bits == 0) return 0;
  if (n <= SMALL) {
    merge_small(a, spare, n, UINT64_MAX >> (64 - bits));
    return 0;
  }
  if (n >= MANY && bits > FEW_PASSES * DIGIT) {
    *sorted = spare;
    return fl_part_sort_strips(m, a, spare, n);
  }
  uint64_t *result;
  FlStatus status = sort_large(m, (uint64_t *)a, (uint64_t *)spare, n, 2, 0, bits, &result);
  *sorted = (FlPartPair *)result;
  return status;
}

FlStatus fl_part_sort_words(FlPartMem *m, uint64_t *a, uint64_t *spare, int64_t n, int shift, int bits,
                            uint64_t **sorted) {
  return sort_large(m, a, spare, n, 1, shift, bits, sorted);
}
