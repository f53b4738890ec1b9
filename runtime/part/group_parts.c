/* group_parts.c: whole groups of rows dealt out to parts: folds, or train and test.
 *
 * Comes in: the group of each row, how large the parts shall be, a seed, perhaps a stratum of each row. Goes
 * out: the part of each row, the same for all rows of a group. Always holds: everything follows from the
 * arguments; one thread does it, as each group's place depends on those before it.
 *
 * Groups come in random order (ascending words w(g), word 0 of the Philox block at (seed, g, 0) of the stream
 * of splits); for folds larger ones first, as that evens sizes out. Each goes to the part where it adds least
 * to the sum over parts p and strata s of (rows of s in p / rows of s)^2 / share of p, the least squares of
 * the shares that are wanted; the first of equals. */
#include "part/part_internal.h"
#include "kern/random.h"

/* Rows of one stratum in one group. */
typedef struct Piece {
  int64_t stratum, rows;
} Piece;

typedef struct Deal {
  int64_t n, g, parts, strata;
  const int64_t *group, *stratum; /* [n]; stratum NULL: one */
  int64_t *start;                 /* [g + 1] where the pieces of each group begin */
  Piece *piece;
  int64_t *size;   /* [g] rows */
  double *total;   /* [strata] rows */
  double *given;   /* [parts * strata] rows so far */
  double share[2]; /* of the first part, of each other one */
} Deal;

static double share_of(const Deal *d, int64_t part) { return d->share[part > 0]; }

/* Counts the rows of each stratum in each group. */
static FlStatus count_pieces(FlPartMem *m, Deal *d) {
  FlPartPair *pairs = fl_part_alloc(m, d->n, sizeof *pairs), *spare = fl_part_alloc(m, d->n, sizeof *spare),
             *sorted;
  d->start = fl_part_zalloc(m, d->g + 1, sizeof *d->start);
  d->size = fl_part_zalloc(m, d->g, sizeof *d->size);
  d->total = fl_part_zalloc(m, d->strata, sizeof *d->total);
  d->given = fl_part_zalloc(m, d->parts * d->strata, sizeof *d->given);
  d->piece = fl_part_alloc(m, d->n, sizeof *d->piece);
  if (!pairs || !spare || !d->start || !d->size || !d->total || !d->given || !d->piece) return 1;
  for (int64_t i = 0; i < d->n; i++) {
    int64_t s = d->stratum ? d->stratum[i] : 0;
    pairs[i] = (FlPartPair){(uint64_t)(d->group[i] * d->strata + s), i};
    d->size[d->group[i]]++;
    d->total[s] += 1;
  }
  int bits = fl_part_bits((uint64_t)d->g) + fl_part_bits((uint64_t)d->strata);
  if (fl_part_sort_pairs(m, pairs, spare, d->n, bits < 64 ? bits : 64, &sorted) != 0) return 1;
  int64_t pieces = 0;
  for (int64_t i = 0; i < d->n; i++) {
    bool first = i == 0 || sorted[i].key != sorted[i - 1].key;
    int64_t key = (int64_t)sorted[i].key;
    if (first) {
      d->piece[pieces++] = (Piece){key % d->strata, 0};
      d->start[key / d->strata + 1]++;
    }
    d->piece[pieces - 1].rows++;
  }
  for (int64_t k = 0; k < d->g; k++) d->start[k + 1] += d->start[k];
  return 0;
}

