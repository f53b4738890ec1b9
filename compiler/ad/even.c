/* even.c: loops in loops whose sizes depend on the loops around them get the largest of these sizes, and run
 * only where their own reaches. */
#include "ad/normalize.h"

#include <string.h>

typedef struct Size {
  const FlNorm *p;
  int n;
  FlOp *const *chain;
  FlValue *size;
} Size;

/* The size at one turn of the loops of the chain. */
static FlValue *at_turn(FlBuilder *b, FlValue *const *index, void *env) {
  const Size *s = env;
  FlAdFrame f = fl_ad_frame(s->p->ad, NULL, *b, false, NULL);
  for (int k = 0, at = 0; k < s->n; k++)
    for (int i = 0; i < s->chain[k]->n_args; i++)
      fl_ad_put(&f, s->chain[k]->regions[0]->params[i], index[at++]);
  FlValue *v = fl_norm_pull(&f, s->p->top, s->size);
  *b = f.b;
  return v;
}

/* DIMs of the loop's arrays along the axis are the size that it had. */
static void forget_dims(const FlNorm *p, FlRegion *r, const FlOp *map, int axis) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) forget_dims(p, op->regions[i], map, axis);
    if (op->code != FL_OP_DIM || op->args[0]->op != map || op->attrs.i != axis) continue;
    fl_ir_replace_in(p->top->regions[0], op->results[0], map->args[axis]);
    fl_ir_remove(op);
  }
}

bool fl_norm_even(FlNorm *p, int n, FlOp *const *chain) {
  FlOp *loop = chain[n - 1];
  FlValue *sizes[FL_MAX_RANK], *c = NULL, *most[FL_MAX_RANK] = {0};
  bool place = loop->n_args > 1 && (fl_ir_reduces(loop, FL_RED_ARGMIN) || fl_ir_reduces(loop, FL_RED_ARGMAX));
  FlAdFrame host = fl_ad_frame(p->ad, NULL, p->b, false, NULL);
  int at = 0;
  for (int k = 0; k < n - 1; k++)
    for (int i = 0; i < chain[k]->n_args; i++) sizes[at++] = fl_norm_pull(&host, p->top, chain[k]->args[i]);
  FlRegion *r = loop->regions[0];
  FlBuilder in = fl_norm_into(p, r);
  in.before = r->first;
  for (int d = 0; d < loop->n_args; d++) {
    if (fl_ad_size_is_fixed(p->top, loop->args[d])) continue;
    if (place) return fl_ad_fail(p->ad, loop->span, "positions in loops of dependent sizes");
    Size s = {p, n - 1, chain, loop->args[d]};
    most[d] = fl_norm_most(p, &p->b, at, sizes, at_turn, &s);
    FlValue *reaches = fl_ir_binary(&in, FL_OP_LT, r->params[d], loop->args[d]);
    c = c ? fl_ir_binary(&in, FL_OP_AND, c, reaches) : reaches;
  }
  if (!c) return true;
  fl_norm_guard(p, loop, c, c->op);
  for (int d = 0; d < loop->n_args; d++) {
    if (!most[d]) continue;
    forget_dims(p, p->top->regions[0], loop, d);
    loop->args[d] = most[d];
  }
  fl_ad_mark(p->ad);
  fl_norm_hoist(p, r);
  return true;
}
