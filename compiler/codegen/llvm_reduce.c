/* llvm_reduce.c: reductions, in the order that the language fixes.
 *
 * Float sums and products: blocks of 4096 positions; in a block position p goes to lane p mod 32; the lanes,
 * which start at 0 (product: 1), are joined by a butterfly; block results are joined from left to right. A
 * position that a filter drops keeps its place and adds the identity (-0 for a sum, whose addition changes no
 * bit). Integer sums are exact (128 bits) and checked once. Minimum and maximum take the first of equals; a
 * NaN wins.
 *
 * Three ways to run: `blocks` in a kernel of its own, one partial state a block, joined by host code;
 * `nested` in the middle of an element, as plain loops; the same in host code when the region is not a
 * kernel. */
#include "codegen/llvm_internal.h"

typedef enum Kind {
  SUM,
  PRODUCT,
  SUM_PRODUCT,
  INT_SUM,
  INT_SUM_PRODUCT,
  INT_PRODUCT,
  ANY,
  ALL,
  COUNT,
  MIN,
  MAX,
  ARGMIN,
  ARGMAX
} Kind;

/* One reduction being emitted, with its state in allocas that the optimiser turns into registers. */
typedef struct Red {
  const FlOp *op;
  const FlRegion *region;
  Kind kind;
  FlDtype d; /* of the values */
  Ty t;
  int first;                    /* yield that is its value */
  const FlValue *result, *keep; /* keep: NULL when nothing is filtered */
  Val lanes, rest, total;       /* float kinds: [32 x t] twice, t */
  Val buffers[2];               /* [4096 x t]: values that were computed before; NULL: by the region */
  Val hi, lo;   /* integer sums: the value is hi * 2^32 + lo; counts: lo; any, all: lo, 0 or 1 */
  Val wide;     /* integer sums of products: i128 */
  Val best, at; /* the value so far and its position, -1: none */
} Red;

/* The reductions of one operator: they share a sweep. */
typedef struct Sweep {
  const FlOp *op;
  const FlRegion *region;
  int n;
  Red *at;
  bool lanes; /* any of them uses lanes */
} Sweep;

