/* operators.c: unary and binary operators on finished values. Numbers are brought to one type first
 * (LANGUAGE 4), arrays are taken element by element, tuples of numbers field by field. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sema/builtins/builtin.h"
#include "sema/decimal.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/choose.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/known_values.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

static bool is_number(FlVal v) {
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && fl_dtype_is_number(v.type->dtype);
}
static bool is_dtype(FlVal v, FlDtype d) {
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && v.type->dtype == d;
}
static bool is_amount(FlVal v) { return is_number(v) || fl_val_is_decimal(v); }
static bool is_plain(FlVal v) { return v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY; }

static FlVal to_dtype(FlSema *s, FlVal v, FlDtype d, FlSpan span) {
  if (v.type->dtype == d) return v;
  const FlType *t = v.type->kind == FL_TY_SCALAR ? fl_type_scalar(s->types, d, v.type->nullable)
                                                 : fl_type_array(s->types, d, v.type->nullable, v.type->rank);
  return fl_val_coerce(s, v, t, span, "the operand");
}

bool fl_sema_common_number(FlSema *s, FlVal a, FlVal b, FlDtype *out) {
  if (!is_number(a) || !is_number(b)) return false;
  if (a.literal && !b.literal && fl_val_fits(s, a, fl_type_scalar(s->types, b.type->dtype, false)))
    *out = b.type->dtype;
  else if (b.literal && !a.literal && fl_val_fits(s, b, fl_type_scalar(s->types, a.type->dtype, false)))
    *out = a.type->dtype;
  else return fl_promote(a.type->dtype, b.type->dtype, out);
  return true;
}

/* Brings two numbers to one type. */
static bool same_number(FlSema *s, FlVal *a, FlVal *b, FlSpan span, FlSpan left, FlSpan right, FlDtype *out) {
  FlDtype d;
  bool decimals = fl_val_is_decimal(*a) || fl_val_is_decimal(*b);
  if (!(decimals ? fl_decimal_common(*a, *b, &d) : fl_sema_common_number(s, *a, *b, &d))) {
    FlDiag *diag = fl_sema_report(s, FL_E0312, span, "%s and %s do not mix", fl_dtype_name(a->type->dtype),
                                  fl_dtype_name(b->type->dtype));
    fl_diag_help(s->sink, diag, "convert one of them, for example with `i64(...)`");
    return false;
  }
  *a = to_dtype(s, *a, d, left);
  *b = to_dtype(s, *b, d, right);
  *out = d;
  return !fl_val_bad(*a) && !fl_val_bad(*b);
}

bool fl_sema_same_numbers(FlSema *s, FlVal pair[2], FlSpan span) {
  FlDtype d;
  if (is_amount(pair[0]) && is_amount(pair[1]))
    return same_number(s, &pair[0], &pair[1], span, span, span, &d);
  fl_sema_error(s, FL_E0312, span, "these are no numbers: %s and %s", fl_val_text(s, pair[0]),
                fl_val_text(s, pair[1]));
  return false;
}

FlVal fl_sema_wrong_operands(FlSema *s, const char *op, FlVal a, FlVal b, FlSpan span) {
  FlDiag *d = fl_sema_report(s, FL_E0312, span, "`%s` does not take %s and %s", op, fl_val_text(s, a),
                             fl_val_text(s, b));
  bool text_and_date =
      (is_dtype(a, FL_DATE) && is_dtype(b, FL_TEXT)) || (is_dtype(a, FL_TEXT) && is_dtype(b, FL_DATE));
  bool text_and_category =
      (fl_val_is_category(a) && is_dtype(b, FL_TEXT)) || (is_dtype(a, FL_TEXT) && fl_val_is_category(b));
  if (strcmp(op, "in") == 0 && b.type->kind == FL_TY_TUPLE)
    fl_diag_help(s->sink, d, "values stand in square brackets: `x in [a, b]`");
  else if (strcmp(op, "in") == 0 && is_dtype(a, FL_TEXT) && is_dtype(b, FL_TEXT) &&
           b.type->kind == FL_TY_SCALAR)
    fl_diag_help(s->sink, d, "`contains(text, part)` looks for a part of a text");
  else if (text_and_category)
    fl_diag_help(s->sink, d, "compare texts, `text(c)`, or make a category of both with the same levels");
  else if (fl_val_is_category(a) || fl_val_is_category(b))
    fl_diag_help(s->sink, d, "take the numbers of its levels, `codes(c)`, or its texts, `text(c)`");
  else if (text_and_date) fl_diag_help(s->sink, d, "write the date as `date(\"2026-01-31\")`");
  else if (strcmp(op, "%") == 0 && is_dtype(a, FL_TEXT))
    fl_diag_help(s->sink, d, "what is filled in stands in braces: `\"{x}\"`, with two digits `\"{x:.2f}\"`");
  else if ((is_dtype(a, FL_DATE) || is_dtype(a, FL_DATETIME)) && is_number(b) && strchr("+-", *op))
    fl_diag_help(s->sink, d, "a step in time is a duration: `d %s days(7)`, `d %s months(1)`", op, op);
  else if (is_dtype(a, FL_TEXT) && is_number(b))
    fl_diag_help(s->sink, d, "put the number in a text: `\"{x}\"`, or read the text with `parse_f64(...)`");
  else if (is_dtype(b, FL_TEXT) && is_number(a))
    fl_diag_help(s->sink, d, "put the number in a text: `\"{x}\"`, or read the text with `parse_f64(...)`");
  else if (a.type->kind == FL_TY_TABLE || b.type->kind == FL_TY_TABLE)
    fl_diag_help(s->sink, d, "take a column, `t.x`, or make a matrix of some with `matrix(t, a, b)`");
  return fl_val_error(s);
}

/* ---- tuples of numbers ---- */

