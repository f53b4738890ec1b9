/* llvm_reduce.c: reductions, in the order that the language fixes.
 *
 * Float sums and products: blocks of 4096 positions; in a block position p goes to lane p mod 32; the lanes, which
 * start at 0 (product: 1), are joined by a butterfly; block results are joined from left to right. A position that
 * a filter drops keeps its place and adds the identity (-0 for a sum, whose addition changes no bit).
 * Integer sums are exact (128 bits) and checked once. Minimum and maximum take the first of equals; a NaN wins.
 *
 * Three ways to run: `blocks` in a kernel of its own, one partial state a block, joined by host code; `nested` in
 * the middle of an element, as plain loops; the same in host code when the region is not a kernel. */
#include "codegen/llvm_internal.h"

typedef enum Kind { SUM, PRODUCT, SUM_PRODUCT, INT_SUM, INT_PRODUCT, ANY, ALL, COUNT, MIN, MAX, ARGMIN, ARGMAX } Kind;

/* A reduction being emitted, with its state in allocas that the optimiser turns into registers. */
typedef struct Red {
  const FlOp *op;
  const FlRegion *region;
  Kind kind;
  FlDtype d; /* of the values */
  Ty t;
  bool filtered;
  Val lanes, total;  /* float kinds: [32 x t], t */
  Val hi, lo;        /* integer sums: the value is hi * 2^32 + lo; counts: lo; any, all: lo, 0 or 1 */
  Val best, at;      /* the value so far and its position, -1: none */
} Red;

static Kind kind_of(const FlOp *op, FlDtype d) {
  static const struct {
    const char *name;
    Kind real, integer;
  } kinds[] = {{"sum", SUM, INT_SUM},  {"product", PRODUCT, INT_PRODUCT}, {"sum_product", SUM_PRODUCT, SUM_PRODUCT},
               {"any", ANY, ANY},      {"all", ALL, ALL},                 {"count", COUNT, COUNT},
               {"min", MIN, MIN},      {"max", MAX, MAX},                 {"argmin", ARGMIN, ARGMIN},
               {"argmax", ARGMAX, ARGMAX}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (op->attrs.s && strcmp(kinds[i].name, op->attrs.s) == 0)
      return fl_ll_is_float(d) ? kinds[i].real : kinds[i].integer;
  return SUM;
}

static bool uses_lanes(Kind k) { return k == SUM || k == PRODUCT || k == SUM_PRODUCT; }
static bool picks(Kind k) { return k == MIN || k == MAX || k == ARGMIN || k == ARGMAX; }
static bool is_arg(Kind k) { return k == ARGMIN || k == ARGMAX; }

static Red red_of(FlFn *f, const FlOp *op) {
  Red r = {.op = op, .region = op->regions[0]};
  r.d = (FlDtype)r.region->yields[0]->type.dtype;
  r.kind = kind_of(op, r.d);
  r.t = fl_ll_type(f->g, r.region->yields[0]->type);
  r.filtered = op->attrs.i == 1;
  return r;
}

static void put(FlFn *f, Val v, Val at) { LLVMBuildStore(f->b, v, at); }
static Val get(FlFn *f, Ty t, Val at) { return LLVMBuildLoad2(f->b, t, at, ""); }
static Val lane_start(const Red *r) { return LLVMConstReal(r->t, r->kind == PRODUCT ? 1.0 : 0.0); }

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

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
  const FlRegion *g = r->region;
  out[0] = fl_ll_value(f, g->yields[0]);
  out[1] = r->kind == SUM_PRODUCT ? fl_ll_value(f, g->yields[1]) : NULL;
  if (!r->filtered) return;
  Val keep = fl_ll_value(f, g->yields[g->n_yields - 1]);
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

/* Where a lane loop takes its values from: the region at index i, or buffers filled before. */
typedef struct Source {
  const Val *buffers; /* NULL: the region */
} Source;

static void lane_element(FlFn *f, const Red *r, Source s, Val i, Val lanes, Val lane) {
  Val v[2] = {NULL, NULL};
  if (s.buffers) {
    v[0] = get(f, r->t, fl_ll_gep(f, r->t, s.buffers[0], i));
    if (r->kind == SUM_PRODUCT) v[1] = get(f, r->t, fl_ll_gep(f, r->t, s.buffers[1], i));
  } else {
    fl_ll_set(f, r->region->params[0], i);
    fl_ll_region(f, r->region);
    lane_values(f, r, v);
  }
  lane_add(f, r, lanes, lane, v);
}

/* One block: positions [lo, hi), lo on lane 0. Whole groups of 32 with the lanes in registers, then the rest. */
static Val lane_block(FlFn *f, const Red *r, Source s, Val lo, Val hi) {
  FlGen *g = f->g;
  Val size = LLVMBuildNSWSub(f->b, hi, lo, ""), lanes_n = fl_ll_i64(g, FL_LANES), zero = fl_ll_i64(g, 0);
  Val groups = LLVMBuildLShr(f->b, size, fl_ll_i64(g, 5), "");
  Val whole = LLVMBuildShl(f->b, groups, fl_ll_i64(g, 5), "");
  clear_lanes(f, r);
  FlLoop group, lane, tail;
  fl_ll_loop_open(f, &group, zero, groups, 0, NULL);
  Val base = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, group.i, lanes_n, ""), "");
  fl_ll_loop_open(f, &lane, zero, lanes_n, 0, NULL);
  lane_element(f, r, s, LLVMBuildNSWAdd(f->b, base, lane.i, ""), r->lanes, lane.i);
  fl_ll_loop_close(f, &lane, NULL, true);
  fl_ll_loop_close(f, &group, NULL, true);
  /* A second copy, so that the first is never indexed by a variable and stays in registers. */
  Val rest = fl_ll_alloca_n(f, r->t, FL_LANES, "rest");
  Ty vector = LLVMVectorType(r->t, FL_LANES);
  Val all = get(f, vector, r->lanes);
  LLVMSetAlignment(all, FL_ALIGN);
  LLVMSetAlignment(LLVMBuildStore(f->b, all, rest), FL_ALIGN);
  fl_ll_loop_open(f, &tail, zero, LLVMBuildNSWSub(f->b, size, whole, ""), 0, NULL);
  Val i = LLVMBuildNSWAdd(f->b, LLVMBuildNSWAdd(f->b, lo, whole, ""), tail.i, "");
  lane_element(f, r, s, i, rest, tail.i);
  fl_ll_loop_close(f, &tail, NULL, true);
  return butterfly(f, r, rest);
}

