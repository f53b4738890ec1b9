/* spell.h: texts that are codes alone are written, before somebody reads them (data/text_codes.h). */
#ifndef FL_PART_SPELL_H
#define FL_PART_SPELL_H

#include "data/data.h"

/* Writes the texts of an array, where it has some that are not: all chunks of its rows. NULL and arrays of
 * other types are allowed. Non-zero: there is no memory, or the run is stopped; recorded. */
FlStatus fl_part_spell(FlCtx *ctx, const FlArray *a);
/* May texts that the operator gives be codes alone? Not where rows may be in parts: messages have texts. */
bool fl_part_gives_codes(const FlCtx *ctx, const FlOpDesc *desc);

#endif
