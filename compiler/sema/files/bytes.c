/* bytes.c: bytes(x) and write_bytes(x, path): values as the bytes of which they are made, for formats written
 * in flow. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/files/paths.h"
#include "sema/value.h"

FlVal fl_builtin_bytes(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(x)) return x;
  bool text = x.type->kind == FL_TY_SCALAR && x.type->dtype == FL_TEXT;
  bool numbers = x.type->kind == FL_TY_ARRAY && fl_dtype_is_number(x.type->dtype);
  if (x.type->nullable || (!text && !numbers)) {
    FlDiag *d =
        fl_sema_report(s, FL_E0980, c->args[0].span,
                       "`bytes` takes a text or an array of numbers, and this is %s", fl_val_text(s, x));
    if (x.type->kind == FL_TY_SCALAR) fl_diag_help(s->sink, d, "of one number: `bytes([x])`");
    return fl_val_error(s);
  }
  FlType1 out = fl_t_array(FL_U8, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_BYTES_OF, 1, x.parts, 1, &out, 0);
  op->attrs.i = text;
  op->span = fl_sema_place(s, c->span);
  return fl_val_array(s, FL_U8, 1, op->results[0]);
}

FlVal fl_builtin_write_bytes(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  FlValue *path;
  if (fl_val_bad(x) || !fl_sema_target_path(s, &c->args[1], &path)) return fl_val_error(s);
  if (x.type->kind != FL_TY_ARRAY || x.type->nullable || x.type->dtype != FL_U8 || x.type->rank != 1) {
    FlDiag *d = fl_sema_report(s, FL_E0980, c->args[0].span, "`write_bytes` takes a u8[n], and this is %s",
                               fl_val_text(s, x));
    fl_diag_help(s->sink, d, "`bytes(x)` are those of a text or of an array of numbers");
    return fl_val_error(s);
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_WRITE_NPY, 2, (FlValue *[]){path, x.parts[0]}, 0, NULL, 0);
  op->attrs.i = 1;
  op->span = fl_sema_place(s, c->span);
  return fl_val_none(s);
}
