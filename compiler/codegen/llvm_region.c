/* llvm_region.c: structured control flow and element access, the same for host code and kernels.
 *
 * What always holds: a region is emitted once, its values dominate what follows in it; loops are rotated (the
 * test stands at the end, behind one test before the loop), with a block of their own before and after, as
 * the loop passes want them. In a FAST kernel no loop runs longer because of a fault: the mask ends it. */
#include "codegen/llvm_internal.h"

#include <llvm-c/DebugInfo.h>

/* ---- counted loops ------------------------------------------------------------------------ */

void fl_ll_loop_open(FlFn *f, FlLoop *l, Val lo, Val hi, unsigned n, const Val *init) {
  FlGen *g = f->g;
  l->lo = lo;
  l->hi = hi;
  l->interleave = 1;
  l->masked = f->masks;
  l->n = n;
  l->phi = FL_NEW_ARRAY(g->arena, Val, n + 1);
  l->init = FL_NEW_ARRAY(g->arena, Val, n + 1);
  l->out = FL_NEW_ARRAY(g->arena, Val, n + 1);
  Block pre = fl_ll_block(f, "before");
  l->guard = fl_ll_here(f);
  l->body = fl_ll_block(f, "loop");
  l->done = fl_ll_block(f, "done");
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, lo, hi, ""), pre, l->done);
  fl_ll_at(f, pre);
  LLVMBuildBr(f->b, l->body);
  fl_ll_at(f, l->body);
  l->i = LLVMBuildPhi(f->b, g->i64, "i");
  LLVMAddIncoming(l->i, &lo, &pre, 1);
  for (unsigned k = 0; k < n; k++) {
    l->init[k] = init[k];
    l->phi[k] = LLVMBuildPhi(f->b, LLVMTypeOf(init[k]), "");
    LLVMAddIncoming(l->phi[k], &l->init[k], &pre, 1);
  }
}

static LLVMMetadataRef hint(FlGen *g, const char *name, Val value) {
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->cx, name, strlen(name)), LLVMValueAsMetadata(value)};
  return LLVMMDNodeInContext2(g->cx, parts, 2);
}

/* !llvm.loop; the node must be distinct, which a reference to itself makes it. Vectors are seldom interleaved
 * (fl_ll_in_flight): the processor overlaps iterations well enough; and where it has masks the last elements
 * of a loop are a masked vector, not a second loop: both make less code, which is made faster. */
static void loop_hints(FlFn *f, const FlLoop *l, Val branch, bool vectorize) {
  FlGen *g = f->g;
  LLVMMetadataRef self = LLVMTemporaryMDNode(g->cx, NULL, 0), parts[4] = {self};
  size_t n = 1;
  parts[n++] = hint(g, "llvm.loop.interleave.count", fl_ll_i32(g, l->interleave));
  if (!vectorize) parts[n++] = hint(g, "llvm.loop.vectorize.enable", LLVMConstInt(g->i1, 0, false));
  if (vectorize && l->masked)
    parts[n++] = hint(g, "llvm.loop.vectorize.predicate.enable", LLVMConstInt(g->i1, 1, false));
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->cx, parts, n);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->cx, "llvm.loop", 9), LLVMMetadataAsValue(g->cx, node));
}

void fl_ll_loop_close(FlFn *f, FlLoop *l, const Val *next, bool vectorize) {
  FlGen *g = f->g;
  Val i = LLVMBuildAdd(f->b, l->i, fl_ll_i64(g, 1), "");
  LLVMSetNSW(i, true);
  Block latch = fl_ll_here(f), after = fl_ll_block(f, "after");
  Val branch = LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, i, l->hi, ""), l->body, after);
  loop_hints(f, l, branch, vectorize);
  LLVMAddIncoming(l->i, &i, &latch, 1);
  for (unsigned k = 0; k < l->n; k++) LLVMAddIncoming(l->phi[k], (Val *)&next[k], &latch, 1);
  fl_ll_at(f, after);
  Val *last = FL_NEW_ARRAY(g->arena, Val, l->n + 1);
  for (unsigned k = 0; k < l->n; k++) {
    last[k] = LLVMBuildPhi(f->b, LLVMTypeOf(next[k]), "");
    LLVMAddIncoming(last[k], (Val *)&next[k], &latch, 1);
  }
  LLVMBuildBr(f->b, l->done);
  fl_ll_at(f, l->done);
  for (unsigned k = 0; k < l->n; k++) {
    l->out[k] = LLVMBuildPhi(f->b, LLVMTypeOf(next[k]), "");
    LLVMAddIncoming(l->out[k], &l->init[k], &l->guard, 1);
    LLVMAddIncoming(l->out[k], &last[k], &after, 1);
  }
}