static FlVal tuple_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left,
                              FlSpan right) {
  FlVal t = a.type->kind == FL_TY_TUPLE ? a : b;
  int n = t.type->n_fields;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  FlVal *out = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  for (int i = 0; i < n; i++) {
    names[i] = t.type->fields[i].name;
    FlVal x = a, y = b;
    if (a.type->kind == FL_TY_TUPLE) x = fl_val_field(s, a, i);
    if (b.type->kind == FL_TY_TUPLE) {
      int k = fl_type_field_find(b.type, names[i]);
      if (k < 0 || b.type->n_fields != n)
        return fl_sema_error(s, FL_E0313, span, "the two sides have different fields: %s and %s",
                             fl_val_text(s, a), fl_val_text(s, b));
      y = fl_val_field(s, b, k);
    }
    for (int side = 0; side < 2; side++) {
      FlVal v = side ? y : x;
      if (!is_amount(v) && v.type->kind != FL_TY_TUPLE)
        return fl_sema_error(s, FL_E0313, side ? right : left,
                             "arithmetic takes tuples of numbers, and `%s` is %s", names[i],
                             fl_val_text(s, v));
    }
    out[i] = fl_sema_binary(s, op, x, y, span, left, right);
    if (fl_val_bad(out[i])) return out[i];
  }
  return fl_val_tuple(s, n, names, out, t.type->name);
}

/* ---- arithmetic ---- */

/* x to a small whole power is repeated multiplication: the definition of its bits. */
static FlVal small_power(FlSema *s, FlVal x, uint64_t n, FlSpan span) {
  FlVal out = x;
  bool first = true;
  for (FlVal square = x; n; n >>= 1) {
    if (n & 1) {
      out = first ? square
                  : fl_sema_lift_op(s, span, FL_OP_MUL, 2, (FlVal[]){out, square}, x.type->dtype, NULL);
      first = false;
    }
    if (n > 1)
      square = fl_sema_lift_op(s, span, FL_OP_MUL, 2, (FlVal[]){square, square}, x.type->dtype, NULL);
  }
  return out;
}

static FlVal arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right) {
  if (op == FL_BIN_POW && b.literal == FL_LIT_INT && !b.negative && b.magnitude >= 1 && b.magnitude <= 8)
    return small_power(s, a, b.magnitude, span);
  FlDtype d;
  if (op == FL_BIN_POW && fl_dtype_is_int(a.type->dtype) && b.literal == FL_LIT_INT && b.negative &&
      b.magnitude) {
    FlDiag *diag = fl_sema_report(s, FL_E0312, span, "an integer has no negative powers");
    fl_diag_help(s->sink, diag, "make it a float: `f64(x) ^ -%llu`", (unsigned long long)b.magnitude);
    return fl_val_error(s);
  }
  if (!same_number(s, &a, &b, span, left, right, &d)) return fl_val_error(s);
  if (op == FL_BIN_DIV && !fl_dtype_is_float(d)) {
    d = FL_F64;
    a = to_dtype(s, a, d, left);
    b = to_dtype(s, b, d, right);
  }
  FlOpcode code = FL_OP_ADD;
  switch (op) {
  case FL_BIN_SUB: code = FL_OP_SUB; break;
  case FL_BIN_MUL: code = FL_OP_MUL; break;
  case FL_BIN_DIV: code = FL_OP_DIV; break;
  case FL_BIN_FLOORDIV: code = FL_OP_FLOORDIV; break;
  case FL_BIN_MOD: code = FL_OP_MOD; break;
  case FL_BIN_POW: code = FL_OP_POW; break;
  case FL_BIN_ADD:
  case FL_BIN_DEFAULT: /* who calls this has seen that it is arithmetic */
  case FL_BIN_OR:
  case FL_BIN_AND:
  case FL_BIN_EQ:
  case FL_BIN_NE:
  case FL_BIN_LT:
  case FL_BIN_LE:
  case FL_BIN_GT:
  case FL_BIN_GE:
  case FL_BIN_NEAR:
  case FL_BIN_IN:
  case FL_BIN_MATMUL: break;
  }
  return fl_sema_lift_op(s, span, code, 2, (FlVal[]){a, b}, d, NULL);
}

/* ---- comparison ---- */

/* An integer against a float, exactly. The integer as a float rounds to the nearest, so only when that equals
 * y can the integer lie on the other side of y; then y is whole and the integers decide. 2^63 and 2^64 are no
 * integers here. */
static FlVal mixed_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  FlOpcode code = *(FlOpcode *)env;
  FlBuilder *w = &s->b;
  FlValue *i = args[0].parts[0], *y = args[1].parts[0];
  FlDtype d = args[0].type->dtype;
  FlValue *top =
      fl_ir_const_f(w, FL_F64, fl_dtype_is_signed(d) ? 9223372036854775808.0 : 18446744073709551616.0);
  FlValue *below =
      fl_ir_const_f(w, FL_F64, fl_dtype_is_signed(d) ? 9223372036854774784.0 : 18446744073709549568.0);
  FlValue *f = fl_ir_convert(w, i, FL_F64);
  FlValue *close =
      fl_ir_binary(w, FL_OP_AND, fl_ir_binary(w, FL_OP_EQ, f, y), fl_ir_binary(w, FL_OP_LT, y, top));
  FlType1 type = fl_t_scalar(FL_BOOL);
  FlOp *branch = fl_ir_op(w, FL_OP_IF, 1, &close, 1, &type, 2);
  FlRegion *yes = fl_ir_region(w, branch, 0, 0, NULL), *no = fl_ir_region(w, branch, 1, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  FlValue *r = fl_ir_binary(w, code, i, fl_ir_convert(w, y, d));
  fl_ir_yield(yes, s->module, 1, &r);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, no);
  r = fl_ir_binary(w, code, fl_ir_select(w, fl_ir_binary(w, FL_OP_EQ, f, top), below, f), y);
  fl_ir_yield(no, s->module, 1, &r);
  fl_sema_leave(s, saved);
  FlValue *value = branch->results[0], *va = fl_val_valid(s, args[0]), *vb = fl_val_valid(s, args[1]);
  if (!va && !vb) return fl_val_scalar(s, FL_BOOL, value);
  FlValue *valid = va && vb ? fl_ir_binary(w, FL_OP_AND, va, vb) : va ? va : vb;
  FlValue *parts[2] = {fl_ir_binary(w, FL_OP_AND, value, valid), valid};
  return fl_val_make(s, fl_type_scalar(s->types, FL_BOOL, true), parts);
}

