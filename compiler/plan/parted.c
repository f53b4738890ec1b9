/* parted.c: which arrays may be here in part, with the rest of their rows elsewhere
 * (docs/decisions/parted-arrays.md), and of which host code reads elements itself, through no door.
 *
 * In: the steps of all functions of a plan. Out: FlPlanFunc.whole and .read. What always holds: of an array
 * that may be parted every use has a parted form: it needs the row itself, rows near it, a fold of all, or an
 * exchange, or it hands the array on to a value that may be parted. Whoever needs any row makes it whole, and
 * with it all that flows into it: through branches, rounds, calls and stages. A branch that ends in an error
 * asks for nothing before it is taken: what it reads is made whole at its start (FlPlanBody.gathers), or at
 * the door. */
#include "plan/plan_internal.h"

typedef struct Parting {
  FlPlan *plan;
  FlMap *callers;              /* FlFunc -> Callers */
  FlVec(const FlValue *) todo; /* whole, and what flows into them is not yet */
  const FlPlanKernel *task;    /* in which the step stands, and which reads blocks of rows; NULL: none */
  FlPlanBody *error;           /* the branch around the step that ends in an error; NULL: none does */
  bool read;                   /* it is FlPlanFunc.read that is found */
} Parting;

typedef struct Callers {
  FlVec(const FlOp *) calls; /* of a function: CALL and STAGE */
} Callers;

static FlPlanFunc *func_of(const Parting *p, const FlFunc *f) { return fl_map_get(p->plan->of_func, f); }

/* `asks` does, or who makes it where that is NULL. */
static void make_whole(Parting *p, const FlValue *v, const FlOp *asks) {
  if (fl_t_is_scalar(v->type)) return;
  FlPlanFunc *f = func_of(p, v->region->func);
  bool *marks = p->read ? f->read : f->whole;
  if (marks[v->id]) return;
  marks[v->id] = true;
  if (!p->read) f->whole_for[v->id] = asks;
  fl_vec_push(p->plan->arena, &p->todo, v);
}

static void all_whole(Parting *p, int n, FlValue *const *values, const FlOp *asks) {
  for (int i = 0; i < n; i++) make_whole(p, values[i], asks);
}

/* ---- who needs the whole ------------------------------------------------------------------------------- */

/* Arrays of scalars alone. */
static bool takes_scalars(const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->type.depth) return false;
  return true;
}

/* Which rows it may have in parts: its own where it works on these, those that it folds where their states
 * are joined, those that it puts in order, joins, or takes by their numbers; for others it would
 * have to ask other parts, which is not built. */
static bool takes_parts(const FlPlanStep *s, FlInParts form, const FlUse *u) {
  FlRows rows = u->rows;
  if (form == FL_PARTS_SLICE) return true;
  if (form == FL_PARTS_TAKE && rows == FL_ROWS_MOVE) return !u->value->type.depth;
  if (form == FL_PARTS_ORDER || form == FL_PARTS_PAIRS) return rows == FL_ROWS_MOVE && takes_scalars(s->op);
  if (rows == FL_ROWS_OWN) return form != FL_PARTS_NONE && form != FL_PARTS_COLUMNS;
  return rows == FL_ROWS_FOLD &&
         (form == FL_PARTS_COLUMNS || form == FL_PARTS_PRODUCT || form == FL_PARTS_SWEEP);
}

/* The rows that a task reads are where it is run. */
static bool is_block(const Parting *p, const FlValue *v) { return p->task && fl_plan_is_block(p->task, v); }

/* It comes from outside of a branch that ends in an error. */
static bool enters_error(const Parting *p, const FlValue *v) {
  return p->error && !fl_ir_inside(v->region, p->error->region);
}

static bool ends_in_error(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_FAIL) return true;
    if (op->code == FL_OP_IF && ends_in_error(op->regions[0]) && ends_in_error(op->regions[1])) return true;
  }
  return false;
}

static void ask_uses(Parting *p, const FlPlanStep *s, int n, const FlUse *uses) {
  /* The loop around it says so of what it captures; all rows are wanted where something has failed alone. */
  if (s->op->code == FL_OP_ROW_PART) return;
  FlInParts form = fl_plan_parts_form(s);
  for (int i = 0; i < n && form != FL_PARTS_GROUPS; i++)
    if (uses[i].rows != FL_ROWS_NONE && !takes_parts(s, form, &uses[i]) && !is_block(p, uses[i].value) &&
        !enters_error(p, uses[i].value))
      make_whole(p, uses[i].value, s->op);
}

/* ---- lists of what the parts of a file gave ------------------------------------------------------------ */

static bool reads_parts(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if (op->code == FL_OP_TABLE_PART || op->code == FL_OP_ROW_PART) return true;
  return false;
}

