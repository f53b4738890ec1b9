/* file_state.c: see file_state.h. */
#include "io/file_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FL_YOUNG_SECONDS = 60, FL_MOST_WAITS = 20 };

static const char *const sqlite_beside[FL_MOST_BESIDE] = {"-wal", "-journal"},
                         *const duckdb_beside[FL_MOST_BESIDE] = {".wal"};

static bool is_before(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static struct timespec newest(const struct stat *s) {
  return is_before(s->st_mtim, s->st_ctim) ? s->st_ctim : s->st_mtim;
}

bool fl_stat_same(const struct stat *a, const struct stat *b) {
  return fl_input_same(a, b) && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
         a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void fl_stat_settle(const struct stat *found) {
  struct timespec change = newest(found), now;
  for (int k = 0; k < FL_MOST_WAITS; k++) {
    /* What the kernel writes into files; a change that lies far ahead is no change of now. */
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || is_before(change, now) ||
        change.tv_sec > now.tv_sec + 1)
      return;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

/* Whether the content may change without showing in the times. */
static bool is_young(const struct stat *s) {
  struct timespec now, change = newest(s);
  return clock_gettime(CLOCK_REALTIME, &now) != 0 || change.tv_sec + FL_YOUNG_SECONDS >= now.tv_sec;
}

/* Which files may lie beside, by how the file begins; NULL: none. */
static const char *const *beside_of(int fd) {
  char head[16] = "";
  if (pread(fd, head, sizeof head, 0) != sizeof head) return NULL;
  if (memcmp(head, "SQLite format 3", 16) == 0) return sqlite_beside;
  return memcmp(head + 8, "DUCK", 4) == 0 ? duckdb_beside : NULL;
}

/* Engines follow links before they name what lies beside. */
static char *beside(const char *path, const char *end) {
  char *real = realpath(path, NULL), *out = NULL;
  if (asprintf(&out, "%s%s", real ? real : path, end) < 0) out = NULL;
  free(real);
  return out;
}

char *fl_state_beside(const char *path, int fd, int k) {
  const char *const *ends = beside_of(fd);
  return beside(path, ends && ends[k] ? ends[k] : "");
}

void fl_state_take(const char *path, int fd, FlFileState *out) {
  memset(out, 0, sizeof *out);
  if (fstat(fd, &out->found) != 0) return;
  fl_stat_settle(&out->found);
  out->young = is_young(&out->found);
  const char *const *ends = S_ISREG(out->found.st_mode) ? beside_of(fd) : NULL;
  for (; ends && out->n_beside < FL_MOST_BESIDE && ends[out->n_beside]; out->n_beside++) {
    struct stat *s = &out->beside[out->n_beside];
    char *name = beside(path, ends[out->n_beside]);
    if (!name || stat(name, s) != 0 || s->st_size == 0) memset(s, 0, sizeof *s);
    if (s->st_size) fl_stat_settle(s);
    out->young |= s->st_size && is_young(s);
    free(name);
  }
}

bool fl_state_same(const FlFileState *a, const FlFileState *b) {
  bool same = fl_stat_same(&a->found, &b->found) && a->n_beside == b->n_beside;
  for (int k = 0; k < a->n_beside && same; k++) same = fl_stat_same(&a->beside[k], &b->beside[k]);
  return same;
}
