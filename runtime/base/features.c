/* features.c: see features.h. CPUID is asked here: Clang 14 does not know all of the names. */
#include "base/features.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define FL_FEATURE(id, name, word, bit, state) name,
#include "base/features.def"
#undef FL_FEATURE
};

/* Words of CPUID that features.def names, and the bits of XCR0 for registers that the system saves. */
enum { LEAF1_C, LEAF7_B, LEAF7_C, LEAF7_D, LEAF7_1_A, MORE_C, N_WORDS };
enum { ANY = 0, AVX = 0x6, AVX512 = 0xe6 };

static uint32_t saved(uint32_t leaf1_c) {
  if (!(leaf1_c & bit_OSXSAVE)) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint64_t fl_features_here(void) {
  uint32_t w[N_WORDS] = {0}, a, b, c, d, most = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) w[LEAF1_C] = c;
  if (__get_cpuid_count(7, 0, &most, &b, &c, &d)) {
    w[LEAF7_B] = b;
    w[LEAF7_C] = c;
    w[LEAF7_D] = d;
  }
  if (most >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) w[LEAF7_1_A] = a;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) w[MORE_C] = c;
  uint32_t state = saved(w[LEAF1_C]);
  uint64_t here = 0;
#define FL_FEATURE(id, name, word, bit, needs)                                                               \
  if ((w[word] >> bit & 1) && (state & needs) == needs) here |= UINT64_C(1) << FL_FEATURE_##id;
#include "base/features.def"
#undef FL_FEATURE
  return here;
}

void fl_features_names(uint64_t mask, char *out, size_t size) {
  size_t at = 0;
  if (size) out[0] = 0;
  for (int i = 0; i < FL_N_FEATURES; i++) {
    if (!(mask >> i & 1) || at >= size) continue;
    int n = snprintf(out + at, size - at, "%s%s", at ? ", " : "", names[i]);
    at += n > 0 ? (size_t)n : 0;
  }
}

int fl_features_check(uint64_t needs, const char *what, const char *processor) {
  uint64_t missing = (needs | FL_FEATURES_LEAST) & ~fl_features_here();
  if (!missing) return 1;
  char list[512];
  fl_features_names(missing, list, sizeof list);
  if (missing & FL_FEATURES_LEAST)
    fprintf(stderr, "%s: error: flow needs a processor of x86-64-v2 or later, and this one has no %s\n", what,
            list);
  else
    fprintf(stderr,
            "%s: error: it was built for the processor %s, and this one has no %s\n"
            "  help: `flowc build` without --mcpu makes a binary for every processor of x86-64-v2 or later\n",
            what, processor, list);
  return 0;
}
