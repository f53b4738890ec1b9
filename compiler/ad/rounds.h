/* rounds.h: what rounds.c (the way back), tape.c (what is kept for it), elements.c (arrays that a loop reads
 * and writes by element) and costly.c (elements that take long to compute) share. */
#ifndef FL_AD_ROUNDS_H
#define FL_AD_ROUNDS_H

#include "ad/ad_internal.h"

/* A FOR, WHILE or SCAN of host code, or some of its rounds in order. */
typedef struct FlAdRounds {
  FlAdFrame *f; /* where the rounds stand */
  FlOp *op;
  FlRegion *body; /* parameters: the position (not of WHILE), then what is handed on */
  bool scan;
  int skip, says; /* how many parameters come before what is handed on, and how many yields (WHILE: go on?) */
  int n;          /* how many values are handed on */
  FlValue **start;     /* source: what they are before the first round */
  FlValue **first;     /* of the frame: what the first of the rounds is handed */
  FlValue *lo, *count; /* of the frame: the position of the first, the number of rounds */
  bool *by_element;    /* of each: an array of which only elements are read and written */
  FlVec(
      FlOp *) reads; /* the LOADs of these, and ops that take long, of the body or of elements of its MAPs */
  bool *unused;      /* of each read: the way back has no use for it; NULL: not yet known */
  FlValue **stands;  /* of each read: what stood for it on a way back that was made to see */
  FlMap
      *left; /* set: the reads of the body, and the STOREs of these, which the way back does not run again */
  bool checks; /* whether CHECKs run when the rounds do */
  /* Of each value (but arrays by element) what it is at the beginning of each round, and of some after the
   * last: an array of scalars, a list of arrays; then of each read its value in each round. NULL: not yet
   * known. */
  FlValue **tape;
  FlValue *room; /* of the frame: for how many rounds these have room, and one more */
} FlAdRounds;

/* ---- elements.c ---- */
void fl_rounds_by_element(FlAdRounds *k);
/* Whether what the i-th value becomes in a round is known from what the next round is handed. */
bool fl_rounds_next(const FlAdRounds *k, int i);
/* In a frame of one round: arrays by element stand for none of their elements, only for their sizes; what was
 * read of them is what was kept; and what is known from the next round. */
void fl_rounds_put_reads(const FlAdRounds *k, FlAdFrame *in, FlValue *round);
/* The body's ops at the frame's place; reads[i]: what the i-th read gives, 0 where it does not run. */
void fl_rounds_run(const FlAdRounds *k, FlAdFrame *in, FlValue **reads);

/* How many elements the i-th read gives, about: of the frame. */
FlValue *fl_rounds_read_size(const FlAdRounds *k, int i);
/* Are the sizes of this array of the body known before the rounds run? */
bool fl_rounds_size_known(const FlAdRounds *k, FlValue *array);

/* ---- costly.c ---- */
/* Adds to the reads what takes long in loops over elements. */
void fl_rounds_keep_costly(FlAdRounds *k);
/* The MAP whose elements the read is of: it is kept as an array; NULL: it is not of elements. */
const FlOp *fl_rounds_elements(const FlAdRounds *k, const FlOp *read);
FlType1 fl_rounds_read_type(const FlAdRounds *k, int i); /* of what is kept of it in a round */
/* A MAP with such reads, at the frame's place; false: it has none. */
bool fl_rounds_run_elements(const FlAdRounds *k, FlAdFrame *in, const FlOp *map, FlValue **reads);
/* Finds the reads that a way back in this region, made to see, has no use for. */
void fl_rounds_find_unused(FlAdRounds *k, const FlRegion *r);
static inline bool fl_rounds_uses(const FlAdRounds *k, int i) { return !k->unused || !k->unused[i]; }

/* ---- tape.c ---- */
/* Runs the rounds, and keeps what is handed to each; what was kept before and is not overwritten stays. Gives
 * what the last round hands on. */
FlValue *const *fl_rounds_keep(FlAdRounds *k);
/* What a round was handed. */
FlValue *fl_rounds_handed(const FlAdRounds *k, FlAdFrame *in, int i, FlValue *round);
/* Of long loops: how many rounds are kept at a time, so that what is kept at all is least; all of short ones.
 */
FlValue *fl_rounds_at_a_time(const FlAdRounds *k);
/* Is it short for sure, or cannot be cut? */
bool fl_rounds_short(const FlAdRounds *k);
/* Runs all rounds but those of the last piece, and keeps what is handed to each `per`-th: what the last piece
 * is handed, then of each value, as kept. */
FlValue **fl_rounds_marks(const FlAdRounds *k, FlValue *per, FlValue *pieces);
/* One of such values. */
FlValue *fl_rounds_read(FlBuilder *b, FlValue *kept, FlValue *round);
/* Of this type, where its value does not matter: zero, or no elements. */
FlValue *fl_rounds_none(FlAdFrame *f, FlType1 t);
/* How many rounds a WHILE has: it is run, and counts. */
FlValue *fl_rounds_count(const FlAdRounds *k);

static inline FlBuilder fl_rounds_into(FlBuilder b, FlRegion *r) {
  b.region = r;
  b.before = NULL;
  return b;
}

#endif
