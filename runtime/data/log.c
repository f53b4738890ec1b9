/* log.c: see log.h.
 *
 * Method: bytes have their place in the log when they are taken (`taken`). Until they are in the file they
 * stand in a ring of segments; who brings more than there is room for waits. The thread writes segments that
 * are filled, as many at once as stand one behind the other. What was given for which place is a list of
 * pieces, sorted when all is written.
 *
 * What always holds: `written` <= `taken` <= `written` + the ring; segment k is filled when all of its bytes
 * have been copied, by whoever took them, in any order. Bytes are copied without the lock. */
#include "data/log.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEGMENT = 256 * 1024, SEGMENTS = 6, RING = SEGMENTS * SEGMENT, DISK_PAGE = 4096 };

typedef struct Piece {
  int64_t at, bytes, place;
} Piece;

struct FlLog {
  FlPool *pool;
  int fd;
  pthread_mutex_t lock;
  pthread_cond_t filled; /* a segment is, or the log ends */
  pthread_cond_t room;   /* there is some again */
  pthread_t thread;
  FlBlock block;
  char *ring; /* within the block, as the disk wants it aligned */
  int64_t copied[SEGMENTS];
  int64_t taken, written; /* bytes; `written` is of whole segments */
  Piece *pieces;
  int64_t n, most; /* pieces; room for so many */
  bool over, ended;
  int why; /* errno of a call that failed */
};

/* ---- the thread ---------------------------------------------------------------------------------------- */

/* Bytes that may be written now: of segments that are filled and stand one behind the other in the ring; at
 * the end also the rest, to a whole page. Under the lock. */
static int64_t ready(const FlLog *l) {
  int64_t bytes = 0, first = l->written / SEGMENT;
  for (int64_t k = first % SEGMENTS; k < SEGMENTS && l->copied[k] == SEGMENT; k++) bytes += SEGMENT;
  if (bytes > 0 || !l->over) return bytes;
  return (l->taken - l->written + DISK_PAGE - 1) / DISK_PAGE * DISK_PAGE;
}

/* errno; 0: all is written. A file system that takes the flag and refuses the bytes gets them as others do.
 */
static int write_out(const FlLog *l, const char *from, int64_t bytes, int64_t at) {
  fl_pool_past_cache(l->pool, bytes);
  while (bytes > 0) {
    ssize_t n = pwrite(l->fd, from, (size_t)bytes, at);
    if (n < 0 && errno == EINTR) continue;
    int flags = n < 0 && errno == EINVAL ? fcntl(l->fd, F_GETFL) : -1;
    if (flags >= 0 && flags & O_DIRECT && fcntl(l->fd, F_SETFL, flags & ~O_DIRECT) == 0) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    from += n;
    at += n;
    bytes -= n;
  }
  return 0;
}

