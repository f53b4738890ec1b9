/* llvm_texts.c: how long texts live: those of host code in the stack of its context, those of arrays in their
 * heaps.
 *
 * What a round of a loop makes dies at its end, but for what it carries on; what a function makes dies when
 * it returns, but for its results (runtime/data/text_stack.c). A kernel has a stack for the texts that an
 * element only passes through: they die with the element, and what it gives is copied to the heap of the
 * results. What always holds: a text that goes into an array is copied there, so no array knows of any stack.
 */
#include "codegen/llvm_internal.h"

bool fl_ll_leaves_texts(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_op_info[op->code].flags & FL_OPF_HEAP) return true;
    bool plain = fl_op_info[op->code].op_class == FL_CLASS_SCALAR || op->code == FL_OP_CONST;
    for (int i = 0; i < op->n_results && !plain; i++)
      if (fl_type_is_text(op->results[i]->type)) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ll_leaves_texts(op->regions[i])) return true;
  }
  return false;
}

/* The stack that texts of this code are in. */
static Val heap_here(FlFn *f) {
  if (f->form != FL_FORM_HOST) return f->scratch;
  return fl_ll_call(f, "fl_ctx_heap", f->g->ptr, 1, &f->g->ptr, &f->ctx);
}

Val fl_ll_text_copy(FlFn *f, Val heap, Val text) {
  FlGen *g = f->g;
  Val from = LLVMBuildExtractValue(f->b, text, 0, ""), len = LLVMBuildExtractValue(f->b, text, 1, "");
  Val to = fl_ll_call(f, "fl_heap_alloc", g->ptr, 2, (Ty[]){g->ptr, g->i64}, (Val[]){heap, len});
  /* Without memory it is nothing, and the run is stopped. */
  len = LLVMBuildSelect(f->b, LLVMBuildIsNull(f->b, to, ""), fl_ll_i64(g, 0), len, "");
  LLVMBuildMemCpy(f->b, to, 1, from, 1, len);
  return LLVMBuildInsertValue(f->b, LLVMBuildInsertValue(f->b, text, to, 0, ""), len, 1, "");
}

Val fl_ll_text_to_stack(FlFn *f, Val text) { return fl_ll_text_copy(f, heap_here(f), text); }

Val fl_ll_array_heap(FlFn *f, Val array) {
  FlGen *g = f->g;
  Val heap = fl_ll_call(f, "fl_array_heap", g->ptr, 2, (Ty[]){g->ptr, g->ptr}, (Val[]){f->ctx, array});
  fl_ll_check_pointer(f, heap);
  return heap;
}

void fl_ll_put_text(FlFn *f, Val array, Val at, Val text) {
  FlGen *g = f->g;
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr, g->i64};
  Val args[] = {f->ctx, array, at, LLVMBuildExtractValue(f->b, text, 0, ""),
                LLVMBuildExtractValue(f->b, text, 1, "")};
  fl_ll_check_status(f, fl_ll_call(f, "fl_array_put_text", g->i32, 5, types, args));
}

/* ---- marks ------------------------------------------------------------------------------------------ */

Val fl_ll_texts_mark(FlFn *f, const FlRegion *r) {
  FlGen *g = f->g;
  if ((f->form != FL_FORM_HOST && !f->scratch) || !fl_ll_leaves_texts(r)) return NULL;
  Val mark = fl_ll_alloca_n(f, g->i64, sizeof(FlTextMark) / 8, "mark");
  fl_ll_call(f, "fl_texts_mark", g->none, 2, (Ty[]){g->ptr, g->ptr}, (Val[]){heap_here(f), mark});
  return mark;
}

