/* plot_rects.c: bars and histograms: rectangles from the points of a layer.
 *
 * Bars of one place and one colour stand on each other, what is below 0 hangs; where a place has several
 * colours, all bars are so narrow that they stand side by side. Parts of a histogram of different colours
 * stand on each other. What always holds: the rectangles depend on the rows and on nothing else; their areas
 * hide no row. */
#include "io/plot_internal.h"
#include "kern/scalar_math.h"

#include <math.h>
#include <stdlib.h>

typedef struct FlRectKey {
  double at; /* place of a bar, number of a bin */
  int32_t series;
  int64_t row;
} FlRectKey;

static int by_place(const void *a, const void *b) {
  const FlRectKey *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (x->series != y->series) return x->series < y->series ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void add_rect(FlPlotLayer *l, FlRectKey key, double x, double x1, double y, double y1) {
  l->x[l->n] = x;
  l->x1[l->n] = x1;
  l->y[l->n] = y;
  l->y1[l->n] = y1;
  l->series[l->n++] = key.series;
}

static bool make_room(FlPlotLayer *l, FlIoError *e) {
  l->shape = FL_PLOT_RECTS;
  l->x1 = fl_plot_new((size_t)l->n, sizeof *l->x1, e);
  l->y1 = fl_plot_new((size_t)l->n, sizeof *l->y1, e);
  return l->x1 && l->y1;
}

/* ---- bars --------------------------------------------------------------------------------------------- */

/* How wide all bars of one place are together: four fifths of the smallest distance between places. */
static double bar_width(const FlRectKey *keys, int64_t n, FlPlotScale scale) {
  double least = scale == FL_PLOT_DATE ? 86400 : 1;
  bool found = scale == FL_PLOT_TEXT;
  for (int64_t k = 1; k < n; k++) {
    double gap = keys[k].at - keys[k - 1].at;
    if (gap > 0 && (!found || gap < least)) {
      least = gap;
      found = true;
    }
  }
  return 0.8 * (scale == FL_PLOT_TEXT ? 1 : least);
}

/* Numbers the series that occur, in their order; returns how many. `several`: some place has more than one.
 */
static int32_t number_series(const FlRectKey *keys, int64_t n, int32_t *slot, int32_t n_series,
                             bool *several) {
  int32_t count = 0;
  *several = false;
  for (int32_t k = 0; k < n_series; k++) slot[k] = -1;
  for (int64_t k = 0; k < n; k++) {
    slot[keys[k].series] = 0;
    *several = *several || (k && keys[k].at == keys[k - 1].at && keys[k].series != keys[k - 1].series);
  }
  for (int32_t k = 0; k < n_series; k++)
    if (slot[k] == 0) slot[k] = count++;
  return count;
}

bool fl_plot_bars(FlPlotLayer *l, FlPlotScale scale, int32_t n_series, FlIoError *e) {
  int64_t n = l->n;
  FlRectKey *keys = fl_plot_new((size_t)n, sizeof *keys, e);
  double *height = fl_plot_new((size_t)n, sizeof *height, e);
  int32_t *slot = fl_plot_new((size_t)n_series, sizeof *slot, e);
  bool ok = keys && height && slot && make_room(l, e), several = false;
  if (ok) {
    for (int64_t k = 0; k < n; k++) {
      keys[k] = (FlRectKey){l->x[k], l->series[k], k};
      height[k] = l->y[k];
    }
    qsort(keys, (size_t)n, sizeof *keys, by_place);
    int32_t slots = number_series(keys, n, slot, n_series, &several);
    double width = bar_width(keys, n, scale), each = several ? width / slots : width, above = 0, below = 0;
    l->n = 0;
    for (int64_t k = 0; k < n; k++) {
      if (!k || keys[k].at != keys[k - 1].at || keys[k].series != keys[k - 1].series) above = below = 0;
      double x = keys[k].at - width / 2 + (several ? slot[keys[k].series] * each : 0),
             y = height[keys[k].row];
      double from = y < 0 ? below : above;
      add_rect(l, keys[k], x, x + each, from, from + y);
      if (y < 0) below += y;
      else above += y;
    }
  }
  free(keys);
  free(height);
  free(slot);
  return ok;
}

/* ---- histograms --------------------------------------------------------------------------------------- */

/* Linear interpolation between the sorted values. */
static double quantile(const double *sorted, int64_t n, double q) {
  double at = q * (double)(n - 1), below = floor(at);
  int64_t k = (int64_t)below;
  return k + 1 < n ? sorted[k] + (at - below) * (sorted[k + 1] - sorted[k]) : sorted[n - 1];
}

/* How many bins when nobody said: the rule `auto` of numpy. The width is that of Freedman and Diaconis
 * (1981), but not above that of Sturges (1926), nor below half of that of sqrt(n) bins; bins of whole numbers
 * and of dates are at least 1 wide. */
static int64_t count_bins(const double *sorted, int64_t n, FlPlotScale scale) {
  double range = sorted[n - 1] - sorted[0], unit = scale == FL_PLOT_DATE ? 86400 : 1;
  bool whole = scale == FL_PLOT_DATE || scale == FL_PLOT_NUMBER;
  for (int64_t k = 0; whole && scale == FL_PLOT_NUMBER && k < n; k++) whole = floor(sorted[k]) == sorted[k];
  double sturges = range / (fl_s_log2_f64((double)n) + 1), least = range / sqrt((double)n) / 2;
  double spread = quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25);
  double width = 2 * spread / fl_s_exp_f64(fl_s_log_f64((double)n) / 3);
  if (width < least) width = least;
  if (!(spread > 0) || width > sturges) width = sturges;
  if (whole && width < unit) width = unit;
  double bins = ceil(range / width);
  return bins < 1 ? 1 : bins > FL_PLOT_MOST_BINS ? FL_PLOT_MOST_BINS : (int64_t)bins;
}

