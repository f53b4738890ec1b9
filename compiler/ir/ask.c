/* ask.c: questions about ops and regions. Answers are safe: "may fault" when in doubt, "is a kernel" only
 * when every op in it may stand in one. */
#include "ir/ir_internal.h"

bool fl_ir_const_value_i(const FlValue *v, int64_t *out) {
  if (!v->op || v->op->code != FL_OP_CONST || !fl_t_is_scalar(v->type)) return false;
  if (!fl_dtype_is_int(v->type.dtype) && v->type.dtype != FL_BOOL) return false;
  *out = v->op->attrs.i;
  return true;
}

bool fl_ir_region_may_fault(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next)
    if (fl_ir_may_fault(op)) return true;
  return false;
}

bool fl_ir_inside(const FlRegion *r, const FlRegion *outer) {
  for (; r; r = r->owner ? r->owner->parent : NULL)
    if (r == outer) return true;
  return false;
}

bool fl_ir_made_inside(const FlValue *v, const FlRegion *outer) { return fl_ir_inside(v->region, outer); }

bool fl_ir_made_within(const FlValue *v, const FlOp *op) {
  for (const FlRegion *r = v->region; r && r->owner; r = r->owner->parent) /* an op may stand nowhere yet */
    if (r->owner == op) return true;
  return false;
}

static bool is_const_nonzero(const FlValue *v) {
  int64_t i;
  return fl_ir_const_value_i(v, &i) && i != 0;
}

/* To a float always rounds, but f64 to f32 may be out of range; to an integer the value must fit exactly.
 * Dates and times convert as the signed integers that they are stored as. */
static bool convert_may_fault(FlDtype from, FlDtype to) {
  const FlDtypeInfo *f = &fl_dtype_info[from], *t = &fl_dtype_info[to];
  if (from == to || f->kind == FL_KIND_BOOL || f->kind == FL_KIND_DECIMAL || t->kind == FL_KIND_DECIMAL)
    return false;
  if (t->kind == FL_KIND_FLOAT) return f->kind == FL_KIND_FLOAT && t->bytes < f->bytes;
  if (f->kind == FL_KIND_FLOAT) return true;
  bool from_unsigned = f->kind == FL_KIND_UNSIGNED, to_unsigned = t->kind == FL_KIND_UNSIGNED;
  if (from_unsigned == to_unsigned) return t->bytes < f->bytes;
  return to_unsigned || t->bytes <= f->bytes;
}

/* min, max and arg* of nothing are an error: not so when there is an element for sure. */
static bool reduce_may_fault(const FlOp *op) {
  bool some = true;
  for (int i = 0; i < op->n_args; i++) {
    int64_t n;
    some = some && fl_ir_const_value_i(op->args[i], &n) && n > 0;
  }
  for (int i = 0; i < op->n_results; i++) {
    FlReduction r = fl_ir_reduction(op, i);
    switch (r.kind) {
    case FL_RED_SUM:
    case FL_RED_PRODUCT:
    case FL_RED_SUM_PRODUCT:
      if (!fl_dtype_is_float(op->results[i]->type.dtype)) return true;
      break;
    case FL_RED_MIN:
    case FL_RED_MAX:
    case FL_RED_ARGMIN:
    case FL_RED_ARGMAX:
      if (!(some && r.keep < 0) && !(op->attrs.i & FL_REDUCE_SOME)) return true;
      break;
    case FL_RED_ANY:
    case FL_RED_ALL:
    case FL_RED_COUNT:
    case FL_RED_EACH: break;
    }
  }
  return false;
}

/* A sum of integers or durations may not fit; a quantile's share is a number of the script. */
static bool aggregate_may_fault(const FlOp *op) {
  FlAggregate k = fl_ir_aggregate(op);
  if (k == FL_N_AGGREGATES) return true;
  const FlAggregateInfo *info = &fl_aggregate_info[k];
  if (info->setting == FL_SETTING_SHARE) return !(op->attrs.f >= 0 && op->attrs.f <= 1);
  return info->result == FL_RESULT_SUM && !fl_dtype_is_float(op->results[0]->type.dtype);
}

