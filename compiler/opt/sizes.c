/* sizes.c: which sizes are the same, and which reads are therefore within bounds; see opt_internal.h. */
#include "opt/opt_internal.h"

bool fl_opt_same_size(const FlValue *a, const FlValue *b) {
  int64_t x, y;
  return a == b || (fl_ir_const_value_i(a, &x) && fl_ir_const_value_i(b, &y) && x == y);
}

bool fl_opt_is_dim(const FlValue *size, const FlValue *array, int axis) {
  for (;;) {
    const FlOp *op = size->op;
    if (op && op->code == FL_OP_DIM && op->args[0] == array && op->attrs.i == axis) return true;
    op = array->op;
    if (!op || array->type.depth) return false;
    int64_t from;
    switch ((int)op->code) {
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
    case FL_OP_STORE: break;
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

const FlValue *fl_opt_size_of(const FlValue *array, int axis) {
  for (;;) {
    const FlOp *op = array->op;
    if (!op || array->type.depth) return NULL;
    switch ((int)op->code) {
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

/* The index runs over 0 .. size of the axis. */
static bool index_in_bounds(const FlValue *index, const FlValue *array, int axis) {
  const FlOp *loop = index->op ? NULL : index->region->owner;
  if (!loop) return false;
  int64_t lo;
  if (loop->code == FL_OP_FOR)
    return index->index == 0 && fl_ir_const_value_i(loop->args[0], &lo) && lo >= 0 &&
           fl_opt_is_dim(loop->args[1], array, axis);
  return fl_opt_is_loop(loop) && index->index < fl_opt_n_sizes(loop) &&
         fl_opt_is_dim(loop->args[index->index], array, axis);
}

bool fl_opt_loops_prove(const FlOp *load) {
  for (int i = 1; i < load->n_args; i++)
    if (!index_in_bounds(load->args[i], load->args[0], i - 1)) return false;
  return true;
}

bool fl_opt_in_bounds(const FlOp *load) { return load->attrs.i || fl_opt_loops_prove(load); }
