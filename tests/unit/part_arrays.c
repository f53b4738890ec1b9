/* part_arrays.c: choosing rows, joining, views and lists of arrays against plain loops. */
#include "part_array_kit.h"

#include <sys/mman.h>

/* ---- arrays ------------------------------------------------------------------------------------------- */

static FlArray *make_list(Kit *k, int32_t dtype, int32_t rank, int64_t n, bool same_size) {
  FlArray *list = fl_array_new(k->ctx, FL_LIST, 1, &n);
  for (int64_t i = 0; i < n; i++) {
    int64_t dims[3] = {same_size ? 4 : (int64_t)(draw(k) % 5), 3, 2};
    ((FlArray **)list->data)[i] = make_array(k, dtype, rank, dims);
  }
  return list;
}

static bool zeros(const FlArray *a, int64_t i, int64_t count) {
  int64_t size = fl_dtype_info[a->dtype].bytes;
  for (int64_t b = 0; b < count * size; b++)
    if (((char *)a->data)[i * size + b]) return false;
  return true;
}

static FlType1 type_of(const FlArray *a) { return (FlType1){(uint8_t)a->dtype, (uint8_t)a->rank, 0, 0}; }

static void test_choosing(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], width = fl_array_row_count(a), m = n > 0 ? 2 * n / 3 + 1 : 0;
  FlSlot r[3];
  for (int missing = 0; missing < 2; missing++) {
    FlArray *rows = n > 0 || missing ? rows_of(k, n > 0 ? m : 3, missing ? -1 : 0, n) : rows_of(k, 0, 0, 1);
    Call c = {.i = missing};
    put_array(&c, rows);
    put_array(&c, a);
    put_array(&c, a);
    if (!runs(k, fl_rt_take, &c, r, 0, what)) continue;
    bool ok = r[0].a->dims[0] == rows->dims[0] && r[0].a->rank == a->rank;
    for (int64_t i = 0; ok && i < rows->dims[0]; i++) {
      int64_t row = ((int64_t *)rows->data)[i];
      ok = row < 0 ? zeros(r[0].a, i * width, width) : same(r[0].a, i * width, a, row * width, width);
    }
    check(k, ok && same(r[0].a, 0, r[1].a, 0, fl_array_count(r[0].a)), what);
    if (a->dtype != FL_LIST || !missing) see(k, r[0].a);
    fl_array_unref(r[0].a);
    fl_array_unref(r[1].a);
    fl_array_unref(rows);
  }
  FlArray *mask = make_array(k, FL_BOOL, 1, &n);
  Call c = {0};
  put_array(&c, mask);
  put_array(&c, a);
  if (runs(k, fl_rt_compress, &c, r, 0, what)) {
    int64_t at = 0;
    bool ok = r[0].i == r[1].a->dims[0];
    for (int64_t i = 0; ok && i < n; i++) {
      if (((uint8_t *)mask->data)[i]) ok = at < r[0].i && same(r[1].a, at++ * width, a, i * width, width);
    }
    check(k, ok && at == r[0].i, what);
    fl_array_unref(r[1].a);
  }
  fl_array_unref(mask);
  int64_t longer = n + 1;
  mask = make_array(k, FL_BOOL, 1, &longer);
  Call wrong = {0};
  put_array(&wrong, mask);
  put_array(&wrong, a);
  runs(k, fl_rt_compress, &wrong, r, 708, "a mask of another length");
  fl_array_unref(mask);
}

