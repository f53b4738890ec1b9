/* ranks_pairs.c: the pairs of a join of two tables, of both of which ranks have some rows.
 *
 * In: JOIN. Out: at each rank the pairs of its left rows, in the order of one rank, and which of its right
 * rows have no partner. What always holds: keys of both sides, with their numbers, go by a hash of the keys
 * to ranks, where they are joined, piece by piece; a pair goes back to whoever has the left row. The partners
 * of a left row all come from one piece, ascending, so that it does not matter in which order pieces come.
 * Rows with a null key stay where they are. Where a sample of the
 * left rows says that few keys are frequent, each rank asks once for each different key that it has: how
 * often a left key comes is no matter then. Beside its rows and its pairs a rank has memory for a piece. */
#include "exec/ranks_pairs.h"
#include "exec/ranks_gives.h"
#include "exec/ranks_trade.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

/* So many rows are looked at; one of so many parts of them that come again says that keys are few. */
enum { SAMPLE = 1 << 12, ALIKE = 8 };
static const uint32_t NONE = UINT32_MAX;

/* Pairs of a piece that are no left row's first one: left, right, one behind the other. */
typedef struct More {
  FlArray *pairs;
} More;

typedef struct Keyed {
  FlPairs *p;
  FlOpDesc keys[2]; /* of each side */
  FlTrade trade[2];
  FlSlot *asks;       /* [n_left] the left keys that go: those of the rows, or of their groups */
  FlArray *group;     /* i64: of each own left row, where each group is asked for once; NULL: each row is */
  const FlCut *asked; /* of what is asked for */
  FlArray *found;     /* u32: the first partner of what is asked for; NONE */
  FlArray *alone;     /* u8: of each own right row; NULL: nobody asks */
  More more[16];
  int64_t n_more; /* of all pieces */
  FlGives gives;
} Keyed;

static FlStatus no_memory(const Keyed *k) {
  return fl_fail_op(k->p->ctx, k->p->desc, FL_FAULT_MEMORY, "out of memory");
}

static FlStatus meet(const Keyed *k, FlStatus own) { return fl_rows_meet(k->p->ctx, k->p->desc->site, own); }

static int32_t n_keys_of(const FlPairs *p) { return p->desc->n_columns / 2; }
static bool asks_whether(const FlPairs *p) { return p->desc->s[0] == 's' || p->desc->s[0] == 'a'; }

static FlArray *new_column(FlCtx *ctx, int32_t dtype, int64_t n) { return fl_array_new(ctx, dtype, 1, &n); }

/* ---- what is asked for --------------------------------------------------------------------------------- */

/* The rows of `keys` by their numbers. */
static FlStatus take_keys(const Keyed *k, FlArray *numbers, const FlSlot *keys, FlSlot *out) {
  const FlPairs *p = k->p;
  FlSlot *args = calloc((size_t)p->n_left + 1, sizeof *args);
  if (!args) return no_memory(k);
  args[0].a = numbers;
  memcpy(args + 1, keys, (size_t)p->n_left * sizeof *keys);
  const FlOpDesc desc = {.op = p->desc->op,
                         .site = p->desc->site,
                         .n_args = 1 + p->n_left,
                         .n_results = p->n_left,
                         .result_types = p->desc->arg_types,
                         .i = FL_TAKE_PROVEN,
                         .name = p->desc->name};
  FlStatus s = fl_rt_take(p->ctx, &desc, args, out);
  free(args);
  return s;
}

static FlStatus group_keys(const Keyed *k, const FlSlot *keys, FlSlot groups[3]) {
  const FlPairs *p = k->p;
  const FlOpDesc desc = {.op = p->desc->op,
                         .site = p->desc->site,
                         .n_args = p->n_left,
                         .n_results = 3,
                         .arg_types = p->desc->arg_types,
                         .columns = p->desc->columns,
                         .n_columns = n_keys_of(p),
                         .name = p->desc->name};
  return fl_rt_group(p->ctx, &desc, keys, groups);
}

static void let_go(FlSlot *arrays, int32_t n) {
  for (int32_t i = 0; arrays && i < n; i++) fl_array_unref(arrays[i].a);
  free(arrays);
}

