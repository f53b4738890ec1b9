/* encode.c: key columns as unsigned words that order and compare like the keys.
 *
 * Comes in: key columns of any type with or without nulls, ascending or descending. Goes out: what makes as
 * few words a row as hold the keys, block by block. Always holds: rows compare by their words from left to
 * right as by their keys, null last and NaN before it in both directions; equal keys (LANGUAGE 4) have equal
 * words.
 *
 * A key becomes a digit: its distance from the least (or, descending, the greatest) value of the column, then
 * one place for NaN and one for null if they occur. Digits are joined in mixed radix while the product fits
 * in 64 bits. A text's value is its code where the column has codes, else its place among the distinct texts
 * of the column. */
#include "part/dictionary.h"
#include "data/text_order.h"
#include "part/part_internal.h"
#include "part/fill.h"

static inline bool is_float(int32_t dtype) { return dtype == FL_F64 || dtype == FL_F32; }

/* ---- reading ------------------------------------------------------------------------------------------- */

#define READ(T)                                                                                              \
  {                                                                                                          \
    const T *code = (const T *)d->code[side] + row;                                                          \
    if (rank_of == NULL) {                                                                                   \
      for (int64_t i = 0; i < n; i++) out[i] = code[i];                                                      \
    } else {                                                                                                 \
      for (int64_t i = 0; i < n; i++) out[i] = rank_of[code[i]];                                             \
    }                                                                                                        \
    return;                                                                                                  \
  }

/* Order codes of rows of one side, as fl_part_read_code; of texts their ranks. */
static void read_codes(const FlPartDigit *d, int side, int64_t row, int64_t n, uint64_t *out) {
  const uint32_t *rank_of = d->rank_of[side];
  if (d->code[side] != NULL) {
    switch (d->width[side]) {
    case 1: READ(uint8_t)
    case 2: READ(uint16_t)
    default: READ(uint32_t)
    }
  }
  if (d->id == NULL) {
    fl_part_read_code(&d->key->side[side], row, n, out);
    return;
  }
  const int64_t *id = d->id + (side ? d->key->side[0].n : 0) + row;
  if (d->rank == NULL) {
    for (int64_t i = 0; i < n; i++) out[i] = id[i] < 0 ? 0 : (uint64_t)id[i];
  } else {
    for (int64_t i = 0; i < n; i++) out[i] = id[i] < 0 ? 0 : d->rank[id[i]];
  }
}
#undef READ

FL_PART_WIDE static void read_digit(const FlPartDigit *d, int side, int64_t row, int64_t n,
                                    uint64_t *out) {
  const FlPartCol *col = &d->key->side[side];
  const uint8_t *valid = col->valid;
  if (d->says_null) {
    for (int64_t i = 0; i < n; i++) out[i] = !fl_part_valid(valid, row + i);
    return;
  }
  read_codes(d, side, row, n, out);
  uint64_t least = d->least, greatest = d->greatest;
  if (is_float(col->dtype)) {
    for (int64_t i = 0; i < n; i++) {
      uint64_t proper = d->key->descending ? greatest - out[i] : out[i] - least;
      out[i] = out[i] == UINT64_MAX ? d->nan_code : proper;
    }
  } else if (d->key->descending) {
    for (int64_t i = 0; i < n; i++) out[i] = greatest - out[i];
  } else if (least != 0) {
    for (int64_t i = 0; i < n; i++) out[i] -= least;
  }
  for (int64_t i = 0; valid != NULL && i < n; i++) out[i] = valid[row + i] ? out[i] : d->null_code;
}

static void make_words(const FlPartCodes *codes, const FlPartWord *word, int side, int64_t row, int64_t n,
                       uint64_t *out) {
  const FlPartDigit *d = codes->digits + word->digit;
  uint64_t code[FL_PART_BATCH];
  for (int64_t at = 0; at < n; at += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, n - at);
    read_digit(d, side, row + at, count, out + at);
    for (int32_t k = 1; k < word->n_digits; k++) {
      uint64_t radix = d[k].radix;
      read_digit(&d[k], side, row + at, count, code);
      for (int64_t i = 0; i < count; i++) out[at + i] = out[at + i] * radix + code[i];
    }
  }
}

