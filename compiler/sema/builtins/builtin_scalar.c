/* builtin_scalar.c: builtins that work element by element: mathematics, conversions, choice, nulls, and
 * operators on text that need no more than their signature. */
#include "kern/kern.h"
#include "sema/habits.h"
#include "sema/builtins/builtin.h"
#include "sema/decimal.h"
#include "sema/builtins/scalar_args.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/choose.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/value.h"

#include <stdlib.h>
#include <string.h>

FlVal fl_scalar_arg_wrong(FlSema *s, FlCallSite *c, FlActual *a, FlVal v, const char *takes) {
  FlDiag *d = fl_sema_report(s, FL_E0325, a->span, "`%s` takes %s, and this is %s", c->builtin->name, takes,
                             fl_val_text(s, v));
  bool rows = v.type->kind == FL_TY_TABLE || v.type->kind == FL_TY_ARRAY;
  if (rows && strcmp(c->builtin->name, "slice") == 0)
    fl_diag_help(s->sink, d, "rows are a range, counted from 0: `t[0..3]`, `a[2..]`, or `t |> head(3)`");
  else if (v.type->kind == FL_TY_TABLE) fl_diag_help(s->sink, d, "take a column, `t.x`");
  if (v.type->kind == FL_TY_TABLE && strcmp(c->builtin->name, "round") == 0 && fl_actual_given(&c->args[1]))
    fl_habit_rounded(s, d, v, c->span, c->args[0].span, c->args[1].span);
  if (fl_val_is_decimal(v)) fl_diag_help(s->sink, d, "make a float of it: `f64(...)`");
  if (fl_val_is_category(v))
    fl_diag_help(s->sink, d, "take the numbers of its levels, `codes(c)`, or its texts, `text(c)`");
  return fl_val_error(s);
}

FlVal fl_scalar_as(FlSema *s, FlVal v, FlDtype d, FlSpan span) {
  const FlType *t = v.type->kind == FL_TY_SCALAR ? fl_type_scalar(s->types, d, v.type->nullable)
                                                 : fl_type_array(s->types, d, v.type->nullable, v.type->rank);
  return fl_val_coerce(s, v, t, span, "this argument");
}

/* Argument k as a float: integers and decimals become f64. */
static FlVal float_arg(FlSema *s, FlCallSite *c, int k) {
  FlVal v = fl_actual_value(s, &c->args[k], NULL);
  if (fl_val_bad(v)) return v;
  if (!fl_val_is_plain(v) || (!fl_dtype_is_number(v.type->dtype) && !fl_val_is_decimal(v)))
    return fl_scalar_arg_wrong(s, c, &c->args[k], v, "numbers");
  return fl_dtype_is_float(v.type->dtype) ? v : fl_scalar_as(s, v, FL_F64, c->args[k].span);
}

FlVal fl_builtin_float1(FlSema *s, FlCallSite *c) {
  FlVal v = float_arg(s, c, 0);
  return fl_val_bad(v) ? v : fl_sema_lift_op(s, c->span, c->builtin->op, 1, &v, v.type->dtype, NULL);
}

FlVal fl_builtin_float2(FlSema *s, FlCallSite *c) {
  FlVal pair[2] = {float_arg(s, c, 0), float_arg(s, c, 1)};
  if (fl_val_bad(pair[0]) || fl_val_bad(pair[1]) || !fl_sema_same_numbers(s, pair, c->span))
    return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, c->builtin->op, 2, pair, pair[0].type->dtype, NULL);
}

/* The order stands first, or in the table. */
FlVal fl_builtin_polygamma(FlSema *s, FlCallSite *c) {
  int64_t order = c->builtin->data[0] - '0';
  int at = 0;
  if (!c->builtin->data[0]) {
    if (!fl_actual_const_i(s, &c->args[at++], &order)) return fl_val_error(s);
    if (order < 0 || order > 12)
      return fl_sema_error(s, FL_E0325, c->args[0].span,
                           "`polygamma` takes an order of 0 to 12, and this is %lld", (long long)order);
  }
  FlVal args[2] = {float_arg(s, c, at), fl_val_i64(s, order)};
  if (fl_val_bad(args[0])) return args[0];
  return fl_sema_lift_op(s, c->span, FL_OP_POLYGAMMA, 2, args, args[0].type->dtype, NULL);
}

