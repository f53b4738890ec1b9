/* scalars.c: SCALAR operators by their functions in runtime/kern: one call each, chosen by operator and
 * element type.
 *
 * The lists name the types for which an operator exists, as its signature in ops.def says; the verifier has
 * checked that no other combination comes here. */
#include "interp/interp_internal.h"

#include "kern/kern.h"

/* ---- slots and C types: GET of a text is two arguments ----------------------------------------------- */

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
#define GET_date(s) ((int32_t)(s).i)
#define GET_datetime(s) ((s).i)
#define GET_duration(s) ((s).i)
#define GET_text(s) (s).t.ptr, (s).t.len

#define PUT_bool(v) ((FlSlot){.i = (v)})
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
#define PUT_date(v) ((FlSlot){.i = (v)})
#define PUT_datetime(v) ((FlSlot){.i = (v)})
#define PUT_duration(v) ((FlSlot){.i = (v)})
#define PUT_text(v) ((FlSlot){.t = (v)})

enum {
  D_bool = FL_BOOL,
  D_i8 = FL_I8,
  D_i16 = FL_I16,
  D_i32 = FL_I32,
  D_i64 = FL_I64,
  D_u8 = FL_U8,
  D_u16 = FL_U16,
  D_u32 = FL_U32,
  D_u64 = FL_U64,
  D_f32 = FL_F32,
  D_f64 = FL_F64,
  D_date = FL_DATE,
  D_datetime = FL_DATETIME,
  D_duration = FL_DURATION,
  D_text = FL_TEXT
};

#define EACH_F(ROW, NAME) ROW(NAME, f32) ROW(NAME, f64)
#define EACH_I(ROW, NAME)                                                                                    \
  ROW(NAME, i8)                                                                                              \
  ROW(NAME, i16) ROW(NAME, i32) ROW(NAME, i64) ROW(NAME, u8) ROW(NAME, u16) ROW(NAME, u32) ROW(NAME, u64)
#define EACH_N(ROW, NAME) EACH_I(ROW, NAME) EACH_F(ROW, NAME) ROW(NAME, duration)
#define EACH_T(ROW, NAME)                                                                                    \
  EACH_N(ROW, NAME) ROW(NAME, bool) ROW(NAME, date) ROW(NAME, datetime) ROW(NAME, text)

/* Rows by the shape of the signature: X is the letter's type. */
#define XX_X_FAULT(NAME, X)                                                                                  \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0]), GET_##X(a[1]), fault));                                  \
    return;
#define XX_X(NAME, X)                                                                                        \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0]), GET_##X(a[1])));                                         \
    return;
