/* fmt_expr.c: expressions, formatted.
 *
 * In: a tree from a parse without errors. Out: text that parses to the same tree. Brackets that the writer
 * put stay; those that the tree needs are there. Numbers and the literal pieces of texts are taken from the
 * source. A pipeline and a block that were written over several lines stay so. */
#include "syntax/fmt_internal.h"

/* How tightly a node binds; an operand that binds less tightly than its place wants brackets. */
enum {
  LEVEL_LAMBDA,
  LEVEL_PIPE,
  LEVEL_DEFAULT,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_COMPARE,
  LEVEL_RANGE,
  LEVEL_ADD,
  LEVEL_MUL,
  LEVEL_NEGATE,
  LEVEL_POW,
  LEVEL_OPERAND, /* if, match, blocks */
  LEVEL_POSTFIX
};

static void print(FlFmt *f, const FlExpr *e, int least);

static int level_of_op(FlBinaryOp op) {
  switch (op) {
  case FL_BIN_DEFAULT: return LEVEL_DEFAULT;
  case FL_BIN_OR: return LEVEL_OR;
  case FL_BIN_AND: return LEVEL_AND;
  case FL_BIN_EQ:
  case FL_BIN_NE:
  case FL_BIN_LT:
  case FL_BIN_LE:
  case FL_BIN_GT:
  case FL_BIN_GE:
  case FL_BIN_NEAR:
  case FL_BIN_IN: return LEVEL_COMPARE;
  case FL_BIN_ADD:
  case FL_BIN_SUB: return LEVEL_ADD;
  case FL_BIN_MUL:
  case FL_BIN_DIV:
  case FL_BIN_FLOORDIV:
  case FL_BIN_MOD:
  case FL_BIN_MATMUL: return LEVEL_MUL;
  case FL_BIN_POW: return LEVEL_POW;
  }
  return LEVEL_POSTFIX;
}

/* What a postfix applies to, if e is one. */
static const FlExpr *base_of(const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_CALL: return e->call.func;
  case FL_EXPR_REDUCE: return e->reduce.func;
  case FL_EXPR_INDEX: return e->index.base;
  case FL_EXPR_FIELD: return e->field.base;
  case FL_EXPR_TRANSPOSE: return e->operand;
  default: return NULL;
  }
}

/* The PIPE that e is, or that its postfixes apply to; NULL: none. */
static const FlExpr *pipe_of(const FlExpr *e) {
  while (e->kind != FL_EXPR_PIPE) {
    e = base_of(e);
    if (!e || e->brackets) return NULL;
  }
  return e;
}

static int level_of(const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_LAMBDA: return LEVEL_LAMBDA;
  case FL_EXPR_PIPE: return LEVEL_PIPE;
  case FL_EXPR_BINARY: return level_of_op(e->binary.op);
  case FL_EXPR_UNARY: return e->unary.op == FL_UN_NOT ? LEVEL_NOT : LEVEL_NEGATE;
  case FL_EXPR_RANGE: return LEVEL_RANGE;
  case FL_EXPR_BLOCK:
  case FL_EXPR_IF:
  case FL_EXPR_MATCH: return LEVEL_OPERAND;
  case FL_EXPR_CALL:
  case FL_EXPR_REDUCE:
  case FL_EXPR_INDEX:
  case FL_EXPR_FIELD:
  case FL_EXPR_TRANSPOSE: return pipe_of(e) ? LEVEL_PIPE : LEVEL_POSTFIX;
  case FL_EXPR_ERROR:
  case FL_EXPR_INT:
  case FL_EXPR_FLOAT:
  case FL_EXPR_BOOL:
  case FL_EXPR_NULL:
  case FL_EXPR_TEXT:
  case FL_EXPR_NAME:
  case FL_EXPR_COL:
  case FL_EXPR_OUTER:
  case FL_EXPR_TUPLE:
  case FL_EXPR_ARRAY:
  case FL_EXPR_COMPREHENSION:
  case FL_EXPR_TYPE: return LEVEL_POSTFIX;
  }
  return LEVEL_POSTFIX;
}

static uint32_t end_of(const FlExpr *e) { return e->span.start + e->span.len; }

/* ---- measuring ---- */

