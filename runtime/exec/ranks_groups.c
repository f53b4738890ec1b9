/* ranks_groups.c: aggregates of groups of a table that is in parts between ranks.
 *
 * In: GROUP_ROWS, with keys, columns and the first rows of keys, or an AGGREGATE of all rows, of which each
 * rank has some. Out: what it gives, whole at all ranks: each folds its own rows to states of groups
 * (part/partial.c), the states go to all, in the order of the ranks, and are grouped and aggregated once
 * more, as those of parts of a file are (compiler/opt/folds.c). Where states are half as many as rows, rows
 * go by their keys to ranks that have whole groups (ranks_trade.c), and what these make of them goes to all.
 * What always holds: the same bits as of all rows; where an aggregate fails, nothing was made, and who asks
 * calls the operators on whole arrays, so that they fail as ever.
 */
#include "exec/ranks_trade.h"
#include "part/part.h"

#include <stdlib.h>
#include <string.h>

/* A state of an aggregate: what is folded of which column, and where it stands among the joined arrays. */
typedef struct State {
  const char *made;
  FlAggState kind;
  int32_t value, valid; /* arguments; -1: none */
  bool says;            /* its validity follows it */
  int32_t at;
} State;

/* An aggregate that is wanted, of one state, or of the mean's two. */
typedef struct Wanted {
  const char *made;
  double f;
  int32_t state, count;
} Wanted;

typedef struct Groups {
  FlCtx *ctx;
  const FlOpDesc *desc;
  const FlSlot *args;
  const FlCut *cut;
  int32_t n_keys, n_key_args, n_wanted, n_states, n_taken, first_taken;
  Wanted *wanted;
  State *states;
  FlColumnAttr *columns; /* of the partial */
  FlType1 *types;        /* of what it gives: a bool, then the arrays */
  int32_t n_arrays;
  FlSlot *mine, *joined; /* [n_arrays] */
  bool pending;          /* the own rows are their own states, which nobody has made yet */
  int64_t total;         /* of what was joined: how many there are of each */
} Groups;

static bool is_nullable(const FlColumnAttr *c) { return c->flags & FL_COLUMN_NULLS; }
static FlType1 column_of(int32_t dtype) { return (FlType1){.dtype = (uint8_t)dtype, .rank = 1}; }

/* ---- what is asked ---------------------------------------------------------------------------------- */

static int32_t want(Groups *g, const char *made, int32_t value, int32_t valid) {
  g->states[g->n_states] = (State){.made = made, .kind = fl_agg_state(made), .value = value, .valid = valid};
  return g->n_states++;
}

/* How many values there are: of all rows, where the column has no nulls; of bool, of which a count is of
 * trues, that of the rows that are valid. */
static int32_t want_count_of_mean(Groups *g, int32_t value, int32_t valid, int32_t dtype) {
  if (valid < 0) return want(g, "count", -1, -1);
  return dtype == FL_BOOL ? want(g, "count", valid, -1) : want(g, "count", value, valid);
}

/* The aggregate `made`, of a column that begins at argument *at. */
static void read_aggregate(Groups *g, const char *made, double f, const FlColumnAttr *c, int32_t *at) {
  Wanted *w = &g->wanted[g->n_wanted++];
  FlAggState kind = fl_agg_state(made);
  *w = (Wanted){.made = made, .f = f, .count = -1};
  int32_t value = c->flags & FL_COLUMN_NONE ? -1 : (*at)++, valid = is_nullable(c) ? (*at)++ : -1;
  int32_t dtype = value < 0 ? FL_I64 : g->args[value].a->dtype;
  if (kind == FL_STATE_MEAN) {
    w->state = want(g, "sum", value, valid);
    w->count = want_count_of_mean(g, value, valid, dtype);
  } else if (kind == FL_STATE_COUNT && valid < 0 && dtype != FL_BOOL) {
    w->state = want(g, "count", -1, -1);
  } else {
    w->state = want(g, made, value, valid);
  }
}

static int32_t sum_type(int32_t d) {
  if (fl_dtype_is_float(d)) return FL_F64;
  return fl_dtype_is_decimal(d) ? d : d == FL_U64 ? FL_U64 : FL_I64;
}

/* What the partial gives. States of a sum of floats may need rows of their own, where the others have
 * nothing. */
