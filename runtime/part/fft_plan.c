/* fft_plan.c: how a length is transformed, and transforms of rows by such plans.
 *
 * Comes in: a length. Goes out: its factors and roots of unity. Short rows are transformed eight at a time,
 * one a lane. A long row is a grid: its columns are transformed eight at a time, turned by roots of unity,
 * then its rows (W. Gentleman, G. Sande, "Fast Fourier transforms for fun and profit", 1966), so that what is
 * worked on stays near the processor. Lengths with a prime factor above 13 are convolutions of a length that
 * is a power of two (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
 * transform", 1970). */
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

/* e^(-2 pi i j k / n) of a table [rows, columns]. */
typedef struct Roots {
  double *re, *im;
  int64_t n, columns;
} Roots;

static int32_t roots_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Roots *t = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    fl_fft_root(i / t->columns * (i % t->columns) % t->n, t->n, &t->re[i], &t->im[i]);
  return 0;
}

static bool roots(FlPartMem *m, int64_t rows, int64_t columns, int64_t n, const double **re,
                  const double **im) {
  Roots t = {fl_part_alloc(m, rows * columns, sizeof(double)),
             fl_part_alloc(m, rows * columns, sizeof(double)), n, columns};
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
  if (!roots(m, 2, n, n, &re, &im)) return false; /* the second row: all roots of n */
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
  fl_fft_rows(chirp, 1, xr, xi, fr, fi, scratch);
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
        !roots(m, down, p->across, n, &p->re, &p->im))
      return NULL;
    return p;
  }
  return make_passes(m, n, &p->down) ? p : NULL;
}

int64_t fl_fft_scratch(const FlFft *p) {
  if (p->chirp != NULL) return 4 * p->chirp->n + fl_fft_scratch(p->chirp) + 4 * FL_FFT_SIDE;
  return 4 * FL_FFT_SIDE * fl_part_max(p->down.n, p->across);
}

/* ---- transforms --------------------------------------------------------------------------------------- */

/* Room for FL_FFT_SIDE transforms of length n, before and after a pass. */
typedef struct Room {
  double *xr, *xi, *yr, *yi;
} Room;

static Room room_of(double *scratch, int64_t n) {
  int64_t size = n * FL_FFT_SIDE;
  return (Room){scratch, scratch + size, scratch + 2 * size, scratch + 3 * size};
}

/* After this the results are in yr and yi. */
static void transform(const FlFftPasses *p, Room *r) {
  if (fl_fft_passes(p, r->xr, r->xi, r->yr, r->yi)) return;
  *r = (Room){r->yr, r->yi, r->xr, r->xi};
}

/* Rows [rows, n] into lanes, and back; lanes without a row are zero. */
FL_PART_WIDE static void to_lanes(const double *from, int64_t rows, int64_t n, int64_t step, double *to) {
  if (rows == FL_FFT_SIDE) {
    for (int64_t j = 0; j < n; j++)
      for (int64_t l = 0; l < FL_FFT_SIDE; l++) to[j * FL_FFT_SIDE + l] = from[l * step + j];
    return;
  }
  for (int64_t j = 0; j < n; j++)
    for (int64_t l = 0; l < FL_FFT_SIDE; l++) to[j * FL_FFT_SIDE + l] = l < rows ? from[l * step + j] : 0.0;
}

static void from_lanes(const double *from, int64_t rows, int64_t n, double *to) {
  for (int64_t l = 0; l < rows; l++)
    for (int64_t j = 0; j < n; j++) to[l * n + j] = from[j * FL_FFT_SIDE + l];
}

/* Column `at` and those beside it, [n] of them `step` apart, into lanes. */
static void columns_to_lanes(const double *from, int64_t lanes, int64_t n, int64_t step, double *to) {
  if (lanes == FL_FFT_SIDE) {
    for (int64_t j = 0; j < n; j++) memcpy(to + j * FL_FFT_SIDE, from + j * step, FL_FFT_SIDE * sizeof *to);
    return;
  }
  memset(to, 0, (size_t)(n * FL_FFT_SIDE) * sizeof *to);
  for (int64_t j = 0; j < n; j++) memcpy(to + j * FL_FFT_SIDE, from + j * step, (size_t)lanes * sizeof *to);
}

