/* arrow_dictionary.c: the values of Arrow's dictionaries, which columns hold indices of.
 *
 * In: the dictionary messages of a stream or file. Out: for a column all values of its dictionary's messages
 * one after the other (the pool), and for each batch which part of them counts: a message replaces what was
 * before, or adds to it. Of a column that is wanted as a category the values get codes; of one of texts the
 * rows do, which grouping and sorting go by. */
#include "io/arrow.h"
#include "io/text_places.h"
#include "data/data.h"
#include "data/text_codes.h"
#include "data/text_order.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const FlArrowDictionary *d, const FlArrowField *f) { return d->id == f->dictionary_id; }

void fl_arrow_pool_part(const FlArrowFile *file, const FlArrowField *f, const FlArrowBatch *b,
                        FlArrowPool *pool, FlArrowLeaf *l) {
  for (; pool->seen < b->n_dictionaries; pool->seen++) {
    const FlArrowDictionary *d = &file->dictionaries[pool->seen];
    if (!is_of(d, f)) continue;
    if (!d->delta) {
      pool->begin = pool->end;
      pool->n = 0;
    }
    pool->n += d->values.n_rows;
    pool->end += d->values.n_rows;
  }
  l->pool = pool->begin;
  l->n_pool = pool->n;
}

static bool take_codes(FlCtx *ctx, const FlArrowFile *file, FlTableWanted *w, FlArrowPool *pool, int64_t rows,
                       FlIoError *e) {
  pool->codes = fl_counted_new(ctx ? fl_ctx_pool(ctx) : NULL, ((size_t)rows + 1) * sizeof *pool->codes);
  if (pool->codes && fl_arrow_keep(file, pool->w.values->buffer))
    w->levels = fl_levels_find(ctx, pool->w.values->data, pool->w.valid->data, rows, false, pool->w.values,
                               pool->codes);
  return w->levels || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", file->label);
}

bool fl_arrow_pool(FlCtx *ctx, const FlArrowFile *file, const FlArrowField *f, FlTableWanted *w,
                   FlArrowPool *pool, FlIoError *e) {
  FlArrowField plain = *f;
  int64_t rows = 0;
  plain.dictionary = false;
  *pool = (FlArrowPool){.w = {.name = w->name,
                              .name_len = w->name_len,
                              .dtype = w->dtype == FL_CATEGORY ? FL_TEXT : w->dtype,
                              .nullable = true}};
  for (int32_t k = 0; k < file->n_dictionaries; k++)
    if (is_of(&file->dictionaries[k], f) &&
        __builtin_add_overflow(rows, file->dictionaries[k].values.n_rows, &rows))
      return fl_io_error(e, FL_E_ARROW, "`%s` claims more values than it can hold", file->label);
  if (rows > file->in->size + 64)
    return fl_io_error(e, FL_E_ARROW, "`%s` claims more values than it can hold", file->label);
  if (!fl_table_make(ctx, &pool->w, rows, 0))
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", file->label);
  int64_t at = 0;
  for (int32_t k = 0; k < file->n_dictionaries; k++) {
    FlArrowBatch b = file->dictionaries[k].values;
    FlArrowLeaf l;
    if (!is_of(&file->dictionaries[k], f)) continue;
    b.first_row = at;
    if (!fl_arrow_leaf(&b, &plain, &pool->w, &l, e) ||
        !fl_arrow_take(ctx, &b, &l, NULL, &pool->w, 0, b.n_rows, NULL, e))
      return false;
    at += b.n_rows;
  }
  return w->dtype != FL_CATEGORY || take_codes(ctx, file, w, pool, rows, e);
}

void fl_arrow_pool_reset(FlArrowPool *pool) {
  fl_table_wanted_reset(&pool->w);
  fl_counted_free(pool->codes);
  *pool = (FlArrowPool){0};
}

/* ---- codes of texts ----------------------------------------------------------------------------------- */

enum { MOST_CODES = 1 << 18 }; /* values of a pool, as part/dictionary.c has it */

bool fl_arrow_codes(FlCtx *ctx, const FlArrowPool *pool, int64_t rows, FlArrowCodes *out) {
  int64_t n = pool->w.values->dims[0];
  if (n > MOST_CODES || n > rows / 4) return true;
  out->place = malloc(((size_t)n + 1) * sizeof *out->place);
  if (out->place) out->texts = fl_text_places(ctx, pool->w.values->data, n, out->place);
  if (!out->texts) return false;
  out->width = fl_text_codes_width(out->texts->n);
  out->codes = fl_buffer_new(ctx, rows * out->width);
  return out->codes != NULL;
}

/* Codes of `width` bytes for indices of `bits` bits. false: one of these is of no value. */
static inline bool codes_of(const FlArrowLeaf *l, const uint32_t *place, int64_t bits, int32_t width,
                            int64_t first, int64_t n, void *to) {
  const uint8_t *at = l->data.at + first * (bits / 8);
  const uint64_t end = fl_arrow_index_end(l, bits);
  bool all = true;
  for (int64_t k = 0; k < n; k++) {
    const uint64_t index = (uint64_t)fl_arrow_load(at + k * (bits / 8), bits, false);
    const uint32_t code = index < end ? place[index] : 0; /* null */
    all &= index < end;
    switch (width) {
    case 1: ((uint8_t *)to)[k] = (uint8_t)code; break;
    case 2: ((uint16_t *)to)[k] = (uint16_t)code; break;
    default: ((uint32_t *)to)[k] = code;
    }
  }
  return all;
}

static inline bool codes_of_bits(const FlArrowLeaf *l, const uint32_t *place, int64_t bits, int32_t width,
                                 int64_t first, int64_t n, void *to) {
  switch (width) {
  case 1: return codes_of(l, place, bits, 1, first, n, to);
  case 2: return codes_of(l, place, bits, 2, first, n, to);
  default: return codes_of(l, place, bits, 4, first, n, to);
  }
}

bool fl_arrow_codes_take(const FlArrowCodes *codes, const FlArrowBatch *b, const FlArrowLeaf *l, int64_t from,
                         int64_t n) {
  const int64_t first = l->first + from;
  const int32_t width = codes->width;
  const uint32_t *place = codes->place + l->pool;
  void *to = (char *)codes->codes->data + (b->first_row + from) * width;
  switch (fl_arrow_bits(l->field)) {
  case 8: return codes_of_bits(l, place, 8, width, first, n, to);
  case 16: return codes_of_bits(l, place, 16, width, first, n, to);
  case 32: return codes_of_bits(l, place, 32, width, first, n, to);
  default: return codes_of_bits(l, place, 64, width, first, n, to);
  }
}

void fl_arrow_codes_reset(FlArrowCodes *codes) {
  fl_dictionary_unref(codes->texts);
  fl_buffer_unref(codes->codes);
  free(codes->place);
  *codes = (FlArrowCodes){0};
}
