/* llvm_reduce.c: reductions, in the order that the language fixes.
 *
 * Float sums and products: blocks of 4096 positions; in a block position p goes to lane p mod 32; the lanes,
 * which start at 0 (product: 1), are joined by a butterfly; block results by the tree of folds (abi.h). A
 * position that a filter drops keeps its place and adds the identity (-0 for a sum, whose addition changes no
 * bit). Integer sums are exact (128 bits) and checked once. Minimum and maximum take the first of equals; a
 * NaN wins.
 *
 * Three ways to run: `blocks` in a kernel of its own, one partial state a block, joined by host code;
 * `nested` in the middle of an element, as plain loops; the same in host code when the region is not a
 * kernel. */
#include "codegen/llvm_reduce.h"

static FlRedKind kind_of(FlReduceKind kind, FlDtype d) {
  bool real = fl_dtype_is_float(d);
  switch (kind) {
  case FL_RED_SUM: return real ? RED_SUM : RED_INT_SUM;
  case FL_RED_PRODUCT: return real ? RED_PRODUCT : RED_INT_PRODUCT;
  case FL_RED_SUM_PRODUCT: return real ? RED_SUM_PRODUCT : RED_INT_SUM_PRODUCT;
  case FL_RED_ANY: return RED_ANY;
  case FL_RED_ALL: return RED_ALL;
  case FL_RED_COUNT: return RED_COUNT;
  case FL_RED_MIN: return RED_MIN;
  case FL_RED_MAX: return RED_MAX;
  case FL_RED_ARGMIN: return RED_ARGMIN;
  case FL_RED_ARGMAX: return RED_ARGMAX;
  case FL_RED_EACH: return RED_EACH;
  }
  return RED_SUM;
}

FlRed fl_red_of(FlFn *f, const FlOp *op, int i) {
  const FlRegion *region = op->regions[0];
  FlReduction how = fl_ir_reduction(op, i);
  const FlValue *v = region->yields[how.first];
  FlDtype d = (FlDtype)v->type.dtype;
  return (FlRed){.op = op,
                 .place = fl_ir_place(op, i),
                 .region = region,
                 .kind = kind_of(how.kind, d),
                 .d = d,
                 .t = fl_ll_type(f->g, v->type),
                 .first = how.first,
                 .result = op->results[i],
                 .keep = how.keep >= 0 ? region->yields[how.keep] : NULL};
}

static FlSweep sweep_of(FlFn *f, const FlOp *op) {
  const FlRegion *region = op->regions[0];
  int n = op->n_results;
  FlSweep s = {.op = op, .region = region, .n = n, .at = FL_NEW_ARRAY(f->g->arena, FlRed, n)};
  for (int i = 0; i < n; i++) {
    s.at[i] = fl_red_of(f, op, i);
    s.sums |= fl_red_sums(&s.at[i]);
    s.picks |= fl_red_picks_by_lane(&s.at[i]);
  }
  return s;
}

/* ---- blocks of lanes ---------------------------------------------------------------------- */

/* Where values come from: the region inside an element, the same of which there are many, the region of a
 * kernel, buffers. Sums inside elements are often short, so that the rest after whole groups of lanes is
 * worth vectors, and joining lanes of picks is not worth its time, unless there are many; of a kernel only
 * the last block has a rest. */
typedef enum LaneSource { LANES_NESTED, LANES_MANY, LANES_BLOCK, LANES_BUFFER } LaneSource;

/* A value that an element has in a buffer. What is filtered has none, unless it is summed. */
static bool has_buffer(const FlFn *f, const FlRed *r) {
  return fl_red_sums(r) || (!f->plain && fl_red_picks_by_lane(r) && !r->keep);
}

static bool picks_here(const FlRed *r, LaneSource source) {
  return (source == LANES_BLOCK || source == LANES_MANY) && fl_red_picks_by_lane(r);
}

/* Of a kernel: else each 32 elements would be added up to one number, which takes longer than adding them. */
static bool counts_here(const FlRed *r, LaneSource source) {
  return source == LANES_BLOCK && fl_red_counts(r);
}

static void lane_pick(FlFn *f, const FlRed *r, Val i, Val lane, bool rest) {
  Val v = fl_ll_value(f, r->region->yields[r->first]), keep = r->keep ? fl_ll_value(f, r->keep) : NULL;
  if (rest) fl_red_pick(f, r, v, i, keep);
  else fl_red_lane_pick(f, r, lane, v, i, keep);
}

