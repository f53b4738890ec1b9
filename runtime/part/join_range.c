/* join_range.c: the pairs of rows of two tables with equal keys for which comparisons hold, a.lo <= b.x.
 *
 * Comes in: how many pairs there may be, which rows of each side may match, key columns of both sides (none:
 * each row may meet each), and of each comparison a column of either side. Goes out: pairs of row numbers as
 * of join.c, in its order. Always holds: null and NaN match nothing; no pair is looked at that the
 * comparisons of one right column rule out.
 *
 * The right rows are sorted by key, then by the column that most comparisons name: where these hold is a
 * range of them, found by searching. Of each other comparison the extremes of its right column are kept over
 * 8, 64, 512 .. rows in that order, so that rows among which it holds nowhere are passed over at once. The
 * partners of a row are sorted by number last. Sweep one counts, sweep two writes. */
#include "part/join_internal.h"

enum { MOST_BOUNDS = 16, EIGHT = 3, MOST_LEVELS = 20 };

/* A comparison of a left with a right column, as a limit of the right codes. */
typedef struct Bound {
  FlPartCol column[2];
  uint64_t *code[2];
  bool lower, strict; /* right codes are at least, else at most, those of the left; strict: and not equal */
  int levels;
  uint64_t *extreme[MOST_LEVELS]; /* of its right codes in order, over 8^(level + 1) rows */
} Bound;

typedef struct Range {
  int64_t n, m, g;
  int how;
  bool one;
  int64_t limit;
  uint8_t *may[2];
  const int64_t *group[2]; /* of each row; NULL: one group */
  Bound bound[MOST_BOUNDS];
  int n_bounds, n_first; /* the first n_first name the column that the right rows are sorted by */
  int64_t kept;
  int64_t *row;     /* [kept] right rows by group, then code, then row */
  uint64_t *code;   /* [kept] what the first bounds compare with */
  int64_t *start;   /* [g + 1] */
  int64_t *place;   /* [n + 1] of the result, by left row */
  uint8_t *matched; /* [m] the right row has a partner; NULL: nobody asks */
  int64_t *left, *right;
  _Atomic int64_t total, bad; /* pairs so far; first left row with several partners */
} Range;

/* ---- what is compared ------------------------------------------------------------------------------------
 */

typedef struct Sweep {
  Range *r;
  Bound *b;
  int side;
} Sweep;

static inline bool is_float(const FlPartCol *c) { return c->dtype == FL_F64 || c->dtype == FL_F32; }

/* Codes of the column, and which of its rows may match. */
static int32_t codes_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sweep *w = env;
  const FlPartCol *c = &w->b->column[w->side];
  uint64_t *code = w->b->code[w->side];
  uint8_t *may = w->r->may[w->side];
  (void)ctx;
  if (!fl_dtype_is_text((FlDtype)c->dtype)) fl_part_read_code(c, begin, end - begin, code + begin);
  for (int64_t i = begin; i < end; i++)
    may[i] &= fl_part_valid(c->valid, i) && !(is_float(c) && code[i] == UINT64_MAX);
  return 0;
}

static FlStatus read_codes(FlPartMem *m, Range *r, Bound *b) {
  FlPartKey *key = fl_part_zalloc(m, 1, sizeof *key);
  FlPartCodes codes;
  if (key == NULL) return 1;
  *key = (FlPartKey){.side = {b->column[0], b->column[1]}};
  if (fl_dtype_is_text((FlDtype)b->column[0].dtype)) {
    if (fl_part_encode(m, key, 1, 2, true, &codes) != 0) return 1;
    if ((b->code[0] = fl_part_store_words(m, &codes, 0)) == NULL) return 1;
    b->code[1] = b->code[0] + r->n;
  } else {
    for (int side = 0; side < 2; side++) {
      b->code[side] = fl_part_alloc(m, side ? r->m : r->n, sizeof **b->code);
      if (b->code[side] == NULL) return 1;
    }
  }
  for (int side = 0; side < 2; side++) {
    Sweep w = {r, b, side};
    if (fl_part_for(m->ctx, codes_body, &w, side ? r->m : r->n, 1.0) != 0) return 1;
  }
  return 0;
}

