/* value_check.c: see value_check.h. Everything that the compiled code relies on is looked at once, here. */
#include "io/value_check.h"
#include "io/io.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

static bool check_array(FlArray *a) {
  atomic_store_explicit(&a->has_digest, 0, memory_order_relaxed); /* nobody else has the array yet */
  int64_t n = fl_array_count(a);
  bool ok = true;
  if (a->dtype == FL_BOOL) {
    const uint8_t *x = a->data;
    for (int64_t k = 0; k < n; k++) ok &= x[k] <= 1;
  } else if (a->dtype == FL_TEXT) {
    const FlText *x = a->data;
    for (int64_t k = 0; k < n && ok; k++) ok = fl_utf8_check(x[k].ptr, x[k].len) == x[k].len;
  }
  return ok;
}

static bool zero_under_null(const FlArray *a, const FlArray *valid) {
  for (int32_t k = 0; k < a->rank; k++)
    if (a->dims[k] != valid->dims[k]) return false;
  static const char zeros[16];
  int64_t n = fl_array_count(a);
  size_t size = a->dtype == FL_TEXT ? 0 : (size_t)fl_dtype_info[a->dtype].bytes;
  const uint8_t *ok = valid->data;
  const FlText *texts = a->data;
  for (int64_t k = 0; k < n; k++) {
    if (ok[k]) continue;
    if (size ? memcmp((const char *)a->data + (size_t)k * size, zeros, size) != 0 : texts[k].len != 0)
      return false;
  }
  return true;
}

/* Codes of values that are not null are positions among the levels. */
static bool check_codes(const FlArray *codes, const FlArray *valid, FlArray *levels) {
  const int32_t *code = codes->data;
  const uint8_t *ok = valid ? valid->data : NULL;
  int64_t n = fl_array_count(codes), k = levels->dims[0];
  bool fine = check_array(levels);
  for (int64_t i = 0; i < n && fine; i++) fine = (ok && !ok[i]) || (code[i] >= 0 && code[i] < k);
  return fine;
}

static bool check_scalar(const FlValueType *t, const FlSlot *parts) {
  bool fine = t->dtype == FL_BOOL   ? parts[0].u <= 1
              : t->dtype == FL_TEXT ? fl_utf8_check(parts[0].t.ptr, parts[0].t.len) == parts[0].t.len
                                    : true;
  if (!t->nullable || !fine) return fine;
  if (parts[1].u > 1) return false;
  return parts[1].u || (t->dtype == FL_TEXT ? parts[0].t.len == 0 : parts[0].u == 0);
}

/* Integers narrower than 64 bits stand extended in their slots. */
static bool fits_slot(FlDtype d, FlSlot v) {
  if (d == FL_CATEGORY) d = FL_I32;
  int shift = 64 - 8 * fl_dtype_info[d].bytes;
  switch (fl_dtype_info[d].kind) {
  case FL_KIND_SIGNED:
  case FL_KIND_TIME: return (int64_t)(v.u << shift) >> shift == v.i;
  case FL_KIND_UNSIGNED: return v.u << shift >> shift == v.u;
  case FL_KIND_BOOL:
  case FL_KIND_FLOAT:
  case FL_KIND_TEXT:
  case FL_KIND_REF: break;
  }
  return true;
}

static bool check_list(const FlValueType *t, const FlSlot *parts) {
  int32_t n = t->n_parts;
  if (n == 0) return true;
  int64_t len = parts[0].a->dims[0];
  for (int32_t p = 0; p < n; p++) {
    if (parts[p].a->dims[0] != len) return false;
    atomic_store_explicit(&parts[p].a->has_digest, 0, memory_order_relaxed);
  }
  FlSlot *element = malloc((size_t)n * sizeof *element);
  bool ok = element != NULL;
  for (int64_t k = 0; ok && k < len; k++) {
    for (int32_t p = 0; p < n; p++) element[p] = fl_array_slot(parts[p].a, k);
    ok = fl_value_check(t->fields, element);
  }
  free(element);
  return ok;
}

bool fl_value_check(const FlValueType *t, const FlSlot *parts) {
  switch (t->kind) {
  case FL_VALUE_SCALAR: {
    if (!fits_slot(t->dtype, parts[0]) || !check_scalar(t, parts)) return false;
    if (t->dtype != FL_CATEGORY) return true;
    FlArray *levels = parts[t->n_parts - 1].a;
    bool valid = !t->nullable || parts[1].u;
    return check_array(levels) && (!valid || (parts[0].i >= 0 && parts[0].i < levels->dims[0]));
  }
  case FL_VALUE_ARRAY: {
    if (!check_array(parts[0].a)) return false;
    if (t->nullable && !(check_array(parts[1].a) && zero_under_null(parts[0].a, parts[1].a))) return false;
    FlArray *valid = t->nullable ? parts[1].a : NULL;
    return t->dtype != FL_CATEGORY || check_codes(parts[0].a, valid, parts[t->n_parts - 1].a);
  }
  case FL_VALUE_TUPLE:
    for (int32_t k = 0; k < t->n_fields; parts += t->fields[k++].n_parts)
      if (!fl_value_check(&t->fields[k], parts)) return false;
    return true;
  case FL_VALUE_TABLE: {
    const FlSlot *at = parts + 1;
    for (int32_t k = 0; k < t->fields->n_fields; k++) {
      FlValueType column = t->fields->fields[k];
      column.kind = FL_VALUE_ARRAY;
      column.rank++;
      if (!fl_value_check(&column, at) || at[0].a->dims[0] != parts[0].i) return false;
      at += column.n_parts;
    }
    return parts[0].i >= 0;
  }
  case FL_VALUE_LIST: return check_list(t, parts);
  }
  return false;
}
