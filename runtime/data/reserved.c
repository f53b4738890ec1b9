/* reserved.c: buffers that have addresses for all rows of an array, and memory for some of them.
 *
 * In: bytes, and which of them are to be memory. Out: buffers that are PARTED. What always holds: what is
 * memory is one run of whole pages, which the pool counts; elsewhere a read or a write traps. A buffer
 * without a cut has all rows, or nothing yet of what somebody is about to make. */
#include "data/cut.h"
#include "data/data_internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 2 << 20 }; /* a large page */

typedef struct FlPartBuffer {
  FlBuffer base;
  const FlCut *cut; /* NULL: all rows are here, or none so far */
  FlPool *pool;
  size_t reserved, from, to; /* bytes of addresses; and where memory begins and ends: whole pages */
  FlSpare had;               /* which of the addresses have pages that are no memory yet */
} FlPartBuffer;

static size_t page_down(size_t at) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return at / page * page;
}

static size_t page_up(size_t at) { return page_down(at + (size_t)sysconf(_SC_PAGESIZE) - 1); }

/* Pages of before go, unless they are those that become memory. */
static void begin_with(FlPartBuffer *p, size_t from, size_t to) {
  FlSpare *had = &p->had;
  if (had->from < had->to && (had->from != from || had->to != to))
    madvise(had->at + had->from, had->to - had->from, MADV_DONTNEED);
  *had = (FlSpare){0};
}

void fl_buffer_release_part(FlBuffer *b) {
  FlPartBuffer *p = (FlPartBuffer *)b;
  FlArray **elements = b->data;
  for (int64_t k = 0; b->holds_arrays && k < b->bytes / (int64_t)sizeof *elements; k++)
    fl_array_unref(elements[k]);
  FlSpare spare = {b->data, p->reserved, p->from, p->to};
  if (b->holds_arrays || !fl_spares_put(fl_pool_spares(p->pool), spare)) munmap(b->data, p->reserved);
  fl_pool_count(p->pool, p->to - p->from, true);
  fl_pool_unref(p->pool);
}

char *fl_reserve(size_t bytes) {
  size_t span = bytes >= LARGE ? bytes + LARGE : bytes;
  char *at = mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED || span == bytes) return at == MAP_FAILED ? NULL : at;
  size_t skip = (LARGE - (uintptr_t)at % LARGE) % LARGE;
  if (skip) munmap(at, skip);
  if (span - skip > bytes) munmap(at + skip + bytes, span - skip - bytes);
  madvise(at + skip, bytes, MADV_HUGEPAGE);
  return at + skip;
}

FlBuffer *fl_buffer_new_apart(FlCtx *ctx, int64_t bytes) {
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  size_t reserved = page_up((size_t)bytes + 1); /* at least one */
  FlPartBuffer *p = calloc(1, sizeof *p);
  FlSpare had = {0};
  char *at = p && fl_spares_take(fl_pool_spares(pool), reserved, &had) ? had.at : NULL;
  if (p && !at) at = fl_reserve(reserved);
  if (!at) {
    free(p);
    return fl_data_no_memory(ctx, bytes);
  }
  *p = (FlPartBuffer){.base = {.data = at, .bytes = bytes, .kind = FL_BUFFER_PARTED},
                      .pool = fl_pool_ref(pool),
                      .reserved = reserved,
                      .had = had};
  atomic_init(&p->base.refs, 1);
  return &p->base;
}

FlBuffer *fl_buffer_new_part(FlCtx *ctx, int64_t bytes, const FlCut *cut) {
  FlBuffer *b = fl_buffer_new_apart(ctx, bytes);
  if (!b) return NULL;
  int64_t rows = fl_cut_rows(cut), row = rows ? bytes / rows : 0;
  fl_buffer_set_cut(b, cut);
  if (fl_buffer_open(ctx, b, row * fl_cut_from(cut), row * fl_cut_to(cut)) == 0) return b;
  fl_buffer_unref(b);
  return NULL;
}

FlBuffer *fl_buffer_new_part_list(FlCtx *ctx, int64_t bytes, const FlCut *cut) {
  FlBuffer *b = fl_buffer_new_apart(ctx, bytes);
  if (!b) return NULL;
  fl_buffer_set_cut(b, cut);
  begin_with((FlPartBuffer *)b, 0, 0); /* those that are no references yet are NULL */
  if (fl_buffer_open(ctx, b, 0, bytes) == 0) {
    b->holds_arrays = true;
    return b;
  }
  fl_buffer_unref(b);
  return NULL;
}

