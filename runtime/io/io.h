/* io.h: files and output for people: the runtime operators that read and write files, print and show, and
 * what the compiler asks of files while compiling.
 *
 * Options of CSV files (flow/formats.def); of those marked * the file itself shows what is not given, and one
 * that is `found` is what it showed while compiling, which the file at run time must not contradict:
 * * sep ,           one byte
 * * quote "         one byte, or nothing: no quoting
 * * header true     false: the columns are called column_1, column_2, ...
 * * skip 0          lines before the header
 * * comment         a byte that begins lines which are left out; nothing: there are none
 *   null NA         a text that means null; may stand several times, and then these are all. Without it an
 *                   empty field is null in every column, and NA, N/A, NULL, null also where the column is not
 *                   text. A quoted field is never null, but for "" where the column is not text.
 * * decimal .       the decimal point: . or ,
 *   dates %d.%m.%Y  how dates are written, of %Y %m %d %H %M %S and other characters; else ISO 8601
 *   encoding utf-8  or utf-16 utf-16le utf-16be latin-1 windows-1252; a byte order mark of UTF-16 says so
 * itself
 *   duplicates stop or number: columns that are called as one before them are called x_2, x_3, ...
 *   on_error stop   or null: a value that does not fit becomes null in a column of T?; collect: a row with a
 *                   problem is left out, and told about in results of their own
 */
#ifndef FL_IO_H
#define FL_IO_H

#include "base/bytes.h"
#include "flow/abi.h"

enum { FL_IO_MEMORY = 712 }; /* FlIoError.code: nothing is wrong with it, there was no memory */
/* Appends a scalar in full, as print shows it. */
void fl_io_cell(FlBytes *out, int32_t dtype, FlSlot value, bool valid);

/* What is wrong with a file, ready to be reported at a place in the script. */
typedef struct FlIoError {
  int code; /* 930 for E0930; 0: nothing is wrong */
  char message[512];
  char help[384];    /* "" when there is nothing to suggest */
  int64_t line, row; /* 1-based line of the file and row of the data, 0: none */
  char column[128];  /* "" when no column */
  char value[128];   /* the field's text, cut; "" when no value */
} FlIoError;

/* Which value made a type. */
typedef struct FlIoCause {
  int64_t line;   /* from 1; 0: none, or it is not known which */
  char value[40]; /* as it is written, cut; "": there is none, or the place is empty */
} FlIoCause;

typedef struct FlIoColumn {
  const char *name; /* NUL-terminated UTF-8 */
  FlDtype dtype;    /* of texts BOOL I64 F64 DATE DATETIME DURATION TEXT; else any scalar type or CATEGORY */
  bool nullable;
  bool arrays; /* each row holds an array, of one size in all rows */
  /* Of columns whose type comes from their values: the first value that does not fit the type of those before
   * it, so that it is this one now; and the first null. */
  FlIoCause odd, null;
} FlIoColumn;

/* An option that a file showed: a text of one byte or none, or else a number (a bool: 0 or 1). */
typedef struct FlIoFound {
  const char *name;
  bool is_text;
  char text[2];
  int64_t number;
} FlIoFound;
/* As an attribute, whose text is that of `f`. */
static inline FlOptionAttr fl_io_found_option(const FlIoFound *f) {
  return (FlOptionAttr){f->name, f->is_text ? f->text : NULL, f->number, 1};
}
/* Options of a reader or writer. */
typedef struct FlOptions {
  const FlOptionAttr *at;
  int32_t n;
} FlOptions;

enum { FL_IO_DIALECT = 6 };

typedef struct FlIoSchema {
  FlIoColumn *columns;
  int32_t n_columns;
  int64_t n_rows;                 /* read; all of the file's when `whole` */
  bool whole;                     /* every row was read; else the head and samples throughout */
  FlIoFound found[FL_IO_DIALECT]; /* options that the file itself showed, for reading it */
  int32_t n_found;
  void *own;
} FlIoSchema;

