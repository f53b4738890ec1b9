/* products.c: a product of transposed matrices reads them transposed instead of making them. BLAS may round
 * the two forms differently, so this is part of what a program means: it runs at every level, before the key.
 */
#include "opt/opt_internal.h"

static void transpose_factors(FlOp *product) {
  for (int i = 0; i < 2; i++) {
    for (FlOp *view; (view = product->args[i]->op) && view->code == FL_OP_TRANSPOSE;) {
      if (product->args[i]->type.rank != 2) break;
      product->args[i] = view->args[0];
      product->attrs.i ^= 1 << i;
    }
  }
}

static void visit(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_MATMUL) transpose_factors(op);
    for (int i = 0; i < op->n_regions; i++) visit(op->regions[i]);
  }
}

void fl_opt_products(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) visit(f->body);
}
