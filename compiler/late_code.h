/* late_code.h: optimised forms of kernels, made while a program runs, or remembered from runs before.
 *
 * What a form is made of says all that it computes, so forms are remembered by that: an edit of a script, or
 * another script with the same kernel, finds them. */
#ifndef FL_LATE_CODE_H
#define FL_LATE_CODE_H

#include "driver.h"

#include "exec/exec.h"

typedef struct FlLateCode FlLateCode;

/* `store` (or NULL: nothing is remembered) outlives it. NULL: no memory. */
FlLateCode *fl_late_code_new(const FlCodeStore *store, const FlBuildOptions *options);
/* For FlKernelMaker, with the FlLateCode as `arg`. NULL also where the code generator is not installed. */
FlKernelFn fl_late_code_make(void *late, const char *code, int64_t n_code, bool make);
/* Frees the forms: nothing of the program may be running. NULL is allowed. */
void fl_late_code_free(FlLateCode *late);

#endif
