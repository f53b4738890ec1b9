/* derivative.h: calls of the functions that grad(f), value_and_grad(f) and jvp(f) give. */
#ifndef FL_SEMA_DERIVATIVE_H
#define FL_SEMA_DERIVATIVE_H

#include "sema/call.h"

/* The call of a closure that is derived from another, at args[0]: the derivative by it, a value of its type;
 * for value_and_grad the pair of the function's value and that; for jvp, whose direction is args[1], the pair
 * of the value and its derivative along it. Reports. */
FlVal fl_derivative_call(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span);

/* Is it a float, an array of floats, or a tuple of these? */
bool fl_derivative_by(FlSema *s, const FlType *t);
/* v, whose parts have the sizes of those of x. */
FlVal fl_derivative_sized_as(FlSema *s, FlVal v, FlVal x);

/* own_derivative.c: functions with `@derivative`. Whether such a function is called by this call; its call,
 * of which `call` elaborates the body; and what the attribute names, at the declaration: false: reported. */
typedef FlVal FlInlineCall(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span);
bool fl_derivative_is_own(FlSema *s, const FlBinding *fn);
FlVal fl_derivative_own(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                        FlInlineCall *call);
bool fl_derivative_check(FlSema *s, const FlBinding *fn);

#endif
