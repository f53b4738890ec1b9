/* control.c: blocks and statements: bindings, variables, assignments, if, match, loops, assert.
 *
 * Variables are SSA: a binding's value is the latest one; loops and branches carry those that they assign.
 * `break` and `continue` set flags, and what follows them in a body stands under a test of the flag. */
#include "sema/choose.h"
#include "sema/walk.h"

/* ---- patterns ---- */

static void bind_name(FlSema *s, FlName name, FlVal v, FlBindKind kind, const FlTypeExpr *declared) {
  if (fl_val_bad(v) && !s->sink->n_errors)
    fl_sema_error(s, FL_E0299, name.span, "flow did not understand this value, and does not know why");
  if (v.type->kind == FL_TY_NONE)
    v = fl_sema_error(s, FL_E0309, name.span, "there is no value to bind to `%s`", name.text);
  if (v.type->kind == FL_TY_NULL)
    v = fl_sema_error(s, FL_E0503, name.span,
                      "nothing says which type this null has; write `let %s: f64? = null`", name.text);
  if (kind == FL_BIND_VAR) {
    if (v.type->kind == FL_TY_FUNC)
      v = fl_sema_error(s, FL_E0310, name.span, "a variable cannot hold a function");
  }
  v.literal = FL_LIT_NONE; /* its type is settled */
  FlBinding *b = fl_scope_bind(s, s->scope, kind, name.text, name.span, v);
  b->declared = declared;
}

void fl_sema_bind_pattern(FlSema *s, const FlPat *p, FlVal v, FlBindKind kind, const FlTypeExpr *declared) {
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
      fl_sema_bind_pattern(s, q, part, kind, NULL);
    }
    return;
  }
  case FL_PAT_VALUE:
  case FL_PAT_RANGE:
    fl_sema_error(s, FL_E0317, p->span, "only names and tuples of names can be bound here");
    return;
  }
}

static void let(FlSema *s, const FlStmt *st) {
  const FlType *want = st->let.type ? fl_type_of_expr(s, st->let.type) : NULL;
  FlRefs *outer = s->refs, *refs = FL_NEW(s->arena, FlRefs);
  FlRegion *here = s->b.region;
  FlOp *after = here->last;
  s->refs = refs;
  FlVal v = fl_sema_expr(s, st->let.value, want);
  if (st->let.type) v = fl_bind_type(s, st->let.type, v, st->let.value->span, "the value");
  s->refs = outer;
  for (int i = 0; outer && i < refs->list.n; i++) fl_vec_push(s->arena, &outer->list, refs->list.at[i]);
  fl_sema_bind_pattern(s, st->let.pattern, v, st->kind == FL_STMT_VAR ? FL_BIND_VAR : FL_BIND_VALUE,
                       st->let.type);
  if (st->let.pattern->kind != FL_PAT_NAME || st->kind != FL_STMT_LET) return;
  FlBinding *b = fl_scope_find_in(s->scope, st->let.pattern->name.text);
  b->made_in = here;
  b->made_after = after;
  b->made_last = here->last;
  b->refs = refs;
}

/* ---- assignment ---- */

