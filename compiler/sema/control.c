/* control.c: blocks and statements: bindings, variables, assignments, assert. Loops are in loops.c, `if` and
 * `match` in branches.c.
 *
 * Variables are SSA: a binding's value is the latest one; loops and branches carry those that they assign. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/choose.h"
#include "sema/decimal.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/loops.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/value.h"

/* ---- patterns ---- */

static void bind_name(FlSema *s, FlName name, FlVal v, FlBindKind kind, const FlTypeExpr *declared) {
  if (fl_val_bad(v) && !s->sink->n_errors && !s->open)
    fl_sema_error(s, FL_E0299, name.span, "flow did not understand this value, and does not know why");
  if (v.type->kind == FL_TY_NONE)
    v = fl_habit_nothing_bound(s, name);
  if (v.type->kind == FL_TY_NULL)
    v = fl_sema_error(s, FL_E0503, name.span,
                      "nothing says which type this null has; write `let %s: f64? = null`", name.text);
  if (kind == FL_BIND_VAR) {
    if (v.type->kind == FL_TY_FUNC)
      v = fl_sema_error(s, FL_E0310, name.span, "a variable cannot hold a function");
  }
  v.literal = FL_LIT_NONE, v.exact = NULL; /* its type is settled */
  FlBinding *b = fl_scope_bind(s, s->scope, kind, name.text, name.span, v);
  b->declared = declared;
}

typedef FlVec(FlName) Names;

/* Adds the names that p binds; reports those that are there. */
static void add_names(FlSema *s, const FlPat *p, Names *names) {
  for (int i = 0; p->kind == FL_PAT_TUPLE && i < p->tuple.n; i++) add_names(s, p->tuple.at[i], names);
  if (p->kind != FL_PAT_NAME) return;
  for (int i = 0; i < names->n; i++)
    if (names->at[i].text == p->name.text)
      fl_sema_error(s, FL_E0218, p->name.span, "`%s` is bound twice here", p->name.text);
  fl_vec_push(s->arena, names, p->name);
}

void fl_sema_bound_once(FlSema *s, const FlPatList *patterns) {
  Names names = {0};
  for (int i = 0; i < patterns->n; i++) add_names(s, patterns->at[i], &names);
}

static void bind(FlSema *s, const FlPat *p, FlVal v, FlBindKind kind, const FlTypeExpr *declared) {
  switch (p->kind) {
  case FL_PAT_ERROR:
  case FL_PAT_ANY: return;
  case FL_PAT_NAME: bind_name(s, p->name, v, kind, declared); return;
  case FL_PAT_TUPLE: {
    const FlType *row = fl_type_row(v.type);
    bool by_position = row && row->n_fields && row->fields[0].name[0] == '0';
    if (!fl_val_bad(v) && (v.type->kind != FL_TY_TUPLE || (by_position && row->n_fields != p->tuple.n))) {
      v = fl_sema_error(s, FL_E0317, p->span, "these are %d names, but the value is %s", p->tuple.n,
                        fl_val_text(s, v));
    }
    for (int i = 0; i < p->tuple.n; i++) {
      const FlPat *q = p->tuple.at[i];
      FlVal part = fl_val_error(s);
      if (!fl_val_bad(v) && q->kind != FL_PAT_ANY) {
        int k = i;
        if (!by_position) {
          k = q->kind == FL_PAT_NAME ? fl_type_field_find(row, q->name.text) : i;
          if (k < 0 || k >= row->n_fields) {
            FlDiag *d = fl_sema_report(s, FL_E0317, q->span, "the value has no field `%s`",
                                       q->kind == FL_PAT_NAME ? q->name.text : "_");
            fl_diag_help(s->sink, d, "its fields are those of %s; a named tuple is taken apart by name",
                         fl_val_text(s, v));
            k = -1;
          }
        }
        if (k >= 0) part = fl_val_field(s, v, k);
      }
      bind(s, q, part, kind, NULL);
    }
    return;
  }
  case FL_PAT_VALUE:
  case FL_PAT_RANGE:
    fl_sema_error(s, FL_E0317, p->span, "only names and tuples of names can be bound here");
    return;
  }
}

