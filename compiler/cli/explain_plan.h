/* explain_plan.h: what a script does when it runs, in the words of the script: flowc explain FILE.flow. */
#ifndef FL_EXPLAIN_PLAN_H
#define FL_EXPLAIN_PLAN_H

#include "diag/diag.h"
#include "plan/plan.h"
#include "report/record.h"

/* Adds the plan, for people: the steps of the script in the order in which they run, then those of
 * each stage. A step has the line that it comes from; steps that became one have the lines of all. `last`:
 * the record of the last run, or NULL. `ranks`: how many run it; from 2 on each step says where it is done.
 * Files that are there are looked at for their sizes and the columns that are not read. */
void fl_explain_print(FlText1 *out, FlArena *arena, const FlPlan *plan, const FlSources *sources,
                      const FlRecord *last, int ranks);

#endif
