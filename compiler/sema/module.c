/* module.c: a script and what it imports, from declarations to the top-level function.
 *
 * In: the AST of the script. Out: an IR module whose main function takes the params and does the script's
 * effects, or errors. `fn stage type param import` are visible in the whole file, `let` after its line. */
#include "sema/attributes.h"
#include "sema/builtins/builtin.h"
#include "sema/builtins/derivative.h"
#include "sema/call.h"
#include "sema/column_origin.h"
#include "sema/expr.h"
#include "sema/files/reader.h"
#include "sema/forms.h"
#include "sema/habits.h"
#include "sema/known_values.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/uncalled.h"
#include "sema/value.h"

#include <stdlib.h>

/* ---- declarations ---- */

static void declare(FlSema *s, FlFile *file, FlBindKind kind, FlName name, const FlStmt *decl) {
  FlBinding *old = fl_scope_find_in(file->scope, name.text);
  FlBinding form = {
      .name = name.text, .kind = kind, .span = name.span, .frame = s->frame, .decl = decl, .file = file};
  if (old && old->kind == FL_BIND_FN && kind == FL_BIND_FN &&
      fl_forms_add(old, fl_arena_copy(s->arena, &form, sizeof form)))
    return;
  if (old && old->lost) return;
  if (old) {
    FlDiag *d = fl_sema_report(s, FL_E0218, name.span, "`%s` is declared twice in this file", name.text);
    fl_diag_note(s->sink, d, old->span, "the other one is here");
    if (old->kind == FL_BIND_FN && kind == FL_BIND_FN)
      fl_diag_help(s->sink, d, "functions of one name differ by the declared type of their first parameter");
    return;
  }
  FlBinding *b = fl_scope_bind(s, file->scope, kind, name.text, name.span, (FlVal){0});
  b->decl = decl;
  b->file = file;
}

/* What an import is called where it stands: its alias, or as its file. */
static FlName name_of(FlSema *s, const FlImport *im) {
  if (!im->path) return im->alias.text ? im->alias : im->module;
  if (im->alias.text) return im->alias;
  const char *slash = strrchr(im->path, '/'), *base = slash ? slash + 1 : im->path;
  size_t n = strlen(base);
  if (n > 5 && strcmp(base + n - 5, ".flow") == 0) n -= 5;
  return (FlName){fl_intern(s->names, base, n), im->path_span};
}

static FlFile *load(FlSema *s, const FlImport *import, FlFile *from);
static void run_module(FlSema *s, FlFile *file);

static void declare_all(FlSema *s, FlFile *file) {
  const FlStmtList *stmts = &file->ast->stmts;
  for (int i = 0; i < stmts->n; i++) {
    const FlStmt *st = stmts->at[i];
    if (st->damaged) continue;
    switch (st->kind) {
    case FL_STMT_FN:
    case FL_STMT_STAGE:
    case FL_STMT_EXTERN:
      declare(s, file, FL_BIND_FN, st->fn.name, st);
      for (int p = 0; p < st->fn.params.n; p++)
        for (int q = 0; q < p; q++)
          if (st->fn.params.at[p].name.text == st->fn.params.at[q].name.text)
            fl_sema_error(s, FL_E0218, st->fn.params.at[p].name.span, "there are two parameters `%s`",
                          st->fn.params.at[p].name.text);
      break;
    case FL_STMT_TYPE: declare(s, file, FL_BIND_TYPE, st->type.name, st); break;
    case FL_STMT_IMPORT:
      for (int k = 0; k < st->import.n; k++) {
        const FlImport *im = &st->import.at[k];
        FlFile *module = load(s, im, file);
        FlName name = name_of(s, im);
        if (!module) {
          fl_scope_bind(s, file->scope, FL_BIND_VALUE, name.text, name.span, fl_val_error(s))->lost = true;
          continue;
        }
        if (file->is_script && !module->named) {
          module->name = name.text;
          module->named = true;
        }
        declare(s, file, FL_BIND_MODULE, name, st);
        FlBinding *b = fl_scope_find_in(file->scope, name.text);
        if (b && b->kind == FL_BIND_MODULE) b->file = module;
      }
      break;
    case FL_STMT_REQUIRES: /* the parser has seen to it */
    case FL_STMT_ERROR:
    case FL_STMT_LET:
    case FL_STMT_VAR:
    case FL_STMT_ASSIGN:
    case FL_STMT_EXPR:
    case FL_STMT_FOR:
    case FL_STMT_WHILE:
    case FL_STMT_BREAK:
    case FL_STMT_CONTINUE:
    case FL_STMT_ASSERT:
    case FL_STMT_PARAM:
    case FL_STMT_TEST: break;
    }
  }
  for (int i = 0; i < stmts->n; i++) /* a good one may be another form of a damaged one */
    if (stmts->at[i]->damaged > FL_LOST_BEHIND) fl_scope_bind_lost(s, file->scope, stmts->at[i]);
}

