/* blocks.c: loops of tasks of which each reads a block of rows of an array: task b those from b size on, up
 * to (b + 1) size.
 *
 *   map %n { (b)   lo = b * size   hi = min(.., (b + 1) * size)
 *     map (hi - lo) { (i)  .. a[lo + i] .. }   or   rows a, lo, hi }
 *
 * In: a loop whose elements are tasks, and an array that it captures. Out: how many rows a block has. What
 * always holds: every use of the array in the loop is of that form, so that a task reads no other row. */
#include "plan/plan_internal.h"

static bool is_sum(const FlOp *op) { return op && (op->code == FL_OP_ADD || op->code == FL_OP_WRAP_ADD); }
static bool is_less(const FlOp *op) { return op && (op->code == FL_OP_SUB || op->code == FL_OP_WRAP_SUB); }
static bool is_times(const FlOp *op) { return op && (op->code == FL_OP_MUL || op->code == FL_OP_WRAP_MUL); }

/* v = task * size: the size; NULL: it is something else. */
static const FlValue *times(const FlValue *v, bool (*is_task)(const FlOp *loop, const FlValue *v),
                            const FlOp *loop) {
  if (!is_times(v->op)) return NULL;
  for (int k = 0; k < 2; k++)
    if (is_task(loop, v->op->args[k])) return v->op->args[1 - k];
  return NULL;
}

static bool is_element(const FlOp *loop, const FlValue *v) { return v == loop->regions[0]->params[0]; }

static bool is_next(const FlOp *loop, const FlValue *v) {
  for (int k = 0; is_sum(v->op) && k < 2; k++) {
    int64_t one;
    if (fl_ir_const_value_i(v->op->args[k], &one) && one == 1) return is_element(loop, v->op->args[1 - k]);
  }
  return false;
}

static bool same(const FlValue *a, const FlValue *b) {
  int64_t x, y;
  return a == b || (fl_ir_const_value_i(a, &x) && fl_ir_const_value_i(b, &y) && x == y);
}

/* Whether v is at most (task + 1) * size. */
static bool ends_block(const FlOp *loop, const FlValue *v, const FlValue *size) {
  const FlValue *its = times(v, is_next, loop);
  if (its) return same(its, size);
  if (!v->op || v->op->code != FL_OP_MIN) return false;
  return ends_block(loop, v->op->args[0], size) || ends_block(loop, v->op->args[1], size);
}

/* How many rounds the loop has that v counts; NULL: it counts none. */
static const FlValue *rounds_of(const FlValue *v) {
  const FlOp *in = v->op ? NULL : v->region->owner;
  if (!in || (in->code != FL_OP_MAP && in->code != FL_OP_REDUCE)) return NULL;
  for (int k = 0; k < in->n_args && k < v->region->n_params; k++)
    if (v->region->params[k] == v) return in->args[k];
  return NULL;
}

/* Of rows [from, to) that a task reads: those of its block; NULL: they may be any. */
static const FlValue *block_of(const FlOp *loop, const FlValue *from, const FlValue *to) {
  const FlValue *size = times(from, is_element, loop);
  return size && ends_block(loop, to, size) ? size : NULL;
}

/* The same of the one row `at`, which a loop over a block counts. */
static const FlValue *block_around(const FlOp *loop, const FlValue *at) {
  for (int k = 0; is_sum(at->op) && k < 2; k++) {
    const FlValue *from = at->op->args[k], *rounds = rounds_of(at->op->args[1 - k]), *size = NULL;
    if (rounds && is_less(rounds->op) && rounds->op->args[1] == from)
      size = block_of(loop, from, rounds->op->args[0]);
    if (size) return size;
  }
  return NULL;
}

/* What op reads of the array that it names first. */
static const FlValue *reads_block(const FlOp *loop, const FlOp *op) {
  if (op->code == FL_OP_ROWS) return block_of(loop, op->args[1], op->args[2]);
  return op->code == FL_OP_LOAD ? block_around(loop, op->args[1]) : NULL;
}

static bool reads_blocks(const FlOp *loop, const FlRegion *r, const FlValue *a, const FlValue **size) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      if (op->args[i] != a || op->code == FL_OP_DIM) continue;
      const FlValue *its = i == 0 ? reads_block(loop, op) : NULL;
      if (!its || (*size && !same(its, *size))) return false;
      *size = its;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!reads_blocks(loop, op->regions[i], a, size)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == a) return false;
  return true;
}

const FlValue *fl_plan_find_blocks(const FlOp *loop, int n_uses, FlUse *uses) {
  const FlValue *size = NULL;
  int64_t known;
  if (loop->code != FL_OP_MAP || loop->n_args != 1) return NULL;
  for (int i = 0; i < n_uses; i++) {
    const FlValue *its = size;
    bool array = uses[i].value->type.rank > 0 && !uses[i].value->type.depth;
    if (!array || uses[i].rows != FL_ROWS_ANY) continue;
    if (!reads_blocks(loop, loop->regions[0], uses[i].value, &its) || !its) continue;
    if (!fl_ir_const_value_i(its, &known) && fl_ir_inside(its->region, loop->regions[0])) continue;
    size = its;
    uses[i].rows = FL_ROWS_OWN;
  }
  return size;
}

bool fl_plan_is_block(const FlPlanKernel *k, const FlValue *v) {
  for (int i = 0; i < k->n_uses && k->block; i++)
    if (k->uses[i].value == v) return k->uses[i].rows == FL_ROWS_OWN && v->type.rank > 0;
  return false;
}
