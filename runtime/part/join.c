/* join.c: the pairs of rows of two tables with equal keys.
 *
 * Comes in: the key columns of a left and a right table. Goes out: pairs of row numbers, -1 where one side
 * has none. Always holds: pairs are ordered by left row, then right row; unmatched right rows come last, in
 * their order. A null key matches nothing; NaN matches NaN.
 *
 * Keys become one word a row, below some multiple of the number of rows (of several words, or of one whose
 * values lie far apart, its group among the rows of both tables). The right table's words are looked up in a
 * table: where no word has two rows it says the row, else where the word's rows begin in a list, the last of
 * which is marked. A first sweep over the left rows writes down what the table says of each, and counts; a
 * second one writes the pairs. Where nothing but whether there is a partner counts (semi, anti), the table is
 * a byte a word, and nothing is listed. A table that does not fit in memory is made for a range of the words
 * at a time, with a sweep over the rows of both tables for each. */
#include "part/join_internal.h"

enum { LEFT = FL_HOW_LEFT, RIGHT = FL_HOW_RIGHT, SEMI = FL_HOW_SEMI, ANTI = FL_HOW_ANTI };

/* What the table says of a word without a right row. Right rows are numbered below it. */
static const uint32_t NONE = UINT32_MAX;

typedef struct Join {
  const FlPartCodes *codes;
  int64_t n, m; /* rows of the left and right table */
  int how;
  bool one;            /* more than one match of a left row is an error */
  const uint8_t *null; /* [n + m] some key is null; NULL: none */
  int64_t n_words;     /* words are below that */
  uint64_t low, width; /* the words of the table: all, or a range */
  uint32_t *table;     /* [width] a right row, or a place in the list; NONE */
  uint8_t *there;      /* [width] in its place: is there a right row? NULL: which one counts */
  uint32_t *list;      /* right rows by word, ascending; NULL: no word has two */
  uint8_t *last;       /* [m] this place of the list is the last of its word */
  uint32_t *found;     /* [n] what the table says of each left row */
  int64_t *place;      /* [chunks + 1] of the result, by left chunk */
  int64_t *left, *right;
  uint8_t *matched;    /* [n_words] some left row has this word; NULL: nobody asks */
  _Atomic int64_t bad; /* first left row with several matches */
} Join;

typedef struct Nulls {
  const uint8_t *valid;
  uint8_t *null;
} Nulls;

static int32_t nulls_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Nulls *k = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) k->null[i] |= k->valid[i] == 0;
  return 0;
}

/* ---- the left rows ------------------------------------------------------------------------------------ */

static inline int64_t rows_from(const Join *j, uint32_t at) {
  int64_t rows = 1;
  while (!j->last[at++]) rows++;
  return rows;
}

/* How many right rows a left row matches, by what was found in the list. */
static inline int64_t matches(const Join *j, uint32_t found) {
  return found == NONE ? 0 : rows_from(j, found);
}

static inline bool has_all(const Join *j) { return j->width == (uint64_t)j->n_words; }
static inline bool is_last(const Join *j) { return j->low + j->width == (uint64_t)j->n_words; }

static inline uint32_t at_word(const Join *j, uint64_t at) {
  return j->there == NULL ? j->table[at] : j->there[at] ? 0 : NONE;
}

/* Those of the words [row, row + n) that are in the range. */
static void look_up_range(Join *j, int64_t row, int64_t n, const uint64_t *word, uint32_t *out) {
  for (int64_t i = 0; i < n; i++) {
    if (word[i] - j->low >= j->width) continue;
    uint32_t found = j->null != NULL && j->null[row + i] ? NONE : at_word(j, word[i] - j->low);
    out[i] = found;
    if (j->matched != NULL && found != NONE) __atomic_store_n(&j->matched[word[i]], 1, __ATOMIC_RELAXED);
  }
}

/* Looks up the rows [row, row + n) of a batch. */
static void look_up(Join *j, int64_t row, int64_t n, uint32_t *found) {
  uint64_t word[FL_PART_BATCH];
  fl_part_read_words(j->codes, 0, row, n, word);
  if (!has_all(j)) {
    look_up_range(j, row, n, word, found);
    return;
  }
  if (j->there != NULL) {
    for (int64_t i = 0; i < n; i++) found[i] = j->there[word[i]] ? 0 : NONE;
  } else {
    for (int64_t i = 0; i < n; i++) found[i] = j->table[word[i]];
  }
  for (int64_t i = 0; j->null != NULL && i < n; i++) found[i] = j->null[row + i] ? NONE : found[i];
  for (int64_t i = 0; j->matched != NULL && i < n; i++) {
    /* All write the same. */
    if (found[i] != NONE) __atomic_store_n(&j->matched[word[i]], 1, __ATOMIC_RELAXED);
  }
}

