/* csv_read.c: the wanted columns of a CSV file as arrays, in parallel.
 *
 * In: a path, options, column names with their types. Out: arrays of all rows; texts are views of the file's
 * text. What always holds: the first problem in the file is the one that is reported, whoever parses what
 * when. */
#include "io/csv_internal.h"
#include "data/data.h"
#include "data/number.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- from names to steps ------------------------------------------------------------------------------ */

/* Whether a text given as null would read as a value of the type. */
static bool null_reads(const FlCsvOptions *o, FlDtype dtype) {
  FlText slot; /* room for any scalar */
  for (int32_t k = 0; k < o->n_nulls; k++) {
    if (fl_csv_store(o, (int32_t)dtype, &slot, 0, o->nulls[k].ptr, o->nulls[k].len)) return true;
  }
  return false;
}

static FlCsvKind kind_of(const FlCsvOptions *o, FlDtype dtype) {
  if (dtype == FL_TEXT) return o->own_nulls ? FL_CSV_OTHER : FL_CSV_TEXT;
  if (null_reads(o, dtype)) return FL_CSV_OTHER;
  if (dtype == FL_I64) return FL_CSV_I64;
  if (dtype == FL_F64 && o->decimal == '.') return FL_CSV_F64;
  return dtype == FL_DATE && !o->dates ? FL_CSV_DATE : FL_CSV_OTHER;
}

static bool make_arrays(FlCtx *ctx, const FlCsvFile *f, FlTableWanted *w, int64_t n_rows, FlIoError *e) {
  w->values = fl_array_new(ctx, (int32_t)w->dtype, 1, &n_rows);
  if (w->nullable) w->valid = fl_array_new(ctx, FL_BOOL, 1, &n_rows);
  if (!w->values || (w->nullable && !w->valid))
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  if (w->dtype == FL_TEXT && !fl_buffer_keep(w->values->buffer, f->keep))
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  return true;
}

bool fl_csv_steps(FlCtx *ctx, const FlCsvFile *f, FlCsvPlan *plan, FlTableWanted *wanted, int32_t n,
                  int64_t n_rows, FlIoError *e) {
  for (int32_t k = 0; k < n; k++) {
    FlTableWanted *w = &wanted[k];
    int32_t column = 0;
    if (!fl_csv_find_column(f, w, &column, e) || !make_arrays(ctx, f, w, n_rows, e)) return false;
    if (plan->steps[column].kind != FL_CSV_SKIP)
      return fl_io_error(e, FL_E_INTERNAL, "column `%s` is wanted twice", f->names[column]);
    if (w->dtype == FL_TEXT && !fl_buffer_keep(w->values->buffer, fl_heap_buffer(plan->heap)))
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
    plan->steps[column] = (FlCsvStep){kind_of(plan->options, w->dtype), (int32_t)w->dtype, w->nullable,
                                      w->values->data, w->valid ? w->valid->data : NULL};
  }
  return true;
}

/* ---- parsing all ranges ------------------------------------------------------------------------------- */

typedef struct FlScratch {
  alignas(64) uint32_t *positions;
  int64_t room;
} FlScratch;

typedef struct FlParsing {
  const FlCsvPlan *plan;
  const FlCsvFile *file;
  FlCsvRange *ranges;
  FlScratch *scratch;        /* one a worker */
  _Atomic int32_t first_bad; /* no range beyond this one need be parsed */
  FlPool *pool;              /* where scratch is taken from; NULL: nowhere in particular */
} FlParsing;

static void parse_ranges(void *env, int64_t begin, int64_t end, int worker) {
  FlParsing *p = env;
  FlScratch *own = &p->scratch[worker < 0 ? 0 : worker];
  for (int64_t k = begin; k < end; k++) {
    /* relaxed: only spares work; what is reported is found after all are done. */
    if (k > atomic_load_explicit(&p->first_bad, memory_order_relaxed)) return;
    FlCsvRange *r = &p->ranges[k];
    int64_t need = fl_csv_positions(r->end - r->begin);
    if (need > own->room) {
      fl_counted_free(own->positions);
      own->positions = fl_counted_new(p->pool, (size_t)need * sizeof *own->positions);
      own->room = own->positions ? need : 0;
    }
    if (own->positions) {
      fl_csv_rows(p->plan, p->file, r, own->positions);
    } else {
      r->outcome = FL_CSV_NO_MEMORY;
    }
    if (r->outcome == FL_CSV_OK) continue;
    int32_t seen = atomic_load_explicit(&p->first_bad, memory_order_relaxed);
    while (k < seen && !atomic_compare_exchange_weak_explicit(&p->first_bad, &seen, (int32_t)k,
                                                              memory_order_relaxed, memory_order_relaxed)) {}
  }
}

/* ---- what went wrong ---------------------------------------------------------------------------------- */

