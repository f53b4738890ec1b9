/* rows.c: the first rows of what a step of a pipe gives, of the text as it is written now, and of what a
 * `let` was in the last run; see answers.h.
 *
 * In: a place behind a |>, or the name of a `let`. How: where the record of the last run has the rows, and
 * nothing has changed since, these are shown (last_run.c); else the pipe up to there becomes a program of its
 * own, with what it needs of the script before it, which somebody runs on what the files begin with (lsp.h).
 * A pipe in a function is put where the script calls that function first. What always holds: rows are those
 * that the script's own text gives, or none are shown: where names may mean something else than at the top of
 * the script, nothing is asked. */
#include "lsp/answers.h"

#include <ctype.h>
#include <stdlib.h>

enum { ROWS = 5 };

static const char marker[] = "rows of the step: ";

/* ---- which step --------------------------------------------------------------------------------------- */

static bool is_in(FlSpan at, uint32_t offset) { return offset >= at.start && offset < at.start + at.len; }
static uint32_t end_of(FlSpan at) { return at.start + at.len; }

/* An expression within e that names mean the same in as they do beside e, on the way to a place or to what is
 * looked for; NULL: behind the last, k from 0 on. */
static const FlExpr *plain_part(const FlExpr *e, int k) {
  switch (e->kind) {
  case FL_EXPR_PIPE: return k == 0 ? e->pipe.value : NULL;
  case FL_EXPR_CALL:
    return k == 0 && e->call.args.n && !e->call.args.at[0].name.text ? e->call.args.at[0].value : NULL;
  case FL_EXPR_FIELD: return k == 0 ? e->field.base : NULL;
  case FL_EXPR_INDEX: return k == 0 ? e->index.base : NULL;
  case FL_EXPR_TRANSPOSE: return k == 0 ? e->operand : NULL;
  case FL_EXPR_UNARY: return k == 0 ? e->unary.operand : NULL;
  case FL_EXPR_BINARY: return k == 0 ? e->binary.left : k == 1 ? e->binary.right : NULL;
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
  case FL_EXPR_REDUCE:
  case FL_EXPR_BLOCK:
  case FL_EXPR_IF:
  case FL_EXPR_MATCH:
  case FL_EXPR_LAMBDA:
  case FL_EXPR_RANGE:
  case FL_EXPR_TYPE: break;
  }
  return NULL;
}

/* The pipe whose |> or verb is at a place; NULL: none, or names are others there. */
static const FlExpr *pipe_at(const FlExpr *e, uint32_t at) {
  if (!is_in(e->span, at)) return NULL;
  if (e->kind == FL_EXPR_PIPE && e->pipe.call->kind == FL_EXPR_CALL && at >= end_of(e->pipe.value->span))
    return at < end_of(e->pipe.call->call.func->span) ? e : NULL;
  const FlExpr *part;
  for (int k = 0; (part = plain_part(e, k)); k++) {
    const FlExpr *found = pipe_at(part, at);
    if (found) return found;
  }
  return NULL;
}

static bool is_named(const FlExpr *e, const char *name) {
  return e->kind == FL_EXPR_NAME && strcmp(e->name.text, name) == 0;
}

/* A call of a function, with what is piped into it; *func: its name there. NULL: none. */
static const FlExpr *call_of(const FlExpr *e, const char *name, const FlExpr **func) {
  const FlExpr *call = e->kind == FL_EXPR_PIPE ? e->pipe.call : e;
  if (call->kind == FL_EXPR_CALL && is_named(call->call.func, name)) {
    *func = call->call.func;
    return e;
  }
  const FlExpr *part;
  for (int k = 0; (part = plain_part(e, k)); k++) {
    const FlExpr *found = call_of(part, name, func);
    if (found) return found;
  }
  return NULL;
}

/* The expression of a statement; NULL: it has none that is evaluated where it stands, once. */
static const FlExpr *expression_of(const FlStmt *s) {
  if (s->damaged) return NULL;
  if (s->kind == FL_STMT_LET || s->kind == FL_STMT_VAR) return s->let.value;
  if (s->kind == FL_STMT_ASSIGN) return s->assign.value;
  return s->kind == FL_STMT_EXPR ? s->expr : NULL;
}

/* Which of some statements is at a place; -1: none. */
static int stmt_at(const FlStmtList *stmts, uint32_t at) {
  for (int i = 0; i < stmts->n; i++)
    if (is_in(stmts->at[i]->span, at)) return i;
  return -1;
}

