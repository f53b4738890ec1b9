/* type_expr.c: types as they are written. In: a type expression, and mostly a value that should have it. Out:
 * the type, or the value converted to it, with the names of sizes bound.
 *
 * A size name in a signature is fresh, or the i64 parameter of that name; equal names mean equal sizes. Types
 * carry no sizes, so sizes are checked on values only. */
#include "sema/builtins/plot.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/value.h"

#include <stdlib.h>

/* Sizes of a declared type that stands around: `Net[h, v]` binds its two names to the dimensions given. */
typedef struct SizeEnv {
  struct SizeEnv *outer; /* where `dims` are to be read */
  const FlNameList *names;
  const FlDimList *dims; /* NULL: written without sizes; each name is fresh */
  FlValue **fresh;
} SizeEnv;

/* What a type of other languages is here; NULL: nobody knows. */
static const char *type_elsewhere(const char *name) {
  static const char *const types[][2] = {
      {"int", "i64"},
      {"integer", "i64"},
      {"long", "i64"},
      {"int64", "i64"},
      {"bigint", "i64"},
      {"int32", "i32"},
      {"int16", "i16"},
      {"int8", "i8"},
      {"uint8", "u8"},
      {"uint16", "u16"},
      {"uint32", "u32"},
      {"uint64", "u64"},
      {"float", "f64"},
      {"double", "f64"},
      {"float64", "f64"},
      {"number", "f64"},
      {"numeric", "f64"},
      {"real", "f64"},
      {"float32", "f32"},
      {"str", "text"},
      {"string", "text"},
      {"String", "text"},
      {"character", "text"},
      {"varchar", "text"},
      {"object", "text"},
      {"boolean", "bool"},
      {"logical", "bool"},
      {"timestamp", "datetime"},
      {"Timestamp", "datetime"},
      {"timedelta", "duration"},
      {"interval", "duration"},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (strcmp(types[k][0], name) == 0) return types[k][1];
  return NULL;
}

static FlBinding *find_type(FlSema *s, const FlTypeExpr *t, bool quiet) {
  FlName name = t->name.name;
  FlBinding *b = NULL;
  if (t->name.module.text) {
    FlBinding *m = fl_scope_find(s, t->name.module.text);
    if (m && m->lost) return NULL;
    if (!m || m->kind != FL_BIND_MODULE) {
      if (!quiet)
        fl_sema_error(s, FL_E0203, t->name.module.span, "there is no module `%s`", t->name.module.text);
      return NULL;
    }
    b = fl_scope_find_in(m->file->scope, name.text);
    if (m->file->lost) return NULL;
    if (b && fl_sema_is_private(name.text)) {
      if (!quiet) fl_sema_private_error(s, m, name);
      return NULL;
    }
  } else {
    for (FlScope *scope = s->scope; scope && !b; scope = scope->parent)
      for (int i = fl_scope_last(scope, name.text); i >= 0 && !b; i = fl_scope_before(scope, i))
        if (scope->names.at[i]->kind == FL_BIND_TYPE || scope->names.at[i]->lost) b = scope->names.at[i];
  }
  if (b && b->kind == FL_BIND_TYPE) {
    fl_witness_name(s, name.span, b);
    return b;
  }
  if (b && b->lost) return NULL;
  if (!quiet) {
    const char *known[FL_N_DTYPES + 64];
    int n = 0;
    for (int d = 0; d < FL_N_DTYPES; d++)
      if (d != FL_LIST && !fl_dtype_is_decimal(d)) known[n++] = fl_dtype_name((FlDtype)d);
    for (FlScope *scope = s->scope; scope; scope = scope->parent)
      for (int i = 0; i < scope->names.n && n < FL_N_DTYPES + 60; i++)
        if (scope->names.at[i]->kind == FL_BIND_TYPE) known[n++] = scope->names.at[i]->name;
    FlDiag *d = fl_sema_report(s, FL_E0202, t->span, "there is no type `%s`", name.text);
    const char *near = fl_closest(name.text, known, n);
    if (strncmp(name.text, "decimal", 7) == 0)
      fl_diag_help(s->sink, d,
                   "a decimal says its digits, and how many of them are behind the point: `decimal(12, 2)`; "
                   "at most %d "
                   "digits; for more take `f64`, or `text`",
                   FL_DECIMAL_DIGITS);
    else if (near && !type_elsewhere(name.text)) fl_diag_meant(s->sink, d, name.span, "", near);
    else if (type_elsewhere(name.text)) {
      fl_diag_help(s->sink, d, "in flow it is `%s`", type_elsewhere(name.text));
      d->edit.span = name.span;
      d->edit.text = type_elsewhere(name.text);
    }
  }
  return NULL;
}

static const FlType *resolve(FlSema *s, const FlTypeExpr *t);

typedef struct OfFile {
  FlSema *s;
  bool all;
} OfFile;

static bool is_of_file(void *env, const FlExpr *e) {
  OfFile *f = env;
  const FlBinding *b = e->kind == FL_EXPR_NAME ? fl_scope_find(f->s, e->name.text) : NULL;
  f->all = f->all && (!b || fl_scope_find_in(f->s->file->scope, e->name.text) == b);
  return f->all;
}

/* typeof(e): elaborated where the file's lets are, into a region that nobody keeps; once where it names
 * nothing but what the file declares, so that types of calls of functions whose types are such do not double.
 */
static const FlType *type_of_value(FlSema *s, const FlExpr *e) {
  OfFile names = {s, !s->open && !s->tried};
  FlWalker w = {&names, is_of_file, NULL};
  if (names.all) fl_syntax_walk_expr(&w, e);
  const FlType *known = names.all && s->types_of ? fl_map_get(s->types_of, e) : NULL;
  if (known) return known;
  FlRegion *scratch = FL_NEW(s->arena, FlRegion);
  scratch->func = s->b.func;
  FlSavedPlace saved = fl_sema_enter(s, scratch);
  FlVal v = fl_sema_expr(s, e, NULL);
  fl_sema_leave(s, saved);
  if (names.all && !fl_val_bad(v)) {
    if (!s->types_of) s->types_of = fl_map_make(s->arena);
    fl_map_set(s->types_of, e, (void *)(uintptr_t)v.type);
  }
  return v.type;
}

const FlType *fl_type_declared(FlSema *s, FlBinding *b) {
  if (b->val.type) return b->val.type;
  b->val.type = s->types->error; /* while it is being resolved: a type inside itself */
  FlScope *scope = s->scope;
  FlFile *file = s->file;
  s->scope = b->file->scope;
  s->file = b->file;
  const FlTypeExpr *body = b->decl->type.type;
  const FlType *t = resolve(s, body);
  s->scope = scope;
  s->file = file;
  if (!t) {
    fl_sema_error(s, FL_E0304, body->span, "a declared type must be complete: no `_` and no `..`");
    t = s->types->error;
  }
  if (t->kind == FL_TY_TUPLE && body->kind == FL_TE_TUPLE) {
    const char *name =
        b->file->is_script
            ? b->name
            : fl_intern_z(s->names, fl_arena_printf(s->arena, "%s.%s", b->file->name, b->name));
    t = fl_type_tuple(s->types, t->n_fields, t->fields, name);
  }
  b->val.type = t;
  return t;
}

/* A field that nobody knows makes the whole unknown: a value's parts lie as its type says. */
static const FlType *resolve_tuple(FlSema *s, const FlTypeExpr *t) {
  bool unknown = false;
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, t->tuple.fields.n + 1);
  for (int i = 0; i < t->tuple.fields.n; i++) {
    const FlTypeItem *f = &t->tuple.fields.at[i];
    fields[i].name = f->name.text ? f->name.text : fl_intern_z(s->names, fl_arena_printf(s->arena, "%d", i));
    fields[i].type = resolve(s, f->type);
    if (!fields[i].type) return NULL;
    unknown = unknown || fields[i].type->kind == FL_TY_ERROR;
    for (int k = 0; k < i; k++)
      if (fields[k].name == fields[i].name) {
        fl_sema_error(s, FL_E0305, f->span, "the field `%s` is there twice", fields[i].name);
        return s->types->error;
      }
  }
  if (unknown) return s->types->error;
  if (t->tuple.open) return NULL;
  return fl_type_tuple(s->types, t->tuple.fields.n, fields, NULL);
}

