/* sched.c: tests of the pool: every task, piece and job runs exactly once, nested, oversubscribed and
 * repeated. */
#include "check.h"
#include "sched/sched.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks: Fibonacci by fork and join ----------------------------------------------------------------- */

typedef struct Fib {
  FlTask task;
  FlSched *sched;
  int n;
  int64_t value;
} Fib;

static void run_fib(FlTask *task) {
  Fib *f = (Fib *)task;
  if (f->n < 2) {
    f->value = f->n;
    return;
  }
  Fib a = {.task = {.run = run_fib}, .sched = f->sched, .n = f->n - 1};
  Fib b = {.task = {.run = run_fib}, .sched = f->sched, .n = f->n - 2};
  fl_task_spawn(f->sched, &a.task);
  fl_task_spawn(f->sched, &b.task);
  fl_task_join(f->sched, &b.task);
  fl_task_join(f->sched, &a.task);
  f->value = a.value + b.value;
}

static void test_tasks(FlSched *s) {
  Fib f = {.task = {.run = run_fib}, .sched = s, .n = 21};
  run_fib(&f.task);
  check(f.value == 10946, "fork and join gives the sum of all leaves");
}

typedef struct Count {
  FlTask task;
  _Atomic int runs;
} Count;
static void run_count(FlTask *t) { atomic_fetch_add(&((Count *)t)->runs, 1); }

static void test_full_deque(FlSched *s) {
  enum { N = 5000 };
  Count *c = calloc(N, sizeof *c);
  for (int i = 0; i < N; i++) {
    c[i].task.run = run_count;
    fl_task_spawn(s, &c[i].task);
  }
  for (int i = N; i-- > 0;) fl_task_join(s, &c[i].task);
  bool once = true;
  for (int i = 0; i < N; i++) once &= c[i].runs == 1;
  check(once, "more tasks than the deque holds: each runs once");
  free(c);
}

/* ---- loops --------------------------------------------------------------------------------------------- */

typedef struct Marks {
  FlSched *sched;
  _Atomic int *at;
  int64_t grain, n;
  _Atomic int bad;
} Marks;

static void mark(void *env, int64_t begin, int64_t end, int worker) {
  Marks *m = env;
  if (begin % m->grain || end - begin > m->grain || end > m->n || begin >= end) atomic_fetch_add(&m->bad, 1);
  if (worker < 0 || worker >= fl_sched_workers(m->sched)) atomic_fetch_add(&m->bad, 1);
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&m->at[i], 1);
}

static void test_loops(FlSched *s) {
  static const int64_t sizes[][2] = {{0, 1},    {1, 1},       {1, 100},    {7, 3},
                                     {1000, 1}, {4096, 4096}, {10001, 10}, {3, -1}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int64_t n = sizes[k][0];
    Marks m = {.sched = s,
               .at = calloc((size_t)n + 1, sizeof(int)),
               .grain = sizes[k][1] < 1 ? 1 : sizes[k][1],
               .n = n};
    fl_sched_for(s, n, sizes[k][1], mark, &m);
    bool once = true;
    for (int64_t i = 0; i < n; i++) once &= m.at[i] == 1;
    check(once && !m.bad && m.at[n] == 0, "each item of a loop runs once, in pieces of one grain");
    free(m.at);
  }
}

typedef struct Nested {
  FlSched *sched;
  _Atomic int64_t sum;
} Nested;
static void inner(void *env, int64_t begin, int64_t end, int worker) {
  (void)worker;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&((Nested *)env)->sum, i);
}
static void outer(void *env, int64_t begin, int64_t end, int worker) {
  (void)worker;
  for (int64_t i = begin; i < end; i++) fl_sched_for(((Nested *)env)->sched, 100, 3, inner, env);
}
static void test_nested(FlSched *s) {
  Nested n = {.sched = s};
  fl_sched_for(s, 200, 1, outer, &n);
  check(n.sum == 200 * 4950, "loops within loops");
}

/* ---- jobs ---------------------------------------------------------------------------------------------- */

/* A tree of jobs, each of which loops, starts two more in a scope of its own and waits for them. */
typedef struct Tree {
  FlJob job;
  FlScope scope;
  FlSched *sched;
  int depth;
  int64_t total;
} Tree;

static void run_tree(FlJob *job) {
  Tree *t = (Tree *)job;
  Nested n = {.sched = t->sched};
  fl_sched_for(t->sched, 64, 8, inner, &n);
  t->total = n.sum;
  if (t->depth == 0) return;
  Tree kids[2];
  for (int i = 0; i < 2; i++) {
    kids[i] = (Tree){.job = {.run = run_tree, .scope = &t->scope}, .sched = t->sched, .depth = t->depth - 1};
    kids[i].scope.parent = &t->scope;
    fl_job_start(t->sched, &kids[i].job);
  }
  for (int i = 0; i < 2; i++) {
    fl_job_wait(t->sched, &kids[i].job, &t->scope);
    t->total += kids[i].total;
  }
}

