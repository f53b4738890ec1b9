/* order_trade.c: which of the rows that are here go to whom, where several have rows in parts and put them in
 * order together (ranks).
 *
 * Comes in: the keys of the rows that are here, and where these stand among all. Goes out: words of some of
 * them, and, by such words of all, for each row the part of the order that it is in. Always holds: a row
 * stands for itself by the whole words of its keys and its number, which are the same whoever makes them, so
 * that no two rows are alike, and parts are about as large however often keys are the same, unless equal keys
 * are to stay together; rows that go to one part stay as they stand. */
#include "part/order_trade.h"

#include "data/kept_rows.h"
#include "part/part_internal.h"

enum { SAMPLE = 1 << 13, OF_PIECE = 32, FEW_CUTS = 16, FEW_MET = 8 };

struct FlOrderTrade {
  FlPartMem mem;
  const FlCut *cut;
  FlPartCodes codes;
  int64_t width; /* words of a row and its number */
  int bits;      /* of the number of a piece, among those of one part */
  bool together; /* equal keys are of one piece */
  bool hashed;   /* and pieces are no parts of an order */
  uint64_t *cuts, *heads;
  int64_t n_cuts;
  uint16_t *rows;         /* [n] of each chunk its rows by their pieces: how far they are behind its first */
  uint32_t *begin;        /* [chunks][pieces] where those of a piece begin among them */
  int64_t *place, *start; /* as fl_part_places has them */
};

static int64_t pieces_of(const FlOrderTrade *t) { return (int64_t)t->cut->n << t->bits; }

FlOrderTrade *fl_order_trade_new(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlCut *cut,
                                 int bits, bool together) {
  FlOrderTrade *t = calloc(1, sizeof *t);
  FlPartKey *keys;
  if (t == NULL) {
    fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
    return NULL;
  }
  t->mem = (FlPartMem){.ctx = ctx, .desc = desc};
  t->cut = cut;
  t->bits = bits;
  t->together = together;
  if (fl_part_keys(&t->mem, desc, args, &keys) == 0 &&
      fl_part_encode_whole(&t->mem, keys, desc->n_columns, &t->codes) == 0) {
    t->width = t->codes.n_words + 1;
    return t;
  }
  fl_order_trade_free(t);
  return NULL;
}

void fl_order_trade_free(FlOrderTrade *t) {
  if (t != NULL) fl_part_mem_reset(&t->mem);
  free(t);
}

/* ---- the sample ---------------------------------------------------------------------------------------- */

static int64_t places_of(const FlCut *cut, int bits) {
  int64_t pieces = (int64_t)cut->n << bits;
  return fl_part_min(fl_part_max(SAMPLE, OF_PIECE * pieces), cut->at[cut->n]);
}

static int64_t sampled(const FlCut *cut, int64_t places, int64_t k) {
  __int128 rows = cut->at[cut->n];
  return fl_part_sampled((int64_t)(rows * k / places), (int64_t)(rows * (k + 1) / places), k);
}

void fl_order_sampled(const FlCut *cut, int bits, int64_t *n) {
  int64_t places = places_of(cut, bits);
  int32_t part = 0;
  memset(n, 0, (size_t)cut->n * sizeof *n);
  for (int64_t k = 0; k < places; k++) {
    int64_t row = sampled(cut, places, k);
    while (row >= cut->at[part + 1]) part++;
    n[part]++;
  }
}

void fl_order_sampled_rows(const FlCut *cut, int bits, int64_t *rows) {
  int64_t places = places_of(cut, bits), from = cut->at[cut->here], to = cut->at[cut->here + 1];
  for (int64_t k = 0; k < places; k++) {
    int64_t row = sampled(cut, places, k);
    if (row >= from && row < to) *rows++ = row - from;
  }
}

int64_t fl_order_trade_width(const FlOrderTrade *t) { return t->width; }

void fl_order_trade_sample(const FlOrderTrade *t, const int64_t *rows, int64_t n, uint64_t *out) {
  for (int64_t k = 0; k < n; k++, out += t->width) {
    fl_part_read_rows(&t->codes, rows[k], 1, out);
    out[t->width - 1] = (uint64_t)(rows[k] + t->cut->at[t->cut->here]);
  }
}

static int by_words(const void *a, const void *b, void *n_words) {
  return fl_part_compare_words(a, b, *(const int32_t *)n_words);
}

/* ---- whose row ----------------------------------------------------------------------------------------- */

/* How many cuts begin with a word below that of each of n rows. Of few all are asked, without a branch. */
FL_PART_WIDE static void find_few(const uint64_t *heads, int64_t cuts, const uint64_t *word, int64_t n,
                                  uint16_t *piece) {
  uint64_t below[FL_PART_BATCH] = {0};
  for (int64_t c = 0; c < cuts; c++)
    for (int64_t i = 0; i < n; i++) below[i] += heads[c] < word[i];
  for (int64_t i = 0; i < n; i++) piece[i] = (uint16_t)below[i];
}

