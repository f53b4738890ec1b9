/* vector_sums.c: weighted sums of vectors. See vector_sums.h.
 *
 * In: vectors, or sums of neighbouring ones. Out: their sum. What always holds: two neighbours are added when
 * together they are a complete subtree, and what is left at the end from the last one on; so the sum of all
 * is the same to the last bit, whether it is made of vectors or of such sums. */
#include "part/vector_sums.h"

#include "part/part_internal.h"

enum { RUN = 128, DEEP = 48 }; /* elements at a time; so many nodes are open at most */

int64_t fl_sum_nodes(int64_t total, int64_t from, int64_t to, FlSumNode *nodes) {
  int64_t n = 0;
  for (int64_t at = from; at < to; n++) {
    int64_t size = 1;
    while (at % (2 * size) == 0 && at + size < total && fl_part_min(at + 2 * size, total) <= to) size *= 2;
    if (nodes) nodes[n] = (FlSumNode){.at = at, .size = size, .weight = 1};
    at = fl_part_min(at + size, total);
  }
  return n;
}

/* What is added up so far, of some elements. */
typedef struct Open {
  int64_t at[DEEP], size[DEEP];
  bool none[DEEP];
  double sum[DEEP][RUN];
  int top;
} Open;

static void push(Open *o, const FlSumNode *node, int64_t begin, int64_t n) {
  int k = o->top++;
  o->at[k] = node->at;
  o->size[k] = node->size;
  o->none[k] = node->none;
  for (int64_t i = 0; i < n && !node->none; i++) o->sum[k][i] = node->weight * node->from[begin + i];
}

static void merge(Open *o, int64_t n) {
  int right = --o->top, left = right - 1;
  if (!o->none[right] && !o->none[left])
    for (int64_t i = 0; i < n; i++) o->sum[left][i] += o->sum[right][i];
  else if (!o->none[right]) memcpy(o->sum[left], o->sum[right], (size_t)n * sizeof(double));
  o->none[left] &= o->none[right];
  o->size[left] *= 2;
}

static bool are_subtree(const Open *o) {
  if (o->top < 2) return false;
  int64_t size = o->size[o->top - 1];
  return o->size[o->top - 2] == size && o->at[o->top - 2] % (2 * size) == 0;
}

void fl_sum_elements(const FlSumNode *nodes, int64_t n, int64_t begin, int64_t end, double *out) {
  Open o;
  for (int64_t from = begin; from < end; from += RUN) {
    int64_t some = fl_part_min(end - from, RUN);
    o.top = 0;
    for (int64_t k = 0; k < n; k++) {
      push(&o, &nodes[k], from, some);
      while (are_subtree(&o)) merge(&o, some);
    }
    while (o.top > 1) merge(&o, some);
    bool none = !o.top || o.none[0];
    for (int64_t i = 0; i < some; i++) out[from - begin + i] = none ? 0 : o.sum[0][i];
  }
}

typedef struct Sum {
  const FlSumNode *nodes;
  int64_t n, k;
  double *out;
} Sum;

static int32_t sum_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sum *s = env;
  int64_t from = begin * RUN, to = fl_part_min(end * RUN, s->k);
  (void)ctx;
  fl_sum_elements(s->nodes, s->n, from, to, s->out + from);
  return 0;
}

FlStatus fl_part_sum_vectors(FlCtx *ctx, const FlSumNode *nodes, int64_t n, int64_t k, double *out) {
  Sum s = {nodes, n, k, out};
  return fl_part_for(ctx, sum_body, &s, (k + RUN - 1) / RUN, 0.5 * RUN * (double)n);
}
