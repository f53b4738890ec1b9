/* ranks_sums.c: sums of vectors of which each rank has some, made at once or behind the program.
 *
 * In: a list that is in parts between ranks. Out: the sum, at all ranks. Each rank adds
 * the largest complete subtrees of its vectors up, and gives each other one the elements that that one sums;
 * it joins those of all by the tree, and gives them to all. So each sends about twice the vector, however
 * many ranks there are. What always holds: all ranks come to the same sums in the same order, and begin one
 * only when all have room for it. */
#include "exec/ranks.h"
#include "exec/sums.h"

#include <stdlib.h>

typedef struct FlSumParts {
  int32_t n, here;
  int64_t k, *first; /* [n + 1] nodes before those of each rank */
  FlSumNode *nodes;  /* of all ranks */
  double *out;       /* of the own nodes: the elements of each rank's piece */
  double *in;        /* of the own piece: the nodes of each rank */
  FlRankTrade *with;
} FlSumParts;

void fl_sum_parts_free(FlSumParts *p) {
  if (!p) return;
  free(p->first);
  free(p->nodes);
  free(p->out);
  free(p->in);
  free(p->with);
  free(p);
}

/* Elements before those that rank r sums. */
static int64_t before(const FlSumParts *p, int32_t r) { return p->k / p->n * r + p->k % p->n * r / p->n; }
static int64_t nodes_of(const FlSumParts *p, int32_t r) { return p->first[r + 1] - p->first[r]; }

/* ---- a sum -------------------------------------------------------------------------------------------- */

/* The own nodes, by whose piece it is. */
static void add_own(const FlSum *s) {
  const FlSumParts *p = s->parts;
  int64_t mine = nodes_of(p, p->here), leaf = 0;
  for (int64_t j = 0; j < mine; j++) {
    const FlSumNode *node = &p->nodes[p->first[p->here] + j];
    int64_t n = 0;
    while (leaf + n < s->n_leaves && s->leaves[leaf + n].at < node->at + node->size) n++;
    for (int32_t r = 0; r < p->n; r++) {
      int64_t begin = before(p, r), end = before(p, r + 1);
      fl_sum_elements(s->leaves + leaf, n, begin, end, p->out + mine * begin + j * (end - begin));
    }
    leaf += n;
  }
}

static void join_own(const FlSum *s) {
  const FlSumParts *p = s->parts;
  int64_t begin = before(p, p->here), end = before(p, p->here + 1), mine = nodes_of(p, p->here);
  for (int32_t r = 0; r < p->n; r++) {
    const double *its = r == p->here ? p->out + mine * begin : p->in + p->first[r] * (end - begin);
    for (int64_t j = 0; j < nodes_of(p, r); j++)
      p->nodes[p->first[r] + j].from = its + j * (end - begin) - begin;
  }
  fl_sum_elements(p->nodes, p->first[p->n], begin, end, (double *)s->value->data + begin);
}

/* 0, or 1 + a rank that is lost. */
static int trade(FlRanks *ranks, const FlRankTrade *with, bool behind) {
  if (behind) return ranks->engine->trade_behind(ranks->arg, with);
  return fl_ranks_trade(ranks, with, 1) ? 0 : ranks->lost;
}

static int make(const FlSum *s, FlRanks *ranks, bool behind) {
  FlSumParts *p = s->parts;
  double *value = s->value->data;
  int64_t begin = before(p, p->here), size = before(p, p->here + 1) - begin, mine = nodes_of(p, p->here);
  add_own(s);
  for (int32_t r = 0; r < p->n; r++)
    p->with[r] = (FlRankTrade){p->out + mine * before(p, r),
                               mine * (before(p, r + 1) - before(p, r)) * (int64_t)sizeof(double),
                               p->in + p->first[r] * size, nodes_of(p, r) * size * (int64_t)sizeof(double)};
  int lost = trade(ranks, p->with, behind);
  if (lost) return lost;
  join_own(s);
  for (int32_t r = 0; r < p->n; r++)
    p->with[r] = (FlRankTrade){value + begin, size * (int64_t)sizeof(double), value + before(p, r),
                               (before(p, r + 1) - before(p, r)) * (int64_t)sizeof(double)};
  return trade(ranks, p->with, behind);
}

