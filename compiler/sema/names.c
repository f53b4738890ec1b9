/* names.c: which names of a file stand for nothing, and which arguments fit no parameter, by the tree alone.
 *
 * An elaboration stops where something is wrong or open, and never looks into a lambda that nobody calls or
 * at what is done with a parameter whose type no call has said. What is written there still has names.
 *
 * In: the tree of a file whose declarations are bound. Out: messages, none at a place that has one; a witness
 * is told what names stand for. What always holds: a name may stand for anything unless it is a declaration
 * or a builtin; one that nothing binds is wrong, but not where it may be that of a column. */
#include "sema/builtins/builtin.h"
#include "sema/builtins/plot.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/scope.h"
#include "sema/uncalled.h"
#include "sema/value.h"

typedef struct Names {
  FlSema *s;
  bool columns; /* names may be those of columns that nobody knows here */
} Names;

static void look(Names *n, const FlExpr *e);
static void look_stmt(Names *n, const FlStmt *st);

/* Was something said of this place? */
static bool was_reported(const FlSema *s, FlSpan at) {
  for (int i = 0; i < s->sink->diags.n; i++) {
    FlSpan old = s->sink->diags.at[i]->span;
    if (old.file == at.file && old.start == at.start && old.len == at.len) return true;
  }
  return false;
}

/* ---- what binds ---- */

/* What may be anything. */
static void bind_open(FlSema *s, FlName name) {
  FlBinding *b = fl_scope_bind(s, s->scope, FL_BIND_VALUE, name.text, name.span, fl_val_error(s));
  b->used = b->open = true;
}

void fl_names_bind_sizes(FlSema *s, const FlTypeExpr *t) {
  switch (t->kind) {
  case FL_TE_ARRAY:
    for (int i = 0; i < t->array.dims.n; i++) {
      FlName name = t->array.dims.at[i].name;
      if (name.text && !fl_scope_find_in(s->scope, name.text)) bind_open(s, name);
    }
    fl_names_bind_sizes(s, t->array.element);
    break;
  case FL_TE_OPTION: fl_names_bind_sizes(s, t->inner); break;
  case FL_TE_TUPLE:
    for (int i = 0; i < t->tuple.fields.n; i++) fl_names_bind_sizes(s, t->tuple.fields.at[i].type);
    break;
  case FL_TE_ERROR:
  case FL_TE_NAME:
  case FL_TE_ANY:
  case FL_TE_FUNCTION:
  case FL_TE_TYPEOF: break;
  }
}

static void bind_pattern(Names *n, const FlPat *p) {
  if (p->kind == FL_PAT_NAME) bind_open(n->s, p->name);
  if (p->kind != FL_PAT_TUPLE) return;
  for (int i = 0; i < p->tuple.n; i++) bind_pattern(n, p->tuple.at[i]);
}

/* ---- names ---- */

static void look_name(Names *n, FlName name) {
  FlBinding *b = fl_scope_find(n->s, name.text);
  const FlBuiltin *bi = b ? NULL : fl_builtin_find(n->s, name.text);
  if (b) fl_witness_name(n->s, name.span, b);
  else if (bi) fl_witness_builtin(n->s, name.span, bi);
  else if (!n->columns && !was_reported(n->s, name.span)) fl_sema_unknown(n->s, name);
}

static FlBinding *member_of(Names *n, const FlExpr *e) {
  FlBinding *m = fl_sema_module_of(n->s, e->field.base);
  if (!m || was_reported(n->s, e->field.name.span)) return NULL;
  FlBinding *b = fl_sema_member(n->s, m, e->field.name);
  if (b) fl_witness_name(n->s, e->field.name.span, b);
  return b;
}

static void look_field(Names *n, const FlExpr *e) {
  FlVal drawing;
  if (fl_sema_module_of(n->s, e->field.base)) member_of(n, e);
  else if (!fl_plot_member(n->s, e->field.base, e->field.name, &drawing)) look(n, e->field.base);
}

/* ---- calls ---- */

/* What stands before the brackets: a function of the files, a builtin, or something that nobody knows. */
typedef struct Callee {
  const FlBinding *fn;
  const FlBuiltin *builtin;
  bool missing; /* nothing has this name, or a value and a builtin: it may be a verb */
} Callee;

