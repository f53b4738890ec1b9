/* scalar_text.h: the comparisons of texts that are mostly decided by their lengths, inline in whatever calls
 * them.
 *
 * Unlike other header functions they also exist in libflowrt (text.c), so that they can be called by name.
 * With a constant on one side the comparison of bytes becomes a load or two. */
#ifndef FL_SCALAR_TEXT_H
#define FL_SCALAR_TEXT_H

#include "kern/scalar_types.h"

#ifndef FL_KERN_SHARED
#define FL_KERN_SHARED inline
#endif

FL_KERN_SHARED uint8_t fl_s_eq_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return an == bn && (bn == 0 || __builtin_memcmp(a, b, (size_t)bn) == 0);
}
FL_KERN_SHARED uint8_t fl_s_ne_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return !(an == bn && (bn == 0 || __builtin_memcmp(a, b, (size_t)bn) == 0));
}
FL_KERN_SHARED uint8_t fl_s_starts_with(const char *s, int64_t n, const char *part, int64_t part_n) {
  return part_n <= n && (part_n == 0 || __builtin_memcmp(s, part, (size_t)part_n) == 0);
}
FL_KERN_SHARED uint8_t fl_s_ends_with(const char *s, int64_t n, const char *part, int64_t part_n) {
  return part_n <= n && (part_n == 0 || __builtin_memcmp(s + (n - part_n), part, (size_t)part_n) == 0);
}

#endif