void fl_sema_bind_pattern(FlSema *s, const FlPat *p, FlVal v, FlBindKind kind, const FlTypeExpr *declared) {
  if (p->kind == FL_PAT_TUPLE) fl_sema_bound_once(s, &p->tuple);
  bind(s, p, v, kind, declared);
}

static void let(FlSema *s, const FlStmt *st) {
  const FlType *want = st->let.type ? fl_type_of_expr(s, st->let.type) : NULL;
  FlRefs *outer = s->refs, *refs = FL_NEW(s->arena, FlRefs);
  FlRegion *here = s->b.region;
  FlOp *after = here->last;
  int n_aliases = s->aliases.n;
  bool by_name = st->let.pattern->kind == FL_PAT_NAME && st->kind == FL_STMT_LET;
  FlSavedUnit unit = by_name ? (FlSavedUnit){0} : fl_sema_unit(s);
  s->refs = refs;
  FlVal v = fl_sema_expr_or_groups(s, st->let.value, want);
  if (st->let.type) v = fl_bind_type(s, st->let.type, v, st->let.value->span, "the value");
  s->refs = outer;
  if (by_name) fl_sema_forget_checks(s, n_aliases);
  else v = fl_sema_unit_end(s, unit, v);
  for (int i = 0; outer && i < refs->list.n; i++) fl_vec_push(s->arena, &outer->list, refs->list.at[i]);
  fl_sema_bind_pattern(s, st->let.pattern, v, st->kind == FL_STMT_VAR ? FL_BIND_VAR : FL_BIND_VALUE,
                       st->let.type);
  if (!by_name) return;
  if (!s->pure && st->let.value->kind != FL_EXPR_PIPE) fl_sema_see(s, st->let.pattern->span, v, true);
  FlBinding *b = fl_scope_find_in(s->scope, st->let.pattern->name.text);
  b->made_in = here;
  b->made_after = after;
  b->made_last = here->last;
  b->refs = refs;
}

/* ---- assignment ---- */

/* Position `axis` of the assignment to base[...]; NULL: reported. */
static FlValue *store_position(FlSema *s, FlVal base, const FlSubscript *sub, int axis) {
  if (sub->kind != FL_SUB_VALUE) {
    fl_sema_error(s, FL_E0318, sub->span, "an assignment takes a position here");
    return NULL;
  }
  FlVal at = fl_sema_expr(s, sub->value, NULL);
  if (fl_val_bad(at)) return NULL;
  if (at.literal && at.negative && at.magnitude == 1)
    at = fl_val_scalar(s, FL_I64, fl_sema_op2(s, FL_OP_SUB, fl_sema_dim(s, base, axis), fl_sema_i64(s, 1)));
  at = fl_val_coerce(s, at, fl_type_scalar(s->types, FL_I64, false), sub->span, "a position");
  return fl_val_bad(at) ? NULL : at.parts[0];
}

static FlVal no_elements(FlSema *s, FlSpan span, FlVal base) {
  FlDiag *d = fl_sema_report(s, FL_E0318, span,
                             "only elements of arrays and lists can be assigned, and this is in %s",
                             fl_val_text(s, base));
  if (base.type->kind == FL_TY_TABLE)
    fl_diag_help(s->sink, d,
                 "a table with a column more or another one is a new one: `let u = t |> derive(x = ..)`");
  return fl_val_error(s);
}