/* How many rows of the result the left rows [row, row + n) give. Whether a row has a partner cannot be
 * foreseen, so that where it has at most one nothing branches on it. */
static int64_t count_rows(Join *j, int64_t row, int64_t n, const uint32_t *found) {
  int64_t rows = 0;
  if (j->list == NULL) {
    uint32_t none = 0;
    for (int64_t i = 0; i < n; i++) none += found[i] == NONE;
    return none * fl_join_rows(j->how, 0) + (n - none) * fl_join_rows(j->how, 1);
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t partners = matches(j, found[i]);
    rows += fl_join_rows(j->how, partners);
    if (j->one && partners > 1) fl_part_first(&j->bad, row + i);
  }
  return rows;
}

static int32_t find_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Join *j = (Join *)(uintptr_t)env;
  int64_t size = (int64_t)sizeof *j->found; /* of ranges only some rows of a slice are written */
  FlSlices slices = fl_part_slices(ctx, j->found, has_all(j) ? FL_PART_CHUNK * size : 0, 1);
  for (int64_t c = begin; c < end; c++) {
    int64_t first, last, rows = 0;
    fl_part_chunk(c, j->n, &first, &last);
    uint32_t *of = fl_slice(&slices, j->found + first);
    for (int64_t row = first; row < last; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, last - row);
      look_up(j, row, n, of + (row - first));
      if (is_last(j)) rows += count_rows(j, row, n, of + (row - first));
    }
    fl_slice_done(&slices, (last - first) * size);
    j->place[c + 1] = rows;
  }
  fl_slices_end(&slices);
  return 0;
}

/* n pairs, from the left row `first` on, where a left row has at most one. */
static void write_single(const Join *j, int64_t first, int64_t n, int64_t *left, int64_t *right) {
  bool all = (j->how & LEFT) != 0, none = (j->how & (SEMI | ANTI)) != 0, wanted = j->how != ANTI;
  int64_t at = 0;
  for (int64_t row = first; at < n; row++) {
    uint32_t found = j->found[row];
    left[at] = row;
    right[at] = found == NONE || none ? -1 : (int64_t)found;
    at += all || (found != NONE) == wanted;
  }
}

static void write_many(const Join *j, int64_t first, int64_t last, int64_t *left, int64_t *right) {
  for (int64_t row = first; row < last; row++) {
    uint32_t found = j->found[row];
    if (found == NONE) {
      if (!(j->how & LEFT)) continue;
      *left++ = row;
      *right++ = -1;
      continue;
    }
    do {
      *left++ = row;
      *right++ = j->list[found];
    } while (!j->last[found++]);
  }
}

static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Join *j = env;
  bool single = j->list == NULL || (j->how & (SEMI | ANTI)); /* else a chunk may have any number of pairs */
  int64_t size = (int64_t)sizeof *j->left, room = single ? FL_PART_CHUNK * size : 0;
  FlSlices lefts = fl_part_slices(ctx, j->left, room, 2), rights = fl_part_slices(ctx, j->right, room, 2);
  for (int64_t c = begin; c < end; c++) {
    int64_t first, last, n = j->place[c + 1] - j->place[c];
    int64_t *left = j->left + j->place[c], *right = j->right + j->place[c];
    fl_part_chunk(c, j->n, &first, &last);
    if (single) write_single(j, first, n, fl_slice(&lefts, left), fl_slice(&rights, right));
    else write_many(j, first, last, left, right);
    fl_slice_done(&lefts, n * size);
    fl_slice_done(&rights, n * size);
  }
  fl_slices_end(&lefts);
  fl_slices_end(&rights);
  return 0;
}

/* ---- the right rows ----------------------------------------------------------------------------------- */

static int32_t clear_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Join *j = env;
  (void)ctx;
  if (j->there != NULL) memset(j->there + begin, 0, (size_t)(end - begin));
  else memset(j->table + begin, 0xff, (size_t)(end - begin) * sizeof *j->table);
  return 0;
}

/* Enters the rows as the only ones of their words; first row that is not: j->bad, of which nothing is kept.
 */