static FlVal store(FlSema *s, FlVal base, const FlExpr *target, FlVal v, FlSpan span) {
  const FlSubscriptList *subs = &target->index.subs;
  if (base.type->kind != FL_TY_ARRAY)
    return fl_sema_error(s, FL_E0318, target->span,
                         "only elements of arrays can be assigned, and this is in %s", fl_val_text(s, base));
  if (subs->n != base.type->rank)
    return fl_sema_error(s, FL_E0318, target->span,
                         "an assignment to an element takes %d position%s here, one for each dimension",
                         base.type->rank, base.type->rank == 1 ? "" : "s");
  FlValue *args[FL_MAX_RANK + 2];
  for (int i = 0; i < subs->n; i++) {
    const FlSubscript *sub = &subs->at[i];
    if (sub->kind != FL_SUB_VALUE)
      return fl_sema_error(s, FL_E0318, sub->span, "an assignment takes a position here");
    FlVal at = fl_sema_expr(s, sub->value, NULL);
    if (fl_val_bad(at)) return at;
    if (at.literal && at.negative && at.magnitude == 1)
      at = fl_val_scalar(s, FL_I64, fl_sema_op2(s, FL_OP_SUB, fl_sema_dim(s, base, i), fl_sema_i64(s, 1)));
    at = fl_val_coerce(s, at, fl_type_scalar(s->types, FL_I64, false), sub->span, "a position");
    if (fl_val_bad(at)) return at;
    args[i + 1] = at.parts[0];
  }
  v = fl_val_coerce(s, v, fl_type_scalar(s->types, base.type->dtype, base.type->nullable), span,
                    "the element");
  if (fl_val_bad(v)) return v;
  FlValue *parts[2];
  for (int p = 0; p < base.type->n_parts; p++) {
    args[0] = base.parts[p];
    args[subs->n + 1] = v.parts[p];
    parts[p] = fl_ir_op(&s->b, FL_OP_STORE, subs->n + 2, args, 1, &base.parts[p]->type, 0)->results[0];
  }
  return fl_val_make(s, base.type, parts);
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

static void assign_to(FlSema *s, const FlExpr *target, FlVal v, FlSpan span) {
  if (fl_val_bad(v)) return;
  switch (target->kind) {
  case FL_EXPR_NAME: {
    FlBinding *b = fl_scope_find(s, target->name.text);
    if (!b || b->kind != FL_BIND_VAR || b->frame != s->frame || fl_sema_is_script_var(s, b)) {
      FlDiag *d = fl_sema_report(s, b ? FL_E0207 : FL_E0201, target->span,
                                 b ? "`%s` cannot be assigned" : "there is no `%s`", target->name.text);
      if (b && b->kind == FL_BIND_VALUE) {
        fl_diag_note(s->sink, d, b->span, "it is bound here, once");
        fl_diag_help(s->sink, d, "declare it with `var`");
      }
      const char *near = b ? NULL : fl_scope_closest(s, target->name.text);
      if (near) fl_diag_help(s->sink, d, "did you mean `%s`?", near);
      return;
    }
    if (fl_val_bad(b->val)) return;
    FlVal c = fl_val_coerce(s, v, b->val.type, span, fl_arena_printf(s->arena, "`%s`", b->name));
    if (fl_val_bad(c)) return;
    c.literal = FL_LIT_NONE;
    same_sizes(s, b, c, span);
    b->val = c;
    return;
  }
  case FL_EXPR_INDEX: {
    FlVal base = fl_sema_expr(s, target->index.base, NULL);
    if (fl_val_bad(base)) return;
    FlVal next = store(s, base, target, v, span);
    if (fl_val_bad(next)) return;
    for (int p = 0; p < next.type->n_parts; p++) /* an element more or less changes no size */
      for (int k = 0; k < next.type->rank; k++) {
        FlValue *from = fl_ir_dim(&s->b, next.parts[p], k), *to = fl_ir_dim(&s->b, base.parts[0], k);
        if (from != to) fl_sema_alias(s, from, fl_sema_size(s, to));
      }
    assign_to(s, target->index.base, next, span);
    return;
  }
  case FL_EXPR_FIELD: {
    FlVal base = fl_sema_expr(s, target->field.base, NULL);
    if (fl_val_bad(base)) return;
    int k = base.type->kind == FL_TY_TUPLE ? fl_type_field_find(base.type, target->field.name.text) : -1;
    if (base.type->kind == FL_TY_TABLE) {
      FlDiag *d = fl_sema_report(s, FL_E0604, target->field.name.span, "columns are not assigned");
      fl_diag_help(s->sink, d, "make a new table with `derive(%s = ...)`", target->field.name.text);
      return;
    }
    if (k < 0) {
      fl_sema_error(s, FL_E0604, target->field.name.span, "%s has no field `%s` that could be assigned",
                    fl_val_text(s, base), target->field.name.text);
      return;
    }
    v = fl_val_coerce(s, v, base.type->fields[k].type, span, "the field");
    if (fl_val_bad(v)) return;
    FlVal next = fl_val_make(s, base.type, base.parts);
    for (int p = 0; p < v.type->n_parts; p++) next.parts[fl_type_field_part(base.type, k) + p] = v.parts[p];
    assign_to(s, target->field.base, next, span);
    return;
  }
  default: fl_sema_error(s, FL_E0207, target->span, "this cannot be assigned"); return;
  }
}

static void assign(FlSema *s, const FlStmt *st) {
  FlVal v;
  if (st->assign.add) {
    FlVal old = fl_sema_expr(s, st->assign.target, NULL);
    FlVal more = fl_sema_expr(s, st->assign.value, old.type);
    v = fl_sema_binary(s, FL_BIN_ADD, old, more, st->span, st->assign.target->span, st->assign.value->span);
  } else {
    const FlType *want = NULL;
    if (st->assign.target->kind == FL_EXPR_NAME) {
      FlBinding *b = fl_scope_find(s, st->assign.target->name.text);
      if (b && b->kind == FL_BIND_VAR) want = b->val.type;
    }
    v = fl_sema_expr(s, st->assign.value, want);
  }
  if (v.type->kind == FL_TY_NONE)
    v = fl_sema_error(s, FL_E0309, st->assign.value->span, "this gives no value");
  assign_to(s, st->assign.target, v, st->assign.value->span);
}

/* ---- assert ---- */

static void check_true(FlSema *s, FlVal c, FlSpan span, int n, FlValue *const *values, const char *message) {
  if (c.type->kind == FL_TY_ARRAY) { /* all of them */
    const FlBuiltin *all = fl_builtin_find("all");
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
  bool compares = e->kind == FL_EXPR_BINARY && e->binary.op >= FL_BIN_EQ && e->binary.op <= FL_BIN_NEAR;
  if (!compares) {
    FlVal c = fl_sema_expr(s, e, NULL);
    if (!fl_val_bad(c)) check_true(s, c, e->span, 0, NULL, "this is false");
    return;
  }
  FlVal a = fl_sema_expr(s, e->binary.left, NULL), b = fl_sema_expr(s, e->binary.right, a.type);
  if (fl_val_bad(a) || fl_val_bad(b)) return;
  FlVal c =
      fl_sema_binary(s, e->binary.op, a, b, e->binary.op_span, e->binary.left->span, e->binary.right->span);
  if (fl_val_bad(c)) return;
  bool scalars =
      a.type->kind == FL_TY_SCALAR && b.type->kind == FL_TY_SCALAR && !a.type->nullable && !b.type->nullable;
  if (scalars && a.literal) a = fl_val_as_literal_type(s, a, b.type->dtype, e->span);
  if (scalars && b.literal) b = fl_val_as_literal_type(s, b, a.type->dtype, e->span);
  if (scalars && a.type->dtype != b.type->dtype && fl_dtype_is_number(a.type->dtype) &&
      fl_dtype_is_number(b.type->dtype)) {
    FlDtype d;
    scalars = fl_promote(a.type->dtype, b.type->dtype, &d);
    if (scalars) {
      a = fl_val_coerce(s, a, fl_type_scalar(s->types, d, false), e->span, "the value");
      b = fl_val_coerce(s, b, fl_type_scalar(s->types, d, false), e->span, "the value");
    }
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

/* ---- loops ---- */

typedef struct Jumps {
  bool any_break, any_continue;
} Jumps;

static bool jump_stmt(void *env, const FlStmt *st) {
  Jumps *j = env;
  if (st->kind == FL_STMT_BREAK) j->any_break = true;
  if (st->kind == FL_STMT_CONTINUE) j->any_continue = true;
  return st->kind != FL_STMT_FOR && st->kind != FL_STMT_WHILE; /* those of inner loops are theirs */
}

static Jumps jumps_in(const FlStmt *st) {
  Jumps j = {0};
  FlWalker w = {&j, NULL, jump_stmt};
  fl_walk_stmt(&w, st);
  return j;
}

static Jumps jumps_in_body(const FlExpr *body) {
  Jumps j = {0};
  for (int i = 0; i < body->block.n; i++) {
    Jumps one = jumps_in(body->block.at[i]);
    j.any_break = j.any_break || one.any_break;
    j.any_continue = j.any_continue || one.any_continue;
  }
  return j;
}

typedef struct LoopBody {
  const FlExpr *body;
  const FlPat *pattern; /* NULL: while */
  FlVal element;        /* bound to it */
} LoopBody;

static FlVal run_body(FlSema *s, void *env) {
  LoopBody *l = env;
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (l->pattern) fl_sema_bind_pattern(s, l->pattern, l->element, FL_BIND_VALUE, NULL);
  FlVal v = fl_sema_block(s, &l->body->block, NULL);
  s->scope = outer;
  if (v.type->kind != FL_TY_NONE && v.type->kind != FL_TY_ERROR && v.type->kind != FL_TY_NEVER)
    fl_sema_error(s, FL_E0319, l->body->block.at[l->body->block.n - 1]->span, "this value is not used");
  return fl_val_none(s);
}

static FlBinding *flag(FlSema *s, const char *name) {
  FlVal no = fl_val_bool(s, false);
  FlBinding *b = fl_scope_bind(s, s->scope, FL_BIND_VAR, fl_intern_z(s->names, name), (FlSpan){0}, no);
  b->used = true;
  return b;
}

static FlRegion *loop_region(FlSema *s, FlOp *op, int lead, const FlVarList *vars, FlValue ***params) {
  int n = fl_vars_parts(vars);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + lead + 1);
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  fl_vars_get(vars, parts);
  for (int i = 0; i < lead; i++) types[i] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n; i++) types[lead + i] = parts[i]->type;
  FlRegion *r = fl_ir_region(&s->b, op, 0, lead + n, types);
  *params = r->params + lead;
  return r;
}

/* Variables with arrays keep their sizes through a loop: the sizes of the carried values are those before it.
 */
static void carried_sizes(FlSema *s, const FlVarList *vars, FlValue *const *before, FlValue *const *inside) {
  int at = 0;
  for (int i = 0; i < vars->n; i++) {
    const FlType *t = vars->at[i]->val.type;
    for (int p = 0; p < t->n_parts; p++, at++) {
      if (t->kind != FL_TY_ARRAY || vars->at[i]->declared) continue;
      for (int k = 0; k < t->rank; k++) {
        FlValue *from = fl_ir_dim(&s->b, inside[at], k),
                *to = fl_sema_size(s, fl_ir_dim(&s->b, before[at], k));
        if (from != to) fl_sema_alias(s, from, to);
      }
    }
  }
}

typedef struct WhileBody {
  LoopBody body;
  FlBinding *index, *skip; /* or NULL */
  const FlRangeVal *range; /* for: over a range, or over the elements of source */
  FlVal source;
} WhileBody;

static FlVal run_while_body(FlSema *s, void *env) {
  WhileBody *w = env;
  if (w->skip) w->skip->val = fl_val_bool(s, false);
  if (w->index) {
    FlValue *i = w->index->val.parts[0];
    w->body.element = w->range ? fl_val_scalar(s, FL_I64, fl_sema_range_at(s, w->range, i))
                               : fl_sema_at(s, w->source, i, true);
    w->index->val = fl_val_scalar(s, FL_I64, fl_sema_op2(s, FL_OP_WRAP_ADD, i, fl_sema_i64(s, 1)));
  }
  return run_body(s, &w->body);
}

/* while c { }, and for loops with break: carried values go round until the go-on value is false. */
static void loop_while(FlSema *s, const FlStmt *st, FlVarList *vars, FlBinding *brk, FlBinding *skip,
                       FlBinding *index, FlValue *count, FlVal source, const FlRangeVal *range) {
  int n = fl_vars_parts(vars);
  FlValue **before = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  fl_vars_get(vars, before);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) types[i] = before[i]->type;
  FlOp *op = fl_ir_op(&s->b, FL_OP_WHILE, n, before, n, types, 1);
  FlValue **params;
  FlRegion *r = loop_region(s, op, 0, vars, &params);
  FlSavedPlace saved = fl_sema_enter(s, r);
  carried_sizes(s, vars, before, params);
  fl_vars_set(s, vars, params);
  WhileBody w = {.body = {st->loop.body, st->loop.pattern, {0}},
                 .index = index,
                 .skip = skip,
                 .range = range,
                 .source = source};
  FlVal go = st->kind == FL_STMT_WHILE
                 ? fl_sema_expr(s, st->loop.source, NULL)
                 : fl_val_scalar(s, FL_BOOL, fl_sema_op2(s, FL_OP_LT, index->val.parts[0], count));
  if (brk && !fl_val_bad(go)) {
    FlValue *on = fl_sema_condition(s, go, st->loop.source->span, "`while`");
    if (on)
      go = fl_val_scalar(s, FL_BOOL,
                         fl_sema_op2(s, FL_OP_AND, on, fl_ir_unary(&s->b, FL_OP_NOT, brk->val.parts[0])));
    else go = fl_val_error(s);
  }
  FlValue *go_value = fl_sema_condition(s, go, st->loop.source->span, "`while`");
  if (go_value) {
    fl_sema_choose(s, go, st->loop.source->span, vars, (FlThunk){run_while_body, &w, st->loop.body->span},
                   (FlThunk){NULL, NULL, st->loop.body->span});
  }
  FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, n + 2);
  yields[0] = go_value ? go_value : fl_ir_const_i(&s->b, FL_BOOL, 0);
  fl_vars_get(vars, yields + 1);
  fl_ir_yield(r, s->module, n + 1, yields);
  fl_sema_leave(s, saved);
  fl_vars_set(s, vars, op->results);
  carried_sizes(s, vars, before, op->results);
}