/* An element of an array, or of a list, all of whose parts are lists or arrays by element. */
static FlVal store(FlSema *s, FlVal base, const FlExpr *target, FlVal v, FlSpan span) {
  const FlSubscriptList *subs = &target->index.subs;
  bool list = base.type->kind == FL_TY_LIST;
  int rank = list ? 1 : base.type->rank;
  if (base.type->kind != FL_TY_ARRAY && !list) return no_elements(s, target->span, base);
  if (subs->n != rank)
    return fl_sema_error(s, FL_E0318, target->span,
                         "an assignment to an element takes %d position%s here, one for each dimension", rank,
                         rank == 1 ? "" : "s");
  FlValue *args[FL_MAX_RANK + 2];
  for (int i = 0; i < rank; i++)
    if (!(args[i + 1] = store_position(s, base, &subs->at[i], i))) return fl_val_error(s);
  const FlType *element =
      list ? base.type->elem : fl_type_scalar(s->types, base.type->dtype, base.type->nullable);
  v = fl_val_coerce(s, v, element, span, "the element");
  if (fl_val_bad(v)) return v;
  if (!list) v = fl_levels_adopt(s, v, (FlVal){.type = v.type, .parts = base.parts}, span);
  if (fl_val_bad(v)) return v;
  int n = list ? base.type->n_parts : fl_type_element_parts(base.type);
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  for (int p = 0; p < n; p++) {
    args[0] = base.parts[p];
    args[rank + 1] = v.parts[p];
    parts[p] = fl_ir_op(&s->b, FL_OP_STORE, rank + 2, args, 1, &base.parts[p]->type, 0)->results[0];
  }
  return fl_val_with(s, base.type, parts, base);
}

static void same_sizes(FlSema *s, const FlBinding *b, FlVal v, FlSpan span) {
  if (v.type->kind != FL_TY_ARRAY || b->declared) return;
  for (int k = 0; k < v.type->rank; k++)
    fl_sema_same_size(
        s, fl_sema_dim(s, b->val, k), fl_sema_dim(s, v, k), span,
        fl_arena_printf(s->arena,
                        "`%s` keeps its sizes: {a} before, {b} now; declare it with `_` to let it change",
                        b->name));
}

/* The edit of a name that is bound by `let name`. */
static void let_to_var(FlSema *s, FlDiag *d, FlSpan name) {
  const char *text = fl_sources_get(s->sources, name.file)->text;
  uint32_t at = name.start;
  while (at && text[at - 1] == ' ') at--;
  bool starts = at == 3 || (at > 3 && strchr(" \n\t{;", text[at - 4]));
  if (at == name.start || at < 3 || strncmp(text + at - 3, "let", 3) != 0 || !starts) return;
  d->edit.span = name;
  d->edit.span.start = at - 3;
  d->edit.span.len = 3;
  d->edit.text = "var";
}

/* Gives what the variable holds then. */
static FlVal assign_to(FlSema *s, const FlExpr *target, FlVal v, FlSpan span) {
  if (fl_val_bad(v)) return v;
  switch (target->kind) {
  case FL_EXPR_NAME: {
    FlBinding *b = fl_scope_find(s, target->name.text);
    if (b && b->lost) return b->val;
    if (!b || b->kind != FL_BIND_VAR || b->frame != s->frame || fl_sema_is_script_var(s, b)) {
      FlDiag *d = fl_sema_report(s, b ? FL_E0207 : FL_E0201, target->span,
                                 b ? "`%s` cannot be assigned" : "there is no `%s`", target->name.text);
      if (b && b->kind == FL_BIND_VALUE) {
        fl_diag_note(s->sink, d, b->span, "it is bound here, once");
        fl_diag_help(s->sink, d, "declare it with `var`");
        let_to_var(s, d, b->span);
      }
      const char *near = b ? NULL : fl_scope_closest(s, target->name.text);
      if (near) fl_diag_meant(s->sink, d, target->name.span, "", near);
      else if (!b)
        fl_diag_help(s->sink, d, "a new name is bound by `let %s = ..`, or by `var` when it changes",
                     target->name.text);
      return fl_val_error(s);
    }
    if (fl_val_bad(b->val)) return b->val;
    FlVal c = v;
    if (v.type != b->val.type)
      c = fl_val_coerce(s, v, b->val.type, span, fl_arena_printf(s->arena, "`%s`", b->name));
    if (fl_val_bad(c)) {
      fl_habit_begins_whole(s, v, b);
      return c;
    }
    c.literal = FL_LIT_NONE, c.exact = NULL;
    c = fl_levels_adopt(s, c, b->val, span); /* a variable keeps its levels */
    if (fl_val_bad(c)) return c;
    same_sizes(s, b, c, span);
    b->val = c;
    return c;
  }
  case FL_EXPR_INDEX: {
    FlVal base = fl_sema_expr(s, target->index.base, NULL);
    if (fl_val_bad(base)) return base;
    FlVal next = store(s, base, target, v, span);
    if (fl_val_bad(next)) return next;
    bool list = next.type->kind == FL_TY_LIST;
    int n = list ? next.type->n_parts : fl_type_element_parts(next.type);
    for (int p = 0; p < n; p++) /* an element more or less changes no size */
      for (int k = 0; k < (list ? 1 : next.type->rank); k++) {
        FlValue *from = fl_ir_dim(&s->b, next.parts[p], k), *to = fl_ir_dim(&s->b, base.parts[0], k);
        if (from != to) fl_sema_alias(s, from, fl_sema_size(s, to));
      }
    return assign_to(s, target->index.base, next, span);
  }
  case FL_EXPR_FIELD: {
    FlVal base = fl_sema_expr(s, target->field.base, NULL);
    if (fl_val_bad(base)) return base;
    int k = base.type->kind == FL_TY_TUPLE ? fl_type_field_find(base.type, target->field.name.text) : -1;
    if (base.type->kind == FL_TY_TABLE) {
      FlDiag *d = fl_sema_report(s, FL_E0604, target->field.name.span, "columns are not assigned");
      fl_diag_help(s->sink, d, "make a new table with `derive(%s = ...)`", target->field.name.text);
      return fl_val_error(s);
    }
    if (k < 0)
      return fl_sema_error(s, FL_E0604, target->field.name.span,
                           "%s has no field `%s` that could be assigned", fl_val_text(s, base),
                           target->field.name.text);
    v = fl_val_coerce(s, v, base.type->fields[k].type, span, "the field");
    if (fl_val_bad(v)) return v;
    FlVal next = fl_val_make(s, base.type, base.parts);
    for (int p = 0; p < v.type->n_parts; p++) next.parts[fl_type_field_part(base.type, k) + p] = v.parts[p];
    return assign_to(s, target->field.base, next, span);
  }
  default: return fl_sema_error(s, FL_E0207, target->span, "this cannot be assigned");
  }
}

