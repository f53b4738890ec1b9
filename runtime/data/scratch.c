/* scratch.c: see scratch.h. What always holds: the room on disk is taken before anything is written; in a
 * control group the file is written behind those who fill it, as blocks in files are. */
#include "data/scratch.h"
#include "data/data_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct FlScratch {
  FlPool *pool;
  int fd;
  FlWritten *written;
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
  if (fl_pool_file(pool, (size_t)bytes, &s->fd, &s->written)) return s;
  free(s);
  return fl_data_no_memory(ctx, bytes);
}

void fl_scratch_free(FlScratch *s) {
  if (!s) return;
  fl_pool_forget_file(s->pool, s->written);
  close(s->fd);
  free(s);
}

bool fl_scratch_write(FlScratch *s, const void *from, int64_t bytes, int64_t at) {
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

bool fl_scratch_read(FlScratch *s, void *to, int64_t bytes, int64_t at) {
  for (char *p = to; bytes > 0;) {
    ssize_t n = pread(s->fd, p, (size_t)bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(s, n);
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
