/* reduce.c: reductions of arrays: sum(x), mean(x, axis = 0), quantile(x, q) ... and what they share with
 * sum(for ...).
 *
 * Float sums follow the order of LANGUAGE 5 through the REDUCE operator; a product that stands directly in
 * `sum` is fused into it. Nulls are skipped. Over nothing: sum 0, product 1, count 0, any false, all true,
 * the others an error. */
#include "sema/habits.h"
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/decimal.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/column_set.h"
#include "sema/verbs/groups.h"

static bool is(const char *kind, const char *name) { return strcmp(kind, name) == 0; }

bool fl_sema_reduces(const char *name) {
  FlReduceKind kind;
  if (!fl_reduce_find(name, &kind)) return is(name, "mean");
  return kind != FL_RED_SUM_PRODUCT && kind != FL_RED_EACH; /* these are no functions of the language */
}

/* The operator's kind; a mean is made of a sum. */
static FlReduceKind kind_of(const char *name) {
  FlReduceKind kind = FL_RED_SUM;
  fl_reduce_find(name, &kind);
  return kind;
}

FlVal fl_sema_reduce_element(FlSema *s, const char *kind, FlVal v, FlSpan span) {
  if (v.type->kind != FL_TY_SCALAR) {
    FlDiag *d =
        fl_sema_report(s, FL_E0323, span, "`%s` reduces scalars, and this is %s", kind, fl_val_text(s, v));
    if (v.type->kind == FL_TY_TUPLE) fl_diag_help(s->sink, d, "take one field of it");
    return fl_val_error(s);
  }
  FlDtype d = v.type->dtype;
  bool logical = is(kind, "any") || is(kind, "all") || is(kind, "count");
  bool orders = fl_reduce_picks(kind_of(kind));
  if (logical) {
    if (d != FL_BOOL)
      return fl_sema_error(s, FL_E0323, span, "`%s` takes bool values, and this is %s", kind,
                           fl_val_text(s, v));
    return v;
  }
  FlDtype to = d;
  if (orders) {
    bool ok = fl_dtype_is_number(d) || d == FL_DATE || d == FL_DATETIME || d == FL_DURATION ||
              fl_dtype_is_decimal(d);
    if (!ok)
      return fl_sema_error(s, FL_E0323, span, "`%s` takes numbers or dates, and this is %s", kind,
                           fl_val_text(s, v));
    return v;
  }
  if (is(kind, "mean")) to = d == FL_F32 ? FL_F32 : FL_F64;
  else if (d == FL_BOOL) to = FL_I64;
  else if (fl_dtype_is_int(d) && d != FL_U64) to = FL_I64;
  bool sums = is(kind, "sum") && (d == FL_DURATION || fl_dtype_is_decimal(d));
  if (!fl_dtype_is_number(d) && d != FL_BOOL && d != FL_DURATION && !sums) {
    FlDiag *diag =
        fl_sema_report(s, FL_E0323, span, "`%s` takes numbers, and this is %s", kind, fl_val_text(s, v));
    if (fl_dtype_is_decimal(d)) fl_diag_help(s->sink, diag, "make a float of it: `f64(...)`");
    return fl_val_error(s);
  }
  if (to == d) return v;
  if (d == FL_BOOL) { /* true counts one */
    FlValue *one = to == FL_I64 ? fl_sema_i64(s, 1) : fl_ir_const_f(&s->b, to, 1.0);
    FlValue *parts[2] = {fl_ir_select(&s->b, v.parts[0], one, fl_val_zero(s, to)), fl_val_valid(s, v)};
    return fl_val_make(s, fl_type_scalar(s->types, to, v.type->nullable), parts);
  }
  return fl_val_coerce(s, v, fl_type_scalar(s->types, to, v.type->nullable), span, "the element");
}

static void check_not_empty(FlSema *s, FlValue *n, const char *kind) {
  int64_t c;
  if (fl_ir_const_value_i(n, &c) && c > 0) return;
  FlValue *ok = fl_sema_op2(s, FL_OP_GT, n, fl_sema_i64(s, 0));
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 1, &ok, 0, NULL, 0);
  check->attrs.i = FL_FAULT_EMPTY;
  check->attrs.s = fl_arena_printf(s->arena, "`%s` of nothing", kind);
}

