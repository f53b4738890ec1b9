/* part_keys.c: sort_perm, group, distinct and join against plain sorting and nested loops. */
#include "part_kit.h"

/* -1, 0, 1 for two rows of two columns of one type, by the order of keys. */
static int compare(Column a, int64_t i, Column b, int64_t j, bool descending) {
  bool null_a = a.valid != NULL && !((uint8_t *)a.valid->data)[i];
  bool null_b = b.valid != NULL && !((uint8_t *)b.valid->data)[j];
  if (null_a || null_b) return (int)null_a - (int)null_b;
  int order = 0;
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))
  switch (a.value->dtype) {
  case FL_F64:
  case FL_F32: {
    bool wide = a.value->dtype == FL_F64;
    double x = wide ? ((double *)a.value->data)[i] : (double)((float *)a.value->data)[i];
    double y = wide ? ((double *)b.value->data)[j] : (double)((float *)b.value->data)[j];
    if (isnan(x) || isnan(y)) return (int)isnan(x) - (int)isnan(y);
    order = ORDER(x, y);
    break;
  }
  case FL_I64: order = ORDER(((int64_t *)a.value->data)[i], ((int64_t *)b.value->data)[j]); break;
  case FL_TEXT: {
    FlText x = ((FlText *)a.value->data)[i], y = ((FlText *)b.value->data)[j];
    int64_t n = x.len < y.len ? x.len : y.len;
    order = n > 0 ? memcmp(x.ptr, y.ptr, (size_t)n) : 0;
    order = order != 0 ? order : ORDER(x.len, y.len);
    break;
  }
  default: order = ORDER(((uint8_t *)a.value->data)[i], ((uint8_t *)b.value->data)[j]); break;
  }
  return descending ? -order : order;
}

typedef struct Sorting {
  const Column *columns;
  int n_columns;
  const bool *descending;
} Sorting;

static int by_keys(const void *x, const void *y, void *arg) {
  const Sorting *s = arg;
  int64_t i = *(const int64_t *)x, j = *(const int64_t *)y;
  for (int c = 0; c < s->n_columns; c++) {
    int order = compare(s->columns[c], i, s->columns[c], j, s->descending[c]);
    if (order != 0) return order;
  }
  return ORDER(i, j);
}

static bool same_keys(const Sorting *s, int64_t i, int64_t j) {
  for (int c = 0; c < s->n_columns; c++) {
    if (compare(s->columns[c], i, s->columns[c], j, false) != 0) return false;
  }
  return true;
}

static int64_t *sorted_rows(const Sorting *s, int64_t n) {
  int64_t *rows = malloc((size_t)(n + 1) * sizeof *rows);
  for (int64_t i = 0; i < n; i++) rows[i] = i;
  if (n > 0) qsort_r(rows, (size_t)n, sizeof *rows, by_keys, (void *)(uintptr_t)s);
  return rows;
}

static void test_keys(Kit *k, const int *kinds, int n_columns, int64_t n, int nulls) {
  Column columns[3];
  bool descending[3], ascending[3] = {false, false, false};
  Call sort = {0}, group = {0};
  char what[128];
  snprintf(what, sizeof what, "kinds %d %d %d, %d columns, %lld rows, nulls %d", kinds[0], kinds[1], kinds[2],
           n_columns, (long long)n, nulls);
  for (int c = 0; c < n_columns; c++) {
    columns[c] = make_column(k, kinds[c], n, c == 1 ? 0 : nulls);
    descending[c] = draw(k) & 1;
    put_column(&sort, columns[c], descending[c]);
    put_column(&group, columns[c], false);
  }
  FlSlot r[3];
  Sorting wanted = {columns, n_columns, descending};
  int64_t *rows = sorted_rows(&wanted, n);
  check(k, call(k, fl_rt_sort_perm, &sort, r) == 0 && r[0].a->dims[0] == n, what);
  check(k, memcmp(rows, r[0].a->data, (size_t)n * 8) == 0, what);
  fl_array_unref(r[0].a);
  free(rows);

  wanted.descending = ascending;
  rows = sorted_rows(&wanted, n);
  int64_t *id = malloc((size_t)(n + 1) * 8), *first = malloc((size_t)(n + 1) * 8), g = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || !same_keys(&wanted, rows[i - 1], rows[i])) first[g++] = rows[i];
    id[rows[i]] = g - 1;
  }
  check(k, call(k, fl_rt_group, &group, r) == 0 && r[0].i == g && r[2].a->dims[0] == g, what);
  check(k, memcmp(id, r[1].a->data, (size_t)n * 8) == 0, what);
  check(k, r[0].i == g && memcmp(first, r[2].a->data, (size_t)g * 8) == 0, what);
  fl_array_unref(r[1].a);
  fl_array_unref(r[2].a);

  check(k, call(k, fl_rt_distinct, &group, r) == 0 && r[0].a->dims[0] == g, what);
  int64_t at = 0;
  bool same = true;
  for (int64_t i = 0; i < n; i++) {
    if (first[id[i]] == i) same &= at < g && ((int64_t *)r[0].a->data)[at++] == i;
  }
  check(k, same && at == g, what);
  fl_array_unref(r[0].a);
  free(rows);
  free(id);
  free(first);
  for (int c = 0; c < n_columns; c++) drop_column(columns[c]);
}

