/* paths.h: where outputs go, and constant paths that clash. */
#ifndef FL_SEMA_PATHS_H
#define FL_SEMA_PATHS_H

#include "sema/call.h"

/* The argument that says where to write, as text; false: reported. */
bool fl_sema_target_path(FlSema *s, FlActual *a, FlValue **out);
/* A constant path that the script reads or writes (paths.c). false: it is both read and written, or written
 * twice, which is reported. Paths that are computed are compared when the script runs. */
bool fl_sema_claim_path(FlSema *s, const char *path, FlSpan span, bool output);

#endif
