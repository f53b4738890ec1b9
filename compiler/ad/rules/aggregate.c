/* aggregate.c: rules for the aggregates of groups of rows: sum, mean, var, median, corr and the others.
 *
 * In: an AGGREGATE of columns of floats. Out: backwards the adjoint of a column, forwards the tangent of the
 * values. What always holds: near its rows the value of a group is a sum of c[i] x[i] over them, where c[i]
 * is the derivative by row i; both ways are made of these coefficients, which are again ordinary IR. Those of
 * an aggregate that picks rows (min, median) are 1 at these rows, shares of 1 where it interpolates, else 0;
 * at ties it is the first row. Rows under null have none, and a group without a value counts nothing. */
#include "ad/rules/rules.h"

typedef struct Groups {
  FlAd *ad;
  FlBuilder *b;
  const FlOp *op;
  FlAggregate kind;
  FlValue *n_groups, *group, *rows; /* how many groups, the group of each row, how many rows */
  FlValue *x[2], *ok[2], *both;     /* columns; which of their rows have values, of all columns: NULL: all */
  int n_columns;
  FlValue *value, *valid; /* of each group */
  /* What coefficients need, by group; NULL where they do not. */
  FlValue *count, *mean[2], *spread[2], *total, *first, *second;
  FlValue *near, *far, *near_sign,
      *far_sign; /* of mad: the rows whose distances are taken, and on which side */
} Groups;

static FlAggSlope slope_of(const Groups *t) { return fl_aggregate_info[t->kind].slope; }
static bool one_group(const Groups *t) { return t->op->attrs.i == 1; }

/* A column, among others of floats, as f64. */
static FlValue *as_f64(FlBuilder *b, FlValue *column) {
  if (column->type.dtype == FL_F64) return column;
  FlValue *n = fl_ir_dim(b, column, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *v = fl_ir_convert(b, fl_ir_load(b, column, 1, m.region->params, true), FL_F64);
  fl_ad_loop_end(b, &m, 1, &v);
  return m.op->results[0];
}

/* An op of the groups with a column and, where it has some, the nulls. */
static FlOp *of_column(const Groups *t, FlOpcode code, FlValue *column, FlValue *ok, int n_results,
                       const FlType1 *types) {
  FlValue *args[4] = {t->n_groups, t->group, column, ok};
  FlOp *op = fl_ir_op(t->b, code, column ? ok ? 4 : 3 : 2, args, n_results, types, 0);
  op->attrs.i = t->op->attrs.i;
  if (!column) return op;
  FlColumnAttr attr = fl_ir_column(ok);
  fl_ir_set_columns(t->ad->arena, op, 1, &attr);
  return op;
}

/* Another aggregate of the same groups. */
static FlValue *aggregate(const Groups *t, FlAggregate kind, double setting, FlValue *column, FlDtype d) {
  FlType1 types[2] = {fl_t_array(d, 1), fl_t_array(FL_BOOL, 1)};
  FlOp *op = of_column(t, FL_OP_AGGREGATE, column, t->both, 2, types);
  op->attrs.s = fl_aggregate_info[kind].name;
  op->attrs.f = setting;
  return op->results[0];
}

/* For each row where both columns have a value. */
static FlValue *in_both(FlBuilder *b, FlValue *x, FlValue *y) {
  if (!x || !y) return x ? x : y;
  FlValue *n = fl_ir_dim(b, x, 0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &n);
  FlValue *const *i = m.region->params;
  FlValue *v = fl_ir_binary(b, FL_OP_AND, fl_ir_load(b, x, 1, i, true), fl_ir_load(b, y, 1, i, true));
  fl_ad_loop_end(b, &m, 1, &v);
  return m.op->results[0];
}

/* ---- which rows are picked ---- */

static FlOp *order(const Groups *t, FlValue *column) {
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  return of_column(t, FL_OP_GROUP_ORDER, column, column ? t->both : NULL, 2, types);
}

static FlValue *load1(FlBuilder *b, FlValue *line, FlValue *i) { return fl_ir_load(b, line, 1, &i, true); }

/* The rows at these places of their groups, in the order given; -1 where a group has no value. */
static FlValue *rows_at(const Groups *t, const FlOp *by, FlValue *place) {
  FlBuilder *b = t->b;
  FlType1 i64 = fl_t_scalar(FL_I64);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t->n_groups);
  FlValue *k = m.region->params[0], *some = load1(b, t->valid, k);
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &some, 1, &i64, 2);
  FlBuilder side = *b;
  side.region = fl_ir_region(b, choice, 0, 0, NULL);
  FlValue *start = fl_ir_load(&side, by->results[1], 1, &k, false);
  FlValue *at = fl_ir_binary(&side, FL_OP_WRAP_ADD, start, load1(&side, place, k));
  FlValue *row = fl_ir_load(&side, by->results[0], 1, &at, false);
  fl_ir_yield(side.region, b->module, 1, &row);
  side.region = fl_ir_region(b, choice, 1, 0, NULL);
  FlValue *none = fl_ad_i64(&side, -1);
  fl_ir_yield(side.region, b->module, 1, &none);
  fl_ad_loop_end(b, &m, 1, choice->results);
  return m.op->results[0];
}

