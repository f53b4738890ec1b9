/* part_kit.h: what the tests of runtime/part share: random columns, calls of operators, a run for each worker
 * count whose results must have the same bits. */
#ifndef FL_TEST_PART_KIT_H
#define FL_TEST_PART_KIT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "exec/exec.h"
#include "part/part.h"
#include "splitmix.h"

typedef struct Kit {
  FlCtx *ctx;
  FlHeap *heap;
  uint64_t seed;
  uint64_t seen; /* mixes the bits of results: equal for every worker count */
  int passed, failed;
} Kit;

static inline void check(Kit *k, bool ok, const char *what) {
  if (ok) {
    k->passed++;
  } else if (k->failed++ < 40) {
    printf("failed: %s\n", what);
  }
}

static inline uint64_t draw(Kit *k) { return splitmix(&k->seed); }

typedef struct Column {
  FlArray *value, *valid; /* valid NULL: no nulls */
} Column;

enum { SMALL_INTS, WIDE_INTS, ALL_INTS, FLOATS, FLOATS32, TEXTS, LONG_TEXTS, BOOLS, BYTES, N_KINDS };

static inline double odd_float(Kit *k) {
  uint64_t r = draw(k);
  switch (r % 12) {
  case 0: return NAN;
  case 1: return -0.0;
  case 2: return 0.0;
  case 3: return INFINITY;
  case 4: return -INFINITY;
  default: return (double)((int64_t)(r >> 32) % 50) * 0.25 - 5.0;
  }
}

static inline FlText make_text(Kit *k, bool long_one) {
  char bytes[64];
  uint64_t r = draw(k);
  int n = long_one ? snprintf(bytes, sizeof bytes, "customer-of-the-shop-%03d%s", (int)(r % 700),
                              r & 4096 ? "x" : "")
                   : snprintf(bytes, sizeof bytes, "%.*s", (int)(r % 4), r & 64 ? "abc" : "\xc3\xa9z");
  char *kept = fl_heap_alloc(k->heap, n);
  memcpy(kept, bytes, (size_t)n);
  return n == 0 ? (FlText){NULL, 0} : (FlText){kept, n};
}

/* nulls: one in so many rows is null; 0 none, 1 all. The value under a null is zero. */
static inline Column make_column(Kit *k, int kind, int64_t n, int nulls) {
  static const int32_t dtypes[N_KINDS] = {FL_I64,  FL_I64,  FL_I64,  FL_F64, FL_F32,
                                          FL_TEXT, FL_TEXT, FL_BOOL, FL_U8};
  Column c = {fl_array_zeros(k->ctx, dtypes[kind], 1, &n),
              nulls ? fl_array_new(k->ctx, FL_BOOL, 1, &n) : NULL};
  for (int64_t i = 0; i < n; i++) {
    uint8_t valid = nulls == 0 || (nulls > 1 && draw(k) % (uint64_t)nulls != 0);
    if (c.valid != NULL) ((uint8_t *)c.valid->data)[i] = valid;
    if (!valid) continue;
    void *data = c.value->data;
    switch (kind) {
    case SMALL_INTS: ((int64_t *)data)[i] = (int64_t)(draw(k) % 37) - 11; break;
    case WIDE_INTS:
      ((int64_t *)data)[i] = (int64_t)(draw(k) % 500 * UINT64_C(0x123456789ab)) - (INT64_C(1) << 20);
      break;
    case ALL_INTS:
      ((int64_t *)data)[i] = draw(k) % 3 == 0 ? INT64_MIN : draw(k) % 2 ? INT64_MAX : (int64_t)(draw(k) % 9);
      break;
    case FLOATS: ((double *)data)[i] = odd_float(k); break;
    case FLOATS32: ((float *)data)[i] = (float)odd_float(k); break;
    case TEXTS:
    case LONG_TEXTS: ((FlText *)data)[i] = make_text(k, kind == LONG_TEXTS); break;
    case BOOLS: ((uint8_t *)data)[i] = draw(k) & 1; break;
    case BYTES: ((uint8_t *)data)[i] = (uint8_t)draw(k); break;
    }
  }
  if (dtypes[kind] == FL_TEXT && fl_array_keep(k->ctx, c.value, k->heap, NULL, 0) != 0) abort();
  return c;
}

static inline void drop_column(Column c) {
  fl_array_unref(c.value);
  fl_array_unref(c.valid);
}

/* Arguments of a call, and the call. */
typedef struct Call {
  FlSlot args[24];
  FlType1 arg_types[24], result_types[8];
  const char *list[12];
  FlColumnAttr columns[12];
  int32_t n_args, n_list, n_columns;
  int64_t i;
  double f;
  const char *s;
} Call;

static inline void put_array(Call *c, FlArray *a) {
  c->arg_types[c->n_args] = (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0};
  c->args[c->n_args++].a = a;
}
static inline void put_int(Call *c, int64_t v) {
  c->arg_types[c->n_args] = (FlType1){FL_I64, 0, 0, 0};
  c->args[c->n_args++].i = v;
}
static inline void put_float(Call *c, double v) {
  c->arg_types[c->n_args] = (FlType1){FL_F64, 0, 0, 0};
  c->args[c->n_args++].f = v;
}
static inline void put_column(Call *c, Column column, bool down) {
  put_array(c, column.value);
  if (column.valid != NULL) put_array(c, column.valid);
  c->columns[c->n_columns++] =
      (FlColumnAttr){.flags = (column.valid != NULL ? FL_COLUMN_NULLS : 0) | (down ? FL_COLUMN_DOWN : 0)};
}
static inline FlStatus call(Kit *k, FlRuntimeOp *op, Call *c, FlSlot *results) {
  FlOpDesc desc = {.site = -1,
                   .n_args = c->n_args,
                   .n_results = 8,
                   .arg_types = c->arg_types,
                   .result_types = c->result_types,
                   .i = c->i,
                   .f = c->f,
                   .s = c->s,
                   .list = c->list,
                   .n_list = c->n_list,
                   .n_columns = c->n_columns,
                   .columns = c->columns};
  return op(k->ctx, &desc, c->args, results);
}

/* Mixes the bits of a result into what must be equal for every worker count. */
static inline void see(Kit *k, FlArray *a) {
  FlDigest d = fl_array_digest(a);
  k->seen = (k->seen * UINT64_C(0x9e3779b97f4a7c15) + d.lo) ^ d.hi;
}

/* Runs the tests with 1, 2 and 8 workers on the same random data; each run has a context of its own. */
static inline int run_kit(void (*tests)(Kit *k)) {
  static const int workers[3] = {1, 2, 8};
  int passed = 0, failed = 0;
  uint64_t seen = 0;
  for (int w = 0; w < 3; w++) {
    FlRunOptions options = {.workers = workers[w], .quiet = true};
    FlProgram program = {.version = FL_PROGRAM_VERSION, .name = "part"};
    FlRun *run = fl_run_new(&program, &options);
    Kit k = {.ctx = fl_run_ctx(run), .seed = 12345};
    k.heap = fl_heap_new(k.ctx);
    tests(&k);
    fl_heap_unref(k.heap);
    fl_run_free(run);
    if (w == 0) seen = k.seen;
    check(&k, k.seen == seen, "the same bits for every number of workers");
    passed += k.passed;
    failed += k.failed;
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

#endif
