/* nearest.c: the rules of NEAREST and NEAREST_MOVED, the sweeps of k-means. In: adjoints of the squared
 * distances of rows to their nearest centers and of the sums of the rows of each center, or tangents of rows
 * and centers. Out: those of the other side. Always: which center is nearest stays as it is, and a gap, which
 * only says what need not be looked at, has no derivative. */
#include "ad/rules/rules.h"

static FlValue *load1(FlBuilder *b, FlValue *line, FlValue *i) { return fl_ir_load(b, line, 1, &i, true); }

/* 2 (x[i, j] - centers[label[i], j]) as it stands in a loop over i and j. */
static FlValue *twice_off(FlBuilder *b, FlValue *x, FlValue *centers, FlValue *label, FlValue *const *index) {
  FlValue *place[2] = {load1(b, label, index[0]), index[1]};
  FlValue *off =
      fl_ir_binary(b, FL_OP_SUB, fl_ir_load(b, x, 2, index, true), fl_ir_load(b, centers, 2, place, true));
  return fl_ir_binary(b, FL_OP_ADD, off, off);
}

/* Every row has a part in the sum of its center. */
static void back_total(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *total = fl_ad_of(k, 2), *sizes[2];
  if (!total || !fl_ad_wants(k, 0)) return;
  fl_ad_sizes(b, fl_ad_arg(k, 0), sizes);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
  FlValue *place[2] = {load1(b, fl_ad_result(k, 0), m.region->params[0]), m.region->params[1]};
  FlValue *v = fl_ir_load(b, total, 2, place, true);
  fl_ad_loop_end(b, &m, 1, &v);
  fl_ad_give(k, 0, m.op->results[0]);
}

/* The sums move as the rows do. */
static void ahead_total(const FlAdAhead *k) {
  FlValue *dx = fl_ad_moves(k, 0);
  if (!dx) return;
  FlValue *args[3] = {dx, fl_ad_made(k, 0), fl_ir_dim(k->b, fl_ad_in(k, 1), 0)};
  k->out[2] = fl_ad_op(k->b, FL_OP_SEGMENT_SUM, 3, args, dx->type, 0);
}

bool fl_ad_back_nearest_moved(const FlAdBulk *k) {
  back_total(k);
  return true;
}

bool fl_ad_ahead_nearest_moved(const FlAdAhead *k) {
  ahead_total(k);
  return true;
}

bool fl_ad_back_nearest(const FlAdBulk *k) {
  FlBuilder *b = k->b;
  FlValue *x = fl_ad_arg(k, 0), *centers = fl_ad_arg(k, 1), *label = fl_ad_result(k, 0), *sizes[2];
  FlValue *distance = fl_ad_of(k, 1);
  fl_ad_sizes(b, x, sizes);
  if (distance) {
    FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 2, sizes);
    FlValue *v = fl_ir_binary(b, FL_OP_MUL, load1(b, distance, m.region->params[0]),
                              twice_off(b, x, centers, label, m.region->params));
    fl_ad_loop_end(b, &m, 1, &v);
    FlValue *part = m.op->results[0];
    fl_ad_give(k, 0, part);
    if (fl_ad_wants(k, 1)) {
      FlValue *args[3] = {part, label, fl_ir_dim(b, centers, 0)};
      fl_ad_give(k, 1, fl_ad_scaled_by(b, fl_ad_op(b, FL_OP_SEGMENT_SUM, 3, args, part->type, 0), -1));
    }
  }
  back_total(k);
  return true;
}

bool fl_ad_ahead_nearest(const FlAdAhead *k) {
  FlBuilder *b = k->b;
  FlValue *x = fl_ad_in(k, 0), *centers = fl_ad_in(k, 1), *label = fl_ad_made(k, 0), *sizes[2];
  FlValue *dx = fl_ad_moves(k, 0), *dc = fl_ad_moves(k, 1);
  fl_ad_sizes(b, x, sizes);
  FlAdLoop m = fl_ad_loop(b, FL_OP_MAP, 1, sizes);
  FlAdLoop red = fl_ad_loop(b, FL_OP_REDUCE, 1, sizes + 1);
  FlValue *index[2] = {m.region->params[0], red.region->params[0]};
  FlValue *place[2] = {load1(b, label, index[0]), index[1]},
          *moved = dx ? fl_ir_load(b, dx, 2, index, true) : NULL;
  if (dc) {
    FlValue *center = fl_ir_load(b, dc, 2, place, true);
    moved = moved ? fl_ir_binary(b, FL_OP_SUB, moved, center) : fl_ir_unary(b, FL_OP_NEG, center);
  }
  FlValue *v = fl_ir_binary(b, FL_OP_MUL, moved, twice_off(b, x, centers, label, index));
  fl_ad_loop_end(b, &red, 1, &v);
  fl_ir_set_reduction(red.op, FL_RED_SUM, false);
  fl_ad_loop_end(b, &m, 1, red.op->results);
  k->out[1] = m.op->results[0];
  ahead_total(k);
  return true;
}
