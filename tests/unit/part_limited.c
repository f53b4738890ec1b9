/* part_limited.c: what sorting, taking and aggregates give where memory does not do: orders part by part, and
 * rows taken piece by piece from arrays in files, against plain sorting and plain loops, aggregates against
 * those without a limit. Values of every kind: NaN, both zeros, nulls, integers of the whole range, many and
 * few different ones, downwards.
 *
 * usage: unit_part_limited [--all]: each order with each share of the memory. Without it each takes two of
 * six shares, by turns, with and without a limit others: what goes wrong for a kind of key, or for a number
 * of parts, is still met by some order. */
#include "check.h"
#include "data/data_internal.h"
#include "exec/exec_internal.h"
#include "part/aggregate_internal.h"
#include "part/part_internal.h"
#include "part/take_internal.h"
#include "process/process.h"

#include <math.h>

enum { N = 300000, CODED = 3 * N, MIB = 1 << 20, TURNS = 3 };

static uint64_t seed = 11;
static uint64_t draw(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = seed ^ seed >> 29;
  return x * UINT64_C(0xbf58476d1ce4e5b9) ^ x >> 32;
}

static double float_of(int kind) {
  uint64_t r = draw();
  if (r % 50 == 0) return NAN;
  if (r % 50 == 1) return r & 64 ? -0.0 : 0.0;
  if (r % 50 == 2) return r & 64 ? -INFINITY : INFINITY;
  double u = (double)(draw() >> 11) * 0x1p-53;
  return kind == 0 ? u - 0.5 : floor(u * 9.0);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

typedef struct Keys {
  FlPartKey *keys;
  int32_t n;
} Keys;

static int compare_values(const FlPartKey *key, int64_t a, int64_t b) {
  const FlPartCol *c = &key->side[0];
  bool null_a = !fl_part_valid(c->valid, a), null_b = !fl_part_valid(c->valid, b);
  if (null_a || null_b) return null_a - null_b;
  int order;
  if (c->dtype == FL_F64) {
    double x = ((const double *)c->data)[a], y = ((const double *)c->data)[b];
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    order = (x > y) - (x < y);
  } else {
    int64_t x = ((const int64_t *)c->data)[a], y = ((const int64_t *)c->data)[b];
    order = (x > y) - (x < y);
  }
  return key->descending ? -order : order;
}

static int compare_rows(const void *a, const void *b, void *env) {
  const Keys *k = env;
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  for (int32_t i = 0; i < k->n; i++) {
    int order = compare_values(&k->keys[i], x, y);
    if (order) return order;
  }
  return (x > y) - (x < y);
}

/* Whether two rows have equal keys. */
static bool same_keys(const Keys *keys, int64_t a, int64_t b) {
  for (int32_t i = 0; i < keys->n; i++) {
    if (compare_values(&keys->keys[i], a, b)) return false;
  }
  return true;
}

/* Where groups begin, and groups numbered through sorting, against the order that is known. */
static void test_groups(FlPartMem *mem, const Keys *keys, FlPartCodes *codes, const int64_t *order,
                        const uint8_t *begins, int64_t bytes, const char *what) {
  FlPartGroups groups;
  bool right = true, done = fl_part_group_ordered(mem, codes, bytes, NULL, &groups) == 0;
  int64_t g = -1;
  for (int64_t i = 0; i < N && done; i++) {
    bool begin = i == 0 || !same_keys(keys, order[i - 1], order[i]);
    g += begin;
    right &= begin == begins[i] && groups.id[order[i]] == g && (!begin || groups.first[g] == order[i]);
  }
  check(done && right && groups.g == g + 1, "%s: groups with %lld bytes", what, (long long)bytes);
  uint64_t *first = fl_part_zalloc(mem, N / 64 + 1, sizeof *first);
  right = first != NULL && fl_part_first_parts(mem, codes, bytes, first) == 0;
  for (int64_t i = 0; i < N && right; i++) right = (first[order[i] / 64] >> order[i] % 64 & 1) == begins[i];
  check(right, "%s: first rows with %lld bytes", what, (long long)bytes);
}

/* Texts with codes: row i of n has text i % different, as has its code. */
static FlArray *coded_texts(FlCtx *ctx, int64_t n, int64_t different) {
  FlArray *a = fl_array_new(ctx, FL_TEXT, 1, &n);
  FlDictionary *d = fl_dictionary_new(ctx, different);
  FlBuffer *codes = fl_buffer_new(ctx, n * (int64_t)sizeof(uint32_t));
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  for (int64_t k = 0; k < different; k++) d->texts[k] = (FlText){letters + k % 20, k % 6};
  for (int64_t i = 0; i < n; i++) {
    ((uint32_t *)codes->data)[i] = (uint32_t)(i % different);
    ((FlText *)a->data)[i] = d->texts[i % different];
  }
  CHECK(fl_text_codes_attach(a, d, codes, sizeof(uint32_t)));
  return a;
}

/* Columns of values of each size that move with the keys, texts with codes and without among them. */
enum { MOVED = 6 };
static void make_moved(FlCtx *ctx, FlArray **moved) {
  static const int32_t kinds[MOVED - 1] = {FL_U8, FL_I16, FL_F32, FL_I64, FL_TEXT};
  int64_t n = N;
  for (int k = 0; k < MOVED - 1; k++) {
    moved[k] = fl_array_new(ctx, kinds[k], 1, &n);
    for (int64_t b = 0; b < fl_array_bytes(moved[k]); b++) ((uint8_t *)moved[k]->data)[b] = (uint8_t)draw();
  }
  moved[MOVED - 1] = coded_texts(ctx, N, 1 << 10);
}

static void test_moved(FlPartMem *mem, const FlPartCodes *codes, FlArray **moved, const int64_t *order,
                       int64_t bytes, const char *what) {
  FlTakeColumn columns[MOVED];
  bool moves = false, right = true;
  for (int k = 0; k < MOVED; k++) fl_take_from(moved[k], N, &columns[k]);
  bool done = fl_sort_rows_parts(mem, codes, bytes, columns, MOVED, &moves) == 0;
  for (int k = 0; k < MOVED && moves && done; k++) {
    size_t size = columns[k].row_bytes;
    for (int64_t i = 0; i < N && right; i++)
      right = memcmp((char *)columns[k].to->data + (size_t)i * size,
                     (char *)moved[k]->data + (size_t)order[i] * size, size) == 0;
    for (int64_t i = 0; i < N && right && columns[k].known != NULL; i++)
      right = ((uint32_t *)columns[k].to_codes->data)[i] == ((const uint32_t *)columns[k].codes)[order[i]];
    check(right, "%s: column %d that moves with the keys, %lld bytes", what, k, (long long)bytes);
  }
  check(done && (moves || bytes < N), "%s: rows move with %lld bytes", what, (long long)bytes);
  for (int k = 0; k < MOVED && moves; k++) fl_take_drop(&columns[k]);
}

/* turn: which of the shares, or ALL of them. */
enum { ALL = -1 };
static void test_order(FlRun *run, Keys *keys, const char *what, int turn) {
  static const int64_t shares[] = {1, 3, 6, 40, 1000, 1000000}; /* of what all rows take */
  int64_t *expected = malloc(N * sizeof *expected), *rows = malloc(N * sizeof *rows);
  uint8_t *begins = malloc(N);
  FlArray *moved[MOVED];
  make_moved(fl_run_ctx(run), moved);
  for (int64_t i = 0; i < N; i++) expected[i] = i;
  qsort_r(expected, N, sizeof *expected, compare_rows, keys);
  for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
    if (turn != ALL && s % TURNS != (size_t)turn) continue;
    FlPartMem mem = {.ctx = fl_run_ctx(run)};
    FlPartCodes codes;
    int64_t wrong = -1;
    memset(rows, 0xff, N * sizeof *rows);
    bool done = fl_part_encode(&mem, keys->keys, keys->n, 1, true, &codes) == 0 &&
                fl_part_order_parts(&mem, &codes, INT64_C(40) * N / shares[s], rows, begins) == 0;
    check(done, "%s: is done with a %lldth of the memory", what, (long long)shares[s]);
    for (int64_t i = 0; i < N && wrong < 0; i++) wrong = rows[i] == expected[i] ? -1 : i;
    check(wrong < 0, "%s: with a %lldth of the memory row %lld is wrong", what, (long long)shares[s],
          (long long)wrong);
    test_groups(&mem, keys, &codes, expected, begins, INT64_C(40) * N / shares[s], what);
    test_moved(&mem, &codes, moved, expected, INT64_C(40) * N / shares[s], what);
    fl_part_mem_reset(&mem);
  }
  for (int k = 0; k < MOVED; k++) fl_array_unref(moved[k]);
  free(begins);
  free(expected);
  free(rows);
}

