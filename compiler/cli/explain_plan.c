/* explain_plan.c: the steps of a plan; see explain_plan.h.
 *
 * In: the plan of a module. Out: a line a step. What always holds: what is not shown takes no
 * time that grows with the data (constants, sizes, single numbers); lines come in the order of the program.
 */
#include "cli/explain_internal.h"

#include <stdarg.h>

/* ---- rows ---- */

void fl_explain_step(FlExplain *p, const char *line, const char *step, const char *fmt, ...) {
  char detail[1024];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(detail, sizeof detail, fmt, args);
  va_end(args);
  FlExplainRow row = {line, step, line[0] ? p->where : "", fl_arena_strndup(p->arena, detail, strlen(detail)),
                      p->depth};
  fl_vec_push(p->arena, &p->rows, row);
}

/* Prints the rows, aligned, and forgets them. */
static void put_rows(FlExplain *p, FlText1 *out) {
  int line = 4, step = 4;
  for (int i = 0; i < p->rows.n; i++) {
    const FlExplainRow *r = &p->rows.at[i];
    int l = (int)strlen(r->line), w = (int)strlen(r->step) + 2 * r->depth;
    line = l > line ? l : line;
    step = w > step ? w : step;
  }
  bool over = p->ranks > 1;
  fl_text_addf(out, "%*s  %-*s  %swhat\n", line, "line", step, "step", over ? "where   " : "");
  for (int i = 0; i < p->rows.n; i++) {
    const FlExplainRow *r = &p->rows.at[i];
    bool more = r->detail[0] || (over && r->where[0]);
    fl_text_addf(out, "%*s  %*s%-*s%s", line, r->line, 2 * r->depth, "", more ? step - 2 * r->depth : 0,
                 r->step, more ? "  " : "");
    if (over && more) fl_text_addf(out, "%-*s", r->detail[0] ? 8 : 0, r->where);
    fl_text_addf(out, "%s\n", r->detail);
  }
  p->rows.n = 0;
}

/* ---- what steps have in common ---- */

/* Names for results from where they stand in the script. */
static void name_by_place(FlExplain *p, const FlOp *op) {
  for (int k = 0; k < op->n_results; k++)
    if (!fl_explain_name(p, op->results[k]))
      fl_explain_set_name(p, op->results[k], fl_explain_source(p, fl_ir_place(op, k)));
}

/* Results first .. keep the names of the arguments `shift` before them. */
static void keep_names(FlExplain *p, const FlOp *op, int first, int shift) {
  for (int k = first; k < op->n_results && k + shift < op->n_args; k++)
    fl_explain_set_name(p, op->results[k], fl_explain_name(p, op->args[k + shift]));
}

static void say_columns(FlExplain *p, const FlOp *op, const char *step, const char *what, int first) {
  const char *names = fl_explain_names(p, op->n_results - first, op->results + first);
  fl_explain_step(p, fl_explain_line(p, op->span), step, "%s%s%s", what, what[0] && names[0] ? ": " : "",
                  names);
}

/* ---- loops ---- */

static const char *over(FlExplain *p, const FlOp *op) {
  int n = op->code == FL_OP_SCAN ? 1 : op->n_args;
  FlText1 t = {0};
  for (int i = 0; i < n; i++) fl_text_addf(&t, "%s%s", i ? " x " : "", fl_explain_size(p, op->args[i]));
  const char *out = fl_arena_printf(p->arena, "%s", t.s ? t.s : "");
  fl_text_reset(&t);
  return out;
}

/* What a loop leaves in memory. */
static const char *kept(FlExplain *p, const FlOp *op) {
  int64_t bytes = 0;
  int n = 0;
  for (int k = 0; k < op->n_results; k++) {
    if (op->results[k]->type.rank == 0) continue;
    bytes += fl_dtype_info[op->results[k]->type.dtype].bytes;
    n++;
  }
  if (!n) return "keeps nothing but the result";
  return fl_arena_printf(p->arena, "keeps %d column%s, %lld B an element", n, n == 1 ? "" : "s",
                         (long long)bytes);
}

