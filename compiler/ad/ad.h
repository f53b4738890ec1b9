/* ad.h: derivatives, as a transformation of the IR (docs/decisions/derivatives.md).
 *
 * In: a region whose operations compute a float scalar from some of its values. Out: more operations at its
 * end, which compute the derivative of that scalar by each of these values, backwards (reverse mode); or the
 * derivative of any values along a direction (forward mode). What always holds: in reverse mode the
 * operations that were there are left as they are, but that calls of stages are opened; what is added is
 * ordinary IR, so that a derivative can be derived again; no operation adds to a place that another one adds
 * to, so that the bits do not depend on the schedule.
 *
 * Method: A. Griewank, A. Walther, "Evaluating Derivatives", 2nd edition, 2008, chapters 3 and 6. At ties,
 * `min` and `max` take the first; the derivative of `abs` at 0 is 0. */
#ifndef FL_AD_H
#define FL_AD_H

#include "ir/ir.h"

/* Why there is no derivative: what is in the way, in words, and where it stands. */
typedef struct FlAdFailure {
  const char *what;
  FlSpan span;
} FlAdFailure;

/* Derivatives of *y, a float scalar of the region r, by x[0..n), its float scalars and arrays. `seed` is what
 * *y itself counts, of its type. The builder `b` stands at the end of `r`. out[k] has the type and the sizes
 * of x[k]. Where *y was the result of a stage, it is afterwards what stands for that. false: `why` says what
 * has no derivative, and what was added is to be thrown away with the region. */
bool fl_ad_reverse(FlBuilder *b, FlRegion *r, FlValue **y, FlValue *seed, int n, FlValue *const *x,
                   FlValue **out, FlAdFailure *why);

/* Forward mode: the tangents of y[0..n_y), values of the region r, where x[0..n), parameters of it, have the
 * tangents dx, which are of the same types and sizes. The builder `b` stands at the end of `r`. out[k] has
 * the type and the sizes of y[k]; afterwards y[k] is what stands for it, as the ops of `r` are made anew.
 * false: as above. */
bool fl_ad_forward(FlBuilder *b, FlRegion *r, int n, FlValue *const *x, FlValue *const *dx, int n_y,
                   FlValue **y, FlValue **out, FlAdFailure *why);

/* Calls of stages (STAGE), or functions with a derivative of their own (CUSTOM), become what they do, in the
 * region and those within it; y[0..n): values of it that may have been their results. */
void fl_ad_open(FlBuilder b, FlRegion *r, FlOpcode code, int n, FlValue **y);

#endif
