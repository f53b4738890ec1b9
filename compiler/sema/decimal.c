/* decimal.c: decimals: their arithmetic, comparison, rounding, and what makes them.
 *
 * In: values of which one is a decimal, the others integers or numbers that stand in the script. Out: IR of
 * the operators of kern/scalar_decimal.h. What always holds: a result is exact, or the run stops; only floats
 * that are made of decimals, and what says that it rounds, are rounded, once. A number of the script is the
 * decimal that is written, never the float nearest to it. */
#include "sema/decimal.h"

#include "data/number.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/value.h"

#include <math.h>

enum { LITERAL_ROOM = 64 };

static bool is_int(FlVal v) {
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && fl_dtype_is_int(v.type->dtype);
}
/* Can it stand beside a decimal? */
static bool is_written(FlVal v) { return v.literal || v.exact; } /* in the script */
static bool is_exact(FlVal v) { return fl_val_is_decimal(v) || is_int(v) || is_written(v); }

static bool is_float(FlVal v) {
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && fl_dtype_is_float(v.type->dtype) &&
         !is_written(v);
}

/* ---- numbers of the script ---- */

/* As written, without underscores; 0: nothing is known of how it was written, or it is very long. */
static int spelled(FlVal v, char out[LITERAL_ROOM]) {
  int n = 0;
  if (v.literal == FL_LIT_INT)
    return snprintf(out, LITERAL_ROOM, "%s%llu", v.negative ? "-" : "", (unsigned long long)v.magnitude);
  if (v.exact) return snprintf(out, LITERAL_ROOM, "%s", v.exact);
  if (!v.spelling) return 0;
  if (signbit(v.real)) out[n++] = '-';
  for (const char *p = v.spelling; *p; p++) {
    if (*p == '_') continue;
    if (n == LITERAL_ROOM - 1) return 0;
    out[n++] = *p;
  }
  return n;
}

bool fl_decimal_literal(FlVal literal, FlDtype d, int64_t *units) {
  char text[LITERAL_ROOM];
  int n = spelled(literal, text);
  return n > 0 && fl_parse_decimal(text, n, fl_decimal_scale(d), units);
}

bool fl_decimal_literal_type(FlVal v, FlDtype *out) {
  char text[LITERAL_ROOM];
  int64_t units;
  int n = spelled(v, text), written = 0;
  for (int k = 0, point = 0; k < n && text[k] != 'e' && text[k] != 'E'; k++) {
    written += point;
    point = point || text[k] == '.';
  }
  for (int scale = written; scale <= FL_DECIMAL_DIGITS; scale++) {
    *out = fl_decimal_of_scale(scale);
    if (fl_decimal_literal(v, *out, &units)) return true;
  }
  return false;
}

const char *fl_decimal_exact(FlSema *s, FlBinaryOp op, FlVal a, FlVal b) {
  FlDtype x, y;
  int64_t left, right;
  if (!is_written(a) || !is_written(b) || (op != FL_BIN_ADD && op != FL_BIN_SUB && op != FL_BIN_MUL))
    return NULL;
  if (!fl_decimal_literal_type(a, &x) || !fl_decimal_literal_type(b, &y)) return NULL;
  FlDtype both = x > y ? x : y;
  int scale = op == FL_BIN_MUL ? fl_decimal_scale(x) + fl_decimal_scale(y) : fl_decimal_scale(both);
  if (op != FL_BIN_MUL) x = y = both;
  if (!fl_decimal_literal(a, x, &left) || !fl_decimal_literal(b, y, &right)) return NULL;
  __int128 units = op == FL_BIN_ADD   ? (__int128)left + right
                   : op == FL_BIN_SUB ? (__int128)left - right
                                      : (__int128)left * right;
  if (scale > FL_DECIMAL_DIGITS || units > INT64_MAX || units < -INT64_MAX) return NULL;
  uint64_t size = units < 0 ? (uint64_t)-units : (uint64_t)units, power = 1;
  for (int k = 0; k < scale; k++) power *= 10;
  const char *sign = units < 0 ? "-" : "";
  return scale ? fl_arena_printf(s->arena, "%s%llu.%0*llu", sign, (unsigned long long)(size / power), scale,
                                 (unsigned long long)(size % power))
               : fl_arena_printf(s->arena, "%s%llu", sign, (unsigned long long)size);
}

FlVal fl_decimal_misfit(FlSema *s, FlVal v, FlDtype d, FlSpan span) {
  FlDtype own;
  if (!fl_decimal_literal_type(v, &own) || own <= d)
    return fl_sema_error(s, FL_E0302, span, "this number has more digits than the %d that a decimal holds",
                         FL_DECIMAL_DIGITS);
  return fl_sema_error(s, FL_E0302, span,
                       "this number has %d digits behind the point, and the decimal that stands here has %d",
                       fl_decimal_scale(own), fl_decimal_scale(d));
}

