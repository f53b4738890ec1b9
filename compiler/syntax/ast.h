/* ast.h: the tree of one source file, as the parser makes it and sema, the formatter and the tools read it.
 *
 * In: a source text. Out: a tree, always, and what is wrong in the sink; a piece that did not parse is an
 * ERROR node (reported already: say nothing more about it). Everything lives in the arena given. Names are
 * interned in the interner given: equal names are equal pointers. A name written in backticks is the text
 * between them.
 *
 * Always true: children are never NULL unless the field says so; spans lie in the file, and a node's span
 * holds its children's; the tree is at most FL_MAX_DEPTH nodes high, so phases may recurse on it. The tree
 * does not say how it was written (brackets, newlines, comments) except in the fields marked "for the
 * formatter". */
#ifndef FL_SYNTAX_AST_H
#define FL_SYNTAX_AST_H

#include "base/base.h"
#include "diag/diag.h"

enum { FL_MAX_DEPTH = 1000 };

typedef struct FlStmt FlStmt;
typedef struct FlExpr FlExpr;
typedef struct FlPat FlPat;
typedef struct FlTypeExpr FlTypeExpr;

/* A name and where it is written. text NULL: absent. */
typedef struct FlName {
  const char *text; /* interned */
  FlSpan span;      /* with the backticks, if any */
} FlName;

typedef FlVec(FlStmt *) FlStmtList;
typedef FlVec(FlExpr *) FlExprList;
typedef FlVec(FlPat *) FlPatList;
typedef FlVec(FlTypeExpr *) FlTypeList;
typedef FlVec(FlName) FlNameList;

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* One argument of a call: `value` or `name = value`. */
typedef struct FlArg {
  FlName name; /* text NULL: by position */
  FlExpr *value;
  FlSpan span;
} FlArg;
typedef FlVec(FlArg) FlArgList;

/* One field of a tuple literal: `value` or `name = value`. A literal may mix both (join's `on = (id, a =
 * b)`). */
typedef struct FlTupleItem {
  FlName name; /* text NULL: positional */
  FlExpr *value;
  FlSpan span;
} FlTupleItem;
typedef FlVec(FlTupleItem) FlTupleItemList;

/* One piece of a text. */
typedef struct FlTextPart {
  FlSpan span;
  const char *bytes; /* literal piece, escapes done, NUL-terminated; NULL when `value` is set */
  size_t len;
  FlExpr *value;      /* {value}, or NULL */
  const char *format; /* what follows the colon in {value:format}, as written; NULL: none */
  FlSpan format_span;
} FlTextPart;
typedef FlVec(FlTextPart) FlTextParts;

/* How a text was written; for the formatter. */
typedef enum FlTextStyle { FL_TEXT_PLAIN, FL_TEXT_RAW, FL_TEXT_LINES } FlTextStyle;

/* One clause of a comprehension, in the order written: a generator (`pattern in source`) or a filter (`if
 * source`). */
typedef struct FlClause {
  FlPat *pattern; /* NULL: a filter */
  FlExpr *source; /* what is iterated, or the condition */
  FlSpan span;
} FlClause;
typedef FlVec(FlClause) FlClauseList;

/* `for` clauses `:` body. The first clause is a generator. The body is a BLOCK or any expression. */
typedef struct FlComprehension {
  FlClauseList clauses;
  FlExpr *body;
  bool rest; /* set by sema: those behind a generator that depends on another; they give one dimension */
} FlComprehension;

/* One subscript. */
typedef enum FlSubscriptKind {
  FL_SUB_VALUE, /* x[value]: a position, positions, a mask */
  FL_SUB_SLICE, /* x[lo..hi by step], x[lo..], x[..hi], x[..], x[:] : each bound may be NULL */
  FL_SUB_NEW,   /* x[new]: a dimension of one */
} FlSubscriptKind;
typedef struct FlSubscript {
  FlSubscriptKind kind;
  FlSpan span;
  FlExpr *value;          /* VALUE */
  FlExpr *lo, *hi, *step; /* SLICE: NULL when not written; x[:] has none of them */
} FlSubscript;
typedef FlVec(FlSubscript) FlSubscriptList;

