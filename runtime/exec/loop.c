/* loop.c: kernels over index spaces, and host-level loops, on the pool.
 *
 * In: a compiled kernel or function and a number of elements. Out: all done, or the error that comes first:
 * in program order, then in position. What always holds: how elements are cut into pieces depends on the
 * kernel and the data alone; pieces only schedule. */
#include "exec/kernel_rows.h"
#include "exec/moved.h"
#include "exec/strips.h"
#include "exec/tasks.h"

#include <stdlib.h>
#include <string.h>

/* Nanoseconds of work below which handing over costs more than it brings (a sleeping worker takes 5 us to
 * wake), and of one piece: long against a steal (0.1 us), short against the whole. */
static const double INLINE_BELOW = 20e3, PIECE = 50e3;

/* Units of columns are halved down to so many while they are less than so many pieces. */
enum { FEW_COLUMNS = 16, FEW_PIECES = 4 };

/* A loop of a run whose memory is limited: each piece first makes room. */
typedef struct FlTightLoop {
  FlPool *pool;
  FlLoopFn *fn;
  void *env;
} FlTightLoop;

static void tight_piece(void *env, int64_t begin, int64_t end, int worker) {
  const FlTightLoop *l = env;
  fl_pool_breathe(l->pool);
  l->fn(l->env, begin, end, worker);
}

static void run_loop(FlRun *run, int64_t n, int64_t grain, FlLoopFn *fn, void *env) {
  FlTightLoop tight = {run->pool, fn, env};
  if (fl_pool_is_limited(run->pool)) fl_sched_for(run->sched, n, grain, tight_piece, &tight);
  else fl_sched_for(run->sched, n, grain, fn, env);
}

void fl_parallel_for(FlCtx *ctx, int64_t n, int64_t grain, FlLoopFn *fn, void *env) {
  if (ctx && ctx->run) {
    run_loop(ctx->run, n, grain, fn, env);
    return;
  }
  if (grain < 1) grain = 1;
  for (int64_t i = 0; i < n; i += grain) fn(env, i, n - i > grain ? i + grain : n, 0);
}

/* ---- kernels --------------------------------------------------------------------------------------- */

typedef struct FlKernelRun {
  FlCtx *ctx;
  const FlKernel *kernel;
  FlKernelFn fast;
  const void *env;
  const FlKernelRows *rows; /* NULL: all that it captures is written */
  int64_t first;            /* element */
  bool traced;
  _Atomic int32_t faults; /* relaxed: read after the loop has joined all */
} FlKernelRun;

static int32_t run_range(const FlKernelRun *r, int64_t begin, int64_t end) {
  if (r->rows) return fl_kernel_rows_run(r->rows, r->ctx, r->kernel, r->fast, r->env, begin, end);
  return r->fast(r->ctx, r->env, begin, end);
}

static void run_piece(void *env, int64_t begin, int64_t end, int worker) {
  FlKernelRun *r = env;
  FlReport *report = r->ctx->run->report;
  if (fl_ctx_is_stopped(r->ctx)) return;
  if (atomic_load_explicit(&r->faults, memory_order_relaxed)) return; /* the precise form will see all */
  int64_t from = r->traced ? fl_report_now(report) : 0;
  int32_t faults = run_range(r, r->first + begin, r->first + end);
  if (faults) atomic_fetch_or_explicit(&r->faults, faults, memory_order_relaxed);
  if (r->traced) fl_report_kernel(report, r->kernel->name, worker, from, fl_report_now(report), end - begin);
}

/* Elements that stay together where a piece wants so many: of columns that stand in several rows whole rows,
 * unless these are long or few; of other columns fewer where there are few. */
static int64_t unit_of(const FlKernel *kernel, const FlSlot *env, int64_t n, double want) {
  int64_t unit = kernel->unit < 1 ? 1 : kernel->unit;
  if (unit == 1 || unit >= FL_BLOCK) return unit;
  int64_t width = kernel->n_sizes > 1 ? env[kernel->n_uses + kernel->n_sizes - 1].i : n;
  if (width > 0 && width <= n / FEW_PIECES && (width <= 2 * unit || (double)width <= 2 * want)) return width;
  while (unit > FEW_COLUMNS && unit * (FEW_PIECES - 1) >= n) unit /= 2;
  return unit;
}