/* ---- imports ---- */

static const char *dir_of(FlSema *s, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? fl_arena_strndup(s->arena, path, (size_t)(slash - path)) : ".";
}

static const char *real_path(FlSema *s, const char *path) {
  const char *real = fl_arena_take(s->arena, s->world->real(s->world->env, path));
  return real ? real : fl_arena_printf(s->arena, "%s", path);
}

static bool is_there(FlSema *s, const char *path) {
  char *real = s->world->real(s->world->env, path);
  free(real);
  return real != NULL;
}

bool fl_sema_in_library(FlSema *s, const char *name) {
  for (const char *c = name; *c; c++)
    if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))) return false;
  return is_there(s, fl_arena_printf(s->arena, "%s/%s.flow", s->options->stdlib_dir, name));
}

bool fl_sema_is_library(FlSema *s, FlSpan at) {
  const FlSource *f = fl_sources_get(s->sources, at.file);
  if (!f || f->is_library) return f != NULL;
  const char *folder = real_path(s, dir_of(s, real_path(s, f->path)));
  return strcmp(folder, real_path(s, s->options->stdlib_dir)) == 0;
}

/* Where the file is that an import names: beside the importing file, or beside what that is a link to. */
static const char *path_of(FlSema *s, const FlImport *im, const FlFile *from) {
  if (!im->path) return fl_arena_printf(s->arena, "%s/%s.flow", s->options->stdlib_dir, im->module.text);
  if (im->path[0] == '/') return im->path;
  const char *path =
      strcmp(from->dir, ".") == 0 ? im->path : fl_arena_printf(s->arena, "%s/%s", from->dir, im->path);
  if (is_there(s, path)) return path;
  const char *real = fl_arena_printf(s->arena, "%s/%s", dir_of(s, from->real), im->path);
  return is_there(s, real) ? real : path;
}

/* The path without `.` and without a folder that `..` leaves again, where that is the same file: behind a
 * link
 * `..` may lead elsewhere. */
static const char *short_path(FlSema *s, const char *path, const char *real) {
  size_t n = strlen(path), len = 0;
  char *out = fl_arena_alloc(s->arena, n + 2);
  for (const char *at = path, *end; *at; at = *end ? end + 1 : end) {
    end = at + strcspn(at, "/");
    size_t part = (size_t)(end - at);
    if ((part == 0 && at > path) || (part == 1 && *at == '.')) continue;
    size_t last = len;
    while (last > 0 && out[last - 1] != '/') last--;
    bool up = part == 2 && at[0] == '.' && at[1] == '.';
    bool leaves = up && len > last && !(len - last == 2 && memcmp(out + last, "..", 2) == 0);
    if (leaves) {
      len = last > 1 ? last - 1 : last;
      continue;
    }
    if (len > 0 && out[len - 1] != '/') out[len++] = '/';
    memcpy(out + len, at, part);
    len += part;
    if (part == 0) out[len++] = '/';
  }
  out[len] = 0;
  return strcmp(real_path(s, out), real) == 0 ? out : path;
}

