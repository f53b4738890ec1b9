/* steps.c: host code that is a table (FlSteps of abi.h): the loop over its steps, and the operations that
 * only tables have: arrays of many elements, and loops of tasks with many results.
 *
 * What comes in: a table, the places of the function that runs. What always holds: a step owns its results as
 * any call does; what it leaves in the places of arrays is released by the steps behind it, or, after a
 * failure, by the function. */
#include "exec/task_blocks.h"
#include "exec/tasks.h"
#include "data/value_type.h"

#include <string.h>

/* ---- places ------------------------------------------------------------------------------------------ */

static FlSlot read_place(const FlSteps *steps, const FlPlaces *p, int32_t place) {
  int32_t at = place >> FL_PLACE_BITS;
  switch (place & ((1 << FL_PLACE_BITS) - 1)) {
  case FL_PLACE_VALUE: return p->values[at];
  case FL_PLACE_PARAM: return p->params[at];
  case FL_PLACE_CONSTANT: return steps->constants[at];
  }
  return (FlSlot){.a = p->own[at]};
}

static void write_place(const FlPlaces *p, int32_t place, FlSlot v) {
  int32_t at = place >> FL_PLACE_BITS;
  if ((place & ((1 << FL_PLACE_BITS) - 1)) == FL_PLACE_OWN) p->own[at] = v.a;
  else p->values[at] = v;
}

