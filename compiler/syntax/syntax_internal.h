/* syntax_internal.h: what the lexer, the layout, the grammar and the tree builders share.
 *
 * text -> lexer.re -> tokens with line ends -> layout.c -> tokens of the grammar -> grammar.y -> build_*.c ->
 * tree. Everything lives in the parser's arena. */
#ifndef FL_SYNTAX_INTERNAL_H
#define FL_SYNTAX_INTERNAL_H

#include "grammar.h" /* FL_TOK_*, generated from grammar.y */
#include "syntax/ast.h"

/* Kinds of token that the grammar never sees. */
enum { FL_TOK_LINE = 1000 /* end of a line */, FL_TOK_SEMICOLON };

typedef struct FlToken {
  int kind; /* FL_TOK_*; 0: end of the file */
  FlSpan span;
  bool glued; /* nothing stands between it and the token before */
  bool made;  /* put in to mend what is broken (and reported): errors there are not reported again */
  int match;  /* brackets: index of the other one, set by the layout; else -1 */
  int around; /* index of the innermost bracket around it, set by the layout; else -1 */
  union {
    const char *name; /* NAME and words: interned; FORMAT: as written */
    struct {
      uint64_t value;
      const char *spelling;
    } integer;
    struct {
      double value;
      const char *spelling;
    } real;
    struct {
      const char *bytes;
      size_t len;
      FlTextStyle style;
    } text; /* TEXT, TEXT_BEGIN, TEXT_PIECE */
  };
} FlToken;
typedef FlVec(FlToken) FlTokens;

typedef struct FlParser {
  FlArena *arena;
  FlInterner *interner;
  FlSource *source;
  FlSink *sink;
  FlTokens tokens;
  FlCommentList comments;
  FlVec(uint32_t) open_texts; /* offsets of texts that are not closed: they may have swallowed brackets */
  FlAst *ast;
  void *engine;         /* the Lemon parser */
  int at;               /* index of the token being fed */
  bool failed;          /* the token being fed was a syntax error */
  bool discarded;       /* and was thrown away; so were */
  bool brace_thrown;    /* the `}` before it, */
  bool block_thrown;    /* the `{` that this one closes */
  bool too_deep;        /* nesting was reported */
  bool blocks_damaged;  /* a brace is missing, or there is one more */
  int error_head;       /* of the last syntax error: index of the first token of its statement, */
  uint32_t error_end;   /* and the offset behind where it was found */
  int n_diags;          /* that were in the sink before this file */
  FlVec(int) claimed;   /* indices of those that a statement has in it */
  FlExprList wildcards; /* `_` read as values: errors unless they become patterns */
  const char *underscore;
  FlMap *words; /* of the language, interned -> their tokens */
} FlParser;

/* ---- lexer.re: text to tokens. False: not a text at all (reported). */
bool fl_syntax_lex(FlParser *p);
/* Decodes UTF-8 strictly; the offset of the first byte that is not, or len. */
size_t fl_syntax_check_utf8(const char *s, size_t len);

/* Letters, digits and `_`, not beginning with a digit (it may still be a word). */
bool fl_syntax_is_plain_name(const char *s);

/* ---- words.c */
typedef enum FlWordGroup { FL_WORD_RESERVED, FL_WORD_START, FL_WORD_SPECIAL, FL_WORD_SOFT } FlWordGroup;
/* The token of a word, and its group; 0: not a word. */
int fl_syntax_word(const char *s, size_t len, FlWordGroup *group);
bool fl_syntax_is_word_token(int kind);
FlWordGroup fl_syntax_word_group(int kind);                   /* of such a token */
FlMap *fl_syntax_words(FlArena *arena, FlInterner *interner); /* interned word -> its token */
/* How a token is called in messages: "`let`", "a name", "the end of the line". */
const char *fl_syntax_token_name(int kind);
/* The word of --emit=tokens: "LET". */
const char *fl_syntax_token_kind(int kind);

