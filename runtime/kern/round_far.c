/* round_far.c: round(x, digits) for more than 22 digits on either side of the point, where the power of ten
 * is no double.
 *
 * Comes in: a finite double, digits above 22 or below -22. Goes out: the double nearest to the decimal of so
 * many digits that is nearest to the exact value, ties to even; an infinity where that decimal is larger than
 * any double. Always holds: all digits of the value are written out, so nothing is rounded but where it is
 * said. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/kern.h"

enum {
  WHOLE_MOST = 309,    /* digits before the point of the largest double */
  FRACTION_MOST = 341, /* with so many behind it all doubles differ: 2^-1074 has 17 of them */
  EXPONENT_MOST = 16,  /* characters of e308 and more than that */
  ROOM = WHOLE_MOST + FRACTION_MOST + EXPONENT_MOST
};

/* digits[0..n) and the digits behind, up to `end`, as an integer of n digits: true when one is to be added.
 */
static bool rounds_up(const char *digits, int n, int end) {
  bool more = false;
  for (int i = n + 1; i < end; i++) more |= digits[i] != '0';
  if (digits[n] != '5') return digits[n] > '5';
  return more || (n > 0 && (digits[n - 1] & 1));
}

double fl_round_far(double a, int64_t digits) {
  char text[ROOM];
  double size = fabs(a);
  if (digits > 0) {
    if (digits >= FRACTION_MOST || size > 1e-6) return a; /* all its bits are within the digits */
    (void)snprintf(text, sizeof text, "%.*f", (int)digits, size);
    return copysign(strtod(text, NULL), a);
  }
  int n = snprintf(text, WHOLE_MOST + 1, "%.0f", size); /* a whole number, or less than half of the unit */
  if (digits < -n || size < 1e22) return copysign(0.0, a);
  int kept = n + (int)digits, at = kept - 1;
  bool up = rounds_up(text, kept, n);
  for (; up && at >= 0 && text[at] == '9'; at--) text[at] = '0';
  if (up && at >= 0) text[at]++;
  if (up && at < 0) { /* 99 becomes 100 */
    memmove(text + 1, text, (size_t)kept);
    text[0] = '1';
    kept++;
  }
  if (kept == 0) return copysign(0.0, a);
  (void)snprintf(text + kept, EXPONENT_MOST, "e%d", (int)-digits);
  return copysign(strtod(text, NULL), a);
}
