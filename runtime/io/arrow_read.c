/* arrow_read.c: the wanted columns of an Arrow stream or file as arrays, of all rows or of a range of them.
 *
 * In: messages (arrow_messages.c), wanted columns. Out: arrays. First the leaves of all batches are found,
 * in order; then pieces of rows are taken in parallel. What always holds: the first piece with a problem is
 * the one that is reported; a column that lies there as an array has it is not copied, and its pages are
 * never written: they are the file's, and may be dropped at any time. */
#include "io/arrow.h"
#include "data/data.h"
#include "data/unwritten.h"
#include "exec/exec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FL_PIECE_ROWS = 1 << 16 };

typedef struct Column {
  FlTableWanted *w;  /* what is asked for; of a category of plain texts `texts` is read instead */
  FlTableWanted *to; /* what is read: w or &texts */
  FlTableWanted texts;
  const FlArrowField *field;
  FlArrowPool pool;
  FlArrowCodes codes;  /* of texts with a dictionary, */
  bool alone;          /* which are not written as long as nobody reads them */
  FlArrowLeaf *leaves; /* one a batch */
  FlHeap *heap;        /* of texts that are made; NULL: there are none */
  bool lies;           /* its array is the input's own bytes, */
  _Atomic bool odd;    /* but some NaN there has other bits: it is to be copied */
} Column;

typedef struct Piece {
  int32_t batch, column;
  int64_t from, n;
} Piece;

typedef struct Reading {
  FlCtx *ctx;
  FlArrowFile file;
  int64_t skip; /* rows of the first batch that are not wanted */
  Column *columns;
  int32_t n_columns;
  Piece *pieces;
  int64_t n_pieces;
  pthread_mutex_t lock; /* of what follows: the first piece that failed, -1: none */
  int64_t failed;
  FlIoError error;
} Reading;

static bool no_memory(const Reading *r, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", r->file.label);
}

/* ---- where columns are -------------------------------------------------------------------------------- */

/* Unpacks what the wanted columns need. */
static bool unpack(Reading *r, const FlTableWanted *wanted, int32_t n, FlIoError *e) {
  bool *fields = calloc((size_t)r->file.root.n_children + 1, sizeof *fields), ok = fields != NULL;
  if (!ok) return no_memory(r, e);
  for (int32_t i = 0; ok && i < n; i++) {
    int32_t k = fl_arrow_field_find(&r->file.root, &wanted[i], r->file.label, e);
    ok = k >= 0;
    if (ok) fields[k] = true;
  }
  ok = ok && fl_arrow_unpack(r->ctx, &r->file, fields, e);
  free(fields);
  return ok;
}

static bool prepare(Reading *r, FlTableWanted *wanted, int32_t n, FlIoError *e) {
  FlArrowBatch none = {.label = r->file.label};
  r->columns = calloc((size_t)n + 1, sizeof *r->columns);
  if (!r->columns) return no_memory(r, e);
  r->n_columns = n;
  for (int32_t i = 0; i < n; i++) {
    Column *c = &r->columns[i];
    c->w = c->to = &wanted[i];
    int32_t k = fl_arrow_field_find(&r->file.root, c->w, r->file.label, e);
    if (k < 0) return false;
    c->field = &r->file.root.children[k];
    c->leaves = calloc((size_t)r->file.n_batches + 1, sizeof *c->leaves);
    if (!c->leaves) return no_memory(r, e);
    if (!fl_arrow_converts(&none, c->field, c->w, e)) return false;
    if (c->w->dtype == FL_CATEGORY && !c->field->dictionary) {
      c->texts = (FlTableWanted){
          .name = c->w->name, .name_len = c->w->name_len, .dtype = FL_TEXT, .nullable = c->w->nullable};
      c->to = &c->texts;
    }
    if (c->to->dtype == FL_TEXT && !c->field->dictionary && fl_arrow_makes_text(c->field) &&
        !(c->heap = fl_heap_new(r->ctx)))
      return no_memory(r, e);
    if (c->field->dictionary && !fl_arrow_pool(r->ctx, &r->file, c->field, c->w, &c->pool, e)) return false;
  }
  return true;
}

/* The leaves of one batch: its fields in order, those that are wanted once or several times. */
static bool find_leaves(Reading *r, int32_t batch, FlIoError *e) {
  FlArrowBatch *b = &r->file.batches[batch];
  for (int32_t k = 0; k < r->file.root.n_children; k++) {
    const FlArrowField *f = &r->file.root.children[k];
    FlArrowBatch before = *b;
    if (!fl_arrow_skip(b, f, e)) return false;
    for (int32_t i = 0; i < r->n_columns; i++) {
      Column *c = &r->columns[i];
      FlArrowBatch at = before;
      if (c->field != f) continue;
      if (!fl_arrow_leaf(&at, f, c->to, &c->leaves[batch], e)) return false;
      c->leaves[batch].heap = c->heap;
      if (f->dictionary) fl_arrow_pool_part(&r->file, f, b, &c->pool, &c->leaves[batch]);
    }
  }
  return true;
}

