/* pool.c: starting and stopping workers, guests, and what a worker without work does.
 *
 * In: a number of workers. Out: threads that run tasks and jobs. What always holds: `here` of a thread is its
 * worker, set when it enters and cleared when it leaves; a guest's place is as any worker, its deque empty
 * while nobody is there. */
#include "base/stack.h"
#include "sched/sched_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Who the calling thread is. The one thing that cannot be passed along: a body is called with its own
 * arguments on whatever thread. */
static _Thread_local FlWorker *here;

FlWorker *fl_worker_here(const FlSched *s) { return here && here->sched == s ? here : NULL; }
int fl_sched_worker(const FlSched *s) {
  FlWorker *w = fl_worker_here(s);
  return w ? w->index : -1;
}
int fl_sched_workers(const FlSched *s) { return s->n_workers; }

bool fl_any_task(const FlSched *s) {
  for (int i = 0; i < s->n_workers; i++)
    if (!fl_deque_is_empty(&s->workers[i]->deque)) return true;
  return false;
}

FlTask *fl_steal(FlWorker *w) {
  FlSched *s = w->sched;
  int n = s->n_workers;
  w->random = w->random * 1664525u + 1013904223u; /* Knuth, TAOCP 2, 3.3.4, table 1 line 16 */
  int first = (int)((w->random >> 8) % (uint32_t)n);
  for (int i = 0; i < n; i++) {
    FlWorker *victim = s->workers[(first + i) % n];
    FlTask *task = victim == w ? NULL : fl_deque_steal(&victim->deque);
    if (task) return task;
  }
  return NULL;
}

bool fl_backoff(const FlSched *s, int round) {
  if (round >= s->spins) return true;
  if (s->spins <= 4) {
    sched_yield(); /* more workers than CPUs: whom we wait for may need this one */
    return false;
  }
  for (int i = 0, n = round < FL_SLOW_ROUND ? 2 * round + 1 : 2 * FL_SLOW_ROUND; i < n; i++) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
  }
  return false;
}

static bool idle_has_work(FlWorker *w, void *arg) {
  (void)arg;
  FlSched *s = w->sched;
  return atomic_load_explicit(&s->closing, memory_order_seq_cst) ||
         atomic_load_explicit(&s->n_jobs, memory_order_seq_cst) > 0 || fl_any_task(s);
}

/* A clock for short times: how long a task took, roughly, in units of the processor's own counter. */
static uint64_t ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t t;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t * 64;
#else
  return 0;
#endif
}

/* Runs a stolen task; was it brief? */
static bool run_stolen(FlTask *task) {
  uint64_t from = ticks();
  fl_task_execute(task);
  return ticks() - from < FL_BRIEF_TICKS;
}

/* To take a task costs its owner more than a brief one is worth: after brief ones the next look comes late.
 */
static int calm_down(const FlSched *s, int brief) {
  if (s->spins <= FL_SLOW_ROUND) return 0;
  for (int i = 0; i < brief; i++) (void)fl_backoff(s, FL_SLOW_ROUND);
  return brief ? FL_SLOW_ROUND : 0;
}

void fl_worker_loop(FlWorker *w) {
  FlSched *s = w->sched;
  fl_searching_begin(s);
  int brief = 0; /* how many of the last stolen tasks were brief, up to FL_BRIEF_MOST */
  for (int round = 0;;) {
    FlTask *task = fl_steal(w);
    if (task) {
      fl_searching_end(s);
      fl_jobs_hand_on(s);
      brief = !run_stolen(task) ? 0 : brief < FL_BRIEF_MOST ? brief + 1 : brief;
    } else if (atomic_load_explicit(&s->n_jobs, memory_order_relaxed) > 0) {
      fl_searching_end(s);
      fl_job_run_any(s, NULL);
      brief = 0;
    } else if (atomic_load_explicit(&s->closing, memory_order_acquire)) {
      break;
    } else {
      if (fl_backoff(s, round++)) {
        fl_sleep(w, FL_IDLES, idle_has_work, NULL);
        round = brief = 0;
      }
      continue;
    }
    fl_searching_begin(s);
    round = calm_down(s, brief);
  }
  fl_searching_end(s);
}

