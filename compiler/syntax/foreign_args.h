/* foreign_args.h: what arguments of calls of other languages are in flow. */
#ifndef FL_SYNTAX_FOREIGN_ARGS_H
#define FL_SYNTAX_FOREIGN_ARGS_H

#include "syntax/foreign.h"

typedef struct FlForeignArg {
  const char *name; /* or NULL */
  const char *text;
  const char *param; /* the parameter of a row that it is given to; NULL: none yet */
} FlForeignArg;
typedef FlVec(FlForeignArg) FlForeignArgs;

#define FL_FOREIGN_PACKAGES "np numpy pd pandas pl polars math Math F torch std linalg"

/* Do two texts differ in blanks alone? */
bool fl_foreign_same(const char *a, const char *b);
/* Is it a module that the file imports, or a package of another language? */
bool fl_foreign_is_module(const FlForeign *f, const char *name);

/* The arguments between two tokens. */
void fl_foreign_split(FlForeign *f, int from, int to, FlForeignArgs *out);
/* An argument as `how` says (foreign_calls.def); NULL: it is nothing of that kind. */
const char *fl_foreign_argument(FlForeign *f, const char *text, char how);
/* The same of single values (foreign_values.c): those that `fl_foreign_argument` does not know. */
const char *fl_foreign_value(FlForeign *f, const char *text, char how);
/* The label of the bin that a value is in; right: which has its right edge and not its left one. NULL: labels
 * or edges are not written out. */
const char *fl_foreign_binned(FlForeign *f, const char *x, const char *bins, const char *labels,
                              bool right);
/* Columns to sort by, each downwards where its own word in `ways` (`true`, `[false, true]`) is `down`; NULL:
 * they are not that. */
const char *fl_foreign_directed(FlForeign *f, const char *text, const char *ways, const char *down);
/* Keys of a join, as they are called in either table: `k`, `(a = b, c)`; NULL: they are not as many. */
const char *fl_foreign_keys(FlForeign *f, const char *left, const char *right);
/* Those that no parameter took. */
const char *fl_foreign_rest(FlForeign *f, const FlForeignArgs *args, char how);
/* `a.reduce(f, s)` of arguments by the parameters a, f and s; NULL: it is no lambda. */
const char *fl_foreign_folded(FlForeign *f, const FlForeignArgs *args);
bool fl_foreign_is_lambda(const char *text);
/* The parameter of a lambda and what it gives; of the name of a function `v` and its call. */
const char *fl_foreign_lambda_name(FlForeign *f, const char *text);
const char *fl_foreign_lambda_body(FlForeign *f, const char *text);
bool fl_foreign_same_word(const char *a, const char *b); /* but for capitals */
/* What `.agg(..)` between two tokens has, as arguments of `summarize`; columns: that were chosen before it,
 * or NULL. */
const char *fl_foreign_aggregates(FlForeign *f, const char *columns, int from, int to);
/* `x desc, y` as arguments of `sort`; NULL: it is more. */
const char *fl_foreign_order(FlForeign *f, int from, int to);
/* From a token on, a block that is none in flow: `def main():` and its call, `if __name__ == ..:`, `with
 * open(..) as f:` (foreign_scopes.c). */
bool fl_foreign_scope(FlForeign *file, int first, int last, FlForeignSpan *out);
/* Is it a table of groups by one key with one aggregate, or the counts of values? Its two columns. */
bool fl_foreign_series(FlForeign *f, const char *text, const char **key, const char **value);
/* From a token on, the statements that draw one picture (foreign_plots.c): is it such? */
bool fl_foreign_picture(FlForeign *file, int first, FlForeignSpan *out);
/* An expression in which a table's columns are names: `x` of `t["x"]`. */
const char *fl_foreign_by_columns(FlForeign *f, const char *text, const char *table);
/* `quantile(a, 0.25), quantile(a, 0.75)` of a list of both; NULL: it is no list. */
const char *fl_foreign_each_quantile(FlForeign *f, const char *a, const char *list);
/* Comparisons as values, of a table's columns where there is one: elsewhere null does not meet them
 * (UNMET), or does (MET, of `!=`), or nobody says (UNKNOWN); NEVER: there are no nulls, or they are no
 * comparisons. */
typedef enum FlForeignMet {
  FL_FOREIGN_NEVER,
  FL_FOREIGN_UNMET,
  FL_FOREIGN_MET,
  FL_FOREIGN_UNKNOWN
} FlForeignMet;
FlForeignMet fl_foreign_met(FlForeign *f, const char *table, const char *text);
/* A condition between two tokens, which null does not meet. */
const char *fl_foreign_asked(FlForeign *f, int from, int to);
FlForeignRule fl_foreign_parts, fl_foreign_part_of_text, fl_foreign_value_of_key; /* foreign_parts.c */
FlForeignRule fl_foreign_subscripts, fl_foreign_loops, fl_foreign_dictionaries;
/* Of a name that `default_rng` gives, how the next numbers are drawn by it: `rng, 2`; NULL: it is another
 * name. */
const char *fl_foreign_seed(FlForeign *f, const char *name);
/* Is it an array that numpy makes, or is made of such alone? */
bool fl_foreign_is_numpy(FlForeign *f, const char *text);
/* What a statement from one token to another, which gives parts of an array a number, makes of it; NULL: it
 * is another. */
const char *fl_foreign_part_given(FlForeign *f, int first, int last);
FlForeignRule fl_foreign_plots, fl_foreign_groups;
FlForeignRule fl_foreign_series_computed, fl_foreign_groups_in_turn, fl_foreign_items, fl_foreign_resampled,
    fl_foreign_nulls;                                 /* foreign_series.c */
FlForeignRule fl_foreign_fitted, fl_foreign_of_model; /* foreign_learning.c */
/* A table that a model is given, as its matrix; what is no table as it is. */
const char *fl_foreign_matrix(FlForeign *f, const char *text);
#endif
