/* csv_parts.c: what the operators table_parts, table_part and table_end do of CSV files: one read part by
 * part, so that what is done with its rows is done while they are at hand, and only what is kept of them
 * stays.
 *
 * In: a file, columns and options as read_table has them. Out: the opened file as an array, whose buffer owns
 * it; for each part its rows. What always holds: parts come from the file alone, some ranges of rows each;
 * put together they are what read_table gives. A part with a problem gives no rows and leaves a mark;
 * table_end then reads the file as read_table does, and so reports what that would. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "exec/exec.h"
#include "part/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum { FL_RANGES_A_PART = 4, FL_PARTS_AT_HAND = 16 }; /* of which texts may be in use */

/* The opened file. The buffer comes first: its last owner closes the file. */
typedef struct CsvParts {
  FlBuffer base;
  FlCsvFile file;
  bool is_open;
  char *path;
  FlCsvRange *ranges;
  int32_t n_ranges;
  int64_t n_parts, n_rows;
  _Atomic bool bad;
} CsvParts;

static void close_parts(FlBuffer *b) {
  CsvParts *p = (CsvParts *)b;
  if (p->is_open) fl_csv_close(&p->file);
  free(p->ranges);
  free(p->path);
}

static CsvParts *parts_of(const FlArray *a) { return (CsvParts *)a->buffer; }

/* The columns that the attributes name; NULL: out of memory. */
static FlTableWanted *wanted_of(const FlOpDesc *desc) {
  FlTableWanted *wanted = calloc((size_t)desc->n_columns + 1, sizeof *wanted);
  for (int32_t k = 0; wanted && k < desc->n_columns; k++) wanted[k] = fl_table_wanted(&desc->columns[k]);
  return wanted;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

/* Whether the file has the columns, before any row is read. */
static bool check_columns(FlCtx *ctx, const CsvParts *p, const FlOpDesc *desc, FlIoError *e) {
  FlTableWanted *wanted = wanted_of(desc);
  FlCsvPlan plan = {&p->file.options, fl_csv_scan_best(),
                    calloc((size_t)p->file.n_columns + 1, sizeof(FlCsvStep)), p->file.n_columns,
                    fl_heap_new(ctx)};
  bool ok = (wanted && plan.steps && plan.heap) || fl_io_error(e, FL_E_MEMORY, "out of memory");
  ok = ok && fl_csv_steps(ctx, &p->file, &plan, wanted, desc->n_columns, 0, e);
  for (int32_t k = 0; wanted && k < desc->n_columns; k++) fl_table_wanted_reset(&wanted[k]);
  free(wanted);
  free(plan.steps);
  fl_heap_unref(plan.heap);
  return ok;
}

static bool open_parts(FlCtx *ctx, CsvParts *p, const FlOpDesc *desc, FlIoError *e) {
  FlCsvOptions o;
  if (!fl_csv_options((FlOptions){desc->options, desc->n_options}, &o, e)) return false;
  p->is_open = fl_csv_open(ctx, p->path, &o, &p->file, e);
  if (!p->is_open || !check_columns(ctx, p, desc, e)) return false;
  p->file.rests = true;
  p->ranges = fl_csv_ranges(ctx, &p->file, &p->file.options, fl_csv_scan_best(), FL_CSV_CHUNK, &p->n_ranges,
                            &p->n_rows, e);
  p->n_parts = (p->n_ranges + FL_RANGES_A_PART - 1) / FL_RANGES_A_PART;
  return p->ranges != NULL;
}

static FlStatus open_file(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  static const int64_t one = 1;
  FlIoError e = {0};
  FlText file = args[0].t;
  CsvParts *p = calloc(1, sizeof *p);
  if (!p) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory while reading files");
  p->base = (FlBuffer){.data = &p->n_parts, .bytes = sizeof p->n_parts, .kind = FL_BUFFER_LENT, .release = close_parts};
  atomic_init(&p->base.refs, 1);
  p->path = fl_input_path(file, &e);
  FlStatus status = p->path ? fl_ctx_claim_input(ctx, desc->site, file.ptr, file.len) : 0;
  bool ok = p->path && !status && open_parts(ctx, p, desc, &e);
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, file.ptr, file.len);
  FlArray *open = status ? NULL : fl_array_over(ctx, &p->base, &p->n_parts, FL_I64, 1, &one);
  if (open) results[0].i = p->n_parts;
  if (open) results[1].a = open;
  fl_buffer_unref(&p->base);
  return open ? 0 : status ? status : 1;
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

static void forget_rows(FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    wanted[k].values->dims[0] = 0;
    if (wanted[k].valid) wanted[k].valid->dims[0] = 0;
  }
}

/* A part's text need not be in memory any more; where texts of it are read later, it comes back. */
static void let_rest(const CsvParts *p, int64_t part) {
  if (part < 0 || part >= p->n_parts) return;
  int64_t first = part * FL_RANGES_A_PART, last = first + FL_RANGES_A_PART - 1;
  if (last >= p->n_ranges) last = p->n_ranges - 1;
  fl_buffer_rest_range(p->file.keep, p->file.text + p->ranges[first].begin,
                       p->file.text + p->ranges[last].end);
}