static Kind kind_of(const char *name, FlDtype d) {
  static const struct {
    const char *name;
    Kind real, integer;
  } kinds[] = {{"sum", SUM, INT_SUM},
               {"product", PRODUCT, INT_PRODUCT},
               {"sum_product", SUM_PRODUCT, INT_SUM_PRODUCT},
               {"any", ANY, ANY},
               {"all", ALL, ALL},
               {"count", COUNT, COUNT},
               {"min", MIN, MIN},
               {"max", MAX, MAX},
               {"argmin", ARGMIN, ARGMIN},
               {"argmax", ARGMAX, ARGMAX}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (name && strcmp(kinds[i].name, name) == 0) return fl_ll_is_float(d) ? kinds[i].real : kinds[i].integer;
  return SUM;
}

static bool uses_lanes(Kind k) { return k == SUM || k == PRODUCT || k == SUM_PRODUCT; }
static bool picks(Kind k) { return k == MIN || k == MAX || k == ARGMIN || k == ARGMAX; }
static bool is_arg(Kind k) { return k == ARGMIN || k == ARGMAX; }

static Sweep sweep_of(FlFn *f, const FlOp *op) {
  const FlRegion *region = op->regions[0];
  int n = op->attrs.n_list ? op->attrs.n_list : 1, yield = 0;
  Sweep s = {.op = op, .region = region, .n = n, .at = FL_NEW_ARRAY(f->g->arena, Red, n)};
  for (int i = 0; i < n; i++) {
    Red *r = &s.at[i];
    const FlValue *v = region->yields[yield];
    r->op = op;
    r->region = region;
    r->d = (FlDtype)v->type.dtype;
    r->t = fl_ll_type(f->g, v->type);
    r->kind = kind_of(op->attrs.n_list ? op->attrs.list[i] : op->attrs.s, r->d);
    r->first = yield;
    r->result = op->results[i];
    r->keep = op->attrs.i == 1 ? region->yields[region->n_yields - 1] : NULL;
    yield += r->kind == SUM_PRODUCT || r->kind == INT_SUM_PRODUCT ? 2 : 1;
    s.lanes |= uses_lanes(r->kind);
  }
  return s;
}

static void put(FlFn *f, Val v, Val at) { LLVMBuildStore(f->b, v, at); }
static Val get(FlFn *f, Ty t, Val at) { return LLVMBuildLoad2(f->b, t, at, ""); }
static Val lane_start(const Red *r) { return LLVMConstReal(r->t, r->kind == PRODUCT ? 1.0 : 0.0); }

/* ---- lanes
 * ------------------------------------------------------------------------------------------------------ */

static void clear_lanes(FlFn *f, const Red *r) {
  Val start[FL_LANES];
  for (int i = 0; i < FL_LANES; i++) start[i] = lane_start(r);
  LLVMSetAlignment(LLVMBuildStore(f->b, LLVMConstVector(start, FL_LANES), r->lanes), FL_ALIGN);
}

static Val join(FlFn *f, const Red *r, Val a, Val b) {
  return r->kind == PRODUCT ? LLVMBuildFMul(f->b, a, b, "") : LLVMBuildFAdd(f->b, a, b, "");
}

/* l[i] += l[i + 16], then 8, 4, 2, 1. */
static Val butterfly(FlFn *f, const Red *r, Val lanes) {
  FlGen *g = f->g;
  Val v = LLVMBuildLoad2(f->b, LLVMVectorType(r->t, FL_LANES), lanes, "");
  LLVMSetAlignment(v, FL_ALIGN);
  for (int half = FL_LANES / 2; half >= 1; half /= 2) {
    Val low[FL_LANES], high[FL_LANES];
    for (int i = 0; i < half; i++) {
      low[i] = fl_ll_i32(g, i);
      high[i] = fl_ll_i32(g, i + half);
    }
    Val undef = LLVMGetPoison(LLVMTypeOf(v));
    Val a = LLVMBuildShuffleVector(f->b, v, undef, LLVMConstVector(low, (unsigned)half), "");
    Val b = LLVMBuildShuffleVector(f->b, v, undef, LLVMConstVector(high, (unsigned)half), "");
    v = join(f, r, a, b);
  }
  return LLVMBuildExtractElement(f->b, v, fl_ll_i32(g, 0), "");
}

/* The values of this element: what the region yields, or the identity when it is filtered out. */
static void lane_values(FlFn *f, const Red *r, Val out[2]) {
  out[0] = fl_ll_value(f, r->region->yields[r->first]);
  out[1] = r->kind == SUM_PRODUCT ? fl_ll_value(f, r->region->yields[r->first + 1]) : NULL;
  if (!r->keep) return;
  Val keep = fl_ll_value(f, r->keep);
  Val none = LLVMConstReal(r->t, r->kind == PRODUCT ? 1.0 : -0.0);
  out[0] = LLVMBuildSelect(f->b, keep, out[0], none, "");
  if (out[1]) out[1] = LLVMBuildSelect(f->b, keep, out[1], LLVMConstReal(r->t, 0.0), "");
}

static void lane_add(FlFn *f, const Red *r, Val lanes, Val lane, const Val v[2]) {
  Val at = fl_ll_gep(f, r->t, lanes, lane), old = get(f, r->t, at), now;
  if (r->kind == SUM_PRODUCT) now = fl_ll_intrinsic(f, "llvm.fma", r->t, 3, (Val[]){v[0], v[1], old});
  else now = join(f, r, old, v[0]);
  put(f, now, at);
}

/* ---- the other kinds
 * ------------------------------------------------------------------------------------------- */

static void clear_state(FlFn *f, Red *r) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  if (uses_lanes(r->kind)) {
    if (!r->lanes) r->lanes = fl_ll_alloca_n(f, r->t, FL_LANES, "lanes");
  } else if (r->kind == INT_SUM_PRODUCT) {
    if (!r->wide) r->wide = fl_ll_alloca(f, g->i128, "wide");
    put(f, LLVMConstNull(g->i128), r->wide);
  } else if (picks(r->kind)) {
    if (!r->best) r->best = fl_ll_alloca(f, r->t, "best"), r->at = fl_ll_alloca(f, g->i64, "at");
    put(f, LLVMConstNull(r->t), r->best);
    put(f, fl_ll_i64(g, -1), r->at);
  } else {
    if (!r->lo) r->hi = fl_ll_alloca(f, g->i64, "hi"), r->lo = fl_ll_alloca(f, g->i64, "lo");
    put(f, zero, r->hi);
    put(f, r->kind == ALL || r->kind == INT_PRODUCT ? fl_ll_i64(g, 1) : zero, r->lo);
  }
}

