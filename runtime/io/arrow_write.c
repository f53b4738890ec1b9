/* arrow_write.c: a table as an Arrow IPC stream or file: its schema, the levels of its categories, batches of
 * rows, the end; of a file then a footer that says where they are.
 *
 * In files of several batches numbers begin at pages, so that readers can have a column in one piece
 * (arrow_map.c).
 *
 * What always holds: the bytes depend on the table alone. Bools and validities become bitmaps; a column whose
 * rows are all valid has none. Buffers begin at multiples of 64 of their body. */
#include "io/arrow.h"
#include "data/data.h"

#include <string.h>

enum {
  FL_BATCH_ROWS = 1 << 18, /* a multiple of PAGE bytes in every type of a byte or more */
  FL_BODY_ALIGN = 64,
  PAGE = 4096
};

typedef struct Batch {
  int64_t row, n;
  FlBytes body, nodes, buffers; /* the latter two as in the metadata: pairs of i64 */
  bool too_long;                /* more bytes of texts than an offset can say */
  bool too_large;               /* a decimal of more digits than the type says */
  bool pages;                   /* numbers begin at pages, and so do bodies */
} Batch;

static void put_pair(FlBytes *b, int64_t x, int64_t y) {
  int64_t pair[2] = {x, y};
  fl_bytes_add(b, (const char *)pair, sizeof pair);
}

/* The end of a buffer that began at `begin` of the body. */
static void end_buffer(Batch *b, size_t begin) {
  put_pair(&b->buffers, (int64_t)begin, (int64_t)(b->body.len - begin));
  size_t over = b->body.len % FL_BODY_ALIGN;
  if (over) fl_bytes_fill(&b->body, '\0', FL_BODY_ALIGN - over);
}

static void put_bits(Batch *b, const uint8_t *from, int64_t n) {
  size_t begin = b->body.len, bytes = (size_t)(n + 7) / 8;
  fl_bytes_fill(&b->body, '\0', bytes);
  for (int64_t k = 0; k < n && !b->body.failed; k++)
    if (from[k]) b->body.at[begin + (size_t)k / 8] = (char)(b->body.at[begin + (size_t)k / 8] | 1 << k % 8);
  end_buffer(b, begin);
}

/* A node, and its validity bitmap when there are nulls. */
static void put_node(Batch *b, int64_t n, const uint8_t *valid) {
  int64_t nulls = 0;
  for (int64_t k = 0; valid && k < n; k++) nulls += !valid[k];
  put_pair(&b->nodes, n, nulls);
  if (nulls) put_bits(b, valid, n);
  else end_buffer(b, b->body.len);
}

static void put_texts(Batch *b, const FlText *from, int64_t n) {
  size_t begin = b->body.len;
  int64_t total = 0;
  char *to = fl_bytes_room(&b->body, (size_t)(n + 1) * 4);
  for (int64_t k = 0; to && k <= n; k++) {
    int32_t offset = (int32_t)total;
    memcpy(to + 4 * k, &offset, 4);
    if (k < n) total += from[k].len;
    if (total > INT32_MAX) b->too_long = true;
  }
  if (to) b->body.len += (size_t)(n + 1) * 4;
  end_buffer(b, begin);
  begin = b->body.len;
  for (int64_t k = 0; k < n && !b->too_long; k++)
    if (from[k].len) fl_bytes_add(&b->body, from[k].ptr, (size_t)from[k].len);
  end_buffer(b, begin);
}

/* Decimals have 128 bits there. */
static void put_decimals(Batch *b, const int64_t *from, int64_t n) {
  size_t begin = b->body.len;
  char *to = fl_bytes_room(&b->body, (size_t)n * 16);
  for (int64_t k = 0; to && k < n; k++) {
    int64_t pair[2] = {from[k], from[k] < 0 ? -1 : 0};
    memcpy(to + 16 * k, pair, sizeof pair);
    b->too_large = b->too_large || !fl_decimal_fits(from[k]);
  }
  if (to) b->body.len += (size_t)n * 16;
  end_buffer(b, begin);
}