/* ---- the other kinds ------------------------------------------------------------------------------------------- */

static void clear_state(FlFn *f, Red *r) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  if (uses_lanes(r->kind)) {
    if (!r->lanes) r->lanes = fl_ll_alloca_n(f, r->t, FL_LANES, "lanes");
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
  Val new_nan = LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, ""), old = LLVMBuildFCmp(f->b, LLVMRealORD, best, best, "");
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

/* Each step is checked: the state is the product so far. */
static void multiply_int(FlFn *f, const Red *r, Val v, Val keep) {
  FlGen *g = f->g;
  bool u = fl_ll_is_unsigned(r->d);
  v = u ? LLVMBuildZExt(f->b, v, g->i128, "") : LLVMBuildSExt(f->b, v, g->i128, "");
  if (keep) v = LLVMBuildSelect(f->b, keep, v, LLVMConstInt(g->i128, 1, false), "");
  Val old = LLVMBuildTrunc(f->b, get(f, g->i64, r->lo), r->t, "");
  Val a = u ? LLVMBuildZExt(f->b, old, g->i128, "") : LLVMBuildSExt(f->b, old, g->i128, "");
  Val p = LLVMBuildMul(f->b, a, v, ""), now = LLVMBuildTrunc(f->b, p, r->t, "");
  Val back = u ? LLVMBuildZExt(f->b, now, g->i128, "") : LLVMBuildSExt(f->b, now, g->i128, "");
  fl_ll_fault(f, r->op->span, LLVMBuildICmp(f->b, LLVMIntNE, p, back, ""), fl_ll_i32(g, FL_FAULT_OVERFLOW), r->d,
              old, LLVMBuildTrunc(f->b, v, r->t, ""), NULL);
  put(f, LLVMBuildZExtOrBitCast(f->b, now, g->i64, ""), r->lo);
}

