/* read_table.c: what the operators that read tables do: one file or several as columns.
 *
 * In: a file or an array of files; columns "name:type" and options (io.h). The column "/" (no name with a
 * type) is the number of the file that each row is from. Out: the number of rows, the columns; then the
 * levels of those that are categories; of read_csv_some then the rows that were left out: how many, and of
 * each the file's number, line, column, reason and text. What always holds: files follow each other in the
 * order given; each must have all of the columns, by name. */
#include "io/csv_internal.h"
#include "io/many.h"
#include "data/data.h"
#include "exec/exec.h"
#include "part/dictionary.h"

#include <stdlib.h>
#include <string.h>

/* A column as the attributes name it; false: of no type that such files hold. */
static bool parse_wanted(const char *text, const FlTableReader *reader, FlTableWanted *w, FlIoError *e) {
  bool known = fl_table_wanted(text, w) && w->dtype != FL_LIST && w->dtype != FL_FILE &&
               (reader->exact ||
                (!w->arrays && (reader->durations || w->dtype != FL_DURATION) && w->dtype != FL_CATEGORY));
  return known || fl_io_error(e, FL_E_OPTION, "a column cannot be read as `%.80s`", text);
}

/* Names may be empty or hold any character, but a type follows them. */
static bool is_path(const char *column) { return strcmp(column, "/") == 0; }

/* All that one call reads: for each file n columns, its rows, and what was left out. */
typedef struct FlReading {
  FlSources from;
  int32_t n;                       /* columns of the files */
  FlTableWanted *wanted, *columns; /* what is wanted; of file k: columns[k * n ..] */
  int64_t *rows;
  FlCsvRejected *rejected; /* NULL: errors stop */
  FlArray **parts;         /* scratch of concat */
} FlReading;

static bool reading_init(FlReading *r, FlSources from, int32_t n, bool collect, FlIoError *e) {
  size_t files = (size_t)from.n + 1;
  *r = (FlReading){.from = from};
  r->wanted = calloc((size_t)n + 1, sizeof *r->wanted);
  r->columns = calloc(files * ((size_t)n + 1), sizeof *r->columns);
  r->rows = calloc(files, sizeof *r->rows);
  r->parts = calloc(files, sizeof *r->parts);
  if (collect) r->rejected = calloc(files, sizeof *r->rejected);
  return (r->wanted && r->columns && r->rows && r->parts && (!collect || r->rejected)) ||
         fl_io_error(e, FL_E_MEMORY, "out of memory");
}

static void reading_reset(FlReading *r) {
  for (int64_t k = 0; r->columns && k < r->from.n * r->n; k++) fl_table_wanted_reset(&r->columns[k]);
  for (int64_t k = 0; r->rejected && k < r->from.n; k++) fl_csv_rejected_reset(&r->rejected[k]);
  free(r->wanted);
  free(r->columns);
  free(r->rows);
  free(r->rejected);
  free(r->parts);
}

static FlStatus read_file(FlCtx *ctx, int32_t site, FlReading *r, int64_t k, const FlTableReader *reader) {
  FlIoError e = {0};
  FlText file = r->from.paths[k];
  FlTableWanted *columns = r->columns + k * r->n;
  char *path = fl_input_path(file, &e);
  FlStatus status = path ? fl_ctx_claim_input(ctx, site, file.ptr, file.len) : 0;
  memcpy(columns, r->wanted, (size_t)r->n * sizeof *columns);
  bool ok = path && !status;
  if (ok && r->rejected)
    ok = fl_csv_read(ctx, path, reader->options, fl_csv_scan_best(), FL_CSV_CHUNK, columns, r->n, &r->rows[k],
                     &r->rejected[k], &e);
  else if (ok) ok = reader->read(ctx, path, reader->options, columns, r->n, &r->rows[k], &e);
  if (!ok && !status) status = fl_io_fail(ctx, site, &e, file.ptr, file.len);
  if (status)
    for (int32_t c = 0; c < r->n; c++) /* freed already */
      columns[c].values = columns[c].valid = columns[c].levels = NULL;
  free(path);
  return status;
}

static int32_t values_dtype(FlDtype d) { return d == FL_CATEGORY ? FL_I32 : (int32_t)d; }

/* The levels of column c in all files, each once, in the order of the files; the codes become theirs. NULL:
 * out of memory. */
static FlArray *join_levels(FlCtx *ctx, FlReading *r, int32_t c) {
  FlTableWanted *columns = r->columns + c;
  if (r->from.n == 1) return fl_array_ref(columns->levels);
  for (int64_t k = 0; k < r->from.n; k++) r->parts[k] = columns[k * r->n].levels;
  FlArray *all = fl_many_concat(ctx, r->parts, r->from.n, FL_TEXT);
  if (!all) return NULL;
  int32_t *codes = fl_counted_new(fl_ctx_pool(ctx), ((size_t)all->dims[0] + 1) * sizeof *codes);
  FlArray *out = codes ? fl_levels_find(ctx, all->data, NULL, all->dims[0], false, all, codes) : NULL;
  const int32_t *now = codes;
  for (int64_t k = 0; out && k < r->from.n; now += columns[k++ * r->n].levels->dims[0]) {
    FlArray *values = columns[k * r->n].values;
    int64_t n = columns[k * r->n].levels->dims[0];
    for (int64_t i = 0; i < values->dims[0]; i++) {
      int32_t *code = (int32_t *)values->data + i;
      if (*code < n) *code = now[*code]; /* of a null among nothing but nulls there is no level */
    }
  }
  fl_counted_free(codes);
  fl_array_unref(all);
  return out;
}

