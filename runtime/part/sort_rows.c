/* sort_rows.c: columns in the order of their rows' keys, where the order itself is not asked for.
 *
 * Comes in: keys, as sort.c takes them, and columns. Goes out: the columns' rows in order. Always holds: what
 * taking the columns by the order gives, bit for bit, however little memory there is.
 *
 * Where the order can be made in memory it is, and the columns are taken by it. Else whole rows move, part by
 * part (move_rows.c): the columns, and those keys that are not among them. The words of a part are made of
 * what has moved; it is sorted, and goes to the result. Rows that equal a cut are in order as they come. Of
 * texts with codes the codes move. */
#include "part/move_rows.h"
#include "part/take_internal.h"

enum { OUT = 1 << 12 /* rows of the result that a worker makes at once */ };

typedef struct Rows {
  FlMove move;
  FlTakeColumn *columns; /* the first that move */
  int32_t n_columns;
  int64_t base, widest; /* where the part begins in the result; bytes of a value */
  FlPartCodes here;     /* the words of the part */
  FlPartPair *pairs, *spare;
  int32_t w; /* of the word that is sorted by */
  bool first;
} Rows;

/* ---- what moves ---------------------------------------------------------------------------------------- */

/* The column of these values; one that is new moves, too. */
static FlMovedColumn *moved(Rows *r, const void *from, int64_t size) {
  FlMovedColumn *c = r->move.columns;
  while (c < r->move.columns + r->move.n_columns && (c->from != from || c->size != size)) c++;
  if (c == r->move.columns + r->move.n_columns) {
    *c = (FlMovedColumn){.from = from, .size = size};
    r->move.n_columns++;
  }
  return c;
}

/* What a digit is made of moves; where that has come, the digit of the part is made of it. No word is
 * stored: nobody asks for these before the rows move. */
static void move_digit(Rows *r, const FlPartDigit *d, FlPartDigit *here, FlPartKey *key) {
  const FlPartCol *col = &d->key->side[0];
  *here = *d;
  *key = *d->key;
  here->key = key;
  if (col->valid != NULL)
    key->side[0].valid = (uint8_t *)moved(r, col->valid, (int64_t)sizeof *col->valid)->to;
  if (d->says_null) return;
  if (d->code[0] != NULL) here->code[0] = moved(r, d->code[0], d->width[0])->to;
  else if (d->id != NULL)
    here->id = (const int64_t *)(const void *)moved(r, d->id, (int64_t)sizeof *d->id)->to;
  else key->side[0].data = moved(r, col->data, fl_dtype_info[col->dtype].bytes)->to;
}

static int32_t digits_of(const FlPartCodes *codes) {
  int32_t n = 0;
  for (int32_t w = 0; w < codes->n_words; w++) n += codes->words[w].n_digits;
  return n;
}

/* The keys' parts of what moves, and the words of a part: once to know what moves, once where it comes. */
static void move_keys(Rows *r, const FlPartCodes *codes, FlPartKey *keys) {
  memcpy(r->here.words, codes->words, (size_t)codes->n_words * sizeof *codes->words);
  for (int32_t k = 0; k < digits_of(codes); k++)
    move_digit(r, &codes->digits[k], &r->here.digits[k], &keys[k]);
}

/* Rows that are in order as they come. */
static bool put_ordered(const void *env, FlCtx *ctx, const char *packed, int64_t n, int64_t at) {
  const Rows *r = env;
  FlTakeOut *outs = fl_take_outs(ctx, r->columns, r->n_columns);
  for (int32_t k = 0; k < r->n_columns && outs != NULL; k++) {
    fl_take_put(&outs[k], packed, NULL, r->base + at, n);
    packed += n * fl_take_size(&r->columns[k]);
  }
  fl_take_outs_end(outs, r->n_columns);
  return outs != NULL;
}

/* ---- a part -------------------------------------------------------------------------------------------- */

/* The words of the part's rows, in their order. */
static int32_t word_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPartPair *to = r->first ? r->pairs : r->spare;
  uint64_t word[FL_PART_BATCH];
  (void)ctx;
  for (int64_t from = begin; from < end; from += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, end - from);
    fl_part_read_words(&r->here, r->w, from, n, word);
    for (int64_t i = 0; i < n; i++) to[from + i] = (FlPartPair){word[i], from + i};
  }
  return 0;
}