/* Elements [from, from + n) of a column's values. */
static void put_values(Batch *b, const FlArray *a, int64_t from, int64_t n) {
  int64_t bytes = fl_dtype_info[a->dtype].bytes;
  const char *data = (const char *)a->data + from * bytes;
  if (a->dtype == FL_BOOL) {
    put_bits(b, (const uint8_t *)data, n);
  } else if (fl_dtype_is_text(a->dtype)) {
    put_texts(b, (const FlText *)(const void *)data, n);
  } else if (fl_dtype_is_decimal(a->dtype)) {
    put_decimals(b, (const int64_t *)(const void *)data, n);
  } else {
    size_t over = b->pages ? b->body.len % PAGE : 0;
    if (over) fl_bytes_fill(&b->body, '\0', PAGE - over);
    size_t begin = b->body.len;
    if (n) fl_bytes_add(&b->body, data, (size_t)(n * bytes));
    end_buffer(b, begin);
  }
}

static void put_column(Batch *b, const FlTableColumn *c) {
  put_node(b, b->n, c->valid ? (const uint8_t *)c->valid->data + b->row : NULL);
  if (c->values->rank == 1) {
    put_values(b, c->values, b->row, b->n);
    return;
  }
  int64_t size = c->values->dims[1];
  put_node(b, b->n * size, NULL);
  put_values(b, c->values, b->row * size, b->n * size);
}

static void copy_vector(FlBytes *meta, size_t field, const FlBytes *from) {
  size_t vector, first = fl_flat_new_vector(meta, (uint32_t)(from->len / 16), 16, &vector);
  fl_flat_refer(meta, field, vector);
  if (!meta->failed && from->len) memcpy(meta->at + first, from->at, from->len);
}

/* ---- messages ----------------------------------------------------------------------------------------- */

typedef struct Writing {
  FlOutput *out;
  bool file;
  int64_t at;                    /* bytes written */
  FlBytes dictionaries, batches; /* of a file: where their messages are, as blocks of the footer */
} Writing;

static bool no_memory(const Writing *w, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", w->out->path);
}

static bool put(Writing *w, const void *bytes, size_t n, FlIoError *e) {
  w->at += (int64_t)n;
  return fl_output_write(w->out, bytes, n, e);
}

/* A message of what lies in `b`: a RecordBatch, or for a dictionary's number a DictionaryBatch of it. */
static bool put_message(Writing *w, Batch *b, int64_t dictionary, FlIoError *e) {
  FlBytes meta = {0};
  size_t header, at[3], outer[2];
  bool rows = dictionary < 0;
  fl_arrow_message_begin(&meta, rows ? FL_ARROW_BATCH : FL_ARROW_DICTIONARY, (int64_t)b->body.len, &header);
  if (!rows) { /* DictionaryBatch: id, data */
    fl_flat_refer(&meta, header, fl_flat_new_table(&meta, 2, (const uint8_t[]){8, 4}, outer));
    fl_flat_put(&meta, outer[0], 8, dictionary);
    header = outer[1];
  }
  /* RecordBatch: length, nodes, buffers */
  fl_flat_refer(&meta, header, fl_flat_new_table(&meta, 3, (const uint8_t[]){8, 4, 4}, at));
  fl_flat_put(&meta, at[0], 8, b->n);
  copy_vector(&meta, at[1], &b->nodes);
  copy_vector(&meta, at[2], &b->buffers);
  size_t over = b->pages && rows ? ((size_t)w->at + meta.len) % PAGE : 0;
  if (over) fl_bytes_fill(&meta, '\0', PAGE - over);
  fl_arrow_message_end(&meta, 0);
  int64_t block[3] = {w->at, (int64_t)meta.len, (int64_t)b->body.len};
  fl_bytes_add(rows ? &w->batches : &w->dictionaries, (const char *)block, sizeof block);
  bool ok;
  if (b->too_long)
    ok = fl_io_error(e, FL_E_ARROW, "a column of `%s` has more than 2 GB of text in %lld rows", w->out->path,
                     (long long)b->n);
  else if (b->too_large)
    ok = fl_io_error(e, FL_E_ARROW, "a decimal in a column of `%s` has more than %d digits", w->out->path,
                     FL_DECIMAL_DIGITS);
  else if (meta.failed || b->body.failed || b->nodes.failed || b->buffers.failed) ok = no_memory(w, e);
  else ok = put(w, meta.at, meta.len, e) && put(w, b->body.at, b->body.len, e);
  fl_bytes_reset(&meta);
  return ok;
}