static void lanes_to_columns(const double *from, int64_t lanes, int64_t n, int64_t step, double *to) {
  for (int64_t j = 0; j < n; j++) {
    if (lanes == FL_FFT_SIDE) memcpy(to + j * step, from + j * FL_FFT_SIDE, FL_FFT_SIDE * sizeof *to);
    else memcpy(to + j * step, from + j * FL_FFT_SIDE, (size_t)lanes * sizeof *to);
  }
}

/* Results of columns, turned by their roots, back to their columns. */
FL_PART_WIDE static void turn(const FlFft *p, const Room *r, int64_t at, int64_t lanes, double *re,
                              double *im) {
  for (int64_t k = 0; k < p->down.n; k++) {
    const double *wr = p->re + k * p->across + at, *wi = p->im + k * p->across + at;
    const double *xr = r->yr + k * FL_FFT_SIDE, *xi = r->yi + k * FL_FFT_SIDE;
    double *tr = re + k * p->across + at, *ti = im + k * p->across + at;
    for (int64_t l = 0; l < lanes; l++) {
      tr[l] = xr[l] * wr[l] - xi[l] * wi[l];
      ti[l] = xr[l] * wi[l] + xi[l] * wr[l];
    }
  }
}

static void grid(const FlFft *p, double *re, double *im, double *out_re, double *out_im, double *scratch) {
  int64_t down = p->down.n, across = p->across;
  for (int64_t at = 0; at < across; at += FL_FFT_SIDE) {
    int64_t lanes = fl_part_min(FL_FFT_SIDE, across - at);
    Room r = room_of(scratch, down);
    columns_to_lanes(re + at, lanes, down, across, r.xr);
    columns_to_lanes(im + at, lanes, down, across, r.xi);
    transform(&p->down, &r);
    turn(p, &r, at, lanes, re, im);
  }
  for (int64_t at = 0; at < down; at += FL_FFT_SIDE) {
    int64_t lanes = fl_part_min(FL_FFT_SIDE, down - at);
    Room r = room_of(scratch, across);
    to_lanes(re + at * across, lanes, across, across, r.xr);
    to_lanes(im + at * across, lanes, across, across, r.xi);
    transform(&p->along, &r);
    lanes_to_columns(r.yr, lanes, across, down, out_re + at);
    lanes_to_columns(r.yi, lanes, across, down, out_im + at);
  }
}

/* The sum over j of x[j] w[j] conj(w[k - j]), times w[k], w being the chirp. */
static void convolve(const FlFft *p, const double *re, const double *im, double *out_re, double *out_im,
                     double *scratch) {
  int64_t n = p->n, length = p->chirp->n;
  double *xr = scratch, *xi = xr + length, *yr = xi + length, *yi = yr + length;
  double *rest = yi + length + (FL_FFT_SIDE - 4 * length % FL_FFT_SIDE) % FL_FFT_SIDE;
  memset(xr, 0, (size_t)(2 * length) * sizeof *xr);
  for (int64_t j = 0; j < n; j++) {
    double wr = p->chirp_re[j], wi = p->chirp_im[j];
    xr[j] = re[j] * wr - im[j] * wi;
    xi[j] = re[j] * wi + im[j] * wr;
  }
  fl_fft_rows(p->chirp, 1, xr, xi, yr, yi, rest);
  for (int64_t j = 0; j < length; j++) {
    double ar = yr[j], ai = yi[j], fr = p->filter_re[j], fi = p->filter_im[j];
    yr[j] = ar * fr - ai * fi;
    yi[j] = ar * fi + ai * fr;
  }
  fl_fft_rows(p->chirp, 1, yi, yr, xi, xr, rest); /* backward */
  for (int64_t k = 0; k < n; k++) {
    double wr = p->chirp_re[k], wi = p->chirp_im[k];
    out_re[k] = xr[k] * wr - xi[k] * wi;
    out_im[k] = xr[k] * wi + xi[k] * wr;
  }
}

void fl_fft_rows(const FlFft *p, int64_t rows, double *re, double *im, double *out_re, double *out_im,
                 double *scratch) {
  if (p->chirp != NULL) {
    convolve(p, re, im, out_re, out_im, scratch);
    return;
  }
  if (p->across > 1) {
    grid(p, re, im, out_re, out_im, scratch);
    return;
  }
  Room r = room_of(scratch, p->n);
  to_lanes(re, rows, p->n, p->n, r.xr);
  to_lanes(im, rows, p->n, p->n, r.xi);
  transform(&p->down, &r);
  from_lanes(r.yr, rows, p->n, out_re);
  from_lanes(r.yi, rows, p->n, out_im);
}
