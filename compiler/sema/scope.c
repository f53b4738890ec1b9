/* scope.c: names and what they are bound to, where; errors with the chain of calls; entering and leaving
 * regions. */
#include "sema/builtins/builtin.h"
#include "sema/category.h"
#include "sema/column_names.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

#include <stdarg.h>

/* ---- reporting ---- */

/* The calls around a place, from the inside out: those that its operation came through, else those that are
 * being elaborated. */
typedef struct Calls {
  FlSema *s;
  uint32_t number;        /* of the tree of calls, or 0: */
  const FlActive *active; /* or NULL */
} Calls;

static bool next_call(Calls *c, FlCall *out) {
  if (c->number) {
    *out = *fl_sources_call_at(c->s->sources, c->number);
    c->number = out->place.call;
    return true;
  }
  if (!c->active) return false;
  *out = (FlCall){c->active->call, c->active->decl->fn.name.text};
  c->active = c->active->up;
  return true;
}

static bool in_library(const FlSema *s, FlSpan span) {
  const FlSource *f = fl_sources_get(s->sources, span.file);
  return f && f->is_library;
}

/* Is it no call, but the check of a function that nobody calls? */
static bool is_declaration(FlSema *s, const FlCall *call) {
  const FlBinding *b = fl_scope_find_in(s->files.at[0]->scope, fl_intern_z(s->names, call->callee));
  for (; b; b = b->form)
    if (b->kind == FL_BIND_FN && b->span.file == call->place.file && b->span.start == call->place.start)
      return true;
  return false;
}

/* What is wrong in a function of the library is shown at the call into it. */
static FlDiag *report(FlSema *s, FlDiagCode code, FlSpan span, const char *fmt, va_list ap) {
  char text[1024];
  vsnprintf(text, sizeof text, fmt, ap);
  Calls calls = {s, span.call, span.call ? NULL : s->active}, outside = calls;
  FlCall call, innermost = {{0}, ""};
  FlSpan at = span;
  for (bool first = true; in_library(s, at) && next_call(&outside, &call); first = false) {
    if (first) innermost = call;
    at = call.place;
  }
  bool moved = !in_library(s, at) && in_library(s, span);
  if (moved) calls = outside;
  else at = span;
  FlDiag *d = fl_report(s->sink, code, at, "%s", text);
  if (moved) fl_diag_note(s->sink, d, span, "it is found here, in `%s`", innermost.callee);
  FlSpan below = {0};
  for (int shown = 0; shown < 2 && next_call(&calls, &call);) {
    bool again = below.start == call.place.start && below.file == call.place.file; /* recursion */
    below = call.place;
    if (again || is_declaration(s, &call)) continue;
    shown++;
    if (*call.callee) fl_diag_note(s->sink, d, call.place, "in this call of `%s`", call.callee);
    else fl_diag_note(s->sink, d, call.place, "in this call of a lambda");
  }
  return d;
}

FlDiag *fl_sema_report(FlSema *s, FlDiagCode code, FlSpan span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  FlDiag *d = report(s, code, span, fmt, ap);
  va_end(ap);
  return d;
}

FlVal fl_sema_error(FlSema *s, FlDiagCode code, FlSpan span, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(s, code, span, fmt, ap);
  va_end(ap);
  return fl_val_error(s);
}

/* ---- scopes ---- */

FlScope *fl_scope_push(FlSema *s, FlScope *parent, FlScopeKind kind) {
  FlScope *scope = FL_NEW(s->arena, FlScope);
  scope->parent = parent;
  scope->kind = kind;
  return scope;
}

FlBinding *fl_scope_bind(FlSema *s, FlScope *scope, FlBindKind kind, const char *name, FlSpan span,
                         FlVal val) {
  if (val.type && val.type->kind == FL_TY_FUNC && val.fn && val.fn->lambda && !val.fn->name) {
    FlClosure *named = fl_arena_copy(s->arena, val.fn, sizeof *val.fn);
    named->name = name;
    val.fn = named;
  }
  FlBinding *b = FL_NEW(s->arena, FlBinding);
  b->name = name;
  b->kind = kind;
  b->span = span;
  b->frame = s->frame;
  b->val = val;
  b->file = s->file;
  fl_scope_add(s, scope, b);
  fl_witness_name(s, span, b);
  return b;
}

enum { MANY_NAMES = 16 }; /* of a scope that are looked up by map */