/* Two values of which one is a category, as codes by one's levels: the other is one too, or a single text.
 * *levels: those; NULL: reported. */
static FlValue *same_category(FlSema *s, FlVal *a, FlVal *b, FlSpan left, FlSpan right) {
  FlVal *category = fl_val_is_category(*a) ? a : b, *other = category == a ? b : a;
  FlSpan span = category == a ? right : left;
  FlValue *levels = fl_val_levels(*category);
  if (fl_val_is_category(*other)) {
    levels = fl_levels_same(s, levels, fl_val_levels(*other), span);
    *other = fl_category_codes(s, *other);
  } else {
    *other = fl_category_encode(s, *other, levels, span);
    if (fl_val_bad(*other)) levels = NULL;
  }
  *category = fl_category_codes(s, *category);
  return levels;
}

/* Is v a category, or a single text, which can become one by another's levels? */
static bool like_category(FlVal v) {
  return fl_val_is_category(v) ||
         (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT && !v.type->nullable);
}

static bool wide_int(FlVal v) { return v.type->dtype == FL_I64 || v.type->dtype == FL_U64; }

static FlVal compare(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right) {
  static const FlOpcode codes[] = {[FL_BIN_EQ] = FL_OP_EQ, [FL_BIN_NE] = FL_OP_NE, [FL_BIN_LT] = FL_OP_LT,
                                   [FL_BIN_LE] = FL_OP_LE, [FL_BIN_GT] = FL_OP_GT, [FL_BIN_GE] = FL_OP_GE};
  if (a.type->kind == FL_TY_NULL || b.type->kind == FL_TY_NULL) {
    FlDiag *d = fl_sema_report(s, FL_E0504, span, "a comparison with null is never true");
    fl_diag_help(s->sink, d, op == FL_BIN_NE ? "ask with `not is_null(...)`" : "ask with `is_null(...)`");
    return fl_val_error(s);
  }
  if (!is_plain(a) || !is_plain(b))
    return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
  if (fl_val_is_decimal(a) || fl_val_is_decimal(b)) return fl_decimal_compare(s, op, codes[op], a, b, span);
  FlDtype d = a.type->dtype;
  bool mixed = is_number(a) && is_number(b) &&
               ((wide_int(a) && fl_dtype_is_float(b.type->dtype)) ||
                (wide_int(b) && fl_dtype_is_float(a.type->dtype)));
  if (mixed && !(a.literal && fl_val_fits(s, a, fl_type_scalar(s->types, b.type->dtype, false))) &&
      !(b.literal && fl_val_fits(s, b, fl_type_scalar(s->types, a.type->dtype, false)))) {
    static const FlOpcode turned[] = {[FL_BIN_EQ] = FL_OP_EQ, [FL_BIN_NE] = FL_OP_NE, [FL_BIN_LT] = FL_OP_GT,
                                      [FL_BIN_LE] = FL_OP_GE, [FL_BIN_GT] = FL_OP_LT, [FL_BIN_GE] = FL_OP_LE};
    FlOpcode code = wide_int(a) ? codes[op] : turned[op];
    FlVal pair[2] = {wide_int(a) ? a : b, to_dtype(s, wide_int(a) ? b : a, FL_F64, span)};
    return fl_sema_lift(s, span, 2, pair, mixed_element, &code);
  }
  if ((fl_val_is_category(a) || fl_val_is_category(b)) && like_category(a) && like_category(b)) {
    if (!same_category(s, &a, &b, left, right)) return fl_val_error(s);
  } else if (is_number(a) && is_number(b)) {
    if (!same_number(s, &a, &b, span, left, right, &d)) return fl_val_error(s);
  } else if (a.type->dtype != b.type->dtype || d == FL_FILE ||
             (d == FL_BOOL && op != FL_BIN_EQ && op != FL_BIN_NE)) {
    return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
  }
  return fl_sema_lift_op(s, span, codes[op], 2, (FlVal[]){a, b}, FL_BOOL, NULL);
}

static FlVal near_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  (void)env;
  FlValue *a = args[0].parts[0], *b = args[1].parts[0];
  FlBuilder *w = &s->b;
  FlValue *gap = fl_ir_unary(w, FL_OP_ABS, fl_ir_binary(w, FL_OP_SUB, a, b));
  FlValue *size = fl_ir_binary(w, FL_OP_MAX, fl_ir_unary(w, FL_OP_ABS, a), fl_ir_unary(w, FL_OP_ABS, b));
  FlValue *room = fl_ir_binary(w, FL_OP_ADD, fl_ir_binary(w, FL_OP_MUL, size, fl_ir_const_f(w, FL_F64, 1e-9)),
                               fl_ir_const_f(w, FL_F64, 1e-12));
  FlValue *finite = fl_ir_binary(w, FL_OP_LT, gap, fl_ir_const_f(w, FL_F64, (double)INFINITY));
  FlValue *close = fl_ir_binary(w, FL_OP_AND, fl_ir_binary(w, FL_OP_LE, gap, room), finite);
  return fl_val_scalar(s, FL_BOOL, fl_ir_binary(w, FL_OP_OR, close, fl_ir_binary(w, FL_OP_EQ, a, b)));
}

static FlVal near(FlSema *s, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right) {
  if (!is_number(a) || !is_number(b) || a.type->nullable || b.type->nullable)
    return fl_sema_wrong_operands(s, "~=", a, b, span);
  a = to_dtype(s, a, FL_F64, left);
  b = to_dtype(s, b, FL_F64, right);
  FlVal args[2] = {a, b};
  return fl_sema_lift(s, span, 2, args, near_element, NULL);
}

/* ---- logic ---- */

