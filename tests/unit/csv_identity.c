/* csv_identity.c: random tables written as CSV and read back are the same, to the bit.
 *
 * usage: unit_csv_identity [TABLES=3000] [SEED=1]. By hand with 1000000 tables. Names and texts are made of
 * what might mislead a reader: separators, quotes, comments, line ends, digits, nulls; every second table is
 * read without saying how it was written. */
#include "check.h"
#include "data/data.h"
#include "csv_texts.h"
#include "splitmix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 6, MOST_ROWS = 12, TEXT_ROOM = 64 };

static uint64_t state;
static uint64_t next(void) { return splitmix(&state); }
static int below(int n) { return (int)(next() >> 33) % n; }

static const char *const pieces[] = {
    ",",  ";",          "\t",   "|",   "\"",           "'",  "#", "\n",         "\r",   "\r\n", " ", "-",
    "1",  "23",         "4.5",  "1,5", "NA",           "x",  "é", "\U0001F600", "null", "\"\"", "%", "''",
    "e5", "2024-01-31", "true", ".",   "\xef\xbb\xbf", "abc"};

static int64_t make_text(char *to, int most) {
  int64_t n = 0;
  for (int k = below(most + 1); k > 0; k--) {
    const char *piece = pieces[below(sizeof pieces / sizeof *pieces)];
    memcpy(to + n, piece, strlen(piece));
    n += (int64_t)strlen(piece);
  }
  return n;
}

static void make_value(FlArray *a, int64_t row, FlHeap *heap) {
  uint64_t bits = next();
  char text[TEXT_ROOM];
  switch ((FlDtype)a->dtype) {
  case FL_BOOL: ((uint8_t *)a->data)[row] = bits & 1; break;
  case FL_I8: ((int8_t *)a->data)[row] = (int8_t)bits; break;
  case FL_U64: ((uint64_t *)a->data)[row] = bits; break;
  case FL_I64: ((int64_t *)a->data)[row] = (int64_t)bits >> (next() & 63); break;
  case FL_F32: {
    float x = (float)(int64_t)bits / (float)(1 + below(1000));
    ((float *)a->data)[row] = x;
    break;
  }
  case FL_F64: {
    double x;
    memcpy(&x, &bits, sizeof x);
    ((double *)a->data)[row] = isnan(x) || bits & 1 ? (double)(int64_t)(bits >> 44) / 100 : x;
    break;
  }
  case FL_DATE: ((int32_t *)a->data)[row] = below(60000) - 20000; break;
  case FL_DATETIME: ((int64_t *)a->data)[row] = (int64_t)(bits >> 12); break;
  case FL_TEXT: {
    int64_t n = make_text(text, 5);
    char *copy = fl_heap_alloc(heap, n);
    if (n) memcpy(copy, text, (size_t)n);
    ((FlText *)a->data)[row] = (FlText){n ? copy : NULL, n};
    break;
  }
  default: break;
  }
}

typedef struct Table {
  int32_t n;
  int64_t rows;
  char names[MOST_COLUMNS][TEXT_ROOM + 8];
  FlTableColumn columns[MOST_COLUMNS];
} Table;

static void make_table(Table *t, FlHeap *heap) {
  static const FlDtype types[] = {FL_BOOL, FL_I8,   FL_U64,      FL_I64,  FL_F32,
                                  FL_F64,  FL_DATE, FL_DATETIME, FL_TEXT, FL_TEXT};
  t->n = 1 + below(MOST_COLUMNS);
  t->rows = below(MOST_ROWS + 1);
  for (int32_t c = 0; c < t->n; c++) {
    FlDtype type = types[below(sizeof types / sizeof *types)];
    int64_t n = make_text(t->names[c], 3);
    n += sprintf(t->names[c] + n, "%d", c); /* so that no two are the same */
    FlArray *values = fl_array_new(NULL, (int32_t)type, 1, &t->rows), *valid = NULL;
    if (below(2)) valid = fl_array_new(NULL, FL_BOOL, 1, &t->rows);
    size_t size = (size_t)fl_dtype_info[type].bytes;
    for (int64_t k = 0; k < t->rows; k++) {
      bool here = !valid || below(4);
      if (valid) ((uint8_t *)valid->data)[k] = here;
      if (here) make_value(values, k, heap);
      else memset((char *)values->data + (size_t)k * size, 0, size);
    }
    t->columns[c] =
        (FlTableColumn){.name = t->names[c], .name_len = (int32_t)n, .values = values, .valid = valid};
  }
}

