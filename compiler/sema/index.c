/* index.c: subscripts. x[i], x[a..b], x[mask], x[positions], x[:, new], on arrays, tables and lists.
 *
 * In: a base and subscripts. Out: an element, a view of rows where the leading dimension alone is cut, else a
 * MAP that loads from the base, which fusion takes into whatever uses it. Every position is checked once,
 * where it is made. */
#include "sema/category.h"
#include "sema/column_names.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

static void check_position(FlSema *s, FlValue *i, FlValue *n, FlSpan span) {
  int64_t ci, cn;
  if (fl_ir_const_value_i(i, &ci) && fl_ir_const_value_i(n, &cn) && ci >= 0 && ci < cn) return;
  FlSpan outer = s->b.span;
  s->b.span = span;
  FlValue *ok = fl_sema_op2(s, FL_OP_AND, fl_sema_op2(s, FL_OP_GE, i, fl_sema_i64(s, 0)),
                            fl_sema_op2(s, FL_OP_LT, i, n));
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 3, (FlValue *[]){ok, i, n}, 0, NULL, 0);
  check->attrs.i = FL_FAULT_INDEX;
  s->b.span = outer;
}

FlVal fl_sema_at(FlSema *s, FlVal v, FlValue *index, bool proven) {
  const FlType *t = v.type;
  if (!proven) check_position(s, index, fl_sema_dim(s, v, 0), s->b.span);
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
  if (t->kind == FL_TY_ARRAY && t->rank > 1) { /* a row */
    int rank = t->rank - 1;
    FlValue *sizes[FL_MAX_RANK] = {0}, *at[FL_MAX_RANK];
    for (int k = 0; k < rank; k++) sizes[k] = fl_sema_dim(s, v, k + 1);
    for (int p = 0; p < fl_type_element_parts(t); p++) {
      FlSemaMap map = fl_sema_map(s, rank, sizes, (FlDtype)v.parts[p]->type.dtype);
      at[0] = index;
      for (int k = 0; k < rank; k++) at[k + 1] = map.index[k];
      parts[p] = fl_sema_map_end(s, &map, fl_ir_load(&s->b, v.parts[p], rank + 1, at, true));
    }
    return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, rank), parts, v);
  }
  if (t->kind == FL_TY_ARRAY) {
    for (int p = 0; p < fl_type_element_parts(t); p++)
      parts[p] = fl_ir_load(&s->b, v.parts[p], 1, &index, true);
    FlVal element = fl_val_with(s, fl_type_scalar(s->types, t->dtype, t->nullable), parts, v);
    element.spelling = fl_val_sample(v, element);
    return element;
  }
  if (t->kind == FL_TY_TABLE) {
    int n = t->elem->n_fields;
    const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
    FlVal *fields = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
    for (int i = 0; i < n; i++) {
      names[i] = t->elem->fields[i].name;
      fields[i] = fl_sema_at(s, fl_val_field(s, v, i), index, true);
    }
    return fl_val_tuple(s, n, names, fields, t->elem->name);
  }
  for (int p = 0; p < t->n_parts; p++) parts[p] = fl_ir_load(&s->b, v.parts[p], 1, &index, true);
  FlVal out = fl_val_make(s, t->elem, parts);
  if (out.type->kind == FL_TY_TABLE) fl_sema_alias_rows(s, out);
  return out;
}

/* The parts that have rows: all of a list, the elements of an array, the columns of a table but for levels.
 * Returns their number; out[i]: which part. */
static int row_parts(FlSema *s, const FlType *t, int **out) {
  int n = 0;
  *out = FL_NEW_ARRAY(s->arena, int, t->n_parts + 1);
  for (int p = t->kind == FL_TY_TABLE ? 1 : 0; p < t->n_parts; p++)
    if (!t->levels[p]) (*out)[n++] = p;
  return n;
}