/* Bin k is [lo + k * width, lo + (k + 1) * width); the last one holds hi too. */
typedef struct FlBins {
  double lo, hi, width;
  int64_t n;
} FlBins;

static double edge(const FlBins *b, int64_t k) { return k == b->n ? b->hi : b->lo + (double)k * b->width; }

static int64_t bin_of(const FlBins *b, double x) {
  double at = floor((x - b->lo) / b->width);
  int64_t k = at < 0 ? 0 : at >= (double)b->n ? b->n - 1 : (int64_t)at;
  if (k > 0 && x < edge(b, k)) k--;
  if (k + 1 < b->n && x >= edge(b, k + 1)) k++;
  return k;
}

bool fl_plot_histogram(FlPlotLayer *l, int64_t bins, FlPlotScale scale, FlIoError *e) {
  int64_t n = l->n;
  FlRectKey *keys = fl_plot_new((size_t)n, sizeof *keys, e);
  double *sorted = fl_plot_new((size_t)n, sizeof *sorted, e);
  bool ok = keys && sorted && make_room(l, e);
  if (ok && n) {
    for (int64_t k = 0; k < n; k++) sorted[k] = l->x[k];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    FlBins b = {.lo = sorted[0], .hi = sorted[n - 1]};
    if (b.lo == b.hi) {
      double half = scale == FL_PLOT_DATE ? 43200 : fmax(0.5, fabs(b.lo) * 1e-9);
      b = (FlBins){.lo = b.lo - half, .hi = b.hi + half, .n = bins ? bins : 1};
    } else {
      b.n = bins ? bins : count_bins(sorted, n, scale);
    }
    b.width = (b.hi - b.lo) / (double)b.n;
    for (int64_t k = 0; k < n; k++) keys[k] = (FlRectKey){(double)bin_of(&b, l->x[k]), l->series[k], k};
    qsort(keys, (size_t)n, sizeof *keys, by_place);
    double above = 0;
    l->n = 0;
    for (int64_t k = 0, end; k < n; k = end) {
      for (end = k + 1; end < n && keys[end].at == keys[k].at && keys[end].series == keys[k].series;) end++;
      if (!k || keys[k].at != keys[k - 1].at) above = 0;
      int64_t bin = (int64_t)keys[k].at;
      add_rect(l, keys[k], edge(&b, bin), edge(&b, bin + 1), above, above + (double)(end - k));
      above += (double)(end - k);
    }
  }
  free(keys);
  free(sorted);
  return ok;
}
