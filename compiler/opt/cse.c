/* cse.c: an operation whose value is known already is not done again: operations on constants become
 * constants, and an operation equal to one before it, in the same region or one around it, becomes that one's
 * result. One forward walk with a table of what is in sight.
 *
 * An operation that may fail counts as well: when the second of two equal ones is reached, the first has not
 * failed, so neither does the second. Loops and branches count with all that is in them. New texts (HEAP)
 * stay: each belongs to the heap of its own region. Calls of functions that give arrays and numbers and
 * report nothing count, others stay. Where the body of a loop may become a kernel by it, order.c has the last
 * word. */
#include "opt/opt_internal.h"

typedef struct Known {
  FlOp *op;
  uint64_t hash;
  int next; /* in the bucket; -1: none */
} Known;

/* What is known of calls of a function; functions may call each other. */
typedef struct Quiet {
  enum { UNKNOWN, QUIET, NOISY } known;
  int search; /* the last one that came here */
} Quiet;

typedef struct Cse {
  FlArena *arena;
  FlVec(Known) known; /* a stack: what a region added goes when the region ends */
  int *bucket;        /* a power of two of them: about as many as there are values */
  uint32_t mask;
  FlSubst subst;
  FlMap *quiet; /* function -> Quiet */
  int search;
  FlVec(Quiet *) asked; /* in this search */
} Cse;

/* Does anything in the region act, note, or run a stage, itself or through a function? */
static bool is_noisy(Cse *c, const FlRegion *r);

/* false may also mean that it is being asked just now: settled when the search has ended. */
static bool func_is_noisy(Cse *c, const FlFunc *f) {
  Quiet *q = fl_map_get(c->quiet, f);
  if (!q) {
    q = FL_NEW(c->arena, Quiet);
    fl_map_set(c->quiet, f, q);
  }
  if (q->known != UNKNOWN) return q->known == NOISY;
  if (q->search == c->search) return false;
  q->search = c->search;
  fl_vec_push(c->arena, &c->asked, q);
  if (!is_noisy(c, f->body)) return false;
  q->known = NOISY;
  return true;
}

static bool makes_text(const FlOp *call) {
  for (int i = 0; i < call->n_results; i++)
    if (call->results[i]->type.dtype == FL_TEXT) return true;
  return false;
}

static bool is_noisy(Cse *c, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_op_info[op->code].flags & (FL_OPF_EFFECT | FL_OPF_NOTE) || op->code == FL_OP_STAGE) return true;
    if (op->code == FL_OP_CALL && (makes_text(op) || func_is_noisy(c, op->attrs.func))) return true;
    for (int k = 0; k < op->n_regions; k++)
      if (is_noisy(c, op->regions[k])) return true;
  }
  return false;
}

/* A call of it gives what another one gave, and nothing is seen of it. */
static bool call_is_quiet(Cse *c, const FlOp *op) {
  if (makes_text(op)) return false;
  c->search++;
  c->asked.n = 0;
  bool noisy = func_is_noisy(c, op->attrs.func);
  for (int i = 0; i < c->asked.n && !noisy; i++)
    c->asked.at[i]->known = QUIET; /* nothing that it reaches is noisy */
  return !noisy;
}

/* `inside`: all that is in its regions counts. */
static bool counts(Cse *c, const FlOp *op, bool inside) {
  const FlOpInfo *info = &fl_op_info[op->code];
  if (info->flags & (FL_OPF_EFFECT | FL_OPF_NOTE | FL_OPF_HEAP)) return false;
  if (op->code == FL_OP_STAGE || op->code == FL_OP_FAIL) return false;
  if (op->code == FL_OP_CALL && !call_is_quiet(c, op)) return false;
  return inside && op->n_results > 0;
}

/* The equal op in sight; NULL: none, and this one is in sight from now on. */
static FlOp *meet(Cse *c, FlOp *op) {
  uint64_t hash = fl_opt_hash(op);
  int *bucket = &c->bucket[hash & c->mask];
  for (int i = *bucket; i >= 0; i = c->known.at[i].next)
    if (c->known.at[i].hash == hash && fl_opt_same(c->known.at[i].op, op)) return c->known.at[i].op;
  Known known = {op, hash, *bucket};
  *bucket = c->known.n;
  fl_vec_push(c->arena, &c->known, known);
  return NULL;
}

