/* build_expr.c: the productions of expressions.
 *
 * In: tokens and the trees of the parts. Out: a tree with span and height. What the grammar lets through but
 * the language does not is reported here. A tree that would be higher than FL_MAX_DEPTH becomes an error
 * node. */
#include "syntax/syntax_internal.h"

static void see(FlBelow *b, uint16_t height, uint8_t has) {
  b->height = fl_higher(b->height, height);
  b->has |= has;
}

static void see_expr(void *below, const FlExpr *e) { see(below, e->height, e->has); }
static void see_stmt(void *below, const FlStmt *s) { see(below, s->height, s->has); }
static void see_pattern(void *below, const FlPat *p) { see(below, p->height, 0); }
static void see_type(void *below, const FlTypeExpr *t) { see(below, t->height, 0); }

FlBelow fl_build_below(const FlExpr *e, const FlStmt *s) {
  FlBelow below = {0};
  FlChildVisitor v = {
      .env = &below, .expr = see_expr, .stmt = see_stmt, .pattern = see_pattern, .type = see_type};
  if (e) fl_syntax_expr_children(&v, e);
  if (s) fl_syntax_stmt_children(&v, s);
  return below;
}

FlExpr *fl_build_error(FlParser *p, FlSpan span) {
  FlExpr *e = FL_NEW(p->arena, FlExpr);
  e->kind = FL_EXPR_ERROR;
  e->span = span;
  e->height = 1;
  return e;
}

bool fl_build_too_high(FlParser *p, FlSpan span, uint16_t below) {
  if (below < FL_MAX_DEPTH) return false;
  if (p->too_deep) return true;
  p->too_deep = true;
  FlDiag *d = fl_report(p->sink, FL_E0008, span, "this is nested more than %d deep", FL_MAX_DEPTH);
  fl_diag_help(p->sink, d, "give parts names with `let`");
  return true;
}

static FlExpr *make(FlParser *p, FlExprKind kind, FlSpan span) {
  FlExpr *e = FL_NEW(p->arena, FlExpr);
  e->kind = kind;
  e->span = span;
  e->height = 1;
  return e;
}

/* Sets the height of a node whose parts are set, and what it has. */
static FlExpr *raise(FlParser *p, FlExpr *e) {
  FlBelow below = fl_build_below(e, NULL);
  if (fl_build_too_high(p, e->span, below.height)) return fl_build_error(p, e->span);
  e->height = (uint16_t)(below.height + 1);
  e->has = below.has;
  return e;
}

/* ---- leaves ---- */

static bool is_quoted(const FlParser *p, FlTok t) { return p->source->text[t->span.start] == '`'; }

/* inf, nan, pi: the numbers that are written as names. */
static const char *const named_numbers[] = {"inf", "nan", "pi"};
static const double named_values[] = {__builtin_inf(), __builtin_nan(""), 3.141592653589793};

static int named_number(const FlParser *p, FlTok t) {
  if (is_quoted(p, t)) return -1;
  for (int i = 0; i < 3; i++)
    if (!strcmp(t->name, named_numbers[i])) return i;
  return -1;
}

FlName fl_build_binding(FlParser *p, FlTok name) {
  FlName n = {name->name, name->span};
  int kind = is_quoted(p, name) ? 0 : (int)(intptr_t)fl_map_get(p->words, n.text);
  FlWordGroup group = fl_syntax_word_group(kind);
  bool word = kind && (group == FL_WORD_RESERVED || group == FL_WORD_SPECIAL);
  if (word || named_number(p, name) >= 0) {
    FlDiag *d = fl_report(p->sink, FL_E0104, n.span, "`%s` is a %s and cannot name something else", n.text,
                          word ? "reserved word" : "number");
    fl_diag_help(p->sink, d, "choose another name, or write it in backticks");
  }
  return n;
}

FlExpr *fl_build_name(FlParser *p, FlTok t) {
  int number = named_number(p, t);
  FlExpr *e = make(p, number < 0 ? FL_EXPR_NAME : FL_EXPR_FLOAT, t->span);
  if (number < 0) {
    e->name = (FlName){t->name, t->span};
  } else {
    e->real.value = named_values[number];
    e->real.spelling = t->name;
  }
  return e;
}

FlExpr *fl_build_wildcard(FlParser *p, FlTok t) {
  FlExpr *e = make(p, FL_EXPR_NAME, t->span);
  e->name = (FlName){t->name, t->span};
  fl_vec_push(p->arena, &p->wildcards, e);
  return e;
}

