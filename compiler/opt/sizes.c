/* sizes.c: which sizes are the same, and which reads are therefore within bounds; see opt_internal.h. */
#include "opt/opt_internal.h"

bool fl_opt_same_size(const FlValue *a, const FlValue *b) {
  int64_t x, y;
  return a == b || (fl_ir_const_value_i(a, &x) && fl_ir_const_value_i(b, &y) && x == y);
}

/* The variable of a loop whose value v is: within the loop, where v is a parameter, or behind it. `init`,
 * `next`: what the variable is before the first round, and after a round. */
static const FlValue *loop_variable(const FlValue *v, const FlValue **init, const FlValue **next) {
  const FlOp *loop = v->op ? v->op : v->region->owner;
  if (!loop || !fl_ir_is_rounds(loop)) return NULL;
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
    if (op->code == FL_OP_IF) {
      for (int i = 0; i < op->n_regions; i++)
        if (!is_dim(size, op->regions[i]->yields[array->index], axis, same, n_same)) return false;
      return true;
    }
    FlExtent e = fl_ir_extent(array, axis);
    int64_t n;
    switch (e.kind) {
    case FL_EXTENT_OWN:
    case FL_EXTENT_LEAST: return false;
    case FL_EXTENT_VALUE: return fl_opt_same_size(e.value, size);
    case FL_EXTENT_CONSTANT: return fl_ir_const_value_i(size, &n) && n == e.n;
    case FL_EXTENT_SPAN:
      return fl_ir_const_value_i(op->args[1], &n) && n == 0 && fl_opt_same_size(op->args[2], size);
    case FL_EXTENT_OF:
      array = e.value;
      axis = (int)e.n;
      break;
    }
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
  return fl_ir_inside(here, known->region) && is_dim(known, array, axis, (Same[MAX_LOOPS]){0}, 0) ? known
                                                                                                  : size;
}

const FlValue *fl_opt_size_of(const FlValue *array, int axis) {
  for (;;) {
    if (array->type.depth) return NULL;
    FlExtent e = fl_ir_extent(array, axis);
    if (e.kind != FL_EXTENT_OF) return e.kind == FL_EXTENT_VALUE ? e.value : NULL;
    array = e.value;
    axis = (int)e.n;
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
