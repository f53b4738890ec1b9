/* lexer.re: text to tokens (re2c).
 *
 * In: a source text, NUL-terminated. Out: p->tokens with LINE and SEMICOLON tokens still in it, ended by kind 0, and
 * p->comments. Errors are reported and a token that the writer may have meant is made, so that parsing goes on.
 * Always holds: every TEXT_BEGIN has its TEXT_END and every INTERP_BEGIN its INTERP_END, properly nested. */
#include "syntax/syntax_internal.h"

#include "data/name_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A text that is being read: its {expression} is in the code mode of the lexer. */
typedef struct Mode {
  FlTextStyle style;
  uint32_t start; /* of the text */
  uint32_t open;  /* of the brace */
  int depth;      /* brackets open inside the braces */
  int braces;     /* those of them that are braces */
} Mode;

typedef struct Lexer {
  FlParser *p;
  const char *at;      /* next byte */
  uint32_t end_of_last; /* offset behind the last token */
  bool versions;        /* behind `requires flow` on its line: numbers are versions */
  FlVec(Mode) modes;
} Lexer;

static uint32_t offset(const Lexer *x, const char *s) { return (uint32_t)(s - x->p->source->text); }

static FlSpan span_of(const Lexer *x, const char *from, const char *to) {
  return (FlSpan){x->p->source->id, offset(x, from), (uint32_t)(to - from), 0};
}

static FlToken *add(Lexer *x, int kind, const char *from, const char *to) {
  FlTokens *all = &x->p->tokens;
  if (all->n == all->cap) all->at = fl_vec_grow(x->p->arena, all->at, all->n, &all->cap, sizeof *all->at);
  FlToken *t = &all->at[all->n++];
  *t = (FlToken){.kind = kind, .span = span_of(x, from, to), .match = -1};
  t->glued = all->n > 1 && t->span.start == x->end_of_last;
  x->end_of_last = t->span.start + t->span.len;
  return t;
}

/* ---- numbers ---- */

static const char *without_underscores(Lexer *x, const char *from, const char *to) {
  char *s = FL_NEW_ARRAY(x->p->arena, char, to - from + 1), *w = s;
  for (; from < to; from++)
    if (*from != '_') *w++ = *from;
  return fl_intern(x->p->interner, s, (size_t)(w - s));
}

static void add_integer(Lexer *x, const char *from, const char *to, int base) {
  FlToken *t = add(x, FL_TOK_INT, from, to);
  t->integer.spelling = without_underscores(x, from, to);
  errno = 0;
  t->integer.value = strtoull(t->integer.spelling + (base == 16 ? 2 : 0), NULL, base);
  if (!errno) return;
  FlDiag *d = fl_report(x->p->sink, FL_E0007, t->span, "this integer is larger than any type can hold (2^64 - 1)");
  if (base == 10) fl_diag_help(x->p->sink, d, "as a float it is written with a point or an exponent: 1e30");
}

static void add_float(Lexer *x, const char *from, const char *to) {
  FlToken *t = add(x, FL_TOK_FLOAT, from, to);
  t->real.spelling = without_underscores(x, from, to);
  t->real.value = strtod(t->real.spelling, NULL);
  if (isinf(t->real.value)) {
    FlDiag *d = fl_report(x->p->sink, FL_E0007, t->span, "this number is larger than any f64 (about 1.8e308)");
    fl_diag_help(x->p->sink, d, "infinity is written `inf`");
  } else if (t->real.value == 0 && strpbrk(t->real.spelling, "123456789") &&
             strpbrk(t->real.spelling, "123456789") < strpbrk(t->real.spelling, "eE")) {
    fl_report(x->p->sink, FL_E0007, t->span, "this number is smaller than any f64 but 0 (about 4.9e-324)");
  }
}

static void add_bad_number(Lexer *x, const char *from, const char *to) {
  FlSink *sink = x->p->sink;
  int n = (int)(to - from > 40 ? 40 : to - from);
  FlDiag *d = fl_report(sink, FL_E0006, span_of(x, from, to), "`%.*s` is not a number", n, from);
  if (*from == '.') {
    fl_diag_help(sink, d, "a number has digits on both sides of the point: 0%.*s", n, from);
  } else if (to[-1] == '.') {
    fl_diag_help(sink, d, "a number has digits on both sides of the point: %.*s0", n, from);
  } else if (memchr(from, '_', (size_t)(to - from))) {
    fl_diag_help(sink, d, "`_` stands between two digits: 1_000");
  } else if (from[0] == '0' && (from[1] == 'b' || from[1] == 'o' || from[1] == 'x' || from[1] == 'X')) {
    fl_diag_help(sink, d, "numbers are decimal, or hexadecimal like 0xff");
  } else {
    fl_diag_help(sink, d, "a name begins with a letter; a product is written with `*`");
  }
  FlToken *t = add(x, FL_TOK_INT, from, to);
  t->integer.spelling = "0";
  t->made = true;
}

