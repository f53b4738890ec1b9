/* explain_read.c: readers in a plan: which columns are parsed and which are not, how large the file is. */
#include "cli/explain_internal.h"

#include "io/io.h"

#include <sys/stat.h>

/* The format that a reader of tables reads, by its name; NULL: it is none. */
static const char *format_of(FlOpcode code) {
  static const char read[] = "read_", some[] = "csv_";
  const char *name = fl_op_info[code].name;
  if (strncmp(name, read, sizeof read - 1) == 0) name += sizeof read - 1;
  else if (code != FL_OP_CSV_PARTS) return NULL;
  if (strncmp(name, some, sizeof some - 1) == 0) return "csv"; /* csv_some, csv_parts */
  return fl_io_schema_of(name) ? name : NULL;
}

bool fl_explain_is_reader(const FlOp *op) { return format_of(op->code) != NULL; }

/* The path of a file that the program text says; NULL: it is known when it runs. */
static const char *path_of(const FlValue *file) {
  const FlOp *op = file->op;
  if (!op || op->code != FL_OP_FILE_OF) return NULL;
  const FlOp *text = op->args[0]->op;
  return text && text->code == FL_OP_CONST ? text->attrs.s : NULL;
}

/* How many bytes of "name:type" are the name. */
static int name_length(const char *column) {
  const char *colon = strrchr(column, ':');
  return (int)(colon ? (size_t)(colon - column) : strlen(column));
}

static bool reads(const FlOp *op, const char *name) {
  for (int i = 0; i < (int)op->attrs.i; i++) {
    const char *column = op->attrs.list[i];
    if ((size_t)name_length(column) == strlen(name) && memcmp(column, name, strlen(name)) == 0) return true;
  }
  return false;
}

/* Results first .. are columns of the reader, with their validities. */
static void name_columns(FlExplain *p, const FlOp *op, int first) {
  for (int i = 0; i < (int)op->attrs.i; i++) {
    const char *column = op->attrs.list[i];
    int width = column[strlen(column) - 1] == '?' ? 2 : 1, len = name_length(column);
    const char *name = len ? fl_arena_strndup(p->arena, column, (size_t)len) : "path";
    for (int k = 0; k < width; k++) fl_explain_set_name(p, op->results[first++], name);
  }
}

void fl_explain_part(FlExplain *p, const FlOp *op) { name_columns(p, op, 1); }

/* What of the file is not read, when it is there to be looked at. */
static void say_file(FlExplain *p, const FlOp *op, const char *path) {
  struct stat found;
  FlIoSchema schema;
  FlIoError e = {0};
  int n = (int)op->attrs.i;
  const char *const *options = op->attrs.list + n;
  FlIoSchemaFn *ask = fl_io_schema_of(format_of(op->code));
  if (stat(path, &found) != 0 || !ask(path, options, op->attrs.n_list - n, &schema, &e)) return;
  fl_explain_step(p, "", "", "%s%s%s, %d of %d columns", fl_explain_bytes(p, (int64_t)found.st_size),
               schema.whole ? ", " : "",
               schema.whole ? fl_arena_printf(p->arena, "%s rows", fl_explain_count(p, schema.n_rows)) : "", n,
               (int)schema.n_columns);
  FlText1 left = {0};
  for (int32_t i = 0; i < schema.n_columns; i++)
    if (!reads(op, schema.columns[i].name))
      fl_text_addf(&left, "%s%s", left.len ? ", " : "", schema.columns[i].name);
  if (left.len) fl_explain_step(p, "", "", "not parsed: %s", left.s);
  fl_text_reset(&left);
  fl_io_schema_reset(&schema);
}

void fl_explain_reader(FlExplain *p, const FlOp *op) {
  const char *path = path_of(op->args[0]);
  const char *given = fl_explain_name(p, op->args[0]);
  FlText1 columns = {0};
  if (op->code != FL_OP_CSV_PARTS) name_columns(p, op, 1);
  for (int i = 0; i < (int)op->attrs.i; i++) {
    int len = name_length(op->attrs.list[i]);
    fl_text_addf(&columns, "%s%.*s", i ? ", " : "", len ? len : 4, len ? op->attrs.list[i] : "path");
  }
  fl_explain_step(p, fl_explain_line(p, op->span), "read", "%s%s%s",
               path    ? path
               : given ? given
                       : "files that are given",
               columns.len ? ": " : ", only the number of rows", columns.len ? columns.s : "");
  fl_text_reset(&columns);
  if (path) say_file(p, op, path);
}