/* ---- arrays ------------------------------------------------------------------------------------------- */

/* The rows of batch k that are wanted: [*from, returned). */
static int64_t rows_of(const Reading *r, int32_t k, int64_t *from) {
  const FlArrowBatch *b = &r->file.batches[k];
  *from = k == 0 ? r->skip : 0;
  int64_t left = r->file.n_rows - b->first_row;
  return left < b->n_rows ? left : b->n_rows;
}

/* The size of a list column's arrays; -1: batches differ. */
static int64_t size_of(const Reading *r, const Column *c) {
  const FlArrowField *f = c->field;
  int64_t size = f->type == FL_ARROW_FIXED_LIST && f->width > 0 ? f->width : -1;
  for (int32_t k = 0; k < r->file.n_batches; k++) {
    int64_t one = c->leaves[k].per_row;
    if (!r->file.batches[k].n_rows) continue;
    if (size >= 0 && one >= 0 && one != size) return -1;
    if (one >= 0) size = one;
  }
  return size < 0 ? 0 : size;
}

/* Where the rows of batch k lie as the array has them; false: they do not. */
static bool find_span(const Reading *r, const Column *c, int32_t k, int64_t size, FlArrowBytes *out) {
  const FlArrowLeaf *l = &c->leaves[k];
  int64_t from, rows = rows_of(r, k, &from), bytes = fl_dtype_info[c->to->dtype].bytes;
  if (l->valid || l->all_null || !fl_arrow_same_layout(l->field, c->to->dtype)) return false;
  *out = (FlArrowBytes){l->data.at + (l->first + from * size) * bytes, (rows - from) * size * bytes};
  return (uintptr_t)out->at % (uintptr_t)bytes == 0;
}

/* The array where it lies in the input; NULL: it does not lie there as one, or there is no memory. */
static FlArray *in_place(const Reading *r, const Column *c, int64_t size) {
  int64_t dims[2] = {r->file.n_rows, size};
  int32_t n = 0, last = 0, rank = c->to->arrays ? 2 : 1;
  FlArrowBytes *spans = calloc((size_t)r->file.n_batches + 1, sizeof *spans);
  bool ok = spans != NULL;
  for (int32_t k = 0; ok && k < r->file.n_batches; k++) {
    if (!r->file.batches[k].n_rows) continue;
    ok = find_span(r, c, k, size, &spans[n++]);
    last = k;
  }
  FlArray *out = NULL;
  if (ok && n == 1) {
    FlBuffer *owner = r->file.batches[last].unpacked ? r->file.batches[last].owner : r->file.in->buffer;
    const char *at = (const char *)spans[0].at, *begin = owner->data;
    /* A buffer that is not packed among those that are lies elsewhere. */
    if (at >= begin && at <= begin + owner->bytes)
      out = fl_array_over(r->ctx, owner, begin ? (char *)owner->data + (at - begin) : NULL,
                          (int32_t)c->to->dtype, rank, dims);
  } else if (ok && n > 1) {
    out = fl_arrow_map(r->ctx, r->file.in, spans, n, c->to->dtype, rank, dims);
  }
  free(spans);
  return out;
}

static bool sizes_differ(const Reading *r, const Column *c, FlIoError *e) {
  fl_io_error(e, FL_E_VALUE, "`%s`: the arrays of column `%.*s` have different sizes", r->file.label,
              c->w->name_len, c->w->name);
  fl_io_help(e, "read the column as JSON: types = (`%.*s`: text)", c->w->name_len, c->w->name);
  return false;
}

/* Whether codes say all of the column: all its rows have one, if the indices are right. */
static bool are_alone(const Reading *r, const Column *c) {
  const FlArray *valid = c->pool.w.valid;
  bool all = c->codes.texts && c->to->coded && !c->to->nullable && r->file.n_rows >= fl_unwritten_from();
  for (int32_t k = 0; all && k < r->file.n_batches; k++) all = !c->leaves[k].valid && !c->leaves[k].all_null;
  return all && !memchr(valid->data, 0, (size_t)valid->dims[0]);
}

