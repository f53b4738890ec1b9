/* world.h: what the meaning of a script depends on beside its text: other scripts, what is at the head of
 * data files, what a pattern matches first, C libraries.
 *
 * Sema opens no file itself: it asks a world, which an editor may replace by one that has texts nobody has
 * saved yet. What always holds: an answer is the same for as long as the digest of the path is. */
#ifndef FL_WORLD_H
#define FL_WORLD_H

#include "base/base.h"
#include "io/io.h"

/* What a path means to the program: an imported .flow file; a data file whose head decided a type; a pattern
 * whose first match did. */
typedef enum FlSemaInputKind { FL_INPUT_DATA, FL_INPUT_SOURCE, FL_INPUT_PATTERN } FlSemaInputKind;

typedef enum FlLibraryFound { FL_LIBRARY_HAS, FL_LIBRARY_LACKS, FL_LIBRARY_NONE } FlLibraryFound;

typedef struct FlWorld {
  void *env;
  /* Adds the text of a script, NUL-terminated, and stops once that is longer than `most` bytes. false: it
   * cannot be read. */
  bool (*read)(void *env, const char *path, size_t most, FlText1 *out);
  /* The path without links and dots; NULL: there is no such file. The caller's (free), as all texts here. */
  char *(*real)(void *env, const char *path);
  char *(*first)(void *env, const char *pattern); /* that matches; NULL: none */
  bool (*comes_once)(void *env,
                     const char *path); /* standard input, a pipe: nobody looks into it beforehand */
  /* What the program's meaning depends on of the path, as it is now: of files a sample (fl_file_sample), of a
   * pattern the first path. */
  FlDigest (*digest)(void *env, const char *path, FlSemaInputKind kind);
  /* The columns of a table and the arrays in a file, by the name of the reader, "read_csv"; the type of a
   * saved value, as in data/value_type.h; the columns of a query's result. As the functions of io/io.h; false
   * or NULL: *e says why. */
  bool (*schema)(void *env, const char *reader, const char *path, FlOptions options, FlIoSchema *out,
                 FlIoError *e);
  /* As fl_io_column_texts. */
  bool (*texts)(void *env, const char *reader, const char *path, FlOptions options,
                const FlColumnAttr *column, int32_t most, FlIoTexts *out);
  bool (*array)(void *env, const char *path, FlIoArray *out, FlIoError *e); /* fl_io_npy_type */
  bool (*arrays)(void *env, const char *reader, const char *path, FlIoArrays *out, FlIoError *e);
  char *(*saved)(void *env, const char *path, FlIoError *e);
  bool (*query)(void *env, const char *query, const FlColumnAttr *inputs, int32_t n, const char *const *paths,
                FlIoSchema *out, FlIoError *e);
  /* The content of a library that is named by its path; false: it cannot be read. And whether a library has a
   * function; NONE: it cannot be opened, `why` (FL_LIBRARY_WHY) says it. */
  bool (*library)(void *env, const char *path, FlDigest *content);
  FlLibraryFound (*function)(void *env, const char *library, const char *name, char *why);
} FlWorld;

/* The files of this machine. */
extern const FlWorld fl_world_here;

#endif
