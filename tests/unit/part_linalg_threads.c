/* part_linalg_threads.c: many threads multiply at once, again and again: OpenBLAS's buffers are each thread's
 * own (linalg_buffers.c). Without the locks some hundredths of these products are wrong. */
#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 512, N = 25, K = 64, THREADS = 4, ROUNDS = 4000 };

typedef struct Products {
  double a[M * K], b[N * K], c[M * N];
  _Atomic int wrong;
} Products;

static void multiply(const Products *p, double *c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, M, N, K, 1.0, p->a, K, p->b, K, 0.0, c, N);
}

static void *work(void *arg) {
  Products *p = arg;
  double *c = malloc(sizeof p->c);
  if (c == NULL) abort();
  for (int i = 0; i < ROUNDS; i++) {
    memset(c, 0, sizeof p->c);
    multiply(p, c);
    p->wrong += memcmp(c, p->c, sizeof p->c) != 0;
  }
  free(c);
  return NULL;
}

int main(void) {
  static Products p;
  pthread_t threads[THREADS];
  for (int i = 0; i < M * K; i++) p.a[i] = (double)(i * 7919 % 1009) / 1009;
  for (int i = 0; i < N * K; i++) p.b[i] = (double)(i * 104729 % 997) / 997;
  multiply(&p, p.c);
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, &p) != 0) abort();
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  if (p.wrong) printf("failed: %d of %d products differ from the first\n", p.wrong, THREADS * ROUNDS);
  printf("%d passed, %d failed\n", p.wrong == 0, p.wrong != 0);
  return p.wrong != 0;
}
