/* read_arrays.c: arrays by name from files that hold several, and into them.
 *
 * In: a file and a name, or no name: all arrays, as a tuple. Out: ops whose attributes list the names, with
 * one result each, a name twice where there may be nulls: the values, and which are valid. The types come
 * from the file where its path is known while compiling, else from what is wanted around; the program checks
 * the file that it meets against them. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/files/paths.h"
#include "sema/files/reader.h"
#include "sema/value.h"

/* One array or value that is read. */
typedef struct Part {
  const char *name;
  const FlType *type;
} Part;
typedef FlVec(Part) Parts;

static bool is_part(const FlType *t) {
  bool known = t->dtype != FL_FILE && t->dtype != FL_CATEGORY && !fl_dtype_is_decimal(t->dtype);
  return (t->kind == FL_TY_ARRAY || t->kind == FL_TY_SCALAR) && known;
}

static const FlType *type_of(FlSema *s, const FlIoArray *a, bool nullable) {
  return a->rank ? fl_type_array(s->types, a->dtype, nullable, a->rank)
                 : fl_type_scalar(s->types, a->dtype, nullable);
}

/* ---- what is in the file ---- */

static bool unreadable(FlSema *s, FlSpan span, const FlIoArray *a) {
  FlDiag *d = fl_sema_report(s, FL_E0961, span, "the array `%s` cannot be read: %s", a->name, a->why);
  fl_diag_help(s->sink, d, "name the arrays that are wanted, one by one");
  return false;
}

static bool no_array(FlSema *s, FlSpan span, const char *path, const char *name, const FlIoArrays *all) {
  FlDiag *d = fl_sema_report(s, FL_E0961, span, "there is no array `%s` in `%s`", name, path);
  const char **names = FL_NEW_ARRAY(s->arena, const char *, all->n + 1);
  for (int i = 0; i < all->n; i++) names[i] = all->at[i].name;
  const char *near = fl_closest(name, names, all->n);
  if (near) fl_diag_meant_text(s->sink, d, span, fl_arena_printf(s->arena, "%s", near));
  else if (all->n == 1) fl_diag_help(s->sink, d, "it holds `%s`", fl_arena_printf(s->arena, "%s", names[0]));
  return false;
}

static bool parts_of_file(FlSema *s, FlCallSite *c, const char *path, const char *name, Parts *out) {
  FlIoArrays all;
  FlIoError e = {0};
  fl_reader_remember(s, path, FL_INPUT_DATA);
  if (!s->world->arrays(s->world->env, c->builtin->name, path, &all, &e)) {
    fl_reader_report(s, c->args[0].span, &e);
    return false;
  }
  bool ok = true, found = !name;
  for (int i = 0; ok && i < all.n; i++) {
    const FlIoArray *a = &all.at[i];
    if (name && strcmp(a->name, name) != 0) continue;
    found = true;
    ok = !a->why || unreadable(s, c->args[0].span, a);
    bool nullable = a->nullable || (name && c->want && is_part(c->want) && c->want->nullable);
    Part part = {fl_intern(s->names, a->name, strlen(a->name)), a->why ? NULL : type_of(s, a, nullable)};
    if (ok) fl_vec_push(s->arena, out, part);
  }
  ok = ok && (found || no_array(s, c->args[1].span, path, name, &all));
  fl_io_arrays_reset(&all);
  return ok;
}

/* ---- what is wanted ---- */

static bool not_known(FlSema *s, FlCallSite *c, const char *name) {
  if (fl_wants_unknown(c->want)) return false;
  FlDiag *d =
      fl_sema_report(s, FL_E0945, c->span, "the type of what is in this file is not known when compiling");
  fl_diag_help(
      s->sink, d,
      name ? "write it: `let x: f64[_, _] = %s(f, \"x\")`, or give the `file` param a default"
           : "write it: `let d: (x: f64[_, _], y: i64[_]) = %s(f)`, or give the `file` param a default",
      c->builtin->name);
  return false;
}

static bool is_named_tuple(const FlType *t) {
  return t && t->kind == FL_TY_TUPLE && t->n_fields && t->fields[0].name;
}

