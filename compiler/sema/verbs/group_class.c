/* group_class.c: how an expression in a verb of a grouped table goes by group.
 *
 * In: an expression as it is written, and the names around it. Out: its class (groups.h). What always
 * holds: no size and no type of a value decides, and what is not known to go row by row, or to be an
 * aggregate or a window of that, is computed for each group: that is always right, and the other classes only
 * faster. */
#include "sema/builtins/builtin.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/verbs/groups.h"

/* A parameter of a function whose body is looked at. */
typedef struct Param {
  const char *name;
  FlGroupClass is;
  const struct Param *up;
} Param;

typedef struct Look {
  FlSema *s;
  FlScope *scope;   /* where names are looked up */
  FlScope *columns; /* the columns of the verb, or NULL: in the body of a function that does not see them */
  const Param *params, *scalars; /* scalars: names of patterns, of what is written as a scalar */
  int depth;                     /* of such bodies */
  bool lets; /* in an expression that is not followed: a name that is not found is of a `let` in it */
} Look;

enum { MAX_BODIES = 16 };

static FlGroupClass class_of(const Look *l, const FlExpr *e);
static const FlBinding *called(const Look *l, const char *name);
static bool written_scalar(const Look *l, const FlExpr *e);

static FlGroupClass more(FlGroupClass a, FlGroupClass b) { return a > b ? a : b; }
static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

static FlBinding *find(const FlScope *scope, const char *name) {
  for (; scope; scope = scope->parent) {
    FlBinding *b = fl_scope_find_in((FlScope *)(uintptr_t)scope, name);
    if (b) return b;
  }
  return NULL;
}

static FlGroupClass name_class(const Look *l, const char *name) {
  for (const Param *p = l->params; p; p = p->up)
    if (p->name == name) return p->is;
  FlBinding *b = find(l->scope, name);
  if (!b) return FL_GROUP_OUTSIDE;
  bool column = b->by_row || (l->columns && fl_scope_find_in(l->columns, name) == b);
  return column ? FL_GROUP_ROWS : FL_GROUP_OUTSIDE;
}

/* ---- anything: does a column take part? ---- */

/* A builtin that means the rows of the verb without naming a column of it? */
static bool means_rows(const FlExpr *e) {
  static const char *const names[] = {"each", "numeric", "cols", "except", "row_number", "ntile", NULL};
  static const char *const bare[] = {"count", "all", "random", "random_normal", "random_int", NULL};
  if (e->kind != FL_EXPR_CALL || e->call.func->kind != FL_EXPR_NAME) return false;
  const char *f = e->call.func->name.text;
  for (int i = 0; names[i]; i++)
    if (is(f, names[i])) return true;
  int most = is(f, "random_int") ? 3 : f[0] == 'r' ? 1 : 0;
  for (int i = 0; bare[i]; i++)
    if (is(f, bare[i])) return e->call.args.n <= most;
  return false;
}

/* sum(1): an aggregate of a scalar, which counts for each row? `first`: what a pipe brings, or NULL. */
static bool repeats_scalar(const Look *l, const FlExpr *call, const FlExpr *first) {
  const FlExpr *f = call->call.func;
  if (!l->columns || f->kind != FL_EXPR_NAME || called(l, f->name.text)) return false;
  const FlBuiltin *bi = fl_builtin_find(l->s, f->name.text);
  int by_position = first != NULL;
  for (int i = 0; i < call->call.args.n; i++) {
    const FlArg *a = &call->call.args.at[i];
    if (!a->name.text && !first) first = a->value;
    by_position += !a->name.text;
  }
  return bi && (bi->kinds & FL_BUILTIN_AGGREGATE) && first && !(bi->takes_rest && by_position > 1) &&
         written_scalar(l, first);
}

typedef struct Found {
  const Look *look;
  bool any;
} Found;

static bool any_rows(const Look *l, const FlExpr *e);

