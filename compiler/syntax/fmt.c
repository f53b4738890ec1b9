/* fmt.c: a file in the one layout: statements.
 *
 * In: a tree from a parse without errors, with its comments. Out: text. Two columns a step of indentation,
 * lines of at most about a hundred columns, one empty line where the writer left one or more. */
#include "syntax/fmt_internal.h"

static void param(FlFmt *f, const void *items, int i) {
  const FlFnParam *p = &((const FlFnParam *)items)[i];
  fl_fmt_name(f, p->name);
  if (p->type) {
    fl_fmt_put(f, ": ");
    fl_fmt_type(f, p->type);
  }
  if (p->fallback) {
    fl_fmt_put(f, " = ");
    fl_fmt_expr(f, p->fallback);
  }
}
static uint32_t param_start(const void *items, int i) { return ((const FlFnParam *)items)[i].span.start; }

static void signature(FlFmt *f, const FlStmt *s, bool broken) {
  const FlFnParamList *params = &s->fn.params;
  uint32_t end = s->fn.name.span.start + s->fn.name.span.len;
  if (params->n) end = params->at[params->n - 1].span.start + params->at[params->n - 1].span.len;
  while (f->ast->source->text[end] != ')') end++;
  FlFmtList list = {.open = "(",
                    .close = ")",
                    .n = params->n,
                    .items = params->at,
                    .item = param,
                    .start = param_start,
                    .end = end + 1};
  fl_fmt_list(f, &list, broken);
  if (!s->fn.result) return;
  fl_fmt_put(f, " -> ");
  fl_fmt_type(f, s->fn.result);
}

/* A block on one line, if it was written so and fits. */
static void body(FlFmt *f, const FlExpr *block) {
  fl_fmt_put(f, " ");
  bool flat = !fl_fmt_block_breaks(f, block) && fl_fmt_fits(f, block, fl_fmt_room(f));
  fl_fmt_block(f, block, !flat);
}

static void function(FlFmt *f, const FlStmt *s, const char *word) {
  for (int i = 0; i < s->fn.attributes.n; i++) {
    const FlAttribute *a = &s->fn.attributes.at[i];
    fl_fmt_put(f, "@");
    fl_fmt_name(f, a->name);
    if (a->args.n) fl_fmt_args(f, &a->args, a->span.start + a->span.len);
    if (f->flat) fl_fmt_put(f, " ");
    else fl_fmt_line(f, i + 1 < s->fn.attributes.n ? a[1].span.start : s->fn.name.span.start, false);
  }
  fl_fmt_put(f, word);
  fl_fmt_name(f, s->fn.name);
  FlFmt copy;
  bool fits = true;
  if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f) - 2)) {
    signature(&copy, s, false);
    uint32_t name_end = s->fn.name.span.start + s->fn.name.span.len;
    uint32_t last = s->fn.params.n ? s->fn.params.at[s->fn.params.n - 1].span.start : name_end;
    fits = !copy.overflow && !fl_fmt_has_comment(f, name_end, last);
  }
  signature(f, s, !fits);
  if (s->fn.library) {
    fl_fmt_put(f, " from ");
    fl_fmt_slice(f, s->fn.library_span);
  } else if (s->fn.body->kind == FL_EXPR_BLOCK && !s->fn.body->brackets) {
    body(f, s->fn.body);
  } else {
    fl_fmt_put(f, " =");
    fl_fmt_assigned(f, s->fn.body);
  }
}

static void import(FlFmt *f, const FlImportList *items) {
  fl_fmt_put(f, "import ");
  for (int i = 0; i < items->n; i++) {
    const FlImport *item = &items->at[i];
    if (i) fl_fmt_put(f, ", ");
    if (item->module.text) fl_fmt_name(f, item->module);
    else fl_fmt_slice(f, item->path_span);
    if (!item->alias.text) continue;
    fl_fmt_put(f, " as ");
    fl_fmt_name(f, item->alias);
  }
}

static void
  requires(FlFmt *f, const FlVersionBoundList *bounds)
{
  fl_fmt_put(f, "requires flow ");
  for (int i = 0; i < bounds->n; i++) {
    if (i) fl_fmt_put(f, ", ");
    fl_fmt_put(f, bounds->at[i].comparison);
    fl_fmt_put(f, " ");
    fl_fmt_put(f, bounds->at[i].version);
  }
}

static void typed(FlFmt *f, const FlTypeExpr *type, const FlExpr *value) {
  if (type) {
    fl_fmt_put(f, ": ");
    fl_fmt_type(f, type);
  }
  if (!value) return;
  fl_fmt_put(f, " =");
  fl_fmt_assigned(f, value);
}

