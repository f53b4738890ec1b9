/* llvm_scalar.c: constants, elements in memory, slots of calls, and faults.
 *
 * What always holds: a bool is i1 in registers and i8 in memory; a float that is computed is made canonical
 * where it is stored into an array (kern/kern.h), nowhere else. */
#include "codegen/llvm_internal.h"

/* ---- values ---------------------------------------------------------------------------------------- */

Val fl_ll_const(FlGen *g, const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Ty t = fl_ll_type(g, op->results[0]->type);
  if (fl_dtype_is_float(d)) return LLVMConstReal(t, op->attrs.f);
  if (fl_dtype_is_text(d)) {
    const char *s = op->attrs.s ? op->attrs.s : "";
    size_t len = op->attrs.s_len ? (size_t)op->attrs.s_len : strlen(s);
    Val parts[] = {len ? fl_ll_string(g, s, len) : fl_ll_null(g), fl_ll_i64(g, (int64_t)len)};
    return LLVMConstStructInContext(g->cx, parts, 2, false);
  }
  return LLVMConstInt(t, (unsigned long long)op->attrs.i, true);
}

FlHeld *fl_ll_held(FlFn *f, const FlValue *v) {
  FlHeld *h = fl_map_get(f->held, v);
  if (!h) fl_map_set(f->held, v, h = FL_NEW(f->g->arena, FlHeld));
  return h;
}

Val fl_ll_value(FlFn *f, const FlValue *v) {
  FlHeld *h = fl_ll_held(f, v);
  if (!h->val && h->placed) return fl_ll_at_place(f, v);
  if (!h->val && v->op && v->op->code == FL_OP_CONST) h->val = fl_ll_const(f->g, v->op);
  if (!h->val) {
    fl_ll_fail(f->g, "value %%%u of %s has no code", v->id, f->func->name);
    h->val = LLVMGetPoison(fl_ll_type(f->g, v->type));
  }
  return h->val;
}

void fl_ll_set(FlFn *f, const FlValue *v, Val x) { fl_ll_held(f, v)->val = x; }

/* ---- elements -------------------------------------------------------------------------------------- */

/* What is loaded from an array has one NaN; what is in a slot or a variable may have any. */
static unsigned element_mark(FlGen *g) { return LLVMGetMDKindIDInContext(g->cx, "flow.element", 12); }

Val fl_ll_load_elem(FlFn *f, FlDtype d, Val at) {
  FlGen *g = f->g;
  Val v = LLVMBuildLoad2(f->b, fl_ll_mem_type(g, d), at, "");
  LLVMSetAlignment(v, fl_ll_size(d) == 16 ? 8 : fl_ll_size(d));
  if (fl_dtype_is_float(d))
    LLVMSetMetadata(v, element_mark(g), LLVMMetadataAsValue(g->cx, LLVMMDNodeInContext2(g->cx, NULL, 0)));
  if (f->in_scopes) {
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(g->cx, "alias.scope", 11), f->in_scopes);
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(g->cx, "noalias", 7), f->out_scopes);
  }
  return d == FL_BOOL ? LLVMBuildICmp(f->b, LLVMIntNE, v, LLVMConstInt(g->i8, 0, false), "") : v;
}

static bool may_be_any_nan(FlGen *g, FlDtype d, Val v) {
  if (!fl_dtype_is_float(d) || LLVMIsConstant(v)) return false;
  LLVMOpcode from = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMCall;
  if (from == LLVMLoad) return !LLVMGetMetadata(v, element_mark(g));
  return from != LLVMSIToFP && from != LLVMUIToFP;
}

static Val the_nan(FlGen *g, FlDtype d) {
  return d == FL_F64 ? LLVMConstBitCast(fl_ll_i64(g, 0x7ff8000000000000), g->f64)
                     : LLVMConstBitCast(fl_ll_i32(g, 0x7fc00000), g->f32);
}

static void put(FlFn *f, FlDtype d, Val v, Val at) {
  FlGen *g = f->g;
  Val store = LLVMBuildStore(f->b, v, at);
  LLVMSetAlignment(store, fl_ll_size(d) == 16 ? 8 : fl_ll_size(d));
  if (f->store_scope) {
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->cx, "alias.scope", 11), f->store_scope);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->cx, "noalias", 7), f->store_apart);
  }
}

