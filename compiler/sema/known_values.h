/* known_values.h: texts that a column is compared with and that no row of its file has. */
#ifndef FL_SEMA_KNOWN_VALUES_H
#define FL_SEMA_KNOWN_VALUES_H

#include "sema/state.h"

/* Looks at `a op b`, a comparison for equality or `in`, of which e is the expression: texts that are written
 * out there against a column of a file all of whose values are known. */
void fl_known_values_look(FlSema *s, const FlExpr *e, FlVal a, FlVal b);
/* The different texts that a column may have, in ascending order; 0: nobody knows them all. */
int fl_known_values_of(FlSema *s, FlVal column, const char ***out);
/* Warns of those that are in no file that they were compared with, and nearly in one. */
void fl_known_values_say(FlSema *s);

#endif
