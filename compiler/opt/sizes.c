/* sizes.c: which sizes are the same, and which reads are therefore within bounds; see opt_internal.h. */
#include "opt/opt_internal.h"

bool fl_opt_same_size(const FlValue *a, const FlValue *b) {
  int64_t x, y;
  return a == b || (fl_ir_const_value_i(a, &x) && fl_ir_const_value_i(b, &y) && x == y);
}

/* The variable of a loop whose value v is: within the loop, where v is a parameter, or behind it. `init`, `next`: what the
 * variable is before the first round, and after a round. */
static const FlValue *loop_variable(const FlValue *v, const FlValue **init, const FlValue **next) {
  const FlOp *loop = v->op ? v->op : v->region->owner;
  if (!loop || (loop->code != FL_OP_FOR && loop->code != FL_OP_WHILE)) return NULL;
  bool counts = loop->code == FL_OP_FOR;
  int k = v->op ? v->index : v->index - (counts ? 1 : 0);
  if (k < 0) return NULL;
  *init = loop->args[k + (counts ? 2 : 0)];
  *next = loop->regions[0]->yields[k + (counts ? 0 : 1)];
  return loop->regions[0]->params[k + (counts ? 1 : 0)];
}

enum { MAX_LOOPS = 4 };

/* A loop variable that has the size along an axis before a round; to be shown for after the round. */
typedef struct Same {
  const FlValue *variable;
  int axis;
} Same;

static bool is_dim(const FlValue *size, const FlValue *array, int axis, Same *same, int n_same) {
  for (;;) {
    const FlOp *op = size->op;
    if (op && op->code == FL_OP_DIM && op->args[0] == array && op->attrs.i == axis) return true;
    for (int i = 0; i < n_same; i++)
      if (same[i].variable == array) return same[i].axis == axis;
    const FlValue *init, *next, *variable = array->type.depth ? NULL : loop_variable(array, &init, &next);
    if (variable) {
      if (n_same == MAX_LOOPS || !is_dim(size, init, axis, same, n_same)) return false;
      same[n_same] = (Same){variable, axis};
      return is_dim(size, next, axis, same, n_same + 1);
    }
    op = array->op;
    if (!op || array->type.depth) return false;
    int64_t from;
    switch ((int)op->code) {
    case FL_OP_REDUCE:
    case FL_OP_MAP: return fl_opt_same_size(op->args[axis], size);
    case FL_OP_SCAN: return fl_opt_same_size(op->args[0], size);
    case FL_OP_COLLECT:
    case FL_OP_FILES:
    case FL_OP_EXEC:
    case FL_OP_READ_JSON:
    case FL_OP_READ_PARQUET:
    case FL_OP_READ_JSONL:
    case FL_OP_READ_SQLITE:
    case FL_OP_READ_CSV: return axis == 0 && op->results[0] == size;
    case FL_OP_READ_ARROW:
      return axis == 0 && op->results[0] == size && array->index < op->n_results - fl_ir_n_levels(op);
    case FL_OP_EXTERN: return fl_opt_same_size(op->args[op->n_args - (int)op->attrs.i + axis], size);
    case FL_OP_RESHAPE: return fl_opt_same_size(op->args[1 + axis], size);
    case FL_OP_IF:
      for (int i = 0; i < op->n_regions; i++)
        if (!is_dim(size, op->regions[i]->yields[array->index], axis, same, n_same)) return false;
      return true;
    case FL_OP_STORE:
    case FL_OP_MATMUL_ADD: break;
    case FL_OP_TRANSPOSE:
      if (array->type.rank != 2) return false;
      axis = 1 - axis;
      break;
    case FL_OP_ROWS:
      if (axis > 0) break;
      return fl_ir_const_value_i(op->args[1], &from) && from == 0 && fl_opt_same_size(op->args[2], size);
    default: return false;
    }
    array = op->args[0];
  }
}

bool fl_opt_is_dim(const FlValue *size, const FlValue *array, int axis) {
  Same same[MAX_LOOPS];
  return is_dim(size, array, axis, same, 0);
}

FlValue *fl_opt_dim(FlBuilder *b, FlValue *array, int axis) {
  FlValue *size = fl_ir_dim(b, array, axis), *from = array;
  if (!size->op || size->op->code != FL_OP_DIM || array->type.depth) return size;
  for (;;) { /* what the array was before the loops, and in the first branch */
    const FlValue *init, *next;
    if (loop_variable(from, &init, &next)) from = (FlValue *)(uintptr_t)init;
    else if (from->op && from->op->code == FL_OP_IF) from = from->op->regions[0]->yields[from->index];
    else break;
  }
  if (from == array) return size;
  FlValue *known = fl_ir_dim(b, from, axis);
  const FlRegion *here = array->region;
  return fl_opt_inside(here, known->region) && is_dim(known, array, axis, (Same[MAX_LOOPS]){0}, 0) ? known : size;
}

const FlValue *fl_opt_size_of(const FlValue *array, int axis) {
  for (;;) {
    const FlOp *op = array->op;
    if (!op || array->type.depth) return NULL;
    switch ((int)op->code) {
    case FL_OP_REDUCE:
    case FL_OP_MAP: return op->args[axis];
    case FL_OP_SCAN: return op->args[0];
    case FL_OP_COLLECT:
    case FL_OP_READ_JSON:
    case FL_OP_READ_PARQUET:
    case FL_OP_READ_CSV: return axis == 0 ? op->results[0] : NULL;
    case FL_OP_RESHAPE: return op->args[1 + axis];
    case FL_OP_STORE: break;
    case FL_OP_TRANSPOSE:
      if (array->type.rank != 2) return NULL;
      axis = 1 - axis;
      break;
    case FL_OP_ROWS:
      if (axis == 0) return NULL;
      break;
    default: return NULL;
    }
    array = op->args[0];
  }
}

const FlValue *fl_opt_runs_to(const FlValue *index) {
  const FlOp *loop = index->op ? NULL : index->region->owner;
  int64_t lo;
  if (!loop) return NULL;
  if (loop->code == FL_OP_FOR)
    return index->index == 0 && fl_ir_const_value_i(loop->args[0], &lo) && lo >= 0 ? loop->args[1] : NULL;
  return fl_opt_is_loop(loop) && index->index < fl_opt_n_sizes(loop) ? loop->args[index->index] : NULL;
}

bool fl_opt_loops_prove(const FlOp *load) {
  for (int i = 1; i < load->n_args; i++) {
    const FlValue *size = fl_opt_runs_to(load->args[i]);
    if (!size || !fl_opt_is_dim(size, load->args[0], i - 1)) return false;
  }
  return true;
}

bool fl_opt_in_bounds(const FlOp *load) { return load->attrs.i || fl_opt_loops_prove(load); }
