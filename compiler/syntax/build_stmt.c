/* build_stmt.c: the productions of statements. In: tokens and parts. Out: trees with span and height; what
 * cannot be assigned to, or begins like the rest of the line before, is reported here. */
#include "syntax/syntax_internal.h"

/* What a statement of this kind has, where those in it have `below`. */
static uint8_t has_with(FlStmtKind kind, uint8_t below) {
  switch (kind) {
  case FL_STMT_ASSIGN: return below | FL_HAS_ASSIGN;
  case FL_STMT_BREAK: return below | FL_HAS_BREAK;
  case FL_STMT_CONTINUE: return below | FL_HAS_CONTINUE;
  case FL_STMT_FOR:
  case FL_STMT_WHILE: return below & FL_HAS_ASSIGN;
  default: return below;
  }
}

static FlStmt *make(FlParser *p, FlStmtKind kind, FlSpan span) {
  FlStmt *s = FL_NEW(p->arena, FlStmt);
  s->kind = kind;
  s->span = span;
  s->height = 1;
  s->has = has_with(kind, 0);
  return s;
}

/* Index of the first token that starts at an offset or behind it; it was fed. */
static int token_at(const FlParser *p, uint32_t offset) {
  int lo = 0, hi = p->at;
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (p->tokens.at[mid].span.start < offset) lo = mid + 1;
    else hi = mid;
  }
  while (lo > 0 && p->tokens.at[lo - 1].span.start >= offset) lo--;
  return lo;
}

static FlStmt *claim(FlParser *p, FlStmt *s) {
  if (p->sink->diags.n > p->n_diags) fl_syntax_claim_errors(p, s, token_at(p, s->span.start));
  return s;
}

/* Sets the height of a statement whose parts are set, and what it has. One that is too high becomes ERROR. */
static FlStmt *raise(FlParser *p, FlStmt *s) {
  FlBelow below = fl_build_below(NULL, s);
  bool high = fl_build_too_high(p, s->span, below.height);
  if (high) s->kind = FL_STMT_ERROR;
  s->height = high ? 1 : (uint16_t)(below.height + 1);
  s->has = has_with(s->kind, high ? 0 : below.has);
  return claim(p, s);
}

FlStmt *fl_build_stmt_error(FlParser *p) {
  FlStmt *s = make(p, FL_STMT_ERROR, p->tokens.at[p->at].span);
  s->damaged = FL_LOST_PERHAPS;
  fl_syntax_claim_errors(p, s, p->error_head);
  return s;
}

FlStmt *fl_build_let(FlParser *p, FlStmtKind kind, FlTok first, FlPat *pattern, FlTypeExpr *type,
                     FlExpr *value) {
  FlStmt *s = make(p, kind, fl_span_join(first->span, value->span));
  s->let.pattern = pattern;
  s->let.type = type;
  s->let.value = value;
  return raise(p, s);
}

static bool is_target(const FlExpr *e) {
  while ((e->kind == FL_EXPR_INDEX || e->kind == FL_EXPR_FIELD) && !e->brackets)
    e = e->kind == FL_EXPR_INDEX ? e->index.base : e->field.base;
  return e->kind == FL_EXPR_NAME && !e->brackets;
}

FlStmt *fl_build_assign(FlParser *p, FlExpr *target, FlTok t, FlExpr *value) {
  FlStmt *s = make(p, FL_STMT_ASSIGN, fl_span_join(target->span, value->span));
  s->assign.target = target;
  s->assign.value = value;
  s->assign.add = t->kind == FL_TOK_PLUSASSIGN;
  raise(p, s);
  if (is_target(target) || target->kind == FL_EXPR_ERROR) return s;
  FlDiag *d = fl_report(p->sink, FL_E0107, target->span, "this cannot be assigned to");
  if (target->kind == FL_EXPR_TUPLE) fl_diag_help(p->sink, d, "names are bound with `let (a, b) = ...`");
  else if (target->kind == FL_EXPR_CALL) fl_diag_help(p->sink, d, "a function is written `fn f(x) = ...`");
  else
    fl_diag_help(p->sink, d,
                 "only a `var`, its elements and its fields are assigned: `x = ..`, `x[i] = ..`, `x.a = ..`");
  s->kind = FL_STMT_ERROR;
  s->has = 0;
  return claim(p, s);
}

