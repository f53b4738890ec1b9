/* fmt_internal.h: the formatter's writer, shared by its files: statements (fmt.c), expressions, lists,
 * blocks, types.
 *
 * The writer prints a node on one line when it fits (flat), else in its broken form. Measuring is printing
 * flat into nothing with a budget of columns. Comments are taken from the file in order whenever a line ends.
 */
#ifndef FL_SYNTAX_FMT_INTERNAL_H
#define FL_SYNTAX_FMT_INTERNAL_H

#include "syntax/syntax_internal.h"

enum { FL_FMT_WIDTH = 105, FL_FMT_STEP = 2 };

typedef struct FlFmt {
  FlText1 *out;
  const FlAst *ast;
  int column, indent;
  int next_comment;   /* first comment not printed yet */
  uint32_t pos;       /* end in the source of what was printed last: blank lines are counted from there */
  bool line_start;    /* nothing stands on the line yet */
  bool after_comment; /* a comment ends the line: a new one must begin */
  bool flat;          /* everything on one line */
  bool measuring;     /* flat, into nothing */
  int budget;         /* measuring: columns left */
  bool overflow;      /* measuring: it does not fit, or wants several lines */
  const FlExpr *hole; /* this PIPE prints only its call: a chain prints the values itself */
} FlFmt;

/* ---- fmt_out.c */
void fl_fmt_put(FlFmt *f, const char *s);
void fl_fmt_add(FlFmt *f, const char *s, size_t len); /* may hold line ends: they are kept as they are */
void fl_fmt_indent(FlFmt *f);                         /* at the start of a line: its indentation, now */
void fl_fmt_name(FlFmt *f, FlName n);
void fl_fmt_slice(FlFmt *f, FlSpan span);
int fl_fmt_room(const FlFmt *f); /* columns left on the line */
/* Ends the line, first with the comments that stand before `upto` in the source; blank lines there leave one.
 */
void fl_fmt_line(FlFmt *f, uint32_t upto, bool blanks);
bool fl_fmt_has_comment(const FlFmt *f, uint32_t from, uint32_t to);
/* Is there a line end in the source between two places? */
bool fl_fmt_source_breaks(const FlFmt *f, uint32_t from, uint32_t to);
bool fl_fmt_begin_measure(FlFmt *f, FlFmt *copy, int columns); /* false: already flat, no need */

/* A list in brackets: flat, or one element a line. */
typedef struct FlFmtList {
  const char *open, *close;
  int n;
  const void *items;
  void (*item)(FlFmt *f, const void *items, int i);
  uint32_t (*start)(const void *items, int i); /* of an element, in the source */
  uint32_t end;                                /* of the whole, behind the closing bracket */
  bool comma;                                  /* a comma behind the last, too: (a,) */
  const char *tail;                            /* a last element that is a sign (`..`), or NULL */
} FlFmtList;
void fl_fmt_list(FlFmt *f, const FlFmtList *list, bool broken);

/* ---- fmt_type.c */
void fl_fmt_type(FlFmt *f, const FlTypeExpr *t);
void fl_fmt_pattern(FlFmt *f, const FlPat *p);

/* ---- fmt_expr.c */
/* An expression where one that binds as tightly as `least`, an FlPrecedence, may stand without brackets. */
void fl_fmt_operand(FlFmt *f, const FlExpr *e, int least);
void fl_fmt_expr(FlFmt *f, const FlExpr *e);
/* ` = value` and the like: behind the sign on the same line, or on the next one if only that one holds it
 * whole. */
void fl_fmt_assigned(FlFmt *f, const FlExpr *value);
bool fl_fmt_fits(const FlFmt *f, const FlExpr *e, int columns);

/* Where an expression ends in the source. */
static inline uint32_t fl_fmt_end(const FlExpr *e) { return e->span.start + e->span.len; }

/* ---- fmt_list.c */
void fl_fmt_arg(FlFmt *f, const FlArg *a);
void fl_fmt_args(FlFmt *f, const FlArgList *args, uint32_t end); /* with their brackets, which end at `end` */
void fl_fmt_tuple(FlFmt *f, const FlExpr *e);
void fl_fmt_array(FlFmt *f, const FlExpr *e);
void fl_fmt_subscripts(FlFmt *f, const FlExpr *e);             /* of an INDEX, with their brackets */
void fl_fmt_comprehension(FlFmt *f, const FlComprehension *c); /* without the brackets around it */

/* ---- fmt_block.c */
void fl_fmt_block(FlFmt *f, const FlExpr *block, bool broken);
bool fl_fmt_block_breaks(const FlFmt *f, const FlExpr *block); /* must it be broken? */
void fl_fmt_if(FlFmt *f, const FlExpr *e);
void fl_fmt_match(FlFmt *f, const FlExpr *e);

/* ---- fmt.c */
void fl_fmt_stmt(FlFmt *f, const FlStmt *s);
void fl_fmt_stmts(FlFmt *f, const FlStmtList *stmts, uint32_t end);

#endif
