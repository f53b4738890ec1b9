/* features.h: what the processor must have, and has: bits of a mask, one a row of features.def. */
#ifndef FL_BASE_FEATURES_H
#define FL_BASE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

enum {
#define FL_FEATURE(id, name, word, bit, state) FL_FEATURE_##id,
#include "base/features.def"
#undef FL_FEATURE
  FL_N_FEATURES
};

/* x86-64-v2: without it flow does not run. */
#define FL_FEATURES_LEAST ((UINT64_C(2) << FL_FEATURE_POPCNT) - 1)

/* What this processor has. */
uint64_t fl_features_here(void);
/* The names of what a mask holds, as `avx2, bmi`, cut at `size`. */
void fl_features_names(uint64_t mask, char *out, size_t size);

/* Whether this processor has what is needed, and what every program needs; else a message on standard error:
 * `what` is the program, `processor` what it was made for. */
int fl_features_check(uint64_t needs, const char *what, const char *processor);

#endif
