/* trace.c: the timeline of a run in the Chrome trace event format ("Trace Event Format", complete events
 * "X").
 *
 * In: the recorded events. Out: a JSON file for chrome://tracing or Perfetto: a row per worker, microseconds;
 * `work` of a stage is what all processors did for the process meanwhile. Of several ranks each is a process
 * of the timeline, whose `pid` is the rank: rank 0 writes its own events and those that others have sent as
 * text.
 */
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Writer {
  FILE *f;
  bool first;
  int32_t pid;
  int64_t shift; /* ns, added to all times */
} Writer;

static void put_string(FILE *f, const char *s) {
  fputc('"', f);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
    else if (c < 0x20) fprintf(f, "\\u%04x", c);
    else fputc(c, f);
  }
  fputc('"', f);
}

static void begin_event(Writer *w, const char *phase) {
  fprintf(w->f, "%s{\"ph\":\"%s\",\"pid\":%d", w->first ? "\n" : ",\n", phase, w->pid);
  w->first = false;
}

static void put_times(const Writer *w, int worker, int64_t begin, int64_t end) {
  fprintf(w->f, ",\"tid\":%d,\"ts\":%.3f", worker, (double)(begin + w->shift) / 1e3);
  if (end >= begin) fprintf(w->f, ",\"dur\":%.3f", (double)(end - begin) / 1e3);
}

static void put_event(Writer *w, const char *category, const char *name, int worker, int64_t begin,
                      int64_t end) {
  begin_event(w, "X");
  fprintf(w->f, ",\"cat\":\"%s\",\"name\":", category);
  put_string(w->f, name);
  put_times(w, worker, begin, end);
}

/* What is said of a process of the timeline: {"name": "rank 1 .."}. */
static void put_about(Writer *w, const char *what, const char *key, const char *text) {
  begin_event(w, "M");
  fprintf(w->f, ",\"name\":\"%s\",\"args\":{\"%s\":", what, key);
  put_string(w->f, text);
  fputs("}}", w->f);
}

/* Events that stand nowhere, since they were too many. */
static void put_left_out(Writer *w, int64_t n) {
  char text[64];
  snprintf(text, sizeof text, "%lld events left out", (long long)n);
  if (n) put_about(w, "process_labels", "labels", text);
}

static void put_stage(Writer *w, const FlReport *r, int32_t i) {
  const FlStageEvent *e = &r->stages[i];
  put_event(w, "stage", e->stage->name, e->worker, e->begin, e->end >= 0 ? e->end : fl_report_now(r));
  fprintf(w->f, ",\"args\":{\"how\":\"%s\"", fl_report_how(e->as.how));
  if (e->end >= 0) fprintf(w->f, ",\"work\":%.3f", (double)e->work / 1e3);
  fputs("}}", w->f);
}

static void put_kernel(Writer *w, const FlReport *r, int32_t i) {
  const FlKernelEvent *e = &r->kernels[i];
  put_event(w, "kernel", e->name, e->worker, e->begin, e->end);
  fprintf(w->f, ",\"args\":{\"elements\":%lld}}", (long long)e->elements);
}

static void put_operator(Writer *w, const FlReport *r, int32_t i) {
  const FlOperatorEvent *e = &r->operators[i];
  put_event(w, "operator", e->name, e->worker, e->begin, e->end);
  fprintf(w->f, ",\"args\":{\"line\":%d}}", e->line);
}

static void put_message(Writer *w, const FlReport *r, int32_t i) {
  const FlMessageEvent *e = &r->messages[i];
  const char *kind = e->from >= 0 ? "message" : e->from == -1 ? "meeting" : "exchange";
  put_event(w, kind, e->name, e->worker, e->begin, e->end);
  fprintf(w->f, ",\"args\":{\"line\":%d,\"bytes\":%lld", e->line, (long long)e->bytes);
  if (e->from >= 0) fprintf(w->f, ",\"from\":%d", e->from);
  fputs("}}", w->f);
}

static void put_note(Writer *w, const FlReport *r, int32_t i) {
  const FlNoteEvent *e = &r->notes[i];
  begin_event(w, "i");
  fputs(",\"s\":\"g\",\"cat\":\"note\",\"name\":", w->f);
  put_string(w->f, e->line);
  put_times(w, e->stage >= 0 ? r->stages[e->stage].worker : 0, e->at, -1);
  fputc('}', w->f);
}

