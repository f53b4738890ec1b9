/* read_table.c: the operators read_table and read_table_some: files of any format as columns.
 *
 * In: a file or an array of files; the columns that are wanted, of which `file` is the number of the file
 * that each row is from; options (io.h); the format says who reads. Out: the number of rows, the columns;
 * then the levels of those that are categories; of read_table_some then the rows that were left out: how
 * many, and of each the file's number, line, column, reason and text. What always holds: files follow each
 * other in the order given; each must have all of the columns, by name. */
#include "io/many.h"
#include "io/tables.h"
#include "data/unwritten.h"
#include "exec/exec.h"
#include "part/dictionary.h"
#include "part/fill.h"

#include <stdlib.h>
#include <string.h>

/* All that one call reads: for each file n columns, its rows, and what was left out. */
typedef struct FlReading {
  FlSources from;
  int32_t n;                       /* columns of the files */
  FlTableWanted *wanted, *columns; /* what is wanted; of file k: columns[k * n ..] */
  int64_t *rows;
  FlRejected *rejected; /* NULL: errors stop */
  FlArray **parts;      /* scratch of concat */
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

void fl_rejected_reset(FlRejected *r) {
  fl_array_unref(r->line);
  fl_array_unref(r->column);
  fl_array_unref(r->reason);
  fl_array_unref(r->text);
  *r = (FlRejected){0};
}

static void reading_reset(FlReading *r) {
  for (int64_t k = 0; r->columns && k < r->from.n * r->n; k++) fl_table_wanted_reset(&r->columns[k]);
  for (int64_t k = 0; r->rejected && k < r->from.n; k++) fl_rejected_reset(&r->rejected[k]);
  free(r->wanted);
  free(r->columns);
  free(r->rows);
  free(r->rejected);
  free(r->parts);
}

static FlStatus read_file(FlCtx *ctx, int32_t site, FlReading *r, int64_t k, const FlTableReader *reader,
                          FlTableFrom from) {
  FlIoError e = {0};
  FlText file = r->from.paths[k];
  FlTableWanted *columns = r->columns + k * r->n;
  char *path = fl_input_path(file, &e);
  FlStatus status = path ? fl_ctx_claim_input(ctx, site, file.ptr, file.len) : 0;
  memcpy(columns, r->wanted, (size_t)r->n * sizeof *columns);
  bool ok = path && !status;
  from.path = path;
  from.rejected = r->rejected ? &r->rejected[k] : NULL;
  ok = ok && fl_table_read(ctx, reader, &from, columns, r->n, &r->rows[k], &e);
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
    FlRejected *one = &r->rejected[k];
    r->parts[k] = part == 0 ? one->line : part == 1 ? one->column : part == 2 ? one->reason : one->text;
  }
  return fl_many_concat(ctx, r->parts, r->from.n, part == 0 ? FL_I64 : FL_TEXT);
}

/* Texts that have codes are these alone from now on: who read them wrote all. Not under a null, where texts
 * are empty and codes are any. */
static void leave_codes(FlCtx *ctx, const FlOpDesc *desc, FlSlot *column) {
  FlArray *a = column->a;
  const void *codes;
  const FlTextCodes *known = fl_text_codes(a, &codes);
  bool all = a->rank == 1 && a->data == a->buffer->data;
  if (!known || !all || a->dims[0] < fl_unwritten_from() || !fl_part_gives_codes(ctx, desc)) return;
  FlArray *alone = fl_array_new_coded(ctx, a->dims[0], a, known, known->codes);
  if (!alone) return;
  fl_array_unref(a);
  column->a = alone;
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
  for (int32_t k = 0; k < desc->n_columns; k++) {
    if (desc->columns[k].flags & FL_COLUMN_FILE) {
      results[at++].a = fl_many_index(ctx, r->rows, r->from.n);
      continue;
    }
    if (!r->wanted[column].place) results[at++].a = join_columns(ctx, r, column, false);
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
  for (int32_t k = 0, c = 1; ok && k < desc->n_columns; k++) {
    int32_t n = fl_column_results(&desc->columns[k]);
    if (n == 1 && results[c].a->dtype == FL_TEXT) leave_codes(ctx, desc, &results[c]);
    c += n;
  }
  for (int32_t k = 0; !ok && k < at; k++)
    if (desc->result_types[k].rank) fl_array_unref(results[k].a);
  return ok;
}

static FlStatus read_all(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool some) {
  FlIoError e = {0};
  FlReading r = {0};
  const FlTableReader *reader = desc->format;
  FlTableFrom from = {.options = {desc->options, desc->n_options}};
  bool ok = reading_init(&r, fl_sources_of(desc, args), desc->n_columns, some, &e);
  if (ok) r.n = fl_table_wanted_all(desc, r.wanted);
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, "", 0);
  for (int64_t k = 0; !status && k < r.from.n; k++) status = read_file(ctx, desc->site, &r, k, reader, from);
  for (int32_t c = 0; !status && c < r.n; c++)
    if (!same_sizes(&r, c, &e)) status = fl_io_fail(ctx, desc->site, &e, "", 0);
  if (!status && !give(ctx, &r, desc, results))
    status = fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory while reading files");
  reading_reset(&r);
  return status;
}

FlStatus fl_rt_read_table(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlOpPart *some = fl_ctx_op_part(ctx);
  if (some) return fl_table_rows(ctx, desc, args, some);
  return read_all(ctx, desc, args, results, false);
}

FlStatus fl_rt_read_table_some(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return read_all(ctx, desc, args, results, true);
}
