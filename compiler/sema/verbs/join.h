/* join.h: what join and join_asof share: pairs of key columns, and the right table's columns in the result.
 */
#ifndef FL_SEMA_JOIN_H
#define FL_SEMA_JOIN_H

#include "sema/builtins/builtin.h"
#include "sema/verbs/verbs.h"

enum { FL_JOIN_KEYS = 16 };
/* Pairs that a join looks at without `limit =` in which no columns must be equal. */
enum { FL_JOIN_MOST_PAIRS = 100000000 };

/* A column of each table that belong together, and their values brought to one type (and levels). */
typedef struct FlJoinPair {
  int left, right;
  FlVal left_value, right_value;
} FlJoinPair;

typedef struct FlJoin {
  const char *verb;  /* for messages */
  FlVal left, right; /* tables */
  int n_keys;
  FlJoinPair key[FL_JOIN_KEYS];
  const char *how, *suffix;
  bool both_keys;                       /* each table's keys stay as they are, null where it has no row */
  FlValue *rows, *left_row, *right_row; /* of the result: how many, and which row of each side; -1 none */
  FlVal has_left, has_right;            /* bool[rows]; no type until needed */
} FlJoin;

/* The first two arguments of the call as tables. false: reported. */
bool fl_join_tables(FlSema *s, FlJoin *j, FlCallSite *c);
/* The pairs that `on` says: a name, (a, b) or (left = right). false: reported. */
bool fl_join_keys(FlSema *s, FlJoin *j, const FlExpr *on);
/* Reads `keys = "one"` or `"both"`. false: reported. */
bool fl_join_which_keys(FlSema *s, FlJoin *j, FlActual *keys);
/* What the right table's column is called in the result, where it stays. */
const char *fl_join_right_name(FlSema *s, const FlJoin *j, int column);
/* Finds the pairs with equal keys of which the condition is true, and puts them to j; one: a left row has at
 * most one. false: reported. */
bool fl_join_where(FlSema *s, FlJoin *j, FlActual *where, FlActual *limit, bool one, FlSpan span);
/* Adds the right table's columns, but its keys unless both stay, called as they are or with the suffix where
 * the left has such a name. Those of rows without a partner are null when j->has_right has a type. false:
 * reported. */
bool fl_join_right_columns(FlSema *s, FlJoin *j, FlColumns *out, FlSpan span);

#endif
