/* habits.h: the flow way of names that people bring along from other languages (habits.def). */
#ifndef FL_SEMA_HABITS_H
#define FL_SEMA_HABITS_H

#include "sema/state.h"

/* Is there an answer to this name where it is called? */
bool fl_habit_is_called(const char *name);
/* What it is called in flow, as a sentence; NULL: nobody knows. */
const char *fl_habit_says(FlArena *a, const char *name);
/* Adds to a message what the name is in flow, with the edit where a name alone is to be replaced. Returns
 * whether the name is known: then a name that is spelt like it is not meant. called: it stands before a `(`.
 */
bool fl_habit_help(FlSema *s, FlDiag *d, const char *name, FlSpan at, bool called);
/* Adds which of these parameters is called so elsewhere; false: none. */
bool fl_habit_param(FlSema *s, FlDiag *d, FlName name, int n, const char *const *known);
/* Adds what this member of a module is called here, as `metrics.accuracy_score`, `decomposition.transform`;
 * whether it is known. called: the module in this file; names: of its members. */
bool fl_habit_member(FlSema *s, FlDiag *d, const char *module, const char *called, FlName name,
                     const char *const *names, int n_names);
/* `t["x"]`: adds `t.x`, with the edit, to the message about the text in brackets. */
void fl_habit_quoted_field(FlSema *s, FlDiag *d, const FlExpr *e);
/* A module of the library that is not imported: the edit that does so, before the first statement. */
void fl_habit_import(FlSema *s, FlDiag *d, const char *module);
/* `let x = write_csv(..)`: the error that it gives no value, with the edit that binds nothing. */
FlVal fl_habit_nothing_bound(FlSema *s, FlName name);
/* `x <- 3`, of a name that is not there; whether it is that. */
bool fl_habit_arrow(FlSema *s, FlDiag *d, FlName name);
/* `COUNT(x)`: a function in capitals, here or elsewhere; whether there is one. */
bool fl_habit_shouted(FlSema *s, FlDiag *d, FlName name);
/* `drop(columns = x)`: what takes columns by position alone needs no such word; adds the edit. */
void fl_habit_left_out(FlSema *s, FlDiag *d, FlName name);
/* `expression.alias("q")` where a column needs a name: adds it, with the edit; whether it is such a call. */
bool fl_habit_alias(FlSema *s, FlDiag *d, const FlExpr *e);
/* A list where names of columns stand, `["k", "x"]` or `[k, x]`: adds to a message the names alone, with the
 * edit. Whether it is such a list. */
bool fl_habit_name_list(FlSema *s, FlDiag *d, const FlExpr *e);
/* What a text literal without braces says; NULL: it is none. Elsewhere columns are named by texts. */
const char *fl_habit_plain_text(const FlExpr *e);
/* Adds what a name behind a point, which is no field there, is in flow; whether it is known. */
bool fl_habit_field(FlSema *s, FlDiag *d, const char *name);
/* The same for `x.name(..)` and `x.name`, where `name` is no field of x, but a function, here or elsewhere:
 * it stands before what it is called with; also for `np.mean(a)` and `d.dt.month`. call: all of it, a call or
 * a field. */
void fl_habit_method(FlSema *s, const FlExpr *call);

/* A function that does not take the type of its argument: the edit that calls another one. */
void fl_habit_call(FlSema *s, FlDiag *d, FlSpan argument, const char *name, const char *by);
/* `len(text)`: adds what counts characters, to the message about the argument, with the edit. */
/* A number or a text as a condition: what it is compared with elsewhere. */
void fl_habit_truth(FlSema *s, FlDiag *d, FlVal v, FlSpan condition);
void fl_habit_length(FlSema *s, FlDiag *d, FlSpan argument);
/* A new column that is `len(name)`, of a column of texts of t: warns that it is the number of rows. */
void fl_habit_rows(FlSema *s, FlVal t, const FlExpr *value);
/* `"mail" in email`: a part of each text is meant. A warning where a column is asked, in a table without
 * groups, and else the edit for the error. out: what it gives, an error or a value. */
void fl_habit_part(FlSema *s, const FlExpr *e, FlVal part, FlVal of, FlVal out);
/* Operands that an operator does not take, in the last message: `d + 30`, `minute > 30` beside a column
 * `minutes`. */
void fl_habit_operands(FlSema *s, const FlExpr *e, FlVal a, FlVal b);
/* `round(t, 2)` of a table: adds its columns that are rounded, with the edit, to the call's message. */
void fl_habit_rounded(FlSema *s, FlDiag *d, FlVal t, FlSpan call, FlSpan table, FlSpan digits);
/* A float for a variable that begins with an integer as written, `var total = 0`: adds to the last message
 * that it begins with a float, with the edit. */
void fl_habit_begins_whole(FlSema *s, FlVal v, const FlBinding *b);
/* `m.shape`: adds the sizes, by the type, with the edit; whether it is that. */
bool fl_habit_shape(FlSema *s, FlDiag *d, FlVal v, const FlExpr *field);

#endif
