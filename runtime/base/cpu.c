/* cpu.c: which level of x86-64 this processor has. Portable programs choose the form of a kernel by it. */
#include "flow/abi.h"

/* The features are read once, before main, by the C library's constructor. */
int32_t fl_cpu_level(void) {
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  return __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
}
