/* group_table.c: groups of rows whose words are hardly more than the rows: through a table with a place for
 * each word.
 *
 * Comes in: words (encode.c). Goes out: groups by ascending word, the first row of each; or only marks on the
 * first rows. Always holds: nothing depends on how much memory there is.
 *
 * Where the table of all words does not fit in memory, there is one of a range of the words at a time, and a
 * sweep over the rows for each: reading the words again costs less than anything that is written to a disk.
 * The groups of rows are then numbered by one sweep at last: a bit for each word says which there are, and
 * the number of a word's group is how many there are below it. Where only first rows are wanted, a bit for
 * each word is enough. */
#include "part/part_internal.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct Table {
  const FlPartCodes *codes;
  int32_t w;
  uint64_t low, width; /* the words of the range */
  uint32_t *first;     /* [width] least row of each word, or NONE; then the number of its group */
  uint64_t *there;     /* of ranges: a bit for each word that some row has; NULL: there is one range */
  uint32_t *below;     /* and how many there are before those of each 64 words */
  int64_t g;
  void *id;
  int32_t id_bytes;
  bool kept; /* words are written to the rows' places in `id` when they are first read */
} Table;

static int32_t clear_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Table *t = env;
  (void)ctx;
  memset(t->first + begin, 0xff, (size_t)(end - begin) * sizeof *t->first);
  return 0;
}

static inline void lower(uint32_t *first, uint32_t row) {
  uint32_t seen = __atomic_load_n(first, __ATOMIC_RELAXED);
  while (row < seen &&
         !__atomic_compare_exchange_n(first, &seen, row, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Writes n small words to places of so many bytes, 1 or 2. */
FL_PART_WIDE static void narrow(const uint64_t *word, int64_t n, int32_t bytes, void *to) {
  for (int64_t i = 0; bytes == 1 && i < n; i++) ((uint8_t *)to)[i] = (uint8_t)word[i];
  for (int64_t i = 0; bytes == 2 && i < n; i++) ((uint16_t *)to)[i] = (uint16_t)word[i];
}

FL_PART_WIDE static void widen(const void *from, int64_t n, int32_t bytes, uint64_t *word) {
  for (int64_t i = 0; bytes == 1 && i < n; i++) word[i] = ((const uint8_t *)from)[i];
  for (int64_t i = 0; bytes == 2 && i < n; i++) word[i] = ((const uint16_t *)from)[i];
}

static inline bool is_narrow(const Table *t) { return t->id_bytes < (int32_t)sizeof(uint64_t); }

static inline char *place_of(const Table *t, int64_t row) { return (char *)t->id + row * t->id_bytes; }

static int32_t mark_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Table *t = env;
  uint64_t room[FL_PART_BATCH];
  (void)ctx;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    uint64_t *word = t->kept && !is_narrow(t) ? (uint64_t *)(void *)place_of(t, row) : room;
    fl_part_read_words(t->codes, t->w, row, count, word);
    if (t->kept && is_narrow(t)) narrow(word, count, t->id_bytes, place_of(t, row));
    for (int64_t i = 0; i < count; i++) {
      if (word[i] - t->low < t->width) lower(&t->first[word[i] - t->low], (uint32_t)(row + i));
    }
  }
  return 0;
}

enum { SLICE = 16 * FL_PART_BATCH }; /* rows that are numbered at once */

/* The group of a word, by the bits. */
static inline int64_t rank_of(const Table *t, uint64_t word) {
  uint64_t lower = t->there[word / 64] & ((UINT64_C(1) << word % 64) - 1);
  return (int64_t)t->below[word / 64] + __builtin_popcountll(lower);
}

/* The groups of the rows [row, row + n), at most FL_PART_BATCH. */
static void number(const Table *t, int64_t row, int64_t n, uint64_t *id) {
  uint64_t room[FL_PART_BATCH], *word = room;
  if (!t->kept) fl_part_read_words(t->codes, t->w, row, n, room);
  else if (is_narrow(t)) widen(place_of(t, row), n, t->id_bytes, room);
  else word = (uint64_t *)(void *)place_of(t, row);
  if (t->there != NULL) {
    for (int64_t i = 0; i < n; i++) id[i] = (uint64_t)rank_of(t, word[i]);
  } else {
    for (int64_t i = 0; i < n; i++) id[i] = t->first[word[i]];
  }
}

static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Table *t = env;
  int64_t size = t->id_bytes;
  FlSlices slices = fl_part_slices(ctx, t->id, SLICE * size, 1);
  for (int64_t k = begin; k < end; k++) {
    int64_t row = k * SLICE, n = fl_part_min(SLICE, t->codes->n - row);
    char *to = fl_slice(&slices, (char *)t->id + row * size);
    for (int64_t at = 0; at < n; at += FL_PART_BATCH) {
      uint64_t id[FL_PART_BATCH];
      int64_t count = fl_part_min(FL_PART_BATCH, n - at);
      char *here = to + at * size;
      number(t, row + at, count, is_narrow(t) ? id : (uint64_t *)(void *)here);
      if (is_narrow(t)) narrow(id, count, t->id_bytes, here);
    }
    fl_slice_done(&slices, n * size);
  }
  fl_slices_end(&slices);
  return 0;
}

