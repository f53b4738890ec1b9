/* simplify.c: operations whose result is one of their arguments, or a cheaper operation of the same bits.
 *
 * What always holds: no bit changes and no error goes. So nothing is said about x * 0, x + 0.0 or x - x of
 * floats (signs of zero, NaN), and a division becomes a product only by a power of two whose reciprocal is
 * exact. */
#include "opt/bounds.h"

typedef struct Simplify {
  FlSubst subst;
  const FlRegion *kernel; /* the last outermost loop that was found to be one */
} Simplify;

static bool is_int(const FlValue *v, int64_t want) {
  int64_t n;
  return fl_ir_const_value_i(v, &n) && n == want;
}

static bool is_float(const FlValue *v, double want) {
  if (!v->op || v->op->code != FL_OP_CONST) return false;
  return (v->type.dtype == FL_F64 || v->type.dtype == FL_F32) && v->op->attrs.f == want;
}

static bool is_one(const FlValue *v) { return is_int(v, 1) || is_float(v, 1); }

/* 2^k within the normal numbers, whose reciprocal is one too. */
static bool is_power_of_two(const FlValue *v) {
  if (!v->op || v->op->code != FL_OP_CONST) return false;
  double x = v->op->attrs.f;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023, most = v->type.dtype == FL_F32 ? 126 : 1022;
  return (bits & 0xfffffffffffffULL) == 0 && exponent >= -most && exponent <= most;
}

/* The value under a `not`. */
static FlValue *negated(const FlValue *v) {
  return v->op && v->op->code == FL_OP_NOT ? v->op->args[0] : NULL;
}

/* x where v is a - x. */
static FlValue *taken_from(const FlValue *v, const FlValue *a) {
  return v->op && v->op->code == FL_OP_WRAP_SUB && v->op->args[0] == a ? v->op->args[1] : NULL;
}

