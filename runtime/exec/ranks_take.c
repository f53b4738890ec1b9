/* ranks_take.c: rows taken by their numbers, of arrays that are in parts between ranks.
 *
 * In: TAKE, whose numbers or arrays each rank has in part. Out: its results, laid as the numbers are: each
 * rank has those of its own. What always holds: where all numbers are rows that are here already, at all
 * ranks, nothing is sent. Else each asks the others for the rows that they have, piece by piece of its
 * numbers: these go to whoever has the rows, which come back, and are then taken by where each of them came.
 * Beside its rows and its results a rank has memory for a piece. A number that no row has is found before
 * anything is taken; then all take all of it on whole arrays, and fail as one rank does. */
#include "exec/ranks_gives.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 3, MOST_PIECES = 16, CHUNK = 1 << 16 };
static const uint16_t NOBODY = UINT16_MAX;

typedef struct Take {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlSlot *args;
  FlSlot *results;
  const FlCut *cut, *of; /* of the numbers; of the arrays that are in parts, NULL: all are whole */
  FlArray *numbers;      /* the own ones: i64, or u32, the greatest for -1 */
  bool own, in_order;    /* all are own rows of those arrays; all of these, one after the other */
  int64_t pieces;
} Take;

static int32_t ranks_of(const Take *t) { return t->ctx->ranks->n; }
static const FlArray *array_of(const Take *t, int32_t k) { return t->args[1 + k].a; }
static bool is_parted(const Take *t, int32_t k) { return t->of && fl_array_cut(array_of(t, k)) == t->of; }
static int64_t row_bytes(const FlArray *a) { return fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes; }

static int64_t number(const FlArray *numbers, int64_t i) {
  if (numbers->dtype == FL_I64) return ((const int64_t *)numbers->data)[i];
  uint32_t narrow = ((const uint32_t *)numbers->data)[i];
  return narrow == UINT32_MAX ? -1 : (int64_t)narrow;
}

static FlStatus no_memory(const Take *t) {
  return fl_fail_op(t->ctx, t->desc, FL_FAULT_MEMORY, "out of memory");
}

/* ---- what the numbers are ------------------------------------------------------------------------------ */

typedef struct Looked {
  const Take *t;
  int64_t rows;                     /* that the arrays have, all of them */
  _Atomic int32_t bad, away, moves; /* some number is none of them; no own row; not in its place */
} Looked;

static void look_body(void *env, int64_t from, int64_t to, int worker) {
  Looked *l = env;
  const Take *t = l->t;
  int64_t least = t->desc->i & FL_TAKE_OR_ZERO ? -1 : 0;
  int64_t first = t->of ? fl_cut_from(t->of) : 0, end = t->of ? fl_cut_to(t->of) : l->rows;
  bool bad = false, away = false, moves = false;
  (void)worker;
  for (int64_t i = from; i < to; i++) {
    int64_t v = number(t->numbers, i);
    bad |= v < least || v >= l->rows;
    away |= v >= 0 && (v < first || v >= end);
    moves |= v != first + i;
  }
  if (bad) atomic_store_explicit(&l->bad, 1, memory_order_relaxed);
  if (away) atomic_store_explicit(&l->away, 1, memory_order_relaxed);
  if (moves) atomic_store_explicit(&l->moves, 1, memory_order_relaxed);
}

/* *fits: all numbers are rows. */
static FlStatus look(Take *t, bool *fits) {
  FlRanks *r = t->ctx->ranks;
  Looked l = {.t = t, .rows = INT64_MAX};
  int64_t n = t->numbers->dims[0];
  for (int32_t k = 0; k < t->desc->n_results; k++)
    if (array_of(t, k)->dims[0] < l.rows) l.rows = array_of(t, k)->dims[0];
  fl_parallel_for(t->ctx, n, CHUNK, look_body, &l);
  bool moves = l.moves || t->of != t->cut;
  FlRankSlot mine = {
      .step = FL_RANKS_ROWS, .site = t->desc->site, .values = {l.bad != 0, l.away != 0, moves}};
  FlStatus s = fl_ranks_together(t->ctx, &mine);
  *fits = t->own = t->in_order = true;
  for (int32_t k = 0; k < r->n && !s; k++) {
    *fits &= !r->slots[k].values[0];
    t->own &= !r->slots[k].values[1];
    t->in_order &= !r->slots[k].values[2];
  }
  return s;
}

/* ---- taking -------------------------------------------------------------------------------------------- */

