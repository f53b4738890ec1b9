/* csv_dialect.c: what is found of how a CSV file is written, what is not guessed, and what no longer fits
 * what was found while compiling. */
#include "csv_texts.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/flow_dialect_XXXXXX";

/* The dialect of a file as "sep quote decimal comment header names", or the error's code and message. */
static void say(const char *text, const char *const *options, int n, char *out, size_t room) {
  FILE *to = fopen(path, "w");
  if (!to || fputs(text, to) < 0 || fclose(to)) abort();
  FlIoError e = {0};
  FlCsvOptions o;
  FlCsvFile f;
  if (!texts_options(options, n, &o, &e) || !fl_csv_open(NULL, path, &o, &f, &e)) {
    snprintf(out, room, "E%04d %s; %s", e.code, e.message, e.help);
    return;
  }
  const FlCsvOptions *p = &f.options;
  char sep[3] = {p->sep == '\t' ? 't' : p->sep, 0, 0};
  int at = snprintf(out, room, "%s %c %c %c %s", sep, p->quoting ? p->quote : '-', p->decimal,
                    p->comment ? p->comment : '-', p->header ? "header" : "none");
  for (int32_t k = 0; k < f.n_columns; k++) at += snprintf(out + at, room - (size_t)at, " %s", f.names[k]);
  fl_csv_close(&f);
}

static void finds(const char *text, const char *want) {
  char got[1024];
  say(text, NULL, 0, got, sizeof got);
  bool starts = want[0] == 'E' && strncmp(got, want, strlen(want)) == 0;
  check(starts || strcmp(got, want) == 0, "%s\n  got: %s", text, got);
}

static void finds_with(const char *text, const char *option, const char *want) {
  char got[1024];
  say(text, &option, 1, got, sizeof got);
  bool starts = want[0] == 'E' && strncmp(got, want, strlen(want)) == 0;
  check(starts || strcmp(got, want) == 0, "%s\n  got: %s", text, got);
}

static void test_separators(void) {
  finds("a,b\n1,2\n", ", \" . - header a b");
  finds("a;b\n1;2\n", "; \" . - header a b");
  finds("a\tb\nx y\tz\n", "t \" . - header a b");
  finds("a|b|c\n1|2|x\n", "| \" . - header a b c");
  finds("a\nx\n", ", \" . - header a");
  finds("a;b\n1,5;x\n", "; \" , - header a b");
  finds("name;text\nx;one, two\ny;three\n", "; \" . - header name text");
  finds("name,text\nx,one; two\ny,\"a;b\"\n", ", \" . - header name text");
  finds("\"a;b\",c\nx;y,1\nz;w,2\n", ", \" . - header a;b c");
  /* A row that does not fit: the separator of the others, so that the row is reported. */
  finds("a;b\n1;2\n3\n4;5\n", "; \" . - header a b");
  finds("a,b;c\nx,y;z\n", "E0954 the separator of `");
  finds_with("a,b;c\nx,y;z\n", "sep=,", ", \" . - header a b;c");
  finds("a,b\n\"1\n;;\n2\",x\n", ", \" . - header a b");
}

static void test_decimals(void) {
  finds("a;b\n0,5;1\n", "; \" , - header a b");
  finds("a\tb\n-1,25\tx\n", "t \" , - header a b");
  finds("a;b\n1,234;x\n", "; \" . - header a b"); /* a group of thousands, or not */
  finds("a;b\n1,234;x\n2,5;y\n", "; \" , - header a b");
  finds("a;b\n1.5;x\n", "; \" . - header a b");
  finds("a;b\n1,5;2.5\n", "E0954 the decimal sign of `");
  finds_with("a;b\n1,5;2.5\n", "decimal=,", "; \" , - header a b");
  finds("a;b\n1,5;31.12.1999\n", "; \" , - header a b");
  finds("a;b\n\"1,5\";x\n", "; \" . - header a b"); /* a text: others are not in quotes */
  finds("\"a\";\"b\"\n\"1,5\";\"x\"\n", "; \" , - header a b");
  finds("a;b\n1,5 km;x\n", "; \" . - header a b");
  finds_with("a;b\n1;2\n", "decimal=,", "; \" , - header a b");
}

