/* llvm_host.c: host functions: ownership of arrays, calls, stages and failure.
 *
 * Ownership. An array defined in a region is owned by it, one reference, held in a place of the frame (`own`)
 * from its definition until its last use, where it is released, or moved into the operation or the result
 * that consumes it. Function parameters are borrowed. On any failure control goes to one block that releases
 * what the places still hold, so that no path leaks and none releases twice.
 *
 * Stages. A stage call starts where it stands and is waited for before the first operation that uses a
 * result, acts on the world, may record an error elsewhere, or ends its region; always in program order. A
 * fault of host code asks the calls that are running first. So of several failures the first in program order
 * is reported. */
#include "codegen/llvm_internal.h"

static bool is_array(const FlValue *v) { return !fl_t_is_scalar(v->type); }

/* Gives every array that is defined inside r a place among those that the function owns. */
static void give_places(FlFn *f, const FlRegion *r) {
  for (int i = 0; i < r->n_params; i++)
    if (is_array(r->params[i])) fl_ll_held(f, r->params[i])->own = (int)++f->n_own;
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions && op->code != FL_OP_MAP; i++) give_places(f, op->regions[i]);
    for (int i = 0; i < op->n_results; i++)
      if (is_array(op->results[i])) fl_ll_held(f, op->results[i])->own = (int)++f->n_own;
  }
}

/* ---- references --------------------------------------------------------------------------- */

void fl_ll_unref(FlFn *f, Val a) { fl_ll_call(f, "fl_array_unref", f->g->none, 1, &f->g->ptr, &a); }

static void ref(FlFn *f, Val a) { fl_ll_call(f, "fl_array_ref", f->g->ptr, 1, &f->g->ptr, &a); }

Val fl_ll_scratch(FlFn *f) { return fl_ll_at_byte(f, f->own, (int64_t)f->n_own++ * 8); }

static Val place(FlFn *f, const FlValue *v) {
  return fl_ll_at_byte(f, f->own, (int64_t)(fl_ll_held(f, v)->own - 1) * 8);
}

static bool owned(FlFn *f, const FlValue *v) { return is_array(v) && fl_ll_held(f, v)->own > 0; }

void fl_ll_own(FlFn *f, const FlValue *v, Val x) {
  fl_ll_set(f, v, x);
  if (owned(f, v)) LLVMBuildStore(f->b, x, place(f, v));
  fl_ll_view(f, v);
}

void fl_ll_view(FlFn *f, const FlValue *v) {
  FlGen *g = f->g;
  if (!f->looped || !fl_map_get(f->looped, v)) return;
  FlView *view = FL_NEW(g->arena, FlView);
  Val a = fl_ll_value(f, v);
  view->data = fl_ll_array_data(f, a);
  for (int i = 0; i < (v->type.depth ? 1 : v->type.rank); i++)
    view->dims[i] = fl_ll_array_dim(f, a, fl_ll_i64(g, i));
  fl_ll_held(f, v)->view = view;
}

void fl_ll_hand_on(FlFn *f, const FlValue *before, const FlValue *now) {
  *fl_ll_held(f, now) = *fl_ll_held(f, before);
}

bool fl_ll_same_object(FlFn *f, const FlValue *a, const FlValue *b) {
  return owned(f, a) && fl_ll_held(f, a)->own == fl_ll_held(f, b)->own;
}

void fl_ll_own_from(FlFn *f, const FlValue *v, Val x) {
  fl_ll_held(f, v)->own = (int)++f->n_own;
  fl_ll_own(f, v, x);
}

void fl_ll_move_in(FlFn *f, const FlValue *v, Val x) { LLVMBuildStore(f->b, x, place(f, v)); }

Val fl_ll_move_out(FlFn *f, const FlValue *v) {
  Val x = fl_ll_value(f, v);
  LLVMBuildStore(f->b, fl_ll_null(f->g), place(f, v));
  return x;
}

/* A branch may have taken the value over: then its place is empty. */
void fl_ll_drop(FlFn *f, const FlValue *v) {
  if (!owned(f, v)) return;
  Val held = LLVMBuildLoad2(f->b, f->g->ptr, place(f, v), "");
  LLVMBuildStore(f->b, fl_ll_null(f->g), place(f, v));
  fl_ll_unref(f, held);
}