/* ---- a part of a sort: from one pair to some buckets of them, keys that differ in 0 to 64 bits
 * --------------- */

static int compare_pairs(const void *a, const void *b) {
  const FlPartPair *x = a, *y = b;
  return x->key != y->key ? x->key < y->key ? -1 : 1 : (x->row > y->row) - (x->row < y->row);
}

/* Keys at both ends of what so many bits hold, all of one half, or any. */
static uint64_t key_of(int bits, int shape, int64_t i) {
  uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (i < 2) return i == 0 ? 0 : all;
  return shape == 0 ? draw() & all : shape == 1 ? (draw() & 1 ? all : 0) : draw() & all >> 1;
}

static void test_even(FlRun *run) {
  static const int64_t sizes[] = {1, 2, 3, 6, 32, 33, 1000, 4095, 4096, 8191, 8192, 30000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int64_t n = sizes[k];
    for (int bits = 0; bits <= 64; bits += n > 1000 ? 8 : 1) {
      for (int shape = 0; shape < 3; shape++) {
        FlPartMem mem = {.ctx = fl_run_ctx(run)};
        FlPartPair *pairs = malloc((size_t)n * sizeof *pairs), *spare = malloc((size_t)n * sizeof *spare),
                   *expected = malloc((size_t)n * sizeof *expected), *sorted;
        uint64_t low =
            draw() & (bits == 64 ? 0 : ~UINT64_C(0) >> bits << bits); /* so that the sum is no more */
        for (int64_t i = 0; i < n; i++)
          expected[i] = pairs[i] = (FlPartPair){low + key_of(bits, shape, i), i};
        qsort(expected, (size_t)n, sizeof *expected, compare_pairs);
        bool right = fl_part_sort_even(&mem, pairs, spare, n, &sorted) == 0;
        if (right && sorted != NULL) right = memcmp(sorted, expected, (size_t)n * sizeof *expected) == 0;
        check(right, "%lld pairs of %d bits, shape %d", (long long)n, bits, shape);
        fl_part_mem_reset(&mem);
        free(pairs), free(spare), free(expected);
      }
    }
  }
}

