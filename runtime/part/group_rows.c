/* group_rows.c: aggregates of groups, and the first rows of these, where the groups do not fit in memory.
 *
 * Comes in: keys, columns of aggregates, arrays whose first rows are wanted. Goes out: whether they were
 * made, how many groups there are, values and validities, rows. Always holds: what group, aggregate and take
 * give, bit for bit; where these do, or one of them would fail, nothing is made, and who asks calls them.
 *
 * Rows move part by part with all of this (move_rows.c), cut by ranges of their keys; each part is then a
 * table of its own in memory, of which groups are found, aggregated and taken. Groups are numbered by
 * ascending key, so those of a part stand behind those of the part before; and what an aggregate gives of
 * some groups alone is what it gives of them among all. */
#include "part/aggregate_internal.h"
#include "part/dictionary.h"
#include "part/move_rows.h"
#include "part/take_internal.h"

enum {
  STATE = 64,           /* bytes that an aggregate keeps of a group, about, */
  ROW = 8 + STATE + 32, /* and all that is kept of a row of a part, beside what has moved */
  NUMBERS = 24,         /* what numbers of groups take of a row without parts */
  OUT = 1 << 12         /* rows of the result that a worker makes at once */
};

/* An array that moves, and what has come of the part at hand. */
typedef struct Moved {
  FlTakeColumn from;
  FlArray *room, *here; /* for the largest part, NULL: none; of this one */
} Moved;

/* One aggregate: its call as aggregate's, the first of its arguments, what it results in. */
typedef struct Wanted {
  const FlAggRow *row;
  FlOpDesc desc;
  int32_t at;
  FlArray *value, *valid;
} Wanted;

typedef struct Rows {
  FlMove move;
  const FlOpDesc *desc;
  const FlSlot *args;
  int64_t n, g; /* rows; groups so far */
  int32_t n_keys, n_wanted, first_taken, n_taken;
  Wanted *wanted;
  Moved *moved;
  int32_t n_moved, *of; /* of each argument: which of those that move, -1: none */
  FlSlot *here;         /* the arguments of the part */
  FlTakeColumn *taken;
  FlPartGroups groups; /* of the part */
} Rows;

/* ---- what is asked ------------------------------------------------------------------------------------- */

static bool begins(const FlColumnAttr *c) { return c->made != NULL; }

static int32_t args_of(const FlColumnAttr *c) {
  return c->flags & FL_COLUMN_NONE ? 0 : 1 + (c->flags & FL_COLUMN_NULLS ? 1 : 0);
}

/* Reads the call; *fits: all of it is of a kind that moves. */
static FlStatus read_call(Rows *r, bool *fits) {
  const FlOpDesc *desc = r->desc;
  int32_t at = 0, k = 0;
  for (; k < desc->n_columns && !begins(&desc->columns[k]); k++) at += args_of(&desc->columns[k]);
  r->n_keys = k;
  r->wanted = fl_part_zalloc(r->move.m, desc->n_columns, sizeof *r->wanted);
  if (r->wanted == NULL) return 1;
  while (k < desc->n_columns) {
    const FlColumnAttr *first = &desc->columns[k];
    Wanted *w = &r->wanted[r->n_wanted];
    *w = (Wanted){.row = fl_agg_find(first->made, strlen(first->made)), .desc = *desc, .at = at + 1};
    if (w->row == NULL)
      return fl_fail_op(r->move.m->ctx, desc, FL_CODE_INTERNAL, "no aggregate %s", first->made);
    w->desc.s = w->row->name;
    w->desc.f = r->args[at++].f;
    w->desc.i = 0;
    w->desc.result_types = desc->result_types + 2 + 2 * r->n_wanted++;
    w->desc.columns = first;
    w->desc.n_columns = first->flags & FL_COLUMN_NONE ? 0 : 1;
    at += args_of(first);
    for (k++; k < desc->n_columns && !begins(&desc->columns[k]); k++, w->desc.n_columns++)
      at += args_of(&desc->columns[k]);
    *fits &= w->desc.n_columns <= 2;
  }
  r->first_taken = at;
  r->n_taken = desc->n_args - at;
  return 0;
}

