/* sort.c: the order of rows by several keys.
 *
 * Comes in: key columns, each ascending or descending. Goes out: row numbers in order. Always holds: stable;
 * null last and NaN before it in both directions; -0.0 equals 0.0.
 *
 * Keys become words (encode.c). One word that leaves room for the row number below it is sorted as one 64-bit
 * word; else pairs of word and row are sorted by each word, the last first. What does not fit in memory so is
 * sorted part by part (order_parts.c). Rows that are in order, or fall all the way, are only numbered. */
#include "part/part_internal.h"

static const double SORT_COST = 40; /* nanoseconds of a row and a key, at least */

typedef struct Order {
  const uint64_t *word;
  uint64_t *packed; /* word above row number; or */
  FlPartPair *pairs;
  int row_bits;
  int64_t *rows;
  bool first; /* the pairs have no rows yet */
} Order;

static int32_t pack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) o->packed[i] = o->word[i] << o->row_bits | (uint64_t)i;
  return 0;
}

static int32_t unpack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  uint64_t mask = (UINT64_C(1) << o->row_bits) - 1;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) o->rows[i] = (int64_t)(o->packed[i] & mask);
  return 0;
}

static int32_t pair_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = o->first ? i : o->pairs[i].row;
    o->pairs[i] = (FlPartPair){o->word[row], row};
  }
  return 0;
}

static int32_t unpair_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) o->rows[i] = o->pairs[i].row;
  return 0;
}

/* Whether a word of 64 bits holds the words of a row and its number. */
static bool is_packed(const FlPartCodes *codes) {
  int row_bits = fl_part_bits((uint64_t)codes->n);
  return codes->n_words == 1 && codes->words[0].bits + row_bits <= 64 && row_bits < 64;
}

int64_t fl_part_order_bytes(const FlPartCodes *codes) {
  size_t row = is_packed(codes) ? 2 * sizeof(uint64_t) : 2 * sizeof(FlPartPair) + sizeof(uint64_t);
  return codes->n * (int64_t)row;
}

static FlStatus sort_codes(FlPartMem *m, FlPartCodes *codes, int64_t *rows) {
  int64_t n = codes->n, bytes = fl_part_order_bytes(codes);
  Order o = {.row_bits = fl_part_bits((uint64_t)n), .rows = rows, .first = true};
  bool packed = is_packed(codes);
  int64_t room = fl_pool_room(m->ctx ? fl_ctx_pool(m->ctx) : NULL, bytes);
  if (room < bytes) return fl_part_order_parts(m, codes, room, rows, NULL);
  if (packed) {
    uint64_t *word = fl_part_store_words(m, codes, 0);
    o.word = word;
    o.packed = fl_part_near(m, n, sizeof *o.packed);
    if (word == NULL || o.packed == NULL || fl_part_for(m->ctx, pack_body, &o, n, 1.0) != 0) return 1;
    if (fl_part_sort_words(m, o.packed, word, n, o.row_bits, codes->words[0].bits, &o.packed) != 0) return 1;
    return fl_part_for(m->ctx, unpack_body, &o, n, 1.0);
  }
  FlPartPair *spare = fl_part_near(m, n, sizeof *spare);
  o.pairs = fl_part_near(m, n, sizeof *o.pairs);
  if (spare == NULL || o.pairs == NULL) return 1;
  for (int32_t w = codes->n_words - 1; w >= 0; w--) {
    FlPartPair *sorted;
    o.word = fl_part_store_words(m, codes, w);
    if (o.word == NULL || fl_part_for(m->ctx, pair_body, &o, n, o.first ? 1.0 : 5.0) != 0) return 1;
    if (fl_part_sort_pairs(m, o.pairs, spare, n, codes->words[w].bits, &sorted) != 0) return 1;
    spare = sorted == o.pairs ? spare : o.pairs;
    o.pairs = sorted;
    o.first = false;
    fl_part_release(m, o.word);
    codes->words[w].stored = NULL;
  }
  return fl_part_for(m->ctx, unpair_body, &o, n, 1.0);
}

static void read_first(const void *env, int64_t row, int64_t n, uint64_t *out) {
  fl_part_read_words(env, 0, row, n, out);
}

