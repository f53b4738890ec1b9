/* data_internal.h: what the files of this room share. */
#ifndef FL_DATA_INTERNAL_H
#define FL_DATA_INTERNAL_H

#include "data/data.h"
#include "data/resident.h"

/* Blocks of at least this many bytes are taken from the pool and go back to it. */
enum { FL_POOL_MIN = 64 * 1024 };

/* A large block of memory. */
typedef struct FlBlock {
  void *data;
  size_t capacity; /* its true size */
  bool in_file;    /* its pages may leave memory */
  bool shared;     /* what a forked child writes is seen here */
  FlSpan *span;    /* of a block in a file; may be NULL */
} FlBlock;

/* A block of at least `bytes`, contents undefined. `pool` may be NULL: then it is always in memory. `shared`: with
 * forked children, which have no other blocks. false: there is none; fl_pool_say tells why. */
bool fl_pool_take(FlPool *pool, size_t bytes, bool shared, FlBlock *out);
/* Gives back what fl_pool_take of the same pool gave. */
void fl_pool_give(FlPool *pool, FlBlock block);
/* Nobody reads [from, to) of a block in use any more: whole pages go back to the system. */
void fl_pool_discard(FlBlock block, const void *from, const void *to);
FlPool *fl_pool_ref(FlPool *pool); /* one reference a block in use; NULL is allowed */
void fl_pool_unref(FlPool *pool);

/* What stood against the last block that there was not. */
typedef enum FlPoolLack {
  FL_LACK_NOTHING,
  FL_LACK_MEMORY,
  FL_LACK_DISK,
  FL_LACK_FOLDER,
  FL_LACK_LIMIT
} FlPoolLack;
typedef struct FlPoolTold {
  char message[320], help[256];
} FlPoolTold;
/* As a user reads it, after `bytes` could not be had. */
void fl_pool_say(FlPool *pool, int64_t bytes, FlPoolTold *out);

/* Records that `bytes` could not be had, with the reason, and returns NULL. ctx may be NULL. */
void *fl_data_no_memory(FlCtx *ctx, int64_t bytes);
/* A buffer of `bytes` whose contents are array references, NULL at first, released with it. */
FlBuffer *fl_buffer_new_list(FlCtx *ctx, int64_t bytes);
/* Whether the buffer's memory may be written by its only owner. */
bool fl_buffer_is_writable(const FlBuffer *b);
/* The texts are about to change, or to go: drops what text_codes.h knows of them. */
void fl_buffer_forget_codes(FlBuffer *b);

#endif