Val fl_ll_take(FlFn *f, const FlOp *op, int arg) {
  const FlValue *v = op->args[arg];
  const bool *takes = fl_plan_step(f->g->plan, op)->takes;
  if (takes && takes[arg]) return fl_ll_move_out(f, v);
  ref(f, fl_ll_value(f, v));
  return fl_ll_value(f, v);
}

Val fl_ll_take_yield(FlFn *f, const FlRegion *r, int index) {
  const FlValue *v = r->yields[index];
  if (fl_plan_body(f->g->plan, r)->moves[index]) return fl_ll_move_out(f, v);
  ref(f, fl_ll_value(f, v));
  return fl_ll_value(f, v);
}

/* Releases what dies with `op`. The results of a stage call are there only once it was waited for: `waited`
 * says which of the two moments this is. */
static void release_after(FlFn *f, const FlOp *op, bool waited) {
  const FlPlanStep *s = fl_plan_step(f->g->plan, op);
  for (int i = 0; i < s->n_dead; i++)
    if (op->code != FL_OP_STAGE || (s->dead[i]->op == op) == waited) fl_ll_drop(f, s->dead[i]);
}

/* ---- failure ------------------------------------------------------------------------------ */

/* With what the function ends if it goes to `cleanup` now: the status, and the place of this operation. */
static void set_failure(FlFn *f, Val status) {
  LLVMBuildStore(f->b, status, f->status);
  if (f->op)
    LLVMBuildStore(f->b, fl_ll_i32(f->g, fl_ll_site(f->g, f->op->span, (FlFaultText){0})), f->failed_at);
}

void fl_ll_set_told(FlFn *f, Val status) {
  LLVMBuildStore(f->b, status, f->status);
  LLVMBuildStore(f->b, fl_ll_i32(f->g, -1), f->failed_at);
}

void fl_ll_leave(FlFn *f, Val status) {
  set_failure(f, status);
  LLVMBuildBr(f->b, f->cleanup);
}

/* The stores are cheaper than a block for each operation. */
static void leave_if(FlFn *f, Val bad, Val status) {
  Block fine = fl_ll_block(f, "fine");
  set_failure(f, status);
  LLVMBuildCondBr(f->b, bad, f->cleanup, fine);
  fl_ll_at(f, fine);
}

void fl_ll_check_status(FlFn *f, Val status) {
  leave_if(f, LLVMBuildICmp(f->b, LLVMIntNE, status, fl_ll_i32(f->g, 0), ""), status);
}

void fl_ll_check_pointer(FlFn *f, Val p) {
  leave_if(f, LLVMBuildIsNull(f->b, p, ""), fl_ll_i32(f->g, FL_FAULT_MEMORY));
}

void fl_ll_leave_told(FlFn *f, Val failed, Val status) {
  Block fine = fl_ll_block(f, "fine");
  fl_ll_set_told(f, status);
  LLVMBuildCondBr(f->b, failed, f->cleanup, fine);
  fl_ll_at(f, fine);
}

/* An error that comes out of a call learns of it. */
static void check_call(FlFn *f, Val status, int site) {
  FlGen *g = f->g;
  Block fail = fl_ll_block(f, "failed"), fine = fl_ll_block(f, "fine");
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntNE, status, fl_ll_i32(g, 0), ""), fail, fine);
  fl_ll_at(f, fail);
  Ty types[] = {g->ptr, g->i32, g->i32};
  Val args[] = {f->ctx, status, fl_ll_site_number(f, site)};
  fl_ll_set_told(f, fl_ll_call(f, "fl_fail_through", g->i32, 3, types, args));
  LLVMBuildBr(f->b, f->cleanup);
  fl_ll_at(f, fine);
}

/* ---- arrays ------------------------------------------------------------------------------- */

Val fl_ll_array_data(FlFn *f, Val a) { return LLVMBuildLoad2(f->b, f->g->ptr, a, "data"); }

Val fl_ll_array_dim(FlFn *f, Val a, Val axis) {
  Val at = fl_ll_gep(f, f->g->i64, fl_ll_at_byte(f, a, (int64_t)offsetof(FlArray, dims)), axis);
  return LLVMBuildLoad2(f->b, f->g->i64, at, "");
}