/* Is v to be taken instead of best? */
static Val better(FlFn *f, const Red *r, Val v, Val best) {
  FlGen *g = f->g;
  bool least = r->kind == MIN || r->kind == ARGMIN;
  if (fl_ll_is_text(r->d)) {
    Ty types[] = {g->ptr, g->i64, g->ptr, g->i64};
    Val x = least ? v : best, y = least ? best : v;
    Val args[] = {LLVMBuildExtractValue(f->b, x, 0, ""), LLVMBuildExtractValue(f->b, x, 1, ""),
                  LLVMBuildExtractValue(f->b, y, 0, ""), LLVMBuildExtractValue(f->b, y, 1, "")};
    Val less = fl_ll_call(f, "fl_s_lt_text", g->i8, 4, types, args);
    return LLVMBuildICmp(f->b, LLVMIntNE, less, LLVMConstInt(g->i8, 0, false), "");
  }
  Val yes = least ? fl_ll_less(f, r->d, v, best) : fl_ll_less(f, r->d, best, v);
  if (!fl_ll_is_float(r->d)) return yes;
  Val new_nan = LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, ""),
      old = LLVMBuildFCmp(f->b, LLVMRealORD, best, best, "");
  return LLVMBuildAnd(f->b, old, LLVMBuildOr(f->b, yes, new_nan, ""), "");
}

static void pick(FlFn *f, const Red *r, Val v, Val pos, Val keep) {
  FlGen *g = f->g;
  Val best = get(f, r->t, r->best), at = get(f, g->i64, r->at);
  Val none = LLVMBuildICmp(f->b, LLVMIntSLT, at, fl_ll_i64(g, 0), "");
  Val take = LLVMBuildOr(f->b, none, better(f, r, v, best), "");
  if (keep) take = LLVMBuildAnd(f->b, take, keep, "");
  put(f, LLVMBuildSelect(f->b, take, v, best, ""), r->best);
  put(f, LLVMBuildSelect(f->b, take, pos, at, ""), r->at);
}

static void add_int(FlFn *f, const Red *r, Val v, Val keep) {
  FlGen *g = f->g;
  bool u = fl_ll_is_unsigned(r->d), wide = fl_ll_size(r->d) == 8;
  v = u ? LLVMBuildZExt(f->b, v, g->i64, "") : LLVMBuildSExt(f->b, v, g->i64, "");
  if (keep) v = LLVMBuildSelect(f->b, keep, v, fl_ll_i64(g, 0), "");
  if (!wide) {
    put(f, LLVMBuildAdd(f->b, get(f, g->i64, r->lo), v, ""), r->lo);
    return;
  }
  Val shift = fl_ll_i64(g, 32), low = LLVMBuildAnd(f->b, v, fl_ll_i64(g, 0xffffffff), "");
  Val high = u ? LLVMBuildLShr(f->b, v, shift, "") : LLVMBuildAShr(f->b, v, shift, "");
  put(f, LLVMBuildAdd(f->b, get(f, g->i64, r->hi), high, ""), r->hi);
  put(f, LLVMBuildAdd(f->b, get(f, g->i64, r->lo), low, ""), r->lo);
}

static Val widen(FlFn *f, FlDtype d, Val v) {
  Ty t = f->g->i128;
  return fl_ll_is_unsigned(d) ? LLVMBuildZExt(f->b, v, t, "") : LLVMBuildSExt(f->b, v, t, "");
}

static void add_int_product(FlFn *f, const Red *r, Val v, Val w, Val keep) {
  Val p = LLVMBuildMul(f->b, widen(f, r->d, v), widen(f, r->d, w), "");
  if (keep) p = LLVMBuildSelect(f->b, keep, p, LLVMConstNull(f->g->i128), "");
  put(f, LLVMBuildAdd(f->b, get(f, f->g->i128, r->wide), p, ""), r->wide);
}

