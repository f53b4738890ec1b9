/* thread.c: see thread.h. In: what a thread does. Out: the thread. What always holds: the caller takes the
 * signals that it took before. */
#include "base/thread.h"

#include <signal.h>

bool fl_thread_start(pthread_t *thread, void *(*work)(void *), void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(thread, NULL, work, arg) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}
