/* ranks_parts.c: kernels on arrays that are in parts between ranks.
 *
 * In: a kernel, arrays of which each rank has some rows. Out: of a map its own rows, at each rank; of a fold
 * the states of all blocks, at all; of a filter what it kept of its rows, and how many all did. What always
 * holds: a block of a fold, or of a filter, is run whole, by the rank that has its first element, which is
 * sent the rows of it that others have: less than a block a border; so states are those that one rank makes.
 * An error is that of the first element that fails, at all ranks. */
#include "exec/ranks_parts.h"

#include <stdlib.h>
#include <string.h>

/* A kernel that runs in parts. */
typedef struct Parts {
  FlCtx *ctx;
  const FlKernel *kernel;
  const FlSlot *env, *results;
  FlBorders borders;
  bool blocks; /* it runs whole blocks */
} Parts;

static bool runs_blocks(const FlKernel *k) {
  return k->in_parts == FL_PARTS_FOLD || k->in_parts == FL_PARTS_KEPT;
}

static int64_t begin_of(const Parts *p, int32_t k) { return fl_borders_begin(&p->borders, k); }

/* Of the first block that rank k runs; behind the last one, where it runs none. */
static int64_t block_of(const Parts *p, int32_t k) { return (begin_of(p, k) + FL_BLOCK - 1) / FL_BLOCK; }

/* ---- how a kernel runs ------------------------------------------------------------------------------ */

/* Rows of texts are not sent to whoever has the block. */
static bool needs_borders(const FlKernel *k, const FlCut *cut, int64_t each) {
  FlBorders b = {NULL, cut, each * fl_cut_rows(cut), each, FL_BLOCK};
  return runs_blocks(k) && fl_borders_cross(&b);
}

/* Array i that it captures can be read in the parts that it is in. */
static bool fits(const FlKernel *k, int32_t i, const FlArray *a, int64_t rows, int64_t each) {
  const FlCut *cut = fl_array_cut(a);
  return k->in_parts && k->in_parts != FL_PARTS_COLUMNS && k->rows[i] == FL_ROWS_OWN &&
         fl_cut_rows(cut) == rows && !(fl_dtype_is_text(a->dtype) && needs_borders(k, cut, each));
}

bool fl_kernel_borrows(const FlKernel *k, const FlSlot *env, int32_t i) {
  enum { FEW = 1 << 10 };
  int64_t rows = env[k->n_uses].i;
  if (k->rows[i] != FL_ROWS_OWN || !k->in_parts || k->in_parts == FL_PARTS_COLUMNS) return false;
  const FlCut *cut = fl_array_cut(env[i].a);
  return cut && rows > 0 && rows <= FEW && rows < fl_cut_rows(cut) && !fl_dtype_is_text(env[i].a->dtype) &&
         env[i].a->dtype != FL_LIST;
}

FlStatus fl_rows_of_kernel(FlCtx *ctx, const FlKernel *k, const FlSlot *env, int64_t n, const FlCut **cut) {
  const FlSlot *results = fl_kernel_results(k, env);
  int64_t rows = env[k->n_uses].i, each = rows > 0 ? n / rows : 0;
  FlStatus s = 0;
  *cut = NULL;
  for (int32_t i = 0; i < k->n_uses; i++)
    if (k->rows[i] != FL_ROWS_NONE && !*cut && fl_array_cut(env[i].a) && fits(k, i, env[i].a, rows, each))
      *cut = fl_array_cut(env[i].a);
  for (int32_t i = 0; i < k->n_uses && !s; i++) {
    const FlCut *its = k->rows[i] == FL_ROWS_NONE ? NULL : fl_array_cut(env[i].a);
    bool there = its && ((its == *cut && fits(k, i, env[i].a, rows, each)) || fl_kernel_borrows(k, env, i));
    if (its && !there) s = fl_rows_gather(ctx, k->site, env[i].a);
  }
  bool makes = false; /* whatever they are here: some ranks may write them over what others may not */
  for (int32_t i = 0; i < k->n_results; i++)
    makes |= k->stays[i] && fl_rows_are_many(ctx, fl_array_count(results[i].a));
  if (!s && !*cut && makes && k->in_parts && n > 0) {
    *cut = fl_rows_cut(ctx, rows, each);
    if (!*cut) s = FL_STATUS_MEMORY;
  }
  for (int32_t i = 0; i < k->n_results && !s && !*cut; i++)
    if (fl_array_is_apart(results[i].a))
      s = fl_array_open(ctx, results[i].a, 0, fl_array_count(results[i].a));
  return s;
}

