/* input.c: the bytes of a file, read or mapped.
 *
 * In: a path. Out: the bytes with zeros behind them, so that readers may load whole words at the end.
 * What always holds: small files are read, so that nobody can change them under us; large ones are mapped
 * privately over an anonymous mapping that is one page longer; of what is no ordinary file there is a copy
 * (stream.c). */
#include "io/file_state.h"
#include "base/spell.h"
#include "data/data.h"
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FL_READ_MAX = 4 << 20, FL_INPUT_PAD = 64 };

bool fl_input_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

char *fl_input_path(FlText path, FlIoError *e) {
  if (path.len && memchr(path.ptr, 0, (size_t)path.len)) {
    fl_io_error(e, FL_E_OPEN, "a path cannot hold a NUL byte");
    return NULL;
  }
  char *copy = malloc((size_t)path.len + 1);
  if (!copy) {
    fl_io_error(e, FL_E_MEMORY, "out of memory");
    return NULL;
  }
  if (path.len) memcpy(copy, path.ptr, (size_t)path.len);
  copy[path.len] = 0;
  return copy;
}

/* The name in the path's folder that is closest to the path's own, as a suggestion. */
static void suggest(const char *path, FlIoError *e) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char folder[512], best[256] = "";
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (struct dirent *d; (d = readdir(dir));) {
    if (d->d_name[0] == '.') continue;
    bool first = strcmp(d->d_name, best) < 0; /* at ties the first by name, not by place in the folder */
    const char *pair[2] = {first ? d->d_name : best, first ? best : d->d_name};
    if (fl_spell_closest(name, strlen(name), pair, 2) == !first) snprintf(best, sizeof best, "%s", d->d_name);
  }
  closedir(dir);
  if (best[0]) fl_io_help(e, "did you mean `%.*s%s`?", slash ? (int)(slash - path + 1) : 0, path, best);
}

static bool cannot_open(const char *path, FlIoError *e) {
  int why = errno;
  fl_io_error(e, why == ENOMEM ? FL_E_MEMORY : FL_E_OPEN, "cannot open `%s`: %s", path,
              why == ENOENT ? "there is no such file" : strerror(why));
  if (why == ENOENT) suggest(path, e);
  if (why == ENOENT && !e->help[0] && path[0] != '/')
    fl_io_help(e, "paths are relative to the folder where the program is started");
  return false;
}

