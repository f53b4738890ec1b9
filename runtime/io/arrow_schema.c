/* arrow_schema.c: the schema of an Arrow stream, both ways, and the frame of its messages.
 *
 * Numbers of fields are those of Schema.fbs and Message.fbs. Units of times: s, ms, us, ns are 0 to 3; of
 * dates: days 0, milliseconds 1. */
#include "io/arrow.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------------ */

static int width_of(FlFlat f, uint32_t type, int kind) {
  switch (kind) {
  case FL_ARROW_INT:
  case FL_ARROW_FIXED_LIST: return (int)fl_flat_number(f, type, 0, 4, 0);
  case FL_ARROW_DECIMAL: return (int)fl_flat_number(f, type, 2, 4, 128);
  case FL_ARROW_DATE:
  case FL_ARROW_TIME:
  case FL_ARROW_DURATION: return (int)fl_flat_number(f, type, 0, 2, 1);
  case FL_ARROW_FLOAT:
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_UNION: return (int)fl_flat_number(f, type, 0, 2, 0);
  }
  return 0;
}

/* DictionaryEncoding: id, indexType (int32 when absent), isOrdered, dictionaryKind */
static void read_dictionary(FlFlat f, uint32_t encoding, FlArrowField *c) {
  c->dictionary = encoding != 0;
  if (!encoding) return;
  uint32_t index = fl_flat_table(f, encoding, 1);
  int width = index ? (int)fl_flat_number(f, index, 0, 4, 0) : 32;
  bool usual = width == 8 || width == 16 || width == 32 || width == 64;
  c->dictionary_id = fl_flat_number(f, encoding, 0, 8, 0);
  c->ordered = fl_flat_number(f, encoding, 2, 1, 0) != 0;
  c->index_width = !usual ? 0 : index && !fl_flat_number(f, index, 1, 1, 0) ? width : -width;
}

static bool read_fields(FlFlat f, uint32_t parent, int field, int depth, const char *label, FlArrowField *to,
                        FlIoError *e) {
  uint32_t n, vector = fl_flat_vector(f, parent, field, 4, &n);
  if (depth > FL_ARROW_DEPTH)
    return fl_io_error(e, FL_E_ARROW, "the columns of `%s` are nested too deeply", label);
  if (n) to->children = calloc(n, sizeof *to->children);
  if (n && !to->children) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
  to->n_children = (int32_t)n;
  for (uint32_t k = 0; k < n; k++) {
    FlArrowField *c = &to->children[k];
    uint32_t table = fl_flat_element(f, vector, k), type = fl_flat_table(f, table, 3);
    c->name = fl_flat_text(f, table, 0);
    c->type = (int)fl_flat_number(f, table, 2, 1, 0);
    c->width = width_of(f, type, c->type);
    c->sign = fl_flat_number(f, type, 1, 1, 0) != 0;
    if (c->type == FL_ARROW_DECIMAL) {
      c->precision = (int)fl_flat_number(f, type, 0, 4, 0);
      c->scale = (int)fl_flat_number(f, type, 1, 4, 0);
    } else if (c->type == FL_ARROW_TIME) {
      c->scale = (int)fl_flat_number(f, type, 1, 4, 32);
    }
    c->nullable = fl_flat_number(f, table, 1, 1, 0) != 0;
    read_dictionary(f, fl_flat_table(f, table, 4), c);
    if (!table || !type || (c->name.ptr && fl_utf8_check(c->name.ptr, c->name.len) != c->name.len))
      return fl_io_error(e, FL_E_ARROW, "the schema of `%s` is damaged", label);
    if (!read_fields(f, table, 5, depth + 1, label, c, e)) return false;
  }
  return true;
}

bool fl_arrow_schema_read(FlFlat f, uint32_t schema, const char *label, FlArrowField *root, FlIoError *e) {
  if (fl_flat_number(f, schema, 0, 2, 0) != 0)
    return fl_io_error(e, FL_E_ARROW, "`%s` is big endian, which flow does not read", label);
  return read_fields(f, schema, 1, 0, label, root, e);
}

static bool is_called(const FlArrowField *f, const FlTableWanted *w) {
  return f->name.len == w->name_len &&
         memcmp(f->name.ptr ? f->name.ptr : "", w->name, (size_t)w->name_len) == 0;
}

