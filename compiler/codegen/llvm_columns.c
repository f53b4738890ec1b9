/* llvm_columns.c: sums along columns: a MAP over columns j whose elements are sums over i of what stands at
 * [.., i, .., j], swept row by row.
 *
 * Element by element each sum would step through memory by whole rows. Here a tile of columns keeps 32 lanes
 * a column, and the rows pass by once, read as they lie. What always holds: each column's sum is that of
 * llvm_reduce.c, block by block and lane by lane. Which MAPs are swept so says the plan. */
#include "codegen/llvm_reduce.h"

enum { TILE = 64 }; /* columns at once */

/* ---- how ------------------------------------------------------------------------------------------- */

typedef struct Columns {
  const FlPlanKernel *k;
  const FlOp *reduce;
  int n;
  FlRed *at; /* lanes: [32][TILE], total: [TILE], levels of it */
  FlElementBody *each;
  void *arg;
} Columns;

static FlRed state_of(FlFn *f, const FlOp *reduce, int index) {
  FlReduction how = fl_ir_reduction(reduce, index);
  const FlRegion *r = reduce->regions[0];
  const FlValue *v = r->yields[how.first];
  FlRed s = {.op = reduce,
             .region = r,
             .kind = how.kind == FL_RED_SUM ? RED_SUM : RED_SUM_PRODUCT,
             .d = (FlDtype)v->type.dtype,
             .t = fl_ll_type(f->g, v->type),
             .first = how.first,
             .result = reduce->results[index]};
  s.lanes = fl_ll_alloca_n(f, s.t, FL_LANES * TILE, "lanes");
  s.total = fl_ll_alloca_n(f, s.t, TILE, "totals");
  s.levels = fl_ll_alloca_n(f, s.t, FL_FOLD_LEVELS * TILE, "levels");
  return s;
}

static void clear(FlFn *f, const FlRed *r, Val at, int n) {
  Val bytes = fl_ll_i64(f->g, (int64_t)fl_ll_size(r->d) * n);
  LLVMBuildMemSet(f->b, at, LLVMConstNull(f->g->i8), bytes, FL_ALIGN);
}

/* to[x] += from[x], n of them. */
static void add_up(FlFn *f, const FlRed *r, Val to, Val from, Val n) {
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(f->g, 0), n, 0, NULL);
  Val at = fl_ll_gep(f, r->t, to, l.i), more = fl_red_get(f, r->t, fl_ll_gep(f, r->t, from, l.i));
  fl_red_put(f, LLVMBuildFAdd(f->b, fl_red_get(f, r->t, at), more, ""), at);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* The params and what comes before the sum, for one column. */
static void begin_column(FlFn *f, const Columns *c, Val column) {
  const FlRegion *r = c->k->region;
  fl_ll_set(f, r->params[r->n_params - 1], column);
  for (const FlOp *op = r->first; op != c->reduce; op = op->next) fl_ll_kernel_op(f, op);
}

/* The terms of row i of `width` columns from `first` on. */
static void add_row(FlFn *f, const Columns *c, Val i, Val first, Val width) {
  FlGen *g = f->g;
  const FlRegion *terms = c->reduce->regions[0];
  Val lane = LLVMBuildAnd(f->b, i, fl_ll_i64(g, FL_LANES - 1), "");
  Val base = LLVMBuildNSWMul(f->b, lane, fl_ll_i64(g, TILE), "");
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), width, 0, NULL);
  fl_ll_set(f, terms->params[0], i);
  begin_column(f, c, LLVMBuildNSWAdd(f->b, first, l.i, ""));
  fl_ll_kernel_region(f, terms);
  for (int k = 0; k < c->n; k++) {
    Val v[2];
    fl_red_lane_values(f, &c->at[k], v);
    fl_red_lane_add(f, &c->at[k], c->at[k].lanes, LLVMBuildNSWAdd(f->b, base, l.i, ""), v);
  }
  fl_ll_loop_close(f, &l, NULL, true);
}

static Val least(FlFn *f, Val a, Val b) {
  return LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, a, b, ""), a, b, "");
}