/* Does it bind names that are no scalars, or nobody knows? */
static bool binds_names(const FlExpr *e) {
  return e->kind == FL_EXPR_LAMBDA || e->kind == FL_EXPR_COMPREHENSION || e->kind == FL_EXPR_REDUCE;
}

static bool part_of_rows(void *env, const FlExpr *e) {
  Found *f = env;
  if (f->look->lets && binds_names(e)) {
    Look inner = *f->look;
    inner.lets = false;
    f->any = f->any || any_rows(&inner, e);
    return false;
  }
  if (e->kind == FL_EXPR_NAME) f->any = f->any || name_class(f->look, e->name.text) > FL_GROUP_OUTSIDE;
  if (e->kind == FL_EXPR_COL || means_rows(e)) f->any = true;
  if (e->kind == FL_EXPR_CALL && repeats_scalar(f->look, e, NULL)) f->any = true;
  if (e->kind == FL_EXPR_PIPE && repeats_scalar(f->look, e->pipe.call, e->pipe.value)) f->any = true;
  return !f->any;
}

static bool any_rows(const Look *l, const FlExpr *e) {
  Found f = {l, false};
  FlWalker w = {.env = &f, .expr = part_of_rows};
  fl_syntax_walk_expr(&w, e);
  return f.any;
}

static FlGroupClass each_if_rows(const Look *l, const FlExpr *e) {
  Look inner = *l;
  inner.lets = true;
  return any_rows(&inner, e) ? FL_GROUP_EACH : FL_GROUP_OUTSIDE;
}

/* ---- calls ---- */

typedef struct Call {
  const FlExpr *first; /* the value of a pipe, or NULL */
  const FlExpr *func;
  const FlArgList *args;
} Call;

static int n_args(const Call *c) { return c->args->n + (c->first != NULL); }
static const FlExpr *arg(const Call *c, int i) {
  return c->first ? i ? c->args->at[i - 1].value : c->first : c->args->at[i].value;
}
static const char *arg_name(const Call *c, int i) {
  return c->first ? i ? c->args->at[i - 1].name.text : NULL : c->args->at[i].name.text;
}
static bool names_arg(const Call *c, const char *name) {
  for (int i = 0; i < n_args(c); i++)
    if (arg_name(c, i) && is(arg_name(c, i), name)) return true;
  return false;
}

static FlGroupClass args_class(const Look *l, const Call *c) {
  FlGroupClass out = FL_GROUP_OUTSIDE;
  for (int i = 0; i < n_args(c); i++) out = more(out, class_of(l, arg(c, i)));
  return out;
}

/* An arm of a match of a scalar. */
static bool written_scalar_arm(const Look *l, FlArm arm) {
  Look inner = *l;
  Param own = {arm.pattern->kind == FL_PAT_NAME ? arm.pattern->name.text : NULL, FL_GROUP_OUTSIDE,
               l->scalars};
  if (arm.pattern->kind == FL_PAT_TUPLE) return false;
  inner.scalars = &own;
  return (!arm.guard || written_scalar(&inner, arm.guard)) && written_scalar(&inner, arm.body);
}

