/* scalar_convert.h: number to number, and float to rounded integer.
 *
 * To an integer: the value exactly, or NARROW (a fraction, NaN or out of range). To a float: rounded to
 * nearest. */
#ifndef FL_SCALAR_CONVERT_H
#define FL_SCALAR_CONVERT_H

#include "kern/vec_base.h"

/* Integer to integer: it must come back as itself, with its sign. The types for a duration, a date and a
 * datetime convert as the integers that they are stored as. */
#define FL_TO_INTEGER(A, CA, B, CB)                                                                          \
  FL_KERN CB fl_s_convert_##A##_##B(CA a, int32_t *fault) {                                                  \
    CB r = (CB)a;                                                                                            \
    fl_fault_if(fault, ((CA)r != a) | ((r < (CB)1) != (a < (CA)1)), FL_FAULT_NARROW);                        \
    return r;                                                                                                \
  }
#define FL_TO_FLOATS(A, CA)                                                                                  \
  FL_KERN float fl_s_convert_##A##_f32(CA a, int32_t *fault) {                                               \
    (void)fault;                                                                                             \
    return (float)a;                                                                                         \
  }                                                                                                          \
  FL_KERN double fl_s_convert_##A##_f64(CA a, int32_t *fault) {                                              \
    (void)fault;                                                                                             \
    return (double)a;                                                                                        \
  }
#define FL_INTEGER_TO_ALL(A, CA)                                                                             \
  FL_TO_INTEGER(A, CA, i8, int8_t)                                                                           \
  FL_TO_INTEGER(A, CA, i16, int16_t)                                                                         \
  FL_TO_INTEGER(A, CA, i32, int32_t)                                                                         \
  FL_TO_INTEGER(A, CA, i64, int64_t)                                                                         \
  FL_TO_INTEGER(A, CA, u8, uint8_t)                                                                          \
  FL_TO_INTEGER(A, CA, u16, uint16_t)                                                                        \
  FL_TO_INTEGER(A, CA, u32, uint32_t)                                                                        \
  FL_TO_INTEGER(A, CA, u64, uint64_t)                                                                        \
  FL_TO_FLOATS(A, CA)
/* `bool` is itself a macro: it may not travel through another one. */
FL_TO_INTEGER(bool, uint8_t, i8, int8_t)
FL_TO_INTEGER(bool, uint8_t, i16, int16_t)
FL_TO_INTEGER(bool, uint8_t, i32, int32_t)
FL_TO_INTEGER(bool, uint8_t, i64, int64_t)
FL_TO_INTEGER(bool, uint8_t, u8, uint8_t)
FL_TO_INTEGER(bool, uint8_t, u16, uint16_t)
FL_TO_INTEGER(bool, uint8_t, u32, uint32_t)
FL_TO_INTEGER(bool, uint8_t, u64, uint64_t)
FL_TO_FLOATS(bool, uint8_t)
FL_EACH_INTEGER(FL_INTEGER_TO_ALL)
FL_TO_INTEGER(date, int32_t, i64, int64_t)
FL_TO_INTEGER(i64, int64_t, date, int32_t)
FL_TO_INTEGER(datetime, int64_t, i64, int64_t)
FL_TO_INTEGER(i64, int64_t, datetime, int64_t)
FL_TO_INTEGER(duration, int64_t, i64, int64_t)
FL_TO_INTEGER(i64, int64_t, duration, int64_t)
#undef FL_INTEGER_TO_ALL
#undef FL_TO_FLOATS
#undef FL_TO_INTEGER

/* Float to integer. LOW <= v < HIGH holds for every v that fits and both bounds are exact doubles. */
#define FL_FLOAT_TO_INTEGER(T, C, LOW, HIGH)                                                                 \
  FL_KERN C fl_s_convert_f64_##T(double a, int32_t *fault) {                                                 \
    bool inside = (a >= LOW) & (a < HIGH);                                                                   \
    C r = (C)(inside ? a : 0);                                                                               \
    fl_fault_if(fault, !(inside & ((double)r == a)), FL_FAULT_NARROW);                                       \
    return r;                                                                                                \
  }                                                                                                          \
  FL_KERN C fl_s_convert_f32_##T(float a, int32_t *fault) { return fl_s_convert_f64_##T((double)a, fault); }
