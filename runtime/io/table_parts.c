/* table_parts.c: the operators table_parts, table_part and table_end: a file that is read part by part
 * (opt/parts.c), so that what is done with its rows is done while they are at hand, and only what is kept of
 * them stays.
 *
 * In: a file, columns and options as read_table has them; the format says who reads. Out: the opened file as
 * an array, whose buffer owns it; for each part its rows. What always holds: parts come from the file alone;
 * put together they are what read_table gives. A part with a problem gives no rows and leaves a mark;
 * table_end then reads the file as read_table does, and so reports what that would. A file that is opened
 * quietly, before its place in the script, has no parts where it cannot be opened. */
#include "io/tables.h"
#include "data/data.h"
#include "exec/exec.h"
#include "part/dictionary.h"
#include "part/fill.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The opened file. The buffer comes first: its last owner closes the file. */
typedef struct Opened {
  FlBuffer base;
  const FlTableParts *how;
  void *file; /* NULL: it is not open */
  char *path;
  char *quiet; /* as the script names it, where its use is claimed at the end; NULL: it was at once */
  int64_t n_parts;
  _Atomic bool bad;
} Opened;

static void close_file(FlBuffer *b) {
  Opened *o = (Opened *)b;
  if (o->file) o->how->close(o->file);
  free(o->path);
  free(o->quiet);
}

static Opened *opened_of(const FlArray *a) { return (Opened *)a->buffer; }

static const FlTableReader *reader_of(const FlOpDesc *desc) { return desc->format; }

static FlTableFrom from_of(const Opened *o, const FlOpDesc *desc) {
  return (FlTableFrom){.path = o->path, .options = {desc->options, desc->n_options}};
}

static bool no_memory(const Opened *o, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", o->path);
}

/* The columns that the attributes name; NULL: out of memory, e. */
static FlTableWanted *wanted_of(const Opened *o, const FlOpDesc *desc, FlIoError *e) {
  FlTableWanted *wanted = calloc((size_t)desc->n_columns + 1, sizeof *wanted);
  for (int32_t k = 0; wanted && k < desc->n_columns; k++) wanted[k] = fl_table_wanted(&desc->columns[k]);
  if (!wanted) no_memory(o, e);
  return wanted;
}

static FlStatus claim(FlCtx *ctx, const FlOpDesc *desc, Opened *o, FlText file, FlIoError *e) {
  if (desc->i != 1) return fl_ctx_claim_input(ctx, desc->site, file.ptr, file.len);
  o->quiet = strndup(file.ptr, (size_t)file.len);
  if (!o->quiet) no_memory(o, e);
  return 0;
}

FlStatus fl_table_agree(FlCtx *ctx, const FlOpDesc *desc, const char *path) {
  struct stat st;
  int64_t size = stat(path, &st) == 0 ? st.st_size : -1, least, most;
  FlStatus s = fl_ctx_agree(ctx, desc->site, size, &least, &most);
  if (s || least == most) return s;
  s = least < 0 ? fl_fail_op(ctx, desc, FL_CODE_RESOURCE, "`%s` is not there at some ranks", path)
                : fl_fail_op(ctx, desc, FL_CODE_RESOURCE,
                             "`%s` is another file at some ranks: it has %lld bytes, and %lld", path,
                             (long long)least, (long long)most);
  fl_fail_help(ctx, "put it where all machines see it, or copy it to the same path on each");
  return s;
}

FlStatus fl_rt_table_parts(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  static const int64_t one = 1;
  FlIoError e = {0};
  FlText file = args[0].t;
  Opened *o = calloc(1, sizeof *o);
  if (!o) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory while reading files");
  o->base = (FlBuffer){
      .data = &o->n_parts, .bytes = sizeof o->n_parts, .kind = FL_BUFFER_LENT, .release = close_file};
  atomic_init(&o->base.refs, 1);
  o->how = reader_of(desc)->parts;
  o->path = fl_input_path(file, &e);
  FlStatus status = o->path ? claim(ctx, desc, o, file, &e) : 0;
  FlTableWanted *wanted = o->path && !status && !e.code ? wanted_of(o, desc, &e) : NULL;
  FlTableFrom from = from_of(o, desc);
  if (wanted) o->file = o->how->open(ctx, &from, wanted, desc->n_columns, &o->n_parts, &e);
  free(wanted);
  bool later = o->quiet && wanted && !o->file && e.code != FL_E_MEMORY;
  if (later) {
    e = (FlIoError){0};
    o->n_parts = 0;
    atomic_store(&o->bad, true);
  }
  if (!o->file && !later && !status) status = fl_io_fail(ctx, desc->site, &e, file.ptr, file.len);
  if (!status && (o->file || later)) status = fl_table_agree(ctx, desc, o->path);
  FlArray *open = status ? NULL : fl_array_over(ctx, &o->base, &o->n_parts, FL_I64, 1, &one);
  if (open) results[0].i = o->n_parts;
  if (open) results[1].a = open;
  fl_buffer_unref(&o->base);
  return open ? 0 : status ? status : 1;
}