/* A scalar by how it is written: literals, names of scalars, and what goes element by element of such. */
static bool written_scalar(const Look *l, const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL: return true;
  case FL_EXPR_BLOCK:
    return e->block.n == 1 && e->block.at[0]->kind == FL_STMT_EXPR && written_scalar(l, e->block.at[0]->expr);
  case FL_EXPR_IF:
    return e->if_else.otherwise && written_scalar(l, e->if_else.condition) &&
           written_scalar(l, e->if_else.then) && written_scalar(l, e->if_else.otherwise);
  case FL_EXPR_MATCH:
    for (int i = 0; i < e->match.arms.n; i++)
      if (!written_scalar_arm(l, e->match.arms.at[i])) return false;
    return written_scalar(l, e->match.subject);
  case FL_EXPR_TEXT:
    for (int i = 0; i < e->text.parts.n; i++)
      if (e->text.parts.at[i].value && !written_scalar(l, e->text.parts.at[i].value)) return false;
    return true;
  case FL_EXPR_CALL: {
    const FlExpr *f = e->call.func;
    const FlBuiltin *bi =
        f->kind == FL_EXPR_NAME && !called(l, f->name.text) ? fl_builtin_find(l->s, f->name.text) : NULL;
    int by_position = 0;
    for (int i = 0; i < e->call.args.n; i++) by_position += !e->call.args.at[i].name.text;
    bool pairs =
        bi && bi->takes_rest && (bi->kinds & FL_BUILTIN_AGGREGATE) && by_position > 1; /* min(a, b) */
    if (!bi || (!pairs && !(bi->kinds & FL_BUILTIN_SCALAR))) return false;
    for (int i = 0; i < e->call.args.n; i++)
      if (!written_scalar(l, e->call.args.at[i].value)) return false;
    return true;
  }
  case FL_EXPR_UNARY: return written_scalar(l, e->unary.operand);
  case FL_EXPR_BINARY:
    return e->binary.op != FL_BIN_MATMUL && written_scalar(l, e->binary.left) &&
           (e->binary.op == FL_BIN_IN || written_scalar(l, e->binary.right));
  case FL_EXPR_NAME: {
    for (const Param *p = l->scalars; p; p = p->up)
      if (p->name == e->name.text) return true;
    FlBinding *b = find(l->scope, e->name.text);
    if (!b && l->lets) return true;
    bool value = b && (b->kind == FL_BIND_VALUE || b->kind == FL_BIND_VAR);
    return value && b->val.type && b->val.type->kind == FL_TY_SCALAR;
  }
  default: return false;
  }
}

/* The class of a body when its parameters are these arguments; in `inner`, which says what the body sees. */
static FlGroupClass body_class(const Look *l, Look inner, const FlExpr *body, int n, const char *const *names,
                               const FlGroupClass *is_of) {
  if (l->depth >= MAX_BODIES) return FL_GROUP_EACH;
  Param *params = FL_NEW_ARRAY(l->s->arena, Param, n + 1);
  for (int i = 0; i < n; i++) {
    params[i] = (Param){names[i], is_of[i], inner.params};
    inner.params = &params[i];
  }
  inner.depth = l->depth + 1;
  return class_of(&inner, body);
}

/* A call of a lambda: `inner` says what its body sees. */
static FlGroupClass lambda_call(const Look *l, const Call *c, const FlExpr *lambda, Look inner, bool here) {
  const FlPatList *params = &lambda->lambda.params;
  if (params->n != n_args(c)) return FL_GROUP_EACH;
  const char **names = FL_NEW_ARRAY(l->s->arena, const char *, params->n + 1);
  FlGroupClass *is_of = FL_NEW_ARRAY(l->s->arena, FlGroupClass, params->n + 1), all = FL_GROUP_OUTSIDE;
  for (int i = 0; i < params->n; i++) {
    is_of[i] = class_of(l, arg(c, i));
    all = more(all, is_of[i]);
    bool plain = is_of[i] == FL_GROUP_ROWS || written_scalar(l, arg(c, i));
    if (arg_name(c, i) || params->at[i]->kind != FL_PAT_NAME || (here && !plain)) return FL_GROUP_EACH;
    names[i] = params->at[i]->name.text;
  }
  FlGroupClass body = body_class(l, inner, lambda->lambda.body, params->n, names, is_of);
  return all == FL_GROUP_EACH ? all : more(all, body);
}

/* A parameter that a function's type says to be one scalar: arrays are mapped over. */
static bool scalar_param(FlSema *s, const FlBinding *fn, const FlTypeExpr *t) {
  if (!t || (t->kind != FL_TE_NAME && t->kind != FL_TE_OPTION)) return false;
  FlScope *scope = s->scope;
  FlFile *file = s->file;
  s->scope = fn->file->scope;
  s->file = fn->file;
  const FlType *type = fl_type_of_expr(s, t);
  s->scope = scope;
  s->file = file;
  return type && type->kind == FL_TY_SCALAR;
}