/* A declared type with sizes directly under these brackets: the brackets are its sizes, not dimensions. */
static FlBinding *sized_type(FlSema *s, const FlTypeExpr *t) {
  if (t->kind != FL_TE_ARRAY || t->array.element->kind != FL_TE_NAME) return NULL;
  FlDtype d;
  if (!t->array.element->name.module.text &&
      fl_type_names_dtype(s->types, t->array.element->name.name.text, &d))
    return NULL;
  FlBinding *b = find_type(s, t->array.element, true);
  return b && b->decl->type.sizes.n > 0 ? b : NULL;
}

/* The type that no file declares. */
static bool names_plot(const FlTypeExpr *t) {
  return !t->name.module.text && strcmp(t->name.name.text, "Plot") == 0;
}

/* Can two values of this type differ in size? Those make a list, others the rows of a table. */
static bool varies(FlSema *s, const FlTypeExpr *t) {
  switch (t->kind) {
  case FL_TE_ANY: return true;
  case FL_TE_OPTION: return varies(s, t->inner);
  case FL_TE_TUPLE:
    for (int i = 0; i < t->tuple.fields.n; i++)
      if (varies(s, t->tuple.fields.at[i].type)) return true;
    return false;
  case FL_TE_NAME: {
    FlDtype d;
    FlBinding *b = t->name.module.text || !fl_type_names_dtype(s->types, t->name.name.text, &d)
                       ? find_type(s, t, true)
                       : NULL;
    if (!b) return names_plot(t);
    FlScope *scope = s->scope;
    FlFile *file = s->file;
    s->scope = b->file->scope;
    s->file = b->file;
    bool yes = varies(s, b->decl->type.type);
    s->scope = scope;
    s->file = file;
    return yes;
  }
  case FL_TE_ARRAY: {
    for (int i = 0; i < t->array.dims.n; i++)
      if (t->array.dims.at[i].any) return true;
    if (sized_type(s, t)) return varies(s, t->array.element);
    const FlType *elem = resolve(s, t->array.element);
    return !elem || elem->kind != FL_TY_SCALAR;
  }
  case FL_TE_ERROR:
  case FL_TE_FUNCTION:
  case FL_TE_TYPEOF: return false;
  }
  return false;
}

