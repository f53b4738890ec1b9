/* date.c: dates, datetimes and durations: their builtins and their arithmetic.
 *
 * In: values of these types, scalars or arrays, with or without null. Out: IR of the operators of
 * kern/calendar.h. What always holds: a unit or step that is known while compiling is checked then. */
#include "sema/builtins/builtin.h"
#include "sema/builtins/scalar_args.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"

#include <stdlib.h>

/* ---- arithmetic ---- */

static FlVal lift2(FlSema *s, FlSpan span, FlOpcode code, FlVal a, FlVal b, FlDtype result) {
  return fl_sema_lift_op(s, span, code, 2, (FlVal[]){a, b}, result, NULL);
}

/* n times the duration d. */
static FlVal times(FlSema *s, FlVal n, FlVal d, FlSpan span) {
  FlVal micros = fl_sema_lift_op(s, span, FL_OP_CONVERT, 1, &d, FL_I64, NULL);
  return lift2(s, span, FL_OP_DURATION_OF, fl_scalar_as(s, n, FL_I64, span), micros, FL_DURATION);
}

static FlVal duration_pair(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span) {
  if (op == FL_BIN_ADD) return lift2(s, span, FL_OP_ADD, a, b, FL_DURATION);
  if (op == FL_BIN_SUB) return lift2(s, span, FL_OP_SUB, a, b, FL_DURATION);
  if (op == FL_BIN_DIV) return lift2(s, span, FL_OP_DURATION_RATIO, a, b, FL_F64);
  if (op == FL_BIN_MOD) return lift2(s, span, FL_OP_MOD, a, b, FL_DURATION);
  if (op == FL_BIN_FLOORDIV) {
    FlVal whole = lift2(s, span, FL_OP_FLOORDIV, a, b, FL_DURATION);
    return fl_sema_lift_op(s, span, FL_OP_CONVERT, 1, &whole, FL_I64, NULL);
  }
  return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
}

FlVal fl_sema_date_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span) {
  FlDtype x = a.type->dtype, y = b.type->dtype;
  bool add = op == FL_BIN_ADD, sub = op == FL_BIN_SUB;
  if (add && x == FL_DURATION && (y == FL_DATE || y == FL_DATETIME))
    return fl_sema_date_arithmetic(s, op, b, a, span);
  if (sub && x == FL_DATE && y == FL_DATE) return lift2(s, span, FL_OP_DATE_DIFF, a, b, FL_DURATION);
  if (sub && x == FL_DATETIME && y == FL_DATETIME)
    return lift2(s, span, FL_OP_DATETIME_DIFF, a, b, FL_DURATION);
  if ((add || sub) && (x == FL_DATE || x == FL_DATETIME) && y == FL_DURATION) {
    if (sub) b = fl_sema_lift_op(s, span, FL_OP_NEG, 1, &b, FL_DURATION, NULL);
    return x == FL_DATE ? lift2(s, span, FL_OP_DATE_ADD, b, a, FL_DATE)
                        : lift2(s, span, FL_OP_DATETIME_ADD, a, b, FL_DATETIME);
  }
  if (x == FL_DURATION && y == FL_DURATION) return duration_pair(s, op, a, b, span);
  if (op == FL_BIN_MUL && x == FL_DURATION && fl_dtype_is_int(y)) return times(s, b, a, span);
  if (op == FL_BIN_MUL && y == FL_DURATION && fl_dtype_is_int(x)) return times(s, a, b, span);
  return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
}

/* ---- making ---- */

/* Arguments `from` .. `from + 2` by a constructor of three integers. */
static FlVal of_parts(FlSema *s, FlCallSite *c, FlOpcode code, int from, FlDtype result) {
  FlVal args[3];
  for (int i = 0; i < 3; i++) {
    args[i] = fl_val_i64(s, 0);
    if (from + i >= c->builtin->n_params || !fl_actual_given(&c->args[from + i])) {
      if (code == FL_OP_TIME_OF) continue;
      return fl_sema_error(s, FL_E0210, c->span, "`%s` takes a text, or a year, a month and a day",
                           c->builtin->name);
    }
    if (!fl_scalar_arg(s, c, from + i, FL_I64, &args[i])) return fl_val_error(s);
  }
  return fl_sema_lift_op(s, c->span, code, 3, args, result, NULL);
}

