/* io_internal.h: what the files of this room share: inputs, outputs, errors. */
#ifndef FL_IO_INTERNAL_H
#define FL_IO_INTERNAL_H

#include "io/io.h"
#include "base/bytes.h"
#include "base/whole_file.h"

#include <pthread.h>
#include <sys/stat.h>

/* Codes of diag.def that this room reports. */
enum {
  FL_E_NO_MATCH = 282,
  FL_E_FLOWDATA = 283,
  FL_E_SAVED_TYPE = 284,
  FL_E_JSON_NUMBER = 285,
  FL_E_JSON = 286,
  FL_E_PLOT_FORMAT = 287,
  FL_E_PLOT_AXES = 288,
  FL_E_PLOT_TEXTS = 291,
  FL_E_PLOT_PARTS = 292,
  FL_E_NO_ARRAY = 961,
  FL_E_OPEN = 930,
  FL_E_VALUE = 931,
  FL_E_NULL = 932,
  FL_E_NO_COLUMN = 933,
  FL_E_RAGGED = 934,
  FL_E_HEADER = 935,
  FL_E_QUOTE = 936,
  FL_E_CHANGED = 937,
  FL_E_UTF8 = 938,
  FL_E_OPTION = 939,
  FL_E_NPY = 940,
  FL_E_NPY_TYPE = 941,
  FL_E_WRITE = 942,
  FL_E_EMPTY = 944,
  FL_E_DIALECT = 950,
  FL_E_PACKED = 951,
  FL_E_BOMB = 952,
  FL_E_COMMENT = 953,
  FL_E_AMBIGUOUS = 954,
  FL_E_MEMORY = FL_IO_MEMORY,
  FL_E_RESOURCE = 920,
  FL_E_STOPPED = 928, /* never shown */
  FL_E_INTERNAL = 929
};

