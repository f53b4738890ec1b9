/* codegen_random.c: random IR programs, interpreted and compiled in every way, must print the same bytes and
 * fail with the same message.
 *
 * In: [first seed [number of programs]]. A program is a chain of maps, reductions, collections and scans over
 * arrays of random sizes (empty, below and above the 32 lanes and the 4096 blocks) with random scalar
 * expressions, control flow and nested reductions in their regions; everything it computes is printed, floats
 * to the last bit. */
#include "codegen_kit.h"

/* ---- random choices
 * ---------------------------------------------------------------------------------------- */

static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dULL;
}
static int pick(int n) { return (int)((next() >> 20) % (uint64_t)n); }

/* ---- values in scope
 * ----------------------------------------------------------------------------------------- */

enum { MAX_SCOPE = 4000 };
typedef struct Maker {
  FlArena *arena;
  FlBuilder b;
  FlValue *scope[MAX_SCOPE]; /* scalars and arrays that may be used here */
  int n;
  int depth;   /* how deep expressions may still become */
  int nesting; /* of host loops */
  bool quiet;  /* in a task: nothing is printed */
} Maker;

static const FlDtype dtypes[] = {FL_F64, FL_F64, FL_F64,  FL_I64, FL_I64, FL_BOOL, FL_I32,
                                 FL_F32, FL_U8,  FL_TEXT, FL_U64, FL_I8,  FL_I16,  FL_U32};
static FlDtype any_dtype(void) { return dtypes[pick((int)(sizeof dtypes / sizeof *dtypes))]; }
static bool is_float(FlDtype d) { return d == FL_F64 || d == FL_F32; }

static void add(Maker *m, FlValue *v) {
  if (m->n < MAX_SCOPE) m->scope[m->n++] = v;
}

static FlValue *constant(Maker *m, FlDtype d) {
  static const double floats[] = {0.0, -0.0, 1.0, -1.5, 2.0, 0.1, 1e300, 3.75, -7.25, 1e-310};
  static const char *const texts[] = {"", "a", "Flow", "naïve", "zz top"};
  if (is_float(d)) {
    double v = floats[pick(10)];
    return fl_ir_const_f(&m->b, d, d == FL_F32 && v > 1e30 ? 1e30 : v);
  }
  if (d == FL_TEXT) {
    const char *s = texts[pick(5)];
    return fl_ir_const_t(&m->b, s, (int)strlen(s));
  }
  if (d == FL_BOOL) return fl_ir_const_i(&m->b, d, pick(2));
  int64_t v = pick(10) == 0 && d == FL_I64 ? INT64_MAX - pick(3)
                                           : pick(12) - (d == FL_U8 || d == FL_U32 || d == FL_U64 ? 0 : 3);
  return fl_ir_const_i(&m->b, d, v);
}

static FlValue *scalar(Maker *m, FlDtype d);

static FlValue *op1(Maker *m, FlOpcode code, FlDtype result, int n, FlValue *const *args) {
  FlType1 t = fl_t_scalar(result);
  return fl_ir_op(&m->b, code, n, args, 1, &t, 0)->results[0];
}

/* An element of an array in scope, of that dtype; NULL: none. */
static FlValue *element(Maker *m, FlDtype d) {
  for (int tries = 0; tries < 12 && m->n > 0; tries++) {
    FlValue *a = m->scope[pick(m->n)];
    if (a->type.rank == 0 || a->type.depth || a->type.dtype != d) continue;
    FlValue *index[2];
    for (int k = 0; k < a->type.rank; k++) {
      /* Nearly always in bounds: i mod max(n, 1). */
      FlValue *n = fl_ir_dim(&m->b, a, k), *one = fl_ir_const_i(&m->b, FL_I64, 1);
      FlValue *i = scalar(m, FL_I64);
      index[k] =
          pick(40) == 0 ? i : fl_ir_binary(&m->b, FL_OP_MOD, i, fl_ir_binary(&m->b, FL_OP_MAX, n, one));
    }
    return fl_ir_load(&m->b, a, a->type.rank, index, false);
  }
  return NULL;
}

