/* arrays.c: elements as slots, new arrays, and the operations on single elements: ARRAY, LOAD, STORE.
 *
 * What always holds: floats are stored canonical (one NaN); a text array keeps the bytes that its views point
 * to. */
#include "interp/interp_internal.h"

#include "data/data.h"
#include "exec/exec.h"

#include "kern/kern.h"

int64_t total_of(const FlArray *a) {
  int64_t n = 1;
  for (int i = 0; i < a->rank; i++) n *= a->dims[i];
  return n;
}

FlSlot text_in(FlHeap *heap, FlSlot text) {
  return (FlSlot){.t = fl_heap_text(heap, text.t.ptr, text.t.len)};
}

FlArray *new_array(Frame *f, FlType1 t, const int64_t *dims, const FlCut *cut) {
  if (cut) return fl_array_new_part(f->ctx, t.dtype, t.rank, dims, cut);
  return t.depth > 0 ? fl_array_new(f->ctx, FL_LIST, 1, dims) : fl_array_new(f->ctx, t.dtype, t.rank, dims);
}

FlStatus keep_texts(Frame *f, FlArray *a, FlHeap *heap) {
  return fl_dtype_is_text(a->dtype) ? fl_array_keep(f->ctx, a, heap, NULL, 0) : 0;
}

/* ---- ARRAY, LOAD, STORE ------------------------------------------------------------------------------ */

FlStatus run_array(Frame *f, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  int64_t dims[FL_MAX_RANK] = {op->n_args};
  FlArray *a = new_array(f, t, dims, NULL);
  if (a == NULL) return 1;
  FlHeap *heap = fl_heap_new(f->ctx);
  bool text = fl_dtype_is_text(t.dtype);
  for (int i = 0; i < op->n_args; i++) {
    FlSlot v = value_of(f, op->args[i]);
    fl_array_put(a, i, text ? text_in(heap, v) : v);
  }
  FlStatus s = keep_texts(f, a, heap);
  fl_heap_unref(heap);
  define(f, op->results[0], (FlSlot){.a = a});
  return s;
}

FlStatus whole_arguments(Frame *f, const FlOp *op) {
  FlStatus s = 0;
  for (int i = 0; fl_ctx_cuts(f->ctx) && i < op->n_args && s == 0; i++)
    if (is_array(op->args[i]->type))
      s = fl_part_whole(f->ctx, note_of(f, op)->site, fl_op_info[op->code].name, value_of(f, op->args[i]).a);
  return s;
}

/* The row-major position of the element at args[1..n]; an index outside its dimension is a fault. */
static FlStatus locate(Frame *f, const FlOp *op, int n, int64_t *at) {
  const FlArray *a = value_of(f, op->args[0]).a;
  *at = 0;
  for (int k = 0; k < n; k++) {
    int64_t i = value_of(f, op->args[1 + k]).i;
    if (i < 0 || i >= a->dims[k])
      return raise_fault(f, (Fault){.op = op,
                                    .part = k,
                                    .bits = FL_FAULT_INDEX,
                                    .type = FL_I64,
                                    .a = {.i = i},
                                    .b = {.i = a->dims[k]}});
    *at = *at * a->dims[k] + i;
  }
  return 0;
}

FlStatus run_load(Frame *f, const FlOp *op) {
  int64_t at;
  FlStatus s = locate(f, op, op->n_args - 1, &at);
  if (s != 0) return s;
  const FlArray *a = value_of(f, op->args[0]).a;
  if (fl_ctx_cuts(f->ctx)) s = fl_part_has(f->ctx, note_of(f, op)->site, a, value_of(f, op->args[1]).i);
  if (s != 0) return s;
  FlSlot v = fl_array_slot(a, at);
  define(f, op->results[0], own(op->results[0]->type, v));
  return 0;
}

FlStatus run_pick(Frame *f, const FlOp *op) {
  const FlArray *a = value_of(f, op->args[2 + value_of(f, op->args[0]).i]).a;
  define(f, op->results[0], fl_array_slot(a, value_of(f, op->args[1]).i));
  return 0;
}

/* The array itself, taken from its value, when nothing else refers to it and nothing uses that value any
 * more. */
static FlArray *take_unique(Frame *f, const FlOp *op) {
  FlSlot *slot = &f->values[op->args[0]->id];
  const FlPlanStep *step = note_of(f, op)->step;
  FlArray *a = step && step->takes ? fl_array_reuse(slot->a) : NULL;
  if (a != NULL) {
    fl_array_unref(slot->a);
    slot->a = NULL;
  }
  return a;
}

static FlStatus store_in_copy(Frame *f, const FlOp *op, int64_t at, FlSlot value) {
  const FlArray *from = value_of(f, op->args[0]).a;
  FlArray *to = new_array(f, op->results[0]->type, from->dims, NULL);
  if (to == NULL) return 1;
  FlHeap *heap = fl_heap_new(f->ctx);
  bool text = fl_dtype_is_text(to->dtype);
  int64_t n = total_of(from);
  for (int64_t i = 0; i < n; i++) {
    FlSlot v = i == at ? value : fl_array_slot(from, i);
    if (to->dtype == FL_LIST) fl_array_ref(v.a);
    fl_array_put(to, i, text ? text_in(heap, v) : v);
  }
  FlStatus s = keep_texts(f, to, heap);
  fl_heap_unref(heap);
  define(f, op->results[0], (FlSlot){.a = to});
  return s;
}

/* The array with one element replaced: a copy, unless nobody could tell. Texts always copy: theirs is another
 * heap. */
FlStatus run_store(Frame *f, const FlOp *op) {
  FlSlot value = value_of(f, op->args[op->n_args - 1]);
  FlDtype d = (FlDtype)value_of(f, op->args[0]).a->dtype;
  int64_t at;
  FlStatus s = whole_arguments(f, op);
  if (s == 0) s = locate(f, op, op->n_args - 2, &at);
  if (s != 0) return s;
  FlArray *a = fl_dtype_is_text(d) ? NULL : take_unique(f, op);
  if (a == NULL) return store_in_copy(f, op, at, value);
  if (d == FL_LIST) {
    fl_array_ref(value.a);
    fl_array_unref(fl_array_slot(a, at).a);
  }
  fl_array_put(a, at, value);
  define(f, op->results[0], (FlSlot){.a = a});
  return 0;
}