static void find_heads(const FlOrderTrade *t, const uint64_t *word, int64_t n, uint16_t *piece) {
  if (t->n_cuts <= FEW_CUTS) {
    find_few(t->heads, t->n_cuts, word, n, piece);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    piece[i] = (uint16_t)fl_part_search(t->heads, 0, t->n_cuts, word[i], false, -1);
}

/* How many cuts are below the row, of which those before `low` are. */
static int64_t piece_of(const FlOrderTrade *t, const uint64_t *words, uint64_t number, int64_t low) {
  int32_t n = t->codes.n_words;
  for (int64_t high = t->n_cuts; low < high;) {
    int64_t middle = (low + high) / 2;
    const uint64_t *cut = t->cuts + middle * t->width;
    int side = fl_part_compare_words(cut, words, n);
    if (side < 0 || (side == 0 && !t->together && cut[n] < number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The pieces of n rows, at most FL_PART_BATCH; `words`: room for all of theirs. */
static void find(const FlOrderTrade *t, int64_t row, int64_t n, uint64_t *words, uint16_t *piece) {
  uint64_t first[FL_PART_BATCH];
  int64_t met = 0, before = t->cut->at[t->cut->here];
  fl_part_read_words(&t->codes, 0, row, n, first);
  find_heads(t, first, n, piece);
  for (int64_t i = 0; i < n; i++) met += t->heads[piece[i]] == first[i];
  if (met > FEW_MET) fl_part_read_rows(&t->codes, row, n, words);
  for (int64_t i = 0; i < n && met > 0; i++) {
    if (piece[i] == t->n_cuts || t->heads[piece[i]] != first[i]) continue;
    uint64_t *its = met > FEW_MET ? words + i * t->codes.n_words : words;
    if (met <= FEW_MET) fl_part_read_rows(&t->codes, row + i, 1, its);
    piece[i] = (uint16_t)piece_of(t, its, (uint64_t)(before + row + i), piece[i]);
  }
}

/* The same by a hash of the keys. */
static void hash(const FlOrderTrade *t, int64_t row, int64_t n, uint16_t *piece) {
  uint64_t word[FL_PART_BATCH], all[FL_PART_BATCH];
  uint8_t null[FL_PART_BATCH] = {0};
  memset(all, 0, sizeof all);
  for (int32_t w = 0; w < t->codes.n_words; w++) {
    bool says_null = t->codes.digits[t->codes.words[w].digit].says_null;
    fl_part_read_words(&t->codes, w, row, n, word);
    for (int64_t i = 0; i < n && says_null; i++) null[i] |= word[i] != 0;
    for (int64_t i = 0; i < n && !says_null; i++) {
      uint64_t mixed = (all[i] ^ word[i]) * UINT64_C(0x9E3779B97F4A7C15);
      all[i] = (mixed ^ mixed >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    }
  }
  uint64_t pieces = (uint64_t)pieces_of(t), each = UINT64_C(1) << t->bits;
  for (int64_t i = 0; i < n; i++) {
    uint64_t by = (all[i] >> 32) * pieces >> 32;
    uint64_t stays = ((uint64_t)t->cut->here << t->bits) + ((uint64_t)(row + i) & (each - 1));
    piece[i] = (uint16_t)(null[i] ? stays : by);
  }
}

/* The rows of chunk c, from `row` on, of which each is of a piece, in the order of these. */
static void order_chunk(const FlOrderTrade *t, int64_t c, int64_t row, int64_t n, const uint16_t *piece) {
  int64_t pieces = pieces_of(t), *count = t->place + c * pieces;
  uint32_t *begin = t->begin + c * pieces, at = 0;
  memset(count, 0, (size_t)pieces * sizeof *count);
  for (int64_t i = 0; i < n; i++) count[piece[i]]++;
  for (int64_t k = 0; k < pieces; at += (uint32_t)count[k++]) begin[k] = at;
  for (int64_t i = 0; i < n; i++) t->rows[row + begin[piece[i]]++] = (uint16_t)i;
  for (int64_t k = 0; k < pieces; k++) begin[k] -= (uint32_t)count[k];
}

static int32_t find_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlOrderTrade *t = env;
  (void)ctx;
  uint64_t *words = malloc((size_t)t->codes.n_words * FL_PART_BATCH * sizeof *words);
  uint16_t *piece = malloc(FL_PART_CHUNK * sizeof *piece);
  bool done = words != NULL && piece != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    int64_t from, to;
    fl_part_chunk(c, t->codes.n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      if (t->hashed) hash(t, row, n, piece + (row - from));
      else find(t, row, n, words, piece + (row - from));
    }
    order_chunk(t, c, from, to - from, piece);
  }
  free(words);
  free(piece);
  return !done;
}

/* The cuts that part the sample evenly: one less than there are pieces, where there are rows. */
static void find_cuts(FlOrderTrade *t, uint64_t *sample) {
  int64_t n = places_of(t->cut, t->bits), pieces = pieces_of(t);
  int32_t words = (int32_t)t->width;
  qsort_r(sample, (size_t)n, (size_t)words * sizeof *sample, by_words, &words);
  for (int64_t c = 1; c < pieces && n > 0; c++, t->n_cuts++) {
    memcpy(t->cuts + t->n_cuts * t->width, sample + n * c / pieces * t->width,
           (size_t)t->width * sizeof *sample);
    t->heads[t->n_cuts] = t->cuts[t->n_cuts * t->width];
  }
  t->heads[t->n_cuts] = 0; /* looked at, where a row is behind all cuts */
}

/* `sample`: NULL where rows go by a hash. */
static FlStatus find_pieces(FlOrderTrade *t, uint64_t *sample) {
  FlPartMem *m = &t->mem;
  int64_t chunks = fl_part_chunks(t->codes.n), pieces = pieces_of(t);
  t->cuts = fl_part_alloc(m, pieces * t->width, sizeof *t->cuts);
  t->heads = fl_part_alloc(m, pieces + 1, sizeof *t->heads);
  t->rows = fl_part_alloc(m, t->codes.n, sizeof *t->rows);
  t->begin = fl_part_alloc(m, chunks * pieces, sizeof *t->begin);
  t->place = fl_part_alloc(m, chunks * pieces, sizeof *t->place);
  t->start = fl_part_alloc(m, pieces + 1, sizeof *t->start);
  if (!t->cuts || !t->heads || !t->rows || !t->begin || !t->place || !t->start) return 1;
  if (sample != NULL) find_cuts(t, sample);
  if (fl_part_for(m->ctx, find_body, t, chunks, 4.0 * FL_PART_CHUNK) != 0) return fl_part_fail_memory(m);
  fl_part_places(chunks, pieces, t->place, t->start);
  return 0;
}

FlStatus fl_order_trade_find(FlOrderTrade *t, uint64_t *sample) { return find_pieces(t, sample); }

FlStatus fl_order_trade_hash(FlOrderTrade *t) {
  t->hashed = true;
  return find_pieces(t, NULL);
}

int64_t fl_order_trade_rows(const FlOrderTrade *t, int64_t k) { return t->start[k + 1] - t->start[k]; }

/* ---- their values -------------------------------------------------------------------------------------- */

typedef struct Pack {
  const FlOrderTrade *trade;
  int64_t piece;
  const FlSlot *arrays;
  int32_t n;
  char *const *to;
} Pack;

#define PACK(T)                                                                                              \
  {                                                                                                          \
    const T *its = (const T *)(const void *)from;                                                            \
    for (int64_t i = 0; i < n; i++) ((T *)(void *)to)[i] = its[rows[i]];                                     \
    return;                                                                                                  \
  }

/* n rows of an array, as far behind `row` as `rows` says, to behind `at` others. */
static void pack_some(const FlArray *a, int64_t row, const uint16_t *rows, int64_t n, char *to, int64_t at) {
  int64_t size = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  const char *from = (const char *)a->data + row * size;
  to += at * size;
  switch (fl_row_word(from, (size_t)size)) {
  case 1: PACK(uint8_t)
  case 2: PACK(uint16_t)
  case 4: PACK(uint32_t)
  case 8: PACK(uint64_t)
  }
  for (int64_t i = 0; i < n; i++) memcpy(to + i * size, from + rows[i] * size, (size_t)size);
}

/* Each chunk's rows behind those of the chunk before. */
static int32_t pack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Pack *p = env;
  const FlOrderTrade *t = p->trade;
  int64_t chunks = fl_part_chunks(t->codes.n), pieces = pieces_of(t);
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    for (int32_t k = 0; k < t->cut->n; k++) {
      int64_t piece = ((int64_t)k << t->bits) + p->piece, place = t->place[c * pieces + piece];
      int64_t next = c + 1 < chunks ? t->place[(c + 1) * pieces + piece] : t->start[piece + 1];
      const uint16_t *rows = t->rows + c * FL_PART_CHUNK + t->begin[c * pieces + piece];
      for (int32_t i = 0; i < p->n; i++)
        pack_some(p->arrays[i].a, c * FL_PART_CHUNK, rows, next - place, p->to[(int64_t)i * t->cut->n + k],
                  place - t->start[piece]);
    }
  }
  return 0;
}

void fl_order_trade_pack(const FlOrderTrade *t, int64_t piece, const FlSlot *arrays, int32_t n,
                         char *const *to) {
  Pack p = {t, piece, arrays, n, to};
  fl_part_for(t->mem.ctx, pack_body, &p, fl_part_chunks(t->codes.n), 2.0 * FL_PART_CHUNK);
}
