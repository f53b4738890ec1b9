/* verbs.h: what the files of table verbs share: columns, keys, groups, rows of another table. */
#ifndef FL_SEMA_VERBS_H
#define FL_SEMA_VERBS_H

#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/verbs/column_set.h"
#include "sema/verbs/groups.h"

/* The first argument of a verb as a table; reports otherwise. */
bool fl_verb_table(FlSema *s, FlCallSite *c, FlVal *out);
/* Elaborates e where the columns of t stand for their names; `g`: in these groups, or NULL: the rows are one.
 */
FlVal fl_verb_expr(FlSema *s, FlVal t, FlActual *a, FlAggMode mode);
FlVal fl_verb_expr_in(FlSema *s, FlVal t, const FlGrouping *g, FlActual *a, FlAggMode mode);
/* A column's index by the name that an expression is (NAME, COL); reports and returns -1 otherwise. */
int fl_verb_column(FlSema *s, FlVal t, const FlExpr *e);
/* v as a column of `rows` rows: an array as it is, a scalar repeated. Reports otherwise. */
FlVal fl_verb_as_column(FlSema *s, FlVal v, FlValue *rows, FlSpan span, const char *name);
/* A table of these columns, and t's with some replaced. */
typedef struct FlColumns {
  int n, cap;
  const char **names;
  FlVal *values;
  FlMap *at; /* name -> 1 + its index; NULL: they are few */
} FlColumns;
int fl_columns_find(const FlColumns *c, const char *name); /* -1: none */
FlColumns fl_columns_of(FlSema *s, FlVal t);
void fl_columns_set(FlSema *s, FlColumns *c, const char *name, FlVal v);
FlVal fl_columns_table(FlSema *s, const FlColumns *c, FlValue *rows);
/* Key columns as the arguments and the columns of GROUP, SORT_PERM, JOIN ...: values, then validity. */
int fl_verb_keys(FlSema *s, int n, const FlVal *keys, FlValue **args, FlColumnAttr *columns);

/* The table of these columns, rows as in t: grouped as t, whose keys must still be there, under renamed[key]
 * (NULL: their names). Reports. */
FlVal fl_columns_same_rows(FlSema *s, FlCallSite *c, const FlColumns *columns, FlVal t,
                           const char *const *renamed);

/* A GROUP op over these keys, and what it gives. `rows`: how many rows the keys have. */
FlGrouping fl_verb_group_op(FlSema *s, int n_keys, const FlVal *keys, FlValue *rows);
/* t, grouped by the same columns as `from`; not grouped when `from` is not. */
FlVal fl_verb_regroup(FlSema *s, FlVal t, FlVal from);
/* t, grouped by what c->rest says: columns, sets of them, or by a name what is computed for each row, which
 * becomes a column. `word`: who takes these keys, for messages. Reports. */
FlVal fl_verb_group_by(FlSema *s, FlVal t, FlCallSite *c, const char *word);
/* Can v be a key (a column of values that have an order)? Reports. */
bool fl_verb_is_key(FlSema *s, FlVal v, FlSpan span, const char *verb);
/* Has the expression one value for each row of t, which depends on that row alone? */
bool fl_verb_goes_by_row(FlSema *s, FlVal t, const FlActual *a);
/* How it goes by group where the columns of t stand for their names. */
FlGroupClass fl_verb_class(FlSema *s, FlVal t, const FlActual *a);
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
