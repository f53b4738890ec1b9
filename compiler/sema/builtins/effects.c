/* effects.c: what a script does to the world: show, print, the writers of tables and arrays; and notes, which
 * pure code may leave.
 *
 * In: values of the top level. Out: ops that are kept in program order, and no value. */
#include "sema/habits.h"
#include "sema/builtins/builtin.h"
#include "sema/builtins/plot.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/files/paths.h"
#include "sema/files/reader.h"
#include "sema/lift.h"
#include "sema/value.h"
#include "sema/verbs/verbs.h"

/* ---- for people ---- */

/* The line that a grouped table has above it; what is left to show is the table. */
static FlVal show_grouping(FlSema *s, FlVal v) {
  if (!fl_type_is_grouped(v.type)) return v;
  const char *keys = fl_type_keys_text(s->types, v.type);
  FlValue *line = fl_val_textz(s, fl_arena_printf(s->arena, "grouped by %s", keys)).parts[0];
  fl_ir_op(&s->b, FL_OP_PRINT, 1, &line, 0, NULL, 0);
  v.type = fl_type_table(s->types, v.type->elem);
  return v;
}

void fl_sema_show(FlSema *s, FlVal v) {
  v = show_grouping(s, v);
  switch (v.type->kind) {
  case FL_TY_ERROR:
  case FL_TY_NEVER: return;
  case FL_TY_NONE:
  case FL_TY_NULL:
  case FL_TY_FUNC:
    fl_sema_error(s, FL_E0328, s->b.span, "there is nothing to show: this is %s", fl_val_text(s, v));
    return;
  case FL_TY_SCALAR:
  case FL_TY_ARRAY:
  case FL_TY_TUPLE:
  case FL_TY_TABLE:
  case FL_TY_LIST: break;
  }
  if (v.type == fl_plot_type(s)) {
    fl_ir_op(&s->b, FL_OP_SHOW_PLOT, v.type->n_parts, v.parts, 0, NULL, 0);
    return;
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_SHOW, v.type->n_parts, v.parts, 0, NULL, 0);
  op->attrs.s = fl_type_text(s->types, v.type);
}

/* fl_sema_show with errors at an argument. */
static FlVal show_at(FlSema *s, FlVal v, FlSpan span) {
  FlSpan outer = s->b.span;
  s->b.span = span;
  fl_sema_show(s, v);
  s->b.span = outer;
  return fl_val_none(s);
}

FlVal fl_builtin_show(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || !fl_actual_given(&c->args[1]))
    return fl_val_bad(v) ? v : show_at(s, v, c->args[0].span);
  if (v.type->kind != FL_TY_TABLE)
    return fl_sema_error(s, FL_E0209, c->args[1].span, "`rows` is for tables, and this is %s",
                         fl_val_text(s, v));
  FlVal rows = fl_actual_value(s, &c->args[1], NULL);
  rows = fl_val_coerce(s, rows, fl_type_scalar(s->types, FL_I64, false), c->args[1].span, "`rows`");
  if (fl_val_bad(rows)) return rows;
  v = show_grouping(s, v);
  int n = v.type->n_parts;
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  for (int i = 0; i < n; i++) args[i] = v.parts[i];
  args[n] = rows.parts[0];
  FlOp *op = fl_ir_op(&s->b, FL_OP_SHOW, n + 1, args, 0, NULL, 0);
  op->attrs.s = fl_type_text(s->types, v.type);
  op->attrs.i = 1;
  return fl_val_none(s);
}