/* Position i of a block, on `lane`: from the region, or from buffers that were filled before. */
static void lane_element(FlFn *f, FlSweep *s, LaneSource source, Val i, Val lane, bool rest) {
  bool buffered = source == LANES_BUFFER;
  if (!buffered) {
    fl_ll_set(f, s->region->params[0], i);
    fl_ll_region(f, s->region);
    if (source == LANES_BLOCK) fl_ll_keep_yields(f);
  }
  for (int k = 0; k < s->n; k++) {
    FlRed *r = &s->at[k];
    Val v[2] = {NULL, NULL};
    if (picks_here(r, source)) {
      lane_pick(f, r, i, lane, rest);
      continue;
    }
    if (!fl_red_sums(r)) {
      if (counts_here(r, source) && !rest) fl_red_lane_count(f, r, lane, i);
      else if (!buffered) fl_red_accumulate(f, r, i);
      continue;
    }
    if (buffered) {
      v[0] = fl_red_get(f, r->t, fl_ll_gep(f, r->t, r->buffers[0], i));
      if (r->kind == RED_SUM_PRODUCT) v[1] = fl_red_get(f, r->t, fl_ll_gep(f, r->t, r->buffers[1], i));
    } else {
      fl_red_lane_values(f, r, v);
    }
    fl_red_lane_add(f, r, rest ? r->rest : r->lanes, lane, v);
  }
}

/* ---- short rests --------------------------------------------------------------------------- */

enum { REST_LANES = 8 };

typedef struct Terms { /* what a sum adds; of products both factors */
  Val at[2];
} Terms;

/* Can the rest of a sum within an element be added by masked vectors? Only sums, of cheap terms. */
static bool rest_by_masks(FlFn *f, const FlSweep *s) {
  for (int k = 0; k < s->n; k++)
    if (!fl_red_sums(&s->at[k])) return false;
  return !f->quick && fl_map_get(f->g->plan->cheap, s->op);
}

/* The last `n` < 32 positions, from `base` on, onto the lanes: 8 lanes at a time as far as there are
 * positions. What lies behind the last one adds the identity. The lanes are only indexed by constants once
 * the loops are unrolled, so they stay in registers. */
static void masked_rest(FlFn *f, FlSweep *s, Val base, Val n) {
  FlGen *g = f->g;
  Block end = fl_ll_block(f, "rest.done");
  for (int c = 0; c < FL_LANES; c += REST_LANES) {
    Block some = fl_ll_block(f, "rest.some");
    LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, n, fl_ll_i64(g, c), ""), some, end);
    fl_ll_at(f, some);
    FlLoop lane;
    fl_ll_loop_open(f, &lane, fl_ll_i64(g, c), fl_ll_i64(g, c + REST_LANES), 0, NULL);
    lane.masked = false;
    Block in = fl_ll_block(f, "rest.in"), out = fl_ll_block(f, "rest.out"), before = fl_ll_here(f);
    LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, lane.i, n, ""), in, out);
    fl_ll_at(f, in);
    fl_ll_set(f, s->region->params[0], LLVMBuildNSWAdd(f->b, base, lane.i, ""));
    fl_ll_region(f, s->region);
    Terms *v = FL_NEW_ARRAY(g->arena, Terms, s->n);
    for (int k = 0; k < s->n; k++) fl_red_lane_values(f, &s->at[k], v[k].at);
    Block inside = fl_ll_here(f);
    LLVMBuildBr(f->b, out);
    fl_ll_at(f, out);
    for (int k = 0; k < s->n; k++) {
      const FlRed *r = &s->at[k];
      for (int i = 0; i < 2 && v[k].at[i]; i++) {
        Val none = fl_red_identity(r, i), phi = LLVMBuildPhi(f->b, r->t, "");
        LLVMAddIncoming(phi, &v[k].at[i], &inside, 1);
        LLVMAddIncoming(phi, &none, &before, 1);
        v[k].at[i] = phi;
      }
    }
    for (int k = 0; k < s->n; k++) fl_red_lane_add(f, &s->at[k], s->at[k].lanes, lane.i, v[k].at);
    fl_ll_loop_close(f, &lane, NULL, true);
  }
  LLVMBuildBr(f->b, end);
  fl_ll_at(f, end);
}