static void index_name(FlSema *s, FlScope *scope, int i) {
  const char *name = scope->names.at[i]->name;
  fl_vec_push(s->arena, &scope->before, (int)(intptr_t)fl_map_get(scope->last, name));
  fl_map_set(scope->last, name, (void *)(intptr_t)(i + 1));
}

void fl_scope_add(FlSema *s, FlScope *scope, FlBinding *b) {
  fl_vec_push(s->arena, &scope->names, b);
  int n = scope->names.n;
  if (n < MANY_NAMES) return;
  if (!scope->last) scope->last = fl_map_make(s->arena);
  for (int i = scope->before.n; i < n; i++) index_name(s, scope, i);
}

FlScope *fl_scope_as_now(FlSema *s, const FlScope *scope) {
  FlScope *now = fl_arena_copy(s->arena, scope, sizeof *scope);
  if (!now->of) now->of = scope;
  return now;
}

int fl_scope_last(const FlScope *scope, const char *name) {
  const FlScope *all = scope->of ? scope->of : scope;
  int i = all->last ? (int)(intptr_t)fl_map_get(all->last, name) - 1 : scope->names.n - 1;
  if (all->last) {
    while (i >= scope->names.n) i = all->before.at[i] - 1;
    return i;
  }
  while (i >= 0 && scope->names.at[i]->name != name) i--;
  return i;
}

int fl_scope_before(const FlScope *scope, int i) {
  const FlScope *all = scope->of ? scope->of : scope;
  if (all->last) return all->before.at[i] - 1;
  const char *name = scope->names.at[i--]->name;
  while (i >= 0 && scope->names.at[i]->name != name) i--;
  return i;
}

void fl_scope_bind_lost(FlSema *s, FlScope *scope, const FlStmt *st) {
  for (int i = 0; i < st->lost.n; i++) {
    FlName name = st->lost.at[i];
    bool known = fl_scope_find(s, name.text) || fl_builtin_find(s, name.text);
    if (st->damaged == FL_LOST_PERHAPS && known) continue;
    fl_scope_bind(s, scope, FL_BIND_VALUE, name.text, name.span, fl_val_error(s))->lost = true;
  }
}

struct FlColumnNames {
  FlSema *s;
  FlVal table;
  FlSpan span;
  FlFrame *frame;
  FlFile *file;
  FlMap *bound; /* name -> binding, of those that were asked for */
};

void fl_scope_columns(FlSema *s, FlScope *scope, FlVal table, FlSpan span) {
  FlColumnNames *c = FL_NEW(s->arena, FlColumnNames);
  *c = (FlColumnNames){s, table, span, s->frame, s->file, fl_map_make(s->arena)};
  scope->columns = c;
}

static FlBinding *find_column(FlColumnNames *c, const char *name) {
  FlBinding *b = fl_map_get(c->bound, name);
  int k = b ? -1 : fl_type_field_find(fl_type_row(c->table.type), name);
  if (k < 0) return b;
  b = FL_NEW(c->s->arena, FlBinding);
  *b = (FlBinding){.name = name,
                   .kind = FL_BIND_COLUMN,
                   .span = c->span,
                   .frame = c->frame,
                   .val = fl_val_field(c->s, c->table, k),
                   .file = c->file,
                   .used = true};
  fl_map_set(c->bound, name, b);
  return b;
}

FlBinding *fl_scope_find_in(FlScope *scope, const char *name) {
  int i = fl_scope_last(scope, name);
  if (i >= 0) return scope->names.at[i];
  return scope->columns ? find_column(scope->columns, name) : NULL;
}

int fl_scope_list(FlSema *s, const FlScope *scope, const char *const **out) {
  const FlType *row = scope->columns ? fl_type_row(scope->columns->table.type) : NULL;
  int n = 0;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, scope->names.n + (row ? row->n_fields : 0) + 1);
  for (int i = 0; i < scope->names.n; i++) names[n++] = scope->names.at[i]->name;
  for (int i = 0; row && i < row->n_fields; i++) names[n++] = row->fields[i].name;
  *out = names;
  return n;
}

bool fl_sema_is_private(const char *name) { return name[0] == '_'; }

FlVal fl_sema_private_error(FlSema *s, const FlBinding *module, FlName name) {
  FlDiag *d =
      fl_sema_report(s, FL_E0225, name.span, "`%s` is private to the module `%s`", name.text, module->name);
  FlBinding *b = fl_scope_find_in(module->file->scope, name.text);
  if (b) fl_diag_note(s->sink, d, b->span, "it is declared here");
  fl_diag_help(s->sink, d,
               "a name that begins with `_` is for its own file; others use what has a name without it");
  return fl_val_error(s);
}

