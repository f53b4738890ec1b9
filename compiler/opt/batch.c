/* batch.c: the determinants of matrices that lie side by side are one operator. A MAP whose element k is the
 * determinant of a[k, .., ..] makes an array of it and calls the operator for each k; where the matrices are
 * small, most of the time goes there.
 *
 * What always holds: that all of `a` is taken, its matrices are square, and no check of the MAP fails, is
 * looked at when it runs; else the MAP does as before. The operator gives the bits and the errors of it. */
#include "opt/opt_internal.h"

/* The array of which `copy`, in the region of position k, copies the matrix [k, .., ..]; NULL: it is none. */
static FlValue *side_by_side(const FlOp *copy, const FlRegion *each) {
  if (!copy || copy->code != FL_OP_MAP || copy->parent != each || copy->n_args != 2 || copy->n_results != 1)
    return NULL;
  const FlRegion *r = copy->regions[0];
  const FlOp *load = r->first;
  if (!load || load != r->last || load->code != FL_OP_LOAD || load->n_args != 4) return NULL;
  FlValue *a = load->args[0];
  bool rows = load->args[1] == each->params[0] && load->args[2] == r->params[0] &&
              load->args[3] == r->params[1] && r->yields[0] == load->results[0];
  bool outside = !fl_ir_inside(a->region, each) && !fl_ir_inside(copy->args[0]->region, each) &&
                 !fl_ir_inside(copy->args[1]->region, each);
  return rows && outside && a->type.rank == 3 && !a->type.depth ? a : NULL;
}

/* Is op a check that is the same for all positions of the region? */
static bool is_fixed(const FlOp *op, const FlRegion *each) {
  if (op->code != FL_OP_CHECK) return false;
  for (int i = 0; i < op->n_args; i++)
    if (fl_ir_inside(op->args[i]->region, each)) return false;
  return true;
}

/* The determinant that is all of a MAP; NULL: it is none, or not alone. */
static const FlOp *det_alone(const FlOp *map) {
  if (map->code != FL_OP_MAP || map->n_args != 1 || map->n_results != 1 || map->results[0]->type.depth)
    return NULL;
  const FlRegion *each = map->regions[0];
  const FlOp *det = each->last;
  if (!det || det->code != FL_OP_LINALG_DET || each->yields[0] != det->results[0] ||
      !side_by_side(det->args[0]->op, each))
    return NULL;
  for (const FlOp *op = each->first; op != det; op = op->next)
    if (op != det->args[0]->op && !is_fixed(op, each)) return NULL;
  return det;
}

/* Puts the MAP in the second branch of an IF, whose first one is the operator. */
static FlOp *choice(FlOp *map, const FlOp *det) {
  FlBuilder b = fl_opt_before(map);
  const FlOp *copy = det->args[0]->op;
  FlValue *a = side_by_side(copy, map->regions[0]), *side = fl_ir_dim(&b, a, 1);
  FlValue *ok = fl_ir_binary(&b, FL_OP_EQ, map->args[0], fl_ir_dim(&b, a, 0));
  ok = fl_ir_binary(&b, FL_OP_AND, fl_ir_binary(&b, FL_OP_EQ, side, fl_ir_dim(&b, a, 2)), ok);
  for (int k = 0; k < 2; k++)
    ok = fl_ir_binary(&b, FL_OP_AND, fl_ir_binary(&b, FL_OP_EQ, copy->args[k], side), ok);
  for (const FlOp *op = map->regions[0]->first; op; op = op->next)
    if (op->code == FL_OP_CHECK) ok = fl_ir_binary(&b, FL_OP_AND, op->args[0], ok);
  FlOp *either = fl_opt_instead(map, ok, FL_OP_LINALG_DET, 1, &a, &map->results[0]->type);
  FlOp *dets = either->regions[0]->first;
  dets->attrs = det->attrs;
  dets->span = det->span;
  return either;
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    const FlOp *det = det_alone(op);
    if (det) fl_subst_set(s, op->results[0], choice(op, det)->results[0]);
  }
  fl_subst_yields(s, r);
}

void fl_opt_batch(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
