/* plot_svg.h: a plot as an SVG picture of 720 by 480 pixels. */
#ifndef FL_PLOT_SVG_H
#define FL_PLOT_SVG_H

#include "io/plot.h"

/* Appends it; out->failed says when there is no memory. */
void fl_plot_svg(FlBytes *out, const FlPlot *plot);

/* Gives the picture of these parts of a Plot to the page of the run, where it shows plots. */
void fl_plot_keep(FlCtx *ctx, int32_t site, const FlSlot *parts);

#endif
