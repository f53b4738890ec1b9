/* part_codes.c: texts with codes group, sort and join as texts without; taking and filtering rows keeps codes
 * true. */
#include "part_kit.h"

#include "data/text_codes.h"
#include "part/dictionary.h"
#include "part/part_internal.h"

/* A column of `n` rows drawn from `kinds` different texts, of which some are long, some empty, some of NUL
 * bytes. */
static FlArray *texts(Kit *k, int64_t n, int64_t kinds, int shape) {
  FlArray *a = fl_array_new(k->ctx, FL_TEXT, 1, &n);
  FlText *t = a->data;
  for (int64_t i = 0; i < n; i++) {
    long long which = (long long)(draw(k) % (uint64_t)kinds);
    char bytes[96];
    int len = 0;
    if (shape == 0) len = snprintf(bytes, sizeof bytes, "id%03lld", which);
    if (shape == 1) len = snprintf(bytes, sizeof bytes, "a long beginning that all texts share %lld", which);
    if (shape == 2) { /* of every length around the words, differing in their number of NULs alone */
      len = (int)(which % 40);
      memset(bytes, 0, sizeof bytes);
      bytes[0] = (char)(which / 40);
    }
    char *kept = fl_heap_alloc(k->heap, len);
    memcpy(kept, bytes, (size_t)len);
    t[i] = len == 0 ? (FlText){NULL, 0} : (FlText){kept, len};
  }
  if (fl_array_keep(k->ctx, a, k->heap, NULL, 0) != 0) abort();
  return a;
}

/* The same texts in an array that is a view, which gets no codes. */
static FlArray *plain_view(Kit *k, const FlArray *a) {
  int64_t n = a->dims[0] + 1;
  FlArray *room = fl_array_zeros(k->ctx, FL_TEXT, 1, &n);
  memcpy((FlText *)room->data + 1, a->data, (size_t)a->dims[0] * sizeof(FlText));
  if (fl_array_keep(k->ctx, room, k->heap, NULL, 0) != 0) abort();
  FlArray *view = fl_array_view_rows(k->ctx, room, 1, n);
  fl_array_unref(room);
  return view;
}

static bool same_bytes(const FlArray *a, const FlArray *b) {
  return a->dims[0] == b->dims[0] && memcmp(a->data, b->data, (size_t)fl_array_bytes(a)) == 0;
}

static bool codes_are_true(const FlArray *a) {
  const void *codes;
  const FlTextCodes *c = fl_text_codes(a, &codes);
  if (c == NULL) return false;
  const FlText *t = a->data, *d = c->dictionary->texts;
  for (int64_t k = 1; k < c->dictionary->n; k++) {
    int64_t least = d[k - 1].len < d[k].len ? d[k - 1].len : d[k].len;
    int order = least > 0 ? memcmp(d[k - 1].ptr, d[k].ptr, (size_t)least) : 0;
    if (order > 0 || (order == 0 && d[k - 1].len >= d[k].len)) return false;
  }
  for (int64_t i = 0; i < a->dims[0]; i++) {
    int64_t code = c->width == 1   ? ((const uint8_t *)codes)[i]
                   : c->width == 2 ? ((const uint16_t *)codes)[i]
                                   : ((const uint32_t *)codes)[i];
    if (code >= c->dictionary->n || d[code].len != t[i].len) return false;
    if (t[i].len > 0 && memcmp(d[code].ptr, t[i].ptr, (size_t)t[i].len) != 0) return false;
  }
  return true;
}

static void keys(Call *c, FlArray *text, FlArray *number, FlArray *valid, bool down) {
  put_column(c, (Column){text, valid}, down);
  if (number != NULL) put_column(c, (Column){number, NULL}, down);
}

