/* kept_rows.h: rows that a mask keeps, one behind the other. */
#ifndef FL_KEPT_ROWS_H
#define FL_KEPT_ROWS_H

#include "data/data.h"

/* How many of n bytes are not 0. */
int64_t fl_count_true(const uint8_t *mask, int64_t n);

/* The size of a row that can be copied as one word, 0 for others: views of narrow elements may begin
 * anywhere. */
size_t fl_row_word(const void *from, size_t row_bytes);

/* Writes the next n rows behind row `first` that the mask of `rows` rows keeps, which are there, to `to`;
 * returns the row behind the last one of them. Rows of `row_bytes`; `lists`: they are references of arrays,
 * of which `to` gets its own. */
int64_t fl_keep_rows(const uint8_t *mask, int64_t rows, int64_t first, const void *from, size_t row_bytes,
                     bool lists, int64_t n, void *to);
/* The numbers of these rows. */
int64_t fl_keep_numbers(const uint8_t *mask, int64_t first, int64_t n, uint32_t *to);
/* Writes for each of `rows` rows whether it stays: those that the mask keeps where the next byte of `of` does
 * (not 0), the others not. Returns how many bytes of it were read. */
int64_t fl_keep_of_kept(const uint8_t *mask, int64_t rows, const uint8_t *of, uint8_t *to);

#endif
