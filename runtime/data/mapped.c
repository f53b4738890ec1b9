/* mapped.c: see mapped.h. What always holds: mappings do not overlap; the lock is not held while bytes are
 * written, as who writes to a block uses it, and it stays meanwhile. */
#include "data/mapped.h"

#include <errno.h>
#include <stdint.h>
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

void fl_mapped_add(FlMappings *p, void *at, size_t bytes, int fd) {
  if (fd < 0) return;
  pthread_rwlock_wrlock(&p->lock);
  bool room = has_room(p);
  if (room) {
    size_t k = count_to(p, at);
    memmove(p->map + k + 1, p->map + k, (p->n - k) * sizeof *p->map);
    p->map[k] = (FlMapped){at, bytes, fd};
    p->n++;
  }
  pthread_rwlock_unlock(&p->lock);
  if (!room) close(fd);
}

void fl_mapped_remove(FlMappings *p, const void *at) {
  int fd = -1;
  pthread_rwlock_wrlock(&p->lock);
  size_t k = count_to(p, at);
  if (k > 0 && p->map[k - 1].at == at) {
    fd = p->map[k - 1].fd;
    memmove(p->map + k - 1, p->map + k, (p->n - k) * sizeof *p->map);
    p->n--;
  }
  pthread_rwlock_unlock(&p->lock);
  if (fd >= 0) close(fd);
}

bool fl_mapped_write(FlMappings *p, void *to, const void *from, size_t bytes) {
  int fd = -1;
  off_t at = 0;
  pthread_rwlock_rdlock(&p->lock);
  size_t k = count_to(p, to);
  const FlMapped *f = k > 0 ? &p->map[k - 1] : NULL;
  size_t begin = f ? (size_t)((char *)to - f->at) : 0;
  if (f && begin <= f->bytes && bytes <= f->bytes - begin) {
    fd = f->fd;
    at = (off_t)begin;
  }
  pthread_rwlock_unlock(&p->lock);
  const char *rest = from;
  while (fd >= 0 && bytes > 0) {
    ssize_t n = pwrite(fd, rest, bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    rest += n;
    at += n;
    bytes -= (size_t)n;
  }
  return fd >= 0;
}

bool fl_mapped_has(FlMappings *p, const void *at) {
  pthread_rwlock_rdlock(&p->lock);
  size_t k = count_to(p, at);
  bool has = k > 0 && (size_t)((const char *)at - p->map[k - 1].at) < p->map[k - 1].bytes;
  pthread_rwlock_unlock(&p->lock);
  return has;
}
