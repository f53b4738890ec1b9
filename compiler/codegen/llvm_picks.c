/* llvm_picks.c: minima, maxima and their positions in two steps, and whether any or all of a row hold.
 *
 * To know the first of the best elements costs a position for each lane, and a NaN that wins two comparisons
 * of each element. So the best value of a range is found first, alone, as vectors find it; only where it is
 * better than the best one so far, or where there is a NaN, its first element is looked for. What always
 * holds: the element is the one that fl_red_pick finds, position by position: the first of equals (0 equals
 * -0), before all others the first NaN. */
#include "codegen/llvm_reduce.h"

#include <math.h>

/* Elements that are compared before it is asked whether one was it, reductions of a sweep that may be found
 * so, and vectors in flight. */
enum { LOOK = 32, MOST_PICKS = 2, IN_FLIGHT = 4 };

/* Operations that are cheap as many times as they are done. */
static bool is_light(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if ((fl_op_info[op->code].flags & FL_OPF_MATHS) || op->code == FL_OP_RANDOM || op->code == FL_OP_DIV)
      return false;
  return true;
}

bool fl_red_picks_again(FlFn *f, const FlSweep *s) {
  if (f->form != FL_FORM_FAST || f->plain || f->quick || s->n > MOST_PICKS) return false;
  for (int k = 0; k < s->n; k++)
    if (!fl_red_picks_by_lane(&s->at[k]) || s->at[k].keep) return false;
  return fl_map_get(f->g->plan->cheap, s->op) && is_light(s->region);
}

static bool is_least(const FlRed *r) { return r->kind == RED_MIN || r->kind == RED_ARGMIN; }

/* What every other value is at least as good as. */
static Val worst(const FlRed *r) {
  if (fl_dtype_is_float(r->d)) return LLVMConstReal(r->t, is_least(r) ? INFINITY : -INFINITY);
  unsigned bits = LLVMGetIntTypeWidth(r->t);
  uint64_t all = UINT64_MAX >> (64 - bits), high = (uint64_t)1 << (bits - 1);
  if (fl_ll_is_unsigned(r->d)) return LLVMConstInt(r->t, is_least(r) ? all : 0, false);
  return LLVMConstInt(r->t, is_least(r) ? all ^ high : high, false);
}

typedef struct Range {
  FlSweep *s;
  FlRed *r;
  bool buffered;
  Ty count;     /* integers as wide as the values: of both a vector has as many */
  Val top, odd; /* the best value of the range; 1: there is a NaN in it */
} Range;

static Val value_at(FlFn *f, const Range *a, Val i) {
  if (a->buffered) return fl_red_get(f, a->r->t, fl_ll_gep(f, a->r->t, a->r->buffers[0], i));
  fl_ll_set(f, a->s->region->params[0], i);
  fl_ll_region(f, a->s->region);
  return fl_ll_value(f, a->r->region->yields[a->r->first]);
}

/* That neither NaN nor the sign of a zero matters here: what the best value is then, nobody reads. */
static Val relaxed(Val v) {
  LLVMSetFastMathFlags(v, LLVMFastMathNoNaNs | LLVMFastMathNoSignedZeros);
  return v;
}

/* A comparison that held somewhere: a choice between numbers, which vectors keep as one bit an element. */
static void note(FlFn *f, const Range *a, Val flag, Val held) {
  Val yes = LLVMConstInt(a->count, 1, false), old = fl_red_get(f, a->count, flag);
  fl_red_put(f, LLVMBuildSelect(f->b, held, yes, old, ""), flag);
}

static void find_top(FlFn *f, Range *a, Val lo, Val hi) {
  const FlRed *r = a->r;
  bool real = fl_dtype_is_float(r->d);
  a->top = fl_ll_alloca(f, r->t, "top");
  a->odd = fl_ll_alloca(f, a->count, "odd");
  fl_red_put(f, worst(r), a->top);
  fl_red_put(f, LLVMConstNull(a->count), a->odd);
  FlLoop l;
  fl_ll_loop_open(f, &l, lo, hi, 0, NULL);
  Val v = value_at(f, a, l.i), top = fl_red_get(f, r->t, a->top), take, best;
  take = is_least(r) ? fl_ll_less(f, r->d, v, top) : fl_ll_less(f, r->d, top, v);
  if (real) relaxed(take);
  best = LLVMBuildSelect(f->b, take, v, top, "");
  fl_red_put(f, real ? relaxed(best) : best, a->top);
  if (real) { note(f, a, a->odd, LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, "")); }
  l.interleave = IN_FLIGHT;
  l.masked = false;
  fl_ll_loop_close(f, &l, NULL, true);
}

