/* resident.c: see resident.h.
 *
 * Method: the thread looks at the resident size as often as the room that is left could be filled. Above 85%
 * of the limit (less of a small one) it drops pieces in turn, span by span, as the hand of a clock, until it
 * is a seventh lower, or half of the pages of files are gone, or it has been all around. There is no telling
 * which pages were used last; but sweeps touch pages in the order in which they lie, and a page that comes
 * back too early costs a visit to the page cache, not to the disk.
 *
 * The kernel maps what lies around a page that is read, and makes large pages for what is written in order: a
 * fault for each 4 KiB would cost five times as much as the memory that it saves. So whoever looks up in any
 * order has to do so in what fits (part/order_parts.c, take_far.c, aggregate.c).
 *
 * What always holds: spans form a ring; the hand points to one of them, or is NULL when there is none. The
 * lock is held while a piece is dropped, so nobody unmaps it meanwhile. */
#include "data/resident.h"
#include "base/machine.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t PIECE = (size_t)4 << 20;
/* Bytes a nanosecond that all workers together may touch first, where one byte brings a large page of a file:
 * what a look must be ahead of. */
static const int64_t RATE = 200;
/* Bytes that come between two looks of a busy machine. */
static const int64_t SOON = (int64_t)16 << 20;
enum { WAIT_LEAST = 100 * 1000, WAIT_MOST = 10 * 1000 * 1000, BREATH = 50 * 1000 }; /* nanoseconds */

struct FlSpan {
  char *at;
  size_t bytes;
  FlSpan *prev, *next;
};

struct FlResidents {
  pthread_mutex_t lock;
  pthread_cond_t end;
  pthread_t thread;
  int statm;
  int64_t limit;
  bool over;
  FlSpan *hand;
  size_t hand_at;    /* offset in the hand's span of the next piece */
  size_t span_bytes; /* of all spans */
  _Atomic FlFill fill;
  _Atomic int64_t next_breath; /* nanoseconds: when a worker looks next */
};

static int64_t clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Drops the next piece; returns its size. There is a span. */
static size_t drop_piece(FlResidents *r) {
  FlSpan *s = r->hand;
  size_t left = s->bytes - r->hand_at, bytes = left < PIECE ? left : PIECE;
  madvise(s->at + r->hand_at, bytes, MADV_DONTNEED);
  r->hand_at += bytes;
  if (r->hand_at == s->bytes) {
    r->hand = s->next;
    r->hand_at = 0;
  }
  return bytes;
}

/* From which resident size on pieces are dropped: what may come before somebody looks again is kept free. */
static int64_t high_of(int64_t limit) {
  int64_t rest = limit / 20 * 3, least = SOON < limit / 5 ? SOON : limit / 5;
  return limit - (rest > least ? rest : least);
}

/* To which they are: half of the pages of files at least stay, as those that are swept now would come back at
 * once, and each time all spans would be gone around for a few pages. */
static int64_t low_of(int64_t limit, int64_t high, int64_t own) {
  int64_t low = high - limit / 20 * 3, half = own + (high - own) / 2;
  return low > half ? low : half;
}

static FlFill fill_of(const FlResidents *r, int64_t own) {
  return own > r->limit ? FL_FILL_PAST : own > r->limit / 20 * 19 ? FL_FILL_FULL : FL_FILL_ROOM;
}

/* Brings the resident size down when it is high; returns what it is then. */
static FlResident look(FlResidents *r) {
  FlResident now = {0, 0};
  if (!fl_machine_resident(r->statm, &now)) return now;
  int64_t high = high_of(r->limit);
  if (now.all > high) {
    int64_t low = low_of(r->limit, high, now.own);
    size_t round = 0, unseen = 0;
    while (r->hand && round < r->span_bytes && now.all > low) {
      size_t bytes = drop_piece(r);
      round += bytes;
      unseen += bytes;
      if (unseen < PIECE) continue; /* small spans: not one look for each */
      unseen = 0;
      fl_machine_resident(r->statm, &now);
    }
  }
  atomic_store_explicit(&r->fill, fill_of(r, now.own), memory_order_relaxed);
  return now;
}

