/* csv.c: CSV files: types found, values read, errors, for every chunk size and every way of scanning; and
 * what is written reads back. */
#include "csv_kit.h"
#include "exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int passed, failed;
static char folder[] = "/tmp/flow_csv_XXXXXX", path[64];

static void check(bool ok, const char *what, const char *got) {
  if (ok) {
    passed++;
  } else {
    failed++;
    printf("failed: %s\n  got: %s\n", what, got);
  }
}

static void put_file(const char *bytes, size_t n) {
  FILE *f = fopen(path, "w");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}

/* The text says the same however it is cut and scanned. Returns what it says; free it. */
static char *says(const char *bytes, size_t n, const Options *o, const Options *given, const char *what) {
  put_file(bytes, n);
  char *want = kit_reads(path, o, fl_csv_scan_best(), FL_CSV_CHUNK, given), *got, how[64], label[512];
  bool same = kit_always(path, o, given, want, how, &got);
  snprintf(label, sizeof label, "%.400s: %s", what, how);
  check(same, label, got);
  free(got);
  return want;
}

static void reads_with(const char *bytes, Options o, const Options *given, const char *want) {
  char *got = says(bytes, strlen(bytes), &o, given, bytes);
  check(strncmp(got, want, strlen(want)) == 0 && (want[0] == 'E' || strlen(got) == strlen(want)), want, got);
  free(got);
}

static void reads(const char *bytes, const char *want) { reads_with(bytes, (Options){{0}, 0}, NULL, want); }

static void test_types(void) {
  reads("a,b\n1,x\n2,y\n", "a i64 1|2; b text x|y");
  reads("a,b\n1,x\n2,y", "a i64 1|2; b text x|y");
  reads("a,b\r\n1,x\r\n2,y\r\n", "a i64 1|2; b text x|y");
  reads("\xef\xbb\xbf"
        "a\n1.5\n2\n",
        "a f64 1.5|2.0");
  reads("a,b,c,d\ntrue,2020-01-31,2020-01-31T12:00:00Z,007\nfalse,1999-12-31,2020-01-31 00:00,1\n",
        "a bool true|false; b date 2020-01-31|1999-12-31; c datetime "
        "2020-01-31T12:00:00Z|2020-01-31T00:00:00Z; "
        "d text 007|1");
  reads("a,b,c\n1,,x\n,NA,\nNA,2.5,NA\n", "a i64? 1|null|null; b f64? null|null|2.5; c text? x|null|NA");
  reads("a,b\n1e400,99999999999999999999\n2,3\n", "a text 1e400|2; b text 99999999999999999999|3");
  reads("a,b\n nan , 12\n-inf,\t-7 \n", "a f64 nan|-inf; b i64 12|-7");
  reads("a,b\n1,2020-01-01\n2.5,2020-01-01 10:00\n",
        "a f64 1.0|2.5; b datetime 2020-01-01T00:00:00Z|2020-01-01T10:00:00Z");
  reads("a\n", "a text? ");
  reads("a\n2023-02-28\n2024-02-29\n1900-03-01\n", "a date 2023-02-28|2024-02-29|1900-03-01");
  reads("a\n2023-02-28\n2023-02-29\n", "a text 2023-02-28|2023-02-29");
  reads("a,a b,,\n1,2,3,4\n", "a i64 1; a b i64 2; column_3 i64 3; column_4 i64 4");
  reads("x\n-0\n0\n-9223372036854775808\n9223372036854775807\n",
        "x i64 0|0|-9223372036854775808|9223372036854775807");
  reads("x\n-0.0\n.5\n5.\n1234567.12345678\n0.1234567890123456789\n-12345678."
        "12345678\n123456789012345678\n9007199254740993\n",
        "x f64 -0.0|0.5|5.0|1234567.12345678|0.12345678901234568|-12345678.12345678|1.2345678901234568e17|"
        "9007199254740992.0");
}

