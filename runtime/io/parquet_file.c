/* parquet_file.c: the footer of a Parquet file: its columns, its groups of rows, where their chunks are
 * (parquet.thrift of apache/parquet-format has the numbers of all fields).
 *
 * What always holds: chunks lie within the file, and have as many values as their group has rows. */
#include "io/parquet.h"
#include "data/data.h"
#include "flow/dtypes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPTIONAL = 1, REPEATED = 2 };

/* ---- columns ------------------------------------------------------------------------------------------ */

/* An element of the schema, as it is written. */
typedef struct Element {
  FlParquetColumn column;
  int32_t physical, converted, precision, logical; /* -1: not there; logical: which one of its union */
  int32_t repetition, unit, bits;
  int64_t n_children;
  bool sign;
} Element;

/* TimeUnit is a union of empty structs. */
static void read_unit(FlThrift *t, Element *e) {
  for (int id = 0, type; fl_thrift_field(t, &id, &type); fl_thrift_skip(t, type)) e->unit = id;
}

/* LogicalType is a union; of what it holds the numbers of decimals, times and integers matter. */
static void read_logical(FlThrift *t, Element *e) {
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    e->logical = id;
    if (type != FL_THRIFT_STRUCT) {
      t->bad = true;
      return;
    }
    for (int part = 0, of; fl_thrift_field(t, &part, &of);) {
      if (id == 5 && part == 1) e->column.scale = (int32_t)fl_thrift_number(t, of);
      else if (id == 5 && part == 2) e->precision = (int32_t)fl_thrift_number(t, of);
      else if (id == 8 && part == 2 && of == FL_THRIFT_STRUCT) read_unit(t, e);
      else if (id == 10 && part == 1) e->bits = (int32_t)fl_thrift_number(t, of);
      else if (id == 10 && part == 2) e->sign = fl_thrift_number(t, of) != 0;
      else fl_thrift_skip(t, of);
    }
  }
}

static Element read_element(FlThrift *t) {
  Element e = {.physical = -1, .converted = -1, .logical = -1};
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    switch (id) {
    case 1: e.physical = (int32_t)fl_thrift_number(t, type); break;
    case 2: e.column.bytes = (int32_t)fl_thrift_number(t, type); break;
    case 3: e.repetition = (int32_t)fl_thrift_number(t, type); break;
    case 4: e.column.name = fl_thrift_text(t); break;
    case 5: e.n_children = fl_thrift_number(t, type); break;
    case 6: e.converted = (int32_t)fl_thrift_number(t, type); break;
    case 7: e.column.scale = (int32_t)fl_thrift_number(t, type); break;
    case 8: e.precision = (int32_t)fl_thrift_number(t, type); break;
    case 10: read_logical(t, &e); break;
    default: fl_thrift_skip(t, type);
    }
  }
  return e;
}

/* The older way to say what a column means: ConvertedType as the number of the logical type. */
static void use_converted(Element *e) {
  static const signed char logical[] = {1,  -2, -2, -2, 4,  5,  6,  7,  7,  8,  8,
                                        10, 10, 10, 10, 10, 10, 10, 10, 12, 13, -2};
  if (e->logical >= 0 || e->converted < 0) return;
  e->logical = e->converted < (int)sizeof logical ? logical[e->converted] : -2;
  if (e->converted == 9 || e->converted == 10) e->unit = e->converted - 8;
  if (e->logical == 10) {
    e->bits = 8 << (e->converted - 11) % 4;
    e->sign = e->converted >= 15;
  }
}

