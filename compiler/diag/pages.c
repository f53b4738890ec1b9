/* pages.c: the page that explains a message. Pages are embedded when the compiler is built. */
#include "diag/diag.h"
#include "diag/diag_internal.h"

const char *fl_diag_page(FlDiagCode code) { return fl_diag_page_text(fl_diag_name(code)); }