/* ---- joins -------------------------------------------------------------------------------------------- */

static bool is_null(Column c, int64_t i) { return c.valid != NULL && !((uint8_t *)c.valid->data)[i]; }

static void test_join(Kit *k, const int *kinds, int n_keys, int64_t n, int64_t m, int nulls,
                      const char *how) {
  Column left[2], right[2];
  Call c = {.s = how};
  char what[96];
  snprintf(what, sizeof what, "%s join of %lld and %lld rows, kind %d, nulls %d", how, (long long)n,
           (long long)m, kinds[0], nulls);
  for (int j = 0; j < n_keys; j++) put_column(&c, left[j] = make_column(k, kinds[j], n, nulls), false);
  for (int j = 0; j < n_keys; j++)
    put_column(&c, right[j] = make_column(k, kinds[j], m, nulls == 1 ? 0 : nulls), false);
  int64_t *x = malloc((size_t)(n * m + n + m + 1) * 8), *y = malloc((size_t)(n * m + n + m + 1) * 8),
          rows = 0;
  uint8_t *seen = calloc((size_t)m + 1, 1);
  int64_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t found = 0;
    for (int64_t j = 0; j < m; j++) {
      bool match = true;
      for (int q = 0; q < n_keys; q++) {
        match &=
            !is_null(left[q], i) && !is_null(right[q], j) && compare(left[q], i, right[q], j, false) == 0;
      }
      if (!match) continue;
      found++;
      seen[j] = 1;
      if (strcmp(how, "semi") == 0 || strcmp(how, "anti") == 0) continue;
      x[rows] = i;
      y[rows++] = j;
    }
    most = found > most ? found : most;
    bool alone =
        found == 0 && (strcmp(how, "left") == 0 || strcmp(how, "full") == 0 || strcmp(how, "anti") == 0);
    if (alone || (found > 0 && strcmp(how, "semi") == 0)) {
      x[rows] = i;
      y[rows++] = -1;
    }
  }
  for (int64_t j = 0; j < m; j++) {
    if (seen[j] || (strcmp(how, "right") != 0 && strcmp(how, "full") != 0)) continue;
    x[rows] = -1;
    y[rows++] = j;
  }
  FlSlot r[3];
  check(k, call(k, fl_rt_join, &c, r) == 0 && r[0].i == rows && r[1].a->dims[0] == rows, what);
  check(k, r[0].i == rows && memcmp(x, r[1].a->data, (size_t)rows * 8) == 0, what);
  check(k, r[0].i == rows && memcmp(y, r[2].a->data, (size_t)rows * 8) == 0, what);
  fl_array_unref(r[1].a);
  fl_array_unref(r[2].a);
  free(x);
  free(y);
  free(seen);
  for (int j = 0; j < n_keys; j++) {
    drop_column(left[j]);
    drop_column(right[j]);
  }
}

static void tests(Kit *k) {
  static const int64_t sizes[] = {0, 1, 2, 33, 3000};
  for (int a = 0; a < N_KINDS; a++) {
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      for (int nulls = 0; nulls < 6; nulls += nulls == 1 ? 4 : 1) {
        int kinds[3] = {a, (a + 1 + (int)s) % N_KINDS, (a * 2 + 3) % N_KINDS};
        for (int n_columns = 1; n_columns <= 3; n_columns++) test_keys(k, kinds, n_columns, sizes[s], nulls);
      }
    }
  }
  test_keys(k, (int[3]){LONG_TEXTS, FLOATS, WIDE_INTS}, 1, 120000, 7);
  test_keys(k, (int[3]){WIDE_INTS, FLOATS, ALL_INTS}, 3, 120000, 7);
  test_keys(k, (int[3]){ALL_INTS, ALL_INTS, ALL_INTS}, 3, 120000, 5);
  static const char *const hows[] = {"inner", "left", "right", "full", "semi", "anti"};
  for (int a = 0; a < N_KINDS; a++) {
    for (int h = 0; h < 6; h++) {
      int kinds[2] = {a, (a + 4) % N_KINDS};
      test_join(k, kinds, 1, 60, 40, a % 3 == 0 ? 0 : 4, hows[h]);
      test_join(k, kinds, 2, 70, 90, 5, hows[h]);
      test_join(k, kinds, 1, h % 2 ? 0 : 5, h % 2 ? 5 : 0, 1, hows[h]);
    }
  }
}

int main(void) { return run_kit(tests); }
