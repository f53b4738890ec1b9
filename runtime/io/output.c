/* output.c: a file that appears whole or not at all.
 *
 * In: paths as a script gives them. A symbolic link is followed: what it points to is replaced, and it stays.
 * What cannot be replaced, a device or a pipe, is written into as it stands, and so are `/dev/stdout` and the
 * other names of open descriptors, behind what has been printed. What always holds: until the rename only
 * `<file>.<process>.tmp` exists, in the same folder; a failure removes it. */
#include "exec/exec.h"
#include "io/io_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool cannot(FlIoError *e, const char *path) {
  bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return fl_io_error(e, full ? FL_E_RESOURCE : FL_E_WRITE, "cannot write `%s`: %s", path, strerror(errno));
}

/* Makes the folders above the file, as far as they are missing. */
static bool make_parents(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    int bad = mkdir(path, 0777) != 0 && errno != EEXIST;
    *at = '/';
    if (bad) return false;
  }
  return true;
}

/* N of a path that names descriptor N of this process; -1: it does not. */
static int descriptor_of(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    size_t len = strlen(folders[k]);
    if (strncmp(path, folders[k], len) != 0 || path[len] < '0' || path[len] > '9') continue;
    char *end;
    long n = strtol(path + len, &end, 10);
    if (*end == 0 && n <= INT_MAX) return (int)n;
  }
  return -1;
}

/* What a path names once the links at its end are followed, there or not; the caller frees it. Stops at the
 * name of a descriptor: the link behind that is no path. NULL, and errno: a circle, or no memory. */
static char *follow_links(const char *path) {
  enum { MOST = 40 }; /* as the kernel */
  char *at = strdup(path);
  for (int hops = 0; at && hops < MOST; hops++) {
    char to[PATH_MAX];
    ssize_t len = descriptor_of(at) >= 0 ? -1 : readlink(at, to, sizeof to);
    if (len < 0) return at;
    const char *slash = strrchr(at, '/');
    int folder = to[0] == '/' || !slash ? 0 : (int)(slash + 1 - at);
    char *next = NULL;
    if (asprintf(&next, "%.*s%.*s", folder, at, (int)len, to) < 0) next = NULL;
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}

static void forget(FlOutput *out) {
  free(out->path);
  free(out->target);
  free(out->temporary);
  out->path = out->target = out->temporary = NULL;
}

/* A descriptor to write to, under a temporary name where there is a file to make or to replace; -1, and
 * errno. */
static int open_place(FlOutput *out, bool replaceable) {
  int same = descriptor_of(out->target);
  if (same >= 0 || !replaceable) {
    fflush(stdout); /* what was printed before stands before it */
    return same >= 0 ? fcntl(same, F_DUPFD_CLOEXEC, 0) : open(out->path, O_WRONLY | O_CLOEXEC);
  }
  if (asprintf(&out->temporary, "%s.%ld.tmp", out->target, (long)getpid()) < 0) {
    out->temporary = NULL;
    return -1;
  }
  return open(out->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

bool fl_output_open(const char *path, FlOutput *out, FlIoError *e) {
  *out = (FlOutput){.fd = -1, .path = strdup(path)};
  if (!out->path) return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", path);
  struct stat there;
  bool exists = stat(path, &there) == 0, ok = true;
  if (exists && S_ISDIR(there.st_mode)) {
    ok = fl_io_error(e, FL_E_WRITE, "cannot write `%s`: it is a folder", path);
  } else if (!make_parents(out->path) || !(out->target = follow_links(path))) {
    ok = cannot(e, path);
  } else {
    out->fd = open_place(out, !exists || S_ISREG(there.st_mode));
    if (out->fd < 0) ok = cannot(e, path);
  }
  if (!ok) forget(out);
  return ok;
}

bool fl_output_write(FlOutput *out, const void *bytes, size_t n, FlIoError *e) {
  const char *at = bytes;
  if (out->memory) {
    fl_bytes_add(out->memory, bytes, n);
    return !out->memory->failed || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  }
  while (n) {
    ssize_t done = write(out->fd, at, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return cannot(e, out->path);
    at += done;
    n -= (size_t)done;
  }
  return true;
}

void fl_output_abandon(FlOutput *out) {
  close(out->fd);
  if (out->temporary) unlink(out->temporary);
  forget(out);
}

/* The rename itself is on disk once the folder is. */
static void sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  free(folder);
}

bool fl_output_commit(FlOutput *out, FlIoError *e) {
  bool ok = true;
  if (fsync(out->fd) != 0 && errno != EINVAL && errno != EROFS)
    ok = cannot(e, out->path); /* not of a device */
  if (close(out->fd) != 0 && ok) ok = cannot(e, out->path);
  if (out->temporary) {
    if (ok && rename(out->temporary, out->target) != 0) ok = cannot(e, out->path);
    if (ok) sync_folder(out->target);
    else unlink(out->temporary);
  }
  forget(out);
  return ok;
}

FlStatus fl_io_write_file(FlCtx *ctx, const FlOpDesc *desc, FlText to, FlPutFn *put, void *what) {
  FlIoError e = {0};
  FlOutput out;
  char *path = fl_input_path(to, &e);
  FlStatus status = path ? fl_ctx_claim_output(ctx, desc->site, to.ptr, to.len) : 0;
  bool ok = path && !status && fl_output_open(path, &out, &e);
  if (ok && !(put(ctx, &out, what, &e) && fl_files_stay(ctx, &e))) {
    fl_output_abandon(&out);
    ok = false;
  } else if (ok) {
    ok = fl_output_commit(&out, &e);
  }
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, to.ptr, to.len);
  free(path);
  return status;
}
