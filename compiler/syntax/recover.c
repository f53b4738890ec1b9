/* recover.c: syntax errors in the user's words, and where parsing goes on after one.
 *
 * In: the token that does not fit, the tokens around it, and what the engine would accept instead. Out: one
 * report, by the first rule of `rules` that knows the mistake, with a fix when there is one likely. Parsing
 * goes on at the end of the statement (or arm) in the innermost block, so that errors of other statements are
 * found too. What the statement would have bound is kept: nobody complains that it is missing. */
#include "syntax/recover.h"

typedef FlSyntaxPlace Place;

static bool accepts(const Place *x, int kind) { return fl_lemon_accepts(x->p->engine, kind); }

bool fl_syntax_after_operand(const Place *x) { return accepts(x, FL_TOK_PLUS) && x->prev != x->found; }

static bool is_word(const FlToken *t, const char *word) {
  return t->kind == FL_TOK_NAME && !strcmp(t->name, word);
}

static bool is_first(const Place *x) {
  return x->prev == x->found || x->prev->kind == FL_TOK_NEWLINE || x->prev->kind == FL_TOK_LBRACE;
}

FlDiag *fl_syntax_say(const Place *x, FlDiagCode code, FlSpan span, const char *message, const char *help) {
  FlDiag *d = fl_report(x->p->sink, code, span, "%s", message);
  if (help) fl_diag_help(x->p->sink, d, "%s", help);
  return d;
}

static const char *shown(const Place *x, const FlToken *t) {
  const char *text = x->p->source->text + t->span.start;
  switch (t->kind) {
  case FL_TOK_NAME:
  case FL_TOK_INT:
  case FL_TOK_FLOAT:
    return fl_arena_printf(x->p->arena, "`%.*s`", (int)(t->span.len > 40 ? 40 : t->span.len), text);
  case FL_TOK_NEWLINE:
    return t->span.start >= x->p->source->len ? "the end of the file"
           : text[0] == ';'                   ? "`;`"
                                              : "the end of the line";
  default: return fl_syntax_token_name(t->kind);
  }
}

/* ---- words and signs of other languages ---- */

typedef struct Foreign {
  const char *word, *help, *by; /* by: what is written for the word alone; NULL: more than that changes */
} Foreign;

static const Foreign foreign_words[] = {
    {"def", "a function is written `fn f(x) = ...` or `fn f(x) { ... }`", NULL},
    {"function", "a function is written `fn f(x) = ...`, a lambda `x => ...`", NULL},
    {"func", "a function is written `fn f(x) = ...`", "fn"},
    {"fun", "a function is written `fn f(x) = ...`", "fn"},
    {"lambda", "a lambda is written `x => ...`", NULL},
    {"return", "a block gives its last expression; leave `return` out", NULL},
    {"elif", "write `else if`", "else if"},
    {"elsif", "write `else if`", "else if"},
    {"elseif", "write `else if`", "else if"},
    {"const", "a name is bound with `let x = ...`", "let"},
    {"val", "a name is bound with `let x = ...`", "let"},
    {"auto", "a name is bound with `let x = ...`", "let"},
    {"mut", "a variable is written `var x = ...`", NULL},
    {"class", "a type is written `type P = (x: f64, y: f64)`", NULL},
    {"struct", "a type is written `type P = (x: f64, y: f64)`", NULL},
    {"switch", "write `match x { 1 => ..., _ => ... }`", NULL},
    {"case", "write `match x { 1 => ..., _ => ... }`", NULL},
    {"from", "write `import linear` and use `linear.ridge`", NULL},
    {"include", "write `import \"file.flow\" as name`", NULL},
    {"use", "write `import linear` and use `linear.ridge`", NULL},
    {"require", "write `import linear` and use `linear.ridge`", NULL},
    {"then", "a block is written in braces: if c { a } else { b }", NULL},
    {"do", "a block is written in braces: while c { ... }", NULL},
    {"end", "a block ends with `}`", NULL},
    {"foreach", "write `for x in xs { ... }`", NULL},
    {"try", "an error ends the run: ask before, by `if`, or by `x ?? y` where null says it", NULL},
    {"repeat", "write `while true { ... break ... }`", NULL},
    {"loop", "write `while true { ... break ... }`", NULL},
    {"raise", "write `error(\"...\")`", NULL},
    {"throw", "write `error(\"...\")`", NULL},
    {"unless", "write `if not c { ... }`", NULL},
    {"is", "write `==`, or `is_null(x)`", NULL},
    {"isnt", "write `!=`", NULL},
    {"xor", "write `a != b`", NULL},
    {"mod", "the remainder is written `a % b`", NULL},
    {"div", "division rounding down is written `a // b`", NULL},
};

