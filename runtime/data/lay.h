/* lay.h: numbers that become a column of a matrix whose rows lie one behind the other. */
#ifndef FL_DATA_LAY_H
#define FL_DATA_LAY_H

#include <stdint.h>

enum { FL_LAY_MOST = 1 << 12 };

/* How many rows of so many bytes are laid at a time, so that they stay in the processor's cache until they
 * are whole: 16 to FL_LAY_MOST. */
static inline int64_t fl_lay_strip(int64_t row_bytes) {
  int64_t n = (1 << 15) / row_bytes;
  return n < 16 ? 16 : n > FL_LAY_MOST ? FL_LAY_MOST : n;
}

/* n numbers of `size` bytes, 1, 2, 4 or 8, go to `to` and to each `width`th place behind it. */
void fl_lay(const void *from, int64_t n, int64_t size, int64_t width, void *to);

#endif
