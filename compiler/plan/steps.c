/* steps.c: the rows of tables of steps (docs/decisions/steps.md): which operations do the same, but for what
 * they work on. They are of one kind, and share its code. */
#include "plan/plan_internal.h"

void fl_plan_describe_constant(FlText1 *out, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  fl_text_add(out, (const char *)&t, sizeof t);
  fl_text_add(out, (const char *)&op->attrs.i, sizeof op->attrs.i);
  fl_text_add(out, (const char *)&op->attrs.f, sizeof op->attrs.f);
  size_t len = op->attrs.s_len ? (size_t)op->attrs.s_len : op->attrs.s ? strlen(op->attrs.s) : 0;
  fl_text_addf(out, "%zu:", len);
  if (len) fl_text_add(out, op->attrs.s, len);
}

/* What an operation is but for what it works on: `outside` are its operands and what its regions take from
 * around it, in the order in which it names them. */
typedef struct Shape {
  FlPlanner *m;
  const FlOp *op;
  FlText1 text;
  FlMap *number; /* value -> 1 + its number, those outside below 0 */
  int n_inside;
  FlVec(FlValue *) outside;
} Shape;

static void add_number(Shape *s, int64_t n) { fl_text_add(&s->text, (const char *)&n, sizeof n); }

static void add_type(Shape *s, FlType1 t) { fl_text_add(&s->text, (const char *)&t, sizeof t); }

static void add_text(Shape *s, const char *text, size_t len) {
  add_number(s, text ? (int64_t)len : -1);
  if (text) fl_text_add(&s->text, text, len);
}

static void add_inside(Shape *s, const FlValue *v) {
  fl_map_set(s->number, v, (void *)(intptr_t)++s->n_inside);
  add_type(s, v->type);
}

static void add_value(Shape *s, FlValue *v) {
  intptr_t n = (intptr_t)fl_map_get(s->number, v);
  if (!n && v->op && v->op->code == FL_OP_CONST) {
    fl_text_addc(&s->text, 'c');
    fl_plan_describe_constant(&s->text, v->op);
    return;
  }
  fl_text_addc(&s->text, n ? 'v' : 'o');
  if (!n) {
    fl_vec_push(s->m->plan->arena, &s->outside, v);
    fl_map_set(s->number, v, (void *)(n = -s->outside.n));
    add_type(s, v->type);
    add_number(s, fl_lifetime_dies_after(s->m->func->life, s->op, v)); /* it may be written over */
  }
  add_number(s, n);
}

static void add_place(Shape *s, FlSpan span) {
  add_number(s, span.file);
  add_number(s, span.start);
  add_number(s, span.len);
  add_number(s, span.call);
}

static void add_attributes(Shape *s, const FlOp *op) {
  const FlAttrs *a = &op->attrs;
  add_number(s, op->code);
  add_number(s, fl_plan_attr(s->m->plan, op));
  fl_text_add(&s->text, (const char *)&a->f, sizeof a->f);
  add_text(s, a->s, a->s ? (a->s_len ? (size_t)a->s_len : strlen(a->s)) : 0);
  add_number(s, a->n_list);
  for (int i = 0; i < a->n_list; i++) add_text(s, a->list[i], strlen(a->list[i]));
  add_number(s, a->n_reductions);
  for (int i = 0; i < a->n_reductions; i++)
    add_number(s, 2 * (int64_t)a->reductions[i].kind + a->reductions[i].filtered);
  add_number(s, a->n_columns);
  for (int i = 0; i < a->n_columns; i++) {
    const FlColumnAttr *c = &a->columns[i];
    add_number(s, c->flags);
    add_text(s, c->name, c->name ? strlen(c->name) : 0);
    add_text(s, c->made, c->made ? strlen(c->made) : 0);
    add_number(s, c->dtype);
  }
  add_number(s, (int64_t)(intptr_t)a->format);
  add_number(s, a->n_options);
  for (int i = 0; i < a->n_options; i++) {
    const FlOptionAttr *o = &a->options[i];
    add_text(s, o->name, strlen(o->name));
    add_text(s, o->text, o->text ? strlen(o->text) : 0);
    add_number(s, o->number);
    add_number(s, o->found);
  }
  add_number(s, (int64_t)(intptr_t)a->library);
  add_number(s, (int64_t)(intptr_t)a->func);
  add_place(s, op->span);
  for (int i = 0; op->places && i < op->n_results; i++) add_place(s, op->places[i]);
  add_number(s, op->n_args);
  add_number(s, op->n_results);
}

static void add_op(Shape *s, const FlOp *op);

static void add_region(Shape *s, const FlRegion *r) {
  add_number(s, r->n_params);
  for (int i = 0; i < r->n_params; i++) add_inside(s, r->params[i]);
  for (const FlOp *op = r->first; op; op = op->next) add_op(s, op);
  add_number(s, -1); /* no code of an operator */
  for (int i = 0; i < r->n_yields; i++) add_value(s, r->yields[i]);
}

static void add_op(Shape *s, const FlOp *op) {
  add_attributes(s, op);
  for (int i = 0; i < op->n_args; i++) add_value(s, op->args[i]);
  for (int i = 0; i < op->n_regions; i++) add_region(s, op->regions[i]);
  for (int i = 0; i < op->n_results; i++) add_inside(s, op->results[i]);
}

