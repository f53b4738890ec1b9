/* csv_field.c: one field as a value, in full generality.
 *
 * In: the bytes of a field between separators, quotes included. Out: a stored value, a null, or what is
 * wrong. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "data/number.h"
#include "kern/kern.h"

#include <string.h>

bool fl_csv_unquote(const char *s, int64_t len, char quote, FlText *out, bool *doubled) {
  *doubled = false;
  if (len < 2 || s[len - 1] != quote) return false;
  const char *end = s + len - 1;
  *out = (FlText){s + 1, len - 2};
  for (const char *at = s + 1; at < end && (at = memchr(at, quote, (size_t)(end - at))); at += 2) {
    if (at + 1 >= end || at[1] != quote) return false;
    *doubled = true;
  }
  return true;
}

static bool store_signed(int32_t dtype, void *values, int64_t row, int64_t x) {
  switch (dtype) {
  case FL_I8:
    if (x < INT8_MIN || x > INT8_MAX) return false;
    ((int8_t *)values)[row] = (int8_t)x;
    return true;
  case FL_I16:
    if (x < INT16_MIN || x > INT16_MAX) return false;
    ((int16_t *)values)[row] = (int16_t)x;
    return true;
  case FL_I32:
    if (x < INT32_MIN || x > INT32_MAX) return false;
    ((int32_t *)values)[row] = (int32_t)x;
    return true;
  default: ((int64_t *)values)[row] = x; return true;
  }
}

static bool store_unsigned(int32_t dtype, void *values, int64_t row, uint64_t x) {
  switch (dtype) {
  case FL_U8:
    if (x > UINT8_MAX) return false;
    ((uint8_t *)values)[row] = (uint8_t)x;
    return true;
  case FL_U16:
    if (x > UINT16_MAX) return false;
    ((uint16_t *)values)[row] = (uint16_t)x;
    return true;
  case FL_U32:
    if (x > UINT32_MAX) return false;
    ((uint32_t *)values)[row] = (uint32_t)x;
    return true;
  default: ((uint64_t *)values)[row] = x; return true;
  }
}

/* A number with a point in place of the decimal sign, in `copy` where they differ; NULL: it is none. */
static const char *with_point(const FlCsvOptions *o, const char *s, int64_t len, char copy[64]) {
  if (o->decimal == '.') return s;
  if (len >= 64 || memchr(s, '.', (size_t)len)) return NULL;
  memcpy(copy, s, (size_t)len);
  char *comma = memchr(copy, o->decimal, (size_t)len);
  if (comma) *comma = '.';
  return copy;
}

static bool store_float(const FlCsvOptions *o, int32_t dtype, void *values, int64_t row, const char *s,
                        int64_t len) {
  char copy[64];
  if (!(s = with_point(o, s, len, copy))) return false;
  return dtype == FL_F64 ? fl_parse_f64(s, len, (double *)values + row)
                         : fl_parse_f32(s, len, (float *)values + row);
}

static bool store_decimal(const FlCsvOptions *o, int32_t dtype, int64_t *to, const char *s, int64_t len) {
  char copy[64];
  return (s = with_point(o, s, len, copy)) && fl_parse_decimal(s, len, fl_decimal_scale(dtype), to);
}

