/* run.c: one execution of a program, and its contexts.
 *
 * In: a program and options. Out: a run with its pool of workers, memory, store and report, and in the end
 * the exit status. What always holds: the thread that makes a run is a worker of its pool and runs the
 * script's own context. */
#include "base/high.h"
#include "exec/exec_internal.h"
#include "report/record.h"
#include "exec/ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- contexts ------------------------------------------------------------------------------------------ */

void fl_ctx_init(FlCtx *ctx, FlRun *run, const FlCtx *parent) {
  *ctx = (FlCtx){.run = run, .event = -1};
  if (parent) {
    ctx->self = parent->self;
    ctx->scope = parent->scope;
    ctx->stage = parent->stage;
    ctx->event = parent->event;
    ctx->unseen = parent->unseen;
    ctx->alike = parent->alike;
  } else {
    ctx->self = run->program ? run->program->self : NULL;
    ctx->scope = &run->scope;
  }
}

void fl_ctx_reset(FlCtx *ctx) {
  fl_error_free(ctx->error);
  ctx->error = NULL;
  fl_notes_reset(&ctx->notes);
  fl_heap_unref(ctx->texts);
  ctx->texts = NULL;
}

const void *fl_ctx_self(const FlCtx *ctx) { return ctx->self; }
FlRun *fl_ctx_run(const FlCtx *ctx) { return ctx->run; }
FlSched *fl_ctx_sched(const FlCtx *ctx) { return ctx->run->sched; }
const FlProgram *fl_ctx_program(const FlCtx *ctx) { return ctx && ctx->run ? ctx->run->program : NULL; }
FlHeap *fl_ctx_heap(FlCtx *ctx) {
  if (!ctx->texts) ctx->texts = fl_heap_new_stack(ctx);
  return ctx->texts;
}
FlFiles *fl_ctx_files(FlCtx *ctx) { return ctx && ctx->run ? ctx->run->files : NULL; }
FlPool *fl_ctx_pool(FlCtx *ctx) { return ctx && ctx->run ? ctx->run->pool : NULL; }
int fl_ctx_workers(const FlCtx *ctx) { return ctx && ctx->run ? fl_sched_workers(ctx->run->sched) : 1; }
bool fl_ctx_may_exec(const FlCtx *ctx) { return ctx && ctx->run && ctx->run->options.allow_exec; }

/* Standard output was not taken: that nobody reads it any more is no error, as with other programs. */
static FlStatus not_printed(FlCtx *ctx, int32_t site) {
  if (errno == EPIPE) {
    fl_run_stop(ctx->run, SIGPIPE);
    return fl_fail_stopped(ctx);
  }
  return fl_fail_text(ctx, site, FL_CODE_RESOURCE, "cannot write to standard output: %s", strerror(errno));
}

FlStatus fl_ctx_print(FlCtx *ctx, int32_t site, const char *bytes, int64_t len) {
  FlIoError e = {0};
  if (!fl_files_stayed(ctx, &e)) return fl_io_fail(ctx, site, &e, "", 0);
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  return fl_report_output(ctx->run->report, bytes, len) ? 0 : not_printed(ctx, site);
}

void fl_run_warn(FlRun *run, const char *fmt, ...) {
  char *text = NULL, *line = NULL;
  va_list args;
  va_start(args, fmt);
  int ok = vasprintf(&text, fmt, args);
  va_end(args);
  if (ok >= 0 && asprintf(&line, "warning: %s", text) >= 0) fl_report_line(run->report, line);
  if (ok >= 0) free(text);
  free(line);
}

/* Of several ranks one speaks. */
static void say_nothing(void *arg, const char *bytes, int64_t len) {
  (void)arg;
  (void)bytes;
  (void)len;
}

static void be_silent(FlRunOptions *o) {
  o->quiet = true;
  o->say = say_nothing;
  o->report_file = o->trace_file = NULL;
}

/* The first to tell of a site's line. */
static bool tells_of(FlRun *run, int32_t site) {
  const FlSite *sites = run->program->sites, *of = &sites[site];
  site = 0; /* the first of the line stands for all of them */
  while (sites[site].line != of->line || strcmp(sites[site].file, of->file) != 0) site++;
  _Atomic uint8_t *told = atomic_load_explicit(&run->told, memory_order_acquire);
  if (!told) { /* release: whoever sees the bytes sees that they are zero */
    _Atomic uint8_t *fresh = calloc((size_t)run->program->n_sites, 1);
    if (!fresh) return false;
    if (atomic_compare_exchange_strong_explicit(&run->told, &told, fresh, memory_order_acq_rel,
                                                memory_order_acquire))
      told = fresh;
    else free((void *)fresh);
  }
  return !atomic_exchange_explicit(&told[site], 1, memory_order_relaxed);
}

