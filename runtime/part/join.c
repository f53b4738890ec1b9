/* join.c: the pairs of rows of two tables with equal keys.
 *
 * Comes in: the key columns of a left and a right table. Goes out: pairs of row numbers, -1 where one side
 * has none. Always holds: pairs are ordered by left row, then right row; unmatched right rows come last, in
 * their order. A null key matches nothing; NaN matches NaN.
 *
 * Both tables' keys, one below the other, are grouped at once; the right rows of each group are listed (a
 * counting sort), and every left row reads the list of its group. */
#include "part/part_internal.h"

enum { INNER = 0, LEFT = 1, RIGHT = 2, SEMI = 4, ANTI = 8 }; /* FULL is LEFT | RIGHT */

typedef struct Join {
  int64_t n, m; /* rows of the left and right table */
  int how;
  bool one;             /* more than one match of a left row is an error */
  const uint8_t *null;  /* [n + m] some key is null; NULL: none */
  const int64_t *id;    /* [n + m] */
  const int64_t *start; /* [g + 1] where the list of each group begins */
  const int64_t *list;  /* right rows by group */
  int64_t *place;       /* [chunks + 1] of the result, by left chunk */
  int64_t *left, *right;
  uint8_t *matched;    /* [g] some left row has this group */
  _Atomic int64_t bad; /* first left row with several matches */
} Join;

typedef struct Nulls {
  const uint8_t *valid;
  uint8_t *null;
} Nulls;

static int32_t nulls_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Nulls *k = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) k->null[i] |= k->valid[i] == 0;
  return 0;
}

/* [from, to) of the list for a left row. */
static inline void matches(const Join *j, int64_t row, int64_t *from, int64_t *to) {
  bool none = j->null != NULL && j->null[row];
  *from = none ? 0 : j->start[j->id[row]];
  *to = none ? 0 : j->start[j->id[row] + 1];
}

static inline int64_t output_rows(int how, int64_t found) {
  if (how == SEMI) return found > 0;
  if (how == ANTI) return found == 0;
  return found == 0 && (how & LEFT) ? 1 : found;
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Join *j = (Join *)(uintptr_t)env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t first, last, from, to, rows = 0;
    fl_part_chunk(c, j->n, &first, &last);
    for (int64_t row = first; row < last; row++) {
      matches(j, row, &from, &to);
      rows += output_rows(j->how, to - from);
      if (j->one && to - from > 1) fl_part_first(&j->bad, row);
    }
    j->place[c + 1] = rows;
  }
  return 0;
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Join *j = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t first, last, from, to, at = j->place[c];
    fl_part_chunk(c, j->n, &first, &last);
    for (int64_t row = first; row < last; row++) {
      matches(j, row, &from, &to);
      int64_t rows = output_rows(j->how, to - from);
      bool pairs = to > from && !(j->how & (SEMI | ANTI));
      for (int64_t k = 0; k < rows; k++, at++) {
        j->left[at] = row;
        j->right[at] = pairs ? j->list[from + k] : -1;
      }
    }
  }
  return 0;
}

static int parse_how(const char *s) {
  static const struct {
    const char *name;
    int how;
  } all[] = {{"inner", INNER},       {"left", LEFT}, {"right", RIGHT},
             {"full", LEFT | RIGHT}, {"semi", SEMI}, {"anti", ANTI}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (strcmp(all[k].name, s) == 0) return all[k].how;
  }
  return INNER;
}

static FlStatus read_sides(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlPartKey *keys,
                           int32_t n_keys, uint8_t **null) {
  int32_t at = 0;
  bool nullable = false;
  for (int32_t s = 0; s < 2; s++) {
    for (int32_t k = 0; k < n_keys; k++) {
      FlPartCol *col = &keys[k].side[s];
      if (fl_part_col(m->ctx, desc, args, &at, desc->list[s * n_keys + k], col) != 0) return 1;
      if (col->n != keys[0].side[s].n) return fl_part_fail_shape(m->ctx, desc, keys[0].side[s].n, col->n);
      nullable |= col->valid != NULL;
    }
  }
  if (!nullable) return 0;
  int64_t n = keys[0].side[0].n, n_right = keys[0].side[1].n;
  *null = fl_part_zalloc(m, n + n_right, 1);
  if (*null == NULL) return 1;
  for (int32_t k = 0; k < n_keys; k++) {
    for (int32_t s = 0; s < 2; s++) {
      Nulls nulls = {keys[k].side[s].valid, *null + (s == 0 ? 0 : n)};
      if (nulls.valid != NULL && fl_part_for(m->ctx, nulls_body, &nulls, s == 0 ? n : n_right, 0.3) != 0)
        return 1;
    }
  }
  return 0;
}

typedef struct ListRight {
  const int64_t *id;
  FlPartPair *pairs;
  int64_t *list;
} ListRight;

static int32_t pair_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const ListRight *l = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) l->pairs[i] = (FlPartPair){(uint64_t)l->id[i], i};
  return 0;
}

static int32_t list_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const ListRight *l = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) l->list[i] = l->pairs[i].row;
  return 0;
}