FlVal fl_sema_reduce_finish(FlSema *s, FlOp *op, const char *kind, FlDtype d, bool filtered, FlValue *n) {
  bool mean = is(kind, "mean");
  FlReduceKind made = kind_of(kind);
  bool counts = made == FL_RED_COUNT || made == FL_RED_ARGMIN || made == FL_RED_ARGMAX;
  FlDtype out = counts ? FL_I64 : d;
  fl_ir_set_reduction(op, made, filtered);
  FlType1 type = fl_t_scalar(out);
  fl_ir_add_results(&s->b, op, 1, &type);
  if (!mean) return fl_val_scalar(s, out, op->results[0]);
  FlValue *count = n;
  if (filtered) { /* the same region, its keep flag counted */
    FlType1 i64 = fl_t_scalar(FL_I64);
    FlOp *c = fl_ir_op(&s->b, FL_OP_REDUCE, op->n_args, op->args, 1, &i64, 1);
    fl_ir_set_reduction(c, FL_RED_COUNT, false);
    FlRegion *from = op->regions[0];
    FlType1 i64s[FL_MAX_RANK];
    for (int i = 0; i < op->n_args; i++) i64s[i] = i64;
    FlRegion *r = fl_ir_region(&s->b, c, 0, op->n_args, i64s);
    FlSavedPlace saved = fl_sema_enter(s, r);
    FlValue *yields[4];
    fl_ir_inline_region(&s->b, from, r->params, yields);
    fl_ir_yield(r, s->module, 1, &yields[from->n_yields - 1]);
    fl_sema_leave(s, saved);
    count = c->results[0];
  }
  check_not_empty(s, count, "mean");
  FlValue *f = fl_ir_convert(&s->b, count, d);
  return fl_val_scalar(s, d, fl_sema_op2(s, FL_OP_DIV, op->results[0], f));
}

/* ---- arrays ---- */

typedef struct Axes {
  int axis;                    /* -1: all */
  FlVal x, y;                  /* y: the second factor of a product in sum, else no type */
  FlValue *sizes[FL_MAX_RANK]; /* of what is reduced; NULL: those of x */
  unsigned stretch;
} Axes;

static FlValue *size_of(FlSema *s, const Axes *a, int k) {
  return a->sizes[k] ? a->sizes[k] : fl_sema_dim(s, a->x, k);
}

/* A REDUCE over `n` trailing-or-all axes; `outer` are the fixed indices of the others. */
static FlVal reduce_axes(FlSema *s, const char *kind, const Axes *a, FlValue *const *outer, FlSpan span) {
  int rank = a->x.type->rank, n = a->axis < 0 ? rank : 1;
  FlValue *sizes[FL_MAX_RANK] = {0}, *index[FL_MAX_RANK];
  FlType1 i64s[FL_MAX_RANK];
  for (int k = 0; k < n; k++) {
    sizes[k] = size_of(s, a, a->axis < 0 ? k : a->axis);
    i64s[k] = fl_t_scalar(FL_I64);
  }
  FlValue *count = fl_sema_product(s, n, sizes);
  FlOp *op = fl_ir_op(&s->b, FL_OP_REDUCE, n, sizes, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, n, i64s);
  FlSavedPlace saved = fl_sema_enter(s, r);
  for (int k = 0, o = 0, m = 0; k < rank; k++)
    index[k] = a->axis < 0 || k == a->axis ? r->params[m++] : outer[o++];
  FlVal elements[2];
  const FlVal *xs[2] = {&a->x, &a->y};
  int n_values = a->y.type ? 2 : 1;
  for (int i = 0; i < n_values; i++) elements[i] = fl_sema_element_at(s, *xs[i], rank, a->stretch, index);
  FlVal e = fl_sema_reduce_element(s, kind, elements[0], span);
  if (!fl_val_bad(e)) {
    FlValue *yields[3] = {e.parts[0]};
    int ny = 1;
    if (n_values == 2) yields[ny++] = elements[1].parts[0];
    if (fl_val_valid(s, e)) yields[ny++] = fl_val_valid(s, e);
    fl_ir_yield(r, s->module, ny, yields);
  }
  fl_sema_leave(s, saved);
  if (fl_val_bad(e)) {
    fl_ir_remove(op);
    return e;
  }
  return fl_sema_reduce_finish(s, op, n_values == 2 ? "sum_product" : kind, e.type->dtype, e.type->nullable,
                               count);
}