enum { MOST_BEFORE = 40 }; /* bytes of a row that are shown before the field whose quotes do not fit */

static bool is_quote(FlCsvOutcome outcome) {
  return outcome == FL_CSV_STRAY_QUOTE || outcome == FL_CSV_BAD_QUOTE || outcome == FL_CSV_OPEN_QUOTE ||
         outcome == FL_CSV_QUOTED_ROWS;
}

static void show_value(const FlCsvFile *f, const FlCsvRange *row, FlIoError *e) {
  FlCsvRange cut = *row, *r = &cut;
  if (is_quote(r->outcome) && r->bad_quote - r->bad_at > MOST_BEFORE) {
    r->bad_len -= r->bad_quote - r->bad_at;
    r->bad_at = r->bad_quote;
  }
  int64_t len = r->bad_len < (int64_t)sizeof e->value - 4 ? r->bad_len : (int64_t)sizeof e->value - 4;
  memcpy(e->value, f->text + r->bad_at, (size_t)len);
  for (int64_t k = 0; k < len; k++) {
    unsigned char c = (unsigned char)e->value[k];
    if (c < ' ' || c == 127) e->value[k] = ' ';
  }
  int64_t good = fl_utf8_check(e->value, len);
  memcpy(e->value + good, good < r->bad_len ? "..." : "", good < r->bad_len ? 4 : 1);
}

static void quotes_do_not_fit(const FlCsvFile *f, const FlCsvRange *r, const char *name, long long line,
                              const char *value, FlIoError *e) {
  if (r->outcome == FL_CSV_STRAY_QUOTE) {
    fl_io_error(e, FL_E_QUOTE,
                "`%s` line %lld: a quote within a field of column `%s` that is not quoted: `%s`", f->path,
                line, name, value);
  } else if (r->outcome == FL_CSV_OPEN_QUOTE) {
    fl_io_error(e, FL_E_QUOTE, "`%s` line %lld: a quote in column `%s` is never closed: `%s`", f->path, line,
                name, value);
  } else if (r->outcome == FL_CSV_QUOTED_ROWS) {
    fl_io_error(e, FL_E_QUOTE,
                "`%s` line %lld: a quoted field of column `%s` holds lines that look like rows: `%s`",
                f->path, line, name, value);
    fl_io_help(
        e, "leave out such rows, on_error = \"collect\"; if the field is as it should be, say quote = \"%s\"",
        f->options.quote == '"' ? "\\\"" : "'");
    return;
  } else {
    fl_io_error(e, FL_E_QUOTE,
                "`%s` line %lld: something stands behind the closing quote of column `%s`: `%s`", f->path,
                line, name, value);
  }
  fl_io_help(e, "a quote inside of a quoted field is written twice; leave out such rows, on_error = "
                "\"collect\", or, for "
                "files without quoting, say quote = \"\"");
}

static bool report(const FlCsvFile *f, const FlCsvPlan *plan, const FlCsvRange *r, int64_t row,
                   FlIoError *e) {
  const FlCsvStep *step = &plan->steps[r->bad_column];
  const char *name = f->names[r->bad_column], *type = fl_dtype_info[step->dtype].name, *path = f->path;
  FlIoError shown;
  memset(&shown, 0, sizeof shown);
  show_value(f, r, &shown);
  long long line = (long long)fl_csv_line_at(f, r->bad_at);
  switch (r->outcome) {
  case FL_CSV_OK: return true;
  case FL_CSV_BAD_VALUE:
    fl_io_error(e, FL_E_VALUE, "`%s` line %lld: column `%s` is %s, but here it is `%s`", path, line, name,
                type, shown.value);
    fl_io_help(e,
               "read the column as text, types = (`%s`: text), or make such values null: on_error = "
               "\"null\", or null = [\"\", \"%.40s\"]",
               name, shown.value);
    break;
  case FL_CSV_BAD_NULL:
    if (r->bad_len) {
      fl_io_error(e, FL_E_NULL, "`%s` line %lld: column `%s` is %s without nulls, but here it is `%s`", path,
                  line, name, type, shown.value);
    } else {
      fl_io_error(e, FL_E_NULL, "`%s` line %lld: column `%s` is %s without nulls, but here it is empty", path,
                  line, name, type);
    }
    fl_io_help(e, "allow null: types = (`%s`: %s?)", name, type);
    break;
  case FL_CSV_STRAY_QUOTE:
  case FL_CSV_BAD_QUOTE:
  case FL_CSV_OPEN_QUOTE:
  case FL_CSV_QUOTED_ROWS: quotes_do_not_fit(f, r, name, line, shown.value, e); break;
  case FL_CSV_BAD_UTF8:
    fl_csv_not_utf8(f, name, r->bad_at, r->bad_len, e);
    line = e->line;
    break;
  case FL_CSV_MAYBE_COMMENT:
    fl_io_error(e, FL_E_COMMENT,
                "`%s` line %lld: this may be a comment, or a row: it begins with `#` and has %d fields", path,
                line, f->n_columns);
    fl_io_help(
        e, "say which: comment = \"#\", or comment = \"\" with skip = the number of lines before the header");
    name = "";
    break;
  case FL_CSV_TOO_FEW:
  case FL_CSV_TOO_MANY:
    fl_io_error(e, FL_E_RAGGED, "`%s` line %lld: this row has %d field%s, but the header has %d columns",
                path, line, r->n_found, r->n_found == 1 ? "" : "s", f->n_columns);
    if (f->n_columns == 1) {
      fl_io_help(e, "the separator is `%c`; if the file uses another, say sep = \";\"", plan->options->sep);
    } else if (plan->options->quoting && r->outcome == FL_CSV_TOO_MANY) {
      fl_io_help(
          e, "a field that contains `%c` must be in quotes; or leave out such rows, on_error = \"collect\"",
          plan->options->sep);
    } else {
      fl_io_help(e, "leave out such rows, on_error = \"collect\"");
    }
    name = "";
    break;
  case FL_CSV_NO_MEMORY: return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  case FL_CSV_TOO_LONG:
    return fl_io_error(e, FL_E_RAGGED, "`%s` line %lld: this row is longer than 4 GiB", path, line);
  case FL_CSV_CHANGED: return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
  }
  e->line = line;
  e->row = row + 1;
  snprintf(e->column, sizeof e->column, "%s", name);
  memcpy(e->value, shown.value, sizeof e->value);
  return false;
}

