/* aggregates.c: aggregates of the same groups become one operation, which passes over the rows once:
 * AGGREGATEs of one region become AGGREGATES.
 *
 * What always holds: those that join move up to the first of them, so they read only what is there before it,
 * and cannot fail; the first may, at its own place in the source. Only aggregates whose states are small and
 * simple join: counts, and sums, means, minima and maxima of numbers without nulls, variances and standard
 * deviations, by n - 1, of doubles without. */
#include "opt/joining.h"

enum { MOST = 8 };

/* May join others; *fails: its sum may be too large. */
static bool is_simple(const FlOp *op, bool *fails) {
  *fails = false;
  if (op->code != FL_OP_AGGREGATE || op->attrs.i != 0 || op->attrs.n_columns > 1) return false;
  FlAggregate kind = fl_ir_aggregate(op);
  if (op->attrs.n_columns == 0) return kind == FL_AGGREGATE_COUNT;
  FlDtype d = (FlDtype)op->args[2]->type.dtype;
  bool whole = fl_dtype_is_int(d) || fl_dtype_is_decimal(d);
  if (op->attrs.columns[0].flags != 0 || op->args[2]->type.rank != 1) return false;
  switch (fl_aggregate_info[kind].sweep) {
  case FL_SWEEP_LEAST:
  case FL_SWEEP_GREATEST: return whole || d == FL_F64;
  case FL_SWEEP_SUM:
    *fails = kind == FL_AGGREGATE_SUM && (d == FL_I64 || d == FL_U64 || fl_dtype_is_decimal(d));
    return whole || d == FL_F64;
  case FL_SWEEP_SPREAD: return d == FL_F64 && op->attrs.f == 1.0;
  case FL_SWEEP_COUNT:
  case FL_SWEEP_ALONE: return false;
  }
  return false;
}

static FlOp *join(FlOp *const *ops, int n) {
  FlBuilder b = fl_opt_before(ops[0]);
  FlArena *arena = b.module->arena;
  FlValue *args[2 + MOST] = {ops[0]->args[0], ops[0]->args[1]};
  FlType1 types[2 * MOST];
  FlColumnAttr *columns = FL_NEW_ARRAY(arena, FlColumnAttr, n);
  FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, 2 * n);
  int n_args = 2;
  for (int k = 0; k < n; k++) {
    bool column = ops[k]->attrs.n_columns == 1;
    if (column) args[n_args++] = ops[k]->args[2];
    columns[k] = (FlColumnAttr){.made = ops[k]->attrs.s, .flags = column ? 0 : FL_COLUMN_NONE};
    for (int r = 0; r < 2; r++) {
      types[2 * k + r] = ops[k]->results[r]->type;
      places[2 * k + r] = fl_ir_place(ops[k], r);
    }
  }
  FlOp *all = fl_ir_op(&b, FL_OP_AGGREGATES, n_args, args, 2 * n, types, ops[0]->n_regions);
  fl_opt_move_within(ops[0], all);
  fl_ir_set_columns(arena, all, n, columns);
  all->attrs.f = 1.0;
  all->places = places;
  return all;
}

static bool begins(const FlOp *op) {
  bool fails;
  return is_simple(op, &fails);
}

bool fl_opt_sweeps(const FlOp *op) {
  if (op->code == FL_OP_AGGREGATES) return true;
  return begins(op) && fl_aggregate_info[fl_ir_aggregate(op)].sweep != FL_SWEEP_SPREAD;
}

static bool joins(const FlOp *op) {
  bool fails;
  return is_simple(op, &fails) && !fails;
}

void fl_opt_aggregates(FlModule *m) {
  fl_opt_join(m, &(FlJoining){.most = MOST, .common = 2, begins, joins, join});
}
