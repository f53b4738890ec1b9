/* rolling.c: rolling(x, n, f): f of the last n rows of each row's group, or of those within a span of a
 * column `by`.
 *
 * In: a column or an array, how many rows or how long, an aggregate or any function from an array to a value.
 * Out: as many values, null where the window holds too few. What always holds: a value depends on the rows of
 * its window alone. Aggregates with a fast form become one ROLLING; others are called once a row, with a view
 * of its window. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

/* What the call says, apart from the function. */
typedef struct Window {
  FlVal x, by; /* by: without a type when there is none */
  FlValue *width, *least;
  int64_t known_least; /* 0: only the run knows it */
  bool whole;          /* one group, rows in their order */
  FlGroupOrder order;  /* unless whole */
} Window;

/* ---- arguments ----------------------------------------------------------------------------------------- */

/* At least one, which is checked now or by the run. */
static bool at_least_one(FlSema *s, FlActual *a, FlValue *n, const char *what) {
  int64_t known;
  if (fl_ir_const_value_i(n, &known) && known < 1) {
    fl_sema_error(s, FL_E0631, a->span, "%s, and this is %lld", what, (long long)known);
    return false;
  }
  if (fl_ir_const_value_i(n, &known)) return true;
  FlValue *args[2] = {fl_sema_op2(s, FL_OP_GE, n, fl_sema_i64(s, 1)), n};
  FlSpan outer = s->b.span;
  s->b.span = a->span;
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 2, args, 0, NULL, 0);
  s->b.span = outer;
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = fl_arena_printf(s->arena, "%s, and this is {a}", what);
  return true;
}

static bool read_by(FlSema *s, FlCallSite *c, Window *w) {
  if (!fl_actual_given(&c->args[3])) return true;
  if (!fl_verb_window_column(s, c, &c->args[3], &w->by)) return false;
  FlDtype d = w->by.type->dtype;
  if (d != FL_DATE && d != FL_DATETIME && d != FL_DURATION && !fl_dtype_is_int(d)) {
    fl_sema_error(s, FL_E0632, c->args[3].span,
                  "`by` is a column of dates, datetimes, durations or integers, and this is %s",
                  fl_val_text(s, w->by));
    return false;
  }
  return fl_sema_same_size(s, fl_sema_dim(s, w->x, 0), fl_sema_dim(s, w->by, 0), c->args[3].span,
                           "the column has {a} rows, but `by` has {b}");
}

static bool read_width(FlSema *s, FlCallSite *c, Window *w) {
  FlActual *a = &c->args[1];
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  bool span = v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_DURATION;
  bool by_time = w->by.type && !fl_dtype_is_int(w->by.type->dtype);
  if (span != by_time) {
    FlDiag *d = fl_sema_report(s, FL_E0632, a->span,
                               span ? "a window of a duration needs `by`, a column of times"
                                    : "a window by time is a duration long");
    if (by_time) fl_diag_help(s->sink, d, "write `days(7)` or `hours(1)`");
    else if (!w->by.type) fl_diag_help(s->sink, d, "write `by = ` and the column of dates or datetimes");
    else fl_diag_help(s->sink, d, "`by` is %s, so the window is an integer", fl_val_text(s, w->by));
    return false;
  }
  v = fl_val_coerce(s, v, fl_type_scalar(s->types, span ? FL_DURATION : FL_I64, false), a->span,
                    "the window of `rolling`");
  if (fl_val_bad(v)) return false;
  w->width = v.parts[0];
  if (!span) return at_least_one(s, a, w->width, "`rolling` takes at least one row");
  FlValue *zero = fl_ir_const_i(&s->b, FL_DURATION, 0);
  FlValue *some = fl_sema_op2(s, FL_OP_GT, w->width, zero);
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 1, &some, 0, NULL, 0);
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = "the window of `rolling` must be longer than nothing";
  return true;
}

