/* plan.c: the walk over a module that makes its plan; see plan.h. */
#include "plan/plan_internal.h"

/* ---- what is read last --------------------------------------------------------------------------------- */

/* Whether this argument, which is read in no other place, is not read after the op. */
static bool is_last(const FlPlanStep *s, int arg) {
  const FlOp *op = s->op;
  if (!s->uses[arg].dies) return false;
  for (int i = 0; i < op->n_args; i++)
    if (i != arg && op->args[i] == op->args[arg]) return false;
  return true;
}

/* A TAKE that is the last to read its numbers says so, so that their memory can be used while it makes its
 * results; likewise SORT_VALUES its column, a MATMUL_ADD what it adds to, and a NEAREST_MOVED labels or gaps.
 */
static int64_t lasts(const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (op->code == FL_OP_TAKE) return op->attrs.i & FL_TAKE_PROVEN && is_last(s, 0) ? FL_TAKE_LAST : 0;
  if (op->code == FL_OP_SORT_VALUES) return is_last(s, 0) ? FL_SORT_LAST : 0;
  if (op->code == FL_OP_MATMUL_ADD) return is_last(s, 0) ? FL_MATMUL_LAST : 0;
  if (op->code != FL_OP_NEAREST_MOVED) return 0;
  return (is_last(s, 3) ? FL_NEAREST_LAST_LABEL : 0) | (is_last(s, 4) ? FL_NEAREST_LAST_GAP : 0);
}

/* ---- who owns what ------------------------------------------------------------------------------------- */

static const bool *takes(const FlPlanner *m, const FlOp *op) {
  bool *out = NULL;
  int n = op->code == FL_OP_STORE ? 1 : op->n_args;
  for (int i = 0; i < n; i++) {
    if (!fl_lifetime_consumes(m->func->life, op, i)) continue;
    if (!out) out = FL_NEW_ARRAY(m->plan->arena, bool, op->n_args);
    out[i] = true;
  }
  return out;
}

static const FlCarry *holds(const FlPlanner *m, const FlOp *op) {
  FlCarry *out = FL_NEW_ARRAY(m->plan->arena, FlCarry, op->n_results + 1);
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) out[i] = fl_in_place_carry(m->in_place, op, i);
  return out;
}

