/* order.c: whether the bodies of loops may turn into kernels without another error becoming the first.
 *
 * A loop over host code fails at its first position that fails; a kernel reports the first operation in
 * program order, whatever the position; a loop inside a kernel goes by position again. These agree when, in
 * each body concerned, nothing that may fail comes after an operation that fails at some positions and not at
 * others. Where that is not so of the outermost body alone, its loop is marked to go by position as a kernel,
 * too. */
#include "opt/opt_internal.h"

#include <stdlib.h>

typedef struct Walk {
  uint32_t *varies; /* by value id: in which body, by its number, it depends on the position */
  uint32_t body;    /* the number of this one: of those that are looked into, one after another */
  bool seen;        /* an operation before may fail at some positions only */
} Walk;

static void set_varies(Walk *w, const FlValue *v, bool varies) { w->varies[v->id] = varies ? w->body : 0; }

static bool any_varies(const Walk *w, FlValue *const *values, int n) {
  for (int i = 0; i < n; i++)
    if (w->varies[values[i]->id] == w->body) return true;
  return false;
}

/* `varies`: whether the region is reached depends on the position. */
static bool walk(Walk *w, const FlRegion *r, bool varies) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool here = varies || op->code == FL_OP_WHILE || any_varies(w, op->args, op->n_args);
    bool result = here;
    for (int k = 0; k < op->n_regions; k++) {
      const FlRegion *in = op->regions[k];
      bool carried = fl_ir_is_rounds(op) || op->code == FL_OP_SCAN;
      for (int i = 0; i < in->n_params; i++)
        set_varies(w, in->params[i], here || (carried && !(i == 0 && op->code != FL_OP_WHILE)));
      if (!walk(w, in, here)) return false;
      result = result || any_varies(w, in->yields, in->n_yields);
    }
    for (int i = 0; i < op->n_results; i++) set_varies(w, op->results[i], result);
    if (!fl_opt_own_fault(op)) continue;
    if (w->seen) return false;
    w->seen = result;
  }
  return true;
}

static bool body_is_fixed(Walk *w, const FlRegion *r);

static bool loops_are_fixed(Walk *w, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    for (int k = 0; k < op->n_regions; k++) {
      bool by_position = op->code == FL_OP_SCAN || !fl_opt_is_loop(op); /* in both forms */
      if (!(by_position ? loops_are_fixed(w, op->regions[k]) : body_is_fixed(w, op->regions[k])))
        return false;
    }
  return true;
}

static bool body_is_fixed(Walk *w, const FlRegion *r) {
  w->body++;
  w->seen = false;
  for (int i = 0; i < r->n_params; i++) set_varies(w, r->params[i], true);
  return walk(w, r, false) && loops_are_fixed(w, r);
}

bool fl_opt_is_host_op(const FlOp *op) {
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) return true;
  for (int i = 0; i < op->n_regions; i++)
    if (!fl_ir_is_kernel(op->regions[i])) return true;
  return fl_op_info[op->code].op_class == FL_CLASS_RUNTIME;
}

/* As far as the loops inside are concerned, which as kernels go by program order now. */
static bool inner_loops_are_fixed(Walk *w, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    for (int k = 0; k < op->n_regions; k++) {
      const FlRegion *in = op->regions[k];
      bool kernel = fl_opt_is_loop(op) && op->code != FL_OP_SCAN && fl_ir_is_kernel(in);
      if (!(kernel ? body_is_fixed(w, in) : inner_loops_are_fixed(w, in))) return false;
    }
  return true;
}

bool fl_opt_may_turn(const FlRegion *r) {
  const FlRegion *outermost = NULL;
  for (; r->owner; r = r->owner->parent)
    if (fl_opt_is_loop(r->owner) && !fl_ir_is_kernel(r)) outermost = r;
  if (!outermost) return true;
  bool faults = false;
  for (const FlOp *op = outermost->first; op && !faults; op = op->next) faults = fl_ir_may_fault(op);
  if (!faults) return true;
  Walk w = {.varies = fl_piece_new((size_t)r->func->next_id + 1, sizeof *w.varies)};
  bool fixed = body_is_fixed(&w, outermost);
  bool by_position = !fixed && outermost->owner->code != FL_OP_SCAN && inner_loops_are_fixed(&w, outermost);
  fl_piece_free(w.varies);
  if (by_position) outermost->owner->attrs.i |= FL_LOOP_BY_POSITION;
  return fixed || by_position;
}
