/* declared.c: what stands at the top of a file; see answers.h. */
#include "lsp/answers.h"

void fl_lsp_bound(const FlPat *p, void *env, void (*tell)(void *env, FlName name)) {
  if (!p) return;
  if (p->kind == FL_PAT_NAME) tell(env, p->name);
  for (int i = 0; p->kind == FL_PAT_TUPLE && i < p->tuple.n; i++) fl_lsp_bound(p->tuple.at[i], env, tell);
}

typedef struct Top {
  FlArena *arena;
  const FlSource *source;
  const FlStmt *stmt;
  FlLspDeclaredList *out;
} Top;

/* Bytes from `from` to `to` with what is between words as one space, and without `=` at the end. */
static const char *in_a_line(FlArena *arena, const FlSource *f, uint32_t from, uint32_t to) {
  FlText1 out = {0};
  fl_text_addz(&out, "");
  for (uint32_t at = from; at < to && at < f->len; at++) {
    bool space = strchr(" \t\r\n", f->text[at]) != NULL;
    if (space && out.len && out.s[out.len - 1] != ' ') fl_text_addc(&out, ' ');
    else if (!space) fl_text_addc(&out, f->text[at]);
  }
  while (out.len && strchr(" ={", out.s[out.len - 1])) out.len--;
  const char *kept = fl_arena_strndup(arena, out.s, out.len);
  fl_text_reset(&out);
  return kept;
}

static void add(void *env, FlName name) {
  const Top *t = env;
  const FlStmt *s = t->stmt;
  if (!name.text) return;
  uint32_t to = s->span.start + s->span.len;
  if ((s->kind == FL_STMT_FN || s->kind == FL_STMT_STAGE) && s->fn.body) to = s->fn.body->span.start;
  if ((s->kind == FL_STMT_LET || s->kind == FL_STMT_VAR) && s->let.value) to = s->let.value->span.start;
  uint32_t from = s->span.start;
  if (s->kind == FL_STMT_FN || s->kind == FL_STMT_STAGE ||
      s->kind == FL_STMT_EXTERN) /* behind its attributes */
    for (int i = 0; i < s->fn.attributes.n; i++)
      from = s->fn.attributes.at[i].span.start + s->fn.attributes.at[i].span.len;
  fl_vec_push(t->arena, t->out,
              ((FlLspDeclared){.name = name.text,
                               .doc = s->doc,
                               .head = in_a_line(t->arena, t->source, from, to),
                               .kind = s->kind,
                               .at = name.span,
                               .whole = s->span}));
}

void fl_lsp_declared(FlArena *arena, const FlAst *ast, FlLspDeclaredList *out) {
  for (int i = 0; i < ast->stmts.n; i++) {
    const FlStmt *s = ast->stmts.at[i];
    Top t = {arena, ast->source, s, out};
    switch (s->kind) {
    case FL_STMT_FN:
    case FL_STMT_STAGE:
    case FL_STMT_EXTERN: add(&t, s->fn.name); break;
    case FL_STMT_TYPE: add(&t, s->type.name); break;
    case FL_STMT_PARAM: add(&t, s->param.name); break;
    case FL_STMT_TEST: add(&t, (FlName){s->test.name, s->test.name_span}); break;
    case FL_STMT_LET:
    case FL_STMT_VAR: fl_lsp_bound(s->let.pattern, &t, add); break;
    case FL_STMT_IMPORT:
    case FL_STMT_REQUIRES:
    case FL_STMT_ERROR:
    case FL_STMT_ASSIGN:
    case FL_STMT_EXPR:
    case FL_STMT_FOR:
    case FL_STMT_WHILE:
    case FL_STMT_BREAK:
    case FL_STMT_CONTINUE:
    case FL_STMT_ASSERT: break;
    }
  }
}

void fl_lsp_declared_in(FlArena *arena, const FlSource *f, FlLspDeclaredList *out) {
  FlSources *sources = fl_sources_make(arena);
  FlSource *again = fl_sources_add(sources, f->path, f->text, f->len);
  fl_lsp_declared(arena, fl_syntax_parse(arena, fl_interner_make(arena), again, fl_sink_make(arena, sources)),
                  out);
}