void fl_sema_alias_rows(FlSema *s, FlVal table) {
  int *part, n = row_parts(s, table.type, &part);
  fl_sema_mark_size(s, table.parts[0]);
  for (int i = 0; i < n; i++) {
    FlValue *column = table.parts[part[i]];
    if (!column->type.depth) fl_sema_alias(s, fl_ir_dim(&s->b, column, 0), table.parts[0]);
  }
}

FlVal fl_sema_index_rows(FlSema *s, FlVal v, FlValue *from, FlValue *to) {
  FlVal out = fl_val_make(s, v.type, v.parts);
  out.spelling = fl_val_sample(v, out);
  bool table = v.type->kind == FL_TY_TABLE;
  int *part, n = row_parts(s, v.type, &part);
  if (table) {
    out.parts[0] = fl_sema_op2(s, FL_OP_SUB, to, from);
    fl_sema_mark_size(s, out.parts[0]);
  }
  for (int i = 0; i < n; i++) {
    FlValue *column = v.parts[part[i]];
    column = fl_ir_op(&s->b, FL_OP_ROWS, 3, (FlValue *[]){column, from, to}, 1, &column->type, 0)->results[0];
    out.parts[part[i]] = column;
    if (table) fl_sema_alias(s, fl_ir_dim(&s->b, column, 0), out.parts[0]);
  }
  fl_column_names_keep(s, v, out);
  return out;
}

FlVal fl_sema_take(FlSema *s, FlVal v, FlValue *idx, int how) {
  int *part, n = row_parts(s, v.type, &part);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  args[0] = idx;
  for (int p = 0; p < n; p++) {
    args[p + 1] = v.parts[part[p]];
    types[p] = args[p + 1]->type;
  }
  FlVal out = fl_val_make(s, v.type, v.parts);
  out.spelling = fl_val_sample(v, out);
  if (v.type->kind == FL_TY_TABLE) out.parts[0] = fl_ir_dim(&s->b, idx, 0);
  if (n) {
    FlOp *op = fl_ir_op(&s->b, FL_OP_TAKE, n + 1, args, n, types, 0);
    op->attrs.i = how;
    for (int p = 0; p < n; p++) out.parts[part[p]] = op->results[p];
  }
  fl_column_names_keep(s, v, out);
  return out;
}

FlVal fl_sema_compress(FlSema *s, FlVal v, FlValue *mask) {
  int *part, n = row_parts(s, v.type, &part);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  args[0] = mask;
  types[0] = fl_t_scalar(FL_I64);
  for (int p = 0; p < n; p++) {
    args[p + 1] = v.parts[part[p]];
    types[p + 1] = args[p + 1]->type;
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_COMPRESS, n + 1, args, n + 1, types, 0);
  FlVal out = fl_val_make(s, v.type, v.parts);
  out.spelling = fl_val_sample(v, out);
  if (v.type->kind == FL_TY_TABLE) out.parts[0] = op->results[0];
  for (int p = 0; p < n; p++) out.parts[part[p]] = op->results[p + 1];
  fl_column_names_keep(s, v, out);
  return out;
}

/* ---- one subscript ---- */

typedef enum SubKind { SUB_POINT, SUB_SPAN, SUB_FULL, SUB_POSITIONS, SUB_MASK, SUB_NEW } SubKind;
typedef struct Sub {
  SubKind kind;
  FlValue *point; /* POINT; SPAN: first */
  FlValue *size;  /* of the result's dimension */
  FlValue *end;   /* SPAN: one past the last, step 1 */
  int64_t step;
  FlValue *array; /* POSITIONS, MASK */
  FlSpan span;
} Sub;