#define XX_BOOL(NAME, X)                                                                                     \
  case D_##X:                                                                                                \
    r[0] = PUT_bool(fl_s_##NAME##_##X(GET_##X(a[0]), GET_##X(a[1])));                                        \
    return;
#define X_X_FAULT(NAME, X)                                                                                   \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0]), fault));                                                 \
    return;
#define X_X(NAME, X)                                                                                         \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0])));                                                        \
    return;
#define X_BOOL(NAME, X)                                                                                      \
  case D_##X:                                                                                                \
    r[0] = PUT_bool(fl_s_##NAME##_##X(GET_##X(a[0])));                                                       \
    return;
#define X_I64_FAULT(NAME, X)                                                                                 \
  case D_##X:                                                                                                \
    r[0] = PUT_i64(fl_s_##NAME##_##X(GET_##X(a[0]), fault));                                                 \
    return;
#define XXX_X(NAME, X)                                                                                       \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0]), GET_##X(a[1]), GET_##X(a[2])));                          \
    return;
#define SELECT_X(NAME, X)                                                                                    \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_select_##X(GET_bool(a[0]), GET_##X(a[1]), GET_##X(a[2])));                           \
    return;
#define XI_X(NAME, X)                                                                                        \
  case D_##X:                                                                                                \
    r[0] = PUT_##X(fl_s_##NAME##_##X(GET_##X(a[0]), GET_i64(a[1])));                                         \
    return;
#define TO_TEXT_X(NAME, X)                                                                                   \
  case D_##X:                                                                                                \
    r[0] = PUT_text(fl_s_to_text_##X(heap, GET_##X(a[0]), format));                                          \
    return;

#define OP(CODE, EACH, ROW, NAME)                                                                            \
  case FL_OP_##CODE:                                                                                         \
    switch ((int)d) { EACH(ROW, NAME) }                                                                      \
    break;

/* ---- number to number -------------------------------------------------------------------------------- */

#define FROM(A, B)                                                                                           \
  case D_##A:                                                                                                \
    r[0] = PUT_##B(fl_s_convert_##A##_##B(GET_##A(a[0]), fault));                                            \
    return;
#define FROM_ALL(B)                                                                                          \
  case D_##B:                                                                                                \
    switch ((int)from) {                                                                                     \
      FROM(bool, B)                                                                                          \
      FROM(i8, B)                                                                                            \
      FROM(i16, B)                                                                                           \
      FROM(i32, B) FROM(i64, B) FROM(u8, B) FROM(u16, B) FROM(u32, B) FROM(u64, B) FROM(f32, B) FROM(f64, B) \
    }                                                                                                        \
    break;

static void convert(FlDtype from, FlDtype to, const FlSlot *a, FlSlot *r, int32_t *fault) {
  if (from == to) {
    r[0] = a[0];
    return;
  }
  if (to == FL_I64 && (from == FL_DATE || from == FL_DATETIME || from == FL_DURATION)) {
    r[0] = a[0];
    return;
  }
  switch ((int)to) {
    FROM_ALL(i8)
    FROM_ALL(i16)
    FROM_ALL(i32)
    FROM_ALL(i64)
    FROM_ALL(u8)
    FROM_ALL(u16)
    FROM_ALL(u32)
    FROM_ALL(u64)
    FROM_ALL(f32)
    FROM_ALL(f64)
  case FL_DATE: r[0] = PUT_date(fl_s_convert_i64_date(a[0].i, fault)); return;
  case FL_DATETIME: r[0] = PUT_datetime(fl_s_convert_i64_datetime(a[0].i, fault)); return;
  case FL_DURATION: r[0] = PUT_duration(fl_s_convert_i64_duration(a[0].i, fault)); return;
  }
}

/* ---- operators without a letter ---------------------------------------------------------------------- */

static void run_text(FlOpcode code, FlHeap *heap, const FlSlot *a, FlSlot *r, int32_t *fault) {
  uint8_t valid = 0;
#define A GET_text(a[0])
#define B GET_text(a[1])
  switch ((int)code) {
  case FL_OP_TEXT_CONCAT: r[0] = PUT_text(fl_s_text_concat(heap, A, B)); break;
  case FL_OP_N_CHARS: r[0] = PUT_i64(fl_s_n_chars(A)); break;
  case FL_OP_LOWER: r[0] = PUT_text(fl_s_lower(heap, A)); break;
  case FL_OP_UPPER: r[0] = PUT_text(fl_s_upper(heap, A)); break;
  case FL_OP_TRIM: r[0] = PUT_text(fl_s_trim(A, B)); break;
  case FL_OP_TRIM_START: r[0] = PUT_text(fl_s_trim_start(A, B)); break;
  case FL_OP_TRIM_END: r[0] = PUT_text(fl_s_trim_end(A, B)); break;
  case FL_OP_TITLE: r[0] = PUT_text(fl_s_title(heap, A)); break;
  case FL_OP_REVERSE_TEXT: r[0] = PUT_text(fl_s_reverse_text(heap, A)); break;
  case FL_OP_REPEAT_TEXT: r[0] = PUT_text(fl_s_repeat_text(heap, A, a[1].i, fault)); break;
  case FL_OP_EDIT_DISTANCE: r[0] = PUT_i64(fl_s_edit_distance(A, B)); break;
  case FL_OP_MATCHES: r[0] = PUT_bool(fl_s_matches(A, B, fault)); break;
  case FL_OP_COUNT_MATCHES: r[0] = PUT_i64(fl_s_count_matches(A, B, fault)); break;
  case FL_OP_REPLACE_REGEX: r[0] = PUT_text(fl_s_replace_regex(heap, A, B, GET_text(a[2]), fault)); break;
  case FL_OP_PARSE_NUMBER: r[0] = PUT_f64(fl_s_parse_number(A, B, fault)); break;
  case FL_OP_EXTRACT:
    r[0] = PUT_text(fl_s_extract(A, B, a[2].i, &valid, fault));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_TEXT_FIND:
    r[0] = PUT_i64(fl_s_text_find(A, B, &valid));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_TRY_PARSE_NUMBER:
    r[0] = PUT_f64(fl_s_try_parse_number(A, B, &valid));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_CONTAINS: r[0] = PUT_bool(fl_s_contains(A, B)); break;
  case FL_OP_STARTS_WITH: r[0] = PUT_bool(fl_s_starts_with(A, B)); break;
  case FL_OP_ENDS_WITH: r[0] = PUT_bool(fl_s_ends_with(A, B)); break;
  case FL_OP_REPLACE: r[0] = PUT_text(fl_s_replace(heap, A, B, GET_text(a[2]))); break;
  case FL_OP_SPLIT_PART: r[0] = PUT_text(fl_s_split_part(A, B, a[2].i)); break;
  case FL_OP_TEXT_SLICE: r[0] = PUT_text(fl_s_text_slice(A, a[1].i, a[2].i)); break;
  case FL_OP_PAD: r[0] = PUT_text(fl_s_pad(heap, A, a[1].i, GET_text(a[2]))); break;
  case FL_OP_PARSE_F64: r[0] = PUT_f64(fl_s_parse_f64(A, fault)); break;
  case FL_OP_PARSE_I64: r[0] = PUT_i64(fl_s_parse_i64(A, fault)); break;
  case FL_OP_PARSE_DATE: r[0] = PUT_date(fl_s_parse_date(A, B, fault)); break;
  case FL_OP_PARSE_DATETIME: r[0] = PUT_datetime(fl_s_parse_datetime(A, B, fault)); break;
  case FL_OP_TRY_PARSE_F64:
    r[0] = PUT_f64(fl_s_try_parse_f64(A, &valid));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_TRY_PARSE_I64:
    r[0] = PUT_i64(fl_s_try_parse_i64(A, &valid));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_TRY_PARSE_DATE:
    r[0] = PUT_date(fl_s_try_parse_date(A, B, &valid));
    r[1] = PUT_bool(valid);
    break;
  case FL_OP_TRY_PARSE_DATETIME:
    r[0] = PUT_datetime(fl_s_try_parse_datetime(A, B, &valid));
    r[1] = PUT_bool(valid);
    break;
  }
#undef A
#undef B
}

static void run_fixed(FlOpcode code, const FlSlot *a, FlSlot *r, int32_t *fault) {
  int32_t d = GET_date(a[0]);
  switch ((int)code) {
  case FL_OP_AND: r[0] = PUT_bool(fl_s_and(GET_bool(a[0]), GET_bool(a[1]))); break;
  case FL_OP_OR: r[0] = PUT_bool(fl_s_or(GET_bool(a[0]), GET_bool(a[1]))); break;
  case FL_OP_NOT: r[0] = PUT_bool(fl_s_not(GET_bool(a[0]))); break;
  case FL_OP_RANDOM: r[0] = PUT_f64(fl_s_random(a[0].i, a[1].i, a[2].i)); break;
  case FL_OP_RANDOM_NORMAL: r[0] = PUT_f64(fl_s_random_normal(a[0].i, a[1].i, a[2].i)); break;
  case FL_OP_RANDOM_INT:
    r[0] = PUT_i64(fl_s_random_int(a[0].i, a[1].i, a[2].i, a[3].i, a[4].i, fault));
    break;
  case FL_OP_SUBSEED: r[0] = PUT_i64(fl_s_subseed(a[0].i, a[1].i)); break;
  case FL_OP_DATE_YEAR: r[0] = PUT_i64(fl_s_date_year(d)); break;
  case FL_OP_DATE_MONTH: r[0] = PUT_i64(fl_s_date_month(d)); break;
  case FL_OP_DATE_DAY: r[0] = PUT_i64(fl_s_date_day(d)); break;
  case FL_OP_DATE_WEEKDAY: r[0] = PUT_i64(fl_s_date_weekday(d)); break;
  case FL_OP_DATE_QUARTER: r[0] = PUT_i64(fl_s_date_quarter(d)); break;
  case FL_OP_DATE_DAY_OF_YEAR: r[0] = PUT_i64(fl_s_date_day_of_year(d)); break;
  case FL_OP_DATE_ISO_WEEK: r[0] = PUT_i64(fl_s_date_iso_week(d)); break;
  case FL_OP_DATE_ISO_YEAR: r[0] = PUT_i64(fl_s_date_iso_year(d)); break;
  case FL_OP_DATE_DAYS_IN_MONTH: r[0] = PUT_i64(fl_s_date_days_in_month(d)); break;
  case FL_OP_DATE_OF: r[0] = PUT_date(fl_s_date_of(a[0].i, a[1].i, a[2].i, fault)); break;
  case FL_OP_TIME_OF: r[0] = PUT_duration(fl_s_time_of(a[0].i, a[1].i, a[2].i, fault)); break;
  case FL_OP_DATE_TRUNC: r[0] = PUT_date(fl_s_date_trunc(GET_text(a[0]), GET_date(a[1]), fault)); break;
  case FL_OP_ADD_MONTHS: r[0] = PUT_date(fl_s_add_months(d, a[1].i, fault)); break;
  case FL_OP_DATE_ADD: r[0] = PUT_date(fl_s_date_add(a[0].i, GET_date(a[1]), fault)); break;
  case FL_OP_DATE_DIFF: r[0] = PUT_duration(fl_s_date_diff(d, GET_date(a[1]))); break;
  case FL_OP_DATE_TO_DATETIME: r[0] = PUT_datetime(fl_s_date_to_datetime(d, fault)); break;
  case FL_OP_DATETIME_TO_DATE: r[0] = PUT_date(fl_s_datetime_to_date(a[0].i)); break;
  case FL_OP_DATETIME_ADD: r[0] = PUT_datetime(fl_s_datetime_add(a[0].i, a[1].i, fault)); break;
  case FL_OP_DATETIME_DIFF: r[0] = PUT_duration(fl_s_datetime_diff(a[0].i, a[1].i, fault)); break;
  case FL_OP_DATETIME_HOUR: r[0] = PUT_i64(fl_s_datetime_hour(a[0].i)); break;
  case FL_OP_DATETIME_MINUTE: r[0] = PUT_i64(fl_s_datetime_minute(a[0].i)); break;
  case FL_OP_DATETIME_SECOND: r[0] = PUT_i64(fl_s_datetime_second(a[0].i)); break;
  case FL_OP_DATETIME_MICROSECOND: r[0] = PUT_i64(fl_s_datetime_microsecond(a[0].i)); break;
  case FL_OP_DATETIME_TRUNC:
    r[0] = PUT_datetime(fl_s_datetime_trunc(GET_text(a[0]), a[1].i, fault));
    break;
  case FL_OP_DATETIME_ADD_MONTHS:
    r[0] = PUT_datetime(fl_s_datetime_add_months(a[0].i, a[1].i, fault));
    break;
  case FL_OP_DURATION_OF: r[0] = PUT_duration(fl_s_duration_of(a[0].i, a[1].i, fault)); break;
  case FL_OP_DURATION_RATIO: r[0] = PUT_f64(fl_s_duration_ratio(a[0].i, a[1].i, fault)); break;
  }
}

/* ---- all --------------------------------------------------------------------------------------------- */

void run_scalar(Frame *f, const FlOp *op, const FlSlot *a, FlSlot *r, int32_t *fault) {
  FlHeap *heap = f->heap;
  FlDtype d = (FlDtype)op->args[op->code == FL_OP_SELECT ? 1 : 0]->type.dtype;
  const char *format = op->attrs.s != NULL ? op->attrs.s : "";
  if (d == FL_FILE) d = FL_TEXT;
  switch ((int)op->code) {
    OP(ADD, EACH_N, XX_X_FAULT, add)
    OP(SUB, EACH_N, XX_X_FAULT, sub)
    OP(MUL, EACH_N, XX_X_FAULT, mul)
    OP(DIV, EACH_F, XX_X, div)
    OP(FLOORDIV, EACH_N, XX_X_FAULT, floordiv)
    OP(MOD, EACH_N, XX_X_FAULT, mod)
    OP(POW, EACH_N, XX_X_FAULT, pow)
    OP(NEG, EACH_N, X_X_FAULT, neg)
    OP(ABS, EACH_N, X_X_FAULT, abs)
    OP(SIGN, EACH_N, X_X, sign)
    OP(WRAP_ADD, EACH_I, XX_X, wrap_add)
    OP(WRAP_SUB, EACH_I, XX_X, wrap_sub)
    OP(WRAP_MUL, EACH_I, XX_X, wrap_mul)
    OP(FMA, EACH_F, XXX_X, fma)
    OP(MIN, EACH_N, XX_X, min)
    OP(MAX, EACH_N, XX_X, max)
    OP(EQ, EACH_T, XX_BOOL, eq)
    OP(NE, EACH_T, XX_BOOL, ne)
    OP(LT, EACH_T, XX_BOOL, lt)
    OP(LE, EACH_T, XX_BOOL, le)
    OP(GT, EACH_T, XX_BOOL, gt)
    OP(GE, EACH_T, XX_BOOL, ge)
    OP(SELECT, EACH_T, SELECT_X, select)
    OP(SQRT, EACH_F, X_X, sqrt)
    OP(EXP, EACH_F, X_X, exp)
    OP(EXPM1, EACH_F, X_X, expm1)
    OP(LOG, EACH_F, X_X, log)
    OP(LOG2, EACH_F, X_X, log2)
    OP(LOG10, EACH_F, X_X, log10)
    OP(LOG1P, EACH_F, X_X, log1p)
    OP(SIN, EACH_F, X_X, sin)
    OP(COS, EACH_F, X_X, cos)
    OP(TAN, EACH_F, X_X, tan)
    OP(ASIN, EACH_F, X_X, asin)
    OP(ACOS, EACH_F, X_X, acos)
    OP(ATAN, EACH_F, X_X, atan)
    OP(ATAN2, EACH_F, XX_X, atan2)
    OP(SINH, EACH_F, X_X, sinh)
    OP(COSH, EACH_F, X_X, cosh)
    OP(TANH, EACH_F, X_X, tanh)
    OP(ERF, EACH_F, X_X, erf)
    OP(ERFC, EACH_F, X_X, erfc)
    OP(GAMMA, EACH_F, X_X, gamma)
    OP(LGAMMA, EACH_F, X_X, lgamma)
    OP(POLYGAMMA, EACH_F, XI_X, polygamma)
    OP(HYPOT, EACH_F, XX_X, hypot)
    OP(IS_NAN, EACH_F, X_BOOL, is_nan)
    OP(IS_FINITE, EACH_F, X_BOOL, is_finite)
    OP(ROUND, EACH_F, X_I64_FAULT, round)
    OP(FLOOR, EACH_F, X_I64_FAULT, floor)
    OP(CEIL, EACH_F, X_I64_FAULT, ceil)
    OP(TRUNC, EACH_F, X_I64_FAULT, trunc)
    OP(ROUND_DIGITS, EACH_F, XI_X, round_digits)
    OP(TO_TEXT, EACH_T, TO_TEXT_X, to_text)
  case FL_OP_CONVERT: convert(d, (FlDtype)op->results[0]->type.dtype, a, r, fault); return;
  case FL_OP_TEXT_CONCAT:
  case FL_OP_N_CHARS:
  case FL_OP_LOWER:
  case FL_OP_UPPER:
  case FL_OP_TITLE:
  case FL_OP_REVERSE_TEXT:
  case FL_OP_REPEAT_TEXT:
  case FL_OP_TRIM:
  case FL_OP_TRIM_START:
  case FL_OP_TRIM_END:
  case FL_OP_CONTAINS:
  case FL_OP_STARTS_WITH:
  case FL_OP_ENDS_WITH:
  case FL_OP_REPLACE:
  case FL_OP_SPLIT_PART:
  case FL_OP_TEXT_SLICE:
  case FL_OP_TEXT_FIND:
  case FL_OP_EDIT_DISTANCE:
  case FL_OP_MATCHES:
  case FL_OP_COUNT_MATCHES:
  case FL_OP_EXTRACT:
  case FL_OP_REPLACE_REGEX:
  case FL_OP_PAD:
  case FL_OP_PARSE_F64:
  case FL_OP_PARSE_I64:
  case FL_OP_PARSE_NUMBER:
  case FL_OP_TRY_PARSE_NUMBER:
  case FL_OP_PARSE_DATE:
  case FL_OP_TRY_PARSE_F64:
  case FL_OP_TRY_PARSE_I64:
  case FL_OP_PARSE_DATETIME:
  case FL_OP_TRY_PARSE_DATETIME:
  case FL_OP_TRY_PARSE_DATE: run_text(op->code, heap, a, r, fault); return;
  default: run_fixed(op->code, a, r, fault); return;
  }
}

FlSlot constant_of(const FlOp *op) {
  switch ((int)op->results[0]->type.dtype) {
  case FL_F64: return (FlSlot){.f = op->attrs.f};
  case FL_F32: return (FlSlot){.f32 = (float)op->attrs.f};
  case FL_TEXT:
  case FL_FILE:
    return (FlSlot){.t = {op->attrs.s, op->attrs.s_len > 0   ? op->attrs.s_len
                                       : op->attrs.s != NULL ? (int64_t)strlen(op->attrs.s)
                                                             : 0}};
  default: return (FlSlot){.i = op->attrs.i};
  }
}
