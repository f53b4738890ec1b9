/* bench.c: see bench.h. What always holds: a figure is of runs that all ended well; least times are compared,
 * as a machine that does other things only adds to a time. */
#include "cli/bench.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_STAGES = 1000 };

/* All calls of one stage in one run. */
typedef struct Stage {
  const char *name;
  int calls;
  int64_t ns, rows, held; /* rows: -1: not known */
} Stage;

static int64_t rows_of(const FlRecordStage *s) { return s->rows_in >= 0 ? s->rows_in : s->rows_out; }

/* Of those that ran; a result that another call of the run gave is no call. */
static void add_calls(Stage *to, const FlRecord *r, const char *name) {
  *to = (Stage){.name = name};
  for (int i = 0; i < r->now.n_stages; i++) {
    const FlRecordStage *s = &r->now.stages[i];
    if (strcmp(s->name, name) != 0 || strcmp(s->how, "run") != 0) continue;
    int64_t rows = rows_of(s);
    to->rows = rows < 0 || to->rows < 0 ? -1 : to->rows + rows;
    to->calls++;
    to->ns += s->ns;
    if (s->held > to->held) to->held = s->held;
  }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, by_size);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* {"least", "median"}; values are put in order. */
static json_t *times(double *values, int n, double *median) {
  *median = median_of(values, n);
  return json_pack("{s:f, s:f}", "least", values[0], "median", *median);
}

static json_t *stage_of(const char *name, const FlBenchRun *runs, int n, double *seconds) {
  Stage all = {0};
  bool same = true;
  for (int k = 0; k < n; k++) {
    Stage one;
    add_calls(&one, runs[k].record, name);
    seconds[k] = (double)one.ns * 1e-9;
    same = same && (k == 0 || (one.calls == all.calls && one.rows == all.rows));
    if (one.held > all.held) all.held = one.held;
    all.calls = one.calls;
    all.rows = one.rows;
  }
  double median;
  json_t *taken = times(seconds, n, &median);
  json_t *out = json_pack("{s:s, s:i, s:o}", "name", name, "calls", all.calls, "seconds", taken);
  if (same && all.rows >= 0) {
    json_object_set_new(out, "rows", json_integer(all.rows));
    if (median > 0) json_object_set_new(out, "rows_a_second", json_real((double)all.rows / median));
  }
  if (all.held > 0) json_object_set_new(out, "held", json_integer(all.held));
  return out;
}

/* In the order in which they were first called. */
static json_t *stages_of(const FlBenchRun *runs, int n, double *seconds) {
  const FlRecordCalls *calls = &runs[0].record->now;
  json_t *out = json_array();
  for (int i = 0; i < calls->n_stages && json_array_size(out) < MOST_STAGES; i++) {
    bool first = strcmp(calls->stages[i].how, "run") == 0;
    for (int k = 0; first && k < i; k++)
      first = strcmp(calls->stages[k].name, calls->stages[i].name) != 0 ||
              strcmp(calls->stages[k].how, "run") != 0;
    if (first) json_array_append_new(out, stage_of(calls->stages[i].name, runs, n, seconds));
  }
  return out;
}

/* Data files with their sizes and times, as one text. */
static json_t *data_of(const FlRecord *r) {
  json_t *out = json_array();
  for (int i = 0; i < r->n_reads; i++)
    json_array_append_new(out, json_pack("[s, I, I]", r->reads[i].path, (json_int_t)r->reads[i].bytes,
                                         (json_int_t)r->reads[i].mtime));
  return out;
}

json_t *fl_bench_sum(const char *script, const char *words, const FlBenchRun *runs, int n) {
  double *seconds = calloc((size_t)n, sizeof *seconds), median, cpu;
  if (!seconds) return NULL;
  const FlRecordSum *first = &runs[0].record->runs[0];
  int64_t peak = 0;
  for (int k = 0; k < n; k++) {
    seconds[k] = runs[k].cpu;
    if (runs[k].peak > peak) peak = runs[k].peak;
  }
  cpu = median_of(seconds, n);
  for (int k = 0; k < n; k++) seconds[k] = (double)runs[k].record->runs[0].ns * 1e-9;
  json_t *taken = times(seconds, n, &median);
  json_t *out = json_pack("{s:s, s:i, s:I, s:i, s:s, s:s, s:o, s:o, s:f, s:I, s:o}", "script", script, "runs",
                          n, "began", (json_int_t)first->began, "workers", first->workers, "source",
                          first->source, "words", words, "data", data_of(runs[0].record), "seconds", taken,
                          "processor", cpu, "peak", (json_int_t)peak, "stages", stages_of(runs, n, seconds));
  free(seconds);
  return out;
}

