/* limit.c: what stays in memory and what lives in files: sizes of the machine, files without names, spans
 * whose pages are dropped, the pool's share, and what is told when nothing has room. */
#include "check.h"
#include "base/machine.h"
#include "data/data_internal.h"
#include "data/log.h"
#include "data/mapped.h"
#include "data/resident.h"
#include "data/scratch.h"
#include "data/spill.h"
#include "exec/exec_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static FlResident resident(void) {
  FlResident now = {0, 0};
  int fd = fl_machine_resident_open();
  CHECK(fd >= 0 && fl_machine_resident(fd, &now));
  if (fd >= 0) close(fd);
  return now;
}

static void test_machine(void) {
  int64_t all = fl_machine_memory(), available = fl_machine_available();
  CHECK(all > 0 && all < INT64_MAX);
  CHECK(available > 0);
  enum { N = 16 * MIB };
  FlResident before = resident();
  CHECK(before.own > 0 && before.all >= before.own);
  char *own = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(own, 1, N);
  CHECK(resident().own >= before.own + N / 2);
  munmap(own, N);
}

static void test_spill(void) {
  char *p = NULL;
  size_t n = 4 * MIB;
  CHECK(fl_spill_map("/nowhere/at/all", n, (void **)&p, NULL) == FL_SPILL_OK); /* the next folder is taken */
  bool zero = true;
  for (size_t k = 0; k < n; k += 4096) zero &= p[k] == 0;
  check(zero, "new memory is zero");
  memset(p, 7, n);
  madvise(p, n, MADV_DONTNEED);
  bool same = true;
  for (size_t k = 0; k < n; k++) same &= p[k] == 7;
  check(same, "dropped pages come back");
  munmap(p, n);
  CHECK(fl_spill_map(NULL, (size_t)1 << 60, (void **)&p, NULL) == FL_SPILL_NO_ROOM);
}

/* Bytes written by calls into mappings of files are there where they are mapped, and nothing else changes;
 * mappings come and go in any order. */
static void test_mapped(void) {
  enum { FILES = 40, N = MIB, AT = 12345, BYTES = N / 2 };
  FlMappings known = {0};
  char *at[FILES], *from = malloc(N);
  fl_mapped_init(&known);
  for (int k = 0; k < FILES; k++) {
    int fd = -1;
    CHECK(fl_spill_map(NULL, N, (void **)&at[k], &fd) == FL_SPILL_OK && fd >= 0);
    memset(at[k], k, N);
    fl_mapped_add(&known, at[k], N, fd);
  }
  for (int k = 0; k < N; k++) from[k] = (char)(k * 7 >> 3);
  for (int left = FILES, k = 7; left > 0; left--, k = (k + 13) % FILES) {
    check(fl_mapped_write(&known, at[k] + AT, from, BYTES), "bytes are written by a call");
    check(memcmp(at[k] + AT, from, BYTES) == 0 && at[k][AT - 1] == k && at[k][AT + BYTES] == k,
          "they are there");
    CHECK(!fl_mapped_write(&known, at[k] + N - BYTES, from, BYTES + 1)); /* over its end */
    CHECK(!fl_mapped_write(&known, from, from, 1));
    fl_mapped_remove(&known, at[k]);
    CHECK(!fl_mapped_write(&known, at[k] + AT, from, BYTES) && at[k][AT - 1] == k);
    munmap(at[k], N);
  }
  fl_mapped_free(&known);
  free(from);
}

/* Pages of a span leave when the process is above the limit, and only then; what is in them stays. */
static void test_residents(void) {
  enum { N = 32 * MIB };
  for (int tight = 0; tight < 2; tight++) {
    char *p = NULL;
    if (fl_spill_map(NULL, N, (void **)&p, NULL) != FL_SPILL_OK) {
      check(false, "a file without a name");
      return;
    }
    FlResidents *r = fl_residents_new(tight ? resident().all + N / 2 : (int64_t)1 << 40);
    FlSpan *first = fl_residents_add(r, p, N / 2), *second = fl_residents_add(r, p + N / 2, N / 2);
    CHECK(r && first && second);
    for (int k = 0; k < N; k++) p[k] = (char)(k >> 12);
    usleep(2000); /* more than a breath after the last */
    fl_residents_breathe(r);
    FlResident now = resident();
    bool same = true;
    for (int k = 0; k < N; k += 512) same &= p[k] == (char)(k >> 12);
    check(same, "values survive");
    if (!tight) CHECK(now.all - now.own >= N);
    CHECK(fl_residents_fill(r) == FL_FILL_ROOM || tight);
    fl_residents_remove(r, second);
    fl_residents_stop(r);
    fl_residents_remove(r, first);
    fl_residents_free(r);
    munmap(p, N);
  }
}

