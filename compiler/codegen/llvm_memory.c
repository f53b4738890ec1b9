/* llvm_memory.c: what happens where LLVM gets no memory, or cannot go on.
 *
 * In: LLVM's reports, from any thread. Out: the end of the work around (fl_guard) where memory is what is
 * missing; else abort, which is a bug of flow. What always holds: nothing is allocated here. The handlers are
 * those of the LLVM in this module, which nobody else sees (-Bsymbolic, docs/decisions/llvm-archives.md). */
#include "codegen/llvm_internal.h"

#include <llvm-c/ErrorHandling.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* LLVM's interface for C has no names for these. The first two: of what its own containers and malloc need;
 * the last: operator new goes the same way. */
void remove_handler(void) __asm__("_ZN4llvm30remove_bad_alloc_error_handlerEv");
void install_handler(void (*)(void *, const char *, bool),
                     void *) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
void install_new_handler(void) __asm__("_ZN4llvm33install_out_of_memory_new_handlerEv");

static void on_fatal(const char *reason) {
  if (strstr(reason, "memory") || strstr(reason, "llocat")) fl_no_memory();
  fprintf(stderr, "error: the code generator failed: %s\n", reason);
  abort();
}

static void on_bad_alloc(void *env, const char *reason, bool crash) {
  (void)env, (void)reason, (void)crash;
  fl_no_memory();
}

void fl_ll_memory_register(void) {
  LLVMResetFatalErrorHandler();
  LLVMInstallFatalErrorHandler(on_fatal);
  remove_handler();
  install_handler(on_bad_alloc, NULL);
  install_new_handler();
}

bool fl_ll_memory_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < (rlim_t)4 << 30;
}
