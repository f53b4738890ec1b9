/* take.c: rows by their numbers, of any number of arrays.
 *
 * Comes in: row numbers, arrays of any type and rank. Goes out: new arrays of those rows. Always holds: rows
 * of texts keep the bytes of their source alive, and its codes when it has any (data/text_codes.h); rows of
 * lists hold their own references.
 *
 * Where the numbers go through the arrays in order, or the arrays are small, one sweep over the numbers
 * serves all of the arrays; where they jump, each array has a sweep of its own, so that the caches hold as
 * much of it as they can. Numbers that nobody reads afterwards give their memory to the array that is taken
 * last: rows of their own size take their place, one by one; of others, the pages that were read go back.
 * Arrays that live in files and do not fit in memory are read in order, piece by piece (take_far.c); a few
 * rows of them are all asked of the disk, and then looked up. Where the numbers are all rows in their order,
 * as those of a join's left table where each row has one partner, the arrays are what they were. */
#include "part/take_internal.h"

#include "data/kept_rows.h"
#include "part/dictionary.h"
#include "part/fill.h"

enum { PIECE = 4096 }; /* numbers that stay in the nearest cache */

typedef struct Take {
  FlTakeColumn *columns;
  int32_t n_columns;
  const int64_t *rows;
  const uint32_t *narrow; /* the numbers, in place of `rows`; NULL: these */
  int64_t m, least;       /* the least number that is allowed: 0, or -1 */
  const FlArray *numbers; /* that nobody writes to; NULL: there is none */
  FlArray *mine;          /* the numbers, which nobody reads after the last sweep; NULL: somebody may */
  FlBuffer *spent;        /* of the numbers, whose pages go back in the last sweep; NULL: they stay */
  int64_t unit; /* so many numbers are the least that a worker gets: whole pages of those that are spent */
} Take;

#define GATHER(T)                                                                                            \
  {                                                                                                          \
    const T *from = (const T *)c->from->data;                                                                \
    T *to = place;                                                                                           \
    for (int64_t i = 0; i < n; i++) to[i] = rows[i] < 0 ? (T){0} : from[rows[i]];                            \
    return;                                                                                                  \
  }

/* Where the same row comes again and again, as where values are filled from above, it is looked up once.
 * `to` may be where the numbers are: each is read before its value is written. */
static void gather_words(const uint64_t *from, const int64_t *rows, int64_t n, uint64_t *to) {
  enum { EIGHT = 8 };
  int64_t i = 0;
  for (; i + EIGHT <= n; i += EIGHT) {
    int64_t differ = 0;
    for (int64_t k = 1; k < EIGHT; k++) differ |= rows[i + k] ^ rows[i];
    if (differ == 0) {
      const uint64_t same = rows[i] < 0 ? 0 : from[rows[i]];
      for (int64_t k = 0; k < EIGHT; k++) to[i + k] = same;
    } else {
      for (int64_t k = 0; k < EIGHT; k++) to[i + k] = rows[i + k] < 0 ? 0 : from[rows[i + k]];
    }
  }
  for (; i < n; i++) to[i] = rows[i] < 0 ? 0 : from[rows[i]];
}

static void gather_lists(const FlTakeColumn *c, const int64_t *rows, int64_t n, FlArray **to) {
  FlArray *const *from = c->from->data;
  int64_t width = (int64_t)(c->row_bytes / sizeof *from);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < width && rows[i] >= 0; k++)
      to[i * width + k] = fl_array_ref(from[rows[i] * width + k]);
  }
}

/* The rows of n numbers. What is made in the place of the numbers follows them. */
static void gather(const FlTakeColumn *c, const int64_t *rows, int64_t n, void *place) {
  if (c->few) {
    fl_take_few(c, rows, n, place);
    return;
  }
  switch (fl_row_word(c->from->data, c->row_bytes)) {
  case 1: GATHER(uint8_t)
  case 2: GATHER(uint16_t)
  case 4: GATHER(uint32_t)
  case 8: gather_words(c->from->data, rows, n, place); return;
  case 16: GATHER(FlText)
  }
  const char *from = c->from->data;
  for (int64_t i = 0; i < n; i++) {
    char *to = (char *)place + i * (int64_t)c->row_bytes;
    if (rows[i] < 0) {
      memset(to, 0, c->row_bytes);
    } else {
      memcpy(to, from + rows[i] * (int64_t)c->row_bytes, c->row_bytes);
    }
  }
}
#undef GATHER

