/* sort_strips.c: many pairs of key and row by their keys.
 *
 * Comes in: pairs. Goes out: the same in ascending order of their keys, those of equal keys in their order.
 * Always holds: the result is unique, so neither the cuts nor the chunks can matter.
 *
 * A sweep counts the pairs of each bucket (strips.c), a second one puts them there; a bucket fits in a cache
 * and is sorted there (buckets.c), but those of keys that equal a cut, which are in order as they come. */
#include "part/part_internal.h"

typedef struct Strips {
  FlPartStrips by;
  const FlPartPair *from;
  FlPartPair *to;
  int64_t n, chunks;
  uint16_t *bucket; /* [n] of each pair; NULL, where there is no room: found again */
  int64_t *place;   /* [chunks][buckets], as fl_part_places has it */
  int64_t *start;   /* [buckets + 1] */
} Strips;

static void read_keys(const void *env, int64_t row, int64_t n, uint64_t *out) {
  const Strips *s = env;
  for (int64_t i = 0; i < n; i++) out[i] = s->from[row + i].key;
}

static void find_buckets(const Strips *s, int64_t row, int64_t n, int32_t *bucket) {
  uint64_t key[FL_PART_BATCH];
  read_keys(s, row, n, key);
  fl_part_strip_buckets(&s->by, key, n, bucket);
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Strips *s = env;
  int32_t bucket[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *count = s->place + c * s->by.n_buckets;
    fl_part_chunk(c, s->n, &from, &to);
    memset(count, 0, (size_t)s->by.n_buckets * sizeof *count);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      find_buckets(s, row, n, bucket);
      for (int64_t i = 0; i < n; i++) count[bucket[i]]++;
      for (int64_t i = 0; i < n && s->bucket != NULL; i++) s->bucket[row + i] = (uint16_t)bucket[i];
    }
  }
  return 0;
}

static int32_t scatter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Strips *s = env;
  int32_t bucket[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *place = s->place + c * s->by.n_buckets;
    fl_part_chunk(c, s->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      if (s->bucket == NULL) find_buckets(s, row, n, bucket);
      for (int64_t i = 0; i < n; i++)
        s->to[place[s->bucket != NULL ? s->bucket[row + i] : bucket[i]]++] = s->from[row + i];
    }
  }
  return 0;
}

static int64_t pairs_of(const Strips *s, int64_t k) { return s->start[2 * k + 1] - s->start[2 * k]; }

static int32_t bucket_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Strips *s = env;
  int64_t most = 0;
  for (int64_t k = begin; k < end; k++) most = fl_part_max(most, pairs_of(s, k));
  FlPartPair *spare = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL, (size_t)(most + 1) * sizeof *spare);
  if (spare == NULL) return 1;
  for (int64_t k = begin; k < end; k++)
    fl_part_sort_near_pairs(s->to + s->start[2 * k], spare, pairs_of(s, k));
  fl_counted_free(spare);
  return 0;
}

static FlStatus sort_all(FlPartMem *m, Strips *s) {
  double chunk = FL_PART_CHUNK;
  s->place = fl_part_alloc(m, s->chunks * s->by.n_buckets, sizeof *s->place);
  s->start = fl_part_alloc(m, s->by.n_buckets + 1, sizeof *s->start);
  if (s->place == NULL || s->start == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, s, s->chunks, 4.0 * chunk) != 0) return 1;
  fl_part_places(s->chunks, s->by.n_buckets, s->place, s->start);
  if (fl_part_for(m->ctx, scatter_body, s, s->chunks, 4.0 * chunk) != 0) return 1;
  double rows = (double)s->n / (double)(s->by.n_cuts + 1);
  if (fl_part_for(m->ctx, bucket_body, s, s->by.n_cuts + 1, 15.0 * rows) != 0) return fl_part_fail_memory(m);
  fl_part_release(m, s->place);
  fl_part_release(m, s->start);
  return 0;
}

FlStatus fl_part_sort_strips(FlPartMem *m, const FlPartPair *from, FlPartPair *to, int64_t n) {
  Strips s = {.from = from, .to = to, .n = n, .chunks = fl_part_chunks(n)};
  int64_t bytes = n * (int64_t)sizeof *s.bucket;
  if (fl_part_find_strips(m, read_keys, &s, n, &s.by) != 0) return 1;
  if (fl_pool_room(fl_part_pool(m), bytes) >= bytes) {
    s.bucket = fl_part_alloc(m, n, sizeof *s.bucket);
    if (s.bucket == NULL) return 1;
  }
  if (sort_all(m, &s) != 0) return 1;
  if (s.bucket != NULL) fl_part_release(m, s.bucket);
  return 0;
}