static FlVal reduce_array(FlSema *s, const char *kind, const Axes *a, FlSpan span) {
  int rank = a->x.type->rank;
  if (a->axis < 0 || rank == 1) {
    Axes all = *a;
    all.axis = -1;
    return reduce_axes(s, kind, &all, NULL, span);
  }
  FlValue *sizes[FL_MAX_RANK] = {0};
  FlType1 i64s[FL_MAX_RANK];
  for (int k = 0, o = 0; k < rank; k++)
    if (k != a->axis) {
      sizes[o] = size_of(s, a, k);
      i64s[o++] = fl_t_scalar(FL_I64);
    }
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, rank - 1, sizes, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, rank - 1, i64s);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlVal v = reduce_axes(s, kind, a, r->params, span);
  if (!fl_val_bad(v)) fl_ir_yield(r, s->module, 1, v.parts);
  fl_sema_leave(s, saved);
  if (fl_val_bad(v)) {
    fl_ir_remove(map);
    return v;
  }
  FlType1 out = fl_t_array(v.type->dtype, rank - 1);
  fl_ir_add_results(&s->b, map, 1, &out);
  return fl_val_array(s, v.type->dtype, rank - 1, map->results[0]);
}

static bool read_axis(FlSema *s, FlActual *a, int rank, int *axis) {
  *axis = -1;
  if (!fl_actual_given(a)) return true;
  int64_t k;
  if (!fl_actual_const_i(s, a, &k)) return false;
  if (k < 0 || k >= rank) {
    fl_sema_error(s, FL_E0403, a->span, "there is no axis %lld: the array has %d dimension%s, counted from 0",
                  (long long)k, rank, rank == 1 ? "" : "s");
    return false;
  }
  *axis = (int)k;
  return true;
}

/* A product that stands directly in sum(...): its factors as arrays of one float type, or false. */
static bool product_factors(FlSema *s, FlActual *arg, Axes *out) {
  const FlExpr *e = arg->expr;
  if (!e || arg->only || e->kind != FL_EXPR_BINARY || e->binary.op != FL_BIN_MUL) return false;
  FlVal a = fl_sema_expr(s, e->binary.left, NULL), b = fl_sema_expr(s, e->binary.right, NULL);
  arg->expr = NULL;
  FlDtype d;
  bool plain = fl_sema_common_number(s, a, b, &d) && !a.type->nullable && !b.type->nullable &&
               (a.type->kind == FL_TY_ARRAY || b.type->kind == FL_TY_ARRAY) &&
               (fl_dtype_is_float(a.type->dtype) || fl_dtype_is_float(b.type->dtype));
  int ra = a.type->kind == FL_TY_ARRAY ? a.type->rank : 0,
      rb = b.type->kind == FL_TY_ARRAY ? b.type->rank : 0;
  if (!plain) {
    arg->value =
        fl_sema_binary(s, FL_BIN_MUL, a, b, e->binary.op_span, e->binary.left->span, e->binary.right->span);
    return false;
  }
  const FlType *ta = ra ? fl_type_array(s->types, d, false, ra) : fl_type_scalar(s->types, d, false);
  const FlType *tb = rb ? fl_type_array(s->types, d, false, rb) : fl_type_scalar(s->types, d, false);
  a = fl_val_coerce(s, a, ta, e->binary.left->span, "the factor");
  b = fl_val_coerce(s, b, tb, e->binary.right->span, "the factor");
  if (fl_val_bad(a) || fl_val_bad(b)) { /* a number of the script that does not fit */
    arg->value = fl_val_error(s);
    return false;
  }
  FlVal factors[2] = {rb > ra ? b : a, rb > ra ? a : b};
  out->x = factors[0];
  out->y = factors[1];
  int rank = rb > ra ? rb : ra;
  if (!fl_sema_common_sizes(s, e->binary.op_span, 2, factors, rank, 0, out->sizes, &out->stretch)) {
    arg->value = fl_val_error(s);
    return false;
  }
  arg->value = out->x;
  return true;
}

/* The call of an array x of one dimension: one group of the table operator. */
static FlVal one_group(FlSema *s, FlCallSite *c, FlVal x) {
  FlVal out;
  FlAggContext one = {.mode = FL_AGG_SUMMARIZE, .rows = fl_sema_dim(s, x, 0), .groups = fl_sema_i64(s, 1)};
  FlAggContext *outer = s->agg;
  s->agg = &one;
  c->args[0].expr = NULL;
  c->args[0].value = x;
  bool took = fl_sema_aggregate_call(s, c, &out);
  s->agg = outer;
  if (!took || fl_val_bad(out)) return fl_val_error(s);
  FlVal v = fl_sema_at(s, out, fl_sema_i64(s, 0), true);
  FlValue *valid = fl_val_valid(s, v);
  if (!valid) return v;
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 1, &valid, 0, NULL, 0);
  check->attrs.i = FL_FAULT_EMPTY;
  bool spread = is(c->builtin->data, "cov") || is(c->builtin->data, "corr"); /* null of one pair, too */
  check->attrs.s = fl_arena_printf(
      s->arena, spread ? "`%s` needs more than 1 pair of values" : "`%s` of nothing", c->builtin->name);
  return fl_val_plain(s, v);
}

