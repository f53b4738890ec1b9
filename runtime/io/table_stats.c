/* table_stats.c: see table_stats.h: data files read as a script would read them, and what is in their
 * columns. */
#include "io/table_stats.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a table, as they were read. */
typedef struct FlTableRead {
  const FlIoSchema *schema;
  FlSlot *results; /* as of read_table: the number of rows, the columns, the levels */
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

/* The columns as attributes, to be freed. */
static FlColumnAttr *columns_of(const FlIoSchema *s) {
  FlColumnAttr *columns = calloc((size_t)s->n_columns + 1, sizeof *columns);
  for (int32_t k = 0; columns && k < s->n_columns; k++) {
    const FlIoColumn *c = &s->columns[k];
    int flags = FL_COLUMN_TYPED | (c->arrays ? FL_COLUMN_ARRAYS : c->nullable ? FL_COLUMN_NULLS : 0);
    columns[k] = (FlColumnAttr){.name = c->name, .flags = flags, .dtype = (int32_t)c->dtype};
  }
  return columns;
}

/* The options that were given, and those that were found; to be freed. */
static FlOptionAttr *options_of(const FlIoSchema *s, FlOptions given) {
  FlOptionAttr *options = calloc((size_t)given.n + FL_IO_DIALECT + 1, sizeof *options);
  for (int32_t k = 0; options && k < given.n; k++) options[k] = given.at[k];
  for (int32_t k = 0; options && k < s->n_found; k++) options[given.n + k] = fl_io_found_option(&s->found[k]);
  return options;
}

/* The same results as read_table, of the head. */
static bool read_head(FlCtx *ctx, const char *path, FlTableRead *t, const FlOpDesc *desc, FlIoError *e) {
  const FlTableReader *reader = desc->format;
  FlTableFrom from = {.path = path, .options = {desc->options, desc->n_options}};
  int32_t n = desc->n_columns;
  FlTableWanted *wanted = calloc((size_t)n + 1, sizeof *wanted);
  bool ok = wanted || fl_io_error(e, FL_E_MEMORY, "out of memory");
  for (int32_t k = 0; ok && k < n; k++) wanted[k] = fl_table_wanted(&desc->columns[k]);
  ok = ok && reader->read_head(ctx, &from, FL_STATS_HEAD, wanted, n, &t->results[0].i, e);
  for (int32_t k = 0; ok && k < n; k++) {
    t->results[result_of(t, k, false)].a = wanted[k].values;
    if (wanted[k].nullable) t->results[result_of(t, k, true)].a = wanted[k].valid;
  }
  free(wanted);
  return ok;
}

static bool is_large(const char *path, const char *reader) {
  struct stat found;
  return fl_io_table_reader(reader)->read_head && stat(path, &found) == 0 &&
         found.st_size / 4 > FL_STATS_HEAD;
}

static bool run_reader(FlRun *run, const char *path, FlRuntimeOp *read, FlTableRead *t, const FlOpDesc *desc,
                       bool whole, FlIoError *e) {
  FlCtx *ctx = fl_run_ctx(run);
  FlSlot file = {.t = {path, (int64_t)strlen(path)}};
  if (!whole) return read_head(ctx, path, t, desc, e);
  if (read(ctx, desc, &file, t->results) == 0) return true;
  return fl_io_error(e, fl_ctx_code(ctx) & 0xffff, "%s", fl_ctx_message(ctx));
}

/* What read_table_some gives of what it left out. */
enum { FL_LEFT_OUT = 6 };
static bool collects(FlOptions options) {
  const char *what = fl_option_text(options, "on_error");
  return what && strcmp(what, "collect") == 0;
}

bool fl_io_table_stats(const char *path, const char *reader, FlOptions options, const FlIoSchema *schema,
                       FlColumnStats *out, int64_t *n_rows, int64_t *n_left_out, bool *whole, FlIoError *e) {
  FlTableRead t = {.schema = schema, .n_results = 1, .out = out};
  bool collect = collects(options);
  *whole = !is_large(path, reader);
  *n_left_out = 0;
  for (int32_t k = 0; k < schema->n_columns; k++)
    t.n_results += 1 + schema->columns[k].nullable + (schema->columns[k].dtype == FL_CATEGORY);
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.quiet = true});
  FlColumnAttr *columns = columns_of(schema);
  FlOptionAttr *all = options_of(schema, options);
  int32_t count = t.n_results; /* of rows that were left out */
  if (collect) t.n_results += FL_LEFT_OUT;
  t.results = calloc((size_t)t.n_results, sizeof *t.results);
  t.types = calloc((size_t)t.n_results, sizeof *t.types);
  bool ok = (run && columns && all && t.results && t.types) || fl_io_error(e, FL_E_MEMORY, "out of memory");
  FlType1 of_file = {.dtype = FL_FILE};
  for (int32_t k = 1; ok && k < t.n_results; k++) t.types[k].rank = !collect || k != count;
  FlOpDesc desc = {.site = -1,
                   .n_args = 1,
                   .n_results = t.n_results,
                   .arg_types = &of_file,
                   .result_types = t.types,
                   .n_columns = schema->n_columns,
                   .columns = columns,
                   .options = all,
                   .n_options = options.n + schema->n_found,
                   .format = fl_io_table_reader(reader)};
  ok = ok && run_reader(run, path, collect ? fl_rt_read_table_some : fl_rt_read_table, &t, &desc, *whole, e);
  if (ok) {
    *n_rows = t.results[0].i;
    if (collect) *n_left_out = t.results[count].i;
    fl_parallel_for(fl_run_ctx(run), schema->n_columns, 1, stats_of_columns, &t);
    for (int32_t k = 1; k < t.n_results; k++)
      if (t.types[k].rank) fl_array_unref(t.results[k].a);
  }
  free(columns);
  free(all);
  free(t.results);
  free(t.types);
  fl_run_free(run);
  return ok;
}

static FlRuntimeOp *reader_of(const char *name) {
  static const struct {
    const char *name;
    FlRuntimeOp *read;
  } readers[] = {
#define FL_ARRAYS_READER(name, ...) {"read_" #name, fl_rt_read_##name},
#include "flow/formats.def"
  };
  for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
    if (strcmp(readers[k].name, name) == 0) return readers[k].read;
  return NULL;
}

bool fl_io_array_stats(const char *path, const char *reader, const FlIoArray *a, FlColumnStats *out,
                       FlIoError *e) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.quiet = true});
  if (!run) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  FlCtx *ctx = fl_run_ctx(run);
  FlSlot file = {.t = {path, (int64_t)strlen(path)}}, result = {0};
  FlType1 of_file = {.dtype = FL_FILE}, of_array = {.dtype = (uint8_t)a->dtype, .rank = (uint8_t)a->rank};
  FlOpDesc desc = {.site = -1, .n_args = 1, .arg_types = &of_file, .n_results = 1, .result_types = &of_array};
  bool ok = reader_of(reader)(ctx, &desc, &file, &result) == 0;
  if (ok) {
    fl_column_stats(result.a, NULL, NULL, out);
    fl_array_unref(result.a);
  } else {
    fl_io_error(e, fl_ctx_code(ctx) & 0xffff, "%s", fl_ctx_message(ctx));
  }
  fl_run_free(run);
  return ok;
}
