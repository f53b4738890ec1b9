/* agg_sweep.c: several aggregates of the same groups in one sweep over the rows: counts, and sums, means,
 * minima and maxima of columns without nulls, and variances and standard deviations of doubles.
 *
 * Comes in: the group of each row, columns, what is wanted of each. Goes out: values and validities as by
 * aggregate, one pair each. Always holds: the same bits as one by one.
 *
 * Each piece of the rows has a table with a few words a group: a count, a sum of integers of at most 32 bits,
 * an order code to be least; two words for a sum of wide integers or for one of doubles, as integers against
 * the column's largest exponent (exact.c), and six more for one of their squares (agg_spread.c). What a sum
 * of doubles cannot hold so is summed on its own afterwards, and the least of a column with NaNs or negative
 * zeros is found so. Where several sums of doubles are wanted of few groups, rows are put in the order of
 * their groups, so many at a time as a cache holds, and each group's doubles are added by vectors. */
#include "part/agg_sweep.h"
#include "part/aggregate_internal.h"

enum {
  MOST = FL_PART_SWEEP,
  MANY_GROUPS = 1 << 18,
  CACHE = 1 << 19,     /* bytes of a table that need not be asked for before they are used */
  FEW_GROUPS = 1 << 6, /* whose rows are put in order, */
  AT_ONCE = 1 << 11    /* of so many */
};

typedef enum Kind { COUNT, NARROW, WIDE, EXACT, SPREAD, LEAST, GREATEST, ALONE } Kind;

typedef struct Part {
  FlAgg agg;
  FlOpDesc desc;
  Kind kind;
  const FlAggRow *row;
  bool mean;
  int32_t sum;   /* the part that adds the words: another one, where both are of the same sum */
  int at;        /* in the row of a group, whose first word counts */
  uint64_t most; /* of a sum of doubles: bits of the largest magnitude of the rows that are here */
  FlExactScale scale;
} Part;

typedef struct FlSweep {
  FlPartMem *m;
  Part *part;
  int32_t n_parts;
  int64_t n, g, pieces, piece;
  int64_t all; /* rows whose sums come to one, of which n are here */
  const int64_t *id;
  FlAggFew few;                /* or these; */
  const FlPartCodes *words_of; /* or the first words */
  int words;                   /* a group */
  bool ordered;                /* sums of doubles take rows in the order of their groups */
  bool far;                    /* the table is larger than a cache: places are fetched a batch ahead */
  int64_t *table;
  _Atomic uint32_t dropped; /* a bit a part */
} Sweep;

typedef __int128 Wide __attribute__((aligned(8)));

static void clear_table(const Sweep *s, int64_t *table) {
  memset(table, 0, (size_t)(s->g * s->words) * sizeof *table);
  for (int32_t p = 0; p < s->n_parts; p++) {
    Kind kind = s->part[p].kind;
    if (kind != LEAST && kind != GREATEST) continue;
    for (int64_t k = 0; k < s->g; k++) table[k * s->words + s->part[p].at] = -1; /* the highest code */
  }
}

