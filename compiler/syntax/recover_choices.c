/* recover_choices.c: choices of Python, R, SQL and C, and statements of C, that do not parse, in the words of
 * flow.
 *
 * In and out as in recover_habits.c, whose list has these rules at their places. */
#include "syntax/recover_words.h"

#include <stdlib.h>

/* ---- choices ---- */

static bool is_kind(const FlToken *t, const int *kinds, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (t->kind == kinds[i]) return true;
  return false;
}

/* The first token of these kinds at the place or behind it, in the same brackets; NULL: what ends a value
 * comes before. */
static const FlToken *ahead(const Place *x, const FlToken *t, int kind) {
  for (; t->kind && t->kind != FL_TOK_NEWLINE && t->kind != FL_TOK_COMMA; t++) {
    if (t->kind == kind) return t;
    if (t->match >= 0 && &x->p->tokens.at[t->match] < t) return NULL; /* the end of the brackets around */
    if (t->match >= 0) t = &x->p->tokens.at[t->match];
  }
  return NULL;
}

/* The last token of the value that begins here: before `until`, or where that is 0 before a comma, the end of
 * a line or of the brackets around. NULL: it has what may belong to another choice, or ends elsewhere. */
static const FlToken *value_end(const Place *x, const FlToken *t, int until) {
  static const int within[] = {FL_TOK_IF,    FL_TOK_ELSE, FL_TOK_QUESTION,
                               FL_TOK_COLON, FL_TOK_FOR,  FL_TOK_MATCH};
  static const int behind[] = {0, FL_TOK_NEWLINE, FL_TOK_COMMA, FL_TOK_LBRACE};
  for (; !is_kind(t, behind, sizeof behind / sizeof *behind); t++) {
    if (t->kind == until) return t - 1;
    if (is_kind(t, within, sizeof within / sizeof *within)) return NULL;
    if (t->match >= 0 && &x->p->tokens.at[t->match] < t) break;
    if (t->match >= 0) t = &x->p->tokens.at[t->match];
  }
  return until ? NULL : t - 1;
}

/* The first token of the value that ends before `t`: behind what opens, separates or binds. NULL: it has what
 * may belong to another choice. */
static const FlToken *value_begin(const Place *x, const FlToken *t) {
  static const int within[] = {FL_TOK_IF, FL_TOK_ELSE, FL_TOK_QUESTION, FL_TOK_FOR, FL_TOK_IN};
  static const int before[] = {FL_TOK_NEWLINE, FL_TOK_COMMA,    FL_TOK_ASSIGN, FL_TOK_PLUSASSIGN,
                               FL_TOK_COLON,   FL_TOK_FATARROW, FL_TOK_ASSERT, FL_TOK_WHILE,
                               FL_TOK_MATCH,   FL_TOK_SEMICOLON};
  while (is_before(x, t)) {
    const FlToken *b = t - 1;
    if (is_kind(b, within, sizeof within / sizeof *within)) return NULL;
    if (b->match >= 0 && &x->p->tokens.at[b->match] > b) break;
    if (is_kind(b, before, sizeof before / sizeof *before)) break;
    t = b->match >= 0 ? &x->p->tokens.at[b->match] : b;
  }
  return t;
}

/* `if` before `t`, in the same brackets, with nothing but its condition between; NULL: none. */
static const FlToken *if_before(const Place *x, const FlToken *t) {
  while (is_before(x, t)) {
    const FlToken *b = t - 1;
    if (b->kind == FL_TOK_IF) return b;
    if (b->kind == FL_TOK_NEWLINE || b->kind == FL_TOK_COMMA || b->kind == FL_TOK_ELSE ||
        b->kind == FL_TOK_RBRACE)
      return NULL;
    if (b->match >= 0 && &x->p->tokens.at[b->match] > b) return NULL;
    t = b->match >= 0 ? &x->p->tokens.at[b->match] : b;
  }
  return NULL;
}

/* A choice in the words of flow; NULL where a part of it is not sure. */
static const char *choice_of(const Place *x, const FlToken *if_from, const FlToken *if_to,
                             const FlToken *a_from, const FlToken *a_to, const FlToken *b_from,
                             const FlToken *b_to) {
  if (!if_from || !if_to || !a_from || !a_to || !b_from || !b_to || if_to < if_from || a_to < a_from ||
      b_to < b_from)
    return NULL;
  return fl_arena_printf(x->p->arena, "if %s { %s } else { %s }", text(x, if_from, if_to),
                         text(x, a_from, a_to), text(x, b_from, b_to));
}