int fl_input_fd(const char *path, struct stat *found, FlIoError *e) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, found) != 0) {
    cannot_open(path, e);
  } else if (S_ISDIR(found->st_mode)) {
    fl_io_error(e, FL_E_OPEN, "`%s` is a folder, not a file", path);
  } else {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

int fl_input_file(FlCtx *ctx, const char *path, struct stat *found, FlIoError *e) {
  int fd = fl_input_fd(path, found, e), copy = -1;
  if (fd < 0 || !fl_stream_is(fd, found)) return fd;
  FlBytes label = {0};
  fl_bytes_addf(&label, "`%s`", path);
  fl_bytes_add(&label, "", 1);
  if (label.failed) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  else copy = fl_stream_copy(ctx, fd, found, label.at, e);
  fl_bytes_reset(&label);
  close(fd);
  if (copy >= 0 && fstat(copy, found) == 0) return copy;
  if (copy >= 0) {
    cannot_open(path, e);
    close(copy);
  }
  return -1;
}

int fl_input_ordinary(const char *path, struct stat *found, FlIoError *e) {
  int fd = fl_input_fd(path, found, e);
  if (fd < 0 || S_ISREG(found->st_mode)) return fd;
  close(fd);
  fl_io_error(e, FL_E_OPEN, "`%s` is no ordinary file, and files of this format are read in any order", path);
  fl_io_help(e, "copy what comes from it to a file, and read that");
  return -1;
}

static bool read_whole(FlCtx *ctx, const char *path, FlInput *in, FlIoError *e) {
  in->buffer = fl_buffer_new(ctx, in->size + FL_INPUT_PAD);
  if (!in->buffer) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  in->data = in->buffer->data;
  int64_t at = 0;
  while (at < in->size) {
    ssize_t n = pread(in->fd, in->data + at, (size_t)(in->size - at), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fl_io_error(e, errno == ENOMEM ? FL_E_MEMORY : FL_E_OPEN, "cannot read `%s`: %s", path,
                         strerror(errno));
    if (n == 0) return fl_io_error(e, FL_E_CHANGED, "`%s` became shorter while it was being read", path);
    at += n;
  }
  memset(in->data + in->size, 0, FL_INPUT_PAD);
  return true;
}

static bool map_whole(FlCtx *ctx, const char *path, FlInput *in, FlIoError *e) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = ((size_t)in->size + page - 1) / page * page;
  char *base = mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return fl_io_error(e, FL_E_MEMORY, "out of memory while mapping `%s`", path);
  if (mmap(base, (size_t)in->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, in->fd, 0) ==
      MAP_FAILED) {
    munmap(base, pages + page);
    return fl_io_error(e, errno == ENOMEM ? FL_E_MEMORY : FL_E_OPEN, "cannot map `%s`: %s", path,
                       strerror(errno));
  }
  /* The file's last page is made ours and stays: a reader may end the text with a byte of its own, and one
   * that has seen how the text ends may rely on it whatever another program writes. */
  volatile char *last = base + in->size - 1;
  *last = *last;
  in->buffer = fl_buffer_of_map(ctx, base, (int64_t)(pages + page), (int64_t)(pages - page));
  if (!in->buffer) {
    munmap(base, pages + page);
    return fl_io_error(e, FL_E_MEMORY, "out of memory while mapping `%s`", path);
  }
  in->data = base;
  fl_file_watch(ctx, in, path);
  return true;
}

static bool copy_whole(FlCtx *ctx, const char *bytes, size_t n, const char *path, FlInput *in, FlIoError *e) {
  in->size = (int64_t)n;
  in->buffer = fl_buffer_new(ctx, in->size + FL_INPUT_PAD);
  if (!in->buffer) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  in->data = in->buffer->data;
  if (n) memcpy(in->data, bytes, n);
  memset(in->data + n, 0, FL_INPUT_PAD);
  return true;
}

bool fl_input_of_bytes(FlCtx *ctx, const char *bytes, size_t n, const char *label, FlInput *in,
                       FlIoError *e) {
  memset(in, 0, sizeof *in);
  in->fd = -1;
  return copy_whole(ctx, bytes, n, label, in, e);
}

bool fl_input_open(FlCtx *ctx, const char *path, FlInput *in, FlIoError *e) {
  memset(in, 0, sizeof *in);
  in->fd = fl_input_file(ctx, path, &in->found, e);
  if (in->fd < 0) return false;
  fl_stat_settle(&in->found);
  fl_files_opened(ctx, path, &in->found);
  in->size = in->found.st_size;
  bool ok = in->size <= FL_READ_MAX ? read_whole(ctx, path, in, e) : map_whole(ctx, path, in, e);
  if (!ok) fl_input_close(in);
  return ok;
}

bool fl_input_check(const FlInput *in, const char *path, FlIoError *e) {
  struct stat now;
  if (in->fd < 0 || (fstat(in->fd, &now) == 0 && fl_input_same(&in->found, &now))) return true;
  return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
}

void fl_input_close(FlInput *in) {
  if (in->fd >= 0) close(in->fd);
  fl_buffer_unref(in->buffer);
  in->fd = -1;
  in->buffer = NULL;
}

FlStatus fl_io_read_file(FlCtx *ctx, const FlOpDesc *desc, FlText from, FlTakeFn *take, FlSlot *results) {
  FlIoError e = {0};
  char *path = fl_input_path(from, &e);
  FlStatus status = path ? fl_ctx_claim_input(ctx, desc->site, from.ptr, from.len) : 0;
  bool ok = path && !status && take(ctx, desc, path, results, &e);
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, from.ptr, from.len);
  free(path);
  return status;
}
