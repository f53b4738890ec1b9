/* lift.h: elementwise application. */
#ifndef FL_SEMA_LIFT_H
#define FL_SEMA_LIFT_H

#include "sema/choose.h"

/* Applies f to the elements of `args` (broadcast by LANGUAGE 4), or once when all are scalars. f gets scalar
 * values and returns a scalar (or a tuple of scalars: the result is a table). Null handling is f's own. */
typedef FlVal FlElementFn(FlSema *s, void *env, FlVal *args, int n, FlSpan span);
FlVal fl_sema_lift(FlSema *s, FlSpan span, int n, FlVal *args, FlElementFn *f, void *env);
/* Applies a SCALAR op whose arguments are already of the types it takes; null for null; under a null the op
 * is not evaluated when it can fault. */
FlVal fl_sema_scalar_op(FlSema *s, FlOpcode code, FlVal *args, int n, const FlType *result,
                        const FlAttrs *attrs);
/* `a and b`, `a or b` where b was built after `mark`: where b may fail it is evaluated only where it decides.
 */
FlVal fl_sema_logic_of(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlLazyMark mark, FlSpan span, FlSpan left,
                       FlSpan right);
/* The sizes of a result of this rank, args[widest] having all its dimensions; equal sizes are checked.
 * `stretch`: its dimensions that were made by `new` in all arguments. false: reported. */
bool fl_sema_common_sizes(FlSema *s, FlSpan span, int n, const FlVal *args, int rank, int widest,
                          FlValue **sizes, unsigned *stretch);
/* The element of an argument at a position of that result; of a dimension that only stretches, the one there
 * is. */
FlVal fl_sema_element_at(FlSema *s, FlVal v, int rank, unsigned stretch, FlValue *const *position);
/* fl_sema_lift of fl_sema_scalar_op. */
FlVal fl_sema_lift_op(FlSema *s, FlSpan span, FlOpcode code, int n, FlVal *args, FlDtype result,
                      const FlAttrs *attrs);

#endif
