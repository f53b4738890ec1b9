/* loops.c: the walk over an index space, and what MAP, COLLECT and SCAN make of it. */
#include "interp/interp_internal.h"

#include "data/cut.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

enum {
  LOOK = 16,  /* so many elements at a look whether the run goes on */
  SLOWER = 30 /* than optimised code, at least */
};

/* ---- the walk ---------------------------------------------------------------------------------------- */

/* The next index, row-major: the last axis runs fastest. */
static void advance(int64_t *index, const int64_t *sizes, int rank) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++index[k] < sizes[k]) return;
    index[k] = 0;
  }
}

void say_group(Frame *f, const FlOp *failed) {
  const FlOp *op = fl_ir_within(failed);
  if (op == NULL) return;
  FlSlot *args = new_slots(op->n_args);
  if (args == NULL) return; /* it fails as it does, without the group */
  for (int i = 1; i < op->n_args; i++) args[i] = value_of(f, op->args[i]);
  fl_fail_within(f->ctx, &note_of(f, op)->desc, args);
  free(args);
}

FlStatus cut_of_loop(Frame *f, const FlOp *op, int64_t rows, const FlCut **cut) {
  const OpNote *note = note_of(f, op);
  const FlPlanKernel *k = note->step ? note->step->kernel : NULL;
  *cut = NULL;
  if (!k || !fl_ctx_cuts(f->ctx)) return 0;
  const FlLoopTakes takes = {fl_op_info[op->code].name, note->site, k->n_uses, note->rows,
                             fl_plan_by_rows(f->in->plan, note->step)};
  FlSlot *values = new_slots(k->n_uses);
  for (int i = 0; i < k->n_uses; i++) values[i] = value_of(f, k->uses[i].value);
  FlStatus s = fl_loop_cut(f->ctx, &takes, values, rows, cut);
  free(values);
  return s;
}

/* A walk over the elements of a loop. */
typedef struct Walk {
  Frame *f;
  const FlOp *op;
  const FlCut *cut;
  ElementFn *fn;
  void *arg;
} Walk;

static FlStatus walk(void *its) {
  const Walk *w = its;
  Frame *f = w->f;
  const FlOp *op = w->op;
  const FlCut *cut = w->cut;
  const FlRegion *r = op->regions[0];
  int64_t sizes[FL_MAX_RANK], index[FL_MAX_RANK] = {0}, first_index[FL_MAX_RANK] = {0}, n = 1;
  for (int k = 0; k < op->n_args; k++) {
    sizes[k] = value_of(f, op->args[k]).i;
    n *= sizes[k] > 0 ? sizes[k] : 0;
  }
  bool outermost = f->fault == NULL, all = outermost && note_of(f, op)->whole;
  FlHeap *faults = all ? fl_heap_new(f->ctx) : NULL; /* texts of `first` */
  FlTextMark mark;
  fl_texts_mark(f->heap, &mark);
  Fault first = {0}, now = {0};
  if (all) f->fault = &now, f->first = &first;
  FlSlot *yields = new_slots(r->n_yields);
  FlStatus s = yields == NULL ? no_memory(f) : 0;
  int64_t pos = 0;
  if (cut && n > 0) {
    pos = n / sizes[0] * fl_cut_from(cut);
    n = n / sizes[0] * fl_cut_to(cut);
    index[0] = fl_cut_from(cut);
  }
  for (; pos < n && s == 0; pos++) {
    for (int k = 0; k < op->n_args; k++) define(f, r->params[k], (FlSlot){.i = index[k]});
    s = run_region(f, r, yields);
    if (s != 0 && outermost) fl_fail_position(f->ctx, op->n_args, index);
    if (all && s == FAULTED) {
      if (first.op == NULL || comes_before(r, &now, &first)) {
        first = now;
        if (fl_type_is_text(fl_t_scalar((FlDtype)now.type))) {
          first.a = text_in(faults, now.a);
          first.b = text_in(faults, now.b);
        }
        memcpy(first_index, index, sizeof index);
      }
      s = 0;
    } else if (s == 0 && first.op == NULL) {
      s = w->fn(f, op, pos, yields, w->arg);
    }
    if (s == 0 && pos % LOOK == 0 && fl_ctx_is_stopped(f->ctx)) s = fl_fail_stopped(f->ctx);
    /* What a nested loop failed with is looked at by the walk around it. */
    if (s == 0) s = leave_texts(f, &mark, NULL, NULL, 0);
    advance(index, sizes, op->n_args);
  }
  free(yields);
  if (all) f->fault = NULL, f->first = NULL;
  if (first.op != NULL) {
    s = raise_fault(f, first);
    if (outermost) fl_fail_position(f->ctx, op->n_args, first_index);
  }
  fl_heap_unref(faults);
  if (s != 0 && outermost) say_group(f, op);
  return s;
}

