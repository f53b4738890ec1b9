/* extent.c: the size rule of every operator: how large what it gives is along an axis, without running it.
 *
 * In: a value that is an array or a list, and an axis of it (0 of a list: its length). Out: an FlExtent, in
 * terms of the operator's arguments and results; who wants it as a value asks fl_ir_dim, who compares sizes
 * follows the extents (opt/sizes.c). Always holds: what is said here is so whenever the operator has not
 * failed. */
#include "ir/ir_internal.h"

static FlExtent own(void) { return (FlExtent){.kind = FL_EXTENT_OWN}; }
static FlExtent value(FlValue *v) { return (FlExtent){.kind = FL_EXTENT_VALUE, .value = v}; }
static FlExtent constant(int n) { return (FlExtent){.kind = FL_EXTENT_CONSTANT, .n = n}; }
static FlExtent of(FlValue *array, int axis) {
  return (FlExtent){.kind = FL_EXTENT_OF, .value = array, .n = axis};
}

/* `first` along the leading axis, else as what the operator makes it of. */
static FlExtent leading(FlExtent first, FlValue *array, int axis) {
  return axis == 0 ? first : of(array, axis);
}

/* The rows of what is read: its first result. */
static FlExtent rows_read(const FlOp *op, int axis) { return axis == 0 ? value(op->results[0]) : own(); }

static FlExtent of_struct(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  switch (op->code) {
  case FL_OP_MAP: return a->type.depth > 0 && op->n_args > 1 ? own() : value(op->args[axis]);
  case FL_OP_REDUCE: return value(op->args[axis]);
  case FL_OP_ARRAY: return a->type.rank == 1 ? constant(op->n_args) : own();
  case FL_OP_SCAN: return value(op->args[0]);
  case FL_OP_COLLECT: return axis == 0 ? value(op->results[0]) : own();
  case FL_OP_STORE: return of(op->args[0], axis);
  case FL_OP_EXTERN: return value(op->args[op->n_args - (int)op->attrs.i + axis]);
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_IF: /* who wants to know looks into the branches, and into loops */
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_CALL:
  case FL_OP_CUSTOM:
  case FL_OP_STAGE:
  case FL_OP_FAIL:
  case FL_OP_CHECK:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OPS_NOT_STRUCT: break;
  }
  return own();
}

static FlExtent of_rows(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  switch (op->code) {
  case FL_OP_ROWS: return leading((FlExtent){.kind = FL_EXTENT_SPAN}, op->args[0], axis);
  case FL_OP_COMPRESS: return leading(value(op->results[0]), op->args[a->index], axis);
  case FL_OP_TAKE: return leading(of(op->args[0], 0), op->args[a->index + 1], axis);
  case FL_OP_CONCAT: return leading(own(), op->args[0], axis);
  case FL_OPS_NOT_ROWS: break;
  }
  return own();
}

static FlExtent of_lists(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  switch (op->code) {
  case FL_OP_LIST_OF: return constant(op->n_args);
  case FL_OP_LIST_STACK: return axis == 0 ? of(op->args[0], 0) : own();
  case FL_OP_RESHAPE: return value(op->args[1 + axis]);
  case FL_OP_TRANSPOSE: return a->type.rank == 2 ? of(op->args[0], 1 - axis) : own();
  case FL_OP_LIST_CONCAT:
  case FL_OPS_NOT_LISTS: break;
  }
  return own();
}

static FlExtent of_matrix(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  FlValue *x = op->args[0], *y = op->n_args > 1 ? op->args[1] : NULL;
  FlExtent least = {.kind = FL_EXTENT_LEAST};
  bool last = axis == a->type.rank - 1;
  switch (op->code) {
  case FL_OP_MATMUL:
    if (axis == 0 && x->type.rank == 2) return of(x, op->attrs.i & 1 ? 1 : 0);
    return of(y, op->attrs.i & 2 ? 0 : 1);
  case FL_OP_MATMUL_ADD: return of(x, axis);
  case FL_OP_SOLVE: return of(y, axis);
  case FL_OP_LINALG_PRODUCTS: return of(op->args[axis == 2], axis);
  case FL_OP_LINALG_CHOLESKY: /* square */
  case FL_OP_LINALG_EIGH:
  case FL_OP_LINALG_EIG: return of(x, axis);
  case FL_OP_LINALG_QR: return axis == a->index ? of(x, axis) : least;
  case FL_OP_LINALG_SVD: /* u, s, vt; or s */
    return a->type.rank == 2 && axis == a->index / 2 ? of(x, axis) : least;
  case FL_OP_LINALG_LSTSQ:
    if (a->index == 2) return least;
    return axis == 0 ? of(x, 1) : of(y, 1);
  case FL_OP_LINALG_PINV: return of(x, 1 - axis);
  case FL_OP_FFT: return of(x, axis);
  case FL_OP_RFFT: return last ? own() : of(x, axis);
  case FL_OP_IRFFT: return last ? value(op->args[2]) : of(x, axis);
  case FL_OP_LINALG_DET:
  case FL_OPS_NOT_MATRIX: break;
  }
  return own();
}

