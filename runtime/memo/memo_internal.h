/* memo_internal.h: what the files of this room share: the open store, its folders, writing one file.
 *
 *   DIR/objects/ab/abcdef..   results, by the 32 hexadecimal digits of the key's digest, in 256 folders
 *   DIR/records/ab/abcdef..   records, by the digest of their name
 *   DIR/temp/..               files being written; each is locked (flock) by its writer
 *   DIR/locks/abcdef..        computations under way; each is locked by who computes
 *   DIR/CACHEDIR.TAG          tells backup programs that all this can be made again
 */
#ifndef FL_MEMO_INTERNAL_H
#define FL_MEMO_INTERNAL_H

#include "memo/entry.h"

#include <limits.h>
#include <pthread.h>

struct FlMemoClaim {
  FlDigest key;
  int fd; /* holds the lock on the lock file; -1: none could be had */
};

enum { FL_MEMO_BREATH = 2 << 20 }; /* bytes of a result between two breaths */
struct FlMemo {
  char *dir; /* NULL: never stores */
  int64_t limit;
  void (*warn)(void *arg, const char *message);
  void *warn_arg;
  void *(*lend)(void *arg, void *map, int64_t bytes);
  void (*unlend)(void *lent);
  void (*breathe)(void *arg);
  void *lend_arg;
  pthread_mutex_t lock; /* guards the members below */
  bool look;            /* nothing is changed */
  int64_t stored_bytes; /* in objects and records as of the last scan, plus what this process put since; -1:
                           unknown */
  bool is_private, warned_off, warned_full;
};

typedef enum FlMemoFolder {
  FL_FOLDER_OBJECTS,
  FL_FOLDER_RECORDS,
  FL_FOLDER_TEMP,
  FL_FOLDER_LOCKS
} FlMemoFolder;

/* ---- trust.c */

typedef enum FlMemoTrust {
  FL_TRUST_PRIVATE, /* made here by this user, and nobody else may write to it */
  FL_TRUST_CHECKED, /* used, but what is in it is looked at */
  FL_TRUST_FOREIGN  /* not used */
} FlMemoTrust;
FlMemoTrust fl_trust_of(const char *dir, bool look);
/* Notes that this process has made the folder. */
bool fl_trust_made(const char *dir);

void fl_memo_warn(FlMemo *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- folder.c */

/* Path of the file of a digest. False: the path would be too long. */
bool fl_folder_path(const FlMemo *m, FlMemoFolder folder, FlDigest digest, char out[PATH_MAX]);
/* Makes the folder of `path` and those above it, up to and including the store's own. */
bool fl_folder_make(FlMemo *m, const char *path);
/* Removes the files of temp and locks whose lock nobody holds. */
void fl_folder_clean(FlMemo *m);
/* Calls visit for each file of objects and records until it returns false. */
void fl_folder_walk(FlMemo *m, bool (*visit)(void *arg, FlMemoFolder folder, const char *path), void *arg);
/* Opens `path` for writing, makes it when it is not there, and locks it if nobody else does. Returns the file
 * descriptor; -1 with errno EWOULDBLOCK: another has it; -1 with another errno: it cannot be had. */
int fl_folder_lock(FlMemo *m, const char *path);

/* ---- files.c */

/* Writes the pieces to a temporary file and renames it to `path`; lasting: first waits until the disk has it.
 */
FlMemoStatus fl_file_write(FlMemo *m, const char *path, const struct iovec *pieces, int n_pieces,
                           bool lasting);
/* Maps and checks a file of the store; `use` records the time. NULL with *why NULL: there is none; else *why
 * says what is wrong. key NULL: any key is good. */
FlMemoEntry *fl_file_map(const FlMemo *m, const char *path, const void *key, int64_t key_bytes, bool use,
                         FlEntryHeader *header, const char **why);

/* ---- store.c */

/* fl_memo_get that warns of an unusable entry only when told to: one look-up may look several times. */
FlMemoEntry *fl_memo_look(FlMemo *m, FlMemoKey key, bool warn);

/* ---- gc.c */

/* Notes that `bytes` were stored at `path`; evicts others when the total is now above the limit. */
void fl_memo_grown(FlMemo *m, const char *path, int64_t bytes);

/* Of the concatenation of the pieces. */
FlDigest fl_memo_digest_pieces(const FlMemo *m, const struct iovec *pieces, int n_pieces);

#endif
