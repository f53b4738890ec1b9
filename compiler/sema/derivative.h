/* derivative.h: calls of the functions that grad(f), value_and_grad(f) and jvp(f) give. */
#ifndef FL_SEMA_DERIVATIVE_H
#define FL_SEMA_DERIVATIVE_H

#include "sema/call.h"

/* The call of a closure that is derived from another, at args[0]: the derivative by it, a value of its type; for
 * value_and_grad the pair of the function's value and that; for jvp, whose direction is args[1], the pair of the
 * value and its derivative along it. Reports. */
FlVal fl_derivative_call(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span);

#endif