static void lay_out(Groups *g) {
  bool terms = false;
  for (int32_t k = 0; k < g->n_states; k++) {
    const State *s = &g->states[k];
    terms |= s->kind == FL_STATE_SUM && fl_dtype_is_float(g->args[s->value].a->dtype);
  }
  for (int32_t k = 0; k < g->n_key_args; k++) g->types[1 + g->n_arrays++] = g->desc->arg_types[k];
  for (int32_t k = 0; k < g->n_states; k++) {
    State *s = &g->states[k];
    int32_t d = s->value < 0 ? FL_I64 : g->args[s->value].a->dtype;
    s->says = s->kind == FL_STATE_PICK && (terms || s->valid >= 0);
    s->at = g->n_arrays;
    g->types[1 + g->n_arrays++] = column_of(s->kind == FL_STATE_COUNT  ? FL_I64
                                            : s->kind == FL_STATE_PICK ? d
                                                                       : sum_type(d));
    if (s->says) g->types[1 + g->n_arrays++] = column_of(FL_BOOL);
    g->columns[g->n_keys + k] =
        (FlColumnAttr){.made = s->made,
                       .flags = (s->says ? FL_COLUMN_SAYS : 0) | (s->value < 0 ? FL_COLUMN_NONE : 0) |
                                (s->valid >= 0 ? FL_COLUMN_NULLS : 0)};
  }
}

static bool make_room(Groups *g) {
  const FlOpDesc *desc = g->desc;
  size_t most = (size_t)desc->n_args + (size_t)desc->n_columns + 1;
  g->wanted = calloc(most, sizeof *g->wanted);
  g->states = calloc(2 * most, sizeof *g->states);
  g->columns = calloc(3 * most, sizeof *g->columns);
  g->types = calloc(5 * most, sizeof *g->types);
  g->mine = calloc(5 * most, sizeof *g->mine);
  g->joined = calloc(5 * most, sizeof *g->joined);
  return g->wanted && g->states && g->columns && g->types && g->mine && g->joined;
}

static void read_groups(Groups *g) {
  const FlOpDesc *desc = g->desc;
  int32_t at = 0;
  for (; g->n_keys < desc->n_columns && !desc->columns[g->n_keys].made; g->n_keys++) {
    g->columns[g->n_keys] = desc->columns[g->n_keys];
    at += 1 + is_nullable(&desc->columns[g->n_keys]);
  }
  g->n_key_args = at;
  for (int32_t k = g->n_keys; k < desc->n_columns; k++) {
    double f = g->args[at++].f;
    read_aggregate(g, desc->columns[k].made, f, &desc->columns[k], &at);
  }
  g->first_taken = at;
  g->n_taken = desc->n_args - at;
  lay_out(g);
}

/* AGGREGATE: of all rows, of which it has one column, behind a number of groups and whose they are. */
static void read_all_rows(Groups *g) {
  int32_t at = 2;
  read_aggregate(g, g->desc->s, g->desc->f, &g->desc->columns[0], &at);
  lay_out(g);
}

/* ---- states of the own rows ------------------------------------------------------------------------- */

static int64_t rows_here(const Groups *g) { return fl_cut_to(g->cut) - fl_cut_from(g->cut); }

/* `rows`: rows are states. Else those of groups; where rows are, they are pending. */
static FlStatus fold_here(Groups *g, bool rows) {
  int32_t n_args = 2;
  FlSlot *args = calloc((size_t)(2 + g->n_key_args + 2 * g->n_states), sizeof *args);
  FlSlot *results = calloc((size_t)g->n_arrays + 1, sizeof *results);
  FlStatus s = args && results ? 0 : FL_STATUS_MEMORY;
  if (args) args[0].i = rows_here(g);
  if (args) args[1].i = rows;
  for (int32_t k = 0; k < g->n_key_args && !s; k++) {
    args[n_args].a = fl_part_here(g->ctx, g->args[k].a, g->cut);
    if (!args[n_args++].a) s = FL_STATUS_MEMORY;
  }
  for (int32_t k = 0; k < 2 * g->n_states && !s; k++) {
    int32_t arg = k % 2 ? g->states[k / 2].valid : g->states[k / 2].value;
    if (arg < 0) continue;
    args[n_args].a = fl_part_here(g->ctx, g->args[arg].a, g->cut);
    if (!args[n_args++].a) s = FL_STATUS_MEMORY;
  }
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = n_args,
                         .n_results = g->n_arrays + 1,
                         .result_types = g->types,
                         .i = 2, /* where groups have fewer rows, these stay rows */
                         .columns = g->columns,
                         .n_columns = g->n_keys + g->n_states,
                         .name = g->desc->name};
  g->pending = false;
  if (!s && rows) s = fl_rt_partial(g->ctx, &desc, args, results);
  else if (!s) s = fl_part_states(g->ctx, &desc, args, results, &g->pending);
  if (!s && !g->pending) memcpy(g->mine, results + 1, (size_t)g->n_arrays * sizeof *results);
  for (int32_t k = 2; args && k < n_args; k++) fl_array_unref(args[k].a);
  free(args);
  free(results);
  return s;
}