static bool narrow(const FlFmt *f, const FlExpr *e, int least, int columns) {
  FlFmt copy;
  if (!fl_fmt_begin_measure((FlFmt *)f, &copy, columns)) return true;
  print(&copy, e, least);
  return !copy.overflow;
}

/* Narrow enough, and without comments, which want lines. */
static bool fits_at(const FlFmt *f, const FlExpr *e, int least, int columns) {
  if (f->flat) return true;
  return !fl_fmt_has_comment(f, e->span.start, end_of(e)) && narrow(f, e, least, columns);
}

bool fl_fmt_fits(const FlFmt *f, const FlExpr *e, int columns) {
  return fits_at(f, e, LEVEL_LAMBDA, columns);
}

static bool fits_here(const FlFmt *f, const FlExpr *e) { return fits_at(f, e, LEVEL_LAMBDA, fl_fmt_room(f)); }

/* ---- literals ---- */

static void number(FlFmt *f, const FlExpr *e, const char *spelling) {
  const char *text = f->ast->source->text;
  uint32_t start = e->span.start, end = end_of(e);
  while (e->brackets && start < end && (text[start] == '(' || text[start] == ' ')) start++;
  while (e->brackets && end > start && (text[end - 1] == ')' || text[end - 1] == ' ')) end--;
  bool number = true; /* a comment or line end in the brackets: the digits alone */
  for (uint32_t i = start; i < end; i++) number = number && strchr("0123456789_.+-abcdefxinpABCDEF", text[i]);
  if (number) fl_fmt_add(f, text + start, end - start);
  else fl_fmt_put(f, spelling);
}

static void text(FlFmt *f, const FlExpr *e) {
  const FlTextParts *parts = &e->text.parts;
  const char *source = f->ast->source->text;
  const char *quote = e->text.style == FL_TEXT_LINES ? "\"\"\"" : "\"";
  if (parts->n == 1 && !parts->at[0].value) { /* one token, quotes and all */
    fl_fmt_slice(f, parts->at[0].span);
    return;
  }
  fl_fmt_put(f, e->text.style == FL_TEXT_RAW ? "r\"" : quote);
  if (e->text.style == FL_TEXT_LINES && parts->n && source[parts->at[0].span.start - 1] == '\n')
    fl_fmt_add(f, "\n", 1);
  for (int i = 0; i < parts->n; i++) {
    const FlTextPart *part = &parts->at[i];
    if (!part->value) {
      fl_fmt_slice(f, part->span);
      continue;
    }
    bool flat = f->flat;
    f->flat = true;
    fl_fmt_put(f, "{");
    print(f, part->value, LEVEL_LAMBDA);
    if (part->format) fl_fmt_put(f, ":"), fl_fmt_put(f, part->format);
    fl_fmt_put(f, "}");
    f->flat = flat;
  }
  fl_fmt_put(f, quote);
}

/* ---- lists ---- */

static void argument(FlFmt *f, const void *items, int i) {
  const FlArg *a = &((const FlArg *)items)[i];
  if (a->name.text) {
    fl_fmt_name(f, a->name);
    fl_fmt_put(f, " = ");
  }
  print(f, a->value, LEVEL_LAMBDA);
}
static uint32_t argument_start(const void *items, int i) { return ((const FlArg *)items)[i].span.start; }

static void tuple_item(FlFmt *f, const void *items, int i) {
  const FlTupleItem *t = &((const FlTupleItem *)items)[i];
  if (t->name.text) {
    fl_fmt_name(f, t->name);
    fl_fmt_put(f, " = ");
  }
  print(f, t->value, LEVEL_LAMBDA);
}
static uint32_t tuple_start(const void *items, int i) { return ((const FlTupleItem *)items)[i].span.start; }

static void element(FlFmt *f, const void *items, int i) {
  print(f, ((FlExpr *const *)items)[i], LEVEL_LAMBDA);
}
static uint32_t element_start(const void *items, int i) { return ((FlExpr *const *)items)[i]->span.start; }