/* A sanitizer's own memory counts too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool SANITIZED = true;
static const int64_t LIMIT = INT64_C(8000) * MIB;
#else
static const bool SANITIZED = false;
static const int64_t LIMIT = 96 * MIB;
#endif

/* Arrays of four times the limit, all alive at once. */
static void test_run(void) {
  enum { N = 16 * MIB / 8, COUNT = 24 };
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true, .memory = LIMIT});
  FlCtx *ctx = fl_run_ctx(run);
  FlArray *a[COUNT];
  int64_t n = N, most = 0;
  for (int k = 0; k < COUNT; k++) {
    a[k] = fl_array_new(ctx, FL_I64, 1, &n);
    CHECK(a[k] != NULL);
    for (int64_t i = 0; a[k] && i < n; i++) {
      ((int64_t *)a[k]->data)[i] = k * n + i;
      if (i % 65536 == 0) fl_pool_breathe(fl_ctx_pool(ctx));
    }
    int64_t now = resident().all;
    most = now > most ? now : most;
  }
  check(most < LIMIT / 5 * 6, "24 arrays of 16 MiB: %lld MiB are resident", (long long)(most / MIB));
  bool same = true;
  for (int k = 0; k < COUNT; k++) {
    for (int64_t i = 0; i < n; i += 100) same &= ((int64_t *)a[k]->data)[i] == k * n + i;
  }
  check(same, "all values are there");
  FlArray *mine = fl_array_reuse(a[COUNT - 1]);
  check(mine == a[COUNT - 1], "a block in a file is written in place like any other");
  fl_array_unref(mine);
  for (int k = 1; k < COUNT; k++) fl_array_unref(a[k]);
  fl_run_free(run);
  same = true;
  for (int64_t i = 0; i < n; i++) same &= ((int64_t *)a[0]->data)[i] == i;
  check(same, "an array outlives its run");
  fl_array_unref(a[0]);
}

/* No file may grow: as if every disk were full. Returns the limit before. */
static struct rlimit fill_disks(void) {
  struct rlimit before, small = {MIB, MIB};
  getrlimit(RLIMIT_FSIZE, &before);
  small.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  return before;
}

/* Without a limit, on a machine of 200 MiB: blocks stay in memory up to 160 MiB, those beyond live in files.
 */
static void test_share(void) {
  enum { BLOCK = 40 * MIB, STAY = 4 };
  FlPool *p = fl_pool_new(INT64_C(200) * MIB);
  FlBlock b[STAY + 1], small, other;
  CHECK(p && fl_pool_limit(p, 0, NULL) && !fl_pool_is_limited(p));
  for (int k = 0; k < STAY; k++) CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &b[k]) && !b[k].in_file);
  CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &b[STAY]) && b[STAY].in_file);
  memset(b[STAY].data, 5, BLOCK);
  CHECK(fl_pool_take(p, FL_POOL_MIN, FL_BLOCK_SWEPT, &small) &&
        small.in_file); /* nothing is left for smaller ones either */
  fl_pool_give(p, small);
  /* What a block had is there for the next, also while the pool keeps it for reuse. */
  fl_pool_give(p, b[0]);
  CHECK(fl_pool_take(p, 20 * MIB, FL_BLOCK_SWEPT, &small) && !small.in_file);
  fl_pool_give(p, small);
  CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &b[0]) && !b[0].in_file);
  /* Without a disk the share is no law while the machine has the room. */
  struct rlimit before = fill_disks();
  CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &other) && !other.in_file);
  CHECK(!fl_pool_take(p, (size_t)1 << 50, FL_BLOCK_SWEPT, &small));
  FlPoolTold told;
  fl_pool_say(p, INT64_C(1) << 50, &told);
  check(strstr(told.message,
               "200.0 MiB are in use, 80% of the machine's or control group's memory are 160.0 MiB") != NULL,
        "told: %s", told.message);
  check(!strstr(told.help, "--memory"), "no limit was given: %s", told.help);
  setrlimit(RLIMIT_FSIZE, &before);
  fl_pool_give(p, other);
  bool same = true;
  for (int k = 0; k < BLOCK; k += 4096) same &= ((char *)b[STAY].data)[k] == 5;
  check(same, "values of the block in a file");
  for (int k = 0; k <= STAY; k++) fl_pool_give(p, b[k]);
  fl_pool_free(p);
}

