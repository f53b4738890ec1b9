/* loops.c: the loops of loops.h; TABLE names the table that this compilation defines. */
#include "loops.h"

#include "kern/kern.h"

#define ROW(NAME)                                                                                            \
  static void one_##NAME(double *restrict out, const double *restrict x, int64_t n) {                        \
    for (int64_t i = 0; i < n; i++) out[i] = fl_s_##NAME##_f64(x[i]);                                        \
  }
EACH_ONE(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  static void two_##NAME(double *restrict out, const double *restrict x, const double *restrict y,           \
                         int64_t n) {                                                                        \
    for (int64_t i = 0; i < n; i++) out[i] = fl_s_##NAME##_f64(x[i], y[i]);                                  \
  }
EACH_TWO(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  static void two_##NAME(double *restrict out, const double *restrict x, const double *restrict y,           \
                         int64_t n) {                                                                        \
    int32_t fault = 0;                                                                                       \
    for (int64_t i = 0; i < n; i++) out[i] = fl_s_##NAME##_f64(x[i], y[i], &fault);                          \
  }
EACH_FALLIBLE(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  static int32_t int_##NAME(int64_t *restrict out, const int64_t *restrict x, const int64_t *restrict y,     \
                            int64_t n) {                                                                     \
    int32_t fault = 0;                                                                                       \
    for (int64_t i = 0; i < n; i++) out[i] = fl_s_##NAME##_i64(x[i], y[i], &fault);                          \
    return fault;                                                                                            \
  }
EACH_INTEGER_PAIR(ROW)
#undef ROW

static void random_all(double *restrict out, int64_t seed, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = fl_s_random(seed, i, -i);
}
static void normal_all(double *restrict out, int64_t seed, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = fl_s_random_normal(seed, i, -i);
}
static void round_all(double *restrict out, const double *restrict x, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = fl_s_round_digits_f64(x[i], 2);
}

const Loops TABLE = {
#define ROW(NAME) [ONE_##NAME] = one_##NAME,
    .one = {EACH_ONE(ROW)},
#undef ROW
#define ROW(NAME) [TWO_##NAME] = two_##NAME,
    .two = {EACH_TWO(ROW) EACH_FALLIBLE(ROW)},
#undef ROW
#define ROW(NAME) [INT_##NAME] = int_##NAME,
    .integer = {EACH_INTEGER_PAIR(ROW)},
#undef ROW
    .random = random_all,
    .normal = normal_all,
    .round2 = round_all};
