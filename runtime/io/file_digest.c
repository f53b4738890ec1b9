/* file_digest.c: what a file is: its content.
 *
 * In: paths. Out: XXH3-128 digests: of the file's size and the digests of its blocks of 1 MiB, in order; of a
 * database with files beside it (file_state.h), of these digests together. What always holds: the state of
 * the file is the same before and after what was digested was read. A digest is asked for twice: before a
 * stage reads the file, for its key, and before its result is stored. Between, every reader says which file
 * it has opened (fl_files_opened). Only when both digests are equal, and every opened file was in the state
 * that was digested, the result was computed from the content that has the digest. */
#include "io/file_state.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { FL_FILE_BLOCK = 1 << 20, FL_MOST_TRIES = 4 };

/* A file whose content is known. */
typedef struct FlSeen {
  uint64_t path; /* digest of the path by which it was asked for */
  FlFileState state;
  FlDigest digest;
  size_t next; /* of those with the same end of `path`, one seen before: its place + 1; 0: none */
  bool broken; /* somebody has opened another file, or this one in another state, by the path */
} FlSeen;

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
  free(f->cleaned);
  free(f->at);
  free(f);
}

static uint64_t name_of(const char *path) { return XXH3_64bits(path, strlen(path)); }

static size_t *chain_of(FlFiles *f, uint64_t path) { return &f->chains[path % FL_FILE_CHAINS]; }

/* What was seen by this path, the last first. `after` NULL: the first; NULL: no more. */
static FlSeen *next_seen(FlFiles *f, uint64_t path, const FlSeen *after) {
  for (size_t k = after ? after->next : *chain_of(f, path); k; k = f->at[k - 1].next)
    if (f->at[k - 1].path == path) return &f->at[k - 1];
  return NULL;
}

static bool recall(FlFiles *f, const char *path, const FlFileState *now, FlDigest *out) {
  bool found = false;
  if (!f) return false;
  pthread_mutex_lock(&f->lock);
  for (const FlSeen *s = NULL; !found && (s = next_seen(f, name_of(path), s));) {
    found = !s->broken && fl_state_same(&s->state, now);
    if (found) *out = s->digest;
  }
  pthread_mutex_unlock(&f->lock);
  return found;
}

/* Forgetting for want of memory only costs time, and what is not remembered is not stored. */
static void remember(FlFiles *f, const char *path, const FlFileState *now, FlDigest digest) {
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
  size_t *chain = chain_of(f, name_of(path));
  if (f->n < f->room) {
    f->at[f->n++] = (FlSeen){name_of(path), *now, digest, *chain, false};
    *chain = f->n;
  }
  pthread_mutex_unlock(&f->lock);
}

void fl_files_opened(FlCtx *ctx, const char *path, const struct stat *found) {
  FlFiles *f = ctx ? fl_ctx_files(ctx) : NULL;
  if (!f) return;
  pthread_mutex_lock(&f->lock);
  for (FlSeen *s = NULL; (s = next_seen(f, name_of(path), s));)
    s->broken |= !fl_stat_same(&s->state.found, found);
  pthread_mutex_unlock(&f->lock);
}

void fl_file_named(FlCtx *ctx, const char *path, int64_t len) {
  struct stat found = {0};
  char *copy = strndup(path, (size_t)len);
  if (!copy) return;
  if (stat(copy, &found) == 0) fl_stat_settle(&found);
  fl_files_opened(ctx, copy, &found);
  free(copy);
}

