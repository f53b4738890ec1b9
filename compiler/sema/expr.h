/* expr.h: statements and expressions: each kind's way from the tree to the IR. */
#ifndef FL_SEMA_EXPR_H
#define FL_SEMA_EXPR_H

#include "sema/state.h"

/* `want`: the type that is wanted around, a hint for literals and readers; or NULL. */
FlVal fl_sema_expr(FlSema *s, const FlExpr *e, const FlType *want);
/* The same where a grouped table may stand: what is bound, returned, chosen or handed to a verb. */
FlVal fl_sema_expr_or_groups(FlSema *s, const FlExpr *e, const FlType *want);
/* v, or reports that it is a grouped table, which `who` (a builtin, or NULL) does not take. */
FlVal fl_sema_refuse_groups(FlSema *s, FlVal v, FlSpan span, const char *who);
FlVal fl_sema_block(FlSema *s, const FlStmtList *stmts, const FlType *want); /* opens a scope */
FlVal fl_sema_if(FlSema *s, const FlExpr *e, const FlType *want);
FlVal fl_sema_match(FlSema *s, const FlExpr *e, const FlType *want);
void fl_sema_stmt(FlSema *s, const FlStmt *st);
/* Reports names that these patterns, bound together, bind twice. */
void fl_sema_bound_once(FlSema *s, const FlPatList *patterns);
void fl_sema_bind_pattern(FlSema *s, const FlPat *p, FlVal v, FlBindKind kind, const FlTypeExpr *declared);
FlVal fl_sema_comprehension(FlSema *s, const FlExpr *e);
FlVal fl_sema_reduce_for(FlSema *s, const FlExpr *e);
/* One element of a reduction `kind`, checked and brought to the type that is reduced (small integers to i64,
 * bool to i64 for sums ...); scalars. And the reduction from its REDUCE op, whose region is complete.
 * `filtered`: the region yields a keep flag; `n`: how many positions there are. */
bool fl_sema_reduces(const char *name); /* is there such a reduction? */
FlVal fl_sema_reduce_element(FlSema *s, const char *kind, FlVal v, FlSpan span);
FlVal fl_sema_reduce_finish(FlSema *s, FlOp *op, const char *kind, FlDtype d, bool filtered, FlValue *n);
FlVal fl_sema_index(FlSema *s, const FlExpr *e);
FlVal fl_sema_index_rows(FlSema *s, FlVal v, FlValue *from,
                         FlValue *to); /* leading rows, of arrays and tables */
FlVal fl_sema_at(FlSema *s, FlVal v, FlValue *index,
                 bool proven); /* element of an array's leading dimension, table or list */
FlVal fl_sema_take(FlSema *s, FlVal v, FlValue *idx, int how); /* rows by i64 array; how: FL_TAKE_* */
FlVal fl_sema_compress(FlSema *s, FlVal v, FlValue *mask);
FlVal fl_sema_concat_list(FlSema *s, FlVal list); /* of arrays or tables: one, end to end */
void fl_sema_alias_rows(FlSema *s, FlVal table);  /* its columns are as long as its first part says */
FlVal fl_sema_binary_expr(FlSema *s, const FlExpr *e, const FlType *want); /* lazy where the language is */
FlVal fl_sema_binary(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right);
FlVal fl_sema_wrong_operands(FlSema *s, const char *op, FlVal a, FlVal b, FlSpan span); /* reports */
/* + - * / // % where one side is a date, datetime or duration (date.c). */
FlVal fl_sema_date_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span);
static inline bool fl_is_time(FlDtype d) { return d == FL_DATE || d == FL_DATETIME || d == FL_DURATION; }
bool fl_sema_same_numbers(FlSema *s, FlVal pair[2], FlSpan span); /* two numbers of one type; reports */
/* The type that two numbers, or arrays of numbers, are brought to: the other one's for a literal that fits
 * it; false: there is none. */
bool fl_sema_common_number(FlSema *s, FlVal a, FlVal b, FlDtype *out);
FlVal fl_sema_spread_axis(FlSema *s, FlVal small, FlVal x,
                          int axis); /* small (x without that axis) repeated along it */
FlVal fl_sema_negate(FlSema *s, FlVal v, FlSpan span);
FlVal fl_sema_not(FlSema *s, FlVal v, FlSpan span);
FlVal fl_sema_matmul(FlSema *s, FlVal a, FlVal b, FlSpan span);
FlVal fl_sema_to_text(FlSema *s, FlVal v, const char *format, FlSpan span); /* scalar or elementwise */
/* What stands for `{v:format}` in a text: in verbs columns go row by row; elsewhere an array is one text. */
FlVal fl_sema_in_text(FlSema *s, FlVal v, const char *format, FlSpan span);
const char *fl_sema_check_format(FlSema *s, const char *format,
                                 FlDtype d);   /* NULL: fine; else what is wrong */
FlVal fl_sema_unknown(FlSema *s, FlName name); /* reports that nothing has this name */
/* What a module has under a name, for others to use; NULL: reported, or nobody knows. */
FlBinding *fl_sema_member(FlSema *s, FlBinding *module, FlName name);
FlBinding *fl_sema_module_of(FlSema *s, const FlExpr *e); /* the module that a name stands for, or NULL */
/* Is there a module of this name in the library? It may lack its import. */
bool fl_sema_in_library(FlSema *s, const char *name);
/* Is this in a file of the library: imported as such, or its own script, as where its tests run? */
bool fl_sema_is_library(FlSema *s, FlSpan at);
/* The module of the library that has a function of this name; NULL: none. */
const char *fl_sema_module_with(FlSema *s, const char *function);

#endif