/* One element, after its region was emitted. */
static void accumulate(FlFn *f, const FlKernelDef *k, Val pos, void *arg) {
  (void)k;
  Red *r = arg;
  FlGen *g = f->g;
  Val v = fl_ll_value(f, r->region->yields[0]);
  Val keep = r->filtered ? fl_ll_value(f, r->region->yields[r->region->n_yields - 1]) : NULL;
  Val state = r->lo ? get(f, g->i64, r->lo) : NULL;
  switch (r->kind) {
  case INT_SUM: add_int(f, r, v, keep); break;
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

/* ---- results ------------------------------------------------------------------------------------------------------ */

/* hi * 2^32 + lo as the result's type, checked. */
static Val int_result(FlFn *f, const Red *r, Val hi, Val lo) {
  FlGen *g = f->g;
  FlDtype d = (FlDtype)r->op->results[0]->type.dtype;
  Ty t = fl_ll_type(g, r->op->results[0]->type);
  bool wide_unsigned = r->d == FL_U64;
  Val high = wide_unsigned ? LLVMBuildZExt(f->b, hi, g->i128, "") : LLVMBuildSExt(f->b, hi, g->i128, "");
  Val low = fl_ll_size(r->d) == 8 ? LLVMBuildZExt(f->b, lo, g->i128, "") : LLVMBuildSExt(f->b, lo, g->i128, "");
  Val sum = LLVMBuildAdd(f->b, LLVMBuildShl(f->b, high, LLVMConstInt(g->i128, 32, false), ""), low, "");
  Val v = LLVMBuildTrunc(f->b, sum, t, "");
  Val back = fl_ll_is_unsigned(d) ? LLVMBuildZExt(f->b, v, g->i128, "") : LLVMBuildSExt(f->b, v, g->i128, "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntNE, back, sum, "");
  fl_ll_fault(f, r->op->span, bad, fl_ll_i32(g, FL_FAULT_OVERFLOW), d, NULL, NULL, NULL);
  return v;
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
  Val lo = get(f, g->i64, r->lo);
  if (r->kind == INT_SUM) return int_result(f, r, get(f, g->i64, r->hi), lo);
  if (r->kind == ANY || r->kind == ALL) return LLVMBuildTrunc(f->b, lo, g->i1, "");
  Ty t = fl_ll_type(g, r->op->results[0]->type);
  return t == g->i64 ? lo : LLVMBuildTrunc(f->b, lo, t, "");
}

/* ---- nested ---------------------------------------------------------------------------------------------------------- */

static void join_total(FlFn *f, const Red *r, Val block, Val is_first) {
  Val sum = join(f, r, get(f, r->t, r->total), block);
  put(f, LLVMBuildSelect(f->b, is_first, block, sum, ""), r->total);
}

/* One axis, float lanes: block by block. */
static void nested_lanes(FlFn *f, const Red *r, Val n) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0), block = fl_ll_i64(g, FL_BLOCK);
  Val up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, LLVMBuildAShr(f->b, up, fl_ll_i64(g, 12), ""), 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, n, ""), hi, n, "");
  Val sum = lane_block(f, r, (Source){NULL}, lo, hi);
  join_total(f, r, sum, LLVMBuildICmp(f->b, LLVMIntEQ, l.i, zero, ""));
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Any number of axes, in any form: one position after the other. */
static void nested_plain(FlFn *f, Red *r, int axis, Val pos_at) {
  FlGen *g = f->g;
  const FlOp *op = r->op;
  Val zero = fl_ll_i64(g, 0);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, fl_ll_bound(f, zero, fl_ll_value(f, op->args[axis])), 0, NULL);
  fl_ll_set(f, r->region->params[axis], l.i);
  if (axis + 1 < op->n_args) {
    nested_plain(f, r, axis + 1, pos_at);
  } else {
    fl_ll_region(f, r->region);
    Val pos = get(f, g->i64, pos_at);
    accumulate(f, NULL, pos, r);
    if (uses_lanes(r->kind)) {
      Val last = LLVMBuildAnd(f->b, pos, fl_ll_i64(g, FL_BLOCK - 1), "");
      Block full = fl_ll_block(f, "full"), on = fl_ll_block(f, "on");
      LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, last, fl_ll_i64(g, FL_BLOCK - 1), ""), full, on);
      fl_ll_at(f, full);
      join_total(f, r, butterfly(f, r, r->lanes),
                 LLVMBuildICmp(f->b, LLVMIntSLT, pos, fl_ll_i64(g, FL_BLOCK), ""));
      clear_lanes(f, r);
      LLVMBuildBr(f->b, on);
      fl_ll_at(f, on);
    }
    put(f, LLVMBuildNSWAdd(f->b, pos, fl_ll_i64(g, 1), ""), pos_at);
  }
  fl_ll_loop_close(f, &l, NULL, f->form == FL_FORM_FAST);
}

