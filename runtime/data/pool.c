/* pool.c: large blocks of memory: which may stay in memory, which live in files, and the bounded list of free
 * ones that a run reuses.
 *
 * In: sizes. Out: blocks aligned to 64 bytes, of 2 MiB and more to 2 MiB with huge pages asked for (a rest of
 * a block behind its last whole one is of small pages). A block in a file (spill.h) is like any other to
 * those who use it. What always holds: a block is either in use (its buffer holds one reference of the pool)
 * or in `free`; the free blocks together are at most `limit` bytes, and the oldest give way; where none fits,
 * a new block is made of the huge pages of free ones, moved, and of fresh ones only as far as they do not do;
 * `used` is the size of all blocks, in use or free, that are not in files, and stays at most the share that
 * the limit allows; `highs` is told the size of blocks in use that are not in files. One lock; only large
 * blocks come here. */
#include "base/high.h"
#include "base/machine.h"
#include "data/data_internal.h"
#include "data/mapped.h"
#include "data/spill.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FL_POOL_SLOTS = 128 };
static const size_t PAGE = 4096, HUGE_PAGE = (size_t)2 << 20;
/* Without a limit nobody asks the machine before so much is in use, and before a block is as large as this.
 */
static const size_t FREELY = (size_t)8 << 20, ASK_FROM = (size_t)64 << 20;
/* What the last pages of the blocks take that share the room. */
static const int64_t ROUNDED = 64 << 10;

/* Of a control group: bytes that may at least wait to be written. */
static const int64_t LEAST_DIRTY = (int64_t)12 << 20;

