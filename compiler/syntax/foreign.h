/* foreign.h: statements as other languages write them, rewritten in flow (foreign.c).
 *
 * A statement is a text and its tokens, which are coarser than those of flow: what has a sign elsewhere is a
 * token here too. A rule makes one change and says so; rules are asked again until none has one. */
#ifndef FL_SYNTAX_FOREIGN_H
#define FL_SYNTAX_FOREIGN_H

#include "base/base.h"
#include "diag/diag.h"

typedef enum FlForeignKind {
  FL_FOREIGN_WORD,
  FL_FOREIGN_NUMBER,
  FL_FOREIGN_TEXT, /* in quotes of any kind, with them */
  FL_FOREIGN_SIGN,
  FL_FOREIGN_LINE, /* the end of a line outside of brackets */
} FlForeignKind;

typedef struct FlForeignToken {
  FlForeignKind kind;
  uint32_t start, len;
  bool glued; /* nothing stands before it */
  int match;  /* of brackets: the other one; -1 */
} FlForeignToken;
typedef FlVec(FlForeignToken) FlForeignTokens;

/* The first error of a text between two of its bytes; NULL: there is none there. */
typedef const FlDiag *FlForeignJudge(void *of, const char *text, uint32_t from, uint32_t to);

/* What is tried where a statement has errors as the first rules that fit write it. */
enum {
  FL_FOREIGN_TEXTS = 1,   /* subscripts take characters, not elements */
  FL_FOREIGN_UNPIPED = 2, /* what a pipe gives is an array: methods are meant, not verbs */
  FL_FOREIGN_SECOND = 4,  /* of rows of the table that fit, the second */
  FL_FOREIGN_NULLS = 8,   /* conditions may be null */
};

typedef struct FlForeign {
  FlArena *arena;
  const char *text;
  FlForeignTokens tokens;
  const char *file;      /* all of the file */
  FlForeignTokens *all;  /* its tokens */
  const char *word;      /* that the first message is about; NULL: more than one */
  uint32_t start;        /* of a statement: where it stands in the file */
  int ways;              /* FL_FOREIGN_TEXTS, .. */
  int changes;           /* so many were made: without one no form of another language stands here */
  FlForeignJudge *judge; /* of the file, for who asks what a type is; NULL: nobody asks */
  void *of;
} FlForeign;

typedef bool FlForeignRule(FlForeign *f);

void fl_foreign_tokens(FlArena *a, const char *text, size_t len, FlForeignTokens *out);
/* Is the token at i this word or sign? False behind the end, and before the beginning. */
bool fl_foreign_is(const FlForeign *f, int i, const char *word);
bool fl_foreign_is_any(const FlForeign *f, int i, const char *words); /* words between blanks */
bool fl_foreign_kind(const FlForeign *f, int i, FlForeignKind kind);
/* The text of the tokens a to b, b too; "" where b is before a. */
const char *fl_foreign_text(const FlForeign *f, int a, int b);
/* Puts a text in the place of the tokens a to b (b < a: before a); true. */
bool fl_foreign_put(FlForeign *f, int a, int b, const char *by);
/* The first token of the operand that ends at i: a name, a text, brackets, with what is called and
 * subscripted. */
int fl_foreign_operand(const FlForeign *f, int i);
/* The last token of what stands at i up to a comma, or to the end of the brackets around or of the line. */
int fl_foreign_end(const FlForeign *f, int i);
/* The other way: the first token of what ends at i. */
int fl_foreign_begin(const FlForeign *f, int i);
/* Does the file declare this name? `how`: words that stand before it, between blanks. */
bool fl_foreign_declared(const FlForeign *f, const char *name, const char *how);
/* Where a name is bound, as here or as elsewhere: of its tokens before a token the last that is; -1: none. */
int fl_foreign_binding(const FlForeign *f, const char *name, int before);
/* The value that the file binds to a name; NULL: there is none. */
const char *fl_foreign_bound(const FlForeign *f, const char *name);
/* A name that the file does not say: `t_2`, `t_3`, ..; own: the name itself, where it is such. */
const char *fl_foreign_new_name(const FlForeign *f, const char *name, bool own);
/* The tokens from `from` to the last that says `name`, also in the braces of a text, with another one; *last:
 * that token. */
const char *fl_foreign_renamed(FlForeign *f, int from, const char *name, const char *by, int *last);
/* The same of all of a text. */
const char *fl_foreign_with(FlForeign *f, const char *text, const char *name, const char *by);
/* What a type, an aggregate, a module for learning of another language is called here; NULL: it is none, or a
 * function of the file. */
const char *fl_foreign_type(const FlForeign *f, const char *name);
const char *fl_foreign_aggregate(const char *name);
const char *fl_foreign_module(const char *name);
/* Of a text literal without braces and escapes what it says; NULL: it is none. */
const char *fl_foreign_plain(const FlForeign *f, int i);

FlForeignRule fl_foreign_texts, fl_foreign_forms, fl_foreign_blocks, fl_foreign_calls,
    fl_foreign_before_calls, fl_foreign_behind_calls, fl_foreign_query, fl_foreign_scored,
    fl_foreign_learning;

/* A statement of which all is rewritten by the rules; NULL: they do not end. */
const char *fl_foreign_by_rules(FlForeign *f);

/* What a statement and those behind it become together. */
typedef struct FlForeignSpan {
  int first, last; /* the tokens that it stands for */
  const char *now;
  uint32_t judged; /* so many bytes of it, from the first, must be without errors */
  bool later;      /* what is in it is looked at next: nothing is judged */
} FlForeignSpan;
/* Does a statement of the file, from one token to another, change a value where it is? */
bool fl_foreign_in_place(FlForeign *file, int first, int last);
/* Of a file, the statement from one token to another: is it part of such? early: that must become one before
 * it is rewritten by itself. */
bool fl_foreign_span(FlForeign *file, int first, int last, bool early, FlForeignSpan *out);

/* Would a statement at the end of the file have no errors? False where nobody knows. */
bool fl_foreign_holds(FlForeign *f, const char *statement);

/* Adds to the first error of each statement the edit that writes it in flow, where it has forms of other
 * languages and what it becomes has no errors, as the judge says. */
void fl_foreign_suggest(FlArena *arena, FlSink *sink, const FlSource *source, FlForeignJudge *judge,
                        void *of);

#endif
