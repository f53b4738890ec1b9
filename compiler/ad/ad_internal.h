/* ad_internal.h: what the files of ad/ share: activity, frames, levels of loops.
 *
 * Reading order: forward.c (forward mode), reverse.c (the walk back), rules.def and what it names (a rule for
 * each operator: scalar.c, bulk.c, linalg.c, decompose.c, fourier.c, aggregate.c, window.c, nearest.c), levels.c (loops
 * within loops, forward), loops.c (the way back through them), frame.c (values and adjoints while it goes),
 * active.c.
 *
 * Words. A *source* value or op is one of the function that is derived. Its *adjoint* is the derivative of
 * the result by it, its *tangent* the derivative of it along the direction of forward mode. A frame says
 * where operations are put, what stands there for each source value, and which adjoints are known so far. A
 * source value is *active* when it is a float that depends on what is derived by. */
#ifndef FL_AD_INTERNAL_H
#define FL_AD_INTERNAL_H

#include "ad/ad.h"

typedef struct FlAdLevel FlAdLevel;

typedef struct FlAd {
  FlArena *arena;
  FlMap *active; /* set of source values */
  FlMap *texts;  /* set of those that are texts, into which active ones were written */
  FlMap *levels; /* from the MAP and REDUCE ops within a loop that is derived to their FlAdLevel */
  /* plain.c: from a loop to the one that stands for it, and back; loops that were added and may be changed,
   * to themselves, those that were, to this. */
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
  const FlMap *left; /* set of LOADs and STOREs that are not copied: of one, what it gives is known, or none's */
  FlMap *elements;   /* from ops of a MAP's elements that are not copied to the array of what they give */
  FlMap *place; /* from a source value to its adjoint's number + 1 */
  FlVec(FlAdAdjoint) adjoints;
  FlVec(FlAdSink) sinks; /* in kernels only */
  const FlOp *task; /* of the tasks of a MAP, the MAP: what they load from outside of it are sinks */
  bool kernel;
  FlValue *const *index; /* in kernels: the loop variables, outermost first */
} FlAdFrame;

