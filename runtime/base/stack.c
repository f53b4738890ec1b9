/* stack.c: see stack.h. In: work. Out: its result. What always holds: where there is no room for a thread,
 * the work is done on the stack that we have. */
#include "base/stack.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

enum { HANDLER_STACK = 64 << 10 };

void fl_stack_for_signals(void) {
  stack_t old, mine = {.ss_size = HANDLER_STACK};
  if (sigaltstack(NULL, &old) != 0 || !(old.ss_flags & SS_DISABLE)) return;
  mine.ss_sp = malloc(HANDLER_STACK);
  if (mine.ss_sp) sigaltstack(&mine, NULL);
}

void fl_stack_for_signals_end(void) {
  stack_t old, none = {.ss_flags = SS_DISABLE};
  if (sigaltstack(NULL, &old) != 0 || old.ss_flags & SS_DISABLE || old.ss_size != HANDLER_STACK) return;
  if (sigaltstack(&none, NULL) == 0) free(old.ss_sp);
}

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
  fl_stack_for_signals_end();
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
