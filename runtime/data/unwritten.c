/* unwritten.c: arrays whose elements are written when somebody first reads them.
 *
 * In: how many elements, later which of them are read. Out: a buffer with addresses for all of them, whose
 * elements are written chunk by chunk, by whoever knows what they are made of (coded.c, selected.c). What
 * always holds: a read of an element that is not written traps; a chunk is written once, by whoever claims
 * it, who does nothing else meanwhile, so that others may wait for it; the memory of all elements counts from
 * the start, so that writing them later needs no room that there is not. */
#include "data/unwritten_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FROM = 1 << 16, CHUNK_BYTES = 2 << 20 /* a large page */ };
enum { UNWRITTEN, CLAIMED, WRITTEN };

int64_t fl_unwritten_from(void) {
  static _Atomic int64_t known; /* 0: not yet; all who find it out find the same */
  int64_t n = atomic_load_explicit(&known, memory_order_relaxed);
  if (n) return n;
  const char *word = getenv("FLOW_UNWRITTEN_FROM");
  n = word ? strtoll(word, NULL, 10) : 0;
  if (n <= 0) n = FROM;
  atomic_store_explicit(&known, n, memory_order_relaxed);
  return n;
}

bool fl_array_is_unwritten(const FlArray *a) { return a->buffer && a->buffer->kind == FL_BUFFER_UNWRITTEN; }

FlUnwritten *fl_unwritten_of(const FlArray *a) {
  return fl_array_is_unwritten(a) ? (FlUnwritten *)a->buffer : NULL;
}

static int64_t chunks_of(const FlUnwritten *u, int64_t n) { return (n + u->chunk - 1) / u->chunk; }

void fl_buffer_release_unwritten(FlBuffer *b) {
  FlUnwritten *u = (FlUnwritten *)b;
  munmap(b->data, u->reserved);
  fl_pool_count(u->pool, u->reserved, true);
  fl_pool_unref(u->pool);
  if (u->how->release) u->how->release(u);
}

FlArray *fl_array_new_unwritten(FlCtx *ctx, int64_t n, FlArray *like, const FlUnwrittenHow *how) {
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  int32_t size = fl_dtype_info[like->dtype].bytes;
  int64_t chunk = CHUNK_BYTES / size, chunks = (n + chunk - 1) / chunk;
  size_t reserved = (size_t)chunks * CHUNK_BYTES;
  FlUnwritten *u = n > 0 ? calloc(1, sizeof *u + (size_t)chunks) : NULL;
  bool room = u && fl_pool_count(pool, reserved, false);
  char *at = room ? fl_reserve(reserved) : NULL;
  if (!at) {
    if (room) fl_pool_count(pool, reserved, true);
    free(u);
    return NULL;
  }
  u->base = (FlBuffer){.data = at, .bytes = n * size, .kind = FL_BUFFER_UNWRITTEN};
  u->how = how;
  u->pool = fl_pool_ref(pool);
  u->reserved = reserved;
  u->size = size;
  u->chunk = chunk;
  atomic_init(&u->base.refs, 1);
  atomic_init(&u->left, chunks);
  FlArray *a = fl_array_over(ctx, &u->base, at, like->dtype, 1, &n);
  fl_buffer_unref(&u->base);
  if (a && fl_array_keep(ctx, a, NULL, &like, 1) == 0) return a;
  fl_array_unref(a);
  return NULL;
}

int64_t fl_unwritten_first(const FlArray *a) {
  const FlUnwritten *u = fl_unwritten_of(a);
  return ((const char *)a->data - (const char *)u->base.data) / u->size;
}

int64_t fl_unwritten_chunk(const FlArray *a) { return fl_unwritten_of(a)->chunk; }

void fl_unwritten_chunks(const FlArray *a, int64_t *begin, int64_t *end) {
  FlUnwritten *u = fl_unwritten_of(a);
  int64_t n = fl_array_count(a);
  *begin = *end = 0;
  if (n == 0 || atomic_load_explicit(&u->left, memory_order_acquire) == 0) return;
  int64_t first = fl_unwritten_first(a), from = first / u->chunk, to = chunks_of(u, first + n);
  while (from < to && atomic_load_explicit(&u->state[from], memory_order_acquire) == WRITTEN) from++;
  while (from < to && atomic_load_explicit(&u->state[to - 1], memory_order_acquire) == WRITTEN) to--;
  *begin = from;
  *end = to;
}

FlStatus fl_unwritten_open(FlCtx *ctx, const FlArray *a, int64_t begin, int64_t end) {
  char *at = (char *)a->buffer->data + begin * CHUNK_BYTES;
  if (mprotect(at, (size_t)((end - begin) * CHUNK_BYTES), PROT_READ | PROT_WRITE) == 0) return 0;
  fl_data_no_memory(ctx, (end - begin) * CHUNK_BYTES);
  return FL_FAULT_MEMORY;
}

void fl_unwritten_write(const FlArray *a, int64_t chunk) {
  FlUnwritten *u = fl_unwritten_of(a);
  uint8_t is = UNWRITTEN;
  if (atomic_compare_exchange_strong_explicit(&u->state[chunk], &is, CLAIMED, memory_order_acquire,
                                              memory_order_acquire)) {
    int64_t first = chunk * u->chunk, n = u->base.bytes / u->size - first;
    u->how->write(u, first, n < u->chunk ? n : u->chunk, (char *)u->base.data + first * u->size);
    /* release: whoever sees it written sees the elements. */
    atomic_store_explicit(&u->state[chunk], WRITTEN, memory_order_release);
    int64_t left = atomic_fetch_sub_explicit(&u->left, 1, memory_order_acq_rel) - 1;
    if (left == 0 && u->how->written) u->how->written(u);
    return;
  }
  while (atomic_load_explicit(&u->state[chunk], memory_order_acquire) != WRITTEN) sched_yield();
}

const void *fl_unwritten_read(const FlArray *a, int64_t n, void *room) {
  FlUnwritten *u = fl_unwritten_of(a);
  if (!u || n == 0) return a->data;
  if (atomic_load_explicit(&u->left, memory_order_acquire) == 0) return a->data;
  return u->how->read(u, fl_unwritten_first(a), n, room) ? room : a->data;
}