/* Texts that an element made die, but for the best ones so far. */
static void leave_element(FlFn *f, FlSweep *s) {
  if (!s->mark) return;
  Val *best = FL_NEW_ARRAY(f->g->arena, Val, s->n + 1);
  FlType1 *types = FL_NEW_ARRAY(f->g->arena, FlType1, s->n + 1);
  for (int k = 0; k < s->n; k++) {
    const FlRed *r = &s->at[k];
    bool is_text = fl_red_picks(r) && fl_dtype_is_text(r->d);
    types[k] = fl_t_scalar(is_text ? FL_TEXT : FL_I64);
    best[k] = is_text ? fl_red_get(f, r->t, r->best) : NULL;
  }
  fl_ll_texts_leave(f, s->mark, (unsigned)s->n, types, best);
  for (int k = 0; k < s->n; k++)
    if (best[k]) fl_red_put(f, best[k], s->at[k].best);
}

/* A block in code that is not optimised: position by position, as nothing stays in registers there. */
static void plain_block(FlFn *f, FlSweep *s, LaneSource source, Val lo, Val hi, Val *sums) {
  FlGen *g = f->g;
  for (int k = 0; k < s->n; k++) {
    if (!fl_red_sums(&s->at[k])) continue;
    fl_red_clear_lanes(f, &s->at[k]);
    s->at[k].rest = s->at[k].lanes;
  }
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), LLVMBuildNSWSub(f->b, hi, lo, ""), 0, NULL);
  Val lane = LLVMBuildAnd(f->b, l.i, fl_ll_i64(g, FL_LANES - 1), "");
  lane_element(f, s, source, LLVMBuildNSWAdd(f->b, lo, l.i, ""), lane, true);
  if (source != LANES_BUFFER) leave_element(f, s);
  fl_ll_loop_close(f, &l, NULL, false);
  for (int k = 0; k < s->n; k++)
    if (fl_red_sums(&s->at[k])) sums[k] = fl_red_butterfly(f, &s->at[k], s->at[k].lanes);
}

/* One block: positions [lo, hi), lo on lane 0. Whole groups of 32 with the lanes in registers, then the rest.
 * The block's results go to `sums`, by reduction. */
static void lane_block(FlFn *f, FlSweep *s, LaneSource source, Val lo, Val hi, Val *sums) {
  if (f->plain) {
    plain_block(f, s, source, lo, hi, sums);
    return;
  }
  FlGen *g = f->g;
  Val size = LLVMBuildNSWSub(f->b, hi, lo, ""), lanes_n = fl_ll_i64(g, FL_LANES), zero = fl_ll_i64(g, 0);
  Val groups = LLVMBuildLShr(f->b, size, fl_ll_i64(g, 5), "");
  Val whole = LLVMBuildShl(f->b, groups, fl_ll_i64(g, 5), "");
  for (int k = 0; k < s->n; k++)
    if (fl_red_sums(&s->at[k]) || picks_here(&s->at[k], source) || counts_here(&s->at[k], source))
      fl_red_clear_lanes(f, &s->at[k]);
  FlTiles *tiles = source == LANES_BLOCK ? fl_ll_tiles_make(f, f->kernel) : NULL;
  FlLoop group, lane, tail;
  fl_ll_loop_open(f, &group, zero, groups, 0, NULL);
  Val base = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, group.i, lanes_n, ""), "");
  if (tiles) fl_ll_tiles_draw(f, tiles, base, FL_LANES);
  fl_ll_loop_open(f, &lane, zero, lanes_n, 0, NULL);
  lane_element(f, s, source, LLVMBuildNSWAdd(f->b, base, lane.i, ""), lane.i, false);
  if (source != LANES_BUFFER) leave_element(f, s);
  if (source != LANES_BUFFER) lane.interleave = fl_ll_in_flight(f, s->region);
  fl_ll_loop_close(f, &lane, NULL, true);
  fl_ll_loop_close(f, &group, NULL, true);
  if (source == LANES_NESTED && rest_by_masks(f, s)) {
    masked_rest(f, s, LLVMBuildNSWAdd(f->b, lo, whole, ""), LLVMBuildNSWSub(f->b, size, whole, ""));
    for (int k = 0; k < s->n; k++) sums[k] = fl_red_butterfly(f, &s->at[k], s->at[k].lanes);
    return;
  }
  /* A second copy, so that the first is never indexed by a variable and stays in registers. */
  for (int k = 0; k < s->n; k++) {
    FlRed *r = &s->at[k];
    if (picks_here(r, source)) fl_red_join_picks(f, r);
    if (counts_here(r, source)) fl_red_join_counts(f, r);
    if (!fl_red_sums(r)) continue;
    if (!r->rest) r->rest = fl_ll_alloca_n(f, r->t, FL_LANES, "rest");
    Val all = fl_red_get(f, LLVMVectorType(r->t, FL_LANES), r->lanes);
    LLVMSetAlignment(all, FL_ALIGN);
    LLVMSetAlignment(LLVMBuildStore(f->b, all, r->rest), FL_ALIGN);
  }
  if (tiles) fl_ll_tiles_draw(f, tiles, LLVMBuildNSWAdd(f->b, lo, whole, ""), FL_LANES);
  bool quick = f->quick;
  f->quick |= source == LANES_BLOCK; /* of a kernel only the last block has a rest: calls will do */
  fl_ll_loop_open(f, &tail, zero, LLVMBuildNSWSub(f->b, size, whole, ""), 0, NULL);
  Val i = LLVMBuildNSWAdd(f->b, LLVMBuildNSWAdd(f->b, lo, whole, ""), tail.i, "");
  lane_element(f, s, source, i, tail.i, true);
  if (source != LANES_BUFFER) leave_element(f, s);
  fl_ll_loop_close(f, &tail, NULL, source == LANES_NESTED);
  f->quick = quick;
  f->tiles = NULL;
  for (int k = 0; k < s->n; k++)
    if (fl_red_sums(&s->at[k])) sums[k] = fl_red_butterfly(f, &s->at[k], s->at[k].rest);
}

