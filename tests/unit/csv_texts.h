/* csv_texts.h: options of CSV files as texts "name=value" ("?name=value": found while compiling), for tests
 * and fuzz targets. */
#ifndef FL_TEST_CSV_TEXTS_H
#define FL_TEST_CSV_TEXTS_H

#include "io/csv_internal.h"

enum { TEXTS_ROUNDS = 8, TEXTS_MOST = 16 };

/* Attributes that live until TEXTS_ROUNDS other calls were made. */
static inline bool texts_read(const char *const *texts, int n, FlOptions *out, FlIoError *e) {
  static FlOptionAttr at[TEXTS_ROUNDS][TEXTS_MOST];
  static char names[TEXTS_ROUNDS][TEXTS_MOST][FL_IO_OPTION_NAME];
  static int round;
  round = (round + 1) % TEXTS_ROUNDS;
  *out = (FlOptions){at[round], n};
  for (int k = 0; k < n; k++) {
    int got = fl_io_option_read("read_csv", texts[k], &at[round][k], names[round][k], e);
    if (got < 0) return false;
    if (!got) return fl_io_error(e, FL_E_OPTION, "no option %s", texts[k]);
  }
  return true;
}

static inline bool texts_options(const char *const *texts, int n, FlCsvOptions *o, FlIoError *e) {
  FlOptions all;
  return texts_read(texts, n, &all, e) && fl_csv_options(all, o, e);
}

static inline bool texts_options_fixed(const char *const *texts, int n, FlCsvOptions *o, FlIoError *e) {
  FlOptions all;
  return texts_read(texts, n, &all, e) && fl_csv_options_fixed(all, o, e);
}

static inline bool texts_schema(const char *path, const char *const *texts, int n, FlIoSchema *s,
                                FlIoError *e) {
  FlOptions all;
  return texts_read(texts, n, &all, e) && fl_csv_schema(path, all, s, e);
}

#endif