FlVal fl_builtin_fused(FlSema *s, FlCallSite *c) {
  FlVal v[3];
  bool any32 = false, any64 = false; /* literals take the type of the others, f64 where all are literals */
  for (int i = 0; i < 3; i++) {
    v[i] = float_arg(s, c, i);
    if (fl_val_bad(v[i])) return v[i];
    if (!v[i].literal) *(v[i].type->dtype == FL_F64 ? &any64 : &any32) = true;
  }
  FlDtype d = any32 && !any64 ? FL_F32 : FL_F64;
  for (int i = 0; i < 3; i++)
    if (d == FL_F64 || !v[i].literal) v[i] = fl_scalar_as(s, v[i], d, c->args[i].span);
    else v[i] = fl_val_as_literal_type(s, v[i], d, c->args[i].span);
  return fl_sema_lift_op(s, c->span, FL_OP_FMA, 3, v, d, NULL);
}

FlVal fl_builtin_float_test(FlSema *s, FlCallSite *c) {
  FlVal v = float_arg(s, c, 0);
  return fl_val_bad(v) ? v : fl_sema_lift_op(s, c->span, c->builtin->op, 1, &v, FL_BOOL, NULL);
}

FlVal fl_builtin_number1(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  bool measure = fl_val_is_plain(v) &&
                 (v.type->dtype == FL_DURATION || (fl_val_is_decimal(v) && c->builtin->op == FL_OP_ABS));
  if (!fl_val_is_plain(v) || (!fl_dtype_is_number(v.type->dtype) && !measure))
    return fl_scalar_arg_wrong(s, c, &c->args[0], v, "numbers");
  return fl_sema_lift_op(s, c->span, c->builtin->op, 1, &v, v.type->dtype, NULL);
}

FlVal fl_builtin_clamp(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL), lo = fl_actual_value(s, &c->args[1], NULL),
        hi = fl_actual_value(s, &c->args[2], NULL);
  if (fl_val_bad(x) || fl_val_bad(lo) || fl_val_bad(hi)) return fl_val_error(s);
  FlVal a[2] = {x, lo};
  if (!fl_sema_same_numbers(s, a, c->span)) return fl_val_error(s);
  FlVal b[2] = {fl_sema_lift_op(s, c->span, FL_OP_MAX, 2, a, a[0].type->dtype, NULL), hi};
  if (fl_val_bad(b[0]) || !fl_sema_same_numbers(s, b, c->span)) return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, FL_OP_MIN, 2, b, b[0].type->dtype, NULL);
}

FlVal fl_builtin_rounding(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (fl_val_is_decimal(v)) {
    int64_t kept = 0;
    bool to_digits = c->builtin->op == FL_OP_ROUND && fl_actual_given(&c->args[1]);
    if (to_digits && !fl_actual_const_i(s, &c->args[1], &kept)) return fl_val_error(s);
    if (kept < 0)
      return fl_sema_error(s, FL_E0325, c->args[1].span,
                           "a decimal is rounded to 0 digits behind the point or more");
    return fl_decimal_rounding(s, c->builtin->op, v, kept, to_digits, c->span);
  }
  if (!fl_val_is_plain(v) || !fl_dtype_is_number(v.type->dtype))
    return fl_scalar_arg_wrong(s, c, &c->args[0], v, "numbers");
  bool digits = c->builtin->op == FL_OP_ROUND && fl_actual_given(&c->args[1]);
  if (!fl_dtype_is_float(v.type->dtype)) {
    v = fl_scalar_as(s, v, digits ? FL_F64 : FL_I64, c->args[0].span);
    if (!digits || fl_val_bad(v)) return v;
  }
  if (!digits) return fl_sema_lift_op(s, c->span, c->builtin->op, 1, &v, FL_I64, NULL);
  FlValue *n;
  if (!fl_actual_i64(s, &c->args[1], &n)) return fl_val_error(s);
  FlVal args[2] = {v, fl_val_scalar(s, FL_I64, n)};
  return fl_sema_lift_op(s, c->span, FL_OP_ROUND_DIGITS, 2, args, v.type->dtype, NULL);
}

