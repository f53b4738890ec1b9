/* column_names.h: what the columns of matrices are called. */
#ifndef FL_SEMA_COLUMN_NAMES_H
#define FL_SEMA_COLUMN_NAMES_H

#include "sema/state.h"

/* The names text[columns] of the matrix that is this value, or NULL: not known. And: these are its names
 * (NULL: nothing is said). */
FlValue *fl_column_names(FlSema *s, const FlValue *matrix);
void fl_column_names_set(FlSema *s, const FlValue *matrix, FlValue *names);
/* `to` has the columns of `from`: other rows of it, or other elements. */
void fl_column_names_keep(FlSema *s, FlVal from, FlVal to);
/* `to` is made of these element by element: its columns are called as theirs, where they do not differ. */
void fl_column_names_common(FlSema *s, int n, const FlVal *from, FlVal to);
/* The names of the matrix; where they are not known, for a place that no run reaches, none. */
FlValue *fl_column_names_or_none(FlSema *s, const FlValue *matrix);
/* `to` has the rows of all n matrices, whose spans are given; where two are known to call their columns
 * differently it is an error when that runs. */
void fl_column_names_below(FlSema *s, int n, const FlVal *from, const FlSpan *spans, FlVal to);

/* Names go into a function of the IR beside the value: the names that are known of v's parts, in order (`out`
 * may be NULL); their number. Parameters for them, of which `inside` knows then. Are names known of the same
 * parts? */
int fl_column_names_of(FlSema *s, FlVal v, FlValue **out);
void fl_column_names_inside(FlSema *s, FlVal outside, FlVal inside, FlRegion *body);
bool fl_column_names_alike(FlSema *s, FlVal a, FlVal b);

/* Names of one column; of the columns of the array v of rank 2: `name=level` for one_hot, else `name[0]`,
 * ...; and of pieces side by side. */
FlValue *fl_column_names_single(FlSema *s, const char *name);
FlValue *fl_column_names_wide(FlSema *s, FlVal v, const char *name);
FlValue *fl_column_names_join(FlSema *s, int n, FlValue *const *pieces);
/* What a column is called that the expression gives: the column's name, or what is written. */
const char *fl_column_name_of_expr(FlSema *s, const FlExpr *e);

#endif