/* Of runtime operators the description is the kind: what stands where does not matter. */
static void add_call(Shape *s, const FlOp *op) {
  add_attributes(s, op);
  for (int i = 0; i < op->n_args; i++) add_type(s, op->args[i]->type);
  for (int i = 0; i < op->n_results; i++) add_type(s, op->results[i]->type);
}

/* What is decided of the step beside what it says itself. */
static void add_decided(Shape *s, const FlPlanStep *step) {
  add_number(s, fl_plan_by_rows(s->m->plan, step));
  add_number(s, fl_plan_codes(s->m->plan, step->op));
  add_number(s, fl_plan_apart(s->m->plan, step->op));
  for (int i = 0; i < step->op->n_results; i++)
    add_number(s, fl_plan_may_part(s->m->plan, step->op->results[i]));
  for (int i = 0; step->kernel && i < step->kernel->n_uses; i++) add_number(s, step->kernel->uses[i].rows);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* The kind of what is described so: `next` when it is a new one. */
static int kind_of(FlPlanTable *t, Shape *s, FlPlanRowRuns runs) {
  fl_text_addc(&s->text, (char)runs);
  const char *key = fl_intern(t->names, s->text.s, s->text.len);
  int known = (int)(intptr_t)fl_map_get(t->kinds, key);
  if (!known) fl_map_set(t->kinds, key, (void *)(intptr_t)(known = ++t->n_kinds));
  return known - 1;
}

static FlValue **with_captures(FlPlanner *m, const FlPlanStep *s) {
  const FlOp *op = s->op;
  FlValue **all = FL_NEW_ARRAY(m->plan->arena, FlValue *, op->n_args + s->kernel->n_uses);
  for (int i = 0; i < op->n_args; i++) all[i] = op->args[i];
  for (int i = 0; i < s->kernel->n_uses; i++)
    all[op->n_args + i] = (FlValue *)(uintptr_t)s->kernel->uses[i].value;
  return all;
}

static FlPlanRowRuns runs_of(const FlPlanStep *s) {
  bool called = fl_op_info[s->op->code].op_class == FL_CLASS_RUNTIME && !fl_ir_within(s->op);
  if (called || s->op->code == FL_OP_ARRAY) return FL_ROW_CALLS;
  return s->kernel && s->kernel->form == FL_KERNEL_TASKS ? FL_ROW_TASKS : FL_ROW_FUNCTION;
}

bool fl_plan_shares_steps(const FlPlanBody *body) {
  FlArena *arena = fl_arena_new();
  FlInterner *places = fl_interner_make(arena);
  FlMap *seen = fl_map_make(arena);
  int rows = 0, functions = 0;
  for (int i = 0; i < body->steps.n; i++) {
    const FlPlanStep *s = body->steps.at[i];
    if (s->op->code == FL_OP_CONST || !s->in_table) continue;
    rows++;
    if (runs_of(s) != FL_ROW_FUNCTION) continue;
    const uint32_t place[] = {s->op->code, s->op->span.file, s->op->span.start, s->op->span.len,
                              s->op->span.call};
    const char *key = fl_intern(places, (const char *)place, sizeof place);
    if (!fl_map_get(seen, key)) functions++;
    fl_map_set(seen, key, (void *)(uintptr_t)s);
  }
  fl_arena_free(arena);
  return rows >= 2 * functions;
}

static void make_row(FlPlanner *m, FlPlanTable *t, FlPlanStep *step) {
  const FlOp *op = step->op;
  FlPlanRow *row = FL_NEW(m->plan->arena, FlPlanRow);
  Shape s = {.m = m, .op = op};
  step->row = row;
  add_decided(&s, step);
  switch (runs_of(step)) {
  case FL_ROW_CALLS:
    add_call(&s, op);
    *row = (FlPlanRow){FL_ROW_CALLS, kind_of(t, &s, FL_ROW_CALLS), op->n_args, op->args};
    break;
  case FL_ROW_TASKS:
    *row = (FlPlanRow){FL_ROW_TASKS, t->n_kinds++, op->n_args + step->kernel->n_uses, with_captures(m, step)};
    break;
  case FL_ROW_FUNCTION: {
    s.number = fl_map_make(m->plan->arena);
    add_op(&s, op);
    int kind = kind_of(t, &s, FL_ROW_FUNCTION);
    *row = (FlPlanRow){FL_ROW_FUNCTION, kind, s.outside.n, s.outside.at};
    break;
  }
  }
  fl_text_reset(&s.text);
}

void fl_plan_rows(FlPlanner *m, FlPlanTable *t, FlPlanBody *body) {
  for (int i = 0; i < body->steps.n; i++) {
    FlPlanStep *s = body->steps.at[i];
    if (body->table && s->in_table) {
      if (s->op->code != FL_OP_CONST) make_row(m, t, s);
      continue;
    }
    for (int k = 0; s->inside && k < s->op->n_regions && s->op->code != FL_OP_MAP && !s->loop; k++)
      fl_plan_rows(m, t, s->inside[k]);
  }
}
