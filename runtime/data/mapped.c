/* mapped.c: see mapped.h. What always holds: mappings do not overlap; the lock is not held while bytes are
 * written, as who writes to a block uses it, and it stays meanwhile. */
#include "data/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fl_mapped_init(FlMappings *p) { pthread_rwlock_init(&p->lock, NULL); }

void fl_mapped_free(FlMappings *p) {
  pthread_rwlock_destroy(&p->lock);
  free(p->map);
}

/* How many mappings begin at an address or before it. Under the lock. */
static size_t count_to(const FlMappings *p, const void *at) {
  size_t low = 0, high = p->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uintptr_t)p->map[middle].at <= (uintptr_t)at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool has_room(FlMappings *p) {
  if (p->n < p->room) return true;
  size_t room = p->room ? 2 * p->room : 16;
  FlMapped *grown = realloc(p->map, room * sizeof *grown);
  if (!grown) return false;
  p->map = grown;
  p->room = room;
  return true;
}

/* The file opened once more; -1: its system does not do so. */
static int open_direct(int fd) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
}

static void close_both(const FlMapped *f) {
  close(f->fd);
  if (f->direct >= 0) close(f->direct);
}

void fl_mapped_add(FlMappings *p, void *at, size_t bytes, int fd, bool direct) {
  if (fd < 0) return;
  FlMapped f = {at, bytes, fd, direct ? open_direct(fd) : -1};
  pthread_rwlock_wrlock(&p->lock);
  bool room = has_room(p);
  if (room) {
    size_t k = count_to(p, at);
    memmove(p->map + k + 1, p->map + k, (p->n - k) * sizeof *p->map);
    p->map[k] = f;
    p->n++;
  }
  pthread_rwlock_unlock(&p->lock);
  if (!room) close_both(&f);
}

void fl_mapped_remove(FlMappings *p, const void *at) {
  FlMapped f = {.fd = -1};
  pthread_rwlock_wrlock(&p->lock);
  size_t k = count_to(p, at);
  if (k > 0 && p->map[k - 1].at == at) {
    f = p->map[k - 1];
    memmove(p->map + k - 1, p->map + k, (p->n - k) * sizeof *p->map);
    p->n--;
  }
  pthread_rwlock_unlock(&p->lock);
  if (f.fd >= 0) close_both(&f);
}

/* In pieces: what goes past the page cache holds the pages that it comes from in memory meanwhile. */
static bool write_at(int fd, const char *from, size_t bytes, size_t at) {
  enum { PIECE = 1 << 20 };
  while (bytes > 0) {
    ssize_t n = pwrite(fd, from, bytes < PIECE ? bytes : PIECE, (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    at += (size_t)n;
    bytes -= (size_t)n;
  }
  return true;
}

bool fl_mapped_write(FlMappings *p, void *to, const void *from, size_t bytes, size_t *past) {
  enum { PAGE = 4096, LONG = 16 * PAGE };
  pthread_rwlock_rdlock(&p->lock);
  size_t k = count_to(p, to);
  FlMapped f = k > 0 ? p->map[k - 1] : (FlMapped){.fd = -1};
  pthread_rwlock_unlock(&p->lock);
  *past = 0;
  size_t at = f.fd >= 0 ? (size_t)((char *)to - f.at) : 0;
  if (f.fd < 0 || at > f.bytes || bytes > f.bytes - at) return false;
  bool whole = f.direct >= 0 && bytes >= LONG && ((uintptr_t)from - at) % PAGE == 0;
  size_t before = whole ? (PAGE - at % PAGE) % PAGE : 0, pages = whole ? (bytes - before) / PAGE * PAGE : 0;
  const char *rest = from;
  if (pages > 0 && write_at(f.direct, rest + before, pages, at + before)) *past = pages;
  if (*past == 0) return write_at(f.fd, rest, bytes, at);
  size_t done = before + pages;
  return write_at(f.fd, rest, before, at) && write_at(f.fd, rest + done, bytes - done, at + done);
}

bool fl_mapped_has(FlMappings *p, const void *at) {
  pthread_rwlock_rdlock(&p->lock);
  size_t k = count_to(p, at);
  bool has = k > 0 && (size_t)((const char *)at - p->map[k - 1].at) < p->map[k - 1].bytes;
  pthread_rwlock_unlock(&p->lock);
  return has;
}
