/* groups.h: what the arguments of verbs mean: columns, aggregates, windows, and groups of rows. */
#ifndef FL_SEMA_GROUPS_H
#define FL_SEMA_GROUPS_H

#include "sema/builtins/builtin.h"
#include "sema/call.h"

struct FlGrouping {
  FlValue *groups, *group_of, *first; /* of the GROUP op: their number, i64[rows], i64[groups] */
  /* For messages: the keys of the groups and their names; none where no expression is taken by group. */
  int n_keys;
  const FlVal *keys;
  const char *const *names;
};
/* The groups of a table; NULL: it is not grouped. */
const FlGrouping *fl_verb_grouping(FlSema *s, FlVal t);

/* In an aggregate context: sum, mean ... of a column. Returns true when it took the call. */
bool fl_sema_aggregate_call(FlSema *s, FlCallSite *c, FlVal *out);
/* Is n the number of rows of the verb's table? */
bool fl_sema_is_rows(FlSema *s, FlValue *n);
/* Is v an array with one element a row of the verb's table? */
bool fl_sema_has_rows(FlSema *s, FlVal v);
/* A column inside an aggregate or a window: aggregates within it stand on every row; of plain arrays they are
 * none. */
FlVal fl_sema_column_argument(FlSema *s, FlActual *a);
/* The dtype that the aggregate `kind` of a column has; false: reported, of what the script calls `name`. */
bool fl_sema_aggregate_dtype(FlSema *s, const char *kind, const char *name, FlVal x, FlSpan span,
                             FlDtype *out);
/* The aggregate `kind` of a column of t over all its rows: a scalar. Reports. */
FlVal fl_sema_aggregate_of(FlSema *s, FlVal t, const char *kind, double setting, FlVal x, FlSpan span);
/* window.c. The rows by group, and within it by a column (or NULL): GROUP_ORDER for the grouping of this
 * context, or for `rows` rows as one group when it has none. */
typedef struct FlGroupOrder {
  FlValue *rows, *start;
} FlGroupOrder;
bool fl_verb_in_groups(FlSema *s); /* are we in the arguments of a verb of a grouped table? */
FlGroupOrder fl_verb_order(FlSema *s, FlVal x, const FlVal *by);
/* The argument of a window as a column: an array of one dimension, and in a grouped verb one that has a value
 * a row; reports otherwise. */
bool fl_verb_window_column(FlSema *s, FlCallSite *c, FlActual *a, FlVal *out);
/* How many rows of its group stand before each: i64[rows]. */
FlValue *fl_verb_row_numbers(FlSema *s, const FlGrouping *g);
/* The rank of each row of t among those of its group (of all rows without one), from 1, by a key column:
 * equal ones by `method`. */
FlVal fl_verb_rank(FlSema *s, FlValue *group_of, FlVal key, bool downwards, const char *method);
/* `desc(x)` as a key: x, and true. */
bool fl_sema_key_desc(FlActual *key);
/* by_group.c: e in the arguments of a verb, s->agg, perhaps of a grouped table: true: it was elaborated here,
 * by group or as what no column has part in; false: as anywhere, all groups at once. */
bool fl_by_group(FlSema *s, const FlExpr *e, const FlType *want, FlVal *out);
/* Where a loop of positions in the groups at once, or in the rows of an argument that is not computed row by
 * row, fails, the error says the group. Nothing for other loops. */
void fl_by_group_say_loop(FlSema *s, FlOp *loop, FlRegion *r);
/* An operator that says the group of the position where it fails: a group's, or a row's. */
FlOp *fl_by_group_op(FlSema *s, FlOpcode code, int n, FlValue *const *args, int n_results,
                     const FlType1 *types, bool rows);
/* group_class.c. How an expression goes by group, least first. */
typedef enum FlGroupClass {
  FL_GROUP_OUTSIDE, /* no column of the verb takes part */
  FL_GROUP_ROWS,    /* row by row */
  FL_GROUP_AT_ONCE, /* made of that and of aggregates and windows, which take all groups at once */
  FL_GROUP_EACH     /* anything else: it is computed for each group from the rows of that group */
} FlGroupClass;
FlGroupClass fl_group_class(FlSema *s, const FlExpr *e);
/* Is e itself what has a value for each row: a column, a window, a random number of the row? */
bool fl_group_gives_rows(FlSema *s, const FlExpr *e);
/* Does e name a column of the verb that we are in, or a set of them? */
bool fl_names_column(FlSema *s, const FlExpr *e);
/* Which columns of `row` does e name? all: it has a set of columns, so it may be any. */
void fl_named_columns(const FlType *row, const FlExpr *e, bool *named);
/* count() of a grouped table: its keys, and the number of rows of each group. */
FlVal fl_verb_count_groups(FlSema *s, FlVal t);

#endif
