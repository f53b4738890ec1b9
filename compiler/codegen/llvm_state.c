/* llvm_state.c: the state of one reduction of each kind: cleared, added to, joined, finished. See
 * llvm_reduce.h. */
#include "codegen/llvm_reduce.h"

bool fl_red_sums(const FlRed *r) {
  return r->kind == RED_SUM || r->kind == RED_PRODUCT || r->kind == RED_SUM_PRODUCT;
}
bool fl_red_picks(const FlRed *r) {
  return r->kind == RED_MIN || r->kind == RED_MAX || r->kind == RED_ARGMIN || r->kind == RED_ARGMAX;
}
bool fl_red_picks_by_lane(const FlRed *r) {
  return fl_red_picks(r) && !fl_dtype_is_text(r->d) && r->d != FL_BOOL;
}
bool fl_red_is_arg(const FlRed *r) { return r->kind == RED_ARGMIN || r->kind == RED_ARGMAX; }
bool fl_red_counts(const FlRed *r) { return r->kind == RED_COUNT || r->kind == RED_INT_SUM; }

/* ---- lanes ----------------------------------------------------------------------------------------- */

static Val call_lanes(FlFn *f, const char *what, Ty result, Ty t, unsigned n, const Val *args) {
  const char *name = fl_arena_printf(f->g->arena, "fl_lanes_%s_%s", what, t == f->g->f64 ? "f64" : "f32");
  return fl_ll_call(f, name, result, n, (Ty[]){f->g->ptr, t}, args);
}

static void fill(FlFn *f, Val lanes, Val v) {
  Val all[FL_LANES];
  for (int i = 0; i < FL_LANES; i++) all[i] = v;
  LLVMSetAlignment(LLVMBuildStore(f->b, LLVMConstVector(all, FL_LANES), lanes), FL_ALIGN);
}

void fl_red_clear_lanes(FlFn *f, FlRed *r) {
  if (fl_red_sums(r)) {
    if (f->plain) call_lanes(f, "fill", f->g->none, r->t, 2, (Val[]){r->lanes, fl_red_start(r)});
    else fill(f, r->lanes, fl_red_start(r));
    return;
  }
  if (fl_red_counts(r)) {
    if (!r->lo_lanes) {
      r->lo_lanes = fl_ll_alloca_n(f, f->g->i64, FL_LANES, "lows");
      r->hi_lanes = fl_ll_alloca_n(f, f->g->i64, FL_LANES, "highs");
    }
    fill(f, r->lo_lanes, fl_ll_i64(f->g, 0));
    fill(f, r->hi_lanes, fl_ll_i64(f->g, 0));
    return;
  }
  if (!r->best_lanes) {
    r->best_lanes = fl_ll_alloca_n(f, r->t, FL_LANES, "bests");
    r->at_lanes = fl_ll_alloca_n(f, f->g->i64, FL_LANES, "ats");
  }
  fill(f, r->best_lanes, LLVMConstNull(r->t));
  fill(f, r->at_lanes, fl_ll_i64(f->g, -1));
}

static Val join(FlFn *f, const FlRed *r, Val a, Val b) {
  return r->kind == RED_PRODUCT ? LLVMBuildFMul(f->b, a, b, "") : LLVMBuildFAdd(f->b, a, b, "");
}

/* `n` lanes of a vector, from lane `first` on. */
static Val lanes_from(FlFn *f, Val v, int first, int n) {
  Val index[FL_LANES];
  for (int i = 0; i < n; i++) index[i] = fl_ll_i32(f->g, first + i);
  return LLVMBuildShuffleVector(f->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, (unsigned)n),
                                "");
}

static Val all_lanes(FlFn *f, Ty t, Val lanes) {
  Val v = LLVMBuildLoad2(f->b, LLVMVectorType(t, FL_LANES), lanes, "");
  LLVMSetAlignment(v, FL_ALIGN);
  return v;
}

/* l[i] += l[i + 16], then 8, 4, 2, 1. */
Val fl_red_butterfly(FlFn *f, const FlRed *r, Val lanes) {
  if (f->plain) return call_lanes(f, r->kind == RED_PRODUCT ? "product" : "sum", r->t, r->t, 1, &lanes);
  Val v = all_lanes(f, r->t, lanes);
  for (int half = FL_LANES / 2; half >= 1; half /= 2)
    v = join(f, r, lanes_from(f, v, 0, half), lanes_from(f, v, half, half));
  return LLVMBuildExtractElement(f->b, v, fl_ll_i32(f->g, 0), "");
}

