/* spill.c: see spill.h. What always holds: the file has no name once this returns, so nothing is left behind
 * by a process that is killed; its room on disk is taken before the first page is touched. */
#include "data/spill.h"
#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

/* f_type of file systems that live in memory (statfs(2)). */
enum { IN_TMPFS = 0x01021994 };
static const unsigned long IN_RAMFS = 0x858458f6;

static bool in_memory(const struct statfs *fs) {
  return fs->f_type == IN_TMPFS || (unsigned long)fs->f_type == IN_RAMFS;
}

/* What the disk has room for, with a twentieth of what is free left to others. To find out by trying would
 * fill the disk for a moment, and others would see it full. */
static size_t room_of(const struct statfs *fs) {
  unsigned __int128 free = (unsigned __int128)fs->f_bavail * (unsigned __int128)fs->f_bsize / 20 * 19;
  return free > INT64_MAX ? INT64_MAX : (size_t)free;
}

/* An open file without a name; -1: none here. */
static int nameless(const char *folder) {
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  char path[4200];
  if (snprintf(path, sizeof path, "%s/flow-memory-XXXXXX", folder) >= (int)sizeof path) return -1;
  fd = mkostemp(path, O_CLOEXEC); /* a file system without O_TMPFILE */
  if (fd >= 0) unlink(path);
  return fd;
}

static FlSpillStatus file_in(const char *folder, size_t bytes, int *out) {
  struct statfs fs;
  if (!folder || !*folder || statfs(folder, &fs) != 0 || in_memory(&fs)) return FL_SPILL_NO_FOLDER;
  if (access(folder, W_OK) != 0) return FL_SPILL_NO_FOLDER;
  if (bytes > room_of(&fs)) return FL_SPILL_NO_ROOM;
  int fd = nameless(folder);
  if (fd < 0) return FL_SPILL_NO_FOLDER;
  int no_room = posix_fallocate(fd, 0, (off_t)bytes);
  while (no_room == EINTR) no_room = posix_fallocate(fd, 0, (off_t)bytes);
  if (no_room) close(fd);
  else *out = fd;
  return no_room ? FL_SPILL_NO_ROOM : FL_SPILL_OK;
}

FlSpillStatus fl_spill_file(const char *folder, size_t bytes, int *fd) {
  const char *const folders[] = {folder, getenv("TMPDIR"), "/var/tmp", "/tmp"};
  FlSpillStatus worst = FL_SPILL_NO_FOLDER;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    FlSpillStatus s = file_in(folders[k], bytes, fd);
    if (s == FL_SPILL_OK) return s;
    if (s != FL_SPILL_NO_FOLDER) worst = s;
  }
  return worst;
}

/* Whether a file may be kept open: the process has a number of them, and most are for others. */
static bool may_stay(int fd) {
  struct rlimit files;
  return getrlimit(RLIMIT_NOFILE, &files) == 0 && (rlim_t)fd < files.rlim_cur / 2;
}

FlSpillStatus fl_spill_map(const char *folder, size_t bytes, void **out, int *keep) {
  int fd;
  FlSpillStatus status = fl_spill_file(folder, bytes, &fd);
  if (status != FL_SPILL_OK) return status;
  *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  bool mapped = *out != MAP_FAILED;
  if (keep) *keep = mapped && may_stay(fd) ? fd : -1;
  if (!keep || *keep < 0) close(fd); /* the mapping keeps the file */
  return mapped ? FL_SPILL_OK : FL_SPILL_NO_MAP;
}

int fl_spill_open(void) {
  const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
  enum { N = sizeof folders / sizeof *folders };
  int fd = -1;
  for (size_t k = 0; fd < 0 && k < 2 * N; k++) {
    const char *folder = folders[k % N];
    struct statfs fs;
    if (folder && *folder && statfs(folder, &fs) == 0 && in_memory(&fs) == (k >= N) &&
        access(folder, W_OK) == 0)
      fd = nameless(folder);
  }
  return fd;
}

int64_t fl_spill_room(int fd) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0) return 0;
  int64_t room = (int64_t)room_of(&fs), half = in_memory(&fs) ? fl_machine_available() / 2 : INT64_MAX;
  return room < half ? room : half;
}
