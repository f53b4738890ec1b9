/* normalize.h: what the files share that make loops plain, so that nest.c can take them: normalize.c (which,
 * and in which order), hoist.c (loops under an IF), even.c (sizes that depend on loops), spread.c (FOR and
 * WHILE).
 *
 * All of them work on a copy of the loop, and put what has to be computed before it as host code in front of
 * it. Always: what was guarded stays guarded, so that nothing fails that did not fail in the original. */
#ifndef FL_AD_NORMALIZE_H
#define FL_AD_NORMALIZE_H

#include "ad/ad_internal.h"

/* The loop that is made plain, and a builder of host code before it. */
typedef struct FlNorm {
  FlAd *ad;
  FlBuilder b;
  FlOp *top;
} FlNorm;

/* ---- normalize.c ---- */
/* A value of the loop as the frame has it: copied there with all that it needs of the loop. */
FlValue *fl_norm_pull(FlAdFrame *f, const FlOp *top, FlValue *v);
FlValue *fl_norm_zero(FlBuilder *b, FlType1 type);
FlBuilder fl_norm_before(const FlNorm *p, FlOp *op);
FlBuilder fl_norm_into(const FlNorm *p, FlRegion *r);
/* A host MAP over these sizes, marked as one that may be changed. */
FlAdLoop fl_norm_map(FlNorm *p, FlBuilder *b, int n, FlValue *const *sizes);
/* The largest of what `value` gives over these sizes, 0 over none. */
typedef FlValue *FlNormValue(FlBuilder *b, FlValue *const *index, void *env);
FlValue *fl_norm_most(const FlNorm *p, FlBuilder *b, int n, FlValue *const *sizes, FlNormValue *value,
                      void *env);

/* Values of the loop's own region that are needed elsewhere, each as an array over the loop. */
typedef struct FlNormSaved {
  FlVec(FlValue *) of;
  FlValue **arrays;
} FlNormSaved;
/* Adds what `op` reads, but what is cheap to compute again. */
void fl_norm_find_needed(const FlNorm *p, FlNormSaved *k, const FlOp *op);
void fl_norm_need(const FlNorm *p, FlNormSaved *k, FlValue *v);
/* Computes the arrays before the loop; the loop reads them then. */
void fl_norm_keep(FlNorm *p, FlNormSaved *k);
/* In a frame where the loop variables are `index`: what was kept stands for its values. */
void fl_norm_put_kept(const FlNorm *p, FlAdFrame *f, const FlNormSaved *k, FlValue *const *index);

/* ---- hoist.c ---- */
void fl_norm_hoist(FlNorm *p, FlRegion *r); /* loops stand under no IF afterwards */
/* The region of a loop, but for its ops up to `mark` (NULL: none), runs only where c holds. */
void fl_norm_guard(const FlNorm *p, FlOp *loop, FlValue *c, FlOp *mark);

/* ---- even.c ---- */
bool fl_norm_even(FlNorm *p, int n, FlOp *const *chain); /* the last loop of those within each other */

/* ---- spread.c ---- */
void fl_norm_spread(FlNorm *p, FlOp *loop); /* FOR or WHILE directly in the loop */

#endif
