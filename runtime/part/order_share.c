/* order_share.c: some of the rows of an order, for several who make it together (ranks).
 *
 * Comes in: codes (encode.c) of all rows, which share is wanted of how many. Goes out: the numbers of its
 * rows in order. Always holds: a sample of the rows gives cuts, each the words of a row and its number, so
 * that no two rows are alike, and shares are about as large however often words are the same; all find the
 * same cuts, and their shares, one behind the other, are the order of all rows.
 *
 * A first sweep marks the rows of the share by their first words, and by all words where these do not tell; a
 * second takes their words out of the columns. These are sorted as if there were no other rows. */
#include "part/part_internal.h"

enum { SAMPLE = 1 << 14, FEW_MET = 8 };

typedef struct Share {
  const FlPartCodes *codes;
  const uint64_t *low, *high; /* rows behind the one and not behind the other; NULL: no such bound */
  uint64_t least, greatest;   /* their first words */
  uint8_t *own;               /* [n] */
  int64_t *place;             /* [chunks + 1] of the rows before a chunk */
  FlPartCodes taken;
  uint32_t *row; /* of each that is taken */
} Share;

/* ---- cuts ---------------------------------------------------------------------------------------------- */

static void read_numbered(const void *env, int64_t row, int64_t n, uint64_t *out) {
  const FlPartCodes *codes = env;
  int32_t width = codes->n_words + 1;
  for (int64_t i = 0; i < n; i++) {
    fl_part_read_rows(codes, row + i, 1, out + i * width);
    out[i * width + codes->n_words] = (uint64_t)(row + i);
  }
}

static FlStatus find_bounds(FlPartMem *m, Share *s, int64_t share, int64_t shares) {
  const FlPartCodes *codes = s->codes;
  int64_t n_cuts = 0, width = codes->n_words + 1;
  FlPartSample sample = {.read = read_numbered,
                         .env = codes,
                         .n = codes->n,
                         .places = fl_part_min(SAMPLE, codes->n),
                         .run = 1,
                         .wanted = shares - 1,
                         .n_words = codes->n_words + 1};
  uint64_t *cuts = fl_part_alloc(m, shares * width, sizeof *cuts);
  if (cuts == NULL || fl_part_sample_cuts(m, &sample, cuts, &n_cuts) != 0) return 1;
  if (share > 0) s->low = cuts + fl_part_min(share - 1, n_cuts - 1) * width;
  if (share < n_cuts) s->high = cuts + share * width;
  if (share > n_cuts) s->high = s->low; /* fewer rows than shares */
  s->least = s->low ? s->low[0] : 0;
  s->greatest = s->high ? s->high[0] : UINT64_MAX;
  return 0;
}

/* ---- which rows ---------------------------------------------------------------------------------------- */

/* A row by all of its words. */
static bool is_own(const Share *s, const uint64_t *words, int64_t row) {
  int32_t n = s->codes->n_words;
  const uint64_t *bounds[] = {s->low, s->high};
  int side[] = {1, -1}; /* of a bound that is no bound */
  for (int k = 0; k < 2; k++) {
    const uint64_t *bound = bounds[k];
    if (bound == NULL) continue;
    side[k] = fl_part_compare_words(words, bound, n);
    if (side[k] == 0) side[k] = (uint64_t)row > bound[n] ? 1 : -1;
  }
  return side[0] > 0 && side[1] < 0;
}

/* Of n rows, at most FL_PART_BATCH; `words`: room for all of theirs. */
static int64_t mark(const Share *s, int64_t row, int64_t n, uint64_t *words) {
  uint64_t first[FL_PART_BATCH];
  uint8_t *own = s->own + row;
  int64_t met = 0, count = 0;
  fl_part_read_words(s->codes, 0, row, n, first);
  for (int64_t i = 0; i < n; i++) {
    own[i] = first[i] >= s->least && first[i] <= s->greatest;
    met += first[i] == s->least || first[i] == s->greatest;
  }
  if (met > FEW_MET) fl_part_read_rows(s->codes, row, n, words);
  for (int64_t i = 0; i < n && met > 0; i++) {
    if (first[i] != s->least && first[i] != s->greatest) continue;
    uint64_t *its = met > FEW_MET ? words + i * s->codes->n_words : words;
    if (met <= FEW_MET) fl_part_read_rows(s->codes, row + i, 1, its);
    own[i] = is_own(s, its, row + i);
  }
  for (int64_t i = 0; i < n; i++) count += own[i];
  return count;
}

