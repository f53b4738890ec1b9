/* explain_internal.h: what the files of a plan share: names of values and sizes, lines of text. */
#ifndef FL_EXPLAIN_INTERNAL_H
#define FL_EXPLAIN_INTERNAL_H

#include "cli/explain_plan.h"

/* A line of the plan, to be aligned with the others. */
typedef struct FlExplainRow {
  const char *line, *step, *where, *detail;
  int depth;
} FlExplainRow;

typedef struct FlExplain {
  const FlPlan *plan;
  FlVec(FlExplainRow) rows; /* of the script, or of a stage */
  FlArena *arena;
  const FlModule *module;
  const FlSources *sources;
  const FlRecord *last;    /* the last run, or NULL */
  FlMap *names;            /* const char * by value: a column, a param, the expression that it comes from */
  int depth;               /* of loops and branches */
  int ranks;               /* the plan is over so many; below 2: it is of one */
  bool in_parts, in_tasks; /* within the loop over the parts of a file, over tasks */
  bool in_states;          /* in the place of what each rank may do by states of its own rows */
  const char *where;       /* the step is done, by explain_ranks.c */
} FlExplain;

/* ---- explain_names.c ---- */

/* The text at a place, on one line and cut when it is long; "" for no place. */
const char *fl_explain_source(const FlExplain *p, FlSpan span);
/* "12", or "linear.flow:12" in another file than the script; "" for no place. */
const char *fl_explain_line(const FlExplain *p, FlSpan span);
void fl_explain_set_name(FlExplain *p, const FlValue *v, const char *name);
/* What a value is called; NULL: it has no name. */
const char *fl_explain_name(const FlExplain *p, const FlValue *v);
/* Names of values, commas between; each once, nameless ones left out. "" when there is none. */
const char *fl_explain_names(const FlExplain *p, int n, FlValue *const *values);
/* What each part of a file yields of the column that the op joins; NULL: it joins something else. */
const FlValue *fl_explain_joined(const FlOp *op);
/* The loop is over the parts of a file. The branch asks the first part whether it is worth it. */
bool fl_explain_is_parts(const FlOp *loop);
bool fl_explain_asks_part(const FlOp *branch);
/* A branch that takes rows where that says so, and whose second region takes the states of parts
 * (opt/parts_whole.c). */
bool fl_explain_stands_for_states(const FlOp *branch);
/* A branch whose second region is what groups and aggregates say (opt/groups.c). */
bool fl_explain_is_grouped(const FlOp *branch);
/* The step of a PARTIAL: what is kept of a part's rows. */
void fl_explain_partial(FlExplain *p, const FlOp *op);
/* How many elements a size says: "1,000", "the rows of line 3". */
const char *fl_explain_size(const FlExplain *p, const FlValue *size);
/* The pieces of the script that the ops of a region come from: the largest expressions, each once, in order.
 * *n: how many. */
FlSpan *fl_explain_pieces(const FlExplain *p, const FlOp *op, int *n);
/* "1,234 rows", "1.5 MB". */
const char *fl_explain_count(const FlExplain *p, int64_t n);
const char *fl_explain_bytes(const FlExplain *p, int64_t bytes);

/* ---- explain_read.c ---- */

/* Whether the op reads a table from files. */
bool fl_explain_is_reader(const FlOp *op);
/* The detail of a reader, and names for its results. */
void fl_explain_reader(FlExplain *p, const FlOp *op);
/* Names for the results of a part of a file. */
void fl_explain_part(FlExplain *p, const FlOp *op);

/* ---- explain_ranks.c ---- */

/* Where the step (NULL: none) is done: of the rows that follow. */
void fl_explain_where(FlExplain *p, const FlPlanStep *s);
/* Which of its results go to all ranks although each could keep its own rows, and who needs that. */
void fl_explain_whole(FlExplain *p, const FlPlanStep *s);
/* What goes to all ranks of what the parts of a file yield. */
void fl_explain_sent(FlExplain *p, const FlOp *parts);
/* What the words mean. */
void fl_explain_legend(const FlExplain *p, FlText1 *out);

/* ---- explain_plan.c ---- */

/* Adds a row: the line in the script, what kind of step, detail. `line` "": it belongs to the row before. */
void fl_explain_step(FlExplain *p, const char *line, const char *step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