static FlValue *position(FlSema *s, const FlExpr *e, FlValue *n) {
  FlVal v = fl_sema_expr(s, e, NULL);
  if (fl_val_bad(v)) return NULL;
  if (v.literal == FL_LIT_INT && v.negative && v.magnitude == 1)
    return fl_sema_op2(s, FL_OP_SUB, n, fl_sema_i64(s, 1));
  if (v.literal == FL_LIT_INT && v.negative) {
    fl_sema_error(s, FL_E0404, e->span, "only a literal -1 counts from the end");
    return NULL;
  }
  if (v.type->kind != FL_TY_SCALAR || !fl_dtype_is_int(v.type->dtype)) {
    fl_sema_error(s, FL_E0404, e->span, "a position must be a whole number, and this is %s",
                  fl_val_text(s, v));
    return NULL;
  }
  v = fl_val_coerce(s, v, fl_type_scalar(s->types, FL_I64, false), e->span, "a position");
  return fl_val_bad(v) ? NULL : v.parts[0];
}

static bool read_value(FlSema *s, const FlSubscript *sub, FlValue *n, Sub *out) {
  const FlExpr *e = sub->value;
  if ((e->kind == FL_EXPR_UNARY && e->unary.op == FL_UN_NEG) || e->kind == FL_EXPR_INT) {
    out->kind = SUB_POINT;
    out->point = position(s, e, n);
    return out->point != NULL;
  }
  FlVal v = fl_sema_expr(s, e, NULL);
  if (fl_val_bad(v)) return false;
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && !v.type->nullable && v.type->dtype == FL_BOOL) {
    if (!fl_sema_same_size(s, n, fl_sema_dim(s, v, 0), sub->span,
                           "the dimension has size {a}, but the mask {b}"))
      return false;
    out->kind = SUB_MASK;
    out->array = v.parts[0];
    return true;
  }
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && !v.type->nullable &&
      fl_dtype_is_int(v.type->dtype)) {
    v = fl_val_coerce(s, v, fl_type_array(s->types, FL_I64, false, 1), sub->span, "positions");
    if (fl_val_bad(v)) return false;
    out->kind = SUB_POSITIONS;
    out->array = v.parts[0];
    out->size = fl_sema_dim(s, v, 0);
    return true;
  }
  if (v.type->kind == FL_TY_SCALAR && fl_dtype_is_int(v.type->dtype) && !v.type->nullable) {
    v = fl_val_coerce(s, v, fl_type_scalar(s->types, FL_I64, false), sub->span, "a position");
    if (fl_val_bad(v)) return false;
    out->kind = SUB_POINT;
    out->point = v.parts[0];
    return true;
  }
  FlDiag *d = fl_sema_report(s, FL_E0404, sub->span,
                             "a subscript is a position, a range, positions or a mask, and this is %s",
                             fl_val_text(s, v));
  if ((v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && v.type->nullable)
    fl_diag_help(s->sink, d, "say what null means with `??`");
  if (v.type->kind == FL_TY_ARRAY && v.type->dtype == FL_TEXT)
    fl_diag_help(s->sink, d, "columns are chosen by `t |> select(k, x)`");
  if (fl_habit_plain_text(e)) fl_habit_quoted_field(s, d, e);
  return false;
}

