/* regions.c: operations one after the other, control flow, and calls of functions.
 *
 * A region owns what it defines: each array value is one reference, released when the region ends. Its yields
 * get references of their own before that, and texts, which may point into released arrays, are copied. */
#include "interp/interp_internal.h"

#include "exec/exec.h"

#include <stdlib.h>

/* ---- values ------------------------------------------------------------------------------------------ */

FlSlot own(FlType1 t, FlSlot slot) {
  if (is_array(t)) fl_array_ref(slot.a);
  return slot;
}
void disown(FlType1 t, FlSlot slot) {
  if (is_array(t)) fl_array_unref(slot.a);
}
void define(Frame *f, const FlValue *v, FlSlot slot) { f->values[v->id] = slot; }

static void forget(Frame *f, const FlValue *v) {
  if (!is_array(v->type)) return;
  fl_array_unref(f->values[v->id].a);
  f->values[v->id].a = NULL;
}

FlSlot *new_slots(int64_t n) { return calloc(n > 0 ? (size_t)n : 1, sizeof(FlSlot)); }

FlStatus no_memory(Frame *f) { return fl_fail_text(f->ctx, -1, FL_FAULT_MEMORY, "out of memory"); }

FlStatus leave_texts(Frame *f, const FlTextMark *mark, const FlType1 *types, FlSlot *slots, int n) {
  FlText few[16], *live = n <= 16 ? few : malloc((size_t)n * sizeof *live);
  int32_t n_live = 0;
  if (live == NULL) return no_memory(f);
  for (int i = 0; i < n; i++)
    if (fl_type_is_text(types[i])) live[n_live++] = slots[i].t;
  FlStatus s = fl_texts_leave(f->heap, mark, live, n_live);
  n_live = 0;
  for (int i = 0; i < n; i++)
    if (fl_type_is_text(types[i])) slots[i].t = live[n_live++];
  if (live != few) free(live);
  return s ? fl_fail_stopped(f->ctx) : 0;
}

/* The same where arrays are among the slots, which go when it fails. */
static FlStatus end_round(Frame *f, const FlTextMark *mark, const FlType1 *types, FlSlot *slots, int n) {
  FlStatus s = leave_texts(f, mark, types, slots, n);
  if (s == 0 && fl_ctx_is_stopped(f->ctx)) s = fl_fail_stopped(f->ctx);
  for (int i = 0; i < n && s != 0; i++) disown(types[i], slots[i]);
  return s;
}

FlType1 *value_types(FlValue *const *values, int n) {
  FlType1 *types = malloc((size_t)(n + 1) * sizeof *types);
  for (int i = 0; types != NULL && i < n; i++) types[i] = values[i]->type;
  return types;
}

/* ---- control flow ------------------------------------------------------------------------------------ */

static void define_results(Frame *f, const FlOp *op, const FlSlot *slots) {
  for (int i = 0; i < op->n_results; i++) define(f, op->results[i], slots[i]);
}

/* What a branch that ends in an error reads elements of. */
static FlStatus gather(Frame *f, const FlRegion *branch) {
  const FlPlanBody *body = fl_ctx_cuts(f->ctx) ? fl_plan_body(f->in->plan, branch) : NULL;
  FlStatus s = 0;
  for (int i = 0; body && i < body->gathers.n && s == 0; i++)
    s = fl_gather(f->ctx, note_of(f, branch->owner)->site, value_of(f, body->gathers.at[i]).a);
  return s;
}

static FlStatus run_if(Frame *f, const FlOp *op) {
  FlSlot *out = new_slots(op->n_results);
  if (out == NULL) return no_memory(f);
  const FlRegion *branch = op->regions[value_of(f, op->args[0]).i != 0 ? 0 : 1];
  FlStatus s = gather(f, branch);
  if (s == 0) s = run_region(f, branch, out);
  if (s == 0) define_results(f, op, out);
  free(out);
  return s;
}