void fl_ll_reduce_nested(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  Red r = red_of(f, op);
  clear_state(f, &r);
  if (uses_lanes(r.kind)) {
    r.total = fl_ll_alloca(f, r.t, "total");
    put(f, lane_start(&r), r.total);
  }
  if (uses_lanes(r.kind) && op->n_args == 1 && f->form == FL_FORM_FAST) {
    Val zero = fl_ll_i64(g, 0);
    nested_lanes(f, &r, fl_ll_bound(f, zero, fl_ll_value(f, op->args[0])));
  } else {
    Val pos_at = fl_ll_alloca(f, g->i64, "pos");
    put(f, fl_ll_i64(g, 0), pos_at);
    if (uses_lanes(r.kind)) clear_lanes(f, &r);
    nested_plain(f, &r, 0, pos_at);
    if (uses_lanes(r.kind)) {
      /* The last, partial block. */
      Val pos = get(f, g->i64, pos_at);
      Val part = LLVMBuildAnd(f->b, pos, fl_ll_i64(g, FL_BLOCK - 1), "");
      Block some = fl_ll_block(f, "some"), done = fl_ll_block(f, "done");
      LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntNE, part, fl_ll_i64(g, 0), ""), some, done);
      fl_ll_at(f, some);
      join_total(f, &r, butterfly(f, &r, r.lanes),
                 LLVMBuildICmp(f->b, LLVMIntSLT, pos, fl_ll_i64(g, FL_BLOCK), ""));
      LLVMBuildBr(f->b, done);
      fl_ll_at(f, done);
    }
  }
  fl_ll_set(f, op->results[0], finish(f, &r));
}

/* ---- blocks in a kernel ------------------------------------------------------------------------------------------------ */

typedef struct Fill {
  const Red *r;
  Val base, buffers[2];
} Fill;

static void fill_buffer(FlFn *f, const FlKernelDef *k, Val pos, void *arg) {
  (void)k;
  Fill *fill = arg;
  Val v[2], at = LLVMBuildNSWSub(f->b, pos, fill->base, "");
  lane_values(f, fill->r, v);
  for (int i = 0; i < 2; i++)
    if (v[i]) put(f, v[i], fl_ll_gep(f, fill->r->t, fill->buffers[i], at));
}

