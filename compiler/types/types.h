/* types.h: the types of the language, as sema sees values: without sizes (those are SSA values, see ir.h).
 *
 * Types are hash-consed in a FlTypes: equal types are the same pointer, so `==` compares. How a type's value
 * is cut into IR values ("parts") is decided here and nowhere else:
 *
 *   scalar T           one scalar; T? adds a bool validity after it (value zero when invalid)
 *   array T[..]        one array; of T? adds a bool array of the same sizes
 *   category           as an i32 scalar or array, its codes; then, last, its levels: text[k], in their order
 *   tuple              the parts of its fields in order
 *   table              grouped or not (which needs no part): the number of rows (i64), then for each field of
 *                      the row the parts of its column; a column of scalars is a rank-1 array, of rank-r arrays
 *                      a rank r+1 array; levels are as they are
 *   list of E          for each part of E: scalar -> rank-1 array, array -> list, list -> deeper list
 *   function, module   nothing: they exist while compiling only */
#ifndef FL_TYPES_H
#define FL_TYPES_H

#include "base/base.h"
#include "flow/dtypes.h"

typedef enum FlTyKind {
  FL_TY_ERROR, /* something was reported already: fits everything, says nothing */
  FL_TY_NONE,  /* no value: a statement, an effect */
  FL_TY_NEVER, /* error("..."): fits everything */
  FL_TY_NULL,  /* the literal null before its type is known */
  FL_TY_SCALAR,
  FL_TY_ARRAY,
  FL_TY_TUPLE,
  FL_TY_TABLE,
  FL_TY_LIST,
  FL_TY_FUNC,
} FlTyKind;

typedef struct FlType FlType;

/* What was asked for and is no type. */
typedef enum FlTypeRefusal {
  FL_REFUSED_NONE,
  FL_REFUSED_RANK,   /* an array of more than FL_MAX_RANK dimensions */
  FL_REFUSED_COLUMN, /* a table with such a column */
  FL_REFUSED_DEPTH,
  FL_REFUSED_PARTS
} FlTypeRefusal;

typedef struct FlTyField {
  const char *name; /* interned; "0", "1", ... in a tuple without names */
  const FlType *type;
} FlTyField;

struct FlType {
  FlTyKind kind;
  FlDtype dtype; /* SCALAR, ARRAY */
  bool nullable; /* SCALAR, ARRAY */
  int rank;      /* ARRAY: 1..FL_MAX_RANK */
  int n_fields;  /* TUPLE */
  const FlTyField *fields;
  const int *part_at;    /* TUPLE: the first part of each field among those of the tuple */
  const FlMap *field_of; /* TUPLE of many fields: name -> 1 + its index; NULL: they are few */
  const FlType *elem;    /* TABLE: the row, a tuple; LIST: the element */
  int n_keys;            /* TABLE: the columns that it is grouped by; 0: it is not */
  const char *const *keys;
  const char *name; /* TUPLE: nominal name when made by `type` or a library, else NULL */
  int n_parts;
  /* Of each part, whether it is levels, which all elements or rows share: they are not cut, taken or loaded
   * with them. Those within a list are not: there each element has its own. */
  const bool *levels;
  const FlType *next; /* made before, of the same hash; NULL: none */
  int depth;          /* of types within types */
  FlTypeRefusal refused;
};

enum {
  FL_TYPE_DEPTH = 64,      /* types within types */
  FL_TYPE_PARTS = 1 << 18, /* IR values that one value is */
};

typedef struct FlTypes {
  FlArena *arena;
  FlInterner *names;
  FlMap *made;    /* by hash of what they are: the newest, then `next` */
  FlMap *scalars; /* interned name of an element type -> 1 + which */
  const FlType *error, *none, *never, *null, *func;
  const FlType *plain[FL_N_DTYPES][2][FL_MAX_RANK + 1]; /* scalars and arrays, with null or not; once made */
  FlTypeRefusal refused; /* the last such type, since somebody set this to NONE */
} FlTypes;

/* Types are made once: equal types are the same pointer. They live in the arena. One with too many
 * dimensions, or that is nested too deep, sets `refused`, and is good for no more than what is under way; in
 * place of one with too many parts, which sets it too, `error` is given. */
FlTypes *fl_types_make(FlArena *a, FlInterner *names);
/* Whether an interned name is that of an element type: as fl_dtype_find, at once. */
bool fl_type_names_dtype(const FlTypes *t, const char *name, FlDtype *out);
const FlType *fl_type_scalar(FlTypes *t, FlDtype d, bool nullable);
const FlType *fl_type_array(FlTypes *t, FlDtype d, bool nullable, int rank);
/* `fields` is copied. `name`: nominal, or NULL. */
const FlType *fl_type_tuple(FlTypes *t, int n, const FlTyField *fields, const char *name);
const FlType *fl_type_table(FlTypes *t, const FlType *row);
/* The table grouped by these columns of its row, in this order (interned names, copied); 0: not grouped. */
const FlType *fl_type_grouped(FlTypes *t, const FlType *table, int n_keys, const char *const *keys);
const FlType *fl_type_list(FlTypes *t, const FlType *elem);

/* The type of many values of `elem` side by side: scalar -> rank 1, array -> rank + 1, tuple -> table, else
 * list. Also the type of a table's column whose field has type `elem`. */
const FlType *fl_type_many(FlTypes *t, const FlType *elem);
/* The same with T? for T, or without the ?. Scalars and arrays only. */
const FlType *fl_type_with_null(FlTypes *t, const FlType *ty, bool nullable);

/* SCALAR, ARRAY of category? */
bool fl_type_is_category(const FlType *ty);
/* What elements of the type are in the IR: codes for a category. */
static inline FlDtype fl_dtype_stored(FlDtype d) { return d == FL_CATEGORY ? FL_I32 : d; }

/* Writes n_parts part types. */
void fl_type_parts(const FlType *ty, FlType1 *out);
/* SCALAR, ARRAY: how many parts have elements; they come first. */
int fl_type_element_parts(const FlType *ty);
static inline bool fl_type_is_grouped(const FlType *ty) { return ty->n_keys > 0; }
/* The keys as a person writes them: `g`, `g, h`. Arena text. */
const char *fl_type_keys_text(FlTypes *t, const FlType *ty);
/* Index of the field's first part within the tuple's parts, or within the table's parts (after the row
 * count). */
int fl_type_field_part(const FlType *ty, int field);
/* Whether any field of a tuple has a name of its own: that of the others is their position. */
bool fl_type_has_names(const FlType *row);
/* Are they one type, but for the names that `type` gave to tuples? */
bool fl_type_alike(const FlType *a, const FlType *b);
int fl_type_field_find(const FlType *row, const char *name); /* interned name; -1: none */
const FlType *fl_type_row(const FlType *ty);                 /* TUPLE: itself; TABLE: its row; else NULL */

const char *fl_dtype_name(FlDtype d);
bool fl_dtype_find(const char *name, FlDtype *out);

/* A name within a type's text, in backticks where it is not plain (data/name_text.h). */
void fl_type_add_name(FlText1 *out, const char *name);
/* As the user writes it: `f64?[_]`, `(x: f64, y: i64)[_]`. Arena text. */
const char *fl_type_text(FlTypes *t, const FlType *ty);
/* The same for messages: of many fields the first ones, and how many more there are. */
const char *fl_type_brief(FlTypes *t, const FlType *ty);

#endif
