/* shown.c: what a record says was shown, read back: tables, null, escapes; and lines that are damaged, which
 * are as if they were not there. */
#include "check.h"
#include "report/record.h"
#include "exec/shown.h"

#include <stdlib.h>
#include <string.h>

#define RECORD FL_RECORD_HEAD "run 1 ended 0 1 1 1 - 0 0 0\n" FL_RECORD_BEFORE

/* The head of a column: i64, text, f64; one element a cell, all there. */
#define I64 "\4\0\1\0\0\0\0\0\0\0"
#define TEXT "\13\0\1\0\0\0\0\0\0\0"
#define I64_NULL "\4\1\1\0\0\0\0\0\0\0"
#define PAIRS "\4\2\2\0\0\0\0\0\0\0" /* arrays of two */
#define ONE "\1\0\0\0\0\0\0\0"
#define TWO "\2\0\0\0\0\0\0\0"

static FlShownList read_bytes(const char *shown, size_t n) {
  char text[4096];
  int head = snprintf(text, sizeof text, "%s%s", RECORD, FL_RECORD_SHOWN);
  memcpy(text + head, shown, n);
  FlShownList list;
  check(fl_shown_read(text, (size_t)head + n, &list), "there is memory");
  FlRecord *r = fl_record_read(text, (size_t)head + n);
  check(r && r->n_runs == 1, "the record before it is read");
  fl_record_free(r);
  return list;
}

static void test_whole(void) {
  static const char first[] = "table 7 ab 2 1 3 a%20b text n i64? p i64[2]\n"
                              "column 00000021\n" TEXT "\3\0\0\0\0\0\0\0x\ny\n"
                              "column 00000028\n" I64_NULL "\0\1" ONE "\3\0\0\0\0\0\0\0\n"
                              "column 00000042\n" PAIRS ONE TWO TWO ONE "\n"
                              "text 9 cd 1 3\na=\n\n";
  FlShownList l = read_bytes(first, sizeof first - 1);
  check(l.n == 2, "%d things", l.n);
  if (l.n == 2) {
    const FlShown *t = &l.at[0];
    check(t->is_table && t->kept && t->line == 7 && t->of == 0xab, "a table");
    check(t->rows == 2 && t->n_columns == 3, "its size");
    check(strcmp(t->names[0], "a b") == 0 && strcmp(t->types[1], "i64?") == 0, "its columns");
    check(t->kept && strcmp(t->cells[0], "x\ny") == 0 && !t->cells[1] && strcmp(t->cells[2], "[1, 2]") == 0 &&
              strcmp(t->cells[3], "") == 0 && strcmp(t->cells[4], "3") == 0 &&
              strcmp(t->cells[5], "[2, 1]") == 0,
          "its cells");
    check(!l.at[1].is_table && strcmp(l.at[1].text, "a=\n") == 0 && l.at[1].line == 9, "a text");
  }
  fl_shown_reset(&l);
  static const char second[] = "table 1 0 5 0 1 a i64\ntable 2 0 0 1 1 a i64\n"
                               "column 00000010\n" I64 "\ntext 3 0 0 0\n\n";
  l = read_bytes(second, sizeof second - 1);
  check(l.n == 3 && !l.at[0].kept && l.at[0].rows == 5 && l.at[1].kept && l.at[1].rows == 0 && !l.at[2].kept,
        "what is not kept, and a table without rows");
  fl_shown_reset(&l);
}

