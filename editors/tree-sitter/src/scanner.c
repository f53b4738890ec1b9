/* scanner.c: all tokens of flow for tree-sitter, as compiler/syntax/lexer.re and layout.c make them.
 *
 * In: text. Out: tokens; NEWLINE where a statement or an arm ends, JOIN (which grammar.js skips) where a line goes on, BAD, which no rule has,
 * for what the compiler reports. Always holds: a token depends only on the text behind the last one, on what `Scanner` says of what came before,
 * and of words that are such only in their place (`by`, `as`, `from`, `typeof`) on what the grammar takes there. */
#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include "letters.h"

#include <string.h>

enum { WORD_MAX = 16, DEPTH_MAX = TREE_SITTER_SERIALIZATION_BUFFER_SIZE - 3 };

/* The order is that of `externals` in grammar.js. */
enum Token {
  IDENTIFIER, INTEGER, FLOAT, VERSION, NEWLINE, JOIN, COMMENT, DOC_COMMENT, RAW_TEXT, TEXT_BEGIN, TEXT_END, TEXT_CONTENT, ESCAPE,
  INTERPOLATION_BEGIN, INTERPOLATION_END, FORMAT, WILDCARD, TRANSPOSING, BAD,
#define FLOW_WORD(word, group) WORD_##word,
#include "words.h"
#undef FLOW_WORD
  LPAREN, RPAREN, LBRACKET, RBRACKET, LBRACE, RBRACE, COMMA, DOT, COLON, ASSIGN, PLUSASSIGN, FATARROW, ARROW, PIPE, DEFAULT, QUESTION, EQ, NE,
  LT, LE, GT, GE, NEAR, DOTDOT, PLUS, MINUS, STAR, SLASH, SLASHSLASH, PERCENT, AT, CARET,
};

typedef enum Group { NO_WORD, RESERVED, START, SPECIAL, SOFT } Group;

static const struct Word {
  const char *text;
  Group group;
} WORDS[] = {
#define FLOW_WORD(word, group) {#word, group},
#include "words.h"
#undef FLOW_WORD
};

enum { N_WORDS = sizeof WORDS / sizeof *WORDS };

/* What is open: brackets, texts, and expressions in texts. */
enum Open { ROUND = 1, SQUARE, BRACE, TEXT, LINES, IN_TEXT, IN_LINES };

typedef struct Scanner {
  uint8_t last;      /* the last token that is no comment and no JOIN; NEWLINE before the first */
  uint8_t attribute; /* the statement begins with `@` */
  uint8_t joined;    /* this line goes on with the one before */
  unsigned depth;
  uint8_t open[DEPTH_MAX];
} Scanner;

typedef struct Text {
  char s[WORD_MAX];
  unsigned n; /* of all; those behind WORD_MAX are not kept */
} Text;

static int32_t ahead(const TSLexer *x) { return x->lookahead; }
static void next(TSLexer *x) { x->advance(x, false); }
static bool at_end(const TSLexer *x) { return x->eof(x); }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_hex(int32_t c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_ascii_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool in_ranges(const uint32_t (*ranges)[2], unsigned n, int32_t c) {
  unsigned lo = 0, hi = n;
  while (lo < hi) {
    unsigned mid = (lo + hi) / 2;
    if ((uint32_t)c > ranges[mid][1]) lo = mid + 1;
    else hi = mid;
  }
  return lo < n && (uint32_t)c >= ranges[lo][0];
}

static bool is_letter(int32_t c) { return c < 0x80 ? is_ascii_letter(c) : in_ranges(LETTERS, sizeof LETTERS / sizeof *LETTERS, c); }

static bool is_mark(int32_t c) {
  return is_letter(c) || (c < 0x80 ? is_digit(c) : in_ranges(MARKS, sizeof MARKS / sizeof *MARKS, c));
}

static uint8_t innermost(const Scanner *s) { return s->depth ? s->open[s->depth - 1] : 0; }
static bool lines_count(const Scanner *s) { return !s->depth || innermost(s) == BRACE; }
static bool starts(const Scanner *s) { return s->last == NEWLINE || s->last == LBRACE; }

static bool continues(uint8_t token) {
  switch (token) {
  case PIPE: case DEFAULT: case WORD_or: case WORD_and: case EQ: case NE: case LT: case LE: case GT: case GE: case NEAR: case WORD_in: case PLUS:
  case STAR: case SLASH: case SLASHSLASH: case PERCENT: case CARET: case ASSIGN: case PLUSASSIGN: case FATARROW: case ARROW: case COMMA:
  case COLON: case DOTDOT: case MINUS: case AT: return true;
  default: return false;
  }
}

/* Gives the token to the grammar. */
static bool give(Scanner *s, TSLexer *x, uint16_t token) {
  x->result_symbol = token;
  if (starts(s) && token != NEWLINE) s->attribute = token == AT;
  s->last = (uint8_t)token;
  s->joined = 0;
  return true;
}

static bool give_here(Scanner *s, TSLexer *x, uint16_t token) {
  x->mark_end(x);
  return give(s, x, token);
}

/* ---- what follows ---- */

/* Passes blanks and comments, with ends of lines if `lines`. */
static void pass_blanks(TSLexer *x, bool lines) {
  for (;;) {
    int32_t c = ahead(x);
    if (at_end(x)) return;
    if (c == '#') {
      while (!at_end(x) && ahead(x) != '\n') next(x);
    } else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
      next(x);
    } else {
      return;
    }
  }
}