/* The same in a run: arrays of more than the machine has are all there. */
/* Where a block must hold its mark: every few pages, and at its end. */
static bool marks(FlBlock b, uint64_t mark, bool set) {
  enum { STEP = 5 * 4096 };
  bool same = true;
  for (size_t at = 0; at < b.capacity; at += STEP) {
    uint64_t *word = (uint64_t *)((char *)b.data + (at + STEP < b.capacity ? at : b.capacity - sizeof *word));
    if (set) *word = mark;
    same &= *word == mark;
  }
  return same;
}

/* Blocks of any size that come and go keep what is in them, and the run never has more memory than it needed
 * at once: new ones are made of the pages of free ones. */
static void test_moved_pages(void) {
  enum { BLOCKS = 12, STEPS = 600 };
  FlPool *p = fl_pool_new(INT64_C(16) << 30);
  FlBlock block[BLOCKS] = {0};
  uint64_t seed = 7;
  size_t now = 0, most = 0;
  int64_t start = resident().own, highest = 0;
  bool same = true, there = true;
  for (int step = 0; step < STEPS; step++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int k = (int)(seed >> 60) % BLOCKS;
    size_t bytes = (size_t)(seed >> 20) % (24 * MIB) + 4096;
    if (block[k].data) {
      same &= marks(block[k], (uint64_t)k, false);
      now -= block[k].capacity;
      fl_pool_give(p, block[k]);
      block[k] = (FlBlock){0};
      continue;
    }
    there &= fl_pool_take(p, bytes, FL_BLOCK_SWEPT, &block[k]) && (uintptr_t)block[k].data % 64 == 0;
    (void)marks(block[k], (uint64_t)k, true);
    now += block[k].capacity;
    most = now > most ? now : most;
    for (int j = 0; j < BLOCKS; j++) same &= !block[j].data || marks(block[j], (uint64_t)j, false);
    int64_t own = resident().own - start;
    highest = own > highest ? own : highest;
  }
  CHECK(there);
  CHECK(same);
  check(SANITIZED || highest < (int64_t)(most + most / 8), "most at once %zu, most in memory %lld", most,
        (long long)highest);
  for (int j = 0; j < BLOCKS; j++)
    if (block[j].data) fl_pool_give(p, block[j]);
  fl_pool_free(p);
  check(SANITIZED || resident().own - start < 8 * MIB, "all blocks go with the pool");
}

static void test_share_of_run(void) {
  enum { N = 16 * MIB / 8, COUNT = 10 };
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  fl_pool_free(run->pool);
  run->pool = fl_pool_new(INT64_C(100) * MIB);
  FlArray *a[COUNT];
  int64_t n = N;
  FlResident start = resident();
  for (int k = 0; k < COUNT; k++) {
    a[k] = fl_array_new(fl_run_ctx(run), FL_I64, 1, &n);
    CHECK(a[k] != NULL);
    for (int64_t i = 0; a[k] && i < n; i++) ((int64_t *)a[k]->data)[i] = k * n + i;
  }
  int64_t own = resident().own - start.own;
  check(SANITIZED || (own >= INT64_C(70) * MIB && own < INT64_C(100) * MIB),
        "80 of 160 MiB are in memory: %lld MiB", (long long)(own / MIB));
  bool same = true;
  for (int k = 0; k < COUNT; k++) {
    for (int64_t i = 0; a[k] && i < n; i += 100) same &= ((int64_t *)a[k]->data)[i] == k * n + i;
    fl_array_unref(a[k]);
  }
  check(same, "all values are there");
  fl_run_free(run);
}

