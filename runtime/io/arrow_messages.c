/* arrow_messages.c: the messages of an Arrow stream or file: its schema, where its batches are.
 *
 * In: bytes. Out: all batches with their rows counted. A stream is read in order; of a file the footer says
 * where its messages are. What always holds: a message lies within the bytes; no more rows are believed than
 * the size of the input explains, but for columns of nothing but nulls. */
#include "io/arrow.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

enum { FL_NULL_ROWS = 1 << 24 }; /* rows that a stream may have without a bit for each */

typedef struct Message {
  FlFlat meta;
  uint32_t header;
  int kind;
  const uint8_t *body;
  int64_t body_size;
} Message;

typedef struct Walk {
  const char *label;
  const uint8_t *bytes;
  int64_t at, size;
  bool whole;
} Walk;

static bool cut_off(const Walk *w, FlIoError *e) {
  return fl_io_error(e, FL_E_ARROW, "`%s` is cut off", w->label);
}

static bool not_arrow(const Walk *w, FlIoError *e) {
  if (w->size == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", w->label);
  return fl_io_error(e, FL_E_ARROW, "`%s` is not an Arrow file or stream", w->label);
}

/* 1: a message; 0: the end of the stream; -1: an error. */
static int next_message(Walk *w, Message *m, FlIoError *e) {
  int64_t left = w->size - w->at;
  bool first = w->at == 0;
  int32_t size;
  if (left == 0 && !first) return 0; /* the end may be said, or not */
  if (left < 8 && (first || left < 4)) return first ? not_arrow(w, e) - 1 : cut_off(w, e) - 1;
  memcpy(&size, w->bytes + w->at, 4);
  bool marked = size == -1; /* not so before Arrow 0.15 */
  if (marked && left < 8) return cut_off(w, e) - 1;
  if (marked) memcpy(&size, w->bytes + w->at + 4, 4);
  w->at += marked ? 8 : 4;
  left -= marked ? 8 : 4;
  if (size == 0) return 0;
  if (size < 0 || size > left) return first && !marked ? not_arrow(w, e) - 1 : cut_off(w, e) - 1;
  *m = (Message){.meta = {w->bytes + w->at, (uint32_t)size}};
  w->at += size;
  left -= size;
  uint32_t root = fl_flat_root(m->meta);
  m->kind = (int)fl_flat_number(m->meta, root, 1, 1, 0);
  m->header = fl_flat_table(m->meta, root, 2);
  m->body = w->bytes + w->at;
  m->body_size = fl_flat_number(m->meta, root, 3, 8, 0);
  if (m->body_size < 0 || m->body_size > left) return cut_off(w, e) - 1;
  w->at += m->body_size;
  if (m->header && fl_flat_number(m->meta, root, 0, 2, 0) >= 3) return 1;
  if (first && !marked && !m->header) return not_arrow(w, e) - 1;
  return fl_io_error(e, FL_E_ARROW, "a message of `%s` is damaged, or of an Arrow before 0.8", w->label) - 1;
}

/* The rows of a RecordBatch table: length, nodes, buffers, compression, counts of view buffers. */
static bool find_rows(const Walk *w, const Message *m, uint32_t table, FlArrowBatch *b, FlIoError *e) {
  *b = (FlArrowBatch){.label = w->label,
                      .meta = m->meta,
                      .body = m->body,
                      .body_size = m->body_size,
                      .n_rows = fl_flat_number(m->meta, table, 0, 8, 0)};
  b->nodes = fl_flat_vector(m->meta, table, 1, 16, &b->n_nodes);
  b->buffers = fl_flat_vector(m->meta, table, 2, 16, &b->n_buffers);
  b->counts = fl_flat_vector(m->meta, table, 4, 8, &b->n_counts);
  uint32_t packing = fl_flat_table(m->meta, table, 3);
  if (packing) { /* BodyCompression: codec, method */
    int64_t codec = fl_flat_number(m->meta, packing, 0, 1, 0),
            method = fl_flat_number(m->meta, packing, 1, 1, 0);
    if (codec > 1 || method != 0)
      return fl_io_error(e, FL_E_ARROW, "the batches of `%s` are compressed in a way that flow does not know",
                         w->label);
    b->codec = codec == 0 ? FL_ARROW_LZ4 : FL_ARROW_ZSTD;
  }
  int64_t most = w->size > FL_NULL_ROWS / 8 ? w->size * 8 : FL_NULL_ROWS;
  return (b->n_rows >= 0 && b->n_rows <= most) ||
         fl_io_error(e, FL_E_ARROW, "`%s` claims more rows than it can hold", w->label);
}

static void *grown(void *at, int32_t n, size_t size) {
  bool full = n == 0 || (n >= 16 && (n & (n - 1)) == 0);
  return full ? realloc(at, (n < 16 ? 16 : 2 * (size_t)n) * size) : at;
}

static bool add(const Walk *w, FlArrowFile *f, const Message *m, FlIoError *e) {
  if (m->kind != FL_ARROW_BATCH && m->kind != FL_ARROW_DICTIONARY) return true;
  bool rows = m->kind == FL_ARROW_BATCH;
  int32_t n = rows ? f->n_batches : f->n_dictionaries;
  void *at =
      rows ? grown(f->batches, n, sizeof *f->batches) : grown(f->dictionaries, n, sizeof *f->dictionaries);
  if (!at) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", w->label);
  if (!rows) { /* DictionaryBatch: id, data, isDelta */
    f->dictionaries = at;
    FlArrowDictionary *d = &f->dictionaries[n];
    uint32_t data = fl_flat_table(m->meta, m->header, 1);
    if (!data) return fl_io_error(e, FL_E_ARROW, "a dictionary of `%s` is damaged", w->label);
    d->id = fl_flat_number(m->meta, m->header, 0, 8, 0);
    d->delta = fl_flat_number(m->meta, m->header, 2, 1, 0) != 0;
    d->values = (FlArrowBatch){0};
    f->n_dictionaries++;
    return find_rows(w, m, data, &d->values, e);
  }
  f->batches = at;
  FlArrowBatch *b = &f->batches[n];
  if (!find_rows(w, m, m->header, b, e)) return false;
  b->first_row = f->n_rows;
  b->n_dictionaries = f->n_dictionaries;
  f->n_batches++;
  int64_t most = w->size > FL_NULL_ROWS / 8 ? w->size * 8 : FL_NULL_ROWS;
  if (__builtin_add_overflow(f->n_rows, b->n_rows, &f->n_rows) || f->n_rows > most)
    return fl_io_error(e, FL_E_ARROW, "`%s` claims more rows than it can hold", w->label);
  return true;
}

/* ---- streams and files -------------------------------------------------------------------------------- */

static bool read_stream(Walk *w, FlArrowFile *out, FlIoError *e) {
  Message m;
  int got = next_message(w, &m, e);
  if (got < 0) return false;
  if (got == 0 || m.kind != FL_ARROW_SCHEMA) return not_arrow(w, e);
  if (!fl_arrow_schema_read(m.meta, m.header, w->label, &out->root, e)) return false;
  while ((got = next_message(w, &m, e)) > 0)
    if (!add(w, out, &m, e)) return false;
  if (got == 0 && w->whole && w->at != w->size)
    return fl_io_error(e, FL_E_ARROW, "something follows the end of the stream in `%s`", w->label);
  return got == 0;
}

/* The messages that a vector of blocks (offset:i64, size of the metadata:i32, 0:i32, size of the body:i64)
 * tells. */
static bool read_blocks(Walk *w, FlFlat footer, uint32_t table, int field, int kind, FlArrowFile *out,
                        FlIoError *e) {
  uint32_t n, at = fl_flat_vector(footer, table, field, 24, &n);
  Message m;
  for (uint32_t k = 0; k < n; k++) {
    int64_t offset = fl_flat_i64(footer, at + 24 * k);
    if (offset < 8 || offset > w->size) return cut_off(w, e);
    w->at = offset;
    int got = next_message(w, &m, e);
    if (got < 0) return false;
    if (got == 0 || m.kind != kind)
      return fl_io_error(e, FL_E_ARROW, "the footer of `%s` is damaged", w->label);
    if (!add(w, out, &m, e)) return false;
  }
  return true;
}

/* Footer: version, schema, dictionaries, recordBatches */
static bool read_file(Walk *w, FlArrowFile *out, FlIoError *e) {
  int32_t size;
  if (w->size < 8 + 10 || memcmp(w->bytes + w->size - 6, "ARROW1", 6) != 0) return cut_off(w, e);
  memcpy(&size, w->bytes + w->size - 10, 4);
  if (size <= 0 || size > w->size - 18) return cut_off(w, e);
  w->size -= 10 + size;
  FlFlat footer = {w->bytes + w->size, (uint32_t)size};
  uint32_t root = fl_flat_root(footer), schema = fl_flat_table(footer, root, 1);
  if (!schema) return fl_io_error(e, FL_E_ARROW, "the footer of `%s` is damaged", w->label);
  bool ok = fl_arrow_schema_read(footer, schema, w->label, &out->root, e) &&
            read_blocks(w, footer, root, 2, FL_ARROW_DICTIONARY, out, e) &&
            read_blocks(w, footer, root, 3, FL_ARROW_BATCH, out, e);
  return ok;
}

bool fl_arrow_open(const FlInput *in, const char *label, bool whole, FlArrowFile *out, FlIoError *e) {
  Walk w = {.label = label, .bytes = (const uint8_t *)in->data, .size = in->size, .whole = whole};
  *out = (FlArrowFile){.in = in, .label = label};
  bool file = in->size >= 8 && memcmp(in->data, "ARROW1\0", 8) == 0;
  return file ? read_file(&w, out, e) : read_stream(&w, out, e);
}

static void close_batch(FlArrowBatch *b) {
  free(b->unpacked);
  fl_buffer_unref(b->owner);
}

bool fl_arrow_keep(const FlArrowFile *f, FlBuffer *by) {
  bool ok = fl_buffer_keep(by, f->in->buffer);
  for (int32_t k = 0; ok && k < f->n_batches; k++)
    if (f->batches[k].owner) ok = fl_buffer_keep(by, f->batches[k].owner);
  for (int32_t k = 0; ok && k < f->n_dictionaries; k++)
    if (f->dictionaries[k].values.owner) ok = fl_buffer_keep(by, f->dictionaries[k].values.owner);
  return ok;
}

void fl_arrow_close(FlArrowFile *f) {
  for (int32_t k = 0; k < f->n_batches; k++) close_batch(&f->batches[k]);
  for (int32_t k = 0; k < f->n_dictionaries; k++) close_batch(&f->dictionaries[k].values);
  if (!f->slice) fl_arrow_fields_free(&f->root);
  free(f->batches);
  free(f->dictionaries);
}

/* A copy of a batch of which nothing is unpacked. */
static FlArrowBatch packed(const FlArrowBatch *b) {
  FlArrowBatch out = *b;
  out.unpacked = NULL;
  out.owner = NULL;
  return out;
}

bool fl_arrow_slice(const FlArrowFile *f, int64_t row, int64_t n, FlArrowFile *out, int64_t *skip) {
  int32_t first = 0, last;
  while (first < f->n_batches && f->batches[first].first_row + f->batches[first].n_rows <= row) first++;
  for (last = first; last < f->n_batches && f->batches[last].first_row < row + n;) last++;
  *out = *f;
  out->slice = true;
  out->n_rows = n;
  out->n_batches = out->n_dictionaries = 0;
  out->batches = calloc((size_t)(last - first) + 1, sizeof *out->batches);
  out->dictionaries = calloc((size_t)f->n_dictionaries + 1, sizeof *out->dictionaries);
  if (!out->batches || !out->dictionaries) return false;
  for (int32_t k = first; k < last; k++) {
    FlArrowBatch *b = &out->batches[out->n_batches++];
    *b = packed(&f->batches[k]);
    b->first_row -= row;
  }
  for (int32_t k = 0; k < f->n_dictionaries; k++) {
    out->dictionaries[k] = f->dictionaries[k];
    out->dictionaries[k].values = packed(&f->dictionaries[k].values);
  }
  out->n_dictionaries = f->n_dictionaries;
  *skip = first < last ? row - f->batches[first].first_row : 0;
  return true;
}
