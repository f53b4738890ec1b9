/* llvm_loop.c: a loop of host code over elements, as a function by itself, so that the code around it is
 * quick code and it is optimised when that pays.
 *
 * In: a step that the plan has as such (FlPlanStep.loop). Out: the function, of a kernel's form without a
 * range, and a call of it. Its environment is an array of slots: the number of the first place of the unit,
 * what the loop captures, its arguments, what it gives. What always holds: an array that the loop takes over,
 * or that stays where it is while the loop writes to it, is the function's own while it runs; of all others
 * it borrows. When it fails it has told the place. */
#include "codegen/llvm_internal.h"

enum { LONG = 2000000000 }; /* nanoseconds, where nobody knows */

static bool is_constant(const FlValue *v) { return v->op && v->op->code == FL_OP_CONST; }

/* Which result stays where argument i is; -1: none. */
static int stays(const FlPlanStep *s, int i) {
  int result = i - (s->op->code == FL_OP_FOR ? 2 : 0);
  bool carried = s->holds && result >= 0 && !fl_t_is_scalar(s->op->args[i]->type);
  return carried && s->holds[result] == FL_CARRY_SAME ? result : -1;
}

static bool is_handed_over(const FlPlanStep *s, int i) {
  return !fl_t_is_scalar(s->op->args[i]->type) && ((s->takes && s->takes[i]) || stays(s, i) >= 0);
}

/* ---- the function ---------------------------------------------------------------------------------- */

typedef struct Loop {
  const FlPlanStep *s;
  const char *name;
  bool optimised; /* its quick form, where it has no other */
} Loop;

static Val make_form(FlFn *host, bool late, const void *what) {
  const Loop *w = what;
  const FlPlanKernel *k = w->s->loop;
  const FlOp *op = k->op;
  FlGen *g = host->g;
  Val fn = LLVMAddFunction(g->mod, late ? FL_KERNEL_NAME : w->name, g->kernel_fn);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(fn, LLVMGlobalUnnamedAddr);
  if (!late) fl_ll_target_attrs(g, fn, 0);
  if (!late && !w->optimised) fl_ll_quick_attrs(g, fn);
  FlFn *f = fl_ll_fn_make(g, host->func, fn, FL_FORM_HOST);
  Val env = LLVMGetParam(fn, 1);
  unsigned at = 0;
  f->loop = op;
  if (g->unit)
    f->first_site = LLVMBuildTrunc(f->b, fl_ll_slot_get(f, env, at, fl_t_scalar(FL_I64)), g->i32, "");
  at++;
  fl_ll_op_begin(f, op, host->looped);
  for (int i = 0; i < k->n_uses; i++) {
    const FlValue *v = k->uses[i].value;
    fl_ll_set(f, v, fl_ll_slot_get(f, env, at++, v->type));
    fl_ll_view(f, v);
  }
  for (int i = 0; i < op->n_args; i++, at++) {
    const FlValue *v = op->args[i];
    if (is_constant(v)) continue;
    Val x = fl_ll_slot_get(f, env, at, v->type);
    if (is_handed_over(w->s, i)) {
      fl_ll_own_from(f, v, x);
    } else {
      fl_ll_set(f, v, x);
      fl_ll_view(f, v);
    }
  }
  fl_ll_op_end(f, op, fl_ll_slot_at(f, env, at));
  return fn;
}

/* Does the loop need nothing that only this program has: descriptions of operators, kernels, other functions?
 */
static bool stands_alone(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool plain = fl_op_info[op->code].op_class == FL_CLASS_SCALAR || op->code == FL_OP_CONST ||
                 op->code == FL_OP_ARRAY || op->code == FL_OP_DIM || op->code == FL_OP_LOAD ||
                 op->code == FL_OP_STORE || op->code == FL_OP_CHECK || op->code == FL_OP_FAIL ||
                 op->code == FL_OP_IF || fl_ir_is_rounds(op);
    if (!plain) return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!stands_alone(op->regions[i])) return false;
  }
  return true;
}

