/* cpu.c: which level of x86-64 this processor has. Portable programs choose the form of a kernel by it, and
 * operators whether they work by vectors. FLOW_CPU_LEVEL says that it is not to be used beyond that level, so
 * that tests see what an older processor would do. */
#include "flow/abi.h"

#include <stdatomic.h>
#include <stdlib.h>

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
static int32_t level_of_processor(void) {
  if (LEVEL_4) return 4;
  return LEVEL_3 ? 3 : 2;
}

int32_t fl_cpu_level(void) {
  static _Atomic int32_t known; /* 0: not yet; all who find it out find the same */
  int32_t level = atomic_load_explicit(&known, memory_order_relaxed);
  if (level) return level;
  const char *most = getenv("FLOW_CPU_LEVEL");
  level = level_of_processor();
  if (most && most[0] >= '2' && most[0] < '0' + level && !most[1]) level = most[0] - '0';
  atomic_store_explicit(&known, level, memory_order_relaxed);
  return level;
}
