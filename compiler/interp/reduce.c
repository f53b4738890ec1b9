/* reduce.c: reductions, in the order that the language fixes (LANGUAGE 5).
 *
 * Float sums and products: blocks of 4096 positions; in a block position p goes to lane p mod 32; lanes start
 * at +0 (product: 1) and are joined by a butterfly; the results of m blocks are joined as those of the first
 * P and those of the rest, P the largest power of two below m. A position that is not kept keeps its place
 * and adds nothing. sum_product of floats is a fused multiply-add into the lane. Integer sums are exact in
 * 128 bits and checked at the end; integer products are checked step by step in order. min, max, argmin,
 * argmax take the first of equals, and a NaN before anything else; of nothing they are EMPTY, but where the
 * op says that there is an element, or that the result is not used else. */
#include "interp/interp_internal.h"

#include "data/data.h"
#include "exec/exec.h"

#include "kern/kern.h"

#include <stdlib.h>
#include <string.h>

/* One reduction of the op and its state. */
typedef struct Reduction {
  FlReduceKind kind;
  FlDtype d;               /* of the values */
  int first, keep;         /* yields: its value; whether the element counts, -1: it does */
  double lanes[FL_LANES];  /* f64 */
  float lanes32[FL_LANES]; /* f32 */
  FlSlot *blocks;          /* of the blocks that are done: what their lanes gave, owned */
  int64_t n_blocks;
  __int128 sum;  /* integer sums; counts, any and all as 0, 1, ... */
  FlSlot best;   /* min, max; integer product so far */
  char *text;    /* the bytes of a best text, owned */
  int64_t at;    /* position of best, -1: none */
  FlArray *each; /* what is kept of each element, or NULL */
} Reduction;

typedef struct Sweep {
  Reduction *at;
  int n;
  int64_t block; /* number of the block that the lanes hold */
} Sweep;

static bool is_unsigned(FlDtype d) { return fl_dtype_info[d].kind == FL_KIND_UNSIGNED; }

/* ---- lanes ------------------------------------------------------------------------------------------- */

static void clear_lanes(Reduction *r) {
  for (int i = 0; i < FL_LANES; i++) {
    r->lanes[i] = r->kind == FL_RED_PRODUCT ? 1 : 0;
    r->lanes32[i] = r->kind == FL_RED_PRODUCT ? 1 : 0;
  }
}

/* The butterfly over the lanes gives the result of their block. */
static FlStatus end_block(Frame *f, Reduction *r) {
  bool times = r->kind == FL_RED_PRODUCT;
  for (int half = FL_LANES / 2; half >= 1; half /= 2)
    for (int i = 0; i < half; i++) {
      r->lanes[i] = times ? r->lanes[i] * r->lanes[i + half] : r->lanes[i] + r->lanes[i + half];
      r->lanes32[i] = times ? r->lanes32[i] * r->lanes32[i + half] : r->lanes32[i] + r->lanes32[i + half];
    }
  if ((r->n_blocks & (r->n_blocks - 1)) == 0) { /* as many as there is room for */
    FlSlot *blocks = realloc(r->blocks, (size_t)(r->n_blocks ? 2 * r->n_blocks : 1) * sizeof *blocks);
    if (blocks == NULL) return no_memory(f);
    r->blocks = blocks;
  }
  r->blocks[r->n_blocks++] = r->d == FL_F64 ? (FlSlot){.f = r->lanes[0]} : (FlSlot){.f32 = r->lanes32[0]};
  clear_lanes(r);
  return 0;
}

/* Of n blocks, at least 1. */
static FlSlot join_blocks(const Reduction *r, const FlSlot *blocks, int64_t n) {
  if (n == 1) return blocks[0];
  int64_t p = 1;
  while (2 * p < n) p *= 2;
  bool times = r->kind == FL_RED_PRODUCT;
  FlSlot a = join_blocks(r, blocks, p), b = join_blocks(r, blocks + p, n - p);
  if (r->d == FL_F64) return (FlSlot){.f = times ? a.f * b.f : a.f + b.f};
  return (FlSlot){.f32 = times ? a.f32 * b.f32 : a.f32 + b.f32};
}

