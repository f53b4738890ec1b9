/* scalar_args.h: the arguments of builtins that work element by element (builtin_scalar.c), for those files
 * that hold the handlers of one subject: dates, texts. */
#ifndef FL_SCALAR_ARGS_H
#define FL_SCALAR_ARGS_H

#include "sema/builtins/builtin.h"
#include "sema/call.h"

/* A scalar or an array. */
static inline bool fl_val_is_plain(FlVal v) {
  return v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY;
}
/* Reports that the builtin takes something else than v; `takes` says what. */
FlVal fl_scalar_arg_wrong(FlSema *s, FlCallSite *c, FlActual *a, FlVal v, const char *takes);
/* v, of any number type or of d itself, as d; nulls and sizes kept. */
FlVal fl_scalar_as(FlSema *s, FlVal v, FlDtype d, FlSpan span);
/* Argument k, a scalar or array of d (any number where d is one). false: reported. */
bool fl_scalar_arg(FlSema *s, FlCallSite *c, int k, FlDtype d, FlVal *out);

#endif
