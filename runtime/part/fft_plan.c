/* fft_plan.c: how a length is transformed, and transforms of rows by such plans.
 *
 * Comes in: a length. Goes out: its factors and roots of unity. Short rows are transformed eight at a time,
 * one a lane. A long row is a grid (fft_grid.c). Lengths with a prime factor above 13 are convolutions of a
 * length that is a power of two (L. Bluestein, "A linear filtering approach to the computation of discrete
 * Fourier transform", 1970). */
#include <math.h>

#include "kern/kern.h"
#include "part/fft_internal.h"

enum { SHORT = 256 }; /* lengths up to which passes alone are best */

/* ---- roots of unity ---------------------------------------------------------------------------------- */

/* Angles are brought to the first eighth of the circle in integers, so that symmetric roots agree to the bit.
 */
void fl_fft_root(int64_t k, int64_t n, double *re, double *im) {
  int64_t a = 8 * k, octant = a / n;
  int64_t from =
      octant % 2 == 0 ? a - octant * n : (octant + 1) * n - a; /* eighths of n from the nearest axis */
  double angle = 0.78539816339744830962 * ((double)from / (double)n);
  double c = fl_s_cos_f64(angle), s = fl_s_sin_f64(angle);
  bool turned = ((octant + 1) / 2) % 2 == 1; /* nearer to the imaginary axis */
  double x = turned ? s : c, y = turned ? c : s;
  *re = octant >= 2 && octant < 6 ? -x : x;
  *im = y == 0 ? 0.0 : octant < 4 ? -y : y;
}

/* e^(-2 pi i j k / n) of a table [rows, columns] of row j * unit and column k. */
typedef struct Roots {
  double *re, *im;
  int64_t n, columns, unit;
} Roots;

static int32_t roots_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Roots *t = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    fl_fft_root(i / t->columns * t->unit * (i % t->columns) % t->n, t->n, &t->re[i], &t->im[i]);
  return 0;
}

static bool roots(FlPartMem *m, int64_t rows, int64_t columns, int64_t unit, int64_t n, const double **re,
                  const double **im) {
  Roots t = {fl_part_alloc(m, rows * columns, sizeof(double)),
             fl_part_alloc(m, rows * columns, sizeof(double)), n, columns, unit};
  *re = t.re;
  *im = t.im;
  return t.re != NULL && t.im != NULL && fl_part_for(m->ctx, roots_body, &t, rows * columns, 20.0) == 0;
}

/* ---- plans -------------------------------------------------------------------------------------------- */

/* Prime factors up to the largest radix, and fours; what is left of n. */
static int64_t factors(int64_t n, int32_t *radices, int32_t *count) {
  static const int32_t tried[] = {4, 2, 3, 5, 7, 11, 13};
  *count = 0;
  for (int i = 0; i < 7; i++) {
    for (; n % tried[i] == 0; n /= tried[i]) radices[(*count)++] = tried[i];
  }
  return n;
}

static bool make_passes(FlPartMem *m, int64_t n, FlFftPasses *out) {
  out->n = n;
  (void)factors(n, out->radices, &out->n_radices);
  const double *re, *im;
  if (!roots(m, 2, n, 1, n, &re, &im)) return false; /* the second row: all roots of n */
  out->re = re + n;
  out->im = im + n;
  return true;
}

/* The divisor nearest to the root of n, at least 2 when n is long. */
static int64_t side_of(int64_t n) {
  int64_t side = 1;
  for (int64_t d = 1; d * d <= n; d++)
    if (n % d == 0) side = d;
  return side;
}

static bool make_chirp(FlPartMem *m, FlFft *p) {
  int64_t n = p->n, length = 1;
  while (length < 2 * n - 1) length *= 2;
  const FlFft *chirp = p->chirp = fl_fft_plan(m, length);
  if (chirp == NULL) return false;
  double *cr = fl_part_alloc(m, n, 8), *ci = fl_part_alloc(m, n, 8), *fr = fl_part_alloc(m, length, 8),
         *fi = fl_part_alloc(m, length, 8), *xr = fl_part_zalloc(m, length, 8),
         *xi = fl_part_zalloc(m, length, 8), *scratch = fl_part_alloc(m, fl_fft_scratch(chirp), 8);
  if (cr == NULL || ci == NULL || fr == NULL || fi == NULL || xr == NULL || xi == NULL || scratch == NULL)
    return false;
  for (int64_t j = 0; j < n; j++) {
    int64_t square = (int64_t)((unsigned __int128)j * (uint64_t)j % (uint64_t)(2 * n));
    fl_fft_root(square, 2 * n, &cr[j], &ci[j]);
    double re = cr[j] / (double)length, im = -ci[j] / (double)length;
    xr[j] = re;
    xi[j] = im;
    xr[(length - j) % length] = re;
    xi[(length - j) % length] = im;
  }
  fl_fft_rows(chirp, 1, (FlFftRows){xr, xi, 1}, fr, fi, scratch);
  p->chirp_re = cr;
  p->chirp_im = ci;
  p->filter_re = fr;
  p->filter_im = fi;
  return true;
}

