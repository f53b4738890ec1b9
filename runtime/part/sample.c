/* sample.c: random orders and choices of rows: permutation, choice, split_rows, kfold_rows.
 *
 * Comes in: a seed and sizes, for the last two a stratum of each row. Goes out: row numbers. Always holds:
 * everything follows from random words w(i), word 0 of the Philox block at (seed, i, 0) of the operator's
 * stream (kern/random.h), so results depend on the arguments alone.
 *
 * A permutation is the rows by ascending w, ties by row; a choice of k its first k; a split or fold deals out
 * the rows in that order, stratum after stratum. Equal words among n rows have a probability below n^2 /
 * 2^65. */
#include <math.h>

#include "part/part_internal.h"
#include "kern/random.h"

typedef struct Words {
  int64_t seed;
  int stream;
  uint64_t *word;
} Words;

static int32_t words_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Words *w = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) w->word[i] = fl_random_block(w->seed, i, 0, w->stream).lo;
  return 0;
}

/* The rows 0..n by (stratum, w, row); stratum may be NULL. */
static FlStatus shuffle(FlPartMem *m, int64_t seed, int stream, int64_t n, const FlArray *stratum,
                        int64_t *rows) {
  Words w = {seed, stream, fl_part_alloc(m, n, sizeof *w.word)};
  FlPartKey keys[2] = {0};
  FlPartCodes codes;
  int32_t n_keys = 0;
  if (w.word == NULL || fl_part_for(m->ctx, words_body, &w, n, 3.0) != 0) return 1;
  if (stratum != NULL)
    keys[n_keys++].side[0] = (FlPartCol){.dtype = stratum->dtype, .n = n, .data = stratum->data};
  keys[n_keys++].side[0] = (FlPartCol){.dtype = FL_U64, .n = n, .data = w.word};
  if (fl_part_encode(m, keys, n_keys, 1, true, &codes) != 0) return 1;
  return fl_part_order_codes(m, &codes, rows);
}

static FlStatus fail_domain(FlCtx *ctx, const FlOpDesc *desc, int64_t value) {
  return fl_fail_op(ctx, desc, FL_FAULT_DOMAIN, "a number of rows is at least 0, and this is %lld",
                    (long long)value);
}

static FlStatus permutation(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **rows) {
  int64_t n = args[1].i;
  if (n < 0) return fail_domain(m->ctx, desc, n);
  *rows = fl_array_new(m->ctx, FL_I64, 1, &n);
  return *rows == NULL ? 1 : shuffle(m, args[0].i, FL_STREAM_PERMUTATION, n, NULL, (*rows)->data);
}

FlStatus fl_rt_permutation(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, permutation);
}

/* ---- choice ------------------------------------------------------------------------------------------- */

typedef struct Few {
  int64_t seed, n;
  uint64_t below;    /* rows with smaller words are candidates */
  int64_t *place;    /* [chunks + 1] */
  FlPartPair *found; /* NULL: only count */
} Few;

static int32_t few_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Few *f = env;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, at = f->found != NULL ? f->place[c] : 0;
    fl_part_chunk(c, f->n, &from, &to);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, to - row);
      for (int64_t i = 0; i < count; i++) word[i] = fl_random_block(f->seed, row + i, 0, FL_STREAM_CHOICE).lo;
      for (int64_t i = 0; i < count; i++) {
        if (word[i] >= f->below) continue;
        if (f->found != NULL) f->found[at] = (FlPartPair){word[i], row + i};
        at++;
      }
    }
    if (f->found == NULL) f->place[c + 1] = at;
  }
  return 0;
}

/* The k rows of least words among n, when k is well below n: looks only at words below a bound that leaves
 * about k + 8 sqrt(k) rows. *done is false when these were too few. */
