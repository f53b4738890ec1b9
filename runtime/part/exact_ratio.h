/* exact_ratio.h: quotients and roots of whole numbers of any length, rounded once.
 *
 * What comes in: whole numbers as words of 64 bits, the lowest first, and the exponent of their unit. What
 * goes out: the double nearest to the exact value, ties to even; infinities and subnormal numbers where it is
 * there. Always holds: the result is that of the exact value. It is found with 64 bits, whose error is known;
 * only where that leaves open on which side of the middle of two doubles the value lies, whole numbers are
 * multiplied out. */
#ifndef FL_PART_EXACT_RATIO_H
#define FL_PART_EXACT_RATIO_H

#include <stdbool.h>
#include <stdint.h>

/* words of a sum of doubles, of a sum of products of two doubles times a count (and its like) */
enum { FL_WHOLE_SUM = 36, FL_WHOLE_PRODUCT = 76 };

/* words[0..n) times 2^exponent, not negative. */
typedef struct FlWhole {
  const uint64_t *word;
  int n, exponent;
} FlWhole;

/* A number with a sign and room for its words; those from n on are undefined. */
typedef struct FlBig {
  uint64_t word[FL_WHOLE_PRODUCT];
  int n, exponent;
  bool negative;
} FlBig;

/* a / b, sqrt(a / b), xy / sqrt(xx * yy). b, xx and yy are not zero. */
double fl_exact_ratio(FlWhole a, FlWhole b);
double fl_exact_root(FlWhole a, FlWhole b);
double fl_exact_cosine(FlWhole xy, FlWhole xx, FlWhole yy);

/* sum * 2^exponent / (count * 10^digits), count > 0, digits 0 to 18. */
double fl_exact_mean(__int128 sum, int exponent, int64_t count, int digits);

static inline FlWhole fl_big_whole(const FlBig *b) { return (FlWhole){b->word, b->n, b->exponent}; }
void fl_big_set(FlBig *b, __int128 v, int exponent);
/* Two's complement of n words, as a number with a sign. */
void fl_big_set_words(FlBig *b, const uint64_t *word, int n, int exponent);
bool fl_big_is_zero(const FlBig *b);
/* *out = n * xy - x * y: xy has the exponent of x * y. */
void fl_big_moment(FlBig *out, uint64_t n, const FlBig *xy, const FlBig *x, const FlBig *y);

/* The same number in units of 2^exponent, which are not larger than its own. */
void fl_big_refine(FlBig *b, int exponent);
/* *least and *most: b with `by` >= 0, rounded up to its unit, taken away from its size and added to it.
 * false: the least would be zero, or of the other sign. */
bool fl_big_around(const FlBig *b, double by, FlBig *least, FlBig *most);

#endif
