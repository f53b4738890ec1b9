/* data.c: buffers, arrays, heaps, digests: sharing, reuse in place, what is kept alive, recycling. */
#include "check.h"
#include "data/data.h"
#include "exec/exec.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FlArray *texts_of(FlCtx *ctx, FlHeap *heap, int64_t n, const char *const *texts) {
  FlArray *a = fl_array_new(ctx, FL_TEXT, 1, &n);
  for (int64_t k = 0; k < n; k++) {
    int64_t len = (int64_t)strlen(texts[k]);
    char *bytes = fl_heap_alloc(heap, len);
    memcpy(bytes, texts[k], (size_t)len);
    ((FlText *)a->data)[k] = (FlText){bytes, len};
  }
  check(fl_array_keep(ctx, a, heap, NULL, 0) == 0, "keep a heap");
  return a;
}

static void test_arrays(FlCtx *ctx) {
  int64_t dims[3] = {4, 3, 2};
  FlArray *a = fl_array_zeros(ctx, FL_F64, 3, dims);
  check(fl_array_count(a) == 24 && fl_array_row_count(a) == 6 && fl_array_bytes(a) == 192, "sizes");
  check((uintptr_t)a->data % FL_ALIGN == 0, "aligned");
  for (int k = 0; k < 24; k++) ((double *)a->data)[k] = k;
  FlArray *same = fl_array_reuse(a);
  check(same == a, "the only owner may write");
  check(fl_array_reuse(a) == NULL, "two references: not");
  fl_array_unref(same);
  FlArray *view = fl_array_view_rows(ctx, a, 1, 3);
  check(view->dims[0] == 2 && ((double *)view->data)[0] == 6, "a view of rows");
  check(fl_array_reuse(a) == NULL && fl_array_reuse(view) == NULL, "a shared buffer: not");
  fl_array_unref(a);
  check(((double *)view->data)[11] == 17, "a view outlives the array");
  FlArray *again = fl_array_reuse(view);
  check(again == view, "the last view may write");
  fl_array_unref(again);
  fl_array_unref(view);
  fl_array_unref(NULL);
  check(fl_array_ref(NULL) == NULL && fl_array_reuse(NULL) == NULL, "no array");
  int64_t none[2] = {0, INT64_MAX};
  a = fl_array_new(ctx, FL_I64, 2, none);
  check(a && a->data && fl_array_count(a) == 0, "an empty array of impossible rows");
  fl_array_unref(a);
}

static void test_memory(void) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  int64_t huge[2] = {INT64_MAX / 4, 8}, n = 3 << 20;
  check(fl_array_new(ctx, FL_F64, 2, huge) == NULL && fl_ctx_failed(ctx), "too large is an error");
  FlArray *a = fl_array_new(ctx, FL_F64, 1, &n);
  void *first = a->data;
  check((uintptr_t)first % (2 << 20) == 0, "large blocks are aligned to huge pages");
  fl_array_unref(a);
  FlArray *b = fl_array_new(ctx, FL_F64, 1, &n);
  check(b->data == first, "a large block is used again");
  int64_t small = 10000;
  FlArray *c = fl_array_new(ctx, FL_F64, 1, &small);
  check(c && c->data != first, "a small array has its own");
  fl_array_unref(c);
  fl_run_free(run);
  ((double *)b->data)[n - 1] = 1;
  check(((double *)b->data)[n - 1] == 1, "an array outlives the run");
  fl_array_unref(b);
}

static void test_lists(FlCtx *ctx) {
  int64_t two = 2, three = 3;
  FlArray *list = fl_array_new(ctx, FL_LIST, 1, &two);
  FlArray **elements = list->data;
  check(elements[0] == NULL && elements[1] == NULL, "a new list is empty");
  elements[0] = fl_array_zeros(ctx, FL_I32, 1, &three);
  FlArray *held = fl_array_ref(elements[0]);
  FlArray *view = fl_array_view_rows(ctx, list, 0, 1);
  fl_array_unref(list);
  check(held->refs == 2, "a view holds the elements");
  fl_array_unref(view);
  check(held->refs == 1, "the last owner of a list releases its elements");
  fl_array_unref(held);
}

