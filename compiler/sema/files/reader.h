/* reader.h: files as values, for the functions that read them. */
#ifndef FL_READER_H
#define FL_READER_H

#include "sema/builtins/builtin.h"
#include "sema/call.h"

#include "io/io.h"

/* What a reader was given. `file.spelling` is a path that is known while compiling, whose content decides
 * types, or NULL. */
typedef struct FlReadFrom {
  FlVal file;  /* a file or file[_]; the ERROR value: reported */
  FlVal paths; /* text[_], of a table that `files` made; type NULL: none */
  FlSpan span;
} FlReadFrom;

/* The first argument of a reader: a file, a constant path, an array of files, or a table with a column `file`
 * (and perhaps `path`), as `files` gives. */
FlReadFrom fl_reader_source(FlSema *s, FlCallSite *c);
/* The same for readers of one file: a file or a constant path. */
FlVal fl_reader_file(FlSema *s, FlCallSite *c);

/* The argument `path = name` of a reader, if given: the name of the column that gets the path. false:
 * reported. */
bool fl_reader_path_name(FlSema *s, FlCallSite *c, FlActual *a, const FlReadFrom *source, const char **name);
/* That column: the path of file `index[i]` (i64[rows]) for each row. */
FlVal fl_reader_paths(FlSema *s, const FlReadFrom *source, FlValue *index, FlValue *rows);
/* The row type without a field. */
const FlType *fl_reader_without(FlSema *s, const FlType *row, const char *name);

/* Columns and options of operators on files and queries. */
typedef FlVec(FlColumnAttr) FlColumnVec;
typedef FlVec(FlOptionAttr) FlOptionVec;
/* Adds the options of a format that a call gives; `a`: the first of their parameters. false: reported. */
bool fl_reader_options(FlSema *s, const FlFormatInfo *format, FlActual *a, FlOptionVec *options);

/* A path whose content took part in compiling. */
void fl_reader_remember(FlSema *s, const char *path, FlSemaInputKind kind);
/* The first file that a pattern matches now, in the arena, or NULL; remembered. */
const char *fl_reader_first(FlSema *s, const char *pattern);
/* What is wrong with a file, at a place of the script. */
void fl_reader_report(FlSema *s, FlSpan span, const FlIoError *e);

/* The row type of columns that were found in a file or a result; the schema is given back. */
const FlType *fl_reader_row(FlSema *s, FlIoSchema *schema);
/* How an operator names a column that is read, written or handed over; false: there is no place for its type.
 * `arrays`: it may hold arrays of one size in a row (not of texts). */
bool fl_reader_column(const FlTyField *f, bool arrays, FlColumnAttr *out);

/* A stage of its own around one operator that gives a table: rows, then the columns of `row`. */
typedef struct FlOwnStage {
  const char *name; /* as progress shows it */
  FlOpcode op;
  const FlAttrs *attrs;
  int memo; /* as FlFunc */
  int n_args;
  FlValue **args;
  const FlType *row; /* texts, no categories */
} FlOwnStage;
FlVal fl_sema_own_stage(FlSema *s, const FlOwnStage *o, FlSpan span); /* own_stage.c */

#endif
