/* views.c: the same elements under another shape: rows, reshape (views, nothing is copied) and transpose (a
 * copy).
 *
 * Comes in: an array and sizes. Goes out: an array. Always holds: a view shares the buffer of its source. */
#include "part/part_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

FlStatus fl_rt_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *a = args[0].a;
  int64_t from = args[1].i, to = args[2].i, n = a->dims[0];
  if (from < 0 || from > n) return fl_part_fail_index(ctx, desc, from, n);
  if (to < from || to > n) return fl_part_fail_index(ctx, desc, to, n);
  /* Only a task asks for rows of what is in parts, which are open to it. */
  results[0].a = (fl_array_cut(a) ? fl_array_rows_within : fl_array_view_rows)(ctx, a, from, to);
  return results[0].a == NULL;
}

/* Part k of the rows of a cut, counted from the first that is here: each rank has parts of its own rows, one
 * rank's behind the other's. false: it is another's. */
static bool part_of_cut(const FlCut *cut, int64_t k, int64_t *from, int64_t *to) {
  k -= fl_row_parts_of(cut, cut->here);
  int64_t n = fl_cut_to(cut) - fl_cut_from(cut);
  *from = k * FL_ROW_PART;
  *to = n - *from < FL_ROW_PART ? n : *from + FL_ROW_PART;
  return k >= 0 && *from < n;
}

FlStatus fl_rt_row_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  int64_t k = args[0].i, n = args[1].i;
  int64_t first = k < 0 ? 0 : k * FL_ROW_PART;
  int64_t end = k < 0 || n - first < FL_ROW_PART ? n : first + FL_ROW_PART;
  int32_t made = 2;
  results[0].i = end - first;
  for (; made < desc->n_args; made++) {
    FlArray *a = args[made].a;
    const FlCut *cut = fl_array_cut(a);
    int64_t from = first, to = end;
    bool fine = cut ? part_of_cut(cut, k, &from, &to) : from <= to && to <= a->dims[0];
    FlArray *here = !fine ? NULL : cut ? fl_array_rows_here(ctx, a) : fl_array_ref(a);
    FlArray *part = results[made - 1].a = here ? fl_array_view_rows(ctx, here, from, to) : NULL;
    results[0].i = to - from;
    fl_array_unref(here);
    if (part) continue;
    for (int32_t i = 1; i < made - 1; i++) fl_array_unref(results[i].a);
    if (fine) return FL_FAULT_MEMORY;
    return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: a part of a table has no rows");
  }
  return 0;
}

FlStatus fl_rt_reshape(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlArray *a = args[0].a;
  int64_t dims[FL_MAX_RANK] = {0}, count = fl_array_count(a), wanted = 1;
  int32_t rank = desc->n_args - 1;
  bool too_large = false;
  for (int32_t k = 0; k < rank; k++) {
    dims[k] = args[1 + k].i;
    if (dims[k] < 0) return fl_part_fail_index(ctx, desc, dims[k], count);
    too_large |= __builtin_mul_overflow(wanted, dims[k], &wanted);
  }
  /* a zero among the sizes makes the count zero, however large the others */
  for (int32_t k = 0; k < rank; k++) {
    if (dims[k] == 0) wanted = 0, too_large = false;
  }
  if (too_large || wanted != count)
    return fl_part_fail_shape(ctx, desc, count, too_large ? INT64_MAX : wanted);
  results[0].a = fl_array_over(ctx, a->buffer, a->data, a->dtype, rank, dims);
  return results[0].a == NULL;
}

/* ---- transpose ---------------------------------------------------------------------------------------- */

enum { TILE = 32 };

typedef struct Flip {
  const char *from;
  char *to;
  int64_t n, d; /* from is [n, d], to is [d, n] */
  size_t size;
  bool wide; /* the processor has vectors of eight words */
} Flip;

enum { EIGHT = 8 };