static void test_skip(void) {
  finds("Report\nof May\n\na,b,c\n1,x,2\n2,y,3\n", ", \" . - header a b c");
  finds("Report; May\na;b;c;d\n1;x;2;3\n2;y;3;4\n", "; \" . - header a b c d");
  finds("Report\na,b\nx,y\nz,w\n", ", \" . - header Report"); /* nothing shows which line is the header */
  finds("a\nb,1\nc,2\nd,3\n", ", \" . - header a");
  finds("a,b\n1,x,2\n2,y,3\n3,z,4\n", ", \" . - header a b"); /* a name is missing */
  finds("Report\na,b\n1,2\n3\n", ", \" . - header Report");
  finds_with("Report\na,b,c\n1,x,2\n2,y,3\n", "skip=0", ", \" . - header Report");
  finds_with("Report\na,b,c\n1,x,2\n2,y,3\n", "header=true", ", \" . - header a b c");
  finds_with("Report\n1,x,2\n2,y,3\n3,z,1\n", "header=false", ", \" . - none column_1");
}

static void test_headers(void) {
  finds("1,2\n3,5\n", "E0954 the first row of `");
  finds("2,1\n3,5\n", ", \" . - none column_1 column_2");
  finds("5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n", ", \" . - none column_1 column_2 column_3");
  finds("id,2020,2021\n1,5,6\n", ", \" . - header id 2020 2021");
  finds("country,2019,2020\nFR,1,2\n", ", \" . - header country 2019 2020");
  finds("2019,2020\n1,2\n", ", \" . - header 2019 2020");
  finds("2019,2020\n2020,2021\n", "E0954 the first row of `");
  finds("x,y\nu,v\n", ", \" . - header x y");
  finds("x,y\n", ", \" . - header x y");
  finds("3,7\n", ", \" . - none column_1 column_2");
  finds("\"3\",\"7\"\n1,2\n", ", \" . - header 3 7");
  finds("a,,b\n1,2,3\n", ", \" . - header a column_2 b");
  finds("\n\r\na,b\n1,2\n", ", \" . - header a b");
  finds(",0,1,2\n0,0.5,0.25,1\n", "E0954 the first row of `");
  finds_with(",0,1,2\n0,0.5,0.25,1\n", "header=true", ", \" . - header column_1 0 1 2");
  finds("2020-01-01,x\n2020-01-02,y\n", ", \" . - none column_1 column_2");
}

static void test_quotes(void) {
  finds("'a','b'\n'1,5','x'\n'2','y'\n", ", ' . - header a b");
  finds("a,b\n'tis,x\n1,2\n", ", \" . - header a b");
  finds("a,b\n'x','it''s'\n'y','z'\n", ", ' . - header a b");
  finds("a,b\n'x',\"y\"\n'z',w\n", ", \" . - header a b");
}

static void test_comments(void) {
  finds("# made by hand\n# in a hurry, really\na,b\n1,2\n", "E0953");
  finds("# made by hand\n#\na,b\n1,2\n", ", \" . # header a b");
  finds("#id,name\n1,x\n", "E0953 `");
  finds_with("#id,name\n1,x\n", "comment=", ", \" . - header #id name");
  finds_with("% one\na,b\n1,2\n", "comment=%", ", \" . % header a b");
  finds("a,b\n# no,t\n1,2\n", ", \" . - header a b");
}

/* What was found while compiling: the same file, or another that it explains as well, is no error. */
static void test_compiled(void) {
  finds_with("a,b\n1,2\n", "?sep=,", ", \" . - header a b");
  finds_with("a;b\n1;2\n", "?sep=,", "E0950 the separator of `");
  finds_with("a\n1\n", "?sep=;", "; \" . - header a");
  finds_with("a;b\n1,5;2\n", "?decimal=.", "E0950 the decimal sign of `");
  finds_with("a;b\n1.5;2\n", "?decimal=,", "E0950 the decimal sign of `");
  finds_with("a;b\n1;2\n", "?decimal=,", "; \" , - header a b");
  finds_with("a,b\n1,2\n", "?header=false", "E0950 `");
  finds_with("3,5\n1,2\n", "?header=true", ", \" . - header 3 5");
  finds_with("'a','b'\n'1','2'\n", "?quote=\"", "E0950 the quote of `");
  finds_with("# x\na,b\n1,2\n", "?comment=", "E0950 `");
  finds_with("a,b\n1,2\n", "?comment=#", ", \" . # header a b");
}

int main(void) {
  int fd = mkstemp(path);
  if (fd < 0) abort();
  close(fd);
  test_separators();
  test_decimals();
  test_skip();
  test_headers();
  test_quotes();
  test_comments();
  test_compiled();
  unlink(path);
  return finish();
}