/* turn: which share the first order takes, others the next ones; or ALL. */
static void test_orders(FlRun *run, int turn) {
  test_even(run);
  double *wide = malloc(N * sizeof *wide), *narrow = malloc(N * sizeof *narrow),
         *ends = malloc(N * sizeof *ends);
  int64_t *whole = malloc(N * sizeof *whole), *few = malloc(N * sizeof *few), *one = calloc(N, sizeof *one),
          *up = malloc(N * sizeof *up);
  uint8_t *valid = malloc(N);
  for (int64_t i = 0; i < N; i++) {
    wide[i] = float_of(0);
    narrow[i] = float_of(1);
    ends[i] = i % 100000 == 7 ? -5.0 : i % 100000 == 9 ? 3.0 : 100.0;
    whole[i] = (int64_t)draw();
    few[i] = draw() % 8 ? 5 : (int64_t)(draw() % 1000);
    up[i] = i * INT64_C(1000000007);
    valid[i] = draw() % 10 != 0;
  }
  FlPartCol f = {.dtype = FL_F64, .n = N, .data = wide}, g = {.dtype = FL_F64, .n = N, .data = narrow},
            w = {.dtype = FL_I64, .n = N, .data = whole}, k = {.dtype = FL_I64, .n = N, .data = few},
            e = {.dtype = FL_F64, .n = N, .data = ends}, o = {.dtype = FL_I64, .n = N, .data = one},
            u = {.dtype = FL_I64, .n = N, .data = up}, fn = f, wn = w;
  fn.valid = wn.valid = valid;
  struct {
    const char *what;
    FlPartKey keys[3];
    int32_t n;
  } cases[] = {
      {"floats", {{.side = {f}}}, 1},
      {"floats downwards, nulls", {{.side = {fn}, .descending = true}}, 1},
      {"few floats", {{.side = {g}}}, 1},
      {"integers of the whole range", {{.side = {w}}}, 1},
      {"integers of the whole range, nulls", {{.side = {wn}}}, 1},
      {"mostly one value", {{.side = {k}}}, 1},
      {"one value", {{.side = {o}}}, 1},
      {"mostly one value, others far below and above", {{.side = {e}}}, 1},
      {"mostly one value, others far below and above, downwards", {{.side = {e}, .descending = true}}, 1},
      {"ascending", {{.side = {u}}}, 1},
      {"descending", {{.side = {u}, .descending = true}}, 1},
      {"few, then floats", {{.side = {k}}, {.side = {f}, .descending = true}}, 2},
      {"three keys", {{.side = {g}}, {.side = {wn}, .descending = true}, {.side = {f}}}, 3},
      {"a value and the same downwards", {{.side = {w}}, {.side = {w}, .descending = true}}, 2},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    test_order(run, &(Keys){cases[c].keys, cases[c].n}, cases[c].what,
               turn == ALL ? ALL : (turn + (int)c) % TURNS);
  free(wide), free(narrow), free(ends), free(whole), free(few), free(one), free(up), free(valid);
}

/* First rows by a few bits a row, against rows that are sorted: `same` of a thousand rows equal another one.
 */
static void test_bits(FlRun *run, int64_t n, int64_t same, int64_t bytes, bool must) {
  FlPartMem mem = {.ctx = fl_run_ctx(run)};
  FlArray *keys = fl_array_new(mem.ctx, FL_I64, 1, &n);
  FlPartPair *pairs = malloc((size_t)n * sizeof *pairs);
  uint64_t *first = fl_part_zalloc(&mem, n / 64 + 1, sizeof *first);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = (int64_t)(draw() % 1000) < same ? (int64_t)(draw() % (uint64_t)n) : i;
    ((int64_t *)keys->data)[i] = (k - n / 2) * 1000003;
    pairs[i] = (FlPartPair){(uint64_t)k, i};
  }
  qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
  FlPartKey by = {.side = {{.dtype = FL_I64, .n = n, .data = keys->data, .array = keys}}};
  FlPartCodes codes;
  bool done = false, right = true;
  CHECK(fl_part_encode_whole(&mem, &by, 1, &codes) == 0);
  CHECK(fl_part_first_bits(&mem, &codes, bytes, first, &done) == 0);
  for (int64_t i = 0; i < n && done && right; i++) {
    int64_t row = pairs[i].row;
    right = (first[row / 64] >> row % 64 & 1) == (i == 0 || pairs[i].key != pairs[i - 1].key);
  }
  check(right && (done || !must),
        "first rows by bits: %lld rows, %lld of a thousand equal another one, %lld bytes%s", (long long)n,
        (long long)same, (long long)bytes, done ? "" : ": not done");
  free(pairs);
  fl_part_mem_reset(&mem);
  fl_array_unref(keys);
}

