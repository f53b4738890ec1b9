/* encode.c: key columns as unsigned words that order and compare like the keys.
 *
 * Comes in: key columns of any type with or without nulls, ascending or descending. Goes out: what makes as
 * few words a row as hold the keys, block by block. Always holds: rows compare by their words from left to
 * right as by their keys, null last and NaN before it in both directions; equal keys (LANGUAGE 4) have equal
 * words.
 *
 * A key becomes a digit: its distance from the least (or, descending, the greatest) value of the column, then
 * one place for NaN and one for null if they occur. Digits are joined in mixed radix while the product fits
 * in 64 bits. A text's value is its number (encode_texts.c). */
#include "part/part_internal.h"

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

FL_PART_WIDE static void read_digit(const FlPartDigit *d, int side, int64_t row, int64_t n, uint64_t *out) {
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

/* Whether a key is of signed integers, 4 or 8 bytes each, all of which are there. */
static bool is_plain(const FlPartDigit *d, int side) {
  const FlPartCol *col = &d->key->side[side];
  FlKind kind = fl_dtype_info[col->dtype].kind;
  bool is_signed = kind == FL_KIND_SIGNED || kind == FL_KIND_TIME || kind == FL_KIND_DECIMAL;
  return is_signed && fl_dtype_info[col->dtype].bytes >= 4 && col->valid == NULL && !d->says_null;
}

#define DIGITS(T)                                                                                            \
  {                                                                                                          \
    const T *v = (const T *)col->data + row;                                                                 \
    if (radix == 0) {                                                                                        \
      for (int64_t i = 0; i < n; i++) out[i] = ((uint64_t)v[i] ^ down) + add;                                \
    } else {                                                                                                 \
      for (int64_t i = 0; i < n; i++) out[i] = out[i] * radix + (((uint64_t)v[i] ^ down) + add);             \
    }                                                                                                        \
    return;                                                                                                  \
  }

/* read_digit of a plain key, in one pass: in an order code the first bit is turned over, which is to add it,
 * and a distance from the greatest is that of all bits turned over. The digits of `radix` follow those in
 * `out`; 0: there are none. */
FL_PART_WIDE static void read_plain(const FlPartDigit *d, int side, int64_t row, int64_t n, uint64_t radix,
                                    uint64_t *out) {
  const FlPartCol *col = &d->key->side[side];
  const uint64_t first = UINT64_C(1) << 63, down = d->key->descending ? UINT64_MAX : 0;
  uint64_t add = d->key->descending ? d->greatest - first + 1 : first - d->least;
  if (fl_dtype_info[col->dtype].bytes == sizeof(int64_t)) DIGITS(int64_t)
  else DIGITS(int32_t)
}
#undef DIGITS

static void make_words(const FlPartCodes *codes, const FlPartWord *word, int side, int64_t row, int64_t n,
                       uint64_t *out) {
  const FlPartDigit *d = codes->digits + word->digit;
  uint64_t code[FL_PART_BATCH];
  for (int64_t at = 0; at < n; at += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, n - at);
    if (is_plain(d, side)) read_plain(d, side, row + at, count, 0, out + at);
    else read_digit(d, side, row + at, count, out + at);
    for (int32_t k = 1; k < word->n_digits; k++) {
      uint64_t radix = d[k].radix;
      if (is_plain(&d[k], side)) {
        read_plain(&d[k], side, row + at, count, radix, out + at);
        continue;
      }
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

#define EXTREMES(T)                                                                                          \
  {                                                                                                          \
    const T *v = (const T *)col->data;                                                                       \
    T least = v[from], greatest = v[from];                                                                   \
    for (int64_t row = from; row < to; row++) {                                                              \
      least = v[row] < least ? v[row] : least;                                                               \
      greatest = v[row] > greatest ? v[row] : greatest;                                                      \
    }                                                                                                        \
    return (Range){(uint64_t)least + first, (uint64_t)greatest + first, false, false};                       \
  }

/* Of the rows [from, to) of a plain key, at least one. */
FL_PART_WIDE static Range range_plain(const FlPartCol *col, int64_t from, int64_t to) {
  const uint64_t first = UINT64_C(1) << 63;
  if (fl_dtype_info[col->dtype].bytes == sizeof(int64_t)) EXTREMES(int64_t)
  else EXTREMES(int32_t)
}
#undef EXTREMES

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
    if (is_plain(g->digit, g->side)) {
      g->ranges[c] = range_plain(col, from, to);
      continue;
    }
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

FlStatus fl_part_key_range(FlPartMem *m, const FlPartKey *key, uint64_t *least, uint64_t *greatest) {
  const FlPartDigit d = {.key = key};
  Range range;
  if (find_range(m, &d, 1, &range) != 0) return 1;
  *least = range.least;
  *greatest = range.greatest;
  return 0;
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
  if (text && fl_part_number_texts(m, &d, n_sides, out->n, ordered, alone, &n_texts) != 0) return 1;
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