static FlStatus run_for(Frame *f, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  int64_t hi = value_of(f, op->args[1]).i;
  FlSlot *carried = new_slots(op->n_results);
  FlType1 *types = value_types(op->results, op->n_results);
  FlStatus s = carried == NULL || types == NULL ? no_memory(f) : 0;
  for (int k = 0; k < op->n_results && s == 0; k++)
    carried[k] = own(op->results[k]->type, value_of(f, op->args[2 + k]));
  FlTextMark mark;
  fl_texts_mark(f->heap, &mark);
  int32_t seen = fl_seen_rounds(f->ctx, -1);
  for (int64_t i = value_of(f, op->args[0]).i; i < hi && s == 0; i++) {
    define(f, r->params[0], (FlSlot){.i = i});
    for (int k = 0; k < op->n_results; k++) define(f, r->params[1 + k], carried[k]);
    s = run_region(f, r, carried);
    if (s == 0) s = end_round(f, &mark, types, carried, op->n_results);
    fl_seen_rounds(f->ctx, 1);
  }
  fl_seen_rounds(f->ctx, seen);
  if (s == 0) define_results(f, op, carried);
  free(types);
  free(carried);
  return s;
}

static FlStatus run_while(Frame *f, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  FlSlot *carried = new_slots(op->n_results + 1); /* place 0 is whether to go on */
  FlType1 *types = value_types(op->results, op->n_results);
  FlStatus s = carried == NULL || types == NULL ? no_memory(f) : 0;
  for (int k = 0; k < op->n_results && s == 0; k++)
    carried[k + 1] = own(op->results[k]->type, value_of(f, op->args[k]));
  FlTextMark mark;
  fl_texts_mark(f->heap, &mark);
  int32_t seen = fl_seen_rounds(f->ctx, -1);
  for (bool again = s == 0; again; again = s == 0 && carried[0].i != 0) {
    for (int k = 0; k < op->n_results; k++) define(f, r->params[k], carried[k + 1]);
    s = run_region(f, r, carried);
    if (s == 0) s = end_round(f, &mark, types, carried + 1, op->n_results);
    fl_seen_rounds(f->ctx, 1);
  }
  fl_seen_rounds(f->ctx, seen);
  if (s == 0) define_results(f, op, carried + 1);
  free(types);
  free(carried);
  return s;
}

static FlStatus run_call(Frame *f, const FlOp *op) {
  FlSlot *args = new_slots(op->n_args), *results = new_slots(op->n_results);
  FlStatus s = args == NULL || results == NULL ? no_memory(f) : 0;
  for (int i = 0; i < op->n_args && s == 0; i++) args[i] = value_of(f, op->args[i]);
  if (s == 0) s = call_function(f, op->attrs.func, args, results);
  if (s == 0) define_results(f, op, results);
  else s = fl_fail_through(f->ctx, s, note_of(f, op)->site);
  free(args);
  free(results);
  return s;
}

/* ---- operations -------------------------------------------------------------------------------------- */

static FlStatus run_scalar_op(Frame *f, const FlOp *op) {
  FlSlot a[8] = {0}, r[2] = {0};
  /* What this operation gave up for an element before, it does not try again: the first is all that counts.
   */
  int32_t bits = f->first != NULL && f->first->op == op ? f->first->bits & FL_FAULT_LIMIT : 0;
  for (int i = 0; i < op->n_args; i++) a[i] = value_of(f, op->args[i]);
  run_scalar(f, op, a, r, &bits);
  if (bits != 0) {
    Fault fault = {.op = op, .bits = bits, .type = op->args[0]->type.dtype, .a = a[0]};
    if (fl_ir_says_second(op, 0)) fault.b = a[1];
    return raise_fault(f, fault);
  }
  define_results(f, op, r);
  return 0;
}