static FlGroupClass function_call(const Look *l, const Call *c, const FlBinding *fn) {
  const FlStmt *decl = fn->decl;
  FlGroupClass all = args_class(l, c);
  if (all == FL_GROUP_OUTSIDE || all == FL_GROUP_EACH) return all;
  if (fn->form || (decl->kind != FL_STMT_FN && decl->kind != FL_STMT_EXTERN)) return FL_GROUP_EACH;
  const FlFnParamList *params = &decl->fn.params;
  bool scalars = true, untyped = decl->kind == FL_STMT_FN && params->n == n_args(c);
  for (int i = 0; i < params->n; i++) {
    bool scalar = scalar_param(l->s, fn, params->at[i].type);
    scalars = scalars && scalar;
    untyped = untyped && (scalar || !params->at[i].type);
  }
  if (scalars) return all;
  if (!untyped) return FL_GROUP_EACH;
  const char **names = FL_NEW_ARRAY(l->s->arena, const char *, params->n + 1);
  FlGroupClass *is_of = FL_NEW_ARRAY(l->s->arena, FlGroupClass, params->n + 1);
  for (int i = 0; i < params->n; i++) {
    if (arg_name(c, i)) return FL_GROUP_EACH;
    names[i] = params->at[i].name.text;
    is_of[i] = class_of(l, arg(c, i));
  }
  return more(all, body_class(l, (Look){.s = l->s, .scope = fn->file->scope}, decl->fn.body, params->n, names,
                              is_of));
}

/* any(each(set, f)), all(each(set, f)): of each row, over the columns. */
static FlGroupClass each_class(const Look *l, const FlExpr *each) {
  const FlArgList *args = &each->call.args;
  const FlExpr *f = args->n == 2 && !args->at[1].name.text ? args->at[1].value : NULL;
  if (!f || f->kind != FL_EXPR_LAMBDA || f->lambda.params.n != 1 ||
      f->lambda.params.at[0]->kind != FL_PAT_NAME)
    return FL_GROUP_EACH;
  FlGroupClass rows = FL_GROUP_ROWS;
  return body_class(l, *l, f->lambda.body, 1, &f->lambda.params.at[0]->name.text, &rows);
}

static FlGroupClass aggregate_class(const Look *l, const Call *c, const FlBuiltin *bi) {
  int n = n_args(c), by_position = 0;
  for (int i = 0; i < n; i++) by_position += !arg_name(c, i);
  const FlExpr *x = n ? arg(c, 0) : NULL;
  if (x && x->kind == FL_EXPR_CALL && x->call.func->kind == FL_EXPR_NAME &&
      is(x->call.func->name.text, "each"))
    return l->columns ? each_class(l, x) : FL_GROUP_EACH;
  FlGroupClass all = args_class(l, c);
  if (all == FL_GROUP_EACH) return all;
  if (bi->takes_rest && by_position > 1) return all; /* element by element */
  if (all != FL_GROUP_OUTSIDE) return l->columns && !names_arg(c, "axis") ? FL_GROUP_AT_ONCE : FL_GROUP_EACH;
  return l->columns && (!x || written_scalar(l, x)) ? FL_GROUP_AT_ONCE : FL_GROUP_OUTSIDE;
}