void fl_part_read_words(const FlPartCodes *codes, int32_t w, int64_t begin, int64_t n, uint64_t *out) {
  const FlPartWord *word = &codes->words[w];
  if (word->stored != NULL) {
    memcpy(out, word->stored + begin, (size_t)n * sizeof *out);
    return;
  }
  int64_t left = fl_part_max(0, fl_part_min(n, codes->n_left - begin));
  if (left > 0) make_words(codes, word, 0, begin, left, out);
  if (left < n) make_words(codes, word, 1, begin + left - codes->n_left, n - left, out + left);
}

typedef struct Store {
  const FlPartCodes *codes;
  int32_t w;
  uint64_t *out;
} Store;

static int32_t store_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Store *s = env;
  (void)ctx;
  fl_part_read_words(s->codes, s->w, begin, end - begin, s->out + begin);
  return 0;
}

uint64_t *fl_part_store_words(FlPartMem *m, FlPartCodes *codes, int32_t w) {
  FlPartWord *word = &codes->words[w];
  if (word->stored != NULL) return word->stored;
  Store s = {codes, w, fl_part_alloc(m, codes->n, sizeof *s.out)};
  if (s.out == NULL || fl_part_for(m->ctx, store_body, &s, codes->n, 1.5 * word->n_digits) != 0) return NULL;
  return word->stored = s.out;
}

/* ---- what occurs --------------------------------------------------------------------------------------- */

/* What one key's values look like. */
typedef struct Range {
  uint64_t least, greatest; /* of proper values; least > greatest: none */
  bool nan, null;
} Range;

typedef struct Ranging {
  const FlPartDigit *digit;
  int side;
  int64_t n;
  Range *ranges; /* one a chunk */
} Ranging;

/* Takes n codes in; valid: theirs or NULL. Each question by itself, as vectors answer it. */
FL_PART_WIDE static void widen(Range *r, const uint64_t *code, const uint8_t *valid, bool nan_is_max,
                               int64_t n) {
  uint64_t least = r->least, greatest = r->greatest, nan = 0, null = 0;
  if (valid == NULL && !nan_is_max) {
    for (int64_t i = 0; i < n; i++) {
      least = code[i] < least ? code[i] : least;
      greatest = code[i] > greatest ? code[i] : greatest;
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      uint64_t is_null = valid != NULL && !valid[i] ? UINT64_MAX : 0;
      uint64_t is_nan = nan_is_max && code[i] == UINT64_MAX ? ~is_null : 0, out = is_null | is_nan;
      uint64_t low = code[i] | out, high = code[i] & ~out;
      null |= is_null;
      nan |= is_nan;
      least = low < least ? low : least;
      greatest = high > greatest ? high : greatest;
    }
  }
  r->least = least;
  r->greatest = greatest;
  r->nan |= nan != 0;
  r->null |= null != 0;
}

static int32_t range_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ranging *g = env;
  const FlPartCol *col = &g->digit->key->side[g->side];
  uint64_t code[FL_PART_BATCH];
  bool nan_is_max = is_float(col->dtype);
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    Range r = {UINT64_MAX, 0, false, false};
    fl_part_chunk(c, g->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, to - row);
      read_codes(g->digit, g->side, row, count, code);
      widen(&r, code, col->valid != NULL ? col->valid + row : NULL, nan_is_max, count);
    }
    g->ranges[c] = r;
  }
  return 0;
}