/* ---- names ---- */

static void add_word(Lexer *x, const char *from, const char *to) {
  const char *name = fl_intern(x->p->interner, from, (size_t)(to - from));
  int kind = name == x->p->underscore ? FL_TOK_UNDERSCORE : (int)(intptr_t)fl_map_get(x->p->words, name);
  FlToken *t = add(x, kind ? kind : FL_TOK_NAME, from, to);
  t->name = name;
  const FlTokens *v = &x->p->tokens;
  bool first = v->n == 2 || (v->n > 2 && (v->at[v->n - 3].kind == FL_TOK_LINE || v->at[v->n - 3].kind == FL_TOK_SEMICOLON));
  if (first && strcmp(t->name, "flow") == 0 && v->at[v->n - 2].kind == FL_TOK_REQUIRES) x->versions = true;
}

/* 0.2.1, and whatever hangs on it: what is no version is reported where it stands. */
static void add_version(Lexer *x, const char *from) {
  while ((*x->at >= '0' && *x->at <= '9') || (*x->at >= 'a' && *x->at <= 'z') || (*x->at >= 'A' && *x->at <= 'Z') || *x->at == '.' ||
         *x->at == '_' || *x->at == '-' || *x->at == '+')
    x->at++;
  add(x, FL_TOK_VERSION, from, x->at);
}

static void add_quoted_name(Lexer *x, const char *from, const char *to, bool closed) {
  FlToken *t = add(x, FL_TOK_NAME, from, to);
  const char *at = from + 1, *end = to - closed;
  FlText1 name = {0};
  while (at < end) fl_text_addc(&name, fl_name_unescape(&at, end));
  t->name = fl_intern(x->p->interner, name.len ? name.s : "", name.len);
  fl_text_reset(&name);
  if (closed && to - from > 2) return;
  t->made = true;
  fl_report(x->p->sink, FL_E0009, t->span, closed ? "a name in backticks is empty" : "the backtick of this name is not closed");
}

/* `'` is transpose directly after a name, `)`, `]` or another `'`. */
static bool transposes(const Lexer *x, const char *from) {
  const FlTokens *v = &x->p->tokens;
  if (!v->n || x->end_of_last != offset(x, from)) return false;
  switch (v->at[v->n - 1].kind) {
  case FL_TOK_NAME:
  case FL_TOK_RPAREN:
  case FL_TOK_RBRACKET:
  case FL_TOK_QUOTE: return true;
  default: break;
  }
  if (!fl_syntax_is_word_token(v->at[v->n - 1].kind)) return false;
  FlWordGroup group = fl_syntax_word_group(v->at[v->n - 1].kind);
  return group == FL_WORD_START || group == FL_WORD_SOFT || (v->n > 1 && v->at[v->n - 2].kind == FL_TOK_DOT);
}

static const char *add_single_quoted(Lexer *x, const char *from) {
  const char *to = from + 1;
  while (*to && *to != '\n' && *to != '\'') to++;
  bool closed = *to == '\'';
  FlDiag *d = fl_report(x->p->sink, FL_E0011, span_of(x, from, closed ? to + 1 : from + 1),
                        "`'` directly after a name or a bracket is transpose; here it means nothing");
  if (!closed) return from + 1;
  fl_diag_help(x->p->sink, d, "a text is written in double quotes: \"%.*s\"", (int)(to - from - 1 > 60 ? 60 : to - from - 1),
               from + 1);
  FlToken *t = add(x, FL_TOK_TEXT, from, to + 1);
  t->text.bytes = fl_arena_strndup(x->p->arena, from + 1, (size_t)(to - from - 1));
  t->text.len = (size_t)(to - from - 1);
  return to + 1;
}