/* Whether some keys come again and again among the own left rows, by a sample. */
static FlStatus are_few(const Keyed *k, const FlSlot *here, bool *few) {
  FlCtx *ctx = k->p->ctx;
  int64_t n = here[0].a->dims[0], some = n < SAMPLE ? n : SAMPLE;
  FlSlot *keys = calloc((size_t)k->p->n_left + 1, sizeof *keys), groups[3];
  FlArray *numbers = new_column(ctx, FL_I64, some);
  FlStatus s = keys && numbers ? 0 : no_memory(k);
  for (int64_t i = 0; i < some && !s; i++) ((int64_t *)numbers->data)[i] = n / some * i + n % some * i / some;
  if (!s) s = take_keys(k, numbers, here, keys);
  if (!s) s = group_keys(k, keys, groups);
  if (!s) {
    *few = groups[0].i < some - some / ALIKE;
    fl_array_unref(groups[1].a);
    fl_array_unref(groups[2].a);
  }
  let_go(keys, k->p->n_left);
  fl_array_unref(numbers);
  return s;
}

/* The keys of the groups of the own left rows, in parts by how many each rank has. */
static FlStatus ask_groups(Keyed *k, FlSlot *here) {
  FlPairs *p = k->p;
  FlSlot groups[3] = {0};
  FlSlot *keys = calloc((size_t)p->n_left + 1, sizeof *keys);
  FlStatus s = keys ? group_keys(k, here, groups) : no_memory(k);
  if (!s) k->group = groups[1].a;
  if (!s) s = take_keys(k, groups[2].a, here, keys);
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = p->desc->site,
                     .failed = !s              ? 0
                               : p->ctx->error ? p->ctx->error->status
                                               : FL_STATUS_MEMORY,
                     .values = {0, 0, 0, s ? 0 : groups[0].i}};
  FlStatus own = s;
  s = fl_ranks_together(p->ctx, &mine);
  k->asked = s ? NULL : fl_rows_cut_by(p->ctx, 3);
  if (!s && !k->asked) s = FL_STATUS_MEMORY;
  for (int32_t i = 0; i < p->n_left && !s; i++) {
    k->asks[i].a = fl_part_place(p->ctx, keys[i].a, k->asked);
    if (!k->asks[i].a) s = FL_STATUS_MEMORY;
  }
  if (!own) fl_array_unref(groups[2].a);
  let_go(keys, p->n_left);
  return s;
}

/* The left keys that go to others. */
static FlStatus ask(Keyed *k) {
  FlPairs *p = k->p;
  FlRanks *r = p->ctx->ranks;
  bool few = false;
  FlSlot *here = calloc((size_t)p->n_left + 1, sizeof *here);
  FlStatus s = here && k->asks ? 0 : no_memory(k);
  for (int32_t i = 0; i < p->n_left && !s; i++) {
    here[i].a = fl_part_here(p->ctx, p->args[i].a, p->left);
    if (!here[i].a) s = FL_STATUS_MEMORY;
  }
  if (!s) s = are_few(k, here, &few);
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = p->desc->site,
                     .failed = !s              ? 0
                               : p->ctx->error ? p->ctx->error->status
                                               : FL_STATUS_MEMORY,
                     .values = {few}};
  s = fl_ranks_together(p->ctx, &mine);
  for (int32_t i = 0; i < r->n && !s; i++) few |= r->slots[i].values[0] != 0;
  k->asked = p->left;
  for (int32_t i = 0; i < p->n_left && !s && !few; i++) k->asks[i].a = fl_array_ref(p->args[i].a);
  if (!s && few) s = ask_groups(k, here);
  let_go(here, p->n_left);
  return meet(k, s);
}

/* ---- a piece ------------------------------------------------------------------------------------------- */

/* The pairs of the rows that came: places among those of each side. */
static FlStatus join_piece(const Keyed *k, FlSlot *const came[2], FlSlot made[3]) {
  const FlPairs *p = k->p;
  FlOpDesc desc = *p->desc;
  FlSlot *args = calloc((size_t)desc.n_args + 1, sizeof *args);
  if (!args) return no_memory(k);
  memcpy(args, came[0], (size_t)p->n_left * sizeof *args);
  memcpy(args + p->n_left, came[1], (size_t)(desc.n_args - p->n_left) * sizeof *args);
  desc.s = asks_whether(p) ? "semi" : "inner";
  desc.i = 0;
  FlStatus s = desc.run(p->ctx, &desc, args, made);
  if (s) made[1].a = made[2].a = NULL;
  free(args);
  return s;
}

/* Which rank the row at place `at` of those that came is of, from rank *from on: *end of its places. */
static void sender_of(const FlTrade *t, int64_t piece, int64_t at, int32_t *from, int64_t *end) {
  while (at >= *end) *end += t->takes[((int64_t)++*from << t->bits) + piece];
}

static int64_t takes_of(const FlTrade *t, int32_t from, int64_t piece) {
  return t->takes[((int64_t)from << t->bits) + piece];
}