/* Each step is checked: the state is the product so far. */
static void multiply_int(FlFn *f, const Red *r, Val v, Val keep) {
  FlGen *g = f->g;
  Val one = LLVMConstInt(r->t, 1, false), old = LLVMBuildTrunc(f->b, get(f, g->i64, r->lo), r->t, "");
  if (keep) v = LLVMBuildSelect(f->b, keep, v, one, "");
  Val p = LLVMBuildMul(f->b, widen(f, r->d, old), widen(f, r->d, v), ""),
      now = LLVMBuildTrunc(f->b, p, r->t, "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntNE, p, widen(f, r->d, now), "");
  fl_ll_fault(f, r->op->span, bad, fl_ll_i32(g, FL_FAULT_OVERFLOW), r->d, old, v, NULL);
  put(f, LLVMBuildZExtOrBitCast(f->b, now, g->i64, ""), r->lo);
}

/* One element, after its region was emitted. */
static void accumulate_one(FlFn *f, Red *r, Val pos) {
  FlGen *g = f->g;
  Val v = fl_ll_value(f, r->region->yields[r->first]);
  Val keep = r->keep ? fl_ll_value(f, r->keep) : NULL;
  Val state = r->lo ? get(f, g->i64, r->lo) : NULL;
  switch (r->kind) {
  case INT_SUM: add_int(f, r, v, keep); break;
  case INT_SUM_PRODUCT:
    add_int_product(f, r, v, fl_ll_value(f, r->region->yields[r->first + 1]), keep);
    break;
  case INT_PRODUCT: multiply_int(f, r, v, keep); break;
  case COUNT:
    if (keep) v = LLVMBuildAnd(f->b, v, keep, "");
    put(f, LLVMBuildAdd(f->b, state, LLVMBuildZExt(f->b, v, g->i64, ""), ""), r->lo);
    break;
  case ANY:
    if (keep) v = LLVMBuildAnd(f->b, v, keep, "");
    put(f, LLVMBuildOr(f->b, state, LLVMBuildZExt(f->b, v, g->i64, ""), ""), r->lo);
    break;
  case ALL:
    if (keep) v = LLVMBuildOr(f->b, v, LLVMBuildNot(f->b, keep, ""), "");
    put(f, LLVMBuildAnd(f->b, state, LLVMBuildZExt(f->b, v, g->i64, ""), ""), r->lo);
    break;
  case MIN:
  case MAX:
  case ARGMIN:
  case ARGMAX: pick(f, r, v, pos, keep); break;
  case SUM:
  case PRODUCT:
  case SUM_PRODUCT: {
    Val pair[2];
    lane_values(f, r, pair);
    lane_add(f, r, r->lanes, LLVMBuildAnd(f->b, pos, fl_ll_i64(g, FL_LANES - 1), ""), pair);
    break;
  }
  }
}

/* ---- blocks of lanes
 * ------------------------------------------------------------------------------------------ */

/* Position i of a block, on `lane`: from the region, or from buffers that were filled before. */
static void lane_element(FlFn *f, Sweep *s, bool buffered, Val i, Val lane, bool rest) {
  if (!buffered) {
    fl_ll_set(f, s->region->params[0], i);
    fl_ll_region(f, s->region);
  }
  for (int k = 0; k < s->n; k++) {
    Red *r = &s->at[k];
    Val v[2] = {NULL, NULL};
    if (!uses_lanes(r->kind)) {
      if (!buffered) accumulate_one(f, r, i);
      continue;
    }
    if (buffered) {
      v[0] = get(f, r->t, fl_ll_gep(f, r->t, r->buffers[0], i));
      if (r->kind == SUM_PRODUCT) v[1] = get(f, r->t, fl_ll_gep(f, r->t, r->buffers[1], i));
    } else {
      lane_values(f, r, v);
    }
    lane_add(f, r, rest ? r->rest : r->lanes, lane, v);
  }
}

/* Where values come from: the region inside an element, the region of a kernel, buffers. Sums inside elements
 * are often short, so that the rest after whole groups of lanes is worth vectors; of a kernel only the last
 * block has one. */
typedef enum LaneSource { LANES_NESTED, LANES_BLOCK, LANES_BUFFER } LaneSource;

/* One block: positions [lo, hi), lo on lane 0. Whole groups of 32 with the lanes in registers, then the rest.
 * The block's results go to `sums`, by reduction. */
static void lane_block(FlFn *f, Sweep *s, LaneSource source, Val lo, Val hi, Val *sums) {
  FlGen *g = f->g;
  Val size = LLVMBuildNSWSub(f->b, hi, lo, ""), lanes_n = fl_ll_i64(g, FL_LANES), zero = fl_ll_i64(g, 0);
  Val groups = LLVMBuildLShr(f->b, size, fl_ll_i64(g, 5), "");
  Val whole = LLVMBuildShl(f->b, groups, fl_ll_i64(g, 5), "");
  for (int k = 0; k < s->n; k++)
    if (uses_lanes(s->at[k].kind)) clear_lanes(f, &s->at[k]);
  FlLoop group, lane, tail;
  fl_ll_loop_open(f, &group, zero, groups, 0, NULL);
  Val base = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, group.i, lanes_n, ""), "");
  fl_ll_loop_open(f, &lane, zero, lanes_n, 0, NULL);
  lane_element(f, s, source == LANES_BUFFER, LLVMBuildNSWAdd(f->b, base, lane.i, ""), lane.i, false);
  fl_ll_loop_close(f, &lane, NULL, true);
  fl_ll_loop_close(f, &group, NULL, true);
  /* A second copy, so that the first is never indexed by a variable and stays in registers. */
  for (int k = 0; k < s->n; k++) {
    Red *r = &s->at[k];
    if (!uses_lanes(r->kind)) continue;
    if (!r->rest) r->rest = fl_ll_alloca_n(f, r->t, FL_LANES, "rest");
    Val all = get(f, LLVMVectorType(r->t, FL_LANES), r->lanes);
    LLVMSetAlignment(all, FL_ALIGN);
    LLVMSetAlignment(LLVMBuildStore(f->b, all, r->rest), FL_ALIGN);
  }
  fl_ll_loop_open(f, &tail, zero, LLVMBuildNSWSub(f->b, size, whole, ""), 0, NULL);
  Val i = LLVMBuildNSWAdd(f->b, LLVMBuildNSWAdd(f->b, lo, whole, ""), tail.i, "");
  lane_element(f, s, source == LANES_BUFFER, i, tail.i, true);
  fl_ll_loop_close(f, &tail, NULL, source == LANES_NESTED);
  for (int k = 0; k < s->n; k++)
    if (uses_lanes(s->at[k].kind)) sums[k] = butterfly(f, &s->at[k], s->at[k].rest);
}

