/* data_internal.h: what the files of this room share. */
#ifndef FL_DATA_INTERNAL_H
#define FL_DATA_INTERNAL_H

#include "data/data.h"

/* Blocks of at least this many bytes are taken from the pool and go back to it. */
enum { FL_POOL_MIN = 64 * 1024 };

/* A touched block, whose true size is `*capacity` >= bytes; `pool` may be NULL. NULL: out of memory. */
void *fl_pool_take(FlPool *pool, size_t bytes, size_t *capacity);
/* Gives back what fl_pool_take gave, with the capacity that it said. */
void fl_pool_give(FlPool *pool, void *block, size_t capacity);
FlPool *fl_pool_ref(FlPool *pool); /* one reference a block in use; NULL is allowed */
void fl_pool_unref(FlPool *pool);

/* A buffer of `bytes` whose contents are array references, NULL at first, released with it. */
FlBuffer *fl_buffer_new_list(FlCtx *ctx, int64_t bytes);
/* Whether the buffer's memory may be written by its only owner. */
bool fl_buffer_is_writable(const FlBuffer *b);

#endif