/* Two words a pair: the left row among those of its rank, and the right row. */
static FlArray *words_of_pairs(Keyed *k, FlSlot *const came[2], const FlSlot made[3], int64_t piece) {
  const FlTrade *t = &k->trade[0];
  int64_t n = made[1].a->dims[0], end = takes_of(t, 0, piece);
  const int64_t *left = made[1].a->data, *right = made[2].a->data;
  const int64_t *lefts = came[0][t->n_arrays].a->data, *rights = came[1][k->trade[1].n_arrays].a->data;
  FlArray *words = new_column(k->p->ctx, FL_U32, 2 * n);
  uint32_t *to = words ? words->data : NULL;
  int32_t from = 0;
  for (int64_t i = 0; words && i < n; i++) {
    sender_of(t, piece, left[i], &from, &end);
    k->gives.gives[from]++;
    to[2 * i] = (uint32_t)(lefts[left[i]] - k->asked->at[from]);
    to[2 * i + 1] = right[i] < 0 ? 0 : (uint32_t)rights[right[i]];
  }
  return words;
}

/* The right rows that came and have no partner, among those of their rank. */
static FlArray *words_of_alone(Keyed *k, FlSlot *const came[2], const FlSlot made[3], int64_t piece) {
  const FlTrade *t = &k->trade[1];
  const int64_t *right = made[2].a->data, *rights = came[1][t->n_arrays].a->data;
  int64_t m = came[1][t->n_arrays].a->dims[0], n = 0, end = takes_of(t, 0, piece);
  FlArray *has = new_column(k->p->ctx, FL_U8, m), *words = NULL;
  uint8_t *partner = has ? has->data : NULL;
  if (has && m) memset(partner, 0, (size_t)m);
  for (int64_t i = 0; has && i < made[2].a->dims[0]; i++) partner[right[i]] = 1;
  for (int64_t i = 0; has && i < m; i++) n += !partner[i];
  if (has) words = new_column(k->p->ctx, FL_U32, n);
  int32_t from = 0;
  n = 0;
  for (int64_t i = 0; words && i < m; i++) {
    sender_of(t, piece, i, &from, &end);
    if (partner[i]) continue;
    k->gives.gives[from]++;
    ((uint32_t *)words->data)[n++] = (uint32_t)(rights[i] - k->p->right->at[from]);
  }
  fl_array_unref(has);
  return words;
}

/* `words`, so many for each thing, go to whoever they are of; *came: those of this rank. */
static FlStatus give_back(Keyed *k, FlStatus own, FlArray *words, int64_t each, FlArray **came) {
  FlCtx *ctx = k->p->ctx;
  FlStatus s = meet(k, own);
  if (!s && !fl_gives_tell(&k->gives)) s = fl_rows_lost(ctx);
  if (s) return s;
  *came = new_column(ctx, FL_U32, each * fl_gives_taken(&k->gives));
  s = meet(k, *came ? 0 : FL_STATUS_MEMORY);
  if (!s && !fl_gives_trade(&k->gives, words->data, (*came)->data, each * (int64_t)sizeof(uint32_t)))
    s = fl_rows_lost(ctx);
  memset(k->gives.gives, 0, (size_t)ctx->ranks->n * sizeof *k->gives.gives);
  return s;
}

/* The first partner of each is found; the others are kept beside. */
static FlStatus note_pairs(Keyed *k, FlArray *came, int64_t piece) {
  int64_t n = came->dims[0] / 2, more = 0;
  uint32_t *pair = came->data, *found = k->found->data;
  for (int64_t i = 0; i < n; i++) {
    if (found[pair[2 * i]] != NONE) more++;
    else {
      found[pair[2 * i]] = pair[2 * i + 1];
      pair[2 * i] = NONE;
    }
  }
  k->n_more += more;
  if (!more) return 0;
  FlArray *kept = k->more[piece].pairs = new_column(k->p->ctx, FL_U32, 2 * more);
  uint32_t *to = kept ? kept->data : NULL;
  for (int64_t i = 0; kept && i < n; i++) {
    if (pair[2 * i] == NONE) continue;
    *to++ = pair[2 * i];
    *to++ = pair[2 * i + 1];
  }
  return kept ? 0 : FL_STATUS_MEMORY;
}

