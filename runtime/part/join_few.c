/* join_few.c: a join of tables of one of which few rows can have a partner: these are put together first, so
 * that what is done for each row is done for them alone.
 *
 * Comes in: what join.c takes. Goes out: its pairs. Always holds: these are the same. Of the left table it is
 * the rows with a key, where most have none, as where a later join has dropped them (compiler/opt/asks.c); of
 * a right table with far more rows than the left one it is those whose keys may be among the left ones
 * (key_set.c). Joins that give a table's rows without a partner, or say which of them has too many, take all
 * of it. */
#include "part/join_internal.h"

#include "data/kept_rows.h"

enum {
  FEWEST = 1 << 8,  /* rows, with which it pays */
  LARGEST_PART = 3, /* of them, that have keys */
  FEWEST_RIGHT = 1 << 14,
  RIGHT_TIMES = 8, /* so many times as many rows has the right table, at least */
};

/* The rows that a mask keeps. */
typedef struct Few {
  const uint8_t *mask;
  int64_t n;
  int64_t *place; /* [chunks + 1] of the rows that are kept */
  int64_t *rows;
} Few;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Few *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, f->n, &from, &to);
    f->place[c + 1] = fl_count_true(f->mask + from, to - from);
  }
  return 0;
}

/* Eight rows at once where none is kept. */
static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  enum { EIGHT = 8 };
  const Few *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t i, to, at = f->place[c], last = f->place[c + 1];
    fl_part_chunk(c, f->n, &i, &to);
    for (uint64_t some; at + EIGHT <= last; i += EIGHT) {
      memcpy(&some, f->mask + i, sizeof some);
      for (int64_t k = i; some != 0 && k < i + EIGHT; k++) {
        f->rows[at] = k;
        at += f->mask[k] != 0;
      }
    }
    for (; at < last; i++) {
      f->rows[at] = i;
      at += f->mask[i] != 0;
    }
  }
  return 0;
}

/* The numbers of the rows that a mask keeps; *rows is NULL where they are not few. */
static FlStatus number(FlCtx *ctx, const FlArray *mask, FlArray **rows) {
  FlPartMem mem = {.ctx = ctx};
  Few f = {.mask = mask->data, .n = mask->dims[0]};
  int64_t chunks = fl_part_chunks(f.n);
  f.place = fl_part_alloc(&mem, chunks + 1, sizeof *f.place);
  FlStatus status = f.place == NULL || fl_part_for(ctx, count_body, &f, chunks, 0.2 * FL_PART_CHUNK) != 0;
  *rows = NULL;
  if (status == 0) {
    f.place[0] = 0;
    for (int64_t c = 0; c < chunks; c++) f.place[c + 1] += f.place[c];
    int64_t n = f.place[chunks];
    if (n < f.n / LARGEST_PART) {
      *rows = fl_array_new(ctx, FL_I64, 1, &n);
      f.rows = *rows != NULL ? (*rows)->data : NULL;
      status = *rows == NULL || fl_part_for(ctx, number_body, &f, chunks, FL_PART_CHUNK) != 0;
    }
  }
  fl_part_mem_reset(&mem);
  return status;
}

/* Numbers of rows that were put together become those of all rows; -1, or the greatest of 32 bits: none. */
typedef struct Mapping {
  const int64_t *rows;
  int64_t *wide; /* either, or */
  uint32_t *narrow;
} Mapping;

static int32_t map_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Mapping *p = env;
  (void)ctx;
  for (int64_t i = begin; p->wide != NULL && i < end; i++)
    if (p->wide[i] >= 0) p->wide[i] = p->rows[p->wide[i]];
  for (int64_t i = begin; p->narrow != NULL && i < end; i++)
    if (p->narrow[i] != UINT32_MAX) p->narrow[i] = (uint32_t)p->rows[p->narrow[i]];
  return 0;
}

static FlStatus map(FlCtx *ctx, FlArray *rows, FlSlot *result) {
  if (result->a->dtype == FL_BOOL) { /* all of them, in their order */
    fl_array_unref(result->a);
    result->a = fl_array_ref(rows);
    return 0;
  }
  bool wide = result->a->dtype == FL_I64;
  Mapping p = {rows->data, wide ? result->a->data : NULL, wide ? NULL : result->a->data};
  return fl_part_for(ctx, map_body, &p, result->a->dims[0], 1.0);
}

/* The arguments of n columns of keys from the first on. */
static int32_t args_of(const FlOpDesc *desc, int32_t first, int32_t n) {
  int32_t args = 0;
  for (int32_t k = first; k < first + n; k++) args += desc->columns[k].flags & FL_COLUMN_NULLS ? 2 : 1;
  return args;
}

typedef FlStatus JoinAs(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                        FlPartBody *join);

/* Joins as `as` does, of the left (side 0) or the right table the rows that the mask keeps: those of the
 * numbers `rows`. */
