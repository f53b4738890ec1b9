/* horizontal.h: joining of loops over the same index range, for the passes horizontal (REDUCE) and outputs
 * (MAP).
 */
#ifndef FL_OPT_HORIZONTAL_H
#define FL_OPT_HORIZONTAL_H

#include "opt/opt_internal.h"

/* Joins the loops of this code, in each region of each function. */
void fl_opt_join_horizontal(FlModule *m, FlOpcode code);

#endif