static void forget(Cse *c, int n) {
  while (c->known.n > n) {
    const Known *last = &c->known.at[--c->known.n];
    c->bucket[last->hash & c->mask] = last->next;
  }
}

/* Result `i` of the loop is what result `k` is. */
static bool are_twins(const FlOp *op, int i, int k) {
  FlValue *const *yields = op->regions[0]->yields;
  if (op->code == FL_OP_MAP) return yields[i] == yields[k] && fl_t_is_scalar(yields[i]->type);
  FlReduction x = fl_ir_reduction(op, i), y = fl_ir_reduction(op, k);
  if (x.kind != y.kind || (x.keep < 0) != (y.keep < 0)) return false;
  int n = x.n_values + (x.keep >= 0);
  return memcmp(yields + x.first, yields + y.first, (size_t)n * sizeof *yields) == 0;
}

/* Lists may be shared with copies of the op, so that they are made anew. */
static void drop_result(FlOp *op, int k) {
  FlArena *arena = op->parent->func->module->arena;
  FlRegion *r = op->regions[0];
  int first = k, n = 1, last = op->n_results - 1;
  if (op->code == FL_OP_REDUCE) {
    FlReduction red = fl_ir_reduction(op, k);
    first = red.first;
    n = red.n_values + (red.keep >= 0);
    FlReductionAttr *left = FL_NEW_ARRAY(arena, FlReductionAttr, last);
    for (int i = 0; i < last; i++) left[i] = op->attrs.reductions[i + (i >= k)];
    op->attrs.reductions = left;
    op->attrs.n_reductions = last;
  }
  r->n_yields -= n;
  for (int i = first; i < r->n_yields; i++) r->yields[i] = r->yields[i + n];
  if (op->places) {
    FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, last);
    for (int i = 0; i < last; i++) places[i] = op->places[i + (i >= k)];
    op->places = places;
  }
  op->n_results = last;
  for (int i = k; i < last; i++) {
    op->results[i] = op->results[i + 1];
    op->results[i]->index = i;
  }
}

/* Results of one loop that are the same (fusion makes such loops). */
static void join_twins(Cse *c, FlOp *op) {
  if (op->code != FL_OP_MAP && op->code != FL_OP_REDUCE) return;
  for (int k = op->n_results - 1; k > 0; k--)
    for (int i = 0; i < k; i++)
      if (are_twins(op, i, k)) {
        fl_subst_set(&c->subst, op->results[k], op->results[i]);
        drop_result(op, k);
        break;
      }
}

/* Whether all that is in the region counts, but for checks. */
static bool visit(Cse *c, FlRegion *r) {
  int before = c->known.n;
  bool all = true;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(&c->subst, op);
    fl_ir_fold_op(op);
    bool inside = true;
    for (int i = 0; i < op->n_regions; i++) inside &= visit(c, op->regions[i]);
    join_twins(c, op);
    bool one = counts(c, op, inside);
    all &= one || op->code == FL_OP_CHECK || op->code == FL_OP_WITHIN;
    FlOp *first = one ? meet(c, op) : NULL;
    if (!first || (first->parent != r && fl_opt_is_host_op(op) && !fl_opt_may_turn(r))) continue;
    for (int i = 0; i < op->n_results; i++) fl_subst_set(&c->subst, op->results[i], first->results[i]);
    fl_ir_remove(op);
  }
  fl_subst_yields(&c->subst, r);
  forget(c, before);
  return all;
}

void fl_opt_cse(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Cse c = {.arena = fl_arena_new(), .mask = 63};
    c.quiet = fl_map_make(c.arena);
    while (c.mask < f->next_id) c.mask = 2 * c.mask + 1;
    c.bucket = FL_NEW_ARRAY(c.arena, int, c.mask + 1);
    for (uint32_t i = 0; i <= c.mask; i++) c.bucket[i] = -1;
    visit(&c, f->body);
    fl_subst_reset(&c.subst);
    fl_arena_free(c.arena);
  }
}