static Text pass_word(TSLexer *x) {
  Text t = {.n = 0};
  for (bool first = true; first ? is_letter(ahead(x)) : is_mark(ahead(x)); first = false) {
    if (t.n < WORD_MAX) t.s[t.n] = (char)(ahead(x) < 0x80 ? ahead(x) : '?');
    t.n++;
    next(x);
  }
  return t;
}

static bool is(const Text *t, const char *word) { return t->n == strlen(word) && t->n <= WORD_MAX && !memcmp(t->s, word, t->n); }

static int word_of(const Text *t) {
  for (int i = 0; i < N_WORDS; i++)
    if (is(t, WORDS[i].text)) return WORD_let + i;
  return -1;
}

static Group group_of(int word) { return word < 0 ? NO_WORD : WORDS[word - WORD_let].group; }
static bool names(const Text *t) { return t->n && group_of(word_of(t)) != RESERVED && group_of(word_of(t)) != SPECIAL && !is(t, "_"); }

/* A text, where a raw one begins with the word `t`. */
static bool begins_text(const TSLexer *x, const Text *t) { return ahead(x) == '"' && (!t->n || is(t, "r")); }

/* Is what follows an `assert` its condition, or a comparison whose left side was forgotten? */
static bool begins_condition(TSLexer *x, const Text *t) {
  if (names(t) || is(t, "_") || begins_text(x, t)) return true;
  if (t->n) {
    int word = word_of(t);
    return word == WORD_not || word == WORD_true || word == WORD_false || word == WORD_null || word == WORD_match || word == WORD_outer ||
           word == WORD_col || word == WORD_if || word == WORD_var;
  }
  int32_t c = ahead(x);
  if (c == '-') {
    next(x);
    return ahead(x) != '>' && ahead(x) != '=';
  }
  if (c == '.') {
    next(x);
    return is_digit(ahead(x));
  }
  if (c == '=') {
    next(x);
    return ahead(x) == '=';
  }
  return is_digit(c) || c == '<' || c == '>' || c == '(' || c == '[' || c == '{' || c == '`' || c == '!';
}

/* Is the word of the START group, which was passed, followed by what makes it a word? */
static bool starts_statement(TSLexer *x, int word) {
  pass_blanks(x, false);
  Text t = pass_word(x);
  switch (word) {
  case WORD_stage: case WORD_type: case WORD_param: return names(&t) ? !begins_text(x, &t) : !t.n && ahead(x) == '`';
  case WORD_import: return begins_text(x, &t) || names(&t) || (!t.n && ahead(x) == '`');
  case WORD_extern: return is(&t, "fn");
  case WORD_requires: return is(&t, "flow");
  case WORD_test: return begins_text(x, &t);
  default: return begins_condition(x, &t);
  }
}

/* Is the word that was passed the name of an argument, a field or a parameter? */
static bool is_label(const Scanner *s, TSLexer *x) {
  if (innermost(s) != ROUND || (s->last != LPAREN && s->last != COMMA)) return false;
  pass_blanks(x, true);
  int32_t c = ahead(x);
  if (c != '=' && c != ':') return false;
  next(x);
  return c == ':' ? ahead(x) != '=' : ahead(x) != '=' && ahead(x) != '>' && ahead(x) != '<';
}

/* ---- words ---- */

