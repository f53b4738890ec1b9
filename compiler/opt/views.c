/* views.c: reads go through views to what is viewed: an element of a transpose or of rows is an element of
 * the original, the size of a MAP's result is the MAP's. Reads that are within bounds by the sizes of the
 * loops around them are marked as proven. The views themselves stay where they are (dce takes those that
 * nobody uses any more and that cannot fail). */
#include "opt/opt_internal.h"

/* Only proven reads move: the message of an index out of bounds names the size of the view. */
static void read_through(FlOp *load) {
  for (FlOp *view; (view = load->args[0]->op);) {
    FlType1 t = load->args[0]->type;
    if (view->code == FL_OP_TRANSPOSE && t.rank == 2 && !t.depth) {
      FlValue *row = load->args[1];
      load->args[1] = load->args[2];
      load->args[2] = row;
    } else if (view->code == FL_OP_ROWS && !t.depth) {
      FlBuilder b = fl_opt_before(load);
      int64_t from;
      if (!fl_ir_const_value_i(view->args[1], &from) || from != 0)
        load->args[1] = fl_ir_binary(&b, FL_OP_WRAP_ADD, view->args[1], load->args[1]);
    } else {
      return;
    }
    load->args[0] = view->args[0];
  }
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    if (op->code == FL_OP_LOAD && !op->args[0]->type.depth) {
      op->attrs.i = fl_opt_in_bounds(op);
      if (op->attrs.i && op->args[0]->op && fl_opt_may_turn(op->args[0]->region)) read_through(op);
    } else if (op->code == FL_OP_DIM) {
      FlBuilder b = fl_opt_before(op);
      FlValue *size = fl_opt_dim(&b, op->args[0], (int)op->attrs.i);
      if (size != op->results[0]) {
        fl_subst_set(s, op->results[0], size);
        fl_ir_remove(op);
        continue;
      }
    }
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
  }
  fl_subst_yields(s, r);
}

void fl_opt_views(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
