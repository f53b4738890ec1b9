/* trivia.c: gives doc comments to the declarations that they describe.
 *
 * In: p->comments and the statements of the file. Out: FlStmt.doc. A `##` comment on a line of its own
 * belongs to the next declaration of its block; one behind code belongs to the declaration that begins or
 * ends on its line. */
#include "syntax/syntax_internal.h"

typedef struct Docs {
  FlParser *p;
  int next; /* first comment not given yet */
} Docs;

uint32_t fl_syntax_line(const FlSource *f, uint32_t offset) {
  uint32_t lo = 0, hi = f->n_lines; /* lines[lo] <= offset < lines[hi] */
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->lines[mid] <= offset) lo = mid;
    else hi = mid;
  }
  return lo;
}

static int line_of(const FlParser *p, uint32_t offset) { return (int)fl_syntax_line(p->source, offset); }

static bool takes_doc(FlStmtKind kind) {
  FlStmtRole role = fl_syntax_stmt_role(kind);
  return role == FL_STMT_ROLE_BINDS ||
         (role == FL_STMT_ROLE_DECLARES && kind != FL_STMT_IMPORT && kind != FL_STMT_REQUIRES);
}

static void add_doc(FlParser *p, FlStmt *s, const FlComment *c) {
  const char *text = p->source->text + c->span.start;
  uint32_t from = 0, len = c->span.len;
  while (from < len && text[from] == '#') from++;
  if (from < len && text[from] == ' ') from++;
  int n = (int)(len - from);
  s->doc = s->doc ? fl_arena_printf(p->arena, "%s\n%.*s", s->doc, n, text + from)
                  : fl_arena_printf(p->arena, "%.*s", n, text + from);
}

static void walk(Docs *x, const FlStmtList *stmts);

/* The block that is the body of a declaration or loop, or NULL. */
static const FlStmtList *body_of(const FlStmt *s) {
  const FlExpr *body = NULL;
  if (s->kind == FL_STMT_FN || s->kind == FL_STMT_STAGE) body = s->fn.body;
  if (s->kind == FL_STMT_FOR || s->kind == FL_STMT_WHILE) body = s->loop.body;
  if (s->kind == FL_STMT_TEST) body = s->test.body;
  return body && body->kind == FL_EXPR_BLOCK ? &body->block : NULL;
}

/* Own-line comments before s go to it; what stands behind its first or last line, too. */
static void give(Docs *x, FlStmt *s) {
  FlParser *p = x->p;
  uint32_t end = s->span.start + s->span.len;
  for (; x->next < p->comments.n && p->comments.at[x->next].span.start < s->span.start; x->next++) {
    const FlComment *c = &p->comments.at[x->next];
    if (c->doc && c->own_line && takes_doc(s->kind)) add_doc(p, s, c);
  }
  const FlStmtList *body = body_of(s);
  int first = line_of(p, s->span.start), last = line_of(p, end);
  for (int i = x->next; i < p->comments.n && takes_doc(s->kind); i++) {
    const FlComment *c = &p->comments.at[i];
    int line = line_of(p, c->span.start);
    if (line > last) break;
    bool inner = body && body->n && c->span.start < end && line >= line_of(p, body->at[0]->span.start);
    if (c->doc && !c->own_line && (line == first || line == last) && !inner) add_doc(p, s, c);
  }
  if (body) walk(x, body);
  while (x->next < p->comments.n && p->comments.at[x->next].span.start < end) x->next++;
}

static void walk(Docs *x, const FlStmtList *stmts) {
  for (int i = 0; i < stmts->n; i++) give(x, stmts->at[i]);
}

void fl_syntax_attach_docs(FlParser *p) {
  Docs x = {.p = p};
  bool any = false;
  for (int i = 0; i < p->comments.n; i++) any = any || p->comments.at[i].doc;
  if (any) walk(&x, &p->ast->stmts);
}
