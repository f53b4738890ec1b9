/* ad_internal.h: what the files of ad/ share: activity, frames, nests of loops.
 *
 * Reading order: forward.c (forward mode), reverse.c (the walk back), rules/ (a rule for each operator),
 * nest.c (loops within loops, forward), loops.c (the way back through them), rounds.c and tape.c (loops that
 * hand values on), frame.c (values and adjoints while it goes), active.c.
 *
 * Words. A *source* value or op is one of the function that is derived. Its *adjoint* is the derivative of
 * the result by it, its *tangent* the derivative of it along the direction of forward mode. A frame says
 * where operations are put, what stands there for each source value, and which adjoints are known so far. A
 * source value is *active* when it is a float that depends on what is derived by. */
#ifndef FL_AD_INTERNAL_H
#define FL_AD_INTERNAL_H

#include "ad/ad.h"

typedef struct FlAdNest FlAdNest;

typedef struct FlAd {
  FlArena *arena;
  FlMap *active; /* set of source values */
  FlMap *texts;  /* set of those that are texts, into which active ones were written */
  FlMap *nests;  /* from the MAP and REDUCE ops within a loop that is derived to their FlAdNest */
  /* normalize.c: from a loop to the one that stands for it, and back; loops that were added and may be
   * changed, to themselves, those that were, to this. */
  FlMap *instead, *original, *own;
  FlRegion *region; /* of what is derived, and its n values that it is derived by */
  FlValue **result; /* backwards: what is derived */
  int n;
  FlValue *const *by;
  FlMap *tangents; /* forwards: of source values; absent: zero */
  FlAdFailure *why;
  bool failed;
} FlAd;

typedef struct FlAdAdjoint {
  FlValue *of, *value; /* source; what it is so far */
} FlAdAdjoint;

/* The read of an array in a kernel, and what it adds to the array's adjoint. */
typedef struct FlAdSink {
  const FlOp *load;
  int n;
  FlValue *index[FL_MAX_RANK]; /* as they stand in the frame; of a level's array, its loops' first */
  FlValue *value;
  FlValue *guard; /* whether it is read at all, else the value is 0; NULL: always */
} FlAdSink;

typedef struct FlAdFrame {
  FlAd *ad;
  FlBuilder b;
  struct FlAdFrame
      *outer; /* what is not found here is looked up there; NULL: source values stand for themselves */
  FlMap *to;
  /* set of LOADs and STOREs that are not copied: of one, what it gives is known, or none's */
  const FlMap *left;
  FlMap *elements; /* from ops of a MAP's elements that are not copied to the array of what they give */
  FlMap *place;    /* from a source value to its adjoint's number + 1 */
  FlVec(FlAdAdjoint) adjoints;
  FlVec(FlAdSink) sinks; /* in kernels only */
  const FlOp *task;      /* of the tasks of a MAP, the MAP: what they load from outside of it are sinks */
  bool kernel;
  FlValue *const *index; /* in kernels: the loop variables, outermost first */
} FlAdFrame;

/* A loop of a nest that is derived: a MAP or REDUCE of host code, or one within another. */
struct FlAdNest {
  FlOp *op;
  FlAdNest *parent; /* NULL: the outermost */
  int n, outer;     /* loop variables with those around it; how many of these are the parents' */
  FlValue *sizes[FL_MAX_RANK];
  FlVec(FlAdNest *) children; /* in program order */
  /* Within another loop, of each result: an array over the loops around it, and its own of a MAP. */
  FlValue **results;
  FlValue **adjoints; /* of each result, of these sizes (of the outermost: its own); NULL: none */
  FlValue **first;    /* min and max: where it is; product: how many zeros; like the results of REDUCE */
  FlValue **others;   /* product: of all that are not zero */
  /* Adjoints of this level's scalars that deeper levels add: arrays over its loops. */
  FlVec(FlAdAdjoint) locals;
};

/* ---- active.c ---- */
void fl_ad_mark(FlAd *ad); /* more of them after ops were added */
bool fl_ad_active(const FlAd *ad, const FlValue *v);
/* Does the op read an active value, or give one, in its regions too? */
bool fl_ad_touches(const FlAd *ad, const FlOp *op);

/* ---- normalize.c: loops over elements of the region become such as nest.c takes ---- */
bool fl_ad_normalize(FlAd *ad, FlBuilder b, FlRegion *r);