static Val new_array(FlFn *f, const char *how, FlDtype d, unsigned rank, const Val *dims) {
  FlGen *g = f->g;
  Val at = fl_ll_alloca_n(f, g->i64, FL_MAX_RANK, "dims");
  for (unsigned i = 0; i < rank; i++) LLVMBuildStore(f->b, dims[i], fl_ll_at_byte(f, at, (int64_t)i * 8));
  Ty types[] = {g->ptr, g->i32, g->i32, g->ptr};
  Val args[] = {f->ctx, fl_ll_i32(g, d), fl_ll_i32(g, rank), at};
  Val a = fl_ll_call(f, how, g->ptr, 4, types, args);
  fl_ll_check_pointer(f, a);
  return a;
}

Val fl_ll_new_array(FlFn *f, FlDtype d, unsigned rank, const Val *dims) {
  return new_array(f, "fl_array_new", d, rank, dims);
}

Val fl_ll_new_result(FlFn *f, const FlValue *result, FlDtype d, unsigned rank, const Val *dims) {
  bool apart = fl_plan_may_part(f->g->plan, result) && !result->type.depth;
  return new_array(f, apart ? "fl_array_new_apart" : "fl_array_new", d, rank, dims);
}

static void emit_array(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Val n = fl_ll_i64(g, op->n_args), a = fl_ll_new_array(f, d, 1, &n);
  Val data = fl_ll_array_data(f, a);
  fl_ll_own(f, op->results[0], a);
  Val heap = fl_dtype_is_text(d) && op->n_args ? fl_ll_array_heap(f, a) : NULL;
  for (int i = 0; i < op->n_args; i++) {
    Val v = fl_ll_value(f, op->args[i]);
    fl_ll_store_elem(f, d, heap ? fl_ll_text_copy(f, heap, v) : v,
                     fl_ll_gep(f, fl_ll_mem_type(g, d), data, fl_ll_i64(g, i)));
  }
}

static void emit_load(FlFn *f, const FlOp *op) {
  const FlValue *r = op->results[0];
  fl_ll_load(f, op);
  if (is_array(r)) {
    ref(f, fl_ll_value(f, r));
    fl_ll_own(f, r, fl_ll_value(f, r));
  } else if (fl_dtype_is_text((FlDtype)r->type.dtype)) {
    /* It may outlive the array that it was read from. */
    fl_ll_set(f, r, fl_ll_text_to_stack(f, fl_ll_value(f, r)));
  }
}

/* ---- calls -------------------------------------------------------------------------------- */

void fl_ll_need_slots(FlFn *f, unsigned n) {
  if (n > f->max_slots) f->max_slots = n;
}

static void put_args(FlFn *f, const FlOp *op) {
  fl_ll_need_slots(f, (unsigned)(op->n_args > op->n_results ? op->n_args : op->n_results));
  for (int i = 0; i < op->n_args; i++)
    fl_ll_slot_put(f, f->args, (unsigned)i, op->args[i]->type, fl_ll_value(f, op->args[i]));
}

static void get_results(FlFn *f, const FlOp *op) {
  for (int i = 0; i < op->n_results; i++) {
    const FlValue *r = op->results[i];
    Val v = fl_ll_slot_get(f, f->results, (unsigned)i, r->type);
    if (is_array(r)) fl_ll_own(f, r, v);
    else fl_ll_set(f, r, v);
  }
}

static void emit_call(FlFn *f, const FlOp *op) {
  put_args(f, op);
  Val fn = fl_map_get(f->g->functions, op->attrs.func), args[] = {f->ctx, f->args, f->results};
  if (!fn) {
    fl_ll_fail(f->g, "call of an unknown function in %s", f->func->name);
    return;
  }
  Val status = LLVMBuildCall2(f->b, f->g->host_fn, fn, args, 3, "");
  check_call(f, status, fl_ll_call_site(f->g, op->span, op->attrs.func->callee));
  get_results(f, op);
}

static void emit_runtime(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  put_args(f, op);
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->ptr};
  Val args[] = {f->ctx, fl_ll_op_desc(g, op, fl_ll_see(f, op->n_results, op->results, NULL)), f->args,
                f->results};
  fl_ll_check_status(f, fl_ll_call(f, "fl_run_op", g->i32, 4, types, args));
  get_results(f, op);
}

/* ---- stages ------------------------------------------------------------------------------- */