static bool matmul_may_fault(const FlOp *op) {
  FlValue *x = op->args[0], *y = op->args[1];
  if (!x->op || !y->op || x->op->code != FL_OP_MAP || y->op->code != FL_OP_MAP) return true;
  if (x->type.depth || y->type.depth) return true;
  FlValue *inner_x = x->op->args[x->type.rank == 1 || (op->attrs.i & 1) ? 0 : 1];
  FlValue *inner_y = y->op->args[y->type.rank == 2 && (op->attrs.i & 2) ? 1 : 0];
  return inner_x != inner_y;
}

bool fl_ir_may_fault(const FlOp *op) {
  for (int i = 0; i < op->n_regions; i++)
    if (fl_ir_region_may_fault(op->regions[i])) return true;
  if (!(fl_op_info[op->code].flags & FL_OPF_FAULT)) return false;
  FlDtype dtype = op->n_args ? (FlDtype)op->args[0]->type.dtype : FL_BOOL;
  FlKind kind = fl_dtype_info[dtype].kind;
  switch (op->code) {
  case FL_OP_ADD:
  case FL_OP_SUB:
  case FL_OP_MUL:
  case FL_OP_NEG:
  case FL_OP_POW: return kind != FL_KIND_FLOAT;
  case FL_OP_ABS: return kind != FL_KIND_FLOAT && kind != FL_KIND_UNSIGNED;
  case FL_OP_FLOORDIV:
    if (kind == FL_KIND_FLOAT) return false;
    return !(is_const_nonzero(op->args[1]) && (kind == FL_KIND_UNSIGNED || op->args[1]->op->attrs.i != -1));
  case FL_OP_MOD:
    if (kind == FL_KIND_FLOAT) return false;
    return !is_const_nonzero(op->args[1]);
  case FL_OP_CONVERT: return convert_may_fault(dtype, (FlDtype)op->results[0]->type.dtype);
  case FL_OP_TAKE: return !(op->attrs.i & FL_TAKE_PROVEN);
  case FL_OP_LOAD:
  case FL_OP_ROWS: return op->attrs.i == 0;
  case FL_OP_ROW_PART: return false;
  case FL_OP_STORE: return op->attrs.i == 0;
  case FL_OP_REDUCE: return reduce_may_fault(op);
  case FL_OPS_LISTS: return op->code != FL_OP_LIST_STACK || op->attrs.i == 0;
  case FL_OPS_TABLES: return op->code != FL_OP_AGGREGATE || aggregate_may_fault(op);
  case FL_OP_SCAN: return false; /* only its region can, above */
  case FL_OP_CHECK: {
    int64_t v;
    return !(fl_ir_const_value_i(op->args[0], &v) && v);
  }
  case FL_OP_CALL: return op->attrs.func->recursive || fl_ir_region_may_fault(op->attrs.func->body);
  case FL_OPS_MATRIX: return op->code != FL_OP_MATMUL || matmul_may_fault(op);
  case FL_OP_WRAP_ADD:
  case FL_OP_WRAP_SUB:
  case FL_OP_WRAP_MUL:
  case FL_OP_DIV:
  case FL_OP_SIGN:
  case FL_OP_FMA:
  case FL_OP_MIN:
  case FL_OP_MAX:
  case FL_OP_SQRT:
  case FL_OP_AND:
  case FL_OP_OR:
  case FL_OP_NOT:
  case FL_OP_SELECT:
  case FL_OP_IS_NAN:
  case FL_OP_IS_FINITE:
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_DIM:
  case FL_OP_PICK:
  case FL_OP_MAP:
  case FL_OP_COLLECT:
  case FL_OP_CUSTOM:
  case FL_OP_STAGE:
  case FL_OP_EXTERN:
  case FL_OP_FAIL:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OP_COMPRESS:
  case FL_OP_CONCAT:
  case FL_OPS_ORDER:
  case FL_OPS_MATHS:
  case FL_OPS_RANDOM:
  case FL_OPS_FUNCTIONS:
  case FL_OPS_CONTROL:
  case FL_OPS_ARRAYS:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
  return true;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool fl_ir_same_columns(const FlAttrs *a, const FlAttrs *b) {
  if (a->n_columns != b->n_columns) return false;
  for (int i = 0; i < a->n_columns; i++) {
    const FlColumnAttr *x = &a->columns[i], *y = &b->columns[i];
    if (x->flags != y->flags || x->dtype != y->dtype || !same_text(x->name, y->name) ||
        !same_text(x->made, y->made))
      return false;
  }
  return true;
}

bool fl_ir_same_options(const FlAttrs *a, const FlAttrs *b) {
  if (a->format != b->format || a->n_options != b->n_options) return false;
  for (int i = 0; i < a->n_options; i++) {
    const FlOptionAttr *x = &a->options[i], *y = &b->options[i];
    if (strcmp(x->name, y->name) != 0 || !same_text(x->text, y->text) || x->number != y->number ||
        x->found != y->found)
      return false;
  }
  return true;
}

bool fl_ir_same_library(const FlLibraryAttr *a, const FlLibraryAttr *b) {
  if (!a || !b || a->by_path != b->by_path) return a == b;
  return a->by_path ? a->content.lo == b->content.lo && a->content.hi == b->content.hi
                    : strcmp(a->name, b->name) == 0;
}

bool fl_ir_is_check(const FlOp *op) { return op->code == FL_OP_CHECK || op->code == FL_OP_KEEP; }

const FlOp *fl_ir_within(const FlOp *op) {
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (in->code == FL_OP_WITHIN) return in;
  return NULL;
}

bool fl_ir_is_effect(const FlOp *op) {
  if (fl_op_info[op->code].flags & FL_OPF_EFFECT) return true;
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (fl_ir_is_effect(in)) return true;
  return false;
}

FlPasses fl_ir_passes(const FlOp *op) {
  int flags = fl_op_info[op->code].flags;
  if (op->attrs.fewer) return FL_PASSES_FEWER;
  if (op->attrs.chained) return FL_PASSES_CHAINED;
  return flags & FL_OPF_WHOLE ? FL_PASSES_ALL : flags & FL_OPF_PICKS ? FL_PASSES_PICKS : FL_PASSES_UNKNOWN;
}

static bool kernel_op(const FlOp *op) {
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) return false;
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR) return true;
  switch (op->code) {
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_CHECK:
  case FL_OP_KEEP:
  case FL_OP_WITHIN:
  case FL_OP_FAIL: return true;
  case FL_OP_EXTERN:
    for (int i = 0; i < op->n_args; i++)
      if (!fl_t_is_scalar(op->args[i]->type)) return false;
    return true;
  case FL_OP_IF:
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_REDUCE:
    if (fl_ir_within(op)) return false; /* a loop over groups is host code, which can say the group */
    for (int i = 0; i < op->n_results; i++)
      if (!fl_t_is_scalar(op->results[i]->type)) return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!fl_ir_is_kernel(op->regions[i])) return false;
    return true;
  case FL_OP_ARRAY:
  case FL_OP_STORE:
  case FL_OP_MAP:
  case FL_OP_SCAN:
  case FL_OP_COLLECT:
  case FL_OP_CALL:
  case FL_OP_CUSTOM:
  case FL_OP_STAGE:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

bool fl_ir_is_kernel(const FlRegion *r) {
  for (int i = 0; i < r->n_params; i++)
    if (!fl_t_is_scalar(r->params[i]->type)) return false;
  for (int i = 0; i < r->n_yields; i++)
    if (!fl_t_is_scalar(r->yields[i]->type)) return false;
  for (const FlOp *op = r->first; op; op = op->next)
    if (!kernel_op(op)) return false;
  return true;
}

bool fl_ir_uses(const FlRegion *r, const FlValue *v) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == v) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ir_uses(op->regions[i], v)) return true;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == v) return true;
  return false;
}

int fl_ir_n_ops(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    n++;
    for (int i = 0; i < op->n_regions; i++) n += fl_ir_n_ops(op->regions[i]);
  }
  return n;
}

int fl_ir_n_of(const FlRegion *r, FlOpcode code) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    n += op->code == code;
    for (int i = 0; i < op->n_regions; i++) n += fl_ir_n_of(op->regions[i], code);
  }
  return n;
}

bool fl_ir_makes_text(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_op_info[op->code].flags & FL_OPF_HEAP) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ir_makes_text(op->regions[i])) return true;
  }
  return false;
}
