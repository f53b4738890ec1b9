/* cut.h: how the rows of arrays lie in parts; see FlCut in flow/abi.h.
 *
 * Every part of a run knows all cuts, so that two arrays' can be compared, and an array can be laid anew. */
#ifndef FL_CUT_H
#define FL_CUT_H

#include "flow/abi.h"

/* The cuts of a run that has so many parts; thread-safe. Arrays must not outlive it. */
typedef struct FlCuts FlCuts;
FlCuts *fl_cuts_new(int32_t n, int32_t here); /* 0 <= here < n. NULL: out of memory */
void fl_cuts_free(FlCuts *cuts);              /* NULL is allowed */
/* The cut with these offsets, [n + 1] of them. NULL: out of memory. */
const FlCut *fl_cut_of(FlCuts *cuts, const int64_t *at);
/* Rows as evenly as can be, the first parts having one more. */
const FlCut *fl_cut_even(FlCuts *cuts, int64_t rows);

static inline int64_t fl_cut_from(const FlCut *c) { return c->at[c->here]; }
static inline int64_t fl_cut_to(const FlCut *c) { return c->at[c->here + 1]; }
/* How many parts so many rows have that go through filters part by part. */
static inline int64_t fl_row_parts(int64_t rows) { return (rows + FL_ROW_PART - 1) / FL_ROW_PART; }
/* Those of the parts of the cut before part r. */
static inline int64_t fl_row_parts_of(const FlCut *c, int32_t r) {
  int64_t n = 0;
  for (int32_t k = 0; k < r; k++) n += fl_row_parts(c->at[k + 1] - c->at[k]);
  return n;
}
static inline int64_t fl_cut_rows(const FlCut *c) { return c->at[c->n]; }

#endif
