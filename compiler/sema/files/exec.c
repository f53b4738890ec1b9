/* exec.c: exec: a program of the user's as a stage of its own.
 *
 * In: a command, a table for its standard input, the files that it depends on, and the type that is wanted
 * around. Out: a call of a stage whose only operator is EXEC: its key says the command, the content of the
 * files and of the table, the columns and the format. What a program gives is known only by the type that is
 * wanted. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/files/reader.h"
#include "sema/value.h"

enum { COMMAND, INPUT, DEPS, FORMAT }; /* positions in the parameters of exec */

typedef struct Exec {
  FlCallSite *call;
  const FlFormatInfo *format; /* its reader */
  FlVal command, input;       /* input.type NULL: none */
  const FlType *row;          /* of the result */
  FlVec(FlValue *) files;
  FlColumnVec list; /* columns of the result, then of the input */
} Exec;

#define READER "read_"

/* What the argument calls a reader's format. */
static const char *name_of(const FlFormatInfo *format) { return format->name + sizeof READER - 1; }

static bool read_format(FlSema *s, Exec *x) {
  FlActual *a = &x->call->args[FORMAT];
  const char *name = "csv";
  if (fl_actual_given(a) && !fl_actual_const_text(s, a, &name)) return false;
  x->format = fl_format_find(fl_arena_printf(s->arena, READER "%s", name));
  if (x->format && (x->format->flags & FL_FORMAT_PROGRAMS)) return true;
  FlText1 known = {0};
  for (int k = 0, n = 0; fl_format_at(k); k++)
    if (fl_format_at(k)->flags & FL_FORMAT_PROGRAMS)
      fl_text_addf(&known, "%s\"%s\"", n++ ? " and " : "", name_of(fl_format_at(k)));
  FlDiag *d = fl_sema_report(s, FL_E0248, a->span, "there is no format `%s` for programs", name);
  fl_diag_help(s->sink, d, "there are %s", known.s);
  fl_text_reset(&known);
  return false;
}

/* ---- columns ---- */

/* How an operator names a column; false: the format has no place for its type. */
static bool describe(const Exec *x, const FlTyField *f, FlColumnAttr *out) {
  const FlType *t = f->type;
  bool exact = (x->format->flags & FL_FORMAT_ARRAYS) != 0;
  return fl_reader_column(f, exact, out) && (exact || t->dtype != FL_DURATION);
}

static bool add_columns(FlSema *s, Exec *x, const FlType *row, FlSpan span, const char *which) {
  for (int i = 0; i < row->n_fields; i++) {
    FlColumnAttr column;
    if (!describe(x, &row->fields[i], &column)) {
      fl_sema_error(s, FL_E0247, span, "the column `%s` of %s is %s, which cannot go through %s",
                    row->fields[i].name, which, fl_type_brief(s->types, row->fields[i].type),
                    name_of(x->format));
      return false;
    }
    fl_vec_push(s->arena, &x->list, column);
  }
  return true;
}

static bool read_result(FlSema *s, Exec *x) {
  const FlType *want = x->call->want;
  if (want && want->kind == FL_TY_TABLE) {
    x->row = fl_category_text_row(s, want->elem);
    return add_columns(s, x, x->row, x->call->span, "the result");
  }
  if (fl_wants_unknown(want)) return false;
  FlDiag *d =
      fl_sema_report(s, FL_E0246, x->call->span, "the columns that this program gives are not known here");
  fl_diag_help(s->sink, d, "write the type of the table: `let e: (id: i64, score: f64)[_] = exec(...)`");
  return false;
}

static bool read_input(FlSema *s, Exec *x) {
  FlActual *a = &x->call->args[INPUT];
  if (!fl_actual_given(a)) return true;
  x->input = fl_actual_value(s, a, NULL);
  if (fl_val_bad(x->input)) return false;
  if (x->input.type->kind == FL_TY_TABLE) x->input = fl_category_text_table(s, x->input, a->span);
  if (fl_val_bad(x->input)) return false;
  if (x->input.type->kind == FL_TY_TABLE) return add_columns(s, x, x->input.type->elem, a->span, "the input");
  FlDiag *d = fl_sema_report(s, FL_E0247, a->span, "a program is given a table, and this is %s",
                             fl_val_text(s, x->input));
  fl_diag_help(s->sink, d, "make a table of arrays with `table(x = x, y = y)`");
  return false;
}

/* ---- files ---- */

static bool add_file(FlSema *s, Exec *x, FlActual *a) {
  FlCallSite one = {.builtin = x->call->builtin, .span = a->span, .args = a};
  FlReadFrom from = fl_reader_source(s, &one);
  if (fl_val_bad(from.file)) return false;
  fl_vec_push(s->arena, &x->files, from.file.parts[0]);
  return true;
}

static bool read_deps(FlSema *s, Exec *x) {
  FlActual *a = &x->call->args[DEPS];
  if (!fl_actual_given(a)) return true;
  if (!a->expr || a->expr->kind != FL_EXPR_ARRAY) return add_file(s, x, a);
  bool ok = true;
  for (int i = 0; i < a->expr->array.n; i++) {
    FlActual item = {.expr = a->expr->array.at[i], .span = a->expr->array.at[i]->span};
    ok = add_file(s, x, &item) && ok;
  }
  return ok;
}

/* ---- the stage ---- */

static FlVal call_stage(FlSema *s, const Exec *x) {
  int n_input = x->input.type ? x->input.type->n_parts : 1, n = 0;
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, 1 + n_input + x->files.n);
  args[n++] = x->command.parts[0];
  if (!x->input.type) args[n++] = fl_sema_i64(s, -1);
  for (int i = 0; x->input.type && i < n_input; i++) args[n++] = x->input.parts[i];
  for (int i = 0; i < x->files.n; i++) args[n++] = x->files.at[i];
  FlAttrs attrs = {.format = x->format, .i = x->row->n_fields, .columns = x->list.at, .n_columns = x->list.n};
  FlOwnStage stage = {"exec", FL_OP_EXEC, &attrs, 1, n, args, x->row};
  return fl_category_table(s, fl_sema_own_stage(s, &stage, x->call->span), x->call->want->elem,
                           x->call->span);
}

FlVal fl_builtin_exec(FlSema *s, FlCallSite *c) {
  Exec x = {.call = c};
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  x.command = fl_actual_value(s, &c->args[COMMAND], text);
  x.command = fl_val_coerce(s, x.command, text, c->args[COMMAND].span, "the command");
  bool ok = !fl_val_bad(x.command) && read_format(s, &x);
  ok = ok && read_result(s, &x) && read_input(s, &x);
  ok = ok && read_deps(s, &x);
  return ok ? call_stage(s, &x) : fl_val_error(s);
}
