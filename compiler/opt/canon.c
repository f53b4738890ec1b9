/* canon.c: what nobody uses is not evaluated (LANGUAGE 5; opt.h says what stays). Before the key, so that a
 * stage's key holds only what its results come from, and its inputs only the columns that it reads. */
#include "opt/opt_internal.h"

void fl_opt_canon(FlModule *m) { fl_opt_sweep(m, false); }
