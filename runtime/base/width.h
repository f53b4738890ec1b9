/* width.h: how many columns of a terminal text takes. Nothing depends on the locale.
 *
 * A character of the East Asian scripts and an emoji take two columns, a combining mark none; of an emoji
 * made of several code points each counts, as terminals differ there. */
#ifndef FL_WIDTH_H
#define FL_WIDTH_H

#include <stddef.h>

/* Columns of the first code point of n > 0 bytes of UTF-8, its bytes in *size; -1: what cannot be shown as it
 * is, a control character, or one byte that is no UTF-8. */
int fl_width_next(const char *s, size_t n, size_t *size);
/* Columns of n bytes; what cannot be shown counts one. */
int fl_width_text(const char *s, size_t n);
/* Bytes of the longest beginning that takes at most so many columns, with the marks on its last character. */
size_t fl_width_fit(const char *s, size_t n, int columns);

#endif