static void test_column(Kit *k, int64_t n, int64_t kinds, int shape, bool wanted, bool null) {
  char what[96];
  snprintf(what, sizeof what, "%lld rows, %lld texts of shape %d, nulls %d", (long long)n, (long long)kinds,
           shape, null);
  FlArray *coded = texts(k, n, kinds, shape), *plain = plain_view(k, coded);
  Column numbers = make_column(k, SMALL_INTS, n, 0), bools = make_column(k, BOOLS, n, 0);
  FlArray *valid = null ? bools.value : NULL;
  const void *codes;
  check(k, fl_part_find_codes(k->ctx, coded, false) == 0 && (fl_text_codes(coded, &codes) != NULL) == wanted,
        what);
  if (wanted) check(k, codes_are_true(coded), what);
  check(k, fl_part_find_codes(k->ctx, plain, false) == 0 && fl_text_codes(plain, &codes) == NULL, what);
  for (int numbered = 0; numbered < 2; numbered++) {
    FlSlot a[3], b[3];
    Call group[2], sort[2], distinct[2];
    memset(group, 0, sizeof group);
    memset(sort, 0, sizeof sort);
    memset(distinct, 0, sizeof distinct);
    for (int p = 0; p < 2; p++) {
      FlArray *text = p ? plain : coded, *number = numbered ? numbers.value : NULL;
      keys(&group[p], text, number, valid, false);
      keys(&distinct[p], text, number, valid, false);
      keys(&sort[p], text, number, valid, true);
    }
    check(k, call(k, fl_rt_group, &group[0], a) == 0 && call(k, fl_rt_group, &group[1], b) == 0, what);
    check(k, a[0].i == b[0].i && same_bytes(a[1].a, b[1].a) && same_bytes(a[2].a, b[2].a), what);
    see(k, a[1].a);
    for (int r = 1; r < 3; r++) {
      fl_array_unref(a[r].a);
      fl_array_unref(b[r].a);
    }
    check(k, call(k, fl_rt_sort_perm, &sort[0], a) == 0 && call(k, fl_rt_sort_perm, &sort[1], b) == 0, what);
    check(k, same_bytes(a[0].a, b[0].a), what);
    fl_array_unref(b[0].a);
    Call take = {0};
    put_array(&take, a[0].a);
    put_array(&take, coded);
    check(k, call(k, fl_rt_take, &take, b) == 0 && b[0].a->dims[0] == n, what);
    if (wanted) check(k, codes_are_true(b[0].a), what);
    for (int64_t i = 0; i < n; i += 97) {
      FlText x = ((FlText *)b[0].a->data)[i], y = ((FlText *)coded->data)[((int64_t *)a[0].a->data)[i]];
      check(k, x.len == y.len && (x.len == 0 || memcmp(x.ptr, y.ptr, (size_t)x.len) == 0), what);
    }
    fl_array_unref(b[0].a);
    fl_array_unref(a[0].a);
    check(k, call(k, fl_rt_distinct, &distinct[0], a) == 0 && call(k, fl_rt_distinct, &distinct[1], b) == 0,
          what);
    check(k, same_bytes(a[0].a, b[0].a), what);
    fl_array_unref(a[0].a);
    fl_array_unref(b[0].a);
  }
  Call compress = {0};
  put_array(&compress, bools.value);
  put_array(&compress, coded);
  FlSlot kept[2];
  check(k, call(k, fl_rt_compress, &compress, kept) == 0, what);
  if (wanted && kept[0].i >= 4096) check(k, codes_are_true(kept[1].a), what);
  see(k, kept[1].a);
  FlArray *view = fl_array_view_rows(k->ctx, coded, n / 3, n);
  if (wanted) check(k, codes_are_true(view), "a view of rows has its rows' codes");
  fl_array_unref(view);
  fl_array_unref(kept[1].a);
  fl_array_unref(coded);
  fl_array_unref(plain);
  drop_column(numbers);
  drop_column(bools);
}

/* Tables whose keys have dictionaries of their own, or none on one side. */
static void test_join(Kit *k, int64_t n, int64_t left_kinds, int64_t m, int64_t right_kinds,
                      const char *how) {
  FlArray *side[2][2] = {{texts(k, n, left_kinds, 0), NULL}, {texts(k, m, right_kinds, 0), NULL}};
  FlSlot r[2][3];
  for (int s = 0; s < 2; s++) side[s][1] = plain_view(k, side[s][0]);
  for (int p = 0; p < 2; p++) {
    Call c = {.s = how};
    put_column(&c, (Column){side[0][p], NULL}, false);
    put_column(&c, (Column){side[1][p], NULL}, false);
    check(k, call(k, fl_rt_join, &c, r[p]) == 0, how);
  }
  check(k, r[0][0].i == r[1][0].i && same_bytes(r[0][1].a, r[1][1].a) && same_bytes(r[0][2].a, r[1][2].a),
        how);
  /* Rows that are missing get empty texts, and such a column no codes. */
  Call take = {.i = 1};
  put_array(&take, r[0][2].a);
  put_array(&take, side[1][0]);
  FlSlot taken;
  check(k, call(k, fl_rt_take, &take, &taken) == 0, how);
  bool missing = false;
  for (int64_t i = 0; i < r[0][0].i; i++) missing |= ((int64_t *)r[0][2].a->data)[i] < 0;
  const void *codes;
  if (missing) check(k, fl_text_codes(taken.a, &codes) == NULL, "no codes where rows are missing");
  see(k, taken.a);
  fl_array_unref(taken.a);
  for (int p = 0; p < 2; p++) {
    for (int a = 1; a < 3; a++) fl_array_unref(r[p][a].a);
    for (int s = 0; s < 2; s++) fl_array_unref(side[s][p]);
  }
}