static void subscript(FlFmt *f, const void *items, int i) {
  const FlSubscript *s = &((const FlSubscript *)items)[i];
  switch (s->kind) {
  case FL_SUB_VALUE: print(f, s->value, LEVEL_LAMBDA); break;
  case FL_SUB_NEW: fl_fmt_put(f, "new"); break;
  case FL_SUB_SLICE:
    if (!s->lo && !s->hi && !s->step) {
      fl_fmt_put(f, ":");
      break;
    }
    if (s->lo) print(f, s->lo, LEVEL_RANGE + 1);
    fl_fmt_put(f, "..");
    if (s->hi) print(f, s->hi, LEVEL_RANGE + 1);
    if (s->step) {
      fl_fmt_put(f, " by ");
      print(f, s->step, LEVEL_RANGE + 1);
    }
    break;
  }
}
static uint32_t subscript_start(const void *items, int i) {
  return ((const FlSubscript *)items)[i].span.start;
}

/* Does a value go on to a new line by itself, so that its list need not be broken around it? */
static bool hugs(const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_LAMBDA: return e->lambda.body->kind == FL_EXPR_BLOCK;
  case FL_EXPR_TUPLE:
  case FL_EXPR_ARRAY:
  case FL_EXPR_COMPREHENSION:
  case FL_EXPR_BLOCK: return !e->brackets;
  default: return false;
  }
}

/* Prints arguments in brackets: flat, or only the last one broken, or one a line. */
void fl_fmt_args(FlFmt *f, const FlArgList *args, uint32_t end) {
  FlFmtList list = {.open = "(",
                    .close = ")",
                    .n = args->n,
                    .items = args->at,
                    .item = argument,
                    .start = argument_start,
                    .end = end};
  uint32_t start = args->n ? args->at[0].span.start : end;
  bool comments = fl_fmt_has_comment(f, start, end);
  FlFmt copy;
  bool fits = true;
  if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f))) {
    fl_fmt_list(&copy, &list, false);
    fits = !copy.overflow && !comments;
  }
  if (!fits && args->n && !comments && hugs(args->at[args->n - 1].value)) {
    FlFmtList before = list;
    before.n--;
    before.close = "";
    fl_fmt_begin_measure(f, &copy, fl_fmt_room(f) - 10);
    fl_fmt_list(&copy, &before, false);
    fits = !copy.overflow && (args->n == 1 || args->at[args->n - 1].value->kind == FL_EXPR_LAMBDA);
  }
  fl_fmt_list(f, &list, !fits);
}

static void in_brackets(FlFmt *f, const FlExpr *whole, FlFmtList list) {
  list.end = end_of(whole);
  if (whole->brackets) { /* the span holds the round brackets around it: look from the last element */
    const char *text = f->ast->source->text;
    uint32_t from = list.n ? list.start(list.items, list.n - 1) : whole->span.start;
    while (list.end > from && text[list.end - 1] != list.close[0]) list.end--;
  }
  FlFmt copy;
  bool fits = true;
  if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f))) {
    fl_fmt_list(&copy, &list, false);
    fits = !copy.overflow &&
           !fl_fmt_has_comment(f, list.n ? list.start(list.items, 0) : whole->span.start, list.end);
  }
  fl_fmt_list(f, &list, !fits);
}

/* ---- comprehensions ---- */

static void clauses(FlFmt *f, const FlComprehension *c, bool broken) {
  fl_fmt_put(f, "for ");
  f->indent += broken ? 2 * FL_FMT_STEP : 0;
  for (int i = 0; i < c->clauses.n; i++) {
    const FlClause *clause = &c->clauses.at[i];
    if (i) {
      if (clause->pattern) fl_fmt_put(f, ",");
      if (broken) fl_fmt_line(f, clause->span.start, false);
      else fl_fmt_put(f, " ");
    }
    if (clause->pattern) {
      fl_fmt_pattern(f, clause->pattern);
      fl_fmt_put(f, " in ");
    } else {
      fl_fmt_put(f, "if ");
    }
    print(f, clause->source, LEVEL_PIPE);
  }
  f->indent -= broken ? 2 * FL_FMT_STEP : 0;
}