static void test_joining(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], width = fl_array_row_count(a);
  FlSlot r[1], view[1];
  Call rows = {0}, c = {.result_types = {type_of(a)}};
  if (a->dtype == FL_LIST) c.result_types[0] = (FlType1){FL_F64, 1, 1, 0};
  put_array(&rows, a);
  put_int(&rows, n / 3);
  put_int(&rows, n / 3 * 2);
  if (!runs(k, fl_rt_rows, &rows, view, 0, what)) return;
  check(k,
        view[0].a->dims[0] == n / 3 * 2 - n / 3 &&
            same(view[0].a, 0, a, n / 3 * width, view[0].a->dims[0] * width) &&
            view[0].a->buffer == a->buffer,
        what);
  put_array(&c, a);
  put_array(&c, view[0].a);
  put_array(&c, a);
  if (runs(k, fl_rt_concat, &c, r, 0, what)) {
    int64_t part = view[0].a->dims[0];
    check(k,
          r[0].a->dims[0] == 2 * n + part && same(r[0].a, 0, a, 0, n * width) &&
              same(r[0].a, n * width, view[0].a, 0, part * width) &&
              same(r[0].a, (n + part) * width, a, 0, n * width),
          what);
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  fl_array_unref(view[0].a);
  static const int64_t bounds[4][2] = {{-1, 0}, {1, 0}, {0, 1}, {1, 1}};
  for (int b = 0; b < 4; b++) {
    Call bad = {0};
    put_array(&bad, a);
    put_int(&bad, bounds[b][0] + (b >= 2 ? n : 0));
    put_int(&bad, bounds[b][1] + (b >= 2 ? n : 0));
    runs(k, fl_rt_rows, &bad, r, 704, "rows out of bounds");
  }
}

static void test_shapes(Kit *k, FlArray *a, const char *what) {
  int64_t n = a->dims[0], d = fl_array_row_count(a);
  FlSlot flat[1], matrix[1], flipped[1];
  Call one = {0}, two = {0}, bad = {0}, flip = {0};
  put_array(&one, a);
  put_int(&one, n * d);
  if (!runs(k, fl_rt_reshape, &one, flat, 0, what)) return;
  check(k, flat[0].a->rank == 1 && flat[0].a->dims[0] == n * d && flat[0].a->data == a->data, what);
  put_array(&two, flat[0].a);
  put_int(&two, n);
  put_int(&two, d);
  put_array(&bad, a);
  put_int(&bad, n * d + 1);
  runs(k, fl_rt_reshape, &bad, matrix, 708, "another number of elements");
  if (runs(k, fl_rt_reshape, &two, matrix, 0, what)) {
    put_array(&flip, matrix[0].a);
    if (runs(k, fl_rt_transpose, &flip, flipped, 0, what)) {
      bool ok = flipped[0].a->dims[0] == d && flipped[0].a->dims[1] == n;
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) ok &= same(flipped[0].a, j * n + i, a, i * d + j, 1);
      check(k, ok, what);
      fl_array_unref(flipped[0].a);
    }
    fl_array_unref(matrix[0].a);
  }
  fl_array_unref(flat[0].a);
}

/* Rows of a view that begins at an odd address. */
static void test_unaligned(Kit *k) {
  int64_t n = 1025, size = 4;
  FlArray *bytes = make_array(k, FL_U8, 1, &n);
  FlSlot tail[1], wide[1];
  Call c = {0}, shape = {0};
  put_array(&c, bytes);
  put_int(&c, 1);
  put_int(&c, n);
  if (runs(k, fl_rt_rows, &c, tail, 0, "a view")) {
    put_array(&shape, tail[0].a);
    put_int(&shape, (n - 1) / size);
    put_int(&shape, size);
    if (runs(k, fl_rt_reshape, &shape, wide, 0, "a view as matrix")) {
      test_choosing(k, wide[0].a, "an unaligned view");
      fl_array_unref(wide[0].a);
    }
    fl_array_unref(tail[0].a);
  }
  fl_array_unref(bytes);
}

/* ---- lists -------------------------------------------------------------------------------------------- */