/* The files that import each other, as `a.flow imports b.flow, which imports a.flow`. */
static void report_circle(FlSema *s, FlSpan span, const FlFile *again, const FlFile *from) {
  const char *path = again->ast->source->path;
  FlText1 way = {0};
  fl_text_addf(&way, "`%s` imports ", path);
  bool in = false;
  for (int i = 0; i < s->files.n; i++) {
    const FlFile *f = s->files.at[i];
    if (in && f->loading) fl_text_addf(&way, "`%s`, which imports ", f->ast->source->path);
    in = in || f == again;
  }
  if (again == from) fl_text_addz(&way, "itself");
  else fl_text_addf(&way, "`%s` again; what both need can go to a file of its own", path);
  FlDiag *d = fl_sema_report(s, FL_E0221, span,
                             "this import goes round in a circle: `%s` is being read already", path);
  fl_diag_help(s->sink, d, "%s", way.s);
  fl_text_reset(&way);
}

/* The tree of a text; where compilations share the library's, it stays with these. */
static const FlAst *parse(FlSema *s, const char *path, const char *real, const FlText1 *text, bool library) {
  if (library && s->options->library)
    return fl_parsed_library_add(s->options->library, path, real, text, s->sink);
  FlSource *source = fl_sources_add(s->sources, path, text->s, text->len);
  source->is_library = library;
  return fl_syntax_parse(s->arena, s->names, source, s->sink);
}

static FlFile *load(FlSema *s, const FlImport *im, FlFile *from) {
  FlSpan span = im->path ? im->path_span : im->module.span;
  const char *path = path_of(s, im, from);
  const char *real = real_path(s, path);
  for (int i = 0; i < s->files.n; i++)
    if (strcmp(s->files.at[i]->real, real) == 0) {
      fl_reader_remember(s, path, FL_INPUT_SOURCE); /* it may lead elsewhere in the next run */
      if (!s->files.at[i]->loading) return s->files.at[i];
      report_circle(s, span, s->files.at[i], from);
      return NULL;
    }
  FlText1 text = {0};
  fl_reader_remember(s, path, FL_INPUT_SOURCE); /* before it is read */
  bool library = !im->path || from->ast->source->is_library;
  const FlAst *ast = library && s->options->library ? fl_parsed_library_get(s->options->library, real) : NULL;
  bool read = ast || s->world->read(s->world->env, path, FL_LARGEST_SCRIPT, &text),
       large = text.len > FL_LARGEST_SCRIPT;
  if (!read || large) {
    fl_text_reset(&text);
    if (large) fl_sema_error(s, FL_E0219, span, "the file `%s` is larger than 64 MB: is it a script?", path);
    else if (im->path) fl_sema_error(s, FL_E0219, span, "the file `%s` cannot be read", path);
    else {
      FlDiag *d = fl_sema_report(s, FL_E0219, span, "there is no module `%s` in the standard library",
                                 im->module.text);
      if (fl_habit_help(s, d, im->module.text, span, false)) d->edit.text = NULL;
      else
        fl_diag_help(s->sink, d, "a file of your own is imported as `import \"%s.flow\"`", im->module.text);
    }
    return NULL;
  }
  path = short_path(s, path, real);
  if (!ast) ast = parse(s, library ? fl_parsed_library_path(s->arena, path) : path, real, &text, library);
  fl_text_reset(&text);
  FlFile *file = FL_NEW(s->arena, FlFile);
  file->name = name_of(s, im).text;
  file->real = real;
  file->ast = ast;
  file->scope = fl_scope_push(s, NULL, FL_SCOPE_PLAIN);
  file->dir = dir_of(s, path);
  fl_vec_push(s->arena, &s->files, file);
  file->lost = !file->ast->has_meaning;
  if (file->lost) return file;
  FlFile *outer = s->file;
  FlScope *scope = s->scope;
  s->file = file;
  s->scope = file->scope;
  file->loading = true;
  declare_all(s, file);
  file->loading = false;
  run_module(s, file);
  s->file = outer;
  s->scope = scope;
  return file;
}

/* ---- params ---- */

static const char *default_text(FlSema *s, const FlExpr *e);