/* Which argument is a number and no array. */
static bool is_number(const Rows *r, int32_t arg) {
  for (int32_t k = 0; k < r->n_wanted; k++)
    if (r->wanted[k].at == arg + 1) return true;
  return false;
}

/* The arrays, each once. */
static FlStatus find_moved(Rows *r, bool *fits) {
  FlPartMem *m = r->move.m;
  r->moved = fl_part_zalloc(m, r->desc->n_args, sizeof *r->moved);
  r->of = fl_part_alloc(m, r->desc->n_args, sizeof *r->of);
  r->here = fl_part_alloc(m, r->desc->n_args, sizeof *r->here);
  r->taken = fl_part_zalloc(m, r->n_taken, sizeof *r->taken);
  r->move.columns = fl_part_zalloc(m, r->desc->n_args, sizeof *r->move.columns);
  if (!r->moved || !r->of || !r->here || !r->taken || !r->move.columns) return 1;
  r->n = r->args[0].a->dims[0];
  for (int32_t k = 0; k < r->desc->n_args && *fits; k++) {
    r->of[k] = -1;
    if (is_number(r, k)) continue;
    FlArray *a = r->args[k].a;
    *fits = a->rank == 1 && a->dtype != FL_LIST && a->dims[0] == r->n;
    int32_t j = 0;
    for (; j < r->n_moved; j++) {
      const FlArray *b = r->moved[j].from.from;
      if (b->data == a->data && b->dtype == a->dtype) break;
    }
    if (j == r->n_moved) {
      if (*fits && fl_dtype_info[a->dtype].kind == FL_KIND_TEXT && k < r->wanted[0].at &&
          fl_part_find_codes(m->ctx, a, false) != 0)
        return 1;
      fl_take_from(a, r->n, &r->moved[r->n_moved++].from);
    }
    r->of[k] = j;
  }
  return 0;
}

/* Bytes of a row that moves, and of one of a part with all that is made of it. false: rows do not move, as of
 * texts without codes as keys, whose words alone take more. */
static bool weigh(const Rows *r, int64_t *moves, int64_t *row) {
  *moves = 0;
  *row = ROW;
  for (int32_t j = 0; j < r->n_moved; j++) {
    *moves += fl_take_size(&r->moved[j].from);
    if (r->moved[j].from.known != NULL) *row += (int64_t)sizeof(FlText);
  }
  *row += *moves;
  for (int32_t k = 0; k < r->wanted[0].at - 1; k++) {
    const FlTakeColumn *c = &r->moved[r->of[k]].from;
    if (fl_dtype_info[c->from->dtype].kind == FL_KIND_TEXT && c->known == NULL) return false;
  }
  return fl_move_fits(*moves);
}

static int by_words(const void *a, const void *b, void *n_words) {
  return fl_part_compare_words(a, b, *(const int32_t *)n_words);
}

/* Whether nearly all of some rows are groups of their own. */
static FlStatus mostly_different(FlPartMem *m, const FlPartCodes *codes, bool *are) {
  enum { SAMPLE = 1 << 14 };
  int32_t words = codes->n_words;
  int64_t different = 1;
  *are = false;
  if (codes->n < 16 * SAMPLE) return 0;
  uint64_t *sample = fl_part_alloc(m, (int64_t)SAMPLE * words, sizeof *sample);
  if (sample == NULL) return 1;
  for (int64_t k = 0; k < SAMPLE; k++) fl_part_read_rows(codes, codes->n / SAMPLE * k, 1, sample + k * words);
  qsort_r(sample, SAMPLE, (size_t)words * sizeof *sample, by_words, &words);
  for (int64_t k = 1; k < SAMPLE; k++)
    different += fl_part_compare_words(sample + k * words, sample + (k - 1) * words, words) != 0;
  fl_part_release(m, sample);
  *are = different > SAMPLE - SAMPLE / 32;
  return 0;
}

/* ---- a part -------------------------------------------------------------------------------------------- */

