/* parquet_values.c: plain values of a Parquet column as values of ours.
 *
 * What always holds: a value that does not fit what is wanted, or that DuckDB would not take, makes all of
 * them no values: who reads then asks DuckDB, whose values and messages count. */
#include "io/parquet.h"
#include "data/data.h"
#include "flow/dtypes.h"
#include "kern/kern.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* values at a time */

/* ---- whole numbers ------------------------------------------------------------------------------------ */

int64_t fl_parquet_width(const FlParquetColumn *c) {
  switch (c->physical) {
  case FL_PARQUET_INT32:
  case FL_PARQUET_FLOAT: return 4;
  case FL_PARQUET_INT64:
  case FL_PARQUET_DOUBLE: return 8;
  case FL_PARQUET_FIXED: return c->bytes;
  case FL_PARQUET_BOOLEAN:
  case FL_PARQUET_INT96:
  case FL_PARQUET_BYTES: break;
  }
  return 0;
}

/* Of decimals in bytes, the highest first. */
static int64_t load_fixed(const uint8_t *at, int32_t n) {
  int64_t v = (int8_t)at[0];
  for (int32_t k = 1; k < n; k++) v = (int64_t)((uint64_t)v << 8 | at[k]);
  return v;
}

/* Numbers without a sign are those of their lowest bits, but for 64 of them. */
static void load_whole(const FlParquetColumn *c, const uint8_t *at, int64_t n, int64_t *to) {
  if (c->physical == FL_PARQUET_FIXED) {
    for (int64_t k = 0; k < n; k++) to[k] = load_fixed(at + k * c->bytes, c->bytes);
  } else if (c->physical == FL_PARQUET_INT64) {
    memcpy(to, at, (size_t)n * 8);
  } else {
    for (int64_t k = 0; k < n; k++) {
      int32_t v;
      memcpy(&v, at + 4 * k, sizeof v);
      to[k] = c->kind == FL_PARQUET_WHOLE && !c->sign ? (int64_t)(uint32_t)v : v;
    }
  }
}

/* What a number of the file is as one of ours: times in microseconds. DuckDB's infinite dates and times are
 * none. */
static bool scale(const FlParquetColumn *c, int64_t n, int64_t *v) {
  bool ok = true;
  switch (c->kind) {
  case FL_PARQUET_DATE:
    for (int64_t k = 0; k < n; k++) ok &= v[k] != INT32_MAX && v[k] != -INT32_MAX;
    break;
  case FL_PARQUET_MILLIS:
    for (int64_t k = 0; k < n; k++) ok = !__builtin_mul_overflow(v[k], 1000, &v[k]) && ok;
    break;
  case FL_PARQUET_MICROS:
    for (int64_t k = 0; k < n; k++) ok &= v[k] != INT64_MAX && v[k] != -INT64_MAX;
    break;
  case FL_PARQUET_NANOS:
    for (int64_t k = 0; k < n; k++) {
      ok = ok && v[k] % 1000 == 0;
      v[k] /= 1000;
    }
    break;
  case FL_PARQUET_DECIMAL:
    for (int64_t k = 0; k < n; k++) ok &= fl_decimal_fits(v[k]);
    break;
  case FL_PARQUET_WHOLE:
    for (int64_t k = 0; k < n && c->bits < 32; k++) {
      int64_t low = c->sign ? -((int64_t)1 << (c->bits - 1)) : 0,
              most = ((int64_t)1 << (c->bits - c->sign)) - 1;
      ok = ok && v[k] >= low && v[k] <= most;
    }
    break;
  case FL_PARQUET_OTHER:
  case FL_PARQUET_BOOL:
  case FL_PARQUET_REAL:
  case FL_PARQUET_TEXT: break;
  }
  return ok;
}

/* Whole numbers as floats, decimals as the nearest. */
static void to_reals(const FlParquetColumn *c, const int64_t *v, int64_t n, double *to) {
  const bool large = c->kind == FL_PARQUET_WHOLE && !c->sign && c->bits == 64;
  const int32_t digits = c->kind == FL_PARQUET_DECIMAL ? c->scale : 0;
  for (int64_t k = 0; k < n; k++)
    to[k] = large ? (double)(uint64_t)v[k] : digits ? fl_s_decimal_real(v[k], digits) : (double)v[k];
}

/* Numbers to elements of `bytes` bytes; false: one does not fit. */
static bool store(const FlParquetColumn *c, FlDtype dtype, const int64_t *v, int64_t n, char *to) {
  const bool large =
      c->kind == FL_PARQUET_WHOLE && !c->sign && c->bits == 64; /* below zero: above all others */
  const bool positive = fl_dtype_info[dtype].kind == FL_KIND_UNSIGNED;
  const int64_t bytes = fl_dtype_info[dtype].bytes;
  bool ok = true;
  if (dtype == FL_F64) {
    to_reals(c, v, n, (double *)(void *)to);
    return true;
  }
  if (bytes == 8) {
    for (int64_t k = 0; k < n && large != positive; k++) ok = ok && v[k] >= 0;
    memcpy(to, v, (size_t)n * 8);
    return ok;
  }
  const int64_t most = ((int64_t)1 << (8 * bytes - !positive)) - 1, least = positive ? 0 : -most - 1;
  for (int64_t k = 0; k < n; k++) {
    ok = ok && v[k] >= least && v[k] <= most;
    memcpy(to + k * bytes, &v[k], (size_t)bytes);
  }
  return ok;
}

