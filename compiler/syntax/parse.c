/* parse.c: the way from a source text to its tree, and the tokens of --emit=tokens. */
#include "syntax/syntax_internal.h"

#include <stdlib.h>

static void init(FlParser *p, FlArena *arena, FlInterner *interner, FlSource *source, FlSink *sink) {
  *p = (FlParser){.arena = arena, .interner = interner, .source = source, .sink = sink};
  p->underscore = fl_intern_z(interner, "_");
  p->words = fl_syntax_words(arena, interner);
  p->ast = FL_NEW(arena, FlAst);
  p->ast->arena = arena;
  p->ast->source = source;
}

static void *new_engine(size_t bytes) { return fl_piece_new(1, bytes); }

/* Feeds the tokens; after an error goes on where recover.c says. */
static void feed(FlParser *p) {
  p->engine = fl_lemonAlloc(new_engine);
  p->at = 0;
  fl_lemon(p->engine, FL_TOK_BEGIN, &p->tokens.at[0], p);
  while (p->at < p->tokens.n) {
    FlToken *t = &p->tokens.at[p->at];
    p->failed = p->discarded = p->brace_thrown = p->block_thrown = false;
    fl_lemon(p->engine, t->kind, t, p);
    if (p->failed) {
      p->at = fl_syntax_resume(p);
      fl_lemon_forgive(p->engine);
    } else {
      p->at++;
    }
  }
  fl_lemonFree(p->engine, fl_piece_free);
}

FlAst *fl_syntax_parse(FlArena *arena, FlInterner *interner, FlSource *source, FlSink *sink) {
  FlParser p;
  init(&p, arena, interner, source, sink);
  int n_diags = p.n_diags = sink->diags.n, n_errors = sink->n_errors;
  if (!fl_syntax_lex(&p)) return p.ast;
  fl_syntax_layout(&p);
  if (!fl_syntax_meant_for_this(&p, n_diags, n_errors)) return p.ast;
  feed(&p);
  fl_syntax_check_requires(&p);
  for (int i = 0; i < p.wildcards.n; i++) {
    FlExpr *e = p.wildcards.at[i];
    if (e->kind != FL_EXPR_NAME) continue;
    FlDiag *d = fl_report(sink, FL_E0113, e->span, "`_` is not a value");
    fl_diag_help(sink, d, "`_` stands in a pattern for what is not needed; a whole dimension is written `:`");
    e->kind = FL_EXPR_ERROR;
  }
  bool all_kept = sink->diags.n < (sink->limit ? sink->limit : 50);
  p.ast->has_meaning = all_kept && !p.open_texts.n && !p.blocks_damaged && !p.too_deep;
  p.ast->comments = p.comments;
  fl_syntax_attach_docs(&p);
  return p.ast;
}

void fl_syntax_print_tokens(FlText1 *out, FlSource *source, FlSink *sink) {
  FlParser p;
  init(&p, sink->arena, fl_interner_make(sink->arena), source, sink);
  if (!fl_syntax_lex(&p)) return;
  fl_syntax_layout(&p);
  int line = 1, column = 1; /* of `at`, which goes along: a line may have any length */
  uint32_t at = 0;
  for (int i = 0; i < p.tokens.n; i++) {
    const FlToken *t = &p.tokens.at[i];
    if (t->span.start < at) { /* made, before where it was found to be missing */
      fl_source_position(source, t->span.start, &line, &column);
      at = t->span.start;
    }
    for (; at < t->span.start && at < source->len; at++) {
      bool ends = source->text[at] == '\n';
      line += ends;
      column = ends ? 1 : column + (((unsigned char)source->text[at] & 0xC0) != 0x80);
    }
    fl_text_addf(out, "%d:%d %s", line, column, fl_syntax_token_kind(t->kind));
    if (t->made) fl_text_addz(out, " (made)");
    else if (t->kind == FL_TOK_TEXT_PIECE || t->kind == FL_TOK_NAME || t->kind == FL_TOK_INT ||
             t->kind == FL_TOK_FLOAT || t->kind == FL_TOK_VERSION || t->kind == FL_TOK_TEXT ||
             t->kind == FL_TOK_FORMAT) {
      fl_text_addc(out, ' ');
      fl_syntax_add_escaped(out, source->text + t->span.start, t->span.len);
    }
    fl_text_addc(out, '\n');
  }
}

/* What a token opens; NULL: nothing. */
static const char *closer_of(const FlToken *t) {
  switch (t->kind) {
  case FL_TOK_LPAREN: return ")";
  case FL_TOK_LBRACKET: return "]";
  case FL_TOK_LBRACE:
  case FL_TOK_INTERP_BEGIN: return "}";
  case FL_TOK_TEXT_BEGIN: return t->text.style == FL_TEXT_LINES ? "\"\"\"" : "\"";
  default: return NULL;
  }
}

static void close_last(FlOpens *open, const char *closer) {
  if (open->n && strncmp(open->at[open->n - 1].closer, closer, 1) == 0) open->n--;
}

bool fl_syntax_open_at_end(FlArena *arena, const char *text, size_t len, FlOpens *out) {
  FlSources *sources = fl_sources_make(arena);
  FlSource *source = fl_sources_add(sources, "", text, len);
  FlParser p;
  init(&p, arena, fl_interner_make(arena), source, fl_sink_make(arena, sources));
  if (!fl_syntax_lex(&p)) return true;
  for (int i = 0; i < p.tokens.n; i++) {
    const FlToken *t = &p.tokens.at[i];
    bool unclosed =
        t->kind == FL_TOK_TEXT && t->made && t->span.start + t->span.len == len; /* without expressions */
    const char *closer = unclosed ? t->text.style == FL_TEXT_LINES ? "\"\"\"" : "\"" : closer_of(t);
    if (closer) fl_vec_push(arena, out, ((FlOpen){closer, t->span.start, 0}));
    else if (t->kind == FL_TOK_COMMA && out->n) out->at[out->n - 1].commas++;
    else if (t->kind == FL_TOK_RPAREN) close_last(out, ")");
    else if (t->kind == FL_TOK_RBRACKET) close_last(out, "]");
    else if (t->made && t->span.start == len) continue; /* what the lexer closes at the end is open */
    else if (t->kind == FL_TOK_RBRACE || t->kind == FL_TOK_INTERP_END) close_last(out, "}");
    else if (t->kind == FL_TOK_TEXT_END) close_last(out, "\"");
  }
  const FlComment *last = p.comments.n ? &p.comments.at[p.comments.n - 1] : NULL;
  return !last || memchr(text + last->span.start, '\n', len - last->span.start) != NULL;
}
