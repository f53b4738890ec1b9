/* builtin_array.c: builtins on whole arrays: making them, joining, products of vectors, segments, random
 * numbers.
 */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/column_names.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/value.h"

#include <stdlib.h>

static FlVal wrong(FlSema *s, FlCallSite *c, FlActual *a, FlVal v, const char *takes) {
  return fl_sema_error(s, FL_E0325, a->span, "`%s` takes %s, and this is %s", c->builtin->name, takes,
                       fl_val_text(s, v));
}

/* Rest arguments as sizes; false: reported. */
static bool read_sizes(FlSema *s, FlCallSite *c, FlValue **sizes, int *n) {
  if (c->n_rest > FL_MAX_RANK) {
    fl_sema_error(s, FL_E0403, c->span, "an array has at most %d dimensions", FL_MAX_RANK);
    return false;
  }
  for (int i = 0; i < c->n_rest; i++) {
    if (!fl_actual_i64(s, &c->rest[i], &sizes[i])) return false;
    int64_t k;
    if (fl_ir_const_value_i(sizes[i], &k) && k < 0) {
      fl_sema_error(s, FL_E0404, c->rest[i].span, "a size cannot be negative");
      return false;
    }
    if (!fl_sema_is_size(s, sizes[i])) {
      FlValue *ok = fl_sema_op2(s, FL_OP_GE, sizes[i], fl_sema_i64(s, 0));
      FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){ok, sizes[i]}, 0, NULL, 0);
      check->attrs.i = FL_FAULT_SHAPE;
      check->attrs.s = "a size cannot be negative: {a}";
      fl_sema_mark_size(s, sizes[i]);
    }
  }
  *n = c->n_rest;
  return true;
}

/* MAP over the sizes; element(index...) gives the value. */
typedef FlValue *ElementOf(FlSema *s, void *env, int rank, FlValue *const *index);
static FlVal generate(FlSema *s, FlDtype d, int rank, FlValue *const *sizes, ElementOf *element, void *env) {
  FlSemaMap map = fl_sema_map(s, rank, sizes, d);
  return fl_val_array(s, d, rank, fl_sema_map_end(s, &map, element(s, env, rank, map.index)));
}

static FlValue *constant_element(FlSema *s, void *env, int rank, FlValue *const *index) {
  (void)rank;
  (void)index;
  return fl_ir_const_f(&s->b, FL_F64, *(double *)env);
}

FlVal fl_builtin_filled(FlSema *s, FlCallSite *c) {
  FlValue *sizes[FL_MAX_RANK] = {0};
  int n;
  double value = strtod(c->builtin->data, NULL);
  if (!c->n_rest)
    return fl_sema_error(s, FL_E0210, c->span, "`%s` needs at least one size", c->builtin->name);
  if (!read_sizes(s, c, sizes, &n)) return fl_val_error(s);
  return generate(s, FL_F64, n, sizes, constant_element, &value);
}

static FlValue *eye_element(FlSema *s, void *env, int rank, FlValue *const *index) {
  (void)rank;
  (void)env;
  return fl_ir_select(&s->b, fl_sema_op2(s, FL_OP_EQ, index[0], index[1]), fl_ir_const_f(&s->b, FL_F64, 1),
                      fl_ir_const_f(&s->b, FL_F64, 0));
}

FlVal fl_builtin_eye(FlSema *s, FlCallSite *c) {
  FlValue *sizes[2];
  int n;
  c->rest[0] = c->args[0];
  c->n_rest = 1;
  if (!read_sizes(s, c, sizes, &n)) return fl_val_error(s);
  sizes[1] = sizes[0];
  return generate(s, FL_F64, 2, sizes, eye_element, NULL);
}

/* ---- joining and cutting ---- */

static FlVal concat_columns(FlSema *s, FlVal *parts, int n, const FlSpan *spans) {
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  FlVal out = fl_val_make(s, parts[0].type, parts[0].parts);
  int first = out.type->kind == FL_TY_TABLE ? 1 : 0;
  const bool *levels = out.type->levels;
  for (int p = first; p < out.type->n_parts; p++) {
    for (int i = 1; levels[p] && i < n; i++) {
      out.parts[p] = fl_levels_same(s, out.parts[p], parts[i].parts[p], spans[i]);
      if (!out.parts[p]) return fl_val_error(s);
    }
    if (levels[p]) continue;
    for (int i = 0; i < n; i++) args[i] = parts[i].parts[p];
    out.parts[p] = fl_ir_op(&s->b, FL_OP_CONCAT, n, args, 1, &args[0]->type, 0)->results[0];
  }
  if (first) {
    FlValue *rows = parts[0].parts[0];
    for (int i = 1; i < n; i++) rows = fl_sema_op2(s, FL_OP_ADD, rows, parts[i].parts[0]);
    fl_sema_mark_size(s, rows);
    out.parts[0] = rows;
  }
  if (out.type->kind == FL_TY_ARRAY && out.type->rank == 2) fl_column_names_below(s, n, parts, spans, out);
  return out;
}

