/* nearest.c: the nearest of some centers to each row, and what the rows of each center are together: the
 * sweep of k-means, and the sweep after the centers have moved.
 *
 * Comes in: x f64[n, d], centers f64[k, d]. Goes out: for each row the position of the nearest center, the
 * first of equals, and its squared distance; for each center the sum of its rows and their number. One pass
 * over x.
 * After a move come in too: where the centers were, the label of each row then, and its gap: by how much all
 * others were farther at least, 0 or less where that is not known. Goes out: the gap now in place of the
 * distance. A row keeps its label unseen while the centers have moved by less than the gap, as in G. Hamerly,
 * "Making k-means even faster", 2010, with both bounds in one number; all others are looked at. Labels and
 * sums are the bits of a sweep that looks at all.
 *
 * Order of sums: a distance adds the squares of the differences column by column, from the first to the last,
 * each product fused with its sum. Sums of rows are those of segment_sum: leaves of fl_part_leaf(k d) rows,
 * each in row order from +0.0, joined by the tree of folds. A distance that is NaN is never the smaller one.
 */
#include "part/part_internal.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define NARROW __attribute__((target_clones("arch=x86-64-v3", "default")))
#define WIDEST __attribute__((target("arch=x86-64-v4")))
#else
#define WIDE
#define NARROW
#endif

/* Distances of SIDE vectors of rows, a group, from PAIR centers stay in registers. Of CHUNK rows first those
 * are told that are to be looked at, then they are, then all are added to their sums. */
enum { WIDTH = 8, SIDE = 4, PAIR = 2, GROUP = WIDTH * SIDE, CHUNK = 256 };

typedef double Eight __attribute__((vector_size(64), aligned(8)));

/* What of x is to be fetched before it is read, a line at a time: many at once would keep what is computed
 * waiting. */
typedef struct Ahead {
  const double *at, *end;
} Ahead;

static inline __attribute__((always_inline)) void fetch(Ahead *a) {
  if (a->at >= a->end) return;
  __builtin_prefetch(a->at);
  a->at += WIDTH;
}

/* Of one group: the nearest center, the squared distance of it and of the second. */
typedef struct Found {
  int64_t label[GROUP];
  double best[GROUP], second[GROUP];
} Found;

typedef void GroupFn(const double *across, const double *centers, int64_t d, int64_t k, Ahead *ahead,
                     Found *out);

#define TARGET NARROW
#define NAME(x) x##_4
#define LANES 4
#include "part/nearest_group.inc"
#undef TARGET
#undef NAME
#undef LANES

#ifdef WIDEST
#define TARGET WIDEST
#define NAME(x) x##_8
#define LANES 8
#include "part/nearest_group.inc"
#undef TARGET
#undef NAME
#undef LANES
#endif

static GroupFn *group_fn(void) {
#ifdef WIDEST
  if (fl_cpu_level() >= 4) return nearest_of_8;
#endif
  return nearest_of_4;
}

typedef struct Nearest {
  const double *x, *centers;
  int64_t n, d, k, block, blocks, chunk;
  GroupFn *group;
  double *across;   /* [blocks][d][GROUP]: rows that are being looked at, column by column */
  double *sums;     /* [blocks][k * d] */
  int64_t *counts;  /* [blocks][k] */
  int64_t *changed; /* [blocks]: labels that are other than before */
  int64_t *label, *count;
  double *value, *total; /* value: squared distances, or gaps */
  /* After a move: what came in, which may be where results go to, and by how much the gap of a row of each
   * label has become smaller. NULL: all rows are looked at. */
  const int64_t *label_before;
  const double *gap_before, *loss;
} Nearest;

typedef double Four __attribute__((vector_size(32), aligned(8)));

/* Four columns of four rows go to four places GROUP apart. */
static inline __attribute__((always_inline)) void turn_four(const double *const *row, int64_t j,
                                                            double *across) {
  Four a = *(const Four *)(row[0] + j), b = *(const Four *)(row[1] + j), c = *(const Four *)(row[2] + j),
       e = *(const Four *)(row[3] + j);
  Four ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
       ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  Four ce_even = __builtin_shufflevector(c, e, 0, 4, 2, 6),
       ce_odd = __builtin_shufflevector(c, e, 1, 5, 3, 7);
  *(Four *)across = __builtin_shufflevector(ab_even, ce_even, 0, 1, 4, 5);
  *(Four *)(across + GROUP) = __builtin_shufflevector(ab_odd, ce_odd, 0, 1, 4, 5);
  *(Four *)(across + 2 * GROUP) = __builtin_shufflevector(ab_even, ce_even, 2, 3, 6, 7);
  *(Four *)(across + 3 * GROUP) = __builtin_shufflevector(ab_odd, ce_odd, 2, 3, 6, 7);
}

