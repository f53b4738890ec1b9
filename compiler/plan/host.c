/* host.c: what is decided of host code as a whole: when stage calls are waited for, which code is a table of
 * steps (docs/decisions/steps.md), what is worth optimising, which arrays are worth a view. */
#include "plan/plan_internal.h"

/* Rows and places of a table that is worth it where its rows share code, and of one that is in any case; what
 * a kernel counts for. */
enum { LARGE = 150, ANY = 3000, KERNEL = 8 };
enum { LITTLE = 16 };                             /* operations of a round */
enum { MOST_LOOPS = 1000, MOST_BRANCHES = 2000 }; /* of one function that is optimised */

/* ---- stage calls --------------------------------------------------------------------------------------- */

static bool needs(const FlOp *op, const FlOp *stage) {
  for (int k = 0; k < stage->n_results; k++) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == stage->results[k]) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ir_uses(op->regions[i], stage->results[k])) return true;
  }
  return false;
}

/* Does op record errors outside of this function's own code, where an earlier stage's could not be asked for
 * first? */
static bool records_errors(const FlOp *op) {
  if (op->code == FL_OP_STAGE) return true;
  bool own_code = fl_op_info[op->code].op_class == FL_CLASS_SCALAR || op->code == FL_OP_LOAD ||
                  op->code == FL_OP_STORE || op->code == FL_OP_CHECK || op->code == FL_OP_FAIL ||
                  (op->code == FL_OP_EXTERN && fl_t_is_scalar(op->results[0]->type));
  bool control = fl_op_info[op->code].family == FL_FAMILY_CONTROL || op->code == FL_OP_SCAN;
  if (own_code) return false;
  if (!control) return fl_ir_may_fault(op);
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (records_errors(in)) return true;
  return false;
}

