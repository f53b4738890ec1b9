/* llvm_bulk.c: COLLECT, SCAN and STORE.
 *
 * COLLECT. Each block of 4096 positions compacts what it keeps at the start of its own part of an array as
 * long as the index space; the runtime then joins these parts (fl_join_kept). The blocks come from the data
 * only. */
#include "codegen/llvm_internal.h"

/* ---- COLLECT ------------------------------------------------------------------------------ */

typedef struct Cursor {
  Val at;             /* alloca: where the next kept element goes */
  const Val *outputs; /* data of the parts, by yield after the first */
} Cursor;

/* Always stores, and moves on when the element is kept: no branch. */
static void collect_element(FlFn *f, const FlPlanKernel *k, Val pos, void *arg) {
  (void)pos;
  Cursor *c = arg;
  Val at = LLVMBuildLoad2(f->b, f->g->i64, c->at, "");
  for (int i = 1; i < k->region->n_yields; i++) {
    const FlValue *v = k->region->yields[i];
    FlDtype d = (FlDtype)v->type.dtype;
    fl_ll_store_output(f, i, d, fl_ll_value(f, v), fl_ll_gep(f, fl_ll_mem_type(f->g, d), c->outputs[i], at));
  }
  Val keep = LLVMBuildZExt(f->b, fl_ll_value(f, k->region->yields[0]), f->g->i64, "");
  LLVMBuildStore(f->b, LLVMBuildNSWAdd(f->b, at, keep, ""), c->at);
}

static void collect_body(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes,
                         const Val *outputs) {
  FlGen *g = f->g;
  Val shift = fl_ll_i64(g, FL_BLOCK_SHIFT), block = fl_ll_i64(g, FL_BLOCK);
  Cursor c = {fl_ll_alloca(f, g->i64, "cursor"), outputs};
  Val last = LLVMBuildLShr(f->b, LLVMBuildNSWAdd(f->b, end, fl_ll_i64(g, FL_BLOCK - 1), ""), shift, "");
  FlLoop l;
  fl_ll_loop_open(f, &l, LLVMBuildLShr(f->b, begin, shift, ""), last, 0, NULL);
  Val lo = LLVMBuildNSWMul(f->b, l.i, block, ""), hi = LLVMBuildNSWAdd(f->b, lo, block, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, end, ""), hi, end, "");
  LLVMBuildStore(f->b, lo, c.at);
  fl_ll_elements(f, k, lo, hi, sizes, collect_element, &c, true);
  Val count = LLVMBuildNSWSub(f->b, LLVMBuildLoad2(f->b, g->i64, c.at, ""), lo, "");
  LLVMBuildStore(f->b, count, fl_ll_gep(f, g->i64, outputs[0], l.i));
  fl_ll_loop_close(f, &l, NULL, true);
}

static Val sum_counts(FlFn *f, Val counts, Val blocks) {
  FlGen *g = f->g;
  Val zero = fl_ll_i64(g, 0);
  FlLoop l;
  fl_ll_loop_open(f, &l, zero, blocks, 1, &zero);
  Val count = LLVMBuildLoad2(f->b, g->i64, fl_ll_gep(f, g->i64, counts, l.i), "");
  Val next = LLVMBuildNSWAdd(f->b, l.phi[0], count, "");
  fl_ll_loop_close(f, &l, &next, false);
  return l.out[0];
}

