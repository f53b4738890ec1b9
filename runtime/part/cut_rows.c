/* cut_rows.c: rows cut by their words into ranges of about the same size, for those who handle them part by
 * part.
 *
 * Comes in: codes (encode.c), how many parts are wanted. Goes out: cuts, the part of a row, how many rows of
 * each chunk are of each part and where they begin. Always holds: cuts come from a sample of the rows alone;
 * the rows that equal a cut are a part of their own where the sample has several of them, else the last of
 * those between that cut and the one before. */
#include "part/part_internal.h"

enum { SAMPLE = 1 << 14 /* rows that are looked at, each in another place, as neighbours are alike */ };

/* How many cuts begin with a word below those of n rows. All rows take the same steps, one step after the
 * other, so that the processor neither waits nor guesses. */
static void find_heads(const uint64_t *heads, const uint64_t *word, int64_t n, int64_t *low) {
  memset(low, 0, (size_t)n * sizeof *low);
  for (int64_t half = (FL_PART_MOST_CUTS + 1) / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < n; i++) low[i] += half & -(int64_t)(heads[low[i] + half - 1] < word[i]);
  }
}

/* The part of a row, where `low` cuts begin with a lower word. */
static int64_t part_of(const FlPartCutting *p, const uint64_t *row, int64_t low) {
  int64_t high = p->n_cuts; /* the cuts before low are less, those from high on are not */
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (fl_part_compare_words(p->cuts + middle * p->codes->n_words, row, p->codes->n_words) < 0)
      low = middle + 1;
    else high = middle;
  }
  return 2 * low + (p->often[low] &&
                    fl_part_compare_words(p->cuts + low * p->codes->n_words, row, p->codes->n_words) == 0);
}

void fl_part_read_rows(const void *env, int64_t row, int64_t n, uint64_t *out) {
  const FlPartCodes *codes = env;
  uint64_t word[FL_PART_BATCH];
  if (codes->n_words == 1) {
    fl_part_read_words(codes, 0, row, n, out);
    return;
  }
  for (int32_t w = 0; w < codes->n_words; w++) {
    fl_part_read_words(codes, w, row, n, word);
    for (int64_t i = 0; i < n; i++) out[i * codes->n_words + w] = word[i];
  }
}

/* ---- cuts ---------------------------------------------------------------------------------------------- */

FlStatus fl_part_find_cuts(FlPartMem *m, FlPartCutting *p, int64_t wanted) {
  FlPartSample sample = {.read = fl_part_read_rows,
                         .env = p->codes,
                         .n = p->codes->n,
                         .places = fl_part_min(SAMPLE, p->codes->n),
                         .run = 1,
                         .wanted = wanted,
                         .n_words = p->codes->n_words,
                         .often = p->often};
  p->chunks = (p->codes->n + p->chunk - 1) / p->chunk;
  p->cuts = fl_part_alloc(m, wanted * p->codes->n_words, sizeof *p->cuts);
  if (p->cuts == NULL || fl_part_sample_cuts(m, &sample, p->cuts, &p->n_cuts) != 0) return 1;
  p->differ = (double)sample.different / (double)fl_part_max(sample.places, 1);
  p->n_parts = 2 * p->n_cuts + 1;
  memset(p->heads, 0xff, sizeof p->heads);
  memset(p->often + p->n_cuts, 0, sizeof p->often - (size_t)p->n_cuts * sizeof *p->often);
  for (int64_t c = 0; c < p->n_cuts; c++) p->heads[c] = p->cuts[c * p->codes->n_words];
  p->place = fl_part_alloc(m, p->chunks * p->n_parts, sizeof *p->place);
  p->start = fl_part_alloc(m, p->n_parts + 1, sizeof *p->start);
  return p->place == NULL || p->start == NULL;
}

/* Whether a row is of another part than `low` says: its first word is that of a cut. */
static inline bool meets(const FlPartCutting *p, int64_t low, uint64_t word) {
  return low < p->n_cuts && p->heads[low] == word;
}

void fl_part_find_parts(const FlPartCutting *p, int64_t row, int64_t n, uint64_t *words, uint16_t *part) {
  uint64_t first[FL_PART_BATCH];
  int64_t low[FL_PART_BATCH], met = 0;
  fl_part_read_words(p->codes, 0, row, n, first);
  find_heads(p->heads, first, n, low);
  for (int64_t i = 0; i < n; i++) {
    bool meet = meets(p, low[i], first[i]);
    part[i] = (uint16_t)(2 * low[i] + (meet & p->often[low[i]]));
    met += meet;
  }
  if (met == 0 || p->codes->n_words == 1) return;
  fl_part_read_rows(p->codes, row, n, words);
  for (int64_t i = 0; i < n; i++) {
    if (meets(p, low[i], first[i])) part[i] = (uint16_t)part_of(p, words + i * p->codes->n_words, low[i]);
  }
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlPartCutting *p = env;
  uint16_t room[FL_PART_BATCH];
  (void)ctx;
  uint64_t *words = malloc((size_t)p->codes->n_words * FL_PART_BATCH * sizeof *words);
  if (words == NULL) return 1;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *count = p->place + c * p->n_parts;
    fl_part_cut_chunk(p, c, &from, &to);
    memset(count, 0, (size_t)p->n_parts * sizeof *count);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      uint16_t *part = p->part != NULL ? p->part + row : room;
      fl_part_find_parts(p, row, n, words, part);
      for (int64_t i = 0; i < n; i++) count[part[i]]++;
    }
  }
  free(words);
  return 0;
}

FlStatus fl_part_count_parts(FlPartMem *m, FlPartCutting *p, bool write_down) {
  if (write_down && (p->part = fl_part_alloc(m, p->codes->n, sizeof *p->part)) == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, p, p->chunks, 20.0 * (double)p->chunk) != 0)
    return fl_part_fail_memory(m);
  fl_part_places(p->chunks, p->n_parts, p->place, p->start);
  return 0;
}

void fl_part_cutting_release(FlPartMem *m, FlPartCutting *p) {
  fl_part_release(m, p->cuts);
  fl_part_release(m, p->part);
  fl_part_release(m, p->place);
  fl_part_release(m, p->start);
}
