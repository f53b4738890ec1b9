/* outside.c: what a script learns of the world when it starts, besides its params: now, today, env.
 *
 * In: calls at the top level. Out: NOW and ENV ops of the main function. What always holds: pure code gets
 * such a value only as an argument or through a `let`, so it enters the keys of stages like a param. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/lift.h"
#include "sema/value.h"

static bool allowed(FlSema *s, const FlCallSite *c) {
  if (!s->pure) return true;
  const char *name = c->builtin->name;
  FlDiag *d = fl_sema_report(s, FL_E0280, c->span,
                             "`%s` is different from run to run and cannot be used in %s", name, s->pure);
  fl_diag_help(s->sink, d, "call `%s` in a `let` at the top level of the script, and use that name here",
               name);
  return false;
}

FlVal fl_builtin_now(FlSema *s, FlCallSite *c) {
  if (!allowed(s, c)) return fl_val_error(s);
  FlType1 type = fl_t_scalar(FL_DATETIME);
  FlVal v = fl_val_scalar(s, FL_DATETIME, fl_ir_op(&s->b, FL_OP_NOW, 0, NULL, 1, &type, 0)->results[0]);
  if (c->builtin->op == FL_OP_NOW) return v;
  return fl_sema_lift_op(s, c->span, FL_OP_DATETIME_TO_DATE, 1, &v, FL_DATE, NULL);
}

FlVal fl_builtin_env(FlSema *s, FlCallSite *c) {
  if (!allowed(s, c)) return fl_val_error(s);
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  FlValue *args[2];
  int n = 0;
  for (int i = 0; i < 2; i++) {
    FlActual *a = &c->args[i];
    if (!fl_actual_given(a)) continue;
    FlVal v = fl_val_coerce(s, fl_actual_value(s, a, text), text, a->span, i ? "the default" : "the name");
    if (fl_val_bad(v)) return v;
    args[n++] = v.parts[0];
  }
  FlType1 type = fl_t_scalar(FL_TEXT);
  FlOp *op = fl_ir_op(&s->b, FL_OP_ENV, n, args, 1, &type, 0);
  op->span = fl_sema_place(s, c->span);
  return fl_val_scalar(s, FL_TEXT, op->results[0]);
}
