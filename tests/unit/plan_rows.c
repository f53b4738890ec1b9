/* plan_rows: what a plan says of how a loop reads an array, against the indices that it really has. A case is
 * a map that reads at a random expression of its own index, its size, constants and the index of an inner
 * loop; the expression is worked out for each of them at several sizes. */
#include "check.h"
#include "plan/plan.h"

enum { CASES = 20000, WINDOW = 3, DEPTH = 3 };

typedef struct Case {
  FlBuilder b;
  FlValue *own, *inner, *size;
  uint64_t seed;
} Case;

static int draw(Case *c, int n) {
  c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((c->seed >> 33) % (unsigned)n);
}

static FlValue *expression(Case *c, int depth) {
  static const FlOpcode codes[] = {FL_OP_ADD,      FL_OP_SUB, FL_OP_WRAP_ADD,
                                   FL_OP_WRAP_SUB, FL_OP_MIN, FL_OP_MAX};
  int what = draw(c, depth ? 12 : 5);
  if (what < 2) return c->own;
  if (what == 2) return c->inner;
  if (what == 3) return fl_ir_const_i(&c->b, FL_I64, draw(c, 9) - 3);
  if (what == 4) return c->size;
  FlValue *x = expression(c, depth - 1), *y = expression(c, depth - 1);
  if (what < 11) return fl_ir_binary(&c->b, codes[what - 5], x, y);
  return fl_ir_select(&c->b, fl_ir_binary(&c->b, FL_OP_LT, c->own, c->inner), x, y);
}

static int64_t value(const Case *c, const FlValue *v, int64_t own, int64_t inner, int64_t size) {
  int64_t a[3] = {0};
  if (v == c->own) return own;
  if (v == c->inner) return inner;
  if (v == c->size) return size;
  if (v->op->code == FL_OP_CONST) return v->op->attrs.i;
  for (int i = 0; i < v->op->n_args; i++) a[i] = value(c, v->op->args[i], own, inner, size);
  if (v->op->code == FL_OP_ADD || v->op->code == FL_OP_WRAP_ADD) return a[0] + a[1];
  if (v->op->code == FL_OP_SUB || v->op->code == FL_OP_WRAP_SUB) return a[0] - a[1];
  if (v->op->code == FL_OP_MIN) return a[0] < a[1] ? a[0] : a[1];
  if (v->op->code == FL_OP_MAX) return a[0] > a[1] ? a[0] : a[1];
  if (v->op->code == FL_OP_LT) return a[0] < a[1];
  return a[0] ? a[1] : a[2];
}

static bool holds(const Case *c, const FlUse *u, const FlValue *index) {
  for (int64_t size = 1; size < 12; size += 3)
    for (int64_t own = 0; own < size; own++)
      for (int64_t inner = 0; inner < WINDOW; inner++) {
        int64_t away = value(c, index, own, inner, size) - own;
        if (u->rows == FL_ROWS_OWN && away != 0) return false;
        if (u->rows == FL_ROWS_NEAR && (away < u->lo || away > u->hi)) return false;
        if (u->element && away != 0) return false;
      }
  return true;
}

/* How the map of this seed reads its array; `fine`: as the plan says. */
static FlRows run(uint64_t seed, bool *fine) {
  FlArena *arena = fl_arena_new();
  FlModule *m = fl_ir_module_make(arena, "rows");
  FlFunc *f = fl_ir_func_make(m, "f", FL_FUNC_PLAIN, (FlSpan){0});
  FlValue *size = fl_ir_param(f->body, fl_t_scalar(FL_I64)), *x = fl_ir_param(f->body, fl_t_array(FL_F64, 1));
  Case c = {.b = {.module = m, .func = f, .region = f->body}, .size = size, .seed = seed};
  FlType1 whole = fl_t_scalar(FL_I64), real = fl_t_scalar(FL_F64), reals = fl_t_array(FL_F64, 1);
  FlOp *map = fl_ir_op(&c.b, FL_OP_MAP, 1, &size, 1, &reals, 1);
  c.b.region = fl_ir_region(&c.b, map, 0, 1, &whole);
  c.own = c.b.region->params[0];
  FlValue *window = fl_ir_const_i(&c.b, FL_I64, WINDOW);
  FlOp *sum = fl_ir_op(&c.b, FL_OP_REDUCE, 1, &window, 1, &real, 1);
  fl_ir_set_reduction(sum, FL_RED_SUM, false);
  c.b.region = fl_ir_region(&c.b, sum, 0, 1, &whole);
  c.inner = c.b.region->params[0];
  FlValue *index = expression(&c, DEPTH), *element = fl_ir_load(&c.b, x, 1, &index, false);
  fl_ir_yield(c.b.region, m, 1, &element);
  fl_ir_yield(map->regions[0], m, 1, sum->results);
  fl_ir_yield(f->body, m, 1, map->results);
  const FlPlanKernel *k = fl_plan_step(fl_plan_make(arena, m, 0), map)->kernel;
  const FlUse *u = NULL;
  for (int i = 0; i < k->n_uses; i++)
    if (k->uses[i].value == x) u = &k->uses[i];
  *fine = u && holds(&c, u, index);
  FlRows rows = u ? u->rows : FL_ROWS_NONE;
  fl_arena_free(arena);
  return rows;
}

int main(void) {
  int count[FL_N_ROWS] = {0}, wrong = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    bool fine;
    count[run(seed * 7919, &fine)]++;
    if (!fine && wrong++ < 5) check(false, "seed %d: an index is outside of what is said", (int)seed);
  }
  check(wrong == 0, "%d of %d maps read rows that their plan does not have", wrong, CASES);
  check(count[FL_ROWS_OWN] > CASES / 50 && count[FL_ROWS_NEAR] > CASES / 50 &&
            count[FL_ROWS_ANY] > CASES / 10,
        "all ways of reading are met: %d own, %d near, %d any", count[FL_ROWS_OWN], count[FL_ROWS_NEAR],
        count[FL_ROWS_ANY]);
  return finish();
}
