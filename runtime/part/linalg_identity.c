/* linalg_identity.c: what the bits of products and decompositions depend on besides their arguments.
 *
 * OpenBLAS chooses among its kernels when the program starts, by the processor; each adds in an order of its
 * own. Which it chose, its version and options, and the level of x86-64 are in the keys of stages that use an
 * operator with the flag BLAS, so that a store shared by two machines gives each its own bits. It is asked
 * once a process: OpenBLAS puts the text of its options together in memory that all threads share, anew at
 * each call. */
#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "part/linalg_internal.h"

static FlDigest identity; /* what `find` found; not changed after that */

static void find(void) {
  char text[512];
  int n = snprintf(text, sizeof text, "%s\n%s\nx86-64-v%d", openblas_get_config(), openblas_get_corename(),
                   fl_cpu_level());
  XXH128_hash_t h = XXH3_128bits(text, n < (int)sizeof text ? (size_t)n : strlen(text));
  identity = (FlDigest){h.low64, h.high64};
}

FlDigest fl_blas_identity(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, find);
  return identity;
}