/* Nanoseconds of optimised code. */
static double cost_of(const Frame *f, const FlCost *c) {
  switch (c->kind) {
  case FL_COST_VALUE: return (double)value_of(f, c->value).i;
  case FL_COST_DIM: return (double)value_of(f, c->value).a->dims[c->axis];
  case FL_COST_SUM: return cost_of(f, c->a) + cost_of(f, c->b);
  case FL_COST_PRODUCT: return cost_of(f, c->a) * cost_of(f, c->b);
  case FL_COST_CONSTANT: break;
  }
  return c->n;
}

FlStatus each_element(Frame *f, const FlOp *op, const FlCut *cut, ElementFn *fn, void *arg) {
  Walk w = {f, op, cut, fn, arg};
  const FlPlanStep *step = note_of(f, op)->step;
  if (f->fault || !step || !step->kernel || !step->kernel_code) return walk(&w);
  int64_t n = 1;
  for (int k = 0; k < op->n_args; k++) {
    int64_t size = value_of(f, op->args[k]).i;
    n *= size > 0 ? size : 0;
  }
  double ns = (double)n * cost_of(f, step->kernel->cost);
  return fl_run_walk(f->ctx, note_of(f, op)->site, n, ns * SLOWER, walk, &w);
}

/* ---- results that are arrays ------------------------------------------------------------------------- */

/* The arrays being filled by a loop, one a result from `first` on, and the heap of their texts. */
typedef struct Filling {
  FlArray **arrays;
  FlHeap *heap;
  int n;
} Filling;

static void put_yield(Filling *fill, int i, int64_t at, FlSlot v) {
  FlArray *a = fill->arrays[i];
  fl_array_put(a, at, fl_dtype_is_text(a->dtype) ? text_in(fill->heap, v) : v);
}

/* Arrays of sizes `dims`; a list has a place for each of the `n` elements. */
static FlStatus start(Frame *f, const FlOp *op, int first, const int64_t *dims, int64_t n, const FlCut *cut,
                      Filling *fill) {
  fill->arrays = calloc((size_t)(op->n_results - first) + 1, sizeof *fill->arrays);
  if (fill->arrays == NULL) return no_memory(f);
  fill->n = op->n_results - first;
  fill->heap = fl_heap_new(f->ctx);
  for (int i = 0; i < fill->n; i++) {
    FlType1 t = op->results[first + i]->type;
    if ((fill->arrays[i] = new_array(f, t, t.depth > 0 ? &n : dims, cut)) == NULL) return 1;
  }
  return 0;
}

/* Hands the arrays to the results, or releases them. */
static FlStatus finish(Frame *f, const FlOp *op, int first, Filling *fill, FlStatus s) {
  for (int i = 0; i < fill->n; i++) {
    if (s == 0) s = keep_texts(f, fill->arrays[i], fill->heap);
    if (s == 0) define(f, op->results[first + i], (FlSlot){.a = fill->arrays[i]});
    else fl_array_unref(fill->arrays[i]);
  }
  fl_heap_unref(fill->heap);
  free(fill->arrays);
  return s;
}

/* ---- MAP --------------------------------------------------------------------------------------------- */

static FlStatus put_all(Frame *f, const FlOp *op, int64_t pos, FlSlot *yields, void *arg) {
  (void)f;
  for (int i = 0; i < op->n_results; i++) put_yield(arg, i, pos, yields[i]);
  return 0;
}

