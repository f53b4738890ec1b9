/* group_rows.c: aggregates of groups, and the first rows of these, where the groups do not fit in memory.
 *
 * Comes in: keys, columns of aggregates, arrays whose first rows are wanted. Goes out: whether they were
 * made, how many groups there are, values and validities, rows. Always holds: what group, aggregate and take
 * give, bit for bit; where these do, or one of them would fail, nothing is made, and who asks calls them.
 *
 * Rows move part by part with all of this (move_rows.c), cut by ranges of their keys; each part is then a
 * table of its own in memory, of which groups are found, aggregated and taken (group_lanes.c). Groups are
 * numbered by ascending key, so those of a part stand behind those of the part before; and what an aggregate
 * gives of some groups alone is what it gives of them among all. */
#include "part/dictionary.h"
#include "part/group_rows.h"

enum {
  STATE = 64,       /* bytes that an aggregate keeps of a group, about, */
  ROW = 32 + STATE, /* and all that is kept of a row of a part, beside what has moved */
  NUMBERS = 24,     /* what numbers of groups take of a row without parts */
  FEWEST = 1 << 18  /* rows */
};

/* ---- what is asked ------------------------------------------------------------------------------------- */

static bool begins(const FlColumnAttr *c) { return c->made != NULL; }

static int32_t args_of(const FlColumnAttr *c) {
  return c->flags & FL_COLUMN_NONE ? 0 : 1 + (c->flags & FL_COLUMN_NULLS ? 1 : 0);
}