static FlStatus run_struct(Frame *f, const FlOp *op) {
  switch (op->code) {
  case FL_OP_CONST: define(f, op->results[0], constant_of(op)); return 0;
  case FL_OP_DIM:
    define(f, op->results[0], (FlSlot){.i = value_of(f, op->args[0]).a->dims[op->attrs.i]});
    return 0;
  case FL_OP_ARRAY: return run_array(f, op);
  case FL_OP_LOAD: return run_load(f, op);
  case FL_OP_PICK: return run_pick(f, op);
  case FL_OP_STORE: return run_store(f, op);
  case FL_OP_MAP: return run_map(f, op);
  case FL_OP_REDUCE: return run_reduce(f, op);
  case FL_OP_SCAN: return run_scan(f, op);
  case FL_OP_COLLECT: return run_collect(f, op);
  case FL_OP_IF: return run_if(f, op);
  case FL_OP_FOR: return run_for(f, op);
  case FL_OP_WHILE: return run_while(f, op);
  case FL_OP_CALL: return run_call(f, op);
  case FL_OP_STAGE: return run_stage(f, op);
  case FL_OP_EXTERN: return run_extern(f, op);
  case FL_OP_FAIL:
  case FL_OP_CHECK: return run_check(f, op);
  case FL_OP_WITHIN: return 0; /* say_group */
  case FL_OP_CUSTOM:
  case FL_OP_KEEP:
  case FL_OPS_NOT_STRUCT: break;
  }
  return fl_fail_text(f->ctx, -1, FL_CODE_INTERNAL, "bug in flow: the interpreter has no meaning for %s",
                      fl_op_info[op->code].name);
}

static void see(Frame *f, const int32_t *seen, int n, FlValue *const *values) {
  FlSlot *all = seen ? new_slots(n) : NULL;
  for (int i = 0; all && i < n; i++) all[i] = value_of(f, values[i]);
  if (all) fl_seen(f->ctx, seen, all);
  free(all);
}

static FlStatus run_op(Frame *f, const FlOp *op) {
  FlStatus s = 0;
  switch (fl_op_info[op->code].op_class) {
  case FL_CLASS_SCALAR: s = run_scalar_op(f, op); break;
  case FL_CLASS_STRUCT: s = run_struct(f, op); break;
  case FL_CLASS_RUNTIME:
    s = run_runtime(f, op);
    if (s != 0) say_group(f, op);
    break;
  }
  if (s != 0) fl_fail_place(f->ctx, note_of(f, op)->site);
  else see(f, note_of(f, op)->seen, op->n_results, op->results);
  return s;
}

static bool defines_arrays(const FlRegion *r) {
  for (int i = 0; i < r->n_params; i++)
    if (is_array(r->params[i]->type)) return true;
  for (const FlOp *op = r->first; op != NULL; op = op->next)
    for (int i = 0; i < op->n_results; i++)
      if (is_array(op->results[i]->type)) return true;
  return false;
}

FlStatus run_region(Frame *f, const FlRegion *r, FlSlot *out) {
  FlStatus s = 0;
  for (const FlOp *op = r->first; op != NULL && s == 0; op = op->next) s = run_op(f, op);
  bool arrays = defines_arrays(r);
  for (int i = 0; s == 0 && i < r->n_yields; i++) {
    FlType1 t = r->yields[i]->type;
    out[i] = own(t, value_of(f, r->yields[i]));
    if (arrays && fl_type_is_text(t)) out[i] = text_in(f->heap, out[i]);
  }
  if (!arrays) return s;
  for (int i = 0; i < r->n_params; i++) forget(f, r->params[i]);
  for (const FlOp *op = r->first; op != NULL; op = op->next)
    for (int i = 0; i < op->n_results; i++) forget(f, op->results[i]);
  return s;
}

FlStatus call_function(Frame *f, const FlFunc *func, const FlSlot *args, FlSlot *results) {
  const FlRegion *body = func->body;
  Frame inner = {.in = f->in, .ctx = f->ctx, .heap = f->heap, .fault = f->fault};
  inner.values = new_slots(func->next_id);
  FlType1 *types = value_types(body->yields, body->n_yields);
  if (inner.values == NULL || types == NULL) {
    free(inner.values);
    free(types);
    return no_memory(f);
  }
  for (int i = 0; i < body->n_params; i++)
    define(&inner, body->params[i], own(body->params[i]->type, args[i]));
  see(&inner, fl_map_get(f->in->seen, func), body->n_params, body->params);
  FlTextMark mark;
  fl_texts_mark(f->heap, &mark);
  FlStatus s = run_region(&inner, body, results);
  if (s == 0) s = end_round(f, &mark, types, results, body->n_yields);
  free(types);
  free(inner.values);
  return s;
}

FlStatus fl_interp_call(const FlInterp *in, FlCtx *ctx, const FlFunc *func, const FlSlot *args,
                        FlSlot *results) {
  Frame f = {.in = in, .ctx = ctx, .heap = fl_ctx_heap(ctx)};
  return call_function(&f, func, args, results);
}
