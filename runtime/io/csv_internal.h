/* csv_internal.h: the parts of reading CSV.
 *
 * The way through: options -> input -> header -> count (per chunk, in parallel: quotes and line ends) ->
 * ranges of whole rows, with the number of the first row of each -> index (per range: where fields end) ->
 * fields, column by column. What always holds: chunks are cut by the file's size alone, ranges and row
 * numbers follow from the text, so that no result depends on chunks, workers or vector width. */
#ifndef FL_CSV_INTERNAL_H
#define FL_CSV_INTERNAL_H

#include "io/tables.h"

/* ---- options ------------------------------------------------------------------------------------------ */

enum { FL_CSV_NULLS = 32, FL_CSV_CHUNK = 256 * 1024 };

typedef enum FlCsvEncoding {
  FL_CSV_UTF8,
  FL_CSV_LATIN1,
  FL_CSV_WINDOWS, /* Windows-1252 */
  FL_CSV_UTF16LE,
  FL_CSV_UTF16BE
} FlCsvEncoding;

/* What may be found from a file's first rows. */
enum {
  FL_CSV_SEP = 1,
  FL_CSV_QUOTE = 2,
  FL_CSV_HEADER = 4,
  FL_CSV_DECIMAL = 8,
  FL_CSV_COMMENT = 16,
  FL_CSV_FRONT = 32, /* lines before the header */
  FL_CSV_DIALECT = 63
};

typedef struct FlCsvOptions {
  char sep, quote, decimal;
  char comment; /* begins lines that are left out; 0: none does */
  unsigned open,
      compiled; /* of FL_CSV_DIALECT: to be found in the file; found while compiling, to be compared */
  bool quoting, header, bad_is_null;
  FlCsvEncoding encoding;
  bool number_names; /* columns that are called as one before them get a number */
  bool collect;      /* rows with a problem are left out and told about */
  bool own_nulls;    /* `nulls` were given; else the usual ones */
  int64_t skip;
  int32_t n_nulls;
  FlText nulls[FL_CSV_NULLS]; /* point into the option texts */
  const char *dates;          /* NULL: ISO 8601; else into the option text */
} FlCsvOptions;

/* For reading: what is not given is open, and what is `found` was found while compiling. */
bool fl_csv_options(FlOptions options, FlCsvOptions *out, FlIoError *e);
/* For writing, and for files that are known to be written so: what is not given is usual. */
bool fl_csv_options_fixed(FlOptions options, FlCsvOptions *out, FlIoError *e);
FlIoCheckFn fl_csv_check;
FlIoSchemaFn fl_csv_schema;
extern const FlTableParts fl_csv_parts;
extern const FlTablePrograms fl_csv_programs;
/* Whether an unquoted field is null; `is_text`: in a column of texts. */
bool fl_csv_is_null(const FlCsvOptions *o, const char *s, int64_t len, bool is_text);

typedef enum FlCsvOutcome {
  FL_CSV_OK,
  FL_CSV_BAD_VALUE,
  FL_CSV_BAD_NULL,
  FL_CSV_STRAY_QUOTE, /* within a field that is not quoted */
  FL_CSV_BAD_QUOTE,   /* something stands behind a closing quote */
  FL_CSV_OPEN_QUOTE,  /* one never closes */
  FL_CSV_QUOTED_ROWS, /* what is quoted looks like rows */
  FL_CSV_BAD_UTF8,
  FL_CSV_MAYBE_COMMENT,
  FL_CSV_TOO_FEW,
  FL_CSV_TOO_MANY,
  FL_CSV_NO_MEMORY,
  FL_CSV_TOO_LONG,
  FL_CSV_CHANGED /* the text is not what was counted */
} FlCsvOutcome;

/* ---- scanning ----------------------------------------------------------------------------------------- */

/* The quotes of a chunk, under the assumption that it begins outside of quotes, or inside. */
typedef struct FlCsvQuotes {
  bool bad;            /* one stands where it may not: the assumption or the text is wrong */
  bool closed;         /* a quoted field ends */
  int64_t first, rest; /* line ends inside of quotes, before the first such end and behind the last */
  int64_t most;        /* the most of them in one field, as far as it is in the chunk */
} FlCsvQuotes;

/* A chunk seen without knowing whether it begins inside of quotes: [0] if outside, [1] if inside. */
typedef struct FlCsvCount {
  int64_t lines[2];    /* line ends outside of quotes */
  int64_t last[2];     /* offset of the last of them, -1: none */
  FlCsvQuotes seen[2]; /* once `bad`, the rest of it says nothing */
  bool odd;            /* an odd number of quotes */
  bool quotes;         /* any quote */
  bool wide;           /* any byte above 127 */
} FlCsvCount;