static bool scan_word(Scanner *s, TSLexer *x, const bool *valid) {
  bool r = ahead(x) == 'r';
  Text t = pass_word(x);
  x->mark_end(x);
  if (r && begins_text(x, &t)) {
    for (next(x); !at_end(x) && ahead(x) != '\n' && ahead(x) != '"';) next(x);
    bool closed = ahead(x) == '"';
    if (closed) next(x);
    return give_here(s, x, closed ? RAW_TEXT : BAD);
  }
  if (is(&t, "_")) return give(s, x, WILDCARD);
  int word = word_of(&t);
  Group group = group_of(word);
  if (group == SOFT && valid[word] && s->last != DOT) return give(s, x, (uint16_t)word);
  if (group == NO_WORD || group == SOFT || s->last == DOT) return give(s, x, IDENTIFIER);
  if (word == WORD_var && ahead(x) == '(') return give(s, x, IDENTIFIER);
  if (group != START) return give(s, x, is_label(s, x) ? IDENTIFIER : (uint16_t)word);
  bool first = starts(s) || s->attribute;
  return give(s, x, first && starts_statement(x, word) ? (uint16_t)word : IDENTIFIER);
}

static bool scan_quoted_name(Scanner *s, TSLexer *x) {
  unsigned n = 0;
  for (next(x); !at_end(x) && ahead(x) != '\n' && ahead(x) != '`'; n++) {
    if (ahead(x) == '\\') next(x);
    if (!at_end(x) && ahead(x) != '\n') next(x);
  }
  bool closed = ahead(x) == '`';
  if (closed) next(x);
  return give_here(s, x, closed && n ? IDENTIFIER : BAD);
}

/* ---- numbers ---- */

/* Digits with `_` between two of them. */
static bool pass_digits(TSLexer *x, bool (*of)(int32_t)) {
  bool good = of(ahead(x));
  while (of(ahead(x)) || ahead(x) == '_') {
    bool underscore = ahead(x) == '_';
    next(x);
    if (underscore && !of(ahead(x))) good = false;
  }
  return good;
}

static bool scan_version(Scanner *s, TSLexer *x) {
  while (is_digit(ahead(x)) || (ahead(x) < 0x80 && is_ascii_letter(ahead(x))) || ahead(x) == '.' || ahead(x) == '-' || ahead(x) == '+') next(x);
  return give_here(s, x, VERSION);
}

static bool scan_number(Scanner *s, TSLexer *x) {
  bool zero = ahead(x) == '0';
  bool good = pass_digits(x, is_digit);
  uint16_t token = INTEGER;
  if (zero && good && ahead(x) == 'x') {
    next(x);
    good = pass_digits(x, is_hex);
    if (is_ascii_letter(ahead(x)) || is_digit(ahead(x))) good = false;
    return give_here(s, x, good ? INTEGER : BAD);
  }
  x->mark_end(x);
  if (ahead(x) == '.') {
    next(x);
    if (ahead(x) == '.') return give(s, x, good ? INTEGER : BAD);
    good = pass_digits(x, is_digit) && good;
    token = FLOAT;
  }
  if (ahead(x) == 'e' || ahead(x) == 'E') {
    next(x);
    if (ahead(x) == '+' || ahead(x) == '-') next(x);
    good = pass_digits(x, is_digit) && good;
    token = FLOAT;
  }
  if (is_ascii_letter(ahead(x)) || is_digit(ahead(x))) good = false;
  while (is_ascii_letter(ahead(x)) || is_digit(ahead(x))) next(x);
  return give_here(s, x, good ? token : BAD);
}

/* ---- texts ---- */

static bool push(Scanner *s, uint8_t what) {
  if (s->depth == DEPTH_MAX) return false;
  s->open[s->depth++] = what;
  return true;
}

static bool scan_text_begin(Scanner *s, TSLexer *x) {
  next(x);
  x->mark_end(x);
  bool lines = false;
  if (ahead(x) == '"') {
    next(x);
    lines = ahead(x) == '"';
    if (lines) next(x);
    if (lines) x->mark_end(x);
  }
  return give(s, x, push(s, lines ? LINES : TEXT) ? TEXT_BEGIN : BAD);
}

static bool scan_escape(Scanner *s, TSLexer *x) {
  next(x);
  int32_t c = ahead(x);
  if (at_end(x) || c == '\n') return give_here(s, x, BAD);
  next(x);
  if (c != 'u') return give_here(s, x, c == 'n' || c == 't' || c == '"' || c == '\\' || c == '{' ? ESCAPE : BAD);
  if (ahead(x) != '{') return give_here(s, x, BAD);
  uint32_t code = 0, n = 0;
  for (next(x); is_hex(ahead(x)) && n < 8; n++, next(x)) {
    int32_t digit = ahead(x);
    if (code < 0x1000000) code = code * 16 + (uint32_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
  }
  bool good = n && ahead(x) == '}' && code && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000);
  if (ahead(x) == '}') next(x);
  return give_here(s, x, good ? ESCAPE : BAD);
}

