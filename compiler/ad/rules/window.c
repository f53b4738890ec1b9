/* window.c: rules for what a row gets from rows before it: running sums, products and extremes, rolling
 * windows.
 *
 * In: adjoints of the values of rows, or tangents of a column. Out: those of the other side. What always
 * holds: a running or rolling sum goes back as such a sum from the other end; of an extreme or a quantile the
 * rows that were picked are found first (at ties the first), and count alone. Rows under null count nothing.
 */
#include "ad/rules/rules.h"

#include <string.h>

typedef struct Window {
  FlAdFrame *f;
  FlBuilder *b;
  const FlOp *op;
  const char *kind;
  FlAggregate rolls;   /* of a ROLLING */
  FlValue *n, *x, *ok; /* how many rows; the column, and which rows have a value (NULL: all) */
  FlDtype dtype;       /* of the column and of the results */
  int column;          /* the argument that x is */
} Window;

static bool is(const Window *w, const char *kind) { return strcmp(w->kind, kind) == 0; }

static FlValue *load1(FlBuilder *b, FlValue *line, FlValue *i) { return fl_ir_load(b, line, 1, &i, true); }
static FlValue *two(const Window *w, FlOpcode code, FlValue *x, FlValue *y) {
  return fl_ir_binary(w->b, code, x, y);
}

static Window window_of(FlAdFrame *f, const FlOp *op, int column) {
  Window w = {.f = f, .b = &f->b, .op = op, .kind = op->attrs.s, .column = column};
  w.x = fl_ad_at(f, op->args[column]);
  if (op->attrs.columns[op->attrs.n_columns - 1].flags & FL_COLUMN_NULLS)
    w.ok = fl_ad_at(f, op->args[column + 1]);
  w.n = fl_ir_dim(w.b, w.x, 0);
  w.dtype = (FlDtype)op->results[0]->type.dtype;
  if (op->code == FL_OP_ROLLING) w.rolls = fl_ir_aggregate(op);
  return w;
}

static FlAggSlope slope_of(const Window *w) { return fl_aggregate_info[w->rolls].slope; }

/* n columns as the op itself has them, but for the last. */
static void set_columns(const Window *w, FlOp *op, int n, bool last_has_nulls) {
  FlColumnAttr *columns = FL_NEW_ARRAY(w->f->ad->arena, FlColumnAttr, n);
  for (int i = 0; i + 1 < n; i++) columns[i] = w->op->attrs.columns[i];
  columns[n - 1] = fl_ir_column(last_has_nulls);
  fl_ir_set_columns(w->f->ad->arena, op, n, columns);
}

/* For each row: v where the column has a value, else 0. */
static FlValue *where_known(const Window *w, FlValue *v) {
  if (!w->ok) return v;
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *x = load1(w->b, v, i);
  x = fl_ir_select(w->b, load1(w->b, w->ok, i), x, fl_ir_const_f(w->b, (FlDtype)x->type.dtype, 0.0));
  fl_ad_loop_end(w->b, &m, 1, &x);
  return m.op->results[0];
}

static FlValue *converted(const Window *w, FlValue *line, FlDtype d) {
  if (line->type.dtype == d) return line;
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *x = fl_ir_convert(w->b, load1(w->b, line, m.region->params[0]), d);
  fl_ad_loop_end(w->b, &m, 1, &x);
  return m.op->results[0];
}

/* What each row gets from the row picked for it; -1: none. */
static FlValue *from_picked(const Window *w, FlValue *dx, FlValue *picked, FlValue *share) {
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *at = load1(w->b, picked, i), *zero = fl_ad_i64(w->b, 0);
  FlValue *some = two(w, FL_OP_GE, at, zero);
  FlValue *v = load1(w->b, dx, two(w, FL_OP_MAX, at, zero));
  if (share) v = two(w, FL_OP_MUL, v, load1(w->b, share, i));
  v = fl_ir_select(w->b, some, v, fl_ir_const_f(w->b, (FlDtype)v->type.dtype, 0.0));
  fl_ad_loop_end(w->b, &m, 1, &v);
  return m.op->results[0];
}