/* ---- faults end loops --------------------------------------------------------------------- */

static Val mask_is_clear(FlFn *f) {
  Val mask = LLVMBuildLoad2(f->b, f->g->i32, f->mask, "");
  return LLVMBuildICmp(f->b, LLVMIntEQ, mask, fl_ll_i32(f->g, 0), "");
}

/* The upper bound of an inner loop: nothing is left to do after a fault. */
Val fl_ll_bound(FlFn *f, Val lo, Val hi) {
  if (f->form != FL_FORM_FAST || !f->may_fault) return hi;
  return LLVMBuildSelect(f->b, mask_is_clear(f), hi, lo, "");
}

/* ---- regions ------------------------------------------------------------------------------ */

static void define(FlFn *f, const FlValue *v, Val x) {
  if (f->form == FL_FORM_HOST && !fl_t_is_scalar(v->type)) fl_ll_own(f, v, x);
  else fl_ll_set(f, v, x);
}

void fl_ll_region(FlFn *f, const FlRegion *r) {
  if (f->form == FL_FORM_HOST) fl_ll_host_region(f, r);
  else fl_ll_kernel_region(f, r);
}

Val fl_ll_index(FlFn *f, const FlRegion *r) {
  FlGen *g = f->g;
  Val index = fl_ll_alloca(f, LLVMArrayType2(g->i64, (uint64_t)r->n_params), "index");
  for (int a = 0; a < r->n_params; a++)
    LLVMBuildStore(f->b, fl_ll_value(f, r->params[a]), fl_ll_at_byte(f, index, 8 * (int64_t)a));
  return index;
}

void fl_ll_element_region(FlFn *f, const FlRegion *r) {
  FlGen *g = f->g;
  if (f->form != FL_FORM_HOST) {
    fl_ll_kernel_region(f, r);
    return;
  }
  Val index = fl_ll_index(f, r);
  Block around = f->cleanup, failed = f->cleanup = fl_ll_block(f, "element.failed");
  fl_ll_host_region(f, r);
  f->cleanup = around;
  Block on = fl_ll_here(f);
  fl_ll_at(f, failed);
  Ty types[] = {g->ptr, g->i32, g->ptr};
  Val args[] = {f->ctx, fl_ll_i32(g, r->n_params), index};
  fl_ll_call(f, "fl_fail_position", g->none, 3, types, args);
  LLVMBuildBr(f->b, around);
  fl_ll_at(f, on);
}

/* The values that a region gives to its owner; arrays come owned, but for those that stay where they are. */
static Val *yields(FlFn *f, const FlRegion *r, const bool *stays) {
  Val *out = FL_NEW_ARRAY(f->g->arena, Val, r->n_yields + 1);
  for (int i = 0; i < r->n_yields; i++) {
    bool array = f->form == FL_FORM_HOST && !fl_t_is_scalar(r->yields[i]->type);
    if (stays[i]) continue;
    out[i] = array ? fl_ll_take_yield(f, r, i) : fl_ll_value(f, r->yields[i]);
  }
  return out;
}

/* Which results of an IF need no choice: both branches give the same object. */
static bool *same_in_both(FlFn *f, const FlOp *op) {
  bool *stays = FL_NEW_ARRAY(f->g->arena, bool, op->n_results + 1);
  const FlPlanStep *s = fl_plan_step(f->g->plan, op);
  for (int i = 0; i < op->n_results && f->form == FL_FORM_HOST; i++)
    stays[i] = !fl_t_is_scalar(op->results[i]->type) && s->same[i];
  return stays;
}

static void expect_same(FlFn *f, const FlValue *a, const FlValue *b) {
  if (!fl_ll_same_object(f, a, b)) fl_ll_fail(f->g, "an array of %s is not where it was", f->func->name);
}