FlBinding *fl_scope_find(FlSema *s, const char *name) {
  for (FlScope *scope = s->scope; scope; scope = scope->parent) {
    FlBinding *b = fl_scope_find_in(scope, name);
    if (b) return b;
  }
  return NULL;
}

bool fl_sema_is_script_var(FlSema *s, const FlBinding *b) {
  return b && b->kind == FL_BIND_VAR && s->active && fl_scope_find_in(s->files.at[0]->scope, b->name) == b;
}

const char *fl_scope_closest(FlSema *s, const char *name) {
  FlVec(const char *) all = {0};
  for (FlScope *scope = s->scope; scope; scope = scope->parent) {
    const char *const *names;
    int n = fl_scope_list(s, scope, &names);
    for (int i = 0; i < n; i++) fl_vec_push(s->arena, &all, names[i]);
  }
  return fl_closest(name, all.at, all.n);
}

/* ---- captures: a value of an outer function becomes a parameter of the current one ---- */

static FlVal capture(FlSema *s, FlFrame *frame, FlBinding *b) {
  if (frame == b->frame) return b->val;
  for (int i = 0; i < frame->captures.n; i++)
    if (frame->captures.at[i].binding == b) return frame->captures.at[i].inside;
  FlVal inside = b->val; /* keeps a literal's value and a function */
  const FlType *t = b->val.type;
  FlType1 parts[256];
  FlType1 *p = t->n_parts <= 256 ? parts : FL_NEW_ARRAY(s->arena, FlType1, t->n_parts);
  fl_type_parts(t, p);
  inside.parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
  for (int i = 0; i < t->n_parts; i++) inside.parts[i] = fl_ir_param(frame->func->body, p[i]);
  fl_column_names_inside(s, b->val, inside, frame->func->body);
  fl_vec_push(s->arena, &frame->captures, ((FlCapture){b, inside}));
  return inside;
}

FlVal fl_binding_value(FlSema *s, FlBinding *b) {
  b->used = true;
  b->uses++;
  if (s->refs) fl_vec_push(s->arena, &s->refs->list, b);
  FlVal v = capture(s, s->frame, b);
  if (b->kind == FL_BIND_VAR || b->frame != s->frame)
    v.group = NULL; /* of the table that it was once, or there */
  return v;
}

/* ---- what is not used is not evaluated ---- */

static void remove_checks(FlRegion *r, FlOp *first, const FlOp *last) {
  for (FlOp *op = first; op;) {
    FlOp *next = op == last ? NULL : op->next;
    for (int i = 0; i < op->n_regions; i++) remove_checks(op->regions[i], op->regions[i]->first, NULL);
    if (fl_ir_is_check(op)) fl_ir_remove(op);
    op = next;
  }
  (void)r;
}

/* Values without a use are dropped by the pass canon; what they checked must go here, as only here it is
 * known whose checks these are. Latest first: what an unused binding used may be unused then. */
void fl_scope_end(FlSema *s, FlScope *scope) {
  (void)s;
  for (int i = scope->names.n - 1; i >= 0; i--) {
    FlBinding *b = scope->names.at[i];
    if (b->kind != FL_BIND_VALUE || !b->made_in || b->uses) continue;
    for (int k = 0; k < b->refs->list.n; k++) b->refs->list.at[k]->uses--;
    FlOp *first = b->made_after ? b->made_after->next : b->made_in->first;
    if (b->made_last != b->made_after) remove_checks(b->made_in, first, b->made_last);
  }
}

void fl_sema_keep_value(FlSema *s, FlValue *v) {
  const FlOp *op = v->op;
  bool safe = op ? op->code == FL_OP_CONST || op->code == FL_OP_DIM : !v->region->owner;
  if (!safe && !s->by_element) fl_ir_op(&s->b, FL_OP_KEEP, 1, &v, 0, NULL, 0);
}

void fl_sema_keep(FlSema *s, FlVal v) {
  FlTyKind kind = v.type->kind;
  if (kind != FL_TY_ARRAY && kind != FL_TY_LIST && kind != FL_TY_SCALAR) return;
  int n = kind == FL_TY_LIST ? v.type->n_parts : fl_type_element_parts(v.type);
  for (int p = 0; p < n; p++) fl_sema_keep_value(s, v.parts[p]);
}

