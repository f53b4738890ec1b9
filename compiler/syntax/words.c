/* words.c: the words of the language and what tokens are called in messages and by --emit=tokens. */
#include "syntax/syntax_internal.h"

typedef struct Word {
  const char *text;
  size_t len;
  int kind;
  FlWordGroup group;
} Word;

static const Word words[] = {
#define FL_WORD(text, token, group) {#text, sizeof #text - 1, FL_TOK_##token, FL_WORD_##group},
#include "syntax/keywords.def"
#undef FL_WORD
};

typedef struct Sign {
  int kind;
  const char *kind_name, *called;
} Sign;

static const Sign signs[] = {
    {0, "END", "the end of the file"},
    {FL_TOK_ILLEGAL, "ILLEGAL", "this sign"},
    {FL_TOK_NAME, "NAME", "a name"},
    {FL_TOK_INT, "INT", "a number"},
    {FL_TOK_FLOAT, "FLOAT", "a number"},
    {FL_TOK_VERSION, "VERSION", "a version"},
    {FL_TOK_TEXT, "TEXT", "a text"},
    {FL_TOK_TEXT_BEGIN, "TEXT_BEGIN", "a text"},
    {FL_TOK_TEXT_PIECE, "TEXT_PIECE", "a text"},
    {FL_TOK_INTERP_BEGIN, "INTERP_BEGIN", "`{`"},
    {FL_TOK_FORMAT, "FORMAT", "`:`"},
    {FL_TOK_INTERP_END, "INTERP_END", "`}`"},
    {FL_TOK_TEXT_END, "TEXT_END", "the end of the text"},
    {FL_TOK_UNDERSCORE, "UNDERSCORE", "`_`"},
    {FL_TOK_NEWLINE, "NEWLINE", "the end of the line"},
    {FL_TOK_LPAREN, "LPAREN", "`(`"},
    {FL_TOK_RPAREN, "RPAREN", "`)`"},
    {FL_TOK_LBRACKET, "LBRACKET", "`[`"},
    {FL_TOK_RBRACKET, "RBRACKET", "`]`"},
    {FL_TOK_LBRACE, "LBRACE", "`{`"},
    {FL_TOK_RBRACE, "RBRACE", "`}`"},
    {FL_TOK_COMMA, "COMMA", "`,`"},
    {FL_TOK_COLON, "COLON", "`:`"},
    {FL_TOK_DOT, "DOT", "`.`"},
    {FL_TOK_DOTDOT, "DOTDOT", "`..`"},
    {FL_TOK_ASSIGN, "ASSIGN", "`=`"},
    {FL_TOK_PLUSASSIGN, "PLUSASSIGN", "`+=`"},
    {FL_TOK_FATARROW, "FATARROW", "`=>`"},
    {FL_TOK_ARROW, "ARROW", "`->`"},
    {FL_TOK_PIPE, "PIPE", "`|>`"},
    {FL_TOK_DEFAULT, "DEFAULT", "`??`"},
    {FL_TOK_QUESTION, "QUESTION", "`?`"},
    {FL_TOK_EQ, "EQ", "`==`"},
    {FL_TOK_NE, "NE", "`!=`"},
    {FL_TOK_LT, "LT", "`<`"},
    {FL_TOK_LE, "LE", "`<=`"},
    {FL_TOK_GT, "GT", "`>`"},
    {FL_TOK_GE, "GE", "`>=`"},
    {FL_TOK_NEAR, "NEAR", "`~=`"},
    {FL_TOK_PLUS, "PLUS", "`+`"},
    {FL_TOK_MINUS, "MINUS", "`-`"},
    {FL_TOK_STAR, "STAR", "`*`"},
    {FL_TOK_SLASH, "SLASH", "`/`"},
    {FL_TOK_SLASHSLASH, "SLASHSLASH", "`//`"},
    {FL_TOK_PERCENT, "PERCENT", "`%`"},
    {FL_TOK_AT, "AT", "`@`"},
    {FL_TOK_CARET, "CARET", "`^`"},
    {FL_TOK_QUOTE, "QUOTE", "`'`"},
#define FL_WORD(text, token, group) {FL_TOK_##token, #token, "`" #text "`"},
#include "syntax/keywords.def"
#undef FL_WORD
};

int fl_syntax_word(const char *s, size_t len, FlWordGroup *group) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (words[i].len != len || words[i].text[0] != s[0] || memcmp(words[i].text, s, len) != 0) continue;
    *group = words[i].group;
    return words[i].kind;
  }
  return 0;
}

FlMap *fl_syntax_words(FlArena *arena, FlInterner *interner) {
  FlMap *all = fl_map_make(arena);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    fl_map_set(all, fl_intern(interner, words[i].text, words[i].len), (void *)(intptr_t)words[i].kind);
  return all;
}

FlWordGroup fl_syntax_word_group(int kind) {
  static const FlWordGroup groups[] = {
#define FL_WORD(text, token, group) [FL_TOK_##token] = FL_WORD_##group,
#include "syntax/keywords.def"
#undef FL_WORD
  };
  return groups[kind];
}

bool fl_syntax_is_word_token(int kind) {
  static const bool is_word[] = {
#define FL_WORD(text, token, group) [FL_TOK_##token] = true,
#include "syntax/keywords.def"
#undef FL_WORD
  };
  return kind >= 0 && (size_t)kind < sizeof is_word && is_word[kind];
}

static const Sign *find(int kind) {
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    if (signs[i].kind == kind) return &signs[i];
  return &signs[0];
}

const char *fl_syntax_token_name(int kind) { return find(kind)->called; }
const char *fl_syntax_token_kind(int kind) { return find(kind)->kind_name; }
