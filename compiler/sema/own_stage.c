/* own_stage.c: a call of a stage whose only operator is work that is done elsewhere: a program of the user's,
 * a query of DuckDB.
 *
 * In: the operator and its arguments. Out: a table. What always holds: the key of the stage is the operator,
 * its attributes and the content of its arguments. */
#include "sema/call.h"
#include "sema/files/reader.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/value_text.h"

static FlFunc *make_stage(FlSema *s, const FlOwnStage *o, const FlType *table, FlSpan span) {
  FlFunc *f = fl_ir_func_make(s->module, fl_sema_unique_name(s, o->name), FL_FUNC_STAGE, span);
  f->callee = o->name;
  f->memo = s->frame->func->memo < 0 ? -1 : o->memo;
  FlBuilder b = {.module = s->module, .func = f, .region = f->body, .span = span};
  FlValue **params = FL_NEW_ARRAY(s->arena, FlValue *, o->n_args + 1);
  for (int i = 0; i < o->n_args; i++) params[i] = fl_ir_param(f->body, o->args[i]->type);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts);
  fl_type_parts(table, types);
  FlOp *op = fl_ir_op(&b, o->op, o->n_args, params, table->n_parts, types, 0);
  op->attrs = *o->attrs;
  fl_ir_yield(f->body, s->module, op->n_results, op->results);
  const FlType *untold;
  f->result_type = fl_value_text(s, table, &untold);
  return f;
}

FlVal fl_sema_own_stage(FlSema *s, const FlOwnStage *o, FlSpan span) {
  const FlType *table = fl_type_table(s->types, o->row);
  FlFunc *stage = make_stage(s, o, table, span);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts);
  fl_type_parts(table, types);
  FlOp *op = fl_ir_op(&s->b, FL_OP_STAGE, o->n_args, o->args, table->n_parts, types, 0);
  op->attrs.func = stage;
  op->span = fl_sema_place(s, span);
  fl_sema_mark_size(s, op->results[0]);
  for (int k = 1; k < table->n_parts; k++)
    fl_sema_alias(s, fl_ir_dim(&s->b, op->results[k], 0), op->results[0]);
  return fl_val_make(s, table, op->results);
}
