/* checks.c: check elimination. What is certain where an operation stands, because a check before it passed, a
 * branch was taken, a loop around it has elements, or an index runs over a range (bounds.c). A check that
 * passed already goes; a condition that is certain becomes a constant; an index that is certain needs no
 * check and its arithmetic none either; a minimum over sizes that are above zero cannot be EMPTY.
 *
 * What always holds: only the message of a check that cannot fail is lost. Knowledge ends with the region in
 * which the check stands: a branch or a loop may not be run. */
#include "opt/bounds.h"

/* What was known about a value before. */
typedef struct Before {
  uint32_t id;
  FlBounds bounds, firm;
  bool has, has_firm;
  unsigned char truth;
} Before;

typedef struct Known {
  FlArena *arena; /* of this pass only */
  FlFunc *func;
  unsigned char *truth; /* by value id: 0 unknown, 1 true, 2 false */
  FlLearnt learnt;      /* about i64 values */
  /* of that, what holds in fast forms of kernels too: these go on where a check of theirs failed */
  FlLearnt firm;
  int in_kernel;
  FlVec(Before) undo;
  FlVec(const FlValue *) same; /* sizes that stand as others since a check that they are equal */
  FlSubst subst;
} Known;

static void keep(Known *k, const FlValue *v) {
  Before b = {
      v->id,          k->learnt.at[v->id], k->firm.at[v->id], k->learnt.has[v->id], k->firm.has[v->id],
      k->truth[v->id]};
  fl_vec_push(k->arena, &k->undo, b);
}

static void forget(Known *k, int n) {
  while (k->undo.n > n) {
    const Before *b = &k->undo.at[--k->undo.n];
    k->learnt.at[b->id] = b->bounds;
    k->learnt.has[b->id] = b->has;
    k->firm.at[b->id] = b->firm;
    k->firm.has[b->id] = b->has_firm;
    k->truth[b->id] = b->truth;
  }
}

static void add_bounds(FlLearnt *l, const FlValue *v, FlBounds more) {
  FlBounds *b = &l->at[v->id];
  if (!l->has[v->id]) *b = (FlBounds){.lo = INT64_MIN, .hi = INT64_MAX};
  l->has[v->id] = true;
  if (more.lo > b->lo) b->lo = more.lo;
  if (more.hi < b->hi) b->hi = more.hi;
  if (more.base) {
    b->base = more.base;
    b->by = more.by;
  }
}

static void learn_bounds(Known *k, const FlValue *v, FlBounds more) {
  if (v->id >= k->learnt.n) return;
  keep(k, v);
  add_bounds(&k->learnt, v, more);
  if (!k->in_kernel) add_bounds(&k->firm, v, more);
}

static void learn_positive(Known *k, const FlValue *v) {
  learn_bounds(k, v, (FlBounds){.lo = 1, .hi = INT64_MAX});
}

/* x > y holds, or x >= y when `or_equal`. */
static void learn_order(Known *k, const FlValue *x, const FlValue *y, bool or_equal) {
  if (x->type.dtype != FL_I64) return;
  FlBounds bx = fl_opt_bounds(&k->learnt, x), by = fl_opt_bounds(&k->learnt, y);
  int64_t least = by.lo, most = bx.hi;
  if (!or_equal && least < INT64_MAX) least++;
  if (!or_equal && most > INT64_MIN) most--;
  learn_bounds(k, x, (FlBounds){.lo = least, .hi = INT64_MAX});
  FlBounds above = {.lo = INT64_MIN, .hi = most};
  fl_opt_shift(&k->learnt, x, &above.base, &above.by);
  if (above.base->op && above.base->op->code == FL_OP_CONST) above.base = NULL;
  else if (!or_equal && above.by > INT64_MIN) above.by--;
  learn_bounds(k, y, above);
}

