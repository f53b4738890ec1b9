/* cse.c: an operation whose value is known already is not done again: operations on constants become
 * constants, and an operation equal to one before it, in the same region or one around it, becomes that one's
 * result. One forward walk with a table of what is in sight.
 *
 * An operation that may fail counts as well: when the second of two equal ones is reached, the first has not
 * failed, so neither does the second. New texts (HEAP) stay: each belongs to the heap of its own region. */
#include "opt/opt_internal.h"

enum { N_BUCKETS = 1024 };

typedef struct Known {
  FlOp *op;
  uint64_t hash;
  int next; /* in the bucket; -1: none */
} Known;

typedef struct Cse {
  FlArena *arena;
  FlVec(Known) known; /* a stack: what a region added goes when the region ends */
  int bucket[N_BUCKETS];
  FlSubst subst;
} Cse;

static bool counts(const FlOp *op) {
  const FlOpInfo *info = &fl_op_info[op->code];
  if (op->n_regions || op->n_results == 0) return false;
  if (info->flags & (FL_OPF_EFFECT | FL_OPF_NOTE | FL_OPF_HEAP)) return false;
  if (info->op_class != FL_CLASS_STRUCT) return true;
  return op->code == FL_OP_CONST || op->code == FL_OP_DIM || op->code == FL_OP_LOAD;
}

/* Whether a LOAD is proven makes no difference to its value. */
static int64_t attr_i(const FlOp *op) { return op->code == FL_OP_LOAD ? 0 : op->attrs.i; }

static uint64_t bits_of(double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

static uint64_t hash_of(const FlOp *op) {
  uint64_t h = (uint64_t)op->code * 31 + (uint64_t)op->results[0]->type.dtype;
  h = h * 1099511628211U + (uint64_t)attr_i(op);
  h = h * 1099511628211U + bits_of(op->attrs.f);
  for (int i = 0; i < op->n_args; i++) h = (h ^ op->args[i]->id) * 1099511628211U;
  return h ^ (h >> 29);
}

static bool same_text(const FlOp *a, const FlOp *b) {
  const char *s = a->attrs.s, *t = b->attrs.s;
  if (!s || !t) return s == t;
  if (a->attrs.s_len != b->attrs.s_len) return false;
  return a->attrs.s_len ? memcmp(s, t, (size_t)a->attrs.s_len) == 0 : strcmp(s, t) == 0;
}

static bool equal(const FlOp *a, const FlOp *b) {
  if (a->code != b->code || a->n_args != b->n_args || a->n_results != b->n_results) return false;
  if (attr_i(a) != attr_i(b) || bits_of(a->attrs.f) != bits_of(b->attrs.f) || !same_text(a, b)) return false;
  if (a->attrs.n_list != b->attrs.n_list) return false;
  for (int i = 0; i < a->attrs.n_list; i++)
    if (strcmp(a->attrs.list[i], b->attrs.list[i]) != 0) return false;
  for (int i = 0; i < a->n_args; i++)
    if (a->args[i] != b->args[i]) return false;
  for (int i = 0; i < a->n_results; i++)
    if (!fl_t_same(a->results[i]->type, b->results[i]->type)) return false;
  return true;
}

static void fold(FlOp *op) {
  FlAttrs folded;
  if (fl_op_info[op->code].op_class != FL_CLASS_SCALAR || op->n_results != 1) return;
  if (!fl_ir_fold(op->code, (FlDtype)op->results[0]->type.dtype, op->n_args, op->args, &folded)) return;
  op->code = FL_OP_CONST;
  op->n_args = 0;
  op->attrs = folded;
}

/* The equal op in sight; NULL: none, and this one is in sight from now on. */
static FlOp *meet(Cse *c, FlOp *op) {
  uint64_t hash = hash_of(op);
  int *bucket = &c->bucket[hash % N_BUCKETS];
  for (int i = *bucket; i >= 0; i = c->known.at[i].next)
    if (c->known.at[i].hash == hash && equal(c->known.at[i].op, op)) return c->known.at[i].op;
  Known known = {op, hash, *bucket};
  *bucket = c->known.n;
  fl_vec_push(c->arena, &c->known, known);
  return NULL;
}

static void forget(Cse *c, int n) {
  while (c->known.n > n) {
    const Known *last = &c->known.at[--c->known.n];
    c->bucket[last->hash % N_BUCKETS] = last->next;
  }
}

static void visit(Cse *c, FlRegion *r) {
  int before = c->known.n;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(&c->subst, op);
    fold(op);
    for (int i = 0; i < op->n_regions; i++) visit(c, op->regions[i]);
    FlOp *first = counts(op) ? meet(c, op) : NULL;
    if (!first) continue;
    for (int i = 0; i < op->n_results; i++) fl_subst_set(&c->subst, op->results[i], first->results[i]);
    fl_ir_remove(op);
  }
  fl_subst_yields(&c->subst, r);
  forget(c, before);
}

void fl_opt_cse(FlModule *m) {
  Cse c = {.arena = fl_arena_new()};
  for (int i = 0; i < N_BUCKETS; i++) c.bucket[i] = -1;
  for (FlFunc *f = m->first; f; f = f->next) {
    visit(&c, f->body);
    fl_subst_reset(&c.subst);
  }
  fl_arena_free(c.arena);
}