static int32_t enter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Join *j = (Join *)(uintptr_t)env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - row);
    if (atomic_load_explicit(&j->bad, memory_order_relaxed) != INT64_MAX) return 0;
    fl_part_read_words(j->codes, 0, j->n + row, n, word);
    for (int64_t i = 0; i < n; i++) {
      if (word[i] - j->low >= j->width || (j->null != NULL && j->null[j->n + row + i])) continue;
      uint32_t before =
          __atomic_exchange_n(&j->table[word[i] - j->low], (uint32_t)(row + i), __ATOMIC_RELAXED);
      if (before != NONE) fl_part_first(&j->bad, row + i);
    }
  }
  return 0;
}

/* Marks the words that right rows have. */
static int32_t mark_there_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Join *j = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_words(j->codes, 0, j->n + row, n, word);
    for (int64_t i = 0; i < n; i++) {
      if (word[i] - j->low >= j->width || (j->null != NULL && j->null[j->n + row + i])) continue;
      __atomic_store_n(&j->there[word[i] - j->low], 1, __ATOMIC_RELAXED); /* all write the same */
    }
  }
  return 0;
}

/* Words of right rows above their row numbers. */
typedef struct Packing {
  const Join *j;
  int row_bits;
  uint64_t *packed; /* [m] */
} Packing;

static int32_t pack_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Packing *p = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_words(p->j->codes, 0, p->j->n + row, n, word);
    for (int64_t i = 0; i < n; i++) p->packed[row + i] = word[i] << p->row_bits | (uint64_t)(row + i);
  }
  return 0;
}

static int32_t list_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Packing *p = env;
  const Join *j = p->j;
  uint64_t mask = (UINT64_C(1) << p->row_bits) - 1;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    j->list[i] = (uint32_t)(p->packed[i] & mask);
    j->last[i] = i + 1 == j->m || p->packed[i + 1] >> p->row_bits != p->packed[i] >> p->row_bits;
  }
  return 0;
}

/* Enters where the rows of each word of the range begin. */
static int32_t begins_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Packing *p = env;
  const Join *j = p->j;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint64_t word = p->packed[i] >> p->row_bits;
    bool null = j->null != NULL && j->null[j->n + j->list[i]];
    if (word - j->low < j->width && !null && (i == 0 || j->last[i - 1]))
      j->table[word - j->low] = (uint32_t)i;
  }
  return 0;
}

/* Lists the right rows by word. Rows with a null key have words that no other row has, or that are not looked
 * up. */
static FlStatus list_right(FlPartMem *m, Join *j, Packing *p) {
  *p = (Packing){j, fl_part_bits((uint64_t)j->m), fl_part_alloc(m, j->m, sizeof *p->packed)};
  uint64_t *spare = fl_part_alloc(m, j->m, sizeof *spare), *packed = p->packed, *sorted;
  int bits = fl_part_bits((uint64_t)j->n_words); /* of numbers of rows: both fit into a word of 64 */
  j->list = fl_part_alloc(m, j->m, sizeof *j->list);
  j->last = fl_part_alloc(m, j->m, sizeof *j->last);
  if (packed == NULL || spare == NULL || j->list == NULL || j->last == NULL) return 1;
  if (fl_part_for(m->ctx, pack_body, p, j->m, 1.5) != 0) return 1;
  if (fl_part_sort_words(m, packed, spare, j->m, p->row_bits, bits, &sorted) != 0) return 1;
  p->packed = sorted;
  fl_part_release(m, sorted == packed ? spare : packed);
  return fl_part_for(m->ctx, list_body, p, j->m, 2.0);
}

/* Makes the table of the range, or of the first one again where a word has two rows for the first time. */
static FlStatus enter_right(FlPartMem *m, Join *j, Packing *p, int64_t words) {
  if (fl_part_for(m->ctx, clear_body, j, (int64_t)j->width, 0.2) != 0) return 1;
  if (j->there != NULL) return fl_part_for(m->ctx, mark_there_body, j, j->m, 1.5);
  if (j->list == NULL) {
    if (fl_part_for(m->ctx, enter_body, j, j->m, 2.0) != 0) return 1;
    if (atomic_load(&j->bad) == INT64_MAX) return 0;
    atomic_store(&j->bad, INT64_MAX);
    if (list_right(m, j, p) != 0) return 1;
    j->low = 0; /* what was found in ranges before are rows, and no places of the list: once more */
    j->width = (uint64_t)words;
    if (fl_part_for(m->ctx, clear_body, j, (int64_t)j->width, 0.2) != 0) return 1;
  }
  return fl_part_for(m->ctx, begins_body, p, j->m, 1.5);
}

int fl_join_how(const char *name) {
  static const struct {
    const char *name;
    int how;
  } all[] = {{"inner", FL_HOW_INNER}, {"left", LEFT}, {"right", RIGHT},
             {"full", LEFT | RIGHT},  {"semi", SEMI}, {"anti", ANTI}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (strcmp(all[k].name, name) == 0) return all[k].how;
  }
  return FL_HOW_INNER;
}

