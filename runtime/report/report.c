/* report.c: records what happens in a run and shows it live.
 *
 * In: events from any thread. Out: progress lines. What always holds: one lock; the live line ("running:
 * ...") is wiped before anything else is written to the terminal. Without memory for an event it is not
 * recorded. */
#include "base/high.h"
#include "base/whole_file.h"
#include "report/report_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FL_MAX_EVENTS = 1 << 20 }; /* kernels, and operators: later ones are not recorded */
enum { FL_MAX_PLOTS = 50, FL_MAX_PLOT_BYTES = 1 << 19 }; /* of a page */
enum { FL_LEAST_OPERATOR = 10000 };                      /* nanoseconds of one that is recorded */
/* Nanoseconds: when the record is first written, how long at least between two times; and of how many parts
 * of the time writing it takes one at most. */
enum { FIRST_SAVE = 50000000, NEXT_SAVE = 1000000000, SAVE_SHARE = 200 };

static int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

FlReport *fl_report_new(const FlReportOptions *options) {
  FlReport *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->options = *options;
  r->start = clock_ns(CLOCK_MONOTONIC);
  r->progress = !options->quiet && !options->say && !options->holds && isatty(STDERR_FILENO);
  r->n_tables = (options->workers > 0 ? options->workers : 1) + 1;
  r->tables = calloc((size_t)r->n_tables, sizeof *r->tables);
  atomic_init(&r->save_at, FIRST_SAVE);
  if (!r->tables) {
    free(r);
    return NULL;
  }
  (void)fl_highs_ref(r->options.highs);
  pthread_mutex_init(&r->lock, NULL);
  return r;
}