const FlFft *fl_fft_plan(FlPartMem *m, int64_t n) {
  FlFft *p = fl_part_zalloc(m, 1, sizeof *p);
  if (p == NULL) return NULL;
  int32_t radices[FL_FFT_RADICES], count;
  p->n = n;
  p->across = 1;
  if (factors(n, radices, &count) != 1) return make_chirp(m, p) ? p : NULL;
  if (n > SHORT) {
    int64_t down = side_of(n);
    p->across = n / down;
    if (!make_passes(m, down, &p->down) || !make_passes(m, p->across, &p->along) ||
        !roots(m, (p->across + FL_FFT_SIDE - 1) / FL_FFT_SIDE, down, FL_FFT_SIDE, n, &p->coarse_re,
               &p->coarse_im) ||
        !roots(m, down, FL_FFT_SIDE, 1, n, &p->fine_re, &p->fine_im))
      return NULL;
    return p;
  }
  return make_passes(m, n, &p->down) ? p : NULL;
}

int64_t fl_fft_scratch(const FlFft *p) {
  if (p->chirp != NULL) return 4 * p->chirp->n + fl_fft_scratch(p->chirp) + 4 * FL_FFT_SIDE;
  return p->across > 1 ? fl_fft_grid_scratch(p) : 4 * FL_FFT_SIDE * p->n;
}

/* ---- transforms --------------------------------------------------------------------------------------- */

FL_PART_WIDE static void all_lanes(const double *from, int64_t row, int64_t n, int64_t step, double *to) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t l = 0; l < FL_FFT_SIDE; l++) to[j * FL_FFT_SIDE + l] = from[l * row + j * step];
}

void fl_fft_to_lanes(const double *from, int64_t rows, int64_t row, int64_t n, int64_t step, double *to) {
  if (rows == FL_FFT_SIDE) {
    all_lanes(from, row, n, step, to);
    return;
  }
  for (int64_t j = 0; j < n; j++)
    for (int64_t l = 0; l < FL_FFT_SIDE; l++)
      to[j * FL_FFT_SIDE + l] = l < rows ? from[l * row + j * step] : 0.0;
}

static void from_lanes(const double *from, int64_t rows, int64_t n, double *to) {
  for (int64_t l = 0; l < rows; l++)
    for (int64_t j = 0; j < n; j++) to[l * n + j] = from[j * FL_FFT_SIDE + l];
}

/* The sum over j of x[j] w[j] conj(w[k - j]), times w[k], w being the chirp. */
static void convolve(const FlFft *p, FlFftRows x, double *out_re, double *out_im, double *scratch) {
  int64_t n = p->n, length = p->chirp->n;
  double *xr = scratch, *xi = xr + length, *yr = xi + length, *yi = yr + length;
  double *rest = yi + length + (FL_FFT_SIDE - 4 * length % FL_FFT_SIDE) % FL_FFT_SIDE;
  memset(xr, 0, (size_t)(2 * length) * sizeof *xr);
  for (int64_t j = 0; j < n; j++) {
    double wr = p->chirp_re[j], wi = p->chirp_im[j];
    double re = x.re[j * x.step], im = x.im[j * x.step];
    xr[j] = re * wr - im * wi;
    xi[j] = re * wi + im * wr;
  }
  fl_fft_rows(p->chirp, 1, (FlFftRows){xr, xi, 1}, yr, yi, rest);
  for (int64_t j = 0; j < length; j++) {
    double ar = yr[j], ai = yi[j], fr = p->filter_re[j], fi = p->filter_im[j];
    yr[j] = ar * fr - ai * fi;
    yi[j] = ar * fi + ai * fr;
  }
  fl_fft_rows(p->chirp, 1, (FlFftRows){yi, yr, 1}, xi, xr, rest); /* backward */
  for (int64_t k = 0; k < n; k++) {
    double wr = p->chirp_re[k], wi = p->chirp_im[k];
    out_re[k] = xr[k] * wr - xi[k] * wi;
    out_im[k] = xr[k] * wi + xi[k] * wr;
  }
}

void fl_fft_rows(const FlFft *p, int64_t rows, FlFftRows x, double *out_re, double *out_im, double *scratch) {
  if (p->chirp != NULL) {
    convolve(p, x, out_re, out_im, scratch);
    return;
  }
  if (p->across > 1) {
    fl_fft_grid(p, x, out_re, out_im, scratch);
    return;
  }
  int64_t size = p->n * FL_FFT_SIDE;
  double *xr = scratch, *xi = xr + size, *yr = xi + size, *yi = yr + size;
  fl_fft_to_lanes(x.re, rows, p->n * x.step, p->n, x.step, xr);
  fl_fft_to_lanes(x.im, rows, p->n * x.step, p->n, x.step, xi);
  bool in_y = fl_fft_passes(&p->down, xr, xi, yr, yi);
  from_lanes(in_y ? yr : xr, rows, p->n, out_re);
  from_lanes(in_y ? yi : xi, rows, p->n, out_im);
}
