/* kernel_rows.h: kernels over rows that a filter keeps and nobody has copied yet. */
#ifndef FL_EXEC_KERNEL_ROWS_H
#define FL_EXEC_KERNEL_ROWS_H

#include "data/unwritten.h"
#include "exec/exec_internal.h"

enum { FL_KERNEL_ROWS = 16 };

/* Of what a kernel captures, columns of such rows. */
typedef struct FlKernelRows {
  int32_t n, use[FL_KERNEL_ROWS]; /* which of its captures */
  FlSelected from[FL_KERNEL_ROWS];
  int64_t row_bytes; /* of a row of all of them */
} FlKernelRows;

/* Writes what the kernel captures and is not written yet, but for columns that it reads row by row over all n
 * elements: these it borrows, until fl_kernel_rows_close. */
FlStatus fl_kernel_rows_open(FlCtx *ctx, const FlKernel *k, const FlSlot *env, int64_t n, FlKernelRows *rows);
void fl_kernel_rows_close(FlKernelRows *rows);
/* Writes these, too: the next one who reads them may read any row. */
FlStatus fl_kernel_rows_fill(FlCtx *ctx, const FlKernel *k, const FlSlot *env);
/* Runs elements [begin, end) of the kernel, block by block, each of whose rows it brings together before.
 * Returns faults, as the kernel does. */
int32_t fl_kernel_rows_run(const FlKernelRows *rows, FlCtx *ctx, const FlKernel *k, FlKernelFn fast,
                           const FlSlot *env, int64_t begin, int64_t end);

#endif