FlStatus run_map(Frame *f, const FlOp *op) {
  Filling fill = {0};
  int64_t dims[FL_MAX_RANK], n = 1;
  for (int k = 0; k < op->n_args; k++) {
    dims[k] = value_of(f, op->args[k]).i;
    n *= dims[k] > 0 ? dims[k] : 0; /* a size below zero is an empty one */
  }
  const FlCut *cut;
  FlStatus s = cut_of_loop(f, op, dims[0], &cut);
  if (s == 0) s = start(f, op, 0, dims, n, cut, &fill);
  if (s == 0) s = each_element(f, op, cut, put_all, &fill);
  return finish(f, op, 0, &fill, s);
}

/* ---- COLLECT ----------------------------------------------------------------------------------------- */

/* The kept elements, row after row; their texts are in `heap`. */
typedef struct Kept {
  FlSlot *slots;
  int64_t n, capacity;
  FlHeap *heap;
} Kept;

static FlStatus keep_element(Frame *f, const FlOp *op, int64_t pos, FlSlot *yields, void *arg) {
  (void)pos;
  Kept *k = arg;
  int columns = op->n_results - 1;
  if (yields[0].i == 0) return 0;
  if (k->n == k->capacity) {
    int64_t capacity = k->capacity > 0 ? k->capacity * 2 : 64;
    FlSlot *slots = realloc(k->slots, (size_t)(capacity * columns + 1) * sizeof *slots);
    if (slots == NULL) return no_memory(f);
    k->slots = slots;
    k->capacity = capacity;
  }
  for (int i = 0; i < columns; i++) {
    FlDtype d = (FlDtype)op->results[1 + i]->type.dtype;
    FlSlot v = yields[1 + i];
    k->slots[k->n * columns + i] = fl_dtype_is_text(d) ? text_in(k->heap, v) : v;
  }
  k->n++;
  return 0;
}

FlStatus run_collect(Frame *f, const FlOp *op) {
  Kept kept = {.heap = fl_heap_new(f->ctx)};
  Filling fill = {0};
  int columns = op->n_results - 1;
  const FlCut *cut;
  FlStatus s = cut_of_loop(f, op, value_of(f, op->args[0]).i, &cut);
  if (s == 0) s = each_element(f, op, cut, keep_element, &kept);
  if (s == 0) {
    s = start(f, op, 1, &kept.n, kept.n, NULL, &fill);
    for (int64_t row = 0; s == 0 && row < kept.n; row++)
      for (int i = 0; i < columns; i++) put_yield(&fill, i, row, kept.slots[row * columns + i]);
    s = finish(f, op, 1, &fill, s);
  }
  define(f, op->results[0], (FlSlot){.i = kept.n});
  fl_heap_unref(kept.heap);
  free(kept.slots);
  return s;
}

/* ---- SCAN -------------------------------------------------------------------------------------------- */

/* One step after the other. */
FlStatus run_scan(Frame *f, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  int64_t n = value_of(f, op->args[0]).i;
  Filling fill = {0};
  FlSlot *carried = new_slots(op->n_results);
  FlType1 *types = value_types(r->yields, r->n_yields);
  FlTextMark mark;
  fl_texts_mark(f->heap, &mark);
  FlStatus s = carried == NULL || types == NULL ? no_memory(f) : start(f, op, 0, &n, n, NULL, &fill);
  for (int k = 0; k < op->n_results && s == 0; k++) carried[k] = value_of(f, op->args[1 + k]);
  for (int64_t i = 0; i < n && s == 0; i++) {
    define(f, r->params[0], (FlSlot){.i = i});
    for (int k = 0; k < op->n_results; k++) define(f, r->params[1 + k], carried[k]);
    s = run_region(f, r, carried);
    for (int k = 0; k < op->n_results && s == 0; k++) put_yield(&fill, k, i, carried[k]);
    if (s == 0) s = leave_texts(f, &mark, types, carried, op->n_results);
    if (s == 0 && fl_ctx_is_stopped(f->ctx)) s = fl_fail_stopped(f->ctx);
  }
  s = finish(f, op, 0, &fill, s);
  free(types);
  free(carried);
  return s;
}
