/* branches.c: `if` and `match` as expressions and statements: branches that carry the variables which they
 * assign. */
#include "sema/choose.h"
#include "sema/expr.h"
#include "sema/loops.h"
#include "sema/scope.h"
#include "sema/value.h"

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
  if (!e || !(e->has & FL_HAS_JUMP)) return;
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

/* ---- match ---- */

/* Arms that are tried one within the other. A `match` with more is two steps, so that code is not nested as
 * deep as there are arms: which arm it is, tried in runs of so many one after the other; then that arm, by
 * halves. */
enum { NESTED_ARMS = 64 };

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

static FlVal not_all_said(FlSema *s, const FlExpr *e) {
  FlDiag *d = fl_sema_report(s, FL_E0321, e->match.subject->span,
                             "this `match` does not say what happens with every value");
  fl_diag_help(s->sink, d, "add an arm `_ => ...` at the end");
  return fl_val_error(s);
}

/* Whether it is m's arm, which says so of the bools that are left. NULL type: it is; an error was reported.
 */
static FlVal is_arm(FlSema *s, MatchArms *m) {
  const FlArm *arm = &m->e->match.arms.at[m->arm];
  FlVal test = arm_test(s, m, arm->pattern);
  if (test.type && fl_val_bad(test)) return test;
  if (arm->guard) {
    FlVal g = arm_guard(s, m, arm);
    if (fl_val_bad(g) || !test.type) return g;
    return fl_sema_binary(s, FL_BIN_AND, test, g, arm->guard->span, arm->pattern->span, arm->guard->span);
  }
  if (test.type && arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_BOOL) {
    if (arm->pattern->value->boolean) m->bool_true = true;
    else m->bool_false = true;
    if (m->bool_true && m->bool_false && !m->subject.type->nullable) return (FlVal){0}; /* nothing is left */
  }
  return test;
}

/* The arms behind m's: none of their subjects is what its pattern says. */
static MatchArms behind(FlSema *s, const MatchArms *m) {
  const FlArm *arm = &m->e->match.arms.at[m->arm];
  MatchArms next = *m;
  next.arm++;
  if (arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_NULL && !arm->guard)
    next.subject = fl_val_plain(s, m->subject);
  return next;
}

static FlSpan span_of_arm(const MatchArms *m) {
  return m->arm < m->e->match.arms.n ? m->e->match.arms.at[m->arm].body->span : m->e->span;
}

static FlVal match_from(FlSema *s, void *env) {
  MatchArms m = *(MatchArms *)env;
  if (m.arm == m.e->match.arms.n) return not_all_said(s, m.e);
  FlVal test = is_arm(s, &m);
  if (!test.type) return arm_body(s, &m);
  if (fl_val_bad(test)) return test;
  MatchArms next = behind(s, &m);
  return fl_sema_choose(s, test, m.e->match.arms.at[m.arm].pattern->span, m.vars,
                        (FlThunk){arm_body, &m, span_of_arm(&m)},
                        (FlThunk){match_from, &next, span_of_arm(&next)});
}

/* ---- match with many arms ---- */

typedef struct Search {
  MatchArms *arms; /* each as it is when it is taken */
  int n;           /* of those that can be taken */
  MatchArms at;    /* the next one to try */
  int end;         /* of this run of them */
  bool all;        /* the last one is taken when no other is */
  FlVal which;     /* the number of the arm, or -1 */
  FlDtype number;  /* the numbers of the arms that were elaborated, the last ones; */
  bool is_number;  /* once there are some */
} Search;

static FlVal number_of(FlSema *s, void *env) { return fl_val_i64(s, *(const int *)env); }

static FlVal same_number(FlSema *s, void *env) {
  (void)s;
  return ((const Search *)env)->which;
}