static void start_stage(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  put_args(f, op);
  Ty types[] = {g->ptr, g->i32, g->ptr, g->i32};
  Val args[] = {f->ctx, fl_ll_stage(f, op->attrs.func), f->args,
                fl_ll_site_number(f, fl_ll_call_site(g, op->span, op->attrs.func->callee))};
  Val slot = fl_ll_alloca(f, g->ptr, "future");
  LLVMBuildStore(f->entry_b, fl_ll_null(g), slot);
  LLVMBuildStore(f->b, fl_ll_call(f, "fl_stage_start", g->ptr, 4, types, args), slot);
  FlPending p = {op, slot};
  fl_vec_push(g->arena, &f->pending, p);
  fl_vec_push(g->arena, &f->stage_calls, p);
}

static Val wait_call(FlFn *f, Val slot) {
  FlGen *g = f->g;
  Val future = LLVMBuildLoad2(f->b, g->ptr, slot, "");
  LLVMBuildStore(f->b, fl_ll_null(g), slot);
  Ty types[] = {g->ptr, g->ptr, g->ptr};
  Val args[] = {f->ctx, future, f->results};
  return fl_ll_call(f, "fl_stage_wait", g->i32, 3, types, args);
}

/* Waits for a call, if it is still running, and drops its results; goes to `failed` when it failed, else to
 * `next`, where it leaves the builder. */
static void finish_unused(FlFn *f, FlPending p, Block failed, Block next) {
  FlGen *g = f->g;
  Block wait = fl_ll_block(f, "unused"), drop = fl_ll_block(f, "drop");
  Val future = LLVMBuildLoad2(f->b, g->ptr, p.slot, "");
  LLVMBuildCondBr(f->b, LLVMBuildIsNull(f->b, future, ""), next, wait);
  fl_ll_at(f, wait);
  Val status = wait_call(f, p.slot);
  if (failed != next) fl_ll_set_told(f, status);
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, status, fl_ll_i32(g, 0), ""), drop, failed);
  fl_ll_at(f, drop);
  for (int k = 0; k < p.op->n_results; k++)
    if (is_array(p.op->results[k]))
      fl_ll_unref(f, fl_ll_slot_get(f, f->results, (unsigned)k, p.op->results[k]->type));
  LLVMBuildBr(f->b, next);
  fl_ll_at(f, next);
}

void fl_ll_settle(FlFn *f) {
  for (int i = 0; i < f->pending.n; i++)
    finish_unused(f, f->pending.at[i], f->cleanup, fl_ll_block(f, "next"));
}

/* Values that no operator of the runtime gives, which says it by itself, are seen where the function has
 * them: all that were made one after the other at once, for a call is much code. */
static void see_later(FlFn *f, int n, FlValue *const *values) {
  for (int i = 0; i < n && !f->loop; i++)
    if (values[i]->seen && owned(f, values[i])) fl_vec_push(f->g->arena, &f->unseen, values[i]);
}

static void see(FlFn *f) {
  FlGen *g = f->g;
  int n = f->unseen.n, *at = n ? FL_NEW_ARRAY(g->arena, int, n) : NULL;
  for (int i = 0; i < n; i++) at[i] = fl_ll_held(f, f->unseen.at[i])->own - 1;
  int sees = n ? fl_ll_see(f, n, f->unseen.at, at) : 0;
  f->unseen.n = 0;
  if (!sees) return;
  Val args[] = {f->ctx, fl_ll_seen(g, sees), f->own};
  fl_ll_call(f, "fl_seen_own", g->none, 3, (Ty[]){g->ptr, g->ptr, g->ptr}, args);
}

/* Waits for the pending calls [first, end) of the region. */
static void wait_stages(FlFn *f, int first, int end) {
  for (int i = first; i < end; i++) {
    FlPending p = f->pending.at[i];
    fl_ll_check_status(f, wait_call(f, p.slot));
    get_results(f, p.op);
    see_later(f, p.op->n_results, p.op->results);
    see(f);
    release_after(f, p.op, true);
  }
  if (end <= first) return;
  for (int i = end; i < f->pending.n; i++) f->pending.at[first + i - end] = f->pending.at[i];
  f->pending.n -= end - first;
}

/* ---- regions ------------------------------------------------------------------------------ */