void fl_report_free(FlReport *r) {
  if (!r) return;
  for (int32_t i = 0; i < r->n_notes; i++) {
    free(r->notes[i].name);
    free(r->notes[i].line);
  }
  for (int32_t i = 0; i < r->n_stages; i++) {
    free(r->stages[i].as.key);
    free(r->stages[i].args);
  }
  for (int32_t i = 0; i < r->n_plots; i++) free(r->plots[i].svg);
  free(r->plots);
  for (int32_t i = 0; i < r->n_lanes; i++) free(r->lanes[i].text);
  free(r->lanes);
  free(r->messages);
  free(r->ranks);
  fl_report_places_free(r);
  free(r->stages);
  free(r->notes);
  free(r->kernels);
  free(r->operators);
  free(r->held.pieces);
  free(r->held.bytes);
  fl_highs_unref(r->options.highs);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

int64_t fl_report_now(const FlReport *r) { return clock_ns(CLOCK_MONOTONIC) - r->start; }

int64_t fl_report_start(const FlReport *r) { return r->start; }

const char *fl_report_how(FlStageHow how) {
  switch (how) {
  case FL_STAGE_RUN: return "run";
  case FL_STAGE_CACHED: return "cached";
  case FL_STAGE_FAILED: return "failed";
  case FL_STAGE_ELSEWHERE: return "elsewhere";
  case FL_STAGE_TOGETHER: return "together";
  }
  return "";
}

const char *fl_report_kept(FlStageKept kept) {
  switch (kept) {
  case FL_KEPT_NO: return "no";
  case FL_KEPT_NEVER: return "never";
  case FL_KEPT_FAILED: return "failed";
  case FL_KEPT_CHEAP: return "cheap";
  case FL_KEPT_CHANGED: return "changed";
  case FL_KEPT_LOST: return "lost";
  case FL_KEPT_YES: return "yes";
  }
  return "";
}

void fl_report_duration(char buffer[32], int64_t ns) {
  double s = (double)ns * 1e-9;
  if (s >= 100) snprintf(buffer, 32, "%.0f s", s);
  else if (s >= 1) snprintf(buffer, 32, "%.2f s", s);
  else if (s >= 1e-3) snprintf(buffer, 32, "%.1f ms", s * 1e3);
  else snprintf(buffer, 32, "%.0f us", s * 1e6);
}

void fl_report_bytes(char buffer[32], int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double v = (double)bytes;
  int unit = 0;
  for (; v >= 999.95 && unit < 4; unit++) v /= 1000;
  snprintf(buffer, 32, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

/* ---- the terminal; under the lock ------------------------------------------------------------------ */

static void wipe(FlReport *r) {
  if (r->live) fputs("\r\033[K", stderr);
  r->live = false;
}

static void show_live(FlReport *r) {
  if (!r->progress) return;
  wipe(r);
  char line[FL_LIVE_LINE];
  size_t n = fl_report_live(r, line);
  if (!n) return;
  fputs(line, stderr);
  if (r->last_note && n + strlen(r->last_note) < 76) fprintf(stderr, "  %s", r->last_note);
  fflush(stderr);
  r->live = true;
}

static bool grow(void **at, int32_t n, int32_t *cap, size_t size) {
  if (n < *cap) return true;
  int32_t larger = *cap ? *cap * 2 : 64;
  void *p = realloc(*at, (size_t)larger * size);
  if (!p) return false;
  *at = p;
  *cap = larger;
  return true;
}

/* What the process took of the processors, for a timeline: asking takes longer than looking at the clock. */
static int64_t work_of(const FlReport *r) {
  return fl_report_wants_kernels(r) ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 0;
}

bool fl_report_wants_args(const FlReport *r) { return r->progress || r->options.html; }
bool fl_report_is_live(const FlReport *r) { return r->progress; }

void fl_report_before(FlReport *r, const struct FlRecord *before) {
  pthread_mutex_lock(&r->lock);
  r->before = before;
  pthread_mutex_unlock(&r->lock);
}

void fl_report_tables(FlReport *r, const struct FlRecord *record) {
  pthread_mutex_lock(&r->lock);
  r->shown = record;
  pthread_mutex_unlock(&r->lock);
}

int32_t fl_report_stage(FlReport *r, const FlStage *stage, int worker, char *args) {
  int64_t now = fl_report_now(r);
  pthread_mutex_lock(&r->lock);
  int32_t id = -1;
  if (grow((void **)&r->stages, r->n_stages, &r->cap_stages, sizeof *r->stages)) {
    id = r->n_stages++;
    int64_t held = fl_highs_begin(r->options.highs, fl_report_table(r, worker));
    r->stages[id] = (FlStageEvent){stage, worker, now, -1, work_of(r), held, {0}, args};
  } else {
    free(args);
  }
  show_live(r);
  pthread_mutex_unlock(&r->lock);
  fl_report_save_if_due(r, now);
  return id;
}

void fl_report_stage_end(FlReport *r, int32_t id, FlStageEnd end) {
  int64_t now = fl_report_now(r);
  FlStageHow how = end.how;
  pthread_mutex_lock(&r->lock);
  r->n_run += how == FL_STAGE_RUN;
  r->n_cached += how == FL_STAGE_CACHED;
  r->n_failed += how == FL_STAGE_FAILED;
  if (id >= 0) {
    FlStageEvent *e = &r->stages[id];
    e->end = now;
    e->work = work_of(r) - e->work;
    e->held = fl_highs_end(r->options.highs, fl_report_table(r, e->worker), e->held);
    e->as = end;
    if (r->progress) {
      char took[32];
      fl_report_duration(took, e->end - e->begin);
      wipe(r);
      char called[FL_LIVE_CALL];
      fprintf(stderr, "  %-40s %-7s %8s", fl_report_called(called, e), fl_report_how(how), took);
      if (e->as.rows_in >= 0 && e->as.rows_out >= 0)
        fprintf(stderr, "  %lld -> %lld rows", (long long)e->as.rows_in, (long long)e->as.rows_out);
      else if (e->as.rows_out >= 0) fprintf(stderr, "  %lld rows", (long long)e->as.rows_out);
      fputc('\n', stderr);
    }
  }
  if (id < 0) free(end.key);
  r->last_note = NULL;
  show_live(r);
  pthread_mutex_unlock(&r->lock);
  fl_report_save_if_due(r, now);
}

void fl_report_save_if_due(FlReport *r, int64_t now) {
  int64_t due = atomic_load_explicit(&r->save_at, memory_order_relaxed);
  if (now < due || !r->options.save) return;
  /* acquire and release: whoever saves next sees what the last one left */
  if (!atomic_compare_exchange_strong_explicit(&r->save_at, &due, INT64_MAX, memory_order_acquire,
                                               memory_order_relaxed))
    return;
  r->options.save(r->options.save_arg);
  int64_t done = fl_report_now(r), wait = (done - now) * SAVE_SHARE;
  atomic_store_explicit(&r->save_at, done + (wait > NEXT_SAVE ? wait : NEXT_SAVE), memory_order_release);
}

bool fl_report_save_last(FlReport *r, int patience) {
  int64_t due = atomic_load_explicit(&r->save_at, memory_order_relaxed);
  while (due == INT64_MAX || !atomic_compare_exchange_weak_explicit(
                                 &r->save_at, &due, INT64_MAX, memory_order_acquire, memory_order_relaxed)) {
    if (due == INT64_MAX && !patience--) return false;
    if (due == INT64_MAX) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    due = atomic_load_explicit(&r->save_at, memory_order_relaxed);
  }
  return true;
}

void fl_report_stages(FlReport *r, int32_t counts[3]) {
  pthread_mutex_lock(&r->lock);
  counts[0] = r->n_run;
  counts[1] = r->n_cached;
  counts[2] = r->n_failed;
  pthread_mutex_unlock(&r->lock);
}

void fl_report_add_stages(FlReport *r, int32_t run, int32_t cached, int32_t failed) {
  pthread_mutex_lock(&r->lock);
  r->n_run += run;
  r->n_cached += cached;
  r->n_failed += failed;
  pthread_mutex_unlock(&r->lock);
}

void fl_report_note(FlReport *r, int32_t stage, const char *name, const char *value) {
  FlNoteEvent e = {stage, fl_report_now(r), strdup(name), NULL};
  if (asprintf(&e.line, "%s = %s", name, value) < 0) e.line = NULL;
  pthread_mutex_lock(&r->lock);
  if (e.name && e.line && grow((void **)&r->notes, r->n_notes, &r->cap_notes, sizeof *r->notes)) {
    r->notes[r->n_notes++] = e;
    r->last_note = e.line;
    show_live(r);
  } else {
    free(e.name);
    free(e.line);
  }
  pthread_mutex_unlock(&r->lock);
}

bool fl_report_wants_kernels(const FlReport *r) { return r->options.trace || r->options.lane; }

/* Under the lock: is there room for one event more? */
static bool room(FlReport *r, void **at, int32_t n, int32_t *cap, size_t size) {
  bool fits = n < FL_MAX_EVENTS && grow(at, n, cap, size);
  r->n_dropped += !fits;
  return fits;
}

void fl_report_kernel(FlReport *r, const char *name, int worker, int64_t begin, int64_t end,
                      int64_t elements) {
  pthread_mutex_lock(&r->lock);
  if (room(r, (void **)&r->kernels, r->n_kernels, &r->cap_kernels, sizeof *r->kernels))
    r->kernels[r->n_kernels++] = (FlKernelEvent){name, worker, begin, end, elements};
  pthread_mutex_unlock(&r->lock);
}

void fl_report_message(FlReport *r, const FlMessageEvent *event) {
  pthread_mutex_lock(&r->lock);
  if (room(r, (void **)&r->messages, r->n_messages, &r->cap_messages, sizeof *r->messages))
    r->messages[r->n_messages++] = *event;
  pthread_mutex_unlock(&r->lock);
}

bool fl_report_wants_operators(const FlReport *r) { return fl_report_wants_kernels(r) || r->options.html; }

bool fl_report_wants_plots(const FlReport *r) { return r->options.html; }

void fl_report_plot(FlReport *r, int32_t line, const char *svg, size_t len) {
  pthread_mutex_lock(&r->lock);
  bool fits = r->n_plots < FL_MAX_PLOTS && r->plot_bytes + len <= FL_MAX_PLOT_BYTES;
  char *copy = fits ? malloc(len + 1) : NULL;
  if (copy && grow((void **)&r->plots, r->n_plots, &r->cap_plots, sizeof *r->plots)) {
    memcpy(copy, svg, len);
    r->plots[r->n_plots++] = (FlPlotEvent){line, copy, len};
    r->plot_bytes += len;
  } else {
    free(copy);
  }
  pthread_mutex_unlock(&r->lock);
}

void fl_report_operator(FlReport *r, const char *name, int32_t line, int worker, int64_t begin, int64_t end) {
  if (end - begin < FL_LEAST_OPERATOR) return;
  pthread_mutex_lock(&r->lock);
  if (room(r, (void **)&r->operators, r->n_operators, &r->cap_operators, sizeof *r->operators))
    r->operators[r->n_operators++] = (FlOperatorEvent){name, line, worker, begin, end};
  pthread_mutex_unlock(&r->lock);
}

/* Under the lock. */
static void hold(FlReport *r, bool said, const char *bytes, size_t len) {
  FlHeld *h = &r->held;
  size_t from = h->n ? h->pieces[h->n - 1].end : 0, end = from + len;
  if (end > h->room) {
    size_t room = 2 * end + 4096;
    char *larger = realloc(h->bytes, room);
    if (larger) h->bytes = larger, h->room = room;
  }
  h->lost |= end > h->room || !grow((void **)&h->pieces, h->n, &h->cap, sizeof *h->pieces);
  if (h->lost) return;
  if (len) memcpy(h->bytes + from, bytes, len);
  h->pieces[h->n++] = (FlHeldPiece){end, said};
}

/* Is it held back now? */
static bool held(FlReport *r, bool said, const char *bytes, size_t len) {
  pthread_mutex_lock(&r->lock);
  bool holds = r->options.holds;
  if (holds) hold(r, said, bytes, len);
  pthread_mutex_unlock(&r->lock);
  return holds;
}

bool fl_report_tell(FlReport *r) {
  pthread_mutex_lock(&r->lock);
  FlHeld h = r->held;
  r->held = (FlHeld){0};
  r->options.holds = false;
  pthread_mutex_unlock(&r->lock);
  bool ok = !h.lost;
  size_t from = 0;
  for (int32_t i = 0; i < h.n; from = h.pieces[i++].end) {
    size_t len = h.pieces[i].end - from;
    if (h.pieces[i].said) fl_report_say(r, h.bytes + from, len);
    else if (ok) ok = fl_report_output(r, h.bytes + from, (int64_t)len);
  }
  free(h.pieces);
  free(h.bytes);
  return ok;
}

bool fl_report_output(FlReport *r, const char *bytes, int64_t len) {
  if (r->options.holds && held(r, false, bytes, (size_t)len)) return true;
  if (r->options.out) {
    r->options.out(r->options.out_arg, bytes, len);
    return true;
  }
  pthread_mutex_lock(&r->lock);
  wipe(r);
  bool ok = fwrite(bytes, 1, (size_t)len, stdout) == (size_t)len;
  if (r->progress) ok = fflush(stdout) == 0 && ok; /* so that it appears before the next progress line */
  show_live(r);
  pthread_mutex_unlock(&r->lock);
  return ok;
}

bool fl_report_flush(FlReport *r) { return r->options.out || fflush(stdout) == 0; }

/* Under the lock. */
static void say(const FlReport *r, const char *bytes, size_t len) {
  if (r->options.say) r->options.say(r->options.say_arg, bytes, (int64_t)len);
  else fwrite(bytes, 1, len, stderr);
}

void fl_report_say(FlReport *r, const char *bytes, size_t len) {
  if (r->options.holds && held(r, true, bytes, len)) return;
  pthread_mutex_lock(&r->lock);
  wipe(r);
  if (!r->options.out) fflush(stdout); /* what was printed before stands before it */
  say(r, bytes, len);
  show_live(r);
  pthread_mutex_unlock(&r->lock);
}

void fl_report_line(FlReport *r, const char *line) {
  char *whole = NULL;
  int n = asprintf(&whole, "%s\n", line);
  if (n >= 0) fl_report_say(r, whole, (size_t)n);
  if (n >= 0) free(whole);
}

/* The page, or the timeline. */
static bool write_file(const FlReport *r, const char *path, bool page, int exit_status) {
  FlWholeFile file;
  if (!fl_whole_open(path, 0666, &file)) return false;
  if (file.temporary) fl_whole_clean(file.target);
  FILE *f = fl_whole_stream(&file);
  bool ok = f && (page ? fl_report_write_html(r, f, exit_status) : fl_report_write_trace(r, f));
  if (f && fclose(f) != 0) ok = false;
  if (!ok) fl_whole_abandon(&file);
  return ok && fl_whole_commit(&file);
}

/* Under the lock. */
static void put_closing_line(const FlReport *r) {
  char line[128 + FL_RANKS_LINE], ranks[FL_RANKS_LINE];
  int32_t n = r->n_run + r->n_cached + r->n_failed;
  int len = 0;
  if (n > 0)
    len = snprintf(line, sizeof line, "%d stage%s: %d run, %d cached", n, n == 1 ? "" : "s", r->n_run,
                   r->n_cached);
  if (r->n_failed) len += snprintf(line + len, sizeof line - (size_t)len, ", %d failed", r->n_failed);
  if (fl_report_ranks_line(r, ranks))
    len += snprintf(line + len, sizeof line - (size_t)len, "%s%s", len ? "; " : "", ranks);
  if (!len) return;
  line[len++] = '\n';
  say(r, line, (size_t)len);
}

bool fl_report_close(FlReport *r, int exit_status, const char **failed) {
  pthread_mutex_lock(&r->lock);
  wipe(r);
  r->progress = false;
  if (!r->options.quiet) put_closing_line(r);
  bool ok = true;
  if (r->options.trace && !write_file(r, r->options.trace, false, exit_status)) {
    ok = false;
    *failed = r->options.trace;
  }
  if (ok && r->options.html && !write_file(r, r->options.html, true, exit_status)) {
    ok = false;
    *failed = r->options.html;
  }
  pthread_mutex_unlock(&r->lock);
  return ok;
}
