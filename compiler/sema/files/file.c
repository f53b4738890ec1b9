/* file.c: files as values: file, files, and what readers are given.
 *
 * What always holds: the main function alone makes files from paths; a constant path in another function
 * becomes a file of the main function, which is captured like any other name. Pure code sees the content of a
 * file, never its path. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/files/paths.h"
#include "sema/files/reader.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/verbs.h"

#include <stdlib.h>

/* ---- reporting ---- */

void fl_reader_report(FlSema *s, FlSpan span, const FlIoError *e) {
  if (e->code == FL_IO_MEMORY) fl_no_memory();
  FlDiagCode code;
  char name[16];
  snprintf(name, sizeof name, "E%04d", e->code);
  if (!fl_diag_find(name, &code)) code = FL_E0930;
  FlDiag *d = fl_sema_report(s, code, span, "%s", e->message);
  if (e->help[0]) fl_diag_help(s->sink, d, "%s", e->help);
}

void fl_reader_remember(FlSema *s, const char *path, FlSemaInputKind kind) {
  for (int i = 0; i < s->inputs.n; i++)
    if (s->inputs.at[i].kind == kind && strcmp(s->inputs.at[i].path, path) == 0) return;
  fl_vec_push(s->arena, &s->inputs, ((FlSemaInput){path, kind, s->world->digest(s->world->env, path, kind)}));
}

const char *fl_reader_first(FlSema *s, const char *pattern) {
  fl_reader_remember(s, pattern, FL_INPUT_PATTERN);
  return fl_arena_take(s->arena, s->world->first(s->world->env, pattern));
}

/* ---- one file ---- */

static FlVal file_of(FlSema *s, FlBuilder *b, FlValue *path, const char *known) {
  FlType1 type = fl_t_scalar(FL_FILE);
  FlOp *op = fl_ir_op(b, FL_OP_FILE_OF, 1, &path, 1, &type, 0);
  FlVal v = fl_val_scalar(s, FL_FILE, op->results[0]);
  v.spelling =
      known && !s->world->comes_once(s->world->env, known) ? known : NULL; /* its rows come when it runs */
  return v;
}

/* The calls that lead from the script to what is elaborated here: of an instance, those of its first call. */
static uint32_t calls_from_script(FlSema *s) {
  uint32_t number = s->b.call;
  for (const FlFrame *f = s->frame; f->outer; f = f->outer)
    number = fl_sources_call_within(s->sources, number, f->call);
  return number;
}

const char *fl_binding_path(const FlBinding *b) { return b->name[0] == '\n' ? b->name + 1 : NULL; }

/* The file at a constant path. `text` is the path as a value of the current function. */
static FlVal constant_file(FlSema *s, FlValue *text, const char *path, FlSpan span) {
  if (!fl_sema_claim_path(s, path, span, false)) return fl_val_error(s);
  if (!s->frame->outer) return file_of(s, &s->b, text, path);
  FlScope *script = s->files.at[0]->scope;
  const char *key = fl_arena_printf(s->arena, "\n%s", path); /* no name that a script can write */
  const char *name = fl_intern(s->names, key, strlen(key));
  FlBinding *bound = fl_scope_find_in(script, name);
  if (!bound) {
    FlFrame *frame = s->frame;
    while (frame->outer) frame = frame->outer;
    FlRegion *body = frame->func->body;
    FlBuilder start = {.module = s->module,
                       .func = frame->func,
                       .region = body,
                       .before = body->first,
                       .span = span,
                       .call = calls_from_script(s)};
    FlVal v = file_of(s, &start, fl_ir_const_t(&start, path, (int)strlen(path)), path);
    bound = fl_scope_bind(s, script, FL_BIND_VALUE, name, span, v);
    bound->frame = frame;
  }
  return fl_binding_value(s, bound);
}

static bool is_plain_of(FlVal v, FlTyKind kind, FlDtype d) {
  return v.type->kind == kind && v.type->dtype == d && !v.type->nullable &&
         (kind == FL_TY_SCALAR || v.type->rank == 1);
}

static FlVal computed_path(FlSema *s, FlSpan span) {
  FlDiag *d =
      fl_sema_report(s, FL_E0803, span, "this path is computed, and %s cannot open files by name", s->pure);
  fl_diag_help(s->sink, d, "make the file at the top level of the script and pass it as a `file`");
  return fl_val_error(s);
}

FlVal fl_builtin_file(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || is_plain_of(v, FL_TY_SCALAR, FL_FILE)) return v;
  if (!is_plain_of(v, FL_TY_SCALAR, FL_TEXT))
    return fl_sema_error(s, FL_E0327, c->args[0].span, "`file` takes a path as text, and this is %s",
                         fl_val_text(s, v));
  const char *path = fl_val_const_text(v);
  if (path) return constant_file(s, v.parts[0], path, c->args[0].span);
  return s->pure ? computed_path(s, c->args[0].span) : file_of(s, &s->b, v.parts[0], NULL);
}

/* ---- files by a pattern ---- */