static void emit_op(FlFn *f, const FlOp *op) {
  switch (fl_op_info[op->code].op_class) {
  case FL_CLASS_SCALAR: fl_ll_scalar(f, op); return;
  case FL_CLASS_RUNTIME: emit_runtime(f, op); return;
  case FL_CLASS_STRUCT: break;
  }
  switch (op->code) {
  case FL_OP_CONST: fl_ll_set(f, op->results[0], fl_ll_const(f->g, op)); break;
  case FL_OP_ARRAY: emit_array(f, op); break;
  case FL_OP_DIM: fl_ll_set(f, op->results[0], fl_ll_dim(f, op->args[0], (int)op->attrs.i)); break;
  case FL_OP_LOAD: emit_load(f, op); break;
  case FL_OP_STORE: fl_ll_store(f, op); break;
  case FL_OP_MAP: fl_ll_map(f, op); break;
  case FL_OP_REDUCE: fl_ll_reduce_host(f, op); break;
  case FL_OP_SCAN: fl_ll_scan(f, op); break;
  case FL_OP_COLLECT: fl_ll_collect(f, op); break;
  case FL_OPS_CONTROL: fl_ll_control(f, op); break;
  case FL_OP_CHECK:
  case FL_OP_FAIL: fl_ll_check(f, op); break;
  case FL_OP_WITHIN: break; /* of the loop around it */
  case FL_OP_CALL: emit_call(f, op); break;
  case FL_OP_STAGE: start_stage(f, op); break;
  case FL_OP_EXTERN: fl_ll_extern_call(f, op); break;
  case FL_OP_PICK:
  case FL_OP_CUSTOM:
  case FL_OP_KEEP:
  case FL_OPS_NOT_STRUCT: fl_ll_fail(f->g, "operator %s in host code", fl_op_info[op->code].name);
  }
}

/* An error in a loop over groups says in which. */
static void within_groups(FlFn *f, const FlOp *op, const FlOp *within) {
  FlGen *g = f->g;
  Block around = f->cleanup, failed = f->cleanup = fl_ll_block(f, "group.failed");
  emit_op(f, op);
  f->cleanup = around;
  Block on = fl_ll_here(f);
  fl_ll_at(f, failed);
  fl_ll_need_slots(f, (unsigned)within->n_args);
  for (int i = 1; i < within->n_args; i++)
    fl_ll_slot_put(f, f->args, (unsigned)i, within->args[i]->type, fl_ll_value(f, within->args[i]));
  Ty types[] = {g->ptr, g->ptr, g->ptr};
  Val args[] = {f->ctx, fl_ll_op_desc(g, within, 0), f->args};
  fl_ll_call(f, "fl_fail_within", g->none, 3, types, args);
  LLVMBuildBr(f->b, around);
  fl_ll_at(f, on);
}

static void host_op(FlFn *f, const FlOp *op) {
  const FlOp *around = f->op, *within = fl_ir_within(op);
  const FlPlanStep *s = fl_plan_step(f->g->plan, op);
  f->op = op;
  if (s->loop && f->loop != op) fl_ll_loop(f, s);
  else if (within) within_groups(f, op, within);
  else emit_op(f, op);
  f->op = around;
}

/* The runtime runs it and is told what its results are seen as; a stage's are there later. */
static bool says_itself(const FlOp *op) {
  if (op->code == FL_OP_STAGE || op->code == FL_OP_MAP) return true;
  return fl_op_info[op->code].op_class == FL_CLASS_RUNTIME;
}

/* What was made before it is as it was behind it. */
static bool goes_with(const FlOp *op) {
  if (op->code == FL_OP_ARRAY || op->code == FL_OP_CONST) return true;
  return fl_op_info[op->code].op_class == FL_CLASS_SCALAR;
}

/* What a branch that ends in an error reads elements of comes here before. */
static void gather(FlFn *f, const FlPlanBody *body) {
  FlGen *g = f->g;
  for (int i = 0; i < body->gathers.n; i++) {
    const FlValue *v = body->gathers.at[i];
    if (!fl_plan_may_part(g->plan, v)) continue;
    int site = fl_ll_site(g, body->region->owner->span, (FlFaultText){0});
    Val args[] = {f->ctx, fl_ll_site_number(f, site), fl_ll_value(f, v)};
    fl_ll_check_status(f, fl_ll_call(f, "fl_gather", g->i32, 3, (Ty[]){g->ptr, g->i32, g->ptr}, args));
  }
}