/* `for ...: body`, between brackets. */
static void comprehension(FlFmt *f, const FlComprehension *c) {
  FlFmt copy;
  bool block = c->body->kind == FL_EXPR_BLOCK && !c->body->brackets;
  uint32_t start = c->clauses.at[0].span.start;
  bool whole = true, head = true;
  if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f) - 2)) {
    clauses(&copy, c, false);
    head = !copy.overflow && !fl_fmt_has_comment(f, start, c->clauses.at[c->clauses.n - 1].span.start);
    fl_fmt_put(&copy, block ? " " : ": ");
    print(&copy, c->body, LEVEL_LAMBDA);
    whole = !copy.overflow && !fl_fmt_has_comment(f, start, end_of(c->body));
  }
  clauses(f, c, !head);
  if (block) {
    fl_fmt_put(f, " ");
    fl_fmt_block(f, c->body, !whole);
    return;
  }
  fl_fmt_put(f, ":");
  if (whole) {
    fl_fmt_put(f, " ");
    print(f, c->body, LEVEL_LAMBDA);
    return;
  }
  f->indent += FL_FMT_STEP;
  fl_fmt_line(f, c->body->span.start, false);
  print(f, c->body, LEVEL_LAMBDA);
  f->indent -= FL_FMT_STEP;
}

/* ---- blocks ---- */

static uint32_t brace_of(const FlFmt *f, const FlExpr *block) {
  uint32_t at = block->span.start;
  while (f->ast->source->text[at] != '{' && at < end_of(block)) at++;
  return at;
}

bool fl_fmt_block_breaks(const FlFmt *f, const FlExpr *block) {
  if (f->flat && !f->measuring) return false;
  if (!block->block.n) return fl_fmt_has_comment(f, block->span.start, end_of(block));
  if (block->block.n > 1 || fl_fmt_has_comment(f, block->span.start, end_of(block))) return true;
  switch (block->block.at[0]->kind) {
  case FL_STMT_EXPR:
  case FL_STMT_ASSIGN:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE: return fl_fmt_source_breaks(f, brace_of(f, block), block->block.at[0]->span.start);
  case FL_STMT_ERROR:
  case FL_STMT_LET:
  case FL_STMT_VAR:
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
  case FL_STMT_ASSERT:
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN:
  case FL_STMT_TYPE:
  case FL_STMT_PARAM:
  case FL_STMT_IMPORT:
  case FL_STMT_TEST: return true;
  }
  return true;
}

void fl_fmt_block(FlFmt *f, const FlExpr *block, bool broken) {
  const FlStmtList *stmts = &block->block;
  if (f->measuring && fl_fmt_block_breaks(f, block)) f->overflow = true;
  broken = broken && !f->flat && (stmts->n || fl_fmt_block_breaks(f, block));
  fl_fmt_put(f, "{");
  if (broken) {
    f->indent += FL_FMT_STEP;
    f->pos = brace_of(f, block) + 1;
    fl_fmt_stmts(f, stmts, end_of(block) - 1);
    f->indent -= FL_FMT_STEP;
  } else {
    for (int i = 0; i < stmts->n && !f->overflow; i++) {
      fl_fmt_put(f, i ? "; " : " ");
      fl_fmt_stmt(f, stmts->at[i]);
    }
    if (stmts->n) fl_fmt_put(f, " ");
  }
  fl_fmt_put(f, "}");
}

static void if_else(FlFmt *f, const FlExpr *e) {
  bool broken = !f->flat && !fits_here(f, e);
  for (;;) {
    fl_fmt_put(f, "if ");
    print(f, e->if_else.condition, LEVEL_PIPE);
    fl_fmt_put(f, " ");
    fl_fmt_block(f, e->if_else.then, broken);
    const FlExpr *next = e->if_else.otherwise;
    if (!next) return;
    fl_fmt_put(f, " else ");
    if (next->kind == FL_EXPR_BLOCK) {
      fl_fmt_block(f, next, broken);
      return;
    }
    e = next;
  }
}

static void match(FlFmt *f, const FlExpr *e) {
  const FlArmList *arms = &e->match.arms;
  uint32_t subject_end = end_of(e->match.subject);
  bool lines = fl_fmt_source_breaks(f, subject_end, arms->at[0].span.start);
  if (f->measuring && lines) f->overflow = true;
  bool broken = !f->flat && (lines || !fits_here(f, e));
  fl_fmt_put(f, "match ");
  print(f, e->match.subject, LEVEL_PIPE);
  fl_fmt_put(f, " {");
  f->indent += broken ? FL_FMT_STEP : 0;
  for (int i = 0; i < arms->n && !f->overflow; i++) {
    const FlArm *arm = &arms->at[i];
    if (broken) fl_fmt_line(f, arm->span.start, false);
    else fl_fmt_put(f, i ? ", " : " ");
    fl_fmt_pattern(f, arm->pattern);
    if (arm->guard) {
      fl_fmt_put(f, " if ");
      print(f, arm->guard, LEVEL_PIPE);
    }
    fl_fmt_put(f, " =>");
    fl_fmt_assigned(f, arm->body);
  }
  if (broken) fl_fmt_line(f, end_of(e) - 1, false);
  else fl_fmt_put(f, " ");
  f->indent -= broken ? FL_FMT_STEP : 0;
  fl_fmt_put(f, "}");
}