/* Memory for the largest part. */
static FlStatus make_room(Rows *r, int64_t most) {
  FlPartMem *m = r->move.m;
  for (int32_t j = 0; j < r->n_moved; j++) {
    Moved *c = &r->moved[j];
    FlMovedColumn *to = &r->move.columns[r->move.n_columns++];
    *to = (FlMovedColumn){.from = fl_take_data(&c->from), .size = fl_take_size(&c->from)};
    if (c->from.known != NULL) {
      FlBuffer *codes = fl_buffer_new_near(m->ctx, most * to->size);
      if (codes == NULL) return 1;
      to->to = codes->data;
      if ((c->room = fl_part_new_rows(m->ctx, c->from.from, most)) == NULL) {
        fl_buffer_unref(codes);
        return 1;
      }
      FlDictionary *dictionary = fl_dictionary_ref(c->from.known->dictionary);
      (void)fl_text_codes_attach(c->room, dictionary, codes, (int32_t)to->size);
    } else if (fl_dtype_info[c->from.from->dtype].kind != FL_KIND_TEXT) {
      if ((c->room = fl_array_new_near(m->ctx, c->from.from->dtype, 1, &most)) == NULL) return 1;
      to->to = c->room->data;
    } /* what is found of other texts is kept with their buffer: each part has one of its own */
  }
  return 0;
}

static int32_t expand_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Moved *c = env;
  const FlText *texts = c->from.known->dictionary->texts;
  const void *codes;
  FlText *to = c->here->data;
  int32_t width = fl_text_codes(c->here, &codes)->width;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint32_t code = 0; /* the least byte comes first */
    memcpy(&code, (const char *)codes + i * width, (size_t)width);
    to[i] = texts[code];
  }
  return 0;
}

/* The arrays of the part come. */
static FlStatus read_part(Rows *r) {
  FlCtx *ctx = r->move.m->ctx;
  int64_t n = fl_move_rows(&r->move, r->move.part);
  for (int32_t j = 0; j < r->n_moved; j++) {
    Moved *c = &r->moved[j];
    fl_array_unref(c->here);
    FlArray *room = c->room;
    c->here = room != NULL ? fl_array_over(ctx, room->buffer, room->data, (FlDtype)room->dtype, 1, &n)
                           : fl_part_new_rows(ctx, c->from.from, n);
    if (c->here == NULL) return 1;
    if (c->room == NULL) r->move.columns[j].to = c->here->data;
  }
  if (fl_move_read(&r->move) != 0) return 1;
  for (int32_t j = 0; j < r->n_moved; j++)
    if (r->moved[j].from.known != NULL && fl_part_for(ctx, expand_body, &r->moved[j], n, 1.0) != 0) return 1;
  for (int32_t k = 0; k < r->desc->n_args; k++)
    r->here[k] = r->of[k] < 0 ? r->args[k] : (FlSlot){.a = r->moved[r->of[k]].here};
  return 0;
}

static FlStatus group_part(Rows *r, FlPartMem *m) {
  FlOpDesc desc = *r->desc;
  FlPartKey *keys;
  FlPartCodes codes;
  desc.n_columns = r->n_keys;
  return fl_part_keys(m, &desc, r->here, &keys) != 0 ||
         fl_part_encode(m, keys, r->n_keys, 1, true, &codes) != 0 ||
         fl_part_group_codes(m, &codes, true, NULL, &r->groups) != 0;
}

/* ---- its results --------------------------------------------------------------------------------------- */

/* There are as many groups as rows, at most. */
static FlStatus make_results(Rows *r) {
  FlCtx *ctx = r->move.m->ctx;
  for (int32_t k = 0; k < r->n_wanted; k++) {
    Wanted *w = &r->wanted[k];
    FlDtype d = (FlDtype)w->desc.result_types[0].dtype;
    bool text = fl_dtype_is_text(d);
    w->value = text ? fl_part_new_rows(ctx, r->args[w->at].a, r->n) : fl_array_new(ctx, d, 1, &r->n);
    w->valid = fl_array_new(ctx, FL_BOOL, 1, &r->n);
    if (w->value == NULL || w->valid == NULL) return 1;
  }
  for (int32_t k = 0; k < r->n_taken; k++) {
    fl_take_from(r->args[r->first_taken + k].a, r->n, &r->taken[k]);
    if (fl_take_make(ctx, r->n, NULL, &r->taken[k]) != 0) return 1;
  }
  return 0;
}

