/* key_set.c: the operators key_set and in_keys: which rows may have a partner among the keys of other rows,
 * asked before the rows are kept, so that a join of a large table with a small one never sees most of it.
 *
 * In: the key columns of the small side; then those of rows of the large one. Out: the set, an array of words
 * that means something to in_keys alone; a mask of the rows. What always holds: a row whose keys are among
 * those of the set is in the mask, unless the mask that it narrows lacks it; a row with a null key is among
 * none. Others may be in it, so who needs to know joins.
 *
 * Where it must be known, for `x in column`, a set says exactly what == says: a TABLE by hash of rows of the
 * column, with open addresses, in which what is found is compared.
 *
 * One key whose values lie close is a bit for each value from the least to the greatest; else there are two
 * bits a row, by hash, in one word of a table that has BLOOM_BITS of them a row (a blocked Bloom filter:
 * Putze, Sanders, Singler 2007). Of rows of which most are among the keys, as those of a sample say, no more
 * are asked. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "part/part_internal.h"
#include "part/fill.h"
#include "data/kept_rows.h"
#include "data/text_codes.h"
#include "data/text_order.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
  KIND,                /* of the set, in its first word */
  LEAST,               /* SPAN: the code of the first bit */
  SIZE,                /* SPAN: how many bits there are; BLOOM, TABLE: how many words */
  COUNTED,             /* it is asked of rows in memory, of which asking once more looks at each */
  WORDS,               /* where the bits begin */
  SPREAD = 256,        /* SPAN: values for each row at most */
  BLOOM_BITS = 16,     /* for each row, at least */
  MOST_ROWS = 1 << 22, /* with more in the set, a look into it costs what it spares */
  FEWER = 8,           /* of rows in memory: so many times as many are asked, at least */
  SAMPLE = 8,          /* runs of FL_PART_BATCH rows */
};
typedef enum SetKind { ALL, SPAN, BLOOM, TABLE } SetKind;

typedef struct Keys {
  int32_t n_keys;
  FlPartCol *keys;
  int64_t n;
} Keys;

static FlStatus read_keys(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, int32_t at, Keys *k) {
  *k = (Keys){.n_keys = desc->n_columns, .keys = fl_part_alloc(m, desc->n_columns, sizeof *k->keys)};
  if (k->keys == NULL) return 1;
  for (int32_t i = 0; i < k->n_keys; i++) {
    const int32_t first = at;
    if (fl_part_col(m->ctx, desc, args, &at, &desc->columns[i], &k->keys[i]) != 0) return 1;
    for (int32_t a = first; a < at; a++) /* a join asks, which has not been through the door */
      if (fl_part_fill(m->ctx, args[a].a) != 0) return 1;
    if (k->keys[i].n != k->keys[0].n) return fl_part_fail_shape(m->ctx, desc, k->keys[0].n, k->keys[i].n);
  }
  k->n = k->keys[0].n;
  return 0;
}

static bool is_whole(const FlPartCol *c) {
  return c->dtype != FL_F64 && c->dtype != FL_F32 && !fl_dtype_is_text(c->dtype);
}

/* What rows of the column are hashed by. */
static void read_column(const FlPartCol *c, int64_t row, int64_t n, uint64_t *code) {
  if (!fl_dtype_is_text(c->dtype)) {
    fl_part_read_code(c, row, n, code);
    return;
  }
  const FlText *text = (const FlText *)c->data + row;
  for (int64_t i = 0; i < n; i++) code[i] = XXH3_64bits(text[i].ptr, (size_t)text[i].len);
}

/* Hashes of at most FL_PART_BATCH rows. */
static void hash_rows(const Keys *k, int64_t row, int64_t n, uint64_t *hash) {
  uint64_t code[FL_PART_BATCH];
  read_column(&k->keys[0], row, n, hash);
  for (int64_t i = 0; i < n; i++) hash[i] = fl_part_mix(hash[i]);
  for (int32_t key = 1; key < k->n_keys; key++) {
    read_column(&k->keys[key], row, n, code);
    for (int64_t i = 0; i < n; i++) hash[i] = fl_part_mix(hash[i] * 31 + code[i]);
  }
}

static bool has_null(const Keys *k, int64_t row) {
  bool null = false;
  for (int32_t i = 0; i < k->n_keys; i++) null |= !fl_part_valid(k->keys[i].valid, row);
  return null;
}

