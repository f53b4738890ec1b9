/* llvm_reduce.h: the state of one reduction while its sweep is emitted, and what is done to it. llvm_state.c
 * knows the kinds, llvm_reduce.c the ways to sweep. */
#ifndef FL_LLVM_REDUCE_H
#define FL_LLVM_REDUCE_H

#include "codegen/llvm_internal.h"

typedef enum FlRedKind {
  RED_SUM,
  RED_PRODUCT,
  RED_SUM_PRODUCT,
  RED_INT_SUM,
  RED_INT_SUM_PRODUCT,
  RED_INT_PRODUCT,
  RED_ANY,
  RED_ALL,
  RED_COUNT,
  RED_MIN,
  RED_MAX,
  RED_ARGMIN,
  RED_ARGMAX,
  RED_EACH
} FlRedKind;

/* One reduction being emitted, with its state in allocas that the optimiser turns into registers. */
typedef struct FlRed {
  const FlOp *op;
  FlSpan place;
  const FlRegion *region;
  FlRedKind kind;
  FlDtype d; /* of the values */
  Ty t;
  int first;                    /* yield that is its value */
  const FlValue *result, *keep; /* keep: NULL when nothing is filtered */
  Val lanes, rest, total;       /* float kinds: [32 x t] twice, t */
  Val levels;     /* float kinds: of the tree of blocks, from the second one on; NULL: none so far */
  Val buffers[2]; /* [4096 x t]: values that were computed before; NULL: by the region */
  Val best_lanes, at_lanes; /* picks in a kernel: [32 x t], [32 x i64]: best and at of each lane */
  Val hi, lo;               /* integer sums: the value is hi * 2^32 + lo; counts: lo; any, all: lo, i8 */
  Val hi_lanes, lo_lanes;   /* integer sums and counts beside sums of floats: [32 x i64] twice */
  Val wide;                 /* integer sums of products: i128 */
  Val best, at;             /* the value so far and its position, -1: none */
  Val data;                 /* each: where the values go, as output `output` of the kernel */
  int output;
} FlRed;

/* The reductions of one operator: they share a sweep. */
typedef struct FlSweep {
  const FlOp *op;
  const FlRegion *region;
  int n;
  FlRed *at;
  bool sums;  /* any of them is a float sum or product, which lanes are part of the meaning of */
  bool picks; /* any of them may keep a best value a lane */
  Val base;   /* the position of the first element in the buffers */
  Val mark;   /* of texts, before each element; NULL: none are made */
} FlSweep;

static inline void fl_red_put(FlFn *f, Val v, Val at) { LLVMBuildStore(f->b, v, at); }
static inline Val fl_red_get(FlFn *f, Ty t, Val at) { return LLVMBuildLoad2(f->b, t, at, ""); }
static inline Val fl_red_start(const FlRed *r) {
  return LLVMConstReal(r->t, r->kind == RED_PRODUCT ? 1.0 : 0.0);
}

/* Reduction number i of an operator, without state. */
FlRed fl_red_of(FlFn *f, const FlOp *op, int i);

/* Float sums and products: their lanes are part of the meaning. */
bool fl_red_sums(const FlRed *r);
/* Minimum, maximum and their positions: the first of equals. */
bool fl_red_picks(const FlRed *r);
/* A pick of numbers, which a kernel may make lane by lane: joining the lanes finds the same element. */
bool fl_red_picks_by_lane(const FlRed *r);
bool fl_red_is_arg(const FlRed *r);
/* Exact sums in integers, which the lanes of a block may make one by one. */
bool fl_red_counts(const FlRed *r);

/* The state of nothing: `total` and the sums of lanes apart, which clear_lanes and the sweep start. */
void fl_red_clear(FlFn *f, FlRed *r);
Ty fl_red_low_type(const FlFn *f, const FlRed *r); /* of `lo` */
/* One element, after its region was emitted; pos is its logical index. */
void fl_red_accumulate(FlFn *f, FlRed *r, Val pos);
/* The result; reports EMPTY and the overflow of exact sums. */
Val fl_red_finish(FlFn *f, const FlRed *r);

/* Lanes. `lanes` is r->lanes or r->rest. */
void fl_red_clear_lanes(FlFn *f, FlRed *r);
Val fl_red_identity(const FlRed *r, int factor);
void fl_red_lane_values(FlFn *f, const FlRed *r, Val out[2]); /* or the identity when it is filtered out */
void fl_red_lane_add(FlFn *f, const FlRed *r, Val lanes, Val lane, const Val v[2]);
void fl_red_lane_count(FlFn *f, const FlRed *r, Val lane, Val pos); /* as fl_red_accumulate */
void fl_red_join_counts(FlFn *f, FlRed *r);                         /* the lanes into hi and lo */
void fl_red_lane_pick(FlFn *f, const FlRed *r, Val lane, Val v, Val pos, Val keep); /* keep: NULL: yes */
void fl_red_pick(FlFn *f, const FlRed *r, Val v, Val pos, Val keep); /* after all earlier positions */
void fl_red_pick_more(FlFn *f, const FlRed *r, Val v, Val pos);      /* where there is a best one already */
void fl_red_join_picks(FlFn *f, FlRed *r); /* the lanes, all of later positions than best, into best */
/* All elements from `lo` up to `hi`, one at least, behind those that are in the state: their best value
 * first, and only where it is better than the one so far its place. By the region, where fl_red_picks_again,
 * or from buffers, whose first element is s->base. */
bool fl_red_picks_again(FlFn *f, const FlSweep *s);
void fl_red_pick_range(FlFn *f, FlSweep *s, FlRed *r, bool buffered, Val lo, Val hi);
/* Any and all of the elements from `begin` to `end`, some at a time, until no further one can change them. */
bool fl_red_ends_early(FlFn *f, const FlSweep *s);
void fl_red_flags(FlFn *f, FlSweep *s, Val begin, Val end);
Val fl_red_butterfly(FlFn *f, const FlRed *r, Val lanes);
/* `total`, of the blocks before, with what block number `index` gave. */
void fl_red_join_total(FlFn *f, FlRed *r, Val index, Val block);

/* The state after a block at its place among the partials, and its joining, as block number `index`, to the
 * state so far. */
void fl_red_store(FlFn *f, const FlRed *r, Val at, Val sum);
void fl_red_join(FlFn *f, FlRed *r, Val index, Val p);

#endif
