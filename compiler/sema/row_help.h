/* row_help.h: what messages say about the fields of rows. */
#ifndef FL_SEMA_ROW_HELP_H
#define FL_SEMA_ROW_HELP_H

#include "sema/state.h"

/* Names of all columns, for suggestions. */
const char *fl_sema_closest_field(FlSema *s, const FlType *row, const char *name);
/* Helps a message about a name that no field of `row` has: the one that was meant, and that `these_are` all
 * of them. */
void fl_sema_help_field(FlSema *s, FlDiag *d, const FlType *row, FlName name, const char *these_are);
/* The same of names: the one that was meant instead of what is `at` a place, or NULL. */
void fl_sema_help_names(FlSema *s, FlDiag *d, FlSpan at, const char *meant, int n, const char *const *names,
                        const char *these_are);
/* Adds to a message about a tuple or table what makes it another one than is wanted, the first. */
void fl_sema_explain_rows(FlSema *s, FlDiag *d, const FlType *from, const FlType *to);

#endif
