/* claim.c: single flight. Of those who want one key of a store, one computes it, whether they are processes
 * or runs of one process: each opens the lock file (folder.c) by itself. (Calls of one run meet before:
 * exec/flight.c.) A process that dies loses its locks, and one of those who wait computes instead. The lock
 * file is removed while its lock is still held. */
#include "memo/memo_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_over(int64_t deadline) { return deadline >= 0 && now_ms() >= deadline; }

void fl_memo_release(FlMemo *m, FlMemoClaim *claim) {
  if (!claim) return;
  char path[PATH_MAX];
  if (claim->fd >= 0) {
    if (fl_folder_path(m, FL_FOLDER_LOCKS, claim->key, path)) unlink(path);
    close(claim->fd);
  }
  free(claim);
}

/* Takes the lock file of a claim. False: somebody else has it and the time is over. A store that cannot be
 * written has no lock files: then everybody computes. */
static bool lock_file(FlMemo *m, FlMemoClaim *claim, int64_t deadline) {
  char path[PATH_MAX];
  if (!m->dir || !fl_folder_path(m, FL_FOLDER_LOCKS, claim->key, path)) return true;
  for (long pause_us = 500;; pause_us = pause_us < 10000 ? pause_us * 2 : pause_us) {
    claim->fd = fl_folder_lock(m, path);
    if (claim->fd >= 0 || errno != EWOULDBLOCK) return true;
    if (is_over(deadline)) return false;
    usleep((useconds_t)pause_us);
  }
}

FlMemoClaimed fl_memo_claim(FlMemo *m, FlMemoKey key, int64_t wait_ms, FlMemoEntry **entry,
                            FlMemoClaim **claim) {
  *claim = NULL;
  if ((*entry = fl_memo_look(m, key, true))) return FL_MEMO_HIT;
  FlMemoClaim *c = calloc(1, sizeof *c);
  if (!c) return FL_MEMO_BUSY;
  c->key = fl_memo_digest(key.bytes, key.len);
  c->fd = -1;
  int64_t deadline = wait_ms < 0 ? -1 : now_ms() + wait_ms;
  if (!lock_file(m, c, deadline)) {
    free(c);
    *entry = fl_memo_look(m, key, false);
    return *entry ? FL_MEMO_HIT : FL_MEMO_BUSY;
  }
  /* Between the first look and the lock another may have finished, also without a wait that we noticed. */
  if ((*entry = fl_memo_look(m, key, false))) {
    fl_memo_release(m, c);
    return FL_MEMO_HIT;
  }
  *claim = c;
  return FL_MEMO_MINE;
}