/* ---- frame.c ---- */
FlAdFrame fl_ad_frame(FlAd *ad, FlAdFrame *outer, FlBuilder b, bool kernel, FlValue *const *index);
FlValue *fl_ad_at(const FlAdFrame *f, FlValue *v); /* what stands for a source value */
void fl_ad_put(FlAdFrame *f, const FlValue *v, FlValue *stands_for_it);
void fl_ad_clone(FlAdFrame *f, const FlOp *op); /* the op with all in it, at the frame's place */
/* The array that a LOAD reads and the whole index of the element, as they stand in the frame. */
FlValue *fl_ad_load_place(const FlAdFrame *f, const FlOp *load, int *n, FlValue **index);
FlValue *fl_ad_adjoint(const FlAdFrame *f, const FlValue *v); /* NULL: none */
/* Adds to the adjoint of a source value; nothing when that is not active. */
void fl_ad_add(FlAdFrame *f, FlValue *v, FlValue *part);
void fl_ad_set(FlAdFrame *f, const FlValue *v, FlValue *adjoint); /* instead of the one that it has */
FlValue *fl_ad_plus(FlBuilder *b, FlValue *x, FlValue *y);        /* scalars, or arrays of the same sizes */
FlValue *fl_ad_zero(FlAdFrame *f, FlValue *v);                    /* like a source value, all zero */
/* g where it is not 0 alone: part where g is not 0, else 0; for factors that may be infinite. */
FlValue *fl_ad_where(FlBuilder *b, FlValue *g, FlValue *part);
FlValue *fl_ad_i64(FlBuilder *b, int64_t v);
bool fl_ad_same_size(const FlValue *a, const FlValue *b); /* for sure */
/* false, with the first failure recorded. `what` is of the arena or constant. */
bool fl_ad_fail(FlAd *ad, FlSpan span, const char *what);
bool fl_ad_fail_op(FlAd *ad, const FlOp *op, const char *where);

/* A loop (MAP, REDUCE, COLLECT) of these sizes, in whose region the builder then stands; fl_ad_loop_end: what
 * it yields, one result each, and the builder behind it. */
typedef struct FlAdLoop {
  FlOp *op;
  FlRegion *region;
  FlBuilder outer;
} FlAdLoop;
FlAdLoop fl_ad_loop(FlBuilder *b, FlOpcode code, int n, FlValue *const *sizes);
void fl_ad_loop_end(FlBuilder *b, FlAdLoop *m, int n, FlValue *const *yields);
void fl_ad_sizes(FlBuilder *b, FlValue *array, FlValue **sizes);

/* The end of a MAP over one size whose elements are arrays: a list. */
void fl_ad_list_end(FlBuilder *b, FlAdLoop *m, FlValue *yield);
FlValue *fl_ad_zero_like(FlBuilder *b, FlValue *v); /* a scalar, array or list of floats: all zero */

/* ---- reverse.c: the ops, backwards ---- */
bool fl_ad_walk(FlAdFrame *f, const FlRegion *r);

/* What a function with a derivative of its own gives its active arguments, from the adjoints of its results.
 */
bool fl_ad_own(FlAdFrame *f, const FlOp *op, FlValue *const *adjoints, FlValue **out);

/* ---- nest.c ---- */
/* The nest of a MAP or REDUCE of host code, with the results of the loops within it computed. NULL: failed.
 */
FlAdNest *fl_ad_nest_make(FlAdFrame *host, FlOp *op);
bool fl_ad_size_is_fixed(const FlOp *top, const FlValue *v); /* can host code have it? */
bool fl_ad_nest_takes(const FlAd *ad, const FlOp *op);       /* would that go well? */
/* The ops of a level, and before them those of the levels around it, at the frame's place. */
void fl_ad_nest_emit(FlAdFrame *f, const FlAdNest *level);
/* Reductions over the level's own loops, one for each set of the loops around it: arrays over these, or
 * scalars. */
typedef void FlAdYields(FlAdFrame *f, const FlAdNest *level, const void *env, FlValue **out);
FlValue *fl_ad_nest_reduce(FlAdFrame *host, const FlAdNest *level, FlReduceKind kind, int n_yields,
                           FlAdYields *yields, const void *env, FlDtype result);

/* ---- shifts.c ---- */
/* In a frame `f` where the level was run: is each index of the sink a loop variable, and none twice, plus a
 * distance that is the same in all turns? Then axes says which loops, and shifts the distances, values of
 * host code; NULL: 0. */
bool fl_ad_shifts(FlAdFrame *host, const FlAdFrame *f, const FlAdNest *l, const FlAdSink *s, int *axes,
                  FlValue **shifts);

/* ---- loops.c ---- */
bool fl_ad_loops(FlAdFrame *host, FlOp *op);

/* ---- tasks.c: a MAP whose elements are host code ---- */
bool fl_ad_tasks(FlAdFrame *host, FlOp *op);

/* ---- rounds.c: FOR, WHILE and SCAN of host code ---- */
bool fl_ad_rounds(FlAdFrame *f, FlOp *op);

#endif