FlExpr *fl_build_special(FlParser *p, FlExprKind kind, FlTok word, FlTok name) {
  FlExpr *e = make(p, kind, fl_span_join(word->span, name->span));
  e->name = (FlName){name->name, name->span};
  return e;
}

FlExpr *fl_build_number(FlParser *p, FlTok t) {
  FlExpr *e = make(p, t->kind == FL_TOK_INT ? FL_EXPR_INT : FL_EXPR_FLOAT, t->span);
  if (t->kind == FL_TOK_INT) {
    e->integer.value = t->integer.value;
    e->integer.spelling = t->integer.spelling;
  } else {
    e->real.value = t->real.value;
    e->real.spelling = t->real.spelling;
  }
  return t->made ? fl_build_error(p, t->span) : e;
}

FlExpr *fl_build_constant(FlParser *p, FlTok t) {
  FlExpr *e = make(p, t->kind == FL_TOK_NULL ? FL_EXPR_NULL : FL_EXPR_BOOL, t->span);
  if (t->kind != FL_TOK_NULL) e->boolean = t->kind == FL_TOK_TRUE;
  return e;
}

/* ---- texts ---- */

FlExpr *fl_build_text(FlParser *p, FlTok t) {
  FlExpr *e = make(p, FL_EXPR_TEXT, t->span);
  e->text.style = t->text.style;
  if (t->text.len) {
    FlTextPart part = {.span = t->span, .bytes = t->text.bytes, .len = t->text.len};
    fl_vec_push(p->arena, &e->text.parts, part);
  }
  return e;
}

void fl_build_text_piece(FlParser *p, FlTextParts *parts, FlTok piece) {
  FlTextPart part = {.span = piece->span, .bytes = piece->text.bytes, .len = piece->text.len};
  fl_vec_push(p->arena, parts, part);
}

static bool is_bare_literal(const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_INT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_TEXT: return !e->brackets;
  case FL_EXPR_FLOAT: return !e->brackets && e->real.spelling[0] <= '9';
  default: return false;
  }
}

void fl_build_text_value(FlParser *p, FlTextParts *parts, FlTok open, FlExpr *value, FlTok format,
                         FlTok close) {
  FlTextPart part = {.span = fl_span_join(open->span, close->span), .value = value};
  if (!value || is_bare_literal(value)) {
    if (!open->made && !close->made) {
      FlDiag *d = fl_report(p->sink, FL_E0010, part.span,
                            value ? "a literal in the braces of a text is its own text"
                                  : "the braces of a text are empty");
      fl_diag_help(p->sink, d, "braces hold an expression; a brace that is only a sign is written `\\{`");
    }
    part.value = fl_build_error(p, part.span);
  }
  if (format) {
    part.format = format->name;
    part.format_span =
        (FlSpan){format->span.file, format->span.start + 1, close->span.start - format->span.start - 1, 0};
  }
  fl_vec_push(p->arena, parts, part);
}

FlExpr *fl_build_text_end(FlParser *p, FlTok begin, FlTextParts *parts, FlTok end) {
  FlExpr *e = make(p, FL_EXPR_TEXT, fl_span_join(begin->span, end->span));
  e->text.parts = *parts;
  e->text.style = begin->text.style;
  return raise(p, e);
}

/* ---- operators ---- */

FlExpr *fl_build_unary(FlParser *p, FlUnaryOp op, FlTok t, FlExpr *operand) {
  FlExpr *e = make(p, FL_EXPR_UNARY, fl_span_join(t->span, operand->span));
  e->unary.op = op;
  e->unary.operand = operand;
  e->unary.op_span = t->span;
  return raise(p, e);
}

static bool is_comparison(FlBinaryOp op) { return fl_syntax_precedence(op) == FL_BINDS_COMPARE; }

FlExpr *fl_build_binary(FlParser *p, FlBinaryOp op, FlExpr *left, FlTok t, FlExpr *right) {
  FlExpr *e = make(p, FL_EXPR_BINARY, fl_span_join(left->span, right->span));
  e->binary.op = op;
  e->binary.left = left;
  e->binary.right = right;
  e->binary.op_span = t->span;
  if (is_comparison(op) && left->kind == FL_EXPR_BINARY && !left->brackets &&
      is_comparison(left->binary.op)) {
    FlDiag *d = fl_report(p->sink, FL_E0106, t->span, "comparisons cannot be chained");
    fl_diag_help(p->sink, d, "write `a < b and b < c`");
    return fl_build_error(p, e->span);
  }
  return raise(p, e);
}