/* A word for a sign, apart from what it stands beside. */
static const char *word_for(const Lexer *x, const char *from, const char *word) {
  bool sign = strchr("=!^<>|", word[0]) != NULL, first = from == x->p->source->text;
  const char *before = sign || first || strchr(" (\t\n", from[-1]) ? "" : " ", *behind = sign || strchr(" \t\n", *x->at) ? "" : " ";
  return fl_arena_printf(x->p->arena, "%s%s%s", before, word, behind);
}

/* Between what cannot be conditions: beside a literal text, which is joined, or behind a bracket that opens. */
static bool no_condition(const Lexer *x) {
  const FlTokens *v = &x->p->tokens;
  int before = v->n ? v->at[v->n - 1].kind : 0;
  return x->at[strspn(x->at, " ")] == '"' || before == FL_TOK_TEXT || before == FL_TOK_TEXT_END || before == FL_TOK_LPAREN || before == FL_TOK_COMMA;
}

/* Signs of other languages: reported, and read as what is meant. by: what is written for the sign alone; "": more than that changes. */
static void add_foreign(Lexer *x, const char *from, int kind, const char *by, const char *meant) {
  FlDiag *d = fl_report(x->p->sink, FL_E0012, span_of(x, from, x->at), "`%.*s` is not an operator", (int)(x->at - from), from);
  fl_diag_help(x->p->sink, d, "%s", meant);
  d->edit.span = span_of(x, from, x->at);
  d->edit.text = *by ? word_for(x, from, by) : NULL;
  FlToken *t = add(x, kind, from, x->at);
  t->made = true;
  t->name = fl_intern_z(x->p->interner, "");
}

static void report_character(Lexer *x, const char *from) {
  FlSpan span = span_of(x, from, x->at);
  FlSink *sink = x->p->sink;
  unsigned char c = (unsigned char)*from;
  FlDiag *d = c < 0x20 || c == 0x7F ? fl_report(sink, FL_E0003, span, "the control character 0x%02X means nothing here", c)
                                    : fl_report(sink, FL_E0003, span, "`%.*s` means nothing here", (int)(x->at - from), from);
  if (!strncmp(from, "\xE2\x80\x9C", 3) || !strncmp(from, "\xE2\x80\x9D", 3)) fl_diag_help(sink, d, "a text is written in straight quotes: \"...\"");
  if (!strncmp(from, "\xC2\xA0", 2)) fl_diag_help(sink, d, "this is a no-break space; write an ordinary one");
  if (c == '$') fl_diag_help(sink, d, "a column or field is written with a point: t.price");
  if (c == '~') fl_diag_help(sink, d, "negation is written `not`, a choice `if c { a } else { b }`, closeness of floats `a ~= b`, a model `linear.ols(matrix(t, x), t.y)`");
  if (c == '\\') fl_diag_help(sink, d, "a line goes on after an operator, a comma or inside brackets; a lambda is written `x => ...`");
  add(x, c == '$' ? FL_TOK_DOT : FL_TOK_ILLEGAL, from, x->at)->made = true;
}

/* ---- texts ---- */

