/* products.c: a product of transposed matrices reads them transposed instead of making them, and one that is
 * only transposed afterwards is made that way; a product of a matrix with its own transpose is marked, which
 * computes one half of it and is symmetric. BLAS may round the two forms differently, so this is part of what
 * a program means: it runs at every level, before the key. */
#include "opt/opt_internal.h"

/* (x y)' is y' x': of a product that nothing else reads. */
static void turn_product(FlOp *turned, const int *uses) {
  FlOp *product = turned->args[0]->op;
  if (!product || product->code != FL_OP_MATMUL || uses[product->results[0]->id] != 1 ||
      !uses[turned->results[0]->id])
    return;
  FlValue *x = product->args[0], *y = product->args[1];
  if (x->type.rank != 2 || y->type.rank != 2) return;
  FlBuilder b = fl_opt_before(turned);
  b.span = product->span;
  FlOp *other = fl_ir_op(&b, FL_OP_MATMUL, 2, (FlValue *[]){y, x}, 1, &turned->results[0]->type, 0);
  other->attrs.i = (product->attrs.i & 1 ? 0 : 2) | (product->attrs.i & 2 ? 0 : 1);
  fl_ir_replace(turned->parent->func, turned->results[0], other->results[0]);
  fl_ir_remove(turned);
}

static void count(const FlRegion *r, int *uses) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) uses[op->args[i]->id]++;
    for (int i = 0; i < op->n_regions; i++) count(op->regions[i], uses);
  }
  for (int i = 0; i < r->n_yields; i++) uses[r->yields[i]->id]++;
}

static void make_transposed(FlRegion *r, const int *uses) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) make_transposed(op->regions[i], uses);
    if (op->code == FL_OP_TRANSPOSE) turn_product(op, uses);
  }
}

static void mark_own(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    bool own = op->code == FL_OP_MATMUL && op->args[0] == op->args[1] && op->args[0]->type.rank == 2;
    if (own && (op->attrs.i == 1 || op->attrs.i == 2)) op->attrs.i |= 4;
    for (int i = 0; i < op->n_regions; i++) mark_own(op->regions[i]);
  }
}

void fl_opt_products(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    fl_ir_read_transposed(f->body);
    int *uses = FL_NEW_ARRAY(m->arena, int, f->next_id);
    count(f->body, uses);
    make_transposed(f->body, uses);
    mark_own(f->body);
  }
}