static FlParquetKind kind_of(const Element *e) {
  bool whole = e->physical == FL_PARQUET_INT32 || e->physical == FL_PARQUET_INT64;
  int32_t bits = e->physical == FL_PARQUET_INT32 ? 32 : 64;
  switch (e->logical) {
  case -1:
    if (e->physical == FL_PARQUET_BOOLEAN) return FL_PARQUET_BOOL;
    if (e->physical == FL_PARQUET_FLOAT || e->physical == FL_PARQUET_DOUBLE) return FL_PARQUET_REAL;
    return whole ? FL_PARQUET_WHOLE : FL_PARQUET_OTHER;
  case 1: return e->physical == FL_PARQUET_BYTES ? FL_PARQUET_TEXT : FL_PARQUET_OTHER;
  case 5: {
    bool fixed = e->physical == FL_PARQUET_FIXED && e->column.bytes > 0 && e->column.bytes <= 8;
    bool fits = e->precision > 0 && e->precision <= FL_DECIMAL_DIGITS && e->column.scale >= 0 &&
                e->column.scale <= e->precision;
    return (whole || fixed) && fits ? FL_PARQUET_DECIMAL : FL_PARQUET_OTHER;
  }
  case 6: return e->physical == FL_PARQUET_INT32 ? FL_PARQUET_DATE : FL_PARQUET_OTHER;
  case 8:
    if (e->physical != FL_PARQUET_INT64 || e->unit < 1 || e->unit > 3) return FL_PARQUET_OTHER;
    return e->unit == 1 ? FL_PARQUET_MILLIS : e->unit == 2 ? FL_PARQUET_MICROS : FL_PARQUET_NANOS;
  case 10:
    return whole && (e->bits == 8 || e->bits == 16 || e->bits == 32 || e->bits == 64) &&
                   (e->bits == 64) == (bits == 64)
               ? FL_PARQUET_WHOLE
               : FL_PARQUET_OTHER;
  }
  return FL_PARQUET_OTHER;
}

static FlParquetColumn column_of(Element e, int32_t leaf) {
  use_converted(&e);
  FlParquetColumn c = e.column;
  c.leaf = e.n_children || e.repetition == REPEATED ? -1 : leaf;
  c.nullable = e.repetition == OPTIONAL;
  c.kind = c.leaf < 0 ? FL_PARQUET_OTHER : kind_of(&e);
  c.physical = (FlParquetPhysical)(e.physical < 0 ? 0 : e.physical);
  c.bits = e.logical == 10 ? e.bits : e.physical == FL_PARQUET_INT32 ? 32 : 64;
  c.sign = e.logical != 10 || e.sign;
  return c;
}

/* The elements stand in order, each before its children; the first is the root. */
static bool read_schema(FlThrift *t, FlParquetFile *f) {
  int type;
  int64_t n = fl_thrift_list(t, &type);
  if (t->bad || n < 1 || n > INT32_MAX / 2 || type != FL_THRIFT_STRUCT || f->columns) return false;
  Element root = read_element(t);
  f->columns =
      root.n_children > 0 && root.n_children < n ? calloc((size_t)root.n_children, sizeof *f->columns) : NULL;
  if (!f->columns) return false;
  int64_t k = 1;
  for (; k < n && f->n_columns < root.n_children && !t->bad; f->n_columns++) {
    Element e = read_element(t);
    f->columns[f->n_columns] = column_of(e, f->n_leaves);
    f->n_leaves += e.n_children == 0;
    int64_t left = e.n_children;
    for (k++; left > 0 && k < n && !t->bad; k++, left--) {
      Element below = read_element(t);
      f->n_leaves += below.n_children == 0;
      if (below.n_children < 0 || below.n_children > n) return false;
      left += below.n_children;
    }
    if (left != 0) return false;
  }
  return !t->bad && k == n && f->n_columns == root.n_children;
}

/* ---- chunks ------------------------------------------------------------------------------------------- */

static bool encodings_known(FlThrift *t, bool *plain) {
  int type;
  bool known = true;
  *plain = true;
  for (int64_t n = fl_thrift_list(t, &type); n > 0 && !t->bad; n--) {
    int64_t one = fl_thrift_number(t, type);
    bool levels = one == FL_PARQUET_RLE || one == FL_PARQUET_BIT_PACKED;
    bool dictionary = one == FL_PARQUET_PLAIN_DICTIONARY || one == FL_PARQUET_RLE_DICTIONARY;
    known = known && (one == FL_PARQUET_PLAIN || levels || dictionary);
    *plain = *plain && !dictionary;
  }
  return known;
}