static bool foreign_word(const Place *x) {
  bool block = x->found->kind == FL_TOK_LBRACE; /* `switch (x) {` */
  const FlToken *candidates[] = {x->found, x->prev, block ? x->head : x->found};
  for (int k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof foreign_words / sizeof foreign_words[0]; i++) {
      if (!is_word(candidates[k], foreign_words[i].word)) continue;
      if (k == 1 && !fl_syntax_begins_operand(x->found->kind) && x->found->kind != FL_TOK_COLON &&
          x->found->kind != FL_TOK_IF && !block)
        continue;
      char *message =
          fl_arena_printf(x->p->arena, "`%s` is not a word of this language", foreign_words[i].word);
      FlDiag *d = fl_syntax_say(x, FL_E0109, candidates[k]->span, message, foreign_words[i].help);
      d->edit.span = candidates[k]->span;
      d->edit.text = foreign_words[i].by;
      return true;
    }
  return false;
}

static bool arrow(const Place *x) {
  if (x->found->kind != FL_TOK_ARROW || !fl_syntax_after_operand(x)) return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "`->` stands before the type of a function's result",
                "a lambda is written with `=>`: x => x + 1");
  return true;
}

/* ---- `=`, `==`, `:` ---- */

static bool equals_twice(const Place *x) {
  if (x->found->kind != FL_TOK_EQ || !accepts(x, FL_TOK_ASSIGN) || fl_syntax_after_operand(x)) return false;
  fl_syntax_say(x, FL_E0110, x->found->span, "expected `=`, found `==`",
                "`=` says what something is; `==` asks whether it is equal");
  return true;
}

static bool equals_once(const Place *x) {
  if (x->found->kind != FL_TOK_ASSIGN || !accepts(x, FL_TOK_EQ)) return false;
  fl_syntax_say(x, FL_E0110, x->found->span, "`=` cannot stand here",
                "to ask whether two values are equal, write `==`");
  return true;
}

static bool colon(const Place *x) {
  int head = x->head->kind;
  FlSpan at = x->found->span;
  if (x->found->kind == FL_TOK_COLON) {
    if (accepts(x, FL_TOK_LBRACE) &&
        (head == FL_TOK_IF || head == FL_TOK_WHILE || head == FL_TOK_FOR || x->prev->kind == FL_TOK_ELSE)) {
      fl_syntax_say(x, FL_E0111, at, "expected `{`, found `:`", "a block is written in braces: if c { ... }");
      return true;
    }
    if (accepts(x, FL_TOK_ARROW) && x->prev->kind == FL_TOK_RPAREN) {
      fl_syntax_say(x, FL_E0112, at, "expected `->`, found `:`",
                    "the type of a function's result stands behind `->`");
      return true;
    }
    if (x->bracket && x->bracket->kind == FL_TOK_LBRACE && x->prev->kind == FL_TOK_NAME) {
      fl_syntax_say(x, FL_E0112, at, "`:` cannot stand here",
                    "a named tuple is written in round brackets with `=`: (a = 1, b = 2)");
      return true;
    }
    if (x->bracket && x->bracket->kind == FL_TOK_LPAREN && x->prev->kind == FL_TOK_NAME) {
      fl_syntax_say(x, FL_E0112, at, "`:` says what type something has",
                    "an argument is named with `=`: f(x = 3)");
      return true;
    }
    if (x->bracket && x->bracket->kind == FL_TOK_LBRACKET && x->prev->kind == FL_TOK_TEXT) {
      fl_syntax_say(x, FL_E0112, at, "`:` cannot stand here",
                    "values with names are a tuple: (a = 1, b = 2)");
      return true;
    }
    return false;
  }
  bool value = x->found->kind != FL_TOK_NAME && fl_syntax_begins_operand(x->found->kind);
  if (x->prev->kind == FL_TOK_COLON && value && x->bracket && x->bracket->kind == FL_TOK_LPAREN) {
    fl_syntax_say(x, FL_E0112, x->prev->span, "`:` says what type something has",
                  "to say what it is, write `=`: f(x = 3), (a = 1, b = 2)");
    return true;
  }
  return false;
}

