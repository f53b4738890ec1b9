/* fft_grid.c: the transform of one long row as a grid: its columns are transformed eight at a time, turned by
 * roots of unity, then its rows, so that what is worked on stays near the processor.
 *
 * Source: W. Gentleman, G. Sande, "Fast Fourier transforms for fun and profit", 1966. What the columns give
 * is kept in blocks of eight rows of the grid, element j of all eight side by side, as the passes take them.
 */
#include "part/fft_internal.h"

enum { SIDE = FL_FFT_SIDE };
typedef double Lanes __attribute__((vector_size(SIDE * sizeof(double))));

static int64_t blocks_of(const FlFft *p) { return (p->down.n + SIDE - 1) / SIDE; }

int64_t fl_fft_grid_scratch(const FlFft *p) {
  return 2 * SIDE * blocks_of(p) * p->across + 4 * SIDE * fl_part_max(p->down.n, p->across);
}

/* Eight columns of n numbers that stand in turn with others: parts of element j at from[j * row + 2 l] and
 * behind it. What comes after them is asked for meanwhile. */
FL_PART_WIDE static void pairs_to_lanes(const double *restrict from, int64_t n, int64_t row,
                                        double *restrict re, double *restrict im) {
  for (int64_t j = 0; j < n; j++) {
    const double *x = from + j * row;
    __builtin_prefetch(x + 2 * SIDE);
    __builtin_prefetch(x + 3 * SIDE);
    for (int64_t l = 0; l < SIDE; l++) {
      re[j * SIDE + l] = x[2 * l];
      im[j * SIDE + l] = x[2 * l + 1];
    }
  }
}

/* Column `at` and those beside it of x into lanes. */
static void columns_to_lanes(const FlFft *p, FlFftRows x, int64_t at, int64_t lanes, double *re, double *im) {
  int64_t n = p->down.n, row = p->across * x.step;
  const double *xr = x.re + at * x.step, *xi = x.im + at * x.step;
  if (lanes == SIDE && x.step == 2 && xi == xr + 1) {
    pairs_to_lanes(xr, n, row, re, im);
  } else if (lanes == SIDE && x.step == 1) {
    for (int64_t j = 0; j < n; j++) memcpy(re + j * SIDE, xr + j * row, SIDE * sizeof *re);
    for (int64_t j = 0; j < n; j++) memcpy(im + j * SIDE, xi + j * row, SIDE * sizeof *im);
  } else {
    fl_fft_to_lanes(xr, lanes, x.step, n, row, re);
    fl_fft_to_lanes(xi, lanes, x.step, n, row, im);
  }
}

/* Rows become columns. */
static inline __attribute__((always_inline)) void transpose(Lanes t[SIDE]) {
  for (int i = 0; i < SIDE; i += 2) {
    Lanes a = t[i], b = t[i + 1];
    t[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    t[i + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int h = 0; h < SIDE / 2; h++) {
    int i = h / 2 * 4 + h % 2;
    Lanes a = t[i], b = t[i + 2];
    t[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    t[i + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < SIDE / 2; i++) {
    Lanes a = t[i], b = t[i + SIDE / 2];
    t[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + SIDE / 2] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Transforms y of the columns from `at` on, turned by their roots, into the blocks. */
FL_PART_WIDE static void turn(const FlFft *p, const double *yr, const double *yi, int64_t at, int64_t lanes,
                              double *re, double *im) {
  const double *coarse_re = p->coarse_re + at / SIDE * p->down.n,
               *coarse_im = p->coarse_im + at / SIDE * p->down.n;
  const Lanes *fine_re = (const Lanes *)(const void *)p->fine_re,
              *fine_im = (const Lanes *)(const void *)p->fine_im;
  const Lanes *xr = (const Lanes *)(const void *)yr, *xi = (const Lanes *)(const void *)yi;
  for (int64_t first = 0; first < p->down.n; first += SIDE) {
    int64_t rows = fl_part_min(SIDE, p->down.n - first);
    Lanes tr[SIDE] = {{0}}, ti[SIDE] = {{0}};
    for (int64_t l = 0; l < rows; l++) {
      int64_t k = first + l;
      Lanes wr = fine_re[k] * coarse_re[k] - fine_im[k] * coarse_im[k];
      Lanes wi = fine_re[k] * coarse_im[k] + fine_im[k] * coarse_re[k];
      tr[l] = xr[k] * wr - xi[k] * wi;
      ti[l] = xr[k] * wi + xi[k] * wr;
    }
    transpose(tr);
    transpose(ti);
    int64_t to = first * p->across + at * SIDE;
    if (lanes == SIDE) {
      memcpy(re + to, tr, sizeof tr);
      memcpy(im + to, ti, sizeof ti);
    } else {
      memcpy(re + to, tr, (size_t)lanes * sizeof *tr);
      memcpy(im + to, ti, (size_t)lanes * sizeof *ti);
    }
  }
}

static void lanes_to_columns(const double *from, int64_t lanes, int64_t n, int64_t step, double *to) {
  for (int64_t j = 0; j < n; j++) {
    if (lanes == SIDE) memcpy(to + j * step, from + j * SIDE, SIDE * sizeof *to);
    else memcpy(to + j * step, from + j * SIDE, (size_t)lanes * sizeof *to);
  }
}

void fl_fft_grid(const FlFft *p, FlFftRows x, double *out_re, double *out_im, double *scratch) {
  int64_t down = p->down.n, across = p->across, size = SIDE * blocks_of(p) * across;
  int64_t most = SIDE * fl_part_max(down, across);
  double *re = scratch, *im = re + size, *xr = im + size, *xi = xr + most, *yr = xi + most, *yi = yr + most;
  for (int64_t at = 0; at < across; at += SIDE) {
    int64_t lanes = fl_part_min(SIDE, across - at);
    columns_to_lanes(p, x, at, lanes, xr, xi);
    bool in_y = fl_fft_passes(&p->down, xr, xi, yr, yi);
    turn(p, in_y ? yr : xr, in_y ? yi : xi, at, lanes, re, im);
  }
  for (int64_t at = 0; at < down; at += SIDE) {
    int64_t lanes = fl_part_min(SIDE, down - at);
    double *br = re + at * across, *bi = im + at * across;
    bool in_y = fl_fft_passes(&p->along, br, bi, yr, yi);
    lanes_to_columns(in_y ? yr : br, lanes, across, down, out_re + at);
    lanes_to_columns(in_y ? yi : bi, lanes, across, down, out_im + at);
  }
}
