/* fft.c: the operators fft, rfft and irfft: discrete Fourier transforms of the rows of an array.
 *
 * Comes in: f64 or f32 arrays; f32 is computed in f64 and rounded once. Goes out: real and imaginary parts.
 * Rows of an even number of reals are transformed as half as many complex numbers. Always holds: each row's
 * bits depend on that row alone; rows go over the pool. */
#include <math.h>

#include "part/fft_internal.h"

typedef enum Kind { COMPLEX, BACKWARD, REAL_ALL, REAL_HALF, TO_REAL } Kind;

typedef struct Job {
  Kind kind;
  const FlFft *plan;
  int64_t rows, n, kept,
      group;             /* kept: results of a row of a real transform, n / 2 + 1; group: rows at a time */
  const void *re, *im;   /* inputs; im NULL: zero */
  void *out_re, *out_im; /* results; TO_REAL: only re */
  int32_t dtype;
  const double *root_re, *root_im; /* e^(-2 pi i k / n), k up to n / 2, for even real ones */
  _Atomic int32_t no_memory;
} Job;

static bool halved(const Job *t) { return t->kind >= REAL_ALL && t->n % 2 == 0; }

static double get(const Job *t, const void *from, int64_t i) {
  return t->dtype == FL_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static void load(const Job *t, const void *from, int64_t at, int64_t n, double *to) {
  if (from == NULL) {
    memset(to, 0, (size_t)n * sizeof *to);
  } else if (t->dtype == FL_F64) {
    memcpy(to, (const double *)from + at, (size_t)n * sizeof *to);
  } else {
    for (int64_t j = 0; j < n; j++) to[j] = (double)((const float *)from)[at + j];
  }
}

/* Stores n numbers times `scale`, each `step` after the one before; there is one NaN. */
FL_PART_WIDE static void store(const double *from, double scale, int64_t n, int32_t dtype, void *to,
                               int64_t at, int64_t step) {
  const double nan = (double)NAN;
  if (dtype == FL_F64 && step == 1) {
    double *out = (double *)to + at;
    for (int64_t j = 0; j < n; j++) {
      double v = from[j] * scale;
      out[j] = v == v ? v : nan;
    }
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    double v = from[j] * scale;
    v = v == v ? v : nan;
    if (dtype == FL_F64) ((double *)to)[at + j * step] = v;
    else ((float *)to)[at + j * step] = (float)v;
  }
}

/* The transform of a row of reals from its first t->kept elements; where all are wanted the others are
 * conjugates. */
static void store_reals(const Job *t, int64_t row, double *re, double *im) {
  int64_t width = t->kind == REAL_ALL ? t->n : t->kept, at = row * width;
  store(re, 1.0, t->kept, t->dtype, t->out_re, at, 1);
  store(im, 1.0, t->kept, t->dtype, t->out_im, at, 1);
  if (t->kind != REAL_ALL) return;
  int64_t others = t->n - t->kept;
  store(re + 1, 1.0, others, t->dtype, t->out_re, at + t->n - 1, -1);
  store(im + 1, -1.0, others, t->dtype, t->out_im, at + t->n - 1, -1);
}

/* From z[k] = a and z[h - k] = b the elements k and h - k of the transform of twice as many reals, for `n` of
 * k from 1 on; what belongs to h - k is walked from its end. There is one NaN. */
FL_PART_WIDE static void untangle(int64_t n, const double *restrict zr, const double *restrict zi,
                                  const double *restrict last_zr, const double *restrict last_zi,
                                  const double *restrict root_re, const double *restrict root_im,
                                  double *restrict re, double *restrict im, double *restrict last_re,
                                  double *restrict last_im) {
  const double nan = (double)NAN;
  for (int64_t i = 0; i < n; i++) {
    double ar = zr[i], ai = zi[i], br = last_zr[n - 1 - i], bi = last_zi[n - 1 - i];
    double er = 0.5 * (ar + br), ei = 0.5 * (ai - bi), odd_r = 0.5 * (ai + bi), odd_i = 0.5 * (br - ar);
    double tr = odd_r * root_re[i] - odd_i * root_im[i], ti = odd_r * root_im[i] + odd_i * root_re[i];
    double xr = er + tr, xi = ei + ti, yr = er - tr, yi = ti - ei;
    re[i] = xr == xr ? xr : nan;
    im[i] = xi == xi ? xi : nan;
    last_re[n - 1 - i] = yr == yr ? yr : nan;
    last_im[n - 1 - i] = yi == yi ? yi : nan;
  }
}

static double one_nan(double x) { return x == x ? x : (double)NAN; }

/* z = x[2 j] + i x[2 j + 1] has the transform e + i o, e and o those of the even and odd elements: h of them
 * into h + 1 of x. */
static void from_halves(const double *zr, const double *zi, int64_t h, const double *root_re,
                        const double *root_im, double *re, double *im) {
  int64_t n = (h - 1) / 2;
  re[0] = one_nan(zr[0] + zi[0]);
  re[h] = one_nan(zr[0] - zi[0]);
  im[0] = im[h] = one_nan((zr[0] - zr[0]) + (zi[0] - zi[0])); /* zero, or nan */
  untangle(n, zr + 1, zi + 1, zr + h - n, zi + h - n, root_re + 1, root_im + 1, re + 1, im + 1, re + h - n,
           im + h - n);
  if (h % 2 == 0) {
    re[h / 2] = one_nan(zr[h / 2]);
    im[h / 2] = one_nan(-zi[h / 2]);
  }
}

/* The way back: z from the transform of x, twice as large. */
static void to_halves(const Job *t, int64_t row, double *zr, double *zi) {
  int64_t h = t->n / 2, at = row * t->kept;
  for (int64_t k = 0; k < h; k++) {
    double ar = get(t, t->re, at + k), ai = k == 0 ? 0.0 : get(t, t->im, at + k);
    double br = get(t, t->re, at + h - k), bi = k == 0 ? 0.0 : -get(t, t->im, at + h - k);
    double er = ar + br, ei = ai + bi, dr = ar - br, di = ai - bi;
    double wr = t->root_re[k], wi = -t->root_im[k];
    double odd_r = dr * wr - di * wi, oi = dr * wi + di * wr;
    zr[k] = er - oi;
    zi[k] = ei + odd_r;
  }
}

/* The complex numbers whose transform has something to do with row `row`. */
static void read_row(const Job *t, int64_t row, double *re, double *im) {
  int64_t n = t->n;
  if (t->kind == TO_REAL) {
    if (halved(t)) {
      to_halves(t, row, re, im);
      return;
    }
    for (int64_t k = 0; k < t->kept; k++) {
      double x = get(t, t->re, row * t->kept + k), y = k == 0 ? 0.0 : get(t, t->im, row * t->kept + k);
      re[k] = x;
      im[k] = y;
      if (k == 0) continue;
      re[n - k] = x;
      im[n - k] = -y;
    }
    return;
  }
  if (!halved(t)) {
    load(t, t->re, row * n, n, re);
    load(t, t->im, row * n, n, im);
    return;
  }
  for (int64_t j = 0; j < n / 2; j++) {
    re[j] = get(t, t->re, row * n + 2 * j);
    im[j] = get(t, t->re, row * n + 2 * j + 1);
  }
}

/* `room`: for two rows of kept elements. */
static void write_row(const Job *t, int64_t row, double *re, double *im, double *room) {
  int64_t n = t->n;
  double scale = t->kind == BACKWARD || t->kind == TO_REAL ? 1.0 / (double)n : 1.0;
  switch (t->kind) {
  case COMPLEX:
  case BACKWARD:
    store(re, scale, n, t->dtype, t->out_re, row * n, 1);
    store(im, scale, n, t->dtype, t->out_im, row * n, 1);
    break;
  case REAL_ALL:
  case REAL_HALF:
    if (!halved(t)) {
      store_reals(t, row, re, im);
      break;
    }
    if (t->kind == REAL_HALF && t->dtype == FL_F64) {
      double *out_re = (double *)t->out_re + row * t->kept, *out_im = (double *)t->out_im + row * t->kept;
      from_halves(re, im, n / 2, t->root_re, t->root_im, out_re, out_im);
      break;
    }
    from_halves(re, im, n / 2, t->root_re, t->root_im, room, room + t->kept);
    store_reals(t, row, room, room + t->kept);
    break;
  case TO_REAL:
    if (!halved(t)) {
      store(re, scale, n, t->dtype, t->out_re, row * n, 1);
      break;
    }
    store(re, scale, n / 2, t->dtype, t->out_re, row * n, 2);
    store(im, scale, n / 2, t->dtype, t->out_re, row * n + 1, 2);
    break;
  }
}

/* Where the complex numbers of rows from `row` on are: in t itself where they can be transformed as they lie,
 * or read into re and im. */
static FlFftRows rows_of(const Job *t, int64_t row, int64_t rows, double *re, double *im) {
  int64_t n = t->plan->n;
  if (t->dtype == FL_F64 && t->kind >= REAL_ALL && t->kind != TO_REAL && halved(t)) {
    const double *x = (const double *)t->re + row * t->n;
    return (FlFftRows){x, x + 1, 2};
  }
  if (t->dtype == FL_F64 && t->kind <= BACKWARD)
    return (FlFftRows){(const double *)t->re + row * n, (const double *)t->im + row * n, 1};
  for (int64_t r = 0; r < rows; r++) read_row(t, row + r, re + r * n, im + r * n);
  return (FlFftRows){re, im, 1};
}

/* Asks for memory that is needed soon, where real numbers of a short row become half as many complex ones or
 * come of them: where it goes, and where the next one is. Such a row is over before the processor sees where
 * it leads. Always inlined, as gcc takes a function that only asks for one without effects. */
static inline __attribute__((always_inline)) void ask_ahead(const Job *t, int64_t row) {
  enum { LINE = 64, MOST = 8 << 10, NEAR = 2 };
  int64_t size = (int64_t)fl_dtype_info[t->dtype].bytes;
  int64_t from = (t->kind == TO_REAL ? t->kept : t->n) * size,
          to = (t->kind == TO_REAL ? t->n : t->kept) * size;
  if (t->group > 1 || t->n * size > MOST || (t->kind != REAL_HALF && t->kind != TO_REAL)) return;
  const char *re = t->re, *im = t->im;
  char *out_re = t->out_re, *out_im = t->out_im;
  for (int64_t i = (row + 1) * from; i < (row + 2) * from && row + 1 < t->rows; i += LINE) {
    __builtin_prefetch(re + i, 0, NEAR);
    if (im != NULL) __builtin_prefetch(im + i, 0, NEAR);
  }
  for (int64_t i = row * to; i < (row + 1) * to; i += LINE) {
    __builtin_prefetch(out_re + i, 1);
    if (out_im != NULL) __builtin_prefetch(out_im + i, 1);
  }
}

static int32_t rows_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Job *t = (Job *)(uintptr_t)env;
  int64_t n = t->plan->n, size = (n * t->group + 7) / 8 * 8;
  int64_t room = (2 * t->kept + 7) / 8 * 8, scratch_size = (fl_fft_scratch(t->plan) + 7) / 8 * 8;
  double *memory = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL,
                                  (size_t)(4 * size + room + scratch_size) * sizeof *memory);
  bool backward = t->kind == BACKWARD || t->kind == TO_REAL;
  if (memory == NULL) {
    atomic_store_explicit(&t->no_memory, 1, memory_order_relaxed);
    return 1;
  }
  double *re = memory, *im = re + size, *out_re = im + size, *out_im = out_re + size,
         *scratch = out_im + size + room;
  for (int64_t g = begin; g < end; g++) {
    int64_t first = g * t->group, rows = fl_part_min(t->group, t->rows - first);
    FlFftRows x = rows_of(t, first, rows, re, im);
    ask_ahead(t, first);
    if (backward) fl_fft_rows(t->plan, rows, (FlFftRows){x.im, x.re, x.step}, out_im, out_re, scratch);
    else fl_fft_rows(t->plan, rows, x, out_re, out_im, scratch);
    for (int64_t r = 0; r < rows; r++) write_row(t, first + r, out_re + r * n, out_im + r * n, out_im + size);
  }
  fl_counted_free(memory);
  return 0;
}