/* A region of host code: element after element, as one block of any length. */
static void collect_serial(FlFn *f, const FlOp *op, const Val *parts, const Val *data, Val counts) {
  FlGen *g = f->g;
  const FlRegion *r = op->regions[0];
  FlLoop loops[FL_MAX_RANK];
  Val zero = fl_ll_i64(g, 0), at = fl_ll_alloca(f, g->i64, "cursor"), mark = fl_ll_texts_mark(f, r);
  Val *heaps = FL_NEW_ARRAY(g->arena, Val, r->n_yields + 1);
  for (int i = 1; i < r->n_yields; i++)
    if (fl_dtype_is_text((FlDtype)r->yields[i]->type.dtype)) heaps[i] = fl_ll_array_heap(f, parts[i]);
  LLVMBuildStore(f->b, zero, at);
  for (int a = 0; a < op->n_args; a++) {
    fl_ll_loop_open(f, &loops[a], zero, fl_ll_value(f, op->args[a]), 0, NULL);
    fl_ll_set(f, r->params[a], loops[a].i);
  }
  fl_ll_element_region(f, r);
  Val here = LLVMBuildLoad2(f->b, g->i64, at, ""), kept = fl_ll_value(f, r->yields[0]);
  for (int i = 1; i < r->n_yields; i++) {
    FlDtype d = (FlDtype)r->yields[i]->type.dtype;
    Val v = fl_ll_value(f, r->yields[i]);
    /* What is not kept needs no room. */
    if (heaps[i])
      v = fl_ll_text_copy(f, heaps[i], LLVMBuildSelect(f->b, kept, v, LLVMConstNull(LLVMTypeOf(v)), ""));
    fl_ll_store_elem(f, d, v, fl_ll_gep(f, fl_ll_mem_type(g, d), data[i], here));
  }
  Val keep = LLVMBuildZExt(f->b, kept, g->i64, "");
  LLVMBuildStore(f->b, LLVMBuildNSWAdd(f->b, here, keep, ""), at);
  fl_ll_texts_leave(f, mark, 0, NULL, NULL);
  for (int a = op->n_args - 1; a >= 0; a--) fl_ll_loop_close(f, &loops[a], NULL, false);
  LLVMBuildStore(f->b, LLVMBuildLoad2(f->b, g->i64, at, ""), counts);
}

/* What the blocks have kept goes together, in the results. */
static void join_blocks(FlFn *f, const FlOp *op, const Val *parts, Val counts, Val blocks, Val count) {
  FlGen *g = f->g;
  int n = op->n_results - 1;
  Val *to = FL_NEW_ARRAY(g->arena, Val, n + 1);
  for (int i = 0; i < n; i++) {
    const FlValue *r = op->results[i + 1];
    FlDtype d = (FlDtype)r->type.dtype;
    to[i] = fl_ll_new_result(f, r, d, 1, &count);
    fl_ll_own(f, r, to[i]);
    if (!fl_dtype_is_text(d)) continue;
    fl_ll_need_slots(f, 1);
    LLVMBuildStore(f->b, parts[i + 1], f->args);
    Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr, g->i32};
    Val args[] = {f->ctx, to[i], fl_ll_null(g), f->args, fl_ll_i32(g, 1)};
    fl_ll_check_status(f, fl_ll_call(f, "fl_array_keep", g->i32, 5, types, args));
  }
  FlType1 pointer = fl_t_array(FL_I64, 1);
  fl_ll_need_slots(f, 2 * (unsigned)n);
  for (int i = 0; i < n; i++) {
    fl_ll_slot_put(f, f->args, (unsigned)i, pointer, parts[i + 1]);
    fl_ll_slot_put(f, f->args, (unsigned)(n + i), pointer, to[i]);
  }
  Ty types[] = {g->ptr, g->ptr, g->i64, g->i32, g->ptr, g->i32};
  Val site = fl_ll_site_number(f, fl_ll_site(g, op->span, (FlFaultText){0}));
  Val args[] = {f->ctx, counts, blocks, fl_ll_i32(g, n), f->args, site};
  fl_ll_check_status(f, fl_ll_call(f, "fl_join_kept", g->i32, 6, types, args));
}