/* ---- exactly --------------------------------------------------------------------------------------------
 */

/* A word of a TABLE has bits of the hash above a row of the column, + 1; 0: it is free. It changes once, and
 * the rows that it speaks of are there before. */
enum { TAG_SHIFT = 48 };

static inline bool is_text(const Keys *k) { return fl_dtype_is_text(k->keys[0].dtype); }

/* As == compares: a NaN is equal to none. */
static bool is_same(const Keys *a, int64_t i, const Keys *b, int64_t j) {
  if (is_text(a))
    return fl_text_same(((const FlText *)a->keys[0].data)[i], ((const FlText *)b->keys[0].data)[j]);
  uint64_t x, y;
  fl_part_read_code(&a->keys[0], i, 1, &x);
  fl_part_read_code(&b->keys[0], j, 1, &y);
  return x == y && (is_whole(&a->keys[0]) || x != UINT64_MAX);
}

static int64_t row_in(uint64_t slot) { return (int64_t)(slot & ((UINT64_C(1) << TAG_SHIFT) - 1)) - 1; }

static void enter_value(uint64_t *set, const Keys *k, int64_t row, uint64_t hash) {
  uint64_t *words = set + WORDS, mask = set[SIZE] - 1, tag = hash >> TAG_SHIFT << TAG_SHIFT;
  for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
    uint64_t slot = __atomic_load_n(&words[at], __ATOMIC_RELAXED);
    if (slot == 0 && __atomic_compare_exchange_n(&words[at], &slot, tag | (uint64_t)(row + 1), false,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
    if ((slot ^ tag) >> TAG_SHIFT == 0 && is_same(k, row, k, row_in(slot))) return;
  }
}

static bool has_value(const uint64_t *set, const Keys *of, const Keys *k, int64_t row, uint64_t hash) {
  const uint64_t *words = set + WORDS;
  uint64_t mask = set[SIZE] - 1, tag = hash >> TAG_SHIFT << TAG_SHIFT;
  for (uint64_t at = hash & mask; words[at] != 0; at = (at + 1) & mask)
    if ((words[at] ^ tag) >> TAG_SHIFT == 0 && is_same(k, row, of, row_in(words[at]))) return true;
  return false;
}

/* ---- the set ------------------------------------------------------------------------------------------ */

typedef struct Making {
  const Keys *keys;
  uint64_t *set;
  _Atomic uint64_t least, greatest;
} Making;

static int32_t range_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Making *g = (Making *)(uintptr_t)env;
  uint64_t code[FL_PART_BATCH], least = UINT64_MAX, greatest = 0;
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_code(&g->keys->keys[0], row, n, code);
    for (int64_t i = 0; i < n; i++) {
      if (has_null(g->keys, row + i)) continue;
      least = code[i] < least ? code[i] : least;
      greatest = code[i] > greatest ? code[i] : greatest;
    }
  }
  uint64_t seen = atomic_load_explicit(&g->least, memory_order_relaxed);
  while (least < seen && !atomic_compare_exchange_weak(&g->least, &seen, least)) {}
  seen = atomic_load_explicit(&g->greatest, memory_order_relaxed);
  while (greatest > seen && !atomic_compare_exchange_weak(&g->greatest, &seen, greatest)) {}
  return 0;
}

static inline uint64_t two_bits(uint64_t hash) {
  return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63);
}
static inline uint64_t word_of(uint64_t hash, uint64_t words) { return hash >> 12 & (words - 1); }

static int32_t enter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Making *g = env;
  uint64_t at[FL_PART_BATCH], size = g->set[SIZE], least = g->set[LEAST], *bits = g->set + WORDS;
  bool span = g->set[KIND] == SPAN, table = g->set[KIND] == TABLE;
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - row);
    if (table) {
      hash_rows(g->keys, row, n, at);
      for (int64_t i = 0; i < n; i++)
        if (is_same(g->keys, row + i, g->keys, row + i))
          enter_value(g->set, g->keys, row + i, at[i]); /* no NaN */
      continue;
    }
    if (span) fl_part_read_code(&g->keys->keys[0], row, n, at);
    else hash_rows(g->keys, row, n, at);
    for (int64_t i = 0; i < n; i++) {
      if (has_null(g->keys, row + i)) continue;
      uint64_t bit = at[i] - least, *word = span ? &bits[bit >> 6] : &bits[word_of(at[i], size)];
      __atomic_fetch_or(word, span ? UINT64_C(1) << (bit & 63) : two_bits(at[i]), __ATOMIC_RELAXED);
    }
  }
  return 0;
}