static void add_to_lane(Reduction *r, int64_t pos, FlSlot v, FlSlot w) {
  double *lane = &r->lanes[pos % FL_LANES];
  float *lane32 = &r->lanes32[pos % FL_LANES];
  if (r->d == FL_F64) {
    *lane = r->kind == FL_RED_PRODUCT ? *lane * v.f
            : r->kind == FL_RED_SUM   ? *lane + v.f
                                      : fl_s_fma_f64(v.f, w.f, *lane);
  } else {
    *lane32 = r->kind == FL_RED_PRODUCT ? *lane32 * v.f32
              : r->kind == FL_RED_SUM   ? *lane32 + v.f32
                                        : fl_s_fma_f32(v.f32, w.f32, *lane32);
  }
}

/* ---- the other kinds --------------------------------------------------------------------------------- */

static __int128 wide(FlDtype d, FlSlot v) {
  return is_unsigned(d) || d == FL_BOOL ? (__int128)v.u : (__int128)v.i;
}
static FlSlot narrow(FlDtype d, __int128 v) {
  return is_unsigned(d) ? (FlSlot){.u = (uint64_t)v} : (FlSlot){.i = (int64_t)v};
}
/* Is v to be taken instead of `best`? */
static bool better(const Reduction *r, FlSlot v, FlSlot best) {
  bool least = r->kind == FL_RED_MIN || r->kind == FL_RED_ARGMIN;
  if (r->d == FL_F32) v.f = (double)v.f32, best.f = (double)best.f32;
  if (fl_dtype_is_float(r->d))
    return best.f == best.f && (v.f != v.f || (least ? v.f < best.f : v.f > best.f));
  if (r->d == FL_TEXT)
    return least ? fl_s_lt_text(v.t.ptr, v.t.len, best.t.ptr, best.t.len)
                 : fl_s_gt_text(v.t.ptr, v.t.len, best.t.ptr, best.t.len);
  return least ? wide(r->d, v) < wide(r->d, best) : wide(r->d, v) > wide(r->d, best);
}

static FlStatus pick(Frame *f, Reduction *r, int64_t pos, FlSlot v) {
  if (r->at >= 0 && !better(r, v, r->best)) return 0;
  if (r->d == FL_TEXT) {
    char *copy = malloc(v.t.len > 0 ? (size_t)v.t.len : 1);
    if (copy == NULL) return no_memory(f);
    if (v.t.len > 0) memcpy(copy, v.t.ptr, (size_t)v.t.len);
    free(r->text);
    v.t.ptr = r->text = copy;
  }
  r->best = v;
  r->at = pos;
  return 0;
}

static FlStatus overflow(Frame *f, const FlOp *op, int part, FlDtype d, FlSlot a, FlSlot b) {
  return raise_fault(f,
                     (Fault){.op = op, .part = part, .bits = FL_FAULT_OVERFLOW, .type = d, .a = a, .b = b});
}

static FlStatus multiply(Frame *f, const FlOp *op, int part, Reduction *r, FlSlot v) {
  __int128 p;
  bool over = __builtin_mul_overflow(wide(r->d, r->best), wide(r->d, v), &p);
  if (over || !fl_dtype_holds(r->d, p)) return overflow(f, op, part, r->d, r->best, v);
  r->best = narrow(r->d, p);
  return 0;
}

/* ---- the sweep --------------------------------------------------------------------------------------- */

static bool uses_lanes(const Reduction *r) {
  return fl_dtype_is_float(r->d) &&
         (r->kind == FL_RED_SUM || r->kind == FL_RED_PRODUCT || r->kind == FL_RED_SUM_PRODUCT);
}

static FlStatus add_one(Frame *f, const FlOp *op, int part, Sweep *s, int64_t pos, const FlSlot *yields) {
  Reduction *r = &s->at[part];
  FlSlot v = yields[r->first], w = r->kind == FL_RED_SUM_PRODUCT ? yields[r->first + 1] : (FlSlot){0};
  if (uses_lanes(r)) {
    add_to_lane(r, pos, v, w);
    return 0;
  }
  switch (r->kind) {
  case FL_RED_SUM: r->sum += wide(r->d, v); break;
  case FL_RED_SUM_PRODUCT: r->sum += wide(r->d, v) * wide(r->d, w); break;
  case FL_RED_PRODUCT: return multiply(f, op, part, r, v);
  case FL_RED_ANY: r->sum |= v.i; break;
  case FL_RED_ALL: r->sum &= v.i; break;
  case FL_RED_COUNT: r->sum += v.i; break;
  case FL_RED_MIN:
  case FL_RED_MAX:
  case FL_RED_ARGMIN:
  case FL_RED_ARGMAX: return pick(f, r, pos, v);
  case FL_RED_EACH: fl_array_put(r->each, pos, v); break;
  }
  return 0;
}