static void say_loop(FlExplain *p, const FlOp *op, const char *step) {
  int n;
  FlSpan *pieces = fl_explain_pieces(p, op, &n);
  name_by_place(p, op);
  fl_explain_step(p, fl_explain_line(p, op->span), step, "over %s; %s", over(p, op), kept(p, op));
  for (int i = 0; i < n; i++) {
    const char *line = fl_explain_line(p, pieces[i]), *here = fl_explain_line(p, op->span);
    fl_explain_step(p, strcmp(line, here) == 0 ? "" : line, "", "%s%s", n > 1 ? "+ " : "",
                    fl_explain_source(p, pieces[i]));
  }
}

static void say_body(FlExplain *p, const FlPlanBody *body);

/* The rows that go through a filter by parts. */
static const char *rows_of(FlExplain *p, const FlOp *loop) {
  const FlOp *part = loop->regions[0]->first;
  while (part->code != FL_OP_ROW_PART) part = part->next;
  return fl_explain_size(p, part->args[1]);
}

/* A loop whose elements are tasks: each runs the steps below. */
static void say_tasks(FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (fl_plan_has_row_parts(op))
    fl_explain_step(p, fl_explain_line(p, op->span), "parts", "over %s: what is kept is never written",
                    rows_of(p, op));
  else if (fl_explain_is_parts(op))
    fl_explain_step(p, "", "", "part by part: of the file only what these steps keep is ever in memory");
  else fl_explain_step(p, fl_explain_line(p, op->span), "tasks", "over %s, each on its own:", over(p, op));
  bool parts = fl_explain_is_parts(op), in_parts = p->in_parts, in_tasks = p->in_tasks;
  p->in_parts |= parts;
  p->in_tasks |= !parts;
  p->depth++;
  for (int i = 0; i < op->n_regions; i++) say_body(p, s->inside[i]);
  p->depth--;
  p->in_parts = in_parts;
  p->in_tasks = in_tasks;
  if (parts) fl_explain_sent(p, op);
  name_by_place(p, op);
}

static void say_for_each(FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (!s->kernel_code) say_tasks(p, s);
  else say_loop(p, op, op->code == FL_OP_REDUCE ? "fold" : op->code == FL_OP_SCAN ? "scan" : "loop");
}

/* A branch or a loop of the script is a step where there are steps in it. */
static void say_control(FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  static const char *const which[] = {"then", "else"};
  int begin = p->rows.n;
  if (fl_explain_is_grouped(op)) {
    p->in_states = fl_plan_parts_form(fl_plan_step(p->plan, op->args[0]->op)) == FL_PARTS_GROUPS;
    say_body(p, s->inside[1]);
    p->in_states = false;
    for (int k = 0; k < op->n_results; k++) {
      const char *name = fl_explain_name(p, op->regions[1]->yields[k]);
      if (name) fl_explain_set_name(p, op->results[k], name);
    }
    return;
  }
  if (fl_explain_stands_for_states(op)) {
    say_body(p, s->inside[1]);
    for (int k = 0; k < op->n_results; k++) {
      const char *name = fl_explain_name(p, op->regions[1]->yields[k]);
      if (name) fl_explain_set_name(p, op->results[k], name);
    }
    return;
  }
  if (fl_explain_asks_part(op)) {
    fl_explain_step(p, "", "", "as a whole, where most rows of its first part are groups of their own; else");
    return;
  }
  fl_explain_step(p, fl_explain_line(p, op->span), fl_op_info[op->code].name, "%s",
                  fl_explain_source(p, op->span));
  for (int i = 0; i < op->n_regions; i++) {
    int before = p->rows.n;
    p->depth++;
    if (op->code == FL_OP_IF) fl_explain_step(p, "", which[i], "%s", "");
    int begun = p->rows.n;
    p->depth += op->code == FL_OP_IF;
    say_body(p, s->inside[i]);
    p->depth -= 1 + (op->code == FL_OP_IF);
    if (p->rows.n == begun) p->rows.n = before;
  }
  if (p->rows.n == begin + 1) p->rows.n = begin;
  name_by_place(p, op);
}

/* ---- stages ---- */