/* The row type of a file of a format: column names and types, from its header, its schema or its values. The
 * same for the same bytes; takes a bounded time on large files. false: *error says why, nothing is owned. */
typedef bool FlIoSchemaFn(const char *path, FlOptions options, FlIoSchema *out, FlIoError *error);
void fl_io_schema_reset(FlIoSchema *s);
/* One of its own; false: no memory, and nothing is owned. */
bool fl_io_schema_copy(const FlIoSchema *s, FlIoSchema *out);
/* The different texts of a column of a file that is small enough to be read whole while compiling, sorted; at
 * most `most` are told. false: there are more, or not all are known, and nothing is owned. */
typedef struct FlIoTexts {
  char **at; /* NUL-terminated UTF-8 */
  int32_t n;
} FlIoTexts;
bool fl_io_column_texts(const char *reader, const char *path, FlOptions options, const FlColumnAttr *column,
                        int32_t most, FlIoTexts *out);
bool fl_io_texts_copy(const FlIoTexts *t, FlIoTexts *out); /* as fl_io_schema_copy */
void fl_io_texts_reset(FlIoTexts *t);
/* That of a reader by its name, "read_csv"; NULL: it reads no tables. */
FlIoSchemaFn *fl_io_schema_of(const char *name);
/* Whether the last of some options of a reader or writer has a possible value, beside those before it. */
typedef bool FlIoCheckFn(FlOptions options, FlIoError *error);
FlIoCheckFn *fl_io_check_of(const char *name); /* "read_csv", "write_csv"; NULL: all are */
/* An option of a reader from a word "name=value", which the option points into; a '?' before it: it is
 * `found`. 0: the reader has no such option, or it is no such word; -1: the value is impossible, *error says
 * why. `name` has room for the name. */
enum { FL_IO_OPTION_NAME = 32 };
int fl_io_option_read(const char *reader, const char *word, FlOptionAttr *out, char name[FL_IO_OPTION_NAME],
                      FlIoError *error);

/* The row type of a query's result, all columns but arrays nullable. inputs: as io/sql.c lists them; paths:
 * of the files among them, in order. */
bool fl_io_sql_schema(const char *query, const FlColumnAttr *inputs, int32_t n, const char *const *paths,
                      FlIoSchema *out, FlIoError *error);
/* The arrays in a file, by name; rank 0: a single value. */
typedef struct FlIoArray {
  const char *name; /* "" where a file holds one array */
  FlDtype dtype;    /* FL_N_DTYPES: it cannot be read, and `why` says it */
  bool nullable;    /* null was seen in it */
  int32_t rank;
  int64_t dims[FL_MAX_RANK];
  const char *why;
} FlIoArray;
typedef struct FlIoArrays {
  FlIoArray *at;
  int32_t n;
} FlIoArrays;
typedef bool FlIoArraysFn(const char *path, FlIoArrays *out, FlIoError *error);
FlIoArraysFn fl_io_npy_arrays, fl_io_npz_arrays, fl_io_hdf5_arrays, fl_io_mat_arrays;
void fl_io_arrays_reset(FlIoArrays *a);
/* That of a reader by its name, "read_npz"; NULL: it reads no arrays. */
FlIoArraysFn *fl_io_arrays_of(const char *name);

/* The array in an NPY file, without a name: type and sizes from its header, nulls from its first 64 MB. */
bool fl_io_npy_type(const char *path, FlIoArray *out, FlIoError *error);

/* The type of the value in a file that `save` wrote, as in data/value_type.h; on the heap. NULL: *error says
 * why. */
char *fl_io_saved_type(const char *path, FlIoError *error);

/* Index of the first byte that is not part of valid UTF-8, or n. */
int64_t fl_utf8_check(const char *s, int64_t n);
/* Whether all bytes are below 128. */
bool fl_utf8_is_ascii(const char *s, int64_t n);

/* The reader of the format whose extension the path has, "read_csv"; NULL: none. */
const char *fl_io_reader_of(const char *path);