static void release(const FlPlaces *p, int32_t place) {
  FlArray **own = &p->own[place >> FL_PLACE_BITS];
  fl_array_unref(*own);
  *own = NULL;
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

static int32_t site_of(const FlStepKind *kind) {
  return kind->op == fl_map_tasks ? ((const FlTasks *)kind->what)->site
                                  : ((const FlOpDesc *)kind->what)->site;
}

FlStatus fl_run_steps(FlCtx *ctx, const FlSteps *steps, int32_t from, int32_t to, const FlPlaces *p) {
  const int32_t *at = steps->code + from, *end = steps->code + to;
  while (at < end) {
    const FlStepKind *kind = &steps->kinds[*at++];
    for (int32_t i = 0; i < kind->n_args; i++) p->args[i] = read_place(steps, p, *at++);
    FlStatus s =
        kind->op ? kind->op(ctx, kind->what, p->args, p->results) : kind->fn(ctx, p->args, p->results);
    if (s) {
      if (kind->op) fl_fail_place(ctx, site_of(kind));
      return s;
    }
    for (int32_t i = 0; i < kind->n_results; i++) write_place(p, *at++, p->results[i]);
    int32_t n = *at++;
    if (n & FL_STEP_SEEN) fl_seen(ctx, steps->seen + *at++, p->results);
    for (n &= ~FL_STEP_SEEN; n > 0; n--) release(p, *at++);
  }
  return 0;
}

void fl_give_places(const FlSteps *steps, int32_t from, int32_t n, const FlPlaces *p, FlSlot *results) {
  const int32_t *code = steps->code + from;
  for (int32_t i = 0; i < n; i++) {
    results[i] = read_place(steps, p, code[2 * i]);
    if (code[2 * i + 1] == FL_GIVE_REF) fl_array_ref(results[i].a);
  }
  for (int32_t i = 0; i < n; i++) /* a place may be given several times: only now is it empty */
    if (code[2 * i + 1] == FL_GIVE_OWN) p->own[code[2 * i] >> FL_PLACE_BITS] = NULL;
}

/* ---- operations of tables ---------------------------------------------------------------------------- */

FlStatus fl_step_array(FlCtx *ctx, const void *what, const FlSlot *args, FlSlot *results) {
  const FlOpDesc *desc = what;
  int64_t n = desc->n_args;
  FlArray *a = results[0].a = fl_array_new(ctx, desc->result_types[0].dtype, 1, &n);
  if (!a) return FL_FAULT_MEMORY;
  bool texts = n > 0 && fl_dtype_is_text(a->dtype);
  FlHeap *heap = texts ? fl_array_heap(ctx, a) : NULL;
  if (texts && !heap) {
    fl_array_unref(a);
    return FL_FAULT_MEMORY;
  }
  for (int64_t i = 0; i < n; i++) {
    FlSlot v = args[i];
    if (heap) v.t = fl_heap_text(heap, v.t.ptr, v.t.len);
    fl_array_put(a, i, v);
  }
  return 0;
}

/* One heap for the texts of all elements, which each result of texts keeps; *heap NULL: there is none. */
static FlStatus make_heap(FlCtx *ctx, const FlTasks *t, FlSlot *results, FlHeap **heap) {
  *heap = NULL;
  for (int32_t k = 0; k < t->n_results; k++) {
    if (!fl_type_is_text(t->types[k])) continue;
    if (*heap ? fl_array_keep(ctx, results[k].a, *heap, NULL, 0) != 0
              : !(*heap = fl_array_heap(ctx, results[k].a)))
      return FL_FAULT_MEMORY;
  }
  return 0;
}

static FlStatus run_tasks(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, FlSlot *results) {
  FlHeap *heap;
  FlStatus s = make_heap(ctx, t, results, &heap);
  if (s) return s;
  int64_t total = n * t->n_results;
  FlArray *buffer = fl_array_new(ctx, FL_TEXT, 1, &total);
  if (!buffer) return FL_FAULT_MEMORY;
  FlSlot *slots = buffer->data;
  s = fl_run_tasks(ctx, t->fn, env, t->n_env, t->n_dims, n, slots, t->n_results, t->types, t->is_stacked,
                   t->site, heap);
  for (int64_t i = 0; i < n && !s; i++)
    for (int32_t k = 0; k < t->n_results; k++) fl_array_put(results[k].a, i, slots[i * t->n_results + k]);
  fl_array_unref(buffer);
  return s;
}

/* `cut`: of rows whose parts are the elements; NULL: whoever runs an element has all that it needs. */
static FlStatus run_or_share(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, const FlCut *cut,
                             FlSlot *results) {
  if (!ctx->ranks || n <= 0) return run_tasks(ctx, t, env, n, results);
  FlStatus s;
  if (!cut && fl_ranks_alike_begin(ctx, t->site, n)) {
    s = run_tasks(ctx, t, env, n, results);
    if (fl_ranks_alike_end(ctx, t->site)) return s;
  }
  return fl_ranks_tasks(ctx, t, env, n, cut, results);
}

/* What it captures, before it runs: whole arrays, or of several ranks those in parts of which an element has
 * rows of its own; *cut: how these lie. */
static FlStatus lay_captured(FlCtx *ctx, const FlTasks *t, const FlSlot *env, const FlCut **cut) {
  const FlLoopTakes takes = {"map", t->site, t->n_env - t->n_dims, t->rows, false};
  const FlSlot *values = env + t->n_dims;
  *cut = NULL;
  if (!ctx->ranks || !t->of_rows) return fl_loop_cut(ctx, &takes, values, env[0].i, cut);
  FlStatus s = 0;
  if (t->of_rows == FL_TASK_BLOCKS) return fl_task_blocks_lay(ctx, t, env, cut);
  for (int32_t i = 0; i < takes.n && !s; i++) {
    const FlCut *its = t->rows[i] == FL_ROWS_NONE ? NULL : fl_array_cut(values[i].a);
    if (its && !*cut && t->rows[i] == FL_ROWS_OWN) *cut = its;
    bool stays = its == *cut && t->rows[i] == FL_ROWS_OWN;
    if (its && !stays) s = fl_part_whole(ctx, t->site, takes.what, values[i].a);
  }
  /* A column that every rank has whole would have other parts. */
  for (int32_t i = 0; i < takes.n && *cut && !s; i++)
    if (t->rows[i] == FL_ROWS_OWN && !fl_array_cut(values[i].a)) *cut = NULL;
  for (int32_t i = 0; i < takes.n && !*cut && !s; i++)
    if (t->rows[i] == FL_ROWS_OWN) s = fl_part_whole(ctx, t->site, takes.what, values[i].a);
  return s;
}

/* Every allocation comes before the tasks: after them nothing fails, so nothing that they own is lost. */
FlStatus fl_map_tasks(FlCtx *ctx, const void *what, const FlSlot *env, FlSlot *results) {
  const FlTasks *t = what;
  const FlCut *cut = NULL;
  if (ctx->run->cuts &&
      (ctx->ranks || !ctx->run->options.ranks)) { /* a task has no others to ask: it gets whole arrays */
    FlStatus parted = lay_captured(ctx, t, env, &cut);
    if (parted) return parted;
  }
  int64_t dims[FL_MAX_RANK], n = 1;
  bool empty = false, too_large = false;
  for (int32_t k = 0; k < t->n_dims; k++) {
    dims[k] = cut && t->of_rows == FL_TASK_PARTS ? fl_row_parts_of(cut, cut->n) : env[k].i;
    empty |= dims[k] <= 0;
    too_large |= __builtin_mul_overflow(n, dims[k], &n);
  }
  if (empty || too_large) n = empty ? 0 : -1; /* -1: no array is made */
  FlStatus s = 0;
  int32_t made = 0;
  for (; made < t->n_results && !s; made++) {
    bool list = fl_type_is_array(t->types[made]);
    FlArray *a =
        fl_array_new(ctx, list ? FL_LIST : t->types[made].dtype, list ? 1 : t->n_dims, list ? &n : dims);
    results[made].a = a;
    if (!a) s = FL_FAULT_MEMORY;
  }
  if (!s) s = run_or_share(ctx, t, env, n, cut, results);
  for (int32_t k = 0; k < made && s; k++) fl_array_unref(results[k].a);
  if (t->seen && !s) fl_seen(ctx, t->seen, results);
  return s;
}