/* ---- together ----------------------------------------------------------------------------------------- */

int64_t fl_csv_close_gaps(const FlCsvRange *ranges, int32_t n, FlTableWanted *wanted, int32_t n_wanted) {
  int64_t rows = 0;
  for (int32_t k = 0; k < n; k++) {
    const FlCsvRange *r = &ranges[k];
    for (int32_t w = 0; rows != r->first_row && w < n_wanted; w++) {
      size_t size = (size_t)fl_dtype_info[wanted[w].dtype].bytes;
      char *values = wanted[w].values->data, *valid = wanted[w].valid ? wanted[w].valid->data : NULL;
      memmove(values + (size_t)rows * size, values + (size_t)r->first_row * size, (size_t)r->parsed * size);
      if (valid) memmove(valid + rows, valid + r->first_row, (size_t)r->parsed);
    }
    rows += r->parsed;
  }
  for (int32_t w = 0; w < n_wanted; w++) {
    wanted[w].values->dims[0] = rows;
    if (wanted[w].valid) wanted[w].valid->dims[0] = rows;
  }
  return rows;
}

static bool parse_all(FlCtx *ctx, const FlCsvFile *f, const FlCsvPlan *plan, FlCsvRange *ranges, int32_t n,
                      FlIoError *e) {
  int workers = fl_ctx_workers(ctx);
  FlParsing p = {plan,   f,
                 ranges, aligned_alloc(64, sizeof(FlScratch) * (size_t)workers),
                 n,      ctx ? fl_ctx_pool(ctx) : NULL};
  if (!p.scratch) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  memset(p.scratch, 0, sizeof(FlScratch) * (size_t)workers);
  fl_parallel_for(ctx, n, 1, parse_ranges, &p);
  for (int k = 0; k < workers; k++) fl_counted_free(p.scratch[k].positions);
  free(p.scratch);
  int64_t rows = 0;
  for (int32_t k = 0; k < n; k++) {
    if (ranges[k].outcome != FL_CSV_OK) return report(f, plan, &ranges[k], rows + ranges[k].bad_row, e);
    rows += ranges[k].parsed;
  }
  return true;
}

bool fl_csv_read_ranges(FlCtx *ctx, const FlCsvFile *f, FlCsvPlan *plan, FlCsvRange *ranges, int32_t n,
                        int64_t most, FlTableWanted *wanted, int32_t n_wanted, FlIoError *e) {
  return fl_csv_steps(ctx, f, plan, wanted, n_wanted, most, e) && parse_all(ctx, f, plan, ranges, n, e);
}

static bool read_open(FlCtx *ctx, FlCsvFile *f, FlCsvPlan *plan, int64_t chunk, FlTableWanted *wanted,
                      int32_t n_wanted, int64_t *n_rows, FlRejected *rejected, FlIoError *e) {
  int32_t n;
  int64_t most;
  FlCsvCuts *cuts = fl_csv_cuts_new(f, plan->options, plan->scan, chunk, e);
  if (!cuts) return false;
  FlCsvRange *ranges = fl_csv_ranges_all(ctx, cuts, &n, &most);
  bool ok = fl_csv_read_ranges(ctx, f, plan, ranges, n, most, wanted, n_wanted, e);
  if (ok) *n_rows = fl_csv_close_gaps(ranges, n, wanted, n_wanted);
  if (ok && rejected) ok = fl_csv_rejected(ctx, f, plan, ranges, n, rejected, e);
  fl_csv_cuts_free(cuts);
  return ok;
}

