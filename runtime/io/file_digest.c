/* file_digest.c: what a file is: its content.
 *
 * In: paths. Out: XXH3-128 digests: of the file's size and the digests of its blocks of 1 MiB, in order.
 * What always holds: a digest is remembered under device, inode, size and time, taken before and compared
 * after reading, so that a file that changes is digested again or reported. */
#include "io/io_internal.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { FL_FILE_BLOCK = 1 << 20 };

FlFiles *fl_files_new(void) {
  FlFiles *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  pthread_mutex_init(&f->lock, NULL);
  pthread_mutex_init(&f->library, NULL);
  return f;
}

void fl_files_lock_library(FlFiles *f) {
  if (f) pthread_mutex_lock(&f->library);
}

void fl_files_unlock_library(FlFiles *f) {
  if (f) pthread_mutex_unlock(&f->library);
}

void fl_files_free(FlFiles *f) {
  if (!f) return;
  fl_file_watch_end(f);
  pthread_mutex_destroy(&f->lock);
  pthread_mutex_destroy(&f->library);
  free(f->at);
  free(f);
}

static bool recall(FlFiles *f, const struct stat *now, FlDigest *out) {
  bool found = false;
  if (!f) return false;
  pthread_mutex_lock(&f->lock);
  for (size_t k = 0; !found && k < f->n; k++) {
    found = fl_input_same(&f->at[k].found, now);
    if (found) *out = f->at[k].digest;
  }
  pthread_mutex_unlock(&f->lock);
  return found;
}

/* Forgetting for want of memory only costs time. */
static void remember(FlFiles *f, const struct stat *now, FlDigest digest) {
  if (!f) return;
  pthread_mutex_lock(&f->lock);
  if (f->n == f->room) {
    size_t room = f->room ? f->room * 2 : 8;
    FlSeen *grown = realloc(f->at, room * sizeof *grown);
    if (grown) {
      f->at = grown;
      f->room = room;
    }
  }
  if (f->n < f->room) f->at[f->n++] = (FlSeen){*now, digest};
  pthread_mutex_unlock(&f->lock);
}

typedef struct FlDigesting {
  int fd;
  int64_t size;
  XXH128_hash_t *blocks;
  char **room;         /* one a worker, FL_FILE_BLOCK bytes */
  _Atomic int failure; /* errno; -1: the file became shorter; 0: none */
} FlDigesting;

static int read_block(int fd, char *to, int64_t at, int64_t n) {
  while (n) {
    ssize_t got = pread(fd, to, (size_t)n, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : -1;
    to += got;
    at += got;
    n -= got;
  }
  return 0;
}

static void digest_blocks(void *env, int64_t begin, int64_t end, int worker) {
  FlDigesting *d = env;
  char **room = &d->room[worker < 0 ? 0 : worker];
  if (!*room) *room = malloc(FL_FILE_BLOCK);
  for (int64_t k = begin; k < end; k++) {
    int64_t at = k * FL_FILE_BLOCK, n = d->size - at < FL_FILE_BLOCK ? d->size - at : FL_FILE_BLOCK;
    int why = *room ? read_block(d->fd, *room, at, n) : ENOMEM;
    if (why) {
      atomic_store_explicit(&d->failure, why, memory_order_relaxed); /* read after the loop has joined */
    } else {
      d->blocks[k] = XXH3_128bits(*room, (size_t)n);
    }
  }
}

static bool digest_open(FlCtx *ctx, const char *path, int fd, int64_t size, FlDigest *out, FlIoError *e) {
  int64_t n = (size + FL_FILE_BLOCK - 1) / FL_FILE_BLOCK;
  int workers = fl_ctx_workers(ctx);
  FlDigesting d = {fd, size, malloc((size_t)(n + 1) * sizeof *d.blocks),
                   calloc((size_t)workers, sizeof(char *)), 0};
  bool ok = d.blocks && d.room;
  if (ok) {
    fl_parallel_for(ctx, n, 1, digest_blocks, &d);
    d.blocks[n] = (XXH128_hash_t){.low64 = (uint64_t)size, .high64 = 0};
    XXH128_hash_t h = XXH3_128bits(d.blocks, (size_t)(n + 1) * sizeof *d.blocks);
    *out = (FlDigest){h.low64, h.high64};
    for (int k = 0; k < workers; k++) free(d.room[k]);
  } else {
    d.failure = ENOMEM;
  }
  free(d.blocks);
  free(d.room);
  if (d.failure == -1) return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
  if (d.failure == ENOMEM) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  if (d.failure) return fl_io_error(e, FL_E_OPEN, "cannot read `%s`: %s", path, strerror(d.failure));
  return true;
}

static bool digest(FlCtx *ctx, const char *path, FlDigest *out, FlIoError *e) {
  struct stat before, after;
  FlFiles *files = ctx ? fl_ctx_files(ctx) : NULL;
  int fd = fl_input_fd(path, &before, e);
  if (fd < 0) return false;
  bool ok = true;
  if (!S_ISREG(before.st_mode)) {
    ok = fl_io_error(e, FL_E_OPEN, "`%s` is not an ordinary file: what it holds has no identity", path);
  } else if (!recall(files, &before, out)) {
    ok = digest_open(ctx, path, fd, before.st_size, out, e);
    if (ok && (fstat(fd, &after) != 0 || !fl_input_same(&before, &after)))
      ok = fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
    if (ok) remember(files, &before, *out);
  }
  close(fd);
  return ok;
}

FlStatus fl_file_digest(FlCtx *ctx, int32_t site, FlText path, FlDigest *out) {
  FlIoError e;
  char *copy = fl_input_path(path, &e);
  bool ok = copy && digest(ctx, copy, out, &e);
  free(copy);
  return ok ? 0 : fl_io_fail(ctx, site, &e, path.ptr, path.len);
}

FlStatus fl_rt_file_of(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlIoError e;
  FlText path = args[0].t;
  char *copy = fl_input_path(path, &e);
  struct stat found;
  int fd = copy ? fl_input_fd(copy, &found, &e) : -1;
  free(copy);
  if (fd < 0) return fl_io_fail(ctx, desc->site, &e, path.ptr, path.len);
  close(fd);
  results[0].t = path;
  return 0;
}
