/* plain.h: what the files share that make loops plain, so that levels.c can take them: plain.c (which, and in
 * which order), hoist.c (loops under an IF), even.c (sizes that depend on loops), spread.c (FOR and WHILE).
 *
 * All of them work on a copy of the loop, and put what has to be computed before it as host code in front of
 * it. Always: what was guarded stays guarded, so that nothing fails that did not fail in the original. */
#ifndef FL_AD_PLAIN_H
#define FL_AD_PLAIN_H

#include "ad/ad_internal.h"

/* The loop that is made plain, and a builder of host code before it. */
typedef struct FlPlain {
  FlAd *ad;
  FlBuilder b;
  FlOp *top;
} FlPlain;

/* ---- plain.c ---- */
/* A value of the loop as the frame has it: copied there with all that it needs of the loop. */
FlValue *fl_plain_pull(FlAdFrame *f, const FlOp *top, FlValue *v);
FlValue *fl_plain_zero(FlBuilder *b, FlType1 type);
FlBuilder fl_plain_before(const FlPlain *p, FlOp *op);
FlBuilder fl_plain_into(const FlPlain *p, FlRegion *r);
/* A host MAP over these sizes, marked as one that may be changed. */
FlAdLoop fl_plain_map(FlPlain *p, FlBuilder *b, int n, FlValue *const *sizes);
/* The largest of what `value` gives over these sizes, 0 over none. */
typedef FlValue *FlPlainValue(FlBuilder *b, FlValue *const *index, void *env);
FlValue *fl_plain_most(const FlPlain *p, FlBuilder *b, int n, FlValue *const *sizes, FlPlainValue *value,
                       void *env);

/* Values of the loop's own region that are needed elsewhere, each as an array over the loop. */
typedef struct FlPlainKept {
  FlVec(FlValue *) of;
  FlValue **arrays;
} FlPlainKept;
/* Adds what `op` reads, but what is cheap to compute again. */
void fl_plain_find_needed(const FlPlain *p, FlPlainKept *k, const FlOp *op);
void fl_plain_need(const FlPlain *p, FlPlainKept *k, FlValue *v);
/* Computes the arrays before the loop; the loop reads them then. */
void fl_plain_keep(FlPlain *p, FlPlainKept *k);
/* In a frame where the loop variables are `index`: what was kept stands for its values. */
void fl_plain_put_kept(const FlPlain *p, FlAdFrame *f, const FlPlainKept *k, FlValue *const *index);

/* ---- hoist.c ---- */
void fl_plain_hoist(FlPlain *p, FlRegion *r); /* loops stand under no IF afterwards */
/* The region of a loop, but for its ops up to `mark` (NULL: none), runs only where c holds. */
void fl_plain_guard(const FlPlain *p, FlOp *loop, FlValue *c, FlOp *mark);

/* ---- even.c ---- */
bool fl_plain_even(FlPlain *p, int n, FlOp *const *chain); /* the last loop of those within each other */

/* ---- spread.c ---- */
void fl_plain_spread(FlPlain *p, FlOp *loop); /* FOR or WHILE directly in the loop */

#endif
