/* text_order.h: the order of texts by their bytes, which for UTF-8 is that of their code points, and whether
 * two are the same. A text that begins another one comes first. `ptr` of an empty text may be NULL. */
#ifndef FL_DATA_TEXT_ORDER_H
#define FL_DATA_TEXT_ORDER_H

#include "flow/abi.h"

#include <string.h>

/* Below 0: a comes first; 0: they are the same. */
static inline int fl_text_order(FlText a, FlText b) {
  int64_t n = a.len < b.len ? a.len : b.len;
  int order = n > 0 ? memcmp(a.ptr, b.ptr, (size_t)n) : 0;
  return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool fl_text_same(FlText a, FlText b) {
  return a.len == b.len && (a.len == 0 || a.ptr == b.ptr || memcmp(a.ptr, b.ptr, (size_t)a.len) == 0);
}

#endif
