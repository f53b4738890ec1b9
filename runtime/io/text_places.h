/* text_places.h: the texts of a file's dictionary as codes of ours have them: in order, each once. */
#ifndef FL_TEXT_PLACES_H
#define FL_TEXT_PLACES_H

#include "data/text_codes.h"

/* The n texts by ascending bytes, equal ones in one place, which is place[k] of text k. One reference; NULL:
 * out of memory. */
FlDictionary *fl_text_places(FlCtx *ctx, const FlText *texts, int64_t n, uint32_t *place);

#endif
