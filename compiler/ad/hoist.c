/* hoist.c: loops under an IF of a loop over elements come out of it.
 *
 * In: a region. Out: the same, with no loop under an IF. What stands before such a loop in its branch is
 * computed by an IF of its own, and the region of the loop runs only where the condition holds: elsewhere a
 * REDUCE keeps nothing, a MAP gives zeros, a FOR hands its values on, and a WHILE ends. */
#include "ad/normalize.h"

static bool is_loop(const FlOp *op) {
  return op->code == FL_OP_MAP || op->code == FL_OP_REDUCE || op->code == FL_OP_FOR ||
         op->code == FL_OP_WHILE;
}

/* What no derivative passes through may stay, but for arrays. */
static bool moves(const FlAd *ad, const FlOp *op) {
  return op->code == FL_OP_MAP || (is_loop(op) && fl_ad_touches(ad, op));
}

static bool has_loop(const FlAd *ad, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (moves(ad, op)) return true;
    for (int i = 0; op->code == FL_OP_IF && i < 2; i++)
      if (has_loop(ad, op->regions[i])) return true;
  }
  return false;
}

/* An IF with empty regions before the builder's place. */
static FlOp *choice(FlBuilder *b, FlValue *c) {
  FlOp *op = fl_ir_op(b, FL_OP_IF, 1, &c, 0, NULL, 2);
  fl_ir_region(b, op, 0, 0, NULL);
  fl_ir_region(b, op, 1, 0, NULL);
  return op;
}

/* Gives an IF its yields: in its first region `yes`, in its second `no`, NULL: zeros. */
static void yields(const FlNorm *p, FlOp *op, int n, FlValue *const *yes, FlValue *const *no) {
  FlBuilder b = fl_norm_into(p, op->regions[1]);
  FlType1 *types = FL_NEW_ARRAY(p->ad->arena, FlType1, n + 1);
  FlValue **other = FL_NEW_ARRAY(p->ad->arena, FlValue *, n + 1);
  for (int k = 0; k < n; k++) {
    types[k] = yes[k]->type;
    other[k] = no && no[k] ? no[k] : fl_norm_zero(&b, types[k]);
  }
  fl_ir_yield(op->regions[0], p->b.module, n, yes);
  fl_ir_yield(op->regions[1], p->b.module, n, other);
  b.region = op->parent;
  fl_ir_add_results(&b, op, n, types);
}

void fl_norm_guard(const FlNorm *p, FlOp *loop, FlValue *c, FlOp *mark) {
  FlRegion *r = loop->regions[0];
  FlArena *arena = p->ad->arena;
  FlBuilder b = fl_norm_into(p, r);
  b.before = mark ? mark->next : r->first;
  b.span = loop->span;
  FlOp *op = choice(&b, c);
  fl_ir_move_into(r, op, NULL, op->regions[0]);
  int n = r->n_yields;
  FlValue **no = FL_NEW_ARRAY(arena, FlValue *, n + 1), **out = FL_NEW_ARRAY(arena, FlValue *, n + 1);
  for (int k = 0; loop->code == FL_OP_FOR && k < n; k++) no[k] = r->params[k + 1];
  for (int k = 1; loop->code == FL_OP_WHILE && k < n; k++) no[k] = r->params[k - 1];
  yields(p, op, n, r->yields, no);
  for (int k = 0; k < n; k++) out[k] = op->results[k];
  if (loop->code == FL_OP_REDUCE) {
    if (!loop->attrs.reductions[0].filtered) out[n++] = c;
    fl_ir_set_reduction(loop, loop->attrs.reductions[0].kind, true);
    loop->attrs.i |= FL_REDUCE_SOME;
  }
  fl_ir_yield(r, p->b.module, n, out);
}

/* What stands before `x` in a branch becomes an IF of its own, before the whole. */
static void split_before(const FlNorm *p, FlOp *whole, FlRegion *side, FlValue *c, FlOp *x) {
  if (side->first == x) return;
  FlBuilder b = fl_norm_before(p, whole);
  FlOp *part = choice(&b, c);
  FlRegion *r = part->regions[0];
  fl_ir_move_into(side, NULL, x, r);
  FlVec(FlValue *) used = {0};
  for (FlOp *op = r->first; op; op = op->next)
    for (int k = 0; k < op->n_results; k++)
      if (fl_ir_uses(side, op->results[k])) fl_vec_push(p->ad->arena, &used, op->results[k]);
  yields(p, part, used.n, used.at, NULL);
  for (int k = 0; k < used.n; k++) fl_ir_replace_in(side, used.at[k], part->results[k]);
}

static void hoist_side(FlNorm *p, FlOp *whole, int side, FlValue *c) {
  FlRegion *r = whole->regions[side];
  for (FlOp *x = r->first, *next; x; x = next) {
    next = x->next;
    if (!moves(p->ad, x)) continue;
    split_before(p, whole, r, c, x);
    fl_ir_move_before(x, whole);
    fl_norm_guard(p, x, c, NULL);
    fl_norm_hoist(p, x->regions[0]);
  }
}

void fl_norm_hoist(FlNorm *p, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (op->code != FL_OP_IF) {
      for (int i = 0; i < op->n_regions; i++) fl_norm_hoist(p, op->regions[i]);
      continue;
    }
    if (!has_loop(p->ad, op->regions[0]) && !has_loop(p->ad, op->regions[1])) continue;
    FlBuilder b = fl_norm_before(p, op);
    FlValue *c = op->args[0];
    fl_norm_hoist(p, op->regions[0]);
    hoist_side(p, op, 0, c);
    fl_norm_hoist(p, op->regions[1]);
    if (has_loop(p->ad, op->regions[1])) hoist_side(p, op, 1, fl_ir_unary(&b, FL_OP_NOT, c));
  }
}
