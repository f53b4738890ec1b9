/* threads.c: ranks as threads of one process, for tests: a place where all wait for each other. In: slots and
 * bytes of each. Out: copies of them at each. What always holds: nobody leaves a meeting before all have
 * come, or one is lost; what a rank sends stays where it is until all have taken it. */
#include "ranks/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where all wait for each other: the threads that meet, or those behind the program. */
typedef struct Place {
  int32_t waiting;
  int64_t rounds;
  const FlRankTrade **trades;
} Place;

typedef struct Seat {
  FlRankThreads *threads;
  int32_t here;
  uint64_t random[2]; /* of either thread */
  int64_t met;
} Seat;

struct FlRankThreads {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int32_t n, dies;
  int64_t delay_us, dies_at;
  int lost; /* 1 + a rank */
  FlRankSlot *slots;
  const void *sent; /* by the one whose turn it is */
  Place meeting, behind;
  Seat *seats;
};

FlRankThreads *fl_rank_threads_new(int32_t n, int64_t delay_us, int32_t dies, int64_t dies_at) {
  FlRankThreads *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  *t = (FlRankThreads){.n = n, .delay_us = delay_us, .dies = dies, .dies_at = dies_at};
  t->slots = calloc((size_t)n, sizeof *t->slots);
  t->seats = calloc((size_t)n, sizeof *t->seats);
  t->meeting.trades = calloc((size_t)n, sizeof *t->meeting.trades);
  t->behind.trades = calloc((size_t)n, sizeof *t->behind.trades);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->changed, NULL);
  for (int32_t k = 0; t->seats && k < n; k++)
    t->seats[k] = (Seat){t, k, {(uint64_t)k * 7919 + 1, (uint64_t)k * 104729 + 3}, 0};
  if (t->slots && t->seats && t->meeting.trades && t->behind.trades) return t;
  fl_rank_threads_free(t);
  return NULL;
}

void fl_rank_threads_free(FlRankThreads *t) {
  if (!t) return;
  pthread_mutex_destroy(&t->lock);
  pthread_cond_destroy(&t->changed);
  free(t->slots);
  free(t->seats);
  free(t->meeting.trades);
  free(t->behind.trades);
  free(t);
}

void *fl_rank_threads_arg(FlRankThreads *t, int32_t here) { return &t->seats[here]; }

void fl_rank_threads_left(FlRankThreads *t, int32_t here) {
  pthread_mutex_lock(&t->lock);
  if (!t->lost) t->lost = here + 1;
  pthread_cond_broadcast(&t->changed);
  pthread_mutex_unlock(&t->lock);
}

/* Under the lock: returns when all have come. false: one never will. */
static bool come(FlRankThreads *t, Place *p, bool certainly) {
  int64_t round = p->rounds;
  if (t->lost && !certainly) return false;
  if (++p->waiting == t->n) {
    p->waiting = 0;
    p->rounds++;
    pthread_cond_broadcast(&t->changed);
  }
  while (p->rounds == round && (certainly || !t->lost)) pthread_cond_wait(&t->changed, &t->lock);
  if (p->rounds != round) return true;
  p->waiting--;
  return false;
}
static bool all_come(FlRankThreads *t, Place *p) { return come(t, p, false); }
/* After that: all do, also where one is lost meanwhile, since what is taken lies at whoever gives it. */
static void all_leave(FlRankThreads *t, Place *p) { come(t, p, true); }

static void dawdle(Seat *s, bool behind) {
  uint64_t *random = &s->random[behind];
  if (!s->threads->delay_us) return;
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  int64_t us = (int64_t)(*random >> 33) % (s->threads->delay_us + 1);
  nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

static int exchange(void *arg, FlRankSlot *slots) {
  Seat *s = arg;
  FlRankThreads *t = s->threads;
  dawdle(s, false);
  if (t->dies == s->here && ++s->met == t->dies_at) fl_rank_threads_left(t, s->here);
  pthread_mutex_lock(&t->lock);
  t->slots[s->here] = slots[s->here];
  bool met = all_come(t, &t->meeting);
  if (met) memcpy(slots, t->slots, (size_t)t->n * sizeof *slots);
  if (met) all_leave(t, &t->meeting); /* before the next one writes its slot */
  int lost = met ? 0 : t->lost;
  pthread_mutex_unlock(&t->lock);
  return lost;
}

static int send_bytes(void *arg, int32_t from, void *bytes, int64_t n) {
  Seat *s = arg;
  FlRankThreads *t = s->threads;
  dawdle(s, false);
  pthread_mutex_lock(&t->lock);
  if (from == s->here) t->sent = bytes;
  bool met = all_come(t, &t->meeting);
  if (met && from != s->here && bytes) memcpy(bytes, t->sent, (size_t)n);
  if (met) all_leave(t, &t->meeting);
  int lost = met ? 0 : t->lost;
  pthread_mutex_unlock(&t->lock);
  return lost;
}

static int trade_at(Seat *s, Place *p, const FlRankTrade *mine) {
  FlRankThreads *t = s->threads;
  dawdle(s, p == &t->behind);
  pthread_mutex_lock(&t->lock);
  p->trades[s->here] = mine;
  bool met = all_come(t, p);
  for (int32_t k = 0; k < t->n && met; k++)
    if (k != s->here && mine[k].takes) memcpy(mine[k].in, p->trades[k][s->here].out, (size_t)mine[k].takes);
  if (met) all_leave(t, p);
  int lost = met ? 0 : t->lost;
  pthread_mutex_unlock(&t->lock);
  return lost;
}

static int trade(void *arg, const FlRankTrade *mine, int32_t n) {
  Seat *s = arg;
  int lost = 0;
  for (int32_t i = 0; i < n && !lost; i++) lost = trade_at(s, &s->threads->meeting, mine + i * s->threads->n);
  return lost;
}

static int trade_behind(void *arg, const FlRankTrade *mine, const _Atomic bool *awaited) {
  Seat *s = arg;
  (void)awaited; /* who waits sleeps */
  return trade_at(s, &s->threads->behind, mine);
}

const FlRankEngine fl_rank_threads = {exchange, send_bytes, trade, trade_behind, false, true};