static FlVal logic_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  bool is_and = *(bool *)env;
  FlBuilder *w = &s->b;
  FlValue *a = args[0].parts[0], *b = args[1].parts[0];
  FlValue *value = fl_ir_binary(w, is_and ? FL_OP_AND : FL_OP_OR, a, b);
  FlValue *va = fl_val_valid(s, args[0]), *vb = fl_val_valid(s, args[1]);
  if (!va && !vb) return fl_val_scalar(s, FL_BOOL, value);
  if (!va) va = fl_ir_const_i(w, FL_BOOL, 1);
  if (!vb) vb = fl_ir_const_i(w, FL_BOOL, 1);
  /* Known when both are, or when one known side decides; under a null the value is false. */
  FlValue *da = fl_ir_binary(w, FL_OP_AND, va, is_and ? fl_ir_unary(w, FL_OP_NOT, a) : a);
  FlValue *db = fl_ir_binary(w, FL_OP_AND, vb, is_and ? fl_ir_unary(w, FL_OP_NOT, b) : b);
  FlValue *valid =
      fl_ir_binary(w, FL_OP_OR, fl_ir_binary(w, FL_OP_AND, va, vb), fl_ir_binary(w, FL_OP_OR, da, db));
  FlValue *parts[2] = {fl_ir_binary(w, FL_OP_AND, value, valid), valid};
  return fl_val_make(s, fl_type_scalar(s->types, FL_BOOL, true), parts);
}

static FlVal logic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span) {
  if (!is_dtype(a, FL_BOOL) || !is_dtype(b, FL_BOOL))
    return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
  bool is_and = op == FL_BIN_AND;
  FlVal args[2] = {a, b};
  return fl_sema_lift(s, span, 2, args, logic_element, &is_and);
}

static FlVal not_bool(FlSema *s, FlVal v, FlSpan span) {
  FlDiag *d = fl_sema_report(s, FL_E0312, span, "`not` takes a bool, and this is %s", fl_val_text(s, v));
  bool many = v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_TABLE || v.type->kind == FL_TY_LIST;
  if (many) fl_diag_help(s->sink, d, "whether there is nothing in it is asked by `len(a) == 0`");
  else if (is_dtype(v, FL_TEXT))
    fl_diag_help(s->sink, d, "an empty text is `w == \"\"`, a missing one `is_null(w)`");
  else if (is_number(v)) fl_diag_help(s->sink, d, "nought is asked by `x == 0`");
  return fl_val_error(s);
}

FlVal fl_sema_not(FlSema *s, FlVal v, FlSpan span) {
  if (!is_dtype(v, FL_BOOL)) return not_bool(s, v, span);
  return fl_sema_lift_op(s, span, FL_OP_NOT, 1, &v, FL_BOOL, NULL);
}

FlVal fl_sema_negate(FlSema *s, FlVal v, FlSpan span) {
  if (v.literal) {
    FlVal out = v;
    out.parts = FL_NEW_ARRAY(s->arena, FlValue *, 1);
    if (v.literal == FL_LIT_INT) {
      out.negative = !v.negative && v.magnitude;
      if (v.magnitude > (uint64_t)1 << 63)
        return fl_sema_error(s, FL_E0302, span, "this number does not fit i64");
      if (fl_dtype_is_float(v.type->dtype))
        out.parts[0] = fl_ir_const_f(&s->b, v.type->dtype, (double)v.magnitude * (out.negative ? -1 : 1));
      else {
        out.type =
            fl_type_scalar(s->types, fl_dtype_is_signed(v.type->dtype) ? v.type->dtype : FL_I64, false);
        out.parts[0] =
            fl_ir_const_i(&s->b, out.type->dtype, (int64_t)(out.negative ? 0 - v.magnitude : v.magnitude));
      }
    } else {
      out.real = -v.real;
      out.parts[0] = fl_ir_const_f(&s->b, v.type->dtype, out.real);
    }
    return out;
  }
  if (v.type->kind == FL_TY_TUPLE) {
    FlVal minus = fl_val_i64(s, -1);
    minus.literal = FL_LIT_INT;
    minus.magnitude = 1;
    minus.negative = true;
    return fl_sema_binary(s, FL_BIN_MUL, minus, v, span, span, span);
  }
  if (!is_amount(v) && !is_dtype(v, FL_DURATION)) {
    FlDiag *d = fl_sema_report(s, FL_E0312, span, "`-` takes a number, and this is %s", fl_val_text(s, v));
    if (is_plain(v)) fl_diag_help(s->sink, d, "to sort downwards by it, write `desc(...)`");
    return fl_val_error(s);
  }
  if (fl_dtype_is_int(v.type->dtype) && !fl_dtype_is_signed(v.type->dtype))
    return fl_sema_error(s, FL_E0312, span, "%s has no negative values; convert it first, `-i64(...)`",
                         fl_dtype_name(v.type->dtype));
  FlVal out = fl_sema_lift_op(s, span, FL_OP_NEG, 1, &v, v.type->dtype, NULL);
  if (v.exact) out.exact = v.exact[0] == '-' ? v.exact + 1 : fl_arena_printf(s->arena, "-%s", v.exact);
  return out;
}

/* ---- ?? and in ---- */

static FlVal default_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)env;
  (void)span;
  FlVal a = args[0], b = args[1];
  FlValue *value = fl_ir_select(&s->b, a.parts[1], a.parts[0], b.parts[0]);
  if (!b.type->nullable) return fl_val_scalar(s, a.type->dtype, value);
  FlValue *parts[2] = {value, fl_ir_binary(&s->b, FL_OP_OR, a.parts[1], b.parts[1])};
  return fl_val_make(s, a.type, parts);
}