FlVal fl_builtin_files(FlSema *s, FlCallSite *c) {
  if (s->pure) {
    FlDiag *d = fl_sema_report(s, FL_E0803, c->span, "`files` sees paths, and cannot be used in %s", s->pure);
    fl_diag_help(s->sink, d, "call it at the top level of the script, and pass the files as `file[_]`");
    return fl_val_error(s);
  }
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  FlVal v = fl_val_coerce(s, fl_actual_value(s, &c->args[0], text), text, c->args[0].span, "the pattern");
  if (fl_val_bad(v)) return v;
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_TEXT, 1), fl_t_array(FL_FILE, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_FILES, 1, v.parts, 3, types, 0);
  op->span = fl_sema_place(s, c->span);
  fl_sema_mark_size(s, op->results[0]);
  const char *names[2] = {fl_intern_z(s->names, "path"), fl_intern_z(s->names, "file")};
  FlVal columns[2] = {fl_val_array(s, FL_TEXT, 1, op->results[1]),
                      fl_val_array(s, FL_FILE, 1, op->results[2])};
  FlVal out = fl_val_table(s, op->results[0], 2, names, columns);
  const char *pattern = fl_val_const_text(v);
  out.spelling = pattern ? fl_reader_first(s, pattern) : NULL;
  return out;
}

/* ---- what a reader is given ---- */

static FlVal not_a_source(FlSema *s, FlCallSite *c, FlVal v, const char *takes) {
  FlActual *a = &c->args[0];
  if (!is_plain_of(v, FL_TY_SCALAR, FL_TEXT))
    return fl_sema_error(s, FL_E0327, a->span, "`%s` takes %s, and this is %s", c->builtin->name, takes,
                         fl_val_text(s, v));
  FlDiag *d = fl_sema_report(s, FL_E0327, a->span, "`%s` takes %s, and this text is computed",
                             c->builtin->name, takes);
  fl_diag_help(s->sink, d,
               s->pure ? "pass a `file` that the top level of the script makes with `file(...)`"
                       : "make the file with `file(...)`");
  return fl_val_error(s);
}

FlReadFrom fl_reader_source(FlSema *s, FlCallSite *c) {
  FlActual *a = &c->args[0];
  FlReadFrom out = {.file = fl_actual_value(s, a, NULL), .span = a->span};
  FlVal v = out.file;
  if (fl_val_bad(v) || is_plain_of(v, FL_TY_SCALAR, FL_FILE) || is_plain_of(v, FL_TY_ARRAY, FL_FILE))
    return out;
  const char *path = fl_val_const_text(v);
  if (path) {
    out.file = constant_file(s, v.parts[0], path, a->span);
    return out;
  }
  int k = v.type->kind == FL_TY_TABLE ? fl_type_field_find(v.type->elem, fl_intern_z(s->names, "file")) : -1;
  if (k >= 0 && is_plain_of(fl_val_field(s, v, k), FL_TY_ARRAY, FL_FILE)) {
    out.file = fl_val_field(s, v, k);
    int p = fl_type_field_find(v.type->elem, fl_intern_z(s->names, "path"));
    if (p >= 0 && is_plain_of(fl_val_field(s, v, p), FL_TY_ARRAY, FL_TEXT)) out.paths = fl_val_field(s, v, p);
    return out;
  }
  out.file = not_a_source(s, c, v, "a file, files or a constant path");
  return out;
}

FlVal fl_reader_file(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || is_plain_of(v, FL_TY_SCALAR, FL_FILE)) return v;
  const char *path = fl_val_const_text(v);
  return path ? constant_file(s, v.parts[0], path, c->args[0].span)
              : not_a_source(s, c, v, "a file or a constant path");
}

/* ---- the path as a column ---- */

bool fl_reader_path_name(FlSema *s, FlCallSite *c, FlActual *a, const FlReadFrom *source, const char **name) {
  if (!fl_actual_given(a)) return true;
  if (!a->expr || a->expr->kind != FL_EXPR_NAME) {
    fl_sema_error(s, FL_E0620, a->span,
                  "`path` takes the name of the column that gets the path, as in path = src");
    return false;
  }
  *name = a->expr->name.text;
  if (!s->pure || source->paths.type || fl_val_bad(source->file)) return true;
  FlDiag *d = fl_sema_report(s, FL_E0803, a->span, "the path of a file cannot be seen in %s", s->pure);
  fl_diag_help(s->sink, d,
               "pass the table that `files(...)` gives: its paths count like any other column; or call "
               "`%s` at the top level",
               c->builtin->name);
  return false;
}

FlVal fl_reader_paths(FlSema *s, const FlReadFrom *source, FlValue *index, FlValue *rows) {
  if (source->paths.type) return fl_sema_take(s, source->paths, index, 0);
  bool many = source->file.type->kind == FL_TY_ARRAY;
  FlType1 type = many ? fl_t_array(FL_TEXT, 1) : fl_t_scalar(FL_TEXT);
  FlValue *path = fl_ir_op(&s->b, FL_OP_FILE_PATH, 1, source->file.parts, 1, &type, 0)->results[0];
  if (many) return fl_sema_take(s, fl_val_array(s, FL_TEXT, 1, path), index, 0);
  return fl_verb_as_column(s, fl_val_scalar(s, FL_TEXT, path), rows, source->span, "path");
}

const FlType *fl_reader_without(FlSema *s, const FlType *row, const char *name) {
  int n = 0, k = fl_type_field_find(row, name);
  if (k < 0) return row;
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++)
    if (i != k) fields[n++] = row->fields[i];
  return fl_type_tuple(s->types, n, fields, NULL);
}