static FlArray *new_set(FlCtx *ctx, SetKind kind, uint64_t least, uint64_t size, uint64_t words) {
  int64_t n = WORDS + (int64_t)words;
  FlArray *a = fl_array_new(ctx, FL_I64, 1, &n);
  if (a == NULL) return NULL;
  uint64_t *set = a->data;
  memset(set, 0, (size_t)n * sizeof *set);
  set[KIND] = kind;
  set[LEAST] = least;
  set[SIZE] = size;
  return a;
}

/* The empty set of the right size. */
static FlArray *make_empty(FlCtx *ctx, Making *g, int64_t most, bool exact, FlStatus *status) {
  const Keys *k = g->keys;
  *status = 0;
  if (k->n > most) return new_set(ctx, ALL, 0, 0, 0);
  if (k->n_keys == 1 && is_whole(&k->keys[0])) {
    *status = fl_part_for(ctx, range_body, g, k->n, 0.7);
    uint64_t least = atomic_load(&g->least), greatest = atomic_load(&g->greatest);
    if (*status != 0) return NULL;
    if (least > greatest) return new_set(ctx, SPAN, 0, 0, 1); /* no row */
    if (greatest - least < (uint64_t)k->n * SPREAD)
      return new_set(ctx, SPAN, least, greatest - least + 1, (greatest - least) / 64 + 2);
  }
  uint64_t words = 2;
  while (exact && words < (uint64_t)k->n * 2) words *= 2; /* half of them are free */
  if (exact) return new_set(ctx, TABLE, 0, words, words);
  while (words * 64 < (uint64_t)k->n * BLOOM_BITS) words *= 2;
  return new_set(ctx, BLOOM, 0, words, words);
}

/* The set of the keys, where these are no more than `most`. */
static FlStatus make_set(FlPartMem *m, const Keys *keys, int64_t most, const FlOpDesc *desc, FlArray **out) {
  FlStatus status;
  Making g = {.keys = keys, .least = UINT64_MAX};
  *out = make_empty(m->ctx, &g, most, desc->i == 2, &status);
  if (*out == NULL) return 1;
  g.set = (*out)->data;
  g.set[COUNTED] = desc->i == 1;
  return g.set[KIND] == ALL || status != 0 ? status : fl_part_for(m->ctx, enter_body, &g, keys->n, 2.0);
}

/* How many rows have a key, as far as that is asked: no more are counted when there are `most`. */
static int64_t count_keys(const FlPartCol *key, int64_t most) {
  int64_t n = 0;
  for (int64_t from = 0; from < key->n && n <= most; from += FL_PART_CHUNK) {
    n += fl_count_true(key->valid + from, fl_part_min(FL_PART_CHUNK, key->n - from));
  }
  return n;
}

/* Of a key most of whose rows have none, as where a filter's mask says which do, the others are put together.
 */
static FlStatus make_set_of_few(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, Keys *keys,
                                int64_t most, FlArray **out) {
  FlOpDesc filter = *desc;
  FlSlot asked[2] = {args[2], args[1]}, kept[2];
  filter.n_args = 2;
  if (fl_rt_compress(m->ctx, &filter, asked, kept) != 0) return 1;
  FlPartCol *key = &keys->keys[0];
  key->array = kept[1].a;
  key->data = kept[1].a->data;
  key->valid = NULL;
  keys->n = key->n = kept[0].i;
  FlStatus status = make_set(m, keys, most, desc, out);
  fl_array_unref(kept[1].a);
  return status;
}

static FlStatus make(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  enum { SOME = 2 };
  Keys keys;
  bool exact = desc->i == 2, counted = desc->i == 1;
  if (read_keys(m, desc, args, counted, &keys) != 0) return 1;
  int64_t most = exact ? INT64_MAX : counted ? fl_part_min(MOST_ROWS, args[0].i / FEWER) : MOST_ROWS;
  const FlPartCol *key = &keys.keys[0];
  if (!counted || keys.n_keys > 1 || key->valid == NULL) return make_set(m, &keys, most, desc, out);
  int64_t n = count_keys(key, most);
  if (n <= most && n < keys.n / SOME) return make_set_of_few(m, desc, args, &keys, most, out);
  return make_set(m, &keys, n <= most ? keys.n : -1, desc, out); /* rows without one are not entered */
}

