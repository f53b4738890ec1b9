/* interrupts.c: see interrupts.h. What always holds: an interrupt that came while they were held is not lost;
 * letting go of them takes it. */
#include "process/interrupts.h"

#include <signal.h>
#include <stddef.h>

static void nothing(int signal) { (void)signal; }

void fl_interrupts_take(void) { sigaction(SIGINT, &(struct sigaction){.sa_handler = nothing}, NULL); }

void fl_interrupts_hold(bool hold) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

bool fl_interrupts_wait(void) {
  sigset_t set;
  return sigpending(&set) == 0 && sigismember(&set, SIGINT) == 1;
}

void fl_interrupts_leave(void) {
  signal(SIGINT, SIG_DFL);
  fl_interrupts_hold(false);
}