static bool read_least(FlSema *s, FlCallSite *c, Window *w) {
  w->least = w->by.type ? fl_sema_i64(s, 1) : w->width;
  if (fl_actual_given(&c->args[4])) {
    if (!fl_actual_i64(s, &c->args[4], &w->least)) return false;
    if (!at_least_one(s, &c->args[4], w->least, "`min_periods` is at least one value")) return false;
  }
  int64_t width;
  if (!fl_ir_const_value_i(w->least, &w->known_least)) w->known_least = 0;
  if (w->by.type || !fl_ir_const_value_i(w->width, &width) || w->known_least <= width) return true;
  fl_sema_error(s, FL_E0632, c->args[4].span, "a window of %lld row%s never holds %lld values",
                (long long)width, width == 1 ? "" : "s", (long long)w->known_least);
  return false;
}

static bool read_window(FlSema *s, FlCallSite *c, Window *w) {
  if (!fl_verb_window_column(s, c, &c->args[0], &w->x)) return false;
  if (!read_by(s, c, w) || !read_width(s, c, w) || !read_least(s, c, w)) return false;
  w->whole = !fl_verb_in_groups(s) && !w->by.type;
  if (!w->whole) w->order = fl_verb_order(s, w->x, w->by.type ? &w->by : NULL);
  return true;
}

/* The arguments of ROLLING up to the column; their number. */
static int window_args(const Window *w, FlValue **args, FlColumnAttr *columns, int *n_columns) {
  int n = 0;
  args[n++] = w->whole ? w->x.parts[0] : w->order.rows;
  args[n++] = w->whole ? w->x.parts[0] : w->order.start;
  args[n++] = w->width;
  args[n++] = w->least;
  *n_columns = 0;
  if (!w->by.type) return n;
  args[n++] = w->by.parts[0];
  if (w->by.type->nullable) args[n++] = w->by.parts[1];
  columns[(*n_columns)++] = fl_ir_column(w->by.type->nullable);
  return n;
}

static void set_window(FlSema *s, FlOp *op, const Window *w, const FlColumnAttr *columns, int n_columns) {
  op->attrs.i = (w->whole ? 1 : 0) | (w->by.type ? 2 : 0);
  if (n_columns) fl_ir_set_columns(s->arena, op, n_columns, columns);
}

/* ---- aggregates with a fast form
 * --------------------------------------------------------------------------- */

static FlVal fast(FlSema *s, FlCallSite *c, const Window *w, const char *kind, double setting) {
  FlDtype d;
  if (!fl_sema_aggregate_dtype(s, kind, kind, w->x, c->args[0].span, &d)) return fl_val_error(s);
  if (fl_dtype_is_decimal(w->x.type->dtype) && d == FL_F64) {
    FlDiag *diag = fl_sema_report(s, FL_E0323, c->args[0].span, "a moving `%s` takes numbers, and this is %s",
                                  kind, fl_val_text(s, w->x));
    fl_diag_help(s->sink, diag, "make a float of it: `f64(...)`");
    return fl_val_error(s);
  }
  FlValue *args[8];
  FlColumnAttr columns[2];
  int n_columns, n = window_args(w, args, columns, &n_columns);
  args[n++] = w->x.parts[0];
  if (w->x.type->nullable) args[n++] = w->x.parts[1];
  columns[n_columns++] = fl_ir_column(w->x.type->nullable);
  FlType1 types[2] = {fl_t_array(fl_dtype_stored(d), 1), fl_t_array(FL_BOOL, 1)};
  FlOp *op = fl_by_group_op(s, FL_OP_ROLLING, n, args, 2, types, true);
  set_window(s, op, w, columns, n_columns);
  op->attrs.s = fl_intern_z(s->names, kind);
  op->attrs.f = setting;
  bool spread = fl_aggregate_info[fl_aggregate_find(kind)].nulls == FL_NULLS_LACK,
       by_null = w->by.type && w->by.type->nullable;
  bool always = w->known_least == 1 && !by_null && !(spread && setting > 0);
  always = always && (!w->x.type->nullable || is(kind, "count"));
  return fl_val_with(s, fl_type_array(s->types, d, !always, 1), op->results, w->x);
}

static const char *fast_name(const char *name) {
  FlAggregate k = fl_aggregate_find(name);
  bool alone = k < FL_N_AGGREGATES && fl_aggregate_info[k].setting != FL_SETTING_SHARE;
  return alone && fl_aggregate_info[k].rolls ? fl_aggregate_info[k].name : NULL;
}