/* All 64 bits of the file are an element. */
static bool is_same(const FlParquetColumn *c, FlDtype dtype) {
  return c->kind == FL_PARQUET_WHOLE && c->physical == FL_PARQUET_INT64 &&
         dtype == (c->sign ? FL_I64 : FL_U64);
}

static bool take_whole(const FlParquetColumn *c, FlDtype dtype, const uint8_t *at, int64_t n, char *to) {
  int64_t v[BLOCK], width = fl_parquet_width(c), bytes = fl_dtype_info[dtype].bytes;
  if (is_same(c, dtype)) {
    if ((const void *)to != at && n > 0) memcpy(to, at, (size_t)n * 8);
    return true;
  }
  for (int64_t k = 0, some; k < n; k += some) {
    some = n - k < BLOCK ? n - k : BLOCK;
    load_whole(c, at + k * width, some, v);
    if (!scale(c, some, v) || !store(c, dtype, v, some, to + k * bytes)) return false;
  }
  return true;
}

/* ---- others ------------------------------------------------------------------------------------------- */

static void take_bools(const uint8_t *at, int64_t n, uint8_t *to) {
  for (int64_t k = 0; k < n; k++) to[k] = at[k / 8] >> k % 8 & 1;
}

static void take_floats(FlDtype dtype, const uint8_t *at, int64_t n, char *to) {
  for (int64_t k = 0; k < n; k++) {
    float v;
    memcpy(&v, at + 4 * k, sizeof v);
    if (v != v) v = NAN; /* the one NaN */
    double wide = (double)v;
    if (dtype == FL_F32) memcpy(to + 4 * k, &v, sizeof v);
    else memcpy(to + 8 * k, &wide, sizeof wide);
  }
}

static bool has_nan(const double *x) {
  int64_t nan = 0;
  for (int64_t k = 0; k < BLOCK; k++) nan |= x[k] != x[k] ? -1 : 0;
  return nan != 0;
}

static void take_doubles(const uint8_t *at, int64_t n, double *to) {
  for (int64_t k = 0, some; k < n; k += some) {
    some = n - k < BLOCK ? n - k : BLOCK;
    if ((const void *)to != at) memcpy(to + k, at + 8 * k, (size_t)some * 8);
    if (some == BLOCK && !has_nan(to + k)) continue;
    for (int64_t i = k; i < k + some; i++)
      if (to[i] != to[i]) to[i] = (double)NAN;
  }
}

/* Each is its size, then its bytes. */
static bool take_texts(const uint8_t *at, int64_t bytes, int64_t n, FlText *to) {
  const uint8_t *end = at + bytes;
  for (int64_t k = 0; k < n; k++) {
    uint32_t len;
    if (end - at < 4) return false;
    memcpy(&len, at, sizeof len);
    at += 4;
    if ((int64_t)len > end - at) return false;
    const char *text = (const char *)at;
    if (!fl_utf8_is_ascii(text, len) && fl_utf8_check(text, len) != (int64_t)len) return false;
    to[k] = len ? (FlText){text, len} : (FlText){NULL, 0};
    at += len;
  }
  return true;
}

bool fl_parquet_values(const FlParquetColumn *c, FlDtype dtype, const uint8_t *at, int64_t bytes, int64_t n,
                       char *to) {
  int64_t width = fl_parquet_width(c);
  if (width && bytes / width < n) return false;
  switch (c->kind) {
  case FL_PARQUET_OTHER: return false;
  case FL_PARQUET_BOOL:
    if (c->physical != FL_PARQUET_BOOLEAN || bytes < (n + 7) / 8) return false;
    take_bools(at, n, (uint8_t *)to);
    return true;
  case FL_PARQUET_REAL:
    if (c->physical == FL_PARQUET_FLOAT) take_floats(dtype, at, n, to);
    else take_doubles(at, n, (double *)(void *)to);
    return true;
  case FL_PARQUET_TEXT: return take_texts(at, bytes, n, (FlText *)(void *)to);
  case FL_PARQUET_WHOLE:
  case FL_PARQUET_DATE:
  case FL_PARQUET_MILLIS:
  case FL_PARQUET_MICROS:
  case FL_PARQUET_NANOS:
  case FL_PARQUET_DECIMAL: break;
  }
  return width > 0 && take_whole(c, dtype, at, n, to);
}