/* Those of the rows as they are sorted so far. */
static int32_t key_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) r->pairs[i].key = r->spare[r->pairs[i].row].key;
  return 0;
}

/* Afterwards r->pairs are in order. */
static FlStatus sort_part(Rows *r, int64_t n) {
  FlPartMem *m = r->move.m;
  for (r->w = r->here.n_words - 1; r->w >= 0; r->w--) {
    FlPartPair *sorted = NULL;
    r->first = r->w == r->here.n_words - 1;
    if (fl_part_for(m->ctx, word_body, r, n, 2.0) != 0) return 1;
    if (!r->first && fl_part_for(m->ctx, key_body, r, n, 3.0) != 0) return 1;
    if (r->here.n_words == 1 && fl_part_sort_even(m, r->pairs, r->spare, n, &sorted) != 0) return 1;
    int bits = r->here.words[r->w].bits;
    if (sorted == NULL && fl_part_sort_pairs(m, r->pairs, r->spare, n, bits, &sorted) != 0) return 1;
    if (sorted != r->pairs) {
      r->spare = r->pairs;
      r->pairs = sorted;
    }
  }
  return 0;
}

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *made = fl_counted_new(pool, (size_t)(OUT * r->widest));
  FlTakeOut *outs = fl_take_outs(ctx, r->columns, r->n_columns);
  int32_t at[OUT];
  for (int64_t k = begin; k < end && made != NULL && outs != NULL; k++) {
    int64_t from = k * OUT, n = fl_part_min(OUT, r->here.n - from);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)r->pairs[from + i].row;
    for (int32_t c = 0; c < r->n_columns; c++) {
      fl_take_gather(r->move.columns[c].to, fl_take_size(&r->columns[c]), at, n, made);
      fl_take_put(&outs[c], made, NULL, r->base + from, n);
    }
  }
  fl_take_outs_end(outs, r->n_columns);
  fl_counted_free(made);
  return made == NULL || outs == NULL;
}

static FlStatus move_part(Rows *r) {
  FlMove *v = &r->move;
  int64_t n = fl_move_rows(v, v->part);
  bool ordered = v->part & 1;
  r->base = v->by.start[v->part];
  r->here.n = r->here.n_left = n;
  v->put = ordered ? put_ordered : NULL;
  if (fl_move_read(v) != 0) return 1;
  if (ordered || n == 0) return 0;
  if (sort_part(r, n) != 0) return 1;
  if (fl_part_for(v->m->ctx, place_body, r, (n + OUT - 1) / OUT, 5.0 * OUT) == 0) return 0;
  return fl_part_fail_memory(v->m);
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Memory for the largest part that is sorted. */
static FlStatus make_room(Rows *r) {
  FlMove *v = &r->move;
  int64_t most = 1;
  for (int64_t k = 0; k < v->by.n_parts; k += 2) most = fl_part_max(most, fl_move_rows(v, k));
  r->pairs = fl_part_near(v->m, most, sizeof *r->pairs);
  r->spare = fl_part_near(v->m, most, sizeof *r->spare);
  if (!r->pairs || !r->spare) return 1;
  for (int32_t k = 0; k < v->n_columns; k++)
    if ((v->columns[k].to = fl_part_near(v->m, most, (size_t)v->columns[k].size)) == NULL) return 1;
  return 0;
}

/* What moves of a row, and whether it may. */
static FlStatus plan(Rows *r, const FlPartCodes *codes, FlPartKey **keys, bool *fits, int64_t *row) {
  FlPartMem *m = r->move.m;
  int32_t n_digits = digits_of(codes), most = r->n_columns + codes->n_words + 2 * n_digits;
  r->move.columns = fl_part_zalloc(m, most, sizeof *r->move.columns);
  r->here.words = fl_part_alloc(m, codes->n_words, sizeof *r->here.words);
  r->here.digits = fl_part_alloc(m, n_digits, sizeof *r->here.digits);
  *keys = fl_part_alloc(m, n_digits, sizeof **keys);
  if (!r->move.columns || !r->here.words || !r->here.digits || !*keys) return 1;
  *fits = true;
  for (int32_t k = 0; k < r->n_columns; k++) {
    const FlTakeColumn *c = &r->columns[k];
    *fits &= c->from->rank == 1 && c->from->dtype != FL_LIST;
    r->move.columns[r->move.n_columns++] = (FlMovedColumn){.from = fl_take_data(c), .size = fl_take_size(c)};
    r->widest = fl_part_max(r->widest, fl_take_size(c));
  }
  move_keys(r, codes, *keys);
  for (int32_t k = 0; k < r->move.n_columns; k++) *row += r->move.columns[k].size;
  *fits &= fl_move_fits(*row);
  return 0;
}

FlStatus fl_sort_rows_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, FlTakeColumn *columns,
                            int32_t n, bool *done) {
  Rows r = {.move = {.m = m}, .columns = columns, .n_columns = n, .here = {.n_words = codes->n_words}};
  FlPartKey *keys;
  int64_t row = 0;
  *done = false;
  r.move.env = &r;
  if (plan(&r, codes, &keys, done, &row) != 0) return 1;
  if (*done && fl_move_cut(&r.move, codes, bytes, row + 2 * (int64_t)sizeof(FlPartPair), done) != 0) return 1;
  if (!*done) return 0;
  FlStatus status = fl_move_write(&r.move) != 0 || make_room(&r) != 0;
  if (status == 0) move_keys(&r, codes, keys);
  for (int32_t k = 0; k < n && status == 0; k++) status = fl_take_make(m->ctx, codes->n, NULL, &columns[k]);
  for (; r.move.part < r.move.by.n_parts && status == 0; r.move.part++) status = move_part(&r);
  fl_move_end(&r.move);
  return status;
}