static void test_texts(FlCtx *ctx) {
  FlHeap *heap = fl_heap_new(ctx);
  FlArray *a = texts_of(ctx, heap, 2, (const char *const[]){"alpha", "beta"});
  fl_heap_unref(heap);
  check(memcmp(((FlText *)a->data)[1].ptr, "beta", 4) == 0, "texts outlive the heap's handle");
  int64_t one = 1, dims = 1;
  FlArray *b = fl_array_new(ctx, FL_TEXT, 1, &one);
  ((FlText *)b->data)[0] = ((FlText *)a->data)[0];
  check(fl_array_keep(ctx, b, NULL, &a, 1) == 0 && b->buffer->n_keeps == 1, "keeps of another array");
  check(fl_array_keep(ctx, b, NULL, &a, 1) == 0 && b->buffer->n_keeps == 1, "once is enough");
  fl_array_unref(a);
  check(memcmp(((FlText *)b->data)[0].ptr, "alpha", 5) == 0, "texts outlive the first array");
  FlArray *list = fl_array_new(ctx, FL_LIST, 1, &dims), *c = fl_array_new(ctx, FL_TEXT, 1, &one);
  ((FlArray **)list->data)[0] = b;
  ((FlText *)c->data)[0] = ((FlText *)b->data)[0];
  check(fl_array_keep(ctx, c, NULL, &list, 1) == 0, "keeps of a list's elements");
  fl_array_unref(list);
  check(memcmp(((FlText *)c->data)[0].ptr, "alpha", 5) == 0, "texts outlive the list");
  fl_array_unref(c);
  FlHeap *many[9];
  b = fl_array_new(ctx, FL_TEXT, 1, &one);
  for (int k = 0; k < 9; k++) {
    many[k] = fl_heap_new(ctx);
    check(fl_array_keep(ctx, b, many[k], NULL, 0) == 0, "many heaps");
    fl_heap_unref(many[k]);
  }
  check(b->buffer->n_keeps == 9, "nine keeps");
  fl_array_unref(b);
}

/* Arrays with texts of their own, two of each, into one: it keeps each heap once, in the order of the arrays.
 */
static void test_many_keeps(FlCtx *ctx) {
  enum { N = 3000 };
  static FlArray *from[2 * N];
  int64_t n = 2 * N;
  FlArray *all = fl_array_new(ctx, FL_TEXT, 1, &n);
  for (int k = 0; k < N; k++) {
    FlHeap *heap = fl_heap_new(ctx);
    char text[16];
    snprintf(text, sizeof text, "%d", k);
    from[k] = texts_of(ctx, heap, 1, (const char *const[]){text});
    from[N + k] = fl_array_ref(from[k]);
    fl_heap_unref(heap);
  }
  for (int k = 0; k < 2 * N; k++) ((FlText *)all->data)[k] = ((FlText *)from[k]->data)[0];
  check(fl_array_keep(ctx, all, NULL, from, N / 2) == 0 && all->buffer->n_keeps == N / 2,
        "half of many keeps");
  check(fl_array_keep(ctx, all, NULL, from, 2 * N) == 0 && all->buffer->n_keeps == N,
        "many keeps, each once");
  bool same = true;
  for (int k = 0; k < N; k++) same = same && all->buffer->keeps[k] == from[k]->buffer->keeps[0];
  check(same, "keeps in order");
  for (int k = 0; k < 2 * N; k++) fl_array_unref(from[k]);
  check(memcmp(((FlText *)all->data)[2999].ptr, "2999", 4) == 0, "texts outlive all arrays that had them");
  fl_array_unref(all);
}

static FlDigest digest_of(FlCtx *ctx, FlDtype d, int64_t n, const void *data) {
  FlArray *a = fl_array_new(ctx, (int32_t)d, 1, &n);
  memcpy(a->data, data, (size_t)fl_array_bytes(a));
  FlDigest x = fl_array_digest(a), y = fl_array_digest(a);
  check(x.lo == y.lo && x.hi == y.hi && a->has_digest == 1, "a digest is remembered");
  fl_array_unref(a);
  return x;
}

static bool equal(FlDigest a, FlDigest b) { return a.lo == b.lo && a.hi == b.hi; }

