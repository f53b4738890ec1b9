/* heap.c: bytes of texts that are made while running, from any thread.
 *
 * In: sizes. Out: bytes that live as long as the heap's buffer; nothing is freed alone. Large chunks are
 * blocks of the pool, so that they too may leave memory. What always holds: a heap is its FlBuffer, so arrays
 * keep it like any other. A few shards, each with a lock and a chunk to cut from; threads spread over them by
 * where their stacks are, so a lock is almost never waited for.
 *
 * Where there is no memory the answer is NULL, and the pool has given up (fl_pool_give_up): a heap that is
 * NULL gives nothing.
 *
 * A heap of one thread (fl_heap_new_stack) has a stack of texts instead (text_stack.c), and is kept by
 * nobody. */
#include "data/data_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { FL_SHARDS = 8, FL_CHUNK_MIN = 1024, FL_CHUNK_MAX = 1 << 20 };

typedef struct FlChunk {
  struct FlChunk *next;
  FlBlock block; /* of the pool; capacity 0: from malloc */
} FlChunk;

typedef struct FlShard {
  alignas(64) atomic_flag busy;
  char *at, *end;
  size_t chunk; /* bytes of the next chunk */
  FlChunk *chunks;
} FlShard;

struct FlHeap {
  FlBuffer buffer;
  FlPool *pool;
  FlTextStack *stack; /* NULL: the shards */
  FlPuts puts;
  FlShard shards[]; /* FL_SHARDS; of a stack none */
};

void fl_heap_release(FlHeap *h) {
  if (h->stack) fl_text_stack_free(h->stack);
  for (int k = 0; k < FL_SHARDS && !h->stack; k++) {
    for (FlChunk *c = h->shards[k].chunks; c;) {
      FlChunk *next = c->next;
      FlBlock block = c->block;
      if (block.capacity) fl_pool_give(h->pool, block);
      else free(c);
      c = next;
    }
  }
  fl_pool_unref(h->pool);
}

static FlHeap *new_heap(FlCtx *ctx, int n_shards) {
  size_t bytes = sizeof(FlHeap) + (size_t)n_shards * sizeof(FlShard);
  FlHeap *h =
      aligned_alloc(alignof(FlHeap), (bytes + alignof(FlHeap) - 1) / alignof(FlHeap) * alignof(FlHeap));
  if (!h) {
    fl_pool_give_up(ctx ? fl_ctx_pool(ctx) : NULL, (int64_t)bytes);
    return NULL;
  }
  memset(h, 0, bytes);
  for (int k = 0; k < n_shards; k++) {
    atomic_flag_clear(&h->shards[k].busy);
    h->shards[k].chunk = FL_CHUNK_MIN;
  }
  h->pool = fl_pool_ref(ctx ? fl_ctx_pool(ctx) : NULL);
  atomic_init(&h->buffer.refs, 1);
  h->buffer.kind = FL_BUFFER_TEXTS;
  return h;
}

FlHeap *fl_heap_new(FlCtx *ctx) { return new_heap(ctx, FL_SHARDS); }

FlHeap *fl_heap_new_stack(FlCtx *ctx) {
  FlHeap *h = new_heap(ctx, 0);
  if (!h || (h->stack = fl_text_stack_new(h->pool))) return h;
  fl_pool_unref(h->pool);
  free(h);
  return NULL;
}

void fl_texts_mark(FlHeap *heap, FlTextMark *mark) {
  if (heap) fl_text_stack_mark(heap->stack, mark);
  else *mark = (FlTextMark){0};
}

FlStatus fl_texts_leave(FlHeap *heap, const FlTextMark *mark, FlText *live, int32_t n) {
  if (!heap) return FL_FAULT_MEMORY;
  fl_text_stack_leave(heap->stack, mark, live, n);
  return fl_pool_gave_up(heap->pool) ? FL_FAULT_MEMORY : 0;
}

void fl_heap_unref(FlHeap *heap) {
  if (heap) fl_buffer_unref(&heap->buffer);
}

FlBuffer *fl_heap_buffer(FlHeap *heap) { return heap ? &heap->buffer : NULL; }

const char *fl_texts_keep(FlHeap *stack, FlHeap *heap, const char *text, int64_t n) {
  if (n <= 0 || !stack || !fl_text_stack_has(stack->stack, text)) return text;
  return fl_heap_text(heap, text, n).ptr;
}

FlPuts *fl_heap_puts(FlHeap *heap) { return &heap->puts; }

FlHeap *fl_heap_of_puts(FlBuffer *b) {
  FlHeap *h = b->kind == FL_BUFFER_TEXTS ? (FlHeap *)b : NULL;
  return h && h->puts.counted && atomic_load_explicit(&b->refs, memory_order_acquire) == 1 ? h : NULL;
}

static char *add_chunk(const FlHeap *h, FlShard *s, size_t bytes) {
  FlBlock block = {0};
  bool large = h->pool && bytes >= FL_POOL_MIN;
  FlChunk *c = large ? NULL : malloc(sizeof *c + bytes);
  if (large && fl_pool_take(h->pool, sizeof *c + bytes, FL_BLOCK_SWEPT, &block)) c = block.data;
  if (!c) {
    fl_pool_give_up(h->pool, (int64_t)bytes);
    return NULL;
  }
  c->block = block;
  c->next = s->chunks;
  s->chunks = c;
  return (char *)(c + 1);
}

char *fl_heap_alloc(FlHeap *heap, int64_t bytes) {
  size_t n = bytes ? (size_t)bytes : 1;
  if (!heap) return NULL;
  if (bytes < 0) {
    fl_pool_give_up(heap->pool, bytes);
    return NULL;
  }
  if (heap->stack) return fl_text_stack_alloc(heap->stack, n);
  /* Stacks of threads lie at least 64 KiB apart. */
  uintptr_t stack = (uintptr_t)&n >> 16;
  FlShard *s = &heap->shards[(stack ^ stack >> 4 ^ stack >> 8) % FL_SHARDS];
  while (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) sched_yield();
  char *out;
  if ((size_t)(s->end - s->at) >= n) {
    out = s->at;
    s->at += n;
  } else {
    bool alone = n > s->chunk / 4;
    out = add_chunk(heap, s, alone ? n : s->chunk);
    if (out && !alone) {
      s->at = out + n;
      s->end = out + s->chunk;
    }
    if (s->chunk < FL_CHUNK_MAX) s->chunk *= 2; /* also behind long texts: many of them share chunks, too */
  }
  /* release: pairs with the acquire of the next thread in this shard. */
  atomic_flag_clear_explicit(&s->busy, memory_order_release);
  return out;
}

char *fl_heap_append(FlHeap *heap, const char *text, int64_t n, int64_t more) {
  if (!heap || !heap->stack || n < 0 || more < 0) return fl_heap_alloc(heap, n + more);
  return fl_text_stack_append(heap->stack, text, (size_t)n, (size_t)more);
}

FlText fl_heap_text(FlHeap *heap, const char *text, int64_t n) {
  char *to = n > 0 ? fl_heap_alloc(heap, n) : NULL;
  return to ? (FlText){memcpy(to, text, (size_t)n), n} : (FlText){NULL, 0};
}
