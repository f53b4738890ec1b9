/* llvm_columns.c: reductions along columns: a MAP over columns j whose elements are sums, extremes, counts ..
 * over i of what stands at [.., i, .., j], swept row by row.
 *
 * Element by element each would step through memory by whole rows. Here a tile of columns keeps a state a
 * column, of sums of floats 32 lanes, and the rows pass by once, read as they lie. What always holds: each
 * column's result is that of llvm_reduce.c, block by block and lane by lane. Which MAPs are swept so says the
 * plan. */
#include "codegen/llvm_reduce.h"

/* Columns at once: many, so that rows are read in long runs, as far as their states take no more bytes. */
enum { FEWEST = 64, MOST = 1024, STATES = 192 << 10, PITCH = 8 };

/* Rows that pass by together: of a lane fewer, where what an element adds is not cheap. */
enum { ROWS_TOGETHER = 4, LANES_TOGETHER = 4, LANES_TOGETHER_DEAR = 2 };

/* ---- how ------------------------------------------------------------------------------------------- */

/* Levels are not counted: they are touched once a block, and most of them never. */
static int tile_of(const FlRed *reds, int n) {
  int bytes = 0, tile = MOST;
  for (int k = 0; k < n; k++) bytes += (fl_red_sums(&reds[k]) ? FL_LANES + 1 : 2) * (int)sizeof(int64_t);
  while (tile > FEWEST && bytes * tile > STATES) tile /= 2;
  return tile;
}

/* Numbers from a lane to the next one, of so many columns: these lie near each other where there are few. */
static Val pitch_of(FlFn *f, Val width) {
  Val up = LLVMBuildNSWAdd(f->b, width, fl_ll_i64(f->g, PITCH - 1), "");
  return LLVMBuildAnd(f->b, up, fl_ll_i64(f->g, -PITCH), "");
}

typedef struct Columns {
  const FlPlanKernel *k;
  const FlOp *reduce;
  int n;
  int tile;  /* columns */
  FlRed *at; /* lanes: [32][pitch], all else: [tile] */
  FlElementBody *each;
  void *arg;
} Columns;

/* The state of a reduction of one column: in the arrays of the tile. */
static FlRed of_column(FlFn *f, const FlRed *tile, Val column) {
  FlRed r = *tile;
  Ty i64 = f->g->i64;
  if (r.best) r.best = fl_ll_gep(f, r.t, r.best, column), r.at = fl_ll_gep(f, i64, r.at, column);
  if (r.lo) r.hi = fl_ll_gep(f, i64, r.hi, column), r.lo = fl_ll_gep(f, fl_red_low_type(f, &r), r.lo, column);
  return r;
}

static void make_arrays(FlFn *f, FlRed *r, unsigned tile) {
  Ty i64 = f->g->i64;
  if (fl_red_sums(r)) {
    r->lanes = fl_ll_alloca_n(f, r->t, FL_LANES * tile, "lanes");
    r->total = fl_ll_alloca_n(f, r->t, tile, "totals");
    r->levels = fl_ll_alloca_n(f, r->t, FL_FOLD_LEVELS * tile, "levels");
  } else if (fl_red_picks(r)) {
    r->best = fl_ll_alloca_n(f, r->t, tile, "bests");
    r->at = fl_ll_alloca_n(f, i64, tile, "ats");
  } else {
    r->hi = fl_ll_alloca_n(f, i64, tile, "highs");
    r->lo = fl_ll_alloca_n(f, fl_red_low_type(f, r), tile, "lows");
  }
}

static Val least(FlFn *f, Val a, Val b) {
  return LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, a, b, ""), a, b, "");
}

/* to[x] += of the lane `apart` lanes behind, n numbers. */
static void add_up(FlFn *f, const FlRed *r, Val to, Val apart, Val n) {
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(f->g, 0), n, 0, NULL);
  Val at = fl_ll_gep(f, r->t, to, l.i);
  Val more = fl_red_get(f, r->t, fl_ll_gep(f, r->t, to, LLVMBuildNSWAdd(f->b, l.i, apart, "")));
  fl_red_put(f, LLVMBuildFAdd(f->b, fl_red_get(f, r->t, at), more, ""), at);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* Two steps of that at once, of halves and of quarters: each number is read once. `apart`: of quarters. */
