/* llvm_map.c: MAP. Over a kernel region it is one kernel; else its elements are tasks of the pool.
 *
 * A kernel's result is written over the array that the plan names, when that has the result's sizes and
 * nobody else has it. */
#include "codegen/llvm_internal.h"

/* ---- kernels --------------------------------------------------------------------------------------- */

static void store_element(FlFn *f, const FlPlanKernel *k, Val pos, void *arg) {
  Val *data = arg;
  for (int i = 0; i < k->region->n_yields; i++) {
    const FlValue *v = k->region->yields[i];
    FlDtype d = (FlDtype)v->type.dtype;
    fl_ll_store_output(f, i, d, fl_ll_value(f, v), fl_ll_tiles_output(f, i, d, data[i], pos));
  }
}

static void map_body(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes,
                     const Val *outputs) {
  if (fl_ll_columns(f, k, begin, end, sizes, store_element, (void *)outputs)) return;
  fl_ll_elements(f, k, begin, end, sizes, store_element, (void *)outputs, true);
}

/* The array that becomes the result: `old` when it is unique and of these sizes, else a new one. */
static Val reuse_or_new(FlFn *f, const FlValue *old, const FlValue *result, const Val *sizes) {
  FlGen *g = f->g;
  FlType1 t = result->type;
  FlDtype d = (FlDtype)t.dtype;
  if (!old) return fl_ll_new_result(f, result, d, t.rank, sizes);
  Val a = fl_ll_value(f, old), same = NULL;
  for (int i = 0; i < t.rank; i++) {
    Val eq = LLVMBuildICmp(f->b, LLVMIntEQ, fl_ll_dim(f, old, i), sizes[i], "");
    same = same ? LLVMBuildAnd(f->b, same, eq, "") : eq;
  }
  Block ask = fl_ll_block(f, "reuse"), fresh = fl_ll_block(f, "fresh"), on = fl_ll_block(f, "on"), from[2];
  LLVMBuildCondBr(f->b, same, ask, fresh);
  fl_ll_at(f, ask);
  Val both[2];
  both[0] = fl_ll_call(f, "fl_array_reuse", g->ptr, 1, &g->ptr, &a);
  from[0] = fl_ll_here(f);
  LLVMBuildCondBr(f->b, LLVMBuildIsNull(f->b, both[0], ""), fresh, on);
  fl_ll_at(f, fresh);
  both[1] = fl_ll_new_result(f, result, d, t.rank, sizes);
  from[1] = fl_ll_here(f);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
  Val r = LLVMBuildPhi(f->b, g->ptr, "");
  LLVMAddIncoming(r, both, from, 2);
  return r;
}

Val fl_ll_map_result(FlFn *f, const FlPlanKernel *k, int result, const Val *sizes) {
  return reuse_or_new(f, k->over ? k->over[result] : NULL, k->op->results[result], sizes);
}

/* Text results keep the heap of new texts, and the arrays whose texts they may point into. */
void fl_ll_keep_texts(FlFn *f, const FlPlanKernel *k, Val heap, int n, const Val *arrays) {
  FlGen *g = f->g;
  unsigned from = 0;
  fl_ll_need_slots(f, (unsigned)k->n_uses);
  for (int i = 0; i < k->n_uses; i++) {
    const FlValue *v = k->uses[i].value;
    if (fl_t_is_scalar(v->type) || !fl_dtype_is_text((FlDtype)v->type.dtype)) continue;
    LLVMBuildStore(f->b, fl_ll_value(f, v), fl_ll_at_byte(f, f->args, 8 * (int64_t)from++));
  }
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr, g->i32};
  Val status = fl_ll_i32(g, 0);
  for (int i = 0; i < n; i++) {
    Val args[] = {f->ctx, arrays[i], heap ? heap : fl_ll_null(g), f->args, fl_ll_i32(g, from)};
    status = LLVMBuildOr(f->b, status, fl_ll_call(f, "fl_array_keep", g->i32, 5, types, args), "");
  }
  if (heap) fl_ll_call(f, "fl_heap_unref", g->none, 1, &g->ptr, &heap);
  fl_ll_check_status(f, status);
}