static FlExtent of_arrays(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  switch (op->code) {
  case FL_OP_PERMUTATION: return value(op->args[1]);
  case FL_OP_CHOICE: return value(op->args[2]);
  case FL_OP_SEGMENT_SUM: return leading(value(op->args[2]), op->args[0], axis);
  case FL_OP_SEGMENT_COUNT: return value(op->args[1]);
  case FL_OP_NEAREST:
  case FL_OP_NEAREST_MOVED: return of(op->args[a->index / 2], axis);
  case FL_OP_BYTES_OF:
  case FL_OP_SPLIT_TEXT:
  case FL_OP_EXTRACT_ALL:
  case FL_OP_JOIN_TEXT:
  case FL_OPS_NOT_ARRAYS: break;
  }
  return own();
}

static FlExtent of_tables(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  switch (op->code) {
  case FL_OP_SORT_PERM:
  case FL_OP_SHIFT_ROWS:
  case FL_OP_RANK:
  case FL_OP_ROLLING:
  case FL_OP_ROLLING_BOUNDS:
  case FL_OP_ENCODE_LEVELS: return of(op->args[0], 0);
  case FL_OP_GROUP: return a->index == 1 ? of(op->args[0], 0) : value(op->results[0]);
  case FL_OP_AGGREGATE:
  case FL_OP_AGGREGATES: return value(op->args[0]);
  case FL_OP_GROUP_ORDER: return a->index == 0 ? of(op->args[1], 0) : own();
  case FL_OP_RUNNING: return of(op->args[1], 0);
  case FL_OP_JOIN: return axis == 0 ? value(op->results[0]) : own();
  case FL_OP_KFOLD_ROWS: return value(op->args[1]);
  case FL_OP_TOP_ROWS:
  case FL_OP_DISTINCT:
  case FL_OP_PARTIAL:
  case FL_OP_JOIN_ASOF:
  case FL_OP_PIVOT_ROWS:
  case FL_OP_SPLIT_ROWS:
  case FL_OP_GROUP_PARTS:
  case FL_OP_LEVEL_CODE:
  case FL_OP_SAME_LEVELS:
  case FL_OP_SAME_COLUMNS:
  case FL_OP_LIST_LEVELS:
  case FL_OPS_NOT_TABLES: break;
  }
  return own();
}

static FlExtent of_reading(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  int i = a->index;
  switch (op->code) {
  case FL_OP_SQL:
  case FL_OP_EXEC: return rows_read(op, axis);
  case FL_OP_READ_TABLE: return i < op->n_results - fl_ir_n_levels(op) ? rows_read(op, axis) : own();
  case FL_OP_READ_TABLE_SOME: /* its columns, and at the end six results of the rows that were left out */
    return value(op->results[i > op->n_results - 6 ? op->n_results - 6 : 0]);
  case FL_OP_READ_NPY: /* which are valid is as large as the values */
    return i == 1 ? of(op->results[0], axis) : own();
  case FL_OP_READ_NPZ:
  case FL_OP_READ_HDF5:
  case FL_OP_READ_MAT:
    if (i > 0 && strcmp(op->attrs.list[i - 1], op->attrs.list[i]) == 0) return of(op->results[i - 1], axis);
    break;
  case FL_OP_TABLE_PARTS:
  case FL_OP_TABLE_PART:
  case FL_OP_TABLE_END:
  case FL_OP_READ_IMAGE:
  case FL_OP_READ_WAV:
  case FL_OP_LOAD_VALUE:
  case FL_OPS_NOT_READING: break;
  }
  return own();
}

FlExtent fl_ir_extent(const FlValue *a, int axis) {
  if (!a->op) return own();
  switch (a->op->code) {
  case FL_OPS_STRUCT: return of_struct(a, axis);
  case FL_OPS_ROWS: return of_rows(a, axis);
  case FL_OPS_LISTS: return of_lists(a, axis);
  case FL_OPS_MATRIX: return of_matrix(a, axis);
  case FL_OPS_ARRAYS: return of_arrays(a, axis);
  case FL_OPS_TABLES: return of_tables(a, axis);
  case FL_OPS_READING: return of_reading(a, axis);
  case FL_OPS_WORLD: return a->op->code == FL_OP_FILES && axis == 0 ? value(a->op->results[0]) : own();
  case FL_OPS_SCALAR: break;
  }
  return own();
}