/* ---- borders: ranks_borders.c ------------------------------------------------------------------------ */

static bool is_read_in_parts(const Parts *p, int32_t i) {
  return p->kernel->rows[i] == FL_ROWS_OWN && fl_array_cut(p->env[i].a) == p->borders.cut;
}

static FlStatus bring_all(Parts *p) {
  FlStatus s = 0;
  for (int32_t i = 0; i < p->kernel->n_uses && p->blocks; i++) {
    if (!is_read_in_parts(p, i)) continue;
    FlStatus its = fl_borders_bring(&p->borders, p->env[i].a); /* all take part, also where one has no room */
    if (!s) s = its;
  }
  return s;
}

static void shut_all(Parts *p) {
  for (int32_t i = 0; i < p->kernel->n_uses && p->blocks; i++)
    if (is_read_in_parts(p, i)) fl_array_shut(p->env[i].a);
  for (int32_t i = 0; i < p->kernel->n_results && p->kernel->in_parts == FL_PARTS_FOLD; i++)
    if (fl_array_cut(p->results[i].a)) fl_array_shut(p->results[i].a);
}

/* ---- results ---------------------------------------------------------------------------------------- */

/* Memory for the elements that are run here. */
static FlStatus open_results(Parts *p, int64_t begin, int64_t end) {
  const FlKernel *k = p->kernel;
  FlStatus s = 0;
  for (int32_t i = 0; i < k->n_results && !s; i++) {
    FlArray *a = p->results[i].a;
    bool filled = false; /* it is written over what it is computed from */
    for (int32_t j = 0; j < k->n_uses; j++) filled |= k->rows[j] == FL_ROWS_OWN && p->env[j].a == a;
    if (k->in_parts == FL_PARTS_KEPT) {
      if (fl_array_is_apart(a)) s = fl_array_open(p->ctx, a, begin, end + 1);
      continue;
    }
    if (!k->stays[i]) { /* written over what is in parts, it gets the rows of others as well */
      if (fl_array_cut(a)) s = fl_array_open(p->ctx, a, 0, fl_array_count(a));
      continue;
    }
    s = fl_array_become_part(p->ctx, a, p->borders.cut, filled ? begin : end, end);
    if (!s && begin < end) s = fl_array_open(p->ctx, a, begin, end);
  }
  return s;
}

/* What others need of what was run here. */
static bool send_results(Parts *p) {
  FlRanks *r = p->ctx->ranks;
  const FlKernel *kernel = p->kernel;
  bool fine = true;
  for (int32_t k = 0; k < r->n && fine; k++) {
    int64_t from = begin_of(p, k), to = begin_of(p, k + 1);
    if (p->blocks) fine = fl_rows_send_states(p->ctx, k, kernel, p->env, from, to);
    for (int32_t i = 0; i < kernel->n_results && fine && kernel->in_parts != FL_PARTS_KEPT; i++)
      if (!kernel->stays[i]) fine = fl_rows_send(p->ctx, k, p->results[i].a, from, to);
  }
  for (int32_t i = 0; i < kernel->n_results && fine && kernel->in_parts == FL_PARTS_FOLD; i++)
    if (kernel->stays[i]) fine = fl_borders_return(&p->borders, p->results[i].a);
  return fine;
}

