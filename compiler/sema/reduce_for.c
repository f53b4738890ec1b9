/* reduce_for.c: reductions over `for`: sum(for ...: e), best(for ...: t, by = field), f(for ...: e).
 *
 * In: a REDUCE node. Out: one REDUCE op over the positions of the generators, for the reductions that have
 * one and generators that are independent; else the array is made and the function called with it. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/for.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/verbs.h"

static const FlExpr *product_of(const FlExpr *e) {
  return e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_MUL ? e : NULL;
}

/* The product of a sum. Where both factors are floats of one type they are left apart, in `pair`: the sum
 * multiplies them itself. */
static FlVal summed_product(FlSema *s, const FlExpr *product, bool filtered, FlVal pair[2]) {
  const FlExpr *left = product->binary.left, *right = product->binary.right;
  FlVal a = fl_sema_expr(s, left, NULL), b = fl_sema_expr(s, right, NULL);
  FlDtype d;
  bool plain = !filtered && fl_sema_common_number(s, a, b, &d) && a.type->kind == FL_TY_SCALAR &&
               b.type->kind == FL_TY_SCALAR && !a.type->nullable && !b.type->nullable &&
               (fl_dtype_is_float(a.type->dtype) || fl_dtype_is_float(b.type->dtype));
  if (!plain) return fl_sema_binary(s, FL_BIN_MUL, a, b, product->binary.op_span, left->span, right->span);
  const FlType *type = fl_type_scalar(s->types, d, false);
  pair[0] = fl_val_coerce(s, a, type, left->span, "the factor");
  pair[1] = fl_val_coerce(s, b, type, right->span, "the factor");
  return fl_val_bad(pair[1]) ? pair[1] : pair[0];
}

/* What is reduced at one position. */
static FlVal element(FlSema *s, const char *kind, const FlExpr *body, bool filtered, FlVal pair[2]) {
  const FlExpr *product = strcmp(kind, "sum") == 0 ? product_of(body) : NULL;
  FlVal v = product ? summed_product(s, product, filtered, pair) : fl_for_body(s, body);
  return fl_val_bad(v) ? v : fl_sema_reduce_element(s, kind, v, body->span);
}

/* The same, evaluated only where it is kept; zero elsewhere. */
static FlVal element_where(FlSema *s, FlValue *keep, const char *kind, const FlExpr *body) {
  FlVal pair[2];
  FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &keep, 0, NULL, 2);
  FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  FlVal v = element(s, kind, body, true, pair);
  if (!fl_val_bad(v)) fl_ir_yield(yes, s->module, v.type->n_parts, v.parts);
  fl_sema_leave(s, saved);
  if (fl_val_bad(v)) return v;
  FlType1 types[2]; /* reductions take no categories */
  fl_type_parts(v.type, types);
  FlRegion *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
  saved = fl_sema_enter(s, no);
  FlValue *zeros[2];
  for (int p = 0; p < v.type->n_parts; p++) zeros[p] = fl_val_zero(s, (FlDtype)types[p].dtype);
  fl_ir_yield(no, s->module, v.type->n_parts, zeros);
  fl_sema_leave(s, saved);
  fl_ir_add_results(&s->b, branch, v.type->n_parts, types);
  return fl_val_make(s, v.type, branch->results);
}

static FlVal reduce_head(FlSema *s, const FlForHead *h, const char *kind, const FlExpr *body) {
  FlRegion *r;
  FlOp *op = fl_for_op(s, FL_OP_REDUCE, h, &r);
  FlInside in = fl_for_enter(s, r);
  fl_for_bind(s, h, r->params);
  FlValue *keep = h->filters.n ? fl_for_filters(s, h) : NULL;
  FlVal v = fl_val_error(s), pair[2] = {{0}};
  if (!h->filters.n) v = element(s, kind, body, false, pair);
  else if (keep) v = element_where(s, keep, kind, body);
  FlValue *valid = fl_val_bad(v) ? NULL : fl_val_valid(s, v);
  if (valid) keep = keep ? fl_sema_op2(s, FL_OP_AND, keep, valid) : valid;
  if (!fl_val_bad(v)) {
    FlValue *yields[3] = {v.parts[0]};
    int n = 1;
    if (pair[0].type) {
      yields[0] = pair[0].parts[0];
      yields[n++] = pair[1].parts[0];
    }
    if (keep) yields[n++] = keep;
    fl_ir_yield(r, s->module, n, yields);
  }
  fl_for_leave(s, in);
  if (fl_val_bad(v)) {
    fl_ir_remove(op);
    return v;
  }
  return fl_sema_reduce_finish(s, op, pair[0].type ? "sum_product" : kind, v.type->dtype, keep != NULL,
                               fl_for_count(s, h));
}

/* best(for ...: (k = k, score = x), by = score): the element whose `by` is largest, the first of equals. */
static FlVal best(FlSema *s, const FlExpr *e, FlVal all) {
  const FlArgList *rest = &e->reduce.rest;
  if (rest->n != 1 || !rest->at[0].name.text || strcmp(rest->at[0].name.text, "by") != 0 ||
      all.type->kind != FL_TY_TABLE)
    return fl_sema_error(s, FL_E0210, e->span,
                         "`best` takes `for ...: (a = ..., b = ...)`, then `by =` one of the fields");
  int k = fl_verb_column(s, all, rest->at[0].value);
  if (k < 0) return fl_val_error(s);
  FlActual by = {.value = fl_val_field(s, all, k), .span = rest->at[0].span};
  FlAggContext *agg = s->agg; /* of a verb around: its aggregates are of columns */
  s->agg = NULL;
  FlVal at = fl_sema_call_builtin(s, fl_builtin_find(s, "argmax"), 1, &by, e->span, NULL);
  s->agg = agg;
  return fl_val_bad(at) ? at : fl_sema_at(s, all, at.parts[0], true);
}

FlVal fl_sema_reduce_for(FlSema *s, const FlExpr *e) {
  const FlExpr *f = e->reduce.func;
  const FlComprehension *c = &e->reduce.comprehension;
  const char *name = f->kind == FL_EXPR_NAME ? f->name.text : "";
  FlForHead h;
  if (!fl_for_read(s, &c->clauses, &h)) return fl_val_error(s);
  if (fl_sema_reduces(name) && e->reduce.rest.n == 0 && !h.tail.n) return reduce_head(s, &h, name, c->body);
  FlVal all = fl_for_elements(s, &h, c->body);
  if (fl_val_bad(all)) return all;
  if (strcmp(name, "best") == 0 && !fl_scope_find(s, name)) return best(s, e, all);
  /* Any other function takes the array. */
  FlExpr call = {.kind = FL_EXPR_CALL, .span = e->span};
  call.call.func = e->reduce.func;
  call.call.args = e->reduce.rest;
  return fl_sema_call(s, fl_arena_copy(s->arena, &call, sizeof call), &all, c->body->span, NULL);
}
