/* plot.h: plots as values: the type `Plot`, and the functions `plot.scatter`, `plot.line`, ...
 *
 * A plot is a named tuple of what is drawn: its titles; a row a layer; a row a point, those of the first
 * layer first; and the texts that stand for numbers, for each layer those of its x and then those of its
 * colours. So it flows through functions and stages, is stored and compared like any value; runtime/io/plot.h
 * reads it again. */
#ifndef FL_SEMA_PLOT_H
#define FL_SEMA_PLOT_H

#include "sema/state.h"

const FlType *fl_plot_type(FlSema *s);
/* The function `plot.name`; NULL: `base` is not the module of plots (or the script has another `plot`).
 * Reports an unknown one: then *found has type ERROR. */
bool fl_plot_member(FlSema *s, const FlExpr *base, FlName name, FlVal *found);
/* A name that is unknown: whether it may have meant something of `plot`, and then the help that says so. */
bool fl_plot_help(FlSema *s, FlDiag *d, const char *name, FlSpan at);

#endif