/* \u{...} at s (behind the `u`). Adds the character; false: not well formed. */
static bool add_unicode(FlText1 *out, const char *s, const char *end) {
  uint32_t c = 0;
  for (s++; s < end - 1; s++) {
    c = c * 16 + (uint32_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
    if (c > 0x10FFFF) return false;
  }
  if (!c || (c >= 0xD800 && c < 0xE000)) return false;
  if (c < 0x80) {
    fl_text_addc(out, (char)c);
  } else if (c < 0x800) {
    fl_text_addc(out, (char)(0xC0 | c >> 6));
    fl_text_addc(out, (char)(0x80 | (c & 63)));
  } else if (c < 0x10000) {
    fl_text_addc(out, (char)(0xE0 | c >> 12));
    fl_text_addc(out, (char)(0x80 | (c >> 6 & 63)));
    fl_text_addc(out, (char)(0x80 | (c & 63)));
  } else {
    fl_text_addc(out, (char)(0xF0 | c >> 18));
    fl_text_addc(out, (char)(0x80 | (c >> 12 & 63)));
    fl_text_addc(out, (char)(0x80 | (c >> 6 & 63)));
    fl_text_addc(out, (char)(0x80 | (c & 63)));
  }
  return true;
}

static void report_escape(Lexer *x, const char *from, const char *to) {
  FlDiag *d = fl_report(x->p->sink, FL_E0005, span_of(x, from, to), "`%.*s` is not an escape", (int)(to - from), from);
  if (from[1] == '}') fl_diag_help(x->p->sink, d, "a closing brace needs no escape");
  else if (from[1] == 'u') fl_diag_help(x->p->sink, d, "a character is written by its code point, 1 to 10FFFF: \\u{1F600}");
  else fl_diag_help(x->p->sink, d, "escapes are \\n \\t \\\" \\\\ \\{ \\u{1F600}; in r\"...\" a backslash is itself");
}

static void set_text(Lexer *x, FlToken *t, FlText1 *bytes, FlTextStyle style) {
  t->text.bytes = fl_arena_strndup(x->p->arena, bytes->s ? bytes->s : "", bytes->len);
  t->text.len = bytes->len;
  t->text.style = style;
  fl_text_reset(bytes);
}

/* Inside the expression of another text on this line the outer text is what is not closed. */
static void report_open_text(Lexer *x, uint32_t start, FlTextStyle style) {
  fl_vec_push(x->p->arena, &x->p->open_texts, start);
  x->p->tokens.at[x->p->tokens.n - 1].made = true;
  if (x->modes.n && style != FL_TEXT_LINES) return;
  FlSpan span = {x->p->source->id, start, style == FL_TEXT_LINES ? 3 : style == FL_TEXT_RAW ? 2 : 1, 0};
  FlDiag *d = fl_report(x->p->sink, FL_E0004, span, "this text is not closed");
  if (style == FL_TEXT_PLAIN) fl_diag_help(x->p->sink, d, "a text ends on its line; one of several lines is written \"\"\"...\"\"\"");
}

/* Reads on in a text, from its first byte (fresh) or behind an expression: up to its end, or to the next brace. */
static void lex_text(Lexer *x, uint32_t start, FlTextStyle style, bool fresh) {
  FlText1 bytes = {0};
  bool open = false, closed = false; /* what ended the piece: a brace, the end of the text, or neither */
  const char *piece = x->at, *text = x->p->source->text, *YYMARKER;
  for (;;) {
    const char *from = x->at;
    /*!re2c
      re2c:api:style = free-form;
      re2c:define:YYCTYPE = "unsigned char";
      re2c:define:YYCURSOR = x->at;
      re2c:eof = -1;
      re2c:yyfill:enable = 0;

      [^\\"{\n\x00]+ { fl_text_add(&bytes, from, (size_t)(x->at - from)); continue; }
      "\\n"  { fl_text_addc(&bytes, '\n'); continue; }
      "\\t"  { fl_text_addc(&bytes, '\t'); continue; }
      "\\\"" { fl_text_addc(&bytes, '"'); continue; }
      "\\\\" { fl_text_addc(&bytes, '\\'); continue; }
      "\\{"  { fl_text_addc(&bytes, '{'); continue; }
      "\\u{" [0-9a-fA-F]{1,8} "}" { if (!add_unicode(&bytes, from + 2, x->at)) report_escape(x, from, x->at); continue; }
      "\\" [\x01-\x09\x0b-\x7f] { report_escape(x, from, x->at); continue; }
      "\\"   { report_escape(x, from, x->at); continue; }
      "\n"   { if (style == FL_TEXT_LINES) { fl_text_addc(&bytes, '\n'); continue; } x->at = from; break; }
      "\"\"\"" { if (style != FL_TEXT_LINES) x->at = from + 1; closed = true; break; }
      "\""   { if (style == FL_TEXT_LINES) { fl_text_addc(&bytes, '"'); continue; } closed = true; break; }
      "{"    { open = true; break; }
      "\x00" { x->at = from; break; }
      *      { fl_text_add(&bytes, from, (size_t)(x->at - from)); continue; }
    */
  }
  const char *stop = x->at;
  const char *piece_end = open ? stop - 1 : closed ? stop - (style == FL_TEXT_LINES ? 3 : 1) : stop;
  if (!open && fresh) { /* a text without expressions is one token */
    set_text(x, add(x, FL_TOK_TEXT, text + start, stop), &bytes, style);
  } else {
    if (fresh) add(x, FL_TOK_TEXT_BEGIN, text + start, piece)->text.style = style;
    if (piece_end > piece) set_text(x, add(x, FL_TOK_TEXT_PIECE, piece, piece_end), &bytes, style);
    add(x, open ? FL_TOK_INTERP_BEGIN : FL_TOK_TEXT_END, piece_end, stop);
  }
  fl_text_reset(&bytes);
  if (open) {
    Mode m = {.style = style, .start = start, .open = offset(x, stop - 1)};
    fl_vec_push(x->p->arena, &x->modes, m);
  } else if (!closed) {
    report_open_text(x, start, style);
  }
}

static void lex_raw_text(Lexer *x, const char *from) {
  const char *to = x->at;
  while (*to && *to != '\n' && *to != '"') to++;
  FlToken *t = add(x, FL_TOK_TEXT, from, *to == '"' ? to + 1 : to);
  t->text.bytes = fl_arena_strndup(x->p->arena, x->at, (size_t)(to - x->at));
  t->text.len = (size_t)(to - x->at);
  t->text.style = FL_TEXT_RAW;
  if (*to != '"') report_open_text(x, offset(x, from), FL_TEXT_RAW);
  x->at = *to == '"' ? to + 1 : to;
}

/* Behind the `:` of {value:format}: up to the brace. */
static void lex_format(Lexer *x, const char *from) {
  const char *to = x->at;
  while (*to && *to != '\n' && *to != '}' && *to != '"') to++;
  add(x, FL_TOK_FORMAT, from, to)->name = fl_arena_strndup(x->p->arena, x->at, (size_t)(to - x->at));
  x->at = to;
}

/* The expression of a text stops before its brace came: the text is not closed. */
static void abandon_text(Lexer *x) {
  Mode m = x->modes.at[--x->modes.n];
  FlSpan brace = {x->p->source->id, m.open, 1, 0};
  fl_vec_push(x->p->arena, &x->p->open_texts, m.start);
  FlDiag *d = fl_report(x->p->sink, FL_E0004, brace, "the expression in this text is not closed");
  fl_diag_help(x->p->sink, d, "close it with `}`; a brace that is only a sign is written `\\{`");
  add(x, FL_TOK_INTERP_END, x->at, x->at)->made = true;
  add(x, FL_TOK_TEXT_END, x->at, x->at)->made = true;
}

static void open_bracket(Lexer *x, int kind, const char *from) {
  if (x->modes.n) {
    x->modes.at[x->modes.n - 1].depth++;
    x->modes.at[x->modes.n - 1].braces += kind == FL_TOK_LBRACE;
  }
  add(x, kind, from, x->at);
}

static void close_bracket(Lexer *x, int kind, const char *from) {
  if (x->modes.n && x->modes.at[x->modes.n - 1].depth > 0) x->modes.at[x->modes.n - 1].depth--;
  add(x, kind, from, x->at);
}

static void close_brace(Lexer *x, const char *from) {
  if (!x->modes.n || x->modes.at[x->modes.n - 1].braces > 0) {
    if (x->modes.n) x->modes.at[x->modes.n - 1].braces--;
    close_bracket(x, FL_TOK_RBRACE, from);
    return;
  }
  Mode m = x->modes.at[--x->modes.n];
  add(x, FL_TOK_INTERP_END, from, x->at);
  lex_text(x, m.start, m.style, false);
}

/* ---- code ---- */

static void add_comment(Lexer *x, const char *from) {
  const char *text = x->p->source->text, *s = from;
  while (s > text && (s[-1] == ' ' || s[-1] == '\t')) s--;
  const char *to = x->at;
  while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) to--;
  FlComment c = {span_of(x, from, to), s == text || s[-1] == '\n', from[1] == '#'};
  fl_vec_push(x->p->arena, &x->p->comments, c);
}

