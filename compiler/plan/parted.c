/* parted.c: which arrays may be here in part, with the rest of their rows elsewhere
 * (docs/decisions/parted-arrays.md).
 *
 * In: the steps of all functions of a plan. Out: FlPlanFunc.whole. What always holds: of an array that may be
 * parted every use has a parted form: it needs the row itself, rows near it, a fold of all, or an exchange,
 * or it hands the array on to a value that may be parted. Whoever needs any row makes it whole, and with it
 * all that flows into it: through branches, rounds, calls and stages. */
#include "plan/plan_internal.h"

typedef struct Parting {
  FlPlan *plan;
  FlMap *callers;              /* FlFunc -> Callers */
  FlVec(const FlValue *) todo; /* whole, and what flows into them is not yet */
} Parting;

typedef struct Callers {
  FlVec(const FlOp *) calls; /* of a function: CALL and STAGE */
} Callers;

static FlPlanFunc *func_of(const Parting *p, const FlFunc *f) { return fl_map_get(p->plan->of_func, f); }

static void make_whole(Parting *p, const FlValue *v) {
  if (fl_t_is_scalar(v->type)) return;
  bool *whole = func_of(p, v->region->func)->whole;
  if (whole[v->id]) return;
  whole[v->id] = true;
  fl_vec_push(p->plan->arena, &p->todo, v);
}

static void all_whole(Parting *p, int n, FlValue *const *values) {
  for (int i = 0; i < n; i++) make_whole(p, values[i]);
}

/* ---- who needs the whole ------------------------------------------------------------------------------- */

static void ask_uses(Parting *p, int n, const FlUse *uses, bool by_tasks) {
  for (int i = 0; i < n; i++)
    if (uses[i].rows == FL_ROWS_ANY || (by_tasks && uses[i].rows != FL_ROWS_NONE))
      make_whole(p, uses[i].value);
}

/* What makes its results by itself, or as views of other rows, makes them in one place. */
static bool gives_whole(const FlPlanStep *s) {
  const FlOp *op = s->op;
  FlDist dist = fl_op_info[op->code].dist;
  switch (s->kind) {
  case FL_STEP_KERNEL: return s->kernel->form == FL_KERNEL_COLUMNS || s->kernel->form == FL_KERNEL_TASKS;
  case FL_STEP_BULK: return dist == FL_DIST_NONE || dist == FL_DIST_ALL;
  case FL_STEP_CALL: return op->code == FL_OP_EXTERN || op->attrs.func->recursive;
  case FL_STEP_CONTROL:
  case FL_STEP_STAGE: return false;
  case FL_STEP_VALUE:
  case FL_STEP_SERIAL: break;
  }
  return true;
}

/* Whether it reads elements of arrays where it stands, or gives them to somebody who may. */
static bool takes_whole(const FlPlanStep *s) {
  const FlOp *op = s->op;
  return op->code == FL_OP_LOAD || op->code == FL_OP_STORE || op->code == FL_OP_EXTERN ||
         (s->kind == FL_STEP_CALL && op->attrs.func->recursive);
}

static void ask_body(Parting *p, const FlPlanBody *body, bool in_task);

static void ask_step(Parting *p, const FlPlanStep *s, bool in_task) {
  const FlOp *op = s->op;
  const FlPlanKernel *k = s->kernel;
  if (k) ask_uses(p, k->n_uses, k->uses, k->form == FL_KERNEL_TASKS);
  else if (s->uses) ask_uses(p, op->n_args, s->uses, false);
  if (takes_whole(s)) all_whole(p, op->n_args, op->args);
  if (in_task || gives_whole(s)) all_whole(p, op->n_results, op->results);
  for (int i = 0; i < op->n_results; i++)
    if (op->results[i]->type.depth) make_whole(p, op->results[i]);
  if (op->code == FL_OP_CALL || op->code == FL_OP_STAGE) {
    Callers *c = fl_map_get(p->callers, op->attrs.func);
    fl_vec_push(p->plan->arena, &c->calls, op);
  }
  for (int i = 0; s->inside && i < op->n_regions; i++)
    ask_body(p, s->inside[i], in_task || op->code == FL_OP_MAP);
}

/* A task has no others to ask: in it everything is in one place. */
static void ask_body(Parting *p, const FlPlanBody *body, bool in_task) {
  const FlRegion *r = body->region;
  for (int i = 0; i < r->n_params; i++)
    if (in_task || r->params[i]->type.depth) make_whole(p, r->params[i]);
  for (int i = 0; i < body->steps.n; i++) ask_step(p, body->steps.at[i], in_task);
}

/* ---- what flows into a value --------------------------------------------------------------------------- */

static void rounds_whole(Parting *p, const FlOp *op, int i) {
  bool counted = op->code == FL_OP_FOR; /* args: lo, hi, carried; region(i, carried) yields carried */
  const FlRegion *r = op->regions[0];
  make_whole(p, op->args[i + 2 * counted]);
  make_whole(p, r->params[i + counted]);
  make_whole(p, r->yields[i + !counted]);
  make_whole(p, op->results[i]);
}

static void result_whole(Parting *p, const FlOp *op, int i) {
  if (fl_ir_is_rounds(op)) rounds_whole(p, op, i);
  if (op->code == FL_OP_CALL || op->code == FL_OP_STAGE) make_whole(p, op->attrs.func->body->yields[i]);
  for (int k = 0; op->code == FL_OP_IF && k < op->n_regions; k++) make_whole(p, op->regions[k]->yields[i]);
}

static void param_whole(Parting *p, const FlRegion *r, int i) {
  const FlOp *op = r->owner;
  if (op && fl_ir_is_rounds(op)) rounds_whole(p, op, i - (op->code == FL_OP_FOR));
  if (op) return;
  const Callers *c = fl_map_get(p->callers, r->func);
  for (int k = 0; k < c->calls.n; k++) make_whole(p, c->calls.at[k]->args[i]);
}

void fl_plan_find_parted(FlPlan *plan) {
  Parting p = {.plan = plan, .callers = fl_map_make(plan->arena)};
  for (int i = 0; i < plan->funcs.n; i++) {
    FlPlanFunc *f = plan->funcs.at[i];
    f->whole = FL_NEW_ARRAY(plan->arena, bool, f->func->next_id);
    fl_map_set(p.callers, f->func, FL_NEW(plan->arena, Callers));
  }
  for (int i = 0; i < plan->funcs.n; i++)
    ask_body(&p, plan->funcs.at[i]->body, plan->funcs.at[i]->func->recursive);
  for (int i = 0; i < p.todo.n; i++) {
    const FlValue *v = p.todo.at[i];
    if (v->op) result_whole(&p, v->op, v->index);
    else param_whole(&p, v->region, v->index);
  }
}