/* Of those arrays that are in parts, or of the others, rows of `from` by the numbers, by result: to where
 * they are to stand, where made[k].a says it (`there`), or else they are made. */
static FlStatus take_some(const Take *t, FlArray *numbers, bool parted, bool there, const FlSlot *from,
                          FlSlot *made) {
  int32_t n = 0, most = t->desc->n_results;
  FlSlot *args = calloc((size_t)most + 1, sizeof *args), *results = calloc((size_t)most + 1, sizeof *results);
  FlType1 *types = calloc((size_t)most + 1, sizeof *types);
  int32_t *of = calloc((size_t)most + 1, sizeof *of);
  FlStatus s = args && results && types && of ? 0 : no_memory(t);
  for (int32_t k = 0; k < most && !s; k++) {
    if (is_parted(t, k) != parted || (made[k].a != NULL) != there) continue;
    args[1 + n] = from[k];
    types[n] = t->desc->result_types[k];
    results[n].a = made[k].a;
    of[n++] = k;
  }
  const FlOpDesc desc = {.op = t->desc->op,
                         .site = t->desc->site,
                         .n_args = 1 + n,
                         .n_results = n,
                         .result_types = types,
                         .i = FL_TAKE_PROVEN | (t->desc->i & FL_TAKE_OR_ZERO),
                         .name = t->desc->name};
  if (!s) args[0].a = numbers;
  if (!s && n) s = (there ? fl_part_take_to : fl_rt_take)(t->ctx, &desc, args, results);
  for (int32_t k = 0; k < n && !s; k++) made[of[k]] = results[k];
  free(args);
  free(results);
  free(types);
  free(of);
  return s;
}

static FlStatus take(const Take *t, FlArray *numbers, bool parted, const FlSlot *from, FlSlot *made) {
  FlStatus s = take_some(t, numbers, parted, true, from, made);
  return s ? s : take_some(t, numbers, parted, false, from, made);
}

static void let_go(FlSlot *arrays, int32_t n) {
  for (int32_t k = 0; arrays && k < n; k++) fl_array_unref(arrays[k].a);
  free(arrays);
}

/* The own rows of the arrays that are in parts. */
static FlSlot *rows_here(const Take *t) {
  FlSlot *here = calloc((size_t)t->desc->n_results + 1, sizeof *here);
  bool fine = here != NULL;
  for (int32_t k = 0; k < t->desc->n_results && fine; k++) {
    if (!is_parted(t, k)) continue;
    here[k].a = fl_part_here(t->ctx, array_of(t, k), t->of);
    fine = here[k].a != NULL;
  }
  if (fine) return here;
  let_go(here, t->desc->n_results);
  return NULL;
}

/* ---- rows of others ------------------------------------------------------------------------------------ */

/* A piece of the numbers, and what becomes of it. */
typedef struct Asked {
  const Take *t;
  const FlArray *numbers;
  int64_t n;
  int64_t *at;           /* by chunk and rank: how many rows of his it asks for; then where these begin */
  FlGives gives;         /* numbers that are asked of each, and that each asks */
  uint16_t *owner;       /* [n] */
  FlArray *asks, *place; /* u32: the rows that are asked for, by whose they are; where each number's comes */
  FlArray *wanted;       /* u32: the own rows that others ask for, by who they are */
} Asked;

static int64_t chunks_of(const Asked *a) { return (a->n + CHUNK - 1) / CHUNK; }