/* The groups of the rows [row, row + n), at most FL_PART_BATCH; `room` is for as many. */
static const int64_t *ids_of(const Sweep *s, int64_t row, int64_t n, int64_t *room) {
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
static int64_t add_few(const Sweep *s, const Part *part, const int64_t *id, int64_t row, int64_t n,
                       int64_t *table) {
  int64_t x[FL_PART_BATCH], low[FL_PART_BATCH], sums[FL_PART_FEW], dropped = 0;
  __int128 wide[FL_PART_FEW] = {0};
  const FlPartCol *col = &part->agg.col[0];
  table += part->at;
  if (part->kind == EXACT) {
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    fl_part_few_add_terms(id, x, low, n, s->g, wide);
  } else {
    fl_part_read_i64(col, row, n, x);
    if (part->kind == NARROW) fl_part_few_sums(id, x, n, s->g, sums);
    else fl_part_few_add(id, x, n, s->g, col->dtype == FL_U64, wide);
  }
  for (int64_t k = 0; k < s->g; k++) {
    if (part->kind == NARROW) table[k * s->words] += sums[k];
    else *(Wide *)(table + k * s->words) += wide[k];
  }
  return dropped;
}

/* Adds n rows to the words of a part; non-zero when a sum of doubles is not exact, or a code says not all of
 * a value. */
static int64_t add_rows(const Sweep *s, const Part *part, const int64_t *id, int64_t row, int64_t n,
                        int64_t *table) {
  int64_t x[FL_PART_BATCH], low[FL_PART_BATCH], dropped = 0, words = s->words;
  const FlPartCol *col = &part->agg.col[0];
  const bool sum = part->kind == NARROW || part->kind == WIDE || part->kind == EXACT;
  if (sum && fl_part_are_few(s->g)) return add_few(s, part, id, row, n, table);
  table += part->at;
  switch (part->kind) {
  case NARROW:
    fl_part_read_i64(col, row, n, x);
    for (int64_t i = 0; i < n; i++) table[id[i] * words] += x[i];
    break;
  case WIDE:
    fl_part_read_i64(col, row, n, x);
    for (int64_t i = 0; i < n; i++) {
      *(Wide *)(table + id[i] * words) += col->dtype == FL_U64 ? (__int128)(uint64_t)x[i] : (__int128)x[i];
    }
    break;
  case EXACT:
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    for (int64_t i = 0; i < n; i++) *(Wide *)(table + id[i] * words) += fl_part_exact_term(x[i], low[i]);
    break;
  case SPREAD:
    dropped = fl_part_split((const double *)col->data + row, n, part->scale.high, x, low);
    for (int64_t i = 0; i < n; i++) {
      Wide *to = (Wide *)(table + id[i] * words);
      to[0] += fl_part_exact_term(x[i], low[i]);
      to[1] += (__int128)x[i] * x[i];
      to[2] += (__int128)x[i] * low[i];
      to[3] += (__int128)low[i] * low[i];
    }
    break;
  case LEAST:
  case GREATEST: {
    uint64_t flip = part->kind == GREATEST ? UINT64_MAX : 0;
    fl_part_read_code(col, row, n, (uint64_t *)x);
    dropped = fl_part_differ(col, row, n); /* which of them it is decides which row comes first */
    for (int64_t i = 0; i < n; i++) {
      uint64_t *word = (uint64_t *)&table[id[i] * words], code = (uint64_t)x[i] ^ flip;
      *word = code < *word ? code : *word;
    }
    break;
  }
  case COUNT:
  case ALONE: break;
  }
  return dropped;
}

/* Rows in the order of their groups. */
typedef struct Order {
  int64_t end[FEW_GROUPS]; /* where the rows of each group end */
  int32_t at[AT_ONCE];     /* how far behind the first */
} Order;

/* The rows [row, row + n), at most AT_ONCE. */
static void order_rows(const Sweep *s, int64_t row, int64_t n, Order *o) {
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
static int64_t add_ordered(const Sweep *s, const Part *part, const Order *o, int64_t row, int64_t n,
                           int64_t *table) {
  const double *from = (const double *)part->agg.col[0].data + row;
  double x[AT_ONCE];
  int64_t dropped = 0, high, low;
  for (int64_t i = 0; i < n; i++) x[i] = from[o->at[i]];
  for (int64_t k = 0, begin = 0; k < s->g; begin = o->end[k++]) {
    dropped |= fl_part_split_sum(x + begin, o->end[k] - begin, part->scale.high, &high, &low);
    *(Wide *)(table + k * s->words + part->at) += fl_part_exact_term(high, low);
  }
  return dropped;
}

static uint32_t sweep_ordered(const Sweep *s, int64_t row, int64_t n, int64_t *table) {
  uint32_t dropped = 0;
  Order o;
  order_rows(s, row, n, &o);
  for (int32_t k = 0; k < s->n_parts; k++)
    if (s->part[k].kind == EXACT && s->part[k].sum == k)
      dropped |= (uint32_t)(add_ordered(s, &s->part[k], &o, row, n, table) != 0) << k;
  return dropped;
}

/* The places of the groups are on their way, of the first words and the last ones. */
static void fetch(const Sweep *s, const int64_t *id, int64_t n, const int64_t *table) {
  for (int64_t i = 0, words = s->words; i < n; i++) {
    __builtin_prefetch(table + id[i] * words, 1);
    __builtin_prefetch(table + id[i] * words + words - 1, 1);
  }
}

static int32_t sweep_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Sweep *s = (Sweep *)(uintptr_t)env;
  uint32_t dropped = 0;
  int64_t rooms[2][FL_PART_BATCH];
  (void)ctx;
  for (int64_t p = begin; p < end; p++) {
    int64_t *table = s->table + p * s->g * s->words, last = fl_part_min((p + 1) * s->piece, s->n);
    clear_table(s, table);
    for (int64_t row = p * s->piece; s->ordered && row < last; row += AT_ONCE)
      dropped |= sweep_ordered(s, row, fl_part_min(AT_ONCE, last - row), table);
    int64_t count = fl_part_min(FL_PART_BATCH, last - p * s->piece), next = 0;
    const int64_t *id = count > 0 ? ids_of(s, p * s->piece, count, rooms[0]) : NULL, *next_id = NULL;
    for (int64_t row = p * s->piece; row < last; row += count, count = next, id = next_id) {
      next = fl_part_min(FL_PART_BATCH, last - row - count);
      if (next > 0) next_id = ids_of(s, row + count, next, id == rooms[0] ? rooms[1] : rooms[0]);
      if (s->far) fetch(s, next_id, next, table);
      for (int64_t i = 0; i < count; i++) table[id[i] * s->words]++;
      for (int32_t k = 0; k < s->n_parts; k++) {
        if (s->part[k].sum != k || (s->ordered && s->part[k].kind == EXACT)) continue;
        dropped |= (uint32_t)(add_rows(s, &s->part[k], id, row, count, table) != 0) << k;
      }
    }
  }
  if (dropped) atomic_fetch_or_explicit(&s->dropped, dropped, memory_order_relaxed);
  return 0;
}

/* Adds what another table has of a group. */
static void add_place(const Sweep *s, int64_t *to, const int64_t *from) {
  to[0] += from[0];
  for (int32_t j = 0; j < s->n_parts; j++) {
    int at = s->part[j].at;
    if (s->part[j].sum != j) continue;
    switch (s->part[j].kind) {
    case NARROW: to[at] += from[at]; break;
    case WIDE:
    case EXACT: *(Wide *)(to + at) += *(const Wide *)(from + at); break;
    case SPREAD:
      for (int w = 0; w < FL_SPREAD_WORDS; w += 2) *(Wide *)(to + at + w) += *(const Wide *)(from + at + w);
      break;
    case LEAST:
    case GREATEST: to[at] = (uint64_t)from[at] < (uint64_t)to[at] ? from[at] : to[at]; break;
    case COUNT:
    case ALONE: break;
    }
  }
}

static int32_t merge_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sweep *s = env;
  (void)ctx;
  for (int64_t p = 1; p < s->pieces; p++)
    for (int64_t k = begin; k < end; k++)
      add_place(s, s->table + k * s->words, s->table + (p * s->g + k) * s->words);
  return 0;
}

