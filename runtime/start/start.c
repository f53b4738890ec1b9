/* start.c: where an executable that `flowc build` made begins. Not part of libflowrt: flowc has a main of its
 * own. */
#include "base/stack.h"
#include "flow/abi.h"

extern const FlProgram flow_program;

typedef struct Words {
  int n;
  char **at;
} Words;

static int run(void *arg) {
  const Words *words = arg;
  return fl_main(&flow_program, words->n, words->at);
}

int main(int argc, char **argv) { return fl_stack_run(run, &(Words){argc, argv}); }
