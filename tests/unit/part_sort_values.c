/* part_sort_values.c: values that are sorted alone, against a stable sort of their rows by a comparison that
 * looks at values only: of every type, from few values to none twice, up and down, bit for bit; in memory and
 * with limits of which the codes of all rows are some times the memory, by sweeps and by a file, of which
 * several workers sort a part each; by vectors and without. */
#include "check.h"
#include "data/data_internal.h"
#include "exec/exec_internal.h"
#include "levels.h"
#include "part/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, N_SHAPES = 9 };

static uint64_t seed = 5;
static uint64_t draw(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = seed ^ seed >> 29;
  return x * UINT64_C(0xbf58476d1ce4e5b9) ^ x >> 32;
}

/* NaNs of several bits, zeros of both signs, infinities, and else what the shape says. */
static double float_of(int shape, int64_t i) {
  uint64_t r = draw(), nan = UINT64_C(0x7ff8) << 48 | (r >> 40 & 7) | (r & 1024 ? UINT64_C(1) << 63 : 0);
  double u = (double)(draw() >> 11) * 0x1p-53, v;
  memcpy(&v, &nan, sizeof v);
  switch (shape) {
  case 0: return u;
  case 1: return r % 50 == 0 ? v : r % 50 == 1 ? -0.0 : r % 50 == 2 ? 0.0 : r % 50 == 3 ? -INFINITY : u - 0.5;
  case 2: return r % 3 == 0 ? v : floor(u * 5) - 2;
  case 3: return (double)i;
  case 4: return r & 64 ? -0.0 : 0.0;
  case 5: return (double)(i % 1000 - 500) / (double)(i % 7 + 1);
  case 6: return ldexp(u - 0.5, (int)(r % 2000) - 1000);
  case 7: return r % 16 ? 3e-20 : r % 32 ? -u * 1e-20 : u * 1e-20; /* mostly the largest, all of them small */
  default: return r % 64 ? 3e20 : r % 128 ? INFINITY : 2e20 * u;
  }
}

static uint64_t bits_of(int shape, int64_t i) {
  switch (shape) {
  case 0: return draw();
  case 1: return draw() % 8 ? 5 : draw() % 1000;
  case 2: return (uint64_t)-i;
  case 3: return (uint64_t)i;
  case 4: return 7;
  case 5: return (uint64_t)(i % 1000 - 500);
  case 6: return draw() >> draw() % 64;
  case 7: return draw() % 16 ? UINT64_MAX : draw(); /* mostly the largest, or the least */
  default: return draw() % 16 ? UINT64_C(1) << 63 | 1 << 15 : draw();
  }
}

static void fill(FlArray *a, int shape) {
  for (int64_t i = 0; i < a->dims[0]; i++) {
    double f = float_of(shape, i);
    uint64_t b = bits_of(shape, i);
    switch (a->dtype) {
    case FL_F64: ((double *)a->data)[i] = f; break;
    case FL_F32: ((float *)a->data)[i] = (float)f; break;
    case FL_BOOL: ((uint8_t *)a->data)[i] = b & 1; break;
    default:
      memcpy((char *)a->data + i * (int64_t)fl_dtype_info[a->dtype].bytes, &b,
             (size_t)fl_dtype_info[a->dtype].bytes);
    }
  }
}

typedef struct Order {
  const FlArray *a;
  bool down;
} Order;

/* -1, 0, 1 by what the language says of two values; NaN behind all, in both directions. */
static int compare(const void *x, const void *y, void *env) {
  const Order *o = env;
  int64_t i = *(const int64_t *)x, j = *(const int64_t *)y;
  int order = 0, nans = 0;
#define COMPARE(D, T)                                                                                        \
  case FL_##D: {                                                                                             \
    T p = ((const T *)o->a->data)[i], q = ((const T *)o->a->data)[j];                                        \
    nans = (p != p) - (q != q);                                                                              \
    order = (p > q) - (p < q);                                                                               \
    break;                                                                                                   \
  }
  switch (o->a->dtype) {
    COMPARE(F64, double)
    COMPARE(F32, float)
    COMPARE(BOOL, uint8_t)
    COMPARE(I8, int8_t)
    COMPARE(I16, int16_t)
    COMPARE(I32, int32_t)
    COMPARE(DATE, int32_t)
    COMPARE(I64, int64_t)
    COMPARE(DATETIME, int64_t)
    COMPARE(DURATION, int64_t)
    COMPARE(U8, uint8_t)
    COMPARE(U16, uint16_t)
    COMPARE(U32, uint32_t)
    COMPARE(U64, uint64_t)
  default: break;
  }