/* New arrays for the rows. */
static bool make_room(Reading *r, Column *c, int64_t size, FlIoError *e) {
  if (!fl_table_make(r->ctx, c->to, r->file.n_rows, size)) return no_memory(r, e);
  bool texts = c->to->dtype == FL_TEXT;
  if (texts && !fl_arrow_keep(&r->file, c->to->values->buffer)) return no_memory(r, e);
  if (c->field->dictionary && texts && !fl_arrow_codes(r->ctx, &c->pool, r->file.n_rows, &c->codes))
    return no_memory(r, e);
  c->alone = are_alone(r, c);
  if (c->heap && fl_array_keep(r->ctx, c->to->values, c->heap, NULL, 0) != 0) return no_memory(r, e);
  return true;
}

static bool make_arrays(Reading *r, FlIoError *e) {
  int64_t most = r->file.in->size > INT64_MAX / 8 ? INT64_MAX : r->file.in->size * 8, all;
  for (int32_t i = 0; i < r->n_columns; i++) {
    Column *c = &r->columns[i];
    int64_t size = c->to->arrays ? size_of(r, c) : 1;
    if (size < 0) return sizes_differ(r, c, e);
    if (c->to->arrays && (__builtin_mul_overflow(r->file.n_rows, size, &all) || all > most))
      return fl_io_error(e, FL_E_ARROW, "`%s` claims more values than it can hold", r->file.label);
    c->to->values = c->to->nullable ? NULL : in_place(r, c, size);
    c->lies = c->to->values != NULL;
    if (!c->lies && !make_room(r, c, size, e)) return false;
  }
  return true;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static bool cut_pieces(Reading *r, FlIoError *e) {
  int64_t n = 0, first;
  for (int32_t k = 0; k < r->file.n_batches; k++)
    n += (rows_of(r, k, &first) + FL_PIECE_ROWS - 1) / FL_PIECE_ROWS * r->n_columns;
  r->pieces = malloc(((size_t)n + 1) * sizeof *r->pieces);
  if (!r->pieces) return no_memory(r, e);
  for (int32_t k = 0; k < r->file.n_batches; k++) {
    int64_t rows = rows_of(r, k, &first);
    for (int32_t i = 0; i < r->n_columns; i++)
      for (int64_t from = first; from < rows; from += FL_PIECE_ROWS)
        r->pieces[r->n_pieces++] =
            (Piece){k, i, from, rows - from < FL_PIECE_ROWS ? rows - from : FL_PIECE_ROWS};
  }
  return true;
}

static void take_pieces(void *env, int64_t begin, int64_t end, int worker) {
  Reading *r = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    const Piece *p = &r->pieces[k];
    Column *c = &r->columns[p->column];
    FlIoError e = {0};
    if (c->alone &&
        fl_arrow_codes_take(&c->codes, &r->file.batches[p->batch], &c->leaves[p->batch], p->from, p->n))
      continue;
    if (fl_arrow_take(r->ctx, &r->file.batches[p->batch], &c->leaves[p->batch],
                      c->field->dictionary ? &c->pool : NULL, c->to, p->from, p->n, c->lies ? &c->odd : NULL,
                      &e)) {
      if (c->codes.texts)
        (void)fl_arrow_codes_take(&c->codes, &r->file.batches[p->batch], &c->leaves[p->batch], p->from, p->n);
      continue;
    }
    pthread_mutex_lock(&r->lock);
    if (r->failed < 0 || k < r->failed) {
      r->failed = k;
      r->error = e;
    }
    pthread_mutex_unlock(&r->lock);
  }
}

/* The codes of a column of texts, which says of each row what its index said. */
static void attach_codes(const Reading *r, Column *c) {
  if (!c->codes.texts) return;
  const FlTextCodes codes = {c->codes.texts, c->codes.codes, c->codes.width};
  fl_array_give_codes(r->ctx, &c->to->values, codes, c->alone);
  c->codes.texts = NULL; /* both are the array's now */
  c->codes.codes = NULL;
}

/* Codes for the texts that were read in place of a category. */
static bool find_levels(Reading *r, Column *c, FlIoError *e) {
  if (c->to == c->w) return true;
  FlTableWanted *w = c->w;
  if (!fl_table_make(r->ctx, w, r->file.n_rows, 0)) return no_memory(r, e);
  const uint8_t *valid = c->texts.valid ? c->texts.valid->data : NULL;
  int32_t *codes = w->values->data;
  w->levels =
      fl_levels_find(r->ctx, c->texts.values->data, valid, r->file.n_rows, true, c->texts.values, codes);
  if (!w->levels) return no_memory(r, e);
  for (int64_t k = 0; valid && k < r->file.n_rows; k++) {
    ((uint8_t *)w->valid->data)[k] = valid[k];
    if (codes[k] < 0) codes[k] = 0;
  }
  return true;
}