static FlValue *compare(Maker *m) {
  static const FlOpcode codes[] = {FL_OP_EQ, FL_OP_NE, FL_OP_LT, FL_OP_LE, FL_OP_GT, FL_OP_GE};
  FlDtype d = any_dtype();
  FlValue *a = scalar(m, d), *b = scalar(m, d);
  return fl_ir_binary(&m->b, codes[pick(6)], a, b);
}

static FlValue *if_op(Maker *m, FlDtype d) {
  FlValue *c = scalar(m, FL_BOOL);
  FlType1 t = fl_t_scalar(d);
  FlOp *op = fl_ir_op(&m->b, FL_OP_IF, 1, &c, 1, &t, 2);
  FlBuilder around = m->b;
  int n = m->n;
  for (int k = 0; k < 2; k++) {
    FlRegion *r = fl_ir_region(&around, op, k, 0, NULL);
    m->b.region = r;
    FlValue *v = scalar(m, d);
    fl_ir_yield(r, m->b.module, 1, &v);
    m->n = n;
  }
  m->b = around;
  return op->results[0];
}

static FlValue *for_op(Maker *m, FlDtype d) {
  FlValue *args[] = {fl_ir_const_i(&m->b, FL_I64, 0), fl_ir_const_i(&m->b, FL_I64, pick(6)), scalar(m, d)};
  FlType1 t = fl_t_scalar(d), params[] = {fl_t_scalar(FL_I64), t};
  FlOp *op = fl_ir_op(&m->b, FL_OP_FOR, 3, args, 1, &t, 1);
  FlBuilder around = m->b;
  int n = m->n;
  FlRegion *r = fl_ir_region(&around, op, 0, 2, params);
  m->b.region = r;
  add(m, r->params[0]);
  add(m, r->params[1]);
  FlValue *v = scalar(m, d);
  fl_ir_yield(r, m->b.module, 1, &v);
  m->n = n;
  m->b = around;
  return op->results[0];
}

static FlValue *size(Maker *m) {
  static const int sizes[] = {3, 1, 2, 7, 16, 31, 32, 33, 64, 100};
  return fl_ir_const_i(&m->b, FL_I64, pick(40) ? sizes[pick(10)] : 0);
}

/* A reduction over `rank` sizes that gives a scalar of dtype d, or of i64 for positions and counts. */
static FlValue *reduce_op(Maker *m, FlDtype d, int rank, FlValue *const *sizes) {
  static const char *const of_float[] = {"sum", "product", "sum_product", "min", "max", "argmin", "argmax"};
  static const char *const of_int[] = {"sum", "min", "max", "argmin", "argmax", "product", "sum_product"};
  static const char *const of_bool[] = {"any", "all", "count"};
  static const char *const of_text[] = {"argmin", "argmax"};
  const char *kind = is_float(d)    ? of_float[pick(7)]
                     : d == FL_BOOL ? of_bool[pick(3)]
                     : d == FL_TEXT ? of_text[pick(2)]
                                    : of_int[pick(7)];
  bool place = strncmp(kind, "arg", 3) == 0 || strcmp(kind, "count") == 0, filtered = pick(3) == 0;
  FlType1 t = fl_t_scalar(place ? FL_I64 : d);
  FlOp *op = fl_ir_op(&m->b, FL_OP_REDUCE, rank, sizes, 1, &t, 1);
  FlReduceKind made = FL_RED_SUM;
  fl_reduce_find(kind, &made);
  fl_ir_set_reduction(op, made, filtered);
  FlType1 params[2] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)};
  FlBuilder around = m->b;
  int n = m->n, depth = m->depth;
  FlRegion *r = fl_ir_region(&around, op, 0, rank, params);
  m->b.region = r;
  for (int k = 0; k < rank; k++) add(m, r->params[k]);
  m->depth = 2;
  FlValue *yields[3];
  int count = 0;
  yields[count++] = scalar(m, d);
  if (strcmp(kind, "sum_product") == 0) yields[count++] = scalar(m, d);
  if (filtered) yields[count++] = scalar(m, FL_BOOL);
  fl_ir_yield(r, m->b.module, count, yields);
  m->n = n;
  m->depth = depth;
  m->b = around;
  return op->results[0];
}

