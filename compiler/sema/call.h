/* call.h: going into the body of a function; shared by what elaborates it where it is called (call.c) and in
 * an IR function of its own (instance.c). */
#ifndef FL_SEMA_CALL_H
#define FL_SEMA_CALL_H

#include "sema/state.h"

/* An argument as a call brings it: written, or already a value (the left side of a pipe). */
typedef struct FlActual {
  FlName name;        /* text NULL: positional */
  const FlExpr *expr; /* or NULL: `value` is given */
  FlVal value;
  FlSpan span;
  const char *column;    /* made by `each`: for this column; else NULL */
  const char *taker;     /* the builtin that it is for, or NULL */
  bool groups;           /* may it be a grouped table? */
  struct FlActual *only; /* null, and not evaluated, where this condition is not true; or NULL */
} FlActual;
FlVal fl_actual_value(FlSema *s, FlActual *a, const FlType *want); /* elaborates once */

FlVal fl_sema_call(FlSema *s, const FlExpr *call, const FlVal *piped, FlSpan piped_span, const FlType *want);
FlVal fl_sema_call_binding(FlSema *s, FlBinding *fn, int n, FlActual *args, FlSpan span);
/* The name, or name.2, name.3 ... when the module has a function of that name. */
const char *fl_sema_unique_name(FlSema *s, const char *name);
/* What the module has so far. Taken back: functions that were made since, their instances and names are gone.
 */
typedef struct FlSemaMark {
  FlFunc *last;
  int n_instances, n_named;
} FlSemaMark;
FlSemaMark fl_sema_mark(const FlSema *s);
void fl_sema_take_back(FlSema *s, FlSemaMark mark);
/* The call of a C function whose parameters are bound in s->scope (extern.c). */
FlVal fl_sema_extern(FlSema *s, const FlBinding *fn);
bool fl_sema_extern_check(FlSema *s, const FlBinding *fn); /* its declaration; false: reported */
/* The function that stands before the brackets of a call: a column or value of that name does not hide it. */
FlVal fl_sema_callee(FlSema *s, const FlExpr *f);
FlVal fl_call_unknown(FlSema *s, FlName name, FlSpan span); /* reports that no function has this name */
/* Calls a function value with finished values (sort keys, optimisers' objectives, user aggregates ...). */
FlVal fl_sema_apply(FlSema *s, FlClosure *fn, int n, const FlVal *args, FlSpan span);

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

FlVal fl_call_no_type(FlSema *s, FlSpan parameter); /* reports it of a stage */
/* The body with such arguments, of which those that are errors are open: they may be anything. */
void fl_call_check(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans);
/* Reports that a function has no parameter of this name: the nearest of the n that it has, or all of them. */
FlDiag *fl_sema_no_param(FlSema *s, const char *of, FlName name, int n, const char *const *known);
/* Do these arguments fit the parameters, by number and name? bound[k]: the one of parameter k, or NULL.
 * false: reported. */
bool fl_call_match(FlSema *s, const FlStmt *decl, int n, FlActual *args, FlActual **bound, FlSpan span);

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

/* The same of a plain function, whose body is elaborated here, by `body`, unless calls of it took too much
 * before. (budget.c) */
typedef FlVal FlCallBody(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span);
FlVal fl_call_within_budget(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                            FlCallBody *body);
/* Does the function call itself? */
bool fl_call_is_recursive(FlSema *s, const FlBinding *fn);

#endif