/* What the last run of the script did with a stage; "": nothing is known. */
static const char *last_run(FlExplain *p, const char *name) {
  int cached = 0, run = 0;
  for (int i = 0; p->last && i < p->last->now.n_stages; i++) {
    const FlRecordStage *s = &p->last->now.stages[i];
    if (strcmp(s->name, name) != 0) continue;
    cached += strcmp(s->how, "cached") == 0;
    run += strcmp(s->how, "run") == 0;
  }
  if (!cached && !run) return "";
  return fl_arena_printf(p->arena, "; last run: %d computed, %d remembered", run, cached);
}

/* The arguments of a stage are called what its calls pass, where these agree. */
static void name_params(FlExplain *p, const FlOp *op) {
  const FlRegion *body = op->attrs.func->body;
  for (int i = 0; i < body->n_params && i < op->n_args; i++) {
    const char *old = fl_explain_name(p, body->params[i]), *name = fl_explain_name(p, op->args[i]);
    int64_t constant;
    if (!name && op->args[i]->type.rank == 0 && op->args[i]->type.dtype == FL_I64 &&
        !fl_ir_const_value_i(op->args[i], &constant))
      name = fl_explain_size(p, op->args[i]);
    if (!name || (old && strcmp(old, name) != 0)) name = fl_arena_printf(p->arena, "argument %d", i + 1);
    fl_explain_set_name(p, body->params[i], name);
  }
}

static void say_stage(FlExplain *p, const FlOp *op) {
  const FlFunc *f = op->attrs.func;
  name_params(p, op);
  const char *memo = f->memo < 0   ? "not remembered"
                     : f->memo > 0 ? "remembered"
                                   : "remembered when it takes longer than looking it up";
  fl_explain_step(p, fl_explain_line(p, op->span), "stage", "%s: %s%s", f->name, memo, last_run(p, f->name));
  name_by_place(p, op);
}

/* ---- bulk operators ---- */

static const char *keys(FlExplain *p, const FlOp *op) {
  int moved = op->code == FL_OP_SORT_ROWS ? op->n_results : 0; /* the columns stand behind the keys */
  const char *names = fl_explain_names(p, op->n_args - moved, op->args);
  return names[0] ? fl_arena_printf(p->arena, "by %s", names) : fl_explain_source(p, op->span);
}

static const char *join_words(FlExplain *p, const FlOp *op) {
  int n = 0;
  for (int i = 0; i < op->attrs.n_columns / 2; i++) n += fl_ir_column_width(&op->attrs.columns[i]);
  return fl_arena_printf(p->arena, "%s, on %s", op->attrs.s ? op->attrs.s : "inner",
                         fl_explain_names(p, n, op->args));
}

static void say_effect(FlExplain *p, const FlOp *op) {
  const FlOp *path = op->n_args ? op->args[0]->op : NULL;
  bool constant = path && path->code == FL_OP_CONST && op->args[0]->type.dtype == FL_TEXT;
  const char *name = op->attrs.format ? op->attrs.format->name : fl_op_info[op->code].name;
  const char *line = fl_explain_line(p, op->span);
  bool writes = strncmp(name, "write", 5) == 0 || op->code == FL_OP_SAVE_VALUE;
  if (op->code == FL_OP_SHOW) fl_explain_step(p, line, "show", "%s", op->attrs.s);
  else if (writes && constant) fl_explain_step(p, line, name, "%s", path->attrs.s);
  else fl_explain_step(p, line, name, "%s", fl_explain_source(p, op->span));
}

/* Rows by their numbers; ops that follow each other with the same numbers are one step. */
static void say_gather(FlExplain *p, const FlOp *op) {
  const FlExplainRow *last = p->rows.n ? &p->rows.at[p->rows.n - 1] : NULL;
  const char *names = fl_explain_names(p, op->n_results, op->results), *line = fl_explain_line(p, op->span);
  if (!names[0]) names = fl_explain_source(p, op->span);
  bool same = op->prev && op->prev->code == FL_OP_TAKE && op->prev->args[0] == op->args[0];
  if (same && last && strcmp(last->step, "gather") == 0 && strcmp(last->line, line) == 0)
    p->rows.at[p->rows.n - 1].detail = fl_arena_printf(p->arena, "%s, %s", last->detail, names);
  else fl_explain_step(p, line, "gather", "%s", names);
}

