/* array.c: arrays: making, sharing, viewing, reusing in place, and what their texts keep alive.
 *
 * What always holds: an array has one reference of its buffer; a digest is forgotten before the contents may
 * change. */
#include "data/cut.h"
#include "data/data_internal.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an array of these sizes; INT64_MAX when that is no number of bytes, or a size is none: -1 stands
 * for what is too large. */
static int64_t bytes_of(int32_t dtype, int32_t rank, const int64_t *dims) {
  int64_t n = fl_dtype_info[dtype].bytes;
  bool empty = false;
  for (int32_t k = 0; k < rank; k++) {
    if (dims[k] < 0) return INT64_MAX;
    empty |= dims[k] == 0;
  }
  if (empty) return 0;
  for (int32_t k = 0; k < rank; k++) {
    if (__builtin_mul_overflow(n, dims[k], &n)) return INT64_MAX;
  }
  return n;
}

FlArray *fl_array_over(FlCtx *ctx, FlBuffer *buffer, void *data, int32_t dtype, int32_t rank,
                       const int64_t *dims) {
  FlArray *a = calloc(1, sizeof *a);
  if (!a) return fl_data_no_memory(ctx, (int64_t)sizeof *a);
  a->data = data;
  memcpy(a->dims, dims, (size_t)rank * sizeof *dims);
  atomic_init(&a->refs, 1);
  a->buffer = fl_buffer_ref(buffer);
  a->dtype = dtype;
  a->rank = rank;
  return a;
}

typedef FlBuffer *FlNewBuffer(FlCtx *ctx, int64_t bytes);

static FlArray *array_new(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims, FlNewBuffer *make) {
  int64_t bytes = bytes_of(dtype, rank, dims);
  if (bytes == INT64_MAX) return fl_data_no_memory(ctx, bytes);
  FlBuffer *b = make(ctx, bytes);
  if (!b) return NULL;
  FlArray *a = fl_array_over(ctx, b, b->data, dtype, rank, dims);
  fl_buffer_unref(b);
  return a;
}

FlArray *fl_array_new(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  return array_new(ctx, dtype, rank, dims, dtype == FL_LIST ? fl_buffer_new_list : fl_buffer_new);
}

FlArray *fl_array_new_near(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  return array_new(ctx, dtype, rank, dims, fl_buffer_new_near);
}

FlArray *fl_array_new_shared(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  return array_new(ctx, dtype, rank, dims, fl_buffer_new_shared);
}

FlArray *fl_array_new_part(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims, const FlCut *cut) {
  int64_t bytes = bytes_of(dtype, rank, dims);
  if (bytes == INT64_MAX) return fl_data_no_memory(ctx, bytes);
  FlBuffer *b = fl_buffer_new_part(ctx, bytes, cut);
  FlArray *a = b ? fl_array_over(ctx, b, b->data, dtype, rank, dims) : NULL;
  fl_buffer_unref(b);
  return a;
}

const FlCut *fl_array_cut(const FlArray *a) {
  return a->buffer->kind == FL_BUFFER_PARTED ? fl_buffer_cut(a->buffer) : NULL;
}

FlArray *fl_array_rows_here(FlCtx *ctx, const FlArray *a) {
  const FlCut *cut = fl_array_cut(a);
  return fl_array_rows_within(ctx, a, fl_cut_from(cut), fl_cut_to(cut));
}

FlArray *fl_array_rows_within(FlCtx *ctx, const FlArray *a, int64_t from, int64_t to) {
  int64_t dims[FL_MAX_RANK], row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  memcpy(dims, a->dims, sizeof dims);
  dims[0] = to - from;
  char *at = (char *)a->data + row * from;
  FlBuffer *b = fl_buffer_within(ctx, a->buffer, at, row * dims[0]);
  FlArray *here = b ? fl_array_over(ctx, b, at, a->dtype, a->rank, dims) : NULL;
  /* Who keeps what its texts point into keeps what the parted one does. */
  for (int32_t k = 0; here && k < a->buffer->n_keeps; k++)
    if (!fl_buffer_keep(b, a->buffer->keeps[k])) {
      fl_array_unref(here);
      here = fl_data_no_memory(ctx, (int64_t)sizeof b);
    }
  fl_buffer_unref(b);
  return here;
}

