/* column_texts.c: which texts a column of a small file holds, asked while compiling.
 *
 * In: a reader, a path, a column. Out: each text that is there, once. What always holds: it is all of
 * them, or nothing is said. */
#include "io/io_internal.h"
#include "io/tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL = 4 << 20 }; /* bytes of a file: reading a column of it takes some milliseconds */

/* Whether all of the file counts for its types, and it is small: files that say their types may have any
 * size. */
static bool read_whole(const char *reader, const char *path, FlOptions options) {
  FlIoSchema schema;
  FlIoError e = {0};
  struct stat there;
  if (stat(path, &there) != 0 || there.st_size > SMALL) return false;
  bool good = fl_io_schema_of(reader)(path, options, &schema, &e), whole = good && schema.whole;
  if (good) fl_io_schema_reset(&schema);
  return whole;
}

/* Copies of texts, in one block; false: no memory, or one has a zero byte, and nothing is owned. */
static bool copy(const FlText *at, int64_t n, FlIoTexts *out) {
  size_t bytes = (size_t)n * sizeof(char *);
  bool good = true;
  for (int64_t k = 0; k < n; k++) bytes += (size_t)at[k].len + 1;
  *out = (FlIoTexts){malloc(bytes + 1), (int32_t)n};
  if (!out->at) return false;
  char *to = (char *)(out->at + n);
  for (int64_t k = 0; k < n; k++) {
    if (at[k].len) memcpy(to, at[k].ptr, (size_t)at[k].len);
    to[at[k].len] = '\0';
    out->at[k] = to;
    good = good && strlen(to) == (size_t)at[k].len;
    to += at[k].len + 1;
  }
  if (!good) fl_io_texts_reset(out);
  return good;
}

bool fl_io_texts_copy(const FlIoTexts *t, FlIoTexts *out) {
  FlText *at = malloc((size_t)t->n * sizeof *at + 1);
  for (int32_t k = 0; at && k < t->n; k++) at[k] = (FlText){t->at[k], (int64_t)strlen(t->at[k])};
  bool good = at && copy(at, t->n, out);
  free(at);
  return good;
}

bool fl_io_column_texts(const char *reader, const char *path, FlOptions options, const FlColumnAttr *column,
                        int32_t most, FlIoTexts *out) {
  FlIoError e = {0};
  FlTableWanted w = fl_table_wanted(column);
  int64_t n = 0;
  *out = (FlIoTexts){0};
  if (w.dtype != FL_TEXT || !read_whole(reader, path, options)) return false;
  FlTableFrom from = {.path = path, .options = options};
  if (!fl_io_table_reader(reader)->read(NULL, &from, &w, 1, &n, &e)) return false;
  int32_t *codes = malloc((size_t)n * sizeof *codes + 1);
  FlArray *levels =
      codes ? fl_levels_find(NULL, w.values->data, w.valid ? w.valid->data : NULL, n, true, w.values, codes)
            : NULL;
  bool good = levels && levels->dims[0] <= most && copy(levels->data, levels->dims[0], out);
  fl_array_unref(levels);
  free(codes);
  fl_table_wanted_reset(&w);
  return good;
}

void fl_io_texts_reset(FlIoTexts *t) {
  free(t->at);
  *t = (FlIoTexts){0};
}
