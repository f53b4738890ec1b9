/* layout.c: from the lexer's tokens to those of the grammar.
 *
 * In: p->tokens with LINE and SEMICOLON. Out: p->tokens where brackets match (a missing one is reported and
 * made, one that closes nothing is reported and left out), words that are names in their place are NAME, and
 * NEWLINE stands exactly where a statement (or the arm of a match) ends: never doubled, never first, never
 * before a closing bracket; the last token before the end of the file is NEWLINE, if there is any. */
#include "syntax/syntax_internal.h"

typedef struct Layout {
  FlParser *p;
  const FlToken *in;
  int n;
  FlTokens out;
  FlVec(int) open; /* indices in out of the brackets that are open */
  bool attribute;  /* the statement begins with `@`: a word may follow it */
} Layout;

static bool opens(int kind) {
  return kind == FL_TOK_LPAREN || kind == FL_TOK_LBRACKET || kind == FL_TOK_LBRACE ||
         kind == FL_TOK_INTERP_BEGIN;
}

/* The bracket that closes what `kind` opens; 0 when it opens nothing. */
static int closer_of(int kind) {
  switch (kind) {
  case FL_TOK_LPAREN: return FL_TOK_RPAREN;
  case FL_TOK_LBRACKET: return FL_TOK_RBRACKET;
  case FL_TOK_LBRACE: return FL_TOK_RBRACE;
  case FL_TOK_INTERP_BEGIN: return FL_TOK_INTERP_END;
  default: return 0;
  }
}

static bool closes(int kind) {
  return kind == FL_TOK_RPAREN || kind == FL_TOK_RBRACKET || kind == FL_TOK_RBRACE ||
         kind == FL_TOK_INTERP_END;
}

static int last_kind(const Layout *y) { return y->out.n ? y->out.at[y->out.n - 1].kind : FL_TOK_NEWLINE; }

static const FlToken *innermost(const Layout *y) {
  return y->open.n ? &y->out.at[y->open.at[y->open.n - 1]] : NULL;
}

static bool lines_count(const Layout *y) {
  const FlToken *t = innermost(y);
  return !t || t->kind == FL_TOK_LBRACE;
}

bool fl_syntax_only_between(int kind) {
  switch (kind) {
  case FL_TOK_PIPE:
  case FL_TOK_DEFAULT:
  case FL_TOK_OR:
  case FL_TOK_AND:
  case FL_TOK_EQ:
  case FL_TOK_NE:
  case FL_TOK_LT:
  case FL_TOK_LE:
  case FL_TOK_GT:
  case FL_TOK_GE:
  case FL_TOK_NEAR:
  case FL_TOK_IN:
  case FL_TOK_PLUS:
  case FL_TOK_STAR:
  case FL_TOK_SLASH:
  case FL_TOK_SLASHSLASH:
  case FL_TOK_PERCENT:
  case FL_TOK_CARET: return true;
  default: return false;
  }
}

/* Does a line that ends in this token go on? */
static bool continues(int kind) {
  switch (kind) {
  case FL_TOK_ASSIGN:
  case FL_TOK_PLUSASSIGN:
  case FL_TOK_FATARROW:
  case FL_TOK_ARROW:
  case FL_TOK_COMMA:
  case FL_TOK_COLON:
  case FL_TOK_DOTDOT:
  case FL_TOK_MINUS:
  case FL_TOK_AT: return true;
  default: return fl_syntax_only_between(kind);
  }
}

/* The token, as one of this kind. */
static void emit(Layout *y, const FlToken *t, int kind) {
  bool starts = last_kind(y) == FL_TOK_NEWLINE || last_kind(y) == FL_TOK_LBRACE;
  if (starts) y->attribute = kind == FL_TOK_AT;
  fl_vec_push(y->p->arena, &y->out, *t);
  FlToken *out = &y->out.at[y->out.n - 1];
  out->kind = kind;
  out->around = y->open.n ? y->open.at[y->open.n - 1] : -1;
}