/*!include:re2c "unicode_categories.re" */

static void lex_code(Lexer *x) {
  const char *YYMARKER;
  for (;;) {
    const char *from = x->at;
    if (x->versions && *from >= '0' && *from <= '9') {
      add_version(x, from);
      continue;
    }
    x->versions = x->versions && *from != '\n' && *from != ';';
    /*!re2c
      re2c:flags:8 = 1;
      letter = [A-Za-z_] | (L \ [\x00-\x7f]);
      mark   = letter | [0-9] | Mn | Mc | (Nd \ [\x00-\x7f]);
      digits = [0-9]+ ("_" [0-9]+)*;
      expo   = [eE] [+-]? digits;

      "\x00" {
        if (x->modes.n) { x->at = from; while (x->modes.n) abandon_text(x); }
        add(x, 0, from, from);
        return;
      }
      [ \t]+ | "\r" { continue; }
      "\n" {
        x->at = from;
        while (x->modes.n && x->modes.at[x->modes.n - 1].style != FL_TEXT_LINES) abandon_text(x);
        x->at++;
        add(x, FL_TOK_LINE, from, x->at);
        continue;
      }
      "#" [^\n\x00]* { add_comment(x, from); continue; }

      letter mark* { add_word(x, from, x->at); continue; }
      "`" ([^`\n\x00\\] | "\\" [^\n\x00])* "`" { add_quoted_name(x, from, x->at, true); continue; }
      "`" [^`\n\x00]*     { add_quoted_name(x, from, x->at, false); continue; }

      digits { 
        if (*x->at == '.' && x->at[1] != '.') { x->at++; add_bad_number(x, from, x->at); continue; }
        add_integer(x, from, x->at, 10);
        continue;
      }
      "0x" [0-9a-fA-F]+ ("_" [0-9a-fA-F]+)* { add_integer(x, from, x->at, 16); continue; }
      digits "." digits expo? | digits expo { add_float(x, from, x->at); continue; }
      [0-9] [0-9A-Za-z_]* | digits "." digits [0-9A-Za-z_]* { add_bad_number(x, from, x->at); continue; }
      "." [0-9] [0-9A-Za-z_]* { add_bad_number(x, from, x->at); continue; }

      "r\"" { lex_raw_text(x, from); continue; }
      "\"\"\"" { if (*x->at == '\n') x->at++; lex_text(x, offset(x, from), FL_TEXT_LINES, true); continue; }
      "\"" { lex_text(x, offset(x, from), FL_TEXT_PLAIN, true); continue; }
      "'" { if (transposes(x, from)) add(x, FL_TOK_QUOTE, from, x->at); else x->at = add_single_quoted(x, from); continue; }

      "(" { open_bracket(x, FL_TOK_LPAREN, from); continue; }
      "[" { open_bracket(x, FL_TOK_LBRACKET, from); continue; }
      "{" { open_bracket(x, FL_TOK_LBRACE, from); continue; }
      ")" { close_bracket(x, FL_TOK_RPAREN, from); continue; }
      "]" { close_bracket(x, FL_TOK_RBRACKET, from); continue; }
      "}" { close_brace(x, from); continue; }
      ":" {
        if (x->modes.n && !x->modes.at[x->modes.n - 1].depth) { lex_format(x, from); continue; }
        add(x, FL_TOK_COLON, from, x->at);
        continue;
      }

      ";"  { add(x, FL_TOK_SEMICOLON, from, x->at); continue; }
      ","  { add(x, FL_TOK_COMMA, from, x->at); continue; }
      "."  { add(x, FL_TOK_DOT, from, x->at); continue; }
      ".." { add(x, FL_TOK_DOTDOT, from, x->at); continue; }
      "="  { add(x, FL_TOK_ASSIGN, from, x->at); continue; }
      "+=" { add(x, FL_TOK_PLUSASSIGN, from, x->at); continue; }
      "=>" { add(x, FL_TOK_FATARROW, from, x->at); continue; }
      "->" { add(x, FL_TOK_ARROW, from, x->at); continue; }
      "|>" { add(x, FL_TOK_PIPE, from, x->at); continue; }
      "??" { add(x, FL_TOK_DEFAULT, from, x->at); continue; }
      "?"  { add(x, FL_TOK_QUESTION, from, x->at); continue; }
      "==" { add(x, FL_TOK_EQ, from, x->at); continue; }
      "!=" { add(x, FL_TOK_NE, from, x->at); continue; }
      "<"  { add(x, FL_TOK_LT, from, x->at); continue; }
      "<=" { add(x, FL_TOK_LE, from, x->at); continue; }
      ">"  { add(x, FL_TOK_GT, from, x->at); continue; }
      ">=" { add(x, FL_TOK_GE, from, x->at); continue; }
      "~=" { add(x, FL_TOK_NEAR, from, x->at); continue; }
      "+"  { add(x, FL_TOK_PLUS, from, x->at); continue; }
      "-"  { add(x, FL_TOK_MINUS, from, x->at); continue; }
      "*"  { add(x, FL_TOK_STAR, from, x->at); continue; }
      "/"  { add(x, FL_TOK_SLASH, from, x->at); continue; }
      "//" { add(x, FL_TOK_SLASHSLASH, from, x->at); continue; }
      "%"  { add(x, FL_TOK_PERCENT, from, x->at); continue; }
      "@"  { add(x, FL_TOK_AT, from, x->at); continue; }
      "^"  { add(x, FL_TOK_CARET, from, x->at); continue; }

      "&&" | "&" { add_foreign(x, from, FL_TOK_AND, "and", "both conditions: `and`"); continue; }
      "||" | "|" { add_foreign(x, from, FL_TOK_OR, no_condition(x) ? "" : "or", "one of two conditions: `or`; a pipe: `|>`; texts are joined in one: `\"{a}{b}\"`"); continue; }
      "!"   { add_foreign(x, from, FL_TOK_NOT, "not", "negation is written `not`"); continue; }
      "**"  { add_foreign(x, from, FL_TOK_CARET, "^", "power is written `^`"); continue; }
      "===" { add_foreign(x, from, FL_TOK_EQ, "==", "equality is written `==`"); continue; }
      "!==" | "<>" { add_foreign(x, from, FL_TOK_NE, "!=", "inequality is written `!=`"); continue; }
      ":="  {
        if (x->modes.n && !x->modes.at[x->modes.n - 1].depth) { x->at--; lex_format(x, from); continue; }
        add_foreign(x, from, FL_TOK_ASSIGN, "", "a name is bound with `let x = ...`, an argument or a column named with `x = ...`");
        continue;
      }
      "%>%" { add_foreign(x, from, FL_TOK_PIPE, "|>", "the pipe is written `|>`"); continue; }
      "%in%" { add_foreign(x, from, FL_TOK_IN, "in", "membership is written `in`"); continue; }
      "-=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x - ...` (only `+=` is short)"); continue; }
      "*=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x * ...` (only `+=` is short)"); continue; }
      "/=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x / ...` (only `+=` is short)"); continue; }
      "//=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x // ...` (only `+=` is short)"); continue; }
      "%=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x % ...` (only `+=` is short)"); continue; }
      "^=" | "**=" { add_foreign(x, from, FL_TOK_PLUSASSIGN, "", "write it out: `x = x ^ ...` (only `+=` is short)"); continue; }
      "=<" { add_foreign(x, from, FL_TOK_LE, "<=", "at most is written `<=`"); continue; }

      [^] { report_character(x, from); continue; }
      *   { report_character(x, from); continue; }
    */
  }
}