/* *fits: false where the aggregate fails. */
static FlStatus aggregate_part(const Rows *r, const Wanted *w, bool *fits) {
  FlCtx *ctx = r->move.m->ctx;
  FlPartMem mem = {.ctx = ctx, .near = true};
  FlAgg a = {.m = &mem, .desc = &w->desc, .n = fl_move_rows(&r->move, r->move.part), .g = r->groups.g};
  int32_t at = w->at;
  a.n_cols = w->desc.n_columns;
  a.id = r->groups.id;
  FlStatus status = 0;
  for (int32_t k = 0; k < a.n_cols && status == 0; k++)
    status = fl_part_col(ctx, &w->desc, r->here, &at, &w->desc.columns[k], &a.col[k]);
  if (status == 0) status = (a.counts = fl_agg_counts_of(&a)) == NULL;
  if (status == 0 && w->row->fn(&a) != 0) {
    *fits = false;
    fl_fail_forget(ctx);
  }
  if (status == 0 && *fits)
    status = fl_agg_append(r->move.m, w->value, r->g, a.value, r->groups.g) != 0 ||
             fl_agg_append(r->move.m, w->valid, r->g, a.valid, r->groups.g) != 0;
  fl_array_unref(a.value);
  fl_array_unref(a.valid);
  fl_part_mem_reset(&mem);
  return status;
}

/* The first rows of the groups. */
static int32_t take_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Rows *r = env;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *made = fl_counted_new(pool, OUT * sizeof(FlText));
  int32_t at[OUT];
  for (int64_t s = begin; s < end && made != NULL; s++) {
    int64_t from = s * OUT, n = fl_part_min(OUT, r->groups.g - from);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)r->groups.first[from + i];
    for (int32_t k = 0; k < r->n_taken; k++) {
      const FlMovedColumn *c = &r->move.columns[r->of[r->first_taken + k]];
      fl_take_gather(c->to, c->size, at, n, made);
      fl_take_put(pool, &r->taken[k], made, NULL, r->g + from, n);
    }
  }
  fl_counted_free(made);
  return made == NULL;
}

