/* output.c: a file that appears whole or not at all.
 *
 * What always holds: until the rename only `<path>.<process>.tmp` exists, in the same folder; a failure
 * removes it. */
#include "io/io_internal.h"

#include <errno.h>
#include <fcntl.h>
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

bool fl_output_open(const char *path, FlOutput *out, FlIoError *e) {
  out->fd = -1;
  out->memory = NULL;
  out->path = strdup(path);
  out->temporary = NULL;
  if (!out->path || asprintf(&out->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
    free(out->path);
    return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", path);
  }
  struct stat there;
  bool ok = true;
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
    ok = fl_io_error(e, FL_E_WRITE, "cannot write `%s`: it is a folder", path);
  } else if (!make_parents(out->path)) {
    ok = cannot(e, path);
  } else {
    out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0) ok = cannot(e, path);
  }
  if (!ok) {
    free(out->path);
    free(out->temporary);
  }
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

static void forget(FlOutput *out) {
  free(out->path);
  free(out->temporary);
  out->path = out->temporary = NULL;
}

void fl_output_abandon(FlOutput *out) {
  close(out->fd);
  unlink(out->temporary);
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
  if (fsync(out->fd) != 0 && errno != EINVAL) ok = cannot(e, out->path);
  if (close(out->fd) != 0 && ok) ok = cannot(e, out->path);
  if (ok && rename(out->temporary, out->path) != 0) ok = cannot(e, out->path);
  if (ok) {
    sync_folder(out->path);
  } else {
    unlink(out->temporary);
  }
  forget(out);
  return ok;
}