/* The numbers of all rows. */
static FlValue *numbers(const Groups *t) {
  FlAdLoop m = fl_ad_loop(t->b, FL_OP_MAP, 1, &t->rows);
  fl_ad_loop_end(t->b, &m, 1, m.region->params);
  return m.op->results[0];
}

/* A quantile lies between the values at floor(h) and at floor(h) + 1, h = (count - 1) q, in ascending order.
 */
static void between(Groups *t, double q) {
  FlBuilder *b = t->b;
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t->n_groups);
  FlValue *one = fl_ad_i64(b, 1), *n = load1(b, t->count, m.region->params[0]);
  FlValue *last = fl_ir_binary(b, FL_OP_MAX, fl_ir_binary(b, FL_OP_WRAP_SUB, n, one), fl_ad_i64(b, 0));
  FlValue *h = fl_ir_binary(b, FL_OP_MUL, fl_ir_convert(b, last, FL_F64), fl_ir_const_f(b, FL_F64, q));
  FlValue *low = fl_ir_unary(b, FL_OP_FLOOR, h);
  FlValue *high = fl_ir_binary(b, FL_OP_MIN, fl_ir_binary(b, FL_OP_WRAP_ADD, low, one), last);
  FlValue *out[3] = {low, high, fl_ir_binary(b, FL_OP_SUB, h, fl_ir_convert(b, low, FL_F64))};
  fl_ad_loop_end(b, &m, 3, out);
  FlOp *by = order(t, t->x[0]);
  t->first = rows_at(t, by, m.op->results[0]);
  t->second = rows_at(t, by, m.op->results[1]);
  t->spread[0] = m.op->results[2];
}

static FlValue *group_at(const Groups *t, FlValue *i) {
  return one_group(t) ? fl_ad_i64(t->b, 0) : load1(t->b, t->group, i);
}

/* x[row] - mean as -1, 0 or 1 for the row that each group picked. */
static FlValue *signs(const Groups *t, FlValue *picked) {
  FlBuilder *b = t->b;
  FlType1 f64 = fl_t_scalar(FL_F64);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t->n_groups);
  FlValue *k = m.region->params[0], *some = load1(b, t->valid, k);
  FlOp *choice = fl_ir_op(b, FL_OP_IF, 1, &some, 1, &f64, 2);
  FlBuilder side = *b;
  side.region = fl_ir_region(b, choice, 0, 0, NULL);
  FlValue *row = load1(&side, picked, k), *x = fl_ir_load(&side, t->x[0], 1, &row, false);
  FlValue *sign =
      fl_ir_unary(&side, FL_OP_SIGN, fl_ir_binary(&side, FL_OP_SUB, x, load1(&side, t->mean[0], k)));
  fl_ir_yield(side.region, b->module, 1, &sign);
  side.region = fl_ir_region(b, choice, 1, 0, NULL);
  FlValue *none = fl_ir_const_f(&side, FL_F64, 0.0);
  fl_ir_yield(side.region, b->module, 1, &none);
  fl_ad_loop_end(b, &m, 1, choice->results);
  return m.op->results[0];
}

