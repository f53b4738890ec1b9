/* llvm_kernel.c: kernels, functions over a range of a logical index space that the runtime runs on its pool.
 *
 * The environment is an array of slots: what the region captures, the sizes, the results (arrays; before
 * them, but of a MAP, where the states or counts of blocks go), the heap of texts. A kernel has one fast form
 * (three in portable programs, behind a dispatcher) and, when it can fail, a precise form that is never
 * optimised. Constants are not captured: they are made anew, so that sizes stay known. */
#include "codegen/llvm_internal.h"

#include <llvm-c/BitWriter.h>

/* ---- cost: nanoseconds an element, as a value of host code ----------------------------------------- */

Val fl_ll_cost(FlFn *f, const FlCost *c) {
  Val a, b;
  switch (c->kind) {
  case FL_COST_VALUE: return LLVMBuildSIToFP(f->b, fl_ll_value(f, c->value), f->g->f64, "");
  case FL_COST_DIM: return LLVMBuildSIToFP(f->b, fl_ll_dim(f, c->value, c->axis), f->g->f64, "");
  case FL_COST_SUM:
  case FL_COST_PRODUCT:
    a = fl_ll_cost(f, c->a);
    b = fl_ll_cost(f, c->b);
    return c->kind == FL_COST_SUM ? LLVMBuildFAdd(f->b, a, b, "") : LLVMBuildFMul(f->b, a, b, "");
  case FL_COST_CONSTANT: break;
  }
  return LLVMConstReal(f->g->f64, c->n);
}

/* ---- the elements of a range ----------------------------------------------------------------------- */

static void one_element(FlFn *f, const FlPlanKernel *k, Val pos, FlElementBody *each, void *arg) {
  Block next = NULL;
  if (f->form == FL_FORM_PRECISE) {
    f->n_index = k->region->n_params;
    f->index = fl_ll_index(f, k->region);
    next = fl_ll_block(f, "next");
    f->next = next;
    f->pos = pos;
    f->rank = 0;
  }
  fl_ll_kernel_region(f, k->region);
  fl_ll_keep_yields(f);
  if (each) each(f, k, pos, arg);
  fl_ll_leave_element(f);
  if (next) {
    LLVMBuildBr(f->b, next);
    fl_ll_at(f, next);
  }
}

/* Philox, and without fused operations exp and its like, are chains of dependent operations so long that the
 * processor's window holds little more than one: several vectors in flight, step by step, hide how long each
 * step takes. Not so pow, which is wide enough by itself. */
unsigned fl_ll_in_flight(const FlFn *f, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool is_chain = f->masks && (fl_op_info[op->code].flags & FL_OPF_MATHS) && op->code != FL_OP_POW;
    if (op->code == FL_OP_RANDOM || is_chain) return 4;
  }
  return 1;
}

void fl_ll_rows(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlRowBody *row,
                void *arg) {
  FlGen *g = f->g;
  const FlRegion *r = k->region;
  int n = r->n_params;
  Val zero = fl_ll_i64(g, 0), one = fl_ll_i64(g, 1);
  if (n == 1) {
    row(f, k, zero, begin, end, arg);
    return;
  }
  Val width = sizes[n - 1];
  Val inner = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, width, one, ""), width, one, "");
  Val first = LLVMBuildUDiv(f->b, begin, inner, "");
  Val last = LLVMBuildUDiv(f->b, LLVMBuildAdd(f->b, end, LLVMBuildSub(f->b, inner, one, ""), ""), inner, "");
  FlLoop rows;
  fl_ll_loop_open(f, &rows, first, last, 0, NULL);
  Val start = LLVMBuildNSWMul(f->b, rows.i, inner, "");
  Val rest = rows.i;
  for (int a = n - 2; a >= 0; a--) {
    if (a == 0) {
      fl_ll_set(f, r->params[0], rest);
    } else {
      Val size = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, sizes[a], one, ""), sizes[a], one, "");
      Val up = LLVMBuildUDiv(f->b, rest, size, "");
      fl_ll_set(f, r->params[a], LLVMBuildNSWSub(f->b, rest, LLVMBuildNSWMul(f->b, up, size, ""), ""));
      rest = up;
    }
  }
  Val lo = LLVMBuildNSWSub(f->b, begin, start, ""), hi = LLVMBuildNSWSub(f->b, end, start, "");
  lo = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, lo, zero, ""), lo, zero, "");
  hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, hi, inner, ""), hi, inner, "");
  row(f, k, start, lo, hi, arg);
  fl_ll_loop_close(f, &rows, NULL, true);
}