static bool no_column(const FlArrowField *root, const FlTableWanted *w, const char *label, FlIoError *e) {
  fl_io_error(e, FL_E_NO_COLUMN, "no column `%.*s` in `%s`", w->name_len, w->name, label);
  size_t at = strlen(e->message);
  for (int32_t k = 0; k < root->n_children && at < sizeof e->message - 60; k++)
    at += (size_t)snprintf(e->message + at, 60, "%s%.*s", k ? ", " : "; its columns: ",
                           (int)(root->children[k].name.len < 40 ? root->children[k].name.len : 40),
                           root->children[k].name.ptr ? root->children[k].name.ptr : "");
  return false;
}

int32_t fl_arrow_field_find(const FlArrowField *root, const FlTableWanted *w, const char *label,
                            FlIoError *e) {
  int32_t found = -1;
  for (int32_t k = 0; k < root->n_children; k++) {
    if (!is_called(&root->children[k], w)) continue;
    if (found >= 0) {
      fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%.*s`", found + 1, k + 1, label,
                  w->name_len, w->name);
      return -1;
    }
    found = k;
  }
  if (found < 0) no_column(root, w, label, e);
  return found;
}

void fl_arrow_fields_free(FlArrowField *root) {
  for (int32_t k = 0; k < root->n_children; k++) fl_arrow_fields_free(&root->children[k]);
  free(root->children);
}

const char *fl_arrow_type_name(const FlArrowField *f, char *out) {
  static const char *const names[] = {"a type without a name",
                                      "null",
                                      "int",
                                      "float",
                                      "binary",
                                      "utf8",
                                      "bool",
                                      "decimal",
                                      "date",
                                      "time",
                                      "timestamp",
                                      "interval",
                                      "list",
                                      "struct",
                                      "union",
                                      "fixed_size_binary",
                                      "fixed_size_list",
                                      "map",
                                      "duration",
                                      "large_binary",
                                      "large_utf8",
                                      "large_list",
                                      "run_end_encoded",
                                      "binary_view",
                                      "utf8_view",
                                      "list_view",
                                      "large_list_view"};
  bool known = f->type >= 0 && (size_t)f->type < sizeof names / sizeof *names;
  if (f->type == FL_ARROW_INT) (void)snprintf(out, 40, "%sint%d", f->sign ? "" : "u", f->width);
  else if (f->type == FL_ARROW_FLOAT)
    (void)snprintf(out, 40, "float%d", f->width == 0 ? 16 : f->width == 1 ? 32 : 64);
  else if (f->type == FL_ARROW_DECIMAL) (void)snprintf(out, 40, "decimal(%d, %d)", f->precision, f->scale);
  else (void)snprintf(out, 40, "%s", names[known ? f->type : 0]);
  return out;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

void fl_arrow_message_begin(FlBytes *b, int kind, int64_t body, size_t *header_ref) {
  /* Message: version, header_type, header, bodyLength */
  fl_bytes_fill(b, '\0', 12);
  size_t begin = b->len - 12, at[4];
  fl_flat_put(b, begin, 4, -1);
  size_t table = fl_flat_new_table(b, 4, (const uint8_t[]){2, 1, 4, 8}, at);
  fl_flat_refer(b, begin + 8, table);
  fl_flat_put(b, at[0], 2, 4); /* V5 */
  fl_flat_put(b, at[1], 1, kind);
  fl_flat_put(b, at[3], 8, body);
  *header_ref = at[2];
}

void fl_arrow_message_end(FlBytes *b, size_t begin) {
  while ((b->len - begin) % 8 != 0 && !b->failed) fl_bytes_fill(b, '\0', 1);
  fl_flat_put(b, begin + 4, 4, (int64_t)(b->len - begin - 8));
}

/* The type of a field: which of the union, and its table. */
static size_t write_type(FlBytes *b, FlDtype d, int *kind) {
  size_t at[2] = {0, 0}, decimal_at[3], table = 0;
  static const uint8_t none[1] = {0}, number[2] = {4, 1}, unit[1] = {2}, zone[2] = {2, 4};
  switch (fl_dtype_info[d].kind) {
  case FL_KIND_SIGNED:
  case FL_KIND_UNSIGNED:
    *kind = FL_ARROW_INT;
    table = fl_flat_new_table(b, 2, number, at);
    fl_flat_put(b, at[0], 4, fl_dtype_info[d].bytes * 8);
    fl_flat_put(b, at[1], 1, fl_dtype_is_signed(d));
    return table;
  case FL_KIND_FLOAT:
    *kind = FL_ARROW_FLOAT;
    table = fl_flat_new_table(b, 1, unit, at);
    fl_flat_put(b, at[0], 2, d == FL_F32 ? 1 : 2);
    return table;
  case FL_KIND_BOOL: *kind = FL_ARROW_BOOL; return fl_flat_new_table(b, 1, none, at);
  case FL_KIND_TEXT:
  case FL_KIND_REF: *kind = FL_ARROW_UTF8; return fl_flat_new_table(b, 1, none, at);
  case FL_KIND_DECIMAL: /* precision, scale, bitWidth */
    *kind = FL_ARROW_DECIMAL;
    table = fl_flat_new_table(b, 3, (const uint8_t[]){4, 4, 4}, decimal_at);
    fl_flat_put(b, decimal_at[0], 4, FL_DECIMAL_DIGITS);
    fl_flat_put(b, decimal_at[1], 4, fl_decimal_scale(d));
    fl_flat_put(b, decimal_at[2], 4, 128);
    return table;
  case FL_KIND_TIME: break;
  }
  *kind = d == FL_DATE ? FL_ARROW_DATE : d == FL_DATETIME ? FL_ARROW_TIMESTAMP : FL_ARROW_DURATION;
  table = fl_flat_new_table(b, d == FL_DATETIME ? 2 : 1, d == FL_DATETIME ? zone : unit, at);
  fl_flat_put(b, at[0], 2, d == FL_DATE ? 0 : 2);
  if (d == FL_DATETIME) fl_flat_refer(b, at[1], fl_flat_new_text(b, "UTC", 3));
  return table;
}

/* Field: name, nullable, type_type, type, dictionary, children. `size` >= 0: lists of that many;
 * `dictionary` >= 0: texts by indices, i32, into the dictionary of that number. */
static size_t write_field(FlBytes *b, const char *name, size_t name_len, bool nullable, FlDtype d,
                          int64_t size, int dictionary) {
  size_t at[6], list_at[1], index_at[3], int_at[2], vector;
  int kind = FL_ARROW_FIXED_LIST;
  uint8_t sizes[6] = {4, 1, 1, 4, dictionary >= 0 ? 4 : 0, 4};
  size_t field = fl_flat_new_table(b, 6, sizes, at);
  fl_flat_refer(b, at[0], fl_flat_new_text(b, name, name_len));
  fl_flat_put(b, at[1], 1, nullable);
  if (size >= 0) {
    fl_flat_refer(b, at[3], fl_flat_new_table(b, 1, (const uint8_t[]){4}, list_at));
    fl_flat_put(b, list_at[0], 4, size);
  } else {
    fl_flat_refer(b, at[3], write_type(b, dictionary >= 0 ? FL_TEXT : d, &kind));
  }
  fl_flat_put(b, at[2], 1, kind);
  if (dictionary >= 0) { /* DictionaryEncoding: id, indexType, isOrdered */
    fl_flat_refer(b, at[4], fl_flat_new_table(b, 3, (const uint8_t[]){8, 4, 1}, index_at));
    fl_flat_put(b, index_at[0], 8, dictionary);
    fl_flat_put(b, index_at[2], 1, 1);
    fl_flat_refer(b, index_at[1], fl_flat_new_table(b, 2, (const uint8_t[]){4, 1}, int_at));
    fl_flat_put(b, int_at[0], 4, 32);
    fl_flat_put(b, int_at[1], 1, 1);
  }
  size_t first = fl_flat_new_vector(b, size >= 0 ? 1 : 0, 4, &vector);
  fl_flat_refer(b, at[5], vector);
  if (size >= 0) fl_flat_refer(b, first, write_field(b, "item", 4, false, d, -1, -1));
  return field;
}

size_t fl_arrow_schema_table(const FlTableColumn *columns, int32_t n_columns, FlBytes *b) {
  size_t at[2], vector;
  /* Schema: endianness, fields */
  size_t table = fl_flat_new_table(b, 2, (const uint8_t[]){2, 4}, at);
  size_t first = fl_flat_new_vector(b, (uint32_t)n_columns, 4, &vector);
  fl_flat_refer(b, at[1], vector);
  for (int32_t k = 0; k < n_columns; k++) {
    const FlTableColumn *c = &columns[k];
    int64_t size = c->values->rank == 2 ? c->values->dims[1] : -1;
    size_t field = write_field(b, c->name, (size_t)c->name_len, c->valid != NULL, (FlDtype)c->values->dtype,
                               size, c->levels ? k : -1);
    fl_flat_refer(b, first + 4 * (size_t)k, field);
  }
  return table;
}

void fl_arrow_schema_write(const FlTableColumn *columns, int32_t n_columns, FlBytes *b) {
  size_t header, begin = b->len;
  fl_arrow_message_begin(b, FL_ARROW_SCHEMA, 0, &header);
  fl_flat_refer(b, header, fl_arrow_schema_table(columns, n_columns, b));
  fl_arrow_message_end(b, begin);
}
