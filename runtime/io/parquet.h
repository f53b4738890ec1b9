/* parquet.h: Parquet files (parquet.apache.org/docs/file-format) as far as they are read here: columns that
 * are not nested, of the encodings and codecs that nearly all files have. DuckDB reads the others
 * (parquet.c). Private to the room.
 *
 *   file   := "PAR1" chunk* footer size:u32 "PAR1"
 *   chunk  := page*                     the values of one column in one group of rows; a dictionary first, if there is one
 *   page   := PageHeader bytes
 *   footer := FileMetaData              both in Thrift's compact protocol
 *
 * What always holds: of what is read nothing is believed: each offset, length and count is checked against
 * what is there before it is used. Numbers are little endian, on both sides. */
#ifndef FL_PARQUET_H
#define FL_PARQUET_H

#include "io/tables.h"

/* ---- Thrift's compact protocol: parquet_thrift.c ----------------------------------------------------- */

typedef struct FlThrift {
  const uint8_t *at, *end;
  bool bad; /* what is there is no such thing: nothing more is read */
} FlThrift;

enum { FL_THRIFT_TRUE = 1, FL_THRIFT_BINARY = 8, FL_THRIFT_LIST = 9, FL_THRIFT_STRUCT = 12 };

/* The next field of a struct: its number and type, `*id` the one before (0: none); false: there is none. */
bool fl_thrift_field(FlThrift *t, int *id, int *type);
uint64_t fl_thrift_unsigned(FlThrift *t);
/* A number of a field of that type. */
int64_t fl_thrift_number(FlThrift *t, int type);
FlText fl_thrift_text(FlThrift *t);
/* The elements of a list: how many, and their type. */
int64_t fl_thrift_list(FlThrift *t, int *type);
void fl_thrift_skip(FlThrift *t, int type);

/* ---- what is in a file: parquet_file.c ---------------------------------------------------------------- */

typedef enum FlParquetPhysical {
  FL_PARQUET_BOOLEAN,
  FL_PARQUET_INT32,
  FL_PARQUET_INT64,
  FL_PARQUET_INT96,
  FL_PARQUET_FLOAT,
  FL_PARQUET_DOUBLE,
  FL_PARQUET_BYTES,
  FL_PARQUET_FIXED /* bytes, as many in each value */
} FlParquetPhysical;

/* What values mean. */
typedef enum FlParquetKind {
  FL_PARQUET_OTHER, /* none of those that are read here */
  FL_PARQUET_BOOL,
  FL_PARQUET_WHOLE,
  FL_PARQUET_REAL,
  FL_PARQUET_TEXT,
  FL_PARQUET_DATE,
  FL_PARQUET_MILLIS, /* times, by their unit */
  FL_PARQUET_MICROS,
  FL_PARQUET_NANOS,
  FL_PARQUET_DECIMAL
} FlParquetKind;

typedef struct FlParquetColumn {
  FlText name; /* in the file */
  FlParquetKind kind;
  FlParquetPhysical physical;
  int32_t bytes; /* of values of fixed size */
  int32_t bits;  /* of whole numbers */
  bool sign;     /* of whole numbers: they may be below zero */
  int32_t scale; /* of decimals: digits behind the point */
  bool nullable; /* there are levels that say which values there are */
  int32_t leaf;  /* which chunk of a group it is; nested: -1 */
} FlParquetColumn;

typedef struct FlParquetChunk {
  int64_t offset, bytes, n_values, nulls; /* nulls -1: the file does not say */
  int32_t codec;
  bool known; /* codec and encodings are among those that are read here */
  bool plain; /* values stand one behind the other, not packed */
} FlParquetChunk;

typedef struct FlParquetFile {
  FlParquetColumn *columns;
  int32_t n_columns, n_leaves, n_groups;
  FlParquetChunk *chunks; /* [n_groups, n_leaves] */
  int64_t *first;         /* [n_groups + 1] row of each group */
} FlParquetFile;

/* Reads the footer; to be closed in any case. false: it is damaged, or of a kind that is not known here. */
bool fl_parquet_open(const FlInput *in, FlParquetFile *out);
void fl_parquet_close(FlParquetFile *f);
/* The column of that name; NULL: there is none, or DuckDB would find several, as it does not look at case. */
const FlParquetColumn *fl_parquet_find(const FlParquetFile *f, const char *name, int32_t name_len);
/* The type of its values; false: it is not read here. */
bool fl_parquet_dtype(const FlParquetColumn *c, FlDtype *out);
/* Whether all of a column is read here, and becomes what is wanted where every value fits. */
bool fl_parquet_reads(const FlParquetFile *f, const FlParquetColumn *c, const FlTableWanted *w);

/* ---- pages: parquet_page.c ---------------------------------------------------------------------------- */

enum {
  FL_PARQUET_PLAIN = 0,
  FL_PARQUET_PLAIN_DICTIONARY = 2,
  FL_PARQUET_RLE = 3,
  FL_PARQUET_BIT_PACKED = 4,
  FL_PARQUET_RLE_DICTIONARY = 8
};
enum { FL_PARQUET_SLACK = 16 }; /* bytes that may be read behind those of a page */

