/* extent.c: the size rules that rows of ops.def name: how large what an operator gives is along an axis,
 * without running it.
 *
 * In: a value that is an array or a list, and an axis of it (0 of a list: its length). Out: an FlExtent, in
 * terms of the operator's arguments and results; who wants it as a value asks fl_ir_dim, who compares sizes
 * follows the extents (opt/sizes.c). Always holds: what is said here is so whenever the operator has not
 * failed. */
#include "ir/ir_internal.h"

/* What is asked: the size of result `index` of the operator, along an axis. */
typedef struct Ask {
  const FlOp *op;
  FlValue *const *args;
  FlType1 type;
  int index, axis;
} Ask;
typedef FlExtent Rule(const Ask *ask);

static FlExtent own(void) { return (FlExtent){.kind = FL_EXTENT_OWN}; }
static FlExtent least(void) { return (FlExtent){.kind = FL_EXTENT_LEAST}; }
static FlExtent value(FlValue *v) { return (FlExtent){.kind = FL_EXTENT_VALUE, .value = v}; }
static FlExtent of(FlValue *array, int axis) {
  return (FlExtent){.kind = FL_EXTENT_OF, .value = array, .n = axis};
}

/* `first` along the leading axis, else as what the operator makes it of. */
static FlExtent leading(const Ask *ask, FlExtent first, FlValue *array) {
  return ask->axis == 0 ? first : of(array, ask->axis);
}

/* ---- rules of many operators -----------------------------------------------------------------------------
 */

/* Of an IF, FOR or WHILE, too: who wants to know looks into its regions. */
static FlExtent size_own(const Ask *ask) { return (void)ask, own(); }
static FlExtent size_none(const Ask *ask) { return size_own(ask); } /* nobody asks for the size of a scalar */

/* An argument is the size: one an axis, or this one along the only axis. */
static FlExtent size_arguments(const Ask *ask) { return value(ask->args[ask->axis]); }
static FlExtent size_first(const Ask *ask) { return value(ask->args[0]); }
static FlExtent size_second(const Ask *ask) { return value(ask->args[1]); }
static FlExtent size_third(const Ask *ask) { return value(ask->args[2]); }

/* As an argument is. */
static FlExtent size_like_first(const Ask *ask) { return of(ask->args[0], ask->axis); }
static FlExtent size_like_second(const Ask *ask) { return of(ask->args[1], ask->axis); }

/* As many as there are arguments. */
static FlExtent size_as_many(const Ask *ask) {
  return (FlExtent){.kind = FL_EXTENT_CONSTANT, .n = ask->op->n_args};
}

/* The first result counts the rows of the others. */
static FlExtent size_counted(const Ask *ask) { return ask->axis == 0 ? value(ask->op->results[0]) : own(); }

/* ---- rules of one operator, or of a few ------------------------------------------------------------------
 */

static FlExtent size_array(const Ask *ask) { return ask->type.rank == 1 ? size_as_many(ask) : own(); }

static FlExtent size_map(const Ask *ask) {
  return ask->type.depth > 0 && ask->op->n_args > 1 ? own() : size_arguments(ask);
}

static FlExtent size_extern(const Ask *ask) {
  return value(ask->args[ask->op->n_args - (int)ask->op->attrs.i + ask->axis]);
}

static FlExtent size_rows(const Ask *ask) {
  return leading(ask, (FlExtent){.kind = FL_EXTENT_SPAN}, ask->args[0]);
}

static FlExtent size_compress(const Ask *ask) {
  return leading(ask, value(ask->op->results[0]), ask->args[ask->index]);
}

static FlExtent size_take(const Ask *ask) {
  return leading(ask, of(ask->args[0], 0), ask->args[ask->index + 1]);
}

/* Arrays behind the keys keep their sizes. */
static FlExtent size_sort_rows(const Ask *ask) {
  return of(ask->args[ask->op->n_args - ask->op->n_results + ask->index], ask->axis);
}