/* ---- what it needs ------------------------------------------------------------------------------------ */

typedef struct Program {
  const FlLspDocument *d;
  FlArena *arena;
  FlInterner *names;
  FlMap *needed; /* names that are written in what is taken */
  bool *taken;   /* of the statements at the top */
  bool more;     /* a name was found that was not needed before */
} Program;

static void need(Program *p, const char *name, size_t n) {
  const char *key = fl_intern(p->names, name, n);
  if (fl_map_get(p->needed, key)) return;
  fl_map_set(p->needed, key, p);
  p->more = true;
}

/* All words and names in backticks of a piece of the text, also those in texts, which may be in braces. */
static void need_words(Program *p, uint32_t from, uint32_t to) {
  const char *s = p->d->c.script->text;
  for (uint32_t at = from; at < to;) {
    uint32_t start = at, end = at + 1;
    while (at < to && fl_lsp_in_name(s[at])) at++;
    if (at > start) need(p, s + start, at - start);
    if (at > start) continue;
    while (s[at] == '`' && end < to && s[end] != '`' && s[end] != '\n') end++;
    if (end > at + 1) need(p, s + at + 1, end - at - 1); /* whose words count as well: it may be in a text */
    at++;
  }
}

static bool is_needed(const Program *p, const char *name) {
  return name && fl_map_get(p->needed, fl_intern_z(p->names, name));
}

typedef struct Binds {
  const Program *p;
  bool needed;
} Binds;

static void look_at_bound(void *env, FlName name) {
  Binds *b = env;
  b->needed = b->needed || is_needed(b->p, name.text);
}

static bool assigns_needed(void *env, const FlStmt *s) {
  Binds *b = env;
  const FlExpr *target = s->kind == FL_STMT_ASSIGN ? s->assign.target : NULL;
  while (target && (target->kind == FL_EXPR_INDEX || target->kind == FL_EXPR_FIELD))
    target = target->kind == FL_EXPR_INDEX ? target->index.base : target->field.base;
  if (target && target->kind == FL_EXPR_NAME) look_at_bound(b, target->name);
  return true;
}

/* Whether a statement at the top says what something needed is; `before`: it stands before the pipe. */
static bool says_needed(const Program *p, const FlStmt *s, bool before) {
  Binds b = {.p = p};
  FlWalker walk = {&b, NULL, assigns_needed};
  switch (s->kind) {
  case FL_STMT_IMPORT:
  case FL_STMT_REQUIRES: return true;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN: return is_needed(p, s->fn.name.text);
  case FL_STMT_TYPE: return is_needed(p, s->type.name.text);
  case FL_STMT_PARAM: return is_needed(p, s->param.name.text);
  case FL_STMT_LET:
  case FL_STMT_VAR:
    if (before) fl_lsp_bound(s->let.pattern, &b, look_at_bound);
    return b.needed;
  case FL_STMT_ASSIGN:
  case FL_STMT_EXPR:
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
    if (before && (s->kind == FL_STMT_ASSIGN || s->has & FL_HAS_ASSIGN)) fl_syntax_walk_stmt(&walk, s);
    return b.needed;
  case FL_STMT_ERROR:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_ASSERT:
  case FL_STMT_TEST: break;
  }
  return false;
}

/* The statements at the top that what is needed so far comes from, of the values those before statement `at`.
 */
static void take_needed(Program *p, int at) {
  const FlStmtList *stmts = &p->d->c.ast->stmts;
  while (p->more) {
    p->more = false;
    for (int i = 0; i < stmts->n; i++) {
      const FlStmt *s = stmts->at[i];
      if (p->taken[i] || i == at || !says_needed(p, s, i < at)) continue;
      p->taken[i] = true;
      need_words(p, s->span.start, end_of(s->span));
    }
  }
}

/* ---- the program -------------------------------------------------------------------------------------- */

static void add_piece(FlText1 *out, const Program *p, uint32_t from, uint32_t to) {
  fl_text_add(out, p->d->c.script->text + from, to - from);
}