/* ---- lanes of other ranks -------------------------------------------------------------------------------
 */

/* One of all events: how it is written, its number among those of its kind, and how long it took. */
typedef struct Ranked {
  void (*put)(Writer *w, const FlReport *r, int32_t i);
  int32_t i;
  int64_t ns;
} Ranked;

static int longest_first(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
  return (x->i > y->i) - (x->i < y->i);
}

static Ranked *rank_events(const FlReport *r, int64_t *n) {
  *n = (int64_t)r->n_stages + r->n_kernels + r->n_operators + r->n_messages;
  Ranked *all = malloc((size_t)(*n + 1) * sizeof *all), *at = all;
  if (!all) return NULL;
  for (int32_t i = 0; i < r->n_stages; i++) *at++ = (Ranked){put_stage, i, INT64_MAX};
  for (int32_t i = 0; i < r->n_kernels; i++)
    *at++ = (Ranked){put_kernel, i, r->kernels[i].end - r->kernels[i].begin};
  for (int32_t i = 0; i < r->n_operators; i++)
    *at++ = (Ranked){put_operator, i, r->operators[i].end - r->operators[i].begin};
  for (int32_t i = 0; i < r->n_messages; i++)
    *at++ = (Ranked){put_message, i, r->messages[i].end - r->messages[i].begin};
  qsort(all, (size_t)*n, sizeof *all, longest_first);
  return all;
}

static void put_process(Writer *w, const char *name) {
  put_about(w, "process_name", "name", name);
  begin_event(w, "M");
  fprintf(w->f, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", w->pid);
}

char *fl_report_lane(const FlReport *r, const FlLane *lane, int64_t *bytes) {
  enum { NOTICE = 200 }; /* bytes of what says that events are left out */
  char *text = NULL;
  size_t size = 0;
  int64_t n = 0, i = 0;
  *bytes = 0;
  Ranked *all = rank_events(r, &n);
  Writer w = {open_memstream(&text, &size), true, lane->rank, lane->shift};
  if (w.f && all) {
    put_process(&w, lane->name);
    long end = ftell(w.f);
    for (; i < n; i++, end = ftell(w.f)) {
      all[i].put(&w, r, all[i].i);
      if (ftell(w.f) + NOTICE > lane->most) break;
    }
    fseek(w.f, end, SEEK_SET);
    put_left_out(&w, n - i + r->n_dropped);
    end = ftell(w.f);
    *bytes = fclose(w.f) == 0 ? end : 0;
  } else if (w.f) {
    fclose(w.f);
  }
  free(all);
  if (*bytes) return text;
  free(text);
  return NULL;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* What the closing line says of all ranks, exactly. */
static void put_ranks(FILE *f, const FlReport *r) {
  fputs("\"otherData\":{\"ranks\":[", f);
  for (int32_t k = 0; k < r->n_ranks; k++) {
    const FlReportRank *rank = &r->ranks[k];
    fprintf(f, "%s{\"rank\":%d,\"bytes\":%lld,\"messages_us\":%.3f,\"us\":%.3f}", k ? "," : "", k,
            (long long)rank->taken, (double)rank->messages_ns / 1e3, (double)rank->ns / 1e3);
  }
  fputs("]},", f);
}

bool fl_report_write_trace(const FlReport *r, FILE *f) {
  Writer w = {f, true, r->n_ranks ? 0 : 1, 0};
  fputs("{\"displayTimeUnit\":\"ms\",", f);
  if (r->n_ranks) put_ranks(f, r);
  fputs("\"traceEvents\":[", f);
  if (r->n_ranks) put_process(&w, "rank 0");
  put_left_out(&w, r->n_dropped);
  for (int32_t i = 0; i < r->n_stages; i++) put_stage(&w, r, i);
  for (int32_t i = 0; i < r->n_kernels; i++) put_kernel(&w, r, i);
  for (int32_t i = 0; i < r->n_operators; i++) put_operator(&w, r, i);
  for (int32_t i = 0; i < r->n_messages; i++) put_message(&w, r, i);
  for (int32_t i = 0; i < r->n_notes; i++) put_note(&w, r, i);
  for (int32_t i = 0; i < r->n_lanes; i++) {
    if (!w.first) fputc(',', f);
    w.first = false;
    fwrite(r->lanes[i].text, 1, (size_t)r->lanes[i].bytes, f);
  }
  fputs("\n]}\n", f);
  return !ferror(f);
}
