/* children.c: what the nodes of a tree are made of, and a walk through all of it on that ground.
 *
 * In: a node. Out: calls of the visitor, one a child, in the order in which they are written.
 * What always holds: this is the one place that lists the children of each kind. */
#include "syntax/ast.h"

static void expr_child(const FlChildVisitor *v, const FlExpr *e) {
  if (e && v->expr) v->expr(v->env, e);
}
static void stmt_child(const FlChildVisitor *v, const FlStmt *s) {
  if (s && v->stmt) v->stmt(v->env, s);
}
static void pattern_child(const FlChildVisitor *v, const FlPat *p) {
  if (p && v->pattern) v->pattern(v->env, p);
}
static void type_child(const FlChildVisitor *v, const FlTypeExpr *t) {
  if (t && v->type) v->type(v->env, t);
}

static void named(const FlChildVisitor *v, FlName name, const FlExpr *value) {
  if (v->named) v->named(v->env, name, value);
  else expr_child(v, value);
}

static void args(const FlChildVisitor *v, const FlArgList *list) {
  for (int i = 0; i < list->n; i++) named(v, list->at[i].name, list->at[i].value);
}

static void clause(const FlChildVisitor *v, const FlClause *c) {
  if (v->clause) {
    v->clause(v->env, c);
    return;
  }
  pattern_child(v, c->pattern);
  expr_child(v, c->source);
}

static void comprehension(const FlChildVisitor *v, const FlComprehension *c) {
  for (int i = 0; i < c->clauses.n; i++) clause(v, &c->clauses.at[i]);
  expr_child(v, c->body);
}

static void subscript(const FlChildVisitor *v, const FlSubscript *sub) {
  if (v->subscript) {
    v->subscript(v->env, sub);
    return;
  }
  expr_child(v, sub->value);
  expr_child(v, sub->lo);
  expr_child(v, sub->hi);
  expr_child(v, sub->step);
}

static void arm(const FlChildVisitor *v, const FlArm *a) {
  if (v->arm) {
    v->arm(v->env, a);
    return;
  }
  pattern_child(v, a->pattern);
  expr_child(v, a->guard);
  expr_child(v, a->body);
}

static void text_part(const FlChildVisitor *v, const FlTextPart *part) {
  if (v->text) v->text(v->env, part);
  else expr_child(v, part->value);
}

FlStmtRole fl_syntax_stmt_role(FlStmtKind kind) {
  static const FlStmtRole roles[] = {
#define FL_STMT_NODE(kind, member, word, role) [FL_STMT_##kind] = FL_STMT_ROLE_##role,
#include "syntax/nodes.def"
  };
  return roles[kind];
}