/* ---- states of all ---------------------------------------------------------------------------------- */

/* The arrays of n lists, one below the other. */
static FlStatus put_together(const Groups *g, FlSlot *const *all, int32_t n, FlSlot *out) {
  FlStatus s = 0;
  for (int32_t j = 0; j < g->n_arrays && !s; j++) {
    int64_t rows = 0, at = 0;
    for (int32_t k = 0; k < n; k++) rows += all[k][j].a->dims[0];
    FlArray *a = out[j].a = fl_array_new(g->ctx, g->types[1 + j].dtype, 1, &rows);
    for (int32_t k = 0; k < n && a && !s; k++) {
      int64_t bytes = fl_array_bytes(all[k][j].a);
      if (bytes) memcpy((char *)a->data + at, all[k][j].a->data, (size_t)bytes);
      at += bytes;
      s = fl_array_keep(g->ctx, a, NULL, &all[k][j].a, 1);
    }
    if (!a) s = FL_STATUS_MEMORY;
  }
  return s;
}

static void let_go(FlSlot *arrays, int32_t n) {
  for (int32_t j = 0; arrays && j < n; j++) fl_array_unref(arrays[j].a);
}

/* Those of all ranks, of which all have said how many theirs are, are half as many as rows. */
static bool are_many(const Groups *g) {
  const FlRanks *r = g->ctx->ranks;
  int64_t all = 0;
  bool can_go = g->n_keys > 0;
  for (int32_t k = 0; k < r->n; k++) all += r->slots[k].values[3];
  for (int32_t k = 0; k < g->desc->n_args; k++) can_go &= !g->desc->arg_types[k].depth;
  return can_go && 2 * all > fl_cut_rows(g->cut);
}

/* All say how many states they have, and how many bytes those in `mine` are. */
static FlStatus meet(Groups *g, FlStatus status, FlParcel *mine) {
  FlCtx *ctx = g->ctx;
  bool packs = !status && !g->pending && !mine->buffer;
  if (packs && !fl_parcel_pack(ctx, g->mine, g->types + 1, g->n_arrays, mine)) status = FL_STATUS_MEMORY;
  int64_t n = g->pending ? rows_here(g) : status || !g->n_arrays ? 0 : g->mine[0].a->dims[0];
  FlRankSlot slot = {.step = FL_RANKS_ROWS,
                     .site = g->desc->site,
                     .failed = !status      ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .bytes = mine->bytes,
                     .values = {0, 0, g->pending, n}};
  return fl_ranks_together(ctx, &slot);
}

/* Whether some have said that theirs are pending. */
static bool some_are_pending(const FlRanks *r) {
  bool some = false;
  for (int32_t k = 0; k < r->n; k++) some |= r->slots[k].values[2] != 0;
  return some;
}