/* Whether all who opened the path since it was digested had the file in that state. */
static bool is_whole(FlFiles *f, const char *path, const FlFileState *state) {
  bool known = false, whole = false;
  pthread_mutex_lock(&f->lock);
  for (const FlSeen *s = NULL; !known && (s = next_seen(f, name_of(path), s));) {
    known = fl_state_same(&s->state, state);
    whole = known && !s->broken;
  }
  pthread_mutex_unlock(&f->lock);
  return whole;
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

/* Of the file and of what lies beside it. */
static bool digest_all(FlCtx *ctx, const char *path, int fd, const FlFileState *state, FlDigest *out,
                       FlIoError *e) {
  FlDigest each[1 + FL_MOST_BESIDE] = {{0, 0}};
  bool any = false, ok = digest_open(ctx, path, fd, state->found.st_size, &each[0], e);
  for (int k = 0; ok && k < state->n_beside; k++) {
    if (!state->beside[k].st_size) continue;
    char *name = fl_state_beside(path, fd, k);
    int other = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (other < 0) ok = fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
    ok = ok && digest_open(ctx, name, other, state->beside[k].st_size, &each[1 + k], e);
    if (other >= 0) close(other);
    free(name);
    any = true;
  }
  XXH128_hash_t h = {0, 0};
  if (any) h = XXH3_128bits(each, sizeof each);
  *out = any ? (FlDigest){h.low64, h.high64} : each[0];
  return ok;
}

/* A pipe is opened by who reads it: opening waits for somebody who writes, and closing ends that one. */
static bool is_pipe(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISFIFO(found.st_mode);
}

static bool no_identity(const char *path, FlIoError *e) {
  fl_io_error(e, FL_E_OPEN, "`%s` is not an ordinary file: what it holds has no identity", path);
  fl_io_help(e, "read it at the top level of the script and hand over what was read, or copy it to a file");
  return false;
}

/* One try. `again`: before storing; what was remembered of a young file does not count then. */
static bool digest_once(FlCtx *ctx, const char *path, bool again, FlDigest *out, FlIoError *e) {
  FlFileState before, after;
  FlFiles *files = ctx ? fl_ctx_files(ctx) : NULL;
  if (is_pipe(path)) return no_identity(path, e);
  int fd = fl_input_fd(path, &before.found, e);
  if (fd < 0) return false;
  fl_state_take(path, fd, &before);
  bool ok = true;
  if (fl_stream_is(fd, &before.found)) {
    ok = no_identity(path, e);
  } else if ((again && before.young) || !recall(files, path, &before, out)) {
    ok = digest_all(ctx, path, fd, &before, out, e);
    if (ok) fl_state_take(path, fd, &after);
    if (ok && !fl_state_same(&before, &after))
      ok = fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
    if (ok && !again) remember(files, path, &before, *out);
  }
  close(fd);
  return ok && (!again || (files && is_whole(files, path, &before)));
}

static bool digest(FlCtx *ctx, const char *path, FlDigest *out, FlIoError *e) {
  bool ok = false;
  for (int k = 0; !ok && k < FL_MOST_TRIES && (!k || e->code == FL_E_CHANGED); k++)
    ok = digest_once(ctx, path, false, out, e);
  return ok;
}

FlStatus fl_file_digest(FlCtx *ctx, int32_t site, FlText path, FlDigest *out) {
  FlIoError e = {0};
  char *copy = fl_input_path(path, &e);
  bool ok = copy && digest(ctx, copy, out, &e);
  free(copy);
  return ok ? 0 : fl_io_fail(ctx, site, &e, path.ptr, path.len);
}

bool fl_file_digest_again(FlCtx *ctx, FlText path, FlDigest *out) {
  FlIoError e = {0};
  char *copy = fl_input_path(path, &e);
  bool ok = copy && digest_once(ctx, copy, true, out, &e);
  free(copy);
  return ok;
}

static bool opens(const char *path, FlIoError *e) {
  struct stat found;
  int fd = fl_input_fd(path, &found, e);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

FlStatus fl_rt_file_of(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlIoError e = {0};
  FlText path = args[0].t;
  results[0].t = path;
  if (desc->i == 1) return 0; /* it is opened quietly (table_parts.c), and said to be wrong by another */
  if (fl_io_is_standard_input(path.ptr, path.len)) {
    if (!fl_io_standard_input(ctx, &e)) return fl_io_fail(ctx, desc->site, &e, path.ptr, path.len);
    path = fl_io_standard_input_path();
  }
  char *copy = fl_input_path(path, &e);
  bool ok = copy && (is_pipe(copy) || opens(copy, &e));
  free(copy);
  results[0].t = path;
  return ok ? 0 : fl_io_fail(ctx, desc->site, &e, path.ptr, path.len);
}