static const FlType *resolve(FlSema *s, const FlTypeExpr *t) {
  switch (t->kind) {
  case FL_TE_ERROR: return s->types->error;
  case FL_TE_ANY: return NULL;
  case FL_TE_NAME: {
    FlDtype d;
    if (!t->name.module.text && fl_type_names_dtype(s->types, t->name.name.text, &d))
      return fl_type_scalar(s->types, d, false);
    FlBinding *b = find_type(s, t, names_plot(t));
    if (!b && names_plot(t)) return fl_plot_type(s);
    return b ? fl_type_declared(s, b) : s->types->error;
  }
  case FL_TE_OPTION: {
    const FlType *inner = resolve(s, t->inner);
    if (!inner || inner->kind == FL_TY_ERROR) return inner;
    if (inner->kind == FL_TY_SCALAR || inner->kind == FL_TY_ARRAY)
      return fl_type_with_null(s->types, inner, true);
    fl_sema_error(s, FL_E0502, t->span, "only scalars and columns can be null, not %s",
                  fl_type_brief(s->types, inner));
    return s->types->error;
  }
  case FL_TE_ARRAY: {
    FlBinding *b = sized_type(s, t);
    if (b) {
      if (b->decl->type.sizes.n != t->array.dims.n)
        fl_sema_error(s, FL_E0306, t->span, "`%s` has %d size%s, but %d %s written", b->name,
                      b->decl->type.sizes.n, b->decl->type.sizes.n == 1 ? "" : "s", t->array.dims.n,
                      t->array.dims.n == 1 ? "is" : "are");
      return fl_type_declared(s, b);
    }
    const FlType *elem = resolve(s, t->array.element);
    if (!elem || elem->kind == FL_TY_ERROR) return elem;
    int n = t->array.dims.n;
    if (elem->kind == FL_TY_SCALAR) { return fl_type_array(s->types, elem->dtype, elem->nullable, n); }
    if (n != 1) {
      fl_sema_error(s, FL_E0307, t->span, "tables and lists have one dimension");
      return s->types->error;
    }
    bool rows = elem->kind == FL_TY_TUPLE && !varies(s, t->array.element);
    return rows ? fl_type_table(s->types, elem) : fl_type_list(s->types, elem);
  }
  case FL_TE_TUPLE: return resolve_tuple(s, t);
  case FL_TE_FUNCTION: return s->types->func;
  case FL_TE_TYPEOF: return type_of_value(s, t->of);
  }
  return s->types->error;
}

