/* group_runs.c: groups of rows whose words ascend already, as those of a table that was sorted, or of numbers
 * that were given in turn: each group is a run of rows.
 *
 * Comes in: words (encode.c). Goes out: groups by ascending word, the first row of each; or word that the
 * words descend somewhere. Always holds: what group_table.c and group.c give. Takes no memory but for the
 * groups: neither a table nor pairs that are sorted. Rows of which a few show that they do not ascend are not
 * gone through. */
#include "part/part_internal.h"

typedef struct Ascent {
  const FlPartCodes *codes;
  int32_t w;
  int64_t *id, *first;
  int64_t *begin; /* [chunks + 1] groups that begin before the chunk */
  _Atomic bool descends;
} Ascent;

static uint64_t word_of(const Ascent *a, int64_t row) {
  uint64_t word;
  fl_part_read_words(a->codes, a->w, row, 1, &word);
  return word;
}

/* Whether rows here and there ascend, and from one to the next. */
static bool seems_to(const Ascent *a) {
  enum { SOME = 24 };
  int64_t n = a->codes->n;
  uint64_t last = 0;
  for (int64_t k = 0; k < SOME && n > SOME; k++) {
    uint64_t two[2];
    int64_t row = fl_part_sampled((n - 1) / SOME * k, (n - 1) / SOME * (k + 1), k);
    fl_part_read_words(a->codes, a->w, row, 2, two);
    if (two[0] < last || two[1] < two[0]) return false;
    last = two[1];
  }
  return true;
}

/* Each row gets how many groups begin in its chunk up to it. */
static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Ascent *a = (Ascent *)(uintptr_t)env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, a->codes->n, &from, &to);
    uint64_t last = from > 0 ? word_of(a, from - 1) : ~word_of(a, 0), falls = 0;
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      if (atomic_load_explicit(&a->descends, memory_order_relaxed)) return 0;
      fl_part_read_words(a->codes, a->w, row, n, word);
      for (int64_t i = 0; i < n; i++) {
        falls |= word[i] < last && row + i > 0;
        count += word[i] != last;
        a->id[row + i] = count;
        last = word[i];
      }
      if (falls) atomic_store_explicit(&a->descends, true, memory_order_relaxed);
    }
    a->begin[c + 1] = count;
  }
  return 0;
}

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Ascent *a = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, seen = 0, before = a->begin[c] - 1;
    fl_part_chunk(c, a->codes->n, &from, &to);
    for (int64_t row = from; row < to; row++) {
      int64_t count = a->id[row];
      if (count != seen) a->first[before + count] = row;
      seen = count;
      a->id[row] = before + count;
    }
  }
  return 0;
}

FlStatus fl_part_group_runs(FlPartMem *m, const FlPartCodes *codes, int32_t w, FlPartGroups *out,
                            bool *ascend) {
  Ascent a = {.codes = codes, .w = w, .id = out->id};
  int64_t chunks = fl_part_chunks(codes->n);
  *ascend = false;
  if (codes->n == 0 || fl_pool_in_file(fl_part_pool(m), out->id) || !seems_to(&a)) return 0;
  if ((a.begin = fl_part_alloc(m, chunks + 1, sizeof *a.begin)) == NULL) return 1;
  if (fl_part_for(m->ctx, number_body, &a, chunks, 1.5 * FL_PART_CHUNK) != 0) return 1;
  *ascend = !atomic_load(&a.descends);
  a.begin[0] = 0;
  for (int64_t c = 0; *ascend && c < chunks; c++) a.begin[c + 1] += a.begin[c];
  if (*ascend) {
    out->g = a.begin[chunks];
    if ((out->first = a.first = fl_part_alloc(m, out->g, sizeof *out->first)) == NULL) return 1;
    if (fl_part_for(m->ctx, place_body, &a, chunks, 1.0 * FL_PART_CHUNK) != 0) return 1;
  }
  fl_part_release(m, a.begin);
  return 0;
}