/* Elements of a piece: whole units; whole blocks where a piece has several. */
static int64_t grain_of(const FlKernel *kernel, const FlSlot *env, int64_t n, double cost) {
  double want = cost > 0 ? PIECE / cost : (double)n;
  int64_t unit = unit_of(kernel, env, n, want);
  int64_t grain = want >= (double)n ? n : want < 1 ? 1 : (int64_t)want;
  if (grain > FL_BLOCK && FL_BLOCK % unit == 0) unit = FL_BLOCK;
  return (grain + unit - 1) / unit * unit;
}

FlStatus fl_kernel_first_fault(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t begin,
                               int64_t end, int32_t faults) {
  ctx->fault = (FlKernelFault){0};
  if (kernel->precise) kernel->precise(ctx, env, begin, end);
  const FlKernelFault *f = &ctx->fault;
  if (ctx->error) return ctx->error->status;
  if (!f->set && (faults & FL_FAULT_MEMORY)) /* which comes and goes */
    return fl_fail_text(ctx, kernel->site, FL_FAULT_MEMORY, "out of memory");
  if (!f->set)
    return fl_fail_text(ctx, kernel->site, FL_CODE_INTERNAL,
                        "bug in flow: the fault of a loop was not found again");
  FlStatus s = fl_fail(ctx, f->fault, f->site, f->type, f->a, f->b);
  fl_fail_position(ctx, f->n_index, f->index);
  return s;
}

static int32_t run_kernel_range(FlCtx *ctx, const FlKernel *kernel, const void *env, const FlKernelRows *rows,
                                int64_t begin, int64_t end, double cost) {
  int64_t n = end - begin;
  if (n <= 0) return 0;
  FlKernelRun r = {.ctx = ctx,
                   .kernel = kernel,
                   .fast = kernel->late ? fl_kernel_late(ctx->run, kernel, (double)n * cost) : kernel->fast,
                   .env = env,
                   .rows = rows,
                   .first = begin,
                   .traced = fl_report_wants_kernels(ctx->run->report)};
  FlReport *report = ctx->run->report;
  FlPlaceMark mark = fl_report_begin(report, fl_sched_worker(ctx->run->sched), kernel->name, kernel->site);
  int64_t moved = fl_report_times(mark) ? fl_moved_by_kernel(kernel, env, n) : -1;
  if ((double)n * cost < INLINE_BELOW && !r.traced) {
    atomic_init(&r.faults, run_range(&r, begin, end));
  } else {
    run_loop(ctx->run, n, grain_of(kernel, env, n, cost), run_piece, &r);
  }
  fl_report_end(report, mark, n, -1, 0, moved);
  return atomic_load_explicit(&r.faults, memory_order_relaxed);
}

int32_t fl_kernel_range(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t begin, int64_t end,
                        double cost) {
  return run_kernel_range(ctx, kernel, env, NULL, begin, end, cost);
}

static FlStatus run_kernel(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t n, double cost) {
  FlKernelRows rows;
  bool waits = false;
  FlStatus s = kernel->strips ? fl_strips_kernel(ctx, kernel, env, n, cost, &waits) : 0;
  if (s || waits) return s;
  s = ctx->ranks ? fl_kernel_rows_fill(ctx, kernel, env) : fl_kernel_rows_open(ctx, kernel, env, n, &rows);
  if (s) return s;
  if (ctx->ranks) return fl_ranks_kernel(ctx, kernel, env, n, cost);
  int64_t begin = 0, end = n;
  FlStatus parted =
      ctx->run->cuts && !ctx->run->options.ranks ? fl_part_kernel(ctx, kernel, env, &begin, &end) : 0;
  bool runs = !parted && end > begin && !fl_ctx_is_stopped(ctx);
  int32_t faults = runs ? run_kernel_range(ctx, kernel, env, rows.n ? &rows : NULL, begin, end, cost) : 0;
  fl_kernel_rows_close(&rows);
  if (parted || end <= begin) return parted;
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  if (!faults) return 0;
  s = fl_kernel_rows_fill(ctx, kernel, env);
  return s ? s : fl_kernel_first_fault(ctx, kernel, env, begin, end, faults);
}

FlStatus fl_run_kernel(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t n, double cost) {
  FlStatus s = run_kernel(ctx, kernel, env, n, cost);
  if (kernel->seen && !s)
    fl_seen(ctx, kernel->seen, (const FlSlot *)env + kernel->n_uses + kernel->n_sizes + kernel->n_places);
  return s;
}