/* A function that gives what the pipe in statement i of a block, or in an expression, gives. */
static void add_function(FlText1 *out, const Program *p, const FlStmt *fn, int i, uint32_t from,
                         uint32_t to) {
  const FlFnParamList *params = &fn->fn.params;
  fl_text_addz(out, "fn flow_shows_in(");
  if (params->n) add_piece(out, p, params->at[0].span.start, end_of(params->at[params->n - 1].span));
  fl_text_addz(out, ") {\n");
  for (int k = 0; k < i; k++) {
    const FlStmt *s = fn->fn.body->block.at[k];
    if (s->kind == FL_STMT_EXPR && !(s->has & FL_HAS_ASSIGN)) continue;
    add_piece(out, p, s->span.start, end_of(s->span));
    fl_text_addc(out, '\n');
  }
  add_piece(out, p, from, to);
  fl_text_addz(out, "\n}\n");
}

/* What the step at a place gives, as an expression of the program that goes to `value`, and where it stands:
 * in the statement at the top whose number is given back. -1: nothing is to be shown. */
static int find_step(Program *p, uint32_t at, const FlExpr **pipe, FlText1 *function, FlText1 *value) {
  const FlStmtList *stmts = &p->d->c.ast->stmts;
  int top = stmt_at(stmts, at), i = -1;
  const FlStmt *s = top >= 0 ? stmts->at[top] : NULL;
  if (!s || s->damaged) return -1;
  bool within = s->kind == FL_STMT_FN || s->kind == FL_STMT_STAGE;
  const FlExpr *e = within ? s->fn.body : expression_of(s);
  if (within && e->kind == FL_EXPR_BLOCK) {
    i = stmt_at(&e->block, at);
    e = i >= 0 ? expression_of(e->block.at[i]) : NULL;
  }
  *pipe = e ? pipe_at(e, at) : NULL;
  if (!*pipe) return -1;
  uint32_t from = (*pipe)->pipe.value->span.start, to = end_of((*pipe)->pipe.call->span);
  if (!within) {
    need_words(p, from, to);
    add_piece(value, p, from, to);
    return top;
  }
  for (int k = 0; k < stmts->n; k++) {
    const FlExpr *in = expression_of(stmts->at[k]), *func,
                 *call = in ? call_of(in, s->fn.name.text, &func) : NULL;
    if (!call) continue;
    uint32_t start = call->span.start;
    add_function(function, p, s, i, from, to);
    add_piece(value, p, start, func->span.start);
    fl_text_addz(value, "flow_shows_in");
    add_piece(value, p, end_of(func->span), end_of(call->span));
    need_words(p, s->fn.name.span.start, to);
    need_words(p, start, end_of(call->span));
    return k;
  }
  return -1;
}

static void write_program(FlText1 *out, const Program *p, int top, const FlText1 *function,
                          const FlText1 *value) {
  const FlStmtList *stmts = &p->d->c.ast->stmts;
  for (int i = 0; i < stmts->n; i++) {
    if (i == top) {
      if (function->len) fl_text_add(out, function->s, function->len);
      fl_text_addf(out, "let flow_shows = %s\nprint(\"%s{len(flow_shows)}\")\nshow(head(flow_shows, %d))\n",
                   value->s, marker, ROWS);
    }
    if (!p->taken[i]) continue;
    add_piece(out, p, stmts->at[i]->span.start, end_of(stmts->at[i]->span));
    fl_text_addc(out, '\n');
  }
}

/* Whether the check has said that the step at a place gives a table. */
static bool gives_table(const FlLspDocument *d, const FlExpr *pipe) {
  for (int i = 0; i < d->facts.steps.n; i++) {
    const FlLspStep *x = &d->facts.steps.at[i];
    if (x->at.file == d->c.script->id && x->at.start == pipe->pipe.call->span.start && x->gives.rows)
      return true;
  }
  return false;
}

/* ---- what is shown ------------------------------------------------------------------------------------ */

static void add_count(FlText1 *out, const char *digits) {
  size_t n = strspn(digits, "0123456789");
  for (size_t k = 0; k < n; k++) fl_text_addf(out, "%s%c", k && (n - k) % 3 == 0 ? "," : "", digits[k]);
}

/* The answer of lsp.h as Markdown. */
static bool say_rows(const char *answer, FlText1 *out) {
  const char *end = *answer == '\n' ? answer : strstr(answer, "\n\n"),
             *found = end ? strstr(end, marker) : NULL, *table = found ? strchr(found, '\n') : NULL;
  if (!table) return false;
  const char *rows = found + strlen(marker);
  long long n = strtoll(rows, NULL, 10);
  fl_text_addf(out, "```text\n%s```\n\n%s", table + 1, n > ROWS ? "the first 5 of " : "");
  add_count(out, rows);
  fl_text_addf(out, " row%s", n == 1 ? "" : "s");
  if (end > answer) {
    fl_text_addz(out, " of a sample, what is read first of ");
    for (const char *at = answer; at < end; at += strcspn(at, "\n") + 1)
      fl_text_addf(out, "%s`%.*s`", at > answer ? ", " : "", (int)strcspn(at, "\n"), at);
  }
  return true;
}

