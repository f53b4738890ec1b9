/* interp_opt_random.c: random IR programs must print the same bytes and fail with the same message before and
 * after optimisation, both interpreted.
 *
 * In: [first seed [number of programs]]. A program makes arrays of two sizes by maps that read each other at
 * their own indices, backwards, transposed and through rows, with arrays local to loop bodies; it prints what
 * they add up to. Half of the programs can fail, in one of several places. */
#include "exec/exec.h"
#include "interp/interp.h"
#include "opt/opt.h"

#include <stdlib.h>

static int passed, failed;

/* ---- random choices ----------------------------------------------------------------------------------- */

typedef struct Axis {
  FlValue *size, *index;
} Axis;
typedef struct Array {
  FlValue *v;
  FlValue *size[2];
} Array;
enum { MAX_ARRAYS = 60, MAX_AXES = 12 };

typedef struct Maker {
  uint64_t state;
  FlBuilder b;
  FlValue *size[2];
  Array arrays[MAX_ARRAYS]; /* in scope */
  int n_arrays;
  Axis axes[MAX_AXES]; /* of the loops around */
  int n_axes;
  int depth; /* how deep expressions may still become */
  bool faults;
} Maker;

static int pick(Maker *m, int n) {
  m->state ^= m->state << 13;
  m->state ^= m->state >> 7;
  m->state ^= m->state << 17;
  return (int)((m->state * 0x2545f4914f6cdd1dU >> 33) % (uint64_t)n);
}

/* ---- expressions -------------------------------------------------------------------------------------- */

static FlValue *expr(Maker *m, FlDtype d);

static FlValue *constant(Maker *m, FlDtype d) {
  if (d == FL_F64) return fl_ir_const_f(&m->b, d, pick(m, 9) - 3.5);
  return fl_ir_const_i(&m->b, d, m->faults && pick(m, 12) == 0 ? INT64_MAX - pick(m, 3) : pick(m, 9) - 2);
}

/* An index within that size, or NULL: no loop around runs over it. */
static FlValue *index_of(Maker *m, FlValue *size) {
  for (int tries = 0; tries < 6 && m->n_axes > 0; tries++) {
    Axis *a = &m->axes[m->n_axes - 1 - pick(m, m->n_axes)];
    if (a->size != size) continue;
    if (pick(m, 6)) return a->index;
    FlValue *one = fl_ir_const_i(&m->b, FL_I64, 1);
    FlValue *last = fl_ir_binary(&m->b, FL_OP_WRAP_SUB, size, one);
    return fl_ir_binary(&m->b, FL_OP_WRAP_SUB, last, a->index);
  }
  return NULL;
}

static FlValue *element(Maker *m, FlDtype d) {
  for (int tries = 0; tries < 8 && m->n_arrays > 0; tries++) {
    const Array *a = &m->arrays[m->n_arrays - 1 - pick(m, m->n_arrays < 6 ? m->n_arrays : 6)];
    if (a->v->type.dtype != d) continue;
    FlValue *index[2];
    bool fine = true;
    for (int k = 0; k < a->v->type.rank && fine; k++) fine = (index[k] = index_of(m, a->size[k])) != NULL;
    if (!fine && !(m->faults && pick(m, 8) == 0)) continue;
    for (int k = 0; k < a->v->type.rank && !fine; k++) index[k] = fl_ir_const_i(&m->b, FL_I64, pick(m, 4));
    return fl_ir_load(&m->b, a->v, a->v->type.rank, index, fine && pick(m, 2));
  }
  return NULL;
}

static FlValue *leaf(Maker *m, FlDtype d) {
  FlValue *v = pick(m, 4) ? element(m, d) : NULL;
  if (v) return v;
  if (d == FL_I64 && m->n_axes > 0 && pick(m, 2)) return m->axes[pick(m, m->n_axes)].index;
  return constant(m, d);
}

static FlValue *if_op(Maker *m, FlDtype d) {
  FlValue *c = fl_ir_binary(&m->b, FL_OP_LT, expr(m, FL_I64), expr(m, FL_I64));
  FlType1 t = fl_t_scalar(d);
  FlOp *op = fl_ir_op(&m->b, FL_OP_IF, 1, &c, 1, &t, 2);
  FlBuilder around = m->b;
  for (int k = 0; k < 2; k++) {
    m->b.region = fl_ir_region(&around, op, k, 0, NULL);
    FlValue *v = expr(m, d);
    fl_ir_yield(m->b.region, around.module, 1, &v);
  }
  m->b = around;
  return op->results[0];
}

