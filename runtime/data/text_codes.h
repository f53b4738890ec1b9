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

/* ---- texts that are not written yet (coded.c, docs/decisions/text-codes.md) ---------------------------- */

enum { FL_CODED_CHUNK = 1 << 17 }; /* texts that are written at once: a large page of them */

/* Columns of at least so many rows may stay codes (FLOW_CODES_FROM). */
int64_t fl_coded_from(void);
/* An array of n texts of the dictionary of `known`, none of which is written; `like` has them, too, and keeps
 * their bytes. Their codes are those in `codes` (it takes a reference), by the time that anybody else sees
 * the array. NULL: it must be made as others are; where that is for want of memory it may be recorded. */
FlArray *fl_array_new_coded(FlCtx *ctx, int64_t n, FlArray *like, const FlTextCodes *known, FlBuffer *codes);
/* Whether its texts were made so; they may be written by now. */
bool fl_array_is_coded(const FlArray *a);
/* Of one that is: the chunks [begin, end) of its buffer hold its rows that are not written; all are written
 * where both are equal, and may then be read. */
void fl_coded_chunks(const FlArray *a, int64_t *begin, int64_t *end);
/* These chunks become memory; some may be so already. Non-zero: there is none; recorded. */
FlStatus fl_coded_open(FlCtx *ctx, const FlArray *a, int64_t begin, int64_t end);
/* Writes an open chunk, or waits until somebody has. */
void fl_coded_write(const FlArray *a, int64_t chunk);
/* The first n texts of an array, which are in `room` where they are not written. */
const FlText *fl_texts_read(const FlArray *a, int64_t n, FlText *room);

#endif