/* What adds nothing; of a sum of products the first or the second factor. */
Val fl_red_identity(const FlRed *r, int factor) {
  return LLVMConstReal(r->t, factor ? 0.0 : r->kind == RED_PRODUCT ? 1.0 : -0.0);
}

/* The values of this element: what the region yields, or the identity when it is filtered out. */
void fl_red_lane_values(FlFn *f, const FlRed *r, Val out[2]) {
  out[0] = fl_ll_value(f, r->region->yields[r->first]);
  out[1] = r->kind == RED_SUM_PRODUCT ? fl_ll_value(f, r->region->yields[r->first + 1]) : NULL;
  if (!r->keep) return;
  Val keep = fl_ll_value(f, r->keep);
  for (int i = 0; i < 2 && out[i]; i++)
    out[i] = LLVMBuildSelect(f->b, keep, out[i], fl_red_identity(r, i), "");
}

void fl_red_lane_add(FlFn *f, const FlRed *r, Val lanes, Val lane, const Val v[2]) {
  Val at = fl_ll_gep(f, r->t, lanes, lane), old = fl_red_get(f, r->t, at), now;
  if (r->kind == RED_SUM_PRODUCT) now = fl_ll_intrinsic(f, "llvm.fma", r->t, 3, (Val[]){v[0], v[1], old});
  else now = join(f, r, old, v[0]);
  fl_red_put(f, now, at);
}

/* ---- the other kinds ------------------------------------------------------------------------------- */

Ty fl_red_low_type(const FlFn *f, const FlRed *r) {
  return r->kind == RED_ANY || r->kind == RED_ALL ? f->g->i8 : f->g->i64;
}

static Val low_of(FlFn *f, const FlRed *r) { return fl_red_get(f, fl_red_low_type(f, r), r->lo); }

void fl_red_clear(FlFn *f, FlRed *r) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  if (r->kind == RED_EACH) return;
  if (fl_red_sums(r)) {
    if (!r->lanes) r->lanes = fl_ll_alloca_n(f, r->t, FL_LANES, "lanes");
  } else if (r->kind == RED_INT_SUM_PRODUCT) {
    if (!r->wide) r->wide = fl_ll_alloca(f, g->i128, "wide");
    fl_red_put(f, LLVMConstNull(g->i128), r->wide);
  } else if (fl_red_picks(r)) {
    if (!r->best) r->best = fl_ll_alloca(f, r->t, "best"), r->at = fl_ll_alloca(f, g->i64, "at");
    fl_red_put(f, LLVMConstNull(r->t), r->best);
    fl_red_put(f, fl_ll_i64(g, -1), r->at);
  } else {
    Ty low = fl_red_low_type(f, r);
    bool one = r->kind == RED_ALL || r->kind == RED_INT_PRODUCT;
    if (!r->lo) r->hi = fl_ll_alloca(f, g->i64, "hi"), r->lo = fl_ll_alloca(f, low, "lo");
    fl_red_put(f, zero, r->hi);
    fl_red_put(f, LLVMConstInt(low, one, false), r->lo);
  }
}

/* Is v to be taken instead of best? */
static Val better(FlFn *f, const FlRed *r, Val v, Val best) {
  FlGen *g = f->g;
  bool least = r->kind == RED_MIN || r->kind == RED_ARGMIN;
  if (fl_dtype_is_text(r->d)) {
    Ty types[] = {g->ptr, g->i64, g->ptr, g->i64};
    Val x = least ? v : best, y = least ? best : v;
    Val args[] = {LLVMBuildExtractValue(f->b, x, 0, ""), LLVMBuildExtractValue(f->b, x, 1, ""),
                  LLVMBuildExtractValue(f->b, y, 0, ""), LLVMBuildExtractValue(f->b, y, 1, "")};
    Val less = fl_ll_call(f, "fl_s_lt_text", g->i8, 4, types, args);
    return LLVMBuildICmp(f->b, LLVMIntNE, less, LLVMConstInt(g->i8, 0, false), "");
  }
  if (!fl_dtype_is_float(r->d)) return least ? fl_ll_less(f, r->d, v, best) : fl_ll_less(f, r->d, best, v);
  Val yes = LLVMBuildFCmp(f->b, LLVMRealULT, least ? v : best, least ? best : v, ""); /* or a NaN */
  return LLVMBuildAnd(f->b, LLVMBuildFCmp(f->b, LLVMRealORD, best, best, ""), yes, "");
}

