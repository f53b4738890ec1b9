/* sum_parts.c: an element of a loop whose vectors are summed says of each part of its vector when it is
 * there.
 *
 *   %l = map %n {                          ->     %l = map %n {
 *     %w = matmul %x, %y                            %w = matmul %x, %y
 *                                                   sum_part<i=1> %w
 *     ..                                            ..
 *     %v = concat %u, %w                            %v = concat %u, %w
 *     yield %v }                                    yield %v }
 *   %s = sum_begin %k, %l, ..                     %s = sum_begin %k, %l, ..
 *
 * In: SUM_BEGIN of what a MAP gives, also out of branches. Out: SUM_PART behind what makes each argument of
 * the CONCAT. What always holds: nothing that is computed hangs on it; of several ranks each may send a part
 * while it computes the next one (runtime/exec/ranks_ahead.c). */
#include "opt/opt_internal.h"

/* What has the same elements in the same order. */
static FlValue *unshaped(FlValue *v) {
  while (v->op && v->op->code == FL_OP_RESHAPE) v = v->op->args[0];
  return v;
}

/* The op behind which v is there in the region; NULL: from its beginning on. */
static FlOp *made_by(const FlValue *v, const FlRegion *r) {
  return v->op && v->op->parent == r ? v->op : NULL;
}

static void say_part(FlOp *concat, int k) {
  FlRegion *r = concat->parent;
  FlValue *part = unshaped(concat->args[k]);
  const FlOp *maker = made_by(part, r);
  FlBuilder b = fl_opt_before(maker ? maker->next : r->first);
  if (part->type.dtype != FL_F64 || !part->type.rank || part->type.depth) return;
  fl_ir_op(&b, FL_OP_SUM_PART, 1, &part, 0, NULL, 0)->attrs.i = k;
}

/* Result k of the region is a vector that is summed. */
static void say_parts(const FlRegion *r, int k) {
  FlOp *op = r->yields[k]->op;
  int at = 0;
  if (!op || op->parent != r) return;
  if (op->code == FL_OP_CONCAT && op->n_args > 1)
    for (int i = 0; i < op->n_args; i++) say_part(op, i);
  if (op->code != FL_OP_IF) return;
  while (op->results[at] != r->yields[k]) at++;
  for (int i = 0; i < op->n_regions; i++) say_parts(op->regions[i], at);
}

/* The first sum of a list asks for it. */
static bool says_already(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_SUM_PART) return true;
    for (int i = 0; op->code == FL_OP_IF && i < op->n_regions; i++)
      if (says_already(op->regions[i])) return true;
  }
  return false;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    FlOp *map = op->code == FL_OP_SUM_BEGIN ? op->args[1]->op : NULL;
    if (!map || map->code != FL_OP_MAP || says_already(map->regions[0])) continue;
    for (int k = 0; k < map->n_results; k++)
      if (map->results[k] == op->args[1]) say_parts(map->regions[0], k);
  }
}

void fl_opt_sum_parts(FlModule *m) { fl_opt_each_body(m, visit); }