static void test_lists(Kit *k, int32_t dtype, int32_t rank, int64_t n) {
  FlSlot r[1];
  FlArray *list = make_list(k, dtype, rank, n, false), *even = make_list(k, dtype, rank, n, true);
  FlArray **items = list->data;
  Call c = {.result_types = {{(uint8_t)dtype, (uint8_t)rank, 0, 0}}};
  put_array(&c, list);
  if (runs(k, fl_rt_list_concat, &c, r, 0, "list_concat")) {
    int64_t at = 0;
    bool ok = r[0].a->rank == rank && r[0].a->dtype == dtype;
    for (int64_t i = 0; i < n; i++) {
      ok &= same(r[0].a, at, items[i], 0, fl_array_count(items[i]));
      at += fl_array_count(items[i]);
    }
    check(k, ok && fl_array_count(r[0].a) == at, "list_concat");
    see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  Call stack = {.result_types = {{(uint8_t)dtype, (uint8_t)(rank + 1), 0, 0}}};
  put_array(&stack, even);
  if (runs(k, fl_rt_list_stack, &stack, r, 0, "list_stack")) {
    bool ok = r[0].a->rank == rank + 1 && r[0].a->dims[0] == n;
    int64_t each = n > 0 ? fl_array_count(((FlArray **)even->data)[0]) : 0;
    for (int64_t i = 0; i < n; i++) ok &= same(r[0].a, i * each, ((FlArray **)even->data)[i], 0, each);
    check(k, ok && fl_array_count(r[0].a) == n * each, "list_stack");
    see(k, r[0].a);
    /* texts stay readable when their sources are gone */
    fl_array_unref(even);
    even = NULL;
    (void)fl_array_digest(r[0].a);
    fl_array_unref(r[0].a);
  }
  if (n > 1) {
    Call of = {0}, uneven = {.result_types = {{(uint8_t)dtype, (uint8_t)(rank + 1), 0, 0}}};
    for (int64_t i = 0; i < 2; i++) put_array(&of, items[i]);
    if (runs(k, fl_rt_list_of, &of, r, 0, "list_of")) {
      check(k, r[0].a->dims[0] == 2 && ((FlArray **)r[0].a->data)[1] == items[1], "list_of");
      put_array(&uneven, r[0].a);
      if (items[0]->dims[0] != items[1]->dims[0]) {
        FlSlot none[1];
        runs(k, fl_rt_list_stack, &uneven, none, 708, "a stack of different sizes");
      }
      fl_array_unref(r[0].a);
    }
  }
  test_choosing(k, list, "rows of a list");
  test_joining(k, list, "parts of a list");
  fl_array_unref(list);
  fl_array_unref(even);
}

/* How many pages of an array's numbers are in memory. */
static int64_t resident(const FlArray *a) {
  enum { PAGE = 4096 };
  size_t bytes = (size_t)fl_array_bytes(a) / PAGE * PAGE;
  unsigned char *there = calloc(bytes / PAGE, 1);
  int64_t n = 0;
  if (there == NULL || mincore(a->data, bytes, there) != 0) abort();
  for (size_t i = 0; i < bytes / PAGE; i++) n += there[i] & 1;
  free(there);
  return n;
}

/* Rows that lie as the stack has them are the stack; those of the same memory in another order, twice, or
 * without the last are not. */
static void test_laid(Kit *k, int32_t dtype) {
  enum { ROWS = 6, EACH = 35 };
  static const int64_t orders[][ROWS] = {
      {0, 1, 2, 3, 4, 5}, {0, 1, 2, 4, 3, 5}, {5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 4}, {0, 1, 2, 3, 4, -1}};
  int64_t dims[] = {ROWS, EACH};
  FlArray *a = make_array(k, dtype, 2, dims);
  for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
    int64_t n = orders[o][ROWS - 1] < 0 ? ROWS - 1 : ROWS;
    FlArray *list = fl_array_new(k->ctx, FL_LIST, 1, &n);
    for (int64_t i = 0; i < n; i++)
      ((FlArray **)list->data)[i] = fl_array_over(
          k->ctx, a->buffer, (char *)a->data + orders[o][i] * EACH * (int64_t)fl_dtype_info[dtype].bytes,
          dtype, 1, dims + 1);
    Call stack = {.result_types = {{(uint8_t)dtype, 2, 0, 0}}};
    FlSlot r[1];
    put_array(&stack, list);
    if (runs(k, fl_rt_list_stack, &stack, r, 0, "laid rows")) {
      bool ok = r[0].a->rank == 2 && r[0].a->dims[0] == n && r[0].a->dims[1] == EACH;
      for (int64_t i = 0; i < n; i++) ok &= same(r[0].a, i * EACH, a, orders[o][i] * EACH, EACH);
      check(k, ok, "laid rows");
      check(k, (r[0].a->buffer == a->buffer) == (o == 0 && dtype != FL_TEXT), "laid rows are the stack");
      fl_array_unref(r[0].a);
    }
    fl_array_unref(list);
  }
  fl_array_unref(a);
}

