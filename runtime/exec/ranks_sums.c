/* ranks_sums.c: sums of vectors of which each rank has some, made at once or behind the program.
 *
 * In: a list that is in parts between ranks. Out: the sum, at all ranks. Each rank adds
 * the largest complete subtrees of its vectors up, and gives each other one the elements that that one sums;
 * it joins those of all by the tree, and gives them to all. So each sends about twice the vector, however
 * many ranks there are. Where vectors come part by part (ranks_ahead.c), that is done for some parts after
 * the other. What always holds: all ranks come to the same sums in the same order, and begin one only when
 * all have room for it. */
#include "exec/ranks.h"
#include "exec/sums.h"

#include <stdlib.h>
#include <string.h>

/* Elements in the order in which they come to be. */
typedef struct Span {
  int64_t from, to;
  int64_t first, end; /* the parts that they are */
} Span;

typedef struct FlSumOver {
  int32_t n, here;
  int64_t *first;   /* [n + 1] nodes before those of each rank */
  FlSumNode *nodes; /* of all ranks */
  FlSumPart *parts; /* of all vectors */
  int64_t n_parts, chunk;
  double *out;  /* of the own nodes: the elements of each rank's piece */
  double *in;   /* of the own piece of a span: the nodes of each rank */
  double *line; /* the sum, in the order in which its elements come to be; NULL: that is the vector's */
  FlRankTrade *with;
} FlSumOver;

void fl_sum_over_free(FlSumOver *o) {
  if (!o) return;
  free(o->first);
  free(o->nodes);
  free(o->parts);
  free(o->out);
  free(o->in);
  free(o->line);
  free(o->with);
  free(o);
}

/* The elements of a span before those that rank r sums. */
static int64_t before(const FlSumOver *o, const Span *c, int32_t r) {
  int64_t k = c->to - c->from;
  return c->from + k / o->n * r + k % o->n * r / o->n;
}
static int64_t piece(const FlSumOver *o, const Span *c, int32_t r) {
  return before(o, c, r + 1) - before(o, c, r);
}
static int64_t nodes_of(const FlSumOver *o, int32_t r) { return o->first[r + 1] - o->first[r]; }

/* The next parts that are summed together; false: those were all. It begins as {0}. */
static bool next_span(const FlSumOver *o, Span *c) {
  *c = (Span){.from = c->to, .to = c->to, .first = c->end, .end = c->end};
  while (c->end < o->n_parts && (c->end == c->first || c->to - c->from < o->chunk))
    c->to += o->parts[c->end++].size;
  return c->end > c->first;
}

/* ---- a sum ----------------------------------------------------------------------------------------- */

/* What elements [from, to) of the own nodes are of part q, where the piece of rank r has them. */
static void add_part(const FlSum *s, const Span *c, int64_t q, int32_t r) {
  const FlSumOver *o = s->over;
  const FlSumPart *part = &o->parts[q];
  int64_t mine = nodes_of(o, o->here), begin = before(o, c, r), size = piece(o, c, r);
  int64_t from = begin > part->before ? begin : part->before;
  int64_t end = part->before + part->size, to = begin + size < end ? begin + size : end, leaf = 0;
  for (int64_t j = 0; j < mine && from < to; j++) {
    const FlSumNode *node = &o->nodes[o->first[o->here] + j];
    int64_t n = 0;
    while (leaf + n < s->n_leaves && s->leaves[leaf + n].at < node->at + node->size) n++;
    fl_sum_elements(s->leaves + leaf, n, from, to, o->out + mine * begin + j * size + (from - begin));
    leaf += n;
  }
}

/* The own nodes, by whose piece it is. */
static void add_own(const FlSum *s, const Span *c) {
  for (int64_t q = c->first; q < c->end; q++) {
    for (int64_t i = 0; i < s->n_leaves; i++) {
      const FlArray *held = s->held[i * s->n_parts + q];
      if (!s->leaves[i].none) s->leaves[i].from = (const double *)held->data - s->over->parts[q].before;
    }
    for (int32_t r = 0; r < s->over->n; r++) add_part(s, c, q, r);
  }
}

static double *sums_of(const FlSum *s) { return s->over->line ? s->over->line : s->value->data; }