#undef COMPARE
  if (nans) return nans;
  if (order) return o->down ? -order : order;
  return (i > j) - (i < j);
}

/* What is expected: the values of the rows in their order, as a digest, so that limited runs need no memory
 * for it. */
static FlDigest expected(FlCtx *ctx, const FlArray *source, bool down) {
  int64_t n = source->dims[0], size = fl_dtype_info[source->dtype].bytes;
  int64_t *rows = malloc((size_t)(n + 1) * sizeof *rows);
  Order o = {source, down};
  for (int64_t i = 0; i < n; i++) rows[i] = i;
  qsort_r(rows, (size_t)n, sizeof *rows, compare, &o);
  FlArray *a = fl_array_new(ctx, source->dtype, 1, &n);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)a->data + i * size, (const char *)source->data + rows[i] * size, (size_t)size);
  FlDigest d = fl_array_digest(a);
  fl_array_unref(a);
  free(rows);
  return d;
}

/* `last`: nobody reads the source afterwards. */
static bool found(FlCtx *ctx, FlArray *source, bool down, bool last, FlDigest *digest) {
  FlType1 type = {(uint8_t)source->dtype, 1, 0, 0};
  FlColumnAttr column = {.flags = down ? FL_COLUMN_DOWN : 0};
  FlOpDesc desc = {.site = -1,
                   .i = last ? FL_SORT_LAST : 0,
                   .n_args = 1,
                   .n_results = 1,
                   .arg_types = &type,
                   .result_types = &type,
                   .n_columns = 1,
                   .columns = &column};
  FlSlot arg = {.a = source}, result = {0};
  if (fl_rt_sort_values(ctx, &desc, &arg, &result) != 0) return false;
  *digest = fl_array_digest(result.a);
  fl_array_unref(result.a);
  return true;
}

static const FlDtype EVERY[] = {FL_F64, FL_F32, FL_I64, FL_U16, FL_BOOL, FL_I8,       FL_I16,
                                FL_I32, FL_U8,  FL_U32, FL_U64, FL_DATE, FL_DATETIME, FL_DURATION};
static const int64_t SIZES[] = {0, 1, 2, 33, 1000, 32768, 32769, 70000, 300000, 1000000};
enum { N_DTYPES = sizeof EVERY / sizeof *EVERY, N_SIZES = sizeof SIZES / sizeof *SIZES, LARGE = 4 };

/* The first run says what the others are to give. */
static void test_all(FlRun *run, const char *what, bool first) {
  static FlDigest wanted[N_DTYPES][N_SHAPES][N_SIZES];
  FlCtx *ctx = fl_run_ctx(run);
  seed = 5; /* the same values in all runs */
  for (int d = 0; d < N_DTYPES; d++) {
    for (int shape = 0; shape < N_SHAPES; shape++) {
      for (int s = 0; s < N_SIZES; s++) {
        if (s == N_SIZES - 2 && (d >= LARGE || shape > 1)) continue;
        if (s == N_SIZES - 1 && (d >= LARGE || (d + shape) % 5 != 1)) continue;
        bool down = (d + shape + s) % 2 == 1;
        FlArray *a = fl_array_new(ctx, EVERY[d], 1, &SIZES[s]);
        fill(a, shape);
        FlDigest *want = &wanted[d][shape][s], got = {0, 0};
        if (first) *want = expected(ctx, a, down);
        for (int last = 0; last < 2; last++) {
          bool done = found(ctx, a, down, last, &got);
          check(done && got.lo == want->lo && got.hi == want->hi, "%s: type %d, shape %d, %lld rows%s%s",
                what, (int)EVERY[d], shape, (long long)SIZES[s], down ? ", down" : "", last ? ", last" : "");
        }
        fl_array_unref(a);
      }
    }
  }
  int64_t far = fl_pool_far(fl_ctx_pool(ctx));
  check(far == 0, "%s: %lld blocks that are looked up in any order are in files", what, (long long)far);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool LIMITED = false; /* the sanitizers' own memory would fill the limit */
#else
static const bool LIMITED = true;
#endif

static void test_ways(void) {
  static const struct {
    const char *what;
    int workers;
    int64_t memory;
  } ways[] = {{"one worker", 1, 0},
              {"three workers", 3, 0},
              {"12 MiB", 2, 12 * MIB},
              {"8 MiB, four workers", 4, 8 * MIB}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    FlRun *run = fl_run_new(
        NULL,
        &(FlRunOptions){.workers = ways[w].workers, .quiet = true, .memory = LIMITED ? ways[w].memory : 0});
    test_all(run, ways[w].what, w == 0);
    fl_run_free(run);
  }
}

int main(void) {
  at_levels(test_ways);
  return finish();
}