static FlStatus reach_block(Frame *f, Sweep *s, int64_t block) {
  FlStatus status = 0;
  for (; s->block < block && status == 0; s->block++)
    for (int k = 0; k < s->n && status == 0; k++)
      if (uses_lanes(&s->at[k])) status = end_block(f, &s->at[k]);
  return status;
}

static FlStatus add_element(Frame *f, const FlOp *op, int64_t pos, FlSlot *yields, void *arg) {
  Sweep *s = arg;
  FlStatus status = reach_block(f, s, pos / FL_BLOCK);
  for (int k = 0; k < s->n && status == 0; k++)
    if (s->at[k].keep < 0 || yields[s->at[k].keep].i != 0) status = add_one(f, op, k, s, pos, yields);
  return status;
}

static FlStatus finish(Frame *f, const FlOp *op, int part, Reduction *r) {
  const FlValue *result = op->results[part];
  FlDtype d = (FlDtype)result->type.dtype;
  FlSlot v = r->best;
  switch (r->kind) {
  case FL_RED_SUM:
  case FL_RED_SUM_PRODUCT:
  case FL_RED_PRODUCT:
    if (uses_lanes(r)) {
      FlStatus s = end_block(f, r);
      if (s != 0) return s;
      v = join_blocks(r, r->blocks, r->n_blocks);
    } else if (r->kind != FL_RED_PRODUCT) {
      if (!fl_dtype_holds(d, r->sum)) return overflow(f, op, part, d, (FlSlot){0}, (FlSlot){0});
      v = narrow(d, r->sum);
    }
    break;
  case FL_RED_ANY:
  case FL_RED_ALL:
  case FL_RED_COUNT: v = (FlSlot){.i = (int64_t)r->sum}; break;
  case FL_RED_MIN:
  case FL_RED_MAX:
  case FL_RED_ARGMIN:
  case FL_RED_ARGMAX:
    if (r->at < 0 && !(op->attrs.i & FL_REDUCE_SOME))
      return raise_fault(f, (Fault){.op = op, .part = part, .bits = FL_FAULT_EMPTY, .type = FL_I64});
    if (r->d == FL_TEXT) v = text_in(f->heap, v);
    if (r->kind == FL_RED_ARGMIN || r->kind == FL_RED_ARGMAX) v = (FlSlot){.i = r->at};
    break;
  case FL_RED_EACH:
    v = (FlSlot){.a = r->each};
    r->each = NULL;
    break;
  }
  define(f, result, v);
  return 0;
}

/* The array of the elements, which no fusion makes of texts or lists. */
static FlStatus start_each(Frame *f, const FlOp *op, int part, Reduction *r) {
  int64_t dims[FL_MAX_RANK];
  if (r->kind != FL_RED_EACH) return 0;
  for (int k = 0; k < op->n_args; k++) dims[k] = value_of(f, op->args[k]).i;
  r->each = new_array(f, op->results[part]->type, dims, NULL);
  return r->each == NULL;
}

FlStatus run_reduce(Frame *f, const FlOp *op) {
  Sweep s = {.n = op->n_results};
  s.at = calloc((size_t)s.n, sizeof *s.at);
  if (s.at == NULL) return no_memory(f);
  for (int k = 0; k < s.n; k++) {
    Reduction *r = &s.at[k];
    FlReduction how = fl_ir_reduction(op, k);
    r->kind = how.kind;
    r->d = (FlDtype)op->regions[0]->yields[how.first]->type.dtype;
    r->first = how.first;
    r->keep = how.keep;
    r->at = -1;
    r->sum = r->kind == FL_RED_ALL;
    r->best = r->kind == FL_RED_PRODUCT ? (FlSlot){.i = 1} : (FlSlot){0};
    clear_lanes(r);
  }
  FlStatus status = 0;
  for (int k = 0; k < s.n && status == 0; k++) status = start_each(f, op, k, &s.at[k]);
  const FlCut *cut;
  if (status == 0) status = cut_of_loop(f, op, value_of(f, op->args[0]).i, &cut);
  if (status == 0) status = each_element(f, op, NULL, add_element, &s);
  for (int k = 0; k < s.n && status == 0; k++) status = finish(f, op, k, &s.at[k]);
  for (int k = 0; k < s.n; k++) {
    fl_array_unref(s.at[k].each);
    free(s.at[k].text);
    free(s.at[k].blocks);
  }
  free(s.at);
  return status;
}
