/* bulk.c: the rules of host code, by the table rules.def, and those of operators that put elements in other
 * places: rows, lists, sizes. In: adjoints of results, or tangents of arguments. Out: those of the other
 * side. Always: forwards they put the tangents where they put the elements. */
#include "ad/rules/rules.h"

static FlValue *rows(const FlAdBulk *k, FlValue *a, FlValue *from, FlValue *to) {
  return fl_ad_op(k->b, FL_OP_ROWS, 3, (FlValue *[]){a, from, to}, a->type, 0);
}

static FlValue *at(const FlAdBulk *k, FlValue *line, FlValue *i) {
  return fl_ir_load(k->b, line, 1, &i, true);
}

/* The element of the adjoint with g added, in place where there is one already. */
static void add_element(const FlAdBulk *k, FlValue *so_far) {
  int rank = so_far->type.rank;
  FlValue *args[FL_MAX_RANK + 2] = {so_far};
  for (int i = 0; i < rank; i++) args[i + 1] = fl_ad_arg(k, i + 1);
  FlValue *old = fl_ir_load(k->b, so_far, rank, args + 1, k->op->attrs.i != 0);
  args[rank + 1] = fl_ir_binary(k->b, FL_OP_ADD, old, k->g);
  fl_ad_set(k->f, k->op->args[0], fl_ad_op(k->b, FL_OP_STORE, rank + 2, args, so_far->type, k->op->attrs.i));
}

/* An array like arg 0 that is g where all indices are these, else 0. */
static void one_element(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *sizes[FL_MAX_RANK], *here = NULL;
  FlValue *so_far = fl_ad_adjoint(k->f, k->op->args[0]);
  if (so_far) {
    add_element(k, so_far);
    return;
  }
  fl_ad_sizes(k->b, a, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  for (int i = 0; i < a->type.rank; i++) {
    FlValue *same = fl_ir_binary(k->b, FL_OP_EQ, m.region->params[i], fl_ad_arg(k, i + 1));
    here = here ? fl_ir_binary(k->b, FL_OP_AND, here, same) : same;
  }
  FlValue *v = fl_ir_select(k->b, here, k->g, fl_ir_const_f(k->b, (FlDtype)a->type.dtype, 0.0));
  fl_ad_loop_end(k->b, &m, 1, &v);
  fl_ad_give(k, 0, m.op->results[0]);
}

/* Rows [from, to) of an array: g there, else 0. */
bool fl_ad_back_rows(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *from = fl_ad_arg(k, 1), *to = fl_ad_arg(k, 2), *sizes[FL_MAX_RANK],
          *index[FL_MAX_RANK];
  fl_ad_sizes(k->b, a, sizes);
  FlType1 scalar = fl_t_scalar((FlDtype)a->type.dtype);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  FlValue *i = m.region->params[0];
  FlValue *in = fl_ir_binary(k->b, FL_OP_AND, fl_ir_binary(k->b, FL_OP_LE, from, i),
                             fl_ir_binary(k->b, FL_OP_LT, i, to));
  FlOp *op = fl_ir_op(k->b, FL_OP_IF, 1, &in, 1, &scalar, 2);
  FlBuilder side = *k->b;
  side.region = fl_ir_region(&side, op, 0, 0, NULL);
  index[0] = fl_ir_binary(&side, FL_OP_WRAP_SUB, i, from);
  for (int d = 1; d < a->type.rank; d++) index[d] = m.region->params[d];
  FlValue *v = fl_ir_load(&side, k->g, a->type.rank, index, false);
  fl_ir_yield(side.region, side.module, 1, &v);
  side.region = fl_ir_region(&side, op, 1, 0, NULL);
  v = fl_ir_const_f(&side, (FlDtype)a->type.dtype, 0.0);
  fl_ir_yield(side.region, side.module, 1, &v);
  fl_ad_loop_end(k->b, &m, 1, op->results);
  fl_ad_give(k, 0, m.op->results[0]);
  return true;
}

bool fl_ad_back_concat(const FlAdBulk *k) {
  FlValue *from = fl_ad_i64(k->b, 0);
  for (int i = 0; i < k->op->n_args; i++) {
    FlValue *to = fl_ir_binary(k->b, FL_OP_WRAP_ADD, from, fl_ir_dim(k->b, fl_ad_arg(k, i), 0));
    if (fl_ad_wants(k, i)) fl_ad_give(k, i, rows(k, k->g, from, to));
    from = to;
  }
  return true;
}

bool fl_ad_back_reshape(const FlAdBulk *k) {
  FlValue *sizes[FL_MAX_RANK], *a = fl_ad_arg(k, 0);
  fl_ad_sizes(k->b, a, sizes);
  fl_ad_give(k, 0, fl_ad_reshape(k->b, k->g, a->type.rank, sizes));
  return true;
}

bool fl_ad_back_transpose(const FlAdBulk *k) {
  fl_ad_give(k, 0, fl_ad_turned(k->b, k->g));
  return true;
}

/* ---- rows by number ---- */

/* Rows taken by number, the first of them result `from`: what stands for each counts where it was taken from;
 * of an array with `more` rows at its end, which are left out again. */
static bool rows_taken(const FlAdBulk *k, FlValue *label, int from, int more) {
  for (int r = from; r < k->op->n_results; r++) {
    FlValue *g = fl_ad_of(k, r), *sizes[FL_MAX_RANK];
    int i = r - from + 1;
    if (!g || !fl_ad_wants(k, i)) continue;
    FlValue *a = fl_ad_arg(k, i);
    int rank = a->type.rank;
    fl_ad_sizes(k->b, a, sizes);
    if (rank > 2) { /* rows of numbers */
      FlValue *wide = sizes[1];
      for (int d = 2; d < rank; d++) wide = fl_ir_binary(k->b, FL_OP_WRAP_MUL, wide, sizes[d]);
      g = fl_ad_reshape(k->b, g, 2, (FlValue *[]){fl_ir_dim(k->b, label, 0), wide});
    }
    FlValue *n = more ? fl_ir_binary(k->b, FL_OP_WRAP_ADD, sizes[0], fl_ad_i64(k->b, more)) : sizes[0];
    FlValue *sum = fl_ad_op(k->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){g, label, n}, g->type, 0);
    if (more) sum = rows(k, sum, fl_ad_i64(k->b, 0), sizes[0]);
    fl_ad_give(k, i, rank > 2 ? fl_ad_reshape(k->b, sum, rank, sizes) : sum);
  }
  return true;
}