static void test_all_bits(FlRun *run) {
  static const int64_t rows[] = {16384, 16385, 70001, 1000000};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    int64_t n = rows[k];
    for (int64_t share = 1; share <= 2; share *= 2) {
      test_bits(run, n, 0, n / share, true);
      test_bits(run, n, 1, n / share, true);
      test_bits(run, n, 50, n / share, false);
      test_bits(run, n, 1000, n / share, false);
    }
    test_bits(run, n, 5, n / 4, false); /* too few bits */
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMITED /* else the sanitizers' own memory would fill the limit */
#endif
#ifdef LIMITED

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* `far`: the codes do not fit in memory either, as they are more than the two fifths of the limit that blocks
 * get. */
static void test_coded(FlCtx *ctx, const int64_t *rows, int64_t m, bool far) {
  FlArray *from = coded_texts(ctx, CODED, 1 << 17), *to = fl_array_new(ctx, FL_TEXT, 1, &m);
  FlTakeColumn c = {.from = from, .to = to, .row_bytes = sizeof(FlText), .checked = true, .bad = INT64_MAX};
  c.known = fl_text_codes(from, &c.codes);
  CHECK(c.known != NULL && (c.to_codes = fl_buffer_new(ctx, m * (int64_t)sizeof(uint32_t))) != NULL);
  check(fl_take_is_far(ctx, &c, 1, m) == far, "codes are looked up %s", far ? "by windows" : "in memory");
  CHECK(fl_take_far(ctx, &c, 1, rows, m) == 0 && atomic_load(&c.missing));
  int64_t wrong = -1;
  for (int64_t i = 0; i < m && wrong < 0; i++) {
    FlText found = ((const FlText *)to->data)[i], expected = {0};
    if (rows[i] >= 0) expected = ((const FlText *)from->data)[rows[i]];
    bool same = found.ptr == expected.ptr && found.len == expected.len;
    if (!same || (rows[i] >= 0 && ((const uint32_t *)c.to_codes->data)[i] != rows[i] % (1 << 17))) wrong = i;
  }
  check(wrong < 0, "rows of texts with codes: place %lld", (long long)wrong);
  fl_buffer_unref(c.to_codes);
  fl_array_unref(from);
  fl_array_unref(to);
}

/* Rows of elements of each size, of arrays in files, by numbers that jump; some are none. */
static void test_rows(FlRun *run, bool far_codes) {
  static const struct {
    int32_t dtype;
    int64_t width;
  } kinds[] = {{FL_U8, 1}, {FL_I16, 1}, {FL_F32, 1}, {FL_F64, 1}, {FL_F64, 2}, {FL_F64, 3}, {FL_U8, 5}};
  enum { KINDS = sizeof kinds / sizeof *kinds, M = N * 4 / 3 };
  FlCtx *ctx = fl_run_ctx(run);
  FlTakeColumn columns[KINDS];
  int64_t m = M;
  FlArray *numbers = fl_array_new(ctx, FL_I64, 1, &m), *filler[8];
  int64_t fill = 4 * MIB;
  for (int k = 0; k < 8; k++)
    filler[k] = fl_array_new(ctx, FL_U8, 1, &fill); /* from here on blocks are files */
  int64_t *rows = numbers->data;
  for (int64_t i = 0; i < M; i++) rows[i] = draw() % 16 ? (int64_t)(draw() % N) : -1;
  for (int k = 0; k < KINDS; k++) {
    int64_t dims[2] = {N, kinds[k].width}, to[2] = {M, kinds[k].width};
    FlArray *from = fl_array_new(ctx, kinds[k].dtype, kinds[k].width > 1 ? 2 : 1, dims);
    size_t bytes = (size_t)fl_array_bytes(from);
    for (size_t b = 0; b < bytes; b++) ((uint8_t *)from->data)[b] = (uint8_t)draw();
    columns[k] = (FlTakeColumn){.from = from,
                                .to = fl_array_new(ctx, kinds[k].dtype, kinds[k].width > 1 ? 2 : 1, to),
                                .row_bytes = bytes / N,
                                .checked = true,
                                .bad = INT64_MAX};
  }
  check(fl_take_is_far(ctx, columns, KINDS, m),
        "the arrays are in files and larger than what there is room for");
  check(!fl_take_is_far(ctx, columns, KINDS, 3) && columns[5].few,
        "a few of their rows are looked up where they are");
  FlArray *few = fl_part_take(ctx, columns[5].from, rows, 3);
  for (int64_t i = 0; few && i < 3; i++) {
    static const double none[3];
    const double *from = rows[i] < 0 ? none : (const double *)columns[5].from->data + 3 * rows[i];
    bool same = memcmp((const double *)few->data + 3 * i, from, sizeof none) == 0;
    check(same, "row %lld of a few", (long long)i);
  }
  CHECK(few != NULL);
  fl_array_unref(few);
  CHECK(fl_take_far(ctx, columns, KINDS, rows, m) == 0);
  for (int k = 0; k < KINDS; k++) {
    const FlTakeColumn *c = &columns[k];
    int64_t wrong = -1;
    static const char zero[64];
    for (int64_t i = 0; i < M && wrong < 0; i++) {
      const char *from = rows[i] < 0 ? zero : (const char *)c->from->data + rows[i] * (int64_t)c->row_bytes;
      if (memcmp((const char *)c->to->data + i * (int64_t)c->row_bytes, from, c->row_bytes) != 0) wrong = i;
    }
    check(wrong < 0, "rows of %zu bytes: place %lld", c->row_bytes, (long long)wrong);
    fl_array_unref(c->from);
    fl_array_unref(c->to);
  }
  for (int64_t i = 0; i < M; i++)
    if (rows[i] >= 0) rows[i] *= CODED / N;
  for (int k = 0; k < 8 && !far_codes; k++) fl_array_unref(filler[k]); /* makes room */
  test_coded(ctx, rows, m, far_codes);
  for (int k = 0; k < 8 && far_codes; k++) fl_array_unref(filler[k]);
  fl_array_unref(numbers);
}

/* Groups and first rows by a table of ranges of the words: key k is in group k, rows without a key are the
 * last. */
static void test_tables(FlRun *run) {
  enum { ROWS = 1500000, KEYS = ROWS / 3 };
  FlPartMem mem = {.ctx = fl_run_ctx(run)};
  int64_t n = ROWS;
  FlArray *keys = fl_array_new(mem.ctx, FL_I64, 1, &n), *valid = fl_array_new(mem.ctx, FL_BOOL, 1, &n);
  int64_t *key = keys->data, *first = malloc((2 * KEYS + 1) * sizeof *first);
  uint8_t *there = valid->data;
  for (int64_t k = 0; k <= 2 * KEYS; k++) first[k] = -1;
  for (int64_t i = 0; i < n; i++) {
    key[i] = i < KEYS ? i * 499979 % KEYS * 2 : (int64_t)(draw() % KEYS) * 2; /* odd ones are not there */
    there[i] = draw() % 1000 != 0 || i < KEYS;
    int64_t k = there[i] ? key[i] : 2 * KEYS;
    if (first[k] < 0) first[k] = i;
  }
  FlPartKey by = {.side = {{.dtype = FL_I64, .n = n, .data = key, .valid = there, .array = keys}}};
  FlPartCodes codes;
  FlPartGroups groups = {0};
  CHECK(fl_part_encode(&mem, &by, 1, 1, true, &codes) == 0);
  int64_t sweeps = fl_part_table_sweeps(&mem, &codes, 0);
  check(sweeps > 1 && sweeps < 32, "the table is one of %lld ranges", (long long)sweeps);
  CHECK(fl_part_group_words(&mem, &codes, 0, true, NULL, &groups) == 0 && groups.g == KEYS + 1);
  bool right = true;
  for (int64_t i = 0; i < n; i++) right &= groups.id[i] == (there[i] ? key[i] / 2 : KEYS);
  for (int64_t g = 0; g < groups.g; g++) right &= groups.first[g] == first[2 * g];
  check(right, "groups by ranges of a table");
  uint64_t *bits = fl_part_zalloc(&mem, n / 64 + 1, sizeof *bits);
  CHECK(fl_part_mark_table(&mem, &codes, bits) == 0);
  right = true;
  for (int64_t i = 0; i < n; i++)
    right &= (bits[i / 64] >> i % 64 & 1) == (first[there[i] ? key[i] : 2 * KEYS] == i);
  check(right, "first rows by ranges of a table");
  free(first);
  fl_part_mem_reset(&mem);
  fl_array_unref(keys);
  fl_array_unref(valid);
}

enum { AGGS = 9, COLUMNS = 3 };

/* What an aggregate gives of a column, as a number of all bits; whole or part by part. */
static uint64_t aggregate(FlCtx *ctx, const char *name, FlDtype result, const FlPartCol *col,
                          const FlArray *id, int64_t g, bool parts) {
  FlPartMem mem = {.ctx = ctx};
  FlType1 type = {.dtype = (uint8_t)result};
  FlOpDesc desc = {.result_types = &type};
  const FlAggRow *row = fl_agg_find(name, strlen(name));
  FlAgg a = {.m = &mem, .desc = &desc, .n = col->n, .g = g, .id = id->data, .col = {*col}, .n_cols = 1};
  check(fl_agg_is_large(&a) == parts, "%s: what is kept of groups is %s", name, parts ? "large" : "small");
  bool done = row != NULL && (parts ? fl_agg_parts(&(FlAggWanted){&a, row}, 1) : fl_agg_make(&a, row)) == 0;
  check(done && a.value->dims[0] == g && (FlDtype)a.value->dtype == result, "%s is done", name);
  uint64_t bits = 0;
  for (int64_t k = 0; k < g && done; k++) {
    bits = (bits ^ ((const uint64_t *)a.value->data)[k]) * UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ bits >> 31) + ((const uint8_t *)a.valid->data)[k];
  }
  fl_part_mem_reset(&mem);
  fl_array_unref(a.value);
  fl_array_unref(a.valid);
  return bits;
}

