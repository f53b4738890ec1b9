/* plot.h: a plot as it is drawn, read from the parts of a value of type Plot, and the ticks of its axes.
 *
 * The parts, in order (sema/builtins/plot.h): the texts title, x_label, y_label, color_label; a table of
 * layers: their number, kind (scatter line bar hist), points (how many), x y color (none number date datetime
 * text), x_levels and color_levels (how many texts), bins (0: as the data say); text[] levels, those of the
 * first layer's x, then of its colours, then of the next layer; a table of points: their number, x, y, color.
 * Dates are days, datetimes seconds since 1970, texts positions among their levels.
 *
 * What always holds once it is open: all coordinates are finite, but for the gaps of lines; layers stand on
 * common axes, and equal texts have the same place and colour in all layers; nothing depends on the machine.
 */
#ifndef FL_PLOT_H
#define FL_PLOT_H

#include "io/io_internal.h"

enum {
  FL_PLOT_PARTS = 18,
  FL_PLOT_MOST_TEXTS = 10000,
  FL_PLOT_MOST_BINS = 10000,
  FL_PLOT_MOST_TICKS = 32,
  FL_PLOT_TICK_ROOM = 48
};

typedef enum FlPlotScale {
  FL_PLOT_NONE,
  FL_PLOT_NUMBER,
  FL_PLOT_DATE,
  FL_PLOT_DATETIME,
  FL_PLOT_TEXT
} FlPlotScale;

/* LINE: nan in x or y breaks it. RECTS: from (x, y) to (x1, y1). */
typedef enum FlPlotShape { FL_PLOT_POINTS, FL_PLOT_LINE, FL_PLOT_RECTS } FlPlotShape;

typedef struct FlPlotTexts {
  FlText *at; /* borrowed bytes */
  int32_t n;
} FlPlotTexts;

typedef struct FlPlotAxis {
  FlPlotScale scale;
  FlText label;
  bool whole;        /* NUMBER: of whole numbers, so ticks are whole */
  double lo, hi;     /* what is seen of it; DATE and DATETIME: seconds */
  FlPlotTexts texts; /* TEXT: at 0, 1, 2 ... */
} FlPlotAxis;

typedef struct FlPlotLayer {
  FlPlotShape shape;
  int64_t n;
  double *x, *y, *x1, *y1; /* x1, y1: RECTS only */
  int32_t *series;         /* of each, rising; 0 where there are shades */
  double *shade;           /* colour as a number, nan: none; NULL: by series */
} FlPlotLayer;

/* What has a colour of its own: a text of `color`, or a layer without. */
typedef struct FlPlotSeries {
  FlText name;
  bool named, null;  /* null: of the points whose colour is null */
  FlPlotShape shape; /* of the first layer that has it */
} FlPlotSeries;

typedef struct FlPlot {
  FlText title;
  FlPlotAxis x, y,
      shade; /* shade: of colours that are numbers, NONE: there are none; its label is also the series' */
  FlPlotLayer *layers;
  FlPlotSeries *series;
  int32_t n_layers, n_series;
  int64_t missing; /* points left out: null, nan, infinite, or too large to be drawn */
} FlPlot;

/* Reads FL_PLOT_PARTS slots, whose texts and arrays must outlive the plot. false: e says why; nothing is
 * owned. */
bool fl_plot_open(FlPlot *p, const FlSlot *parts, FlIoError *e);
void fl_plot_close(FlPlot *p);

/* ---- ticks -------------------------------------------------------------------------------------------- */

typedef struct FlPlotTick {
  double at;
  char label[FL_PLOT_TICK_ROOM];
} FlPlotTick;

/* About `want` round values within [lo, hi] of an axis of numbers or times; returns how many, at most
 * FL_PLOT_MOST_TICKS. Numbers: P. Heckbert, "Nice Numbers for Graph Labels", Graphics Gems (1990): steps of
 * 1, 2 or 5 times a power of ten. Times: whole seconds, minutes, hours, days, months or years. */
int fl_plot_ticks(const FlPlotAxis *axis, int want, FlPlotTick *out);

#endif
