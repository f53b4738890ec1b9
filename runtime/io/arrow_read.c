/* arrow_read.c: an Arrow IPC stream: its messages, and the wanted columns out of them.
 *
 * Two passes: over all messages, to know the rows and refuse what is not read; then over the batches, column
 * by column. What always holds: no more memory is asked for than the stream's own size explains, but for
 * columns of nothing but nulls. */
#include "io/arrow.h"
#include "base/spell.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_NULL_ROWS = 1 << 24 }; /* rows that a stream may have without a bit for each */

/* ---- messages ----------------------------------------------------------------------------------------- */

typedef struct Message {
  FlFlat meta;
  uint32_t header;
  int kind;
  const uint8_t *body;
  int64_t body_size;
} Message;

typedef struct Walk {
  const FlInput *in;
  const char *label;
  int64_t at;
} Walk;

static bool cut_off(const Walk *w, FlIoError *e) {
  return fl_io_error(e, FL_E_ARROW, "`%s` is cut off within a message", w->label);
}

static bool not_arrow(const Walk *w, FlIoError *e) {
  if (w->in->size == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", w->label);
  bool file = w->in->size >= 6 && memcmp(w->in->data, "ARROW1", 6) == 0;
  return fl_io_error(e, FL_E_ARROW,
                     file ? "`%s` is an Arrow file, and an Arrow stream is wanted"
                          : "`%s` is not an Arrow stream",
                     w->label);
}

/* 1: a message; 0: the end of the stream; -1: an error. */
static int next_message(Walk *w, Message *m, FlIoError *e) {
  int64_t left = w->in->size - w->at;
  int32_t head[2];
  if (left == 0 && w->at > 0) return 0;
  if (left < 8) return w->at ? cut_off(w, e) - 1 : not_arrow(w, e) - 1;
  memcpy(head, w->in->data + w->at, 8);
  if (head[0] != -1) return not_arrow(w, e) - 1;
  w->at += 8;
  left -= 8;
  if (head[1] == 0) return 0;
  if (head[1] < 0 || head[1] > left) return cut_off(w, e) - 1;
  *m = (Message){.meta = {(const uint8_t *)w->in->data + w->at, (uint32_t)head[1]}};
  w->at += head[1];
  left -= head[1];
  uint32_t root = fl_flat_root(m->meta);
  m->kind = (int)fl_flat_number(m->meta, root, 1, 1, 0);
  m->header = fl_flat_table(m->meta, root, 2);
  m->body = (const uint8_t *)w->in->data + w->at;
  m->body_size = fl_flat_number(m->meta, root, 3, 8, 0);
  if (m->body_size < 0 || m->body_size > left) return cut_off(w, e) - 1;
  w->at += m->body_size;
  if (m->header && fl_flat_number(m->meta, root, 0, 2, 0) >= 3) return 1;
  return fl_io_error(e, FL_E_ARROW, "a message of `%s` is damaged, or of an Arrow before 0.8", w->label) - 1;
}

/* ---- the first pass ----------------------------------------------------------------------------------- */

static bool add_batch(const Walk *w, const Message *m, int64_t *rows, FlIoError *e) {
  int64_t n = fl_flat_number(m->meta, m->header, 0, 8, 0);
  if (fl_flat_table(m->meta, m->header, 3)) {
    fl_io_error(e, FL_E_ARROW, "the batches of `%s` are compressed, which flow does not read", w->label);
    fl_io_help(e, "write the stream without compression");
    return false;
  }
  int64_t most = w->in->size > FL_NULL_ROWS / 8 ? w->in->size * 8 : FL_NULL_ROWS;
  if (n < 0 || __builtin_add_overflow(*rows, n, rows) || *rows > most)
    return fl_io_error(e, FL_E_ARROW, "`%s` claims more rows than it can hold", w->label);
  return true;
}

/* The schema's fields in `root`, the rows of all batches; `w` is then at the first message after the schema.
 */
static bool survey(Walk *w, FlArrowField *root, int64_t *rows, FlIoError *e) {
  Message m;
  int got = next_message(w, &m, e);
  *rows = 0;
  if (got < 0) return false;
  if (got == 0 || m.kind != FL_ARROW_SCHEMA) return not_arrow(w, e);
  if (!fl_arrow_schema_read(m.meta, m.header, w->label, root, e)) return false;
  Walk all = *w;
  while ((got = next_message(&all, &m, e)) > 0)
    if (m.kind == FL_ARROW_BATCH && !add_batch(w, &m, rows, e)) return false;
  return got == 0;
}

/* ---- columns by name ---------------------------------------------------------------------------------- */

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

/* which[field]: the wanted column that it is, or -1. */
static bool choose(const FlArrowField *root, FlTableWanted *wanted, int32_t n_wanted, int32_t *which,
                   const char *label, FlIoError *e) {
  for (int32_t k = 0; k < root->n_children; k++) which[k] = -1;
  for (int32_t i = 0; i < n_wanted; i++) {
    int32_t found = -1;
    for (int32_t k = 0; k < root->n_children; k++) {
      if (!is_called(&root->children[k], &wanted[i])) continue;
      if (found >= 0)
        return fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%.*s`", found + 1,
                           k + 1, label, wanted[i].name_len, wanted[i].name);
      found = k;
    }
    if (found < 0) return no_column(root, &wanted[i], label, e);
    which[found] = i;
  }
  return true;
}

/* ---- the second pass ---------------------------------------------------------------------------------- */

static bool read_batch(FlArrowBatch *b, const Message *m, const FlArrowField *root, FlTableWanted *wanted,
                       const int32_t *which, FlIoError *e) {
  b->meta = m->meta;
  b->body = m->body;
  b->body_size = m->body_size;
  b->n_rows = fl_flat_number(m->meta, m->header, 0, 8, 0);
  b->nodes = fl_flat_vector(m->meta, m->header, 1, 16, &b->n_nodes);
  b->buffers = fl_flat_vector(m->meta, m->header, 2, 16, &b->n_buffers);
  b->counts = fl_flat_vector(m->meta, m->header, 4, 8, &b->n_counts);
  b->node = b->buffer = b->count = 0;
  for (int32_t k = 0; k < root->n_children; k++) {
    const FlArrowField *f = &root->children[k];
    bool ok = which[k] < 0 ? fl_arrow_skip(b, f, e) : fl_arrow_take(b, f, &wanted[which[k]], e);
    if (!ok) return false;
  }
  b->first_row += b->n_rows;
  return true;
}

/* A stream without batches has its columns all the same. */
static bool make_missing(FlArrowBatch *b, const FlArrowField *root, FlTableWanted *wanted,
                         const int32_t *which, FlIoError *e) {
  for (int32_t k = 0; k < root->n_children; k++) {
    if (which[k] < 0 || wanted[which[k]].values) continue;
    const FlArrowField *f = &root->children[k];
    int64_t size = f->type == FL_ARROW_FIXED_LIST && f->width > 0 && b->total_rows == 0 ? f->width : 0;
    if (!fl_arrow_make(b->ctx, b->label, &wanted[which[k]], b->total_rows, size, e)) return false;
  }
  return true;
}

static bool read_batches(FlCtx *ctx, Walk *w, const FlArrowField *root, FlTableWanted *wanted,
                         const int32_t *which, int64_t rows, FlIoError *e) {
  int64_t most = w->in->size > INT64_MAX / 8 ? INT64_MAX : w->in->size * 8;
  FlArrowBatch b = {.ctx = ctx, .label = w->label, .total_rows = rows, .most_elements = most};
  Message m;
  int got;
  while ((got = next_message(w, &m, e)) > 0)
    if (m.kind == FL_ARROW_BATCH && !read_batch(&b, &m, root, wanted, which, e)) return false;
  return got == 0 && make_missing(&b, root, wanted, which, e);
}

static bool keep_input(const FlInput *in, const char *label, FlTableWanted *wanted, int32_t n, FlIoError *e) {
  for (int32_t k = 0; k < n; k++)
    if (wanted[k].dtype == FL_TEXT && !fl_buffer_keep(wanted[k].values->buffer, in->buffer))
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
  return true;
}

bool fl_arrow_read(FlCtx *ctx, const FlInput *in, const char *label, FlTableWanted *wanted, int32_t n_wanted,
                   int64_t *n_rows, FlIoError *e) {
  Walk w = {in, label, 0};
  FlArrowField root = {0};
  int32_t *which = NULL;
  for (int32_t k = 0; k < n_wanted; k++) wanted[k].values = wanted[k].valid = NULL;
  bool ok = survey(&w, &root, n_rows, e);
  if (ok) {
    which = malloc(((size_t)root.n_children + 1) * sizeof *which);
    ok = which || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
  }
  ok = ok && choose(&root, wanted, n_wanted, which, label, e) &&
       read_batches(ctx, &w, &root, wanted, which, *n_rows, e) && keep_input(in, label, wanted, n_wanted, e);
  for (int32_t k = 0; !ok && k < n_wanted; k++) {
    fl_array_unref(wanted[k].values);
    fl_array_unref(wanted[k].valid);
    wanted[k].values = wanted[k].valid = NULL;
  }
  free(which);
  fl_arrow_fields_free(&root);
  return ok;
}