static FlStatus return_pairs(Keyed *k, FlStatus own, FlSlot *const came[2], const FlSlot made[3],
                             int64_t piece) {
  FlArray *words = own ? NULL : words_of_pairs(k, came, made, piece), *mine = NULL;
  if (!own && !words) own = FL_STATUS_MEMORY;
  FlStatus s = give_back(k, own, words, 2, &mine);
  if (!s) s = note_pairs(k, mine, piece);
  fl_array_unref(words);
  fl_array_unref(mine);
  if (!k->p->rest) return s;
  mine = NULL;
  words = s ? NULL : words_of_alone(k, came, made, piece);
  if (!s && !words) s = FL_STATUS_MEMORY;
  s = give_back(k, s, words, 1, &mine);
  for (int64_t i = 0; !s && i < mine->dims[0]; i++)
    ((uint8_t *)k->alone->data)[((const uint32_t *)mine->data)[i]] = 1;
  fl_array_unref(words);
  fl_array_unref(mine);
  return s;
}

static FlStatus run_piece(Keyed *k, int64_t piece) {
  int64_t rows[2] = {0, 0};
  FlSlot *came[2] = {0}, made[3] = {0};
  FlStatus s = fl_trade_bring(&k->trade[0], piece, &rows[0]);
  if (!s) s = fl_trade_bring(&k->trade[1], piece, &rows[1]);
  if (s) return s;
  for (int i = 0; i < 2 && !s; i++)
    if (!(came[i] = fl_trade_came(&k->trade[i], rows[i]))) s = FL_STATUS_MEMORY;
  if (!s) s = join_piece(k, came, made);
  s = return_pairs(k, s, came, made, piece);
  for (int i = 0; i < 2; i++) {
    fl_trade_let_go(&k->trade[i], came[i]);
    fl_array_unref(made[1 + i].a);
  }
  return meet(k, s);
}

/* ---- the pairs ----------------------------------------------------------------------------------------- */

/* The partners behind the first one of what is asked for: at[i] .. at[i + 1] of `rights`. */
typedef struct Lists {
  FlArray *at, *rights;
} Lists;

static FlStatus list_more(const Keyed *k, Lists *l) {
  FlCtx *ctx = k->p->ctx;
  int64_t n = k->found->dims[0];
  l->at = new_column(ctx, FL_I64, n + 2);
  l->rights = new_column(ctx, FL_U32, k->n_more);
  if (!l->at || !l->rights) return FL_STATUS_MEMORY;
  int64_t *at = l->at->data;
  memset(at, 0, (size_t)(n + 2) * sizeof *at);
  for (size_t p = 0; p < sizeof k->more / sizeof *k->more; p++) {
    const FlArray *pairs = k->more[p].pairs;
    for (int64_t i = 0; pairs && i < pairs->dims[0]; i += 2) at[((const uint32_t *)pairs->data)[i] + 2]++;
  }
  for (int64_t i = 2; i < n + 2; i++) at[i] += at[i - 1];
  for (size_t p = 0; p < sizeof k->more / sizeof *k->more; p++) {
    const FlArray *pairs = k->more[p].pairs;
    for (int64_t i = 0; pairs && i < pairs->dims[0]; i += 2) {
      const uint32_t *pair = (const uint32_t *)pairs->data + i;
      ((uint32_t *)l->rights->data)[at[pair[0] + 1]++] = pair[1];
    }
  }
  return 0;
}

/* Of the own left row: how many pairs it gives; written where `left` is not NULL. */
static int64_t emit(const Keyed *k, const Lists *l, int64_t row, int64_t *left, int64_t *right) {
  const char how = k->p->desc->s[0]; /* inner left right full semi anti */
  int64_t item = k->group ? ((const int64_t *)k->group->data)[row] : row;
  uint32_t found = ((const uint32_t *)k->found->data)[item];
  bool alone = (how == 'l' || how == 'f') && found == NONE;
  if (asks_whether(k->p) || alone) {
    bool is = alone || (found != NONE) == (how == 's');
    if (is && left) *left = row, *right = -1;
    return is;
  }
  if (found == NONE) return 0;
  const int64_t *at = l->at ? (const int64_t *)l->at->data + item : NULL;
  int64_t more = at ? at[1] - at[0] : 0;
  for (int64_t i = 0; left && i <= more; i++) {
    left[i] = row;
    right[i] = i ? ((const uint32_t *)l->rights->data)[at[0] + i - 1] : found;
  }
  return more + 1;
}

/* Each own left row has one pair, of which `take` alone reads the numbers. */
static FlStatus write_each(Keyed *k, int64_t n) {
  FlPairs *p = k->p;
  p->lefts.a = fl_part_all_rows(p->ctx, n);
  p->rights.a = k->group ? new_column(p->ctx, FL_U32, n) : fl_array_ref(k->found);
  if (!p->lefts.a || !p->rights.a) return FL_STATUS_MEMORY;
  const int64_t *group = k->group ? k->group->data : NULL;
  uint32_t *right = p->rights.a->data;
  for (int64_t i = 0; group && i < n; i++) right[i] = ((const uint32_t *)k->found->data)[group[i]];
  return 0;
}

