/* scratch.c: see scratch.h. What always holds: the room on disk is taken before anything is written.
 *
 * In a control group, which counts pages of files, bytes go to the file in the order in which they come, past
 * the page cache (log.h); what is read is asked for before anybody waits for it, and what follows it, too. */
#include "data/scratch.h"
#include "data/data_internal.h"
#include "data/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct FlScratch {
  FlPool *pool;
  int fd;
  FlLog *log;      /* NULL: bytes stand in the file where they are written */
  _Atomic int why; /* errno of a call that failed; 0: none did */
};

/* A file that ends too early, or takes nothing, is a disk that fails as well. */
static bool failed(FlScratch *s, ssize_t n) {
  atomic_store_explicit(&s->why, n < 0 ? errno : EIO, memory_order_relaxed);
  return false;
}

FlScratch *fl_scratch_new(FlCtx *ctx, int64_t bytes) {
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  FlScratch *s = malloc(sizeof *s);
  if (!s) return fl_data_no_memory(ctx, (int64_t)sizeof *s);
  *s = (FlScratch){.pool = pool};
  bool direct;
  if (!fl_pool_file(pool, (size_t)bytes, &s->fd, &direct)) {
    free(s);
    return fl_data_no_memory(ctx, bytes);
  }
  if (!direct || (s->log = fl_log_new(pool, s->fd))) return s;
  fl_scratch_free(s);
  return fl_data_no_memory(ctx, bytes);
}

void fl_scratch_free(FlScratch *s) {
  if (!s) return;
  fl_log_free(s->log);
  close(s->fd);
  free(s);
}

bool fl_scratch_write(FlScratch *s, const void *from, int64_t bytes, int64_t at) {
  int why = s->log ? fl_log_write(s->log, from, bytes, at) : 0;
  if (why) atomic_store_explicit(&s->why, why, memory_order_relaxed);
  if (s->log) return why == 0;
  for (const char *p = from; bytes > 0;) {
    ssize_t n = pwrite(s->fd, p, (size_t)bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(s, n);
    p += n;
    at += n;
    bytes -= n;
  }
  return true;
}

static bool read_at(FlScratch *s, char *to, int64_t bytes, int64_t place) {
  while (bytes > 0) {
    ssize_t n = pread(s->fd, to, (size_t)bytes, place);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(s, n);
    to += n;
    place += n;
    bytes -= n;
  }
  return true;
}

/* Everything that was written is in the file. */
static bool is_written(FlScratch *s) {
  int why = fl_log_end(s->log);
  if (why) atomic_store_explicit(&s->why, why, memory_order_relaxed);
  return why == 0;
}

void fl_scratch_soon(FlScratch *s, int64_t bytes, int64_t at) {
  enum { AHEAD = 128 * 1024 }; /* what a system surely reads at one request */
  if (!s->log || !is_written(s)) return;
  for (int64_t n, place; bytes > 0 && (place = fl_log_place(s->log, at, &n)) >= 0; at += n, bytes -= n) {
    if (n > bytes) n = bytes;
    for (int64_t k = 0; k < n; k += AHEAD)
      (void)posix_fadvise(s->fd, place + k, n - k < AHEAD ? n - k : AHEAD, POSIX_FADV_WILLNEED);
  }
}

bool fl_scratch_read(FlScratch *s, void *to, int64_t bytes, int64_t at) {
  fl_scratch_soon(s, 2 * bytes, at);
  return fl_scratch_fetch(s, to, bytes, at);
}

bool fl_scratch_fetch(FlScratch *s, void *to, int64_t bytes, int64_t at) {
  if (!s->log) return read_at(s, to, bytes, at);
  if (!is_written(s)) return false;
  for (char *p = to; bytes > 0;) {
    int64_t n, place = fl_log_place(s->log, at, &n);
    if (place < 0) return failed(s, 0);
    if (n > bytes) n = bytes;
    if (!read_at(s, p, n, place)) return false;
    p += n;
    at += n;
    bytes -= n;
  }
  return true;
}

int fl_scratch_why(const FlScratch *s, char *folder, size_t room) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", s->fd);
  ssize_t n = room > 0 ? readlink(link, folder, room - 1) : 0;
  if (room > 0) folder[n > 0 ? n : 0] = 0;
  char *end = room > 0 ? strrchr(folder, '/') : NULL;
  if (end) *end = 0;
  return atomic_load_explicit(&s->why, memory_order_relaxed);
}