const FlType *fl_type_of_expr(FlSema *s, const FlTypeExpr *t) {
  const FlType *type = t ? resolve(s, t) : NULL;
  return t && s->types->refused ? fl_val_refused(s, t->span).type : type;
}

/* ---- sizes ---- */

/* The value of a size name, or NULL when it is fresh here. `slot`: where a fresh one goes when it belongs to
 * an env. */
static FlValue *size_named(FlSema *s, const char *name, SizeEnv *env, bool fresh_ok, FlValue ***slot,
                           bool *unknown);

static FlValue *size_of_dim(FlSema *s, const FlDim *d, SizeEnv *env, bool fresh_ok, bool *unknown) {
  if (!d->name.text) return fl_sema_i64(s, d->constant);
  FlValue **slot = NULL;
  FlValue *v = size_named(s, d->name.text, env, fresh_ok, &slot, unknown);
  if (!v) return NULL;
  return d->constant ? fl_sema_op2(s, FL_OP_ADD, v, fl_sema_i64(s, d->constant)) : v;
}

static FlValue *size_named(FlSema *s, const char *name, SizeEnv *env, bool fresh_ok, FlValue ***slot,
                           bool *unknown) {
  if (env) {
    for (int i = 0; i < env->names->n; i++) {
      if (env->names->at[i].text != name) continue;
      *slot = &env->fresh[i];
      if (env->fresh[i]) return env->fresh[i];
      if (env->dims && i < env->dims->n && !env->dims->at[i].any)
        return size_of_dim(s, &env->dims->at[i], env->outer, fresh_ok, unknown);
      return NULL;
    }
  }
  FlBinding *b = fresh_ok ? fl_scope_find_in(s->scope, name) : fl_scope_find(s, name);
  if (b && (b->kind == FL_BIND_VALUE || b->kind == FL_BIND_VAR)) {
    FlVal v = fl_binding_value(s, b);
    if (v.type->kind == FL_TY_SCALAR && fl_dtype_is_int(v.type->dtype) && !v.type->nullable)
      return fl_ir_convert(&s->b, v.parts[0], FL_I64);
  }
  if (!fresh_ok) *unknown = true;
  return NULL;
}