void fl_ll_store_elem(FlFn *f, FlDtype d, Val v, Val at) {
  if (d == FL_BOOL) v = LLVMBuildZExt(f->b, v, f->g->i8, "");
  if (may_be_any_nan(f->g, d, v)) {
    Val is_nan = LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, "");
    v = LLVMBuildSelect(f->b, is_nan, the_nan(f->g, d), v, "");
  }
  put(f, d, v, at);
}

/* ---- slots ----------------------------------------------------------------------------------------- */

Val fl_ll_slot_at(FlFn *f, Val base, unsigned index) {
  return fl_ll_at_byte(f, base, (int64_t)index * (int64_t)sizeof(FlSlot));
}

void fl_ll_slot_put(FlFn *f, Val base, unsigned index, FlType1 t, Val v) {
  Val at = fl_ll_slot_at(f, base, index);
  FlDtype d = (FlDtype)t.dtype;
  if (fl_t_is_scalar(t) && !fl_dtype_is_float(d) && !fl_dtype_is_text(d) && d != FL_LIST) {
    v = fl_ll_is_unsigned(d) ? LLVMBuildZExt(f->b, v, f->g->i64, "") : LLVMBuildSExt(f->b, v, f->g->i64, "");
  }
  LLVMSetAlignment(LLVMBuildStore(f->b, v, at), d == FL_F32 && fl_t_is_scalar(t) ? 4 : 8);
}

Val fl_ll_slot_get(FlFn *f, Val base, unsigned index, FlType1 t) {
  FlGen *g = f->g;
  Val at = fl_ll_slot_at(f, base, index);
  Ty want = fl_ll_type(g, t);
  if (LLVMGetTypeKind(want) != LLVMIntegerTypeKind) return LLVMBuildLoad2(f->b, want, at, "");
  Val v = LLVMBuildLoad2(f->b, g->i64, at, "");
  if (want == g->i1) return LLVMBuildICmp(f->b, LLVMIntNE, v, fl_ll_i64(g, 0), "");
  return want == g->i64 ? v : LLVMBuildTrunc(f->b, v, want, "");
}

/* The two words of a slot that holds v. */
static void slot_words(FlFn *f, FlDtype d, Val v, Val out[2]) {
  FlGen *g = f->g;
  out[0] = out[1] = fl_ll_i64(g, 0);
  if (!v) return;
  if (fl_dtype_is_text(d)) {
    out[0] = LLVMBuildPtrToInt(f->b, LLVMBuildExtractValue(f->b, v, 0, ""), g->i64, "");
    out[1] = LLVMBuildExtractValue(f->b, v, 1, "");
  } else if (d == FL_F64) {
    out[0] = LLVMBuildBitCast(f->b, v, g->i64, "");
  } else if (d == FL_F32) {
    out[0] = LLVMBuildZExt(f->b, LLVMBuildBitCast(f->b, v, g->i32, ""), g->i64, "");
  } else {
    out[0] = fl_ll_is_unsigned(d) ? LLVMBuildZExt(f->b, v, g->i64, "") : LLVMBuildSExt(f->b, v, g->i64, "");
  }
}

/* ---- faults ---------------------------------------------------------------------------------------- */

static void set_byval(FlFn *f, Val call, unsigned index) {
  static const char kind[] = "byval";
  unsigned id = LLVMGetEnumAttributeKindForName(kind, sizeof kind - 1);
  LLVMAddCallSiteAttribute(call, index + 1, LLVMCreateTypeAttribute(f->g->cx, id, f->g->slot));
  LLVMSetInstrParamAlignment(call, index + 1, 8);
}

/* A slot in memory, for an argument that the C ABI passes on the stack. */
static Val slot_in_memory(FlFn *f, const Val words[2]) {
  Val at = fl_ll_alloca(f, f->g->slot, "operand");
  LLVMBuildStore(f->b, words[0], at);
  LLVMBuildStore(f->b, words[1], fl_ll_at_byte(f, at, 8));
  return at;
}