/* The GROUP rows of x that are named, to columns. */
WIDE static void turn(const double *x, int64_t d, const int32_t *rows, double *across) {
  int64_t fours = d / 4 * 4;
  for (int r = 0; r < GROUP; r += 4) {
    const double *row[4] = {x + rows[r] * d, x + rows[r + 1] * d, x + rows[r + 2] * d, x + rows[r + 3] * d};
    for (int64_t j = 0; j < fours; j += 4) turn_four(row, j, across + j * GROUP + r);
    for (int64_t j = fours; j < d; j++) {
      for (int q = 0; q < 4; q++) across[j * GROUP + r + q] = row[q][j];
    }
  }
}

WIDE static void add_rows(const double *x, int64_t rows, int64_t d, const int64_t *label, double *sums,
                          int64_t *counts, Ahead ahead) {
  for (int64_t r = 0; r < rows; r++) {
    double *sum = sums + label[r] * d;
    counts[label[r]]++;
    int64_t j = 0;
    for (; j + WIDTH <= d; j += WIDTH) {
      fetch(&ahead);
      *(Eight *)(sum + j) += *(const Eight *)(x + r * d + j);
    }
    for (; j < d; j++) sum[j] += x[r * d + j];
  }
}

/* What is lost by rounding, of a sum of two distances: distances are right to (d + 2) / 2^53 of themselves,
 * when they are computed and when they would be; the rest is for roots, steps and this factor itself. */
static double lost(int64_t d) { return 4 * ((double)d + 8) * 0x1p-53; }

/* Gaps from squared distances, never too large; 0 where nothing can be said, as of squares that may overflow
 * after some moves. What is subtracted last covers squares below the normal numbers. */
WIDE static void gaps_of(const double *restrict best, const double *restrict second, int64_t d,
                         double *restrict gap) {
  double share = lost(d);
  for (int r = 0; r < GROUP; r++) {
    double near = sqrt(best[r]), far = sqrt(second[r]);
    double g = far - near - (far + near) * share - 0x1p-500;
    gap[r] = second[r] < 0x1p1000 ? g : 0;
  }
}

WIDE static void gaps_after(const double *gap_before, const int64_t *restrict label, int64_t rows,
                            const double *restrict loss, int64_t k, double *gap) {
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (int64_t r = 0; r < rows; r++) {
    uint64_t place = (uint64_t)label[r] < (uint64_t)k ? (uint64_t)label[r] : (uint64_t)k;
    gap[r] = gap_before[r] * (1 - 0x1p-51) - loss[place];
  }
}

/* Which of some rows from `from` on are to be looked at, and how many. The others get what they had. */
static int64_t rows_to_see(const Nearest *s, int64_t from, int64_t rows, int32_t *which) {
  int64_t n = 0;
  if (!s->loss) {
    for (; n < rows; n++) which[n] = (int32_t)n;
    return n;
  }
  double *gap = s->value + from;
  if (s->label != s->label_before)
    memcpy(s->label + from, s->label_before + from, (size_t)rows * sizeof *s->label);
  gaps_after(s->gap_before + from, s->label_before + from, rows, s->loss, s->k, gap);
  for (int64_t r = 0; r < rows; r++) {
    which[n] = (int32_t)r;
    n += !(gap[r] > 0);
  }
  return n;
}

/* Gives how many labels are other than before. */
static int64_t see_group(const Nearest *s, const double *x, int64_t from, const int32_t *rows, int64_t n,
                         double *across, Ahead *ahead) {
  _Alignas(64) Found found;
  _Alignas(64) double gap[GROUP];
  turn(x, s->d, rows, across);
  s->group(across, s->centers, s->d, s->k, ahead, &found);
  if (s->loss) gaps_of(found.best, found.second, s->d, gap);
  const double *value = s->loss ? gap : found.best;
  int64_t *label = s->label + from, changed = 0;
  for (int64_t r = 0; r < n; r++) {
    changed += s->loss && found.label[r] != label[rows[r]];
    label[rows[r]] = found.label[r];
    s->value[from + rows[r]] = value[r];
  }
  return changed;
}