/* Some aggregates of columns with nulls, NaN and both zeros, by groups of which some have one row or no
 * value. */
static void aggregates(FlRun *run, bool parts, uint64_t found[AGGS][COLUMNS]) {
  enum { ROWS = 600000, GROUPS = 250000 };
  static const struct {
    const char *name;
    FlDtype of_floats, of_ints;
  } cases[AGGS] = {{"sum", FL_F64, FL_I64},    {"mean", FL_F64, FL_F64},  {"min", FL_F64, FL_I64},
                   {"max", FL_F64, FL_I64},    {"first", FL_F64, FL_I64}, {"last", FL_F64, FL_I64},
                   {"median", FL_F64, FL_F64}, {"var", FL_F64, FL_F64},   {"n_distinct", FL_I64, FL_I64}};
  FlCtx *ctx = fl_run_ctx(run);
  int64_t n = ROWS;
  FlArray *floats = fl_array_new(ctx, FL_F64, 1, &n), *ints = fl_array_new(ctx, FL_I64, 1, &n),
          *valid = fl_array_new(ctx, FL_BOOL, 1, &n), *id = fl_array_new(ctx, FL_I64, 1, &n);
  seed = 99; /* the same each time */
  for (int64_t i = 0; i < n; i++) {
    ((double *)floats->data)[i] = float_of(i & 1);
    ((int64_t *)ints->data)[i] = (int64_t)(draw() % 9) - 4;
    ((uint8_t *)valid->data)[i] = draw() % 4 != 0;
    ((int64_t *)id->data)[i] = i < GROUPS ? i * 7919 % GROUPS : (int64_t)(draw() % GROUPS);
  }
  FlPartCol columns[COLUMNS] = {{FL_F64, n, floats->data, valid->data, floats},
                                {FL_I64, n, ints->data, valid->data, ints},
                                {FL_I64, n, ints->data, NULL, ints}};
  for (int k = 0; k < AGGS; k++) {
    for (int c = 0; c < COLUMNS; c++) {
      FlDtype result = c == 0 ? cases[k].of_floats : cases[k].of_ints;
      uint64_t bits = aggregate(ctx, cases[k].name, result, &columns[c], id, GROUPS, parts);
      check(!parts || bits == found[k][c], "%s of column %d, part by part", cases[k].name, c);
      found[k][c] = bits;
    }
  }
  fl_array_unref(floats), fl_array_unref(ints), fl_array_unref(valid), fl_array_unref(id);
}
#endif

