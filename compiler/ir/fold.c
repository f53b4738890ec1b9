/* fold.c: the value of an operation on constants. Only operations whose bits are certain here: integers,
 * logic, and the IEEE operations that are rounded once. One that would fault is left for the run to
 * report.
 */
#include "ir/ir_internal.h"

#include <math.h>

static bool both_const(int n, FlValue *const *args) {
  for (int i = 0; i < n; i++)
    if (!args[i]->op || args[i]->op->code != FL_OP_CONST) return false;
  return true;
}

static bool floor_div(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
  int64_t q = a / b, r = a % b;
  if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
  *quotient = q;
  *rest = r;
  return true;
}

static bool fold_signed(FlOpcode code, FlDtype dtype, int64_t a, int64_t b, int64_t *out) {
  int64_t other;
  bool ok = false;
  switch (code) {
  case FL_OP_ADD: ok = !__builtin_add_overflow(a, b, out); break;
  case FL_OP_SUB: ok = !__builtin_sub_overflow(a, b, out); break;
  case FL_OP_MUL: ok = !__builtin_mul_overflow(a, b, out); break;
  case FL_OP_FLOORDIV: ok = floor_div(a, b, out, &other); break;
  case FL_OP_MOD: ok = floor_div(a, b, &other, out); break;
  case FL_OP_NEG: ok = !__builtin_sub_overflow((int64_t)0, a, out); break;
  case FL_OP_ABS:
    *out = a;
    ok = a >= 0 || !__builtin_sub_overflow((int64_t)0, a, out);
    break;
  case FL_OP_MIN: *out = b < a ? b : a, ok = true; break;
  case FL_OP_MAX: *out = b > a ? b : a, ok = true; break;
  case FL_OP_WRAP_SUB:
    if (dtype != FL_I64) return false;
    *out = (int64_t)((uint64_t)a - (uint64_t)b), ok = true;
    break;
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_MUL:
  case FL_OP_DIV:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_SQRT:
  case FL_OPS_ORDER:
  case FL_OPS_LOGIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  return ok && fl_ir_int_fits(dtype, *out);
}

static bool fold_u64(FlOpcode code, uint64_t a, uint64_t b, uint64_t *out) {
  switch (code) {
  case FL_OP_ADD: return !__builtin_add_overflow(a, b, out);
  case FL_OP_SUB: return !__builtin_sub_overflow(a, b, out);
  case FL_OP_MUL: return !__builtin_mul_overflow(a, b, out);
  case FL_OP_FLOORDIV: return b != 0 && (*out = a / b, true);
  case FL_OP_MOD: return b != 0 && (*out = a % b, true);
  case FL_OP_MIN: return *out = b < a ? b : a, true;
  case FL_OP_MAX: return *out = b > a ? b : a, true;
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OP_DIV:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_SQRT:
  case FL_OPS_ORDER:
  case FL_OPS_LOGIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  return false;
}

#define FOLD_REAL(T, FABS, SQRT)                                                                             \
  static bool fold_##T(FlOpcode code, T a, T b, T *out) {                                                    \
    switch (code) {                                                                                          \
    case FL_OP_ADD: *out = a + b; return true;                                                               \
    case FL_OP_SUB: *out = a - b; return true;                                                               \
    case FL_OP_MUL: *out = a * b; return true;                                                               \
    case FL_OP_DIV: *out = a / b; return true;                                                               \
    case FL_OP_NEG: *out = -a; return true;                                                                  \
    case FL_OP_ABS: *out = FABS(a); return true;                                                             \
    case FL_OP_SQRT: *out = SQRT(a); return true;                                                            \
    case FL_OP_WRAP_ADD:                                                                                     \
    case FL_OP_WRAP_SUB:                                                                                     \
    case FL_OP_WRAP_MUL:                                                                                     \
    case FL_OP_FLOORDIV:                                                                                     \
    case FL_OP_MOD:                                                                                          \
    case FL_OP_POW:                                                                                          \
    case FL_OP_SIGN:                                                                                         \
    case FL_OP_FMA:                                                                                          \
    case FL_OP_MIN:                                                                                          \
    case FL_OP_MAX:                                                                                          \
    case FL_OPS_ORDER:                                                                                       \
    case FL_OPS_LOGIC:                                                                                       \
    case FL_OPS_MATHS:                                                                                       \
    case FL_OPS_RANDOM:                                                                                      \
    case FL_OPS_FUNCTIONS:                                                                                   \
    case FL_OPS_NOT_SCALAR: break;                                                                           \
    }                                                                                                        \
    return false;                                                                                            \
  }
FOLD_REAL(double, fabs, sqrt)
FOLD_REAL(float, fabsf, sqrtf)
#undef FOLD_REAL

/* -1, 0, 1: order of two constants of one type; 2: unordered (a NaN). */
static int order(FlDtype dtype, const FlAttrs *a, const FlAttrs *b) {
  if (fl_dtype_is_float(dtype)) return a->f < b->f ? -1 : a->f > b->f ? 1 : a->f == b->f ? 0 : 2;
  if (dtype == FL_U64) return (uint64_t)a->i<(uint64_t)b->i ? -1 : (uint64_t)a->i>(uint64_t) b->i;
  return a->i < b->i ? -1 : a->i > b->i;
}

static bool fold_compare(FlOpcode code, FlDtype dtype, const FlAttrs *a, const FlAttrs *b, int64_t *out) {
  if (fl_dtype_is_text(dtype)) return false;
  int o = order(dtype, a, b);
  switch (code) {
  case FL_OP_EQ: *out = o == 0; return true;
  case FL_OP_NE: *out = o != 0; return true;
  case FL_OP_LT: *out = o == -1; return true;
  case FL_OP_LE: *out = o == -1 || o == 0; return true;
  case FL_OP_GT: *out = o == 1; return true;
  case FL_OP_GE: *out = o == 1 || o == 0; return true;
  case FL_OPS_NOT_ORDER: break;
  }
  return false;
}

static bool fold_convert(FlDtype from, FlDtype to, const FlAttrs *a, FlAttrs *out) {
  bool from_int = fl_dtype_is_int(from), to_int = fl_dtype_is_int(to);
  if (from == FL_U64 && a->i < 0) return false;
  if (from_int && to_int) {
    out->i = a->i;
    return fl_ir_int_fits(to, a->i) && !(to == FL_U64 && a->i < 0);
  }
  if (from_int && fl_dtype_is_float(to)) { /* exact ones only */
    int64_t limit = to == FL_F32 ? (int64_t)1 << 24 : (int64_t)1 << 53;
    out->f = (double)a->i;
    return a->i >= -limit && a->i <= limit;
  }
  if (fl_dtype_is_float(from) && fl_dtype_is_float(to)) {
    out->f = to == FL_F32 ? (double)(float)a->f : a->f;
    return isinf(out->f) == isinf(a->f);
  }
  return false;
}

bool fl_ir_fold(FlOpcode code, FlDtype result, int n_args, FlValue *const *args, FlAttrs *out) {
  if (n_args < 1 || n_args > 3 || !both_const(n_args, args)) return false;
  const FlAttrs *a = &args[0]->op->attrs, *b = n_args > 1 ? &args[1]->op->attrs : a;
  FlDtype dtype = (FlDtype)args[0]->type.dtype;
  *out = (FlAttrs){0};
  switch (code) {
  case FL_OP_AND: out->i = a->i & b->i; return true;
  case FL_OP_OR: out->i = a->i | b->i; return true;
  case FL_OP_NOT: out->i = !a->i; return true;
  case FL_OP_SELECT: *out = args[a->i ? 1 : 2]->op->attrs; return true;
  case FL_OP_IS_NAN: out->i = a->f != a->f; return true;
  case FL_OP_CONVERT: return fold_convert(dtype, result, a, out);
  case FL_OPS_ORDER: return fold_compare(code, dtype, a, b, &out->i);
  case FL_OP_IS_FINITE:
  case FL_OPS_SUMS:
  case FL_OPS_ARITHMETIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
  if (dtype != result || n_args > 2) return false;
  if (dtype == FL_U64) {
    uint64_t v = 0;
    bool ok = fold_u64(code, (uint64_t)a->i, (uint64_t)b->i, &v);
    out->i = (int64_t)v;
    return ok;
  }
  if (fl_dtype_is_int(dtype) || dtype == FL_DURATION || fl_dtype_is_decimal(dtype))
    return fold_signed(code, dtype, a->i, b->i, &out->i);
  float narrow = 0;
  bool ok = false;
  if (dtype == FL_F64) ok = fold_double(code, a->f, b->f, &out->f);
  else if (dtype == FL_F32) ok = fold_float(code, (float)a->f, (float)b->f, &narrow), out->f = narrow;
  if (ok && out->f != out->f) out->f = __builtin_nan(""); /* there is one NaN */
  return ok;
}
