/* results.c: edits that sema makes while it elaborates: results given to an op once its region is known, and
 * ops that turn out to belong into a branch. */
#include "ir/ir.h"

void fl_ir_add_results(FlBuilder *b, FlOp *op, int n, const FlType1 *types) {
  op->n_results = n;
  op->results = FL_NEW_ARRAY(b->module->arena, FlValue *, n + 1);
  for (int i = 0; i < n; i++) {
    FlValue *v = FL_NEW(b->module->arena, FlValue);
    *v = (FlValue){.type = types[i], .id = b->func->next_id++, .op = op, .region = op->parent, .index = i};
    op->results[i] = v;
  }
}

void fl_ir_move_into(FlRegion *from, FlOp *mark, FlOp *until, FlRegion *to) {
  for (FlOp *op = mark ? mark->next : from->first; op && op != until;) {
    FlOp *next = op->next;
    if (op->prev) op->prev->next = next;
    else from->first = next;
    if (next) next->prev = op->prev;
    else from->last = op->prev;
    op->prev = to->last;
    op->next = NULL;
    if (to->last) to->last->next = op;
    else to->first = op;
    to->last = op;
    op->parent = to;
    for (int i = 0; i < op->n_results; i++) op->results[i]->region = to;
    op = next;
  }
}
