/* command_schema.c: flowc schema FILE: the columns of a data file and their types, as a script sees them.
 *
 * In: paths of data files. Out: for each the flow type to paste into a script, of a table one
 * column a line. */
#include "commands.h"

#include "base/base.h"
#include "io/io.h"
#include "syntax/ast.h"
#include "types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int say_error(const char *path, const FlIoError *e) {
  fprintf(stderr, "%s: error E%04d: %s\n", path, e->code, e->message);
  if (e->help[0]) fprintf(stderr, "  help: %s\n", e->help);
  return 1;
}

static int table(const char *path, FlIoSchemaFn *read_schema) {
  FlIoSchema schema;
  FlIoError e = {0};
  if (!read_schema(path, NULL, 0, &schema, &e)) return say_error(path, &e);
  printf("# %s: %lld rows%s\ntype Row = (\n", path, (long long)schema.n_rows,
         schema.whole ? "" : " read, there are more");
  for (int32_t i = 0; i < schema.n_columns; i++) {
    FlText1 name = {0};
    fl_syntax_add_name(&name, schema.columns[i].name);
    printf("  %s: %s%s,\n", name.s, fl_dtype_name(schema.columns[i].dtype),
           schema.columns[i].arrays     ? "[_]"
           : schema.columns[i].nullable ? "?"
                                        : "");
    fl_text_reset(&name);
  }
  printf(")\n");
  fl_io_schema_reset(&schema);
  return 0;
}

static int npy(const char *path) {
  FlDtype d;
  int32_t rank;
  int64_t dims[FL_MAX_RANK];
  FlIoError e = {0};
  if (!fl_io_npy_type(path, &d, &rank, dims, &e)) return say_error(path, &e);
  printf("# %s\n%s", path, fl_dtype_name(d));
  for (int32_t k = 0; k < rank; k++) printf(k ? ", %lld" : "[%lld", (long long)dims[k]);
  printf(rank ? "]\n" : "\n");
  return 0;
}

static int saved(const char *path) {
  FlIoError e = {0};
  char *type = fl_io_saved_type(path, &e);
  if (!type) return say_error(path, &e);
  printf("# %s\n%s\n", path, type);
  free(type);
  return 0;
}

static bool is_saved(const char *path) {
  static const char end[] = ".flowdata";
  size_t n = strlen(path), m = sizeof end - 1;
  return n > m && strcmp(path + n - m, end) == 0;
}

static int schema_of(const char *path) {
  const char *format = fl_io_format_of(path);
  if (is_saved(path)) return saved(path);
  if (format && strcmp(format, "npy") == 0) return npy(path);
  return table(path, fl_io_schema_of(format ? format : "csv"));
}

int fl_command_schema(int n_words, char **words) {
  if (n_words < 1) {
    fputs("usage: flowc schema FILE ...\n", stderr);
    return 2;
  }
  int status = 0;
  for (int i = 0; i < n_words; i++) {
    int one = schema_of(words[i]);
    if (one) status = one;
  }
  return status;
}