/* ---- what is wanted ------------------------------------------------------------------------------------ */

/* `all`: rows whose sums come to one. */
static Kind kind_of(Part *part, int64_t all, const char *made) {
  const FlAggRow *row = fl_agg_find(made, strlen(made));
  if (row == NULL || row->sweep == FL_SWEEP_ALONE) return ALONE;
  part->desc.s = row->name;
  part->row = row;
  part->mean = row->state == FL_STATE_MEAN;
  if (row->sweep == FL_SWEEP_COUNT) return COUNT;
  if (row->sweep == FL_SWEEP_SPREAD) return all <= FL_SPREAD_ROWS ? SPREAD : ALONE;
  if (row->sweep != FL_SWEEP_SUM) return row->sweep == FL_SWEEP_LEAST ? LEAST : GREATEST;
  FlDtype d = (FlDtype)part->agg.col[0].dtype;
  if (d == FL_F64) return EXACT;
  return fl_dtype_info[d].bytes <= 4 && all < INT32_MAX ? NARROW : WIDE;
}

/* The part that adds up the same numbers in the same way, or their squares, too; the part itself: there is
 * none. */
static int32_t same_sum(const Sweep *s, const Part *part) {
  const FlPartCol *col = &part->agg.col[0];
  bool sum = part->kind == NARROW || part->kind == WIDE || part->kind == EXACT || part->kind == SPREAD;
  for (int32_t k = 0; sum && k < s->n_parts; k++) {
    const Part *it = &s->part[k];
    const FlPartCol *its = &it->agg.col[0];
    if (it == part || it->row == NULL || its->data != col->data || its->dtype != col->dtype) continue;
    if (it->kind == part->kind || (it->kind == SPREAD && part->kind == EXACT)) return it->sum;
  }
  return (int32_t)(part - s->part);
}

