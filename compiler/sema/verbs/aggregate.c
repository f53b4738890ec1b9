/* aggregate.c: what sum, mean, count ... mean in the arguments of summarize, derive, where and their kin.
 *
 * In: a call whose first argument is a column of the verb's table. Out: an AGGREGATE over the groups: in
 * summarize one value a group, elsewhere the group's value on each of its rows (a scalar without groups).
 * Nulls are skipped; the result is nullable where a group may have no value. */
#include <math.h>

#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/decimal.h"
#include "sema/expr.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

bool fl_sema_is_rows(FlSema *s, FlValue *n) { return fl_sema_sizes_equal(s, n, s->agg->rows); }

bool fl_sema_has_rows(FlSema *s, FlVal v) {
  return v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && fl_sema_is_rows(s, fl_sema_dim(s, v, 0));
}

static void alias_rows(FlSema *s, FlVal v, FlValue *rows) {
  FlValue *to = fl_sema_size(s, rows);
  for (int p = 0; p < fl_type_element_parts(v.type); p++) {
    FlValue *from = fl_sema_size(s, fl_ir_dim(&s->b, v.parts[p], 0));
    if (from != to) fl_sema_alias(s, from, to);
  }
}

static bool at_once(FlSema *s, const FlActual *a) {
  return a->expr && fl_group_class(s, a->expr) == FL_GROUP_AT_ONCE;
}

FlVal fl_sema_column_argument(FlSema *s, FlActual *a) {
  FlAggContext *outer = s->agg, *inner = fl_arena_copy(s->arena, outer, sizeof *outer); /* lambdas keep it */
  inner->mode = outer->table ? FL_AGG_SPREAD : FL_AGG_NONE;
  s->agg = inner;
  inner->by_group = outer->group_of && outer->table && (at_once(s, a) || (a->only && at_once(s, a->only)));
  FlVal v = fl_actual_value(s, a, NULL);
  s->agg = outer;
  return v;
}

bool fl_sema_aggregate_dtype(FlSema *s, const char *kind, const char *name, FlVal x, FlSpan span,
                             FlDtype *out) {
  FlDtype d = x.type->dtype;
  const char *takes = "numbers";
  bool ok = fl_dtype_is_number(d) || d == FL_BOOL;
  FlAggResult result = fl_aggregate_info[fl_aggregate_find(kind)].result;
  *out = FL_F64;
  switch (result) {
  case FL_RESULT_COUNT:
  case FL_RESULT_SAME:
    takes = "numbers, dates, texts or bool";
    ok = d != FL_FILE;
    *out = result == FL_RESULT_COUNT ? FL_I64 : d;
    break;
  case FL_RESULT_LOGIC:
    takes = "bool values";
    ok = d == FL_BOOL;
    *out = FL_BOOL;
    break;
  case FL_RESULT_SUM:
  case FL_RESULT_MEAN:
    if (d == FL_DURATION) ok = true, *out = d;
    else if (fl_dtype_is_decimal(d)) ok = true, *out = result == FL_RESULT_SUM ? d : FL_F64;
    else if (result == FL_RESULT_SUM && !fl_dtype_is_float(d)) *out = d == FL_U64 ? FL_U64 : FL_I64;
    break;
  case FL_RESULT_REAL: break;
  }
  if (ok) return true;
  FlDiag *diag =
      fl_sema_report(s, FL_E0323, span, "`%s` takes %s, and this is %s", name, takes, fl_val_text(s, x));
  if (fl_dtype_is_decimal(d) && !ok) fl_diag_help(s->sink, diag, "make a float of it: `f64(...)`");
  if (result == FL_RESULT_LOGIC) fl_diag_help(s->sink, diag, "compare first, as in `%s(x > 0)`", kind);
  return false;
}

