/* strips.c: steps over the same rows, run strip by strip. See strips.h.
 *
 * In: a product by rows, loops over the elements of what it gives, and a fold of what these give, one after
 * the other. Out: what each gives by itself. What always holds: a strip is whole leaves of the fold, and
 * whole units of the product, so the bits are those of each step by itself; what waits holds references to
 * all that it reads and writes. */
#include "exec/strips.h"

#include "data/unwritten.h"
#include "exec/exec_internal.h"
#include "exec/ranks_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
  INNER = 4,         /* loops that wait at most */
  FROM = 4 << 20,    /* bytes of the rows: fewer stay in a cache anyway */
  STRIP = 256 << 10, /* bytes of a strip, about, */
  MOST = 2 << 20,    /* and at most: more leave the cache of one processor before they are read again */
  PIECE = 200 * 1000 /* nanoseconds that a worker takes at least */
};

typedef struct Inner {
  const FlKernel *kernel;
  FlSlot *env;
  int64_t n;
  double cost;
} Inner;

/* What a worker has spent, of each step. */
typedef struct Spent {
  _Atomic int64_t ns[INNER + 2];
} Spent;

typedef struct FlStrips {
  const FlOpDesc *first; /* NULL: nothing waits */
  FlSlot args[2];
  FlOpPart part;
  FlArray *out;     /* held once a loop reads it */
  const FlCut *cut; /* of it; NULL: it is whole */
  Inner inner[INNER];
  int32_t n;
  int64_t elsewhere;
} FlStrips;

/* ---- what waits --------------------------------------------------------------------------------------- */

/* Tests have all that can be run so. */
static int64_t from_bytes(void) {
  static _Atomic int64_t known; /* 0: not yet; all who find it out find the same */
  int64_t n = atomic_load_explicit(&known, memory_order_relaxed);
  if (n) return n;
  const char *word = getenv("FLOW_STRIPS_FROM");
  n = word ? strtoll(word, NULL, 10) : 0;
  if (n <= 0) n = FROM;
  atomic_store_explicit(&known, n, memory_order_relaxed);
  return n;
}

static bool is_array(const FlKernel *k, int32_t i) { return k->rows[i] != FL_ROWS_NONE; }

static void let_go_inner(Inner *l) {
  const FlSlot *results = fl_kernel_results(l->kernel, l->env);
  for (int32_t i = 0; i < l->kernel->n_uses; i++)
    if (is_array(l->kernel, i)) fl_array_unref(l->env[i].a);
  for (int32_t i = 0; i < l->kernel->n_results; i++) fl_array_unref(results[i].a);
  free(l->env);
}

static void let_go(FlStrips *s) {
  if (!s || !s->first) return;
  while (s->n > 0) let_go_inner(&s->inner[--s->n]);
  for (int32_t i = 0; i < 2; i++) fl_array_unref(s->args[i].a);
  s->first = NULL;
}

void fl_strips_drop(FlCtx *ctx) {
  let_go(ctx->strips);
  free(ctx->strips);
  ctx->strips = NULL;
}

int64_t fl_strips_elsewhere(FlCtx *ctx) {
  if (!ctx->strips) return 0;
  int64_t ns = ctx->strips->elsewhere;
  ctx->strips->elsewhere = 0;
  return ns;
}

static int64_t row_bytes(const FlArray *x) { return x->dims[1] * fl_dtype_info[x->dtype].bytes; }

FlStatus fl_strips_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlOpPart *part,
                         FlArray *out, const FlCut *cut, bool *done) {
  const FlArray *x = args[0].a;
  *done = false;
  if (part->folds || !part->unit || fl_pool_is_limited(fl_ctx_pool(ctx))) return 0;
  if (fl_array_bytes(x) < from_bytes() || row_bytes(x) * FL_BLOCK > MOST) return 0;
  if (!(ctx->strips = calloc(1, sizeof *ctx->strips)))
    return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  *ctx->strips = (FlStrips){.first = desc, .part = *part, .out = out, .cut = cut};
  for (int32_t i = 0; i < 2; i++) ctx->strips->args[i].a = fl_array_ref(args[i].a);
  *done = true;
  return 0;
}

