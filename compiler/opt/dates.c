/* dates.c: dates, times and durations of constants: date("1998-12-01") - days(90).
 *
 * In: an operation whose arguments are constants. Out: its value as a constant, by the function that it would
 * call in a run. What would fault there is left for the run to report. */
#include "opt/opt_internal.h"
#include "kern/kern.h"

static bool of_constants(const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (!op->args[i]->op || op->args[i]->op->code != FL_OP_CONST) return false;
  return op->n_args > 0;
}

/* Texts that say one. */
static bool parsed(const FlOp *op, const FlAttrs *text, const FlAttrs *format, int64_t *out) {
  int32_t days = 0;
  if (op->code == FL_OP_PARSE_DATETIME)
    return fl_parse_datetime_by(text->s, text->s_len, format->s, format->s_len, out);
  if (op->code != FL_OP_PARSE_DATE ||
      !fl_parse_date_by(text->s, text->s_len, format->s, format->s_len, &days))
    return false;
  *out = days;
  return true;
}

static bool computed(const FlOp *op, int64_t a, int64_t b, int64_t *out) {
  int32_t fault = 0;
  FlOpcode code = op->code;
  if (code == FL_OP_ADD_MONTHS) *out = fl_s_add_months((int32_t)a, b, &fault);
  else if (code == FL_OP_DATETIME_ADD_MONTHS) *out = fl_s_datetime_add_months(a, b, &fault);
  else if (code == FL_OP_DATE_ADD) *out = fl_s_date_add(a, (int32_t)b, &fault);
  else if (code == FL_OP_DATETIME_ADD) *out = fl_s_datetime_add(a, b, &fault);
  else if (code == FL_OP_DURATION_OF) *out = fl_s_duration_of(a, b, &fault);
  else if (code == FL_OP_NEG && op->results[0]->type.dtype == FL_DURATION) *out = fl_s_neg_i64(a, &fault);
  else return false;
  return !fault;
}

FlValue *fl_opt_said_date(FlOp *op) {
  int64_t v;
  if (!of_constants(op)) return NULL;
  const FlAttrs *a = &op->args[0]->op->attrs, *b = op->n_args > 1 ? &op->args[1]->op->attrs : a;
  if (!parsed(op, a, b, &v) && !computed(op, a->i, b->i, &v)) return NULL;
  FlBuilder at = fl_opt_before(op);
  return fl_ir_const_i(&at, (FlDtype)op->results[0]->type.dtype, v);
}
