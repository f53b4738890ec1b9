/* superacc.c: the full accumulator of exact sums; see superacc.h for what it holds.
 *
 * Comes in: doubles. Goes out: their exact sum, rounded once. Always holds: addition order does not matter.
 */
#include <math.h>
#include <string.h>

#include "part/exact_ratio.h"
#include "part/superacc.h"

enum { CARRY_AFTER = 1 << 30 };

void fl_superacc_init(FlSuperacc *s) { memset(s, 0, sizeof *s); }

/* Moves what exceeds 32 bits up, so that every limb but the last is in [0, 2^32). */
static void carry(FlSuperacc *s) {
  int64_t over = 0;
  for (int k = 0; k < FL_SUPERACC_LIMBS - 1; k++) {
    int64_t v = s->limb[k] + over;
    over = v >> 32;
    s->limb[k] = v & 0xffffffff;
  }
  s->limb[FL_SUPERACC_LIMBS - 1] += over;
  s->terms = 1;
}

void fl_superacc_add(FlSuperacc *s, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 0x7ff) {
    s->nan |= mantissa != 0;
    s->plus |= mantissa == 0 && !(bits >> 63);
    s->minus |= mantissa == 0 && bits >> 63;
    return;
  }
  if (exponent > 0) {
    mantissa |= UINT64_C(1) << 52;
    exponent--;
  }
  unsigned __int128 wide = (unsigned __int128)mantissa << (exponent & 31);
  int64_t *limb = s->limb + (exponent >> 5);
  int64_t sign = bits >> 63 ? -1 : 1;
  limb[0] += sign * (int64_t)(wide & 0xffffffff);
  limb[1] += sign * (int64_t)(wide >> 32 & 0xffffffff);
  limb[2] += sign * (int64_t)(wide >> 64);
  if (++s->terms == CARRY_AFTER) carry(s);
}

void fl_superacc_merge(FlSuperacc *s, FlSuperacc *other) {
  carry(s);
  carry(other);
  for (int k = 0; k < FL_SUPERACC_LIMBS; k++) s->limb[k] += other->limb[k];
  s->terms = 2;
  s->nan |= other->nan;
  s->plus |= other->plus;
  s->minus |= other->minus;
}

double fl_superacc_round(FlSuperacc *s) {
  if (s->nan || (s->plus && s->minus)) return NAN;
  if (s->plus) return INFINITY;
  if (s->minus) return -INFINITY;
  carry(s);
  FlSuperacc positive = *s;
  bool negative = s->limb[FL_SUPERACC_LIMBS - 1] < 0;
  if (negative) {
    for (int k = 0; k < FL_SUPERACC_LIMBS; k++) positive.limb[k] = -positive.limb[k];
    carry(&positive);
  }
  int top = FL_SUPERACC_LIMBS - 1;
  while (top >= 0 && positive.limb[top] == 0) top--;
  if (top < 0) return 0.0;
  /* The 96 bits below the top decide, and whether anything is below them. Limbs are under 2^32 but for the
   * last. */
  unsigned __int128 head = 0;
  int low = top >= 2 ? top - 2 : 0;
  for (int k = top; k >= low; k--) head = head << 32 | (unsigned __int128)(uint64_t)positive.limb[k];
  bool below = false;
  for (int k = 0; k < low; k++) below |= positive.limb[k] != 0;
  int length =
      128 - (head >> 64 ? __builtin_clzll((uint64_t)(head >> 64)) : 64 + __builtin_clzll((uint64_t)head));
  int scale = 32 * low - 1074; /* of the lowest bit of head */
  if (length > 54) {           /* keep 53 bits, a rounding bit, and the rest as one sticky bit */
    int drop = length - 55;
    below |= (head & (((unsigned __int128)1 << drop) - 1)) != 0;
    head >>= drop;
    scale += drop;
  }
  /* head has at most 55 bits here, or is exact; doubles below 2^-1022 are multiples of 2^-1074, as head is */
  uint64_t kept = (uint64_t)head, last = 0;
  if (kept >> 54) { /* 55 bits: 53, rounding, sticky */
    bool half = kept & 2, sticky = (kept & 1) || below;
    last = kept >> 2;
    last += half && (sticky || (last & 1));
    scale += 2;
  } else if (kept >> 53) { /* 54 bits, nothing dropped */
    last = kept >> 1;
    last += (kept & 1) && (below || (last & 1));
    scale += 1;
  } else {
    last = kept;
  }
  double value = ldexp((double)last, scale);
  return negative ? -value : value;
}

void fl_superacc_big(FlSuperacc *s, FlBig *out) {
  uint64_t word[FL_WHOLE_SUM] = {0};
  carry(s);
  for (int k = 0; k < FL_SUPERACC_LIMBS / 2; k++)
    word[k] = (uint64_t)s->limb[2 * k] | (uint64_t)s->limb[2 * k + 1] << 32;
  /* the last limb has the sign */
  word[FL_SUPERACC_LIMBS / 2] = s->limb[FL_SUPERACC_LIMBS - 1] < 0 ? UINT64_MAX : 0;
  fl_big_set_words(out, word, FL_SUPERACC_LIMBS / 2 + 1, -1074);
}

double fl_superacc_mean(FlSuperacc *s, int64_t n) {
  if (s->nan || s->plus || s->minus) return fl_superacc_round(s);
  FlBig sum;
  fl_superacc_big(s, &sum);
  uint64_t count = (uint64_t)n;
  double v = fl_exact_ratio(fl_big_whole(&sum), (FlWhole){&count, 1, 0});
  return sum.negative ? -v : v;
}