/* ---- nested ------------------------------------------------------------------------------- */

static void begin_sweep(FlFn *f, FlSweep *s) {
  for (int k = 0; k < s->n; k++) {
    FlRed *r = &s->at[k];
    fl_red_clear(f, r);
    if (!fl_red_sums(r)) continue;
    r->total = fl_ll_alloca(f, r->t, "total");
    fl_red_put(f, fl_red_start(r), r->total);
    fl_red_clear_lanes(f, r);
  }
}

static void end_sweep(FlFn *f, FlSweep *s) {
  for (int k = 0; k < s->n; k++)
    if (s->at[k].kind != RED_EACH) fl_ll_set(f, s->at[k].result, fl_red_finish(f, &s->at[k]));
}

/* One axis: block by block. */
static void nested_lanes(FlFn *f, FlSweep *s, Val n) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0), block = fl_ll_i64(g, FL_BLOCK);
  Val *sums = FL_NEW_ARRAY(g->arena, Val, s->n);
  Val up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, LLVMBuildAShr(f->b, up, fl_ll_i64(g, FL_BLOCK_SHIFT), ""), 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, n, ""), hi, n, "");
  lane_block(f, s, LANES_NESTED, lo, hi, sums);
  for (int k = 0; k < s->n; k++)
    if (fl_red_sums(&s->at[k])) fl_red_join_total(f, &s->at[k], l.i, sums[k]);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Adds the lanes of the block that `pos` is in to the totals when `when` holds. */
static void flush_lanes(FlFn *f, FlSweep *s, Val pos, Val when) {
  Block full = fl_ll_block(f, "full"), on = fl_ll_block(f, "on");
  LLVMBuildCondBr(f->b, when, full, on);
  fl_ll_at(f, full);
  for (int k = 0; k < s->n; k++) {
    FlRed *r = &s->at[k];
    if (!fl_red_sums(r)) continue;
    fl_red_join_total(f, r, LLVMBuildLShr(f->b, pos, fl_ll_i64(f->g, FL_BLOCK_SHIFT), ""),
                      fl_red_butterfly(f, r, r->lanes));
    fl_red_clear_lanes(f, r);
  }
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* Any number of axes, in any form: one position after the other. */
static void nested_plain(FlFn *f, FlSweep *s, int axis, Val pos_at) {
  FlGen *g = f->g;
  const FlOp *op = s->op;
  Val zero = fl_ll_i64(g, 0), last = fl_ll_i64(g, FL_BLOCK - 1);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, fl_ll_bound(f, zero, fl_ll_value(f, op->args[axis])), 0, NULL);
  fl_ll_set(f, s->region->params[axis], l.i);
  if (axis + 1 < op->n_args) {
    nested_plain(f, s, axis + 1, pos_at);
  } else {
    fl_ll_element_region(f, s->region);
    Val pos = fl_red_get(f, g->i64, pos_at);
    for (int k = 0; k < s->n; k++) fl_red_accumulate(f, &s->at[k], pos);
    if (s->sums)
      flush_lanes(f, s, pos, LLVMBuildICmp(f->b, LLVMIntEQ, LLVMBuildAnd(f->b, pos, last, ""), last, ""));
    fl_red_put(f, LLVMBuildNSWAdd(f->b, pos, fl_ll_i64(g, 1), ""), pos_at);
    leave_element(f, s);
  }
  fl_ll_loop_close(f, &l, NULL, f->form == FL_FORM_FAST);
}

