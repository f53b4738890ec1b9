/* stack.c: see stack.h. In: work. Out: its result. What always holds: where there is no room for a thread,
 * the work is done on the stack that we have. */
#include "base/stack.h"
#include "base/crash.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

typedef struct Work {
  int (*work)(void *arg);
  void *arg;
  sigset_t mask; /* as it was before */
  int result;
} Work;

static void *run(void *arg) {
  Work *w = arg;
  pthread_sigmask(SIG_SETMASK, &w->mask, NULL);
  w->result = w->work(w->arg);
  fl_crash_thread_end();
  return NULL;
}

int fl_stack_run(int (*work)(void *arg), void *arg) {
  Work w = {.work = work, .arg = arg};
  sigset_t all;
  pthread_t thread;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, FL_STACK_BYTES);
  pthread_attr_setguardsize(&attr, FL_STACK_GUARD);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &w.mask);
  int failed = pthread_create(&thread, &attr, run, &w);
  pthread_attr_destroy(&attr);
  if (failed) {
    pthread_sigmask(SIG_SETMASK, &w.mask, NULL);
    return work(arg);
  }
  pthread_join(thread, NULL);
  pthread_sigmask(SIG_SETMASK, &w.mask, NULL);
  return w.result;
}