static void read_statistics(FlThrift *t, FlParquetChunk *c) {
  for (int id = 0, type; fl_thrift_field(t, &id, &type);)
    if (id == 3) c->nulls = fl_thrift_number(t, type);
    else fl_thrift_skip(t, type);
}

static void read_meta(FlThrift *t, FlParquetChunk *c) {
  int64_t dictionary = 0;
  bool known = true;
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    switch (id) {
    case 2: known = encodings_known(t, &c->plain); break;
    case 4: c->codec = (int32_t)fl_thrift_number(t, type); break;
    case 5: c->n_values = fl_thrift_number(t, type); break;
    case 7: c->bytes = fl_thrift_number(t, type); break;
    case 9: c->offset = fl_thrift_number(t, type); break;
    case 11: dictionary = fl_thrift_number(t, type); break;
    case 12: read_statistics(t, c); break;
    default: fl_thrift_skip(t, type);
    }
  }
  if (dictionary > 0 && dictionary < c->offset) c->offset = dictionary;
  c->known = known && fl_parquet_codec_known(c->codec);
  c->plain = c->plain && c->codec == 0;
}

static FlParquetChunk read_chunk(FlThrift *t) {
  FlParquetChunk c = {.nulls = -1};
  bool elsewhere = false; /* in another file, or encrypted */
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    if (id == 3 && type == FL_THRIFT_STRUCT) {
      read_meta(t, &c);
      continue;
    }
    elsewhere = elsewhere || id == 1 || id == 8 || id == 9;
    fl_thrift_skip(t, type);
  }
  c.known = c.known && !elsewhere;
  return c;
}

static bool read_group(FlThrift *t, FlParquetFile *f, int64_t size, int32_t group) {
  int64_t rows = -1, n = -1;
  FlParquetChunk *chunks = f->chunks + (int64_t)group * f->n_leaves;
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    if (id == 1 && type == FL_THRIFT_LIST) {
      n = fl_thrift_list(t, &type);
      if (n != f->n_leaves) return false;
      for (int64_t k = 0; k < n && !t->bad; k++) chunks[k] = read_chunk(t);
    } else if (id == 3) {
      rows = fl_thrift_number(t, type);
    } else {
      fl_thrift_skip(t, type);
    }
  }
  if (t->bad || rows < 0 || n != f->n_leaves || rows > INT64_MAX / 64 - f->first[group]) return false;
  f->first[group + 1] = f->first[group] + rows;
  for (int64_t k = 0; k < n; k++) {
    const FlParquetChunk *c = &chunks[k];
    if (c->offset < 0 || c->bytes < 0 || c->offset > size || c->bytes > size - c->offset) return false;
  }
  return true;
}

static bool read_groups(FlThrift *t, FlParquetFile *f, int64_t size) {
  int type;
  int64_t n = fl_thrift_list(t, &type);
  if (t->bad || !f->columns || f->chunks || n > INT32_MAX / 2 || (n && type != FL_THRIFT_STRUCT))
    return false;
  f->n_groups = (int32_t)n;
  f->first = calloc((size_t)n + 1, sizeof *f->first);
  f->chunks = calloc((size_t)n * (size_t)f->n_leaves + 1, sizeof *f->chunks);
  bool ok = f->first && f->chunks;
  for (int32_t k = 0; ok && k < f->n_groups; k++) ok = read_group(t, f, size, k);
  return ok;
}

/* ---- the file ----------------------------------------------------------------------------------------- */