/* The pages before the first whole large one and behind the last, or all where there is none, are made at
 * once: one by one as they are first written they take twice the time. Where the system does not know this
 * they are. */
static void make_small_pages(char *from, char *to) {
#ifdef MADV_POPULATE_WRITE
  char *first = from + (LARGE - (uintptr_t)from % LARGE) % LARGE, *last = to - (uintptr_t)to % LARGE;
  if (first > last || to - from < LARGE) first = last = to;
  madvise(from, (size_t)(first - from), MADV_POPULATE_WRITE);
  madvise(last, (size_t)(to - last), MADV_POPULATE_WRITE);
#else
  (void)from, (void)to;
#endif
}

/* Pages [from, to) become memory. */
static bool open_pages(FlPartBuffer *p, size_t from, size_t to) {
  if (from >= to) return true;
  if (!fl_pool_count(p->pool, to - from, false)) return false;
  if (mprotect((char *)p->base.data + from, to - from, PROT_READ | PROT_WRITE) == 0) {
    make_small_pages((char *)p->base.data + from, (char *)p->base.data + to);
    return true;
  }
  fl_pool_count(p->pool, to - from, true);
  return false;
}

/* Pages [from, to) are addresses alone again. */
static void shut_pages(FlPartBuffer *p, size_t from, size_t to) {
  if (from >= to) return;
  char *at = (char *)p->base.data + from;
  madvise(at, to - from, MADV_DONTNEED);
  mprotect(at, to - from, PROT_NONE);
  fl_pool_count(p->pool, to - from, true);
}

FlStatus fl_buffer_open(FlCtx *ctx, FlBuffer *b, int64_t from, int64_t to) {
  FlPartBuffer *p = (FlPartBuffer *)b;
  if (from >= to) return 0;
  size_t begin = page_down((size_t)from), end = page_up((size_t)to);
  begin_with(p, begin, end);
  if (p->from == p->to) p->from = p->to = begin;
  if (begin < p->from) {
    if (!open_pages(p, begin, p->from)) return fl_data_no_memory(ctx, to - from), FL_FAULT_MEMORY;
    p->from = begin;
  }
  if (end > p->to) {
    if (!open_pages(p, p->to, end)) return fl_data_no_memory(ctx, to - from), FL_FAULT_MEMORY;
    p->to = end;
  }
  return 0;
}

void fl_buffer_shut(FlBuffer *b, int64_t from, int64_t to) {
  FlPartBuffer *p = (FlPartBuffer *)b;
  size_t begin = from < to ? page_down((size_t)from) : p->from, end = from < to ? page_up((size_t)to) : begin;
  if (begin < p->from) begin = p->from;
  if (end > p->to) end = p->to;
  shut_pages(p, p->from, begin);
  shut_pages(p, end, p->to);
  p->from = begin;
  p->to = end;
}

/* The pages before byte `to` that are no memory: two runs at most. */
static void lacking(const FlPartBuffer *p, int64_t to, size_t at[2][2]) {
  size_t end = page_up((size_t)to), own = p->from < p->to ? p->from : end;
  at[0][0] = 0;
  at[0][1] = own < end ? own : end;
  at[1][0] = p->to;
  at[1][1] = p->from < p->to ? end : p->to;
}

FlStatus fl_buffer_borrow(FlCtx *ctx, FlBuffer *b, int64_t to) {
  FlPartBuffer *p = (FlPartBuffer *)b;
  size_t at[2][2];
  begin_with(p, 0, 0);
  lacking(p, to, at);
  if (!open_pages(p, at[0][0], at[0][1])) return fl_data_no_memory(ctx, to), FL_FAULT_MEMORY;
  if (open_pages(p, at[1][0], at[1][1])) return 0;
  shut_pages(p, at[0][0], at[0][1]);
  return fl_data_no_memory(ctx, to), FL_FAULT_MEMORY;
}

void fl_buffer_give_back(FlBuffer *b, int64_t to) {
  FlPartBuffer *p = (FlPartBuffer *)b;
  size_t at[2][2];
  lacking(p, to, at);
  for (int k = 0; k < 2; k++) shut_pages(p, at[k][0], at[k][1]);
}

const FlCut *fl_buffer_cut(const FlBuffer *b) { return ((const FlPartBuffer *)b)->cut; }
void fl_buffer_set_cut(FlBuffer *b, const FlCut *cut) { ((FlPartBuffer *)b)->cut = cut; }
bool fl_buffer_is_open(const FlBuffer *b) {
  return ((const FlPartBuffer *)b)->to > ((const FlPartBuffer *)b)->from;
}