void fl_ctx_note_disk(FlCtx *ctx, int32_t site, int64_t bytes) {
  FlRun *run = ctx ? ctx->run : NULL;
  if (!run || run->options.quiet || !run->program || site < 0 || site >= run->program->n_sites) return;
  if (!tells_of(run, site)) return;
  const FlSite *at = &run->program->sites[site];
  char *line = NULL, bound[FL_POOL_BOUND];
  double mib = (double)bytes / (1 << 20);
  if (asprintf(&line, "%s:%d: note: this step keeps %.1f %s on disk: %s", at->file, at->line,
               mib < 1024 ? mib : mib / 1024, mib < 1024 ? "MiB" : "GiB",
               fl_pool_bound(run->pool, bound)) >= 0)
    fl_report_line(run->report, line);
  free(line);
}

static void *lend_memo(void *run, void *map, int64_t bytes) {
  return fl_pool_lend(((FlRun *)run)->pool, map, bytes);
}
static void breathe_memo(void *run) { fl_pool_breathe(((FlRun *)run)->pool); }
static void unlend_memo(void *loan) { fl_pool_unlend(loan); }
static void warn_memo(void *run, const char *message) { fl_run_warn(run, "%s", message); }

/* ---- runs ---------------------------------------------------------------------------------------------- */

FlRun *fl_run_new(const FlProgram *program, const FlRunOptions *options) {
  FlRun *run = calloc(1, sizeof *run);
  if (!run) return NULL;
  run->program = program;
  run->start = fl_run_clock();
  if (options) run->options = *options;
  pthread_mutex_init(&run->waiting_lock, NULL);
  bool lane = run->options.ranks && run->options.trace_file; /* of the timeline that rank 0 writes */
  if (run->options.ranks && run->options.ranks->here) be_silent(&run->options);
  if (run->options.taker) run->options.out = say_nothing;
  const FlRunOptions *o = &run->options;
  run->recorded = fl_last_run_wanted(run);
  pthread_mutex_init(&run->shown.lock, NULL);
  run->sched = o->pool ? o->pool : fl_sched_new(o->workers);
  int workers = run->sched ? fl_sched_workers(run->sched) : 1;
  run->entered = o->pool && fl_sched_enter(o->pool);
  run->pool = fl_pool_new(0);
  FlHighs *highs = run->recorded || o->report_file ? fl_highs_new(workers + 1) : NULL;
  if (run->pool) fl_pool_highs(run->pool, highs);
  run->paths = fl_paths_new();
  run->files = fl_files_new();
  run->flight = fl_flight_new();
  FlReportOptions report = {.script = o->script ? o->script
                                      : program ? program->name
                                                : "",
                            .html = o->report_file,
                            .trace = o->trace_file,
                            .lane = lane,
                            .quiet = o->quiet,
                            .counts = run->recorded || o->report_file || o->trace_file || lane,
                            .workers = workers,
                            .highs = highs,
                            .program = program,
                            .holds = o->tries > 0,
                            .save = run->recorded && !o->tries && !o->taker ? fl_last_run_save : NULL,
                            .save_arg = run,
                            .out = o->out,
                            .out_arg = o->out_arg,
                            .say = o->say,
                            .say_arg = o->say_arg,
                            .plan = o->plan,
                            .plan_arg = o->plan_arg};
  run->report = fl_report_new(&report);
  fl_highs_unref(highs);
  if (o->cache_dir)
    run->memo = fl_memo_open(&(FlMemoOptions){.dir = o->cache_dir,
                                              .warn = warn_memo,
                                              .warn_arg = run,
                                              .lend = lend_memo,
                                              .unlend = unlend_memo,
                                              .breathe = breathe_memo,
                                              .lend_arg = run});
  bool sees = fl_seen_init(run);
  if (!sees || !run->sched || !run->pool || !run->paths || !run->files || !run->flight || !run->report ||
      (o->cache_dir && !run->memo)) {
    fl_run_free(run);
    return NULL;
  }
  fl_pool_tell(run->pool, o->keep);
  if (!fl_pool_limit(run->pool, o->memory, o->cache_dir)) {
    fl_run_free(run);
    return NULL;
  }
  fl_ctx_init(&run->main, run, NULL);
  if (fl_report_is_live(run->report)) fl_last_run_look(run);
  run->main.ranks = o->ranks;
  run->shared = o->ranks != NULL;
  run->heap = fl_heap_new(&run->main);
  if (!o->ranks || fl_run_parts(run, o->ranks->n, o->ranks->here)) return run;
  fl_run_free(run);
  return NULL;
}