static FlValue *convert(Maker *m, FlValue *v, FlDtype d) {
  if (v->type.dtype == d) return v;
  if (d == FL_TEXT) {
    FlType1 t = fl_t_scalar(FL_TEXT);
    FlOp *op = fl_ir_op(&m->b, FL_OP_TO_TEXT, 1, &v, 1, &t, 0);
    op->attrs.s = "";
    return op->results[0];
  }
  if (v->type.dtype == FL_TEXT) v = op1(m, FL_OP_N_CHARS, FL_I64, 1, &v);
  if (d == FL_BOOL) return fl_ir_binary(&m->b, FL_OP_EQ, v, v);
  if (is_float(d) && v->type.dtype != FL_F64) return op1(m, FL_OP_CONVERT, d, 1, &v);
  if (d == FL_I64 && v->type.dtype != FL_U64 && !is_float((FlDtype)v->type.dtype))
    return op1(m, FL_OP_CONVERT, d, 1, &v);
  if (pick(20) == 0) return op1(m, FL_OP_CONVERT, d, 1, &v); /* most often it does not fit */
  return constant(m, d);
}

static FlValue *leaf(Maker *m, FlDtype d) {
  if (pick(3) == 0) {
    FlValue *v = m->depth >= 0 ? element(m, d) : NULL;
    if (v) return v;
  }
  for (int tries = 0; tries < 8 && m->n > 0; tries++) {
    FlValue *v = m->scope[m->n - 1 - pick(m->n < 10 ? m->n : 10)];
    if (fl_t_is_scalar(v->type)) return convert(m, v, d);
  }
  return constant(m, d);
}

static FlValue *arithmetic(Maker *m, FlDtype d) {
  static const FlOpcode both[] = {FL_OP_ADD, FL_OP_SUB,      FL_OP_MUL, FL_OP_MIN,
                                  FL_OP_MAX, FL_OP_FLOORDIV, FL_OP_MOD};
  static const FlOpcode real[] = {FL_OP_SQRT,  FL_OP_EXP, FL_OP_LOG, FL_OP_SIN,   FL_OP_COS,  FL_OP_TANH,
                                  FL_OP_LOG1P, FL_OP_ABS, FL_OP_NEG, FL_OP_EXPM1, FL_OP_ATAN, FL_OP_SIGN};
  static const FlOpcode whole[] = {FL_OP_ABS, FL_OP_NEG, FL_OP_SIGN};
  if (is_float(d) && pick(4) == 0) return fl_ir_unary(&m->b, real[pick(12)], scalar(m, d));
  if (is_float(d) && pick(4) == 0) {
    FlValue *a = scalar(m, d), *b = scalar(m, d);
    return fl_ir_binary(&m->b, pick(3) ? FL_OP_DIV : FL_OP_POW, a, b);
  }
  if (is_float(d) && pick(6) == 0) {
    FlValue *args[] = {scalar(m, d), scalar(m, d), scalar(m, d)};
    return op1(m, FL_OP_FMA, d, 3, args);
  }
  if (!is_float(d) && pick(6) == 0) return fl_ir_unary(&m->b, whole[pick(3)], scalar(m, d));
  if (!is_float(d) && pick(3) == 0) {
    static const FlOpcode wrap[] = {FL_OP_WRAP_ADD, FL_OP_WRAP_SUB, FL_OP_WRAP_MUL};
    FlValue *a = scalar(m, d), *b = scalar(m, d);
    return fl_ir_binary(&m->b, wrap[pick(3)], a, b);
  }
  FlValue *a = scalar(m, d), *b = scalar(m, d);
  return fl_ir_binary(&m->b, both[pick(is_float(d) || pick(4) == 0 ? 7 : 5)], a, b);
}

static FlValue *text(Maker *m) {
  FlValue *a = scalar(m, FL_TEXT);
  switch (pick(4)) {
  case 0: return op1(m, FL_OP_TEXT_CONCAT, FL_TEXT, 2, (FlValue *[]){a, scalar(m, FL_TEXT)});
  case 1: return op1(m, FL_OP_UPPER, FL_TEXT, 1, &a);
  case 2: return op1(m, FL_OP_REVERSE_TEXT, FL_TEXT, 1, &a);
  default: return convert(m, scalar(m, any_dtype()), FL_TEXT);
  }
}

