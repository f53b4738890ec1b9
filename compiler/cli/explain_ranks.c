/* explain_ranks.c: flowc explain --ranks N: where the work of a step is done, and what goes from rank to
 * rank.
 *
 * In: steps of a plan. Out: a word for each, and what the words mean. What always holds: it is what
 * exec/ranks.c and what stands beside it do: arrays and tables are whole at each rank; parts of a file, tasks
 * and loops over numbers are computed by turns and sent to all, the last two where that pays. */
#include "cli/explain_internal.h"

typedef struct Place {
  const char *word, *means;
} Place;

enum { PARTS, SHARED, WHOLE, FIRST, N_PLACES };
static const Place places[N_PLACES] = {
    [PARTS] = {"parts", "each rank reads every n-th part of the file, and does this with its rows; what "
                        "stays of them goes to all"},
    [SHARED] = {"shared", "each rank does its part, and what comes of it goes to all, where that takes less "
                          "than doing all of it"},
    [WHOLE] = {"whole", "each rank does all of it, on all rows; nothing is sent"},
    [FIRST] = {"rank 0", "rank 0 alone acts or asks; what it is told goes to all"},
};

static bool is_numbers(const FlOp *op) {
  for (int k = 0; k < op->n_results; k++)
    if (fl_dtype_is_text(op->results[k]->type.dtype) || op->results[k]->type.depth) return false;
  return true;
}

static int place_of(const FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (p->in_parts || op->code == FL_OP_TABLE_PARTS) return PARTS;
  if (p->in_tasks) return SHARED;
  bool asks =
      op->code == FL_OP_ENV || op->code == FL_OP_FILES || op->code == FL_OP_EXEC || op->code == FL_OP_SQL;
  if (asks || fl_ir_is_effect(op)) return FIRST;
  if (s->kind == FL_STEP_SERIAL || !s->kernel) return WHOLE;
  FlPlanForm form = s->kernel->form;
  bool numbers = form != FL_KERNEL_KEPT && form != FL_KERNEL_ROUNDS && is_numbers(op);
  return form == FL_KERNEL_TASKS || numbers ? SHARED : WHOLE;
}

void fl_explain_where(FlExplain *p, const FlPlanStep *s) {
  p->where = p->ranks > 1 && s ? places[place_of(p, s)].word : "";
}

void fl_explain_sent(FlExplain *p, const FlOp *parts) {
  if (p->ranks < 2) return;
  const FlRegion *r = parts->regions[0];
  FlValue **rows = FL_NEW_ARRAY(p->arena, FlValue *, r->n_yields + 1);
  int n = 0, states = 0;
  for (int i = 0; i < r->n_yields; i++) {
    const FlOp *op = r->yields[i]->op;
    if (op && op->code == FL_OP_PARTIAL) states++;
    else if (op && op->code != FL_OP_ARRAY) rows[n++] = r->yields[i];
  }
  fl_explain_where(p, NULL);
  if (states) fl_explain_step(p, "", "", "to all ranks: the states of groups, no rows");
  if (n)
    fl_explain_step(p, "", "", "to all ranks: the rows that are kept, of %s: what follows needs them all",
                    fl_explain_names(p, n, rows));
}

void fl_explain_legend(const FlExplain *p, FlText1 *out) {
  if (p->ranks < 2) return;
  fl_text_addf(out, "\nover %d ranks\n", p->ranks);
  for (int i = 0; i < N_PLACES; i++) fl_text_addf(out, "%-6s  %s\n", places[i].word, places[i].means);
}