FlStatus fl_rt_key_set(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, make);
}

/* ---- asking it ---------------------------------------------------------------------------------------- */

typedef struct Asking {
  const Keys *keys;
  const uint64_t *set;
  const Keys *of;      /* TABLE: the column that it is of */
  const uint8_t *mask; /* NULL: all rows */
  uint8_t *out;
  uint8_t *by_code; /* what is said of each text that the key's codes speak of; NULL: rows are hashed */
  const void *codes;
  int32_t width; /* bytes of a code */
  bool wide;     /* the processor gathers eight words at once */
} Asking;

#if defined(__x86_64__)
/* Eight rows at once, of n; how many rows are done. */
__attribute__((target("avx512f,avx512bw,avx512vl"))) static int64_t
ask_eights(const uint64_t *set, const uint64_t *code, int64_t n, uint8_t *in) {
  enum { EIGHT = 8, WORD_SHIFT = 6 };
  const __m512i least = _mm512_set1_epi64((long long)set[LEAST]),
                size = _mm512_set1_epi64((long long)set[SIZE]);
  const __m512i one = _mm512_set1_epi64(1), in_word = _mm512_set1_epi64(63);
  int64_t i = 0;
  for (; i + EIGHT <= n; i += EIGHT) {
    __m512i bit = _mm512_sub_epi64(_mm512_loadu_si512(code + i), least);
    __mmask8 within = _mm512_cmplt_epu64_mask(bit, size);
    __m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), within,
                                               _mm512_srli_epi64(bit, WORD_SHIFT), set + WORDS, sizeof *set);
    __m512i there = _mm512_srlv_epi64(word, _mm512_and_si512(bit, in_word));
    _mm_storel_epi64((__m128i *)(void *)(in + i),
                     _mm_maskz_set1_epi8(_mm512_mask_test_epi64_mask(within, there, one), 1));
  }
  return i;
}
#endif

static void ask_span(const Asking *a, int64_t row, int64_t n, uint8_t *in) {
  uint64_t code[FL_PART_BATCH], size = a->set[SIZE], least = a->set[LEAST];
  const uint64_t *bits = a->set + WORDS;
  int64_t i = 0;
  fl_part_read_code(&a->keys->keys[0], row, n, code);
#if defined(__x86_64__)
  if (a->wide) i = ask_eights(a->set, code, n, in);
#endif
  for (; i < n; i++) {
    uint64_t bit = code[i] - least;
    bit = bit < size ? bit : size; /* behind the last there is one that nobody has */
    in[i] = (uint8_t)(bits[bit >> 6] >> (bit & 63) & 1);
  }
}

static void ask_bloom(const Asking *a, int64_t row, int64_t n, uint8_t *in) {
  uint64_t hash[FL_PART_BATCH], words = a->set[SIZE];
  const uint64_t *bits = a->set + WORDS;
  hash_rows(a->keys, row, n, hash);
  for (int64_t i = 0; i < n; i++) {
    uint64_t two = two_bits(hash[i]);
    in[i] = (bits[word_of(hash[i], words)] & two) == two;
  }
}

static void ask_codes(const Asking *a, int64_t row, int64_t n, uint8_t *in) {
  switch (a->width) {
  case 1:
    for (int64_t i = 0; i < n; i++) in[i] = a->by_code[((const uint8_t *)a->codes)[row + i]];
    return;
  case 2:
    for (int64_t i = 0; i < n; i++) in[i] = a->by_code[((const uint16_t *)a->codes)[row + i]];
    return;
  }
  for (int64_t i = 0; i < n; i++) in[i] = a->by_code[((const uint32_t *)a->codes)[row + i]];
}

static void ask_table(const Asking *a, int64_t row, int64_t n, uint8_t *in) {
  uint64_t hash[FL_PART_BATCH];
  hash_rows(a->keys, row, n, hash);
  for (int64_t i = 0; i < n; i++) in[i] = has_value(a->set, a->of, a->keys, row + i, hash[i]);
}

/* `in` is 0 or 1 of each row, and so it stays. */
static void and_mask(uint8_t *restrict in, const uint8_t *restrict mask, int64_t row, int64_t n) {
  for (int64_t i = 0; mask != NULL && i < n; i++) in[i] &= mask[row + i] != 0;
}