/* The same of a list: as in a line of CSV, in quotes what would read otherwise. */
static const char *default_list(FlSema *s, const FlExpr *e) {
  FlText1 list = {0};
  bool ok = true;
  for (int i = 0; ok && i < e->array.n; i++) {
    const char *one = default_text(s, e->array.at[i]);
    ok = one != NULL;
    if (i) fl_text_addc(&list, ',');
    bool quoted = one && (!*one || strpbrk(one, ",\""));
    if (quoted) fl_text_addc(&list, '"');
    for (const char *c = one; c && *c; c++) {
      if (*c == '"') fl_text_addc(&list, '"');
      fl_text_addc(&list, *c);
    }
    if (quoted) fl_text_addc(&list, '"');
  }
  const char *out = ok ? fl_arena_strndup(s->arena, list.s ? list.s : "", list.len) : NULL;
  fl_text_reset(&list);
  return out;
}

/* The text of a default that is a constant, as it would be written on the command line; NULL: reported. */
static const char *default_text(FlSema *s, const FlExpr *e) {
  if (e->kind == FL_EXPR_ARRAY) return default_list(s, e);
  bool minus = e->kind == FL_EXPR_UNARY && e->unary.op == FL_UN_NEG;
  const FlExpr *x = minus ? e->unary.operand : e;
  const char *sign = minus ? "-" : "";
  if (x->kind == FL_EXPR_INT)
    return fl_arena_printf(s->arena, "%s%llu", sign, (unsigned long long)x->integer.value);
  if (x->kind == FL_EXPR_FLOAT) return fl_arena_printf(s->arena, "%s%s", sign, x->real.spelling);
  if (!minus && e->kind == FL_EXPR_BOOL) return e->boolean ? "true" : "false";
  if (!minus && e->kind == FL_EXPR_NULL) return "null";
  if (!minus && e->kind == FL_EXPR_TEXT &&
      (e->text.parts.n == 0 || (e->text.parts.n == 1 && !e->text.parts.at[0].value)))
    return e->text.parts.n ? e->text.parts.at[0].bytes : "";
  bool call = !minus && e->kind == FL_EXPR_CALL && e->call.args.n == 1 && e->call.func->kind == FL_EXPR_NAME;
  if (call && (strcmp(e->call.func->name.text, "date") == 0 || strcmp(e->call.func->name.text, "file") == 0))
    return default_text(s, e->call.args.at[0].value);
  fl_sema_error(s, FL_E0220, e->span,
                "the default of a param must be a constant: a number, a text, true, false, null, a date, or "
                "an array of such");
  return NULL;
}

/* Whether a param of the script has the name of an option of every script, where `-` may be written for `_`.
 */
static bool is_option(FlSema *s, FlName name) {
  for (int i = 0; i < s->options->n_option_names; i++) {
    const char *option = s->options->option_names[i];
    size_t k = 0;
    while (option[k] && (option[k] == name.text[k] || (option[k] == '-' && name.text[k] == '_'))) k++;
    if (option[k] || name.text[k]) continue;
    FlDiag *d = fl_sema_report(s, FL_E0226, name.span, "`--%s` is an option of every script", option);
    fl_diag_help(s->sink, d, "give this param another name");
    return true;
  }
  return false;
}

/* A param that is private to an imported module is none of the script's: it has its default. */
static void add_private_param(FlSema *s, FlFile *file, const FlStmt *st, const FlType *t) {
  FlName name = st->param.name;
  FlVal v = fl_val_error(s);
  if (!st->param.fallback || t->dtype == FL_FILE)
    fl_sema_error(s, FL_E0220, name.span, "`%s` is private to this module, so that nobody can give its value",
                  name.text);
  else
    v = fl_val_coerce(s, fl_sema_expr(s, st->param.fallback, t), t, st->param.fallback->span, "the default");
  fl_scope_bind(s, file->scope, FL_BIND_VALUE, name.text, name.span, v);
}

/* Is a size written, as in f64[3]? */
static bool has_size(const FlTypeExpr *t) {
  return t->kind == FL_TE_ARRAY && !(t->array.dims.n == 1 && t->array.dims.at[0].any);
}

