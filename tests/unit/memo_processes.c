/* memo_processes.c: the store between processes: killed writers leave it whole, of many one computes. */
#include "memo_kit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PROCESSES = 8, KILLS = 60, KEYS = 12, WORDS = 20000 };

/* The payload of key k: words that say which they are, so that a torn or mixed one shows. */
static void fill(uint32_t *words, uint32_t k) {
  for (uint32_t i = 0; i < WORDS; i++) words[i] = k * 2654435761u + i;
}

static bool is_right(const FlMemoEntry *e, uint32_t k) {
  static uint32_t expected[WORDS];
  fill(expected, k);
  return e->bytes == sizeof expected && memcmp(e->payload, expected, sizeof expected) == 0;
}

static int files_in(const char *dir, const char *folder) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, folder);
  DIR *d = opendir(path);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
  if (d) closedir(d);
  return n;
}

static _Noreturn void write_until_killed(const char *dir, uint32_t seed) {
  static uint32_t words[WORDS];
  FlMemo *m = open_store(dir, (int64_t)KEYS * sizeof words * 2 / 3); /* evicts all the time, too */
  for (uint32_t n = seed;; n = n * 1103515245u + 12345u) {
    uint32_t k = (n >> 16) % KEYS;
    FlMemoEntry *e;
    FlMemoClaim *c;
    FlMemoClaimed got = fl_memo_claim(m, (FlMemoKey){&k, sizeof k, "word list"}, 0, &e, &c);
    if (got == FL_MEMO_HIT && !is_right(e, k)) _exit(3);
    fl_memo_unmap(e);
    if (got == FL_MEMO_HIT && n % 2) continue;
    fill(words, k);
    struct iovec piece = {words, sizeof words};
    fl_memo_put(m, (FlMemoKey){&k, sizeof k, "word list"}, &piece, 1, NULL);
    fl_memo_release(m, c);
  }
}

static void test_kill(void) {
  char dir[64];
  scratch(dir);
  pid_t children[2] = {0};
  uint32_t random = 1;
  int wrong = 0;
  for (int i = 0; i < KILLS; i++) {
    pid_t *child = &children[i % 2];
    if (*child) {
      int status;
      kill(*child, SIGKILL);
      waitpid(*child, &status, 0);
      wrong += !WIFSIGNALED(status);
    }
    if ((*child = fork()) == 0) write_until_killed(dir, (uint32_t)i);
    random = random * 1103515245u + 12345u;
    usleep(2000 + (random >> 16) % 12000);
  }
  for (int i = 0; i < 2; i++) {
    int status;
    kill(children[i], SIGKILL);
    waitpid(children[i], &status, 0);
    wrong += !WIFSIGNALED(status);
  }
  CHECK(wrong == 0); /* nobody ended by itself, having read something wrong */
  int warned = n_warnings;
  FlMemo *m = open_store(dir, 0);
  CHECK(files_in(dir, "temp") == 0 && files_in(dir, "locks") == 0);
  FlMemoTotals t = fl_memo_verify(m);
  CHECK(t.entries > 0 && t.damaged == 0 && n_warnings == warned);
  for (uint32_t k = 0; k < KEYS; k++) {
    FlMemoEntry *e = fl_memo_get(m, (FlMemoKey){&k, sizeof k, NULL});
    CHECK(!e || is_right(e, k));
    fl_memo_unmap(e);
  }
  fl_memo_close(m);
  remove_all(dir);
}

static void test_one_computes(void) {
  char dir[64];
  scratch(dir);
  _Atomic int *computed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (computed == MAP_FAILED) abort();
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    if ((children[i] = fork()) != 0) continue;
    FlMemo *m = open_store(dir, 0);
    bool right = true;
    for (uint32_t k = 0; k < 5; k++) {
      FlMemoEntry *e;
      FlMemoClaim *c;
      if (fl_memo_claim(m, (FlMemoKey){&k, sizeof k, NULL}, -1, &e, &c) == FL_MEMO_MINE) {
        static uint32_t words[WORDS];
        atomic_fetch_add(computed, 1);
        usleep(20000); /* long enough for all others to meet the claim */
        fill(words, k);
        struct iovec piece = {words, sizeof words};
        right &= fl_memo_put(m, (FlMemoKey){&k, sizeof k, NULL}, &piece, 1, NULL) == FL_MEMO_OK;
        fl_memo_release(m, c);
      } else {
        right &= e && is_right(e, k);
        fl_memo_unmap(e);
      }
    }
    fl_memo_close(m);
    _exit(right ? 0 : 1);
  }
  int failures = 0;
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    failures += status != 0;
  }
  CHECK(failures == 0);
  CHECK(*computed == 5);
  CHECK(files_in(dir, "temp") == 0 && files_in(dir, "locks") == 0);
  remove_all(dir);
}

/* Some look at the folder while another makes it and puts into it: it is everybody's. */
static void test_many_make_the_folder(void) {
  for (uint32_t round = 0; round < 40; round++) {
    char dir[64], path[96];
    scratch(dir);
    snprintf(path, sizeof path, "%s/store", dir);
    int start[2];
    if (pipe2(start, O_CLOEXEC) != 0) abort();
    pid_t children[PROCESSES];
    for (uint32_t i = 0; i < PROCESSES; i++) {
      if ((children[i] = fork()) != 0) continue;
      char ready;
      close(start[1]);
      if (read(start[0], &ready, 1) != 0) _exit(2); /* all begin when the other end is closed */
      FlMemo *m = open_store(path, 0);
      struct iovec piece = {&i, sizeof i};
      _exit(fl_memo_put(m, (FlMemoKey){&i, sizeof i, NULL}, &piece, 1, NULL) == FL_MEMO_OK ? 0 : 1);
    }
    close(start[0]);
    close(start[1]);
    int failures = 0;
    for (int i = 0; i < PROCESSES; i++) {
      int status;
      waitpid(children[i], &status, 0);
      failures += status != 0;
    }
    CHECK(failures == 0);
    remove_all(dir);
  }
}

static void test_dead_claimant(void) {
  char dir[64], ready;
  scratch(dir);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) abort();
  FlMemoEntry *e;
  FlMemoClaim *c;
  pid_t child = fork();
  if (child == 0) {
    FlMemo *m = open_store(dir, 0);
    ready = fl_memo_claim(m, key_of("key"), 0, &e, &c) == FL_MEMO_MINE;
    if (write(pipe_ends[1], &ready, 1) != 1) _exit(1);
    for (;;) pause();
  }
  CHECK(read(pipe_ends[0], &ready, 1) == 1 && ready == 1);
  FlMemo *m = open_store(dir, 0); /* cleaning does not touch a lock in use */
  CHECK(fl_memo_claim(m, key_of("key"), 0, &e, &c) == FL_MEMO_BUSY);
  CHECK(fl_memo_claim(m, key_of("key"), 20, &e, &c) == FL_MEMO_BUSY);
  kill(child, SIGKILL);
  CHECK(fl_memo_claim(m, key_of("key"), -1, &e, &c) == FL_MEMO_MINE);
  waitpid(child, NULL, 0);
  fl_memo_release(m, c);
  CHECK(files_in(dir, "locks") == 0);
  fl_memo_close(m);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  remove_all(dir);
}

int main(void) {
  test_kill();
  test_one_computes();
  test_many_make_the_folder();
  test_dead_claimant();
  return check_report();
}