/* mad is the median of the distances from the median, which has moved as well: which rows are both medians
 * of. */
static void distances(Groups *t) {
  FlBuilder *b = t->b;
  t->mean[0] = aggregate(t, FL_AGGREGATE_MEDIAN, 0.5, t->x[0], FL_F64);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t->rows);
  FlValue *i = m.region->params[0], *k = group_at(t, i);
  FlValue *away = fl_ir_binary(b, FL_OP_SUB, load1(b, t->x[0], i), load1(b, t->mean[0], k));
  away = fl_ir_unary(b, FL_OP_ABS, away);
  fl_ad_loop_end(b, &m, 1, &away);
  Groups of = *t;
  of.x[0] = m.op->results[0];
  between(&of, 0.5);
  t->near = of.first;
  t->far = of.second;
  t->near_sign = signs(t, t->near);
  t->far_sign = signs(t, t->far);
}

/* ---- coefficients ---- */

/* What the coefficients need. false: there are none, it fails. */
static bool prepare(Groups *t) {
  FlAggSlope slope = slope_of(t);
  if (slope == FL_SLOPE_NONE)
    return fl_ad_fail(t->ad, t->op->span, fl_arena_printf(t->ad->arena, "`%s`", t->op->attrs.s));
  if (slope != FL_SLOPE_SUM) t->count = aggregate(t, FL_AGGREGATE_COUNT, 0, t->x[0], FL_I64);
  switch (slope) {
  case FL_SLOPE_NONE:
  case FL_SLOPE_SUM:
  case FL_SLOPE_MEAN: break;
  case FL_SLOPE_SPREAD: t->mean[0] = aggregate(t, FL_AGGREGATE_MEAN, 0, t->x[0], FL_F64); break;
  case FL_SLOPE_PAIR:
    for (int c = 0; c < 2; c++) {
      t->mean[c] = aggregate(t, FL_AGGREGATE_MEAN, 0, t->x[c], FL_F64);
      if (t->kind == FL_AGGREGATE_CORR) t->spread[c] = aggregate(t, FL_AGGREGATE_STD, 1, t->x[c], FL_F64);
    }
    break;
  case FL_SLOPE_WEIGHTED: t->total = aggregate(t, FL_AGGREGATE_SUM, 0, t->x[1], FL_F64); break;
  case FL_SLOPE_EXTREME: {
    FlAggregate place = t->kind == FL_AGGREGATE_MIN ? FL_AGGREGATE_ARGMIN : FL_AGGREGATE_ARGMAX;
    FlValue *at = aggregate(t, place, 0, t->x[0], FL_I64);
    t->first = rows_at(t, order(t, NULL), at);
    break;
  }
  case FL_SLOPE_PLACE: t->first = aggregate(t, t->kind, 0, numbers(t), FL_I64); break;
  case FL_SLOPE_SHARE:
    between(t, t->kind == FL_AGGREGATE_QUANTILE ? t->op->attrs.f : 0.5);
    if (t->kind == FL_AGGREGATE_MAD) distances(t);
    break;
  }
  return true;
}

static FlValue *two(const Groups *t, FlOpcode code, FlValue *x, FlValue *y) {
  return fl_ir_binary(t->b, code, x, y);
}

/* x[i] of column c without the mean of its group. */
static FlValue *centred(const Groups *t, int c, FlValue *i, FlValue *k) {
  return two(t, FL_OP_SUB, load1(t->b, t->x[c], i), load1(t->b, t->mean[c], k));
}

/* What is divided by: v, or 1 where the group has no value, so that nothing is infinite there. */
static FlValue *divisor(const Groups *t, FlValue *k, FlValue *v) {
  return fl_ir_select(t->b, load1(t->b, t->valid, k), v, fl_ir_const_f(t->b, FL_F64, 1.0));
}