FlExpr *fl_build_range(FlParser *p, FlExpr *lo, FlExpr *hi, FlExpr *step) {
  FlExpr *e = make(p, FL_EXPR_RANGE, fl_span_join(lo->span, step ? step->span : hi->span));
  e->range.lo = lo;
  e->range.hi = hi;
  e->range.step = step;
  if (lo->kind == FL_EXPR_RANGE && !lo->brackets) {
    FlDiag *d = fl_report(p->sink, FL_E0106, e->span, "ranges cannot be chained");
    fl_diag_help(p->sink, d, "a step is written `0..n by 2`");
    return fl_build_error(p, e->span);
  }
  return raise(p, e);
}

/* ---- lambda ---- */

static FlPat *param_pattern(FlParser *p, FlExpr *e);

static FlPat *params_tuple(FlParser *p, FlExpr *e, FlPatList *items) {
  for (int i = 0; i < e->tuple.n; i++) {
    if (e->tuple.at[i].name.text) return NULL;
    FlPat *item = param_pattern(p, e->tuple.at[i].value);
    if (!item) return NULL;
    fl_vec_push(p->arena, items, item);
  }
  FlPat *pat = FL_NEW(p->arena, FlPat);
  pat->kind = FL_PAT_TUPLE;
  pat->span = e->span;
  pat->height = e->height;
  pat->tuple = *items;
  return pat;
}

/* The pattern that an expression spells; NULL: none. */
static FlPat *param_pattern(FlParser *p, FlExpr *e) {
  FlPatList items = {0};
  if (e->kind == FL_EXPR_TUPLE) return e->tuple.n ? params_tuple(p, e, &items) : NULL;
  if (e->kind != FL_EXPR_NAME) return NULL;
  FlPat *pat = FL_NEW(p->arena, FlPat);
  bool any = e->name.text == p->underscore && p->source->text[e->name.span.start] == '_';
  pat->kind = any ? FL_PAT_ANY : FL_PAT_NAME;
  pat->span = e->span;
  pat->height = 1;
  if (!any) pat->name = e->name;
  else e->kind = FL_EXPR_ERROR; /* a pattern now, not a `_` used as a value */
  return pat;
}

FlExpr *fl_build_lambda(FlParser *p, FlExpr *left, FlTok arrow, FlExpr *body) {
  FlExpr *e = make(p, FL_EXPR_LAMBDA, fl_span_join(left->span, body->span));
  e->lambda.body = body;
  FlPat *one = NULL;
  bool fits = true;
  if (left->kind == FL_EXPR_TUPLE) {
    FlPatList items = {0};
    fits = !left->tuple.n || params_tuple(p, left, &items);
    if (fits) e->lambda.params = items;
  } else {
    one = param_pattern(p, left);
    fits = one != NULL;
    if (fits) fl_vec_push(p->arena, &e->lambda.params, one);
  }
  if (!fits && left->kind != FL_EXPR_ERROR) {
    FlDiag *d = fl_report(p->sink, FL_E0108, left->span, "what stands before `=>` must be names");
    fl_diag_note(p->sink, d, arrow->span, "this makes a lambda");
    if (left->kind == FL_EXPR_TYPE)
      fl_diag_help(
          p->sink, d,
          "the parameters of a lambda have no types; a function with types is written `fn f(x: f64) = ...`");
    else
      fl_diag_help(p->sink, d,
                   "a lambda is written `x => ...` or `(a, b) => ...`; `=>` is the loosest operator: in a "
                   "pipe or operand put the lambda in brackets");
  }
  if (!fits) return fl_build_error(p, e->span);
  return raise(p, e);
}

/* ---- calls and what follows a value ---- */

FlExpr *fl_build_call(FlParser *p, FlExpr *func, FlArgList *args, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_CALL, fl_span_join(func->span, last->span));
  e->call.func = func;
  e->call.args = *args;
  return raise(p, e);
}

FlExpr *fl_build_reduce(FlParser *p, FlExpr *func, FlClauseList *clauses, FlExpr *body, FlArgList *rest,
                        FlTok last) {
  FlExpr *e = make(p, FL_EXPR_REDUCE, fl_span_join(func->span, last->span));
  e->reduce.func = func;
  e->reduce.comprehension = (FlComprehension){*clauses, body, false};
  e->reduce.rest = *rest;
  return raise(p, e);
}

FlExpr *fl_build_index(FlParser *p, FlExpr *base, FlSubscriptList *subs, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_INDEX, fl_span_join(base->span, last->span));
  e->index.base = base;
  e->index.subs = *subs;
  return raise(p, e);
}