static void say_runtime(FlExplain *p, const FlOp *op) {
  const char *line = fl_explain_line(p, op->span);
  if (fl_explain_is_reader(op)) {
    fl_explain_reader(p, op);
    return;
  }
  switch (op->code) {
  case FL_OPS_READING:
    if (op->code == FL_OP_TABLE_PART) fl_explain_part(p, op);
    if (op->code == FL_OP_TABLE_PART || op->code == FL_OP_TABLE_END) return;
    break;
  case FL_OPS_WORLD:
    if (op->code == FL_OP_FILE_OF || op->code == FL_OP_FILE_PATH || op->code == FL_OP_NOW ||
        op->code == FL_OP_ENV)
      return;
    break;
  case FL_OP_PARTIAL: fl_explain_partial(p, op); return;
  case FL_OP_COMPRESS:
    keep_names(p, op, 1, 0);
    say_columns(p, op, "filter", "columns copied", 1);
    return;
  case FL_OP_TAKE:
    keep_names(p, op, 0, 1);
    say_gather(p, op);
    return;
  case FL_OP_ROWS: keep_names(p, op, 0, 0); return;     /* a view */
  case FL_OP_ROW_PART: keep_names(p, op, 1, 1); return; /* views */
  case FL_OP_GROUP: fl_explain_step(p, line, "group", "%s", keys(p, op)); return;
  case FL_OP_SORT_VALUES: keep_names(p, op, 0, 0); /* fall through */
  case FL_OP_SORT_PERM: fl_explain_step(p, line, "sort", "%s", keys(p, op)); return;
  case FL_OP_SORT_ROWS:
    keep_names(p, op, 0, op->n_args - op->n_results);
    fl_explain_step(p, line, "sort", "%s", keys(p, op));
    say_gather(p, op);
    return;
  case FL_OP_LIST_CONCAT: {
    const FlValue *part = fl_explain_joined(op);
    if (!part) break;
    fl_explain_set_name(p, op->results[0], fl_explain_name(p, part));
    return;
  }
  case FL_OP_KEY_SET: return; /* a part of what asks it */
  case FL_OP_TEXT_VALUES:
  case FL_OP_BY_CODES: return;   /* of the step that reads them */
  case FL_OP_GROUP_ROWS: return; /* the steps that it stands for are said */
  case FL_OP_IN_KEYS: {
    bool exact = op->attrs.i == 2;
    int first = op->attrs.i == 1 ? 2 : 1;
    fl_explain_step(p, line, "ask", "%s: among the %s of the other table",
                    fl_explain_names(p, exact ? 1 : op->n_args - first, op->args + first),
                    exact ? "values" : "keys");
    return;
  }
  case FL_OP_JOIN: fl_explain_step(p, line, "join", "%s", join_words(p, op)); return;
  case FL_OP_AGGREGATES:
    name_by_place(p, op);
    fl_explain_step(p, line, "aggregate", "%d aggregates in one sweep, over %s", op->attrs.n_columns,
                    fl_explain_size(p, op->args[0]));
    return;
  case FL_OP_AGGREGATE:
    name_by_place(p, op);
    fl_explain_step(p, line, "aggregate", "%s, over %s", fl_explain_source(p, op->span),
                    op->attrs.i ? "all rows" : fl_explain_size(p, op->args[0]));
    return;
  case FL_OP_CONCAT:
  case FL_OP_LIST_OF:
  case FL_OP_LIST_SUM:
  case FL_OP_SUM_BEGIN:
  case FL_OP_SUM_END:
  case FL_OP_SUM_PART:
  case FL_OP_SUM_LATE:
  case FL_OP_LIST_STACK:
  case FL_OP_RESHAPE:
  case FL_OP_TRANSPOSE:
  case FL_OP_BESIDE:
  case FL_OP_TOP_ROWS:
  case FL_OP_DISTINCT:
  case FL_OP_GROUP_ORDER:
  case FL_OP_RUNNING:
  case FL_OP_SHIFT_ROWS:
  case FL_OP_RANK:
  case FL_OP_ROLLING:
  case FL_OP_ROLLING_BOUNDS:
  case FL_OP_JOIN_RANGE:
  case FL_OP_JOIN_REST:
  case FL_OP_JOIN_ASOF:
  case FL_OP_PIVOT_ROWS:
  case FL_OP_SPLIT_ROWS:
  case FL_OP_GROUP_PARTS:
  case FL_OP_KFOLD_ROWS:
  case FL_OP_ENCODE_LEVELS:
  case FL_OP_LEVEL_CODE:
  case FL_OP_SAME_LEVELS:
  case FL_OP_SAME_COLUMNS:
  case FL_OP_LIST_LEVELS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_NOT_RUNTIME: break;
  }
  name_by_place(p, op);
  if (fl_ir_is_effect(op)) say_effect(p, op);
  else fl_explain_step(p, line, fl_op_info[op->code].name, "%s", fl_explain_source(p, op->span));
}

