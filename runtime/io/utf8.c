/* utf8.c: whether bytes are UTF-8 (RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF), and
 * texts of wider code units as UTF-8. */
#include "io/io_internal.h"

#include <string.h>

/* Length of the sequence that starts at s (n >= 1 bytes there), 0: none is valid. */
static int sequence(const unsigned char *s, int64_t n) {
  if (s[0] < 0x80) return 1;
  int len = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
  if (!len || n < len) return 0;
  for (int k = 1; k < len; k++) {
    if ((s[k] & 0xc0) != 0x80) return 0;
  }
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return len;
}

enum { BLOCK = 32 }; /* bytes that are looked at together */

/* The bits of BLOCK bytes. */
static inline uint64_t block_bits(const char *s) {
  uint64_t words[BLOCK / 8];
  memcpy(words, s, sizeof words);
  return words[0] | words[1] | words[2] | words[3];
}

bool fl_utf8_is_ascii(const char *s, int64_t n) {
  uint64_t bits = 0;
  unsigned char rest = 0;
  int64_t at = 0;
  for (; n - at >= BLOCK; at += BLOCK) bits |= block_bits(s + at);
  for (; at < n; at++) rest |= (unsigned char)s[at];
  return ((bits | rest) & UINT64_C(0x8080808080808080)) == 0;
}

int64_t fl_utf8_check(const char *s, int64_t n) {
  int64_t at = 0;
  while (at < n) {
    uint64_t word;
    while (n - at >= BLOCK && (block_bits(s + at) & UINT64_C(0x8080808080808080)) == 0) at += BLOCK;
    if (at == n) break;
    if (n - at >= 8 && (memcpy(&word, s + at, 8), (word & 0x8080808080808080u) == 0)) {
      at += 8;
      continue;
    }
    int len = sequence((const unsigned char *)s + at, n - at);
    if (!len) return at;
    at += len;
  }
  return n;
}

char *fl_utf8_put(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xc0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *to++ = (char)(0xe0 | c >> 12);
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  } else {
    *to++ = (char)(0xf0 | c >> 18);
    *to++ = (char)(0x80 | (c >> 12 & 0x3f));
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  }
  return to;
}

int64_t fl_utf8_of_units(const char *from, int64_t n, int size, bool big, char *to) {
  const unsigned char *s = (const unsigned char *)from;
  char *begin = to;
  uint32_t high = 0; /* the first half of a pair */
  for (int64_t k = 0; k < n; k++, s += size) {
    uint32_t c = 0;
    for (int j = 0; j < size; j++) c |= (uint32_t)s[big ? size - 1 - j : j] << (8 * j);
    bool second = c >= 0xdc00 && c < 0xe000, first = c >= 0xd800 && c < 0xdc00;
    if ((high != 0) != second || c > 0x10ffff || (first && size != 2)) return -1;
    if (first) {
      high = c;
      continue;
    }
    if (second) c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
    high = 0;
    to = fl_utf8_put(to, c);
  }
  return high ? -1 : to - begin;
}
