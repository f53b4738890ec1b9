/* agg_sweep_rows.c: rows are added to the tables of a sweep (agg_sweep.c).
 *
 * In: the groups of rows, columns, and of each part how its words are made. Out: a table for each piece of
 * the rows, which are then added to one. What always holds: words are integers, so neither how rows are cut
 * nor in which order they are added shows; what a word cannot hold is noted.
 *
 * Where several sums of doubles are wanted of few groups, rows are put in the order of their groups, so many
 * at a time as a cache holds, and each group's doubles are added by vectors. */
#include "part/agg_sweep_rows.h"

static void clear_table(const FlSweep *s, int64_t *table) {
  memset(table, 0, (size_t)(s->g * s->words) * sizeof *table);
  for (int32_t p = 0; p < s->n_parts; p++) {
    FlSweptKind kind = s->part[p].kind;
    if (kind != FL_SWEPT_LEAST && kind != FL_SWEPT_GREATEST) continue;
    for (int64_t k = 0; k < s->g; k++) table[k * s->words + s->part[p].at] = -1; /* the highest code */
  }
}

/* The groups of the rows [row, row + n), at most FL_PART_BATCH; `room` is for as many. */
static const int64_t *ids_of(const FlSweep *s, int64_t row, int64_t n, int64_t *room) {
  if (s->words_of != NULL) {
    fl_part_read_words(s->words_of, 0, row, n, (uint64_t *)room);
    return room;
  }
  if (s->few.id == NULL) return s->id + row;
  if (s->few.bytes == 1)
    for (int64_t i = 0; i < n; i++) room[i] = ((const uint8_t *)s->few.id)[row + i];
  else
    for (int64_t i = 0; i < n; i++) room[i] = ((const uint16_t *)s->few.id)[row + i];
  return room;
}

/* The same for sums where groups are few. */
static int64_t add_few(const FlSweep *s, const FlSweepPart *part, const int64_t *id, int64_t row, int64_t n,
                       int64_t *table) {
  int64_t x[FL_PART_BATCH], low[FL_PART_BATCH], sums[FL_PART_FEW], dropped = 0;
  __int128 wide[FL_PART_FEW] = {0};
  const FlPartCol *col = &part->agg.col[0];
  table += part->at;
  if (part->kind == FL_SWEPT_EXACT) {
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    fl_part_few_add_terms(id, x, low, n, s->g, wide);
  } else {
    fl_part_read_i64(col, row, n, x);
    if (part->kind == FL_SWEPT_NARROW) fl_part_few_sums(id, x, n, s->g, sums);
    else fl_part_few_add(id, x, n, s->g, col->dtype == FL_U64, wide);
  }
  for (int64_t k = 0; k < s->g; k++) {
    if (part->kind == FL_SWEPT_NARROW) table[k * s->words] += sums[k];
    else *(FlSweepWide *)(table + k * s->words) += wide[k];
  }
  return dropped;
}

/* Adds n rows to the words of a part; non-zero when a sum of doubles is not exact, or a code says not all of
 * a value. */
static int64_t add_rows(const FlSweep *s, const FlSweepPart *part, const int64_t *id, int64_t row, int64_t n,
                        int64_t *table) {
  int64_t x[FL_PART_BATCH], low[FL_PART_BATCH], dropped = 0, words = s->words;
  const FlPartCol *col = &part->agg.col[0];
  const bool sum =
      part->kind == FL_SWEPT_NARROW || part->kind == FL_SWEPT_WIDE || part->kind == FL_SWEPT_EXACT;
  if (sum && fl_part_are_few(s->g)) return add_few(s, part, id, row, n, table);
  table += part->at;
  switch (part->kind) {
  case FL_SWEPT_NARROW:
    fl_part_read_i64(col, row, n, x);
    for (int64_t i = 0; i < n; i++) table[id[i] * words] += x[i];
    break;
  case FL_SWEPT_WIDE:
    fl_part_read_i64(col, row, n, x);
    for (int64_t i = 0; i < n; i++) {
      *(FlSweepWide *)(table + id[i] * words) +=
          col->dtype == FL_U64 ? (__int128)(uint64_t)x[i] : (__int128)x[i];
    }
    break;
  case FL_SWEPT_EXACT:
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    for (int64_t i = 0; i < n; i++)
      *(FlSweepWide *)(table + id[i] * words) += fl_part_exact_term(x[i], low[i]);
    break;
  case FL_SWEPT_SPREAD:
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    for (int64_t i = 0; i < n; i++) {
      FlSweepWide *to = (FlSweepWide *)(table + id[i] * words);
      to[0] += fl_part_exact_term(x[i], low[i]);
      to[1] += (__int128)x[i] * x[i];
      to[2] += (__int128)x[i] * low[i];
      to[3] += (__int128)low[i] * low[i];
    }
    break;
  case FL_SWEPT_LEAST:
  case FL_SWEPT_GREATEST: {
    uint64_t flip = part->kind == FL_SWEPT_GREATEST ? UINT64_MAX : 0;
    fl_part_read_code(col, row, n, (uint64_t *)x);
    dropped = fl_part_differ(col, row, n); /* which of them it is decides which row comes first */
    for (int64_t i = 0; i < n; i++) {
      uint64_t *word = (uint64_t *)&table[id[i] * words], code = (uint64_t)x[i] ^ flip;
      *word = code < *word ? code : *word;
    }
    break;
  }
  case FL_SWEPT_COUNT:
  case FL_SWEPT_ALONE: break;
  }
  return dropped;
}

