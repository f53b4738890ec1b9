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

#endif
