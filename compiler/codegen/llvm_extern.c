/* llvm_extern.c: calls of C functions, and the table by which their addresses are found.
 *
 * A call goes through the address in the function's FlExtern, which is a variable: the program's `bind` fills
 * it in when it starts, or the linker. LLVM does not see which function it is, so it cannot replace it by
 * what it knows of a function of that name. What always holds: the function gets canonical floats; a fast
 * kernel that met a fault calls nothing any more, so that no function sees values that the program never
 * computed. */
#include "codegen/llvm_internal.h"

/* ---- the table ------------------------------------------------------------------------------------- */

static bool same_function(const FlOp *a, const FlOp *b) {
  return strcmp(a->attrs.s, b->attrs.s) == 0 && fl_ir_same_library(a->attrs.library, b->attrs.library);
}

/* Zero for a library given by name. */
static Val content_of(FlGen *g, const FlOp *op) {
  FlDigest d = op->attrs.library->content;
  Val words[] = {LLVMConstInt(g->i64, d.lo, false), LLVMConstInt(g->i64, d.hi, false)};
  return LLVMConstArray2(g->i64, words, 2);
}

/* The FlExtern of the function that op calls: a variable of the module. */
static Val extern_of(FlGen *g, const FlOp *op) {
  for (int i = 0; i < g->externs.n; i++)
    if (same_function(g->externs.at[i], op)) return g->extern_at.at[i];
  Val address = fl_ll_null(g);
  if (g->options.linked_externs) address = fl_ll_extern(g, op->attrs.s, g->none, NULL, 0);
  const char *library = op->attrs.library->name, *symbol = op->attrs.s;
  Val parts[] = {fl_ll_string(g, library, strlen(library)), fl_ll_string(g, symbol, strlen(symbol)),
                 content_of(g, op), fl_ll_i32(g, fl_ll_site(g, op->span, (FlFaultText){0})), address};
  Val v = fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, 5, false), "extern");
  LLVMSetGlobalConstant(v, false);
  LLVMSetUnnamedAddress(v, LLVMNoUnnamedAddr);
  fl_vec_push(g->arena, &g->externs, op);
  fl_vec_push(g->arena, &g->extern_at, v);
  return v;
}

Val fl_ll_extern_table(FlGen *g) {
  if (g->externs.n == 0) return fl_ll_null(g);
  return fl_ll_global(g, LLVMConstArray2(g->ptr, g->extern_at.at, (uint64_t)g->externs.n), "externs");
}

/* ---- arguments ------------------------------------------------------------------------------------- */

typedef struct Arguments {
  FlVec(Val) values;
  FlVec(Ty) types;
  FlVec(FlDtype) from; /* whose extension to a register the C ABI wants; i64: none */
} Arguments;

static void add(FlFn *f, Arguments *a, FlDtype from, Val v) {
  fl_vec_push(f->g->arena, &a->values, v);
  fl_vec_push(f->g->arena, &a->types, LLVMTypeOf(v));
  fl_vec_push(f->g->arena, &a->from, from);
}

static Val canonical(FlFn *f, FlDtype d, Val v) {
  FlGen *g = f->g;
  Val nan = d == FL_F64 ? LLVMConstBitCast(fl_ll_i64(g, 0x7ff8000000000000), g->f64)
                        : LLVMConstBitCast(fl_ll_i32(g, 0x7fc00000), g->f32);
  return LLVMBuildSelect(f->b, LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, ""), nan, v, "");
}

static void add_scalar(FlFn *f, Arguments *a, FlDtype d, Val v) {
  if (fl_dtype_is_text(d)) {
    add(f, a, FL_I64, LLVMBuildExtractValue(f->b, v, 0, ""));
    add(f, a, FL_I64, LLVMBuildExtractValue(f->b, v, 1, ""));
  } else if (fl_dtype_is_float(d)) {
    add(f, a, FL_I64, canonical(f, d, v));
  } else {
    add(f, a, d, d == FL_BOOL ? LLVMBuildZExt(f->b, v, f->g->i8, "") : v);
  }
}

static void add_array(FlFn *f, Arguments *a, Val array, int rank) {
  add(f, a, FL_I64, fl_ll_array_data(f, array));
  for (int k = 0; k < rank; k++) add(f, a, FL_I64, fl_ll_array_dim(f, array, fl_ll_i64(f->g, k)));
}

