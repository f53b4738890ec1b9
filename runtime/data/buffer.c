/* buffer.c: reference-counted memory.
 *
 * Out: FlBuffers, whose kind says where their memory comes from: our own (small: in the same block as the
 * FlBuffer; large: from the pool, spilled where its block lies in a file) and mappings; heap.c makes those of
 * texts, reserved.c and unwritten.c addresses of which a part is memory. What always holds: the FlBuffer
 * starts the block that malloc gave, so that the last owner frees it; keeps go after the contents that may
 * point into them. */
#include "data/ahead.h"
#include "data/data_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct FlOwnBuffer {
  FlBuffer base;
  FlPool *pool;
  FlBlock block; /* a large one; capacity 0: the data follows this struct */
} FlOwnBuffer;

/* A mapping. */
typedef struct FlMapBuffer {
  FlBuffer base;
  FlLoan *loan;             /* of what may be dropped; may be NULL */
  int64_t clean;            /* bytes at its start that may be dropped */
  int fd;                   /* of the file that is mapped from its start on; -1: not known */
  _Atomic(FlAhead *) ahead; /* asks the disk for it; NULL: nobody has announced anything */
} FlMapBuffer;

static bool is_own(const FlBuffer *b) { return b->kind == FL_BUFFER_MEMORY || b->kind == FL_BUFFER_SPILLED; }

static void release_arrays(FlBuffer *b) {
  FlArray **elements = b->data;
  for (int64_t k = 0; k < b->bytes / (int64_t)sizeof *elements; k++) fl_array_unref(elements[k]);
}

static void release_own(FlOwnBuffer *own) {
  if (own->base.holds_arrays) release_arrays(&own->base);
  if (!own->block.capacity) return;
  fl_pool_give(own->pool, own->block);
  fl_pool_unref(own->pool);
}

static void release_map(FlMapBuffer *m) {
  fl_ahead_free(atomic_load_explicit(&m->ahead, memory_order_acquire));
  fl_pool_unlend(m->loan);
  if (m->fd >= 0) close(m->fd);
  munmap(m->base.data, (size_t)m->base.bytes);
}

static void give_back(FlBuffer *b) {
  switch ((FlBufferKind)b->kind) {
  case FL_BUFFER_LENT:
    if (b->release) b->release(b);
    break;
  case FL_BUFFER_MEMORY:
  case FL_BUFFER_SPILLED: release_own((FlOwnBuffer *)b); break;
  case FL_BUFFER_MAPPED: release_map((FlMapBuffer *)b); break;
  case FL_BUFFER_PARTED: fl_buffer_release_part(b); break;
  case FL_BUFFER_UNWRITTEN: fl_buffer_release_unwritten(b); break;
  case FL_BUFFER_TEXTS: fl_heap_release((FlHeap *)b); break;
  }
}

void *fl_data_no_memory(FlCtx *ctx, int64_t bytes) {
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  FlPoolTold told;
  if (bytes < 0 || bytes == INT64_MAX) {
    if (ctx) fl_ctx_out_of_memory(ctx, "out of memory: an array of this size is beyond any computer", NULL);
  } else if (pool) {
    fl_pool_say(pool, bytes, &told);
    fl_ctx_out_of_memory(ctx, told.message, told.help);
  } else if (ctx) {
    fl_ctx_out_of_memory(ctx, "out of memory", NULL);
  }
  return NULL;
}

static FlBuffer *buffer_new(FlCtx *ctx, int64_t bytes, FlBlockUse use) {
  if (bytes < 0) return fl_data_no_memory(ctx, bytes);
  size_t need = ((size_t)bytes + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN;
  bool large = need >= FL_POOL_MIN || (use == FL_BLOCK_SHARED && need);
  FlOwnBuffer *own = malloc(sizeof *own + (large ? 0 : FL_ALIGN + (need ? need : FL_ALIGN)));
  if (!own) return fl_data_no_memory(ctx, bytes);
  memset(own, 0, sizeof *own);
  if (large) {
    FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
    if (!fl_pool_take(pool, need, use, &own->block)) {
      free(own);
      return fl_data_no_memory(ctx, bytes);
    }
    own->base.data = own->block.data;
    own->pool = fl_pool_ref(pool);
  } else {
    /* Aligned here: malloc keeps small blocks at hand, aligned_alloc does not. */
    uintptr_t behind = (uintptr_t)(own + 1);
    own->base.data = (void *)((behind + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN);
  }
  atomic_init(&own->base.refs, 1);
  own->base.bytes = bytes;
  own->base.kind = own->block.in_file ? FL_BUFFER_SPILLED : FL_BUFFER_MEMORY;
  return &own->base;
}

FlBuffer *fl_buffer_new(FlCtx *ctx, int64_t bytes) { return buffer_new(ctx, bytes, FL_BLOCK_SWEPT); }

FlBuffer *fl_buffer_new_near(FlCtx *ctx, int64_t bytes) { return buffer_new(ctx, bytes, FL_BLOCK_NEAR); }

FlBuffer *fl_buffer_new_shared(FlCtx *ctx, int64_t bytes) { return buffer_new(ctx, bytes, FL_BLOCK_SHARED); }

void fl_buffer_end_sharing(FlBuffer *b) {
  FlOwnBuffer *own = (FlOwnBuffer *)b;
  if (own->block.capacity) madvise(own->block.data, own->block.capacity, MADV_DONTFORK);
}

FlBuffer *fl_buffer_new_list(FlCtx *ctx, int64_t bytes) {
  FlBuffer *b = fl_buffer_new(ctx, bytes);
  if (!b) return NULL;
  memset(b->data, 0, (size_t)bytes);
  b->holds_arrays = true;
  return b;
}

FlBuffer *fl_buffer_within(FlCtx *ctx, FlBuffer *of, void *data, int64_t bytes) {
  FlBuffer *b = calloc(1, sizeof *b);
  if (!b) return fl_data_no_memory(ctx, (int64_t)sizeof *b);
  *b = (FlBuffer){.data = data, .bytes = bytes, .kind = FL_BUFFER_LENT};
  atomic_init(&b->refs, 1);
  if (fl_buffer_keep(b, of)) return b;
  fl_buffer_unref(b);
  return fl_data_no_memory(ctx, (int64_t)sizeof of);
}

FlBuffer *fl_buffer_of_map(FlCtx *ctx, void *map, int64_t bytes, int64_t clean) {
  FlMapBuffer *m = calloc(1, sizeof *m);
  if (!m) return fl_data_no_memory(ctx, (int64_t)sizeof *m);
  atomic_init(&m->base.refs, 1);
  m->base.data = map;
  m->base.bytes = bytes;
  m->base.kind = FL_BUFFER_MAPPED;
  m->clean = clean;
  m->fd = -1;
  m->loan = fl_pool_lend(ctx ? fl_ctx_pool(ctx) : NULL, map, clean);
  return &m->base;
}

void fl_buffer_rest(FlBuffer *b) {
  if (b->kind == FL_BUFFER_MAPPED) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size_t)((FlMapBuffer *)b)->clean / page * page;
    if (whole) madvise(b->data, whole, MADV_DONTNEED);
  }
  for (int32_t k = 0; k < b->n_keeps; k++) fl_buffer_rest(b->keeps[k]);
}

