/* take_internal.h: what the ways to take rows share: an array and its rows that are taken. */
#ifndef FL_PART_TAKE_INTERNAL_H
#define FL_PART_TAKE_INTERNAL_H

#include "data/unwritten.h"
#include "part/part_internal.h"

typedef struct FlTakeColumn {
  FlArray *from, *to; /* borrowed; owned */
  int32_t result;     /* which one it is */
  size_t row_bytes;
  const FlTextCodes *known; /* of texts; NULL: none */
  const void *codes;        /* of the source's first row */
  FlBuffer *to_codes;
  bool coded;              /* its result may be codes alone, and then is */
  bool checked;            /* the numbers are known to be rows of it */
  bool few;                /* it lives in a file that does not fit, and few of its rows are taken */
  _Atomic int64_t bad;     /* the first place of a number that is not */
  _Atomic int32_t missing; /* some row is none of the source */
} FlTakeColumn;

/* A column whose rows are taken by m numbers that are known to be rows of it. */
void fl_take_from(FlArray *from, int64_t m, FlTakeColumn *c);
/* Makes the array for its rows; `place`: they go to this one. */
FlStatus fl_take_make(FlCtx *ctx, int64_t m, FlArray *place, FlTakeColumn *c);
/* Its rows, with their codes unless some row is missing. */
FlArray *fl_take_close(FlTakeColumn *c);
void fl_take_drop(FlTakeColumn *c); /* instead */

/* The operator, of arrays that are written, or codes alone. */
FlStatus fl_take_plain(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results);
/* Of arrays some of which are rows that a filter keeps and are not copied yet. (take_selected.c) */
FlStatus fl_take_selected(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results);

/* What moves of a row: a value, or the code of a text. */
static inline int64_t fl_take_size(const FlTakeColumn *c) {
  return c->known != NULL ? c->known->width : (int64_t)c->row_bytes;
}
static inline const void *fl_take_data(const FlTakeColumn *c) {
  return c->known != NULL ? c->codes : c->from->data;
}
/* Values of `size` bytes at at[0..n) behind `from`, one after the other; returns where they end. */
char *fl_take_gather(const char *from, int64_t size, const int32_t *at, int64_t n, char *to);
/* Where a worker makes rows of a column's result. */
typedef struct FlTakeOut {
  FlTakeColumn *column;
  FlSlices values, codes;
} FlTakeOut;
/* Of n columns; given back by fl_take_outs_end. NULL: no memory. */
FlTakeOut *fl_take_outs(FlCtx *ctx, FlTakeColumn *columns, int32_t n);
void fl_take_outs_end(FlTakeOut *outs, int32_t n);
/* Rows [at, at + n) of the result; rows[i] < 0: there is none; NULL: all are there. */
void fl_take_put(FlTakeOut *out, const char *moved, const int64_t *rows, int64_t at, int64_t n);

/* Whether some array lives in a file, is larger than what may be looked up in any order, and m rows of it are
 * not few: those of a few are looked up where they are, and the columns marked so. (take_far.c) */
bool fl_take_is_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, int64_t m);
/* Rows of a column of which few are taken will be looked up: at the start of the buffer of the numbers these
 * n and those that stand up to some way behind them there are asked of the disk, and everywhere else as many
 * as n from there on: batches of a permutation are taken one after the other, and the later ones come while
 * somebody computes. Who takes them in another order waits for each row. NULL: the numbers are of no
 * array. */
void fl_take_announce(const FlTakeColumn *c, const FlArray *numbers, const int64_t *rows, int64_t n);
/* Such rows, each by itself; rows[i] < 0: zeros. */
void fl_take_few(const FlTakeColumn *c, const int64_t *rows, int64_t n, char *to);
/* Takes the rows of all columns; the numbers are known to be rows of them, or -1. Only the last column may
 * stand in the place of the numbers. */
FlStatus fl_take_far(FlCtx *ctx, FlTakeColumn *columns, int32_t n, const int64_t *rows, int64_t m);

/* The columns' rows in the order of their words, by parts of about so many bytes; makes the arrays. *done:
 * false where rows are no plain values, or too wide for that, and nothing was made. (sort_rows.c) */
FlStatus fl_sort_rows_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, FlTakeColumn *columns,
                            int32_t n, bool *done);

#endif
