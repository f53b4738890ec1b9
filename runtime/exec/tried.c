/* tried.c: runs that are tried: a form of the program that is there at once runs it for a moment, before one
 * that is faster is made.
 *
 * In: a run, and how much of the processors it may take. Out: it is stopped when that is over, or would be.
 * What always holds: nothing of a run that is given up is seen: what it prints is held back
 * (FlReportOptions.holds), results of its stages wait in memory, it leaves no record, and what cannot be
 * taken back it does not do. */
#include "exec/exec_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
  EACH = 64,  /* so many looks at one of the clocks, which takes half a microsecond */
  SLEEPS = 8, /* nobody waits longer than so many times the time of the processors for what was printed */
  MOST_BYTES = 1 << 22, /* of a result that waits, or of a file that is read */
  MOST_VALUES = 1 << 17 /* that an operator is given: nobody knows how long it takes */
};

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t taken(void) { return now(CLOCK_PROCESS_CPUTIME_ID); }

void fl_run_look(FlRun *run) {
  uint32_t looks = atomic_fetch_add_explicit(&run->looks, 1, memory_order_relaxed);
  if (looks % EACH != 0) return;
  if (taken() > run->tried_until || now(CLOCK_MONOTONIC) > run->tried_at_most) fl_run_stop(run, -1);
}

FlStatus fl_ctx_act(FlCtx *ctx) {
  if (!ctx || !ctx->run || !ctx->run->tried_until) return 0;
  fl_run_stop(ctx->run, -1);
  return fl_fail_stopped(ctx);
}

FlStatus fl_tried_read(FlCtx *ctx, const char *path, int64_t len) {
  if (!ctx || !ctx->run || !ctx->run->tried_until) return 0;
  struct stat there;
  char *name = strndup(path, (size_t)len);
  bool ordinary = name && stat(name, &there) == 0 && S_ISREG(there.st_mode) &&
                  (there.st_size <= MOST_BYTES || ctx->run->options.looks);
  bool none = name && stat(name, &there) != 0; /* it fails, then */
  free(name);
  return ordinary || none ? 0 : fl_ctx_act(ctx);
}

FlStatus fl_tried_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args) {
  if (!ctx->run || !ctx->run->tried_until || ctx->run->options.looks) return 0;
  int64_t n = 0;
  for (int32_t i = 0; i < desc->n_args; i++) {
    FlType1 t = desc->arg_types[i];
    if ((t.rank || t.depth) && args[i].a) n += fl_array_count(args[i].a);
  }
  return n <= MOST_VALUES ? 0 : fl_ctx_act(ctx);
}

FlStatus fl_run_walk(FlCtx *ctx, int32_t site, int64_t n, double ns, FlWalkFn *walk, void *arg) {
  FlRun *run = ctx->run;
  if (!run || n == 0) return walk(arg);
  if (run->tried_until && ns > 0 && (double)taken() + ns > (double)run->tried_until) fl_run_stop(run, -1);
  if (fl_ctx_is_stopped(ctx)) return fl_fail_stopped(ctx);
  FlPlaceMark mark = fl_report_begin(run->report, fl_sched_worker(run->sched), "loop", site);
  FlStatus s = walk(arg);
  fl_report_end(run->report, mark, n, -1, 0, -1);
  return s;
}

/* ---- results of stages that wait ---------------------------------------------------------------------- */

struct FlWaiting {
  FlWaiting *next;
  const char *stage;
  char *bytes; /* the key, and the result */
  int64_t n_key, n_result;
};

bool fl_run_waits_to_store(FlRun *run, FlMemoKey key) {
  if (!run->tried_until) return false;
  pthread_mutex_lock(&run->waiting_lock);
  FlWaiting *w = run->waiting;
  while (w && (w->n_key != key.len || memcmp(w->bytes, key.bytes, (size_t)key.len) != 0)) w = w->next;
  pthread_mutex_unlock(&run->waiting_lock);
  return w != NULL;
}

bool fl_run_wait_to_store(FlRun *run, FlMemoKey key, const FlEncoded *result) {
  FlWaiting *w = result->bytes <= MOST_BYTES ? malloc(sizeof *w) : NULL;
  char *bytes = w ? malloc((size_t)(key.len + result->bytes) + 1) : NULL, *to = bytes;
  if (!bytes) {
    free(w);
    fl_run_stop(run, -1);
    return false;
  }
  memcpy(to, key.bytes, (size_t)key.len);
  to += key.len;
  for (int i = 0; i < result->n_pieces; i++) {
    size_t n = result->pieces[i].iov_len;
    if (n) memcpy(to, result->pieces[i].iov_base, n);
    to += n;
  }
  pthread_mutex_lock(&run->waiting_lock);
  *w = (FlWaiting){run->waiting, key.label, bytes, key.len, to - bytes - key.len};
  run->waiting = w;
  pthread_mutex_unlock(&run->waiting_lock);
  return true;
}

/* ---- the beginning and the end ------------------------------------------------------------------------ */

void fl_run_tried_begin(FlRun *run) {
  if (run->options.tries <= 0) return;
  run->tried_until = taken() + run->options.tries;
  run->tried_at_most = now(CLOCK_MONOTONIC) + SLEEPS * run->options.tries;
}

bool fl_run_tried_end(FlRun *run, bool well) {
  for (const FlWaiting *w = well ? run->waiting : NULL; w; w = w->next) {
    struct iovec piece = {w->bytes + w->n_key, (size_t)w->n_result};
    (void)fl_memo_put(run->memo, (FlMemoKey){w->bytes, w->n_key, w->stage}, &piece, 1, NULL);
  }
  run->tried_until = 0; /* what is done from now on stays */
  return fl_report_tell(run->report);
}

void fl_run_tried_free(FlRun *run) {
  for (FlWaiting *w = run->waiting, *next; w; w = next) {
    next = w->next;
    free(w->bytes);
    free(w);
  }
}