/* F64, I64, DATE and TEXT have fast ways; OTHER covers everything, SKIP is a column that nobody wants. */
typedef enum FlCsvKind {
  FL_CSV_SKIP,
  FL_CSV_F64,
  FL_CSV_I64,
  FL_CSV_DATE,
  FL_CSV_TEXT,
  FL_CSV_OTHER,
  FL_CSV_KINDS
} FlCsvKind;

/* The fields of one column in rows that all have as many: field i lies between ends[i * stride - 1] and
 * ends[i * stride]. */
typedef struct FlCsvCells {
  const char *s;
  const uint32_t *ends;
  int64_t stride, n;
  bool last;   /* a carriage return at their ends is not theirs */
  bool quotes; /* some may be in quotes */
  bool check;  /* of texts it is to be seen whether they are ASCII, without quotes */
  char quote;
} FlCsvCells;

static inline FlText fl_csv_cell(const FlCsvCells *c, int64_t i) {
  const uint32_t *end = c->ends + i * c->stride;
  uint32_t begin = end[-1] + 1;
  int64_t len = (int64_t)*end - begin;
  if (c->last && len && c->s[begin + len - 1] == '\r') len--;
  return (FlText){c->s + begin, len};
}

/* Takes fields from number `from` on to values[from ..], up to the first that is left to fl_csv_field: which
 * that is; n: all were taken. */
typedef int64_t FlCsvTaker(const FlCsvCells *c, void *values, int64_t from);
typedef FlCsvTaker *const FlCsvTakers[FL_CSV_KINDS];
extern FlCsvTakers fl_csv_take_words, fl_csv_take_vectors;

/* At least 64 bytes must be readable behind the text. A quote of -1: no quoting. before: the byte in front of
 * s, or a line end where the text begins. */
typedef struct FlCsvScan {
  const char *name;
  void (*count)(const char *s, int64_t n, char sep, int quote, char before, FlCsvCount *out);
  /* Offsets of separators and line ends outside of quotes, in order; s begins outside. `out` has room for n
   * + 64. lines: how many are line ends. */
  int64_t (*index)(const char *s, int64_t n, char sep, int quote, uint32_t *out, int64_t *lines);
  FlCsvTaker *const *take; /* by kind of column; NULL: none */
} FlCsvScan;
const FlCsvScan *fl_csv_scan_best(void);
/* The k-th way that this CPU can, all with the same results; NULL: no more. */
const FlCsvScan *fl_csv_scan_at(int k);

/* ---- the text and its header ----------------------------------------------------------------------- */

/* Where names are among the columns: csv_names.c. */
typedef struct FlCsvNames {
  uint64_t mask;
  int32_t *slot;  /* [mask + 1] 0, or a column + 1 */
  int32_t *again; /* [n_columns] the second column of the name of a first one; 0: none */
  int32_t twice;  /* the first column that is called as one before it; 0: none */
} FlCsvNames;

typedef struct FlCsvFile {
  FlInput input;
  FlCsvOptions options; /* with what was open found; `open` still says what that was */
  const char *path;
  const char *text; /* ends with a line end, then at least 64 readable bytes */
  int64_t len;
  int64_t body; /* where the data rows begin */
  int32_t n_columns;
  char **names;    /* NUL-terminated; own */
  bool bare_names; /* some name of the header is not in quotes */
  FlCsvNames index;
  FlBuffer *keep; /* owns `text` */
  bool rests;     /* what has been passed over need not stay in memory */
} FlCsvFile;

/* ---- rows by the rule of quotes: csv_quotes.c -------------------------------------------------------- */

typedef struct FlCsvWay {
  char sep, quote;   /* sep 0: any that may be found; quote 0: none */
  bool returns;      /* a carriage return alone ends a line, too */
  int32_t n_columns; /* 0: quoted fields may hold whatever they like */
} FlCsvWay;

typedef struct FlCsvRow {
  int64_t begin, end; /* end: its line feed */
  FlCsvOutcome why;   /* OK, or why its quotes do not fit: then it is its first line, one field */
  int64_t at;         /* where the field begins whose quotes do not fit */
  int32_t n_fields, column;
} FlCsvRow;

/* Where fields end within [begin, end), as offsets from begin. */
typedef struct FlCsvEnds {
  int64_t begin, end;
  uint32_t *at;
} FlCsvEnds;

