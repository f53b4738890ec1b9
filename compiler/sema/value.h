/* value.h: making, cutting and converting typed values, and the sizes that they have. */
#ifndef FL_SEMA_VALUE_H
#define FL_SEMA_VALUE_H

#include "sema/state.h"

FlVal fl_val_make(FlSema *s, const FlType *type, FlValue *const *parts); /* parts copied */
FlVal fl_val_scalar(FlSema *s, FlDtype d, FlValue *v);
FlVal fl_val_raise(FlSema *s, FlValue *message); /* the run ends here with the text: NEVER */
/* Not after error(..) with a message for each element, where one is needed. false: reported. */
bool fl_val_one_message(FlSema *s, FlVal v, FlSpan span);
FlVal fl_val_array(FlSema *s, FlDtype d, int rank, FlValue *v);
FlVal fl_val_i64(FlSema *s, int64_t v);
FlVal fl_val_bool(FlSema *s, bool v);
FlVal fl_val_textz(FlSema *s, const char *text);
FlVal fl_val_field(FlSema *s, FlVal v, int field); /* of a tuple, or the column of a table */
/* The path that is known of `from`, files or a table with files, when `to` holds some of the same files; or
 * NULL. */
const char *fl_val_sample(FlVal from, FlVal to);
FlVal fl_val_tuple(FlSema *s, int n, const char *const *names, const FlVal *values, const char *nominal);
/* From the number of rows and the columns. */
FlVal fl_val_table(FlSema *s, FlValue *rows, int n, const char *const *names, const FlVal *columns);
FlValue *fl_val_rows(FlVal table);                     /* part 0 */
FlValue *fl_val_valid(FlSema *s, FlVal v);             /* validity of a scalar or array; NULL: not nullable */
FlVal fl_val_plain(FlSema *s, FlVal v);                /* without the ? (validity dropped) */
FlVal fl_val_nullable(FlSema *s, FlVal v);             /* with it (valid everywhere) */
FlVal fl_val_null_of(FlSema *s, const FlType *scalar); /* null of that type */
FlValue *fl_val_zero(FlSema *s, FlDtype d);            /* the value under a null */
FlVal fl_val_as_literal_type(FlSema *s, FlVal v, FlDtype to,
                             FlSpan span); /* a literal takes a number type, or error */
/* Constant integer if known while compiling. */
bool fl_val_const_i(FlVal v, int64_t *out);
/* A text that is known while compiling and holds no NUL, else NULL. */
const char *fl_val_const_text(FlVal v);

/* The common type of two numbers for arithmetic; false: there is none. */
bool fl_promote(FlDtype a, FlDtype b, FlDtype *out);
/* Implicit conversion to `want` (scalars, arrays elementwise, null, tuples by name, tables by column);
 * reports E0301 with `what` ("argument `x`", "the result", ...) when it does not fit. */
FlVal fl_val_coerce(FlSema *s, FlVal v, const FlType *want, FlSpan span, const char *what);
bool fl_val_fits(FlSema *s, FlVal v, const FlType *want);
/* Makes a and b one type (branches, array elements); false: reported. */
bool fl_val_unify(FlSema *s, FlVal *values, int n, const FlSpan *spans, const char *what, const FlType **out);
/* The type that all of these fit, or NULL. */
const FlType *fl_type_common(FlSema *s, const FlVal *values, int n);

/* ---- sizes -------------------------------------------------------------------------------------------- */

FlValue *fl_sema_dim(FlSema *s, FlVal v,
                     int axis); /* of an array, table (0) or list (0); known equal sizes are one */
/* How many elements n axes have; none where one axis is empty, however long the others are. */
FlValue *fl_sema_product(FlSema *s, int n, FlValue *const *sizes);
void fl_sema_alias(FlSema *s, FlValue *from,
                   FlValue *to);                 /* from is known to equal to, from here on in this region */
FlValue *fl_sema_size(FlSema *s, FlValue *size); /* the representative of equal sizes */
/* Makes sure that a == b: nothing when known, E0401 when known to differ, else a CHECK. `message` has {a} and
 * {b}. */
bool fl_sema_same_size(FlSema *s, FlValue *a, FlValue *b, FlSpan span, const char *message);
/* Reports `message` with the operands a and b of a check that is known to fail. */
void fl_sema_known_failure(FlSema *s, FlDiagCode code, FlSpan span, const char *message, int64_t a,
                           int64_t b);
bool fl_sema_sizes_equal(FlSema *s, FlValue *a, FlValue *b); /* known to be, without a check */
FlValue *fl_sema_i64(FlSema *s, int64_t v);
FlValue *fl_sema_op2(FlSema *s, FlOpcode code, FlValue *a, FlValue *b);

#endif
