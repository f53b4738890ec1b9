/* fmt_expr.c: expressions, formatted.
 *
 * In: a tree from a parse without errors. Out: text that parses to the same tree. Brackets that the writer
 * put stay; those that the tree needs are there. Numbers and the literal pieces of texts are taken from the
 * source. A pipeline and a block that were written over several lines stay so. */
#include "syntax/fmt_internal.h"

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

static int precedence_of(const FlExpr *e) {
  switch (e->kind) {
  case FL_EXPR_LAMBDA: return FL_BINDS_LAMBDA;
  case FL_EXPR_PIPE: return FL_BINDS_PIPE;
  case FL_EXPR_BINARY: return (int)fl_syntax_precedence(e->binary.op);
  case FL_EXPR_UNARY: return e->unary.op == FL_UN_NOT ? FL_BINDS_NOT : FL_BINDS_NEGATE;
  case FL_EXPR_RANGE: return FL_BINDS_RANGE;
  case FL_EXPR_BLOCK:
  case FL_EXPR_IF:
  case FL_EXPR_MATCH: return FL_BINDS_OPERAND;
  case FL_EXPR_CALL:
  case FL_EXPR_REDUCE:
  case FL_EXPR_INDEX:
  case FL_EXPR_FIELD:
  case FL_EXPR_TRANSPOSE: return pipe_of(e) ? FL_BINDS_PIPE : FL_BINDS_POSTFIX;
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
  case FL_EXPR_TYPE: return FL_BINDS_POSTFIX;
  }
  return FL_BINDS_POSTFIX;
}

/* ---- measuring ---- */

static bool narrow(const FlFmt *f, const FlExpr *e, int least, int columns) {
  FlFmt copy;
  if (!fl_fmt_begin_measure((FlFmt *)f, &copy, columns)) return true;
  fl_fmt_operand(&copy, e, least);
  return !copy.overflow;
}

/* Narrow enough, and without comments, which want lines. */
static bool fits_at(const FlFmt *f, const FlExpr *e, int least, int columns) {
  if (f->flat) return true;
  return !fl_fmt_has_comment(f, e->span.start, fl_fmt_end(e)) && narrow(f, e, least, columns);
}

bool fl_fmt_fits(const FlFmt *f, const FlExpr *e, int columns) {
  return fits_at(f, e, FL_BINDS_LAMBDA, columns);
}

/* ---- literals ---- */

static void number(FlFmt *f, const FlExpr *e, const char *spelling) {
  const char *text = f->ast->source->text;
  uint32_t start = e->span.start, end = fl_fmt_end(e);
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
    fl_fmt_operand(f, part->value, FL_BINDS_LAMBDA);
    if (part->format) fl_fmt_put(f, ":"), fl_fmt_put(f, part->format);
    fl_fmt_put(f, "}");
    f->flat = flat;
  }
  fl_fmt_put(f, quote);
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
    fl_fmt_operand(f, func, FL_BINDS_POSTFIX);
    fl_fmt_args(f, &call->call.args, fl_fmt_end(call));
  } else if (is_bare_function(func) || !base_of(func)) {
    fl_fmt_operand(f, func, FL_BINDS_PIPE + 1);
  } else { /* a call or index as the function itself */
    fl_fmt_put(f, "(");
    fl_fmt_operand(f, func, FL_BINDS_LAMBDA);
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
    lines = lines || fl_fmt_source_breaks(f, fl_fmt_end(pipe->pipe.value), pipe->pipe.call->span.start);
  }
  if (f->measuring && lines) f->overflow = true;
  bool broken = !f->flat && lines;
  if (!f->flat && !broken) {
    FlFmt copy;
    fl_fmt_begin_measure(f, &copy, fl_fmt_room(f));
    pipeline(&copy, e);
    broken = copy.overflow || fl_fmt_has_comment(f, e->span.start, fl_fmt_end(e));
  }
  fl_fmt_operand(f, value, value->kind == FL_EXPR_PIPE ? FL_BINDS_POSTFIX : FL_BINDS_PIPE);
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
      fl_fmt_operand(f, &step, FL_BINDS_LAMBDA);
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
  if (negates(e)) least = FL_BINDS_LAMBDA; /* a - -b needs no brackets */
  bool next_line =
      broken && (fl_fmt_has_comment(f, f->pos, e->span.start) || !narrow(f, e, least, fl_fmt_room(f) - 1));
  if (next_line) fl_fmt_line(f, e->span.start, false);
  else fl_fmt_put(f, " ");
  fl_fmt_operand(f, e, least);
}