static void emit_if(FlFn *f, const FlOp *op) {
  Block ends[2], start[2], merge = fl_ll_block(f, "endif");
  Val *values[2];
  bool *stays = same_in_both(f, op);
  start[0] = fl_ll_block(f, "then");
  start[1] = fl_ll_block(f, "else");
  LLVMBuildCondBr(f->b, fl_ll_value(f, op->args[0]), start[0], start[1]);
  for (int k = 0; k < 2; k++) {
    fl_ll_at(f, start[k]);
    fl_ll_region(f, op->regions[k]);
    values[k] = yields(f, op->regions[k], stays);
    ends[k] = fl_ll_here(f);
    LLVMBuildBr(f->b, merge);
  }
  fl_ll_at(f, merge);
  Val *phi = FL_NEW_ARRAY(f->g->arena, Val, op->n_results + 1);
  for (int i = 0; i < op->n_results; i++) {
    if (stays[i]) continue;
    phi[i] = LLVMBuildPhi(f->b, fl_ll_type(f->g, op->results[i]->type), "");
    for (int k = 0; k < 2; k++) LLVMAddIncoming(phi[i], &values[k][i], &ends[k], 1);
  }
  for (int i = 0; i < op->n_results; i++) {
    if (phi[i]) {
      define(f, op->results[i], phi[i]);
      continue;
    }
    expect_same(f, op->regions[0]->yields[i], op->regions[1]->yields[i]);
    fl_ll_hand_on(f, op->regions[0]->yields[i], op->results[i]);
  }
}

/* What a loop carries. `phis` are those of its results that are a value of its own in each round. */
typedef struct Carried {
  int n;
  FlValue *const *params;
  bool *stays;  /* by yield of the body */
  bool *by_phi; /* by result */
  Val *init;    /* of those that are in phis, in their order */
  unsigned n_init;
} Carried;

/* The array that a loop is given, made unique if the loop runs (`runs` NULL: it does). */
static Val own_if(FlFn *f, const FlOp *op, int arg, Val runs) {
  FlGen *g = f->g;
  Val given = fl_ll_take(f, op, arg), both[2] = {given, NULL};
  Block from[2], make = fl_ll_block(f, "own"), on = fl_ll_block(f, "on");
  from[0] = fl_ll_here(f);
  if (runs) LLVMBuildCondBr(f->b, runs, make, on);
  else LLVMBuildBr(f->b, make);
  fl_ll_at(f, make);
  both[1] = fl_ll_call(f, "fl_array_own", g->ptr, 2, (Ty[]){g->ptr, g->ptr}, (Val[]){f->ctx, given});
  fl_ll_check_pointer(f, both[1]);
  from[1] = fl_ll_here(f);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
  if (!runs) return both[1];
  Val a = LLVMBuildPhi(f->b, g->ptr, "");
  LLVMAddIncoming(a, both, from, 2);
  return a;
}

/* Takes over the initial values, and defines the parameters that stay. */
static Carried carry(FlFn *f, const FlOp *op, Val runs) {
  bool counted = op->code == FL_OP_FOR;
  const FlPlanStep *s = fl_plan_step(f->g->plan, op);
  const FlRegion *r = op->regions[0];
  Carried c = {.n = op->n_results, .params = r->params + (counted ? 1 : 0)};
  c.stays = FL_NEW_ARRAY(f->g->arena, bool, r->n_yields + 1);
  c.by_phi = FL_NEW_ARRAY(f->g->arena, bool, c.n + 1);
  c.init = FL_NEW_ARRAY(f->g->arena, Val, c.n + 1);
  for (int i = 0; i < c.n; i++) {
    int arg = i + (counted ? 2 : 0);
    bool array = f->form == FL_FORM_HOST && !fl_t_is_scalar(op->results[i]->type);
    FlCarry how = array ? s->holds[i] : FL_CARRY_ANY;
    c.by_phi[i] = how == FL_CARRY_ANY;
    c.stays[r->n_yields - c.n + i] = how != FL_CARRY_ANY;
    if (how == FL_CARRY_SAME) fl_ll_hand_on(f, op->args[arg], c.params[i]);
    if (how == FL_CARRY_MAKE) fl_ll_own(f, c.params[i], own_if(f, op, arg, runs));
  }
  /* Last, as nothing fails between this and the loop. */
  for (int i = 0; i < c.n; i++) {
    const FlValue *start = op->args[i + (counted ? 2 : 0)];
    bool array = f->form == FL_FORM_HOST && !fl_t_is_scalar(start->type);
    if (c.by_phi[i])
      c.init[c.n_init++] = array ? fl_ll_take(f, op, i + (counted ? 2 : 0)) : fl_ll_value(f, start);
  }
  return c;
}