static void *thread_main(void *arg) {
  here = arg;
  fl_stack_for_signals();
  fl_worker_loop(here);
  fl_stack_for_signals_end();
  here = NULL;
  return NULL;
}

static FlWorker *worker_new(FlSched *s, int index) {
  FlWorker *w = aligned_alloc(alignof(FlWorker), sizeof *w);
  if (!w) return NULL;
  memset(w, 0, sizeof *w);
  w->sched = s;
  w->index = index;
  w->random = (uint32_t)index * 2654435761u + 1;
  return w;
}

bool fl_sched_enter(FlSched *s) {
  FlWorker *mine = fl_worker_here(s);
  if (mine && mine->index < s->n_guests) {
    (void)atomic_fetch_add_explicit(&mine->entered, 1, memory_order_relaxed);
    return true;
  }
  for (int i = 0; !here && i < s->n_guests; i++) {
    int32_t nobody = 0;
    /* acquire: partner of the release of who was there before, whose deque and random numbers are ours now.
     */
    if (atomic_compare_exchange_strong_explicit(&s->workers[i]->entered, &nobody, 1, memory_order_acquire,
                                                memory_order_relaxed)) {
      here = s->workers[i];
      return true;
    }
  }
  return false;
}

void fl_sched_leave(FlSched *s) {
  FlWorker *mine = fl_worker_here(s);
  if (!mine || mine->index >= s->n_guests) return;
  if (atomic_load_explicit(&mine->entered, memory_order_relaxed) == 1) here = NULL;
  (void)atomic_fetch_sub_explicit(&mine->entered, 1, memory_order_release);
}

FlSched *fl_sched_new_for(int n_threads, int n_guests) {
  int cpus = fl_sched_cpus();
  n_guests = n_guests < 0 ? 0 : n_guests < FL_SCHED_MAX ? n_guests : FL_SCHED_MAX;
  n_threads = n_threads < 0 ? 0 : n_threads < FL_SCHED_MAX - n_guests ? n_threads : FL_SCHED_MAX - n_guests;
  int n = n_guests + n_threads;
  if (n == 0) return NULL;
  FlSched *s = aligned_alloc(alignof(FlSched), sizeof *s);
  if (!s) return NULL;
  memset(s, 0, sizeof *s);
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->jobs_lock, NULL);
  s->spins = n <= cpus ? 400 : 4;
  s->workers = calloc((size_t)n, sizeof *s->workers);
  for (int i = 0; s->workers && i < n; i++, s->n_workers++)
    if (!(s->workers[i] = worker_new(s, i))) break;
  if (s->n_workers == 0 || s->n_workers < n_guests) {
    fl_sched_free(s);
    return NULL;
  }
  s->n_guests = n_guests;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, FL_STACK_BYTES);
  pthread_attr_setguardsize(&attr, FL_STACK_GUARD);
  for (int i = n_guests; i < s->n_workers; i++)
    s->workers[i]->runs = pthread_create(&s->workers[i]->thread, &attr, thread_main, s->workers[i]) == 0;
  pthread_attr_destroy(&attr);
  return s;
}

FlSched *fl_sched_new(int n) {
  if (here) return NULL;
  FlSched *s = fl_sched_new_for((n > 0 ? n : fl_sched_cpus()) - 1, 1);
  if (s) (void)fl_sched_enter(s);
  return s;
}

void fl_sched_free(FlSched *s) {
  if (!s) return;
  atomic_store_explicit(&s->closing, 1, memory_order_seq_cst);
  fl_wake_all(s, false);
  for (int i = s->n_guests; i < s->n_workers; i++)
    if (s->workers[i]->runs) pthread_join(s->workers[i]->thread, NULL);
  if (here && here->sched == s) here = NULL;
  for (int i = 0; i < s->n_workers; i++) free(s->workers[i]);
  free(s->workers);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->jobs_lock);
  free(s);
}
