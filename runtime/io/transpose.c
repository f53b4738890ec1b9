/* transpose.c: arrays of other programs that lie in column-major order, in ours. */
#include "io/hdf5_internal.h"
#include "exec/exec.h"

#include <string.h>

enum { FL_PIECE = 1 << 14 };

typedef struct Turning {
  const char *from;
  char *to;
  int32_t rank;
  const int64_t *dims;
  int bytes;
  int64_t count;
} Turning;

/* Elements [begin, end) pieces of the result; each knows where its element is. */
static void turn(void *env, int64_t begin, int64_t end, int worker) {
  const Turning *t = env;
  (void)worker;
  int64_t last = end * FL_PIECE < t->count ? end * FL_PIECE : t->count;
  for (int64_t k = begin * FL_PIECE; k < last; k++) {
    int64_t index[FL_MAX_RANK], rest = k, at = 0;
    for (int32_t d = t->rank - 1; d >= 0; d--) {
      index[d] = rest % t->dims[d];
      rest /= t->dims[d];
    }
    for (int32_t d = t->rank - 1; d >= 0; d--) at = at * t->dims[d] + index[d];
    memcpy(t->to + k * t->bytes, t->from + at * t->bytes, (size_t)t->bytes);
  }
}

void fl_transpose_bytes(FlCtx *ctx, const char *from, char *to, int32_t rank, const int64_t *dims,
                        int bytes) {
  Turning t = {from, to, rank, dims, bytes, 1};
  for (int32_t d = 0; d < rank; d++)
    if (!dims[d]) return; /* the other sizes may be of any size */
  for (int32_t d = 0; d < rank; d++) t.count *= dims[d];
  fl_parallel_for(ctx, (t.count + FL_PIECE - 1) / FL_PIECE, 1, turn, &t);
}
