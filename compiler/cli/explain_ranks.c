/* explain_ranks.c: flowc explain --ranks N: where the work of a step is done, and what goes from rank to
 * rank.
 *
 * In: steps of a plan. Out: a word for each, and what the words mean. What always holds: it is what
 * exec/ranks.c and what stands beside it do: parts of a file, tasks and loops over numbers are computed by
 * turns and sent to all, the last two where that pays; large arrays that are only read by their own rows stay
 * in parts; all others are whole at each rank. */
#include "cli/explain_internal.h"

typedef struct Place {
  const char *word, *means;
} Place;

enum { PARTS, ROWS, SHARED, WHOLE, FIRST, N_PLACES };
static const Place places[N_PLACES] = {
    [PARTS] = {"parts", "each rank reads every n-th part of the file, and does this with its rows; what "
                        "stays of them goes to all"},
    [ROWS] = {"rows",
              "each rank does this with its own rows, and what comes of it stays there, where that is "
              "a million elements or more; else as shared or whole"},
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

/* Some of what it gives may stay in parts. */
static bool keeps_rows(const FlExplain *p, const FlPlanStep *s) {
  bool stays = false;
  if ((s->kind != FL_STEP_KERNEL && s->kind != FL_STEP_BULK) || p->in_tasks || p->in_parts) return false;
  for (int k = 0; k < s->op->n_results; k++) stays |= fl_plan_may_part(p->plan, s->op->results[k]);
  return stays && fl_plan_in_parts(p->plan, s) != FL_PARTS_NONE;
}

static int place_of(const FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (p->in_parts || op->code == FL_OP_TABLE_PARTS) return PARTS;
  if (p->in_tasks || p->in_states) return SHARED;
  bool asks =
      op->code == FL_OP_ENV || op->code == FL_OP_FILES || op->code == FL_OP_EXEC || op->code == FL_OP_SQL;
  if (asks || fl_ir_is_effect(op)) return FIRST;
  if (keeps_rows(p, s)) return ROWS;
  FlInParts how = fl_plan_parts_form(s);
  if (how == FL_PARTS_PRODUCT || how == FL_PARTS_SWEEP || how == FL_PARTS_ORDER) return SHARED;
  if (s->kind == FL_STEP_SERIAL || !s->kernel) return WHOLE;
  FlPlanForm form = s->kernel->form;
  bool numbers = form != FL_KERNEL_KEPT && form != FL_KERNEL_ROUNDS && is_numbers(op);
  return form == FL_KERNEL_TASKS || numbers ? SHARED : WHOLE;
}

void fl_explain_where(FlExplain *p, const FlPlanStep *s) {
  p->where = p->ranks > 1 && s ? places[place_of(p, s)].word : "";
}

/* Who asks for whole arrays, as it is called here. */
static const char *asker(const FlExplain *p, const FlOp *op) {
  if (op->code == FL_OP_LOAD) return "reading an element";
  if (op->code == FL_OP_STORE) return "assigning an element";
  if (op->code == FL_OP_TAKE) return "taking rows by their numbers";
  return op->n_regions ? "a loop" : fl_arena_printf(p->arena, "`%s`", fl_ir_run_name(op));
}

/* They ask for the same in the same place, as where a table's columns are asked one by one. */
static bool same_asks(const FlOp *a, const FlOp *b) {
  return a == b || (a && b && a->code == b->code && a->span.file == b->span.file &&
                    a->span.start == b->span.start && a->span.len == b->span.len);
}

void fl_explain_whole(FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  bool by_rows = s->kind == FL_STEP_KERNEL || (s->kind == FL_STEP_BULK && op->code != FL_OP_TAKE);
  if (p->ranks < 2 || p->in_tasks || p->in_parts || !by_rows || !fl_plan_parts_form(s)) return;
  fl_explain_where(p, NULL);
  for (int k = 0; k < op->n_results; k++) {
    FlValue *v = op->results[k];
    const FlOp *asks = fl_plan_whole_for(p->plan, v);
    if (!asks) continue;
    FlValue **same = FL_NEW_ARRAY(p->arena, FlValue *, op->n_results);
    int n = 0;
    bool first = true;
    for (int i = 0; i < op->n_results; i++) {
      if (!same_asks(fl_plan_whole_for(p->plan, op->results[i]), asks)) continue;
      first &= n > 0 || i == k;
      same[n++] = op->results[i];
    }
    const char *names = fl_explain_names(p, n, same), *line = fl_explain_line(p, asks->span);
    if (first)
      fl_explain_step(p, "", "", "all rows%s%s go to all ranks: %s%s%s needs them", names[0] ? " of " : "",
                      names, asker(p, asks), line[0] ? " in line " : "", line);
  }
}

/* Rows that are kept: where they go. */
static void say_kept(FlExplain *p, int n, FlValue **rows, const char *fmt) {
  const char *names = fl_explain_names(p, n, rows);
  if (n) fl_explain_step(p, "", "", fmt, names[0] ? ", of " : "", names);
}

void fl_explain_sent(FlExplain *p, const FlOp *parts) {
  if (p->ranks < 2) return;
  const FlRegion *r = parts->regions[0];
  FlValue **rows = FL_NEW_ARRAY(p->arena, FlValue *, r->n_yields + 1);
  FlValue **stay = FL_NEW_ARRAY(p->arena, FlValue *, r->n_yields + 1);
  int n = 0, n_stay = 0, states = 0;
  for (int i = 0; i < r->n_yields; i++) {
    const FlOp *op = r->yields[i]->op;
    if (op && op->code == FL_OP_PARTIAL) states++;
    else if (fl_plan_list_stays(p->plan, parts->results[i])) stay[n_stay++] = r->yields[i];
    else if (op && op->code != FL_OP_ARRAY) rows[n++] = r->yields[i];
  }
  fl_explain_where(p, NULL);
  if (states) fl_explain_step(p, "", "", "to all ranks: the states of groups, no rows");
  say_kept(p, n_stay, stay,
           "the rows that are kept%s%s stay where they were read, where they are a million or more");
  say_kept(p, n, rows, "to all ranks: the rows that are kept%s%s: what follows needs them all");
}

void fl_explain_legend(const FlExplain *p, FlText1 *out) {
  if (p->ranks < 2) return;
  fl_text_addf(out, "\nover %d ranks\n", p->ranks);
  for (int i = 0; i < N_PLACES; i++) fl_text_addf(out, "%-6s  %s\n", places[i].word, places[i].means);
}