FlVal fl_builtin_wrapping(FlSema *s, FlCallSite *c) {
  FlVal pair[2] = {fl_actual_value(s, &c->args[0], NULL), fl_actual_value(s, &c->args[1], NULL)};
  if (fl_val_bad(pair[0]) || fl_val_bad(pair[1])) return fl_val_error(s);
  for (int i = 0; i < 2; i++)
    if (!fl_val_is_plain(pair[i]) || !fl_dtype_is_int(pair[i].type->dtype))
      return fl_scalar_arg_wrong(s, c, &c->args[i], pair[i], "integers");
  if (!fl_sema_same_numbers(s, pair, c->span)) return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, c->builtin->op, 2, pair, pair[0].type->dtype, NULL);
}

/* ---- conversion ---- */

static FlVal convert_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  FlDtype to = *(FlDtype *)env;
  return fl_sema_scalar_op(s, FL_OP_CONVERT, args, 1, fl_type_scalar(s->types, to, false), NULL);
}

FlVal fl_builtin_conversion(FlSema *s, FlCallSite *c) {
  FlDtype to = FL_F64;
  fl_dtype_find(c->builtin->data, &to);
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (fl_val_is_decimal(v) && to == FL_F64) return fl_decimal_to_real(s, v, c->span);
  if (fl_val_is_decimal(v) && to == FL_I64) {
    FlVal whole = fl_decimal_as(s, v, FL_DECIMAL0, c->span);
    return fl_sema_lift(s, c->span, 1, &whole, convert_element, &to);
  }
  if (!fl_val_is_plain(v) || (!fl_dtype_is_number(v.type->dtype) && v.type->dtype != FL_BOOL)) {
    FlDiag *d = fl_sema_report(s, FL_E0325, c->args[0].span, "`%s` takes numbers or bool, and this is %s",
                               c->builtin->name, fl_val_text(s, v));
    if (fl_val_is_plain(v) && v.type->dtype == FL_TEXT) {
      fl_diag_help(s->sink, d, "read a number from text with `parse_f64(...)` or `parse_i64(...)`");
      if (to == FL_F64) fl_habit_call(s, d, c->args[0].span, "f64", "parse_f64");
      if (to == FL_I64) fl_habit_call(s, d, c->args[0].span, "i64", "parse_i64");
    } else if (fl_val_is_decimal(v))
      fl_diag_help(s->sink, d, "a decimal becomes `f64(...)` or, where it is whole, `i64(...)`");
    return fl_val_error(s);
  }
  if (v.literal) {
    FlVal lit = v;
    if (fl_val_fits(s, lit, fl_type_scalar(s->types, to, false))) {
      lit = fl_val_as_literal_type(s, lit, to, c->args[0].span);
      lit.literal = FL_LIT_NONE, lit.exact = NULL; /* its type was said */
      return lit;
    }
  }
  if (v.type->dtype == to) return v;
  return fl_sema_lift(s, c->span, 1, &v, convert_element, &to);
}

const char *fl_sema_check_format(FlSema *s, const char *format, FlDtype d) {
  const char *why = "";
  if (fl_format_check(format, d, &why)) return NULL;
  return fl_arena_printf(s->arena, "the format `%s` does not fit %s: %s", format, fl_dtype_name(d), why);
}