static void add_param(FlSema *s, FlFile *file, const FlStmt *st) {
  FlName name = st->param.name;
  const FlType *t = fl_type_of_expr(s, st->param.type);
  bool list = t && t->kind == FL_TY_ARRAY && t->rank == 1 && !t->nullable && !has_size(st->param.type);
  bool files = list && t->dtype == FL_FILE;
  if (!t || (t->kind != FL_TY_SCALAR && !list) || t->dtype == FL_CATEGORY) {
    if (!t || t->kind != FL_TY_ERROR)
      fl_sema_error(
          s, FL_E0220, st->param.type->span,
          "a param is a number, text, bool, date or file, or a list of any number of them, as in text[_]%s",
          t ? "" : ", with its type written");
    fl_scope_bind(s, file->scope, FL_BIND_VALUE, name.text, name.span, fl_val_error(s));
    return;
  }
  FlIrParam p = {.name = name.text, /* of a module: name_params */
                 .type = fl_type_text(s->types, t),
                 .help = st->doc ? st->doc : "",
                 .t = list ? fl_t_array(t->dtype, 1) : fl_t_scalar(t->dtype),
                 .nullable = t->nullable,
                 .span = name.span};
  bool ok = true;
  if (st->param.fallback) {
    FlSavedPlace saved = fl_sema_enter(s, FL_NEW(s->arena, FlRegion));
    s->b.region->func = s->b.func;
    FlVal v = fl_sema_expr(s, st->param.fallback, t);
    bool path = t->dtype == FL_FILE && v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT;
    if (!path) ok = !fl_val_bad(fl_val_coerce(s, v, t, st->param.fallback->span, "the default"));
    fl_sema_leave(s, saved);
    p.default_text = ok ? default_text(s, st->param.fallback) : NULL;
  }
  FlBinding *old = fl_scope_find_in(file->scope, name.text);
  if (old) {
    if (!old->lost) fl_sema_error(s, FL_E0218, name.span, "`%s` is declared twice in this file", name.text);
    return;
  }
  if (file->is_script && is_option(s, name)) {
    fl_scope_bind(s, file->scope, FL_BIND_VALUE, name.text, name.span, fl_val_error(s));
    return;
  }
  if (!file->is_script && fl_sema_is_private(name.text)) {
    add_private_param(s, file, st, t);
    return;
  }
  fl_vec_push(s->arena, &s->params, p);
  fl_vec_push(s->arena, &s->param_files, file);
  FlValue *parts[2];
  FlType1 types[2];
  fl_type_parts(t, types);
  for (int i = 0; i < t->n_parts; i++) parts[i] = fl_ir_param(s->b.func->body, types[i]);
  FlVal v = fl_val_make(s, t, parts);
  if (t->dtype == FL_FILE && p.default_text &&
      !s->world->comes_once(s->world->env, p.default_text)) /* whose head decides the type of what is read */
    v.spelling = files ? fl_reader_first(s, p.default_text) : p.default_text;
  fl_scope_bind(s, file->scope, FL_BIND_VALUE, name.text, name.span, v);
}

static void add_params(FlSema *s, FlFile *file) {
  for (int i = 0; i < file->ast->stmts.n; i++)
    if (file->ast->stmts.at[i]->kind == FL_STMT_PARAM && !file->ast->stmts.at[i]->damaged)
      add_param(s, file, file->ast->stmts.at[i]);
}

/* The names of params on the command line, once it is known what the script calls its modules. Two of one
 * name are an error. */
static void name_params(FlSema *s) {
  for (int i = 0; i < s->params.n; i++) {
    const FlFile *file = s->param_files.at[i];
    FlIrParam *p = &s->params.at[i];
    if (!file->is_script) p->name = fl_arena_printf(s->arena, "%s.%s", file->name, p->name);
    for (int k = 0; k < i; k++) {
      const FlIrParam *old = &s->params.at[k];
      if (strcmp(old->name, p->name) != 0) continue;
      FlDiag *d = fl_sema_report(s, FL_E0224, p->span,
                                 "two modules `%s` have a param that is `--%s` on the command line",
                                 file->name, p->name);
      fl_diag_note(s->sink, d, old->span, "the other one is here");
      fl_diag_help(s->sink, d, "give one of them another name where it is imported: `import \"%s\" as other`",
                   file->ast->source->path);
    }
  }
}

/* ---- statements at the top level ---- */

