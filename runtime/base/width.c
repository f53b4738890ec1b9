/* width.c: see width.h. */
#include "base/width.h"
#include "base/width_table.h"

#include <stdbool.h>

static bool is_in(const FlWidthRange *ranges, size_t n, uint32_t point) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges[middle].last < point) low = middle + 1;
    else high = middle;
  }
  return low < n && ranges[low].first <= point;
}

int fl_width_next(const char *s, size_t n, size_t *size) {
  const unsigned char *u = (const unsigned char *)s;
  *size = 1;
  if (u[0] < 0x80) return u[0] < ' ' || u[0] == 127 ? -1 : 1;
  size_t len = u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
  if (len == 0 || len > n) return -1;
  uint32_t point = u[0] & (0x7fu >> len);
  for (size_t k = 1; k < len; k++) {
    if ((u[k] & 0xc0) != 0x80) return -1;
    point = point << 6 | (u[k] & 0x3f);
  }
  *size = len;
  if (point < 0xa0) return -1;
  if (is_in(fl_width_none, sizeof fl_width_none / sizeof *fl_width_none, point)) return 0;
  return is_in(fl_width_two, sizeof fl_width_two / sizeof *fl_width_two, point) ? 2 : 1;
}

int fl_width_text(const char *s, size_t n) {
  int columns = 0;
  for (size_t at = 0, size; at < n; at += size) {
    int wide = fl_width_next(s + at, n - at, &size);
    columns += wide < 0 ? 1 : wide;
  }
  return columns;
}

size_t fl_width_fit(const char *s, size_t n, int columns) {
  size_t at = 0, size;
  for (; at < n; at += size) {
    int wide = fl_width_next(s + at, n - at, &size);
    columns -= wide < 0 ? 1 : wide;
    if (columns < 0) break;
  }
  return at;
}