FL_FLOAT_TO_INTEGER(i8, int8_t, -128.0, 128.0)
FL_FLOAT_TO_INTEGER(i16, int16_t, -32768.0, 32768.0)
FL_FLOAT_TO_INTEGER(i32, int32_t, -0x1p31, 0x1p31)
FL_FLOAT_TO_INTEGER(i64, int64_t, -0x1p63, 0x1p63)
FL_FLOAT_TO_INTEGER(u8, uint8_t, 0.0, 256.0)
FL_FLOAT_TO_INTEGER(u16, uint16_t, 0.0, 65536.0)
FL_FLOAT_TO_INTEGER(u32, uint32_t, 0.0, 0x1p32)
FL_FLOAT_TO_INTEGER(u64, uint64_t, 0.0, 0x1p64)
#undef FL_FLOAT_TO_INTEGER

FL_KERN double fl_s_convert_f64_f64(double a, int32_t *fault) {
  (void)fault;
  return a;
}
FL_KERN double fl_s_convert_f32_f64(float a, int32_t *fault) {
  (void)fault;
  return (double)a;
}
FL_KERN float fl_s_convert_f32_f32(float a, int32_t *fault) {
  (void)fault;
  return a;
}
FL_KERN float fl_s_convert_f64_f32(double a, int32_t *fault) {
  (void)fault;
  return (float)a;
}

/* ---- rounding to i64 --------------------------------------------------------------------------------- */

/* To nearest, ties to even: adding and taking away 2^52 leaves no fraction where |a| < 2^52; larger have
 * none. */
FL_KERN_HELPER double fl_round_even(double a) {
  double shift = __builtin_copysign(0x1p52, a);
  return __builtin_fabs(a) < 0x1p52 ? __builtin_copysign((a + shift) - shift, a) : a;
}

#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN int64_t fl_s_round_##T(C a, int32_t *fault) {                                                      \
    return fl_s_convert_f64_i64(fl_round_even((double)a), fault);                                            \
  }                                                                                                          \
  FL_KERN int64_t fl_s_floor_##T(C a, int32_t *fault) {                                                      \
    return fl_s_convert_f64_i64(__builtin_floor((double)a), fault);                                          \
  }                                                                                                          \
  FL_KERN int64_t fl_s_ceil_##T(C a, int32_t *fault) {                                                       \
    return fl_s_convert_f64_i64(__builtin_ceil((double)a), fault);                                           \
  }                                                                                                          \
  FL_KERN int64_t fl_s_trunc_##T(C a, int32_t *fault) {                                                      \
    return fl_s_convert_f64_i64(__builtin_trunc((double)a), fault);                                          \
  }
FL_EACH_FLOAT(FL_DEFINE)
#undef FL_DEFINE

/* 10^k for 0 <= k <= 22, an exact double */
FL_KERN_HELPER double fl_power_of_ten(int64_t k) {
  double r = (k & 1) ? 10.0 : 1.0;
  r *= (k & 2) ? 1e2 : 1.0;
  r *= (k & 4) ? 1e4 : 1.0;
  r *= (k & 8) ? 1e8 : 1.0;
  return r * ((k & 16) ? 1e16 : 1.0);
}
/* The integer nearest to scaled + rest, where scaled is that sum rounded: only at an apparent tie does rest
 * count. */
FL_KERN_HELPER double fl_round_scaled(double scaled, double rest) {
  double whole = fl_round_even(scaled), off = scaled - whole;
  return whole + (((off == 0.5) & (rest > 0)) ? 1.0 : 0.0) - (((off == -0.5) & (rest < 0)) ? 1.0 : 0.0);
}
/* round_far.c: of a finite a, digits above 22 or below -22 */
__attribute__((const, nothrow)) double fl_round_far(double a, int64_t digits);
/* The double nearest to the decimal of so many digits that is nearest to the exact value of a, ties to even.
 * From 2^53 units on that is a itself, whose neighbours are a unit away or more. */
FL_KERN_HELPER double fl_round_digits(double a, int64_t digits) {
  if (a - a != 0) return a;
  if (digits > 22 || digits < -22) return fl_round_far(a, digits);
  double scale = fl_power_of_ten(digits < 0 ? -digits : digits);
  FlDd up = fl_dd_product(a, scale);
  double quotient = a / scale;
  FlDd back = fl_dd_product(quotient, scale);
  double fine = fl_round_scaled(up.hi, up.lo) / scale;
  double coarse = fl_round_scaled(quotient, (a - back.hi) - back.lo) * scale;
  double units = digits < 0 ? quotient : up.hi;
  double near = digits < 0 ? coarse : fine;
  return !(__builtin_fabs(units) < 0x1p53) ? a : __builtin_copysign(near, a); /* -0.0 stays */
}
#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN C fl_s_round_digits_##T(C a, int64_t digits) { return (C)fl_round_digits((double)a, digits); }
FL_EACH_FLOAT(FL_DEFINE)
#undef FL_DEFINE

#endif
