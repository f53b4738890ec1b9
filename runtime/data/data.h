/* data.h: memory of values: buffers, arrays, heaps of text bytes, content digests.
 *
 * The types and the functions that generated code calls are in flow/abi.h; here is what other rooms need
 * besides. Everything is thread-safe unless it says otherwise. `ctx` may be NULL where nothing can be
 * reported (tests, tools): then nothing is recycled and a failure only returns NULL. */
#ifndef FL_DATA_H
#define FL_DATA_H

#include "base/bytes.h"
#include "flow/abi.h"
#include "flow/dtypes.h"

/* ---- element types ------------------------------------------------------------------------------------ */

/* Looks a type up by its name (`len` bytes); false when there is none. */
bool fl_dtype_named(const char *name, size_t len, FlDtype *out);
/* Is the whole number one of the type's? */
bool fl_dtype_holds(int32_t dtype, __int128 v);
/* A scalar as the language writes it, without quotes, into FL_NUMBER_ROOM bytes; returns how many: of texts,
 * files and lists none. */
int fl_print_scalar(char *buf, int32_t dtype, FlSlot v);

/* ---- recycled memory ---------------------------------------------------------------------------------- */

/* The large blocks of a run that are free and already touched, kept for the next large array: first touch of
 * fresh memory costs more than most kernels. Bounded; shared by all threads of the run. */
typedef struct FlPool FlPool;
/* machine: the bytes of memory that there are; 0: as found (fl_machine_memory). NULL: out of memory. */
FlPool *fl_pool_new(int64_t machine);
/* Keeps the process within `bytes` (or what the machine or control group has, if less) of resident memory:
 * large blocks beyond about half of it live in files, and pages of these and of mapped inputs are dropped as
 * needed. 0: no limit was given; then blocks live in files when they would fill more than 80% of the
 * machine's or control group's memory. Files without names are made in `folder`; where that is NULL or cannot
 * be used, in TMPDIR, /var/tmp or /tmp. Before other threads use the pool. false: out of memory. */
/* Before fl_pool_limit: who is told, and when, how many bytes there are at most, where that is less than the
 * machine has: whoever owns the process may keep less of what is freed. */
void fl_pool_tell(FlPool *pool, void (*keep)(int64_t limit));
bool fl_pool_limit(FlPool *pool, int64_t bytes, const char *folder);
/* Before anything is taken: who is told of all bytes that blocks in use have, but of those in files. */
struct FlHighs;
void fl_pool_highs(FlPool *pool, struct FlHighs *highs);
/* Whether the resident size is kept: then work is cut into small pieces, with a breath between them. */
bool fl_pool_is_limited(const FlPool *pool);
/* Between pieces of work, any thread: makes room if the limit is near. */
void fl_pool_breathe(FlPool *pool);
/* What memcpy does, for results that are written once, from many bytes on cheaper where they are to stand in
 * a block in a file: no page comes into memory for them. pool may be NULL. */
void fl_pool_fill(FlPool *pool, void *to, const void *from, int64_t bytes);
/* Whether the address is in a block that lives in a file. */
bool fl_pool_in_file(FlPool *pool, const void *at);
/* The mapped bytes [at, at + bytes), from the start of a page, are as in a file, or shared with it: their
 * whole pages may be dropped from memory and come back, until fl_pool_unlend, before they are unmapped. NULL:
 * nothing is ever dropped.
 */
typedef struct FlLoan FlLoan;
FlLoan *fl_pool_lend(FlPool *pool, void *at, int64_t bytes);
void fl_pool_unlend(FlLoan *loan); /* NULL is allowed; the pool may have been freed */
/* How many of `wanted` bytes new blocks can have in memory now; not less than a small share of the limit,
 * which whoever gets less than he wanted goes on with. pool may be NULL: all. */
int64_t fl_pool_room(FlPool *pool, int64_t wanted);
/* What bounds the memory of blocks, as a user reads it: `--memory` or the machine, and a size; into `out`. */
enum { FL_POOL_BOUND = 96 };
const char *fl_pool_bound(FlPool *pool, char out[FL_POOL_BOUND]);
/* Gives the free blocks back to the system; blocks in use follow when their arrays die. */
void fl_pool_free(FlPool *pool);
/* The pool of the run that a context belongs to; defined by exec. */
FlPool *fl_ctx_pool(FlCtx *ctx);
/* Records that memory ran out, with a help (NULL: none); defined by exec. */
void fl_ctx_out_of_memory(FlCtx *ctx, const char *message, const char *help);

/* ---- memory beside arrays ----------------------------------------------------------------------------- */