static void emit_newline(Layout *y, FlSpan span) {
  if (!y->out.n || last_kind(y) == FL_TOK_NEWLINE || last_kind(y) == FL_TOK_LBRACE) return;
  FlSpan at = {.file = span.file, .start = span.start, .len = span.len ? 1 : 0};
  emit(y, &(FlToken){.span = at, .match = -1}, FL_TOK_NEWLINE);
}

static void drop_newline(Layout *y) {
  if (y->out.n && last_kind(y) == FL_TOK_NEWLINE) y->out.n--;
}

/* ---- brackets ---- */

static void close_innermost(Layout *y, const FlToken *t) {
  drop_newline(y);
  int open = y->open.at[--y->open.n];
  emit(y, t, closer_of(y->out.at[open].kind));
  y->out.at[y->out.n - 1].match = open;
  y->out.at[open].match = y->out.n - 1;
}

/* Is a text between two places not closed? It may hold the bracket that is missed. */
static bool swallowed(const Layout *y, uint32_t from, uint32_t to) {
  for (int i = 0; i < y->p->open_texts.n; i++)
    if (y->p->open_texts.at[i] > from && y->p->open_texts.at[i] <= to) return true;
  return false;
}

/* The innermost bracket lacks its closer: it is made before `where`. */
static void mend(Layout *y, FlSpan where, bool say) {
  const FlToken *open = innermost(y);
  if (open->kind == FL_TOK_LBRACE) y->p->blocks_damaged = true;
  if (say && !open->made && !swallowed(y, open->span.start, where.start)) {
    const char *closer = fl_syntax_token_name(closer_of(open->kind));
    FlDiag *d = fl_report(y->p->sink, FL_E0102, open->span, "this %s is never closed",
                          fl_syntax_token_name(open->kind));
    fl_diag_note(y->p->sink, d, where, "%s is missing before this", closer);
    if (open > y->out.at && open[-1].kind == FL_TOK_FOR && y->p->source->text[where.start] == ';')
      fl_diag_help(y->p->sink, d, "a loop goes over values: `for i in 0..n { ... }`");
  }
  close_innermost(y, &(FlToken){.span = {.file = where.file, .start = where.start}, .made = true});
}

static void close_bracket(Layout *y, const FlToken *t) {
  int at = y->open.n - 1;
  while (at >= 0 && closer_of(y->out.at[y->open.at[at]].kind) != t->kind) at--;
  FlSink *sink = y->p->sink;
  if (at >= 0) {
    /* a `)` does not reach over the `{` or the text around it */
    bool reach = true;
    for (int i = at + 1; i < y->open.n; i++) {
      int kind = y->out.at[y->open.at[i]].kind;
      if (t->kind != FL_TOK_RBRACE && t->kind != FL_TOK_INTERP_END &&
          (kind == FL_TOK_LBRACE || kind == FL_TOK_INTERP_BEGIN))
        reach = false;
    }
    if (reach) {
      while (y->open.n - 1 > at) mend(y, t->span, !t->made);
      close_innermost(y, t);
      return;
    }
  }
  const FlToken *open = innermost(y);
  if (open && open->kind != FL_TOK_LBRACE && open->kind != FL_TOK_INTERP_BEGIN) {
    const char *want = fl_syntax_token_name(closer_of(open->kind));
    FlDiag *d =
        fl_report(sink, FL_E0103, t->span, "expected %s, found %s", want, fl_syntax_token_name(t->kind));
    fl_diag_note(sink, d, open->span, "%s was opened here", fl_syntax_token_name(open->kind));
    close_innermost(y, t);
    y->out.at[y->out.n - 1].made = true;
    return;
  }
  if (t->kind == FL_TOK_RBRACE) y->p->blocks_damaged = true;
  fl_report(sink, FL_E0103, t->span, "%s closes nothing", fl_syntax_token_name(t->kind));
}

/* ---- words ---- */