static bool put_levels(Writing *w, Batch *b, const FlTableColumn *c, int32_t k, FlIoError *e) {
  b->row = 0;
  b->n = c->levels->dims[0];
  b->body.len = b->nodes.len = b->buffers.len = 0;
  put_node(b, b->n, NULL);
  put_values(b, c->levels, 0, b->n);
  return put_message(w, b, k, e);
}

static bool put_rows(Writing *w, Batch *b, const FlTableColumn *columns, int32_t n_columns, FlIoError *e) {
  b->body.len = b->nodes.len = b->buffers.len = 0;
  for (int32_t k = 0; k < n_columns; k++) put_column(b, &columns[k]);
  return put_message(w, b, -1, e);
}

static void put_blocks(FlBytes *b, size_t field, const FlBytes *from) {
  size_t vector, first = fl_flat_new_vector(b, (uint32_t)(from->len / 24), 24, &vector);
  fl_flat_refer(b, field, vector);
  if (!b->failed && from->len) memcpy(b->at + first, from->at, from->len);
}

static bool put_footer(Writing *w, const FlTableColumn *columns, int32_t n_columns, FlIoError *e) {
  FlBytes b = {0};
  size_t at[4];
  fl_bytes_fill(&b, '\0', 4);
  /* Footer: version, schema, dictionaries, recordBatches */
  fl_flat_refer(&b, 0, fl_flat_new_table(&b, 4, (const uint8_t[]){2, 4, 4, 4}, at));
  fl_flat_put(&b, at[0], 2, 4); /* V5 */
  fl_flat_refer(&b, at[1], fl_arrow_schema_table(columns, n_columns, &b));
  put_blocks(&b, at[2], &w->dictionaries);
  put_blocks(&b, at[3], &w->batches);
  int32_t size = (int32_t)b.len;
  fl_bytes_add(&b, (const char *)&size, sizeof size);
  fl_bytes_add(&b, "ARROW1", 6);
  bool ok = (!b.failed && !w->batches.failed && !w->dictionaries.failed) || no_memory(w, e);
  ok = ok && put(w, b.at, b.len, e);
  fl_bytes_reset(&b);
  return ok;
}

bool fl_arrow_write(const FlTableColumn *columns, int32_t n_columns, int64_t n_rows, bool file, FlOutput *out,
                    FlIoError *e) {
  static const char end[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  Writing w = {.out = out, .file = file};
  FlBytes schema = {0};
  Batch b = {.body = fl_output_bytes(out), .pages = n_rows > FL_BATCH_ROWS};
  fl_arrow_schema_write(columns, n_columns, &schema);
  bool ok = !schema.failed || no_memory(&w, e);
  ok = ok && (!file || put(&w, "ARROW1\0", 8, e)) && put(&w, schema.at, schema.len, e);
  for (int32_t k = 0; ok && k < n_columns; k++)
    if (columns[k].levels) ok = put_levels(&w, &b, &columns[k], k, e);
  for (b.row = 0; ok && b.row < n_rows; b.row += FL_BATCH_ROWS) {
    b.n = n_rows - b.row < FL_BATCH_ROWS ? n_rows - b.row : FL_BATCH_ROWS;
    ok = put_rows(&w, &b, columns, n_columns, e);
  }
  ok = ok && put(&w, end, sizeof end, e) && (!file || put_footer(&w, columns, n_columns, e));
  fl_bytes_reset(&schema);
  fl_bytes_reset(&w.dictionaries);
  fl_bytes_reset(&w.batches);
  fl_bytes_reset(&b.body);
  fl_bytes_reset(&b.nodes);
  fl_bytes_reset(&b.buffers);
  return ok;
}