void fl_buffer_rest_range(FlBuffer *b, const char *from, const char *to) {
  if (b->kind != FL_BUFFER_MAPPED) return;
  int64_t page = sysconf(_SC_PAGESIZE), begin = from - (const char *)b->data,
          end = to - (const char *)b->data;
  int64_t clean = ((FlMapBuffer *)b)->clean;
  begin = (begin + page - 1) / page * page;
  end = (end < clean ? end : clean) / page * page;
  if (begin >= 0 && begin < end) madvise((char *)b->data + begin, (size_t)(end - begin), MADV_DONTNEED);
}

void fl_buffer_come(const FlBuffer *b, const char *from, const char *to) {
#ifdef MADV_POPULATE_READ /* which a kernel need not know */
  if (b->kind != FL_BUFFER_MAPPED) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)from / page * page;
  madvise((void *)begin, (uintptr_t)to - begin, MADV_POPULATE_READ);
#else
  (void)b, (void)from, (void)to;
#endif
}

bool fl_buffer_in_file(const FlBuffer *b) {
  return b->kind == FL_BUFFER_SPILLED || (b->kind == FL_BUFFER_MAPPED && ((const FlMapBuffer *)b)->clean > 0);
}

void fl_buffer_keep_file(FlBuffer *b, int fd) {
  if (b->kind == FL_BUFFER_MAPPED) ((FlMapBuffer *)b)->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void fl_buffer_copy(const FlBuffer *b, void *to, const void *at, int64_t bytes) {
  int fd = b->kind == FL_BUFFER_MAPPED ? ((const FlMapBuffer *)b)->fd : -1;
  int64_t done = 0, from = (const char *)at - (const char *)b->data;
  while (fd >= 0 && done < bytes) {
    ssize_t got = pread(fd, (char *)to + done, (size_t)(bytes - done), from + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += got;
  }
  if (done < bytes) memcpy((char *)to + done, (const char *)at + done, (size_t)(bytes - done));
}

/* Of a mapping, started by whoever announces first; NULL: not possible here. */
static FlAhead *ahead_of(FlMapBuffer *m) {
  /* acquire: the partner of the exchange, which releases what the thread was started with. */
  FlAhead *a = atomic_load_explicit(&m->ahead, memory_order_acquire), *none = NULL;
  if (a || !(a = fl_ahead_new())) return a;
  if (atomic_compare_exchange_strong_explicit(&m->ahead, &none, a, memory_order_acq_rel,
                                              memory_order_acquire))
    return a;
  fl_ahead_free(a);
  return none;
}

void fl_buffer_announce(FlBuffer *b, const void *at, int64_t bytes) {
  if (!fl_buffer_in_file(b) || bytes <= 0) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at / page * page;
  size_t all = (size_t)((uintptr_t)at + (uintptr_t)bytes - from);
  FlAhead *ahead = b->kind == FL_BUFFER_MAPPED ? ahead_of((FlMapBuffer *)b) : NULL;
  if (ahead) (void)fl_ahead_ask(ahead, (void *)from, all);
  else madvise((void *)from, all, MADV_WILLNEED);
}

void fl_buffer_discard(FlBuffer *b, const void *from, const void *to) {
  if (is_own(b) && !b->holds_arrays) fl_pool_discard(((FlOwnBuffer *)b)->block, from, to);
}

bool fl_buffer_is_writable(const FlBuffer *b) { return is_own(b) || b->kind == FL_BUFFER_PARTED; }

FlBuffer *fl_buffer_ref(FlBuffer *b) {
  if (b) atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  return b;
}

void fl_buffer_unref(FlBuffer *b) {
  /* acq_rel: whoever frees sees every other owner's last use. */
  if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  fl_buffer_forget_codes(b);
  give_back(b);
  for (int32_t k = 0; k < b->n_keeps; k++) fl_buffer_unref(b->keeps[k]);
  free(b->keeps);
  free(b);
}
