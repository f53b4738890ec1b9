/* record.h: what is left of a script's last run, as data: written by runs, read by all who speak of them.
 *
 *   record := FL_RECORD_HEAD run sum* FL_RECORD_BEFORE call*       sum*: the runs before, the latest first
 *   run    := sum (file | read | made | stage | note | place | rows cells*)*
 *   sum    := "run" began state status ns peak workers source run cached failed (name '=' value)*
 *             began: microseconds since 1970; state: running, ended, failed, stopped; peak: bytes; source: digest of the texts;
 *             then how many stage calls ran, were cached, failed; notes, the last value of each name
 *   file   := "file" path                              of the source, numbered from 0
 *   read   := "read" bytes mtime path                  a data file; nanoseconds since 1970
 *   made   := "made" stage (function '=' digest)*      the functions that a stage is made of, itself first
 *   stage  := "stage" stage how kept worker begin ns rows-in rows-out bytes held file line digest arg*
 *             how: run, cached, failed, running; kept: FlStageKept; digest: of its code
 *   arg    := digest (':' name ('=' value)?)?          of its content; value: as people read it
 *   note   := "note" stage ns name value               stage: which of the calls above; -1: the script
 *   place  := "place" operator file line column length callers text calls ns rows-in rows-out bytes held moved
 *             callers: "line:column", joined by commas, of the calls that it came by; "-": none
 *             text: fl_record_line of its line; loops are the operator "loop"
 *             held: the most bytes that the run held while one of them ran, in blocks of its pool of memory
 *             (64 KiB and more each, none in files), whoever took them; of stages -1: not known
 *             moved: bytes that they read and wrote, as exec/moved.h counts them; -1: not known of some
 *   rows   := "rows" kind file line column length callers text n columns stage looped
 *             a table as the text gives it there, where that is once in the script or a stage call; kind:
 *             step, of a pipe (the call behind its |>), or let, at the top; n: its rows; columns: how many it
 *             has; stage: which of the calls above, -1: the script; looped: 1: it is of the first round of
 *             each loop that it is in, 0: it is in none
 *   cells  := "cells" column name type cell*           column: which of the table, from 0; its first rows
 *   cell   := text "="?                                of texts and categories; "=" behind it: it is cut
 *           | digits                                   the bytes of another value as a number, hexadecimal
 *           | "="                                      null
 *           | ":"                                      not known
 *   call   := made | stage                             of the run before
 *   then FL_RECORD_SHOWN and what was shown (exec/shown.h), which is no text
 *
 * Words stand between single blanks; blanks, % and control characters in them are %20 and the like. Rows are
 * -1 where the operator gives none. ns are of the threads that did it, added up. */
#ifndef FL_RECORD_H
#define FL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FL_RECORD_HEAD "flow run 5\n"
#define FL_RECORD_BEFORE "---\n"
#define FL_RECORD_SHOWN "===\n"

enum {
  FL_RECORD_PLACES = 2000,
  FL_RECORD_STAGES = 10000,
  FL_RECORD_NOTES = 500,
  FL_RECORD_FILES = 500,
  FL_RECORD_RUNS = 20,
  FL_RECORD_ROWS = 20,             /* of a table, the first */
  FL_RECORD_CELL = 80,             /* bytes of a text, at most */
  FL_RECORD_ROWS_BYTES = 256 << 10 /* of the lines of all rows and cells together */
};

typedef struct FlRecordPair {
  const char *name, *value;
} FlRecordPair;

typedef struct FlRecordSum {
  int64_t began, ns, peak;
  const char *state, *source; /* state: running, ended, failed, stopped */
  int status, workers, run, cached, failed, n_notes;
  FlRecordPair *notes;
} FlRecordSum;

typedef struct FlRecordRead {
  int64_t bytes, mtime;
  const char *path;
} FlRecordRead;

typedef struct FlRecordMade {
  const char *stage;
  FlRecordPair *functions; /* name, digest */
  int n;
} FlRecordMade;

typedef struct FlRecordArg {
  const char *digest, *name, *value; /* name, value: or NULL */
} FlRecordArg;

typedef struct FlRecordStage {
  const char *name, *how, *kept, *code;
  int64_t begin, ns, rows_in, rows_out, bytes, held;
  int worker, file, line, n_args;
  FlRecordArg *args;
} FlRecordStage;

typedef struct FlRecordNote {
  int stage;
  int64_t at;
  const char *name, *value;
} FlRecordNote;

typedef struct FlRecordPlace {
  const char *op, *callers;
  int file, line, column, length;
  uint64_t text;
  int64_t calls, ns, rows_in, rows_out, bytes, held, moved;
} FlRecordPlace;

typedef struct FlRecordCell {
  const char *text; /* as people read it; NULL: null, or not known */
  bool null, cut;
} FlRecordCell;

typedef struct FlRecordColumn {
  const char *name, *type;
  char **words;        /* its cells, as they stand there */
  FlRecordCell *cells; /* NULL: nobody has read them (fl_last_run_cells of exec/last_run.h) */
  int at, n;
} FlRecordColumn;

typedef struct FlRecordRows {
  const char *callers;
  int file, line, column, length;
  uint64_t text;
  int64_t n;
  bool let, looped;
  int of, n_columns; /* the table has; are here */
  int stage;         /* of `now`; -1: the script */
  FlRecordColumn *columns;
} FlRecordRows;

typedef struct FlRecordCalls {
  FlRecordMade *made;
  FlRecordStage *stages;
  int n_made, n_stages;
} FlRecordCalls;

typedef struct FlRecord {
  FlRecordSum *runs; /* the first is the run itself */
  const char **files;
  FlRecordRead *reads;
  FlRecordNote *notes;
  FlRecordPlace *places;
  FlRecordRows *rows;
  FlRecordCalls now, before;
  int n_runs, n_files, n_reads, n_notes, n_places, n_rows;
  struct FlRecordMemory *memory;
} FlRecord;

/* NULL: it is no record of this version, or there is no memory. Lines that are no such lines are left out. */
FlRecord *fl_record_read(const char *bytes, size_t len);
void fl_record_free(FlRecord *record); /* NULL is allowed */
/* Memory that lives as long as the record, zeros; NULL: there is none. */
void *fl_record_room(FlRecord *record, size_t bytes);
/* A word without its %20, in place. */
char *fl_record_plain(char *word);

/* What stays of a record in that of the run after it, as its lines are: its runs, but the oldest, and its
 * calls. Nothing of a record of another version. */
void fl_record_put_runs(FILE *f, const char *record, size_t len);
void fl_record_put_calls(FILE *f, const char *record, size_t len);

/* The digest of a line of the source, but for blanks around it (FNV-1a). */
uint64_t fl_record_line(const char *text, size_t len);

#endif