/* Kernel body: the state of each block of [begin, end) goes to its place among the partials. */
static void block_body(FlFn *f, const FlKernelDef *k, Val begin, Val end, const Val *sizes, const Val *outputs) {
  FlGen *g = f->g;
  Red r = red_of(f, k->op);
  Val shift = fl_ll_i64(g, 12), block = fl_ll_i64(g, FL_BLOCK);
  Val last = LLVMBuildLShr(f->b, LLVMBuildNSWAdd(f->b, end, fl_ll_i64(g, FL_BLOCK - 1), ""), shift, "");
  FlLoop l;
  fl_ll_loop_open(f, &l, LLVMBuildLShr(f->b, begin, shift, ""), last, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, end, ""), hi, end, "");
  Val partial = fl_ll_gep(f, g->i8, outputs[0], LLVMBuildNSWMul(f->b, l.i, fl_ll_i64(g, FL_PARTIAL_BYTES), ""));
  clear_state(f, &r);
  if (!uses_lanes(r.kind)) {
    fl_ll_elements(f, k, lo, hi, sizes, accumulate, &r, true);
    if (picks(r.kind)) {
      put(f, get(f, r.t, r.best), partial);
      put(f, get(f, g->i64, r.at), fl_ll_at_byte(f, partial, 16));
    } else {
      put(f, get(f, g->i64, r.hi), partial);
      put(f, get(f, g->i64, r.lo), fl_ll_at_byte(f, partial, 8));
    }
  } else if (k->op->n_args == 1) {
    put(f, lane_block(f, &r, (Source){NULL}, lo, hi), partial);
  } else {
    Fill fill = {.r = &r, .base = lo};
    fill.buffers[0] = fl_ll_alloca_n(f, r.t, FL_BLOCK, "values");
    if (r.kind == SUM_PRODUCT) fill.buffers[1] = fl_ll_alloca_n(f, r.t, FL_BLOCK, "factors");
    fl_ll_elements(f, k, lo, hi, sizes, fill_buffer, &fill, true);
    Val zero = fl_ll_i64(g, 0);
    put(f, lane_block(f, &r, (Source){fill.buffers}, zero, LLVMBuildNSWSub(f->b, hi, lo, "")), partial);
  }
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Host code: joins the partial states of n blocks from left to right. */
static void join_partials(FlFn *f, Red *r, Val partials, Val n) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, n, 0, NULL);
  Val p = fl_ll_gep(f, g->i8, partials, LLVMBuildNSWMul(f->b, l.i, fl_ll_i64(g, FL_PARTIAL_BYTES), ""));
  if (uses_lanes(r->kind)) {
    join_total(f, r, get(f, r->t, p), LLVMBuildICmp(f->b, LLVMIntEQ, l.i, zero, ""));
  } else if (picks(r->kind)) {
    Val at = get(f, g->i64, fl_ll_at_byte(f, p, 16));
    pick(f, r, get(f, r->t, p), at, LLVMBuildICmp(f->b, LLVMIntSGE, at, zero, ""));
  } else {
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
  fl_ll_loop_close(f, &l, NULL, false);
}

void fl_ll_reduce_host(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  Red r = red_of(f, op);
  /* A checked product depends on the order of its steps, and a region of host code cannot be a kernel. */
  if (r.kind == INT_PRODUCT || !fl_ir_is_kernel(r.region)) {
    fl_ll_reduce_nested(f, op);
    return;
  }
  FlKernelDef k;
  fl_ll_kernel_def(f, op, &k);
  k.unit = FL_BLOCK;
  k.n_outputs = 1;
  Val n = fl_ll_total(f, op);
  Val blocks = LLVMBuildAShr(f->b, LLVMBuildAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), ""), fl_ll_i64(g, 12), "");
  Val place = fl_ll_scratch(f);
  Val slots = LLVMBuildMul(f->b, blocks, fl_ll_i64(g, FL_PARTIAL_BYTES / (int)sizeof(FlSlot)), "");
  Val buffer = fl_ll_new_array(f, FL_TEXT, 1, &slots);
  LLVMBuildStore(f->b, buffer, place);
  Val partials = fl_ll_array_data(f, buffer);
  fl_ll_check_status(f, fl_ll_kernel_run(f, &k, block_body, &partials, NULL, n));
  clear_state(f, &r);
  if (uses_lanes(r.kind)) {
    r.total = fl_ll_alloca(f, r.t, "total");
    put(f, lane_start(&r), r.total);
  }
  join_partials(f, &r, partials, blocks);
  fl_ll_unref(f, buffer);
  LLVMBuildStore(f->b, fl_ll_null(g), place);
  fl_ll_set(f, op->results[0], finish(f, &r));
}
