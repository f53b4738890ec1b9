/* task.c: spawn, join and parallel loops.
 *
 * In: tasks on the spawners' stacks. Out: each has run once when its join returns. What always holds: tasks
 * of a worker are joined latest first, so a join finds its own task at the bottom of the deque, or finds
 * nothing: then it and all before it were stolen. */
#include "sched/sched_internal.h"

void fl_task_execute(FlTask *task) {
  task->run(task);
  /* acq_rel: releases what the task did to the joiner; acquires the sleeping joiner's address. The task is
   * gone for us from here on. */
  uintptr_t before = atomic_exchange_explicit(&task->state, FL_TASK_DONE, memory_order_acq_rel);
  if (before != FL_TASK_NEW) fl_wake_worker((FlWorker *)before);
}

static void spawn(FlSched *s, FlWorker *w, FlTask *task) {
  atomic_store_explicit(&task->state, FL_TASK_NEW, memory_order_relaxed);
  if (!w || !fl_deque_push(&w->deque, task)) {
    fl_task_execute(task);
    return;
  }
  if (fl_should_wake(atomic_load_explicit(&s->idle, memory_order_seq_cst))) fl_wake_one(s);
}

static bool is_done(FlTask *task) {
  return atomic_load_explicit(&task->state, memory_order_acquire) == FL_TASK_DONE;
}

/* True: the task was still ours and is taken back, to be run by the caller. False: it ran, or runs elsewhere.
 */
static bool take_back(FlWorker *w, FlTask *task) {
  return w && !is_done(task) && fl_deque_pop(&w->deque) == task;
}

static bool joiner_has_work(FlWorker *w, void *arg) { return is_done(arg) || fl_any_task(w->sched); }

/* Waits for a stolen task, helping with other tasks. */
static void await(FlWorker *w, FlTask *task) {
  FlSched *s = w->sched;
  for (int round = 0; round < 12; round++) {
    if (is_done(task)) return;
    if (fl_backoff(s, round)) break;
  }
  fl_searching_begin(s);
  for (int round = 0; !is_done(task);) {
    FlTask *other = fl_steal(w);
    if (other) {
      fl_searching_end(s);
      fl_task_execute(other);
      fl_searching_begin(s);
      round = 0;
    } else if (fl_backoff(s, round++)) {
      uintptr_t state = FL_TASK_NEW;
      /* release: not needed for data, the address of a worker is valid as long as the pool. */
      if (atomic_compare_exchange_strong_explicit(&task->state, &state, (uintptr_t)w, memory_order_acq_rel,
                                                  memory_order_acquire) ||
          state == (uintptr_t)w)
        fl_sleep(w, FL_JOINS, joiner_has_work, task);
      round = 0;
    }
  }
  fl_searching_end(s);
}

void fl_task_spawn(FlSched *s, FlTask *task) { spawn(s, fl_worker_here(s), task); }

void fl_task_join(FlSched *s, FlTask *task) {
  FlWorker *w = fl_worker_here(s);
  if (take_back(w, task)) task->run(task);
  else if (!is_done(task)) await(w, task);
}

/* ---- loops ----------------------------------------------------------------------------------------- */

typedef struct FlLoop {
  FlSched *sched;
  FlLoopFn *fn;
  void *env;
  int64_t n, grain;
} FlLoop;

/* Pieces [begin, end) of a loop that may be stolen. */
typedef struct FlRange {
  FlTask task;
  const FlLoop *loop;
  int64_t begin, end;
} FlRange;

static void run_piece(const FlLoop *l, int64_t piece, int worker) {
  int64_t begin = piece * l->grain, end = l->n - begin > l->grain ? begin + l->grain : l->n;
  l->fn(l->env, begin, end, worker);
}

static void run_range(FlTask *task);

/* Lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP 2010): half of what is left is offered
 * whenever the own deque is empty, which says that somebody took the last offer. */
static void run_pieces(FlWorker *w, const FlLoop *l, int64_t begin, int64_t end) {
  FlRange offers[64]; /* each is at most half of the one before */
  int n = 0;
  for (;;) {
    while (begin < end) {
      if (end - begin > 1 && fl_deque_is_empty(&w->deque)) {
        int64_t middle = begin + (end - begin) / 2;
        offers[n] = (FlRange){.task = {.run = run_range}, .loop = l, .begin = middle, .end = end};
        spawn(l->sched, w, &offers[n++].task);
        end = middle;
      }
      run_piece(l, begin++, w->index);
    }
    if (n == 0) return;
    FlRange *offer = &offers[--n];
    if (take_back(w, &offer->task)) {
      begin = offer->begin;
      end = offer->end;
    } else if (!is_done(&offer->task)) {
      await(w, &offer->task);
    }
  }
}

static void run_range(FlTask *task) {
  FlRange *r = (FlRange *)task;
  run_pieces(fl_worker_here(r->loop->sched), r->loop, r->begin, r->end);
}

void fl_sched_for(FlSched *s, int64_t n, int64_t grain, FlLoopFn *fn, void *env) {
  FlLoop loop = {s, fn, env, n, grain < 1 ? 1 : grain};
  int64_t pieces = n <= 0 ? 0 : (n - 1) / loop.grain + 1;
  FlWorker *w = fl_worker_here(s);
  if (w && s->n_workers > 1 && pieces > 1) {
    run_pieces(w, &loop, 0, pieces);
  } else {
    for (int64_t i = 0; i < pieces; i++) run_piece(&loop, i, w ? w->index : 0);
  }
}
