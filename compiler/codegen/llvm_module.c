/* llvm_module.c: from a verified module of the IR to one of LLVM, and the small vocabulary that the other
 * files of the back end are written in. */
#include "codegen/llvm_internal.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- types ----------------------------------------------------------------------------------------- */

static void make_types(FlGen *g) {
  LLVMContextRef c = g->cx;
  g->i1 = LLVMInt1TypeInContext(c);
  g->i8 = LLVMInt8TypeInContext(c);
  g->i16 = LLVMInt16TypeInContext(c);
  g->i32 = LLVMInt32TypeInContext(c);
  g->i64 = LLVMInt64TypeInContext(c);
  g->i128 = LLVMInt128TypeInContext(c);
  g->f32 = LLVMFloatTypeInContext(c);
  g->f64 = LLVMDoubleTypeInContext(c);
  g->ptr = LLVMPointerTypeInContext(c, 0);
  g->none = LLVMVoidTypeInContext(c);
  g->text = LLVMStructTypeInContext(c, (Ty[]){g->ptr, g->i64}, 2, false);
  g->slot = LLVMArrayType2(g->i64, 2);
  g->host_fn = LLVMFunctionType(g->i32, (Ty[]){g->ptr, g->ptr, g->ptr}, 3, false);
  g->kernel_fn = LLVMFunctionType(g->i32, (Ty[]){g->ptr, g->ptr, g->i64, g->i64}, 4, false);
  g->type1 = LLVMArrayType2(g->i8, 4);
  Ty desc[] = {g->i32, g->i32, g->i32, g->i32, g->ptr, g->ptr, g->i64, g->f64, g->ptr, g->ptr, g->i32};
  g->op_desc = LLVMStructTypeInContext(c, desc, 11, false);
  g->steps = LLVMStructTypeInContext(c, (Ty[]){g->ptr, g->ptr, g->ptr, g->ptr}, 4, false);
}

Ty fl_ll_mem_type(FlGen *g, FlDtype d) {
  int bytes = fl_dtype_info[d].bytes;
  if (fl_dtype_is_text(d)) return g->text;
  if (fl_dtype_info[d].kind == FL_KIND_REF) return g->ptr;
  if (fl_dtype_is_float(d)) return bytes == 4 ? g->f32 : g->f64;
  return bytes == 1 ? g->i8 : bytes == 2 ? g->i16 : bytes == 4 ? g->i32 : g->i64;
}

Ty fl_ll_type(FlGen *g, FlType1 t) {
  if (!fl_t_is_scalar(t)) return g->ptr;
  return t.dtype == FL_BOOL ? g->i1 : fl_ll_mem_type(g, (FlDtype)t.dtype);
}

unsigned fl_ll_size(FlDtype d) { return (unsigned)fl_dtype_info[d].bytes; }
bool fl_ll_is_unsigned(FlDtype d) {
  return fl_dtype_info[d].kind == FL_KIND_UNSIGNED || fl_dtype_info[d].kind == FL_KIND_BOOL;
}

/* ---- constants and globals ------------------------------------------------------------------------- */

Val fl_ll_i64(FlGen *g, int64_t v) { return LLVMConstInt(g->i64, (unsigned long long)v, true); }
Val fl_ll_i32(FlGen *g, int64_t v) { return LLVMConstInt(g->i32, (unsigned long long)v, true); }
Val fl_ll_null(FlGen *g) { return LLVMConstNull(g->ptr); }

