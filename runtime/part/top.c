/* top.c: the first few rows of each group in the order of keys, without sorting the others.
 *
 * Comes in: how many, the group of each row or none, keys as sort_perm has them. Goes out: row numbers by
 * group, within it in the order of the keys. Always holds: as if all rows were sorted by group and keys,
 * stable, and the first of each group taken.
 *
 * While few are wanted, each piece of the rows keeps the best of each group it met in a short sorted list;
 * the lists of the pieces are merged in the order of the pieces, so that of equal rows the first wins. Of one
 * group a piece keeps more: it collects rows that are not worse than those it has, and sorts these out when
 * they are twice as many as are wanted. Otherwise all are sorted. */
#include "part/part_internal.h"

enum {
  MOST_KEPT = 64,
  FEW_OF = 64 /* a piece of the rows has at least so many for each that is kept of it */
};

typedef struct Best {
  uint64_t word;
  int64_t row; /* -1: none yet */
} Best;

typedef struct Top {
  const FlPartCodes *codes;
  const int64_t *id; /* NULL: one group */
  int64_t n, g, kept, pieces, piece;
  uint64_t *worst; /* [pieces][g] the last word of a list that is full, else UINT64_MAX */
  Best *best;      /* [pieces][g][kept] ascending */
  int64_t *start;  /* [g + 1] of the result */
  int64_t *rows;
} Top;

/* Puts a row behind those of equal words; the last one drops out. */
static inline void offer(Best *list, uint64_t *worst, int64_t kept, uint64_t word, int64_t row) {
  int64_t at = kept - 1;
  if (list[at].row >= 0 && list[at].word <= word) return;
  for (; at > 0 && (list[at - 1].row < 0 || list[at - 1].word > word); at--) list[at] = list[at - 1];
  list[at] = (Best){word, row};
  *worst = list[kept - 1].row >= 0 ? list[kept - 1].word : UINT64_MAX;
}

static int32_t best_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Top *t = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    Best *best = t->best + p * t->g * t->kept;
    uint64_t *worst = t->worst + p * t->g;
    int64_t last = fl_part_min((p + 1) * t->piece, t->n);
    for (int64_t k = 0; k < t->g * t->kept; k++) best[k].row = -1;
    for (int64_t k = 0; k < t->g; k++) worst[k] = UINT64_MAX;
    for (int64_t row = p * t->piece; row < last; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, last - row);
      fl_part_read_words(t->codes, 0, row, count, word);
      for (int64_t i = 0; i < count; i++) {
        int64_t k = t->id != NULL ? t->id[row + i] : 0;
        if (word[i] <= worst[k]) offer(best + k * t->kept, &worst[k], t->kept, word[i], row + i);
      }
    }
  }
  return 0;
}

static int32_t merge_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Top *t = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    Best *list = t->best + k * t->kept;
    for (int64_t p = 1; p < t->pieces; p++) {
      const Best *other = t->best + (p * t->g + k) * t->kept;
      for (int64_t i = 0; i < t->kept && other[i].row >= 0; i++) {
        offer(list, &t->worst[k], t->kept, other[i].word, other[i].row);
      }
    }
    int64_t found = 0;
    while (found < t->kept && list[found].row >= 0) found++;
    t->start[k + 1] = found;
  }
  return 0;
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Top *t = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    for (int64_t at = t->start[k]; at < t->start[k + 1]; at++) {
      t->rows[at] = t->best[k * t->kept + at - t->start[k]].row;
    }
  }
  return 0;
}

static FlStatus keep_best(FlPartMem *m, Top *t, FlArray **rows) {
  t->pieces = fl_part_max(1, fl_part_min(64, t->n / fl_part_max(8 * t->g * t->kept, FL_PART_CHUNK)));
  t->piece = (t->n + t->pieces - 1) / t->pieces;
  t->best = fl_part_alloc(m, t->pieces * t->g * t->kept, sizeof *t->best);
  t->worst = fl_part_alloc(m, t->pieces * t->g, sizeof *t->worst);
  t->start = fl_part_alloc(m, t->g + 1, sizeof *t->start);
  if (t->best == NULL || t->worst == NULL || t->start == NULL) return 1;
  if (fl_part_for(m->ctx, best_body, t, t->pieces, 3.0 * (double)t->piece) != 0) return 1;
  double offers = (double)(t->pieces * t->kept);
  if (fl_part_for(m->ctx, merge_body, t, t->g, 5.0 * offers) != 0) return 1;
  t->start[0] = 0;
  for (int64_t k = 0; k < t->g; k++) t->start[k + 1] += t->start[k];
  *rows = fl_array_new(m->ctx, FL_I64, 1, &t->start[t->g]);
  if (*rows == NULL) return 1;
  t->rows = (*rows)->data;
  return fl_part_for(m->ctx, write_body, t, t->g, 2.0 * (double)t->kept);
}

typedef struct Collected {
  const FlPartCodes *codes;
  int64_t n, kept, pieces, piece;
  FlPartPair *pairs; /* [pieces][4 kept]: what a piece has collected, and room to sort it */
  int64_t *found;    /* [pieces] */
} Collected;