/* Whether the arrays in the rows of column c have one size in all files. */
static bool same_sizes(const FlReading *r, int32_t c, FlIoError *e) {
  const FlTableWanted *w = &r->columns[c];
  for (int64_t k = 1; w->arrays && k < r->from.n; k++) {
    int64_t size = r->columns[k * r->n + c].values->dims[1];
    if (size != w->values->dims[1])
      return fl_io_error(
          e, FL_E_VALUE, "the arrays of column `%.*s` have %lld elements in `%.*s`, and %lld in `%.*s`",
          w->name_len, w->name, (long long)w->values->dims[1], (int)r->from.paths[0].len,
          r->from.paths[0].ptr, (long long)size, (int)r->from.paths[k].len, r->from.paths[k].ptr);
  }
  return true;
}

/* Column c of all files, or its validity. */
static FlArray *join_columns(FlCtx *ctx, FlReading *r, int32_t c, bool valid) {
  for (int64_t k = 0; k < r->from.n; k++) {
    FlTableWanted *w = &r->columns[k * r->n + c];
    r->parts[k] = valid ? w->valid : w->values;
  }
  return fl_many_concat(ctx, r->parts, r->from.n, valid ? FL_BOOL : values_dtype(r->wanted[c].dtype));
}

static FlArray *join_rejected(FlCtx *ctx, FlReading *r, int part) {
  for (int64_t k = 0; k < r->from.n; k++) {
    FlCsvRejected *one = &r->rejected[k];
    r->parts[k] = part == 0 ? one->line : part == 1 ? one->column : part == 2 ? one->reason : one->text;
  }
  return fl_many_concat(ctx, r->parts, r->from.n, part == 0 ? FL_I64 : FL_TEXT);
}

/* The results, in the order of the operator; texts of which there are few get codes. False: out of memory. */
static bool give(FlCtx *ctx, FlReading *r, const FlOpDesc *desc, FlSlot *results) {
  int64_t rows = 0;
  for (int64_t k = 0; k < r->from.n; k++) rows += r->rows[k];
  int32_t at = 0, column = 0, n_levels = 0;
  results[at++].i = rows;
  for (int32_t c = 0; c < r->n; c++) n_levels += r->wanted[c].dtype == FL_CATEGORY;
  for (int32_t c = 0, to = desc->n_results - n_levels; c < r->n; c++) /* first: it changes the codes */
    if (r->wanted[c].dtype == FL_CATEGORY) results[to++].a = join_levels(ctx, r, c);
  for (int32_t k = 0; k < (int32_t)desc->i; k++) {
    if (is_path(desc->list[k])) {
      results[at++].a = fl_many_index(ctx, r->rows, r->from.n);
      continue;
    }
    results[at++].a = join_columns(ctx, r, column, false);
    if (r->wanted[column].nullable) results[at++].a = join_columns(ctx, r, column, true);
    column++;
  }
  if (r->rejected) {
    int64_t n = 0;
    for (int64_t k = 0; k < r->from.n; k++) n += r->rows[k] = r->rejected[k].n;
    results[at++].i = n;
    results[at++].a = fl_many_index(ctx, r->rows, r->from.n);
    for (int part = 0; part < 4; part++) results[at++].a = join_rejected(ctx, r, part);
  }
  at += n_levels;
  bool ok = true;
  for (int32_t k = 0; k < at; k++) ok = ok && (desc->result_types[k].rank == 0 || results[k].a);
  for (int32_t k = 0; k < at; k++)
    if (ok && desc->result_types[k].rank) ok = fl_part_find_codes(ctx, results[k].a, false) == 0;
  for (int32_t k = 0; ok && k < at; k++)
    if (desc->result_types[k].rank && results[k].a->dtype == FL_TEXT) fl_buffer_rest(results[k].a->buffer);
  for (int32_t k = 0; !ok && k < at; k++)
    if (desc->result_types[k].rank) fl_array_unref(results[k].a);
  return ok;
}

static FlStatus read_all(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                         const FlTableReader *reader, bool collect) {
  FlIoError e = {0};
  FlReading r = {0};
  int32_t n = (int32_t)desc->i;
  bool ok = reading_init(&r, fl_sources_of(desc, args), n, collect, &e);
  for (int32_t k = 0; ok && k < n; k++)
    if (!is_path(desc->list[k])) ok = parse_wanted(desc->list[k], reader, &r.wanted[r.n++], &e);
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, "", 0);
  for (int64_t k = 0; !status && k < r.from.n; k++) status = read_file(ctx, desc->site, &r, k, reader);
  for (int32_t c = 0; !status && c < r.n; c++)
    if (!same_sizes(&r, c, &e)) status = fl_io_fail(ctx, desc->site, &e, "", 0);
  if (!status && !give(ctx, &r, desc, results))
    status = fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory while reading files");
  reading_reset(&r);
  return status;
}

FlStatus fl_read_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results,
                       const FlTableReader *reader) {
  return read_all(ctx, desc, args, results, reader, false);
}

static bool read_csv(FlCtx *ctx, const char *path, const void *options, FlTableWanted *wanted, int32_t n,
                     int64_t *n_rows, FlIoError *e) {
  return fl_csv_read(ctx, path, options, fl_csv_scan_best(), FL_CSV_CHUNK, wanted, n, n_rows, NULL, e);
}

FlStatus fl_rt_read_csv(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlIoError e = {0};
  FlCsvOptions o;
  int32_t n = (int32_t)desc->i;
  if (!fl_csv_options(desc->list + n, desc->n_list - n, &o, &e))
    return fl_io_fail(ctx, desc->site, &e, "", 0);
  return read_all(ctx, desc, args, results,
                  &(FlTableReader){.read = read_csv, .options = &o, .durations = true}, o.collect);
}

FlStatus fl_rt_read_csv_some(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_rt_read_csv(ctx, desc, args, results);
}
