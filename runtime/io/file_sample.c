/* file_sample.c: a digest of a file that takes a bounded time, for what was made from its beginning and
 * samples of it.
 *
 * Small files: their content and that of what lies beside them, and nothing of times: a copy or an archive
 * unpacked anew is the same. Larger ones: the state that the system tells, with the time of change, which
 * nobody sets, and blocks throughout. What always holds: a file that was written to since, or is another one,
 * has another digest, however its size, its time of modification and its inode were made. */
#include "io/file_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

enum { FL_SMALL = 4 << 20, FL_SAMPLES = 16, FL_SAMPLE = 64 << 10 };

static void add_stat(XXH3_state_t *to, const struct stat *s) {
  const int64_t parts[] = {(int64_t)s->st_dev, (int64_t)s->st_ino, s->st_mtim.tv_sec,  s->st_mtim.tv_nsec,
                           s->st_ctim.tv_sec,  s->st_ctim.tv_nsec, (int64_t)s->st_mode};
  XXH3_128bits_update(to, parts, sizeof parts);
}

static void add_range(XXH3_state_t *to, int fd, int64_t at, int64_t n, char *room) {
  while (n) {
    ssize_t got = pread(fd, room, n < FL_SAMPLE ? (size_t)n : FL_SAMPLE, at);
    if (got <= 0) return; /* shorter than it was: what follows is missing */
    XXH3_128bits_update(to, room, (size_t)got);
    at += got;
    n -= got;
  }
}

static void add_file(XXH3_state_t *to, int fd, const struct stat *s, char *room) {
  XXH3_128bits_update(to, &s->st_size, sizeof s->st_size);
  if (!S_ISREG(s->st_mode)) {
    add_stat(to, s);
  } else if (s->st_size <= FL_SMALL) {
    add_range(to, fd, 0, s->st_size, room);
  } else {
    add_stat(to, s);
    for (int64_t k = 0; k < FL_SAMPLES; k++)
      add_range(to, fd, (s->st_size - FL_SAMPLE) / (FL_SAMPLES - 1) * k, FL_SAMPLE, room);
  }
}

FlDigest fl_file_sample(const char *path) {
  FlFileState state;
  struct stat found;
  char *room = malloc(FL_SAMPLE);
  int fd = stat(path, &found) == 0 && S_ISREG(found.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  XXH3_state_t *to = XXH3_createState();
  FlDigest out = {0, 0};
  if (to && room && fd >= 0) {
    XXH3_128bits_reset(to);
    fl_state_take(path, fd, &state);
    add_file(to, fd, &state.found, room);
    for (int k = 0; k < state.n_beside; k++) {
      char *name = state.beside[k].st_size ? fl_state_beside(path, fd, k) : NULL;
      int other = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
      if (other >= 0) add_file(to, other, &state.beside[k], room);
      if (other >= 0) close(other);
      free(name);
    }
    XXH128_hash_t h = XXH3_128bits_digest(to);
    out = (FlDigest){h.low64, h.high64};
  }
  if (fd >= 0) close(fd);
  XXH3_freeState(to);
  free(room);
  return out;
}