/* Cells of a row, one by one. */
typedef struct Cells {
  FlElementBody *each;
  void *arg;
  bool vectorize;
} Cells;

static void cells_of_row(FlFn *f, const FlPlanKernel *k, Val start, Val lo, Val hi, void *arg) {
  const Cells *c = arg;
  FlLoop l;
  fl_ll_loop_open(f, &l, lo, hi, 0, NULL);
  fl_ll_set(f, k->region->params[k->region->n_params - 1], l.i);
  one_element(f, k, LLVMBuildNSWAdd(f->b, start, l.i, ""), c->each, c->arg);
  l.interleave = fl_ll_in_flight(f, k->region);
  fl_ll_loop_close(f, &l, NULL, c->vectorize);
}

void fl_ll_elements(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlElementBody *each,
                    void *arg, bool vectorize) {
  const FlRegion *r = k->region;
  int n = r->n_params;
  FlTiles *tiles = vectorize && each ? fl_ll_tiles_make(f, k) : NULL;
  if (tiles) {
    fl_ll_tiles_elements(f, k, tiles, begin, end, sizes[0], each, arg);
    return;
  }
  if (n == 1) {
    FlLoop l;
    fl_ll_loop_open(f, &l, begin, end, 0, NULL);
    fl_ll_set(f, r->params[0], l.i);
    one_element(f, k, l.i, each, arg);
    l.interleave = fl_ll_in_flight(f, r);
    fl_ll_loop_close(f, &l, NULL, vectorize);
    return;
  }
  Cells cells = {each, arg, vectorize};
  fl_ll_rows(f, k, begin, end, sizes, cells_of_row, &cells);
}

/* ---- functions ------------------------------------------------------------------------------------- */

static Val scope_list(FlGen *g, const char *const *names, unsigned n) {
  LLVMMetadataRef domain_name = LLVMMDStringInContext2(g->cx, "flow", 4);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(g->cx, &domain_name, 1);
  LLVMMetadataRef *scopes = FL_NEW_ARRAY(g->arena, LLVMMetadataRef, n + 1);
  for (unsigned i = 0; i < n; i++) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->cx, names[i], strlen(names[i])), domain};
    scopes[i] = LLVMMDNodeInContext2(g->cx, parts, 2);
  }
  return LLVMMetadataAsValue(g->cx, LLVMMDNodeInContext2(g->cx, scopes, n));
}

/* Captured arrays and results never overlap, nor do two results (a result written over a captured array is
 * read and written at the same index only, see llvm_bulk.c). */
static void make_scopes(FlFn *f, const FlPlanKernel *k) {
  FlGen *g = f->g;
  if (!k->n_outputs) return;
  const char **names = FL_NEW_ARRAY(g->arena, const char *, k->n_outputs + 2);
  names[0] = "in";
  for (int i = 0; i < k->n_outputs; i++) names[i + 1] = fl_arena_printf(g->arena, "out%d", i);
  f->in_scopes = scope_list(g, names, 1);
  f->out_scopes = scope_list(g, names + 1, (unsigned)k->n_outputs);
  f->output_scopes = FL_NEW_ARRAY(g->arena, Val, k->n_outputs);
  f->output_apart = FL_NEW_ARRAY(g->arena, Val, k->n_outputs);
  for (int i = 0; i < k->n_outputs; i++) {
    const char **others = FL_NEW_ARRAY(g->arena, const char *, k->n_outputs + 2);
    unsigned n = 0;
    for (int j = 0; j <= k->n_outputs; j++)
      if (j != i + 1) others[n++] = names[j];
    f->output_scopes[i] = scope_list(g, &names[i + 1], 1);
    f->output_apart[i] = scope_list(g, others, n);
  }
}

void fl_ll_store_output(FlFn *f, int output, FlDtype d, Val v, Val at) {
  f->store_scope = f->output_scopes ? f->output_scopes[output] : NULL;
  f->store_apart = f->output_apart ? f->output_apart[output] : NULL;
  fl_ll_store_elem(f, d, v, at);
  f->store_scope = NULL;
}

