/* bench.c: what is summed up of several runs: least and median times, calls that ran, rows only where they
 * are known and the same in all, the ratio to the time before. */
#include "check.h"

#include "cli/bench.h"

#include <stdlib.h>

#define RUN(ns) "run 1700000000000000 ended 0 " ns " 4096 3 abcdef 2 1 0\n"
#define CALL(name, how, ns, in, out, held)                                                                   \
  "stage " name " " how " yes 1 5 " ns " " in " " out " 20 " held " 0 7 00ff\n"

static FlRecord *read_text(const char *text) { return fl_record_read(text, strlen(text)); }

/* Of four runs: 5, 1, 9 and 3 ms of a stage `load`, of one call each; `fit` has two calls, one of which is
 * remembered, and other rows in the last run; `small` says no rows. */
static json_t *sum_of(const char *last_rows) {
  static const char *const ns[][2] = {
      {"50000000", "5000000"}, {"20000000", "1000000"}, {"90000000", "9000000"}, {"40000000", "3000000"}};
  FlBenchRun runs[4];
  for (int k = 0; k < 4; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             FL_RECORD_HEAD RUN("%s") CALL("load", "run", "%s", "-1", "1000", "0")
                 CALL("fit", "run", "2000000", "%s", "1", "70000") CALL("fit", "cached", "7", "60", "1", "0")
                     CALL("small", "run", "1000", "-1", "-1", "0") CALL("old", "cached", "1", "9", "9", "0"),
             ns[k][0], ns[k][1], k == 3 ? last_rows : "50");
    runs[k] = (FlBenchRun){read_text(text), 0.25 * (k + 1), 1000 * (k + 1)};
  }
  json_t *out = fl_bench_sum("a.flow", "--n 3", runs, 4);
  for (int k = 0; k < 4; k++) fl_record_free(runs[k].record);
  return out;
}

static double at(const json_t *all, int stage, const char *key, const char *inner) {
  const json_t *from = stage < 0 ? all : json_array_get(json_object_get(all, "stages"), (size_t)stage);
  const json_t *v = json_object_get(from, key);
  if (inner) v = json_object_get(v, inner);
  return v ? json_number_value(v) : -1;
}

static void check_is(const json_t *all, int stage, const char *key, const char *inner, double want) {
  double got = at(all, stage, key, inner), off = got - want;
  check(off < 1e-9 && off > -1e-9, "%d %s %s: %g instead of %g", stage, key, inner ? inner : "", got, want);
}

static void test_sum(void) {
  json_t *all = sum_of("50");
  CHECK(json_array_size(json_object_get(all, "stages")) == 3); /* none that only was remembered */
  check_is(all, -1, "seconds", "least", 0.020);
  check_is(all, -1, "seconds", "median", 0.045);
  check_is(all, -1, "processor", NULL, 0.625);
  check_is(all, -1, "peak", NULL, 4000);
  check_is(all, 0, "seconds", "least", 0.001);
  check_is(all, 0, "seconds", "median", 0.004);
  check_is(all, 0, "rows", NULL, 1000);
  check_is(all, 0, "rows_a_second", NULL, 250000);
  check_is(all, 0, "held", NULL, -1);
  check_is(all, 1, "calls", NULL, 1);
  check_is(all, 1, "rows", NULL, 50);
  check_is(all, 1, "held", NULL, 70000);
  check_is(all, 2, "rows", NULL, -1);
  check_is(all, 2, "rows_a_second", NULL, -1);
  json_decref(all);
}

static void test_other_rows(void) {
  json_t *all = sum_of("51"), *before = sum_of("50");
  check_is(all, 1, "rows", NULL, -1);
  json_object_set_new(json_object_get(before, "seconds"), "least", json_real(0.016));
  double ratio = fl_bench_ratio(all, before, NULL);
  check(ratio > 1.2499 && ratio < 1.2501, "%g", ratio);
  check(fl_bench_ratio(all, before, "fit") == 1, "of a stage");
  json_t *damaged = json_pack("{s:s, s:i}", "seconds", "x", "stages", 3);
  check(fl_bench_ratio(all, damaged, NULL) == 0 && fl_bench_ratio(all, damaged, "fit") == 0 &&
            fl_bench_ratio(all, NULL, "none") == 0,
        "of what does not say");
  FlText1 out = {0};
  fl_bench_print(&out, all, damaged);
  check(strstr(out.s, "another text") != NULL, "what is other about it is said: %s", out.s);
  fl_text_reset(&out);
  json_decref(damaged);
  json_decref(before);
  json_decref(all);
}

int main(void) {
  test_sum();
  test_other_rows();
  return finish();
}
