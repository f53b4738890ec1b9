/* recover_words.h: what rules of forms that do not parse ask of the tokens around (recover_habits.c,
 * recover_choices.c). For these alone. */
#ifndef FL_SYNTAX_RECOVER_WORDS_H
#define FL_SYNTAX_RECOVER_WORDS_H

#include "syntax/recover.h"

typedef FlSyntaxPlace Place;

static inline bool is(const Place *x, const FlToken *t, const char *word) {
  return t->span.len == strlen(word) && !strncmp(x->p->source->text + t->span.start, word, t->span.len);
}

static inline bool is_any(const Place *x, const FlToken *t, const char *const *words) {
  for (; *words; words++)
    if (is(x, t, *words)) return true;
  return false;
}

static inline bool is_before(const Place *x, const FlToken *t) { return t > x->p->tokens.at; }

/* The text of the tokens a to b. */
static inline const char *text(const Place *x, const FlToken *a, const FlToken *b) {
  return fl_arena_strndup(x->p->arena, x->p->source->text + a->span.start,
                          b->span.start + b->span.len - a->span.start);
}

/* A name as scripts write it. */
static inline const char *as_name(const Place *x, const char *name) {
  FlText1 t = {0};
  fl_syntax_add_name(&t, name);
  const char *written = fl_arena_strndup(x->p->arena, t.s, t.len);
  fl_text_reset(&t);
  return written;
}

/* Of a text the name that it says. */
static inline const char *name_in(const Place *x, const FlToken *t) {
  return as_name(x, fl_arena_strndup(x->p->arena, t->text.bytes, t->text.len));
}

static inline void replace(FlDiag *d, const FlToken *a, const FlToken *b, const char *by) {
  d->edit.span = a->span;
  d->edit.span.len = b->span.start + b->span.len - a->span.start;
  d->edit.text = by;
}

/* The first token of the operand that ends before what was found: `x`, `t.x`, `f(x)`, `x[0]`. */
static inline const FlToken *operand_before(const Place *x) {
  const FlToken *t = x->p->tokens.at, *at = x->prev;
  for (;;) {
    if (at->match >= 0 && &t[at->match] < at) at = &t[at->match];
    bool opens = at->kind == FL_TOK_LPAREN || at->kind == FL_TOK_LBRACKET;
    if (opens && at->glued && at > t && (at[-1].kind == FL_TOK_NAME || at[-1].kind == FL_TOK_RPAREN)) at--;
    else if (at > t + 1 && at[-1].kind == FL_TOK_DOT) at -= 2;
    else return at;
  }
}

/* What stands before an operand and after one binds less than a comparison. */
static inline bool free_before(const Place *x, const FlToken *t) {
  if (!is_before(x, t)) return true;
  static const int kinds[] = {FL_TOK_LPAREN, FL_TOK_COMMA,  FL_TOK_AND,     FL_TOK_OR,
                              FL_TOK_IF,     FL_TOK_ASSIGN, FL_TOK_NEWLINE, FL_TOK_LBRACE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (t[-1].kind == kinds[i]) return true;
  return false;
}

static inline bool free_behind(const FlToken *t) {
  static const int kinds[] = {FL_TOK_RPAREN,  FL_TOK_COMMA,  FL_TOK_AND,    FL_TOK_OR,
                              FL_TOK_NEWLINE, FL_TOK_LBRACE, FL_TOK_RBRACE, 0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (t[1].kind == kinds[i]) return true;
  return false;
}

static inline bool is_value(const FlToken *t) {
  return t->kind == FL_TOK_NAME || t->kind == FL_TOK_INT || t->kind == FL_TOK_FLOAT || t->kind == FL_TOK_TEXT;
}

static inline bool word_error(const Place *x, const FlToken *t, const char *help, const FlToken *from,
                              const FlToken *to, const char *by) {
  char *message = fl_arena_printf(x->p->arena, "`%s` is not a word of this language", text(x, t, t));
  FlDiag *d = fl_syntax_say(x, FL_E0109, t->span, message, help);
  if (by) replace(d, from, to, by);
  return true;
}

#endif
