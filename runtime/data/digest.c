/* digest.c: XXH3-128 content digests of arrays and scalars.
 *
 * In: values. Out: digests that are equal for equal values, whatever buffer, view or machine holds them.
 * The encoding, little-endian, without ambiguity:
 *   value  = dtype name, NUL, rank u8, dims i64 each, contents
 *   contents = the digests of the blocks of 4096 rows, in order; one block alone: its bytes
 *   block  = numbers: their bytes, each NaN as the one quiet NaN; texts: length i64, bytes; lists: digests
 * What always holds: blocks depend on the row's index only, so whoever has whole blocks may digest them, in
 * any order, and rows that are appended change no block but the last. */
#include "data/data_internal.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <xxhash.h>

enum { FL_DIGEST_ROWS = 4096, FL_GATHER = 32 * 1024 };

static FlDigest finish(XXH3_state_t *s) {
  XXH128_hash_t h = XXH3_128bits_digest(s);
  return (FlDigest){h.low64, h.high64};
}

enum { FL_STRIP = 64, FL_FLOATS = 4096 };

/* any_nan_T: whether any of x[0..n) is a NaN. add_T: their bytes, each NaN with the bits of the one quiet
 * NaN. */
#define FLOATS(T, BITS, QUIET_NAN)                                                                           \
  static bool any_nan_##T(const T *x, int64_t n) {                                                           \
    int found = 0;                                                                                           \
    int64_t at = 0;                                                                                          \
    for (; at + FL_STRIP <= n && !found; at += FL_STRIP) {                                                   \
      for (int k = 0; k < FL_STRIP; k++) found |= x[at + k] != x[at + k];                                    \
    }                                                                                                        \
    for (; at < n; at++) found |= x[at] != x[at];                                                            \
    return found;                                                                                            \
  }                                                                                                          \
                                                                                                             \
  static void add_##T(XXH3_state_t *s, const T *x, int64_t n) {                                              \
    const BITS quiet_nan = QUIET_NAN;                                                                        \
    T copy[FL_FLOATS];                                                                                       \
    for (int64_t at = 0; at < n; at += FL_FLOATS) {                                                          \
      int64_t m = n - at < FL_FLOATS ? n - at : FL_FLOATS;                                                   \
      const T *from = x + at;                                                                                \
      if (any_nan_##T(from, m)) {                                                                            \
        memcpy(copy, from, (size_t)m * sizeof *copy);                                                        \
        for (int64_t k = 0; k < m; k++) {                                                                    \
          if (copy[k] != copy[k]) memcpy(&copy[k], &quiet_nan, sizeof quiet_nan);                            \
        }                                                                                                    \
        from = copy;                                                                                         \
      }                                                                                                      \
      XXH3_128bits_update(s, from, (size_t)m * sizeof *x);                                                   \
    }                                                                                                        \
  }
FLOATS(double, uint64_t, 0x7ff8000000000000u)
FLOATS(float, uint32_t, 0x7fc00000u)
#undef FLOATS

/* Short texts are gathered: one update of the hash for many of them. */
static void add_texts(XXH3_state_t *s, const FlText *x, int64_t n) {
  char gather[FL_GATHER];
  size_t used = 0;
  for (int64_t k = 0; k < n; k++) {
    size_t len = (size_t)x[k].len;
    if (used && used + sizeof x[k].len + len > FL_GATHER) {
      XXH3_128bits_update(s, gather, used);
      used = 0;
    }
    memcpy(gather + used, &x[k].len, sizeof x[k].len);
    used += sizeof x[k].len;
    if (len > FL_GATHER - used) {
      XXH3_128bits_update(s, gather, used);
      XXH3_128bits_update(s, x[k].ptr, len);
      used = 0;
    } else if (len) {
      memcpy(gather + used, x[k].ptr, len);
      used += len;
    }
  }
  XXH3_128bits_update(s, gather, used);
}

static void add_elements(XXH3_state_t *s, int32_t dtype, const void *data, int64_t n) {
  switch ((FlDtype)dtype) {
  case FL_F64: add_double(s, data, n); break;
  case FL_F32: add_float(s, data, n); break;
  case FL_TEXT:
  case FL_FILE: add_texts(s, data, n); break;
  case FL_LIST: {
    FlArray *const *elements = data;
    for (int64_t k = 0; k < n; k++) {
      FlDigest d = elements[k] ? fl_array_digest(elements[k]) : (FlDigest){0, 0};
      XXH3_128bits_update(s, &d, sizeof d);
    }
    break;
  }
  case FL_BOOL:
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64:
  case FL_U8:
  case FL_U16:
  case FL_U32:
  case FL_U64:
  case FL_DATE:
  case FL_DATETIME:
  case FL_DURATION:
  case FL_ANY_DECIMAL: XXH3_128bits_update(s, data, (size_t)(n * fl_dtype_info[dtype].bytes)); break;
  case FL_CATEGORY:
  case FL_N_DTYPES: break;
  }
}