static FlStatus run(FlPartMem *mem, Job *t) {
  if (t->rows == 0) return 0;
  t->plan = fl_fft_plan(mem, halved(t) ? t->n / 2 : t->n);
  if (t->plan == NULL) return 1;
  t->group = fl_fft_together(t->plan);
  if (halved(t)) {
    double *re = fl_part_alloc(mem, t->kept, sizeof *re), *im = fl_part_alloc(mem, t->kept, sizeof *im);
    if (re == NULL || im == NULL) return 1;
    for (int64_t k = 0; k < t->kept; k++) fl_fft_root(k, t->n, &re[k], &im[k]);
    t->root_re = re;
    t->root_im = im;
  }
  double length = (double)t->n;
  FlStatus status = fl_part_for(mem->ctx, rows_body, t, (t->rows + t->group - 1) / t->group,
                                (double)t->group * length * (2.0 + 0.3 * log2(length)));
  if (atomic_load(&t->no_memory) != 0)
    return fl_fail(mem->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
  return status;
}

/* The job of transforming `re` (and `im`) to rows of `width`, and its results in out. */
static FlStatus start(FlPartMem *mem, const FlOpDesc *desc, Kind kind, const FlArray *re, const FlArray *im,
                      int64_t n, FlArray **out) {
  int32_t last = re->rank - 1;
  int64_t dims[FL_MAX_RANK], rows = 1, kept = n / 2 + 1;
  for (int32_t k = 0; k <= last; k++) {
    if (im != NULL && im->dims[k] != re->dims[k])
      return fl_part_fail_shape(mem->ctx, desc, re->dims[k], im->dims[k]);
    dims[k] = re->dims[k];
    if (k < last) rows *= dims[k];
  }
  if (n < 1) {
    return fl_fail_op(mem->ctx, desc, FL_FAULT_EMPTY,
                      "a Fourier transform of nothing: the last dimension is %lld", (long long)n);
  }
  if (kind == TO_REAL && dims[last] != kept) {
    return fl_fail_op(mem->ctx, desc, FL_FAULT_SHAPE,
                      "`irfft` to %lld numbers takes %lld elements, and the last dimension is %lld",
                      (long long)n, (long long)kept, (long long)dims[last]);
  }
  dims[last] = kind == REAL_HALF ? kept : n;
  for (int32_t k = 0; k < (kind == TO_REAL ? 1 : 2); k++) {
    out[k] = fl_array_new(mem->ctx, re->dtype, re->rank, dims);
    if (out[k] == NULL) return 1;
  }
  Job t = {.kind = kind, .rows = rows, .n = n, .kept = kept, .dtype = re->dtype};
  t.re = re->data;
  t.im = im != NULL ? im->data : NULL;
  t.out_re = out[0]->data;
  t.out_im = kind == TO_REAL ? NULL : out[1]->data;
  return run(mem, &t);
}

static FlStatus fft(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *re = args[0].a;
  Kind kind = desc->n_args == 1 ? REAL_ALL : desc->i != 0 ? BACKWARD : COMPLEX;
  return start(mem, desc, kind, re, desc->n_args == 1 ? NULL : args[1].a, re->dims[re->rank - 1], out);
}

static FlStatus rfft(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  const FlArray *x = args[0].a;
  return start(mem, desc, REAL_HALF, x, NULL, x->dims[x->rank - 1], out);
}

static FlStatus irfft(FlPartMem *mem, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  return start(mem, desc, TO_REAL, args[0].a, args[1].a, args[2].i, out);
}

FlStatus fl_rt_fft(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, fft);
}

FlStatus fl_rt_rfft(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, rfft);
}

FlStatus fl_rt_irfft(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, irfft);
}