/* To each row what the rows count that picked it. */
static FlValue *to_picked(const Window *w, FlValue *g, FlValue *picked, FlValue *share) {
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *at = load1(w->b, picked, i), *zero = fl_ad_i64(w->b, 0);
  FlValue *v = load1(w->b, g, i);
  if (share) v = two(w, FL_OP_MUL, v, load1(w->b, share, i));
  v = fl_ir_select(w->b, two(w, FL_OP_GE, at, zero), v, fl_ir_const_f(w->b, (FlDtype)v->type.dtype, 0.0));
  fl_ad_loop_end(w->b, &m, 2, (FlValue *[]){v, two(w, FL_OP_MAX, at, zero)});
  return fl_ad_op(w->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){m.op->results[0], m.op->results[1], w->n},
                  fl_t_array((FlDtype)g->type.dtype, 1), 0);
}

/* ---- running ---- */

/* The running aggregate of another column of the same groups. */
static FlValue *running(const Window *w, const char *kind, FlValue *group, FlValue *column, int64_t one_group,
                        FlDtype d) {
  FlType1 type = fl_t_array(d, 1);
  FlValue *g = one_group ? fl_ad_i64(w->b, 1) : fl_ad_at(w->f, w->op->args[0]);
  FlOp *op = fl_ir_op(w->b, FL_OP_RUNNING, 3, (FlValue *[]){g, group, column}, 1, &type, 0);
  op->attrs.s = kind;
  op->attrs.i = one_group;
  set_columns(w, op, 1, false);
  return op->results[0];
}

static FlValue *group_of(const Window *w) { return fl_ad_at(w->f, w->op->args[1]); }

static FlValue *running_sum(const Window *w, FlValue *column) {
  return running(w, "sum", group_of(w), column, w->op->attrs.i, FL_F64);
}

static FlValue *from_the_end(const Window *w, FlValue *line) {
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *last = two(w, FL_OP_WRAP_SUB, w->n, fl_ad_i64(w->b, 1));
  FlValue *v = load1(w->b, line, two(w, FL_OP_WRAP_SUB, last, m.region->params[0]));
  fl_ad_loop_end(w->b, &m, 1, &v);
  return m.op->results[0];
}

/* The sums of the rows of the group from each on. */
static FlValue *sums_to_the_end(const Window *w, FlValue *column) {
  FlValue *turned = from_the_end(w, column), *group = from_the_end(w, group_of(w));
  return from_the_end(w, running(w, "sum", group, turned, w->op->attrs.i, FL_F64));
}

/* The row that is the smallest or largest so far: the first of those of the group with the same one. */
static FlValue *extreme_rows(const Window *w, FlValue *value) {
  FlValue *keys[3] = {value};
  int n = 1;
  if (w->op->attrs.i != 1) keys[n++] = group_of(w);
  if (w->ok) keys[n++] = w->ok;
  FlType1 line = fl_t_array(FL_I64, 1), types[3] = {fl_t_scalar(FL_I64), line, line};
  FlOp *op = fl_ir_op(w->b, FL_OP_GROUP, n, keys, 3, types, 0);
  fl_ir_set_columns(w->f->ad->arena, op, n, (FlColumnAttr[3]){{0}});
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *group = load1(w->b, op->results[1], i);
  FlValue *row = fl_ir_load(w->b, op->results[2], 1, &group, false);
  if (w->ok) row = fl_ir_select(w->b, load1(w->b, w->ok, i), row, fl_ad_i64(w->b, -1));
  fl_ad_loop_end(w->b, &m, 1, &row);
  return m.op->results[0];
}

/* Running products of the elements that are not zero, and how many are; forwards and backwards these tell
 * where an element counts. */
typedef struct Products {
  FlValue *all, *zeros;
} Products;

static Products products_of(const Window *w) {
  FlValue *zero = fl_ir_const_f(w->b, FL_F64, 0.0), *one = fl_ir_const_f(w->b, FL_F64, 1.0);
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *x = fl_ir_convert(w->b, load1(w->b, w->x, i), FL_F64);
  FlValue *is_zero = two(w, FL_OP_EQ, x, zero), *out[2];
  out[0] = fl_ir_select(w->b, is_zero, one, x);
  out[1] = fl_ir_select(w->b, is_zero, one, zero);
  for (int k = 0; w->ok && k < 2; k++)
    out[k] = fl_ir_select(w->b, load1(w->b, w->ok, i), out[k], k ? zero : one);
  fl_ad_loop_end(w->b, &m, 2, out);
  return (Products){running(w, "product", group_of(w), m.op->results[0], w->op->attrs.i, FL_F64),
                    running_sum(w, m.op->results[1])};
}