void fl_kernel_fault(FlCtx *ctx, int32_t fault, int32_t site, int32_t rank, int64_t pos, const int64_t *index,
                     int32_t n_index, int32_t type, FlSlot a, FlSlot b) {
  FlKernelFault *f = &ctx->fault;
  if (f->set && (f->rank < rank || (f->rank == rank && f->pos <= pos))) return;
  *f = (FlKernelFault){true, fault, site, rank, type, n_index, pos, {0}, a, b};
  memcpy(f->index, index, (size_t)n_index * sizeof *index);
}

/* ---- host-level loops ------------------------------------------------------------------------------ */

typedef struct FlTaskJob {
  FlJob job;
  FlTaskSet *set;
} FlTaskJob;

static void keep_outcome(FlTaskSet *s, int64_t index, bool elsewhere, FlNotes *notes) {
  if (s->n_outcomes == s->cap_outcomes) {
    int64_t cap = s->cap_outcomes ? 2 * s->cap_outcomes : 16;
    FlTaskOutcome *at = realloc(s->outcomes, (size_t)cap * sizeof *at);
    if (!at) {
      fl_pool_give_up(s->ctx->run->pool, cap);
      return;
    }
    s->outcomes = at;
    s->cap_outcomes = cap;
  }
  s->outcomes[s->n_outcomes++] = (FlTaskOutcome){index, elsewhere, *notes};
  *notes = (FlNotes){0};
}

/* Says where element i stands in the index space. */
static void place(FlCtx *ctx, const FlTaskSet *s, int64_t i) {
  int64_t index[FL_MAX_RANK];
  for (int k = s->n_dims - 1; k >= 0; k--) {
    int64_t size = s->env[k].i;
    index[k] = k ? i % size : i;
    if (k) i /= size;
  }
  fl_fail_position(ctx, s->n_dims, index);
}

/* Element `at` of the set. */
static void run_element(FlTaskSet *s, int64_t at) {
  int64_t i = s->which ? s->which[at] : at;
  FlSlot few[16], *results = s->results + at * s->n_results,
                  *args = s->n_env < 16 ? few : malloc((size_t)(s->n_env + 1) * sizeof *args);
  FlCtx ctx;
  fl_ctx_init(&ctx, s->ctx->run, s->ctx);
  ctx.gives = s->gives;
  ctx.element = i;
  FlStatus status;
  if (args) {
    args[0].i = i;
    if (s->n_env) memcpy(args + 1, s->env, (size_t)s->n_env * sizeof *args);
    status = fl_ctx_is_stopped(&ctx) ? fl_fail_stopped(&ctx) : s->fn(&ctx, args, results);
    if (!status && (status = fl_fill_all(&ctx, s->n_results, s->types, results)))
      fl_slots_release(results, s->types, s->n_results);
  } else {
    status = fl_fail_text(&ctx, -1, FL_FAULT_MEMORY, "out of memory");
  }
  FlStatus own = status;
  status = fl_ctx_finish(&ctx, status);
  if (status && !own) fl_slots_release(results, s->types, s->n_results);
  if (status && s->n_results) memset(results, 0, (size_t)s->n_results * sizeof *results); /* it owns none */
  if (!status && s->stacks) fl_task_lay(s, &ctx, at, results);
  for (int32_t k = 0; s->heap && k < s->n_results; k++)
    if (fl_type_is_text(s->types[k]))
      results[k].t = fl_heap_text(s->heap, results[k].t.ptr, results[k].t.len);
  if (status || ctx.notes.n) {
    pthread_mutex_lock(&s->lock);
    bool elsewhere = status && !ctx.alike && fl_ctx_asks_elsewhere(&ctx);
    if (elsewhere) fl_notes_reset(&ctx.notes); /* it will be run whole, by another rank */
    if (ctx.notes.n || elsewhere) keep_outcome(s, i, elsewhere, &ctx.notes);
    if (status && !elsewhere && at < atomic_load_explicit(&s->failed, memory_order_relaxed)) {
      atomic_store_explicit(&s->failed, at, memory_order_relaxed);
      fl_ctx_reset(&s->error);
      fl_error_move(&s->error, &ctx);
      place(&s->error, s, i);
    }
    pthread_mutex_unlock(&s->lock);
  }
  fl_ctx_reset(&ctx);
  if (args != few) free(args);
}

