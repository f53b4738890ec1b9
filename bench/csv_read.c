/* csv_read.c: how long the runtime takes to read a CSV file whole: csv_read PATH THREADS REPEATS
 *
 * Prints "flow SECONDS" (median), and on standard error what finding the types took. */
#include "data/data.h"
#include "exec/exec.h"
#include "io/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int repeats = argc == 4 ? atoi(argv[3]) : 0;
  if (repeats < 1 || repeats > 1000) {
    fprintf(stderr, "usage: csv_read PATH THREADS REPEATS\n");
    return 2;
  }
  FlIoSchema s;
  FlIoError e;
  double start = now(), times[1000];
  if (!fl_io_schema_of("read_csv")(argv[1], (FlOptions){0}, &s, &e)) {
    fprintf(stderr, "%s\n", e.message);
    return 1;
  }
  fprintf(stderr, "types of %d columns found in %.1f ms\n", s.n_columns, 1e3 * (now() - start));
  FlColumnAttr *columns = calloc((size_t)s.n_columns, sizeof *columns);
  int n_results = 1;
  for (int k = 0; k < s.n_columns; k++) {
    const FlIoColumn *c = &s.columns[k];
    int flags = FL_COLUMN_TYPED | (c->nullable ? FL_COLUMN_NULLS : 0);
    columns[k] = (FlColumnAttr){.name = c->name, .flags = flags, .dtype = (int32_t)c->dtype};
    n_results += 1 + c->nullable;
  }
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = atoi(argv[2]), .quiet = true});
  FlSlot *results = malloc((size_t)n_results * sizeof *results),
         file = {.t = {argv[1], (int64_t)strlen(argv[1])}};
  FlType1 of_file = {.dtype = FL_FILE};
  FlType1 *of_results = calloc((size_t)n_results, sizeof *of_results); /* the count of rows, then columns */
  for (int k = 1; k < n_results; k++) of_results[k].rank = 1;
  FlOpDesc desc = {.site = -1,
                   .n_args = 1,
                   .arg_types = &of_file,
                   .result_types = of_results,
                   .n_columns = s.n_columns,
                   .columns = columns,
                   .format = &fl_read_csv};
  for (int k = 0; k < repeats; k++) {
    start = now();
    if (fl_rt_read_table(fl_run_ctx(run), &desc, &file, results)) {
      fprintf(stderr, "%s\n", fl_ctx_message(fl_run_ctx(run)));
      return 1;
    }
    times[k] = now() - start;
    for (int j = 1; j < n_results; j++) fl_array_unref(results[j].a);
  }
  qsort(times, (size_t)repeats, sizeof *times, compare);
  printf("flow %.3f\n", times[repeats / 2]);
  fl_run_free(run);
  return 0;
}