/* n_columns 0: they are not known yet. Where the script says which quotes there are, any may hold rows. */
FlCsvWay fl_csv_way(const FlCsvOptions *o, int32_t n_columns);
/* From so many line ends on a quoted field might hold rows. */
int64_t fl_csv_most_lines(FlCsvWay way);
/* The row at `at` of a text that ends with a line feed. ends: gets where its fields do; may be NULL. */
FlCsvRow fl_csv_row_at(const char *text, int64_t len, FlCsvWay way, int64_t at, FlCsvEnds *ends);
/* Of all rows that end before `end`, as FlCsvScan's index gives them where quotes fit. Returns how many ends.
 */
int64_t fl_csv_index_rows(const FlCsvFile *f, FlCsvWay way, int64_t begin, int64_t end, uint32_t *ends);
/* Whether the quotes of a chunk that begins with a row and ends with one fit, without a closer look. */
bool fl_csv_fits(const FlCsvCount *c, FlCsvWay way);

/* Sets text, len and keep from the input's bytes. */
bool fl_csv_decode(FlCtx *ctx, FlCsvFile *f, const FlCsvOptions *o, FlIoError *e);
/* A name or a field [at, at + len) that is not UTF-8; returns false. */
bool fl_csv_not_utf8(const FlCsvFile *f, const char *column, int64_t at, int64_t len, FlIoError *e);
/* Shortens bytes that are the first part of a file to whole lines; false: there is none. */
bool fl_csv_cut(FlInput *in, const FlCsvOptions *o);
/* Finds in the text from `at` on what `o` leaves open, and compares what was found while compiling. */
bool fl_csv_find_dialect(const FlCsvFile *f, FlCsvOptions *o, int64_t at, FlIoError *e);
/* How many lines from `at` on stand before the header, where nothing else explains the file; else 0. */
int64_t fl_csv_find_skip(const FlCsvFile *f, const FlCsvOptions *o, int64_t at);
/* What was open in `given`, as options for later: "?sep=;". Returns how many. */
int32_t fl_csv_dialect_options(const FlCsvOptions *given, const FlCsvOptions *o,
                               FlIoFound out[FL_IO_DIALECT]);
/* Overwrites the quotes in the body's comments. */
bool fl_csv_hide_comments(FlCtx *ctx, FlCsvFile *f, FlIoError *e);
/* Makes the text a copy that may be changed, if it is not: pages of a mapped file may be dropped at any time.
 */
bool fl_csv_own_text(FlCtx *ctx, FlCsvFile *f, FlIoError *e);
/* What a field may be: FL_SEEN_* of one value; 0: its quotes do not fit. */
int fl_csv_class(const FlCsvOptions *o, const char *s, int64_t len);
bool fl_csv_open(FlCtx *ctx, const char *path, const FlCsvOptions *o, FlCsvFile *f, FlIoError *e);
/* Takes over `in`, closed on failure. */
bool fl_csv_open_input(FlCtx *ctx, FlInput *in, const char *path, const FlCsvOptions *o, FlCsvFile *f,
                       FlIoError *e);
void fl_csv_close(FlCsvFile *f);
/* Makes f->index of f->names; part of opening. */
bool fl_csv_index_names(FlCsvFile *f, FlIoError *e);
/* false: two columns have one name. */
bool fl_csv_names_differ(const FlCsvFile *f, FlIoError *e);
/* The column that is wanted; false: none or two have its name. */
bool fl_csv_find_column(const FlCsvFile *f, const FlTableWanted *w, int32_t *out, FlIoError *e);
/* Lines before an offset, plus one. */
int64_t fl_csv_line_at(const FlCsvFile *f, int64_t offset);

/* ---- fields ------------------------------------------------------------------------------------------- */

/* What is done with one column of the file. */
typedef struct FlCsvStep {
  FlCsvKind kind;
  int32_t dtype;
  bool nullable;
  void *values;
  uint8_t *valid; /* NULL unless nullable */
} FlCsvStep;

typedef struct FlCsvPlan {
  const FlCsvOptions *options;
  const FlCsvScan *scan;
  FlCsvStep *steps; /* one a column of the file */
  int32_t n_columns;
  FlHeap *heap; /* of texts that had doubled quotes */
} FlCsvPlan;

/* One field in full generality; the fast ways of csv_cells.c end here for whatever is unusual. */
FlCsvOutcome fl_csv_field(const FlCsvPlan *plan, const FlCsvStep *step, const char *s, int64_t len,
                          int64_t row);
/* The contents of a quoted field [s, s + len) that begins with the quote; false: not closed at its end, or a
 * single quote inside. `doubled`: it holds doubled quotes, which `out` still has. */
bool fl_csv_unquote(const char *s, int64_t len, char quote, FlText *out, bool *doubled);
/* A value of a type from the bare text of a field; false: it does not fit. Stores at values[row]. */
bool fl_csv_store(const FlCsvOptions *o, int32_t dtype, void *values, int64_t row, const char *s,
                  int64_t len);