static FlVal constant(FlSema *s, FlDtype d, int64_t units) {
  return fl_val_scalar(s, d, fl_ir_const_i(&s->b, d, units));
}

/* ---- conversion ---- */

static FlVal lift1(FlSema *s, FlSpan span, FlOpcode code, FlVal v, FlDtype result) {
  return fl_sema_lift_op(s, span, code, 1, &v, result, NULL);
}
static FlVal lift2(FlSema *s, FlSpan span, FlOpcode code, FlVal a, FlVal b, FlDtype result) {
  return fl_sema_lift_op(s, span, code, 2, (FlVal[]){a, b}, result, NULL);
}

FlVal fl_decimal_as(FlSema *s, FlVal v, FlDtype d, FlSpan span) {
  int64_t units;
  if (is_written(v))
    return fl_decimal_literal(v, d, &units) ? constant(s, d, units) : fl_decimal_misfit(s, v, d, span);
  if (is_int(v)) {
    if (v.type->dtype != FL_I64) v = lift1(s, span, FL_OP_CONVERT, v, FL_I64);
    v = lift1(s, span, FL_OP_CONVERT, v, FL_DECIMAL0);
  }
  if (v.type->dtype == d) return v;
  FlVal more = fl_val_i64(s, (int64_t)d - (int64_t)v.type->dtype);
  return lift2(s, span, FL_OP_DECIMAL_SCALE, v, more, d);
}

FlVal fl_decimal_to_real(FlSema *s, FlVal v, FlSpan span) {
  return lift2(s, span, FL_OP_DECIMAL_REAL, v, fl_val_i64(s, fl_decimal_scale(v.type->dtype)), FL_F64);
}

/* The scale that an operand has by itself: of an integer none, of a number of the script what is written. */
static bool own_type(FlVal v, FlDtype *out) {
  *out = fl_val_is_decimal(v) ? v.type->dtype : FL_DECIMAL0;
  return fl_val_is_decimal(v) || !is_written(v) || fl_decimal_literal_type(v, out);
}

bool fl_decimal_common(FlVal a, FlVal b, FlDtype *out) {
  FlDtype x, y;
  *out = FL_F64;
  if (is_float(a) || is_float(b)) return fl_promote(a.type->dtype, b.type->dtype, out);
  if (!is_exact(a) || !is_exact(b) || !own_type(a, &x) || !own_type(b, &y)) return false;
  *out = x > y ? x : y;
  return true;
}

static const FlType *type_like(FlSema *s, const FlType *t, FlDtype d) {
  return t->kind == FL_TY_SCALAR ? fl_type_scalar(s->types, d, t->nullable)
                                 : fl_type_array(s->types, d, t->nullable, t->rank);
}

static FlVal real_of(FlSema *s, FlVal v, FlSpan span) {
  return fl_val_is_decimal(v) ? fl_decimal_to_real(s, v, span)
                              : fl_val_coerce(s, v, type_like(s, v.type, FL_F64), span, "the operand");
}

/* Beside a float a decimal is the float nearest to it, as an integer is. */
static FlVal by_floats(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span) {
  for (int k = 0; k < 2; k++) {
    FlVal *v = k ? &b : &a;
    if (fl_val_is_decimal(*v)) *v = fl_decimal_to_real(s, *v, span);
  }
  return fl_sema_binary(s, op, a, b, span, span, span);
}

/* Both may stand beside a decimal; false: reported. */
static bool check_operands(FlSema *s, const char *sign, FlVal a, FlVal b, FlSpan span) {
  FlDtype d;
  for (int k = 0; k < 2; k++) {
    FlVal v = k ? b : a;
    if (is_written(v) && !fl_decimal_literal_type(v, &d)) {
      fl_sema_error(s, FL_E0302, span, "a number beside a decimal has at most %d digits", FL_DECIMAL_DIGITS);
      return false;
    }
  }
  if (is_exact(a) && is_exact(b)) return true;
  fl_sema_wrong_operands(s, sign, a, b, span);
  return false;
}

/* ---- arithmetic ---- */

static FlVal product(FlSema *s, FlVal a, FlVal b, FlSpan span) {
  FlDtype x, y;
  if (!own_type(a, &x) || !own_type(b, &y)) return fl_val_error(s);
  int scale = fl_decimal_scale(x) + fl_decimal_scale(y);
  if (scale > FL_DECIMAL_DIGITS) {
    FlDiag *d = fl_sema_report(
        s, FL_E0312, span, "this product would have %d digits behind the point, and a decimal has at most %d",
        scale, FL_DECIMAL_DIGITS);
    fl_diag_help(s->sink, d, "round a factor first: `round(x, %d)`", FL_DECIMAL_DIGITS / 2);
    return fl_val_error(s);
  }
  a = fl_decimal_as(s, a, x, span);
  b = fl_decimal_as(s, b, y, span);
  return lift2(s, span, FL_OP_DECIMAL_MUL, a, b, fl_decimal_of_scale(scale));
}