/* Fills code and message (and no more); returns false. */
bool fl_io_error(FlIoError *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fl_io_help(FlIoError *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts a code point as UTF-8, up to 4 bytes; behind it. */
char *fl_utf8_put(char *to, uint32_t code);
/* n code units of UTF-16 or UTF-32 (size 2 or 4 bytes; 1: code points) as UTF-8 in `to`, which has room for 3
 * bytes a unit of 2 and else 4. The bytes; -1: no such text. */
int64_t fl_utf8_of_units(const char *from, int64_t n, int size, bool big, char *to);

/* ---- inputs ------------------------------------------------------------------------------------------- */

/* The bytes of a file. data[0 .. size) are the file's; at least 64 more may be read behind them, which are
 * zero. */
typedef struct FlInput {
  char *data;
  int64_t size;
  FlBuffer *buffer;  /* owns data */
  struct stat found; /* as it was when opened */
  int fd;
} FlInput;

/* Opens a file that is no folder; -1: e says why, with the name that was probably meant. */
int fl_input_fd(const char *path, struct stat *found, FlIoError *e);
/* Likewise, and what comes is there as an ordinary file, *found its state: of a pipe, a device, or a file of
 * the system whose size is not known it is a copy. ctx may be NULL. */
int fl_input_file(FlCtx *ctx, const char *path, struct stat *found, FlIoError *e);
/* Likewise for readers that open the path anew: what is no ordinary file is an error. */
int fl_input_ordinary(const char *path, struct stat *found, FlIoError *e);
/* Whether an open file says nothing of its size: no ordinary file, or one of the system (/proc) that has
 * bytes and a size of 0. */
bool fl_stream_is(int fd, const struct stat *found);
/* All that is left of `fd`, of which *found is known, in a new file without a name; -1: e says why. What
 * never ends stops where the room for it does, a device after 64 MB. */
int fl_stream_copy(FlCtx *ctx, int fd, const struct stat *found, const char *label, FlIoError *e);
/* Opens and reads or maps a file. `path` is NUL-terminated. */
bool fl_input_open(FlCtx *ctx, const char *path, FlInput *in, FlIoError *e);
/* Bytes that are in memory, copied, as an input that messages call `label`. */
bool fl_input_of_bytes(FlCtx *ctx, const char *bytes, size_t n, const char *label, FlInput *in, FlIoError *e);
/* false: the file is not what it was when it was opened. */
bool fl_input_check(const FlInput *in, const char *path, FlIoError *e);
void fl_input_close(FlInput *in);
/* Whether both say the same file with the same content, as far as the system tells. */
bool fl_input_same(const struct stat *a, const struct stat *b);
/* NUL-terminated copy of a path; NULL (and an error) for one with a NUL inside or without memory. Free it. */
char *fl_input_path(FlText path, FlIoError *e);

/* Reads a file into the results of an operator; false: *e says why, and no result is owned. */
typedef bool FlTakeFn(FlCtx *ctx, const FlOpDesc *desc, const char *path, FlSlot *results, FlIoError *e);
/* What an operator that reads the one file `from` does: claims it for this run and has it read by `take`; on
 * failure the error is recorded. */
FlStatus fl_io_read_file(FlCtx *ctx, const FlOpDesc *desc, FlText from, FlTakeFn *take, FlSlot *results);

/* The value in a file that `save` has written, in parts of these types, owned by the caller; `want`: its type
 * as in data/value_type.h. */
bool fl_flowdata_load(FlCtx *ctx, const char *path, const char *want, const FlType1 *types, int32_t n,
                      FlSlot *results, FlIoError *e);

/* ---- files of a run ----------------------------------------------------------------------------------- */

typedef struct FlFolder {
  dev_t device;
  ino_t inode;
} FlFolder;
typedef struct FlSeen FlSeen; /* a file whose content is known: file_digest.c */
typedef struct FlWatch FlWatch;

enum { FL_FILE_CHAINS = 1024 };

struct FlFiles {
  pthread_mutex_t lock, library;
  FlSeen *at;
  size_t n, room;
  size_t chains[FL_FILE_CHAINS]; /* the last seen of each, + 1 */
  FlWatch *watched;              /* mapped inputs that are still in use: file_watch.c */
  int64_t maps;                  /* of them besides one each */
  struct FlOutput *outputs;      /* that are being written */
  FlFolder *cleaned;             /* folders without leftovers of outputs */
  size_t n_cleaned;
  char *changed;  /* the first that was written to until its last use; NULL: none */
  int64_t looked; /* nanoseconds of the clock when they were all looked at last; 0: never */
};

/* Tells that a reader has opened a file by this path: results that it goes into are stored only when it is
 * the one that was digested for their keys. */
void fl_files_opened(FlCtx *ctx, const char *path, const struct stat *found);

/* Watches a mapped input for as long as its buffer lives. */
void fl_file_watch(FlCtx *ctx, const FlInput *in, const char *path);
/* Whether n more mappings of a watched input may be made: they count until its buffer is freed. */
bool fl_file_watch_maps(const FlInput *in, int32_t n);
/* Before the run's files are freed: buffers may live longer. */
void fl_file_watch_end(FlFiles *files);

/* ---- outputs ------------------------------------------------------------------------------------------ */

/* A file being written: it appears whole or not at all. */
typedef struct FlOutput {
  FlCtx *ctx;
  const char *path;      /* as the script gave it: for messages */
  FlWholeFile file;      /* its temporary NULL: written as it stands */
  char *temporary;       /* its name, for who removes it while the file is being closed; NULL: none */
  FlBytes *memory;       /* not NULL: written there instead; `path` then says in messages what it is */
  struct FlOutput *next; /* of those that the run writes now */
} FlOutput;

/* Memory for what becomes a part of an output: it counts against --memory. */
FlBytes fl_output_bytes(const FlOutput *out);
/* false also where the run is to stop. */
bool fl_output_write(FlOutput *out, const void *bytes, size_t n, FlIoError *e);

/* Writes all of a file into `out`; false: *e says why. */
typedef bool FlPutFn(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e);
/* What an operator that writes the file `to` does: claims it for this run, opens it, has it filled by `put`,
 * and puts it in its place, whole; on failure the file is as it was and the error is recorded. */
FlStatus fl_io_write_file(FlCtx *ctx, const FlOpDesc *desc, FlText to, FlPutFn *put, void *what);

/* ---- types of columns of text: seen.c ----------------------------------------------------------------- */

/* What values of a column were seen to be. */
enum {
  FL_SEEN_BOOL = 1,
  FL_SEEN_INT = 2,
  FL_SEEN_FLOAT = 4,
  FL_SEEN_DATE = 8,
  FL_SEEN_DATETIME = 16,
  FL_SEEN_TEXT = 32,
  FL_SEEN_EMPTY = 64, /* null in any column */
  FL_SEEN_WORD = 128, /* null unless the column is text */
  FL_SEEN_DURATION = 256
};

/* The type that holds all of them: BOOL I64 F64 DATE DATETIME DURATION, else TEXT. */
FlDtype fl_io_seen_dtype(int seen);

/* ---- tables in memory, as formats give and take them ----------------------------------------------- */

/* A column that is written. */
typedef struct FlTableColumn {
  const char *name;
  int32_t name_len;
  const FlArray *values, *valid; /* valid NULL: no nulls */
  const FlArray *levels;         /* of a category, whose values are codes; else NULL */
} FlTableColumn;

/* A column that is wanted, by name. */
typedef struct FlTableWanted {
  const char *name;
  int32_t name_len;
  FlDtype dtype;
  bool nullable;
  bool arrays;             /* each row holds an array, of one size in all rows */
  bool coded;              /* texts may be codes alone (data/unwritten.h) where the reader knows these */
  int32_t width, place;    /* which column of a matrix of so many it is; width 0: it is an array of its own */
  FlArray *values, *valid; /* out: owned by the caller on success; valid NULL unless nullable */
  FlArray *levels;         /* out, of a category: texts, each once; values are then codes, i32 */
} FlTableWanted;

/* The column that an attribute of a reader names; those that all its attributes name, but the number of the
 * file: how many they are. */
FlTableWanted fl_table_wanted(const FlColumnAttr *a);
int32_t fl_table_wanted_all(const FlOpDesc *desc, FlTableWanted *to);
/* How many of the n columns from here on are of one matrix, or of none. */
int32_t fl_table_beside(const FlTableWanted *w, int32_t n);
/* The column that one of a writer names, from its arguments; returns those of the next. */
const FlSlot *fl_table_column(const FlColumnAttr *a, const FlSlot *args, FlTableColumn *c);
/* Makes the arrays of a column of `rows` rows; `size`: elements of each when w->arrays. false: no memory. */
bool fl_table_make(FlCtx *ctx, FlTableWanted *w, int64_t rows, int64_t size);
/* Lets go of what a column owns. */
void fl_table_wanted_reset(FlTableWanted *w);

/* The different texts among texts[0 .. n), as an array in the order in which they are met, or sorted, and
 * which of them each text is: codes[0 .. n), -1 for what is not valid. The array's texts are views of the
 * same bytes; it keeps `from` (may be NULL). NULL: out of memory. */
FlArray *fl_levels_find(FlCtx *ctx, const FlText *texts, const uint8_t *valid, int64_t n, bool sorted,
                        FlArray *from, int32_t *codes);

#endif
