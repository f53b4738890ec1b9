/* sched.h: the pool of workers that runs everything parallel: tasks, loops, jobs.
 *
 * Two kinds of work, so that waiting can never deadlock (README.md has states, protocol and proof):
 *   - a *task* is short and structured: it is joined by whoever spawned it, and may itself only spawn, join
 * and loop. Tasks are on the workers' own deques.
 *   - a *job* is host code: a stage, or some elements of a host-level loop. A job may wait for anything. Jobs
 *     are in one shared queue.
 * What always holds: results cannot depend on the number of workers, since who runs a piece is all that is
 * decided here; a call from a thread that is no worker of the pool runs inline, in order. A pool may serve
 * several runs at once: their threads are its guests. */
#ifndef FL_SCHED_H
#define FL_SCHED_H

#include "flow/abi.h"

typedef struct FlSched FlSched;

/* CPUs that this process may use: affinity and the limits of its control group. At least 1. */
int fl_sched_cpus(void);

/* A pool of so many threads of its own, and with room for so many guests: threads of others that work in it
 * while they are there. Threads that the system refuses are done without. NULL: out of memory. */
enum { FL_SCHED_MAX = 1024 };
FlSched *fl_sched_new_for(int n_threads, int n_guests);
/* The calling thread is a guest from now on, until it leaves; for every time that it entered it must leave
 * once. false: there is no room, or it is a worker of another pool; calls run inline then. */
bool fl_sched_enter(FlSched *sched);
void fl_sched_leave(FlSched *sched);
/* One for n_workers (1..FL_SCHED_MAX; 0: fl_sched_cpus()) whose one guest is the calling thread: worker 0,
 * which must be the one to free it. NULL: out of memory, or the calling thread is a worker already. */
FlSched *fl_sched_new(int n_workers);
/* All work must have been waited for, and all other guests have left. NULL is allowed. */
void fl_sched_free(FlSched *sched);
int fl_sched_workers(const FlSched *sched); /* with room for guests that are not there */
/* Which worker the calling thread is: 0..n-1, or -1 when it is none of this pool. */
int fl_sched_worker(const FlSched *sched);

/* ---- tasks ----------------------------------------------------------------------------------------- */

/* Usually the first member of a larger struct on the spawner's stack. */
typedef struct FlTask {
  void (*run)(struct FlTask *task);
  _Atomic uintptr_t state; /* private to the pool */
} FlTask;

/* The task may run from now on, on any worker. Never blocks. */
void fl_task_spawn(FlSched *sched, FlTask *task);
/* Returns when the task has run; runs it here unless somebody took it. Tasks are joined by the thread that
 * spawned them, latest first. */
void fl_task_join(FlSched *sched, FlTask *task);

/* The body of a loop: items [begin, end) with begin a multiple of the grain and at most one grain of items.
 * worker: the index of the thread's worker, for scratch memory; a body that itself calls into the pool may
 * find itself on top of another of its own calls with the same index. */
typedef void FlLoopFn(void *env, int64_t begin, int64_t end, int worker);
/* Runs fn over [0, n_items) in pieces of `grain` items (at least 1); returns when all are done. Pieces are
 * handed over lazily: only what an idle worker asks for. */
void fl_sched_for(FlSched *sched, int64_t n_items, int64_t grain, FlLoopFn *fn, void *env);

/* ---- jobs ------------------------------------------------------------------------------------------ */

/* Says which stage a job works for: a stage's scope has the scope of the stage (or of the run) that called it
 * as parent. A worker that waits within a scope (NULL: all) takes on only jobs of that scope or below. */
typedef struct FlScope {
  const struct FlScope *parent;
} FlScope;

typedef struct FlJob {
  void (*run)(struct FlJob *job);
  const FlScope *scope;
  struct FlJob *prev, *next; /* private to the pool, as is: */
  _Atomic int32_t state;
} FlJob;

/* Queues a job: set `run` and `scope` before. It must stay in memory until it was waited for. */
void fl_job_start(FlSched *sched, FlJob *job);
/* Returns when the job is done; runs it here when nobody has begun it. `scope` is the waiter's own. */
void fl_job_wait(FlSched *sched, FlJob *job, const FlScope *scope);
bool fl_job_is_done(const FlJob *job);

/* Helps with other work until done(arg) is true, sleeping when there is none. Whoever makes it true calls
 * fl_sched_signal afterwards; it stores, and `done` loads, with seq_cst. */
void fl_sched_wait(FlSched *sched, const FlScope *scope, bool (*done)(void *arg), void *arg);
void fl_sched_signal(FlSched *sched);

#endif
