/* text_points.h: code points of UTF-8, for the operators on texts; private to the room. */
#ifndef FL_TEXT_POINTS_H
#define FL_TEXT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* Does a code point begin with this byte? */
static inline bool fl_text_is_lead(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

/* Reads one code point; returns how many bytes it took. A damaged sequence is its first byte alone. */
static inline int fl_text_point(const char *s, int64_t n, uint32_t *out) {
  const unsigned char *u = (const unsigned char *)s;
  int size = u[0] < 0x80 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
  if (size == 1 || size > n) {
    *out = u[0];
    return 1;
  }
  uint32_t v = u[0] & (0x7fu >> size);
  for (int i = 1; i < size; i++) v = v << 6 | (u[i] & 0x3f);
  *out = v;
  return size;
}

static inline int fl_text_put_point(char *s, uint32_t v) {
  if (v < 0x80) {
    s[0] = (char)v;
    return 1;
  }
  int size = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; i--, v >>= 6) s[i] = (char)(0x80 | (v & 0x3f));
  s[0] = (char)(v | (size == 2 ? 0xc0 : size == 3 ? 0xe0 : 0xf0));
  return size;
}

/* White_Space of Unicode. */
static inline bool fl_text_is_space(uint32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}
#endif