/* ---- rows --------------------------------------------------------------------------------------------- */

/* A row that was left out: its first problem, at [at, at + len) of the text. */
typedef struct FlCsvReject {
  FlCsvOutcome outcome;
  int64_t at, len;
  int32_t column, n_found; /* n_found: fields in a ragged row */
} FlCsvReject;

/* Whole rows [begin, end) of the text. */
typedef struct FlCsvRange {
  int64_t begin, end, first_row, n_rows; /* n_rows: line ends; less when some lines are blank */
  bool quotes, wide;
  bool broken;    /* the quotes of some rows may not fit: fl_csv_index_rows tells */
  int64_t parsed; /* rows found */
  /* the first problem */
  FlCsvOutcome outcome;
  int64_t bad_at, bad_len, bad_row; /* the field; row within the range */
  int64_t bad_quote;                /* quotes that do not fit: where the field begins; bad_at: the row */
  int32_t bad_column, n_found;      /* n_found: fields in a ragged row */
  FlCsvReject *rejects;             /* own; only with the option collect */
  int64_t n_rejects, room;
} FlCsvRange;

/* Rows of a file that were left out, as columns; owned by the caller. */
bool fl_csv_rejected(FlCtx *ctx, const FlCsvFile *f, const FlCsvPlan *plan, const FlCsvRange *ranges,
                     int32_t n, FlRejected *out, FlIoError *e);

/* How many positions a range of so many bytes needs. */
static inline int64_t fl_csv_positions(int64_t bytes) { return bytes + 65; }
/* Parses a range; `positions` has room for fl_csv_positions of its bytes. */
void fl_csv_rows(const FlCsvPlan *plan, const FlCsvFile *f, FlCsvRange *range, uint32_t *positions);

/* A body that is being cut into ranges: csv_ranges.c. NULL: out of memory (e). */
typedef struct FlCsvCuts FlCsvCuts;
FlCsvCuts *fl_csv_cuts_new(const FlCsvFile *f, const FlCsvOptions *o, const FlCsvScan *scan, int64_t chunk,
                           FlIoError *e);
void fl_csv_cuts_free(FlCsvCuts *c);
int64_t fl_csv_chunks(const FlCsvCuts *c);
/* The ranges that end within chunks [from, to), which belong to the cuts; any thread. */
const FlCsvRange *fl_csv_ranges_of(FlCsvCuts *c, int64_t from, int64_t to, int32_t *n);
/* All of them, when nobody else asks, and how many rows there are. */
FlCsvRange *fl_csv_ranges_all(FlCtx *ctx, FlCsvCuts *c, int32_t *n, int64_t *n_rows);

/* Arrays of n_rows rows for the wanted columns, and the plan's steps that fill them; a column that the file
 * lacks is an error. */
bool fl_csv_steps(FlCtx *ctx, const FlCsvFile *f, FlCsvPlan *plan, FlTableWanted *wanted, int32_t n,
                  int64_t n_rows, FlIoError *e);
/* Blank lines leave gaps between the ranges' rows: moves the rows together. Returns how many there are. */
int64_t fl_csv_close_gaps(const FlCsvRange *ranges, int32_t n, FlTableWanted *wanted, int32_t n_wanted);

/* Arrays of `most` rows for the wanted columns, filled from the ranges, in parallel; fl_csv_close_gaps is
 * still to come. */
bool fl_csv_read_ranges(FlCtx *ctx, const FlCsvFile *f, FlCsvPlan *plan, FlCsvRange *ranges, int32_t n,
                        int64_t most, FlTableWanted *wanted, int32_t n_wanted, FlIoError *e);

/* Reads the wanted columns. chunk: FL_CSV_CHUNK but in tests. rejected: with the option collect, else NULL.
 */
bool fl_csv_read(FlCtx *ctx, const char *path, const FlCsvOptions *o, const FlCsvScan *scan, int64_t chunk,
                 FlTableWanted *wanted, int32_t n_wanted, int64_t *n_rows, FlRejected *rejected,
                 FlIoError *e);
/* The same from bytes, which messages call `label`. `in` is closed in any case. */
bool fl_csv_read_bytes(FlCtx *ctx, FlInput *in, const char *label, const FlCsvOptions *o,
                       FlTableWanted *wanted, int32_t n_wanted, int64_t *n_rows, FlIoError *e);

/* ---- writing ------------------------------------------------------------------------------------------ */

/* A table as CSV, added to `to`, which messages call `label`. */
bool fl_csv_encode(FlCtx *ctx, const FlCsvOptions *o, const FlTableColumn *columns, int32_t n_columns,
                   int64_t n_rows, const char *label, FlBytes *to, FlIoError *e);

#endif