FlVal fl_sema_concat_list(FlSema *s, FlVal list) {
  const FlType *t = list.type->elem;
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
  int first = t->kind == FL_TY_TABLE ? 1 : 0;
  for (int p = first; p < t->n_parts; p++) {
    FlType1 out = list.parts[p]->type;
    out.depth--;
    parts[p] =
        fl_ir_op(&s->b, t->levels[p] ? FL_OP_LIST_LEVELS : FL_OP_LIST_CONCAT, 1, &list.parts[p], 1, &out, 0)
            ->results[0];
  }
  if (first) parts[0] = fl_ir_dim(&s->b, parts[1], 0);
  return fl_val_make(s, t, parts);
}

FlVal fl_builtin_concat(FlSema *s, FlCallSite *c) {
  int n = c->n_rest;
  if (!n) return fl_sema_error(s, FL_E0210, c->span, "`concat` needs at least one argument");
  FlVal *v = FL_NEW_ARRAY(s->arena, FlVal, n);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, n);
  for (int i = 0; i < n; i++) {
    v[i] = fl_actual_value(s, &c->rest[i], NULL);
    spans[i] = c->rest[i].span;
    if (fl_val_bad(v[i])) return v[i];
    FlTyKind k = v[i].type->kind;
    if (k != FL_TY_ARRAY && k != FL_TY_TABLE && !(k == FL_TY_LIST && n == 1)) {
      FlDiag *d = fl_sema_report(s, FL_E0325, c->rest[i].span,
                                 "`concat` takes arrays or tables, and this is %s", fl_val_text(s, v[i]));
      if (v[i].type->dtype == FL_TEXT) fl_diag_help(s->sink, d, "texts are joined in one: `\"{a}{b}\"`");
      return fl_val_error(s);
    }
  }
  if (n == 1 && v[0].type->kind == FL_TY_LIST) {
    const FlType *t = v[0].type->elem;
    if (t->kind != FL_TY_ARRAY && t->kind != FL_TY_TABLE)
      return wrong(s, c, &c->rest[0], v[0], "a list of arrays or tables");
    return fl_sema_concat_list(s, v[0]);
  }
  /* A column that is nullable in one is nullable in all. */
  const FlType *t = v[0].type;
  for (int i = 1; i < n; i++) {
    if (fl_val_fits(s, v[i], t)) continue;
    FlVal probe = {.type = t};
    if (t->kind == FL_TY_ARRAY && v[i].type->kind == FL_TY_ARRAY) {
      FlVal both[2] = {probe, v[i]};
      const FlType *common = fl_type_common(s, both, 2);
      if (common) {
        t = common;
        continue;
      }
    }
    if (t->kind == FL_TY_TABLE && v[i].type->kind == FL_TY_TABLE) {
      FlVal rows[2] = {{.type = t->elem}, {.type = v[i].type->elem}};
      const FlType *row = fl_type_common(s, rows, 2);
      if (row) {
        t = fl_type_table(s->types, row);
        continue;
      }
    }
    FlDiag *d = fl_sema_report(s, FL_E0303, spans[i], "`concat` joins values of one type, but this is %s",
                               fl_val_text(s, v[i]));
    fl_diag_note(s->sink, d, spans[0], "and this is %s", fl_type_brief(s->types, t));
    if (t->kind == FL_TY_TABLE && v[i].type->kind == FL_TY_TABLE) fl_sema_explain_rows(s, d, v[i].type, t);
    return fl_val_error(s);
  }
  for (int i = 0; i < n; i++) {
    v[i] = fl_val_coerce(s, v[i], t, spans[i], "this argument");
    if (fl_val_bad(v[i])) return v[i];
    for (int k = 1; t->kind == FL_TY_ARRAY && k < t->rank; k++)
      if (!fl_sema_same_size(s, fl_sema_dim(s, v[0], k), fl_sema_dim(s, v[i], k), spans[i],
                             "sizes of the rows differ: {a} and {b}"))
        return fl_val_error(s);
  }
  return concat_columns(s, v, n, spans);
}

