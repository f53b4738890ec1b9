/* processors.c: the names of processors that code can be made for, without LLVM, which only says on its own
 * that it does not know one, or ends the process. */
#include "codegen/codegen.h"

static const char *const names[] = {
#define FL_PROCESSOR(name) name,
#include "codegen/processors.def"
#undef FL_PROCESSOR
};

const char *const *fl_codegen_processors(int *n) {
  *n = sizeof names / sizeof *names;
  return names;
}