/* The argument that `op` gives back; NULL: none. */
static FlValue *same_as(const FlOp *op) {
  FlValue *a = op->n_args > 0 ? op->args[0] : NULL, *b = op->n_args > 1 ? op->args[1] : NULL;
  switch (op->code) {
  case FL_OP_ADD:
  case FL_OP_WRAP_ADD:
    if (fl_dtype_is_int(a->type.dtype) && is_int(a, 0)) return b;
    return fl_dtype_is_int(b->type.dtype) && is_int(b, 0) ? a : NULL;
  case FL_OP_SUB: return fl_dtype_is_int(b->type.dtype) && is_int(b, 0) ? a : NULL;
  case FL_OP_WRAP_SUB: return is_int(b, 0) ? a : taken_from(b, a);
  case FL_OP_MUL:
  case FL_OP_WRAP_MUL:
    if (is_one(a)) return b;
    return is_one(b) ? a : NULL;
  case FL_OP_DIV: return is_float(b, 1) ? a : NULL;
  case FL_OP_FLOORDIV: return fl_dtype_is_int(b->type.dtype) && is_int(b, 1) ? a : NULL;
  case FL_OP_MIN:
  case FL_OP_MAX: return a == b ? a : NULL;
  case FL_OP_AND:
    if (is_int(a, 1) || a == b) return b;
    return is_int(b, 1) ? a : is_int(a, 0) ? a : is_int(b, 0) ? b : NULL;
  case FL_OP_OR:
    if (is_int(a, 0) || a == b) return b;
    return is_int(b, 0) ? a : is_int(a, 1) ? a : is_int(b, 1) ? b : NULL;
  case FL_OP_NOT: return negated(a);
  case FL_OP_EQ:
    if (a->type.dtype != FL_BOOL) return NULL;
    return is_int(b, 1) ? a : is_int(a, 1) ? b : NULL;
  case FL_OP_NE:
    if (a->type.dtype != FL_BOOL) return NULL;
    return is_int(b, 0) ? a : is_int(a, 0) ? b : NULL;
  case FL_OP_SELECT:
    if (op->args[1] == op->args[2] || is_int(a, 1)) return op->args[1];
    return is_int(a, 0) ? op->args[2] : NULL;
  case FL_OP_CONVERT: return a->type.dtype == op->results[0]->type.dtype ? a : NULL;
  case FL_OP_TRANSPOSE:
    return a->op && a->op->code == FL_OP_TRANSPOSE && a->op->args[0]->type.rank == 2 ? a->op->args[0] : NULL;
  case FL_OP_NEG:
  case FL_OP_ABS:
  case FL_OP_MOD:
  case FL_OP_POW:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_SQRT:
  case FL_OP_LT:
  case FL_OP_LE:
  case FL_OP_GT:
  case FL_OP_GE:
  case FL_OP_IS_NAN:
  case FL_OP_IS_FINITE:
  case FL_OP_LIST_OF:
  case FL_OP_LIST_CONCAT:
  case FL_OP_LIST_STACK:
  case FL_OP_BESIDE:
  case FL_OP_LIST_SUM:
  case FL_OP_SUM_BEGIN:
  case FL_OP_SUM_END:
  case FL_OP_SUM_PART:
  case FL_OP_SUM_LATE:
  case FL_OP_RESHAPE:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_STRUCT:
  case FL_OPS_ROWS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
  return NULL;
}

/* A comparison of an integer with itself, or of a size with nothing: 1 true, 2 false, 0: it depends. */
static int certain(const FlOp *op) {
  if (op->n_args != 2 || !fl_t_is_scalar(op->args[0]->type)) return 0;
  bool same = op->args[0] == op->args[1] && fl_dtype_is_int(op->args[0]->type.dtype);
  switch (op->code) {
  case FL_OP_EQ:
  case FL_OP_LE:
  case FL_OP_GE: return same ? 1 : 0;
  case FL_OP_NE:
  case FL_OP_LT:
  case FL_OP_GT: return same ? 2 : 0;
  case FL_OPS_NOT_ORDER: break;
  }
  return 0;
}

/* The size that a DIM gives, where what made the array tells it. */
static FlValue *known_size(FlOp *op) {
  if (op->code != FL_OP_DIM) return NULL;
  FlBuilder b = fl_opt_before(op);
  FlValue *size = fl_opt_dim(&b, op->args[0], (int)op->attrs.i);
  return size == op->results[0] ? NULL : size;
}

/* x / 2^k is x * 2^-k. */
static void divide_by_power(FlOp *op) {
  if (op->code != FL_OP_DIV || !is_power_of_two(op->args[1])) return;
  FlBuilder b = fl_opt_before(op);
  double reciprocal = 1.0 / op->args[1]->op->attrs.f;
  op->args[1] = fl_ir_const_f(&b, (FlDtype)op->args[1]->type.dtype, reciprocal);
  op->code = FL_OP_MUL;
}

/* Rows of rows are rows of the whole: the inner cut was within its bounds, so the outer one is within the
 * whole where it is within the inner one, which has to be certain. */
static void rows_of_rows(FlOp *op) {
  const FlOp *in = op->code == FL_OP_ROWS ? op->args[0]->op : NULL;
  int64_t from, to, in_from, in_to;
  if (!in || in->code != FL_OP_ROWS || op->args[0]->type.depth) return;
  if (!fl_ir_const_value_i(op->args[1], &from) || !fl_ir_const_value_i(op->args[2], &to)) return;
  if (!fl_ir_const_value_i(in->args[1], &in_from) || !fl_ir_const_value_i(in->args[2], &in_to)) return;
  if (from < 0 || from > to || in_from < 0 || in_from > in_to || to > in_to - in_from) return;
  FlBuilder b = fl_opt_before(op);
  op->args[0] = in->args[0];
  op->args[1] = fl_ir_const_i(&b, FL_I64, in_from + from);
  op->args[2] = fl_ir_const_i(&b, FL_I64, in_from + to);
}

/* fl_opt_may_turn, asked for each of thousands of branches of one kernel: no loop around it or in it is host
 * code. */
static bool may_turn(Simplify *s, const FlRegion *r) {
  const FlRegion *outermost = NULL;
  for (const FlRegion *at = r; at->owner; at = at->owner->parent)
    if (fl_opt_is_loop(at->owner)) outermost = at;
  if (!outermost) return true;
  if (outermost != s->kernel && fl_ir_is_kernel(outermost)) s->kernel = outermost;
  return outermost == s->kernel || fl_opt_may_turn(r);
}

/* A branch whose condition is certain is what it holds. */
static bool take_branch(Simplify *s, FlOp *op) {
  int64_t c;
  if (op->code != FL_OP_IF || !fl_ir_const_value_i(op->args[0], &c)) return false;
  if (!may_turn(s, op->parent)) return false;
  FlRegion *taken = op->regions[c ? 0 : 1];
  for (int i = 0; i < op->n_results; i++) fl_subst_set(&s->subst, op->results[i], taken->yields[i]);
  for (FlOp *in = taken->first, *next; in; in = next) {
    next = in->next;
    fl_ir_move_before(in, op);
  }
  fl_ir_remove(op);
  return true;
}

/* The array whose elements the MAP gives, each at its own place; NULL: it gives others. */
static FlValue *copied(const FlOp *map, int result) {
  const FlRegion *r = map->regions[0];
  const FlOp *load = r->yields[result]->op;
  if (!load || load->code != FL_OP_LOAD || load->parent != r || load->n_args != r->n_params + 1) return NULL;
  FlValue *a = load->args[0];
  if (a->type.depth || fl_ir_inside(a->region, r)) return NULL;
  for (int i = 0; i < r->n_params; i++)
    if (load->args[i + 1] != r->params[i] || !fl_opt_is_dim(map->args[i], a, i)) return NULL;
  return a;
}

/* A MAP that copies an array is the array. */
static void take_copies(Simplify *s, FlOp *op) {
  if (op->code != FL_OP_MAP || fl_ir_may_fault(op)) return;
  int n = 0;
  for (int i = 0; i < op->n_results; i++) {
    FlValue *a = copied(op, i);
    if (!a) continue;
    fl_subst_set(&s->subst, op->results[i], a);
    n++;
  }
  if (n == op->n_results) fl_ir_remove(op);
}

static void visit(Simplify *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    fl_subst_args(&s->subst, op);
    FlOp *before = op->prev;
    if (take_branch(s, op)) {
      next = before ? before->next : r->first; /* what was in the branch is looked at, too */
      continue;
    }
    next = op->next;
    FlValue *same = op->n_results == 1 ? same_as(op) : NULL;
    if (!same && op->n_results == 1) same = known_size(op);
    int known = same ? 0 : certain(op);
    if (known) {
      FlBuilder b = fl_opt_before(op);
      same = fl_ir_const_i(&b, FL_BOOL, known == 1);
    }
    if (same) {
      fl_subst_set(&s->subst, op->results[0], same);
      fl_ir_remove(op);
      continue;
    }
    divide_by_power(op);
    rows_of_rows(op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    take_copies(s, op);
  }
  fl_subst_yields(&s->subst, r);
}

void fl_opt_simplify(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Simplify s = {0};
    visit(&s, f->body);
    fl_subst_reset(&s.subst);
  }
}