/* Opens the body of a loop over `rank` of the two sizes. */
static FlRegion *open_body(Maker *m, FlOp *op, int rank, FlValue *const *sizes) {
  FlType1 params[2] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)};
  FlRegion *r = fl_ir_region(&m->b, op, 0, rank, params);
  for (int k = 0; k < rank; k++) m->axes[m->n_axes++] = (Axis){sizes[k], r->params[k]};
  m->b.region = r;
  return r;
}

/* A MAP whose arrays come into scope. */
static void map_op(Maker *m) {
  FlValue *sizes[2] = {m->size[pick(m, 2)], m->size[pick(m, 2)]};
  int rank = 1 + (pick(m, 3) == 0), n = 1 + (pick(m, 4) == 0);
  FlDtype d[2] = {pick(m, 2) ? FL_I64 : FL_F64, FL_I64};
  FlType1 types[2] = {fl_t_array(d[0], rank), fl_t_array(d[1], rank)};
  FlOp *op = fl_ir_op(&m->b, FL_OP_MAP, rank, sizes, n, types, 1);
  Maker around = *m;
  FlRegion *r = open_body(m, op, rank, sizes);
  if (around.n_axes == 0 && pick(m, 4) == 0) map_op(m);
  FlValue *yields[2];
  for (int i = 0; i < n; i++) yields[i] = expr(m, d[i]);
  fl_ir_yield(r, around.b.module, n, yields);
  around.state = m->state;
  *m = around;
  for (int i = 0; i < n && m->n_arrays < MAX_ARRAYS; i++)
    m->arrays[m->n_arrays++] = (Array){op->results[i], {sizes[0], sizes[1]}};
}

static FlValue *reduce_op(Maker *m, FlDtype d) {
  static const FlReduceKind kinds[] = {FL_RED_SUM, FL_RED_SUM_PRODUCT, FL_RED_MIN, FL_RED_ARGMAX};
  FlValue *sizes[2] = {m->size[pick(m, 2)], m->size[pick(m, 2)]};
  int rank = 1 + (pick(m, 4) == 0), kind = pick(m, m->faults ? 4 : d == FL_F64 ? 2 : 1);
  FlDtype of = d;
  if (!m->faults && d == FL_I64) d = of = FL_F64;
  FlType1 t = fl_t_scalar(kind == 3 ? FL_I64 : of);
  FlOp *op = fl_ir_op(&m->b, FL_OP_REDUCE, rank, sizes, 1, &t, 1);
  fl_ir_set_reduction(op, kinds[kind], false);
  Maker around = *m;
  FlRegion *r = open_body(m, op, rank, sizes);
  FlValue *yields[2];
  int n = 0;
  yields[n++] = expr(m, of);
  if (kind == 1) yields[n++] = expr(m, of);
  fl_ir_yield(r, around.b.module, n, yields);
  around.state = m->state;
  *m = around;
  return op->results[0];
}

static FlValue *expr(Maker *m, FlDtype d) {
  if (m->depth <= 0) return leaf(m, d);
  m->depth--;
  FlValue *v;
  int k = pick(m, 12);
  static const FlOpcode safe[] = {FL_OP_WRAP_ADD, FL_OP_WRAP_SUB, FL_OP_WRAP_MUL, FL_OP_MIN},
                        checked[] = {FL_OP_ADD, FL_OP_MUL, FL_OP_FLOORDIV, FL_OP_MOD};
  if (k < 3) {
    v = leaf(m, d);
  } else if (k == 3) {
    v = if_op(m, d);
  } else if (k == 4 && m->n_axes < 5) {
    FlDtype of = d == FL_I64 && !m->faults ? FL_F64 : d;
    if (pick(m, 2)) map_op(m); /* local to the body */
    v = reduce_op(m, of);
    if (v->type.dtype != d) v = d == FL_F64 ? fl_ir_convert(&m->b, v, d) : expr(m, d);
  } else if (d == FL_F64) {
    static const FlOpcode real[] = {FL_OP_ADD, FL_OP_SUB, FL_OP_MUL, FL_OP_DIV};
    FlValue *a = k == 5 ? fl_ir_convert(&m->b, expr(m, FL_I64), d) : expr(m, d), *c = expr(m, d);
    v = fl_ir_binary(&m->b, real[pick(m, 4)], a, c);
  } else {
    FlValue *a = expr(m, d), *c = expr(m, d);
    v = fl_ir_binary(&m->b, m->faults && pick(m, 3) == 0 ? checked[pick(m, 4)] : safe[pick(m, 4)], a, c);
  }
  m->depth++;
  return v;
}

/* ---- programs ----------------------------------------------------------------------------------------- */

static void print(Maker *m, FlValue *v) {
  FlType1 t = fl_t_scalar(FL_TEXT);
  FlOp *op = fl_ir_op(&m->b, FL_OP_TO_TEXT, 1, &v, 1, &t, 0);
  op->attrs.s = "";
  fl_ir_op(&m->b, FL_OP_PRINT, 1, op->results, 0, NULL, 0);
}