/* How many rows count, less `ddof`. */
static FlValue *counted(const Groups *t, FlValue *k, double ddof) {
  FlValue *n = fl_ir_convert(t->b, load1(t->b, t->count, k), FL_F64);
  if (ddof != 0) n = two(t, FL_OP_SUB, n, fl_ir_const_f(t->b, FL_F64, ddof));
  return divisor(t, k, n);
}

/* `share` where row i is the one that group k picked, else 0. */
static FlValue *where_picked(const Groups *t, FlValue *picked, FlValue *i, FlValue *k, FlValue *share) {
  FlValue *here = two(t, FL_OP_EQ, i, load1(t->b, picked, k));
  return fl_ir_select(t->b, here, share, fl_ir_const_f(t->b, FL_F64, 0.0));
}

/* The derivative of the value of group k by row i of column c. */
static FlValue *coefficient(const Groups *t, int c, FlValue *i, FlValue *k) {
  FlBuilder *b = t->b;
  FlValue *one = fl_ir_const_f(b, FL_F64, 1.0);
  double ddof = t->op->attrs.f;
  switch (slope_of(t)) {
  case FL_SLOPE_SUM: return one;
  case FL_SLOPE_MEAN: return two(t, FL_OP_DIV, one, counted(t, k, 0));
  case FL_SLOPE_SPREAD: {
    FlValue *x = two(t, FL_OP_DIV, centred(t, 0, i, k), counted(t, k, ddof));
    return t->kind == FL_AGGREGATE_VAR ? two(t, FL_OP_ADD, x, x)
                                       : two(t, FL_OP_DIV, x, divisor(t, k, load1(b, t->value, k)));
  }
  case FL_SLOPE_PAIR: {
    if (t->kind == FL_AGGREGATE_COV) return two(t, FL_OP_DIV, centred(t, 1 - c, i, k), counted(t, k, 1));
    /* (y / sy - r x / sx) / (sx (n - 1)) */
    FlValue *sx = divisor(t, k, load1(b, t->spread[c], k)),
            *sy = divisor(t, k, load1(b, t->spread[1 - c], k));
    FlValue *other = two(t, FL_OP_DIV, centred(t, 1 - c, i, k), sy);
    FlValue *own = two(t, FL_OP_DIV, two(t, FL_OP_MUL, load1(b, t->value, k), centred(t, c, i, k)), sx);
    return two(t, FL_OP_DIV, two(t, FL_OP_SUB, other, own), two(t, FL_OP_MUL, sx, counted(t, k, 1)));
  }
  case FL_SLOPE_WEIGHTED: {
    FlValue *w = load1(b, t->x[1], i), *x = load1(b, t->x[0], i), *all = divisor(t, k, load1(b, t->total, k));
    return two(t, FL_OP_DIV, c == 0 ? w : two(t, FL_OP_SUB, x, load1(b, t->value, k)), all);
  }
  case FL_SLOPE_NONE:
  case FL_SLOPE_EXTREME:
  case FL_SLOPE_PLACE:
  case FL_SLOPE_SHARE: break;
  }
  if (!t->second) return where_picked(t, t->first, i, k, one);
  FlValue *share = load1(b, t->spread[0], k), *rest = two(t, FL_OP_SUB, one, share);
  FlValue *low = where_picked(t, t->first, i, k, rest);
  FlValue *middle = two(t, FL_OP_ADD, low, where_picked(t, t->second, i, k, share));
  if (!t->near) return middle;
  FlValue *near = two(t, FL_OP_MUL, rest, load1(b, t->near_sign, k)),
          *far = two(t, FL_OP_MUL, share, load1(b, t->far_sign, k));
  FlValue *own = two(t, FL_OP_ADD, where_picked(t, t->near, i, k, near), where_picked(t, t->far, i, k, far));
  return two(t, FL_OP_SUB, own, two(t, FL_OP_MUL, two(t, FL_OP_ADD, near, far), middle));
}

/* ---- both ways ---- */