static void loop_counted(FlSema *s, const FlStmt *st, FlVarList *vars, FlValue *count, FlVal source,
                         const FlRangeVal *range, FlBinding *skip) {
  int n = fl_vars_parts(vars);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 2);
  args[0] = fl_sema_i64(s, 0);
  args[1] = count;
  fl_vars_get(vars, args + 2);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) types[i] = args[2 + i]->type;
  FlOp *op = fl_ir_op(&s->b, FL_OP_FOR, n + 2, args, n, types, 1);
  FlValue **params;
  FlRegion *r = loop_region(s, op, 1, vars, &params);
  FlSavedPlace saved = fl_sema_enter(s, r);
  carried_sizes(s, vars, args + 2, params);
  fl_vars_set(s, vars, params);
  if (skip) skip->val = fl_val_bool(s, false);
  LoopBody body = {st->loop.body, st->loop.pattern,
                   range ? fl_val_scalar(s, FL_I64, fl_sema_range_at(s, range, r->params[0]))
                         : fl_sema_at(s, source, r->params[0], true)};
  run_body(s, &body);
  FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  fl_vars_get(vars, yields);
  fl_ir_yield(r, s->module, n, yields);
  fl_sema_leave(s, saved);
  fl_vars_set(s, vars, op->results);
  carried_sizes(s, vars, args + 2, op->results);
}

