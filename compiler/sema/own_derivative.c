/* own_derivative.c: functions with `@derivative(f_vjp)`, which bring their derivative.
 *
 * In: a call of such a function while a derivative is made. Out: an op CUSTOM with two regions, what the
 * function does and what `f_vjp` does; ad/ takes the second for the first, and afterwards the op becomes its
 * first region. Always: outside of derivatives such a function is as any other.
 *
 * f_vjp takes the arguments of the function, then what it gave, then the adjoint of that, and gives the
 * adjoint of the parameter that is a float, an array of floats or a tuple of these; of several such
 * parameters a tuple with their names. */
#include "sema/attributes.h"
#include "sema/builtins/derivative.h"
#include "sema/call.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

#include <string.h>

static const FlAttribute *attribute_of(const FlStmt *decl) { return fl_attributes_find(decl, "derivative"); }

bool fl_derivative_is_own(FlSema *s, const FlBinding *fn) { return s->deriving && attribute_of(fn->decl); }

/* The function that the attribute names; NULL: reported. */
static FlBinding *vjp_of(FlSema *s, const FlBinding *fn) {
  const FlAttribute *a = attribute_of(fn->decl);
  const FlExpr *arg = a->args.n == 1 ? a->args.at[0].value : NULL;
  const char *name = arg && arg->kind == FL_EXPR_NAME ? arg->name.text : NULL;
  FlBinding *vjp = name ? fl_scope_find_in(fn->file->scope, name) : NULL;
  if (vjp && vjp->lost) return NULL;
  if (!vjp || vjp->kind != FL_BIND_FN) {
    FlDiag *d =
        fl_sema_report(s, FL_E0728, a->span, "`@derivative` takes the name of a function of this file%s%s%s",
                       name ? ", and `" : "", name ? name : "", name ? "` is none" : "");
    fl_diag_help(s->sink, d,
                 "`@derivative(f_vjp)`, with `fn f_vjp(..., y, g)`: the arguments, what `%s` gave, and the "
                 "adjoint of that",
                 fn->decl->fn.name.text);
    return NULL;
  }
  if (vjp->form) return vjp; /* the call chooses one */
  int n = vjp->decl->fn.params.n, want = fn->decl->fn.params.n + 2;
  if (n == want) return vjp;
  FlDiag *d = fl_sema_report(s, FL_E0728, vjp->decl->fn.name.span,
                             "`%s` takes %d argument%s, and as the derivative of `%s` it gets %d", name, n,
                             n == 1 ? "" : "s", fn->decl->fn.name.text, want);
  fl_diag_help(s->sink, d, "they are the arguments of `%s`, what it gave, and the adjoint of that",
               fn->decl->fn.name.text);
  return NULL;
}

bool fl_derivative_check(FlSema *s, const FlBinding *fn) { return !attribute_of(fn->decl) || vjp_of(s, fn); }

/* The type of what f_vjp gives: that of the only parameter of floats, or a tuple of several. NULL: there is
 * none. */
static const FlType *wanted(FlSema *s, const FlBinding *fn, const FlVal *values, bool *by) {
  int n = fn->decl->fn.params.n, found = 0;
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, n + 1);
  for (int p = 0; p < n; p++) {
    by[p] = fl_derivative_by(s, values[p].type);
    if (by[p])
      fields[found++] = (FlTyField){.name = fn->decl->fn.params.at[p].name.text, .type = values[p].type};
  }
  if (found < 2) return found ? fields[0].type : NULL;
  return fl_type_tuple(s->types, found, fields, NULL);
}

/* Values of these types from the parameters of the region, `*at` on. */
static FlVal from_params(FlSema *s, const FlRegion *r, const FlType *type, int *at) {
  FlVal v = fl_val_make(s, type, r->params + *at);
  *at += type->n_parts;
  return v;
}

static FlVal call_vjp(FlSema *s, FlBinding *vjp, int n, FlVal *values, const FlType *want, FlSpan span) {
  FlActual *args = FL_NEW_ARRAY(s->arena, FlActual, n);
  for (int i = 0; i < n; i++) args[i] = (FlActual){.value = values[i], .span = span};
  FlVal v = fl_sema_call_binding(s, vjp, n, args, span);
  if (fl_val_bad(v)) return v;
  if (!fl_val_fits(s, v, want))
    return fl_sema_error(s, FL_E0729, vjp->decl->fn.name.span,
                         "`%s` gives %s, and as a derivative it gives %s", vjp->decl->fn.name.text,
                         fl_val_text(s, v), fl_type_brief(s->types, want));
  return fl_val_coerce(s, v, want, span, "the derivative");
}

