/* shown.c: what a record says was shown, read back: tables, null, escapes; and lines that are damaged, which
 * are as if they were not there. */
#include "check.h"
#include "report/record.h"
#include "report/shown.h"

#include <stdlib.h>
#include <string.h>

#define RECORD FL_RECORD_HEAD "run 1 ended 0 1 1 1 - 0 0 0\n" FL_RECORD_BEFORE

static FlShownList read_text(const char *shown) {
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s", RECORD, FL_RECORD_SHOWN, shown);
  FlShownList list;
  check(fl_shown_read(text, strlen(text), &list), "there is memory");
  FlRecord *r = fl_record_read(text, strlen(text));
  check(r && r->n_runs == 1, "the record before it is read");
  fl_record_free(r);
  return list;
}

static void test_whole(void) {
  FlShownList l = read_text("table 7 ab 2 1 2 a%20b text n i64?\nrow x%0ay %-\nrow %00 3\n"
                            "text 9 cd 1 a%3db\n");
  check(l.n == 2, "%d things", l.n);
  if (l.n == 2) {
    const FlShown *t = &l.at[0];
    check(t->is_table && t->kept && t->line == 7 && t->of == 0xab, "a table");
    check(t->rows == 2 && t->n_columns == 2, "its size");
    check(strcmp(t->names[0], "a b") == 0 && strcmp(t->types[1], "i64?") == 0, "its columns");
    check(strcmp(t->cells[0], "x\ny") == 0 && !t->cells[1] && strcmp(t->cells[2], "") == 0 &&
              strcmp(t->cells[3], "3") == 0,
          "its cells");
    check(!l.at[1].is_table && strcmp(l.at[1].text, "a=b") == 0 && l.at[1].line == 9, "a text");
  }
  fl_shown_reset(&l);
  l = read_text("table 1 0 5 0 1 a i64\ntable 2 0 0 1 1 a i64\ntext 3 0 0 %00\n");
  check(l.n == 3 && !l.at[0].kept && l.at[0].rows == 5 && l.at[1].kept && l.at[1].rows == 0 && !l.at[2].kept,
        "what is not kept, and a table without rows");
  fl_shown_reset(&l);
}

/* How many things are read, and whether the first has its rows. */
static void test_damaged(void) {
  static const struct {
    const char *shown;
    int n;
    bool kept;
  } cases[] = {
      {"", 0, false},
      {"\n\n row\n", 0, false},
      {"row 1 2\n", 0, false},
      {"table\n", 0, false},
      {"table 1 0 x 1 1 a i64\nrow 1\n", 0, false},
      {"table 1 0 1 1 2 a i64\nrow 1\n", 0, false},                    /* a column is missing */
      {"table 1 0 2 1 1 a i64\nrow 1\n", 1, false},                    /* a row is missing */
      {"table 1 0 1 1 2 a i64 b i64\nrow 1\n", 1, false},              /* a cell is missing */
      {"table 1 0 1 1 1 a i64\nrow 1\nrow 2\n", 1, true},              /* one row more */
      {"table 1 0 99999999999 1 1 a i64\n", 0, false},                 /* more than there can be */
      {"table 1 0 4611686018427387904 1 4 a i64 b i64 c i64 d i64\n", 0, false},
      {"table 1 0 -1 1 1 a i64\n", 0, false},
      {"table 1 0 1 1 -1\n", 0, false},
      {"table 99999999999 0 1 1 1 a i64\n", 0, false},
      {"text 1 0 1\n", 0, false},
      {"text 1 0 1 %\n", 1, true},
      {"text 1 0 1 %zz%2\n", 1, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FlShownList l = read_text(cases[i].shown);
    check(l.n == cases[i].n && (l.n == 0 || l.at[0].kept == cases[i].kept), "case %zu: %d things", i, l.n);
    fl_shown_reset(&l);
  }
  FlShownList none;
  check(fl_shown_read(RECORD, strlen(RECORD), &none) && none.n == 0, "a record without what was shown");
  check(fl_shown_read("", 0, &none) && none.n == 0, "nothing at all");
}

/* Bytes of a record at random places become others. */
static void test_random(void) {
  static const char whole[] = RECORD FL_RECORD_SHOWN "table 7 ab 2 1 2 a text n i64?\nrow x %-\nrow y 3\n"
                                                     "text 9 cd 1 a\n";
  uint64_t seed = 1;
  int read = 0;
  for (int i = 0; i < 20000; i++) {
    char text[sizeof whole];
    memcpy(text, whole, sizeof whole);
    for (int k = 0; k < 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      text[(seed >> 33) % (sizeof whole - 1)] = "0123456789 \n%-xr="[(seed >> 20) % 17];
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