static FlGroupClass builtin_call(const Look *l, const Call *c, const FlBuiltin *bi) {
  FlGroupClass all;
  if (bi->kinds & FL_BUILTIN_AGGREGATE) return aggregate_class(l, c, bi);
  if (bi->kinds & FL_BUILTIN_SCALAR) {
    all = args_class(l, c);
    if ((bi->kinds & FL_BUILTIN_POSITION) && n_args(c) <= bi->n_params) return more(all, FL_GROUP_ROWS);
    bool finds = is(bi->name, "category") && !names_arg(c, "levels"); /* the texts that occur */
    return finds && all ? FL_GROUP_EACH : all;
  }
  if (bi->kinds & FL_BUILTIN_WINDOW) {
    all = args_class(l, c);
    bool rows = is(bi->name, "row_number") || is(bi->name, "ntile");
    if (all == FL_GROUP_OUTSIDE && !rows) return all;
    return l->columns ? more(all, FL_GROUP_AT_ONCE) : FL_GROUP_EACH;
  }
  for (int i = 0; i < n_args(c); i++)
    if (each_if_rows(l, arg(c, i))) return FL_GROUP_EACH;
  return FL_GROUP_OUTSIDE;
}

/* The function that `name` calls, as fl_sema_callee finds it. */
static const FlBinding *called(const Look *l, const char *name) {
  for (const FlScope *scope = l->scope; scope; scope = scope->parent)
    for (int i = fl_scope_last(scope, name); i >= 0; i = fl_scope_before(scope, i)) {
      const FlBinding *b = scope->names.at[i];
      bool value = b->kind == FL_BIND_VALUE && b->val.type && b->val.type->kind == FL_TY_FUNC;
      if (value || b->kind == FL_BIND_FN) return b;
    }
  return NULL;
}

static FlGroupClass call_class(const Look *l, const FlExpr *e, const Call *c) {
  const FlExpr *f = c->func;
  if (f->kind == FL_EXPR_LAMBDA) return lambda_call(l, c, f, *l, true);
  const FlBinding *b = NULL;
  if (f->kind == FL_EXPR_FIELD && f->field.base->kind == FL_EXPR_NAME) {
    FlBinding *m = find(l->scope, f->field.base->name.text);
    if (m && m->kind == FL_BIND_MODULE) b = fl_scope_find_in(m->file->scope, f->field.name.text);
    if (b && b->kind != FL_BIND_FN) b = NULL;
  }
  if (f->kind == FL_EXPR_NAME) {
    for (const Param *p = l->params; p; p = p->up)
      if (p->name == f->name.text) return FL_GROUP_EACH;
    b = called(l, f->name.text);
    const FlBuiltin *bi = b ? NULL : fl_builtin_find(l->s, f->name.text);
    if (b && b->kind == FL_BIND_VALUE) {
      const FlClosure *fn = b->val.fn;
      if (fn && fn->builtin) bi = fn->builtin;
      else if (fn && fn->named) b = fn->named;
      else if (fn && fn->lambda && !fn->agg && !fn->derived)
        return lambda_call(l, c, fn->lambda, (Look){.s = l->s, .scope = fn->scope}, false);
      else b = NULL;
    }
    if (bi) return builtin_call(l, c, bi);
  }
  return b && b->kind == FL_BIND_FN ? function_call(l, c, b) : each_if_rows(l, e);
}

/* ---- expressions ---- */

static FlGroupClass match_class(const Look *l, const FlExpr *e) {
  FlGroupClass out = class_of(l, e->match.subject);
  for (int i = 0; i < e->match.arms.n; i++) {
    const FlArm *arm = &e->match.arms.at[i];
    if (arm->pattern->kind == FL_PAT_NAME || arm->pattern->kind == FL_PAT_TUPLE) return each_if_rows(l, e);
    if (arm->guard) out = more(out, class_of(l, arm->guard));
    out = more(out, class_of(l, arm->body));
  }
  return out;
}

