/* fft_passes.c: transforms of one length, eight side by side: Stockham's passes of radix 4, 2, 3, 5 and
 * others.
 *
 * Source: the self-sorting form of C. Van Loan, Computational Frameworks for the Fast Fourier Transform
 * (1992), section 1.7. A pass of radix r turns transforms of length l = r m, of which `stride` are
 * interleaved, into r times as many of length m. Always holds: lanes never meet, so each has the bits that it
 * would have alone. */
#include "part/fft_internal.h"

typedef double Lanes __attribute__((vector_size(FL_FFT_SIDE * sizeof(double))));

typedef struct Pass {
  const double *re, *im; /* roots of n */
  const Lanes *xr, *xi;  /* [n] */
  Lanes *yr, *yi;        /* [n] */
  int64_t n, m, stride;  /* n = r * m * stride */
} Pass;

FL_PART_WIDE static void pass2(const Pass *t) {
  int64_t half = t->m * t->stride;
  for (int64_t p = 0; p < t->m; p++) {
    double wr = t->re[p * t->stride], wi = t->im[p * t->stride];
    const Lanes *xr = t->xr + p * t->stride, *xi = t->xi + p * t->stride;
    Lanes *yr = t->yr + 2 * p * t->stride, *yi = t->yi + 2 * p * t->stride;
    for (int64_t q = 0; q < t->stride; q++) {
      Lanes ar = xr[q], ai = xi[q], br = xr[q + half], bi = xi[q + half], dr = ar - br, di = ai - bi;
      yr[q] = ar + br;
      yi[q] = ai + bi;
      yr[q + t->stride] = dr * wr - di * wi;
      yi[q + t->stride] = dr * wi + di * wr;
    }
  }
}

FL_PART_WIDE static void pass4(const Pass *t) {
  int64_t s = t->stride, quarter = t->m * s;
  for (int64_t p = 0; p < t->m; p++) {
    double w1r = t->re[p * s], w1i = t->im[p * s], w2r = t->re[2 * p * s], w2i = t->im[2 * p * s],
           w3r = t->re[3 * p * s], w3i = t->im[3 * p * s];
    const Lanes *xr = t->xr + p * s, *xi = t->xi + p * s;
    Lanes *yr = t->yr + 4 * p * s, *yi = t->yi + 4 * p * s;
    for (int64_t q = 0; q < s; q++) {
      Lanes ar = xr[q], ai = xi[q], br = xr[q + quarter], bi = xi[q + quarter], cr = xr[q + 2 * quarter],
            ci = xi[q + 2 * quarter], dr = xr[q + 3 * quarter], di = xi[q + 3 * quarter];
      Lanes er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci;
      Lanes gr = br + dr, gi = bi + di, hr = bi - di, hi = dr - br; /* h = -i (b - d) */
      Lanes k1r = fr + hr, k1i = fi + hi, k2r = er - gr, k2i = ei - gi, k3r = fr - hr, k3i = fi - hi;
      yr[q] = er + gr;
      yi[q] = ei + gi;
      yr[q + s] = k1r * w1r - k1i * w1i;
      yi[q + s] = k1r * w1i + k1i * w1r;
      yr[q + 2 * s] = k2r * w2r - k2i * w2i;
      yi[q + 2 * s] = k2r * w2i + k2i * w2r;
      yr[q + 3 * s] = k3r * w3r - k3i * w3i;
      yi[q + 3 * s] = k3r * w3i + k3i * w3r;
    }
  }
}

/* Any odd radix: sums and differences of the elements k and r - k share their products. */
FL_PART_WIDE static void pass_odd(const Pass *t, int32_t r) {
  enum { MOST = FL_FFT_LARGEST_RADIX / 2 };
  int64_t s = t->stride, part = t->m * s, step = t->n / r;
  int32_t h = r / 2;
  for (int64_t p = 0; p < t->m; p++) {
    const Lanes *xr = t->xr + p * s, *xi = t->xi + p * s;
    Lanes *yr = t->yr + r * p * s, *yi = t->yi + r * p * s;
    for (int64_t q = 0; q < s; q++) {
      Lanes ar = xr[q], ai = xi[q], sumr[MOST], sumi[MOST], difr[MOST], difi[MOST], allr = ar, alli = ai;
      for (int32_t k = 1; k <= h; k++) {
        Lanes br = xr[q + k * part], bi = xi[q + k * part], cr = xr[q + (r - k) * part],
              ci = xi[q + (r - k) * part];
        sumr[k - 1] = br + cr;
        sumi[k - 1] = bi + ci;
        difr[k - 1] = br - cr;
        difi[k - 1] = bi - ci;
        allr += sumr[k - 1];
        alli += sumi[k - 1];
      }
      yr[q] = allr;
      yi[q] = alli;
      for (int32_t j = 1; j <= h; j++) {
        Lanes er = ar, ei = ai, fr = {0}, fi = {0}; /* even and odd part: results j and r - j are e +- f */
        for (int32_t k = 1; k <= h; k++) {
          double c = t->re[j * k % r * step], d = t->im[j * k % r * step];
          er += sumr[k - 1] * c;
          ei += sumi[k - 1] * c;
          fr -= difi[k - 1] * d;
          fi += difr[k - 1] * d;
        }
        int64_t a = j * p * s, b = (r - j) * p * s;
        double war = t->re[a], wai = t->im[a], wbr = t->re[b], wbi = t->im[b];
        Lanes gr = er + fr, gi = ei + fi, hr = er - fr, hi = ei - fi;
        yr[q + j * s] = gr * war - gi * wai;
        yi[q + j * s] = gr * wai + gi * war;
        yr[q + (r - j) * s] = hr * wbr - hi * wbi;
        yi[q + (r - j) * s] = hr * wbi + hi * wbr;
      }
    }
  }
}

bool fl_fft_passes(const FlFftPasses *p, double *xr, double *xi, double *yr, double *yi) {
  Pass t = {.re = p->re, .im = p->im, .n = p->n, .stride = 1};
  int64_t left = p->n;
  bool swapped = false;
  for (int32_t k = 0; k < p->n_radices; k++) {
    int32_t r = p->radices[k];
    t.m = left / r;
    t.xr = (const Lanes *)(const void *)(swapped ? yr : xr);
    t.xi = (const Lanes *)(const void *)(swapped ? yi : xi);
    t.yr = (Lanes *)(void *)(swapped ? xr : yr);
    t.yi = (Lanes *)(void *)(swapped ? xi : yi);
    if (r == 4) pass4(&t);
    else if (r == 2) pass2(&t);
    else pass_odd(&t, r);
    left = t.m;
    t.stride *= r;
    swapped = !swapped;
  }
  return swapped;
}