/* Does the statement stand on a line of its own behind another one? */
static bool follows_line(const FlParser *p, FlSpan span) {
  int lo = token_at(p, span.start);
  return lo > 0 && p->tokens.at[lo - 1].kind == FL_TOK_NEWLINE;
}

static bool is_arrow_assignment(const FlParser *p, const FlExpr *e) {
  if (e->kind != FL_EXPR_BINARY || e->brackets || e->binary.op != FL_BIN_LT || !is_target(e->binary.left))
    return false;
  return p->source->text[e->binary.op_span.start + 1] == '-';
}

FlStmt *fl_build_expr_stmt(FlParser *p, FlExpr *value) {
  FlStmt *s = make(p, FL_STMT_EXPR, value->span);
  s->expr = value;
  raise(p, s);
  if (s->kind == FL_STMT_ERROR) return s;
  if (value->span.file && p->source->text[value->span.start] == '-' && follows_line(p, value->span)) {
    FlDiag *d = fl_report(p->sink, FL_E0105, (FlSpan){value->span.file, value->span.start, 1, 0},
                          "a statement does not begin with `-`");
    fl_diag_help(p->sink, d,
                 "to go on from the line before, end that line with `-`; to begin anew, write `(-x)`");
  }
  if (is_arrow_assignment(p, value)) {
    FlSpan arrow = {value->span.file, value->binary.op_span.start, 2, 0};
    FlDiag *d = fl_report(p->sink, FL_E0012, arrow, "`<-` does not bind a name");
    fl_diag_help(p->sink, d, "write `let x = ...`");
  }
  return claim(p, s);
}

FlStmt *fl_build_for(FlParser *p, FlTok first, FlPat *pattern, FlExpr *source, FlExpr *body) {
  FlStmt *s = make(p, FL_STMT_FOR, fl_span_join(first->span, body->span));
  s->loop.pattern = pattern;
  s->loop.source = source;
  s->loop.body = body;
  return raise(p, s);
}

FlStmt *fl_build_while(FlParser *p, FlTok first, FlExpr *condition, FlExpr *body) {
  FlStmt *s = make(p, FL_STMT_WHILE, fl_span_join(first->span, body->span));
  s->loop.source = condition;
  s->loop.body = body;
  return raise(p, s);
}

FlStmt *fl_build_word_stmt(FlParser *p, FlStmtKind kind, FlTok t) { return make(p, kind, t->span); }

FlStmt *fl_build_assert(FlParser *p, FlTok first, FlExpr *condition, FlExpr *message) {
  FlSpan span = fl_span_join(first->span, message ? message->span : condition->span);
  FlStmt *s = make(p, FL_STMT_ASSERT, span);
  s->assert.condition = condition;
  s->assert.message = message;
  return raise(p, s);
}

/* ---- functions ---- */

static FlStmt *make_fn(FlParser *p, FlStmtKind kind, FlAttributeList *attributes, FlSpan span, FlTok name,
                       FlFnParamList *params, FlTypeExpr *result, FlExpr *body) {
  if (attributes->n) span = fl_span_join(attributes->at[0].span, span);
  FlStmt *s = make(p, kind, span);
  s->fn.attributes = *attributes;
  s->fn.name = fl_build_binding(p, name);
  s->fn.params = *params;
  s->fn.result = result;
  s->fn.body = body;
  return raise(p, s);
}