/* How the part is made, and the place of its words. */
static FlStatus place_part(Sweep *s, Part *part, const char *made) {
  static const int words[] = {
      [COUNT] = 0, [NARROW] = 1,   [WIDE] = 2, [EXACT] = 2, [SPREAD] = FL_SPREAD_WORDS,
      [LEAST] = 1, [GREATEST] = 1, [ALONE] = 0};
  part->kind = kind_of(part, s->all, made);
  if (part->row == NULL)
    return fl_fail_op(s->m->ctx, &part->desc, FL_CODE_INTERNAL, "no aggregate %s in a sweep", made);
  part->sum = same_sum(s, part);
  if (&s->part[part->sum] != part) {
    part->at = s->part[part->sum].at;
    part->most = s->part[part->sum].most;
    part->scale = s->part[part->sum].scale;
    return 0;
  }
  if (part->kind == EXACT || part->kind == SPREAD) {
    FlPartTerms terms = {fl_part_stored_terms, part->agg.col[0].data};
    if (fl_part_exact_most(s->m, terms, s->n, &part->most) != 0) return 1;
    part->scale = fl_part_exact_scale_of(part->most, s->all);
    if (!part->scale.fits) part->kind = ALONE;
  }
  part->at = s->words;
  s->words += words[part->kind];
  return 0;
}

static FlStatus place_parts(Sweep *s, const FlOpDesc *desc) {
  for (int squares = 1; squares >= 0; squares--) { /* first what has sums that others are, too */
    for (int32_t p = 0; p < s->n_parts; p++) {
      const char *made = desc->columns[p].made;
      const FlAggRow *row = fl_agg_find(made, strlen(made));
      if ((row != NULL && row->sweep == FL_SWEEP_SPREAD) != squares) continue;
      if (place_part(s, &s->part[p], made) != 0) return 1;
    }
  }
  return 0;
}

/* Parts of the call. */
static FlStatus read_parts(Sweep *s, const FlOpDesc *desc, const FlSlot *args) {
  int32_t at = 2;
  s->words = 1;
  for (int32_t p = 0; p < s->n_parts; p++) {
    Part *part = &s->part[p];
    const FlColumnAttr *attr = &desc->columns[p];
    bool column = !(attr->flags & FL_COLUMN_NONE);
    part->desc = *desc;
    part->desc.result_types = desc->result_types + 2 * p;
    part->desc.columns = attr;
    part->desc.n_columns = column;
    part->desc.i = 0;
    part->agg = (FlAgg){.m = s->m, .desc = &part->desc, .n = s->n, .g = s->g, .id = s->id, .few = s->few};
    part->agg.n_cols = column;
    if (column && fl_part_col(s->m->ctx, desc, args, &at, attr, &part->agg.col[0]) != 0) return 1;
    if (column && part->agg.col[0].n != s->n)
      return fl_part_fail_shape(s->m->ctx, desc, s->n, part->agg.col[0].n);
  }
  return place_parts(s, desc);
}

/* ---- results ------------------------------------------------------------------------------------------- */

