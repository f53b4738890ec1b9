/* write_behind.c: see write_behind.h.
 *
 * Method: the thread goes around all files, again and again while this process makes pages of files dirty.
 * The system counts what it has made dirty (getrusage); what that was when a round began is written when the
 * round is over, so the difference to what it is now bounds what is still to be written. Without this a group
 * full of dirty pages stands still: version 1 lets nobody write early, and throws out the pages of the
 * program meanwhile.
 *
 * What always holds: files form a ring; the hand points to one of them, or is NULL when there is none. A
 * piece is written without the lock, so that a slow disk holds up nobody but who closes that very file: it
 * waits for the end of the piece. */
#include "data/write_behind.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const size_t PIECE = (size_t)4 << 20;
enum { WAIT = 1000 * 1000, PATIENCE = 100 }; /* nanoseconds; of them a worker waits so often at most */

struct FlWritten {
  int fd;
  size_t bytes;
  FlWritten *prev, *next;
};

struct FlWriter {
  pthread_mutex_t lock;
  pthread_cond_t end;   /* the thread shall end */
  pthread_cond_t round; /* all files have been gone around, or the thread shall end */
  pthread_cond_t piece; /* one has been written */
  pthread_t thread;
  int64_t most;
  _Atomic int64_t written; /* of what was ever made dirty; set under the lock */
  _Atomic int64_t past;    /* bytes that the system counts as made dirty, and that were not */
  bool over;
  FlWritten *hand;
  size_t hand_at, total; /* in the hand's file; of all files */
  const FlWritten *now;  /* the file that is written without the lock; NULL: none */
};

/* Bytes of files that this process has made dirty since it began. */
static int64_t made_dirty(const FlWriter *w) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  return (int64_t)used.ru_oublock * 512 - atomic_load_explicit(&w->past, memory_order_relaxed);
}

static struct timespec soon(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += WAIT;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  return t;
}

/* Writes the next piece, and starts the one behind it; returns its size. There is a file. Under the lock,
 * which is free meanwhile. */
static size_t write_piece(FlWriter *w) {
  FlWritten *f = w->hand;
  size_t left = f->bytes - w->hand_at, bytes = left < PIECE ? left : PIECE;
  off_t at = (off_t)w->hand_at;
  w->hand_at += bytes;
  if (left == bytes) {
    w->hand = f->next;
    w->hand_at = 0;
  }
  w->now = f;
  pthread_mutex_unlock(&w->lock);
  if (left > bytes) (void)sync_file_range(f->fd, at + (off_t)bytes, (off_t)PIECE, SYNC_FILE_RANGE_WRITE);
  (void)sync_file_range(f->fd, at, (off_t)bytes,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  pthread_mutex_lock(&w->lock);
  w->now = NULL;
  pthread_cond_broadcast(&w->piece);
  return bytes;
}

static void *work(void *arg) {
  FlWriter *w = arg;
  pthread_mutex_lock(&w->lock);
  while (!w->over) {
    int64_t begin = made_dirty(w);
    if (!w->hand || begin - w->written < w->most / 2) {
      struct timespec until = soon();
      while (!w->over && pthread_cond_timedwait(&w->end, &w->lock, &until) != ETIMEDOUT) {}
      continue;
    }
    for (size_t done = 0; !w->over && w->hand && done < w->total;) done += write_piece(w);
    w->written = begin;
    pthread_cond_broadcast(&w->round);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

FlWriter *fl_writer_new(int64_t most) {
  FlWriter *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&w->end, &monotonic);
  pthread_cond_init(&w->round, &monotonic);
  pthread_cond_init(&w->piece, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&w->lock, NULL);
  w->most = most;
  w->written = made_dirty(w);
  if (fl_thread_start(&w->thread, work, w)) return w;
  fl_writer_free(w);
  return NULL;
}

void fl_writer_stop(FlWriter *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->over = true;
  pthread_cond_signal(&w->end);
  pthread_cond_broadcast(&w->round);
  pthread_mutex_unlock(&w->lock);
  pthread_join(w->thread, NULL);
}

void fl_writer_free(FlWriter *w) {
  if (!w) return;
  pthread_cond_destroy(&w->end);
  pthread_cond_destroy(&w->round);
  pthread_cond_destroy(&w->piece);
  pthread_mutex_destroy(&w->lock);
  free(w);
}

FlWritten *fl_writer_add(FlWriter *w, int fd, size_t bytes) {
  FlWritten *f = w && fd >= 0 ? malloc(sizeof *f) : NULL;
  if (!f) {
    if (fd >= 0) close(fd);
    return NULL;
  }
  *f = (FlWritten){.fd = fd, .bytes = bytes};
  pthread_mutex_lock(&w->lock);
  if (w->hand) { /* before the hand: it comes there last */
    f->next = w->hand;
    f->prev = w->hand->prev;
    f->prev->next = f->next->prev = f;
  } else {
    w->hand = f->prev = f->next = f;
    w->hand_at = 0;
  }
  w->total += bytes;
  pthread_mutex_unlock(&w->lock);
  return f;
}

void fl_writer_remove(FlWriter *w, FlWritten *f) {
  if (!f) return;
  pthread_mutex_lock(&w->lock);
  while (w->now == f) (void)pthread_cond_wait(&w->piece, &w->lock);
  if (w->hand == f) {
    w->hand = f->next == f ? NULL : f->next;
    w->hand_at = 0;
  }
  f->prev->next = f->next;
  f->next->prev = f->prev;
  w->total -= f->bytes;
  pthread_mutex_unlock(&w->lock);
  close(f->fd);
  free(f);
}

void fl_writer_past_cache(FlWriter *w, int64_t bytes) {
  atomic_fetch_add_explicit(&w->past, bytes, memory_order_relaxed);
}

void fl_writer_breathe(FlWriter *w) {
  /* relaxed: only tells whether to look closer. */
  if (made_dirty(w) - atomic_load_explicit(&w->written, memory_order_relaxed) <= w->most) return;
  pthread_mutex_lock(&w->lock);
  for (int k = 0; k < PATIENCE && !w->over && w->hand && made_dirty(w) - w->written > w->most; k++) {
    struct timespec until = soon();
    (void)pthread_cond_timedwait(&w->round, &w->lock, &until);
  }
  pthread_mutex_unlock(&w->lock);
}