/* What is said when a size is not the one that the signature wants. */
static const char *size_message(FlSema *s, const FlDim *d, bool fresh_ok, const char *what) {
  const char *name = d->name.text;
  if (name && d->constant)
    return fl_arena_printf(s->arena, "%s has size {a}, but `%s %c %lld` is {b}", what, name,
                           d->constant < 0 ? '-' : '+', llabs(d->constant));
  if (!name) return fl_arena_printf(s->arena, "%s has size {a}, but {b} is declared", what);
  const FlBinding *b = fresh_ok ? fl_scope_find_in(s->scope, name) : fl_scope_find(s, name);
  if (!b || !b->size_of)
    return fl_arena_printf(s->arena, "%s: the size `%s` is {a} here but {b} elsewhere", what, name);
  int line = fl_source_line_at(fl_sources_get(s->sources, b->size_from.file), b->size_from.start);
  return fl_arena_printf(s->arena, "%s: the size `%s` is {a} here but {b} in %s (line %d)", what, name,
                         b->size_of, line);
}

static void bind_dim(FlSema *s, const FlDim *d, FlValue *size, SizeEnv *env, bool fresh_ok, FlSpan span,
                     const char *what) {
  if (d->any) return;
  bool unknown = false;
  FlValue *want = size_of_dim(s, d, env, fresh_ok, &unknown);
  if (want) {
    if (!fl_sema_sizes_equal(s, size, want))
      fl_sema_same_size(s, size, want, span, size_message(s, d, fresh_ok, what));
    return;
  }
  if (unknown && !s->binding_result) {
    fl_sema_error(s, FL_E0402, d->span, "there is no size `%s` here", d->name.text);
    return;
  }
  FlValue *v = d->constant ? fl_sema_op2(s, FL_OP_SUB, size, fl_sema_i64(s, d->constant)) : size;
  /* A fresh name: it belongs to the innermost declared type that was written without sizes, else to the
   * signature. */
  const FlDim *at = d;
  SizeEnv *e = env;
  while (e) {
    int i = 0;
    while (i < e->names->n && e->names->at[i].text != at->name.text) i++;
    if (i == e->names->n) break;
    e->fresh[i] = v;
    if (!e->dims || i >= e->dims->n || e->dims->at[i].any || !e->dims->at[i].name.text) return;
    at = &e->dims->at[i];
    if (at->constant) v = fl_sema_op2(s, FL_OP_SUB, v, fl_sema_i64(s, at->constant));
    e = e->outer;
  }
  FlBinding *b =
      fl_scope_bind(s, s->scope, FL_BIND_VALUE, at->name.text, at->span, fl_val_scalar(s, FL_I64, v));
  b->used = true;
  b->size_of = what;
  b->size_from = span;
}

/* The fields that a table's rows are written with, or NULL: of a tuple, or of a declared type that is one. */
static const FlTypeItemList *row_fields(FlSema *s, const FlTypeExpr *row) {
  FlBinding *b = row->kind == FL_TE_NAME ? find_type(s, row, true) : NULL;
  const FlTypeExpr *t = b ? b->decl->type.type : row;
  return t->kind == FL_TE_TUPLE ? &t->tuple.fields : NULL;
}

/* Sizes that are numbers in the fields of a table's rows, `v: f64[64]`: each of the column's rows has that
 * many. */
static void check_row_sizes(FlSema *s, const FlTypeExpr *row, FlVal table, FlSpan span, const char *what) {
  const FlTypeItemList *fields = row_fields(s, row);
  for (int i = 0; fields && i < fields->n; i++) {
    const FlTypeItem *f = &fields->at[i];
    int k = f->name.text ? fl_type_field_find(table.type->elem, f->name.text) : -1;
    if (k < 0 || f->type->kind != FL_TE_ARRAY) continue;
    FlVal column = fl_val_field(s, table, k);
    const FlDimList *dims = &f->type->array.dims;
    for (int d = 0; column.type->kind == FL_TY_ARRAY && d < dims->n && d + 1 < column.type->rank; d++)
      if (!dims->at[d].any && !dims->at[d].name.text)
        bind_dim(s, &dims->at[d], fl_sema_dim(s, column, d + 1), NULL, false, span,
                 fl_arena_printf(s->arena, "%s, column `%s`", what, f->name.text));
  }
}