static FlStatus store_codes(const Sweep *s, Part *part) {
  uint64_t flip = part->kind == GREATEST ? UINT64_MAX : 0;
  FlDtype d = (FlDtype)part->agg.col[0].dtype;
  uint64_t sign = fl_dtype_info[d].kind == FL_KIND_UNSIGNED ? 0 : UINT64_C(1) << 63;
  if (fl_agg_results(&part->agg, 1) != 0) return 1;
  char *out = part->agg.value->data;
  size_t size = (size_t)fl_dtype_info[d].bytes;
  for (int64_t k = 0; k < s->g; k++) { /* the low bytes of the word are the value */
    uint64_t code = (uint64_t)s->table[k * s->words + part->at] ^ flip, value = code ^ sign;
    double number = fl_part_of_code(code);
    if (d == FL_F64) memcpy(&value, &number, sizeof value);
    if (part->agg.counts[k] == 0) value = 0;
    memcpy(out + (size_t)k * size, &value, size);
  }
  return 0;
}

static FlStatus store_sums(const Sweep *s, Part *part) {
  bool exact = part->kind == EXACT;
  __int128 *ints = exact ? NULL : fl_part_alloc(s->m, s->g, sizeof *ints);
  double *sums = exact ? fl_part_alloc(s->m, s->g, sizeof *sums) : NULL;
  if (ints == NULL && sums == NULL) return 1;
  for (int64_t k = 0; k < s->g; k++) {
    const int64_t *word = s->table + k * s->words + part->at;
    if (exact)
      sums[k] = part->mean ? fl_part_exact_mean(&part->scale, *(const Wide *)word, part->agg.counts[k])
                           : fl_part_exact_round(&part->scale, *(const Wide *)word);
    else ints[k] = part->kind == NARROW ? (__int128)word[0] : *(const Wide *)word;
  }
  FlStatus status =
      part->mean ? fl_agg_store_means(&part->agg, ints, sums) : fl_agg_store_sums(&part->agg, ints, sums);
  fl_part_release(s->m, exact ? (void *)sums : (void *)ints);
  return status;
}

static FlStatus store(const Sweep *s, Part *part, bool dropped) {
  if (part->kind == ALONE || part->kind == COUNT || dropped) return part->row->fn(&part->agg);
  if (part->kind == SPREAD)
    return fl_agg_store_spread(&part->agg, part->row->fn == fl_agg_std, &part->scale, s->table + part->at,
                               s->words);
  return part->kind == LEAST || part->kind == GREATEST ? store_codes(s, part) : store_sums(s, part);
}

static FlStatus by_parts(const Sweep *s) {
  FlAggWanted of[MOST];
  for (int32_t p = 0; p < s->n_parts; p++) of[p] = (FlAggWanted){&s->part[p].agg, s->part[p].row};
  return fl_agg_parts(of, s->n_parts);
}

/* For what makes a part by itself. */
static FlStatus widen(Sweep *s) {
  FlAgg *first = &s->part[0].agg;
  if (fl_agg_widen(first) != 0) return 1;
  for (int32_t p = 1; p < s->n_parts; p++) {
    s->part[p].agg.id = first->id;
    s->part[p].agg.few = first->few;
  }
  return 0;
}

/* Whether putting rows in order, and beginning each group's sum anew, costs less than adding by vectors saves
 * of each row and sum. */
static bool pays_to_order(const Sweep *s) {
  enum { BEGIN = 21, ORDER = AT_ONCE * 5 / 2 }; /* as what is saved of so many rows, as measured */
  int64_t sums = 0;
  for (int32_t p = 0; p < s->n_parts; p++) sums += s->part[p].kind == EXACT && s->part[p].sum == p;
  return s->g <= FEW_GROUPS && sums * (AT_ONCE - BEGIN * s->g) > ORDER;
}

/* Cuts the rows into pieces; of a table of many groups there are no more than workers. false: there are more
 * workers than pieces, and each aggregate by itself, with a range of the groups for each, keeps them busy. */
