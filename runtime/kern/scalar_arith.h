/* scalar_arith.h: arithmetic, comparison and logic on scalars.
 *
 * Checked integer arithmetic has no branch: the wrapped result and the fault bit are computed side by side,
 * so that loops over it vectorise. Integer power, and the division instructions themselves, stay scalar. */
#ifndef FL_SCALAR_ARITH_H
#define FL_SCALAR_ARITH_H

#include "kern/scalar_types.h"
#include "kern/vec_pow.h"

/* ---- integers: add, sub, neg, abs, sign -------------------------------------------------------------- */

/* A sum overflows when both operands have the sign that the result has not (Warren, Hacker's Delight, 2-13).
 */
#define FL_DEFINE(T, C, U, LOWEST)                                                                           \
  FL_KERN C fl_s_add_##T(C a, C b, int32_t *fault) {                                                         \
    C r = (C)(U)((U)a + (U)b);                                                                               \
    fl_fault_if(fault, (C)((a ^ r) & (b ^ r)) < 0, FL_FAULT_OVERFLOW);                                       \
    return r;                                                                                                \
  }                                                                                                          \
  FL_KERN C fl_s_sub_##T(C a, C b, int32_t *fault) {                                                         \
    C r = (C)(U)((U)a - (U)b);                                                                               \
    fl_fault_if(fault, (C)((a ^ b) & (a ^ r)) < 0, FL_FAULT_OVERFLOW);                                       \
    return r;                                                                                                \
  }                                                                                                          \
  FL_KERN C fl_s_neg_##T(C a, int32_t *fault) {                                                              \
    fl_fault_if(fault, a == LOWEST, FL_FAULT_OVERFLOW);                                                      \
    return (C)(U)(0 - (U)a);                                                                                 \
  }                                                                                                          \
  FL_KERN C fl_s_abs_##T(C a, int32_t *fault) {                                                              \
    fl_fault_if(fault, a == LOWEST, FL_FAULT_OVERFLOW);                                                      \
    return a < 0 ? (C)(U)(0 - (U)a) : a;                                                                     \
  }                                                                                                          \
  FL_KERN C fl_s_sign_##T(C a) { return (C)((a > 0) - (a < 0)); }
FL_EACH_SIGNED(FL_DEFINE)
#undef FL_DEFINE

#define FL_DEFINE(T, C, HIGHEST)                                                                             \
  FL_KERN C fl_s_add_##T(C a, C b, int32_t *fault) {                                                         \
    C r = (C)(a + b);                                                                                        \
    fl_fault_if(fault, r < a, FL_FAULT_OVERFLOW);                                                            \
    return r;                                                                                                \
  }                                                                                                          \
  FL_KERN C fl_s_sub_##T(C a, C b, int32_t *fault) {                                                         \
    fl_fault_if(fault, a < b, FL_FAULT_OVERFLOW);                                                            \
    return (C)(a - b);                                                                                       \
  }                                                                                                          \
  FL_KERN C fl_s_neg_##T(C a, int32_t *fault) {                                                              \
    fl_fault_if(fault, a != 0, FL_FAULT_OVERFLOW);                                                           \
    return (C)(0 - a);                                                                                       \
  }                                                                                                          \
  FL_KERN C fl_s_abs_##T(C a, int32_t *fault) {                                                              \
    (void)fault;                                                                                             \
    return a;                                                                                                \
  }                                                                                                          \
  FL_KERN C fl_s_sign_##T(C a) { return a > 0; }
FL_EACH_UNSIGNED(FL_DEFINE)
#undef FL_DEFINE

/* ---- integers: mul ----------------------------------------------------------------------------------- */

#define FL_DEFINE(T, C, U, LOWEST)                                                                           \
  FL_KERN C fl_s_mul_##T(C a, C b, int32_t *fault) {                                                         \
    int64_t r = (int64_t)a * b;                                                                              \
    fl_fault_if(fault, r != (C)r, FL_FAULT_OVERFLOW);                                                        \
    return (C)r;                                                                                             \
  }
FL_EACH_NARROW_SIGNED(FL_DEFINE)
#undef FL_DEFINE