/* How many things are read, and whether the first has its rows. */
static void test_damaged(void) {
#define CASE(text, n, kept) {text, sizeof text - 1, n, kept}
  static const struct {
    const char *shown;
    size_t len;
    int n;
    bool kept;
  } cases[] = {
      CASE("", 0, false),
      CASE("\n\n column\n", 0, false),
      CASE("column 00000001\nx\n", 0, false),
      CASE("table\n", 0, false),
      CASE("table 1 0 x 1 1 a i64\n", 0, false),
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000018\n" I64 ONE "\n", 1, true),
      CASE("table 1 0 1 1 2 a i64\n", 0, false),                                     /* a name is missing */
      CASE("table 1 0 1 1 2 a i64 b i64\ncolumn 00000018\n" I64 ONE "\n", 1, false), /* a column is missing */
      CASE("table 1 0 2 1 1 a i64\ncolumn 00000018\n" I64 ONE "\n", 1, false),       /* a value is missing */
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000099\n" I64 ONE "\n", 1, false),       /* bytes are missing */
      CASE("table 1 0 1 1 1 a i64\ncolumn -1\n", 1, false),
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000018\n" I64 ONE "\ncolumn 00000018\n" I64 TWO "\n", 1, false),
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000018\n\177\0\1\0\0\0\0\0\0\0" ONE "\n", 1, false), /* no type */
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000018\n\4\2\377\377\377\377\377\377\377\177" ONE "\n", 1, false),
      CASE("table 1 0 1 1 1 a i64\ncolumn 00000018\n\4\0\2\0\0\0\0\0\0\0" ONE "\n", 1, false), /* no array */
      CASE("table 1 0 1 1 1 a text\ncolumn 00000014\n" TEXT "\5\0\0\0\n", 1, false), /* a text is cut off */
      CASE("table 1 0 99999999999 1 1 a i64\n", 0, false), /* more than there can be */
      CASE("table 1 0 4611686018427387904 1 4 a i64 b i64 c i64 d i64\n", 0, false),
      CASE("table 1 0 -1 1 1 a i64\n", 0, false),
      CASE("table 1 0 1 1 -1\n", 0, false),
      CASE("table 99999999999 0 1 1 1 a i64\n", 0, false),
      CASE("text 1 0 1\n", 0, false),
      CASE("text 1 0 1 5\nabc", 0, false),
      CASE("text 1 0 1 -1\n", 0, false),
      CASE("text 1 0 1 3\n%zz\n", 1, true),
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FlShownList l = read_bytes(cases[i].shown, cases[i].len);
    check(l.n == cases[i].n && (l.n == 0 || l.at[0].kept == cases[i].kept), "case %zu: %d things", i, l.n);
    fl_shown_reset(&l);
  }
  FlShownList none;
  check(fl_shown_read(RECORD, strlen(RECORD), &none) && none.n == 0, "a record without what was shown");
  check(fl_shown_read("", 0, &none) && none.n == 0, "nothing at all");
}

/* Bytes of a record at random places become others. */
static void test_random(void) {
  static const char whole[] = RECORD FL_RECORD_SHOWN "table 7 ab 2 1 3 a text n i64? p i64[2]\n"
                                                     "column 00000021\n" TEXT "\3\0\0\0\0\0\0\0x\ny\n"
                                                     "column 00000028\n" I64_NULL "\0\1" ONE TWO "\n"
                                                     "column 00000042\n" PAIRS ONE TWO TWO ONE "\n"
                                                     "text 9 cd 1 1\na\n";
  uint64_t seed = 1;
  int read = 0;
  for (int i = 0; i < 20000; i++) {
    char text[sizeof whole];
    memcpy(text, whole, sizeof whole);
    for (int k = 0; k < 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      text[(seed >> 33) % (sizeof whole - 1)] =
          seed & 64 ? "0123456789 \n%-xr="[(seed >> 20) % 17] : (char)(seed >> 24);
    }
    FlShownList l;
    read += fl_shown_read(text, sizeof whole - 1, &l);
    for (int t = 0; t < l.n; t++)
      for (int64_t c = 0; l.at[t].kept && l.at[t].is_table && c < l.at[t].rows * l.at[t].n_columns; c++)
        read += l.at[t].cells[c] && strlen(l.at[t].cells[c]) > 1000;
    fl_shown_reset(&l);
  }
  check(read == 20000, "%d are read", read);
}

int main(void) {
  test_whole();
  test_damaged();
  test_random();
  return finish();
}