static Val is_it(FlFn *f, const Range *a, Val v) {
  Val top = fl_red_get(f, a->r->t, a->top);
  if (!fl_dtype_is_float(a->r->d)) return LLVMBuildICmp(f->b, LLVMIntEQ, v, top, "");
  Val nan = LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, "");
  return LLVMBuildOr(f->b, LLVMBuildFCmp(f->b, LLVMRealOEQ, v, top, ""), nan, "");
}

/* Is v at least as good as the best value, or a NaN? Where that is a NaN all are. */
static Val may_be_it(FlFn *f, const Range *a, Val v) {
  Val top = fl_red_get(f, a->r->t, a->top);
  if (!fl_dtype_is_float(a->r->d)) return is_it(f, a, v);
  return LLVMBuildFCmp(f->b, is_least(a->r) ? LLVMRealULE : LLVMRealUGE, v, top, "");
}

/* The first element that is the best one, which there is; some at a time, then one by one. */
static void find_first(FlFn *f, Range *a, Val lo, Val hi) {
  FlGen *g = f->g;
  const FlRed *r = a->r;
  Val at = fl_ll_alloca(f, g->i64, "look"), any = fl_ll_alloca(f, a->count, "any");
  Block some = fl_ll_block(f, "some"), look = fl_ll_block(f, "look"), on = fl_ll_block(f, "on");
  Block one = fl_ll_block(f, "one"), more = fl_ll_block(f, "more"), found = fl_ll_block(f, "found");
  fl_red_put(f, lo, at);
  LLVMBuildBr(f->b, some);
  fl_ll_at(f, some);
  Val from = fl_red_get(f, g->i64, at), next = LLVMBuildNSWAdd(f->b, from, fl_ll_i64(g, LOOK), "");
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSLE, next, hi, ""), look, one);
  fl_ll_at(f, look);
  FlLoop l;
  fl_red_put(f, LLVMConstNull(a->count), any);
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), fl_ll_i64(g, LOOK), 0, NULL);
  note(f, a, any, may_be_it(f, a, value_at(f, a, LLVMBuildNSWAdd(f->b, from, l.i, ""))));
  l.masked = false;
  fl_ll_loop_close(f, &l, NULL, true);
  Val none = LLVMBuildICmp(f->b, LLVMIntEQ, fl_red_get(f, a->count, any), LLVMConstNull(a->count), "");
  LLVMBuildCondBr(f->b, none, on, one);
  fl_ll_at(f, on);
  fl_red_put(f, next, at);
  LLVMBuildBr(f->b, some);
  fl_ll_at(f, one);
  Val i = fl_red_get(f, g->i64, at), v = value_at(f, a, i);
  LLVMBuildCondBr(f->b, is_it(f, a, v), found, more);
  fl_ll_at(f, more);
  fl_red_put(f, LLVMBuildNSWAdd(f->b, i, fl_ll_i64(g, 1), ""), at);
  LLVMBuildBr(f->b, one);
  fl_ll_at(f, found);
  fl_red_put(f, v, r->best);
  fl_red_put(f, a->buffered ? LLVMBuildNSWAdd(f->b, a->s->base, i, "") : i, r->at);
}

/* Is the best value of the range better than the best one so far, or is there a NaN and none before? It is
 * the best value then. */
static Val is_better(FlFn *f, const Range *a) {
  FlGen *g = f->g;
  const FlRed *r = a->r;
  Val best = fl_red_get(f, r->t, r->best), top = fl_red_get(f, r->t, a->top);
  Val none = LLVMBuildICmp(f->b, LLVMIntSLT, fl_red_get(f, g->i64, r->at), fl_ll_i64(g, 0), "");
  Val yes = is_least(r) ? fl_ll_less(f, r->d, top, best) : fl_ll_less(f, r->d, best, top);
  yes = LLVMBuildOr(f->b, yes, none, "");
  if (!fl_dtype_is_float(r->d)) return yes;
  Val odd = LLVMBuildICmp(f->b, LLVMIntNE, fl_red_get(f, a->count, a->odd), LLVMConstNull(a->count), "");
  fl_red_put(f, LLVMBuildSelect(f->b, odd, LLVMConstReal(r->t, NAN), top, ""), a->top);
  yes = LLVMBuildSelect(f->b, odd, LLVMConstInt(g->i1, 1, false), yes, "");
  Val open = LLVMBuildFCmp(f->b, LLVMRealORD, best, best, "");
  return LLVMBuildSelect(f->b, open, yes, LLVMConstNull(g->i1), "");
}