/* Numbers that nobody reads afterwards are replaced by rows of their own size, or lose their memory; those
 * that somebody else holds keep it. In order: one sweep takes all arrays. */
static void test_spent(Kit *k, int32_t dtype, int32_t other, bool in_order) {
  int64_t m = 600000, n = 70000;
  FlArray *a = make_array(k, dtype, 1, &n), *b = make_array(k, other, 1, &n), *numbers = rows_of(k, m, 0, n);
  int64_t *row = numbers->data;
  for (int64_t i = 0; in_order && i < m; i++) row[i] = i * n / m;
  FlArray *held = fl_array_ref(numbers);
  FlSlot kept[2], spent[2];
  Call c = {.i = FL_TAKE_PROVEN | FL_TAKE_LAST};
  put_array(&c, numbers);
  put_array(&c, a);
  put_array(&c, b);
  int64_t pages = resident(numbers);
  bool first = runs(k, fl_rt_take, &c, kept, 0, "numbers that are held");
  check(k, resident(numbers) == pages, "numbers that are held stay");
  fl_array_unref(held);
  bool second = runs(k, fl_rt_take, &c, spent, 0, "spent numbers");
  int in_place = dtype == FL_F64 ? 0 : 1;
  if (fl_dtype_info[dtype].bytes == 8 || fl_dtype_info[other].bytes == 8) {
    check(k, second && spent[in_place].a->data == numbers->data, "spent numbers are replaced");
    check(k, second && spent[!in_place].a->data != numbers->data, "spent numbers are replaced once");
  } else {
    check(k, resident(numbers) < pages / 10, "spent numbers go");
  }
  for (int r = 0; first && second && r < 2; r++)
    check(k, same(kept[r].a, 0, spent[r].a, 0, m), "spent numbers choose the same rows");
  for (int r = 0; r < 2; r++) {
    if (first) fl_array_unref(kept[r].a);
    if (second) fl_array_unref(spent[r].a);
  }
  fl_array_unref(numbers);
  fl_array_unref(a);
  fl_array_unref(b);
}

static void tests(Kit *k) {
  static const int32_t dtypes[] = {FL_BOOL, FL_I16, FL_I32, FL_F64, FL_TEXT};
  static const int64_t sizes[] = {0, 1, 5, 700, 140000};
  for (int t = 0; t < 5; t++) {
    for (int s = 0; s < 5; s++) {
      for (int32_t rank = 1; rank <= (s == 4 ? 1 : 3); rank++) {
        int64_t dims[3] = {sizes[s], s == 1 ? 2 : 3, 2};
        FlArray *a = make_array(k, dtypes[t], rank, dims);
        char what[64];
        snprintf(what, sizeof what, "%s[%lld] of rank %d", fl_dtype_info[dtypes[t]].name, (long long)sizes[s],
                 rank);
        test_choosing(k, a, what);
        test_joining(k, a, what);
        test_shapes(k, a, what);
        fl_array_unref(a);
      }
    }
    for (int64_t n = 0; n < 40; n += n < 3 ? 1 : 17) {
      test_lists(k, dtypes[t], 1, n);
      test_lists(k, dtypes[t], 2, n);
    }
  }
  test_unaligned(k);
  for (int t = 0; t < 5; t++) test_laid(k, dtypes[t]);
  for (int t = 0; t < 5; t++) {
    for (int in_order = 0; in_order < 2; in_order++) {
      test_spent(k, dtypes[t], FL_F64, in_order);
      test_spent(k, dtypes[t], FL_I16, in_order);
    }
  }
}

int main(void) { return run_kit(tests); }