/* The body's yields for the phis, behind `lead` others. */
static Val *next_of(FlFn *f, const FlRegion *r, const Carried *c, int lead, Val *leading) {
  Val *all = yields(f, r, c->stays), *next = FL_NEW_ARRAY(f->g->arena, Val, c->n_init + 1);
  for (int i = 0; i < lead; i++) leading[i] = all[i];
  for (int i = 0, at = 0; i < c->n; i++) {
    if (c->by_phi[i]) next[at++] = all[lead + i];
    else expect_same(f, r->yields[lead + i], c->params[i]);
  }
  return next;
}

/* The end of a round: texts that it made die, but for those that go on. Host code goes on only where all of
 * them found memory. */
static void leave_round(FlFn *f, const FlOp *op, const Carried *c, Val mark, Val *next) {
  FlType1 *types = FL_NEW_ARRAY(f->g->arena, FlType1, c->n_init + 1);
  for (int i = 0, at = 0; i < c->n; i++)
    if (c->by_phi[i]) types[at++] = op->results[i]->type;
  Val status = fl_ll_texts_leave(f, mark, c->n_init, types, next);
  if (!status || f->form != FL_FORM_HOST) return;
  Block failed = fl_ll_block(f, "lacks"), fine = fl_ll_block(f, "goes_on");
  LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntNE, status, fl_ll_i32(f->g, 0), ""), failed, fine);
  fl_ll_at(f, failed);
  for (unsigned i = 0; i < c->n_init; i++)
    if (!fl_t_is_scalar(types[i])) fl_ll_unref(f, next[i]); /* nobody else holds them at this moment */
  fl_ll_leave(f, status);
  fl_ll_at(f, fine);
}

static void define_phis(FlFn *f, const Carried *c, FlValue *const *to, const Val *from) {
  for (int i = 0, at = 0; i < c->n; i++)
    if (c->by_phi[i]) define(f, to[i], from[at++]);
}

static void define_results(FlFn *f, const FlOp *op, const Carried *c, const Val *from) {
  define_phis(f, c, op->results, from);
  for (int i = 0; i < c->n; i++)
    if (!c->by_phi[i]) fl_ll_hand_on(f, c->params[i], op->results[i]);
}

/* A loop begins in whose first round values are seen; NULL: in none. */
static Val seen_rounds(FlFn *f, const FlRegion *r) {
  FlGen *g = f->g;
  if (f->form != FL_FORM_HOST || f->loop || !fl_ir_sees(r)) return NULL;
  Val args[] = {f->ctx, fl_ll_i32(g, -1)};
  return fl_ll_call(f, "fl_seen_rounds", g->i32, 2, (Ty[]){g->ptr, g->i32}, args);
}

/* A round of it has ended, or, with what it was before, the loop. */
static void seen_end(FlFn *f, Val seen, Val later) {
  FlGen *g = f->g;
  if (seen) fl_ll_call(f, "fl_seen_rounds", g->i32, 2, (Ty[]){g->ptr, g->i32}, (Val[]){f->ctx, later});
}

static void emit_for(FlFn *f, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  Val lo = fl_ll_value(f, op->args[0]), hi = fl_ll_bound(f, lo, fl_ll_value(f, op->args[1]));
  Carried c = carry(f, op, LLVMBuildICmp(f->b, LLVMIntSLT, lo, hi, ""));
  Val mark = fl_ll_texts_mark(f, r), seen = seen_rounds(f, r);
  FlLoop l;
  fl_ll_loop_open(f, &l, lo, hi, c.n_init, c.init);
  fl_ll_set(f, r->params[0], l.i);
  define_phis(f, &c, c.params, l.phi);
  fl_ll_region(f, r);
  Val *next = next_of(f, r, &c, 0, NULL);
  leave_round(f, op, &c, mark, next);
  seen_end(f, seen, fl_ll_i32(f->g, 1));
  fl_ll_loop_close(f, &l, next, f->form != FL_FORM_PRECISE);
  seen_end(f, seen, seen);
  define_results(f, op, &c, l.out);
}