/* The comparison `left sign right`. */
static void read_sign(Bound *b, const char *sign) {
  b->lower = sign[0] == '<';
  b->strict = sign[1] != '=';
}

static bool same_column(const FlPartCol *a, const FlPartCol *b) {
  return a->data == b->data && a->valid == b->valid && a->dtype == b->dtype;
}

/* Do both limit the same right codes? Those of texts are ranks among the texts of both sides. */
static bool same_codes(const Bound *a, const Bound *b) {
  return same_column(&a->column[1], &b->column[1]) &&
         (!fl_dtype_is_text((FlDtype)a->column[1].dtype) || same_column(&a->column[0], &b->column[0]));
}

/* Those that limit the right codes which most of them do come first. */
static void choose_first(Range *r) {
  int best = 0, most = 0;
  for (int i = 0; i < r->n_bounds; i++) {
    int same = 0;
    for (int k = 0; k < r->n_bounds; k++) same += same_codes(&r->bound[i], &r->bound[k]);
    if (same > most) {
      best = i;
      most = same;
    }
  }
  const Bound first = r->bound[best];
  for (int i = 0; i < r->n_bounds; i++) {
    if (!same_codes(&r->bound[i], &first)) continue;
    Bound moved = r->bound[i];
    r->bound[i] = r->bound[r->n_first];
    r->bound[r->n_first++] = moved;
  }
}

/* ---- the right rows in order -----------------------------------------------------------------------------
 */

static inline int64_t group_of(const Range *r, int side, int64_t row) {
  return r->group[side] != NULL ? r->group[side][row] : 0;
}

typedef struct Order {
  const Range *r;
  const FlPartPair *pairs;
  FlPartPair *by_group;
} Order;

static int32_t regroup_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    o->by_group[i] = (FlPartPair){(uint64_t)group_of(o->r, 1, o->pairs[i].row), o->pairs[i].row};
  return 0;
}

static int32_t lay_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    o->r->row[i] = o->pairs[i].row;
    o->r->code[i] = o->r->n_first ? o->r->bound[0].code[1][o->pairs[i].row] : 0;
  }
  return 0;
}

/* The extremes over 8 rows in order, or over 8 of the level below. */
typedef struct Level {
  const Range *r;
  const Bound *b;
  int at;
  int64_t n; /* of what is below */
} Level;

static int32_t level_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Level *l = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint64_t x = l->b->lower ? 0 : UINT64_MAX;
    for (int64_t k = i << EIGHT; k < fl_part_min((i + 1) << EIGHT, l->n); k++) {
      uint64_t y = l->at ? l->b->extreme[l->at - 1][k] : l->b->code[1][l->r->row[k]];
      if (l->b->lower ? y > x : y < x) x = y;
    }
    l->b->extreme[l->at][i] = x;
  }
  return 0;
}

static FlStatus make_levels(FlPartMem *m, const Range *r, Bound *b) {
  for (int64_t n = r->kept, above; n > 1; n = above) {
    above = (n + 7) >> EIGHT;
    Level l = {r, b, b->levels, n};
    if ((b->extreme[b->levels] = fl_part_alloc(m, above, sizeof **b->extreme)) == NULL) return 1;
    if (fl_part_for(m->ctx, level_body, &l, above, 10.0) != 0) return 1;
    b->levels++;
  }
  return 0;
}