/* ---- results
 * ------------------------------------------------------------------------------------------------------ */

/* An exact sum as the result's type, checked. */
static Val checked_sum(FlFn *f, const Red *r, Val sum) {
  FlDtype d = (FlDtype)r->result->type.dtype;
  Val v = LLVMBuildTrunc(f->b, sum, fl_ll_type(f->g, r->result->type), "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntNE, widen(f, d, v), sum, "");
  fl_ll_fault(f, r->op->span, bad, fl_ll_i32(f->g, FL_FAULT_OVERFLOW), d, NULL, NULL, NULL);
  return v;
}

/* hi * 2^32 + lo; what a sum of 64-bit integers keeps in hi and lo has no sign bit in lo. */
static Val two_words(FlFn *f, const Red *r, Val hi, Val lo) {
  FlGen *g = f->g;
  Val high = widen(f, r->d == FL_U64 ? FL_U64 : FL_I64, hi);
  Val low = widen(f, fl_ll_size(r->d) == 8 ? FL_U64 : FL_I64, lo);
  return LLVMBuildAdd(f->b, LLVMBuildShl(f->b, high, LLVMConstInt(g->i128, 32, false), ""), low, "");
}

/* The result from the state in the allocas (lanes: from `total`). */
static Val finish(FlFn *f, const Red *r) {
  FlGen *g = f->g;
  if (picks(r->kind)) {
    Val at = get(f, g->i64, r->at);
    Val none = LLVMBuildICmp(f->b, LLVMIntSLT, at, fl_ll_i64(g, 0), "");
    fl_ll_fault(f, r->op->span, none, fl_ll_i32(g, FL_FAULT_EMPTY), FL_I64, NULL, NULL, NULL);
    return is_arg(r->kind) ? at : get(f, r->t, r->best);
  }
  if (uses_lanes(r->kind)) return get(f, r->t, r->total);
  if (r->kind == INT_SUM_PRODUCT) return checked_sum(f, r, get(f, g->i128, r->wide));
  Val lo = get(f, g->i64, r->lo);
  if (r->kind == INT_SUM) return checked_sum(f, r, two_words(f, r, get(f, g->i64, r->hi), lo));
  if (r->kind == ANY || r->kind == ALL) return LLVMBuildTrunc(f->b, lo, g->i1, "");
  Ty t = fl_ll_type(g, r->result->type);
  return t == g->i64 ? lo : LLVMBuildTrunc(f->b, lo, t, "");
}

/* ---- nested
 * ----------------------------------------------------------------------------------------------------------
 */

static void join_total(FlFn *f, const Red *r, Val block) {
  put(f, join(f, r, get(f, r->t, r->total), block), r->total);
}

static void begin_sweep(FlFn *f, Sweep *s) {
  for (int k = 0; k < s->n; k++) {
    Red *r = &s->at[k];
    clear_state(f, r);
    if (!uses_lanes(r->kind)) continue;
    r->total = fl_ll_alloca(f, r->t, "total");
    put(f, lane_start(r), r->total);
    clear_lanes(f, r);
  }
}

static void end_sweep(FlFn *f, Sweep *s) {
  for (int k = 0; k < s->n; k++) fl_ll_set(f, s->at[k].result, finish(f, &s->at[k]));
}

/* One axis: block by block. */
static void nested_lanes(FlFn *f, Sweep *s, Val n) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0), block = fl_ll_i64(g, FL_BLOCK);
  Val *sums = FL_NEW_ARRAY(g->arena, Val, s->n);
  Val up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, LLVMBuildAShr(f->b, up, fl_ll_i64(g, 12), ""), 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, n, ""), hi, n, "");
  lane_block(f, s, LANES_NESTED, lo, hi, sums);
  for (int k = 0; k < s->n; k++)
    if (uses_lanes(s->at[k].kind)) join_total(f, &s->at[k], sums[k]);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Adds the lanes to the totals when `when` holds. */