/* ---- the shape of statements ---- */

static bool is_binary(int kind) {
  return fl_syntax_only_between(kind) || kind == FL_TOK_FATARROW || kind == FL_TOK_DOT;
}

static bool operator_first(const Place *x) {
  if (!is_first(x) || !is_binary(x->found->kind)) return false;
  char *message = fl_arena_printf(x->p->arena, "a statement does not begin with %s", shown(x, x->found));
  fl_syntax_say(
      x, FL_E0105, x->found->span, message,
      "to go on from the line before, end that line with the operator (only `|>` may begin a line)");
  return true;
}

static bool reserved_name(const Place *x) {
  if (!fl_syntax_is_word_token(x->found->kind) || !accepts(x, FL_TOK_NAME) || accepts(x, FL_TOK_INT))
    return false;
  FlWordGroup group = fl_syntax_word_group(x->found->kind);
  if (group != FL_WORD_RESERVED && group != FL_WORD_SPECIAL) return false;
  char *message = fl_arena_printf(x->p->arena, "%s is a reserved word and cannot name something else",
                                  shown(x, x->found));
  fl_syntax_say(x, FL_E0104, x->found->span, message, "choose another name, or write it in backticks");
  return true;
}

static bool let_function(const Place *x) {
  bool bound = x->head->kind == FL_TOK_LET || x->head->kind == FL_TOK_VAR;
  if (x->found->kind != FL_TOK_LPAREN || !bound || x->prev->kind != FL_TOK_NAME || x->prev != x->head + 1)
    return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "expected `=`, found `(`",
                "a function is written `fn f(x) = ...`");
  return true;
}

static bool for_brackets(const Place *x) {
  if (x->found->kind != FL_TOK_IN || x->head->kind != FL_TOK_FOR || !x->bracket || x->bracket != x->head + 1)
    return false;
  fl_syntax_say(x, FL_E0101, x->bracket->span, "`for` takes no brackets", "write `for i in 0..n { ... }`");
  return true;
}

static bool no_braces(const Place *x) {
  int head = x->head->kind;
  if (head != FL_TOK_IF && head != FL_TOK_WHILE && head != FL_TOK_FOR) return false;
  bool after_else = x->prev->kind == FL_TOK_ELSE;
  if (!accepts(x, FL_TOK_LBRACE) || (!after_else && !fl_syntax_after_operand(x)) ||
      x->found->kind == FL_TOK_LBRACE)
    return false;
  if (!fl_syntax_begins_operand(x->found->kind) && x->found->kind != FL_TOK_NEWLINE &&
      x->found->kind != FL_TOK_BREAK && x->found->kind != FL_TOK_CONTINUE)
    return false;
  char *message = fl_arena_printf(x->p->arena, "expected `{`, found %s", shown(x, x->found));
  fl_syntax_say(x, FL_E0111, x->found->span, message, "a block is written in braces: if c { ... }");
  return true;
}

static bool param_without_type(const Place *x) {
  if (x->head->kind != FL_TOK_PARAM || x->prev != x->head + 1 || x->found->kind != FL_TOK_ASSIGN)
    return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "a `param` needs a type", "write `param n: i64 = 10`");
  return true;
}