/* An imported file gives names only: its lets must be pure, and nothing else may stand there. */
static void run_module(FlSema *s, FlFile *file) {
  add_params(s, file);
  const char *outer = s->pure;
  s->pure = "an imported file";
  for (int i = 0; i < file->ast->stmts.n; i++) {
    const FlStmt *st = file->ast->stmts.at[i];
    if (st->kind == FL_STMT_LET || st->damaged) fl_sema_stmt(s, st);
    else if (st->kind == FL_STMT_VAR)
      fl_sema_error(s, FL_E0802, st->span, "an imported file has no variables; bind this with `let`");
    else if (fl_syntax_stmt_role(st->kind) == FL_STMT_ROLE_ACTS)
      fl_sema_error(s, FL_E0802, st->span, "an imported file declares things; this would do something");
  }
  s->pure = outer;
}

/* An expression at the top level: its value is shown. */
static void run_expression(FlSema *s, const FlStmt *st) {
  s->b.span = st->span;
  FlVal v = fl_sema_expr_or_groups(s, st->expr, NULL);
  if (fl_val_bad(v) && !s->sink->n_errors)
    fl_sema_error(s, FL_E0299, st->span, "flow did not understand this, and does not know why");
  if (v.type->kind == FL_TY_FUNC)
    fl_sema_error(s, FL_E0319, st->span, "this is a function; call it with `(...)`");
  else if (v.type->kind == FL_TY_NULL) fl_sema_error(s, FL_E0319, st->span, "this value is not used");
  else if (v.type->kind != FL_TY_NONE && v.type->kind != FL_TY_ERROR && v.type->kind != FL_TY_NEVER)
    fl_sema_show(s, v);
}

static void run_script_stmt(FlSema *s, const FlStmt *st, bool effects) {
  FlStmtRole role = fl_syntax_stmt_role(st->kind);
  if (st->damaged) {
    fl_scope_bind_lost(s, s->scope, st);
    return;
  }
  if (role != FL_STMT_ROLE_BINDS && role != FL_STMT_ROLE_ACTS) return;
  if (!effects && (st->kind == FL_STMT_EXPR || st->kind == FL_STMT_ASSERT)) return;
  if (st->kind == FL_STMT_EXPR) run_expression(s, st);
  else fl_sema_stmt(s, st);
}

/* ---- what is known to fail ---- */

/* Checks that are evaluated in any case and whose condition is known to be false are errors now. */
static void known_failures(FlSema *s, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    int64_t holds, a = 0, b = 0;
    if (op->code != FL_OP_CHECK || !fl_ir_const_value_i(op->args[0], &holds) || holds) continue;
    bool known =
        op->n_args == 3 && fl_ir_const_value_i(op->args[1], &a) && fl_ir_const_value_i(op->args[2], &b);
    if (!known || (op->attrs.i != FL_FAULT_INDEX && op->attrs.i != FL_FAULT_SHAPE)) continue;
    bool index = op->attrs.i == FL_FAULT_INDEX;
    const char *said = op->attrs.s && *op->attrs.s ? op->attrs.s
                       : index ? "position {a} is out of bounds for a dimension of size {b}"
                               : "sizes differ: {a} and {b}";
    fl_sema_known_failure(s, index ? FL_E0404 : FL_E0401, op->span, said, a, b);
  }
}

/* ---- the whole ---- */

static const char *leading_doc(FlSema *s, const FlAst *ast) {
  FlText1 text = {0};
  for (int i = 0; i < ast->comments.n; i++) {
    FlSpan c = ast->comments.at[i].span;
    if (ast->stmts.n && c.start > ast->stmts.at[0]->span.start) break;
    const char *at = ast->source->text + c.start, *end = at + c.len;
    while (at < end && (*at == '#' || *at == ' ')) at++;
    if (text.len) fl_text_addc(&text, '\n');
    fl_text_add(&text, at, (size_t)(end - at));
  }
  const char *doc = text.s ? fl_arena_strndup(s->arena, text.s, text.len) : "";
  fl_text_reset(&text);
  return doc;
}