FlStmt *fl_build_fn(FlParser *p, FlStmtKind kind, FlAttributeList *attributes, FlTok first, FlTok name,
                    FlFnParamList *params, FlTypeExpr *result, FlExpr *body) {
  return make_fn(p, kind, attributes, fl_span_join(first->span, body->span), name, params, result, body);
}

FlStmt *fl_build_extern(FlParser *p, FlAttributeList *attributes, FlTok first, FlTok name,
                        FlFnParamList *params, FlTypeExpr *result, FlTok library) {
  FlSpan span = fl_span_join(first->span, library->span);
  FlStmt *s = make_fn(p, FL_STMT_EXTERN, attributes, span, name, params, result, NULL);
  s->fn.library = library->text.bytes;
  s->fn.library_span = library->span;
  return s;
}

FlFnParam *fl_build_fn_param(FlParser *p, FlTok name, FlTypeExpr *type, FlExpr *fallback) {
  FlFnParam *f = FL_NEW(p->arena, FlFnParam);
  f->name = fl_build_binding(p, name);
  f->type = type;
  f->fallback = fallback;
  f->span = fl_span_join(name->span, fallback ? fallback->span : type ? type->span : name->span);
  return f;
}

FlAttribute *fl_build_attribute(FlParser *p, FlTok first, FlTok name, FlArgList *args, FlTok last) {
  FlAttribute *a = FL_NEW(p->arena, FlAttribute);
  a->name = (FlName){name->name, name->span};
  if (args) a->args = *args;
  a->span = fl_span_join(first->span, last->span);
  return a;
}

/* ---- other declarations ---- */

FlStmt *fl_build_type_stmt(FlParser *p, FlTok first, FlTok name, FlNameList *sizes, FlTypeExpr *type) {
  FlStmt *s = make(p, FL_STMT_TYPE, fl_span_join(first->span, type->span));
  s->type.name = fl_build_binding(p, name);
  if (sizes) s->type.sizes = *sizes;
  s->type.type = type;
  return raise(p, s);
}

FlStmt *fl_build_param(FlParser *p, FlTok first, FlTok name, FlTypeExpr *type, FlExpr *fallback) {
  FlSpan span = fl_span_join(first->span, fallback ? fallback->span : type->span);
  FlStmt *s = make(p, FL_STMT_PARAM, span);
  s->param.name = fl_build_binding(p, name);
  s->param.type = type;
  s->param.fallback = fallback;
  return raise(p, s);
}

FlStmt *fl_build_import(FlParser *p, FlTok first, FlImportList *items) {
  FlStmt *s = make(p, FL_STMT_IMPORT, fl_span_join(first->span, items->at[items->n - 1].span));
  s->import = *items;
  return raise(p, s);
}

FlStmt *fl_build_requires(FlParser *p, FlTok first, FlTok name, FlVersionBoundList *bounds) {
  FlStmt *s = make(p, FL_STMT_REQUIRES, fl_span_join(first->span, bounds->at[bounds->n - 1].span));
  s->
    requires
  = *bounds;
  (void)name; /* `flow`: the layout takes no other */
  return raise(p, s);
}

FlImport *fl_build_import_item(FlParser *p, FlTok module, FlTok path, FlTok alias) {
  FlImport *i = FL_NEW(p->arena, FlImport);
  if (module) i->module = (FlName){module->name, module->span};
  if (path) {
    i->path = path->text.bytes;
    i->path_span = path->span;
  }
  if (alias) i->alias = fl_build_binding(p, alias);
  i->span = fl_span_join(module ? module->span : path->span, alias ? alias->span : (FlSpan){0});
  return i;
}

FlStmt *fl_build_test(FlParser *p, FlTok first, FlTok name, FlExpr *body) {
  FlStmt *s = make(p, FL_STMT_TEST, fl_span_join(first->span, body->span));
  s->test.name = name->text.bytes;
  s->test.name_span = name->span;
  s->test.body = body;
  return raise(p, s);
}