static bool read_slice(FlSema *s, const FlSubscript *sub, FlValue *n, Sub *out) {
  if (!sub->lo && !sub->hi && !sub->step) {
    out->kind = SUB_FULL;
    out->size = n;
    return true;
  }
  out->kind = SUB_SPAN;
  out->step = 1;
  out->point = sub->lo ? position(s, sub->lo, n) : fl_sema_i64(s, 0);
  out->end = sub->hi ? position(s, sub->hi, n) : n;
  if (!out->point || !out->end) return false;
  if (sub->step) {
    FlVal v = fl_sema_expr(s, sub->step, NULL);
    if (!fl_val_const_i(v, &out->step) || out->step <= 0) {
      fl_sema_error(s, FL_E0314, sub->step->span,
                    "a step must be a whole number above 0 that is known when compiling");
      return false;
    }
  }
  /* 0 <= first <= end <= n, checked here once. */
  FlBuilder *w = &s->b;
  FlSpan outer = w->span;
  w->span = sub->span;
  int64_t c;
  if (sub->lo && !(fl_ir_const_value_i(out->point, &c) && c == 0)) {
    FlValue *ok = fl_sema_op2(s, FL_OP_AND, fl_sema_op2(s, FL_OP_GE, out->point, fl_sema_i64(s, 0)),
                              fl_sema_op2(s, FL_OP_LE, out->point, out->end));
    FlOp *check = fl_ir_op(w, FL_OP_CHECK, 3, (FlValue *[]){ok, out->point, out->end}, 0, NULL, 0);
    check->attrs.i = FL_FAULT_INDEX;
    check->attrs.s = "the slice {a}..{b} begins below 0 or ends before it begins";
  } else if (sub->hi) {
    FlValue *ok = fl_sema_op2(s, FL_OP_GE, out->end, fl_sema_i64(s, 0));
    fl_ir_op(w, FL_OP_CHECK, 3, (FlValue *[]){ok, out->end, n}, 0, NULL, 0)->attrs.i = FL_FAULT_INDEX;
  }
  if (sub->hi && out->end != n) {
    FlValue *ok = fl_sema_op2(s, FL_OP_LE, out->end, n);
    fl_ir_op(w, FL_OP_CHECK, 3, (FlValue *[]){ok, out->end, n}, 0, NULL, 0)->attrs.i = FL_FAULT_INDEX;
  }
  w->span = outer;
  FlValue *size = sub->lo ? fl_sema_op2(s, FL_OP_SUB, out->end, out->point) : out->end;
  if (out->step != 1) {
    size = fl_sema_op2(s, FL_OP_ADD, size, fl_sema_i64(s, out->step - 1));
    size = fl_sema_op2(s, FL_OP_FLOORDIV, size, fl_sema_i64(s, out->step));
  }
  out->size = size;
  fl_sema_mark_size(s, size);
  return true;
}

/* Row numbers where the mask holds. */
static FlValue *mask_positions(FlSema *s, FlValue *mask, FlValue **count) {
  FlValue *n = fl_sema_size(s, fl_ir_dim(&s->b, mask, 0));
  FlType1 out[2] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)}, in = fl_t_scalar(FL_I64);
  FlOp *op = fl_ir_op(&s->b, FL_OP_COLLECT, 1, &n, 2, out, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, 1, &in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *yields[2] = {fl_ir_load(&s->b, mask, 1, r->params, true), r->params[0]};
  fl_ir_yield(r, s->module, 2, yields);
  fl_sema_leave(s, saved);
  *count = op->results[0];
  return op->results[1];
}

/* ---- arrays ---- */

/* Subscripts of the leading dimension alone have operators of their own; *out: the result. false: it is not
 * that. */
static bool index_lead(FlSema *s, FlVal v, const Sub *subs, int n_subs, FlVal *out) {
  for (int i = 1; i < n_subs; i++)
    if (subs[i].kind != SUB_FULL) return false;
  if (n_subs == 0) return false;
  switch (subs[0].kind) {
  case SUB_FULL: *out = v; return true;
  case SUB_MASK: *out = fl_sema_compress(s, v, subs[0].array); return true;
  case SUB_SPAN:
    if (subs[0].step != 1 || s->in_kernel) return false;
    *out = fl_sema_index_rows(s, v, subs[0].point, subs[0].end);
    return true;
  case SUB_POSITIONS:
    if (s->in_kernel) return false;
    *out = fl_sema_take(s, v, subs[0].array, 0);
    return true;
  case SUB_POINT:
  case SUB_NEW: return false;
  }
  return false;
}