static FlVal fill_null(FlSema *s, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right) {
  if (a.type->kind == FL_TY_NULL) return b;
  if (!is_plain(a) || !is_plain(b)) return fl_sema_wrong_operands(s, "??", a, b, span);
  if (!a.type->nullable) {
    fl_report(s->sink, FL_W0001, left, "this is never null, so `??` does nothing");
    return a;
  }
  FlDtype d = a.type->dtype;
  FlValue *levels = NULL;
  if (is_amount(a) && is_amount(b)) {
    if (!same_number(s, &a, &b, span, left, right, &d)) return fl_val_error(s);
  } else if (fl_val_is_category(a) && like_category(b)) {
    levels = same_category(s, &a, &b, left, right);
    if (!levels) return fl_val_error(s);
  } else if (b.type->dtype != d) {
    return fl_sema_wrong_operands(s, "??", a, b, span);
  }
  FlVal args[2] = {a, b};
  FlVal out = fl_sema_lift(s, span, 2, args, default_element, NULL);
  return levels && !fl_val_bad(out) ? fl_category_of(s, out, levels) : out;
}

typedef struct InArray {
  FlVal set;
} InArray;

static FlVal in_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  FlVal set = ((InArray *)env)->set;
  FlValue *size = fl_sema_dim(s, set, 0);
  FlType1 out = fl_t_scalar(FL_BOOL), in = fl_t_scalar(FL_I64);
  FlOp *any = fl_ir_op(&s->b, FL_OP_REDUCE, 1, &size, 1, &out, 1);
  fl_ir_set_reduction(any, FL_RED_ANY, false);
  FlRegion *r = fl_ir_region(&s->b, any, 0, 1, &in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *same =
      fl_ir_binary(&s->b, FL_OP_EQ, args[0].parts[0], fl_ir_load(&s->b, set.parts[0], 1, r->params, true));
  fl_ir_yield(r, s->module, 1, &same);
  fl_sema_leave(s, saved);
  FlValue *valid = fl_val_valid(s, args[0]);
  if (!valid) return fl_val_scalar(s, FL_BOOL, any->results[0]);
  FlValue *parts[2] = {fl_ir_binary(&s->b, FL_OP_AND, any->results[0], valid), valid};
  return fl_val_make(s, fl_type_scalar(s->types, FL_BOOL, true), parts);
}

static FlVal is_in(FlSema *s, FlVal x, FlVal set, FlSpan span, FlSpan left, FlSpan right) {
  if (set.type->kind != FL_TY_ARRAY || set.type->rank != 1 || set.type->nullable || !is_plain(x))
    return fl_sema_wrong_operands(s, "in", x, set, span);
  if (fl_val_is_category(x) && set.type->dtype == FL_TEXT) { /* each of them must be a level */
    set = fl_category_encode(s, set, fl_val_levels(x), right);
    x = fl_category_codes(s, x);
    if (fl_val_bad(set)) return set;
  } else if (fl_val_is_category(x) && fl_val_is_category(set)) {
    if (!same_category(s, &x, &set, left, right)) return fl_val_error(s);
  } else if (is_amount(x) && is_amount(set)) {
    FlDtype d;
    FlVal probe = set;
    if (!same_number(s, &x, &probe, span, left, right, &d)) return fl_val_error(s);
    set = probe;
  } else if (x.type->dtype != set.type->dtype) {
    return fl_sema_wrong_operands(s, "in", x, set, span);
  }
  InArray env = {set};
  return fl_sema_lift(s, span, 1, &x, in_element, &env);
}

static FlVal in_range(FlSema *s, FlVal x, const FlExpr *range, FlSpan span, FlSpan left) {
  FlVal lo = fl_sema_expr(s, range->range.lo, NULL), hi = fl_sema_expr(s, range->range.hi, NULL);
  if (fl_val_bad(lo) || fl_val_bad(hi)) return fl_val_error(s);
  if (range->range.step) return fl_sema_error(s, FL_E0314, range->span, "`in` takes a range without a step");
  FlVal ge = fl_sema_binary(s, FL_BIN_GE, x, lo, span, left, range->range.lo->span);
  FlVal lt = fl_sema_binary(s, FL_BIN_LT, x, hi, span, left, range->range.hi->span);
  if (fl_val_bad(ge) || fl_val_bad(lt)) return fl_val_error(s);
  return fl_sema_binary(s, FL_BIN_AND, ge, lt, span, span, span);
}

/* ---- matrix product ---- */

/* [k, n, m] @ [k, m, p]: the product of each pair. */
static FlVal products(FlSema *s, FlVal a, FlVal b, FlDtype d, FlSpan span) {
  if (!fl_dtype_is_float(d))
    return fl_sema_error(s, FL_E0312, span, "`@` of many matrices takes floats, and these are %s",
                         fl_val_text(s, a));
  if (!fl_sema_same_size(s, fl_sema_dim(s, a, 0), fl_sema_dim(s, b, 0), span,
                         "the left side of `@` has {a} matrices, but the right side has {b}") ||
      !fl_sema_same_size(s, fl_sema_dim(s, a, 2), fl_sema_dim(s, b, 1), span,
                         "the left matrices of `@` have {a} columns, but the right ones have {b} rows"))
    return fl_val_error(s);
  FlType1 out = fl_t_array(d, 3);
  FlOp *op = fl_ir_op(&s->b, FL_OP_LINALG_PRODUCTS, 2, (FlValue *[]){a.parts[0], b.parts[0]}, 1, &out, 0);
  return fl_val_array(s, d, 3, op->results[0]);
}