/* Copies the columns that lie in the input with NaNs of other bits. */
static bool copy_odd(Reading *r, FlIoError *e) {
  int64_t all = r->n_pieces, n = 0;
  for (int32_t i = 0; i < r->n_columns; i++) {
    Column *c = &r->columns[i];
    if (!atomic_load(&c->odd)) continue;
    int64_t size = c->to->arrays ? c->to->values->dims[1] : 1;
    fl_table_wanted_reset(c->to);
    c->lies = false;
    if (!make_room(r, c, size, e)) return false;
  }
  for (int64_t k = 0; k < all; k++)
    if (atomic_load(&r->columns[r->pieces[k].column].odd)) r->pieces[n++] = r->pieces[k];
  r->n_pieces = n;
  fl_parallel_for(r->ctx, n, 1, take_pieces, r);
  return true;
}

static bool read_columns(Reading *r, FlTableWanted *wanted, int32_t n, FlIoError *e) {
  bool ok = unpack(r, wanted, n, e) && prepare(r, wanted, n, e);
  for (int32_t k = 0; ok && k < r->file.n_batches; k++) ok = find_leaves(r, k, e);
  ok = ok && make_arrays(r, e) && cut_pieces(r, e);
  if (!ok) return false;
  fl_parallel_for(r->ctx, r->n_pieces, 1, take_pieces, r);
  if (r->failed < 0 && !copy_odd(r, e)) return false;
  if (r->failed >= 0) {
    *e = r->error;
    return false;
  }
  for (int32_t i = 0; i < n; i++) {
    attach_codes(r, &r->columns[i]);
    if (!find_levels(r, &r->columns[i], e)) return false;
  }
  return true;
}

/* Closes r->file, too. */
static bool read_and_close(Reading *r, FlTableWanted *wanted, int32_t n, bool ok, FlIoError *e) {
  r->failed = -1;
  pthread_mutex_init(&r->lock, NULL);
  ok = ok && read_columns(r, wanted, n, e);
  for (int32_t k = 0; !ok && k < n; k++) fl_table_wanted_reset(&wanted[k]);
  for (int32_t i = 0; r->columns && i < r->n_columns; i++) {
    fl_arrow_pool_reset(&r->columns[i].pool);
    fl_arrow_codes_reset(&r->columns[i].codes);
    fl_table_wanted_reset(&r->columns[i].texts);
    for (int32_t k = 0; r->columns[i].leaves && k < r->file.n_batches; k++)
      fl_arrow_nested_free(r->columns[i].leaves[k].nested);
    free(r->columns[i].leaves);
    fl_heap_unref(r->columns[i].heap);
  }
  free(r->columns);
  free(r->pieces);
  pthread_mutex_destroy(&r->lock);
  fl_arrow_close(&r->file);
  return ok;
}

static void want_nothing(FlTableWanted *wanted, int32_t n) {
  for (int32_t k = 0; k < n; k++) wanted[k].values = wanted[k].valid = wanted[k].levels = NULL;
}

bool fl_arrow_read(FlCtx *ctx, const FlInput *in, const char *label, bool whole, FlTableWanted *wanted,
                   int32_t n_wanted, int64_t *n_rows, FlIoError *e) {
  Reading r = {.ctx = ctx};
  want_nothing(wanted, n_wanted);
  bool ok = fl_arrow_open(in, label, whole, &r.file, e);
  *n_rows = r.file.n_rows;
  return read_and_close(&r, wanted, n_wanted, ok, e);
}

bool fl_arrow_read_rows(FlCtx *ctx, const FlArrowFile *file, int64_t row, int64_t n, FlTableWanted *wanted,
                        int32_t n_wanted, FlIoError *e) {
  Reading r = {.ctx = ctx};
  want_nothing(wanted, n_wanted);
  bool ok = fl_arrow_slice(file, row, n, &r.file, &r.skip) || no_memory(&r, e);
  return read_and_close(&r, wanted, n_wanted, ok, e);
}

bool fl_arrow_check(const FlArrowFile *file, const FlTableWanted *wanted, int32_t n_wanted, FlIoError *e) {
  FlArrowBatch none = {.label = file->label};
  for (int32_t i = 0; i < n_wanted; i++) {
    int32_t k = fl_arrow_field_find(&file->root, &wanted[i], file->label, e);
    if (k < 0) return false;
    if (!fl_arrow_converts(&none, &file->root.children[k], &wanted[i], e)) return false;
  }
  return true;
}
