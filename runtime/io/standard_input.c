/* standard_input.c: standard input as a file: what `-` is where a file may stand.
 *
 * In: descriptor 0. Out: descriptor 0 as an ordinary file at its beginning, so that /dev/stdin is a path like
 * any other: it can be mapped, digested for the keys of stages, read twice, and read by libraries. What
 * always holds: what was there to be read is read once; a file that is redirected is taken as it lies. */
#include "io/io_internal.h"
#include "data/spill.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char path[] = "/dev/stdin";

bool fl_io_is_standard_input(const char *text, int64_t len) {
  return (len == 1 && text[0] == '-') || (len == sizeof path - 1 && memcmp(text, path, sizeof path - 1) == 0);
}

FlText fl_io_standard_input_path(void) { return (FlText){path, sizeof path - 1}; }

/* All that is left of descriptor 0 into another. */
static bool copy(int to, FlIoError *e) {
  char room[1 << 16];
  for (;;) {
    ssize_t n = read(STDIN_FILENO, room, sizeof room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fl_io_error(e, FL_E_OPEN, "cannot read standard input: %s", strerror(errno));
    if (n == 0) return true;
    for (ssize_t at = 0, put; at < n; at += put) {
      put = write(to, room + at, (size_t)(n - at));
      if (put < 0 && errno == EINTR) put = 0;
      else if (put < 0)
        return fl_io_error(e, FL_E_MEMORY, "there is no room for a copy of standard input: %s",
                           strerror(errno));
    }
  }
}

static bool take(FlIoError *e) {
  struct stat found;
  if (fstat(STDIN_FILENO, &found) != 0) return fl_io_error(e, FL_E_OPEN, "standard input is closed");
  if (S_ISDIR(found.st_mode)) return fl_io_error(e, FL_E_OPEN, "standard input is a folder, not a file");
  if (S_ISREG(found.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) return true;
  if (S_ISCHR(found.st_mode) && found.st_rdev == makedev(1, 3)) {
    fl_io_error(e, FL_E_OPEN, "nothing comes on standard input");
    fl_io_help(
        e,
        "pipe the data to it, or give a file's path; when the script itself comes on it, nothing else can");
    return false;
  }
  int fd = fl_spill_open();
  if (fd < 0)
    return fl_io_error(e, FL_E_MEMORY,
                       "there is no folder for a copy of standard input; TMPDIR can name one");
  bool ok = copy(fd, e);
  if (ok && (lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0))
    ok = fl_io_error(e, FL_E_OPEN, "cannot keep standard input: %s", strerror(errno));
  close(fd);
  return ok;
}

bool fl_io_standard_input(FlFiles *files, FlIoError *e) {
  fl_files_lock_library(files);
  bool ok = take(e);
  fl_files_unlock_library(files);
  return ok;
}