/* The position in v of an element of the result, whose own position is `own`. */
static void position_of(FlSema *s, FlVal v, const Sub *subs, int n_subs, FlValue *const *own, FlValue **at) {
  int axis = 0;
  for (int i = 0, k = 0; i < n_subs; i++) {
    FlValue *step = subs[i].kind == SUB_POINT ? NULL : own[k++];
    switch (subs[i].kind) {
    case SUB_POINT: at[axis++] = subs[i].point; break;
    case SUB_FULL: at[axis++] = step; break;
    case SUB_SPAN:
      if (subs[i].step != 1) step = fl_sema_op2(s, FL_OP_WRAP_MUL, step, fl_sema_i64(s, subs[i].step));
      at[axis++] = fl_sema_op2(s, FL_OP_WRAP_ADD, subs[i].point, step);
      break;
    case SUB_POSITIONS:
      at[axis] = fl_ir_load(&s->b, subs[i].array, 1, &step, true);
      check_position(s, at[axis], fl_sema_dim(s, v, axis), subs[i].span);
      axis++;
      break;
    case SUB_MASK:
    case SUB_NEW: break;
    }
  }
}

/* Masks become positions, points are checked; the sizes of the result. */
static void prepare(FlSema *s, FlVal v, Sub *subs, int n_subs, FlValue **sizes) {
  for (int i = 0, axis = 0; i < n_subs; i++) {
    if (subs[i].kind == SUB_MASK) {
      subs[i].array = mask_positions(s, subs[i].array, &subs[i].size);
      subs[i].kind = SUB_POSITIONS;
    }
    if (subs[i].kind == SUB_POINT) check_position(s, subs[i].point, fl_sema_dim(s, v, axis), subs[i].span);
    if (subs[i].kind != SUB_NEW) axis++;
  }
  for (int i = 0, k = 0; i < n_subs; i++)
    if (subs[i].kind != SUB_POINT) sizes[k++] = subs[i].kind == SUB_NEW ? fl_sema_i64(s, 1) : subs[i].size;
}

/* The columns that are chosen keep their names. */
static void keep_chosen_names(FlSema *s, FlVal v, const Sub *subs, int n_subs, FlVal out) {
  FlValue *names = v.type->rank == 2 && !s->in_kernel ? fl_column_names(s, v.parts[0]) : NULL;
  if (!names || n_subs != 2 || out.type->kind != FL_TY_ARRAY || out.type->rank != 2) return;
  const Sub *sub = &subs[1];
  if (sub->kind == SUB_FULL) {
    fl_column_names_set(s, out.parts[0], names);
    return;
  }
  FlValue *size = sub->size;
  FlSemaMap map = fl_sema_map(s, 1, &size, FL_TEXT);
  FlValue *at = map.index[0];
  if (sub->kind == SUB_POSITIONS) {
    at = fl_ir_load(&s->b, sub->array, 1, &at, true);
  } else {
    if (sub->step != 1) at = fl_sema_op2(s, FL_OP_WRAP_MUL, at, fl_sema_i64(s, sub->step));
    at = fl_sema_op2(s, FL_OP_WRAP_ADD, sub->point, at);
  }
  fl_column_names_set(s, out.parts[0], fl_sema_map_end(s, &map, fl_ir_load(&s->b, names, 1, &at, true)));
}

static FlVal index_array(FlSema *s, FlVal v, Sub *subs, int n_subs) {
  FlVal lead;
  int rank = 0;
  if (index_lead(s, v, subs, n_subs, &lead)) return lead;
  for (int i = 0; i < n_subs; i++) rank += subs[i].kind != SUB_POINT;
  if (rank > FL_MAX_RANK)
    return fl_sema_error(s, FL_E0403, s->b.span, "an array has at most %d dimensions", FL_MAX_RANK);
  FlValue *sizes[FL_MAX_RANK] = {0}, *at[FL_MAX_RANK], *parts[2];
  prepare(s, v, subs, n_subs, sizes);
  for (int p = 0; p < fl_type_element_parts(v.type); p++) {
    if (!rank) {
      position_of(s, v, subs, n_subs, NULL, at);
      parts[p] = fl_ir_load(&s->b, v.parts[p], v.type->rank, at, true);
      continue;
    }
    FlSemaMap map = fl_sema_map(s, rank, sizes, (FlDtype)v.parts[p]->type.dtype);
    position_of(s, v, subs, n_subs, map.index, at);
    parts[p] = fl_sema_map_end(s, &map, fl_ir_load(&s->b, v.parts[p], v.type->rank, at, true));
  }
  FlVal out = fl_val_with(s,
                          rank ? fl_type_array(s->types, v.type->dtype, v.type->nullable, rank)
                               : fl_type_scalar(s->types, v.type->dtype, v.type->nullable),
                          parts, v);
  for (int i = 0, k = 0; i < n_subs; i++) {
    if (subs[i].kind == SUB_NEW) out.stretch |= 1u << k;
    if (subs[i].kind != SUB_POINT) k++;
  }
  keep_chosen_names(s, v, subs, n_subs, out);
  return out;
}