FlExpr *fl_build_field(FlParser *p, FlExpr *base, FlTok name) {
  FlExpr *e = make(p, FL_EXPR_FIELD, fl_span_join(base->span, name->span));
  e->field.base = base;
  e->field.name = (FlName){name->name, name->span};
  return raise(p, e);
}

FlExpr *fl_build_transpose(FlParser *p, FlExpr *base, FlTok t) {
  FlExpr *e = make(p, FL_EXPR_TRANSPOSE, fl_span_join(base->span, t->span));
  e->operand = base;
  return raise(p, e);
}

FlArg *fl_build_arg(FlParser *p, FlTok name, FlExpr *value) {
  FlArg *a = FL_NEW(p->arena, FlArg);
  if (name) a->name = (FlName){name->name, name->span};
  a->value = value;
  a->span = name ? fl_span_join(name->span, value->span) : value->span;
  return a;
}

FlSubscript *fl_build_sub_value(FlParser *p, FlExpr *value) {
  FlSubscript *s = FL_NEW(p->arena, FlSubscript);
  s->span = value->span;
  if (value->kind == FL_EXPR_RANGE && !value->brackets) {
    s->kind = FL_SUB_SLICE;
    s->lo = value->range.lo;
    s->hi = value->range.hi;
    s->step = value->range.step;
  } else {
    s->kind = FL_SUB_VALUE;
    s->value = value;
  }
  return s;
}

FlSubscript *fl_build_sub_slice(FlParser *p, FlTok first, FlExpr *lo, FlExpr *hi, FlExpr *step, FlTok last) {
  FlSubscript *s = FL_NEW(p->arena, FlSubscript);
  s->kind = FL_SUB_SLICE;
  s->lo = lo;
  s->hi = hi;
  s->step = step;
  s->span = fl_span_join(first ? first->span : lo->span, step ? step->span : hi ? hi->span : last->span);
  return s;
}

FlSubscript *fl_build_sub_new(FlParser *p, FlTok t) {
  FlSubscript *s = FL_NEW(p->arena, FlSubscript);
  s->kind = FL_SUB_NEW;
  s->span = t->span;
  return s;
}

/* ---- pipes ---- */

/* The node that a `(..)`, `[..]`, `.name` or `'` applies to; NULL: e is none of these. */
static FlExpr **base_of(FlExpr *e) {
  if (e->brackets) return NULL;
  switch (e->kind) {
  case FL_EXPR_CALL: return &e->call.func;
  case FL_EXPR_REDUCE: return &e->reduce.func;
  case FL_EXPR_INDEX: return &e->index.base;
  case FL_EXPR_FIELD: return &e->field.base;
  case FL_EXPR_TRANSPOSE: return &e->operand;
  default: return NULL;
  }
}

/* a.b.c: the name of a function of a module. */
static bool is_path(FlExpr *e) {
  while (e->kind == FL_EXPR_FIELD && !e->brackets) e = e->field.base;
  return e->kind == FL_EXPR_NAME && !e->brackets;
}

static bool has_call(FlExpr *e) {
  for (FlExpr **base; (base = base_of(e)) != NULL; e = *base)
    if (e->kind == FL_EXPR_CALL || e->kind == FL_EXPR_REDUCE) return true;
  return false;
}

static FlExpr *pipe_to(FlParser *p, FlExpr *value, FlExpr *call) {
  if (call->kind != FL_EXPR_CALL || call->brackets) {
    FlExpr *func = call;
    call = make(p, FL_EXPR_CALL, func->span);
    call->call.func = func;
    call = raise(p, call);
    if (call->kind == FL_EXPR_ERROR) return call;
  }
  FlExpr *e = make(p, FL_EXPR_PIPE, fl_span_join(value->span, call->span));
  e->pipe.value = value;
  e->pipe.call = call;
  return raise(p, e);
}

FlExpr *fl_build_pipe(FlParser *p, FlExpr *value, FlTok t, FlExpr *right) {
  FlExpr **base = base_of(right);
  if (!base || is_path(right)) return pipe_to(p, value, right);
  if (!has_call(*base) && right->kind == FL_EXPR_CALL) return pipe_to(p, value, right);
  if (!has_call(*base) && right->kind == FL_EXPR_REDUCE) {
    FlDiag *d = fl_report(p->sink, FL_E0115, t->span, "a reduction with `for` takes no piped value");
    fl_diag_help(p->sink, d, "name the value with `let` and use it in the `for`");
    return fl_build_error(p, right->span);
  }
  *base = fl_build_pipe(p, value, t, *base);
  right->span = fl_span_join(value->span, right->span);
  return raise(p, right);
}

/* ---- brackets ---- */