/* The best of `n`, some thousand at a time, which are in a cache when they are looked through again. */
static void ranges(FlFn *f, FlSweep *s, Val n) {
  FlGen *g = f->g;
  Val block = fl_ll_i64(g, FL_BLOCK), up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), LLVMBuildAShr(f->b, up, fl_ll_i64(g, FL_BLOCK_SHIFT), ""), 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, n, ""), hi, n, "");
  for (int k = 0; k < s->n; k++) fl_red_pick_range(f, s, &s->at[k], false, lo, hi);
  fl_ll_loop_close(f, &l, NULL, false);
}

/* Picks without sums over one axis: by lanes where there are so many that joining them is worth its time. */
static void nested_picks(FlFn *f, FlSweep *s) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0), n = fl_ll_bound(f, zero, fl_ll_value(f, s->op->args[0]));
  Val pos_at = fl_ll_alloca(f, g->i64, "pos");
  Block many = fl_ll_block(f, "many"), few = fl_ll_block(f, "few"), on = fl_ll_block(f, "on");
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSGE, n, fl_ll_i64(g, 2 * FL_LANES), ""), many, few);
  fl_ll_at(f, many);
  if (fl_red_picks_again(f, s)) ranges(f, s, n);
  else lane_block(f, s, LANES_MANY, zero, n, NULL);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, few);
  fl_red_put(f, zero, pos_at);
  nested_plain(f, s, 0, pos_at);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* Has the region loops of its own? It is not emitted twice then. */
static bool has_loops(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if (op->n_regions) return true;
  return false;
}

void fl_ll_reduce_nested(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  FlSweep s = sweep_of(f, op);
  Val zero = fl_ll_i64(g, 0);
  int64_t fixed;
  bool short_one = fl_ir_const_value_i(op->args[0], &fixed) && fixed < 2 * FL_LANES;
  begin_sweep(f, &s);
  s.mark = fl_ll_texts_mark(f, s.region);
  if (s.sums && op->n_args == 1 && f->form == FL_FORM_FAST) {
    nested_lanes(f, &s, fl_ll_bound(f, zero, fl_ll_value(f, op->args[0])));
  } else if (s.picks && op->n_args == 1 && f->form == FL_FORM_FAST && !f->plain && !short_one &&
             !has_loops(op->regions[0])) {
    nested_picks(f, &s);
  } else if (op->n_args == 1 && fl_red_ends_early(f, &s)) {
    fl_red_flags(f, &s, zero, fl_ll_bound(f, zero, fl_ll_value(f, op->args[0])));
  } else {
    Val pos_at = fl_ll_alloca(f, g->i64, "pos");
    fl_red_put(f, zero, pos_at);
    nested_plain(f, &s, 0, pos_at);
    if (s.sums) {
      Val n = fl_red_get(f, g->i64, pos_at), part = LLVMBuildAnd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
      flush_lanes(f, &s, n, LLVMBuildICmp(f->b, LLVMIntNE, part, zero, ""));
    }
  }
  end_sweep(f, &s);
}

/* ---- blocks in a kernel ------------------------------------------------------------------- */

typedef struct Fill {
  FlSweep *s;
  Val base;
} Fill;

/* Element of a block of several axes: lane values go to the buffers, the rest is accumulated. */
static void fill_buffers(FlFn *f, const FlPlanKernel *k, Val pos, void *arg) {
  (void)k;
  Fill *fill = arg;
  Val at = LLVMBuildNSWSub(f->b, pos, fill->base, "");
  for (int i = 0; i < fill->s->n; i++) {
    FlRed *r = &fill->s->at[i];
    Val v[2];
    if (!has_buffer(f, r)) {
      fl_red_accumulate(f, r, pos);
      continue;
    }
    fl_red_lane_values(f, r, v);
    fl_red_put(f, v[0], fl_ll_gep(f, r->t, r->buffers[0], at));
    if (v[1]) fl_red_put(f, v[1], fl_ll_gep(f, r->t, r->buffers[1], at));
  }
}

