/* foreign_query.h: a query of SQL as it is read (foreign_query.c), and its windows (foreign_windows.c). */
#ifndef FL_SYNTAX_FOREIGN_QUERY_H
#define FL_SYNTAX_FOREIGN_QUERY_H

#include "syntax/foreign.h"

typedef struct Item {      /* of the list behind `select` */
  const char *text, *name; /* name: NULL: the column alone */
  bool total, column, key; /* total: of aggregates; column: a name by itself; key: it is one of the groups */
} Item;

typedef struct Query {
  FlVec(Item) items;
  const char *tables; /* the table, with its joins as verbs */
  FlVec(const char *) aliases;
  const char *where, *keys, *having, *limit, *offset;
  const char *order;              /* as arguments of `sort` */
  const char *partition, *window; /* of windows: their groups and their order */
  bool distinct, windows, all;
  bool running; /* of windows: sums over their order */
} Query;

/* Aggregates and columns by their names here, `COUNT(*)`, `AVG(x)`, `s.x`; *total: there are aggregates. */
const char *fl_query_expression(FlForeign *f, const Query *q, const char *text, bool *total);
/* An expression between two tokens in which `f(x) over (..)` stands; NULL: another window. */
const char *fl_query_windows(FlForeign *f, Query *q, int from, int to);
/* What the query's windows give, behind the pipe `out`; NULL: nobody says what nulls are there. */
const char *fl_query_derived(FlForeign *f, const Query *q, const char *out);
#endif
