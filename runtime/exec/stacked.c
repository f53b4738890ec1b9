/* stacked.c: results of tasks that are only stacked: each is laid where its row of the stack is as soon as it
 * is made.
 *
 * In: the array that an element gave. Out: the same values and sizes, as a view of a row of one array for all
 * elements, which LIST_STACK then finds whole. That array has the sizes of whichever element was ready first;
 * what has others, is small, or finds no memory stays as it is, and LIST_STACK copies it, or says what is
 * wrong. What always holds: nothing fails here. */
#include "exec/tasks.h"

#include <string.h>

enum { SMALL = 1 << 9 }; /* bytes of a row from which it pays */

/* Of these sizes, unless there is one; NULL: there is none. */
static FlArray *stack_like(FlTaskSet *s, FlCtx *ctx, int32_t k, const FlArray *row) {
  FlArray *stack = atomic_load_explicit(&s->stacks[k], memory_order_acquire);
  if (stack) return stack;
  int64_t dims[FL_MAX_RANK] = {s->n};
  memcpy(dims + 1, row->dims, (size_t)row->rank * sizeof *dims);
  pthread_mutex_lock(&s->lock);
  stack = atomic_load_explicit(&s->stacks[k], memory_order_relaxed);
  if (!stack) {
    stack = fl_array_new(ctx, row->dtype, row->rank + 1, dims);
    atomic_store_explicit(&s->stacks[k], stack, memory_order_release);
  }
  pthread_mutex_unlock(&s->lock);
  return stack;
}

static bool is_row_of(const FlArray *stack, const FlArray *row) {
  return stack->dtype == row->dtype && stack->rank == row->rank + 1 &&
         memcmp(stack->dims + 1, row->dims, (size_t)row->rank * sizeof *row->dims) == 0;
}

void fl_task_lay(FlTaskSet *s, FlCtx *ctx, int64_t at, FlSlot *results) {
  for (int32_t k = 0; k < s->n_results; k++) {
    FlArray *row = s->is_stacked[k] ? results[k].a : NULL;
    if (!row || fl_array_bytes(row) < SMALL || row->rank == FL_MAX_RANK || fl_array_cut(row)) continue;
    FlArray *stack = stack_like(s, ctx, k, row);
    if (!stack || !is_row_of(stack, row)) continue;
    char *to = (char *)stack->data + at * fl_array_bytes(row);
    FlArray *laid = fl_array_over(ctx, stack->buffer, to, row->dtype, row->rank, row->dims);
    if (!laid) continue;
    memcpy(to, row->data, (size_t)fl_array_bytes(row));
    fl_array_unref(row);
    results[k].a = laid;
  }
}