/* v[i] p[i] where so many zeros are up to there, else 0. */
static FlValue *with_zeros(const Window *w, FlValue *v, const Products *p, double zeros) {
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0];
  FlValue *here = two(w, FL_OP_EQ, load1(w->b, p->zeros, i), fl_ir_const_f(w->b, FL_F64, zeros));
  FlValue *x = two(w, FL_OP_MUL, load1(w->b, v, i), load1(w->b, p->all, i));
  x = fl_ir_select(w->b, here, x, fl_ir_const_f(w->b, FL_F64, 0.0));
  fl_ad_loop_end(w->b, &m, 1, &x);
  return m.op->results[0];
}

/* For each row: a / x, or b where x is 0. */
static FlValue *over_x(const Window *w, FlValue *a, FlValue *b) {
  FlValue *zero = fl_ir_const_f(w->b, FL_F64, 0.0);
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *x = fl_ir_convert(w->b, load1(w->b, w->x, i), FL_F64);
  FlValue *v = two(w, FL_OP_DIV, load1(w->b, a, i), x), *rest = b ? load1(w->b, b, i) : zero;
  v = fl_ir_select(w->b, two(w, FL_OP_EQ, x, zero), rest, v);
  fl_ad_loop_end(w->b, &m, 1, &v);
  return m.op->results[0];
}

/* dx where x is 0, else 0 */
static FlValue *at_zeros(const Window *w, FlValue *dx) {
  FlValue *zero = fl_ir_const_f(w->b, FL_F64, 0.0);
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *x = fl_ir_convert(w->b, load1(w->b, w->x, i), FL_F64);
  FlValue *v = fl_ir_select(w->b, two(w, FL_OP_EQ, x, zero), load1(w->b, dx, i), zero);
  fl_ad_loop_end(w->b, &m, 1, &v);
  return m.op->results[0];
}

static FlDtype column_dtype(const Window *w) { return (FlDtype)w->x->type.dtype; }

bool fl_ad_back_running(const FlAdBulk *k) {
  Window w = window_of(k->f, k->op, 2);
  FlValue *g = where_known(&w, converted(&w, k->g, FL_F64)), *dx;
  if (is(&w, "sum")) {
    dx = sums_to_the_end(&w, g);
  } else if (is(&w, "product")) {
    Products p = products_of(&w);
    dx = over_x(&w, sums_to_the_end(&w, with_zeros(&w, g, &p, 0)),
                sums_to_the_end(&w, with_zeros(&w, g, &p, 1)));
  } else {
    dx = to_picked(&w, g, extreme_rows(&w, fl_ad_result(k, 0)), NULL);
  }
  fl_ad_give(k, 2, converted(&w, where_known(&w, dx), column_dtype(&w)));
  return true;
}

bool fl_ad_ahead_running(const FlAdAhead *k) {
  if (!fl_ad_moves(k, 2)) return true; /* of one group the second argument is any array */
  Window w = window_of(k->f, k->op, 2);
  FlValue *dx = where_known(&w, converted(&w, fl_ad_moves(k, 2), FL_F64)), *out;
  if (is(&w, "sum")) {
    out = running_sum(&w, dx);
  } else if (is(&w, "product")) {
    Products p = products_of(&w);
    FlValue *none = with_zeros(&w, running_sum(&w, over_x(&w, dx, NULL)), &p, 0);
    out = fl_ad_plus(w.b, none, with_zeros(&w, running_sum(&w, at_zeros(&w, dx)), &p, 1));
  } else {
    out = from_picked(&w, dx, extreme_rows(&w, fl_ad_made(k, 0)), NULL);
  }
  k->out[0] = converted(&w, where_known(&w, out), w.dtype);
  return true;
}

/* ---- rolling ---- */

/* Another aggregate of the same windows, of a column with the nulls of this one. */
static FlValue *rolling(const Window *w, const char *kind, FlValue *column, FlDtype d) {
  int n = w->column;
  FlValue **args = FL_NEW_ARRAY(w->f->ad->arena, FlValue *, n + 2);
  for (int i = 0; i < n; i++) args[i] = fl_ad_at(w->f, w->op->args[i]);
  args[n++] = column;
  if (w->ok) args[n++] = w->ok;
  FlType1 types[2] = {fl_t_array(d, 1), fl_t_array(FL_BOOL, 1)};
  FlOp *op = fl_ir_op(w->b, FL_OP_ROLLING, n, args, 2, types, 0);
  op->attrs = w->op->attrs;
  op->attrs.s = kind;
  op->attrs.f = 0;
  set_columns(w, op, w->op->attrs.n_columns, w->ok);
  return op->results[0];
}