FlStatus fl_strips_first(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  FlOpPart part = {.from = -1};
  *done = false;
  if (fl_array_bytes(args[0].a) < from_bytes()) return 0;
  FlStatus s = fl_op_in_part(ctx, desc, args, &part, NULL);
  if (s || !part.unit || part.folds) return s;
  FlArray *out = fl_array_new(ctx, args[0].a->dtype, desc->result_types[0].rank, part.dims);
  s = out ? fl_strips_begin(ctx, desc, args, &part, out, NULL, done) : FL_STATUS_MEMORY;
  if (*done) results[0].a = out;
  else fl_array_unref(out);
  return s;
}

/* Whether the loop can wait: it goes over the rows of what does, and its arrays are there. */
static bool fits(const FlStrips *s, const FlKernel *k, const FlSlot *env, int64_t n) {
  bool reads = false;
  if (s->n == INNER || env[k->n_uses].i != s->part.rows || n % s->part.rows) return false;
  for (int32_t i = 0; i < k->n_uses; i++) {
    if (!is_array(k, i)) continue;
    if (fl_array_is_unwritten(env[i].a)) return false;
    reads |= env[i].a == s->out;
    for (int32_t j = 0; j < s->n; j++) {
      const FlSlot *made = fl_kernel_results(s->inner[j].kernel, s->inner[j].env);
      for (int32_t r = 0; r < s->inner[j].kernel->n_results; r++) reads |= env[i].a == made[r].a;
    }
  }
  return reads;
}

static FlStatus add(FlCtx *ctx, const FlKernel *k, const FlSlot *env, int64_t n, double cost) {
  FlStrips *s = ctx->strips;
  size_t bytes = (size_t)k->n_env * sizeof *env;
  FlSlot *own = malloc(bytes + 1);
  if (!own) return fl_fail_text(ctx, k->site, FL_FAULT_MEMORY, "out of memory");
  memcpy(own, env, bytes);
  for (int32_t i = 0; i < k->n_uses; i++)
    if (is_array(k, i)) fl_array_ref(own[i].a);
  const FlSlot *results = fl_kernel_results(k, own);
  for (int32_t i = 0; i < k->n_results; i++) fl_array_ref(results[i].a);
  s->inner[s->n++] = (Inner){k, own, n, cost};
  return 0;
}

static FlStatus run_here(FlCtx *ctx) {
  const FlCut *cut = ctx->strips->cut;
  return fl_strips_run(ctx, cut ? fl_cut_from(cut) : 0, cut ? fl_cut_to(cut) : ctx->strips->part.rows, NULL);
}

FlStatus fl_strips_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost,
                          bool *done) {
  FlStrips *s = ctx->strips;
  *done = false;
  if (!s || !s->first) return 0;
  FlStatus status = 0;
  bool waits = fits(s, kernel, env, n);
  if (waits && s->cut) status = fl_rows_kernel_waits(ctx, kernel, env, s->cut, n, &waits);
  if (status || !waits) return status ? status : run_here(ctx);
  *done = true;
  return add(ctx, kernel, env, n, cost);
}

FlStatus fl_strips_wait(FlCtx *ctx, const FlSlot *args, const FlOpPart *part, bool *waits) {
  const FlStrips *s = ctx->strips;
  *waits = false;
  if (!s || !s->first) return 0;
  *waits = s->n > 0 && part->unit && part->folds && part->rows == s->part.rows &&
           part->unit * row_bytes(s->args[0].a) <= MOST;
  for (int32_t i = 0; i < 2; i++) {
    const FlCut *cut = fl_array_cut(args[i].a);
    *waits &= !cut || cut == s->cut;
  }
  return *waits ? 0 : run_here(ctx);
}