static FlStatus choose_few(FlPartMem *m, int64_t seed, int64_t n, int64_t k, int64_t *rows, bool *done) {
  double share = ((double)k + 8.0 * sqrt((double)k) + 16.0) / (double)n;
  int64_t chunks = fl_part_chunks(n);
  *done = false;
  if (share > 0.5) return 0;
  Few f = {seed, n, (uint64_t)(share * 0x1p64), fl_part_alloc(m, chunks + 1, sizeof *f.place), NULL};
  if (f.place == NULL || fl_part_for(m->ctx, few_body, &f, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
  f.place[0] = 0;
  for (int64_t c = 0; c < chunks; c++) f.place[c + 1] += f.place[c];
  int64_t count = f.place[chunks];
  if (count < k) return 0;
  FlPartPair *spare = fl_part_alloc(m, count, sizeof *spare), *sorted;
  f.found = fl_part_alloc(m, count, sizeof *f.found);
  if (spare == NULL || f.found == NULL) return 1;
  if (fl_part_for(m->ctx, few_body, &f, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
  if (fl_part_sort_pairs(m, f.found, spare, count, 64, &sorted) != 0) return 1;
  for (int64_t i = 0; i < k; i++) rows[i] = sorted[i].row;
  *done = true;
  return 0;
}

typedef struct Replace {
  int64_t seed, n;
  int64_t *rows;
} Replace;

/* The upper half of word * n: uniform to n / 2^64. */
static int32_t replace_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Replace *r = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint64_t word = fl_random_block(r->seed, i, 0, FL_STREAM_CHOICE).lo;
    r->rows[i] = (int64_t)((unsigned __int128)word * (uint64_t)r->n >> 64);
  }
  return 0;
}

static FlStatus choose(FlPartMem *m, int64_t seed, int64_t n, int64_t k, bool replace, int64_t *rows) {
  if (replace) {
    Replace r = {seed, n, rows};
    return fl_part_for(m->ctx, replace_body, &r, k, 4.0);
  }
  bool done;
  if (choose_few(m, seed, n, k, rows, &done) != 0) return 1;
  if (done) return 0;
  int64_t *all = fl_part_alloc(m, n, sizeof *all);
  if (all == NULL || shuffle(m, seed, FL_STREAM_CHOICE, n, NULL, all) != 0) return 1;
  if (k > 0) memcpy(rows, all, (size_t)k * sizeof *rows);
  return 0;
}

static FlStatus choice(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **rows) {
  int64_t n = args[1].i, k = args[2].i;
  bool replace = desc->i == 1;
  if (n < 0) return fail_domain(m->ctx, desc, n);
  if (k < 0) return fail_domain(m->ctx, desc, k);
  if (replace ? n == 0 && k > 0 : k > n) {
    return fl_fail_op(m->ctx, desc, FL_CODE(973), "cannot choose %lld of %lld rows%s", (long long)k,
                      (long long)n, replace ? "" : " without replacement");
  }
  *rows = fl_array_new(m->ctx, FL_I64, 1, &k);
  return *rows == NULL ? 1 : choose(m, args[0].i, n, k, replace, (*rows)->data);
}

FlStatus fl_rt_choice(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, choice);
}

/* ---- split and folds ------------------------------------------------------------------------------- */

static FlStatus read_stratum(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int64_t n,
                             FlArray **stratum) {
  *stratum = desc->n_args > 3 ? args[3].a : NULL;
  if (*stratum != NULL && (*stratum)->dims[0] != n)
    return fl_part_fail_shape(ctx, desc, n, (*stratum)->dims[0]);
  return 0;
}

static inline int64_t stratum_of(const FlArray *stratum, int64_t row) {
  return stratum != NULL ? ((const int64_t *)stratum->data)[row] : 0;
}

static FlStatus split_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  int64_t n = args[0].i, sizes[2] = {0, 0}, at[2] = {0, 0};
  double fraction = args[1].f;
  FlArray *stratum;
  if (n < 0) return fail_domain(m->ctx, desc, n);
  if (!(fraction >= 0.0 && fraction <= 1.0))
    return fl_fail_op(m->ctx, desc, FL_FAULT_DOMAIN, "a share of the rows is from 0 to 1, and this is %g",
                      fraction);
  if (read_stratum(m->ctx, desc, args, n, &stratum) != 0) return 1;
  int64_t *order = fl_part_alloc(m, n, sizeof *order);
  uint8_t *test = fl_part_alloc(m, n, 1);
  if (order == NULL || test == NULL) return 1;
  if (shuffle(m, args[2].i, FL_STREAM_SPLIT, n, stratum, order) != 0) return 1;
  for (int64_t i = 0; i < n;) {
    int64_t j = i;
    while (j < n && stratum_of(stratum, order[j]) == stratum_of(stratum, order[i])) j++;
    int64_t train = (int64_t)nearbyint(fraction * (double)(j - i));
    for (int64_t k = i; k < j; k++) test[order[k]] = k - i >= train;
    sizes[0] += train;
    sizes[1] += j - i - train;
    i = j;
  }
  for (int s = 0; s < 2; s++) {
    out[s] = fl_array_new(m->ctx, FL_I64, 1, &sizes[s]);
    if (out[s] == NULL) return 1;
  }
  for (int64_t row = 0; row < n; row++) ((int64_t *)out[test[row]]->data)[at[test[row]]++] = row;
  return 0;
}

FlStatus fl_rt_split_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, split_rows);
}

typedef struct Folds {
  int64_t n;
  const int64_t *fold; /* [n] */
  FlArray **train, **test;
} Folds;

static int32_t folds_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Folds *f = env;
  (void)ctx;
  for (int64_t j = begin; j < end; j++) {
    int64_t *train = f->train[j]->data, *test = f->test[j]->data;
    for (int64_t row = 0; row < f->n; row++) {
      if (f->fold[row] == j) {
        *test++ = row;
      } else {
        *train++ = row;
      }
    }
  }
  return 0;
}

static FlStatus kfold_rows(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **lists) {
  int64_t n = args[0].i, k = args[1].i;
  FlArray *stratum;
  if (n < 0) return fail_domain(m->ctx, desc, n);
  if (k < 2 || k > n) {
    return fl_fail_op(m->ctx, desc, FL_CODE(974),
                      "cannot make %lld folds of %lld rows, expected 2 to the number of rows", (long long)k,
                      (long long)n);
  }
  if (read_stratum(m->ctx, desc, args, n, &stratum) != 0) return 1;
  int64_t *order = fl_part_alloc(m, n, sizeof *order), *fold = fl_part_alloc(m, n, sizeof *fold);
  for (int s = 0; s < 2; s++) lists[s] = fl_array_new(m->ctx, FL_LIST, 1, &k);
  if (order == NULL || fold == NULL || lists[0] == NULL || lists[1] == NULL) return 1;
  if (shuffle(m, args[2].i, FL_STREAM_SPLIT, n, stratum, order) != 0) return 1;
  for (int64_t i = 0; i < n; i++) fold[order[i]] = i % k;
  Folds f = {n, fold, lists[0]->data, lists[1]->data};
  for (int64_t j = 0; j < k; j++) {
    int64_t tested = n / k + (j < n % k), trained = n - tested;
    f.train[j] = fl_array_new(m->ctx, FL_I64, 1, &trained);
    f.test[j] = fl_array_new(m->ctx, FL_I64, 1, &tested);
    if (f.train[j] == NULL || f.test[j] == NULL) return 1;
  }
  return fl_part_for(m->ctx, folds_body, &f, k, 1.5 * (double)n);
}

FlStatus fl_rt_kfold_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 2, kfold_rows);
}