/* `status`: of the own ones. *many: they are, and nothing was sent; NULL: nobody asks. */
static FlStatus exchange(Groups *g, FlStatus status, bool *many) {
  FlCtx *ctx = g->ctx;
  FlRanks *r = ctx->ranks;
  FlParcel mine = {0};
  FlSlot **all = calloc((size_t)r->n, sizeof *all);
  for (int32_t k = 0; all && k < r->n; k++) {
    all[k] = k == r->here ? g->mine : calloc((size_t)g->n_arrays + 1, sizeof **all);
    if (!all[k]) status = FL_STATUS_MEMORY;
  }
  if (!all) status = FL_STATUS_MEMORY;
  FlStatus s = meet(g, status, &mine);
  bool sends = !s;
  if (sends && many) sends = !(*many = are_many(g));
  if (sends && some_are_pending(r)) { /* few of all, so that these are sent as they are */
    s = meet(g, g->pending ? fold_here(g, true) : 0, &mine);
    sends = !s;
  }
  g->total = 0;
  for (int32_t k = 0; k < r->n; k++) g->total += r->slots[k].values[3];
  for (int32_t k = 0; k < r->n && !s && sends; k++) {
    FlParcel theirs = {0};
    FlBuffer *keep = NULL;
    s = fl_parcel_send(ctx, k, k == r->here ? &mine : &theirs);
    if (!s && k != r->here) s = fl_parcel_open(ctx, &theirs, g->types + 1, g->n_arrays, all[k], &keep);
    fl_buffer_unref(keep);
  }
  if (!s && sends) s = put_together(g, all, r->n, g->joined);
  for (int32_t k = 0; all && k < r->n; k++) {
    if (k == r->here || !all[k]) continue;
    let_go(all[k], g->n_arrays);
    free(all[k]);
  }
  free(all);
  fl_parcel_reset(&mine);
  return s;
}

/* ---- groups of states ------------------------------------------------------------------------------- */

static FlStatus aggregate(Groups *g, const Wanted *w, FlSlot groups, FlSlot ids, const FlType1 *types,
                          FlSlot *out) {
  const State *s = &g->states[w->state];
  bool mean = w->count >= 0;
  FlColumnAttr columns[2] = {{.flags = !mean && s->says ? FL_COLUMN_NULLS : 0}, {0}};
  FlSlot args[4] = {groups, ids, g->joined[s->at]};
  if (mean) args[3] = g->joined[g->states[w->count].at];
  else if (s->says) args[3] = g->joined[s->at + 1];
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = 3 + (mean || s->says),
                         .n_results = 2,
                         .result_types = types,
                         .i = g->n_keys ? 0 : 1,
                         .f = w->f,
                         .s = mean                        ? "mean_of"
                              : s->kind == FL_STATE_COUNT ? "sum"
                                                          : w->made,
                         .columns = columns,
                         .n_columns = 1 + mean,
                         .name = g->desc->name};
  return fl_rt_aggregate(g->ctx, &desc, args, out);
}

/* The first rows of the groups, of an argument that is a key, too; -1: it is none. */
static int32_t key_of(const Groups *g, int32_t arg) {
  for (int32_t k = 0; k < g->n_key_args; k++)
    if (g->args[k].a == g->args[arg].a) return k;
  return -1;
}

static FlStatus take(Groups *g, FlSlot first, FlSlot *results) {
  int32_t n = g->n_taken;
  FlSlot *args = calloc((size_t)n + 1, sizeof *args);
  FlType1 *types = calloc((size_t)n + 1, sizeof *types);
  FlStatus s = args && types ? 0 : FL_STATUS_MEMORY;
  for (int32_t k = 0; k < n && !s; k++) {
    args[1 + k] = g->joined[key_of(g, g->first_taken + k)];
    types[k] = g->desc->arg_types[g->first_taken + k];
  }
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = 1 + n,
                         .n_results = n,
                         .result_types = types,
                         .i = FL_TAKE_PROVEN,
                         .name = g->desc->name};
  if (!s) args[0] = first;
  if (!s && n) s = fl_rt_take(g->ctx, &desc, args, results);
  free(args);
  free(types);
  return s;
}

static FlStatus aggregate_groups(Groups *g, FlSlot *results) {
  FlType1 types[3] = {{.dtype = FL_I64}, column_of(FL_I64), column_of(FL_I64)};
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = g->n_key_args,
                         .n_results = 3,
                         .arg_types = g->types + 1,
                         .result_types = types,
                         .columns = g->columns,
                         .n_columns = g->n_keys,
                         .name = g->desc->name};
  FlSlot groups[3];
  FlStatus s = fl_rt_group(g->ctx, &desc, g->joined, groups);
  if (s) return s;
  int32_t made = 0;
  for (; made < g->n_wanted && !s; made++)
    s = aggregate(g, &g->wanted[made], groups[0], groups[1], g->desc->result_types + 2 + 2 * made,
                  results + 2 + 2 * made);
  if (!s) s = take(g, groups[2], results + 2 + 2 * g->n_wanted);
  else made--;
  for (int32_t k = 0; k < 2 * made && s; k++) fl_array_unref(results[2 + k].a);
  results[0].i = 1;
  results[1].i = groups[0].i;
  fl_array_unref(groups[1].a);
  fl_array_unref(groups[2].a);
  return s;
}