static void add_up_twice(FlFn *f, const FlRed *r, Val to, Val apart, Val n) {
  FlLoop l;
  Val v[4], at[4];
  fl_ll_loop_open(f, &l, fl_ll_i64(f->g, 0), n, 0, NULL);
  for (int k = 0; k < 4; k++) {
    Val behind = LLVMBuildNSWMul(f->b, apart, fl_ll_i64(f->g, k), "");
    at[k] = fl_ll_gep(f, r->t, to, LLVMBuildNSWAdd(f->b, l.i, behind, ""));
    v[k] = fl_red_get(f, r->t, at[k]);
  }
  Val near = LLVMBuildFAdd(f->b, v[0], v[2], ""), far = LLVMBuildFAdd(f->b, v[1], v[3], "");
  fl_red_put(f, LLVMBuildFAdd(f->b, near, far, ""), at[0]);
  fl_ll_loop_close(f, &l, NULL, true);
}

/* The params and what comes before the sum, for one column. */
static void begin_column(FlFn *f, const Columns *c, Val column) {
  const FlRegion *r = c->k->region;
  fl_ll_set(f, r->params[r->n_params - 1], column);
  for (const FlOp *op = r->first; op != c->reduce; op = op->next) fl_ll_kernel_op(f, op);
}

/* Where the arrays begin that the terms pick row `row` of; this is said before a loop over columns, so that
 * it is seen there that they stay. */
typedef struct Picked {
  const FlOp *op;
  Val data;
} Picked;
typedef FlVec(Picked) PickedRow;

static PickedRow pick_row(FlFn *f, const Columns *c, Val row) {
  const FlRegion *terms = c->reduce->regions[0];
  PickedRow all = {0};
  for (const FlOp *op = terms->first; op; op = op->next)
    if (op->code == FL_OP_PICK && op->args[0] == terms->params[0])
      fl_vec_push(f->g->arena, &all, ((Picked){op, fl_ll_pick_data(f, op, row)}));
  return all;
}

/* The term of one column, of row `row`. */
static void emit_term(FlFn *f, const Columns *c, Val row, const PickedRow *picked, Val column) {
  const FlRegion *terms = c->reduce->regions[0];
  if (picked->n && !f->picked) f->picked = fl_map_make(f->g->arena);
  for (int k = 0; k < picked->n; k++) fl_map_set(f->picked, picked->at[k].op, picked->at[k].data);
  fl_ll_set(f, terms->params[0], row);
  begin_column(f, c, column);
  fl_ll_kernel_region(f, terms);
}

/* Its state is that of the first row before the rows pass by, so that each finds a best one. */
static bool begins_with_first(const FlRed *r) { return fl_red_picks(r) && !r->keep; }

/* The states but for lanes, before the first of `n` rows. */
static void clear_states(FlFn *f, const Columns *c, Val n, Val first, Val width) {
  FlGen *g = f->g;
  const FlRegion *terms = c->reduce->regions[0];
  Val zero = fl_ll_i64(g, 0);
  bool firsts = false;
  FlLoop l, once;
  fl_ll_loop_open(f, &l, zero, width, 0, NULL);
  for (int k = 0; k < c->n; k++) {
    FlRed one = of_column(f, &c->at[k], l.i);
    if (!fl_red_sums(&one)) fl_red_clear(f, &one);
    firsts |= begins_with_first(&one);
  }
  fl_ll_loop_close(f, &l, NULL, true);
  if (!firsts) return;
  fl_ll_loop_open(f, &once, zero, least(f, n, fl_ll_i64(g, 1)), 0, NULL);
  PickedRow picked = pick_row(f, c, zero);
  fl_ll_loop_open(f, &l, zero, width, 0, NULL);
  emit_term(f, c, zero, &picked, LLVMBuildNSWAdd(f->b, first, l.i, ""));
  for (int k = 0; k < c->n; k++) {
    FlRed one = of_column(f, &c->at[k], l.i);
    if (!begins_with_first(&one)) continue;
    fl_red_put(f, fl_ll_value(f, terms->yields[one.first]), one.best);
    fl_red_put(f, zero, one.at);
  }
  fl_ll_loop_close(f, &l, NULL, true);
  fl_ll_loop_close(f, &once, NULL, false);
}

