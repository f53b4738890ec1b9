/* range.c: lo..hi by step, as what `for` and subscripts go over.
 *
 * In: a RANGE node. Out: where it begins and how many values it has, both i64. What always holds: the count
 * is a size, 0 for a range that ends before it begins. */
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"

static bool range_bound(FlSema *s, const FlExpr *e, FlValue **out) {
  FlVal v = fl_sema_expr(s, e, NULL);
  if (fl_val_bad(v)) return false;
  if (v.type->kind != FL_TY_SCALAR || !fl_dtype_is_int(v.type->dtype) || v.type->nullable) {
    fl_sema_error(s, FL_E0314, e->span, "a range goes over whole numbers, and this is %s", fl_val_text(s, v));
    return false;
  }
  v = fl_val_coerce(s, v, fl_type_scalar(s->types, FL_I64, false), e->span, "the bound of a range");
  *out = fl_val_bad(v) ? NULL : v.parts[0];
  return *out != NULL;
}

bool fl_sema_range(FlSema *s, const FlExpr *e, FlRangeVal *out) {
  FlValue *hi;
  if (!range_bound(s, e->range.lo, &out->lo) || !range_bound(s, e->range.hi, &hi)) return false;
  out->step = 1;
  if (e->range.step) {
    FlVal v = fl_sema_expr(s, e->range.step, NULL);
    if (!fl_val_const_i(v, &out->step) || out->step <= 0) {
      fl_sema_error(s, FL_E0314, e->range.step->span,
                    "the step of a range must be a whole number above 0 that is known when compiling");
      return false;
    }
  }
  int64_t lo;
  FlValue *zero = fl_sema_i64(s, 0);
  FlValue *width = fl_ir_const_value_i(out->lo, &lo) && lo == 0 ? hi : fl_sema_op2(s, FL_OP_SUB, hi, out->lo);
  if (out->step != 1) {
    FlValue *up = fl_sema_op2(s, FL_OP_ADD, width, fl_sema_i64(s, out->step - 1));
    width = fl_sema_op2(s, FL_OP_FLOORDIV, up, fl_sema_i64(s, out->step));
  }
  int64_t c;
  if (fl_ir_const_value_i(width, &c)) out->count = fl_sema_i64(s, c < 0 ? 0 : c);
  else if (fl_sema_is_size(s, width)) out->count = width;
  else out->count = fl_sema_op2(s, FL_OP_MAX, width, zero);
  out->count = fl_sema_size(s, out->count);
  return true;
}

FlValue *fl_sema_range_at(FlSema *s, const FlRangeVal *r, FlValue *i) {
  int64_t lo;
  if (r->step != 1) i = fl_sema_op2(s, FL_OP_WRAP_MUL, i, fl_sema_i64(s, r->step));
  if (fl_ir_const_value_i(r->lo, &lo) && lo == 0) return i;
  return fl_sema_op2(s, FL_OP_WRAP_ADD, r->lo, i);
}
