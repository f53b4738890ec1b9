/* kernel.c: how a loop over an index space runs on the pool; see FlPlanKernel in plan.h. */
#include "opt/bounds.h"
#include "opt/columns.h"
#include "plan/plan_internal.h"

enum {
  COLUMNS_UNIT = 512, /* columns that a worker takes at least, next to each other, where there are many */
  MOST_DRAWS = 4,     /* random numbers an element that are drawn by tiles, */
  MOST_READS = 4,     /* and reads that are asked for ahead */
  MOST_CHEAP = 24     /* operations */
};

int fl_plan_weight(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op && n <= FL_CODE_SLOW; op = op->next) {
    bool maths = fl_op_info[op->code].flags & FL_OPF_MATHS;
    n += maths || op->code == FL_OP_REDUCE ? 60 : fl_ir_may_fault(op) ? 8 : 2;
    for (int i = 0; i < op->n_regions; i++) n += fl_plan_weight(op->regions[i]);
  }
  return n;
}

/* Does an element take so long that wider vectors than those of most processors pay? */
static bool is_heavy(const FlRegion *r) {
  double cost = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->n_regions) return true;
    cost += fl_op_info[op->code].cost;
  }
  return cost > 4;
}

/* An array is written over when it dies here, has the result's element type, is only read at the element's
 * own position, and nothing can fail (a fault would find its input overwritten). */
static const FlValue *written_over(const FlPlanKernel *k, FlType1 t) {
  if (k->faults || fl_dtype_is_text(t.dtype)) return NULL;
  for (int i = 0; i < k->n_uses; i++) {
    const FlUse *u = &k->uses[i];
    if (u->dies && u->element && fl_t_same(u->value->type, t)) return u->value;
  }
  return NULL;
}

/* Only one result of a kernel is: results never overlap. */
static void find_over(FlArena *arena, FlPlanKernel *k) {
  const FlOp *op = k->op;
  int first = 0;
  if (op->code == FL_OP_COLLECT || (op->code == FL_OP_MAP && op->n_results != 1)) return;
  while (first < op->n_results && fl_t_is_scalar(op->results[first]->type)) first++;
  if (first == op->n_results) return;
  const FlValue *over = written_over(k, op->results[first]->type);
  if (!over) return;
  k->over = FL_NEW_ARRAY(arena, const FlValue *, op->n_results);
  k->over[first] = over;
}

/* Is v the same for all elements of r? */
static bool is_fixed(const FlRegion *r, const FlValue *v) {
  return (v->op && v->op->code == FL_OP_CONST) || !fl_ir_inside(v->region, r);
}

static void find_draws(FlArena *arena, FlPlanKernel *k) {
  const FlRegion *r = k->region;
  const FlOp *draws[MOST_DRAWS], *reads[MOST_READS];
  if (r->n_params != 1) return;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_RANDOM && k->n_draws < MOST_DRAWS && op->args[1] == r->params[0] &&
        is_fixed(r, op->args[0]) && is_fixed(r, op->args[2]))
      draws[k->n_draws++] = op;
    if (op->code == FL_OP_LOAD && k->n_reads < MOST_READS && op->n_args == 2 && op->args[1] == r->params[0] &&
        fl_t_is_scalar(op->results[0]->type) && is_fixed(r, op->args[0]))
      reads[k->n_reads++] = op;
  }
  if (!k->n_draws) k->n_reads = 0;
  k->draws = FL_NEW_ARRAY(arena, const FlOp *, k->n_draws);
  k->reads = FL_NEW_ARRAY(arena, const FlOp *, k->n_reads);
  for (int i = 0; i < k->n_draws; i++) k->draws[i] = draws[i];
  for (int i = 0; i < k->n_reads; i++) k->reads[i] = reads[i];
}

/* Is an element of it cheap, without loops, texts and faults? */
static bool is_cheap(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    const FlOpInfo *info = &fl_op_info[op->code];
    bool plain = info->op_class == FL_CLASS_SCALAR
                     ? !(info->flags & FL_OPF_HEAP)
                     : op->code == FL_OP_CONST || op->code == FL_OP_DIM || op->code == FL_OP_PICK ||
                           (op->code == FL_OP_LOAD && fl_t_is_scalar(op->results[0]->type));
    if (!plain || fl_ir_may_fault(op) || n++ >= MOST_CHEAP) return false;
  }
  return true;
}

/* What is known of operations within a kernel. */
static void look_inside(FlPlan *p, const FlRegion *r, bool faults) {
  for (const FlOp *op = r->first; op; op = op->next) {
    void *self = (void *)(uintptr_t)op;
    bool proven = faults && op->code == FL_OP_LOAD && op->attrs.i;
    if (proven && (op->attrs.i == 2 || fl_opt_reads_inside(op))) fl_map_set(p->firm, op, self);
    if (op->code == FL_OP_REDUCE && is_cheap(op->regions[0])) fl_map_set(p->cheap, op, self);
    for (int i = 0; i < op->n_regions; i++) look_inside(p, op->regions[i], faults);
  }
}

static bool passes_texts_on(const FlPlanKernel *k) {
  bool gives = false, takes = false;
  for (int i = 0; i < k->op->n_results; i++) gives |= fl_dtype_is_text(k->op->results[i]->type.dtype);
  for (int i = 0; i < k->n_uses; i++) takes |= fl_type_is_text(k->uses[i].value->type);
  return gives && takes;
}

const FlPlanKernel *fl_plan_kernel(FlPlanner *m, const FlOp *op, bool code) {
  FlPlan *p = m->plan;
  FlPlanKernel *k = FL_NEW(p->arena, FlPlanKernel);
  *k = (FlPlanKernel){.op = op, .region = op->regions[0], .form = FL_KERNEL_TASKS, .unit = 1};
  if (code && p->level && op->code == FL_OP_MAP) k->fold = fl_opt_column_fold(op);
  k->uses = fl_plan_captures(m, op, k->fold, &k->n_uses);
  if (!code) {
    k->block = fl_plan_find_blocks(op, k->n_uses, (FlUse *)(uintptr_t)k->uses);
    return k;
  }
  k->faults = fl_ir_region_may_fault(k->region);
  k->makes_texts = fl_ir_makes_text(k->region);
  k->gives_texts = k->makes_texts || passes_texts_on(k);
  k->heavy = is_heavy(k->region);
  k->weight = fl_plan_weight(k->region);
  k->cost = fl_plan_cost(p->arena, k->region);
  if (op->code == FL_OP_MAP) {
    k->form = k->fold ? FL_KERNEL_COLUMNS : FL_KERNEL_ELEMENTS;
    k->unit = k->fold ? COLUMNS_UNIT : 1;
    k->n_outputs = op->n_results;
  } else {
    bool folds = op->code == FL_OP_REDUCE;
    k->form = folds ? FL_KERNEL_BLOCKS : FL_KERNEL_KEPT;
    k->unit = FL_BLOCK;
    k->n_outputs = folds ? 1 : k->region->n_yields;
    for (int i = 0; folds && i < op->n_results; i++) k->n_outputs += !fl_t_is_scalar(op->results[i]->type);
  }
  find_over(p->arena, k);
  if (p->level) find_draws(p->arena, k);
  if (op->code == FL_OP_REDUCE && is_cheap(k->region)) fl_map_set(p->cheap, op, (void *)(uintptr_t)op);
  look_inside(p, k->region, k->faults);
  return k;
}