FlItem *fl_build_item(FlParser *p, FlTok name, FlExpr *value, FlTypeExpr *type) {
  FlItem *item = FL_NEW(p->arena, FlItem);
  if (name) item->name = (FlName){name->name, name->span};
  item->value = value;
  item->type = type;
  return item;
}

static FlExpr *round_type(FlParser *p, FlSpan span, const FlItemList *items, bool open) {
  FlTypeExpr *type = FL_NEW(p->arena, FlTypeExpr);
  type->kind = FL_TE_TUPLE;
  type->span = span;
  type->tuple.open = open;
  uint16_t h = 0;
  for (int i = 0; i < items->n; i++) {
    const FlItem *item = &items->at[i];
    if (!item->type) {
      FlSpan at = item->value->span;
      FlDiag *d = fl_report(p->sink, FL_E0114, at, "this is a value, among fields of a type");
      fl_diag_help(p->sink, d, "`:` says what type a field has, `=` says what it is");
      return fl_build_error(p, span);
    }
    FlTypeItem field = {item->name, item->type, fl_span_join(item->name.span, item->type->span)};
    fl_vec_push(p->arena, &type->tuple.fields, field);
    h = fl_higher(h, item->type->height);
  }
  type->height = (uint16_t)(h + 1);
  FlExpr *e = make(p, FL_EXPR_TYPE, span);
  e->type = type;
  return raise(p, e);
}

FlExpr *fl_build_round(FlParser *p, FlTok first, FlItemList *items, bool comma, bool open, FlTok last) {
  FlSpan span = fl_span_join(first->span, last->span);
  for (int i = 0; i < items->n; i++)
    if (items->at[i].type || open) return round_type(p, span, items, open);
  if (items->n == 1 && !items->at[0].name.text && !comma) {
    FlExpr *e = items->at[0].value;
    e->brackets = true;
    e->span = span;
    return e;
  }
  FlExpr *e = make(p, FL_EXPR_TUPLE, span);
  for (int i = 0; i < items->n; i++) {
    const FlItem *item = &items->at[i];
    FlTupleItem field = {item->name, item->value, fl_span_join(item->name.span, item->value->span)};
    fl_vec_push(p->arena, &e->tuple, field);
  }
  return raise(p, e);
}

FlExpr *fl_build_array(FlParser *p, FlTok first, FlExprList *elements, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_ARRAY, fl_span_join(first->span, last->span));
  e->array = *elements;
  return raise(p, e);
}

FlExpr *fl_build_comprehension(FlParser *p, FlTok first, FlClauseList *clauses, FlExpr *body, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_COMPREHENSION, fl_span_join(first->span, last->span));
  e->comprehension = (FlComprehension){*clauses, body, false};
  return raise(p, e);
}

FlClause *fl_build_generator(FlParser *p, FlPat *pattern, FlExpr *source) {
  FlClause *c = FL_NEW(p->arena, FlClause);
  c->pattern = pattern;
  c->source = source;
  c->span = fl_span_join(pattern->span, source->span);
  return c;
}

FlClause *fl_build_filter(FlParser *p, FlTok t, FlExpr *condition) {
  FlClause *c = FL_NEW(p->arena, FlClause);
  c->source = condition;
  c->span = fl_span_join(t->span, condition->span);
  return c;
}

/* ---- blocks ---- */

FlExpr *fl_build_block(FlParser *p, FlTok first, FlStmtList *stmts, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_BLOCK, fl_span_join(first->span, last->span));
  if (stmts) e->block = *stmts;
  return raise(p, e);
}

FlExpr *fl_build_if(FlParser *p, FlTok first, FlExpr *condition, FlExpr *then, FlExpr *otherwise) {
  FlExpr *e = make(p, FL_EXPR_IF, fl_span_join(first->span, otherwise ? otherwise->span : then->span));
  e->if_else.condition = condition;
  e->if_else.then = then;
  e->if_else.otherwise = otherwise;
  return raise(p, e);
}

FlExpr *fl_build_match(FlParser *p, FlTok first, FlExpr *subject, FlArmList *arms, FlTok last) {
  FlExpr *e = make(p, FL_EXPR_MATCH, fl_span_join(first->span, last->span));
  e->match.subject = subject;
  e->match.arms = *arms;
  return raise(p, e);
}

FlArm *fl_build_arm(FlParser *p, FlPat *pattern, FlExpr *guard, FlExpr *body) {
  FlArm *a = FL_NEW(p->arena, FlArm);
  a->pattern = pattern;
  a->guard = guard;
  a->body = body;
  a->span = fl_span_join(pattern->span, body->span);
  return a;
}
