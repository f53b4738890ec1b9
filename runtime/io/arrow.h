/* arrow.h: tables as Arrow IPC (arrow.apache.org/docs/format/Columnar.html, metadata version 5), by hand: no
 * library of the system has it. Private to the room; the parts of it are below.
 *
 *   file    := "ARROW1" 0:u16 stream footer:size size:i32 "ARROW1"
 *   stream  := message* end
 *   message := 0xffffffff size:i32 metadata:size body
 *   end     := 0xffffffff 0:i32
 *
 * A stream may also just end, and before Arrow 0.15 there was no 0xffffffff. The metadata is a Message of
 * flatbuffers: a Schema first, then RecordBatches and DictionaryBatches; a size and a body are multiples
 * of 8.
 *
 * What always holds: of what is read nothing is believed: each offset, length and count is checked against
 * what is there before it is used. Numbers are little endian, on both sides. */
#ifndef FL_ARROW_H
#define FL_ARROW_H

#include "io/io_internal.h"

#include <string.h>

enum { FL_E_ARROW = 249 };

/* Writes a whole stream, or a whole file. Columns hold any scalar type, arrays of one size a row (values of
 * rank 2, no texts), or codes with levels. */
bool fl_arrow_write(const FlTableColumn *columns, int32_t n_columns, int64_t n_rows, bool file, FlOutput *out,
                    FlIoError *e);

extern const struct FlTablePrograms fl_arrow_programs;
extern const struct FlTableParts fl_arrow_parts;
FlIoSchemaFn fl_arrow_table_schema; /* a column is nullable when a batch has a null */

/* Reads the wanted columns of a stream or a file, by name; others are left out. Texts are views of `in`,
 * which they keep; so are columns that lie there as arrays have them. Integers and floats convert where every
 * value fits, decimals to floats (rounded once), to integers where they are whole, and to texts; times of any
 * unit where they are whole microseconds; what is nested to texts, as JSON. Messages call the input `label`.
 * whole: nothing may follow the end of a stream. On failure no array is owned. */
bool fl_arrow_read(FlCtx *ctx, const FlInput *in, const char *label, bool whole, FlTableWanted *wanted,
                   int32_t n_wanted, int64_t *n_rows, FlIoError *e);

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
  bool dictionary, sign, nullable;
  bool ordered; /* of a dictionary: the order of its values says something */
  int64_t dictionary_id;
  int index_width; /* of a dictionary's indices: bits, negative when signed */
  int width; /* Int, Decimal: bits; Float: 0 1 2 for half single double; times: the unit, see arrow_schema.c;
                FixedSizeList: size; Union: 0 sparse, 1 dense */
  int scale; /* Decimal: digits after the point; Time: bits */
  int precision; /* Decimal: digits in all */
  int32_t n_children;
  struct FlArrowField *children;
} FlArrowField;

/* The field of a wanted column, by name; -1: e. */
int32_t fl_arrow_field_find(const FlArrowField *root, const FlTableWanted *w, const char *label,
                            FlIoError *e);
/* The fields of a Schema; false: e. The fields are freed in any case by fl_arrow_fields_free. */
bool fl_arrow_schema_read(FlFlat f, uint32_t schema, const char *label, FlArrowField *root, FlIoError *e);
void fl_arrow_fields_free(FlArrowField *root);
/* Whether its values become texts that are made: decimals, and what is nested. */
bool fl_arrow_makes_text(const FlArrowField *f);
/* How the type is called in messages; in `out` with at least 40 bytes. */
const char *fl_arrow_type_name(const FlArrowField *f, char *out);
/* The whole message of a Schema; its table alone, which is returned. Column k's dictionary is k. */
void fl_arrow_schema_write(const FlTableColumn *columns, int32_t n_columns, FlBytes *b);
size_t fl_arrow_schema_table(const FlTableColumn *columns, int32_t n_columns, FlBytes *b);
/* Begins a message with a header of that kind; the header's own table follows. Ends it: pads it and writes
 * its size. */