/* A loop of a nest that is derived: a MAP or REDUCE of host code, or one within another. */
struct FlAdLevel {
  FlOp *op;
  FlAdLevel *parent; /* NULL: the outermost */
  int n, outer;      /* loop variables with those around it; how many of these are the parents' */
  FlValue *sizes[FL_MAX_RANK];
  FlVec(FlAdLevel *) children; /* in program order */
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

/* ---- plain.c: loops over elements of the region become such as levels.c takes ---- */
bool fl_ad_plain(FlAd *ad, FlBuilder b, FlRegion *r);

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

/* ---- rules. `f` stands where the way back is; the op's first result has the adjoint g. ---- */
bool fl_ad_scalar(FlAdFrame *f, const FlOp *op, FlValue *g); /* scalar.c */
/* Forwards: the tangent of the result, from those of the arguments (NULL: zero); *out NULL: zero. */
bool fl_ad_scalar_forward(FlAdFrame *f, const FlOp *op, FlValue *const *tangents, FlValue **out);
/* What d product / d v is, times nothing: the product of all others. `zeros`: how many of all are 0;
 * `others`: the product of all that are not. */
FlValue *fl_ad_product_rest(FlBuilder *b, FlValue *v, FlValue *zeros, FlValue *others);

/* Host code but for loops and IF (bulk.c): by the table rules.def. Forwards `out` gets a tangent for each
 * result, NULL where that is zero or the result is no float. */
bool fl_ad_bulk(FlAdFrame *f, FlOp *op);
bool fl_ad_bulk_forward(FlAdFrame *f, const FlOp *op, FlValue **out);

/* An operator of host code on its way back. */
typedef struct FlAdBulk {
  FlAdFrame *f;
  FlBuilder *b;
  FlOp *op;
  FlValue *g; /* the adjoint of the first result, or NULL */
} FlAdBulk;
static inline FlValue *fl_ad_arg(const FlAdBulk *k, int i) { return fl_ad_at(k->f, k->op->args[i]); }
static inline FlValue *fl_ad_result(const FlAdBulk *k, int i) { return fl_ad_at(k->f, k->op->results[i]); }
static inline bool fl_ad_wants(const FlAdBulk *k, int i) { return fl_ad_active(k->f->ad, k->op->args[i]); }
/* The adjoint of a result; NULL: none. */
static inline FlValue *fl_ad_of(const FlAdBulk *k, int i) { return fl_ad_adjoint(k->f, k->op->results[i]); }
static inline void fl_ad_give(const FlAdBulk *k, int i, FlValue *part) {
  fl_ad_add(k->f, k->op->args[i], part);
}

/* An operator of host code on its way forward: its copy is made, the tangents of its results go to `out`. */
typedef struct FlAdAhead {
  FlAdFrame *f;
  FlBuilder *b;
  const FlOp *op;
  FlValue **out;
} FlAdAhead;
FlValue *fl_ad_tangent(const FlAdFrame *f, const FlValue *v); /* NULL: zero */
FlValue *fl_ad_tangent_or_zero(FlAdFrame *f, FlValue *v);
static inline FlValue *fl_ad_in(const FlAdAhead *k, int i) { return fl_ad_at(k->f, k->op->args[i]); }
static inline FlValue *fl_ad_made(const FlAdAhead *k, int i) { return fl_ad_at(k->f, k->op->results[i]); }
static inline FlValue *fl_ad_moves(const FlAdAhead *k, int i) { return fl_ad_tangent(k->f, k->op->args[i]); }
/* The sum of two parts, of which one or both may be NULL: zero. */
FlValue *fl_ad_both(FlBuilder *b, FlValue *x, FlValue *y);

/* Rules: false: failed. */
#define FL_AD_RULE(OP, back, ahead)                                                                          \
  bool fl_ad_back_##back(const FlAdBulk *k);                                                                 \
  bool fl_ad_ahead_##ahead(const FlAdAhead *k);
#include "ad/rules.def"

/* An op with one result and attribute i. */
FlValue *fl_ad_op(FlBuilder *b, FlOpcode code, int n, FlValue *const *args, FlType1 type, int64_t i);

/* ---- matrix.c: small words for rules of matrices ---- */
FlValue *fl_ad_matmul(FlBuilder *b, FlValue *x, FlValue *y, int transposed); /* as attr i of MATMUL */
FlValue *fl_ad_turned(FlBuilder *b, FlValue *a);                             /* transposed */
FlValue *fl_ad_solve(FlBuilder *b, FlValue *a, FlValue *rhs);
FlValue *fl_ad_minus(FlBuilder *b, FlValue *x, FlValue *y);  /* arrays of the same sizes */
FlValue *fl_ad_scaled(FlBuilder *b, FlValue *a, FlValue *c); /* an array times a scalar */
FlValue *fl_ad_scaled_by(FlBuilder *b, FlValue *a, double c);
/* m[i, j] op v[j], op v[i] of a matrix and a vector. */
FlValue *fl_ad_by_column(FlBuilder *b, FlOpcode op, FlValue *m, FlValue *v);
FlValue *fl_ad_by_row(FlBuilder *b, FlOpcode op, FlValue *m, FlValue *v);
FlValue *fl_ad_times(FlBuilder *b, FlValue *x, FlValue *y); /* element by element */
FlValue *fl_ad_diagonal_of(FlBuilder *b, FlValue *m);
FlValue *fl_ad_diagonal(FlBuilder *b, FlValue *v); /* the matrix with this diagonal */
/* 1 / (v[j] - v[i]), 0 on the diagonal; or of their squares. */
FlValue *fl_ad_gaps(FlBuilder *b, FlValue *v, bool squares);
/* p[i, j] times a factor: below the diagonal, on it, above it. */
FlValue *fl_ad_weighted(FlBuilder *b, FlValue *p, double below, double on, double above);
FlValue *fl_ad_symmetric(FlBuilder *b, FlValue *a);          /* (a + a') / 2 */
FlValue *fl_ad_outer(FlBuilder *b, FlValue *x, FlValue *y);  /* x[i] y[j]; or, with a scalar x, x y[j] */
FlValue *fl_ad_sum_of(FlBuilder *b, FlValue *x, FlValue *y); /* the sum of x[..] y[..]: a scalar */
FlValue *fl_ad_columns(FlBuilder *b, FlValue *m, FlValue *from, FlValue *to); /* columns [from, to) */
FlValue *fl_ad_beside(FlBuilder *b, FlValue *x, FlValue *y);                  /* two matrices side by side */
FlValue *fl_ad_reshape(FlBuilder *b, FlValue *a, int n, FlValue *const *sizes);

/* ---- lists.c ---- */
bool fl_ad_is_of_list(const FlOp *op); /* LOAD and STORE of a list, LIST_OF: */
bool fl_ad_of_list(const FlAdBulk *k); /* its rule */
/* Adjoints of lists: nothing yet; the sum of two; the element i increased. */
FlValue *fl_ad_list_zero(FlBuilder *b, FlValue *list);
FlValue *fl_ad_list_plus(FlBuilder *b, FlValue *x, FlValue *y);
FlValue *fl_ad_list_add(FlBuilder *b, FlValue *list, FlValue *i, FlValue *part);
/* An element of an adjoint, with zeros like `like` where it is nothing; the sum where `so_far` may be nothing. */
FlValue *fl_ad_full(FlBuilder *b, FlValue *g, FlValue *like);
FlValue *fl_ad_more(FlBuilder *b, FlValue *so_far, FlValue *part);
FlValue *fl_ad_sum_or(FlBuilder *b, FlValue *so_far, FlValue *part); /* where either may be nothing */
/* fl_ad_loop_end of a MAP that may give arrays, as lists. */
void fl_ad_tasks_end(FlBuilder *b, FlAdLoop *m, int n, FlValue *const *yields);

/* ---- reverse.c: the ops, backwards ---- */
bool fl_ad_walk(FlAdFrame *f, const FlRegion *r);

/* What a function with a derivative of its own gives its active arguments, from the adjoints of its results.
 */
bool fl_ad_own(FlAdFrame *f, const FlOp *op, FlValue *const *adjoints, FlValue **out);

/* ---- levels.c ---- */
/* The nest of a MAP or REDUCE of host code, with the results of the loops within it computed. NULL: failed.
 */
FlAdLevel *fl_ad_level_make(FlAdFrame *host, FlOp *op);
bool fl_ad_size_is_fixed(const FlOp *top, const FlValue *v); /* can host code have it? */
bool fl_ad_levels_take(const FlAd *ad, const FlOp *op);      /* would that go well? */
/* The ops of a level, and before them those of the levels around it, at the frame's place. */
void fl_ad_level_emit(FlAdFrame *f, const FlAdLevel *level);
/* Reductions over the level's own loops, one for each set of the loops around it: arrays over these, or
 * scalars. */
typedef void FlAdYields(FlAdFrame *f, const FlAdLevel *level, const void *env, FlValue **out);
FlValue *fl_ad_level_reduce(FlAdFrame *host, const FlAdLevel *level, const char *kind, int64_t flags,
                            int n_yields, FlAdYields *yields, const void *env, FlDtype result);

/* ---- shifts.c ---- */
/* In a frame `f` where the level was run: is each index of the sink a loop variable, and none twice, plus a distance that
 * is the same in all turns? Then axes says which loops, and shifts the distances, values of host code; NULL: 0. */
bool fl_ad_shifts(FlAdFrame *host, const FlAdFrame *f, const FlAdLevel *l, const FlAdSink *s, int *axes,
                  FlValue **shifts);

/* ---- loops.c ---- */
bool fl_ad_loops(FlAdFrame *host, FlOp *op);

/* ---- tasks.c: a MAP whose elements are host code ---- */
bool fl_ad_tasks(FlAdFrame *host, FlOp *op);

/* ---- rounds.c: FOR, WHILE and SCAN of host code ---- */
bool fl_ad_rounds(FlAdFrame *f, FlOp *op);

#endif