int fl_plan_waits(const FlPlanner *m, const FlPlanStep *s, int first) {
  const FlOp *op = s->op;
  if (m->running.n == first) return 0;
  int end = first;
  bool elsewhere = s->loop && fl_ir_region_may_fault(op->regions[0]);
  bool all = elsewhere || fl_ir_is_effect(op) || (op->code != FL_OP_STAGE && records_errors(op));
  for (int i = first; i < m->running.n; i++)
    if (all || needs(op, m->running.at[i])) end = i + 1;
  return end - first;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

bool fl_plan_fits_table(const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (fl_op_info[op->code].op_class != FL_CLASS_STRUCT) return true;
  switch (op->code) {
  case FL_OP_MAP: return s->kernel_code || !fl_ir_within(op); /* fl_map_tasks says no group */
  case FL_OP_REDUCE:
  case FL_OP_COLLECT: return s->kernel_code;
  case FL_OP_ARRAY:
  case FL_OP_CALL:
  case FL_OP_CHECK:
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_FAIL:
  case FL_OP_LOAD: return true;
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OP_SCAN:
  case FL_OP_CUSTOM:
  case FL_OP_STAGE:
  case FL_OP_EXTERN:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OPS_CONTROL:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

static bool is_table(const FlPlanBody *body) {
  int n = body->region->n_yields;
  for (int i = 0; i < body->steps.n && n < ANY; i++) {
    const FlOp *op = body->steps.at[i]->op;
    if (op->code != FL_OP_CONST && fl_plan_fits_table(body->steps.at[i]))
      n += 1 + op->n_args + op->n_results + (op->n_regions ? KERNEL : 0);
  }
  return n >= ANY || (n >= LARGE && fl_plan_shares_steps(body));
}

/* The body and those inside of it, but for tasks and loops that are functions of their own. */
static bool find_tables(FlPlanBody *body) {
  bool found = body->table = is_table(body);
  for (int i = 0; i < body->steps.n; i++) {
    const FlPlanStep *s = body->steps.at[i];
    for (int k = 0; s->inside && k < s->op->n_regions && s->op->code != FL_OP_MAP && !s->loop; k++)
      found |= find_tables(s->inside[k]);
  }
  return found;
}

/* ---- what is worth optimising -------------------------------------------------------------------------- */

static bool is_work(const FlOp *op) {
  bool bulk = op->code == FL_OP_MAP || op->code == FL_OP_REDUCE || op->code == FL_OP_COLLECT ||
              op->code == FL_OP_STAGE;
  return bulk || fl_op_info[op->code].op_class == FL_CLASS_RUNTIME;
}

static bool starts_work(const FlRegion *r);

static bool branch_starts_work(const FlOp *op) {
  return op->code == FL_OP_IF && (starts_work(op->regions[0]) || starts_work(op->regions[1]));
}

/* Does the region start work beside which its own code takes no time? In a branch, as that of a round which
 * may be the last one, only where there is little beside it: work may be rare. */
static bool starts_work(const FlRegion *r) {
  bool branches = false, little = true;
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (is_work(op)) return true;
    bool branch = branch_starts_work(op);
    branches |= branch;
    little = little && (branch || (!op->n_regions && op->code != FL_OP_LOAD && op->code != FL_OP_STORE)) &&
             (n += op->code != FL_OP_CONST) <= LITTLE;
  }
  return branches && little;
}

/* LLVM's trees of dominators take the square of the number of loops that stand one behind the other. */
static bool has_too_many_loops(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op && n <= MOST_LOOPS; op = op->next)
    n += fl_ir_is_rounds(op) || op->code == FL_OP_SCAN;
  return n > MOST_LOOPS;
}

/* Passes over loops look at each edge out of a loop, and at all of them again for what is used behind it. */
static int count_branches(const FlRegion *r, int most) {
  int n = 0;
  for (const FlOp *op = r->first; op && n <= most; op = op->next) {
    n += op->code == FL_OP_IF;
    for (int i = 0; i < op->n_regions && op->code != FL_OP_MAP; i++)
      n += count_branches(op->regions[i], most - n);
  }
  return n;
}

const FlPlanKernel *fl_plan_loop(FlPlanner *m, const FlPlanStep *s) {
  const FlOp *op = s->op;
  bool serial = (op->code == FL_OP_REDUCE || op->code == FL_OP_COLLECT) && !s->kernel_code;
  if (m->in_loop || !(fl_ir_is_rounds(op) || op->code == FL_OP_SCAN || serial)) return NULL;
  const FlRegion *r = op->regions[0];
  if (starts_work(r) || has_too_many_loops(r) || m->n_loops >= MOST_LOOPS ||
      count_branches(r, MOST_BRANCHES) > MOST_BRANCHES)
    return NULL;
  m->n_loops++;
  FlPlanKernel *k = FL_NEW(m->plan->arena, FlPlanKernel);
  *k =
      (FlPlanKernel){.op = op, .region = r, .form = FL_KERNEL_ROUNDS, .unit = 1, .weight = fl_plan_weight(r)};
  k->uses = fl_plan_captures(m, op, NULL, &k->n_uses);
  if (op->code != FL_OP_WHILE && fl_plan_cost_is_known(r)) k->cost = fl_plan_cost(m->plan->arena, r);
  return k;
}

/* ---- views --------------------------------------------------------------------------------------------- */

/* Is op inside a loop that v is outside of? */
static bool loops_since(const FlOp *op, const FlValue *v) {
  for (const FlRegion *r = op->parent; r && r != v->region; r = r->owner ? r->owner->parent : NULL)
    if (r->owner && r->owner->code != FL_OP_IF) return true;
  return false;
}

/* Finds the arrays of host code that loops read or write element by element; kernels and tasks have views of
 * their own. */
static void find_looped(FlPlanner *m, FlMap *looped, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool asks = op->code == FL_OP_LOAD || op->code == FL_OP_STORE || op->code == FL_OP_DIM;
    bool in_loop = r->owner && fl_ir_is_rounds(r->owner);
    if (asks && (in_loop || loops_since(op, op->args[0]))) {
      fl_map_set(looped, op->args[0], (void *)(uintptr_t)op);
      fl_map_set(looped, fl_in_place_object(m->in_place, op->args[0]), (void *)(uintptr_t)op);
    }
    for (int i = 0; i < op->n_regions; i++)
      if (op->code != FL_OP_MAP) find_looped(m, looped, op->regions[i]);
  }
}

void fl_plan_root(FlPlanner *m, FlPlanBody *body) {
  body->looped = fl_map_make(m->plan->arena);
  body->holds_table = find_tables(body);
  if (body->holds_table) {
    FlPlanTable t = {fl_interner_make(m->plan->arena), fl_map_make(m->plan->arena), 0};
    fl_plan_rows(m, &t, body);
  }
  find_looped(m, body->looped, body->region);
  if (m->plan->level) fl_plan_find_strips(body);
}