/* Numbers the words of the range that some row has, and writes the first rows of their groups. */
static void number_words(FlPartMem *m, Table *t, int64_t *first) {
  int64_t size = (int64_t)sizeof *first, n = 0, *to;
  FlSlices slices = fl_part_slices(m->ctx, first, SLICE * size, 1);
  to = fl_slice(&slices, first + t->g);
  for (uint64_t k = 0; k < t->width; k++) {
    if (t->first[k] == NONE) continue;
    to[n++] = t->first[k];
    t->first[k] = (uint32_t)(t->g + n - 1);
    if (t->there != NULL) t->there[(t->low + k) / 64] |= UINT64_C(1) << (t->low + k) % 64;
    if (n < SLICE && k + 1 < t->width) continue;
    fl_slice_done(&slices, n * size);
    t->g += n;
    n = 0;
    to = fl_slice(&slices, first + t->g);
  }
  fl_slice_done(&slices, n * size);
  t->g += n;
  fl_slices_end(&slices);
}

/* Of how many words the table is. */
static int64_t words_of(FlPartMem *m, int64_t size) {
  int64_t bytes = size * (int64_t)sizeof(uint32_t), room = fl_pool_room(fl_part_pool(m), bytes);
  return room < bytes ? fl_part_max(room / (int64_t)sizeof(uint32_t), FL_PART_CHUNK) : size;
}

int64_t fl_part_table_sweeps(FlPartMem *m, const FlPartCodes *codes, int32_t w) {
  uint64_t most = codes->words[w].max;
  if (most > (uint64_t)codes->n + 1024 || codes->n >= (int64_t)NONE) return INT64_MAX;
  int64_t words = words_of(m, (int64_t)most + 1);
  return ((int64_t)most + words) / words;
}

/* Marks the first rows of the words from t->low on. */
static FlStatus sweep(FlPartMem *m, Table *t, int64_t size, int64_t words) {
  t->width = (uint64_t)fl_part_min(words, size - (int64_t)t->low);
  if (fl_part_for(m->ctx, clear_body, t, (int64_t)t->width, 0.25) != 0) return 1;
  return fl_part_for(m->ctx, mark_body, t, t->codes->n, 1.5);
}

/* ---- marks --------------------------------------------------------------------------------------------- */

/* First rows only: a row is one where no row before it had its word, which a bit a word tells to whoever goes
 * through the rows in order. So the rows are cut into stretches, of which each begins with the words of those
 * before it. */
typedef struct Marks {
  const FlPartCodes *codes;
  int64_t stretch, n_stretches; /* rows of one */
  int64_t n_words;              /* of a set of bits */
  uint64_t *seen;               /* [n_stretches][n_words] */
  uint64_t *first;              /* NULL: only words are gathered */
} Marks;

static int32_t stretch_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Marks *k = env;
  uint64_t word[FL_PART_BATCH];
  for (int64_t s = begin; s < end; s++) {
    uint64_t *seen = k->seen + s * k->n_words;
    int64_t last = fl_part_min((s + 1) * k->stretch, k->codes->n);
    for (int64_t row = s * k->stretch; row < last; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, last - row);
      if (row % FL_PART_CHUNK == 0 && ctx != NULL) fl_pool_breathe(fl_ctx_pool(ctx));
      fl_part_read_words(k->codes, 0, row, count, word);
      for (int64_t i = 0; i < count; i++) {
        uint64_t *at = &seen[word[i] / 64], bit = UINT64_C(1) << word[i] % 64, old = *at;
        *at = old | bit;
        if (k->first != NULL && !(old & bit)) k->first[(row + i) / 64] |= UINT64_C(1) << (row + i) % 64;
      }
    }
  }
  return 0;
}