FlVal fl_sema_matmul(FlSema *s, FlVal a, FlVal b, FlSpan span) {
  if (a.type->kind != FL_TY_ARRAY || b.type->kind != FL_TY_ARRAY || !is_number(a) || !is_number(b) ||
      (a.type->rank > 2 || b.type->rank > 2) != (a.type->rank == 3 && b.type->rank == 3))
    return fl_sema_wrong_operands(s, "@", a, b, span);
  if (a.type->nullable || b.type->nullable) {
    FlDiag *d = fl_sema_report(s, FL_E0501, span, "a matrix product cannot take values that may be null");
    fl_diag_help(s->sink, d, "fill them with `?? 0` or drop those rows first");
    return fl_val_error(s);
  }
  FlDtype d;
  if (!same_number(s, &a, &b, span, span, span, &d)) return fl_val_error(s);
  int ra = a.type->rank, rb = b.type->rank, rank = ra + rb - 2;
  if (ra == 3) return products(s, a, b, d, span);
  const char *message =
      fl_arena_printf(s->arena, "the left side of `@` has {a} %s, but the right side has {b} %s",
                      ra == 1 ? "elements" : "columns", rb == 1 ? "elements" : "rows");
  if (!fl_sema_same_size(s, fl_sema_dim(s, a, ra - 1), fl_sema_dim(s, b, 0), span, message))
    return fl_val_error(s);
  FlType1 out = rank ? fl_t_array(d, rank) : fl_t_scalar(d);
  FlOp *op = fl_ir_op(&s->b, FL_OP_MATMUL, 2, (FlValue *[]){a.parts[0], b.parts[0]}, 1, &out, 0);
  return rank ? fl_val_array(s, d, rank, op->results[0]) : fl_val_scalar(s, d, op->results[0]);
}

/* ---- dispatch ---- */

FlVal fl_sema_binary(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right) {
  if (fl_val_bad(a) || fl_val_bad(b)) return fl_val_error(s);
  if (a.type->kind == FL_TY_NEVER) return a;
  if (a.type->kind == FL_TY_NONE || b.type->kind == FL_TY_NONE)
    return fl_sema_error(s, FL_E0309, a.type->kind == FL_TY_NONE ? left : right, "this gives no value");
  switch (op) {
  case FL_BIN_DEFAULT: return fill_null(s, a, b, span, left, right);
  case FL_BIN_OR:
  case FL_BIN_AND: return logic(s, op, a, b, span);
  case FL_BIN_EQ:
  case FL_BIN_NE:
  case FL_BIN_LT:
  case FL_BIN_LE:
  case FL_BIN_GT:
  case FL_BIN_GE: return compare(s, op, a, b, span, left, right);
  case FL_BIN_NEAR: return near(s, a, b, span, left, right);
  case FL_BIN_IN: return is_in(s, a, b, span, left, right);
  case FL_BIN_MATMUL: return fl_sema_matmul(s, a, b, span);
  case FL_BIN_ADD:
  case FL_BIN_SUB:
  case FL_BIN_MUL:
  case FL_BIN_DIV:
  case FL_BIN_FLOORDIV:
  case FL_BIN_MOD:
  case FL_BIN_POW: break;
  }
  if (a.type->kind == FL_TY_TUPLE || b.type->kind == FL_TY_TUPLE)
    return tuple_arithmetic(s, op, a, b, span, left, right);
  if (fl_val_is_decimal(a) || fl_val_is_decimal(b)) return fl_decimal_arithmetic(s, op, a, b, span);
  if (is_number(a) && is_number(b)) {
    FlVal out = arithmetic(s, op, a, b, span, left, right);
    if (!fl_val_bad(out)) out.exact = fl_decimal_exact(s, op, a, b);
    return out;
  }
  if (op == FL_BIN_ADD && is_dtype(a, FL_TEXT) && is_dtype(b, FL_TEXT))
    return fl_sema_lift_op(s, span, FL_OP_TEXT_CONCAT, 2, (FlVal[]){a, b}, FL_TEXT, NULL);
  if (is_plain(a) && is_plain(b) && (fl_is_time(a.type->dtype) || fl_is_time(b.type->dtype)))
    return fl_sema_date_arithmetic(s, op, a, b, span);
  return fl_sema_wrong_operands(s, fl_syntax_binary_spelling(op), a, b, span);
}

/* ---- the right side of and, or, ?? ---- */

bool fl_lazy_fails(FlSema *s, FlLazyMark mark) {
  bool faults = false; /* what is made of constants becomes one */
  for (FlOp *op = mark.op ? mark.op->next : s->b.region->first; op; op = op->next) {
    fl_ir_fold_op(op);
    faults = faults || fl_ir_may_fault(op);
  }
  return faults;
}

/* Scalars: `b`, made after `mark` and perhaps NEVER, is evaluated where `cond` is `when`; elsewhere it is
 * `known`. */
typedef struct Lazy {
  FlLazyMark mark;
  FlVal known, b;
  FlSpan left, right;
  const FlType *result;
} Lazy;

/* last: the last op of b; those behind it make cond. */
static FlVal lazy_scalar(FlSema *s, const Lazy *lazy, FlOp *last, FlValue *cond, bool when) {
  FlRegion *here = s->b.region;
  const FlType *t = lazy->result;
  FlType1 types[3];
  int n = fl_type_element_parts(t);
  fl_type_parts(t, types);
  FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &cond, n, types, 2);
  FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
  FlRegion *taken = when ? yes : no, *other = when ? no : yes;
  fl_ir_move_into(here, lazy->mark.op, last ? last->next : here->first, taken);
  fl_sema_cut_aliases(s, lazy->mark.n_aliases); /* what b found of sizes holds only where it is evaluated */
  FlSavedPlace saved = fl_sema_enter(s, taken);
  FlVal b = fl_val_coerce(s, lazy->b, t, lazy->right, "the right side");
  if (!fl_val_bad(b)) fl_ir_yield(taken, s->module, n, b.parts);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, other);
  FlVal known = lazy->known.type ? lazy->known : fl_val_bool(s, !when);
  known = fl_val_coerce(s, known, t, lazy->left, "the left side");
  if (!fl_val_bad(known)) fl_ir_yield(other, s->module, n, known.parts);
  fl_sema_leave(s, saved);
  return fl_val_bad(b) || fl_val_bad(known) ? fl_val_error(s) : fl_val_with(s, t, branch->results, known);
}

/* The right side decides where the left one is true (`and`), false (`or`), or null. */
static FlVal lazy_logic(FlSema *s, FlBinaryOp op, FlVal a, const Lazy *lazy, FlSpan span) {
  bool is_and = op == FL_BIN_AND;
  FlOp *last = s->b.region->last;
  FlValue *cond = a.parts[0], *valid = fl_val_valid(s, a); /* a null is false underneath */
  if (is_and && valid) cond = fl_ir_binary(&s->b, FL_OP_OR, cond, fl_ir_unary(&s->b, FL_OP_NOT, valid));
  FlVal out = lazy_scalar(s, lazy, last, cond, is_and);
  return valid && !fl_val_bad(out) ? fl_sema_binary(s, op, a, out, span, lazy->left, lazy->right) : out;
}

