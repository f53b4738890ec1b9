/* levels.h: a test as the least processor runs it, too. Include it behind check.h. */
#ifndef FLOW_TESTS_LEVELS_H
#define FLOW_TESTS_LEVELS_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `test` here, and before that in a process that uses no vectors beyond x86-64-v2: what is checked there
 * counts as one. Before anything asks for the level. */
static void at_levels(void (*test)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    setenv("FLOW_CPU_LEVEL", "2", 1);
    test();
    fflush(stdout);
    _exit(failed != 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "by the least processor");
  test();
}

#endif