/* A number that is known while compiling. */
static bool constant(FlSema *s, FlActual *a, double *out) {
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  int64_t i;
  if (v.literal == FL_LIT_FLOAT) {
    *out = v.real;
    return true;
  }
  if (fl_val_const_i(v, &i) && fl_dtype_is_int(v.type->dtype)) {
    *out = (double)i;
    return true;
  }
  const FlOp *op = v.type->kind == FL_TY_SCALAR && fl_dtype_is_float(v.type->dtype) && !v.type->nullable
                       ? v.parts[0]->op
                       : NULL;
  if (op && op->code == FL_OP_CONST) {
    *out = op->attrs.f;
    return true;
  }
  fl_sema_error(s, FL_E0324, a->span, "this must be a number that is known when compiling");
  return false;
}

/* ddof or q of the call. */
static bool read_setting(FlSema *s, FlCallSite *c, const char *kind, double *out) {
  FlAggSetting setting = fl_aggregate_info[fl_aggregate_find(kind)].setting;
  *out = setting == FL_SETTING_HALF ? 0.5 : 1.0;
  if (setting == FL_SETTING_SHARE) {
    if (!constant(s, &c->args[1], out)) return false;
    if (*out >= 0 && *out <= 1) return true;
    fl_sema_error(s, FL_E0615, c->args[1].span, "`quantile` takes a share between 0 and 1, and this is %g",
                  *out);
    return false;
  }
  if (setting != FL_SETTING_DDOF || !fl_actual_given(&c->args[2])) return true;
  if (!constant(s, &c->args[2], out)) return false;
  if (*out == floor(*out) && fabs(*out) <= INT32_MAX) return true;
  fl_sema_error(s, FL_E0324, c->args[2].span, "`ddof` is a whole number, and this is %g", *out);
  return false;
}

/* The rows of each group. */
static FlVal count_rows(FlSema *s) {
  FlAggContext *agg = s->agg;
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_BOOL, 1)};
  if (!agg->group_of) {
    FlValue *rows = fl_sema_size(s, agg->rows);
    if (agg->mode == FL_AGG_SPREAD) return fl_val_scalar(s, FL_I64, rows);
    FlVal out = fl_val_array(s, FL_I64, 1, fl_ir_op(&s->b, FL_OP_ARRAY, 1, &rows, 1, types, 0)->results[0]);
    alias_rows(s, out, agg->groups);
    return out;
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_AGGREGATE, 2, (FlValue *[]){agg->groups, agg->group_of}, 2, types, 0);
  op->attrs.s = "count";
  return fl_val_array(s, FL_I64, 1, op->results[0]);
}

static FlVal aggregate(FlSema *s, const char *kind, double setting, int n, const FlVal *columns, FlDtype d) {
  FlAggNulls nulls = fl_aggregate_info[fl_aggregate_find(kind)].nulls;
  FlAggContext *agg = s->agg;
  FlValue *args[6] = {agg->groups, agg->group_of ? agg->group_of : columns[0].parts[0]};
  FlColumnAttr attrs[2];
  int at = 2;
  bool nullable = (!agg->group_of && !agg->some_rows) || nulls == FL_NULLS_LACK;
  for (int i = 0; i < n; i++) {
    FlValue *valid = fl_val_valid(s, columns[i]);
    args[at++] = columns[i].parts[0];
    if (valid) args[at++] = valid;
    attrs[i] = fl_ir_column(valid);
    nullable = nullable || valid;
  }
  if (nulls == FL_NULLS_NEVER) nullable = false;
  FlType1 types[2] = {fl_t_array(fl_dtype_stored(d), 1), fl_t_array(FL_BOOL, 1)};
  bool overflows = is(kind, "sum") && !fl_dtype_is_float(columns[0].type->dtype);
  FlOp *op = overflows ? fl_by_group_op(s, FL_OP_AGGREGATE, at, args, 2, types, false)
                       : fl_ir_op(&s->b, FL_OP_AGGREGATE, at, args, 2, types, 0);
  op->attrs.s = fl_intern_z(s->names, kind);
  op->attrs.f = setting;
  op->attrs.i = !agg->group_of;
  fl_ir_set_columns(s->arena, op, n, attrs);
  return fl_val_with(s, fl_type_array(s->types, d, nullable, 1), op->results, columns[0]);
}