/* A copy of a number of the state, which the optimiser keeps in a register. */
static Val held(FlFn *f, Ty t, Val at) {
  Val copy = fl_ll_alloca(f, t, "held");
  if (at) fl_red_put(f, fl_red_get(f, t, at), copy);
  return copy;
}

static void give_back(FlFn *f, Ty t, Val copy, Val at) { fl_red_put(f, fl_red_get(f, t, copy), at); }

/* The state of one column, whose lane is at `lane`, while rows pass by together: else it would be written for
 * each of them, as far as the optimiser knows that others may look. starts: the lane has no row so far. */
static FlRed take_state(FlFn *f, const FlRed *one, Val lane, bool starts) {
  FlRed r = *one;
  if (fl_red_sums(one)) {
    r.lanes = held(f, r.t, starts ? NULL : fl_ll_gep(f, r.t, one->lanes, lane));
    if (starts) fl_red_put(f, fl_red_start(one), r.lanes);
  } else if (fl_red_picks(one)) {
    r.best = held(f, r.t, one->best);
    if (one->keep || fl_red_is_arg(one)) r.at = held(f, f->g->i64, one->at);
  } else {
    r.lo = held(f, fl_red_low_type(f, one), one->lo);
    if (one->kind == RED_INT_SUM && fl_ll_size(one->d) == 8) r.hi = held(f, f->g->i64, one->hi);
  }
  return r;
}

static void put_state(FlFn *f, const FlRed *one, const FlRed *r, Val lane) {
  if (fl_red_sums(one)) {
    give_back(f, r->t, r->lanes, fl_ll_gep(f, r->t, one->lanes, lane));
  } else if (fl_red_picks(one)) {
    give_back(f, r->t, r->best, one->best);
    if (r->at != one->at) give_back(f, f->g->i64, r->at, one->at);
  } else {
    give_back(f, fl_red_low_type(f, r), r->lo, one->lo);
    if (r->hi != one->hi) give_back(f, f->g->i64, r->hi, one->hi);
  }
}

/* Row i in the states of one column. */
static void add_element(FlFn *f, const Columns *c, FlRed *states, Val i) {
  const FlRegion *terms = c->reduce->regions[0];
  for (int k = 0; k < c->n; k++) {
    FlRed *one = &states[k];
    Val v[2];
    if (begins_with_first(one)) {
      fl_red_pick_more(f, one, fl_ll_value(f, terms->yields[one->first]), i);
    } else if (!fl_red_sums(one)) {
      fl_red_accumulate(f, one, i);
    } else {
      fl_red_lane_values(f, one, v);
      fl_red_lane_add(f, one, one->lanes, fl_ll_i64(f->g, 0), v);
    }
  }
}

/* The rows i, i + step .. of `width` columns from `first` on, n of them, all of one lane where anything has
 * lanes: each state is read and written once for them. starts: the first one is that of its lane. */
