/* tables.h: what a format of tables is: its reader, its writer. A row of flow/formats.def names them;
 * compiled code knows them by their C names, so that a program has in it what it uses. Private to the room.
 */
#ifndef FL_TABLES_H
#define FL_TABLES_H

#include "io/io_internal.h"

/* Rows that were left out of what was read. */
typedef struct FlRejected {
  int64_t n;
  FlArray *line, *column, *reason, *text;
} FlRejected;
void fl_rejected_reset(FlRejected *r);

/* What is read: one of the files of an operator. */
typedef struct FlTableFrom {
  const char *path;
  FlOptions options;
  FlRejected *rejected; /* rows with a problem are left out, and told about here; NULL: they are errors */
} FlTableFrom;

/* How a file is read part by part (table_parts.c). */
typedef struct FlTableParts {
  /* Opens a file of which these columns are wanted: into how many parts it is cut. NULL: e. */
  void *(*open)(FlCtx *ctx, const FlTableFrom *from, const FlTableWanted *wanted, int32_t n, int64_t *n_parts,
                FlIoError *e);
  /* The wanted columns of a part, -1: of the whole file; any thread. false: no array is owned, and it is
   * FL_E_MEMORY, or a problem that reading the whole file tells about. */
  bool (*part)(FlCtx *ctx, void *file, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
               FlIoError *e);
  /* After all parts; false: the file is not what it was when it was opened. */
  bool (*end)(void *file, const char *path, FlIoError *e);
  void (*close)(void *file);
} FlTableParts;

/* How tables go to programs and come back. */
typedef struct FlTablePrograms {
  const char *says; /* what it is, for messages */
  bool (*write)(FlCtx *ctx, const FlTableColumn *columns, int32_t n_columns, int64_t n_rows, FlBytes *to,
                FlIoError *e);
  /* Closes `in`. On failure no array of `wanted` is owned. */
  bool (*read)(FlCtx *ctx, FlInput *in, const char *label, FlTableWanted *wanted, int32_t n_wanted,
               int64_t *n_rows, FlIoError *e);
} FlTablePrograms;

typedef struct FlTableReader {
  FlIoSchemaFn *schema;
  /* The wanted columns of a file, and how many rows there are; on failure no array is owned. */
  bool (*read)(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
               FlIoError *e);
  FlIoCheckFn *check;              /* NULL: what the types of the options allow */
  const FlTableParts *parts;       /* NULL: it is read as a whole */
  const FlTablePrograms *programs; /* NULL: it is for files */
  /* As `read`, of the rows in its first `bytes` bytes; NULL: it is read as a whole however large it is. */
  bool (*read_head)(FlCtx *ctx, const FlTableFrom *from, int64_t bytes, FlTableWanted *wanted, int32_t n,
                    int64_t *n_rows, FlIoError *e);
} FlTableReader;

/* A table that is written. */
typedef struct FlTable {
  FlTableColumn *columns;
  int32_t n_columns;
  int64_t n_rows;
  FlOptions options;
} FlTable;

typedef struct FlTableWriter {
  FlPutFn *put; /* of an FlTable */
  FlIoCheckFn *check;
} FlTableWriter;

/* By its name, "read_csv"; NULL: it reads no tables. */
const FlTableReader *fl_io_table_reader(const char *name);
/* The value of an option that is a text; NULL: it is not given. */
const char *fl_option_text(FlOptions options, const char *name);

#define FL_TABLE_READER(name, ...) extern const FlTableReader fl_read_##name;
#define FL_TABLE_WRITER(name, ...) extern const FlTableWriter fl_write_##name;
#include "flow/formats.def"

#endif