static void test_quotes(void) {
  reads("a,b\n\"x, \"\"y\"\"\nz\",1\n\"\",2\n,3\n", "a text? x, \"y\"\nz||null; b i64 1|2|3");
  reads("\"a \"\"q\"\"\",b\n\"1\",\"\"\n\"2\",3\n", "a \"q\" text 1|2; b i64? null|3");
  reads("\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"\n", "a i64 1|2; b text x|y"); /* everything is in quotes */
  reads("a,b\n\"1\",\"x\"\n\"2\",\"y\"\n", "a text 1|2; b text x|y");
  reads("a,b\n\"1\",1\n2,\"2\"\n", "a i64 1|2; b i64 1|2");
  reads("\"a\",\"b\"\n\"1\",NA\n\"2\",\n", "a i64 1|2; b text? NA|null");
  reads("a,b\n\"\"\"\",x\n\"\"\"\"\"\",\"\n\n\"\n", "a text \"|\"\"; b text x|\n\n");
  reads("a,b\r\n\"1\r\n2\",\"x\"\r\n\"3\",\"y\"\r\n", "a text 1\r\n2|3; b text x|y");
  reads("a,b\nx\"y,1\nz,2\n", "E0936 line 2");
  reads("a,b\n\"x\"y,1\nz,2\n", "E0936 line 2 row 1 a \"x\"y");
  reads("a,b\nx,1\n\"y,2\nz,3\n", "E0936");
  reads("a,b\nx,1\n\"y,2\nz,3\nq\"\"\n", "E0936");
  reads("\"a,b\n1,2\n", "E0936");
  reads_with("a,b\n\"x\"y,1\n\"z,2\n", (Options){{"quote="}, 1}, NULL, "a text \"x\"y|\"z; b i64 1|2");
  reads_with("a;b\n'x;1';2\n", (Options){{"quote='", "sep=;"}, 2}, NULL, "a text x;1; b i64 2");
}

static void test_rows(void) {
  reads("a,b\n1,2\n\n\r\n3,4\n\n", "a i64 1|3; b i64 2|4");
  reads("a\n1\n\n3\n", "a i64? 1|null|3");
  reads("a,b\n1,2\n3\n4,5\n", "E0934 line 3 row 2  3: ");
  reads("a,b\n1,2\n\n3,4,5\n4,5\n", "E0934 line 4 row 2  3,4,5: ");
  reads("a,b\n1,2,\n", "E0934 line 2 row 1");
  reads("a,b\n1,5;2,3\n", "E0934 line 2");
  reads("", "E0944");
  reads("a,b,a\n1,2,3\n", "E0935");
  reads("a,b\n1,2\n\"x\ny\",3\n\"z\nq\",3,4\n", "E0934 line 5 row 3");
  reads_with("a\nz\nx\"y\nz\n", (Options){{"quote=\""}, 1}, &(Options){{"a:text"}, 1},
             "E0936 line 3 row 2 a x\"y");
  reads_with("a\nz\nx\"y\nz\n", (Options){{"quote=\""}, 1}, &(Options){{0}, 0}, "E0936 line 3 row 2 a x\"y");
}

static void test_options(void) {
  reads_with("a\tb\n1\tx,y\n", (Options){{"sep=\t"}, 1}, NULL, "a i64 1; b text x,y");
  reads_with("x\ny\na;b\n1,5;-2,25\n", (Options){{"sep=;", "skip=2", "decimal=,"}, 3}, NULL,
             "a f64 1.5; b f64 -2.25");
  reads_with("1,x\n2,y\n", (Options){{"header=false"}, 1}, NULL, "column_1 i64 1|2; column_2 text x|y");
  reads_with("a,b\n-999,NA\n1,\n", (Options){{"null=-999", "null=NA"}, 2}, NULL,
             "a i64? null|1; b text? null|");
  reads_with("a\n31.12.1999\n1.2.2020\n", (Options){{"dates=%d.%m.%Y"}, 1}, NULL,
             "a date 1999-12-31|2020-02-01");
  reads_with("a,b\n1,2\n#3,4\n5,6\n", (Options){{"comment=#"}, 1}, NULL, "a i64 1|5; b i64 2|6");
  reads_with("a,b\nu,2\n#v,4\nw,6\n", (Options){{"comment=#"}, 1}, NULL, "a text u|w; b i64 2|6");
  reads_with("a\n12/31/1999 23:59\n", (Options){{"dates=%m/%d/%Y %H:%M"}, 1}, NULL,
             "a datetime 1999-12-31T23:59:00Z");
  reads_with("n\xe4me\nZ\xfcrich\n", (Options){{"encoding=latin-1"}, 1}, NULL, "näme text Zürich");
  reads("a,b\n1,Z\xfcrich\n", "E0938 line 2 row 1 b");
  reads("a,b\n1,Zürich\n", "a i64 1; b text Zürich");
  reads_with("a\n1\n", (Options){{"sepp=;"}, 1}, NULL, "E0939");
  reads_with("a\n1\n", (Options){{"sep=;;"}, 1}, NULL, "E0939");
  reads_with("a\n1\n", (Options){{"decimal=,", "sep=,"}, 2}, NULL, "E0939");
  reads_with("a;b\n1;2\n", (Options){{"decimal=,"}, 1}, NULL, "a i64 1; b i64 2");
  reads_with("a\n1\n", (Options){{"dates=%q"}, 1}, NULL, "E0939");
}

static void test_wanted(void) {
  const Options none = {{0}, 0};
  reads_with("a,b,c\n1,x,2\n3,y,4\n", none, &(Options){{"c:f64", "a:i8"}, 2}, "c f64 2.0|4.0; a i8 1|3");
  reads_with("a,b\n1,x\n300,y\n", none, &(Options){{"a:i8"}, 1}, "E0931 line 3 row 2 a 300");
  reads_with("a,b\n1,x\n,y\n", none, &(Options){{"a:i64"}, 1}, "E0932 line 3 row 2 a ");
  reads_with("a,b\n1,x\n,y\nNA,z\n", none, &(Options){{"a:i64?", "b:text"}, 2},
             "a i64? 1|null|null; b text x|y|z");
  reads_with("a,b\n1,x\n,\n", none, &(Options){{"b:text"}, 1}, "E0932 line 3 row 2 b ");
  reads_with("price,b\n1,x\n", none, &(Options){{"prize:i64"}, 1}, "E0933");
  reads_with("a,b\n1,x\n2,3,4\n5,6\n", none, &(Options){{"a:i64"}, 1}, "E0934 line 3");
  reads_with("a,b\nx,1\ny,2\n", none, &(Options){{"a:f64?"}, 1}, "E0931 line 2 row 1 a x");
  reads_with("a,b\nx,1\ny,2\n3,4\n", (Options){{"on_error=null"}, 1}, &(Options){{"a:f64?"}, 1},
             "a f64? null|null|3.0");
  reads_with("a,b\n1,2\n", none, &(Options){{0}, 0}, "");
  /* the first problem in the file, whichever column and chunk */
  reads_with("a,b,c\n1,2,3\n4,x,6\ny,8,9\n7,8\n", none, &(Options){{"c:i64", "b:i64", "a:i64"}, 3},
             "E0931 line 3 row 2 b x");
}

/* Random files of quotes, separators and line ends: nothing is said differently by any way of reading. */
static void test_random(void) {
  static const char *const pieces[] = {"1",        "22", "x",    ",",  ",",       ",",
                                       "\n",       "\n", "\r\n", "\"", "\"\"",    "\"a\"",
                                       "\"1\n2\"", "é",  "-1.5", "NA", "\"x,y\"", " "};
  uint64_t state = 7;
  for (int round = 0; round < 400; round++) {
    char bytes[400];
    size_t n = (size_t)sprintf(bytes, "a,b\n");
    int count = 5 + round % 40;
    for (int k = 0; k < count; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      n += (size_t)sprintf(bytes + n, "%s", pieces[(state >> 33) % (sizeof pieces / sizeof *pieces)]);
    }
    free(says(bytes, n, &(Options){{0}, 0}, NULL, bytes));
  }
}

/* A file beyond what is read at once: mapped, sampled, many chunks. */
static void test_large(void) {
  FILE *f = fopen(path, "w");
  fprintf(f, "id,half,name,late\n");
  for (int k = 0; k < 400000; k++) fprintf(f, "%d,%d.5,\"n, %d\",%s\n", k, k, k % 10, k % 7 ? "1" : "");
  fclose(f);
  Options o = {{0}, 0};
  FlIoSchema s;
  FlIoError e;
  check(texts_schema(path, o.at, 0, &s, &e), "schema of a large file", e.message);
  check(s.n_columns == 4 && s.columns[0].dtype == FL_I64 && s.columns[1].dtype == FL_F64 &&
            s.columns[2].dtype == FL_TEXT && s.columns[3].dtype == FL_I64 && s.columns[3].nullable &&
            !s.columns[0].nullable && !s.whole,
        "types of a large file", "");
  fl_io_schema_reset(&s);
  FlDigest first = {0, 0};
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 3, .quiet = true});
  for (int k = 0; k < 4; k++) {
    FlCsvOptions options;
    texts_options(o.at, 0, &options, &e);
    FlTableWanted w[3] = {{.name = "name", .name_len = 4, .dtype = FL_TEXT, .nullable = false},
                          {.name = "id", .name_len = 2, .dtype = FL_I64, .nullable = false},
                          {.name = "late", .name_len = 4, .dtype = FL_I64, .nullable = true}};
    int64_t rows = 0, chunks[] = {FL_CSV_CHUNK, 1000, 77777, 1 << 30};
    bool ok = fl_csv_read(k % 2 ? fl_run_ctx(run) : NULL, path, &options, fl_csv_scan_best(), chunks[k], w, 3,
                          &rows, NULL, &e);
    check(ok && rows == 400000, "rows of a large file", e.message);
    if (!ok) continue;
    FlDigest d = fl_array_digest(w[0].values), d1 = fl_array_digest(w[1].values);
    d.lo ^= d1.lo;
    if (k == 0) first = d;
    check(d.lo == first.lo && d.hi == first.hi && ((int64_t *)w[1].values->data)[399999] == 399999,
          "values of a large file", "");
    for (int c = 0; c < 3; c++) {
      fl_array_unref(w[c].values);
      fl_array_unref(w[c].valid);
    }
  }
  fl_run_free(run);
}

