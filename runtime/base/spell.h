/* spell.h: which of some names a misspelt one was meant to be. */
#ifndef FL_SPELL_H
#define FL_SPELL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/* Index of the candidate closest to `name` (Damerau-Levenshtein distance with adjacent swaps, letters
 * compared without case, at most a third of the name's length and at least 1), the first at ties; -1: none is
 * close. */
int32_t fl_spell_closest(const char *name, size_t len, const char *const *candidates, int32_t n);

#endif
