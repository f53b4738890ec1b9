/* Unit test of base/features.h: names of masks, what this processor has, and what is said of one that lacks
 * something. */
#include "check.h"
#include "base/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the check says of a mask, with its answer. */
static int asked(uint64_t needs, char out[1024]) {
  char path[] = "/tmp/flow-features-XXXXXX";
  int file = mkstemp(path), old = dup(STDERR_FILENO);
  fflush(stderr);
  dup2(file, STDERR_FILENO);
  int good = fl_features_check(needs, "./model", "znver9");
  fflush(stderr);
  dup2(old, STDERR_FILENO);
  ssize_t n = pread(file, out, 1023, 0);
  out[n > 0 ? n : 0] = 0;
  close(file);
  unlink(path);
  return good;
}

/* The compiler's own answer, where it knows all of the names. */
static int as_the_compiler_says(uint64_t here) {
#if defined __clang__ ? __clang_major__ >= 19 : __GNUC__ >= 12
#define FL_FEATURE(id, name, word, bit, state)                                                               \
  if ((here >> FL_FEATURE_##id & 1 ? 1 : 0) != (__builtin_cpu_supports(name) != 0))                          \
    return !printf("%s\n", name);
#include "base/features.def"
#undef FL_FEATURE
#endif
  return here != 0;
}

int main(void) {
  char text[1024];
  uint64_t here = fl_features_here(), all = (UINT64_C(1) << FL_N_FEATURES) - 1;
  fl_features_names(FL_FEATURES_LEAST, text, sizeof text);
  check(strcmp(text, "sse3, ssse3, sse4.1, sse4.2, popcnt") == 0, "x86-64-v2 is what the first rows are");
  fl_features_names(all, text, 9);
  check(strlen(text) == 8, "a list that is too long is cut");
  check((here & FL_FEATURES_LEAST) == FL_FEATURES_LEAST && asked(here, text) && !*text,
        "this processor has what it has");
  check(here == all ||
            (!asked(all, text) &&
             strstr(text, "./model: error: it was built for the processor znver9, and this one has no ") &&
             strstr(text, "without --mcpu")),
        "one that lacks something: its name, what is missing, what to do");
  check(as_the_compiler_says(here), "CPUID is read as the compiler reads it");
  return finish();
}