/* A word that begins a statement, before something that cannot follow it. */
static bool start_word(const Place *x) {
  static const Foreign forms[] = {
      {"stage", "stage f(x: f64[n]) = ...", NULL},
      {"type", "type P = (x: f64, y: f64)", NULL},
      {"param", "param n: i64 = 10", NULL},
      {"import", "import linear, \"features.flow\" as feat", NULL},
      {"extern", "extern fn hypot(x: f64, y: f64) -> f64 from \"m\"", NULL},
      {"test", "test \"name\" { ... }", NULL},
  };
  if (x->prev != x->head || x->prev == x->found) return false;
  if (!fl_syntax_begins_operand(x->found->kind) && x->found->kind != FL_TOK_LBRACE) return false;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (!is_word(x->prev, forms[i].word)) continue;
    char *message = fl_arena_printf(x->p->arena, "%s cannot follow `%s`", shown(x, x->found), forms[i].word);
    fl_syntax_say(x, FL_E0101, x->found->span, message,
                  fl_arena_printf(x->p->arena, "write `%s`", forms[i].help));
    return true;
  }
  return false;
}

static bool comprehension_body(const Place *x) {
  if (!x->bracket || x->bracket->kind == FL_TOK_LBRACE || !fl_syntax_after_operand(x)) return false;
  if (!accepts(x, FL_TOK_COLON) || !accepts(x, FL_TOK_LBRACE)) return false;
  char *message = fl_arena_printf(x->p->arena, "expected `:` or `{`, found %s", shown(x, x->found));
  fl_syntax_say(x, FL_E0101, x->found->span, message,
                "what is computed stands behind a colon: [for i in 0..n: x[i]]");
  return true;
}

/* A function that is written before its argument as an operator is: `len t`. */
static bool is_called(const FlToken *t) {
  static const char *const names[] = {"abs", "count", "exp",   "len",  "log",  "max", "mean",
                                      "min", "print", "round", "show", "sqrt", "sum", "text"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (is_word(t, names[k])) return true;
  return false;
}

static bool side_by_side(const Place *x) {
  if (!fl_syntax_begins_operand(x->found->kind) || !fl_syntax_after_operand(x)) return false;
  char *message =
      fl_arena_printf(x->p->arena, "%s stands directly behind another expression", shown(x, x->found));
  bool call =
      x->prev->kind == FL_TOK_NAME &&
      (x->found->kind == FL_TOK_TEXT || x->found->kind == FL_TOK_TEXT_BEGIN ||
       x->found->kind == FL_TOK_NAME || x->found->kind == FL_TOK_INT || x->found->kind == FL_TOK_FLOAT);
  bool list = accepts(x, FL_TOK_COMMA);
  bool braces = call && x->found->glued && is_word(x->prev, "f");
  bool order = x->prev->kind == FL_TOK_NAME && x->found->kind == FL_TOK_NAME && list &&
               (is_word(x->found, "desc") || is_word(x->found, "DESC") || is_word(x->found, "asc") ||
                is_word(x->found, "ASC"));
  bool down = order && (x->found->name[0] | 32) == 'd';
  const char *key = order ? fl_arena_printf(x->p->arena,
                                            down ? "downwards by a key is written `desc(%s)`"
                                                 : "a key alone is upwards: `%s`",
                                            x->prev->name)
                          : "";
  const char *brackets =
      call && is_called(x->prev)
          ? fl_arena_printf(x->p->arena, "a call is written with brackets: `%s(..)`", x->prev->name)
          : NULL;
  const char *help = order                        ? key
                     : braces                     ? "braces in any text are filled in: leave the `f` out"
                     : list && brackets           ? brackets
                     : list                       ? "is a `,` or an operator missing between them?"
                     : call && x->prev == x->head ? "a call is written with brackets: f(x)"
                                                  : "is an operator missing, or the end of a line?";
  FlDiag *d = fl_syntax_say(x, FL_E0116, x->found->span, message, help);
  const bool plain = x->prev > x->p->tokens.at && x->prev[-1].kind != FL_TOK_DOT;
  if (!plain || (!order && !braces)) return true;
  d->edit.span = x->prev->span;
  d->edit.span.len =
      order ? x->found->span.start + x->found->span.len - x->prev->span.start : x->prev->span.len;
  d->edit.text = braces ? "" : down ? fl_arena_printf(x->p->arena, "desc(%s)", x->prev->name) : x->prev->name;
  return true;
}

static bool new_outside(const Place *x) {
  if (x->found->kind != FL_TOK_NEW) return false;
  fl_syntax_say(x, FL_E0104, x->found->span, "`new` stands only in an index, where it makes a dimension",
                "write `x[:, new]`");
  return true;
}

static bool lone_else(const Place *x) {
  if (x->found->kind != FL_TOK_ELSE) return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "this `else` has no `if`", "`else` follows the `}` of an `if`");
  return true;
}