typedef struct FlParquetPage {
  bool dictionary, compressed;
  int32_t encoding;
  int64_t n_values;
  int64_t levels;       /* bytes of levels before what is compressed; -1: they are part of it */
  const uint8_t *at;    /* levels and values as they stand in the file */
  int64_t packed, size; /* bytes there, and unpacked */
} FlParquetPage;

/* The next page of a chunk that has values; false: it is damaged, or of a kind that is not known here. */
bool fl_parquet_page(FlThrift *t, FlParquetPage *out);
bool fl_parquet_codec_known(int32_t codec);
/* Where in `n` bytes those stand that unpacking them gives, `size` of them, as they are; NULL: nowhere. What
 * was not to be made smaller is one run of bytes in Snappy. */
const uint8_t *fl_parquet_lies(int32_t codec, const uint8_t *at, int64_t n, int64_t size);
/* Unpacks `n` bytes to exactly `size`. */
bool fl_parquet_unpack(int32_t codec, const uint8_t *at, int64_t n, uint8_t *to, int64_t size);

/* ---- numbers of a few bits: parquet_runs.c ------------------------------------------------------------ */

enum { FL_PARQUET_BLOCK = 1024 }; /* packed numbers at a time; of eights, as each begins at a byte */

typedef struct FlParquetRuns {
  FlThrift t; /* behind the numbers that were given */
  int width;
  int64_t left; /* numbers of the run that were not given yet */
  bool packed;
  uint32_t number; /* not packed: all of them */
} FlParquetRuns;

/* Numbers of `width` bits in runs; FL_PARQUET_SLACK bytes behind `end` may be read. */
bool fl_parquet_runs(const uint8_t *at, const uint8_t *end, int width, FlParquetRuns *out);
/* The next numbers, at most n, none of which is above `*most`: of a packed run in `to`, which has room for
 * FL_PARQUET_BLOCK, else r->number each. How many they are; 0: they are not there. */
int64_t fl_parquet_next(FlParquetRuns *r, int64_t n, uint32_t *to, uint32_t *most);

/* ---- values: parquet_values.c, parquet_column.c ------------------------------------------------------- */

/* Bytes of a plain value in the file; 0: they are not all of one size. */
int64_t fl_parquet_width(const FlParquetColumn *c);
/* n plain values, as the column has them, to `to` as wanted, which may be where `at` is when both have one
 * size; texts point into `at`. false: they are not there, or one does not fit. */
bool fl_parquet_values(const FlParquetColumn *c, FlDtype dtype, const uint8_t *at, int64_t bytes, int64_t n,
                       char *to);

/* Rows [from, to) of a chunk, whose row 0 is or would be row `first` of arrays. */
typedef struct FlParquetRows {
  int64_t first, from, to;
} FlParquetRows;

/* Rows of a chunk to w's arrays; of texts, all of them, whose bytes go to the heap. Pages that have none of
 * these rows are not unpacked. FL_E_MEMORY: there is no memory; FL_E_VALUE: something is not as it is read
 * here. 0: all went well. Any thread. */
int fl_parquet_take(FlCtx *ctx, const FlInput *in, const FlParquetColumn *c, const FlParquetChunk *chunk,
                    FlHeap *heap, FlTableWanted *w, FlParquetRows rows);

/* Values of a chunk in their order, as wanted, which are numbers without nulls. */
typedef struct FlParquetValues FlParquetValues;
/* From row `from` of the chunk on; all that it is given outlives it. NULL: no memory. */
FlParquetValues *fl_parquet_values_open(FlCtx *ctx, const FlInput *in, const FlParquetColumn *c,
                                        const FlParquetChunk *chunk, FlTableWanted *w, int64_t from);
/* The next n to `to`. As fl_parquet_take. */
int fl_parquet_values_next(FlParquetValues *v, int64_t n, char *to);
void fl_parquet_values_close(FlParquetValues *v); /* NULL is allowed */

/* ---- rows of several columns side by side: parquet_beside.c ------------------------------------------- */

/* Rows [from, to) of the file, of the columns of a matrix, the first of which is `wanted`, to their places in
 * it. As fl_parquet_take. */
int fl_parquet_lay(FlCtx *ctx, const FlInput *in, const FlParquetFile *f, FlTableWanted *wanted, int64_t from,
                   int64_t to);

/* ---- DuckDB: parquet.c -------------------------------------------------------------------------------- */

/* The wanted columns of rows [first, first + n), n < 0: of all; read by DuckDB. */
bool fl_parquet_ask(FlCtx *ctx, const char *path, int64_t first, int64_t n, FlTableWanted *wanted,
                    int32_t n_wanted, int64_t *rows, FlIoError *e);

/* Where DuckDB's library is not there, e says which column it is needed for. */
void fl_parquet_needed_for(const char *path, const char *name, int32_t name_len, FlIoError *e);

extern const FlTableParts fl_parquet_parts; /* parquet_parts.c */

#endif
