/* csv_collect.c: rows that are left out with on_error=collect: the same rows and lines for any cut of the
 * text and any way of scanning it. */
#include "check.h"
#include "csv_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000 };

/* Row k of the file: 0 good, else the problem that it has. */
static int problem_of(int k) {
  return k % 7 == 3 ? 1 : k % 11 == 5 ? 2 : k % 13 == 6 ? 3 : k % 17 == 8 ? 4 : 0;
}

/* Writes the file; lines[k]: the line that row k begins on. */
static void write_file(FILE *f, int *lines) {
  int line = 2;
  fprintf(f, "id,x,name\n");
  for (int k = 0; k < N; k++) {
    lines[k] = line++;
    switch (problem_of(k)) {
    case 0:
      if (k % 5) {
        fprintf(f, "%d,%d.5,plain\n", k, k);
      } else {
        fprintf(f, "%d,%d.5,\"two\nlines\"\n", k, k);
        line++;
      }
      break;
    case 1: fprintf(f, "%d,bad,\"a \"\"b\"\", c\"\n", k); break;
    case 2: fprintf(f, "%d,1.5\n", k); break;
    case 3: fprintf(f, "%d,,x,more,than,three\n", k); break;
    case 4: fprintf(f, ",2.5,x\n"); break;
    }
    if (k % 19 == 0) {
      fprintf(f, "\n");
      line++;
    }
  }
}

static void read_once(const char *path, const FlCsvScan *scan, int64_t chunk, const int *lines) {
  static const char *const texts[] = {"on_error=collect"};
  FlCsvOptions o;
  FlIoError e = {0};
  FlTableWanted w[] = {{.name = "id", .name_len = 2, .dtype = FL_I64, .nullable = false},
                       {.name = "x", .name_len = 1, .dtype = FL_F64, .nullable = false},
                       {.name = "name", .name_len = 4, .dtype = FL_TEXT, .nullable = false}};
  FlRejected r;
  int64_t rows = 0;
  check(texts_options(texts, 1, &o, &e), "the option");
  bool ok = fl_csv_read(NULL, path, &o, scan, chunk, w, 3, &rows, &r, &e);
  check(ok, e.message);
  if (!ok) return;
  int64_t good = 0, bad = 0;
  bool same = true, told = true;
  for (int k = 0; k < N; k++) {
    int problem = problem_of(k);
    if (!problem) {
      same = same && good < rows && ((int64_t *)w[0].values->data)[good] == k &&
             ((double *)w[1].values->data)[good] == k + 0.5;
      good++;
      continue;
    }
    FlText column = ((FlText *)r.column->data)[bad];
    const char *want = problem == 1 ? "x" : problem == 4 ? "id" : "";
    told = told && bad < r.n && ((int64_t *)r.line->data)[bad] == lines[k] &&
           column.len == (int64_t)strlen(want) &&
           (!column.len || memcmp(column.ptr, want, (size_t)column.len) == 0);
    bad++;
  }
  check(same && good == rows, "the good rows, in order");
  check(told && bad == r.n, "line and column of the rows that were left out");
  for (int k = 0; k < 3; k++) fl_array_unref(w[k].values);
  fl_rejected_reset(&r);
}

int main(void) {
  static int lines[N];
  char path[] = "/tmp/flow-csv-collect-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (!f) return 1;
  write_file(f, lines);
  fclose(f);
  static const int64_t chunks[] = {1, 13, 64, 1000, FL_CSV_CHUNK};
  const FlCsvScan *scan;
  for (int k = 0; (scan = fl_csv_scan_at(k)); k++)
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) read_once(path, scan, chunks[c], lines);
  unlink(path);
  return finish();
}