static bool is_of_parts(const FlCallSite *c) {
  for (int k = 1; k < c->builtin->n_params; k++)
    if (fl_actual_given(&c->args[k])) return true;
  return false;
}

static bool is_of(FlVal v, FlDtype d) { return fl_val_is_plain(v) && v.type->dtype == d; }

/* What `date` and `datetime` make of one argument: of a text, or of a value of the other type. */
typedef struct Form {
  FlDtype dtype, other;
  FlOpcode convert, parse;
  const char *format, *takes;
} Form;
static const Form day_form = {FL_DATE,          FL_DATETIME, FL_OP_DATETIME_TO_DATE,
                              FL_OP_PARSE_DATE, "%Y-%m-%d",  "a text such as \"2026-01-31\""},
                  time_form = {
                      FL_DATETIME,          FL_DATE, FL_OP_DATE_TO_DATETIME,
                      FL_OP_PARSE_DATETIME, "",      "a text such as \"2026-01-31 14:05:00\" or a date"};

static FlVal of_one(FlSema *s, FlCallSite *c, const Form *form) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (is_of(v, form->other)) return fl_sema_lift_op(s, c->span, form->convert, 1, &v, form->dtype, NULL);
  if (!is_of(v, FL_TEXT)) return fl_scalar_arg_wrong(s, c, &c->args[0], v, form->takes);
  return lift2(s, c->span, form->parse, v, fl_val_textz(s, form->format), form->dtype);
}

FlVal fl_builtin_date(FlSema *s, FlCallSite *c) {
  return is_of_parts(c) ? of_parts(s, c, FL_OP_DATE_OF, 0, FL_DATE) : of_one(s, c, &day_form);
}

FlVal fl_builtin_datetime(FlSema *s, FlCallSite *c) {
  if (!is_of_parts(c)) return of_one(s, c, &time_form);
  FlVal day = of_parts(s, c, FL_OP_DATE_OF, 0, FL_DATE);
  if (fl_val_bad(day)) return day;
  FlVal time = of_parts(s, c, FL_OP_TIME_OF, 3, FL_DURATION);
  if (fl_val_bad(time)) return time;
  FlVal midnight = fl_sema_lift_op(s, c->span, FL_OP_DATE_TO_DATETIME, 1, &day, FL_DATETIME, NULL);
  return lift2(s, c->span, FL_OP_DATETIME_ADD, midnight, time, FL_DATETIME);
}

FlVal fl_builtin_duration(FlSema *s, FlCallSite *c) {
  FlVal n;
  if (!fl_scalar_arg(s, c, 0, FL_I64, &n)) return fl_val_error(s);
  FlVal unit = fl_val_i64(s, strtoll(c->builtin->data, NULL, 10));
  return lift2(s, c->span, FL_OP_DURATION_OF, n, unit, FL_DURATION);
}

/* ---- parts ---- */

FlVal fl_builtin_date_part(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return v;
  if (is_of(v, FL_DATETIME)) v = fl_sema_lift_op(s, c->span, FL_OP_DATETIME_TO_DATE, 1, &v, FL_DATE, NULL);
  if (!is_of(v, FL_DATE)) return fl_scalar_arg_wrong(s, c, &c->args[0], v, "a date");
  return fl_sema_lift_op(s, c->span, c->builtin->op, 1, &v, FL_I64, NULL);
}

/* A date or datetime as argument k. */
static bool day_or_time(FlSema *s, FlCallSite *c, int k, FlVal *out) {
  *out = fl_actual_value(s, &c->args[k], NULL);
  if (fl_val_bad(*out)) return false;
  bool fits = is_of(*out, FL_DATE) || is_of(*out, FL_DATETIME);
  if (!fits) fl_scalar_arg_wrong(s, c, &c->args[k], *out, "a date or datetime");
  return fits;
}

static const char *const units[] = {"year", "quarter", "month", "week", "day", "hour", "minute", "second"};
enum { N_UNITS = sizeof units / sizeof *units, N_UNITS_OF_DAYS = 5 };

