/* files.c: writing one file so that it is whole or absent, and mapping one with all its checksums.
 *
 * Writing: a new file in temp (same file system), locked by the writer, written, synced, renamed. The sync
 * comes before the rename, so the name never leads to a file with holes after a power failure. The folder
 * itself is not synced: losing the rename then means a miss, which is allowed. */
#include "memo/memo_internal.h"
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static FlMemoStatus status_of_errno(int error) {
  switch (error) {
  case ENOSPC:
  case EDQUOT:
  case EFBIG: return FL_MEMO_FULL;
  case EROFS:
  case EACCES:
  case EPERM:
  case ENOENT:
  case ENOTDIR:
  case EEXIST: return FL_MEMO_OFF;
  default: return FL_MEMO_FAILED;
  }
}

/* A new locked file in temp. -1: errno says why. */
static int temp_open(FlMemo *m, char **path) {
  char prefix[PATH_MAX];
  int len = snprintf(prefix, sizeof prefix, "%s/temp/value", m->dir);
  if (len < 0 || len >= (int)sizeof prefix) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int fd = fl_whole_temporary(prefix, 0600, path);
  if (fd < 0 && errno == ENOENT && fl_folder_make(m, prefix)) fd = fl_whole_temporary(prefix, 0600, path);
  return fd;
}

static int write_all(const FlMemo *m, int fd, const struct iovec *pieces, int n_pieces) {
  enum { MOST = 64 };
  int next = 0;
  size_t done = 0; /* of pieces[next] */
  while (next < n_pieces) {
    struct iovec now[MOST];
    int n = 0;
    size_t bytes = 0;
    if (m->breathe) m->breathe(m->lend_arg);
    for (int i = next; i < n_pieces && n < MOST && bytes < FL_MEMO_BREATH; i++) {
      size_t skip = i == next ? done : 0;
      if (pieces[i].iov_len == skip) continue;
      size_t left = pieces[i].iov_len - skip, most = FL_MEMO_BREATH - bytes;
      now[n] = (struct iovec){(char *)pieces[i].iov_base + skip, left < most ? left : most};
      bytes += now[n++].iov_len;
    }
    if (n == 0) {
      next = next + MOST < n_pieces ? next + MOST : n_pieces;
      done = 0;
      continue;
    }
    ssize_t wrote = writev(fd, now, n);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return -1;
    size_t left = (size_t)wrote;
    while (next < n_pieces && left >= pieces[next].iov_len - done) {
      left -= pieces[next].iov_len - done;
      next++;
      done = 0;
    }
    done += left;
  }
  return 0;
}

/* Puts the file that was written in its place. One that need not last trades places with the one that is
 * there, which then goes: a rename onto a file makes ext4 write the new one out at once, which takes most of
 * the time of a short run's record. Who is ended between both leaves a file in temp that nobody locks. */
static int put_in_place(const char *temp, const char *path, bool lasting) {
  if (!lasting && renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
    unlink(temp); /* or it was taken for a leftover already */
    return 0;
  }
  return rename(temp, path);
}

FlMemoStatus fl_file_write(FlMemo *m, const char *path, const struct iovec *pieces, int n_pieces,
                           bool lasting) {
  char *temp;
  int fd = temp_open(m, &temp);
  if (fd < 0) return status_of_errno(errno);
  bool ok = write_all(m, fd, pieces, n_pieces) == 0 && (!lasting || fdatasync(fd) == 0);
  if (ok && put_in_place(temp, path, lasting) != 0)
    ok = errno == ENOENT && fl_folder_make(m, path) && rename(temp, path) == 0;
  int why = errno;
  if (!ok) unlink(temp);
  free(temp);
  close(fd);
  return ok ? FL_MEMO_OK : status_of_errno(why);
}

FlMemoEntry *fl_file_map(const FlMemo *m, const char *path, const void *key, int64_t key_bytes, bool use,
                         FlEntryHeader *header, const char **why) {
  *why = NULL;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR) *why = "it cannot be opened";
    return NULL;
  }
  struct stat st;
  void *map = MAP_FAILED, *lent = NULL;
  FlMemoEntry *entry = NULL;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    *why = "it is not a file";
  } else if (st.st_size < FL_ENTRY_HEADER) {
    *why = "it is cut short";
  } else {
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) *why = "it cannot be mapped";
    else if (m->lend) lent = m->lend(m->lend_arg, map, st.st_size);
  }
  if (!*why) *why = fl_entry_check(map, st.st_size, key, key_bytes, header);
  if (!*why && !(entry = malloc(sizeof *entry))) *why = "memory ran out";
  if (entry) {
    if (use)
      futimens(fd,
               NULL); /* the time of the last use; without the right to set it, eviction just knows less */
    entry->map = map;
    entry->map_bytes = st.st_size;
    entry->unlend = m->unlend;
    entry->lent = lent;
    entry->payload = (const char *)map + fl_entry_payload_offset(header);
    entry->bytes = header->payload_bytes;
    entry->checksum = header->payload;
  } else if (map != MAP_FAILED) {
    if (lent) m->unlend(lent);
    munmap(map, (size_t)st.st_size);
  }
  close(fd);
  return entry;
}