/* `v` at `pos` against the best so far, which earlier positions left. */
static void pick_at(FlFn *f, const FlRed *r, Val best_at, Val at_at, Val v, Val pos, Val keep) {
  FlGen *g = f->g;
  Val best = fl_red_get(f, r->t, best_at), at = fl_red_get(f, g->i64, at_at);
  Val none = LLVMBuildICmp(f->b, LLVMIntSLT, at, fl_ll_i64(g, 0), "");
  Val take = LLVMBuildOr(f->b, none, better(f, r, v, best), "");
  if (keep) take = LLVMBuildAnd(f->b, take, keep, "");
  fl_red_put(f, LLVMBuildSelect(f->b, take, v, best, ""), best_at);
  fl_red_put(f, LLVMBuildSelect(f->b, take, pos, at, ""), at_at);
}

void fl_red_pick(FlFn *f, const FlRed *r, Val v, Val pos, Val keep) {
  pick_at(f, r, r->best, r->at, v, pos, keep);
}

void fl_red_pick_more(FlFn *f, const FlRed *r, Val v, Val pos) {
  Val best = fl_red_get(f, r->t, r->best), take = better(f, r, v, best);
  fl_red_put(f, LLVMBuildSelect(f->b, take, v, best, ""), r->best);
  if (!fl_red_is_arg(r)) return;
  fl_red_put(f, LLVMBuildSelect(f->b, take, pos, fl_red_get(f, f->g->i64, r->at), ""), r->at);
}

void fl_red_lane_pick(FlFn *f, const FlRed *r, Val lane, Val v, Val pos, Val keep) {
  Val best = fl_ll_gep(f, r->t, r->best_lanes, lane), at = fl_ll_gep(f, f->g->i64, r->at_lanes, lane);
  pick_at(f, r, best, at, v, pos, keep);
}

/* Halves of the lanes against each other: the better one, of equals the earlier one. */
void fl_red_join_picks(FlFn *f, FlRed *r) {
  FlGen *g = f->g;
  Val best = all_lanes(f, r->t, r->best_lanes), at = all_lanes(f, g->i64, r->at_lanes);
  for (int half = FL_LANES / 2; half >= 1; half /= 2) {
    Val a = lanes_from(f, best, 0, half), b = lanes_from(f, best, half, half);
    Val at_a = lanes_from(f, at, 0, half), at_b = lanes_from(f, at, half, half);
    /* As unsigned numbers, the position of nothing is behind all others. */
    Val sooner = LLVMBuildICmp(f->b, LLVMIntULT, at_b, at_a, "");
    Val zero = LLVMConstNull(LLVMTypeOf(at_a));
    Val no_a = LLVMBuildICmp(f->b, LLVMIntSLT, at_a, zero, ""),
        no_b = LLVMBuildICmp(f->b, LLVMIntSLT, at_b, zero, "");
    Val equal = LLVMBuildNot(f->b, better(f, r, a, b), "");
    Val take = LLVMBuildOr(f->b, better(f, r, b, a), LLVMBuildAnd(f->b, equal, sooner, ""), "");
    take = LLVMBuildAnd(f->b, LLVMBuildOr(f->b, take, no_a, ""), LLVMBuildNot(f->b, no_b, ""), "");
    best = LLVMBuildSelect(f->b, take, b, a, "");
    at = LLVMBuildSelect(f->b, take, at_b, at_a, "");
  }
  Val first = fl_ll_i32(g, 0), found = LLVMBuildExtractElement(f->b, at, first, "");
  Val some = LLVMBuildICmp(f->b, LLVMIntSGE, found, fl_ll_i64(g, 0), "");
  fl_red_pick(f, r, LLVMBuildExtractElement(f->b, best, first, ""), found, some);
}

