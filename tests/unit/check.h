/* check.h: what a unit test counts. Include it once, in the file that has main: `check` each thing that must
 * hold, and `return finish();`. The first failures are printed, all are counted. */
#ifndef FLOW_TESTS_CHECK_H
#define FLOW_TESTS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum { SHOWN = 50 };
static int passed, failed;

/* `what` is a format for what follows it. */
__attribute__((format(printf, 2, 3))) static void check(bool holds, const char *what, ...) {
  if (holds) {
    passed++;
    return;
  }
  if (failed++ >= SHOWN) return;
  va_list args;
  va_start(args, what);
  printf("FAILED: ");
  vprintf(what, args);
  printf("\n");
  va_end(args);
}

/* The condition is its own text. */
#define CHECK(condition) check((condition), "line %d: %s", __LINE__, #condition)

/* The line that the runner reads, and the exit status. */
static int finish(void) {
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

#endif
