/* ir_internal.h: what the files of this room share, and what passes may use beyond ir.h. */
#ifndef FL_IR_INTERNAL_H
#define FL_IR_INTERNAL_H

#include "ir/ir.h"

/* Kind of an element type, from dtypes.def. */
typedef enum FlDtypeKind {
  FL_KIND_BOOL,
  FL_KIND_SIGNED,
  FL_KIND_UNSIGNED,
  FL_KIND_FLOAT,
  FL_KIND_TEXT,
  FL_KIND_TIME,
  FL_KIND_REF
} FlDtypeKind;
typedef struct FlDtypeInfo {
  const char *name;
  FlDtypeKind kind;
  int bytes;
} FlDtypeInfo;
extern const FlDtypeInfo fl_ir_dtypes[FL_N_DTYPES];

static inline bool fl_ir_is_int(int dtype) {
  return fl_ir_dtypes[dtype].kind == FL_KIND_SIGNED || fl_ir_dtypes[dtype].kind == FL_KIND_UNSIGNED;
}
static inline bool fl_ir_is_float(int dtype) { return fl_ir_dtypes[dtype].kind == FL_KIND_FLOAT; }

/* Whether `v` fits the integer type (u64 values travel as their bits and always fit). */
bool fl_ir_int_fits(FlDtype dtype, int64_t v);

/* Puts an op that is in no region at the end of `r`, or before `before`; takes it out again. */
void fl_ir_link(FlRegion *r, FlOp *op, FlOp *before);
void fl_ir_unlink(FlOp *op);
FlValue *fl_ir_value_make(FlFunc *f, FlType1 type, FlOp *op, FlRegion *region, int index);

/* The value of an op on constants: true when all arguments are CONST, the op is one that folds, and it cannot
 * fault on them; then `out` holds the CONST attributes of result 0. Bits are those of the run-time function.
 */
bool fl_ir_fold(FlOpcode code, FlDtype result, int n_args, FlValue *const *args, FlAttrs *out);

/* Checks types against the signature of ops.def; the letters bind. NULL: fine, else the rule that is broken.
 * With `results` NULL and n_results -1: fills `derived` with the result types instead (those that follow). */
const char *fl_ir_match(FlOpcode code, int n_args, FlValue *const *args, int n_results,
                        FlValue *const *results, FlType1 *derived, int *n_derived);

/* Printing of pieces. */
void fl_ir_print_type(FlText1 *out, FlType1 t);
void fl_ir_print_string(FlText1 *out, const char *s, size_t len);
void fl_ir_print_float(FlText1 *out, double v);

/* Canonical encoding with the caller's choice of how a function is named (key.c: members of a recursion). */
typedef void (*FlIrEncodeFunc)(FlText1 *out, const FlFunc *callee, void *user);
void fl_ir_encode_with(FlText1 *out, const FlFunc *f, FlIrEncodeFunc encode_callee, void *user);

#endif