FlVal fl_builtin_format(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  const char *format;
  if (fl_val_bad(v) || !fl_actual_const_text(s, &c->args[1], &format)) return fl_val_error(s);
  if (fl_val_is_plain(v) && fl_val_is_category(v)) v = fl_category_texts(s, v, c->args[0].span);
  if (fl_val_bad(v)) return v;
  if (!fl_val_is_plain(v) || v.type->dtype == FL_FILE)
    return fl_scalar_arg_wrong(s, c, &c->args[0], v, "a number, text, date or bool");
  const char *why = fl_sema_check_format(s, format, v.type->dtype);
  if (why) return fl_sema_error(s, FL_E0308, c->args[1].span, "%s", why);
  FlAttrs attrs = {.s = format};
  return fl_sema_lift_op(s, c->span, FL_OP_TO_TEXT, 1, &v, FL_TEXT, &attrs);
}

/* ---- choice and nulls ---- */

static FlVal run_actual(FlSema *s, void *env) { return fl_actual_value(s, env, NULL); }

FlVal fl_builtin_if_else(FlSema *s, FlCallSite *c) {
  FlVal cond = fl_actual_value(s, &c->args[0], NULL);
  FlVarList none = {0};
  FlBinding *loop_break = s->loop_break, *loop_skip = s->loop_skip;
  s->loop_break = s->loop_skip = NULL; /* an argument cannot jump out of a loop */
  FlVal v =
      fl_sema_choose(s, cond, c->args[0].span, &none, (FlThunk){run_actual, &c->args[1], c->args[1].span},
                     (FlThunk){run_actual, &c->args[2], c->args[2].span});
  s->loop_break = loop_break;
  s->loop_skip = loop_skip;
  return v;
}

FlVal fl_builtin_is_null(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (v.type->kind == FL_TY_NULL) return fl_val_bool(s, true);
  if (!fl_val_is_plain(v)) return fl_scalar_arg_wrong(s, c, &c->args[0], v, "a scalar or a column");
  if (!v.type->nullable) {
    fl_report(s->sink, FL_W0001, c->args[0].span, "this is never null");
    FlVal zero = v.type->kind == FL_TY_ARRAY ? fl_val_nullable(s, v) : fl_val_bool(s, true);
    if (v.type->kind == FL_TY_SCALAR) return fl_sema_not(s, zero, c->span);
    return fl_sema_not(s, fl_val_array(s, FL_BOOL, v.type->rank, zero.parts[1]), c->span);
  }
  FlVal valid = v.type->kind == FL_TY_SCALAR ? fl_val_scalar(s, FL_BOOL, v.parts[1])
                                             : fl_val_array(s, FL_BOOL, v.type->rank, v.parts[1]);
  return fl_sema_not(s, valid, c->span);
}

FlVal fl_builtin_error(FlSema *s, FlCallSite *c) {
  FlVal m = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(m)) return m;
  if (s->by_element && m.type == fl_type_array(s->types, FL_TEXT, false, m.type->rank)) {
    FlMessages *messages = FL_NEW(s->arena, FlMessages);
    *messages = (FlMessages){m, s->b.span};
    return (FlVal){.type = s->types->never, .messages = messages};
  }
  m = fl_val_coerce(s, m, fl_type_scalar(s->types, FL_TEXT, false), c->args[0].span, "the message");
  return fl_val_bad(m) ? m : fl_val_raise(s, m.parts[0]);
}

/* ---- text and dates: operators whose types are said by a signature such as "tti:t" ---- */

static FlDtype letter(char ch) {
  switch (ch) {
  case 't': return FL_TEXT;
  case 'i': return FL_I64;
  case 'f': return FL_F64;
  case 'b': return FL_BOOL;
  case 'd': return FL_DATE;
  case 'D': return FL_DATETIME;
  default: return FL_DURATION;
  }
}

bool fl_scalar_arg(FlSema *s, FlCallSite *c, int k, FlDtype d, FlVal *out) {
  FlVal v = fl_actual_value(s, &c->args[k], NULL);
  if (fl_val_bad(v)) return false;
  bool fits = fl_val_is_plain(v) &&
              (v.type->dtype == d || (fl_dtype_is_number(d) && fl_dtype_is_number(v.type->dtype)));
  if (!fits) {
    fl_scalar_arg_wrong(s, c, &c->args[k], v, fl_dtype_name(d));
    return false;
  }
  *out = fl_scalar_as(s, v, d, c->args[k].span);
  return !fl_val_bad(*out);
}

