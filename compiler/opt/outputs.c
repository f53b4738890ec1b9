/* outputs.c: MAPs over the same index range that read a common array become one kernel with several results.
 * Those that are left when fusion is done are kept for somebody who needs the whole array, so joining them
 * hinders nothing. How, and what always holds: horizontal.c. */
#include "opt/horizontal.h"

void fl_opt_outputs(FlModule *m) { fl_opt_join_horizontal(m, FL_OP_MAP); }
