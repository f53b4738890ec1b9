/* column_names.c: what the columns of a matrix are called, so that a model can tell other columns from those
 * it was fitted on.
 *
 * In: matrices as `matrix` and `one_hot` make them. Out: column_names(x), expect_columns(x, names), and names
 * that go along where rows and columns are chosen (index.c), where rows are put below each other, where `if`
 * takes one of two, where operators are applied element by element, and into functions and stages. What
 * always holds: names are known of the SSA value that the matrix is, so tuples and bindings keep them; they
 * are a value text[columns] that is there wherever the matrix is. A matrix that is computed in any other way,
 * and one that a loop assigns, has none. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/column_names.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"

FlValue *fl_column_names(FlSema *s, const FlValue *matrix) { return fl_map_get(s->column_names, matrix); }

void fl_column_names_set(FlSema *s, const FlValue *matrix, FlValue *names) {
  if (names) fl_map_set(s->column_names, matrix, names);
}

void fl_column_names_keep(FlSema *s, FlVal from, FlVal to) {
  if (from.type->kind != FL_TY_ARRAY || from.type->rank != 2 || to.type->kind != FL_TY_ARRAY ||
      to.type->rank != 2)
    return;
  fl_column_names_set(s, to.parts[0], fl_column_names(s, from.parts[0]));
}

void fl_column_names_common(FlSema *s, int n, const FlVal *from, FlVal to) {
  const FlVal *first = NULL;
  for (int i = 0; i < n; i++) {
    bool grid = from[i].type->kind == FL_TY_ARRAY && from[i].type->rank == 2;
    const FlValue *names = grid ? fl_column_names(s, from[i].parts[0]) : NULL;
    if (names && first && names != fl_column_names(s, first->parts[0])) return;
    if (names) first = &from[i];
  }
  if (first) fl_column_names_keep(s, *first, to);
}

int fl_column_names_of(FlSema *s, FlVal v, FlValue **out) {
  int n = 0;
  for (int p = 0; p < v.type->n_parts; p++) {
    FlValue *names = fl_column_names(s, v.parts[p]);
    if (names && out) out[n] = names;
    n += names != NULL;
  }
  return n;
}

void fl_column_names_inside(FlSema *s, FlVal outside, FlVal inside, FlRegion *body) {
  for (int p = 0; p < outside.type->n_parts; p++)
    if (fl_column_names(s, outside.parts[p]))
      fl_column_names_set(s, inside.parts[p], fl_ir_param(body, fl_t_array(FL_TEXT, 1)));
}

bool fl_column_names_alike(FlSema *s, FlVal a, FlVal b) {
  for (int p = 0; p < a.type->n_parts && a.type == b.type; p++)
    if (!fl_column_names(s, a.parts[p]) != !fl_column_names(s, b.parts[p])) return false;
  return true;
}

/* ---- names of pieces of a matrix ---- */

static FlValue *texts_op(FlSema *s, int n, FlValue **texts) {
  FlType1 type = fl_t_array(FL_TEXT, 1);
  return fl_ir_op(&s->b, FL_OP_ARRAY, n, texts, 1, &type, 0)->results[0];
}

FlValue *fl_column_names_or_none(FlSema *s, const FlValue *matrix) {
  FlValue *names = fl_column_names(s, matrix);
  return names ? names : texts_op(s, 0, NULL);
}

FlValue *fl_column_names_single(FlSema *s, const char *name) {
  FlValue *text = fl_ir_const_t(&s->b, name, (int)strlen(name));
  return texts_op(s, 1, &text);
}

FlValue *fl_column_names_wide(FlSema *s, FlVal v, const char *name) {
  FlValue *levels = fl_column_names(s, v.parts[0]), *n = fl_sema_dim(s, v, 1);
  FlSemaMap map = fl_sema_map(s, 1, &n, FL_TEXT);
  FlVal parts[3] = {fl_val_textz(s, fl_arena_printf(s->arena, levels ? "%s=" : "%s[", name)),
                    levels ? fl_val_scalar(s, FL_TEXT, fl_ir_load(&s->b, levels, 1, map.index, true))
                           : fl_sema_to_text(s, fl_val_scalar(s, FL_I64, map.index[0]), NULL, s->b.span),
                    fl_val_textz(s, levels ? "" : "]")};
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  FlVal all = fl_sema_scalar_op(s, FL_OP_TEXT_CONCAT, parts, 2, text, NULL);
  if (!levels) all = fl_sema_scalar_op(s, FL_OP_TEXT_CONCAT, (FlVal[]){all, parts[2]}, 2, text, NULL);
  return fl_sema_map_end(s, &map, all.parts[0]);
}