static Callee callee_of(Names *n, const FlExpr *f) {
  FlSema *s = n->s;
  FlVal drawing;
  if (f->kind == FL_EXPR_FIELD && fl_sema_module_of(s, f->field.base)) {
    FlBinding *b = member_of(n, f);
    return (Callee){.fn = b && b->kind == FL_BIND_FN ? b : NULL, .missing = !b};
  }
  if (f->kind == FL_EXPR_FIELD && fl_plot_member(s, f->field.base, f->field.name, &drawing))
    return (Callee){.builtin = drawing.fn ? drawing.fn->builtin : NULL, .missing = !drawing.fn};
  if (f->kind != FL_EXPR_NAME) {
    look(n, f);
    return (Callee){.missing = f->kind == FL_EXPR_FIELD}; /* x.f(..): that is f(x, ..), perhaps a verb */
  }
  const FlBuiltin *bi = fl_builtin_find(s, f->name.text);
  bool something = false;
  for (FlScope *scope = s->scope; scope; scope = scope->parent)
    for (int i = fl_scope_last(scope, f->name.text); i >= 0; i = fl_scope_before(scope, i)) {
      FlBinding *b = scope->names.at[i];
      if (!something) fl_witness_name(s, f->span, b);
      something = true;
      if (b->kind == FL_BIND_FN) return (Callee){.fn = b};
      if (b->lost || b->open) return (Callee){.missing = bi != NULL};
    }
  if (bi && !something) fl_witness_builtin(s, f->span, bi);
  if (!bi && !something && !was_reported(s, f->span)) fl_call_unknown(s, f->name, f->span);
  return (Callee){.builtin = something ? NULL : bi, .missing = something ? bi != NULL : !bi};
}

/* Functions of one name differ by a type that nobody knows here. */
static void match(Names *n, Callee to, int n_args, FlActual *args, FlSpan span) {
  if (to.fn && !to.fn->form && !to.fn->decl->damaged) {
    FlActual **bound = FL_NEW_ARRAY(n->s->arena, FlActual *, to.fn->decl->fn.params.n + 1);
    fl_call_match(n->s, to.fn->decl, n_args, args, bound, span);
  }
  if (to.builtin && !(to.builtin->kinds & FL_BUILTIN_COLUMNS))
    fl_builtin_takes(n->s, to.builtin, n_args, args, span);
}

static void look_call(Names *n, const FlExpr *call, const FlExpr *piped) {
  const FlArgList *list = &call->call.args;
  FlActual *args = FL_NEW_ARRAY(n->s->arena, FlActual, list->n + 2);
  int n_args = 0;
  if (piped) args[n_args++] = (FlActual){.expr = piped, .span = piped->span};
  for (int i = 0; i < list->n; i++)
    args[n_args++] =
        (FlActual){.name = list->at[i].name, .expr = list->at[i].value, .span = list->at[i].value->span};
  Callee to = callee_of(n, call->call.func);
  if (!n->columns && !was_reported(n->s, call->span)) match(n, to, n_args, args, call->span);
  bool outer = n->columns, takes = to.builtin && (to.builtin->kinds & FL_BUILTIN_COLUMNS);
  for (int i = piped ? 1 : 0; i < n_args; i++) {
    n->columns = outer || to.missing || (takes && (i > 0 || to.builtin->takes_rest));
    look(n, args[i].expr);
  }
  n->columns = outer;
}

/* ---- the other expressions ---- */

static void look_clauses(Names *n, const FlComprehension *c) {
  for (int i = 0; i < c->clauses.n; i++) {
    look(n, c->clauses.at[i].source);
    if (c->clauses.at[i].pattern) bind_pattern(n, c->clauses.at[i].pattern);
  }
  look(n, c->body);
}

/* The arguments behind the elements may name their fields. */
static void look_reduce(Names *n, const FlExpr *e) {
  bool outer = n->columns;
  const FlExpr *f = e->reduce.func;
  if (f->kind != FL_EXPR_NAME || strcmp(f->name.text, "best") != 0) callee_of(n, f);
  look_clauses(n, &e->reduce.comprehension);
  n->columns = true;
  for (int i = 0; i < e->reduce.rest.n; i++) look(n, e->reduce.rest.at[i].value);
  n->columns = outer;
}

static void look_arm(void *env, const FlArm *arm) {
  Names *n = env;
  FlScope *outer = n->s->scope;
  n->s->scope = fl_scope_push(n->s, outer, FL_SCOPE_PLAIN);
  bind_pattern(n, arm->pattern);
  if (arm->guard) look(n, arm->guard);
  look(n, arm->body);
  n->s->scope = outer;
}