void fl_arrow_message_begin(FlBytes *b, int kind, int64_t body, size_t *header_ref);
void fl_arrow_message_end(FlBytes *b, size_t begin);

/* ---- messages: arrow_messages.c -------------------------------------------------------------------- */

typedef struct FlArrowBytes {
  const uint8_t *at;
  int64_t n;
} FlArrowBytes;

typedef enum FlArrowCodec { FL_ARROW_PLAIN, FL_ARROW_LZ4, FL_ARROW_ZSTD } FlArrowCodec;

/* Rows of columns: a record batch, or the values of a dictionary. Its vectors of nodes and buffers are in
 * `meta`. */
typedef struct FlArrowBatch {
  const char *label;
  FlFlat meta;
  const uint8_t *body;
  int64_t body_size, first_row, n_rows;
  uint32_t nodes, n_nodes, buffers, n_buffers, counts, n_counts;
  uint32_t node, buffer, count; /* the next ones, while columns are found in it */
  int32_t n_dictionaries;       /* messages of dictionaries that count for it */
  FlArrowCodec codec;
  FlArrowBytes *unpacked; /* one a buffer, once fl_arrow_unpack was there; NULL: they are used as they are */
  FlBuffer *owner;        /* of the memory of unpacked buffers */
} FlArrowBatch;

typedef struct FlArrowDictionary {
  int64_t id;
  bool delta; /* added to what the dictionary held before, else in its place */
  FlArrowBatch values;
} FlArrowDictionary;

/* What is in an input: its schema, its batches in order. */
typedef struct FlArrowFile {
  const FlInput *in;
  const char *label;
  FlArrowField root;
  FlArrowBatch *batches;
  FlArrowDictionary *dictionaries;
  int32_t n_batches, n_dictionaries;
  int64_t n_rows;
  bool slice; /* of another, which owns the fields */
} FlArrowFile;

/* Finds all messages; see fl_arrow_read. To be closed in any case. */
bool fl_arrow_open(const FlInput *in, const char *label, bool whole, FlArrowFile *out, FlIoError *e);
void fl_arrow_close(FlArrowFile *f);

/* Rows [row, row + n) of an opened file, as one of its own whose batches are only those; *skip: rows of its
 * first batch that are before them. To be closed, as long as `f` is open. false: out of memory. */
bool fl_arrow_slice(const FlArrowFile *f, int64_t row, int64_t n, FlArrowFile *out, int64_t *skip);

/* Unpacks what columns need; wanted: for each field of the schema. */
bool fl_arrow_unpack(FlCtx *ctx, FlArrowFile *file, const bool *wanted, FlIoError *e);
/* The memory of unpacked batches is kept by a new array's buffer. false: out of memory. */
bool fl_arrow_keep(const FlArrowFile *file, FlBuffer *by);

/* ---- columns in place: arrow_map.c -------------------------------------------------------------------- */

/* The bytes of `in`, span behind span, as one array, where they lie so that nothing is copied; NULL: they do
 * not, or there is no memory. */
FlArray *fl_arrow_map(FlCtx *ctx, const FlInput *in, const FlArrowBytes *spans, int32_t n, FlDtype dtype,
                      int32_t rank, const int64_t *dims);

/* ---- rows of an opened file: arrow_read.c ------------------------------------------------------------ */

/* As fl_arrow_read, of the rows [row, row + n). Any thread. */
bool fl_arrow_read_rows(FlCtx *ctx, const FlArrowFile *file, int64_t row, int64_t n, FlTableWanted *wanted,
                        int32_t n_wanted, FlIoError *e);
/* Whether the file has the columns, and they can become what is wanted. */
bool fl_arrow_check(const FlArrowFile *file, const FlTableWanted *wanted, int32_t n_wanted, FlIoError *e);

/* ---- elements: arrow_leaf.c ------------------------------------------------------------------------ */

/* The elements of one column in one batch, checked: `data` holds n of them, or their offsets, views or
 * indices. */