/* A whole power that stands in the script: the product of so many, exact as any. */
static FlVal power(FlSema *s, FlVal x, FlVal n, FlSpan span) {
  bool whole = n.literal == FL_LIT_INT && !n.negative && n.magnitude >= 1 && n.magnitude <= FL_DECIMAL_DIGITS;
  if (!fl_val_is_decimal(x) || !whole) {
    FlDiag *d = fl_sema_report(
        s, FL_E0312, span, "the power of a decimal is a whole number from 1 to %d that stands in the script",
        FL_DECIMAL_DIGITS);
    fl_diag_help(s->sink, d, "other powers are floats: `f64(x) ^ n`");
    return fl_val_error(s);
  }
  FlVal out = x;
  for (uint64_t k = 1; k < n.magnitude && !fl_val_bad(out); k++) out = product(s, out, x, span);
  return out;
}

FlVal fl_decimal_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span) {
  const char *sign = fl_syntax_binary_spelling(op);
  if (is_float(a) || is_float(b)) return by_floats(s, op, a, b, span);
  if (!check_operands(s, sign, a, b, span)) return fl_val_error(s);
  if (op == FL_BIN_MUL) return product(s, a, b, span);
  if (op == FL_BIN_DIV) return lift2(s, span, FL_OP_DIV, real_of(s, a, span), real_of(s, b, span), FL_F64);
  FlDtype d;
  bool whole = op == FL_BIN_FLOORDIV;
  FlOpcode code = op == FL_BIN_ADD   ? FL_OP_ADD
                  : op == FL_BIN_SUB ? FL_OP_SUB
                  : op == FL_BIN_MOD ? FL_OP_MOD
                                     : FL_OP_FLOORDIV;
  if (op == FL_BIN_POW) return power(s, a, b, span);
  if (!fl_decimal_common(a, b, &d)) return fl_sema_wrong_operands(s, sign, a, b, span);
  a = fl_decimal_as(s, a, d, span);
  b = fl_decimal_as(s, b, d, span);
  FlVal out = lift2(s, span, code, a, b, d);
  return whole ? lift1(s, span, FL_OP_CONVERT, out, FL_I64) : out; /* how often b is in a */
}

/* ---- comparison: of any two decimals, also where one scale holds not both ---- */

FlVal fl_decimal_compare(FlSema *s, FlBinaryOp op, FlOpcode code, FlVal a, FlVal b, FlSpan span) {
  FlVal v[2] = {a, b};
  FlDtype own[2];
  int64_t units;
  if (is_float(a) || is_float(b)) return by_floats(s, op, a, b, span);
  if (!check_operands(s, fl_syntax_binary_spelling(op), a, b, span)) return fl_val_error(s);
  for (int k = 0; k < 2; k++) {
    FlDtype other = v[1 - k].type->dtype;
    if (!own_type(v[k], &own[k])) return fl_val_error(s);
    if (is_written(v[k]) && fl_val_is_decimal(v[1 - k]) && fl_decimal_literal(v[k], other, &units))
      own[k] = other;
  }
  for (int k = 0; k < 2; k++) v[k] = fl_decimal_as(s, v[k], own[k], span);
  if (own[0] == own[1]) return lift2(s, span, code, v[0], v[1], FL_BOOL);
  int gap = (int)own[0] - (int)own[1];
  FlVal pair[4] = {v[0], fl_val_i64(s, gap < 0 ? -gap : 0), v[1], fl_val_i64(s, gap > 0 ? gap : 0)};
  FlVal order = fl_sema_lift_op(s, span, FL_OP_DECIMAL_ORDER, 4, pair, FL_I64, NULL);
  return lift2(s, span, code, order, fl_val_i64(s, 0), FL_BOOL);
}

/* ---- rounding ---- */

FlVal fl_decimal_rounding(FlSema *s, FlOpcode how, FlVal v, int64_t digits, bool to_digits, FlSpan span) {
  int scale = fl_decimal_scale(v.type->dtype);
  if (to_digits && digits >= scale) return v;
  int64_t way = how == FL_OP_FLOOR   ? FL_DECIMAL_FLOOR
                : how == FL_OP_CEIL  ? FL_DECIMAL_CEIL
                : how == FL_OP_TRUNC ? FL_DECIMAL_TRUNC
                                     : FL_DECIMAL_NEAREST;
  FlVal args[3] = {v, fl_val_i64(s, scale - digits), fl_val_i64(s, way)};
  FlVal out = fl_sema_lift_op(s, span, FL_OP_DECIMAL_ROUND, 3, args, fl_decimal_of_scale((int)digits), NULL);
  return to_digits ? out : lift1(s, span, FL_OP_CONVERT, out, FL_I64);
}