void fl_syntax_expr_children(const FlChildVisitor *v, const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_ERROR:
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_NAME:
  case FL_EXPR_COL:
  case FL_EXPR_OUTER: return;
  case FL_EXPR_TEXT:
    for (int i = 0; i < e->text.parts.n; i++) text_part(v, &e->text.parts.at[i]);
    return;
  case FL_EXPR_TUPLE:
    for (int i = 0; i < e->tuple.n; i++) named(v, e->tuple.at[i].name, e->tuple.at[i].value);
    return;
  case FL_EXPR_ARRAY:
    for (int i = 0; i < e->array.n; i++) expr_child(v, e->array.at[i]);
    return;
  case FL_EXPR_COMPREHENSION: comprehension(v, &e->comprehension); return;
  case FL_EXPR_REDUCE:
    expr_child(v, e->reduce.func);
    comprehension(v, &e->reduce.comprehension);
    args(v, &e->reduce.rest);
    return;
  case FL_EXPR_BLOCK:
    for (int i = 0; i < e->block.n; i++) stmt_child(v, e->block.at[i]);
    return;
  case FL_EXPR_IF:
    expr_child(v, e->if_else.condition);
    expr_child(v, e->if_else.then);
    expr_child(v, e->if_else.otherwise);
    return;
  case FL_EXPR_MATCH:
    expr_child(v, e->match.subject);
    for (int i = 0; i < e->match.arms.n; i++) arm(v, &e->match.arms.at[i]);
    return;
  case FL_EXPR_LAMBDA:
    for (int i = 0; i < e->lambda.params.n; i++) pattern_child(v, e->lambda.params.at[i]);
    expr_child(v, e->lambda.body);
    return;
  case FL_EXPR_CALL:
    expr_child(v, e->call.func);
    args(v, &e->call.args);
    return;
  case FL_EXPR_PIPE:
    expr_child(v, e->pipe.value);
    expr_child(v, e->pipe.call);
    return;
  case FL_EXPR_INDEX:
    expr_child(v, e->index.base);
    for (int i = 0; i < e->index.subs.n; i++) subscript(v, &e->index.subs.at[i]);
    return;
  case FL_EXPR_FIELD: expr_child(v, e->field.base); return;
  case FL_EXPR_TRANSPOSE: expr_child(v, e->operand); return;
  case FL_EXPR_UNARY: expr_child(v, e->unary.operand); return;
  case FL_EXPR_BINARY:
    expr_child(v, e->binary.left);
    expr_child(v, e->binary.right);
    return;
  case FL_EXPR_RANGE:
    expr_child(v, e->range.lo);
    expr_child(v, e->range.hi);
    expr_child(v, e->range.step);
    return;
  case FL_EXPR_TYPE: type_child(v, e->type); return;
  }
}

static void function(const FlChildVisitor *v, const FlStmt *s) {
  for (int i = 0; i < s->fn.attributes.n; i++) args(v, &s->fn.attributes.at[i].args);
  for (int i = 0; i < s->fn.params.n; i++) {
    type_child(v, s->fn.params.at[i].type);
    expr_child(v, s->fn.params.at[i].fallback);
  }
  type_child(v, s->fn.result);
  expr_child(v, s->fn.body);
}

void fl_syntax_stmt_children(const FlChildVisitor *v, const FlStmt *s) {
  switch (s->kind) {
  case FL_STMT_ERROR:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_REQUIRES:
  case FL_STMT_IMPORT: return;
  case FL_STMT_LET:
  case FL_STMT_VAR:
    pattern_child(v, s->let.pattern);
    type_child(v, s->let.type);
    expr_child(v, s->let.value);
    return;
  case FL_STMT_ASSIGN:
    expr_child(v, s->assign.target);
    expr_child(v, s->assign.value);
    return;
  case FL_STMT_EXPR: expr_child(v, s->expr); return;
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
    pattern_child(v, s->loop.pattern);
    expr_child(v, s->loop.source);
    expr_child(v, s->loop.body);
    return;
  case FL_STMT_ASSERT:
    expr_child(v, s->assert.condition);
    expr_child(v, s->assert.message);
    return;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN: function(v, s); return;
  case FL_STMT_TYPE: type_child(v, s->type.type); return;
  case FL_STMT_PARAM:
    type_child(v, s->param.type);
    expr_child(v, s->param.fallback);
    return;
  case FL_STMT_TEST: expr_child(v, s->test.body); return;
  }
}

/* ---- the walk ---- */

static void walk_expr(void *walker, const FlExpr *e) { fl_syntax_walk_expr(walker, e); }
static void walk_stmt(void *walker, const FlStmt *s) { fl_syntax_walk_stmt(walker, s); }

static FlChildVisitor deeper(const FlWalker *w) {
  return (FlChildVisitor){.env = (void *)(uintptr_t)w, .expr = walk_expr, .stmt = walk_stmt};
}

void fl_syntax_walk_expr(const FlWalker *w, const FlExpr *e) {
  FlChildVisitor v = deeper(w);
  if (!w->expr || w->expr(w->env, e)) fl_syntax_expr_children(&v, e);
}

void fl_syntax_walk_stmt(const FlWalker *w, const FlStmt *s) {
  FlChildVisitor v = deeper(w);
  if (!w->stmt || w->stmt(w->env, s)) fl_syntax_stmt_children(&v, s);
}