/* Lists the right rows by group; rows with a null key are in no list, but stay unmatched rows. */
static FlStatus list_right(FlPartMem *m, Join *j, int64_t g) {
  int64_t *start = fl_part_zalloc(m, g + 1, sizeof *start), kept = 0;
  ListRight l = {j->id + j->n, fl_part_alloc(m, j->m, sizeof *l.pairs),
                 fl_part_alloc(m, j->m, sizeof *l.list)};
  FlPartPair *spare = fl_part_alloc(m, j->m, sizeof *spare);
  if (start == NULL || l.pairs == NULL || l.list == NULL || spare == NULL) return 1;
  if (j->null == NULL) {
    if (fl_part_for(m->ctx, pair_body, &l, j->m, 1.0) != 0) return 1;
    kept = j->m;
  } else {
    for (int64_t i = 0; i < j->m; i++) {
      if (!j->null[j->n + i]) l.pairs[kept++] = (FlPartPair){(uint64_t)l.id[i], i};
    }
  }
  FlPartPair *pairs = l.pairs;
  if (fl_part_sort_pairs(m, pairs, spare, kept, fl_part_bits((uint64_t)g), &l.pairs) != 0) return 1;
  for (int64_t i = 0; i < kept; i++) start[l.pairs[i].key + 1]++;
  for (int64_t k = 0; k < g; k++) start[k + 1] += start[k];
  if (fl_part_for(m->ctx, list_body, &l, kept, 1.0) != 0) return 1;
  fl_part_release(m, pairs);
  fl_part_release(m, spare);
  j->start = start;
  j->list = l.list;
  return 0;
}

/* Right rows without a partner: counted when right is NULL, else written from `at` on. */
static int64_t unmatched_right(const Join *j, int64_t at, bool write) {
  for (int64_t i = 0; i < j->m; i++) {
    bool null = j->null != NULL && j->null[j->n + i];
    if (!null && j->matched[j->id[j->n + i]]) continue;
    if (write) {
      j->left[at] = -1;
      j->right[at] = i;
    }
    at++;
  }
  return at;
}

static FlStatus mark_matched(FlPartMem *m, Join *j, int64_t g) {
  j->matched = fl_part_zalloc(m, g, 1);
  if (j->matched == NULL) return 1;
  for (int64_t row = 0; row < j->n; row++) {
    if (j->null == NULL || !j->null[row]) j->matched[j->id[row]] = 1;
  }
  return 0;
}

static FlStatus join(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **left, FlArray **right,
                     int64_t *rows) {
  int32_t n_keys = desc->n_list / 2;
  FlPartKey *keys = fl_part_zalloc(m, n_keys, sizeof *keys);
  uint8_t *null = NULL;
  FlPartCodes codes;
  FlPartGroups groups;
  if (keys == NULL || read_sides(m, desc, args, keys, n_keys, &null) != 0) return 1;
  if (fl_part_encode(m, keys, n_keys, 2, false, &codes) != 0) return 1;
  if (fl_part_group_codes(m, &codes, false, NULL, &groups) != 0) return 1;
  Join j = {.n = keys[0].side[0].n,
            .m = keys[0].side[1].n,
            .how = parse_how(desc->s),
            .one = desc->i == 1,
            .null = null,
            .id = groups.id,
            .bad = INT64_MAX};
  int64_t chunks = fl_part_chunks(j.n);
  j.place = fl_part_alloc(m, chunks + 1, sizeof *j.place);
  if (j.place == NULL || list_right(m, &j, groups.g) != 0) return 1;
  if (fl_part_for(m->ctx, count_body, &j, chunks, 2.0 * FL_PART_CHUNK) != 0) return 1;
  int64_t bad = atomic_load(&j.bad), from, to;
  if (bad != INT64_MAX) {
    matches(&j, bad, &from, &to);
    return fl_fail_op(m->ctx, desc, FL_CODE(972),
                      "row %lld of the left table matches %lld rows of the right table, expected at most one",
                      (long long)bad, (long long)(to - from));
  }
  j.place[0] = 0;
  for (int64_t c = 0; c < chunks; c++) j.place[c + 1] += j.place[c];
  *rows = j.place[chunks];
  if (j.how & RIGHT) {
    if (mark_matched(m, &j, groups.g) != 0) return 1;
    *rows = unmatched_right(&j, *rows, false);
  }
  *left = fl_array_new(m->ctx, FL_I64, 1, rows);
  *right = fl_array_new(m->ctx, FL_I64, 1, rows);
  if (*left == NULL || *right == NULL) return 1;
  j.left = (*left)->data;
  j.right = (*right)->data;
  if (fl_part_for(m->ctx, write_body, &j, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
  if (j.how & RIGHT) (void)unmatched_right(&j, j.place[chunks], true);
  return 0;
}

FlStatus fl_rt_join(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  FlArray *left = NULL, *right = NULL;
  FlStatus status = join(&mem, desc, args, &left, &right, &results[0].i);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(left);
    fl_array_unref(right);
    return status;
  }
  results[1].a = left;
  results[2].a = right;
  return 0;
}