/* ---- layout.c: brackets matched and mended, words made names, line ends that end nothing taken out. */
void fl_syntax_layout(FlParser *p);
/* Is it an operator that only ever stands between two operands? */
bool fl_syntax_only_between(int kind);
/* Is it a name, or a word that is one elsewhere? */
bool fl_syntax_is_name(const FlToken *t);
/* May a token be the first of an operand? (Blocks and `if` stand alone.) */
bool fl_syntax_begins_operand(int kind);

/* ---- grammar.y */
void *fl_lemonAlloc(void *(*alloc)(size_t));
void fl_lemonFree(void *engine, void (*release)(void *));
void fl_lemon(void *engine, int kind, FlToken *token, FlParser *p);
bool fl_lemon_accepts(const void *engine, int kind); /* would this token be right here? */
void fl_lemon_forgive(void *engine);                 /* the next error is reported, however near */

/* ---- recover.c: messages of syntax errors, and where parsing goes on. */
void fl_syntax_error(FlParser *p, const FlToken *found);
/* The index of the token to feed next after the error at p->at. */
int fl_syntax_resume(FlParser *p);
/* The engine throws a token away, to go on after the error at p->at. */
void fl_syntax_thrown(FlParser *p, const FlToken *thrown);
/* Errors reported from the token `head` up to the one being fed, and in no statement yet, are in s. */
void fl_syntax_claim_errors(FlParser *p, FlStmt *s, int head);

/* ---- print_ast.c: text as one line, between double quotes. */
void fl_syntax_add_escaped(FlText1 *out, const char *s, size_t len);

/* The line of a byte, from 0. */
uint32_t fl_syntax_line(const FlSource *f, uint32_t offset);

/* ---- trivia.c: doc comments to their declarations. */
void fl_syntax_attach_docs(FlParser *p);

/* ---- build_*.c: one function a production. `first` and `last` are the outermost tokens of the construct. */
typedef FlToken *FlTok;

/* Would a node over parts of height `below` be too high? Reports it, once a file. */
bool fl_build_too_high(FlParser *p, FlSpan span, uint16_t below);
static inline uint16_t fl_higher(uint16_t a, uint16_t b) { return a > b ? a : b; }
/* Of the parts of an expression or of a statement (the other one is NULL): the height of the highest, 0: it
 * has none; and what they have (FL_HAS_ASSIGN..). */
typedef struct FlBelow {
  uint16_t height;
  uint8_t has;
} FlBelow;
FlBelow fl_build_below(const FlExpr *e, const FlStmt *s);
FlExpr *fl_build_error(FlParser *p, FlSpan span);
FlExpr *fl_build_name(FlParser *p, FlTok name);
FlExpr *fl_build_wildcard(FlParser *p, FlTok t);
FlExpr *fl_build_special(FlParser *p, FlExprKind kind, FlTok word, FlTok name);
FlExpr *fl_build_number(FlParser *p, FlTok t);
FlExpr *fl_build_constant(FlParser *p, FlTok t);
FlExpr *fl_build_text(FlParser *p, FlTok t);
FlTextParts *fl_build_text_begin(FlParser *p, FlTok begin);
void fl_build_text_piece(FlParser *p, FlTextParts *parts, FlTok piece);
void fl_build_text_value(FlParser *p, FlTextParts *parts, FlTok open, FlExpr *value, FlTok format,
                         FlTok close);