Val fl_ll_texts_leave(FlFn *f, Val mark, unsigned n, const FlType1 *types, Val *live) {
  FlGen *g = f->g;
  if (!mark) return NULL;
  unsigned n_texts = 0;
  for (unsigned i = 0; i < n; i++) n_texts += fl_type_is_text(types[i]);
  Val at = n_texts ? fl_ll_alloca_n(f, g->i64, 2 * n_texts, "live") : fl_ll_null(g);
  n_texts = 0;
  for (unsigned i = 0; i < n; i++)
    if (fl_type_is_text(types[i]))
      LLVMBuildStore(f->b, live[i], fl_ll_at_byte(f, at, 16 * (int64_t)n_texts++));
  Ty of[] = {g->ptr, g->ptr, g->ptr, g->i32};
  Val args[] = {heap_here(f), mark, at, fl_ll_i32(g, n_texts)};
  Val status = fl_ll_call(f, "fl_texts_leave", g->i32, 4, of, args);
  n_texts = 0;
  for (unsigned i = 0; i < n; i++)
    if (fl_type_is_text(types[i]))
      live[i] = LLVMBuildLoad2(f->b, LLVMTypeOf(live[i]), fl_ll_at_byte(f, at, 16 * (int64_t)n_texts++), "");
  return status;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

void fl_ll_scratch_open(FlFn *f, const FlPlanKernel *k) {
  FlGen *g = f->g;
  f->kernel = k;
  if (!k->makes_texts || f->form != FL_FORM_FAST) return;
  f->scratch = fl_ll_call(f, "fl_heap_new_stack", g->ptr, 1, &g->ptr, &f->ctx);
  f->scratch_mark = fl_ll_texts_mark(f, k->region);
}

void fl_ll_scratch_close(FlFn *f) {
  if (f->scratch) fl_ll_call(f, "fl_heap_unref", f->g->none, 1, &f->g->ptr, &f->scratch);
}

/* Is the text that `op` makes a result of every element, and nothing else? */
static bool is_result(const FlFn *f, const FlOp *op) {
  const FlRegion *r = f->kernel->region;
  bool yielded = false;
  if (f->kernel->op->code != FL_OP_MAP || op->parent != r) return false;
  for (int i = 0; i < r->n_yields; i++) yielded |= r->yields[i] == op->results[0];
  for (const FlOp *later = op->next; later && yielded; later = later->next) {
    for (int i = 0; i < later->n_args; i++) yielded &= later->args[i] != op->results[0];
    for (int i = 0; i < later->n_regions; i++) yielded &= !fl_ir_uses(later->regions[i], op->results[0]);
  }
  return yielded;
}

Val fl_ll_text_place(FlFn *f, const FlOp *op) {
  if (f->form == FL_FORM_HOST) return heap_here(f);
  if (f->scratch && !is_result(f, op)) return f->scratch;
  return f->heap ? f->heap : fl_ll_null(f->g);
}

/* Can the text have bytes in the scratch? Operators may give what they were given. */
static bool may_be_scratch(const FlFn *f, const FlValue *v) {
  const FlOp *op = v->op;
  if (v->region != f->kernel->region || !op || op->code == FL_OP_LOAD || op->code == FL_OP_CONST)
    return false;
  if (!(fl_op_info[op->code].flags & FL_OPF_HEAP) || !is_result(f, op)) return true;
  for (int i = 0; i < op->n_args; i++)
    if (fl_type_is_text(op->args[i]->type) && may_be_scratch(f, op->args[i])) return true;
  return false;
}

void fl_ll_keep_yields(FlFn *f) {
  FlGen *g = f->g;
  const FlRegion *r = f->kernel->region;
  bool collects = f->kernel->op->code == FL_OP_COLLECT;
  for (int i = 0; f->scratch && i < r->n_yields; i++) {
    const FlValue *v = r->yields[i];
    bool seen = false;
    for (int j = 0; j < i; j++) seen |= r->yields[j] == v;
    if (seen || !fl_type_is_text(v->type) || !may_be_scratch(f, v)) continue;
    Val x = fl_ll_value(f, v);
    /* What is not kept needs no room. */
    if (collects)
      x = LLVMBuildSelect(f->b, fl_ll_value(f, r->yields[0]), x, LLVMConstNull(LLVMTypeOf(x)), "");
    Ty types[] = {g->ptr, g->ptr, g->ptr, g->i64};
    Val args[] = {f->scratch, f->heap, LLVMBuildExtractValue(f->b, x, 0, ""),
                  LLVMBuildExtractValue(f->b, x, 1, "")};
    fl_ll_set(f, v,
              LLVMBuildInsertValue(f->b, x, fl_ll_call(f, "fl_texts_keep", g->ptr, 4, types, args), 0, ""));
  }
}

void fl_ll_leave_element(FlFn *f) {
  if (f->scratch) fl_ll_texts_leave(f, f->scratch_mark, 0, NULL, NULL);
}