static void binary(FlFmt *f, const FlExpr *e, bool broken) {
  int precedence = (int)fl_syntax_precedence(e->binary.op);
  bool left_assoc = precedence != FL_BINDS_COMPARE && precedence != FL_BINDS_POW;
  const FlExpr *left = e->binary.left;
  if (left_assoc && left->kind == FL_EXPR_BINARY && !left->brackets &&
      (int)fl_syntax_precedence(left->binary.op) == precedence) {
    binary(f, left, broken);
  } else {
    fl_fmt_operand(f, left,
                   left_assoc                      ? precedence
                   : precedence + 1 > FL_BINDS_POW ? FL_BINDS_POSTFIX
                                                   : precedence + 1);
  }
  if (f->overflow) return;
  bool tight = e->binary.op == FL_BIN_POW;
  if (!tight) fl_fmt_put(f, " ");
  fl_fmt_put(f, fl_syntax_binary_spelling(e->binary.op));
  f->pos = broken ? e->binary.op_span.start + e->binary.op_span.len : f->pos;
  if (tight) fl_fmt_operand(f, e->binary.right, negates(e->binary.right) ? FL_BINDS_LAMBDA : precedence);
  else right_operand(f, e->binary.right, precedence + 1, broken);
}

static void operators(FlFmt *f, const FlExpr *e) {
  bool broken = !f->flat && !fits_at(f, e, FL_BINDS_LAMBDA, fl_fmt_room(f));
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
  else fl_fmt_operand(f, b, FL_BINDS_POSTFIX);
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
  case FL_EXPR_TUPLE: fl_fmt_tuple(f, e); break;
  case FL_EXPR_ARRAY: fl_fmt_array(f, e); break;
  case FL_EXPR_COMPREHENSION:
    fl_fmt_put(f, "[");
    fl_fmt_comprehension(f, &e->comprehension);
    fl_fmt_put(f, "]");
    break;
  case FL_EXPR_REDUCE:
    base(f, e->reduce.func);
    fl_fmt_put(f, "(");
    fl_fmt_comprehension(f, &e->reduce.comprehension);
    for (int i = 0; i < e->reduce.rest.n; i++) {
      fl_fmt_put(f, ", ");
      fl_fmt_arg(f, &e->reduce.rest.at[i]);
    }
    fl_fmt_put(f, ")");
    break;
  case FL_EXPR_BLOCK:
    fl_fmt_block(f, e, !f->flat && (fl_fmt_block_breaks(f, e) || !fl_fmt_fits(f, e, fl_fmt_room(f))));
    break;
  case FL_EXPR_IF: fl_fmt_if(f, e); break;
  case FL_EXPR_MATCH: fl_fmt_match(f, e); break;
  case FL_EXPR_LAMBDA: lambda(f, e); break;
  case FL_EXPR_CALL:
    base(f, e->call.func);
    fl_fmt_args(f, &e->call.args, fl_fmt_end(e));
    break;
  case FL_EXPR_PIPE: pipeline(f, e); break;
  case FL_EXPR_INDEX:
    base(f, e->index.base);
    fl_fmt_subscripts(f, e);
    break;
  case FL_EXPR_FIELD: {
    bool digits = e->field.base->kind == FL_EXPR_INT && !e->field.base->brackets; /* `2.` would be a number */
    if (digits) fl_fmt_put(f, "(");
    base(f, e->field.base);
    fl_fmt_put(f, digits ? ")." : ".");
    fl_fmt_name(f, e->field.name);
    break;
  }
  case FL_EXPR_TRANSPOSE:
    base(f, e->operand);
    fl_fmt_put(f, "'");
    break;
  case FL_EXPR_UNARY:
    fl_fmt_put(f, e->unary.op == FL_UN_NEG ? "-" : "not ");
    fl_fmt_operand(f, e->unary.operand, e->unary.op == FL_UN_NEG ? FL_BINDS_NEGATE : FL_BINDS_NOT);
    break;
  case FL_EXPR_BINARY: operators(f, e); break;
  case FL_EXPR_RANGE:
    fl_fmt_operand(f, e->range.lo, FL_BINDS_RANGE + 1);
    fl_fmt_put(f, "..");
    fl_fmt_operand(f, e->range.hi, FL_BINDS_RANGE + 1);
    if (e->range.step) {
      fl_fmt_put(f, " by ");
      fl_fmt_operand(f, e->range.step, FL_BINDS_RANGE + 1);
    }
    break;
  case FL_EXPR_TYPE: fl_fmt_type(f, e->type); break;
  }
}

/* Is e the hole, or postfixes on it? The pipeline that prints it has dealt with the value. */
static bool is_step(const FlFmt *f, const FlExpr *e) { return f->hole && pipe_of(e) == f->hole; }

void fl_fmt_operand(FlFmt *f, const FlExpr *e, int least) {
  if (f->overflow) return;
  bool brackets = e->brackets || (!is_step(f, e) && precedence_of(e) < least);
  if (brackets) fl_fmt_put(f, "(");
  if (base_of(e) && pipe_of(e) && !is_step(f, e)) pipeline(f, e);
  else bare(f, e);
  if (brackets) fl_fmt_put(f, ")");
}

void fl_fmt_expr(FlFmt *f, const FlExpr *e) {
  const FlExpr *hole = f->hole;
  f->hole = NULL;
  fl_fmt_operand(f, e, FL_BINDS_LAMBDA);
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
  bool here = f->flat || fits_at(f, value, FL_BINDS_LAMBDA, fl_fmt_room(f) - 1);
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
