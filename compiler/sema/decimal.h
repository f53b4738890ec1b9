/* decimal.h: values of type decimal, for those who convert and combine values. */
#ifndef FL_SEMA_DECIMAL_H
#define FL_SEMA_DECIMAL_H

#include "sema/state.h"

static inline bool fl_val_is_decimal(FlVal v) {
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && fl_dtype_is_decimal(v.type->dtype);
}
static inline FlDtype fl_decimal_of_scale(int scale) { return (FlDtype)((int)FL_DECIMAL0 + scale); }
/* The type of a number of the script as it is written: 1.50 has two digits behind the point. false: none
 * holds it. */
bool fl_decimal_literal_type(FlVal literal, FlDtype *out);
/* The units that a number is which stands in the script; false: the decimal type does not hold it exactly. */
bool fl_decimal_literal(FlVal literal, FlDtype d, int64_t *units);
/* What a op b, + - * of numbers of the script, is exactly, with the digits that decimals would have; NULL:
 * none holds it. */
const char *fl_decimal_exact(FlSema *s, FlBinaryOp op, FlVal a, FlVal b);
/* Reports that the number of the script does not fit the decimal type. */
FlVal fl_decimal_misfit(FlSema *s, FlVal v, FlDtype d, FlSpan span);
/* v, a decimal, an integer or a literal, as this decimal type; exact or an error of the run. */
FlVal fl_decimal_as(FlSema *s, FlVal v, FlDtype d, FlSpan span);
/* The type that both are brought to, one of them being a decimal: f64 where the other is a float; false:
 * none. */
bool fl_decimal_common(FlVal a, FlVal b, FlDtype *out);
FlVal fl_decimal_to_real(FlSema *s, FlVal v, FlSpan span); /* the nearest f64 */
/* + - * / // % ^, and comparisons, where one side is a decimal. */
FlVal fl_decimal_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span);
FlVal fl_decimal_compare(FlSema *s, FlBinaryOp op, FlOpcode code, FlVal a, FlVal b, FlSpan span);
/* round, floor, ceil, trunc of a decimal: an integer, or a decimal of so many digits. */
FlVal fl_decimal_rounding(FlSema *s, FlOpcode how, FlVal v, int64_t digits, bool to_digits, FlSpan span);

#endif