static void add_rows(FlFn *f, const Columns *c, Val i, int n, int step, Val first, Val width, bool starts) {
  FlGen *g = f->g;
  FlRed *states = FL_NEW_ARRAY(g->arena, FlRed, c->n);
  Val *row = FL_NEW_ARRAY(g->arena, Val, n);
  PickedRow *picked = FL_NEW_ARRAY(g->arena, PickedRow, n);
  Val lane = LLVMBuildAnd(f->b, i, fl_ll_i64(g, FL_LANES - 1), "");
  Val base = LLVMBuildNSWMul(f->b, lane, pitch_of(f, width), "");
  for (int k = 0; k < n; k++) {
    row[k] = LLVMBuildNSWAdd(f->b, i, fl_ll_i64(g, k * step), "");
    picked[k] = pick_row(f, c, row[k]);
  }
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), width, 0, NULL);
  l.masked = false; /* what a masked vector stored is not there when the next row reads it */
  Val at = LLVMBuildNSWAdd(f->b, base, l.i, "");
  for (int k = 0; k < c->n; k++) {
    FlRed one = of_column(f, &c->at[k], l.i);
    states[k] = take_state(f, &one, at, starts);
  }
  for (int k = 0; k < n; k++) {
    emit_term(f, c, row[k], &picked[k], LLVMBuildNSWAdd(f->b, first, l.i, ""));
    add_element(f, c, states, row[k]);
  }
  for (int k = 0; k < c->n; k++) {
    FlRed one = of_column(f, &c->at[k], l.i);
    put_state(f, &one, &states[k], at);
  }
  fl_ll_loop_close(f, &l, NULL, true);
}

/* How far rows lie apart that may pass by together: those of a lane where floats are summed, else those that
 * follow each other. 0: each row passes alone. */
static int step_of(const FlFn *f, const Columns *c) {
  int sums = 0, firsts = 0;
  for (int k = 0; k < c->n; k++) {
    sums += fl_red_sums(&c->at[k]);
    firsts += begins_with_first(&c->at[k]);
  }
  if (firsts == c->n || (sums == 0 && fl_map_get(f->g->plan->cheap, c->reduce))) return 1;
  return sums == c->n ? FL_LANES : 0;
}

/* Of sums, whose rows are all of one lane: the rows that pass by together. */
static int lanes_together(FlFn *f, const Columns *c) {
  return fl_map_get(f->g->plan->cheap, c->reduce) ? LANES_TOGETHER : LANES_TOGETHER_DEAR;
}

/* As many of the rows [lo, hi) as pass by together; where the others begin. */
static Val sweep_together(FlFn *f, const Columns *c, Val lo, Val hi, Val first, Val width) {
  FlGen *g = f->g;
  int step = step_of(f, c), together = step == 1 ? ROWS_TOGETHER : lanes_together(f, c);
  if (step == 0) return lo;
  Val group = fl_ll_i64(g, step * together);
  Val n = LLVMBuildSDiv(f->b, LLVMBuildNSWSub(f->b, hi, lo, ""), group, "");
  FlLoop groups, rows;
  fl_ll_loop_open(f, &groups, fl_ll_i64(g, 0), n, 0, NULL);
  Val begin = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, groups.i, group, ""), "");
  fl_ll_loop_open(f, &rows, fl_ll_i64(g, 0), fl_ll_i64(g, step), 0, NULL);
  add_rows(f, c, LLVMBuildNSWAdd(f->b, begin, rows.i, ""), together, step, first, width, false);
  fl_ll_loop_close(f, &rows, NULL, false);
  fl_ll_loop_close(f, &groups, NULL, false);
  return LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, n, group, ""), "");
}

/* The lanes of a block of `size` rows that may have one: the least power of two that holds them, so that
 * joining these alone leaves out nothing but zeros. */
static Val lanes_of(FlFn *f, Val size) {
  FlGen *g = f->g;
  Val some = least(f, size, fl_ll_i64(g, FL_LANES)), less = LLVMBuildNSWSub(f->b, some, fl_ll_i64(g, 1), "");
  Val zeros = fl_ll_intrinsic(f, "llvm.ctlz", g->i64, 2, (Val[]){less, LLVMConstInt(g->i1, 0, false)});
  return LLVMBuildShl(f->b, fl_ll_i64(g, 1), LLVMBuildNSWSub(f->b, fl_ll_i64(g, 64), zeros, ""), "");
}

