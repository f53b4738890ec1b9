/* loops.c: `for`, `while`, `break` and `continue` as statements. In: the syntax. Out: FOR and WHILE that
 * carry the variables which their bodies assign. `break` and `continue` set flags, and what follows them in a
 * body stands under a test of the flag. */
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/loops.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

#include "sema/choose.h"

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
  int n = fl_vars_get(vars, NULL);
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
    FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
    int n = fl_val_cut(vars->at[i]->val, parts);
    for (int p = 0; p < n; p++, at++) {
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
  int n = fl_vars_get(vars, NULL);
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
  int n = fl_vars_get(vars, NULL);
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

void fl_sema_loop(FlSema *s, const FlStmt *st) {
  FlScope *outer = s->scope;
  FlBinding *outer_break = s->loop_break, *outer_skip = s->loop_skip;
  s->scope = fl_scope_push(s, outer, FL_SCOPE_PLAIN);
  s->b.span = st->loop.source->span;
  bool breaks = st->loop.body->has & FL_HAS_BREAK;
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
      if (ok) fl_sema_keep(s, source);
    }
  }
  if (ok) {
    FlVarList vars = {0};
    fl_vars_of_expr(s, &vars, st->loop.body);
    bool as_while = st->kind == FL_STMT_WHILE || breaks;
    FlBinding *brk = breaks ? flag(s, "break flag") : NULL;
    FlBinding *skip = st->loop.body->has & FL_HAS_JUMP ? flag(s, "skip flag") : NULL;
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

void fl_sema_jump(FlSema *s, const FlStmt *st) {
  bool is_break = st->kind == FL_STMT_BREAK;
  if (!s->loop_skip) {
    fl_sema_error(s, FL_E0320, st->span, "`%s` stands outside of a loop", is_break ? "break" : "continue");
    return;
  }
  s->loop_skip->val = fl_val_bool(s, true);
  if (is_break) s->loop_break->val = fl_val_bool(s, true);
}