/* Data pointer and sizes of a captured array, loaded at the entry. */
static void open_view(FlFn *f, const FlPlanKernel *k, const FlValue *v) {
  FlGen *g = f->g;
  FlView *view = FL_NEW(g->arena, FlView);
  Val a = fl_ll_value(f, v), empty = NULL;
  int rank = v->type.depth ? 1 : v->type.rank;
  view->data = fl_ll_array_data(f, a);
  for (int i = 0; i < rank; i++) {
    view->dims[i] = fl_ll_array_dim(f, a, fl_ll_i64(g, i));
    Val none = LLVMBuildICmp(f->b, LLVMIntEQ, view->dims[i], fl_ll_i64(g, 0), "");
    empty = empty ? LLVMBuildOr(f->b, empty, none, "") : none;
  }
  if (k->faults) view->data = LLVMBuildSelect(f->b, empty, g->zeros, view->data, "");
  fl_ll_held(f, v)->view = view;
}

typedef struct Shape {
  const char *name;
  FlKernelBody *body;
  FlForm form;
  int level;  /* of the processor, as fl_ll_target_attrs; -1: who makes it of its bitcode says for which */
  bool quick; /* not optimised */
  const char *suffix;
} Shape;

static Val kernel_function(FlFn *host, const FlPlanKernel *k, Shape shape) {
  FlGen *g = host->g;
  const char *name = fl_arena_printf(g->arena, "%s%s", shape.name, shape.suffix);
  Val fn = LLVMAddFunction(g->mod, name, g->kernel_fn);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(fn, LLVMGlobalUnnamedAddr);
  if (shape.level >= 0) fl_ll_target_attrs(g, fn, shape.level);
  if (shape.quick) {
    fl_ll_attr(g, fn, "cold", NULL);
    fl_ll_quick_attrs(g, fn);
  }
  FlFn *f = fl_ll_fn_make(g, host->func, fn, shape.form);
  f->may_fault = k->faults;
  f->by_position = (k->op->attrs.i & FL_LOOP_BY_POSITION) != 0;
  f->masks = shape.level == 4 || (shape.level <= 0 && strstr(g->features, "+avx512vl"));
  Val env = LLVMGetParam(fn, 1);
  unsigned at = 0;
  for (int i = 0; i < k->n_uses; i++) {
    const FlValue *v = k->uses[i].value;
    fl_ll_set(f, v, fl_ll_slot_get(f, env, at++, v->type));
    if (!fl_t_is_scalar(v->type)) open_view(f, k, v);
  }
  fl_ll_open_picks(f, k->region);
  Val *sizes = FL_NEW_ARRAY(g->arena, Val, k->op->n_args + 1);
  Val *outputs = FL_NEW_ARRAY(g->arena, Val, k->n_outputs + 1);
  for (int i = 0; i < k->op->n_args; i++) {
    bool fixed = k->op->args[i]->op && k->op->args[i]->op->code == FL_OP_CONST;
    sizes[i] = fixed ? fl_ll_value(f, k->op->args[i]) : fl_ll_slot_get(f, env, at, fl_t_scalar(FL_I64));
    at++;
  }
  for (int i = 0; i < k->n_outputs; i++) {
    outputs[i] = fl_ll_slot_get(f, env, at++, fl_t_array(FL_I64, 1));
    if (k->op->code == FL_OP_MAP || i) outputs[i] = fl_ll_array_data(f, outputs[i]);
  }
  if (k->makes_texts) f->heap = fl_ll_slot_get(f, env, at++, fl_t_array(FL_I64, 1));
  if (shape.form == FL_FORM_FAST) make_scopes(f, k);
  fl_ll_scratch_open(f, k);
  Val begin = LLVMGetParam(fn, 2), end = LLVMGetParam(fn, 3);
  if (shape.form == FL_FORM_FAST) shape.body(f, k, begin, end, sizes, outputs);
  else fl_ll_elements(f, k, begin, end, sizes, NULL, NULL, false);
  fl_ll_scratch_close(f);
  LLVMBuildRet(f->b, k->faults && shape.form == FL_FORM_FAST ? LLVMBuildLoad2(f->b, g->i32, f->mask, "")
                                                             : fl_ll_i32(g, 0));
  fl_ll_fn_done(f);
  return fn;
}

/* Portable: a machine older than v3 is rare enough to get code that is not optimised. */
static Val portable_forms(FlFn *f, const FlPlanKernel *k, const char *name, FlKernelBody *body) {
  Val v2 = kernel_function(f, k, (Shape){name, body, FL_FORM_FAST, 0, true, ".v2"});
  Val v3 = kernel_function(f, k, (Shape){name, body, FL_FORM_FAST, 3, false, ".v3"});
  Val v4 = k->heavy ? kernel_function(f, k, (Shape){name, body, FL_FORM_FAST, 4, false, ".v4"}) : v3;
  return fl_ll_dispatcher(f->g, name, v2, v3, v4);
}