/* The columns of a part, and how many rows there are. */
static bool take_part(FlCtx *ctx, CsvParts *p, FlCsvPlan *plan, int64_t part, FlTableWanted *wanted,
                      int32_t n_wanted, int64_t *rows, FlIoError *e) {
  FlCsvRange ranges[FL_RANGES_A_PART];
  int64_t first = part * FL_RANGES_A_PART, most = 0, room = 0;
  int32_t n = 0;
  for (; n < FL_RANGES_A_PART && first + n < p->n_ranges; n++) {
    ranges[n] = p->ranges[first + n];
    ranges[n].first_row = most;
    most += ranges[n].n_rows;
    int64_t need = ranges[n].end - ranges[n].begin + 64;
    room = need > room ? need : room;
  }
  if (!fl_csv_steps(ctx, &p->file, plan, wanted, n_wanted, most, e)) return false;
  FlArray *positions = fl_array_new(ctx, FL_U32, 1, &room);
  if (!positions) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
  bool good = parse_part(p, plan, ranges, n, positions->data);
  fl_array_unref(positions);
  *rows = good ? fl_csv_close_gaps(ranges, n, wanted, n_wanted) : 0;
  if (!good) forget_rows(wanted, n_wanted);
  if (!good) atomic_store(&p->bad, true); /* only read after all parts */
  return true;
}

/* All rows at once. */
static bool take_file(FlCtx *ctx, CsvParts *p, FlCsvPlan *plan, FlTableWanted *wanted, int32_t n_wanted,
                      int64_t *rows, FlIoError *e) {
  FlIoError problem = {0};
  if (fl_csv_read_ranges(ctx, &p->file, plan, p->ranges, p->n_ranges, p->n_rows, wanted, n_wanted,
                         &problem)) {
    *rows = fl_csv_close_gaps(p->ranges, p->n_ranges, wanted, n_wanted);
    for (int32_t k = 0; k < n_wanted; k++)
      if (wanted[k].dtype == FL_TEXT && fl_part_find_codes(ctx, wanted[k].values, false) != 0)
        return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", p->path);
    return true;
  }
  for (int32_t k = 0; k < n_wanted; k++)
    if (!wanted[k].values || (wanted[k].nullable && !wanted[k].valid)) {
      *e = problem; /* out of memory */
      return false;
    }
  forget_rows(wanted, n_wanted);
  atomic_store(&p->bad, true); /* only read after all parts */
  return true;
}

static FlStatus read_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlIoError e = {0};
  CsvParts *p = parts_of(args[0].a);
  int32_t n = desc->n_columns;
  int64_t rows = 0;
  FlTableWanted *wanted = wanted_of(desc);
  FlCsvPlan plan = {&p->file.options, fl_csv_scan_best(),
                    calloc((size_t)p->file.n_columns + 1, sizeof(FlCsvStep)), p->file.n_columns,
                    fl_heap_new(ctx)};
  bool ok = (wanted && plan.steps && plan.heap) || fl_io_error(&e, FL_E_MEMORY, "out of memory");
  let_rest(p, args[1].i - FL_PARTS_AT_HAND);
  ok = ok && (args[1].i < 0 ? take_file(ctx, p, &plan, wanted, n, &rows, &e)
                            : take_part(ctx, p, &plan, args[1].i, wanted, n, &rows, &e));
  FlSlot *to = results;
  (to++)->i = rows;
  for (int32_t k = 0; ok && k < n; k++) {
    (to++)->a = wanted[k].values;
    if (wanted[k].nullable) (to++)->a = wanted[k].valid;
  }
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, p->path, (int64_t)strlen(p->path));
  for (int32_t k = 0; !ok && wanted && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  free(wanted);
  free(plan.steps);
  fl_heap_unref(plan.heap);
  return status;
}

/* ---- the end ------------------------------------------------------------------------------------------ */

/* Reads the file as read_table does, for what it says. */
static bool read_again(FlCtx *ctx, const CsvParts *p, const FlOpDesc *desc, FlIoError *e) {
  FlCsvOptions o;
  int32_t n = desc->n_columns;
  int64_t rows;
  FlTableWanted *wanted = wanted_of(desc);
  bool ok = wanted != NULL || fl_io_error(e, FL_E_MEMORY, "out of memory");
  ok = ok && fl_csv_options((FlOptions){desc->options, desc->n_options}, &o, e) &&
       fl_csv_read(ctx, p->path, &o, fl_csv_scan_best(), FL_CSV_CHUNK, wanted, n, &rows, NULL, e);
  if (ok) {
    for (int32_t k = 0; k < n; k++) fl_table_wanted_reset(&wanted[k]);
    fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", p->path);
  }
  free(wanted);
  return false;
}

static FlStatus end_file(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlIoError e = {0};
  CsvParts *p = parts_of(args[0].a);
  bool ok = !atomic_load(&p->bad);
  ok = ok ? fl_input_check(&p->file.input, p->path, &e) : read_again(ctx, p, desc, &e);
  if (ok) fl_buffer_rest(p->file.keep);
  return ok ? 0 : fl_io_fail(ctx, desc->site, &e, p->path, (int64_t)strlen(p->path));
}

const FlTableParts fl_csv_parts = {open_file, read_part, end_file};