/* `pattern if guard => body`. */
typedef struct FlArm {
  FlPat *pattern;
  FlExpr *guard; /* or NULL */
  FlExpr *body;
  FlSpan span;
} FlArm;
typedef FlVec(FlArm) FlArmList;

/* A parameter of a function: `name: type = fallback`. (FlParam is a program's parameter, in flow/abi.h.) */
typedef struct FlFnParam {
  FlName name;
  FlTypeExpr *type; /* or NULL: whatever the call brings */
  FlExpr *fallback; /* or NULL: required */
  FlSpan span;
} FlFnParam;
typedef FlVec(FlFnParam) FlFnParamList;

/* `@name(args)` before a function. */
typedef struct FlAttribute {
  FlName name;
  FlArgList args;
  FlSpan span;
} FlAttribute;
typedef FlVec(FlAttribute) FlAttributeList;

/* One imported module: `linear`, `"features.flow" as feat`. */
typedef struct FlImport {
  FlName module;    /* of the standard library; text NULL when a file */
  const char *path; /* of a file, relative to the importing file; NULL when a module */
  FlSpan path_span;
  FlName alias; /* `as alias`; text NULL: none */
  FlSpan span;
} FlImport;
typedef FlVec(FlImport) FlImportList;

/* `>= 0.2` of `requires flow >= 0.2`, as written. */
typedef struct FlVersionBound {
  const char *comparison, *version;
  FlSpan span;
} FlVersionBound;
typedef FlVec(FlVersionBound) FlVersionBoundList;

/* ---- operators ----------------------------------------------------------------------------------------- */

/* FL_BIN(NAME, "spelling", PRECEDENCE), loosest first. */
#define FL_BINARY_OPS(FL_BIN)                                                                                \
  FL_BIN(DEFAULT, "??", DEFAULT)                                                                             \
  FL_BIN(OR, "or", OR)                                                                                       \
  FL_BIN(AND, "and", AND)                                                                                    \
  FL_BIN(EQ, "==", COMPARE)                                                                                  \
  FL_BIN(NE, "!=", COMPARE)                                                                                  \
  FL_BIN(LT, "<", COMPARE)                                                                                   \
  FL_BIN(LE, "<=", COMPARE)                                                                                  \
  FL_BIN(GT, ">", COMPARE)                                                                                   \
  FL_BIN(GE, ">=", COMPARE)                                                                                  \
  FL_BIN(NEAR, "~=", COMPARE)                                                                                \
  FL_BIN(IN, "in", COMPARE)                                                                                  \
  FL_BIN(ADD, "+", ADD)                                                                                      \
  FL_BIN(SUB, "-", ADD)                                                                                      \
  FL_BIN(MUL, "*", MUL)                                                                                      \
  FL_BIN(DIV, "/", MUL)                                                                                      \
  FL_BIN(FLOORDIV, "//", MUL)                                                                                \
  FL_BIN(MOD, "%", MUL)                                                                                      \
  FL_BIN(MATMUL, "@", MUL)                                                                                   \
  FL_BIN(POW, "^", POW)

typedef enum FlBinaryOp {
#define FL_BIN(name, spelling, precedence) FL_BIN_##name,
  FL_BINARY_OPS(FL_BIN)
#undef FL_BIN
} FlBinaryOp;

/* How tightly the parts of an expression hold together, loosest first. */
typedef enum FlPrecedence {
  FL_BINDS_LAMBDA,
  FL_BINDS_PIPE,
  FL_BINDS_DEFAULT,
  FL_BINDS_OR,
  FL_BINDS_AND,
  FL_BINDS_NOT,
  FL_BINDS_COMPARE,
  FL_BINDS_RANGE,
  FL_BINDS_ADD,
  FL_BINDS_MUL,
  FL_BINDS_NEGATE,
  FL_BINDS_POW,
  FL_BINDS_OPERAND, /* if, match, blocks */
  FL_BINDS_POSTFIX
} FlPrecedence;

typedef enum FlUnaryOp { FL_UN_NEG, FL_UN_NOT } FlUnaryOp;

/* ---- types --------------------------------------------------------------------------------------------- */

