/* parts_internal.h: what parts.c and folds.c share: rows of a file that is read part by part, and what
 * becomes of them in each part. */
#ifndef FL_OPT_PARTS_INTERNAL_H
#define FL_OPT_PARTS_INTERNAL_H

#include "opt/opt_internal.h"

/* Rows that belong together: those of the file (index 0), or those that a filter has kept. */
typedef struct FlPartSpace {
  FlValue *size; /* as the script's function has it */
  int index;
  struct FlPartFold *fold; /* of all its rows; NULL: none */
} FlPartSpace;

/* Values in order, each once. */
typedef struct FlPartValues {
  FlValue **at;
  int n, cap;
  FlMap *has; /* value -> itself; NULL: there are none */
} FlPartValues;

/* A state that aggregates need of each group: attribute list of PARTIAL. */
typedef struct FlPartState {
  const char *kind;
  FlValue *value, *valid; /* column; NULL: none */
  int before;             /* 1 + the last state of this column before; 0: none */
  int at;                 /* which of the fold's results, from its first key on */
  bool says_valid;        /* its validity is the next */
} FlPartState;

/* Aggregates of the rows of a space that parts compute states for: those of one GROUP, or of all rows. */
typedef struct FlPartFold {
  FlOp *group; /* NULL: all rows */
  FlPartSpace *space;
  FlVec(FlOp *) ops; /* aggregates, and gathers of keys */
  FlVec(FlPartState) states;
  FlMap *state_of; /* column -> 1 + its last state, the fold itself for states without one */
  int n_results;   /* keys and states of a part */
  int at;          /* where they begin among what parts yield */
} FlPartFold;

/* A map that may fail, and moves. */
typedef struct FlPartLoud {
  FlOp *map, *guard; /* what finds its error, in its place */
  int at;            /* which of what parts yield says that there is one */
} FlPartLoud;

typedef struct FlParts {
  FlArena *arena;
  FlFunc *func;
  FlUses *uses;            /* of the function; renewed where parts are made */
  FlOp *reader;            /* of a table in memory: where its parts are to be made */
  FlValue *rows;           /* of a table in memory: how many it has; NULL: it is read */
  FlPartValues columns;    /* of a table in memory: columns that it has there, and `rows` */
  FlMap *stay;             /* maps whose results somebody wants of all rows; NULL: none */
  FlVec(FlOp *) inside;    /* what moves, in program order */
  FlVec(FlOp *) constants; /* what they use that is defined behind the reader */
  FlMap *spaces;           /* FlPartSpace by value: columns, and sizes */
  FlMap *moves;            /* by op: in `inside`, or of a fold: what it sees is no reason to keep rows */
  FlVec(FlPartFold *) folds;
  bool may_fail; /* what may fail moves, too */
  FlVec(FlPartLoud) loud;
  int n_spaces;
} FlParts;

static inline FlPartSpace *fl_part_space(const FlParts *p, const FlValue *v) {
  return fl_map_get(p->spaces, v);
}

/* ---- parts.c ---- */

typedef enum FlPartsMade {
  FL_PARTS_NONE_MADE,
  FL_PARTS_AGAIN, /* there may be some without what may fail, or without the maps that are to stay now */
  FL_PARTS_MADE
} FlPartsMade;
/* Makes parts of the rows, where that spares something. */
FlPartsMade fl_parts_try(FlParts *p);

/* ---- parts_rows.c ---- */

/* How many parts the rows in memory have. */
FlValue *fl_parts_count_rows(const FlParts *p, FlBuilder *b);
/* Views of the rows of part k, in place of the columns; -1: all rows. */
FlOp *fl_parts_take_rows(const FlParts *p, FlBuilder *in, FlValue *k, FlSubst *subst);

/* ---- quiet.c ---- */

/* The operation may fail only since its result does not fit, and can wrap around. */
bool fl_parts_may_wrap(const FlOp *op);
/* Some operation of the kernel may fail. */
bool fl_parts_wraps(const FlOp *map);
/* What will find the map's error, in its place; without a condition yet. */
FlOp *fl_parts_guard(FlOp *map);
/* Maps of a part, to which all has moved, fail no more; `out` has what says that they would have. */
void fl_parts_quieten(FlParts *p, FlBuilder *in, FlPartValues *out);
/* The guards' conditions, of what all parts said. */
void fl_parts_watch(FlParts *p, FlBuilder *b, FlValue *const *joined);

/* ---- parts_whole.c ---- */

/* Whether all that is wanted of the rows is one fold of groups, whose operations may take the rows
 * themselves: of these columns. */
bool fl_parts_may_be_whole(const FlParts *p, FlPartValues *columns);
/* They do where `whole` says so, of those rows; the fold goes on with the others. */
void fl_parts_stand(FlParts *p, FlValue *whole, const FlPartValues *columns, FlValue *const *rows);

/* ---- folds.c ---- */

/* Finds the folds behind the reader. */
void fl_parts_find_folds(FlParts *p);
/* Gives up folds of which every column is among what is kept anyway. */
void fl_parts_drop_folds(FlParts *p, const FlPartValues *exits);
/* Puts the fold's PARTIAL at the end of a part, `subst` as for what has moved; its results. `rows`: they stay
 * rows. */
FlOp *fl_parts_make_partial(FlParts *p, FlPartFold *fold, FlBuilder *in, const FlSubst *subst, FlValue *rows);
/* The fold's operations read the joined states instead of columns; `subst` gets what stands for their
 * results. */
void fl_parts_merge(FlPartFold *fold, FlValue *const *joined, FlSubst *subst);

#endif