static void add_int(FlFn *f, const FlRed *r, Val v, Val keep) {
  FlGen *g = f->g;
  bool u = fl_ll_is_unsigned(r->d), wide = fl_ll_size(r->d) == 8;
  v = u ? LLVMBuildZExt(f->b, v, g->i64, "") : LLVMBuildSExt(f->b, v, g->i64, "");
  if (keep) v = LLVMBuildSelect(f->b, keep, v, fl_ll_i64(g, 0), "");
  if (!wide) {
    fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, g->i64, r->lo), v, ""), r->lo);
    return;
  }
  Val shift = fl_ll_i64(g, 32), low = LLVMBuildAnd(f->b, v, fl_ll_i64(g, 0xffffffff), "");
  Val high = u ? LLVMBuildLShr(f->b, v, shift, "") : LLVMBuildAShr(f->b, v, shift, "");
  fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, g->i64, r->hi), high, ""), r->hi);
  fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, g->i64, r->lo), low, ""), r->lo);
}

static Val widen(FlFn *f, FlDtype d, Val v) {
  Ty t = f->g->i128;
  return fl_ll_is_unsigned(d) ? LLVMBuildZExt(f->b, v, t, "") : LLVMBuildSExt(f->b, v, t, "");
}

static void add_int_product(FlFn *f, const FlRed *r, Val v, Val w, Val keep) {
  Val p = LLVMBuildMul(f->b, widen(f, r->d, v), widen(f, r->d, w), "");
  if (keep) p = LLVMBuildSelect(f->b, keep, p, LLVMConstNull(f->g->i128), "");
  fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, f->g->i128, r->wide), p, ""), r->wide);
}

/* Each step is checked: the state is the product so far. */
static void multiply_int(FlFn *f, const FlRed *r, Val v, Val keep) {
  FlGen *g = f->g;
  Val one = LLVMConstInt(r->t, 1, false), old = LLVMBuildTrunc(f->b, fl_red_get(f, g->i64, r->lo), r->t, "");
  if (keep) v = LLVMBuildSelect(f->b, keep, v, one, "");
  Val p = LLVMBuildMul(f->b, widen(f, r->d, old), widen(f, r->d, v), ""),
      now = LLVMBuildTrunc(f->b, p, r->t, "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntNE, p, widen(f, r->d, now), "");
  fl_ll_fault_at(f, r->op, r->place, bad, fl_ll_i32(g, FL_FAULT_OVERFLOW), r->d, old, v);
  fl_red_put(f, LLVMBuildZExtOrBitCast(f->b, now, g->i64, ""), r->lo);
}

static Val flags(FlFn *f, const char *how, Val state, Val v) {
  return fl_ll_intrinsic(f, how, f->g->i8, 2, (Val[]){state, LLVMBuildZExt(f->b, v, f->g->i8, "")});
}

/* One element, after its region was emitted. */
void fl_red_accumulate(FlFn *f, FlRed *r, Val pos) {
  FlGen *g = f->g;
  Val v = fl_ll_value(f, r->region->yields[r->first]);
  Val keep = r->keep ? fl_ll_value(f, r->keep) : NULL;
  Val state = r->lo ? low_of(f, r) : NULL;
  switch (r->kind) {
  case RED_INT_SUM: add_int(f, r, v, keep); break;
  case RED_INT_SUM_PRODUCT:
    add_int_product(f, r, v, fl_ll_value(f, r->region->yields[r->first + 1]), keep);
    break;
  case RED_INT_PRODUCT: multiply_int(f, r, v, keep); break;
  case RED_COUNT:
    if (keep) v = LLVMBuildAnd(f->b, v, keep, "");
    fl_red_put(f, LLVMBuildAdd(f->b, state, LLVMBuildZExt(f->b, v, g->i64, ""), ""), r->lo);
    break;
  case RED_ANY: /* as extremes: of flags that are joined by `or` vectors would be of single bits */
    if (keep) v = LLVMBuildAnd(f->b, v, keep, "");
    fl_red_put(f, flags(f, "llvm.umax", state, v), r->lo);
    break;
  case RED_ALL:
    if (keep) v = LLVMBuildOr(f->b, v, LLVMBuildNot(f->b, keep, ""), "");
    fl_red_put(f, flags(f, "llvm.umin", state, v), r->lo);
    break;
  case RED_MIN:
  case RED_MAX:
  case RED_ARGMIN:
  case RED_ARGMAX: fl_red_pick(f, r, v, pos, keep); break;
  case RED_EACH:
    fl_ll_store_output(f, r->output, r->d, v, fl_ll_gep(f, fl_ll_mem_type(g, r->d), r->data, pos));
    break;
  case RED_SUM:
  case RED_PRODUCT:
  case RED_SUM_PRODUCT: {
    Val pair[2];
    fl_red_lane_values(f, r, pair);
    fl_red_lane_add(f, r, r->lanes, LLVMBuildAnd(f->b, pos, fl_ll_i64(g, FL_LANES - 1), ""), pair);
    break;
  }
  }
}

void fl_red_lane_count(FlFn *f, const FlRed *r, Val lane, Val pos) {
  FlRed one = *r;
  one.lo = fl_ll_gep(f, f->g->i64, r->lo_lanes, lane);
  one.hi = fl_ll_gep(f, f->g->i64, r->hi_lanes, lane);
  fl_red_accumulate(f, &one, pos);
}

void fl_red_join_counts(FlFn *f, FlRed *r) {
  const Val lanes[] = {r->hi_lanes, r->lo_lanes}, to[] = {r->hi, r->lo};
  for (int i = 0; i < 2; i++) {
    Val v = all_lanes(f, f->g->i64, lanes[i]);
    for (int half = FL_LANES / 2; half >= 1; half /= 2)
      v = LLVMBuildAdd(f->b, lanes_from(f, v, 0, half), lanes_from(f, v, half, half), "");
    v = LLVMBuildExtractElement(f->b, v, fl_ll_i32(f->g, 0), "");
    fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, f->g->i64, to[i]), v, ""), to[i]);
  }
}