/* ---- what was expected ---- */

static void general(const Place *x) {
  const char *wanted[4];
  int n = 0;
  bool name = accepts(x, FL_TOK_NAME);
  if (name && accepts(x, FL_TOK_INT) && accepts(x, FL_TOK_NOT)) wanted[n++] = "an expression";
  else if (name && accepts(x, FL_TOK_UNDERSCORE) && accepts(x, FL_TOK_TRUE)) wanted[n++] = "a pattern";
  else if (name && (x->prev->kind == FL_TOK_COLON || x->prev->kind == FL_TOK_ARROW)) wanted[n++] = "a type";
  else if (name) wanted[n++] = "a name";
  static const int signs[] = {FL_TOK_RPAREN, FL_TOK_RBRACKET, FL_TOK_ASSIGN, FL_TOK_LBRACE,
                              FL_TOK_IN,     FL_TOK_FATARROW, FL_TOK_ARROW,  FL_TOK_INTERP_END,
                              FL_TOK_COLON,  FL_TOK_COMMA,    FL_TOK_FROM,   FL_TOK_TEXT,
                              FL_TOK_LPAREN, FL_TOK_FN};
  if (accepts(x, FL_TOK_STAGE) && !accepts(x, FL_TOK_LET)) wanted[n++] = "`fn`, `stage` or `extern`";
  bool operand = fl_syntax_after_operand(x);
  for (size_t i = 0; i < sizeof signs / sizeof signs[0] && n < 3; i++) {
    if (operand && (signs[i] == FL_TOK_ASSIGN || signs[i] == FL_TOK_IN || signs[i] == FL_TOK_FATARROW))
      continue;
    bool starts = signs[i] == FL_TOK_LBRACE || signs[i] == FL_TOK_TEXT || signs[i] == FL_TOK_LPAREN ||
                  signs[i] == FL_TOK_FN;
    if (starts && name) continue; /* one way to begin an expression */
    if (signs[i] == FL_TOK_LPAREN && fl_syntax_after_operand(x)) continue;
    if (signs[i] == FL_TOK_FROM && name) continue; /* read as a name */
    if (signs[i] == FL_TOK_FN && x->prev->kind != FL_TOK_EXTERN) continue;
    if (accepts(x, signs[i])) wanted[n++] = fl_syntax_token_name(signs[i]);
  }
  if (!n && accepts(x, FL_TOK_NEWLINE)) wanted[n++] = "the end of the line";
  FlText1 t = {0};
  for (int i = 0; i < n; i++)
    fl_text_addf(&t, "%s%s", i == 0 ? "expected " : i == n - 1 ? " or " : ", ", wanted[i]);
  if (n) fl_text_addf(&t, ", found %s", shown(x, x->found));
  else fl_text_addf(&t, "unexpected %s", shown(x, x->found));
  FlDiag *d = fl_report(x->p->sink, FL_E0101, x->found->span, "%s", t.s);
  fl_text_reset(&t);
  if (x->bracket && x->bracket->kind != FL_TOK_LBRACE && x->found->kind != FL_TOK_RPAREN &&
      (accepts(x, FL_TOK_RPAREN) || accepts(x, FL_TOK_RBRACKET)))
    fl_diag_note(x->p->sink, d, x->bracket->span, "inside the brackets opened here");
}

/* ---- the whole ---- */

static bool (*const rules[])(const Place *) = {
    fl_syntax_habit,    foreign_word, equals_twice, for_brackets,       let_function,  colon,
    param_without_type, equals_once,  arrow,        operator_first,     reserved_name, new_outside,
    no_braces,          lone_else,    start_word,   comprehension_body, side_by_side,
};

