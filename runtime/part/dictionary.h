/* dictionary.h: finds the codes of columns with few different texts (data/text_codes.h). */
#ifndef FL_PART_DICTIONARY_H
#define FL_PART_DICTIONARY_H

#include "data/text_codes.h"

/* Makes the codes of an array of texts known, if it has many rows and, as far as a sample of them tells, few
 * different texts (`any`: however many rows and texts, while the texts fit a table of fixed size). Not an
 * error when it has not. Any thread. Non-zero: out of memory, recorded. */
FlStatus fl_part_find_codes(FlCtx *ctx, const FlArray *a, bool any);

#endif
