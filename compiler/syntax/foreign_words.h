/* foreign_words.h: short names that the files of rules share (foreign_*.c). For these alone. */
#ifndef FL_SYNTAX_FOREIGN_WORDS_H
#define FL_SYNTAX_FOREIGN_WORDS_H

#include "syntax/foreign.h"

#define IS fl_foreign_is
#define ANY fl_foreign_is_any
#define TEXT fl_foreign_text
#define PUT fl_foreign_put
#define SAY(f, ...) fl_arena_printf((f)->arena, __VA_ARGS__)

static inline bool word(const FlForeign *f, int i) { return fl_foreign_kind(f, i, FL_FOREIGN_WORD); }
static inline bool literal(const FlForeign *f, int i) { return fl_foreign_kind(f, i, FL_FOREIGN_TEXT); }
static inline bool number(const FlForeign *f, int i) { return fl_foreign_kind(f, i, FL_FOREIGN_NUMBER); }
/* A text by itself, with its tokens; the file is that of f. */
static inline FlForeign part(FlForeign *f, const char *text) {
  FlForeign p = {.arena = f->arena, .text = text, .file = f->file, .all = f->all};
  p.judge = f->judge, p.of = f->of, p.ways = f->ways;
  fl_foreign_tokens(f->arena, text, strlen(text), &p.tokens);
  return p;
}
/* The file of a statement. */
static inline FlForeign file_of(const FlForeign *f) {
  return (FlForeign){.arena = f->arena, .text = f->file, .tokens = *f->all, .file = f->file, .all = f->all};
}
static inline bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}
/* The other bracket. */
static inline int pair(const FlForeign *f, int i) {
  return i >= 0 && i < f->tokens.n ? f->tokens.at[i].match : -1;
}
static inline bool glued(const FlForeign *f, int i) { return i < f->tokens.n && f->tokens.at[i].glued; }

/* May a token end an operand? */
static inline bool operand(const FlForeign *f, int i) {
  return word(f, i) || literal(f, i) || number(f, i) || ANY(f, i, ") ] }");
}

#endif
