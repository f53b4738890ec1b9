/* linalg_buffers.c: OpenBLAS without threads of its own, called by the threads of the pool, with kernels for
 * processors that are newer than it.
 *
 * Each product takes a buffer from a list of OpenBLAS's and gives it back. The library that has no threads
 * has no lock on that list, either (USE_LOCKING in its Makefile.rule): two products could take the same
 * buffer, and be wrong. So the linker puts these two in place of OpenBLAS's (--wrap, in
 * runtime/CMakeLists.txt and compiler/codegen/link.c). What always holds: one thread at a time is in the
 * list; nothing else in OpenBLAS is shared.
 *
 * OpenBLAS chooses its kernels by the model of the processor, and those of 2004, without AVX, for an Intel
 * model that it does not know: products then take two to five times as long. Here the level of
 * x86-64 decides for those, before anything is computed; OPENBLAS_CORETYPE is obeyed where the user has set
 * it. */
#include <cblas.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "part/part_internal.h"

/* OpenBLAS's own, of which it has one set of kernels for each processor; else there are none. */
extern void gotoblas_dynamic_init(void) __attribute__((weak));
extern void gotoblas_dynamic_quit(void) __attribute__((weak));

__attribute__((constructor)) static void choose_kernels(void) {
  static const char word[] = "OPENBLAS_CORETYPE";
  enum { AVX2 = 3, AVX512 = 4 };
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || getenv("OPENBLAS_CORETYPE")) return;
  gotoblas_dynamic_init(); /* as it does when the program starts; the second time is none */
  if (strcmp(openblas_get_corename(), "Prescott") != 0 || fl_cpu_level() < AVX2) return;
  gotoblas_dynamic_quit();
  setenv(word, fl_cpu_level() >= AVX512 ? "SkylakeX" : "Haswell", 1);
  gotoblas_dynamic_init();
  unsetenv(word); /* programs that this one starts choose for themselves */
}

extern void *__real_blas_memory_alloc(int procpos);
extern void __real_blas_memory_free(void *buffer);
extern void *__wrap_blas_memory_alloc(int procpos);
extern void __wrap_blas_memory_free(void *buffer);

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

void *__wrap_blas_memory_alloc(int procpos) {
  pthread_mutex_lock(&list);
  void *buffer = __real_blas_memory_alloc(procpos);
  pthread_mutex_unlock(&list);
  return buffer;
}

void __wrap_blas_memory_free(void *buffer) {
  pthread_mutex_lock(&list);
  __real_blas_memory_free(buffer);
  pthread_mutex_unlock(&list);
}