#if defined(__x86_64__)
/* Eight rows of eight words each become eight columns. */
__attribute__((target("avx512f"))) static void flip_eight(const double *from, int64_t d, double *to,
                                                          int64_t n) {
  __m512d pair[EIGHT], four[EIGHT]; /* of two and of four rows: words of each column side by side */
  for (int k = 0; k < EIGHT; k += 2) {
    __m512d a = _mm512_loadu_pd(from + k * d), b = _mm512_loadu_pd(from + (k + 1) * d);
    pair[k] = _mm512_unpacklo_pd(a, b);
    pair[k + 1] = _mm512_unpackhi_pd(a, b);
  }
  for (int k = 0; k < EIGHT; k += 4) {
    for (int odd = 0; odd < 2; odd++) {
      four[k + odd] = _mm512_shuffle_f64x2(pair[k + odd], pair[k + 2 + odd], 0x88);
      four[k + 2 + odd] = _mm512_shuffle_f64x2(pair[k + odd], pair[k + 2 + odd], 0xdd);
    }
  }
  for (int k = 0; k < EIGHT / 2; k++) {
    _mm512_storeu_pd(to + k * n, _mm512_shuffle_f64x2(four[k], four[k + 4], 0x88));
    _mm512_storeu_pd(to + (k + 4) * n, _mm512_shuffle_f64x2(four[k], four[k + 4], 0xdd));
  }
}
#endif

/* A tile of words by squares of eight, as far as these fit; *i and *j: where the rest begins. */
static void flip_squares(const Flip *f, int64_t i0, int64_t i1, int64_t j0, int64_t j1, int64_t *i,
                         int64_t *j) {
  *i = i0;
  *j = j0;
#if defined(__x86_64__)
  if (!f->wide || f->size != sizeof(double)) return;
  const double *from = (const double *)(const void *)f->from;
  double *to = (double *)(void *)f->to;
  *i = i0 + (i1 - i0) / EIGHT * EIGHT;
  *j = j0 + (j1 - j0) / EIGHT * EIGHT;
  for (int64_t r = i0; r < *i; r += EIGHT)
    for (int64_t c = j0; c < *j; c += EIGHT) flip_eight(from + r * f->d + c, f->d, to + c * f->n + r, f->n);
#else
  (void)f, (void)i1, (void)j1;
#endif
}

#define FLIP(T)                                                                                              \
  {                                                                                                          \
    const T *from = (const T *)(const void *)f->from;                                                        \
    T *to = (T *)(void *)f->to;                                                                              \
    for (int64_t j = j0; j < j1; j++) {                                                                      \
      for (int64_t i = i0; i < i1; i++) to[j * f->n + i] = from[i * f->d + j];                               \
    }                                                                                                        \
    break;                                                                                                   \
  }

static void flip_part(const Flip *f, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  switch (f->size) {
  case 1: FLIP(uint8_t)
  case 2: FLIP(uint16_t)
  case 4: FLIP(uint32_t)
  case 8: FLIP(uint64_t)
  case 16: FLIP(FlText)
  }
}

static void flip_tile(const Flip *f, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  int64_t i, j;
  flip_squares(f, i0, i1, j0, j1, &i, &j);
  if (j > j0) flip_part(f, i, i1, j0, j);
  flip_part(f, i0, i1, j, j1);
}

/* Items are strips of TILE rows of the result. */
static int32_t flip_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Flip *f = env;
  (void)ctx;
  for (int64_t strip = begin; strip < end; strip++) {
    int64_t j0 = strip * TILE, j1 = fl_part_min(j0 + TILE, f->d);
    for (int64_t i0 = 0; i0 < f->n; i0 += TILE) flip_tile(f, i0, fl_part_min(i0 + TILE, f->n), j0, j1);
  }
  return 0;
}

FlStatus fl_rt_transpose(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlArray *a = args[0].a;
  if (a->rank == 1) {
    results[0].a = fl_array_ref(a);
    return 0;
  }
  if (a->rank != 2) return fl_part_fail_shape(ctx, desc, a->rank, 2);
  int64_t dims[2] = {a->dims[1], a->dims[0]};
  FlArray *out = fl_array_new(ctx, a->dtype, 2, dims);
  if (out == NULL) return 1;
  bool text = fl_dtype_is_text(a->dtype);
  Flip f = {a->data, out->data, dims[1], dims[0], (size_t)fl_dtype_info[a->dtype].bytes, fl_cpu_level() >= 4};
  FlStatus status = text ? fl_array_keep(ctx, out, NULL, &a, 1) : 0;
  int64_t strips = fl_array_count(a) == 0 ? 0 : (f.d + TILE - 1) / TILE;
  if (status == 0) status = fl_part_for(ctx, flip_body, &f, strips, 1.5 * TILE * (double)f.n);
  if (status != 0) {
    fl_array_unref(out);
    return status;
  }
  results[0].a = out;
  return 0;
}
