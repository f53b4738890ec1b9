/* move_rows.h: rows that move with all that is wanted of them, where what they are looked up in does not fit
 * in memory: cut into parts by their words, each of which then comes into memory as if it were the whole. */
#ifndef FL_PART_MOVE_ROWS_H
#define FL_PART_MOVE_ROWS_H

#include "part/part_internal.h"

/* Values that move, one a row, of so many bytes. */
typedef struct FlMovedColumn {
  const char *from;
  int64_t size;
  char *to; /* where those of a part come, in the order of the rows; room for the largest one */
} FlMovedColumn;

/* n rows of the part, which begin at `at` of it: column by column, one behind the other. Any worker. false:
 * no memory. */
typedef bool FlMovePut(const void *env, FlCtx *ctx, const char *packed, int64_t n, int64_t at);

typedef struct FlMove {
  FlPartMem *m;
  FlPartCutting by;
  FlMovedColumn *columns;
  int32_t n_columns;
  FlMovePut *put; /* instead of to the columns; NULL: to them */
  const void *env;
  int64_t row_bytes, slice; /* of a row; rows that are handed on at once */
  int64_t ahead;            /* parts that are read soon at a time */
  FlScratch *scratch;       /* NULL: each part is found again */
  int32_t *within;          /* where the rows of a part begin in those of a chunk, as they were written */
  int64_t part;             /* which one is read */
} FlMove;

enum {
  FL_MOVE_MOST_PARTS = 256
}; /* that may be wanted: of more the pieces of a chunk are too small for a disk */

/* Whether rows of so many bytes may move. */
bool fl_move_fits(int64_t row_bytes);
/* Cuts the rows of the codes by about so many bytes of memory, of which a row of a part takes row_memory;
 * *done: false where there would be too many parts, and nothing was made. */
FlStatus fl_move_cut(FlMove *v, const FlPartCodes *codes, int64_t bytes, int64_t row_memory, bool *done);
/* Writes the columns by parts, where these are not few. Afterwards `by` says how many rows each part has. */
FlStatus fl_move_write(FlMove *v);
/* The rows of v->part come to the columns, or are put. What follows it is read soon. Several may read
 * different parts at a time, by copies of an FlMove with columns of their own. */
FlStatus fl_move_read(FlMove *v);
void fl_move_end(FlMove *v);

static inline int64_t fl_move_rows(const FlMove *v, int64_t part) {
  return v->by.start[part + 1] - v->by.start[part];
}

#endif
