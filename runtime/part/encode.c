/* encode.c: key columns as unsigned words that order and compare like the keys.
 *
 * Comes in: key columns of any type with or without nulls, ascending or descending. Goes out: as few words a
 * row as hold the keys. Always holds: rows compare by their words from left to right as by their keys, null
 * last and NaN before it in both directions; equal keys (LANGUAGE 4) have equal words.
 *
 * A key becomes a digit: its distance from the least (or, descending, the greatest) value of the column, then
 * one place for NaN and one for null if they occur. Digits are joined in mixed radix while the product fits
 * in 64 bits. A text's value is its place among the distinct texts of the column. */
#include "part/part_internal.h"

/* What one key's values look like; codes are those of fl_part_read_code, or the rank of a text. */
typedef struct Range {
  uint64_t least, greatest; /* of proper values; least > greatest: none */
  bool nan, null;
} Range;

typedef struct Digit {
  const FlPartKey *key;
  const FlPartCol *column; /* the side being written */
  int64_t offset, n;       /* its first row, its rows */
  const int64_t *id;       /* texts: entry of each row; */
  const uint64_t *rank;    /* and the rank of each entry */
  Range range;
  bool split; /* null has a digit of its own, this is the value's: under null it is 0 */
  uint64_t nan_code, null_code, radix;
  bool opens; /* first digit of its word */
  uint64_t *word;
  Range *ranges; /* one a chunk, while ranging */
} Digit;

static inline bool is_float(int32_t dtype) { return dtype == FL_F64 || dtype == FL_F32; }

static void read_block(const Digit *d, int64_t begin, int64_t n, uint64_t *code) {
  if (d->id == NULL) {
    fl_part_read_code(d->column, begin, n, code);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t id = d->id[d->offset + begin + i];
    code[i] = id < 0 ? 0 : d->rank[id];
  }
}

static int32_t range_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Digit *d = env;
  uint64_t code[FL_PART_BATCH];
  bool nan_is_max = is_float(d->column->dtype);
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    Range r = {UINT64_MAX, 0, false, false};
    fl_part_chunk(c, d->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, to - row);
      read_block(d, row, count, code);
      for (int64_t i = 0; i < count; i++) {
        if (!fl_part_valid(d->column->valid, row + i)) {
          r.null = true;
        } else if (nan_is_max && code[i] == UINT64_MAX) {
          r.nan = true;
        } else {
          r.least = code[i] < r.least ? code[i] : r.least;
          r.greatest = code[i] > r.greatest ? code[i] : r.greatest;
        }
      }
    }
    d->ranges[c] = r;
  }
  return 0;
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Digit *d = env;
  uint64_t code[FL_PART_BATCH];
  bool nan_is_max = is_float(d->column->dtype), descending = d->key->descending;
  const uint8_t *valid = d->column->valid;
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    uint64_t *word = d->word + d->offset + row;
    read_block(d, row, count, code);
    for (int64_t i = 0; i < count; i++) {
      bool is_nan = nan_is_max && code[i] == UINT64_MAX;
      code[i] = descending ? d->range.greatest - code[i] : code[i] - d->range.least;
      code[i] = is_nan ? d->nan_code : code[i];
    }
    for (int64_t i = 0; valid != NULL && i < count; i++) code[i] = valid[row + i] ? code[i] : d->null_code;
    if (d->opens) {
      memcpy(word, code, (size_t)count * sizeof *word);
    } else {
      for (int64_t i = 0; i < count; i++) word[i] = word[i] * d->radix + code[i];
    }
  }
  return 0;
}

/* The digit that only says whether the key is null. */
static int32_t write_null_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Digit *d = env;
  (void)ctx;
  for (int64_t row = begin; row < end; row++) {
    uint64_t *word = d->word + d->offset + row;
    uint64_t null = !fl_part_valid(d->column->valid, row);
    *word = d->opens ? null : *word * 2 + null;
  }
  return 0;
}

static FlStatus find_range(FlPartMem *m, Digit *d, int32_t n_sides) {
  d->range = (Range){UINT64_MAX, 0, false, false};
  d->offset = 0;
  for (int32_t s = 0; s < n_sides; s++) {
    d->column = &d->key->side[s];
    d->n = d->column->n;
    int64_t chunks = fl_part_chunks(d->n);
    d->ranges = fl_part_alloc(m, chunks, sizeof *d->ranges);
    if (d->ranges == NULL || fl_part_for(m->ctx, range_body, d, chunks, 1.5 * (double)FL_PART_CHUNK) != 0) return 1;
    for (int64_t c = 0; c < chunks; c++) {
      Range r = d->ranges[c];
      d->range.least = r.least < d->range.least ? r.least : d->range.least;
      d->range.greatest = r.greatest > d->range.greatest ? r.greatest : d->range.greatest;
      d->range.nan |= r.nan;
      d->range.null |= r.null;
    }
    fl_part_release(m, d->ranges);
    d->offset += d->n;
  }
  return 0;
}

