/* memory.c: what the memory of this machine gives: two loops over an array of f64, by as many threads as
 * asked.
 *
 * Prints `copy S` and `read S`: medians, in seconds, of copying n f64 to another array and of adding them up.
 * Usage: memory THREADS N. Every thread has one contiguous share; pages are touched before. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 11, LANES = 32 };

typedef struct Share {
  double *from, *to, sum;
  size_t n;
  int copies;
  pthread_barrier_t *gate;
} Share;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double add_up(const double *x, size_t n) {
  double lanes[LANES] = {0}, sum = 0;
  for (size_t i = 0; i + LANES <= n; i += LANES)
    for (size_t l = 0; l < LANES; l++) lanes[l] += x[i + l];
  for (size_t l = 0; l < LANES; l++) sum += lanes[l];
  return sum;
}

static void *work(void *argument) {
  Share *s = argument;
  for (int r = 0; r < 2 * ROUNDS; r++) {
    pthread_barrier_wait(s->gate);
    if (r < ROUNDS) memcpy(s->to, s->from, s->n * sizeof(double));
    else s->sum += add_up(s->from, s->n);
    pthread_barrier_wait(s->gate);
  }
  return NULL;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double *array(size_t n) {
  size_t page = (size_t)2 << 20, bytes = (n * sizeof(double) + page - 1) / page * page;
  double *x = aligned_alloc(page, bytes);
  if (!x) exit(1);
  (void)madvise(x, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < n; i++) x[i] = (double)(i % 1000);
  return x;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  size_t n = argc > 2 ? (size_t)atoll(argv[2]) : 25000000;
  double *from = array(n), *to = array(n), times[2 * ROUNDS], sum = 0;
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  Share *shares = calloc((size_t)threads, sizeof *shares);
  pthread_barrier_t gate;
  if (!ids || !shares) return 1;
  pthread_barrier_init(&gate, NULL, (unsigned)threads + 1);
  for (size_t t = 0; t < (size_t)threads; t++) {
    size_t begin = n * t / (size_t)threads, end = n * (t + 1) / (size_t)threads;
    shares[t] = (Share){.from = from + begin, .to = to + begin, .n = end - begin, .gate = &gate};
    pthread_create(&ids[t], NULL, work, &shares[t]);
  }
  for (int r = 0; r < 2 * ROUNDS; r++) {
    double start = now();
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    times[r] = now() - start;
  }
  for (size_t t = 0; t < (size_t)threads; t++) pthread_join(ids[t], NULL), sum += shares[t].sum;
  qsort(times, ROUNDS, sizeof *times, by_value);
  qsort(times + ROUNDS, ROUNDS, sizeof *times, by_value);
  printf("copy %.6f\nread %.6f\n", times[ROUNDS / 2], times[ROUNDS + ROUNDS / 2]);
  return sum > 0 ? 0 : 1;
}