/* ---- results --------------------------------------------------------------------------------------- */

/* An exact sum as the result's type, checked. */
static Val checked_sum(FlFn *f, const FlRed *r, Val sum) {
  FlDtype d = (FlDtype)r->result->type.dtype;
  Val v = LLVMBuildTrunc(f->b, sum, fl_ll_type(f->g, r->result->type), "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntNE, widen(f, d, v), sum, "");
  fl_ll_fault_at(f, r->op, r->place, bad, fl_ll_i32(f->g, FL_FAULT_OVERFLOW), d, NULL, NULL);
  return v;
}

/* hi * 2^32 + lo; what a sum of 64-bit integers keeps in hi and lo has no sign bit in lo. */
static Val two_words(FlFn *f, const FlRed *r, Val hi, Val lo) {
  FlGen *g = f->g;
  Val high = widen(f, r->d == FL_U64 ? FL_U64 : FL_I64, hi);
  Val low = widen(f, fl_ll_size(r->d) == 8 ? FL_U64 : FL_I64, lo);
  return LLVMBuildAdd(f->b, LLVMBuildShl(f->b, high, LLVMConstInt(g->i128, 32, false), ""), low, "");
}

/* The result from the state in the allocas (lanes: from `total`). */
Val fl_red_finish(FlFn *f, const FlRed *r) {
  FlGen *g = f->g;
  if (fl_red_picks(r)) {
    Val at = fl_red_get(f, g->i64, r->at);
    bool some = r->op->attrs.i & FL_REDUCE_SOME;
    Val none = LLVMBuildICmp(f->b, LLVMIntSLT, at, fl_ll_i64(g, 0), "");
    if (!some) fl_ll_fault_at(f, r->op, r->place, none, fl_ll_i32(g, FL_FAULT_EMPTY), FL_I64, NULL, NULL);
    return fl_red_is_arg(r) ? at : fl_red_get(f, r->t, r->best);
  }
  if (fl_red_sums(r)) return fl_red_get(f, r->t, r->total);
  if (r->kind == RED_INT_SUM_PRODUCT) return checked_sum(f, r, fl_red_get(f, g->i128, r->wide));
  Val lo = low_of(f, r);
  if (r->kind == RED_INT_SUM) return checked_sum(f, r, two_words(f, r, fl_red_get(f, g->i64, r->hi), lo));
  if (r->kind == RED_ANY || r->kind == RED_ALL) return LLVMBuildTrunc(f->b, lo, g->i1, "");
  Ty t = fl_ll_type(g, r->result->type);
  return t == g->i64 ? lo : LLVMBuildTrunc(f->b, lo, t, "");
}

/* Most sweeps have one block: only a further one is joined, by a call. */
void fl_red_join_total(FlFn *f, FlRed *r, Val index, Val block) {
  FlGen *g = f->g;
  bool wide = r->t == g->f64;
  const char *name = r->kind == RED_PRODUCT ? wide ? "fl_fold_product_f64" : "fl_fold_product_f32"
                     : wide                 ? "fl_fold_sum_f64"
                                            : "fl_fold_sum_f32";
  if (!r->levels) r->levels = fl_ll_alloca_n(f, r->t, FL_FOLD_LEVELS, "levels");
  Block further = fl_ll_block(f, "further"), on = fl_ll_block(f, "on"), from[2] = {fl_ll_here(f), NULL};
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, index, fl_ll_i64(g, 0), ""), on, further);
  fl_ll_at(f, further);
  Val args[] = {r->levels, index, fl_red_get(f, r->t, r->total), block};
  Val both[] = {block, fl_ll_call(f, name, r->t, 4, (Ty[]){g->ptr, g->i64, r->t, r->t}, args)};
  from[1] = fl_ll_here(f);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
  Val total = LLVMBuildPhi(f->b, r->t, "");
  LLVMAddIncoming(total, both, from, 2);
  fl_red_put(f, total, r->total);
}