FlValue *fl_column_names_join(FlSema *s, int n, FlValue *const *pieces) {
  FlType1 type = fl_t_array(FL_TEXT, 1);
  return n == 1 ? pieces[0] : fl_ir_op(&s->b, FL_OP_CONCAT, n, pieces, 1, &type, 0)->results[0];
}

const char *fl_column_name_of_expr(FlSema *s, const FlExpr *e) {
  if (e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL) return e->name.text;
  if (e->kind == FL_EXPR_CALL && e->call.args.n == 1 && e->call.func->kind == FL_EXPR_NAME &&
      strcmp(e->call.func->name.text, "one_hot") == 0)
    return fl_column_name_of_expr(s, e->call.args.at[0].value);
  const FlSource *source = fl_sources_get(s->sources, e->span.file);
  return source ? fl_arena_strndup(s->arena, source->text + e->span.start, e->span.len) : "column";
}

/* ---- builtins ---- */

/* column_names(x): of a matrix as far as they are known, else no names; of a table. */
FlVal fl_builtin_column_names(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (v.type->kind == FL_TY_TABLE) {
    const FlType *row = v.type->elem;
    FlValue **texts = FL_NEW_ARRAY(s->arena, FlValue *, row->n_fields + 1);
    for (int i = 0; i < row->n_fields; i++)
      texts[i] = fl_ir_const_t(&s->b, row->fields[i].name, (int)strlen(row->fields[i].name));
    return fl_val_array(s, FL_TEXT, 1, texts_op(s, row->n_fields, texts));
  }
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 2)
    return fl_sema_error(s, FL_E0325, c->args[0].span,
                         "`column_names` takes a matrix or a table, and this is %s", fl_val_text(s, v));
  FlValue *names = fl_column_names(s, v.parts[0]);
  return fl_val_array(s, FL_TEXT, 1, names ? names : texts_op(s, 0, NULL));
}

/* Stops where both are known and differ: names of a model, or of rows above. */
static void check_same(FlSema *s, FlValue *want, FlValue *found, bool rows, FlSpan span) {
  if (want == found) return;
  FlValue *pair[2] = {want, found};
  FlType1 types[2] = {fl_t_scalar(FL_BOOL), fl_t_scalar(FL_TEXT)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_SAME_COLUMNS, 2, pair, 2, types, 0);
  op->attrs.i = rows;
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 2, op->results, 0, NULL, 0);
  check->attrs.i = FL_FAULT_LEVELS;
  check->span = fl_sema_place(s, span);
}

void fl_column_names_below(FlSema *s, int n, const FlVal *from, const FlSpan *spans, FlVal to) {
  FlValue *first = NULL;
  for (int i = 0; i < n; i++) {
    FlValue *names = fl_column_names(s, from[i].parts[0]);
    if (first && names) check_same(s, first, names, true, spans[i]);
    if (!first) first = names;
  }
  fl_column_names_set(s, to.parts[0], first);
}

/* expect_columns(x, names): x, an error when its columns are known to be other ones. */
FlVal fl_builtin_expect_columns(FlSema *s, FlCallSite *c) {
  const FlType *texts = fl_type_array(s->types, FL_TEXT, false, 1);
  FlVal x = fl_actual_value(s, &c->args[0], NULL), names = fl_actual_value(s, &c->args[1], texts);
  if (fl_val_bad(x) || fl_val_bad(names)) return fl_val_error(s);
  names = fl_val_coerce(s, names, texts, c->args[1].span, "`names`");
  if (fl_val_bad(names)) return names;
  if (x.type->kind != FL_TY_ARRAY || x.type->rank != 2)
    return fl_sema_error(s, FL_E0325, c->args[0].span, "`expect_columns` takes a matrix, and this is %s",
                         fl_val_text(s, x));
  FlValue *found = fl_column_names(s, x.parts[0]);
  if (!found || found == names.parts[0]) return x;
  check_same(s, names.parts[0], found, false, c->span);
  return x;
}
