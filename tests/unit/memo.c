/* memo.c: the store within one process: what is stored comes back, what is damaged does not, the limit holds.
 */
#include "memo_kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static void test_round_trip(void) {
  char dir[64];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(holds(m, "a", "x") == 0);
  CHECK(put_text(m, "a", "first") == FL_MEMO_OK);
  CHECK(put_text(m, "b", "") == FL_MEMO_OK);
  CHECK(holds(m, "a", "first") == 1 && holds(m, "b", "") == 1 && holds(m, "", "") == 0);
  CHECK(put_text(m, "a", "second") == FL_MEMO_OK && holds(m, "a", "second") == 1);

  /* Pieces are joined, the payload is aligned, the checksum is that of the whole. */
  struct iovec pieces[] = {{"ab", 2}, {NULL, 0}, {"cde", 3}, {"", 0}};
  FlDigest sum;
  CHECK(fl_memo_put(m, key_of("pieces"), pieces, 4, &sum) == FL_MEMO_OK);
  FlMemoEntry *e = fl_memo_get(m, key_of("pieces"));
  CHECK(e && e->bytes == 5 && memcmp(e->payload, "abcde", 5) == 0);
  CHECK(e && (uintptr_t)e->payload % FL_ALIGN == 0);
  CHECK(e && fl_memo_digest_same(e->checksum, sum) && fl_memo_digest_same(sum, fl_memo_digest("abcde", 5)));
  fl_memo_unmap(e);

  /* More pieces than one system call takes, some of them empty. */
  enum { MANY = 1000 };
  static struct iovec many[MANY];
  static char text[MANY];
  for (int i = 0; i < MANY; i++) {
    text[i] = (char)('a' + i % 26);
    many[i] = (struct iovec){&text[i], i % 3 != 0};
  }
  CHECK(fl_memo_put(m, key_of("many"), many, MANY, &sum) == FL_MEMO_OK);
  e = fl_memo_get(m, key_of("many"));
  CHECK(e && e->bytes == 666 && ((const char *)e->payload)[1] == 'c' && ((const char *)e->payload)[2] == 'e');
  fl_memo_unmap(e);

  fl_memo_close(m);
  m = open_store(dir, 0);
  CHECK(holds(m, "a", "second") == 1);
  fl_memo_close(m);
  remove_all(dir);
}

static void test_records(void) {
  char dir[64];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(!fl_memo_record_get(m, "script.flow"));
  CHECK(fl_memo_record_put(m, "script.flow", "one", 3) == FL_MEMO_OK);
  CHECK(fl_memo_record_put(m, "script.flow", "three", 5) == FL_MEMO_OK);
  FlMemoEntry *e = fl_memo_record_get(m, "script.flow");
  CHECK(e && e->bytes == 5 && memcmp(e->payload, "three", 5) == 0);
  fl_memo_unmap(e);
  CHECK(holds(m, "script.flow", "three") == 0); /* a record is no result */
  FlMemoTotals t = fl_memo_list(m, NULL, NULL);
  CHECK(t.records == 1 && t.entries == 0);
  fl_memo_close(m);
  remove_all(dir);
}

static void test_every_flipped_byte(void) {
  char dir[64], path[PATH_MAX];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(put_text(m, "key", "a small payload") == FL_MEMO_OK);
  path_of(m, "key", path);
  unsigned char bytes[1024];
  size_t n = read_file(path, bytes, sizeof bytes);
  int missed = 0, warned = n_warnings;
  for (size_t i = 0; i < n; i++) {
    bytes[i] ^= (unsigned char)(1u << (i % 8));
    write_file(path, bytes, n);
    bytes[i] ^= (unsigned char)(1u << (i % 8));
    missed += holds(m, "key", "a small payload") == 0;
  }
  CHECK(n > FL_ENTRY_HEADER && missed == (int)n && n_warnings - warned == (int)n);
  write_file(path, bytes, n);
  CHECK(holds(m, "key", "a small payload") == 1);

  bytes[n - 1] ^= 1;
  write_file(path, bytes, n);
  FlMemoTotals t = fl_memo_verify(m);
  CHECK(t.damaged == 1 && t.removed == 1 && t.entries == 0);
  CHECK(put_text(m, "key", "a small payload") == FL_MEMO_OK && holds(m, "key", "a small payload") == 1);
  fl_memo_close(m);
  remove_all(dir);
}