/* *done: false: an aggregate failed, at all ranks alike, and nothing is made. */
static FlStatus aggregate_all(Groups *g, FlSlot *results, bool *done) {
  FlSlot one = {.i = 1}; /* group; whose it is nobody asks */
  FlStatus s = g->n_keys ? aggregate_groups(g, results)
                         : aggregate(g, &g->wanted[0], one, g->joined[0], g->desc->result_types, results);
  *done = !s;
  if (!s || !g->ctx->error || g->ctx->error->status != 1) return s;
  fl_fail_forget(g->ctx);
  return 0;
}

/* ---- rows by their keys ------------------------------------------------------------------------------- */

enum { PIECES = 16 };

typedef struct Keyed {
  FlTrade trade;
  Groups *g;
  int32_t *of; /* of the operator's arguments: which of the arrays; -1: it is a number */
  FlSlot *made[PIECES];
  int32_t n_made;
} Keyed;

/* Aggregate k of them, which begins at argument *at. */
static FlStatus aggregate_rows(const Keyed *k, int32_t n, int32_t *at, const FlSlot *arrays,
                               const FlSlot *groups, FlSlot *out) {
  const FlOpDesc *all = k->g->desc;
  const FlColumnAttr *c = &all->columns[k->g->n_keys + n];
  bool none = c->flags & FL_COLUMN_NONE;
  double f = k->g->args[(*at)++].f;
  FlSlot args[4] = {groups[0], groups[1]};
  int32_t n_args = 2;
  if (!none) args[n_args++] = arrays[k->of[(*at)++]];
  if (!none && is_nullable(c)) args[n_args++] = arrays[k->of[(*at)++]];
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = n_args,
                         .n_results = 2,
                         .result_types = all->result_types + 2 + 2 * n,
                         .f = f,
                         .s = c->made,
                         .columns = c,
                         .n_columns = !none,
                         .name = all->name};
  return fl_rt_aggregate(k->g->ctx, &desc, args, out);
}

/* The aggregates in one sweep; *done: false: some of them have none. */
static FlStatus sweep_rows(const Keyed *k, const FlSlot *arrays, const FlSlot *groups, FlSlot *out,
                           bool *done) {
  const FlOpDesc *all = k->g->desc;
  const FlColumnAttr *columns = all->columns + k->g->n_keys;
  int32_t n_args = 2, at = k->g->n_key_args, n = k->g->n_wanted;
  FlSlot args[2 + FL_PART_SWEEP] = {groups[0], groups[1]};
  *done = n > 1 && n <= FL_PART_SWEEP;
  for (int32_t i = 0; i < n && *done; i++) {
    bool none = columns[i].flags & FL_COLUMN_NONE;
    at++;
    int32_t arg = none ? -1 : at++;
    FlType1 t = none ? (FlType1){0} : all->arg_types[arg];
    *done = !is_nullable(&columns[i]) && (none || t.rank == 1) &&
            fl_part_sweeps(columns[i].made, none ? -1 : t.dtype);
    if (!none) args[n_args++] = arrays[k->of[arg]];
  }
  if (!*done) return 0;
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = n_args,
                         .n_results = 2 * n,
                         .result_types = all->result_types + 2,
                         .columns = columns,
                         .n_columns = n,
                         .name = all->name};
  FlStatus s = fl_rt_aggregates(k->g->ctx, &desc, args, out);
  if (s) memset(out, 0, (size_t)n * 2 * sizeof *out);
  return s;
}

