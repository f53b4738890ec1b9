/* tables.h: what a format of tables is: its reader, its writer. A row of flow/formats.def names them;
 * compiled code knows them by their C names, so that a program has in it what it uses. Private to the room.
 */
#ifndef FL_TABLES_H
#define FL_TABLES_H

#include "exec/exec.h"
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
  /* NULL: how many rows there are is not known before they are read. How many; -1: of this file, neither. */
  int64_t (*rows)(void *file);
  /* Rows [from, to) go to where they stand in the arrays of the wanted columns, none of which is of texts,
   * that are of all rows and have memory there; those of a matrix to their places in it. false: as of
   * `part`. */
  bool (*read_rows)(FlCtx *ctx, void *file, int64_t from, int64_t to, const FlTableWanted *wanted, int32_t n,
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

/* As the reader's `read`; columns of a matrix are laid side by side: the first of them owns it. */
bool fl_table_read(FlCtx *ctx, const FlTableReader *reader, const FlTableFrom *from, FlTableWanted *wanted,
                   int32_t n, int64_t *n_rows, FlIoError *e);

/* Of an operator on one file, or on an opened one: what the part asks for (FlOpPart). A failure says no more
 * than that it is one. */
FlStatus fl_table_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlOpPart *part);
FlStatus fl_table_rows_opened(FlCtx *ctx, const FlOpDesc *desc, const FlTableParts *how, void *file,
                              FlOpPart *part);
/* Ranks that read parts of a file must have the same: as they say at a meeting. */
FlStatus fl_table_agree(FlCtx *ctx, const FlOpDesc *desc, const char *path);

/* By its name, "read_csv"; NULL: it reads no tables. */
const FlTableReader *fl_io_table_reader(const char *name);
/* The value of an option that is a text; NULL: it is not given. */
const char *fl_option_text(FlOptions options, const char *name);

#define FL_TABLE_READER(name, ...) extern const FlTableReader fl_read_##name;
#define FL_TABLE_WRITER(name, ...) extern const FlTableWriter fl_write_##name;
#include "flow/formats.def"

#endif