FlStatus fl_join_sides(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, int32_t *at, FlPartKey *keys,
                       int32_t n_keys, uint8_t **null) {
  bool nullable = false;
  for (int32_t s = 0; s < 2; s++) {
    for (int32_t k = 0; k < n_keys; k++) {
      FlPartCol *col = &keys[k].side[s];
      if (fl_part_col(m->ctx, desc, args, at, &desc->columns[s * n_keys + k], col) != 0) return 1;
      if (col->n != keys[0].side[s].n) return fl_part_fail_shape(m->ctx, desc, keys[0].side[s].n, col->n);
      if (col->valid != NULL && memchr(col->valid, 0, (size_t)col->n) == NULL) col->valid = NULL;
      nullable |= col->valid != NULL;
    }
  }
  if (!nullable) return 0;
  int64_t n = keys[0].side[0].n, n_right = keys[0].side[1].n;
  *null = fl_part_zalloc(m, n + n_right, 1);
  if (*null == NULL) return 1;
  for (int32_t k = 0; k < n_keys; k++) {
    for (int32_t s = 0; s < 2; s++) {
      Nulls nulls = {keys[k].side[s].valid, *null + (s == 0 ? 0 : n)};
      if (nulls.valid != NULL && fl_part_for(m->ctx, nulls_body, &nulls, s == 0 ? n : n_right, 0.3) != 0)
        return 1;
    }
  }
  return 0;
}

/* Right rows without a partner: counted, or written from `at` on. */
static int64_t unmatched_right(const Join *j, int64_t at, bool write) {
  uint64_t word[FL_PART_BATCH];
  for (int64_t row = 0; row < j->m; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, j->m - row);
    fl_part_read_words(j->codes, 0, j->n + row, n, word);
    for (int64_t i = 0; i < n; i++) {
      bool null = j->null != NULL && j->null[j->n + row + i];
      if (!null && j->matched[word[i]]) continue;
      if (write) {
        j->left[at] = -1;
        j->right[at] = row + i;
      }
      at++;
    }
  }
  return at;
}

/* Words of both tables that are few enough for a table: those of the keys, or their groups. To group the rows
 * costs more, and takes more room, than FREE free places for each; than SPARSE, as long as the table is
 * small. */
static FlStatus make_words(FlPartMem *m, FlPartCodes *codes, FlPartWord *groups_word) {
  enum { LEAST = 1024, FREE = 8, SPARSE = 16, SMALL = 1 << 22 };
  FlPartGroups groups;
  int64_t some = fl_part_min(codes->n * SPARSE, SMALL),
          most = fl_part_max((1 + FREE) * codes->n + LEAST, some);
  if (codes->n_words == 1 && codes->words[0].max <= (uint64_t)most) return 0;
  if (fl_part_group_codes(m, codes, false, NULL, &groups) != 0) return 1;
  fl_part_release(m, groups.first);
  *groups_word =
      (FlPartWord){.stored = (uint64_t *)groups.id, .max = groups.g > 0 ? (uint64_t)groups.g - 1 : 0};
  *codes = (FlPartCodes){.n = codes->n, .n_left = codes->n_left, .n_words = 1, .words = groups_word};
  return 0;
}

FlStatus fl_join_fail_many(FlCtx *ctx, const FlOpDesc *desc, int64_t row, int64_t found) {
  return fl_fail_op(ctx, desc, FL_CODE(972),
                    "row %lld of the left table matches %lld rows of the right table, expected at most one",
                    (long long)row, (long long)found);
}

static FlStatus fail_large(FlCtx *ctx, const FlOpDesc *desc, int64_t rows) {
  return fl_fail_op(ctx, desc, FL_CODE(975),
                    "the right table has %lld rows, a join takes fewer than %lld there", (long long)rows,
                    (long long)NONE);
}

/* Of how many words there is a table at a time: so many ranges at most as sweeps cost less than looking up in
 * a file. */
static int64_t words_of(FlPartMem *m, int64_t n_words, int64_t each) {
  enum { MOST_RANGES = 64 };
  int64_t bytes = n_words * each, room = fl_pool_room(fl_part_pool(m), bytes);
  if (room >= bytes) return n_words;
  return fl_part_max(room / each, fl_part_max(n_words / MOST_RANGES, FL_PART_CHUNK));
}