/* A value alone says which element it is of, but for a NaN and a zero: these have bits of their own. */
static Val says_all(FlFn *f, const Range *a) {
  if (fl_red_is_arg(a->r)) return NULL;
  Val top = fl_red_get(f, a->r->t, a->top);
  if (!fl_dtype_is_float(a->r->d)) return LLVMConstInt(f->g->i1, 1, false);
  return LLVMBuildFCmp(f->b, LLVMRealONE, top, LLVMConstNull(a->r->t), "");
}

void fl_red_pick_range(FlFn *f, FlSweep *s, FlRed *r, bool buffered, Val lo, Val hi) {
  FlGen *g = f->g;
  Ty count = fl_dtype_is_float(r->d) ? r->t == g->f64 ? g->i64 : g->i32 : r->t;
  Range a = {s, r, buffered, count, NULL, NULL};
  Block better = fl_ll_block(f, "better"), look = fl_ll_block(f, "first"), on = fl_ll_block(f, "picked");
  find_top(f, &a, lo, hi);
  LLVMBuildCondBr(f->b, is_better(f, &a), better, on);
  fl_ll_at(f, better);
  Val all = says_all(f, &a);
  if (all) {
    Block plain = fl_ll_block(f, "plain");
    LLVMBuildCondBr(f->b, all, plain, look);
    fl_ll_at(f, plain);
    fl_red_put(f, fl_red_get(f, r->t, a.top), r->best);
    fl_red_put(f, buffered ? LLVMBuildNSWAdd(f->b, s->base, lo, "") : lo, r->at);
    LLVMBuildBr(f->b, on);
  } else {
    LLVMBuildBr(f->b, look);
  }
  fl_ll_at(f, look);
  find_first(f, &a, lo, hi);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* ---- any and all ----------------------------------------------------------------------------------- */

enum { FLAGS = 512 }; /* elements that are looked at before it is asked whether more can change anything */

bool fl_red_ends_early(FlFn *f, const FlSweep *s) {
  if (f->form != FL_FORM_FAST || f->plain || f->quick || !fl_map_get(f->g->plan->cheap, s->op)) return false;
  for (int k = 0; k < s->n; k++)
    if (s->at[k].kind != RED_ANY && s->at[k].kind != RED_ALL) return false;
  return true;
}

void fl_red_flags(FlFn *f, FlSweep *s, Val begin, Val end) {
  FlGen *g = f->g;
  Val at = fl_ll_alloca(f, g->i64, "at"), open = LLVMConstInt(g->i1, 1, false);
  Block some = fl_ll_block(f, "some"), look = fl_ll_block(f, "look"), done = fl_ll_block(f, "decided");
  fl_red_put(f, begin, at);
  LLVMBuildBr(f->b, some);
  fl_ll_at(f, some);
  Val lo = fl_red_get(f, g->i64, at), hi = LLVMBuildNSWAdd(f->b, lo, fl_ll_i64(g, FLAGS), "");
  for (int k = 0; k < s->n; k++) {
    Val now = fl_red_get(f, g->i8, s->at[k].lo), last = LLVMConstInt(g->i8, s->at[k].kind == RED_ANY, false);
    Val is_open = LLVMBuildICmp(f->b, LLVMIntNE, now, last, "");
    open = k ? LLVMBuildOr(f->b, open, is_open, "") : is_open;
  }
  Val more = LLVMBuildAnd(f->b, open, LLVMBuildICmp(f->b, LLVMIntSLT, lo, end, ""), "");
  LLVMBuildCondBr(f->b, more, look, done);
  fl_ll_at(f, look);
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, end, ""), hi, end, "");
  FlLoop l;
  fl_ll_loop_open(f, &l, lo, hi, 0, NULL);
  fl_ll_set(f, s->region->params[0], l.i);
  fl_ll_region(f, s->region);
  for (int k = 0; k < s->n; k++) fl_red_accumulate(f, &s->at[k], l.i);
  l.masked = false;
  fl_ll_loop_close(f, &l, NULL, true);
  fl_red_put(f, hi, at);
  LLVMBuildBr(f->b, some);
  fl_ll_at(f, done);
}
