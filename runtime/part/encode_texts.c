/* encode_texts.c: numbers for the texts of a key, which order and compare like them.
 *
 * Comes in: the sides of a key of texts, with codes or without. Goes out: of each side what says the number
 * of a row's text: its code and the codes' ranks, its entry and the entries' ranks, or the number itself.
 * Always holds: equal texts have equal numbers on both sides; where an order is asked for, numbers are in it.
 *
 * Rows with codes keep them. Of others a sample says whether finding equal ones first pays: then only the
 * different ones are ordered, else all rows at once. */
#include "data/text_order.h"
#include "part/dictionary.h"
#include "part/fill.h"
#include "part/part_internal.h"

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

FlStatus fl_part_number_texts(FlPartMem *m, FlPartDigit *d, int32_t n_sides, int64_t n, bool ordered,
                              bool alone, int64_t *n_texts) {
  if (use_codes(m, d, n_sides, n_texts) != 0) return 1;
  return *n_texts > 0 ? 0 : rank_texts(m, d, n_sides, n, ordered, alone, n_texts);
}
