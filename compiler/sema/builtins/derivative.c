/* derivative.c: grad(f), value_and_grad(f) and jvp(f): functions that give derivatives.
 *
 * In: a function value. Out: a function value; when it is called, the call of f is elaborated in a region of
 * its own, whose parameters are the leaves of the first argument (of jvp also those of the direction); ad/
 * adds the way back, or the tangents, and all of it goes where the call stands. Always: the region depends on
 * its parameters only where f depends on its first argument, even if f also sees the same value by another
 * name. */
#include "sema/builtins/builtin.h"
#include "sema/builtins/derivative.h"
#include "sema/call.h"
#include "sema/place.h"
#include "sema/type_expr.h"
#include "sema/value.h"

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
  const char *kind = c->builtin->data;
  FlClosure closure = {
      .derived = f.fn, .with_value = kind[0] != '\0', .forward = kind[0] == 'j', .frame = s->frame};
  return (FlVal){.type = s->types->func, .fn = fl_arena_copy(s->arena, &closure, sizeof closure)};
}

/* ---- its call ---- */

/* The first leaf that is neither a float nor an array of floats, and the fields that lead to it, ".a.b";
 * NULL: there is none. */
static const FlType *other_leaf(FlSema *s, const FlType *t, const char **path) {
  bool plain = (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) && !t->nullable;
  if (plain && fl_dtype_is_float(t->dtype)) return NULL;
  if (t->kind != FL_TY_TUPLE) return t;
  const char *outer = *path;
  for (int i = 0; i < t->n_fields; i++) {
    *path = fl_arena_printf(s->arena, "%s.%s", outer, t->fields[i].name);
    const FlType *other = other_leaf(s, t->fields[i].type, path);
    if (other) return other;
  }
  return NULL;
}

bool fl_derivative_by(FlSema *s, const FlType *t) {
  const char *path = "";
  return !other_leaf(s, t, &path);
}

/* The leaves that derivatives are taken by are floats. */
static bool leaves_ok(FlSema *s, const FlType *whole, FlSpan span) {
  const char *path = "";
  const FlType *t = other_leaf(s, whole, &path);
  if (!t) return true;
  const char *what = path[0] ? fl_arena_printf(s->arena, "`%s` of ", path) : "";
  FlDiag *d = fl_sema_report(s, FL_E0721, span, "there is no derivative by %sthe first argument, which is %s",
                             what, fl_type_brief(s->types, t));
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
  v.literal = FL_LIT_NONE, v.exact = NULL;
  return v;
}

/* The parts of v have the sizes of those of x. */
FlVal fl_derivative_sized_as(FlSema *s, FlVal v, FlVal x) {
  for (int k = 0; k < x.type->n_parts; k++)
    for (int d = 0; d < x.parts[k]->type.rank; d++)
      fl_sema_alias(s, fl_ir_dim(&s->b, v.parts[k], d), fl_sema_size(s, fl_ir_dim(&s->b, x.parts[k], d)));
  return v;
}

static bool derived_ok(FlSema *s, bool ok, const FlAdFailure *why, FlSpan span) {
  if (ok) return true;
  FlDiag *d = fl_sema_report(s, FL_E0720, why->span, "no derivative goes through %s yet", why->what);
  fl_diag_note(s->sink, d, span, "the derivative is asked for here");
  return false;
}

/* What a derivative is of, in a region of its own: r has the leaves of x as its first parameters. */
typedef struct Derived {
  const FlClosure *f;
  FlRegion *r;
  FlVal x;
  const FlType *type; /* of the function's value, once it is called */
  FlValue **out;      /* what the region yields: the value's parts, then the derivative's */
  int n_out;
} Derived;

/* Calls the function in the region; false: reported. What was elaborated with errors has ops that are not
 * finished, also where its value is whole: there is no way through it. The error may be an earlier one: of
 * the syntax of a statement in the body, or of a value that the body takes from outside. */
static bool call_in(FlSema *s, Derived *d, int n, FlActual *args, FlSpan span, FlVal *y) {
  int before = s->sink->n_raised;
  FlVal inside = fl_derivative_sized_as(s, fl_val_make(s, d->x.type, d->r->params), d->x);
  args[0] = (FlActual){.value = inside, .span = args[0].span};
  *y = fl_call_value(s, d->f, n, args, span, NULL);
  d->type = y->type;
  if (fl_val_bad(*y) || s->sink->n_raised != before) return false;
  return s->sink->n_errors == 0 || fl_ir_is_whole(d->r);
}

/* The value and the derivatives by the leaves of x. */
static bool backwards(FlSema *s, Derived *d, int n, FlActual *args, FlSpan span) {
  FlVal y;
  if (!call_in(s, d, n, args, span, &y)) return false;
  if (y.type->kind != FL_TY_SCALAR || y.type->nullable || !fl_dtype_is_float(y.type->dtype)) {
    fl_sema_error(s, FL_E0722, span,
                  "a derivative is of a function that gives one float, and this one gives %s",
                  fl_val_text(s, y));
    return false;
  }
  int parts = d->x.type->n_parts;
  FlAdFailure why;
  d->n_out = parts + 1;
  d->out = FL_NEW_ARRAY(s->arena, FlValue *, parts + 1);
  FlValue *one = fl_ir_const_f(&s->b, y.type->dtype, 1.0);
  bool ok = fl_ad_reverse(&s->b, d->r, &y.parts[0], one, parts, d->r->params, d->out + 1, &why);
  d->out[0] = y.parts[0];
  return derived_ok(s, ok, &why, span);
}

