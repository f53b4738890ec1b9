/* ranks_products.c: products of matrices whose rows are in parts between ranks, or that ranks share.
 *
 * In: MATMUL, which says how it can be done in parts: by rows of its result, or as a fold of rows of both
 * factors. Out: rows at the ranks that have those of the first factor; or the sum over all rows, whole at all
 * ranks. What always holds: a tile of rows, or a leaf of the fold, is one rank's, and BLAS is asked for it as
 * one rank asks; leaves are joined by the tree of folds: the bits of one rank. */
#include "exec/ranks_args.h"
#include "exec/ranks_parts.h"
#include "exec/strips.h"

#include <stdlib.h>
#include <string.h>

typedef struct Product {
  FlBorders borders;
  const FlOpDesc *desc;
  const FlSlot *args;
  FlOpPart part;
  int32_t dtype, rank; /* of the result */
  int64_t size;        /* bytes of a number */
  /* Of a fold that others waited for (strips.h): the leaves that are run here, which are made; else NULL. */
  const FlStripsFold *leaves;
} Product;

static FlStatus ask(Product *p) { return fl_op_in_part(p->borders.ctx, p->desc, p->args, &p->part, NULL); }

/* The factors that are read by rows which may be in parts. */
static FlRowArgs factors(const Product *p) {
  return (FlRowArgs){.desc = p->desc,
                     .args = p->args,
                     .how = p->part.folds ? FL_ROWS_FOLD : FL_ROWS_OWN,
                     .rows = p->part.unit ? p->part.rows : -1};
}

/* All is whole: each rank makes the rows that stay there, or a part of what goes to all, where that pays. */
static bool is_shared(const Product *p, bool stays) {
  FlRanks *r = p->borders.ctx->ranks;
  const FlOpPart *part = &p->part;
  if (!part->unit || part->rows < 2 * part->unit) return false;
  if (!part->folds && stays) return true;
  int64_t sent = part->folds ? part->width * r->n * 16 : part->width * part->rows; /* subtrees of a rank */
  return fl_ranks_share(r, part->rows, part->cost, sent * p->size);
}

/* ---- folds ------------------------------------------------------------------------------------------ */

static FlStatus fold_own(Product *p, char *states) {
  FlSubtree trees[FL_SUBTREES];
  int32_t here = p->borders.ctx->ranks->here, n = fl_borders_subtrees(&p->borders, here, trees);
  int64_t bytes = p->part.width * p->size;
  states += fl_borders_subtrees_before(&p->borders, here) * bytes;
  FlStatus s = 0;
  for (int32_t i = 0; i < n && !s; i++, states += bytes) {
    if (p->leaves) {
      fl_strips_sum(p->leaves, trees[i].leaf, trees[i].n, states);
      continue;
    }
    p->part.from = trees[i].leaf * p->borders.unit;
    p->part.to = p->part.from + trees[i].n * p->borders.unit;
    if (p->part.to > p->part.rows) p->part.to = p->part.rows;
    p->part.out = states;
    s = ask(p);
  }
  return s;
}

static FlStatus fold(Product *p, FlStatus s, FlSlot *results) {
  FlCtx *ctx = p->borders.ctx;
  int64_t trees = fl_borders_subtrees_before(&p->borders, p->borders.cut->n);
  char *states = malloc((size_t)(trees * p->part.width * p->size) + 1);
  FlArray *out = p->rank ? fl_array_new(ctx, p->dtype, p->rank, p->part.dims) : NULL;
  uint64_t scalar = 0;
  if (!s && (!states || (p->rank && !out))) s = FL_STATUS_MEMORY;
  if (!s) s = fold_own(p, states);
  s = fl_borders_fold(&p->borders, p->desc->site, p->dtype, p->part.width, states,
                      out ? out->data : (void *)&scalar, s);
  free(states);
  if (s) fl_array_unref(out);
  else if (out) results[0].a = out;
  else results[0].u = scalar;
  return s;
}

/* Others wait for this one: all are run over the own rows, strip by strip; then the leaf that needs rows of
 * others. */
