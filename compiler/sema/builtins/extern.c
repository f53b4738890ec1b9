/* extern.c: C functions: what a declaration may say, where its library is, and calls.
 *
 * In: `extern fn f(x: T, ...) -> R from "library"` and arguments that are already of the declared types,
 * their sizes bound. Out: an EXTERN op. The library is opened while compiling, so that a missing one or a
 * missing function is an error of the script; a library given by path is known by its content.
 * docs/language.md says how C sees arguments. */
#include "sema/call.h"
#include "sema/files/reader.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/value.h"

#include "base/library.h"

#include <unistd.h>

/* A declaration whose types and library are in order. */
struct FlExternDecl {
  bool ok;
  FlLibraryAttr library; /* of its EXTERN ops */
};

/* ---- libraries ---- */

/* A path of the declaring file, as an absolute one. */
static const char *absolute(FlSema *s, const char *dir, const char *path) {
  if (strncmp(path, "./", 2) == 0) path += 2;
  if (path[0] != '/' && strcmp(dir, ".") != 0) path = fl_arena_printf(s->arena, "%s/%s", dir, path);
  if (path[0] == '/') return path;
  char here[4096];
  return getcwd(here, sizeof here) ? fl_arena_printf(s->arena, "%s/%s", here, path) : path;
}

/* Whether a library was found missing before: that is said once. */
static bool missing_before(FlSema *s, const char *library) {
  return fl_map_get(s->externs, fl_intern_z(s->names, library)) != NULL;
}

static bool missing(FlSema *s, const char *library) {
  const char *name = fl_intern_z(s->names, library);
  fl_map_set(s->externs, name, (void *)(uintptr_t)name);
  return false;
}

static bool find_function(FlSema *s, const FlBinding *fn, struct FlExternDecl *out) {
  const FlStmt *decl = fn->decl;
  const char *library = decl->fn.library;
  FlSpan span = decl->fn.library_span;
  char why[FL_LIBRARY_WHY] = "";
  if (strchr(library, '/')) {
    const char *path = absolute(s, fn->file->dir, library);
    FlDigest d;
    if (missing_before(s, path)) return false;
    if (!s->world->library(s->world->env, path, &d)) {
      FlDiag *diag = fl_sema_report(s, FL_E0240, span, "the library `%s` cannot be read", library);
      fl_diag_help(s->sink, diag, "paths are relative to the file that declares the function");
      return missing(s, path);
    }
    fl_reader_remember(s, path, FL_INPUT_DATA);
    library = path;
    out->library = (FlLibraryAttr){.by_path = true, .content = d};
  }
  out->library.name = library;
  if (missing_before(s, library)) return false;
  FlLibraryFound found = s->world->function(s->world->env, library, decl->fn.name.text, why);
  if (found == FL_LIBRARY_NONE) {
    FlDiag *diag =
        fl_sema_report(s, FL_E0240, span, "the library `%s` cannot be opened: %s", decl->fn.library, why);
    if (!strchr(decl->fn.library, '/'))
      fl_diag_help(s->sink, diag, "a library beside the script is written as a path: \"./lib%s.so\"",
                   decl->fn.library);
    return missing(s, library);
  }
  if (found == FL_LIBRARY_HAS) return true;
  fl_sema_error(s, FL_E0241, decl->fn.name.span, "the library `%s` has no function `%s`", decl->fn.library,
                decl->fn.name.text);
  return false;
}

/* ---- types ---- */

static bool passes_to_c(const FlType *t, bool result) {
  if (!t || t->nullable || (t->kind != FL_TY_SCALAR && t->kind != FL_TY_ARRAY)) return false;
  bool text = t->dtype == FL_TEXT && t->kind == FL_TY_SCALAR && !result;
  return text || (t->dtype != FL_TEXT && t->dtype != FL_FILE && t->dtype != FL_LIST);
}

