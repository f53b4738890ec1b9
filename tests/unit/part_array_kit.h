/* part_array_kit.h: what the tests of array operators share besides part_kit.h: random arrays of any type,
 * equality of elements, calls that must succeed or fail in one way. */
#ifndef FL_TEST_PART_ARRAY_KIT_H
#define FL_TEST_PART_ARRAY_KIT_H

#include "exec/exec_internal.h"
#include "part_kit.h"

static inline FlArray *make_array(Kit *k, int32_t dtype, int32_t rank, const int64_t *dims) {
  FlArray *a = fl_array_zeros(k->ctx, dtype, rank, dims);
  int64_t n = fl_array_count(a), bytes = fl_array_bytes(a);
  for (int64_t i = 0; i < n; i++) {
    switch (dtype) {
    case FL_F64: ((double *)a->data)[i] = (double)((int64_t)draw(k) >> 20) * 0x1p-43; break;
    case FL_F32: ((float *)a->data)[i] = (float)((int64_t)draw(k) >> 45) * 0x1p-18f; break;
    case FL_TEXT: ((FlText *)a->data)[i] = make_text(k, draw(k) & 1); break;
    case FL_BOOL: ((uint8_t *)a->data)[i] = draw(k) & 1; break;
    default: break;
    }
  }
  if (dtype == FL_TEXT && fl_array_keep(k->ctx, a, k->heap, NULL, 0) != 0) abort();
  if (dtype != FL_F64 && dtype != FL_F32 && dtype != FL_TEXT && dtype != FL_BOOL) {
    for (int64_t i = 0; i < bytes; i++) ((uint8_t *)a->data)[i] = (uint8_t)draw(k);
  }
  return a;
}

/* Whether `count` elements from a[i] are those from b[j]. Lists share their elements. */
static inline bool same(const FlArray *a, int64_t i, const FlArray *b, int64_t j, int64_t count) {
  if (a->dtype != b->dtype) return false;
  if (a->dtype != FL_TEXT) {
    int64_t size = fl_dtype_info[a->dtype].bytes;
    return count == 0 ||
           memcmp((char *)a->data + i * size, (char *)b->data + j * size, (size_t)(count * size)) == 0;
  }
  for (int64_t c = 0; c < count; c++) {
    FlText x = ((FlText *)a->data)[i + c], y = ((FlText *)b->data)[j + c];
    if (x.len != y.len || (x.len > 0 && memcmp(x.ptr, y.ptr, (size_t)x.len) != 0)) return false;
  }
  return true;
}

/* Runs a call that must give `code` (0: succeed); true when results are owned. */
static inline bool runs(Kit *k, FlRuntimeOp *op, Call *c, FlSlot *r, int code, const char *what) {
  FlCtx own, *ctx = k->ctx; /* a context keeps its first error */
  fl_ctx_init(&own, fl_ctx_run(ctx), NULL);
  k->ctx = &own;
  FlStatus status = call(k, op, c, r);
  check(k, (status != 0) == (code != 0) && (code == 0 || fl_ctx_code(&own) == code), what);
  k->ctx = ctx;
  fl_ctx_reset(&own);
  return status == 0;
}

/* Row numbers in [least, n). */
static inline FlArray *rows_of(Kit *k, int64_t m, int64_t least, int64_t n) {
  FlArray *rows = fl_array_new(k->ctx, FL_I64, 1, &m);
  for (int64_t i = 0; i < m; i++)
    ((int64_t *)rows->data)[i] = least + (int64_t)(draw(k) % (uint64_t)(n - least));
  return rows;
}

static inline double element(const FlArray *a, int64_t i) {
  return a->dtype == FL_F64 ? ((double *)a->data)[i] : (double)((float *)a->data)[i];
}
static inline int64_t integer(const FlArray *a, int64_t i) {
  switch (a->dtype) {
  case FL_I64: return ((int64_t *)a->data)[i];
  case FL_I32: return ((int32_t *)a->data)[i];
  default: return ((uint8_t *)a->data)[i];
  }
}

#endif
