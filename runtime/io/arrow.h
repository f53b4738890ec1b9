/* arrow.h: tables as Arrow IPC streams (arrow.apache.org/docs/format/Columnar.html, metadata version 5), by
 * hand: no library of the system has it. Private to the room; the parts of it are below.
 *
 *   stream  := message* end      message := 0xffffffff size:i32 metadata:size body      end := 0xffffffff
 * 0:i32 metadata is a Message of flatbuffers: a Schema first, then RecordBatches; a size and a body are
 * multiples of 8
 *
 * What always holds: of a stream that is read nothing is believed: each offset, length and count is checked
 * against what is there before it is used. Numbers are little endian, on both sides. */
#ifndef FL_ARROW_H
#define FL_ARROW_H

#include "io/io_internal.h"

enum { FL_E_ARROW = 249 };

/* Writes a whole stream. Columns hold any scalar type, or arrays of one size a row (values of rank 2, no
 * texts). */
bool fl_arrow_write(const FlTableColumn *columns, int32_t n_columns, int64_t n_rows, FlOutput *out,
                    FlIoError *e);

/* Reads the wanted columns of a stream, by name; others are left out. Texts are views of `in`, which they
 * keep. Integers and floats convert where every value fits; times of any unit where they are whole
 * microseconds. Messages call the stream `label`. On failure no array is owned. */
bool fl_arrow_read(FlCtx *ctx, const FlInput *in, const char *label, FlTableWanted *wanted, int32_t n_wanted,
                   int64_t *n_rows, FlIoError *e);

/* ---- flatbuffers: arrow_flat.c --------------------------------------------------------------------- */

/* A buffer that is read. Positions are offsets into it; 0 is no table, vector or text. */
typedef struct FlFlat {
  const uint8_t *at;
  uint32_t size;
} FlFlat;

uint32_t fl_flat_root(FlFlat f); /* where its root table stands; 0: nowhere within the bytes */
/* A scalar field of a table, or `otherwise` when it is absent or out of bounds. bytes: 1, 2, 4 or 8. */
int64_t fl_flat_number(FlFlat f, uint32_t table, int field, int bytes, int64_t otherwise);
/* What a field of a table refers to; 0: absent, or out of bounds. */
uint32_t fl_flat_table(FlFlat f, uint32_t table, int field);
/* A vector with elements of so many bytes: where they begin, and how many; 0: absent, or out of bounds. */
uint32_t fl_flat_vector(FlFlat f, uint32_t table, int field, uint32_t bytes, uint32_t *n);
/* Element k of a vector of tables. */
uint32_t fl_flat_element(FlFlat f, uint32_t vector, uint32_t k);
FlText fl_flat_text(FlFlat f, uint32_t table, int field); /* ptr NULL: absent, or out of bounds */
int64_t fl_flat_i64(FlFlat f, uint32_t at);               /* in bounds by the vector that it is part of */

/* Writing goes forward: a table, then what it refers to. A new table has n fields of sizes[k] bytes (0:
 * absent) at at[k], all zero. A message begins at a multiple of 8. */
size_t fl_flat_new_table(FlBytes *b, int n, const uint8_t *sizes, size_t *at);
void fl_flat_put(FlBytes *b, size_t at, int bytes, int64_t v);
void fl_flat_refer(FlBytes *b, size_t from, size_t to);
/* A new vector of n elements, zero; returns where the elements begin and in *at what refers to it. */
size_t fl_flat_new_vector(FlBytes *b, uint32_t n, uint32_t bytes, size_t *at);
size_t fl_flat_new_text(FlBytes *b, const char *s, size_t n);

/* ---- schemas: arrow_schema.c ----------------------------------------------------------------------- */

