/* csv_cells.c: fields taken column by column, in every way that this processor can, against the C library and
 * plain models: what a way takes it takes right, and what is as it mostly is it takes.
 *
 * usage: unit_csv_cells [ROUNDS=400] [SEED=1]. By hand with 100000 rounds: five minutes. */
#include "check.h"
#include "csv_texts.h"
#include "splitmix.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 40, MOST = 80, COLUMNS = 3 };

static uint64_t state;
static uint64_t next(void) { return splitmix(&state); }
static int below(int n) { return (int)(next() >> 33) % n; }

/* A field, what it is without quotes, and whether a way must take it. */
typedef struct Field {
  char at[MOST + 4], bare[MOST + 4];
  bool usual;
} Field;

/* Digits with a point or none, of at most 16 characters; two thirds of them then get some other character. */
static void make_number(Field *f, bool point) {
  int n = 1 + below(16), dot = point && below(4) ? below(n) : -1, len = 0;
  if (below(3) == 0) f->bare[len++] = '-';
  for (int k = 0; k < n; k++) {
    char c = (char)('0' + below(10));
    if (k == dot) c = '.';
    f->bare[len++] = c;
  }
  f->bare[len] = 0;
  f->usual = n > 1 || dot < 0;
}

static void make_date(Field *f) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int month = 1 + below(12), most = days[month - 1], day = 1 + (below(8) ? below(most) : most + below(3));
  snprintf(f->bare, sizeof f->bare, "%04d-%02d-%02d", below(2) ? 1 + below(9999) : 100 * below(90), month,
           day);
  f->usual = day <= most && strncmp(f->bare, "0000", 4) != 0;
}

static void make_text(Field *f) {
  int n = 1 + below(MOST - 4);
  for (int k = 0; k < n; k++) f->bare[k] = (char)('a' + below(26));
  f->bare[n] = 0;
  f->usual = true;
}

static void make_field(Field *f, FlCsvKind kind, bool quotes) {
  static const char others[] = " -+.eE/:0a\"'\xc3;";
  memset(f, 0, sizeof *f);
  if (kind == FL_CSV_DATE) make_date(f);
  else if (kind == FL_CSV_TEXT) make_text(f);
  else make_number(f, kind == FL_CSV_F64);
  size_t n = strlen(f->bare);
  if (below(3) == 0) {
    f->bare[below((int)n)] = others[below(sizeof others - 1)];
    f->usual = false;
  } else if (below(16) == 0) {
    f->bare[n / 2] = 0;
    f->usual = false;
  }
  bool quoted = quotes && below(2);
  snprintf(f->at, sizeof f->at, quoted ? "\"%s\"" : "%s", f->bare);
}

/* Days since 1970 by the C library; false: there is no such day. */
static bool day_of(const char *s, int32_t *out) {
  struct tm t = {0};
  int used = 0;
  if (strlen(s) != 10 || strspn(s, "0123456789-") != 10 || s[4] != '-' || s[7] != '-') return false;
  if (sscanf(s, "%4d-%2d-%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &used) != 3 || used != 10) return false;
  struct tm want = t;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  time_t at = timegm(&t);
  *out = (int32_t)(at / 86400);
  return t.tm_year + 1900 == want.tm_year && t.tm_mon + 1 == want.tm_mon && t.tm_mday == want.tm_mday;
}

/* What the way took is what the text says. */
static bool is_right(const Field *f, FlCsvKind kind, const void *values, int64_t row) {
  char *end;
  int32_t day;
  if (kind == FL_CSV_F64) {
    double want = strtod(f->bare, &end);
    return *f->bare && !*end && memcmp(&want, (const double *)values + row, sizeof want) == 0;
  }
  if (kind == FL_CSV_I64) {
    int64_t want = strtoll(f->bare, &end, 10);
    return *f->bare && !*end && want == ((const int64_t *)values)[row];
  }
  if (kind == FL_CSV_DATE) return day_of(f->bare, &day) && day == ((const int32_t *)values)[row];
  FlText t = ((const FlText *)values)[row];
  return !strpbrk(f->bare, "\"\xc3") && t.len == (int64_t)strlen(f->bare) &&
         memcmp(t.ptr, f->bare, (size_t)t.len) == 0;
}

static void test_column(const FlCsvScan *scan, FlCsvKind kind, int column, uint64_t seed) {
  static char text[ROWS * (MOST + 8) + 128];
  uint32_t ends[ROWS * COLUMNS + 1];
  Field fields[ROWS];
  FlText values[ROWS]; /* room for any */
  state = seed;
  bool quotes = below(2), returns = below(2);
  uint32_t at = 0, n = 0;
  ends[n++] = UINT32_MAX;
  for (int k = 0; k < ROWS; k++) {
    make_field(&fields[k], kind, quotes);
    for (int c = 0; c < COLUMNS; c++) {
      bool last = c == COLUMNS - 1;
      at +=
          (uint32_t)sprintf(text + at, "%s%s", c == column ? fields[k].at : "", last && returns ? "\r" : "");
      ends[n++] = at;
      text[at++] = last ? '\n' : ',';
    }
  }
  memset(text + at, 0, 64);
  bool rest = column == COLUMNS - 1;
  FlCsvCells cells = {text, ends + 1 + column, COLUMNS, ROWS, rest, quotes, true, '"'};
  for (int64_t k = 0; k < ROWS; k++) {
    int64_t from = k;
    k = scan->take[kind](&cells, values, from);
    for (int64_t i = from; i < k; i++)
      check(is_right(&fields[i], kind, values, i), "%s, kind %d, seed %llu: `%s`", scan->name, kind,
            (unsigned long long)seed, fields[i].at);
    if (k < ROWS)
      check(!fields[k].usual, "%s, kind %d, seed %llu: `%s` is left", scan->name, kind,
            (unsigned long long)seed, fields[k].at);
  }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 400;
  uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  const FlCsvScan *scan;
  for (int k = 0; (scan = fl_csv_scan_at(k)); k++)
    for (int round = 0; round < rounds; round++)
      for (FlCsvKind kind = FL_CSV_F64; kind < FL_CSV_OTHER; kind++)
        if (scan->take[kind])
          test_column(scan, kind, round % COLUMNS,
                      (seed << 40) + (uint64_t)(round * FL_CSV_KINDS + (int)kind));
  return finish();
}
