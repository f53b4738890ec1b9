/* llvm_op.c: SCALAR operators. Plain arithmetic is emitted here; everything else is the C function of
 * kern/kern.h, inlined from its bitcode, or called where it is an ordinary function of the runtime.
 *
 * What always holds: the bits and the faults are those of the C functions. */
#include "codegen/llvm_internal.h"
#include "kern/bitcode.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

/* ---- the scalar functions of the runtime ----------------------------------------------------------- */

/* The bitcode module in this context, bodies read when they are wanted. */
static LLVMModuleRef kern_module(FlGen *g) {
  if (g->kern) return g->kern;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
      (const char *)fl_kern_bitcode, (size_t)fl_kern_bitcode_size, "kern", false);
  if (LLVMGetBitcodeModuleInContext2(g->cx, buffer, &g->kern)) {
    fl_ll_fail(g, "the bitcode of the scalar functions does not read");
    g->kern = LLVMModuleCreateWithNameInContext("none", g->cx);
  }
  return g->kern;
}

void fl_ll_kern_read(FlGen *g) { (void)kern_module(g); }

void fl_ll_kern_link(FlGen *g) {
  if (!g->kern) return;
  LLVMModuleRef kern = g->kern;
  g->kern = NULL;
  LLVMSetTarget(kern, LLVMGetTarget(g->mod));
  LLVMSetModuleDataLayout(kern, g->layout);
  /* Its definitions are linkonce: only what something refers to is linked. */
  if (LLVMLinkModules2(g->mod, kern)) {
    fl_ll_fail(g, "the scalar functions do not link");
    return;
  }
  for (Val fn = LLVMGetFirstFunction(g->mod); fn; fn = LLVMGetNextFunction(fn)) {
    if (!LLVMIsDeclaration(fn) && LLVMGetLinkage(fn) == LLVMLinkOnceODRLinkage)
      LLVMSetLinkage(fn, LLVMInternalLinkage);
  }
}

/* Is the function's meaning in the bitcode, with these parameter types? Else it is an ordinary function. */
static bool in_kern(FlGen *g, const char *name) {
  Val fn = LLVMGetNamedFunction(kern_module(g), name);
  return fn && !LLVMIsDeclaration(fn);
}

static Ty c_type(FlGen *g, FlType1 t) { return fl_ll_mem_type(g, (FlDtype)t.dtype); }

static Val to_c(FlFn *f, FlType1 t, Val v) {
  return t.dtype == FL_BOOL ? LLVMBuildZExt(f->b, v, f->g->i8, "") : v;
}

static Val from_c(FlFn *f, FlType1 t, Val v) {
  return t.dtype == FL_BOOL ? LLVMBuildICmp(f->b, LLVMIntNE, v, LLVMConstInt(f->g->i8, 0, false), "") : v;
}

/* The C ABI wants small integers extended by the caller. */
static void extend_attr(FlFn *f, Val call, unsigned index, FlType1 t) {
  if (!fl_t_is_scalar(t) || fl_ll_size((FlDtype)t.dtype) >= 4) return;
  const char *kind = fl_ll_is_unsigned((FlDtype)t.dtype) ? "zeroext" : "signext";
  unsigned id = LLVMGetEnumAttributeKindForName(kind, 7);
  LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(f->g->cx, id, 0));
}

/* Operators that may need very long before they fail by LIMIT. They do nothing when their faults say LIMIT
 * already: in a fast kernel the mask of the elements before, in a precise one what this operator has said
 * before, of which the first is all that counts. */
static bool has_limit(const FlOp *op) { return fl_op_info[op->code].flags & FL_OPF_LIMIT; }