static FlValue *scalar(Maker *m, FlDtype d) {
  if (m->depth <= 0) return leaf(m, d);
  m->depth--;
  FlValue *v;
  int k = pick(20);
  if (k < 3) {
    v = leaf(m, d);
  } else if (k == 3) {
    v = if_op(m, d);
  } else if (k == 4) {
    v = for_op(m, d);
  } else if (k == 5) {
    FlValue *n = size(m);
    v = convert(m, reduce_op(m, any_dtype(), 1, &n), d);
  } else if (k == 6) {
    FlValue *c = scalar(m, FL_BOOL), *a = scalar(m, d), *b = scalar(m, d);
    v = fl_ir_select(&m->b, c, a, b);
  } else if (d == FL_BOOL) {
    v = k < 16 ? compare(m) : fl_ir_binary(&m->b, k & 1 ? FL_OP_AND : FL_OP_OR, scalar(m, d), scalar(m, d));
  } else if (d == FL_TEXT) {
    v = text(m);
  } else if (d == FL_F64 && k == 7) {
    v = op1(m, FL_OP_RANDOM, d, 3, (FlValue *[]){scalar(m, FL_I64), scalar(m, FL_I64), constant(m, FL_I64)});
  } else {
    v = arithmetic(m, d);
  }
  m->depth++;
  return v;
}

/* ---- host code
 * --------------------------------------------------------------------------------------------------- */

static void print(Maker *m, FlValue *v) {
  if (m->quiet) return;
  FlValue *s = convert(m, v, FL_TEXT);
  fl_ir_op(&m->b, FL_OP_PRINT, 1, &s, 0, NULL, 0);
}

static int axes(Maker *m, FlValue **sizes) {
  static const int one[] = {3, 1, 5, 32, 33, 100, 1000, 4095, 4096, 4097, 9000};
  if (pick(3)) {
    sizes[0] = fl_ir_const_i(&m->b, FL_I64, pick(40) ? one[pick(11)] : 0);
    return 1;
  }
  sizes[0] = fl_ir_const_i(&m->b, FL_I64, pick(40) ? 1 + pick(70) : 0);
  sizes[1] = fl_ir_const_i(&m->b, FL_I64, pick(3) ? 1 + pick(20) : 80 + pick(90));
  return 2;
}

/* A MAP, COLLECT or SCAN with one to three results; its arrays come into scope. */
static void loop_op(Maker *m) {
  FlValue *args[4];
  FlType1 types[4], params[4] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)};
  int kind = pick(6), n_values = 1 + pick(3), n_args, n_results = 0;
  int rank = n_args = axes(m, args);
  FlDtype d[3];
  for (int i = 0; i < n_values; i++) d[i] = any_dtype();
  FlOpcode code = kind == 0 ? FL_OP_COLLECT : kind == 1 ? FL_OP_SCAN : FL_OP_MAP;
  if (code == FL_OP_SCAN) {
    rank = n_args = n_values = 1;
    args[n_args++] = scalar(m, d[0]);
    params[1] = fl_t_scalar(d[0]);
  }
  if (code == FL_OP_COLLECT) types[n_results++] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n_values; i++) types[n_results++] = fl_t_array(d[i], code == FL_OP_MAP ? rank : 1);
  FlOp *op = fl_ir_op(&m->b, code, n_args, args, n_results, types, 1);
  FlBuilder around = m->b;
  int n = m->n;
  FlRegion *r = fl_ir_region(&around, op, 0, code == FL_OP_SCAN ? 2 : rank, params);
  m->b.region = r;
  for (int k = 0; k < r->n_params; k++) add(m, r->params[k]);
  m->depth = 3;
  FlValue *yields[4];
  int count = 0;
  if (code == FL_OP_COLLECT) yields[count++] = scalar(m, FL_BOOL);
  for (int i = 0; i < n_values; i++) yields[count++] = scalar(m, d[i]);
  fl_ir_yield(r, m->b.module, count, yields);
  m->n = n;
  m->b = around;
  for (int i = 0; i < n_results; i++) {
    FlValue *v = op->results[i];
    add(m, v);
    if (fl_t_is_scalar(v->type)) {
      print(m, v);
      continue;
    }
    /* All of it, in one figure: how its elements compare with each other and what they add up to. */
    FlValue *sizes[2];
    for (int k = 0; k < v->type.rank; k++) sizes[k] = fl_ir_dim(&m->b, v, k);
    for (int k = 0; k < v->type.rank; k++) print(m, sizes[k]);
    for (int k = 0; k < 2; k++) {
      FlDtype e = (FlDtype)v->type.dtype;
      FlType1 t = fl_t_scalar(FL_F64), p[2] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)};
      FlOp *sum = fl_ir_op(&m->b, FL_OP_REDUCE, v->type.rank, sizes, 1, &t, 1);
      fl_ir_set_reduction(sum, FL_RED_SUM, k);
      FlRegion *sr = fl_ir_region(&around, sum, 0, v->type.rank, p);
      m->b.region = sr;
      FlValue *x = fl_ir_load(&m->b, v, v->type.rank, sr->params, true), *y[2];
      y[0] =
          e == FL_TEXT || e == FL_BOOL ? convert(m, convert(m, x, FL_TEXT), FL_F64) : convert(m, x, FL_F64);
      y[1] = fl_ir_binary(&m->b, FL_OP_LT, y[0], y[0]);
      y[1] = fl_ir_unary(&m->b, FL_OP_NOT, y[1]);
      if (k) y[1] = fl_ir_binary(&m->b, FL_OP_EQ, y[0], y[0]);
      fl_ir_yield(sr, m->b.module, 1 + k, y);
      m->b = around;
      print(m, sum->results[0]);
    }
  }
}

