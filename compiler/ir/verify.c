/* verify.c: whether a module obeys ir.h and ops.def: links, dominance, types, regions of the structural ops,
 * and where effects may stand. Stops at the first broken rule and names function, op and rule. */
#include "ir/ir_internal.h"

#include <stdarg.h>
#include <stdlib.h>

typedef struct Verifier {
  const FlFunc *func;
  FlText1 *why;
  unsigned char *state; /* by value id: 0 not met, 1 defined here or around, 2 out of sight again */
} Verifier;

static bool broken(Verifier *v, const FlOp *op, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool broken(Verifier *v, const FlOp *op, const char *fmt, ...) {
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  fl_text_addf(v->why, "function %s: ", v->func->name);
  if (op)
    fl_text_addf(v->why, "op %s%s%s: ", fl_op_info[op->code].name, op->attrs.s ? " " : "",
                 op->attrs.s ? op->attrs.s : "");
  fl_text_addz(v->why, text);
  return false;
}

static bool is_scalar_of(FlType1 t, FlDtype d) { return fl_t_is_scalar(t) && t.dtype == d; }

static bool all_i64(const FlOp *op, int from, int to) {
  for (int i = from; i < to; i++)
    if (!is_scalar_of(op->args[i]->type, FL_I64)) return false;
  return true;
}

/* The region's params are `n` i64 and then the types of args[from..]. */
static bool params_are(const FlRegion *r, int n, const FlOp *op, int from) {
  if (r->n_params != n + op->n_args - from) return false;
  for (int i = 0; i < n; i++)
    if (!is_scalar_of(r->params[i]->type, FL_I64)) return false;
  for (int i = from; i < op->n_args; i++)
    if (!fl_t_same(r->params[n + i - from]->type, op->args[i]->type)) return false;
  return true;
}

static bool yields_match(const FlRegion *r, int skip, const FlOp *op) {
  if (r->n_yields != skip + op->n_results) return false;
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_same(r->yields[skip + i]->type, op->results[i]->type)) return false;
  return true;
}

