/* uses.c: who uses the values of a function.
 *
 * In: a function. Out: for each value those that use it, in program order. One walk counts, the other one
 * writes. */
#include "opt/opt_internal.h"

/* uses->by NULL: counts them at from[id + 1]; else writes where from[id + 1] says that the next one goes. */
static void use(FlUses *u, const FlValue *v, FlOp *op) {
  uint32_t at = u->from[v->id + 1]++;
  if (u->by) u->by[at] = op;
}

static void walk(FlUses *u, const FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) use(u, op->args[i], op);
    for (int i = 0; i < op->n_regions; i++) walk(u, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) use(u, r->yields[i], NULL);
}

FlUses fl_opt_uses(const FlFunc *f) {
  uint32_t n = f->next_id, all = 0;
  FlUses u = {.from = fl_piece_new((size_t)n + 2, sizeof *u.from)};
  walk(&u, f->body);
  for (uint32_t id = 0; id <= n;
       id++) { /* from[id + 1]: where those of id begin; it ends as where they end */
    uint32_t count = u.from[id + 1];
    u.from[id + 1] = all;
    all += count;
  }
  u.by = fl_piece_new((size_t)all + 1, sizeof *u.by);
  walk(&u, f->body);
  return u;
}

void fl_opt_uses_reset(FlUses *u) {
  fl_piece_free(u->from);
  fl_piece_free(u->by);
  *u = (FlUses){0};
}

void fl_opt_each_body(FlModule *m, void (*visit)(FlSubst *s, const FlUses *uses, FlRegion *body)) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    FlUses uses = fl_opt_uses(f);
    visit(&s, &uses, f->body);
    fl_opt_uses_reset(&uses);
    fl_subst_reset(&s);
  }
}
