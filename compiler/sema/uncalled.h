/* uncalled.h: what no call says is checked all the same: uncalled.c, names.c. */
#ifndef FL_SEMA_UNCALLED_H
#define FL_SEMA_UNCALLED_H

#include "sema/state.h"

/* Functions and types of the file that nothing uses, and the attributes of all; then the names. */
void fl_uncalled_check(FlSema *s, FlFile *file);
/* Names, and arguments by number and name, of all that is written in the file, also where nothing was
 * elaborated because something before is wrong or unknown. */
void fl_names_check(FlSema *s, FlFile *file);
/* Binds the names of sizes in the type of something that may be anything. */
void fl_names_bind_sizes(FlSema *s, const FlTypeExpr *t);

#endif
