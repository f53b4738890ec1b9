/* window.c: what a row gets from other rows of its table, or after group_by of its group: lag, lead,
 * row_number, cumsum and its kin, rank, ntile.
 *
 * In: columns in the arguments of a verb; arrays elsewhere. Out: columns with as many rows. What always
 * holds: the rows of a group are taken in the order in which they stand; null gives null and is passed over.
 */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

/* ---- shared ---- */

static bool in_verb(FlSema *s) { return s->agg && s->agg->mode != FL_AGG_NONE && s->agg->table; }

bool fl_verb_in_groups(FlSema *s) { return in_verb(s) && s->agg->group_of; }

bool fl_verb_window_column(FlSema *s, FlCallSite *c, FlActual *a, FlVal *out) {
  FlVal x = in_verb(s) ? fl_sema_column_argument(s, a) : fl_actual_value(s, a, NULL);
  if (fl_val_bad(x)) return false;
  *out = x;
  const char *name = c->builtin->name;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank != 1) {
    fl_sema_error(s, FL_E0325, a->span, "`%s` takes a column or an array of one dimension, and this is %s",
                  name, fl_val_text(s, x));
    return false;
  }
  if (fl_verb_in_groups(s) && !fl_sema_has_rows(s, x)) {
    fl_sema_error(s, FL_E0608, a->span, "after `group_by` `%s` takes one value a row, and this is %s", name,
                  fl_val_text(s, x));
    return false;
  }
  return true;
}

/* The groups as RUNNING, GROUP_ORDER and AGGREGATE take them: their number and the group of each row; without
 * groups one, and anything as long as there are rows. */
static void group_args(FlSema *s, FlVal x, FlValue **args) {
  bool grouped = fl_verb_in_groups(s);
  args[0] = grouped ? s->agg->groups : fl_sema_i64(s, 1);
  args[1] = grouped ? s->agg->group_of : x.parts[0];
}

static void set_column(FlSema *s, FlOp *op, FlVal x) {
  FlColumnAttr column = fl_ir_column(x.type->nullable);
  fl_ir_set_columns(s->arena, op, 1, &column);
}

FlGroupOrder fl_verb_order(FlSema *s, FlVal x, const FlVal *by) {
  FlValue *args[4];
  int n = 2;
  group_args(s, x, args);
  if (by) {
    args[n++] = by->parts[0];
    if (by->type->nullable) args[n++] = by->parts[1];
  }
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_GROUP_ORDER, n, args, 2, types, 0);
  op->attrs.i = !fl_verb_in_groups(s);
  if (by) set_column(s, op, *by);
  return (FlGroupOrder){op->results[0], op->results[1]};
}

static FlVal running(FlSema *s, FlVal x, const char *kind, FlDtype d) {
  FlValue *args[4];
  int n = 2;
  group_args(s, x, args);
  args[n++] = x.parts[0];
  if (x.type->nullable) args[n++] = x.parts[1];
  FlType1 type = fl_t_array(fl_dtype_stored(d), 1);
  FlOp *op = fl_by_group_op(s, FL_OP_RUNNING, n, args, 1, &type, true);
  op->attrs.i = !fl_verb_in_groups(s);
  op->attrs.s = kind;
  set_column(s, op, x);
  FlValue *parts[2] = {op->results[0], x.type->nullable ? x.parts[1] : NULL};
  return fl_val_with(s, fl_type_array(s->types, d, x.type->nullable, 1), parts, x);
}

/* ---- cumsum, cumprod, cummin, cummax ---- */

FlBuiltinFn fl_builtin_cumulative, fl_builtin_running;

FlVal fl_builtin_cumsum(FlSema *s, FlCallSite *c) {
  return in_verb(s) ? fl_builtin_running(s, c) : fl_builtin_cumulative(s, c);
}

FlVal fl_builtin_running(FlSema *s, FlCallSite *c) {
  const char *kind = c->builtin->data;
  FlVal x;
  FlDtype d;
  if (!fl_verb_window_column(s, c, &c->args[0], &x)) return fl_val_error(s);
  bool product = is(kind, "product");
  if (product && (x.type->dtype == FL_DURATION || fl_dtype_is_decimal(x.type->dtype)))
    return fl_sema_error(s, FL_E0323, c->args[0].span, "`%s` takes numbers, and this is %s", c->builtin->name,
                         fl_val_text(s, x));
  if (!fl_sema_aggregate_dtype(s, product ? "sum" : kind, c->builtin->name, x, c->args[0].span, &d))
    return fl_val_error(s);
  return running(s, x, kind, d);
}