/* Reductions in the order of the index are of numbers; what else a column can have is one group of it. */
static bool is_one_group(const char *kind, FlVal x, bool axis) {
  FlDtype d = x.type->dtype;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank != 1 || axis) return false;
  if (is(kind, "mean")) return d == FL_DURATION || fl_dtype_is_decimal(d);
  return fl_reduce_picks(kind_of(kind)) && (d == FL_BOOL || d == FL_TEXT || d == FL_CATEGORY);
}

/* Of two values the first, unless the second comes before it (`code` LT; GT: behind it); null where one is.
 */
static FlVal pick(FlSema *s, void *code, FlVal *args, int n, FlSpan span) {
  (void)n, (void)span;
  FlValue *valid = NULL, *a = args[0].parts[0], *b = args[1].parts[0];
  for (int i = 0; i < 2; i++) {
    FlValue *v = fl_val_valid(s, args[i]);
    if (v) valid = valid ? fl_sema_op2(s, FL_OP_AND, valid, v) : v;
  }
  FlDtype d = args[0].type->dtype;
  FlValue *out = fl_ir_select(&s->b, fl_sema_op2(s, *(FlOpcode *)code, b, a), b, a);
  if (valid) out = fl_ir_select(&s->b, valid, out, fl_val_zero(s, d));
  return fl_val_with(s, fl_type_scalar(s->types, d, valid != NULL), (FlValue *[]){out, valid}, args[0]);
}

/* What is no number, but ordered: dates, times, durations, texts, bools, categories with the same levels. */
static bool is_ordered(FlVal v) {
  bool element = v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY;
  return element && !fl_dtype_is_number(v.type->dtype) && !fl_dtype_is_decimal(v.type->dtype) &&
         v.type->dtype != FL_FILE;
}

static FlVal least(FlSema *s, const char *kind, FlVal pair[2], FlSpan span) {
  if (is_ordered(pair[0]) && is_ordered(pair[1]) && pair[0].type->dtype == pair[1].type->dtype) {
    FlOpcode code = is(kind, "min") ? FL_OP_LT : FL_OP_GT;
    FlValue *levels[2] = {fl_val_levels(pair[0]), fl_val_levels(pair[1])};
    if (levels[0] && levels[1] && !fl_levels_same(s, levels[0], levels[1], span)) return fl_val_error(s);
    return fl_sema_lift(s, span, 2, pair, pick, &code);
  }
  if (is_ordered(pair[0]) || is_ordered(pair[1]))
    return fl_sema_wrong_operands(s, kind, pair[0], pair[1], span);
  if (!fl_sema_same_numbers(s, pair, span)) return fl_val_error(s);
  return fl_sema_lift_op(s, span, is(kind, "min") ? FL_OP_MIN : FL_OP_MAX, 2, pair, pair[0].type->dtype,
                         NULL);
}

/* t |> mean(x): what is wanted of a column stands in a verb. */
static FlVal takes_one(FlSema *s, const FlCallSite *c, const char *kind) {
  FlDiag *d = fl_sema_report(s, FL_E0210, c->rest[0].span, "`%s` takes one array", kind);
  const FlExpr *column = c->rest[0].expr;
  if (!c->args[0].expr && c->args[0].value.type && c->args[0].value.type->kind == FL_TY_TABLE && column &&
      column->kind == FL_EXPR_NAME)
    fl_diag_help(s->sink, d, "of a column of a table: `summarize(%s = %s(%s))`", kind, kind,
                 column->name.text);
  return fl_val_error(s);
}