/* The numbers of the union Type of Schema.fbs. */
typedef enum FlArrowType {
  FL_ARROW_NULL = 1,
  FL_ARROW_INT = 2,
  FL_ARROW_FLOAT = 3,
  FL_ARROW_BINARY = 4,
  FL_ARROW_UTF8 = 5,
  FL_ARROW_BOOL = 6,
  FL_ARROW_DECIMAL = 7,
  FL_ARROW_DATE = 8,
  FL_ARROW_TIME = 9,
  FL_ARROW_TIMESTAMP = 10,
  FL_ARROW_INTERVAL = 11,
  FL_ARROW_LIST = 12,
  FL_ARROW_STRUCT = 13,
  FL_ARROW_UNION = 14,
  FL_ARROW_FIXED_BINARY = 15,
  FL_ARROW_FIXED_LIST = 16,
  FL_ARROW_MAP = 17,
  FL_ARROW_DURATION = 18,
  FL_ARROW_LARGE_BINARY = 19,
  FL_ARROW_LARGE_UTF8 = 20,
  FL_ARROW_LARGE_LIST = 21,
  FL_ARROW_RUN_END = 22,
  FL_ARROW_BINARY_VIEW = 23,
  FL_ARROW_UTF8_VIEW = 24,
  FL_ARROW_LIST_VIEW = 25,
  FL_ARROW_LARGE_LIST_VIEW = 26
} FlArrowType;

enum { FL_ARROW_DEPTH = 16 };                                              /* of nested fields */
enum { FL_ARROW_SCHEMA = 1, FL_ARROW_DICTIONARY = 2, FL_ARROW_BATCH = 3 }; /* of the union MessageHeader */

typedef struct FlArrowField {
  FlText name; /* in the stream */
  int type;    /* FlArrowType, or a number that is not known */
  bool dictionary, sign;
  int width; /* Int: bits; Float: 0 1 2 for half single double; times: the unit, see arrow_schema.c;
                FixedSizeList: size; Union: 0 sparse, 1 dense */
  int32_t n_children;
  struct FlArrowField *children;
} FlArrowField;

/* The fields of a Schema; false: e. The fields are freed in any case by fl_arrow_fields_free. */
bool fl_arrow_schema_read(FlFlat f, uint32_t schema, const char *label, FlArrowField *root, FlIoError *e);
void fl_arrow_fields_free(FlArrowField *root);
/* How the type is called in messages; in `out` with at least 40 bytes. */
const char *fl_arrow_type_name(const FlArrowField *f, char *out);
/* The whole message of a Schema. */
void fl_arrow_schema_write(const FlTableColumn *columns, int32_t n_columns, FlBytes *b);
/* Begins a message with a header of that kind; the header's own table follows. Ends it: pads it and writes
 * its size. */
void fl_arrow_message_begin(FlBytes *b, int kind, int64_t body, size_t *header_ref);
void fl_arrow_message_end(FlBytes *b, size_t begin);

/* ---- columns: arrow_column.c ----------------------------------------------------------------------- */

/* One batch: its vectors of nodes and buffers (in `meta`), and how far columns have taken them. */
typedef struct FlArrowBatch {
  FlCtx *ctx;
  const char *label;
  FlFlat meta;
  const uint8_t *body;
  int64_t body_size, n_rows;
  uint32_t nodes, n_nodes, buffers, n_buffers, counts, n_counts;
  uint32_t node, buffer, count;                 /* the next ones */
  int64_t first_row, total_rows, most_elements; /* of the stream; elements: as its size allows */
} FlArrowBatch;

/* Passes over a field's nodes and buffers. */
bool fl_arrow_skip(FlArrowBatch *b, const FlArrowField *f, FlIoError *e);
/* Reads a field's rows into the rows from first_row on of w's arrays, which are made when they are not there.
 */
bool fl_arrow_take(FlArrowBatch *b, const FlArrowField *f, FlTableWanted *w, FlIoError *e);
/* Makes w's arrays of `rows` rows; `size`: elements of each when w->arrays. */
bool fl_arrow_make(FlCtx *ctx, const char *label, FlTableWanted *w, int64_t rows, int64_t size, FlIoError *e);

#endif
