/* type_expr.h: types as they are written. */
#ifndef FL_SEMA_TYPE_EXPR_H
#define FL_SEMA_TYPE_EXPR_H

#include "sema/state.h"

/* The type, sizes ignored. NULL: depends on the value (untyped, `_`), or open row. Errors are reported ->
 * ERROR type. */
const FlType *fl_type_of_expr(FlSema *s, const FlTypeExpr *t);
/* Converts v to the written type and binds its size names in s->scope (or checks those that are bound). */
FlVal fl_bind_type(FlSema *s, const FlTypeExpr *t, FlVal v, FlSpan span, const char *what);

/* The type of a TYPE binding; what is wrong with it is reported, once. */
const FlType *fl_type_declared(FlSema *s, FlBinding *b);

/* v has the written type and its producer has checked its sizes: names that are bound are its sizes. */
void fl_sema_trust_sizes(FlSema *s, const FlTypeExpr *t, FlVal v);

#endif
