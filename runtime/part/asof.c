/* asof.c: for each row of a left table the row of a right table that is nearest in an order: as of a time.
 *
 * Comes in: what both tables are ordered by, and of each row its group, in which it may match. Goes out: the
 * right row of each left row, -1 where there is none. Always holds: neither side needs to be sorted; of
 * several right rows at one place the last is taken backward, the first forward; null and NaN match nothing.
 *
 * The right rows are sorted by group, then by place (radix, stable, so in their order where both are equal);
 * a left row searches the places of its group, starting where the row before it ended. */
#include <math.h>

#include "part/part_internal.h"

enum { HAS_WITHIN = 1, NOT_EQUAL = 2, HAS_GROUPS = 4 }; /* attribute i */
static const int64_t DAY = INT64_C(86400000000);        /* microseconds */

typedef struct Side {
  FlPartCol on;
  const int64_t *group; /* [n], or NULL: one group */
  uint64_t *code;       /* [n] order codes (fl_part_read_code) */
  double *real;         /* [n] floats as they are; NULL for other types */
} Side;

typedef struct Asof {
  Side left, right;
  int64_t g;
  bool floats, backward, forward, equal; /* nearest: both ways */
  bool limited;
  uint64_t within; /* in units of the column */
  double within_real;
  const int64_t *row;   /* [kept] right rows by group, then code */
  const uint64_t *code; /* [kept] and their codes */
  const int64_t *start; /* [g + 1] */
  int64_t *out;
} Asof;

static int32_t read_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Side *s = env;
  (void)ctx;
  fl_part_read_code(&s->on, begin, end - begin, s->code + begin);
  if (s->real != NULL) fl_part_read_f64(&s->on, begin, end - begin, s->real + begin);
  return 0;
}

static FlStatus read_side(FlPartMem *m, const Asof *a, Side *s) {
  s->code = fl_part_alloc(m, s->on.n, sizeof *s->code);
  s->real = a->floats ? fl_part_alloc(m, s->on.n, sizeof *s->real) : NULL;
  if (s->code == NULL || (a->floats && s->real == NULL)) return 1;
  return fl_part_for(m->ctx, read_body, s, s->on.n, 1.0);
}

/* Has the row a place? */
static inline bool has_place(const Asof *a, const Side *s, int64_t row) {
  return fl_part_valid(s->on.valid, row) && !(a->floats && s->code[row] == UINT64_MAX);
}

static inline int64_t group_of(const Side *s, int64_t row) { return s->group != NULL ? s->group[row] : 0; }

/* ---- the right rows in order ---- */

typedef struct Order {
  const FlPartPair *pairs;
  const Side *side;
  FlPartPair *by_group;
  int64_t *row;
  uint64_t *code;
} Order;

static int32_t regroup_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    o->by_group[i] = (FlPartPair){(uint64_t)group_of(o->side, o->pairs[i].row), o->pairs[i].row};
  return 0;
}

static int32_t lay_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    o->row[i] = o->pairs[i].row;
    o->code[i] = o->side->code[o->pairs[i].row];
  }
  return 0;
}

static FlStatus order_right(FlPartMem *m, Asof *a) {
  int64_t n = a->right.on.n, kept = 0;
  FlPartPair *pairs = fl_part_alloc(m, n, sizeof *pairs), *spare = fl_part_alloc(m, n, sizeof *spare),
             *sorted;
  int64_t *start = fl_part_zalloc(m, a->g + 1, sizeof *start);
  Order o = {.side = &a->right,
             .row = fl_part_alloc(m, n, sizeof *o.row),
             .code = fl_part_alloc(m, n, sizeof *o.code)};
  if (pairs == NULL || spare == NULL || start == NULL || o.row == NULL || o.code == NULL) return 1;
  for (int64_t i = 0; i < n; i++) {
    if (!has_place(a, &a->right, i)) continue;
    pairs[kept++] = (FlPartPair){a->right.code[i], i};
    start[group_of(&a->right, i) + 1]++;
  }
  for (int64_t k = 0; k < a->g; k++) start[k + 1] += start[k];
  if (fl_part_sort_pairs(m, pairs, spare, kept, 64, &sorted) != 0) return 1;
  o.pairs = sorted;
  if (a->right.group != NULL) {
    o.by_group = sorted == pairs ? spare : pairs;
    if (fl_part_for(m->ctx, regroup_body, &o, kept, 1.0) != 0) return 1;
    if (fl_part_sort_pairs(m, o.by_group, sorted, kept, fl_part_bits((uint64_t)a->g), &sorted) != 0) return 1;
    o.pairs = sorted;
  }
  if (fl_part_for(m->ctx, lay_body, &o, kept, 2.0) != 0) return 1;
  a->row = o.row;
  a->code = o.code;
  a->start = start;
  return 0;
}

/* ---- the left rows ---- */

/* Is the code at this position left of where x would be put: before the codes like it, or `past` them? */
static inline bool before(uint64_t code, uint64_t x, bool past) { return past ? code <= x : code < x; }

