/* random.h: random numbers as functions of a seed and a position.
 *
 * Philox 4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011, section 5; constants of table 2 there. The key is the seed. The counter is (i, j ^ stream << 56), for
 * uniform numbers with i / 2: streams of different use never share a block as long as -2^55 <= j < 2^55. One
 * block is 128 bits.
 *
 * Everything is kept in 64-bit lanes, of which the low 32 bits count, so that loops vectorise with the
 * widening 32-bit multiplication that every vector unit has. */
#ifndef FL_RANDOM_H
#define FL_RANDOM_H

#include "kern/scalar_types.h"
#include "kern/vec_log.h"
#include "kern/vec_trig.h"

/* Streams; integers draw again in the streams from FL_STREAM_INT on. */
enum {
  FL_STREAM_UNIFORM = 0,
  FL_STREAM_NORMAL = 1,
  FL_STREAM_PERMUTATION = 2,
  FL_STREAM_CHOICE = 3,
  FL_STREAM_SUBSEED = 4,
  FL_STREAM_SPLIT = 5,
  FL_STREAM_INT = 64,
  FL_STREAM_INT_DRAWS = 32
};

/* The four words of a block, each the low half of its lane; what is above is of no meaning. */
typedef struct FlRandomWords {
  uint64_t w0, w1, w2, w3;
} FlRandomWords;

typedef struct FlRandomBlock {
  uint64_t lo, hi; /* words 0, 1 and words 2, 3 of the block, the first in the low half */
} FlRandomBlock;

/* counter words c0..c3 and key words k0, k1: 32 bits each, upper halves zero */
FL_KERN_HELPER FlRandomWords fl_philox(uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t k0,
                                       uint64_t k1) {
  const uint64_t low = 0xffffffff;
#define FL_ROUND                                                                                             \
  {                                                                                                          \
    uint64_t p0 = (c0 & low) * 0xD2511F53u, p1 = (c2 & low) * 0xCD9E8D57u;                                   \
    c0 = (p1 >> 32) ^ c1 ^ k0;                                                                               \
    c2 = (p0 >> 32) ^ c3 ^ k1;                                                                               \
    c1 = p1;                                                                                                 \
    c3 = p0;                                                                                                 \
    k0 += 0x9E3779B9u;                                                                                       \
    k1 += 0xBB67AE85u;                                                                                       \
  }
  FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND FL_ROUND
#undef FL_ROUND
      return (FlRandomWords){c0, c1, c2, c3};
}

FL_KERN_HELPER FlRandomWords fl_random_words(int64_t seed, int64_t i, int64_t j, int stream) {
  const uint64_t low = 0xffffffff;
  uint64_t s = (uint64_t)seed, a = (uint64_t)i, b = (uint64_t)j ^ (uint64_t)stream << 56;
  return fl_philox(a & low, a >> 32, b & low, b >> 32, s & low, s >> 32);
}

FL_KERN_HELPER FlRandomBlock fl_random_block(int64_t seed, int64_t i, int64_t j, int stream) {
  const uint64_t low = 0xffffffff;
  FlRandomWords w = fl_random_words(seed, i, j, stream);
  return (FlRandomBlock){(w.w0 & low) | w.w1 << 32, (w.w2 & low) | w.w3 << 32};
}

/* Of the 64 bits of two words the upper 53, as a multiple of 2^-53 in [0, 1): the high word is the end of a
 * mantissa of 2^20, the upper 21 bits of the low one that of a mantissa of one half; every step is exact.
 * Vectors of any width can do this, and not all can convert. */
FL_KERN_HELPER double fl_unit_f64(uint64_t low_word, uint64_t high_word) {
  double high = fl_f64_bits((high_word & 0xffffffff) | fl_bits_f64(0x1p20));
  double low = fl_f64_bits((low_word >> 11 & 0x1fffff) | fl_bits_f64(0.5));
  return (high - (0x1p20 + 0.5)) + low;
}

/* Two neighbours share a block, of which each takes its half: where a program draws at 2 i and 2 i + 1, the
 * compiler computes one block for both. */
FL_KERN double fl_s_random(int64_t seed, int64_t i, int64_t j) {
  FlRandomWords w = fl_random_words(seed, (int64_t)((uint64_t)i >> 1), j, FL_STREAM_UNIFORM);
  bool second = (i & 1) != 0;
  return fl_unit_f64(second ? w.w2 : w.w0, second ? w.w3 : w.w1);
}

/* fl_s_random at 2 (base + k) and, in *second, at the position after it. k is a small number whose bits are
 * all zero in base: the upper half of the counter is that of base, and a loop over k computes it once. */
FL_KERN double fl_s_random_two(int64_t seed, int64_t base, int64_t k, int64_t j, double *second) {
  const uint64_t low = 0xffffffff;
  uint64_t s = (uint64_t)seed, a = (uint64_t)base, b = (uint64_t)j ^ (uint64_t)FL_STREAM_UNIFORM << 56;
  FlRandomWords w = fl_philox((a & low) | (uint64_t)k, a >> 32, b & low, b >> 32, s & low, s >> 32);
  *second = fl_unit_f64(w.w2, w.w3);
  return fl_unit_f64(w.w0, w.w1);
}

/* The cosine half of G. Box and M. Muller, "A note on the generation of random normal deviates" (1958), from
 * the two halves of one block: sqrt(-2 log(1 - u)) cos(2 pi v); 1 - u is exact and in (0, 1]. */
FL_KERN double fl_s_random_normal(int64_t seed, int64_t i, int64_t j) {
  FlRandomWords w = fl_random_words(seed, i, j, FL_STREAM_NORMAL);
  double radius = __builtin_sqrt(-2.0 * fl_vec_log(1.0 - fl_unit_f64(w.w0, w.w1)));
  return radius * fl_vec_cos_turns(fl_unit_f64(w.w2, w.w3));
}

/* [lo, hi), each equally likely. D. Lemire, "Fast random integer generation in an interval" (2019): the upper
 * half of word * range, drawing again while the lower half is below 2^64 mod range. After 64 words, met with
 * a probability below 2^-64, the last is taken. DOMAIN unless lo < hi. */
FL_KERN int64_t fl_s_random_int(int64_t seed, int64_t lo, int64_t hi, int64_t i, int64_t j, int32_t *fault) {
  fl_fault_if(fault, lo >= hi, FL_FAULT_DOMAIN);
  uint64_t range = lo >= hi ? 1 : (uint64_t)hi - (uint64_t)lo;
  unsigned __int128 product = 0;
  for (int draw = 0; draw < FL_STREAM_INT_DRAWS; draw++) {
    FlRandomBlock b = fl_random_block(seed, i, j, FL_STREAM_INT + draw);
    product = (unsigned __int128)b.lo * range;
    if ((uint64_t)product >= range || (uint64_t)product >= (0 - range) % range) break;
    product = (unsigned __int128)b.hi * range;
    if ((uint64_t)product >= range || (uint64_t)product >= (0 - range) % range) break;
  }
  return (int64_t)((uint64_t)lo + (uint64_t)(product >> 64));
}

/* A seed for part i of the work: no one-bit change of seed or i leaves it near. */
FL_KERN int64_t fl_s_subseed(int64_t seed, int64_t i) {
  return (int64_t)fl_random_block(seed, i, 0, FL_STREAM_SUBSEED).lo;
}

#endif