/* A quote in a text: its end, unless it takes three and these are fewer. */
static bool ends_text(TSLexer *x, bool lines) {
  next(x);
  if (!lines) return true;
  if (ahead(x) != '"') return false;
  next(x);
  if (ahead(x) != '"') return false;
  next(x);
  return true;
}

static bool scan_text(Scanner *s, TSLexer *x) {
  bool lines = innermost(s) == LINES, some = false;
  for (;;) {
    x->mark_end(x);
    int32_t c = ahead(x);
    if (at_end(x) || (c == '\n' && !lines)) {
      if (some) return give(s, x, TEXT_CONTENT);
      s->depth--;
      return give(s, x, BAD);
    }
    if (c == '\\' || c == '{') {
      if (some) return give(s, x, TEXT_CONTENT);
      if (c == '\\') return scan_escape(s, x);
      next(x);
      s->open[s->depth - 1] = lines ? IN_LINES : IN_TEXT;
      return give_here(s, x, INTERPOLATION_BEGIN);
    }
    if (c == '"') {
      if (some && !lines) return give(s, x, TEXT_CONTENT);
      if (ends_text(x, lines)) {
        if (some) return give(s, x, TEXT_CONTENT);
        s->depth--;
        return give_here(s, x, TEXT_END);
      }
    } else {
      next(x);
    }
    some = true;
  }
}

static bool scan_format(Scanner *s, TSLexer *x) {
  while (!at_end(x) && ahead(x) != '\n' && ahead(x) != '}' && ahead(x) != '"') next(x);
  return give_here(s, x, FORMAT);
}

/* The expression within a text that ends on its line is cut by the end of the line: both are left. */
static bool leave_text(Scanner *s, TSLexer *x) {
  unsigned d = s->depth;
  while (d && s->open[d - 1] != IN_TEXT && s->open[d - 1] != IN_LINES) d--;
  if (!d || s->open[d - 1] == IN_LINES) return false;
  s->depth = d - 1;
  return give_here(s, x, BAD);
}

/* ---- ends of lines ---- */

/* Does what follows end in a bracket that closes? It drops the end of the line. */
static bool closes(const TSLexer *x) { return ahead(x) == ')' || ahead(x) == ']' || ahead(x) == '}'; }

static bool scan_line_end(Scanner *s, TSLexer *x) {
  bool semicolon = ahead(x) == ';';
  next(x);
  x->mark_end(x);
  pass_blanks(x, true);
  bool joins = closes(x);
  if (!joins && !semicolon && ahead(x) == '|') {
    next(x);
    joins = ahead(x) == '>';
  } else if (!joins && !semicolon && ahead(x) == 'e') {
    Text t = pass_word(x);
    joins = is(&t, "else");
  }
  if (!joins) return give(s, x, NEWLINE);
  s->joined = 1;
  x->result_symbol = JOIN;
  return true;
}

static bool scan_comment(TSLexer *x) {
  next(x);
  x->result_symbol = ahead(x) == '#' ? DOC_COMMENT : COMMENT;
  while (!at_end(x) && ahead(x) != '\n') next(x);
  x->mark_end(x);
  return true;
}

/* ---- signs ---- */

static bool opens(Scanner *s, TSLexer *x, uint8_t what, uint16_t token) {
  next(x);
  return give_here(s, x, push(s, what) ? token : BAD);
}

static bool shuts(Scanner *s, TSLexer *x, uint8_t what, uint16_t token) {
  next(x);
  uint8_t top = innermost(s);
  bool text = token == RBRACE && (top == IN_TEXT || top == IN_LINES);
  if (text) s->open[s->depth - 1] = top == IN_TEXT ? TEXT : LINES;
  else if (top == what) s->depth--;
  return give_here(s, x, text ? INTERPOLATION_END : token);
}