FlVal fl_builtin_stack(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || v.type->kind == FL_TY_ARRAY) return v;
  if (v.type->kind != FL_TY_LIST || v.type->elem->kind != FL_TY_ARRAY || v.type->elem->rank == FL_MAX_RANK)
    return wrong(s, c, &c->args[0], v, "a list of arrays");
  const FlType *e = v.type->elem;
  FlValue *parts[3];
  for (int p = 0; p < e->n_parts; p++) {
    bool levels = p >= fl_type_element_parts(e);
    FlType1 out = levels ? fl_t_array(FL_TEXT, 1) : fl_t_array((FlDtype)v.parts[p]->type.dtype, e->rank + 1);
    parts[p] = fl_ir_op(&s->b, levels ? FL_OP_LIST_LEVELS : FL_OP_LIST_STACK, 1, &v.parts[p], 1, &out, 0)
                   ->results[0];
  }
  return fl_val_make(s, fl_type_array(s->types, e->dtype, e->nullable, e->rank + 1), parts);
}

FlVal fl_builtin_reshape(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  FlValue *args[FL_MAX_RANK + 1], *parts[2];
  int n;
  if (fl_val_bad(v)) return v;
  if (v.type->kind != FL_TY_ARRAY) return wrong(s, c, &c->args[0], v, "an array");
  if (!c->n_rest) return fl_sema_error(s, FL_E0210, c->span, "`reshape` needs at least one size");
  if (!read_sizes(s, c, args + 1, &n)) return fl_val_error(s);
  for (int p = 0; p < fl_type_element_parts(v.type); p++) {
    args[0] = v.parts[p];
    FlType1 out = fl_t_array((FlDtype)v.parts[p]->type.dtype, n);
    parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, n + 1, args, 1, &out, 0)->results[0];
  }
  return fl_val_with(s, fl_type_array(s->types, v.type->dtype, v.type->nullable, n), parts, v);
}

FlVal fl_builtin_transpose(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 2)
    return wrong(s, c, &c->args[0], v, "an array of two dimensions");
  FlValue *parts[2];
  for (int p = 0; p < fl_type_element_parts(v.type); p++)
    parts[p] = fl_ir_op(&s->b, FL_OP_TRANSPOSE, 1, &v.parts[p], 1, &v.parts[p]->type, 0)->results[0];
  return fl_val_with(s, v.type, parts, v);
}

FlVal fl_builtin_gather(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (x.type->kind != FL_TY_ARRAY || c->n_rest != x.type->rank)
    return fl_sema_error(s, FL_E0404, c->span,
                         "`gather` takes an array and one array of positions for each of its dimensions");
  FlVal idx[FL_MAX_RANK];
  for (int k = 0; k < c->n_rest; k++) {
    FlVal v = fl_actual_value(s, &c->rest[k], NULL);
    if (fl_val_bad(v)) return v;
    idx[k] = fl_val_coerce(s, v, fl_type_array(s->types, FL_I64, false, 1), c->rest[k].span, "positions");
    if (fl_val_bad(idx[k]) ||
        !fl_sema_same_size(s, fl_sema_dim(s, idx[0], 0), fl_sema_dim(s, idx[k], 0), c->rest[k].span,
                           "arrays of positions differ in size: {a} and {b}"))
      return fl_val_error(s);
  }
  FlValue *n = fl_sema_dim(s, idx[0], 0), *parts[2];
  for (int p = 0; p < fl_type_element_parts(x.type); p++) {
    FlSemaMap map = fl_sema_map(s, 1, &n, (FlDtype)x.parts[p]->type.dtype);
    FlValue *at[FL_MAX_RANK];
    for (int k = 0; k < c->n_rest; k++) at[k] = fl_ir_load(&s->b, idx[k].parts[0], 1, map.index, true);
    parts[p] = fl_sema_map_end(s, &map, fl_ir_load(&s->b, x.parts[p], c->n_rest, at, false));
  }
  return fl_val_with(s, fl_type_array(s->types, x.type->dtype, x.type->nullable, 1), parts, x);
}

FlVal fl_builtin_argsort(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 1)
    return wrong(s, c, &c->args[0], v, "an array of one dimension");
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_SORT_PERM, fl_type_element_parts(v.type), v.parts, 1, &out, 0);
  FlColumnAttr key = fl_ir_column(v.type->nullable);
  fl_ir_set_columns(s->arena, op, 1, &key);
  return fl_val_array(s, FL_I64, 1, op->results[0]);
}

