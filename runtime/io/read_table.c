/* read_table.c: the operators read_csv, read_csv_some and read_json: one file or several as columns.
 *
 * In: a file or an array of files; columns "name:type" and options (io.h). A column ":i64" is the number of
 * the file that each row is from. Out: the number of rows, the columns; of read_csv_some then the rows that
 * were left out: how many, and of each the file's number, line, column, reason and text. What always holds:
 * files follow each other in the order given; each must have all of the columns, by name. */
#include "io/csv_internal.h"
#include "io/json_internal.h"
#include "io/many.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

/* A column as the attributes name it; false: of no type that such files hold. */
static bool parse_wanted(const char *text, FlTableWanted *w, FlIoError *e) {
  bool known = fl_table_wanted(text, w) && !w->arrays && w->dtype != FL_LIST && w->dtype != FL_FILE &&
               w->dtype != FL_DURATION;
  return known || fl_io_error(e, FL_E_OPTION, "a column cannot be read as `%.80s`", text);
}

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
  for (int64_t k = 0; r->columns && k < r->from.n * r->n; k++) {
    fl_array_unref(r->columns[k].values);
    fl_array_unref(r->columns[k].valid);
  }
  for (int64_t k = 0; r->rejected && k < r->from.n; k++) fl_csv_rejected_reset(&r->rejected[k]);
  free(r->wanted);
  free(r->columns);
  free(r->rows);
  free(r->rejected);
  free(r->parts);
}

/* `o`: of a CSV file; NULL: the file is JSON. */
static FlStatus read_file(FlCtx *ctx, int32_t site, FlReading *r, int64_t k, const FlCsvOptions *o) {
  FlIoError e = {0};
  FlText file = r->from.paths[k];
  FlTableWanted *columns = r->columns + k * r->n;
  char *path = fl_input_path(file, &e);
  FlStatus status = path ? fl_ctx_claim_input(ctx, site, file.ptr, file.len) : 0;
  memcpy(columns, r->wanted, (size_t)r->n * sizeof *columns);
  bool ok = path && !status;
  if (ok && o)
    ok = fl_csv_read(ctx, path, o, fl_csv_scan_best(), FL_CSV_CHUNK, columns, r->n, &r->rows[k],
                     r->rejected ? &r->rejected[k] : NULL, &e);
  else if (ok) ok = fl_json_read(ctx, path, columns, r->n, &r->rows[k], &e);
  if (!ok && !status) status = fl_io_fail(ctx, site, &e, file.ptr, file.len);
  if (status)
    for (int32_t c = 0; c < r->n; c++) columns[c].values = columns[c].valid = NULL; /* freed already */
  free(path);
  return status;
}

/* Column c of all files, or its validity. */
static FlArray *join_columns(FlCtx *ctx, FlReading *r, int32_t c, bool valid) {
  for (int64_t k = 0; k < r->from.n; k++) {
    FlTableWanted *w = &r->columns[k * r->n + c];
    r->parts[k] = valid ? w->valid : w->values;
  }
  return fl_many_concat(ctx, r->parts, r->from.n, valid ? FL_BOOL : (int32_t)r->wanted[c].dtype);
}

static FlArray *join_rejected(FlCtx *ctx, FlReading *r, int part) {
  for (int64_t k = 0; k < r->from.n; k++) {
    FlCsvRejected *one = &r->rejected[k];
    r->parts[k] = part == 0 ? one->line : part == 1 ? one->column : part == 2 ? one->reason : one->text;
  }
  return fl_many_concat(ctx, r->parts, r->from.n, part == 0 ? FL_I64 : FL_TEXT);
}

/* The results, in the order of the operator; false: out of memory. */
static bool give(FlCtx *ctx, FlReading *r, const FlOpDesc *desc, FlSlot *results) {
  int64_t rows = 0;
  for (int64_t k = 0; k < r->from.n; k++) rows += r->rows[k];
  int32_t at = 0, column = 0;
  results[at++].i = rows;
  for (int32_t k = 0; k < (int32_t)desc->i; k++) {
    if (desc->list[k][0] == ':') {
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
  bool ok = true;
  for (int32_t k = 0; k < at; k++) ok = ok && (desc->result_types[k].rank == 0 || results[k].a);
  for (int32_t k = 0; !ok && k < at; k++)
    if (desc->result_types[k].rank) fl_array_unref(results[k].a);
  return ok;
}

static FlStatus read_all(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool csv) {
  FlIoError e = {0};
  FlCsvOptions o;
  FlReading r = {0};
  int32_t n = (int32_t)desc->i;
  bool ok = !csv || fl_csv_options(desc->list + n, desc->n_list - n, &o, &e);
  ok = ok && reading_init(&r, fl_sources_of(desc, args), n, csv && o.collect, &e);
  for (int32_t k = 0; ok && k < n; k++)
    if (desc->list[k][0] != ':') ok = parse_wanted(desc->list[k], &r.wanted[r.n++], &e);
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, "", 0);
  for (int64_t k = 0; !status && k < r.from.n; k++)
    status = read_file(ctx, desc->site, &r, k, csv ? &o : NULL);
  if (!status && !give(ctx, &r, desc, results))
    status = fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory while reading files");
  reading_reset(&r);
  return status;
}

FlStatus fl_rt_read_csv(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return read_all(ctx, desc, args, results, true);
}

FlStatus fl_rt_read_csv_some(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return read_all(ctx, desc, args, results, true);
}

FlStatus fl_rt_read_json(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return read_all(ctx, desc, args, results, false);
}
