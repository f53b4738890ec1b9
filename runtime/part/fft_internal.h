/* fft_internal.h: discrete Fourier transforms of rows of doubles: plans and how they are used.
 *
 * What always holds: a row's bits depend on the row and its length alone: which rows are transformed
 * together, the width of vectors and the workers change nothing. A plan is only read once it is made. */
#ifndef FL_PART_FFT_INTERNAL_H
#define FL_PART_FFT_INTERNAL_H

#include "part/part_internal.h"

enum {
  FL_FFT_SIDE = 8,          /* transforms that run side by side, one a lane */
  FL_FFT_RADICES = 64,      /* more factors no size has */
  FL_FFT_LARGEST_RADIX = 13 /* prime factors above it: Bluestein's algorithm */
};

/* Transforms of length n, FL_FFT_SIDE at a time: element j of lane l is at [j * FL_FFT_SIDE + l]. */
typedef struct FlFftPasses {
  int64_t n;
  int32_t radices[FL_FFT_RADICES], n_radices;
  const double *re, *im; /* e^(-2 pi i j / n), [n] */
} FlFftPasses;

/* A transform of length n: by passes alone; as a grid of `across` columns, down and then across it; or, where
 * n has a large prime factor, as a convolution of length chirp->n. */
typedef struct FlFft FlFft;
struct FlFft {
  int64_t n, across; /* across 1: by passes alone */
  FlFftPasses down, along;
  /* grid: e^(-2 pi i j k / n), j the column, k the row of columns' transforms, is the product of coarse, for
   * 8 (j / 8), [across / 8 rounded up, n / across], and fine, for j % 8, [n / across, 8] */
  const double *coarse_re, *coarse_im, *fine_re, *fine_im;
  const FlFft *chirp;                  /* or NULL */
  const double *chirp_re, *chirp_im;   /* e^(-pi i j^2 / n), [n] */
  const double *filter_re, *filter_im; /* the transform of what is convolved with, over chirp->n */
};

/* Memory lives as long as `m`. NULL: error recorded. n is at least 1. */
const FlFft *fl_fft_plan(FlPartMem *m, int64_t n);
/* e^(-2 pi i k / n), to one unit in the last place or so; 0 <= k < n. */
void fl_fft_root(int64_t k, int64_t n, double *re, double *im);
/* Doubles that fl_fft_rows needs besides, aligned to 64 bytes. */
int64_t fl_fft_scratch(const FlFft *plan);
/* How many rows are best transformed at once. */
static inline int64_t fl_fft_together(const FlFft *plan) {
  return plan->across == 1 && plan->chirp == NULL ? FL_FFT_SIDE : 1;
}
/* Where rows of complex numbers are: parts of element j of row r at [(r * n + j) * step]. */
typedef struct FlFftRows {
  const double *re, *im;
  int64_t step; /* 1, or 2: parts in turn */
} FlFftRows;
/* Forward transforms of `rows` rows, at most fl_fft_together, of length n. The parts of the results go to
 * out_re and out_im, [rows, n], which are not the inputs. Exchanging re with im in and out gives the backward
 * transform, without the division by n. */
void fl_fft_rows(const FlFft *plan, int64_t rows, FlFftRows x, double *out_re, double *out_im,
                 double *scratch);
/* The same of one row by a grid (fft_grid.c), and the doubles that it needs. */
void fl_fft_grid(const FlFft *plan, FlFftRows x, double *out_re, double *out_im, double *scratch);
int64_t fl_fft_grid_scratch(const FlFft *plan);
/* Up to FL_FFT_SIDE rows of n numbers, element j of row r at [r * row + j * step], into lanes; lanes without
 * a row are zero. */
void fl_fft_to_lanes(const double *from, int64_t rows, int64_t row, int64_t n, int64_t step, double *to);

/* The passes (fft_passes.c): from x, destroyed, into y or back into x: true when the result is in y. */
bool fl_fft_passes(const FlFftPasses *p, double *xr, double *xi, double *yr, double *yi);

#endif