static void flush_lanes(FlFn *f, Sweep *s, Val when) {
  Block full = fl_ll_block(f, "full"), on = fl_ll_block(f, "on");
  LLVMBuildCondBr(f->b, when, full, on);
  fl_ll_at(f, full);
  for (int k = 0; k < s->n; k++) {
    Red *r = &s->at[k];
    if (!uses_lanes(r->kind)) continue;
    join_total(f, r, butterfly(f, r, r->lanes));
    clear_lanes(f, r);
  }
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* Any number of axes, in any form: one position after the other. */
static void nested_plain(FlFn *f, Sweep *s, int axis, Val pos_at) {
  FlGen *g = f->g;
  const FlOp *op = s->op;
  Val zero = fl_ll_i64(g, 0), last = fl_ll_i64(g, FL_BLOCK - 1);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, fl_ll_bound(f, zero, fl_ll_value(f, op->args[axis])), 0, NULL);
  fl_ll_set(f, s->region->params[axis], l.i);
  if (axis + 1 < op->n_args) {
    nested_plain(f, s, axis + 1, pos_at);
  } else {
    fl_ll_region(f, s->region);
    Val pos = get(f, g->i64, pos_at);
    for (int k = 0; k < s->n; k++) accumulate_one(f, &s->at[k], pos);
    if (s->lanes)
      flush_lanes(f, s, LLVMBuildICmp(f->b, LLVMIntEQ, LLVMBuildAnd(f->b, pos, last, ""), last, ""));
    put(f, LLVMBuildNSWAdd(f->b, pos, fl_ll_i64(g, 1), ""), pos_at);
  }
  fl_ll_loop_close(f, &l, NULL, f->form == FL_FORM_FAST);
}

void fl_ll_reduce_nested(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  Sweep s = sweep_of(f, op);
  Val zero = fl_ll_i64(g, 0);
  begin_sweep(f, &s);
  if (s.lanes && op->n_args == 1 && f->form == FL_FORM_FAST) {
    nested_lanes(f, &s, fl_ll_bound(f, zero, fl_ll_value(f, op->args[0])));
  } else {
    Val pos_at = fl_ll_alloca(f, g->i64, "pos");
    put(f, zero, pos_at);
    nested_plain(f, &s, 0, pos_at);
    if (s.lanes) {
      Val part = LLVMBuildAnd(f->b, get(f, g->i64, pos_at), fl_ll_i64(g, FL_BLOCK - 1), "");
      flush_lanes(f, &s, LLVMBuildICmp(f->b, LLVMIntNE, part, zero, ""));
    }
  }
  end_sweep(f, &s);
}

/* ---- blocks in a kernel
 * ------------------------------------------------------------------------------------------------ */

