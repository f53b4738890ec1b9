/* counted.c: memory whose size data decides, beside arrays; see data.h.
 *
 * What always holds: a block begins with a head of FL_ALIGN bytes that says whose it is, so that its address
 * is enough to give it back; a large one is a block of the pool, which counts it and may keep it in a file.
 */
#include "data/data_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Head {
  FlPool *pool;
  FlBlock block;   /* the whole, with this head at its start; capacity 0: it is malloc's */
  size_t capacity; /* behind the head */
} Head;

_Static_assert(sizeof(Head) <= FL_ALIGN, "a head has its place");

static Head *head_of(const void *at) { return (Head *)(uintptr_t)((const char *)at - FL_ALIGN); }

void *fl_counted_new(FlPool *pool, size_t bytes) {
  FlBlock block = {0};
  if (bytes > SIZE_MAX / 4) return NULL;
  if (bytes < FL_POOL_MIN)
    block.data = aligned_alloc(FL_ALIGN, (FL_ALIGN + bytes + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN);
  else if (!fl_pool_take(pool, FL_ALIGN + bytes, FL_BLOCK_SWEPT, &block)) return NULL;
  if (!block.data) return NULL;
  Head *head = block.data;
  *head = (Head){block.capacity ? fl_pool_ref(pool) : NULL, block,
                 block.capacity ? block.capacity - FL_ALIGN : bytes};
  return (char *)block.data + FL_ALIGN;
}

void *fl_counted_new_zero(FlPool *pool, size_t bytes) {
  void *at = fl_counted_new(pool, bytes);
  if (at) memset(at, 0, bytes);
  return at;
}

void *fl_counted_grow(FlPool *pool, void *at, size_t bytes) {
  size_t had = at ? head_of(at)->capacity : 0;
  if (at && bytes <= had) return at;
  void *grown = fl_counted_new(pool, bytes);
  if (grown && at) memcpy(grown, at, had);
  if (grown) fl_counted_free(at);
  return grown;
}

void fl_counted_free(void *at) {
  if (!at) return;
  Head head = *head_of(at);
  if (!head.block.capacity) {
    free(head_of(at));
    return;
  }
  fl_pool_give(head.pool, head.block);
  fl_pool_unref(head.pool);
}

/* ---- runs of bytes ------------------------------------------------------------------------------------ */

static char *grow_bytes(FlBytes *b, size_t capacity) { return fl_counted_grow(b->owner, b->at, capacity); }

static void free_bytes(FlBytes *b) { fl_counted_free(b->at); }

FlBytes fl_counted_bytes(FlPool *pool) {
  static const FlBytesMemory memory = {grow_bytes, free_bytes};
  return (FlBytes){.memory = &memory, .owner = pool};
}
