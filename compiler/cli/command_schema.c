/* command_schema.c: flowc schema FILE: the columns of a data file and their types, as a script sees them.
 *
 * In: paths of data files, options of their readers. Out: for each the flow type to paste into a script, of a
 * table one column a line; before it, as comments, how the file is written and what is in its columns. */
#include "cli/commands.h"

#include "base/base.h"
#include "base/width.h"
#include "io/io.h"
#include "ir/ir.h"
#include "io/table_stats.h"
#include "syntax/ast.h"
#include "cli/words.h"
#include "types/types.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words "name=value". */
typedef struct Options {
  const char *const *at;
  int n;
} Options;

static int say_error(const char *path, const FlIoError *e) {
  fprintf(stderr, "%s: error E%04d: %s\n", path, e->code, e->message);
  if (e->help[0]) fprintf(stderr, "  help: %s\n", e->help);
  return 1;
}

/* ---- tables ---- */

/* A row of what is shown: the texts of its cells. */
enum { NAME, TYPE, NULLS, DISTINCT, RANGE, N_CELLS };
typedef struct Row {
  char *cells[N_CELLS];
} Row;

static const char *suffix_of(const FlIoColumn *c) { return c->arrays ? "[_]" : c->nullable ? "?" : ""; }

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...) {
  char *out = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&out, format, args) < 0) out = NULL;
  va_end(args);
  return out;
}

static char *range_of(const FlColumnStats *s) {
  const char *only = strcmp(s->low, s->high) == 0 ? "" : " .. ";
  const char *high = *only ? s->high : "";
  if (!s->nans) return s->range ? text_of("%s%s%s", s->low, only, high) : text_of("%s", "");
  return s->range ? text_of("%s%s%s, %lld nan", s->low, only, high, (long long)s->nans)
                  : text_of("%lld nan", (long long)s->nans);
}

static char *distinct_of(const FlColumnStats *s) {
  return s->distinct > FL_STATS_DISTINCT ? text_of("> %d", FL_STATS_DISTINCT)
                                         : text_of("%lld", (long long)s->distinct);
}

/* A name as it is; in backticks where it would break the line. */
static char *name_of(const char *name) {
  FlText1 quoted = {0};
  bool breaks = false;
  for (const char *c = name; *c; c++) breaks |= (unsigned char)*c < 32 || *c == 127;
  if (breaks) fl_syntax_add_name(&quoted, name);
  char *text = text_of("%s", breaks ? quoted.s : name);
  fl_text_reset(&quoted);
  return text;
}

static Row row_of(const FlIoColumn *c, const FlColumnStats *s) {
  Row r = {{name_of(c->name), text_of("%s%s", fl_dtype_name(c->dtype), suffix_of(c)),
            text_of("%lld", (long long)s->nulls), distinct_of(s), range_of(s)}};
  return r;
}

static int width_of(const char *text) { return text ? fl_width_text(text, strlen(text)) : 0; }

/* Aligned: names, types and ranges to the left, numbers to the right. */
static void print_rows(const Row *rows, int n) {
  int widths[N_CELLS] = {0};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < N_CELLS; k++)
      if (width_of(rows[i].cells[k]) > widths[k]) widths[k] = width_of(rows[i].cells[k]);
  for (int i = 0; i < n; i++) {
    printf("#");
    for (int k = 0; k < N_CELLS; k++) {
      const char *text = rows[i].cells[k] ? rows[i].cells[k] : "";
      int pad = widths[k] - width_of(text);
      bool right = k == NULLS || k == DISTINCT;
      if (k == RANGE && !*text) break;
      printf(" %s%*s%s", k ? " " : "", right ? pad : 0, "", text);
      if (!right && k < RANGE) printf("%*s", pad, "");
    }
    printf("\n");
  }
}