static FlStatus run_part(Rows *r, bool *fits) {
  FlPartMem mem = {.ctx = r->move.m->ctx, .near = true};
  if (fl_move_rows(&r->move, r->move.part) == 0) return 0;
  FlStatus status = read_part(r) != 0 || group_part(r, &mem) != 0;
  for (int32_t k = 0; k < r->n_wanted && status == 0 && *fits; k++)
    status = aggregate_part(r, &r->wanted[k], fits);
  int64_t slices = (r->groups.g + OUT - 1) / OUT;
  if (status == 0 && r->n_taken > 0 && fl_part_for(mem.ctx, take_body, r, slices, 5.0 * OUT) != 0)
    status = fl_part_fail_memory(&mem);
  r->g += r->groups.g;
  fl_part_mem_reset(&mem);
  return status;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Cuts the rows; *fits: the groups are many, too many for memory, and each part fits. */
static FlStatus cut(Rows *r, FlPartMem *m, FlPartCodes *codes, bool *fits) {
  FlOpDesc desc = *r->desc;
  FlPartKey *keys;
  int64_t moves = 0, row = 1, most = 1, bytes = r->n * (NUMBERS + STATE);
  int64_t room = fl_pool_room(fl_part_pool(m), bytes);
  desc.n_columns = r->n_keys;
  *fits = room < bytes && weigh(r, &moves, &row);
  if (!*fits) return 0;
  if (fl_part_keys(m, &desc, r->args, &keys) != 0 || fl_part_encode(m, keys, r->n_keys, 1, true, codes) != 0)
    return 1;
  if (mostly_different(m, codes, fits) != 0) return 1;
  if (*fits && fl_move_cut(&r->move, codes, r->n * row, row, fits) != 0) return 1;
  for (int64_t k = 0; k < r->move.by.n_parts && *fits; k++)
    most = fl_part_max(most, fl_move_rows(&r->move, k));
  *fits = *fits && most * row <= fl_pool_room(fl_part_pool(m), most * row);
  return *fits ? make_room(r, most) : 0;
}

/* The array with its rows up to g; of far fewer than it has room for, a copy. NULL: error recorded. */
static FlArray *shrink(const Rows *r, FlArray *a) {
  int64_t g = r->g;
  if (g < r->n / 4 * 3) {
    FlArray *to = fl_part_new_rows(r->move.m->ctx, a, g);
    if (to != NULL && fl_agg_append(r->move.m, to, 0, a, g) != 0) {
      fl_array_unref(to);
      to = NULL;
    }
    fl_array_unref(a);
    return to;
  }
  a->dims[0] = g;
  return a;
}

static FlStatus give(Rows *r, FlSlot *results) {
  FlStatus status = 0;
  for (int32_t k = 0; k < r->n_wanted; k++) {
    results[2 + 2 * k].a = r->wanted[k].value = shrink(r, r->wanted[k].value);
    results[3 + 2 * k].a = r->wanted[k].valid = shrink(r, r->wanted[k].valid);
    status |= r->wanted[k].value == NULL || r->wanted[k].valid == NULL;
  }
  for (int32_t k = 0; k < r->n_taken; k++) {
    FlTakeColumn *c = &r->taken[k];
    if (c->known == NULL) c->to = shrink(r, c->to);
    else c->to->dims[0] = r->g;
    status |= c->to == NULL;
    fl_part_note_disk(r->move.m, c->to);
  }
  for (int32_t k = 0; k < r->n_taken && status == 0; k++)
    results[2 + 2 * r->n_wanted + k].a = fl_take_close(&r->taken[k]);
  return status;
}

static void drop(Rows *r) {
  for (int32_t k = 0; k < r->n_wanted; k++) {
    fl_array_unref(r->wanted[k].value);
    fl_array_unref(r->wanted[k].valid);
  }
  for (int32_t k = 0; k < r->n_taken; k++) fl_take_drop(&r->taken[k]);
}

/* Arrays of nothing. */
static FlStatus give_none(FlCtx *ctx, const FlOpDesc *desc, FlSlot *results) {
  int64_t none = 0;
  results[0].i = results[1].i = 0;
  for (int32_t k = 2; k < desc->n_results; k++) results[k].a = NULL;
  for (int32_t k = 2; k < desc->n_results; k++) {
    if ((results[k].a = fl_array_new(ctx, desc->result_types[k].dtype, 1, &none)) != NULL) continue;
    for (int32_t j = 2; j < k; j++) fl_array_unref(results[j].a);
    return 1;
  }
  return 0;
}

static FlStatus group_rows(Rows *r, FlSlot *results, bool *done) {
  FlPartCodes codes;
  *done = true;
  if (read_call(r, done) != 0 || (*done && find_moved(r, done) != 0)) return 1;
  if (*done && cut(r, r->move.m, &codes, done) != 0) return 1;
  if (!*done) return 0;
  FlStatus status = make_results(r) != 0 || fl_move_write(&r->move) != 0;
  for (; r->move.part < r->move.by.n_parts && status == 0 && *done; r->move.part++)
    status = run_part(r, done);
  if (status == 0 && *done) {
    results[0].i = 1;
    results[1].i = r->g;
    status = give(r, results);
  }
  if (status != 0 || !*done) drop(r);
  return status;
}

FlStatus fl_rt_group_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  Rows r = {.move = {.m = &mem}, .desc = desc, .args = args};
  bool done = false;
  FlStatus status = group_rows(&r, results, &done);
  fl_move_end(&r.move);
  for (int32_t j = 0; j < r.n_moved; j++) {
    fl_array_unref(r.moved[j].here);
    fl_array_unref(r.moved[j].room);
  }
  if (!done) mem.on_disk = 0; /* who is called instead says what it keeps */
  fl_part_mem_reset(&mem);
  return status == 0 && !done ? give_none(ctx, desc, results) : status;
}