void fl_ll_collect(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  const FlRegion *r = op->regions[0];
  const FlPlanKernel *k = fl_plan_step(g->plan, op)->kernel; /* or NULL */
  int n = r->n_yields;
  Val *places = FL_NEW_ARRAY(g->arena, Val, n), *parts = FL_NEW_ARRAY(g->arena, Val, n);
  Val *outputs = FL_NEW_ARRAY(g->arena, Val, n);
  Val total = fl_ll_total(f, op), one = fl_ll_i64(g, 1);
  Val up = LLVMBuildAdd(f->b, total, fl_ll_i64(g, FL_BLOCK - 1), "");
  Val blocks = k ? LLVMBuildAShr(f->b, up, fl_ll_i64(g, FL_BLOCK_SHIFT), "") : one;
  for (int i = 0; i < n; i++) {
    FlDtype d = i ? (FlDtype)r->yields[i]->type.dtype : FL_I64;
    /* One more element: what is not kept is still stored, at the cursor. */
    Val size = i ? LLVMBuildAdd(f->b, total, one, "") : blocks;
    places[i] = fl_ll_scratch(f);
    parts[i] = i && k ? fl_ll_new_result(f, op->results[i], d, 1, &size) : fl_ll_new_array(f, d, 1, &size);
    LLVMBuildStore(f->b, parts[i], places[i]);
    outputs[i] = i && k ? parts[i] : fl_ll_array_data(f, parts[i]);
  }
  Val heap = NULL, status = fl_ll_i32(g, 0);
  if (k) {
    if (k->gives_texts) heap = fl_ll_call(f, "fl_heap_new", g->ptr, 1, &g->ptr, &f->ctx);
    status = fl_ll_kernel_run(f, k, collect_body, outputs, heap, total);
    /* The parts keep the texts until the results do. */
    Val *texts = FL_NEW_ARRAY(g->arena, Val, n);
    int n_texts = 0;
    for (int i = 1; i < n; i++)
      if (fl_dtype_is_text((FlDtype)r->yields[i]->type.dtype)) texts[n_texts++] = parts[i];
    if (heap || n_texts) fl_ll_keep_texts(f, k, heap, n_texts, texts);
    fl_ll_check_status(f, status);
  } else {
    collect_serial(f, op, parts, outputs, outputs[0]);
  }
  Val count = sum_counts(f, outputs[0], blocks);
  fl_ll_set(f, op->results[0], count);
  join_blocks(f, op, parts, outputs[0], blocks, count);
  for (int i = 0; i < n; i++) {
    fl_ll_unref(f, parts[i]);
    LLVMBuildStore(f->b, fl_ll_null(g), places[i]);
  }
}

/* ---- SCAN --------------------------------------------------------------------------------- */

/* One step after the other; faults stop at the first. */
void fl_ll_scan(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  const FlRegion *r = op->regions[0];
  unsigned n = (unsigned)op->n_results;
  Val size = fl_ll_value(f, op->args[0]);
  Val *init = FL_NEW_ARRAY(g->arena, Val, n), *data = FL_NEW_ARRAY(g->arena, Val, n);
  Val *heaps = FL_NEW_ARRAY(g->arena, Val, n), mark = fl_ll_texts_mark(f, r);
  FlType1 *types = FL_NEW_ARRAY(g->arena, FlType1, n);
  for (unsigned i = 0; i < n; i++) {
    types[i] = r->yields[i]->type;
    Val a = fl_ll_new_array(f, (FlDtype)op->results[i]->type.dtype, 1, &size);
    fl_ll_own(f, op->results[i], a);
    data[i] = fl_ll_array_data(f, a);
    init[i] = fl_ll_value(f, op->args[i + 1]);
    if (fl_dtype_is_text((FlDtype)types[i].dtype)) heaps[i] = fl_ll_array_heap(f, a);
  }
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), size, n, init);
  fl_ll_set(f, r->params[0], l.i);
  for (unsigned i = 0; i < n; i++) fl_ll_set(f, r->params[i + 1], l.phi[i]);
  fl_ll_host_region(f, r);
  Val *next = FL_NEW_ARRAY(g->arena, Val, n);
  for (unsigned i = 0; i < n; i++) {
    FlDtype d = (FlDtype)r->yields[i]->type.dtype;
    next[i] = fl_ll_value(f, r->yields[i]);
    fl_ll_store_elem(f, d, heaps[i] ? fl_ll_text_copy(f, heaps[i], next[i]) : next[i],
                     fl_ll_gep(f, fl_ll_mem_type(g, d), data[i], l.i));
  }
  Val status = fl_ll_texts_leave(f, mark, n, types, next);
  if (status && f->form == FL_FORM_HOST) fl_ll_check_status(f, status);
  fl_ll_loop_close(f, &l, next, false);
}

/* ---- STORE -------------------------------------------------------------------------------- */

/* A copy of `a`, one reference owned; texts stay with the buffers of `a`, elements of lists get a reference.
 */
