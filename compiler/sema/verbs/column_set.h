/* column_set.h: sets of columns, all() numeric() cols("q_*") except(a), and each(set, f), which verbs take
 * where a column or an expression of columns stands. */
#ifndef FL_SEMA_COLUMN_SET_H
#define FL_SEMA_COLUMN_SET_H

#include "sema/builtins/builtin.h"
#include "sema/call.h"

/* Positions of columns of a table, each once, in the order in which they were asked for. */
typedef struct FlColumnSet {
  FlVec(int) list;
  bool *has; /* one a column of the table */
} FlColumnSet;

/* The columns that e says: a name, a set, or several of them in brackets. `t` is a table (or a value of which
 * the type alone counts). false: reported. */
bool fl_column_set(FlSema *s, FlVal t, const FlExpr *e, FlColumnSet *out);
/* Is e one of the sets, or several columns and sets in brackets? */
bool fl_is_column_set(FlSema *s, const FlExpr *e);
/* Instead of each set among the rest of a verb's arguments its columns by name, in the order of the table
 * (but for those that stand there by name anyway), and instead of `each(set, f)` one call of f a column. In a
 * grouped table `each` leaves out the keys. false: reported. */
bool fl_verb_expand(FlSema *s, FlVal t, FlCallSite *c);
/* Adds to what was reported since there were n_diags messages that it is about a column of `each`. */
void fl_column_set_explain(FlSema *s, const FlActual *a, int n_diags);
/* any(each(set, f)), all(each(set, f)) in a verb: of each row, over the columns. false: it is not that. */
bool fl_each_by_row(FlSema *s, FlCallSite *c, FlVal *out);

#endif