enum { MANY = 100000 };

/* A file of MANY columns of one row: column k is called "c<k>" and holds k, but the last is called `last`. */
static void put_many(const char *last) {
  FILE *f = fopen(path, "w");
  for (int k = 0; k < MANY - 1; k++) fprintf(f, "c%d,", k);
  fprintf(f, "%s\n", last);
  for (int k = 0; k < MANY; k++) fprintf(f, k < MANY - 1 ? "%d," : "%d\n", k);
  fclose(f);
}

/* In time that grows with the square of the columns this would take a minute. */
static void test_many_columns(void) {
  FlIoSchema s;
  FlIoError e;
  FlCsvOptions options;
  FlTableWanted *w = calloc(MANY, sizeof *w);
  int64_t rows = 0;
  put_many("last");
  check(w && texts_schema(path, NULL, 0, &s, &e) && s.n_columns == MANY, "the schema of many columns",
        e.message);
  for (int k = 0; k < MANY; k++) { /* from the last to the first */
    const char *name = s.columns[MANY - 1 - k].name;
    w[k] = (FlTableWanted){.name = name, .name_len = (int32_t)strlen(name), .dtype = FL_I64};
  }
  texts_options(NULL, 0, &options, &e);
  bool ok = fl_csv_read(NULL, path, &options, fl_csv_scan_best(), FL_CSV_CHUNK, w, MANY, &rows, NULL, &e);
  check(ok && rows == 1, "many columns", e.message);
  for (int k = 0; ok && k < MANY; k++) {
    ok = ((int64_t *)w[k].values->data)[0] == MANY - 1 - k;
    fl_array_unref(w[k].values);
  }
  check(ok, "each of many columns has its value", "");
  fl_io_schema_reset(&s);
  put_many("c77");
  check(!texts_schema(path, NULL, 0, &s, &e) && e.code == 935 &&
            strncmp(e.message, "columns 78 and 100000 of", 24) == 0,
        "a name twice among many", e.message);
  w[0] = (FlTableWanted){.name = "c78", .name_len = 3, .dtype = FL_I64};
  w[1] = (FlTableWanted){.name = "c77", .name_len = 3, .dtype = FL_I64};
  ok = fl_csv_read(NULL, path, &options, fl_csv_scan_best(), FL_CSV_CHUNK, w, 1, &rows, NULL, &e);
  check(ok, "a name twice that nobody wants", e.message);
  if (ok) fl_array_unref(w[0].values);
  ok = fl_csv_read(NULL, path, &options, fl_csv_scan_best(), FL_CSV_CHUNK, w + 1, 1, &rows, NULL, &e);
  check(!ok && strncmp(e.message, "columns 78 and 100000 of", 24) == 0, "a name twice that is wanted",
        e.message);
  free(w);
  FILE *f = fopen(path, "w");
  for (int k = 0; k < MANY; k++) fputs(k < MANY - 1 ? "x," : "x\n", f);
  fclose(f);
  check(!texts_schema(path, NULL, 0, &s, &e) && strncmp(e.message, "columns 1 and 2 of", 18) == 0,
        "one name for all of many", e.message);
}