static int expected_regions(FlOpcode code) {
  switch (code) {
  case FL_OP_MAP:
  case FL_OP_REDUCE:
  case FL_OP_SCAN:
  case FL_OP_COLLECT:
  case FL_OP_FOR:
  case FL_OP_WHILE: return 1;
  case FL_OP_IF:
  case FL_OP_CUSTOM: return 2;
  case FL_OP_CALL:
  case FL_OP_STAGE:
  case FL_OP_EXTERN:
  case FL_OPS_ACCESS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return 0;
}

/* Of a runtime operator: there for a WITHIN alone. */
static bool is_note(const FlRegion *r) {
  return r->n_params == 1 && r->n_yields == 0 && r->first && r->first == r->last &&
         r->first->code == FL_OP_WITHIN;
}

static bool regions_fit(const FlOp *op) {
  if ((fl_op_info[op->code].flags & FL_OPF_GROUPS) && op->n_regions == 1)
    return op->regions[0] && is_note(op->regions[0]);
  return op->n_regions == expected_regions(op->code);
}

static bool sized_loop(Verifier *v, const FlOp *op) {
  if (op->n_args < 1 || op->n_args > FL_MAX_RANK) return broken(v, op, "1 to 8 sizes are wanted");
  if (!all_i64(op, 0, op->n_args)) return broken(v, op, "sizes are i64");
  if (!params_are(op->regions[0], op->n_args, op, op->n_args))
    return broken(v, op, "region params are one i64 a size");
  return true;
}

static bool check_map(Verifier *v, const FlOp *op) {
  if (!sized_loop(v, op)) return false;
  const FlRegion *r = op->regions[0];
  if (r->n_yields != op->n_results || op->n_results < 1)
    return broken(v, op, "as many yields as results, at least one");
  for (int i = 0; i < r->n_yields; i++) {
    FlType1 y = r->yields[i]->type, want = y;
    if (fl_t_is_scalar(y)) want.rank = (uint8_t)op->n_args;
    else want.depth++;
    if (!fl_t_same(op->results[i]->type, want))
      return broken(v, op, "result %d is not the yields' array or list", i);
  }
  return true;
}

static bool check_one_reduction(Verifier *v, const FlOp *op, int index, int *n_yields) {
  const FlRegion *r = op->regions[0];
  FlReduction red = fl_ir_reduction(op, index);
  *n_yields = red.first + red.n_values + (red.keep >= 0);
  if (*n_yields > r->n_yields) return broken(v, op, "too few yields");
  FlType1 value = r->yields[red.first]->type, want = value;
  if (!fl_t_is_scalar(value)) return broken(v, op, "yields are scalars");
  if (red.n_values == 2 && !fl_t_same(r->yields[red.first + 1]->type, value))
    return broken(v, op, "factors differ in type");
  if (red.keep >= 0 && !is_scalar_of(r->yields[red.keep]->type, FL_BOOL))
    return broken(v, op, "a keep bool is wanted");
  switch (red.kind) {
  case FL_RED_ANY:
  case FL_RED_ALL:
  case FL_RED_COUNT:
    if (value.dtype != FL_BOOL) return broken(v, op, "the yield is a bool");
    if (red.kind == FL_RED_COUNT) want = fl_t_scalar(FL_I64);
    break;
  case FL_RED_ARGMIN:
  case FL_RED_ARGMAX: want = fl_t_scalar(FL_I64); break;
  case FL_RED_SUM:
  case FL_RED_PRODUCT:
  case FL_RED_SUM_PRODUCT:
  case FL_RED_MIN:
  case FL_RED_MAX: break;
  case FL_RED_EACH:
    if (red.keep >= 0 || op->attrs.n_reductions == 1)
      return broken(v, op, "`each` is one of several, without a filter");
    want = fl_t_array((FlDtype)value.dtype, op->n_args);
    break;
  }
  return fl_t_same(op->results[index]->type, want) || broken(v, op, "result %d has the wrong type", index);
}

static bool check_reduce(Verifier *v, const FlOp *op) {
  if (!sized_loop(v, op)) return false;
  int n = op->attrs.n_reductions, n_yields = 0;
  if (!n) return broken(v, op, "a kind of reduction is wanted");
  if (op->n_results != n) return broken(v, op, "one result a reduction");
  for (int i = 0; i < n; i++)
    if (!check_one_reduction(v, op, i, &n_yields)) return false;
  return n_yields == op->regions[0]->n_yields || broken(v, op, "too many yields");
}

static bool check_scan(Verifier *v, const FlOp *op) {
  if (op->n_args < 2 || !all_i64(op, 0, 1)) return broken(v, op, "a size and initial values are wanted");
  const FlRegion *r = op->regions[0];
  if (!params_are(r, 1, op, 1)) return broken(v, op, "region params are an index and the carried values");
  if (r->n_yields != op->n_args - 1 || op->n_results != r->n_yields)
    return broken(v, op, "one yield and result a carried");
  for (int i = 0; i < r->n_yields; i++) {
    FlType1 y = r->yields[i]->type;
    if (!fl_t_is_scalar(y) || !fl_t_same(y, r->params[i + 1]->type))
      return broken(v, op, "yield %d differs", i);
    if (!fl_t_same(op->results[i]->type, fl_t_array((FlDtype)y.dtype, 1)))
      return broken(v, op, "result %d differs", i);
  }
  return true;
}

static bool check_collect(Verifier *v, const FlOp *op) {
  if (!sized_loop(v, op)) return false;
  const FlRegion *r = op->regions[0];
  if (r->n_yields < 1 || !is_scalar_of(r->yields[0]->type, FL_BOOL))
    return broken(v, op, "the first yield is keep");
  if (op->n_results != r->n_yields || !is_scalar_of(op->results[0]->type, FL_I64))
    return broken(v, op, "results are the count and one array a yield");
  for (int i = 1; i < r->n_yields; i++) {
    if (!fl_t_is_scalar(r->yields[i]->type)) return broken(v, op, "yields are scalars");
    if (!fl_t_same(op->results[i]->type, fl_t_array((FlDtype)r->yields[i]->type.dtype, 1)))
      return broken(v, op, "result %d is not its yield's array", i);
  }
  return true;
}

static bool check_call(Verifier *v, const FlOp *op) {
  const FlFunc *f = op->attrs.func;
  if (!f) return broken(v, op, "no function");
  if ((f->kind == FL_FUNC_STAGE) != (op->code == FL_OP_STAGE))
    return broken(v, op, "stages are called by stage");
  if (f->body->n_params != op->n_args)
    return broken(v, op, "%s takes %d arguments", f->name, f->body->n_params);
  for (int i = 0; i < op->n_args; i++)
    if (!fl_t_same(f->body->params[i]->type, op->args[i]->type))
      return broken(v, op, "argument %d of %s", i, f->name);
  return yields_match(f->body, 0, op) || broken(v, op, "results of %s differ", f->name);
}

static bool check_access(Verifier *v, const FlOp *op) {
  bool store = op->code == FL_OP_STORE;
  FlType1 a = op->args[0]->type, element = fl_t_scalar((FlDtype)a.dtype);
  int axes = a.depth ? 1 : a.rank, wanted = 1 + axes + store;
  if (a.depth) element = a, element.depth--;
  if (op->n_args != wanted) return broken(v, op, "one index an axis is wanted");
  if (!all_i64(op, 1, 1 + axes)) return broken(v, op, "indices are i64");
  FlType1 value = store ? op->args[op->n_args - 1]->type : op->results[0]->type;
  if (!fl_t_same(value, element)) return broken(v, op, "the element has another type");
  return !store || fl_t_same(op->results[0]->type, a) || broken(v, op, "the result is the array's type");
}

static bool check_pick(Verifier *v, const FlOp *op) {
  FlType1 element = op->results[0]->type, column = fl_t_array((FlDtype)element.dtype, 1);
  if (op->n_args < 3 || !all_i64(op, 0, 2)) return broken(v, op, "two i64, then arrays");
  if (!fl_t_is_scalar(element)) return broken(v, op, "an element is a scalar");
  for (int i = 2; i < op->n_args; i++)
    if (!fl_t_same(op->args[i]->type, column)) return broken(v, op, "array %d has another type", i - 2);
  return true;
}

static bool check_array(Verifier *v, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  if (t.depth) return broken(v, op, "an array, not a list");
  if (op->n_args && t.rank != 1) return broken(v, op, "elements make rank 1");
  for (int i = 0; i < op->n_args; i++)
    if (!is_scalar_of(op->args[i]->type, (FlDtype)t.dtype))
      return broken(v, op, "element %d has another type", i);
  return true;
}

static bool check_loop(Verifier *v, const FlOp *op) {
  bool is_while = op->code == FL_OP_WHILE;
  int first = is_while ? 0 : 2;
  if (!params_are(op->regions[0], is_while ? 0 : 1, op, first))
    return broken(v, op, "region params differ from carried");
  if (op->n_results != op->n_args - first) return broken(v, op, "one result a carried value");
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_same(op->results[i]->type, op->args[first + i]->type))
      return broken(v, op, "carried %d changes type", i);
  if (!yields_match(op->regions[0], is_while, op)) return broken(v, op, "yields differ from carried");
  return !is_while || is_scalar_of(op->regions[0]->yields[0]->type, FL_BOOL) ||
         broken(v, op, "first yield is a bool");
}