/* Some rows of at most FL_PART_BATCH. */
static void ask_rows(const Asking *a, int64_t row, int64_t n, uint8_t *in) {
  if (a->by_code != NULL) ask_codes(a, row, n, in);
  else if (a->set[KIND] == SPAN) ask_span(a, row, n, in);
  else if (a->set[KIND] == TABLE) ask_table(a, row, n, in);
  else ask_bloom(a, row, n, in);
  for (int32_t k = 0; k < a->keys->n_keys; k++) and_mask(in, a->keys->keys[k].valid, row, n);
  and_mask(in, a->mask, row, n);
}

static int32_t ask_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Asking *a = env;
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH)
    ask_rows(a, row, fl_part_min(FL_PART_BATCH, end - row), a->out + row);
  return 0;
}

/* Of runs of rows here and there, more than three quarters of those in the mask are among the keys. Rows in
 * memory are there already, and a join that loses most of them puts the others together (join_few.c): more
 * than a quarter is too many then, and what drops less than a sixteenth of all rows is not worth a look at
 * each. */
static bool has_most(const Asking *a) {
  enum { SIXTEENTH = 16 };
  uint8_t in[FL_PART_BATCH];
  int64_t asked = 0, found = 0, n = a->keys->n;
  if (a->set[KIND] == ALL) return true;
  if (n < 2 * SAMPLE * FL_PART_BATCH) return false;
  for (int64_t run = 0; run < SAMPLE; run++) {
    int64_t row = n / SAMPLE * run;
    ask_rows(a, row, FL_PART_BATCH, in);
    for (int64_t i = 0; i < FL_PART_BATCH; i++) {
      found += in[i];
      asked += a->mask == NULL || a->mask[row + i] != 0;
    }
  }
  if (a->set[COUNTED]) return found * 4 > asked || asked - found < SAMPLE * FL_PART_BATCH / SIXTEENTH;
  return asked >= FL_PART_BATCH && found * 4 > asked * 3;
}

/* Asks each text of a key with codes once, where these are fewer than the rows. */
static FlStatus ask_texts(FlPartMem *m, Asking *a) {
  enum { FEWER_TEXTS = 4 };
  const Keys *k = a->keys;
  if (k->n_keys > 1 || !is_text(k) || a->set[KIND] != BLOOM || k->keys[0].array == NULL) return 0;
  const FlTextCodes *known = fl_text_codes(k->keys[0].array, &a->codes);
  if (known == NULL || known->dictionary->n == 0 || known->dictionary->n > k->n / FEWER_TEXTS) return 0;
  int64_t n = known->dictionary->n;
  uint8_t *by_code = fl_part_alloc(m, n, 1);
  if (by_code == NULL) return 1;
  FlPartCol texts = {.dtype = k->keys[0].dtype, .data = known->dictionary->texts, .n = n};
  Asking of = {.keys = &(Keys){.n_keys = 1, .keys = &texts, .n = n}, .set = a->set};
  for (int64_t i = 0; i < n; i += FL_PART_BATCH)
    ask_rows(&of, i, fl_part_min(FL_PART_BATCH, n - i), by_code + i);
  a->width = known->width;
  a->by_code = by_code;
  return 0;
}

static FlStatus ask(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Keys keys, of = {0};
  bool exact = desc->i == 2;
  FlArray *mask = desc->i == 1 ? args[1].a : NULL;
  if (read_keys(m, desc, args, mask != NULL ? 2 : 1, &keys) != 0) return 1;
  if (exact && read_keys(m, desc, args, 2, &of) != 0) return 1;
  if (mask != NULL && mask->dims[0] != keys.n) return fl_part_fail_shape(m->ctx, desc, keys.n, mask->dims[0]);
  Asking a = {.keys = &keys,
              .set = args[0].a->data,
              .of = &of,
              .mask = mask != NULL ? mask->data : NULL,
              .wide = fl_cpu_level() >= 4};
  if (ask_texts(m, &a) != 0) return 1;
  bool most = !exact && has_most(&a);
  out[0] = most && mask != NULL ? fl_array_ref(mask) : fl_array_new(m->ctx, FL_BOOL, 1, &keys.n);
  if (out[0] == NULL) return 1;
  if (most && mask == NULL) memset(out[0]->data, 1, (size_t)keys.n);
  a.out = out[0]->data;
  return most ? 0 : fl_part_for(m->ctx, ask_body, &a, keys.n, 1.5 * desc->n_columns);
}

FlStatus fl_rt_in_keys(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, ask);
}