static void add_head(XXH3_state_t *s, int32_t dtype, int32_t rank, const int64_t *dims) {
  const char *name = fl_dtype_info[dtype].name;
  uint8_t r = (uint8_t)rank;
  XXH3_128bits_update(s, name, strlen(name) + 1);
  XXH3_128bits_update(s, &r, 1);
  XXH3_128bits_update(s, dims, (size_t)rank * sizeof *dims);
}

int64_t fl_array_digest_blocks(const FlArray *a) {
  if (fl_array_count(a) == 0 || a->rank == 0) return 1;
  return (a->dims[0] + FL_DIGEST_ROWS - 1) / FL_DIGEST_ROWS;
}

static void add_block(XXH3_state_t *s, const FlArray *a, int64_t block) {
  int64_t n = fl_array_count(a), size = fl_dtype_info[a->dtype].bytes;
  int64_t each = n == 0 || a->rank == 0 ? 0 : FL_DIGEST_ROWS * fl_array_row_count(a), at = block * each;
  add_elements(s, a->dtype, (const char *)a->data + at * size, each && n - at > each ? each : n - at);
}

FlDigest fl_array_digest_block(const FlArray *a, int64_t block) {
  XXH3_state_t s;
  XXH3_INITSTATE(&s);
  XXH3_128bits_reset(&s);
  add_block(&s, a, block);
  return finish(&s);
}

/* blocks: their digests, or NULL: they are not known. */
static FlDigest compute(const FlArray *a, const FlDigest *blocks) {
  XXH3_state_t whole;
  XXH3_INITSTATE(&whole);
  XXH3_128bits_reset(&whole);
  add_head(&whole, a->dtype, a->rank, a->dims);
  int64_t n = fl_array_digest_blocks(a);
  if (n == 1) add_block(&whole, a, 0);
  else if (blocks) XXH3_128bits_update(&whole, blocks, (size_t)n * sizeof *blocks);
  for (int64_t b = 0; n > 1 && !blocks && b < n; b++) {
    FlDigest d = fl_array_digest_block(a, b);
    XXH3_128bits_update(&whole, &d, sizeof d);
  }
  return finish(&whole);
}

bool fl_array_has_digest(const FlArray *a) {
  /* acquire: pairs with the release below, so that `digest` is there when has_digest is 1. */
  return atomic_load_explicit(&a->has_digest, memory_order_acquire) == 1;
}

FlDigest fl_array_digest_of(FlArray *a, const FlDigest *blocks) {
  if (fl_array_has_digest(a)) return a->digest;
  FlDigest d = compute(a, blocks);
  int32_t none = 0;
  /* 2: one thread is writing `digest`; others that came to the same answer leave it alone. */
  if (atomic_compare_exchange_strong_explicit(&a->has_digest, &none, 2, memory_order_relaxed,
                                              memory_order_relaxed)) {
    a->digest = d;
    atomic_store_explicit(&a->has_digest, 1, memory_order_release);
  }
  return d;
}

FlDigest fl_array_digest(FlArray *a) { return fl_array_digest_of(a, NULL); }

FlDigest fl_scalar_digest(int32_t dtype, FlSlot v) {
  XXH3_state_t s;
  XXH3_INITSTATE(&s);
  XXH3_128bits_reset(&s);
  add_head(&s, dtype, 0, NULL);
  switch (fl_dtype_info[dtype].kind) {
  case FL_KIND_FLOAT:
    if (dtype == FL_F64) {
      add_double(&s, &v.f, 1);
    } else {
      add_float(&s, &v.f32, 1);
    }
    break;
  case FL_KIND_TEXT:
  case FL_KIND_REF: add_texts(&s, &v.t, 1); break;
  case FL_KIND_BOOL:
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED:
  case FL_KIND_DECIMAL:
  case FL_KIND_TIME: XXH3_128bits_update(&s, &v.i, sizeof v.i); break;
  }
  return finish(&s);
}