bool fl_parquet_open(const FlInput *in, FlParquetFile *out) {
  *out = (FlParquetFile){0};
  const uint8_t *data = (const uint8_t *)in->data;
  uint32_t bytes;
  if (in->size < 12 || memcmp(data, "PAR1", 4) != 0 || memcmp(data + in->size - 4, "PAR1", 4) != 0)
    return false;
  memcpy(&bytes, data + in->size - 8, sizeof bytes);
  if (bytes > in->size - 12) return false;
  FlThrift t = {data + in->size - 8 - bytes, data + in->size - 8, false};
  int64_t rows = -1;
  for (int id = 0, type; fl_thrift_field(&t, &id, &type);) {
    if (id == 2 && type == FL_THRIFT_LIST) t.bad = t.bad || !read_schema(&t, out);
    else if (id == 3) rows = fl_thrift_number(&t, type);
    else if (id == 4 && type == FL_THRIFT_LIST) t.bad = t.bad || !read_groups(&t, out, in->size);
    else fl_thrift_skip(&t, type);
  }
  return !t.bad && out->chunks && rows == out->first[out->n_groups];
}

void fl_parquet_close(FlParquetFile *f) {
  free(f->columns);
  free(f->chunks);
  free(f->first);
  *f = (FlParquetFile){0};
}

/* ---- columns that are wanted -------------------------------------------------------------------------- */

const FlParquetColumn *fl_parquet_find(const FlParquetFile *f, const char *name, int32_t name_len) {
  const FlParquetColumn *found = NULL;
  for (int32_t k = 0; k < f->n_columns; k++) {
    const FlParquetColumn *c = &f->columns[k];
    if (c->name.len != name_len || strncasecmp(c->name.ptr, name, (size_t)name_len) != 0) continue;
    if (found || memcmp(c->name.ptr, name, (size_t)name_len) != 0) return NULL;
    found = c;
  }
  return found;
}

static FlDtype whole_dtype(const FlParquetColumn *c) {
  switch (c->bits) {
  case 8: return c->sign ? FL_I8 : FL_U8;
  case 16: return c->sign ? FL_I16 : FL_U16;
  case 32: return c->sign ? FL_I32 : FL_U32;
  }
  return c->sign ? FL_I64 : FL_U64;
}

bool fl_parquet_dtype(const FlParquetColumn *c, FlDtype *out) {
  switch (c->kind) {
  case FL_PARQUET_OTHER: return false;
  case FL_PARQUET_BOOL: *out = FL_BOOL; break;
  case FL_PARQUET_WHOLE: *out = whole_dtype(c); break;
  case FL_PARQUET_REAL: *out = c->physical == FL_PARQUET_FLOAT ? FL_F32 : FL_F64; break;
  case FL_PARQUET_TEXT: *out = FL_TEXT; break;
  case FL_PARQUET_DATE: *out = FL_DATE; break;
  case FL_PARQUET_MILLIS:
  case FL_PARQUET_MICROS:
  case FL_PARQUET_NANOS: *out = FL_DATETIME; break;
  case FL_PARQUET_DECIMAL: *out = c->scale ? (FlDtype)(FL_DECIMAL0 + c->scale) : FL_I64; break;
  }
  return true;
}

bool fl_parquet_reads(const FlParquetFile *f, const FlParquetColumn *c, const FlTableWanted *w) {
  FlDtype of;
  if (w->arrays || !fl_parquet_dtype(c, &of)) return false;
  for (int32_t k = 0; k < f->n_groups; k++) {
    const FlParquetChunk *chunk = &f->chunks[(int64_t)k * f->n_leaves + c->leaf];
    if (!chunk->known || chunk->n_values != f->first[k + 1] - f->first[k]) return false;
  }
  FlKind kind = fl_dtype_info[w->dtype].kind;
  bool whole = kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED;
  if (of == w->dtype) return true;
  if (c->kind == FL_PARQUET_WHOLE || (c->kind == FL_PARQUET_DECIMAL && c->scale == 0 && whole))
    return whole || w->dtype == FL_F64;
  return w->dtype == FL_F64 && (c->kind == FL_PARQUET_DECIMAL || c->kind == FL_PARQUET_REAL);
}
