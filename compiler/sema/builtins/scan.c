/* scan.c: values that run along: scan(f, init, x), the running sum scan(for ...: e), and fold(f, init, x).
 *
 * In: a function of the state and an element, the first state, what to go over. Out: scan: a SCAN op, the
 * state after each element, so as many as there are elements; fold: a FOR op, the state after the last. What
 * always holds: elements are taken from first to last, one after the other, whatever f is; so the bits are
 * those of the loop. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"

FlBuiltinFn fl_builtin_cumulative;

static FlVal running_sum(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (x.type->kind == FL_TY_FUNC) {
    FlDiag *d = fl_sema_report(s, FL_E0210, c->span,
                               "`scan` of a function needs the first state and what to go over");
    fl_diag_help(s->sink, d,
                 "write `scan((state, v) => ..., init, x)`, or `scan(for v in x: v)` for the running sum");
    return fl_val_error(s);
  }
  return fl_builtin_cumulative(s, c);
}

/* Elaborates in r, whose parameters are a position and a state, what f makes of that state and of the element
 * of x there, and yields it. false: reported. */
static bool step(FlSema *s, FlCallSite *c, FlRegion *r, FlClosure *f, FlVal state, FlVal x) {
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlVal pair[2] = {fl_val_join(s, state.type, NULL, r->params + 1, state),
                   fl_sema_at(s, x, r->params[0], true)};
  FlVal next = fl_sema_apply(s, f, 2, pair, c->span);
  if (!fl_val_bad(next)) next = fl_val_coerce(s, next, state.type, c->args[0].span, "the new state");
  if (!fl_val_bad(next)) next = fl_levels_adopt(s, next, state, c->args[0].span);
  if (!fl_val_bad(next)) {
    FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, next.type->n_parts + 1);
    fl_ir_yield(r, s->module, fl_val_cut(next, yields), yields);
  }
  fl_sema_leave(s, saved);
  return !fl_val_bad(next);
}

static bool is_scalars(const FlType *t) {
  bool all = t->kind == FL_TY_SCALAR || t->kind == FL_TY_TUPLE;
  for (int i = 0; t->kind == FL_TY_TUPLE && i < t->n_fields; i++)
    all = all && t->fields[i].type->kind == FL_TY_SCALAR;
  return all && t->n_parts > 0;
}

FlVal fl_builtin_scan(FlSema *s, FlCallSite *c) {
  if (!fl_actual_given(&c->args[1]) && !fl_actual_given(&c->args[2])) return running_sum(s, c);
  if (!fl_actual_given(&c->args[2])) {
    fl_sema_error(s, FL_E0210, c->span, "`scan` needs what to go over: scan(f, init, x)");
    return fl_val_error(s);
  }
  FlVal f = fl_actual_value(s, &c->args[0], NULL), state = fl_actual_value(s, &c->args[1], NULL),
        x = fl_actual_value(s, &c->args[2], NULL);
  if (fl_val_bad(f) || fl_val_bad(state) || fl_val_bad(x)) return fl_val_error(s);
  if (f.type->kind != FL_TY_FUNC)
    return fl_sema_error(s, FL_E0325, c->args[0].span,
                         "`scan` takes a function of the state and an element, and this "
                         "is %s",
                         fl_val_text(s, f));
  if (x.type->kind != FL_TY_ARRAY && x.type->kind != FL_TY_TABLE && x.type->kind != FL_TY_LIST)
    return fl_sema_error(s, FL_E0325, c->args[2].span,
                         "`scan` goes over an array, a table or a list, and this is %s", fl_val_text(s, x));
  if (!is_scalars(state.type)) {
    FlDiag *d = fl_sema_report(s, FL_E0325, c->args[1].span,
                               "the state of `scan` is a scalar or a tuple of scalars, and this is %s",
                               fl_val_text(s, state));
    fl_diag_help(s->sink, d,
                 "where only the last state is wanted, use `fold(f, init, x)`, which takes any state");
    return fl_val_error(s);
  }
  const FlType *many = fl_type_many(s->types, state.type);
  FlValue *rows = fl_sema_dim(s, x, 0);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, state.type->n_parts + 1);
  int n = fl_val_cut(state, args + 1);
  FlType1 *in = FL_NEW_ARRAY(s->arena, FlType1, n + 1), *out = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  args[0] = rows;
  in[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n; i++) {
    in[i + 1] = args[i + 1]->type;
    out[i] = fl_t_array((FlDtype)in[i + 1].dtype, 1);
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_SCAN, n + 1, args, n, out, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, n + 1, in);
  if (!step(s, c, r, f.fn, state, x)) return fl_val_error(s);
  return fl_val_join(s, many, rows, op->results, state);
}

/* ---- the last state alone ---- */

FlVal fl_builtin_fold(FlSema *s, FlCallSite *c) {
  FlVal f = fl_actual_value(s, &c->args[0], NULL), state = fl_actual_value(s, &c->args[1], NULL),
        x = fl_actual_value(s, &c->args[2], NULL);
  if (fl_val_bad(f) || fl_val_bad(state) || fl_val_bad(x)) return fl_val_error(s);
  if (f.type->kind != FL_TY_FUNC)
    return fl_sema_error(s, FL_E0325, c->args[0].span,
                         "`fold` takes a function of the state and an element, and this is %s",
                         fl_val_text(s, f));
  if (x.type->kind != FL_TY_ARRAY && x.type->kind != FL_TY_TABLE && x.type->kind != FL_TY_LIST)
    return fl_sema_error(s, FL_E0325, c->args[2].span,
                         "`fold` takes an array, a table or a list, and this is %s", fl_val_text(s, x));
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, state.type->n_parts + 2);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, state.type->n_parts + 2);
  args[0] = fl_sema_i64(s, 0);
  args[1] = fl_sema_dim(s, x, 0);
  int n = fl_val_cut(state, args + 2);
  types[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n; i++) types[1 + i] = args[2 + i]->type;
  FlOp *op = fl_ir_op(&s->b, FL_OP_FOR, n + 2, args, n, types + 1, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, n + 1, types);
  if (!step(s, c, r, f.fn, state, x)) return fl_val_error(s);
  return fl_val_join(s, state.type, NULL, op->results, state);
}
