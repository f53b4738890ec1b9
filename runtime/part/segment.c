/* segment.c: sums and counts of rows by label: segment_sum, segment_count.
 *
 * Comes in: x[n] or x[n, d], a label below k for each row. Goes out: [k] or [k, d].
 *
 * Order of float sums: rows are cut in leaves of fl_part_leaf(k d) rows; each is summed into k * d places
 * from +0.0 in row order, in the element's own precision; then the leaves are joined by the tree of folds
 * (LANGUAGE 5). The cut depends on k and d alone. Integers are added in 128 bits and checked once. */
#include "part/part_internal.h"

/* Nanoseconds of a row of d numbers, and of a label that is counted. */
#define ROW_COST(d) (1.0 + 0.5 * (double)(d))
#define COUNT_COST 1.5

typedef struct Segments {
  int32_t dtype;
  const FlPartCol *x;
  const int64_t *label;
  int64_t n, d, k, block, blocks;
  void *sums; /* [blocks][k * d] of double, float or __int128 */
  void *out;  /* of out_dtype */
  int32_t out_dtype;
  _Atomic int64_t bad; /* first row whose label is out of range */
  _Atomic int64_t overflow;
} Segments;

static bool labels_fit(Segments *s, int64_t from, int64_t to) {
  bool fit = true;
  for (int64_t i = from; i < to; i++) fit &= s->label[i] >= 0 && s->label[i] < s->k;
  for (int64_t i = from; !fit && i < to; i++) {
    if (s->label[i] >= 0 && s->label[i] < s->k) continue;
    fl_part_first(&s->bad, i);
    break;
  }
  return fit;
}

/* Rows of D numbers; for a D that is known the compiler knows their loop. */
#define SUM_ROWS(T, D)                                                                                       \
  for (int64_t i = from; i < to; i++) {                                                                      \
    T *sum = sums + label[i] * (D);                                                                          \
    for (int64_t j = 0; j < (D); j++) sum[j] += x[i * (D) + j];                                              \
  }

#define SUM(T)                                                                                               \
  {                                                                                                          \
    const T *x = (const T *)s->x->data;                                                                      \
    const int64_t *label = s->label, d = s->d;                                                               \
    T *sums = (T *)s->sums + b * s->k * d;                                                                   \
    memset(sums, 0, (size_t)(s->k * d) * sizeof *sums);                                                      \
    switch (d) {                                                                                             \
    case 1: SUM_ROWS(T, 1) break;                                                                            \
    case 2: SUM_ROWS(T, 2) break;                                                                            \
    case 3: SUM_ROWS(T, 3) break;                                                                            \
    case 4: SUM_ROWS(T, 4) break;                                                                            \
    default: SUM_ROWS(T, d) break;                                                                           \
    }                                                                                                        \
  }

static void sum_ints(const Segments *s, int64_t b, int64_t from, int64_t to) {
  __int128 *sums = (__int128 *)s->sums + b * s->k * s->d;
  int64_t x[FL_PART_BATCH];
  memset(sums, 0, (size_t)(s->k * s->d) * sizeof *sums);
  for (int64_t i = from; i < to; i++) {
    __int128 *sum = sums + s->label[i] * s->d;
    for (int64_t j = 0; j < s->d; j += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, s->d - j);
      fl_part_read_i64(s->x, i * s->d + j, count, x);
      for (int64_t c = 0; c < count; c++) {
        sum[j + c] += s->dtype == FL_U64 ? (__int128)(uint64_t)x[c] : (__int128)x[c];
      }
    }
  }
}

static int32_t sum_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Segments *s = (Segments *)(uintptr_t)env;
  (void)ctx;
  for (int64_t b = begin; b < end; b++) {
    int64_t from = b * s->block, to = fl_part_min(from + s->block, s->n);
    if (!labels_fit(s, from, to)) continue;
    if (s->dtype == FL_F64) {
      SUM(double)
    } else if (s->dtype == FL_F32) {
      SUM(float)
    } else {
      sum_ints(s, b, from, to);
    }
  }
  return 0;
}

/* Places [begin, end) of all leaves, folded in the first one's. */
#define ADD(T, SUFFIX)                                                                                       \
  {                                                                                                          \
    T *sums = (T *)s->sums + begin, *out = (T *)s->out + begin;                                              \
    size_t bytes = (size_t)(end - begin) * sizeof *sums;                                                     \
    fl_fold_rows_##SUFFIX(sums, s->blocks, s->k * s->d, end - begin);                                        \
    if (s->blocks > 0) memcpy(out, sums, bytes);                                                             \
    else memset(out, 0, bytes);                                                                              \
    return 0;                                                                                                \
  }

/* Stores an integer in the result's type; false when it does not fit. */
static bool store_int(const Segments *s, int64_t c, __int128 v) {
#define STORE(T) return ((T *)s->out)[c] = (T)v, (__int128)((T *)s->out)[c] == v;
  switch (fl_dtype_info[s->out_dtype].bytes) {
  case 1: STORE(int8_t)
  case 2: STORE(int16_t)
  case 4: STORE(int32_t)
  default: STORE(int64_t)
  }
#undef STORE
}

static bool store_unsigned(const Segments *s, int64_t c, __int128 v) {
#define STORE(T) return ((T *)s->out)[c] = (T)v, (__int128)((T *)s->out)[c] == v;
  switch (fl_dtype_info[s->out_dtype].bytes) {
  case 1: STORE(uint8_t)
  case 2: STORE(uint16_t)
  case 4: STORE(uint32_t)
  default: STORE(uint64_t)
  }
#undef STORE
}