/* ---- forms that are made when they pay ------------------------------------------------------------- */

static bool names_function(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->attrs.func || op->code == FL_OP_EXTERN) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (names_function(op->regions[i])) return true;
  }
  return false;
}

/* Needs it nothing that this program alone has? */
static bool stands_alone(LLVMModuleRef mod) {
  for (Val v = LLVMGetFirstGlobal(mod); v; v = LLVMGetNextGlobal(v))
    if (LLVMIsDeclaration(v)) return false;
  return true;
}

/* The optimised form as bitcode, by itself and for any processor; NULL: it does not stand alone. */
static LLVMMemoryBufferRef code_of(FlFn *f, FlMakeForm *make, const void *what) {
  FlGen *g = f->g;
  FlGen outer = *g;
  g->mod = LLVMModuleCreateWithNameInContext(FL_KERNEL_NAME, g->cx);
  LLVMSetModuleDataLayout(g->mod, g->layout);
  LLVMSetTarget(g->mod, LLVMGetTarget(outer.mod));
  g->made = fl_map_make(g->arena);
  g->lists = fl_map_make(g->arena);
  g->first_site = NULL;
  fl_ll_make_zeros(g);
  LLVMSetLinkage(make(f, true, what), LLVMExternalLinkage);
  LLVMMemoryBufferRef code = stands_alone(g->mod) ? LLVMWriteBitcodeToMemoryBuffer(g->mod) : NULL;
  LLVMDisposeModule(g->mod);
  g->mod = outer.mod;
  g->made = outer.made;
  g->lists = outer.lists;
  g->first_site = outer.first_site;
  g->zeros = outer.zeros;
  return code;
}

const FlLate *fl_ll_late(FlFn *f, FlMakeForm *make, const void *what) {
  FlGen *g = f->g;
  LLVMMemoryBufferRef code = code_of(f, make, what);
  if (!code) return NULL;
  const char *bytes = LLVMGetBufferStart(code);
  size_t n = LLVMGetBufferSize(code);
  const char *key = fl_ll_key(g, 'k', bytes, n);
  FlLate *late = fl_map_get(g->made, key);
  if (!late) {
    late = FL_NEW(g->arena, FlLate);
    late->quick = make(f, false, what);
    Val zero[] = {fl_ll_null(g), fl_ll_i64(g, 0)};
    late->late = fl_ll_global(g, LLVMConstStructInContext(g->cx, zero, 2, false), "late");
    LLVMSetGlobalConstant(late->late, false);
    late->code = fl_ll_string(g, bytes, n);
    late->n_code = n;
    fl_map_set(g->made, key, late);
  }
  LLVMDisposeMemoryBuffer(code);
  return late;
}

typedef struct Forms {
  const FlPlanKernel *k;
  const char *name;
  FlKernelBody *body;
} Forms;

static Val make_form(FlFn *f, bool late, const void *what) {
  const Forms *w = what;
  return late ? kernel_function(f, w->k, (Shape){FL_KERNEL_NAME, w->body, FL_FORM_FAST, -1, false, ""})
              : kernel_function(f, w->k, (Shape){w->name, w->body, FL_FORM_FAST, 0, true, ".quick"});
}

/* 1 of each array among the results that may be here in part. */
static Val stays_constant(FlGen *g, const FlOp *op) {
  int n;
  const uint8_t *stays = fl_plan_stays(g->arena, g->plan, op, &n);
  return n ? fl_ll_string(g, (const char *)stays, (size_t)n) : fl_ll_null(g);
}