static FlStatus take_rows(const Keyed *k, const FlSlot *arrays, FlSlot first, FlSlot *out) {
  const FlOpDesc *all = k->g->desc;
  int32_t n = k->g->n_taken;
  FlSlot *args = calloc((size_t)n + 1, sizeof *args);
  if (!args) return fl_fail_op(k->g->ctx, all, FL_FAULT_MEMORY, "out of memory");
  args[0] = first;
  for (int32_t i = 0; i < n; i++) args[1 + i] = arrays[k->of[k->g->first_taken + i]];
  const FlOpDesc desc = {.op = all->op,
                         .site = all->site,
                         .n_args = 1 + n,
                         .n_results = n,
                         .result_types = all->result_types + 2 + 2 * k->g->n_wanted,
                         .i = FL_TAKE_PROVEN,
                         .name = all->name};
  FlStatus s = n ? fl_rt_take(k->g->ctx, &desc, args, out) : 0;
  free(args);
  return s;
}

static FlStatus group_piece(void *env, const FlSlot *arrays, int64_t rows, int64_t before) {
  Keyed *k = env;
  const Groups *g = k->g;
  const FlOpDesc desc = {.op = g->desc->op,
                         .site = g->desc->site,
                         .n_args = g->n_key_args,
                         .n_results = 3,
                         .arg_types = g->desc->arg_types,
                         .columns = g->desc->columns,
                         .n_columns = g->n_keys,
                         .name = g->desc->name};
  FlSlot groups[3], *made = k->made[k->n_made++] = calloc((size_t)g->desc->n_results, sizeof *made);
  (void)rows;
  (void)before;
  if (!made) return fl_fail_op(g->ctx, g->desc, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = fl_rt_group(g->ctx, &desc, arrays, groups);
  if (s) return s;
  int32_t at = g->n_key_args;
  bool done = false;
  s = sweep_rows(k, arrays, groups, made, &done);
  for (int32_t n = 0; n < g->n_wanted && !s && !done; n++)
    s = aggregate_rows(k, n, &at, arrays, groups, made + 2 * n);
  if (!s) s = take_rows(k, arrays, groups[2], made + 2 * g->n_wanted);
  fl_array_unref(groups[1].a);
  fl_array_unref(groups[2].a);
  return s;
}

/* How many groups the own pieces have. */
static int64_t rows_made(const Keyed *k) {
  int64_t rows = 0;
  for (int32_t p = 0; p < k->n_made; p++)
    if (k->made[p] && k->made[p][0].a) rows += k->made[p][0].a->dims[0];
  return rows;
}

/* Array i of the own pieces, of rows of `size` bytes, one behind the other. */
static void copy_pieces(const Keyed *k, int32_t i, int64_t size, char *to) {
  for (int32_t p = 0; p < k->n_made; p++) {
    int64_t bytes = k->made[p][i].a->dims[0] * size;
    if (bytes) memcpy(to, k->made[p][i].a->data, (size_t)bytes);
    to += bytes;
  }
}

/* Numbers go array by array to where they stand among those of all, of which rank k has rows[k]. */
static FlStatus join_numbers(Keyed *k, const int64_t *rows) {
  Groups *g = k->g;
  FlTrade *t = &k->trade;
  FlRanks *r = g->ctx->ranks;
  FlStatus s = 0;
  for (int32_t i = 0; i < g->n_arrays && !s; i++) {
    g->joined[i].a = fl_array_new(g->ctx, g->types[1 + i].dtype, 1, &g->total);
    if (!g->joined[i].a) s = FL_STATUS_MEMORY;
  }
  s = fl_trade_meet(t, s);
  for (int32_t i = 0; i < g->n_arrays && !s; i++) {
    int64_t size = fl_dtype_info[g->types[1 + i].dtype].bytes, *gives = t->bytes, *takes = t->bytes + r->n;
    char *at = g->joined[i].a->data, *own = at;
    for (int32_t j = 0; j < r->n; j++) {
      if (j == r->here) own = at;
      gives[j] = rows[r->here] * size;
      takes[j] = rows[j] * size;
      t->in[j] = at;
      at += takes[j];
    }
    copy_pieces(k, i, size, own);
    for (int32_t j = 0; j < r->n; j++) t->out[j] = own;
    if (!fl_ranks_trade(r, &(FlRankTrade){(const void *const *)t->out, gives, (void *const *)t->in, takes}))
      s = fl_rows_lost(g->ctx);
  }
  return s;
}

/* What all have made goes to all; *done: false: an aggregate failed somewhere. */
static FlStatus join_keyed(Keyed *k, FlStatus own, FlSlot *results, bool *done) {
  Groups *g = k->g;
  FlCtx *ctx = g->ctx;
  FlRanks *r = ctx->ranks;
  bool fault = own && ctx->error && ctx->error->status == 1, texts = false;
  FlRankSlot mine = {.step = FL_RANKS_ROWS,
                     .site = g->desc->site,
                     .failed = !own || fault ? 0
                               : ctx->error  ? ctx->error->status
                                             : FL_STATUS_MEMORY,
                     .values = {fault, rows_made(k)}};
  if (fault) fl_fail_forget(ctx);
  FlStatus s = fl_ranks_together(ctx, &mine);
  for (int32_t j = 0; j < r->n && !s; j++) *done &= !r->slots[j].values[0];
  if (s || !*done) return s;
  let_go(g->mine, g->n_arrays);
  memset(g->mine, 0, (size_t)g->n_arrays * sizeof *g->mine);
  g->n_arrays = g->desc->n_results - 2;
  memcpy(g->types + 1, g->desc->result_types + 2, (size_t)g->n_arrays * sizeof *g->types);
  g->pending = false;
  for (int32_t i = 0; i < g->n_arrays; i++) texts |= fl_dtype_is_text(g->types[1 + i].dtype);
  int64_t *rows = k->trade.takes; /* of which there are as many as ranks, at least, and all have come */
  g->total = 0;
  for (int32_t j = 0; j < r->n; j++) g->total += rows[j] = r->slots[j].values[1];
  s = texts ? exchange(g, put_together(g, k->made, k->n_made, g->mine), NULL) : join_numbers(k, rows);
  if (s) return s;
  results[0].i = 1;
  results[1].i = g->total;
  memcpy(results + 2, g->joined, (size_t)g->n_arrays * sizeof *results);
  memset(g->joined, 0, (size_t)g->n_arrays * sizeof *results);
  return 0;
}

static FlStatus by_keys(Groups *g, FlSlot *results, bool *done) {
  const FlOpDesc *desc = g->desc;
  FlOpDesc keys = *desc;
  Keyed k = {.trade = {.ctx = g->ctx, .keys = &keys, .cut = g->cut, .together = true},
             .g = g,
             .of = calloc((size_t)desc->n_args, sizeof *k.of)};
  FlSlot *arrays = calloc((size_t)desc->n_args, sizeof *arrays);
  bool lost = false;
  keys.n_columns = g->n_keys;
  for (int32_t i = 0; i < desc->n_args && k.of && arrays; i++) {
    k.of[i] = fl_type_is_array(desc->arg_types[i]) ? k.trade.n_arrays++ : -1;
    if (k.of[i] >= 0) arrays[k.of[i]] = g->args[i];
  }
  FlStatus s = k.of && arrays ? 0 : fl_fail_op(g->ctx, desc, FL_FAULT_MEMORY, "out of memory");
  s = fl_trade_meet(&k.trade, s);
  if (!s) s = fl_trade_begin(&k.trade, arrays);
  if (!s) {
    s = fl_trade_pieces(&k.trade, group_piece, &k, &lost);
    if (!lost) s = join_keyed(&k, s, results, done);
  }
  fl_trade_end(&k.trade);
  for (int32_t p = 0; p < k.n_made; p++) {
    let_go(k.made[p], desc->n_results - 2);
    free(k.made[p]);
  }
  free(arrays);
  free(k.of);
  return s;
}

/* ---- all -------------------------------------------------------------------------------------------- */

FlStatus fl_ranks_groups(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                         FlSlot *results, bool *done) {
  Groups g = {.ctx = ctx, .desc = desc, .args = args, .cut = cut};
  *done = true;
  FlStatus s = make_room(&g) ? 0 : FL_STATUS_MEMORY;
  if (!s) (desc->s ? read_all_rows : read_groups)(&g);
  for (int32_t k = 0; k < g.n_taken && !s; k++) *done &= key_of(&g, g.first_taken + k) >= 0;
  if (*done) {
    bool many = false;
    if (!s) s = fold_here(&g, false);
    s = exchange(&g, s, &many);
    if (!s) s = many ? by_keys(&g, results, done) : aggregate_all(&g, results, done);
  }
  let_go(g.mine, g.n_arrays);
  let_go(g.joined, g.n_arrays);
  free(g.wanted);
  free(g.states);
  free(g.columns);
  free(g.types);
  free(g.mine);
  free(g.joined);
  return s;
}