static void test_every_length(void) {
  char dir[64], path[PATH_MAX];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(put_text(m, "key", "a small payload") == FL_MEMO_OK);
  path_of(m, "key", path);
  unsigned char bytes[1024] = {0};
  size_t n = read_file(path, bytes, sizeof bytes);
  int missed = 0;
  for (size_t len = 0; len <= n + 3; len++) {
    if (len == n) continue;
    write_file(path, bytes, len);
    missed += holds(m, "key", "a small payload") == 0;
  }
  CHECK(missed == (int)n + 3);
  fl_memo_close(m);
  remove_all(dir);
}

/* Rewrites a field of a header and its checksum, as another version would have written it. */
static void patch_header(const char *path, int at, unsigned char value) {
  unsigned char bytes[1024];
  size_t n = read_file(path, bytes, sizeof bytes);
  bytes[at] = value;
  FlDigest sum = fl_memo_digest(bytes, FL_ENTRY_HEADER - 16);
  memcpy(bytes + FL_ENTRY_HEADER - 16, &sum, sizeof sum);
  write_file(path, bytes, n);
}

static void test_foreign(void) {
  char dir[64], path[PATH_MAX], other[PATH_MAX];
  FlMemo *m = open_store(scratch(dir), 0);
  path_of(m, "key", path);
  for (int at = 8; at <= 12; at += 4) { /* version, then ABI */
    CHECK(put_text(m, "key", "payload") == FL_MEMO_OK && holds(m, "key", "payload") == 1);
    patch_header(path, at, 99);
    CHECK(holds(m, "key", "payload") == 0);
  }
  CHECK(put_text(m, "key", "payload") == FL_MEMO_OK && put_text(m, "other", "payload 2") == FL_MEMO_OK);
  path_of(m, "other", other);
  CHECK(rename(path, other) == 0);
  CHECK(holds(m, "other", "payload") == 0); /* good in itself, but not of this key */
  CHECK(fl_memo_verify(m).damaged == 1);
  CHECK(mkdir(path, 0777) == 0 && holds(m, "key", "payload") == 0);
  CHECK(fl_memo_list(m, NULL, NULL).entries == 0);
  fl_memo_close(m);
  remove_all(dir);
}

