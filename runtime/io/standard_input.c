/* standard_input.c: standard input as a file: what `-` is where a file may stand.
 *
 * In: descriptor 0. Out: descriptor 0 as an ordinary file at its beginning, so that /dev/stdin is a path like
 * any other: it can be mapped, digested for the keys of stages, read twice, and read by libraries. What
 * always holds: what was there to be read is read once; a file that is redirected is taken as it lies. */
#include "io/io_internal.h"
#include "exec/exec.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char path[] = "/dev/stdin";

bool fl_io_is_standard_input(const char *text, int64_t len) {
  return (len == 1 && text[0] == '-') || (len == sizeof path - 1 && memcmp(text, path, sizeof path - 1) == 0);
}

bool fl_io_comes_once(const char *text) {
  struct stat found;
  if (fl_io_is_standard_input(text, (int64_t)strlen(text))) return true;
  return stat(text, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

FlText fl_io_standard_input_path(void) { return (FlText){path, sizeof path - 1}; }

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
  int fd = fl_stream_copy(NULL, STDIN_FILENO, &found, "standard input", e);
  if (fd < 0) return false;
  bool ok = true;
  if (lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
    ok = fl_io_error(e, FL_E_OPEN, "cannot keep standard input: %s", strerror(errno));
  close(fd);
  return ok;
}

bool fl_io_standard_input(FlCtx *ctx, FlIoError *e) {
  FlFiles *files = fl_ctx_files(ctx);
  bool reads = fl_ctx_reads_input(ctx);
  int copy;
  fl_files_lock_library(files);
  bool ok = reads && take(e);
  fl_files_unlock_library(files);
  bool passed = fl_ctx_pass_input(ctx, ok, &copy);
  if (passed && copy >= 0) passed = dup2(copy, STDIN_FILENO) >= 0;
  if (copy >= 0) close(copy);
  if (passed) return true;
  return e->message[0] ? false : fl_io_error(e, FL_E_OPEN, "standard input does not come to all ranks");
}