Val fl_ll_kernel_constant(FlFn *f, const FlPlanKernel *k, const char *name, Val fast, Val precise,
                          const FlLate *late) {
  FlGen *g = f->g;
  bool rounds = k->form == FL_KERNEL_ROUNDS;
  const FlPlanStep *step = fl_plan_step(g->plan, k->op);
  int places = rounds ? 0 : k->op->code != FL_OP_MAP;
  int sees = k->op->code == FL_OP_MAP ? fl_ll_see(f, k->op->n_results, k->op->results, NULL) : 0;
  Val parts[] = {fast,
                 precise,
                 fl_ll_string(g, name, strlen(name)),
                 fl_ll_site_constant(g, fl_ll_site(g, k->op->span, (FlFaultText){0})),
                 fl_ll_i32(g, k->unit),
                 fl_ll_i32(g, k->n_uses),
                 fl_ll_i32(g, k->op->n_args),
                 fl_ll_i32(g, rounds ? 0 : k->n_outputs - places),
                 fl_ll_i32(g, !rounds && fl_plan_by_rows(g->plan, step)),
                 fl_ll_rows_constant(g, k->n_uses, k->uses),
                 late ? late->late : fl_ll_null(g),
                 late ? late->code : fl_ll_null(g),
                 fl_ll_i64(g, late ? (int64_t)late->n_code : 0),
                 fl_ll_i32(g, fl_plan_state_bytes(k)),
                 fl_ll_i32(g, places),
                 fl_ll_i32(g, rounds ? FL_PARTS_NONE : (int)fl_plan_in_parts(g->plan, step)),
                 rounds ? fl_ll_null(g) : stays_constant(g, k->op),
                 fl_ll_i32(g, fl_plan_columns_size(k)),
                 fl_ll_seen(g, sees),
                 fl_ll_i32(g, k->n_uses + k->op->n_args + k->n_outputs + k->makes_texts),
                 fl_ll_i32(g, step ? (int)step->strips : 0)};
  unsigned n = sizeof parts / sizeof *parts;
  return fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, n, false), "kernel");
}

/* One that is too large for LLVM's passes, most of which take more than linear time, has one form, with
 * calls. */
static Val kernel_constant(FlFn *f, const FlPlanKernel *k, FlKernelBody *body) {
  FlGen *g = f->g;
  const char *name =
      fl_arena_printf(g->arena, "%s.%s.%d", f->func->name, fl_op_info[k->op->code].name, g->n_names++);
  bool portable = g->options.cpu == FL_CPU_PORTABLE && !g->options.cpu_name && g->options.level > 0;
  bool slow = k->weight > FL_CODE_SLOW;
  Shape one = {name, body, FL_FORM_FAST, 0, slow, slow ? ".slow" : ".fast"};
  bool may_wait = g->options.late && !slow && !names_function(k->region);
  const FlLate *late = may_wait ? fl_ll_late(f, make_form, &(Forms){k, name, body}) : NULL;
  Val fast = late                ? late->quick
             : portable && !slow ? portable_forms(f, k, name, body)
                                 : kernel_function(f, k, one);
  Val precise = k->faults ? kernel_function(f, k, (Shape){name, body, FL_FORM_PRECISE, 0, true, ".precise"})
                          : fl_ll_null(g);
  return fl_ll_kernel_constant(f, k, name, fast, precise, late);
}

Val fl_ll_kernel_run(FlFn *f, const FlPlanKernel *k, FlKernelBody *body, const Val *outputs, Val heap,
                     Val n) {
  FlGen *g = f->g;
  unsigned at = 0;
  FlType1 pointer = fl_t_array(FL_I64, 1);
  fl_ll_need_slots(f, (unsigned)(k->n_uses + k->op->n_args + k->n_outputs + 1));
  for (int i = 0; i < k->n_uses; i++) {
    const FlValue *v = k->uses[i].value;
    Val x = fl_ll_value(f, v);
    if (heap && fl_t_is_scalar(v->type) && fl_dtype_is_text((FlDtype)v->type.dtype))
      x = fl_ll_text_copy(f, heap, x);
    fl_ll_slot_put(f, f->args, at++, v->type, x);
  }
  for (int i = 0; i < k->op->n_args; i++)
    fl_ll_slot_put(f, f->args, at++, fl_t_scalar(FL_I64), fl_ll_value(f, k->op->args[i]));
  for (int i = 0; i < k->n_outputs; i++) fl_ll_slot_put(f, f->args, at++, pointer, outputs[i]);
  if (k->makes_texts) fl_ll_slot_put(f, f->args, at++, pointer, heap);
  Val kernel = kernel_constant(f, k, body);
  Ty types[] = {g->ptr, g->ptr, g->ptr, g->i64, g->f64};
  Val args[] = {f->ctx, kernel, f->args, n, fl_ll_cost(f, k->cost)};
  return fl_ll_call(f, "fl_run_kernel", g->i32, 5, types, args);
}

Val fl_ll_total(FlFn *f, const FlOp *op) {
  Val n = NULL, zero = fl_ll_i64(f->g, 0);
  for (int i = 0; i < op->n_args; i++) {
    Val size = fl_ll_value(f, op->args[i]);
    size = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, size, zero, ""), size, zero, "");
    n = n ? LLVMBuildMul(f->b, n, size, "") : size;
  }
  return n;
}