static bool check_if(Verifier *v, const FlOp *op) {
  if (op->n_args != 1) return broken(v, op, "one condition");
  for (int i = 0; i < 2; i++) {
    if (op->regions[i]->n_params) return broken(v, op, "regions have no params");
    if (!yields_match(op->regions[i], 0, op))
      return broken(v, op, "yields of region %d differ from the results", i);
  }
  return true;
}

static bool check_matmul(Verifier *v, const FlOp *op) {
  FlType1 x = op->args[0]->type, y = op->args[1]->type, r = op->results[0]->type;
  if (x.depth || y.depth || x.rank > 2 || y.rank > 2) return broken(v, op, "ranks 1 and 2 only");
  if (x.dtype != y.dtype || r.dtype != x.dtype || (!fl_dtype_is_float(x.dtype) && !fl_dtype_is_int(x.dtype)))
    return broken(v, op, "one type of number is wanted");
  return (r.depth == 0 && r.rank == x.rank + y.rank - 2) || broken(v, op, "the result has the wrong rank");
}

static bool check_matmul_add(Verifier *v, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  if (t.depth || t.rank != 2 || !fl_dtype_is_float(t.dtype)) return broken(v, op, "matrices of floats only");
  for (int i = 0; i < 3; i++)
    if (!fl_t_same(op->args[i]->type, t)) return broken(v, op, "one type of matrix is wanted");
  return true;
}

static bool check_extern(Verifier *v, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  if (!op->attrs.s || !op->attrs.library) return broken(v, op, "a symbol and its library are wanted");
  if (t.depth || op->attrs.i != t.rank || op->attrs.i > op->n_args)
    return broken(v, op, "one size a dimension of the result is wanted");
  return all_i64(op, op->n_args - (int)op->attrs.i, op->n_args) || broken(v, op, "sizes are i64");
}

/* What reads or writes tables in files knows their format, and nothing else has one. */
static bool check_format(Verifier *v, const FlOp *op) {
  static const FlOpcode wanted[] = {FL_OP_READ_TABLE, FL_OP_READ_TABLE_SOME, FL_OP_TABLE_PARTS,
                                    FL_OP_TABLE_PART, FL_OP_TABLE_END,       FL_OP_WRITE_TABLE,
                                    FL_OP_EXEC};
  bool wants = false;
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) wants = wants || op->code == wanted[k];
  return wants == (op->attrs.format != NULL) || broken(v, op, "a format is wanted, or is too much");
}

