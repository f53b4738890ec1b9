/* builtin.c: the table of builtins, and how a call's arguments find their parameters. */
#include "sema/sema_internal.h"

#define FL_BUILTIN(name, params, handler, op, data, doc) FlBuiltinFn fl_builtin_##handler;
#include "sema/builtins.def"
#undef FL_BUILTIN

static const FlBuiltin builtins[] = {
#define FL_BUILTIN(name, params, handler, op, data, doc)                                                     \
  {#name, params, fl_builtin_##handler, FL_OP_##op, data, doc},
#include "sema/builtins.def"
#undef FL_BUILTIN
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

const FlBuiltin *fl_builtin_find(const char *name) {
  for (int i = 0; i < N_BUILTINS; i++)
    if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
  return NULL;
}

const char *fl_builtin_closest(FlSema *s, const char *name) {
  FlVec(const char *) all = {0};
  for (int i = 0; i < N_BUILTINS; i++) fl_vec_push(s->arena, &all, builtins[i].name);
  for (FlScope *scope = s->scope; scope; scope = scope->parent)
    for (int i = 0; i < scope->names.n; i++)
      if (scope->names.at[i]->kind == FL_BIND_FN) fl_vec_push(s->arena, &all, scope->names.at[i]->name);
  return fl_closest(name, all.at, all.n);
}

/* ---- parameters ---- */

enum { MAX_PARAMS = 12 };

typedef struct Params {
  int n;
  const char *name[MAX_PARAMS];
  bool optional[MAX_PARAMS], by_name[MAX_PARAMS];
  bool rest;
} Params;

static Params read_params(FlSema *s, const FlBuiltin *bi) {
  Params p = {0};
  for (const char *at = bi->params; *at;) {
    while (*at == ' ' || *at == ',') at++;
    if (!*at) break;
    if (strncmp(at, "...", 3) == 0) {
      p.rest = true;
      at += 3;
      continue;
    }
    bool by_name = *at == '*';
    if (by_name) at++;
    const char *end = at;
    while (*end && *end != ',' && *end != '=') end++;
    p.name[p.n] = fl_intern(s->names, at, (size_t)(end - at));
    p.by_name[p.n] = by_name;
    p.optional[p.n++] = *end == '=';
    at = *end == '=' ? end + 1 : end;
  }
  return p;
}

FlVal fl_sema_call_builtin(FlSema *s, const FlBuiltin *bi, int n, FlActual *args, FlSpan span,
                           const FlType *want) {
  Params p = read_params(s, bi);
  FlCallSite c = {.builtin = bi, .span = span, .want = want};
  c.args = FL_NEW_ARRAY(s->arena, FlActual, p.n + 1);
  c.rest = FL_NEW_ARRAY(s->arena, FlActual, n + 1);
  int next = 0;
  for (int i = 0; i < n; i++) {
    int k = -1;
    if (args[i].name.text) {
      for (int j = 0; j < p.n; j++)
        if (p.name[j] == args[i].name.text && (!p.rest || p.optional[j])) k = j;
      if (k < 0 && p.rest) {
        c.rest[c.n_rest++] = args[i];
        continue;
      }
      if (k < 0) {
        FlDiag *d = fl_sema_report(s, FL_E0209, args[i].name.span, "`%s` has no parameter `%s`", bi->name,
                                   args[i].name.text);
        const char *near = fl_closest(args[i].name.text, p.name, p.n);
        if (near) fl_diag_help(s->sink, d, "did you mean `%s`?", near);
        return fl_val_error(s);
      }
      if (fl_actual_given(&c.args[k]))
        return fl_sema_error(s, FL_E0211, args[i].span, "`%s` is given twice", p.name[k]);
    } else {
      while (next < p.n && (fl_actual_given(&c.args[next]) || p.by_name[next])) next++;
      if (next < p.n) {
        k = next++;
      } else if (p.rest) {
        c.rest[c.n_rest++] = args[i];
        continue;
      } else {
        int most = 0;
        for (int j = 0; j < p.n; j++) most += !p.by_name[j];
        return fl_sema_error(s, FL_E0210, args[i].span,
                             "`%s` takes %d argument%s by position, and this is one more", bi->name, most,
                             most == 1 ? "" : "s");
      }
    }
    c.args[k] = args[i];
  }
  for (int j = 0; j < p.n; j++)
    if (!p.optional[j] && !fl_actual_given(&c.args[j])) {
      FlDiag *d = fl_sema_report(s, FL_E0210, span, "`%s` needs an argument for `%s`", bi->name, p.name[j]);
      fl_diag_help(s->sink, d, "it is called as `%s(%s)`: %s", bi->name, bi->params, bi->doc);
      return fl_val_error(s);
    }
  return bi->fn(s, &c);
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
