/* build.c: the short forms of building, and the values of sizes. Result types follow from the signatures of
 * ops.def; operations on constants become constants when they cannot fault. A wrong call is a bug of the
 * compiler: the work around is left with the rule that was broken (fl_bug). */
#include "ir/ir_internal.h"

#include <stdlib.h>

FlValue *fl_ir_const_i(FlBuilder *b, FlDtype dtype, int64_t v) {
  FlType1 t = fl_t_scalar(dtype);
  FlOp *op = fl_ir_op(b, FL_OP_CONST, 0, NULL, 1, &t, 0);
  op->attrs.i = v;
  return op->results[0];
}

FlValue *fl_ir_const_f(FlBuilder *b, FlDtype dtype, double v) {
  FlType1 t = fl_t_scalar(dtype);
  FlOp *op = fl_ir_op(b, FL_OP_CONST, 0, NULL, 1, &t, 0);
  op->attrs.f = dtype == FL_F32 ? (double)(float)v : v;
  if (v != v) op->attrs.f = __builtin_nan(""); /* there is one NaN */
  return op->results[0];
}

FlValue *fl_ir_const_t(FlBuilder *b, const char *s, int len) {
  FlType1 t = fl_t_scalar(FL_TEXT);
  FlOp *op = fl_ir_op(b, FL_OP_CONST, 0, NULL, 1, &t, 0);
  op->attrs.s = fl_arena_strndup(b->module->arena, s, (size_t)len);
  op->attrs.s_len = len;
  return op->results[0];
}

static FlValue *build(FlBuilder *b, FlOpcode code, int n, FlValue *const *args) {
  FlType1 types[8];
  int n_results = 0;
  const char *why = fl_ir_match(code, n, args, -1, NULL, types, &n_results);
  for (int i = 0; !why && i < n_results; i++)
    if (types[i].dtype == FL_N_DTYPES) why = "the result type does not follow from the arguments";
  if (why) fl_bug("ir builder: %s: %s", fl_op_info[code].name, why);
  FlAttrs folded = {0};
  if (n_results == 1 && fl_ir_fold(code, (FlDtype)types[0].dtype, n, args, &folded)) {
    FlOp *op = fl_ir_op(b, FL_OP_CONST, 0, NULL, 1, types, 0);
    op->attrs = folded;
    return op->results[0];
  }
  return fl_ir_op(b, code, n, args, n_results, types, 0)->results[0];
}

FlValue *fl_ir_unary(FlBuilder *b, FlOpcode code, FlValue *a) { return build(b, code, 1, &a); }

FlValue *fl_ir_binary(FlBuilder *b, FlOpcode code, FlValue *a, FlValue *c) {
  return build(b, code, 2, (FlValue *[]){a, c});
}

FlValue *fl_ir_select(FlBuilder *b, FlValue *c, FlValue *yes, FlValue *no) {
  return build(b, FL_OP_SELECT, 3, (FlValue *[]){c, yes, no});
}

FlValue *fl_ir_convert(FlBuilder *b, FlValue *a, FlDtype to) {
  if (a->type.dtype == to) return a;
  FlType1 t = fl_t_scalar(to);
  FlAttrs folded = {0};
  if (fl_ir_fold(FL_OP_CONVERT, to, 1, &a, &folded)) {
    FlOp *op = fl_ir_op(b, FL_OP_CONST, 0, NULL, 1, &t, 0);
    op->attrs = folded;
    return op->results[0];
  }
  return fl_ir_op(b, FL_OP_CONVERT, 1, &a, 1, &t, 0)->results[0];
}

FlValue *fl_ir_load(FlBuilder *b, FlValue *a, int n, FlValue *const *index, bool proven) {
  FlValue *args[FL_MAX_RANK + 1] = {a};
  for (int i = 0; i < n; i++) args[i + 1] = index[i];
  FlType1 t = fl_t_scalar((FlDtype)a->type.dtype);
  if (a->type.depth) {
    t = a->type;
    t.depth--;
  }
  FlOp *op = fl_ir_op(b, FL_OP_LOAD, n + 1, args, 1, &t, 0);
  op->attrs.i = proven;
  return op->results[0];
}

FlOp *fl_ir_call(FlBuilder *b, FlFunc *f, int n_args, FlValue *const *args, int n_results,
                 const FlType1 *types) {
  FlOpcode code = f->kind == FL_FUNC_STAGE ? FL_OP_STAGE : FL_OP_CALL;
  FlOp *op = fl_ir_op(b, code, n_args, args, n_results, types, 0);
  op->attrs.func = f;
  return op;
}

/* ---- sizes ---- */