/* ---- beside the last time ---- */

static const json_t *stage_named(const json_t *all, const char *name) {
  size_t k;
  json_t *one;
  json_array_foreach(json_object_get(all, "stages"), k, one) {
    const char *its = json_string_value(json_object_get(one, "name"));
    if (its && strcmp(its, name) == 0) return one;
  }
  return NULL;
}

static double seconds_of(const json_t *thing, const char *which) {
  return json_number_value(json_object_get(json_object_get(thing, "seconds"), which));
}

double fl_bench_ratio(const json_t *now, const json_t *before, const char *name) {
  double is = seconds_of(name ? stage_named(now, name) : now, "least"),
         was = seconds_of(name ? stage_named(before, name) : before, "least");
  return was > 0 && is > 0 ? is / was : 0;
}

static bool same(const json_t *now, const json_t *before, const char *key) {
  return json_equal(json_object_get(now, key), json_object_get(before, key));
}

/* ---- for people ---- */

static void add_time(FlText1 *out, double s) {
  if (s >= 1) fl_text_addf(out, " %8.3f s ", s);
  else fl_text_addf(out, " %8.3f ms", s * 1e3);
}

static void add_mib(FlText1 *out, int64_t bytes) {
  if (bytes > 0) fl_text_addf(out, " %8.1f MiB", (double)bytes / (1 << 20));
  else fl_text_addf(out, " %12s", "");
}

static void add_ratio(FlText1 *out, double ratio) {
  if (ratio > 0) fl_text_addf(out, " %+7.1f%%", (ratio - 1) * 100);
  fl_text_addz(out, "\n");
}

static void add_stage(FlText1 *out, const json_t *stage, const json_t *now, const json_t *before) {
  const char *name = json_string_value(json_object_get(stage, "name"));
  fl_text_addf(out, "%-20s", name);
  add_time(out, seconds_of(stage, "least"));
  add_time(out, seconds_of(stage, "median"));
  fl_text_addf(out, " %11s", "");
  const json_t *rate = json_object_get(stage, "rows_a_second");
  if (rate) fl_text_addf(out, " %12.0f", json_number_value(rate));
  else fl_text_addf(out, " %12s", "");
  add_mib(out, json_integer_value(json_object_get(stage, "held")));
  add_ratio(out, fl_bench_ratio(now, before, name));
}

static void add_before(FlText1 *out, const json_t *now, const json_t *before) {
  static const char *const what[][2] = {{"source", "another text"},
                                        {"data", "other data"},
                                        {"words", "other words"},
                                        {"workers", "other workers"}};
  char when[64];
  time_t seconds = (time_t)(json_integer_value(json_object_get(before, "began")) / 1000000);
  struct tm t;
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &t));
  fl_text_addf(out, "the last column: least times against those of %s", when);
  const char *joint = ", which had ";
  for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
    if (same(now, before, what[k][0])) continue;
    fl_text_addf(out, "%s%s", joint, what[k][1]);
    joint = ", ";
  }
  fl_text_addz(out, "\n");
}

void fl_bench_print(FlText1 *out, const json_t *now, const json_t *before) {
  int runs = (int)json_integer_value(json_object_get(now, "runs")),
      workers = (int)json_integer_value(json_object_get(now, "workers"));
  fl_text_addf(out, "%s: %d run%s with %d worker%s, nothing remembered\n",
               json_string_value(json_object_get(now, "script")), runs, runs == 1 ? "" : "s", workers,
               workers == 1 ? "" : "s");
  fl_text_addf(out, "%-20s %11s %11s %11s %12s %12s\n", "", "least", "median", "processor", "rows/s",
               "memory");
  fl_text_addf(out, "%-20s", "the run");
  add_time(out, seconds_of(now, "least"));
  add_time(out, seconds_of(now, "median"));
  add_time(out, json_number_value(json_object_get(now, "processor")));
  fl_text_addf(out, " %12s", "");
  add_mib(out, json_integer_value(json_object_get(now, "peak")));
  add_ratio(out, fl_bench_ratio(now, before, NULL));
  size_t k;
  json_t *stage;
  json_array_foreach(json_object_get(now, "stages"), k, stage) add_stage(out, stage, now, before);
  if (before) add_before(out, now, before);
}
