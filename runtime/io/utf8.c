/* utf8.c: whether bytes are UTF-8 (RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF). */
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

int64_t fl_utf8_check(const char *s, int64_t n) {
  int64_t at = 0;
  while (at < n) {
    uint64_t word;
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
