/* lift.c: elementwise application. A scalar function over arrays becomes one MAP whose region loads an
 * element of each array and applies the function; fusion later joins chains of them.
 *
 * Shapes (LANGUAGE 4): equal, or one side a scalar, or one lacks leading dimensions. */
#include "sema/category.h"
#include "sema/column_names.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

static const char *axis_message(FlSema *s, int rank, int axis) {
  if (rank == 1) return "the left side has {a} elements, the right side {b}";
  return fl_arena_printf(s->arena, "sizes differ in dimension %d: {a} and {b}", axis);
}

/* Was dimension k of the result (of this rank) made by `new` in this argument? */
static bool stretches(const FlVal *v, int rank, int k) {
  return v->stretch >> (k - (rank - v->type->rank)) & 1;
}

bool fl_sema_common_sizes(FlSema *s, FlSpan span, int n, const FlVal *args, int rank, int widest,
                          FlValue **sizes, unsigned *stretch) {
  *stretch = 0;
  for (int k = 0; k < rank; k++) {
    int from = widest; /* the first that has this dimension and does not stretch it */
    for (int i = 0; i < n && stretches(&args[from], rank, k); i++)
      if (args[i].type->kind == FL_TY_ARRAY && k >= rank - args[i].type->rank &&
          !stretches(&args[i], rank, k))
        from = i;
    if (stretches(&args[from], rank, k)) *stretch |= 1u << k;
    sizes[k] = fl_sema_dim(s, args[from], k - (rank - args[from].type->rank));
  }
  for (int i = 0; i < n; i++) {
    if (args[i].type->kind != FL_TY_ARRAY) continue;
    int lead = rank - args[i].type->rank;
    for (int k = lead; k < rank; k++) {
      if (stretches(&args[i], rank, k)) continue;
      FlValue *mine = fl_sema_dim(s, args[i], k - lead);
      FlValue *left = i < widest ? mine : sizes[k], *right = i < widest ? sizes[k] : mine;
      bool equal = fl_sema_sizes_equal(s, left, right);
      if (!equal && !fl_sema_same_size(s, left, right, span, axis_message(s, rank, k))) return false;
      sizes[k] = fl_sema_size(s, sizes[k]);
    }
  }
  return true;
}

FlVal fl_sema_element_at(FlSema *s, FlVal v, int rank, unsigned stretch, FlValue *const *position) {
  const FlType *t = v.type;
  if (t->kind != FL_TY_ARRAY) return v;
  FlValue *parts[2] = {0}, *index[FL_MAX_RANK];
  int lead = rank - t->rank;
  for (int k = 0; k < t->rank; k++)
    index[k] = (v.stretch >> k & 1) && !(stretch >> (lead + k) & 1) ? fl_sema_i64(s, 0) : position[lead + k];
  for (int k = 0; k < fl_type_element_parts(t); k++)
    parts[k] = fl_ir_load(&s->b, v.parts[k], t->rank, index, true);
  return fl_val_with(s, fl_type_scalar(s->types, t->dtype, t->nullable), parts, v);
}

/* Can it be an element of a result of this rank: a scalar, or a row of a table? Reports. */
static bool is_element(FlSema *s, FlVal v, int rank, FlSpan span) {
  if (fl_val_bad(v)) return false;
  bool fits = v.type->kind == FL_TY_SCALAR || (v.type->kind == FL_TY_TUPLE && rank == 1);
  for (int i = 0; fits && v.type->kind == FL_TY_TUPLE && i < v.type->n_fields; i++)
    fits = v.type->fields[i].type->kind == FL_TY_SCALAR;
  if (v.type->kind == FL_TY_NEVER || v.type->kind == FL_TY_NULL)
    fl_sema_error(s, FL_E0301, span, "this gives no value for an element");
  else if (!fits)
    fl_sema_error(s, FL_E0301, span,
                  "applied to each element this gives %s, which cannot be the element of an array",
                  fl_val_text(s, v));
  return fits;
}