static void test_no_room(void) {
  struct rlimit before = fill_disks();
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true, .memory = 64 * MIB});
  FlCtx *ctx = fl_run_ctx(run);
  int64_t n = 32 * MIB, few = 1000;
  FlArray *fits = fl_array_new(ctx, FL_U8, 1, &few), *beyond = fl_array_new(ctx, FL_F64, 1, &n);
  CHECK(fits != NULL);
  CHECK(beyond == NULL);
  CHECK(fl_ctx_code(ctx) == 712);
  const char *said = fl_ctx_message(ctx);
  check(said && strstr(said, "256.0 MiB more are needed") && strstr(said, "--memory is 64.0 MiB") &&
            strstr(said, "no disk has room"),
        "told: %s", said ? said : "nothing");
  fl_array_unref(fits);
  fl_run_free(run);
  /* Without a limit the disk is not asked while the machine has room. */
  run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  beyond = fl_array_new(fl_run_ctx(run), FL_F64, 1, &n);
  CHECK(beyond != NULL);
  fl_array_unref(beyond);
  int64_t sizes[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  CHECK(fl_array_new(fl_run_ctx(run), FL_F64, 2, sizes) == NULL);
  CHECK(fl_ctx_code(fl_run_ctx(run)) == 712);
  fl_run_free(run);
  setrlimit(RLIMIT_FSIZE, &before);
}

enum { SMALL = 4000, SMALLS = 8000 };
static char *small[SMALLS];

static void fill_small(void) {
  for (int k = 0; k < SMALLS; k++) {
    small[k] = malloc(SMALL);
    if (small[k]) memset(small[k], k, SMALL);
  }
}

/* All but one in each 64, so that nothing at the end of the C library's memory is free. */
static void free_small(void) {
  for (int k = 0; k < SMALLS; k++)
    if (k % 64) free(small[k]);
}

/* A run whose limit allows so many bytes more than the process has, and all small values. */
static FlPool *filled(int64_t room) {
  FlPool *p = fl_pool_new(0);
  CHECK(p && fl_pool_limit(p, resident().own + room, NULL));
  fill_small();
  fl_pool_breathe(p); /* somebody looked */
  return p;
}

static void free_rest(void) {
  for (int k = 0; k < SMALLS; k += 64) free(small[k]);
}

/* Small values that are gone take no room from others, whenever a block is asked for; those that are there
 * end the run where they pass the limit. */
static void test_small_values(void) {
  if (SANITIZED) return;
  for (int held = 0; held < 2; held++) {
    FlPool *p = filled(SMALL * SMALLS / 4 * 3);
    FlBlock b;
    if (!held) free_small();
    bool there = fl_pool_take(p, 64 << 10, FL_BLOCK_SWEPT, &b);
    check(there == !held, "a block beside small values, case %d", held);
    if (there) fl_pool_give(p, b);
    FlPoolTold told;
    fl_pool_say(p, 64 << 10, &told);
    if (!there) check(strstr(told.message, "too small to be kept on disk") != NULL, "told: %s", told.message);
    if (held) free_small();
    free_rest();
    fl_pool_free(p);
  }
}

typedef struct Waiting {
  FlPool *pool;
  _Atomic bool ended;
  bool there;
} Waiting;

static void *take_one(void *env) {
  Waiting *w = env;
  FlBlock b;
  w->there = fl_pool_take(w->pool, 64 << 10, FL_BLOCK_SWEPT, &b);
  if (w->there) fl_pool_give(w->pool, b);
  atomic_store(&w->ended, true);
  return NULL;
}

/* Whoever asks for a block past the limit counts again and again while it waits for others, and sees what
 * they free, unless it was free before this thread had a turn. */
static void test_waiting(void) {
  if (SANITIZED) return;
  enum { COUNTS = 3, MANY = 20 };
  Waiting w = {.pool = filled(SMALL * SMALLS / 4 * 3)};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, take_one, &w) == 0);
  while (fl_pool_rooms(w.pool) < COUNTS && !atomic_load(&w.ended)) usleep(100);
  bool early = atomic_load(&w.ended);
  free_small();
  int64_t freed = fl_pool_rooms(w.pool);
  pthread_join(thread, NULL);
  int64_t last = fl_pool_rooms(w.pool);
  check(!early || !w.there, "nobody gets a block past the limit");
  check(w.there || last > MANY, "it counted %lld times before it gave up", (long long)last);
  check(w.there || last - freed < 2, "what is free is seen by a count that begins later");
  free_rest();
  fl_pool_free(w.pool);
}