void fl_run_free(FlRun *run) {
  if (!run) return;
  fl_ctx_reset(&run->main);
  if (run->entered) fl_sched_leave(run->sched);
  if (!run->options.pool) fl_sched_free(run->sched);
  fl_flight_free(run->flight);
  fl_paths_free(run->paths);
  fl_files_free(run->files);
  fl_memo_unmap(run->before_text);
  free(run->record_name);
  fl_memo_close(run->memo);
  fl_heap_unref(run->heap);
  fl_pool_free(run->pool);
  fl_cuts_free(run->cuts);
  fl_report_free(run->report);
  fl_run_tried_free(run);
  fl_run_free_sums(run);
  pthread_mutex_destroy(&run->waiting_lock);
  free((void *)atomic_load(&run->told));
  fl_record_free(run->before);
  fl_record_free(run->record);
  fl_bytes_reset(&run->shown.lines);
  pthread_mutex_destroy(&run->shown.lock);
  fl_seen_free(&run->seen);
  free(run);
}

FlCtx *fl_run_ctx(FlRun *run) { return &run->main; }

void fl_run_stop(FlRun *run, int signal) {
  int before = 0;
  while (before <= 0 && before != signal &&
         !atomic_compare_exchange_weak_explicit(&run->stop, &before, signal, memory_order_relaxed,
                                                memory_order_relaxed)) {}
}

int fl_run_signal(const FlRun *run) {
  int signal = atomic_load_explicit(&run->stop, memory_order_relaxed);
  return signal > 0 ? signal : 0;
}

void fl_run_give_up(FlRun *run, int signal) {
  fl_files_give_up(run->files);
  fl_last_run_stopped(run, signal);
}

void fl_run_record_if_due(FlRun *run) { fl_report_save_if_due(run->report, fl_report_now(run->report)); }

static void tell_error(FlRun *run) {
  const FlError *error = run->main.error;
  char *text = NULL;
  size_t size = 0;
  FILE *to = error && run->options.say ? open_memstream(&text, &size) : stderr;
  if (error && to) fl_error_print(to, run->program, error, run->options.color);
  if (to && to != stderr && fclose(to) == 0 && text) fl_report_say(run->report, text, size);
  else if (!error || !to) fl_report_line(run->report, error ? error->message : "error[E0712]: out of memory");
  free(text);
}

int fl_run_main(FlRun *run, const FlSlot *args) {
  FlCtx *ctx = &run->main;
  const FlProgram *p = run->program;
  fl_run_tried_begin(run);
  FlStatus status = ctx->ranks ? fl_ranks_begin(ctx) : 0;
  if (!status && p->bind) status = p->bind(ctx, p->externs, p->n_externs);
  status = fl_ctx_finish(ctx, status ? status : p->main(ctx, args, NULL));
  FlIoError changed = {0}; /* what was printed last may have been of a file that is no more */
  if (!status && !fl_files_stay(ctx, &changed)) status = fl_io_fail(ctx, -1, &changed, "", 0);
  if (status && ctx->error) status = ctx->error->status;
  if (ctx->ranks) status = fl_ranks_end(ctx, status);
  if (run->tried_until && status && !fl_run_signal(run)) return FL_RUN_AGAIN;
  if (run->tried_until && !fl_run_tried_end(run, !status) && !status) status = not_printed(ctx, -1);
  if (!fl_report_flush(run->report) && !status) status = not_printed(ctx, -1);
  int signal = fl_run_signal(run);
  fl_fail_position_settle(ctx);
  bool said = ctx->ranks && ctx->ranks->lost && ctx->ranks->engine->says_lost;
  if (status && !said && (!ctx->error || ctx->error->status != 130)) tell_error(run);
  fl_last_run_end(run, status, signal);
  fl_report_before(run->report, run->before);
  if (signal && (!status || status == 130)) status = 128 + signal; /* a signal of late: fl_main sees to it */
  const char *failed = NULL;
  if (!fl_report_close(run->report, status, &failed)) {
    fl_run_warn(run, "cannot write %s: %s", failed, strerror(errno));
    if (!status) status = 4;
  }
  return status;
}