#define FL_DEFINE(T, C, HIGHEST)                                                                             \
  FL_KERN C fl_s_mul_##T(C a, C b, int32_t *fault) {                                                         \
    uint64_t r = (uint64_t)a * b;                                                                            \
    fl_fault_if(fault, r > HIGHEST, FL_FAULT_OVERFLOW);                                                      \
    return (C)r;                                                                                             \
  }
FL_EACH_NARROW_UNSIGNED(FL_DEFINE)
#undef FL_DEFINE

/* 64 bits: the product p differs from the wrapped r by a multiple of 2^64. Rounding a, b, r and the product
 * changes p by less than |p| 2^-50 and r by less than 2^11, far below that multiple (|p - r| >= max(2^64, |p|
 * - 2^64)), so comparing the doubles with 2^63 decides exactly, and vectorises where a 128-bit product does
 * not. */
#define FL_DEFINE(T, C, U, LOWEST)                                                                           \
  FL_KERN C fl_s_mul_##T(C a, C b, int32_t *fault) {                                                         \
    C r = (C)((U)a * (U)b);                                                                                  \
    double off = (double)a * (double)b - (double)r;                                                          \
    fl_fault_if(fault, __builtin_fabs(off) > 0x1p63, FL_FAULT_OVERFLOW);                                     \
    return r;                                                                                                \
  }
FL_EACH_WIDE_SIGNED(FL_DEFINE)
#undef FL_DEFINE

FL_KERN uint64_t fl_s_mul_u64(uint64_t a, uint64_t b, int32_t *fault) {
  uint64_t r = a * b;
  double off = (double)a * (double)b - (double)r;
  fl_fault_if(fault, __builtin_fabs(off) > 0x1p63, FL_FAULT_OVERFLOW);
  return r;
}

#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN C fl_s_wrap_add_##T(C a, C b) { return (C)((uint64_t)a + (uint64_t)b); }                           \
  FL_KERN C fl_s_wrap_sub_##T(C a, C b) { return (C)((uint64_t)a - (uint64_t)b); }                           \
  FL_KERN C fl_s_wrap_mul_##T(C a, C b) { return (C)((uint64_t)a * (uint64_t)b); }
FL_EACH_INTEGER(FL_DEFINE)
#undef FL_DEFINE

/* Whether the checked sum, difference, product would be a fault. */
#define FL_DEFINE(name, op)                                                                                  \
  FL_KERN uint8_t fl_s_##name##_overflows(int64_t a, int64_t b) {                                            \
    int32_t fault = 0;                                                                                       \
    (void)fl_s_##op##_i64(a, b, &fault);                                                                     \
    return fault != 0;                                                                                       \
  }
FL_DEFINE(sum, add)
FL_DEFINE(difference, sub)
FL_DEFINE(product, mul)
#undef FL_DEFINE

/* ---- integers: floordiv, mod, pow -------------------------------------------------------------------- */

#define FL_DEFINE(T, C, U, LOWEST)                                                                           \
  FL_KERN C fl_s_floordiv_##T(C a, C b, int32_t *fault) {                                                    \
    bool over = (a == LOWEST) & (b == -1);                                                                   \
    fl_fault_if(fault, b == 0, FL_FAULT_DIV_ZERO);                                                           \
    fl_fault_if(fault, over, FL_FAULT_OVERFLOW);                                                             \
    C d = ((b == 0) | over) ? 1 : b;                                                                         \
    C q = (C)(a / d), r = (C)(a % d);                                                                        \
    return (C)(q - ((r != 0) & ((r ^ d) < 0)));                                                              \
  }                                                                                                          \
  FL_KERN C fl_s_mod_##T(C a, C b, int32_t *fault) {                                                         \
    fl_fault_if(fault, b == 0, FL_FAULT_DIV_ZERO);                                                           \
    C d = ((b == 0) | (b == -1)) ? 1 : b;                                                                    \
    C r = (C)(a % d);                                                                                        \
    return (C)(r + (((r != 0) & ((r ^ d) < 0)) ? d : 0));                                                    \
  }                                                                                                          \
  FL_KERN C fl_s_pow_##T(C a, C b, int32_t *fault) {                                                         \
    fl_fault_if(fault, b < 0, FL_FAULT_NEG_POWER);                                                           \
    C result = 1, square = a;                                                                                \
    bool over = false, square_over = false;                                                                  \
    for (U e = b < 0 ? 0 : (U)b; e != 0; e >>= 1) {                                                          \
      if (e & 1) over |= (bool)(square_over | __builtin_mul_overflow(result, square, &result));              \
      square_over |= __builtin_mul_overflow(square, square, &square);                                        \
    }                                                                                                        \
    fl_fault_if(fault, over, FL_FAULT_OVERFLOW);                                                             \
    return result;                                                                                           \
  }
