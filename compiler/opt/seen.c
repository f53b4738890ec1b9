/* seen.c: values are seen as columns (FlSeen) where they are made once in the script or in a call of a stage,
 * but for later rounds of loops (fl_seen_rounds of flow/abi.h): not in what runs for several elements at
 * once, nor in functions that were not made part of what calls them. So what a record says of a place is what
 * that gave: calls of stages are told apart.
 *
 * In: a module behind all passes. Out: values that are seen as less. What always holds: in a loop nothing is
 * seen that belongs to a place outside of it; what belongs to a place further inside, to which the run may
 * never come, says so. */
#include "opt/opt_internal.h"

/* Where a value is made. */
typedef struct Where {
  FlArena *arena;
  int least, depth; /* fl_ir_depth, of steps that may be seen; of the value */
  bool looped;
} Where;

/* Who makes `v` runs only where the branch `r` of `op` is taken, or says by its first result whether the
 * others are any: so it is seen there. */
static bool is_of_branch(const FlOp *op, const FlRegion *r, const FlValue *v) {
  const FlOp *first = op->args[0]->op;
  bool says = v->op && v->op == first && v->op->results[0] == op->args[0] && r == op->regions[0];
  return v->op && (v->region == r || (says && fl_op_info[v->op->code].op_class == FL_CLASS_RUNTIME));
}

/* What a branch gives is seen where that is made: operators of the runtime say it at no cost. */
static void see_in_branches(FlArena *arena, FlOp *op) {
  for (int k = 0; k < op->n_results; k++) {
    FlValue *v = op->results[k];
    if (!v->seen || !is_of_branch(op, op->regions[0], op->regions[0]->yields[k]) ||
        !is_of_branch(op, op->regions[1], op->regions[1]->yields[k]))
      continue;
    for (int i = 0; i < 2; i++) {
      FlValue *made = op->regions[i]->yields[k];
      for (const FlSeen *s = v->seen; s; s = s->next) {
        FlSeen seen = *s;
        seen.if_first = made->region != op->regions[i];
        fl_ir_see(arena, made, &seen);
      }
    }
    v->seen = NULL;
  }
}

static void see_from(const Where *w, FlValue *v) {
  const FlSeen *all = v->seen, *other = w->looped ? all : NULL;
  for (const FlSeen *s = all; s && !other; s = s->next)
    if (s->depth < w->least || s->depth > w->depth) other = s;
  if (!other) return;
  v->seen = NULL;
  for (; all; all = all->next) {
    if (all->depth < w->least) continue;
    FlSeen seen = *all;
    seen.outer |= seen.depth > w->depth;
    seen.looped |= w->looped;
    fl_ir_see(w->arena, v, &seen);
  }
}

static void see_region(const Where *w, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) see_from(w, op->results[i]);
    bool branch = op->code == FL_OP_IF, loop = op->code == FL_OP_FOR || op->code == FL_OP_WHILE;
    if (branch) see_in_branches(w->arena, op);
    const Where inside = {w->arena, loop ? w->depth + 1 : w->least, w->depth + 1, w->looped || loop};
    for (int i = 0; i < op->n_regions; i++) {
      if (branch || loop) see_region(&inside, op->regions[i]);
      else fl_ir_unsee(op->regions[i]);
    }
  }
}

void fl_opt_seen(FlModule *m) {
  const Where w = {.arena = m->arena};
  for (FlFunc *f = m->first; f; f = f->next) {
    bool sees = f == m->main || f->kind == FL_FUNC_STAGE;
    for (int i = 0; i < f->body->n_params; i++) {
      if (sees) see_from(&w, f->body->params[i]);
      else f->body->params[i]->seen = NULL;
    }
    if (sees) see_region(&w, f->body);
    else fl_ir_unsee(f->body);
  }
}