/* The sums of the lanes of a block, as block number `index`, into the levels. */
static void join_lanes(FlFn *f, const FlRed *r, Val lanes, Val pitch, Val index) {
  FlGen *g = f->g;
  Val left_at = fl_ll_alloca(f, g->i64, "left"), one = fl_ll_i64(g, 1), two = fl_ll_i64(g, 2);
  FlLoop l;
  fl_red_put(f, lanes, left_at);
  Val steps = fl_ll_intrinsic(f, "llvm.cttz", g->i64, 2, (Val[]){lanes, LLVMConstInt(g->i1, 0, false)});
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), LLVMBuildLShr(f->b, steps, one, ""), 0, NULL);
  Val left = LLVMBuildLShr(f->b, fl_red_get(f, g->i64, left_at), two, "");
  Val size = LLVMBuildNSWMul(f->b, left, pitch, "");
  add_up_twice(f, r, r->lanes, size, size);
  fl_red_put(f, left, left_at);
  fl_ll_loop_close(f, &l, NULL, false);
  fl_ll_loop_open(f, &l, one, fl_red_get(f, g->i64, left_at), 0, NULL); /* one more step, or none */
  add_up(f, r, r->lanes, pitch, pitch);
  fl_ll_loop_close(f, &l, NULL, false);
  fl_ll_call(f, r->t == g->f64 ? "fl_fold_push_f64" : "fl_fold_push_f32", g->none, 4,
             (Ty[]){g->ptr, g->i64, g->i64, g->ptr}, (Val[]){r->levels, pitch, index, r->lanes});
}

static Val choose(FlFn *f, Val a, Val b, Val then, Val other) {
  return LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, a, b, ""), then, other, "");
}

/* The first rows of the lanes of the block [lo, hi), up to so many of each; where the others begin. The
 * first `odd` lanes have one row more than the others, as long as there are so few. */
static Val begin_lanes(FlFn *f, const Columns *c, Val lo, Val hi, Val first, Val width) {
  FlGen *g = f->g;
  int most = step_of(f, c) == FL_LANES ? lanes_together(f, c) : 1;
  Val size = LLVMBuildNSWSub(f->b, hi, lo, ""), lanes = fl_ll_i64(g, FL_LANES), zero = fl_ll_i64(g, 0);
  Val whole = LLVMBuildSDiv(f->b, size, lanes, ""), here = least(f, size, lanes);
  Val few = LLVMBuildICmp(f->b, LLVMIntSLT, whole, fl_ll_i64(g, most), "");
  Val odd = LLVMBuildSelect(f->b, few, LLVMBuildAnd(f->b, size, fl_ll_i64(g, FL_LANES - 1), ""), zero, "");
  Val each = least(f, whole, fl_ll_i64(g, most)), more = LLVMBuildNSWAdd(f->b, each, fl_ll_i64(g, 1), "");
  for (int n = 1; n <= most; n++) {
    Val rows_n = fl_ll_i64(g, n);
    Val from = choose(f, each, rows_n, odd, zero);
    Val to = choose(f, each, rows_n, here, choose(f, more, rows_n, odd, zero));
    FlLoop rows;
    from = LLVMBuildNSWAdd(f->b, lo, from, "");
    fl_ll_loop_open(f, &rows, from, LLVMBuildNSWAdd(f->b, lo, to, ""), 0, NULL);
    add_rows(f, c, rows.i, n, FL_LANES, first, width, true);
    fl_ll_loop_close(f, &rows, NULL, false);
  }
  return LLVMBuildSelect(f->b, few, hi, LLVMBuildNSWAdd(f->b, lo, fl_ll_i64(g, most * FL_LANES), ""), "");
}

