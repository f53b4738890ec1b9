/* features.c: see features.h. The features are read once, before main, by the C library's constructor. */
#include "base/features.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define FL_FEATURE(id, name) name,
#include "base/features.def"
#undef FL_FEATURE
};

uint64_t fl_features_here(void) {
  uint64_t here = 0;
#define FL_FEATURE(id, name) here |= (uint64_t)(__builtin_cpu_supports(name) != 0) << FL_FEATURE_##id;
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