static bool cut_rows(Sweep *s) {
  bool many = s->g >= MANY_GROUPS;
  FlAggCut cut = fl_agg_cut(s->m->ctx, s->n, many ? s->g : s->g * s->words);
  int64_t workers = fl_ctx_workers(s->m->ctx);
  s->pieces = many ? fl_part_min(cut.pieces, workers) : cut.pieces;
  s->piece = (s->n + s->pieces - 1) / s->pieces;
  s->far = s->id != NULL && s->g * s->words * (int64_t)sizeof *s->table > CACHE;
  return !many || cut.ranges == 1 || workers <= cut.pieces;
}

static FlStatus run(Sweep *s) {
  int64_t *counts;
  if (fl_agg_is_large(&s->part[0].agg)) return by_parts(s);
  if (!cut_rows(s)) {
    for (int32_t p = 0; p < s->n_parts; p++) s->part[p].kind = ALONE;
    counts = fl_agg_counts(&s->part[0].agg, NULL, NULL, false);
    if (counts == NULL) return 1;
  } else {
    s->ordered = pays_to_order(s);
    s->table = fl_part_alloc(s->m, s->pieces * s->g * s->words, sizeof *s->table);
    counts = fl_part_alloc(s->m, s->g, sizeof *counts);
    double cost = 1.0 + 1.5 * s->n_parts;
    if (s->table == NULL || counts == NULL) return 1;
    if (fl_part_for(s->m->ctx, sweep_body, s, s->pieces, cost * (double)s->piece) != 0) return 1;
    if (fl_part_for(s->m->ctx, merge_body, s, s->g, cost * (double)s->pieces) != 0) return 1;
    for (int64_t k = 0; k < s->g; k++) counts[k] = s->table[k * s->words];
  }
  for (int32_t p = 0; p < s->n_parts; p++) s->part[p].agg.counts = counts;
  uint32_t dropped = atomic_load(&s->dropped);
  for (int32_t p = 0; p < s->n_parts; p++)
    if ((s->part[p].kind == ALONE || dropped >> s->part[p].sum & 1) && widen(s) != 0) return 1;
  for (int32_t p = 0; p < s->n_parts; p++) {
    if (store(s, &s->part[p], dropped >> s->part[p].sum & 1) != 0) return 1;
  }
  return 0;
}

bool fl_agg_sweeps(const FlAgg *a, const FlAggRow *row) {
  if (a->n_cols == 0) return row->sweep == FL_SWEEP_COUNT;
  const FlPartCol *col = &a->col[0];
  bool whole = fl_dtype_is_int(col->dtype) || fl_dtype_is_decimal(col->dtype);
  if (a->n_cols > 1 || col->valid != NULL || (col->array != NULL && col->array->rank != 1)) return false;
  if (row->sweep == FL_SWEEP_SUM) return whole || col->dtype == FL_F64;
  bool ends = row->sweep == FL_SWEEP_LEAST || row->sweep == FL_SWEEP_GREATEST;
  return ends && (whole || col->dtype == FL_F64);
}

bool fl_part_sweeps(const char *made, int32_t dtype) {
  const FlAggRow *row = fl_agg_find(made, strlen(made));
  const FlAgg a = {.n_cols = dtype >= 0, .col = {{.dtype = dtype}}};
  return row != NULL && fl_agg_sweeps(&a, row);
}

FlStatus fl_agg_sweep_one(FlAgg *a, const FlAggRow *row) {
  Part part = {.agg = *a, .desc = *a->desc};
  Sweep s = {.m = a->m,
             .part = &part,
             .n_parts = 1,
             .n = a->n,
             .all = a->n,
             .g = a->g,
             .id = a->id,
             .few = a->few,
             .words = 1};
  FlStatus status = place_part(&s, &part, row->name) != 0 || run(&s) != 0;
  a->value = part.agg.value;
  a->valid = part.agg.valid;
  return status;
}