/* Sizes that are written out need not be read from the array. */
static void know_sizes(FlFn *f, const FlOp *op, int result) {
  FlView *view = fl_ll_held(f, op->results[result])->view;
  for (int i = 0; view && i < op->n_args; i++)
    if (op->args[i]->op && op->args[i]->op->code == FL_OP_CONST) view->dims[i] = fl_ll_value(f, op->args[i]);
}

static void map_kernel(FlFn *f, const FlPlanKernel *k) {
  FlGen *g = f->g;
  const FlOp *op = k->op;
  Val *sizes = FL_NEW_ARRAY(g->arena, Val, op->n_args),
      *results = FL_NEW_ARRAY(g->arena, Val, op->n_results + 1);
  Val *texts = FL_NEW_ARRAY(g->arena, Val, op->n_results + 1);
  int n_texts = 0;
  for (int i = 0; i < op->n_args; i++) sizes[i] = fl_ll_value(f, op->args[i]);
  for (int i = 0; i < op->n_results; i++) {
    Val a = fl_ll_map_result(f, k, i, sizes);
    fl_ll_own(f, op->results[i], a);
    results[i] = a;
    if (fl_dtype_is_text((FlDtype)op->results[i]->type.dtype)) texts[n_texts++] = a;
  }
  Val heap = k->gives_texts ? fl_ll_call(f, "fl_heap_new", g->ptr, 1, &g->ptr, &f->ctx) : NULL;
  Val status = fl_ll_kernel_run(f, k, map_body, results, heap, fl_ll_total(f, op));
  if (heap || n_texts) fl_ll_keep_texts(f, k, heap, n_texts, texts);
  fl_ll_check_status(f, status);
  for (int i = 0; i < op->n_results; i++) {
    fl_ll_view(f, op->results[i]); /* what was written over a whole array may stand elsewhere now, in parts */
    know_sizes(f, op, i);
  }
}

/* ---- tasks ----------------------------------------------------------------------------------------- */

/* The region as a host function: args[0] is the element, then the sizes, then what is captured. */
static Val task_function(FlFn *host, const FlPlanKernel *k) {
  FlGen *g = host->g;
  const FlOp *op = k->op;
  const FlRegion *r = k->region;
  const char *name = fl_arena_printf(g->arena, "%s.task.%d", host->func->name, g->n_names++);
  Val fn = LLVMAddFunction(g->mod, name, g->host_fn);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  fl_ll_host_attrs(g, fn);
  FlFn *f = fl_ll_fn_make(g, host->func, fn, FL_FORM_HOST);
  Val args = LLVMGetParam(fn, 1), rest = fl_ll_slot_get(f, args, 0, fl_t_scalar(FL_I64));
  fl_ll_host_begin(f, r, args);
  for (int i = 0; i < k->n_uses; i++) fl_ll_param(f, k->uses[i].value, (unsigned)(1 + op->n_args + i));
  for (int a = r->n_params - 1; a >= 0; a--) {
    Val size = fl_ll_slot_get(f, args, (unsigned)(1 + a), fl_t_scalar(FL_I64));
    fl_ll_set(f, r->params[a], a ? LLVMBuildURem(f->b, rest, size, "") : rest);
    if (a) rest = LLVMBuildUDiv(f->b, rest, size, "");
  }
  fl_ll_host_region(f, r);
  fl_ll_host_end(f, r, LLVMGetParam(fn, 2));
  return fn;
}

/* Of each result that is a list whose elements may stay where they are made 1, or 2 where they are only
 * summed; NULL: of none. */