static bool same_bytes(const FlArray *a, FlArray *b) {
  if (!a || !b) return a == b;
  FlDigest x = fl_array_digest((FlArray *)(uintptr_t)a), y = fl_array_digest(b);
  return a->dims[0] == b->dims[0] && x.lo == y.lo && x.hi == y.hi;
}

/* Options to write with, and to read with; `open`: what may be found is not said. */
static int32_t choose(const char *write[4], const char *read[4], bool *open, int32_t *n_read) {
  static const char *const nulls[] = {"null=NA", "null=-", "null=1"};
  int32_t n = 0, m = 0;
  *open = below(2);
  if (below(2)) {
    static const char *const ways[] = {"sep=;", "sep=\t", "sep=|", "quote='"};
    write[n++] = ways[below(4)];
    read[m++] = write[n - 1];
    if (*open) read[m++] = "decimal=."; /* texts alone may look like the other */
  } else if (below(8) == 0) {
    write[n++] = read[m++] = "sep=;";
    write[n++] = read[m++] = "decimal=,";
  }
  if (below(3) == 0) write[n++] = read[m++] = nulls[below(3)];
  *n_read = m;
  return n;
}

/* How many fields were compared. */
static int64_t test_table(uint64_t seed) {
  state = seed;
  Table t;
  FlHeap *heap = fl_heap_new(NULL);
  FlBytes text = {0};
  FlIoError e = {0};
  FlCsvOptions w, r;
  const char *write[4], *read[4];
  bool open;
  make_table(&t, heap);
  int32_t n_read, n_write = choose(write, read, &open, &n_read);
  bool ok = texts_options_fixed(write, n_write, &w, &e) &&
            (open ? texts_options(read, n_read, &r, &e) : texts_options_fixed(read, n_read, &r, &e)) &&
            fl_csv_encode(NULL, &w, t.columns, t.n, t.rows, "a table", &text, &e);
  FlTableWanted wanted[MOST_COLUMNS] = {0};
  for (int32_t c = 0; c < t.n; c++)
    wanted[c] = (FlTableWanted){.name = t.columns[c].name,
                                .name_len = t.columns[c].name_len,
                                .dtype = (FlDtype)t.columns[c].values->dtype,
                                .nullable = t.columns[c].valid != NULL};
  FlInput in;
  int64_t rows = -1;
  ok = ok && fl_input_of_bytes(NULL, text.at, text.len, "a table", &in, &e) &&
       fl_csv_read_bytes(NULL, &in, "a table", &r, wanted, t.n, &rows, &e);
  check(ok, "table %llu: E%04d %s\n%.*s", (unsigned long long)seed, e.code, e.message, (int)text.len,
        text.at);
  for (int32_t c = 0; c < t.n; c++) {
    bool same = ok && same_bytes(t.columns[c].values, wanted[c].values) &&
                same_bytes(t.columns[c].valid, wanted[c].valid);
    if (ok)
      check(same && rows == t.rows, "table %llu, column %d:\n%.*s", (unsigned long long)seed, c,
            (int)text.len, text.at);
    if (ok) fl_array_unref(wanted[c].values);
    if (ok) fl_array_unref(wanted[c].valid);
    fl_array_unref((FlArray *)(uintptr_t)t.columns[c].values);
    fl_array_unref((FlArray *)(uintptr_t)t.columns[c].valid);
  }
  fl_bytes_reset(&text);
  fl_heap_unref(heap);
  return t.rows * t.n;
}

int main(int argc, char **argv) {
  int64_t tables = argc > 1 ? atoll(argv[1]) : 3000, fields = 0;
  uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  for (int64_t k = 0; k < tables; k++) fields += test_table((seed << 40) + (uint64_t)k);
  printf("%lld tables, %lld fields\n", (long long)tables, (long long)fields);
  return finish();
}