static void make_buffers(FlFn *f, FlSweep *s) {
  for (int k = 0; k < s->n; k++) {
    FlRed *r = &s->at[k];
    if (!has_buffer(f, r)) continue;
    r->buffers[0] = fl_ll_alloca_n(f, r->t, FL_BLOCK, "values");
    if (r->kind == RED_SUM_PRODUCT) r->buffers[1] = fl_ll_alloca_n(f, r->t, FL_BLOCK, "factors");
  }
}

/* Output 0 of the kernel are the partials; the others are what `each` gives, in order. */
static int give_places(FlSweep *s, const Val *outputs) {
  int n = 1;
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].kind != RED_EACH) continue;
    s->at[i].output = n;
    s->at[i].data = outputs[n++];
  }
  return n;
}

/* Kernel body: the states of each block of [begin, end) go to its place among the partials. */
static void block_body(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes,
                       const Val *outputs) {
  FlGen *g = f->g;
  FlSweep s = sweep_of(f, k->op);
  Val *sums = FL_NEW_ARRAY(g->arena, Val, s.n);
  give_places(&s, outputs);
  Val shift = fl_ll_i64(g, FL_BLOCK_SHIFT), block = fl_ll_i64(g, FL_BLOCK), zero = fl_ll_i64(g, 0);
  Val last = LLVMBuildLShr(f->b, LLVMBuildNSWAdd(f->b, end, fl_ll_i64(g, FL_BLOCK - 1), ""), shift, "");
  FlLoop l;
  fl_ll_loop_open(f, &l, LLVMBuildLShr(f->b, begin, shift, ""), last, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, end, ""), hi, end, "");
  Val bytes = fl_ll_i64(g, s.n * FL_PARTIAL_BYTES);
  Val partial = fl_ll_gep(f, g->i8, outputs[0], LLVMBuildNSWMul(f->b, l.i, bytes, ""));
  for (int i = 0; i < s.n; i++) fl_red_clear(f, &s.at[i]);
  Fill fill = {&s, lo};
  s.base = lo;
  s.mark = f->scratch_mark;
  if (k->op->n_args == 1 && fl_red_picks_again(f, &s)) {
    for (int i = 0; i < s.n; i++) fl_red_pick_range(f, &s, &s.at[i], false, lo, hi);
  } else if (k->op->n_args == 1 && fl_red_ends_early(f, &s)) {
    fl_red_flags(f, &s, lo, hi);
  } else if ((s.sums || s.picks) && k->op->n_args == 1) {
    lane_block(f, &s, LANES_BLOCK, lo, hi, sums);
  } else {
    make_buffers(f, &s);
    fl_ll_elements(f, k, lo, hi, sizes, fill_buffers, &fill, true);
    Val size = LLVMBuildNSWSub(f->b, hi, lo, "");
    bool buffered = false;
    for (int i = 0; i < s.n; i++) {
      if (!has_buffer(f, &s.at[i])) continue;
      if (fl_red_sums(&s.at[i])) buffered = true;
      else fl_red_pick_range(f, &s, &s.at[i], true, zero, size);
    }
    if (buffered) lane_block(f, &s, LANES_BUFFER, zero, size, sums);
  }
  for (int i = 0; i < s.n; i++)
    fl_red_store(f, &s.at[i], fl_ll_at_byte(f, partial, (int64_t)i * FL_PARTIAL_BYTES), sums[i]);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* A text that is the result outlives the arrays it was read from, and the heap of the elements' texts. */
static void drop_heap(FlFn *f, const FlSweep *s, Val heap) {
  for (int k = 0; k < s->n; k++) {
    const FlRed *r = &s->at[k];
    if (fl_red_picks(r) && !fl_red_is_arg(r) && fl_dtype_is_text(r->d))
      fl_red_put(f, fl_ll_text_to_stack(f, fl_red_get(f, r->t, r->best)), r->best);
  }
  if (heap) fl_ll_call(f, "fl_heap_unref", f->g->none, 1, &f->g->ptr, &heap);
}