static void loop(FlSema *s, const FlStmt *st) {
  FlScope *outer = s->scope;
  FlBinding *outer_break = s->loop_break, *outer_skip = s->loop_skip;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  s->b.span = st->loop.source->span;
  Jumps jumps = jumps_in_body(st->loop.body);
  FlRangeVal range, *r = NULL;
  FlVal source = {0};
  FlValue *count = NULL;
  bool ok = true;
  if (st->kind == FL_STMT_FOR) {
    if (st->loop.source->kind == FL_EXPR_RANGE) {
      ok = fl_sema_range(s, st->loop.source, &range);
      r = &range;
      if (ok) count = range.count;
    } else {
      source = fl_sema_expr(s, st->loop.source, NULL);
      ok = !fl_val_bad(source);
      bool many = ok && (source.type->kind == FL_TY_ARRAY || source.type->kind == FL_TY_TABLE ||
                         source.type->kind == FL_TY_LIST);
      if (ok && !many) {
        fl_sema_error(s, FL_E0314, st->loop.source->span,
                      "`for` goes over a range, an array, a table or a list, and this is %s",
                      fl_val_text(s, source));
        ok = false;
      }
      if (ok) count = fl_sema_dim(s, source, 0);
    }
  }
  if (ok) {
    FlVarList vars = {0};
    fl_vars_of_expr(s, &vars, st->loop.body);
    bool as_while = st->kind == FL_STMT_WHILE || jumps.any_break;
    FlBinding *brk = jumps.any_break ? flag(s, "break flag") : NULL;
    FlBinding *skip = jumps.any_break || jumps.any_continue ? flag(s, "skip flag") : NULL;
    FlBinding *index = NULL;
    s->loop_break = brk;
    s->loop_skip = skip;
    if (brk) fl_vars_add(s, &vars, brk);
    if (skip) fl_vars_add(s, &vars, skip);
    if (as_while && st->kind == FL_STMT_FOR) {
      index = flag(s, "loop index");
      index->val = fl_val_i64(s, 0);
      fl_vars_add(s, &vars, index);
    }
    if (as_while) loop_while(s, st, &vars, brk, skip, index, count, source, r);
    else loop_counted(s, st, &vars, count, source, r, skip);
  }
  s->scope = outer;
  s->loop_break = outer_break;
  s->loop_skip = outer_skip;
}