/* A builder that puts ops right behind the definition of `v`, where every user of `v` sees them. */
static FlBuilder behind(const FlBuilder *b, const FlValue *v) {
  FlBuilder at = *b;
  at.func = v->region->func;
  at.region = v->region;
  at.before = v->op ? v->op->next : v->region->first;
  at.span = v->op ? v->op->span : b->span;
  return at;
}

/* The op behind the definition of `v` among the size ops that this file put there, or NULL. */
static FlValue *existing(const FlBuilder *at, FlOpcode code, FlValue *a, FlValue *c, int64_t axis) {
  for (FlOp *op = at->before; op; op = op->next) {
    if (op->code == code && op->args[0] == a && (op->n_args < 2 || op->args[1] == c) && op->attrs.i == axis)
      return op->results[0];
    if (op->code != FL_OP_DIM && op->code != FL_OP_WRAP_SUB && op->code != FL_OP_CONST) return NULL;
  }
  return NULL;
}

int fl_ir_n_levels(const FlOp *op) {
  int n = 0;
  for (int i = 0; i < op->attrs.n_columns; i++) {
    const FlColumnAttr *c = &op->attrs.columns[i];
    n += (c->flags & FL_COLUMN_TYPED) && c->dtype == FL_CATEGORY;
  }
  return n;
}

void fl_ir_set_columns(FlArena *arena, FlOp *op, int n, const FlColumnAttr *columns) {
  static const FlColumnAttr plain[] = {{.flags = 0}, {.flags = 1}, {.flags = 2}, {.flags = 3}};
  bool one = n == 1 && !columns->name && !columns->made && columns->flags < 4; /* what most have, once */
  op->attrs.columns =
      one ? &plain[columns->flags] : fl_arena_copy(arena, columns, sizeof *columns * (size_t)n);
  op->attrs.n_columns = n;
}

static FlValue *dim_op(FlBuilder *b, FlValue *a, int axis) {
  FlBuilder at = behind(b, a);
  FlValue *found = existing(&at, FL_OP_DIM, a, NULL, axis);
  if (found) return found;
  FlType1 t = fl_t_scalar(FL_I64);
  FlOp *op = fl_ir_op(&at, FL_OP_DIM, 1, &a, 1, &t, 0);
  op->attrs.i = axis;
  return op->results[0];
}

/* to - from of a ROWS, which checked 0 <= from <= to: the difference cannot overflow. */
static FlValue *rows_count(FlBuilder *b, FlOp *rows) {
  int64_t from;
  const FlOp *end = rows->args[2]->op;
  if (fl_ir_const_value_i(rows->args[1], &from) && from == 0) return rows->args[2];
  if (end && end->code == FL_OP_WRAP_ADD && end->args[0] == rows->args[1]) return end->args[1];
  FlBuilder at = behind(b, rows->results[0]);
  FlValue *pair[2] = {rows->args[2], rows->args[1]};
  FlValue *found = existing(&at, FL_OP_WRAP_SUB, pair[0], pair[1], 0);
  return found ? found : fl_ir_binary(&at, FL_OP_WRAP_SUB, pair[0], pair[1]);
}

static FlValue *constant_behind(FlBuilder *b, FlValue *v, int64_t n) {
  FlBuilder at = behind(b, v);
  return fl_ir_const_i(&at, FL_I64, n);
}

/* The smaller of both sizes of the matrix that `a` comes from. */
static FlValue *least_dim(FlBuilder *b, FlValue *a) {
  FlBuilder at = behind(b, a);
  FlValue *pair[2] = {fl_ir_dim(b, a->op->args[0], 0), fl_ir_dim(b, a->op->args[0], 1)};
  if (pair[0] == pair[1]) return pair[0];
  FlValue *found = existing(&at, FL_OP_MIN, pair[0], pair[1], 0);
  return found ? found : fl_ir_binary(&at, FL_OP_MIN, pair[0], pair[1]);
}

FlValue *fl_ir_dim(FlBuilder *b, FlValue *a, int axis) {
  for (;;) {
    FlExtent e = fl_ir_extent(a, axis);
    switch (e.kind) {
    case FL_EXTENT_OWN: return dim_op(b, a, axis);
    case FL_EXTENT_VALUE: return e.value;
    case FL_EXTENT_CONSTANT: return constant_behind(b, a, e.n);
    case FL_EXTENT_SPAN: return rows_count(b, a->op);
    case FL_EXTENT_LEAST: return least_dim(b, a);
    case FL_EXTENT_OF:
      a = e.value;
      axis = (int)e.n;
      break;
    }
  }
}
