/* table.c: columns as the attributes of operators name them: "name:type", "name:type?" (a value and a
 * validity), "name:type[]" (an array of one size in each row). A category's values are codes, and its levels
 * follow behind value and validity. */
#include "io/io_internal.h"
#include "data/data.h"

#include <string.h>

bool fl_table_wanted(const char *text, FlTableWanted *w) {
  const char *colon = strrchr(text, ':');
  size_t len = colon ? strlen(colon + 1) : 0;
  bool nullable = len > 0 && colon[len] == '?', arrays = len > 1 && strcmp(colon + len - 1, "[]") == 0;
  FlDtype dtype = FL_N_DTYPES;
  if (!colon || !fl_dtype_named(colon + 1, len - nullable - (arrays ? 2 : 0), &dtype)) return false;
  *w = (FlTableWanted){.name = text,
                       .name_len = (int32_t)(colon - text),
                       .dtype = dtype,
                       .nullable = nullable,
                       .arrays = arrays};
  return true;
}

const FlSlot *fl_table_column(const char *text, const FlSlot *args, FlTableColumn *c) {
  const char *colon = strrchr(text, ':');
  size_t len = strlen(text);
  *c = (FlTableColumn){
      .name = text, .name_len = (int32_t)(colon ? (size_t)(colon - text) : len), .values = (args++)->a};
  if (colon && text[len - 1] == '?') c->valid = (args++)->a;
  if (colon && strncmp(colon, ":category", 9) == 0) c->levels = (args++)->a;
  return args;
}

bool fl_table_make(FlCtx *ctx, FlTableWanted *w, int64_t rows, int64_t size) {
  int64_t dims[2] = {rows, size};
  int32_t dtype = w->dtype == FL_CATEGORY ? FL_I32 : (int32_t)w->dtype;
  w->values = fl_array_new(ctx, dtype, w->arrays ? 2 : 1, dims);
  if (w->nullable) w->valid = fl_array_new(ctx, FL_BOOL, 1, dims);
  return w->values && (w->valid || !w->nullable);
}

void fl_table_wanted_reset(FlTableWanted *w) {
  fl_array_unref(w->values);
  fl_array_unref(w->valid);
  fl_array_unref(w->levels);
  w->values = w->valid = w->levels = NULL;
}