/* Values that fill the limit nearly and stay: whoever takes blocks meanwhile does not walk over all memory
 * for each, and a free block is used again. */
static void test_nearly_full(void) {
  if (SANITIZED) return;
  enum { BLOCK = 4 * MIB, TAKES = 1000 };
  int64_t limit = INT64_C(256) * MIB;
  FlPool *p = fl_pool_new(0);
  FlBlock b, again, file;
  CHECK(p && fl_pool_limit(p, limit, NULL));
  CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &b) && !b.in_file);
  memset(b.data, 1, BLOCK);
  size_t n = (size_t)(limit / 40 * 39 - resident().own);
  char *fill = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(fill, n, MADV_NOHUGEPAGE); /* a walk takes time */
  memset(fill, 1, n);
  fl_pool_breathe(p);
  fl_pool_give(p, b);
  CHECK(fl_pool_take(p, BLOCK, FL_BLOCK_SWEPT, &again) && again.data == b.data);
  check(fl_pool_rooms(p) == 0, "a block that is free needs no room");
  bool there = true, in_file = true;
  for (int k = 0; k < TAKES; k++) {
    there &= fl_pool_take(p, FL_POOL_MIN, FL_BLOCK_SWEPT, &file);
    in_file &= file.in_file;
    fl_pool_give(p, file);
  }
  CHECK(there);
  CHECK(in_file);
  int64_t rooms = fl_pool_rooms(p);
  check(rooms > 0 && rooms < TAKES / 10, "room is made %lld times for %d blocks", (long long)rooms, TAKES);
  munmap(fill, n);
  fl_pool_give(p, again);
  fl_pool_free(p);
}

/* Bytes that are kept in a file come back; a disk that fails is told, with its folder. */
static void test_scratch(void) {
  enum { N = 4 * MIB };
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  FlScratch *s = fl_scratch_new(ctx, N);
  char *piece = malloc(N), *back = malloc(N);
  CHECK(s != NULL && piece && back);
  for (int k = 0; k < N; k++) piece[k] = (char)(k >> 10);
  CHECK(fl_scratch_write(s, piece + N / 2, N / 2, N / 2) && fl_scratch_write(s, piece, N / 2, 0));
  CHECK(fl_scratch_read(s, back, N, 0) && memcmp(piece, back, N) == 0);
  char folder[4096];
  CHECK(fl_scratch_why(s, folder, sizeof folder) == 0);
  struct rlimit before = fill_disks();
  CHECK(fl_scratch_write(s, piece, MIB, 0));
  CHECK(!fl_scratch_write(s, piece, MIB, 2 * MIB));
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(fl_scratch_why(s, folder, sizeof folder) == EFBIG);
  check(folder[0] == '/' && access(folder, W_OK) == 0, "the folder: %s", folder);
  fl_scratch_free(s);
  free(piece);
  free(back);
  fl_run_free(run);
}

/* Pieces of a log, of sizes around those of its segments, taken by several threads in any order. */
enum { PIECES = 400, TAKERS = 3, LARGE = 3 * MIB };

typedef struct Taken {
  FlLog *log;
  const char *from;
  int64_t at[PIECES + 1];
  _Atomic int next;
  _Atomic int why;
} Taken;

static void *take_pieces(void *arg) {
  Taken *t = arg;
  for (int k; (k = atomic_fetch_add(&t->next, 1)) < PIECES;) {
    int piece = k * 7 % PIECES; /* each once */
    int64_t at = t->at[piece], why = fl_log_write(t->log, t->from + at, t->at[piece + 1] - at, at);
    if (why) t->why = (int)why;
  }
  return NULL;
}