#define GATHER_CODED(T)                                                                                      \
  for (int64_t i = begin; i < end; i++) {                                                                    \
    int64_t row = rows[i - begin];                                                                           \
    T code = row < 0 ? (T)0 : ((const T *)c->codes)[row];                                                    \
    missing |= row < 0;                                                                                      \
    ((T *)c->to_codes->data)[i] = code;                                                                      \
    if (to != NULL) to[i] = row < 0 ? (FlText){0} : texts[code];                                             \
  }                                                                                                          \
  break;

/* Texts come from the dictionary, which is small, by their codes. */
static void gather_coded(FlTakeColumn *c, const int64_t *rows, int64_t begin, int64_t end) {
  const FlText *texts = c->known->dictionary->texts;
  FlText *to = c->coded ? NULL : c->to->data;
  int32_t missing = 0;
  switch (c->known->width) {
  case 1: GATHER_CODED(uint8_t)
  case 2: GATHER_CODED(uint16_t)
  default: GATHER_CODED(uint32_t)
  }
  if (missing) atomic_store_explicit(&c->missing, 1, memory_order_relaxed);
}
#undef GATHER_CODED

/* Whether some number is below `least` or not below n. */
FL_PART_WIDE static bool is_outside(const int64_t *rows, int64_t count, int64_t least, int64_t n) {
  uint64_t width = (uint64_t)n - (uint64_t)least, bad = 0;
  for (int64_t i = 0; i < count; i++) bad |= (uint64_t)rows[i] - (uint64_t)least >= width;
  return bad;
}

static bool check(const Take *t, FlTakeColumn *c, int64_t begin, int64_t end) {
  int64_t n = c->from->dims[0];
  bool bad = is_outside(t->rows + begin, end - begin, t->least, n);
  for (int64_t i = begin; bad && i < end; i++) {
    if (t->rows[i] >= t->least && t->rows[i] < n) continue;
    fl_part_first(&c->bad, i);
    return false;
  }
  return true;
}

/* The numbers [from, to), in `room` for a piece where they are not there as such. */
static const int64_t *numbers_of(const Take *t, int64_t from, int64_t to, int64_t *room) {
  if (t->narrow == NULL) return t->rows + from;
  for (int64_t i = from; i < to; i++)
    room[i - from] = t->narrow[i] == UINT32_MAX ? -1 : (int64_t)t->narrow[i];
  return room;
}

/* The rows of the numbers [from, to), which are rows[0..to - from), by the column's slices. */
static void gather_piece(FlTakeColumn *c, FlSlices *slices, const int64_t *rows, int64_t from, int64_t to) {
  char *place = (char *)c->to->data + from * (int64_t)c->row_bytes;
  if (c->known != NULL) {
    gather_coded(c, rows, from, to);
  } else if (c->from->dtype == FL_LIST) {
    gather_lists(c, rows, to - from, (FlArray **)(void *)place);
  } else if (c->row_bytes > 0) {
    gather(c, rows, to - from, fl_slice(slices, place));
    fl_slice_done(slices, (to - from) * (int64_t)c->row_bytes);
  }
}

/* Room for slices of the columns that live in files; NULL: there is none, or no memory for it. */
static FlSlices *slices_of(FlCtx *ctx, const Take *t) {
  FlSlices *all = calloc((size_t)t->n_columns, sizeof *all);
  for (int32_t k = 0; k < t->n_columns && all != NULL; k++) {
    const FlTakeColumn *c = &t->columns[k];
    bool plain = c->known == NULL && c->from->dtype != FL_LIST;
    all[k] = fl_part_slices(ctx, c->to->data, plain ? PIECE * (int64_t)c->row_bytes : 0, t->n_columns);
  }
  return all;
}

