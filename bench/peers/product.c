/* product.c: a product of two square matrices of f64 by OpenBLAS, the rows of the result shared by threads.
 *
 * Prints `product S`: the median, in seconds. Usage: product THREADS N. The library itself stays on one
 * thread. */
#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9 };

typedef struct Share {
  const double *a, *b;
  double *c;
  int rows, n;
} Share;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *argument) {
  Share *s = argument;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s->rows, s->n, s->n, 1.0, s->a, s->n, s->b, s->n,
              0.0, s->c, s->n);
  return NULL;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2, n = argc > 2 ? atoi(argv[2]) : 1024;
  size_t size = (size_t)n * (size_t)n;
  double *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b), *c = malloc(size * sizeof *c);
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  Share *shares = calloc((size_t)threads, sizeof *shares);
  double times[ROUNDS];
  if (!a || !b || !c || !ids || !shares) return 1;
  for (size_t i = 0; i < size; i++) a[i] = (double)(i % 101) / 101, b[i] = (double)(i % 103) / 103, c[i] = 0;
  for (int r = 0; r < ROUNDS; r++) {
    double start = now();
    for (int t = 0; t < threads; t++) {
      int begin = n * t / threads, end = n * (t + 1) / threads;
      size_t at = (size_t)begin * (size_t)n;
      shares[t] = (Share){a + at, b, c + at, end - begin, n};
      if (t) pthread_create(&ids[t], NULL, work, &shares[t]);
    }
    work(&shares[0]);
    for (int t = 1; t < threads; t++) pthread_join(ids[t], NULL);
    times[r] = now() - start;
  }
  qsort(times, ROUNDS, sizeof *times, by_value);
  printf("product %.6f\n", times[ROUNDS / 2]);
  return c[size - 1] > 0 ? 0 : 1;
}