typedef struct FlArrowLeaf {
  const FlArrowField *field; /* of the elements: of lists the child */
  int64_t n, first, per_row; /* of lists: where they begin, how many a row has (-1: no row says); else 0, 1 */
  const uint8_t *valid;      /* bits; NULL: all valid */
  bool all_null;
  FlArrowBytes data, texts;
  uint32_t first_view, n_views; /* buffers of a view column */
  int64_t pool, n_pool;         /* of a dictionary: its values in the pool of the column */
  struct FlArrowNode *nested;   /* of what becomes JSON: its parts */
  FlHeap *heap;                 /* of texts that are made; the column's array keeps it */
} FlArrowLeaf;

/* Passes over a field's nodes and buffers. */
bool fl_arrow_skip(FlArrowBatch *b, const FlArrowField *f, FlIoError *e);
/* Takes a field's nodes and buffers. `w` says what is wanted, for messages and whether lists are. */
bool fl_arrow_leaf(FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlArrowLeaf *out,
                   FlIoError *e);
/* Whether the next field has nulls in this batch; only the number that is written there is looked at. */
bool fl_arrow_has_nulls(const FlArrowBatch *b);
/* Bits of one element; 0: of no fixed size. */
int64_t fl_arrow_bits(const FlArrowField *f);
bool fl_arrow_buffer(const FlArrowBatch *b, uint32_t k, FlArrowBytes *out); /* false: out of bounds */
/* A little-endian integer of 8, 16, 32 or 64 bits; others are 0. Copies of a length that is known here cost
 * little. */
static inline int64_t fl_arrow_load(const uint8_t *at, int64_t bits, bool sign) {
  uint64_t v = 0;
  uint32_t half;
  uint16_t quarter;
  switch (bits) {
  case 8: return sign ? (int8_t)*at : *at;
  case 16: memcpy(&quarter, at, 2); return sign ? (int16_t)quarter : quarter;
  case 32: memcpy(&half, at, 4); return sign ? (int32_t)half : (int64_t)half;
  case 64: memcpy(&v, at, 8); return (int64_t)v;
  }
  return 0;
}
/* Indices of `bits` bits that are below this, read without a sign, are in the part of the pool that counts.
 */
static inline uint64_t fl_arrow_index_end(const FlArrowLeaf *l, int64_t bits) {
  const uint64_t n = (uint64_t)l->n_pool, half = UINT64_C(1) << (bits - 1);
  return l->field->index_width < 0 && n > half ? half : n;
}
static inline bool fl_arrow_bit(const uint8_t *bits, int64_t k) { return bits[k / 8] >> k % 8 & 1; }

/* A decimal as it is written: sign, digits, a point where the scale is above 0. Its length; `out` has room
 * for FL_ARROW_DECIMAL_ROOM. */
enum { FL_ARROW_DECIMAL_ROOM = 256, FL_ARROW_SCALE_MAX = 128 };
int fl_arrow_decimal(const uint8_t *at, int64_t bits, int scale, char *out);
/* A float of 16 bits. */
float fl_arrow_half(const uint8_t *at);
/* Microseconds, or days of a date; NULL, or why there is no such number. */
const char *fl_arrow_scale_time(const FlArrowField *f, int64_t *v);
/* The text that element k, which is valid, is; false: it is outside of the batch. */
bool fl_arrow_text(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, FlText *out);
bool fl_arrow_scalars(FlArrowBatch *b, const FlArrowField *f,
                      FlArrowLeaf *l); /* takes them; false: damaged */
bool fl_arrow_validity(FlArrowBatch *b, int64_t n, int64_t nulls, const uint8_t **valid);
bool fl_arrow_node(FlArrowBatch *b, int64_t *n, int64_t *nulls);
bool fl_arrow_next_buffer(FlArrowBatch *b, FlArrowBytes *out);

/* ---- what is nested, as JSON: arrow_nested.c ---------------------------------------------------------- */