static bool reads_dates(FlOpcode op) {
  return op == FL_OP_PARSE_DATE || op == FL_OP_PARSE_DATETIME || op == FL_OP_TRY_PARSE_DATE ||
         op == FL_OP_TRY_PARSE_DATETIME;
}

/* What stands for a text argument that is left out. */
static const char *default_text(FlOpcode op) {
  if (op == FL_OP_PARSE_DATE || op == FL_OP_TRY_PARSE_DATE) return "%Y-%m-%d";
  if (op == FL_OP_PARSE_NUMBER || op == FL_OP_TRY_PARSE_NUMBER) return ".";
  return op == FL_OP_PAD ? " " : "";
}

/* How to read, argument 1, is checked now when it is known now. false: reported. */
static bool check_reading(FlSema *s, FlCallSite *c, FlVal format) {
  const char *text = fl_val_const_text(format), *why = NULL;
  FlOpcode op = c->builtin->op;
  if (text && (op == FL_OP_PARSE_NUMBER || op == FL_OP_TRY_PARSE_NUMBER) && strcmp(text, ".") != 0 &&
      strcmp(text, ",") != 0) {
    fl_sema_error(s, FL_E0325, c->args[1].span, "the decimal mark is \".\" or \",\"");
    return false;
  }
  if (!text || !reads_dates(op) || fl_date_format_check(text, (int64_t)strlen(text), true, &why)) return true;
  fl_sema_error(s, FL_E0308, c->args[1].span, "the format `%s` does not read dates: %s", text, why);
  return false;
}

FlVal fl_builtin_scalar_op(FlSema *s, FlCallSite *c) {
  const char *sig = c->builtin->data;
  FlVal args[4];
  int n = 0;
  for (; sig[n] != ':'; n++) {
    if (!fl_actual_given(&c->args[n])) args[n] = fl_val_textz(s, default_text(c->builtin->op));
    else if (!fl_scalar_arg(s, c, n, letter(sig[n]), &args[n])) return fl_val_error(s);
  }
  if (n > 1 && !check_reading(s, c, args[1])) return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, c->builtin->op, n, args, letter(sig[n + 1]), NULL);
}

static FlVal try_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)span;
  const FlBuiltin *bi = env;
  FlDtype d = FL_F64;
  fl_dtype_find(bi->data, &d);
  FlValue *values[2] = {args[0].parts[0], n > 1 ? args[1].parts[0] : NULL};
  FlType1 types[2] = {fl_t_scalar(d), fl_t_scalar(FL_BOOL)};
  FlOp *op = fl_ir_op(&s->b, bi->op, n, values, 2, types, 0);
  FlValue *valid = op->results[1], *was = NULL;
  for (int i = 0; i < n; i++)
    if (fl_val_valid(s, args[i])) valid = fl_sema_op2(s, FL_OP_AND, valid, was = fl_val_valid(s, args[i]));
  FlValue *parts[2] = {was ? fl_ir_select(&s->b, valid, op->results[0], fl_val_zero(s, d)) : op->results[0],
                       valid};
  return fl_val_make(s, fl_type_scalar(s->types, d, true), parts);
}

FlVal fl_builtin_try_parse(FlSema *s, FlCallSite *c) {
  FlVal args[2];
  int n = c->builtin->n_params;
  if (n > 1 && !fl_actual_given(&c->args[1]))
    c->args[1].value = fl_val_textz(s, default_text(c->builtin->op));
  for (int i = 0; i < n; i++)
    if (!fl_scalar_arg(s, c, i, FL_TEXT, &args[i])) return fl_val_error(s);
  if (n > 1 && !check_reading(s, c, args[1])) return fl_val_error(s);
  return fl_sema_lift(s, c->span, n, args, try_element, (void *)(uintptr_t)c->builtin);
}