/* The rows of each piece that are among its first `kept`, in their order. */
static int32_t collect_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Collected *t = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    FlPartPair *pairs = t->pairs + p * 4 * t->kept;
    int64_t found = 0, last = fl_part_min((p + 1) * t->piece, t->n);
    bool full = false;
    for (int64_t row = p * t->piece; row < last; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, last - row);
      fl_part_read_words(t->codes, 0, row, count, word);
      for (int64_t i = 0; i < count; i++) {
        if (full && word[i] >= pairs[t->kept - 1].key) continue;
        pairs[found++] = (FlPartPair){word[i], row + i};
        if (found < 2 * t->kept) continue;
        fl_part_sort_small(pairs, pairs + found, found);
        found = t->kept;
        full = true;
      }
    }
    fl_part_sort_small(pairs, pairs + 2 * t->kept, found);
    t->found[p] = fl_part_min(found, t->kept);
  }
  return 0;
}

static FlStatus collect(FlPartMem *m, const Top *of, FlArray **rows) {
  Collected t = {.codes = of->codes, .n = of->n, .kept = of->kept};
  t.pieces = fl_part_max(1, fl_part_min(64, t.n / fl_part_max(FEW_OF * t.kept, FL_PART_CHUNK)));
  t.piece = (t.n + t.pieces - 1) / t.pieces;
  t.pairs = fl_part_alloc(m, t.pieces * 4 * t.kept, sizeof *t.pairs);
  t.found = fl_part_alloc(m, t.pieces, sizeof *t.found);
  if (t.pairs == NULL || t.found == NULL) return 1;
  if (fl_part_for(m->ctx, collect_body, &t, t.pieces, 3.0 * (double)t.piece) != 0) return 1;
  int64_t found = 0;
  for (int64_t p = 0; p < t.pieces; p++) {
    memmove(t.pairs + found, t.pairs + p * 4 * t.kept, (size_t)t.found[p] * sizeof *t.pairs);
    found += t.found[p];
  }
  FlPartPair *sorted, *spare = fl_part_alloc(m, found, sizeof *spare);
  if (spare == NULL || fl_part_sort_pairs(m, t.pairs, spare, found, t.codes->words[0].bits, &sorted) != 0)
    return 1;
  *rows = fl_array_new(m->ctx, FL_I64, 1, &t.kept);
  if (*rows == NULL) return 1;
  int64_t *out = (*rows)->data;
  for (int64_t k = 0; k < t.kept; k++) out[k] = sorted[k].row;
  return 0;
}

/* All rows by group and keys, whose codes these are; the first of each group move to the front. */
static FlStatus sort_all(FlPartMem *m, FlPartCodes *codes, const Top *t, FlArray **rows) {
  int64_t *all = fl_part_alloc(m, t->n, sizeof *all), kept = 0, of_group = 0;
  if (all == NULL || fl_part_order_codes(m, codes, all) != 0) return 1;
  for (int64_t i = 0; i < t->n; i++) {
    of_group = i > 0 && (t->id == NULL || t->id[all[i]] == t->id[all[i - 1]]) ? of_group + 1 : 0;
    if (of_group < t->kept) all[kept++] = all[i];
  }
  *rows = fl_array_new(m->ctx, FL_I64, 1, &kept);
  if (*rows == NULL) return 1;
  if (kept > 0) memcpy((*rows)->data, all, (size_t)kept * sizeof *all);
  return 0;
}

static FlStatus top_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **rows) {
  FlPartKey *keys;
  FlPartCodes codes;
  int32_t n_keys = desc->n_columns, lead = desc->i == 1;
  if (fl_part_keys(m, desc, args + 1, &keys) != 0) return 1;
  Top t = {.codes = &codes, .n = keys[0].side[0].n, .g = 1, .kept = fl_part_max(args[0].i, 0)};
  t.kept = fl_part_min(t.kept, t.n);
  if (t.kept == 0) {
    *rows = fl_array_new(m->ctx, FL_I64, 1, &t.kept);
    return *rows == NULL;
  }
  if (lead) {
    t.id = keys[0].side[0].data;
    for (int64_t i = 0; i < t.n; i++) t.g = t.id[i] >= t.g ? t.id[i] + 1 : t.g;
  }
  bool few = t.g == 1 ? t.kept <= MOST_KEPT || t.kept <= t.n / FEW_OF
                      : t.kept <= MOST_KEPT && t.g <= t.n / t.kept / 4;
  if (few) {
    if (fl_part_encode(m, keys + lead, n_keys - lead, 1, true, &codes) != 0) return 1;
    if (codes.n_words == 1) return t.kept <= MOST_KEPT ? keep_best(m, &t, rows) : collect(m, &t, rows);
  }
  if ((lead || !few) && fl_part_encode(m, keys, n_keys, 1, true, &codes) != 0) return 1;
  return sort_all(m, &codes, &t, rows);
}

FlStatus fl_rt_top_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, top_rows);
}
