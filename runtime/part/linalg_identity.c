/* linalg_identity.c: what the bits of products and decompositions depend on besides their arguments.
 *
 * OpenBLAS chooses among its kernels when the program starts, by the processor; each adds in an order of its own. Which it
 * chose, its version and options, and the level of x86-64 are in the keys of stages that use an operator with the flag
 * BLAS, so that a store shared by two machines gives each its own bits. */
#include <cblas.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "part/linalg_internal.h"

FlDigest fl_blas_identity(void) {
  char text[512];
  int n = snprintf(text, sizeof text, "%s\n%s\nx86-64-v%d", openblas_get_config(), openblas_get_corename(),
                   fl_cpu_level());
  XXH128_hash_t h = XXH3_128bits(text, n < (int)sizeof text ? (size_t)n : strlen(text));
  return (FlDigest){h.low64, h.high64};
}