static int32_t take_body(FlCtx *ctx, const void *env, int64_t first, int64_t last) {
  enum { SPENT = 1 << 18 }; /* numbers of a large page */
  FlSlices none = {0};
  const Take *t = env;
  int64_t begin = first * t->unit, end = fl_part_min(last * t->unit, t->m), kept = begin;
  FlSlices *slices = slices_of(ctx, t);
  int64_t room[PIECE];
  for (int64_t from = begin; from < end; from += PIECE) {
    int64_t to = fl_part_min(from + PIECE, end);
    const int64_t *rows = numbers_of(t, from, to, room);
    for (int32_t k = 0; k < t->n_columns; k++) {
      FlTakeColumn *c = &t->columns[k];
      if (!c->checked && !check(t, c, from, to)) break;
      if (c->few) fl_take_announce(c, t->numbers, rows, to - from);
      gather_piece(c, slices != NULL ? &slices[k] : &none, rows, from, to);
    }
    if (t->spent == NULL || (to - kept < SPENT && to < end)) continue;
    fl_buffer_discard(t->spent, t->rows + kept, t->rows + to);
    kept = to;
  }
  for (int32_t k = 0; k < t->n_columns && slices != NULL; k++) fl_slices_end(&slices[k]);
  free(slices);
  return 0;
}

/* ---- how many sweeps ---------------------------------------------------------------------------------- */

/* Whether a sample of the numbers lie close to those a little further on, and no array is too large for a
 * cache. */
static bool one_sweep(const Take *t) {
  enum { SAMPLES = 64, STEP = 64, NEAR = 16 * STEP, SMALL = 1 << 18 };
  int64_t near = 0;
  size_t bytes = 0;
  for (int32_t k = 0; k < t->n_columns; k++)
    bytes += (size_t)t->columns[k].from->dims[0] * t->columns[k].row_bytes;
  if (bytes <= SMALL) return true;
  for (int64_t s = 0; s < SAMPLES && t->m > STEP; s++) {
    int64_t at = (t->m - STEP) / SAMPLES * s, room[2];
    int64_t far = *numbers_of(t, at + STEP, at + STEP + 1, room) - *numbers_of(t, at, at + 1, room + 1);
    near += far >= 0 && far <= NEAR;
  }
  return near > SAMPLES / 2;
}

static double cost_of(const FlTakeColumn *c) {
  return c->known != NULL ? 2.5 : 1.0 + 0.1 * (double)c->row_bytes;
}

/* As many bytes of the array to be as the numbers have come back as the numbers go: it may stand in a block
 * that was in use before. */
static void make_room(const Take *t, const FlTakeColumn *c) {
  int64_t numbers = t->m * (int64_t)sizeof *t->rows, bytes = fl_part_min(numbers, fl_array_bytes(c->to));
  fl_buffer_discard(c->to->buffer, c->to->data, (char *)c->to->data + bytes);
}

static int32_t check_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Take *t = env;
  (void)ctx;
  for (int32_t k = 0; k < t->n_columns; k++) {
    if (!t->columns[k].checked && !check(t, &t->columns[k], begin, end)) break;
  }
  return 0;
}

/* Whether all numbers are rows of all columns; what is not is written down. */
static bool all_fit(FlCtx *ctx, const Take *t) {
  bool fit = fl_part_for(ctx, check_body, t, t->m, 0.5 * t->n_columns) == 0;
  for (int32_t k = 0; k < t->n_columns; k++) fit &= atomic_load(&t->columns[k].bad) == INT64_MAX;
  return fit;
}

typedef struct Widened {
  const Take *t;
  int64_t *to;
} Widened;

static int32_t widen_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Widened *w = env;
  (void)ctx;
  (void)numbers_of(w->t, begin, end, w->to + begin);
  return 0;
}

/* From arrays in files; the numbers are known to be rows of them, or -1. */
static FlStatus take_far(FlCtx *ctx, const Take *t) {
  if (t->narrow == NULL) return fl_take_far(ctx, t->columns, t->n_columns, t->rows, t->m);
  FlArray *wide = fl_array_new(ctx, FL_I64, 1, &t->m);
  Widened w = {t, wide != NULL ? wide->data : NULL};
  FlStatus status = wide == NULL || fl_part_for(ctx, widen_body, &w, t->m, 0.5) != 0 ||
                    fl_take_far(ctx, t->columns, t->n_columns, wide->data, t->m) != 0;
  fl_array_unref(wide);
  return status;
}

