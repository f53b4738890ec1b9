/* memo_kit.h: what the tests of the store share: counting checks, a store in a scratch folder, reading and
 * writing its files from outside. */
#ifndef FL_TEST_MEMO_KIT_H
#define FL_TEST_MEMO_KIT_H

#include "memo/memo_internal.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int n_passed, n_failed;

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (condition) {                                                                                         \
      n_passed++;                                                                                            \
    } else {                                                                                                 \
      n_failed++;                                                                                            \
      printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                       \
    }                                                                                                        \
  } while (0)

static inline int check_report(void) {
  printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed != 0;
}

static _Atomic int n_warnings;

static inline void count_warning(void *arg, const char *message) {
  (void)arg;
  (void)message;
  n_warnings++;
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
  (void)st, (void)flag, (void)ftw;
  return remove(path);
}

static inline void remove_all(const char *dir) { nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* A new empty folder; the text is the caller's array. */
static inline const char *scratch(char path[64]) {
  strcpy(path, "/tmp/flow-memo-XXXXXX");
  if (!mkdtemp(path)) abort();
  return path;
}

static inline FlMemo *open_store(const char *dir, int64_t limit) {
  FlMemo *m = fl_memo_open(&(FlMemoOptions){.dir = dir, .limit_bytes = limit, .warn = count_warning});
  if (!m) abort();
  return m;
}

static inline FlMemoKey key_of(const char *text) { return (FlMemoKey){text, (int64_t)strlen(text), text}; }

static inline FlMemoStatus put_text(FlMemo *m, const char *key, const char *payload) {
  struct iovec piece = {(void *)(uintptr_t)payload, strlen(payload)};
  return fl_memo_put(m, key_of(key), &piece, 1, NULL);
}

/* 1: the entry holds exactly this payload; 0: a miss; -1: something else. */
static inline int holds(FlMemo *m, const char *key, const char *payload) {
  FlMemoEntry *e = fl_memo_get(m, key_of(key));
  if (!e) return 0;
  int same = e->bytes == (int64_t)strlen(payload) && memcmp(e->payload, payload, strlen(payload)) == 0;
  fl_memo_unmap(e);
  return same ? 1 : -1;
}

static inline void path_of(FlMemo *m, const char *key, char path[PATH_MAX]) {
  if (!fl_folder_path(m, FL_FOLDER_OBJECTS, fl_memo_digest(key, (int64_t)strlen(key)), path)) abort();
}

static inline size_t read_file(const char *path, unsigned char *out, size_t cap) {
  FILE *f = fopen(path, "rb");
  if (!f) return 0;
  size_t n = fread(out, 1, cap, f);
  fclose(f);
  return n;
}

static inline void write_file(const char *path, const unsigned char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) abort();
}

#endif
