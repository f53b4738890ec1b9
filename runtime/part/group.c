/* group.c: rows with equal keys: group, and the grouping of words that joins, aggregates and distinct use.
 *
 * Comes in: key columns, or words made from them (encode.c). Goes out: the group of each row, the first row
 * of each group. Always holds: groups are numbered by ascending key, so the numbering depends on the data
 * alone.
 *
 * Rows whose words ascend are groups as they stand (group_runs.c). Words below about the number of rows index
 * a table directly (group_table.c). Where a sample of others shows that most rows have words of their own,
 * all rows are sorted and equal ones stand together; else words go through the hash set and the distinct ones
 * are sorted. Several words are replaced, left to right, by the numbers of their groups, which keep their
 * order. Where such tables do not fit in memory, all rows are sorted part by part (group_order.c). */
#include "part/part_internal.h"

typedef struct Renumber {
  const int64_t *rank;
  int64_t *id;
} Renumber;

static int32_t renumber_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Renumber *d = env;
  (void)ctx;
  for (int64_t row = begin; row < end; row++) d->id[row] = d->rank[d->id[row]];
  return 0;
}

static FlStatus group_by_hash(FlPartMem *m, const uint64_t *word, int bits, bool ordered, FlPartGroups *out) {
  FlPartEntry *entries;
  int64_t count, g = 0;
  if (fl_part_hash_words(m, word, out->n, out->id, &entries, &count) != 0) return 1;
  FlPartPair *items = fl_part_alloc(m, count, sizeof *items), *spare = fl_part_alloc(m, count, sizeof *spare);
  int64_t *rank = fl_part_alloc(m, count, sizeof *rank);
  if (items == NULL || spare == NULL || rank == NULL) return 1;
  for (int64_t k = 0; k < count; k++) {
    if (atomic_load_explicit(&entries[k].first, memory_order_relaxed) >= 0) {
      items[g++] = (FlPartPair){entries[k].code, k};
    }
  }
  FlPartPair *sorted = items;
  if (ordered && fl_part_sort_pairs(m, items, spare, g, bits, &sorted) != 0) return 1;
  out->g = g;
  out->first = fl_part_alloc(m, g, sizeof *out->first);
  if (out->first == NULL) return 1;
  for (int64_t k = 0; k < g; k++) {
    int64_t entry = sorted[k].row;
    rank[entry] = k;
    out->first[k] = atomic_load_explicit(&entries[entry].first, memory_order_relaxed);
  }
  Renumber d = {rank, out->id};
  FlStatus status = fl_part_for(m->ctx, renumber_body, &d, out->n, 1.5);
  fl_part_release(m, items);
  fl_part_release(m, spare);
  fl_part_release(m, rank);
  fl_part_release(m, entries);
  return status;
}

/* ---- nearly all different ----------------------------------------------------------------------------- */

typedef struct Runs {
  const FlPartPair *pairs;
  int64_t n, *begin; /* [chunks + 1] groups that begin before the chunk */
  int64_t *id, *first;
} Runs;

static inline bool begins(const Runs *r, int64_t at) {
  return at == 0 || r->pairs[at].key != r->pairs[at - 1].key;
}

static int32_t count_runs_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Runs *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, count = 0;
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t at = from; at < to; at++) count += begins(r, at);
    r->begin[c + 1] = count;
  }
  return 0;
}

static int32_t write_runs_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Runs *r = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, g = r->begin[c];
    fl_part_chunk(c, r->n, &from, &to);
    for (int64_t at = from; at < to; at++) {
      if (begins(r, at)) r->first[g++] = r->pairs[at].row;
      r->id[r->pairs[at].row] = g - 1;
    }
  }
  return 0;
}

