/* cpu.c: which level of x86-64 this processor has. Portable programs choose the form of a kernel by it. */
#include "flow/abi.h"

/* Older versions of clang know features, not levels; no processor has these without the others of their
 * level. */
#if defined(__clang__) && __clang_major__ < 17
#define LEVEL_3                                                                                              \
  (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
#define LEVEL_4                                                                                              \
  (LEVEL_3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                     \
   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&                               \
   __builtin_cpu_supports("avx512vl"))
#else
#define LEVEL_3 __builtin_cpu_supports("x86-64-v3")
#define LEVEL_4 __builtin_cpu_supports("x86-64-v4")
#endif

/* The features are read once, before main, by the C library's constructor. */
int32_t fl_cpu_level(void) {
  if (LEVEL_4) return 4;
  return LEVEL_3 ? 3 : 2;
}