/* `if c then a else b`, `if c: a else b`, and with `else:` */
bool fl_syntax_choice_by_words(const Place *x) {
  bool then = is(x, x->found, "then");
  const FlToken *begin = then || x->found->kind == FL_TOK_COLON ? if_before(x, x->found) : NULL;
  const FlToken *other = begin ? ahead(x, x->next, FL_TOK_ELSE) : NULL;
  if (!other) return false;
  const FlToken *value = other[1].kind == FL_TOK_COLON ? other + 2 : other + 1, *end = value_end(x, value, 0);
  const char *by = choice_of(x, begin + 1, x->prev, x->next, value_end(x, x->next, FL_TOK_ELSE), value, end);
  const char *help = by ? fl_arena_printf(x->p->arena, "write `%s`", by)
                        : "a block is written in braces: if c { a } else { b }";
  if (then) return word_error(x, x->found, help, begin, end, by);
  FlDiag *d = fl_syntax_say(x, FL_E0111, x->found->span, "expected `{`, found `:`", help);
  if (by) replace(d, begin, end, by);
  return true;
}

/* `a if c else b`, `c ? a : b` */
bool fl_syntax_choice_behind(const Place *x) {
  bool sign = x->found->kind == FL_TOK_QUESTION;
  if ((!sign && x->found->kind != FL_TOK_IF) || x->found == x->head || !fl_syntax_after_operand(x))
    return false;
  const FlToken *other = ahead(x, x->next, sign ? FL_TOK_COLON : FL_TOK_ELSE),
                *from = other ? value_begin(x, x->found) : NULL;
  const FlToken *end = from ? value_end(x, other + 1, 0) : NULL,
                *middle = value_end(x, x->next, sign ? FL_TOK_COLON : FL_TOK_ELSE);
  const FlToken *last = other ? other + 1 : NULL;
  const char *by = sign ? choice_of(x, from, x->prev, x->next, middle, last, end)
                        : choice_of(x, x->next, middle, from, x->prev, last, end);
  FlDiag *d =
      fl_syntax_say(x, FL_E0109, x->found->span, "a choice is not written like this",
                    by ? fl_arena_printf(x->p->arena, "write `%s`", by) : "write `if c { a } else { b }`");
  if (by) replace(d, from, end, by);
  return true;
}

/* ---- C ---- */

bool fl_syntax_increment(const Place *x) {
  bool ends = x->next->kind == FL_TOK_NEWLINE || x->next->kind == FL_TOK_RBRACE ||
              x->next->kind == FL_TOK_RPAREN || x->next->kind == FL_TOK_LBRACE || !x->next->kind;
  if (x->found->kind != FL_TOK_PLUS || x->prev->kind != FL_TOK_PLUS || !x->found->glued) {
    ends = x->prev->kind == FL_TOK_PLUS && is_before(x, x->prev) && x->prev[-1].kind == FL_TOK_PLUS &&
           x->prev->glued && x->found->kind == FL_TOK_NEWLINE;
    if (!ends) return false;
  } else if (!ends) {
    return false;
  }
  fl_syntax_say(x, FL_E0101, x->prev->span, "`++` is not an operator",
                "write `x += 1` of a variable, `x + 1` of a value");
  return true;
}

bool fl_syntax_counting_for(const Place *x) {
  if (x->found->kind != FL_TOK_ASSIGN || x->prev->kind != FL_TOK_NAME || x->head->kind != FL_TOK_FOR)
    return false;
  if (x->prev != x->head + 1 && !(x->prev == x->head + 2 && x->bracket == x->head + 1)) return false;
  fl_syntax_say(
      x, FL_E0101, x->found->span, "expected `in`, found `=`",
      fl_arena_printf(x->p->arena, "a loop goes over values: `for %s in 0..n { ... }`", x->prev->name));
  return true;
}

/* A line that begins as comments elsewhere do. */
bool fl_syntax_comment(const Place *x) {
  const FlToken *h = x->head;
  const char *sign = x->p->source->text + h->span.start;
  bool begins = (h == x->found && (!strncmp(sign, "//", 2) || !strncmp(sign, "/*", 2))) ||
                (h + 1 < x->found && !strncmp(sign, "-- ", 3));
  if (!begins) return false;
  FlSpan two = h->span;
  two.len = 2;
  FlDiag *d = fl_syntax_say(x, FL_E0105, two, fl_arena_printf(x->p->arena, "`%.2s` begins no comment", sign),
                            "a comment goes from `#` to the end of its line");
  if (sign[1] == '*') return true;
  d->edit.span = two;
  d->edit.text = "#";
  return true;
}