static void test_formats(void) {
  check(strcmp(fl_io_reader_of("a.b/x.CSV"), "read_csv") == 0 &&
            strcmp(fl_io_reader_of("x.npy"), "read_npy") == 0 &&
            strcmp(fl_io_reader_of("x.tsv"), "read_csv") == 0,
        "formats", "");
  check(!fl_io_reader_of("x.cs") && !fl_io_reader_of("x.csv/y") && !fl_io_reader_of("csv"), "no formats", "");
}

static void test_change(void) {
  for (int large = 0; large < 2; large++) {
    FlInput in;
    FlIoError e = {0};
    put_file("a\n1\n", 4);
    check(!large || truncate(path, 5 << 20) == 0, "a file that is mapped", "");
    check(fl_input_open(NULL, path, &in, &e) && fl_input_check(&in, path, &e), "a file that stays",
          e.message);
    FILE *f = fopen(path, "a");
    fputs("2\n", f);
    fclose(f);
    check(!fl_input_check(&in, path, &e) && e.code == 937, "a file that grows", e.message);
    fl_input_close(&in);
  }
}

static void test_missing(void) {
  FlIoSchema s;
  FlIoError e;
  char wrong[80];
  put_file("price,weight\n1,2\n", 17);
  snprintf(wrong, sizeof wrong, "%s/y.csv", folder);
  check(!texts_schema(wrong, NULL, 0, &s, &e) && e.code == 930 && strstr(e.help, "/x.csv`?"),
        "a misspelt file", e.help);
  check(!texts_schema(folder, NULL, 0, &s, &e) && e.code == 930, "a folder", e.message);
  FlCsvOptions o;
  FlTableWanted w = {.name = "wieght", .name_len = 6, .dtype = FL_I64, .nullable = false},
                other = {.name = "zzz", .name_len = 3, .dtype = FL_I64, .nullable = false};
  int64_t rows;
  check(texts_options(NULL, 0, &o, &e), "no options", e.message);
  check(!fl_csv_read(NULL, path, &o, fl_csv_scan_best(), FL_CSV_CHUNK, &w, 1, &rows, NULL, &e) &&
            e.code == 933 && strcmp(e.help, "did you mean `weight`?") == 0,
        "a misspelt column", e.help);
  check(!fl_csv_read(NULL, path, &o, fl_csv_scan_best(), FL_CSV_CHUNK, &other, 1, &rows, NULL, &e) &&
            strcmp(e.help, "its columns: price, weight") == 0,
        "no such column", e.help);
}

