/* vector_sums.h: weighted sums of vectors, as a tree of their places: place by place the same whoever adds
 * which of its complete subtrees up. */
#ifndef FL_PART_VECTOR_SUMS_H
#define FL_PART_VECTOR_SUMS_H

#include "data/data.h"

/* The sum of the vectors at places [at, at + size), as far as there are so many: size is a power of two, and
 * `at` a multiple of it. One vector is a node of size 1. */
typedef struct FlSumNode {
  int64_t at, size;
  bool none; /* there is none, as all weights are 0; `from` is not read then */
  double weight;
  const double *from; /* from[i] is element i */
} FlSumNode;

/* The largest complete subtrees of `total` places that are [from, to), in their order; how many. NULL: that
 * alone. */
int64_t fl_sum_nodes(int64_t total, int64_t from, int64_t to, FlSumNode *nodes);
/* Elements [begin, end) of the sum of neighbouring nodes, to out[0 ..]: 0 where all are none. */
void fl_sum_elements(const FlSumNode *nodes, int64_t n, int64_t begin, int64_t end, double *out);
/* All k elements, by all workers. */
FlStatus fl_part_sum_vectors(FlCtx *ctx, const FlSumNode *nodes, int64_t n, int64_t k, double *out);

#endif