static void statement(Maker *m);

static FlValue *array_like(Maker *m, FlType1 t) {
  for (int tries = 0; tries < 20 && m->n > 0; tries++) {
    FlValue *a = m->scope[pick(m->n)];
    if (fl_t_same(a->type, t)) return a;
  }
  return NULL;
}

/* `a` with one element replaced, at an index in bounds; `a` itself when it is empty is an error at run time.
 */
static FlValue *stored(Maker *m, FlValue *a) {
  FlValue *args[4] = {a};
  for (int k = 0; k < a->type.rank; k++) {
    FlValue *n = fl_ir_dim(&m->b, a, k), *one = fl_ir_const_i(&m->b, FL_I64, 1);
    args[k + 1] = fl_ir_binary(&m->b, FL_OP_MOD, scalar(m, FL_I64), fl_ir_binary(&m->b, FL_OP_MAX, n, one));
  }
  args[a->type.rank + 1] = scalar(m, (FlDtype)a->type.dtype);
  return fl_ir_op(&m->b, FL_OP_STORE, a->type.rank + 2, args, 1, &a->type, 0)->results[0];
}

/* An array of that type: from the scope, or one of it changed. */
static FlValue *some_array(Maker *m, FlValue *fallback) {
  FlValue *a = array_like(m, fallback->type);
  if (!a) a = fallback;
  m->depth = 1;
  return pick(2) ? stored(m, a) : a;
}

/* FOR that carries an array and a scalar, with statements in its body. */
static void host_for(Maker *m, FlValue *array) {
  FlType1 t[] = {array->type, fl_t_scalar(FL_I64)}, params[] = {fl_t_scalar(FL_I64), t[0], t[1]};
  FlValue *args[] = {fl_ir_const_i(&m->b, FL_I64, 0), fl_ir_const_i(&m->b, FL_I64, pick(4)), array,
                     fl_ir_const_i(&m->b, FL_I64, pick(9))};
  FlOp *op = fl_ir_op(&m->b, FL_OP_FOR, 4, args, 2, t, 1);
  FlBuilder around = m->b;
  int n = m->n;
  FlRegion *r = fl_ir_region(&around, op, 0, 3, params);
  m->b.region = r;
  for (int k = 0; k < 3; k++) add(m, r->params[k]);
  for (int k = pick(3); k >= 0; k--) statement(m);
  FlValue *yields[] = {some_array(m, r->params[1]), NULL};
  m->depth = 2;
  yields[1] = scalar(m, FL_I64);
  fl_ir_yield(r, m->b.module, 2, yields);
  m->n = n;
  m->b = around;
  for (int k = 0; k < 2; k++) add(m, op->results[k]);
  print(m, op->results[1]);
}

