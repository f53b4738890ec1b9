/* utf8.c: whether the bytes of a text are UTF-8 (RFC 3629: nothing overlong, no surrogates, nothing above
 * U+10FFFF), in about a step of the processor each, whichever they are.
 *
 * Method: a table of moves whose states are distances to shift (P. Vognsen, 2019): the word of the next byte
 * is shifted by the state, and its lowest six bits are the next state. What no move is written for is BAD,
 * which is 0, and which nothing leaves. */
#include "kern/regex.h"

#include <string.h>

enum {
  BAD = 0,
  BETWEEN = 6, /* characters */
  ONE = 12,    /* so many bytes of the character are missing, and may be any that continue one */
  TWO = 18,
  THREE = 24,
  BEHIND_E0 = 30, /* of which the next one is in a part of the range */
  BEHIND_ED = 36,
  BEHIND_F0 = 42,
  BEHIND_F4 = 48
};

#define MOVE(from, to) ((uint64_t)(to) << (from))

/* The moves of a byte. */
#define MOVES(b) ((b) < 0x80 ? MOVE(BETWEEN, BETWEEN) : (b) < 0xc0 ? CONTINUES(b) : MOVE(BETWEEN, BEGINS(b)))
#define CONTINUES(b)                                                                                         \
  (MOVE(ONE, BETWEEN) | MOVE(TWO, ONE) | MOVE(THREE, TWO) | MOVE(BEHIND_E0, (b) < 0xa0 ? BAD : ONE) |        \
   MOVE(BEHIND_ED, (b) < 0xa0 ? ONE : BAD) | MOVE(BEHIND_F0, (b) < 0x90 ? BAD : TWO) |                       \
   MOVE(BEHIND_F4, (b) < 0x90 ? TWO : BAD))
#define BEGINS(b)                                                                                            \
  ((b) < 0xc2    ? BAD                                                                                       \
   : (b) < 0xe0  ? ONE                                                                                       \
   : (b) == 0xe0 ? BEHIND_E0                                                                                 \
   : (b) == 0xed ? BEHIND_ED                                                                                 \
   : (b) < 0xf0  ? TWO                                                                                       \
   : (b) == 0xf0 ? BEHIND_F0                                                                                 \
   : (b) < 0xf4  ? THREE                                                                                     \
   : (b) == 0xf4 ? BEHIND_F4                                                                                 \
                 : BAD)

#define FOUR(b) MOVES(b), MOVES((b) + 1), MOVES((b) + 2), MOVES((b) + 3)
#define SIXTEEN(b) FOUR(b), FOUR((b) + 4), FOUR((b) + 8), FOUR((b) + 12)
#define SIXTY(b) SIXTEEN(b), SIXTEEN((b) + 16), SIXTEEN((b) + 32), SIXTEEN((b) + 48)

static const uint64_t moves[256] = {SIXTY(0), SIXTY(64), SIXTY(128), SIXTY(192)};

bool fl_kern_is_utf8(const char *s, int64_t n) {
  enum { WORD = 8, STATE = 63 };
  uint64_t word, state = BETWEEN;
  for (int64_t i = 0; i < n;) {
    int64_t end = i + WORD < n ? i + WORD : n;
    if (i + WORD <= n && (state & STATE) == BETWEEN) {
      memcpy(&word, s + i, WORD);
      if ((word & UINT64_C(0x8080808080808080)) == 0) {
        i = end;
        continue;
      }
    }
    for (; i < end; i++) state = moves[(unsigned char)s[i]] >> (state & STATE);
  }
  return (state & STATE) == BETWEEN;
}
