/* csv_kit.h: a CSV file as one text that tells everything it says, read with any size of chunks and in any
 * way of scanning, for the tests of reading CSV. */
#ifndef FLOW_TESTS_CSV_KIT_H
#define FLOW_TESTS_CSV_KIT_H

#include "data/data.h"
#include "data/number.h"
#include "csv_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that a file says in one text: types, rows, values; or the error. */
typedef struct Options {
  const char *at[6];
  int n;
} Options;

static inline void kit_add_values(FlBytes *b, const FlTableWanted *w, int64_t rows) {
  char text[FL_NUMBER_ROOM];
  for (int64_t k = 0; k < rows; k++) {
    fl_bytes_addz(b, k ? "|" : "");
    if (w->valid && !((uint8_t *)w->valid->data)[k]) {
      fl_bytes_addz(b, "null");
      continue;
    }
    switch (w->dtype) {
    case FL_TEXT:
      fl_bytes_add(b, ((FlText *)w->values->data)[k].ptr, (size_t)((FlText *)w->values->data)[k].len);
      break;
    case FL_F64: fl_bytes_add(b, text, (size_t)fl_print_f64(text, ((double *)w->values->data)[k])); break;
    case FL_I64: fl_bytes_add(b, text, (size_t)fl_print_i64(text, ((int64_t *)w->values->data)[k])); break;
    case FL_I8: fl_bytes_add(b, text, (size_t)fl_print_i64(text, ((int8_t *)w->values->data)[k])); break;
    case FL_DATE: fl_bytes_add(b, text, (size_t)fl_print_date(text, ((int32_t *)w->values->data)[k])); break;
    case FL_DATETIME:
      fl_bytes_add(b, text, (size_t)fl_print_datetime(text, ((int64_t *)w->values->data)[k]));
      break;
    case FL_BOOL: fl_bytes_addz(b, ((uint8_t *)w->values->data)[k] ? "true" : "false"); break;
    default: fl_bytes_addz(b, "?"); break;
    }
  }
}

static inline void kit_add_error(FlBytes *b, const FlIoError *e) {
  fl_bytes_addf(b, "E%04d line %lld row %lld %s %s: %s", e->code, (long long)e->line, (long long)e->row,
                e->column, e->value, e->message);
}

/* What the file says, or the error; free it. `given`: "name:type" columns; NULL: all as found. */
static inline char *kit_reads(const char *path, const Options *o, const FlCsvScan *scan, int64_t chunk,
                              const Options *given) {
  FlBytes b = {0};
  FlIoSchema s = {0};
  FlIoError e = {0};
  FlCsvOptions options;
  FlTableWanted wanted[16] = {0};
  int64_t rows = 0;
  int32_t n = given ? given->n : 0;
  bool ok = texts_options(o->at, o->n, &options, &e);
  if (ok && !given) {
    ok = texts_schema(path, o->at, o->n, &s, &e);
    n = s.n_columns;
  }
  for (int32_t k = 0; ok && k < n; k++) {
    const char *name = given ? given->at[k] : s.columns[k].name, *colon = given ? strchr(name, ':') : NULL;
    wanted[k] = (FlTableWanted){.name = name,
                                .name_len = (int32_t)(given ? (size_t)(colon - name) : strlen(name)),
                                .dtype = given ? FL_TEXT : s.columns[k].dtype,
                                .nullable = given ? strchr(name, '?') != NULL : s.columns[k].nullable};
    if (given) {
      size_t len = strlen(colon + 1) - wanted[k].nullable;
      fl_dtype_named(colon + 1, len, &wanted[k].dtype);
    }
  }
  ok = ok && fl_csv_read(NULL, path, &options, scan, chunk, wanted, n, &rows, NULL, &e);
  for (int32_t k = 0; ok && k < n; k++) {
    fl_bytes_addf(&b, "%s%.*s %s%s ", k ? "; " : "", wanted[k].name_len, wanted[k].name,
                  fl_dtype_info[wanted[k].dtype].name, wanted[k].nullable ? "?" : "");
    kit_add_values(&b, &wanted[k], rows);
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
  }
  if (!ok) kit_add_error(&b, &e);
  fl_io_schema_reset(&s);
  if (fl_bytes_room(&b, 1)) b.at[b.len] = 0;
  return b.at;
}

/* The length of the text that chunks are cut from: unpacked, in UTF-8. 0: the file has none. */
static inline int64_t kit_length(const char *path, const Options *o) {
  FlCsvOptions options;
  FlCsvFile f;
  FlIoError e = {0};
  if (!texts_options(o->at, o->n, &options, &e) || !fl_csv_open(NULL, path, &options, &f, &e)) return 0;
  int64_t len = f.len;
  fl_csv_close(&f);
  return len;
}

/* Whether the file says `want` in chunks of each size, from one byte to more than all of it, in all ways of
 * scanning; else *how says which and what is what it said (free it). */
static inline bool kit_always(const char *path, const Options *o, const Options *given, const char *want,
                              char how[64], char **what) {
  const FlCsvScan *scan;
  int64_t len = kit_length(path, o);
  for (int k = 0; (scan = fl_csv_scan_at(k)); k++) {
    for (int64_t chunk = 1; chunk <= len + 1; chunk++) {
      *what = kit_reads(path, o, scan, chunk, given);
      snprintf(how, 64, "%s, chunks of %lld", scan->name, (long long)chunk);
      if (strcmp(*what, want) != 0) return false;
      free(*what);
    }
  }
  *what = NULL;
  return true;
}

#endif