FL_EACH_SIGNED(FL_DEFINE)
#undef FL_DEFINE

#define FL_DEFINE(T, C, HIGHEST)                                                                             \
  FL_KERN C fl_s_floordiv_##T(C a, C b, int32_t *fault) {                                                    \
    fl_fault_if(fault, b == 0, FL_FAULT_DIV_ZERO);                                                           \
    return (C)(a / (b == 0 ? 1 : b));                                                                        \
  }                                                                                                          \
  FL_KERN C fl_s_mod_##T(C a, C b, int32_t *fault) {                                                         \
    fl_fault_if(fault, b == 0, FL_FAULT_DIV_ZERO);                                                           \
    return (C)(a % (b == 0 ? 1 : b));                                                                        \
  }                                                                                                          \
  FL_KERN C fl_s_pow_##T(C a, C b, int32_t *fault) {                                                         \
    C result = 1, square = a;                                                                                \
    bool over = false, square_over = false;                                                                  \
    for (C e = b; e != 0; e >>= 1) {                                                                         \
      if (e & 1) over |= (bool)(square_over | __builtin_mul_overflow(result, square, &result));              \
      square_over |= __builtin_mul_overflow(square, square, &square);                                        \
    }                                                                                                        \
    fl_fault_if(fault, over, FL_FAULT_OVERFLOW);                                                             \
    return result;                                                                                           \
  }
FL_EACH_UNSIGNED(FL_DEFINE)
#undef FL_DEFINE

/* ---- floats ------------------------------------------------------------------------------------------ */

/* mod is exact for equal signs (fmod is) and has the sign of the divisor; floordiv is the floor of the exact
 * quotient, rounded, as in Python (Objects/floatobject.c, float_divmod, has the same definition). */
FL_KERN_HELPER double fl_mod_f64(double a, double b) {
  double r = __builtin_fmod(a, b);
  bool other_side = (r != 0) & ((r < 0) != (b < 0));
  return r == 0 ? __builtin_copysign(0.0, b) : r + (other_side ? b : 0);
}
FL_KERN_HELPER double fl_floordiv_f64(double a, double b) {
  double r = __builtin_fmod(a, b);
  bool other_side = (r != 0) & ((r < 0) != (b < 0));
  double q = (a - r) / b - (other_side ? 1.0 : 0.0); /* an integer, but for rounding */
  double whole = __builtin_floor(q);
  whole += q - whole > 0.5 ? 1.0 : 0.0;
  bool plain = (b == 0) | !(__builtin_fabs(a) < __builtin_inf());
  return plain ? a / b : q == 0 ? __builtin_copysign(0.0, a / b) : whole;
}