static FlStatus order_right(FlPartMem *m, Range *r) {
  FlPartPair *pairs = fl_part_alloc(m, r->m, sizeof *pairs), *spare = fl_part_alloc(m, r->m, sizeof *spare),
             *sorted;
  r->start = fl_part_zalloc(m, r->g + 1, sizeof *r->start);
  if (pairs == NULL || spare == NULL || r->start == NULL) return 1;
  for (int64_t i = 0; i < r->m; i++) {
    if (!r->may[1][i]) continue;
    pairs[r->kept++] = (FlPartPair){r->n_first ? r->bound[0].code[1][i] : 0, i};
    r->start[group_of(r, 1, i) + 1]++;
  }
  for (int64_t k = 0; k < r->g; k++) r->start[k + 1] += r->start[k];
  if (fl_part_sort_pairs(m, pairs, spare, r->kept, 64, &sorted) != 0) return 1;
  Order o = {.r = r, .pairs = sorted};
  if (r->group[1] != NULL) {
    o.by_group = sorted == pairs ? spare : pairs;
    if (fl_part_for(m->ctx, regroup_body, &o, r->kept, 1.0) != 0) return 1;
    if (fl_part_sort_pairs(m, o.by_group, sorted, r->kept, fl_part_bits((uint64_t)r->g), &sorted) != 0)
      return 1;
    o.pairs = sorted;
  }
  r->row = fl_part_alloc(m, r->kept, sizeof *r->row);
  r->code = fl_part_alloc(m, r->kept, sizeof *r->code);
  if (r->row == NULL || r->code == NULL || fl_part_for(m->ctx, lay_body, &o, r->kept, 2.0) != 0) return 1;
  fl_part_release(m, pairs);
  fl_part_release(m, spare);
  for (int i = r->n_first; i < r->n_bounds; i++)
    if (make_levels(m, r, &r->bound[i]) != 0) return 1;
  return 0;
}

/* ---- the left rows ---------------------------------------------------------------------------------------
 */

static inline bool holds(const Bound *b, uint64_t left, uint64_t right) {
  if (b->strict) return b->lower ? right > left : right < left;
  return b->lower ? right >= left : right <= left;
}

/* Positions in order where partners of the left row may be: those of its key for which the first bounds hold.
 */
static void range_of(const Range *r, int64_t row, int64_t *from, int64_t *to) {
  int64_t group = group_of(r, 0, row);
  *from = r->start[group];
  *to = r->start[group + 1];
  for (int i = 0; i < r->n_first && *from < *to; i++) {
    const Bound *b = &r->bound[i];
    int64_t at = fl_part_search(r->code, *from, *to, b->code[0][row], b->lower == b->strict, -1);
    if (b->lower) *from = at;
    else *to = at;
  }
}

/* The first partner at a position in [at, to), or `to`: rows among which some bound holds nowhere are passed
 * over. */
static int64_t next_partner(const Range *r, int64_t row, int64_t at, int64_t to) {
  while (at < to) {
    int passed = 0;
    bool all = true;
    for (int i = r->n_first; i < r->n_bounds && all; i++) {
      const Bound *b = &r->bound[i];
      uint64_t x = b->code[0][row];
      all = holds(b, x, b->code[1][r->row[at]]);
      for (int k = 0; !all && k < b->levels; k++) {
        if (at & ((INT64_C(8) << (EIGHT * k)) - 1) || holds(b, x, b->extreme[k][at >> (EIGHT * (k + 1))]))
          break;
        passed = k + 1;
      }
    }
    if (all) return at;
    at += INT64_C(1) << (EIGHT * passed);
  }
  return to;
}

static inline bool any_is_enough(const Range *r) { return (r->how & (FL_HOW_SEMI | FL_HOW_ANTI)) && !r->one; }

/* How many partners a left row has; marks them where that is asked. */
static int64_t count_partners(const Range *r, int64_t row) {
  int64_t from, to, found = 0;
  if (!r->may[0][row]) return 0;
  range_of(r, row, &from, &to);
  if (r->n_first == r->n_bounds && r->matched == NULL) return to - from;
  while ((from = next_partner(r, row, from, to)) < to) {
    if (r->matched != NULL)
      __atomic_store_n(&r->matched[r->row[from]], 1, __ATOMIC_RELAXED); /* all write the same */
    found++;
    from++;
    if (any_is_enough(r)) break;
  }
  return found;
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Range *r = (Range *)(uintptr_t)env;
  (void)ctx;
  for (int64_t row = begin; row < end; row++) {
    if (atomic_load_explicit(&r->total, memory_order_relaxed) > r->limit) return 0;
    int64_t found = count_partners(r, row);
    if (r->one && found > 1) fl_part_first(&r->bad, row);
    r->place[row + 1] = fl_join_rows(r->how, found);
    atomic_fetch_add_explicit(&r->total, r->place[row + 1], memory_order_relaxed);
  }
  return 0;
}