static void *work(void *arg) {
  FlLog *l = arg;
  pthread_mutex_lock(&l->lock);
  for (;;) {
    int64_t bytes = ready(l), at = l->written;
    if (bytes == 0 && l->over) break;
    if (bytes == 0) {
      pthread_cond_wait(&l->filled, &l->lock);
      continue;
    }
    bool failed = l->why != 0;
    pthread_mutex_unlock(&l->lock);
    int why = failed ? 0 : write_out(l, l->ring + at % RING, bytes, at);
    pthread_mutex_lock(&l->lock);
    if (why != 0) l->why = why;
    for (int64_t k = 0; k < bytes / SEGMENT; k++) l->copied[(at / SEGMENT + k) % SEGMENTS] = 0;
    l->written = at + bytes < l->taken ? at + bytes : l->taken;
    pthread_cond_broadcast(&l->room);
  }
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* ---- taking -------------------------------------------------------------------------------------------- */

/* Under the lock. */
static bool add_piece(FlLog *l, int64_t at, int64_t bytes) {
  Piece *last = l->n > 0 ? &l->pieces[l->n - 1] : NULL;
  if (last && last->at + last->bytes == at && last->place + last->bytes == l->taken) {
    last->bytes += bytes;
    return true;
  }
  if (l->n == l->most) {
    int64_t most = l->most > 0 ? 2 * l->most : 256;
    Piece *grown = realloc(l->pieces, (size_t)most * sizeof *grown);
    if (!grown) return false;
    l->pieces = grown;
    l->most = most;
  }
  l->pieces[l->n++] = (Piece){at, bytes, l->taken};
  return true;
}

int fl_log_write(FlLog *l, const void *from, int64_t bytes, int64_t at) {
  const char *rest = from;
  pthread_mutex_lock(&l->lock);
  if (bytes > 0 && !l->why && !add_piece(l, at, bytes)) l->why = ENOMEM;
  int64_t place = l->taken;
  if (!l->why) l->taken += bytes;
  else bytes = 0;
  while (bytes > 0) {
    while (place >= l->written + RING) pthread_cond_wait(&l->room, &l->lock);
    int64_t left = SEGMENT - place % SEGMENT, n = bytes < left ? bytes : left;
    int64_t *copied = &l->copied[place / SEGMENT % SEGMENTS];
    pthread_mutex_unlock(&l->lock);
    memcpy(l->ring + place % RING, rest, (size_t)n);
    pthread_mutex_lock(&l->lock);
    *copied += n;
    if (*copied == SEGMENT) pthread_cond_signal(&l->filled);
    place += n;
    rest += n;
    bytes -= n;
  }
  int why = l->why;
  pthread_mutex_unlock(&l->lock);
  return why;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

FlLog *fl_log_new(FlPool *pool, int fd) {
  FlLog *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->pool = pool;
  l->fd = fd;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->filled, NULL);
  pthread_cond_init(&l->room, NULL);
  if (fl_pool_take(pool, RING + DISK_PAGE, FL_BLOCK_SWEPT, &l->block)) {
    uintptr_t begin = (uintptr_t)l->block.data, page = DISK_PAGE;
    l->ring = (char *)l->block.data + (page - begin % page) % page;
    if (fl_thread_start(&l->thread, work, l)) return l;
    fl_pool_give(pool, l->block);
  }
  l->ended = true;
  fl_log_free(l);
  return NULL;
}

static int by_at(const void *a, const void *b) {
  const Piece *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

int fl_log_end(FlLog *l) {
  pthread_mutex_lock(&l->lock);
  bool first = !l->over;
  l->over = true;
  pthread_cond_signal(&l->filled);
  while (!first && !l->ended) pthread_cond_wait(&l->room, &l->lock);
  pthread_mutex_unlock(&l->lock);
  if (first) {
    pthread_join(l->thread, NULL);
    fl_pool_give(l->pool, l->block);
    int flags = fcntl(l->fd, F_GETFL);
    if (flags >= 0) (void)fcntl(l->fd, F_SETFL, flags & ~O_DIRECT);
    if (l->n > 0) qsort(l->pieces, (size_t)l->n, sizeof *l->pieces, by_at);
    pthread_mutex_lock(&l->lock);
    l->ended = true;
    pthread_cond_broadcast(&l->room);
    pthread_mutex_unlock(&l->lock);
  }
  return l->why;
}

void fl_log_free(FlLog *l) {
  if (!l) return;
  if (!l->ended) (void)fl_log_end(l);
  pthread_cond_destroy(&l->filled);
  pthread_cond_destroy(&l->room);
  pthread_mutex_destroy(&l->lock);
  free(l->pieces);
  free(l);
}

int64_t fl_log_place(const FlLog *l, int64_t at, int64_t *bytes) {
  int64_t low = 0, high = l->n; /* the pieces before low begin at `at` or before it */
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (l->pieces[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  const Piece *p = low > 0 ? &l->pieces[low - 1] : NULL;
  if (!p || at >= p->at + p->bytes) return -1;
  *bytes = p->at + p->bytes - at;
  return p->place + (at - p->at);
}
