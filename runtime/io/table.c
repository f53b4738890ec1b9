/* table.c: columns as the attributes of operators name them, with their arguments and results: values, which
 * of them are valid where there are nulls, the levels of categories. */
#include "io/io_internal.h"
#include "data/data.h"

#include <string.h>

FlTableWanted fl_table_wanted(const FlColumnAttr *a) {
  return (FlTableWanted){.name = a->name,
                         .name_len = (int32_t)strlen(a->name),
                         .dtype = (FlDtype)a->dtype,
                         .nullable = (a->flags & FL_COLUMN_NULLS) != 0,
                         .arrays = (a->flags & FL_COLUMN_ARRAYS) != 0};
}

int32_t fl_table_wanted_all(const FlOpDesc *desc, FlTableWanted *to) {
  int32_t n = 0, beside = 0;
  for (int32_t k = 0; k < desc->n_columns; k++) {
    const FlColumnAttr *a = &desc->columns[k];
    if (a->flags & FL_COLUMN_FILE) continue;
    to[n++] = fl_table_wanted(a);
    beside = a->flags & FL_COLUMN_BESIDE ? beside + 1 : 0;
    for (int32_t i = 0; beside > 0 && i <= beside; i++) {
      to[n - 1 - i].width = beside + 1;
      to[n - 1 - i].place = beside - i;
    }
  }
  return n;
}

int32_t fl_table_beside(const FlTableWanted *w, int32_t n) {
  if (w->width) return w->width;
  int32_t k = 1;
  while (k < n && !w[k].width) k++;
  return k;
}

const FlSlot *fl_table_column(const FlColumnAttr *a, const FlSlot *args, FlTableColumn *c) {
  *c = (FlTableColumn){.name = a->name, .name_len = (int32_t)strlen(a->name), .values = (args++)->a};
  if (a->flags & FL_COLUMN_NULLS) c->valid = (args++)->a;
  if (a->dtype == FL_CATEGORY) c->levels = (args++)->a;
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