FlSemaResult fl_sema_module(FlArena *arena, FlInterner *names, FlSources *sources, FlSink *sink,
                            const FlAst *ast, const FlSemaOptions *options) {
  const char *slash = strrchr(ast->source->path, '/');
  FlSema state = {.arena = arena,
                  .names = names,
                  .sources = sources,
                  .sink = sink,
                  .types = fl_types_make(arena, names),
                  .options = options,
                  .world = options->world ? options->world : &fl_world_here,
                  .witness = options->witness,
                  .builtins = options->library ? options->library->builtins : fl_builtins_make(arena, names)},
         *s = &state;
  s->module = fl_ir_module_make(arena, slash ? slash + 1 : ast->source->path);
  s->module->sources = sources;
  s->module->doc = leading_doc(s, ast);
  s->instances_of = fl_map_make(arena);
  s->called = fl_map_make(arena);
  s->elaborated = fl_map_make(arena);
  s->functions_named = fl_map_make(arena);
  s->sizes = fl_map_make(arena);
  s->alias_of = fl_map_make(arena);
  s->column_names = fl_map_make(arena);
  FlFile *file = FL_NEW(arena, FlFile);
  *file = (FlFile){.name = "script",
                   .ast = ast,
                   .scope = fl_scope_push(s, NULL, FL_SCOPE_PLAIN),
                   .dir = dir_of(s, ast->source->path),
                   .real = real_path(s, ast->source->path),
                   .is_script = true};
  fl_vec_push(arena, &s->files, file);
  FlFrame frame = {0};
  s->frame = &frame;
  frame.func = s->module->main = fl_ir_func_make(s->module, fl_sema_unique_name(s, "main"), FL_FUNC_MAIN,
                                                 (FlSpan){.file = ast->source->id});
  s->b = (FlBuilder){.module = s->module, .func = frame.func, .region = frame.func->body};
  s->scope = file->scope;
  s->file = file;

  FlSemaResult out = {0};
  FlVec(const FlStmt *) tests = {0};
  for (int i = 0; i < ast->stmts.n; i++)
    if (ast->stmts.at[i]->kind == FL_STMT_TEST && !ast->stmts.at[i]->damaged)
      fl_vec_push(arena, &tests, ast->stmts.at[i]);
  out.n_tests = tests.n;
  out.tests = fl_arena_alloc(arena, sizeof *out.tests * (size_t)(tests.n + 1));
  for (int i = 0; i < tests.n; i++) {
    out.tests[i].name = tests.at[i]->test.name;
    out.tests[i].span = tests.at[i]->test.name_span;
  }

  file->loading = true;
  declare_all(s, file);
  file->loading = false;
  add_params(s, file);
  name_params(s);
  bool script = options->test < 0;
  for (int i = 0; i < ast->stmts.n; i++) run_script_stmt(s, ast->stmts.at[i], script);
  /* In the script itself tests, and what nobody calls, are only checked, in regions that nobody keeps. */
  FlSemaMark mark = fl_sema_mark(s);
  if (script) s->tried = fl_map_make(arena);
  for (int i = 0; i < tests.n; i++) {
    if (!script && i != options->test) continue;
    FlSavedPlace saved = fl_sema_enter(s, script ? FL_NEW(arena, FlRegion) : s->b.region);
    s->b.region->func = s->b.func;
    s->pure = "a test";
    FlVal v = fl_sema_block(s, &tests.at[i]->test.body->block, NULL);
    if (v.type->kind != FL_TY_NONE && v.type->kind != FL_TY_ERROR && v.type->kind != FL_TY_NEVER)
      fl_sema_error(s, FL_E0319, tests.at[i]->test.body->span,
                    "the last value of this test is not used; did you mean `assert`?");
    s->pure = NULL;
    fl_sema_leave(s, saved);
  }
  fl_column_origin_say(s);
  fl_scope_end(s, file->scope);
  fl_ir_yield(s->module->main->body, s->module, 0, NULL);
  if (script) known_failures(s, s->module->main->body);
  if (script) {
    fl_uncalled_check(s, file);
    fl_sema_take_back(s, mark);
  }
  fl_known_values_say(s);
  s->module->params = s->params.at;
  s->module->n_params = s->params.n;
  out.inputs = s->inputs.at;
  out.n_inputs = s->inputs.n;
  out.module = sink->n_errors ? NULL : s->module;
  return out;
}