/* ---- products ---- */

FlVal fl_builtin_dot(FlSema *s, FlCallSite *c) {
  FlVal a = fl_actual_value(s, &c->args[0], NULL), b = fl_actual_value(s, &c->args[1], NULL);
  if (fl_val_bad(a) || fl_val_bad(b)) return fl_val_error(s);
  if (a.type->kind != FL_TY_ARRAY || a.type->rank != 1)
    return wrong(s, c, &c->args[0], a, "arrays of one dimension");
  if (b.type->kind != FL_TY_ARRAY || b.type->rank != 1)
    return wrong(s, c, &c->args[1], b, "arrays of one dimension");
  FlVal pair[2] = {a, b};
  if (!fl_sema_same_numbers(s, pair, c->span)) return fl_val_error(s);
  if (!fl_sema_same_size(s, fl_sema_dim(s, pair[0], 0), fl_sema_dim(s, pair[1], 0), c->span,
                         "`dot` of arrays with {a} and {b} elements"))
    return fl_val_error(s);
  FlValue *n = fl_sema_dim(s, pair[0], 0);
  FlType1 in = fl_t_scalar(FL_I64);
  bool is_float = fl_dtype_is_float(pair[0].type->dtype);
  FlOp *op = fl_ir_op(&s->b, FL_OP_REDUCE, 1, &n, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, 1, &in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *yields[2] = {fl_ir_load(&s->b, pair[0].parts[0], 1, r->params, true),
                        fl_ir_load(&s->b, pair[1].parts[0], 1, r->params, true)};
  FlVal e = fl_val_scalar(s, pair[0].type->dtype, yields[0]);
  if (!is_float) {
    e = fl_sema_reduce_element(
        s, "sum", fl_val_scalar(s, pair[0].type->dtype, fl_sema_op2(s, FL_OP_MUL, yields[0], yields[1])),
        c->span);
    yields[0] = e.parts[0];
  }
  fl_ir_yield(r, s->module, is_float ? 2 : 1, yields);
  fl_sema_leave(s, saved);
  return fl_sema_reduce_finish(s, op, is_float ? "sum_product" : "sum", e.type->dtype, false, n);
}

/* ---- segments ---- */

static bool read_labels(FlSema *s, FlCallSite *c, FlActual *label, FlActual *k, FlVal *l, FlValue **n) {
  FlVal v = fl_actual_value(s, label, NULL);
  if (fl_val_bad(v)) return false;
  *l = fl_val_coerce(s, v, fl_type_array(s->types, FL_I64, false, 1), label->span, "labels");
  (void)c;
  return !fl_val_bad(*l) && fl_actual_i64(s, k, n);
}

static FlValue *counts_of(FlSema *s, FlVal label, FlValue *k) {
  FlType1 out = fl_t_array(FL_I64, 1);
  return fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, (FlValue *[]){label.parts[0], k}, 1, &out, 0)->results[0];
}

FlVal fl_builtin_segment_count(FlSema *s, FlCallSite *c) {
  FlVal label;
  FlValue *k;
  if (!read_labels(s, c, &c->args[0], &c->args[1], &label, &k)) return fl_val_error(s);
  return fl_val_array(s, FL_I64, 1, counts_of(s, label, k));
}