static void emit_step(FlFn *f, const FlPlanStep *s) {
  host_op(f, s->op);
  if (!says_itself(s->op)) see_later(f, s->op->n_results, s->op->results);
  if (s->n_dead) see(f);
  release_after(f, s->op, false);
}

/* The last of steps that are run strip by strip has run. */
static void end_strips(FlFn *f, const FlPlanBody *body, int last) {
  int first = last;
  while (body->steps.at[first]->strips != FL_STRIPS_FIRST) first--;
  fl_ll_reduce_joins(f);
  for (int i = first; i < last; i++)
    if (body->steps.at[i]->strips == FL_STRIPS_BEHIND) emit_step(f, body->steps.at[i]);
}

void fl_ll_host_region(FlFn *f, const FlRegion *r) {
  const FlPlanBody *body = fl_plan_body(f->g->plan, r);
  int pending = f->pending.n;
  for (int i = 0; i < body->n_unused; i++) fl_ll_drop(f, body->unused[i]);
  gather(f, body);
  for (int i = 0; i < body->steps.n; i++) {
    const FlPlanStep *s = body->steps.at[i];
    if (s->strips == FL_STRIPS_BEHIND) continue;
    if (!goes_with(s->op) || s->n_dead) see(f);
    if (f->table && body->table && s->in_table) {
      fl_ll_step(f, s);
      continue;
    }
    fl_ll_steps_run(f);
    wait_stages(f, pending, pending + s->waits);
    emit_step(f, s);
    if (s->strips == FL_STRIPS_LAST) end_strips(f, body, i);
  }
  see(f);
  fl_ll_steps_run(f);
  wait_stages(f, pending, f->pending.n);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void begin(FlFn *f) {
  FlGen *g = f->g;
  f->args = LLVMBuildArrayAlloca(f->entry_b, g->slot, fl_ll_i32(g, 1), "args");
  f->results = LLVMBuildArrayAlloca(f->entry_b, g->slot, fl_ll_i32(g, 1), "results");
  f->own = LLVMBuildArrayAlloca(f->entry_b, g->ptr, fl_ll_i32(g, 1), "own");
  f->own_clear = LLVMBuildMemSet(f->entry_b, f->own, LLVMConstInt(g->i8, 0, false), fl_ll_i64(g, 8), 8);
  f->status = fl_ll_alloca(f, g->i32, "status");
  f->failed_at = fl_ll_alloca(f, g->i32, "failed_at");
  LLVMBuildStore(f->entry_b, fl_ll_i32(g, -1), f->failed_at);
  f->cleanup = fl_ll_block(f, "cleanup");
}

void fl_ll_host_begin(FlFn *f, const FlRegion *body, Val params) {
  begin(f);
  /* The context of what is called once in it goes with it. */
  bool is_called = f->func->kind == FL_FUNC_PLAIN && !body->owner;
  f->texts = is_called ? fl_ll_texts_mark(f, body) : NULL;
  f->looped = fl_plan_body(f->g->plan, body)->looped;
  give_places(f, body);
  for (int i = 0; i < body->n_params; i++) fl_ll_held(f, body->params[i])->own = 0;
  fl_ll_table_begin(f, body, params);
}

void fl_ll_param(FlFn *f, const FlValue *v, unsigned index) {
  if (f->table) fl_ll_place(f, v, FL_PLACE_PARAM, (int)index);
  else fl_ll_set(f, v, fl_ll_slot_get(f, LLVMGetParam(f->fn, 1), index, v->type));
  fl_ll_view(f, v);
}

/* On the way out of a failed function: results of stage calls that were still running. */
static void abandon_stages(FlFn *f) {
  for (int i = 0; i < f->stage_calls.n; i++) {
    Block next = fl_ll_block(f, "next");
    finish_unused(f, f->stage_calls.at[i], next, next);
  }
}

/* The index of the place that `failed_at` says; -1: none. */
static Val failed_site(FlFn *f) {
  FlGen *g = f->g;
  Val none = fl_ll_i32(g, -1), at = LLVMBuildLoad2(f->b, g->i32, f->failed_at, "");
  if (!g->unit) return at; /* all places are of the program */
  Val index = LLVMBuildAdd(f->b, fl_ll_site_number(f, 0), at, "");
  return LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, at, none, ""), none, index, "");
}