typedef enum FlTypeExprKind {
#define FL_TYPE_NODE(kind, member, word) FL_TE_##kind,
#include "syntax/nodes.def"
} FlTypeExprKind;

/* A dimension: `_`, or name + constant (either may be missing): `n`, `64`, `n + 1`, `n - 1`. */
typedef struct FlDim {
  bool any;
  FlName name;      /* text NULL: the constant alone */
  int64_t constant; /* 0 when only a name is written */
  FlSpan span;
} FlDim;
typedef FlVec(FlDim) FlDimList;

typedef struct FlTypeItem {
  FlName name; /* text NULL: positional */
  FlTypeExpr *type;
  FlSpan span;
} FlTypeItem;
typedef FlVec(FlTypeItem) FlTypeItemList;

struct FlTypeExpr {
  FlTypeExprKind kind;
  FlSpan span;     /* with the brackets around it, if any */
  uint16_t height; /* of the tree below and with this node */
  bool brackets;   /* written in round brackets; for the formatter */
  union {
    struct {
      FlName module, name;    /* module.text NULL: of this file or built in */
      bool sized;             /* decimal(12, 2), which is all of its name: */
      uint64_t digits, scale; /* these two */
    } name;
    FlTypeExpr *inner; /* OPTION */
    /* The innermost brackets after a named type with declared sizes are its sizes; all others are dimensions:
     * of an array of scalars, of a table (one dimension, of tuples), else of a list. Sema knows which. */
    struct {
      FlTypeExpr *element;
      FlDimList dims;
    } array;
    struct {
      FlTypeItemList fields;
      bool open;
    } tuple; /* open: ends in `..`, at least these fields */
    struct {
      FlTypeList params;
      FlTypeExpr *result;
    } function;
    FlExpr *of; /* TYPEOF */
  };
};

/* ---- patterns ------------------------------------------------------------------------------------------ */

typedef enum FlPatKind {
#define FL_PAT_NODE(kind, member, word) FL_PAT_##kind,
#include "syntax/nodes.def"
} FlPatKind;

struct FlPat {
  FlPatKind kind;
  FlSpan span;
  uint16_t height;
  union {
    FlName name;
    FlPatList tuple; /* at least one; binds named tuples by name, tuples by position */
    FlExpr *value;   /* INT, FLOAT, BOOL, NULL, TEXT (no interpolation), UNARY NEG of INT or FLOAT */
    struct {
      FlExpr *lo, *hi;
    } range; /* hi excluded; one of them may be NULL; numbers as in `value` */
  };
};

/* ---- expressions --------------------------------------------------------------------------------------- */

typedef enum FlExprKind {
#define FL_EXPR_NODE(kind, member, word) FL_EXPR_##kind,
#include "syntax/nodes.def"
} FlExprKind;

/* Statements that are in a tree, with the node itself; bits. */
enum {
  FL_HAS_ASSIGN = 1,
  FL_HAS_BREAK = 2,    /* that belongs to no loop within */
  FL_HAS_CONTINUE = 4, /* likewise */
  FL_HAS_JUMP = FL_HAS_BREAK | FL_HAS_CONTINUE
};