/* ---- the whole ---- */

bool fl_syntax_is_plain_name(const char *s) {
  const char *at = s, *YYMARKER;
  /*!re2c
      re2c:define:YYCURSOR = at;
      letter mark* "\x00" { return true; }
      * { return false; }
  */
}

size_t fl_syntax_check_utf8(const char *s, size_t len) {
  const unsigned char *p = (const unsigned char *)s, *end = p + len;
  while (p < end) {
    unsigned char c = *p;
    if (c < 0x80) {
      p++;
      continue;
    }
    int extra = c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 0;
    if (!extra || end - p <= extra) break;
    unsigned low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80, high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) break;
    if (extra > 1 && (p[2] & 0xC0) != 0x80) break;
    if (extra > 2 && (p[3] & 0xC0) != 0x80) break;
    p += extra + 1;
  }
  return (size_t)(p - (const unsigned char *)s);
}

bool fl_syntax_lex(FlParser *p) {
  const FlSource *f = p->source;
  const char *nul = memchr(f->text, '\0', f->len);
  if (nul) {
    uint32_t at = (uint32_t)(nul - f->text);
    FlDiag *d = fl_report(p->sink, FL_E0002, (FlSpan){f->id, at, 1, 0}, "the file has a NUL byte, at byte %u: this is not a text", at);
    fl_diag_help(p->sink, d, "a script is UTF-8 text; is this a data file, or UTF-16?");
    return false;
  }
  size_t good = fl_syntax_check_utf8(f->text, f->len);
  if (good < f->len) {
    FlDiag *d = fl_report(p->sink, FL_E0001, (FlSpan){f->id, (uint32_t)good, 1, 0},
                          "the file is not UTF-8: byte %zu is 0x%02X", good, (unsigned char)f->text[good]);
    fl_diag_help(p->sink, d, "save the script as UTF-8");
    return false;
  }
  enum { TOKEN_BYTES = 3 }; /* of text with its blanks and comments, at the least, mostly */
  Lexer x = {.p = p, .at = f->text};
  fl_vec_room(p->arena, &p->tokens, (int)(f->len / TOKEN_BYTES) + 16);
  if (!strncmp(f->text, "\xEF\xBB\xBF", 3)) x.at += 3;
  lex_code(&x);
  return true;
}
