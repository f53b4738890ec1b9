/* digests.c: digests of large arrays, on the pool.
 *
 * In: an array. Out: fl_array_digest of it, remembered in it. What always holds: the same digest as one
 * thread would give; whoever finds no memory for those of the blocks makes them one after the other. */
#include "exec/exec_internal.h"

#include <stdlib.h>

/* Elements of a list, or bytes of an array, below which one thread is as fast. */
enum { FEW_ELEMENTS = 64, FEW_BYTES = 1 << 20 };

typedef struct Blocks {
  FlArray *array;
  FlDigest *digests; /* NULL: a list, whose elements remember theirs */
} Blocks;

static void some(void *env, int64_t begin, int64_t end, int worker) {
  const Blocks *b = env;
  FlArray *const *elements = b->array->data;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    if (b->digests) b->digests[k] = fl_array_digest_block(b->array, k);
    else if (elements[k]) fl_array_digest(elements[k]);
  }
}

FlDigest fl_ctx_array_digest(FlCtx *ctx, FlArray *a) {
  if (fl_array_has_digest(a)) return a->digest;
  int64_t n = fl_array_digest_blocks(a), bytes = fl_array_bytes(a);
  Blocks b = {.array = a};
  if (a->dtype == FL_LIST) {
    int64_t count = fl_array_count(a);
    if (count >= FEW_ELEMENTS) fl_parallel_for(ctx, count, FEW_ELEMENTS / 4, some, &b);
    return fl_array_digest(a);
  }
  if (n == 1 || bytes < FEW_BYTES) return fl_array_digest(a);
  b.digests = malloc((size_t)n * sizeof *b.digests);
  if (!b.digests) return fl_array_digest(a);
  int64_t grain = FEW_BYTES / 4 / (bytes / n);
  fl_parallel_for(ctx, n, grain < 1 ? 1 : grain, some, &b);
  FlDigest d = fl_array_digest_of(a, b.digests);
  free(b.digests);
  return d;
}
