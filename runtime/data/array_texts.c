/* array_texts.c: single texts put into arrays.
 *
 * In: arrays that are being made, or written in place, and texts that live elsewhere. Out: the texts' bytes
 * in a heap that the array keeps. What always holds: an array whose elements are written over and over keeps
 * a bounded multiple of the bytes that its elements have: what is no longer any element's goes when it is
 * more than the rest. */
#include "data/data_internal.h"

#include <stdlib.h>

enum {
  SLACK = 64 * 1024, /* bytes that nobody reads any more, which may stay in any case */
  MANY = 32          /* of so many buffers with texts one is made */
};

FlHeap *fl_array_heap(FlCtx *ctx, FlArray *a) {
  FlHeap *heap = fl_heap_new(ctx);
  bool ok = fl_buffer_keep(a->buffer, fl_heap_buffer(heap));
  fl_heap_unref(heap);
  if (!ok) fl_data_no_memory(ctx, a->buffer->n_keeps);
  return ok ? heap : NULL;
}

/* A new heap for what is put into `a`. */
static FlHeap *add_heap(FlCtx *ctx, FlArray *a) {
  FlHeap *heap = fl_array_heap(ctx, a);
  if (heap) fl_heap_puts(heap)->counted = true;
  return heap;
}

/* The heap that was made so before, when nobody else keeps it. */
static FlHeap *last_heap(const FlArray *a) {
  const FlBuffer *b = a->buffer;
  return b->n_keeps ? fl_heap_of_puts(b->keeps[b->n_keeps - 1]) : NULL;
}

/* All texts of `a` in one heap; what it kept before is let go. */
static FlStatus gather(FlCtx *ctx, FlArray *a) {
  FlBuffer *b = a->buffer, **keeps = b->keeps;
  int32_t n_keeps = b->n_keeps;
  b->keeps = NULL;
  b->n_keeps = 0;
  FlHeap *heap = add_heap(ctx, a);
  if (!heap) {
    b->keeps = keeps;
    b->n_keeps = n_keeps;
    return 1;
  }
  FlText *t = a->data;
  for (int64_t i = 0; i < fl_array_count(a); i++) {
    t[i] = fl_heap_text(heap, t[i].ptr, t[i].len);
    fl_heap_puts(heap)->bytes += t[i].len;
  }
  for (int32_t k = 0; k < n_keeps; k++) fl_buffer_unref(keeps[k]);
  free(keeps);
  return 0;
}

FlStatus fl_array_put_text(FlCtx *ctx, FlArray *a, FlText *at, const char *text, int64_t n) {
  FlHeap *heap = last_heap(a);
  if (!heap && !(heap = add_heap(ctx, a))) return 1;
  FlPuts *puts = fl_heap_puts(heap);
  puts->dead += at->len;
  *at = fl_heap_text(heap, text, n);
  puts->bytes += n;
  bool much = puts->dead > SLACK && puts->dead > puts->bytes / 2;
  return much || a->buffer->n_keeps > MANY ? gather(ctx, a) : 0;
}
