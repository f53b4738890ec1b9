/* cost.c: what an element of a kernel costs, of which the sizes of tasks are made: the sum of what its
 * operators cost, by ops.def, times how often its loops run, as far as that is known outside. */
#include "opt/bounds.h"
#include "plan/plan_internal.h"

enum { TRIPS = 16 };               /* of a loop of which nothing is known */
static const double ELEMENT = 0.2; /* of a region by itself, */
static const double LOOP = 1;      /* and of a loop */

static const FlCost *constant(FlArena *arena, double n) {
  FlCost *c = FL_NEW(arena, FlCost);
  *c = (FlCost){.kind = FL_COST_CONSTANT, .n = n};
  return c;
}

static const FlCost *of_value(FlArena *arena, FlCostKind kind, const FlValue *v, int axis) {
  FlCost *c = FL_NEW(arena, FlCost);
  *c = (FlCost){.kind = kind, .value = v, .axis = axis};
  return c;
}

static const FlCost *join(FlArena *arena, FlCostKind kind, const FlCost *a, const FlCost *b) {
  if (a->kind == FL_COST_CONSTANT && b->kind == FL_COST_CONSTANT)
    return constant(arena, kind == FL_COST_SUM ? a->n + b->n : a->n * b->n);
  FlCost *c = FL_NEW(arena, FlCost);
  *c = (FlCost){.kind = kind, .a = a, .b = b};
  return c;
}

/* Of an array that is there outside. */
static bool is_dim(const FlRegion *kernel, const FlValue *size) {
  return size->op && size->op->code == FL_OP_DIM && !fl_ir_inside(size->op->args[0]->region, kernel);
}

static bool is_known(const FlRegion *kernel, const FlValue *size) {
  return (size->op && size->op->code == FL_OP_CONST) || !fl_ir_inside(size->region, kernel) ||
         is_dim(kernel, size);
}

static const FlCost *trips(FlArena *arena, const FlRegion *kernel, const FlValue *size) {
  const FlOp *op = size->op;
  if (op && op->code == FL_OP_CONST) return constant(arena, (double)op->attrs.i);
  if (!fl_ir_inside(size->region, kernel)) return of_value(arena, FL_COST_VALUE, size, 0);
  if (is_dim(kernel, size)) return of_value(arena, FL_COST_DIM, op->args[0], (int)op->attrs.i);
  return constant(arena, TRIPS);
}

static bool all_known(const FlRegion *kernel, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->n_regions && op->code != FL_OP_IF && op->code != FL_OP_FOR && op->code != FL_OP_REDUCE)
      return false;
    if (op->code == FL_OP_FOR && !is_known(kernel, op->args[1])) return false;
    for (int i = 0; i < op->n_args && op->code == FL_OP_REDUCE; i++)
      if (!is_known(kernel, op->args[i])) return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!all_known(kernel, op->regions[i])) return false;
  }
  return true;
}

bool fl_plan_cost_is_known(const FlRegion *kernel) { return all_known(kernel, kernel); }

static const FlCost *of_region(FlArena *arena, const FlRegion *kernel, const FlRegion *r);

static const FlCost *of_nested(FlArena *arena, const FlRegion *kernel, const FlOp *op) {
  const FlCost *sum = constant(arena, LOOP);
  for (int i = 0; i < op->n_regions; i++)
    sum = join(arena, FL_COST_SUM, sum, of_region(arena, kernel, op->regions[i]));
  if (op->code == FL_OP_WHILE) return join(arena, FL_COST_PRODUCT, sum, constant(arena, TRIPS));
  if (op->code == FL_OP_FOR) return join(arena, FL_COST_PRODUCT, sum, trips(arena, kernel, op->args[1]));
  if (op->code == FL_OP_REDUCE)
    for (int i = 0; i < op->n_args; i++)
      sum = join(arena, FL_COST_PRODUCT, sum, trips(arena, kernel, op->args[i]));
  return sum;
}

static const FlCost *of_region(FlArena *arena, const FlRegion *kernel, const FlRegion *r) {
  double plain = ELEMENT;
  const FlCost *sum = constant(arena, 0);
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->n_regions) sum = join(arena, FL_COST_SUM, sum, of_nested(arena, kernel, op));
    else plain += fl_op_info[op->code].cost;
  }
  return join(arena, FL_COST_SUM, sum, constant(arena, plain));
}

const FlCost *fl_plan_cost(FlArena *arena, const FlRegion *kernel) {
  return of_region(arena, kernel, kernel);
}