/* `back` or `ahead` as it stands in the frame. */
static Groups groups_of(FlAdFrame *f, const FlOp *op, FlValue *value, FlValue *valid) {
  Groups t = {.ad = f->ad, .b = &f->b, .op = op, .kind = fl_ir_aggregate(op), .valid = valid};
  t.n_groups = fl_ad_at(f, op->args[0]);
  t.group = fl_ad_at(f, op->args[1]);
  t.value = value->type.dtype == FL_F32 ? as_f64(t.b, value) : value;
  int at = 2;
  for (int c = 0; c < op->attrs.n_columns; c++) {
    t.x[c] = as_f64(t.b, fl_ad_at(f, op->args[at++]));
    if (op->attrs.columns[c].flags & FL_COLUMN_NULLS) t.ok[c] = fl_ad_at(f, op->args[at++]);
  }
  t.n_columns = op->attrs.n_columns;
  t.rows = fl_ir_dim(t.b, t.x[0], 0);
  t.both = in_both(t.b, t.ok[0], t.ok[1]);
  return t;
}

/* The argument that column c is. */
static int place_of(const Groups *t, int c) { return c == 0 ? 2 : t->ok[0] ? 4 : 3; }

bool fl_ad_back_aggregate(const FlAdBulk *a) {
  if (!a->g) return true;
  Groups t = groups_of(a->f, a->op, fl_ad_result(a, 0), fl_ad_result(a, 1));
  FlBuilder *b = t.b;
  if (!prepare(&t)) return false;
  for (int c = 0; c < t.n_columns; c++) {
    int arg = place_of(&t, c);
    if (!fl_ad_wants(a, arg)) continue;
    FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t.rows);
    FlValue *i = m.region->params[0], *k = group_at(&t, i);
    FlValue *g = fl_ir_convert(b, load1(b, a->g, k), FL_F64);
    FlValue *v = fl_ad_where(b, g, two(&t, FL_OP_MUL, g, coefficient(&t, c, i, k)));
    if (t.both) v = fl_ir_select(b, load1(b, t.both, i), v, fl_ir_const_f(b, FL_F64, 0.0));
    v = fl_ir_convert(b, v, (FlDtype)a->op->args[arg]->type.dtype);
    fl_ad_loop_end(b, &m, 1, &v);
    fl_ad_give(a, arg, m.op->results[0]);
  }
  return true;
}

bool fl_ad_ahead_aggregate(const FlAdAhead *a) {
  Groups t = groups_of(a->f, a->op, fl_ad_made(a, 0), fl_ad_made(a, 1));
  FlBuilder *b = t.b;
  FlDtype d = (FlDtype)a->op->results[0]->type.dtype;
  bool any = false;
  for (int c = 0; c < t.n_columns; c++) any = any || fl_ad_moves(a, place_of(&t, c));
  if (!any) return true; /* of one group the second argument is any array */
  if (!prepare(&t)) return false;
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &t.rows);
  FlValue *i = m.region->params[0], *k = group_at(&t, i), *zero = fl_ir_const_f(b, FL_F64, 0.0), *sum = NULL;
  for (int c = 0; c < t.n_columns; c++) {
    FlValue *dx = fl_ad_moves(a, place_of(&t, c));
    if (!dx) continue;
    FlValue *g = fl_ir_convert(b, load1(b, dx, i), FL_F64);
    FlValue *v = fl_ad_where(b, g, two(&t, FL_OP_MUL, g, coefficient(&t, c, i, k)));
    sum = sum ? two(&t, FL_OP_ADD, sum, v) : v;
  }
  if (t.both) sum = fl_ir_select(b, load1(b, t.both, i), sum, zero);
  fl_ad_loop_end(b, &m, 2, (FlValue *[]){sum, k});
  FlValue *parts =
      fl_ad_op(b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){m.op->results[0], m.op->results[1], t.n_groups},
               fl_t_array(FL_F64, 1), 0);
  FlAdLoop out = fl_ad_loop(b, FL_OP_MAP, 1, &t.n_groups);
  FlValue *group = out.region->params[0];
  FlValue *v =
      fl_ir_select(b, load1(b, t.valid, group), load1(b, parts, group), fl_ir_const_f(b, FL_F64, 0.0));
  v = fl_ir_convert(b, v, d);
  fl_ad_loop_end(b, &out, 1, &v);
  a->out[0] = out.op->results[0];
  return true;
}
