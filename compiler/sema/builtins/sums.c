/* sums.c: sums of the arrays of a list, at once or begun at one step and asked for at a later one
 * (runtime/exec/sums.c): what the library's blocks and its training by batches are made of, and nobody else
 * sees.
 *
 * In: calls in the library. Out: LIST_SUM, SUM_BEGIN, SUM_END, SUM_LATE. What always holds: whoever asks for
 * a sum has begun it, and asks once; the arrays of a list are of one size. */
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

static bool is_of_floats(const FlType *t) {
  return t->kind == FL_TY_ARRAY && t->dtype == FL_F64 && !t->nullable;
}

/* What a comprehension gives of arrays of one size is the list, stacked. */
FlVal fl_builtin_list_sum(FlSema *s, FlCallSite *c) {
  if (!in_library(s, c)) return fl_val_error(s);
  FlVal like = fl_actual_value(s, &c->args[0], NULL), all = fl_actual_value(s, &c->args[1], NULL);
  if (fl_val_bad(like)) return like;
  if (fl_val_bad(all)) return all;
  const FlOp *stack = is_of_floats(all.type) ? all.parts[0]->op : NULL;
  if (!is_of_floats(like.type) || !stack || stack->code != FL_OP_LIST_STACK ||
      all.type->rank != like.type->rank + 1)
    return fl_sema_error(s, FL_E0303, c->args[1].span,
                         "an array of f64 and a comprehension of such are wanted, and this is %s",
                         fl_val_text(s, all));
  FlValue *args[2] = {like.parts[0], stack->args[0]};
  FlType1 out = args[0]->type;
  return fl_val_make(s, like.type, fl_ir_op(&s->b, FL_OP_LIST_SUM, 2, args, 1, &out, 0)->results);
}

FlVal fl_builtin_sum_begin(FlSema *s, FlCallSite *c) {
  FlValue *args[5];
  if (!in_library(s, c)) return fl_val_error(s);
  FlVal list = fl_actual_value(s, &c->args[1], NULL);
  if (fl_val_bad(list)) return list;
  if (list.type->kind != FL_TY_LIST || !is_of_floats(list.type->elem) || list.type->elem->rank != 1)
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