static void test_jobs(FlSched *s) {
  enum { N = 20 };
  Tree t[N];
  for (int i = 0; i < N; i++) {
    t[i] = (Tree){.job = {.run = run_tree}, .sched = s, .depth = 4};
    fl_job_start(s, &t[i].job);
  }
  int64_t total = 0;
  for (int i = 0; i < N; i++) {
    fl_job_wait(s, &t[i].job, NULL);
    total += t[i].total;
    check(fl_job_is_done(&t[i].job), "a job that was waited for is done");
  }
  check(total == (int64_t)N * 31 * 2016, "jobs that start jobs in their own scope");
}

/* Many jobs that wait for one that is running: nobody may run on top of it what waits for it. */
typedef struct Follow {
  FlJob job;
  FlScope scope;
  FlSched *sched;
  _Atomic int *leader, *landed, *bad;
} Follow;

static bool landed(void *arg) { return atomic_load((_Atomic int *)arg) != 0; }

static void run_follow(FlJob *job) {
  Follow *f = (Follow *)job;
  int none = 0;
  if (!atomic_compare_exchange_strong(f->leader, &none, 1)) {
    fl_sched_wait(f->sched, &f->scope, landed, f->landed);
    if (!landed(f->landed)) atomic_fetch_add(f->bad, 1);
    return;
  }
  Tree kid = {.job = {.run = run_tree, .scope = &f->scope}, .sched = f->sched, .depth = 3};
  kid.scope.parent = &f->scope;
  fl_job_start(f->sched, &kid.job);
  fl_job_wait(f->sched, &kid.job, &f->scope);
  atomic_store(f->landed, 1);
  fl_sched_signal(f->sched);
}

static void test_followers(FlSched *s) {
  enum { N = 12 };
  for (int round = 0; round < 50; round++) {
    _Atomic int leader = 0, land = 0, bad = 0;
    Follow f[N];
    for (int i = 0; i < N; i++) {
      f[i] =
          (Follow){.job = {.run = run_follow}, .sched = s, .leader = &leader, .landed = &land, .bad = &bad};
      fl_job_start(s, &f[i].job);
    }
    for (int i = 0; i < N; i++) fl_job_wait(s, &f[i].job, NULL);
    if (bad || !land) {
      check(false, "followers wait for their leader");
      return;
    }
  }
  check(true, "followers wait for their leader");
}

/* ---- guests: threads of others, more than there is room for, all in one pool --------------------------- */

typedef struct Guest {
  pthread_t thread;
  FlSched *sched;
  int right, inside;
} Guest;

static void *be_guest(void *arg) {
  Guest *g = arg;
  for (int k = 0; k < 200; k++) {
    bool in = fl_sched_enter(g->sched), again = fl_sched_enter(g->sched);
    int worker = fl_sched_worker(g->sched);
    Fib f = {.task = {.run = run_fib}, .sched = g->sched, .n = 15};
    run_fib(&f.task);
    /* Between the two another guest may have left. */
    g->right += f.value == 610 && again >= in && again == (worker >= 0) && worker < 2;
    g->inside += in;
    if (again) fl_sched_leave(g->sched);
    g->right += (fl_sched_worker(g->sched) >= 0) == in;
    if (in) fl_sched_leave(g->sched);
    g->right += fl_sched_worker(g->sched) == -1;
  }
  return NULL;
}

static void test_guests(void) {
  enum { GUESTS = 4 };
  FlSched *s = fl_sched_new_for(2, 2);
  Guest guests[GUESTS] = {0};
  int right = 0, inside = 0;
  check(fl_sched_workers(s) == 4 && fl_sched_worker(s) == -1,
        "who makes a pool for others is no worker of it");
  for (int k = 0; k < GUESTS; k++) {
    guests[k].sched = s;
    if (pthread_create(&guests[k].thread, NULL, be_guest, &guests[k]) != 0) abort();
  }
  for (int k = 0; k < GUESTS; k++) {
    pthread_join(guests[k].thread, NULL);
    right += guests[k].right;
    inside += guests[k].inside;
  }
  check(right == GUESTS * 200 * 3 && inside > 0, "guests come and go: %d", right);
  fl_sched_free(s);
  s = fl_sched_new_for(0, 1);
  check(s && fl_sched_enter(s) && fl_sched_worker(s) == 0, "a pool of a guest alone");
  test_jobs(s);
  fl_sched_leave(s);
  fl_sched_free(s);
}

int main(void) {
  static const int workers[] = {1, 2, 3, 8, 0};
  for (size_t k = 0; k < sizeof workers / sizeof *workers; k++) {
    FlSched *s = fl_sched_new(workers[k]);
    check(s && fl_sched_worker(s) == 0, "the maker of a pool is worker 0");
    check(fl_sched_new(2) == NULL, "a worker makes no other pool");
    check(workers[k] == 0 || fl_sched_workers(s) == workers[k], "as many workers as asked for");
    for (int round = 0; round < 3; round++) {
      test_tasks(s);
      test_full_deque(s);
      test_loops(s);
      test_nested(s);
      test_jobs(s);
      test_followers(s);
    }
    fl_sched_free(s);
    check(fl_sched_worker(s) == -1, "nobody is a worker after the pool is gone");
  }
  test_guests();
  return finish();
}