/* Reads the call; *fits: all of it is of a kind that moves. */
static FlStatus read_call(FlGroupRows *r, bool *fits) {
  const FlOpDesc *desc = r->desc;
  int32_t at = 0, k = 0;
  for (; k < desc->n_columns && !begins(&desc->columns[k]); k++) at += args_of(&desc->columns[k]);
  r->n_keys = k;
  r->wanted = fl_part_zalloc(r->move.m, desc->n_columns, sizeof *r->wanted);
  if (r->wanted == NULL) return 1;
  while (k < desc->n_columns) {
    const FlColumnAttr *first = &desc->columns[k];
    FlRowsWanted *w = &r->wanted[r->n_wanted];
    *w = (FlRowsWanted){.row = fl_agg_find(first->made, strlen(first->made)), .desc = *desc, .at = at + 1};
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
static bool is_number(const FlGroupRows *r, int32_t arg) {
  for (int32_t k = 0; k < r->n_wanted; k++)
    if (r->wanted[k].at == arg + 1) return true;
  return false;
}

/* The arrays, each once. */
static FlStatus find_moved(FlGroupRows *r, bool *fits) {
  FlPartMem *m = r->move.m;
  r->moved = fl_part_zalloc(m, r->desc->n_args, sizeof *r->moved);
  r->of = fl_part_alloc(m, r->desc->n_args, sizeof *r->of);
  r->taken = fl_part_zalloc(m, r->n_taken, sizeof *r->taken);
  r->move.columns = fl_part_zalloc(m, r->desc->n_args, sizeof *r->move.columns);
  if (!r->moved || !r->of || !r->taken || !r->move.columns) return 1;
  r->n = r->args[0].a->dims[0];
  for (int32_t k = 0; k < r->desc->n_args && *fits; k++) {
    r->of[k] = -1;
    if (is_number(r, k)) continue;
    FlArray *a = r->args[k].a;
    *fits = a->rank == 1 && a->dtype != FL_LIST && a->dims[0] == r->n;
    int32_t j = 0;
    for (; j < r->n_moved; j++) {
      const FlArray *b = r->moved[j].from;
      if (b->data == a->data && b->dtype == a->dtype) break;
    }
    if (j == r->n_moved) {
      if (*fits && fl_dtype_info[a->dtype].kind == FL_KIND_TEXT && k < r->wanted[0].at &&
          fl_part_find_codes(m->ctx, a, false) != 0)
        return 1;
      fl_take_from(a, r->n, &r->moved[r->n_moved++]);
    }
    r->of[k] = j;
  }
  return 0;
}

/* Bytes of a row that moves, and of one of a part with all that is made of it. false: rows do not move, as of
 * texts without codes as keys, whose words alone take more. */
static bool weigh(const FlGroupRows *r, int64_t *moves, int64_t *row) {
  *moves = 0;
  *row = ROW;
  for (int32_t j = 0; j < r->n_moved; j++) {
    *moves += fl_take_size(&r->moved[j]);
    if (r->moved[j].known != NULL) *row += (int64_t)sizeof(FlText);
  }
  for (int32_t k = 0; k < r->n_wanted; k++) /* what aggregates give, with its validity */
    *row += (int64_t)fl_dtype_info[r->wanted[k].desc.result_types[0].dtype].bytes + 1;
  *row += *moves;
  for (int32_t k = 0; k < r->wanted[0].at - 1; k++) {
    const FlTakeColumn *c = &r->moved[r->of[k]];
    if (fl_dtype_info[c->from->dtype].kind == FL_KIND_TEXT && c->known == NULL) return false;
  }
  return fl_move_fits(*moves);
}

/* ---- its results --------------------------------------------------------------------------------------- */

/* There are as many groups as rows, at most. */
static FlStatus make_results(FlGroupRows *r) {
  FlCtx *ctx = r->move.m->ctx;
  for (int32_t k = 0; k < r->n_wanted; k++) {
    FlRowsWanted *w = &r->wanted[k];
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

/* ---- all ----------------------------------------------------------------------------------------------- */

/* Cuts the rows, as small as that as many work on parts as there are workers; *fits: they are groups of their
 * own, nearly all of a sample, and too many for memory. */
static FlStatus cut(FlGroupRows *r, FlPartMem *m, FlPartCodes *codes, int64_t *row, bool *fits) {
  FlOpDesc desc = *r->desc;
  FlPartKey *keys;
  int64_t moves = 0, bytes = r->n * (NUMBERS + STATE);
  desc.n_columns = r->n_keys;
  *fits = r->n >= FEWEST && fl_pool_room(fl_part_pool(m), bytes) < bytes && weigh(r, &moves, row);
  if (!*fits) return 0;
  if (fl_part_keys(m, &desc, r->args, &keys) != 0 || fl_part_encode(m, keys, r->n_keys, 1, true, codes) != 0)
    return 1;
  bytes = r->n * *row;
  int64_t parts = bytes / fl_part_max(fl_pool_room(fl_part_pool(m), bytes) / 4 * 3, 1) + 1;
  r->lanes = (int32_t)fl_part_max(1, fl_part_min(fl_ctx_workers(m->ctx), FL_MOVE_MOST_PARTS / parts));
  if (fl_move_cut(&r->move, codes, bytes, *row * r->lanes, fits) != 0) return 1;
  *fits = *fits && r->move.by.differ > 1.0 - 1.0 / 32;
  return 0;
}

/* The rows move; *fits: each part fits in memory, as often as there are lanes. */
static FlStatus move(FlGroupRows *r, int64_t row, bool *fits) {
  for (int32_t j = 0; j < r->n_moved; j++)
    r->move.columns[r->move.n_columns++] =
        (FlMovedColumn){.from = fl_take_data(&r->moved[j]), .size = fl_take_size(&r->moved[j])};
  if (fl_move_write(&r->move) != 0) return 1;
  r->most = 1;
  for (int64_t k = 0; k < r->move.by.n_parts; k++) r->most = fl_part_max(r->most, fl_move_rows(&r->move, k));
  int64_t part = r->most * row, room = fl_pool_room(fl_part_pool(r->move.m), part * r->lanes);
  *fits = part <= room;
  r->lanes = (int32_t)fl_part_max(1, room / part);
  return 0;
}

/* The array with its rows up to g; of far fewer than it has room for, a copy. NULL: error recorded. */
static FlArray *shrink(const FlGroupRows *r, FlArray *a) {
  int64_t g = r->turns.g;
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

static FlStatus give(FlGroupRows *r, FlSlot *results) {
  FlStatus status = 0;
  for (int32_t k = 0; k < r->n_wanted; k++) {
    results[2 + 2 * k].a = r->wanted[k].value = shrink(r, r->wanted[k].value);
    results[3 + 2 * k].a = r->wanted[k].valid = shrink(r, r->wanted[k].valid);
    status |= r->wanted[k].value == NULL || r->wanted[k].valid == NULL;
  }
  for (int32_t k = 0; k < r->n_taken; k++) {
    FlTakeColumn *c = &r->taken[k];
    if (c->known == NULL) c->to = shrink(r, c->to);
    else c->to->dims[0] = r->turns.g;
    status |= c->to == NULL;
    fl_part_note_disk(r->move.m, c->to);
  }
  for (int32_t k = 0; k < r->n_taken && status == 0; k++)
    results[2 + 2 * r->n_wanted + k].a = fl_take_close(&r->taken[k]);
  return status;
}

static void drop(FlGroupRows *r) {
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

static FlStatus group_rows(FlGroupRows *r, FlSlot *results, bool *done) {
  FlPartCodes codes;
  int64_t row = 1;
  *done = true;
  if (read_call(r, done) != 0 || (*done && find_moved(r, done) != 0)) return 1;
  if (*done && cut(r, r->move.m, &codes, &row, done) != 0) return 1;
  if (*done && move(r, row, done) != 0) return 1;
  if (!*done) return 0;
  FlStatus status = make_results(r) != 0 || fl_group_rows_parts(r) != 0;
  *done = r->turns.fits;
  if (status == 0 && *done) {
    results[0].i = 1;
    status = give(r, results);
    results[1].i = r->turns.g;
  }
  if (status != 0 || !*done) drop(r);
  return status;
}

FlStatus fl_rt_group_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlGroupRows r = {.move = {.m = &mem}, .desc = desc, .args = args};
  bool done = false;
  FlStatus status = group_rows(&r, results, &done);
  fl_move_end(&r.move);
  if (!done) mem.on_disk = 0; /* who is called instead says what it keeps */
  fl_part_mem_reset(&mem);
  return status == 0 && !done ? give_none(ctx, desc, results) : status;
}
