/* value_type.h: the type of any value as text and as a tree, for what stores and writes values of every kind.
 *
 *   type   := scalar | array | tuple | table | list
 *   scalar := dtype '?'?
 *   array  := dtype '?'? '[' '_' (', ' '_')* ']'
 *   tuple  := nominal? '(' (field (', ' field)*)? ')'        nominal: the name that a `type` gave it
 *   field  := (name ': ')? type                              name: as name_text.h writes it
 *   table  := tuple '[_]'                                    fields are scalars and arrays
 *   list   := '[' type ']'
 *
 * How a value is cut into parts is said by compiler/types/types.h; here the same for these trees. */
#ifndef FL_VALUE_TYPE_H
#define FL_VALUE_TYPE_H

#include "flow/abi.h"

typedef enum FlValueKind {
  FL_VALUE_SCALAR,
  FL_VALUE_ARRAY,
  FL_VALUE_TUPLE,
  FL_VALUE_TABLE,
  FL_VALUE_LIST
} FlValueKind;

typedef struct FlValueType {
  FlValueKind kind;
  FlDtype dtype; /* SCALAR, ARRAY */
  bool nullable; /* SCALAR, ARRAY */
  int32_t rank;  /* ARRAY */
  int32_t n_fields;
  struct FlValueType *fields; /* TUPLE; TABLE: the row, a tuple; LIST: the element */
  char *name;                 /* of this type as a field; NULL: none */
  char *nominal;              /* TUPLE; NULL: none */
  int32_t n_parts;
} FlValueType;

/* NULL: no such type, deeper or wider than values are, or out of memory: errno is ENOMEM only then. */
FlValueType *fl_value_type_new(const char *text, size_t len);
void fl_value_type_free(FlValueType *t); /* NULL is allowed */
/* n_parts types. */
void fl_value_type_parts(const FlValueType *t, FlType1 *out);
/* Whether a value of type `have` is one of type `want`: equal, but a tuple without a name is one with any
 * name. */
bool fl_value_type_fits(const FlValueType *have, const FlValueType *want);

/* An element of a rank-1 array as a slot; of a list the array itself, borrowed. */
FlSlot fl_array_slot(const FlArray *a, int64_t at);
/* Stores one: of floats NaN as the one NaN, of a text what keeps its bytes is the caller's, of a list its
 * reference is handed over. */
void fl_array_put(FlArray *a, int64_t at, FlSlot v);

#endif