/* By the order of all rows. What made the order is given back before the columns are made. */
static FlStatus take_rows(FlPartMem *m, FlPartCodes *codes, const FlOpDesc *desc, const FlSlot *arrays,
                          int32_t n, FlSlot *results) {
  FlArray *rows = NULL;
  FlOpDesc take = {
      .site = desc->site, .n_args = n + 1, .i = FL_TAKE_PROVEN | FL_TAKE_LAST, .codes = desc->codes};
  FlStatus status = fl_part_order(m, codes, &rows);
  fl_part_note_disk(m, rows);
  fl_part_mem_reset(m);
  FlSlot *args = status == 0 ? fl_part_alloc(m, n + 1, sizeof *args) : NULL;
  if (args != NULL) {
    args[0].a = rows;
    memcpy(args + 1, arrays, (size_t)n * sizeof *args);
    status = fl_rt_take(m->ctx, &take, args, results);
  }
  fl_array_unref(rows);
  return args == NULL ? 1 : status;
}

/* Whole rows, where the order cannot be made in memory; *done: they were moved. */
static FlStatus move_rows(FlPartMem *m, FlPartCodes *codes, const FlSlot *arrays, int32_t n, FlSlot *results,
                          bool *done) {
  int64_t bytes = fl_part_order_bytes(codes), room = fl_pool_room(fl_part_pool(m), bytes);
  *done = false;
  if (room >= bytes || fl_ctx_op_part(m->ctx)) return 0;
  FlTakeColumn *columns = fl_part_zalloc(m, n, sizeof *columns);
  if (columns == NULL) return 1;
  for (int32_t k = 0; k < n; k++) fl_take_from(arrays[k].a, codes->n, &columns[k]);
  FlStatus status = fl_sort_rows_parts(m, codes, room, columns, n, done);
  for (int32_t k = 0; k < n && *done; k++) {
    if (columns[k].to != NULL) fl_part_note_disk(m, columns[k].to);
    if (status == 0) results[k].a = fl_take_close(&columns[k]);
    else fl_take_drop(&columns[k]);
  }
  return status;
}

FlStatus fl_rt_sort_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlPartKey *keys;
  FlPartCodes codes;
  int32_t n_keys = 0;
  for (int32_t k = 0; k < desc->n_columns; k++)
    n_keys += 1 + (desc->columns[k].flags & FL_COLUMN_NULLS ? 1 : 0);
  int32_t n = desc->n_args - n_keys;
  bool done = false;
  FlStatus status = fl_part_keys(&mem, desc, args, &keys);
  if (status == 0 && fl_part_order_told(&mem, keys, desc)) {
    fl_part_mem_reset(&mem);
    return 0;
  }
  if (status == 0)
    status = fl_part_encode(&mem, keys, desc->n_columns, 1, true, &codes) != 0 ||
             move_rows(&mem, &codes, args + n_keys, n, results, &done) != 0;
  if (status == 0 && !done) status = take_rows(&mem, &codes, desc, args + n_keys, n, results);
  fl_part_mem_reset(&mem);
  return status;
}