/* The target with names, of the innermost scope, in place of its positions, which are read more than once and
 * elaborated here: those that are not names or numbers. */
static const FlExpr *with_positions(FlSema *s, const FlExpr *target) {
  if (target->kind != FL_EXPR_INDEX && target->kind != FL_EXPR_FIELD) return target;
  FlExpr *e = fl_arena_copy(s->arena, target, sizeof *e);
  FlExpr **base = e->kind == FL_EXPR_INDEX ? &e->index.base : &e->field.base;
  *base = (FlExpr *)(uintptr_t)with_positions(s, *base);
  if (e->kind == FL_EXPR_FIELD) return e;
  FlSubscript *subs = fl_arena_copy(s->arena, e->index.subs.at, sizeof *subs * (size_t)e->index.subs.n);
  for (int i = 0; i < e->index.subs.n; i++) {
    const FlExpr *at = subs[i].kind == FL_SUB_VALUE ? subs[i].value : NULL;
    bool negative = at && at->kind == FL_EXPR_UNARY && at->unary.operand->kind == FL_EXPR_INT;
    if (!at || at->kind == FL_EXPR_NAME || at->kind == FL_EXPR_INT || negative) continue;
    const char *name = fl_arena_printf(s->arena, "position %d of the target", s->scope->names.n);
    FlExpr *read = FL_NEW(s->arena, FlExpr);
    *read = (FlExpr){.kind = FL_EXPR_NAME, .span = at->span};
    read->name = (FlName){.text = fl_intern_z(s->names, name), .span = at->span};
    FlVal v = fl_sema_expr(s, at, NULL);
    fl_scope_bind(s, s->scope, FL_BIND_VALUE, read->name.text, at->span, v)->used = true;
    subs[i].value = read;
  }
  e->index.subs.at = subs;
  return e;
}