static void learn(Known *k, const FlValue *c, bool truth) {
  if (c->id >= k->learnt.n) return;
  keep(k, c);
  k->truth[c->id] = truth ? 1 : 2;
  const FlOp *op = c->op;
  if (!op) return;
  switch (op->code) {
  case FL_OP_NOT: learn(k, op->args[0], !truth); break;
  case FL_OP_AND:
  case FL_OP_OR:
    if (truth == (op->code == FL_OP_AND))
      for (int i = 0; i < 2; i++) learn(k, op->args[i], truth);
    break;
  case FL_OP_GT:
    if (truth) learn_order(k, op->args[0], op->args[1], false);
    else learn_order(k, op->args[1], op->args[0], true);
    break;
  case FL_OP_GE:
    if (truth) learn_order(k, op->args[0], op->args[1], true);
    else learn_order(k, op->args[1], op->args[0], false);
    break;
  case FL_OP_LT:
    if (truth) learn_order(k, op->args[1], op->args[0], false);
    else learn_order(k, op->args[0], op->args[1], true);
    break;
  case FL_OP_LE:
    if (truth) learn_order(k, op->args[1], op->args[0], true);
    else learn_order(k, op->args[0], op->args[1], false);
    break;
  case FL_OP_EQ:
    for (int i = 0; i < 2 && truth; i++) learn_order(k, op->args[i], op->args[1 - i], true);
    break;
  case FL_OP_NE:
  case FL_OP_SELECT:
  case FL_OP_CONVERT:
  case FL_OP_IS_NAN:
  case FL_OP_IS_FINITE:
  case FL_OPS_SUMS:
  case FL_OPS_ARITHMETIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_NOT_SCALAR: break;
  }
}

/* 1 true, 2 false, 0: it depends. */
static unsigned char order_of(const Known *k, const FlOp *op) {
  const FlValue *x = op->args[0], *y = op->args[1];
  const FlLearnt *l = &k->learnt;
  if (x->type.dtype != FL_I64) return 0;
  bool swap = op->code == FL_OP_GT || op->code == FL_OP_GE,
       or_equal = op->code == FL_OP_LE || op->code == FL_OP_GE;
  switch (op->code) {
  case FL_OP_LT:
  case FL_OP_LE:
  case FL_OP_GT:
  case FL_OP_GE:
    if (fl_opt_less(l, swap ? y : x, swap ? x : y, or_equal)) return 1;
    return fl_opt_less(l, swap ? x : y, swap ? y : x, !or_equal) ? 2 : 0;
  case FL_OP_EQ:
  case FL_OP_NE:
    if (fl_opt_less(l, x, y, false) || fl_opt_less(l, y, x, false)) return op->code == FL_OP_NE ? 1 : 2;
    return 0;
  case FL_OPS_NOT_ORDER: break;
  }
  return 0;
}

static FlValue *truth_before(FlOp *op, bool truth) {
  FlBuilder b = fl_opt_before(op);
  return fl_ir_const_i(&b, FL_BOOL, truth);
}

/* A comparison that is certain, and arguments that are. */
static void use_truth(Known *k, FlOp *op) {
  if (op->code != FL_OP_IF && fl_op_info[op->code].op_class != FL_CLASS_SCALAR) return;
  for (int i = 0; i < op->n_args; i++) {
    const FlValue *v = op->args[i];
    if (v->type.dtype != FL_BOOL || !v->op || v->op->code == FL_OP_CONST || v->id >= k->learnt.n) continue;
    if (k->truth[v->id]) op->args[i] = truth_before(op, k->truth[v->id] == 1);
  }
  if (op->n_args != 2 || op->n_results != 1 || op->results[0]->type.dtype != FL_BOOL) return;
  unsigned char truth = order_of(k, op);
  if (truth) fl_subst_set(&k->subst, op->results[0], truth_before(op, truth == 1));
}

static bool are_indices(const FlLearnt *l, const FlOp *load) {
  for (int i = 1; i < load->n_args; i++)
    if (!fl_opt_is_index(l, load->args[i], load->args[0], i - 1)) return false;
  return true;
}

/* Arithmetic that cannot overflow, and reads within bounds. */
static void drop_checks(Known *k, FlOp *op) {
  bool i64 = op->n_args == 2 && op->args[0]->type.dtype == FL_I64 && fl_t_is_scalar(op->args[0]->type);
  switch (op->code) {
  case FL_OP_ADD:
    if (i64 && fl_opt_fits(&k->learnt, op)) op->code = FL_OP_WRAP_ADD;
    break;
  case FL_OP_SUB:
    if (i64 && fl_opt_fits(&k->learnt, op)) op->code = FL_OP_WRAP_SUB;
    break;
  case FL_OP_MUL:
    if (i64 && fl_opt_fits(&k->learnt, op)) op->code = FL_OP_WRAP_MUL;
    break;
  case FL_OP_LOAD:
    if (op->n_args > 1 && are_indices(&k->learnt, op)) op->attrs.i = are_indices(&k->firm, op) ? 2 : 1;
    break;
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_DIM:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OPS_ARITHMETIC:
  case FL_OPS_ORDER:
  case FL_OPS_LOGIC:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_LOOPS:
  case FL_OPS_CONTROL:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_RUNTIME: break;
  }
}