/* Rows [lo, hi), of one block. */
static void sweep_block(FlFn *f, const Columns *c, Val lo, Val hi, Val first, Val width, Val index) {
  FlGen *g = f->g;
  Val size = LLVMBuildNSWSub(f->b, hi, lo, ""), lanes = lanes_of(f, size);
  Val there = least(f, size, fl_ll_i64(g, FL_LANES)), bare = LLVMBuildNSWSub(f->b, lanes, there, "");
  Val begun = begin_lanes(f, c, lo, hi, first, width), pitch = pitch_of(f, width);
  for (int k = 0; k < c->n; k++) {
    const FlRed *r = &c->at[k];
    if (!fl_red_sums(r)) continue;
    Val row = LLVMBuildNSWMul(f->b, pitch, fl_ll_i64(g, fl_ll_size(r->d)), "");
    Val at = fl_ll_gep(f, r->t, r->lanes, LLVMBuildNSWMul(f->b, there, pitch, ""));
    LLVMBuildMemSet(f->b, at, LLVMConstNull(g->i8), LLVMBuildNSWMul(f->b, bare, row, ""), 1);
  }
  FlLoop rows;
  fl_ll_loop_open(f, &rows, sweep_together(f, c, begun, hi, first, width), hi, 0, NULL);
  add_rows(f, c, rows.i, 1, 0, first, width, false);
  fl_ll_loop_close(f, &rows, NULL, false);
  for (int k = 0; k < c->n; k++)
    if (fl_red_sums(&c->at[k])) join_lanes(f, &c->at[k], lanes, pitch, index);
}

/* What `width` columns from `first` on come to, block by block. */
static void many_rows(FlFn *f, const Columns *c, Val first, Val width) {
  FlGen *g = f->g;
  Val n = fl_ll_value(f, c->reduce->args[0]), zero = fl_ll_i64(g, 0), block = fl_ll_i64(g, FL_BLOCK);
  Val up = LLVMBuildNSWAdd(f->b, n, fl_ll_i64(g, FL_BLOCK - 1), "");
  Val n_blocks = LLVMBuildAShr(f->b, up, fl_ll_i64(g, FL_BLOCK_SHIFT), ""), pitch = pitch_of(f, width);
  FlLoop blocks;
  clear_states(f, c, n, first, width);
  fl_ll_loop_open(f, &blocks, zero, n_blocks, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, blocks.i, block, ""), hi = least(f, LLVMBuildNSWAdd(f->b, lo, block, ""), n);
  sweep_block(f, c, lo, hi, first, width, blocks.i);
  fl_ll_loop_close(f, &blocks, NULL, false);
  for (int k = 0; k < c->n; k++) {
    const FlRed *r = &c->at[k];
    if (!fl_red_sums(r)) continue;
    fl_ll_call(f, r->t == g->f64 ? "fl_fold_end_f64" : "fl_fold_end_f32", g->none, 5,
               (Ty[]){g->ptr, g->i64, g->i64, g->i64, g->ptr},
               (Val[]){r->levels, pitch, pitch, n_blocks, r->total});
  }
}

/* ---- few rows -------------------------------------------------------------------------------------- */

/* So few rows that each lane has one, and all pass by at once: they are read as long as the columns are. */
enum { FEW_ROWS = 4 };

/* What `n` rows come to, of `width` columns from `first` on: the lanes are joined as by the butterfly. */
static void few_rows(FlFn *f, const Columns *c, int n, Val first, Val width) {
  FlGen *g = f->g;
  Val lane[FEW_ROWS], v[2];
  PickedRow picked[FEW_ROWS];
  FlRed *lanes = FL_NEW_ARRAY(g->arena, FlRed, c->n * n);
  for (int i = 0; i < n; i++) picked[i] = pick_row(f, c, fl_ll_i64(g, i));
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), width, 0, NULL);
  l.masked = false;
  for (int i = 0; i < n; i++) {
    emit_term(f, c, fl_ll_i64(g, i), &picked[i], LLVMBuildNSWAdd(f->b, first, l.i, ""));
    for (int k = 0; k < c->n; k++) {
      FlRed *one = &lanes[k * n + i];
      *one = take_state(f, &c->at[k], NULL, true);
      fl_red_lane_values(f, one, v);
      fl_red_lane_add(f, one, one->lanes, fl_ll_i64(g, 0), v);
    }
  }
  for (int k = 0; k < c->n; k++) {
    const FlRed *r = &c->at[k];
    for (int i = 0; i < n; i++) lane[i] = fl_red_get(f, r->t, lanes[k * n + i].lanes);
    for (int half = FEW_ROWS / 2; half >= 1; half /= 2)
      for (int i = half; i < n && i < 2 * half; i++)
        lane[i - half] = LLVMBuildFAdd(f->b, lane[i - half], lane[i], "");
    fl_red_put(f, lane[0], fl_ll_gep(f, r->t, r->total, l.i));
  }
  fl_ll_loop_close(f, &l, NULL, true);
}

