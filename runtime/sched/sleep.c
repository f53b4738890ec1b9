/* sleep.c: how workers without work sleep and are woken.
 *
 * The protocol and why no wake-up is lost: README.md. What always holds, under the lock: a worker is listed
 * if and only if it counts as sleeping; whoever takes it off the list counts it as searching and stores
 * parked = 0. */
#include "sched/sched_internal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t SLEEPER = 1, SEARCHER = (uint64_t)1 << 32;

static void futex_wait(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Under the lock. The caller wakes the worker's futex after unlocking. */
static void take_off(FlSched *s, FlWorker *w) {
  if (w->prev) w->prev->next = w->next;
  else s->sleepers = w->next;
  if (w->next) w->next->prev = w->prev;
  w->prev = w->next = NULL;
  w->listed = false;
  atomic_fetch_add_explicit(&s->idle, SEARCHER - SLEEPER, memory_order_seq_cst);
  /* release: what the waker did before is seen by the woken, which loads parked with acquire. */
  atomic_store_explicit(&w->parked, 0, memory_order_release);
}

void fl_searching_begin(FlSched *s) { atomic_fetch_add_explicit(&s->idle, SEARCHER, memory_order_seq_cst); }

void fl_searching_end(FlSched *s) {
  uint64_t before = atomic_fetch_sub_explicit(&s->idle, SEARCHER, memory_order_seq_cst);
  if (fl_idle_searching(before) == 1 && fl_idle_sleeping(before) && fl_any_task(s)) fl_wake_one(s);
}

void fl_sleep(FlWorker *w, FlSleeper may, bool (*has_work)(FlWorker *w, void *arg), void *arg) {
  FlSched *s = w->sched;
  pthread_mutex_lock(&s->lock);
  w->listed = true;
  w->may = may;
  w->prev = NULL;
  w->next = s->sleepers;
  if (w->next) w->next->prev = w;
  s->sleepers = w;
  atomic_store_explicit(&w->parked, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&s->idle, SLEEPER - SEARCHER, memory_order_seq_cst);
  pthread_mutex_unlock(&s->lock);
  /* From here on every push wakes somebody; what was pushed before is found now. */
  if (has_work(w, arg)) {
    pthread_mutex_lock(&s->lock);
    if (w->listed) take_off(s, w);
    pthread_mutex_unlock(&s->lock);
    return;
  }
  while (atomic_load_explicit(&w->parked, memory_order_acquire)) futex_wait(&w->parked, 1);
}

void fl_wake_worker(FlWorker *w) {
  FlSched *s = w->sched;
  pthread_mutex_lock(&s->lock);
  bool mine = w->listed;
  if (mine) take_off(s, w);
  pthread_mutex_unlock(&s->lock);
  if (mine) futex_wake(&w->parked);
}

void fl_wake_one(FlSched *s) {
  pthread_mutex_lock(&s->lock);
  FlWorker *w = s->sleepers;
  /* Asked again under the lock: of many pushes at once, one wakes. */
  if (w && !fl_idle_searching(atomic_load_explicit(&s->idle, memory_order_seq_cst))) take_off(s, w);
  else w = NULL;
  pthread_mutex_unlock(&s->lock);
  if (w) futex_wake(&w->parked);
}

void fl_wake_for_job(FlSched *s) {
  pthread_mutex_lock(&s->lock);
  FlWorker *w = s->sleepers;
  while (w && w->may != FL_IDLES) w = w->next;
  if (w) take_off(s, w);
  pthread_mutex_unlock(&s->lock);
  if (w) futex_wake(&w->parked);
  else fl_wake_all(s, true);
}

void fl_wake_all(FlSched *s, bool only_waits) {
  for (int i = 0; i < s->n_workers; i++) {
    FlWorker *w = s->workers[i];
    pthread_mutex_lock(&s->lock);
    bool mine = w->listed && (w->may == FL_WAITS || !only_waits);
    if (mine) take_off(s, w);
    pthread_mutex_unlock(&s->lock);
    if (mine) futex_wake(&w->parked);
  }
}