/* Columns, of which no element knows of another. */
static bool is_list_of_columns(const FlValue *v) { return v->type.depth == 1 && v->type.rank == 1; }

/* What a use makes of a list of which the others made `known`. */
static uint8_t list_use(const FlOp *op, uint8_t known) {
  uint8_t use = op->code == FL_OP_SUM_BEGIN    ? FL_SOME_SUMMED
                : op->code == FL_OP_LIST_SUM   ? FL_ALL_SUMMED
                : op->code == FL_OP_LIST_STACK ? FL_ONLY_STACKED
                                               : FL_USED_ELSE;
  return !known || known == use ? use : FL_USED_ELSE;
}

/* Whoever names a list but to join it, or for its size; or else for sums of its arrays, or to stack it. */
static void use_lists(FlPlanFunc *f, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      if (!op->args[i]->type.depth || op->code == FL_OP_DIM) continue;
      uint8_t *use = &f->lists[op->args[i]->id];
      if (op->code != FL_OP_LIST_CONCAT) f->joined[op->args[i]->id] = false;
      *use = list_use(op, *use);
    }
    for (int i = 0; i < op->n_regions; i++) use_lists(f, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i]->type.depth) {
      f->joined[r->yields[i]->id] = false;
      f->lists[r->yields[i]->id] = FL_USED_ELSE;
    }
}

static void find_joined(const Parting *p, FlPlanFunc *f) {
  f->joined = FL_NEW_ARRAY(p->plan->arena, bool, f->func->next_id);
  f->lists = FL_NEW_ARRAY(p->plan->arena, uint8_t, f->func->next_id);
  for (int i = 0; i < f->body->steps.n; i++) {
    const FlPlanStep *s = f->body->steps.at[i];
    bool parts = s->kernel && s->kernel->form == FL_KERNEL_TASKS && s->op->n_args == 1 &&
                 reads_parts(s->op->regions[0]);
    for (int k = 0; parts && k < s->op->n_results; k++)
      f->joined[s->op->results[k]->id] = is_list_of_columns(s->op->results[k]);
  }
  use_lists(f, f->func->body);
  for (int i = 0; i < f->body->steps.n; i++) {
    FlPlanStep *s = f->body->steps.at[i];
    s->joins_parts = s->op->code == FL_OP_LIST_CONCAT && f->joined[s->op->args[0]->id];
  }
}

/* A list stays where all that it is joined to may be parted. */
static void keep_joined(FlPlanFunc *f) {
  for (int i = 0; i < f->body->steps.n; i++) {
    const FlPlanStep *s = f->body->steps.at[i];
    if (s->joins_parts && f->whole[s->op->results[0]->id]) f->joined[s->op->args[0]->id] = false;
  }
}

/* ---- who gives the whole ------------------------------------------------------------------------------- */