static bool read_input(FlCtx *ctx, FlInput *in, const char *path, const FlCsvOptions *o,
                       const FlCsvScan *scan, int64_t chunk, FlTableWanted *wanted, int32_t n_wanted,
                       int64_t *n_rows, FlRejected *rejected, FlIoError *e) {
  FlCsvFile f;
  if (!fl_csv_open_input(ctx, in, path, o, &f, e)) return false;
  FlCsvPlan plan = {&f.options, scan, calloc((size_t)f.n_columns, sizeof(FlCsvStep)), f.n_columns,
                    fl_heap_new(ctx)};
  bool ok = plan.steps || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  ok = ok && read_open(ctx, &f, &plan, chunk, wanted, n_wanted, n_rows, rejected, e) &&
       fl_input_check(&f.input, path, e);
  free(plan.steps);
  fl_heap_unref(plan.heap);
  fl_csv_close(&f);
  if (!ok && rejected) fl_rejected_reset(rejected);
  for (int32_t k = 0; !ok && k < n_wanted; k++) {
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
  }
  return ok;
}

/* Nothing is owned until all is read. */
static void forget_results(FlTableWanted *wanted, int32_t n_wanted, FlRejected *rejected) {
  for (int32_t k = 0; k < n_wanted; k++) wanted[k].values = wanted[k].valid = NULL;
  if (rejected) memset(rejected, 0, sizeof *rejected);
}

bool fl_csv_read(FlCtx *ctx, const char *path, const FlCsvOptions *o, const FlCsvScan *scan, int64_t chunk,
                 FlTableWanted *wanted, int32_t n_wanted, int64_t *n_rows, FlRejected *rejected,
                 FlIoError *e) {
  FlInput in;
  forget_results(wanted, n_wanted, rejected);
  return fl_input_open(ctx, path, &in, e) &&
         read_input(ctx, &in, path, o, scan, chunk, wanted, n_wanted, n_rows, rejected, e);
}

bool fl_csv_read_bytes(FlCtx *ctx, FlInput *in, const char *label, const FlCsvOptions *o,
                       FlTableWanted *wanted, int32_t n_wanted, int64_t *n_rows, FlIoError *e) {
  forget_results(wanted, n_wanted, NULL);
  return read_input(ctx, in, label, o, fl_csv_scan_best(), FL_CSV_CHUNK, wanted, n_wanted, n_rows, NULL, e);
}

static bool read_table(FlCtx *ctx, const FlTableFrom *from, FlTableWanted *wanted, int32_t n, int64_t *n_rows,
                       FlIoError *e) {
  FlCsvOptions o;
  forget_results(wanted, n, from->rejected);
  return fl_csv_options(from->options, &o, e) &&
         fl_csv_read(ctx, from->path, &o, fl_csv_scan_best(), FL_CSV_CHUNK, wanted, n, n_rows, from->rejected,
                     e);
}

/* The first bytes of a file, whole lines, as an input. */
static bool open_head(FlCtx *ctx, const char *path, int64_t bytes, const FlCsvOptions *o, FlInput *in,
                      FlIoError *e) {
  char *head = malloc((size_t)bytes);
  struct stat found;
  int fd = head ? fl_input_ordinary(path, &found, e) : -1;
  int64_t n = 0, got = fd >= 0 ? 1 : -1;
  for (; got > 0 && n < bytes; n += got) {
    got = pread(fd, head + n, (size_t)(bytes - n), n);
    if (got <= 0) break;
  }
  bool ok = fd >= 0 && fl_input_of_bytes(ctx, head, (size_t)n, path, in, e);
  if (fd >= 0) close(fd);
  free(head);
  return ok && (fl_csv_cut(in, o) || fl_io_error(e, FL_E_RAGGED, "the first line of `%s` is too long", path));
}

static bool read_head(FlCtx *ctx, const FlTableFrom *from, int64_t bytes, FlTableWanted *wanted, int32_t n,
                      int64_t *n_rows, FlIoError *e) {
  FlCsvOptions o;
  FlInput in;
  return fl_csv_options(from->options, &o, e) && open_head(ctx, from->path, bytes, &o, &in, e) &&
         fl_csv_read_bytes(ctx, &in, from->path, &o, wanted, n, n_rows, e);
}

const FlTableReader fl_read_csv = {.schema = fl_csv_schema,
                                   .read = read_table,
                                   .check = fl_csv_check,
                                   .parts = &fl_csv_parts,
                                   .programs = &fl_csv_programs,
                                   .read_head = read_head};