struct FlExpr {
  FlExprKind kind;
  FlSpan span;     /* with the brackets around it, if any */
  uint16_t height; /* of the tree below and with this node */
  bool brackets;   /* written in round brackets; for the formatter, means nothing */
  uint8_t has;     /* FL_HAS_ASSIGN.. */
  union {
    /* The sign is not part of it: -1 is UNARY NEG of 1, so 2^63 and more may be meant as negative. */
    struct {
      uint64_t value;
      const char *spelling;
    } integer;
    /* value is the nearest double; spelling is what was written (without `_`, for strtof); `inf`, `nan`, `pi`
     * too. */
    struct {
      double value;
      const char *spelling;
    } real;
    bool boolean;
    struct {
      FlTextParts parts;
      FlTextStyle style;
    } text;                /* the empty text has no parts */
    FlName name;           /* NAME, COL, OUTER: the name after the point */
    FlTupleItemList tuple; /* () has no fields */
    FlExprList array;
    FlComprehension comprehension;
    /* func(for clauses: body, rest...): func is as written (sum, best, count, ...); rest are the arguments
     * after. */
    struct {
      FlExpr *func;
      FlComprehension comprehension;
      FlArgList rest;
    } reduce;
    FlStmtList block;
    struct {
      FlExpr *condition, *then, *otherwise;
    } if_else; /* then: BLOCK; otherwise: BLOCK, IF or NULL */
    struct {
      FlExpr *subject;
      FlArmList arms;
    } match;
    struct {
      FlPatList params;
      FlExpr *body;
    } lambda; /* params: NAME, ANY or TUPLE; may be none */
    struct {
      FlExpr *func;
      FlArgList args;
    } call;
    /* value |> call: `call` is a CALL node whose func is applied to value and then its args. `x |> f` has a
     * call without arguments (whose span is that of f). What follows the call (`.f`, `[..]`, `'`, `(..)`)
     * stands around the PIPE node. */
    struct {
      FlExpr *value, *call;
    } pipe;
    struct {
      FlExpr *base;
      FlSubscriptList subs;
    } index;
    struct {
      FlExpr *base;
      FlName name;
    } field;         /* also module.name: sema knows which */
    FlExpr *operand; /* TRANSPOSE */
    struct {
      FlUnaryOp op;
      FlExpr *operand;
      FlSpan op_span;
    } unary;
    struct {
      FlBinaryOp op;
      FlExpr *left, *right;
      FlSpan op_span;
    } binary;
    struct {
      FlExpr *lo, *hi, *step;
    } range;          /* hi excluded; step: or NULL */
    FlTypeExpr *type; /* TYPE */
  };
};

/* ---- statements ---------------------------------------------------------------------------------------- */

typedef enum FlStmtKind {
#define FL_STMT_NODE(kind, member, word, role) FL_STMT_##kind,
#include "syntax/nodes.def"
} FlStmtKind;

/* What statements are for: nodes.def. */
typedef enum FlStmtRole {
  FL_STMT_ROLE_NONE,
  FL_STMT_ROLE_BINDS,
  FL_STMT_ROLE_ACTS,
  FL_STMT_ROLE_DECLARES
} FlStmtRole;
FlStmtRole fl_syntax_stmt_role(FlStmtKind kind);

/* Where the names are unknown that a damaged statement would have bound. */
typedef enum FlLost {
  FL_LOST_NONE,       /* it is whole */
  FL_LOST_BEHIND,     /* `let`, `var`: behind it */
  FL_LOST_EVERYWHERE, /* declarations: in the whole file */
  FL_LOST_PERHAPS     /* nothing says that it binds any: those of them that mean nothing else */
} FlLost;

struct FlStmt {
  FlStmtKind kind;
  FlLost damaged;  /* an error of syntax is in it, in no statement within it: it says nothing but */
  FlNameList lost; /* the names that it would have bound */
  FlSpan span;
  uint16_t height; /* of the tree below and with this node */
  uint8_t has;     /* FL_HAS_ASSIGN.. */
  const char *doc; /* text of its `##` comments, lines joined by \n, without the marks; NULL: none */
  union {
    struct {
      FlPat *pattern;
      FlTypeExpr *type;
      FlExpr *value;
    } let; /* LET, VAR. type: or NULL */
    struct {
      FlExpr *target, *value;
      bool add;
    } assign; /* target: NAME, INDEX, FIELD of such; add: += */
    FlExpr *expr;
    struct {
      FlPat *pattern;
      FlExpr *source;
      FlExpr *body;
    } loop; /* WHILE: pattern NULL, source the condition;
               body: BLOCK */
    struct {
      FlExpr *condition, *message;
    } assert; /* message: or NULL */
    /* FN, STAGE, EXTERN. body: a BLOCK or an expression; EXTERN: NULL. */
    struct {
      FlAttributeList attributes;
      FlName name;
      FlFnParamList params;
      FlTypeExpr *result; /* or NULL: inferred */
      FlExpr *body;
      const char *library; /* EXTERN: from "library"; else NULL */
      FlSpan library_span;
    } fn;
    struct {
      FlName name;
      FlNameList sizes;
      FlTypeExpr *type;
    } type;
    struct {
      FlName name;
      FlTypeExpr *type;
      FlExpr *fallback;
    } param; /* fallback NULL: required */
    FlImportList import;
    FlVersionBoundList
      requires;
    struct {
      const char *name;
      FlSpan name_span;
      FlExpr *body;
    } test; /* body: BLOCK */
  };
};

