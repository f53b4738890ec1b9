/* arrow_numbers.c: numbers of Arrow that no machine type has: decimals of up to 256 bits, floats of 16. */
#include "io/arrow.h"
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The digits of a magnitude of `n` words, the lowest first; it is zero afterwards. How many, 1 at least; they
 * end at `end`. */
static int digits_of(uint32_t *words, int n, char *end) {
  int count = 0;
  for (bool more = true; more;) { /* nine digits at a time */
    uint64_t rest = 0;
    more = false;
    for (int k = n - 1; k >= 0; k--) {
      rest = rest << 32 | words[k];
      words[k] = (uint32_t)(rest / 1000000000);
      rest %= 1000000000;
      more |= words[k] != 0;
    }
    for (int k = 0; k < 9; k++, rest /= 10) end[-++count] = (char)('0' + rest % 10);
  }
  while (count > 1 && end[-count] == '0') count--;
  return count;
}

int fl_arrow_decimal(const uint8_t *at, int64_t bits, int scale, char *out) {
  uint32_t words[8] = {0};
  char room[96], *end = room + sizeof room, *to = out;
  int n = (int)(bits / 32), zeros;
  memcpy(words, at, (size_t)bits / 8); /* little endian */
  bool negative = words[n - 1] >> 31;
  for (int k = 0, carry = 1; negative && k < n; k++) {
    words[k] = ~words[k] + (uint32_t)carry;
    carry = carry && !words[k];
  }
  int count = digits_of(words, n, end);
  const char *digits = end - count;
  if (negative) *to++ = '-';
  if (scale <= 0) {
    memcpy(to, digits, (size_t)count);
    to += count;
    zeros = count == 1 && *digits == '0' ? 0 : -scale;
    memset(to, '0', (size_t)zeros);
    to += zeros;
  } else {
    int whole = count > scale ? count - scale : 0;
    if (!whole) *to++ = '0';
    memcpy(to, digits, (size_t)whole);
    to += whole;
    *to++ = '.';
    zeros = count < scale ? scale - count : 0;
    memset(to, '0', (size_t)zeros);
    to += zeros;
    memcpy(to, digits + whole, (size_t)(count - whole));
    to += count - whole;
  }
  *to = '\0';
  return (int)(to - out);
}

float fl_arrow_half(const uint8_t *at) {
  unsigned bits = at[0] | (unsigned)at[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
  float x = exponent == 31 ? (fraction ? NAN : INFINITY)
            : exponent     ? ldexpf((float)(fraction | 1024), (int)exponent - 25)
                           : ldexpf((float)fraction, -24);
  return bits >> 15 ? -x : x;
}
