/* fmt_list.c: what stands between brackets, formatted: arguments, tuples, arrays, subscripts, comprehensions.
 *
 * In: trees. Out: the list on one line if it fits and holds no comments; else only its last element over
 * several lines, where that reads well; else one element a line. */
#include "syntax/fmt_internal.h"

/* ---- lists ---- */

void fl_fmt_arg(FlFmt *f, const FlArg *a) {
  if (a->name.text) {
    fl_fmt_name(f, a->name);
    fl_fmt_put(f, " = ");
  }
  fl_fmt_operand(f, a->value, FL_BINDS_LAMBDA);
}
static void argument(FlFmt *f, const void *items, int i) { fl_fmt_arg(f, &((const FlArg *)items)[i]); }
static uint32_t argument_start(const void *items, int i) { return ((const FlArg *)items)[i].span.start; }

static void tuple_item(FlFmt *f, const void *items, int i) {
  const FlTupleItem *t = &((const FlTupleItem *)items)[i];
  if (t->name.text) {
    fl_fmt_name(f, t->name);
    fl_fmt_put(f, " = ");
  }
  fl_fmt_operand(f, t->value, FL_BINDS_LAMBDA);
}
static uint32_t tuple_start(const void *items, int i) { return ((const FlTupleItem *)items)[i].span.start; }

static void element(FlFmt *f, const void *items, int i) {
  fl_fmt_operand(f, ((FlExpr *const *)items)[i], FL_BINDS_LAMBDA);
}
static uint32_t element_start(const void *items, int i) { return ((FlExpr *const *)items)[i]->span.start; }

static void subscript(FlFmt *f, const void *items, int i) {
  const FlSubscript *s = &((const FlSubscript *)items)[i];
  switch (s->kind) {
  case FL_SUB_VALUE: fl_fmt_operand(f, s->value, FL_BINDS_LAMBDA); break;
  case FL_SUB_NEW: fl_fmt_put(f, "new"); break;
  case FL_SUB_SLICE:
    if (!s->lo && !s->hi && !s->step) {
      fl_fmt_put(f, ":");
      break;
    }
    if (s->lo) fl_fmt_operand(f, s->lo, FL_BINDS_RANGE + 1);
    fl_fmt_put(f, "..");
    if (s->hi) fl_fmt_operand(f, s->hi, FL_BINDS_RANGE + 1);
    if (s->step) {
      fl_fmt_put(f, " by ");
      fl_fmt_operand(f, s->step, FL_BINDS_RANGE + 1);
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
  list.end = fl_fmt_end(whole);
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

void fl_fmt_tuple(FlFmt *f, const FlExpr *e) {
  FlFmtList list = {.open = "(",
                    .close = ")",
                    .n = e->tuple.n,
                    .items = e->tuple.at,
                    .item = tuple_item,
                    .start = tuple_start};
  list.comma = e->tuple.n == 1 && !e->tuple.at[0].name.text;
  in_brackets(f, e, list);
}

void fl_fmt_array(FlFmt *f, const FlExpr *e) {
  FlFmtList list = {.open = "[",
                    .close = "]",
                    .n = e->array.n,
                    .items = e->array.at,
                    .item = element,
                    .start = element_start};
  in_brackets(f, e, list);
}

void fl_fmt_subscripts(FlFmt *f, const FlExpr *e) {
  const FlSubscriptList *subs = &e->index.subs;
  FlFmtList list = {.open = "[",
                    .close = "]",
                    .n = subs->n,
                    .items = subs->at,
                    .item = subscript,
                    .start = subscript_start};
  in_brackets(f, e, list);
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
    fl_fmt_operand(f, clause->source, FL_BINDS_PIPE);
  }
  f->indent -= broken ? 2 * FL_FMT_STEP : 0;
}

/* `for ...: body`, between brackets. */
void fl_fmt_comprehension(FlFmt *f, const FlComprehension *c) {
  FlFmt copy;
  bool block = c->body->kind == FL_EXPR_BLOCK && !c->body->brackets;
  uint32_t start = c->clauses.at[0].span.start;
  bool whole = true, head = true;
  if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f) - 2)) {
    clauses(&copy, c, false);
    head = !copy.overflow && !fl_fmt_has_comment(f, start, c->clauses.at[c->clauses.n - 1].span.start);
    fl_fmt_put(&copy, block ? " " : ": ");
    fl_fmt_operand(&copy, c->body, FL_BINDS_LAMBDA);
    whole = !copy.overflow && !fl_fmt_has_comment(f, start, fl_fmt_end(c->body));
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
    fl_fmt_operand(f, c->body, FL_BINDS_LAMBDA);
    return;
  }
  f->indent += FL_FMT_STEP;
  fl_fmt_line(f, c->body->span.start, false);
  fl_fmt_operand(f, c->body, FL_BINDS_LAMBDA);
  f->indent -= FL_FMT_STEP;
}