static void look_child(void *env, const FlExpr *e) { look(env, e); }
static void look_stmt_child(void *env, const FlStmt *st) { look_stmt(env, st); }

static void look_within(Names *n, const FlExpr *e) {
  FlSema *s = n->s;
  switch (e->kind) {
  case FL_EXPR_NAME: look_name(n, e->name); break;
  case FL_EXPR_OUTER:
  case FL_EXPR_COL: break; /* only a verb that knows its columns can say */
  case FL_EXPR_FIELD: look_field(n, e); break;
  case FL_EXPR_CALL: look_call(n, e, NULL); break;
  case FL_EXPR_PIPE:
    look(n, e->pipe.value);
    look_call(n, e->pipe.call, e->pipe.value);
    break;
  case FL_EXPR_COMPREHENSION:
    s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN);
    look_clauses(n, &e->comprehension);
    break;
  case FL_EXPR_REDUCE:
    s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN);
    look_reduce(n, e);
    break;
  case FL_EXPR_LAMBDA:
    s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN);
    for (int i = 0; i < e->lambda.params.n; i++) bind_pattern(n, e->lambda.params.at[i]);
    look(n, e->lambda.body);
    break;
  case FL_EXPR_BLOCK: s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN); /* fall through */
  case FL_EXPR_ERROR:
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_TEXT:
  case FL_EXPR_TUPLE:
  case FL_EXPR_ARRAY:
  case FL_EXPR_IF:
  case FL_EXPR_MATCH:
  case FL_EXPR_INDEX:
  case FL_EXPR_TRANSPOSE:
  case FL_EXPR_UNARY:
  case FL_EXPR_BINARY:
  case FL_EXPR_RANGE:
  case FL_EXPR_TYPE:
    fl_syntax_expr_children(
        &(FlChildVisitor){n, .expr = look_child, .stmt = look_stmt_child, .arm = look_arm}, e);
  }
}

static void look(Names *n, const FlExpr *e) {
  FlScope *outer = n->s->scope;
  look_within(n, e);
  n->s->scope = outer;
}

/* ---- statements ---- */

static void look_function(Names *n, const FlStmt *st) {
  FlSema *s = n->s;
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  for (int p = 0; p < st->fn.params.n; p++) {
    if (st->fn.params.at[p].fallback) look(n, st->fn.params.at[p].fallback);
    bind_open(s, st->fn.params.at[p].name);
  }
  for (int p = 0; p < st->fn.params.n; p++)
    if (st->fn.params.at[p].type) fl_names_bind_sizes(s, st->fn.params.at[p].type);
  if (st->fn.body) look(n, st->fn.body);
  s->scope = outer;
}

static void look_loop(Names *n, const FlStmt *st) {
  FlScope *outer = n->s->scope;
  look(n, st->loop.source);
  n->s->scope = fl_scope_push(n->s, outer, FL_SCOPE_PLAIN);
  if (st->loop.pattern) bind_pattern(n, st->loop.pattern);
  look(n, st->loop.body);
  n->s->scope = outer;
}

static void look_stmt(Names *n, const FlStmt *st) {
  if (st->damaged) {
    fl_scope_bind_lost(n->s, n->s->scope, st);
    return;
  }
  switch (st->kind) {
  case FL_STMT_LET:
  case FL_STMT_VAR:
    look(n, st->let.value);
    bind_pattern(n, st->let.pattern);
    if (st->let.type) fl_names_bind_sizes(n->s, st->let.type);
    break;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN: look_function(n, st); break;
  case FL_STMT_FOR:
  case FL_STMT_WHILE: look_loop(n, st); break;
  case FL_STMT_ASSIGN:
  case FL_STMT_EXPR:
  case FL_STMT_ASSERT:
  case FL_STMT_TEST:
  case FL_STMT_ERROR:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_TYPE:
  case FL_STMT_PARAM:
  case FL_STMT_IMPORT:
  case FL_STMT_REQUIRES:
    fl_syntax_stmt_children(
        &(FlChildVisitor){n, .expr = look_child, .stmt = look_stmt_child, .arm = look_arm}, st);
  }
}

void fl_names_check(FlSema *s, FlFile *file) {
  Names n = {s, false};
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, file->scope, FL_SCOPE_PLAIN);
  s->by_tree = true;
  for (int i = 0; i < file->ast->stmts.n; i++) look_stmt(&n, file->ast->stmts.at[i]);
  s->scope = outer;
}
