/* for.c: the clauses of `for ...`: generators, their positions, filters.
 *
 * In: the clauses of a comprehension or reduction. Out: what they go over, and an op whose region sees their
 * names. What always holds: the generators of a head are independent, so they are the axes of one op; what
 * depends on them is left as the tail. */
#include "sema/expr.h"
#include "sema/for.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"

/* ---- dependence ---- */

typedef struct NameSet {
  FlVec(const char *) names;
  bool hit;
  FlArena *arena;
} NameSet;

static void add_names(NameSet *set, const FlPat *p) {
  if (p->kind == FL_PAT_NAME) fl_vec_push(set->arena, &set->names, p->name.text);
  if (p->kind == FL_PAT_TUPLE)
    for (int i = 0; i < p->tuple.n; i++) add_names(set, p->tuple.at[i]);
}

static bool uses_name(void *env, const FlExpr *e) {
  NameSet *set = env;
  if (e->kind == FL_EXPR_NAME)
    for (int i = 0; i < set->names.n; i++) set->hit = set->hit || set->names.at[i] == e->name.text;
  return !set->hit;
}

static bool depends(NameSet *set, const FlExpr *e) {
  set->hit = false;
  FlWalker w = {set, uses_name, NULL};
  fl_syntax_walk_expr(&w, e);
  return set->hit;
}

bool fl_for_read(FlSema *s, const FlClauseList *clauses, FlForHead *h) {
  NameSet set = {.arena = s->arena};
  *h = (FlForHead){0};
  bool ok = true;
  for (int i = 0; i < clauses->n; i++) {
    const FlClause *c = &clauses->at[i];
    if (!c->pattern) {
      fl_vec_push(s->arena, &h->filters, c->source);
      continue;
    }
    if (h->n == FL_MAX_GENERATORS || (h->n && depends(&set, c->source))) {
      h->tail = (FlClauseList){.at = clauses->at + i, .n = clauses->n - i, .cap = clauses->n - i};
      return ok;
    }
    add_names(&set, c->pattern);
    FlGenerator *g = &h->at[h->n++];
    g->clause = c;
    g->is_range = c->source->kind == FL_EXPR_RANGE;
    s->b.span = c->source->span;
    if (g->is_range) {
      if (!fl_sema_range(s, c->source, &g->range)) ok = false;
      else g->count = g->range.count;
      continue;
    }
    g->source = fl_sema_expr(s, c->source, NULL);
    FlTyKind k = g->source.type->kind;
    if (k == FL_TY_ERROR) {
      ok = false;
    } else if (k != FL_TY_ARRAY && k != FL_TY_TABLE && k != FL_TY_LIST) {
      fl_sema_error(s, FL_E0314, c->source->span,
                    "`for` goes over a range, an array, a table or a list, and this is %s",
                    fl_val_text(s, g->source));
      ok = false;
    } else {
      g->count = fl_sema_dim(s, g->source, 0);
      fl_sema_keep(s, g->source);
    }
  }
  return ok;
}

void fl_for_bind(FlSema *s, const FlForHead *h, FlValue *const *index) {
  for (int i = 0; i < h->n; i++) {
    const FlGenerator *g = &h->at[i];
    FlVal v = g->is_range ? fl_val_scalar(s, FL_I64, fl_sema_range_at(s, &g->range, index[i]))
                          : fl_sema_at(s, g->source, index[i], true);
    fl_sema_bind_pattern(s, g->clause->pattern, v, FL_BIND_VALUE, NULL);
  }
}

static FlValue *filters_from(FlSema *s, const FlForHead *h, int from) {
  FlVal v = fl_sema_expr(s, h->filters.at[from], NULL);
  if (!fl_val_bad(v) && v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_BOOL)
    v = fl_val_plain(s, v); /* null: not kept */
  FlValue *first = fl_sema_condition(s, v, h->filters.at[from]->span, "a filter");
  if (!first || from + 1 == h->filters.n) return first;
  FlType1 type = fl_t_scalar(FL_BOOL);
  FlOp *op = fl_ir_op(&s->b, FL_OP_IF, 1, &first, 1, &type, 2);
  FlRegion *yes = fl_ir_region(&s->b, op, 0, 0, NULL), *no = fl_ir_region(&s->b, op, 1, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  FlValue *rest = filters_from(s, h, from + 1);
  if (rest) fl_ir_yield(yes, s->module, 1, &rest);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, no);
  FlValue *f = fl_ir_const_i(&s->b, FL_BOOL, 0);
  fl_ir_yield(no, s->module, 1, &f);
  fl_sema_leave(s, saved);
  return rest ? op->results[0] : NULL;
}

FlValue *fl_for_filters(FlSema *s, const FlForHead *h) { return filters_from(s, h, 0); }

/* ---- elaborating under the generators ---- */

FlInside fl_for_enter(FlSema *s, FlRegion *r) {
  FlInside in = {r, fl_sema_enter(s, r), s->pure, s->loop_break, s->loop_skip};
  s->loop_break = s->loop_skip = NULL;
  s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN);
  if (!s->pure) s->pure = "a comprehension";
  s->in_kernel++;
  return in;
}

void fl_for_leave(FlSema *s, FlInside in) {
  fl_sema_leave(s, in.saved);
  s->pure = in.pure;
  s->loop_break = in.loop_break;
  s->loop_skip = in.loop_skip;
  s->in_kernel--;
}

FlVal fl_for_body(FlSema *s, const FlExpr *body) {
  FlVal v = fl_sema_expr(s, body, NULL);
  if (v.type->kind == FL_TY_NONE)
    return fl_sema_error(s, FL_E0309, body->span, "the body of a comprehension must give a value");
  if (v.type->kind == FL_TY_NEVER || v.type->kind == FL_TY_FUNC || v.type->kind == FL_TY_NULL)
    return fl_sema_error(s, FL_E0309, body->span, "this gives no value that an array could hold");
  return v;
}

FlOp *fl_for_op(FlSema *s, FlOpcode code, const FlForHead *h, FlRegion **region) {
  FlValue *sizes[FL_MAX_GENERATORS];
  FlType1 i64s[FL_MAX_GENERATORS];
  for (int i = 0; i < h->n; i++) {
    sizes[i] = h->at[i].count;
    i64s[i] = fl_t_scalar(FL_I64);
  }
  FlOp *op = fl_ir_op(&s->b, code, h->n, sizes, 0, NULL, 1);
  *region = fl_ir_region(&s->b, op, 0, h->n, i64s);
  return op;
}

FlValue *fl_for_count(FlSema *s, const FlForHead *h) {
  FlValue *sizes[FL_MAX_GENERATORS];
  for (int i = 0; i < h->n; i++) sizes[i] = h->at[i].count;
  FlValue *n = fl_sema_product(s, h->n, sizes);
  fl_sema_mark_size(s, n);
  return n;
}
