/* memo.h: the store of remembered results, a folder of plain files that many processes may share.
 *
 * It knows bytes and digests, nothing of arrays or stages: what a key says is up to the caller, and
 * data/codec.h turns values into payload bytes and back. What always holds:
 *   - an entry is whole or absent: it appears under its name by rename, and is verified (header, full key,
 * checksum of the payload) at every load; whatever does not verify is a miss and a warning, never an error;
 *   - entries are never changed in place, so a mapped entry stays valid when it is evicted or replaced
 * meanwhile;
 *   - a process that dies at any moment leaves nothing that hinders others: locks vanish with it, its
 * temporary files are removed by the next open or gc;
 *   - a store that cannot be written works without storing, after one warning.
 * The formats are written down in entry.h, folder and locks in README.md beside this file.
 *
 * All functions may be called from any thread. Keys are compared in full; the 128-bit digest only names the
 * file. */
#ifndef FL_MEMO_H
#define FL_MEMO_H

#include "flow/abi.h"

#include <sys/uio.h>

typedef struct FlMemo FlMemo;

typedef struct FlMemoOptions {
  const char *dir; /* made when first written to; NULL: nothing is ever stored */
  bool foreign; /* also a store that is not this user's own: for housekeeping, and where the caller has looked
                 */
  bool look;    /* nothing is changed: not the folder, nor what is known of it */
  int64_t limit_bytes;                          /* least recently used go when the total is above; 0: 8 GiB */
  void (*warn)(void *arg, const char *message); /* any thread; NULL: warnings are dropped */
  void *warn_arg;
  /* Told of the mapping of each entry before it is read: from then on its pages may be dropped from memory,
   * until the result (NULL: nothing was noted) is given to `unlend`, just before they are unmapped. NULL:
   * nobody is told. */
  void *(*lend)(void *arg, void *map, int64_t bytes);
  void (*unlend)(void *lent);
  void (*breathe)(
      void *arg); /* called between pieces of large results: makes room in memory. NULL: nothing */
  void *lend_arg;
} FlMemoOptions;

/* Removes what killed writers left. NULL only when out of memory. A folder that this user did not make on
 * this machine, or accept (README.md: Trust), is warned about and not used. */
FlMemo *fl_memo_open(const FlMemoOptions *options);
/* Whether nobody else could have written what is in the store: else values are to be checked before they are
 * used. */
bool fl_memo_is_private(const FlMemo *memo);
/* Accepts a folder that is there; false: it is none, or nothing can be noted for this user. */
bool fl_memo_trust(const char *dir);
void fl_memo_close(FlMemo *memo); /* NULL is allowed; entries that are still held stay valid */

/* ---- entries ------------------------------------------------------------------------------------------- */

/* The whole identity of a result, in a typed, length-delimited encoding. `label` is for people (`flowc cache
 * ls`): no part of the identity, at most 255 bytes of it are kept, may be NULL. */
typedef struct FlMemoKey {
  const void *bytes;
  int64_t len;
  const char *label;
} FlMemoKey;

/* A verified entry, mapped read-only. */
typedef struct FlMemoEntry {
  const void *payload; /* 64-byte aligned */
  int64_t bytes;
  FlDigest checksum; /* XXH3-128 of the payload: equal payloads, equal checksum */
  void *map;
  int64_t map_bytes;
  void (*unlend)(void *lent);
  void *lent; /* NULL: to nobody */
} FlMemoEntry;

/* Whose it is from then on; NULL: not there, or not usable (warned). Records the use for eviction. */
FlMemoEntry *fl_memo_get(FlMemo *memo, FlMemoKey key);
void fl_memo_unmap(FlMemoEntry *entry); /* NULL is allowed; unmaps it */

typedef enum FlMemoStatus {
  FL_MEMO_OK,
  FL_MEMO_OFF,     /* the store does not store (no folder, read-only) */
  FL_MEMO_TOO_BIG, /* larger than the whole limit */
  FL_MEMO_FULL,    /* no space, quota or file-size limit; nothing was left behind */
  FL_MEMO_FAILED   /* another system error, warned */
} FlMemoStatus;

/* Stores the concatenation of the pieces, replacing what is there. Never half: on any status but OK the old
 * entry, if any, is unchanged. May evict others. `checksum_out` (may be NULL) gets the payload's checksum, on
 * every status. */
FlMemoStatus fl_memo_put(FlMemo *memo, FlMemoKey key, const struct iovec *pieces, int n_pieces,
                         FlDigest *checksum_out);

/* ---- single flight: of many threads and processes that want one key, one computes ------------------ */

typedef struct FlMemoClaim FlMemoClaim;
typedef enum FlMemoClaimed {
  FL_MEMO_HIT,  /* *entry is set: somebody's result */
  FL_MEMO_MINE, /* *claim is set: compute, put, then release (also after a failure) */
  FL_MEMO_BUSY  /* somebody else computes it, and the wait is over */
} FlMemoClaimed;

/* Looks up and, at a miss, asks for the right to compute. wait_ms: how long to wait for another's
 * computation; 0 does not wait, -1 waits without end. Computing after BUSY is always right, only double work.
 *
 * Whoever waits without end must not have unfinished work under it on its own stack that others wait for (a
 * worker that stole a task while inside another): two such waits in two processes could be for each other.
 * Such callers pass 0. */
FlMemoClaimed fl_memo_claim(FlMemo *memo, FlMemoKey key, int64_t wait_ms, FlMemoEntry **entry,
                            FlMemoClaim **claim);
void fl_memo_release(FlMemo *memo, FlMemoClaim *claim); /* NULL is allowed */

/* ---- records: small named notes beside the entries (a script's last run). Nobody waits for the disk, and
 * that one could not be put is not warned of ---- */

/* The record as an entry whose payload is what was put last, or NULL. Names are any text. */
FlMemoEntry *fl_memo_record_get(FlMemo *memo, const char *name);
FlMemoStatus fl_memo_record_put(FlMemo *memo, const char *name, const void *bytes, int64_t len);

/* ---- housekeeping: `flowc cache` ------------------------------------------------------------------- */

typedef struct FlMemoInfo {
  FlDigest key;    /* names the file */
  char label[256]; /* "" when none; the name of a record */
  bool is_record;
  bool damaged; /* the header does not verify: label and created are unset */
  int64_t file_bytes, payload_bytes;
  int64_t created, used; /* seconds since 1970 */
} FlMemoInfo;

typedef struct FlMemoTotals {
  int64_t entries, records, bytes; /* what is there afterwards */
  int64_t removed, removed_bytes;  /* what went */
  int64_t damaged;                 /* found not to verify */
} FlMemoTotals;

/* Visits every entry and record, most recently used first. Headers only: payloads are not read. NULL visit:
 * only totals. */
FlMemoTotals fl_memo_list(FlMemo *memo, void (*visit)(void *arg, const FlMemoInfo *info), void *arg);
/* Removes leftovers and unreadable files, then the least recently used until at most `limit_bytes` remain
 * (negative: the store's own limit). */
FlMemoTotals fl_memo_gc(FlMemo *memo, int64_t limit_bytes);
/* Reads everything whole; removes what does not verify, with a warning each. */
FlMemoTotals fl_memo_verify(FlMemo *memo);
FlMemoTotals fl_memo_clear(FlMemo *memo);

/* ---- digests --------------------------------------------------------------------------------------- */

FlDigest fl_memo_digest(const void *bytes, int64_t len); /* XXH3-128, seed 0 */
static inline bool fl_memo_digest_same(FlDigest a, FlDigest b) { return a.lo == b.lo && a.hi == b.hi; }

#endif