static int run(FlRankWork *work, FlRanks *ranks) { return make((const FlSum *)work, ranks, true); }

/* ---- where it begins ---------------------------------------------------------------------------------- */

/* The vectors before those of rank r, of a list that lies by the cut. */
static int64_t vectors_before(const FlSumArgs *a, const FlCut *cut, int32_t r) {
  int64_t rows = cut->at[r] - a->first, n = rows <= 0 ? 0 : (rows + a->apart - 1) / a->apart;
  return n < a->n ? n : a->n;
}

/* Whether none of the vectors of a node counts. */
static bool none_of(const FlSumArgs *a, const FlSumNode *node) {
  for (int64_t i = node->at; i < node->at + node->size && i < a->n; i++)
    if (a->weight[i] != 0) return false;
  return true;
}

static FlSumParts *parts_new(const FlRanks *r, const FlSumArgs *a, const FlCut *cut) {
  FlSumParts *p = calloc(1, sizeof *p);
  size_t n = (size_t)r->n;
  if (!p) return NULL;
  p->n = r->n;
  p->here = r->here;
  p->k = a->k;
  p->first = calloc(n + 1, sizeof *p->first);
  p->with = calloc(n, sizeof *p->with);
  bool fine = p->first && p->with;
  for (int32_t k = 0; fine && k < r->n; k++)
    p->first[k + 1] =
        p->first[k] + fl_sum_nodes(a->n, vectors_before(a, cut, k), vectors_before(a, cut, k + 1), NULL);
  if (fine) {
    int64_t all = p->first[r->n], piece = before(p, r->here + 1) - before(p, r->here);
    p->nodes = calloc((size_t)all + 1, sizeof *p->nodes);
    p->out = malloc((size_t)(nodes_of(p, r->here) * a->k + 1) * sizeof *p->out);
    p->in = malloc((size_t)(all * piece + 1) * sizeof *p->in);
  }
  if (fine && p->nodes && p->out && p->in) {
    for (int32_t k = 0; k < r->n; k++)
      fl_sum_nodes(a->n, vectors_before(a, cut, k), vectors_before(a, cut, k + 1), p->nodes + p->first[k]);
    for (int64_t i = 0; i < p->first[r->n]; i++) p->nodes[i].none = none_of(a, &p->nodes[i]);
    return p;
  }
  fl_sum_parts_free(p);
  return NULL;
}

/* All ranks have room for it. */
static FlStatus prepare(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, bool behind, FlSum **out) {
  FlRanks *r = ctx->ranks;
  const FlCut *cut = fl_array_cut(a->list);
  if (!r) return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: a list in parts, of one rank");
  FlSum *s = fl_sum_new(ctx, desc, a, vectors_before(a, cut, r->here), vectors_before(a, cut, r->here + 1));
  if (s) s->parts = parts_new(r, a, cut);
  FlStatus own = s && s->parts && (!behind || fl_ranks_behind(r)) ? 0 : FL_STATUS_MEMORY;
  if (own && !ctx->error) fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus status = fl_rows_meet(ctx, desc->site, own);
  *out = status ? NULL : s;
  if (status) fl_sum_free(s);
  return status;
}

FlStatus fl_ranks_sum_now(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, FlArray **sum) {
  FlSum *s;
  FlStatus status = prepare(ctx, desc, a, false, &s);
  if (!status && make(s, ctx->ranks, false)) status = fl_rows_lost(ctx);
  if (!status) *sum = fl_array_ref(s->value);
  fl_sum_free(s);
  return status;
}

FlStatus fl_ranks_sum_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t *number) {
  FlRanks *r = ctx->ranks;
  FlSum *s;
  FlStatus status = prepare(ctx, desc, a, true, &s);
  if (status) return status;
  int64_t piece = before(s->parts, r->here + 1) - before(s->parts, r->here);
  s->work = (FlRankWork){.run = run,
                         .bytes = (nodes_of(s->parts, r->here) * (a->k - piece) + piece * (r->n - 1)) *
                                  (int64_t)sizeof(double)};
  s->under_way = true;
  *number = fl_sum_put(ctx->run, s);
  fl_ranks_start(r, &s->work);
  return 0;
}
