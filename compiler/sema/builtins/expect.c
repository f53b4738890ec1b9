/* expect.c: what functions of the library ask of values that no written type says: are these labels, or
 * numbers that were measured or computed?
 *
 * In: an array. Out: the same array. Always holds: both are asked while compiling, and what is wrong is shown
 * at the call into the library. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"

static FlVal expect(FlSema *s, FlCallSite *c, bool labels) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  const FlType *t = v.type;
  const char *name = NULL;
  if (!fl_actual_const_text(s, &c->args[1], &name)) return fl_val_error(s);
  FlSpan span = c->span;
  if (t->kind != FL_TY_ARRAY)
    return fl_sema_error(s, FL_E0325, span, "`%s` is an array, and this is %s", name, fl_val_text(s, v));
  if (t->nullable) {
    FlDiag *d = fl_sema_report(s, FL_E0325, span, "`%s` may hold null: it is %s", name, fl_val_text(s, v));
    fl_diag_help(s->sink, d, "leave such rows out, `drop_null`, or say what null means, `??`");
    return fl_val_error(s);
  }
  bool number = fl_dtype_is_number(t->dtype), is_float = fl_dtype_is_float(t->dtype);
  bool label = t->rank == 1 && (t->dtype == FL_BOOL || t->dtype == FL_TEXT || t->dtype == FL_CATEGORY ||
                                (number && !is_float));
  if (labels ? label : is_float) return v;
  FlDiag *d = fl_sema_report(s, FL_E0325, span,
                             labels ? "`%s` are labels: bools, integers, texts or a category, and this is %s"
                                    : "`%s` are probabilities, f64 from 0 to 1, and this is %s",
                             name, fl_val_text(s, v));
  if (labels && is_float)
    fl_diag_help(s->sink, d,
                 "what was observed comes first, then what was predicted; labels of probabilities are "
                 "`prob > 0.5`, or `predict_label` of the model");
  else if (!labels)
    fl_diag_help(s->sink, d,
                 "what was observed comes first, then its probabilities: `predict_prob` of the model");
  return fl_val_error(s);
}

FlVal fl_builtin_expect_labels(FlSema *s, FlCallSite *c) { return expect(s, c, true); }
FlVal fl_builtin_expect_probabilities(FlSema *s, FlCallSite *c) { return expect(s, c, false); }
