/* extern.c: calls of C functions by libffi: the same functions, arguments and results as in compiled code.
 *
 * Prepared once an operation (types, the function's FlExtern); the address is there when main runs, as for
 * compiled programs: FlProgram.bind. */
#include "interp/interp_internal.h"

#include "exec/exec.h"

#include "kern/kern.h"

#include <ffi.h>
#include <stdlib.h>

struct ExternCall {
  FlExtern *function;
  ffi_cif cif;
  int n_words; /* arguments of the C function */
  bool callable;
};

static ffi_type *type_of(FlDtype d) {
  switch (d) {
  case FL_BOOL:
  case FL_U8: return &ffi_type_uint8;
  case FL_I8: return &ffi_type_sint8;
  case FL_I16: return &ffi_type_sint16;
  case FL_U16: return &ffi_type_uint16;
  case FL_I32:
  case FL_DATE: return &ffi_type_sint32;
  case FL_U32: return &ffi_type_uint32;
  case FL_I64:
  case FL_DATETIME:
  case FL_DURATION:
  case FL_ANY_DECIMAL: return &ffi_type_sint64;
  case FL_U64: return &ffi_type_uint64;
  case FL_F32: return &ffi_type_float;
  case FL_F64: return &ffi_type_double;
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
  return &ffi_type_pointer;
}

/* ---- preparing --------------------------------------------------------------------------------------- */

static FlExtern *function_of(FlInterp *in, const FlOp *op, int32_t site) {
  const FlLibraryAttr *library = op->attrs.library;
  for (int i = 0; i < in->externs.n; i++) {
    FlExtern *e = in->externs.at[i];
    if (strcmp(e->symbol, op->attrs.s) == 0 && strcmp(e->library, library->name) == 0) return e;
  }
  FlExtern *e = FL_NEW(in->arena, FlExtern);
  *e = (FlExtern){.library = library->name, .symbol = op->attrs.s, .content = library->content, .site = site};
  fl_vec_push(in->arena, &in->externs, e);
  return e;
}

static int words_of(FlType1 t) { return is_array(t) ? 1 + t.rank : t.dtype == FL_TEXT ? 2 : 1; }

ExternCall *prepare_extern(FlInterp *in, const FlOp *op, int32_t site) {
  ExternCall *c = FL_NEW(in->arena, ExternCall);
  int n = op->n_args - (int)op->attrs.i;
  FlType1 result = op->results[0]->type;
  c->function = function_of(in, op, site);
  c->n_words = is_array(result) ? words_of(result) : 0;
  for (int i = 0; i < n; i++) c->n_words += words_of(op->args[i]->type);
  ffi_type **types = FL_NEW_ARRAY(in->arena, ffi_type *, c->n_words + 1);
  int at = 0;
  for (int i = 0; i <= n; i++) {
    FlType1 t = i < n ? op->args[i]->type : result;
    if (i == n && !is_array(t)) break;
    types[at++] = is_array(t) ? &ffi_type_pointer : type_of((FlDtype)t.dtype);
    for (int k = 1; k < words_of(t); k++) types[at++] = &ffi_type_sint64;
  }
  ffi_type *back = is_array(result) ? &ffi_type_void : type_of((FlDtype)result.dtype);
  c->callable = ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, (unsigned)c->n_words, back, types) == FFI_OK;
  return c;
}

/* ---- calling ----------------------------------------------------------------------------------------- */

/* One argument of a C function, in the first bytes. */
typedef union Word {
  int64_t i;
  double f;
  float f32;
  const void *p;
} Word;

/* Little endian: the low bytes of `i` are every smaller integer. */
static int put_words(Word *to, FlType1 t, FlSlot v) {
  if (is_array(t)) {
    to[0].p = v.a->data;
    for (int k = 0; k < t.rank; k++) to[1 + k].i = v.a->dims[k];
  } else if (t.dtype == FL_TEXT) {
    to[0].p = v.t.ptr;
    to[1].i = v.t.len;
  } else if (t.dtype == FL_F64) {
    to[0].f = fl_s_canon_f64(v.f);
  } else if (t.dtype == FL_F32) {
    to[0].f32 = fl_s_canon_f32(v.f32);
  } else {
    to[0].i = v.i;
  }
  return words_of(t);
}

/* libffi widens integer results to a whole register. */
static FlSlot slot_of(FlDtype d, Word w) {
  if (d == FL_BOOL) return (FlSlot){.i = (uint8_t)w.i != 0};
  return fl_array_slot(&(FlArray){.dtype = d, .data = &w}, 0);
}

static FlStatus call(Frame *f, ExternCall *c, Word *words, Word *result) {
  void **at = calloc((size_t)c->n_words + 1, sizeof *at);
  if (at == NULL) return no_memory(f);
  for (int i = 0; i < c->n_words; i++) at[i] = &words[i];
  ffi_call(&c->cif, (void (*)(void))(uintptr_t)c->function->address, result, at);
  free(at);
  return 0;
}

FlStatus run_extern(Frame *f, const FlOp *op) {
  if (whole_arguments(f, op) != 0) return 1;
  ExternCall *c = note_of(f, op)->extern_call;
  FlType1 t = op->results[0]->type;
  int n = op->n_args - (int)op->attrs.i, at = 0;
  Word *words = calloc((size_t)c->n_words + 1, sizeof *words), result = {0};
  FlSlot out = {0};
  if (words == NULL) return no_memory(f);
  for (int i = 0; i < n; i++) at += put_words(words + at, op->args[i]->type, value_of(f, op->args[i]));
  if (is_array(t)) {
    int64_t dims[FL_MAX_RANK] = {0};
    for (int k = 0; k < t.rank; k++) dims[k] = value_of(f, op->args[n + k]).i;
    out.a = fl_extern_result(f->ctx, note_of(f, op)->site, t.dtype, t.rank, dims);
    if (out.a != NULL) put_words(words + at, t, out);
  }
  FlStatus s = is_array(t) && out.a == NULL;
  if (s == 0 && !c->callable)
    s = fl_fail_text(f->ctx, note_of(f, op)->site, FL_CODE_INTERNAL,
                     "bug in flow: libffi refuses the types of %s", op->attrs.s);
  if (s == 0) s = call(f, c, words, &result);
  if (s == 0 && is_array(t)) fl_extern_settle(out.a);
  if (s == 0) define(f, op->results[0], is_array(t) ? out : slot_of((FlDtype)t.dtype, result));
  else if (is_array(t)) fl_array_unref(out.a);
  free(words);
  return s;
}
