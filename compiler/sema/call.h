/* call.h: going into the body of a function; shared by what elaborates it where it is called (call.c) and in
 * an IR function of its own (instance.c). */
#ifndef FL_SEMA_CALL_H
#define FL_SEMA_CALL_H

#include "sema/sema_internal.h"

/* Where the elaboration was before it went into a function. */
typedef struct FlCallPlace {
  FlScope *scope;
  FlFile *file;
  const char *pure;
  FlAggContext *agg;
  FlBinding *loop_break, *loop_skip;
  bool signature;
} FlCallPlace;
/* Goes into a function of that file; the caller sets s->scope. pure: what does not allow effects, "a
 * function". */
FlCallPlace fl_call_go_into(FlSema *s, FlFile *file, const char *pure);
void fl_call_come_back(FlSema *s, FlCallPlace p);

/* Binds parameters in s->scope (a fresh signature scope), sizes last. false: reported, types and sizes alike.
 */
bool fl_call_bind_params(FlSema *s, const FlStmt *decl, FlVal *values, const FlSpan *spans);
/* The value of the body, with bound parameters, as the declared result. */
FlVal fl_call_run_body(FlSema *s, const FlStmt *decl);

/* The call of a function value: a lambda, a declared function, a builtin, a derivative. */
FlVal fl_call_value(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span, const FlType *want);

/* The call of a stage or of a function that calls itself; `values`: of all parameters. (instance.c) */
FlVal fl_call_instance(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span);
/* The same of a function that does not call itself; known: of an instance for the constants of integers and
 * texts among the values. An error without a message: it has too many instances. */
FlVal fl_call_shared(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                     bool known);
/* What calls share where we are. */
FlSharing *fl_call_sharing(FlSema *s);
/* Two function values are the same function; two values of one type hold the same such constants. */
bool fl_call_same_function(const FlClosure *a, const FlClosure *b);
bool fl_call_same_constants(FlVal a, FlVal b);

/* The frame holds the body of this function; once for each. */
void fl_call_note_body(FlSema *s, FlFrame *frame, const FlStmt *decl);

/* The same of a plain function, whose body is elaborated here, by `body`, unless calls of it took too much before.
 * (budget.c) */
typedef FlVal FlCallBody(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span);
FlVal fl_call_within_budget(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                            FlCallBody *body);
/* Does the function call itself? */
bool fl_call_is_recursive(FlSema *s, const FlBinding *fn);

#endif
