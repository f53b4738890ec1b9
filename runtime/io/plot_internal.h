/* plot_internal.h: the parts of a plot's value, layer by layer, for the files that make layers of them. */
#ifndef FL_PLOT_INTERNAL_H
#define FL_PLOT_INTERNAL_H

#include "io/plot.h"

/* Columns of the table of layers, in order. */
typedef enum FlPlotColumn {
  FL_PLOT_KIND,
  FL_PLOT_POINT_COUNT,
  FL_PLOT_X,
  FL_PLOT_Y,
  FL_PLOT_COLOR,
  FL_PLOT_X_LEVELS,
  FL_PLOT_COLOR_LEVELS,
  FL_PLOT_BINS,
  FL_PLOT_LAYER_COLUMNS
} FlPlotColumn;

typedef enum FlPlotMark { FL_PLOT_SCATTER, FL_PLOT_LINE_MARK, FL_PLOT_BAR, FL_PLOT_HIST } FlPlotMark;

typedef struct FlPlotSource {
  int64_t n_layers, n_points;
  const FlArray *layer[FL_PLOT_LAYER_COLUMNS], *levels;
  const double *point[3]; /* x y color */
  bool whole;             /* the sizes of the tables fit */
} FlPlotSource;

/* One layer's share. */
typedef struct FlPlotCut {
  FlPlotMark mark;
  FlPlotScale x, y, color;
  int64_t n, bins, n_x, n_color;
  const double *at[3];
  const FlText *x_levels, *color_levels;
} FlPlotCut;

/* n zeroed things of `size` bytes, to be freed; NULL: out of memory, as e says. */
void *fl_plot_new(size_t n, size_t size, FlIoError *e);

/* Bars from the points of a layer, rectangles of a histogram from their x; the layer's arrays are replaced.
 * On failure the layer is whole and e says why. `scale`: of the layer's x. */
bool fl_plot_bars(FlPlotLayer *l, FlPlotScale scale, int32_t n_series, FlIoError *e);
bool fl_plot_histogram(FlPlotLayer *l, int64_t bins, FlPlotScale scale, FlIoError *e);

#endif