void fl_ll_kern_call(FlFn *f, const FlOp *op, const char *name, unsigned n, const FlType1 *types,
                     const Val *args, unsigned n_out, const FlType1 *out_types, Val *out) {
  FlGen *g = f->g;
  int flags = fl_op_info[op->code].flags;
  Ty t[24];
  Val a[24], extra[4] = {0};
  FlType1 source[24] = {{0}};
  unsigned k = 0;
  if (flags & FL_OPF_HEAP) t[k] = g->ptr, source[k] = fl_t_scalar(FL_I64), a[k++] = fl_ll_text_place(f, op);
  for (unsigned i = 0; i < n; i++) {
    if (fl_dtype_is_text((FlDtype)types[i].dtype)) {
      source[k] = source[k + 1] = fl_t_scalar(FL_I64);
      t[k] = g->ptr, a[k++] = LLVMBuildExtractValue(f->b, args[i], 0, "");
      t[k] = g->i64, a[k++] = LLVMBuildExtractValue(f->b, args[i], 1, "");
    } else {
      source[k] = types[i];
      t[k] = c_type(g, types[i]), a[k++] = to_c(f, types[i], args[i]);
    }
  }
  if (op->code == FL_OP_TO_TEXT) {
    const char *s = op->attrs.s ? op->attrs.s : "";
    source[k] = fl_t_scalar(FL_I64);
    t[k] = g->ptr, a[k++] = fl_ll_string(g, s, strlen(s));
  }
  for (unsigned i = 1; i < n_out; i++) {
    extra[i] = fl_ll_alloca(f, c_type(g, out_types[i]), "more");
    source[k] = fl_t_scalar(FL_I64);
    t[k] = g->ptr, a[k++] = extra[i];
  }
  bool fault = (flags & FL_OPF_FAULT) != 0;
  if (fault) source[k] = fl_t_scalar(FL_I64), t[k] = g->ptr, a[k++] = f->mask;
  /* A function that is not inlined would make the mask's address escape: give it a place of its own. */
  bool inlined = in_kern(g, name) && !f->quick;
  bool own_mask = fault && f->form == FL_FORM_FAST && !inlined;
  if (own_mask) {
    a[k - 1] = fl_ll_alloca(f, g->i32, "fault");
    LLVMBuildStore(f->b, LLVMBuildLoad2(f->b, g->i32, f->mask, ""), a[k - 1]);
  }
  Val spent = f->form == FL_FORM_PRECISE && has_limit(op) ? fl_ll_alloca(f, g->i32, "spent") : NULL;
  if (spent) LLVMBuildStore(f->entry_b, fl_ll_i32(g, 0), spent);
  if (fault && f->form != FL_FORM_FAST) {
    Val before = spent ? LLVMBuildLoad2(f->b, g->i32, spent, "") : fl_ll_i32(g, 0);
    LLVMBuildStore(f->b, before, f->mask);
  }
  Val call = fl_ll_call(f, name, c_type(g, out_types[0]), k, t, a);
  for (unsigned i = 0; i < k; i++) extend_attr(f, call, i + 1, source[i]);
  extend_attr(f, call, 0, out_types[0]);
  if (f->quick) {
    unsigned id = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(g->cx, id, 0));
  }
  out[0] = from_c(f, out_types[0], call);
  for (unsigned i = 1; i < n_out; i++)
    out[i] = from_c(f, out_types[i], LLVMBuildLoad2(f->b, c_type(g, out_types[i]), extra[i], ""));
  if (!fault) return;
  if (own_mask) {
    Val bits = LLVMBuildOr(f->b, LLVMBuildLoad2(f->b, g->i32, f->mask, ""),
                           LLVMBuildLoad2(f->b, g->i32, a[k - 1], ""), "");
    LLVMBuildStore(f->b, bits, f->mask);
  } else if (f->form != FL_FORM_FAST) {
    Val bits = LLVMBuildLoad2(f->b, g->i32, f->mask, "");
    if (spent) LLVMBuildStore(f->b, LLVMBuildAnd(f->b, bits, fl_ll_i32(g, FL_FAULT_LIMIT), ""), spent);
    Val bad = LLVMBuildICmp(f->b, LLVMIntNE, bits, fl_ll_i32(g, 0), "");
    fl_ll_fault(f, op, bad, bits, (FlDtype)types[0].dtype, args[0],
                fl_ir_says_second(op, 0) ? args[1] : NULL);
  }
}

/* Functions of decimals are the integers' but where they print (make_scalar_calls.c). */
static const char *name_of(FlFn *f, const FlOp *op, FlDtype d) {
  if (!fl_dtype_is_decimal(d)) return fl_dtype_info[d].name;
  return op->code == FL_OP_TO_TEXT ? fl_arena_printf(f->g->arena, "decimal%d", fl_decimal_scale(d)) : "i64";
}

