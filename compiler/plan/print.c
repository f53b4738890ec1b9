/* print.c: a plan as text, for people and golden tests; see plan.h.
 *
 *   @f %0, %1: communicates {
 *     %2 = sort_perm %1: bulk
 *       %1 any
 *     %3 = take %2, %1: bulk, reads last (4)
 *       %2 own, dies
 *       %1 move
 *     give back %2
 *     %4 = map %0: kernel, elements by 1, 1 output, 0.7 ns, may fail
 *       %3 near -1 to 0
 *     yield %3 moved, %4 moved
 *   }
 *
 * `parted %3`: the array may be here in part. A step is its results, its operator with arguments, its kind
 * and what is decided of it; below it a line for each array that it takes, with the rows that it needs of it,
 * and what its regions do. Scalars have a line only where something is decided of them. */
#include "plan/plan.h"

#include <stdlib.h>

typedef struct Printer {
  FlText1 *out;
  const FlPlan *plan;
  uint32_t *number; /* by value id */
  int depth;
} Printer;

/* ---- values -------------------------------------------------------------------------------------------- */

static void number_region(Printer *p, const FlRegion *r, uint32_t *next) {
  for (int i = 0; i < r->n_params; i++) p->number[r->params[i]->id] = (*next)++;
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) p->number[op->results[i]->id] = (*next)++;
    for (int i = 0; i < op->n_regions; i++) number_region(p, op->regions[i], next);
  }
}

static void put_value(Printer *p, const FlValue *v) {
  int64_t c;
  if (fl_ir_const_value_i(v, &c)) fl_text_addf(p->out, "%lld", (long long)c);
  else fl_text_addf(p->out, "%%%u", p->number[v->id]);
}

static void put_values(Printer *p, const char *between, int n, FlValue *const *values) {
  for (int i = 0; i < n; i++) {
    fl_text_addz(p->out, i ? ", " : between);
    put_value(p, values[i]);
  }
}

/* Those that may be here in part. */
static void put_parted(Printer *p, int n, FlValue *const *values) {
  const char *before = ", parted ";
  for (int i = 0; i < n; i++) {
    if (!fl_plan_may_part(p->plan, values[i])) continue;
    fl_text_addz(p->out, before);
    put_value(p, values[i]);
    before = ", ";
  }
}

static void line(Printer *p) { fl_text_addf(p->out, "\n%*s", 2 * p->depth, ""); }

/* ---- cost ---------------------------------------------------------------------------------------------- */

static bool is_nothing(const FlCost *c) { return c->kind == FL_COST_CONSTANT && c->n == 0; }

static void put_cost(Printer *p, const FlCost *c, bool factor) {
  switch (c->kind) {
  case FL_COST_CONSTANT: fl_text_addf(p->out, "%g", c->n); break;
  case FL_COST_VALUE: put_value(p, c->value); break;
  case FL_COST_DIM:
    put_value(p, c->value);
    fl_text_addf(p->out, ".%d", c->axis);
    break;
  case FL_COST_PRODUCT:
    put_cost(p, c->a, true);
    fl_text_addz(p->out, " x ");
    put_cost(p, c->b, true);
    break;
  case FL_COST_SUM:
    if (is_nothing(c->a)) {
      put_cost(p, c->b, factor);
      break;
    }
    if (factor) fl_text_addc(p->out, '(');
    put_cost(p, c->a, false);
    fl_text_addz(p->out, " + ");
    put_cost(p, c->b, false);
    if (factor) fl_text_addc(p->out, ')');
  }
}

/* ---- what a step takes --------------------------------------------------------------------------------- */

