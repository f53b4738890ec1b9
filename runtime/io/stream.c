/* stream.c: what comes once: pipes, devices, files of the system whose size nobody knows before.
 *
 * In: an open descriptor. Out: the bytes in a file without a name, which can be mapped, looked at in any
 * order and twice, and does not count as memory. What always holds: nothing is copied without bound. A pipe
 * may bring more than memory holds, so its bound is the room on disk; who reads a device or a file of the
 * system means little of it, so there the bound is small, and what has no end is told soon. */
#include "data/spill.h"
#include "exec/exec.h"
#include "io/io_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FL_MOST_OF_DEVICE = 64 << 20, FL_COPY_BLOCK = 1 << 16, FL_LOOK_AFTER = 64 << 20 };

bool fl_stream_is(int fd, const struct stat *found) {
  char byte;
  return !S_ISREG(found->st_mode) || (found->st_size == 0 && pread(fd, &byte, 1, 0) == 1);
}

static bool no_room(const char *label, const char *why, FlIoError *e) {
  fl_io_error(e, FL_E_MEMORY, "there is no room for a copy of %s: %s", label, why);
  fl_io_help(e, "does it ever end? else name a folder on a larger disk: TMPDIR=FOLDER before the command");
  return false;
}

static bool put(int to, const char *bytes, ssize_t n, const char *label, FlIoError *e) {
  for (ssize_t at = 0, done; at < n; at += done) {
    done = write(to, bytes + at, (size_t)(n - at));
    if (done < 0 && errno == EINTR) done = 0;
    else if (done < 0) return no_room(label, strerror(errno), e);
  }
  return true;
}

static bool copy(FlCtx *ctx, int fd, int to, bool pipe, const char *label, FlIoError *e) {
  char block[FL_COPY_BLOCK];
  for (int64_t all = 0, look = 0;;) {
    if (ctx && fl_ctx_is_stopped(ctx)) return fl_io_error(e, FL_E_STOPPED, "interrupted");
    ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fl_io_error(e, FL_E_OPEN, "cannot read %s: %s", label, strerror(errno));
    if (n == 0) return true;
    if (!put(to, block, n, label, e)) return false;
    all += n;
    if (!pipe && all > FL_MOST_OF_DEVICE) {
      fl_io_error(e, FL_E_OPEN,
                  "%s is a device or a file of the system, and gave more than 64 MB without an end", label);
      fl_io_help(e, "put what is meant of it in a file: head -c 1000000 DEVICE > FILE");
      return false;
    }
    if (all < look) continue;
    if (fl_spill_room(to) < FL_LOOK_AFTER) return no_room(label, "the disk is nearly full", e);
    look = all + FL_LOOK_AFTER;
  }
}

int fl_stream_copy(FlCtx *ctx, int fd, const struct stat *found, const char *label, FlIoError *e) {
  if (!fl_ctx_is_alone(ctx) && !S_ISREG(found->st_mode)) {
    fl_io_error(e, FL_E_OPEN, "%s comes once, and there are several ranks to read it", label);
    fl_io_help(e, "let it come on standard input, which `-` stands for, or put it in a file");
    return -1;
  }
  int to = fl_spill_open();
  if (to < 0) {
    fl_io_error(e, FL_E_MEMORY, "there is no folder for a copy of %s; TMPDIR can name one", label);
    return -1;
  }
  if (copy(ctx, fd, to, S_ISFIFO(found->st_mode) || S_ISSOCK(found->st_mode), label, e)) return to;
  close(to);
  return -1;
}
