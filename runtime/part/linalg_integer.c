/* linalg_integer.c: products of integer vectors and matrices, exact and checked once an element.
 *
 * Both factors are widened to 64 bits, the second with its columns dense; products are added in 128 bits.
 * OVERFLOW when the first element, row by row, does not fit the type. */
#include "part/linalg_internal.h"

typedef struct Integers {
  const FlProduct *p;
  const int64_t *a, *b; /* [m, k] and [n, k] */
  _Atomic int64_t bad;
} Integers;

/* A factor as dense [rows, k] 64-bit integers. NULL: error recorded. */
static const int64_t *widen(FlPartMem *m, const void *from, int32_t dtype, int64_t rows, int64_t k,
                            int64_t row, int64_t step) {
  FlPartCol col = {.dtype = dtype, .n = rows * k, .data = from};
  int64_t *wide = fl_part_alloc(m, col.n, sizeof *wide), *out = fl_part_alloc(m, rows * k, sizeof *out);
  if (wide == NULL || out == NULL) return NULL;
  fl_part_read_i64(&col, 0, col.n, wide);
  if (step == 1) return wide;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < k; j++) out[i * k + j] = wide[i * row + j * step];
  }
  return out;
}

static bool store(const FlProduct *p, int64_t c, __int128 v) {
#define STORE(T)                                                                                             \
  {                                                                                                          \
    ((T *)p->out)[c] = (T)v;                                                                                 \
    return (__int128)((T *)p->out)[c] == v;                                                                  \
  }
  switch ((FlDtype)p->dtype) {
  case FL_I8: STORE(int8_t)
  case FL_I16: STORE(int16_t)
  case FL_I32: STORE(int32_t)
  case FL_U8: STORE(uint8_t)
  case FL_U16: STORE(uint16_t)
  case FL_U32: STORE(uint32_t)
  case FL_U64: STORE(uint64_t)
  case FL_I64:
  case FL_DURATION:
  case FL_DATETIME: STORE(int64_t)
  case FL_BOOL:
  case FL_ANY_DECIMAL:
  case FL_DATE:
  case FL_F32:
  case FL_F64:
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
#undef STORE
  return false;
}

static int32_t rows_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Integers *t = (Integers *)(uintptr_t)env;
  const FlProduct *p = t->p;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    const int64_t *a = t->a + c / p->n * p->k, *b = t->b + c % p->n * p->k;
    __int128 sum = 0;
    int64_t wraps = 0; /* the sum in full is sum + wraps * 2^128 */
    for (int64_t k = 0; k < p->k; k++) {
      if (p->dtype == FL_U64) { /* up to 2^128: taken as signed, anything that large is out of range anyway */
        unsigned __int128 product = (unsigned __int128)(uint64_t)a[k] * (uint64_t)b[k];
        wraps += product >> 127 != 0 || __builtin_add_overflow(sum, (__int128)product, &sum);
      } else {
        __int128 product = (__int128)a[k] * b[k];
        if (__builtin_add_overflow(sum, product, &sum)) wraps += product < 0 ? -1 : 1;
      }
    }
    if (wraps != 0 || !store(p, c, sum)) fl_part_first(&t->bad, c);
  }
  return 0;
}

FlStatus fl_linalg_integer(FlPartMem *mem, const FlOpDesc *desc, const FlProduct *p) {
  Integers t = {p, widen(mem, p->first, p->dtype, p->m, p->k, p->a_row, p->a_step),
                widen(mem, p->second, p->dtype, p->n, p->k, p->b_step, p->b_row), INT64_MAX};
  if (t.a == NULL || t.b == NULL) return 1;
  if (fl_part_for(mem->ctx, rows_body, &t, p->m * p->n, 2.0 + (double)p->k) != 0) return 1;
  int64_t bad = atomic_load(&t.bad);
  if (bad == INT64_MAX) return 0;
  return fl_fail_op(mem->ctx, desc, FL_FAULT_OVERFLOW,
                    "integer overflow: element [%lld, %lld] of the product does not fit %s",
                    (long long)(bad / p->n), (long long)(bad % p->n), fl_dtype_info[p->dtype].name);
}