/* A number as it is written; false: it is something else. */
static bool written_number(FlSema *s, const FlExpr *e, double *out) {
  int64_t i;
  if (e->kind != FL_EXPR_FLOAT && e->kind != FL_EXPR_INT) return false;
  FlVal v = fl_sema_expr(s, e, NULL);
  if (v.literal == FL_LIT_FLOAT) *out = v.real;
  else if (fl_val_const_i(v, &i)) *out = (double)i;
  else return false;
  return true;
}

/* The aggregate that a function is: one by name, or `v => var(v)`, `v => std(v, ddof = 0)`, `v => quantile(v,
 * 0.9)`. NULL: no fast form. */
static const char *fast_kind(FlSema *s, const FlClosure *f, double *setting) {
  *setting = 1.0;
  if (f->builtin) return fast_name(f->builtin->name);
  const FlExpr *e = f->lambda, *call = e ? e->lambda.body : NULL;
  if (!e || e->lambda.params.n != 1 || e->lambda.params.at[0]->kind != FL_PAT_NAME ||
      call->kind != FL_EXPR_CALL || call->call.func->kind != FL_EXPR_NAME || call->call.args.n < 1)
    return NULL;
  const FlArg *args = call->call.args.at;
  const char *name = call->call.func->name.text;
  const FlBinding *hidden = fl_scope_find(s, name);
  if ((hidden && hidden->kind != FL_BIND_COLUMN) || args[0].name.text ||
      args[0].value->kind != FL_EXPR_NAME || args[0].value->name.text != e->lambda.params.at[0]->name.text)
    return NULL;
  if (call->call.args.n == 1) return fast_name(name);
  bool quantile = is(name, "quantile"), named = args[1].name.text != NULL;
  if (call->call.args.n > 2 || (!quantile && !is(name, "std") && !is(name, "var"))) return NULL;
  if (named != !quantile || (named && !is(args[1].name.text, "ddof"))) return NULL;
  if (!written_number(s, args[1].value, setting) || (quantile && *setting > 1)) return NULL;
  return quantile ? "quantile" : fast_name(name);
}

/* ---- any function
 * ------------------------------------------------------------------------------------------- */

static FlVal no_scalar(FlSema *s, FlCallSite *c, FlVal out) {
  if (fl_val_bad(out)) return out;
  return fl_sema_error(s, FL_E0605, c->args[2].span,
                       "the function of `rolling` gives one scalar a window, and this gives %s",
                       fl_val_text(s, out));
}

/* Where the window of each row begins and ends, among the rows by group. */
static FlOp *window_bounds(FlSema *s, const Window *w) {
  FlValue *args[8];
  FlColumnAttr columns[2];
  int n_columns, n = window_args(w, args, columns, &n_columns);
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *bounds = fl_ir_op(&s->b, FL_OP_ROLLING_BOUNDS, n, args, 2, types, 0);
  set_window(s, bounds, w, columns, n_columns);
  return bounds;
}

/* The window [*from, *to) of a row, in the loop over them; whether it has as many rows as it should. */
static FlValue *window_of(FlSema *s, const Window *w, FlOp *bounds, FlValue *row, FlValue **from,
                          FlValue **to) {
  if (bounds) {
    *from = fl_ir_load(&s->b, bounds->results[0], 1, &row, true);
    *to = fl_ir_load(&s->b, bounds->results[1], 1, &row, true);
    return fl_sema_op2(s, FL_OP_GT, *to, *from);
  }
  *to = fl_sema_op2(s, FL_OP_WRAP_ADD, row, fl_sema_i64(s, 1));
  *from = fl_sema_op2(s, FL_OP_WRAP_SUB, *to, w->width);
  if (w->least == w->width) return fl_sema_op2(s, FL_OP_GE, *to, w->width); /* `from` is none else */
  *from = fl_sema_op2(s, FL_OP_MAX, *from, fl_sema_i64(s, 0));
  return fl_sema_op2(s, FL_OP_GE, fl_sema_op2(s, FL_OP_WRAP_SUB, *to, *from), w->least);
}

