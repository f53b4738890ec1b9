/* lay.c: see lay.h. What always holds: values move as they are. */
#include "data/lay.h"

#include <string.h>

#define LAY(T)                                                                                               \
  {                                                                                                          \
    const T *its = from;                                                                                     \
    T *there = to;                                                                                           \
    for (int64_t i = 0; i < n; i++) there[i * width] = its[i];                                               \
    break;                                                                                                   \
  }

void fl_lay(const void *from, int64_t n, int64_t size, int64_t width, void *to) {
  if (width == 1) {
    if (n > 0) memcpy(to, from, (size_t)(n * size));
    return;
  }
  switch (size) {
  case 1: LAY(uint8_t)
  case 2: LAY(uint16_t)
  case 4: LAY(uint32_t)
  case 8: LAY(uint64_t)
  }
}