FlVal fl_builtin_segment(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL), label;
  FlValue *k;
  if (fl_val_bad(x)) return x;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank > 2 || x.type->nullable ||
      !fl_dtype_is_number(x.type->dtype))
    return wrong(s, c, &c->args[0], x, "an array of numbers of one or two dimensions");
  if (!read_labels(s, c, &c->args[1], &c->args[2], &label, &k)) return fl_val_error(s);
  bool mean = c->builtin->data[0] == 'm';
  FlDtype d = x.type->dtype;
  if (mean && !fl_dtype_is_float(d)) d = FL_F64;
  else if (fl_dtype_is_int(d) && d != FL_U64) d = FL_I64;
  x = fl_val_coerce(s, x, fl_type_array(s->types, d, false, x.type->rank), c->args[0].span, "the array");
  if (!fl_sema_same_size(s, fl_sema_dim(s, x, 0), fl_sema_dim(s, label, 0), c->args[1].span,
                         "{a} rows, but {b} labels"))
    return fl_val_error(s);
  FlType1 out = fl_t_array(d, x.type->rank);
  FlValue *sum =
      fl_ir_op(&s->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){x.parts[0], label.parts[0], k}, 1, &out, 0)
          ->results[0];
  FlVal total = fl_val_array(s, d, x.type->rank, sum);
  if (x.type->rank == 2) fl_sema_alias(s, fl_ir_dim(&s->b, sum, 1), fl_sema_dim(s, x, 1));
  fl_sema_mark_size(s, k);
  FlValue *rows = fl_ir_dim(&s->b, sum, 0);
  if (rows != k) fl_sema_alias(s, rows, fl_sema_size(s, k));
  if (!mean) return total;
  FlVal n = fl_val_array(s, FL_I64, 1, counts_of(s, label, k));
  FlValue *n_rows = fl_ir_dim(&s->b, n.parts[0], 0);
  if (n_rows != fl_sema_size(s, k)) fl_sema_alias(s, n_rows, fl_sema_size(s, k));
  n = fl_val_coerce(s, n, fl_type_array(s->types, d, false, 1), c->span, "the counts");
  if (x.type->rank == 2) n = fl_sema_spread_axis(s, n, total, 1);
  return fl_sema_lift_op(s, c->span, FL_OP_DIV, 2, (FlVal[]){total, n}, d, NULL);
}

/* ---- running and folding ---- */

FlVal fl_builtin_cumulative(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank != 1 || x.type->nullable ||
      !(fl_dtype_is_number(x.type->dtype) || fl_dtype_is_decimal(x.type->dtype)))
    return wrong(s, c, &c->args[0], x, "an array of numbers of one dimension");
  FlValue *n = fl_sema_dim(s, x, 0), *args[2] = {n, fl_val_zero(s, x.type->dtype)};
  FlType1 out = fl_t_array(x.type->dtype, 1), in[2] = {fl_t_scalar(FL_I64), fl_t_scalar(x.type->dtype)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_SCAN, 2, args, 1, &out, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, 2, in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *v = fl_sema_op2(s, FL_OP_ADD, r->params[1], fl_ir_load(&s->b, x.parts[0], 1, r->params, true));
  fl_ir_yield(r, s->module, 1, &v);
  fl_sema_leave(s, saved);
  return fl_val_array(s, x.type->dtype, 1, op->results[0]);
}

/* ---- random numbers ---- */

/* seed, then up to two positions; the row of the verb stands for a missing one in a column expression. */
static FlVal random_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)span;
  const FlBuiltin *bi = env;
  FlValue *values[5];
  int want = bi->op == FL_OP_RANDOM_INT ? 5 : 3;
  for (int i = 0; i < want; i++) values[i] = i < n ? args[i].parts[0] : fl_sema_i64(s, 0);
  FlDtype d = bi->op == FL_OP_RANDOM_INT ? FL_I64 : FL_F64;
  FlType1 out = fl_t_scalar(d);
  return fl_val_scalar(s, d, fl_ir_op(&s->b, bi->op, want, values, 1, &out, 0)->results[0]);
}

static FlValue *row_element(FlSema *s, void *env, int rank, FlValue *const *index) {
  (void)s;
  (void)env;
  (void)rank;
  return index[0];
}

static bool random_arg(FlSema *s, FlActual *a, FlVal *out) {
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  const FlType *want = v.type->kind == FL_TY_ARRAY ? fl_type_array(s->types, FL_I64, false, v.type->rank)
                                                   : fl_type_scalar(s->types, FL_I64, false);
  *out = fl_val_coerce(s, v, want, a->span, "this argument");
  return !fl_val_bad(*out);
}

static FlVal random_at(FlSema *s, FlCallSite *c, int lead) {
  FlVal args[5];
  int n = 0;
  for (int i = 0; i < lead; i++)
    if (!random_arg(s, &c->args[i], &args[n++])) return fl_val_error(s);
  if (c->n_rest > 2)
    return fl_sema_error(s, FL_E0210, c->rest[2].span, "`%s` takes at most two positions", c->builtin->name);
  for (int i = 0; i < c->n_rest; i++)
    if (!random_arg(s, &c->rest[i], &args[n++])) return fl_val_error(s);
  if (!c->n_rest) {
    if (!s->agg || !s->agg->rows) {
      FlDiag *d = fl_sema_report(
          s, FL_E0210, c->span, "`%s` needs a position here: the same seed and position give the same number",
          c->builtin->name);
      fl_diag_help(s->sink, d, "write `%s(seed, i)`, or `%s(seed, n)` for an array of them", c->builtin->name,
                   c->builtin->op == FL_OP_RANDOM          ? "uniform"
                   : c->builtin->op == FL_OP_RANDOM_NORMAL ? "normal"
                                                           : "integers");
      return fl_val_error(s);
    }
    args[n++] = s->agg->positions ? fl_val_array(s, FL_I64, 1, s->agg->positions)
                                  : generate(s, FL_I64, 1, &s->agg->rows, row_element, NULL);
  }
  return fl_sema_lift(s, c->span, n, args, random_element, (void *)(uintptr_t)c->builtin);
}