static void call_by_name(FlFn *f, const FlOp *op) {
  const FlOpInfo *info = &fl_op_info[op->code];
  FlType1 types[8], out_types[4];
  Val args[8], out[4] = {0};
  const char *letter = NULL;
  for (int i = 0; i < op->n_args && i < 8; i++) {
    types[i] = op->args[i]->type;
    args[i] = fl_ll_value(f, op->args[i]);
  }
  for (int i = 0; i < op->n_results && i < 4; i++) out_types[i] = op->results[i]->type;
  /* The dtype in the name is that of the first T, N, F or I of the signature. */
  for (int i = 0; i < op->n_args && info->signature[i] && info->signature[i] != ':'; i++) {
    if (!letter && strchr("TNFI", info->signature[i])) letter = name_of(f, op, op->args[i]->type.dtype);
  }
  const char *name;
  if (op->code == FL_OP_CONVERT) {
    name = fl_arena_printf(f->g->arena, "fl_s_convert_%s_%s", letter, fl_dtype_info[out_types[0].dtype].name);
  } else if (letter) {
    name = fl_arena_printf(f->g->arena, "fl_s_%s_%s", info->name, letter);
  } else {
    name = fl_arena_printf(f->g->arena, "fl_s_%s", info->name);
  }
  fl_ll_kern_call(f, op, name, (unsigned)op->n_args, types, args, (unsigned)op->n_results, out_types, out);
  for (int i = 0; i < op->n_results; i++) fl_ll_set(f, op->results[i], out[i]);
}

/* ---- plain arithmetic ------------------------------------------------------------------------------ */

static Val overflow_code(FlFn *f) { return fl_ll_i32(f->g, FL_FAULT_OVERFLOW); }

/* a + b or a - b on integers; the test is that of `add` and `sub` in kern/scalar_arith.h. */
static Val add_sub(FlFn *f, const FlOp *op, FlDtype d, Val a, Val b) {
  bool add = op->code == FL_OP_ADD;
  Val r = add ? LLVMBuildAdd(f->b, a, b, "") : LLVMBuildSub(f->b, a, b, ""), bad;
  if (fl_ll_is_unsigned(d)) {
    bad = add ? LLVMBuildICmp(f->b, LLVMIntULT, r, a, "") : LLVMBuildICmp(f->b, LLVMIntULT, a, b, "");
  } else {
    Val x = LLVMBuildXor(f->b, a, add ? r : b, ""), y = LLVMBuildXor(f->b, add ? b : a, r, "");
    bad = LLVMBuildICmp(f->b, LLVMIntSLT, LLVMBuildAnd(f->b, x, y, ""), LLVMConstNull(LLVMTypeOf(a)), "");
  }
  fl_ll_fault(f, op, bad, overflow_code(f), d, a, b);
  return r;
}

/* i64 times a positive constant: in range by two comparisons. NULL: not of that form. */
static Val mul_const(FlFn *f, const FlOp *op, Val a, Val b) {
  FlGen *g = f->g;
  int64_t c;
  Val x = a;
  if (!fl_ir_const_value_i(op->args[1], &c)) {
    x = b;
    if (!fl_ir_const_value_i(op->args[0], &c)) return NULL;
  }
  if (c <= 0) return NULL;
  /* x in [lo, lo + width] as one unsigned comparison. */
  int64_t lo = INT64_MIN / c, hi = INT64_MAX / c;
  uint64_t width = (uint64_t)hi - (uint64_t)lo;
  Val off = LLVMBuildSub(f->b, x, fl_ll_i64(g, lo), "");
  Val bad = LLVMBuildICmp(f->b, LLVMIntUGT, off, LLVMConstInt(g->i64, width, false), "");
  fl_ll_fault(f, op, bad, overflow_code(f), FL_I64, a, b);
  return LLVMBuildMul(f->b, a, b, "");
}