/* int32_t fl_fail(ctx, fault, site, type, a in two registers, b in memory) */
static Val call_fail(FlFn *f, Val fault, int site, FlDtype d, const Val a[2], const Val b[2]) {
  FlGen *g = f->g;
  Ty types[] = {g->ptr, g->i32, g->i32, g->i32, g->i64, g->i64, g->ptr};
  Val args[] = {f->ctx, fault, fl_ll_site_number(f, site), fl_ll_i32(g, d), a[0], a[1], slot_in_memory(f, b)};
  Val call = fl_ll_call(f, "fl_fail", g->i32, 7, types, args);
  set_byval(f, call, 6);
  return call;
}

/* void fl_kernel_fault(ctx, fault, site, rank, pos, index, n_index, type, a and b in memory) */
static void call_kernel_fault(FlFn *f, Val fault, int site, FlDtype d, const Val a[2], const Val b[2]) {
  FlGen *g = f->g;
  Ty types[] = {g->ptr, g->i32, g->i32, g->i32, g->i64, g->ptr, g->i32, g->i32, g->ptr, g->ptr};
  Val args[] = {f->ctx,
                fault,
                fl_ll_site_number(f, site),
                fl_ll_i32(g, f->rank),
                f->pos,
                f->index,
                fl_ll_i32(g, f->n_index),
                fl_ll_i32(g, d),
                slot_in_memory(f, a),
                slot_in_memory(f, b)};
  Val call = fl_ll_call(f, "fl_kernel_fault", g->none, 10, types, args);
  set_byval(f, call, 8);
  set_byval(f, call, 9);
}

static void unlikely(FlFn *f, Val branch) {
  FlGen *g = f->g;
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->cx, "branch_weights", 14),
                             LLVMValueAsMetadata(fl_ll_i32(g, 1)),
                             LLVMValueAsMetadata(fl_ll_i32(g, 1 << 20))};
  Val node = LLVMMetadataAsValue(g->cx, LLVMMDNodeInContext2(g->cx, parts, 3));
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->cx, "prof", 4), node);
}

void fl_ll_store_scalar(FlFn *f, FlDtype d, Val v, Val at) {
  if (!may_be_any_nan(f->g, d, v)) {
    fl_ll_store_elem(f, d, v, at);
    return;
  }
  put(f, d, v, at);
  Block nan = fl_ll_block(f, "nan"), on = fl_ll_block(f, "stored");
  unlikely(f, LLVMBuildCondBr(f->b, LLVMBuildFCmp(f->b, LLVMRealUNO, v, v, ""), nan, on));
  fl_ll_at(f, nan);
  put(f, d, the_nan(f->g, d), at);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

void fl_ll_fault(FlFn *f, const FlOp *op, Val bad, Val fault, FlDtype d, Val a, Val b) {
  fl_ll_fault_at(f, op, op->span, bad, fault, d, a, b);
}

void fl_ll_fault_at(FlFn *f, const FlOp *op, FlSpan place, Val bad, Val fault, FlDtype d, Val a, Val b) {
  FlGen *g = f->g;
  if (f->form == FL_FORM_FAST) {
    Val old = LLVMBuildLoad2(f->b, g->i32, f->mask, "");
    Val bits = LLVMBuildSelect(f->b, bad, fault, fl_ll_i32(g, 0), "");
    LLVMBuildStore(f->b, LLVMBuildOr(f->b, old, bits, ""), f->mask);
    return;
  }
  Block yes = fl_ll_block(f, "fault"), no = fl_ll_block(f, "fine");
  unlikely(f, LLVMBuildCondBr(f->b, bad, yes, no));
  fl_ll_at(f, yes);
  Val wa[2], wb[2];
  slot_words(f, d, a, wa);
  slot_words(f, d, b, wb);
  int site = fl_ll_site(g, place, fl_ir_fault_text(g->arena, op));
  if (f->form == FL_FORM_HOST) {
    fl_ll_settle(f);
    fl_ll_set_told(f, call_fail(f, fault, site, d, wa, wb));
    LLVMBuildBr(f->b, f->cleanup);
  } else {
    call_kernel_fault(f, fault, site, d, wa, wb);
    LLVMBuildBr(f->b, f->next);
    f->rank += !f->by_position;
  }
  fl_ll_at(f, no);
}