/* ---- a file -------------------------------------------------------------------------------------------- */

/* A comment as written, from its # to the end of its line. For the formatter. */
typedef struct FlComment {
  FlSpan span;
  bool own_line; /* nothing but spaces stands before it on its line */
  bool doc;      /* begins with ## */
} FlComment;
typedef FlVec(FlComment) FlCommentList;

typedef struct FlAst {
  FlArena *arena; /* that it lives in */
  FlSource *source;
  FlStmtList stmts;
  FlCommentList comments; /* all of the file, in order; for the formatter */
  /* errors of syntax are within damaged statements; false: what is a statement is a guess */
  bool has_meaning;
} FlAst;

/* Parses the whole file. Never NULL; errors are in the sink (E00xx, E01xx). The tree refers to `source`. */
FlAst *fl_syntax_parse(FlArena *arena, FlInterner *interner, FlSource *source, FlSink *sink);

const char *fl_syntax_binary_spelling(FlBinaryOp op); /* "+" */
FlPrecedence fl_syntax_precedence(FlBinaryOp op);

/* ---- going through a tree ------------------------------------------------------------------------------ */

/* What is done with each child of a node; NULL: children of this kind are passed over. */
typedef struct FlChildVisitor {
  void *env;
  void (*expr)(void *env, const FlExpr *e);
  void (*stmt)(void *env, const FlStmt *s);
  void (*pattern)(void *env, const FlPat *p);
  void (*type)(void *env, const FlTypeExpr *t);
  /* Children that stand together; NULL: those in them are visited each by itself. */
  void (*named)(void *env, FlName name, const FlExpr *value); /* an argument, a field of a tuple */
  void (*clause)(void *env, const FlClause *clause);
  void (*arm)(void *env, const FlArm *arm);
  void (*subscript)(void *env, const FlSubscript *sub);
  void (*text)(void *env, const FlTextPart *part);
} FlChildVisitor;

/* The children of a node, in the order in which they are written; those that are left out are not
 * visited. */
void fl_syntax_expr_children(const FlChildVisitor *v, const FlExpr *e);
void fl_syntax_stmt_children(const FlChildVisitor *v, const FlStmt *s);

/* Expressions and statements at any depth, parents first. */
typedef struct FlWalker {
  void *env;
  bool (*expr)(void *env, const FlExpr *e); /* false: not into its children; NULL: into all */
  bool (*stmt)(void *env, const FlStmt *s);
} FlWalker;
void fl_syntax_walk_expr(const FlWalker *w, const FlExpr *e);
void fl_syntax_walk_stmt(const FlWalker *w, const FlStmt *s);

/* ---- trees as text ------------------------------------------------------------------------------------- */

/* Text for --emit=tokens, one token a line, and --emit=ast, an s-expression a statement. */
void fl_syntax_print_tokens(FlText1 *out, FlSource *source, FlSink *sink);

/* A bracket or a text that is open where a text ends that is being written. */
typedef struct FlOpen {
  const char *closer; /* ")", "]", "}", "\"", "\"\"\"" */
  uint32_t at;
  int commas; /* behind it */
} FlOpen;
typedef FlVec(FlOpen) FlOpens;
/* The innermost last. false: it ends in a comment. */
bool fl_syntax_open_at_end(FlArena *arena, const char *text, size_t len, FlOpens *out);
void fl_syntax_print_ast(FlText1 *out, const FlAst *ast);
/* Do two trees mean the same: are they equal but for spans, layout and doc comments? */
bool fl_syntax_same(const FlAst *a, const FlAst *b);

/* A name as it must be written: in backticks if it is no plain name or a word. */
void fl_syntax_add_name(FlText1 *out, const char *name);

/* The file in the one layout (flowc fmt). Comments stay; the tree of the result is that of `ast`; formatting
 * the result changes nothing. The tree must come from a parse without errors. */
void fl_fmt_print(FlText1 *out, const FlAst *ast);

#endif
