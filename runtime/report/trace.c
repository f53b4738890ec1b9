/* trace.c: the timeline of a run in the Chrome trace event format ("Trace Event Format", complete events
 * "X").
 *
 * In: the recorded events. Out: a JSON file for chrome://tracing or Perfetto: a row per worker, microseconds;
 * `work` of a stage is what all processors did for the process meanwhile.
 */
#include "report/report_internal.h"

#include <stdio.h>

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

static void put_event(FILE *f, bool *first, const char *category, const char *name, int worker, int64_t begin,
                      int64_t end) {
  fputs(*first ? "\n" : ",\n", f);
  *first = false;
  fputs("{\"ph\":\"X\",\"pid\":1,\"cat\":", f);
  put_string(f, category);
  fputs(",\"name\":", f);
  put_string(f, name);
  fprintf(f, ",\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f", worker, (double)begin / 1e3,
          (double)(end - begin) / 1e3);
}

bool fl_report_write_trace(const FlReport *r, FILE *f) {
  bool first = true;
  fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", f);
  for (int32_t i = 0; i < r->n_stages; i++) {
    const FlStageEvent *e = &r->stages[i];
    int64_t end = e->end >= 0 ? e->end : fl_report_now(r);
    put_event(f, &first, "stage", e->stage->name, e->worker, e->begin, end);
    fprintf(f, ",\"args\":{\"how\":\"%s\"", fl_report_how(e->as.how));
    if (e->end >= 0) fprintf(f, ",\"work\":%.3f", (double)e->work / 1e3);
    fputs("}}", f);
  }
  for (int32_t i = 0; i < r->n_kernels; i++) {
    const FlKernelEvent *e = &r->kernels[i];
    put_event(f, &first, "kernel", e->name, e->worker, e->begin, e->end);
    fprintf(f, ",\"args\":{\"elements\":%lld}}", (long long)e->elements);
  }
  for (int32_t i = 0; i < r->n_operators; i++) {
    const FlOperatorEvent *e = &r->operators[i];
    put_event(f, &first, "operator", e->name, e->worker, e->begin, e->end);
    fprintf(f, ",\"args\":{\"line\":%d}}", e->line);
  }
  for (int32_t i = 0; i < r->n_notes; i++) {
    const FlNoteEvent *e = &r->notes[i];
    fputs(first ? "\n" : ",\n", f);
    first = false;
    fputs("{\"ph\":\"i\",\"pid\":1,\"s\":\"g\",\"cat\":\"note\",\"name\":", f);
    put_string(f, e->line);
    fprintf(f, ",\"tid\":%d,\"ts\":%.3f}", e->stage >= 0 ? r->stages[e->stage].worker : 0,
            (double)e->at / 1e3);
  }
  fputs("\n]}\n", f);
  return !ferror(f);
}
