/* ir_internal.h: what the files of this room share. */
#ifndef FL_IR_INTERNAL_H
#define FL_IR_INTERNAL_H

#include "ir/ir.h"

/* Whether `v` fits the integer type (u64 values travel as their bits and always fit). */
bool fl_ir_int_fits(FlDtype dtype, int64_t v);

/* Checks types against the signature of ops.def; the letters bind. NULL: fine, else the rule that is broken.
 * With `results` NULL and n_results -1: fills `derived` with the result types instead (those that follow). */
const char *fl_ir_match(FlOpcode code, int n_args, FlValue *const *args, int n_results,
                        FlValue *const *results, FlType1 *derived, int *n_derived);

typedef struct FlColumnWord {
  const char *word;
  int flag;
} FlColumnWord;
enum { FL_N_COLUMN_WORDS = 10 };
extern const FlColumnWord fl_ir_column_words[FL_N_COLUMN_WORDS];

/* Printing of pieces. */
void fl_ir_print_type(FlText1 *out, FlType1 t);
void fl_ir_print_string(FlText1 *out, const char *s, size_t len);
void fl_ir_print_float(FlText1 *out, double v);

#endif
