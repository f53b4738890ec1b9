/* sums.c: sums of the arrays of a list, at once (LIST_SUM), or of which one step of the program begins each
 * and a later one asks for it: SUM_BEGIN, SUM_END, SUM_PART, SUM_LATE.
 *
 * In: a list, weights. Out: the sum, or a number, for which it is given later, once. What always holds: the
 * sum is that of a tree of places (part/vector_sums.h), so that it is the same wherever it is made; what was
 * begun one process makes at once, several ranks while the program goes on (ranks_sums.c). */
#include "exec/sums.h"
#include "exec/ranks.h"

#include <stdlib.h>
#include <string.h>

FlRuntimeOp fl_rt_list_sum, fl_rt_sum_begin, fl_rt_sum_end, fl_rt_sum_part, fl_rt_sum_late;

void fl_sum_free(FlSum *s) {
  if (!s) return;
  for (int64_t i = 0; s->held && i < s->n_leaves * s->n_parts; i++) fl_array_unref(s->held[i]);
  fl_array_unref(s->value);
  fl_sum_over_free(s->over);
  fl_sum_ahead_free(s->ahead);
  free(s->held);
  free(s->leaves);
  free(s);
}

FlSum *fl_sum_new(FlCtx *ctx, const FlSumArgs *a, int64_t from, int64_t to, int64_t n_parts) {
  FlSum *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->n_leaves = to - from;
  s->n_parts = n_parts;
  s->held = calloc((size_t)(s->n_leaves * n_parts) + 1, sizeof *s->held);
  s->leaves = calloc((size_t)s->n_leaves + 1, sizeof *s->leaves);
  s->value = fl_array_new(ctx, FL_F64, a->rank, a->dims);
  for (int64_t i = from; i < to && s->leaves; i++)
    s->leaves[i - from] = (FlSumNode){.at = i, .size = 1, .weight = a->weight[i], .none = a->weight[i] == 0};
  if (s->held && s->leaves && s->value) return s;
  fl_sum_free(s);
  return NULL;
}

FlSum *fl_sum_of(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, int64_t from, int64_t to) {
  FlSum *s = fl_sum_new(ctx, a, from, to, 1);
  if (!s && !ctx->error) fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  for (int64_t i = from; s && i < to; i++) {
    FlArray *v = ((FlArray *const *)a->list->data)[a->first + i * a->apart];
    FlSumNode *leaf = &s->leaves[i - from];
    if (leaf->none) continue;
    if (memcmp(v->dims, a->dims, (size_t)a->rank * sizeof *a->dims) != 0) {
      fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: an array of another size");
      fl_sum_free(s);
      return NULL;
    }
    leaf->from = v->data;
    s->held[i - from] = fl_array_ref(v);
  }
  return s;
}

int64_t fl_sum_put(FlRun *run, FlSum *s) {
  pthread_mutex_lock(&run->waiting_lock);
  int64_t number = s->number = ++run->n_sums;
  s->next = run->sums;
  run->sums = s;
  pthread_mutex_unlock(&run->waiting_lock);
  return number;
}

static FlSum *take(FlRun *run, int64_t number) {
  pthread_mutex_lock(&run->waiting_lock);
  FlSum **at = &run->sums;
  while (*at && (*at)->number != number) at = &(*at)->next;
  FlSum *s = *at;
  if (s) *at = s->next;
  pthread_mutex_unlock(&run->waiting_lock);
  return s;
}

void fl_run_free_sums(FlRun *run) {
  while (run->sums) {
    FlSum *s = run->sums;
    run->sums = s->next;
    fl_sum_free(s);
  }
  fl_run_free_habits(run);
}

/* Those of a list that is here. */
static FlStatus sum_here(FlCtx *ctx, const FlOpDesc *desc, const FlSumArgs *a, FlSum **out) {
  FlSum *s = *out = fl_sum_of(ctx, desc, a, 0, a->n);
  FlStatus status =
      s ? fl_part_sum_vectors(ctx, s->leaves, s->n_leaves, a->k, s->value->data) : FL_FAULT_MEMORY;
  if (!status) return 0;
  fl_sum_free(s);
  return status;
}

FlStatus fl_rt_list_sum(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlArray *like = args[0].a, *list = args[1].a;
  int64_t n = list->dims[0];
  double *ones = malloc((size_t)(n + 1) * sizeof *ones);
  FlSumArgs a = {
      .list = list, .rank = like->rank, .k = fl_array_count(like), .apart = 1, .n = n, .weight = ones};
  FlSum *s;
  if (!ones) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  memcpy(a.dims, like->dims, sizeof a.dims);
  for (int64_t i = 0; i < n; i++) ones[i] = 1;
  bool parted = fl_array_cut(list) != NULL;
  FlStatus status = parted ? fl_ranks_sum_now(ctx, desc, &a, &results[0].a) : sum_here(ctx, desc, &a, &s);
  if (!status && !parted) {
    results[0].a = fl_array_ref(s->value);
    fl_sum_free(s);
  }
  free(ones);
  return status;
}

FlStatus fl_rt_sum_begin(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlSumArgs a = {.rank = 1,
                 .dims = {args[0].i},
                 .k = args[0].i,
                 .list = args[1].a,
                 .first = args[2].i,
                 .apart = args[3].i,
                 .n = args[4].a->dims[0],
                 .weight = args[4].a->data};
  if (a.n && (a.first < 0 || a.apart < 1 || a.first + (a.n - 1) * a.apart >= a.list->dims[0]))
    return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: more weights than vectors");
  if (fl_array_cut(a.list)) return fl_ranks_sum_begin(ctx, desc, &a, &results[0].i);
  FlSum *s;
  FlStatus status = sum_here(ctx, desc, &a, &s);
  if (!status) results[0].i = fl_sum_put(ctx->run, s);
  return status;
}

FlStatus fl_rt_sum_end(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlSum *s = take(ctx->run, args[0].i);
  if (!s) return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "bug in flow: a sum that was not begun");
  int64_t before = s->under_way ? ctx->ranks->messages_ns : 0;
  bool there = !s->under_way || fl_ranks_wait(ctx->ranks, &s->work);
  if (there) results[0].a = fl_array_ref(s->value);
  if (s->habit) fl_sum_habit_time(s->habit, s->ahead ? 0 : s->work.ns, ctx->ranks->messages_ns - before);
  fl_sum_free(s);
  return there ? 0 : fl_rows_lost(ctx);
}

FlStatus fl_rt_sum_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  if (ctx->gives) fl_sum_give(ctx->gives, ctx->element, desc->i, args[0].a);
  return 0;
}

/* 1 where so many tasks occupy all workers of all ranks, so that sums may come a round later. */
FlStatus fl_rt_sum_late(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  int64_t least = 0, most = 0;
  FlStatus s = 0;
  results[0].i = 0;
  if (!ctx->ranks || ctx->ranks->n < 2) return 0;
  s = fl_ctx_agree(ctx, desc->site, fl_sched_workers(ctx->run->sched), &least, &most);
  results[0].i = !s && args[0].i >= most * ctx->ranks->n;
  return s;
}