/* The name of an element type, which has no sizes. */
static bool is_dtype(FlSema *s, const FlTypeExpr *t) {
  FlDtype d;
  return t->kind == FL_TE_NAME && !t->name.module.text &&
         fl_type_names_dtype(s->types, t->name.name.text, &d);
}

static void bind_sizes(FlSema *s, const FlTypeExpr *t, FlVal v, SizeEnv *env, bool fresh_ok, FlSpan span,
                       const char *what) {
  if (fl_val_bad(v) || v.type->kind == FL_TY_NEVER) return;
  switch (t->kind) {
  case FL_TE_OPTION: bind_sizes(s, t->inner, v, env, fresh_ok, span, what); return;
  case FL_TE_TUPLE:
    for (int i = 0; i < t->tuple.fields.n; i++) {
      const FlTypeItem *f = &t->tuple.fields.at[i];
      if (is_dtype(s, f->type)) continue;
      const char *name =
          f->name.text ? f->name.text : fl_intern_z(s->names, fl_arena_printf(s->arena, "%d", i));
      const FlType *row = fl_type_row(v.type);
      int k = row ? fl_type_field_find(row, name) : -1;
      if (k >= 0 && v.type->kind == FL_TY_TUPLE)
        bind_sizes(s, f->type, fl_val_field(s, v, k), env, fresh_ok, span,
                   fl_arena_printf(s->arena, "%s, field `%s`", what, name));
    }
    return;
  case FL_TE_NAME:
  case FL_TE_ARRAY: {
    const FlTypeExpr *named = t->kind == FL_TE_NAME ? t : t->array.element;
    FlBinding *b = t->kind == FL_TE_ARRAY ? sized_type(s, t) : NULL;
    if (t->kind == FL_TE_NAME && !is_dtype(s, t)) b = find_type(s, named, true);
    if (b && b->decl->type.sizes.n) {
      SizeEnv inner = {env, &b->decl->type.sizes, t->kind == FL_TE_ARRAY ? &t->array.dims : NULL,
                       FL_NEW_ARRAY(s->arena, FlValue *, b->decl->type.sizes.n)};
      bind_sizes(s, b->decl->type.type, v, &inner, fresh_ok, span, what);
      return;
    }
    if (t->kind == FL_TE_NAME) return;
    int n = v.type->kind == FL_TY_ARRAY ? v.type->rank : 1;
    for (int k = 0; k < t->array.dims.n && k < n; k++)
      bind_dim(s, &t->array.dims.at[k], fl_sema_dim(s, v, k), env, fresh_ok, span, what);
    if (v.type->kind == FL_TY_TABLE) check_row_sizes(s, t->array.element, v, span, what);
    return;
  }
  case FL_TE_ERROR:
  case FL_TE_ANY:
  case FL_TE_FUNCTION:
  case FL_TE_TYPEOF: return;
  }
}

/* Open rows: the declared fields are there and fit; all others stay. */
static FlVal coerce_open(FlSema *s, const FlTypeExpr *row, FlVal v, FlSpan span, const char *what) {
  const FlType *have = fl_type_row(v.type);
  if (!have)
    return fl_sema_error(s, FL_E0301, span, "%s must be a table or a named tuple, but this is %s", what,
                         fl_val_text(s, v));
  int n = have->n_fields;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  FlVal *fields = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  for (int i = 0; i < n; i++) {
    names[i] = have->fields[i].name;
    fields[i] = fl_val_field(s, v, i);
  }
  for (int i = 0; i < row->tuple.fields.n; i++) {
    const FlTypeItem *f = &row->tuple.fields.at[i];
    int k = f->name.text ? fl_type_field_find(have, f->name.text) : -1;
    if (k < 0) {
      FlDiag *d =
          fl_sema_report(s, FL_E0601, span, "%s has no column `%s`", what, f->name.text ? f->name.text : "?");
      const char *near = f->name.text ? fl_sema_closest_field(s, have, f->name.text) : NULL;
      if (near) fl_diag_help(s->sink, d, "it has `%s`", near);
      return fl_val_error(s);
    }
    const FlType *want = resolve(s, f->type);
    if (!want) continue;
    if (v.type->kind == FL_TY_TABLE) want = fl_type_many(s->types, want);
    fields[k] = fl_val_coerce(s, fields[k], want, span,
                              fl_arena_printf(s->arena, "the column `%s` of %s", f->name.text, what));
    if (fl_val_bad(fields[k])) return fields[k];
  }
  return v.type->kind == FL_TY_TABLE ? fl_val_table(s, fl_val_rows(v), n, names, fields)
                                     : fl_val_tuple(s, n, names, fields, NULL);
}

