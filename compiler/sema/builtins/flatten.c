/* flatten.c: flatten(p) and unflatten(v, like): the floats of a tuple as one vector, and back.
 *
 * In: a float, an array of floats, or a tuple of these, nested as it likes. Out of flatten: all of them in
 * the order of the fields, arrays row-major, as a vector: f32 when all are, else f64. Out of unflatten: a
 * value of the type and the sizes of `like`; a vector of f64 is rounded where `like` is f32. Always:
 * unflatten of flatten(p) like p is p, and a vector is its own flatten, not copied. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"

static bool is_float(const FlType *t) {
  return (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) && !t->nullable && fl_dtype_is_float(t->dtype);
}

/* The element type of all leaves together; false: reported, with the fields that lead to the leaf, ".a.b". */
static bool leaves_ok(FlSema *s, FlCallSite *c, const FlType *t, const char *path, FlSpan span, FlDtype *d) {
  if (t->kind == FL_TY_TUPLE) {
    for (int i = 0; i < t->n_fields; i++)
      if (!leaves_ok(s, c, t->fields[i].type, fl_arena_printf(s->arena, "%s.%s", path, t->fields[i].name),
                     span, d))
        return false;
    return true;
  }
  if (is_float(t)) {
    if (t->dtype == FL_F64) *d = FL_F64;
    return true;
  }
  fl_sema_error(s, FL_E0325, span, "`%s` takes floats, arrays of floats and tuples of these, and %s%s is %s",
                c->builtin->name, path[0] ? "`" : "this",
                path[0] ? fl_arena_printf(s->arena, "%s`", path + 1) : "", fl_type_brief(s->types, t));
  return false;
}

/* A leaf of f32 or f64 as the other one. */
static FlVal converted(FlSema *s, FlVal v, FlDtype to, FlSpan span) {
  return v.type->dtype == to ? v : fl_sema_lift_op(s, span, FL_OP_CONVERT, 1, &v, to, NULL);
}

static FlValue *count(FlSema *s, FlVal leaf) {
  FlValue *n = fl_sema_i64(s, 1);
  for (int k = 0; k < leaf.type->rank; k++) {
    FlValue *d = fl_sema_dim(s, leaf, k);
    n = k ? fl_sema_op2(s, FL_OP_WRAP_MUL, n, d) : d;
  }
  return n;
}

/* ---- flatten ---- */

typedef struct Leaves {
  FlDtype d;
  FlSpan span;
  FlVec(FlValue *) lines; /* vectors, in order */
  FlValue *n;
} Leaves;

static void add_leaf(FlSema *s, Leaves *out, FlVal v) {
  FlType1 line = fl_t_array(out->d, 1);
  FlValue *n = count(s, v);
  v = converted(s, v, out->d, out->span);
  FlValue *x = v.parts[0];
  if (v.type->kind == FL_TY_SCALAR) x = fl_ir_op(&s->b, FL_OP_ARRAY, 1, &x, 1, &line, 0)->results[0];
  else if (v.type->rank > 1)
    x = fl_ir_op(&s->b, FL_OP_RESHAPE, 2, (FlValue *[]){x, n}, 1, &line, 0)->results[0];
  fl_vec_push(s->arena, &out->lines, x);
  out->n = out->n ? fl_sema_op2(s, FL_OP_WRAP_ADD, out->n, n) : n;
}

static void add_leaves(FlSema *s, Leaves *out, FlVal v) {
  if (v.type->kind != FL_TY_TUPLE) {
    add_leaf(s, out, v);
    return;
  }
  for (int i = 0; i < v.type->n_fields; i++) add_leaves(s, out, fl_val_field(s, v, i));
}