/* What malloc, calloc, realloc and free are, for memory whose size data decides: it counts against --memory,
 * and large blocks may live in files. `pool` may be NULL; one that is given outlives what it gives, or counts
 * as in use. Contents undefined but of _zero; aligned to FL_ALIGN. NULL: there is none, and nothing is
 * recorded: any thread may ask. */
void *fl_counted_new(FlPool *pool, size_t bytes);
void *fl_counted_new_zero(FlPool *pool, size_t bytes);
void *fl_counted_grow(FlPool *pool, void *at, size_t bytes);
void fl_counted_free(void *at);
/* A run of bytes in such memory. */
FlBytes fl_counted_bytes(FlPool *pool);
/* What to do about memory that a context's run does not have, as a user reads it; "": nothing is known. */
void fl_pool_help(FlPool *pool, char *out, size_t room);

/* ---- buffers ------------------------------------------------------------------------------------------ */

/* New buffer of at least `bytes` (64-byte aligned, contents undefined), one reference. NULL: error recorded.
 */
FlBuffer *fl_buffer_new(FlCtx *ctx, int64_t bytes);
/* The same, of memory that forked children (io/child.h) share with us until fl_buffer_end_sharing. */
FlBuffer *fl_buffer_new_shared(FlCtx *ctx, int64_t bytes);
/* The same, of memory that is looked up in any order: as much as fl_pool_room gives stays out of files. */
FlBuffer *fl_buffer_new_near(FlCtx *ctx, int64_t bytes);
void fl_buffer_end_sharing(FlBuffer *b);
/* Owns a mapping of `bytes` at `map` (unmapped with the last reference); never written. Its first `clean`
 * bytes, whole pages, are as in the file that is mapped: they may be dropped from memory and come back. NULL:
 * error recorded, the mapping is still the caller's. */
FlBuffer *fl_buffer_of_map(FlCtx *ctx, void *map, int64_t bytes, int64_t clean);
/* What `b` and all that it keeps have mapped need not be in memory until somebody reads it again. */
void fl_buffer_rest(FlBuffer *b);
/* The same of the whole pages in [from, to) of what `b` itself has mapped. */
void fl_buffer_rest_range(FlBuffer *b, const char *from, const char *to);
/* What lies there is to be read now: where it is of a mapped file, its pages are asked for at once and not
 * one fault after the other. */
void fl_buffer_come(const FlBuffer *b, const char *from, const char *to);
/* Whether its pages lie in a file, and come back from there. */
bool fl_buffer_in_file(const FlBuffer *b);
/* The file behind a mapping from the file's start on, of which fl_buffer_copy then reads; it stays the
 * caller's. */
void fl_buffer_keep_file(FlBuffer *b, int fd);
/* [at, at + bytes) of `b` to `to`: by a call where its file is kept, so that nothing around comes along. */
void fl_buffer_copy(const FlBuffer *b, void *to, const void *at, int64_t bytes);
/* [at, at + bytes) of `b` will be read soon: what of it is not in memory is asked of the disk, which nobody
 * waits for (of a mapping: data/ahead.h). The caller has a reference. */
void fl_buffer_announce(FlBuffer *b, const void *at, int64_t bytes);
/* Nobody reads [from, to) of `b` any more: its whole pages need no memory until somebody writes there. */
void fl_buffer_discard(FlBuffer *b, const void *from, const void *to);
FlBuffer *fl_buffer_ref(FlBuffer *b); /* NULL is allowed */
void fl_buffer_unref(FlBuffer *b);    /* NULL is allowed */
/* `b` shall keep `kept` alive (takes a reference of its own; once is enough). Only while the caller is the
 * only owner of `b`. false: out of memory. */
bool fl_buffer_keep(FlBuffer *b, FlBuffer *kept);
/* The buffer behind a heap, to be kept. */
FlBuffer *fl_heap_buffer(FlHeap *heap);

/* ---- arrays ------------------------------------------------------------------------------------------- */

/* An array over memory that `buffer` owns or keeps alive (takes a reference); `data` points into it. NULL:
 * error recorded. */
FlArray *fl_array_over(FlCtx *ctx, FlBuffer *buffer, void *data, int32_t dtype, int32_t rank,
                       const int64_t *dims);
/* As fl_array_new, over fl_buffer_new_near, fl_buffer_new_shared; not of lists. */
FlArray *fl_array_new_near(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);
FlArray *fl_array_new_shared(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);
/* The rows [from, to) of the leading dimension, sharing the buffer. 0 <= from <= to <= dims[0] is the
 * caller's. */