FlVal fl_sema_logic_of(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlLazyMark mark, FlSpan span, FlSpan left,
                       FlSpan right) {
  if (fl_val_bad(a) || fl_val_bad(b)) return fl_val_error(s);
  bool never = b.type->kind == FL_TY_NEVER, array = b.type->kind == FL_TY_ARRAY;
  bool fits = is_dtype(a, FL_BOOL) && (never || is_dtype(b, FL_BOOL));
  if (!fits || !(never || fl_lazy_fails(s, mark))) return fl_sema_binary(s, op, a, b, span, left, right);
  if (a.type->kind == FL_TY_ARRAY || array) {
    bool wider = array && a.type->kind == FL_TY_ARRAY && b.type->rank > a.type->rank;
    return wider ? fl_sema_binary(s, op, a, b, span, left, right)
                 : fl_sema_choose_logic(s, op, a, left, b, mark, right);
  }
  const FlType *result = fl_type_scalar(s->types, FL_BOOL, !never && b.type->nullable);
  Lazy lazy = {mark, {0}, b, left, right, result};
  return lazy_logic(s, op, a, &lazy, span);
}

/* x ?? b where b may fail: it is evaluated only where x is null. */
static FlVal lazy_default(FlSema *s, FlVal a, FlVal b, FlLazyMark mark, FlSpan span, FlSpan left,
                          FlSpan right) {
  bool never = b.type->kind == FL_TY_NEVER;
  bool array = a.type->kind == FL_TY_ARRAY || b.type->kind == FL_TY_ARRAY;
  FlDtype d = a.type->dtype;
  if (!never && fl_val_is_category(a)) { /* the check of the levels may fail: it is b's */
    if (!like_category(b)) return fl_sema_binary(s, FL_BIN_DEFAULT, a, b, span, left, right);
    FlVal by = a;
    FlValue *levels =
        array && fl_val_is_category(b) ? fl_val_levels(b) : same_category(s, &by, &b, left, right);
    if (!levels) return fl_val_error(s);
    if (!fl_val_is_category(b)) b = fl_category_of(s, b, levels);
  } else if (!never && !(is_number(a)           ? fl_sema_common_number(s, a, b, &d)
                         : fl_val_is_decimal(a) ? fl_decimal_common(a, b, &d)
                                                : b.type->dtype == d)) {
    return fl_sema_binary(s, FL_BIN_DEFAULT, a, b, span, left, right);
  }
  if (array) return fl_sema_choose_default(s, a, left, b, mark, right);
  const FlType *result = fl_type_with_null(s->types, a.type, !never && b.type->nullable);
  if (is_amount(a)) result = fl_type_scalar(s->types, d, result->nullable);
  Lazy lazy = {mark, fl_val_plain(s, a), b, left, right, result};
  return lazy_scalar(s, &lazy, s->b.region->last, fl_val_valid(s, a), false);
}

/* A right side that may fail is evaluated only where the left one does not decide. */
static FlVal lazy_right(FlSema *s, const FlExpr *e, FlVal a, const FlType *want) {
  FlBinaryOp op = e->binary.op;
  FlSpan span = e->binary.op_span, left = e->binary.left->span, right = e->binary.right->span;
  FlLazyMark mark = fl_lazy_mark(s);
  bool array = a.type->kind == FL_TY_ARRAY;
  s->by_element += array;
  FlVal b = fl_sema_expr(s, e->binary.right, want);
  s->by_element -= array;
  if (op != FL_BIN_DEFAULT) return fl_sema_logic_of(s, op, a, b, mark, span, left, right);
  if (fl_val_bad(a) || fl_val_bad(b)) return fl_val_error(s);
  bool may = b.type->kind == FL_TY_NEVER || (is_plain(b) && fl_lazy_fails(s, mark));
  return may && is_plain(a) && a.type->nullable ? lazy_default(s, a, b, mark, span, left, right)
                                                : fl_sema_binary(s, op, a, b, span, left, right);
}

/* months(n) or years(n), which have no length of their own: how many months; 0: it is neither. */
static int64_t calendar_step(FlSema *s, const FlExpr *e, const FlBuiltin **unit) {
  if (e->kind != FL_EXPR_CALL || e->call.func->kind != FL_EXPR_NAME || e->call.args.n != 1) return 0;
  const char *name = e->call.func->name.text;
  if (fl_scope_find(s, name)) return 0;
  *unit = fl_builtin_find(s, name);
  return strcmp(name, "months") == 0 ? 1 : strcmp(name, "years") == 0 ? 12 : 0;
}

/* day + months(n), day - years(n): add_months of so many. */
static FlVal by_calendar(FlSema *s, FlBinaryOp op, FlVal day, FlSpan left, const FlExpr *step,
                         int64_t months) {
  FlVal n = fl_sema_expr(s, step->call.args.at[0].value, NULL);
  if (fl_val_bad(day) || fl_val_bad(n)) return fl_val_error(s);
  FlSpan span = step->span;
  FlVal factor = fl_val_scalar(s, FL_I64, fl_sema_i64(s, op == FL_BIN_SUB ? -months : months));
  if (op == FL_BIN_SUB || months != 1) n = fl_sema_binary(s, FL_BIN_MUL, n, factor, span, span, span);
  FlClosure add = {.builtin = fl_builtin_find(s, "add_months")};
  FlActual args[2] = {{.value = day, .span = left}, {.value = n, .span = span}};
  return fl_call_value(s, fl_arena_copy(s->arena, &add, sizeof add), 2, args, span, NULL);
}