/* Fills bracket, and head by walking back over whole brackets to the end of the statement before. */
static void look_around(Place *x) {
  const FlToken *t = x->p->tokens.at, *at = &t[x->p->at];
  x->head = at;
  x->bracket = at->around >= 0 ? &t[at->around] : NULL;
  while (x->head > t) {
    const FlToken *before = x->head - 1;
    if (before->kind == FL_TOK_NEWLINE || before->kind == FL_TOK_LBRACE) break;
    x->head = before->match >= 0 && &t[before->match] < before ? &t[before->match] : before;
  }
}

void fl_syntax_error(FlParser *p, const FlToken *found) {
  p->failed = true;
  const FlToken *t = p->tokens.at;
  Place x = {.p = p,
             .found = found,
             .prev = p->at > 0 ? &t[p->at - 1] : found,
             .next = found->kind ? found + 1 : found};
  look_around(&x);
  p->error_head = (int)(x.head - t);
  p->error_end = found->span.start + 1;
  if (found->made || (p->at > 0 && t[p->at - 1].made)) return; /* follows from what was reported */
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i](&x)) return;
  general(&x);
}

static bool closes(int kind) {
  return kind == FL_TOK_NEWLINE || kind == FL_TOK_RBRACE || kind == FL_TOK_RPAREN ||
         kind == FL_TOK_RBRACKET || kind == FL_TOK_INTERP_END;
}

/* Words that only begin statements, with something behind them. */
static bool begins_statement(const FlToken *t) {
  if (!t->kind || closes(t[1].kind)) return false;
  switch (t->kind) {
  case FL_TOK_LET:
  case FL_TOK_WHILE:
  case FL_TOK_STAGE:
  case FL_TOK_TYPE:
  case FL_TOK_PARAM:
  case FL_TOK_IMPORT:
  case FL_TOK_REQUIRES:
  case FL_TOK_EXTERN:
  case FL_TOK_TEST:
  case FL_TOK_ASSERT: return true;
  default: return false;
  }
}

void fl_syntax_thrown(FlParser *p, const FlToken *thrown) {
  const FlToken *t = p->tokens.at, *before = p->at > 0 ? &t[p->at - 1] : NULL;
  if (thrown == &t[p->at]) p->discarded = true;
  if (!before || before->kind != FL_TOK_RBRACE) return;
  if (thrown == before) p->brace_thrown = true;
  if (before->match >= 0 && thrown == &t[before->match]) p->block_thrown = true;
}

/* The error stands behind the `}` of a block that nothing was made of so far: it goes on within the block,
 * which is closed again in the place of what stands there. Its place, or -1. */
static int close_again(FlParser *p) {
  FlToken *t = p->tokens.at;
  int kind = t[p->at].kind, at = t[p->at].match > p->at ? t[p->at].match : p->at;
  if (!p->brace_thrown || p->block_thrown || closes(kind) || begins_statement(&t[p->at])) return -1;
  const FlToken brace = t[p->at - 1];
  t[at] = (FlToken){
      .kind = FL_TOK_RBRACE, .span = brace.span, .match = brace.match, .around = brace.around, .made = true};
  return at;
}

int fl_syntax_resume(FlParser *p) {
  FlToken *t = p->tokens.at;
  if (!t[p->at].kind || !p->discarded) return p->at + 1;
  int again = close_again(p);
  if (again >= 0) return again;
  bool arm = fl_lemon_accepts(p->engine, FL_TOK_COMMA);
  int i = p->at;
  if (begins_statement(&t[i]) && !arm && i > 0 &&
      t[i - 1].kind != FL_TOK_NEWLINE) { /* feed it again, as one */
    t[i - 1] =
        (FlToken){.kind = FL_TOK_NEWLINE, .span = t[i - 1].span, .match = -1, .around = t[i - 1].around};
    return i - 1;
  }
  do i = t[i].match > i ? t[i].match + 1 : i + 1;
  while (t[i].kind && t[i].kind != FL_TOK_NEWLINE && t[i].kind != FL_TOK_RBRACE &&
         !(arm && t[i].kind == FL_TOK_COMMA) && !begins_statement(&t[i]));
  if (!begins_statement(&t[i])) return i;
  i--; /* the statement before it is over */
  t[i] = (FlToken){.kind = FL_TOK_NEWLINE, .span = t[i].span, .match = -1, .around = t[i].around};
  return i;
}