static void run_elements(FlTaskSet *s) {
  for (;;) {
    int64_t i = atomic_fetch_add_explicit(&s->next, s->batch, memory_order_relaxed);
    int64_t end = s->n - i > s->batch ? i + s->batch : s->n;
    if (i >= s->n) return;
    for (; i < end; i++) {
      if (i > atomic_load_explicit(&s->failed, memory_order_relaxed)) return;
      run_element(s, i);
    }
  }
}

static void run_job(FlJob *job) { run_elements(((FlTaskJob *)job)->set); }

static int by_index(const void *a, const void *b) {
  int64_t x = ((const FlTaskOutcome *)a)->index, y = ((const FlTaskOutcome *)b)->index;
  return x < y ? -1 : x > y;
}

/* After a failure: what the elements that succeeded gave. Those that failed or never ran have empty slots. */
void fl_task_set_release(const FlTaskSet *s) {
  for (int64_t i = 0; i < s->n; i++)
    for (int32_t k = 0; k < s->n_results; k++)
      if (fl_type_is_array(s->types[k])) fl_array_unref(s->results[i * s->n_results + k].a);
}

void fl_task_set_run(FlTaskSet *s) {
  FlSched *sched = s->ctx->run->sched;
  int64_t n_jobs = fl_sched_workers(sched) - 1;
  if (n_jobs > s->n - 1) n_jobs = s->n > 0 ? s->n - 1 : 0; /* of a rank that has none */
  s->batch = s->n / ((n_jobs + 1) * 32);
  if (s->batch < 1) s->batch = 1;
  atomic_init(&s->next, 0);
  atomic_init(&s->failed, s->n);
  pthread_mutex_init(&s->lock, NULL);
  fl_ctx_init(&s->error, s->ctx->run, s->ctx);
  FlTaskJob *jobs = n_jobs > 0 ? calloc((size_t)n_jobs, sizeof *jobs) : NULL;
  if (!jobs) n_jobs = 0;
  for (int64_t k = 0; k < n_jobs; k++) {
    jobs[k] = (FlTaskJob){.job = {.run = run_job, .scope = s->ctx->scope}, .set = s};
    fl_job_start(sched, &jobs[k].job);
  }
  run_elements(s);
  for (int64_t k = 0; k < n_jobs; k++) fl_job_wait(sched, &jobs[k].job, s->ctx->scope);
  free(jobs);
  if (s->n_outcomes) qsort(s->outcomes, (size_t)s->n_outcomes, sizeof *s->outcomes, by_index);
}

void fl_task_set_reset(FlTaskSet *s) {
  for (int32_t k = 0; s->stacks && k < s->n_results; k++)
    fl_array_unref(atomic_load_explicit(&s->stacks[k], memory_order_relaxed));
  free(s->stacks);
  s->stacks = NULL;
  for (int64_t k = 0; k < s->n_outcomes; k++) fl_notes_reset(&s->outcomes[k].notes);
  free(s->outcomes);
  s->outcomes = NULL;
  s->n_outcomes = 0;
  fl_ctx_reset(&s->error);
  pthread_mutex_destroy(&s->lock);
}

FlStatus fl_run_tasks(FlCtx *ctx, FlHostFn fn, const FlSlot *env, int32_t n_env, int32_t n_dims, int64_t n,
                      FlSlot *results, int32_t n_results, const FlType1 *types, const uint8_t *is_stacked,
                      int32_t site, FlHeap *heap) {
  if (n <= 0) return 0;
  if (n_results) memset(results, 0, (size_t)(n * n_results) * sizeof *results);
  FlTaskSet s = {.ctx = ctx,
                 .fn = fn,
                 .env = env,
                 .n_env = n_env,
                 .n_dims = n_dims,
                 .n = n,
                 .results = results,
                 .types = types,
                 .heap = heap,
                 .is_stacked = is_stacked,
                 .stacks = is_stacked ? calloc((size_t)n_results, sizeof *s.stacks) : NULL,
                 .n_results = n_results};
  fl_task_set_run(&s);
  for (int64_t k = 0; k < s.n_outcomes; k++) fl_notes_move(&ctx->notes, &s.outcomes[k].notes);
  FlStatus status = 0;
  if (atomic_load_explicit(&s.failed, memory_order_relaxed) < n) {
    fl_fail_place(&s.error, site);
    status = s.error.error ? s.error.error->status : FL_STATUS_MEMORY;
    fl_error_move(ctx, &s.error);
    fl_task_set_release(&s);
  }
  fl_task_set_reset(&s);
  return status;
}
