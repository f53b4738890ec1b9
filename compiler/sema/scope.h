/* scope.h: names and what they are bound to; what is evaluated only where somebody uses it. */
#ifndef FL_SEMA_SCOPE_H
#define FL_SEMA_SCOPE_H

#include "sema/state.h"

FlScope *fl_scope_push(FlSema *s, FlScope *parent, FlScopeKind kind); /* does not enter it */
/* Binds the names that a damaged statement would have bound; all that uses them is silent. */
void fl_scope_bind_lost(FlSema *s, FlScope *scope, const FlStmt *st);
/* The scope with the names that it has now: what is added to the other one later is not in it. */
FlScope *fl_scope_as_now(FlSema *s, const FlScope *scope);
/* A lambda that has no name gets this one. */
FlBinding *fl_scope_bind(FlSema *s, FlScope *scope, FlBindKind kind, const char *name, FlSpan span,
                         FlVal val);
FlBinding *fl_scope_find(FlSema *s, const char *name);         /* from s->scope outwards; NULL: none */
FlBinding *fl_scope_find_in(FlScope *scope, const char *name); /* this scope alone */
void fl_scope_add(FlSema *s, FlScope *scope, FlBinding *b);
/* Where the last of this name is in scope->names, and the one before it; -1: there is none. */
int fl_scope_last(const FlScope *scope, const char *name);
int fl_scope_before(const FlScope *scope, int i);
/* A name that begins with `_` is private to the file that declares it; the error for another that uses it. */
bool fl_sema_is_private(const char *name);
FlVal fl_sema_private_error(FlSema *s, const FlBinding *module, FlName name);
/* The columns of `table` are names of the scope; all names of a scope: how many. */
void fl_scope_columns(FlSema *s, FlScope *scope, FlVal table, FlSpan span);
int fl_scope_list(FlSema *s, const FlScope *scope, const char *const **out);
/* file.c: of the binding that stands for the file at a constant path, that path; else NULL. */
const char *fl_binding_path(const FlBinding *b);
FlVal fl_binding_value(FlSema *s, FlBinding *b); /* in the current frame: captured if needed */
void fl_scope_end(FlSema *s, FlScope *scope);    /* bindings that nobody used are not evaluated */
/* The program uses an array or a list, were it only its size: what of it can fail is evaluated. Of a tuple or
 * a table nothing is said: a field or a column that nobody uses is not evaluated. */
void fl_sema_keep(FlSema *s, FlVal v);
void fl_sema_keep_value(FlSema *s, FlValue *v);
/* What is built between the two is evaluated only if somebody uses `v`, which it gives: what the second
 * returns. */
typedef struct FlSavedUnit {
  FlUnit *unit;
  FlRegion *region;
  FlOp *last;
  int n_aliases;
} FlSavedUnit;
FlSavedUnit fl_sema_unit(FlSema *s);
FlVal fl_sema_unit_end(FlSema *s, FlSavedUnit saved, FlVal v);
void fl_sema_cut_aliases(FlSema *s, int n);           /* to the first n of them */
void fl_sema_forget_checks(FlSema *s, int n_aliases); /* sizes that are equal by checks made since then */
bool fl_sema_is_script_var(FlSema *s,
                           const FlBinding *b); /* a `var` of the script, seen from inside a function */
const char *fl_scope_closest(FlSema *s, const char *name); /* for suggestions; NULL: none */

#endif