static FlExtent size_concat(const Ask *ask) { return leading(ask, own(), ask->args[0]); }
static FlExtent size_list_stack(const Ask *ask) { return ask->axis == 0 ? of(ask->args[0], 0) : own(); }
static FlExtent size_reshape(const Ask *ask) { return value(ask->args[1 + ask->axis]); }

static FlExtent size_transpose(const Ask *ask) {
  return ask->type.rank == 2 ? of(ask->args[0], 1 - ask->axis) : own();
}

static FlExtent size_beside(const Ask *ask) { return ask->axis == 0 ? of(ask->args[0], 0) : own(); }

static FlExtent size_matmul(const Ask *ask) {
  int64_t turned = ask->op->attrs.i;
  if (ask->axis == 0 && ask->args[0]->type.rank == 2) return of(ask->args[0], turned & 1 ? 1 : 0);
  return of(ask->args[1], turned & 2 ? 0 : 1);
}

static FlExtent size_linalg_products(const Ask *ask) { return of(ask->args[ask->axis == 2], ask->axis); }

static FlExtent size_linalg_qr(const Ask *ask) {
  return ask->axis == ask->index ? size_like_first(ask) : least();
}

static FlExtent size_linalg_svd(const Ask *ask) { /* u, s, vt; or s */
  return ask->type.rank == 2 && ask->axis == ask->index / 2 ? size_like_first(ask) : least();
}

static FlExtent size_linalg_lstsq(const Ask *ask) {
  return ask->index == 2 ? least() : of(ask->args[ask->axis != 0], 1);
}

static FlExtent size_linalg_pinv(const Ask *ask) { return of(ask->args[0], 1 - ask->axis); }

static bool along_last(const Ask *ask) { return ask->axis == ask->type.rank - 1; }
static FlExtent size_rfft(const Ask *ask) { return along_last(ask) ? own() : size_like_first(ask); }
static FlExtent size_irfft(const Ask *ask) {
  return along_last(ask) ? size_third(ask) : size_like_first(ask);
}

static FlExtent size_segment_sum(const Ask *ask) { return leading(ask, size_third(ask), ask->args[0]); }

static FlExtent size_nearest(const Ask *ask) { /* two of the rows, two of the centers */
  return of(ask->args[ask->index / 2], ask->axis);
}

static FlExtent size_group(const Ask *ask) {
  return ask->index == 1 ? of(ask->args[0], 0) : value(ask->op->results[0]);
}

static FlExtent size_group_order(const Ask *ask) { return ask->index == 0 ? of(ask->args[1], 0) : own(); }

static FlExtent size_read_table(const Ask *ask) {
  return ask->index < ask->op->n_results - fl_ir_n_levels(ask->op) ? size_counted(ask) : own();
}

static FlExtent size_read_table_some(const Ask *ask) {
  int left_out = ask->op->n_results - 6; /* behind its columns six results of the rows that were left out */
  return value(ask->op->results[ask->index > left_out ? left_out : 0]);
}

/* Which elements are valid is as large as the elements. */
static FlExtent size_read_npy(const Ask *ask) {
  return ask->index == 1 ? of(ask->op->results[0], ask->axis) : own();
}

static FlExtent size_read_arrays(const Ask *ask) {
  int i = ask->index;
  const char **names = ask->op->attrs.list;
  return i > 0 && strcmp(names[i - 1], names[i]) == 0 ? of(ask->op->results[i - 1], ask->axis) : own();
}

/* ---- by the table
 * ------------------------------------------------------------------------------------------ */

static Rule *const rules[FL_N_OPS] = {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version) size_##size,
#include "ir/ops.def"
#undef FL_OP
};

FlExtent fl_ir_extent(const FlValue *a, int axis) {
  const FlOp *op = a->op;
  return op ? rules[op->code](&(Ask){op, op->args, a->type, a->index, axis}) : own();
}