static void assign(FlSema *s, const FlStmt *st) {
  FlSavedUnit unit = fl_sema_unit(s);
  FlScope *outer = s->scope;
  const FlExpr *target = st->assign.target;
  FlVal v;
  if (target->kind != FL_EXPR_NAME) s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (st->assign.add) {
    target = with_positions(s, target);
    FlVal old = fl_sema_expr(s, target, NULL);
    FlVal more = fl_sema_expr(s, st->assign.value, old.type);
    v = fl_sema_binary(s, FL_BIN_ADD, old, more, st->span, target->span, st->assign.value->span);
  } else {
    const FlType *want = NULL;
    if (target->kind == FL_EXPR_NAME) {
      FlBinding *b = fl_scope_find(s, target->name.text);
      if (b && b->kind == FL_BIND_VAR) want = b->val.type;
    }
    v = fl_sema_expr_or_groups(s, st->assign.value, want);
    if (!fl_val_bad(v)) target = with_positions(s, target);
  }
  if (v.type->kind == FL_TY_NONE)
    v = fl_sema_error(s, FL_E0309, st->assign.value->span, "this gives no value");
  FlVal now = assign_to(s, target, v, st->assign.value->span);
  s->scope = outer;
  FlVal own = fl_sema_unit_end(s, unit, now);
  if (target->kind == FL_EXPR_NAME && !fl_val_bad(own)) fl_scope_find(s, target->name.text)->val = own;
}

/* ---- assert ---- */

static void check_true(FlSema *s, FlVal c, FlSpan span, int n, FlValue *const *values, const char *message) {
  if (c.type->kind == FL_TY_ARRAY) { /* all of them */
    const FlBuiltin *all = fl_builtin_find(s, "all");
    FlActual arg = {.value = c, .span = span};
    c = fl_sema_call_builtin(s, all, 1, &arg, span, NULL);
  }
  FlValue *cond = fl_sema_condition(s, c, span, "an assertion");
  if (!cond) return;
  FlValue *args[3] = {cond};
  for (int i = 0; i < n; i++) args[i + 1] = values[i];
  FlOp *op = fl_ir_op(&s->b, FL_OP_CHECK, 1 + n, args, 0, NULL, 0);
  op->attrs.i = FL_FAULT_ASSERT;
  op->attrs.s = message;
}

static void do_assert(FlSema *s, const FlStmt *st) {
  const FlExpr *e = st->assert.condition;
  s->b.span = e->span;
  if (st->assert.message) {
    FlVal c = fl_sema_expr(s, e, NULL);
    FlVal m = fl_sema_expr(s, st->assert.message, NULL);
    if (fl_val_bad(c) || fl_val_bad(m)) return;
    m = fl_val_coerce(s, m, fl_type_scalar(s->types, FL_TEXT, false), st->assert.message->span,
                      "the message");
    if (!fl_val_bad(m)) check_true(s, c, e->span, 1, m.parts, NULL);
    return;
  }
  bool compares = e->kind == FL_EXPR_BINARY && e->binary.op != FL_BIN_IN &&
                  fl_syntax_precedence(e->binary.op) == FL_BINDS_COMPARE;
  if (!compares) {
    FlVal c = fl_sema_expr(s, e, NULL);
    if (!fl_val_bad(c)) check_true(s, c, e->span, 0, NULL, "this is false");
    return;
  }
  FlVal a = fl_sema_expr(s, e->binary.left, NULL), b = fl_sema_expr(s, e->binary.right, NULL);
  if (fl_val_bad(a) || fl_val_bad(b)) return;
  FlVal c =
      fl_sema_binary(s, e->binary.op, a, b, e->binary.op_span, e->binary.left->span, e->binary.right->span);
  if (fl_val_bad(c)) return;
  bool scalars =
      a.type->kind == FL_TY_SCALAR && b.type->kind == FL_TY_SCALAR && !a.type->nullable && !b.type->nullable;
  FlDtype d;
  bool decimals = scalars && (fl_val_is_decimal(a) || fl_val_is_decimal(b));
  if (scalars && (decimals ? fl_decimal_common(a, b, &d) : fl_sema_common_number(s, a, b, &d))) {
    const FlType *type = fl_type_scalar(s->types, d, false);
    scalars = fl_val_fits(s, a, type) &&
              fl_val_fits(s, b, type); /* a number of the script may not: it is compared as it is */
    if (scalars) a = fl_val_coerce(s, a, type, e->binary.left->span, "the value");
    if (scalars) b = fl_val_coerce(s, b, type, e->binary.right->span, "the value");
  }
  FlValue *values[2] = {scalars ? a.parts[0] : NULL, scalars ? b.parts[0] : NULL};
  check_true(s, c, e->span, scalars ? 2 : 0, values,
             scalars ? "the left side is {a}, the right side {b}" : "the two sides differ");
}

