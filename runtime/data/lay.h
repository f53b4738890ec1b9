/* lay.h: numbers that become a column of a matrix whose rows lie one behind the other. */
#ifndef FL_DATA_LAY_H
#define FL_DATA_LAY_H

#include <stdint.h>

/* n numbers of `size` bytes, 1, 2, 4 or 8, go to `to` and to each `width`th place behind it. */
void fl_lay(const void *from, int64_t n, int64_t size, int64_t width, void *to);

#endif