/* Who has the row: the last part that does not begin behind it. */
static int32_t owner_of(const FlCut *cut, int64_t row) {
  int32_t low = 0, high = cut->n - 1;
  while (low < high) {
    int32_t middle = (low + high + 1) / 2;
    if (cut->at[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

static void count_body(void *env, int64_t begin, int64_t end, int worker) {
  const Asked *a = env;
  (void)worker;
  for (int64_t c = begin; c < end; c++) {
    int64_t to = c * CHUNK + CHUNK < a->n ? c * CHUNK + CHUNK : a->n, *count = a->at + c * ranks_of(a->t);
    for (int64_t i = c * CHUNK; i < to; i++) {
      int64_t row = number(a->numbers, i);
      a->owner[i] = row < 0 ? NOBODY : (uint16_t)owner_of(a->t->of, row);
      if (row >= 0) count[a->owner[i]]++;
    }
  }
}

static void ask_body(void *env, int64_t begin, int64_t end, int worker) {
  const Asked *a = env;
  uint32_t *asks = a->asks->data, *place = a->place->data;
  (void)worker;
  for (int64_t c = begin; c < end; c++) {
    int64_t to = c * CHUNK + CHUNK < a->n ? c * CHUNK + CHUNK : a->n, *at = a->at + c * ranks_of(a->t);
    for (int64_t i = c * CHUNK; i < to; i++) {
      place[i] = UINT32_MAX;
      if (a->owner[i] == NOBODY) continue;
      int64_t where = at[a->owner[i]]++;
      asks[where] = (uint32_t)(number(a->numbers, i) - a->t->of->at[a->owner[i]]);
      place[i] = (uint32_t)where;
    }
  }
}

static FlArray *new_numbers(FlCtx *ctx, int64_t n) { return fl_array_new(ctx, FL_U32, 1, &n); }

/* Sorts the numbers by whose rows they are. */
static FlStatus sort_out(Asked *a) {
  const Take *t = a->t;
  size_t ranks = (size_t)ranks_of(t), chunks = (size_t)chunks_of(a);
  a->at = calloc(chunks * ranks + 1, sizeof *a->at);
  a->owner = calloc((size_t)a->n + 1, sizeof *a->owner);
  if (!fl_gives_init(&a->gives, t->ctx->ranks) || !a->at || !a->owner) return no_memory(t);
  fl_parallel_for(t->ctx, (int64_t)chunks, 1, count_body, a);
  int64_t all = 0;
  for (size_t k = 0; k < ranks; k++) {
    for (size_t c = 0; c < chunks; c++) {
      int64_t n = a->at[c * ranks + k];
      a->at[c * ranks + k] = all;
      a->gives.gives[k] += n;
      all += n;
    }
  }
  a->asks = new_numbers(t->ctx, all);
  a->place = new_numbers(t->ctx, a->n);
  if (!a->asks || !a->place) return FL_STATUS_MEMORY;
  fl_parallel_for(t->ctx, (int64_t)chunks, 1, ask_body, a);
  return 0;
}

/* Room for the rows that are asked for. */
static FlStatus room_of(const Asked *a, FlSlot *came) {
  const Take *t = a->t;
  for (int32_t k = 0; k < t->desc->n_results; k++) {
    if (!is_parted(t, k)) continue;
    const FlArray *of = array_of(t, k);
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, of->dims, sizeof dims);
    dims[0] = a->asks->dims[0];
    came[k].a = fl_array_new(t->ctx, of->dtype, of->rank, dims);
    if (!came[k].a) return FL_STATUS_MEMORY;
  }
  return 0;
}

static bool return_rows(Asked *a, const FlArray *served, FlArray *came) {
  return fl_gives_return(&a->gives, served->data, came->data, row_bytes(came));
}

static FlStatus exchange(Asked *a, const FlSlot *here, FlSlot *served, FlSlot *came) {
  const Take *t = a->t;
  FlCtx *ctx = t->ctx;
  FlStatus s = fl_rows_meet(ctx, t->desc->site, sort_out(a));
  if (!s && !fl_gives_tell(&a->gives)) s = fl_rows_lost(ctx);
  if (s) return s;
  a->wanted = new_numbers(ctx, fl_gives_taken(&a->gives));
  s = fl_rows_meet(ctx, t->desc->site, a->wanted ? 0 : FL_STATUS_MEMORY);
  if (!s && !fl_gives_trade(&a->gives, a->asks->data, a->wanted->data, sizeof(uint32_t)))
    s = fl_rows_lost(ctx);
  if (s) return s;
  s = take(t, a->wanted, true, here, served);
  if (!s) s = room_of(a, came);
  s = fl_rows_meet(ctx, t->desc->site, s);
  for (int32_t k = 0; k < t->desc->n_results && !s; k++) {
    if (!is_parted(t, k)) continue;
    if (fl_dtype_is_text(came[k].a->dtype))
      s = fl_gives_return_texts(ctx, t->desc->site, &a->gives, served[k].a, came[k].a);
    else if (!return_rows(a, served[k].a, came[k].a)) s = fl_rows_lost(ctx);
  }
  return s;
}

static void asked_reset(Asked *a) {
  fl_array_unref(a->asks);
  fl_array_unref(a->place);
  fl_array_unref(a->wanted);
  fl_gives_reset(&a->gives);
  free(a->at);
  free(a->owner);
}

static FlStatus take_asked(const Take *t, FlArray *numbers, const FlSlot *here, FlSlot *made) {
  Asked a = {.t = t, .numbers = numbers, .n = numbers->dims[0]};
  int32_t n = t->desc->n_results;
  FlSlot *served = calloc((size_t)n + 1, sizeof *served), *came = calloc((size_t)n + 1, sizeof *came);
  FlStatus s = fl_rows_meet(t->ctx, t->desc->site, served && came ? 0 : no_memory(t));
  if (!s) s = exchange(&a, here, served, came);
  let_go(served, n);
  if (!s) s = take(t, a.place, true, came, made);
  let_go(came, n);
  asked_reset(&a);
  return s;
}

/* ---- own rows ------------------------------------------------------------------------------------------ */

typedef struct Shifted {
  const FlArray *numbers;
  int64_t by;
  uint32_t *to;
} Shifted;

static void shift_body(void *env, int64_t from, int64_t to, int worker) {
  const Shifted *k = env;
  (void)worker;
  for (int64_t i = from; i < to; i++) {
    int64_t v = number(k->numbers, i);
    k->to[i] = v < 0 ? UINT32_MAX : (uint32_t)(v - k->by);
  }
}

static FlStatus take_own(const Take *t, FlArray *numbers, const FlSlot *here, FlSlot *made) {
  FlArray *own = new_numbers(t->ctx, numbers->dims[0]);
  if (!own) return FL_STATUS_MEMORY;
  Shifted k = {numbers, fl_cut_from(t->of), own->data};
  fl_parallel_for(t->ctx, numbers->dims[0], CHUNK, shift_body, &k);
  FlStatus s = take(t, own, true, here, made);
  fl_array_unref(own);
  return s;
}

/* ---- piece by piece ------------------------------------------------------------------------------------ */

/* Where the rows [from, to) of the own ones of each result are to stand, and what is taken of them may go at
 * once: that of the others goes there afterwards. */
static FlStatus find_places(const Take *t, const FlSlot *here, int64_t from, int64_t to, FlSlot *made) {
  int64_t first = fl_cut_from(t->cut);
  for (int32_t k = 0; k < t->desc->n_results; k++) {
    const FlArray *of = is_parted(t, k) ? here[k].a : array_of(t, k);
    if ((is_parted(t, k) && t->in_order) || !fl_part_takes_to(of)) continue;
    made[k].a = fl_array_view_rows(t->ctx, t->results[k].a, first + from, first + to);
    if (!made[k].a) return FL_STATUS_MEMORY;
  }
  return 0;
}

/* The own numbers of the piece give rows that stand in their places. */
static FlStatus run_piece(const Take *t, int64_t piece, const FlSlot *here) {
  int32_t n = t->desc->n_results;
  int64_t all = t->numbers->dims[0], from = all / t->pieces * piece + all % t->pieces * piece / t->pieces;
  int64_t next = piece + 1, to = all / t->pieces * next + all % t->pieces * next / t->pieces;
  FlArray *numbers = fl_array_view_rows(t->ctx, t->numbers, from, to);
  FlSlot *made = calloc((size_t)n + 1, sizeof *made);
  FlStatus s = numbers && made ? find_places(t, here, from, to, made) : no_memory(t);
  if (t->of && !t->own) s = fl_rows_meet(t->ctx, t->desc->site, s);
  if (!s && t->of && !t->in_order)
    s = t->own ? take_own(t, numbers, here, made) : take_asked(t, numbers, here, made);
  if (!s) s = take(t, numbers, false, t->args + 1, made);
  for (int32_t k = 0; k < n && !s; k++) {
    if (!made[k].a) continue;
    int64_t size = row_bytes(made[k].a), bytes = size * (to - from);
    char *place = (char *)t->results[k].a->data + (fl_cut_from(t->cut) + from) * size;
    if (made[k].a->data == place) continue;
    if (bytes) memcpy(place, made[k].a->data, (size_t)bytes);
    s = fl_array_keep(t->ctx, t->results[k].a, NULL, &made[k].a, 1);
  }
  let_go(made, n);
  fl_array_unref(numbers);
  return s;
}

/* Places for the results, and how many pieces there are. */
static FlStatus make_room(Take *t) {
  const FlRanks *r = t->ctx->ranks;
  int64_t most = 0, total = fl_cut_rows(t->cut);
  for (int32_t k = 0; k < t->cut->n; k++)
    if (t->cut->at[k + 1] - t->cut->at[k] > most) most = t->cut->at[k + 1] - t->cut->at[k];
  t->pieces = most / (PIECE * r->parts_from) + 1;
  if (t->pieces > MOST_PIECES) t->pieces = MOST_PIECES;
  for (int32_t k = 0; k < t->desc->n_results; k++) {
    const FlArray *a = array_of(t, k);
    int64_t dims[FL_MAX_RANK];
    memcpy(dims, a->dims, sizeof dims);
    dims[0] = total;
    bool same = is_parted(t, k) && t->in_order;
    t->results[k].a =
        same ? fl_array_ref(t->args[1 + k].a) : fl_array_new_part(t->ctx, a->dtype, a->rank, dims, t->cut);
    if (!t->results[k].a) return FL_STATUS_MEMORY;
  }
  return 0;
}

/* Those that must be whole, or are few. */
static FlStatus gather(const Take *t) {
  FlStatus s = 0;
  for (int32_t k = 0; k < t->desc->n_results && !s; k++) {
    FlArray *a = t->results[k].a;
    if (!t->desc->stays[k] || !fl_rows_are_many(t->ctx, fl_array_count(a)))
      s = fl_rows_gather(t->ctx, t->desc->site, a);
  }
  return s;
}

static FlStatus run(Take *t) {
  for (int32_t k = 0; k < t->desc->n_results; k++) t->results[k].a = NULL;
  FlStatus own = make_room(t);
  FlSlot *here = own ? NULL : rows_here(t);
  if (!own && !here) own = no_memory(t);
  FlStatus s = fl_rows_meet(t->ctx, t->desc->site, own);
  for (int64_t p = 0; p < t->pieces && !s; p++) {
    own = run_piece(t, p, here);
    /* Who asks others meets them in each piece, and with how it went. */
    s = t->of && !t->own ? fl_rows_meet(t->ctx, t->desc->site, own) : own;
  }
  let_go(here, t->desc->n_results);
  if (!t->of || t->own) s = fl_rows_meet(t->ctx, t->desc->site, s);
  if (!s) s = gather(t);
  for (int32_t k = 0; k < t->desc->n_results && s; k++) fl_array_unref(t->results[k].a);
  return s;
}

/* ---- whether ------------------------------------------------------------------------------------------- */

/* The cut of the arrays that are in parts; those that are cut otherwise, or hold what points elsewhere, are
 * gathered. */
static FlStatus lay(Take *t) {
  FlStatus s = 0;
  for (int32_t k = 0; k < t->desc->n_results && !s; k++) {
    const FlCut *its = fl_array_cut(array_of(t, k));
    bool fits = its && array_of(t, k)->dtype != FL_LIST;
    for (int32_t r = 0; r < ranks_of(t) && fits; r++) fits = its->at[r + 1] - its->at[r] < UINT32_MAX;
    if (fits && !t->of) t->of = its;
    if (its && (!fits || its != t->of)) s = fl_rows_gather(t->ctx, t->desc->site, t->args[1 + k].a);
  }
  return s;
}

/* The numbers are all rows, in their order: so are the results. */
static FlStatus all_rows(Take *t) {
  for (int32_t k = 0; k < t->desc->n_results; k++) t->results[k].a = fl_array_ref(t->args[1 + k].a);
  FlStatus s = gather(t);
  for (int32_t k = 0; k < t->desc->n_results && s; k++) fl_array_unref(t->results[k].a);
  return s;
}

FlStatus fl_ranks_take(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done) {
  Take t = {.ctx = ctx, .desc = desc, .args = args, .results = results, .own = true};
  bool some = fl_array_cut(args[0].a) != NULL, fits = true;
  for (int32_t k = 0; k < desc->n_results; k++) some |= fl_array_cut(args[1 + k].a) != NULL;
  *done = false;
  if (!some) return 0;
  if (args[0].a->dtype == FL_BOOL) {
    *done = true;
    return all_rows(&t);
  }
  FlStatus s = lay(&t);
  t.cut = fl_array_cut(args[0].a);
  if (!s && (t.of || t.cut)) {
    if (!t.cut) t.cut = fl_rows_cut(ctx, args[0].a->dims[0], 1);
    t.numbers = t.cut ? fl_part_here(ctx, args[0].a, t.cut) : NULL;
    s = fl_rows_meet(ctx, desc->site, t.numbers ? 0 : FL_STATUS_MEMORY);
    if (!s && (t.of || !(desc->i & FL_TAKE_PROVEN))) s = look(&t, &fits);
    if (!s && fits) {
      *done = true;
      s = run(&t);
    }
    fl_array_unref(t.numbers);
  }
  if (s || *done) return s;
  return fl_part_all_whole(ctx, desc->site, desc->name, desc->n_args, desc->arg_types, args);
}