/* ---- the call -------------------------------------------------------------------------------------- */

static Val cost_of(FlFn *f, const FlPlanKernel *k) {
  FlGen *g = f->g;
  if (!k->cost) return LLVMConstReal(g->f64, LONG);
  const FlOp *op = k->op;
  Val rounds = op->code == FL_OP_FOR
                   ? LLVMBuildSub(f->b, fl_ll_value(f, op->args[1]), fl_ll_value(f, op->args[0]), "")
               : op->code == FL_OP_SCAN ? fl_ll_value(f, op->args[0])
                                        : fl_ll_total(f, op);
  return LLVMBuildFMul(f->b, LLVMBuildSIToFP(f->b, rounds, g->f64, ""), fl_ll_cost(f, k->cost), "");
}

static Val loop_constant(FlFn *f, const FlPlanStep *s) {
  FlGen *g = f->g;
  const FlPlanKernel *k = s->loop;
  const char *name =
      fl_arena_printf(g->arena, "%s.%s.%d", f->func->name, fl_op_info[k->op->code].name, g->n_names++);
  Loop loop = {s, name, false};
  bool may_wait =
      g->options.late && k->weight <= FL_CODE_SLOW && !fl_ir_within(k->op) && stands_alone(k->region);
  const FlLate *late = may_wait ? fl_ll_late(f, make_form, &loop) : NULL;
  loop.optimised = true;
  return fl_ll_kernel_constant(f, k, name, late ? late->quick : make_form(f, false, &loop), fl_ll_null(g),
                               late);
}

void fl_ll_loop(FlFn *f, const FlPlanStep *s) {
  FlGen *g = f->g;
  const FlPlanKernel *k = s->loop;
  const FlOp *op = k->op;
  unsigned at = 0, n = (unsigned)(1 + k->n_uses + op->n_args);
  fl_ll_need_slots(f, n + (unsigned)op->n_results);
  Val loop = loop_constant(f, s), ns = cost_of(f, k);
  Val first = LLVMBuildZExt(f->b, fl_ll_site_number(f, 0), g->i64, "");
  fl_ll_slot_put(f, f->args, at++, fl_t_scalar(FL_I64), first);
  for (int i = 0; i < k->n_uses; i++)
    fl_ll_slot_put(f, f->args, at++, k->uses[i].value->type, fl_ll_value(f, k->uses[i].value));
  for (int i = 0; i < op->n_args; i++, at++) {
    const FlValue *v = op->args[i];
    if (is_constant(v)) continue;
    bool here = stays(s, i) >= 0, over = is_handed_over(s, i);
    fl_ll_slot_put(f, f->args, at, v->type,
                   here   ? fl_ll_move_out(f, v)
                   : over ? fl_ll_take(f, op, i)
                          : fl_ll_value(f, v));
  }
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->f64};
  Val args[] = {f->ctx, loop, f->args, ns};
  Val status = fl_ll_call(f, "fl_run_loop", g->i32, 4, types, args);
  fl_ll_leave_told(f, LLVMBuildICmp(f->b, LLVMIntNE, status, fl_ll_i32(g, 0), ""), status);
  for (int i = 0; i < op->n_results; i++) {
    const FlValue *r = op->results[i];
    Val x = fl_ll_slot_get(f, f->args, n + (unsigned)i, r->type);
    int arg = i + (op->code == FL_OP_FOR ? 2 : 0);
    if (fl_t_is_scalar(r->type)) {
      fl_ll_set(f, r, x);
    } else if (arg < op->n_args && stays(s, arg) == i) {
      fl_ll_move_in(f, op->args[arg], x);
      fl_ll_hand_on(f, op->args[arg], r);
    } else {
      fl_ll_own(f, r, x);
    }
  }
}