static bool check_structure(Verifier *v, const FlOp *op) {
  switch (op->code) {
  case FL_OP_CONST:
    if (!fl_t_is_scalar(op->results[0]->type)) return broken(v, op, "constants are scalars");
    if (fl_dtype_info[op->results[0]->type.dtype].kind == FL_KIND_REF &&
        op->results[0]->type.dtype != FL_FILE)
      return broken(v, op, "no constant of this type");
    return !fl_dtype_is_int(op->results[0]->type.dtype) ||
           fl_ir_int_fits((FlDtype)op->results[0]->type.dtype, op->attrs.i) ||
           broken(v, op, "does not fit its type");
  case FL_OP_ARRAY: return check_array(v, op);
  case FL_OP_DIM: {
    FlType1 t = op->args[0]->type;
    return (op->attrs.i >= 0 && op->attrs.i < (t.depth ? 1 : t.rank)) || broken(v, op, "no such axis");
  }
  case FL_OP_LOAD:
  case FL_OP_STORE: return check_access(v, op);
  case FL_OP_PICK: return check_pick(v, op);
  case FL_OP_MAP: return check_map(v, op);
  case FL_OP_REDUCE: return check_reduce(v, op);
  case FL_OP_SCAN: return check_scan(v, op);
  case FL_OP_COLLECT: return check_collect(v, op);
  case FL_OP_IF: return check_if(v, op);
  case FL_OP_FOR:
    if (!all_i64(op, 0, 2)) return broken(v, op, "bounds are i64");
    return check_loop(v, op);
  case FL_OP_WHILE: return check_loop(v, op);
  case FL_OP_CALL:
  case FL_OP_STAGE: return check_call(v, op);
  case FL_OP_FAIL:
    return (op->n_args == 1 && is_scalar_of(op->args[0]->type, FL_TEXT)) ||
           broken(v, op, "one text is wanted");
  case FL_OP_WITHIN: return !op->n_results || broken(v, op, "it gives nothing");
  case FL_OP_CHECK: return op->n_args <= 3 || broken(v, op, "at most two operands");
  case FL_OP_EXTERN: return check_extern(v, op);
  case FL_OP_MATMUL: return check_matmul(v, op);
  case FL_OP_MATMUL_ADD: return check_matmul_add(v, op);
  case FL_OP_ROWS:
  case FL_OP_TRANSPOSE:
    return fl_t_same(op->args[0]->type, op->results[0]->type) ||
           broken(v, op, "the result has the argument's type");
  case FL_OP_ROW_PART:
  case FL_OP_TAKE: return op->n_results == op->n_args - 1 || broken(v, op, "one result an array");
  case FL_OP_COMPRESS: return op->n_results == op->n_args || broken(v, op, "a count and one result an array");
  case FL_OP_CUSTOM:
  case FL_OP_KEEP:
  case FL_OP_BESIDE:
  case FL_OP_CONCAT:
  case FL_OP_LIST_OF:
  case FL_OP_LIST_CONCAT:
  case FL_OP_LIST_STACK:
  case FL_OP_LIST_SUM:
  case FL_OP_SUM_BEGIN:
  case FL_OP_SUM_END:
  case FL_OP_SUM_PART:
  case FL_OP_SUM_LATE:
  case FL_OP_RESHAPE:
  case FL_OP_SOLVE:
  case FL_OP_LINALG_PRODUCTS:
  case FL_OP_LINALG_CHOLESKY:
  case FL_OP_LINALG_QR:
  case FL_OP_LINALG_SVD:
  case FL_OP_LINALG_EIGH:
  case FL_OP_LINALG_EIG:
  case FL_OP_LINALG_LSTSQ:
  case FL_OP_LINALG_PINV:
  case FL_OP_LINALG_DET:
  case FL_OP_FFT:
  case FL_OP_RFFT:
  case FL_OP_IRFFT:
  case FL_OPS_SCALAR:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
  return true;
}

/* Effects stand in the top level of a script or test, under its own if, for and while. */
static bool effect_place(const FlOp *op) {
  const FlFunc *f = op->parent->func;
  if (f->kind != FL_FUNC_MAIN && f->kind != FL_FUNC_TEST) return false;
  for (const FlOp *o = op->parent->owner; o; o = o->parent->owner)
    if (fl_op_info[o->code].family != FL_FAMILY_CONTROL) return false;
  return true;
}

static bool check_use(Verifier *v, const FlOp *op, const FlValue *used) {
  if (!used) return broken(v, op, "an operand is missing");
  if (used->region->func != v->func || used->id >= v->func->next_id)
    return broken(v, op, "operand of another function");
  if (v->state[used->id] != 1)
    return broken(v, op, "operand (id %u) is not defined before its use", used->id);
  return true;
}

static bool check_definition(Verifier *v, const FlOp *op, const FlValue *d, const FlRegion *r, int index) {
  if (d->op != op || d->region != r || d->index != index)
    return broken(v, op, "value %d has wrong links", index);
  if (d->id >= v->func->next_id || v->state[d->id]) return broken(v, op, "value id %u is used twice", d->id);
  if (d->type.dtype >= FL_N_DTYPES || d->type.rank > FL_MAX_RANK || (d->type.depth && !d->type.rank))
    return broken(v, op, "value %d has an impossible type", index);
  v->state[d->id] = 1;
  return true;
}

static bool check_region(Verifier *v, const FlRegion *r);

static bool check_op(Verifier *v, const FlOp *op, const FlRegion *r) {
  if (op->parent != r) return broken(v, op, "wrong parent");
  if (op->next ? op->next->prev != op : r->last != op) return broken(v, op, "broken list of ops");
  for (int i = 0; i < op->n_args; i++)
    if (!check_use(v, op, op->args[i])) return false;
  const char *why = fl_ir_match(op->code, op->n_args, op->args, op->n_results, op->results, NULL, NULL);
  if (why) return broken(v, op, "%s", why);
  if (!regions_fit(op)) return broken(v, op, "wrong number of regions");
  for (int i = 0; i < op->n_regions; i++) {
    if (!op->regions[i] || op->regions[i]->owner != op) return broken(v, op, "region %d has wrong links", i);
    if (!check_region(v, op->regions[i])) return false;
  }
  if (!check_structure(v, op) || !check_format(v, op)) return false;
  if ((fl_op_info[op->code].flags & FL_OPF_EFFECT) && !effect_place(op))
    return broken(v, op, "an effect in pure code");
  for (int i = 0; i < op->n_results; i++)
    if (!check_definition(v, op, op->results[i], r, i)) return false;
  return true;
}

static bool check_region(Verifier *v, const FlRegion *r) {
  if (r->func != v->func) return broken(v, r->owner, "region of another function");
  for (int i = 0; i < r->n_params; i++)
    if (!check_definition(v, NULL, r->params[i], r, i)) return false;
  for (const FlOp *op = r->first; op; op = op->next)
    if (!check_op(v, op, r)) return false;
  for (int i = 0; i < r->n_yields; i++)
    if (!check_use(v, r->owner, r->yields[i])) return false;
  for (int i = 0; i < r->n_params; i++) v->state[r->params[i]->id] = 2;
  for (const FlOp *op = r->first; op; op = op->next)
    for (int i = 0; i < op->n_results; i++) v->state[op->results[i]->id] = 2;
  return true;
}

static bool region_is_whole(Verifier *v, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!op->args[i]) return false;
    if (!regions_fit(op)) return false;
    for (int i = 0; i < op->n_regions; i++) {
      const FlRegion *within = op->regions[i];
      if (!within || !region_is_whole(v, within)) return false;
      for (int k = 0; k < within->n_yields; k++)
        if (!within->yields[k]) return false;
    }
    if (!check_structure(v, op)) return false;
  }
  return true;
}

bool fl_ir_is_whole(const FlRegion *r) {
  FlText1 why = {0};
  bool whole = region_is_whole(&(Verifier){.func = r->func, .why = &why}, r);
  fl_text_reset(&why);
  return whole;
}

static bool verify(const FlModule *m, FlArena *arena, FlText1 *why) {
  FlInterner *names = fl_interner_make(arena);
  FlMap *named = fl_map_make(arena); /* as a set */
  for (const FlFunc *f = m->first; f; f = f->next) {
    Verifier v = {f, why, fl_piece_new((size_t)f->next_id + 1, 1)};
    bool fine =
        f->body->owner == NULL ? check_region(&v, f->body) : broken(&v, NULL, "the body has an owner");
    if (fine && fl_map_get(named, fl_intern_z(names, f->name)))
      fine = broken(&v, NULL, "two functions have this name");
    fl_map_set(named, fl_intern_z(names, f->name), named);
    fl_piece_free(v.state);
    if (!fine) return false;
  }
  return true;
}

bool fl_ir_verify(const FlModule *m, FlText1 *why) {
  FlArena *arena = fl_arena_new();
  bool fine = verify(m, arena, why);
  fl_arena_free(arena);
  return fine;
}