static bool store_time(const FlCsvOptions *o, int32_t dtype, void *values, int64_t row, const char *s,
                       int64_t len) {
  int64_t micros;
  if (dtype == FL_DURATION) return fl_parse_duration_iso(s, len, (int64_t *)values + row);
  if (!o->dates) {
    int32_t day;
    if (dtype == FL_DATE) return fl_parse_date(s, len, (int32_t *)values + row);
    if (!fl_parse_date(s, len, &day)) return fl_parse_datetime(s, len, (int64_t *)values + row);
    ((int64_t *)values)[row] = day * INT64_C(86400000000); /* a day alone is its midnight */
    return true;
  }
  if (!fl_parse_datetime_by(s, len, o->dates, (int64_t)strlen(o->dates), &micros)) return false;
  if (dtype == FL_DATETIME) {
    ((int64_t *)values)[row] = micros;
    return true;
  }
  if (micros % INT64_C(86400000000) != 0) return false;
  ((int32_t *)values)[row] = (int32_t)(micros / INT64_C(86400000000));
  return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool fl_csv_store(const FlCsvOptions *o, int32_t dtype, void *values, int64_t row, const char *s,
                  int64_t len) {
  int64_t i;
  uint64_t u;
  bool b;
  while (len && is_blank(*s)) s++, len--;
  while (len && is_blank(s[len - 1])) len--;
  switch (fl_dtype_info[dtype].kind) {
  case FL_KIND_FLOAT: return store_float(o, dtype, values, row, s, len);
  case FL_KIND_SIGNED: return fl_parse_i64(s, len, &i) && store_signed(dtype, values, row, i);
  case FL_KIND_UNSIGNED: return fl_parse_u64(s, len, &u) && store_unsigned(dtype, values, row, u);
  case FL_KIND_BOOL:
    if (!fl_parse_bool(s, len, &b)) return false;
    ((uint8_t *)values)[row] = b;
    return true;
  case FL_KIND_DECIMAL: return store_decimal(o, dtype, (int64_t *)values + row, s, len);
  case FL_KIND_TIME: return store_time(o, dtype, values, row, s, len);
  case FL_KIND_TEXT:
  case FL_KIND_REF: break;
  }
  return false;
}

static FlCsvOutcome set_null(const FlCsvStep *step, int64_t row, FlCsvOutcome otherwise) {
  if (!step->nullable) return otherwise;
  int32_t size = fl_dtype_info[step->dtype].bytes;
  memset((char *)step->values + row * size, 0, (size_t)size);
  step->valid[row] = 0;
  return FL_CSV_OK;
}

/* The contents with single quotes for doubled ones. */
static FlText undouble(FlHeap *heap, FlText t, char quote) {
  char *to = fl_heap_alloc(heap, t.len);
  int64_t n = 0;
  if (!to) return (FlText){NULL, 0}; /* the run is stopped */
  for (int64_t k = 0; k < t.len; k++) {
    to[n++] = t.ptr[k];
    k += t.ptr[k] == quote;
  }
  return (FlText){to, n};
}

FlCsvOutcome fl_csv_field(const FlCsvPlan *plan, const FlCsvStep *step, const char *s, int64_t len,
                          int64_t row) {
  const FlCsvOptions *o = plan->options;
  FlText t = {s, len};
  bool quoted = o->quoting && len && *s == o->quote, doubled = false;
  if (quoted) {
    if (!fl_csv_unquote(s, len, o->quote, &t, &doubled)) return FL_CSV_BAD_QUOTE;
  } else if (o->quoting && len && memchr(s, o->quote, (size_t)len)) {
    return FL_CSV_BAD_QUOTE;
  }
  if (step->kind == FL_CSV_SKIP) return FL_CSV_OK;
  bool is_text = step->dtype == FL_TEXT;
  bool null = quoted ? t.len == 0 && !is_text : fl_csv_is_null(o, t.ptr, t.len, is_text);
  if (null) return set_null(step, row, FL_CSV_BAD_NULL);
  if (is_text) {
    if (fl_utf8_check(t.ptr, t.len) != t.len) return FL_CSV_BAD_UTF8;
    if (doubled) t = undouble(plan->heap, t, o->quote);
    ((FlText *)step->values)[row] = t.len ? t : (FlText){NULL, 0};
  } else if (!fl_csv_store(o, step->dtype, step->values, row, t.ptr, t.len)) {
    return o->bad_is_null ? set_null(step, row, FL_CSV_BAD_VALUE) : FL_CSV_BAD_VALUE;
  }
  if (step->valid) step->valid[row] = 1;
  return FL_CSV_OK;
}
