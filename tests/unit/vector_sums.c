/* vector_sums.c: sums of vectors by the tree of their places against its definition: the sum of places
 * [at, at + size) is that of the halves of the smallest complete tree, added, where both have vectors; and
 * whoever has which places, the nodes of all give the same bits. */
#include "check.h"
#include "part/vector_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 300, MOST = 70 };
static double vectors[MOST][K], weights[MOST];
static uint64_t state = 7;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

/* By the definition; false: there is none. */
static bool defined(int64_t n, int64_t at, int64_t size, int64_t i, double *out) {
  if (at >= n) return false;
  if (size == 1) {
    *out = weights[at] * vectors[at][i];
    return weights[at] != 0;
  }
  double left = 0, right = 0;
  bool a = defined(n, at, size / 2, i, &left), b = defined(n, at + size / 2, size / 2, i, &right);
  *out = a && b ? left + right : a ? left : right;
  return a || b;
}

static void fill(int64_t n) {
  for (int64_t v = 0; v < n; v++) {
    weights[v] = draw(5) ? ldexp((double)draw(1 << 30), -(int)draw(40)) : 0;
    for (int64_t i = 0; i < K; i++) vectors[v][i] = ldexp((double)draw(1 << 30) - 0.7, -(int)draw(60));
  }
}

/* The vectors at places [from, to). */
static void leaves_of(int64_t from, int64_t to, FlSumNode *leaves) {
  for (int64_t v = from; v < to; v++)
    leaves[v - from] =
        (FlSumNode){.at = v, .size = 1, .weight = weights[v], .none = weights[v] == 0, .from = vectors[v]};
}

/* Ranks that have random shares, also none; `out` is what their nodes give together. */
static void by_ranks(int64_t n, int ranks, double *out) {
  static double sums[MOST][K];
  FlSumNode nodes[MOST], leaves[MOST];
  int64_t from = 0, count = 0;
  for (int r = 0; r < ranks; r++) {
    int64_t to = r == ranks - 1 ? n : from + (int64_t)draw((uint64_t)(n - from) + 1);
    int64_t some = fl_sum_nodes(n, from, to, nodes + count);
    CHECK(some == fl_sum_nodes(n, from, to, NULL));
    for (int64_t j = count; j < count + some; j++) {
      int64_t end = nodes[j].at + nodes[j].size < to ? nodes[j].at + nodes[j].size : to;
      leaves_of(nodes[j].at, end, leaves);
      fl_sum_elements(leaves, end - nodes[j].at, 0, K, sums[j]);
      nodes[j].from = sums[j];
      nodes[j].none = true;
      for (int64_t v = nodes[j].at; v < end; v++) nodes[j].none &= weights[v] == 0;
    }
    count += some;
    from = to;
  }
  fl_sum_elements(nodes, count, 0, 130, out); /* in two pieces, as two ranks would */
  fl_sum_elements(nodes, count, 130, K, out + 130);
}

int main(void) {
  for (int round = 0; round < 400; round++) {
    int64_t n = (int64_t)draw(round % 2 ? MOST : 9), size = 1;
    double all[K], parts[K];
    FlSumNode leaves[MOST];
    fill(n);
    while (size < n) size *= 2;
    leaves_of(0, n, leaves);
    fl_sum_elements(leaves, n, 0, K, all);
    bool same = true;
    for (int64_t i = 0; i < K; i++) {
      double want = 0;
      if (!defined(n, 0, size, i, &want)) want = 0;
      same &= memcmp(&want, &all[i], sizeof want) == 0;
    }
    CHECK(same);
    by_ranks(n, 1 + (int)draw(8), parts);
    CHECK(memcmp(all, parts, sizeof all) == 0);
  }
  return finish();
}
