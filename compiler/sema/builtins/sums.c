/* sums.c: sums of vectors that are begun at one step and asked for at a later one (runtime/exec/sums.c): what
 * the library's training by batches is made of, and nobody else sees.
 *
 * In: calls in the library. Out: SUM_BEGIN, SUM_END, SUM_LATE. What always holds: whoever asks for a sum has
 * begun it, and asks once. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"

static bool in_library(FlSema *s, FlCallSite *c) {
  if (fl_sema_is_library(s, c->span)) return true;
  fl_sema_error(s, FL_E0201, c->span, "`%s` is of the library alone", c->builtin->name);
  return false;
}

FlVal fl_builtin_sum_begin(FlSema *s, FlCallSite *c) {
  FlValue *args[5];
  if (!in_library(s, c)) return fl_val_error(s);
  FlVal list = fl_actual_value(s, &c->args[1], NULL);
  if (fl_val_bad(list)) return list;
  if (list.type->kind != FL_TY_LIST || list.type->elem->kind != FL_TY_ARRAY || list.type->elem->rank != 1 ||
      list.type->elem->dtype != FL_F64 || list.type->elem->nullable)
    return fl_sema_error(s, FL_E0303, c->args[1].span, "a list of f64[_] is wanted, and this is %s",
                         fl_val_text(s, list));
  args[1] = list.parts[0];
  for (int i = 0; i < 4; i++)
    if (i != 1 && !fl_actual_i64(s, &c->args[i], &args[i])) return fl_val_error(s);
  const FlType *floats = fl_type_array(s->types, FL_F64, false, 1);
  FlVal weights =
      fl_val_coerce(s, fl_actual_value(s, &c->args[4], floats), floats, c->args[4].span, "the weights");
  if (fl_val_bad(weights)) return weights;
  args[4] = weights.parts[0];
  FlType1 out = fl_t_scalar(FL_I64);
  return fl_val_scalar(s, FL_I64, fl_ir_op(&s->b, FL_OP_SUM_BEGIN, 5, args, 1, &out, 0)->results[0]);
}

FlVal fl_builtin_sum_end(FlSema *s, FlCallSite *c) {
  FlValue *args[2];
  if (!in_library(s, c)) return fl_val_error(s);
  if (!fl_actual_i64(s, &c->args[0], &args[0]) || !fl_actual_i64(s, &c->args[1], &args[1]))
    return fl_val_error(s);
  FlType1 out = fl_t_array(FL_F64, 1);
  return fl_val_array(s, FL_F64, 1, fl_ir_op(&s->b, FL_OP_SUM_END, 2, args, 1, &out, 0)->results[0]);
}

FlVal fl_builtin_sum_late(FlSema *s, FlCallSite *c) {
  FlValue *n;
  if (!in_library(s, c)) return fl_val_error(s);
  if (!fl_actual_i64(s, &c->args[0], &n)) return fl_val_error(s);
  FlType1 out = fl_t_scalar(FL_I64);
  return fl_val_scalar(s, FL_I64, fl_ir_op(&s->b, FL_OP_SUM_LATE, 1, &n, 1, &out, 0)->results[0]);
}