static void put_uses(Printer *p, int n, const FlUse *uses) {
  for (int i = 0; i < n; i++) {
    const FlUse *u = &uses[i];
    if (fl_t_is_scalar(u->value->type)) continue;
    line(p);
    put_value(p, u->value);
    fl_text_addf(p->out, " %s", fl_rows_names[u->rows]);
    if (u->rows == FL_ROWS_NEAR) fl_text_addf(p->out, " %lld to %lld", (long long)u->lo, (long long)u->hi);
    if (u->element && u->rows == FL_ROWS_OWN) fl_text_addz(p->out, ", the element alone");
    if (u->dies) fl_text_addz(p->out, ", dies");
  }
}

static void put_kernel(Printer *p, const FlPlanKernel *k) {
  static const char *const forms[] = {[FL_KERNEL_ELEMENTS] = "elements",
                                      [FL_KERNEL_COLUMNS] = "columns",
                                      [FL_KERNEL_BLOCKS] = "blocks",
                                      [FL_KERNEL_KEPT] = "kept",
                                      [FL_KERNEL_TASKS] = "tasks"};
  fl_text_addf(p->out, ", %s", forms[k->form]);
  if (k->form == FL_KERNEL_TASKS) return;
  fl_text_addf(p->out, " by %d, %d output%s, ", k->unit, k->n_outputs, k->n_outputs == 1 ? "" : "s");
  put_cost(p, k->cost, false);
  fl_text_addz(p->out, " ns");
  if (k->faults) fl_text_addz(p->out, ", may fail");
  if (k->gives_texts) fl_text_addz(p->out, ", texts");
  if (k->weight > FL_CODE_WIDE)
    fl_text_addz(p->out, k->weight > FL_CODE_SLOW ? ", slow code" : ", wide code");
  if (k->n_draws) fl_text_addf(p->out, ", draws %d", k->n_draws);
}

static void put_over(Printer *p, const FlPlanKernel *k) {
  for (int i = 0; k->over && i < k->op->n_results; i++) {
    if (!k->over[i]) continue;
    line(p);
    put_value(p, k->op->results[i]);
    fl_text_addz(p->out, " over ");
    put_value(p, k->over[i]);
  }
}

static void put_stacked(Printer *p, const FlOp *op) {
  for (int i = 0; i < op->n_results; i++) {
    if (!op->results[i]->type.depth || !fl_plan_list_is_stacked(p->plan, op->results[i])) continue;
    line(p);
    put_value(p, op->results[i]);
    fl_text_addz(p->out, " is only stacked");
  }
}

