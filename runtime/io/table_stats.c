/* table_stats.c: see table_stats.h: data files read as a script would read them, and what is in their
 * columns. */
#include "io/table_stats.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/csv_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The columns of a table, as they were read. */
typedef struct FlTableRead {
  const FlIoSchema *schema;
  FlSlot *results; /* as of READ_CSV: the number of rows, the columns, the levels */
  FlType1 *types;
  int32_t n_results;
  FlColumnStats *out;
} FlTableRead;

static int32_t result_of(const FlTableRead *t, int32_t column, bool valid) {
  int32_t at = 1;
  for (int32_t k = 0; k < column; k++) at += 1 + t->schema->columns[k].nullable;
  return at + valid;
}

static const FlArray *levels_of(const FlTableRead *t, int32_t column) {
  if (t->schema->columns[column].dtype != FL_CATEGORY) return NULL;
  int32_t at = t->n_results;
  for (int32_t k = column; k < t->schema->n_columns; k++) at -= t->schema->columns[k].dtype == FL_CATEGORY;
  return t->results[at].a;
}

static void stats_of_columns(void *env, int64_t begin, int64_t end, int worker) {
  FlTableRead *t = env;
  (void)worker;
  for (int32_t k = (int32_t)begin; k < end; k++) {
    const FlArray *valid = t->schema->columns[k].nullable ? t->results[result_of(t, k, true)].a : NULL;
    fl_column_stats(t->results[result_of(t, k, false)].a, valid, levels_of(t, k), &t->out[k]);
  }
}

/* "name:type" for each column, then the options; free the texts and the list. */
static const char **list_of(const FlIoSchema *s, const char *const *options, int32_t n_options, int32_t *n) {
  const char **list = calloc((size_t)(s->n_columns + n_options + FL_IO_DIALECT + 1), sizeof *list);
  *n = 0;
  for (int32_t k = 0; list && k < s->n_columns; k++) {
    const FlIoColumn *c = &s->columns[k];
    char *text = NULL;
    if (asprintf(&text, "%s:%s%s", c->name, fl_dtype_info[c->dtype].name,
                 c->arrays     ? "[]"
                 : c->nullable ? "?"
                               : "") < 0)
      text = NULL;
    list[(*n)++] = text;
  }
  for (int32_t k = 0; list && k < n_options; k++) list[(*n)++] = strdup(options[k]);
  for (int32_t k = 0; list && k < s->n_found; k++) list[(*n)++] = strdup(s->found[k]);
  return list;
}

static FlRuntimeOp *reader_of(const char *format) {
  static const struct {
    const char *name;
    FlRuntimeOp *read;
  } readers[] = {
#define FL_FORMAT(NAME, name, extensions, schema, arrays) {#name, fl_rt_read_##name},
#include "io/formats.def"
#undef FL_FORMAT
  };
  for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
    if (strcmp(readers[k].name, format) == 0) return readers[k].read;
  return NULL;
}

/* The first bytes of a file, whole lines, as an input. */
static bool open_head(FlCtx *ctx, const char *path, const FlCsvOptions *o, FlInput *in, FlIoError *e) {
  char *head = malloc(FL_STATS_HEAD);
  struct stat found;
  int fd = head ? fl_input_ordinary(path, &found, e) : -1;
  int64_t n = 0, got = fd >= 0 ? 1 : -1;
  for (; got > 0 && n < FL_STATS_HEAD; n += got) {
    got = pread(fd, head + n, (size_t)(FL_STATS_HEAD - n), n);
    if (got <= 0) break;
  }
  bool ok = fd >= 0 && fl_input_of_bytes(ctx, head, (size_t)n, path, in, e);
  if (fd >= 0) close(fd);
  free(head);
  return ok && (fl_csv_cut(in, o) || fl_io_error(e, FL_E_RAGGED, "the first line of `%s` is too long", path));
}

/* The same results as READ_CSV, of the head. */
static bool read_head(FlCtx *ctx, const char *path, FlTableRead *t, const FlOpDesc *desc, FlIoError *e) {
  FlCsvOptions o;
  FlInput in;
  int32_t n = (int32_t)desc->i;
  FlTableWanted *wanted = calloc((size_t)n + 1, sizeof *wanted);
  bool ok =
      wanted && fl_csv_options(desc->list + n, desc->n_list - n, &o, e) && open_head(ctx, path, &o, &in, e);
  for (int32_t k = 0; ok && k < n; k++) fl_table_wanted(desc->list[k], &wanted[k]);
  ok = ok && fl_csv_read_bytes(ctx, &in, path, &o, wanted, n, &t->results[0].i, e);
  for (int32_t k = 0; ok && k < n; k++) {
    t->results[result_of(t, k, false)].a = wanted[k].values;
    if (wanted[k].nullable) t->results[result_of(t, k, true)].a = wanted[k].valid;
  }
  free(wanted);
  return ok;
}

