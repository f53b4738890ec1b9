/* dce.c: removes what no result, effect or possible error depends on. After the key: signatures stay, and an
 * op that may fault stays even when unused, since its error is part of the program. */
#include "opt/opt_internal.h"

void fl_opt_dce(FlModule *m) { fl_opt_sweep(m, true); }
