/* saved.c: values of any type in files: save and load, and write_json.
 *
 * In: a value and a path; or a file. Out: SAVE_VALUE, WRITE_JSON and LOAD_VALUE ops. The type of what is
 * loaded is that of the file where its path is known while compiling and the file is there, else the one that
 * is wanted around; the program checks the file that it meets against it. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/files/paths.h"
#include "sema/files/reader.h"
#include "sema/value.h"
#include "sema/value_text.h"

#include <stdlib.h>

/* A value to a file; `lines`: a table as JSON lines. */
static FlVal write_value(FlSema *s, FlCallSite *c, bool lines) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (lines && !fl_val_bad(v) && v.type->kind != FL_TY_TABLE) {
    FlDiag *d = fl_sema_report(s, FL_E0329, c->args[0].span, "JSON lines hold a table, and this is %s",
                               fl_val_text(s, v));
    fl_diag_help(s->sink, d, "`write_json` writes any value");
    return fl_val_error(s);
  }
  FlValue *path;
  if (fl_val_bad(v) || !fl_sema_target_path(s, &c->args[1], &path)) return fl_val_error(s);
  const FlType *part;
  const char *type = fl_value_text(s, v.type, &part);
  if (!type)
    return fl_sema_error(
        s, FL_E0329, c->args[0].span,
        part == v.type ? "%s cannot be written%s" : "a value with %s in it cannot be written%s",
        fl_type_brief(s->types, part), part->dtype == FL_FILE ? ": write what is read from it" : "");
  int n = v.type->n_parts;
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  args[0] = path;
  for (int i = 0; i < n; i++) args[i + 1] = v.parts[i];
  FlOp *op = fl_ir_op(&s->b, c->builtin->op, n + 1, args, 0, NULL, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.s = type;
  op->attrs.i = lines;
  return fl_val_none(s);
}

FlVal fl_builtin_save(FlSema *s, FlCallSite *c) { return write_value(s, c, false); }
FlVal fl_builtin_write_jsonl(FlSema *s, FlCallSite *c) { return write_value(s, c, true); }

/* The type in the file at a path that is known; NULL: there is none, and *e says why. */
static const FlType *type_of_file(FlSema *s, const char *path, FlIoError *e) {
  fl_reader_remember(s, path, FL_INPUT_DATA);
  const char *text = fl_arena_take(s->arena, s->world->saved(s->world->env, path, e));
  const FlType *t = text ? fl_value_text_type(s, text) : NULL;
  if (text && !t) {
    e->code = 283;
    snprintf(e->message, sizeof e->message, "`%s` is damaged", path);
  }
  return t;
}

/* Columns are as long as their table has rows: the loader has checked that. */
static void trust_rows(FlSema *s, FlVal v) {
  if (v.type->kind == FL_TY_TABLE) fl_sema_alias_rows(s, v);
  for (int k = 0; v.type->kind == FL_TY_TUPLE && k < v.type->n_fields; k++)
    trust_rows(s, fl_val_field(s, v, k));
}

FlVal fl_builtin_load(FlSema *s, FlCallSite *c) {
  FlVal file = fl_reader_file(s, c);
  if (fl_val_bad(file)) return file;
  FlIoError e = {0};
  const FlType *t = file.spelling ? type_of_file(s, file.spelling, &e) : NULL, *part;
  bool wanted = c->want && fl_value_text(s, c->want, &part);
  if (!t && wanted) t = c->want;
  if (!t && e.code) {
    fl_reader_report(s, c->args[0].span, &e);
    return fl_val_error(s);
  }
  if (!t && fl_wants_unknown(c->want)) return fl_val_error(s);
  if (!t) {
    FlDiag *d =
        fl_sema_report(s, FL_E0945, c->span, "the type of what is in this file is not known when compiling");
    fl_diag_help(s->sink, d, "write it: `let m: Model[_] = load(f)`, or give the `file` param a default");
    return fl_val_error(s);
  }
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
  fl_type_parts(t, types);
  FlOp *op = fl_ir_op(&s->b, FL_OP_LOAD_VALUE, 1, file.parts, t->n_parts, types, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.s = fl_value_text(s, t, &part);
  FlVal v = fl_val_make(s, t, op->results);
  trust_rows(s, v);
  return v;
}