/* ---- row_number ---- */

FlValue *fl_verb_row_numbers(FlSema *s, const FlGrouping *g) {
  FlType1 type = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_RUNNING, 2, (FlValue *[]){g->groups, g->group_of}, 1, &type, 0);
  op->attrs.s = "count";
  return op->results[0];
}

static FlVal row_number(FlSema *s) {
  if (fl_verb_in_groups(s)) {
    FlGrouping g = {.groups = s->agg->groups, .group_of = s->agg->group_of};
    return fl_val_array(s, FL_I64, 1, fl_verb_row_numbers(s, &g));
  }
  FlValue *rows = fl_sema_size(s, s->agg->rows);
  FlSemaMap map = fl_sema_map(s, 1, &rows, FL_I64);
  return fl_val_array(s, FL_I64, 1, fl_sema_map_end(s, &map, map.index[0]));
}

FlVal fl_builtin_row_number(FlSema *s, FlCallSite *c) {
  if (in_verb(s)) return row_number(s);
  return fl_sema_error(
      s, FL_E0621, c->span,
      "`row_number()` stands in the columns of a verb; elsewhere a range such as `0..n` gives positions");
}

/* ---- lag, lead ---- */

/* The element n rows before or after, null where there is none; the whole array is one group. */
static FlVal shift(FlSema *s, FlVal x, FlValue *n, bool back) {
  FlValue *rows = fl_sema_dim(s, x, 0), *zero = fl_sema_i64(s, 0);
  FlDtype d = x.type->dtype;
  FlType1 in = fl_t_scalar(FL_I64), out[2] = {fl_t_array(fl_dtype_stored(d), 1), fl_t_array(FL_BOOL, 1)};
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, 1, &rows, 2, out, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, 1, &in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  /* What does not fit i64 wraps to a negative position, which is none. */
  FlValue *at = fl_sema_op2(s, back ? FL_OP_WRAP_SUB : FL_OP_WRAP_ADD, r->params[0], n);
  FlValue *there =
      fl_sema_op2(s, FL_OP_AND, fl_sema_op2(s, FL_OP_GE, at, zero), fl_sema_op2(s, FL_OP_LT, at, rows));
  at = fl_ir_select(&s->b, there, at, zero);
  FlValue *yields[2] = {fl_ir_load(&s->b, x.parts[0], 1, &at, true), there};
  if (x.type->nullable)
    yields[1] = fl_sema_op2(s, FL_OP_AND, there, fl_ir_load(&s->b, x.parts[1], 1, &at, true));
  yields[0] = fl_ir_select(&s->b, there, yields[0], fl_val_zero(s, d));
  fl_ir_yield(r, s->module, 2, yields);
  fl_sema_leave(s, saved);
  return fl_val_with(s, fl_type_array(s->types, d, true, 1), map->results, x);
}

/* The same within groups: which row it is, and then that row's element. */
static FlVal shift_in_groups(FlSema *s, FlVal x, FlValue *n, bool back) {
  FlType1 type = fl_t_array(FL_I64, 1);
  FlValue *by = back ? fl_sema_op2(s, FL_OP_WRAP_SUB, fl_sema_i64(s, 0), n) : n;
  FlValue *args[3] = {s->agg->groups, s->agg->group_of, by};
  FlOp *op = fl_ir_op(&s->b, FL_OP_SHIFT_ROWS, 3, args, 1, &type, 0);
  FlVal out = fl_sema_take(s, x, op->results[0], FL_TAKE_OR_ZERO);
  if (x.type->nullable) return out;
  FlVal pair[2] = {fl_val_array(s, FL_I64, 1, op->results[0]), fl_val_i64(s, 0)};
  FlVal there = fl_sema_lift_op(s, s->b.span, FL_OP_GE, 2, pair, FL_BOOL, NULL);
  FlValue *parts[2] = {out.parts[0], there.parts[0]};
  return fl_val_with(s, fl_type_array(s->types, x.type->dtype, true, 1), parts, x);
}