/* A sign of one character, then of two, where the second is one of a pair's. Three, and what other languages have, are BAD. */
static bool scan_sign(Scanner *s, TSLexer *x) {
  static const struct Sign {
    char a, b;
    uint16_t token;
  } SIGNS[] = {
      {'=', '=', EQ}, {'=', '>', FATARROW}, {'=', '<', BAD}, {'=', 0, ASSIGN}, {'+', '=', PLUSASSIGN}, {'+', 0, PLUS}, {'-', '>', ARROW},
      {'-', '=', BAD}, {'-', 0, MINUS}, {'|', '>', PIPE}, {'?', '?', DEFAULT}, {'?', 0, QUESTION}, {'!', '=', NE}, {'<', '=', LE},
      {'<', '>', BAD}, {'<', 0, LT}, {'>', '=', GE}, {'>', 0, GT}, {'~', '=', NEAR}, {'*', '*', BAD}, {'*', '=', BAD}, {'*', 0, STAR},
      {'/', '/', SLASHSLASH}, {'/', '=', BAD}, {'/', 0, SLASH}, {'%', '=', BAD}, {'%', 0, PERCENT}, {'@', 0, AT}, {'^', '=', BAD},
      {'^', 0, CARET}, {',', 0, COMMA}, {':', '=', BAD}, {':', 0, COLON}, {'.', '.', DOTDOT}, {'.', 0, DOT},
  };
  int32_t a = ahead(x);
  next(x);
  x->mark_end(x);
  for (unsigned i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
    if (SIGNS[i].a != a || (SIGNS[i].b && SIGNS[i].b != ahead(x))) continue;
    uint16_t token = SIGNS[i].token;
    if (SIGNS[i].b) next(x);
    if (SIGNS[i].b) x->mark_end(x);
    if ((token == EQ || token == NE || token == SLASHSLASH) && ahead(x) == '=') token = BAD;
    if (token == DOT && is_digit(ahead(x))) token = BAD;
    if (token == PERCENT && ahead(x) == '>') {
      next(x);
      if (ahead(x) == '%') token = BAD;
    } else if (token == PERCENT && ahead(x) == 'i') {
      next(x);
      if (ahead(x) == 'n') next(x);
      if (ahead(x) == '%') token = BAD;
    }
    return give(s, x, token);
  }
  return give(s, x, BAD);
}

static bool scan_code(Scanner *s, TSLexer *x, const bool *valid) {
  int32_t c = ahead(x);
  if (is_letter(c)) return scan_word(s, x, valid);
  if (is_digit(c)) return valid[VERSION] && !valid[INTEGER] ? scan_version(s, x) : scan_number(s, x);
  switch (c) {
  case '#': return scan_comment(x);
  case '"': return scan_text_begin(s, x);
  case '`': return scan_quoted_name(s, x);
  case '(': return opens(s, x, ROUND, LPAREN);
  case '[': return opens(s, x, SQUARE, LBRACKET);
  case '{': return opens(s, x, BRACE, LBRACE);
  case ')': return shuts(s, x, ROUND, RPAREN);
  case ']': return shuts(s, x, SQUARE, RBRACKET);
  case '}': return shuts(s, x, BRACE, RBRACE);
  case ':':
    if (innermost(s) == IN_TEXT || innermost(s) == IN_LINES) return scan_format(s, x);
    break;
  default: break;
  }
  return scan_sign(s, x);
}

/* ---- what tree-sitter calls ---- */

void *tree_sitter_flow_external_scanner_create(void) {
  Scanner *s = ts_calloc(1, sizeof *s);
  s->last = NEWLINE;
  return s;
}

void tree_sitter_flow_external_scanner_destroy(void *scanner) { ts_free(scanner); }

unsigned tree_sitter_flow_external_scanner_serialize(void *scanner, char *out) {
  const Scanner *s = scanner;
  out[0] = (char)s->last;
  out[1] = (char)s->attribute;
  out[2] = (char)s->joined;
  memcpy(out + 3, s->open, s->depth);
  return s->depth + 3;
}

void tree_sitter_flow_external_scanner_deserialize(void *scanner, const char *in, unsigned n) {
  Scanner *s = scanner;
  s->last = n ? (uint8_t)in[0] : NEWLINE;
  s->attribute = n ? (uint8_t)in[1] : 0;
  s->joined = n ? (uint8_t)in[2] : 0;
  s->depth = n ? n - 3 : 0;
  if (s->depth) memcpy(s->open, in + 3, s->depth);
}

bool tree_sitter_flow_external_scanner_scan(void *scanner, TSLexer *x, const bool *valid) {
  Scanner *s = scanner;
  uint8_t top = innermost(s);
  if (top == TEXT || top == LINES) return scan_text(s, x);
  if (s->last != NEWLINE && ahead(x) == '\'') {
    next(x);
    return give_here(s, x, TRANSPOSING);
  }
  for (;;) {
    int32_t c = ahead(x);
    if (at_end(x)) return s->last != NEWLINE && give_here(s, x, NEWLINE);
    if (c == '\n') {
      if (leave_text(s, x)) return true;
      if (lines_count(s) && !s->joined && !starts(s) && !continues(s->last)) return scan_line_end(s, x);
    } else if (c == ';') {
      if (lines_count(s) && !starts(s)) return scan_line_end(s, x);
      if (!lines_count(s) && innermost(s) != IN_TEXT && innermost(s) != IN_LINES) {
        next(x);
        return give_here(s, x, BAD);
      }
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return scan_code(s, x, valid);
    }
    x->advance(x, true);
  }
}