/* The parts of the derivative have the sizes of the arguments. false: reported. */
static bool same_sizes(FlSema *s, FlVal g, int n, const FlVal *args, const bool *by, FlSpan span) {
  int at = 0;
  for (int p = 0; p < n; p++)
    for (int k = 0; by[p] && k < args[p].type->n_parts; k++, at++)
      for (int d = 0; d < g.parts[at]->type.rank; d++)
        if (!fl_sema_same_size(s, fl_sema_size(s, fl_ir_dim(&s->b, g.parts[at], d)),
                               fl_sema_size(s, fl_ir_dim(&s->b, args[p].parts[k], d)), span,
                               "the derivative has {a} elements where the argument has {b}"))
          return false;
  return true;
}

FlVal fl_derivative_own(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                        FlInlineCall *call) {
  FlBinding *vjp = vjp_of(s, fn);
  int n = fn->decl->fn.params.n, parts = 0, at = 0;
  bool *by = FL_NEW_ARRAY(s->arena, bool, n + 1);
  if (!vjp) return fl_val_error(s);
  for (int p = 0; p < n; p++) {
    if (values[p].type->kind == FL_TY_FUNC) return call(s, fn, values, spans, span);
    parts += values[p].type->n_parts;
  }
  const FlType *want = wanted(s, fn, values, by);
  if (!want) return call(s, fn, values, spans, span);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, parts + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, parts + 1);
  for (int p = 0; p < n; p++)
    for (int k = 0; k < values[p].type->n_parts; k++) args[at++] = values[p].parts[k];
  for (int k = 0; k < parts; k++) types[k] = args[k]->type;
  FlOp *op = fl_ir_op(&s->b, FL_OP_CUSTOM, parts, args, 0, NULL, 2);
  op->attrs.s = vjp->decl->fn.name.text;
  /* what it does */
  FlRegion *r = fl_ir_region(&s->b, op, 0, parts, types);
  FlVal *inside = FL_NEW_ARRAY(s->arena, FlVal, n + 2);
  FlSavedPlace saved = fl_sema_enter(s, r);
  int deriving = s->deriving;
  s->deriving = 0; /* what stands in the regions is called as anywhere */
  at = 0;
  for (int p = 0; p < n; p++)
    inside[p] = fl_derivative_sized_as(s, from_params(s, r, values[p].type, &at), values[p]);
  FlVal y = call(s, fn, inside, spans, span);
  fl_sema_leave(s, saved);
  s->deriving = deriving;
  if (fl_val_bad(y) || !fl_derivative_by(s, y.type)) fl_ir_remove(op); /* it is not finished */
  if (fl_val_bad(y)) return y;
  if (!fl_derivative_by(s, y.type))
    return fl_sema_error(s, FL_E0729, span,
                         "a function with `@derivative` gives floats, and this one gives %s",
                         fl_val_text(s, y));
  int n_y = y.type->n_parts;
  FlType1 *results = FL_NEW_ARRAY(s->arena, FlType1, n_y + 1);
  for (int k = 0; k < n_y; k++) results[k] = y.parts[k]->type;
  fl_ir_yield(r, s->module, n_y, y.parts);
  fl_ir_add_results(&s->b, op, n_y, results);
  FlVal out = fl_val_make(s, y.type, op->results);
  /* its derivative */
  FlType1 *all = FL_NEW_ARRAY(s->arena, FlType1, parts + 2 * n_y + 1);
  memcpy(all, types, sizeof *all * (size_t)parts);
  for (int k = 0; k < 2 * n_y; k++) all[parts + k] = results[k % n_y];
  r = fl_ir_region(&s->b, op, 1, parts + 2 * n_y, all);
  saved = fl_sema_enter(s, r);
  s->deriving = 0;
  at = 0;
  for (int p = 0; p < n; p++)
    inside[p] = fl_derivative_sized_as(s, from_params(s, r, values[p].type, &at), values[p]);
  inside[n] = from_params(s, r, y.type, &at);
  inside[n + 1] = from_params(s, r, y.type, &at);
  FlVal g = call_vjp(s, vjp, n + 2, inside, want, span);
  bool ok = !fl_val_bad(g) && same_sizes(s, g, n, inside, by, vjp->decl->fn.name.span);
  fl_sema_leave(s, saved);
  s->deriving = deriving;
  if (!ok) {
    fl_ir_remove(op);
    return fl_val_error(s);
  }
  /* One yield an argument: its adjoint, or false where there is none. */
  FlBuilder end = s->b;
  end.region = r;
  end.before = NULL;
  int from = 0;
  at = 0;
  for (int p = 0; p < n; p++)
    for (int k = 0; k < values[p].type->n_parts; k++)
      args[at++] = by[p] ? g.parts[from++] : fl_ir_const_i(&end, FL_BOOL, 0);
  fl_ir_yield(r, s->module, parts, args);
  return out;
}
