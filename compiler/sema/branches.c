/* branches.c: `if` and `match` as expressions and statements: branches that carry the variables which they
 * assign. */
#include "sema/choose.h"
#include "sema/loops.h"

typedef struct ExprThunk {
  const FlExpr *e;
  const FlType *want;
} ExprThunk;

/* A tuple that is the value of a branch may have fields that are null: the other branch says their types. */
static void open_nulls(FlSema *s, const FlExpr *e) {
  while (e && e->kind == FL_EXPR_BLOCK && e->block.n && e->block.at[e->block.n - 1]->kind == FL_STMT_EXPR)
    e = e->block.at[e->block.n - 1]->expr;
  s->open_nulls = e;
}

static FlVal run_expr(FlSema *s, void *env) {
  ExprThunk *t = env;
  open_nulls(s, t->e);
  return fl_sema_expr_or_groups(s, t->e, t->want);
}

/* The flags of `break` and `continue` are carried where the code sets them. */
static void add_flags(FlSema *s, FlVarList *vars, const FlExpr *e) {
  FlJumps j = fl_sema_jumps_in(e);
  if (!j.any_break && !j.any_continue) return;
  if (s->loop_break) fl_vars_add(s, vars, s->loop_break);
  if (s->loop_skip) fl_vars_add(s, vars, s->loop_skip);
}

FlVal fl_sema_if(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal c = fl_sema_expr(s, e->if_else.condition, NULL);
  FlVarList vars = {0};
  fl_vars_of_expr(s, &vars, e->if_else.then);
  if (e->if_else.otherwise) fl_vars_of_expr(s, &vars, e->if_else.otherwise);
  if (c.type->kind == FL_TY_SCALAR) {
    add_flags(s, &vars, e->if_else.then);
    add_flags(s, &vars, e->if_else.otherwise);
  }
  ExprThunk yes = {e->if_else.then, want}, no = {e->if_else.otherwise, want};
  FlThunk otherwise = {e->if_else.otherwise ? run_expr : NULL, &no,
                       e->if_else.otherwise ? e->if_else.otherwise->span : e->span};
  return fl_sema_choose(s, c, e->if_else.condition->span, &vars,
                        (FlThunk){run_expr, &yes, e->if_else.then->span}, otherwise);
}

typedef struct MatchArms {
  const FlExpr *e;
  const FlType *want;
  FlVal subject;
  int arm;
  FlVarList *vars;
  bool bool_true, bool_false;
} MatchArms;

static FlVal match_from(FlSema *s, void *env);

static FlVal arm_body(FlSema *s, void *env) {
  MatchArms *m = env;
  const FlArm *arm = &m->e->match.arms.at[m->arm];
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (arm->pattern->kind == FL_PAT_NAME || arm->pattern->kind == FL_PAT_TUPLE)
    fl_sema_bind_pattern(s, arm->pattern, m->subject, FL_BIND_VALUE, NULL);
  open_nulls(s, arm->body);
  FlVal v = fl_sema_expr_or_groups(s, arm->body, m->want);
  s->scope = outer;
  return v;
}