/* What makes its results by itself, or as views of other rows, makes them in one place. */
static bool gives_whole(const FlPlanStep *s) {
  const FlOp *op = s->op;
  FlDist dist = fl_op_info[op->code].dist;
  switch (s->kind) {
  case FL_STEP_KERNEL: return s->kernel->form == FL_KERNEL_COLUMNS || s->kernel->form == FL_KERNEL_TASKS;
  case FL_STEP_BULK:
    if (op->code == FL_OP_MATMUL && s->uses[0].rows == FL_ROWS_FOLD) return true;
    if (fl_plan_parts_form(s) == FL_PARTS_READ) return false;
    return (dist == FL_DIST_NONE || dist == FL_DIST_ALL) && !s->joins_parts;
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

static void ask_body(Parting *p, FlPlanBody *body, bool in_task);

static void gather_at(const Parting *p, FlPlanBody *error, FlValue *v) {
  for (int i = 0; i < error->gathers.n; i++)
    if (error->gathers.at[i] == v) return;
  fl_vec_push(p->plan->arena, &error->gathers, v);
}

/* Of a step that does. A loop of tasks that captures the array makes it whole at the door. */
static void ask_whole(Parting *p, const FlOp *op, bool in_task) {
  for (int i = 0; i < op->n_args; i++) {
    FlValue *v = op->args[i];
    if (is_block(p, v) || fl_t_is_scalar(v->type)) continue;
    if (!enters_error(p, v)) make_whole(p, v, op);
    else if (!in_task) gather_at(p, p->error, v);
  }
}

/* Branch i of the step; a task has no others to ask, whatever it ends in. */
static void ask_branch(Parting *p, const FlPlanStep *s, int i, bool in_task) {
  FlPlanBody *around = p->error, *body = s->inside[i];
  bool ends = s->op->code == FL_OP_IF && !in_task && !around && ends_in_error(body->region);
  if (ends) p->error = body;
  ask_body(p, body, in_task);
  p->error = around;
}

/* The branch whose other side is only taken where states of groups are not made, and all is whole. */
static bool stands_for_states(const Parting *p, const FlOp *branch) {
  const FlOp *rows = branch->code == FL_OP_IF ? branch->args[0]->op : NULL;
  return rows && rows->code == FL_OP_GROUP_ROWS &&
         fl_plan_parts_form(fl_plan_step(p->plan, rows)) == FL_PARTS_GROUPS;
}

/* Of a sweep of rows: whether result i has one for each of them, or is a sum of all. */
static bool sweeps_to_rows(const FlOp *op, int i) {
  return (op->code == FL_OP_NEAREST || op->code == FL_OP_NEAREST_MOVED) && i < 2;
}

static void ask_step(Parting *p, const FlPlanStep *s, bool in_task) {
  const FlOp *op = s->op;
  const FlPlanKernel *k = s->kernel;
  if (k) ask_uses(p, s, k->n_uses, k->uses);
  else if (s->uses) ask_uses(p, s, op->n_args, s->uses);
  if (takes_whole(s)) ask_whole(p, op, in_task);
  if (in_task || gives_whole(s)) all_whole(p, op->n_results, op->results, NULL);
  bool sweeps = fl_plan_parts_form(s) == FL_PARTS_SWEEP; /* its sums are made of what all ranks have */
  for (int i = 0; i < op->n_results; i++)
    if (op->results[i]->type.depth || (sweeps && !sweeps_to_rows(op, i))) make_whole(p, op->results[i], NULL);
  if (op->code == FL_OP_CALL || op->code == FL_OP_STAGE) {
    Callers *c = fl_map_get(p->callers, op->attrs.func);
    fl_vec_push(p->plan->arena, &c->calls, op);
  }
  const FlPlanKernel *around = p->task;
  if (k && k->block) p->task = k;
  for (int i = 0; s->inside && i < op->n_regions; i++)
    if (i == 0 || !stands_for_states(p, op)) ask_branch(p, s, i, in_task || op->code == FL_OP_MAP);
  p->task = around;
}

/* A task has no others to ask: in it everything is in one place. */
static void ask_body(Parting *p, FlPlanBody *body, bool in_task) {
  const FlRegion *r = body->region;
  for (int i = 0; i < r->n_params; i++)
    if (in_task || r->params[i]->type.depth) make_whole(p, r->params[i], NULL);
  for (int i = 0; i < body->steps.n; i++) ask_step(p, body->steps.at[i], in_task);
}

/* ---- what flows into a value --------------------------------------------------------------------------- */

static void rounds_whole(Parting *p, const FlOp *op, int i, const FlOp *asks) {
  bool counted = op->code == FL_OP_FOR; /* args: lo, hi, carried; region(i, carried) yields carried */
  const FlRegion *r = op->regions[0];
  make_whole(p, op->args[i + 2 * counted], asks);
  make_whole(p, r->params[i + counted], asks);
  make_whole(p, r->yields[i + !counted], asks);
  make_whole(p, op->results[i], asks);
}

/* The array whose rows result i has, which may be the result itself. */
static FlValue *handed_on(const FlOp *op, int i) {
  bool rows = op->code == FL_OP_TAKE || op->code == FL_OP_COMPRESS || op->code == FL_OP_ROW_PART;
  if (op->code == FL_OP_ROWS || op->code == FL_OP_TEXT_VALUES) return op->args[0];
  return rows ? op->args[op->n_args - op->n_results + i] : NULL;
}

static void result_whole(Parting *p, const FlOp *op, int i, const FlOp *asks) {
  FlValue *from = p->read ? handed_on(op, i) : NULL;
  if (from) make_whole(p, from, asks);
  if (fl_ir_is_rounds(op)) rounds_whole(p, op, i, asks);
  if (op->code == FL_OP_CALL || op->code == FL_OP_STAGE) make_whole(p, op->attrs.func->body->yields[i], asks);
  for (int k = 0; op->code == FL_OP_IF && k < op->n_regions; k++)
    make_whole(p, op->regions[k]->yields[i], asks);
}

static void param_whole(Parting *p, const FlRegion *r, int i, const FlOp *asks) {
  const FlOp *op = r->owner;
  if (op && fl_ir_is_rounds(op)) rounds_whole(p, op, i - (op->code == FL_OP_FOR), asks);
  if (op) return;
  const Callers *c = fl_map_get(p->callers, r->func);
  for (int k = 0; k < c->calls.n; k++) make_whole(p, c->calls.at[k]->args[i], asks);
}

static void spread(Parting *p) {
  for (int i = 0; i < p->todo.n; i++) {
    const FlValue *v = p->todo.at[i];
    const FlOp *asks = func_of(p, v->region->func)->whole_for[v->id];
    if (v->op) result_whole(p, v->op, v->index, asks);
    else param_whole(p, v->region, v->index, asks);
  }
}

/* ---- whose elements are read where that stands -------------------------------------------------------- */

static bool reads_elements(const FlOp *op) {
  return op->code == FL_OP_LOAD || op->code == FL_OP_STORE || op->code == FL_OP_PICK ||
         op->code == FL_OP_EXTERN;
}

/* In kernels only what says the group of an error, after they have ended: they come through the door. */
static void ask_reads(Parting *p, const FlRegion *r, bool in_kernel) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_WITHIN || (!in_kernel && reads_elements(op)))
      all_whole(p, op->n_args, op->args, op);
    const FlPlanStep *s = fl_plan_step(p->plan, op);
    bool kernel = s && s->kernel && s->kernel->form != FL_KERNEL_TASKS;
    for (int i = 0; i < op->n_regions; i++) ask_reads(p, op->regions[i], in_kernel || kernel);
  }
}

