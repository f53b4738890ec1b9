/* decimal.c: decimal(x, scale): what makes a decimal of a number or a text.
 *
 * In: a call. Out: a constant where x stands in the script, else an operator of kern/scalar_decimal.h. What
 * always holds: the value is exactly x, or the run stops; only of a float it is the nearest. */
#include "data/number.h"
#include "sema/builtins/builtin.h"
#include "sema/builtins/scalar_args.h"
#include "sema/call.h"
#include "sema/decimal.h"
#include "sema/lift.h"
#include "sema/value.h"

/* The digits behind the point that a text which is known has. */
static bool text_type(const char *text, FlDtype *out) {
  int64_t units;
  const char *point = strchr(text, '.');
  int written = point ? (int)strspn(point + 1, "0123456789") : 0;
  for (int scale = written; scale <= FL_DECIMAL_DIGITS; scale++) {
    *out = fl_decimal_of_scale(scale);
    if (fl_parse_decimal(text, (int64_t)strlen(text), scale, &units)) return true;
  }
  return false;
}

/* scale =: 0 to 18, known while compiling. false: reported. */
static bool given_scale(FlSema *s, FlCallSite *c, bool *given, int64_t *scale) {
  *given = fl_actual_given(&c->args[1]);
  if (!*given) return true;
  if (!fl_actual_const_i(s, &c->args[1], scale)) return false;
  if (*scale >= 0 && *scale <= FL_DECIMAL_DIGITS) return true;
  fl_sema_error(s, FL_E0325, c->args[1].span,
                "a decimal has 0 to %d digits behind the point, and this is %lld", FL_DECIMAL_DIGITS,
                (long long)*scale);
  return false;
}

static FlVal by_scale(FlSema *s, FlCallSite *c, FlOpcode code, FlVal v, FlDtype d) {
  FlVal args[2] = {v, fl_val_i64(s, fl_decimal_scale(d))};
  return fl_sema_lift_op(s, c->span, code, 2, args, d, NULL);
}

static FlVal of_text(FlSema *s, FlCallSite *c, FlVal v, bool given, int64_t scale) {
  const char *text = fl_val_const_text(v);
  FlDtype d = fl_decimal_of_scale((int)scale);
  int64_t units;
  if (!given && !(text && text_type(text, &d))) {
    FlDiag *diag = fl_sema_report(s, FL_E0325, c->args[0].span,
                                  text ? "\"%s\" does not read as a decimal"
                                       : "how many digits are behind the point of these texts is not known%s",
                                  text ? text : "");
    if (!text) fl_diag_help(s->sink, diag, "say it: `decimal(x, 2)`");
    return fl_val_error(s);
  }
  if (text && fl_parse_decimal(text, (int64_t)strlen(text), fl_decimal_scale(d), &units))
    return fl_val_scalar(s, d, fl_ir_const_i(&s->b, d, units));
  return by_scale(s, c, FL_OP_PARSE_DECIMAL, v, d);
}

FlVal fl_builtin_decimal(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  bool given;
  int64_t scale = 0;
  if (fl_val_bad(v) || !given_scale(s, c, &given, &scale)) return fl_val_error(s);
  FlDtype d = fl_decimal_of_scale((int)scale);
  if (v.literal && !given && !fl_decimal_literal_type(v, &d))
    return fl_sema_error(s, FL_E0302, c->args[0].span, "a decimal has at most %d digits", FL_DECIMAL_DIGITS);
  if (v.literal) return fl_decimal_as(s, v, d, c->args[0].span);
  if (fl_val_is_plain(v) && v.type->dtype == FL_TEXT) return of_text(s, c, v, given, scale);
  if (fl_val_is_plain(v) && fl_dtype_is_int(v.type->dtype)) return fl_decimal_as(s, v, d, c->span);
  if (fl_val_is_decimal(v)) return given ? fl_decimal_as(s, v, d, c->span) : v;
  if (!fl_val_is_plain(v) || !fl_dtype_is_float(v.type->dtype))
    return fl_scalar_arg_wrong(s, c, &c->args[0], v, "a number or a text");
  if (!given) {
    FlDiag *diag = fl_sema_report(s, FL_E0325, c->args[0].span,
                                  "how many digits a float has behind the point is not known");
    fl_diag_help(s->sink, diag, "say it, `decimal(x, 2)`: the nearest decimal of so many");
    return fl_val_error(s);
  }
  if (v.type->dtype != FL_F64) v = fl_scalar_as(s, v, FL_F64, c->span);
  return by_scale(s, c, FL_OP_DECIMAL_OF_REAL, v, d);
}
