/* ahead.c: see ahead.h.
 *
 * Method: a ring of what is still to be asked. The thread takes some of it under the lock and asks without
 * it, so that it waits for the disk alone. */
#include "data/ahead.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 1 << 15, AT_ONCE = 16 }; /* pieces that wait; that are taken out under the lock once */

typedef struct Piece {
  void *at;
  size_t bytes;
} Piece;

struct FlAhead {
  pthread_mutex_t lock;
  pthread_cond_t some; /* the thread sleeps until there is a piece, or it shall end */
  pthread_t thread;
  bool over, sleeps;
  uint32_t first, n; /* of the pieces that wait, which place in the ring is next; how many */
  Piece ring[MOST];
};

/* Under the lock; waits until there are some, 0: the thread shall end. */
static uint32_t take(FlAhead *a, Piece *out) {
  while (!a->over && a->n == 0) {
    a->sleeps = true;
    (void)pthread_cond_wait(&a->some, &a->lock);
  }
  a->sleeps = false;
  uint32_t n = a->over ? 0 : a->n < AT_ONCE ? a->n : AT_ONCE;
  for (uint32_t k = 0; k < n; k++) out[k] = a->ring[(a->first + k) % MOST];
  a->first = (a->first + n) % MOST;
  a->n -= n;
  return n;
}

static void *work(void *arg) {
  FlAhead *a = arg;
  Piece some[AT_ONCE];
  pthread_mutex_lock(&a->lock);
  for (uint32_t n = take(a, some); n > 0; n = take(a, some)) {
    pthread_mutex_unlock(&a->lock);
    for (uint32_t k = 0; k < n; k++) (void)madvise(some[k].at, some[k].bytes, MADV_WILLNEED);
    pthread_mutex_lock(&a->lock);
  }
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

static void release(FlAhead *a) {
  pthread_cond_destroy(&a->some);
  pthread_mutex_destroy(&a->lock);
  free(a);
}

FlAhead *fl_ahead_new(void) {
  FlAhead *a = malloc(sizeof *a); /* a page of the ring is memory when it is reached */
  if (!a) return NULL;
  memset(a, 0, offsetof(FlAhead, ring));
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->some, NULL);
  if (fl_thread_start(&a->thread, work, a)) return a;
  release(a);
  return NULL;
}

void fl_ahead_free(FlAhead *a) {
  if (!a) return;
  pthread_mutex_lock(&a->lock);
  a->over = true;
  pthread_cond_signal(&a->some);
  pthread_mutex_unlock(&a->lock);
  pthread_join(a->thread, NULL);
  release(a);
}

bool fl_ahead_ask(FlAhead *a, void *at, size_t bytes) {
  pthread_mutex_lock(&a->lock);
  bool room = a->n < MOST, wake = room && a->sleeps;
  if (room) a->ring[(a->first + a->n++) % MOST] = (Piece){at, bytes};
  if (wake) a->sleeps = false; /* woken once */
  pthread_mutex_unlock(&a->lock);
  if (wake) pthread_cond_signal(&a->some);
  return room;
}
