/* csv_broken.c: random texts of quotes, separators and line ends, with on_error=collect: the same rows and
 * the same rows left out for any cut of the text and any way of scanning it. usage: unit_csv_broken [N] */
#include "check.h"
#include "csv_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state = 88172645463325252u;
static uint32_t random_below(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % n;
}

/* Pieces that make and break quoting; those further back are rarer. */
static const char *const pieces[] = {",",    "\n",  "a",   "1",    ",",    "\n",   "\"",
                                     "\"\"", ",\"", "\",", "\"\n", "\n\"", "\r\n", "x,y,z\n",
                                     "\r",   " ",   "#",   "\n\n", "é"};

static void add_text(FlBytes *b, bool long_fields) {
  int n = 1 + (int)random_below(40);
  fl_bytes_addz(b, "a,b,c\n");
  for (int k = 0; k < n; k++) {
    if (random_below(3)) fl_bytes_addz(b, pieces[random_below(sizeof pieces / sizeof *pieces)]);
    else fl_bytes_addz(b, "\"p\",q,\"r \"\"s\"\"\nt\"\n");
    if (!long_fields || random_below(8)) continue;
    fl_bytes_addz(b, ",\"");
    for (int lines = (int)random_below(9); lines > 0; lines--)
      fl_bytes_addz(b, random_below(5) ? "\n,,x" : "\nx");
    fl_bytes_addz(b, random_below(4) ? "\n\"\n" : "\n\"x");
  }
}

static void add_array(FlBytes *b, const FlArray *a) {
  for (int64_t k = 0; k < a->dims[0]; k++) {
    const FlText *t = (const FlText *)a->data + k;
    fl_bytes_addf(b, "<%.*s>", (int)t->len, t->ptr ? t->ptr : "");
  }
  fl_bytes_addz(b, "\n");
}

/* Everything that the file says; free it. */
static char *says(const char *path, const FlCsvScan *scan, int64_t chunk) {
  static const char *const texts[] = {"on_error=collect", "sep=,", "header=true"};
  FlBytes b = {0};
  FlCsvOptions o;
  FlIoError e = {0};
  FlTableWanted w[] = {{.name = "a", .name_len = 1, .dtype = FL_TEXT, .nullable = true},
                       {.name = "b", .name_len = 1, .dtype = FL_TEXT, .nullable = true},
                       {.name = "c", .name_len = 1, .dtype = FL_TEXT, .nullable = true}};
  FlRejected r;
  int64_t rows = 0;
  bool ok = texts_options(texts, 3, &o, &e) && fl_csv_read(NULL, path, &o, scan, chunk, w, 3, &rows, &r, &e);
  if (!ok) fl_bytes_addf(&b, "%s", e.message);
  for (int k = 0; ok && k < 3; k++) {
    add_array(&b, w[k].values);
    for (int64_t i = 0; i < rows; i++) fl_bytes_addf(&b, "%d", ((uint8_t *)w[k].valid->data)[i]);
    fl_array_unref(w[k].values);
    fl_array_unref(w[k].valid);
  }
  if (ok) {
    for (int64_t i = 0; i < r.n; i++) fl_bytes_addf(&b, "%lld ", (long long)((int64_t *)r.line->data)[i]);
    add_array(&b, r.column);
    add_array(&b, r.reason);
    add_array(&b, r.text);
    fl_rejected_reset(&r);
  }
  if (fl_bytes_room(&b, 1)) b.at[b.len] = 0;
  return b.at;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1500;
  static const int64_t chunks[] = {1, 2, 3, 5, 16, 63, 64, 65, 130};
  for (int k = 0; k < n; k++) {
    char path[] = "/tmp/flow-csv-broken-XXXXXX";
    int fd = mkstemp(path);
    FlBytes text = {0};
    add_text(&text, k % 2);
    if (fd < 0 || write(fd, text.at, text.len) != (ssize_t)text.len) return 1;
    close(fd);
    char *want = says(path, fl_csv_scan_best(), FL_CSV_CHUNK);
    const FlCsvScan *scan;
    bool same = true;
    for (int s = 0; same && (scan = fl_csv_scan_at(s)); s++)
      for (size_t c = 0; same && c < sizeof chunks / sizeof *chunks; c++) {
        char *got = says(path, scan, chunks[c]);
        same = strcmp(got, want) == 0;
        check(same, "text %d, %s, chunks of %lld\n%.*s\n---\n%s---\n%s", k, scan->name, (long long)chunks[c],
              (int)text.len, text.at, want, got);
        free(got);
      }
    free(want);
    fl_bytes_reset(&text);
    unlink(path);
  }
  return finish();
}