/* ---- pipes ---- */

/* f, a.b: what may stand behind `|>` without the brackets of a call. */
static bool is_bare_function(const FlExpr *e) {
  if (e->brackets) return true;
  while (e->kind == FL_EXPR_FIELD) {
    e = e->field.base;
    if (e->brackets) return false;
  }
  return e->kind == FL_EXPR_NAME;
}

/* The right side of one `|>`. applied: something follows that would swallow a bare name. */
static void pipe_call(FlFmt *f, const FlExpr *call, bool applied) {
  const FlExpr *func = call->call.func;
  if (call->call.args.n || applied) {
    print(f, func, LEVEL_POSTFIX);
    fl_fmt_args(f, &call->call.args, end_of(call));
  } else if (is_bare_function(func) || !base_of(func)) {
    print(f, func, LEVEL_PIPE + 1);
  } else { /* a call or index as the function itself */
    fl_fmt_put(f, "(");
    print(f, func, LEVEL_LAMBDA);
    fl_fmt_put(f, ")");
  }
}

/* The steps of a pipeline from e inwards; the value that it begins with. */
static const FlExpr *first_value(const FlExpr *e, FlFmt *f, FlExprList *steps) {
  for (;;) {
    const FlExpr *pipe = e->brackets && steps->n ? NULL : pipe_of(e);
    if (!pipe) return e;
    fl_vec_push(f->ast->arena, steps, (FlExpr *)e);
    e = pipe->pipe.value;
  }
}

static void pipeline(FlFmt *f, const FlExpr *e) {
  FlExprList steps = {0};
  const FlExpr *value = first_value(e, f, &steps);
  bool lines = false;
  for (int i = 0; i < steps.n; i++) {
    const FlExpr *pipe = pipe_of(steps.at[i]);
    lines = lines || fl_fmt_source_breaks(f, end_of(pipe->pipe.value), pipe->pipe.call->span.start);
  }
  if (f->measuring && lines) f->overflow = true;
  bool broken = !f->flat && lines;
  if (!f->flat && !broken) {
    FlFmt copy;
    fl_fmt_begin_measure(f, &copy, fl_fmt_room(f));
    pipeline(&copy, e);
    broken = copy.overflow || fl_fmt_has_comment(f, e->span.start, end_of(e));
  }
  print(f, value, value->kind == FL_EXPR_PIPE ? LEVEL_POSTFIX : LEVEL_PIPE);
  f->indent += broken ? FL_FMT_STEP : 0;
  const FlExpr *outer = f->hole;
  for (int i = steps.n - 1; i >= 0 && !f->overflow; i--) {
    const FlExpr *pipe = pipe_of(steps.at[i]);
    if (broken) fl_fmt_line(f, pipe->pipe.call->span.start, false);
    else fl_fmt_put(f, " ");
    fl_fmt_put(f, "|> ");
    if (steps.at[i] == pipe) {
      pipe_call(f, pipe->pipe.call, false);
    } else {
      f->hole = pipe;
      FlExpr step = *steps.at[i];
      step.brackets = false;
      print(f, &step, LEVEL_LAMBDA);
      f->hole = outer;
    }
  }
  f->indent -= broken ? FL_FMT_STEP : 0;
}

/* ---- operators ---- */

static bool negates(const FlExpr *e) {
  return e->kind == FL_EXPR_UNARY && e->unary.op == FL_UN_NEG && !e->brackets;
}