/* sum product min max mean any all argmin argmax of an array. */
FlVal fl_builtin_reduce(FlSema *s, FlCallSite *c) {
  FlVal out;
  const char *kind = c->builtin->data;
  if (fl_each_by_row(s, c, &out) || fl_sema_aggregate_call(s, c, &out)) return out;
  if ((is(kind, "min") || is(kind, "max")) && c->n_rest) { /* elementwise */
    FlVal v = fl_actual_value(s, &c->args[0], NULL);
    for (int i = 0; i < c->n_rest && !fl_val_bad(v); i++) {
      FlVal w = fl_actual_value(s, &c->rest[i], NULL);
      if (fl_val_bad(w)) return w;
      v = least(s, kind, (FlVal[]){v, w}, c->span);
    }
    return v;
  }
  if (c->n_rest) return takes_one(s, c, kind);
  Axes a = {.axis = -1};
  bool fused =
      is(kind, "sum") && !(s->agg && s->agg->mode != FL_AGG_NONE) && product_factors(s, &c->args[0], &a);
  if (!fused) {
    a.x = fl_actual_value(s, &c->args[0], NULL);
    a.y = (FlVal){0};
  }
  if (fl_val_bad(a.x)) return a.x;
  if (a.x.type->kind != FL_TY_ARRAY) {
    FlDiag *d = fl_sema_report(s, FL_E0323, c->args[0].span, "`%s` takes an array, and this is %s", kind,
                               fl_val_text(s, a.x));
    if (a.x.type->kind == FL_TY_TABLE) fl_diag_help(s->sink, d, "take a column, `t.x`");
    return fl_val_error(s);
  }
  if (!read_axis(s, &c->args[1], a.x.type->rank, &a.axis)) return fl_val_error(s);
  if (is_one_group(kind, a.x, a.axis >= 0)) return one_group(s, c, a.x);
  return reduce_array(s, kind, &a, c->args[0].span);
}

/* How many values an array of any rank has, nulls left out. */
static FlVal count_values(FlSema *s, FlVal v, FlSpan span) {
  FlValue *valid = fl_val_valid(s, v), *sizes[FL_MAX_RANK];
  if (valid)
    return reduce_array(s, "count", &(Axes){.axis = -1, .x = fl_val_array(s, FL_BOOL, v.type->rank, valid)},
                        span);
  for (int k = 0; k < v.type->rank; k++) sizes[k] = fl_sema_dim(s, v, k);
  return fl_val_scalar(s, FL_I64, fl_sema_product(s, v.type->rank, sizes));
}

/* count(c) of trues, count(x) of values that are not null; count(t), len(x): rows. */
FlVal fl_builtin_count(FlSema *s, FlCallSite *c) {
  FlVal out;
  if (fl_sema_aggregate_call(s, c, &out)) return out;
  if (!fl_actual_given(&c->args[0]))
    return fl_sema_error(s, FL_E0210, c->span, "`%s` needs an argument here", c->builtin->name);
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (fl_type_is_grouped(v.type)) return fl_verb_count_groups(s, v);
  bool len = is(c->builtin->name, "len");
  if (!len && v.type->kind == FL_TY_ARRAY && v.type->dtype == FL_BOOL)
    return reduce_array(s, "count", &(Axes){.axis = -1, .x = v}, c->args[0].span);
  if (!len && v.type->kind == FL_TY_ARRAY) return count_values(s, v, c->args[0].span);
  FlValue *counted = fl_text_pieces_counted(s, v);
  if (counted) return c->args[0].value = fl_val_scalar(s, FL_I64, counted); /* nothing else is evaluated */
  if (v.type->kind == FL_TY_TABLE || v.type->kind == FL_TY_LIST || v.type->kind == FL_TY_ARRAY)
    return fl_val_scalar(s, FL_I64, fl_sema_dim(s, v, 0));
  FlDiag *d =
      fl_sema_report(s, FL_E0323, c->args[0].span, "`%s` takes an array, a table or a list, and this is %s",
                     c->builtin->name, fl_val_text(s, v));
  if (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT) fl_habit_length(s, d, c->args[0].span);
  return fl_val_error(s);
}