static void join_own(const FlSum *s, const Span *c) {
  const FlSumOver *o = s->over;
  int64_t begin = before(o, c, o->here), size = piece(o, c, o->here), mine = nodes_of(o, o->here);
  for (int32_t r = 0; r < o->n; r++) {
    const double *its = r == o->here ? o->out + mine * begin : o->in + o->first[r] * size;
    for (int64_t j = 0; j < nodes_of(o, r); j++) o->nodes[o->first[r] + j].from = its + j * size - begin;
  }
  fl_sum_elements(o->nodes, o->first[o->n], begin, begin + size, sums_of(s) + begin);
}

/* To where the vector has them. */
static void lay(const FlSum *s, const Span *c) {
  const FlSumOver *o = s->over;
  for (int64_t q = c->first; q < c->end && o->line; q++)
    memcpy((double *)s->value->data + o->parts[q].at, o->line + o->parts[q].before,
           (size_t)o->parts[q].size * sizeof(double));
}

/* 0, or 1 + a rank that is lost. */
static int trade(FlRanks *ranks, const FlRankTrade *with, bool behind) {
  if (behind) return ranks->engine->trade_behind(ranks->arg, with, &ranks->awaited);
  return fl_ranks_trade(ranks, with, 1) ? 0 : ranks->lost;
}

static int make_span(const FlSum *s, const Span *c, FlRanks *ranks, bool behind) {
  enum { BYTES = sizeof(double) };
  FlSumOver *o = s->over;
  int64_t size = piece(o, c, o->here), mine = nodes_of(o, o->here);
  double *sums = sums_of(s);
  if (fl_sum_ahead_wait(s->ahead, c->first, c->end)) add_own(s, c);
  else memset(o->out + mine * c->from, 0, (size_t)(mine * (c->to - c->from)) * BYTES);
  for (int32_t r = 0; r < o->n; r++)
    o->with[r] = (FlRankTrade){o->out + mine * before(o, c, r), mine * piece(o, c, r) * BYTES,
                               o->in + o->first[r] * size, nodes_of(o, r) * size * BYTES};
  int lost = trade(ranks, o->with, behind);
  if (lost) return lost;
  join_own(s, c);
  for (int32_t r = 0; r < o->n; r++)
    o->with[r] = (FlRankTrade){sums + before(o, c, o->here), size * BYTES, sums + before(o, c, r),
                               piece(o, c, r) * BYTES};
  lost = trade(ranks, o->with, behind);
  if (!lost) lay(s, c);
  return lost;
}

static int make(const FlSum *s, FlRanks *ranks, bool behind) {
  int lost = 0;
  for (Span c = {0}; !lost && next_span(s->over, &c);) lost = make_span(s, &c, ranks, behind);
  return lost;
}

static int run(FlRankWork *work, FlRanks *ranks) { return make((const FlSum *)work, ranks, true); }

/* ---- where it begins ------------------------------------------------------------------------------- */

int64_t fl_sum_vectors_before(const FlSumArgs *a, const int64_t *at, int32_t r) {
  int64_t rows = at[r] - a->first, n = rows <= 0 ? 0 : (rows + a->apart - 1) / a->apart;
  return n < a->n ? n : a->n;
}

/* Whether none of the vectors of a node counts. */
static bool none_of(const FlSumArgs *a, const FlSumNode *node) {
  for (int64_t i = node->at; i < node->at + node->size && i < a->n; i++)
    if (a->weight[i] != 0) return false;
  return true;
}

static bool add_nodes(FlSumOver *o, const FlSumArgs *a, const int64_t *at) {
  for (int32_t r = 0; r < o->n; r++)
    o->first[r + 1] = o->first[r] + fl_sum_nodes(a->n, fl_sum_vectors_before(a, at, r),
                                                 fl_sum_vectors_before(a, at, r + 1), NULL);
  int64_t all = o->first[o->n];
  o->nodes = calloc((size_t)all + 1, sizeof *o->nodes);
  for (int32_t r = 0; r < o->n && o->nodes; r++)
    fl_sum_nodes(a->n, fl_sum_vectors_before(a, at, r), fl_sum_vectors_before(a, at, r + 1),
                 o->nodes + o->first[r]);
  for (int64_t i = 0; i < all && o->nodes; i++) o->nodes[i].none = none_of(a, &o->nodes[i]);
  return o->nodes != NULL;
}

