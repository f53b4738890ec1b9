/* rules.h: the rule of each operator for derivatives, by the table rules.def, and the small words that they
 * are written in. What ad/ itself asks of them: scalar operators, those of host code, and lists. */
#ifndef FL_AD_RULES_H
#define FL_AD_RULES_H

#include "ad/ad_internal.h"

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
#include "ad/rules/rules.def"

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
/* An element of an adjoint, with zeros like `like` where it is nothing; the sum where `so_far` may be
 * nothing. */
FlValue *fl_ad_full(FlBuilder *b, FlValue *g, FlValue *like);
FlValue *fl_ad_more(FlBuilder *b, FlValue *so_far, FlValue *part);
FlValue *fl_ad_sum_or(FlBuilder *b, FlValue *so_far, FlValue *part); /* where either may be nothing */
/* fl_ad_loop_end of a MAP that may give arrays, as lists. */
void fl_ad_tasks_end(FlBuilder *b, FlAdLoop *m, int n, FlValue *const *yields);

#endif