/* A group's rows, and the halves of one sum of doubles, of so many rows that these fit: one vector, which
 * takes less work a row than words of 128 bits. */
typedef int64_t Near __attribute__((vector_size(32), aligned(8)));
enum { NEAR_GROUPS = 1 << 8, NEAR_BITS = 12, NEAR_ROWS = 1 << NEAR_BITS };
_Static_assert(FL_EXACT_LOW + NEAR_BITS < 64, "the lower halves of so many rows fit");

/* Whether the table has counts and one such sum; which part has that. */
static bool is_near(const FlSweep *s, int32_t *part) {
  *part = -1;
  for (int32_t k = 0; k < s->n_parts; k++)
    if (s->part[k].kind == FL_SWEPT_EXACT && s->part[k].sum == k) *part = k;
  return s->words == 3 && *part >= 0 && s->g <= NEAR_GROUPS && !fl_part_are_few(s->g) && !s->ordered;
}

FL_PART_WIDE static void add_near(const int64_t *id, const int64_t *high, const int64_t *low, int64_t n,
                                  Near *to) {
  for (int64_t i = 0; i < n; i++) to[id[i]] += (Near){high[i], low[i], 1, 0};
}

/* The rows [begin, end); as add_rows. */
static int64_t sweep_near(const FlSweep *s, const FlSweepPart *part, int64_t begin, int64_t end,
                          int64_t *table) {
  Near near[NEAR_GROUPS];
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], room[FL_PART_BATCH], dropped = 0;
  for (int64_t from = begin, to; from < end; from = to) {
    to = fl_part_min(from + NEAR_ROWS, end);
    memset(near, 0, (size_t)s->g * sizeof *near);
    for (int64_t row = from, n; row < to; row += n) {
      n = fl_part_min(FL_PART_BATCH, to - row);
      const int64_t *id = ids_of(s, row, n, room);
      dropped |= fl_part_split((const double *)part->agg.col[0].data + row, n, part->scale.high, high, low);
      add_near(id, high, low, n, near);
    }
    for (int64_t k = 0; k < s->g; k++) {
      int64_t *words = table + k * s->words;
      words[0] += near[k][2];
      *(FlSweepWide *)(words + part->at) += fl_part_exact_term(near[k][0], near[k][1]);
    }
  }
  return dropped;
}

/* Rows in the order of their groups. */
typedef struct Order {
  int64_t end[FL_SWEEP_FEW];    /* where the rows of each group end */
  int32_t at[FL_SWEEP_AT_ONCE]; /* how far behind the first */
} Order;

/* The rows [row, row + n), at most FL_SWEEP_AT_ONCE. */
static void order_rows(const FlSweep *s, int64_t row, int64_t n, Order *o) {
  int64_t room[FL_PART_BATCH], next = 0;
  memset(o->end, 0, sizeof o->end);
  for (int64_t at = 0; at < n; at += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, n - at);
    const int64_t *id = ids_of(s, row + at, count, room);
    for (int64_t i = 0; i < count; i++) o->end[id[i]]++;
  }
  for (int64_t k = 0; k < s->g; k++) {
    int64_t count = o->end[k];
    o->end[k] = next;
    next += count;
  }
  for (int64_t at = 0; at < n; at += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, n - at);
    const int64_t *id = ids_of(s, row + at, count, room);
    for (int64_t i = 0; i < count; i++) o->at[o->end[id[i]]++] = (int32_t)(at + i);
  }
}

/* As add_rows, for a sum of doubles and rows that are in order. */
static int64_t add_ordered(const FlSweep *s, const FlSweepPart *part, const Order *o, int64_t row, int64_t n,
                           int64_t *table) {
  const double *from = (const double *)part->agg.col[0].data + row;
  double x[FL_SWEEP_AT_ONCE];
  int64_t dropped = 0, high, low;
  for (int64_t i = 0; i < n; i++) x[i] = from[o->at[i]];
  for (int64_t k = 0, begin = 0; k < s->g; begin = o->end[k++]) {
    dropped |= fl_part_split_sum(x + begin, o->end[k] - begin, part->scale.high, &high, &low);
    *(FlSweepWide *)(table + k * s->words + part->at) += fl_part_exact_term(high, low);
  }
  return dropped;
}

