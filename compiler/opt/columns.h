/* columns.h: MAPs over columns j whose elements are reductions over i of what stands at [.., i, .., j]. They
 * are swept row by row (codegen/llvm_columns.c), which is worth an array of its own for what they give. */
#ifndef FL_OPT_COLUMNS_H
#define FL_OPT_COLUMNS_H

#include "opt/opt_internal.h"

/* The REDUCE in the MAP's region, when the MAP is such a one: the only loop there, one reduction or several,
 * over terms that are straight code, cannot fail, read rows along the MAP's last parameter and nothing along
 * their own; what stands before it is little, since it is computed again for each term, and cannot fail.
 * NULL: it is none. */
const FlOp *fl_opt_column_fold(const FlOp *map);

/* Is each row of the matrix that the RESHAPE gives one of the arrays of the CONCAT that it alone reads? */
bool fl_opt_is_grid(const FlUses *uses, const FlOp *reshape);

#endif