/* ---- what a damaged statement would have bound ---- */

static FlLost binds(int kind) {
  switch (kind) {
  case FL_TOK_LET:
  case FL_TOK_VAR: return FL_LOST_BEHIND;
  case FL_TOK_FN:
  case FL_TOK_STAGE:
  case FL_TOK_TYPE:
  case FL_TOK_PARAM:
  case FL_TOK_IMPORT: return FL_LOST_EVERYWHERE;
  default: return FL_LOST_PERHAPS;
  }
}

/* The name of an imported file: of "a/b.flow", b. */
static FlName file_name(FlParser *p, const FlToken *t) {
  const char *base = t->text.bytes, *end = base + t->text.len;
  for (const char *c = base; c < end; c++)
    if (*c == '/') base = c + 1;
  size_t n = (size_t)(end - base);
  if (n > 5 && memcmp(end - 5, ".flow", 5) == 0) n -= 5;
  return (FlName){fl_intern(p->interner, base, n), t->span};
}

/* The first token of a statement as the word that begins one, though what follows made it a name. */
static int meant_word(const FlToken *t) {
  FlWordGroup group = FL_WORD_RESERVED;
  int kind = t->kind == FL_TOK_NAME ? fl_syntax_word(t->name, strlen(t->name), &group) : 0;
  return kind && group == FL_WORD_START ? kind : t->kind;
}

/* Names stand between the word that binds and what it binds them to; a token too many may
 * be among them. Without such a word any name before that may be meant: of `def f(x)`, of `x <- 3`. */
static void lose_names(FlParser *p, FlStmt *s, int head) {
  const FlToken *t = p->tokens.at;
  int word = head, kind = meant_word(&t[head]);
  while (word < p->at && binds(kind) == FL_LOST_PERHAPS) {
    word = t[word].match > word ? t[word].match + 1 : word + 1;
    kind = word < p->at ? t[word].kind : 0;
  }
  s->damaged = binds(kind);
  s->lost = (FlNameList){0};
  int first = t[head].kind;
  if (!kind && (first == FL_TOK_FOR || first == FL_TOK_WHILE || first == FL_TOK_IF || first == FL_TOK_MATCH))
    return;
  bool pattern = kind == FL_TOK_LET || kind == FL_TOK_VAR;
  for (int i = kind ? word + 1 : head; i < p->at; i++) {
    int k = t[i].kind;
    if (k == FL_TOK_NEWLINE || k == FL_TOK_LBRACE) return;
    bool ends = k == FL_TOK_ASSIGN || k == FL_TOK_EQ || k == FL_TOK_LT ||
                (!pattern && (k == FL_TOK_LPAREN || k == FL_TOK_COLON));
    if (ends && s->lost.n) return;
    /* A sign that is read as a word, and a quoted name that does not end, have no letters. */
    if (fl_syntax_is_name(&t[i]) && *t[i].name)
      fl_vec_push(p->arena, &s->lost, ((FlName){t[i].name, t[i].span}));
    if (kind == FL_TOK_IMPORT && k == FL_TOK_TEXT) fl_vec_push(p->arena, &s->lost, file_name(p, &t[i]));
  }
}

static bool is_claimed(const FlParser *p, int diag) {
  for (int i = 0; i < p->claimed.n; i++)
    if (p->claimed.at[i] == diag) return true;
  return false;
}

void fl_syntax_claim_errors(FlParser *p, FlStmt *s, int head) {
  uint32_t from = p->tokens.at[head].span.start, to = p->tokens.at[p->at].span.start;
  bool any = s->kind == FL_STMT_ERROR;
  if (any && p->error_end > to) to = p->error_end;
  for (int i = p->n_diags; i < p->sink->diags.n; i++) {
    const FlDiag *d = p->sink->diags.at[i];
    if (fl_diag_severity(d->code) != FL_ERROR || d->span.start < from || d->span.start >= to ||
        is_claimed(p, i))
      continue;
    fl_vec_push(p->arena, &p->claimed, i);
    any = true;
  }
  if (any) lose_names(p, s, head);
}