/* Rows that may be missing, number -1, count for a row more, which is left out. */
bool fl_ad_back_take(const FlAdBulk *k) {
  FlValue *label = fl_ad_arg(k, 0);
  if (!(k->op->attrs.i & FL_TAKE_OR_ZERO)) return rows_taken(k, label, 0, 0);
  FlValue *n = fl_ir_dim(k->b, label, 0), *none = NULL;
  for (int i = 1; i < k->op->n_args && !none; i++)
    if (fl_ad_wants(k, i)) none = fl_ir_dim(k->b, fl_ad_arg(k, i), 0);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  FlValue *at_row = at(k, label, m.region->params[0]);
  FlValue *v = fl_ir_select(k->b, fl_ir_binary(k->b, FL_OP_GE, at_row, fl_ad_i64(k->b, 0)), at_row, none);
  fl_ad_loop_end(k->b, &m, 1, &v);
  return rows_taken(k, m.op->results[0], 0, 1);
}

/* Rows that a mask keeps: by their numbers, they are rows that were taken. */
bool fl_ad_back_compress(const FlAdBulk *k) {
  FlValue *mask = fl_ad_arg(k, 0), *n = fl_ir_dim(k->b, mask, 0);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  fl_ad_loop_end(k->b, &m, 1, m.region->params);
  FlType1 types[2] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(k->b, FL_OP_COMPRESS, 2, (FlValue *[]){mask, m.op->results[0]}, 2, types, 0);
  return rows_taken(k, op->results[1], 1, 0);
}

/* The same op of the tangents alone; its results before those of arrays are not wanted again. */
bool fl_ad_ahead_rows_taken(const FlAdAhead *k) {
  int before = k->op->n_results - (k->op->n_args - 1), n = 1;
  FlValue **args = FL_NEW_ARRAY(k->f->ad->arena, FlValue *, k->op->n_args + 1);
  FlType1 *types = FL_NEW_ARRAY(k->f->ad->arena, FlType1, k->op->n_results + 1);
  args[0] = fl_ad_in(k, 0);
  for (int i = 0; i < before; i++) types[i] = k->op->results[i]->type;
  for (int i = 1; i < k->op->n_args; i++) {
    if (!fl_ad_moves(k, i)) continue;
    types[before + n - 1] = k->op->args[i]->type;
    args[n++] = fl_ad_moves(k, i);
  }
  if (n == 1) return true;
  FlOp *op = fl_ir_op(k->b, k->op->code, n, args, before + n - 1, types, 0);
  op->attrs.i = k->op->attrs.i;
  int next = before;
  for (int i = 1; i < k->op->n_args; i++)
    if (fl_ad_moves(k, i)) k->out[before + i - 1] = op->results[next++];
  return true;
}

