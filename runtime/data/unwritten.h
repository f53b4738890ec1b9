/* unwritten.h: arrays whose elements are written when somebody first reads them
 * (docs/decisions/unwritten-arrays.md): texts of which there are codes alone, and rows that a filter keeps.
 *
 * Comes in: what the elements are made of, later which of them are read. Goes out: an array with addresses
 * for all of them. Always holds: a read of what is not written traps; elements never change once they are
 * written; the memory of all counts from the start. */
#ifndef FL_UNWRITTEN_H
#define FL_UNWRITTEN_H

#include "data/text_codes.h"

/* Arrays of at least so many rows may stay unwritten (FLOW_UNWRITTEN_FROM). */
int64_t fl_unwritten_from(void);

/* Whether it was made so; all of it may be written by now. */
bool fl_array_is_unwritten(const FlArray *a);
/* Of one that is: the chunks [begin, end) of its buffer hold its rows that are not written; all are written
 * where both are equal, and may then be read. */
void fl_unwritten_chunks(const FlArray *a, int64_t *begin, int64_t *end);
/* These chunks become memory; some may be so already. Non-zero: there is none; recorded. */
FlStatus fl_unwritten_open(FlCtx *ctx, const FlArray *a, int64_t begin, int64_t end);
/* Writes an open chunk, or waits until somebody has. Returns how many elements it has. */
void fl_unwritten_write(const FlArray *a, int64_t chunk);
int64_t fl_unwritten_chunk(const FlArray *a);
/* The first n elements, which are in `room` where they are not written: room for n of the array's type. */
const void *fl_unwritten_read(const FlArray *a, int64_t n, void *room);

/* ---- texts by their codes (coded.c) ------------------------------------------------------------------- */

/* An array of n texts of the dictionary of `known`, none of which is written; `like` has them, too, and keeps
 * their bytes. Their codes are those in `codes` (it takes a reference), by the time that anybody else sees
 * the array. NULL: it must be made as others are; where that is for want of memory it may be recorded. */
FlArray *fl_array_new_coded(FlCtx *ctx, int64_t n, FlArray *like, const FlTextCodes *known, FlBuffer *codes);
/* Gives the column *a the codes of all its rows. `alone`: its texts are not written; another array stands in
 * its place, or they are written now. Takes over the codes' references. */
void fl_array_give_codes(FlCtx *ctx, FlArray **a, FlTextCodes codes, bool alone);
/* Whether its texts are made of codes. */
bool fl_array_is_coded(const FlArray *a);

/* ---- rows that a filter keeps (selected.c) ------------------------------------------------------------- */

enum { FL_KEPT_BLOCK = 4096 };

/* The rows of a table that stay. Never changes, but for `rows`. */
typedef struct FlSelection {
  _Atomic int64_t refs;
  FlArray *mask; /* bool, one reference: which of the n rows stay */
  int64_t n, kept;
  _Atomic(FlArray *) rows; /* u32: where each that stays is; NULL: nobody has asked yet */
  int64_t before[];        /* [n / FL_KEPT_BLOCK, rounded up]: how many stay before each block */
} FlSelection;

/* With room for the counts of n rows; `mask` gets another reference. NULL: no memory, recorded. */
FlSelection *fl_selection_new(FlCtx *ctx, FlArray *mask);
FlSelection *fl_selection_ref(FlSelection *s);
void fl_selection_unref(FlSelection *s); /* NULL is allowed */
/* The row that the one of those that stay is; of `kept` n. */
int64_t fl_selection_row(const FlSelection *s, int64_t of);
/* How many stay before a row, which may be n. */
int64_t fl_selection_before(const FlSelection *s, int64_t row);

/* The rows of `from`, a column, that stay, none of which is written. NULL: as of fl_array_new_coded. */
FlArray *fl_array_new_selected(FlCtx *ctx, FlArray *from, FlSelection *s);
/* What an array is selected from, while it is: whoever borrows it gives it back. */
typedef struct FlSelected {
  FlArray *from; /* NULL: the array is none, or is written */
  FlSelection *selection;
  int64_t first; /* the array is those that stay from this one on */
  FlBuffer *of;
} FlSelected;
FlSelected fl_selected_borrow(const FlArray *a);
void fl_selected_return(FlSelected s);

#endif