static void test_digests(FlCtx *ctx) {
  double x[2] = {1, (double)NAN}, y[2] = {1, -(double)NAN}, zero = 0, minus = -0.0;
  check(equal(digest_of(ctx, FL_F64, 2, x), digest_of(ctx, FL_F64, 2, y)), "one NaN");
  check(!equal(digest_of(ctx, FL_F64, 1, &zero), digest_of(ctx, FL_F64, 1, &minus)), "zeros differ");
  check(!equal(digest_of(ctx, FL_F64, 1, &zero), digest_of(ctx, FL_I64, 1, &zero)), "types differ");
  FlText a[2] = {{"ab", 2}, {"c", 1}}, b[2] = {{"a", 1}, {"bc", 2}}, c[2] = {{"abx", 2}, {"c", 1}};
  check(!equal(digest_of(ctx, FL_TEXT, 2, a), digest_of(ctx, FL_TEXT, 2, b)),
        "texts differ by where they end");
  check(equal(digest_of(ctx, FL_TEXT, 2, a), digest_of(ctx, FL_TEXT, 2, c)), "texts are their bytes");
  char *large = malloc(200000);
  memset(large, 'x', 200000);
  FlText d[3] = {{large, 200000}, {NULL, 0}, {large, 40000}},
         e[3] = {{large, 200000}, {large, 0}, {large + 7, 40000}};
  check(equal(digest_of(ctx, FL_TEXT, 3, d), digest_of(ctx, FL_TEXT, 3, e)), "long and empty texts");
  free(large);
  int64_t dims[2] = {2, 3}, turned[2] = {3, 2}, n = 1 << 20;
  FlArray *m = fl_array_zeros(ctx, FL_I64, 2, dims), *t = fl_array_zeros(ctx, FL_I64, 2, turned);
  check(!equal(fl_array_digest(m), fl_array_digest(t)), "sizes count");
  FlArray *reused = fl_array_reuse(m);
  ((int64_t *)m->data)[0] = 1;
  check(!equal(fl_array_digest(m), fl_array_digest(t)) && m->has_digest == 1,
        "a digest is forgotten before writing");
  fl_array_unref(reused);
  fl_array_unref(m);
  fl_array_unref(t);
  for (int64_t rows = 4090; rows < 4102; rows += 3) { /* rows that are appended change no whole block */
    int64_t more[2] = {rows + 5000, 3}, few[2] = {rows, 3};
    FlArray *long_one = fl_array_new(ctx, FL_I32, 2, more), *short_one = fl_array_new(ctx, FL_I32, 2, few);
    for (int32_t k = 0; k < more[0] * 3; k++) ((int32_t *)long_one->data)[k] = k * k;
    memcpy(short_one->data, long_one->data, (size_t)few[0] * 12);
    check(fl_array_digest_blocks(short_one) == (rows + 4095) / 4096, "blocks of %lld rows", (long long)rows);
    check(equal(fl_array_digest_block(long_one, 0), fl_array_digest_block(short_one, 0)) == (rows >= 4096),
          "the first block of %lld rows", (long long)rows);
    FlDigest blocks[3] = {fl_array_digest_block(long_one, 0), fl_array_digest_block(long_one, 1),
                          fl_array_digest_block(long_one, 2)};
    FlDigest whole = fl_array_digest_of(long_one, fl_array_digest_blocks(long_one) == 3 ? blocks : NULL);
    FlArray *again = fl_array_view_rows(ctx, long_one, 0, more[0]);
    check(equal(fl_array_digest(again), whole), "of blocks, and at once");
    fl_array_unref(again);
    fl_array_unref(long_one);
    fl_array_unref(short_one);
  }
  FlArray *big = fl_array_zeros(ctx, FL_F64, 1, &n), *view = fl_array_view_rows(ctx, big, 0, n);
  check(equal(fl_array_digest(big), fl_array_digest(view)), "views of many blocks");
  ((double *)big->data)[n - 1] = 1;
  FlArray *other = fl_array_view_rows(ctx, big, 0, n);
  check(!equal(fl_array_digest(other), fl_array_digest(view)), "the last element counts");
  fl_array_unref(other);
  fl_array_unref(view);
  fl_array_unref(big);
  check(equal(fl_scalar_digest(FL_F64, (FlSlot){.f = x[1]}), fl_scalar_digest(FL_F64, (FlSlot){.f = y[1]})),
        "scalar NaN");
  check(!equal(fl_scalar_digest(FL_I64, (FlSlot){.i = 1}), fl_scalar_digest(FL_U64, (FlSlot){.u = 1})),
        "scalar types");
}

static void *allocate(void *arg) {
  FlHeap *heap = arg;
  unsigned char mark = (unsigned char)((uintptr_t)&heap >> 12);
  unsigned char *mine[3000];
  bool ok = true;
  for (int k = 0; k < 3000; k++) {
    mine[k] = (unsigned char *)fl_heap_alloc(heap, k % 700 + 1);
    memset(mine[k], mark, (size_t)(k % 700 + 1));
  }
  for (int k = 0; k < 3000; k++)
    for (int j = 0; j <= k % 700; j++) ok = ok && mine[k][j] == mark;
  return ok ? heap : NULL;
}

static void test_heap_threads(FlCtx *ctx) {
  FlHeap *heap = fl_heap_new(ctx);
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, allocate, heap);
  bool ok = true;
  for (int k = 0; k < 4; k++) {
    void *result;
    pthread_join(threads[k], &result);
    ok = ok && result;
  }
  check(ok, "no two threads share bytes of a heap");
  check(fl_heap_alloc(heap, 0) != NULL, "no bytes are a place too");
  fl_heap_unref(heap);
}

int main(void) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  test_arrays(ctx);
  test_lists(ctx);
  test_texts(ctx);
  test_many_keeps(ctx);
  test_digests(ctx);
  test_heap_threads(ctx);
  fl_run_free(run);
  test_memory();
  return finish();
}
