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

static void print_array(const FlIoArray *a) {
  printf("%s", a->dtype == FL_N_DTYPES ? "?" : fl_dtype_name(a->dtype));
  for (int32_t k = 0; k < a->rank; k++) printf(k ? ", %lld" : "[%lld", (long long)a->dims[k]);
  printf(a->rank ? "]" : "");
}

/* One array as its type, several as the tuple of them; one that cannot be read as a comment. */
static int arrays(const char *path, FlIoArraysFn *read_arrays) {
  FlIoArrays all;
  FlIoError e = {0};
  if (!read_arrays(path, &all, &e)) return say_error(path, &e);
  bool one = all.n == 1 && !*all.at->name;
  printf("# %s\n%s", path, one ? "" : "(\n");
  for (int32_t k = 0; k < all.n; k++) {
    FlText1 name = {0};
    fl_syntax_add_name(&name, all.at[k].name);
    if (all.at[k].why) {
      printf("  # %s: %s\n", name.s, all.at[k].why);
    } else {
      if (!one) printf("  %s: ", name.s);
      print_array(&all.at[k]);
      printf(one ? "\n" : ",\n");
    }
    fl_text_reset(&name);
  }
  if (!one) printf(")\n");
  fl_io_arrays_reset(&all);
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
  FlIoArraysFn *read_arrays = format ? fl_io_arrays_of(format) : NULL;
  return read_arrays ? arrays(path, read_arrays) : table(path, fl_io_schema_of(format ? format : "csv"));
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