FlVal fl_bind_type(FlSema *s, const FlTypeExpr *t, FlVal v, FlSpan span, const char *what) {
  v = fl_sema_refuse_groups(s, v, span, NULL);
  if (fl_val_bad(v)) return v;
  const FlType *want = resolve(s, t);
  const FlTypeExpr *elem = t->kind == FL_TE_ARRAY ? t->array.element : t;
  if (want) {
    v = fl_val_coerce(s, v, want, span, what);
  } else if (elem->kind == FL_TE_TUPLE && elem->tuple.open) {
    if (t->kind == FL_TE_ARRAY && v.type->kind != FL_TY_TABLE)
      return fl_sema_error(s, FL_E0301, span, "%s must be a table, but this is %s", what, fl_val_text(s, v));
    v = coerce_open(s, elem, v, span, what);
  } else if (t->kind == FL_TE_ARRAY && elem->kind == FL_TE_ANY && t->array.dims.n > 1) {
    if (v.type->kind != FL_TY_ARRAY || v.type->rank != t->array.dims.n)
      return fl_sema_error(s, FL_E0301, span, "%s must be an array of rank %d, but this is %s", what,
                           t->array.dims.n, fl_val_text(s, v));
  } else if (t->kind == FL_TE_ARRAY && v.type->kind != FL_TY_TABLE && v.type->kind != FL_TY_LIST) {
    return fl_sema_error(s, FL_E0301, span, "%s must be a table, but this is %s", what, fl_val_text(s, v));
  }
  /* Sizes are fresh in a signature (a plain scope of parameters); elsewhere they must be known. */
  if (!fl_val_bad(v)) bind_sizes(s, t, v, NULL, s->binding_signature, span, what);
  return v;
}

void fl_sema_trust_sizes(FlSema *s, const FlTypeExpr *t, FlVal v) {
  if (t->kind == FL_TE_TUPLE && v.type->kind == FL_TY_TUPLE) {
    for (int i = 0; i < t->tuple.fields.n; i++) {
      const FlTypeItem *f = &t->tuple.fields.at[i];
      int k = f->name.text ? fl_type_field_find(v.type, f->name.text) : i;
      if (k >= 0 && k < v.type->n_fields) fl_sema_trust_sizes(s, f->type, fl_val_field(s, v, k));
    }
    return;
  }
  if (t->kind != FL_TE_ARRAY || v.type->kind != FL_TY_ARRAY || sized_type(s, t)) return;
  for (int k = 0; k < t->array.dims.n && k < v.type->rank; k++) {
    const FlDim *d = &t->array.dims.at[k];
    FlBinding *b = d->name.text && !d->constant ? fl_scope_find_in(s->scope, d->name.text) : NULL;
    FlValue *from = fl_ir_dim(&s->b, v.parts[0], k), *to = NULL;
    if (b && b->kind == FL_BIND_VALUE && b->val.type->kind == FL_TY_SCALAR && b->val.type->dtype == FL_I64)
      to = b->val.parts[0];
    else if (!d->any && !d->name.text) to = fl_sema_i64(s, d->constant);
    if (to && from != to) fl_sema_alias(s, from, fl_sema_size(s, to));
  }
}