/* One value a group, as the context wants it. */
static FlVal deliver(FlSema *s, FlVal v) {
  FlAggContext *agg = s->agg;
  if (v.type->kind == FL_TY_SCALAR) return v;
  if (agg->mode == FL_AGG_SUMMARIZE) {
    alias_rows(s, v, agg->groups);
    return v;
  }
  if (!agg->group_of) return fl_sema_at(s, v, fl_sema_i64(s, 0), true);
  v = fl_sema_take(s, v, agg->group_of, FL_TAKE_PROVEN);
  alias_rows(s, v, agg->rows);
  return v;
}

/* Are these values of columns, or some of them: a column, x[y > 2], arithmetic with that? */
static bool from_columns(FlSema *s, const FlExpr *e) {
  if (e->kind == FL_EXPR_UNARY) return from_columns(s, e->unary.operand);
  if (e->kind == FL_EXPR_BINARY) return from_columns(s, e->binary.left) || from_columns(s, e->binary.right);
  if (e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL || e->kind == FL_EXPR_INDEX)
    return fl_names_column(s, e);
  const FlBuiltin *f = e->kind == FL_EXPR_CALL && e->call.func->kind == FL_EXPR_NAME
                           ? fl_builtin_find(s, e->call.func->name.text)
                           : NULL;
  for (int i = 0; f && (f->kinds & FL_BUILTIN_SCALAR) && i < e->call.args.n; i++)
    if (from_columns(s, e->call.args.at[i].value)) return true;
  return false;
}

/* Is the code here for all rows: where the verb's is, or in a branch of it by one condition? */
static bool of_all_rows(FlSema *s) {
  const FlRegion *r = s->b.region;
  while (r && r != s->agg->region && r->owner && r->owner->code == FL_OP_IF) r = r->owner->parent;
  return s->agg->table && r == s->agg->region;
}

/* One value, which all rows have, as a column. */
static FlVal as_rows(FlSema *s, FlVal x, FlValue *rows, FlSpan span) {
  bool scalar = x.type->kind == FL_TY_SCALAR && of_all_rows(s);
  return scalar ? fl_verb_as_column(s, x, rows, span, "value") : x;
}

/* What an aggregate takes: a column; an array chosen from columns, as x[y > 2], which is a table of its own
 * then (but not for positions: one that may be null is no index); one value, which all rows have. false: it
 * is a plain array, or none. */
static bool takes(FlSema *s, const char *kind, FlVal *x, const FlExpr *written, FlSpan span,
                  FlAggContext *own) {
  bool position = is(kind, "argmin") || is(kind, "argmax");
  const FlAggContext *agg = s->agg;
  if (fl_val_bad(*x)) return false;
  *own = *agg;
  *x = as_rows(s, *x, agg->rows, span);
  if (fl_sema_has_rows(s, *x)) return true;
  bool of_groups = agg->group_of && agg->columns && x->type->kind == FL_TY_ARRAY && x->type->rank == 1;
  if (of_groups) /* group_class.c says that it goes row by row; never the whole table's for each group */
    return fl_sema_same_size(s, agg->rows, fl_sema_dim(s, *x, 0), span,
                             "the table has {a} rows, but this has {b} values");
  bool chosen = agg->table && agg->columns && !agg->group_of && x->type->kind == FL_TY_ARRAY &&
                x->type->rank == 1 && !position && written && from_columns(s, written);
  if (!chosen) return false;
  own->rows = fl_sema_dim(s, *x, 0);
  own->table = NULL;
  own->some_rows = false;
  return true;
}

