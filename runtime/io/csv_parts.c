/* csv_parts.c: CSV files that are read part by part (table_parts.c).
 *
 * What always holds: parts come from the file alone: the rows that end in some chunks each. */
#include "io/csv_internal.h"
#include "io/tables.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

enum {
  FL_CHUNKS_A_PART = 4,
  FL_RANGES_A_PART = FL_CHUNKS_A_PART + 1, /* at most: of an open quote there is another */
  FL_PARTS_AT_HAND = 16                    /* of which texts may be in use */
};

typedef struct CsvParts {
  FlCsvFile file;
  bool is_open;
  char *path;
  FlCsvCuts *cuts;
} CsvParts;

static void close_parts(void *file) {
  CsvParts *p = file;
  fl_csv_cuts_free(p->cuts);
  if (p->is_open) fl_csv_close(&p->file);
  free(p->path);
  free(p);
}

/* What parsing needs, for so many columns. To be reset in any case. */
static bool make_plan(FlCtx *ctx, const CsvParts *p, FlCsvPlan *plan, FlIoError *e) {
  *plan = (FlCsvPlan){&p->file.options, fl_csv_scan_best(),
                      calloc((size_t)p->file.n_columns + 1, sizeof(FlCsvStep)), p->file.n_columns,
                      fl_heap_new(ctx)};
  return (plan->steps && plan->heap) || fl_io_error(e, FL_E_MEMORY, "out of memory");
}

static void reset_plan(FlCsvPlan *plan) {
  free(plan->steps);
  fl_heap_unref(plan->heap);
}

/* ---- opening ------------------------------------------------------------------------------------------ */

/* Whether the file has the columns, before any row is read. */
static bool check_columns(FlCtx *ctx, const CsvParts *p, const FlTableWanted *of, int32_t n, FlIoError *e) {
  FlTableWanted *wanted = calloc((size_t)n + 1, sizeof *wanted);
  FlCsvPlan plan = {0};
  bool ok = wanted || fl_io_error(e, FL_E_MEMORY, "out of memory");
  if (ok && n) memcpy(wanted, of, (size_t)n * sizeof *of);
  ok = ok && make_plan(ctx, p, &plan, e) && fl_csv_steps(ctx, &p->file, &plan, wanted, n, 0, e);
  for (int32_t k = 0; wanted && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  free(wanted);
  reset_plan(&plan);
  return ok;
}

static bool open_parts(FlCtx *ctx, CsvParts *p, const FlTableFrom *from, const FlTableWanted *wanted,
                       int32_t n, FlIoError *e) {
  FlCsvOptions o;
  if (!fl_csv_options(from->options, &o, e)) return false;
  p->is_open = fl_csv_open(ctx, p->path, &o, &p->file, e);
  if (!p->is_open || !check_columns(ctx, p, wanted, n, e)) return false;
  p->file.rests = true;
  p->cuts = fl_csv_cuts_new(&p->file, &p->file.options, fl_csv_scan_best(), FL_CSV_CHUNK, e);
  return p->cuts != NULL;
}

static void *open_file(FlCtx *ctx, const FlTableFrom *from, const FlTableWanted *wanted, int32_t n,
                       int64_t *n_parts, FlIoError *e) {
  CsvParts *p = calloc(1, sizeof *p);
  bool ok = p && (p->path = strdup(from->path)) != NULL;
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading files");
  ok = ok && open_parts(ctx, p, from, wanted, n, e);
  if (ok) *n_parts = (fl_csv_chunks(p->cuts) + FL_CHUNKS_A_PART - 1) / FL_CHUNKS_A_PART;
  if (!ok && p) close_parts(p);
  return ok ? p : NULL;
}

/* ---- a part ------------------------------------------------------------------------------------------- */

/* Parses the ranges; false: one has a problem. `positions` has room for the largest. */
static bool parse_part(const CsvParts *p, const FlCsvPlan *plan, FlCsvRange *ranges, int32_t n,
                       uint32_t *positions) {
  for (int32_t k = 0; k < n; k++) {
    fl_csv_rows(plan, &p->file, &ranges[k], positions);
    if (ranges[k].outcome != FL_CSV_OK) return false;
  }
  return true;
}

/* A part's text need not be in memory any more; where texts of it are read later, it comes back. */
static void let_rest(const CsvParts *p, int64_t part) {
  const int64_t bytes = (int64_t)FL_CHUNKS_A_PART * FL_CSV_CHUNK;
  if (part < 0 || part * bytes >= p->file.len - p->file.body) return;
  const char *begin = p->file.text + p->file.body + part * bytes, *end = p->file.text + p->file.len;
  fl_buffer_rest_range(p->file.keep, begin, end - begin < bytes ? end : begin + bytes);
}

/* The columns of a part, and how many rows there are. */
static bool take_part(FlCtx *ctx, CsvParts *p, FlCsvPlan *plan, int64_t part, FlTableWanted *wanted,
                      int32_t n_wanted, int64_t *rows, FlIoError *e) {
  FlCsvRange ranges[FL_RANGES_A_PART];
  int64_t most = 0, room = 0;
  int32_t n;
  const FlCsvRange *from =
      fl_csv_ranges_of(p->cuts, part * FL_CHUNKS_A_PART, (part + 1) * FL_CHUNKS_A_PART, &n);
  for (int32_t k = 0; k < n; k++) {
    ranges[k] = from[k];
    ranges[k].first_row = most;
    most += ranges[k].n_rows;
    int64_t need = fl_csv_positions(ranges[k].end - ranges[k].begin);
    room = need > room ? need : room;
  }
  if (!fl_csv_steps(ctx, &p->file, plan, wanted, n_wanted, most, e)) return false;
  FlArray *positions = fl_array_new(ctx, FL_U32, 1, &room);
  if (!positions) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
  bool good = parse_part(p, plan, ranges, n, positions->data);
  fl_array_unref(positions);
  if (good) *rows = fl_csv_close_gaps(ranges, n, wanted, n_wanted);
  return good || fl_io_error(e, FL_E_VALUE, "a part of `%s` has a problem", p->path);
}

/* All rows at once. */
static bool take_file(FlCtx *ctx, CsvParts *p, FlCsvPlan *plan, FlTableWanted *wanted, int32_t n_wanted,
                      int64_t *rows, FlIoError *e) {
  int32_t n;
  int64_t most;
  FlCsvRange *ranges = fl_csv_ranges_all(ctx, p->cuts, &n, &most);
  if (!fl_csv_read_ranges(ctx, &p->file, plan, ranges, n, most, wanted, n_wanted, e)) return false;
  *rows = fl_csv_close_gaps(ranges, n, wanted, n_wanted);
  return true;
}

static bool read_part(FlCtx *ctx, void *file, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
                      FlIoError *e) {
  CsvParts *p = file;
  FlCsvPlan plan;
  let_rest(p, part - FL_PARTS_AT_HAND);
  bool ok = make_plan(ctx, p, &plan, e) && (part < 0 ? take_file(ctx, p, &plan, wanted, n, rows, e)
                                                     : take_part(ctx, p, &plan, part, wanted, n, rows, e));
  for (int32_t k = 0; !ok && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  reset_plan(&plan);
  return ok;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static bool end_file(void *file, const char *path, FlIoError *e) {
  const CsvParts *p = file;
  bool ok = fl_input_check(&p->file.input, path, e);
  if (ok) fl_buffer_rest(p->file.keep);
  return ok;
}

const FlTableParts fl_csv_parts = {open_file, read_part, NULL, NULL, end_file, close_parts};
