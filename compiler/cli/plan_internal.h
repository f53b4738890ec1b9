/* plan_internal.h: what the files of a plan share: names of values and sizes, lines of text. */
#ifndef FL_PLAN_INTERNAL_H
#define FL_PLAN_INTERNAL_H

#include "cli/plan.h"

/* A line of the plan, to be aligned with the others. */
typedef struct FlPlanRow {
  const char *line, *step, *detail;
  int depth;
} FlPlanRow;

typedef struct FlPlan {
  FlVec(FlPlanRow) rows; /* of the script, or of a stage */
  FlArena *arena;
  const FlModule *module;
  const FlSources *sources;
  const char *history;
  FlMap *names; /* const char * by value: a column, a param, the expression that it comes from */
  int depth;    /* of loops and branches */
} FlPlan;

/* ---- plan_names.c ---- */

/* The text at a place, on one line and cut when it is long; "" for no place. */
const char *fl_plan_source(const FlPlan *p, FlSpan span);
/* "12", or "linear.flow:12" in another file than the script; "" for no place. */
const char *fl_plan_line(const FlPlan *p, FlSpan span);
void fl_plan_set_name(FlPlan *p, const FlValue *v, const char *name);
/* What a value is called; NULL: it has no name. */
const char *fl_plan_name(const FlPlan *p, const FlValue *v);
/* Names of values, commas between; each once, nameless ones left out. "" when there is none. */
const char *fl_plan_names(const FlPlan *p, int n, FlValue *const *values);
/* What each part of a file yields of the column that the op joins; NULL: it joins something else. */
const FlValue *fl_plan_joined(const FlOp *op);
/* The loop is over the parts of a file. The branch asks the first part whether it is worth it. */
bool fl_plan_is_parts(const FlOp *loop);
bool fl_plan_asks_part(const FlOp *branch);
/* The step of a PARTIAL: what is kept of a part's rows. */
void fl_plan_partial(FlPlan *p, const FlOp *op);
/* How many elements a size says: "1,000", "the rows of line 3". */
const char *fl_plan_size(const FlPlan *p, const FlValue *size);
/* The pieces of the script that the ops of a region come from: the largest expressions, each once, in order.
 * *n: how many. */
FlSpan *fl_plan_pieces(const FlPlan *p, const FlOp *op, int *n);
/* "1,234 rows", "1.5 MB". */
const char *fl_plan_count(const FlPlan *p, int64_t n);
const char *fl_plan_bytes(const FlPlan *p, int64_t bytes);

/* ---- plan_read.c ---- */

/* Whether the op reads a table from files. */
bool fl_plan_is_reader(const FlOp *op);
/* The detail of a reader, and names for its results. */
void fl_plan_reader(FlPlan *p, const FlOp *op);
/* Names for the results of a part of a file. */
void fl_plan_part(FlPlan *p, const FlOp *op);

/* ---- plan.c ---- */

/* Adds a row: the line in the script, what kind of step, detail. `line` "": it belongs to the row before. */
void fl_plan_step(FlPlan *p, const char *line, const char *step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