FlArray *fl_array_view_rows(FlCtx *ctx, const FlArray *a, int64_t from, int64_t to);
/* As fl_array_new, of which only the rows of the cut are here: see FlCut. Not of lists. */
FlArray *fl_array_new_part(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims, const FlCut *cut);
/* The cut of such an array; NULL: all rows are here. */
const FlCut *fl_array_cut(const FlArray *a);
/* Its rows that are here, as an array of these alone, in the same memory. NULL: error recorded. */
FlArray *fl_array_rows_here(FlCtx *ctx, const FlArray *a);
/* The same of rows [from, to), which are open. */
FlArray *fl_array_rows_within(FlCtx *ctx, const FlArray *a, int64_t from, int64_t to);
/* `a`, which nobody else has, becomes such an array; its elements [from, to) stay what they are. */
FlStatus fl_array_become_part(FlCtx *ctx, FlArray *a, const FlCut *cut, int64_t from, int64_t to);
/* A list that nobody else has, all NULL, becomes one of which the elements of the cut are here, NULL so far.
 */
FlStatus fl_array_become_part_list(FlCtx *ctx, FlArray *a, const FlCut *cut);
/* As fl_array_new, of addresses alone: a step is about to give memory to a part of it (fl_array_become_part,
 * fl_array_open) or to all. Not of lists. */
FlArray *fl_array_new_addresses(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);
bool fl_array_is_apart(const FlArray *a); /* is it such an array, and none of it memory so far? */
/* Of an array that is here in part, or apart: elements, or rows, [from, to) become memory, with all between
 * them and what was memory before. The cut stays. */
FlStatus fl_array_open(FlCtx *ctx, FlArray *a, int64_t from, int64_t to);
FlStatus fl_array_open_rows(FlCtx *ctx, FlArray *a, int64_t from, int64_t to);
/* Only the rows of its cut stay; nothing where it has none. */
void fl_array_shut(FlArray *a);
/* The first rows of an array that is here in part become memory, whatever lies between them and its own;
 * those that are not its own are none again. In between nothing else is opened or shut. */
FlStatus fl_array_borrow(FlCtx *ctx, FlArray *a, int64_t rows);
void fl_array_give_back(FlArray *a, int64_t rows);
/* All of its rows are here now: they are open, and somebody has filled them. */
void fl_array_become_whole(FlArray *a);
/* As fl_array_new, with all elements zero (text: empty). */
FlArray *fl_array_zeros(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);

/* Elements. Where a size is zero the others may be of any size: their product wraps around, and the count is
 * zero. */
static inline int64_t fl_array_count(const FlArray *a) {
  uint64_t n = 1;
  for (int32_t k = 0; k < a->rank; k++) n *= (uint64_t)a->dims[k];
  return (int64_t)n;
}
/* Elements in one row of the leading dimension. */
static inline int64_t fl_array_row_count(const FlArray *a) {
  uint64_t n = 1;
  for (int32_t k = 1; k < a->rank; k++) n *= (uint64_t)a->dims[k];
  return (int64_t)n;
}
static inline int64_t fl_array_bytes(const FlArray *a) {
  return fl_array_count(a) * fl_dtype_info[a->dtype].bytes;
}

/* Digest of type, sizes and contents: equal for equal values however they came about. NaNs are one NaN, texts
 * and files count by their bytes, lists by their elements' digests. Remembered in the array. */
FlDigest fl_array_digest(FlArray *a);
bool fl_array_has_digest(const FlArray *a);
/* In pieces, which any threads may make: the digests of as many blocks, then of the array by all of them
 * (NULL: they are made here). Of one block: nothing is gained. */
int64_t fl_array_digest_blocks(const FlArray *a);
FlDigest fl_array_digest_block(const FlArray *a, int64_t block);
FlDigest fl_array_digest_of(FlArray *a, const FlDigest *blocks);
/* The same for a single value of a scalar type. */
FlDigest fl_scalar_digest(int32_t dtype, FlSlot value);

/* There was no memory for `bytes` of something that cannot be an error by itself, as a text that an element
 * of a kernel makes: it is nothing then, and from now on the run that `pool` belongs to (NULL: none) is
 * stopped, so that nothing is made of it: fl_ctx_is_stopped, fl_fail_stopped. Any thread. */
void fl_pool_give_up(FlPool *pool, int64_t bytes);
bool fl_pool_gave_up(const FlPool *pool);
/* Records in ctx why the pool of its run gave up, if it did. */
void fl_pool_gave_up_why(FlCtx *ctx);

#endif