FlVal fl_builtin_random(FlSema *s, FlCallSite *c) { return random_at(s, c, 1); }
FlVal fl_builtin_random_int(FlSema *s, FlCallSite *c) { return random_at(s, c, 3); }

typedef struct RandomArray {
  const FlBuiltin *bi;
  int lead;
  FlValue *args[3], *sizes[FL_MAX_RANK];
} RandomArray;

static FlValue *random_array_element(FlSema *s, void *env, int rank, FlValue *const *index) {
  RandomArray *r = env;
  FlValue *values[5], *at = index[0];
  for (int k = 1; k < rank; k++)
    at = fl_sema_op2(s, FL_OP_WRAP_ADD, fl_sema_op2(s, FL_OP_WRAP_MUL, at, r->sizes[k]), index[k]);
  memcpy(values, r->args, sizeof *values * (size_t)r->lead);
  values[r->lead] = at;
  values[r->lead + 1] = fl_sema_i64(s, 0);
  FlType1 out = fl_t_scalar(r->bi->op == FL_OP_RANDOM_INT ? FL_I64 : FL_F64);
  return fl_ir_op(&s->b, r->bi->op, r->lead + 2, values, 1, &out, 0)->results[0];
}

static FlVal random_whole(FlSema *s, FlCallSite *c, int lead) {
  RandomArray r = {.bi = c->builtin, .lead = lead};
  int n;
  for (int i = 0; i < lead; i++)
    if (!fl_actual_i64(s, &c->args[i], &r.args[i])) return fl_val_error(s);
  if (!c->n_rest)
    return fl_sema_error(s, FL_E0210, c->span, "`%s` needs at least one size", c->builtin->name);
  if (!read_sizes(s, c, r.sizes, &n)) return fl_val_error(s);
  return generate(s, lead == 3 ? FL_I64 : FL_F64, n, r.sizes, random_array_element, &r);
}

FlVal fl_builtin_random_array(FlSema *s, FlCallSite *c) { return random_whole(s, c, 1); }
FlVal fl_builtin_random_ints(FlSema *s, FlCallSite *c) { return random_whole(s, c, 3); }

FlVal fl_builtin_subseed(FlSema *s, FlCallSite *c) {
  FlVal args[2];
  if (!random_arg(s, &c->args[0], &args[0]) || !random_arg(s, &c->args[1], &args[1])) return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, FL_OP_SUBSEED, 2, args, FL_I64, NULL);
}

FlVal fl_builtin_permutation(FlSema *s, FlCallSite *c) {
  FlValue *args[2];
  if (!fl_actual_i64(s, &c->args[0], &args[0]) || !fl_actual_i64(s, &c->args[1], &args[1]))
    return fl_val_error(s);
  FlType1 out = fl_t_array(FL_I64, 1);
  return fl_val_array(s, FL_I64, 1, fl_ir_op(&s->b, FL_OP_PERMUTATION, 2, args, 1, &out, 0)->results[0]);
}

FlVal fl_builtin_choice(FlSema *s, FlCallSite *c) {
  FlValue *args[3];
  bool replace = false;
  for (int i = 0; i < 3; i++)
    if (!fl_actual_i64(s, &c->args[i], &args[i])) return fl_val_error(s);
  if (fl_actual_given(&c->args[3]) && !fl_actual_const_bool(s, &c->args[3], &replace)) return fl_val_error(s);
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_CHOICE, 3, args, 1, &out, 0);
  op->attrs.i = replace;
  FlValue *n = fl_ir_dim(&s->b, op->results[0], 0);
  fl_sema_mark_size(s, args[2]);
  if (n != args[2]) fl_sema_alias(s, n, fl_sema_size(s, args[2]));
  return fl_val_array(s, FL_I64, 1, op->results[0]);
}