typedef struct Fill {
  Sweep *s;
  Val base;
} Fill;

/* Element of a block of several axes: lane values go to the buffers, the rest is accumulated. */
static void fill_buffers(FlFn *f, const FlKernelDef *k, Val pos, void *arg) {
  (void)k;
  Fill *fill = arg;
  Val at = LLVMBuildNSWSub(f->b, pos, fill->base, "");
  for (int i = 0; i < fill->s->n; i++) {
    Red *r = &fill->s->at[i];
    Val v[2];
    if (!uses_lanes(r->kind)) {
      accumulate_one(f, r, pos);
      continue;
    }
    lane_values(f, r, v);
    put(f, v[0], fl_ll_gep(f, r->t, r->buffers[0], at));
    if (v[1]) put(f, v[1], fl_ll_gep(f, r->t, r->buffers[1], at));
  }
}

static void make_buffers(FlFn *f, Sweep *s) {
  for (int k = 0; k < s->n; k++) {
    Red *r = &s->at[k];
    if (!uses_lanes(r->kind)) continue;
    r->buffers[0] = fl_ll_alloca_n(f, r->t, FL_BLOCK, "values");
    if (r->kind == SUM_PRODUCT) r->buffers[1] = fl_ll_alloca_n(f, r->t, FL_BLOCK, "factors");
  }
}

static void store_partial(FlFn *f, const Red *r, Val at, Val sum) {
  FlGen *g = f->g;
  if (uses_lanes(r->kind)) {
    put(f, sum, at);
  } else if (r->kind == INT_SUM_PRODUCT) {
    put(f, get(f, g->i128, r->wide), at);
  } else if (picks(r->kind)) {
    put(f, get(f, r->t, r->best), at);
    put(f, get(f, g->i64, r->at), fl_ll_at_byte(f, at, 16));
  } else {
    put(f, get(f, g->i64, r->hi), at);
    put(f, get(f, g->i64, r->lo), fl_ll_at_byte(f, at, 8));
  }
}

/* Kernel body: the states of each block of [begin, end) go to its place among the partials. */
static void block_body(FlFn *f, const FlKernelDef *k, Val begin, Val end, const Val *sizes,
                       const Val *outputs) {
  FlGen *g = f->g;
  Sweep s = sweep_of(f, k->op);
  Val *sums = FL_NEW_ARRAY(g->arena, Val, s.n);
  Val shift = fl_ll_i64(g, 12), block = fl_ll_i64(g, FL_BLOCK), zero = fl_ll_i64(g, 0);
  Val last = LLVMBuildLShr(f->b, LLVMBuildNSWAdd(f->b, end, fl_ll_i64(g, FL_BLOCK - 1), ""), shift, "");
  FlLoop l;
  fl_ll_loop_open(f, &l, LLVMBuildLShr(f->b, begin, shift, ""), last, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, end, ""), hi, end, "");
  Val bytes = fl_ll_i64(g, s.n * FL_PARTIAL_BYTES);
  Val partial = fl_ll_gep(f, g->i8, outputs[0], LLVMBuildNSWMul(f->b, l.i, bytes, ""));
  for (int i = 0; i < s.n; i++) clear_state(f, &s.at[i]);
  Fill fill = {&s, lo};
  if (s.lanes && k->op->n_args == 1) {
    lane_block(f, &s, LANES_BLOCK, lo, hi, sums);
  } else {
    make_buffers(f, &s);
    fl_ll_elements(f, k, lo, hi, sizes, fill_buffers, &fill, true);
    if (s.lanes) lane_block(f, &s, LANES_BUFFER, zero, LLVMBuildNSWSub(f->b, hi, lo, ""), sums);
  }
  for (int i = 0; i < s.n; i++)
    store_partial(f, &s.at[i], fl_ll_at_byte(f, partial, (int64_t)i * FL_PARTIAL_BYTES), sums[i]);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Host code: joins the partial state at p, of the next block, to the state so far. */