FlExpr *fl_build_text_end(FlParser *p, FlTok begin, FlTextParts *parts, FlTok end);
FlExpr *fl_build_unary(FlParser *p, FlUnaryOp op, FlTok t, FlExpr *operand);
FlExpr *fl_build_binary(FlParser *p, FlBinaryOp op, FlExpr *left, FlTok t, FlExpr *right);
FlExpr *fl_build_range(FlParser *p, FlExpr *lo, FlExpr *hi, FlExpr *step);
FlExpr *fl_build_pipe(FlParser *p, FlExpr *value, FlTok t, FlExpr *right);
FlExpr *fl_build_lambda(FlParser *p, FlExpr *left, FlTok arrow, FlExpr *body);
FlExpr *fl_build_call(FlParser *p, FlExpr *func, FlArgList *args, FlTok last);
FlExpr *fl_build_reduce(FlParser *p, FlExpr *func, FlClauseList *clauses, FlExpr *body, FlArgList *rest,
                        FlTok last);
FlExpr *fl_build_index(FlParser *p, FlExpr *base, FlSubscriptList *subs, FlTok last);
FlExpr *fl_build_field(FlParser *p, FlExpr *base, FlTok name);
FlExpr *fl_build_transpose(FlParser *p, FlExpr *base, FlTok t);
FlExpr *fl_build_array(FlParser *p, FlTok first, FlExprList *elements, FlTok last);
FlExpr *fl_build_comprehension(FlParser *p, FlTok first, FlClauseList *clauses, FlExpr *body, FlTok last);
FlExpr *fl_build_block(FlParser *p, FlTok first, FlStmtList *stmts, FlTok last);
FlExpr *fl_build_if(FlParser *p, FlTok first, FlExpr *condition, FlExpr *then, FlExpr *otherwise);
FlExpr *fl_build_match(FlParser *p, FlTok first, FlExpr *subject, FlArmList *arms, FlTok last);
FlArm *fl_build_arm(FlParser *p, FlPat *pattern, FlExpr *guard, FlExpr *body);
FlClause *fl_build_generator(FlParser *p, FlPat *pattern, FlExpr *source);
FlClause *fl_build_filter(FlParser *p, FlTok t, FlExpr *condition);
FlSubscript *fl_build_sub_value(FlParser *p, FlExpr *value);
FlSubscript *fl_build_sub_slice(FlParser *p, FlTok first, FlExpr *lo, FlExpr *hi, FlExpr *step, FlTok last);
FlSubscript *fl_build_sub_new(FlParser *p, FlTok t);
FlArg *fl_build_arg(FlParser *p, FlTok name, FlExpr *value);

/* What stands between round brackets: values, named values, or fields of a type. */
typedef struct FlItem {
  FlName name;
  FlExpr *value;    /* NULL: a field of a type */
  FlTypeExpr *type; /* NULL: a value */
} FlItem;
typedef FlVec(FlItem) FlItemList;
FlItem *fl_build_item(FlParser *p, FlTok name, FlExpr *value, FlTypeExpr *type);
FlExpr *fl_build_round(FlParser *p, FlTok first, FlItemList *items, bool comma, bool open, FlTok last);

FlPat *fl_build_pat_name(FlParser *p, FlTok name);
FlPat *fl_build_pat_case_name(FlParser *p, FlTok name);
FlPat *fl_build_pat_any(FlParser *p, FlTok t);
FlPat *fl_build_pat_tuple(FlParser *p, FlTok first, FlPatList *items, FlTok last);
FlPat *fl_build_pat_value(FlParser *p, FlExpr *value);
FlPat *fl_build_pat_range(FlParser *p, FlExpr *lo, FlTok t, FlExpr *hi);
FlPat *fl_build_pat_error(FlParser *p, FlSpan span);

FlTypeExpr *fl_build_type_name(FlParser *p, FlTok module, FlTok name);
FlTypeExpr *fl_build_type_decimal(FlParser *p, FlTok name, FlTok digits, FlTok scale, FlTok last);
FlTypeExpr *fl_build_type_any(FlParser *p, FlTok t);
FlTypeExpr *fl_build_type_option(FlParser *p, FlTypeExpr *inner, FlTok last);
FlTypeExpr *fl_build_type_array(FlParser *p, FlTypeExpr *element, FlDimList *dims, FlTok last);
FlTypeExpr *fl_build_type_round(FlParser *p, FlTok first, FlTypeItemList *fields, bool comma, bool open,
                                FlTok last);
