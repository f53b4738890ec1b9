/* arrow_types.c: the row type of an Arrow file, for the compiler.
 *
 * In: a path. Out: its columns with their types; those of types that flow does not have (bytes, unions) are
 * left out. What always holds: a column has null when a batch says that it has; the values are not looked at.
 */
#include "io/arrow.h"
#include "data/text_order.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

static FlDtype int_dtype(const FlArrowField *f) {
  static const FlDtype wide[2][4] = {{FL_U8, FL_U16, FL_U32, FL_U64}, {FL_I8, FL_I16, FL_I32, FL_I64}};
  for (int k = 0; k < 4; k++)
    if (f->width == 8 << k) return wide[f->sign][k];
  return FL_N_DTYPES;
}

/* What a value becomes when nothing else is wanted; FL_N_DTYPES: nothing. */
static FlDtype scalar_dtype(const FlArrowField *f) {
  switch (f->type) {
  case FL_ARROW_NULL: return FL_TEXT;
  case FL_ARROW_BOOL: return FL_BOOL;
  case FL_ARROW_INT: return int_dtype(f);
  case FL_ARROW_FLOAT: return f->width == 2 ? FL_F64 : FL_F32;
  case FL_ARROW_DECIMAL:
    if (f->scale > FL_DECIMAL_DIGITS) return FL_TEXT; /* with all its digits */
    return f->scale > 0 ? (FlDtype)(FL_DECIMAL0 + f->scale) : FL_I64;
  case FL_ARROW_UTF8:
  case FL_ARROW_LARGE_UTF8:
  case FL_ARROW_UTF8_VIEW: return f->dictionary && f->ordered ? FL_CATEGORY : FL_TEXT;
  case FL_ARROW_DATE: return FL_DATE;
  case FL_ARROW_TIMESTAMP: return FL_DATETIME;
  case FL_ARROW_TIME:
  case FL_ARROW_DURATION: return FL_DURATION;
  }
  return FL_N_DTYPES;
}

/* The column of a field; false: it has no type here. Lists are arrays where their elements may be, and what
 * else is nested is JSON. */
static bool column_of(const FlArrowField *f, FlIoColumn *c) {
  FlArrowBatch none = {.label = ""};
  FlIoError ignored;
  bool nested = fl_arrow_is_nested(f);
  c->arrays = nested && f->type != FL_ARROW_STRUCT && f->type != FL_ARROW_MAP;
  c->dtype = c->arrays ? scalar_dtype(f->children) : nested ? FL_TEXT : scalar_dtype(f);
  FlTableWanted w = {.name = "", .dtype = c->dtype, .arrays = c->arrays};
  if (c->dtype != FL_N_DTYPES && !(c->arrays && c->dtype == FL_TEXT) &&
      fl_arrow_converts(&none, f, &w, &ignored))
    return true;
  c->arrays = false;
  c->dtype = FL_TEXT;
  return nested;
}

/* Which fields have a null in any batch. */
static bool find_nulls(FlArrowFile *file, bool *nulls, FlIoError *e) {
  for (int32_t k = 0; k < file->n_batches; k++) {
    FlArrowBatch b = file->batches[k];
    for (int32_t i = 0; i < file->root.n_children; i++) {
      nulls[i] = nulls[i] || fl_arrow_has_nulls(&b) || file->root.children[i].type == FL_ARROW_NULL;
      if (!fl_arrow_skip(&b, &file->root.children[i], e)) return false;
    }
  }
  for (int32_t i = 0; i < file->root.n_children; i++)
    for (int32_t k = 0; k < file->n_dictionaries; k++) {
      const FlArrowField *f = &file->root.children[i];
      if (f->dictionary && f->dictionary_id == file->dictionaries[k].id)
        nulls[i] = nulls[i] || fl_arrow_has_nulls(&file->dictionaries[k].values);
    }
  return true;
}

static int by_name(const void *a, const void *b) {
  const FlArrowField *x = *(const FlArrowField *const *)a, *y = *(const FlArrowField *const *)b;
  int order = fl_text_order(x->name, y->name);
  return order ? order : (x > y) - (x < y);
}

/* Names are there once, and without zero bytes. */
static bool check_names(const FlArrowFile *file, FlIoError *e) {
  const FlArrowField *all = file->root.children,
                     **sorted = calloc((size_t)file->root.n_children + 1, sizeof *sorted);
  if (!sorted) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", file->label);
  bool ok = true;
  for (int32_t k = 0; k < file->root.n_children; k++) {
    sorted[k] = &all[k];
    if (ok && all[k].name.len && memchr(all[k].name.ptr, 0, (size_t)all[k].name.len))
      ok = fl_io_error(e, FL_E_HEADER, "the name of column %d of `%s` has a zero byte", k + 1, file->label);
  }
  qsort(sorted, (size_t)file->root.n_children, sizeof *sorted, by_name);
  for (int32_t k = 1; ok && k < file->root.n_children; k++) {
    const FlArrowField *x = sorted[k - 1], *y = sorted[k];
    if (x->name.len == y->name.len &&
        (!x->name.len || memcmp(x->name.ptr, y->name.ptr, (size_t)x->name.len) == 0))
      ok = fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%.*s`", (int)(x - all) + 1,
                       (int)(y - all) + 1, file->label, (int)(x->name.len < 100 ? x->name.len : 100),
                       x->name.len ? x->name.ptr : "");
  }
  free(sorted);
  return ok;
}

static bool take_columns(const FlArrowFile *file, const bool *nulls, FlIoSchema *out, FlIoError *e) {
  size_t n = (size_t)file->root.n_children, bytes = n * sizeof *out->columns;
  for (size_t i = 0; i < n; i++) bytes += (size_t)file->root.children[i].name.len + 1;
  out->own = calloc(1, bytes + 1);
  if (!out->own) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", file->label);
  out->columns = out->own;
  char *to = (char *)(out->columns + n);
  for (size_t i = 0; i < n; i++) {
    const FlArrowField *f = &file->root.children[i];
    FlIoColumn *c = &out->columns[out->n_columns];
    *c = (FlIoColumn){.name = to, .nullable = nulls[i]};
    bool empty = f->name.len == 0;
    if (!column_of(f, c)) continue;
    if (c->arrays) c->nullable = false;
    if (!empty) memcpy(to, f->name.ptr, (size_t)f->name.len);
    to += f->name.len + 1;
    out->n_columns++;
  }
  out->n_rows = file->n_rows;
  out->whole = true;
  if (out->n_columns) return true;
  return fl_io_error(e, FL_E_ARROW, "`%s` has no column of a type that flow has", file->label);
}

bool fl_arrow_table_schema(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  (void)options;
  FlInput in;
  FlArrowFile file;
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  if (!fl_input_open(NULL, path, &in, e)) return false;
  bool ok = fl_arrow_open(&in, path, true, &file, e);
  bool *nulls = calloc((size_t)file.root.n_children + 1, sizeof *nulls);
  if (ok && !nulls) ok = fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  ok = ok && check_names(&file, e) && find_nulls(&file, nulls, e) && take_columns(&file, nulls, out, e) &&
       fl_input_check(&in, path, e);
  free(nulls);
  fl_arrow_close(&file);
  fl_input_close(&in);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}