static void print_stats(const FlIoSchema *schema, const FlColumnStats *stats) {
  Row *rows = calloc((size_t)schema->n_columns + 1, sizeof *rows);
  if (!rows) return;
  rows[0] =
      (Row){{text_of("column"), text_of("type"), text_of("nulls"), text_of("distinct"), text_of("range")}};
  for (int32_t k = 0; k < schema->n_columns; k++) rows[k + 1] = row_of(&schema->columns[k], &stats[k]);
  print_rows(rows, schema->n_columns + 1);
  for (int32_t i = 0; i <= schema->n_columns; i++)
    for (int k = 0; k < N_CELLS; k++) free(rows[i].cells[k]);
  free(rows);
}

/* The type of an option, by the table. */
static FlOptionType type_of(const char *reader, const char *name) {
  const FlFormatOption *o = fl_format_find(reader)->options;
  while (strcmp(o->name, name) != 0) o++;
  return o->type;
}

/* How the file is written, as options to paste: sep = ";". */
static void print_dialect(const char *reader, const FlIoSchema *schema) {
  for (int32_t k = 0; k < schema->n_found; k++) {
    FlOptionAttr o = fl_io_found_option(&schema->found[k]);
    printf("%s%s = ", k ? ", " : "# found: ", o.name);
    if (o.text) printf("\"%s\"", *o.text == '\t' ? "\\t" : *o.text == '"' ? "\\\"" : o.text);
    else if (type_of(reader, o.name) == FL_OPTION_BOOL) printf("%s", o.number ? "true" : "false");
    else printf("%lld", (long long)o.number);
  }
  if (schema->n_found) printf("\n");
}

static void print_type(const FlIoSchema *schema) {
  printf("type Row = (\n");
  for (int32_t i = 0; i < schema->n_columns; i++) {
    FlText1 name = {0};
    fl_syntax_add_name(&name, schema->columns[i].name);
    printf("  %s: %s%s,\n", name.s, fl_dtype_name(schema->columns[i].dtype), suffix_of(&schema->columns[i]));
    fl_text_reset(&name);
  }
  printf(")\n");
}

static int table(const char *path, const char *reader, FlOptions options) {
  FlIoSchema schema;
  FlIoError e = {0};
  if (!fl_io_schema_of(reader)(path, options, &schema, &e)) return say_error(path, &e);
  FlColumnStats *stats = calloc((size_t)schema.n_columns + 1, sizeof *stats);
  int64_t n_rows = schema.n_rows, n_left_out = 0;
  bool whole = true, read = stats && fl_io_table_stats(path, reader, options, &schema, stats, &n_rows,
                                                       &n_left_out, &whole, &e);
  if (read && !whole)
    printf("# %s: %lld rows in its first %d MB\n", path, (long long)n_rows, FL_STATS_HEAD >> 20);
  else
    printf("# %s: %lld rows%s\n", path, (long long)n_rows,
           read || schema.whole ? "" : " read, there are more");
  if (n_left_out) printf("# %lld more are left out\n", (long long)n_left_out);
  print_dialect(reader, &schema);
  if (read) print_stats(&schema, stats);
  else printf("# not all of it fits the types of its first rows: %s\n", e.message);
  print_type(&schema);
  free(stats);
  fl_io_schema_reset(&schema);
  return 0;
}

/* ---- arrays and saved values ---- */

static void print_array(const FlIoArray *a) {
  printf("%s", a->dtype == FL_N_DTYPES ? "?" : fl_dtype_name(a->dtype));
  for (int32_t k = 0; k < a->rank; k++) printf(k ? ", %lld" : "[%lld", (long long)a->dims[k]);
  printf(a->rank ? "]" : "");
}

/* What is in the one array of a file, where it can be read. */
static void print_array_stats(const char *path, const char *reader, const FlIoArray *a) {
  FlColumnStats stats;
  FlIoError e = {0};
  if (a->why || !a->rank || !fl_io_array_stats(path, reader, a, &stats, &e)) return;
  char *range = range_of(&stats), *distinct = distinct_of(&stats);
  printf("# distinct %s%s%s\n", distinct ? distinct : "", range && *range ? ", range " : "",
         range ? range : "");
  free(range);
  free(distinct);
}