static FlVal any_function(FlSema *s, FlCallSite *c, const Window *w, FlClosure *f) {
  FlValue *rows = fl_sema_dim(s, w->x, 0);
  FlVal counts = {0};
  if (w->x.type->nullable) counts = fast(s, c, w, "count", 1.0);
  if (counts.type && fl_val_bad(counts)) return counts;
  FlType1 i64 = fl_t_scalar(FL_I64);
  FlOp *bounds = w->whole ? NULL : window_bounds(s, w);
  FlVal sorted = w->whole ? w->x : fl_sema_take(s, w->x, w->order.rows, 0);
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, 1, &rows, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, 1, &i64);
  fl_by_group_say_loop(s, map, r);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *from, *to, *full = window_of(s, w, bounds, r->params[0], &from, &to);
  if (counts.type) { /* its bounds know of rows, not of nulls */
    FlValue *count = fl_ir_load(&s->b, counts.parts[0], 1, r->params, true);
    full = fl_sema_op2(s, FL_OP_AND, full, fl_sema_op2(s, FL_OP_GE, count, w->least));
  }
  FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &full, 0, NULL, 2);
  FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
  FlSavedPlace here = fl_sema_enter(s, yes);
  FlAggContext *agg = s->agg;
  s->agg = NULL;
  FlVal view = fl_sema_index_rows(s, sorted, from, to);
  for (int p = 0; p < view.type->n_parts; p++) { /* what is within */
    FlOp *cut = view.parts[p]->op;
    if (cut && cut->code == FL_OP_ROWS) cut->attrs.i = 1;
  }
  FlVal out = fl_sema_apply(s, f, 1, &view, c->args[2].span);
  s->agg = agg;
  bool scalar = !fl_val_bad(out) && out.type->kind == FL_TY_SCALAR;
  bool shared = scalar && fl_levels_need_outside(s, &out, map->parent, c->args[2].span);
  FlType1 types[2] = {fl_t_scalar(FL_BOOL), fl_t_scalar(FL_BOOL)};
  if (scalar) {
    FlValue *valid = fl_val_valid(s, out),
            *yields[2] = {out.parts[0], valid ? valid : fl_val_bool(s, true).parts[0]};
    types[0] = yields[0]->type;
    fl_ir_yield(yes, s->module, 2, yields);
  }
  fl_sema_leave(s, here);
  if (scalar) {
    here = fl_sema_enter(s, no);
    FlValue *yields[2] = {fl_val_zero(s, out.type->dtype), fl_val_bool(s, false).parts[0]};
    fl_ir_yield(no, s->module, 2, yields);
    fl_sema_leave(s, here);
    fl_ir_add_results(&s->b, branch, 2, types);
    fl_ir_yield(r, s->module, 2, branch->results);
  }
  fl_sema_leave(s, saved);
  if (!scalar) return no_scalar(s, c, out);
  if (!shared) return fl_val_error(s);
  FlType1 many[2] = {fl_t_array((FlDtype)types[0].dtype, 1), fl_t_array(FL_BOOL, 1)};
  fl_ir_add_results(&s->b, map, 2, many);
  return fl_val_with(s, fl_type_array(s->types, out.type->dtype, true, 1), map->results, out);
}

FlVal fl_builtin_rolling(FlSema *s, FlCallSite *c) {
  Window w = {0};
  double setting;
  if (!read_window(s, c, &w)) return fl_val_error(s);
  FlActual *a = &c->args[2];
  FlVal f = a->expr ? fl_sema_callee(s, a->expr) : a->value;
  if (fl_val_bad(f)) return f;
  if (f.type->kind != FL_TY_FUNC)
    return fl_sema_error(
        s, FL_E0325, a->span,
        "`rolling` takes a function from an array to a value, such as `mean`, and this is %s",
        fl_val_text(s, f));
  const char *kind = fast_kind(s, f.fn, &setting);
  FlClosure own = *f.fn;
  if (fl_verb_in_groups(s)) own.agg = NULL; /* no column is in it (group_class.c) */
  return kind ? fast(s, c, &w, kind, setting) : any_function(s, c, &w, &own);
}