/* The arrays that `each` gives, from outputs[1] on. */
static void new_arrays(FlFn *f, const FlPlanKernel *k, Val *outputs) {
  const FlOp *op = k->op;
  Val *sizes = FL_NEW_ARRAY(f->g->arena, Val, op->n_args);
  int n = 1;
  for (int i = 0; i < op->n_args; i++) sizes[i] = fl_ll_value(f, op->args[i]);
  for (int i = 0; i < op->n_results; i++) {
    if (fl_t_is_scalar(op->results[i]->type)) continue;
    Val a = fl_ll_map_result(f, k, i, sizes);
    fl_ll_own(f, op->results[i], a);
    outputs[n++] = a;
  }
}

/* The states of blocks that a kernel has made, or will have by the end of its strips. */
struct FlJoin {
  const FlOp *op;
  FlSweep sweep;
  Val status, buffer, place, partials, blocks, heap;
};

static void join_blocks(FlFn *f, FlJoin *j) {
  FlGen *g = f->g;
  FlSweep *s = &j->sweep;
  begin_sweep(f, s);
  Val fine = LLVMBuildICmp(f->b, LLVMIntEQ, j->status, fl_ll_i32(g, 0), ""), zero = fl_ll_i64(g, 0);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, LLVMBuildSelect(f->b, fine, j->blocks, zero, ""), 0, NULL);
  Val bytes = fl_ll_i64(g, s->n * FL_PARTIAL_BYTES);
  Val p = fl_ll_gep(f, g->i8, j->partials, LLVMBuildNSWMul(f->b, l.i, bytes, ""));
  for (int i = 0; i < s->n; i++)
    fl_red_join(f, &s->at[i], l.i, fl_ll_at_byte(f, p, (int64_t)i * FL_PARTIAL_BYTES));
  fl_ll_loop_close(f, &l, NULL, false);
  fl_ll_unref(f, j->buffer);
  LLVMBuildStore(f->b, fl_ll_null(g), j->place);
  drop_heap(f, s, j->heap);
  fl_ll_check_status(f, j->status);
  for (int i = 0; i < j->op->n_results; i++)
    if (!fl_t_is_scalar(j->op->results[i]->type)) fl_ll_view(f, j->op->results[i]); /* as of a map's */
  end_sweep(f, s);
}

void fl_ll_reduce_host(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  const FlPlanStep *step = fl_plan_step(g->plan, op);
  const FlPlanKernel *k = step->kernel;
  if (!k) {
    fl_ll_reduce_nested(f, op);
    return;
  }
  FlJoin *j = FL_NEW(g->arena, FlJoin);
  *j = (FlJoin){.op = op, .sweep = sweep_of(f, op)};
  Val *outputs = FL_NEW_ARRAY(g->arena, Val, j->sweep.n + 1);
  new_arrays(f, k, outputs);
  Val n = fl_ll_total(f, op);
  j->blocks = LLVMBuildAShr(f->b, LLVMBuildAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), ""),
                            fl_ll_i64(g, FL_BLOCK_SHIFT), "");
  j->place = fl_ll_scratch(f);
  int64_t slots_each = j->sweep.n * FL_PARTIAL_BYTES / (int)sizeof(FlSlot);
  Val slots = LLVMBuildMul(f->b, j->blocks, fl_ll_i64(g, slots_each), "");
  j->buffer = fl_ll_new_array(f, FL_TEXT, 1, &slots);
  LLVMBuildStore(f->b, j->buffer, j->place);
  j->partials = outputs[0] = fl_ll_array_data(f, j->buffer);
  j->heap = k->makes_texts ? fl_ll_call(f, "fl_heap_new", g->ptr, 1, &g->ptr, &f->ctx) : NULL;
  j->status = fl_ll_kernel_run(f, k, block_body, outputs, j->heap, n);
  if (!step->strips) {
    join_blocks(f, j);
    return;
  }
  fl_ll_check_status(f, j->status);
  j->status = fl_ll_i32(g, 0);
  fl_vec_push(g->arena, &f->joins, j);
}

void fl_ll_reduce_joins(FlFn *f) {
  const FlOp *around = f->op;
  for (int i = 0; i < f->joins.n; i++) {
    f->op = f->joins.at[i]->op;
    join_blocks(f, f->joins.at[i]);
  }
  f->op = around;
  f->joins.n = 0;
}