void fl_red_store(FlFn *f, const FlRed *r, Val at, Val sum) {
  FlGen *g = f->g;
  if (r->kind == RED_EACH) return;
  if (fl_red_sums(r)) {
    fl_red_put(f, sum, at);
  } else if (r->kind == RED_INT_SUM_PRODUCT) {
    fl_red_put(f, fl_red_get(f, g->i128, r->wide), at);
  } else if (fl_red_picks(r)) {
    fl_red_put(f, fl_red_get(f, r->t, r->best), at);
    fl_red_put(f, fl_red_get(f, g->i64, r->at), fl_ll_at_byte(f, at, 16));
  } else {
    fl_red_put(f, fl_red_get(f, g->i64, r->hi), at);
    fl_red_put(f, LLVMBuildZExtOrBitCast(f->b, low_of(f, r), g->i64, ""), fl_ll_at_byte(f, at, 8));
  }
}

/* Host code: joins the partial state at p, of block number `index`, to the state so far. */
void fl_red_join(FlFn *f, FlRed *r, Val index, Val p) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  if (r->kind == RED_EACH) return;
  if (fl_red_sums(r)) {
    fl_red_join_total(f, r, index, fl_red_get(f, r->t, p));
    return;
  }
  if (fl_red_picks(r)) {
    Val at = fl_red_get(f, g->i64, fl_ll_at_byte(f, p, 16));
    fl_red_pick(f, r, fl_red_get(f, r->t, p), at, LLVMBuildICmp(f->b, LLVMIntSGE, at, zero, ""));
    return;
  }
  if (r->kind == RED_INT_SUM_PRODUCT) {
    fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, g->i128, r->wide), fl_red_get(f, g->i128, p), ""),
               r->wide);
    return;
  }
  Val hi = fl_red_get(f, g->i64, p), lo = fl_red_get(f, g->i64, fl_ll_at_byte(f, p, 8)), old = low_of(f, r);
  lo = LLVMBuildTruncOrBitCast(f->b, lo, LLVMTypeOf(old), "");
  Val now = r->kind == RED_ANY   ? LLVMBuildOr(f->b, old, lo, "")
            : r->kind == RED_ALL ? LLVMBuildAnd(f->b, old, lo, "")
                                 : LLVMBuildAdd(f->b, old, lo, "");
  if (r->kind == RED_INT_SUM && fl_ll_size(r->d) == 8) {
    /* Carry what the low words gather beyond 32 bits, so that neither word can overflow. */
    hi = LLVMBuildAdd(f->b, hi, LLVMBuildLShr(f->b, now, fl_ll_i64(g, 32), ""), "");
    now = LLVMBuildAnd(f->b, now, fl_ll_i64(g, 0xffffffff), "");
  }
  fl_red_put(f, LLVMBuildAdd(f->b, fl_red_get(f, g->i64, r->hi), hi, ""), r->hi);
  fl_red_put(f, now, r->lo);
}