static void jump(FlSema *s, const FlStmt *st) {
  bool is_break = st->kind == FL_STMT_BREAK;
  if (!s->loop_skip) {
    fl_sema_error(s, FL_E0320, st->span, "`%s` stands outside of a loop", is_break ? "break" : "continue");
    return;
  }
  s->loop_skip->val = fl_val_bool(s, true);
  if (is_break) s->loop_break->val = fl_val_bool(s, true);
}

/* ---- statements and blocks ---- */

void fl_sema_stmt(FlSema *s, const FlStmt *st) {
  FlSpan outer = s->b.span;
  s->b.span = st->span;
  switch (st->kind) {
  case FL_STMT_ERROR: break;
  case FL_STMT_LET:
  case FL_STMT_VAR: let(s, st); break;
  case FL_STMT_ASSIGN: assign(s, st); break;
  case FL_STMT_EXPR: {
    FlVal v = fl_sema_expr(s, st->expr, NULL);
    if (v.type->kind != FL_TY_NONE && v.type->kind != FL_TY_ERROR && v.type->kind != FL_TY_NEVER) {
      FlDiag *d = fl_sema_report(s, FL_E0319, st->span, "this value is not used");
      fl_diag_help(s->sink, d, "bind it with `let`, or make it the last line of the block to return it");
    }
    break;
  }
  case FL_STMT_FOR:
  case FL_STMT_WHILE: loop(s, st); break;
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE: jump(s, st); break;
  case FL_STMT_ASSERT: do_assert(s, st); break;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN:
  case FL_STMT_TYPE:
  case FL_STMT_PARAM:
  case FL_STMT_IMPORT:
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
  run_stmts(s, r->stmts, r->n, NULL);
  return fl_val_none(s);
}

static FlVal run_stmts(FlSema *s, FlStmt *const *stmts, int n, const FlType *want) {
  for (int i = 0; i < n; i++) {
    const FlStmt *st = stmts[i];
    if (i == n - 1 && st->kind == FL_STMT_EXPR) {
      FlSpan outer = s->b.span;
      s->b.span = st->span;
      FlVal v = fl_sema_expr(s, st->expr, want);
      s->b.span = outer;
      return v;
    }
    fl_sema_stmt(s, st);
    Jumps j = s->loop_skip ? jumps_in(st) : (Jumps){0};
    if ((j.any_break || j.any_continue) && i + 1 < n) {
      if (st->kind == FL_STMT_BREAK || st->kind == FL_STMT_CONTINUE) {
        fl_report(s->sink, FL_W0002, stmts[i + 1]->span, "this is never reached");
        return fl_val_none(s);
      }
      Rest rest = {stmts + i + 1, n - i - 1};
      FlVarList vars = {0};
      fl_vars_of_stmts(s, &vars, rest.stmts, rest.n);
      if (s->loop_break) fl_vars_add(s, &vars, s->loop_break);
      fl_vars_add(s, &vars, s->loop_skip);
      FlVal go = fl_val_scalar(s, FL_BOOL, fl_ir_unary(&s->b, FL_OP_NOT, s->loop_skip->val.parts[0]));
      fl_sema_choose(s, go, st->span, &vars, (FlThunk){run_rest, &rest, stmts[i + 1]->span},
                     (FlThunk){NULL, NULL, st->span});
      return fl_val_none(s);
    }
  }
  return fl_val_none(s);
}

FlVal fl_sema_block(FlSema *s, const FlStmtList *stmts, const FlType *want) {
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  FlVal v = run_stmts(s, stmts->at, stmts->n, want);
  if (v.type->kind != FL_TY_FUNC) fl_scope_end(s, s->scope); /* a function may still use what it saw */
  s->scope = outer;
  return v;
}

/* ---- if and match ---- */

typedef struct ExprThunk {
  const FlExpr *e;
  const FlType *want;
} ExprThunk;

static FlVal run_expr(FlSema *s, void *env) {
  ExprThunk *t = env;
  return fl_sema_expr(s, t->e, t->want);
}

/* The flags of `break` and `continue` are carried where the code sets them. */
static void add_flags(FlSema *s, FlVarList *vars, const FlExpr *e) {
  Jumps j = {0};
  FlWalker w = {&j, NULL, jump_stmt};
  if (e) fl_walk_expr(&w, e);
  if (!j.any_break && !j.any_continue) return;
  if (s->loop_break) fl_vars_add(s, vars, s->loop_break);
  if (s->loop_skip) fl_vars_add(s, vars, s->loop_skip);
}

FlVal fl_sema_if(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal c = fl_sema_expr(s, e->if_else.condition, NULL);
  FlVarList vars = {0};
  fl_vars_of_expr(s, &vars, e->if_else.then);
  if (e->if_else.otherwise) fl_vars_of_expr(s, &vars, e->if_else.otherwise);
  if (c.type->kind == FL_TY_SCALAR) {
    add_flags(s, &vars, e->if_else.then);
    add_flags(s, &vars, e->if_else.otherwise);
  }
  ExprThunk yes = {e->if_else.then, want}, no = {e->if_else.otherwise, want};
  FlThunk otherwise = {e->if_else.otherwise ? run_expr : NULL, &no,
                       e->if_else.otherwise ? e->if_else.otherwise->span : e->span};
  return fl_sema_choose(s, c, e->if_else.condition->span, &vars,
                        (FlThunk){run_expr, &yes, e->if_else.then->span}, otherwise);
}

typedef struct MatchArms {
  const FlExpr *e;
  const FlType *want;
  FlVal subject;
  int arm;
  FlVarList *vars;
  bool bool_true, bool_false;
} MatchArms;

static FlVal match_from(FlSema *s, void *env);

static FlVal arm_body(FlSema *s, void *env) {
  MatchArms *m = env;
  const FlArm *arm = &m->e->match.arms.at[m->arm];
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (arm->pattern->kind == FL_PAT_NAME || arm->pattern->kind == FL_PAT_TUPLE)
    fl_sema_bind_pattern(s, arm->pattern, m->subject, FL_BIND_VALUE, NULL);
  FlVal v = fl_sema_expr(s, arm->body, m->want);
  s->scope = outer;
  return v;
}

/* Is the subject what the pattern says? NULL type: always. */
static FlVal arm_test(FlSema *s, MatchArms *m, const FlPat *p) {
  FlVal x = m->subject;
  FlVal test = {0};
  bool nullable = (x.type->kind == FL_TY_SCALAR || x.type->kind == FL_TY_ARRAY) && x.type->nullable;
  switch (p->kind) {
  case FL_PAT_VALUE:
    if (p->value->kind == FL_EXPR_NULL) {
      if (!nullable)
        return fl_sema_error(s, FL_E0504, p->span, "this is never null, so `null` never matches");
      FlVal valid = x.type->kind == FL_TY_SCALAR ? fl_val_scalar(s, FL_BOOL, x.parts[1])
                                                 : fl_val_array(s, FL_BOOL, x.type->rank, x.parts[1]);
      return fl_sema_not(s, valid, p->span);
    }
    test = fl_sema_binary(s, FL_BIN_EQ, x, fl_sema_expr(s, p->value, NULL), p->span,
                          m->e->match.subject->span, p->span);
    break;
  case FL_PAT_RANGE: {
    FlVal lo = {0}, hi = {0};
    if (p->range.lo)
      lo = fl_sema_binary(s, FL_BIN_GE, x, fl_sema_expr(s, p->range.lo, NULL), p->span, p->span, p->span);
    if (p->range.hi)
      hi = fl_sema_binary(s, FL_BIN_LT, x, fl_sema_expr(s, p->range.hi, NULL), p->span, p->span, p->span);
    test = lo.type && hi.type ? fl_sema_binary(s, FL_BIN_AND, lo, hi, p->span, p->span, p->span)
           : lo.type          ? lo
                              : hi;
    break;
  }
  case FL_PAT_ERROR: return fl_val_error(s);
  case FL_PAT_ANY:
  case FL_PAT_NAME:
  case FL_PAT_TUPLE: return test;
  }
  return fl_val_bad(test) ? test : fl_val_plain(s, test); /* a null matches no value: false stands under it */
}

static FlVal arm_guard(FlSema *s, MatchArms *m, const FlArm *arm) {
  FlScope *outer = s->scope;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  if (arm->pattern->kind == FL_PAT_NAME)
    fl_sema_bind_pattern(s, arm->pattern, m->subject, FL_BIND_VALUE, NULL);
  FlVal g = fl_sema_expr(s, arm->guard, NULL);
  s->scope = outer;
  if (fl_val_bad(g)) return g;
  if (g.type->kind != FL_TY_SCALAR && g.type->kind != FL_TY_ARRAY) return g;
  return fl_val_plain(s, g);
}

static FlVal match_from(FlSema *s, void *env) {
  MatchArms m = *(MatchArms *)env;
  const FlExpr *e = m.e;
  if (m.arm == e->match.arms.n) {
    FlDiag *d = fl_sema_report(s, FL_E0321, e->match.subject->span,
                               "this `match` does not say what happens with every value");
    fl_diag_help(s->sink, d, "add an arm `_ => ...` at the end");
    return fl_val_error(s);
  }
  const FlArm *arm = &e->match.arms.at[m.arm];
  FlVal test = arm_test(s, &m, arm->pattern);
  if (test.type && fl_val_bad(test)) return test;
  if (arm->guard) {
    FlVal g = arm_guard(s, &m, arm);
    if (fl_val_bad(g)) return g;
    test = test.type ? fl_sema_binary(s, FL_BIN_AND, test, g, arm->guard->span, arm->pattern->span,
                                      arm->guard->span)
                     : g;
    if (fl_val_bad(test)) return test;
  }
  if (!test.type) return arm_body(s, &m);
  if (arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_BOOL && !arm->guard) {
    if (arm->pattern->value->boolean) m.bool_true = true;
    else m.bool_false = true;
    bool nullable = m.subject.type->nullable;
    if (m.bool_true && m.bool_false && !nullable) return arm_body(s, &m); /* nothing else is left */
  }
  MatchArms next = m;
  next.arm++;
  if (arm->pattern->kind == FL_PAT_VALUE && arm->pattern->value->kind == FL_EXPR_NULL && !arm->guard)
    next.subject = fl_val_plain(s, m.subject);
  return fl_sema_choose(
      s, test, arm->pattern->span, m.vars, (FlThunk){arm_body, &m, arm->body->span},
      (FlThunk){match_from, &next,
                m.arm + 1 < e->match.arms.n ? e->match.arms.at[m.arm + 1].body->span : e->span});
}

FlVal fl_sema_match(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal x = fl_sema_expr(s, e->match.subject, NULL);
  if (fl_val_bad(x)) return x;
  FlVarList vars = {0};
  for (int i = 0; i < e->match.arms.n; i++) fl_vars_of_expr(s, &vars, e->match.arms.at[i].body);
  for (int i = 0; i < e->match.arms.n && x.type->kind == FL_TY_SCALAR; i++)
    add_flags(s, &vars, e->match.arms.at[i].body);
  MatchArms m = {e, want, x, 0, &vars, false, false};
  return match_from(s, &m);
}
