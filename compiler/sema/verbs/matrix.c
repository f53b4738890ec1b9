/* matrix.c: numeric columns of a table side by side: matrix(t, a, b), matrix(t, except = (label)).
 *
 * In: a table and column expressions, or all columns but some. Out: f64[rows, k] (f32 by dtype =), row-major;
 * a column of arrays [rows, d] gives d columns. A column that is text, bool or nullable is an error that
 * names it. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/column_names.h"
#include "sema/decimal.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/column_set.h"
#include "sema/verbs/verbs.h"

static FlVal reject(FlSema *s, FlVal v, FlSpan span, const char *name) {
  bool plain = v.type->kind == FL_TY_ARRAY && v.type->rank <= 2;
  bool number = plain && fl_dtype_is_number(v.type->dtype);
  const char *why = number ? "which may be null" : "not numbers";
  FlDiag *d = fl_sema_report(s, FL_E0613, span, "`%s` cannot be a column of a matrix: it is %s, %s", name,
                             fl_val_text(s, v), why);
  if (number)
    fl_diag_help(s->sink, d, "fill it, `fill_null(%s = 0)`, or drop those rows, `drop_null(%s)`", name, name);
  else if (plain && v.type->dtype == FL_BOOL) fl_diag_help(s->sink, d, "convert it: `f64(%s)`", name);
  else if (plain && v.type->dtype == FL_CATEGORY)
    fl_diag_help(s->sink, d, "give each level a column: `one_hot(%s)`", name);
  else if (plain && v.type->dtype == FL_TEXT)
    fl_diag_help(s->sink, d,
                 "give each text a column, `one_hot(category(%s))`, or leave it out, `except = (%s)`", name,
                 name);
  else fl_diag_help(s->sink, d, "leave it out with `except = (%s)`", name);
  return fl_val_error(s);
}

typedef struct Pieces {
  FlVec(FlValue *) flat; /* each column's elements, columns one after the other */
  FlVec(FlValue *) names;
  FlValue *rows, *wide; /* wide: the columns that columns of arrays give so far, or NULL */
  int64_t single;       /* and those of scalars */
  FlDtype dtype;
} Pieces;

static bool add_piece(FlSema *s, Pieces *m, FlVal v, FlSpan span, const char *name) {
  if (fl_val_bad(v)) return false;
  if (fl_val_is_decimal(v)) v = fl_decimal_to_real(s, v, span);
  const FlType *t = v.type;
  if (t->kind != FL_TY_ARRAY || t->rank > 2 || t->nullable || !fl_dtype_is_number(t->dtype)) {
    reject(s, v, span, name);
    return false;
  }
  if (t->dtype != m->dtype) v = fl_sema_lift_op(s, span, FL_OP_CONVERT, 1, &v, m->dtype, NULL);
  if (fl_val_bad(v)) return false;
  FlValue *piece = v.parts[0];
  fl_vec_push(s->arena, &m->names,
              t->rank == 2 ? fl_column_names_wide(s, v, name) : fl_column_names_single(s, name));
  if (t->rank == 2) {
    FlValue *d = fl_sema_dim(s, v, 1);
    piece = fl_ir_op(&s->b, FL_OP_TRANSPOSE, 1, &piece, 1, &piece->type, 0)->results[0];
    FlType1 line = fl_t_array(m->dtype, 1);
    FlValue *args[2] = {piece, fl_sema_op2(s, FL_OP_MUL, d, m->rows)};
    piece = fl_ir_op(&s->b, FL_OP_RESHAPE, 2, args, 1, &line, 0)->results[0];
    m->wide = m->wide ? fl_sema_op2(s, FL_OP_ADD, m->wide, d) : d;
  } else {
    m->single++;
  }
  fl_vec_push(s->arena, &m->flat, piece);
  return true;
}

static bool read_dtype(FlSema *s, FlActual *a, FlDtype *out) {
  if (!fl_actual_given(a)) return true;
  const char *word = a->expr && a->expr->kind == FL_EXPR_NAME ? a->expr->name.text : NULL;
  if (!word && !fl_actual_const_text(s, a, &word)) return false;
  if (fl_dtype_find(word, out) && fl_dtype_is_float(*out)) return true;
  fl_sema_error(s, FL_E0325, a->span, "a matrix is of f64 or f32, and this is `%s`", word);
  return false;
}

FlVal fl_builtin_matrix(FlSema *s, FlCallSite *c) {
  FlVal t;
  Pieces m = {.dtype = FL_F64};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c) || !read_dtype(s, &c->args[2], &m.dtype))
    return fl_val_error(s);
  m.rows = fl_sema_size(s, fl_val_rows(t));
  const FlType *row = t.type->elem;
  FlColumnSet except = {.has = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1)};
  if (fl_actual_given(&c->args[1])) {
    if (c->n_rest)
      return fl_sema_error(s, FL_E0210, c->args[1].span,
                           "`matrix` takes the columns, or `except =` those that it leaves out, not both");
    if (!fl_column_set(s, t, c->args[1].expr, &except)) return fl_val_error(s);
  }
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    const char *name = a->name.text ? a->name.text : a->expr ? fl_column_name_of_expr(s, a->expr) : "column";
    FlVal v = fl_verb_as_column(s, fl_verb_expr(s, t, a, FL_AGG_SPREAD), m.rows, a->span, name);
    if (!add_piece(s, &m, v, a->span, name)) return fl_val_error(s);
  }
  for (int k = 0; !c->n_rest && k < row->n_fields; k++)
    if (!except.has[k] && !add_piece(s, &m, fl_val_field(s, t, k), c->span, row->fields[k].name))
      return fl_val_error(s);
  if (!m.flat.n) return fl_sema_error(s, FL_E0613, c->span, "no column is left for the matrix");
  FlType1 line = fl_t_array(m.dtype, 1), grid = fl_t_array(m.dtype, 2);
  FlValue *all = m.flat.at[0];
  if (m.flat.n > 1) all = fl_ir_op(&s->b, FL_OP_CONCAT, m.flat.n, m.flat.at, 1, &line, 0)->results[0];
  FlValue *width = m.wide ? m.wide : fl_sema_i64(s, m.single);
  if (m.wide && m.single) width = fl_sema_op2(s, FL_OP_ADD, width, fl_sema_i64(s, m.single));
  fl_sema_mark_size(s, width);
  FlOp *rows = fl_ir_op(&s->b, FL_OP_RESHAPE, 3, (FlValue *[]){all, width, m.rows}, 1, &grid, 0);
  rows->attrs.i = m.flat.n > 1 && !m.wide;
  FlValue *columns = rows->results[0];
  FlValue *out = fl_ir_op(&s->b, FL_OP_TRANSPOSE, 1, &columns, 1, &grid, 0)->results[0];
  fl_column_names_set(s, out, fl_column_names_join(s, m.names.n, m.names.at));
  return fl_val_array(s, m.dtype, 2, out);
}
