/* explain_read.c: readers in a plan: which columns are parsed and which are not, how large the file is. */
#include "cli/explain_internal.h"

#include "io/io.h"

#include <sys/stat.h>

bool fl_explain_is_reader(const FlOp *op) {
  return op->code == FL_OP_READ_TABLE || op->code == FL_OP_READ_TABLE_SOME || op->code == FL_OP_TABLE_PARTS;
}

/* The path of a file that the program text says; NULL: it is known when it runs. */
static const char *path_of(const FlValue *file) {
  const FlOp *op = file->op;
  if (!op || op->code != FL_OP_FILE_OF) return NULL;
  const FlOp *text = op->args[0]->op;
  return text && text->code == FL_OP_CONST ? text->attrs.s : NULL;
}

static bool reads(const FlOp *op, const char *name) {
  for (int i = 0; i < op->attrs.n_columns; i++)
    if (op->attrs.columns[i].name && strcmp(op->attrs.columns[i].name, name) == 0) return true;
  return false;
}

static const char *name_of(const FlColumnAttr *c) { return c->flags & FL_COLUMN_FILE ? "path" : c->name; }

/* Results first .. are columns of the reader, with their validities. */
static void name_columns(FlExplain *p, const FlOp *op, int first) {
  for (int i = 0; i < op->attrs.n_columns; i++) {
    const FlColumnAttr *c = &op->attrs.columns[i];
    bool matrix = i + 1 < op->attrs.n_columns && c[1].flags & FL_COLUMN_BESIDE;
    for (int k = 0; k < fl_ir_column_width(c); k++, first++)
      if (!matrix) fl_explain_set_name(p, op->results[first], name_of(c));
  }
}

void fl_explain_part(FlExplain *p, const FlOp *op) { name_columns(p, op, 1); }

/* What of the file is not read, when it is there to be looked at. */
static void say_file(FlExplain *p, const FlOp *op, const char *path) {
  struct stat found;
  FlIoSchema schema;
  FlIoError e = {0};
  int n = op->attrs.n_columns;
  FlIoSchemaFn *ask = fl_io_schema_of(op->attrs.format->name);
  FlOptions options = {op->attrs.options, op->attrs.n_options};
  if (stat(path, &found) != 0 || !ask(path, options, &schema, &e)) return;
  fl_explain_step(p, "", "", "%s%s%s, %d of %d columns", fl_explain_bytes(p, (int64_t)found.st_size),
                  schema.whole ? ", " : "",
                  schema.whole ? fl_arena_printf(p->arena, "%s rows", fl_explain_count(p, schema.n_rows))
                               : "",
                  n, (int)schema.n_columns);
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
  if (op->code != FL_OP_TABLE_PARTS) name_columns(p, op, 1);
  for (int i = 0; i < op->attrs.n_columns; i++)
    fl_text_addf(&columns, "%s%s", i ? ", " : "", name_of(&op->attrs.columns[i]));
  fl_explain_step(p, fl_explain_line(p, op->span), "read", "%s%s%s",
                  path    ? path
                  : given ? given
                          : "files that are given",
                  columns.len ? ": " : ", only the number of rows", columns.len ? columns.s : "");
  fl_text_reset(&columns);
  if (path) say_file(p, op, path);
}