FlVal fl_builtin_print(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal line = {0};
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    FlVal v = fl_actual_value(s, a, NULL);
    FlTyKind kind = v.type->kind;
    if (kind == FL_TY_ERROR || kind == FL_TY_NEVER) return v;
    bool plain = kind == FL_TY_SCALAR || kind == FL_TY_NULL;
    if (!plain && kind != FL_TY_FUNC && c->n_rest == 1) return show_at(s, v, a->span);
    if (!plain && kind != FL_TY_ARRAY)
      return fl_sema_error(s, FL_E0326, a->span,
                           "`print` takes scalars, texts and arrays, and this is %s; use `show(...)`",
                           fl_val_text(s, v));
    FlVal text = fl_sema_in_text(s, v, NULL, a->span);
    if (fl_val_bad(text)) return text;
    if (i > 0) {
      line = fl_sema_lift_op(s, c->span, FL_OP_TEXT_CONCAT, 2, (FlVal[]){line, fl_val_textz(s, " ")}, FL_TEXT,
                             NULL);
      line = fl_sema_lift_op(s, c->span, FL_OP_TEXT_CONCAT, 2, (FlVal[]){line, text}, FL_TEXT, NULL);
    } else {
      line = text;
    }
  }
  if (!c->n_rest) line = fl_val_textz(s, "");
  fl_ir_op(&s->b, FL_OP_PRINT, 1, line.parts, 0, NULL, 0)->span = fl_sema_place(s, c->span);
  return fl_val_none(s);
}

/* ---- files ---- */

bool fl_sema_target_path(FlSema *s, FlActual *a, FlValue **out) {
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  FlVal v = fl_actual_value(s, a, text);
  if (fl_val_bad(v)) return false;
  v = fl_val_coerce(s, v, text, a->span, "the path");
  if (fl_val_bad(v)) return false;
  *out = v.parts[0];
  const char *path = fl_val_const_text(v);
  bool always = s->b.region == s->module->main->body; /* not in a branch or a loop */
  return !path || !always || fl_sema_claim_path(s, path, a->span, true);
}

/* A writer of tables: the first column that the format has no place for, reported. */
static bool check_columns(FlSema *s, FlCallSite *c, const FlFormatInfo *format, const FlType *row) {
  const bool arrays = (format->flags & FL_FORMAT_ARRAYS) != 0;
  FlColumnAttr column;
  for (int i = 0; i < row->n_fields; i++) {
    const FlTyField *f = &row->fields[i];
    if (f->type->dtype != FL_DURATION || (format->flags & FL_FORMAT_DURATION)) continue;
    FlDiag *d = fl_sema_report(s, FL_E0329, c->args[0].span,
                               "the column `%s` is %s, which a %s file has no exact type for", f->name,
                               fl_type_text(s->types, f->type), format->title);
    fl_diag_help(s->sink, d, "leave it out with `drop(%s)`, or make numbers of it: `%s / seconds(1)`",
                 f->name, f->name);
    return false;
  }
  for (int i = 0; i < row->n_fields; i++) {
    const FlTyField *f = &row->fields[i];
    if (fl_reader_column(f, arrays, &column)) continue;
    FlDiag *d =
        fl_sema_report(s, FL_E0329, c->args[0].span,
                       "the column `%s` is %s, and a cell of the file holds one number, text, date or bool%s",
                       f->name, fl_type_text(s->types, f->type), arrays ? ", or an array of numbers" : "");
    fl_diag_help(s->sink, d, "leave it out with `drop(%s)`, or make columns of its pieces", f->name);
    return false;
  }
  return true;
}

