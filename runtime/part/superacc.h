/* superacc.h: a sum of doubles without any rounding, however their exponents differ.
 *
 * The number is the sum of limb[k] * 2^(32 k - 1074), limbs signed 64-bit and overlapping, as in "small
 * superaccumulators" (R. Neal, "Fast exact summation using small and large superaccumulators", 2015): a term
 * adds to three limbs less than 2^32 each, so 2^30 terms may be added before the carries must be moved up.
 * Infinities and NaN are only remembered. */
#ifndef FL_PART_SUPERACC_H
#define FL_PART_SUPERACC_H

#include <stdbool.h>
#include <stdint.h>

enum { FL_SUPERACC_LIMBS = 70 }; /* 2^-1074 .. 2^1166: the largest double times 2^63 terms, and room */

struct FlBig; /* exact_ratio.h */

typedef struct FlSuperacc {
  int64_t limb[FL_SUPERACC_LIMBS];
  int64_t terms;            /* added since the last carry */
  uint8_t nan, plus, minus; /* a NaN, an infinity was added */
} FlSuperacc;

void fl_superacc_init(FlSuperacc *s);          /* the empty sum */
void fl_superacc_add(FlSuperacc *s, double x); /* exactly; any x */
/* *s += *other; *other may be carried, its value stays. */
void fl_superacc_merge(FlSuperacc *s, FlSuperacc *other);
/* The sum rounded to nearest even; +0.0 for zero; NaN for a NaN or both infinities. */
double fl_superacc_round(FlSuperacc *s);
/* The sum over n > 0, likewise. */
double fl_superacc_mean(FlSuperacc *s, int64_t n);
/* The sum of its finite terms. */
void fl_superacc_big(FlSuperacc *s, struct FlBig *out);

#endif