/* The number of the first arm that fits, of this run; -1: none does. */
static FlVal find_arm(FlSema *s, void *env) {
  Search *f = env;
  int none = -1, mine = f->at.arm;
  if (f->all || mine == f->end) return number_of(s, &none);
  FlVal test = is_arm(s, &f->at);
  f->arms[f->n++] = f->at;
  if (!test.type) {
    f->all = true;
    return number_of(s, &mine);
  }
  if (fl_val_bad(test)) return test;
  FlSpan span = f->at.e->match.arms.at[mine].pattern->span;
  f->at = behind(s, &f->at);
  FlVarList vars = {0};
  return fl_sema_choose(s, test, span, &vars, (FlThunk){number_of, &mine, span},
                        (FlThunk){find_arm, f, span});
}

/* Compares the number of the arm, in the way of the subject: one, or one for each element. */
static FlVal arm_less(FlSema *s, const Search *f, int than, FlSpan span) {
  return fl_sema_binary(s, FL_BIN_LT, f->which, fl_val_i64(s, than), span, span, span);
}

typedef struct Half {
  Search *f;
  int from, to;
} Half;

/* A number that is written takes the type of those of the arms behind, as where one arm stands in another. */
static FlVal take_arm(FlSema *s, Search *f, MatchArms *m) {
  FlVal v = arm_body(s, m);
  bool plain = v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY;
  if (!plain || !fl_dtype_is_number(v.type->dtype)) return v;
  FlVal others = {.type = fl_type_scalar(s->types, f->number, false)};
  FlDtype d = v.type->dtype;
  if (f->is_number && !fl_sema_common_number(s, v, others, &d)) return v;
  f->number = d;
  f->is_number = true;
  return v.literal && d != v.type->dtype ? fl_val_as_literal_type(s, v, d, span_of_arm(m)) : v;
}

static FlVal take_half(FlSema *s, void *env) {
  const Half *h = env;
  if (h->to - h->from == 1) return take_arm(s, h->f, &h->f->arms[h->from]);
  Half low = {h->f, h->from, (h->from + h->to) / 2}, high = {h->f, low.to, h->to};
  FlSpan spans[2] = {span_of_arm(&h->f->arms[low.from]), span_of_arm(&h->f->arms[high.from])};
  FlVal above = fl_sema_not(s, arm_less(s, h->f, high.from, spans[1]), spans[1]);
  return fl_sema_choose(s, above, spans[1], h->f->arms[0].vars, (FlThunk){take_half, &high, spans[1]},
                        (FlThunk){take_half, &low, spans[0]});
}

static FlVal match_many(FlSema *s, const MatchArms *first) {
  int n = first->e->match.arms.n;
  Search f = {.arms = FL_NEW_ARRAY(s->arena, MatchArms, n), .at = *first};
  while (!f.all && f.at.arm < n) {
    FlSpan span = first->e->match.arms.at[f.at.arm].pattern->span;
    f.end = f.at.arm + NESTED_ARMS < n ? f.at.arm + NESTED_ARMS : n;
    FlVarList vars = {0};
    f.which = !f.n ? find_arm(s, &f)
                   : fl_sema_choose(s, arm_less(s, &f, 0, span), span, &vars, (FlThunk){find_arm, &f, span},
                                    (FlThunk){same_number, &f, span});
    if (fl_val_bad(f.which)) return f.which;
  }
  if (!f.all) return not_all_said(s, first->e);
  Half all = {&f, 0, f.n};
  return take_half(s, &all);
}

FlVal fl_sema_match(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal x = fl_sema_expr(s, e->match.subject, NULL);
  if (fl_val_bad(x)) return x;
  FlVarList vars = {0};
  for (int i = 0; i < e->match.arms.n; i++) fl_vars_of_expr(s, &vars, e->match.arms.at[i].body);
  for (int i = 0; i < e->match.arms.n && x.type->kind == FL_TY_SCALAR; i++)
    add_flags(s, &vars, e->match.arms.at[i].body);
  MatchArms m = {e, want, x, 0, &vars, false, false};
  return e->match.arms.n > NESTED_ARMS ? match_many(s, &m) : match_from(s, &m);
}