FlTypeExpr *fl_build_type_function(FlParser *p, FlTypeExpr *params, FlTypeExpr *result);
FlTypeExpr *fl_build_type_of(FlParser *p, FlTok first, FlExpr *value, FlTok last);
FlTypeItem *fl_build_type_field(FlParser *p, FlTok name, FlTypeExpr *type);
FlDim *fl_build_dim(FlParser *p, FlTok any, FlTok name, FlTok number, bool minus);

FlStmt *fl_build_stmt_error(FlParser *p);
FlStmt *fl_build_let(FlParser *p, FlStmtKind kind, FlTok first, FlPat *pattern, FlTypeExpr *type,
                     FlExpr *value);
FlStmt *fl_build_assign(FlParser *p, FlExpr *target, FlTok t, FlExpr *value);
FlStmt *fl_build_expr_stmt(FlParser *p, FlExpr *value);
FlStmt *fl_build_for(FlParser *p, FlTok first, FlPat *pattern, FlExpr *source, FlExpr *body);
FlStmt *fl_build_while(FlParser *p, FlTok first, FlExpr *condition, FlExpr *body);
FlStmt *fl_build_word_stmt(FlParser *p, FlStmtKind kind, FlTok t);
FlStmt *fl_build_assert(FlParser *p, FlTok first, FlExpr *condition, FlExpr *message);
FlStmt *fl_build_fn(FlParser *p, FlStmtKind kind, FlAttributeList *attributes, FlTok first, FlTok name,
                    FlFnParamList *params, FlTypeExpr *result, FlExpr *body);
FlStmt *fl_build_extern(FlParser *p, FlAttributeList *attributes, FlTok first, FlTok name,
                        FlFnParamList *params, FlTypeExpr *result, FlTok library);
FlFnParam *fl_build_fn_param(FlParser *p, FlTok name, FlTypeExpr *type, FlExpr *fallback);
FlAttribute *fl_build_attribute(FlParser *p, FlTok first, FlTok name, FlArgList *args, FlTok last);
FlStmt *fl_build_type_stmt(FlParser *p, FlTok first, FlTok name, FlNameList *sizes, FlTypeExpr *type);
FlStmt *fl_build_param(FlParser *p, FlTok first, FlTok name, FlTypeExpr *type, FlExpr *fallback);
FlStmt *fl_build_import(FlParser *p, FlTok first, FlImportList *items);
FlStmt *fl_build_requires(FlParser *p, FlTok first, FlTok name, FlVersionBoundList *bounds);
FlVersionBound *fl_build_bound(FlParser *p, FlTok comparison, FlTok version);
FlImport *fl_build_import_item(FlParser *p, FlTok module, FlTok path, FlTok alias);
FlStmt *fl_build_test(FlParser *p, FlTok first, FlTok name, FlExpr *body);
/* A name that is bound here: reports words that are reserved (`pi`, a word used as a parameter). */
FlName fl_build_binding(FlParser *p, FlTok name);

/* ---- requires.c ---- */

enum { FL_VERSION_NUMBERS = 3 };

/* A version of flow, as far as it is written: 0.2 has two numbers. */
typedef struct FlVersion {
  int n, numbers[FL_VERSION_NUMBERS];
} FlVersion;

bool fl_version_read(const char *s, size_t len, FlVersion *out);
/* Whether a version is within a bound; comparison: the token of its sign. */
bool fl_version_holds(const FlVersion *have, int comparison, const FlVersion *bound);
/* False: the file says that it is for another flow. That is then the only message about it: those behind the
 * first n_diags, with n_errors, are taken back. */
bool fl_syntax_meant_for_this(FlParser *p, int n_diags, int n_errors);
/* Reports a `requires` that does not stand first. */
void fl_syntax_check_requires(FlParser *p);

#endif