static FlGroupClass class_of(const Look *l, const FlExpr *e) {
  FlGroupClass out = FL_GROUP_OUTSIDE;
  switch (e->kind) {
  case FL_EXPR_ERROR:
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_OUTER:
  case FL_EXPR_TYPE: return FL_GROUP_OUTSIDE;
  case FL_EXPR_NAME: return name_class(l, e->name.text);
  case FL_EXPR_COL: return l->columns ? FL_GROUP_ROWS : FL_GROUP_OUTSIDE;
  case FL_EXPR_TEXT:
    for (int i = 0; i < e->text.parts.n; i++)
      if (e->text.parts.at[i].value) out = more(out, class_of(l, e->text.parts.at[i].value));
    return out;
  case FL_EXPR_BLOCK:
    return e->block.n == 1 && e->block.at[0]->kind == FL_STMT_EXPR ? class_of(l, e->block.at[0]->expr)
                                                                   : each_if_rows(l, e);
  case FL_EXPR_IF:
    if (!e->if_else.otherwise) return each_if_rows(l, e);
    out = more(class_of(l, e->if_else.condition), class_of(l, e->if_else.then));
    return more(out, class_of(l, e->if_else.otherwise));
  case FL_EXPR_MATCH: return match_class(l, e);
  case FL_EXPR_UNARY: return class_of(l, e->unary.operand);
  case FL_EXPR_BINARY:
    if (e->binary.op == FL_BIN_MATMUL) return each_if_rows(l, e);
    if (e->binary.op == FL_BIN_IN && class_of(l, e->binary.right)) return FL_GROUP_EACH;
    return more(class_of(l, e->binary.left), class_of(l, e->binary.right));
  case FL_EXPR_CALL: return call_class(l, e, &(Call){NULL, e->call.func, &e->call.args});
  case FL_EXPR_PIPE:
    return call_class(l, e, &(Call){e->pipe.value, e->pipe.call->call.func, &e->pipe.call->call.args});
  case FL_EXPR_TUPLE:
  case FL_EXPR_ARRAY:
  case FL_EXPR_COMPREHENSION:
  case FL_EXPR_REDUCE:
  case FL_EXPR_LAMBDA:
  case FL_EXPR_INDEX:
  case FL_EXPR_FIELD:
  case FL_EXPR_TRANSPOSE:
  case FL_EXPR_RANGE: return each_if_rows(l, e);
  }
  return FL_GROUP_EACH;
}

FlGroupClass fl_group_class(FlSema *s, const FlExpr *e) {
  return class_of(&(Look){.s = s, .scope = s->scope, .columns = s->agg->columns}, e);
}

bool fl_names_column(FlSema *s, const FlExpr *e) {
  return each_if_rows(&(Look){.s = s, .scope = s->scope, .columns = s->agg->columns}, e) != FL_GROUP_OUTSIDE;
}

bool fl_group_gives_rows(FlSema *s, const FlExpr *e) {
  const Look l = {.s = s, .scope = s->scope, .columns = s->agg->columns};
  if (e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL) return class_of(&l, e) == FL_GROUP_ROWS;
  if (e->kind != FL_EXPR_CALL || e->call.func->kind != FL_EXPR_NAME || called(&l, e->call.func->name.text))
    return false;
  const FlBuiltin *bi = fl_builtin_find(s, e->call.func->name.text);
  if (!bi) return false;
  bool place = (bi->kinds & FL_BUILTIN_POSITION) && e->call.args.n <= bi->n_params;
  return place || ((bi->kinds & FL_BUILTIN_WINDOW) && class_of(&l, e) == FL_GROUP_AT_ONCE);
}

typedef struct Named {
  const FlType *row;
  bool *named;
} Named;

static bool name_of_column(void *env, const FlExpr *e) {
  Named *n = env;
  bool set = means_rows(e), name = e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL;
  int k = name ? fl_type_field_find(n->row, e->name.text) : -1;
  if (k >= 0) n->named[k] = true;
  for (int i = 0; set && i < n->row->n_fields; i++) n->named[i] = true;
  return true;
}

void fl_named_columns(const FlType *row, const FlExpr *e, bool *named) {
  Named n = {row, named};
  FlWalker w = {.env = &n, .expr = name_of_column};
  fl_syntax_walk_expr(&w, e);
}