/* Records the error in the context, at the operator's place; returns a non-zero status. */
FlStatus fl_io_fail(FlCtx *ctx, int32_t site, const FlIoError *error, const char *path, int64_t path_len);

/* What a run knows of the files it has seen: digests of their contents. Thread-safe. */
typedef struct FlFiles FlFiles;
FlFiles *fl_files_new(void);        /* NULL: out of memory */
void fl_files_free(FlFiles *files); /* NULL is allowed */
/* Removes the temporary files of outputs that are being written: the process is about to end. Nothing else
 * may be done with the files of the run afterwards. */
void fl_files_give_up(FlFiles *files);
/* For libraries that bear one thread at a time; NULL: there is one thread. */
void fl_files_lock_library(FlFiles *files);
void fl_files_unlock_library(FlFiles *files);
FlFiles *fl_ctx_files(FlCtx *ctx); /* of the context's run; defined by exec */

/* Whether no mapped file whose bytes are still in use was written to; false: *error says which. Any thread.
 */
bool fl_files_stay(FlCtx *ctx, FlIoError *error);
/* The same for what is done often: looks once in a few milliseconds only. Whoever relies on it calls
 * fl_files_stay in the end. */
bool fl_files_stayed(FlCtx *ctx, FlIoError *error);

/* Digest of a file's content, and of what lies beside a database, read in parallel; remembered as long as the
 * system tells of no change. */
FlStatus fl_file_digest(FlCtx *ctx, int32_t site, FlText path, FlDigest *out);
/* The digest once more, before a result is stored: false when the file cannot be read, or somebody opened the
 * path since and found other than what was digested. Records no error. */
bool fl_file_digest_again(FlCtx *ctx, FlText path, FlDigest *out);
/* A digest that takes a bounded time and no run: of another content, or of a large file that was written to
 * since, another; zero: it is not there, or no ordinary file. */
FlDigest fl_file_sample(const char *path);
/* A reader that gives a file to a library by its name is about to do so. */
void fl_file_named(FlCtx *ctx, const char *path, int64_t len);

/* Whether a text stands for standard input where a file may stand: `-`, /dev/stdin. */
bool fl_io_is_standard_input(const char *text, int64_t len);
/* Whether what is under the path comes when the script runs, and once: standard input, a pipe, a device. */
bool fl_io_comes_once(const char *path);
/* Makes standard input a file that can be read by fl_io_standard_input_path, as often as one likes; of
 * several ranks at all. ctx: NULL where there is one thread. False: it cannot be read, or there is no room
 * for a copy. */
bool fl_io_standard_input(FlCtx *ctx, FlIoError *e);
FlText fl_io_standard_input_path(void);

/* Files that a pattern of the shell's kind (* ? [..]) matches, by their paths' bytes; no folders. */
typedef struct FlIoGlob {
  char **paths;
  int64_t n;
  void *own;
} FlIoGlob;
bool fl_io_glob(const char *pattern, FlIoGlob *out, FlIoError *error); /* false: none, or no memory */
void fl_io_glob_reset(FlIoGlob *g);
/* The paths as an array of text or file; NULL: out of memory, recorded. */
FlArray *fl_io_paths(FlCtx *ctx, const FlIoGlob *g, int32_t dtype);

FlRuntimeOp fl_rt_save_value, fl_rt_load_value, fl_rt_write_json, fl_rt_sql, fl_rt_exec;
FlRuntimeOp fl_rt_read_table, fl_rt_read_table_some, fl_rt_write_table, fl_rt_table_parts, fl_rt_table_part,
    fl_rt_table_end;
FlRuntimeOp fl_rt_read_npy, fl_rt_write_npy, fl_rt_read_npz, fl_rt_write_npz, fl_rt_read_hdf5, fl_rt_read_mat;
FlRuntimeOp fl_rt_read_image, fl_rt_write_image, fl_rt_read_wav;
FlRuntimeOp fl_rt_files, fl_rt_file_path, fl_rt_file_of, fl_rt_print, fl_rt_show;

#endif