static bool sizes_are_positive(const Known *k, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (fl_opt_bounds(&k->learnt, op->args[i]).lo < 1) return false;
  return true;
}

/* A minimum that came to an end, and fails without elements, had some. */
static void learn_sizes(Known *k, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++) learn_positive(k, op->args[i]);
}

static void visit_reduce(Known *k, FlOp *op) {
  bool picks = false, all = true;
  for (int i = 0; i < op->n_results; i++) {
    const FlReductionAttr *r = &op->attrs.reductions[i];
    if (!fl_reduce_picks(r->kind)) continue;
    picks = true;
    all = all && !r->filtered;
  }
  if (!picks) return;
  if (all && sizes_are_positive(k, op)) op->attrs.i |= FL_REDUCE_SOME;
  if (!(op->attrs.i & FL_REDUCE_SOME))
    learn_sizes(k, op); /* one that does not fail shows nothing: it may be hoisted */
}

static void visit(Known *k, FlRegion *r);

static void visit_regions(Known *k, FlOp *op) {
  for (int i = 0; i < op->n_regions; i++) {
    int before = k->undo.n;
    bool kernel = k->in_kernel || (fl_opt_is_loop(op) && fl_ir_is_kernel(op->regions[i]));
    k->in_kernel += kernel;
    if (op->code == FL_OP_IF) learn(k, op->args[0], i == 0);
    for (int j = 0; fl_opt_is_loop(op) && j < fl_opt_n_sizes(op); j++) learn_positive(k, op->args[j]);
    visit(k, op->regions[i]);
    k->in_kernel -= kernel;
    forget(k, before);
  }
}

/* After the check a == b of sizes there is one: loops over either are over the same. */
static void learn_same(Known *k, const FlOp *check) {
  const FlOp *eq = check->args[0]->op;
  if (!eq || eq->code != FL_OP_EQ || eq->args[0]->type.dtype != FL_I64) return;
  FlValue *a = fl_subst_get(&k->subst, eq->args[0]), *b = fl_subst_get(&k->subst, eq->args[1]);
  int64_t v;
  if (fl_ir_const_value_i(a, &v)) {
    FlValue *other = a;
    a = b;
    b = other;
  }
  if (a == b || fl_ir_const_value_i(a, &v)) return;
  fl_subst_set(&k->subst, a, b);
  fl_vec_push(k->arena, &k->same, a);
  if (b->id < k->learnt.n && k->learnt.at[b->id].base == a) k->learnt.at[b->id].base = NULL; /* it is b now */
}

static void forget_same(Known *k, int n) {
  while (k->same.n > n) fl_subst_set(&k->subst, k->same.at[--k->same.n], NULL);
}

static void visit(Known *k, FlRegion *r) {
  int n_same = k->same.n;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(&k->subst, op);
    if (op->code == FL_OP_CHECK) {
      const FlValue *c = op->args[0];
      int64_t v;
      bool passed = c->id < k->learnt.n && k->truth[c->id] == 1;
      if (passed || (fl_ir_const_value_i(c, &v) && v)) {
        fl_ir_remove(op);
        continue;
      }
      learn(k, c, true);
      learn_same(k, op);
      continue;
    }
    use_truth(k, op);
    drop_checks(k, op);
    visit_regions(k, op);
    if (op->code == FL_OP_REDUCE) visit_reduce(k, op);
  }
  fl_subst_yields(&k->subst, r);
  forget_same(k, n_same);
}

void fl_opt_checks(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Known k = {.arena = fl_arena_new(), .func = f};
    uint32_t n = f->next_id;
    k.truth = FL_NEW_ARRAY(k.arena, unsigned char, n + 1);
    k.learnt =
        (FlLearnt){FL_NEW_ARRAY(k.arena, FlBounds, n + 1), FL_NEW_ARRAY(k.arena, bool, n + 1), n, false};
    k.firm = (FlLearnt){FL_NEW_ARRAY(k.arena, FlBounds, n + 1), FL_NEW_ARRAY(k.arena, bool, n + 1), n, true};
    visit(&k, f->body);
    fl_subst_reset(&k.subst);
    fl_arena_free(k.arena);
  }
}