struct FlPool {
  pthread_mutex_t lock;
  _Atomic int64_t refs; /* the run's, and one for each block in use */
  size_t limit, held;
  int n, closed;
  FlBlock free[FL_POOL_SLOTS]; /* oldest first */
  size_t used;
  int64_t machine;             /* what the machine has; 0: not asked yet */
  size_t share;                /* what `used` may be; 0: not known yet */
  int64_t given;               /* --memory; 0: not given */
  void (*keep)(int64_t limit); /* told of the limit; NULL: nobody */
  char *folder;                /* where files are made first; NULL: none */
  FlResidents *residents;      /* NULL: nothing needs to be dropped */
  FlMappings mapped;           /* of all blocks in files */
  FlSpares spares;             /* of arrays in parts */
  FlWriter *_Atomic writer;    /* NULL: nothing is written behind */
  bool grouped;                /* a control group has less than the machine */
  FlHighs *highs;              /* of blocks in use; NULL: nobody asks */
  bool cut;                    /* more was asked for by --memory than there is */
  FlPoolLack lack;             /* of the last block that there was not */
  size_t lacked;               /* its size: whoever asks for as much again begins anew */
  _Atomic int64_t next_room;   /* nanoseconds: when room is made again where the limit is nearly filled */
  _Atomic int64_t rooms;       /* how often it was made */
  int64_t far;          /* blocks in files that are looked up in any order, for want of room of the pool */
  _Atomic bool gave_up; /* see fl_pool_give_up; release, after: */
  FlPoolTold given_up;  /* why */
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

/* Gives up the memory at `at` into which pages could not be moved. The system has unmapped it or not; where
 * it has, another thread may have got the place since, so nothing may be unmapped there that is not known to
 * be ours. A place that can be had without replacing anything was a hole. Else it is left as it is: it was
 * never touched, so it is addresses and no memory. */
static void leave_place(char *at, size_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *got = mmap(at, bytes, PROT_NONE, flags, -1, 0);
  if (got != MAP_FAILED) munmap(got, bytes);
}

/* As map_huge, of the given pages first; where one of them cannot be moved all are given back, and all of the
 * block is fresh. */
static void *map_pages(size_t bytes, const FlBlock *pages, int n) {
  char *base = map_huge(bytes), *at = base;
  int moved = 0;
  for (; base && moved < n; moved++) {
    size_t size = pages[moved].capacity;
    if (mremap(pages[moved].data, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at) break;
    at += size;
  }
  if (base && moved == n) return base;
  for (int i = moved; i < n; i++) munmap(pages[i].data, pages[i].capacity);
  if (!base) return NULL;
  size_t before = (size_t)(at - base), place = pages[moved].capacity;
  if (before) munmap(base, before);
  leave_place(at, place);
  if (before + place < bytes) munmap(at + place, bytes - before - place);
  return map_huge(bytes);
}

static void *map_shared(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* Whole pages; whole huge pages, where they do no more than an eighth of it in vain: each small one is a
 * fault of its own. Where memory is limited nothing is in vain. */
static size_t capacity_of(size_t bytes, bool limited) {
  size_t least = (bytes + PAGE - 1) / PAGE * PAGE, whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  return !limited && whole - least <= least / 8 ? whole : least;
}

static void block_free(FlBlock b) {
  if (b.shared || b.capacity >= HUGE_PAGE) {
    munmap(b.data, b.capacity);
  } else {
    free(b.data);
  }
}

void fl_pool_discard(FlBlock b, const void *from, const void *to) {
  uintptr_t begin = ((uintptr_t)from + PAGE - 1) / PAGE * PAGE, end = (uintptr_t)to / PAGE * PAGE;
  if (b.shared || b.in_file || b.capacity < HUGE_PAGE || begin >= end) return;
  madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* Takes free block k off the list; it still counts as used. */
static FlBlock take_free(FlPool *p, int k) {
  FlBlock b = p->free[k];
  p->held -= b.capacity;
  memmove(p->free + k, p->free + k + 1, (size_t)(p->n - k - 1) * sizeof *p->free);
  p->n--;
  return b;
}

FlPool *fl_pool_new(int64_t machine) {
  FlPool *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  fl_mapped_init(&p->mapped);
  fl_spares_init(&p->spares);
  atomic_init(&p->refs, 1);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  int64_t physical = machine ? machine : pages > 0 && page > 0 ? (int64_t)pages * page : (int64_t)4 << 30;
  p->machine = machine;
  p->limit = (size_t)physical / 8;
  return p;
}

static FlResident resident_now(void) {
  FlResident now = {0, 0};
  int statm = fl_machine_resident_open();
  if (statm >= 0) {
    (void)!fl_machine_resident(statm, &now);
    close(statm);
  }
  return now;
}

/* What the machine or the control group has. */
static int64_t machine_of(FlPool *p) {
  if (p->machine) return p->machine;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  p->machine = fl_machine_memory();
  p->grouped = pages > 0 && page > 0 && p->machine < (int64_t)pages * page;
  if (p->grouped && p->keep) p->keep(p->machine);
  return p->machine;
}

bool fl_pool_limit(FlPool *p, int64_t bytes, const char *folder) {
  if (folder && !(p->folder = strdup(folder))) return false;
  if (!bytes) return true;
  FlResident now = resident_now();
  /* A control group that has less is a limit that nobody may pass. */
  int64_t most = machine_of(p);
  p->cut = bytes > most;
  if (p->cut) bytes = most;
  /* Two fifths are for blocks, less what the process had before; the rest is for pages of files and small
   * values.
   */
  int64_t share = bytes / 5 * 2 - now.own;
  p->given = bytes;
  if (p->keep) p->keep(bytes);
  p->share = share > 0 ? (size_t)share : 1;
  if (p->limit > p->share / 2) p->limit = p->share / 2;
  p->residents = fl_residents_new(bytes);
  return true;
}

void fl_pool_tell(FlPool *p, void (*keep)(int64_t limit)) { p->keep = keep; }

void fl_pool_highs(FlPool *p, FlHighs *highs) { p->highs = fl_highs_ref(highs); }

FlPool *fl_pool_ref(FlPool *p) {
  if (p) atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
  return p;
}

void fl_pool_unref(FlPool *p) {
  /* acq_rel: the last one to leave sees all that the others wrote before they left. */
  if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
  for (int k = 0; k < p->n; k++) block_free(p->free[k]);
  fl_residents_free(p->residents);
  fl_mapped_free(&p->mapped);
  fl_spares_reset(&p->spares);
  fl_writer_free(p->writer);
  fl_highs_unref(p->highs);
  pthread_mutex_destroy(&p->lock);
  free(p->folder);
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
  fl_spares_close(&p->spares);
  fl_residents_stop(p->residents);
  fl_writer_stop(p->writer);
  fl_pool_unref(p);
}

static FlWriter *writer_of(const FlPool *p) { return atomic_load_explicit(&p->writer, memory_order_acquire); }

bool fl_pool_is_limited(const FlPool *p) { return p && (p->residents || writer_of(p)); }

FlSpares *fl_pool_spares(FlPool *p) { return !p || p->given || fl_pool_is_limited(p) ? NULL : &p->spares; }

void fl_pool_breathe(FlPool *p) {
  if (!p) return;
  if (p->residents) fl_residents_breathe(p->residents);
  FlWriter *writer = writer_of(p);
  if (writer) fl_writer_breathe(writer);
}

void fl_pool_fill(FlPool *p, void *to, const void *from, int64_t bytes) {
  enum { WORTH = 4 * 1024 }; /* a call costs as much as a page that comes into memory */
  if (bytes >= WORTH && p && fl_mapped_write(&p->mapped, to, from, (size_t)bytes)) return;
  memcpy(to, from, (size_t)bytes);
}

bool fl_pool_in_file(FlPool *p, const void *at) { return p && fl_mapped_has(&p->mapped, at); }

struct FlLoan {
  FlPool *pool;
  FlSpan *span;
};

FlLoan *fl_pool_lend(FlPool *p, void *at, int64_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size_t)bytes / page * page;
  FlLoan *loan = fl_pool_is_limited(p) && whole ? malloc(sizeof *loan) : NULL;
  if (!loan) return NULL;
  *loan = (FlLoan){fl_pool_ref(p), fl_residents_add(p->residents, at, whole)};
  return loan;
}

void fl_pool_unlend(FlLoan *loan) {
  if (!loan) return;
  fl_residents_remove(loan->pool->residents, loan->span);
  fl_pool_unref(loan->pool);
  free(loan);
}

/* The smallest free block that fits without wasting much of it; newest at ties. -1: none. */
static int best_fit(const FlPool *p, size_t bytes) {
  int best = -1;
  for (int k = 0; k < p->n; k++) {
    size_t c = p->free[k].capacity, waste = c >= HUGE_PAGE ? c / 16 : c / 2;
    if (c >= bytes && c - bytes <= waste && (best < 0 || c <= p->free[best].capacity)) best = k;
  }
  return best;
}

/* ---- memory or file ----------------------------------------------------------------------------------- */

/* What `used` may be at most, once so much is in use that it matters: without --memory 80% of the memory
 * there is.
 */
static size_t share_of(FlPool *p) {
  if (p->share) return p->share;
  int64_t others = 0; /* what this process has beside blocks, which a small group feels */
  if (!p->machine) {
    (void)machine_of(p);
    others = resident_now().own - (int64_t)p->used;
    if (p->limit > (size_t)p->machine / 8) p->limit = (size_t)p->machine / 8;
  }
  /* In a group pages of files count too, the program's among them, and tables that are looked up get more. */
  int64_t share = p->machine / 5 * (p->grouped ? 2 : 4) - (others > 0 ? others : 0), least = p->machine / 5;
  p->share = (size_t)(share > least ? share : least);
  return p->share;
}

/* What free blocks give to a new one, and what of them goes. */
typedef struct Parts {
  FlBlock pages[FL_POOL_SLOTS], gone[FL_POOL_SLOTS];
  FlBlock rests[FL_POOL_SLOTS]; /* mapped, and smaller than a huge page */
  int n_pages, n_gone, n_rests;
  size_t bytes; /* of the pages */
} Parts;

/* The huge pages of free blocks, of the oldest first, for a block of `wanted` bytes. Under the lock. */
static void claim_pages(FlPool *p, size_t wanted, Parts *out) {
  for (int k = 0; k < p->n && wanted - out->bytes >= HUGE_PAGE;) {
    FlBlock *b = &p->free[k];
    size_t left = wanted - out->bytes, most = b->capacity < left ? b->capacity : left;
    FlBlock head = {.data = b->data, .capacity = most / HUGE_PAGE * HUGE_PAGE};
    if (!head.capacity) {
      k++;
      continue;
    }
    out->pages[out->n_pages++] = head;
    out->bytes += head.capacity;
    p->held -= head.capacity;
    b->data = (char *)b->data + head.capacity;
    b->capacity -= head.capacity;
    if (b->capacity >= HUGE_PAGE) continue;
    FlBlock rest = take_free(p, k);
    p->used -= rest.capacity;
    if (rest.capacity) out->rests[out->n_rests++] = rest;
  }
}

/* The least room that whoever asks gets, beside what small blocks may have. */
static int64_t least_room(const FlPool *p) { return p->given ? p->given / 8 : p->machine / 10; }

/* What `used` may be with a new block. Small blocks are often looked up in any order: they may go beyond the
 * share. What is looked up so for certain may go further, by the least room: swept and small blocks that came
 * before it, or between the question for room and the block, do not send it to a file. */
static size_t most_of(FlPool *p, size_t capacity, FlBlockUse use) {
  int64_t share = (int64_t)share_of(p), small = least_room(p),
          more = p->given ? p->given / 5 : p->machine / 20 * 3;
  if (!p->given && !p->grouped) return (size_t)share;
  if (use == FL_BLOCK_NEAR) return (size_t)(share + more + least_room(p));
  return (size_t)((int64_t)capacity <= small ? share + more : share);
}

int64_t fl_pool_room(FlPool *p, int64_t wanted) {
  if (!p || wanted <= 0) return wanted;
  pthread_mutex_lock(&p->lock);
  size_t in_use = p->used - p->held;
  if (!p->given && in_use + (size_t)wanted <= FREELY) {
    pthread_mutex_unlock(&p->lock);
    return wanted;
  }
  size_t most = share_of(p);
  int64_t free = most > in_use ? (int64_t)(most - in_use) : 0, held = (int64_t)p->held;
  int64_t least = least_room(p);
  pthread_mutex_unlock(&p->lock);
  if (!p->given && wanted >= (int64_t)ASK_FROM) {
    int64_t there = fl_machine_available();
    if (there < INT64_MAX && there / 10 * 9 + held < free) free = there / 10 * 9 + held;
  }
  if (free < least) free = least;
  return free - ROUNDED < wanted ? free - ROUNDED : wanted;
}

/* Whether a new block may be in memory, as far as the pool's own count goes; if so it counts. What free
 * blocks can give to it goes to `out`, and so do those that give way. Under the lock. */
static bool reserve(FlPool *p, size_t capacity, FlBlockUse use, Parts *out) {
  if (use != FL_BLOCK_SHARED && capacity >= HUGE_PAGE) claim_pages(p, capacity, out);
  size_t fresh = capacity - out->bytes;
  size_t most = p->given || p->used + fresh > FREELY ? most_of(p, capacity, use) : SIZE_MAX;
  while (p->n && p->used + fresh > most) {
    out->gone[out->n_gone] = take_free(p, 0);
    p->used -= out->gone[out->n_gone++].capacity;
  }
  if (fresh <= most && p->used <= most - fresh) {
    p->used += fresh;
    return true;
  }
  p->used -= out->bytes;
  return false;
}

/* Whether the machine has the room as well: others use it too. Without --memory only. */
static bool machine_has(const FlPool *p, size_t capacity) {
  if (p->given || capacity < ASK_FROM) return true;
  int64_t there = fl_machine_available();
  return there == INT64_MAX || capacity < (size_t)there / 10 * 9;
}

static bool lacks(FlPool *p, FlPoolLack lack, size_t bytes) {
  pthread_mutex_lock(&p->lock);
  p->lack = lack;
  p->lacked = bytes;
  pthread_mutex_unlock(&p->lock);
  return false;
}

/* The thread that writes files behind those who fill them: from the first file on, in a control group. */
static FlWriter *writer_wanted(FlPool *p) {
  pthread_mutex_lock(&p->lock);
  if (!writer_of(p)) {
    int64_t most = p->machine / 8;
    atomic_store_explicit(&p->writer, fl_writer_new(most > LEAST_DIRTY ? most : LEAST_DIRTY),
                          memory_order_release);
  }
  pthread_mutex_unlock(&p->lock);
  return writer_of(p);
}

static bool lacks_file(FlPool *p, FlSpillStatus s, size_t bytes) {
  static const FlPoolLack lack[] = {[FL_SPILL_NO_FOLDER] = FL_LACK_FOLDER,
                                    [FL_SPILL_NO_ROOM] = FL_LACK_DISK,
                                    [FL_SPILL_NO_MAP] = FL_LACK_MEMORY};
  return lacks(p, lack[s], bytes);
}

static bool in_file(FlPool *p, size_t capacity, FlBlock *out) {
  int fd = -1;
  FlSpillStatus s = fl_spill_map(p->folder, capacity, &out->data, &fd);
  if (s != FL_SPILL_OK) return lacks_file(p, s, capacity);
  out->capacity = capacity;
  out->in_file = true;
  if (p->grouped) { /* large pages, and nothing around them: what a disk reads ahead may be more than the
                       group has */
    madvise(out->data, capacity, MADV_RANDOM);
    madvise(out->data, capacity, MADV_HUGEPAGE);
  }
  if (!out->shared) madvise(out->data, capacity, MADV_DONTFORK);
  int written = p->grouped && fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  out->span = fl_residents_add(p->residents, out->data, capacity);
  out->file = fl_writer_add(written >= 0 ? writer_wanted(p) : NULL, written, capacity);
  fl_mapped_add(&p->mapped, out->data, capacity, fd);
  return true;
}

/* `parts`: pages that become the first of the block; NULL: none. */
static bool in_memory(FlPool *p, size_t capacity, const Parts *parts, FlBlock *out) {
  if (out->shared) {
    out->data = map_shared(capacity);
  } else if (capacity >= HUGE_PAGE) {
    out->data = map_pages(capacity, parts ? parts->pages : NULL, parts ? parts->n_pages : 0);
  } else {
    out->data = aligned_alloc(FL_ALIGN, capacity);
  }
  out->capacity = capacity;
  if (!out->data) return p && lacks(p, FL_LACK_MEMORY, capacity);
  if (p && !out->shared && capacity >= HUGE_PAGE) madvise(out->data, capacity, MADV_DONTFORK);
  return true;
}

/* Counts a block of memory, or with `less` counts it no more. */
static void count(FlPool *p, size_t capacity, bool less) {
  pthread_mutex_lock(&p->lock);
  p->used += less ? -capacity : capacity;
  pthread_mutex_unlock(&p->lock);
}

/* A new block, shared where *out says so. `stays`: it counts already, as one of memory. */
static bool new_block(FlPool *p, size_t capacity, bool stays, const Parts *parts, FlBlock *out) {
  for (int i = 0; i < parts->n_gone; i++) block_free(parts->gone[i]);
  for (int i = 0; i < parts->n_rests; i++) munmap(parts->rests[i].data, parts->rests[i].capacity);
  if (stays && machine_has(p, capacity - parts->bytes)) {
    if (in_memory(p, capacity, parts, out)) return true;
  } else {
    for (int i = 0; i < parts->n_pages; i++) block_free(parts->pages[i]);
  }
  if (stays) count(p, capacity, true);
  if (in_file(p, capacity, out)) return true;
  /* Without a disk the share is no law, as long as the machine has the room. */
  if (p->given || stays || !machine_has(p, capacity) || !in_memory(p, capacity, NULL, out)) return false;
  count(p, capacity, false);
  return true;
}

bool fl_pool_count(FlPool *p, size_t bytes, bool less) {
  if (!p) return true;
  if (less) {
    count(p, bytes, true);
    fl_highs_add(p->highs, -(int64_t)bytes);
    return true;
  }
  Parts parts;
  parts.n_pages = parts.n_gone = parts.n_rests = 0;
  parts.bytes = 0;
  pthread_mutex_lock(&p->lock);
  bool room = reserve(p, bytes, FL_BLOCK_SHARED, &parts);
  if (!room) p->lack = FL_LACK_LIMIT;
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < parts.n_gone; i++) block_free(parts.gone[i]);
  if (room) fl_highs_add(p->highs, (int64_t)bytes);
  return room;
}

static int64_t clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Gives back what is kept for later, by the pool and by the C library; what is in use then. It walks over all
 * memory of the process. */
static FlFill make_room(FlPool *p) {
  enum { RARE = 50 };
  FlBlock gone[FL_POOL_SLOTS];
  int64_t begin = clock_now();
  pthread_mutex_lock(&p->lock);
  int n = p->n;
  for (int k = 0; k < n; k++) {
    gone[k] = take_free(p, 0);
    p->used -= gone[k].capacity;
  }
  pthread_mutex_unlock(&p->lock);
  for (int k = 0; k < n; k++) block_free(gone[k]);
  fl_machine_trim();
  FlFill fill = fl_residents_fill_now(p->residents);
  /* relaxed: says when and how often, and guards nothing. */
  int64_t end = clock_now();
  atomic_store_explicit(&p->next_room, end + RARE * (end - begin), memory_order_relaxed);
  atomic_fetch_add_explicit(&p->rooms, 1, memory_order_relaxed);
  return fill;
}

int64_t fl_pool_far(FlPool *p) {
  pthread_mutex_lock(&p->lock);
  int64_t far = p->far;
  pthread_mutex_unlock(&p->lock);
  return far;
}

int64_t fl_pool_rooms(FlPool *p) { return atomic_load_explicit(&p->rooms, memory_order_relaxed); }

/* Whether it is time to make room where the limit is nearly filled, which may last as long as the run does:
 * one thread at a time, and for a small part of the time. */
static bool is_time(FlPool *p) {
  int64_t next = atomic_load_explicit(&p->next_room, memory_order_relaxed);
  return clock_now() >= next &&
         atomic_compare_exchange_strong_explicit(&p->next_room, &next, INT64_MAX, memory_order_relaxed,
                                                 memory_order_relaxed);
}

/* How much of the limit is filled, `fill` when somebody looked last, after room was made where it is needed.
 * Past it, other tasks get some time to end and give back what they have. */
static FlFill fill_of(FlPool *p, FlFill fill) {
  enum { WAITS = 50 };
  static const struct timespec wait = {.tv_nsec = 2000000};
  if (fill == FL_FILL_PAST || (fill == FL_FILL_FULL && is_time(p))) fill = make_room(p);
  for (int k = 0; fill == FL_FILL_PAST && k < WAITS; k++) {
    nanosleep(&wait, NULL);
    fill = make_room(p);
  }
  return fill;
}

bool fl_pool_take(FlPool *p, size_t bytes, FlBlockUse use, FlBlock *out) {
  bool shared = use == FL_BLOCK_SHARED;
  *out = (FlBlock){.shared = shared};
  if (bytes > SIZE_MAX / 4) return p && lacks(p, FL_LACK_MEMORY, bytes);
  size_t capacity = capacity_of(bytes, shared || fl_pool_is_limited(p));
  if (!p) return in_memory(NULL, capacity, NULL, out);
  FlFill fill = fl_residents_fill(p->residents);
  pthread_mutex_lock(&p->lock);
  if (bytes >= p->lacked) p->lack = FL_LACK_NOTHING;
  /* A free block needs no room; but whoever is past the limit does not go on with what is there. */
  int k = shared || fill == FL_FILL_PAST ? -1 : best_fit(p, bytes);
  if (k >= 0) *out = take_free(p, k);
  pthread_mutex_unlock(&p->lock);
  if (k >= 0) {
    fl_highs_add(p->highs, (int64_t)out->capacity);
    return true;
  }
  fill = fill_of(p, fill);
  if (fill == FL_FILL_PAST) return lacks(p, FL_LACK_LIMIT, bytes);
  Parts parts;
  parts.n_pages = parts.n_gone = parts.n_rests = 0;
  parts.bytes = 0;
  pthread_mutex_lock(&p->lock);
  bool stays = fill == FL_FILL_ROOM && reserve(p, capacity, use, &parts);
  p->far += use == FL_BLOCK_NEAR && fill == FL_FILL_ROOM && !stays;
  pthread_mutex_unlock(&p->lock);
  bool made = new_block(p, capacity, stays, &parts, out);
  if (made && !out->in_file) fl_highs_add(p->highs, (int64_t)out->capacity);
  return made;
}

bool fl_pool_file(FlPool *p, size_t bytes, int *fd, bool *direct) {
  FlSpillStatus s = fl_spill_file(p ? p->folder : NULL, bytes, fd);
  *direct = false;
  if (s != FL_SPILL_OK) return p && lacks_file(p, s, bytes);
  bool grouped = false;
  if (p) {
    pthread_mutex_lock(&p->lock);
    grouped = p->grouped;
    pthread_mutex_unlock(&p->lock);
  }
  if (!grouped) return true;
  int flags = fcntl(*fd, F_GETFL);
  *direct = flags >= 0 && fcntl(*fd, F_SETFL, flags | O_DIRECT) == 0;
  /* Calls say how much they read; what the system reads ahead of them may be more than the group has. */
  (void)posix_fadvise(*fd, 0, 0, POSIX_FADV_RANDOM);
  return true;
}

void fl_pool_past_cache(FlPool *p, int64_t bytes) {
  FlWriter *writer = p ? writer_of(p) : NULL;
  if (writer) fl_writer_past_cache(writer, bytes);
}

void fl_pool_give(FlPool *p, FlBlock b) {
  FlBlock out[FL_POOL_SLOTS + 1];
  int n_out = 0;
  if (b.in_file) {
    fl_residents_remove(p->residents, b.span);
    fl_writer_remove(writer_of(p), b.file);
    fl_mapped_remove(&p->mapped, b.data);
    munmap(b.data, b.capacity);
    return;
  }
  if (!p) {
    block_free(b);
    return;
  }
  fl_highs_add(p->highs, -(int64_t)b.capacity);
  pthread_mutex_lock(&p->lock);
  if (p->closed || b.shared || b.capacity > p->limit) {
    out[n_out++] = b;
  } else {
    while (p->n == FL_POOL_SLOTS || p->held + b.capacity > p->limit) out[n_out++] = take_free(p, 0);
    p->free[p->n++] = b;
    p->held += b.capacity;
  }
  for (int k = 0; k < n_out; k++) p->used -= out[k].capacity;
  pthread_mutex_unlock(&p->lock);
  for (int k = 0; k < n_out; k++) block_free(out[k]);
}

/* ---- what to tell ------------------------------------------------------------------------------------- */

static const char *size_text(char out[32], double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int u = 0;
  while (bytes >= 1024 && u < 6) bytes /= 1024, u++;
  snprintf(out, 32, u ? "%.1f %s" : "%.0f %s", bytes, units[u]);
  return out;
}

/* Whose limit the size is that messages name. */
static const char *limit_text(const FlPool *p) {
  if (!p->given) return "the machine or control group has";
  if (!p->cut) return "--memory is";
  return p->grouped ? "the control group has" : "the machine has";
}

const char *fl_pool_bound(FlPool *p, char out[FL_POOL_BOUND]) {
  char size[32];
  pthread_mutex_lock(&p->lock);
  size_text(size, p->given ? (double)p->given : (double)p->machine);
  snprintf(out, FL_POOL_BOUND, "%s %s", limit_text(p), size);
  pthread_mutex_unlock(&p->lock);
  return out;
}

void fl_pool_help(FlPool *p, char *out, size_t room) {
  FlPoolTold told = {0};
  FlPoolLack lack = FL_LACK_NOTHING;
  if (p) {
    pthread_mutex_lock(&p->lock);
    lack = p->lack;
    pthread_mutex_unlock(&p->lock);
  }
  if (lack != FL_LACK_NOTHING) fl_pool_say(p, 0, &told);
  snprintf(out, room, "%s", told.help);
}

void fl_pool_say(FlPool *p, int64_t bytes, FlPoolTold *out) {
  char need[32], limit[32], used[32];
  *out = (FlPoolTold){0};
  pthread_mutex_lock(&p->lock);
  FlPoolLack lack = p->lack;
  size_text(used, (double)p->used);
  size_text(limit, p->given ? (double)p->given : (double)p->share);
  pthread_mutex_unlock(&p->lock);
  size_text(need, (double)bytes);
  const char *of = p->given ? limit_text(p) : "80% of the machine's or control group's memory are";
  switch (lack) {
  case FL_LACK_NOTHING:
  case FL_LACK_MEMORY:
    snprintf(out->message, sizeof out->message, "out of memory: the system gives no %s more (%s are in use)",
             need, used);
    snprintf(out->help, sizeof out->help,
             "is the size meant? else a limit of the system (ulimit -v) is reached");
    break;
  case FL_LACK_DISK:
    snprintf(
        out->message, sizeof out->message,
        "out of memory and disk: %s more are needed, %s are in use, %s %s, and no disk has room for the rest",
        need, used, of, limit);
    snprintf(out->help, sizeof out->help,
             "free some disk space, or name a folder on a larger disk: --cache FOLDER, or TMPDIR=FOLDER "
             "before the "
             "command%s",
             p->given && !p->cut ? "; or say a larger --memory" : "");
    break;
  case FL_LACK_FOLDER:
    snprintf(out->message, sizeof out->message,
             "out of memory: %s more are needed, %s are in use, %s %s, and there is no folder on a disk for "
             "the rest",
             need, used, of, limit);
    snprintf(
        out->help, sizeof out->help,
        "name a folder on a disk that may be written: --cache FOLDER, or TMPDIR=FOLDER before the command%s",
        p->given && !p->cut ? "; or say a larger --memory" : "");
    break;
  case FL_LACK_LIMIT:
    snprintf(out->message, sizeof out->message,
             "out of memory: %s %s, and values too small to be kept on disk fill it", of, limit);
    snprintf(out->help, sizeof out->help,
             p->cut ? "run it where there is more memory" : "say a larger --memory");
    break;
  }
}

void fl_pool_give_up(FlPool *p, int64_t bytes) {
  FlPoolTold told;
  if (!p || fl_pool_gave_up(p)) return;
  fl_pool_say(p, bytes, &told);
  pthread_mutex_lock(&p->lock);
  if (!fl_pool_gave_up(p)) p->given_up = told;
  atomic_store_explicit(&p->gave_up, true, memory_order_release);
  pthread_mutex_unlock(&p->lock);
}

bool fl_pool_gave_up(const FlPool *p) { return p && atomic_load_explicit(&p->gave_up, memory_order_acquire); }

void fl_pool_gave_up_why(FlCtx *ctx) {
  const FlPool *p = fl_ctx_pool(ctx);
  if (fl_pool_gave_up(p)) fl_ctx_out_of_memory(ctx, p->given_up.message, p->given_up.help);
}
