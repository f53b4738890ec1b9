/* walk.h: visits every expression and statement of a tree, parents first. */
#ifndef FL_SEMA_WALK_H
#define FL_SEMA_WALK_H

#include "syntax/ast.h"

typedef struct FlWalker {
  void *env;
  bool (*expr)(void *env, const FlExpr *e); /* false: not into its children; NULL: into all */
  bool (*stmt)(void *env, const FlStmt *st);
} FlWalker;

void fl_walk_expr(const FlWalker *w, const FlExpr *e);
void fl_walk_stmt(const FlWalker *w, const FlStmt *st);
void fl_walk_stmts(const FlWalker *w, const FlStmtList *stmts);

#endif