/* Finds the partners of all left rows, and how many rows the result has. */
static FlStatus find_all(FlPartMem *m, const FlOpDesc *desc, Join *j, int64_t *rows) {
  int64_t chunks = fl_part_chunks(j->n);
  Packing packing = {0};
  j->place = fl_part_alloc(m, chunks + 1, sizeof *j->place);
  j->found = fl_part_alloc(m, j->n, sizeof *j->found);
  if (j->how & RIGHT) j->matched = fl_part_zalloc(m, j->n_words, 1);
  bool any = (j->how & (SEMI | ANTI)) && !j->one;
  size_t each = any ? sizeof *j->there : sizeof *j->table;
  int64_t words =
      fl_part_min(words_of(m, j->n_words, (int64_t)each), j->n_words); /* of the room that the others leave */
  void *table = fl_part_near(m, words, each);
  if (any) j->there = table;
  else j->table = table;
  if (j->place == NULL || j->found == NULL || table == NULL || ((j->how & RIGHT) && j->matched == NULL))
    return 1;
  do {
    j->width = (uint64_t)fl_part_min(words, j->n_words - (int64_t)j->low);
    if (enter_right(m, j, &packing, words) != 0) return 1;
    if (fl_part_for(m->ctx, find_body, j, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
    j->low += j->width;
  } while ((int64_t)j->low < j->n_words);
  fl_part_release(m, packing.packed);
  int64_t bad = atomic_load(&j->bad);
  if (bad != INT64_MAX) return fl_join_fail_many(m->ctx, desc, bad, matches(j, j->found[bad]));
  j->place[0] = 0;
  for (int64_t c = 0; c < chunks; c++) j->place[c + 1] += j->place[c];
  *rows = j->place[chunks];
  if (j->how & RIGHT) *rows = unmatched_right(j, *rows, false);
  return 0;
}

/* Where each left row has one row of the result and only `take` reads both numbers: of the left rows none
 * need be there, and of the right rows those that were found do. false: error recorded. */
static bool give_found(FlPartMem *m, const Join *j, int64_t taken, int64_t rows, FlArray **out) {
  enum { BOTH = FL_JOIN_LEFT_TAKEN | FL_JOIN_RIGHT_TAKEN };
  if ((taken & BOTH) != BOTH || j->how & (RIGHT | SEMI | ANTI) || j->list != NULL || rows != j->n)
    return true;
  out[0] = fl_part_all_rows(m->ctx, rows);
  out[1] = out[0] != NULL ? fl_part_keep(m, j->found, FL_U32, rows) : NULL;
  return out[1] != NULL;
}

/* The numbers of left rows, and of right rows. */
static FlStatus join(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  int64_t rows;
  int32_t n_keys = desc->n_columns / 2, at = 0;
  FlPartKey *keys = fl_part_zalloc(m, n_keys, sizeof *keys);
  uint8_t *null = NULL;
  FlPartCodes codes;
  FlPartWord groups_word;
  if (keys == NULL || fl_join_sides(m, desc, args, &at, keys, n_keys, &null) != 0) return 1;
  if (keys[0].side[1].n >= (int64_t)NONE) return fail_large(m->ctx, desc, keys[0].side[1].n);
  if (fl_part_encode(m, keys, n_keys, 2, false, &codes) != 0 || make_words(m, &codes, &groups_word) != 0)
    return 1;
  Join j = {.codes = &codes,
            .n = keys[0].side[0].n,
            .m = keys[0].side[1].n,
            .how = fl_join_how(desc->s),
            .one = desc->i & FL_JOIN_ONE,
            .null = null,
            .n_words = (int64_t)codes.words[0].max + 1,
            .bad = INT64_MAX};
  if (fl_part_bits((uint64_t)j.m) + fl_part_bits((uint64_t)j.n_words) > 64)
    return fail_large(m->ctx, desc, j.m);
  if (find_all(m, desc, &j, &rows) != 0) return 1;
  if (!give_found(m, &j, desc->i, rows, out)) return 1;
  if (out[0] != NULL && out[1] != NULL) return 0;
  for (int side = 0; side < 2; side++) {
    if (out[side] == NULL && (out[side] = fl_array_new(m->ctx, FL_I64, 1, &rows)) == NULL) return 1;
  }
  j.left = out[0]->data;
  j.right = out[1]->data;
  int64_t chunks = fl_part_chunks(j.n);
  if (fl_part_for(m->ctx, write_body, &j, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
  if (j.how & RIGHT) (void)unmatched_right(&j, j.place[chunks], true);
  return 0;
}

FlStatus fl_rt_join(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus status = fl_join_few(ctx, desc, args, results + 1, join);
  if (status == 0) results[0].i = results[1].a->dims[0];
  return status;
}