/* Those that must be whole are, also where they were written over what is in parts. */
static void end_results(Parts *p) {
  const FlKernel *k = p->kernel;
  for (int32_t i = 0; i < k->n_results && k->in_parts != FL_PARTS_KEPT; i++)
    if (!k->stays[i] && fl_array_cut(p->results[i].a)) fl_array_become_whole(p->results[i].a);
}

bool fl_rows_send_states(FlCtx *ctx, int32_t k, const FlKernel *kernel, const FlSlot *env, int64_t from,
                         int64_t to) {
  int64_t size = kernel->in_parts == FL_PARTS_KEPT ? (int64_t)sizeof(int64_t) : kernel->block_bytes;
  int64_t first = from / FL_BLOCK, end = (to + FL_BLOCK - 1) / FL_BLOCK;
  char *states = (char *)fl_kernel_places(kernel, env)[0].a;
  return to <= from || fl_ranks_send(ctx->ranks, k, states + first * size, (end - first) * size);
}

/* How what the ranks have kept lies in parts, for fl_join_kept. */
static FlStatus lay_kept(Parts *p) {
  FlCtx *ctx = p->ctx;
  FlRanks *r = ctx->ranks;
  const int64_t *counts = (const int64_t *)(const void *)fl_kernel_places(p->kernel, p->env)[0].a;
  for (int32_t k = 0; k < r->n; k++) {
    int64_t *kept = &r->slots[k].values[3];
    *kept = 0;
    for (int64_t b = block_of(p, k); b < block_of(p, k + 1); b++) *kept += counts[b];
  }
  ctx->kept = fl_rows_cut_by(ctx, 3);
  ctx->kept_from = block_of(p, r->here);
  return ctx->kept ? 0 : FL_STATUS_MEMORY;
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* Whether others must know how it went. */
static bool meets(const Parts *p) {
  const FlKernel *k = p->kernel;
  bool all = p->blocks || k->precise;
  for (int32_t i = 0; i < k->n_results; i++) all |= !k->stays[i];
  return all;
}

/* The own elements; a fault is recorded, and no failure. */
static FlStatus run_own(Parts *p, int64_t begin, int64_t end, double cost, FlRowsFault *fault) {
  FlCtx *ctx = p->ctx;
  int32_t faults = fl_kernel_range(ctx, p->kernel, p->env, begin, end, cost);
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  if (!faults) return 0;
  FlStatus s = fl_kernel_first_fault(ctx, p->kernel, p->env, begin, end, faults);
  if (!ctx->fault.set) return s; /* of this machine: there is no memory */
  *fault = (FlRowsFault){true, ctx->fault.rank, ctx->fault.pos};
  return 0;
}

static Parts parts_of(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, const FlCut *cut, int64_t n) {
  return (Parts){.ctx = ctx,
                 .kernel = kernel,
                 .env = env,
                 .results = fl_kernel_results(kernel, env),
                 .borders = {ctx, cut, n, fl_cut_rows(cut) > 0 ? n / fl_cut_rows(cut) : 0,
                             runs_blocks(kernel) ? FL_BLOCK : 1},
                 .blocks = runs_blocks(kernel)};
}

FlStatus fl_rows_kernel_waits(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, const FlCut *cut,
                              int64_t n, bool *waits) {
  Parts p = parts_of(ctx, kernel, env, cut, n);
  *waits = kernel->in_parts == FL_PARTS_ELEMENTS && !meets(&p);
  for (int32_t i = 0; i < kernel->n_uses && *waits; i++) {
    const FlCut *its = kernel->rows[i] == FL_ROWS_NONE ? NULL : fl_array_cut(env[i].a);
    if (its) *waits = its == cut && fits(kernel, i, env[i].a, fl_cut_rows(cut), p.borders.each);
  }
  int32_t here = ctx->ranks->here;
  return *waits ? open_results(&p, begin_of(&p, here), begin_of(&p, here + 1)) : 0;
}

FlStatus fl_rows_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, const FlCut *cut, int64_t n,
                        double cost) {
  Parts p = parts_of(ctx, kernel, env, cut, n);
  int64_t begin = begin_of(&p, ctx->ranks->here), end = begin_of(&p, ctx->ranks->here + 1);
  FlRowsFault fault = {0};
  FlStatus s = bring_all(&p);
  if (!s) s = open_results(&p, begin, end);
  if (!s) s = run_own(&p, begin, end, cost, &fault);
  if (!meets(&p)) return s;
  FlRankSlot mine = {.site = kernel->site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY};
  s = fl_rows_agree(ctx, &mine, &fault);
  if (!s && !send_results(&p)) s = fl_rows_lost(ctx);
  if (!s && kernel->in_parts == FL_PARTS_KEPT) s = lay_kept(&p);
  if (!s) end_results(&p);
  shut_all(&p);
  return s;
}