static FlStatus find_range(FlPartMem *m, const FlPartDigit *d, int32_t n_sides, Range *all) {
  *all = (Range){UINT64_MAX, 0, false, false};
  for (int32_t s = 0; s < n_sides; s++) {
    int64_t n = d->key->side[s].n, chunks = fl_part_chunks(n);
    Ranging g = {d, s, n, fl_part_alloc(m, chunks, sizeof *g.ranges)};
    if (g.ranges == NULL || fl_part_for(m->ctx, range_body, &g, chunks, 0.7 * (double)FL_PART_CHUNK) != 0)
      return 1;
    for (int64_t c = 0; c < chunks; c++) {
      Range r = g.ranges[c];
      all->least = r.least < all->least ? r.least : all->least;
      all->greatest = r.greatest > all->greatest ? r.greatest : all->greatest;
      all->nan |= r.nan;
      all->null |= r.null;
    }
    fl_part_release(m, g.ranges);
  }
  return 0;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

/* Numbers the texts of two dictionaries together. Goes out: how many there are, -1 on failure. */
static int64_t merge(FlPartMem *m, const FlDictionary *a, const FlDictionary *b, FlPartDigit *d) {
  uint32_t *left = fl_part_alloc(m, a->n, sizeof *left), *right = fl_part_alloc(m, b->n, sizeof *right);
  if (left == NULL || right == NULL) return -1;
  int64_t i = 0, j = 0;
  uint32_t rank = 0;
  for (; i < a->n || j < b->n; rank++) {
    int order = i == a->n ? 1 : j == b->n ? -1 : fl_text_order(a->texts[i], b->texts[j]);
    if (order <= 0) left[i++] = rank;
    if (order >= 0) right[j++] = rank;
  }
  d->rank_of[0] = left;
  d->rank_of[1] = right;
  return rank;
}

/* Uses the codes of the columns; *n: how many different texts they speak of, 0 where some side has no codes,
 * or there is no text. */
static FlStatus use_codes(FlPartMem *m, FlPartDigit *d, int32_t n_sides, int64_t *n) {
  const FlTextCodes *found[2] = {0};
  bool some = false;
  *n = 0;
  for (int pass = 0; pass < n_sides; pass++) { /* where one side has codes, the other gets some, too */
    for (int32_t s = 0; s < n_sides; s++) {
      const FlArray *array = d->key->side[s].array;
      if (array == NULL) return 0;
      if (fl_part_find_codes(m->ctx, array, some && pass > 0) != 0) return 1;
      found[s] = fl_text_codes(array, &d->code[s]);
      some |= found[s] != NULL;
      d->width[s] = found[s] != NULL ? found[s]->width : 0;
    }
  }
  bool all = found[0] != NULL && (n_sides == 1 || found[1] != NULL);
  bool one = all && (n_sides == 1 || found[0]->dictionary == found[1]->dictionary);
  if (all) *n = one ? found[0]->dictionary->n : merge(m, found[0]->dictionary, found[1]->dictionary, d);
  if (*n == 0) d->code[0] = d->code[1] = NULL;
  return *n < 0;
}

typedef struct Rank {
  const FlPartPair *items;
  int64_t n, *begin; /* [chunks + 1] texts that begin before the chunk */
  int64_t *id;
} Rank;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rank *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    uint64_t count = 0;
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t k = from; k < to; k++) count += r->items[k].key;
    r->begin[c + 1] = (int64_t)count;
  }
  return 0;
}

static int32_t rank_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rank *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, id = r->begin[c] - 1;
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t k = from; k < to; k++) r->id[r->items[k].row] = id += (int64_t)r->items[k].key;
  }
  return 0;
}

/* The numbers of texts in order; *n_texts: how many there are. */
static FlStatus number_texts(FlPartMem *m, const FlPartPair *items, int64_t n, int64_t *id,
                             int64_t *n_texts) {
  int64_t chunks = fl_part_chunks(n);
  Rank r = {items, n, fl_part_alloc(m, chunks + 1, sizeof *r.begin), id};
  if (r.begin == NULL || fl_part_for(m->ctx, count_body, &r, chunks, 0.5 * FL_PART_CHUNK) != 0) return 1;
  r.begin[0] = 0;
  for (int64_t c = 0; c < chunks; c++) r.begin[c + 1] += r.begin[c];
  *n_texts = r.begin[chunks];
  FlStatus status = fl_part_for(m->ctx, rank_body, &r, chunks, 3.0 * FL_PART_CHUNK);
  fl_part_release(m, r.begin);
  return status;
}

/* A key of texts that gets entries and ranks: its sides, one below the other. */
typedef struct Side {
  FlPartTexts texts;
  const uint8_t *valid[2];
  int64_t n;
} Side;

static inline bool is_null(const Side *s, int64_t row) {
  int side = row >= s->texts.n0;
  return !fl_part_valid(s->valid[side], side ? row - s->texts.n0 : row);
}