/* Sorts the k numbers below 2^bits by bytes; room for as many more. */
static void sort_rows(int64_t *a, int64_t *room, int64_t k, int bits) {
  int64_t *from = a, *to = room;
  for (int shift = 0; shift < bits; shift += 8) {
    int64_t at[256] = {0}, sum = 0;
    for (int64_t i = 0; i < k; i++) at[from[i] >> shift & 255]++;
    for (int b = 0; b < 256; b++) {
      int64_t n = at[b];
      at[b] = sum;
      sum += n;
    }
    for (int64_t i = 0; i < k; i++) to[at[from[i] >> shift & 255]++] = from[i];
    int64_t *swapped = from;
    from = to;
    to = swapped;
  }
  if (from != a) memcpy(a, from, (size_t)k * sizeof *a);
}

static void in_order(const Range *r, int64_t *a, int64_t *room, int64_t k) {
  enum { FEW = 48 };
  int64_t sorted = 1;
  while (sorted < k && a[sorted - 1] < a[sorted]) sorted++;
  if (sorted >= k) return;
  if (k > FEW) {
    sort_rows(a, room, k, fl_part_bits((uint64_t)r->m));
    return;
  }
  for (int64_t i = sorted; i < k; i++) {
    int64_t x = a[i], at = i;
    for (; at > 0 && a[at - 1] > x; at--) a[at] = a[at - 1];
    a[at] = x;
  }
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Range *r = env;
  (void)ctx;
  for (int64_t row = begin; row < end; row++) {
    int64_t n = r->place[row + 1] - r->place[row], from, to, k = 0;
    int64_t *left = r->left + r->place[row], *right = r->right + r->place[row];
    if (n == 0) continue;
    right[0] = -1; /* alone, or semi or anti */
    if (!(r->how & (FL_HOW_SEMI | FL_HOW_ANTI)) && r->may[0][row]) {
      range_of(r, row, &from, &to);
      for (; (from = next_partner(r, row, from, to)) < to; from++) right[k++] = r->row[from];
      in_order(r, right, left, k);
    }
    for (int64_t i = 0; i < n; i++) left[i] = row;
  }
  return 0;
}

/* ---- the call --------------------------------------------------------------------------------------------
 */

static FlStatus fail_limit(const Range *r, FlCtx *ctx, const FlOpDesc *desc) {
  return fl_fail_op(ctx, desc, FL_CODE(971),
                    "of %lld and %lld rows more than %lld pairs are to be looked at: compare more columns, "
                    "or allow more with `limit =`",
                    (long long)r->n, (long long)r->m, (long long)r->limit);
}

/* Counts pairs; *rows: of the result. */
static FlStatus count_all(FlPartMem *m, const FlOpDesc *desc, Range *r, int64_t *rows) {
  r->place = fl_part_zalloc(m, r->n + 1, sizeof *r->place);
  if (r->how & FL_HOW_RIGHT) r->matched = fl_part_zalloc(m, r->m, 1);
  if (r->place == NULL || ((r->how & FL_HOW_RIGHT) && r->matched == NULL)) return 1;
  if (fl_part_for(m->ctx, count_body, r, r->n, 500.0) != 0) return 1;
  if (atomic_load(&r->total) > r->limit) return fail_limit(r, m->ctx, desc);
  int64_t bad = atomic_load(&r->bad);
  if (bad != INT64_MAX) return fl_join_fail_many(m->ctx, desc, bad, count_partners(r, bad));
  for (int64_t i = 0; i < r->n; i++) r->place[i + 1] += r->place[i];
  *rows = r->place[r->n];
  for (int64_t i = 0; r->matched != NULL && i < r->m; i++) *rows += !r->matched[i];
  return 0;
}