static Val compare(FlFn *f, FlOpcode code, FlDtype d, Val a, Val b) {
  static const LLVMIntPredicate sign[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                          LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  static const LLVMIntPredicate unsign[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                            LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  int k = code == FL_OP_EQ   ? 0
          : code == FL_OP_NE ? 1
          : code == FL_OP_LT ? 2
          : code == FL_OP_LE ? 3
          : code == FL_OP_GT ? 4
                             : 5;
  if (fl_dtype_is_float(d)) return LLVMBuildFCmp(f->b, real[k], a, b, "");
  return LLVMBuildICmp(f->b, fl_ll_is_unsigned(d) ? unsign[k] : sign[k], a, b, "");
}

Val fl_ll_less(FlFn *f, FlDtype d, Val a, Val b) { return compare(f, FL_OP_LT, d, a, b); }

/* Conversions that cannot fault. NULL: not one of them. */
static Val widen(FlFn *f, FlDtype from, FlDtype to, Val a, Ty t) {
  if (from == to || fl_dtype_is_decimal(from) || fl_dtype_is_decimal(to)) return a; /* units of i64 */
  bool time = from == FL_DATE || from == FL_DATETIME || to == FL_DATE || to == FL_DATETIME;
  if (fl_dtype_is_text(from) || fl_dtype_is_text(to) || time || to == FL_BOOL) return NULL;
  if (from == FL_F32 && to == FL_F64) return LLVMBuildFPExt(f->b, a, t, "");
  if (fl_dtype_is_float(from)) return NULL;
  bool u = fl_ll_is_unsigned(from);
  if (fl_dtype_is_float(to)) return u ? LLVMBuildUIToFP(f->b, a, t, "") : LLVMBuildSIToFP(f->b, a, t, "");
  if (fl_ll_size(to) <= fl_ll_size(from) && from != FL_BOOL) return NULL;
  if (!u && fl_ll_is_unsigned(to)) return NULL;
  return u ? LLVMBuildZExt(f->b, a, t, "") : LLVMBuildSExt(f->b, a, t, "");
}

/* The value of an operator that is emitted here, or NULL. */
static Val plain(FlFn *f, const FlOp *op, FlDtype d, Val a, Val b, Val c) {
  FlGen *g = f->g;
  Ty t = fl_ll_type(g, op->results[0]->type);
  bool is_float = fl_dtype_is_float(d), text = fl_dtype_is_text(d);
  switch (op->code) {
  case FL_OP_ADD: return is_float ? LLVMBuildFAdd(f->b, a, b, "") : add_sub(f, op, d, a, b);
  case FL_OP_SUB: return is_float ? LLVMBuildFSub(f->b, a, b, "") : add_sub(f, op, d, a, b);
  case FL_OP_MUL:
    if (is_float) return LLVMBuildFMul(f->b, a, b, "");
    return d == FL_I64 ? mul_const(f, op, a, b) : NULL;
  case FL_OP_DIV: return LLVMBuildFDiv(f->b, a, b, "");
  case FL_OP_NEG: return is_float ? LLVMBuildFNeg(f->b, a, "") : NULL;
  case FL_OP_ABS: return is_float ? fl_ll_intrinsic(f, "llvm.fabs", t, 1, &a) : NULL;
  case FL_OP_SQRT: return fl_ll_intrinsic(f, "llvm.sqrt", t, 1, &a);
  case FL_OP_FMA: return fl_ll_intrinsic(f, "llvm.fma", t, 3, (Val[]){a, b, c});
  case FL_OP_WRAP_ADD: return LLVMBuildAdd(f->b, a, b, "");
  case FL_OP_WRAP_SUB: return LLVMBuildSub(f->b, a, b, "");
  case FL_OP_WRAP_MUL: return LLVMBuildMul(f->b, a, b, "");
  case FL_OPS_ORDER: return text ? NULL : compare(f, op->code, d, a, b);
  case FL_OP_AND: return LLVMBuildAnd(f->b, a, b, "");
  case FL_OP_OR: return LLVMBuildOr(f->b, a, b, "");
  case FL_OP_NOT: return LLVMBuildNot(f->b, a, "");
  case FL_OP_SELECT: return LLVMBuildSelect(f->b, a, b, c, "");
  case FL_OP_IS_NAN: return LLVMBuildFCmp(f->b, LLVMRealUNO, a, a, "");
  case FL_OP_CONVERT: return widen(f, d, (FlDtype)op->results[0]->type.dtype, a, t);
  case FL_OP_FLOORDIV:
  case FL_OP_MOD:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_MIN:
  case FL_OP_MAX:
  case FL_OP_IS_FINITE:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  return NULL;
}

void fl_ll_scalar(FlFn *f, const FlOp *op) {
  Val a[3] = {0};
  for (int i = 0; i < op->n_args && i < 3; i++) a[i] = fl_ll_value(f, op->args[i]);
  FlDtype d = op->n_args ? (FlDtype)op->args[0]->type.dtype : FL_I64;
  Val v = op->n_results == 1 ? plain(f, op, d, a[0], a[1], a[2]) : NULL;
  if (!v && op->code == FL_OP_RANDOM) v = fl_ll_tiles_random(f, op);
  if (v) fl_ll_set(f, op->results[0], v);
  else call_by_name(f, op);
}
