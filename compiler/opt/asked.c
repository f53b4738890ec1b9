/* asked.c: what has fewer rows than the script says, since a join has asked for them alone, is not seen as a
 * column any more (FlSeen), up to that join, and the record tells no count of its rows.
 *
 * In: operators that keep what a join asks for. Out: values without `seen`. What always holds: behind the
 * join all is as it was; a value that depends on such rows in another way is none that is seen. */
#include "opt/asks.h"

#include <stdlib.h>

enum { BITS = 64 };

typedef struct Less {
  const FlAskedList *asked;
  uint64_t *joins; /* by value: bit k: it has fewer rows than it should, for the join of asked->at[k] */
} Less;

/* The bit of those who come after the first 63 is never taken away. */
static uint64_t bit_of(int k) { return 1ull << (k < BITS - 1 ? k : BITS - 1); }

static uint64_t visit(Less *l, FlRegion *r, uint64_t given);

static uint64_t less_of(Less *l, FlOp *op) {
  uint64_t less = 0;
  for (int i = 0; i < op->n_args; i++) less |= l->joins[op->args[i]->id];
  const FlOp *join = op->code == FL_OP_TAKE ? op->args[0]->op : NULL;
  for (int k = 0; k < l->asked->n; k++) {
    if (l->asked->at[k].op == op) less |= bit_of(k);
    op->attrs.fewer |= less != 0;
    bool same = l->asked->at[k].join == op || (join && l->asked->at[k].join == join);
    if (same && k < BITS - 1) less &= ~bit_of(k);
  }
  for (int i = 0; i < op->n_regions; i++) less |= visit(l, op->regions[i], less);
  return less;
}

/* `given`: of what its parameters come from. Out: of all that is in it. */
static uint64_t visit(Less *l, FlRegion *r, uint64_t given) {
  uint64_t all = 0;
  for (int i = 0; i < r->n_params; i++) l->joins[r->params[i]->id] = given;
  for (FlOp *op = r->first; op; op = op->next) {
    uint64_t less = less_of(l, op);
    all |= less;
    for (int i = 0; i < op->n_results; i++) {
      l->joins[op->results[i]->id] = less;
      if (less) op->results[i]->seen = NULL;
    }
  }
  return all;
}

void fl_asks_unsee(FlFunc *f, const FlAskedList *asked) {
  Less l = {asked, fl_piece_new(f->next_id, sizeof *l.joins)};
  visit(&l, f->body, 0);
  fl_piece_free(l.joins);
}