static Val list_stays(FlGen *g, const FlOp *op) {
  char *stays = FL_NEW_ARRAY(g->arena, char, op->n_results + 1);
  bool any = false;
  for (int i = 0; i < op->n_results; i++) {
    if (op->results[i]->type.depth) stays[i] = (char)fl_plan_list_stays(g->plan, op->results[i]);
    any |= stays[i] != 0;
  }
  return any ? fl_ll_string(g, stays, (size_t)op->n_results) : fl_ll_null(g);
}

/* Of each result that is a list whose elements are only stacked 1; NULL: of none. */
static Val list_is_stacked(FlGen *g, const FlOp *op) {
  char *stacked = FL_NEW_ARRAY(g->arena, char, op->n_results + 1);
  bool any = false;
  for (int i = 0; i < op->n_results; i++) {
    stacked[i] = op->results[i]->type.depth && fl_plan_list_is_stacked(g->plan, op->results[i]);
    any |= stacked[i];
  }
  return any ? fl_ll_string(g, stacked, (size_t)op->n_results) : fl_ll_null(g);
}

/* Where a task's environment has the rows of a block; -1: that is a constant, or there are none. */
static int block_at(const FlPlanKernel *k, int64_t *constant) {
  if (!k->block || fl_ir_const_value_i(k->block, constant)) return -1;
  for (int i = 0; i < k->n_uses; i++)
    if (k->uses[i].value == k->block) return k->op->n_args + i;
  return -1;
}

Val fl_ll_tasks(FlFn *f, const FlPlanKernel *k, int sees) {
  FlGen *g = f->g;
  const FlOp *op = k->op;
  int64_t block = 0;
  Val parts[] = {task_function(f, k),
                 fl_ll_types(g, op->n_results, op->regions[0]->yields),
                 fl_ll_i32(g, op->n_args + k->n_uses),
                 fl_ll_i32(g, op->n_args),
                 fl_ll_i32(g, op->n_results),
                 fl_ll_site_constant(g, fl_ll_site(g, op->span, (FlFaultText){0})),
                 fl_ll_rows_constant(g, k->n_uses, k->uses),
                 fl_ll_i32(g, k->block                    ? FL_TASK_BLOCKS
                              : fl_plan_has_row_parts(op) ? FL_TASK_PARTS
                                                          : FL_TASK_ANY),
                 fl_ll_i32(g, block_at(k, &block)),
                 LLVMConstInt(g->i64, (uint64_t)block, true),
                 list_stays(g, op),
                 list_is_stacked(g, op),
                 fl_ll_seen(g, sees)};
  return fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, 13, false), "tasks");
}

static void map_tasks(FlFn *f, const FlPlanKernel *k) {
  FlGen *g = f->g;
  const FlOp *op = k->op;
  Val tasks = fl_ll_tasks(f, k, fl_ll_see(f, op->n_results, op->results, NULL));
  int n = op->n_args + k->n_uses;
  fl_ll_need_slots(f, (unsigned)(n > op->n_results ? n : op->n_results));
  for (int i = 0; i < n; i++) {
    const FlValue *v = i < op->n_args ? op->args[i] : k->uses[i - op->n_args].value;
    fl_ll_slot_put(f, f->args, (unsigned)i, v->type, fl_ll_value(f, v));
  }
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr};
  Val args[] = {f->ctx, tasks, f->args, f->results};
  fl_ll_check_status(f, fl_ll_call(f, "fl_map_tasks", g->i32, 4, types, args));
  for (int i = 0; i < op->n_results; i++)
    fl_ll_own(f, op->results[i], fl_ll_slot_get(f, f->results, (unsigned)i, op->results[i]->type));
}

void fl_ll_map(FlFn *f, const FlOp *op) {
  const FlPlanKernel *k = fl_plan_step(f->g->plan, op)->kernel;
  if (k->form == FL_KERNEL_TASKS) map_tasks(f, k);
  else map_kernel(f, k);
}