FlValue *fl_sema_condition(FlSema *s, FlVal v, FlSpan span, const char *what) {
  if (fl_val_bad(v)) return NULL;
  if (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_BOOL && !v.type->nullable) return v.parts[0];
  if (v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_BOOL) {
    FlDiag *d = fl_sema_report(s, FL_E0501, span, "%s needs true or false, and this may be null", what);
    fl_diag_help(s->sink, d, "say what null means with `?? false` or `?? true`");
    return NULL;
  }
  fl_sema_error(s, FL_E0315, span, "%s needs a bool, and this is %s", what, fl_val_text(s, v));
  return NULL;
}

/* ---- statements and blocks ---- */

void fl_sema_stmt(FlSema *s, const FlStmt *st) {
  if (st->damaged) {
    fl_scope_bind_lost(s, s->scope, st);
    return;
  }
  FlSpan outer = s->b.span;
  s->b.span = st->span;
  switch (st->kind) {
  case FL_STMT_ERROR: break;
  case FL_STMT_LET:
  case FL_STMT_VAR: let(s, st); break;
  case FL_STMT_ASSIGN: assign(s, st); break;
  case FL_STMT_EXPR: {
    FlVal v = fl_sema_expr_or_groups(s, st->expr, NULL);
    fl_val_one_message(s, v, st->span);
    if (v.type->kind != FL_TY_NONE && v.type->kind != FL_TY_ERROR && v.type->kind != FL_TY_NEVER) {
      FlDiag *d = fl_sema_report(s, FL_E0319, st->span, "this value is not used");
      fl_diag_help(s->sink, d, "bind it with `let`, or make it the last line of the block to return it");
    }
    break;
  }
  case FL_STMT_FOR:
  case FL_STMT_WHILE: fl_sema_loop(s, st); break;
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE: fl_sema_jump(s, st); break;
  case FL_STMT_ASSERT: do_assert(s, st); break;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN:
  case FL_STMT_TYPE:
  case FL_STMT_PARAM:
  case FL_STMT_IMPORT:
  case FL_STMT_REQUIRES:
  case FL_STMT_TEST:
    fl_sema_error(s, FL_E0208, st->span, "declarations stand at the top level of a file");
    break;
  }
  s->b.span = outer;
}

typedef struct Rest {
  FlStmt *const *stmts;
  int n;
} Rest;

static FlVal run_stmts(FlSema *s, FlStmt *const *stmts, int n, const FlType *want);

static FlVal run_rest(FlSema *s, void *env) {
  Rest *r = env;
  if (s->depth > FL_SEMA_DEPTH)
    return fl_sema_error(s, FL_E0206, r->stmts[0]->span, "`continue` and `break` are nested too deeply here");
  s->depth++;
  run_stmts(s, r->stmts, r->n, NULL);
  s->depth--;
  return fl_val_none(s);
}

static bool has_jumps(const FlStmt *st) { return st->has & FL_HAS_JUMP; }

/* Runs what stands behind a jump where none was taken. */
static void unless_jumped(FlSema *s, FlStmt *const *stmts, int n, FlSpan span, FlThunk run) {
  FlVarList vars = {0};
  fl_vars_of_stmts(s, &vars, stmts, n);
  if (s->loop_break) fl_vars_add(s, &vars, s->loop_break);
  fl_vars_add(s, &vars, s->loop_skip);
  FlVal go = fl_val_scalar(s, FL_BOOL, fl_ir_unary(&s->b, FL_OP_NOT, s->loop_skip->val.parts[0]));
  run.span = stmts[0]->span;
  fl_sema_choose(s, go, span, &vars, run, (FlThunk){NULL, NULL, span});
}

static bool is_jump(const FlStmt *st) { return st->kind == FL_STMT_BREAK || st->kind == FL_STMT_CONTINUE; }