static FlStatus group_sorted(FlPartMem *m, const FlPartPair *pairs, FlPartGroups *out) {
  int64_t chunks = fl_part_chunks(out->n);
  Runs r = {
      .pairs = pairs, .n = out->n, .begin = fl_part_alloc(m, chunks + 1, sizeof *r.begin), .id = out->id};
  if (r.begin == NULL || fl_part_for(m->ctx, count_runs_body, &r, chunks, 0.7 * FL_PART_CHUNK) != 0) return 1;
  r.begin[0] = 0;
  for (int64_t c = 0; c < chunks; c++) r.begin[c + 1] += r.begin[c];
  out->g = r.begin[chunks];
  out->first = r.first = fl_part_alloc(m, out->g, sizeof *r.first);
  return r.first == NULL ? 1 : fl_part_for(m->ctx, write_runs_body, &r, chunks, 5.0 * FL_PART_CHUNK);
}

/* Whether nearly all of some rows have words of their own. False on failure, too: error recorded. */
static bool mostly_different(FlPartMem *m, const FlPartCodes *codes, int32_t w) {
  enum { LEAST = 1 << 8, MOST = 1 << 14, SHARE = 16 };
  int64_t n = codes->n, some = fl_part_min(MOST, n / SHARE), different = 1;
  if (some < LEAST) return false;
  FlPartPair *sample = fl_part_alloc(m, some, sizeof *sample), *spare = fl_part_alloc(m, some, sizeof *spare);
  if (sample == NULL || spare == NULL) return false;
  for (int64_t k = 0; k < some; k++)
    fl_part_read_words(codes, w, fl_part_sampled(n / some * k, n / some * (k + 1), k), 1, &sample[k].key);
  fl_part_sort_small(sample, spare, some);
  for (int64_t k = 1; k < some; k++) different += sample[k].key != sample[k - 1].key;
  fl_part_release(m, sample);
  fl_part_release(m, spare);
  return different > some - some / 32;
}

FlStatus fl_part_group_words(FlPartMem *m, FlPartCodes *codes, int32_t w, bool ordered, int64_t *id,
                             FlPartGroups *out) {
  int64_t n = codes->n;
  *out = (FlPartGroups){.n = n, .id = id != NULL ? id : fl_part_alloc(m, n, sizeof *id)};
  bool runs;
  if (out->id == NULL || fl_part_group_runs(m, codes, w, out, &runs) != 0) return 1;
  if (runs) return 0;
  if (fl_part_table_sweeps(m, codes, w) < INT64_MAX)
    return fl_part_group_table(m, codes, w, out->id, sizeof *out->id, out);
  FlPartPair *pairs = NULL;
  if (mostly_different(m, codes, w) && fl_part_sort_buckets(m, codes, w, &pairs) != 0) return 1;
  if (pairs != NULL) {
    FlStatus status = group_sorted(m, pairs, out);
    fl_part_release(m, pairs);
    return status;
  }
  const uint64_t *word = fl_part_store_words(m, codes, w);
  return word == NULL ? 1 : group_by_hash(m, word, codes->words[w].bits, ordered, out);
}

typedef struct Join2 {
  const int64_t *left, *right;
  int64_t radix;
  uint64_t *word;
} Join2;

static int32_t join2_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Join2 *j = env;
  (void)ctx;
  for (int64_t row = begin; row < end; row++) {
    j->word[row] = (uint64_t)j->left[row] * (uint64_t)j->radix + (uint64_t)j->right[row];
  }
  return 0;
}

bool fl_part_groups_are_far(FlPartMem *m, const FlPartCodes *codes, int64_t *room) {
  enum { SWEEPS = 8 }; /* each goes through all rows twice, and through what is written of them */
  int64_t sweeps = codes->n_words == 1 ? fl_part_table_sweeps(m, codes, 0) : INT64_MAX;
  int64_t bytes = codes->n * FL_PART_GROUP_BYTES;
  *room = fl_pool_room(fl_part_pool(m), bytes);
  if (sweeps < INT64_MAX) return sweeps > SWEEPS;
  return *room < bytes && (codes->n_words > 1 || mostly_different(m, codes, 0));
}