static int32_t add_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Segments *s = (Segments *)(uintptr_t)env;
  (void)ctx;
  if (s->dtype == FL_F64) ADD(double, f64)
  if (s->dtype == FL_F32) ADD(float, f32)
  bool is_unsigned = fl_dtype_info[s->out_dtype].kind == FL_KIND_UNSIGNED;
  for (int64_t c = begin; c < end; c++) {
    __int128 sum = 0;
    for (int64_t b = 0; b < s->blocks; b++) sum += ((const __int128 *)s->sums)[b * s->k * s->d + c];
    if (!(is_unsigned ? store_unsigned(s, c, sum) : store_int(s, c, sum))) fl_part_first(&s->overflow, c);
  }
  return 0;
}

static FlStatus sum_segments(FlPartMem *m, const FlOpDesc *desc, Segments *s) {
  int64_t places = s->k * s->d;
  size_t size = s->dtype == FL_F64 ? sizeof(double) : s->dtype == FL_F32 ? sizeof(float) : sizeof(__int128);
  s->blocks = (s->n + s->block - 1) / s->block;
  s->sums = fl_part_alloc(m, s->blocks * places, size);
  if (s->sums == NULL) return 1;
  if (fl_part_for(m->ctx, sum_body, s, s->blocks, ROW_COST(s->d) * (double)s->block) != 0) return 1;
  int64_t bad = atomic_load(&s->bad);
  if (bad != INT64_MAX) return fl_part_fail_index(m->ctx, desc, s->label[bad], s->k);
  if (fl_part_for(m->ctx, add_body, s, places, 2.0 + (double)s->blocks) != 0) return 1;
  int64_t overflow = atomic_load(&s->overflow);
  if (overflow == INT64_MAX) return 0;
  return fl_fail_op(m->ctx, desc, FL_FAULT_OVERFLOW,
                    "integer overflow: the sum of segment %lld does not fit %s", (long long)(overflow / s->d),
                    fl_dtype_info[s->out_dtype].name);
}

static FlStatus segment_sum(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlArray *x = args[0].a;
  const FlArray *label = args[1].a;
  FlPartCol col = {.dtype = x->dtype, .n = fl_array_count(x), .data = x->data, .array = x};
  Segments s = {.dtype = x->dtype,
                .x = &col,
                .label = label->data,
                .n = x->dims[0],
                .d = fl_array_row_count(x),
                .k = args[2].i,
                .bad = INT64_MAX,
                .overflow = INT64_MAX};
  if (label->dims[0] != s.n) return fl_part_fail_shape(m->ctx, desc, s.n, label->dims[0]);
  if (s.k < 0) return fl_part_fail_index(m->ctx, desc, s.k, 0);
  s.block = fl_part_leaf(s.k * s.d);
  if (fl_part_is_told(m->ctx, s.n, s.block, ROW_COST(s.d), 0)) return 0;
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, x->dims, sizeof dims);
  dims[0] = s.k;
  *out = fl_array_new(m->ctx, desc->result_types[0].dtype, x->rank, dims);
  if (*out == NULL) return 1;
  s.out = (*out)->data;
  s.out_dtype = (*out)->dtype;
  return sum_segments(m, desc, &s);
}

FlStatus fl_rt_segment_sum(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, segment_sum);
}

/* ---- counts ------------------------------------------------------------------------------------------- */

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Segments *s = (Segments *)(uintptr_t)env;
  (void)ctx;
  for (int64_t b = begin; b < end; b++) {
    int64_t from = b * s->block, to = fl_part_min(from + s->block, s->n);
    int64_t *counts = (int64_t *)s->sums + b * s->k;
    memset(counts, 0, (size_t)s->k * sizeof *counts);
    if (!labels_fit(s, from, to)) continue;
    for (int64_t i = from; i < to; i++) counts[s->label[i]]++;
  }
  return 0;
}

static FlStatus count_segments(FlPartMem *m, const FlOpDesc *desc, Segments *s, int64_t *out) {
  s->blocks = (s->n + s->block - 1) / s->block;
  s->sums = fl_part_alloc(m, s->blocks * s->k, sizeof *out);
  double cost = COUNT_COST * (double)s->block;
  if (s->sums == NULL || fl_part_for(m->ctx, count_body, s, s->blocks, cost) != 0) return 1;
  int64_t bad = atomic_load(&s->bad);
  if (bad != INT64_MAX) return fl_part_fail_index(m->ctx, desc, s->label[bad], s->k);
  memset(out, 0, (size_t)s->k * sizeof *out);
  for (int64_t b = 0; b < s->blocks; b++) {
    for (int64_t c = 0; c < s->k; c++) out[c] += ((const int64_t *)s->sums)[b * s->k + c];
  }
  return 0;
}

static FlStatus segment_count(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *label = args[0].a;
  Segments s = {.label = label->data, .n = label->dims[0], .d = 1, .k = args[1].i, .bad = INT64_MAX};
  if (s.k < 0) return fl_part_fail_index(m->ctx, desc, s.k, 0);
  s.block = fl_part_max(FL_PART_CHUNK, 4 * s.k);
  if (fl_part_is_told(m->ctx, s.n, s.block, COUNT_COST, 0)) return 0;
  *out = fl_array_new(m->ctx, FL_I64, 1, &s.k);
  return *out == NULL ? 1 : count_segments(m, desc, &s, (*out)->data);
}

FlStatus fl_rt_segment_count(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, segment_count);
}