static void view_op(Maker *m) {
  if (m->n_arrays == 0 || m->n_arrays == MAX_ARRAYS) return;
  Array a = m->arrays[pick(m, m->n_arrays)];
  if (a.v->type.rank == 2) {
    a.v = fl_ir_op(&m->b, FL_OP_TRANSPOSE, 1, &a.v, 1, &a.v->type, 0)->results[0];
    FlValue *first = a.size[0];
    a.size[0] = a.size[1], a.size[1] = first;
  } else if (a.size[0] == m->size[1]) { /* the larger one: its rows from 1 on are as many as the smaller */
    FlValue *args[] = {a.v, fl_ir_const_i(&m->b, FL_I64, 1), m->size[1]};
    a.v = fl_ir_op(&m->b, FL_OP_ROWS, 3, args, 1, &a.v->type, 0)->results[0];
    a.size[0] = m->size[0];
  }
  m->arrays[m->n_arrays++] = a;
}

static FlModule *make(FlArena *arena, int seed) {
  Maker m = {.state = (uint64_t)seed * 0x9e3779b97f4a7c15U + 1, .faults = seed & 1};
  for (int i = 0; i < 8; i++) pick(&m, 2);
  FlModule *module = fl_ir_module_make(arena, "random");
  FlFunc *f = fl_ir_func_make(module, "main", FL_FUNC_MAIN, (FlSpan){0});
  m.b = (FlBuilder){.module = module, .func = f, .region = f->body, .span = f->span};
  int n = pick(&m, 12) ? 1 + pick(&m, 6) : 0;
  m.size[0] = fl_ir_const_i(&m.b, FL_I64, n);
  m.size[1] = fl_ir_const_i(&m.b, FL_I64, n + 1);
  for (int i = 3 + pick(&m, 8); i > 0; i--) {
    m.depth = 2;
    int kind = pick(&m, 8);
    if (kind < 5) map_op(&m);
    else if (kind == 5) view_op(&m);
    else print(&m, reduce_op(&m, FL_F64));
  }
  m.depth = 2;
  for (int i = 0; i < 3; i++) print(&m, reduce_op(&m, pick(&m, 2) ? FL_F64 : FL_I64));
  fl_ir_yield(f->body, module, 0, NULL);
  return module;
}

static void collect(void *arg, const char *bytes, int64_t len) { fl_text_add(arg, bytes, (size_t)len); }

/* Output, then the message of the error if there is one. */
static void run(FlArena *arena, FlModule *m, int level, FlText1 *out) {
  FlOptOptions options = {.level = level, .verify = true};
  fl_text_addc(out, '\n');
  if (!fl_opt_run(m, &options, out)) return;
  const FlProgram *program =
      fl_interp_program(fl_interp_make(arena, fl_plan_make(arena, m, level), NULL), NULL);
  FlRunOptions how = {.workers = 1, .quiet = true, .out = collect, .out_arg = out};
  FlRun *r = fl_run_new(program, &how);
  FlSlot none[1] = {0};
  if (program->main(fl_run_ctx(r), none, none) != 0)
    fl_text_addf(out, "error: %s\n", fl_ctx_message(fl_run_ctx(r)));
  fl_run_free(r);
}

static int n_maps[2], n_errors;

static void check(int seed) {
  FlArena *arena = fl_arena_new();
  FlModule *plain = make(arena, seed), *better = make(arena, seed);
  FlText1 want = {0}, got = {0};
  run(arena, plain, 0, &want);
  run(arena, better, 1, &got);
  n_maps[0] += fl_opt_count(plain->main, FL_OP_MAP);
  n_maps[1] += fl_opt_count(better->main, FL_OP_MAP);
  n_errors += strstr(want.s, "error: ") != NULL;
  bool same = strcmp(want.s, got.s) == 0;
  if (!same) {
    printf("seed %d:\n--- before%s--- after%s", seed, want.s, got.s);
    FlText1 ir = {0};
    if (getenv("FLOW_TEST_SHOW_IR")) {
      fl_ir_print(&ir, plain);
      fl_ir_print(&ir, better);
      printf("%s", ir.s);
    }
    fl_text_reset(&ir);
  }
  passed += same;
  failed += !same;
  fl_text_reset(&want);
  fl_text_reset(&got);
  fl_arena_free(arena);
}

int main(int argc, char **argv) {
  int first = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 400;
  for (int seed = first; seed < first + n; seed++) check(seed);
  printf("%d maps before, %d after; %d programs failed\n", n_maps[0], n_maps[1], n_errors);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