static const FlToken *next_solid(const Layout *y, int i) {
  while (y->in[i].kind == FL_TOK_LINE) i++;
  return &y->in[i];
}

bool fl_syntax_begins_operand(int kind) {
  switch (kind) {
  case FL_TOK_NAME:
  case FL_TOK_INT:
  case FL_TOK_FLOAT:
  case FL_TOK_TEXT:
  case FL_TOK_TEXT_BEGIN:
  case FL_TOK_UNDERSCORE:
  case FL_TOK_LPAREN:
  case FL_TOK_LBRACKET:
  case FL_TOK_MINUS:
  case FL_TOK_NOT:
  case FL_TOK_TRUE:
  case FL_TOK_FALSE:
  case FL_TOK_NULL:
  case FL_TOK_MATCH:
  case FL_TOK_OUTER:
  case FL_TOK_COL: return true;
  default: return false;
  }
}

static bool begins_expression(int kind) {
  return fl_syntax_begins_operand(kind) || kind == FL_TOK_LBRACE || kind == FL_TOK_IF;
}

static bool compares(int kind) {
  return kind == FL_TOK_EQ || kind == FL_TOK_NE || kind == FL_TOK_LT || kind == FL_TOK_LE ||
         kind == FL_TOK_GT || kind == FL_TOK_GE;
}

bool fl_syntax_is_name(const FlToken *t) {
  if (t->kind == FL_TOK_NAME) return true;
  if (!fl_syntax_is_word_token(t->kind)) return false;
  FlWordGroup group = fl_syntax_word_group(t->kind);
  return group == FL_WORD_SOFT || group == FL_WORD_START;
}

/* Is the word at in[i], of the START group, followed by what makes it a word? */
static bool starts_statement(const Layout *y, int i) {
  const FlToken *next = &y->in[i + 1];
  switch (y->in[i].kind) {
  case FL_TOK_STAGE:
  case FL_TOK_TYPE:
  case FL_TOK_PARAM: return fl_syntax_is_name(next);
  case FL_TOK_IMPORT: return fl_syntax_is_name(next) || next->kind == FL_TOK_TEXT;
  case FL_TOK_EXTERN: return next->kind == FL_TOK_FN;
  case FL_TOK_REQUIRES: return next->kind == FL_TOK_NAME && strcmp(next->name, "flow") == 0;
  case FL_TOK_TEST: return next->kind == FL_TOK_TEXT;
  default: /* assert */
    return begins_expression(next->kind) || fl_syntax_is_name(next) || next->kind == FL_TOK_VAR ||
           compares(next->kind); /* whose left side was forgotten: to compare a name alone says nothing */
  }
}

/* Is the word at in[i], whatever it is, a name for what stands around it: of a member, an argument, a
 * function? */
static bool is_only_a_name(const Layout *y, int i) {
  int before = last_kind(y);
  if (before == FL_TOK_DOT) return true;
  const FlToken *bracket = innermost(y), *next = next_solid(y, i + 1);
  if (bracket && bracket->kind == FL_TOK_LPAREN && (before == FL_TOK_LPAREN || before == FL_TOK_COMMA) &&
      (next->kind == FL_TOK_ASSIGN || next->kind == FL_TOK_COLON))
    return true;
  return y->in[i].kind == FL_TOK_VAR && y->in[i + 1].kind == FL_TOK_LPAREN && y->in[i + 1].glued;
}

/* Is the word at in[i] a name where it stands? */
static bool word_is_name(const Layout *y, int i) {
  const FlToken *t = &y->in[i];
  int before = last_kind(y);
  if (is_only_a_name(y, i)) return true;
  if (t->kind == FL_TOK_VAR) return false;
  if (fl_syntax_word_group(t->kind) != FL_WORD_START) return false;
  bool start = before == FL_TOK_NEWLINE || before == FL_TOK_LBRACE || y->attribute;
  return !start || !starts_statement(y, i);
}

