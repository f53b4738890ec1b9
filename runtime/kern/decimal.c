/* decimal.c: decimals, floats and texts into each other, where that is no matter of one instruction.
 *
 * In: units and their scale, 0 to 18; a double; a text. Out: the nearest value, ties to even, or the exact
 * one. */
#include <math.h>

#include "data/data.h"
#include "data/number.h"
#include "kern/kern.h"

/* The quotient by 10^scale has 64 bits and more, of which the last says that something is behind it. */
double fl_decimal_real_far(int64_t v, int64_t scale) {
  uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, power = (uint64_t)fl_whole_power_of_ten(scale);
  unsigned __int128 shifted = (unsigned __int128)size << 63, whole = shifted / power;
  double near = ldexp((double)(whole | (whole * power != shifted)), -63);
  return v < 0 ? -near : near;
}

/* All bits of a are the whole part, or lie in 64 bits behind the point of a * 10^scale, or are less than half
 * a unit. */
int64_t fl_s_decimal_of_real(double a, int64_t scale, int32_t *fault) {
  double size = fabs(a);
  int exponent;
  if (!(size < 9.3e18)) { /* also nan */
    *fault |= FL_FAULT_NARROW;
    return 0;
  }
  uint64_t bits = (uint64_t)ldexp(frexp(size, &exponent), 53); /* size = bits * 2^(exponent - 53) */
  unsigned __int128 units = (unsigned __int128)bits * (uint64_t)fl_whole_power_of_ten(scale);
  int below = 53 - exponent; /* bits behind the point of units */
  if (below > 127) return 0;
  if (below > 0) {
    unsigned __int128 whole = units >> below, rest = units - (whole << below);
    unsigned __int128 half = (unsigned __int128)1 << (below - 1);
    units = whole + (rest > half || (rest == half && (whole & 1)));
  } else {
    units = units << -below; /* at most 2^63.1 times 10^18 */
  }
  if (units > INT64_MAX) {
    *fault |= FL_FAULT_NARROW;
    return 0;
  }
  return a < 0 ? -(int64_t)units : (int64_t)units;
}

int64_t fl_s_parse_decimal(const char *s, int64_t n, int64_t scale, int32_t *fault) {
  int64_t v = 0;
  if (!fl_parse_decimal(s, n, (int)scale, &v)) *fault |= FL_FAULT_PARSE;
  return v;
}