/* ---- running ------------------------------------------------------------------------------------------ */

typedef struct Strips {
  FlCtx *ctx;
  FlStrips *what;
  FlKernelFn fn[INNER];
  const FlStripsFold *fold;
  int64_t from, to, strip, first; /* rows; the number of the first strip */
  int64_t size;                   /* bytes of a number */
  bool timed;
  _Atomic int32_t failed;
  Spent spent;
} Strips;

FlStatus fl_strips_leaf(FlCtx *ctx, const FlStripsFold *fold, int64_t leaf) {
  FlOpPart part = fold->part;
  part.from = leaf * part.unit;
  part.to = part.from + part.unit < part.rows ? part.from + part.unit : part.rows;
  part.out = fold->states + (leaf - fold->first) * part.width * fold->size;
  return fl_op_in_part(ctx, fold->desc, fold->args, &part, NULL);
}

void fl_strips_sum(const FlStripsFold *fold, int64_t from, int64_t leaves, void *out) {
  int64_t width = fold->part.width, bytes = width * fold->size;
  char *states = fold->states + (from - fold->first) * bytes;
  if (fold->size == sizeof(double)) fl_fold_rows_f64((double *)(void *)states, leaves, width, width);
  else fl_fold_rows_f32((float *)(void *)states, leaves, width, width);
  memcpy(out, states, (size_t)bytes);
}

static void spend(Strips *t, int32_t step, int64_t *since) {
  if (!t->timed) return;
  int64_t now = fl_report_now(t->ctx->run->report);
  atomic_fetch_add_explicit(&t->spent.ns[step], now - *since, memory_order_relaxed);
  *since = now;
}

static FlStatus run_strip(Strips *t, FlCtx *ctx, int64_t from, int64_t to) {
  const FlStrips *w = t->what;
  int64_t since = t->timed ? fl_report_now(t->ctx->run->report) : 0;
  FlOpPart part = w->part;
  part.from = from;
  part.to = to;
  part.out = (char *)w->out->data + from * part.width * t->size;
  FlStatus s = fl_op_in_part(ctx, w->first, w->args, &part, NULL);
  spend(t, 0, &since);
  for (int32_t i = 0; i < w->n && !s; i++) {
    int64_t each = w->inner[i].n / part.rows;
    s = t->fn[i](ctx, w->inner[i].env, from * each, to * each);
    spend(t, 1 + i, &since);
  }
  if (!t->fold) return s;
  int64_t unit = t->fold->part.unit, all = part.rows;
  for (int64_t leaf = (from + unit - 1) / unit; leaf * unit < to && !s; leaf++)
    if ((leaf + 1) * unit <= to || to == all) s = fl_strips_leaf(ctx, t->fold, leaf);
  spend(t, 1 + INNER, &since);
  return s;
}

static void run_strips(void *env, int64_t begin, int64_t end, int worker) {
  Strips *t = env;
  FlCtx ctx;
  (void)worker;
  fl_ctx_init(&ctx, t->ctx->run, t->ctx);
  FlStatus s = 0;
  for (int64_t k = begin; k < end && !s && !fl_ctx_is_stopped(&ctx); k++) {
    int64_t from = (t->first + k) * t->strip, to = from + t->strip;
    s = run_strip(t, &ctx, from > t->from ? from : t->from, to < t->to ? to : t->to);
  }
  fl_ctx_reset(&ctx);
  if (s) atomic_store_explicit(&t->failed, s, memory_order_relaxed);
}

/* Rows of a strip: whole leaves, and whole units of the product, all of which are powers of two. */
static int64_t strip_of(const FlStrips *w, const FlStripsFold *fold) {
  int64_t rows = FL_BLOCK, row = w->args[0].a->dims[1] * fl_dtype_info[w->args[0].a->dtype].bytes;
  while (rows < w->part.unit || (fold && rows < fold->part.unit)) rows *= 2;
  while (rows * row < STRIP) rows *= 2;
  return rows;
}