/* Columns without rows. */
static bool make_empty(FlCtx *ctx, const Opened *o, FlTableWanted *wanted, int32_t n, FlIoError *e) {
  for (int32_t k = 0; k < n; k++)
    if (!fl_table_make(ctx, &wanted[k], 0, 0)) return no_memory(o, e);
  return true;
}

/* Codes of texts, as read_table has them, where all rows are read at once. */
static bool find_codes(FlCtx *ctx, const Opened *o, const FlTableWanted *wanted, int32_t n, FlIoError *e) {
  for (int32_t k = 0; k < n; k++)
    if (wanted[k].dtype == FL_TEXT && fl_part_find_codes(ctx, wanted[k].values, false) != 0)
      return no_memory(o, e);
  return true;
}

static bool take_part(FlCtx *ctx, Opened *o, int64_t part, FlTableWanted *wanted, int32_t n, int64_t *rows,
                      FlIoError *e) {
  if (o->how->part(ctx, o->file, part, wanted, n, rows, e))
    return part >= 0 || find_codes(ctx, o, wanted, n, e);
  if (e->code == FL_E_MEMORY) return false;
  *rows = 0;
  atomic_store(&o->bad, true); /* only read after all parts */
  return make_empty(ctx, o, wanted, n, e);
}

FlStatus fl_rt_table_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlIoError e = {0};
  Opened *o = opened_of(args[0].a);
  int32_t n = desc->n_columns;
  int64_t rows = 0;
  FlOpPart *some = fl_ctx_op_part(ctx);
  if (some && some->from < 0 && (args[1].i != FL_TABLE_PART_ALL || !o->file)) return 0;
  if (some) return fl_table_rows_opened(ctx, desc, o->how, o->file, some);
  FlTableWanted *wanted = wanted_of(o, desc, &e);
  for (int32_t k = 0; wanted && k < n; k++) wanted[k].coded = fl_part_gives_codes(ctx, desc);
  bool none = args[1].i == FL_TABLE_PART_NONE;
  bool ok = wanted &&
            (none ? make_empty(ctx, o, wanted, n, &e) : take_part(ctx, o, args[1].i, wanted, n, &rows, &e));
  FlSlot *to = results;
  (to++)->i = rows;
  for (int32_t k = 0; ok && k < n; k++) {
    (to++)->a = wanted[k].values;
    if (wanted[k].nullable) (to++)->a = wanted[k].valid;
  }
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, o->path, (int64_t)strlen(o->path));
  for (int32_t k = 0; !ok && wanted && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  free(wanted);
  return status;
}

/* Reads the file as read_table does, for what it says. */
static bool read_again(FlCtx *ctx, const Opened *o, const FlOpDesc *desc, FlIoError *e) {
  int64_t rows;
  FlTableFrom from = from_of(o, desc);
  FlTableWanted *wanted = wanted_of(o, desc, e);
  if (wanted && reader_of(desc)->read(ctx, &from, wanted, desc->n_columns, &rows, e)) {
    for (int32_t k = 0; k < desc->n_columns; k++) fl_table_wanted_reset(&wanted[k]);
    fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", o->path);
  }
  free(wanted);
  return false;
}

FlStatus fl_rt_table_end(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlIoError e = {0};
  Opened *o = opened_of(args[0].a);
  if (o->quiet && fl_ctx_claim_input(ctx, desc->site, o->quiet, (int64_t)strlen(o->quiet))) return 1;
  int64_t none, bad; /* of other ranks' parts, too: before anybody sees that rows are missing */
  FlStatus status = fl_ctx_agree(ctx, desc->site, atomic_load(&o->bad), &none, &bad);
  if (status) return status;
  bool ok = bad ? read_again(ctx, o, desc, &e) : o->how->end(o->file, o->path, &e);
  return ok ? 0 : fl_io_fail(ctx, desc->site, &e, o->path, (int64_t)strlen(o->path));
}
