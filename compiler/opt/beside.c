/* beside.c: columns that are put together only to become rows of a matrix are laid side by side at once. What
 * `matrix(t)` makes is a column behind the other, read transposed; a row of it is then one number of each
 * column, far apart.
 *
 *   %all = concat %a, %b ..
 *   %grid = reshape %all, k, n        ->    %x = beside %a, %b ..
 *   %y = transpose %grid                    %x in place of %y
 *   %z = matmul %grid, %v; 1                %z = matmul %x, %v
 *
 * In: a matrix each of whose rows is one of the columns, so that making it could not fail; of which only the
 * size, its transpose and its products with vectors are read, and either there is such a product, or an
 * operator takes the transpose. (Loops alone that read elements read them where they are, views.c.) What
 * always holds: no bit changes, since products with vectors are sums in one order however the matrix lies;
 * those of matrices may (products.c), and leave it as it is. */
#include "opt/columns.h"

static bool is_vector(const FlValue *v) { return v->type.rank == 1 && !v->type.depth; }

/* Which factor of a product with a vector the matrix is; -1: it is no such product. */
static int factor_of(const FlOp *op, const FlValue *grid) {
  if (op->code != FL_OP_MATMUL || op->attrs.i & 4) return -1;
  int at = op->args[0] == grid ? 0 : 1;
  return is_vector(op->args[1 - at]) ? at : -1;
}

/* Whether anybody takes the rows of the matrix as they lie. */
static bool is_taken(const FlUses *uses, const FlOp *transpose) {
  const FlValue *rows = transpose->results[0];
  for (uint32_t k = 0; k < fl_opt_n_uses(uses, rows); k++) {
    const FlOp *op = fl_opt_use(uses, rows, k);
    if (!op || (op->code != FL_OP_LOAD && op->code != FL_OP_DIM)) return true;
  }
  return false;
}

/* Whether all who read it can read its transpose, and somebody wants it. */
static bool is_wanted(const FlUses *uses, const FlValue *grid) {
  bool wanted = false;
  for (uint32_t k = 0; k < fl_opt_n_uses(uses, grid); k++) {
    const FlOp *op = fl_opt_use(uses, grid, k);
    if (!op) return false;
    bool turned = op->code == FL_OP_TRANSPOSE, product = factor_of(op, grid) >= 0;
    if (!turned && !product && op->code != FL_OP_DIM) return false;
    wanted |= product || (turned && is_taken(uses, op));
  }
  return wanted;
}

/* Who reads the matrix reads its transpose. */
static void turn(FlRegion *r, FlSubst *s, const FlValue *grid, FlValue *rows) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) turn(op->regions[i], s, grid, rows);
    bool reads = false;
    for (int i = 0; i < op->n_args; i++) reads |= op->args[i] == grid;
    if (!reads) continue;
    if (op->code == FL_OP_TRANSPOSE) {
      fl_subst_set(s, op->results[0], rows);
      fl_ir_remove(op);
      continue;
    }
    if (op->code == FL_OP_MATMUL) op->attrs.i ^= factor_of(op, grid) == 0 ? 1 : 2;
    if (op->code == FL_OP_DIM) op->attrs.i = 1 - op->attrs.i;
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == grid) op->args[i] = rows;
  }
}

static FlOp *lay(FlSubst *s, FlOp *reshape) {
  FlOp *concat = reshape->args[0]->op;
  FlBuilder b = fl_opt_before(reshape);
  b.span = reshape->span;
  FlOp *beside = fl_ir_op(&b, FL_OP_BESIDE, concat->n_args, concat->args, 1, &reshape->results[0]->type, 0);
  turn(reshape->parent, s, reshape->results[0], beside->results[0]);
  fl_ir_remove(reshape);
  fl_ir_remove(concat);
  return beside;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    if (!fl_opt_is_grid(uses, op) || !is_wanted(uses, op->results[0])) continue;
    next = lay(s, op)->next;
  }
  fl_subst_yields(s, r);
}

void fl_opt_beside(FlModule *m) { fl_opt_each_body(m, visit); }