Val fl_ll_global(FlGen *g, Val init, const char *name) {
  Val v = LLVMAddGlobal(g->mod, LLVMTypeOf(init), name);
  LLVMSetInitializer(v, init);
  LLVMSetLinkage(v, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(v, true);
  LLVMSetUnnamedAddress(v, LLVMGlobalUnnamedAddr);
  return v;
}

void fl_ll_make_zeros(FlGen *g) {
  g->zeros = fl_ll_global(g, LLVMConstNull(LLVMArrayType2(g->i8, FL_ALIGN)), "zeros");
  LLVMSetAlignment(g->zeros, FL_ALIGN);
}

const char *fl_ll_key(FlGen *g, char kind, const void *bytes, size_t len) {
  FlText1 text = {0};
  fl_text_addc(&text, kind);
  fl_text_add(&text, bytes, len);
  const char *key = fl_intern(g->keys, text.s, text.len);
  fl_text_reset(&text);
  return key;
}

Val fl_ll_string(FlGen *g, const char *s, size_t len) {
  const char *key = fl_ll_key(g, 's', s, len);
  Val v = fl_map_get(g->made, key);
  if (!v) v = fl_ll_global(g, LLVMConstStringInContext(g->cx, s, (unsigned)len, false), "text");
  fl_map_set(g->made, key, v);
  return v;
}

/* ---- functions and calls --------------------------------------------------------------------------- */

Val fl_ll_extern(FlGen *g, const char *name, Ty result, const Ty *params, unsigned n) {
  Val fn = LLVMGetNamedFunction(g->mod, name);
  if (!fn) fn = LLVMAddFunction(g->mod, name, LLVMFunctionType(result, (Ty *)params, n, false));
  return fn;
}

Val fl_ll_call(FlFn *f, const char *name, Ty result, unsigned n, const Ty *types, const Val *args) {
  Val fn = fl_ll_extern(f->g, name, result, types, n);
  Ty t = LLVMFunctionType(result, (Ty *)types, n, false);
  return LLVMBuildCall2(f->b, t, fn, (Val *)args, n, "");
}

Val fl_ll_intrinsic(FlFn *f, const char *name, Ty overload, unsigned n, Val *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  Val fn = LLVMGetIntrinsicDeclaration(f->g->mod, id, &overload, 1);
  Ty t = LLVMIntrinsicGetType(f->g->cx, id, &overload, 1);
  return LLVMBuildCall2(f->b, t, fn, args, n, "");
}

Val fl_ll_alloca_n(FlFn *f, Ty t, unsigned n, const char *name) {
  Val v = LLVMBuildAlloca(f->entry_b, LLVMArrayType2(t, n), name);
  LLVMSetAlignment(v, n > 1 ? FL_ALIGN : 16);
  return v;
}

Val fl_ll_alloca(FlFn *f, Ty t, const char *name) { return LLVMBuildAlloca(f->entry_b, t, name); }
Block fl_ll_block(FlFn *f, const char *name) { return LLVMAppendBasicBlockInContext(f->g->cx, f->fn, name); }
void fl_ll_at(FlFn *f, Block b) { LLVMPositionBuilderAtEnd(f->b, b); }
Block fl_ll_here(FlFn *f) { return LLVMGetInsertBlock(f->b); }

Val fl_ll_gep(FlFn *f, Ty t, Val base, Val index) {
  return LLVMBuildInBoundsGEP2(f->b, t, base, &index, 1, "");
}

Val fl_ll_at_byte(FlFn *f, Val base, int64_t offset) {
  return offset ? fl_ll_gep(f, f->g->i8, base, fl_ll_i64(f->g, offset)) : base;
}

void fl_ll_attr(FlGen *g, Val fn, const char *key, const char *value) {
  LLVMAttributeRef a;
  if (value) {
    a = LLVMCreateStringAttribute(g->cx, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
  } else {
    a = LLVMCreateEnumAttribute(g->cx, LLVMGetEnumAttributeKindForName(key, strlen(key)), 0);
  }
  LLVMAddAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex, a);
}

FlFn *fl_ll_fn_make(FlGen *g, const FlFunc *func, Val fn, FlForm form) {
  FlFn *f = FL_NEW(g->arena, FlFn);
  f->g = g;
  f->func = func;
  f->fn = fn;
  f->form = form;
  f->ctx = LLVMGetParam(fn, 0);
  unsigned optnone = LLVMGetEnumAttributeKindForName("optnone", 7);
  f->plain = f->quick =
      LLVMGetEnumAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex, optnone) != NULL;
  f->held = fl_map_make(g->arena);
  /* Allocas go to `entry`, code to `start`: the branch between them is made last. */
  Block entry = fl_ll_block(f, "entry"), start = fl_ll_block(f, "start");
  f->b = LLVMCreateBuilderInContext(g->cx);
  f->entry_b = LLVMCreateBuilderInContext(g->cx);
  LLVMPositionBuilderAtEnd(f->entry_b, entry);
  fl_ll_at(f, start);
  f->mask = fl_ll_alloca(f, g->i32, "mask");
  LLVMBuildStore(f->entry_b, fl_ll_i32(g, 0), f->mask);
  return f;
}

void fl_ll_fn_done(FlFn *f) {
  Block start = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(f->fn));
  LLVMBuildBr(f->entry_b, start);
  LLVMDisposeBuilder(f->b);
  LLVMDisposeBuilder(f->entry_b);
}

void fl_ll_fail(FlGen *g, const char *fmt, ...) {
  if (g->error) return;
  va_list ap;
  va_start(ap, fmt);
  char text[512];
  (void)vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  g->error = fl_arena_strndup(g->arena, text, strlen(text));
}

/* ---- the entry ------------------------------------------------------------------------------------- */

static void declare_function(FlGen *g, const FlFunc *func) {
  const char *name = fl_arena_printf(g->arena, "flow.%s", func->name);
  Val fn = LLVMAddFunction(g->mod, name, g->host_fn);
  bool whole = !g->options.units && !g->options.tables;
  if (whole) LLVMSetLinkage(fn, LLVMInternalLinkage);
  else LLVMSetVisibility(fn, LLVMHiddenVisibility);
  /* Functions that are equal now may differ after an edit, and who calls them is not made again then: LLVM
   * merges none of different attributes. */
  if (g->options.units) fl_ll_attr(g, fn, "flow-function", func->name);
  fl_map_set(g->functions, func, fn);
}

/* Names and numbers begin anew: they are those that the unit has wherever it is made. */
static void make_unit(FlGen *g, FlCodeUnit *unit) {
  g->unit = unit;
  g->first_site = NULL;
  g->sites.n = g->n_names = 0;
  for (int i = 0; i < unit->n_funcs; i++) fl_ll_host_function(g, unit->funcs[i]);
  fl_ll_seen_end(g);
  for (int i = 0; i < g->sites.n; i++) {
    const FlLlSite *s = &g->sites.at[i];
    fl_code_site_put(&unit->sites, &(FlCodeSite){s->span, s->said, s->callee});
  }
}

void fl_ll_generate(FlGen *g) {
  g->mod = LLVMModuleCreateWithNameInContext(g->ir->name ? g->ir->name : "flow", g->cx);
  make_types(g);
  if (!fl_ll_target_init(g)) return;
  g->functions = fl_map_make(g->arena);
  g->stage_index = fl_map_make(g->arena);
  g->keys = fl_interner_make(g->arena);
  g->made = fl_map_make(g->arena);
  g->site_numbers = fl_map_make(g->arena);
  g->lists = fl_map_make(g->arena);
  fl_ll_make_zeros(g);
  for (const FlFunc *func = g->ir->first; func; func = func->next) declare_function(g, func);
  for (int i = 0; i < g->options.n_units; i++) make_unit(g, g->options.units[i]);
  if (g->options.units) return;
  for (const FlFunc *func = g->ir->first; func && !g->options.tables; func = func->next)
    fl_ll_host_function(g, func);
  fl_ll_seen_end(g);
  fl_ll_program(g);
}