FlSavedUnit fl_sema_unit(FlSema *s) {
  FlSavedUnit saved = {s->b.unit, s->b.region, s->b.region->last, s->aliases.n};
  s->b.unit = FL_NEW(s->module->arena, FlUnit);
  s->b.unit->outer = saved.unit;
  return saved;
}

static bool holds_check(const FlOp *op) {
  for (; op; op = op->next) {
    if (fl_ir_is_check(op)) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (holds_check(op->regions[i]->first)) return true;
  }
  return false;
}

/* The same value, made by an op of its own. */
static FlValue *made_here(FlSema *s, FlValue *v) {
  FlValue *sizes[FL_MAX_RANK] = {0};
  if (fl_t_is_scalar(v->type)) return fl_ir_select(&s->b, fl_ir_const_i(&s->b, FL_BOOL, 1), v, v);
  if (v->type.depth) return v;
  for (int k = 0; k < v->type.rank; k++) sizes[k] = fl_ir_dim(&s->b, v, k);
  FlSemaMap map = fl_sema_map(s, v->type.rank, sizes, (FlDtype)v->type.dtype);
  return fl_sema_map_end(s, &map, fl_ir_load(&s->b, v, v->type.rank, map.index, true));
}

/* Is a part of v made by an op of the unit? Constants and sizes do not count: they may stand for equal ones.
 */
static bool is_own(FlVal v, const FlUnit *unit) {
  for (int p = 0; v.parts && p < v.type->n_parts; p++) {
    const FlOp *op = v.parts[p] ? v.parts[p]->op : NULL;
    if (op && op->unit == unit && op->code != FL_OP_CONST && op->code != FL_OP_DIM) return true;
  }
  return false;
}

/* Of an op of the unit the optimiser sees that the unit is used. A value that was there before, and only
 * passes through checks of the unit, gets one. A constant does not: its checks are those of what is around
 * it. */
FlVal fl_sema_unit_end(FlSema *s, FlSavedUnit saved, FlVal v) {
  FlUnit *unit = s->b.unit;
  bool own = is_own(v, unit);
  bool plain = v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_SCALAR;
  if (!own && plain && holds_check(saved.last ? saved.last->next : saved.region->first)) {
    FlValue *parts[2] = {0};
    for (int p = 0; p < fl_type_element_parts(v.type); p++) parts[p] = made_here(s, v.parts[p]);
    v = fl_val_with(s, v.type, parts, v);
    own = is_own(v, unit);
  }
  unit->plain = !own;
  s->b.unit = saved.unit;
  fl_sema_forget_checks(s, saved.n_aliases);
  return v;
}

/* ---- regions ---- */

FlSavedPlace fl_sema_enter(FlSema *s, FlRegion *r) {
  FlSavedPlace saved = {s->b, s->aliases.n, s->scope};
  s->b.region = r;
  s->b.before = NULL;
  return saved;
}

void fl_sema_leave(FlSema *s, FlSavedPlace saved) {
  s->b = saved.b;
  fl_sema_cut_aliases(s, saved.n_aliases);
  s->scope = saved.scope;
}

FlSemaMap fl_sema_map(FlSema *s, int rank, FlValue *const *sizes, FlDtype element) {
  FlType1 i64s[FL_MAX_RANK], out = fl_t_array(element, rank);
  for (int k = 0; k < rank; k++) i64s[k] = fl_t_scalar(FL_I64);
  FlOp *op = fl_ir_op(&s->b, FL_OP_MAP, rank, sizes, 1, &out, 1);
  FlRegion *r = fl_ir_region(&s->b, op, 0, rank, i64s);
  return (FlSemaMap){op, r->params, fl_sema_enter(s, r)};
}

FlValue *fl_sema_map_end(FlSema *s, const FlSemaMap *map, FlValue *element) {
  fl_ir_yield(map->op->regions[0], s->module, 1, &element);
  fl_sema_leave(s, map->saved);
  return map->op->results[0];
}

bool fl_sema_effect_ok(FlSema *s, const char *what, FlSpan span) {
  if (!s->pure) return true;
  FlDiag *d =
      fl_sema_report(s, FL_E0801, span, "`%s` acts on the world and cannot be used in %s", what, s->pure);
  fl_diag_help(s->sink, d, "return the value, and call `%s` at the top level of the script", what);
  return false;
}