/* What `width` columns from `first` on come to. */
static void sweep_tile(FlFn *f, const Columns *c, Val first, Val width) {
  FlGen *g = f->g;
  Val rows = fl_ll_value(f, c->reduce->args[0]);
  if (step_of(f, c) != FL_LANES || lanes_together(f, c) != LANES_TOGETHER) {
    many_rows(f, c, first, width);
    return;
  }
  Block on = fl_ll_block(f, "swept");
  for (int n = 1; n <= FEW_ROWS; n++) {
    Block few = fl_ll_block(f, "few"), more = fl_ll_block(f, "more");
    LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, rows, fl_ll_i64(g, n), ""), few, more);
    fl_ll_at(f, few);
    few_rows(f, c, n, first, width);
    LLVMBuildBr(f->b, on);
    fl_ll_at(f, more);
  }
  many_rows(f, c, first, width);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* What comes after the loop, and the results. */
static void end_column(FlFn *f, const Columns *c, Val pos, Val column, Val in_tile) {
  begin_column(f, c, column);
  for (int k = 0; k < c->n; k++) {
    FlRed one = of_column(f, &c->at[k], in_tile);
    if (fl_red_sums(&one)) one.total = fl_ll_gep(f, one.t, one.total, in_tile);
    fl_ll_set(f, one.result, fl_red_finish(f, &one));
  }
  for (const FlOp *op = c->reduce->next; op; op = op->next) fl_ll_kernel_op(f, op);
  c->each(f, c->k, pos, c->arg);
}

/* Columns [lo, hi) of a row of the MAP that begins at `start`. */
static void columns_of_row(FlFn *f, const FlPlanKernel *k, Val start, Val lo, Val hi, void *arg) {
  FlGen *g = f->g;
  const Columns *c = arg;
  Val tile_n = fl_ll_i64(g, c->tile), size = LLVMBuildNSWSub(f->b, hi, lo, "");
  Val tiles = LLVMBuildUDiv(f->b, LLVMBuildNSWAdd(f->b, size, fl_ll_i64(g, c->tile - 1), ""), tile_n, "");
  (void)k;
  FlLoop tile, l;
  fl_ll_loop_open(f, &tile, fl_ll_i64(g, 0), tiles, 0, NULL);
  Val first = LLVMBuildNSWAdd(f->b, lo, LLVMBuildNSWMul(f->b, tile.i, tile_n, ""), "");
  Val width = least(f, LLVMBuildNSWSub(f->b, hi, first, ""), tile_n);
  sweep_tile(f, c, first, width);
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), width, 0, NULL);
  Val column = LLVMBuildNSWAdd(f->b, first, l.i, "");
  end_column(f, c, LLVMBuildNSWAdd(f->b, start, column, ""), column, l.i);
  fl_ll_loop_close(f, &l, NULL, true);
  fl_ll_loop_close(f, &tile, NULL, false);
}

bool fl_ll_columns(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlElementBody *each,
                   void *arg) {
  const FlOp *reduce = k->fold;
  if (f->form != FL_FORM_FAST || f->quick || !reduce) return false;
  Columns c = {k, reduce, reduce->n_results, 0, NULL, each, arg};
  c.at = FL_NEW_ARRAY(f->g->arena, FlRed, c.n);
  for (int i = 0; i < c.n; i++) c.at[i] = fl_red_of(f, reduce, i);
  c.tile = tile_of(c.at, c.n);
  for (int i = 0; i < c.n; i++) make_arrays(f, &c.at[i], (unsigned)c.tile);
  fl_ll_rows(f, k, begin, end, sizes, columns_of_row, &c);
  return true;
}
