/* choose.h: conditions, and the variables that conditional or repeated code assigns. */
#ifndef FL_SEMA_CHOOSE_H
#define FL_SEMA_CHOOSE_H

#include "sema/state.h"

/* Variables (FL_BIND_VAR) of the current function. */
typedef FlVec(FlBinding *) FlVarList;
void fl_vars_add(FlSema *s, FlVarList *vars, FlBinding *b);
/* Adds those visible now that the code assigns. */
void fl_vars_of_expr(FlSema *s, FlVarList *vars, const FlExpr *e);
void fl_vars_of_stmts(FlSema *s, FlVarList *vars, FlStmt *const *stmts, int n);
/* Their current values, but for levels, which a variable keeps; returns how many. out NULL: that alone. */
int fl_vars_get(const FlVarList *vars, FlValue **out);
void fl_vars_set(FlSema *s, const FlVarList *vars, FlValue *const *parts);

/* Code that is elaborated where its value is needed. run NULL: no `else`. */
typedef struct FlThunk {
  FlVal (*run)(FlSema *s, void *env);
  void *env;
  FlSpan span;
} FlThunk;

/* The value of yes where cond holds, else of no; NONE when one has none. */
FlVal fl_sema_choose(FlSema *s, FlVal cond, FlSpan span, const FlVarList *vars, FlThunk yes, FlThunk no);

/* A place in the ops of a region, and in what is known of sizes: what is made from there on may be moved. An
 * op stands there, so that sizes of older arrays, which are put right behind them, stay before it. */
typedef struct FlLazyMark {
  FlOp *op;
  int n_aliases;
} FlLazyMark;
FlLazyMark fl_lazy_mark(FlSema *s);
bool fl_lazy_fails(FlSema *s, FlLazyMark mark); /* may something that was made since then fail? */
/* `a and b`, `a or b`, one of them an array: of b, built after `mark`, only the elements that decide are
 * evaluated.
 */
FlVal fl_sema_choose_logic(FlSema *s, FlBinaryOp op, FlVal a, FlSpan left, FlVal b, FlLazyMark mark,
                           FlSpan right);
/* x ?? e of a nullable x, likewise: of e, built after `mark`, only the elements where x is null. */
FlVal fl_sema_choose_default(FlSema *s, FlVal x, FlSpan left, FlVal e, FlLazyMark mark, FlSpan right);

#endif
