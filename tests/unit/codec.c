/* codec.c: values to bytes and back: every type, lists in lists, damage anywhere, and who keeps the bytes
 * alive. */
#include "check.h"
#include "data/codec.h"
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_released;

static void release(void *arg) {
  free(arg);
  n_released++;
}

/* The payload as one aligned block. */
static unsigned char *join(const FlEncoded *e) {
  unsigned char *bytes = aligned_alloc(FL_ALIGN, ((size_t)e->bytes + FL_ALIGN) / FL_ALIGN * FL_ALIGN),
                *p = bytes;
  if (!bytes) abort();
  for (int32_t i = 0; i < e->n_pieces; i++) {
    memcpy(p, e->pieces[i].iov_base, e->pieces[i].iov_len);
    p += e->pieces[i].iov_len;
  }
  return bytes;
}

static unsigned char *encode(const FlSlot *values, const FlType1 *types, int32_t n, int64_t *len) {
  FlEncoded e;
  if (!fl_codec_encode(NULL, values, types, n, &e)) abort();
  unsigned char *bytes = join(&e);
  *len = e.bytes;
  fl_codec_reset(&e);
  return bytes;
}

static FlArray *new_array(FlDtype dtype, int32_t rank, int64_t n0, int64_t n1) {
  int64_t dims[2] = {n0, n1};
  FlArray *a = fl_array_new(NULL, dtype, rank, dims);
  if (!a) abort();
  return a;
}

static FlArray *texts(int n, const char *const *t) {
  FlArray *a = new_array(FL_TEXT, 1, n, 0);
  for (int i = 0; i < n; i++) ((FlText *)a->data)[i] = (FlText){t[i], (int64_t)strlen(t[i])};
  return a;
}

static FlArray *range(int64_t n, double from) {
  FlArray *a = new_array(FL_F64, 1, n, 0);
  for (int64_t i = 0; i < n; i++) ((double *)a->data)[i] = from + (double)i;
  return a;
}

enum { N = 8 };
static const FlType1 types[N] = {
    {FL_I64, 0, 0, 0}, {FL_F64, 0, 0, 0},  {FL_TEXT, 0, 0, 0}, {FL_BOOL, 0, 0, 0},
    {FL_F64, 2, 0, 0}, {FL_TEXT, 1, 0, 0}, {FL_F64, 1, 2, 0},  {FL_I32, 1, 0, 0},
};

static void make_values(FlSlot v[N]) {
  static const char *const names[] = {"one", "", "drei \xc3\xa9", "four"};
  v[0] = (FlSlot){.i = -7};
  v[1] = (FlSlot){.f = 2.5};
  v[2] = (FlSlot){.t = {"scalar", 6}};
  v[3] = (FlSlot){.i = 1};
  v[4].a = new_array(FL_F64, 2, 3, 5);
  for (int i = 0; i < 15; i++) ((double *)v[4].a->data)[i] = i * 0.1;
  v[5].a = texts(4, names);
  v[6].a = new_array(FL_LIST, 1, 2, 0);
  for (int i = 0; i < 2; i++) {
    FlArray *inner = new_array(FL_LIST, 1, i + 1, 0);
    for (int j = 0; j <= i; j++) ((FlArray **)inner->data)[j] = range(10 * i + j, j);
    ((FlArray **)v[6].a->data)[i] = inner;
  }
  v[7].a = new_array(FL_I32, 1, 0, 0);
}

static void unref_values(FlSlot v[N]) {
  for (int i = 4; i < N; i++) fl_array_unref(v[i].a);
}

static bool same_array(FlArray *a, FlArray *b, int depth) {
  if (a->dtype != b->dtype || a->rank != b->rank || memcmp(a->dims, b->dims, (size_t)a->rank * 8) != 0)
    return false;
  int64_t n = fl_array_count(a);
  for (int64_t i = 0; i < n; i++) {
    if (depth > 0) {
      if (!same_array(((FlArray **)a->data)[i], ((FlArray **)b->data)[i], depth - 1)) return false;
    } else if (a->dtype == FL_TEXT) {
      FlText x = ((FlText *)a->data)[i], y = ((FlText *)b->data)[i];
      if (x.len != y.len || (x.len && memcmp(x.ptr, y.ptr, (size_t)x.len) != 0)) return false;
    }
  }
  return depth > 0 || a->dtype == FL_TEXT || memcmp(a->data, b->data, (size_t)fl_array_bytes(a)) == 0;
}