/* Where the windows begin and end among the rows by group. */
static const FlOp *bounds(const Window *w) {
  int n = w->column;
  FlValue **args = FL_NEW_ARRAY(w->f->ad->arena, FlValue *, n + 1);
  for (int i = 0; i < n; i++) args[i] = fl_ad_at(w->f, w->op->args[i]);
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(w->b, FL_OP_ROLLING_BOUNDS, n, args, 2, types, 0);
  op->attrs = w->op->attrs;
  op->attrs.n_columns--;
  return op;
}

static bool in_order(const Window *w) { return w->op->attrs.i & 1; }

/* The row that stands at a place among the rows by group. */
static FlValue *row_at(const Window *w, FlValue *place) {
  return in_order(w) ? place : load1(w->b, fl_ad_at(w->f, w->op->args[0]), place);
}

/* For each row the sum of v over the rows whose windows hold it: what begins is added, what ends is taken
 * away. */
static FlValue *over_windows(const Window *w, FlValue *v, const FlOp *ends) {
  FlValue *more = two(w, FL_OP_WRAP_ADD, w->n, fl_ad_i64(w->b, 1)), *side[2];
  FlType1 line = fl_t_array(FL_F64, 1);
  for (int k = 0; k < 2; k++)
    side[k] = fl_ad_op(w->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){v, ends->results[k], more}, line, 0);
  FlValue *steps = fl_ad_minus(w->b, side[0], side[1]);
  FlValue *sums = running(
      w, "sum", ends->results[0],
      fl_ad_op(w->b, FL_OP_ROWS, 3, (FlValue *[]){steps, fl_ad_i64(w->b, 0), w->n}, line, 0), 1, FL_F64);
  if (in_order(w)) return sums;
  return fl_ad_op(w->b, FL_OP_SEGMENT_SUM, 3, (FlValue *[]){sums, fl_ad_at(w->f, w->op->args[0]), w->n}, line,
                  0);
}

/* Near its window a value is a sum of (alpha + beta x) dx over it. */
typedef struct Linear {
  FlValue *alpha, *beta; /* of each row; beta NULL: 0 */
} Linear;

static Linear linear_of(const Window *w, FlValue *value, FlValue *valid) {
  FlBuilder *b = w->b;
  bool spread = slope_of(w) == FL_SLOPE_SPREAD;
  FlValue *count = slope_of(w) == FL_SLOPE_SUM ? NULL : rolling(w, "count", w->x, FL_I64);
  FlValue *mean = spread ? rolling(w, "mean", w->x, FL_F64) : NULL;
  FlValue *zero = fl_ir_const_f(b, FL_F64, 0.0), *one = fl_ir_const_f(b, FL_F64, 1.0);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *known = load1(b, valid, i), *out[2] = {one, zero};
  /* Divisors are 1 where there is no value, so that nothing is infinite there. */
  if (count && !spread) {
    FlValue *n = fl_ir_convert(b, load1(b, count, i), FL_F64);
    out[0] = two(w, FL_OP_DIV, one, fl_ir_select(b, known, n, one));
  }
  if (spread) {
    FlValue *n = fl_ir_convert(b, load1(b, count, i), FL_F64);
    n = fl_ir_select(b, known, two(w, FL_OP_SUB, n, fl_ir_const_f(b, FL_F64, w->op->attrs.f)), one);
    out[1] = two(w, FL_OP_DIV, fl_ir_const_f(b, FL_F64, w->rolls == FL_AGGREGATE_VAR ? 2.0 : 1.0), n);
    if (w->rolls == FL_AGGREGATE_STD)
      out[1] = two(w, FL_OP_DIV, out[1], fl_ir_select(b, known, load1(b, value, i), one));
    out[0] = fl_ir_unary(b, FL_OP_NEG, two(w, FL_OP_MUL, out[1], load1(b, mean, i)));
  }
  for (int k = 0; k < 2; k++) out[k] = fl_ir_select(b, known, out[k], zero);
  fl_ad_loop_end(b, &m, 2, out);
  return (Linear){m.op->results[0], spread ? m.op->results[1] : NULL};
}

/* ---- rolling: picked rows ---- */

typedef struct Picked {
  FlValue *first, *second, *low, *high; /* rows, -1: none; their shares, NULL: 1 */
} Picked;

/* The element at a place, and whether it is one. */
static FlValue *element_at(const Window *w, FlValue *row) { return load1(w->b, w->x, row); }