/* Each row counts what the sum of its label does. */
bool fl_ad_back_segment_sum(const FlAdBulk *k) {
  FlValue *a = fl_ad_arg(k, 0), *label = fl_ad_arg(k, 1), *sizes[FL_MAX_RANK], *index[FL_MAX_RANK];
  fl_ad_sizes(k->b, a, sizes);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, a->type.rank, sizes);
  index[0] = at(k, label, m.region->params[0]);
  for (int d = 1; d < a->type.rank; d++) index[d] = m.region->params[d];
  FlValue *v = fl_ir_load(k->b, k->g, a->type.rank, index, false);
  fl_ad_loop_end(k->b, &m, 1, &v);
  fl_ad_give(k, 0, m.op->results[0]);
  return true;
}

/* ---- elements ---- */

/* One element replaced: its adjoint is the new value's, and the old one counts nothing. */
bool fl_ad_back_store(const FlAdBulk *k) {
  int n = k->op->n_args;
  FlValue **args = FL_NEW_ARRAY(k->f->ad->arena, FlValue *, n);
  for (int i = 1; i < n - 1; i++) args[i] = fl_ad_arg(k, i);
  if (fl_ad_wants(k, n - 1))
    fl_ad_give(k, n - 1, fl_ir_load(k->b, k->g, n - 2, args + 1, k->op->attrs.i != 0));
  if (!fl_ad_wants(k, 0)) return true;
  args[0] = k->g;
  args[n - 1] = fl_ir_const_f(k->b, (FlDtype)k->g->type.dtype, 0.0);
  fl_ad_give(k, 0, fl_ad_op(k->b, FL_OP_STORE, n, args, k->g->type, k->op->attrs.i));
  return true;
}

bool fl_ad_ahead_store(const FlAdAhead *k) {
  int n = k->op->n_args;
  FlValue **args = FL_NEW_ARRAY(k->f->ad->arena, FlValue *, n);
  for (int i = 1; i < n - 1; i++) args[i] = fl_ad_in(k, i);
  args[0] = fl_ad_tangent_or_zero(k->f, k->op->args[0]);
  args[n - 1] = fl_ad_tangent_or_zero(k->f, k->op->args[n - 1]);
  k->out[0] = fl_ad_op(k->b, FL_OP_STORE, n, args, k->op->results[0]->type, k->op->attrs.i);
  return true;
}

bool fl_ad_back_array(const FlAdBulk *k) {
  for (int i = 0; i < k->op->n_args; i++)
    if (fl_ad_wants(k, i)) fl_ad_give(k, i, at(k, k->g, fl_ad_i64(k->b, i)));
  return true;
}

/* The same op with every float that is an argument replaced by its tangent: what is linear in them. */
bool fl_ad_ahead_linear(const FlAdAhead *k) {
  int n = k->op->n_args;
  FlValue **args = FL_NEW_ARRAY(k->f->ad->arena, FlValue *, n + 1);
  FlType1 *types = FL_NEW_ARRAY(k->f->ad->arena, FlType1, k->op->n_results + 1);
  for (int i = 0; i < n; i++) {
    int d = k->op->args[i]->type.dtype;
    args[i] = d == FL_F64 || d == FL_F32 ? fl_ad_tangent_or_zero(k->f, k->op->args[i]) : fl_ad_in(k, i);
  }
  for (int r = 0; r < k->op->n_results; r++) types[r] = k->op->results[r]->type;
  FlOp *op = fl_ir_op(k->b, k->op->code, n, args, k->op->n_results, types, 0);
  op->attrs = k->op->attrs;
  for (int r = 0; r < k->op->n_results; r++) k->out[r] = op->results[r];
  return true;
}

/* ---- lists ---- */

