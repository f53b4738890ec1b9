/* kernel_rows.c: kernels over rows that a filter keeps and nobody has copied yet.
 *
 * In: a kernel, and what it captures. Out: its elements done, with such rows brought together block by block,
 * in the cache of who computes. What always holds: the kernel sees the array that a copy would be, at the
 * elements that it is asked for; blocks are those of FL_BLOCK, so that what a fold adds is the same. */
#include "exec/kernel_rows.h"

#include "data/kept_rows.h"
#include "part/fill.h"

#include <stdlib.h>
#include <string.h>

/* Elements of the kernel are rows of the array, and it reads its own alone. (Rounds have neither places nor
 * results.) */
static bool reads_rows(const FlKernel *k, int32_t use, const FlArray *a, int64_t n) {
  bool own = k->rows[use] == FL_ROWS_OWN && k->n_places + k->n_results > 0;
  return own && k->n_sizes == 1 && a->rank == 1 && a->dims[0] == n;
}

FlStatus fl_kernel_rows_open(FlCtx *ctx, const FlKernel *k, const FlSlot *env, int64_t n,
                             FlKernelRows *rows) {
  FlStatus s = 0;
  rows->n = 0;
  rows->row_bytes = 0;
  for (int32_t i = 0; i < k->n_uses && !s; i++) {
    const FlArray *a = k->rows[i] != FL_ROWS_NONE ? env[i].a : NULL;
    if (!a || !fl_array_is_unwritten(a)) continue;
    FlSelected from = {0};
    if (rows->n < FL_KERNEL_ROWS && reads_rows(k, i, a, n)) from = fl_selected_borrow(a);
    if (!from.from) {
      s = fl_part_fill(ctx, a);
      continue;
    }
    rows->use[rows->n] = i;
    rows->from[rows->n++] = from;
    rows->row_bytes += fl_dtype_info[a->dtype].bytes;
  }
  if (s) fl_kernel_rows_close(rows);
  return s;
}

void fl_kernel_rows_close(FlKernelRows *rows) {
  while (rows->n > 0) fl_selected_return(rows->from[--rows->n]);
}

FlStatus fl_kernel_rows_fill(FlCtx *ctx, const FlKernel *k, const FlSlot *env) {
  FlStatus s = 0;
  for (int32_t i = 0; i < k->n_uses && !s; i++)
    if (k->rows[i] != FL_ROWS_NONE) s = fl_part_fill(ctx, env[i].a);
  return s;
}

/* A column of a worker's block. */
typedef struct Column {
  FlArray stands; /* for the array, in the environment of the kernel */
  int64_t row;    /* of what it is selected from, behind those of the last block */
  char *room;
} Column;

/* Brings the rows [from, to) of column c together. */
static void bring(Column *c, const FlSelected *s, int64_t from, int64_t to) {
  const FlSelection *by = s->selection;
  int64_t size = fl_dtype_info[c->stands.dtype].bytes, n = to - from;
  c->row = fl_keep_rows(by->mask->data, by->n, c->row, s->from->data, (size_t)size, false, n, c->room);
  /* Its element `from` is the first one in the room. */
  c->stands.data = (void *)((uintptr_t)c->room - (uintptr_t)(from * size));
}

int32_t fl_kernel_rows_run(const FlKernelRows *rows, FlCtx *ctx, const FlKernel *k, FlKernelFn fast,
                           const FlSlot *env, int64_t begin, int64_t end) {
  size_t slots = (size_t)k->n_env * sizeof *env;
  FlSlot *mine = malloc(slots + 1);
  char *room = malloc((size_t)(rows->row_bytes * FL_BLOCK + rows->n * FL_ALIGN));
  Column columns[FL_KERNEL_ROWS];
  int32_t faults = mine && room ? 0 : FL_FAULT_MEMORY;
  if (!faults) memcpy(mine, env, slots);
  for (int32_t i = 0, at = 0; i < rows->n && !faults; i++) {
    const FlArray *a = env[rows->use[i]].a;
    Column *c = &columns[i];
    *c = (Column){.room = room + at};
    c->room += (FL_ALIGN - (uintptr_t)c->room % FL_ALIGN) % FL_ALIGN;
    c->row = fl_selection_row(rows->from[i].selection, rows->from[i].first + begin);
    memcpy(c->stands.dims, a->dims, sizeof a->dims);
    c->stands.buffer = a->buffer;
    c->stands.dtype = a->dtype;
    c->stands.rank = a->rank;
    mine[rows->use[i]].a = &c->stands;
    at += fl_dtype_info[a->dtype].bytes * FL_BLOCK + FL_ALIGN;
  }
  for (int64_t from = begin, to; from < end && !faults; from = to) {
    to = (from / FL_BLOCK + 1) * FL_BLOCK;
    if (to > end) to = end;
    for (int32_t i = 0; i < rows->n; i++) bring(&columns[i], &rows->from[i], from, to);
    faults = fast(ctx, mine, from, to);
  }
  free(room);
  free(mine);
  return faults;
}