static const bool *same(const FlPlanner *m, const FlOp *op) {
  bool *out = FL_NEW_ARRAY(m->plan->arena, bool, op->n_results + 1);
  for (int i = 0; i < op->n_results; i++)
    out[i] = !fl_t_is_scalar(op->results[i]->type) && fl_in_place_branches(m->in_place, op, i);
  return out;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static FlPlanKind kind_of(const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (fl_op_info[op->code].op_class == FL_CLASS_RUNTIME) return FL_STEP_BULK;
  switch (op->code) {
  case FL_OP_MAP: return FL_STEP_KERNEL;
  case FL_OP_REDUCE: return s->kernel_code && !fl_ir_reduces_in_order(op) ? FL_STEP_KERNEL : FL_STEP_SERIAL;
  case FL_OP_COLLECT: return s->kernel_code ? FL_STEP_KERNEL : FL_STEP_SERIAL;
  case FL_OP_SCAN: return FL_STEP_SERIAL;
  case FL_OPS_CONTROL: return FL_STEP_CONTROL;
  case FL_OP_STAGE: return FL_STEP_STAGE;
  case FL_OP_CALL:
  case FL_OP_EXTERN: return FL_STEP_CALL;
  case FL_OP_CUSTOM:
  case FL_OPS_ACCESS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return FL_STEP_VALUE;
}

static const FlValue *view_of(const FlOp *op) {
  bool element = op->code == FL_OP_LOAD && !fl_t_is_scalar(op->results[0]->type);
  return element || op->code == FL_OP_ROWS || op->code == FL_OP_RESHAPE ? op->args[0] : NULL;
}

static FlPlanBody *make_body(FlPlanner *m, const FlRegion *r);

/* Kernel code has no steps of its own. */
static FlPlanBody *const *make_inside(FlPlanner *m, const FlPlanStep *s) {
  const FlOp *op = s->op;
  bool runs_once = op->code != FL_OP_MAP; /* and not in a function of its own */
  bool kernel = s->kernel && s->kernel_code;
  if (!op->n_regions || kernel || s->kind == FL_STEP_BULK) return NULL;
  FlPlanBody **inside = FL_NEW_ARRAY(m->plan->arena, FlPlanBody *, op->n_regions);
  FlPlanner *own = m;
  if (!runs_once) {
    own = FL_NEW(m->plan->arena, FlPlanner);
    *own = (FlPlanner){.plan = m->plan, .roots = m->roots, .func = m->func, .in_place = m->in_place};
  }
  bool in_loop = own->in_loop;
  own->in_loop |= s->loop != NULL;
  for (int i = 0; i < op->n_regions; i++) inside[i] = make_body(own, op->regions[i]);
  own->in_loop = in_loop;
  if (!runs_once) fl_vec_push(m->plan->arena, m->roots, ((FlPlanRoot){own, inside[0]}));
  return inside;
}

static FlPlanStep *make_step(FlPlanner *m, const FlOp *op, int first) {
  FlPlan *p = m->plan;
  FlPlanStep *s = FL_NEW(p->arena, FlPlanStep);
  s->op = op;
  s->kernel_code = op->n_regions && op->code != FL_OP_IF && fl_ir_is_kernel(op->regions[0]);
  p->wide |= s->kernel_code && fl_plan_weight(op->regions[0]) > FL_CODE_WIDE;
  s->kind = kind_of(s);
  s->view_of = view_of(op);
  /* What may fail asks the calls that run first. */
  s->in_table = fl_plan_fits_table(s) && (m->running.n == 0 || op->code == FL_OP_CONST);
  s->loop = fl_plan_loop(m, s);
  s->waits = fl_plan_waits(m, s, first);
  m->running.n -= s->waits;
  for (int i = first; i < m->running.n; i++) m->running.at[i] = m->running.at[i + s->waits];
  s->n_dead = fl_lifetime_dead_after(m->func->life, op, &s->dead);
  if (s->kind == FL_STEP_BULK) s->uses = fl_plan_args(m, op);
  if (s->uses && p->level) s->lasts = lasts(s);
  if (s->kind == FL_STEP_KERNEL) s->kernel = fl_plan_kernel(m, op, s->kernel_code);
  if (fl_ir_is_rounds(op)) s->holds = holds(m, op);
  if (op->code == FL_OP_IF) s->same = same(m, op);
  if (op->code == FL_OP_STORE) s->writes = fl_in_place_store(m->in_place, op);
  if (fl_ir_is_rounds(op) || op->code == FL_OP_STORE) s->takes = takes(m, op);
  fl_map_set(p->steps, op, s);
  s->inside = make_inside(m, s);
  if (op->code == FL_OP_STAGE) fl_vec_push(p->arena, &m->running, op);
  return s;
}

static FlPlanBody *make_body(FlPlanner *m, const FlRegion *r) {
  FlPlan *p = m->plan;
  FlPlanBody *body = FL_NEW(p->arena, FlPlanBody);
  bool *moves = FL_NEW_ARRAY(p->arena, bool, r->n_yields + 1);
  int first = m->running.n;
  body->region = r;
  body->n_unused = fl_lifetime_dead_at_start(m->func->life, r, &body->unused);
  for (int i = 0; i < r->n_yields; i++) moves[i] = fl_lifetime_moves(m->func->life, r, i);
  body->moves = moves;
  fl_map_set(p->bodies, r, body);
  for (const FlOp *op = r->first; op; op = op->next)
    fl_vec_push(p->arena, &body->steps, make_step(m, op, first));
  m->running.n = first;
  return body;
}

/* ---- functions ----------------------------------------------------------------------------------------- */

static void make_func(FlPlan *p, FlPlanRoots *roots, const FlFunc *f) {
  FlPlanFunc *func = FL_NEW(p->arena, FlPlanFunc);
  FlPlanner *m = FL_NEW(p->arena, FlPlanner);
  *m = (FlPlanner){.plan = p, .roots = roots, .func = func};
  func->func = f;
  func->life = fl_lifetime_make(p->arena, f);
  m->in_place = fl_in_place_make(p->arena, func->life, f);
  func->body = make_body(m, f->body);
  fl_vec_push(p->arena, roots, ((FlPlanRoot){m, func->body}));
  fl_vec_push(p->arena, &p->funcs, func);
  fl_map_set(p->of_func, f, func);
}

static bool communicates(FlPlan *p, FlPlanFunc *f);

static bool body_communicates(FlPlan *p, const FlPlanBody *body) {
  for (int i = 0; i < body->steps.n; i++) {
    const FlPlanStep *s = body->steps.at[i];
    if (fl_plan_crosses_parts(s)) return true;
    if (s->op->attrs.func && communicates(p, fl_map_get(p->of_func, s->op->attrs.func))) return true;
    /* A task has its own element, and what it takes from around it is among the uses. */
    for (int k = 0; s->inside && k < s->op->n_regions && s->op->code != FL_OP_MAP; k++)
      if (body_communicates(p, s->inside[k])) return true;
  }
  return false;
}

/* Of a recursion nobody asks further. */
static bool communicates(FlPlan *p, FlPlanFunc *f) {
  if (!f->asked) {
    f->asked = f->communicates = true;
    f->communicates = f->func->recursive || body_communicates(p, f->body);
  }
  return f->communicates;
}

FlPlan *fl_plan_make(FlArena *arena, const FlModule *m, int level) {
  FlPlan *p = FL_NEW(arena, FlPlan);
  *p = (FlPlan){.arena = arena, .module = m, .level = level};
  p->steps = fl_map_make(arena);
  p->bodies = fl_map_make(arena);
  p->of_func = fl_map_make(arena);
  p->firm = fl_map_make(arena);
  p->cheap = fl_map_make(arena);
  FlPlanRoots roots = {0};
  for (const FlFunc *f = m->first; f; f = f->next) make_func(p, &roots, f);
  for (int i = 0; i < p->funcs.n; i++) communicates(p, p->funcs.at[i]);
  fl_plan_find_parted(p);
  for (int i = 0; i < roots.n; i++) fl_plan_root(roots.at[i].of, roots.at[i].body);
  return p;
}