/* Appends a digit with values 0..greatest: to the last word if the product fits, else in a new word. */
static FlStatus append(FlPartMem *m, FlPartCodes *out, Digit *d, int32_t n_sides, uint64_t greatest,
                       FlKernelFn body) {
  int32_t last = out->n_words - 1;
  uint64_t joined = 0;
  bool fits = last >= 0 && greatest < UINT64_MAX &&
              !__builtin_mul_overflow(out->max[last], greatest + 1, &joined) &&
              !__builtin_add_overflow(joined, greatest, &joined);
  d->opens = !fits;
  d->radix = greatest + 1; /* 0 only for a digit that fills its word, which is never multiplied */
  if (fits) {
    out->max[last] = joined;
  } else {
    last = out->n_words++;
    out->max[last] = greatest;
    out->word[last] = fl_part_alloc(m, out->n, sizeof **out->word);
    if (out->word[last] == NULL) return 1;
  }
  out->bits[last] = fl_part_bits(out->max[last]);
  d->word = out->word[last];
  d->offset = 0;
  for (int32_t s = 0; s < n_sides; s++) {
    d->column = &d->key->side[s];
    d->n = d->column->n;
    if (fl_part_for(m->ctx, body, d, d->n, 2.0) != 0) return 1;
    d->offset += d->n;
  }
  return 0;
}

/* Gives the texts of a key entries and ranks. */
static FlStatus rank_texts(FlPartMem *m, Digit *d, int32_t n_sides, int64_t n, bool ordered) {
  const FlPartCol *side = d->key->side;
  FlPartTexts texts = {{side[0].data, n_sides > 1 ? side[1].data : NULL}, side[0].n};
  const uint8_t *const valid[2] = {side[0].valid, n_sides > 1 ? side[1].valid : NULL};
  FlPartEntry *entries;
  int64_t count, distinct = 0;
  int64_t *id = fl_part_alloc(m, n, sizeof *id);
  if (id == NULL || fl_part_hash_texts(m, &texts, valid, n, id, &entries, &count) != 0) return 1;
  uint64_t *rank = fl_part_alloc(m, count, sizeof *rank);
  FlPartPair *items = fl_part_alloc(m, count, sizeof *items), *spare = fl_part_alloc(m, count, sizeof *spare);
  if (rank == NULL || items == NULL || spare == NULL) return 1;
  for (int64_t k = 0; k < count; k++) {
    int64_t first = atomic_load_explicit(&entries[k].first, memory_order_relaxed);
    if (first >= 0) items[distinct++].row = first;
  }
  if (ordered && fl_part_order_texts(m, &texts, items, spare, distinct) != 0) return 1;
  for (int64_t k = 0; k < distinct; k++) rank[id[items[k].row]] = (uint64_t)k;
  fl_part_release(m, items);
  fl_part_release(m, spare);
  fl_part_release(m, entries);
  d->id = id;
  d->rank = rank;
  return 0;
}

static FlStatus encode_key(FlPartMem *m, const FlPartKey *key, int32_t n_sides, bool ordered,
                           FlPartCodes *out) {
  Digit d = {.key = key};
  FlKind kind = fl_dtype_info[key->side[0].dtype].kind;
  if (kind == FL_KIND_TEXT && rank_texts(m, &d, n_sides, out->n, ordered) != 0) return 1;
  if (find_range(m, &d, n_sides) != 0) return 1;
  bool any = d.range.least <= d.range.greatest;
  uint64_t width = any ? d.range.greatest - d.range.least : 0;
  uint64_t extra = (uint64_t)d.range.nan + d.range.null;
  d.split = width > UINT64_MAX - extra;
  if (d.split) { /* only integers that span their whole type, with nulls */
    if (append(m, out, &d, n_sides, 1, write_null_body) != 0) return 1;
    return append(m, out, &d, n_sides, width, write_body);
  }
  d.nan_code = any ? width + 1 : 0;
  d.null_code = d.nan_code + d.range.nan;
  uint64_t greatest = width + extra - (!any && extra > 0);
  FlStatus status = append(m, out, &d, n_sides, greatest, write_body);
  fl_part_release(m, d.id);
  fl_part_release(m, d.rank);
  return status;
}

FlStatus fl_part_encode(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, int32_t n_sides, bool ordered,
                        FlPartCodes *out) {
  int32_t most = 2 * n_keys;
  *out = (FlPartCodes){.n = keys[0].side[0].n + (n_sides > 1 ? keys[0].side[1].n : 0)};
  out->word = fl_part_alloc(m, most, sizeof *out->word);
  out->bits = fl_part_alloc(m, most, sizeof *out->bits);
  out->max = fl_part_alloc(m, most, sizeof *out->max);
  if (out->word == NULL || out->bits == NULL || out->max == NULL) return 1;
  for (int32_t k = 0; k < n_keys; k++) {
    if (encode_key(m, &keys[k], n_sides, ordered, out) != 0) return 1;
  }
  return 0;
}