/* Args: the limit, the masks, keys, bounds. Attribute s: how, then the sign of each bound; i: FL_JOIN_ONE. */
static FlStatus read_args(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, Range *r) {
  const char *sign = desc->s;
  int32_t at = 3, n_keys;
  char how[8] = "";
  size_t word = strcspn(sign, " ");
  memcpy(how, sign, word < sizeof how ? word : sizeof how - 1);
  r->how = fl_join_how(how);
  r->one = desc->i & FL_JOIN_ONE;
  r->limit = args[0].i < 0 ? INT64_MAX - 1 : args[0].i;
  r->n = args[1].a->dims[0];
  r->m = args[2].a->dims[0];
  for (sign += word; *sign == ' '; sign += strcspn(sign, " ")) read_sign(&r->bound[r->n_bounds++], ++sign);
  n_keys = (desc->n_columns - 2 * r->n_bounds) / 2;
  for (int side = 0; side < 2; side++) {
    int64_t n = side ? r->m : r->n;
    if ((r->may[side] = fl_part_alloc(m, n, 1)) == NULL) return 1;
    if (n > 0) memcpy(r->may[side], args[1 + side].a->data, (size_t)n);
  }
  if (n_keys > 0) {
    FlPartKey *keys = fl_part_zalloc(m, n_keys, sizeof *keys);
    uint8_t *null = NULL;
    FlPartCodes codes;
    FlPartGroups groups;
    if (keys == NULL || fl_join_sides(m, desc, args, &at, keys, n_keys, &null) != 0) return 1;
    if (fl_part_encode(m, keys, n_keys, 2, false, &codes) != 0) return 1;
    if (fl_part_group_codes(m, &codes, false, NULL, &groups) != 0) return 1;
    r->g = groups.g;
    r->group[0] = groups.id;
    r->group[1] = groups.id + r->n;
    for (int64_t i = 0; null != NULL && i < r->n + r->m; i++)
      if (null[i]) *(i < r->n ? &r->may[0][i] : &r->may[1][i - r->n]) = 0;
  }
  for (int i = 0; i < r->n_bounds; i++) {
    const FlColumnAttr *attr = &desc->columns[2 * n_keys + 2 * i];
    for (int side = 0; side < 2; side++) {
      FlPartCol *c = &r->bound[i].column[side];
      if (fl_part_col(m->ctx, desc, args, &at, attr + side, c) != 0) return 1;
      if (c->n != (side ? r->m : r->n)) return fl_part_fail_shape(m->ctx, desc, side ? r->m : r->n, c->n);
    }
  }
  return 0;
}

static FlStatus join_range(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Range *r = fl_part_zalloc(m, 1, sizeof *r);
  int64_t rows;
  if (r == NULL) return 1;
  r->g = 1;
  r->bad = INT64_MAX;
  if (read_args(m, desc, args, r) != 0) return 1;
  choose_first(r);
  for (int i = 0; i < r->n_bounds; i++)
    if (read_codes(m, r, &r->bound[i]) != 0) return 1;
  if (order_right(m, r) != 0 || count_all(m, desc, r, &rows) != 0) return 1;
  for (int side = 0; side < 2; side++)
    if ((out[side] = fl_array_new(m->ctx, FL_I64, 1, &rows)) == NULL) return 1;
  r->left = out[0]->data;
  r->right = out[1]->data;
  if (fl_part_for(m->ctx, write_body, r, r->n, 500.0) != 0) return 1;
  int64_t at = r->place[r->n];
  for (int64_t i = 0; r->matched != NULL && i < r->m; i++) {
    if (r->matched[i]) continue;
    r->left[at] = -1;
    r->right[at++] = i;
  }
  return 0;
}

FlStatus fl_rt_join_range(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus status = fl_part_give(ctx, desc, args, results + 1, 2, join_range);
  if (status == 0) results[0].i = results[1].a->dims[0];
  return status;
}
