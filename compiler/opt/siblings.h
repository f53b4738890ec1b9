/* siblings.h: joining of loops over the same index range, for the passes siblings (REDUCE) and outputs (MAP).
 */
#ifndef FL_OPT_SIBLINGS_H
#define FL_OPT_SIBLINGS_H

#include "opt/opt_internal.h"

/* Joins the loops of this code, in each region of each function. */
void fl_opt_join_siblings(FlModule *m, FlOpcode code);

#endif
