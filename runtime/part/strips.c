/* strips.c: which of some buckets, which are in order, each code is of.
 *
 * Comes in: codes. Goes out: cuts, which a sample gives, so that buckets have about as many rows each, and
 * the buckets of codes. Always holds: cuts come from the codes alone; bucket 2 c is of the codes between the
 * cuts c - 1 and c, bucket 2 c + 1 of those that equal cut c.
 *
 * What is between the first cut and the last one is divided into strips of equal width. A strip says how many
 * cuts are before it, and so most of the bucket; a few steps among the cuts of the strip say the rest. */
#include "part/part_internal.h"

enum {
  ALONE = 1 << 16, /* less rows are one bucket */
  ROWS_A_CUT = 1 << 12,
  RUN = 16
};

/* The strip of a code, never falling with it. */
static inline int64_t strip_of(const FlPartStrips *s, uint64_t code) {
  uint64_t above = code < s->cuts[0] ? 0 : (code - s->cuts[0]) >> s->shift;
  return above < FL_PART_STRIPS ? (int64_t)above : FL_PART_STRIPS - 1;
}

/* Which cuts each strip has. */
static void divide(FlPartStrips *s) {
  int64_t c = 0, most = 0;
  uint64_t span = s->n_cuts > 0 ? s->cuts[s->n_cuts - 1] - s->cuts[0] : 0;
  s->shift = (int)fl_part_max(fl_part_bits(span) - fl_part_bits(FL_PART_STRIPS - 1), 0);
  for (int64_t k = 0; k < FL_PART_STRIPS; k++) {
    int64_t before = c;
    s->below[k] = (uint16_t)c;
    while (c < s->n_cuts && strip_of(s, s->cuts[c]) == k) c++;
    most = fl_part_max(most, c - before);
  }
  for (s->half = 1; 2 * s->half - 1 < most; s->half *= 2) continue;
}

FlStatus fl_part_find_strips(FlPartMem *m, FlPartReadWords *read, const void *env, int64_t n,
                             FlPartStrips *s) {
  int64_t wanted = n < ALONE ? 0 : fl_part_min(FL_PART_STRIP_CUTS, n / ROWS_A_CUT);
  FlPartSample sample = {
      .read = read, .env = env, .n = n, .places = wanted, .run = RUN, .wanted = wanted, .n_words = 1};
  if (fl_part_sample_cuts(m, &sample, s->cuts, &s->n_cuts) != 0) return 1;
  for (int64_t c = s->n_cuts; c < 2 * (FL_PART_STRIP_CUTS + 1); c++) s->cuts[c] = UINT64_MAX;
  s->n_buckets = 2 * s->n_cuts + 1;
  divide(s);
  return 0;
}

/* After the strips all take the same steps, one step after the other, so that the processor neither waits nor
 * guesses. */
void fl_part_strip_buckets(const FlPartStrips *s, const uint64_t *code, int64_t n, int32_t *bucket) {
  int32_t low[FL_PART_BATCH];
  for (int64_t i = 0; i < n; i++) low[i] = s->below[strip_of(s, code[i])];
  for (int32_t half = s->half; half > 0; half /= 2) {
    for (int64_t i = 0; i < n; i++) low[i] += half & -(int32_t)(s->cuts[low[i] + half - 1] < code[i]);
  }
  for (int64_t i = 0; i < n; i++) bucket[i] = 2 * low[i] + (low[i] < s->n_cuts && s->cuts[low[i]] == code[i]);
}