static bool is_large_csv(const char *path, const char *format) {
  struct stat found;
  return strcmp(format, "csv") == 0 && stat(path, &found) == 0 && found.st_size / 4 > FL_STATS_HEAD;
}

static bool run_reader(FlRun *run, const char *path, const char *format, FlTableRead *t, const FlOpDesc *desc,
                       bool whole, FlIoError *e) {
  FlCtx *ctx = fl_run_ctx(run);
  FlSlot file = {.t = {path, (int64_t)strlen(path)}};
  if (!whole) return read_head(ctx, path, t, desc, e);
  if (reader_of(format)(ctx, desc, &file, t->results) == 0) return true;
  return fl_io_error(e, fl_ctx_code(ctx) & 0xffff, "%s", fl_ctx_message(ctx));
}

/* With on_error=collect READ_CSV gives what it left out, too. */
enum { FL_LEFT_OUT = 6 };
static bool collects(const char *const *options, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (strcmp(options[k], "on_error=collect") == 0) return true;
  return false;
}

bool fl_io_table_stats(const char *path, const char *format, const char *const *options, int32_t n_options,
                       const FlIoSchema *schema, FlColumnStats *out, int64_t *n_rows, int64_t *n_left_out,
                       bool *whole, FlIoError *e) {
  FlTableRead t = {.schema = schema, .n_results = 1, .out = out};
  int32_t n_list = 0;
  bool collect = collects(options, n_options);
  *whole = !is_large_csv(path, format);
  *n_left_out = 0;
  for (int32_t k = 0; k < schema->n_columns; k++)
    t.n_results += 1 + schema->columns[k].nullable + (schema->columns[k].dtype == FL_CATEGORY);
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.quiet = true});
  const char **list = list_of(schema, options, n_options, &n_list);
  int32_t count = t.n_results; /* of rows that were left out */
  if (collect) t.n_results += FL_LEFT_OUT;
  t.results = calloc((size_t)t.n_results, sizeof *t.results);
  t.types = calloc((size_t)t.n_results, sizeof *t.types);
  bool ok = (run && list && t.results && t.types) || fl_io_error(e, FL_E_MEMORY, "out of memory");
  FlType1 of_file = {.dtype = FL_FILE};
  for (int32_t k = 1; ok && k < t.n_results; k++) t.types[k].rank = !collect || k != count;
  FlOpDesc desc = {.site = -1,
                   .n_args = 1,
                   .arg_types = &of_file,
                   .result_types = t.types,
                   .i = schema->n_columns,
                   .list = list,
                   .n_list = n_list};
  ok = ok && run_reader(run, path, format, &t, &desc, *whole, e);
  if (ok) {
    *n_rows = t.results[0].i;
    if (collect) *n_left_out = t.results[count].i;
    fl_parallel_for(fl_run_ctx(run), schema->n_columns, 1, stats_of_columns, &t);
    for (int32_t k = 1; k < t.n_results; k++)
      if (t.types[k].rank) fl_array_unref(t.results[k].a);
  }
  for (int32_t k = 0; list && k < n_list; k++) free((char *)(uintptr_t)list[k]);
  free(list);
  free(t.results);
  free(t.types);
  fl_run_free(run);
  return ok;
}

bool fl_io_array_stats(const char *path, const char *format, const FlIoArray *a, FlColumnStats *out,
                       FlIoError *e) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.quiet = true});
  if (!run) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  FlCtx *ctx = fl_run_ctx(run);
  FlSlot file = {.t = {path, (int64_t)strlen(path)}}, result = {0};
  FlType1 of_file = {.dtype = FL_FILE}, of_array = {.dtype = (uint8_t)a->dtype, .rank = (uint8_t)a->rank};
  FlOpDesc desc = {.site = -1, .n_args = 1, .arg_types = &of_file, .n_results = 1, .result_types = &of_array};
  bool ok = reader_of(format)(ctx, &desc, &file, &result) == 0;
  if (ok) {
    fl_column_stats(result.a, NULL, NULL, out);
    fl_array_unref(result.a);
  } else {
    fl_io_error(e, fl_ctx_code(ctx) & 0xffff, "%s", fl_ctx_message(ctx));
  }
  fl_run_free(run);
  return ok;
}