static FlVal run_stmts(FlSema *s, FlStmt *const *stmts, int n, const FlType *want) {
  for (int i = 0; i < n; i++) {
    const FlStmt *st = stmts[i];
    if (i == n - 1 && st->kind == FL_STMT_EXPR && !st->damaged) {
      FlSpan outer = s->b.span;
      s->b.span = st->span;
      FlVal v = fl_sema_expr_or_groups(s, st->expr, want);
      s->b.span = outer;
      return v;
    }
    fl_sema_stmt(s, st);
    if (i + 1 < n && s->loop_skip && has_jumps(st)) {
      if (is_jump(st)) {
        fl_report(s->sink, FL_W0002, stmts[i + 1]->span, "this is never reached");
        return fl_val_none(s);
      }
      Rest rest = {stmts + i + 1, n - i - 1};
      unless_jumped(s, rest.stmts, rest.n, st->span, (FlThunk){.run = run_rest, .env = &rest});
      return fl_val_none(s);
    }
  }
  return fl_val_none(s);
}

/* ---- blocks with many jumps ---- */

/* Jumps in a block, what follows each of which stands within the test of the one before. A block with more is
 * a row of such tests, so that code is not nested as deep as there are jumps: each is of the statements up to
 * the next jump, or, where these bind names, of all that is left and sees them. */
enum { NESTED_JUMPS = 64 };

static void run_row(FlSema *s, FlStmt *const *stmts, int n);

typedef struct Group {
  FlStmt *const *stmts;
  int own, n; /* up to and with the jump; with what sees the names that these bind */
  bool last;  /* of the block */
} Group;

static FlVal run_group(FlSema *s, void *env) {
  const Group *g = env;
  if (s->depth > FL_SEMA_DEPTH)
    return fl_sema_error(s, FL_E0206, g->stmts[0]->span, "`continue` and `break` are nested too deeply here");
  s->depth++;
  int n = g->last && g->own == g->n ? 0 : g->own; /* the last of the block may give a value */
  for (int i = 0; i < n; i++) fl_sema_stmt(s, g->stmts[i]);
  if (!n) run_stmts(s, g->stmts, g->n, NULL);
  else if (g->n > n) run_row(s, g->stmts + n, g->n - n);
  s->depth--;
  return fl_val_none(s);
}

static void run_row(FlSema *s, FlStmt *const *stmts, int n) {
  for (int at = 0; at < n;) {
    Group g = {.stmts = stmts + at};
    bool binds = false, jumps = false;
    while (at < n && !jumps) {
      const FlStmt *st = stmts[at++];
      binds = binds || st->damaged || st->kind == FL_STMT_LET || st->kind == FL_STMT_VAR;
      jumps = has_jumps(st);
      g.own++;
    }
    bool ends = is_jump(stmts[at - 1]);
    if (ends && at < n) fl_report(s->sink, FL_W0002, stmts[at]->span, "this is never reached");
    if (ends) n = at;
    if (binds) at = n;
    g.n = (int)(stmts + at - g.stmts);
    g.last = at == n;
    unless_jumped(s, g.stmts, g.n, g.stmts[0]->span, (FlThunk){.run = run_group, .env = &g});
  }
}

static bool has_many_jumps(const FlSema *s, const FlStmtList *stmts) {
  int n = 0;
  for (int i = 0; s->loop_skip && stmts->n > NESTED_JUMPS && i < stmts->n; i++) n += has_jumps(stmts->at[i]);
  return n > NESTED_JUMPS;
}

FlVal fl_sema_block(FlSema *s, const FlStmtList *stmts, const FlType *want) {
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  FlVal v = fl_val_none(s);
  if (has_many_jumps(s, stmts)) run_row(s, stmts->at, stmts->n);
  else v = run_stmts(s, stmts->at, stmts->n, want);
  for (int i = 0; i < stmts->n; i++)
    if (stmts->at[i]->damaged) v = fl_val_error(s);          /* what it gives may be what is missing */
  if (v.type->kind != FL_TY_FUNC) fl_scope_end(s, s->scope); /* a function may still use what it saw */
  s->scope = outer;
  return v;
}
