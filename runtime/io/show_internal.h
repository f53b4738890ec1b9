/* show_internal.h: the parts of showing values to people: the type's text, cells, layout. */
#ifndef FL_SHOW_INTERNAL_H
#define FL_SHOW_INTERNAL_H

#include "io/io_internal.h"

/* ---- types from their text (LANGUAGE 4) ------------------------------------------------------------ */

typedef enum FlShowKind { FL_SHOW_SCALAR, FL_SHOW_ARRAY, FL_SHOW_TUPLE, FL_SHOW_MANY } FlShowKind;

/* MANY is a table or a list: which, the parts' types tell. */
typedef struct FlShowType {
  FlShowKind kind;
  FlDtype dtype; /* SCALAR, ARRAY */
  bool nullable;
  int32_t rank;
  int32_t n_fields; /* TUPLE; MANY: 1, the element */
  struct FlShowType *fields;
  char *name; /* of this type as a field; NULL: none */
} FlShowType;

/* NULL: not a type, or out of memory. */
FlShowType *fl_show_type_new(const char *text);
void fl_show_type_free(FlShowType *t);
/* The type as text again, without sizes. */
void fl_show_type_print(FlBytes *out, const FlShowType *t);

/* ---- cells -------------------------------------------------------------------------------------------- */

/* How the floats of one column or array look: fixed with so many decimals, or each with an exponent. */
typedef struct FlFloatStyle {
  int decimals; /* -1: exponents */
} FlFloatStyle;

typedef struct FlCells {
  const FlArray *values, *valid; /* valid NULL: no nulls */
  const FlArray *levels;         /* the values are codes of these texts; NULL: they are themselves */
} FlCells;

/* Widens the style (begin with {1}) so that element `at` is shown well. */
void fl_cell_fit(FlFloatStyle *style, FlCells cells, int64_t at);
/* Appends the element; texts wider than `most` columns are cut, 0: never. Control characters are
 * escaped. */
void fl_cell_print(FlBytes *out, FlCells cells, int64_t at, FlFloatStyle style, int most);
/* The name of a field or column, control characters escaped. */
void fl_show_name(FlBytes *out, const char *name);
bool fl_cell_is_right(FlCells cells); /* numbers stand at the right */

/* The room there is: columns of a line; of a table that has more than `most` rows, so many `rows`, a third of
 * them from its tail. */
typedef struct FlPage {
  int line;
  int64_t most, rows;
} FlPage;

/* An array in brackets; ends without a line end. `indent`: columns before the first bracket; `line`: where
 * lines are broken. */
void fl_show_array(FlBytes *out, FlCells cells, int indent, int line);
/* The first and last elements of one row of a column of arrays. */
void fl_show_brief(FlBytes *out, FlCells cells, int64_t row, FlFloatStyle style);

/* ---- tables ------------------------------------------------------------------------------------------- */

typedef struct FlShowColumn {
  const FlShowType *type; /* of the row's field */
  const char *name;
  FlCells cells;
} FlShowColumn;
/* `page.line` counts from where the table begins. */
void fl_show_table(FlBytes *out, const FlShowColumn *columns, int32_t n_columns, int64_t n_rows, FlPage page);

#endif
