/* sort_near.c: words that fit in a cache, alone or each with a row, by one worker.
 *
 * Comes in: words; or pairs of word and row. Goes out: the same in ascending order of words, where they
 * stand; pairs of equal words stay in their order.
 *
 * Words alone are sorted by vectors where the processor has AVX-512. Else both are sorted by about as many
 * bits from the first that differs as tell most of them apart, least digit first, then by insertion. Where
 * the insertions get many, the words agree in more bits than that, and all bits are taken. */
#include "part/part_internal.h"
#include "part/sort_vectors.h"

enum {
  DIGIT = 8,
  DIGITS = 1 << DIGIT,
  FEW = 32 /* that are inserted at once */
};

#define EACH_WIDTH static inline __attribute__((always_inline))

EACH_WIDTH void put(uint64_t *to, const uint64_t *from, int width) {
  to[0] = from[0];
  if (width == 2) to[1] = from[1];
}

EACH_WIDTH void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift, int width) {
  int32_t place[DIGITS] = {0}, at = 0;
  for (int64_t i = 0; i < n; i++) place[from[i * width] >> shift & (DIGITS - 1)]++;
  for (int k = 0; k < DIGITS; k++) {
    int32_t count = place[k];
    place[k] = at;
    at += count;
  }
  for (int64_t i = 0; i < n; i++)
    put(to + width * place[from[i * width] >> shift & (DIGITS - 1)]++, from + i * width, width);
}

/* False: it would take many moves, and all are in some stable order between. */
EACH_WIDTH bool insert_all(uint64_t *p, int64_t n, int width) {
  int64_t moves = 0, most = 8 * n + FEW * FEW;
  for (int64_t i = 1; i < n && moves <= most; i++) {
    uint64_t x[2] = {0};
    int64_t j = i;
    put(x, p + i * width, width);
    for (; j > 0 && p[(j - 1) * width] > x[0]; j--) put(p + j * width, p + (j - 1) * width, width);
    put(p + j * width, x, width);
    moves += i - j;
  }
  return moves <= most;
}

EACH_WIDTH void sort_digits(uint64_t *p, uint64_t *spare, int64_t n, int width) {
  uint64_t differ = 0, falls = 0;
  for (int64_t i = 1; i < n; i++) {
    differ |= p[i * width] ^ p[0];
    falls |= p[i * width] < p[(i - 1) * width];
  }
  if (falls == 0) return;
  int top = fl_part_bits(differ), digits = n > FEW ? fl_part_bits((uint64_t)n) / DIGIT + 1 : 0;
  for (;; digits = (top + DIGIT - 1) / DIGIT) {
    int low = (int)fl_part_max(0, top - digits * DIGIT);
    uint64_t *from = p, *to = spare;
    for (int k = 0; k < digits; k++) {
      sort_digit(from, to, n, low + k * DIGIT, width);
      uint64_t *other = from;
      from = to;
      to = other;
    }
    if (from != p) memcpy(p, from, (size_t)(n * width) * sizeof *p);
    if (insert_all(p, n, width)) return;
  }
}

void fl_part_sort_near_pairs(FlPartPair *p, FlPartPair *spare, int64_t n) {
  sort_digits((uint64_t *)p, (uint64_t *)spare, n, 2);
}

void fl_part_sort_near_words(uint64_t *p, uint64_t *spare, int64_t n) {
  if (fl_cpu_level() >= 4) fl_vectors_sort(FL_LANE_U64, p, (size_t)n);
  else sort_digits(p, spare, n, 1);
}