/* Whether JSON can be made of a field: of structs, lists and maps of what columns may be. */
bool fl_arrow_is_nested(const FlArrowField *f);
/* Takes a field's nodes and buffers, with those of its children, checked; to be freed, also on failure. */
bool fl_arrow_nested(FlArrowBatch *b, const FlArrowField *f, struct FlArrowNode **out, FlIoError *e);
void fl_arrow_nested_free(struct FlArrowNode *node); /* NULL is allowed */
/* The JSON of element k. false: e. */
bool fl_arrow_nested_put(const FlArrowBatch *b, const struct FlArrowNode *node, int64_t k, FlBytes *to,
                         FlIoError *e);
bool fl_arrow_nested_valid(const struct FlArrowNode *node, int64_t k);

bool fl_arrow_damaged(const FlArrowBatch *b, FlIoError *e);
/* A value of row `row` of the batch that does not fit. */
bool fl_arrow_wrong_value(const FlArrowBatch *b, const FlTableWanted *w, int64_t row, int code, FlIoError *e,
                          const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* ---- columns: arrow_column.c ----------------------------------------------------------------------- */

/* What the values of a dictionary become, of all of its messages one after the other. */
typedef struct FlArrowPool {
  FlTableWanted w; /* values and validities; of a wanted category their texts */
  int32_t *codes;  /* of a category: the code of each, -1 for null */
  int32_t seen;    /* messages that the batches so far had before them; of them counts [begin, begin + n) */
  int64_t begin, n, end;
} FlArrowPool;

/* Of a column of texts with a dictionary: the different ones in order, and which of them each row has. */
typedef struct FlArrowCodes {
  struct FlDictionary *texts; /* NULL: rows get no codes */
  FlBuffer *codes;
  uint32_t *place; /* of each value of the pool */
  int32_t width;
} FlArrowCodes;

/* Whether a column becomes the wanted type at all; else e. */
bool fl_arrow_converts(const FlArrowBatch *b, const FlArrowField *f, const FlTableWanted *w, FlIoError *e);
/* Whether elements lie as the array has them, but for NaNs of other bits. */
bool fl_arrow_same_layout(const FlArrowField *f, FlDtype to);
/* Rows [from, from + n) of the batch to rows first_row + from on of w's arrays. `pool`: of dictionaries.
 * odd: the arrays are the file's own bytes, and are only looked at: it is set for a NaN of other bits than
 * the one NaN. Any thread. */
bool fl_arrow_take(FlCtx *ctx, const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool,
                   FlTableWanted *w, int64_t from, int64_t n, _Atomic bool *odd, FlIoError *e);

/* Rows of texts, n from `first` on, all at once: of offsets or views, or of indices when there is a pool.
 * false: one of them is to be looked at by itself, as it may be damaged; `to` and `valid` hold anything then.
 */
bool fl_arrow_take_texts(const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool, int64_t first,
                         int64_t n, FlText *to, uint8_t *valid);

/* ---- dictionaries: arrow_dictionary.c -------------------------------------------------------------- */

/* All values of the dictionary of field `f`. The pool is to be reset in any case. */
bool fl_arrow_pool(FlCtx *ctx, const FlArrowFile *file, const FlArrowField *f, FlTableWanted *w,
                   FlArrowPool *pool, FlIoError *e);
/* The part of the pool that counts for a batch; batches come in order. */
void fl_arrow_pool_part(const FlArrowFile *file, const FlArrowField *f, const FlArrowBatch *b,
                        FlArrowPool *pool, FlArrowLeaf *l);
void fl_arrow_pool_reset(FlArrowPool *pool);
/* Codes for `rows` rows of texts of the pool; none where there are too many values. false: out of memory. */
bool fl_arrow_codes(FlCtx *ctx, const FlArrowPool *pool, int64_t rows, FlArrowCodes *out);
/* The codes of rows [from, from + n) of a batch. false: an index is of no value. */
bool fl_arrow_codes_take(const FlArrowCodes *codes, const FlArrowBatch *b, const FlArrowLeaf *l, int64_t from,
                         int64_t n);
void fl_arrow_codes_reset(FlArrowCodes *codes);

#endif
