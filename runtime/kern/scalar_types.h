/* scalar_types.h: the lists of element types that the scalar functions are generated for, and how they are
 * declared.
 *
 * FL_KERN stands before every operator's function: `static inline`, or nothing when the bitcode is made,
 * where each must be external. Helpers are FL_KERN_HELPER: always local and always inlined, in any caller. */
#ifndef FL_SCALAR_TYPES_H
#define FL_SCALAR_TYPES_H

#include "flow/abi.h"

#ifndef FL_KERN
#define FL_KERN static inline
#endif
#define FL_KERN_HELPER static inline __attribute__((always_inline))

/* X(dtype, C type, unsigned C type, smallest value) */
#define FL_EACH_NARROW_SIGNED(X)                                                                             \
  X(i8, int8_t, uint8_t, INT8_MIN)                                                                           \
  X(i16, int16_t, uint16_t, INT16_MIN)                                                                       \
  X(i32, int32_t, uint32_t, INT32_MIN)
#define FL_EACH_WIDE_SIGNED(X)                                                                               \
  X(i64, int64_t, uint64_t, INT64_MIN)                                                                       \
  X(duration, int64_t, uint64_t, INT64_MIN)
#define FL_EACH_SIGNED(X) FL_EACH_NARROW_SIGNED(X) FL_EACH_WIDE_SIGNED(X)
/* X(dtype, C type, largest value) */
#define FL_EACH_NARROW_UNSIGNED(X)                                                                           \
  X(u8, uint8_t, UINT8_MAX)                                                                                  \
  X(u16, uint16_t, UINT16_MAX)                                                                               \
  X(u32, uint32_t, UINT32_MAX)
#define FL_EACH_UNSIGNED(X) FL_EACH_NARROW_UNSIGNED(X) X(u64, uint64_t, UINT64_MAX)
/* X(dtype, C type) */
#define FL_EACH_FLOAT(X) X(f32, float) X(f64, double)
#define FL_EACH_INTEGER(X)                                                                                   \
  X(i8, int8_t)                                                                                              \
  X(i16, int16_t)                                                                                            \
  X(i32, int32_t)                                                                                            \
  X(i64, int64_t)                                                                                            \
  X(u8, uint8_t)                                                                                             \
  X(u16, uint16_t)                                                                                           \
  X(u32, uint32_t)                                                                                           \
  X(u64, uint64_t)
#define FL_EACH_NUMBER(X) FL_EACH_INTEGER(X) X(duration, int64_t) FL_EACH_FLOAT(X)
/* Every scalar type but text. */
#define FL_EACH_PLAIN(X) X(bool, uint8_t) FL_EACH_NUMBER(X) X(date, int32_t) X(datetime, int64_t)

FL_KERN_HELPER void fl_fault_if(int32_t *fault, bool condition, int32_t bit) {
  *fault |= condition ? bit : 0;
}

FL_KERN_HELPER uint64_t fl_bits_f64(double v) {
  uint64_t u;
  __builtin_memcpy(&u, &v, sizeof u);
  return u;
}
FL_KERN_HELPER double fl_f64_bits(uint64_t u) {
  double v;
  __builtin_memcpy(&v, &u, sizeof v);
  return v;
}
FL_KERN_HELPER uint32_t fl_bits_f32(float v) {
  uint32_t u;
  __builtin_memcpy(&u, &v, sizeof u);
  return u;
}
FL_KERN_HELPER float fl_f32_bits(uint32_t u) {
  float v;
  __builtin_memcpy(&v, &u, sizeof v);
  return v;
}

#endif