/* ---- functions ---- */

/* The arrays that the step cannot work on in parts: it may need any of their rows. */
static void say_whole(FlExplain *p, const FlPlanStep *s) {
  const FlUse *uses = s->kernel ? s->kernel->uses : s->uses;
  int n = s->kernel ? s->kernel->n_uses : s->uses ? s->op->n_args : 0, n_whole = 0;
  FlValue **whole = FL_NEW_ARRAY(p->arena, FlValue *, n + 1);
  for (int i = 0; i < n && !fl_ir_is_effect(s->op); i++)
    if (uses[i].rows == FL_ROWS_ANY) whole[n_whole++] = (FlValue *)(uintptr_t)uses[i].value;
  const char *names = fl_explain_names(p, n_whole, whole);
  if (names[0]) fl_explain_step(p, "", "", "needs all rows of %s", names);
}

static void say_step(FlExplain *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  int before = p->rows.n;
  fl_explain_where(p, s);
  switch (s->kind) {
  case FL_STEP_KERNEL:
  case FL_STEP_SERIAL: say_for_each(p, s); break;
  case FL_STEP_BULK: say_runtime(p, op); break;
  case FL_STEP_CONTROL: say_control(p, s); return;
  case FL_STEP_STAGE: say_stage(p, op); return;
  case FL_STEP_CALL:
    if (op->code != FL_OP_CALL) return;
    fl_explain_step(p, fl_explain_line(p, op->span), "call", "%s", op->attrs.func->name);
    name_by_place(p, op);
    return;
  case FL_STEP_VALUE: return;
  }
  bool tasks = s->kind == FL_STEP_KERNEL && !s->kernel_code; /* in which all is in one place */
  if (p->rows.n > before && !tasks) {
    say_whole(p, s);
    fl_explain_whole(p, s);
  }
}

static void say_body(FlExplain *p, const FlPlanBody *body) {
  for (int i = 0; i < body->steps.n; i++) say_step(p, body->steps.at[i]);
}

static void say_function(FlExplain *p, const FlPlanFunc *planned, FlText1 *out) {
  const FlFunc *f = planned->func;
  fl_text_addf(out, "\nstage %s, line %s\n", f->name, fl_explain_line(p, f->span));
  for (int i = 0; i < f->body->n_params; i++)
    if (!fl_explain_name(p, f->body->params[i]))
      fl_explain_set_name(p, f->body->params[i], fl_arena_printf(p->arena, "argument %d", i + 1));
  say_body(p, planned->body);
  if (!p->rows.n) fl_text_addz(out, "nothing that grows with the data\n");
  else put_rows(p, out);
}

void fl_explain_print(FlText1 *out, FlArena *arena, const FlPlan *plan, const FlSources *sources,
                      const FlRecord *last, int ranks) {
  const FlModule *m = plan->module;
  FlExplain p = {.plan = plan,
                 .arena = arena,
                 .module = m,
                 .sources = sources,
                 .last = last,
                 .ranks = ranks,
                 .where = ""};
  p.names = fl_map_make(arena);
  const FlRegion *body = m->main->body;
  for (int i = 0, at = 0; i < m->n_params && at < body->n_params; i++) {
    fl_explain_set_name(&p, body->params[at++], m->params[i].name);
    at += m->params[i].nullable;
  }
  say_body(&p, fl_plan_func(plan, m->main)->body);
  put_rows(&p, out);
  for (int i = 0; i < plan->funcs.n; i++)
    if (plan->funcs.at[i]->func->kind == FL_FUNC_STAGE) say_function(&p, plan->funcs.at[i], out);
  fl_explain_legend(&p, out);
}