static double cost_of(const FlStrips *w, const FlStripsFold *fold) {
  double cost = w->part.cost + (fold ? fold->part.cost : 0);
  for (int32_t i = 0; i < w->n; i++) cost += w->inner[i].cost * (double)(w->inner[i].n / w->part.rows);
  return cost;
}

/* What the steps before the last one took, in the record. The first one is in it already, as are its rows. */
static void tell(const Strips *t) {
  FlStrips *w = t->what;
  FlReport *report = t->ctx->run->report;
  int worker = fl_sched_worker(t->ctx->run->sched), workers = fl_ctx_workers(t->ctx);
  for (int32_t i = 0; i <= w->n && t->timed; i++) {
    const FlKernel *k = i ? w->inner[i - 1].kernel : NULL;
    const char *name = k ? k->name : w->first->name;
    int32_t site = k ? k->site : w->first->site;
    int64_t ns = atomic_load_explicit(&t->spent.ns[i], memory_order_relaxed) / workers;
    if (k) fl_report_end(report, fl_report_begin(report, worker, name, site), t->to - t->from, -1, 0, -1);
    fl_report_later(report, worker, name, site, ns);
    w->elsewhere += ns;
  }
}

FlStatus fl_strips_run(FlCtx *ctx, int64_t from, int64_t to, const FlStripsFold *fold) {
  FlStrips *w = ctx->strips;
  Strips t = {.ctx = ctx, .what = w, .fold = fold, .from = from, .to = to, .strip = strip_of(w, fold)};
  t.size = fl_dtype_info[w->out->dtype].bytes;
  t.timed = ctx->run->report != NULL;
  t.first = from / t.strip;
  for (int32_t i = 0; i < w->n; i++) {
    const FlKernel *k = w->inner[i].kernel;
    double ns = w->inner[i].cost * (double)w->inner[i].n;
    t.fn[i] = k->late ? fl_kernel_late(ctx->run, k, ns) : k->fast;
  }
  double cost = cost_of(w, fold) * (double)t.strip;
  int64_t grain = cost < PIECE ? (int64_t)(PIECE / (cost > 1 ? cost : 1)) : 1;
  if (to > from) fl_parallel_for(ctx, (to - 1) / t.strip + 1 - t.first, grain, run_strips, &t);
  FlStatus s = atomic_load_explicit(&t.failed, memory_order_relaxed);
  if (!s) tell(&t);
  int32_t site = w->first->site;
  let_go(w);
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  return s ? fl_fail_text(ctx, site, FL_FAULT_MEMORY, "out of memory") : 0;
}

FlStatus fl_strips_last(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  FlStripsFold fold = {desc, args, {.from = -1}, fl_dtype_info[args[0].a->dtype].bytes, 0, NULL};
  FlOpPart *part = &fold.part;
  *done = false;
  if (!ctx->strips || !ctx->strips->first) return 0;
  FlStatus s = fl_op_in_part(ctx, desc, args, part, NULL);
  if (!s) s = fl_strips_wait(ctx, args, part, done);
  if (s || !*done) return s;
  int64_t leaves = (part->rows + part->unit - 1) / part->unit, numbers = leaves * part->width;
  FlArray *out = fl_array_new(ctx, args[0].a->dtype, desc->result_types[0].rank, part->dims);
  FlArray *states = fl_array_new(ctx, args[0].a->dtype, 1, &numbers);
  s = out && states ? 0 : FL_STATUS_MEMORY;
  if (!s) {
    fold.states = states->data;
    s = fl_strips_run(ctx, 0, part->rows, &fold);
  }
  if (!s) {
    fl_strips_sum(&fold, 0, leaves, out->data);
    fl_one_nan(out->dtype, out->data, part->width);
  }
  fl_array_unref(states);
  if (s) fl_array_unref(out);
  else results[0].a = out;
  return s;
}
