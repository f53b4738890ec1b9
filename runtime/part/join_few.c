/* join_few.c: a join of a left table most rows of which have a null key, as where a later join has dropped
 * them (compiler/opt/asks.c): the keys of the others are put together first, so that what is done for each
 * row is done for these alone.
 *
 * Comes in: what join.c takes. Goes out: its pairs. Always holds: these are the same; joins that give rows
 * without a partner, or say which row has too many, are not made so. */
#include "part/join_internal.h"

enum {
  FEWEST = 1 << 8,  /* rows, with which it pays */
  LARGEST_PART = 3, /* of them, that have keys */
};

typedef struct Few {
  const uint8_t *valid;
  int64_t n;
  int64_t *place; /* [chunks + 1] of the rows with a key */
  int64_t *rows;
} Few;

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Few *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, valid = 0;
    fl_part_chunk(c, f->n, &from, &to);
    for (int64_t i = from; i < to; i++) valid += f->valid[i] != 0;
    f->place[c + 1] = valid;
  }
  return 0;
}

/* Eight rows at once where none has a key. */
static int32_t number_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  enum { EIGHT = 8 };
  const Few *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t i, to, at = f->place[c], last = f->place[c + 1];
    fl_part_chunk(c, f->n, &i, &to);
    for (uint64_t some; at + EIGHT <= last; i += EIGHT) {
      memcpy(&some, f->valid + i, sizeof some);
      for (int64_t k = i; some != 0 && k < i + EIGHT; k++) {
        f->rows[at] = k;
        at += f->valid[k] != 0;
      }
    }
    for (; at < last; i++) {
      f->rows[at] = i;
      at += f->valid[i] != 0;
    }
  }
  return 0;
}

/* How many rows have a key. */
static FlStatus count(FlPartMem *m, Few *f, int64_t *n) {
  int64_t chunks = fl_part_chunks(f->n);
  f->place = fl_part_alloc(m, chunks + 1, sizeof *f->place);
  if (f->place == NULL || fl_part_for(m->ctx, count_body, f, chunks, 0.2 * FL_PART_CHUNK) != 0) return 1;
  f->place[0] = 0;
  for (int64_t c = 0; c < chunks; c++) f->place[c + 1] += f->place[c];
  *n = f->place[chunks];
  return 0;
}

typedef struct Mapping {
  const int64_t *rows;
  int64_t *left;
} Mapping;

static int32_t map_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Mapping *p = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) p->left[i] = p->rows[p->left[i]];
  return 0;
}

/* Joins the rows of these numbers; `keys` of the arguments are of the left table. */
static FlStatus join_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int32_t keys, FlArray *rows,
                          FlSlot *results, FlPartBody *join) {
  FlPartMem mem = {.ctx = ctx};
  int32_t n = desc->n_args;
  FlSlot *own = fl_part_alloc(&mem, n + 2, sizeof *own), *made = own;
  FlSlot *asked = fl_part_alloc(&mem, keys + 1, sizeof *asked);
  FlOpDesc filter = *desc;
  FlStatus status = own == NULL || asked == NULL;
  filter.n_args = keys + 1;
  if (status == 0) {
    asked[0] = args[1];
    for (int32_t k = 0; k < keys; k++) asked[1 + k] = args[k];
    status = fl_rt_compress(ctx, &filter, asked, own); /* own[0]: how many they are */
  }
  if (status == 0) {
    made = own + 1;
    for (int32_t k = keys; k < n; k++) made[k] = args[k];
    status = fl_part_give(ctx, desc, made, results, 2, join);
    for (int32_t k = 0; k < keys; k++) fl_array_unref(made[k].a);
  }
  fl_part_mem_reset(&mem);
  if (status != 0) return status;
  if (results[0].a->dtype == FL_BOOL) { /* all of them, in their order */
    fl_array_unref(results[0].a);
    results[0].a = fl_array_ref(rows);
    return 0;
  }
  Mapping p = {rows->data, results[0].a->data};
  status = fl_part_for(ctx, map_body, &p, results[0].a->dims[0], 1.0);
  for (int32_t k = 0; k < 2 && status != 0; k++) fl_array_unref(results[k].a);
  return status;
}

FlStatus fl_join_few(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                     FlPartBody *join) {
  int how = fl_join_how(desc->s);
  bool may = (how == FL_HOW_INNER || how == FL_HOW_SEMI) && !(desc->i & FL_JOIN_ONE);
  const FlArray *valid = desc->columns[0].flags & FL_COLUMN_NULLS ? args[1].a : NULL;
  if (!may || valid == NULL || valid->dims[0] < FEWEST || valid->dims[0] != args[0].a->dims[0] ||
      memchr(valid->data, 0, (size_t)valid->dims[0]) == NULL)
    return fl_part_give(ctx, desc, args, results, 2, join);
  FlPartMem mem = {.ctx = ctx};
  Few f = {.valid = valid->data, .n = valid->dims[0]};
  int64_t n = 0;
  FlArray *rows = NULL;
  FlStatus status = count(&mem, &f, &n);
  bool few = n < f.n / LARGEST_PART;
  if (status == 0 && few) {
    rows = fl_array_new(ctx, FL_I64, 1, &n);
    f.rows = rows != NULL ? rows->data : NULL;
    status = rows == NULL || fl_part_for(ctx, number_body, &f, fl_part_chunks(f.n), FL_PART_CHUNK) != 0;
  }
  fl_part_mem_reset(&mem);
  if (status == 0 && few) {
    int32_t keys = 0;
    for (int32_t k = 0; k < desc->n_columns / 2; k++)
      keys += desc->columns[k].flags & FL_COLUMN_NULLS ? 2 : 1;
    status = join_rows(ctx, desc, args, keys, rows, results, join);
  } else if (status == 0) {
    status = fl_part_give(ctx, desc, args, results, 2, join);
  }
  fl_array_unref(rows);
  return status;
}