static FlStatus sweep(FlCtx *ctx, const Take *t) {
  enum { LARGE_PAGE = 1 << 18 }; /* so many numbers: smaller pages are slow to come back */
  Take part = *t;
  double cost = 0.0;
  part.unit = t->spent != NULL ? LARGE_PAGE : PIECE;
  int64_t units = (t->m + part.unit - 1) / part.unit;
  if (t->spent != NULL) make_room(t, &t->columns[t->n_columns - 1]);
  bool near = one_sweep(t);
  bool far = !near && fl_take_is_far(ctx, t->columns, t->n_columns, t->m);
  if (far) return all_fit(ctx, t) ? take_far(ctx, t) : 0;
  if (near) {
    for (int32_t k = 0; k < t->n_columns; k++) cost += cost_of(&t->columns[k]);
    return fl_part_for(ctx, take_body, &part, units, cost * (double)part.unit);
  }
  part.n_columns = 1;
  for (int32_t k = 0; k < t->n_columns; k++) {
    part.columns = &t->columns[k];
    part.spent = k + 1 == t->n_columns ? t->spent : NULL;
    cost = (0.5 + cost_of(part.columns)) * (double)part.unit;
    if (fl_part_for(ctx, take_body, &part, units, cost) != 0) return 1;
    if (atomic_load(&part.columns->bad) != INT64_MAX) return 0;
  }
  return 0;
}

/* ---- from arrays to arrays ---------------------------------------------------------------------------- */

static size_t row_bytes_of(const FlArray *a) {
  return (size_t)fl_array_row_count(a) * (size_t)fl_dtype_info[a->dtype].bytes;
}

void fl_take_from(FlArray *from, int64_t m, FlTakeColumn *c) {
  *c = (FlTakeColumn){.from = from, .checked = true, .bad = INT64_MAX, .row_bytes = row_bytes_of(from)};
  if (fl_part_goes_by_codes(from, m)) c->known = fl_text_codes(from, &c->codes);
}

FlStatus fl_take_make(FlCtx *ctx, int64_t m, FlArray *place, FlTakeColumn *c) {
  if (c->known != NULL && (c->to_codes = fl_buffer_new(ctx, m * c->known->width)) == NULL) return 1;
  c->coded = c->coded && c->known != NULL && m >= fl_unwritten_from();
  if (c->coded && (c->to = fl_array_new_coded(ctx, m, c->from, c->known, c->to_codes)) != NULL) return 0;
  c->coded = false;
  c->to = place != NULL ? fl_array_ref(place) : fl_part_new_rows(ctx, c->from, m);
  return c->to == NULL;
}

/* Whether codes are made of a column's texts to take rows of it that may be codes alone: they are few against
 * these. */
static bool worth_codes(const FlTakeColumn *c, int64_t m) {
  enum { MOST = 1 << 18, EACH = 8 };
  const int64_t n = c->from->dims[0];
  return c->known == NULL && fl_part_goes_by_codes(c->from, m) && n <= MOST && m / EACH >= n &&
         m >= fl_unwritten_from();
}

/* `coded`: the rows are all there, and their texts may be codes alone. */
static FlStatus open_column(FlCtx *ctx, FlArray *from, int64_t m, bool checked, bool coded, FlArray *place,
                            FlTakeColumn *c) {
  fl_take_from(from, m, c);
  c->checked = checked;
  c->coded = coded;
  if (coded && worth_codes(c, m)) {
    if (fl_part_find_codes(ctx, from, true) != 0) return 1;
    c->known = fl_text_codes(from, &c->codes);
  }
  return fl_take_make(ctx, m, place, c);
}

FlArray *fl_take_close(FlTakeColumn *c) {
  if (c->coded || (c->to_codes != NULL && atomic_load(&c->missing))) {
    fl_buffer_unref(c->to_codes);
  } else if (c->to_codes != NULL) {
    (void)fl_text_codes_attach(c->to, fl_dictionary_ref(c->known->dictionary), c->to_codes, c->known->width);
  }
  return c->to;
}