FlStatus fl_rt_aggregates(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  Sweep s = {.m = &mem, .n_parts = desc->n_columns, .n = args[1].a->dims[0], .g = args[0].i};
  FlStatus status = 1;
  s.all = s.n;
  fl_agg_read_ids(args[1].a, &s.id, &s.few);
  if (s.n_parts > MOST) status = fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "too many aggregates");
  else s.part = fl_part_zalloc(s.m, s.n_parts, sizeof *s.part);
  if (s.part != NULL) status = read_parts(&s, desc, args) != 0 || run(&s) != 0;
  for (int32_t p = 0; s.part != NULL && p < s.n_parts; p++) {
    results[2 * p].a = s.part[p].agg.value;
    results[2 * p + 1].a = s.part[p].agg.valid;
  }
  for (int32_t r = 0; status != 0 && s.part != NULL && r < 2 * s.n_parts; r++) fl_array_unref(results[r].a);
  fl_part_mem_reset(&mem);
  return status;
}

/* ---- of rows that several have ------------------------------------------------------------------------- */

Sweep *fl_sweep_new(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, const FlPartCodes *codes,
                    int64_t all) {
  Sweep *s = fl_part_zalloc(m, 1, sizeof *s);
  if (s == NULL) return NULL;
  *s = (Sweep){.m = m, .n_parts = desc->n_columns, .n = codes->n, .all = all, .words_of = codes};
  s->part = fl_part_zalloc(m, s->n_parts, sizeof *s->part);
  return s->part != NULL && read_parts(s, desc, args) == 0 ? s : NULL;
}

int64_t fl_sweep_words(const Sweep *s) { return s->words; }

int32_t fl_sweep_columns(const Sweep *s) {
  int32_t n = 0;
  for (int32_t p = 0; p < s->n_parts; p++) n += s->part[p].agg.n_cols > 0 && s->part[p].sum == p;
  return n;
}

void fl_sweep_most(const Sweep *s, uint64_t *most) {
  for (int32_t p = 0; p < s->n_parts; p++) most[p] = s->part[p].most;
}

bool fl_sweep_agree(Sweep *s, const uint64_t *most) {
  bool fits = true;
  for (int32_t p = 0; p < s->n_parts; p++) {
    s->part[p].scale = fl_part_exact_scale_of(most[p], s->all);
    fits = fits && s->part[p].scale.fits;
  }
  return fits;
}

FlStatus fl_sweep_run(Sweep *s, int64_t g, int64_t pieces, int64_t **table, bool *whole) {
  s->g = g;
  s->pieces = pieces;
  s->piece = (s->n + pieces - 1) / pieces;
  s->far = g * s->words * (int64_t)sizeof *s->table > CACHE;
  s->table = fl_part_near(s->m, pieces * g * s->words, sizeof *s->table);
  double cost = 1.0 + 1.5 * s->n_parts;
  if (s->table == NULL) return 1;
  if (fl_part_for(s->m->ctx, sweep_body, s, pieces, cost * (double)s->piece) != 0) return 1;
  if (fl_part_for(s->m->ctx, merge_body, s, g, cost * (double)pieces) != 0) return 1;
  *table = s->table;
  *whole = atomic_load(&s->dropped) == 0;
  return 0;
}

typedef struct Adding {
  const Sweep *s;
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

FlStatus fl_sweep_add(const Sweep *s, int64_t from, int64_t to, const int64_t *theirs) {
  const Adding a = {s, from, theirs};
  return fl_part_for(s->m->ctx, adding_body, &a, to - from, 1.0 + 1.5 * s->n_parts);
}

FlStatus fl_sweep_store(Sweep *s, int64_t from, int64_t g, FlSlot *results) {
  int64_t *counts = fl_part_alloc(s->m, g, sizeof *counts);
  FlStatus status = counts == NULL;
  s->table += from * s->words;
  s->g = g;
  for (int64_t k = 0; k < g && !status; k++) counts[k] = s->table[k * s->words];
  for (int32_t p = 0; p < s->n_parts && !status; p++) {
    Part *part = &s->part[p];
    part->agg.g = g;
    part->agg.counts = counts;
    status = store(s, part, false);
    results[2 * p].a = part->agg.value;
    results[2 * p + 1].a = part->agg.valid;
  }
  return status;
}
