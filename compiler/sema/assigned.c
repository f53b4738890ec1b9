/* assigned.c: which variables does a piece of code assign? In: the syntax. Out: the bindings, in the order in
 * which they are written. What assigns nothing is passed over, as the parser has said so (FL_HAS_ASSIGN). */
#include "sema/choose.h"
#include "sema/scope.h"

typedef struct Collect {
  FlSema *s;
  void *into;
  void (*add)(FlSema *s, void *into, const char *name);
} Collect;

static bool collect_expr(void *env, const FlExpr *e) {
  (void)env;
  return e->has & FL_HAS_ASSIGN;
}

static bool collect_stmt(void *env, const FlStmt *st) {
  const Collect *c = env;
  if (st->kind != FL_STMT_ASSIGN) return st->has & FL_HAS_ASSIGN;
  const FlExpr *e = st->assign.target;
  while (e->kind == FL_EXPR_INDEX || e->kind == FL_EXPR_FIELD)
    e = e->kind == FL_EXPR_INDEX ? e->index.base : e->field.base;
  if (e->kind == FL_EXPR_NAME) c->add(c->s, c->into, e->name.text);
  return true;
}

void fl_vars_add(FlSema *s, FlVarList *vars, FlBinding *b) {
  for (int i = 0; i < vars->n; i++)
    if (vars->at[i] == b) return;
  fl_vec_push(s->arena, vars, b);
}

static void add_var(FlSema *s, void *vars, const char *name) {
  FlBinding *b = fl_scope_find(s, name);
  if (b && b->kind == FL_BIND_VAR) fl_vars_add(s, vars, b);
}

void fl_vars_of_expr(FlSema *s, FlVarList *vars, const FlExpr *e) {
  fl_syntax_walk_expr(&(FlWalker){&(Collect){s, vars, add_var}, collect_expr, collect_stmt}, e);
}

/* The names that statements assign, as they are written. It is asked for what is left of a block behind each
 * of its jumps: the statements are walked once, and each such end of them is the names from `from` on that
 * are not `before` there. */
typedef struct Assigned {
  const char *name;
  int before; /* where it is assigned before that; -1: nowhere */
} Assigned;
typedef struct AssignedIn {
  FlStmt *const *stmts;
  int *from; /* of each statement, its first */
  FlMap *last;
  FlVec(Assigned) names;
} AssignedIn;

static void add_assigned(FlSema *s, void *into, const char *name) {
  AssignedIn *in = into;
  int before = (int)(intptr_t)fl_map_get(in->last, name) - 1;
  fl_vec_push(s->arena, &in->names, ((Assigned){name, before}));
  fl_map_set(in->last, name, (void *)(intptr_t)in->names.n);
}

static AssignedIn *assigned_in(FlSema *s, FlStmt *const *stmts, int n) {
  AssignedIn *in = FL_NEW(s->arena, AssignedIn);
  *in = (AssignedIn){.stmts = stmts, .from = FL_NEW_ARRAY(s->arena, int, n), .last = fl_map_make(s->arena)};
  FlWalker w = {&(Collect){s, in, add_assigned}, collect_expr, collect_stmt};
  for (int i = 0; i < n; i++) {
    in->from[i] = in->names.n;
    fl_syntax_walk_stmt(&w, stmts[i]);
  }
  return in;
}

void fl_vars_of_stmts(FlSema *s, FlVarList *vars, FlStmt *const *stmts, int n) {
  if (n == 0) return;
  if (!s->assigned) s->assigned = fl_map_make(s->arena);
  AssignedIn *in = fl_map_get(s->assigned, stmts + n);
  if (!in || in->stmts > stmts) fl_map_set(s->assigned, stmts + n, in = assigned_in(s, stmts, n));
  int from = in->from[stmts - in->stmts];
  for (int i = from; i < in->names.n; i++)
    if (in->names.at[i].before < from) add_var(s, vars, in->names.at[i].name);
}
