/* sched_internal.h: the pool, its workers and their deques. README.md beside this file has the protocol; each
 * atomic below names its partners. */
#ifndef FL_SCHED_INTERNAL_H
#define FL_SCHED_INTERNAL_H

#include "sched/sched.h"

#include <pthread.h>

enum {
  FL_SLOW_ROUND = 16,    /* the round of a search from which on its pauses stay as long, about 1 us */
  FL_BRIEF_TICKS = 2000, /* a stolen task that took less, about 1 us, was not worth taking */
  FL_BRIEF_MOST = 4 /* pauses of a slow round after that many brief tasks in a row, one after the first */
};
#ifndef FL_DEQUE_CAP /* tasks; when full, a spawn runs the task at once. The model checker takes a small     \
                        one. */
#define FL_DEQUE_CAP 2048
#endif

/* Chase-Lev deque of fixed size. The owner pushes and pops at `bottom`, thieves take at `top`. */
typedef struct FlDeque {
  alignas(128) _Atomic int64_t top;    /* thieves and the owner's last pop: CAS; only grows */
  alignas(128) _Atomic int64_t bottom; /* written by the owner */
  _Atomic(FlTask *) slots[FL_DEQUE_CAP];
} FlDeque;

/* What a sleeper may run: whoever wakes it must have such work, since it does not hand it on. Tasks all may.
 */
typedef enum FlSleeper {
  FL_JOINS, /* joins a task: tasks */
  FL_WAITS, /* waits for a job or a condition: jobs of its scope or below as well */
  FL_IDLES  /* has no frame below it that waits: any job */
} FlSleeper;

typedef struct FlWorker {
  FlDeque deque;
  FlSched *sched;
  int index;
  uint32_t random; /* which victim to try first */
  pthread_t thread;
  bool runs;               /* the thread was started */
  _Atomic int32_t entered; /* of a guest: how often; 0: the place is free */
  /* Under sched->lock: */
  bool listed; /* in the list of sleepers */
  FlSleeper may;
  struct FlWorker *prev, *next;
  alignas(
      64) _Atomic uint32_t parked; /* futex: 1 while asleep; 0 is stored by whoever took it off the list */
} FlWorker;

struct FlSched {
  /* Sleepers in the low half, searchers in the high half. Partner of every push: push stores bottom, then
   * loads this; a sleeper adds itself here, then loads all bottoms. All seq_cst, so one of the two sees the
   * other. */
  alignas(128) _Atomic uint64_t idle;
  alignas(128) pthread_mutex_t lock; /* the list of sleepers */
  FlWorker *sleepers;
  pthread_mutex_t jobs_lock;
  FlJob *first_job, *last_job;
  _Atomic int64_t n_jobs; /* queued; written under jobs_lock, read by searchers without; seq_cst, as `idle` */
  _Atomic int closing;
  int n_workers, n_guests; /* the first are places of guests, the others have threads */
  int spins;               /* rounds of looking for work before sleeping */
  FlWorker **workers;
};

enum { FL_TASK_NEW, FL_TASK_DONE }; /* FlTask.state; any other value: the FlWorker that sleeps for it */
enum { FL_JOB_QUEUED, FL_JOB_RUNNING, FL_JOB_DONE };

FlWorker *fl_worker_here(const FlSched *sched); /* the calling thread's, or NULL */
bool fl_any_task(const FlSched *sched);         /* is any deque non-empty? */
FlTask *fl_steal(FlWorker *w);                  /* from anyone; NULL: nothing found */
bool fl_job_run_any(FlSched *s,
                    const FlScope *scope); /* runs one queued job of that scope or below; false: none */
void fl_task_execute(FlTask *task);
void fl_worker_loop(FlWorker *w); /* until the pool closes */
/* One step of waiting: spins, longer each round. True: time to sleep. */
bool fl_backoff(const FlSched *sched, int round);

/* ---- deque.c --------------------------------------------------------------------------------------- */

bool fl_deque_push(FlDeque *d, FlTask *task); /* false: full */
FlTask *fl_deque_pop(FlDeque *d);             /* the owner; NULL: empty */
FlTask *fl_deque_steal(FlDeque *d);           /* any thread; NULL: empty or lost a race */
bool fl_deque_is_empty(const FlDeque *d);

/* ---- sleep.c --------------------------------------------------------------------------------------- */

static inline uint32_t fl_idle_sleeping(uint64_t idle) { return (uint32_t)idle; }
static inline uint32_t fl_idle_searching(uint64_t idle) { return (uint32_t)(idle >> 32); }

void fl_searching_begin(FlSched *s);
/* Leaves the search. Pushes woke nobody meanwhile, so the last one to leave wakes another if there is work.
 */
void fl_searching_end(FlSched *s);
/* A searcher sleeps until it is woken, unless has_work(w, arg) after it put itself on the list. It is a
 * searcher again afterwards. */
void fl_sleep(FlWorker *w, FlSleeper may, bool (*has_work)(FlWorker *w, void *arg), void *arg);
/* After a push: wakes one sleeper when there is one and nobody is searching. */
static inline bool fl_should_wake(uint64_t idle) {
  return fl_idle_sleeping(idle) && !fl_idle_searching(idle);
}
void fl_wake_one(FlSched *s);
/* After queueing a job: wakes one who may run any, or else all that wait in a scope: one of them may. */
void fl_wake_for_job(FlSched *s);
/* By an idle worker that was perhaps woken for a job, and takes a task instead. */
void fl_jobs_hand_on(FlSched *s);
void fl_wake_worker(FlWorker *w); /* if it sleeps */
void fl_wake_all(FlSched *s, bool only_waits);

#endif