static FlStatus join_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int side, FlArray *mask,
                          FlArray *rows, FlSlot *results, JoinAs *as, FlPartBody *join) {
  FlPartMem mem = {.ctx = ctx};
  int32_t n_keys = desc->n_columns / 2, left = args_of(desc, 0, n_keys), all = args_of(desc, 0, 2 * n_keys);
  int32_t first = side == 0 ? 0 : left, n = side == 0 ? left : all - left;
  FlSlot *asked = fl_part_alloc(&mem, n + 1, sizeof *asked), *own = fl_part_alloc(&mem, n + 1, sizeof *own),
         *made = fl_part_alloc(&mem, desc->n_args, sizeof *made);
  FlOpDesc filter = *desc;
  FlStatus status = asked == NULL || own == NULL || made == NULL;
  filter.n_args = n + 1;
  if (status == 0) {
    asked[0].a = mask;
    memcpy(asked + 1, args + first, (size_t)n * sizeof *asked);
    memcpy(made, args, (size_t)desc->n_args * sizeof *made);
    status = fl_rt_compress(ctx, &filter, asked, own); /* own[0]: how many they are */
  }
  if (status == 0) {
    memcpy(made + first, own + 1, (size_t)n * sizeof *made);
    status = as(ctx, desc, made, results, join);
    for (int32_t k = 0; k < n; k++) fl_array_unref(own[1 + k].a);
  }
  fl_part_mem_reset(&mem);
  if (status != 0) return status;
  status = map(ctx, rows, &results[side]);
  for (int32_t k = 0; k < 2 && status != 0; k++) fl_array_unref(results[k].a);
  return status;
}

static FlStatus join_all(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                         FlPartBody *join) {
  return fl_part_give(ctx, desc, args, results, 2, join);
}

/* ---- right rows whose keys are among the left ones ---------------------------------------------------- */

/* A mask of the right rows that may have a partner. */
static FlStatus ask_right(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int64_t m, FlArray **mask) {
  FlPartMem mem = {.ctx = ctx};
  int32_t n_keys = desc->n_columns / 2, left = args_of(desc, 0, n_keys), all = args_of(desc, 0, 2 * n_keys);
  FlSlot *asked = fl_part_alloc(&mem, all + 1, sizeof *asked), set = {0}, in = {0};
  FlOpDesc keys = *desc;
  FlStatus status = asked == NULL;
  keys.n_columns = n_keys;
  keys.i = 1; /* the right rows are in memory, and so many */
  if (status == 0) {
    asked[0].i = m;
    memcpy(asked + 1, args, (size_t)left * sizeof *asked);
    status = fl_rt_key_set(ctx, &keys, asked, &set);
  }
  if (status == 0) {
    keys.i = 0;
    keys.columns = desc->columns + n_keys;
    asked[0] = set;
    memcpy(asked + 1, args + left, (size_t)(all - left) * sizeof *asked);
    status = fl_rt_in_keys(ctx, &keys, asked, &in);
    fl_array_unref(set.a);
  }
  fl_part_mem_reset(&mem);
  *mask = in.a;
  return status;
}

static FlStatus join_right(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                           FlPartBody *join) {
  int64_t n = args[0].a->dims[0], m = args[args_of(desc, 0, desc->n_columns / 2)].a->dims[0];
  if (fl_join_how(desc->s) & FL_HOW_RIGHT || m < FEWEST_RIGHT || n > m / RIGHT_TIMES)
    return join_all(ctx, desc, args, results, join);
  FlArray *mask = NULL, *rows = NULL;
  FlStatus status = ask_right(ctx, desc, args, m, &mask);
  if (status == 0) status = number(ctx, mask, &rows);
  if (status == 0 && rows == NULL) status = join_all(ctx, desc, args, results, join);
  else if (status == 0) status = join_rows(ctx, desc, args, 1, mask, rows, results, join_all, join);
  fl_array_unref(mask);
  fl_array_unref(rows);
  return status;
}

/* ---- left rows with a key ----------------------------------------------------------------------------- */

FlStatus fl_join_few(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                     FlPartBody *join) {
  int how = fl_join_how(desc->s);
  bool may = (how == FL_HOW_INNER || how == FL_HOW_SEMI) && !(desc->i & FL_JOIN_ONE);
  FlArray *valid = desc->columns[0].flags & FL_COLUMN_NULLS ? args[1].a : NULL, *rows = NULL;
  if (!may || valid == NULL || valid->dims[0] < FEWEST || valid->dims[0] != args[0].a->dims[0] ||
      memchr(valid->data, 0, (size_t)valid->dims[0]) == NULL)
    return join_right(ctx, desc, args, results, join);
  FlStatus status = number(ctx, valid, &rows);
  if (status == 0 && rows == NULL) status = join_right(ctx, desc, args, results, join);
  else if (status == 0) status = join_rows(ctx, desc, args, 0, valid, rows, results, join_right, join);
  fl_array_unref(rows);
  return status;
}
