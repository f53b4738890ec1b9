/* fold_op.c: an op of constants becomes one. In: an op whose arguments are made. Out: the same, or a CONST
 * with its value, as the run would compute it: what fold.c knows, and dates and durations. One that would
 * fault is left for the run to report. */
#include "ir/ir_internal.h"

#include "kern/kern.h"

static bool parsed(const FlAttrs *text, const FlAttrs *format, bool day, int64_t *out) {
  int32_t fault = 0;
  *out = day ? fl_s_parse_date(text->s, text->s_len, format->s, format->s_len, &fault)
             : fl_s_parse_datetime(text->s, text->s_len, format->s, format->s_len, &fault);
  return !fault;
}

/* Dates and durations that a script spells: date("2024-01-20") - days(90). */
static bool fold_time(const FlOp *op, int64_t *out) {
  for (int i = 0; i < op->n_args; i++)
    if (!op->args[i]->op || op->args[i]->op->code != FL_OP_CONST) return false;
  if (!op->n_args) return false;
  const FlAttrs *a = &op->args[0]->op->attrs, *b = op->n_args > 1 ? &op->args[1]->op->attrs : a;
  FlOpcode code = op->code;
  int32_t fault = 0;
  if (code == FL_OP_PARSE_DATE || code == FL_OP_PARSE_DATETIME)
    return parsed(a, b, code == FL_OP_PARSE_DATE, out);
  if (code == FL_OP_DATE_OF) *out = fl_s_date_of(a->i, b->i, op->args[2]->op->attrs.i, &fault);
  else if (code == FL_OP_ADD_MONTHS) *out = fl_s_add_months((int32_t)a->i, b->i, &fault);
  else if (code == FL_OP_DATE_ADD) *out = fl_s_date_add(a->i, (int32_t)b->i, &fault);
  else if (code == FL_OP_DATETIME_ADD) *out = fl_s_datetime_add(a->i, b->i, &fault);
  else if (code == FL_OP_DATETIME_ADD_MONTHS) *out = fl_s_datetime_add_months(a->i, b->i, &fault);
  else if (code == FL_OP_DURATION_OF) *out = fl_s_duration_of(a->i, b->i, &fault);
  else if (code == FL_OP_NEG && op->results[0]->type.dtype == FL_DURATION) *out = fl_s_neg_i64(a->i, &fault);
  else return false;
  return !fault;
}

void fl_ir_fold_op(FlOp *op) {
  FlAttrs folded = {0};
  if (fl_op_info[op->code].op_class != FL_CLASS_SCALAR || op->n_results != 1) return;
  if (!fold_time(op, &folded.i) &&
      !fl_ir_fold(op->code, (FlDtype)op->results[0]->type.dtype, op->n_args, op->args, &folded))
    return;
  op->code = FL_OP_CONST;
  op->n_args = 0;
  op->attrs = folded;
}