/* A unit that is known now is checked now: does it cut values of type d? */
static bool check_unit(FlSema *s, FlVal unit, FlDtype d, FlSpan span) {
  const char *text = fl_val_const_text(unit);
  int n = d == FL_DATE ? N_UNITS_OF_DAYS : N_UNITS;
  if (!text) return true;
  for (int i = 0; i < N_UNITS; i++) {
    if (strcmp(text, units[i]) != 0) continue;
    if (i < n) return true;
    fl_sema_error(s, FL_E0664, span, "a date has no %ss: its smallest unit is \"day\"", text);
    return false;
  }
  FlDiag *diag = fl_sema_report(s, FL_E0664, span, "there is no unit `%s` of dates", text);
  const char *near = fl_closest(text, units, n);
  if (near) fl_diag_meant_text(s->sink, diag, span, near);
  else
    fl_diag_help(s->sink, diag, "units are year, quarter, month, week%s",
                 d == FL_DATE ? " and day" : ", day, hour, minute and second");
  return false;
}

FlVal fl_builtin_date_trunc(FlSema *s, FlCallSite *c) {
  FlVal unit, v;
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &unit) || !day_or_time(s, c, 1, &v)) return fl_val_error(s);
  FlDtype d = v.type->dtype;
  if (!check_unit(s, unit, d, c->args[0].span)) return fl_val_error(s);
  return lift2(s, c->span, d == FL_DATE ? FL_OP_DATE_TRUNC : FL_OP_DATETIME_TRUNC, unit, v, d);
}

FlVal fl_builtin_add_months(FlSema *s, FlCallSite *c) {
  FlVal v, n;
  if (!day_or_time(s, c, 0, &v) || !fl_scalar_arg(s, c, 1, FL_I64, &n)) return fl_val_error(s);
  FlDtype d = v.type->dtype;
  return lift2(s, c->span, d == FL_DATE ? FL_OP_ADD_MONTHS : FL_OP_DATETIME_ADD_MONTHS, v, n, d);
}

/* months(n) beside `+` and `-` never gets here (operators.c). */
FlVal fl_builtin_calendar(FlSema *s, FlCallSite *c) {
  return fl_sema_error(s, FL_E0301, c->span,
                       "`%s` stands behind `+` or `-` of a day or time: a month has no length of its own",
                       c->builtin->name);
}

/* ---- ranges ---- */

/* What date_range goes over: from + i * step, the step in months or a duration. */
typedef struct DateRange {
  FlDtype dtype;
  FlValue *from, *to, *step;
  bool by_months;
} DateRange;

static FlValue *day_of(FlSema *s, const DateRange *r, FlValue *v) {
  return r->dtype == FL_DATE ? v : fl_ir_unary(&s->b, FL_OP_DATETIME_TO_DATE, v);
}

/* Months from year 0 to the month of v. */
static FlValue *month_index(FlSema *s, const DateRange *r, FlValue *v) {
  FlValue *day = day_of(s, r, v);
  FlValue *years =
      fl_sema_op2(s, FL_OP_WRAP_MUL, fl_ir_unary(&s->b, FL_OP_DATE_YEAR, day), fl_sema_i64(s, 12));
  return fl_sema_op2(s, FL_OP_WRAP_ADD, years, fl_ir_unary(&s->b, FL_OP_DATE_MONTH, day));
}

static FlValue *range_element(FlSema *s, const DateRange *r, FlValue *i) {
  bool date = r->dtype == FL_DATE;
  if (r->by_months) {
    FlValue *months = fl_sema_op2(s, FL_OP_MUL, i, r->step);
    return fl_ir_binary(&s->b, date ? FL_OP_ADD_MONTHS : FL_OP_DATETIME_ADD_MONTHS, r->from, months);
  }
  FlValue *gap = fl_ir_binary(&s->b, FL_OP_DURATION_OF, i, r->step);
  return date ? fl_ir_binary(&s->b, FL_OP_DATE_ADD, gap, r->from)
              : fl_ir_binary(&s->b, FL_OP_DATETIME_ADD, r->from, gap);
}