/* Is the subject what the pattern says? NULL type: always. */
static FlVal arm_test(FlSema *s, MatchArms *m, const FlPat *p) {
  FlVal x = m->subject;
  FlVal test = {0};
  bool nullable = (x.type->kind == FL_TY_SCALAR || x.type->kind == FL_TY_ARRAY) && x.type->nullable;
  switch (p->kind) {
  case FL_PAT_VALUE:
    if (p->value->kind == FL_EXPR_NULL) {
      if (!nullable)
        return fl_sema_error(s, FL_E0504, p->span, "this is never null, so `null` never matches");
      FlVal valid = x.type->kind == FL_TY_SCALAR ? fl_val_scalar(s, FL_BOOL, x.parts[1])
                                                 : fl_val_array(s, FL_BOOL, x.type->rank, x.parts[1]);
      return fl_sema_not(s, valid, p->span);
    }
    test = fl_sema_binary(s, FL_BIN_EQ, x, fl_sema_expr(s, p->value, NULL), p->span,
                          m->e->match.subject->span, p->span);
    break;
  case FL_PAT_RANGE: {
    FlVal lo = {0}, hi = {0};
    if (p->range.lo)
      lo = fl_sema_binary(s, FL_BIN_GE, x, fl_sema_expr(s, p->range.lo, NULL), p->span, p->span, p->span);
    if (p->range.hi)
      hi = fl_sema_binary(s, FL_BIN_LT, x, fl_sema_expr(s, p->range.hi, NULL), p->span, p->span, p->span);
    test = lo.type && hi.type ? fl_sema_binary(s, FL_BIN_AND, lo, hi, p->span, p->span, p->span)
           : lo.type          ? lo
                              : hi;
    break;
  }
  case FL_PAT_ERROR: return fl_val_error(s);
  case FL_PAT_ANY:
  case FL_PAT_NAME:
  case FL_PAT_TUPLE: return test;
  }
  return fl_val_bad(test) ? test : fl_val_plain(s, test); /* a null matches no value: false stands under it */
}

static FlVal arm_guard(FlSema *s, MatchArms *m, const FlArm *arm) {
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (arm->pattern->kind == FL_PAT_NAME)
    fl_sema_bind_pattern(s, arm->pattern, m->subject, FL_BIND_VALUE, NULL);
  FlVal g = fl_sema_expr(s, arm->guard, NULL);
  s->scope = outer;
  if (fl_val_bad(g)) return g;
  if (g.type->kind != FL_TY_SCALAR && g.type->kind != FL_TY_ARRAY) return g;
  return fl_val_plain(s, g);
}

static FlVal match_from(FlSema *s, void *env) {
  MatchArms m = *(MatchArms *)env;
  const FlExpr *e = m.e;
  if (m.arm == e->match.arms.n) {
    FlDiag *d = fl_sema_report(s, FL_E0321, e->match.subject->span,
                               "this `match` does not say what happens with every value");
    fl_diag_help(s->sink, d, "add an arm `_ => ...` at the end");
    return fl_val_error(s);
  }
  const FlArm *arm = &e->match.arms.at[m.arm];
  FlVal test = arm_test(s, &m, arm->pattern);
  if (test.type && fl_val_bad(test)) return test;
  if (arm->guard) {
    FlVal g = arm_guard(s, &m, arm);
    if (fl_val_bad(g)) return g;
    test = test.type ? fl_sema_binary(s, FL_BIN_AND, test, g, arm->guard->span, arm->pattern->span,
                                      arm->guard->span)
                     : g;
    if (fl_val_bad(test)) return test;
  }
  if (!test.type) return arm_body(s, &m);
  if (arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_BOOL && !arm->guard) {
    if (arm->pattern->value->boolean) m.bool_true = true;
    else m.bool_false = true;
    bool nullable = m.subject.type->nullable;
    if (m.bool_true && m.bool_false && !nullable) return arm_body(s, &m); /* nothing else is left */
  }
  MatchArms next = m;
  next.arm++;
  if (arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_NULL && !arm->guard)
    next.subject = fl_val_plain(s, m.subject);
  return fl_sema_choose(
      s, test, arm->pattern->span, m.vars, (FlThunk){arm_body, &m, arm->body->span},
      (FlThunk){match_from, &next,
                m.arm + 1 < e->match.arms.n ? e->match.arms.at[m.arm + 1].body->span : e->span});
}

FlVal fl_sema_match(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal x = fl_sema_expr(s, e->match.subject, NULL);
  if (fl_val_bad(x)) return x;
  FlVarList vars = {0};
  for (int i = 0; i < e->match.arms.n; i++) fl_vars_of_expr(s, &vars, e->match.arms.at[i].body);
  for (int i = 0; i < e->match.arms.n && x.type->kind == FL_TY_SCALAR; i++)
    add_flags(s, &vars, e->match.arms.at[i].body);
  MatchArms m = {e, want, x, 0, &vars, false, false};
  return match_from(s, &m);
}
