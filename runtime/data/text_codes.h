/* text_codes.h: what a column of few different texts knows besides its texts: the different ones in order,
 * and which of them each row has.
 *
 * Comes in: an array of texts. Goes out: its codes, when somebody has found them before (part/dictionary.h).
 * Always holds: they say nothing that the texts do not say, so that whoever does not know of them loses time
 * only; they belong to the buffer of the texts, serve every view of it, and never change. */
#ifndef FL_TEXT_CODES_H
#define FL_TEXT_CODES_H

#include "data/data.h"

/* Different texts by ascending bytes. Their bytes are kept by whatever buffer has the codes. */
typedef struct FlDictionary {
  _Atomic int64_t refs;
  int64_t n;
  FlText texts[];
} FlDictionary;

typedef struct FlTextCodes {
  FlDictionary *dictionary; /* may have texts that no row has */
  FlBuffer *codes;          /* of all rows of the buffer: a place in the dictionary; under a null any */
  int32_t width;            /* bytes of a code: 1, 2 or 4 */
} FlTextCodes;

/* A dictionary with room for n texts, one reference. NULL: out of memory, recorded. */
FlDictionary *fl_dictionary_new(FlCtx *ctx, int64_t n);
FlDictionary *fl_dictionary_ref(FlDictionary *d);
void fl_dictionary_unref(FlDictionary *d); /* NULL is allowed */

/* The bytes that hold the places 0..n. */
static inline int32_t fl_text_codes_width(int64_t n) { return n <= 1 << 8 ? 1 : n <= 1 << 16 ? 2 : 4; }

/* The codes of the rows of `a`, and at *codes those of its first row; NULL: nobody knows them. Borrowed. */
const FlTextCodes *fl_text_codes(const FlArray *a, const void **codes);
/* Gives the buffer of `a` codes, one for each of its rows: takes over the references, whether it needs them
 * (true) or has codes already, or there are no texts. `a` must begin where its buffer begins, and have all
 * the rows of it that will ever be read. */
bool fl_text_codes_attach(const FlArray *a, FlDictionary *dictionary, FlBuffer *codes, int32_t width);
/* The texts that n codes stand for. */
void fl_texts_of_codes(const FlTextCodes *known, const void *codes, int64_t n, FlText *to);

#endif