/* How many elements come before `to`. */
static FlValue *range_count(FlSema *s, const DateRange *r) {
  FlValue *zero = fl_sema_i64(s, 0), *count;
  if (r->by_months) {
    FlValue *months = fl_sema_op2(s, FL_OP_WRAP_SUB, month_index(s, r, r->to), month_index(s, r, r->from));
    FlValue *whole = fl_sema_op2(s, FL_OP_MAX, fl_sema_op2(s, FL_OP_FLOORDIV, months, r->step), zero);
    /* The element in the last month may still lie before `to`. */
    FlValue *more = fl_sema_op2(s, FL_OP_LT, range_element(s, r, whole), r->to);
    count = fl_sema_op2(s, FL_OP_WRAP_ADD, whole, fl_ir_select(&s->b, more, fl_sema_i64(s, 1), zero));
  } else {
    FlOpcode diff = r->dtype == FL_DATE ? FL_OP_DATE_DIFF : FL_OP_DATETIME_DIFF;
    FlValue *micros = fl_ir_convert(&s->b, fl_ir_binary(&s->b, diff, r->to, r->from), FL_I64);
    FlValue *last =
        fl_sema_op2(s, FL_OP_FLOORDIV, fl_sema_op2(s, FL_OP_SUB, micros, fl_sema_i64(s, 1)), r->step);
    count = fl_sema_op2(s, FL_OP_ADD, last, fl_sema_i64(s, 1));
  }
  count = fl_sema_op2(s, FL_OP_MAX, count, zero);
  fl_sema_mark_size(s, count);
  return count;
}

/* The step as the call says it: a duration, or a unit. */
static bool range_step(FlSema *s, FlCallSite *c, DateRange *r) {
  static const int64_t months[] = {12, 3, 1};
  static const int64_t micros[] = {604800000000, 86400000000, 3600000000, 60000000, 1000000};
  FlActual *a = &c->args[2];
  if (!fl_actual_given(a)) {
    r->step = fl_sema_i64(s, micros[1]);
    return true;
  }
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  const char *text = fl_val_const_text(v);
  if (text) {
    if (!check_unit(s, v, r->dtype, a->span)) return false;
    int k = 0;
    while (strcmp(text, units[k]) != 0) k++;
    r->by_months = k < 3;
    r->step = fl_sema_i64(s, k < 3 ? months[k] : micros[k - 3]);
    return true;
  }
  if (v.type->kind != FL_TY_SCALAR || v.type->dtype != FL_DURATION || v.type->nullable) {
    fl_scalar_arg_wrong(s, c, a, v, "a duration or a unit such as \"month\" as its step");
    return false;
  }
  r->step = fl_ir_convert(&s->b, v.parts[0], FL_I64);
  FlValue *forward = fl_sema_op2(s, FL_OP_GT, r->step, fl_sema_i64(s, 0));
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){forward, v.parts[0]}, 0, NULL, 0);
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = "the step of a range of dates must be above 0: {a}";
  return true;
}

FlVal fl_builtin_date_range(FlSema *s, FlCallSite *c) {
  FlVal ends[2];
  for (int k = 0; k < 2; k++) {
    if (!day_or_time(s, c, k, &ends[k])) return fl_val_error(s);
    if (ends[k].type->kind != FL_TY_SCALAR || ends[k].type->nullable)
      return fl_scalar_arg_wrong(s, c, &c->args[k], ends[k], "one date or datetime that is not null");
  }
  DateRange r = {.dtype = ends[0].type->dtype, .from = ends[0].parts[0], .to = ends[1].parts[0]};
  if (ends[1].type->dtype != r.dtype)
    return fl_sema_error(s, FL_E0325, c->args[1].span,
                         "`date_range` goes from %s to the same, and this is %s", fl_val_text(s, ends[0]),
                         fl_val_text(s, ends[1]));
  if (!range_step(s, c, &r)) return fl_val_error(s);
  FlValue *count = range_count(s, &r);
  FlSemaMap map = fl_sema_map(s, 1, &count, r.dtype);
  return fl_val_array(s, r.dtype, 1, fl_sema_map_end(s, &map, range_element(s, &r, map.index[0])));
}