static uint32_t sweep_ordered(const FlSweep *s, int64_t row, int64_t n, int64_t *table) {
  uint32_t dropped = 0;
  Order o;
  order_rows(s, row, n, &o);
  for (int32_t k = 0; k < s->n_parts; k++)
    if (s->part[k].kind == FL_SWEPT_EXACT && s->part[k].sum == k)
      dropped |= (uint32_t)(add_ordered(s, &s->part[k], &o, row, n, table) != 0) << k;
  return dropped;
}

/* The places of the groups are on their way, of the first words and the last ones. */
static void fetch(const FlSweep *s, const int64_t *id, int64_t n, const int64_t *table) {
  for (int64_t i = 0, words = s->words; i < n; i++) {
    __builtin_prefetch(table + id[i] * words, 1);
    __builtin_prefetch(table + id[i] * words + words - 1, 1);
  }
}

int32_t fl_sweep_rows(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  FlSweep *s = (FlSweep *)(uintptr_t)env;
  uint32_t dropped = 0;
  int64_t rooms[2][FL_PART_BATCH];
  int32_t sum;
  const bool near = is_near(s, &sum);
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t *table = s->table + p * s->g * s->words, last = fl_part_min((p + 1) * s->piece, s->n);
    clear_table(s, table);
    if (near) {
      dropped |= (uint32_t)(sweep_near(s, &s->part[sum], p * s->piece, last, table) != 0) << sum;
      continue;
    }
    for (int64_t row = p * s->piece; s->ordered && row < last; row += FL_SWEEP_AT_ONCE)
      dropped |= sweep_ordered(s, row, fl_part_min(FL_SWEEP_AT_ONCE, last - row), table);
    int64_t count = fl_part_min(FL_PART_BATCH, last - p * s->piece), next = 0;
    const int64_t *id = count > 0 ? ids_of(s, p * s->piece, count, rooms[0]) : NULL, *next_id = NULL;
    for (int64_t row = p * s->piece; row < last; row += count, count = next, id = next_id) {
      next = fl_part_min(FL_PART_BATCH, last - row - count);
      if (next > 0) next_id = ids_of(s, row + count, next, id == rooms[0] ? rooms[1] : rooms[0]);
      if (s->far) fetch(s, next_id, next, table);
      for (int64_t i = 0; i < count; i++) table[id[i] * s->words]++;
      for (int32_t k = 0; k < s->n_parts; k++) {
        if (s->part[k].sum != k || (s->ordered && s->part[k].kind == FL_SWEPT_EXACT)) continue;
        dropped |= (uint32_t)(add_rows(s, &s->part[k], id, row, count, table) != 0) << k;
      }
    }
  }
  if (dropped) atomic_fetch_or_explicit(&s->dropped, dropped, memory_order_relaxed);
  return 0;
}

/* Adds what another table has of a group. */
static void add_place(const FlSweep *s, int64_t *to, const int64_t *from) {
  to[0] += from[0];
  for (int32_t j = 0; j < s->n_parts; j++) {
    int at = s->part[j].at;
    if (s->part[j].sum != j) continue;
    switch (s->part[j].kind) {
    case FL_SWEPT_NARROW: to[at] += from[at]; break;
    case FL_SWEPT_WIDE:
    case FL_SWEPT_EXACT: *(FlSweepWide *)(to + at) += *(const FlSweepWide *)(from + at); break;
    case FL_SWEPT_SPREAD:
      for (int w = 0; w < FL_SPREAD_WORDS; w += 2)
        *(FlSweepWide *)(to + at + w) += *(const FlSweepWide *)(from + at + w);
      break;
    case FL_SWEPT_LEAST:
    case FL_SWEPT_GREATEST: to[at] = (uint64_t)from[at] < (uint64_t)to[at] ? from[at] : to[at]; break;
    case FL_SWEPT_COUNT:
    case FL_SWEPT_ALONE: break;
    }
  }
}

int32_t fl_sweep_merge(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlSweep *s = env;
  (void)ctx;
  for (int64_t p = 1; p < s->pieces; p++)
    for (int64_t k = begin; k < end; k++)
      add_place(s, s->table + k * s->words, s->table + (p * s->g + k) * s->words);
  return 0;
}

typedef struct Adding {
  const FlSweep *s;
  int64_t from;
  const int64_t *theirs;
} Adding;

static int32_t adding_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Adding *a = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++)
    add_place(a->s, a->s->table + (a->from + k) * a->s->words, a->theirs + k * a->s->words);
  return 0;
}

FlStatus fl_sweep_add(const FlSweep *s, int64_t from, int64_t to, const int64_t *theirs) {
  const Adding a = {s, from, theirs};
  return fl_part_for(s->m->ctx, adding_body, &a, to - from, 1.0 + 1.5 * s->n_parts);
}
