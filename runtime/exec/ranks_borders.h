/* ranks_borders.h: steps that run whole units of elements, as blocks of folds, over rows that are in parts
 * between ranks: a unit is run by the rank that has its first element, which is sent the rows of it that
 * others have. ranks_borders.c */
#ifndef FL_EXEC_RANKS_BORDERS_H
#define FL_EXEC_RANKS_BORDERS_H

#include "exec/ranks.h"

typedef struct FlBorders {
  FlCtx *ctx;
  const FlCut *cut;
  int64_t n, each; /* elements, and of a row */
  int64_t unit;    /* elements; 1: there are no borders */
} FlBorders;

/* The first element that rank k runs: of a unit that begins in its rows. n for k behind the last one. */
int64_t fl_borders_begin(const FlBorders *b, int32_t k);
/* Whether some unit has elements of two ranks. */
bool fl_borders_cross(const FlBorders *b);
/* What is run here of others' rows comes here, of an array that is read, not of texts, which point to bytes
 * of their rank: all ranks do this. After a failure, too, all have taken part. */
FlStatus fl_borders_bring(const FlBorders *b, FlArray *a);
/* And goes back, of one that is written. false: a rank is lost. */
bool fl_borders_return(const FlBorders *b, FlArray *a);

/* Rows [from, to) of `a`, which are open, as if there were no others: nobody owns the view, and `a` outlives
 * it. */
void fl_borrow_rows(const FlArray *a, int64_t from, int64_t to, FlArray *view);

/* ---- a fold whose units are leaves: the tree of part/fold.c ------------------------------------------ */

/* A complete subtree of leaves. */
typedef struct FlSubtree {
  int64_t leaf, n; /* its first one; how many, a power of two that divides `leaf` */
} FlSubtree;
enum { FL_SUBTREES = 128 }; /* that a run of leaves has at most */

/* The largest complete subtrees of the leaves [begin, end), from left to right: gives how many. */
int32_t fl_subtrees_of(int64_t begin, int64_t end, FlSubtree *out);
/* The same of the leaves that rank k runs. */
int32_t fl_borders_subtrees(const FlBorders *b, int32_t k, FlSubtree *out);
/* What the subtrees of all ranks gave, each `width` numbers of f64 or f32, lies in `states`, rank by rank, of
 * which this rank has its own: it goes to all, and their sum by the tree to `out`, with one NaN. `failed`: of
 * this rank. All ranks meet. */
FlStatus fl_borders_fold(const FlBorders *b, int32_t site, int32_t dtype, int64_t width, char *states,
                         void *out, FlStatus failed);
/* The same behind a meeting in which nobody failed; also of i64, *fits false at all ranks where a sum has no
 * place in it. */
FlStatus fl_borders_sum(const FlBorders *b, int32_t dtype, int64_t width, char *states, void *out,
                        bool *fits);
/* n numbers of f64 or f32, of which a NaN is the language's one; others stay. */
void fl_one_nan(int32_t dtype, void *x, int64_t n);
/* How many subtrees the ranks before k run. */
int64_t fl_borders_subtrees_before(const FlBorders *b, int32_t k);

#endif
