/* say.c: what an operation says when it fails at run time. */
#include "ir/ir_internal.h"

/* The operator between or before its operands; NULL: not written with one. */
static const char *const signs[FL_N_OPS] = {
    [FL_OP_ADD] = "{a} + {b}",       [FL_OP_SUB] = "{a} - {b}", [FL_OP_MUL] = "{a} * {b}",
    [FL_OP_FLOORDIV] = "{a} // {b}", [FL_OP_POW] = "{a} ^ {b}", [FL_OP_NEG] = "-({a})",
    [FL_OP_ABS] = "abs({a})"};

/* What a text should be; NULL: the operator does not read one. */
static const char *const parsed_as[FL_N_OPS] = {
    [FL_OP_PARSE_F64] = "a number",      [FL_OP_PARSE_NUMBER] = "a number",
    [FL_OP_PARSE_I64] = "an integer",    [FL_OP_PARSE_DATETIME] = "a time",
    [FL_OP_PARSE_DECIMAL] = "a decimal", [FL_OP_PARSE_DATE] = "a date of the form {b}"};

/* Of an operation that gives a decimal; text NULL: it says what others say. */
static FlFaultText decimal_text(FlArena *arena, const FlOp *op, const char *type) {
  const char *sign = signs[op->code];
  if (op->code == FL_OP_PARSE_DECIMAL)
    return (FlFaultText){fl_arena_printf(arena, "the text {a} does not read as %s", type), FL_FAULT_PARSE};
  if (op->code == FL_OP_DECIMAL_OF_REAL)
    return (FlFaultText){fl_arena_printf(arena, "the value {a} does not fit %s", type), FL_FAULT_NARROW};
  bool whole = fl_decimal_scale(op->results[0]->type.dtype) == 0; /* also on the way to an integer */
  if (op->code == FL_OP_DECIMAL_SCALE) /* it may be too large, or have digits more */
    return (FlFaultText){
        fl_arena_printf(arena, "the value {a} does not fit %s", whole ? "a whole number of 18 digits" : type),
        FL_FAULT_NARROW | FL_FAULT_OVERFLOW};
  if (op->code == FL_OP_DECIMAL_MUL)
    return (FlFaultText){
        fl_arena_printf(arena, "decimal overflow: {a} times its factor does not fit %s", type),
        FL_FAULT_OVERFLOW};
  if (!sign || op->code == FL_OP_FLOORDIV) return (FlFaultText){NULL, 0};
  return (FlFaultText){fl_arena_printf(arena, "decimal overflow: %s does not fit %s", sign, type),
                       FL_FAULT_OVERFLOW};
}

static bool is_whole(FlDtype d) { return fl_dtype_info[d].kind == FL_KIND_TIME || fl_dtype_is_signed(d); }

bool fl_ir_says_second(const FlOp *op, int first) {
  if (op->n_args <= first + 1) return false;
  FlDtype a = (FlDtype)op->args[first]->type.dtype, b = (FlDtype)op->args[first + 1]->type.dtype;
  return a == b || (is_whole(a) && is_whole(b));
}

FlFaultText fl_ir_fault_text(FlArena *arena, const FlOp *op) {
  if (op->code == FL_OP_CHECK || op->code == FL_OP_FAIL)
    return (FlFaultText){op->attrs.s && *op->attrs.s ? op->attrs.s : NULL, -1};
  const char *type = op->n_results ? fl_dtype_info[op->results[0]->type.dtype].name : "";
  const char *sign = signs[op->code], *parsed = parsed_as[op->code];
  if (op->code == FL_OP_REDUCE)
    return (FlFaultText){"integer overflow: the result does not fit", FL_FAULT_OVERFLOW};
  if (fl_dtype_is_decimal(op->n_results ? op->results[0]->type.dtype : FL_BOOL)) {
    FlFaultText said = decimal_text(arena, op, type);
    if (said.text) return said;
  }
  if (sign)
    return (FlFaultText){fl_arena_printf(arena, "integer overflow: %s does not fit %s", sign, type),
                         FL_FAULT_OVERFLOW};
  if (op->code == FL_OP_CONVERT)
    return (FlFaultText){fl_arena_printf(arena, "the value {a} does not fit %s", type), FL_FAULT_NARROW};
  if (op->code == FL_OP_DATE_ADD)
    return (FlFaultText){"{a} is not a whole number of days, and a date has no hours", FL_FAULT_DOMAIN};
  if (op->code == FL_OP_DATETIME_ADD)
    return (FlFaultText){"integer overflow: {a} plus {b:duration} does not fit datetime", FL_FAULT_OVERFLOW};
  if (op->code == FL_OP_ADD_MONTHS || op->code == FL_OP_DATETIME_ADD_MONTHS)
    return (FlFaultText){
        fl_arena_printf(arena, "integer overflow: {a} plus {b:i64} months does not fit %s", type),
        FL_FAULT_OVERFLOW};
  if (op->code == FL_OP_EXTRACT) return (FlFaultText){"the pattern {b} has no such group", FL_FAULT_DOMAIN};
  if (op->code == FL_OP_REPLACE_REGEX)
    return (FlFaultText){
        "the replacement names a group that the pattern {b} does not have, or writes $ alone",
        FL_FAULT_DOMAIN};
  if (op->code == FL_OP_REPEAT_TEXT) return (FlFaultText){"{a} cannot be repeated so often", FL_FAULT_DOMAIN};
  if (op->code == FL_OP_RANDOM_INT)
    return (FlFaultText){"the range from {b} on is empty: its end is not above it", FL_FAULT_DOMAIN};
  if (op->code == FL_OP_DATE_OF)
    return (FlFaultText){"the calendar has no such day, in month {b} of {a}", FL_FAULT_DOMAIN};
  if (op->code == FL_OP_TIME_OF)
    return (FlFaultText){"a day has no such time, at hour {a} and minute {b}", FL_FAULT_DOMAIN};
  if (parsed)
    return (FlFaultText){fl_arena_printf(arena, "the text {a} does not read as %s", parsed), FL_FAULT_PARSE};
  return (FlFaultText){NULL, 0};
}
