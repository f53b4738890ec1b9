/* scalars.c: SCALAR operators by their functions in runtime/kern: one call each, chosen by operator and
 * element type from the table that make_scalar_calls.c makes of ops.def; numbers of one type as another here.
 * The verifier has checked that no combination comes here that an operator's signature does not say. */
#include "interp/interp_internal.h"

#include "kern/kern.h"

/* ---- number to number -------------------------------------------------------------------------------- */

#define GET_bool(s) ((uint8_t)(s).i)
#define GET_i8(s) ((int8_t)(s).i)
#define GET_i16(s) ((int16_t)(s).i)
#define GET_i32(s) ((int32_t)(s).i)
#define GET_i64(s) ((s).i)
#define GET_u8(s) ((uint8_t)(s).u)
#define GET_u16(s) ((uint16_t)(s).u)
#define GET_u32(s) ((uint32_t)(s).u)
#define GET_u64(s) ((s).u)
#define GET_f32(s) ((s).f32)
#define GET_f64(s) ((s).f)

#define PUT_i8(v) ((FlSlot){.i = (v)})
#define PUT_i16(v) ((FlSlot){.i = (v)})
#define PUT_i32(v) ((FlSlot){.i = (v)})
#define PUT_i64(v) ((FlSlot){.i = (v)})
#define PUT_u8(v) ((FlSlot){.u = (v)})
#define PUT_u16(v) ((FlSlot){.u = (v)})
#define PUT_u32(v) ((FlSlot){.u = (v)})
#define PUT_u64(v) ((FlSlot){.u = (v)})
#define PUT_f32(v) ((FlSlot){.f32 = (v)})
#define PUT_f64(v) ((FlSlot){.f = (v)})

#define FROM(D, A, B)                                                                                        \
  case D: r[0] = PUT_##B(fl_s_convert_##A##_##B(GET_##A(a[0]), fault)); return;
#define FROM_ALL(D, B)                                                                                       \
  case D:                                                                                                    \
    switch (from) {                                                                                          \
      FROM(FL_BOOL, bool, B)                                                                                 \
      FROM(FL_I8, i8, B)                                                                                     \
      FROM(FL_I16, i16, B)                                                                                   \
      FROM(FL_I32, i32, B)                                                                                   \
      FROM(FL_I64, i64, B)                                                                                   \
      FROM(FL_U8, u8, B)                                                                                     \
      FROM(FL_U16, u16, B)                                                                                   \
      FROM(FL_U32, u32, B)                                                                                   \
      FROM(FL_U64, u64, B)                                                                                   \
      FROM(FL_F32, f32, B)                                                                                   \
      FROM(FL_F64, f64, B)                                                                                   \
    NOT_NUMBERS:                                                                                             \
      break;                                                                                                 \
    }                                                                                                        \
    break;
#define NOT_NUMBERS                                                                                          \
  case FL_TEXT:                                                                                              \
  case FL_DATE:                                                                                              \
  case FL_DATETIME:                                                                                          \
  case FL_DURATION:                                                                                          \
  case FL_ANY_DECIMAL:                                                                                       \
  case FL_FILE:                                                                                              \
  case FL_LIST:                                                                                              \
  case FL_CATEGORY:                                                                                          \
  case FL_N_DTYPES

static void convert(FlDtype from, FlDtype to, const FlSlot *a, FlSlot *r, int32_t *fault) {
  if (from == to || fl_dtype_is_decimal(from) || fl_dtype_is_decimal(to)) { /* units of i64 */
    r[0] = a[0];
    return;
  }
  if (to == FL_I64 && (from == FL_DATE || from == FL_DATETIME || from == FL_DURATION)) {
    r[0] = a[0];
    return;
  }
  switch (to) {
    FROM_ALL(FL_I8, i8)
    FROM_ALL(FL_I16, i16)
    FROM_ALL(FL_I32, i32)
    FROM_ALL(FL_I64, i64)
    FROM_ALL(FL_U8, u8)
    FROM_ALL(FL_U16, u16)
    FROM_ALL(FL_U32, u32)
    FROM_ALL(FL_U64, u64)
    FROM_ALL(FL_F32, f32)
    FROM_ALL(FL_F64, f64)
  case FL_DATE: r[0] = PUT_i64(fl_s_convert_i64_date(a[0].i, fault)); return;
  case FL_DATETIME: r[0] = PUT_i64(fl_s_convert_i64_datetime(a[0].i, fault)); return;
  case FL_ANY_DECIMAL: return; /* as above */
  case FL_DURATION: r[0] = PUT_i64(fl_s_convert_i64_duration(a[0].i, fault)); return;
  case FL_BOOL:
  case FL_TEXT:
  case FL_FILE:
  case FL_LIST:
  case FL_CATEGORY:
  case FL_N_DTYPES: break;
  }
}

/* ---- all --------------------------------------------------------------------------------------------- */

void run_scalar(Frame *f, const FlOp *op, const FlSlot *a, FlSlot *r, int32_t *fault) {
  FlDtype d = (FlDtype)op->args[op->code == FL_OP_SELECT ? 1 : 0]->type.dtype;
  if (d == FL_FILE) d = FL_TEXT;
  if (op->code == FL_OP_CONVERT) {
    convert(d, (FlDtype)op->results[0]->type.dtype, a, r, fault);
    return;
  }
  scalar_calls[op->code](d, f->heap, op->attrs.s != NULL ? op->attrs.s : "", a, r, fault);
}

FlSlot constant_of(const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  const char *text = op->attrs.s;
  if (d == FL_F64) return (FlSlot){.f = op->attrs.f};
  if (d == FL_F32) return (FlSlot){.f32 = (float)op->attrs.f};
  if (d != FL_TEXT && d != FL_FILE) return (FlSlot){.i = op->attrs.i};
  return (FlSlot){.t = {text, op->attrs.s_len > 0 ? op->attrs.s_len : text ? (int64_t)strlen(text) : 0}};
}
