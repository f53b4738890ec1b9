/* fourier.c: Fourier transforms along the last axis: fft(x), ifft(z), rfft(x), irfft(z).
 *
 * In: arrays of numbers of any rank, or complex ones as a tuple (re, im) of two arrays of one shape. Out:
 * such a tuple, of irfft an array. Integers become f64. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"

static FlVal wrong(FlSema *s, FlCallSite *c, FlVal v, const char *takes) {
  return fl_sema_error(s, FL_E0325, c->args[0].span, "`%s` takes %s, and this is %s", c->builtin->name, takes,
                       fl_val_text(s, v));
}

static bool is_numbers(FlVal v) {
  return v.type->kind == FL_TY_ARRAY && !v.type->nullable && fl_dtype_is_number(v.type->dtype);
}

static FlVal as_floats(FlSema *s, FlVal v, FlSpan span) {
  if (fl_dtype_is_float(v.type->dtype)) return v;
  return fl_val_coerce(s, v, fl_type_array(s->types, FL_F64, false, v.type->rank), span, "the array");
}

static FlVal complex_of(FlSema *s, FlOp *op, FlVal like, FlValue *const *sizes) {
  FlVal out[2];
  const char *names[2] = {fl_intern_z(s->names, "re"), fl_intern_z(s->names, "im")};
  for (int i = 0; i < 2; i++) {
    out[i] = fl_val_array(s, like.type->dtype, like.type->rank, op->results[i]);
    for (int k = 0; k < like.type->rank; k++) {
      FlValue *own = fl_ir_dim(&s->b, op->results[i], k);
      if (own != sizes[k]) fl_sema_alias(s, own, sizes[k]);
    }
  }
  return fl_val_tuple(s, 2, names, out, NULL);
}

static void sizes_of(FlSema *s, FlVal v, FlValue **sizes) {
  for (int k = 0; k < v.type->rank; k++) sizes[k] = fl_sema_dim(s, v, k);
}

/* Both parts of a complex argument, of one type and shape; false: reported. */
static bool read_complex(FlSema *s, FlCallSite *c, FlVal z, FlVal parts[2]) {
  static const char takes[] = "two arrays of numbers of one shape as (re = .., im = ..)";
  FlSpan span = c->args[0].span;
  const FlType *t = z.type;
  int re = -1, im = -1;
  for (int i = 0; t->kind == FL_TY_TUPLE && i < t->n_fields; i++) {
    if (strcmp(t->fields[i].name, "re") == 0) re = i;
    if (strcmp(t->fields[i].name, "im") == 0) im = i;
  }
  if (re < 0 || im < 0 || t->n_fields != 2) return wrong(s, c, z, takes), false;
  parts[0] = fl_val_field(s, z, re);
  parts[1] = fl_val_field(s, z, im);
  if (!is_numbers(parts[0]) || !is_numbers(parts[1]) || parts[0].type->rank != parts[1].type->rank)
    return wrong(s, c, z, takes), false;
  for (int i = 0; i < 2; i++) parts[i] = as_floats(s, parts[i], span);
  if (!fl_sema_same_numbers(s, parts, span)) return false;
  for (int k = 0; k < parts[0].type->rank; k++)
    if (!fl_sema_same_size(s, fl_sema_dim(s, parts[0], k), fl_sema_dim(s, parts[1], k), span,
                           "`re` and `im` differ in size: {a} and {b}"))
      return false;
  return true;
}

FlVal fl_builtin_fft(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL), parts[2];
  bool backward = c->builtin->data[0] == 'i', complex = x.type->kind == FL_TY_TUPLE || backward;
  if (fl_val_bad(x)) return x;
  if (complex) {
    if (!read_complex(s, c, x, parts)) return fl_val_error(s);
  } else {
    if (!is_numbers(x)) return wrong(s, c, x, "an array of numbers, or a complex one as (re = .., im = ..)");
    parts[0] = as_floats(s, x, c->args[0].span);
  }
  FlType1 type = parts[0].parts[0]->type, types[2] = {type, type};
  FlValue *args[2] = {parts[0].parts[0], complex ? parts[1].parts[0] : NULL}, *sizes[FL_MAX_RANK];
  FlOp *op = fl_ir_op(&s->b, FL_OP_FFT, complex ? 2 : 1, args, 2, types, 0);
  op->attrs.i = backward;
  sizes_of(s, parts[0], sizes);
  return complex_of(s, op, parts[0], sizes);
}

FlVal fl_builtin_rfft(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  if (!is_numbers(x)) return wrong(s, c, x, "an array of numbers");
  x = as_floats(s, x, c->args[0].span);
  FlType1 type = x.parts[0]->type, types[2] = {type, type};
  FlOp *op = fl_ir_op(&s->b, FL_OP_RFFT, 1, x.parts, 2, types, 0);
  FlValue *sizes[FL_MAX_RANK];
  sizes_of(s, x, sizes);
  FlValue **last = &sizes[x.type->rank - 1];
  FlValue *half = fl_sema_op2(s, FL_OP_FLOORDIV, *last, fl_sema_i64(s, 2));
  *last = fl_sema_op2(s, FL_OP_ADD, half, fl_sema_i64(s, 1));
  fl_sema_mark_size(s, *last);
  return complex_of(s, op, x, sizes);
}

FlVal fl_builtin_irfft(FlSema *s, FlCallSite *c) {
  FlVal z = fl_actual_value(s, &c->args[0], NULL), parts[2];
  if (fl_val_bad(z) || !read_complex(s, c, z, parts)) return fl_val_error(s);
  int rank = parts[0].type->rank;
  FlValue *sizes[FL_MAX_RANK], *n;
  sizes_of(s, parts[0], sizes);
  if (fl_actual_given(&c->args[1])) {
    if (!fl_actual_i64(s, &c->args[1], &n)) return fl_val_error(s);
  } else {
    FlValue *pairs = fl_sema_op2(s, FL_OP_SUB, sizes[rank - 1], fl_sema_i64(s, 1));
    n = fl_sema_op2(s, FL_OP_MUL, fl_sema_i64(s, 2), pairs);
  }
  FlType1 type = parts[0].parts[0]->type;
  FlOp *op =
      fl_ir_op(&s->b, FL_OP_IRFFT, 3, (FlValue *[]){parts[0].parts[0], parts[1].parts[0], n}, 1, &type, 0);
  fl_sema_mark_size(s, n);
  sizes[rank - 1] = n;
  for (int k = 0; k < rank; k++) {
    FlValue *own = fl_ir_dim(&s->b, op->results[0], k);
    if (own != sizes[k]) fl_sema_alias(s, own, sizes[k]);
  }
  return fl_val_array(s, parts[0].type->dtype, rank, op->results[0]);
}