/* Words that begin a line only as statements: in round or square brackets they say that one was forgotten. */
static bool never_in_brackets(int kind) {
  switch (kind) {
  case FL_TOK_LET:
  case FL_TOK_VAR:
  case FL_TOK_FN:
  case FL_TOK_WHILE:
  case FL_TOK_BREAK:
  case FL_TOK_CONTINUE: return true;
  default: return false;
  }
}

/* At in[i], first on its line within ( or [, or behind an operator: is this the beginning of a statement? */
static bool breaks_out(const Layout *y, int i) {
  const FlToken *t = &y->in[i];
  if (is_only_a_name(y, i)) return false;
  if (never_in_brackets(t->kind)) return true;
  if (!fl_syntax_is_word_token(t->kind)) return false;
  if (fl_syntax_word_group(t->kind) != FL_WORD_START || !starts_statement(y, i)) return false;
  return t->kind != FL_TOK_ASSERT || y->in[i + 1].kind == FL_TOK_NAME;
}

/* ---- the whole ---- */

static void at_line_end(Layout *y, int i) {
  const FlToken *next = next_solid(y, i);
  if (!lines_count(y) || continues(last_kind(y)) || next->kind == FL_TOK_PIPE || next->kind == FL_TOK_ELSE ||
      closes(next->kind))
    return;
  emit_newline(y, y->in[i].span);
}

/* Too many brackets are open: the rest of the file is not read. */
static bool too_deep(Layout *y, const FlToken *t) {
  if (y->open.n < FL_MAX_DEPTH) return false;
  y->p->too_deep = true;
  FlDiag *d = fl_report(y->p->sink, FL_E0008, t->span, "brackets are nested more than %d deep", FL_MAX_DEPTH);
  fl_diag_help(y->p->sink, d, "give parts names with `let`");
  return true;
}

void fl_syntax_layout(FlParser *p) {
  Layout y = {.p = p, .in = p->tokens.at, .n = p->tokens.n};
  bool first_on_line = true, cut = false;
  int i = 0;
  fl_vec_room(p->arena, &y.out, y.n + 16);
  for (; y.in[i].kind && !cut; i++) {
    const FlToken *t = &y.in[i];
    if (t->kind == FL_TOK_LINE) {
      at_line_end(&y, i);
      first_on_line = true;
      continue;
    }
    if (t->kind == FL_TOK_SEMICOLON) {
      while (!lines_count(&y) && innermost(&y)->kind != FL_TOK_INTERP_BEGIN) mend(&y, t->span, true);
      if (lines_count(&y)) emit_newline(&y, t->span);
      continue;
    }
    if (first_on_line && breaks_out(&y, i)) { /* what the line before lacks is not this */
      bool lacks = !lines_count(&y) || continues(last_kind(&y));
      FlSpan end = y.out.n ? y.out.at[y.out.n - 1].span : t->span;
      while (!lines_count(&y) && innermost(&y)->kind != FL_TOK_INTERP_BEGIN) mend(&y, t->span, true);
      if (lacks && lines_count(&y)) emit_newline(&y, (FlSpan){end.file, end.start + end.len, 0, 0});
    }
    first_on_line = false;
    if (closes(t->kind)) {
      close_bracket(&y, t);
      continue;
    }
    cut = opens(t->kind) && too_deep(&y, t);
    if (cut) break;
    emit(&y, t, fl_syntax_is_word_token(t->kind) && word_is_name(&y, i) ? FL_TOK_NAME : t->kind);
    if (opens(t->kind)) fl_vec_push(p->arena, &y.open, y.out.n - 1);
  }
  FlSpan end = {p->source->id, y.in[i].span.start, 0, 0};
  while (y.open.n) mend(&y, end, !cut);
  if (y.out.n) {
    drop_newline(&y);
    emit(&y, &(FlToken){.span = end, .made = cut, .match = -1}, FL_TOK_NEWLINE);
  }
  emit(&y, &(FlToken){.span = end, .match = -1}, 0);
  p->tokens = y.out;
}
