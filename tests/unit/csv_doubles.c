/* csv_doubles.c: doubles printed, written as a CSV file, and read back, against strtod of the C library.
 *
 * usage: unit_csv_doubles [COUNT=300000] [SEED=1]. By hand with a count of 100000000: about two minutes.
 * Of each number: its shortest text reads back to the same bits, by the reader of CSV, by fl_parse_f64 and by
 * strtod; and the same number written with too many digits, or with fewer, reads as strtod reads it. */
#include "check.h"
#include "data/data.h"
#include "data/number.h"
#include "csv_texts.h"
#include "splitmix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 16, ROOM = 64 };

static uint64_t mix(uint64_t x) { return splitmix(&x); }

/* Half of them any bits, the others as data are: few digits, of moderate size. */
static double number_of(uint64_t k) {
  uint64_t bits = mix(k);
  double x;
  if (bits & 1) {
    bits = mix(bits);
    memcpy(&x, &bits, sizeof x);
    return isnan(x) ? 0.5 : x;
  }
  static const double scales[] = {1, 10, 100, 1e3, 1e4, 1e6, 1e9, 1e12};
  int64_t whole = (int64_t)(bits >> 8) >> (bits >> 1 & 31);
  return (double)whole / scales[bits >> 6 & 7];
}

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* The same number with `digits` digits: what strtod says; a text beyond all doubles is none, not infinite. */
static bool other_digits(double x, int digits) {
  char text[80];
  double got;
  int n = snprintf(text, sizeof text, "%.*e", digits, x);
  double want = strtod(text, NULL);
  bool parsed = fl_parse_f64(text, n, &got);
  return isinf(want) ? !parsed : parsed && same(got, want);
}

static void test_batch(uint64_t first, int64_t n, char *text) {
  double want[BATCH];
  int64_t at = 0;
  memcpy(text, "x\n", 2);
  at = 2;
  bool parsed = true, standard = true, digits = true;
  for (int64_t k = 0; k < n; k++) {
    want[k] = number_of(first + (uint64_t)k);
    int64_t begin = at;
    at += fl_print_f64(text + at, want[k]);
    text[at] = '\n';
    double got;
    parsed = parsed && fl_parse_f64(text + begin, at - begin, &got) && same(got, want[k]);
    standard = standard && same(strtod(text + begin, NULL), want[k]);
    if (k % 16 == 0 && isfinite(want[k])) digits = digits && other_digits(want[k], (int)(k / 16 % 24));
    at++;
  }
  FlIoError e = {0};
  FlCsvOptions o;
  FlInput in;
  FlTableWanted w = {.name = "x", .name_len = 1, .dtype = FL_F64};
  int64_t rows = 0;
  bool read = texts_options_fixed(NULL, 0, &o, &e) &&
              fl_input_of_bytes(NULL, text, (size_t)at, "numbers", &in, &e) &&
              fl_csv_read_bytes(NULL, &in, "numbers", &o, &w, 1, &rows, &e);
  bool equal = read && rows == n && memcmp(w.values->data, want, (size_t)n * sizeof *want) == 0;
  if (read) fl_array_unref(w.values);
  check(parsed, "fl_parse_f64 of numbers from %llu", (unsigned long long)first);
  check(standard, "strtod of numbers from %llu", (unsigned long long)first);
  check(digits, "other numbers of digits from %llu", (unsigned long long)first);
  check(equal, "read as CSV, numbers from %llu: %s", (unsigned long long)first, e.message);
}

int main(int argc, char **argv) {
  int64_t count = argc > 1 ? atoll(argv[1]) : 300000;
  uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  char *text = malloc((size_t)BATCH * ROOM + 16);
  if (!text) abort();
  for (int64_t done = 0; done < count; done += BATCH)
    test_batch((seed << 40) + (uint64_t)done, count - done < BATCH ? count - done : BATCH, text);
  free(text);
  printf("%lld numbers\n", (long long)count);
  return finish();
}
