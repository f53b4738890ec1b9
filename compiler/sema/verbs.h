/* verbs.h: what the files of table verbs share, beside what sema_internal.h declares for all. */
#ifndef FL_SEMA_VERBS_H
#define FL_SEMA_VERBS_H

#include "sema/column_set.h"

/* A GROUP op over these keys, and what it gives. `rows`: how many rows the keys have. */
FlGrouping fl_verb_group_op(FlSema *s, int n_keys, const FlVal *keys, FlValue *rows);
/* t, grouped by the same columns as `from`; not grouped when `from` is not. */
FlVal fl_verb_regroup(FlSema *s, FlVal t, FlVal from);
/* Can v be a key (a column of values that have an order)? Reports. */
bool fl_verb_is_key(FlSema *s, FlVal v, FlSpan span, const char *verb);
/* Has the expression one value for each row of t, which depends on that row alone? */
bool fl_verb_goes_by_row(FlSema *s, FlVal t, const FlActual *a);
/* Adds a column whose name must be new; false: reported. */
bool fl_columns_add(FlSema *s, FlColumns *c, const char *name, FlVal v, FlSpan span);
/* One of a few words, for the option `what`; `out` keeps what it has when the option is left out. false:
 * reported. */
bool fl_verb_word(FlSema *s, FlActual *a, const char *what, const char *const *words, int n,
                  const char **out);

/* ---- rows of another table ---- */

/* bool[m]: is there a row (rows[i] >= 0)? */
FlVal fl_verb_has_row(FlSema *s, FlValue *rows, FlSpan span);
/* The rows of column v, null where there is none (-1); `has` is fl_verb_has_row(rows). Reports. */
FlVal fl_verb_take_or_null(FlSema *s, FlVal v, FlValue *rows, FlVal has, const char *name, FlSpan span);

#endif