FlStatus fl_array_become_part(FlCtx *ctx, FlArray *a, const FlCut *cut, int64_t from, int64_t to) {
  if (fl_array_cut(a) == cut) return 0;
  if (fl_array_is_apart(a)) {
    fl_buffer_set_cut(a->buffer, cut);
    return fl_array_open_rows(ctx, a, fl_cut_from(cut), fl_cut_to(cut));
  }
  FlBuffer *b = fl_buffer_new_part(ctx, fl_array_bytes(a), cut);
  if (!b) return FL_FAULT_MEMORY;
  int64_t each = fl_dtype_info[a->dtype].bytes;
  FlStatus s = fl_buffer_open(ctx, b, each * from, each * to);
  for (int32_t k = 0; k < a->buffer->n_keeps && !s; k++) {
    if (fl_buffer_keep(b, a->buffer->keeps[k])) continue;
    fl_data_no_memory(ctx, (int64_t)sizeof(FlBuffer *));
    s = FL_FAULT_MEMORY;
  }
  if (s) {
    fl_buffer_unref(b);
    return s;
  }
  if (from < to)
    memcpy((char *)b->data + each * from, (char *)a->data + each * from, (size_t)(each * (to - from)));
  fl_buffer_unref(a->buffer);
  a->buffer = b;
  a->data = b->data;
  return 0;
}

FlStatus fl_array_become_part_list(FlCtx *ctx, FlArray *a, const FlCut *cut) {
  FlBuffer *b = fl_buffer_new_part_list(ctx, fl_array_bytes(a), cut);
  if (!b) return FL_FAULT_MEMORY;
  fl_buffer_unref(a->buffer);
  a->buffer = b;
  a->data = b->data;
  return 0;
}

FlArray *fl_array_new_addresses(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  return array_new(ctx, dtype, rank, dims, fl_buffer_new_apart);
}

bool fl_array_is_apart(const FlArray *a) {
  return a->buffer->kind == FL_BUFFER_PARTED && !fl_buffer_cut(a->buffer) && !fl_buffer_is_open(a->buffer);
}

FlStatus fl_array_open(FlCtx *ctx, FlArray *a, int64_t from, int64_t to) {
  int64_t each = fl_dtype_info[a->dtype].bytes;
  return fl_buffer_open(ctx, a->buffer, from * each, to * each);
}

FlStatus fl_array_open_rows(FlCtx *ctx, FlArray *a, int64_t from, int64_t to) {
  int64_t row = fl_array_row_count(a);
  return fl_array_open(ctx, a, row * from, row * to);
}

void fl_array_shut(FlArray *a) {
  const FlCut *cut = fl_array_cut(a);
  int64_t row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  if (cut) fl_buffer_shut(a->buffer, row * fl_cut_from(cut), row * fl_cut_to(cut));
}

FlStatus fl_array_borrow(FlCtx *ctx, FlArray *a, int64_t rows) {
  return fl_buffer_borrow(ctx, a->buffer, fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes * rows);
}

void fl_array_give_back(FlArray *a, int64_t rows) {
  fl_buffer_give_back(a->buffer, fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes * rows);
}

void fl_array_become_whole(FlArray *a) {
  atomic_store_explicit(&a->has_digest, 0, memory_order_relaxed);
  fl_buffer_set_cut(a->buffer, NULL);
}

FlArray *fl_array_zeros(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims) {
  FlArray *a = fl_array_new(ctx, dtype, rank, dims);
  if (a) memset(a->data, 0, (size_t)fl_array_bytes(a));
  return a;
}

FlArray *fl_array_ref(FlArray *a) {
  if (a) atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
  return a;
}

void fl_array_unref(FlArray *a) {
  /* acq_rel: whoever frees sees every other owner's last use. */
  if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
  fl_buffer_unref(a->buffer);
  free(a);
}

FlArray *fl_array_reuse(FlArray *a) {
  /* acquire: pairs with the release of owners that left, whose reads must come before our writes. */
  if (!a || atomic_load_explicit(&a->refs, memory_order_acquire) != 1 ||
      atomic_load_explicit(&a->buffer->refs, memory_order_acquire) != 1 || !fl_buffer_is_writable(a->buffer))
    return NULL;
  atomic_store_explicit(&a->has_digest, 0, memory_order_relaxed);
  fl_buffer_forget_codes(a->buffer);
  return fl_array_ref(a);
}

FlArray *fl_array_own(FlCtx *ctx, FlArray *a) {
  FlArray *own = fl_array_reuse(a);
  if (!own && (own = fl_array_new(ctx, a->dtype, a->rank, a->dims)))
    memcpy(own->data, a->data, (size_t)fl_array_bytes(a));
  fl_array_unref(a);
  return own;
}

FlArray *fl_array_view_rows(FlCtx *ctx, const FlArray *a, int64_t from, int64_t to) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, a->dims, sizeof dims);
  dims[0] = to - from;
  int64_t row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes;
  return fl_array_over(ctx, a->buffer, (char *)a->data + from * row, a->dtype, a->rank, dims);
}