FlVal fl_builtin_shift(FlSema *s, FlCallSite *c) {
  bool back = is(c->builtin->data, "lag");
  FlVal x;
  FlValue *n = NULL;
  if (!fl_verb_window_column(s, c, &c->args[0], &x)) return fl_val_error(s);
  if (!fl_actual_given(&c->args[1])) n = fl_sema_i64(s, 1);
  else if (!fl_actual_i64(s, &c->args[1], &n)) return fl_val_error(s);
  return fl_verb_in_groups(s) ? shift_in_groups(s, x, n, back) : shift(s, x, n, back);
}

/* ---- rank, ntile ---- */

FlVal fl_verb_rank(FlSema *s, FlValue *group_of, FlVal key, bool downwards, const char *method) {
  FlColumnAttr keys[2];
  FlValue *args[4];
  int n = 0, n_keys = 0;
  FlType1 type = fl_t_array(FL_I64, 1);
  if (group_of) {
    args[n++] = group_of;
    keys[n_keys++] = fl_ir_column(false);
  }
  args[n++] = key.parts[0];
  if (key.type->nullable) args[n++] = key.parts[1];
  keys[n_keys] = fl_ir_column(key.type->nullable);
  keys[n_keys++].flags |= downwards ? FL_COLUMN_DOWN : 0;
  FlOp *sorted = fl_ir_op(&s->b, FL_OP_SORT_PERM, n, args, 1, &type, 0);
  fl_ir_set_columns(s->arena, sorted, n_keys, keys);
  n = 0;
  args[n++] = sorted->results[0];
  args[n++] = group_of ? group_of : key.parts[0];
  args[n++] = key.parts[0];
  if (key.type->nullable) args[n++] = key.parts[1];
  FlDtype d = is(method, "average") ? FL_F64 : FL_I64;
  type = fl_t_array(d, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_RANK, n, args, 1, &type, 0);
  op->attrs.i = !group_of;
  op->attrs.s = method;
  set_column(s, op, key);
  FlValue *parts[2] = {op->results[0], key.type->nullable ? key.parts[1] : NULL};
  return fl_val_make(s, fl_type_array(s->types, d, key.type->nullable, 1), parts);
}

/* The column that ranks go by; reports. */
static bool rank_key(FlSema *s, FlCallSite *c, FlActual *a, FlVal *key, bool *downwards) {
  *downwards = fl_sema_key_desc(a);
  if (!fl_verb_window_column(s, c, a, key)) return false;
  if (key->type->dtype != FL_FILE) return true;
  fl_sema_error(s, FL_E0609, a->span, "`%s` takes columns of numbers, texts, dates or bool, and this is %s",
                c->builtin->name, fl_val_text(s, *key));
  return false;
}

FlVal fl_builtin_rank(FlSema *s, FlCallSite *c) {
  static const char *const methods[] = {"average", "min", "max", "dense", "first"};
  const char *written = "average", *method = NULL;
  FlVal key;
  bool downwards;
  if (!rank_key(s, c, &c->args[0], &key, &downwards)) return fl_val_error(s);
  if (fl_actual_given(&c->args[1]) && !fl_actual_const_text(s, &c->args[1], &written)) return fl_val_error(s);
  for (int i = 0; i < 5; i++)
    if (is(methods[i], written)) method = methods[i];
  if (!method) {
    FlDiag *d =
        fl_sema_report(s, FL_E0630, c->args[1].span, "`rank` has no method `%s` for equal values", written);
    const char *near = fl_closest(written, methods, 5);
    if (near) fl_diag_meant_text(s->sink, d, c->args[1].span, near);
    else fl_diag_help(s->sink, d, "the methods are average, min, max, dense and first");
    return fl_val_error(s);
  }
  return fl_verb_rank(s, fl_verb_in_groups(s) ? s->agg->group_of : NULL, key, downwards, method);
}

/* From how many are before, how many there are and k: 1 to k, the first ones one larger where it does not
 * come out even. */