/* Elements of the largest piece of this rank in any span. */
static int64_t largest_piece(const FlSumOver *o) {
  int64_t most = 0;
  for (Span c = {0}; next_span(o, &c);)
    if (piece(o, &c, o->here) > most) most = piece(o, &c, o->here);
  return most;
}

bool fl_sum_over(FlSum *s, const FlRanks *r, const FlSumArgs *a, const int64_t *at, const FlSumPart *parts,
                 int64_t n_parts, int64_t chunk) {
  FlSumOver *o = s->over = calloc(1, sizeof *o);
  if (!o) return false;
  *o = (FlSumOver){.n = r->n, .here = r->here, .n_parts = n_parts, .chunk = chunk};
  o->first = calloc((size_t)r->n + 1, sizeof *o->first);
  o->with = calloc((size_t)r->n, sizeof *o->with);
  o->parts = calloc((size_t)n_parts, sizeof *o->parts);
  if (!o->first || !o->with || !o->parts || !add_nodes(o, a, at)) return false;
  memcpy(o->parts, parts, (size_t)n_parts * sizeof *parts);
  o->out = malloc((size_t)(nodes_of(o, r->here) * a->k + 1) * sizeof *o->out);
  o->in = malloc((size_t)(o->first[r->n] * largest_piece(o) + 1) * sizeof *o->in);
  if (n_parts > 1) o->line = malloc((size_t)(a->k + 1) * sizeof *o->line);
  return o->out && o->in && (o->line || n_parts == 1);
}

/* All ranks have room for it. */
static FlStatus prepare(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, bool behind, FlRankSlot *mine,
                        FlSum **out) {
  FlRanks *r = ctx->ranks;
  const FlCut *cut = fl_array_cut(a->list);
  const FlSumPart whole = {.size = a->k};
  if (!r) return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: a list in parts, of one rank");
  FlSum *s = fl_sum_of(ctx, desc, a, fl_sum_vectors_before(a, cut->at, r->here),
                       fl_sum_vectors_before(a, cut->at, r->here + 1));
  bool room = s && fl_sum_over(s, r, a, cut->at, &whole, 1, a->k) && (!behind || fl_ranks_behind(r));
  if (!room && !ctx->error) mine->failed = fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus status = fl_ranks_together(ctx, mine);
  *out = status ? NULL : s;
  if (status) fl_sum_free(s);
  return status;
}

FlStatus fl_ranks_sum_now(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, FlArray **sum) {
  FlRankSlot mine = {.step = FL_RANKS_ROWS, .site = desc->site};
  FlSum *s;
  fl_sum_habit_let_go(ctx->run, a->list);
  FlStatus status = prepare(ctx, desc, a, false, &mine, &s);
  if (!status && make(s, ctx->ranks, false)) status = fl_rows_lost(ctx);
  if (!status) *sum = fl_array_ref(s->value);
  fl_sum_free(s);
  return status;
}

void fl_sum_start(FlSum *s, FlRanks *ranks) {
  const FlSumOver *o = s->over;
  s->work = (FlRankWork){.run = run};
  for (Span c = {0}; next_span(o, &c);) {
    int64_t own = piece(o, &c, o->here);
    s->work.bytes +=
        (nodes_of(o, o->here) * (c.to - c.from - own) + own * (o->n - 1)) * (int64_t)sizeof(double);
  }
  s->under_way = true;
  fl_ranks_start(ranks, &s->work);
}

FlStatus fl_ranks_sum_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t *number) {
  FlRankSlot mine = {.step = FL_RANKS_ROWS, .site = desc->site};
  FlSum *s = fl_sum_ahead_take(ctx, a);
  if (!s) {
    struct FlSumHabit *habit = fl_sum_habit_tell(ctx, a, &mine);
    FlStatus status = prepare(ctx, desc, a, true, &mine, &s);
    if (status) return status;
    fl_sum_habit_learn(ctx, habit);
    s->habit = habit;
    fl_sum_start(s, ctx->ranks);
  }
  *number = fl_sum_put(ctx->run, s);
  return 0;
}