static FlStatus fold_strips(Product *p, const FlRowArgs *by_rows, FlSlot *results) {
  FlCtx *ctx = p->borders.ctx;
  const FlCut *cut = p->borders.cut;
  int64_t unit = p->part.unit, begin = fl_borders_begin(&p->borders, cut->here) / unit;
  int64_t end = (fl_borders_begin(&p->borders, cut->here + 1) + unit - 1) / unit;
  FlStripsFold leaves = {p->desc, p->args, p->part, p->size, begin, NULL};
  leaves.states = malloc((size_t)((end - begin) * p->part.width * p->size) + 1);
  FlStatus s = leaves.states ? 0 : fl_fail_op(ctx, p->desc, FL_FAULT_MEMORY, "out of memory");
  if (!s) s = fl_strips_run(ctx, fl_cut_from(cut), fl_cut_to(cut), &leaves);
  s = fl_rows_meet(ctx, p->desc->site, s);
  if (!s) {
    s = fl_row_args_bring(by_rows, &p->borders);
    if (!s && end > begin && end * unit > fl_cut_to(cut) && fl_cut_to(cut) < p->part.rows)
      s = fl_strips_leaf(ctx, &leaves, end - 1);
    p->leaves = &leaves;
    s = fold(p, s, results);
    fl_row_args_shut(by_rows);
  }
  free(leaves.states);
  return s;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static FlStatus make_rows(Product *p, FlStatus s, bool stays, FlSlot *results) {
  FlCtx *ctx = p->borders.ctx;
  const FlOpPart *part = &p->part;
  int32_t here = ctx->ranks->here;
  FlArray *out = fl_array_new_part(ctx, p->dtype, p->rank, part->dims, p->borders.cut);
  p->part.from = fl_borders_begin(&p->borders, here);
  p->part.to = fl_borders_begin(&p->borders, here + 1);
  if (!s && !out) s = FL_STATUS_MEMORY;
  if (!s && part->from < part->to) s = fl_array_open_rows(ctx, out, part->from, part->to);
  bool waits = false;
  if (!s && p->desc->strips == FL_STRIPS_FIRST && stays && part->unit == 1)
    s = fl_strips_begin(ctx, p->desc, p->args, part, out, p->borders.cut, &waits);
  if (waits) {
    results[0].a = out;
    return 0;
  }
  if (!s && part->from < part->to) {
    p->part.out = (char *)out->data + part->from * part->width * p->size;
    s = ask(p);
  }
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = p->desc->site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY};
  s = fl_ranks_together(ctx, &mine);
  if (!s && !fl_borders_return(&p->borders, out)) s = fl_rows_lost(ctx);
  if (!s) fl_array_shut(out);
  if (!s && !stays) s = fl_rows_gather(ctx, p->desc->site, out);
  if (s) fl_array_unref(out);
  else results[0].a = out;
  return s;
}

FlStatus fl_ranks_product(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  Product p = {.borders = {.ctx = ctx},
               .desc = desc,
               .args = args,
               .part = {.from = -1},
               .dtype = args[0].a->dtype,
               .rank = desc->result_types[0].rank,
               .size = fl_dtype_info[args[0].a->dtype].bytes};
  FlStatus s = ask(&p);
  const FlCut *cut = NULL;
  FlRowArgs by_rows = factors(&p);
  bool waits = false;
  if (!s && desc->strips == FL_STRIPS_LAST) s = fl_strips_wait(ctx, args, &p.part, &waits);
  if (!s) s = fl_row_args_lay(ctx, &by_rows, &cut);
  *done = s != 0;
  if (s) return s;
  bool many = cut || fl_rows_are_many(ctx, p.part.rows * p.part.width);
  bool stays = !p.part.folds && p.rank && desc->stays[0] && many;
  if (!cut && is_shared(&p, stays)) {
    cut = fl_rows_cut(ctx, p.part.rows, p.part.folds ? 1 : p.part.width);
    if (!cut) return FL_STATUS_MEMORY;
  }
  if (!cut) return 0;
  *done = true;
  p.borders = (FlBorders){ctx, cut, p.part.rows, 1, p.part.unit};
  if (waits) return fold_strips(&p, &by_rows, results);
  s = fl_row_args_bring(&by_rows, &p.borders);
  s = p.part.folds ? fold(&p, s, results) : make_rows(&p, s, stays, results);
  fl_row_args_shut(&by_rows);
  return s;
}
