/* part_top.c: top_rows against sorting everything. */
#include "part_kit.h"

static int64_t group_at(const FlArray *groups, int64_t row) {
  return groups != NULL ? ((const int64_t *)groups->data)[row] : 0;
}

static void test_top(Kit *k, int kind, int64_t n, int nulls, int64_t g, int64_t kept, bool descending) {
  char what[96];
  snprintf(what, sizeof what, "kind %d, %lld rows, %lld groups, %lld kept", kind, (long long)n, (long long)g,
           (long long)kept);
  Column key = make_column(k, kind, n, nulls);
  FlArray *groups = g > 0 ? fl_array_new(k->ctx, FL_I64, 1, &n) : NULL;
  for (int64_t i = 0; g > 0 && i < n; i++) ((int64_t *)groups->data)[i] = (int64_t)(draw(k) % (uint64_t)g);
  Call top = {.i = g > 0}, sort = {0};
  put_int(&top, kept);
  if (g > 0) put_column(&top, (Column){groups, NULL}, false);
  if (g > 0) put_column(&sort, (Column){groups, NULL}, false);
  put_column(&top, key, descending);
  put_column(&sort, key, descending);
  FlSlot found, all;
  check(k, call(k, fl_rt_top_rows, &top, &found) == 0 && call(k, fl_rt_sort_perm, &sort, &all) == 0, what);
  const int64_t *rows = all.a->data, *got = found.a->data;
  int64_t at = 0, of_group = 0;
  bool same = true;
  for (int64_t i = 0; i < n; i++) {
    of_group = i > 0 && group_at(groups, rows[i]) == group_at(groups, rows[i - 1]) ? of_group + 1 : 0;
    if (of_group >= kept) continue;
    same = same && at < found.a->dims[0] && got[at] == rows[i];
    at++;
  }
  check(k, same && at == found.a->dims[0], what);
  see(k, found.a);
  fl_array_unref(found.a);
  fl_array_unref(all.a);
  fl_array_unref(groups);
  drop_column(key);
}

static void tests(Kit *k) {
  static const int64_t sizes[] = {0, 1, 7, 900, 70000}, groups[] = {0, 1, 5, 300},
                       kept[] = {-1, 0, 1, 2, 17, 100};
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int s = 0; s < 5; s++) {
      for (int g = 0; g < 4; g++) {
        for (int j = 0; j < 6; j++) {
          if (s == 4 && (kind + g + j) % 5 != 0) continue;
          test_top(k, kind, sizes[s], (kind + j) % 3 * 3, groups[g], kept[j], j % 2);
        }
      }
    }
  }
}

int main(void) { return run_kit(tests); }
