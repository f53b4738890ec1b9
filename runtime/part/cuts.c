/* cuts.c: how rows are cut into parts that are handled one after the other: by cuts between their words,
 * which a sample gives, or by ranges of a number that each row has; and where the rows of each part go when
 * parts stand one behind the other.
 *
 * What always holds: parts come from the rows and what is asked for alone, and rows keep their order within
 * a part: those of each chunk stand behind those of the chunk before. */
#include "part/part_internal.h"

#include <stdlib.h>

/* ---- by a sample -------------------------------------------------------------------------------------- */

int fl_part_compare_words(const uint64_t *a, const uint64_t *b, int32_t n) {
  for (int32_t w = 0; w < n; w++) {
    if (a[w] != b[w]) return a[w] < b[w] ? -1 : 1;
  }
  return 0;
}

static int by_words(const void *a, const void *b, void *n_words) {
  return fl_part_compare_words(a, b, *(const int32_t *)n_words);
}

FlStatus fl_part_sample_cuts(FlPartMem *m, FlPartSample *s, uint64_t *cuts, int64_t *n_cuts) {
  int64_t n = s->places * s->run;
  int32_t words = s->n_words;
  uint64_t *sample = fl_part_alloc(m, n * words + 1, sizeof *sample);
  *n_cuts = 0;
  if (sample == NULL) return 1;
  for (int64_t k = 0; k < s->places; k++) {
    __int128 span = s->n - s->run;
    int64_t row = fl_part_sampled((int64_t)(span * k / s->places), (int64_t)(span * (k + 1) / s->places), k);
    s->read(s->env, row, s->run, sample + k * s->run * words);
  }
  qsort_r(sample, (size_t)n, (size_t)words * sizeof *sample, by_words, &words);
  s->different = n > 0;
  for (int64_t i = 1; i < n; i++)
    s->different += fl_part_compare_words(sample + (i - 1) * words, sample + i * words, words) != 0;
  for (int64_t c = 1; c <= s->wanted && n > 0; c++) {
    int64_t i = n * c / (s->wanted + 1);
    const uint64_t *cut = sample + i * words;
    if (*n_cuts > 0 && fl_part_compare_words(cuts + (*n_cuts - 1) * words, cut, words) == 0) continue;
    if (s->often != NULL)
      s->often[*n_cuts] = (i > 0 && fl_part_compare_words(cut - words, cut, words) == 0) ||
                          (i + 1 < n && fl_part_compare_words(cut, cut + words, words) == 0);
    memcpy(cuts + (*n_cuts)++ * words, cut, (size_t)words * sizeof *cut);
  }
  fl_part_release(m, sample);
  return 0;
}

/* ---- places -------------------------------------------------------------------------------------------- */

int64_t fl_part_places(int64_t chunks, int64_t n_parts, int64_t *place, int64_t *start) {
  int64_t at = 0;
  for (int64_t k = 0; k < n_parts; k++) {
    start[k] = at;
    for (int64_t c = 0; c < chunks; c++) {
      int64_t count = place[c * n_parts + k];
      place[c * n_parts + k] = at;
      at += count;
    }
  }
  return start[n_parts] = at;
}

/* ---- by ranges of numbers ------------------------------------------------------------------------------ */

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlPartRanges *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, *count = r->place + c * r->n_ranges;
    fl_part_chunk(c, r->n, &from, &to);
    memset(count, 0, (size_t)r->n_ranges * sizeof *count);
    for (int64_t i = from; i < to; i++) {
      if (r->number[i] >= 0) count[r->number[i] >> r->shift]++;
    }
  }
  return 0;
}

FlStatus fl_part_ranges(FlPartMem *m, FlPartRanges *r) {
  r->chunks = fl_part_chunks(r->n);
  r->place = fl_part_alloc(m, r->chunks * r->n_ranges, sizeof *r->place);
  r->start = fl_part_alloc(m, r->n_ranges + 1, sizeof *r->start);
  if (r->place == NULL || r->start == NULL) return 1;
  if (fl_part_for(m->ctx, count_body, r, r->chunks, 1.5 * FL_PART_CHUNK) != 0) return 1;
  fl_part_places(r->chunks, r->n_ranges, r->place, r->start);
  return 0;
}

void fl_part_ranges_release(FlPartMem *m, FlPartRanges *r) {
  fl_part_release(m, r->place);
  fl_part_release(m, r->start);
  r->place = r->start = NULL;
}