FlVal fl_sema_lift(FlSema *s, FlSpan span, int n, FlVal *args, FlElementFn *f, void *env) {
  int rank = 0, widest = -1;
  for (int i = 0; i < n; i++) {
    if (fl_val_bad(args[i])) return args[i];
    if (args[i].type->kind == FL_TY_ARRAY && args[i].type->rank > rank) {
      rank = args[i].type->rank;
      widest = i;
    }
  }
  if (widest < 0) return f(s, env, args, n, span);
  FlValue *sizes[FL_MAX_RANK] = {0};
  FlType1 i64s[FL_MAX_RANK];
  unsigned stretch;
  if (!fl_sema_common_sizes(s, span, n, args, rank, widest, sizes, &stretch)) return fl_val_error(s);
  for (int k = 0; k < rank; k++) i64s[k] = fl_t_scalar(FL_I64);

  /* The region's results are known only once f ran, so the op is made with none and completed afterwards. */
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, rank, sizes, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, rank, i64s);
  fl_by_group_say_loop(s, map, r);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlVal *elements = FL_NEW_ARRAY(s->arena, FlVal, n);
  for (int i = 0; i < n; i++) elements[i] = fl_sema_element_at(s, args[i], rank, stretch, r->params);
  s->in_kernel++;
  FlVal out = f(s, env, elements, n, span);
  s->in_kernel--;
  if (!is_element(s, out, rank, span)) {
    fl_sema_leave(s, saved);
    return fl_val_error(s);
  }
  bool shared = fl_levels_need_outside(s, &out, r, span);
  FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, out.type->n_parts + 1);
  int n_yields = fl_val_cut(out, yields);
  fl_ir_yield(r, s->module, n_yields, yields);
  fl_sema_leave(s, saved);
  if (!shared) return fl_val_error(s);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n_yields + 1);
  for (int k = 0; k < n_yields; k++) types[k] = fl_t_array((FlDtype)yields[k]->type.dtype, rank);
  fl_ir_add_results(&s->b, map, n_yields, types);
  bool scalars = out.type->kind == FL_TY_SCALAR;
  const FlType *type = scalars ? fl_type_array(s->types, out.type->dtype, out.type->nullable, rank)
                               : fl_type_table(s->types, out.type);
  FlVal many = fl_val_join(s, type, sizes[0], map->results, out);
  if (scalars) many.stretch = stretch;
  if (scalars && rank == 2) fl_column_names_common(s, n, args, many);
  return many;
}

/* ---- scalar operators with nulls ---- */

static FlOp *emit(FlSema *s, FlOpcode code, const FlVal *args, int n, const FlType *result,
                  const FlAttrs *attrs) {
  FlValue *values[8];
  for (int i = 0; i < n; i++) values[i] = args[i].parts[0];
  FlType1 type = fl_t_scalar(result->dtype);
  FlOp *op = fl_ir_op(&s->b, code, n, values, 1, &type, 0);
  if (attrs) op->attrs = *attrs;
  return op;
}

FlVal fl_sema_scalar_op(FlSema *s, FlOpcode code, FlVal *args, int n, const FlType *result,
                        const FlAttrs *attrs) {
  FlValue *valid = NULL;
  for (int i = 0; i < n; i++) {
    FlValue *v = fl_val_valid(s, args[i]);
    if (v) valid = valid && valid != v ? fl_sema_op2(s, FL_OP_AND, valid, v) : v;
  }
  if (!valid) {
    FlOp *op = emit(s, code, args, n, result, attrs);
    return fl_val_make(s, fl_type_scalar(s->types, result->dtype, false), op->results);
  }
  FlType1 type = fl_t_scalar(result->dtype);
  FlValue *value;
  /* An operator that can fault must not see what stands under a null. */
  FlOp *probe = emit(s, code, args, n, result, attrs);
  if (fl_ir_may_fault(probe)) {
    fl_ir_remove(probe);
    FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &valid, 1, &type, 2);
    FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
    FlSavedPlace saved = fl_sema_enter(s, yes);
    value = emit(s, code, args, n, result, attrs)->results[0];
    fl_ir_yield(yes, s->module, 1, &value);
    fl_sema_leave(s, saved);
    saved = fl_sema_enter(s, no);
    value = fl_val_zero(s, result->dtype);
    fl_ir_yield(no, s->module, 1, &value);
    fl_sema_leave(s, saved);
    value = branch->results[0];
  } else {
    value = fl_ir_select(&s->b, valid, probe->results[0], fl_val_zero(s, result->dtype));
  }
  return fl_val_make(s, fl_type_scalar(s->types, result->dtype, true), (FlValue *[]){value, valid});
}

typedef struct LiftOp {
  FlOpcode code;
  const FlType *result;
  const FlAttrs *attrs;
} LiftOp;

static FlVal lift_op_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)span;
  LiftOp *op = env;
  return fl_sema_scalar_op(s, op->code, args, n, op->result, op->attrs);
}

FlVal fl_sema_lift_op(FlSema *s, FlSpan span, FlOpcode code, int n, FlVal *args, FlDtype result,
                      const FlAttrs *attrs) {
  LiftOp op = {code, fl_type_scalar(s->types, result, false), attrs};
  return fl_sema_lift(s, span, n, args, lift_op_element, &op);
}
