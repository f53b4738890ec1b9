/* job.c: the queue of host-level work, and waiting that helps.
 *
 * In: jobs with the scope they work for. Out: each has run once when its wait returns. What always holds:
 * above a stage's frame on a worker's stack there is only work of that stage or of stages that it needs,
 * because a waiting worker takes on jobs of its own scope or below only (README.md: why that excludes
 * deadlock). */
#include "sched/sched_internal.h"

static bool is_within(const FlScope *scope, const FlScope *outer) {
  if (!outer) return true;
  for (; scope; scope = scope->parent)
    if (scope == outer) return true;
  return false;
}

bool fl_job_is_done(const FlJob *job) {
  /* Acquires what the job did. seq_cst: partner of run_job's store, for who looks once more before it sleeps.
   */
  return atomic_load_explicit(&job->state, memory_order_seq_cst) == FL_JOB_DONE;
}

/* Under jobs_lock. */
static void unqueue(FlSched *s, FlJob *job) {
  if (job->prev) job->prev->next = job->next;
  else s->first_job = job->next;
  if (job->next) job->next->prev = job->prev;
  else s->last_job = job->prev;
  job->prev = job->next = NULL;
  atomic_store_explicit(&job->state, FL_JOB_RUNNING, memory_order_relaxed);
  atomic_fetch_sub_explicit(&s->n_jobs, 1, memory_order_seq_cst);
}

static void run_job(FlSched *s, FlJob *job) {
  job->run(job);
  /* seq_cst: a waiter puts itself on the list of sleepers, then looks at this; we store this, then look at
   * the list. The job is gone for us from here on. */
  atomic_store_explicit(&job->state, FL_JOB_DONE, memory_order_seq_cst);
  fl_sched_signal(s);
}

void fl_job_start(FlSched *s, FlJob *job) {
  job->prev = job->next = NULL;
  if (!fl_worker_here(s)) {
    atomic_store_explicit(&job->state, FL_JOB_RUNNING, memory_order_relaxed);
    run_job(s, job);
    return;
  }
  atomic_store_explicit(&job->state, FL_JOB_QUEUED, memory_order_relaxed);
  pthread_mutex_lock(&s->jobs_lock);
  job->prev = s->last_job;
  if (s->last_job) s->last_job->next = job;
  else s->first_job = job;
  s->last_job = job;
  atomic_fetch_add_explicit(&s->n_jobs, 1, memory_order_seq_cst);
  pthread_mutex_unlock(&s->jobs_lock);
  if (fl_idle_sleeping(atomic_load_explicit(&s->idle, memory_order_seq_cst))) fl_wake_for_job(s);
}

void fl_jobs_hand_on(FlSched *s) {
  if (atomic_load_explicit(&s->n_jobs, memory_order_seq_cst) > 0 &&
      fl_idle_sleeping(atomic_load_explicit(&s->idle, memory_order_seq_cst)))
    fl_wake_for_job(s);
}

/* The oldest queued job of the scope or below, taken (take) or only looked for. */
static FlJob *find_job(FlSched *s, const FlScope *scope, bool take) {
  if (atomic_load_explicit(&s->n_jobs, memory_order_seq_cst) == 0) return NULL;
  pthread_mutex_lock(&s->jobs_lock);
  FlJob *job = s->first_job;
  while (job && !is_within(job->scope, scope)) job = job->next;
  if (job && take) unqueue(s, job);
  pthread_mutex_unlock(&s->jobs_lock);
  return job;
}

bool fl_job_run_any(FlSched *s, const FlScope *scope) {
  FlJob *job = find_job(s, scope, true);
  if (job) run_job(s, job);
  return job != NULL;
}

typedef struct FlCondition {
  const FlScope *scope;
  bool (*done)(void *arg);
  void *arg;
} FlCondition;

static bool waiter_has_work(FlWorker *w, void *arg) {
  const FlCondition *c = arg;
  return c->done(c->arg) || fl_any_task(w->sched) || find_job(w->sched, c->scope, false);
}

void fl_sched_wait(FlSched *s, const FlScope *scope, bool (*done)(void *arg), void *arg) {
  FlWorker *w = fl_worker_here(s);
  FlCondition condition = {scope, done, arg};
  if (done(arg) || !w) return;
  fl_searching_begin(s);
  for (int round = 0; !done(arg);) {
    FlTask *task = fl_steal(w);
    if (task || find_job(s, scope, false)) {
      fl_searching_end(s);
      if (task) fl_task_execute(task);
      else fl_job_run_any(s, scope);
      fl_searching_begin(s);
      round = 0;
    } else if (fl_backoff(s, round++)) {
      fl_sleep(w, FL_WAITS, waiter_has_work, &condition);
      round = 0;
    }
  }
  fl_searching_end(s);
}

void fl_sched_signal(FlSched *s) {
  if (fl_idle_sleeping(atomic_load_explicit(&s->idle, memory_order_seq_cst))) fl_wake_all(s, true);
}

static bool job_done(void *arg) { return fl_job_is_done(arg); }

void fl_job_wait(FlSched *s, FlJob *job, const FlScope *scope) {
  bool mine = false;
  if (!fl_job_is_done(job)) {
    pthread_mutex_lock(&s->jobs_lock);
    if (atomic_load_explicit(&job->state, memory_order_relaxed) == FL_JOB_QUEUED) {
      unqueue(s, job);
      mine = true;
    }
    pthread_mutex_unlock(&s->jobs_lock);
  }
  if (mine) run_job(s, job);
  else fl_sched_wait(s, scope, job_done, job);
}