static void end(FlFn *f) {
  FlGen *g = f->g;
  fl_ll_table_leave(f);
  LLVMBuildRet(f->b, fl_ll_i32(g, 0));
  LLVMMoveBasicBlockAfter(f->cleanup, LLVMGetLastBasicBlock(f->fn));
  fl_ll_at(f, f->cleanup);
  Ty types[] = {g->ptr, g->i32};
  Val args[] = {f->ctx, failed_site(f)};
  fl_ll_call(f, "fl_fail_place", g->none, 2, types, args);
  abandon_stages(f);
  if (f->n_own) {
    FlLoop l;
    fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), fl_ll_i64(g, f->n_own), 0, NULL);
    fl_ll_unref(f, LLVMBuildLoad2(f->b, g->ptr, fl_ll_gep(f, g->ptr, f->own, l.i), ""));
    fl_ll_loop_close(f, &l, NULL, false);
  }
  LLVMBuildRet(f->b, LLVMBuildLoad2(f->b, g->i32, f->status, ""));
  LLVMSetOperand(f->own, 0, fl_ll_i32(g, f->n_own + 1));
  LLVMSetOperand(f->own_clear, 2, fl_ll_i64(g, (f->n_own + 1) * 8));
  LLVMSetOperand(f->args, 0, fl_ll_i32(g, f->max_slots + 1));
  LLVMSetOperand(f->results, 0, fl_ll_i32(g, f->max_slots + 1));
  fl_ll_table_end(f);
  fl_ll_fn_done(f);
}

void fl_ll_host_end(FlFn *f, const FlRegion *body, Val results) {
  FlGen *g = f->g;
  bool given = fl_ll_steps_give(f, body, results);
  int n = given && !f->texts ? 0 : body->n_yields;
  Val *out = FL_NEW_ARRAY(g->arena, Val, n + 1);
  FlType1 *types = FL_NEW_ARRAY(g->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) {
    const FlValue *v = body->yields[i];
    types[i] = v->type;
    if (given) out[i] = fl_ll_slot_get(f, results, (unsigned)i, v->type);
    else out[i] = is_array(v) ? fl_ll_take_yield(f, body, i) : fl_ll_value(f, v);
  }
  fl_ll_texts_leave(f, f->texts, (unsigned)n, types, out);
  for (int i = 0; i < n; i++) fl_ll_slot_put(f, results, (unsigned)i, types[i], out[i]);
  end(f);
}

void fl_ll_op_begin(FlFn *f, const FlOp *op, const FlMap *looped) {
  begin(f);
  f->looped = looped;
  for (int i = 0; looped && i < op->n_regions; i++) give_places(f, op->regions[i]);
  for (int i = 0; i < op->n_results; i++)
    if (is_array(op->results[i])) fl_ll_held(f, op->results[i])->own = (int)++f->n_own;
}

void fl_ll_op_end(FlFn *f, const FlOp *op, Val results) {
  host_op(f, op);
  for (int i = 0; i < op->n_results; i++) {
    const FlValue *v = op->results[i];
    fl_ll_slot_put(f, results, (unsigned)i, v->type, is_array(v) ? fl_ll_move_out(f, v) : fl_ll_value(f, v));
  }
  end(f);
}

void fl_ll_host_attrs(FlGen *g, Val fn) {
  fl_ll_target_attrs(g, fn, 0);
  fl_ll_quick_attrs(g, fn);
}

void fl_ll_host_function(FlGen *g, const FlFunc *func) {
  Val fn = fl_map_get(g->functions, func);
  fl_ll_host_attrs(g, fn);
  FlFn *f = fl_ll_fn_make(g, func, fn, FL_FORM_HOST);
  const FlRegion *body = func->body;
  fl_ll_host_begin(f, body, LLVMGetParam(fn, 1));
  for (int i = 0; i < body->n_params; i++) fl_ll_param(f, body->params[i], (unsigned)i);
  int sees = fl_ll_see(f, body->n_params, body->params, NULL);
  Val args[] = {f->ctx, fl_ll_seen(g, sees), LLVMGetParam(fn, 1)};
  if (sees) fl_ll_call(f, "fl_seen", g->none, 3, (Ty[]){g->ptr, g->ptr, g->ptr}, args);
  fl_ll_host_region(f, body);
  fl_ll_host_end(f, body, LLVMGetParam(fn, 2));
}