typedef struct Numbers {
  int64_t *rows, first, step;
} Numbers;

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *k = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) k->rows[i] = k->first + k->step * i;
  return 0;
}

/* 1, -1: the rows are in order, or fall all the way. */
static FlStatus way_of(FlPartMem *m, const FlPartCodes *codes, int *way) {
  *way = 0;
  return codes->n_words == 1 ? fl_part_in_order(m->ctx, read_first, codes, codes->n, way) : 0;
}

/* The places [from, to) of rows that go one way. */
static FlStatus number(FlPartMem *m, const FlPartCodes *codes, int way, int64_t from, int64_t to,
                       int64_t *rows) {
  Numbers k = {rows, way > 0 ? from : codes->n - 1 - from, way};
  return fl_part_for(m->ctx, number_body, &k, to - from, 0.7);
}

/* ---- one key of texts ---------------------------------------------------------------------------------- */

/* The rows as the texts' order has them, those of equal texts by their numbers, null last; false: there is no
 * such order. */
static bool put_ordered(const FlPartCodes *codes, int64_t *rows) {
  const FlPartDigit *d = codes->digits;
  if (codes->n_words != 1 || d == NULL || d->order == NULL) return false;
  int64_t n = 0;
  for (int64_t row = 0; row < codes->n; row++) n += d->id[row] >= 0;
  for (int64_t row = 0, at = n; n < codes->n && row < codes->n; row++)
    if (d->id[row] < 0) rows[at++] = row;
  for (int64_t k = 0; !d->key->descending && k < n; k++) rows[k] = d->order[k].row;
  for (int64_t end = d->key->descending ? n : 0, at = 0; end > 0;) {
    int64_t begin = end - 1;
    while (d->order[begin].key == 0) begin--;
    for (int64_t k = begin; k < end; k++) rows[at++] = d->order[k].row;
    end = begin;
  }
  return true;
}

FlStatus fl_part_order_codes(FlPartMem *m, FlPartCodes *codes, int64_t *rows) {
  int way;
  if (put_ordered(codes, rows)) return 0;
  if (way_of(m, codes, &way) != 0) return 1;
  return way ? number(m, codes, way, 0, codes->n, rows) : sort_codes(m, codes, rows);
}

static FlStatus order_share(FlPartMem *m, const FlPartCodes *codes, const FlOpPart *part, FlArray **rows) {
  int way;
  int64_t n = codes->n, at[2];
  if (way_of(m, codes, &way) != 0) return 1;
  if (way == 0) return fl_part_order_share(m, codes, part->from, part->to, rows);
  for (int k = 0; k < 2; k++)
    at[k] = n / part->to * (part->from + k) + n % part->to * (part->from + k) / part->to;
  n = at[1] - at[0];
  *rows = fl_array_new(m->ctx, FL_I64, 1, &n);
  return *rows == NULL ? 1 : number(m, codes, way, at[0], at[1], (*rows)->data);
}

FlStatus fl_part_order(FlPartMem *m, FlPartCodes *codes, FlArray **rows) {
  const FlOpPart *part = fl_ctx_op_part(m->ctx);
  if (part) return order_share(m, codes, part, rows);
  *rows = fl_array_new(m->ctx, FL_I64, 1, &codes->n);
  return *rows == NULL ? 1 : fl_part_order_codes(m, codes, (*rows)->data);
}

bool fl_part_order_told(FlPartMem *m, const FlPartKey *keys, const FlOpDesc *desc) {
  FlOpPart *part = fl_ctx_op_part(m->ctx);
  int64_t n = keys[0].side[0].n;
  if (!fl_part_is_told(m->ctx, n, n <= UINT32_MAX, SORT_COST * desc->n_columns, 0)) return false;
  part->bytes = n * (int64_t)(2 * sizeof(FlPartPair) + sizeof(uint64_t));
  return true;
}

static FlStatus sort_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **rows) {
  FlPartKey *keys;
  FlPartCodes codes;
  if (fl_part_keys(m, desc, args, &keys) != 0) return 1;
  if (fl_part_order_told(m, keys, desc)) return 0;
  if (fl_part_encode(m, keys, desc->n_columns, 1, true, &codes) != 0) return 1;
  return fl_part_order(m, &codes, rows);
}

FlStatus fl_rt_sort_perm(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, sort_rows);
}