/* Arrays as rows of one: each has its row of g. */
bool fl_ad_back_list_stack(const FlAdBulk *k) {
  FlValue *list = fl_ad_arg(k, 0), *sizes[FL_MAX_RANK];
  FlValue *n = fl_ir_dim(k->b, list, 0);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  FlValue *i = m.region->params[0];
  FlValue *row = rows(k, k->g, i, fl_ir_binary(k->b, FL_OP_WRAP_ADD, i, fl_ad_i64(k->b, 1)));
  for (int d = 1; d < k->g->type.rank; d++) sizes[d - 1] = fl_ir_dim(k->b, k->g, d);
  fl_ad_list_end(k->b, &m, fl_ad_reshape(k->b, row, k->g->type.rank - 1, sizes));
  fl_ad_give(k, 0, m.op->results[0]);
  return true;
}

/* Arrays that are added: each has all of g. */
bool fl_ad_back_list_sum(const FlAdBulk *k) {
  FlValue *n = fl_ir_dim(k->b, fl_ad_arg(k, 1), 0);
  if (!fl_ad_wants(k, 1)) return true;
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  fl_ad_list_end(k->b, &m, k->g);
  fl_ad_give(k, 1, m.op->results[0]);
  return true;
}

/* Arrays one behind the other: each has its rows of g. */
bool fl_ad_back_list_concat(const FlAdBulk *k) {
  FlValue *list = fl_ad_arg(k, 0), *n = fl_ir_dim(k->b, list, 0), *init[2] = {n, fl_ad_i64(k->b, 0)};
  FlAdLoop lengths = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  FlValue *length = fl_ir_dim(k->b, at(k, list, lengths.region->params[0]), 0);
  fl_ad_loop_end(k->b, &lengths, 1, &length);
  FlType1 types[2] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)}, line = fl_t_array(FL_I64, 1);
  FlOp *scan = fl_ir_op(k->b, FL_OP_SCAN, 2, init, 1, &line, 1);
  FlBuilder in = *k->b;
  in.before = NULL;
  in.region = fl_ir_region(&in, scan, 0, 2, types);
  FlValue *own = fl_ir_load(&in, lengths.op->results[0], 1, in.region->params, true);
  FlValue *end = fl_ir_binary(&in, FL_OP_WRAP_ADD, in.region->params[1], own);
  fl_ir_yield(in.region, in.module, 1, &end);
  FlAdLoop m = fl_ad_loop(k->b, FL_OP_MAP, 1, &n);
  FlValue *i = m.region->params[0], *to = at(k, scan->results[0], i);
  FlValue *from = fl_ir_binary(k->b, FL_OP_WRAP_SUB, to, at(k, lengths.op->results[0], i));
  fl_ad_list_end(k->b, &m, rows(k, k->g, from, to));
  fl_ad_give(k, 0, m.op->results[0]);
  return true;
}

/* ---- the table ---- */

typedef struct Row {
  bool (*back)(const FlAdBulk *k);
  bool (*ahead)(const FlAdAhead *k);
  bool step;
} Row;

static const Row rules[FL_N_OPS] = {
#define FL_AD_RULE(OP, back, ahead) [FL_OP_##OP] = {fl_ad_back_##back, fl_ad_ahead_##ahead, false},
#define FL_AD_STEP(OP) [FL_OP_##OP] = {NULL, NULL, true},
#include "ad/rules/rules.def"
};

static bool no_rule(FlAd *ad, const FlOp *op) {
  if (op->code == FL_OP_CALL) return fl_ad_fail(ad, op->span, "a function that calls itself");
  if (op->code == FL_OP_EXTERN) return fl_ad_fail(ad, op->span, "a C function");
  return fl_ad_fail_op(ad, op, "");
}

bool fl_ad_bulk(FlAdFrame *f, FlOp *op) {
  FlAdBulk k = {f, &f->b, op, fl_ad_adjoint(f, op->results[0])};
  if (fl_ad_is_of_list(op)) return fl_ad_of_list(&k);
  if (op->code == FL_OP_LOAD) {
    one_element(&k);
    return true;
  }
  const Row *rule = &rules[op->code];
  if (rule->step) return true;
  return (rule->back ? rule->back(&k) : no_rule(f->ad, op)) && !f->ad->failed;
}

bool fl_ad_bulk_forward(FlAdFrame *f, const FlOp *op, FlValue **out) {
  FlAdAhead k = {f, &f->b, op, out};
  const Row *rule = &rules[op->code];
  bool any = false;
  for (int i = 0; i < op->n_args; i++) any = any || fl_ad_tangent(f, op->args[i]);
  if (rule->step || !any) return true;
  return (rule->ahead ? rule->ahead(&k) : no_rule(f->ad, op)) && !f->ad->failed;
}
