/* ahead.c: what is asked of the disk ahead comes into memory, as the system says (mincore); what is too much
 * is forgotten at once; a buffer that is announced by several threads has one that asks, and may go at any
 * time. */
#include "check.h"

#include "data/ahead.h"
#include "data/data.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096, STEP = 64, THREADS = 4, ROUNDS = 50 };

static size_t page;

static int file_of_pages(void) {
  char path[] = "/var/tmp/flow_ahead_XXXXXX"; /* on a disk, not in memory */
  int fd = mkstemp(path);
  if (fd < 0) return fd;
  unlink(path);
  char *one = malloc(page);
  bool fine = one != NULL;
  for (int k = 0; fine && k < PAGES; k++) {
    memset(one, k % 251, page);
    fine = write(fd, one, page) == (ssize_t)page;
  }
  free(one);
  check(fine && fsync(fd) == 0, "a file of %d pages", PAGES);
  return fd;
}

static char *map(int fd) { return mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE, fd, 0); }

/* How many of the pages 0, STEP, 2 * STEP .. are in memory. */
static int in_memory(char *map) {
  int n = 0;
  for (int k = 0; k < PAGES; k += STEP) {
    unsigned char there = 0;
    if (mincore(map + (size_t)k * page, page, &there) == 0) n += there & 1;
  }
  return n;
}

static void test_comes(int fd) {
  char *at = map(fd);
  FlAhead *a = fl_ahead_new();
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  bool taken = true;
  for (int k = 0; k < PAGES; k += STEP) taken &= fl_ahead_ask(a, at + (size_t)k * page, page);
  check(taken, "there is room for a few pieces");
  for (int k = 0; k < 2000 && in_memory(at) < PAGES / STEP; k++)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  check(in_memory(at) == PAGES / STEP, "%d of %d pages came", in_memory(at), PAGES / STEP);
  check(at[0] == 0 && at[5 * page] == 5, "and are the file's");
  fl_ahead_free(a);
  munmap(at, PAGES * page);
}

/* More than is kept: some are forgotten, nobody waits, and the end does not come behind all of them. */
static void test_too_much(int fd) {
  char *at = map(fd);
  FlAhead *a = fl_ahead_new();
  int taken = 0, all = 1 << 20;
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  for (int k = 0; k < all; k++) taken += fl_ahead_ask(a, at + (size_t)(k % PAGES) * page, page);
  check(taken > 0 && taken <= all, "%d pieces were taken", taken);
  fl_ahead_free(a);
  munmap(at, PAGES * page);
  fl_ahead_free(NULL);
}

static void *announce(void *of) {
  FlBuffer *b = of;
  for (int k = 0; k < PAGES; k += STEP / 4)
    fl_buffer_announce(b, (const char *)b->data + (size_t)k * page + 100, 3 * (int64_t)page);
  fl_buffer_unref(b);
  return NULL;
}

static void test_buffers(int fd) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS];
    FlBuffer *b = fl_buffer_of_map(NULL, map(fd), (int64_t)(PAGES * page), (int64_t)(PAGES * page));
    for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, announce, fl_buffer_ref(b));
    check(b != NULL && ((const char *)b->data)[page] == 1, "a page is the file's meanwhile");
    fl_buffer_unref(b);
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  }
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  int fd = file_of_pages();
  if (fd >= 0) {
    test_comes(fd);
    test_too_much(fd);
    test_buffers(fd);
    close(fd);
  }
  return finish();
}
