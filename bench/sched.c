/* sched.c: what the pool costs: one empty task spawned and joined, one parallel loop of empty bodies; libgomp
 * beside it when the compiler has it (with OpenMP, as the build makes it).
 *
 * Prints the median of many rounds, in nanoseconds. Usage: sched [WORKERS] */
#include "sched/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 101, SPAWNS = 20000, LOOPS = 2000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static double median(double *v) {
  qsort(v, ROUNDS, sizeof *v, by_value);
  return v[ROUNDS / 2];
}

static void nothing(FlTask *t) { (void)t; }
static void no_item(void *env, int64_t begin, int64_t end, int worker) {
  (void)env, (void)begin, (void)end, (void)worker;
}

int main(int argc, char **argv) {
  FlSched *s = fl_sched_new(argc > 1 ? atoi(argv[1]) : 0);
  int workers = fl_sched_workers(s);
  double v[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double from = now();
    for (int i = 0; i < SPAWNS; i++) {
      FlTask t = {.run = nothing};
      fl_task_spawn(s, &t);
      fl_task_join(s, &t);
    }
    v[r] = (now() - from) / SPAWNS;
  }
  printf("flow     %3d workers: spawn + join of an empty task %8.1f ns\n", workers, median(v));
  for (int pieces = 2; pieces <= 512; pieces *= 16) {
    for (int r = 0; r < ROUNDS; r++) {
      double from = now();
      for (int i = 0; i < LOOPS; i++) fl_sched_for(s, pieces, 1, no_item, NULL);
      v[r] = (now() - from) / LOOPS;
    }
    printf("flow     %3d workers: parallel_for of %3d empty pieces %8.1f ns\n", workers, pieces, median(v));
  }
  fl_sched_free(s);
#ifdef _OPENMP
  for (int r = 0; r < ROUNDS; r++) {
    double from = now();
#pragma omp parallel num_threads(workers)
#pragma omp single
    for (int i = 0; i < SPAWNS / 10; i++) {
#pragma omp task
      __asm__ volatile(""); /* or gcc leaves the task out */
#pragma omp taskwait
    }
    v[r] = (now() - from) / (SPAWNS / 10);
  }
  printf("libgomp  %3d threads: task + taskwait              %8.1f ns\n", workers, median(v));
  for (int r = 0; r < ROUNDS; r++) {
    double from = now();
    for (int i = 0; i < LOOPS; i++) {
#pragma omp parallel for num_threads(workers) schedule(static)
      for (int k = 0; k < workers; k++) __asm__ volatile("");
    }
    v[r] = (now() - from) / LOOPS;
  }
  printf("libgomp  %3d threads: parallel for of empty bodies  %8.1f ns\n", workers, median(v));
#endif
  return 0;
}