static void plan_apart(const FlPlan *p, const FlValue *v) {
  if (v->type.rank == 1 && !v->type.depth) fl_plan_func(p, v->region->func)->apart[v->id] = true;
}

/* Of values that a step takes: by rows, or to take some of these. */
static void ask_apart(FlPlan *plan, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    const FlPlanStep *s = fl_plan_step(plan, op);
    const FlPlanKernel *k = s ? s->kernel : NULL;
    for (int i = 0; k && k->form != FL_KERNEL_TASKS && i < k->n_uses; i++)
      if (k->uses[i].rows == FL_ROWS_OWN) plan_apart(plan, k->uses[i].value);
    for (int i = 0; fl_op_info[op->code].flags & FL_OPF_SELECTED && i < op->n_args; i++)
      plan_apart(plan, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) ask_apart(plan, op->regions[i]);
  }
}

int64_t fl_plan_apart(const FlPlan *p, const FlOp *op) {
  int64_t apart = 0, last = 1;
  for (int i = 0; op->code == FL_OP_COMPRESS && i < op->n_results; i++) {
    const FlValue *v = op->results[i];
    const FlPlanFunc *f = fl_plan_func(p, v->region->func);
    bool may = f->apart[v->id] && !f->read[v->id];
    if (i < FL_LAST_APART) apart |= (int64_t)may << i;
    else last &= may;
  }
  return op->n_results > FL_LAST_APART ? apart | last << FL_LAST_APART : apart;
}

int fl_plan_codes(const FlPlan *p, const FlOp *op) {
  int codes = fl_op_info[op->code].flags & FL_OPF_CODES ? FL_CODES_TAKEN : 0;
  if (fl_op_info[op->code].flags & FL_OPF_SELECTED) codes |= FL_SELECTED_TAKEN;
  for (int i = 0; i < op->n_results; i++) {
    const FlValue *v = op->results[i];
    if (v->type.dtype == FL_TEXT && fl_plan_func(p, v->region->func)->read[v->id]) return codes;
  }
  return codes | FL_CODES_GIVEN;
}

void fl_plan_find_parted(FlPlan *plan) {
  Parting p = {.plan = plan, .callers = fl_map_make(plan->arena)};
  for (int i = 0; i < plan->funcs.n; i++) {
    FlPlanFunc *f = plan->funcs.at[i];
    f->whole = FL_NEW_ARRAY(plan->arena, bool, f->func->next_id);
    f->read = FL_NEW_ARRAY(plan->arena, bool, f->func->next_id);
    f->apart = FL_NEW_ARRAY(plan->arena, bool, f->func->next_id);
    f->whole_for = FL_NEW_ARRAY(plan->arena, const FlOp *, f->func->next_id);
    fl_map_set(p.callers, f->func, FL_NEW(plan->arena, Callers));
    find_joined(&p, f);
  }
  for (int i = 0; i < plan->funcs.n; i++)
    ask_body(&p, plan->funcs.at[i]->body, plan->funcs.at[i]->func->recursive);
  spread(&p);
  for (int i = 0; i < plan->funcs.n; i++) keep_joined(plan->funcs.at[i]);
  Parting q = {.plan = plan, .callers = p.callers, .read = true};
  for (int i = 0; i < plan->funcs.n; i++) ask_reads(&q, plan->funcs.at[i]->func->body, false);
  spread(&q);
  for (int i = 0; i < plan->funcs.n; i++) ask_apart(plan, plan->funcs.at[i]->func->body);
}