static void take_all(Taken *t) {
  pthread_t threads[TAKERS];
  for (int k = 0; k < TAKERS; k++) CHECK(pthread_create(&threads[k], NULL, take_pieces, t) == 0);
  for (int k = 0; k < TAKERS; k++) CHECK(pthread_join(threads[k], NULL) == 0);
}

/* What pieces were taken for stands in the file once the log has ended; a disk that fails is told by then. */
static void test_log(void) {
  FlPool *p = fl_pool_new(INT64_C(16) << 30);
  Taken t = {0};
  unsigned state = 7;
  for (int k = 0; k < PIECES; k++) {
    state = state * 1103515245 + 12345;
    int64_t most = k % 50 == 7 ? LARGE : k % 5 == 0 ? 64 * 1024 : 5000;
    t.at[k + 1] = t.at[k] + (k % 31 == 3 ? 0 : 1 + (int64_t)(state >> 8) % most);
  }
  int64_t n = t.at[PIECES];
  char *bytes = malloc((size_t)n), *back = calloc(1, (size_t)n);
  for (int64_t k = 0; k < n; k++) bytes[k] = (char)(k * 31 >> 7);
  for (int fails = 0; fails < 2; fails++) {
    int fd = -1;
    CHECK(p && bytes && back && fl_spill_file(NULL, (size_t)n, &fd) == FL_SPILL_OK);
    int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, flags | O_DIRECT); /* where the file system does not take it, as others write */
    t.from = bytes;
    t.log = fl_log_new(p, fd);
    CHECK(t.log != NULL);
    atomic_store(&t.next, 0);
    struct rlimit before = {0};
    if (fails) before = fill_disks();
    take_all(&t);
    CHECK(fl_log_end(t.log) == (fails ? EFBIG : 0) && fl_log_end(t.log) == (fails ? EFBIG : 0));
    if (fails) setrlimit(RLIMIT_FSIZE, &before);
    for (int64_t at = 0, here = 0; !fails && at < n; at += here) {
      int64_t place = fl_log_place(t.log, at, &here);
      CHECK(place >= 0 && here > 0 && pread(fd, back + at, (size_t)here, place) == here);
    }
    int64_t none;
    CHECK(fails || (memcmp(bytes, back, (size_t)n) == 0 && fl_log_place(t.log, n, &none) < 0));
    CHECK(t.why == (fails ? t.why : 0) && fcntl(fd, F_GETFL) == flags);
    fl_log_free(t.log);
    close(fd);
  }
  fl_log_free(NULL);
  free(bytes);
  free(back);
  fl_pool_free(p);
}

/* Files that fill, change and go while the thread writes them keep what is in them; who closes one waits for
 * a piece at most, and the end for no round. */
static void test_writer(void) {
  enum { N = 8 * MIB, FILES = 4, ROUNDS = 12 };
  FlWriter *w = fl_writer_new(MIB);
  CHECK(w != NULL);
  FlWritten *file[FILES] = {0};
  int fd[FILES], own = -1;
  char *piece = malloc(N), *back = malloc(N);
  bool same = true;
  for (int round = 0; round < ROUNDS; round++) {
    int k = round % FILES;
    if (file[k]) {
      fl_writer_remove(w, file[k]);
      memset(piece, round - FILES, N);
      same &= pread(fd[k], back, N, 0) == N && memcmp(piece, back, N) == 0;
      close(fd[k]);
    }
    CHECK(fl_spill_file(NULL, N, &fd[k]) == FL_SPILL_OK && (own = dup(fd[k])) >= 0);
    file[k] = fl_writer_add(w, own, N);
    CHECK(file[k] != NULL);
    memset(piece, round, N);
    same &= pwrite(fd[k], piece, N, 0) == N;
    fl_writer_breathe(w);
  }
  CHECK(same);
  fl_writer_stop(w);
  for (int k = 0; k < FILES; k++) {
    fl_writer_remove(w, file[k]);
    close(fd[k]);
  }
  fl_writer_free(w);
  free(piece);
  free(back);
}

int main(void) {
  test_machine();
  test_spill();
  test_mapped();
  test_residents();
  test_run();
  test_share();
  test_moved_pages();
  test_share_of_run();
  test_no_room();
  test_small_values();
  test_waiting();
  test_nearly_full();
  test_scratch();
  test_log();
  test_writer();
  return finish();
}
