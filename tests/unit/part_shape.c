/* part_shape.c: pivot_rows and join_asof against loops over all pairs. */
#include "part_array_kit.h"

/* ---- join_asof ---- */

static double place(Column c, int64_t i, bool *there) {
  double x = c.value->dtype == FL_F64   ? ((double *)c.value->data)[i]
             : c.value->dtype == FL_F32 ? (double)((float *)c.value->data)[i]
             : c.value->dtype == FL_U8  ? (double)((uint8_t *)c.value->data)[i]
                                        : (double)((int64_t *)c.value->data)[i];
  *there = (c.valid == NULL || ((uint8_t *)c.valid->data)[i]) && !isnan(x);
  return x;
}

static double apart(double x, double y) { return x == y ? 0.0 : fabs(x - y); }

/* The row of the right table by looking at all of them: the last of the greatest that are not after, the
 * first of the least that are not before, or the nearer of these. */
static int64_t nearest(Column left, Column right, int64_t row, const int64_t *lg, const int64_t *rg,
                       bool back, bool on, bool equal, double within) {
  bool there, other;
  double x = place(left, row, &there), below = 0, above = 0;
  int64_t before = -1, after = -1;
  for (int64_t j = 0; there && j < right.value->dims[0]; j++) {
    double y = place(right, j, &other);
    if (!other || (lg && lg[row] != rg[j]) || (y == x && !equal) || apart(x, y) > within) continue;
    if (back && y <= x && (before < 0 || y >= below)) {
      before = j;
      below = y;
    }
    if (on && y >= x && (after < 0 || y < above)) {
      after = j;
      above = y;
    }
  }
  if (before < 0 || after < 0) return before < 0 ? after : before;
  return apart(x, below) <= apart(x, above) ? before : after;
}

static void test_asof(Kit *k, int kind, int64_t n, int64_t m, int nulls, bool grouped) {
  static const char *const words[3] = {"backward", "forward", "nearest"};
  Column left = make_column(k, kind, n, nulls), right = make_column(k, kind, m, nulls);
  bool floats = kind == FLOATS || kind == FLOATS32;
  FlArray *group[2] = {fl_array_new(k->ctx, FL_I64, 1, &n), fl_array_new(k->ctx, FL_I64, 1, &m)};
  for (int s = 0; s < 2; s++)
    for (int64_t i = 0; i < group[s]->dims[0]; i++) ((int64_t *)group[s]->data)[i] = (int64_t)(draw(k) % 5);
  for (int t = 0; t < 12; t++) {
    bool limited = t & 1, equal = (t & 2) == 0;
    const char *word = words[t / 4];
    double within = floats ? 0.75 : 3;
    Call c = {.s = word, .i = (limited ? 1 : 0) | (equal ? 0 : 2) | (grouped ? 4 : 0)};
    put_column(&c, left, false);
    put_column(&c, right, false);
    if (grouped) {
      put_int(&c, 5);
      put_array(&c, group[0]);
      put_array(&c, group[1]);
    }
    if (limited && floats) put_float(&c, within);
    if (limited && !floats) put_int(&c, (int64_t)within);
    FlSlot r[8];
    bool ok = call(k, fl_rt_join_asof, &c, r) == 0 && r[0].a->dims[0] == n;
    const int64_t *lg = grouped ? group[0]->data : NULL, *rg = grouped ? group[1]->data : NULL;
    for (int64_t i = 0; ok && i < n; i++)
      ok = ((int64_t *)r[0].a->data)[i] ==
           nearest(left, right, i, lg, rg, t / 4 != 1, t / 4 != 0, equal, limited ? within : INFINITY);
    char what[96];
    snprintf(what, sizeof what, "join_asof kind %d, %lld and %lld rows, %s, case %d", kind, (long long)n,
             (long long)m, word, t);
    check(k, ok, what);
    if (ok) see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  drop_column(left);
  drop_column(right);
  fl_array_unref(group[0]);
  fl_array_unref(group[1]);
}

/* ---- pivot_rows ---- */

static void test_pivot(Kit *k, int64_t n, int64_t g, int64_t columns, bool twice) {
  static const char *const names[6] = {"a", "b", "c", "d", "e", "f"};
  int64_t size = g * columns;
  FlArray *group = fl_array_new(k->ctx, FL_I64, 1, &n), *column = fl_array_new(k->ctx, FL_I32, 1, &n);
  int64_t *wanted = malloc((size_t)(size + 1) * sizeof *wanted),
          *cells = malloc((size_t)(size + 1) * sizeof *cells);
  for (int64_t i = 0; i < size; i++) {
    wanted[i] = -1;
    cells[i] = i;
  }
  for (int64_t i = 0; i < n; i++) { /* n cells of all, each once */
    int64_t other = i + (int64_t)(draw(k) % (uint64_t)(size - i)), cell = cells[other];
    cells[other] = cells[i];
    cells[i] = cell;
    wanted[cell] = i;
    ((int64_t *)group->data)[i] = cell % g;
    ((int32_t *)column->data)[i] = (int32_t)(cell / g);
  }
  if (twice) { /* the last row again where the first is */
    ((int64_t *)group->data)[n - 1] = ((int64_t *)group->data)[0];
    ((int32_t *)column->data)[n - 1] = ((int32_t *)column->data)[0];
  }
  Call c = {.n_list = (int32_t)columns};
  for (int64_t i = 0; i < columns; i++) c.list[i] = names[i];
  put_int(&c, g);
  put_array(&c, group);
  put_array(&c, column);
  put_int(&c, columns);
  FlSlot r[8];
  if (twice) {
    FlCtx own, *outer = k->ctx; /* a context keeps its first error */
    fl_ctx_init(&own, fl_ctx_run(outer), NULL);
    k->ctx = &own;
    bool failed = call(k, fl_rt_pivot_rows, &c, r) != 0 && fl_ctx_code(&own) == 646;
    char said[64];
    snprintf(said, sizeof said, "two rows, 0 and %lld,", (long long)(n - 1));
    check(k, failed && strstr(fl_ctx_message(&own), said) != NULL, "two rows in one cell are named");
    k->ctx = outer;
    fl_ctx_reset(&own);
  } else {
    bool ok = call(k, fl_rt_pivot_rows, &c, r) == 0 && r[0].a->dims[0] == size &&
              memcmp(r[0].a->data, wanted, (size_t)size * sizeof *wanted) == 0;
    check(k, ok, "pivot_rows");
    if (ok) see(k, r[0].a);
    fl_array_unref(r[0].a);
  }
  free(wanted);
  free(cells);
  fl_array_unref(group);
  fl_array_unref(column);
}

static void tests(Kit *k) {
  static const int kinds[] = {SMALL_INTS, FLOATS, FLOATS32, BYTES};
  for (int t = 0; t < 4; t++) {
    test_asof(k, kinds[t], 0, 5, 0, false);
    test_asof(k, kinds[t], 5, 0, 2, true);
    test_asof(k, kinds[t], 1, 1, 0, false);
    test_asof(k, kinds[t], 300, 200, 0, false);
    test_asof(k, kinds[t], 300, 200, 4, true);
    test_asof(k, kinds[t], 40, 1500, 1, true);
  }
  for (int64_t n = 2; n < 150000; n = n * 5 + 1) {
    test_pivot(k, n, n, 3, false);
    test_pivot(k, n, n / 4 + 1, 6, false);
    test_pivot(k, n, n, 2, true);
  }
}

int main(void) { return run_kit(tests); }
