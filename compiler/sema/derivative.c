/* derivative.c: grad(f) and value_and_grad(f): functions that give derivatives.
 *
 * In: a function value. Out: a function value; when it is called, the call of f is elaborated in a region of
 * its own, whose parameters are the leaves of the first argument; ad/ adds the way back, and all of it goes
 * where the call stands. Always: the region depends on its parameters only where f depends on its first
 * argument, even if f also sees the same value by another name. */
#include "sema/derivative.h"

#include "ad/ad.h"

/* ---- grad(f) ---- */

FlVal fl_builtin_derivative(FlSema *s, FlCallSite *c) {
  FlVal f = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(f)) return f;
  if (f.type->kind != FL_TY_FUNC) {
    FlDiag *d = fl_sema_report(s, FL_E0325, c->args[0].span, "`%s` takes a function, and this is %s",
                               c->builtin->name, fl_val_text(s, f));
    fl_diag_help(s->sink, d, "write `%s(f)(x)` for the derivative of `f` at x", c->builtin->name);
    return fl_val_error(s);
  }
  FlClosure closure = {.derived = f.fn, .with_value = c->builtin->data[0] != '\0', .frame = s->frame};
  return (FlVal){.type = s->types->func, .fn = fl_arena_copy(s->arena, &closure, sizeof closure)};
}

/* ---- its call ---- */

/* The leaves that derivatives are taken by are floats. `path`: the fields that lead to this one, ".a.b". */
static bool leaves_ok(FlSema *s, const FlType *t, const char *path, FlSpan span) {
  bool plain = (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) && !t->nullable;
  if (plain && fl_dtype_is_float(t->dtype)) return true;
  if (t->kind == FL_TY_TUPLE) {
    for (int i = 0; i < t->n_fields; i++)
      if (!leaves_ok(s, t->fields[i].type, fl_arena_printf(s->arena, "%s.%s", path, t->fields[i].name), span))
        return false;
    return true;
  }
  const char *what = path[0] ? fl_arena_printf(s->arena, "`%s` of ", path) : "";
  FlDiag *d = fl_sema_report(s, FL_E0721, span, "there is no derivative by %sthe first argument, which is %s",
                             what, fl_type_text(s->types, t));
  fl_diag_help(
      s->sink, d,
      "derivatives are by floats, arrays of floats, and tuples of these; give the rest as another argument");
  return false;
}

/* The first argument as the function declares it, so that its numbers are floats before it is taken apart. */
static FlVal as_declared(FlSema *s, const FlClosure *f, FlVal v, FlSpan span) {
  const FlType *want = NULL;
  while (f->derived) f = f->derived;
  if (f->named && f->named->decl->fn.params.n && f->named->decl->fn.params.at[0].type) {
    const FlTypeExpr *t = f->named->decl->fn.params.at[0].type;
    FlScope *outer = s->scope;
    FlFile *file = s->file;
    s->scope = f->named->file->scope;
    s->file = f->named->file;
    if (t->kind != FL_TE_TYPEOF) want = fl_type_of_expr(s, t);
    s->scope = outer;
    s->file = file;
  }
  if (!want && v.literal == FL_LIT_INT) want = fl_type_scalar(s->types, FL_F64, false);
  if (want && fl_val_fits(s, v, want)) v = fl_val_coerce(s, v, want, span, "the argument");
  v.literal = FL_LIT_NONE;
  return v;
}

/* The parts of v have the sizes of those of x. */
static FlVal sized_as(FlSema *s, FlVal v, FlVal x) {
  for (int k = 0; k < x.type->n_parts; k++)
    for (int d = 0; d < x.parts[k]->type.rank; d++)
      fl_sema_alias(s, fl_ir_dim(&s->b, v.parts[k], d), fl_sema_size(s, fl_ir_dim(&s->b, x.parts[k], d)));
  return v;
}

/* Elaborates the call and the way back in r, which yields the value and the derivatives. false: reported. */
static bool derive(FlSema *s, const FlClosure *f, FlRegion *r, FlVal x, int n, FlActual *args, FlSpan span,
                   const FlType **type) {
  FlSavedPlace saved = fl_sema_enter(s, r);
  args[0] = (FlActual){.value = sized_as(s, fl_val_make(s, x.type, r->params), x), .span = args[0].span};
  FlVal y = fl_call_value(s, f, n, args, span, NULL);
  bool ok = !fl_val_bad(y);
  if (ok && (y.type->kind != FL_TY_SCALAR || y.type->nullable || !fl_dtype_is_float(y.type->dtype))) {
    fl_sema_error(s, FL_E0722, span,
                  "a derivative is of a function that gives one float, and this one gives %s",
                  fl_val_text(s, y));
    ok = false;
  }
  int parts = x.type->n_parts;
  FlValue **out = FL_NEW_ARRAY(s->arena, FlValue *, parts + 1);
  FlAdFailure why;
  if (ok) {
    *type = y.type;
    FlValue *one = fl_ir_const_f(&s->b, y.type->dtype, 1.0);
    FlSpan outer = s->b.span;
    ok = fl_ad_reverse(&s->b, r, &y.parts[0], one, parts, r->params, out + 1, &why);
    s->b.span = outer;
    out[0] = y.parts[0];
    if (!ok) {
      FlDiag *d = fl_sema_report(s, FL_E0720, why.span, "no derivative goes through %s yet", why.what);
      fl_diag_note(s->sink, d, span, "the derivative is asked for here");
    }
  }
  fl_sema_leave(s, saved);
  if (ok) fl_ir_yield(r, s->module, parts + 1, out);
  return ok;
}

FlVal fl_derivative_call(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span) {
  for (int i = 0; i < n; i++) {
    FlVal v = fl_actual_value(s, &args[i], NULL);
    if (fl_val_bad(v)) return v;
  }
  if (n == 0 || args[0].name.text)
    return fl_sema_error(s, FL_E0210, span,
                         "a derivative needs the value that it is taken at, as the first argument");
  FlVal x = as_declared(s, c->derived, args[0].value, args[0].span);
  if (fl_val_bad(x) || !leaves_ok(s, x.type, "", args[0].span)) return fl_val_error(s);
  int parts = x.type->n_parts;
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, parts + 1);
  fl_type_parts(x.type, types);
  FlOp *holder = fl_ir_op(&s->b, FL_OP_IF, 0, NULL, 0, NULL, 1); /* holds the region while it is made */
  FlRegion *r = fl_ir_region(&s->b, holder, 0, parts, types);
  const FlType *value_type = NULL;
  bool ok = derive(s, c->derived, r, x, n, args, span, &value_type);
  FlValue **out = FL_NEW_ARRAY(s->arena, FlValue *, parts + 1);
  if (ok) fl_ir_inline_region(&s->b, r, x.parts, out);
  fl_ir_remove(holder);
  if (!ok) return fl_val_error(s);
  FlVal gradient = sized_as(s, fl_val_make(s, x.type, out + 1), x);
  if (!c->with_value) return gradient;
  FlVal pair[2] = {fl_val_make(s, value_type, out), gradient};
  const char *names[2] = {fl_intern_z(s->names, "0"), fl_intern_z(s->names, "1")};
  return fl_val_tuple(s, 2, names, pair, NULL);
}