static FlVal index_rows(FlSema *s, FlVal v, const Sub *sub) { /* tables and lists */
  switch (sub->kind) {
  case SUB_POINT:
    check_position(s, sub->point, fl_sema_dim(s, v, 0), sub->span);
    return fl_sema_at(s, v, sub->point, true);
  case SUB_FULL: return v;
  case SUB_SPAN:
    if (sub->step == 1) return fl_sema_index_rows(s, v, sub->point, sub->end);
    break;
  case SUB_POSITIONS: {
    FlVal out = fl_sema_take(s, v, sub->array, 0);
    int *part;
    if (row_parts(s, v.type, &part))
      fl_sema_keep_value(s, out.parts[part[0]]); /* there are so many rows because all are there */
    return out;
  }
  case SUB_MASK: return fl_sema_compress(s, v, sub->array);
  case SUB_NEW: break;
  }
  return fl_sema_error(s, FL_E0404, sub->span, "%s does not take this subscript", fl_val_text(s, v));
}

FlVal fl_sema_index(FlSema *s, const FlExpr *e) {
  FlVal v = fl_sema_expr(s, e->index.base, NULL);
  if (fl_val_bad(v)) return v;
  FlTyKind kind = v.type->kind;
  if (kind != FL_TY_ARRAY && kind != FL_TY_TABLE && kind != FL_TY_LIST) {
    FlDiag *d = fl_sema_report(s, FL_E0404, e->span, "%s has no elements", fl_val_text(s, v));
    if (kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT)
      fl_diag_help(s->sink, d, "take characters with `slice(text, from, to)`");
    return fl_val_error(s);
  }
  const FlSubscriptList *list = &e->index.subs;
  int rank = kind == FL_TY_ARRAY ? v.type->rank : 1, n = 0, axis = 0;
  Sub subs[2 * FL_MAX_RANK] = {{0}};
  for (int i = 0; i < list->n; i++) {
    const FlSubscript *sub = &list->at[i];
    if (n == 2 * FL_MAX_RANK || (sub->kind != FL_SUB_NEW && axis == rank))
      return fl_sema_error(s, FL_E0403, sub->span, "%s has %d dimension%s, and this is one subscript more",
                           fl_val_text(s, v), rank, rank == 1 ? "" : "s");
    subs[n].span = sub->span;
    s->b.span = sub->span;
    if (sub->kind == FL_SUB_NEW) {
      subs[n++].kind = SUB_NEW;
      continue;
    }
    FlValue *size = fl_sema_dim(s, v, axis++);
    bool ok =
        sub->kind == FL_SUB_VALUE ? read_value(s, sub, size, &subs[n]) : read_slice(s, sub, size, &subs[n]);
    if (!ok) return fl_val_error(s);
    n++;
  }
  s->b.span = e->span;
  if (kind != FL_TY_ARRAY) return index_rows(s, v, &subs[0]);
  for (; axis < rank && n < 2 * FL_MAX_RANK; axis++)
    subs[n++] = (Sub){.kind = SUB_FULL, .size = fl_sema_dim(s, v, axis), .span = e->span};
  return index_array(s, v, subs, n);
}