/* Orders all rows at once and numbers the texts as they come. */
static FlStatus order_rows(FlPartMem *m, FlPartDigit *d, const Side *s, bool alone, int64_t *id,
                           int64_t *n_texts) {
  FlPartPair *items = fl_part_alloc(m, s->n, sizeof *items), *spare = fl_part_alloc(m, s->n, sizeof *spare);
  int64_t n = 0;
  if (items == NULL || spare == NULL) return 1;
  for (int64_t row = 0; row < s->n; row++) {
    if (is_null(s, row)) id[row] = -1;
    else items[n++].row = row;
  }
  if (fl_part_order_texts(m, &s->texts, items, spare, n) != 0) return 1;
  if (number_texts(m, items, n, id, n_texts) != 0) return 1;
  fl_part_release(m, spare);
  d->id = id;
  if (alone) d->order = items;
  else fl_part_release(m, items);
  return 0;
}

/* Finds the different texts and orders these. */
static FlStatus order_entries(FlPartMem *m, FlPartDigit *d, const Side *s, bool ordered, int64_t *id,
                              int64_t *n_texts) {
  FlPartEntry *entries;
  int64_t count, distinct = 0;
  if (fl_part_hash_texts(m, &s->texts, s->valid, s->n, id, &entries, &count) != 0) return 1;
  uint64_t *rank = fl_part_alloc(m, count, sizeof *rank);
  FlPartPair *items = fl_part_alloc(m, count, sizeof *items), *spare = fl_part_alloc(m, count, sizeof *spare);
  if (rank == NULL || items == NULL || spare == NULL) return 1;
  for (int64_t k = 0; k < count; k++) {
    int64_t first = atomic_load_explicit(&entries[k].first, memory_order_relaxed);
    if (first >= 0) items[distinct++].row = first;
  }
  if (ordered && fl_part_order_texts(m, &s->texts, items, spare, distinct) != 0) return 1;
  for (int64_t k = 0; k < distinct; k++) rank[id[items[k].row]] = (uint64_t)k;
  fl_part_release(m, items);
  fl_part_release(m, spare);
  fl_part_release(m, entries);
  d->id = id;
  d->rank = rank;
  *n_texts = distinct;
  return 0;
}

/* Whether so many rows of a sample have texts of their own that finding equal ones first is work for nothing,
 * and all rows can be ordered in the memory that there is. */
static bool mostly_different(FlPartMem *m, const Side *s) {
  enum { MOST = 1 << 12, SHARE = 16, ROW = 2 * sizeof(FlPartPair) };
  int64_t some = fl_part_min(s->n / SHARE, MOST), n = 0, different = 0;
  if (fl_pool_room(fl_part_pool(m), s->n * ROW) < s->n * ROW) return false;
  FlPartPair *sample = fl_part_alloc(m, some, sizeof *sample), *spare = fl_part_alloc(m, some, sizeof *spare);
  if (sample == NULL || spare == NULL) return false;
  for (int64_t k = 0; k < some; k++) {
    int64_t row = fl_part_sampled(s->n / some * k, s->n / some * (k + 1), k);
    if (!is_null(s, row)) sample[n++].row = row;
  }
  if (fl_part_order_texts(m, &s->texts, sample, spare, n) != 0) return false;
  for (int64_t k = 0; k < n; k++) different += (int64_t)sample[k].key;
  fl_part_release(m, sample);
  fl_part_release(m, spare);
  return different >= n - n / 16;
}

/* Gives the texts of a key without codes entries and ranks. alone: there are no other keys. */
static FlStatus rank_texts(FlPartMem *m, FlPartDigit *d, int32_t n_sides, int64_t n, bool ordered, bool alone,
                           int64_t *n_texts) {
  const FlPartCol *side = d->key->side;
  bool both = n_sides > 1;
  for (int32_t k = 0; k < n_sides; k++)
    if (fl_part_fill(m->ctx, side[k].array) != 0) return 1;
  Side s = {.texts = {{side[0].data, both ? side[1].data : NULL}, side[0].n},
            .valid = {side[0].valid, both ? side[1].valid : NULL},
            .n = n};
  int64_t *id = fl_part_alloc(m, n, sizeof *id);
  if (id == NULL) return 1;
  if (ordered && mostly_different(m, &s)) return order_rows(m, d, &s, alone && !both, id, n_texts);
  return order_entries(m, d, &s, ordered, id, n_texts);
}

/* ---- together ------------------------------------------------------------------------------------------ */

