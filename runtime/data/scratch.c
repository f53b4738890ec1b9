/* scratch.c: see scratch.h. What always holds: the room on disk is taken before anything is written; in a
 * control group the file is written behind those who fill it, as blocks in files are. */
#include "data/scratch.h"
#include "data/data_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct FlScratch {
  FlPool *pool;
  int fd;
  FlWritten *written;
};

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
    if (n <= 0) return false;
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
    if (n <= 0) return false;
    p += n;
    at += n;
    bytes -= n;
  }
  return true;
}
