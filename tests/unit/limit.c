/* limit.c: what stays in memory and what lives in files: sizes of the machine, files without names, spans
 * whose pages are dropped, the pool's share, and what is told when nothing has room. */
#include "check.h"
#include "base/machine.h"
#include "data/data.h"
#include "data/resident.h"
#include "data/spill.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
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
  CHECK(fl_spill_map("/nowhere/at/all", n, (void **)&p) == FL_SPILL_OK); /* the next folder is taken */
  bool zero = true;
  for (size_t k = 0; k < n; k += 4096) zero &= p[k] == 0;
  check(zero, "new memory is zero");
  memset(p, 7, n);
  madvise(p, n, MADV_DONTNEED);
  bool same = true;
  for (size_t k = 0; k < n; k++) same &= p[k] == 7;
  check(same, "dropped pages come back");
  munmap(p, n);
  CHECK(fl_spill_map(NULL, (size_t)1 << 60, (void **)&p) == FL_SPILL_NO_ROOM);
}

/* Pages of a span leave when the process is above the limit, and only then; what is in them stays. */
static void test_residents(void) {
  enum { N = 32 * MIB };
  for (int tight = 0; tight < 2; tight++) {
    char *p = NULL;
    if (fl_spill_map(NULL, N, (void **)&p) != FL_SPILL_OK) {
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
    CHECK(!fl_residents_full(r) || tight);
    fl_residents_remove(r, second);
    fl_residents_stop(r);
    fl_residents_remove(r, first);
    fl_residents_free(r);
    munmap(p, N);
  }
}

/* A sanitizer's own memory counts too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const int64_t LIMIT = INT64_C(8000) * MIB;
#else
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

/* No file may grow: as if every disk were full. */
static void test_no_room(void) {
  struct rlimit before, small = {MIB, MIB};
  getrlimit(RLIMIT_FSIZE, &before);
  small.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
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

int main(void) {
  test_machine();
  test_spill();
  test_residents();
  test_run();
  test_no_room();
  return finish();
}