/* An operand behind an operator: goes to the next line when it does not fit on this one. */
static void right_operand(FlFmt *f, const FlExpr *e, int least, bool broken) {
  if (negates(e)) least = LEVEL_LAMBDA; /* a - -b needs no brackets */
  bool next_line =
      broken && (fl_fmt_has_comment(f, f->pos, e->span.start) || !narrow(f, e, least, fl_fmt_room(f) - 1));
  if (next_line) fl_fmt_line(f, e->span.start, false);
  else fl_fmt_put(f, " ");
  print(f, e, least);
}

static void binary(FlFmt *f, const FlExpr *e, bool broken) {
  int level = level_of_op(e->binary.op);
  bool left_assoc = level != LEVEL_COMPARE && level != LEVEL_POW;
  const FlExpr *left = e->binary.left;
  if (left_assoc && left->kind == FL_EXPR_BINARY && !left->brackets &&
      level_of_op(left->binary.op) == level) {
    binary(f, left, broken);
  } else {
    print(f, left, left_assoc ? level : level + 1 > LEVEL_POW ? LEVEL_POSTFIX : level + 1);
  }
  if (f->overflow) return;
  bool tight = e->binary.op == FL_BIN_POW;
  if (!tight) fl_fmt_put(f, " ");
  fl_fmt_put(f, fl_syntax_binary_spelling(e->binary.op));
  f->pos = broken ? e->binary.op_span.start + e->binary.op_span.len : f->pos;
  if (tight) print(f, e->binary.right, negates(e->binary.right) ? LEVEL_LAMBDA : level);
  else right_operand(f, e->binary.right, level + 1, broken);
}

static void operators(FlFmt *f, const FlExpr *e) {
  bool broken = !f->flat && !fits_at(f, e, LEVEL_LAMBDA, fl_fmt_room(f));
  fl_fmt_indent(f);
  f->indent += broken ? FL_FMT_STEP : 0;
  binary(f, e, broken);
  f->indent -= broken ? FL_FMT_STEP : 0;
}

static void lambda(FlFmt *f, const FlExpr *e) {
  const FlPatList *params = &e->lambda.params;
  bool one = params->n == 1 && params->at[0]->kind != FL_PAT_TUPLE;
  if (!one) fl_fmt_put(f, "(");
  for (int i = 0; i < params->n; i++) {
    if (i) fl_fmt_put(f, ", ");
    fl_fmt_pattern(f, params->at[i]);
  }
  if (!one) fl_fmt_put(f, params->n == 1 ? ",)" : ")");
  fl_fmt_put(f, " =>");
  fl_fmt_assigned(f, e->lambda.body);
}

/* ---- the switch ---- */

/* The base of a postfix; a PIPE as base is part of the pipeline that prints e. */
static void base(FlFmt *f, const FlExpr *b) {
  if (b == f->hole) pipe_call(f, b->pipe.call, true);
  else print(f, b, LEVEL_POSTFIX);
}