/* Writes a table: the path, the number of rows, the columns. */
FlVal fl_builtin_write_table(FlSema *s, FlCallSite *c) {
  enum { TABLE, TO, OPTIONS };
  const FlFormatInfo *format = fl_format_find(c->builtin->data);
  FlOptionVec options = {0};
  FlVal t;
  FlValue *path;
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span) ||
      !fl_reader_options(s, format, &c->args[OPTIONS], &options) || !fl_verb_table(s, c, &t) ||
      !fl_sema_target_path(s, &c->args[TO], &path))
    return fl_val_error(s);
  if (!(format->flags & FL_FORMAT_LEVELS)) t = fl_category_text_table(s, t, c->args[TABLE].span);
  if (fl_val_bad(t) || !check_columns(s, c, format, t.type->elem)) return fl_val_error(s);
  const FlType *row = t.type->elem;
  FlColumnAttr *columns = FL_NEW_ARRAY(s->arena, FlColumnAttr, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++) (void)fl_reader_column(&row->fields[i], true, &columns[i]);
  int n = t.type->n_parts; /* the number of rows is the first */
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  args[0] = path;
  memcpy(args + 1, t.parts, sizeof *args * (size_t)n);
  FlOp *op = fl_ir_op(&s->b, FL_OP_WRITE_TABLE, n + 1, args, 0, NULL, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.format = format;
  op->attrs.columns = columns;
  op->attrs.n_columns = row->n_fields;
  op->attrs.options = options.at;
  op->attrs.n_options = options.n;
  return fl_val_none(s);
}

FlVal fl_builtin_write_npy(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  FlValue *path;
  if (fl_val_bad(x) || !fl_sema_target_path(s, &c->args[1], &path)) return fl_val_error(s);
  bool numbers = x.type->kind == FL_TY_ARRAY && x.type->dtype != FL_FILE && x.type->dtype != FL_CATEGORY &&
                 !fl_dtype_is_decimal(x.type->dtype);
  if (!numbers || x.type->nullable) {
    FlDiag *d = fl_sema_report(
        s, FL_E0329, c->args[0].span,
        "an NPY file holds an array of numbers, bool, dates or texts without nulls, and this is %s",
        fl_val_text(s, x));
    if (numbers) fl_diag_help(s->sink, d, "replace the nulls with `?? value`");
    else if (x.type->kind == FL_TY_ARRAY && fl_dtype_is_decimal(x.type->dtype))
      fl_diag_help(s->sink, d, "make floats of it: `f64(...)`");
    else if (x.type->kind == FL_TY_TABLE) fl_diag_help(s->sink, d, "write a table with `write_csv(...)`");
    return fl_val_error(s);
  }
  fl_ir_op(&s->b, FL_OP_WRITE_NPY, 2, (FlValue *[]){path, x.parts[0]}, 0, NULL, 0)->span =
      fl_sema_place(s, c->span);
  return fl_val_none(s);
}

/* ---- notes ---- */

FlVal fl_builtin_note(FlSema *s, FlCallSite *c) {
  if (s->in_kernel) {
    FlDiag *d = fl_sema_report(
        s, FL_E0804, c->span,
        "`note` cannot stand where elements are computed side by side: they have no order in time");
    fl_diag_help(s->sink, d, "keep the value in the result, and note it afterwards");
    return fl_val_error(s);
  }
  if (!c->n_rest)
    return fl_sema_error(s, FL_E0210, c->span, "`note` needs at least one value, as `note(loss = x)`");
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    FlVal v = fl_actual_value(s, a, NULL);
    if (fl_val_bad(v) || v.type->kind == FL_TY_NEVER) return v;
    if (!a->name.text) {
      FlDiag *d = fl_sema_report(s, FL_E0805, a->span, "a note needs a name");
      fl_diag_help(s->sink, d, "write it as `note(loss = ...)`");
      return fl_val_error(s);
    }
    if (v.type->kind != FL_TY_SCALAR || v.type->nullable) {
      FlDiag *d =
          fl_sema_report(s, FL_E0805, a->span, "a note is one number, text, date or bool, and `%s` is %s",
                         a->name.text, fl_val_text(s, v));
      if (v.type->kind == FL_TY_SCALAR) fl_diag_help(s->sink, d, "say what stands for null with `?? value`");
      return fl_val_error(s);
    }
    if (fl_val_is_category(v)) v = fl_category_texts(s, v, a->span);
    FlOp *op = fl_ir_op(&s->b, FL_OP_NOTE, 1, v.parts, 0, NULL, 0);
    op->span = fl_sema_place(s, a->span);
    op->attrs.s = a->name.text;
  }
  return fl_val_none(s);
}