static void put_ownership(Printer *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  for (int i = 0; s->takes && i < op->n_args; i++) {
    if (!s->takes[i]) continue;
    line(p);
    fl_text_addz(p->out, "takes ");
    put_value(p, op->args[i]);
  }
  for (int i = 0; i < op->n_results; i++) {
    bool made = s->holds && s->holds[i] == FL_CARRY_MAKE, kept = s->holds && s->holds[i] == FL_CARRY_SAME;
    bool stays = s->same && s->same[i];
    if (!made && !kept && !stays) continue;
    line(p);
    put_value(p, op->results[i]);
    fl_text_addz(p->out, made ? " stays where it is, once made unique" : " stays where it is");
  }
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void put_body(Printer *p, const FlPlanBody *body);

/* Is there anything that was decided of it? */
static bool says_something(const FlPlanStep *s) {
  return s->kind != FL_STEP_VALUE || s->n_dead || s->waits || s->takes || s->writes || s->view_of ||
         s->strips;
}

static void put_step(Printer *p, const FlPlanStep *s) {
  static const char *const kinds[] = {
      [FL_STEP_VALUE] = "value",     [FL_STEP_KERNEL] = "kernel",   [FL_STEP_SERIAL] = "serial",
      [FL_STEP_BULK] = "bulk",       [FL_STEP_CONTROL] = "control", [FL_STEP_CALL] = "call",
      [FL_STEP_STAGE] = "stage call"};
  static const char *const places[] = {"none", "first", "inner", "last", "behind the last"};
  const FlOp *op = s->op;
  if (!says_something(s)) return;
  line(p);
  put_values(p, "", op->n_results, op->results);
  fl_text_addf(p->out, "%s%s", op->n_results ? " = " : "", fl_op_info[op->code].name);
  if (op->attrs.func) fl_text_addf(p->out, " @%s", op->attrs.func->name);
  put_values(p, " ", op->n_args, op->args);
  fl_text_addf(p->out, ": %s", kinds[s->kind]);
  if (s->kernel) put_kernel(p, s->kernel);
  if (s->loop) fl_text_addz(p->out, ", by itself");
  if (s->waits) fl_text_addf(p->out, ", waits for %d", s->waits);
  if (s->writes) fl_text_addz(p->out, ", in place");
  if (s->row) fl_text_addf(p->out, ", row of kind %d", s->row->kind);
  if (s->view_of) {
    fl_text_addz(p->out, ", view of ");
    put_value(p, s->view_of);
  }
  if (s->strips) fl_text_addf(p->out, ", %s of strips", places[s->strips]);
  if (s->lasts) fl_text_addf(p->out, ", reads last (%lld)", (long long)s->lasts);
  put_parted(p, op->n_results, op->results);
  p->depth++;
  if (s->kernel) put_uses(p, s->kernel->n_uses, s->kernel->uses);
  else if (s->uses) put_uses(p, op->n_args, s->uses);
  if (s->kernel) put_over(p, s->kernel);
  if (s->kernel && s->kernel->form == FL_KERNEL_TASKS) put_stacked(p, op);
  put_ownership(p, s);
  for (int i = 0; s->inside && i < op->n_regions; i++) {
    line(p);
    put_values(p, "", op->regions[i]->n_params, op->regions[i]->params);
    put_parted(p, op->regions[i]->n_params, op->regions[i]->params);
    if (op->regions[i]->n_params) fl_text_addc(p->out, ' ');
    put_body(p, s->inside[i]);
  }
  p->depth--;
  if (!s->n_dead) return;
  line(p);
  put_values(p, "give back ", s->n_dead, s->dead);
}

static void put_body(Printer *p, const FlPlanBody *body) {
  const FlRegion *r = body->region;
  fl_text_addz(p->out, body->table ? "{ table" : "{");
  p->depth++;
  if (body->n_unused) {
    line(p);
    put_values(p, "give back ", body->n_unused, body->unused);
  }
  for (int i = 0; i < body->gathers.n; i++) {
    if (!fl_plan_may_part(p->plan, body->gathers.at[i])) continue;
    line(p);
    put_values(p, "gather ", 1, &body->gathers.at[i]);
  }
  for (int i = 0; i < body->steps.n; i++) put_step(p, body->steps.at[i]);
  if (r->n_yields) {
    line(p);
    for (int i = 0; i < r->n_yields; i++) {
      fl_text_addz(p->out, i ? ", " : "yield ");
      put_value(p, r->yields[i]);
      if (!fl_t_is_scalar(r->yields[i]->type)) fl_text_addz(p->out, body->moves[i] ? " moved" : " shared");
    }
  }
  p->depth--;
  line(p);
  fl_text_addc(p->out, '}');
}

void fl_plan_print(FlText1 *out, const FlPlan *plan) {
  for (int i = 0; i < plan->funcs.n; i++) {
    const FlPlanFunc *f = plan->funcs.at[i];
    Printer p = {out, plan, fl_piece_new((size_t)f->func->next_id + 1, sizeof *p.number), 0};
    uint32_t next = 0;
    number_region(&p, f->func->body, &next);
    fl_text_addf(out, "%s@%s", i ? "\n" : "", f->func->name);
    put_values(&p, " ", f->func->body->n_params, f->func->body->params);
    put_parted(&p, f->func->body->n_params, f->func->body->params);
    fl_text_addf(out, ":%s ", f->communicates ? " communicates" : "");
    put_body(&p, f->body);
    fl_text_addc(out, '\n');
    fl_piece_free(p.number);
  }
}