/* Texts that come again in turn are found to be few, whatever their number: rows at equal distances would all
 * be different, or all alike. */
static void test_turns(Kit *k, int64_t n, int64_t kinds) {
  FlArray *few = texts(k, kinds, INT64_C(1) << 40, 0), *all = fl_array_new(k->ctx, FL_TEXT, 1, &n);
  for (int64_t i = 0; i < n; i++) ((FlText *)all->data)[i] = ((FlText *)few->data)[i % kinds];
  const void *codes;
  char what[96];
  snprintf(what, sizeof what, "%lld texts in turn in %lld rows", (long long)kinds, (long long)n);
  if (fl_array_keep(k->ctx, all, k->heap, NULL, 0) != 0) abort();
  check(k, fl_part_find_codes(k->ctx, all, false) == 0 && fl_text_codes(all, &codes) != NULL, what);
  check(k, codes_are_true(all), what);
  fl_array_unref(all);
  fl_array_unref(few);
}

static void read_turn(const void *env, int64_t row, int64_t n, uint64_t *out) {
  for (int64_t i = 0; i < n; i++) out[i] = (uint64_t)((row + i) % *(const int64_t *)env);
}

/* Cuts of numbers that come again in turn part them as evenly as others. */
static void test_cuts(Kit *k, int64_t turn) {
  enum { PLACES = 1 << 14, CUTS = 15 };
  FlPartMem m = {.ctx = k->ctx};
  FlPartSample sample = {.read = read_turn,
                         .env = &turn,
                         .n = INT64_C(1) << 26,
                         .places = PLACES,
                         .run = 1,
                         .wanted = CUTS,
                         .n_words = 1};
  uint64_t cut[CUTS];
  int64_t n = 0;
  check(k, fl_part_sample_cuts(&m, &sample, cut, &n) == 0 && n == CUTS, "as many cuts as are wanted");
  for (int64_t c = 0; c < n; c++) {
    double share = (double)cut[c] / (double)turn, even = (double)(c + 1) / (CUTS + 1);
    check(k, share > even - 0.02 && share < even + 0.02, "cuts at equal shares");
  }
  fl_part_mem_reset(&m);
}

/* Whoever may write in place finds no codes afterwards. */
static void test_reuse(Kit *k) {
  FlArray *a = texts(k, 8192, 10, 0);
  const void *codes;
  check(k, fl_part_find_codes(k->ctx, a, false) == 0 && fl_text_codes(a, &codes) != NULL,
        "codes before reuse");
  FlArray *same = fl_array_reuse(a);
  check(k, same == a && fl_text_codes(a, &codes) == NULL, "no codes after reuse");
  fl_array_unref(same);
  fl_array_unref(a);
}

static void tests(Kit *k) {
  test_column(k, 5000, 7, 0, true, false);
  test_column(k, 5000, 7, 0, true, true);
  test_column(k, 4000, 7, 0, false, false);
  test_column(k, 70000, 300, 0, true, false);
  test_column(k, 70000, 300, 1, true, true);
  test_column(k, 70000, 4000, 2, true, false);
  test_column(k, 200000, 90000, 0, true, false);
  test_column(k, 5000, 1, 1, true, false);
  test_column(k, 8000, 6000, 0, false, false);
  test_turns(k, 655360, 65537);
  test_turns(k, (1 << 21) + 5, 20011);
  for (int64_t turn = 1 << 10; turn <= 1 << 14; turn *= 4) test_cuts(k, turn);
  test_cuts(k, 12289);
  static const char *const hows[] = {"inner", "left", "full", "anti"};
  for (int h = 0; h < 4; h++) {
    test_join(k, 6000, 50, 5000, 70, hows[h]);
    test_join(k, 6000, 500, 900, 700, hows[h]);
    test_join(k, 300, 500, 9000, 200, hows[h]);
  }
  test_reuse(k);
}

int main(void) { return run_kit(tests); }