#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN C fl_s_add_##T(C a, C b, int32_t *fault) {                                                         \
    (void)fault;                                                                                             \
    return a + b;                                                                                            \
  }                                                                                                          \
  FL_KERN C fl_s_sub_##T(C a, C b, int32_t *fault) {                                                         \
    (void)fault;                                                                                             \
    return a - b;                                                                                            \
  }                                                                                                          \
  FL_KERN C fl_s_mul_##T(C a, C b, int32_t *fault) {                                                         \
    (void)fault;                                                                                             \
    return a * b;                                                                                            \
  }                                                                                                          \
  FL_KERN C fl_s_neg_##T(C a, int32_t *fault) {                                                              \
    (void)fault;                                                                                             \
    return -a;                                                                                               \
  }                                                                                                          \
  FL_KERN C fl_s_abs_##T(C a, int32_t *fault) {                                                              \
    (void)fault;                                                                                             \
    return (C)__builtin_fabs((double)a);                                                                     \
  }                                                                                                          \
  FL_KERN C fl_s_sign_##T(C a) { return a > 0 ? (C)1 : a < 0 ? (C) - 1 : a + (C)0; }                         \
  FL_KERN C fl_s_div_##T(C a, C b) { return a / b; }                                                         \
  FL_KERN C fl_s_floordiv_##T(C a, C b, int32_t *fault) {                                                    \
    (void)fault;                                                                                             \
    return (C)fl_floordiv_f64((double)a, (double)b);                                                         \
  }                                                                                                          \
  FL_KERN C fl_s_mod_##T(C a, C b, int32_t *fault) {                                                         \
    (void)fault;                                                                                             \
    return (C)fl_mod_f64((double)a, (double)b);                                                              \
  }                                                                                                          \
  /* The square is what people write most: it is the rounded product itself. */                              \
  FL_KERN C fl_s_pow_##T(C a, C b, int32_t *fault) {                                                         \
    (void)fault;                                                                                             \
    return b == 2 ? a * a : (C)fl_vec_pow((double)a, (double)b);                                             \
  }                                                                                                          \
  FL_KERN C fl_s_sqrt_##T(C a) { return (C)__builtin_sqrt((double)a); }                                      \
  FL_KERN uint8_t fl_s_is_nan_##T(C a) { return a != a; }                                                    \
  FL_KERN uint8_t fl_s_is_finite_##T(C a) { return a - a == 0; }                                             \
  FL_KERN C fl_s_canon_##T(C a) { return a == a ? a : (C)__builtin_nan(""); }
FL_EACH_FLOAT(FL_DEFINE)
#undef FL_DEFINE

FL_KERN double fl_s_fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
FL_KERN float fl_s_fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/* ---- any type: order, choice, logic ------------------------------------------------------------------ */

/* The first at ties; of floats a NaN wins. */
#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN C fl_s_min_##T(C a, C b) { return a <= b ? a : b; }                                                \
  FL_KERN C fl_s_max_##T(C a, C b) { return a >= b ? a : b; }
FL_EACH_INTEGER(FL_DEFINE)
FL_DEFINE(duration, int64_t)
#undef FL_DEFINE
#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN C fl_s_min_##T(C a, C b) { return ((a <= b) | (a != a)) ? a : b; }                                 \
  FL_KERN C fl_s_max_##T(C a, C b) { return ((a >= b) | (a != a)) ? a : b; }
FL_EACH_FLOAT(FL_DEFINE)
#undef FL_DEFINE

#define FL_DEFINE(T, C)                                                                                      \
  FL_KERN uint8_t fl_s_eq_##T(C a, C b) { return a == b; }                                                   \
  FL_KERN uint8_t fl_s_ne_##T(C a, C b) { return a != b; }                                                   \
  FL_KERN uint8_t fl_s_lt_##T(C a, C b) { return a < b; }                                                    \
  FL_KERN uint8_t fl_s_le_##T(C a, C b) { return a <= b; }                                                   \
  FL_KERN uint8_t fl_s_gt_##T(C a, C b) { return a > b; }                                                    \
  FL_KERN uint8_t fl_s_ge_##T(C a, C b) { return a >= b; }                                                   \
  FL_KERN C fl_s_select_##T(uint8_t c, C a, C b) { return c ? a : b; }
FL_EACH_PLAIN(FL_DEFINE)
#undef FL_DEFINE

FL_KERN FlText fl_s_select_text(uint8_t c, const char *a, int64_t an, const char *b, int64_t bn) {
  return (FlText){c ? a : b, c ? an : bn};
}

FL_KERN uint8_t fl_s_and(uint8_t a, uint8_t b) { return a & b; }
FL_KERN uint8_t fl_s_or(uint8_t a, uint8_t b) { return a | b; }
FL_KERN uint8_t fl_s_not(uint8_t a) { return a ^ 1; }

#endif