/* `"x" > 1`, `"shop" == "north"`, where x and shop are columns: they are named without quotes. */
static bool quotes_column(FlSema *s, const FlExpr *e, FlVal a, FlVal b) {
  const FlExpr *sides[] = {e->binary.left, e->binary.right};
  const FlVal values[] = {a, b};
  const bool in = e->binary.op == FL_BIN_IN;
  if (fl_syntax_precedence(e->binary.op) != FL_BINDS_COMPARE) return false;
  for (int k = 0; k < (in ? 1 : 2); k++) {
    const char *text = fl_habit_plain_text(sides[k]);
    const FlVal other = values[1 - k];
    bool as_text = is_dtype(other, FL_TEXT) || fl_val_is_category(other),
         literal = in ? sides[1]->kind == FL_EXPR_ARRAY : fl_habit_plain_text(sides[1 - k]) != NULL;
    if (!text || (!literal && (in || as_text))) continue;
    const FlBinding *named = fl_scope_find(s, fl_intern_z(s->names, text));
    if (!named || named->kind != FL_BIND_COLUMN) continue;
    FlDiag *d = fl_sema_report(s, FL_E0607, sides[k]->span,
                               "this is a text, and the name of a column stands without quotes");
    fl_diag_meant(s->sink, d, sides[k]->span, "", named->name);
    return true;
  }
  return false;
}

static bool is_date_text(const char *t, size_t n) {
  if (n != 10 || t[4] != '-' || t[7] != '-') return false;
  for (size_t k = 0; k < n; k++)
    if (k != 4 && k != 7 && (t[k] < '0' || t[k] > '9')) return false;
  return true;
}

/* The literal that a text beside a number, a date or a time stands for; NULL: none. */
static const char *literal_of(FlSema *s, const char *text, FlVal other) {
  char *end = (char *)(uintptr_t)text;
  bool date = is_date_text(text, strlen(text));
  if (is_dtype(other, FL_DATE)) return date ? fl_arena_printf(s->arena, "date(\"%s\")", text) : NULL;
  if (is_dtype(other, FL_DATETIME)) {
    bool time = strlen(text) >= 16 && is_date_text(fl_arena_strndup(s->arena, text, 10), 10);
    return date || time ? fl_arena_printf(s->arena, "datetime(\"%s\")", text) : NULL;
  }
  if (!is_number(other) || !*text || !strchr("-.0123456789", *text)) return NULL;
  if (fl_dtype_is_float(other.type->dtype)) (void)strtod(text, &end);
  else (void)strtoll(text, &end, 10);
  return *end || strpbrk(text, "xXpP") ? NULL : text;
}

/* `year(day) == "2024"`, `day > "2024-02-01"`: adds to the message, the last one, what is written instead. */
static void literal_meant(FlSema *s, const FlExpr *e, FlVal a, FlVal b) {
  const FlExpr *sides[] = {e->binary.left, e->binary.right};
  const FlVal values[] = {a, b};
  FlDiag *d = s->sink->diags.n ? s->sink->diags.at[s->sink->diags.n - 1] : NULL;
  if (!d || d->code != FL_E0312 || d->edit.text || fl_syntax_precedence(e->binary.op) != FL_BINDS_COMPARE)
    return;
  for (int k = 0; k < 2; k++) {
    const char *text = fl_habit_plain_text(sides[k]), *by = text ? literal_of(s, text, values[1 - k]) : NULL;
    FlSpan at = sides[k]->span;
    if (!text && at.len == 10) { /* 2024-02-01, without quotes */
      const char *from = fl_sources_get(s->sources, at.file)->text + at.start;
      const char *written = fl_arena_strndup(s->arena, from, 10);
      by = is_date_text(written, 10) ? literal_of(s, written, values[1 - k]) : NULL;
    }
    if (!by || (!text && *by != 'd')) continue;
    bool number = by == text;
    fl_diag_help(s->sink, d, number ? "a number stands without quotes: `%s`" : "write `%s`", by);
    d->edit.span = at;
    d->edit.text = by;
  }
}

FlVal fl_sema_binary_expr(FlSema *s, const FlExpr *e, const FlType *want) {
  FlBinaryOp op = e->binary.op;
  FlSpan span = e->binary.op_span, left = e->binary.left->span, right = e->binary.right->span;
  FlVal a = fl_sema_expr(s, e->binary.left,
                         want && want->kind == FL_TY_SCALAR && fl_dtype_is_float(want->dtype) ? want : NULL);
  const FlBuiltin *unit;
  int64_t months = op == FL_BIN_ADD || op == FL_BIN_SUB ? calendar_step(s, e->binary.right, &unit) : 0;
  if (months) {
    fl_witness_builtin(s, e->binary.right->call.func->span, unit);
    return by_calendar(s, op, a, left, e->binary.right, months);
  }
  if (op == FL_BIN_IN && e->binary.right->kind == FL_EXPR_RANGE && !fl_val_bad(a))
    return in_range(s, a, e->binary.right, span, left);
  if (op == FL_BIN_AND || op == FL_BIN_OR) return lazy_right(s, e, a, NULL);
  if (op == FL_BIN_DEFAULT) {
    bool scalar = a.type->kind == FL_TY_SCALAR && a.type->nullable;
    return lazy_right(s, e, a, scalar ? fl_type_with_null(s->types, a.type, false) : NULL);
  }
  bool among =
      op == FL_BIN_IN && !fl_val_bad(a) && fl_val_is_decimal(a); /* numbers in the list are decimals */
  FlVal b = fl_sema_expr(s, e->binary.right, among ? fl_type_array(s->types, a.type->dtype, false, 1) : NULL);
  if (fl_val_bad(a) || fl_val_bad(b) || quotes_column(s, e, a, b)) return fl_val_error(s);
  fl_known_values_look(s, e, a, b);
  FlVal v = fl_sema_binary(s, op, a, b, span, left, right);
  if (op == FL_BIN_IN) fl_habit_part(s, e, a, b, v);
  if (fl_val_bad(v)) fl_habit_operands(s, e, a, b);
  if (fl_val_bad(v)) literal_meant(s, e, a, b);
  return v;
}