static void test_round_trip(void) {
  FlSlot v[N], w[N];
  FlBuffer *keep;
  int64_t len;
  make_values(v);
  unsigned char *bytes = encode(v, types, N, &len);
  CHECK(fl_codec_decode(bytes, len, release, bytes, types, N, w, &keep));
  CHECK(w[0].i == -7 && w[1].f == 2.5 && w[3].i == 1);
  CHECK(w[2].t.len == 6 && memcmp(w[2].t.ptr, "scalar", 6) == 0 && keep);
  for (int i = 4; i < N; i++) {
    CHECK(same_array(v[i].a, w[i].a, types[i].depth));
    CHECK(w[i].a->has_digest && fl_array_digest(v[i].a).lo == w[i].a->digest.lo);
  }
  /* The numbers are used where they lie, and nobody may write there. */
  unsigned char *data = w[4].a->data;
  CHECK(data > bytes && data < bytes + len && (uintptr_t)data % FL_ALIGN == 0);
  CHECK(!fl_array_reuse(w[4].a));

  /* The bytes live as long as anything points into them. */
  for (int i = 4; i < N; i++)
    if (i != 5) fl_array_unref(w[i].a);
  fl_buffer_unref(keep);
  CHECK(n_released == 0 && ((FlText *)w[5].a->data)[2].len == 7);
  fl_array_unref(w[5].a);
  CHECK(n_released == 1);

  /* Equal values, equal bytes; numbers alone keep nothing once copied out. */
  int64_t len2;
  FlSlot again[N];
  make_values(again);
  bytes = encode(v, types, N, &len);
  unsigned char *bytes2 = encode(again, types, N, &len2);
  CHECK(len == len2 && memcmp(bytes, bytes2, (size_t)len) == 0);
  free(bytes);
  free(bytes2);
  unref_values(again);
  bytes = encode(v, types, 2, &len);
  CHECK(fl_codec_decode(bytes, len, release, bytes, types, 2, w, &keep) && !keep && n_released == 2);
  bytes = encode(NULL, NULL, 0, &len);
  CHECK(fl_codec_decode(bytes, len, release, bytes, NULL, 0, NULL, &keep) && !keep && n_released == 3);
  unref_values(v);
}

static void test_nan(void) {
  FlType1 t[3] = {{FL_F64, 1, 0, 0}, {FL_F32, 1, 0, 0}, {FL_F64, 0, 0, 0}};
  FlSlot a[3], b[3];
  for (int i = 0; i < 2; i++) {
    FlSlot *v = i ? b : a;
    v[0].a = new_array(FL_F64, 1, 3, 0);
    v[1].a = new_array(FL_F32, 1, 3, 0);
    double d[3] = {1, i ? -(double)NAN : (double)NAN, -0.0};
    float f[3] = {1, i ? -NAN : NAN, -0.0f};
    memcpy(v[0].a->data, d, sizeof d);
    memcpy(v[1].a->data, f, sizeof f);
    v[2].f = d[1];
  }
  int64_t n, m;
  unsigned char *x = encode(a, t, 3, &n), *y = encode(b, t, 3, &m);
  CHECK(n == m && memcmp(x, y, (size_t)n) == 0);
  FlBuffer *keep;
  FlSlot w[3];
  CHECK(fl_codec_decode(x, n, release, x, t, 3, w, &keep) && !keep);
  const double *d = w[0].a->data;
  CHECK(isnan(d[1]) && !signbit(d[1]) && signbit(d[2]));
  for (int i = 0; i < 2; i++) {
    fl_array_unref(a[i].a);
    fl_array_unref(b[i].a);
    fl_array_unref(w[i].a);
  }
  free(y);
}

/* Reads every element, so that a view outside the bytes would be seen by a sanitizer. */
static uint64_t touch(const FlArray *a, int depth) {
  uint64_t sum = 0;
  int64_t n = fl_array_count(a);
  if (depth > 0) {
    for (int64_t i = 0; i < n; i++) sum += touch(((FlArray **)a->data)[i], depth - 1);
  } else if (a->dtype == FL_TEXT) {
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = 0; k < ((FlText *)a->data)[i].len; k++)
        sum += (unsigned char)((FlText *)a->data)[i].ptr[k];
  } else {
    for (int64_t i = 0; i < fl_array_bytes(a); i++) sum += ((unsigned char *)a->data)[i];
  }
  return sum;
}

/* The store's checksum keeps damaged bytes away; still nothing may be trusted: decode refuses, or what it
 * gives can be read. */
static bool decode_copy(const unsigned char *bytes, int64_t len, uint64_t *sum) {
  unsigned char *copy = aligned_alloc(FL_ALIGN, ((size_t)len + FL_ALIGN) / FL_ALIGN * FL_ALIGN);
  if (!copy) abort();
  memcpy(copy, bytes, (size_t)len);
  FlSlot w[N];
  FlBuffer *keep;
  if (!fl_codec_decode(copy, len, release, copy, types, N, w, &keep)) return false;
  for (int i = 4; i < N; i++) *sum += touch(w[i].a, types[i].depth);
  unref_values(w);
  fl_buffer_unref(keep);
  return true;
}

static void test_damage(void) {
  FlSlot v[N];
  int64_t len;
  uint64_t sum = 0;
  make_values(v);
  unsigned char *bytes = encode(v, types, N, &len);
  int released = n_released, calls = 0, accepted = 0;
  for (int64_t n = 0; n < len; n++, calls++) accepted += decode_copy(bytes, n, &sum);
  CHECK(accepted == 0); /* no prefix is a payload */
  static const unsigned char changes[] = {1, 0x80, 0xff};
  for (int64_t i = 0; i < len; i++)
    for (size_t c = 0; c < sizeof changes; c++, calls++) {
      bytes[i] ^= changes[c];
      accepted += decode_copy(bytes, len, &sum);
      bytes[i] ^= changes[c];
    }
  CHECK(accepted > 0 && sum > 0); /* changed elements are still elements */
  CHECK(n_released - released == calls);
  FlType1 wrong[N];
  for (int i = 0; i < N; i++) {
    memcpy(wrong, types, sizeof types);
    wrong[i].dtype = FL_U8;
    FlSlot w[N];
    FlBuffer *keep;
    unsigned char *copy = encode(v, types, N, &len);
    CHECK(!fl_codec_decode(copy, len, release, copy, wrong, N, w, &keep));
  }
  free(bytes);
  unref_values(v);
}

int main(void) {
  test_round_trip();
  test_nan();
  test_damage();
  return finish();
}