FlVal fl_builtin_flatten(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  Leaves out = {.d = FL_F32, .span = c->args[0].span};
  if (fl_val_bad(v)) return v;
  if (!leaves_ok(s, c, v.type, "", out.span, &out.d)) return fl_val_error(s);
  add_leaves(s, &out, v);
  FlType1 line = fl_t_array(out.d, 1);
  if (out.n) fl_sema_mark_size(s, out.n);
  if (out.lines.n == 1) return fl_val_array(s, out.d, 1, out.lines.at[0]);
  FlOpcode how = out.lines.n ? FL_OP_CONCAT : FL_OP_ARRAY;
  FlValue *all = fl_ir_op(&s->b, how, out.lines.n, out.lines.at, 1, &line, 0)->results[0];
  if (out.n) fl_sema_alias(s, fl_ir_dim(&s->b, all, 0), out.n);
  fl_sema_mark_size(s, fl_ir_dim(&s->b, all, 0));
  return fl_val_array(s, out.d, 1, all);
}

/* ---- unflatten ---- */

typedef struct Cut {
  FlVal line;
  FlSpan span;
  FlValue *at; /* what comes before the next leaf */
} Cut;

static FlVal cut_leaf(FlSema *s, Cut *c, FlVal like) {
  FlType1 line = c->line.parts[0]->type;
  FlValue *n = count(s, like), *from = c->at, *x = c->line.parts[0];
  c->at = fl_sema_op2(s, FL_OP_WRAP_ADD, from, n);
  if (like.type->kind == FL_TY_SCALAR) {
    x = fl_ir_load(&s->b, x, 1, &from, true);
    return converted(s, fl_val_scalar(s, (FlDtype)line.dtype, x), like.type->dtype, c->span);
  }
  int rank = like.type->rank;
  FlValue *args[FL_MAX_RANK + 1];
  x = fl_ir_op(&s->b, FL_OP_ROWS, 3, (FlValue *[]){x, from, c->at}, 1, &line, 0)->results[0];
  args[0] = x;
  for (int k = 0; k < rank; k++) args[k + 1] = fl_sema_dim(s, like, k);
  FlType1 t = fl_t_array((FlDtype)line.dtype, rank);
  if (rank > 1) x = fl_ir_op(&s->b, FL_OP_RESHAPE, rank + 1, args, 1, &t, 0)->results[0];
  for (int k = 0; k < rank; k++) fl_sema_alias(s, fl_ir_dim(&s->b, x, k), args[k + 1]);
  return converted(s, fl_val_array(s, (FlDtype)line.dtype, rank, x), like.type->dtype, c->span);
}

static FlVal cut(FlSema *s, Cut *c, FlVal like) {
  if (like.type->kind != FL_TY_TUPLE) return cut_leaf(s, c, like);
  int n = like.type->n_fields;
  FlVal *fields = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  for (int i = 0; i < n; i++) {
    names[i] = like.type->fields[i].name;
    fields[i] = cut(s, c, fl_val_field(s, like, i));
  }
  return fl_val_tuple(s, n, names, fields, like.type->name);
}

static FlValue *total(FlSema *s, FlVal v) {
  if (v.type->kind != FL_TY_TUPLE) return count(s, v);
  FlValue *n = NULL;
  for (int i = 0; i < v.type->n_fields; i++) {
    FlValue *k = total(s, fl_val_field(s, v, i));
    n = n ? fl_sema_op2(s, FL_OP_WRAP_ADD, n, k) : k;
  }
  return n ? n : fl_sema_i64(s, 0);
}

FlVal fl_builtin_unflatten(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL), like = fl_actual_value(s, &c->args[1], NULL);
  FlDtype d = FL_F32;
  if (fl_val_bad(v)) return v;
  if (fl_val_bad(like)) return like;
  if (!is_float(v.type) || v.type->rank != 1)
    return fl_sema_error(s, FL_E0325, c->args[0].span, "`unflatten` takes a vector of floats, and this is %s",
                         fl_val_text(s, v));
  if (!leaves_ok(s, c, like.type, "", c->args[1].span, &d) ||
      !fl_sema_same_size(s, fl_sema_dim(s, v, 0), total(s, like), c->span,
                         "the vector has {a} elements, but what it is to be like has {b}"))
    return fl_val_error(s);
  if (like.type->kind == FL_TY_ARRAY && like.type->rank == 1)
    return converted(s, v, like.type->dtype, c->span);
  return cut(s, &(Cut){.line = v, .span = c->span, .at = fl_sema_i64(s, 0)}, like);
}
