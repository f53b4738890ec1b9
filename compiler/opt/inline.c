/* inline.c: every call of a plain function that is not recursive becomes the function's body. Stage calls
 * stay. Marks the functions that are recursive (part of a cycle of calls), removes plain functions that
 * nobody calls. */
#include "opt/opt_internal.h"

typedef enum State { UNSEEN, OPEN, DONE } State;

typedef struct Inliner {
  FlModule *module;
  FlMap *state;         /* function -> State + 1 */
  FlVec(FlFunc *) path; /* functions that are open, outermost first */
} Inliner;

static State state_of(const Inliner *in, const FlFunc *f) {
  return (State)(intptr_t)fl_map_get(in->state, f);
}

static void visit(Inliner *in, FlFunc *f);

static void visit_calls(Inliner *in, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->attrs.func) visit(in, op->attrs.func);
    for (int i = 0; i < op->n_regions; i++) visit_calls(in, op->regions[i]);
  }
}

/* Puts bodies in place of calls. One forward walk: results are replaced in all that follows. */
static void expand(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) expand(s, op->regions[i]);
    FlFunc *f = op->attrs.func;
    if (op->code != FL_OP_CALL || f->recursive) continue;
    FlBuilder b = fl_opt_before(op);
    FlValue **yields = FL_NEW_ARRAY(b.module->arena, FlValue *, op->n_results);
    fl_ir_inline_call(&b, op, yields);
    for (int i = 0; i < op->n_results; i++) fl_subst_set(s, op->results[i], yields[i]);
    fl_ir_remove(op);
  }
  fl_subst_yields(s, r);
}

/* Callees first, so that a body that is copied holds no call that could be expanded. */
static void visit(Inliner *in, FlFunc *f) {
  State state = state_of(in, f);
  if (state == DONE) return;
  if (state == OPEN) {
    for (int i = in->path.n - 1; i >= 0; i--) {
      in->path.at[i]->recursive = true;
      if (in->path.at[i] == f) return;
    }
    return;
  }
  fl_map_set(in->state, f, (void *)(intptr_t)OPEN);
  fl_vec_push(in->module->arena, &in->path, f);
  visit_calls(in, f->body);
  in->path.n--;
  fl_map_set(in->state, f, (void *)(intptr_t)DONE);
  FlSubst s = {0};
  expand(&s, f->body);
  fl_subst_reset(&s);
}

static void mark_called(FlMap *called, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    FlFunc *f = op->attrs.func;
    if (f && !fl_map_get(called, f)) {
      fl_map_set(called, f, f);
      mark_called(called, f->body);
    }
    for (int i = 0; i < op->n_regions; i++) mark_called(called, op->regions[i]);
  }
}

/* A module of plain functions only (a library, a test) keeps them all. */
static void drop_uncalled(FlModule *m) {
  FlMap *called = fl_map_make(m->arena);
  bool entry = false;
  for (FlFunc *f = m->first; f; f = f->next)
    if (f->kind != FL_FUNC_PLAIN) mark_called(called, f->body), entry = true;
  if (!entry) return;
  FlFunc **link = &m->first;
  m->last = NULL;
  for (FlFunc *f = m->first; f; f = f->next) {
    if (f->kind == FL_FUNC_PLAIN && !fl_map_get(called, f)) continue;
    *link = f;
    link = &f->next;
    m->last = f;
  }
  *link = NULL;
}

void fl_opt_inline(FlModule *m) {
  Inliner in = {m, fl_map_make(m->arena), {0}};
  for (FlFunc *f = m->first; f; f = f->next) visit(&in, f);
  drop_uncalled(m);
}