static void *watch(void *arg) {
  FlResidents *r = arg;
  pthread_mutex_lock(&r->lock);
  while (!r->over) {
    FlResident now = look(r);
    int64_t wait = (r->limit - now.all) / RATE;
    if (wait < WAIT_LEAST) wait = WAIT_LEAST;
    if (wait > WAIT_MOST) wait = WAIT_MOST;
    int64_t end = clock_now() + wait;
    struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
    while (!r->over && pthread_cond_timedwait(&r->end, &r->lock, &until) != ETIMEDOUT) {}
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

FlResidents *fl_residents_new(int64_t limit) {
  FlResidents *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&r->end, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&r->lock, NULL);
  r->limit = limit;
  r->statm = fl_machine_resident_open();
  if (r->statm >= 0 && fl_thread_start(&r->thread, watch, r)) return r;
  if (r->statm >= 0) close(r->statm);
  pthread_cond_destroy(&r->end);
  pthread_mutex_destroy(&r->lock);
  free(r);
  return NULL;
}

void fl_residents_stop(FlResidents *r) {
  if (!r) return;
  pthread_mutex_lock(&r->lock);
  r->over = true;
  pthread_cond_signal(&r->end);
  pthread_mutex_unlock(&r->lock);
  pthread_join(r->thread, NULL);
}

void fl_residents_free(FlResidents *r) {
  if (!r) return;
  close(r->statm);
  pthread_cond_destroy(&r->end);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

FlSpan *fl_residents_add(FlResidents *r, void *at, size_t bytes) {
  FlSpan *s = r && bytes ? malloc(sizeof *s) : NULL;
  if (!s) return NULL;
  s->at = at;
  s->bytes = bytes;
  pthread_mutex_lock(&r->lock);
  if (r->hand) { /* before the hand: it comes there last */
    s->next = r->hand;
    s->prev = r->hand->prev;
    s->prev->next = s->next->prev = s;
  } else {
    r->hand = s->prev = s->next = s;
    r->hand_at = 0;
  }
  r->span_bytes += bytes;
  pthread_mutex_unlock(&r->lock);
  return s;
}

void fl_residents_remove(FlResidents *r, FlSpan *s) {
  if (!s) return;
  pthread_mutex_lock(&r->lock);
  if (r->hand == s) {
    r->hand = s->next == s ? NULL : s->next;
    r->hand_at = 0;
  }
  s->prev->next = s->next;
  s->next->prev = s->prev;
  r->span_bytes -= s->bytes;
  pthread_mutex_unlock(&r->lock);
  free(s);
}

void fl_residents_breathe(FlResidents *r) {
  int64_t now = clock_now(), next = atomic_load_explicit(&r->next_breath, memory_order_relaxed);
  /* relaxed: only tells who looks; what is looked at is under the lock. */
  if (now < next || !atomic_compare_exchange_strong_explicit(&r->next_breath, &next, now + BREATH,
                                                             memory_order_relaxed, memory_order_relaxed))
    return;
  pthread_mutex_lock(&r->lock);
  look(r);
  pthread_mutex_unlock(&r->lock);
}

FlFill fl_residents_fill(const FlResidents *r) {
  return r ? atomic_load_explicit(&r->fill, memory_order_relaxed) : FL_FILL_ROOM;
}

FlFill fl_residents_fill_now(FlResidents *r) {
  int64_t own = fl_machine_own_counted();
  FlResident now = {0, 0};
  pthread_mutex_lock(&r->lock);
  if (own < 0 && fl_machine_resident(r->statm, &now)) own = now.own;
  FlFill fill = fill_of(r, own);
  atomic_store_explicit(&r->fill, fill, memory_order_relaxed);
  pthread_mutex_unlock(&r->lock);
  return fill;
}
