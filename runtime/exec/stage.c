/* stage.c: stage calls as futures.
 *
 * In: a stage and borrowed arguments. Out: its owned results, when waited for. What always holds: each future
 * is waited for once, by the context that started it or by fl_ctx_finish; of several failures in one context,
 * the one that is first in program order is reported, whenever each of them happened. */
#include "exec/strips.h"
#include "exec/exec_internal.h"
#include "exec/ranks.h"

#include <stdlib.h>
#include <string.h>

void fl_slots_release(const FlSlot *slots, const FlType1 *types, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (fl_type_is_array(types[i])) fl_array_unref(slots[i].a);
}

void fl_slots_copy(FlHeap *heap, FlSlot *to, const FlSlot *from, const FlType1 *types, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    to[i] = from[i];
    if (fl_type_is_array(types[i])) {
      to[i].a = fl_array_ref(from[i].a);
    } else if (fl_type_is_text(types[i])) {
      to[i].t = fl_heap_text(heap, from[i].t.ptr, from[i].t.len);
    }
  }
}

bool fl_slots_have_text(const FlType1 *types, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (fl_type_is_text(types[i])) return true;
  return false;
}

/* As fl_slots_copy, the bytes of texts from `room` on. */
static void copy_args(FlSlot *to, char *room, const FlSlot *from, const FlType1 *types, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    to[i] = from[i];
    if (fl_type_is_array(types[i])) fl_array_ref(from[i].a);
    if (!fl_type_is_text(types[i]) || from[i].t.len <= 0) continue;
    to[i].t.ptr = memcpy(room, from[i].t.ptr, (size_t)from[i].t.len);
    room += from[i].t.len;
  }
}

/* Its arguments are in a key, and its results in the store, or they would be: rank 0 has them whole. */
static bool is_kept_whole(const FlCtx *ctx, const FlStage *stage) {
  return !ctx->ranks || (ctx->ranks->remembers && stage->memo >= 0);
}

FlStatus fl_stage_compute(FlFuture *call) {
  FlCtx *ctx = &call->ctx;
  const FlStage *stage = call->stage;
  ctx->unseen = !fl_seen_call(call->run, stage);
  FlStatus status = stage->fn(ctx, call->args, call->results);
  if (!status && ctx->ranks && is_kept_whole(ctx, stage)) {
    status =
        fl_part_all_whole(ctx, call->site, stage->name, stage->n_results, stage->result_types, call->results);
    if (status) fl_slots_release(call->results, stage->result_types, stage->n_results);
  }
  if (!status && call->run->memo && stage->memo >= 0 &&
      (status = fl_fill_all(ctx, stage->n_results, stage->result_types, call->results)))
    fl_slots_release(call->results, stage->result_types, stage->n_results);
  FlStatus finished = fl_ctx_finish(&call->ctx, status);
  if (finished && !status) fl_slots_release(call->results, call->stage->result_types, call->stage->n_results);
  return finished;
}

/* Rows of the first array; -1: there is none. */
static int64_t rows_of(const FlSlot *slots, const FlType1 *types, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (fl_type_is_array(types[i]) && slots[i].a) return slots[i].a->dims[0];
  return -1;
}

FlStageEnd fl_stage_end(const FlFuture *call, FlStageHow how, FlStageKept kept) {
  const FlStage *s = call->stage;
  return (FlStageEnd){.how = how,
                      .kept = kept,
                      .rows_in = rows_of(call->args, s->arg_types, s->n_args),
                      .rows_out = call->status ? -1 : rows_of(call->results, s->result_types, s->n_results)};
}

/* The error is of this stage, where it is of none further in. */
static void say_stage(FlFuture *f) {
  FlCtx *ctx = &f->ctx;
  if (!ctx->error || ctx->error->in_stage) return;
  ctx->error->in_stage = true;
  fl_fail_position_settle(ctx);
  fl_fail_note(ctx, "in stage `%s`", f->stage->name);
}

static void run_call(FlJob *job) {
  FlFuture *f = (FlFuture *)job;
  FlCtx *ctx = &f->ctx;
  if (atomic_load_explicit(&f->unwanted, memory_order_relaxed) || fl_ctx_is_stopped(ctx)) {
    f->status = fl_fail_stopped(ctx);
    return;
  }
  FlReport *report = f->run->report;
  ctx->event = fl_report_stage(report, f->stage, fl_sched_worker(f->run->sched),
                               fl_report_wants_args(report) ? fl_stage_args_text(f->stage, f->args) : NULL);
  if (f->run->memo && f->stage->memo >= 0) {
    f->status = fl_stage_recall(f);
  } else {
    f->status = fl_stage_compute(f);
    FlStageHow failed = fl_ctx_asks_elsewhere(ctx) ? FL_STAGE_ELSEWHERE : FL_STAGE_FAILED;
    FlStageKept kept = f->status ? FL_KEPT_FAILED : f->run->memo ? FL_KEPT_NEVER : FL_KEPT_NO;
    fl_report_stage_end(report, ctx->event, fl_stage_end(f, f->status ? failed : FL_STAGE_RUN, kept));
  }
  if (f->status) say_stage(f);
}

/* As another rank than 0, whose report counts the call; here it is a span of the timeline. */
static FlStatus run_beside(FlFuture *f) {
  FlReport *report = f->run->report;
  bool shown = fl_report_wants_kernels(report), looks = f->ctx.ranks->remembers && f->stage->memo >= 0;
  if (shown) f->ctx.event = fl_report_stage(report, f->stage, fl_sched_worker(f->run->sched), NULL);
  FlStatus s = fl_ctx_is_stopped(&f->ctx) ? fl_fail_stopped(&f->ctx)
               : looks                    ? fl_stage_follow(f)
                                          : fl_stage_compute(f);
  FlStageEnd end = {.how = FL_STAGE_TOGETHER, .rows_in = -1, .rows_out = -1};
  if (shown) fl_report_stage_end(report, f->ctx.event, end);
  if (s) say_stage(f);
  return s;
}

