/* bandwidth.c: see bandwidth.h. What always holds: all threads copy at once, between two meetings; what they
 * take is from the first that begins to the last that ends. */
#include "cli/bandwidth.h"

#include "base/machine.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Of both arrays together: four times the last cache, as STREAM asks of each, within bounds. */
static const int64_t LEAST = (int64_t)64 << 20, MOST = (int64_t)256 << 20;
static const size_t HUGE_PAGE = (size_t)2 << 20;
enum { TIMES = 5, MOST_THREADS = 256 };

typedef struct Copier {
  const double *from;
  double *to;
  int64_t n;
  struct Meeting *where;
} Copier;

/* Nobody begins before all threads are there, or it is called off. */
typedef struct Meeting {
  pthread_mutex_t gate;
  pthread_barrier_t all;
  bool called_off; /* under the gate */
} Meeting;

static void *copy(void *arg) {
  Copier *c = arg;
  pthread_mutex_lock(&c->where->gate);
  bool called_off = c->where->called_off;
  pthread_mutex_unlock(&c->where->gate);
  if (called_off) return NULL;
  for (int64_t i = 0; i < c->n; i++) c->to[i] = 0; /* so that there is memory */
  for (int k = 0; k < TIMES; k++) {
    pthread_barrier_wait(&c->where->all);
    for (int64_t i = 0; i < c->n; i++) c->to[i] = c->from[i];
    pthread_barrier_wait(&c->where->all);
  }
  return NULL;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of the fastest time; 0: not all threads could be made. */
static int64_t fastest(Copier *copiers, int threads) {
  pthread_t made[MOST_THREADS];
  Meeting m = {0};
  if (pthread_barrier_init(&m.all, NULL, (unsigned)threads + 1) != 0) return 0;
  pthread_mutex_init(&m.gate, NULL);
  pthread_mutex_lock(&m.gate);
  int n = 0;
  int64_t best = 0;
  for (; n < threads; n++) {
    copiers[n].where = &m;
    if (pthread_create(&made[n], NULL, copy, &copiers[n]) != 0) break;
  }
  m.called_off = n < threads;
  pthread_mutex_unlock(&m.gate);
  for (int k = 0; n == threads && k < TIMES; k++) {
    pthread_barrier_wait(&m.all);
    int64_t begin = now();
    pthread_barrier_wait(&m.all);
    int64_t took = now() - begin;
    if (!best || took < best) best = took;
  }
  for (int k = 0; k < n; k++) pthread_join(made[k], NULL);
  pthread_mutex_destroy(&m.gate);
  pthread_barrier_destroy(&m.all);
  return best;
}

static int64_t bytes_wanted(void) {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  int64_t wanted = cache > 0 ? 8 * (int64_t)cache : LEAST, there = fl_machine_available() / 4;
  if (wanted < LEAST) wanted = LEAST;
  if (wanted > MOST) wanted = MOST;
  return wanted < there ? wanted : there;
}

/* In huge pages, which take less time to come; NULL: no memory. */
static double *doubles(int64_t n) {
  size_t bytes = ((size_t)n * sizeof(double) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  double *at = aligned_alloc(HUGE_PAGE, bytes);
  if (at) madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

double fl_bandwidth_measure(int threads) {
  if (threads < 1) return 0;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  int64_t n = bytes_wanted() / 2 / (int64_t)sizeof(double) / threads;
  double *from = doubles(n * threads), *to = doubles(n * threads);
  Copier *copiers = calloc((size_t)threads, sizeof *copiers);
  double speed = 0;
  if (n > 0 && from && to && copiers) {
    for (int64_t i = 0; i < n * threads; i++) from[i] = (double)i;
    for (int k = 0; k < threads; k++) copiers[k] = (Copier){from + n * k, to + n * k, n, NULL};
    int64_t ns = fastest(copiers, threads);
    if (ns > 0) speed = 2.0 * sizeof(double) * (double)(n * threads) / ((double)ns * 1e-9);
  }
  free(copiers);
  free(from);
  free(to);
  return speed;
}