static bool parts_of_wanted(FlSema *s, FlCallSite *c, const char *name, Parts *out) {
  const FlType *want = c->want;
  bool tuple = !name && is_named_tuple(want);
  if (name && want && is_part(want)) fl_vec_push(s->arena, out, ((Part){name, want}));
  else if (!tuple) return not_known(s, c, name);
  for (int i = 0; tuple && i < want->n_fields; i++) {
    const FlTyField *f = &want->fields[i];
    if (!is_part(f->type)) {
      fl_sema_error(s, FL_E0946, c->span, "the field `%s` is %s, which `%s` cannot read", f->name,
                    fl_type_brief(s->types, f->type), c->builtin->name);
      return false;
    }
    fl_vec_push(s->arena, out, ((Part){f->name, f->type}));
  }
  return true;
}

FlVal fl_builtin_read_arrays(FlSema *s, FlCallSite *c) {
  FlVal file = fl_reader_file(s, c);
  const char *name = NULL;
  Parts parts = {0};
  if (fl_val_bad(file)) return file;
  if (fl_actual_given(&c->args[1]) && !fl_actual_const_text(s, &c->args[1], &name)) return fl_val_error(s);
  bool known = file.spelling && (name || !is_named_tuple(c->want)); /* else those that are wanted, of all */
  if (!(known ? parts_of_file(s, c, file.spelling, name, &parts) : parts_of_wanted(s, c, name, &parts)))
    return fl_val_error(s);
  const char **names = FL_NEW_ARRAY(s->arena, const char *, parts.n + 1);
  const char **list = FL_NEW_ARRAY(s->arena, const char *, 2 * parts.n + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, 2 * parts.n + 1);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, parts.n + 1);
  int n = 0;
  for (int i = 0; i < parts.n; i++) {
    const FlType *type = parts.at[i].type;
    names[i] = parts.at[i].name;
    fl_type_parts(type, &types[n]);
    for (int k = 0; k < type->n_parts; k++) list[n++] = names[i];
  }
  FlOp *op = fl_ir_op(&s->b, c->builtin->op, 1, file.parts, n, types, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.list = list;
  op->attrs.n_list = n;
  n = 0;
  for (int i = 0; i < parts.n; i++) {
    values[i] = fl_val_make(s, parts.at[i].type, &op->results[n]);
    n += parts.at[i].type->n_parts;
  }
  return name ? values[0] : fl_val_tuple(s, parts.n, names, values, NULL);
}

/* ---- writing ---- */

FlVal fl_builtin_write_npz(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  FlValue *path;
  bool compress = false;
  if (fl_val_bad(x) || !fl_sema_target_path(s, &c->args[1], &path)) return fl_val_error(s);
  if (fl_actual_given(&c->args[2]) && !fl_actual_const_bool(s, &c->args[2], &compress))
    return fl_val_error(s);
  if (x.type->kind != FL_TY_TUPLE || !x.type->n_fields || !x.type->fields[0].name) {
    FlDiag *d = fl_sema_report(s, FL_E0329, c->args[0].span,
                               "an NPZ file holds arrays by name, and this is %s", fl_val_text(s, x));
    fl_diag_help(s->sink, d, "name them: `write_npz((x = a, y = b), ...)`; `write_npy` writes one array");
    return fl_val_error(s);
  }
  int n = x.type->n_fields;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  args[0] = path;
  for (int i = 0; i < n; i++) {
    const FlTyField *f = &x.type->fields[i];
    names[i] = f->name;
    if (!is_part(f->type) || f->type->nullable)
      return fl_sema_error(s, FL_E0329, c->args[0].span,
                           "an NPZ file holds numbers, bool, dates or texts without nulls, and `%s` is %s",
                           f->name, fl_type_brief(s->types, f->type));
    args[i + 1] = fl_val_field(s, x, i).parts[0];
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_WRITE_NPZ, n + 1, args, 0, NULL, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.i = compress;
  op->attrs.list = names;
  op->attrs.n_list = n;
  return fl_val_none(s);
}