/* What is no sum of decimals is of the floats nearest to them. */
static FlVal measured(FlSema *s, const char *kind, FlVal x, FlSpan span) {
  bool real = fl_aggregate_info[fl_aggregate_find(kind)].result == FL_RESULT_REAL;
  return real && !fl_val_bad(x) && fl_val_is_decimal(x) ? fl_decimal_to_real(s, x, span) : x;
}

static FlVal aggregate_columns(FlSema *s, FlCallSite *c, int n, FlVal *columns) {
  const char *kind = c->builtin->data;
  FlDtype d, ignored;
  double setting;
  for (int k = 0; k < n; k++) columns[k] = measured(s, kind, columns[k], c->args[k].span);
  if (!fl_sema_aggregate_dtype(s, kind, kind, columns[0], c->args[0].span, &d) ||
      !read_setting(s, c, kind, &setting))
    return fl_val_error(s);
  if (n == 2) {
    FlVal y = columns[1];
    if (fl_val_bad(y)) return y;
    if (y.type->kind != FL_TY_ARRAY || y.type->rank != 1)
      return fl_sema_error(s, FL_E0323, c->args[1].span, "`%s` takes two columns, and the second is %s", kind,
                           fl_val_text(s, y));
    const char *sizes = s->agg->table ? "the table has {a} rows, but this has {b} values"
                                      : "the first array has {a} elements, the second {b}";
    if (!fl_sema_has_rows(s, y) &&
        !fl_sema_same_size(s, s->agg->rows, fl_sema_dim(s, y, 0), c->args[1].span, sizes))
      return fl_val_error(s);
    if (!fl_sema_aggregate_dtype(s, kind, kind, y, c->args[1].span, &ignored)) return fl_val_error(s);
  }
  return deliver(s, aggregate(s, kind, setting, n, columns, d));
}

bool fl_sema_aggregate_call(FlSema *s, FlCallSite *c, FlVal *out) {
  if (!s->agg || s->agg->mode == FL_AGG_NONE || c->n_rest) return false;
  if (!(c->builtin->kinds & FL_BUILTIN_AGGREGATE)) return false; /* product */
  if (is(c->builtin->data, "count") && !fl_actual_given(&c->args[0])) {
    *out = deliver(s, count_rows(s));
    return true;
  }
  const FlBuiltin *bi = c->builtin;
  if (bi->n_params > 1 && is(bi->params[1].name, "axis") && fl_actual_given(&c->args[1])) return false;
  const FlExpr *written = c->args[0].expr;
  FlVal columns[2] = {fl_sema_column_argument(s, &c->args[0])};
  if (is(bi->name, "len")) {
    if (fl_val_bad(columns[0]) || !fl_sema_has_rows(s, columns[0])) return false;
    *out = deliver(s, count_rows(s));
    return true;
  }
  FlAggContext *outer = s->agg, own;
  if (!takes(s, bi->data, &columns[0], written, c->args[0].span, &own)) return false;
  int n = fl_aggregate_info[fl_aggregate_find(bi->data)].columns == 2 ? 2 : 1;
  if (n == 2) columns[1] = fl_sema_column_argument(s, &c->args[1]);
  if (n == 2 && !fl_val_bad(columns[1])) columns[1] = as_rows(s, columns[1], own.rows, c->args[1].span);
  s->agg = &own;
  *out = aggregate_columns(s, c, n, columns);
  s->agg = outer;
  return true;
}

FlVal fl_sema_aggregate_of(FlSema *s, FlVal t, const char *kind, double setting, FlVal x, FlSpan span) {
  FlAggContext *outer = s->agg,
               whole = {
                   .mode = FL_AGG_SPREAD, .rows = fl_val_rows(t), .groups = fl_sema_i64(s, 1), .table = &t};
  FlDtype d;
  x = measured(s, kind, x, span);
  if (!fl_sema_aggregate_dtype(s, kind, kind, x, span, &d)) return fl_val_error(s);
  s->agg = &whole;
  FlVal out = deliver(s, aggregate(s, kind, setting, 1, &x, d));
  s->agg = outer;
  return out;
}