/* The sums of `width` columns from `first` on, in `total`. */
static void sum_tile(FlFn *f, const Columns *c, Val first, Val width) {
  FlGen *g = f->g;
  Val n = fl_ll_value(f, c->reduce->args[0]), zero = fl_ll_i64(g, 0), block = fl_ll_i64(g, FL_BLOCK);
  Val up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  Val n_blocks = LLVMBuildAShr(f->b, up, fl_ll_i64(g, FL_BLOCK_SHIFT), ""), tile = fl_ll_i64(g, TILE);
  FlLoop blocks, rows;
  fl_ll_loop_open(f, &blocks, zero, n_blocks, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, blocks.i, block, ""), hi = least(f, LLVMBuildNSWAdd(f->b, lo, block, ""), n);
  for (int k = 0; k < c->n; k++) clear(f, &c->at[k], c->at[k].lanes, FL_LANES * TILE);
  fl_ll_loop_open(f, &rows, lo, hi, 0, NULL);
  add_row(f, c, rows.i, first, width);
  fl_ll_loop_close(f, &rows, NULL, false);
  for (int k = 0; k < c->n; k++) {
    const FlRed *r = &c->at[k];
    for (int half = FL_LANES / 2; half >= 1; half /= 2) {
      Val there = fl_ll_at_byte(f, r->lanes, (int64_t)half * TILE * fl_ll_size(r->d));
      add_up(f, r, r->lanes, there, fl_ll_i64(g, (int64_t)half * TILE));
    }
    fl_ll_call(f, r->t == g->f64 ? "fl_fold_push_f64" : "fl_fold_push_f32", g->none, 4,
               (Ty[]){g->ptr, g->i64, g->i64, g->ptr}, (Val[]){r->levels, tile, blocks.i, r->lanes});
  }
  fl_ll_loop_close(f, &blocks, NULL, false);
  for (int k = 0; k < c->n; k++) {
    const FlRed *r = &c->at[k];
    fl_ll_call(f, r->t == g->f64 ? "fl_fold_end_f64" : "fl_fold_end_f32", g->none, 5,
               (Ty[]){g->ptr, g->i64, g->i64, g->i64, g->ptr},
               (Val[]){r->levels, tile, tile, n_blocks, r->total});
  }
}

/* What comes after the sum, and the results. */
static void end_column(FlFn *f, const Columns *c, Val pos, Val column, Val in_tile) {
  begin_column(f, c, column);
  for (int k = 0; k < c->n; k++)
    fl_ll_set(f, c->at[k].result,
              fl_red_get(f, c->at[k].t, fl_ll_gep(f, c->at[k].t, c->at[k].total, in_tile)));
  for (const FlOp *op = c->reduce->next; op; op = op->next) fl_ll_kernel_op(f, op);
  c->each(f, c->k, pos, c->arg);
}

/* Columns [lo, hi) of a row of the MAP that begins at `start`. */
static void columns_of_row(FlFn *f, const FlPlanKernel *k, Val start, Val lo, Val hi, void *arg) {
  FlGen *g = f->g;
  const Columns *c = arg;
  Val tile_n = fl_ll_i64(g, TILE), size = LLVMBuildNSWSub(f->b, hi, lo, "");
  Val tiles =
      LLVMBuildAShr(f->b, LLVMBuildNSWAdd(f->b, size, fl_ll_i64(g, TILE - 1), ""), fl_ll_i64(g, 6), "");
  (void)k;
  FlLoop tile, l;
  fl_ll_loop_open(f, &tile, fl_ll_i64(g, 0), tiles, 0, NULL);
  Val first = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, tile.i, tile_n, ""), "");
  Val width = least(f, LLVMBuildNSWSub(f->b, hi, first, ""), tile_n);
  sum_tile(f, c, first, width);
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), width, 0, NULL);
  Val column = LLVMBuildNSWAdd(f->b, first, l.i, "");
  end_column(f, c, LLVMBuildNSWAdd(f->b, start, column, ""), column, l.i);
  fl_ll_loop_close(f, &l, NULL, true);
  fl_ll_loop_close(f, &tile, NULL, false);
}

bool fl_ll_columns(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlElementBody *each,
                   void *arg) {
  const FlOp *reduce = k->sum;
  if (f->form != FL_FORM_FAST || f->quick || !reduce) return false;
  Columns c = {k, reduce, reduce->n_results, NULL, each, arg};
  c.at = FL_NEW_ARRAY(f->g->arena, FlRed, c.n);
  for (int i = 0; i < c.n; i++) c.at[i] = state_of(f, reduce, i);
  fl_ll_rows(f, k, begin, end, sizes, columns_of_row, &c);
  return true;
}