void fl_fmt_stmt(FlFmt *f, const FlStmt *s) {
  switch (s->kind) {
  case FL_STMT_ERROR: break;
  case FL_STMT_LET:
  case FL_STMT_VAR:
    fl_fmt_put(f, s->kind == FL_STMT_LET ? "let " : "var ");
    fl_fmt_pattern(f, s->let.pattern);
    typed(f, s->let.type, s->let.value);
    break;
  case FL_STMT_ASSIGN:
    fl_fmt_expr(f, s->assign.target);
    fl_fmt_put(f, s->assign.add ? " +=" : " =");
    fl_fmt_assigned(f, s->assign.value);
    break;
  case FL_STMT_EXPR: fl_fmt_expr(f, s->expr); break;
  case FL_STMT_FOR:
    fl_fmt_put(f, "for ");
    fl_fmt_pattern(f, s->loop.pattern);
    fl_fmt_put(f, " in ");
    fl_fmt_expr(f, s->loop.source);
    body(f, s->loop.body);
    break;
  case FL_STMT_WHILE:
    fl_fmt_put(f, "while ");
    fl_fmt_expr(f, s->loop.source);
    body(f, s->loop.body);
    break;
  case FL_STMT_BREAK: fl_fmt_put(f, "break"); break;
  case FL_STMT_CONTINUE: fl_fmt_put(f, "continue"); break;
  case FL_STMT_ASSERT:
    fl_fmt_put(f, "assert ");
    fl_fmt_expr(f, s->assert.condition);
    if (!s->assert.message) break;
    fl_fmt_put(f, ",");
    fl_fmt_assigned(f, s->assert.message);
    break;
  case FL_STMT_FN: function(f, s, "fn "); break;
  case FL_STMT_STAGE: function(f, s, "stage "); break;
  case FL_STMT_EXTERN: function(f, s, "extern fn "); break;
  case FL_STMT_TYPE:
    fl_fmt_put(f, "type ");
    fl_fmt_name(f, s->type.name);
    for (int i = 0; i < s->type.sizes.n; i++) {
      fl_fmt_put(f, i ? ", " : "[");
      fl_fmt_name(f, s->type.sizes.at[i]);
    }
    fl_fmt_put(f, s->type.sizes.n ? "] = " : " = ");
    fl_fmt_type(f, s->type.type);
    break;
  case FL_STMT_PARAM:
    fl_fmt_put(f, "param ");
    fl_fmt_name(f, s->param.name);
    typed(f, s->param.type, s->param.fallback);
    break;
  case FL_STMT_IMPORT: import(f, &s->import); break;
  case FL_STMT_REQUIRES:
    requires(f, &s->requires)
    ;
    break;
  case FL_STMT_TEST:
    fl_fmt_put(f, "test ");
    fl_fmt_slice(f, s->test.name_span);
    body(f, s->test.body);
    break;
  }
}

void fl_fmt_stmts(FlFmt *f, const FlStmtList *stmts, uint32_t end) {
  for (int i = 0; i < stmts->n; i++) {
    const FlStmt *s = stmts->at[i];
    fl_fmt_line(f, s->span.start, i > 0 || !f->indent);
    fl_fmt_stmt(f, s);
    f->pos = s->span.start + s->span.len;
  }
  fl_fmt_line(f, end, false);
}

static void print_once(FlText1 *out, const FlAst *ast) {
  FlFmt f = {.out = out, .ast = ast, .line_start = true};
  fl_fmt_stmts(&f, &ast->stmts, ast->source->len + 1);
}

/* A comment in a place that keeps none moves to the next one that does, and then the lines around its old
 * place may fit otherwise: with comments, the result is formatted again until nothing changes (after two
 * rounds, nearly always). */
enum { MAX_ROUNDS = 8 };

void fl_fmt_print(FlText1 *out, const FlAst *ast) {
  FlText1 text = {0};
  fl_text_addz(&text, "");
  print_once(&text, ast);
  for (int round = 0; ast->comments.n && round < MAX_ROUNDS; round++) {
    FlArena *a = fl_arena_new();
    FlSources *sources = fl_sources_make(a);
    FlSource *source = fl_sources_add(sources, ast->source->path, text.s, text.len);
    FlText1 next = {0};
    fl_text_addz(&next, "");
    print_once(&next, fl_syntax_parse(a, fl_interner_make(a), source, fl_sink_make(a, sources)));
    bool same = next.len == text.len && !memcmp(next.s, text.s, text.len);
    fl_arena_free(a);
    fl_text_reset(&text);
    text = next;
    if (same) break;
  }
  fl_text_add(out, text.s, text.len);
  fl_text_reset(&text);
}