/* The value and its derivative along the direction that the other parameters of the region are. */
static bool forwards(FlSema *s, Derived *d, int n, FlActual *args, FlSpan span) {
  FlVal y;
  if (!call_in(s, d, n, args, span, &y)) return false;
  const char *path = "";
  const FlType *other = other_leaf(s, y.type, &path);
  if (other) {
    FlDiag *diag =
        fl_sema_report(s, FL_E0727, span, "`jvp` is of a function that gives floats, and %s%s%s %s",
                       path[0] ? "`" : "", path[0] ? path : "this one gives",
                       path[0] ? "` of what this one gives is" : "", fl_type_brief(s->types, other));
    fl_diag_help(s->sink, diag, "it gives a float, an array of floats, or a tuple of these");
    return false;
  }
  int parts = d->x.type->n_parts, n_y = y.type->n_parts;
  FlAdFailure why;
  d->n_out = 2 * n_y;
  d->out = FL_NEW_ARRAY(s->arena, FlValue *, 2 * n_y + 1);
  for (int k = 0; k < n_y; k++) d->out[k] = y.parts[k];
  bool ok =
      fl_ad_forward(&s->b, d->r, parts, d->r->params, d->r->params + parts, n_y, d->out, d->out + n_y, &why);
  return derived_ok(s, ok, &why, span);
}

static FlVal pair_of(FlSema *s, FlVal first, FlVal second) {
  FlVal pair[2] = {first, second};
  const char *names[2] = {fl_intern_z(s->names, "0"), fl_intern_z(s->names, "1")};
  return fl_val_tuple(s, 2, names, pair, NULL);
}

/* The direction of jvp(f)(x, v): of the type and the sizes of x. false: reported. */
static bool direction(FlSema *s, FlVal x, int n, FlActual *args, FlSpan span, FlVal *v) {
  if (n < 2 || args[1].name.text) {
    FlDiag *d = fl_sema_report(s, FL_E0210, span, "`jvp` needs the direction, as the second argument");
    fl_diag_help(s->sink, d, "`jvp(f)(p, v)` is of `f(p)` along v, which is of the type of p");
    return false;
  }
  *v = fl_val_coerce(s, args[1].value, x.type, args[1].span, "the direction");
  if (fl_val_bad(*v)) return false;
  for (int k = 0; k < x.type->n_parts; k++)
    for (int d = 0; d < x.parts[k]->type.rank; d++)
      if (!fl_sema_same_size(s, fl_sema_size(s, fl_ir_dim(&s->b, v->parts[k], d)),
                             fl_sema_size(s, fl_ir_dim(&s->b, x.parts[k], d)), args[1].span,
                             "the direction has {a} elements where the point has {b}"))
        return false;
  return true;
}

FlVal fl_derivative_call(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span) {
  for (int i = 0; i < n; i++) {
    FlVal v = fl_actual_value(s, &args[i], NULL);
    if (fl_val_bad(v)) return v;
  }
  if (n == 0 || args[0].name.text)
    return fl_sema_error(s, FL_E0210, span,
                         "a derivative needs the value that it is taken at, as the first argument");
  FlVal x = as_declared(s, c->derived, args[0].value, args[0].span), v = x;
  if (fl_val_bad(x) || !leaves_ok(s, x.type, args[0].span)) return fl_val_error(s);
  if (c->forward && !direction(s, x, n, args, span, &v)) return fl_val_error(s);
  int parts = x.type->n_parts, n_params = c->forward ? 2 * parts : parts;
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, 2 * parts + 1);
  FlValue **values = FL_NEW_ARRAY(s->arena, FlValue *, 2 * parts + 1);
  for (int k = 0; k < n_params; k++) values[k] = k < parts ? x.parts[k] : v.parts[k - parts];
  for (int k = 0; k < n_params; k++) types[k] = values[k]->type;
  FlActual *rest = FL_NEW_ARRAY(s->arena, FlActual, n + 1); /* what f gets: all but the direction */
  int n_rest = 0;
  for (int i = 0; i < n; i++)
    if (!c->forward || i != 1) rest[n_rest++] = args[i];
  FlOp *holder = fl_ir_op(&s->b, FL_OP_IF, 0, NULL, 0, NULL, 1); /* holds the region while it is made */
  Derived d = {.f = c->derived, .x = x, .r = fl_ir_region(&s->b, holder, 0, n_params, types)};
  FlSavedPlace saved = fl_sema_enter(s, d.r);
  FlSpan outer = s->b.span;
  s->deriving++;
  bool ok = (c->forward ? forwards : backwards)(s, &d, n_rest, rest, span);
  s->b.span = outer;
  s->deriving--;
  if (ok && !s->deriving) fl_ad_open(s->b, d.r, FL_OP_CUSTOM, d.n_out, d.out);
  fl_sema_leave(s, saved);
  if (ok) fl_ir_yield(d.r, s->module, d.n_out, d.out);
  FlValue **out = FL_NEW_ARRAY(s->arena, FlValue *, d.n_out + 1);
  if (ok) fl_ir_inline_region(&s->b, d.r, values, out);
  fl_ir_remove(holder);
  if (!ok) return fl_val_error(s);
  FlVal value = fl_val_make(s, d.type, out);
  if (c->forward) return pair_of(s, value, fl_val_make(s, d.type, out + d.n_out / 2));
  FlVal gradient = fl_derivative_sized_as(s, fl_val_make(s, x.type, out + 1), x);
  return c->with_value ? pair_of(s, value, gradient) : gradient;
}