/* ---- what a filter keeps ---------------------------------------------------------------------------- */

/* The first counts[b] elements of each block of `from` go to `to`, one after the other, from `at` on, blocks
 * from `block` on, until they are `end`. */
static void join(const FlArray *from, FlArray *to, const int64_t *counts, int64_t block, int64_t at,
                 int64_t end) {
  int64_t size = fl_dtype_info[to->dtype].bytes;
  for (; at < end; at += counts[block++])
    memcpy((char *)to->data + at * size, (const char *)from->data + block * FL_BLOCK * size,
           (size_t)(counts[block] * size));
}

/* Of a result that must be whole, each rank's elements go to all. */
static FlStatus send_kept(FlCtx *ctx, FlArray *a, const FlCut *cut) {
  bool fine = true;
  for (int32_t k = 0; k < cut->n && fine; k++) fine = fl_rows_send(ctx, k, a, cut->at[k], cut->at[k + 1]);
  return fine ? 0 : fl_rows_lost(ctx);
}

/* The same of texts: `a` stays where it is. */
static FlStatus send_kept_texts(FlCtx *ctx, FlArray *a, const FlArray *from, const FlCut *cut,
                                const int64_t *counts, int32_t site) {
  FlArray *all = fl_array_new_part(ctx, a->dtype, 1, a->dims, cut);
  if (!all) return FL_STATUS_MEMORY;
  join(from, all, counts, ctx->kept_from, fl_cut_from(cut), fl_cut_to(cut));
  FlStatus s = fl_array_keep(ctx, all, NULL, &a, 1);
  if (!s) s = fl_rows_gather(ctx, site, all);
  if (!s) s = fl_array_keep(ctx, a, NULL, &all, 1);
  if (!s && fl_array_bytes(a)) memcpy(a->data, all->data, (size_t)fl_array_bytes(a));
  fl_array_unref(all);
  return s;
}

FlStatus fl_join_kept(FlCtx *ctx, const int64_t *counts, int64_t blocks, int32_t n, const FlSlot *slots,
                      int32_t site) {
  const FlCut *cut = ctx->kept;
  int64_t block = cut ? ctx->kept_from : 0, total = 0;
  ctx->kept = NULL;
  for (int64_t b = 0; b < blocks; b++) total += counts[b];
  FlStatus s = 0;
  for (int32_t i = 0; i < n && !s; i++) {
    FlArray *a = slots[n + i].a;
    bool apart = fl_array_is_apart(a);
    if (cut && !apart && fl_dtype_is_text(a->dtype)) {
      s = send_kept_texts(ctx, a, slots[i].a, cut, counts, site);
      continue;
    }
    if (apart) s = cut ? fl_array_become_part(ctx, a, cut, 0, 0) : fl_array_open(ctx, a, 0, total);
    if (s) break;
    join(slots[i].a, a, counts, block, cut ? fl_cut_from(cut) : 0, cut ? fl_cut_to(cut) : total);
    if (cut && !apart) s = send_kept(ctx, a, cut);
  }
  return s;
}