/* The groups in the order in which they are dealt out. */
static FlStatus order_groups(FlPartMem *m, const Deal *d, int64_t seed, bool large_first,
                             const FlPartPair **order) {
  FlPartPair *pairs = fl_part_alloc(m, d->g, sizeof *pairs), *spare = fl_part_alloc(m, d->g, sizeof *spare),
             *sorted;
  if (pairs == NULL || spare == NULL) return 1;
  for (int64_t k = 0; k < d->g; k++)
    pairs[k] = (FlPartPair){fl_random_block(seed, k, 0, FL_STREAM_SPLIT).lo, k};
  if (fl_part_sort_pairs(m, pairs, spare, d->g, 64, &sorted) != 0) return 1;
  if (large_first) {
    for (int64_t k = 0; k < d->g; k++) sorted[k].key = (uint64_t)(d->n - d->size[sorted[k].row]);
    FlPartPair *other = sorted == pairs ? spare : pairs;
    if (fl_part_sort_pairs(m, sorted, other, d->g, fl_part_bits((uint64_t)d->n), &sorted) != 0) return 1;
  }
  *order = sorted;
  return 0;
}

/* What a group adds to the sum of squares in a part. */
static double cost_of(const Deal *d, int64_t group, int64_t part) {
  double cost = 0;
  for (int64_t i = d->start[group]; i < d->start[group + 1]; i++) {
    Piece p = d->piece[i];
    double rows = (double)p.rows, total = d->total[p.stratum];
    cost += rows * (2 * d->given[part * d->strata + p.stratum] + rows) / (total * total);
  }
  return cost / share_of(d, part);
}

static void deal(const Deal *d, const FlPartPair *order, int64_t *part_of_group) {
  for (int64_t k = 0; k < d->g; k++) {
    int64_t group = order[k].row, best = -1;
    double least = 0;
    for (int64_t part = 0; part < d->parts; part++) {
      if (!(share_of(d, part) > 0)) continue;
      double cost = cost_of(d, group, part);
      if (best >= 0 && cost >= least) continue;
      best = part;
      least = cost;
    }
    part_of_group[group] = best;
    for (int64_t i = d->start[group]; i < d->start[group + 1]; i++)
      d->given[best * d->strata + d->piece[i].stratum] += (double)d->piece[i].rows;
  }
}

static FlStatus group_parts(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Deal d = {.n = args[1].a->dims[0], .g = args[0].i, .parts = args[2].i, .group = args[1].a->data};
  double share = args[3].f;
  bool folds = desc->i == 1;
  if (folds && (d.parts < 2 || d.parts > d.g))
    return fl_fail_op(m->ctx, desc, FL_CODE(974),
                      "cannot make %lld folds of %lld groups, expected 2 to the number of groups",
                      (long long)d.parts, (long long)d.g);
  if (!folds && !(share >= 0.0 && share <= 1.0))
    return fl_fail_op(m->ctx, desc, FL_FAULT_DOMAIN, "a share of the rows is from 0 to 1, and this is %g",
                      share);
  d.share[0] = folds ? 1.0 : share;
  d.share[1] = folds ? 1.0 : 1.0 - share;
  if (desc->n_args > 5) {
    if (args[5].a->dims[0] != d.n) return fl_part_fail_shape(m->ctx, desc, d.n, args[5].a->dims[0]);
    d.stratum = args[5].a->data;
  }
  d.strata = 1;
  for (int64_t i = 0; i < d.n; i++) {
    if (d.group[i] < 0 || d.group[i] >= d.g) return fl_part_fail_index(m->ctx, desc, d.group[i], d.g);
    if (d.stratum && d.stratum[i] >= d.strata) d.strata = d.stratum[i] + 1;
  }
  const FlPartPair *order;
  int64_t *part_of_group = fl_part_alloc(m, d.g, sizeof *part_of_group);
  *out = fl_array_new(m->ctx, FL_I64, 1, &d.n);
  if (part_of_group == NULL || *out == NULL || count_pieces(m, &d) != 0) return 1;
  if (order_groups(m, &d, args[4].i, folds, &order) != 0) return 1;
  deal(&d, order, part_of_group);
  for (int64_t i = 0; i < d.n; i++) ((int64_t *)(*out)->data)[i] = part_of_group[d.group[i]];
  return 0;
}

FlStatus fl_rt_group_parts(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, group_parts);
}