void fl_take_drop(FlTakeColumn *c) {
  fl_array_unref(c->to);
  fl_buffer_unref(c->to_codes);
}

FlArray *fl_part_take(FlCtx *ctx, FlArray *from, const int64_t *rows, int64_t m) {
  FlTakeColumn c;
  Take t = {.columns = &c, .n_columns = 1, .rows = rows, .m = m, .least = -1};
  FlStatus status = open_column(ctx, from, m, true, false, NULL, &c);
  if (status == 0) status = sweep(ctx, &t);
  if (status == 0) return fl_take_close(&c);
  fl_take_drop(&c);
  return NULL;
}

/* ---- all rows in their order -------------------------------------------------------------------------- */

typedef struct InOrder {
  const int64_t *rows;
  _Atomic int64_t other; /* the first that is not its own place */
} InOrder;

static int32_t in_order_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  InOrder *o = (InOrder *)(uintptr_t)env;
  int64_t other = 0;
  (void)ctx;
  if (atomic_load_explicit(&o->other, memory_order_relaxed) != INT64_MAX) return 0;
  for (int64_t i = begin; i < end; i++) other |= o->rows[i] ^ i;
  if (other != 0) fl_part_first(&o->other, begin);
  return 0;
}

/* Whether what is taken are the arrays as they are: the numbers are bool without memory, or all in order. */
static bool are_whole(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args) {
  enum { SAMPLES = 64 };
  const FlArray *numbers = args[0].a;
  const int64_t m = numbers->dims[0], *rows = numbers->data;
  if (numbers->dtype == FL_BOOL) return true;
  for (int32_t k = 1; k < desc->n_args; k++)
    if (args[k].a->dims[0] != m) return false;
  if (m < FL_PART_FEW_ROWS || numbers->dtype == FL_U32) return false;
  for (int64_t s = 1; s <= SAMPLES; s++) {
    int64_t at = m * s / SAMPLES - 1;
    if (rows[at] != at) return false;
  }
  InOrder o = {rows, INT64_MAX};
  return fl_part_for(ctx, in_order_body, &o, m, 0.25) == 0 && atomic_load(&o.other) == INT64_MAX;
}

/* ---- the operator -------------------------------------------------------------------------------------- */

static bool fits_numbers(const FlArray *a) {
  return a->rank == 1 && a->dtype != FL_LIST && row_bytes_of(a) == sizeof(int64_t);
}

/* Which array is taken last where the numbers are spent: one of their size, or else the widest. */
static int32_t last_array(const Take *t, const FlSlot *arrays) {
  int32_t last = 0;
  for (int32_t k = 0; k < t->n_columns; k++) {
    if (fits_numbers(arrays[k].a)) return k;
    if (row_bytes_of(arrays[k].a) > row_bytes_of(arrays[last].a)) last = k;
  }
  return last;
}

/* `places`: arrays that the rows of each go to; NULL: they are made. */
static FlStatus take_all(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, const FlSlot *places,
                         Take *t) {
  enum { MANY = 1 << 19 }; /* numbers whose pages are worth going back */
  const FlSlot *arrays = args + 1;
  int32_t last = t->mine != NULL ? last_array(t, arrays) : t->n_columns - 1;
  FlArray *over = NULL; /* the numbers' memory, for the last array */
  if (t->mine != NULL && fits_numbers(arrays[last].a)) {
    over = fl_array_over(m->ctx, t->mine->buffer, t->mine->data, arrays[last].a->dtype, 1, &t->m);
    if (over == NULL) return 1;
  } else if (t->mine != NULL && t->m >= MANY) {
    t->spent = t->mine->buffer;
  }
  FlStatus status = 0;
  const bool coded = fl_part_gives_codes(m->ctx, desc) && t->least == 0;
  for (int32_t k = 0; k < t->n_columns && status == 0; k++) {
    int32_t of = k + 1 == t->n_columns ? last : k + (k >= last);
    bool same_rows = of > 0 && arrays[of].a->dims[0] == arrays[of - 1].a->dims[0];
    FlArray *place = places != NULL ? places[of].a : of == last ? over : NULL;
    status = open_column(m->ctx, arrays[of].a, t->m, (desc->i & FL_TAKE_PROVEN) || same_rows, coded, place,
                         &t->columns[k]);
    t->columns[k].result = of;
  }
  fl_array_unref(over);
  if (status == 0) status = sweep(m->ctx, t);
  for (int32_t k = 0; k < t->n_columns && status == 0; k++) {
    int64_t bad = atomic_load(&t->columns[k].bad);
    if (bad != INT64_MAX)
      status = fl_part_fail_index(m->ctx, desc, t->rows[bad], t->columns[k].from->dims[0]);
  }
  return status;
}