static FlSlot array_of(FlCtx *ctx, FlDtype d, int64_t n, const void *data) {
  FlArray *a = fl_array_new(ctx, (int32_t)d, 1, &n);
  memcpy(a->data, data, (size_t)fl_array_bytes(a));
  return (FlSlot){.a = a};
}

/* Written and read back; a second run reads what the first has written. */
static void test_write(void) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  FlText names[4] = {{"plain", 5}, {"a, \"b\"\n", 7}, {NULL, 0}, {" x", 2}};
  uint8_t valid[4] = {1, 1, 0, 1};
  double x[4] = {0.1, -0.0, 1e300, 5e-324};
  int32_t days[4] = {0, -1, 20000, 11016};
  char to[80];
  snprintf(to, sizeof to, "%s/deep/er/out.csv", folder);
  FlSlot args[6] = {{.t = {to, (int64_t)strlen(to)}}, {.i = 4},
                    array_of(ctx, FL_TEXT, 4, names), array_of(ctx, FL_BOOL, 4, valid),
                    array_of(ctx, FL_F64, 4, x),      array_of(ctx, FL_DATE, 4, days)};
  static const FlColumnAttr columns[] = {
      {.name = "na,me", .flags = FL_COLUMN_TYPED | FL_COLUMN_NULLS, .dtype = FL_TEXT},
      {.name = "x", .flags = FL_COLUMN_TYPED, .dtype = FL_F64},
      {.name = "day", .flags = FL_COLUMN_TYPED, .dtype = FL_DATE}};
  FlOpDesc desc = {.site = -1, .n_args = 6, .columns = columns, .n_columns = 3, .format = &fl_write_csv};
  check(fl_rt_write_table(ctx, &desc, args, NULL) == 0, "write",
        fl_ctx_message(ctx) ? fl_ctx_message(ctx) : "");
  fl_run_free(run);
  run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  ctx = fl_run_ctx(run);
  FlSlot results[5];
  FlType1 file = {.dtype = FL_FILE}, types[5] = {{.dtype = FL_I64},
                                                 {FL_TEXT, 1, 0, 0},
                                                 {FL_BOOL, 1, 0, 0},
                                                 {FL_F64, 1, 0, 0},
                                                 {FL_DATE, 1, 0, 0}};
  desc.arg_types = &file;
  desc.result_types = types;
  desc.format = &fl_read_csv;
  check(fl_rt_read_table(ctx, &desc, args, results) == 0, "read back",
        fl_ctx_message(ctx) ? fl_ctx_message(ctx) : "");
  check(results[0].i == 4, "rows read back", "");
  for (int k = 1; k < 5; k++) {
    FlDigest a = fl_array_digest(args[k + 1].a), b = fl_array_digest(results[k].a);
    check(a.lo == b.lo && a.hi == b.hi, "column read back", columns[k > 1 ? k - 2 : 0].name);
    fl_array_unref(results[k].a);
    fl_array_unref(args[k + 1].a);
  }
  /* A folder in the way: an error, and nothing left behind. */
  FlSlot blocked[2] = {{.t = {folder, (int64_t)strlen(folder)}}, {.i = 0}};
  FlOpDesc empty = {.site = -1, .n_args = 2, .format = &fl_write_csv};
  check(fl_rt_write_table(ctx, &empty, blocked, NULL) != 0 && fl_ctx_code(ctx) == 942,
        "a folder cannot be written", "");
  fl_run_free(run);
  char command[120];
  snprintf(command, sizeof command, "rm -r %s", folder);
  check(access(to, R_OK) == 0 && system(command) == 0, "clean up", "");
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/x.csv", folder);
  test_types();
  test_quotes();
  test_rows();
  test_options();
  test_wanted();
  test_random();
  test_large();
  test_many_columns();
  test_formats();
  test_missing();
  test_change();
  test_write();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