static void look_at(const Nearest *s, int64_t b, int64_t from, int64_t to) {
  double *across = s->across + b * s->d * GROUP, *sums = s->sums + b * s->k * s->d;
  int64_t *counts = s->counts + b * s->k;
  int32_t which[CHUNK + GROUP];
  memset(sums, 0, (size_t)(s->k * s->d) * sizeof *sums);
  memset(counts, 0, (size_t)s->k * sizeof *counts);
  s->changed[b] = 0;
  for (int64_t i = from; i < to; i += s->chunk) {
    int64_t rows = fl_part_min(s->chunk, to - i), after = fl_part_min(s->chunk, s->n - i - rows);
    const double *x = s->x + i * s->d;
    Ahead ahead = {x + rows * s->d, x + (rows + after) * s->d};
    int64_t n = rows_to_see(s, i, rows, which);
    for (int64_t r = n; r % GROUP != 0; r++) which[r] = which[n - 1]; /* the last group is whole */
    for (int64_t r = 0; r < n; r += GROUP)
      s->changed[b] += see_group(s, x, i, which + r, fl_part_min(GROUP, n - r), across, &ahead);
    add_rows(x, rows, s->d, s->label + i, sums, counts, ahead);
  }
}

static int32_t block_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Nearest *s = env;
  (void)ctx;
  for (int64_t b = begin; b < end; b++) look_at(s, b, b * s->block, fl_part_min((b + 1) * s->block, s->n));
  return 0;
}

/* By how much the gap of a row of each label becomes smaller as the centers move: the own center may go away
 * and another come. Without a label (the last place), or when a way is no number: all of it. */
static double *losses(FlPartMem *m, const double *before, const double *now, int64_t k, int64_t d) {
  double *loss = fl_part_alloc(m, k + 1, sizeof *loss), *way = loss ? fl_part_alloc(m, k, sizeof *way) : NULL;
  if (way == NULL) return NULL;
  bool finite = true;
  for (int64_t c = 0; c < k; c++) {
    double square = 0;
    for (int64_t j = c * d; j < (c + 1) * d; j++) {
      double off = now[j] - before[j];
      square = __builtin_fma(off, off, square);
    }
    way[c] = sqrt(square) * (1 + lost(d)) + 0x1p-500;
    finite = finite && isfinite(way[c]);
  }
  loss[k] = INFINITY;
  for (int64_t c = 0; c < k; c++) {
    double other = 0;
    for (int64_t e = 0; e < k; e++) {
      if (e != c && way[e] > other) other = way[e];
    }
    loss[c] = finite ? (way[c] + other) * (1 + lost(d)) : INFINITY;
  }
  return loss;
}

/* Where labels and values go to. */
static bool place_rows(FlPartMem *m, Nearest *s, FlArray **out) {
  const FlOpPart *part = fl_ctx_op_part(m->ctx);
  if (part && part->to_rows[0]) {
    s->label = part->to_rows[0];
    s->value = part->to_rows[1];
    return true;
  }
  if (out[0] == NULL) out[0] = fl_array_new(m->ctx, FL_I64, 1, &s->n);
  if (out[1] == NULL) out[1] = out[0] ? fl_array_new(m->ctx, FL_F64, 1, &s->n) : NULL;
  if (out[1] == NULL) return false;
  s->label = out[0]->data;
  s->value = out[1]->data;
  return true;
}