/* How many elements of the window are before that at place `at` in ascending order. */
static FlValue *rank_in(const Window *w, FlValue *from, FlValue *size, FlValue *at) {
  FlBuilder *b = w->b;
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &size);
  FlValue *place = two(w, FL_OP_WRAP_ADD, from, red.region->params[0]), *row = row_at(w, place);
  FlValue *x = element_at(w, row), *y = element_at(w, row_at(w, at));
  FlValue *tie = two(w, FL_OP_AND, two(w, FL_OP_EQ, x, y), two(w, FL_OP_LT, place, at));
  FlValue *before = two(w, FL_OP_OR, two(w, FL_OP_LT, x, y), tie);
  if (w->ok) before = two(w, FL_OP_AND, before, load1(b, w->ok, row));
  FlType1 i64 = fl_t_scalar(FL_I64);
  fl_ir_yield(red.region, b->module, 1, &before);
  *b = red.outer;
  fl_ir_set_reduction(red.op, FL_RED_COUNT, false);
  fl_ir_add_results(b, red.op, 1, &i64);
  return red.op->results[0];
}

/* The row of the element that so many others are before. */
static FlValue *row_of_rank(const Window *w, FlValue *from, FlValue *size, FlValue *rank) {
  FlBuilder *b = w->b;
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &size);
  FlValue *place = two(w, FL_OP_WRAP_ADD, from, red.region->params[0]), *row = row_at(w, place);
  FlValue *here = two(w, FL_OP_EQ, rank_in(w, from, size, place), rank);
  if (w->ok) here = two(w, FL_OP_AND, here, load1(b, w->ok, row));
  FlValue *v = fl_ir_select(b, here, row, fl_ad_i64(b, 0));
  fl_ad_loop_end(b, &red, 1, &v);
  fl_ir_set_reduction(red.op, FL_RED_SUM, false);
  return red.op->results[0];
}

/* The row of the smallest or largest element. */
static FlValue *row_of_extreme(const Window *w, FlValue *from, FlValue *size) {
  FlBuilder *b = w->b;
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, &size);
  FlValue *row = row_at(w, two(w, FL_OP_WRAP_ADD, from, red.region->params[0]));
  FlValue *out[2] = {element_at(w, row), w->ok ? load1(b, w->ok, row) : NULL};
  FlType1 i64 = fl_t_scalar(FL_I64);
  fl_ir_yield(red.region, b->module, w->ok ? 2 : 1, out);
  *b = red.outer;
  fl_ir_set_reduction(red.op, w->rolls == FL_AGGREGATE_MIN ? FL_RED_ARGMIN : FL_RED_ARGMAX, w->ok != NULL);
  red.op->attrs.i = FL_REDUCE_SOME;
  fl_ir_add_results(b, red.op, 1, &i64);
  return row_at(w, two(w, FL_OP_WRAP_ADD, from, red.op->results[0]));
}