#ifdef LIMITED
/* What is looked up in any order stays in memory: in a file each row would be a page, read and written again.
 */
static void end(FlRun *run) {
  int64_t far = fl_pool_far(fl_ctx_pool(fl_run_ctx(run)));
  check(far == 0, "%lld blocks that are looked up in any order are in files", (long long)far);
  fl_run_free(run);
}
#endif

int main(int argc, char **argv) {
  bool all = getenv("FLOW_TEST_ALL") || (argc > 1 && strcmp(argv[1], "--all") == 0);
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  test_orders(run, all ? ALL : 0);
#ifdef LIMITED
  uint64_t whole[AGGS][COLUMNS];
  aggregates(run, false, whole);
#endif
  fl_run_free(run);
#ifdef LIMITED
  run = fl_run_new(NULL,
                   &(FlRunOptions){.workers = 2, .quiet = true, .memory = 48 * MIB, .keep = fl_process_keep});
  test_orders(run, all ? ALL : 1);
  test_rows(run, false);
  end(run);
  run = fl_run_new(NULL,
                   &(FlRunOptions){.workers = 2, .quiet = true, .memory = 12 * MIB, .keep = fl_process_keep});
  test_tables(run);
  end(run);
  run = fl_run_new(NULL,
                   &(FlRunOptions){.workers = 2, .quiet = true, .memory = 8 * MIB, .keep = fl_process_keep});
  test_rows(run, true);
  end(run);
  run = fl_run_new(NULL,
                   &(FlRunOptions){.workers = 5, .quiet = true, .memory = 12 * MIB, .keep = fl_process_keep});
  test_tables(run); /* marks of several stretches of the rows */
  end(run);
  run = fl_run_new(NULL,
                   &(FlRunOptions){.workers = 2, .quiet = true, .memory = 20 * MIB, .keep = fl_process_keep});
  aggregates(run, true, whole);
  end(run);
#endif
  for (int workers = 2; workers <= 5;
       workers += 3) { /* last: what it leaves to the C library counts to a limit */
    run = fl_run_new(NULL, &(FlRunOptions){.workers = workers, .quiet = true});
    test_all_bits(run);
    fl_run_free(run);
  }
  return finish();
}