/* out: arrays that labels and values go to, or NULL. */
static FlStatus sweep(FlPartMem *m, const FlOpDesc *desc, Nearest *s, const FlSlot *args, FlArray **out) {
  const FlArray *x = args[0].a, *centers = args[1].a;
  s->x = x->data;
  s->centers = centers->data;
  s->n = x->dims[0];
  s->d = x->dims[1];
  s->k = centers->dims[0];
  s->group = group_fn();
  if (centers->dims[1] != s->d) return fl_part_fail_shape(m->ctx, desc, s->d, centers->dims[1]);
  if (s->k == 0 && s->n > 0)
    return fl_fail_op(m->ctx, desc, FL_FAULT_DOMAIN, "there is no center to be near to");
  int64_t places = s->k * s->d, line = fl_part_max(s->d, 1);
  double row_cost = 2.0 + (double)s->d + 0.1 * (double)places;
  s->block = fl_part_leaf(places);
  if (fl_part_is_told(m->ctx, s->n, s->block, row_cost, 2)) return 0;
  if (!place_rows(m, s, out)) return 1;
  out[2] = fl_array_new(m->ctx, FL_F64, 2, centers->dims);
  out[3] = out[2] ? fl_array_new(m->ctx, FL_I64, 1, &s->k) : NULL;
  if (out[3] == NULL) return 1;
  s->total = out[2]->data;
  s->count = out[3]->data;
  s->blocks = (s->n + s->block - 1) / s->block;
  s->chunk =
      fl_part_max(GROUP, fl_part_min(CHUNK, 32 * CHUNK / line / GROUP * GROUP)); /* stays in the L2 cache */
  s->across = fl_part_alloc(m, s->blocks * s->d * GROUP, sizeof *s->across);
  s->sums = s->across ? fl_part_alloc(m, s->blocks * places, sizeof *s->sums) : NULL;
  s->counts = s->sums ? fl_part_alloc(m, s->blocks * s->k, sizeof *s->counts) : NULL;
  s->changed = s->counts ? fl_part_alloc(m, s->blocks, sizeof *s->changed) : NULL;
  if (s->changed == NULL) return 1;
  if (fl_part_for(m->ctx, block_body, s, s->blocks, row_cost * (double)s->block) != 0) return 1;
  fl_fold_rows_f64(s->sums, s->blocks, places, places);
  if (s->blocks > 0) memcpy(s->total, s->sums, (size_t)places * sizeof *s->total);
  else memset(s->total, 0, (size_t)places * sizeof *s->total);
  for (int64_t c = 0; c < s->k; c++) {
    s->count[c] = 0;
    for (int64_t b = 0; b < s->blocks; b++) s->count[c] += s->counts[b * s->k + c];
  }
  return 0;
}

static FlStatus nearest(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Nearest s = {0};
  return sweep(m, desc, &s, args, out);
}

static FlStatus nearest_moved(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out,
                              int64_t *changed) {
  const FlArray *x = args[0].a, *centers = args[1].a, *before = args[2].a;
  FlArray *label = args[3].a, *gap = args[4].a;
  for (int axis = 0; axis < 2; axis++) {
    if (before->dims[axis] != centers->dims[axis])
      return fl_part_fail_shape(m->ctx, desc, centers->dims[axis], before->dims[axis]);
  }
  if (label->dims[0] != x->dims[0]) return fl_part_fail_shape(m->ctx, desc, x->dims[0], label->dims[0]);
  if (gap->dims[0] != x->dims[0]) return fl_part_fail_shape(m->ctx, desc, x->dims[0], gap->dims[0]);
  Nearest s = {.label_before = label->data, .gap_before = gap->data};
  s.loss = losses(m, before->data, centers->data, centers->dims[0], centers->dims[1]);
  FlOpPart *part = fl_ctx_op_part(m->ctx);
  bool last_label = desc->i & FL_NEAREST_LAST_LABEL, last_gap = desc->i & FL_NEAREST_LAST_GAP;
  if (last_label && !part) out[0] = fl_array_reuse(label);
  if (last_gap && !part) out[1] = fl_array_reuse(gap);
  if (s.loss == NULL || sweep(m, desc, &s, args, out) != 0) return 1;
  for (int64_t b = 0; b < s.blocks; b++) *changed += s.changed[b];
  if (part && part->from < 0) {
    if (last_label) part->in_place[0] = 3;
    if (last_gap) part->in_place[1] = 4;
  }
  return 0;
}

FlStatus fl_rt_nearest(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 4, nearest);
}

FlStatus fl_rt_nearest_moved(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  FlArray *out[4] = {NULL};
  int64_t changed = 0;
  FlStatus status = nearest_moved(&mem, desc, args, out, &changed);
  fl_part_mem_reset(&mem);
  for (int k = 0; k < 4; k++) {
    if (status != 0) fl_array_unref(out[k]);
    results[k].a = status == 0 ? out[k] : NULL;
  }
  results[4].i = changed;
  return status;
}