static void join_partial(FlFn *f, const Red *r, Val p) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  if (uses_lanes(r->kind)) {
    join_total(f, r, get(f, r->t, p));
    return;
  }
  if (picks(r->kind)) {
    Val at = get(f, g->i64, fl_ll_at_byte(f, p, 16));
    pick(f, r, get(f, r->t, p), at, LLVMBuildICmp(f->b, LLVMIntSGE, at, zero, ""));
    return;
  }
  if (r->kind == INT_SUM_PRODUCT) {
    put(f, LLVMBuildAdd(f->b, get(f, g->i128, r->wide), get(f, g->i128, p), ""), r->wide);
    return;
  }
  Val hi = get(f, g->i64, p), lo = get(f, g->i64, fl_ll_at_byte(f, p, 8)), old = get(f, g->i64, r->lo);
  Val now = r->kind == ANY   ? LLVMBuildOr(f->b, old, lo, "")
            : r->kind == ALL ? LLVMBuildAnd(f->b, old, lo, "")
                             : LLVMBuildAdd(f->b, old, lo, "");
  if (r->kind == INT_SUM && fl_ll_size(r->d) == 8) {
    /* Carry what the low words gather beyond 32 bits, so that neither word can overflow. */
    hi = LLVMBuildAdd(f->b, hi, LLVMBuildLShr(f->b, now, fl_ll_i64(g, 32), ""), "");
    now = LLVMBuildAnd(f->b, now, fl_ll_i64(g, 0xffffffff), "");
  }
  put(f, LLVMBuildAdd(f->b, get(f, g->i64, r->hi), hi, ""), r->hi);
  put(f, now, r->lo);
}

/* Can the sweep run in a kernel? A checked product depends on the order of its steps. */
static bool runs_in_kernel(const Sweep *s) {
  for (int k = 0; k < s->n; k++)
    if (s->at[k].kind == INT_PRODUCT) return false;
  return fl_ir_is_kernel(s->region);
}

/* The heap of the elements' texts; one that is the result moves to the run's. */
static void drop_heap(FlFn *f, const Sweep *s, Val heap) {
  for (int k = 0; k < s->n; k++) {
    const Red *r = &s->at[k];
    if (picks(r->kind) && !is_arg(r->kind) && fl_ll_is_text(r->d))
      put(f, fl_ll_text_to_heap(f, get(f, r->t, r->best)), r->best);
  }
  fl_ll_call(f, "fl_heap_unref", f->g->none, 1, &f->g->ptr, &heap);
}

void fl_ll_reduce_host(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  Sweep s = sweep_of(f, op);
  if (!runs_in_kernel(&s)) {
    fl_ll_reduce_nested(f, op);
    return;
  }
  FlKernelDef k;
  fl_ll_kernel_def(f, op, &k);
  k.unit = FL_BLOCK;
  k.n_outputs = 1;
  Val n = fl_ll_total(f, op);
  Val blocks =
      LLVMBuildAShr(f->b, LLVMBuildAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), ""), fl_ll_i64(g, 12), "");
  Val place = fl_ll_scratch(f);
  int64_t slots_each = s.n * FL_PARTIAL_BYTES / (int)sizeof(FlSlot);
  Val slots = LLVMBuildMul(f->b, blocks, fl_ll_i64(g, slots_each), "");
  Val buffer = fl_ll_new_array(f, FL_TEXT, 1, &slots);
  LLVMBuildStore(f->b, buffer, place);
  Val partials = fl_ll_array_data(f, buffer);
  Val heap = k.heap ? fl_ll_call(f, "fl_heap_new", g->ptr, 1, &g->ptr, &f->ctx) : NULL;
  Val status = fl_ll_kernel_run(f, &k, block_body, &partials, heap, n);
  begin_sweep(f, &s);
  Val fine = LLVMBuildICmp(f->b, LLVMIntEQ, status, fl_ll_i32(g, 0), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), LLVMBuildSelect(f->b, fine, blocks, fl_ll_i64(g, 0), ""), 0, NULL);
  Val bytes = fl_ll_i64(g, s.n * FL_PARTIAL_BYTES);
  Val p = fl_ll_gep(f, g->i8, partials, LLVMBuildNSWMul(f->b, l.i, bytes, ""));
  for (int i = 0; i < s.n; i++) join_partial(f, &s.at[i], fl_ll_at_byte(f, p, (int64_t)i * FL_PARTIAL_BYTES));
  fl_ll_loop_close(f, &l, NULL, false);
  fl_ll_unref(f, buffer);
  LLVMBuildStore(f->b, fl_ll_null(g), place);
  if (heap) drop_heap(f, &s, heap);
  fl_ll_check_status(f, status);
  end_sweep(f, &s);
}
