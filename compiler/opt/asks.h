/* asks.h: what asks.c and reread.c share. */
#ifndef FL_OPT_ASKS_H
#define FL_OPT_ASKS_H

#include "opt/opt_internal.h"

/* Elements of each row's own are computed of the rows that `maker` makes, and nothing can fail. */
bool fl_asks_is_local(const FlOp *map, const FlOp *maker);

/* ---- reread.c ---- */

/* The GROUP is of columns of the reader, and the file may be read once more for it. */
bool fl_asks_may_reread(const FlOp *reader, const FlOp *group);
/* Another reader of the same file before the GROUP, of whose rows GROUP, its aggregates and keys then are. */
FlOp *fl_asks_reread(FlFunc *f, FlOp *reader, FlOp *group);

#endif
