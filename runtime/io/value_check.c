/* value_check.c: see value_check.h. Everything that the compiled code relies on is looked at once, here. */
#include "io/value_check.h"
#include "io/io.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

/* The one NaN of either type. */
static const uint64_t NAN64 = UINT64_C(0x7ff8000000000000);
static const uint32_t NAN32 = UINT32_C(0x7fc00000);

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint32_t bits_of_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static bool check_array(FlArray *a) {
  if (!a) return true;                                            /* a part that is not there */
  atomic_store_explicit(&a->has_digest, 0, memory_order_relaxed); /* nobody else has the array yet */
  int64_t n = fl_array_count(a);
  bool ok = true;
  if (a->dtype == FL_BOOL) {
    const uint8_t *x = a->data;
    for (int64_t k = 0; k < n; k++) ok &= x[k] <= 1;
  } else if (a->dtype == FL_TEXT) {
    const FlText *x = a->data;
    for (int64_t k = 0; k < n && ok; k++) ok = fl_utf8_check(x[k].ptr, x[k].len) == x[k].len;
  } else if (a->dtype == FL_F64) {
    const double *x = a->data;
    for (int64_t k = 0; k < n; k++) ok &= x[k] == x[k] || bits_of(x[k]) == NAN64;
  } else if (a->dtype == FL_F32) {
    const float *x = a->data;
    for (int64_t k = 0; k < n; k++) ok &= x[k] == x[k] || bits_of_f32(x[k]) == NAN32;
  }
  return ok;
}

static bool zero_under_null(const FlArray *a, const FlArray *valid) {
  if (!a || !valid) return true;
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

/* Codes of values that are not null are positions among the levels; under a null stands 0. */
static bool check_codes(const FlArray *codes, bool nullable, const FlArray *valid, FlArray *levels) {
  if (!codes || !levels) return check_array(levels);
  const int32_t *code = codes->data;
  const uint8_t *ok = valid ? valid->data : NULL;
  int64_t n = fl_array_count(codes), k = levels->dims[0];
  bool fine = check_array(levels);
  for (int64_t i = 0; i < n && fine; i++)
    fine = (ok && !ok[i]) || (nullable && !ok && code[i] == 0) || (code[i] >= 0 && code[i] < k);
  return fine;
}

static bool check_scalar(const FlValueType *t, const FlSlot *parts) {
  bool fine = t->dtype == FL_BOOL   ? parts[0].u <= 1
              : t->dtype == FL_TEXT ? fl_utf8_check(parts[0].t.ptr, parts[0].t.len) == parts[0].t.len
              : t->dtype == FL_F64  ? parts[0].f == parts[0].f || parts[0].u == NAN64
              : t->dtype == FL_F32  ? parts[0].f32 == parts[0].f32 || bits_of_f32(parts[0].f32) == NAN32
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
  case FL_KIND_DECIMAL:
  case FL_KIND_TEXT:
  case FL_KIND_REF: break;
  }
  return true;
}

static bool check(const FlValueType *t, const FlSlot *parts, const bool *there);

static bool check_list(const FlValueType *t, const FlSlot *parts, const bool *there) {
  int32_t n = t->n_parts;
  int64_t len = -1;
  for (int32_t p = 0; p < n; p++) {
    if (!there[p]) continue;
    if (len < 0) len = parts[p].a->dims[0];
    if (parts[p].a->dims[0] != len) return false;
    atomic_store_explicit(&parts[p].a->has_digest, 0, memory_order_relaxed);
  }
  FlSlot *element = calloc((size_t)n + 1, sizeof *element);
  bool ok = element != NULL;
  for (int64_t k = 0; ok && k < len; k++) {
    for (int32_t p = 0; p < n; p++)
      if (there[p]) element[p] = fl_array_slot(parts[p].a, k);
    ok = check(t->fields, element, there);
  }
  free(element);
  return ok;
}

/* Columns that are there are as long as the table has rows, or as each other. */
static bool check_table(const FlValueType *t, const FlSlot *parts, const bool *there) {
  int64_t rows = there[0] ? parts[0].i : -1, at = 1;
  if (there[0] && rows < 0) return false;
  for (int32_t k = 0; k < t->fields->n_fields; k++) {
    FlValueType column = t->fields->fields[k];
    column.kind = FL_VALUE_ARRAY;
    column.rank++;
    if (!check(&column, parts + at, there + at)) return false;
    for (int32_t p = 0; p < 1 + column.nullable; p++) {
      if (!there[at + p]) continue;
      if (rows < 0) rows = parts[at + p].a->dims[0];
      if (parts[at + p].a->dims[0] != rows) return false;
    }
    at += column.n_parts;
  }
  return true;
}

