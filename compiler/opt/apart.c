/* apart.c: columns that are laid side by side only so that rows of them can be folded are read where they
 * are. `sum(matrix(t), axis = 1)` copies the columns of a table into one array, and folds along the columns
 * of that; in a kernel that is swept row by row (codegen/llvm_columns.c) the rows may as well lie apart.
 *
 * What always holds: the array is read by one such loop alone, over all of it, and each of its rows is known
 * to be one of the columns, so that making it could not fail. */
#include "opt/columns.h"

enum { MOST = 2000 }; /* arrays that a kernel, or an operator, takes */

/* The loop that alone reads the array of `reshape`, each element [j, i] of it at its own i; NULL: none. */
static FlOp *reader_of(const FlUses *uses, const FlOp *reshape) {
  const FlValue *grid = reshape->results[0];
  FlOp *found = NULL;
  for (uint32_t k = 0; k < fl_opt_n_uses(uses, grid); k++) {
    const FlOp *load = fl_opt_use(uses, grid, k);
    if (!load || load->code != FL_OP_LOAD || load->args[1] == load->args[2]) return NULL;
    FlOp *map = load->args[2]->op ? NULL : load->args[2]->region->owner;
    if (!map || map->code != FL_OP_MAP || map->n_args != 1 || (found && map != found)) return NULL;
    for (int a = 1; a < 3; a++) {
      const FlValue *to = fl_opt_runs_to(load->args[a]);
      if (!to || !fl_opt_same_size(to, reshape->args[a])) return NULL;
    }
    found = map;
  }
  return found && fl_opt_column_fold(found) ? found : NULL;
}

static bool all_have(const FlOp *concat, const FlValue *n) {
  for (int k = 0; k < concat->n_args; k++)
    if (!fl_opt_is_dim(n, concat->args[k], 0)) return false;
  return true;
}

bool fl_opt_is_grid(const FlUses *uses, const FlOp *reshape) {
  if (reshape->code != FL_OP_RESHAPE || reshape->n_args != 3) return false;
  const FlOp *concat = reshape->args[0]->op;
  int64_t rows;
  if (!concat || concat->code != FL_OP_CONCAT || concat->parent != reshape->parent) return false;
  if (fl_opt_only_use(uses, concat->results[0]) != reshape || concat->n_args < 2 || concat->n_args > MOST)
    return false;
  FlType1 t = concat->results[0]->type;
  return t.rank == 1 && !t.depth && !fl_dtype_is_text(t.dtype) &&
         fl_ir_const_value_i(reshape->args[1], &rows) && rows == concat->n_args &&
         (reshape->attrs.i || all_have(concat, reshape->args[2]));
}

/* Reads of the grid in the region become reads of one of the columns. */
static void read_apart(FlRegion *r, const FlValue *grid, int n, FlValue *const *columns) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) read_apart(op->regions[i], grid, n, columns);
    if (op->code != FL_OP_LOAD || op->args[0] != grid) continue;
    FlBuilder b = fl_opt_before(op);
    FlValue **args = FL_NEW_ARRAY(b.module->arena, FlValue *, n + 2);
    args[0] = op->args[1];
    args[1] = op->args[2];
    for (int k = 0; k < n; k++) args[k + 2] = columns[k];
    FlValue *v = fl_ir_op(&b, FL_OP_PICK, n + 2, args, 1, &op->results[0]->type, 0)->results[0];
    fl_ir_replace_in(r, op->results[0], v);
    fl_ir_remove(op);
  }
}

static void visit(const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) visit(uses, op->regions[i]);
    FlOp *map = fl_opt_is_grid(uses, op) ? reader_of(uses, op) : NULL;
    if (!map) continue;
    FlOp *concat = op->args[0]->op;
    read_apart(map->regions[0], op->results[0], concat->n_args, concat->args);
    fl_ir_remove(op);
    fl_ir_remove(concat);
  }
}

void fl_opt_apart(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlUses uses = fl_opt_uses(f);
    visit(&uses, f->body);
    fl_opt_uses_reset(&uses);
  }
}