static void host_if(Maker *m, FlValue *array) {
  m->depth = 2;
  FlValue *c = scalar(m, FL_BOOL);
  FlType1 t[] = {array->type, array->type};
  FlOp *op = fl_ir_op(&m->b, FL_OP_IF, 1, &c, 2, t, 2);
  FlBuilder around = m->b;
  int n = m->n;
  for (int k = 0; k < 2; k++) {
    m->b.region = fl_ir_region(&around, op, k, 0, NULL);
    if (pick(2)) statement(m);
    FlValue *yields[] = {some_array(m, array), some_array(m, array)};
    fl_ir_yield(m->b.region, m->b.module, 2, yields);
    m->n = n;
  }
  m->b = around;
  for (int k = 0; k < 2; k++) add(m, op->results[k]);
}

/* MAP over host code: its elements are tasks; the results a list of arrays and an array. */
static void task_map(Maker *m, FlValue *array) {
  FlValue *n_tasks = fl_ir_const_i(&m->b, FL_I64, pick(6));
  FlType1 list = array->type, t[2] = {list, fl_t_array(FL_I64, 1)}, param = fl_t_scalar(FL_I64);
  t[0].depth++;
  FlOp *op = fl_ir_op(&m->b, FL_OP_MAP, 1, &n_tasks, 2, t, 1);
  FlBuilder around = m->b;
  int n = m->n;
  bool quiet = m->quiet;
  m->quiet = true;
  FlRegion *r = fl_ir_region(&around, op, 0, 1, &param);
  m->b.region = r;
  add(m, r->params[0]);
  if (pick(2)) statement(m);
  m->depth = 1;
  FlValue *yields[] = {stored(m, some_array(m, array)), NULL};
  yields[1] = scalar(m, FL_I64);
  fl_ir_yield(r, m->b.module, 2, yields);
  m->n = n;
  m->quiet = quiet;
  m->b = around;
  add(m, op->results[1]);
  m->depth = 1;
  FlValue *index = pick(4) ? fl_ir_const_i(&m->b, FL_I64, 0) : scalar(m, FL_I64);
  FlValue *args[] = {op->results[0], index};
  FlType1 element = array->type;
  add(m, fl_ir_op(&m->b, FL_OP_LOAD, 2, args, 1, &element, 0)->results[0]);
}

static void statement(Maker *m) {
  int kind = pick(12);
  FlValue *array = NULL;
  for (int tries = 0; tries < 10 && m->n > 0 && !array; tries++) {
    FlValue *v = m->scope[pick(m->n)];
    if (v->type.rank > 0 && v->type.depth == 0) array = v;
  }
  if (array && m->nesting < 2 && kind < 5) {
    m->nesting++;
    if (kind < 2) host_for(m, array);
    else if (kind < 4) host_if(m, array);
    else task_map(m, array);
    m->nesting--;
  } else if (kind < 7) {
    FlValue *sizes[2];
    int rank = axes(m, sizes);
    FlValue *v = reduce_op(m, any_dtype(), rank, sizes);
    print(m, v);
    add(m, v);
  } else if (kind == 7) {
    m->depth = 3;
    FlValue *v = scalar(m, any_dtype());
    print(m, v);
    add(m, v);
  } else {
    loop_op(m);
  }
}

static FlModule *make_program(FlArena *arena, uint64_t seed) {
  state = seed * 0x9e3779b97f4a7c15ULL + 1;
  Maker *m = FL_NEW(arena, Maker);
  FlModule *module = fl_ir_module_make(arena, "random");
  FlFunc *main = fl_ir_func_make(module, "main", FL_FUNC_MAIN, (FlSpan){0});
  module->main = main;
  m->arena = arena;
  m->b = (FlBuilder){.module = module, .func = main, .region = main->body};
  for (int i = 2 + pick(5); i >= 0; i--) statement(m);
  fl_ir_yield(main->body, module, 0, NULL);
  return module;
}

int main(int argc, char **argv) {
  FlCodegenFn *codegen = kit_codegen();
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int n = argc > 2 ? atoi(argv[2]) : 5;
  for (int i = 0; i < n; i++) {
    FlArena *arena = fl_arena_new();
    char name[40];
    (void)snprintf(name, sizeof name, "seed %lu", (unsigned long)first + (unsigned long)i);
    kit_check(codegen, arena, make_program(arena, first + (uint64_t)i), NULL, name, NULL);
    fl_arena_free(arena);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