FlStatus fl_part_group_codes(FlPartMem *m, FlPartCodes *codes, bool ordered, int64_t *id, FlPartGroups *out) {
  int64_t n = codes->n, room;
  if (fl_part_groups_are_far(m, codes, &room)) return fl_part_group_ordered(m, codes, room, id, out);
  if (fl_part_group_words(m, codes, 0, ordered, id, out) != 0) return 1;
  for (int32_t w = 1; w < codes->n_words; w++) {
    FlPartGroups left = *out, right;
    uint64_t size, *word;
    if (fl_part_group_words(m, codes, w, ordered, NULL, &right) != 0) return 1;
    if (__builtin_mul_overflow((uint64_t)left.g, (uint64_t)right.g, &size)) {
      return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
    }
    if ((word = fl_part_store_words(m, codes, w)) == NULL) return 1;
    Join2 j = {left.id, right.id, right.g, word};
    if (fl_part_for(m->ctx, join2_body, &j, n, 1.0) != 0) return 1;
    FlPartWord both = {.stored = word, .max = size == 0 ? 0 : size - 1};
    both.bits = fl_part_bits(both.max);
    FlPartCodes pair = {.n = n, .n_left = n, .n_words = 1, .words = &both};
    if (fl_part_group_words(m, &pair, 0, ordered, left.id, out) != 0) return 1;
    fl_part_release(m, right.id);
    fl_part_release(m, word);
    codes->words[w].stored = NULL;
  }
  return 0;
}

/* ---- operators ---------------------------------------------------------------------------------------- */

FlStatus fl_part_keys(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlPartKey **keys) {
  int32_t at = 0;
  *keys = fl_part_alloc(m, desc->n_columns, sizeof **keys);
  if (*keys == NULL) return 1;
  for (int32_t k = 0; k < desc->n_columns; k++) {
    FlPartKey *key = &(*keys)[k];
    *key = (FlPartKey){0};
    if (fl_part_col(m->ctx, desc, args, &at, &desc->columns[k], &key->side[0]) != 0) return 1;
    if (key->side[0].n != (*keys)[0].side[0].n) {
      return fl_part_fail_shape(m->ctx, desc, (*keys)[0].side[0].n, key->side[0].n);
    }
    key->descending = desc->columns[k].flags & FL_COLUMN_DOWN;
  }
  return 0;
}

/* Of the number of a row's group, where that is only counted and the words are few. */
static int32_t bytes_of_ids(FlPartMem *m, const FlOpDesc *desc, const FlPartCodes *codes) {
  bool few = desc->i & FL_GROUP_COUNTED && codes->n_words == 1 && codes->words[0].max < FL_PART_FEW_GROUPS &&
             fl_part_table_sweeps(m, codes, 0) == 1;
  return !few ? (int32_t)sizeof(int64_t) : codes->words[0].max <= UINT8_MAX ? 1 : 2;
}

static FlStatus group_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **id,
                           FlArray **first, int64_t *g) {
  FlPartKey *keys;
  FlPartCodes codes;
  FlPartGroups groups;
  if (fl_part_keys(m, desc, args, &keys) != 0) return 1;
  if (fl_part_encode(m, keys, desc->n_columns, 1, true, &codes) != 0) return 1;
  int32_t bytes = bytes_of_ids(m, desc, &codes);
  *id = fl_array_new(m->ctx, bytes == 1 ? FL_U8 : bytes == 2 ? FL_U16 : FL_I64, 1, &codes.n);
  if (*id == NULL) return 1;
  groups = (FlPartGroups){.n = codes.n};
  if (bytes < (int32_t)sizeof(int64_t)) {
    if (fl_part_group_table(m, &codes, 0, (*id)->data, bytes, &groups) != 0) return 1;
  } else if (fl_part_group_codes(m, &codes, true, (*id)->data, &groups) != 0) {
    return 1;
  }
  *first = fl_part_keep(m, groups.first, FL_I64, groups.g);
  *g = groups.g;
  return *first == NULL;
}

FlStatus fl_rt_group(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlArray *id = NULL, *first = NULL;
  FlStatus status = group_rows(&mem, desc, args, &id, &first, &results[0].i);
  fl_part_note_disk(&mem, id);
  fl_part_mem_reset(&mem);
  if (status != 0) {
    fl_array_unref(id);
    fl_array_unref(first);
    return status;
  }
  results[1].a = id;
  results[2].a = first;
  return 0;
}