static bool check_types(FlSema *s, const FlStmt *decl) {
  bool ok = true;
  for (int p = 0; p < decl->fn.params.n; p++) {
    const FlFnParam *param = &decl->fn.params.at[p];
    if (!param->type) {
      fl_sema_error(s, FL_E0242, param->span, "a C function needs the type of `%s`", param->name.text);
      ok = false;
      continue;
    }
    const FlType *t = fl_type_of_expr(s, param->type);
    if (passes_to_c(t, false)) continue;
    ok = false;
    if (t && t->kind == FL_TY_ERROR) continue;
    FlDiag *d = fl_sema_report(s, FL_E0242, param->type->span, "%s cannot be passed to C",
                               t ? fl_type_brief(s->types, t) : "a value of any type");
    fl_diag_help(s->sink, d, "numbers, bool, dates, times, a text, and arrays of all of these but text can");
  }
  const FlType *t = fl_type_of_expr(s, decl->fn.result);
  if (!passes_to_c(t, true) && !(t && t->kind == FL_TY_ERROR)) {
    FlDiag *d = fl_sema_report(s, FL_E0242, decl->fn.result->span, "a C function cannot give %s",
                               t ? fl_type_brief(s->types, t) : "a value of any type");
    fl_diag_help(s->sink, d, "it gives a number, bool, date or time, or an array of these");
  }
  return ok && passes_to_c(t, true);
}

static const struct FlExternDecl *declaration(FlSema *s, const FlBinding *fn) {
  if (!s->externs) s->externs = fl_map_make(s->arena);
  struct FlExternDecl *known = fl_map_get(s->externs, fn->decl);
  if (known) return known;
  struct FlExternDecl *d = FL_NEW(s->arena, struct FlExternDecl);
  fl_map_set(s->externs, fn->decl, d);
  FlActive *calls = s->active; /* the declaration is wrong, not the call */
  s->active = NULL;
  d->ok = check_types(s, fn->decl);
  d->ok = find_function(s, fn, d) && d->ok;
  s->active = calls;
  return d;
}

/* ---- calls ---- */

/* A size of the result: a constant, or made of a size or i64 parameter of the signature. NULL: reported. */
static FlValue *result_size(FlSema *s, const FlStmt *decl, const FlDim *d) {
  if (!d->any && !d->name.text) return fl_sema_i64(s, d->constant);
  FlBinding *b = d->any ? NULL : fl_scope_find_in(s->scope, d->name.text);
  const FlType *t = b && b->kind == FL_BIND_VALUE ? b->val.type : NULL;
  if (t && t->kind == FL_TY_SCALAR && fl_dtype_is_int(t->dtype) && !t->nullable) {
    FlValue *v = fl_ir_convert(&s->b, b->val.parts[0], FL_I64);
    return d->constant ? fl_sema_op2(s, FL_OP_ADD, v, fl_sema_i64(s, d->constant)) : v;
  }
  s->active = NULL; /* of the declaration, as above; the call ends here */
  FlDiag *diag =
      fl_sema_report(s, FL_E0243, d->span, "the size `%s` of the result of `%s` is not known before the call",
                     d->any ? "_" : d->name.text, decl->fn.name.text);
  fl_diag_help(s->sink, diag, "use a number, a size of a parameter, or an `i64` parameter");
  return NULL;
}

bool fl_sema_extern_check(FlSema *s, const FlBinding *fn) { return declaration(s, fn)->ok; }

FlVal fl_sema_extern(FlSema *s, const FlBinding *fn) {
  const FlStmt *decl = fn->decl;
  const struct FlExternDecl *known = declaration(s, fn);
  if (!known->ok) return fl_val_error(s);
  const FlType *result = fl_type_of_expr(s, decl->fn.result);
  bool array = result->kind == FL_TY_ARRAY;
  int n = decl->fn.params.n, rank = array ? result->rank : 0;
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + rank + 1);
  for (int p = 0; p < n; p++)
    args[p] = fl_binding_value(s, fl_scope_find_in(s->scope, decl->fn.params.at[p].name.text)).parts[0];
  const FlTypeExpr *written = decl->fn.result;
  for (int k = 0; k < rank; k++) {
    if (written->kind != FL_TE_ARRAY || written->array.dims.n != rank)
      return fl_sema_error(s, FL_E0243, written->span, "write the sizes of the result here");
    args[n + k] = result_size(s, decl, &written->array.dims.at[k]);
    if (!args[n + k]) return fl_val_error(s);
  }
  FlType1 type = array ? fl_t_array(result->dtype, rank) : fl_t_scalar(result->dtype);
  FlOp *op = fl_ir_op(&s->b, FL_OP_EXTERN, n + rank, args, 1, &type, 0);
  op->attrs.s = decl->fn.name.text;
  op->attrs.i = rank;
  op->attrs.library = &known->library;
  op->span = fl_sema_place(s, s->b.span);
  return array ? fl_val_array(s, result->dtype, rank, op->results[0])
               : fl_val_scalar(s, result->dtype, op->results[0]);
}