/* With other ranks that do the same: at once, so that they all meet in the same order. */
static void run_together(FlFuture *f) {
  f->at_once = true;
  if (f->ctx.ranks->here == 0) run_call(&f->job);
  FlStatus s = f->ctx.ranks->here == 0 ? f->status : run_beside(f);
  f->status = fl_ranks_stage_end(f, s);
}

FlFuture *fl_stage_start(FlCtx *ctx, int32_t index, const FlSlot *args, int32_t site) {
  const FlStage *stage = &ctx->run->program->stages[index];
  size_t n_slots = (size_t)stage->n_args + (size_t)stage->n_results, texts = 0;
  if (is_kept_whole(ctx, stage) &&
      fl_part_all_whole(ctx, site, stage->name, stage->n_args, stage->arg_types, args))
    return NULL;
  for (int32_t i = 0; i < stage->n_args; i++)
    if (fl_type_is_text(stage->arg_types[i]) && args[i].t.len > 0) texts += (size_t)args[i].t.len;
  if (ctx->alike && fl_ctx_ask(ctx)) return NULL; /* what the store has may be found by some ranks alone */
  FlFuture *f = calloc(1, sizeof *f + n_slots * sizeof(FlSlot) + texts);
  if (!f) {
    fl_fail_text(ctx, site, FL_FAULT_MEMORY, "out of memory");
    return NULL;
  }
  f->args = (FlSlot *)(f + 1);
  f->results = f->args + stage->n_args;
  f->run = ctx->run;
  f->stage = stage;
  f->site = site;
  f->number = ++ctx->n_started;
  f->stage_scope.parent = ctx->scope;
  copy_args(f->args, (char *)(f->args + n_slots), args, stage->arg_types, stage->n_args);
  fl_ctx_init(&f->ctx, ctx->run, ctx);
  f->ctx.self = stage->self;
  f->ctx.stage = stage;
  f->ctx.scope = &f->stage_scope;
  f->prev = ctx->last_future;
  if (f->prev) f->prev->next = f;
  else ctx->futures = f;
  ctx->last_future = f;
  f->job.run = run_call;
  f->job.scope = ctx->scope;
  f->ctx.ranks = ctx->ranks;
  if (ctx->ranks) run_together(f);
  else fl_job_start(ctx->run->sched, &f->job);
  return f;
}

/* Waits, takes the future off the context's list and frees it. Its error, if any, is left in *error. */
static FlStatus collect(FlCtx *ctx, FlFuture *f, FlSlot *results, FlError **error) {
  if (!f->at_once) fl_job_wait(ctx->run->sched, &f->job, ctx->scope);
  if (f->prev) f->prev->next = f->next;
  else ctx->futures = f->next;
  if (f->next) f->next->prev = f->prev;
  else ctx->last_future = f->prev;
  FlStatus status = f->status;
  const FlStage *stage = f->stage;
  if (!status && results) {
    /* Texts go with the call's context; arrays stay. */
    bool text = fl_slots_have_text(stage->result_types, stage->n_results);
    fl_slots_copy(text ? fl_ctx_heap(ctx) : NULL, results, f->results, stage->result_types, stage->n_results);
  }
  if (!status) fl_slots_release(f->results, stage->result_types, stage->n_results);
  fl_slots_release(f->args, stage->arg_types, stage->n_args);
  *error = f->ctx.error;
  if (*error) (*error)->order = f->number - 1; /* as if recorded where the call started */
  if (*error) fl_error_through(*error, ctx->run->program, f->site);
  f->ctx.error = NULL;
  fl_notes_move(&ctx->notes, &f->ctx.notes);
  fl_ctx_reset(&f->ctx);
  free(f);
  return status;
}

FlStatus fl_stage_wait(FlCtx *ctx, FlFuture *f, FlSlot *results) {
  if (!f) return ctx->error ? ctx->error->status : 1;
  FlError *error;
  FlStatus status = collect(ctx, f, results, &error);
  if (ctx->error) fl_error_free(error);
  else ctx->error = error;
  return status;
}

FlStatus fl_ctx_finish(FlCtx *ctx, FlStatus status) {
  /* A failure of the script itself ends the run: nobody wants what came after it. */
  uint64_t limit = ctx->error ? ctx->error->order : UINT64_MAX;
  for (FlFuture *f = ctx->futures; f; f = f->next)
    if (f->number > limit) atomic_store_explicit(&f->unwanted, true, memory_order_relaxed);
  while (ctx->futures) {
    if (ctx->futures->number > limit && ctx == &ctx->run->main) fl_run_stop(ctx->run, -1);
    FlError *error;
    bool counts = ctx->futures->number <= limit;
    FlStatus its = collect(ctx, ctx->futures, NULL, &error);
    if (its && counts && error) {
      fl_error_free(ctx->error);
      ctx->error = error;
      status = its;
      limit = 0;
    } else {
      fl_error_free(error);
    }
  }
  fl_strips_drop(ctx);
  if (fl_pool_gave_up(ctx->run->pool)) fl_pool_gave_up_why(ctx);
  if (ctx->error && !status) status = ctx->error->status;
  return status && !ctx->error ? FL_STATUS_MEMORY : status; /* there was none for an error, either */
}
