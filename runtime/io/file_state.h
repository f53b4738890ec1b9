/* file_state.h: what the system tells of a file without reading it. Private to the room.
 *
 * A file is what lies under its path and, of databases, what their engines keep beside it: SQLite's -wal and
 * -journal, DuckDB's .wal hold what was committed and is not in the file yet. Two equal states say that
 * nothing was written to any of them between, as far as their times tell; two things are done so that they
 * do:
 *   - who takes a state waits until the clock of the file system has passed the last change (fl_state_take):
 *     what is written later then has another time of change, which unlike the time of modification nobody can
 *     set;
 *   - a state whose last change is young is only a hint (`young`): somebody may write through a mapping,
 *     which changes the times only now and then, or the file system counts in seconds. Who relies on it reads
 *     the content again. */
#ifndef FL_FILE_STATE_H
#define FL_FILE_STATE_H

#include "io/io_internal.h"

enum { FL_MOST_BESIDE = 2 };

typedef struct FlFileState {
  struct stat found;
  struct stat beside[FL_MOST_BESIDE]; /* of those that are there and not empty; else all zero */
  int n_beside;                       /* 0: no database */
  bool young;
} FlFileState;

/* The state of an open file that `path` leads to. */
void fl_state_take(const char *path, int fd, FlFileState *out);
bool fl_state_same(const FlFileState *a, const FlFileState *b);
/* The name of the k-th file beside, to be freed; NULL: out of memory. */
char *fl_state_beside(const char *path, int fd, int k);
/* Whether both are one file that nobody has changed in any way between, its name and mode included. */
bool fl_stat_same(const struct stat *a, const struct stat *b);
/* Waits until a later change of the file would show in its times: a tick of the clock at most. */
void fl_stat_settle(const struct stat *found);

#endif
