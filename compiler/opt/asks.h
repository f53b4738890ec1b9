/* asks.h: what asks.c, reread.c and earlier.c share. */
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

/* ---- earlier.c ---- */

/* A loop over the parts of a file. */
bool fl_asks_is_part_loop(const FlOp *op);
/* Joins what parts of a file have kept of its rows, of which some may have been dropped. */
bool fl_asks_is_of_parts(const FlOp *op);
/* The file may be opened at the place already, which is before. */
bool fl_asks_may_open(const FlOp *parts, const FlOp *place);
/* What a file is known by: its path, where the script has it. */
FlValue *fl_asks_path(FlValue *file);
/* The file is opened where TABLE_PARTS stands now, and what is wrong with it is said where it stood before.
 */
void fl_asks_open_quietly(FlOp *parts);

#endif
