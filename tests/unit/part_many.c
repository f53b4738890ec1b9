/* part_many.c: nearly as many groups as rows: grouping by sorting in buckets, and counts and sums of many
 * groups, against plain sorting and adding. */
#include "part_kit.h"

enum { SPREAD, AGREEING, UNEVEN, TWO_WORDS, DOUBLES };

static uint64_t key_of(Kit *k, int shape) {
  uint64_t r = draw(k);
  switch (shape) {
  case AGREEING: /* all differ within the lowest 12 bits of some thousand heads, far from the first bits that
                    differ */
    return (r >> 52) << 50 | (r & 0xfff);
  case UNEVEN: return r % 8 ? r >> 20 : r;
  default: return r >> 2;
  }
}

typedef struct Row {
  int64_t first, second, row;
} Row;

static int by_key(const void *x, const void *y) {
  const Row *a = x, *b = y;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->second != b->second) return a->second < b->second ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

static int64_t code_of(double v) {
  int64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits; /* of positive numbers: their order */
}

static void test_many(Kit *k, int shape, int64_t n) {
  char what[64];
  snprintf(what, sizeof what, "shape %d, %lld rows", shape, (long long)n);
  bool doubles = shape == DOUBLES;
  FlArray *key = fl_array_new(k->ctx, doubles ? FL_F64 : FL_I64, 1, &n),
          *second = fl_array_new(k->ctx, FL_I64, 1, &n);
  FlArray *x = fl_array_new(k->ctx, FL_F64, 1, &n);
  Row *rows = malloc((size_t)n * sizeof *rows);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = (int64_t)key_of(k, shape);
    ((int64_t *)second->data)[i] = (int64_t)draw(k);
    ((double *)x->data)[i] = (double)((int64_t)(draw(k) % 2000001) - 1000000) / 64;
    rows[i] = (Row){v, shape == TWO_WORDS ? ((int64_t *)second->data)[i] : 0, i};
    if (doubles) {
      double d = (double)(v >> 10) / 1e6;
      ((double *)key->data)[i] = d;
      rows[i].first = code_of(d);
    } else {
      ((int64_t *)key->data)[i] = v;
    }
    if (i % 50 == 49) { /* some keys twice */
      memcpy((int64_t *)key->data + i, (int64_t *)key->data + i / 2, sizeof v);
      ((int64_t *)second->data)[i] = ((int64_t *)second->data)[i / 2];
      rows[i] = (Row){rows[i / 2].first, rows[i / 2].second, i};
    }
  }
  Call group = {0}, count = {.s = "count"}, sum = {.s = "sum"};
  put_column(&group, (Column){key, NULL}, false);
  if (shape == TWO_WORDS) put_column(&group, (Column){second, NULL}, false);
  FlSlot g[3], c[2], s[2];
  check(k, call(k, fl_rt_group, &group, g) == 0, what);
  Row *sorted = malloc((size_t)n * sizeof *sorted);
  memcpy(sorted, rows, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, by_key);
  double *sums = calloc((size_t)n, sizeof *sums);
  int64_t *counts = calloc((size_t)n, sizeof *counts), groups = 0;
  bool same = true;
  for (int64_t i = 0; i < n; i++) {
    bool begins =
        i == 0 || sorted[i].first != sorted[i - 1].first || sorted[i].second != sorted[i - 1].second;
    groups += begins;
    same = same && ((int64_t *)g[1].a->data)[sorted[i].row] == groups - 1;
    if (begins) same = same && groups <= g[0].i && ((int64_t *)g[2].a->data)[groups - 1] == sorted[i].row;
    counts[groups - 1]++;
    sums[groups - 1] += ((double *)x->data)[sorted[i].row]; /* multiples of 1/64: exact in any order */
  }
  check(k, same && groups == g[0].i, what);
  put_int(&count, g[0].i);
  put_array(&count, g[1].a);
  put_int(&sum, g[0].i);
  put_array(&sum, g[1].a);
  put_column(&sum, (Column){x, NULL}, false);
  count.result_types[0] = (FlType1){FL_I64, 1, 0, 0};
  sum.result_types[0] = (FlType1){FL_F64, 1, 0, 0};
  count.result_types[1] = sum.result_types[1] = (FlType1){FL_BOOL, 1, 0, 0};
  check(k, call(k, fl_rt_aggregate, &count, c) == 0 && call(k, fl_rt_aggregate, &sum, s) == 0, what);
  check(k, memcmp(c[0].a->data, counts, (size_t)groups * sizeof *counts) == 0, what);
  bool equal = true;
  for (int64_t i = 0; i < groups; i++) equal = equal && ((double *)s[0].a->data)[i] == sums[i];
  check(k, equal, what);
  see(k, g[1].a);
  see(k, s[0].a);
  for (int r = 0; r < 2; r++) {
    fl_array_unref(g[r + 1].a);
    fl_array_unref(c[r].a);
    fl_array_unref(s[r].a);
  }
  fl_array_unref(key);
  fl_array_unref(second);
  fl_array_unref(x);
  free(rows);
  free(sorted);
  free(sums);
  free(counts);
}

static void tests(Kit *k) {
  test_many(k, SPREAD, 330000);
  test_many(k, AGREEING, 270000);
  test_many(k, UNEVEN, 270000);
  test_many(k, TWO_WORDS, 270000);
  test_many(k, DOUBLES, 270000);
}

int main(void) { return run_kit(tests); }
