/* builtin.c: the table of builtins, and how a call's arguments find their parameters.
 *
 * In: builtins.def, the arguments of calls. Out: the builtins by name, made once a compilation; handlers
 * called with their arguments in the order of the parameters. What always holds: a handler finds each
 * parameter that is not optional given. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/habits.h"
#include "sema/scope.h"
#include "sema/value.h"

#define FL_BUILTIN_ROW(kinds, name, params, handler, op, data, doc) FlBuiltinFn fl_builtin_##handler;
#include "sema/builtins/builtins.def"
#undef FL_BUILTIN_ROW

/* A row of the table, as it is written there. */
typedef struct Row {
  unsigned kinds;
  const char *name, *params;
  FlBuiltinFn *fn;
  FlOpcode op;
  const char *data, *doc;
} Row;

static const Row rows[] = {
#define FL_BUILTIN_ROW(kinds, name, params, handler, op, data, doc)                                          \
  {kinds, #name, params, fl_builtin_##handler, FL_OP_##op, data, doc},
#include "sema/builtins/builtins.def"
#undef FL_BUILTIN_ROW
};
enum { N_BUILTINS = sizeof rows / sizeof *rows };

/* ---- the table ---- */

/* Reads "x, axis=, *seed=, ..." into what a call needs to know. */
static void read_params(FlArena *arena, FlInterner *names, const char *at, FlBuiltin *out) {
  FlVec(FlBuiltinParam) params = {0};
  while (*at) {
    at += strspn(at, " ,");
    if (strncmp(at, "...", 3) == 0) {
      out->takes_rest = true;
      at += 3;
    } else if (*at) {
      bool by_name = *at == '*';
      at += by_name;
      size_t len = strcspn(at, ",=");
      FlBuiltinParam p = {fl_intern(names, at, len), .optional = at[len] == '=', .by_name = by_name};
      fl_vec_push(arena, &params, p);
      at += len + (at[len] == '=');
    }
  }
  out->n_params = params.n;
  out->params = params.at;
}

FlMap *fl_builtins_make(FlArena *arena, FlInterner *names) {
  FlMap *all = fl_map_make(arena);
  FlBuiltin *bi = FL_NEW_ARRAY(arena, FlBuiltin, N_BUILTINS);
  for (int i = 0; i < N_BUILTINS; i++, bi++) {
    const Row *r = &rows[i];
    *bi = (FlBuiltin){.kinds = r->kinds,
                      .name = r->name,
                      .signature = r->params,
                      .fn = r->fn,
                      .op = r->op,
                      .data = r->data,
                      .doc = r->doc};
    read_params(arena, names, r->params, bi);
    fl_map_set(all, fl_intern_z(names, r->name), bi);
  }
  return all;
}

void fl_sema_builtins(void *env, void (*tell)(void *env, const FlNamed *what, unsigned kinds)) {
  for (int i = 0; i < N_BUILTINS; i++) {
    if (rows[i].name[0] == '_') continue; /* of the library alone */
    tell(env, &(FlNamed){.name = rows[i].name, .signature = rows[i].params, .doc = rows[i].doc},
         rows[i].kinds);
  }
}

const FlBuiltin *fl_builtin_find(FlSema *s, const char *name) {
  return fl_map_get(s->builtins, fl_intern_z(s->names, name));
}

const char *fl_builtin_closest(FlSema *s, const char *name) {
  FlVec(const char *) all = {0};
  for (int i = 0; i < N_BUILTINS; i++)
    if (rows[i].name[0] != '_') fl_vec_push(s->arena, &all, rows[i].name);
  for (FlScope *scope = s->scope; scope; scope = scope->parent)
    for (int i = 0; i < scope->names.n; i++)
      if (scope->names.at[i]->kind == FL_BIND_FN) fl_vec_push(s->arena, &all, scope->names.at[i]->name);
  return fl_closest(name, all.at, all.n);
}

/* ---- calls ---- */

/* The parameter that a named argument is for; -1: none has its name. */
static int named_param(const FlBuiltin *bi, const char *name) {
  for (int k = bi->n_params - 1; k >= 0; k--)
    if (bi->params[k].name == name && (!bi->takes_rest || bi->params[k].optional)) return k;
  return -1;
}

void fl_builtin_called(FlSema *s, FlDiag *d, const FlBuiltin *bi) {
  FlText1 list = {0};
  for (int k = 0; k < bi->n_params; k++)
    fl_text_addf(&list, "%s%s%s", k ? ", " : "", bi->params[k].name, bi->params[k].optional ? " = .." : "");
  if (bi->takes_rest) fl_text_addz(&list, bi->n_params ? ", .." : "..");
  fl_diag_note(s->sink, d, (FlSpan){0}, "it is called as `%s(%s)`: %s", bi->name, list.s ? list.s : "",
               bi->doc);
  fl_text_reset(&list);
}

FlVal fl_builtin_lacks(FlSema *s, const FlCallSite *c, const char *what) {
  fl_builtin_called(s, fl_sema_report(s, FL_E0210, c->span, "`%s` needs %s", c->builtin->name, what),
                    c->builtin);
  return fl_val_error(s);
}

static bool no_such_param(FlSema *s, const FlBuiltin *bi, FlName name) {
  FlVec(const char *) known = {0};
  for (int k = 0; k < bi->n_params; k++) {
    const FlBuiltinParam *p = &bi->params[k];
    bool by_position = bi->takes_rest && !p->optional;
    if (by_position && p->name == name.text) {
      fl_builtin_called(s,
                        fl_sema_report(s, FL_E0209, name.span,
                                       "`%s` takes `%s` by position, without its name", bi->name, name.text),
                        bi);
      return false;
    }
    if (!by_position) fl_vec_push(s->arena, &known, p->name);
  }
  FlDiag *d = fl_sema_no_param(s, bi->name, name, known.n, known.at);
  if (bi->takes_rest && !d->edit.text) fl_habit_left_out(s, d, name);
  if (!d->edit.text) fl_builtin_called(s, d, bi);
  return false;
}

/* How many parameters have names alone, and the last of them. */
static int by_names(const FlBuiltin *bi, const char **last) {
  int n = 0;
  for (int k = 0; k < bi->n_params; k++)
    if (bi->params[k].by_name) n++, *last = bi->params[k].name;
  return n;
}

static bool one_too_many(FlSema *s, const FlCallSite *c, FlSpan span) {
  const FlBuiltin *bi = c->builtin;
  const FlVal first = bi->n_params ? c->args[0].value : (FlVal){0};
  const char *only = NULL;
  int named = by_names(bi, &only), most = bi->n_params - named;
  FlDiag *d = fl_sema_report(s, FL_E0210, span, "`%s` takes %d argument%s by position, and this is one more",
                             bi->name, most, most == 1 ? "" : "s");
  if (first.type && first.type->kind == FL_TY_TABLE && strcmp(bi->name, "count") == 0) {
    fl_diag_help(s->sink, d,
                 "rows are counted by `len(t)`, those of groups by `t |> group_by(k) |> "
                 "summarize(n = count())`, of different values by `t |> value_counts(k)`");
    return false;
  }
  fl_builtin_called(s, d, bi);
  FlText1 names = {0};
  for (int k = 0; k < bi->n_params; k++)
    if (bi->params[k].by_name) fl_text_addf(&names, "%s`%s = ..`", names.len ? ", " : "", bi->params[k].name);
  const char *say = named == 1 ? "one more has a name: %s" : "others have names: %s";
  if (named) fl_diag_help(s->sink, d, say, names.s);
  fl_text_reset(&names);
  if (named != 1 || !(bi->kinds & FL_BUILTIN_VERB)) return false;
  d->edit.span = span;
  d->edit.span.len = 0;
  d->edit.text = fl_arena_printf(s->arena, "%s = ", only);
  return false;
}

/* Each argument to its parameter, or to the rest. false: reported. */
static bool bind_arguments(FlSema *s, FlCallSite *c, int n, const FlActual *args) {
  const FlBuiltin *bi = c->builtin;
  int next = 0;
  for (int i = 0; i < n; i++) {
    const char *name = args[i].name.text;
    int k;
    if (name) {
      k = named_param(bi, name);
    } else {
      while (next < bi->n_params && (fl_actual_given(&c->args[next]) || bi->params[next].by_name)) next++;
      k = next < bi->n_params ? next++ : -1;
    }
    if (k < 0 && bi->takes_rest && (!name || (bi->kinds & FL_BUILTIN_NAMING))) {
      c->rest[c->n_rest++] = args[i];
      continue;
    }
    if (k < 0) return name ? no_such_param(s, bi, args[i].name) : one_too_many(s, c, args[i].span);
    if (fl_actual_given(&c->args[k])) {
      fl_sema_report(s, FL_E0211, args[i].span, "`%s` is given twice", bi->params[k].name);
      return false;
    }
    c->args[k] = args[i];
  }
  return true;
}

/* any(each(..)), all(each(..)) */
static bool calls_each(const FlActual *a) {
  const FlExpr *e = a->expr;
  return e && e->kind == FL_EXPR_CALL && e->call.func->kind == FL_EXPR_NAME &&
         strcmp(e->call.func->name.text, "each") == 0;
}

/* Arrays that a function gets are used, whatever it looks at. Not the columns of a table or of a verb, nor
 * the branches of if_else. */
static void keep_arguments(FlSema *s, const FlCallSite *c) {
  const FlBuiltin *bi = c->builtin;
  const FlType *first = bi->n_params ? c->args[0].value.type : NULL;
  if (bi->fn == fl_builtin_if_else || bi->fn == fl_builtin_table || (first && first->kind == FL_TY_TABLE))
    return;
  for (int k = 0; k < bi->n_params + c->n_rest; k++) {
    const FlActual *a = k < bi->n_params ? &c->args[k] : &c->rest[k - bi->n_params];
    if (a->value.type && a->value.type->kind != FL_TY_SCALAR) fl_sema_keep(s, a->value);
  }
}

/* The same, and what is left out may be. */
static bool bind_all(FlSema *s, FlCallSite *c, int n, const FlActual *args) {
  const FlBuiltin *bi = c->builtin;
  c->args = FL_NEW_ARRAY(s->arena, FlActual, bi->n_params + 1);
  c->rest = FL_NEW_ARRAY(s->arena, FlActual, n + 1);
  if (!bind_arguments(s, c, n, args)) return false;
  for (int k = 0; k < bi->n_params; k++) {
    if (bi->params[k].optional || fl_actual_given(&c->args[k])) continue;
    FlDiag *d =
        fl_sema_report(s, FL_E0210, c->span, "`%s` needs an argument for `%s`", bi->name, bi->params[k].name);
    fl_builtin_called(s, d, bi);
    return false;
  }
  return true;
}

bool fl_builtin_takes(FlSema *s, const FlBuiltin *bi, int n, const FlActual *args, FlSpan span) {
  return bind_all(s, &(FlCallSite){.builtin = bi, .span = span}, n, args);
}

/* sum(x, where = c): x is null, and not evaluated, where c is not true; so is the second column of cov(x, y).
 * false: reported. */
static bool take_where(FlSema *s, FlCallSite *c) {
  const FlBuiltin *bi = c->builtin;
  int k = bi->n_params - 1;
  if (k < 0 || strcmp(bi->params[k].name, "where") != 0 || !fl_actual_given(&c->args[k])) return true;
  FlActual *where = &c->args[k];
  if (c->n_rest || calls_each(&c->args[0])) {
    FlDiag *d =
        fl_sema_report(s, FL_E0210, where->name.span,
                       "`where` says of which elements of an array or column `%s` is, and here it is %s",
                       bi->name, c->n_rest ? "of several values" : "of the columns of each row");
    fl_diag_help(s->sink, d, "put the condition around it: `if condition { %s(...) } else { ... }`",
                 bi->name);
    return false;
  }
  if (!fl_actual_given(&c->args[0])) { /* count(where = c) */
    c->args[0] = *where;
    *where = (FlActual){0};
    return true;
  }
  bool pair =
      (bi->kinds & FL_BUILTIN_AGGREGATE) && fl_aggregate_info[fl_aggregate_find(bi->data)].columns == 2;
  for (int i = 0; i <= pair; i++) c->args[i].only = where;
  return true;
}

FlVal fl_sema_call_builtin(FlSema *s, const FlBuiltin *bi, int n, FlActual *args, FlSpan span,
                           const FlType *want) {
  FlCallSite c = {.builtin = bi, .span = span, .want = want};
  if (!bind_all(s, &c, n, args)) return fl_val_error(s);
  for (int k = 0; k < bi->n_params; k++) {
    c.args[k].groups = k == 0 && (bi->kinds & FL_BUILTIN_VERB);
    c.args[k].taker = bi->name;
  }
  for (int i = 0; i < c.n_rest; i++) {
    c.rest[i].groups = false;
    c.rest[i].taker = bi->name;
  }
  if (!take_where(s, &c)) return fl_val_error(s);
  FlVal v = bi->fn(s, &c);
  keep_arguments(s, &c);
  return v;
}

/* ---- arguments of common shapes ---- */

static bool scalar_actual(FlSema *s, FlActual *a, FlDtype d, FlValue **out) {
  FlVal v = fl_actual_value(s, a, fl_type_scalar(s->types, d, false));
  if (fl_val_bad(v)) return false;
  v = fl_val_coerce(s, v, fl_type_scalar(s->types, d, false), a->span, "this argument");
  if (fl_val_bad(v)) return false;
  *out = v.parts[0];
  return true;
}

bool fl_actual_i64(FlSema *s, FlActual *a, FlValue **out) { return scalar_actual(s, a, FL_I64, out); }
bool fl_actual_f64(FlSema *s, FlActual *a, FlValue **out) { return scalar_actual(s, a, FL_F64, out); }

bool fl_actual_const_i(FlSema *s, FlActual *a, int64_t *out) {
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  if (fl_val_const_i(v, out) && fl_dtype_is_int(v.type->dtype)) return true;
  fl_sema_error(s, FL_E0324, a->span, "this must be a whole number that is known when compiling");
  return false;
}

bool fl_actual_const_text(FlSema *s, FlActual *a, const char **out) {
  const FlExpr *e = a->expr;
  if (e && e->kind == FL_EXPR_TEXT && e->text.parts.n <= 1 &&
      (e->text.parts.n == 0 || !e->text.parts.at[0].value)) {
    *out = e->text.parts.n ? e->text.parts.at[0].bytes : "";
    return true;
  }
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  if (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT && !v.type->nullable && v.parts[0]->op &&
      v.parts[0]->op->code == FL_OP_CONST) {
    *out = v.parts[0]->op->attrs.s;
    return true;
  }
  fl_sema_error(s, FL_E0324, a->span, "this must be a text that is known when compiling");
  return false;
}

bool fl_actual_const_bool(FlSema *s, FlActual *a, bool *out) {
  FlVal v = fl_actual_value(s, a, NULL);
  int64_t i;
  if (fl_val_bad(v)) return false;
  if (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_BOOL && fl_val_const_i(v, &i)) {
    *out = i != 0;
    return true;
  }
  fl_sema_error(s, FL_E0324, a->span, "this must be true or false, known when compiling");
  return false;
}