static FlStatus write_pairs(Keyed *k, const Lists *l) {
  FlPairs *p = k->p;
  enum { BOTH = FL_JOIN_LEFT_TAKEN | FL_JOIN_RIGHT_TAKEN };
  int64_t n = fl_cut_to(p->left) - fl_cut_from(p->left), all = 0, at = 0;
  for (int64_t i = 0; i < n; i++) all += emit(k, l, i, NULL, NULL);
  bool each = all == n && !l->at && !p->rest && !asks_whether(p) && (p->desc->i & BOTH) == BOTH;
  if (each) return write_each(k, n);
  p->lefts.a = new_column(p->ctx, FL_I64, all);
  p->rights.a = new_column(p->ctx, FL_I64, all);
  if (!p->lefts.a || !p->rights.a) return FL_STATUS_MEMORY;
  for (int64_t i = 0; i < n; i++)
    at += emit(k, l, i, (int64_t *)p->lefts.a->data + at, (int64_t *)p->rights.a->data + at);
  return 0;
}

static FlStatus write_alone(Keyed *k) {
  FlPairs *p = k->p;
  const uint8_t *alone = k->alone->data;
  int64_t n = k->alone->dims[0], all = 0, at = 0;
  for (int64_t i = 0; i < n; i++) all += alone[i];
  p->alone.a = new_column(p->ctx, FL_I64, all);
  if (!p->alone.a) return FL_STATUS_MEMORY;
  for (int64_t i = 0; i < n; i++)
    if (alone[i]) ((int64_t *)p->alone.a->data)[at++] = fl_cut_from(p->right) + i;
  return 0;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static FlStatus begin(Keyed *k) {
  FlPairs *p = k->p;
  FlCtx *ctx = p->ctx;
  int32_t n_keys = n_keys_of(p);
  int64_t rows = fl_cut_rows(k->asked);
  if (fl_cut_rows(p->right) > rows) rows = fl_cut_rows(p->right);
  for (int i = 0; i < 2; i++) {
    k->keys[i] = *p->desc;
    k->keys[i].columns = p->desc->columns + i * n_keys;
    k->keys[i].n_columns = n_keys;
    k->keys[i].i = 0;
    k->trade[i] = (FlTrade){.ctx = ctx,
                            .keys = &k->keys[i],
                            .cut = i ? p->right : k->asked,
                            .hashed = true,
                            .numbered = true,
                            .bits = fl_trade_bits(ctx->ranks, rows, false),
                            .n_arrays = i ? p->desc->n_args - p->n_left : p->n_left};
  }
  int64_t asked = fl_cut_to(k->asked) - fl_cut_from(k->asked);
  int64_t right = fl_cut_to(p->right) - fl_cut_from(p->right);
  k->found = new_column(ctx, FL_U32, asked);
  if (k->found && asked) memset(k->found->data, 0xff, (size_t)asked * sizeof(uint32_t));
  if (p->rest) k->alone = new_column(ctx, FL_U8, right);
  if (k->alone && right) memset(k->alone->data, 0, (size_t)right);
  bool fine = fl_gives_init(&k->gives, ctx->ranks) && k->found && (k->alone || !p->rest);
  FlStatus s = meet(k, fine ? 0 : no_memory(k));
  if (!s) s = fl_trade_begin(&k->trade[0], k->asks);
  return s ? s : fl_trade_begin(&k->trade[1], p->args + p->n_left);
}

FlStatus fl_pairs_by_keys(FlPairs *p) {
  Keyed k = {.p = p, .asks = calloc((size_t)p->n_left + 1, sizeof *k.asks)};
  Lists l = {0};
  FlStatus s = ask(&k);
  if (!s) s = begin(&k);
  for (int64_t piece = 0; !s && piece < INT64_C(1) << k.trade[0].bits; piece++) s = run_piece(&k, piece);
  for (int i = 0; i < 2; i++)
    if (k.trade[i].ctx) fl_trade_end(&k.trade[i]);
  p->several = k.n_more > 0;
  if (!s && k.n_more) s = list_more(&k, &l);
  if (!s) s = write_pairs(&k, &l);
  if (!s && p->rest) s = write_alone(&k);
  for (size_t i = 0; i < sizeof k.more / sizeof *k.more; i++) fl_array_unref(k.more[i].pairs);
  FlArray *arrays[] = {k.group, k.found, k.alone, l.at, l.rights};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) fl_array_unref(arrays[i]);
  fl_gives_reset(&k.gives);
  let_go(k.asks, p->n_left);
  return meet(&k, s);
}