static void emit_while(FlFn *f, const FlOp *op) {
  const FlRegion *r = op->regions[0];
  Carried c = carry(f, op, NULL);
  unsigned n = c.n_init;
  Val *phi = FL_NEW_ARRAY(f->g->arena, Val, n + 1), mark = fl_ll_texts_mark(f, r), seen = seen_rounds(f, r);
  Block before = fl_ll_here(f), body = fl_ll_block(f, "while"), done = fl_ll_block(f, "endwhile");
  LLVMBuildBr(f->b, body);
  fl_ll_at(f, body);
  for (unsigned i = 0; i < n; i++) {
    phi[i] = LLVMBuildPhi(f->b, LLVMTypeOf(c.init[i]), "");
    LLVMAddIncoming(phi[i], &c.init[i], &before, 1);
  }
  define_phis(f, &c, c.params, phi);
  fl_ll_region(f, r);
  Val go_on = NULL, *next = next_of(f, r, &c, 1, &go_on);
  leave_round(f, op, &c, mark, next);
  seen_end(f, seen, fl_ll_i32(f->g, 1));
  if (f->form == FL_FORM_FAST && f->may_fault) go_on = LLVMBuildAnd(f->b, go_on, mask_is_clear(f), "");
  Block end = fl_ll_here(f);
  LLVMBuildCondBr(f->b, go_on, body, done);
  for (unsigned i = 0; i < n; i++) LLVMAddIncoming(phi[i], &next[i], &end, 1);
  fl_ll_at(f, done);
  seen_end(f, seen, seen);
  define_results(f, op, &c, next);
}

void fl_ll_control(FlFn *f, const FlOp *op) {
  if (op->code == FL_OP_IF) emit_if(f, op);
  else if (op->code == FL_OP_FOR) emit_for(f, op);
  else emit_while(f, op);
}

/* ---- element access ----------------------------------------------------------------------- */

Val fl_ll_dim(FlFn *f, const FlValue *array, int axis) {
  const FlView *view = fl_ll_held(f, array)->view;
  if (view) return view->dims[axis];
  return fl_ll_array_dim(f, fl_ll_value(f, array), fl_ll_i64(f->g, axis));
}

static Val data_of(FlFn *f, const FlValue *array) {
  const FlView *view = fl_ll_held(f, array)->view;
  if (view) return view->data;
  return fl_ll_array_data(f, fl_ll_value(f, array));
}

Val fl_ll_element(FlFn *f, const FlOp *op, int n, bool proven) {
  FlGen *g = f->g;
  const FlValue *array = op->args[0];
  /* A check of its own proves nothing to a fast kernel, which goes on when it fails. */
  bool firm = fl_map_get(g->plan->firm, op) != NULL;
  bool guard = f->form == FL_FORM_FAST && (!proven || (f->may_fault && !firm));
  Val lin = NULL, bad = NULL;
  for (int k = 0; k < n; k++) {
    Val i = fl_ll_value(f, op->args[k + 1]), dim = k || guard || !proven ? fl_ll_dim(f, array, k) : NULL;
    if (guard || !proven) {
      Val out = LLVMBuildICmp(f->b, LLVMIntUGE, i, dim, "");
      if (!proven) fl_ll_fault(f, op, out, fl_ll_i32(g, FL_FAULT_INDEX), FL_I64, i, dim);
      bad = bad ? LLVMBuildOr(f->b, bad, out, "") : out;
    }
    if (!lin) lin = i;
    else if (!guard) lin = LLVMBuildNSWAdd(f->b, LLVMBuildNSWMul(f->b, lin, dim, ""), i, "");
    else lin = LLVMBuildAdd(f->b, LLVMBuildMul(f->b, lin, dim, ""), i, "");
  }
  /* Out of bounds, a fast kernel reads element 0, and of an empty array the zeros that its data pointer is
   * then. */
  if (guard) lin = LLVMBuildSelect(f->b, bad, fl_ll_i64(g, 0), lin, "");
  FlDtype d = array->type.depth ? FL_LIST : (FlDtype)array->type.dtype;
  return fl_ll_gep(f, fl_ll_mem_type(g, d), data_of(f, array), lin);
}

void fl_ll_load(FlFn *f, const FlOp *op) {
  Val at = fl_ll_element(f, op, op->n_args - 1, op->attrs.i != 0);
  FlType1 t = op->results[0]->type;
  fl_ll_set(f, op->results[0], fl_ll_load_elem(f, fl_t_is_scalar(t) ? (FlDtype)t.dtype : FL_LIST, at));
}

