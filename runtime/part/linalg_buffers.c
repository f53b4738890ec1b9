/* linalg_buffers.c: OpenBLAS without threads of its own, called by the threads of the pool.
 *
 * Each product takes a buffer from a list of OpenBLAS's and gives it back. The library that has no threads
 * has no lock on that list, either (USE_LOCKING in its Makefile.rule): two products could take the same
 * buffer, and be wrong. So the linker puts these two in place of OpenBLAS's (--wrap, in
 * runtime/CMakeLists.txt and compiler/codegen/link.c). What always holds: one thread at a time is in the
 * list; nothing else in OpenBLAS is shared. */
#include <pthread.h>

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
