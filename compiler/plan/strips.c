/* strips.c: steps that follow each other over the same rows, and may be run strip by strip: a product by rows
 * of a matrix, loops over the elements of what it gives, and a product that folds these with the rows of the
 * same matrix, which is then read once.
 *
 * In: a body whose steps are made. Out: the place of each such step. What always holds: between the first and
 * the last of them nothing but they reads what they give, or changes an array; a loop among them cannot fail;
 * what is computed of a number that such a loop sums up is made behind the last step. */
#include "plan/plan_internal.h"

enum { INNER = 4, BEHIND = 32 };

typedef struct Chain {
  FlPlanStep *first, *inner[INNER], *behind[BEHIND];
  int n, n_behind;
} Chain;

static bool is_result(const FlPlanStep *s, const FlValue *v) { return v->op == s->op; }

/* What the first step, the loops and what comes behind them give: none of it is there before the last one. */
static bool gives(const Chain *c, const FlValue *v) {
  bool found = is_result(c->first, v);
  for (int i = 0; i < c->n && !found; i++) found = is_result(c->inner[i], v);
  for (int i = 0; i < c->n_behind && !found; i++) found = is_result(c->behind[i], v);
  return found;
}

/* The record of a run reads what it is to show where it was made. */
static bool is_plain(const FlPlanStep *s) {
  for (int i = 0; i < s->op->n_results; i++)
    if (s->op->results[i]->seen) return false;
  return !s->row && !s->waits && !s->loop;
}

static bool is_product(const FlPlanStep *s) {
  return s->kind == FL_STEP_BULK && s->op->code == FL_OP_MATMUL && is_plain(s);
}

static bool is_first(const FlPlanStep *s) {
  return is_product(s) && s->op->args[0]->type.rank == 2 && !(s->op->attrs.i & 1) &&
         fl_dtype_is_float(s->op->results[0]->type.dtype);
}

/* What a loop takes is there later, too: numbers, and whole arrays of them. */
static bool can_wait(const FlUse *u) {
  FlType1 t = u->value->type;
  if (fl_dtype_is_text(t.dtype) || t.depth) return false;
  return fl_t_is_scalar(t) || u->rows != FL_ROWS_NONE;
}

static bool is_numbers(const FlPlanStep *s) {
  const FlPlanKernel *k = s->kernel;
  if (s->kind != FL_STEP_KERNEL || (k->form != FL_KERNEL_ELEMENTS && k->form != FL_KERNEL_BLOCKS))
    return false;
  return !k->makes_texts && !k->gives_texts && is_plain(s);
}

static bool is_inner(const Chain *c, const FlPlanStep *s) {
  const FlPlanKernel *k = s->kernel;
  if (!is_numbers(s) || k->faults) return false;
  bool reads = false;
  for (int i = 0; i < k->n_uses; i++) {
    bool own = gives(c, k->uses[i].value); /* a number of the chain has no rows */
    if (!can_wait(&k->uses[i]) || (own && k->uses[i].rows != FL_ROWS_OWN)) return false;
    reads |= own;
  }
  return reads && c->n < INNER;
}

static bool is_last(const Chain *c, const FlPlanStep *s) {
  if (!is_product(s) || c->n == 0) return false;
  const FlOp *op = s->op;
  const FlValue *x = c->first->op->args[0];
  if (op->attrs.i == 1) return op->args[0] == x && gives(c, op->args[1]);
  return op->attrs.i == 0 && op->args[1] == x && op->args[0]->type.rank == 1 && gives(c, op->args[0]);
}

/* It may stand between: it looks at nothing that they give but sizes, and changes no array. */
static bool stands_between(const Chain *c, const FlPlanStep *s) {
  const FlPlanKernel *k = s->kernel;
  if (s->op->code == FL_OP_STORE || s->waits || s->row || s->loop) return false;
  if (s->kind != FL_STEP_VALUE && !is_numbers(s)) return false;
  if (!k && s->op->n_regions) return false;
  for (int i = 0; k && i < k->n_uses; i++)
    if (gives(c, k->uses[i].value)) return false;
  for (int i = 0; i < s->op->n_args; i++)
    if (gives(c, s->op->args[i]) && s->op->code != FL_OP_DIM) return false;
  return true;
}

/* It is made of numbers that a loop of them sums up, and cannot fail: it may as well come behind the last
 * one. */
static bool comes_behind(const Chain *c, const FlPlanStep *s) {
  bool numbers = fl_op_info[s->op->code].op_class == FL_CLASS_SCALAR && c->n_behind < BEHIND;
  for (int i = 0; i < s->op->n_args; i++) numbers &= !fl_dtype_is_text(s->op->args[i]->type.dtype);
  return numbers && s->kind == FL_STEP_VALUE && !fl_ir_may_fault(s->op) && is_plain(s) && !s->n_dead;
}

static void mark(const Chain *c, FlPlanStep *last) {
  c->first->strips = FL_STRIPS_FIRST;
  for (int i = 0; i < c->n; i++) c->inner[i]->strips = FL_STRIPS_INNER;
  for (int i = 0; i < c->n_behind; i++) c->behind[i]->strips = FL_STRIPS_BEHIND;
  last->strips = FL_STRIPS_LAST;
}

void fl_plan_find_strips(FlPlanBody *body) {
  Chain c = {0};
  for (int i = 0; i < body->steps.n; i++) {
    FlPlanStep *s = body->steps.at[i];
    for (int k = 0; s->inside && k < s->op->n_regions && s->op->code != FL_OP_MAP; k++)
      fl_plan_find_strips(s->inside[k]);
    if (c.first && is_inner(&c, s)) {
      c.inner[c.n++] = s;
    } else if (c.first && is_last(&c, s)) {
      mark(&c, s);
      c.first = NULL;
    } else if (is_first(s)) {
      c = (Chain){.first = s};
    } else if (c.first && !stands_between(&c, s)) {
      if (comes_behind(&c, s)) c.behind[c.n_behind++] = s;
      else c.first = NULL;
    }
  }
}
