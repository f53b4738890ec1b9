/* data_internal.h: what the files of this room share. */
#ifndef FL_DATA_INTERNAL_H
#define FL_DATA_INTERNAL_H

#include "data/data.h"
#include "data/resident.h"
#include "data/spare.h"
#include "data/write_behind.h"

/* Blocks of at least this many bytes are taken from the pool and go back to it. */
enum { FL_POOL_MIN = 64 * 1024 };

/* A large block of memory. */
typedef struct FlBlock {
  void *data;
  size_t capacity; /* its true size */
  bool in_file;    /* its pages may leave memory */
  bool shared;     /* what a forked child writes is seen here */
  FlSpan *span;    /* of a block in a file; may be NULL */
  FlWritten *file; /* likewise */
} FlBlock;

/* What a block is for: swept from its beginning to its end; shared with forked children, which have no other
 * blocks; looked up in any order, which a file is slow at: it may have more of the limit. */
typedef enum FlBlockUse { FL_BLOCK_SWEPT, FL_BLOCK_SHARED, FL_BLOCK_NEAR } FlBlockUse;

/* A block of at least `bytes`, contents undefined. `pool` may be NULL: then it is always in memory. false:
 * there is none; fl_pool_say tells why. */
bool fl_pool_take(FlPool *pool, size_t bytes, FlBlockUse use, FlBlock *out);
/* Gives back what fl_pool_take of the same pool gave. */
void fl_pool_give(FlPool *pool, FlBlock block);
/* How often the pool gave back all that it keeps and counted the memory of the process to make room: a number
 * of the work done. */
int64_t fl_pool_rooms(FlPool *pool);
/* How many blocks came to be files although they are looked up in any order: 0 where everybody asked for room
 * (fl_pool_room) and took no more. Those that had to because others' pages filled the process for a moment,
 * as they do on a busy machine, are not counted. */
int64_t fl_pool_far(FlPool *pool);
/* Nobody reads [from, to) of a block in use any more: whole pages go back to the system. */
void fl_pool_discard(FlBlock block, const void *from, const void *to);
/* A file of so many bytes, for the caller to close; `pool` may be NULL. *direct: its pages would count
 * against a control group, so that it is written past the page cache (O_DIRECT). false: as fl_pool_take. */
bool fl_pool_file(FlPool *pool, size_t bytes, int *fd, bool *direct);
/* So many bytes are about to be written past the page cache; `pool` may be NULL. */
void fl_pool_past_cache(FlPool *pool, int64_t bytes);
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

/* Gives back what a heap has; the heap itself is its buffer's. */
void fl_heap_release(FlHeap *heap);

/* Of the heap of texts that are put into an array one by one: bytes that were, and those of them that are no
 * element's any more. */
typedef struct FlPuts {
  bool counted; /* it is such a heap */
  int64_t bytes, dead;
} FlPuts;
FlPuts *fl_heap_puts(FlHeap *heap);
/* `b` as such a heap, when it has one owner; else NULL. */
FlHeap *fl_heap_of_puts(FlBuffer *b);

/* ---- text_stack.c: all by one thread --------------------------------------------------------------- */

typedef struct FlTextStack FlTextStack;
/* pool: of long texts; outlives the stack; may be NULL. What finds no memory is NULL, and the pool has given
 * up. */
FlTextStack *fl_text_stack_new(FlPool *pool);
void fl_text_stack_free(FlTextStack *s);
/* Room for n > 0 bytes, undefined; for `text` with `more` bytes behind it, see fl_heap_append. */
char *fl_text_stack_alloc(FlTextStack *s, size_t n);
char *fl_text_stack_append(FlTextStack *s, const char *text, size_t n, size_t more);
bool fl_text_stack_has(const FlTextStack *s, const char *text);
/* See fl_texts_mark, fl_texts_leave. */
void fl_text_stack_mark(const FlTextStack *s, FlTextMark *mark);
void fl_text_stack_leave(FlTextStack *s, const FlTextMark *mark, FlText *live, int32_t n);

/* Where those of the pool's run are kept; NULL: memory has a limit, or there is no pool. */
FlSpares *fl_pool_spares(FlPool *pool);
/* Counts memory that is no block of the pool, or with `less` counts it no more. false: the limit of memory
 * has no room for it. pool may be NULL. */
bool fl_pool_count(FlPool *pool, size_t bytes, bool less);
/* A buffer of `bytes` addresses for the rows of the cut, of which those that are here are memory, undefined.
 */
FlBuffer *fl_buffer_new_part(FlCtx *ctx, int64_t bytes, const FlCut *cut);
/* Of references of arrays: those of other parts are NULL. */
FlBuffer *fl_buffer_new_part_list(FlCtx *ctx, int64_t bytes, const FlCut *cut);
/* So many bytes of addresses without memory, which large pages may fill, as those of other arrays; munmap
 * gives them back. NULL: there are none. */
char *fl_reserve(size_t bytes);
/* A buffer of `bytes` addresses, none of which is memory, and without a cut. */
FlBuffer *fl_buffer_new_apart(FlCtx *ctx, int64_t bytes);
/* Of one that is PARTED: bytes [from, to), and those between them and what was memory before, are memory,
 * undefined where they were not. Non-zero: there is none; recorded. */
FlStatus fl_buffer_open(FlCtx *ctx, FlBuffer *b, int64_t from, int64_t to);
/* Of one that is PARTED: of what is memory only bytes [from, to) stay. */
void fl_buffer_shut(FlBuffer *b, int64_t from, int64_t to);
/* Of one that is PARTED: the bytes before `to` are memory, too, and are none again; see fl_array_borrow. */
FlStatus fl_buffer_borrow(FlCtx *ctx, FlBuffer *b, int64_t to);
void fl_buffer_give_back(FlBuffer *b, int64_t to);
/* Of one that is PARTED: NULL, all rows are memory now, or are about to be. */
void fl_buffer_set_cut(FlBuffer *b, const FlCut *cut);
bool fl_buffer_is_open(const FlBuffer *b); /* is any of its addresses memory? */
void fl_buffer_release_part(FlBuffer *b);
void fl_buffer_release_unwritten(FlBuffer *b); /* unwritten.c */
/* Of `bytes` at `data`, which `of` owns. */
FlBuffer *fl_buffer_within(FlCtx *ctx, FlBuffer *of, void *data, int64_t bytes);
/* Of one that is PARTED. */
const FlCut *fl_buffer_cut(const FlBuffer *b);
/* Records that `bytes` could not be had, with the reason, and returns NULL. ctx may be NULL. */
void *fl_data_no_memory(FlCtx *ctx, int64_t bytes);
/* A buffer of `bytes` whose contents are array references, NULL at first, released with it. */
FlBuffer *fl_buffer_new_list(FlCtx *ctx, int64_t bytes);
/* Whether the buffer's memory may be written by its only owner. */
bool fl_buffer_is_writable(const FlBuffer *b);
/* The texts are about to change, or to go: drops what text_codes.h knows of them. */
void fl_buffer_forget_codes(FlBuffer *b);

#endif
