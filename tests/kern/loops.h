/* loops.h: whole loops over the scalar functions, for unit/kern_bits.c: compiled by clang once for each
 * vector width. */
#ifndef FL_TEST_LOOPS_H
#define FL_TEST_LOOPS_H

#include <stdint.h>

#define EACH_ONE(X)                                                                                          \
  X(exp)                                                                                                     \
  X(expm1)                                                                                                   \
  X(log)                                                                                                     \
  X(log2)                                                                                                    \
  X(log10)                                                                                                   \
  X(log1p)                                                                                                   \
  X(sin)                                                                                                     \
  X(cos)                                                                                                     \
  X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(erf) X(erfc) X(gamma) X(lgamma) X(cbrt) X(sqrt)
#define EACH_TWO(X) X(atan2) X(hypot) X(min) X(max) X(div)
#define EACH_FALLIBLE(X) X(pow) X(mod) X(floordiv) X(add)
#define EACH_INTEGER_PAIR(X) X(add) X(sub) X(mul)

enum {
#define ROW(NAME) ONE_##NAME,
  EACH_ONE(ROW) N_ONE,
#undef ROW
#define ROW(NAME) TWO_##NAME,
  EACH_TWO(ROW) EACH_FALLIBLE(ROW) N_TWO,
#undef ROW
#define ROW(NAME) INT_##NAME,
  EACH_INTEGER_PAIR(ROW) N_INT
#undef ROW
};

/* out[i] = f(x[i], ...) for i < n. The integer loops return the OR of the faults. random and normal are at
 * (seed, i, -i). */
typedef struct Loops {
  void (*one[N_ONE])(double *restrict out, const double *restrict x, int64_t n);
  void (*two[N_TWO])(double *restrict out, const double *restrict x, const double *restrict y, int64_t n);
  int32_t (*integer[N_INT])(int64_t *restrict out, const int64_t *restrict x, const int64_t *restrict y,
                            int64_t n);
  void (*random)(double *restrict out, int64_t seed, int64_t n);
  void (*normal)(double *restrict out, int64_t seed, int64_t n);
  void (*round2)(double *restrict out, const double *restrict x, int64_t n);
} Loops;

extern const Loops loops_v2, loops_v3, loops_v4; /* x86-64-v2, -v3 (AVX2), -v4 (AVX-512) */

#endif
