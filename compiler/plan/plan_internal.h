/* plan_internal.h: what the files that make a plan share. */
#ifndef FL_PLAN_INTERNAL_H
#define FL_PLAN_INTERNAL_H

#include "plan/plan.h"

typedef struct FlPlanner FlPlanner;
/* Bodies of functions and of tasks, of which something is decided as a whole once all steps are made. */
typedef struct FlPlanRoot {
  FlPlanner *of;
  FlPlanBody *body;
} FlPlanRoot;
typedef FlVec(FlPlanRoot) FlPlanRoots;

/* The plan of a function being made. */
struct FlPlanner {
  FlPlan *plan;
  FlPlanRoots *roots;
  FlPlanFunc *func;
  FlInPlace *in_place;
  FlVec(const FlOp *) running; /* stage calls that nobody has waited for, in program order */
  bool in_loop;                /* of host code that is a function by itself */
  int n_loops;                 /* of such */
};

/* ---- kernel.c ---- */

/* Of a MAP, or of a REDUCE or COLLECT over kernel code; `code`: the region is kernel code. */
const FlPlanKernel *fl_plan_kernel(FlPlanner *m, const FlOp *op, bool code);
/* Of a loop of host code over elements; NULL: it is none, or making it by itself would not pay. */
const FlPlanKernel *fl_plan_loop(FlPlanner *m, const FlPlanStep *s);
/* Instructions, about; one of MATHS, inlined, is many, and so is a loop with its lanes and rests. */
int fl_plan_weight(const FlRegion *r);

/* ---- rows.c ---- */

/* What the region of a loop captures, in the order in which it names it, and how that is read. `sum`: as
 * FlPlanKernel.sum. */
/* blocks.c: uses that a loop of tasks reads by blocks of rows have OWN rows; gives the rows of a block, a
 * constant or something that it captures, or NULL. */
const FlValue *fl_plan_find_blocks(const FlOp *loop, int n_uses, FlUse *uses);
const FlUse *fl_plan_captures(FlPlanner *m, const FlOp *loop, const FlOp *fold, int *n);
/* What a runtime operator needs of each of its arguments, by the column DIST of ops.def. */
const FlUse *fl_plan_args(FlPlanner *m, const FlOp *op);
/* Do rows of its results depend on rows of another part, once what it takes is parted? */
bool fl_plan_crosses_parts(const FlPlanStep *s);

/* ---- parted.c ---- */

/* Finds which arrays may be parted, in all functions of a plan whose steps are made. */
void fl_plan_find_parted(FlPlan *plan);

/* ---- cost.c ---- */

/* Of one element of the kernel. */
const FlCost *fl_plan_cost(FlArena *arena, const FlRegion *kernel);
/* Are the numbers of rounds of all loops inside known outside of it? */
bool fl_plan_cost_is_known(const FlRegion *kernel);

/* ---- strips.c: which steps of a body, and of those inside it, may be run strip by strip ---- */

void fl_plan_find_strips(FlPlanBody *body);

/* ---- host.c: host code as a whole ---- */

/* How many of the stage calls that run since `first` are waited for before the step. */
int fl_plan_waits(const FlPlanner *m, const FlPlanStep *s, int first);
/* May the operation be a row of a table of steps? */
bool fl_plan_fits_table(const FlPlanStep *s);
/* The table of a function that is being made. */
typedef struct FlPlanTable {
  FlInterner *names; /* descriptions of kinds */
  FlMap *kinds;      /* of which, interned -> 1 + the kind */
  int n_kinds;
} FlPlanTable;

/* steps.c: do the operations of the body share enough code as rows of a table: at most half of these are
 * functions of their own? Operations at different places never share one. */
bool fl_plan_shares_steps(const FlPlanBody *body);
/* The rows of the body and of those inside, in the order in which they run. */
void fl_plan_rows(FlPlanner *m, FlPlanTable *t, FlPlanBody *body);

/* The root of a function, or of tasks, whose steps are made: what is decided of it as a whole. */
void fl_plan_root(FlPlanner *m, FlPlanBody *body);

#endif