static Picked picked_of(const Window *w, FlValue *valid) {
  if (slope_of(w) == FL_SLOPE_PLACE) {
    FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
    fl_ad_loop_end(w->b, &m, 1, m.region->params);
    FlValue *row = rolling(w, w->kind, m.op->results[0], FL_I64);
    FlAdLoop known = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
    FlValue *i = known.region->params[0];
    FlValue *v = fl_ir_select(w->b, load1(w->b, valid, i), load1(w->b, row, i), fl_ad_i64(w->b, -1));
    fl_ad_loop_end(w->b, &known, 1, &v);
    return (Picked){.first = known.op->results[0]};
  }
  bool extreme = slope_of(w) == FL_SLOPE_EXTREME;
  const FlOp *ends = bounds(w);
  FlValue *count = extreme ? NULL : rolling(w, "count", w->x, FL_I64);
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64), fl_t_scalar(FL_F64)};
  FlAdLoop m = fl_ad_loop(w->b, FL_OP_MAP, 1, &w->n);
  FlValue *i = m.region->params[0], *known = load1(w->b, valid, i), *none[3], *out[3];
  FlOp *choice = fl_ir_op(w->b, FL_OP_IF, 1, &known, extreme ? 1 : 3, types, 2);
  FlBuilder side = *w->b;
  side.region = fl_ir_region(&side, choice, 0, 0, NULL);
  Window in = *w;
  in.b = &side;
  FlValue *from = load1(&side, ends->results[0], i), *to = load1(&side, ends->results[1], i);
  FlValue *size = two(&in, FL_OP_WRAP_SUB, to, from);
  if (extreme) {
    out[0] = row_of_extreme(&in, from, size);
  } else {
    FlValue *one = fl_ad_i64(&side, 1), *last = two(&in, FL_OP_WRAP_SUB, load1(&side, count, i), one);
    FlValue *q = fl_ir_const_f(&side, FL_F64, w->rolls == FL_AGGREGATE_MEDIAN ? 0.5 : w->op->attrs.f);
    FlValue *h = two(&in, FL_OP_MUL, fl_ir_convert(&side, last, FL_F64), q),
            *low = fl_ir_unary(&side, FL_OP_FLOOR, h);
    FlValue *high = two(&in, FL_OP_MIN, two(&in, FL_OP_WRAP_ADD, low, one), last);
    out[0] = row_of_rank(&in, from, size, low);
    out[1] = row_of_rank(&in, from, size, high);
    out[2] = two(&in, FL_OP_SUB, h, fl_ir_convert(&side, low, FL_F64));
  }
  fl_ir_yield(side.region, side.module, extreme ? 1 : 3, out);
  side.region = fl_ir_region(&side, choice, 1, 0, NULL);
  none[0] = none[1] = fl_ad_i64(&side, -1);
  none[2] = fl_ir_const_f(&side, FL_F64, 0.0);
  fl_ir_yield(side.region, side.module, extreme ? 1 : 3, none);
  if (extreme) {
    fl_ad_loop_end(w->b, &m, 1, choice->results);
    return (Picked){.first = m.op->results[0]};
  }
  FlValue *shares[4] = {choice->results[0], choice->results[1], NULL, choice->results[2]};
  shares[2] = two(w, FL_OP_SUB, fl_ir_const_f(w->b, FL_F64, 1.0), shares[3]);
  fl_ad_loop_end(w->b, &m, 4, shares);
  FlValue *const *r = m.op->results;
  return (Picked){r[0], r[1], r[2], r[3]};
}

static bool is_sum(const Window *w) {
  return slope_of(w) == FL_SLOPE_SUM || slope_of(w) == FL_SLOPE_MEAN || slope_of(w) == FL_SLOPE_SPREAD;
}

static int rolling_column(const FlOp *op) {
  return op->n_args - (op->attrs.columns[op->attrs.n_columns - 1].flags & FL_COLUMN_NULLS ? 2 : 1);
}

bool fl_ad_back_rolling(const FlAdBulk *k) {
  if (!k->g) return true;
  Window w = window_of(k->f, k->op, rolling_column(k->op));
  FlValue *valid = fl_ad_result(k, 1), *g = converted(&w, k->g, FL_F64), *dx;
  if (is_sum(&w)) {
    Linear c = linear_of(&w, fl_ad_result(k, 0), valid);
    const FlOp *ends = bounds(&w);
    dx = over_windows(&w, fl_ad_times(w.b, g, c.alpha), ends);
    if (c.beta) {
      FlValue *slope = over_windows(&w, fl_ad_times(w.b, g, c.beta), ends);
      dx = fl_ad_plus(w.b, dx, fl_ad_times(w.b, slope, converted(&w, w.x, FL_F64)));
    }
  } else {
    Picked p = picked_of(&w, valid);
    dx = to_picked(&w, g, p.first, p.low);
    if (p.second) dx = fl_ad_plus(w.b, dx, to_picked(&w, g, p.second, p.high));
  }
  fl_ad_give(k, w.column, converted(&w, where_known(&w, dx), column_dtype(&w)));
  return true;
}

bool fl_ad_ahead_rolling(const FlAdAhead *k) {
  Window w = window_of(k->f, k->op, rolling_column(k->op));
  if (!fl_ad_moves(k, w.column)) return true;
  FlValue *valid = fl_ad_made(k, 1), *dx = converted(&w, fl_ad_moves(k, w.column), FL_F64), *out;
  if (is_sum(&w)) {
    Linear c = linear_of(&w, fl_ad_made(k, 0), valid);
    out = fl_ad_times(w.b, rolling(&w, "sum", dx, FL_F64), c.alpha);
    if (c.beta) {
      FlValue *moved = rolling(&w, "sum", fl_ad_times(w.b, dx, converted(&w, w.x, FL_F64)), FL_F64);
      out = fl_ad_plus(w.b, out, fl_ad_times(w.b, moved, c.beta));
    }
  } else {
    Picked p = picked_of(&w, valid);
    out = from_picked(&w, dx, p.first, p.low);
    if (p.second) out = fl_ad_plus(w.b, out, from_picked(&w, dx, p.second, p.high));
  }
  k->out[0] = converted(&w, out, w.dtype);
  return true;
}
