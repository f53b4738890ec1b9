/* pool.c: large blocks of memory, and the bounded list of free ones that a run reuses.
 *
 * In: sizes. Out: blocks aligned to 64 bytes, of 2 MiB and more to 2 MiB with huge pages asked for.
 * What always holds: a block is either in use (its buffer holds one reference of the pool) or in `free`; the
 * free blocks together are at most `limit` bytes, and the oldest give way. One lock; only large blocks come
 * here. */
#include "data/data_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FL_POOL_SLOTS = 128 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

typedef struct FlFreeBlock {
  void *data;
  size_t capacity;
} FlFreeBlock;

struct FlPool {
  pthread_mutex_t lock;
  _Atomic int64_t refs; /* the run's, and one for each block in use */
  size_t limit, held;
  int n, closed;
  FlFreeBlock free[FL_POOL_SLOTS]; /* oldest first */
};

static void *map_huge(size_t bytes) {
  size_t span = bytes + HUGE_PAGE;
  char *base = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return NULL;
  size_t skip = (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
  if (skip) munmap(base, skip);
  if (span - skip > bytes) munmap(base + skip + bytes, span - skip - bytes);
  madvise(base + skip, bytes, MADV_HUGEPAGE);
  return base + skip;
}

static void *block_new(size_t bytes, size_t *capacity) {
  size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : 4096;
  if (bytes > SIZE_MAX / 2) return NULL;
  *capacity = (bytes + unit - 1) / unit * unit;
  return bytes >= HUGE_PAGE ? map_huge(*capacity) : aligned_alloc(FL_ALIGN, *capacity);
}

static void block_free(FlFreeBlock b) {
  if (b.capacity >= HUGE_PAGE) {
    munmap(b.data, b.capacity);
  } else {
    free(b.data);
  }
}

static void drop(FlPool *p, int k) {
  p->held -= p->free[k].capacity;
  memmove(p->free + k, p->free + k + 1, (size_t)(p->n - k - 1) * sizeof *p->free);
  p->n--;
}

FlPool *fl_pool_new(void) {
  FlPool *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  atomic_init(&p->refs, 1);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  size_t physical = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)4 << 30;
  p->limit = physical / 8;
  return p;
}

FlPool *fl_pool_ref(FlPool *p) {
  if (p) atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
  return p;
}

void fl_pool_unref(FlPool *p) {
  /* acq_rel: the last one to leave sees all that the others wrote before they left. */
  if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
  for (int k = 0; k < p->n; k++) block_free(p->free[k]);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

void fl_pool_free(FlPool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->closed = 1;
  for (int k = 0; k < p->n; k++) block_free(p->free[k]);
  p->n = 0;
  p->held = 0;
  pthread_mutex_unlock(&p->lock);
  fl_pool_unref(p);
}

/* The smallest free block that fits without wasting more than half of it; newest at ties. -1: none. */
static int best_fit(const FlPool *p, size_t bytes) {
  int best = -1;
  for (int k = 0; k < p->n; k++) {
    size_t c = p->free[k].capacity;
    if (c >= bytes && c / 2 <= bytes && (best < 0 || c <= p->free[best].capacity)) best = k;
  }
  return best;
}

void *fl_pool_take(FlPool *p, size_t bytes, size_t *capacity) {
  if (p) {
    FlFreeBlock b = {NULL, 0};
    pthread_mutex_lock(&p->lock);
    int k = best_fit(p, bytes);
    if (k >= 0) {
      b = p->free[k];
      drop(p, k);
    }
    pthread_mutex_unlock(&p->lock);
    if (b.data) {
      *capacity = b.capacity;
      return b.data;
    }
  }
  return block_new(bytes, capacity);
}

void fl_pool_give(FlPool *p, void *data, size_t capacity) {
  FlFreeBlock given = {data, capacity}, out[FL_POOL_SLOTS + 1];
  int n_out = 0;
  if (!p) {
    block_free(given);
    return;
  }
  pthread_mutex_lock(&p->lock);
  if (p->closed || capacity > p->limit) {
    out[n_out++] = given;
  } else {
    while (p->n == FL_POOL_SLOTS || p->held + capacity > p->limit) {
      out[n_out++] = p->free[0];
      drop(p, 0);
    }
    p->free[p->n++] = given;
    p->held += capacity;
  }
  pthread_mutex_unlock(&p->lock);
  for (int k = 0; k < n_out; k++) block_free(out[k]);
}