static int32_t mark_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Share *s = env;
  (void)ctx;
  uint64_t *words = malloc((size_t)s->codes->n_words * FL_PART_BATCH * sizeof *words);
  if (words == NULL) return 1;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, s->codes->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH)
      count += mark(s, row, fl_part_min(FL_PART_BATCH, to - row), words);
    s->place[c + 1] = count;
  }
  free(words);
  return 0;
}

/* ---- their words --------------------------------------------------------------------------------------- */

/* Of n rows from `row` on, `at` on in what is taken; gives how many. Whether a row is taken is never asked:
 * the processor would guess wrong half of the time. */
static int64_t take_batch(const Share *s, int64_t row, int64_t n, int64_t at) {
  uint64_t word[FL_PART_BATCH];
  uint16_t place[FL_PART_BATCH]; /* of those that are taken, among the n */
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    place[kept] = (uint16_t)i;
    kept += s->own[row + i];
  }
  for (int64_t i = 0; i < kept; i++) s->row[at + i] = (uint32_t)(row + place[i]);
  for (int32_t w = 0; w < s->codes->n_words && kept > 0; w++) {
    uint64_t *to = s->taken.words[w].stored + at;
    fl_part_read_words(s->codes, w, row, n, word);
    for (int64_t i = 0; i < kept; i++) to[i] = word[place[i]];
  }
  return kept;
}

static int32_t take_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Share *s = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, at = s->place[c];
    fl_part_chunk(c, s->codes->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH)
      at += take_batch(s, row, fl_part_min(FL_PART_BATCH, to - row), at);
  }
  return 0;
}

static FlStatus take(FlPartMem *m, Share *s) {
  const FlPartCodes *codes = s->codes;
  int64_t chunks = fl_part_chunks(codes->n), n = 0;
  s->own = fl_part_alloc(m, codes->n, sizeof *s->own);
  s->place = fl_part_alloc(m, chunks + 1, sizeof *s->place);
  if (s->own == NULL || s->place == NULL) return 1;
  if (fl_part_for(m->ctx, mark_body, s, chunks, 5.0 * FL_PART_CHUNK) != 0) return fl_part_fail_memory(m);
  s->place[0] = 0;
  for (int64_t c = 0; c < chunks; c++) n = s->place[c + 1] += s->place[c];
  s->taken = (FlPartCodes){.n = n, .n_left = n, .n_words = codes->n_words};
  s->taken.words = fl_part_alloc(m, codes->n_words, sizeof *s->taken.words);
  s->row = fl_part_near(m, n, sizeof *s->row);
  if (s->taken.words == NULL || s->row == NULL) return 1;
  for (int32_t w = 0; w < codes->n_words; w++) {
    s->taken.words[w] = codes->words[w];
    s->taken.words[w].stored = fl_part_near(m, n, sizeof(uint64_t));
    if (s->taken.words[w].stored == NULL) return 1;
  }
  FlStatus status = fl_part_for(m->ctx, take_body, s, chunks, 5.0 * codes->n_words * FL_PART_CHUNK);
  fl_part_release(m, s->own);
  return status;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

typedef struct Numbers {
  int64_t *rows;
  const uint32_t *row;
} Numbers;

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Numbers *k = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) k->rows[i] = k->row[k->rows[i]];
  return 0;
}

FlStatus fl_part_order_share(FlPartMem *m, const FlPartCodes *codes, int64_t share, int64_t shares,
                             FlArray **rows) {
  Share s = {.codes = codes};
  if (find_bounds(m, &s, share, shares) != 0 || take(m, &s) != 0) return 1;
  *rows = fl_array_new(m->ctx, FL_I64, 1, &s.taken.n);
  if (*rows == NULL || fl_part_order_codes(m, &s.taken, (*rows)->data) != 0) return 1;
  Numbers k = {(*rows)->data, s.row};
  if (fl_part_for(m->ctx, number_body, &k, s.taken.n, 2.0) != 0) return 1;
  fl_part_release(m, s.row);
  return 0;
}