static Val copy_array(FlFn *f, FlType1 t, Val a) {
  FlGen *g = f->g;
  FlDtype d = t.depth ? FL_LIST : (FlDtype)t.dtype;
  unsigned rank = t.depth ? 1 : t.rank;
  Val dims[FL_MAX_RANK], n = fl_ll_i64(g, 1);
  for (unsigned i = 0; i < rank; i++) {
    dims[i] = fl_ll_array_dim(f, a, fl_ll_i64(g, i));
    n = LLVMBuildNSWMul(f->b, n, dims[i], "");
  }
  Val copy = fl_ll_new_array(f, d, rank, dims), from = fl_ll_array_data(f, a), to = fl_ll_array_data(f, copy);
  if (d == FL_LIST) {
    FlLoop l;
    fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), n, 0, NULL);
    Val e = LLVMBuildLoad2(f->b, g->ptr, fl_ll_gep(f, g->ptr, from, l.i), "");
    fl_ll_call(f, "fl_array_ref", g->ptr, 1, &g->ptr, &e);
    LLVMBuildStore(f->b, e, fl_ll_gep(f, g->ptr, to, l.i));
    fl_ll_loop_close(f, &l, NULL, false);
    return copy;
  }
  LLVMBuildMemCpy(f->b, to, 1, from, 1, LLVMBuildNSWMul(f->b, n, fl_ll_i64(g, fl_ll_size(d)), ""));
  return copy;
}

/* `place` owns the copy while its texts are being kept. */
static void keep_from(FlFn *f, Val copy, Val from, Val place) {
  FlGen *g = f->g;
  fl_ll_need_slots(f, 1);
  LLVMBuildStore(f->b, copy, place);
  LLVMBuildStore(f->b, from, f->args);
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr, g->i32};
  Val args[] = {f->ctx, copy, fl_ll_null(g), f->args, fl_ll_i32(g, 1)};
  fl_ll_check_status(f, fl_ll_call(f, "fl_array_keep", g->i32, 5, types, args));
  LLVMBuildStore(f->b, fl_ll_null(g), place);
}

void fl_ll_store(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  const FlValue *array = op->args[0], *value = op->args[op->n_args - 1];
  FlType1 t = array->type;
  FlDtype d = t.depth ? FL_LIST : (FlDtype)t.dtype;
  Val at = fl_ll_element(f, op, op->n_args - 2, op->attrs.i == 1), a = fl_ll_value(f, array);
  const FlPlanStep *s = fl_plan_step(g->plan, op);
  if (s->writes) {
    fl_ll_store_scalar(f, d, fl_ll_value(f, value), at);
    fl_ll_hand_on(f, array, op->results[0]);
    return;
  }
  /* The address is taken again from the array that is written. */
  Val offset = LLVMBuildSub(f->b, LLVMBuildPtrToInt(f->b, at, g->i64, ""),
                            LLVMBuildPtrToInt(f->b, fl_ll_array_data(f, a), g->i64, ""), "");
  Val place = fl_ll_scratch(f), r;
  bool consumed = s->takes != NULL;
  if (consumed) {
    Block copy = fl_ll_block(f, "copy"), on = fl_ll_block(f, "on"), from[2];
    Val both[2];
    both[0] = fl_ll_call(f, "fl_array_reuse", g->ptr, 1, &g->ptr, &a);
    from[0] = fl_ll_here(f);
    LLVMBuildCondBr(f->b, LLVMBuildIsNull(f->b, both[0], ""), copy, on);
    fl_ll_at(f, copy);
    both[1] = copy_array(f, t, a);
    if (fl_dtype_is_text(d)) keep_from(f, both[1], a, place);
    from[1] = fl_ll_here(f);
    LLVMBuildBr(f->b, on);
    fl_ll_at(f, on);
    r = LLVMBuildPhi(f->b, g->ptr, "");
    LLVMAddIncoming(r, both, from, 2);
  } else {
    r = copy_array(f, t, a);
    if (fl_dtype_is_text(d)) keep_from(f, r, a, place);
  }
  if (consumed) fl_ll_drop(f, array);
  Val element = fl_ll_gep(f, g->i8, fl_ll_array_data(f, r), offset), v = fl_ll_value(f, value);
  if (fl_dtype_is_text(d)) {
    fl_ll_own(f, op->results[0], r);
    fl_ll_put_text(f, r, element, v);
    return;
  }
  if (d == FL_LIST) {
    fl_ll_call(f, "fl_array_ref", g->ptr, 1, &g->ptr, &v);
    fl_ll_unref(f, LLVMBuildLoad2(f->b, g->ptr, element, ""));
  }
  fl_ll_store_elem(f, d, v, element);
  fl_ll_own(f, op->results[0], r);
}
