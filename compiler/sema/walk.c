/* walk.c: visits every node of a tree. The callbacks say whether to go into a node's children. */
#include "sema/walk.h"

static void walk_subs(const FlWalker *w, const FlSubscriptList *subs) {
  for (int i = 0; i < subs->n; i++) {
    const FlSubscript *sub = &subs->at[i];
    if (sub->value) fl_walk_expr(w, sub->value);
    if (sub->lo) fl_walk_expr(w, sub->lo);
    if (sub->hi) fl_walk_expr(w, sub->hi);
    if (sub->step) fl_walk_expr(w, sub->step);
  }
}

static void walk_args(const FlWalker *w, const FlArgList *args) {
  for (int i = 0; i < args->n; i++) fl_walk_expr(w, args->at[i].value);
}

static void walk_comprehension(const FlWalker *w, const FlComprehension *c) {
  for (int i = 0; i < c->clauses.n; i++) fl_walk_expr(w, c->clauses.at[i].source);
  fl_walk_expr(w, c->body);
}

void fl_walk_expr(const FlWalker *w, const FlExpr *e) {
  if (w->expr && !w->expr(w->env, e)) return;
  switch (e->kind) {
  case FL_EXPR_ERROR:
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_NAME:
  case FL_EXPR_COL:
  case FL_EXPR_OUTER:
  case FL_EXPR_TYPE: return;
  case FL_EXPR_TEXT:
    for (int i = 0; i < e->text.parts.n; i++)
      if (e->text.parts.at[i].value) fl_walk_expr(w, e->text.parts.at[i].value);
    return;
  case FL_EXPR_TUPLE:
    for (int i = 0; i < e->tuple.n; i++) fl_walk_expr(w, e->tuple.at[i].value);
    return;
  case FL_EXPR_ARRAY:
    for (int i = 0; i < e->array.n; i++) fl_walk_expr(w, e->array.at[i]);
    return;
  case FL_EXPR_COMPREHENSION: walk_comprehension(w, &e->comprehension); return;
  case FL_EXPR_REDUCE:
    fl_walk_expr(w, e->reduce.func);
    walk_comprehension(w, &e->reduce.comprehension);
    walk_args(w, &e->reduce.rest);
    return;
  case FL_EXPR_BLOCK: fl_walk_stmts(w, &e->block); return;
  case FL_EXPR_IF:
    fl_walk_expr(w, e->if_else.condition);
    fl_walk_expr(w, e->if_else.then);
    if (e->if_else.otherwise) fl_walk_expr(w, e->if_else.otherwise);
    return;
  case FL_EXPR_MATCH:
    fl_walk_expr(w, e->match.subject);
    for (int i = 0; i < e->match.arms.n; i++) {
      if (e->match.arms.at[i].guard) fl_walk_expr(w, e->match.arms.at[i].guard);
      fl_walk_expr(w, e->match.arms.at[i].body);
    }
    return;
  case FL_EXPR_LAMBDA: fl_walk_expr(w, e->lambda.body); return;
  case FL_EXPR_CALL:
    fl_walk_expr(w, e->call.func);
    walk_args(w, &e->call.args);
    return;
  case FL_EXPR_PIPE:
    fl_walk_expr(w, e->pipe.value);
    fl_walk_expr(w, e->pipe.call);
    return;
  case FL_EXPR_INDEX:
    fl_walk_expr(w, e->index.base);
    walk_subs(w, &e->index.subs);
    return;
  case FL_EXPR_FIELD: fl_walk_expr(w, e->field.base); return;
  case FL_EXPR_TRANSPOSE: fl_walk_expr(w, e->operand); return;
  case FL_EXPR_UNARY: fl_walk_expr(w, e->unary.operand); return;
  case FL_EXPR_BINARY:
    fl_walk_expr(w, e->binary.left);
    fl_walk_expr(w, e->binary.right);
    return;
  case FL_EXPR_RANGE:
    fl_walk_expr(w, e->range.lo);
    fl_walk_expr(w, e->range.hi);
    if (e->range.step) fl_walk_expr(w, e->range.step);
    return;
  }
}

void fl_walk_stmt(const FlWalker *w, const FlStmt *st) {
  if (w->stmt && !w->stmt(w->env, st)) return;
  switch (st->kind) {
  case FL_STMT_ERROR:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_TYPE:
  case FL_STMT_IMPORT: return;
  case FL_STMT_LET:
  case FL_STMT_VAR: fl_walk_expr(w, st->let.value); return;
  case FL_STMT_ASSIGN:
    fl_walk_expr(w, st->assign.target);
    fl_walk_expr(w, st->assign.value);
    return;
  case FL_STMT_EXPR: fl_walk_expr(w, st->expr); return;
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
    fl_walk_expr(w, st->loop.source);
    fl_walk_expr(w, st->loop.body);
    return;
  case FL_STMT_ASSERT:
    fl_walk_expr(w, st->assert.condition);
    if (st->assert.message) fl_walk_expr(w, st->assert.message);
    return;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN:
    for (int i = 0; i < st->fn.params.n; i++)
      if (st->fn.params.at[i].fallback) fl_walk_expr(w, st->fn.params.at[i].fallback);
    if (st->fn.body) fl_walk_expr(w, st->fn.body);
    return;
  case FL_STMT_PARAM:
    if (st->param.fallback) fl_walk_expr(w, st->param.fallback);
    return;
  case FL_STMT_TEST: fl_walk_expr(w, st->test.body); return;
  }
}

void fl_walk_stmts(const FlWalker *w, const FlStmtList *stmts) {
  for (int i = 0; i < stmts->n; i++) fl_walk_stmt(w, stmts->at[i]);
}
