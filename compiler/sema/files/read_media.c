/* read_media.c: images and sounds as arrays, and images from them.
 *
 * In: files. Out: ops with results whose types are the same for every file. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/files/paths.h"
#include "sema/files/reader.h"
#include "sema/value.h"

FlVal fl_builtin_read_image(FlSema *s, FlCallSite *c) {
  FlReadFrom source = fl_reader_source(s, c);
  if (fl_val_bad(source.file)) return source.file;
  int rank = source.file.type->kind == FL_TY_ARRAY ? 4 : 3;
  FlType1 type = fl_t_array(FL_U8, rank);
  FlOp *op = fl_ir_op(&s->b, FL_OP_READ_IMAGE, 1, source.file.parts, 1, &type, 0);
  op->span = fl_sema_place(s, c->span);
  return fl_val_array(s, FL_U8, rank, op->results[0]);
}

FlVal fl_builtin_write_image(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal x = fl_actual_value(s, &c->args[0], NULL);
  FlValue *path;
  if (fl_val_bad(x) || !fl_sema_target_path(s, &c->args[1], &path)) return fl_val_error(s);
  bool image = x.type->kind == FL_TY_ARRAY && !x.type->nullable && x.type->dtype == FL_U8 &&
               (x.type->rank == 2 || x.type->rank == 3);
  if (!image) {
    FlDiag *d = fl_sema_report(s, FL_E0329, c->args[0].span,
                               "an image is u8[height, width] or u8[height, width, channels], and this is %s",
                               fl_val_text(s, x));
    fl_diag_help(s->sink, d, "of values from 0 to 1: `u8(round(x * 255))`");
    return fl_val_error(s);
  }
  fl_ir_op(&s->b, FL_OP_WRITE_IMAGE, 2, (FlValue *[]){path, x.parts[0]}, 0, NULL, 0)->span =
      fl_sema_place(s, c->span);
  return fl_val_none(s);
}

FlVal fl_builtin_read_wav(FlSema *s, FlCallSite *c) {
  FlVal file = fl_reader_file(s, c);
  if (fl_val_bad(file)) return file;
  FlType1 types[2] = {fl_t_scalar(FL_I64), fl_t_array(FL_F32, 2)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_READ_WAV, 1, file.parts, 2, types, 0);
  op->span = fl_sema_place(s, c->span);
  const char *names[2] = {fl_intern_z(s->names, "rate"), fl_intern_z(s->names, "samples")};
  FlVal values[2] = {fl_val_scalar(s, FL_I64, op->results[0]), fl_val_array(s, FL_F32, 2, op->results[1])};
  return fl_val_tuple(s, 2, names, values, NULL);
}