/* What each stretch has seen becomes what those before it have. */
static int32_t before_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Marks *k = env;
  (void)ctx;
  for (int64_t w = begin; w < end; w++) {
    uint64_t before = 0;
    for (int64_t s = 0; s < k->n_stretches; s++) {
      uint64_t *at = &k->seen[s * k->n_words + w], here = *at;
      *at = before;
      before |= here;
    }
  }
  return 0;
}

FlStatus fl_part_mark_table(FlPartMem *m, const FlPartCodes *codes, uint64_t *first) {
  enum { FEW = 4 }; /* so many workers are needed until going through the rows twice, at once, pays */
  Marks k = {.codes = codes, .n_words = (int64_t)codes->words[0].max / 64 + 1};
  int64_t workers = fl_ctx_workers(m->ctx), bytes = k.n_words * (int64_t)sizeof *k.seen,
          most = fl_pool_room(fl_part_pool(m), workers * bytes) / bytes;
  k.n_stretches = workers < FEW ? 1 : fl_part_max(1, fl_part_min(workers, most));
  k.stretch = fl_part_max(1, (fl_part_chunks(codes->n) + k.n_stretches - 1) / k.n_stretches) * FL_PART_CHUNK;
  if ((k.seen = fl_part_zalloc(m, k.n_stretches * k.n_words, sizeof *k.seen)) == NULL) return 1;
  double cost = 2.0 * (double)k.stretch;
  if (k.n_stretches > 1) {
    if (fl_part_for(m->ctx, stretch_body, &k, k.n_stretches, cost) != 0) return 1;
    if (fl_part_for(m->ctx, before_body, &k, k.n_words, (double)k.n_stretches) != 0) return 1;
  }
  k.first = first;
  if (fl_part_for(m->ctx, stretch_body, &k, k.n_stretches, cost) != 0) return 1;
  fl_part_release(m, k.seen);
  return 0;
}

/* Bits for ranges of words, which are all that is looked up when groups are numbered. */
static FlStatus make_bits(FlPartMem *m, Table *t, int64_t size) {
  int64_t n = size / 64 + 1;
  t->there = fl_part_near(m, n, sizeof *t->there);
  t->below = fl_part_near(m, n, sizeof *t->below);
  if (t->there == NULL || t->below == NULL) return 1;
  memset(t->there, 0, (size_t)n * sizeof *t->there);
  return 0;
}

static void count_below(Table *t, int64_t size) {
  uint32_t below = 0;
  for (int64_t k = 0; k <= size / 64; k++) {
    t->below[k] = below;
    below += (uint32_t)__builtin_popcountll(t->there[k]);
  }
}

FlStatus fl_part_group_table(FlPartMem *m, const FlPartCodes *codes, int32_t w, void *id, int32_t id_bytes,
                             FlPartGroups *out) {
  enum {
    NEAR_ROWS = 1 << 17
  }; /* whose words a cache holds, so that to make them again costs more; as it
        does where they are narrow */
  int64_t size = (int64_t)codes->words[w].max + 1, words = words_of(m, size);
  Table t = {.codes = codes, .w = w, .id = id, .id_bytes = id_bytes};
  t.kept = words >= size && (is_narrow(&t) ? !fl_pool_in_file(fl_part_pool(m), id) : codes->n <= NEAR_ROWS);
  if (words < size) { /* the bits take some of the room */
    if (make_bits(m, &t, size) != 0) return 1;
    words = words_of(m, size);
  }
  if ((t.first = fl_part_near(m, words, sizeof *t.first)) == NULL) return 1;
  for (; (int64_t)t.low < size; t.low += t.width) {
    if (sweep(m, &t, size, words) != 0) return 1;
    int64_t here = 0;
    for (uint64_t k = 0; k < t.width && out->first == NULL; k++) here += t.first[k] != NONE;
    if (out->first == NULL) /* of several ranges there is room for all groups that can come */
      out->first = fl_part_alloc(m, words < size ? fl_part_min(size, codes->n) : here, sizeof *out->first);
    if (out->first == NULL) return 1;
    number_words(m, &t, out->first);
  }
  if (t.there != NULL) count_below(&t, size);
  if (fl_part_for(m->ctx, number_body, &t, (codes->n + SLICE - 1) / SLICE, 1.0 * SLICE) != 0) return 1;
  out->g = t.g;
  fl_part_release(m, t.first);
  fl_part_release(m, t.there);
  fl_part_release(m, t.below);
  return 0;
}
