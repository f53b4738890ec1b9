/* asks.h: what asks.c, asks_alone.c, reread.c and earlier.c share. */
#ifndef FL_OPT_ASKS_H
#define FL_OPT_ASKS_H

#include "opt/opt_internal.h"

/* `op` keeps only rows that `join` asks for. */
typedef struct FlAsked {
  const FlOp *op, *join;
} FlAsked;
typedef FlVec(FlAsked) FlAskedList;

typedef struct FlAsks {
  FlArena *arena;
  FlFunc *func;
  FlUses uses;
  FlMap *position; /* of the operations of the function's body, from 1 on */
  bool again;      /* readers may be read again */
  bool earlier;    /* files that are named later may be read earlier, and only for these it asks */
  bool joins;      /* in place of readers, joins that stand before ask */
  bool chosen;     /* FLOW_JOINS says by these bits which are asked of those that may be */
  uint64_t bits;
  int n_asks; /* that were possible so far */
  FlAskedList asked;
} FlAsks;

/* An operation that makes other rows of some: a COMPRESS, GROUP, or a JOIN of this side. */
typedef struct FlAsksStep {
  FlOp *op;
  int side;
} FlAsksStep;

/* Where the operation stands in the function's body. */
static inline intptr_t fl_asks_position(const FlAsks *a, const FlOp *op) {
  return (intptr_t)fl_map_get(a->position, op);
}

/* ---- asks_alone.c ---- */

/* Rows of that side without a partner are in no row of the result. */
bool fl_asks_drops(const FlOp *join, int side);
/* A row of that side decides about rows of the result that are made of it, and about no others. */
bool fl_asks_carries(const FlOp *join, int side);
/* Where the arguments of that key begin. */
int fl_asks_key_at(const FlOp *join, int column);
/* v is an argument of the op, from that one on. */
bool fl_asks_is_arg(const FlOp *op, int from, const FlValue *v);
/* Nothing but the step sees the rows that maker makes, and it sees no others with them. */
bool fl_asks_is_alone(FlAsks *a, const FlOp *maker, const FlAsksStep *next);
/* The numbers of the side's rows only gather these. */
bool fl_asks_only_gathers(FlAsks *a, const FlOp *join, int side);
/* Elements are computed of so many rows, and nothing can fail. */
bool fl_asks_is_local(const FlOp *map, const FlValue *rows);

/* ---- asked.c ---- */

/* What has fewer rows for that is not seen. */
void fl_asks_unsee(FlFunc *f, const FlAskedList *asked);

/* ---- reread.c ---- */

/* The GROUP is of columns of the reader, and the file may be read once more for it. */
bool fl_asks_may_reread(FlAsks *a, const FlOp *reader, const FlOp *group);
/* Another reader of the same file before the GROUP, of whose rows GROUP, its aggregates and keys then are.
 * `key`: of the GROUP, and of one with nulls which are valid; that of these rows afterwards. */
FlOp *fl_asks_reread(FlAsks *a, FlOp *reader, FlOp *group, FlValue **key);
/* What the GROUP and its aggregates read of rows in memory is there before the GROUP, as this key of it is,
 * or is computed of that. */
bool fl_asks_may_regroup(FlAsks *a, const FlOp *group, FlValue *key);
/* The same of rows in memory: views of their columns, in place of the other reader. */
FlOp *fl_asks_regroup(FlAsks *a, FlOp *group, FlValue **key);

/* ---- earlier.c ---- */

/* A loop over the parts of a file. */
bool fl_asks_is_part_loop(const FlOp *op);
/* Joins what parts of a file have kept of its rows, of which some may have been dropped. */
bool fl_asks_is_of_parts(const FlOp *op);
/* The file may be opened at the place already, which is before. */
bool fl_asks_may_open(const FlOp *parts, const FlOp *place);
/* What a file is known by: its path, where the script has it. */
FlValue *fl_asks_path(FlValue *file);
/* The file is opened where TABLE_PARTS stands now, and what is wrong with it is said where it stood before.
 */
void fl_asks_open_quietly(FlOp *parts);

#endif