/* What stands at a place, at any depth; NULL: no such thing. */
typedef struct Here {
  uint32_t at;
  const FlStmt *let;  /* whose name it is */
  const FlExpr *pipe; /* whose |> or verb it is */
} Here;

static bool look_at_expr(void *env, const FlExpr *e) {
  Here *h = env;
  if (!is_in(e->span, h->at)) return false;
  if (e->kind == FL_EXPR_PIPE && e->pipe.call->kind == FL_EXPR_CALL && h->at >= end_of(e->pipe.value->span) &&
      h->at < end_of(e->pipe.call->call.func->span))
    h->pipe = e;
  return true;
}

static bool look_at_stmt(void *env, const FlStmt *s) {
  Here *h = env;
  if (!is_in(s->span, h->at)) return false;
  if (s->kind == FL_STMT_LET && s->let.pattern->kind == FL_PAT_NAME && is_in(s->let.pattern->span, h->at))
    h->let = s;
  return true;
}

static Here find_here(const FlLspDocument *d, uint32_t at) {
  Here h = {.at = at};
  const FlWalker walk = {&h, look_at_expr, look_at_stmt};
  for (int i = 0; i < d->c.ast->stmts.n; i++) fl_syntax_walk_stmt(&walk, d->c.ast->stmts.at[i]);
  return h;
}

/* What the last run gave it: the last step of its pipe, or itself. */
static bool let_rows(const FlLspDocuments *all, const FlLspDocument *d, const FlStmt *let, FlText1 *out) {
  const FlExpr *value = let->let.value;
  if (value->kind == FL_EXPR_PIPE) return fl_lsp_last_rows(all, d, value->pipe.call->span, false, out);
  return fl_lsp_last_rows(all, d, let->let.pattern->span, true, out);
}

/* The |> and the verb. */
static FlSpan verb_of(const FlSource *f, const FlExpr *pipe) {
  uint32_t from = end_of(pipe->pipe.value->span), to = end_of(pipe->pipe.call->call.func->span);
  while (from < to && strchr(" \t\r\n", f->text[from])) from++;
  return (FlSpan){.file = f->id, .start = from, .len = to - from};
}

bool fl_lsp_rows(FlLspDocuments *all, FlLspDocument *d, uint32_t at, FlText1 *out, FlSpan *step) {
  const FlSource *f = d->c.script;
  if (all->no_rows || !d->c.sources || !d->c.ast || at >= f->len || strchr(" \t\r\n", f->text[at]))
    return false;
  const Here here = find_here(d, at);
  if (here.let) {
    *step = here.let->let.pattern->span;
    return let_rows(all, d, here.let, out);
  }
  if (here.pipe && gives_table(d, here.pipe) &&
      fl_lsp_last_rows(all, d, here.pipe->pipe.call->span, false, out)) {
    *step = verb_of(f, here.pipe);
    return true;
  }
  FlArena *arena = fl_arena_new();
  Program p = {.d = d, .arena = arena, .names = fl_interner_make(arena), .needed = fl_map_make(arena)};
  FlText1 function = {0}, value = {0}, text = {0}, answer = {0};
  const FlExpr *pipe = NULL;
  p.taken = FL_NEW_ARRAY(arena, bool, d->c.ast->stmts.n + 1);
  int top = find_step(&p, at, &pipe, &function, &value);
  bool good = pipe && top >= 0 && all->sample && gives_table(d, pipe);
  if (good) {
    take_needed(&p, top);
    write_program(&text, &p, top, &function, &value);
    FlLspWorld world = {all, d->path};
    good = all->sample(&(FlLspSample){d->path, &text, &world, all->rows_ms}, &answer) && answer.len &&
           say_rows(answer.s, out);
  }
  if (good) *step = verb_of(f, pipe);
  fl_text_reset(&function);
  fl_text_reset(&value);
  fl_text_reset(&text);
  fl_text_reset(&answer);
  fl_arena_free(arena);
  return good;
}