static FlStatus take_plain(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlSlot *places,
                           FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  const FlArray *rows = args[0].a;
  bool narrow = rows->dtype == FL_U32;
  Take t = {.n_columns = desc->n_args - 1,
            .mine = desc->i & FL_TAKE_LAST && !narrow ? fl_array_reuse(args[0].a) : NULL,
            .rows = rows->data,
            .narrow = narrow ? rows->data : NULL,
            .m = args[0].a->dims[0],
            .least = desc->i & FL_TAKE_OR_ZERO ? -1 : 0};
  if (t.mine == NULL && !narrow) t.numbers = rows; /* they stay as they are */
  t.columns = fl_part_zalloc(&mem, t.n_columns, sizeof *t.columns);
  FlStatus status = t.columns == NULL ? 1 : take_all(&mem, desc, args, places, &t);
  for (int32_t k = 0; k < t.n_columns && t.columns != NULL; k++) {
    FlTakeColumn *c = &t.columns[k];
    if (status == 0) {
      fl_part_note_disk(&mem, c->to);
      results[c->result].a = fl_take_close(c);
    } else {
      fl_take_drop(c);
    }
  }
  fl_array_unref(t.mine);
  fl_part_mem_reset(&mem);
  return status;
}

FlStatus fl_take_plain(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return take_plain(ctx, desc, args, NULL, results);
}

bool fl_part_takes_to(const FlArray *from) {
  return from->dtype != FL_LIST && !fl_dtype_is_text(from->dtype) && !fl_array_is_unwritten(from);
}

FlStatus fl_part_take_to(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  if (fl_part_fill(ctx, args[0].a) != 0 || take_plain(ctx, desc, args, results, results) != 0) return 1;
  for (int32_t k = 0; k < desc->n_results; k++) fl_array_unref(results[k].a); /* the reference made anew */
  return 0;
}

FlStatus fl_rt_take(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  bool selected = false;
  if (fl_part_fill(ctx, args[0].a) != 0) return 1;
  if (are_whole(ctx, desc, args)) {
    for (int32_t k = 1; k < desc->n_args; k++) results[k - 1].a = fl_array_ref(args[k].a);
    return 0;
  }
  for (int32_t k = 1; k < desc->n_args; k++)
    selected |= fl_array_is_unwritten(args[k].a) && !fl_array_is_coded(args[k].a);
  return selected ? fl_take_selected(ctx, desc, args, results) : fl_take_plain(ctx, desc, args, results);
}

FlArray *fl_part_all_rows(FlCtx *ctx, int64_t n) {
  FlBuffer *none = fl_buffer_new(ctx, 1);
  FlArray *all = none != NULL ? fl_array_over(ctx, none, none->data, FL_BOOL, 1, &n) : NULL;
  fl_buffer_unref(none);
  return all;
}

/* ---- whether there is a row --------------------------------------------------------------------------- */

typedef struct HasRow {
  const int64_t *rows;
  uint8_t *to;
} HasRow;

static int32_t has_row_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const HasRow *h = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) h->to[i] = h->rows[i] >= 0;
  return 0;
}

FlArray *fl_part_has_row(FlCtx *ctx, const int64_t *rows, int64_t m) {
  FlArray *to = fl_array_new(ctx, FL_BOOL, 1, &m);
  HasRow h = {rows, to != NULL ? to->data : NULL};
  if (to != NULL && fl_part_for(ctx, has_row_body, &h, m, 0.5) != 0) {
    fl_array_unref(to);
    return NULL;
  }
  return to;
}
