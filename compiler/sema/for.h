/* for.h: the clauses of `for ...` that comprehensions and reductions share. */
#ifndef FL_SEMA_FOR_H
#define FL_SEMA_FOR_H

#include "sema/place.h"

enum { FL_MAX_GENERATORS = FL_MAX_RANK };

typedef struct FlGenerator {
  const FlClause *clause;
  bool is_range;
  FlRangeVal range;
  FlVal source; /* when it is no range */
  FlValue *count;
} FlGenerator;

/* Clauses up to the first generator that depends on the ones before it. */
typedef struct FlForHead {
  int n;
  FlGenerator at[FL_MAX_GENERATORS];
  FlVec(const FlExpr *) filters;
  FlClauseList tail; /* what follows; n == 0: nothing */
} FlForHead;

/* Elaborates the sources of the head's generators. false: reported. */
bool fl_for_read(FlSema *s, const FlClauseList *clauses, FlForHead *h);
/* The number of positions of all generators together. */
FlValue *fl_for_count(FlSema *s, const FlForHead *h);

/* An op over the generators' positions, without results yet, and its region, whose parameters they are. */
FlOp *fl_for_op(FlSema *s, FlOpcode code, const FlForHead *h, FlRegion **region);

/* Elaborating inside such a region, and going on as before. */
typedef struct FlInside {
  FlRegion *region;
  FlSavedPlace saved;
  const char *pure;
  FlBinding *loop_break, *loop_skip; /* of the loop around: a body cannot jump out of a comprehension */
} FlInside;
FlInside fl_for_enter(FlSema *s, FlRegion *r);
void fl_for_leave(FlSema *s, FlInside in);

/* Inside: the generators' names stand for the elements at these positions. */
void fl_for_bind(FlSema *s, const FlForHead *h, FlValue *const *index);
/* Inside: do all filters (there is one at least) hold? Each is evaluated only where those before it do. NULL:
 * reported. */
FlValue *fl_for_filters(FlSema *s, const FlForHead *h);
/* Inside: the value of the body; reports when it gives none. */
FlVal fl_for_body(FlSema *s, const FlExpr *body);

/* [for clauses: body], whose head was read. */
FlVal fl_for_elements(FlSema *s, const FlForHead *h, const FlExpr *body);

#endif