/* Parts that are not there are zero, and validity of such a scalar 1. */
static bool check(const FlValueType *t, const FlSlot *parts, const bool *there) {
  switch (t->kind) {
  case FL_VALUE_SCALAR: {
    if (!fits_slot(t->dtype, parts[0]) || !check_scalar(t, parts)) return false;
    if (t->dtype != FL_CATEGORY) return true;
    FlArray *levels = parts[t->n_parts - 1].a;
    bool valid = !t->nullable || parts[1].u;
    if (!levels || !there[0] || (t->nullable && !there[1])) return check_array(levels);
    return check_array(levels) && (!valid || (parts[0].i >= 0 && parts[0].i < levels->dims[0]));
  }
  case FL_VALUE_ARRAY: {
    FlArray *valid = t->nullable ? parts[1].a : NULL;
    if (!check_array(parts[0].a) || !check_array(valid) || !zero_under_null(parts[0].a, valid)) return false;
    return t->dtype != FL_CATEGORY || check_codes(parts[0].a, t->nullable, valid, parts[t->n_parts - 1].a);
  }
  case FL_VALUE_TUPLE:
    for (int32_t k = 0; k < t->n_fields; k++) {
      if (!check(&t->fields[k], parts, there)) return false;
      parts += t->fields[k].n_parts;
      there += t->fields[k].n_parts;
    }
    return true;
  case FL_VALUE_TABLE: return check_table(t, parts, there);
  case FL_VALUE_LIST: return check_list(t, parts, there);
  }
  return false;
}

bool fl_value_check(const FlValueType *t, const FlSlot *parts) {
  bool *there = malloc((size_t)t->n_parts + 1);
  if (!there) return false;
  memset(there, 1, (size_t)t->n_parts + 1);
  bool ok = check(t, parts, there);
  free(there);
  return ok;
}

/* Parts that stand behind a value: names of columns. */
static bool check_part(FlType1 type, FlSlot part) {
  FlValueType t = {.kind = type.rank ? FL_VALUE_ARRAY : FL_VALUE_SCALAR,
                   .dtype = (FlDtype)type.dtype,
                   .rank = type.rank,
                   .n_parts = 1};
  return type.depth == 0 && type.dtype != FL_FILE && fl_value_check(&t, &part);
}

/* Room for one value of the type, whose parts `kept` says the given ones are; how many of these, -1: they are
 * not. */
static int32_t place_parts(const FlValueType *t, const char *kept, const FlType1 *types, int32_t n,
                           const FlSlot *given, FlType1 *wanted, FlSlot *parts, bool *there) {
  int32_t used = 0;
  fl_value_type_parts(t, wanted);
  for (int32_t k = 0; k < t->n_parts; k++) {
    there[k] = !*kept || kept[k] == '1';
    if (!there[k]) {
      bool array = wanted[k].rank || wanted[k].depth;
      parts[k] = (FlSlot){.t = {NULL, 0}};
      if (!array && wanted[k].dtype == FL_BOOL) parts[k].u = 1;
      continue;
    }
    if (used == n || memcmp(&wanted[k], &types[used], sizeof *wanted) != 0) return -1;
    parts[k] = given[used++];
  }
  return used;
}

bool fl_value_check_parts(const char *text, const FlType1 *types, int32_t n, const FlSlot *given) {
  size_t len = text ? strcspn(text, "\n") : 0;
  const char *kept = len && text[len] ? text + len + 1 : "";
  FlValueType *t = text ? fl_value_type_new(text, len) : NULL;
  size_t room = t ? (size_t)t->n_parts + 1 : 0;
  FlType1 *wanted = calloc(room, sizeof *wanted);
  FlSlot *parts = calloc(room, sizeof *parts);
  bool *there = calloc(room, sizeof *there);
  bool ok = t && wanted && parts && there && (!*kept || strlen(kept) >= (size_t)t->n_parts);
  int32_t used = ok ? place_parts(t, kept, types, n, given, wanted, parts, there) : -1;
  ok = used >= 0 && check(t, parts, there);
  for (int32_t k = used; k < n && ok; k++) ok = check_part(types[k], given[k]);
  free(there);
  free(parts);
  free(wanted);
  fl_value_type_free(t);
  return ok;
}