/* Small integers come extended to 32 bits. index 0 is the result. */
static void extend(FlFn *f, Val call, unsigned index, FlDtype d) {
  if (fl_ll_size(d) >= 4) return;
  const char *kind = fl_ll_is_unsigned(d) ? "zeroext" : "signext";
  unsigned id = LLVMGetEnumAttributeKindForName(kind, 7);
  LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(f->g->cx, id, 0));
}

static Val call(FlFn *f, const FlOp *op, const Arguments *a, Ty result) {
  FlGen *g = f->g;
  Val at = fl_ll_at_byte(f, extern_of(g, op), (int64_t)offsetof(FlExtern, address));
  Val fn = LLVMBuildLoad2(f->b, g->ptr, at, "");
  Ty type = LLVMFunctionType(result, a->types.at, (unsigned)a->values.n, false);
  Val v = LLVMBuildCall2(f->b, type, fn, a->values.at, (unsigned)a->values.n, "");
  for (int i = 0; i < a->from.n; i++) extend(f, v, (unsigned)i + 1, a->from.at[i]);
  return v;
}

/* ---- the call -------------------------------------------------------------------------------------- */

/* A scalar result: in a fast kernel zero once a fault was met. */
static void scalar_call(FlFn *f, const FlOp *op, Arguments *a) {
  FlGen *g = f->g;
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Ty memory = fl_ll_mem_type(g, d);
  bool guarded = f->form == FL_FORM_FAST;
  Block before = NULL, doing = NULL, after = NULL;
  if (guarded) {
    before = fl_ll_here(f);
    doing = fl_ll_block(f, "extern");
    after = fl_ll_block(f, "called");
    Val mask = LLVMBuildLoad2(f->b, g->i32, f->mask, "");
    LLVMBuildCondBr(f->b, LLVMBuildICmp(f->b, LLVMIntEQ, mask, fl_ll_i32(g, 0), ""), doing, after);
    fl_ll_at(f, doing);
  }
  Val v = call(f, op, a, memory);
  extend(f, v, 0, d);
  if (d == FL_BOOL) v = LLVMBuildICmp(f->b, LLVMIntNE, v, LLVMConstInt(g->i8, 0, false), "");
  if (guarded) {
    LLVMBuildBr(f->b, after);
    fl_ll_at(f, after);
    Ty t = LLVMTypeOf(v);
    Val phi = LLVMBuildPhi(f->b, t, ""), zero = LLVMConstNull(t);
    LLVMAddIncoming(phi, &v, &doing, 1);
    LLVMAddIncoming(phi, &zero, &before, 1);
    v = phi;
  }
  fl_ll_set(f, op->results[0], v);
}

static void array_call(FlFn *f, const FlOp *op, Arguments *a, int first_size) {
  FlGen *g = f->g;
  FlType1 t = op->results[0]->type;
  Val dims = fl_ll_alloca_n(f, g->i64, FL_MAX_RANK, "dims");
  for (int k = 0; k < t.rank; k++)
    LLVMBuildStore(f->b, fl_ll_value(f, op->args[first_size + k]), fl_ll_at_byte(f, dims, (int64_t)k * 8));
  Ty types[] = {g->ptr, g->i32, g->i32, g->i32, g->ptr};
  Val args[] = {f->ctx, fl_ll_i32(g, fl_ll_site(g, op->span, (FlFaultText){0})), fl_ll_i32(g, t.dtype),
                fl_ll_i32(g, t.rank), dims};
  Val out = fl_ll_call(f, "fl_extern_result", g->ptr, 5, types, args);
  fl_ll_check_pointer(f, out);
  add_array(f, a, out, t.rank);
  (void)call(f, op, a, g->none);
  fl_ll_call(f, "fl_extern_settle", g->none, 1, &g->ptr, &out);
  fl_ll_own(f, op->results[0], out);
}

void fl_ll_extern_call(FlFn *f, const FlOp *op) {
  Arguments a = {0};
  int n = op->n_args - (int)op->attrs.i;
  for (int i = 0; i < n; i++) {
    FlType1 t = op->args[i]->type;
    Val v = fl_ll_value(f, op->args[i]);
    if (fl_t_is_scalar(t)) add_scalar(f, &a, (FlDtype)t.dtype, v);
    else add_array(f, &a, v, t.rank);
  }
  if (fl_t_is_scalar(op->results[0]->type)) scalar_call(f, op, &a);
  else array_call(f, op, &a, n);
}
