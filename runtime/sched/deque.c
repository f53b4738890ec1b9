/* deque.c: the work-stealing deque of Chase and Lev ("Dynamic circular work-stealing deque", SPAA 2005) with
 * the C11 orders of Le, Pop, Cohen and Zappa Nardelli ("Correct and efficient work-stealing for weak memory
 * models", PPoPP 2013), their fences put on the operations, and of fixed size, so no slot array is ever
 * replaced.
 *
 * What always holds: tasks in [top, bottom) are in the deque; each is returned once, by pop or by steal. */
#include "sched/sched_internal.h"

enum { MASK = FL_DEQUE_CAP - 1 };
_Static_assert((FL_DEQUE_CAP & MASK) == 0, "a power of two");

bool fl_deque_push(FlDeque *d, FlTask *task) {
  int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
  /* acquire: a thief that advanced top has read the slot that we may now write again. */
  int64_t t = atomic_load_explicit(&d->top, memory_order_acquire);
  if (b - t >= FL_DEQUE_CAP) return false;
  atomic_store_explicit(&d->slots[b & MASK], task, memory_order_relaxed);
  /* Releases the slot and the task to the thief that loads bottom; seq_cst for the sleepers' protocol. */
  atomic_store_explicit(&d->bottom, b + 1, memory_order_seq_cst);
  return true;
}

FlTask *fl_deque_pop(FlDeque *d) {
  int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
  /* seq_cst store then load, against steal's loads of top then bottom: of an owner and a thief who both reach
   * for task b, at least one sees the other and goes to the CAS. */
  atomic_store_explicit(&d->bottom, b, memory_order_seq_cst);
  int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);
  if (t < b) return atomic_load_explicit(&d->slots[b & MASK], memory_order_relaxed);
  FlTask *task = NULL;
  if (t == b) {
    task = atomic_load_explicit(&d->slots[b & MASK], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
      task = NULL;
  }
  /* release: continues what push released, for a thief that reads this value. */
  atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
  return task;
}

FlTask *fl_deque_steal(FlDeque *d) {
  int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);
  int64_t b = atomic_load_explicit(&d->bottom, memory_order_seq_cst);
  if (t >= b) return NULL;
  FlTask *task = atomic_load_explicit(&d->slots[t & MASK], memory_order_relaxed);
  /* release: the slot was read before its place is given up (acquired by push). */
  if (!atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst,
                                               memory_order_relaxed))
    return NULL;
  return task;
}

bool fl_deque_is_empty(const FlDeque *d) {
  int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);
  return t >= atomic_load_explicit(&d->bottom, memory_order_seq_cst);
}