/* One array as its type, several as the tuple of them; one that cannot be read as a comment. */
static int arrays(const char *path, const char *reader) {
  FlIoArrays all;
  FlIoError e = {0};
  if (!fl_io_arrays_of(reader)(path, &all, &e)) return say_error(path, &e);
  bool one = all.n == 1 && !*all.at->name;
  printf("# %s\n", path);
  if (one) print_array_stats(path, reader, all.at);
  else printf("(\n");
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

/* A table whose options are among the words: those that its reader has. */
static int table_with(const char *path, const char *reader, const Options *words) {
  FlOptionAttr *options = calloc((size_t)words->n + 1, sizeof *options);
  char(*names)[FL_IO_OPTION_NAME] = calloc((size_t)words->n + 1, sizeof *names);
  FlIoError e = {0};
  int n = 0;
  bool possible = true;
  for (int i = 0; options && names && possible && i < words->n; i++) {
    int is = fl_io_option_read(reader, words->at[i], &options[n], names[n], &e);
    possible = is >= 0;
    n += is > 0;
  }
  int status = !possible          ? say_error(path, &e)
               : options && names ? table(path, reader, (FlOptions){options, n})
                                  : 1;
  free(options);
  free(names);
  return status;
}

static const char *reader_of(const char *path) {
  const char *reader = fl_io_reader_of(path);
  return reader ? reader : "read_csv";
}

static int schema_of(const char *path, const Options *options) {
  if (strcmp(path, "-") == 0) {
    FlIoError e = {0};
    if (!fl_io_standard_input(NULL, &e)) return say_error(path, &e);
    path = fl_io_standard_input_path().ptr;
  }
  const char *reader = reader_of(path);
  if (is_saved(path)) return saved(path);
  return fl_io_arrays_of(reader) ? arrays(path, reader) : table_with(path, reader, options);
}

/* Whether a word is an option of a reader and no file. */
static bool is_option(const char *word) {
  static const char *const readers[] = {
#define FL_TABLE_READER(name, ...) "read_" #name,
#include "flow/formats.def"
  };
  FlIoError e = {0};
  FlOptionAttr o;
  char name[FL_IO_OPTION_NAME];
  if (!strchr(word, '=') || access(word, F_OK) == 0) return false;
  for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
    if (fl_io_option_read(readers[k], word, &o, name, &e) != 0) return true;
  return false;
}

/* Whether the reader of one of the files has the option; else it is reported. */
static bool is_taken(const char *word, char *const *files, int n) {
  FlIoError e = {0};
  FlOptionAttr o;
  char name[FL_IO_OPTION_NAME];
  for (int i = 0; i < n; i++)
    if (fl_io_option_read(reader_of(files[i]), word, &o, name, &e) != 0) return true;
  fprintf(stderr, "flowc schema: `%s` has no option `%.*s`\n", reader_of(files[0]), (int)strcspn(word, "="),
          word);
  return false;
}

int fl_command_schema(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_SCHEMA, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  int n_files = 0;
  for (int i = 0; i < w.n_operands; i++) { /* the files to the front, then the options */
    if (is_option(w.operands[i])) continue;
    char *file = w.operands[i];
    memmove(w.operands + n_files + 1, w.operands + n_files, sizeof *w.operands * (size_t)(i - n_files));
    w.operands[n_files++] = file;
  }
  if (!n_files) return fl_words_usage(FL_COMMAND_SCHEMA);
  Options options = {(const char *const *)w.operands + n_files, w.n_operands - n_files};
  for (int i = 0; i < options.n; i++)
    if (!is_taken(options.at[i], w.operands, n_files)) return 2;
  for (int i = 0; i < n_files; i++)
    if (schema_of(w.operands[i], &options) != 0) status = 1;
  return status == FL_WORDS_READ ? 0 : status;
}