/* Appends a digit with values 0..greatest: to the last word if the product fits, else in a new word. */
static void append(FlPartCodes *out, FlPartDigit *d, int32_t digit, uint64_t greatest) {
  FlPartWord *last = out->n_words > 0 ? &out->words[out->n_words - 1] : NULL;
  uint64_t joined = 0;
  bool fits = last != NULL && greatest < UINT64_MAX &&
              !__builtin_mul_overflow(last->max, greatest + 1, &joined) &&
              !__builtin_add_overflow(joined, greatest, &joined);
  d->radix = greatest + 1; /* 0 only for a digit that fills its word, which is never multiplied */
  if (!fits) {
    last = &out->words[out->n_words++];
    *last = (FlPartWord){.digit = digit, .max = greatest};
    joined = greatest;
  }
  last->max = joined;
  last->n_digits++;
  last->bits = fl_part_bits(joined);
}

/* alone: there are no other keys. */
static FlStatus encode_key(FlPartMem *m, const FlPartKey *key, int32_t n_sides, bool ordered, bool alone,
                           int32_t *n_digits, FlPartCodes *out) {
  FlPartDigit d = {.key = key};
  Range range;
  int64_t n_texts = 0;
  bool text = fl_dtype_info[key->side[0].dtype].kind == FL_KIND_TEXT;
  if (text && use_codes(m, &d, n_sides, &n_texts) != 0) return 1;
  if (text && n_texts == 0 && rank_texts(m, &d, n_sides, out->n, ordered, alone, &n_texts) != 0) return 1;
  if (n_texts > 0) {
    bool null = key->side[0].valid != NULL || (n_sides > 1 && key->side[1].valid != NULL);
    range = (Range){0, (uint64_t)n_texts - 1, false, null};
  } else if (find_range(m, &d, n_sides, &range) != 0) {
    return 1;
  }
  bool any = range.least <= range.greatest;
  uint64_t width = any ? range.greatest - range.least : 0, extra = (uint64_t)range.nan + range.null;
  d.least = range.least;
  d.greatest = range.greatest;
  if (width > UINT64_MAX - extra) { /* only integers that span their whole type, with nulls */
    FlPartDigit null = {.key = key, .says_null = true};
    append(out, &null, *n_digits, 1);
    out->digits[(*n_digits)++] = null;
    append(out, &d, *n_digits, width);
    out->digits[(*n_digits)++] = d;
    return 0;
  }
  d.nan_code = any ? width + 1 : 0;
  d.null_code = d.nan_code + range.nan;
  append(out, &d, *n_digits, width + extra - (!any && extra > 0));
  out->digits[(*n_digits)++] = d;
  return 0;
}

FlStatus fl_part_encode(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, int32_t n_sides, bool ordered,
                        FlPartCodes *out) {
  int32_t most = 2 * n_keys, n_digits = 0;
  *out = (FlPartCodes){.n = keys[0].side[0].n + (n_sides > 1 ? keys[0].side[1].n : 0),
                       .n_left = keys[0].side[0].n};
  out->words = fl_part_alloc(m, most, sizeof *out->words);
  out->digits = fl_part_alloc(m, most, sizeof *out->digits);
  if (out->words == NULL || out->digits == NULL) return 1;
  for (int32_t k = 0; k < n_keys; k++) {
    if (encode_key(m, &keys[k], n_sides, ordered, n_keys == 1, &n_digits, out) != 0) return 1;
  }
  return 0;
}

FlStatus fl_part_encode_whole(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, FlPartCodes *out) {
  int64_t n = keys[0].side[0].n;
  *out = (FlPartCodes){.n = n, .n_left = n};
  out->words = fl_part_alloc(m, 2 * n_keys, sizeof *out->words);
  out->digits = fl_part_alloc(m, 2 * n_keys, sizeof *out->digits);
  if (out->words == NULL || out->digits == NULL) return 1;
  for (int32_t k = 0; k < n_keys; k++) {
    const FlPartKey *key = &keys[k];
    if (key->side[0].valid != NULL) {
      out->digits[out->n_words] = (FlPartDigit){.key = key, .says_null = true};
      out->words[out->n_words] = (FlPartWord){.digit = out->n_words, .n_digits = 1, .bits = 1, .max = 1};
      out->n_words++;
    }
    out->digits[out->n_words] = (FlPartDigit){.key = key, .greatest = UINT64_MAX, .nan_code = UINT64_MAX};
    out->words[out->n_words] =
        (FlPartWord){.digit = out->n_words, .n_digits = 1, .bits = 64, .max = UINT64_MAX};
    out->n_words++;
  }
  return 0;
}
