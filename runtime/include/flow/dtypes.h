/* dtypes.h: the rows of dtypes.def as data, for the compiler and the runtime alike. */
#ifndef FLOW_DTYPES_H
#define FLOW_DTYPES_H

#include "flow/abi.h"

typedef enum FlKind {
  FL_KIND_BOOL,
  FL_KIND_SIGNED,
  FL_KIND_UNSIGNED,
  FL_KIND_FLOAT,
  FL_KIND_TEXT,
  FL_KIND_TIME,
  FL_KIND_DECIMAL,
  FL_KIND_REF
} FlKind;

typedef struct FlDtypeInfo {
  const char *name; /* as the language writes it */
  int32_t bytes;    /* of one element */
  FlKind kind;
} FlDtypeInfo;

static const FlDtypeInfo fl_dtype_info[FL_N_DTYPES] = {
#define FL_DTYPE(NAME, text, ctype, size, kind) [FL_##NAME] = {text, size, FL_KIND_##kind},
#include "flow/dtypes.def"
#undef FL_DTYPE
};

static inline bool fl_dtype_is_signed(int32_t d) { return fl_dtype_info[d].kind == FL_KIND_SIGNED; }
static inline bool fl_dtype_is_int(int32_t d) {
  return fl_dtype_is_signed(d) || fl_dtype_info[d].kind == FL_KIND_UNSIGNED;
}
static inline bool fl_dtype_is_float(int32_t d) { return fl_dtype_info[d].kind == FL_KIND_FLOAT; }
static inline bool fl_dtype_is_number(int32_t d) { return fl_dtype_is_int(d) || fl_dtype_is_float(d); }

/* Decimals: digits that each of them holds, and how many of these stand after the point. */
enum { FL_DECIMAL_DIGITS = 18 };
static inline bool fl_dtype_is_decimal(int32_t d) { return fl_dtype_info[d].kind == FL_KIND_DECIMAL; }
static inline int fl_decimal_scale(int32_t d) { return d - FL_DECIMAL0; }
/* Has it no more digits? 64 bits hold some numbers of one more. */
static inline bool fl_decimal_fits(int64_t units) {
  return units < INT64_C(1000000000000000000) && units > -INT64_C(1000000000000000000);
}
/* The labels of a switch that does the same for all of them. */
#define FL_ANY_DECIMAL                                                                                       \
  FL_DECIMAL0:                                                                                               \
  case FL_DECIMAL1:                                                                                          \
  case FL_DECIMAL2:                                                                                          \
  case FL_DECIMAL3:                                                                                          \
  case FL_DECIMAL4:                                                                                          \
  case FL_DECIMAL5:                                                                                          \
  case FL_DECIMAL6:                                                                                          \
  case FL_DECIMAL7:                                                                                          \
  case FL_DECIMAL8:                                                                                          \
  case FL_DECIMAL9:                                                                                          \
  case FL_DECIMAL10:                                                                                         \
  case FL_DECIMAL11:                                                                                         \
  case FL_DECIMAL12:                                                                                         \
  case FL_DECIMAL13:                                                                                         \
  case FL_DECIMAL14:                                                                                         \
  case FL_DECIMAL15:                                                                                         \
  case FL_DECIMAL16:                                                                                         \
  case FL_DECIMAL17:                                                                                         \
  case FL_DECIMAL18

#endif