void fl_ll_open_picks(FlFn *f, const FlRegion *r) {
  FlGen *g = f->g;
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) fl_ll_open_picks(f, op->regions[i]);
    if (op->code != FL_OP_PICK) continue;
    int n = op->n_args - 2;
    Val table = fl_ll_alloca_n(f, g->ptr, (unsigned)n, "columns");
    for (int k = 0; k < n; k++) {
      Val at = fl_ll_gep(f, g->ptr, table, fl_ll_i64(g, k));
      LLVMBuildStore(f->b, data_of(f, op->args[k + 2]), at);
    }
    if (!f->picks) f->picks = fl_map_make(g->arena);
    fl_map_set(f->picks, op, table);
  }
}

Val fl_ll_pick_data(FlFn *f, const FlOp *op, Val which) {
  Val at = fl_ll_gep(f, f->g->ptr, fl_map_get(f->picks, op), which);
  return LLVMBuildLoad2(f->b, f->g->ptr, at, "");
}

static void pick(FlFn *f, const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Val data = f->picked ? fl_map_get(f->picked, op) : NULL;
  if (!data) data = fl_ll_pick_data(f, op, fl_ll_value(f, op->args[0]));
  Val at = fl_ll_gep(f, fl_ll_mem_type(f->g, d), data, fl_ll_value(f, op->args[1]));
  fl_ll_set(f, op->results[0], fl_ll_load_elem(f, d, at));
}

/* ---- checks ------------------------------------------------------------------------------- */

/* The operands for the message: two of one dtype, or the message itself. */
void fl_ll_check(FlFn *f, const FlOp *op) {
  FlGen *g = f->g;
  bool fail = op->code == FL_OP_FAIL;
  int first = fail ? 0 : 1, n = op->n_args - first;
  Val a = n > 0 ? fl_ll_value(f, op->args[first]) : NULL, b = NULL;
  FlDtype d = n > 0 ? (FlDtype)op->args[first]->type.dtype : FL_I64;
  if (fl_ir_says_second(op, first)) b = fl_ll_value(f, op->args[first + 1]);
  Val bad = fail ? LLVMConstInt(g->i1, 1, false) : LLVMBuildNot(f->b, fl_ll_value(f, op->args[0]), "");
  int64_t fault = op->attrs.i ? op->attrs.i : fail ? FL_FAULT_ERROR : FL_FAULT_ASSERT;
  fl_ll_fault(f, op, bad, fl_ll_i32(g, fault), d, a, b);
  for (int i = 0; i < op->n_results; i++)
    define(f, op->results[i], LLVMConstNull(fl_ll_type(g, op->results[i]->type)));
}

/* ---- kernels ------------------------------------------------------------------------------ */

void fl_ll_kernel_op(FlFn *f, const FlOp *op) {
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR) {
    fl_ll_scalar(f, op);
    return;
  }
  switch (op->code) {
  case FL_OP_CONST: fl_ll_set(f, op->results[0], fl_ll_const(f->g, op)); break;
  case FL_OP_DIM: fl_ll_set(f, op->results[0], fl_ll_dim(f, op->args[0], (int)op->attrs.i)); break;
  case FL_OP_LOAD: fl_ll_load(f, op); break;
  case FL_OP_PICK: pick(f, op); break;
  case FL_OPS_CONTROL: fl_ll_control(f, op); break;
  case FL_OP_CHECK:
  case FL_OP_FAIL: fl_ll_check(f, op); break;
  case FL_OP_WITHIN: break; /* host_op of the loop around it */
  case FL_OP_REDUCE: fl_ll_reduce_nested(f, op); break;
  case FL_OP_EXTERN: fl_ll_extern_call(f, op); break;
  case FL_OP_ARRAY:
  case FL_OP_STORE:
  case FL_OP_MAP:
  case FL_OP_SCAN:
  case FL_OP_COLLECT:
  case FL_OP_CALL:
  case FL_OP_CUSTOM:
  case FL_OP_STAGE:
  case FL_OP_KEEP:
  case FL_OPS_NOT_STRUCT: fl_ll_fail(f->g, "operator %s in a kernel", fl_op_info[op->code].name);
  }
}

void fl_ll_kernel_region(FlFn *f, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) fl_ll_kernel_op(f, op);
}