static void set_used(FlMemo *m, const char *key, time_t when) {
  char path[PATH_MAX];
  path_of(m, key, path);
  struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
  CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void remember_label(void *arg, const FlMemoInfo *info) {
  char *all = arg;
  strcat(all, info->label);
  strcat(all, " ");
}

static void test_eviction(void) {
  char dir[64], labels[256] = "";
  char payload[301];
  memset(payload, 'p', 300);
  payload[300] = '\0';
  FlMemo *m = open_store(scratch(dir), 2048); /* four entries of 492 bytes */
  const char *keys[] = {"k0", "k1", "k2", "k3"};
  for (int i = 0; i < 4; i++) {
    CHECK(put_text(m, keys[i], payload) == FL_MEMO_OK);
    set_used(m, keys[i], 1000 + i);
  }
  CHECK(holds(m, "k0", payload) == 1); /* now the most recently used */
  FlMemoEntry *pinned = fl_memo_get(m, key_of("k1"));
  set_used(m, "k1", 1001);
  CHECK(put_text(m, "k4", payload) == FL_MEMO_OK);
  FlMemoTotals t = fl_memo_list(m, remember_label, labels);
  CHECK(t.bytes <= 2048 && t.entries == 3);
  CHECK(strstr(labels, "k4") && strstr(labels, "k0") && strstr(labels, "k3"));
  CHECK(pinned && memcmp(pinned->payload, payload, 300) == 0); /* evicted, and still mapped */
  fl_memo_unmap(pinned);

  static char big[4096];
  memset(big, 'b', sizeof big - 1);
  CHECK(put_text(m, "big", big) == FL_MEMO_TOO_BIG && holds(m, "k4", payload) == 1);
  t = fl_memo_gc(m, 600);
  CHECK(t.entries == 1 && t.removed == 2 && t.bytes <= 600);
  t = fl_memo_clear(m);
  CHECK(t.entries == 0 && t.removed == 1 && fl_memo_list(m, NULL, NULL).entries == 0);
  fl_memo_close(m);
  remove_all(dir);
}

static void test_without_a_folder(void) {
  char dir[64], path[128];
  scratch(dir);
  snprintf(path, sizeof path, "%s/file", dir);
  write_file(path, (const unsigned char *)"x", 1);
  snprintf(path, sizeof path, "%s/file/store", dir);
  const char *dirs[] = {path, "/proc/flow-store", NULL, ""};
  for (int i = 0; i < 4; i++) {
    int warned = n_warnings;
    FlMemo *m = open_store(dirs[i], 0);
    FlMemoEntry *e;
    FlMemoClaim *c;
    CHECK(fl_memo_claim(m, key_of("key"), -1, &e, &c) == FL_MEMO_MINE && c);
    CHECK(put_text(m, "key", "payload") == FL_MEMO_OFF);
    fl_memo_release(m, c);
    CHECK(put_text(m, "key", "payload") == FL_MEMO_OFF && holds(m, "key", "payload") == 0);
    CHECK(fl_memo_gc(m, 0).entries == 0 && fl_memo_verify(m).damaged == 0 && fl_memo_clear(m).removed == 0);
    CHECK(n_warnings - warned == (i < 2 ? 1 : 0));
    fl_memo_close(m);
  }
  remove_all(dir);
}

/* What a store does when it gets no space: a clean status, one warning, nothing left, old entries readable.
 */
static void check_full(const char *dir, const char *big) {
  int warned = n_warnings;
  FlMemo *m = open_store(dir, 0);
  CHECK(put_text(m, "small", "payload") == FL_MEMO_OK);
  CHECK(put_text(m, "big", big) == FL_MEMO_FULL && put_text(m, "big2", big) == FL_MEMO_FULL);
  CHECK(n_warnings - warned == 1);
  CHECK(holds(m, "small", "payload") == 1 && holds(m, "big", big) == 0);
  FlMemoTotals t = fl_memo_verify(m);
  CHECK(t.entries == 1 && t.damaged == 0);
  char temp[128];
  snprintf(temp, sizeof temp, "%s/temp", dir);
  CHECK(rmdir(temp) == 0); /* empty */
  fl_memo_close(m);
}

static void test_disk_full(void) {
  enum { BIG = 1 << 20 };
  char dir[64];
  char *big = malloc(BIG + 1);
  if (!big) abort();
  memset(big, 'b', BIG);
  big[BIG] = '\0';
  scratch(dir);
  if (mount("flow-test", dir, "tmpfs", 0, "size=256k") == 0) { /* needs the right to mount */
    check_full(dir, big);
    CHECK(umount(dir) == 0);
  }
  struct rlimit old, small = {1 << 16, 1 << 16};
  getrlimit(RLIMIT_FSIZE, &old);
  small.rlim_max = old.rlim_max;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  check_full(dir, big);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  free(big);
  remove_all(dir);
}

typedef struct Shared {
  FlMemo *store;
  _Atomic int computed, right;
} Shared;

static void *want(void *arg) {
  Shared *s = arg;
  for (int round = 0; round < 20; round++) {
    char key[16];
    snprintf(key, sizeof key, "key %d", round);
    FlMemoEntry *e;
    FlMemoClaim *c;
    if (fl_memo_claim(s->store, key_of(key), -1, &e, &c) == FL_MEMO_MINE) {
      s->computed++;
      put_text(s->store, key, key);
      fl_memo_release(s->store, c);
    } else if (e) {
      s->right += e->bytes == (int64_t)strlen(key) && memcmp(e->payload, key, strlen(key)) == 0;
      fl_memo_unmap(e);
    }
  }
  return NULL;
}

static void test_threads(void) {
  char dir[64];
  Shared s = {.store = open_store(scratch(dir), 0)};
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, want, &s);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  CHECK(s.computed == 20);
  CHECK(s.right == 7 * 20);
  FlMemoEntry *e;
  FlMemoClaim *c, *c2;
  CHECK(fl_memo_claim(s.store, key_of("new"), 0, &e, &c) == FL_MEMO_MINE);
  CHECK(fl_memo_claim(s.store, key_of("new"), 0, &e, &c2) == FL_MEMO_BUSY && !c2 && !e);
  CHECK(fl_memo_claim(s.store, key_of("new"), 5, &e, &c2) == FL_MEMO_BUSY);
  fl_memo_release(s.store, c); /* without a put: the computation failed */
  CHECK(fl_memo_claim(s.store, key_of("new"), -1, &e, &c) == FL_MEMO_MINE);
  fl_memo_release(s.store, c);
  fl_memo_close(s.store);
  remove_all(dir);
}

int main(void) {
  test_round_trip();
  test_records();
  test_every_flipped_byte();
  test_every_length();
  test_foreign();
  test_eviction();
  test_without_a_folder();
  test_disk_full();
  test_threads();
  return check_report();
}
