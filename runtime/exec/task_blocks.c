/* task_blocks.c: loops of tasks of which each reads a block of rows, of arrays that are in parts between
 * ranks.
 *
 * In: such a loop and what it captures. Out: which rank runs which task, and the rows that it lacks. What
 * always holds: a task is run by the rank that has the first row of its block, which is sent the others; an
 * array of which that is not known is made whole. */
#include "exec/task_blocks.h"

#include <string.h>

static int64_t block_of(const FlTasks *t, const FlSlot *env) {
  return t->block_at < 0 ? t->block : env[t->block_at].i;
}

static int32_t n_captured(const FlTasks *t) { return t->n_env - t->n_dims; }

/* The array, in parts, of which the loop reads blocks. */
static FlArray *parted(const FlTasks *t, const FlSlot *env, int32_t i) {
  FlArray *a = t->rows[i] == FL_ROWS_OWN ? env[t->n_dims + i].a : NULL;
  return a && fl_array_cut(a) ? a : NULL;
}

static FlBorders borders_of(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut *cut) {
  return (FlBorders){ctx, cut, fl_cut_rows(cut), 1, block_of(t, env)};
}

/* What others read of it. */
static bool can_be_sent(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlArray *a) {
  FlBorders b = borders_of(ctx, t, env, fl_array_cut(a));
  return !fl_dtype_is_text(a->dtype) || !fl_borders_cross(&b);
}

FlStatus fl_task_blocks_lay(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut **cut) {
  int64_t block = block_of(t, env), rows = 0;
  FlStatus s = 0;
  *cut = NULL;
  for (int32_t i = 0; i < n_captured(t) && !*cut; i++)
    if (parted(t, env, i)) *cut = fl_array_cut(env[t->n_dims + i].a);
  if (*cut) rows = fl_cut_rows(*cut);
  bool fits = *cut && block > 0 && env[0].i > 0 && env[0].i == (rows - 1) / block + 1;
  if (!fits) *cut = NULL;
  for (int32_t i = 0; i < n_captured(t) && !s; i++) {
    FlArray *a = t->rows[i] == FL_ROWS_NONE ? NULL : env[t->n_dims + i].a;
    bool stays = a && parted(t, env, i) && fl_array_cut(a) == *cut && can_be_sent(ctx, t, env, a);
    if (a && !stays) s = fl_part_whole(ctx, t->site, "map", a);
  }
  return s;
}

int64_t fl_task_blocks_before(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut *cut, int32_t k) {
  FlBorders b = borders_of(ctx, t, env, cut);
  return (fl_borders_begin(&b, k) + b.unit - 1) / b.unit;
}

FlStatus fl_task_blocks_bring(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut *cut) {
  FlBorders b = borders_of(ctx, t, env, cut);
  FlStatus s = 0;
  for (int32_t i = 0; i < n_captured(t); i++) {
    FlStatus its = parted(t, env, i) ? fl_borders_bring(&b, parted(t, env, i)) : 0;
    if (!s) s = its;
  }
  return s;
}

void fl_task_blocks_shut(const FlTasks *t, const FlSlot *env) {
  for (int32_t i = 0; i < n_captured(t); i++)
    if (parted(t, env, i)) fl_array_shut(parted(t, env, i));
}

/* Whether it lies in the memory of an array of which the loop reads blocks. */
static bool is_view(const FlTasks *t, const FlSlot *env, const FlArray *a) {
  for (int32_t i = 0; i < n_captured(t); i++) {
    const FlArray *of = parted(t, env, i);
    const char *from = of ? of->data : NULL, *at = a->data;
    if (of && at >= from && at <= from + fl_array_bytes(of)) return true;
  }
  return false;
}

static FlStatus own(FlCtx *ctx, const FlTasks *t, const FlSlot *env, FlArray **at) {
  FlArray *a = *at, **elements = a && a->dtype == FL_LIST ? a->data : NULL;
  FlStatus s = 0;
  for (int64_t i = 0; elements && i < a->dims[0] && !s; i++) s = own(ctx, t, env, &elements[i]);
  if (!a || elements || !is_view(t, env, a)) return s;
  FlArray *copy = fl_array_new(ctx, a->dtype, a->rank, a->dims);
  if (!copy) return FL_FAULT_MEMORY;
  memcpy(copy->data, a->data, (size_t)fl_array_bytes(a));
  if (fl_dtype_is_text(a->dtype)) s = fl_array_keep(ctx, copy, NULL, &a, 1);
  fl_array_unref(a);
  *at = copy;
  return s;
}

FlStatus fl_task_blocks_own(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, FlSlot *results) {
  FlStatus s = 0;
  for (int64_t i = 0; i < n * t->n_results && !s; i++)
    if (fl_type_is_array(t->types[i % t->n_results])) s = own(ctx, t, env, &results[i].a);
  return s;
}

FlStatus fl_task_blocks_whole(FlCtx *ctx, const FlTasks *t, const FlSlot *env) {
  FlStatus s = 0;
  for (int32_t i = 0; i < n_captured(t) && !s; i++)
    if (parted(t, env, i)) s = fl_part_whole(ctx, t->site, "map", parted(t, env, i));
  return s;
}
