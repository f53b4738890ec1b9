/* behind.c: work of ranks that goes on while the program does.
 *
 * In: work, in the order in which all ranks begin it. Out: it is done, on a thread of this rank that does
 * nothing else, one after the other. What always holds: what one rank has begun all have, since it is begun
 * after a meeting in which nobody failed; so it comes to its end, whatever the program does then, unless a
 * rank is lost. */
#include "ranks/behind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct FlRankBehind {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  FlRankWork *first, **last; /* what is not done */
  bool over;
} FlRankBehind;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *work_behind(void *arg) {
  FlRanks *r = arg;
  FlRankBehind *b = r->behind;
  pthread_mutex_lock(&b->lock);
  for (;;) {
    while (!b->first && !b->over) pthread_cond_wait(&b->changed, &b->lock);
    FlRankWork *w = b->first;
    if (!w) break;
    pthread_mutex_unlock(&b->lock);
    int64_t begin = now_ns();
    int lost = w->run(w, r);
    w->ns = now_ns() - begin;
    pthread_mutex_lock(&b->lock);
    b->first = w->next;
    if (!b->first) b->last = &b->first;
    w->lost = lost;
    w->done = true;
    pthread_cond_broadcast(&b->changed);
  }
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

bool fl_ranks_behind(FlRanks *r) {
  if (r->behind) return true;
  FlRankBehind *b = calloc(1, sizeof *b);
  if (!b) return false;
  b->last = &b->first;
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->changed, NULL);
  r->behind = b;
  if (pthread_create(&b->thread, NULL, work_behind, r) == 0) return true;
  r->behind = NULL;
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
  free(b);
  return false;
}

void fl_ranks_start(FlRanks *r, FlRankWork *w) {
  FlRankBehind *b = r->behind;
  w->next = NULL;
  w->done = false;
  if (r->since) r->given += w->bytes;
  pthread_mutex_lock(&b->lock);
  *b->last = w;
  b->last = &w->next;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

bool fl_ranks_wait(FlRanks *r, FlRankWork *w) {
  FlRankBehind *b = r->behind;
  int64_t begin = now_ns();
  pthread_mutex_lock(&b->lock);
  atomic_store_explicit(&r->awaited, true, memory_order_relaxed);
  while (!w->done) pthread_cond_wait(&b->changed, &b->lock);
  atomic_store_explicit(&r->awaited, false, memory_order_relaxed);
  pthread_mutex_unlock(&b->lock);
  if (r->since) r->messages_ns += now_ns() - begin;
  if (!w->lost) return true;
  if (!r->lost) r->lost = w->lost;
  r->over = true;
  return false;
}

void fl_ranks_settle(FlRanks *r) {
  FlRankBehind *b = r->behind;
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  while (b->first) pthread_cond_wait(&b->changed, &b->lock);
  pthread_mutex_unlock(&b->lock);
}

void fl_ranks_behind_free(FlRanks *r) {
  FlRankBehind *b = r->behind;
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  b->over = true; /* the thread does what there is first */
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
  pthread_join(b->thread, NULL);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
  free(b);
  r->behind = NULL;
}