/* var std of a plain array: two passes, divided by n - ddof. */
FlVal fl_builtin_spread(FlSema *s, FlCallSite *c) {
  FlVal out;
  if (fl_sema_aggregate_call(s, c, &out)) return out;
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (fl_val_is_decimal(x)) x = fl_decimal_to_real(s, x, c->args[0].span);
  int64_t ddof = 1;
  int axis;
  if (x.type->kind == FL_TY_ARRAY && x.type->nullable && x.type->rank == 1) {
    if (!read_axis(s, &c->args[1], 1, &axis)) return fl_val_error(s);
    c->args[1] = (FlActual){0}; /* the only one there is */
    return one_group(s, c, x);
  }
  if (x.type->kind == FL_TY_ARRAY && x.type->nullable && fl_dtype_is_number(x.type->dtype)) {
    FlDiag *d =
        fl_sema_report(s, FL_E0323, c->args[0].span, "`%s` skips nulls in one dimension, and this is %s",
                       c->builtin->name, fl_val_text(s, x));
    fl_diag_help(s->sink, d, "row by row: `[for i in 0..len(x): %s(x[i])]`", c->builtin->name);
    return fl_val_error(s);
  }
  if (x.type->kind != FL_TY_ARRAY || !fl_dtype_is_number(x.type->dtype))
    return fl_sema_error(s, FL_E0323, c->args[0].span, "`%s` takes an array of numbers, and this is %s",
                         c->builtin->name, fl_val_text(s, x));
  if (fl_actual_given(&c->args[2]) && !fl_actual_const_i(s, &c->args[2], &ddof)) return fl_val_error(s);
  if (!read_axis(s, &c->args[1], x.type->rank, &axis)) return fl_val_error(s);
  if (x.type->dtype != FL_F32)
    x = fl_val_coerce(s, x, fl_type_array(s->types, FL_F64, false, x.type->rank), c->args[0].span,
                      "the array");
  FlDtype d = x.type->dtype;
  FlVal mean = reduce_array(s, "mean", &(Axes){.axis = axis, .x = x}, c->args[0].span);
  if (fl_val_bad(mean)) return mean;
  if (mean.type->kind == FL_TY_ARRAY && axis != 0) mean = fl_sema_spread_axis(s, mean, x, axis);
  FlVal dev = fl_sema_binary(s, FL_BIN_SUB, x, mean, c->span, c->span, c->span);
  if (fl_val_bad(dev)) return dev;
  FlVal squares = fl_sema_lift_op(s, c->span, FL_OP_MUL, 2, (FlVal[]){dev, dev}, d, NULL);
  FlVal total = reduce_array(s, "sum", &(Axes){.axis = axis, .x = squares}, c->span);
  FlValue *sizes[FL_MAX_RANK];
  int n = 0;
  for (int k = 0; k < x.type->rank; k++)
    if (axis < 0 || axis == k) sizes[n++] = fl_sema_dim(s, x, k);
  FlValue *free = fl_sema_op2(s, FL_OP_SUB, fl_sema_product(s, n, sizes), fl_sema_i64(s, ddof));
  FlValue *ok = fl_sema_op2(s, FL_OP_GT, free, fl_sema_i64(s, 0));
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 1, &ok, 0, NULL, 0);
  check->attrs.i = FL_FAULT_EMPTY;
  check->attrs.s = fl_arena_printf(s->arena, "`%s` needs more than %lld value%s", c->builtin->name,
                                   (long long)ddof, ddof == 1 ? "" : "s");
  FlVal count = fl_val_scalar(s, d, fl_ir_convert(&s->b, free, d));
  FlVal var = fl_sema_lift_op(s, c->span, FL_OP_DIV, 2, (FlVal[]){total, count}, d, NULL);
  return is(c->builtin->name, "var") ? var : fl_sema_lift_op(s, c->span, FL_OP_SQRT, 1, &var, d, NULL);
}

/* small[i, k] for x[i, j, k]: the array without `axis`, repeated along it. */
FlVal fl_sema_spread_axis(FlSema *s, FlVal small, FlVal x, int axis) {
  int rank = x.type->rank;
  FlValue *sizes[FL_MAX_RANK] = {0}, *index[FL_MAX_RANK];
  for (int k = 0; k < rank; k++) sizes[k] = fl_sema_dim(s, x, k);
  FlSemaMap map = fl_sema_map(s, rank, sizes, small.type->dtype);
  for (int k = 0, o = 0; k < rank; k++)
    if (k != axis) index[o++] = map.index[k];
  FlValue *v = fl_ir_load(&s->b, small.parts[0], rank - 1, index, true);
  return fl_val_array(s, small.type->dtype, rank, fl_sema_map_end(s, &map, v));
}

/* median quantile mad mode n_distinct first last cov corr weighted_mean of arrays. */
FlVal fl_builtin_aggregate(FlSema *s, FlCallSite *c) {
  FlVal out;
  if (fl_sema_aggregate_call(s, c, &out)) return out;
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank != 1)
    return fl_sema_error(s, FL_E0323, c->args[0].span, "`%s` takes an array of one dimension, and this is %s",
                         c->builtin->name, fl_val_text(s, x));
  return one_group(s, c, x);
}