int64_t fl_part_search(const uint64_t *code, int64_t from, int64_t to, uint64_t x, bool past, int64_t hint) {
  int64_t lo = from, hi = to, step = 1;
  if (hint >= from && hint < to && before(code[hint], x, past)) {
    lo = hint + 1;
    for (; step <= to - lo && before(code[lo + step - 1], x, past); step *= 2) lo += step;
    hi = step <= to - lo ? lo + step - 1 : to;
  } else if (hint >= from && hint < to) {
    hi = hint;
    for (; step <= hi - from && !before(code[hi - step], x, past); step *= 2) hi -= step;
    lo = step <= hi - from ? hi - step + 1 : from;
  }
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (before(code[middle], x, past)) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

/* How far apart are a left row and the row at a position: exact for integers and times. */
static inline uint64_t apart(const Asof *a, int64_t left, int64_t at) {
  uint64_t x = a->left.code[left], y = a->code[at];
  return x > y ? x - y : y - x;
}

static inline double apart_real(const Asof *a, int64_t left, int64_t at) {
  double x = a->left.real[left], y = a->right.real[a->row[at]];
  return x == y ? 0.0 : fabs(x - y); /* infinities are no distance from themselves */
}

static inline bool is_within(const Asof *a, int64_t left, int64_t at) {
  if (!a->limited) return true;
  return a->floats ? apart_real(a, left, at) <= a->within_real : apart(a, left, at) <= a->within;
}

/* Is the position `back` at least as near as `on`? */
static inline bool nearer(const Asof *a, int64_t left, int64_t back, int64_t on) {
  if (a->floats) return apart_real(a, left, back) <= apart_real(a, left, on);
  return apart(a, left, back) <= apart(a, left, on);
}

static int32_t match_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Asof *a = env;
  int64_t back = -1, on = -1; /* where the row before was put */
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    a->out[i] = -1;
    if (!has_place(a, &a->left, i)) continue;
    int64_t group = group_of(&a->left, i), from = a->start[group], to = a->start[group + 1], found = -1;
    uint64_t x = a->left.code[i];
    if (from == to) continue;
    if (a->backward) {
      back = fl_part_search(a->code, from, to, x, a->equal, back);
      if (back > from && is_within(a, i, back - 1)) found = back - 1;
    }
    if (a->forward) {
      on = fl_part_search(a->code, from, to, x, !a->equal, on);
      bool there = on < to && is_within(a, i, on);
      if (there && (found < 0 || !nearer(a, i, found, on))) found = on;
    }
    if (found >= 0) a->out[i] = a->row[found];
  }
  return 0;
}

/* ---- the call ---- */

static FlStatus read_within(FlCtx *ctx, const FlOpDesc *desc, FlSlot within, Asof *a) {
  bool ok = a->floats ? within.f >= 0.0 : within.i >= 0;
  if (!ok) return fl_fail_op(ctx, desc, FL_FAULT_DOMAIN, "`within` is a distance, which is at least 0");
  a->limited = true;
  a->within_real = a->floats ? within.f : 0.0;
  if (!a->floats) a->within = (uint64_t)(a->left.on.dtype == FL_DATE ? within.i / DAY : within.i);
  return 0;
}

static FlStatus join_asof(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Asof a = {.g = 1, .equal = (desc->i & NOT_EQUAL) == 0};
  int32_t at = 0;
  if (fl_part_col(m->ctx, desc, args, &at, &desc->columns[0], &a.left.on) != 0) return 1;
  if (fl_part_col(m->ctx, desc, args, &at, &desc->columns[1], &a.right.on) != 0) return 1;
  a.floats = a.left.on.dtype == FL_F64 || a.left.on.dtype == FL_F32;
  a.backward = strcmp(desc->s, "forward") != 0;
  a.forward = strcmp(desc->s, "backward") != 0;
  if (desc->i & HAS_GROUPS) {
    const FlArray *left = args[at + 1].a, *right = args[at + 2].a;
    if (left->dims[0] != a.left.on.n) return fl_part_fail_shape(m->ctx, desc, a.left.on.n, left->dims[0]);
    if (right->dims[0] != a.right.on.n) return fl_part_fail_shape(m->ctx, desc, a.right.on.n, right->dims[0]);
    a.g = args[at].i;
    a.left.group = left->data;
    a.right.group = right->data;
    at += 3;
  }
  if ((desc->i & HAS_WITHIN) && read_within(m->ctx, desc, args[at], &a) != 0) return 1;
  *out = fl_array_new(m->ctx, FL_I64, 1, &a.left.on.n);
  if (*out == NULL) return 1;
  a.out = (*out)->data;
  if (read_side(m, &a, &a.left) != 0 || read_side(m, &a, &a.right) != 0) return 1;
  if (order_right(m, &a) != 0) return 1;
  return fl_part_for(m->ctx, match_body, &a, a.left.on.n, 40.0);
}

FlStatus fl_rt_join_asof(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, join_asof);
}
