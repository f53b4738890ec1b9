/* kern_bits.c: the same bits from one element at a time by this compiler as from vectorised loops by clang,
 * for every vector width that this processor has. */
#include "../kern/loops.h"
#include "kern/kern.h"
#include "splitmix.h"

#include <stdio.h>

enum { N = 40000 };
static double x[N], y[N], out[N];
static int64_t a[N], b[N], ints[N];
static int passed, failed;

static uint64_t state = 1;
static uint64_t next_word(void) { return splitmix(&state); }

/* Any bits, moderate and small arguments, and all pairs of special values. */
static void fill(void) {
  static const double special[] = {
      0,   -0.0,  1,  -1,  2,    -2,   __builtin_inf(), -__builtin_inf(),      __builtin_nan(""),
      0.5, 171.6, 27, 710, -745, 1e22, 0x1p-1074,       0x1.fffffffffffffp1023};
  const int n = (int)(sizeof special / sizeof *special);
  for (int i = 0; i < N; i++) {
    uint64_t v = next_word(), w = next_word();
    x[i] = i % 4 == 0 ? fl_f64_bits(v)
                      : (double)(int64_t)v * (i % 4 == 1   ? 0x1p-60
                                              : i % 4 == 2 ? 0x1p-54
                                                           : 0x1p-63);
    y[i] = i % 4 == 0 ? fl_f64_bits(w) : i % 4 == 2 ? (double)(i % 9 - 4) : (double)(int64_t)w * 0x1p-58;
    if (i < n * n) x[i] = special[i / n], y[i] = special[i % n];
    a[i] = (int64_t)v >> (i % 64);
    b[i] = (int64_t)w >> (i * 7 % 64);
  }
}

static void compare(const char *name, const char *width, int i, double want) {
  if (fl_bits_f64(fl_s_canon_f64(out[i])) == fl_bits_f64(fl_s_canon_f64(want))) return;
  if (failed++ < 20) printf("FAIL %s %s at (%a, %a): %a, not %a\n", name, width, x[i], y[i], out[i], want);
}

static void compare_all(const Loops *l, const char *width) {
  int32_t f = 0;
#define ROW(NAME)                                                                                            \
  l->one[ONE_##NAME](out, x, N);                                                                             \
  for (int i = 0; i < N; i++) compare(#NAME, width, i, fl_s_##NAME##_f64(x[i]));                             \
  passed++;
  EACH_ONE(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  l->two[TWO_##NAME](out, x, y, N);                                                                          \
  for (int i = 0; i < N; i++) compare(#NAME, width, i, fl_s_##NAME##_f64(x[i], y[i]));                       \
  passed++;
  EACH_TWO(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  l->two[TWO_##NAME](out, x, y, N);                                                                          \
  for (int i = 0; i < N; i++) compare(#NAME, width, i, fl_s_##NAME##_f64(x[i], y[i], &f));                   \
  passed++;
  EACH_FALLIBLE(ROW)
#undef ROW
#define ROW(NAME)                                                                                            \
  for (int from = 0; from < N; from += 100) {                                                                \
    int32_t got = l->integer[INT_##NAME](ints, a + from, b + from, 100), want = 0;                           \
    for (int i = 0; i < 100; i++) failed += ints[i] != fl_s_##NAME##_i64(a[from + i], b[from + i], &want);   \
    failed += got != want;                                                                                   \
  }                                                                                                          \
  passed++;
  EACH_INTEGER_PAIR(ROW)
#undef ROW
  l->random(out, 7, N);
  for (int i = 0; i < N; i++) compare("random", width, i, fl_s_random(7, i, -i));
  l->normal(out, 7, N);
  for (int i = 0; i < N; i++) compare("random_normal", width, i, fl_s_random_normal(7, i, -i));
  l->round2(out, x, N);
  for (int i = 0; i < N; i++) compare("round_digits", width, i, fl_s_round_digits_f64(x[i], 2));
  passed += 3;
}

int main(void) {
  fill();
  compare_all(&loops_v2, "v2");
  if (__builtin_cpu_supports("avx2")) compare_all(&loops_v3, "v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    compare_all(&loops_v4, "v4");
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