static void bare(FlFmt *f, const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_ERROR: break;
  case FL_EXPR_INT: number(f, e, e->integer.spelling); break;
  case FL_EXPR_FLOAT: number(f, e, e->real.spelling); break;
  case FL_EXPR_BOOL: fl_fmt_put(f, e->boolean ? "true" : "false"); break;
  case FL_EXPR_NULL: fl_fmt_put(f, "null"); break;
  case FL_EXPR_TEXT: text(f, e); break;
  case FL_EXPR_NAME: fl_fmt_name(f, e->name); break;
  case FL_EXPR_COL:
  case FL_EXPR_OUTER:
    fl_fmt_put(f, e->kind == FL_EXPR_COL ? "col." : "outer.");
    fl_fmt_name(f, e->name);
    break;
  case FL_EXPR_TUPLE: {
    bool comma = e->tuple.n == 1 && !e->tuple.at[0].name.text;
    in_brackets(f, e,
                (FlFmtList){.open = "(",
                            .close = ")",
                            .n = e->tuple.n,
                            .items = e->tuple.at,
                            .item = tuple_item,
                            .start = tuple_start,
                            .comma = comma});
    break;
  }
  case FL_EXPR_ARRAY:
    in_brackets(f, e,
                (FlFmtList){.open = "[",
                            .close = "]",
                            .n = e->array.n,
                            .items = e->array.at,
                            .item = element,
                            .start = element_start});
    break;
  case FL_EXPR_COMPREHENSION:
    fl_fmt_put(f, "[");
    comprehension(f, &e->comprehension);
    fl_fmt_put(f, "]");
    break;
  case FL_EXPR_REDUCE:
    base(f, e->reduce.func);
    fl_fmt_put(f, "(");
    comprehension(f, &e->reduce.comprehension);
    for (int i = 0; i < e->reduce.rest.n; i++) {
      fl_fmt_put(f, ", ");
      argument(f, e->reduce.rest.at, i);
    }
    fl_fmt_put(f, ")");
    break;
  case FL_EXPR_BLOCK: fl_fmt_block(f, e, !f->flat && (fl_fmt_block_breaks(f, e) || !fits_here(f, e))); break;
  case FL_EXPR_IF: if_else(f, e); break;
  case FL_EXPR_MATCH: match(f, e); break;
  case FL_EXPR_LAMBDA: lambda(f, e); break;
  case FL_EXPR_CALL:
    base(f, e->call.func);
    fl_fmt_args(f, &e->call.args, end_of(e));
    break;
  case FL_EXPR_PIPE: pipeline(f, e); break;
  case FL_EXPR_INDEX:
    base(f, e->index.base);
    in_brackets(f, e,
                (FlFmtList){.open = "[",
                            .close = "]",
                            .n = e->index.subs.n,
                            .items = e->index.subs.at,
                            .item = subscript,
                            .start = subscript_start});
    break;
  case FL_EXPR_FIELD:
    base(f, e->field.base);
    fl_fmt_put(f, ".");
    fl_fmt_name(f, e->field.name);
    break;
  case FL_EXPR_TRANSPOSE:
    base(f, e->operand);
    fl_fmt_put(f, "'");
    break;
  case FL_EXPR_UNARY:
    fl_fmt_put(f, e->unary.op == FL_UN_NEG ? "-" : "not ");
    print(f, e->unary.operand, e->unary.op == FL_UN_NEG ? LEVEL_NEGATE : LEVEL_NOT);
    break;
  case FL_EXPR_BINARY: operators(f, e); break;
  case FL_EXPR_RANGE:
    print(f, e->range.lo, LEVEL_RANGE + 1);
    fl_fmt_put(f, "..");
    print(f, e->range.hi, LEVEL_RANGE + 1);
    if (e->range.step) {
      fl_fmt_put(f, " by ");
      print(f, e->range.step, LEVEL_RANGE + 1);
    }
    break;
  case FL_EXPR_TYPE: fl_fmt_type(f, e->type); break;
  }
}

/* Is e the hole, or postfixes on it? The pipeline that prints it has dealt with the value. */
static bool is_step(const FlFmt *f, const FlExpr *e) { return f->hole && pipe_of(e) == f->hole; }

static void print(FlFmt *f, const FlExpr *e, int least) {
  if (f->overflow) return;
  bool brackets = e->brackets || (!is_step(f, e) && level_of(e) < least);
  if (brackets) fl_fmt_put(f, "(");
  if (base_of(e) && pipe_of(e) && !is_step(f, e)) pipeline(f, e);
  else bare(f, e);
  if (brackets) fl_fmt_put(f, ")");
}

void fl_fmt_expr(FlFmt *f, const FlExpr *e) {
  const FlExpr *hole = f->hole;
  f->hole = NULL;
  print(f, e, LEVEL_LAMBDA);
  f->hole = hole;
}

/* Does the value begin a line of the source? */
static bool begins_line(const FlFmt *f, const FlExpr *value) {
  const char *text = f->ast->source->text;
  uint32_t at = value->span.start;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\r')) at--;
  return at > 0 && text[at - 1] == '\n';
}

void fl_fmt_assigned(FlFmt *f, const FlExpr *value) {
  bool here = f->flat || fits_at(f, value, LEVEL_LAMBDA, fl_fmt_room(f) - 1);
  if (here || !(begins_line(f, value) || fl_fmt_fits(f, value, FL_FMT_WIDTH - f->indent - FL_FMT_STEP))) {
    fl_fmt_put(f, " ");
    fl_fmt_expr(f, value);
    return;
  }
  f->indent += FL_FMT_STEP;
  fl_fmt_line(f, value->span.start, false);
  fl_fmt_expr(f, value);
  f->indent -= FL_FMT_STEP;
}