static FlVal ntile_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  FlValue *before = args[0].parts[0], *rows = args[1].parts[0], *k = env, *one = fl_sema_i64(s, 1);
  FlValue *least = fl_sema_op2(s, FL_OP_FLOORDIV, rows, k), *more = fl_sema_op2(s, FL_OP_MOD, rows, k);
  FlValue *large = fl_sema_op2(s, FL_OP_WRAP_ADD, least, one);
  FlValue *in_large = fl_sema_op2(s, FL_OP_WRAP_MUL, more, large);
  FlValue *rest = fl_sema_op2(s, FL_OP_WRAP_SUB, before, in_large);
  FlValue *early = fl_sema_op2(s, FL_OP_FLOORDIV, before, large);
  FlValue *late = fl_sema_op2(s, FL_OP_FLOORDIV, rest, fl_sema_op2(s, FL_OP_MAX, least, one));
  late = fl_sema_op2(s, FL_OP_WRAP_ADD, late, more);
  FlValue *tile = fl_ir_select(&s->b, fl_sema_op2(s, FL_OP_LT, before, in_large), early, late);
  return fl_val_scalar(s, FL_I64, fl_sema_op2(s, FL_OP_WRAP_ADD, tile, one));
}

static FlVal minus_one(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)env;
  (void)n;
  (void)span;
  return fl_val_scalar(s, FL_I64, fl_sema_op2(s, FL_OP_WRAP_SUB, args[0].parts[0], fl_sema_i64(s, 1)));
}

/* How many rows of the group have a key, on each row: a scalar without groups. */
static FlVal counted(FlSema *s, FlVal key) {
  FlAggContext *agg = s->agg;
  FlValue *args[4] = {agg->groups, agg->group_of ? agg->group_of : key.parts[0], key.parts[0]};
  int n = 3;
  if (key.type->nullable) args[n++] = key.parts[1];
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_BOOL, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_AGGREGATE, n, args, 2, types, 0);
  op->attrs.s = "count";
  op->attrs.i = !agg->group_of;
  set_column(s, op, key);
  FlVal counts = fl_val_array(s, FL_I64, 1, op->results[0]);
  if (!agg->group_of) return fl_sema_at(s, counts, fl_sema_i64(s, 0), true);
  return fl_sema_take(s, counts, agg->group_of, 0);
}

FlVal fl_builtin_ntile(FlSema *s, FlCallSite *c) {
  FlValue *k, *one = fl_sema_i64(s, 1);
  int64_t known;
  if (!in_verb(s))
    return fl_sema_error(s, FL_E0621, c->span,
                         "`ntile` stands in the columns of a verb, whose rows it parts");
  if (!fl_actual_i64(s, &c->args[0], &k)) return fl_val_error(s);
  if (fl_ir_const_value_i(k, &known) && known < 1)
    return fl_sema_error(s, FL_E0631, c->args[0].span, "`ntile` makes at least one part, and this is %lld",
                         (long long)known);
  FlOp *check =
      fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){fl_sema_op2(s, FL_OP_GE, k, one), k}, 0, NULL, 0);
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = "`ntile` makes at least one part, and this is {a}";
  FlVal before = row_number(s), rows, valid = {0};
  if (fl_actual_given(&c->args[1])) {
    FlVal key;
    bool downwards;
    if (!rank_key(s, c, &c->args[1], &key, &downwards)) return fl_val_error(s);
    /* Not the key itself: of bools the trues would be counted. */
    rows = counted(s, key.type->nullable ? fl_val_array(s, FL_BOOL, 1, key.parts[1]) : before);
    FlVal rank = fl_verb_rank(s, s->agg->group_of, key, downwards, "first");
    if (key.type->nullable) valid = key;
    rank = fl_val_plain(s, rank);
    before = fl_sema_lift(s, c->span, 1, &rank, minus_one, NULL);
  } else {
    rows = counted(s, before);
  }
  FlVal args[2] = {before, rows};
  FlVal tile = fl_sema_lift(s, c->span, 2, args, ntile_element, k);
  if (!valid.type || fl_val_bad(tile)) return tile;
  FlValue *parts[2] = {tile.parts[0], valid.parts[1]};
  return fl_val_make(s, fl_type_array(s->types, FL_I64, true, 1), parts);
}
