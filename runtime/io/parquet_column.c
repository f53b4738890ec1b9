/* parquet_column.c: the chunk of a Parquet column as rows of an array of ours.
 *
 * In: pages, which hold the values that are not null, plain or as indices into the chunk's dictionary, and
 * before them levels that say which are. Out: values, and validities. What always holds: as many rows as the
 * chunk has, or an error. Texts of a chunk that is all of the array, and whose dictionary has them all, get
 * the codes that its indices say, and may be these alone: then texts are written only for what has none. */
#include "io/parquet.h"
#include "io/text_places.h"
#include "data/data.h"
#include "data/unwritten.h"
#include "exec/exec.h"
#include "flow/dtypes.h"

#include <stdlib.h>
#include <string.h>

/* A chunk that is being read. Memory of its own is counted, and freed at the end. */
typedef struct Chunk {
  FlPool *pool;
  const FlParquetColumn *column;
  const uint8_t *end; /* of the file */
  int32_t codec;
  FlHeap *heap;
  FlTableWanted *w;
  int64_t bytes; /* of an element as wanted */
  char *dictionary;
  int64_t n_dictionary;
  uint8_t *unpacked; /* room for a page */
  int64_t unpacked_room;
  bool no_memory;
  FlDictionary *texts; /* in order; NULL: rows get no codes */
  uint32_t *place;     /* of each text of the dictionary */
  FlBuffer *codes;     /* of all rows, 1 or 2 bytes each */
  int32_t width;
  bool alone; /* where there are codes, the texts are not written */
} Chunk;

static bool missing(Chunk *c) {
  c->no_memory = true;
  return false;
}

static bool make_room(Chunk *c, int64_t bytes) {
  if (c->unpacked_room >= bytes) return true;
  fl_counted_free(c->unpacked);
  c->unpacked = fl_counted_new(c->pool, (size_t)bytes);
  c->unpacked_room = c->unpacked ? bytes : 0;
  return c->unpacked || missing(c);
}

static bool by_index(int32_t encoding) {
  return encoding == FL_PARQUET_PLAIN_DICTIONARY || encoding == FL_PARQUET_RLE_DICTIONARY;
}

/* What a page holds behind its levels, unpacked, with FL_PARQUET_SLACK bytes that may be read behind it:
 * where it is not packed, as it stands in the file; texts that are pointed to go to the heap, which keeps
 * them. NULL: it does not unpack. */
static const uint8_t *unpack(Chunk *c, const FlParquetPage *p, int64_t skip) {
  const int64_t size = p->size - skip;
  const int32_t codec = p->compressed ? c->codec : 0;
  uint8_t *to = c->unpacked;
  if (c->column->kind == FL_PARQUET_TEXT && (p->dictionary || !by_index(p->encoding))) {
    to = (uint8_t *)fl_heap_alloc(c->heap, size + FL_PARQUET_SLACK);
    if (!to) missing(c);
  } else {
    const uint8_t *there = fl_parquet_lies(codec, p->at + skip, p->packed - skip, size);
    if (there && c->end - there >= size + FL_PARQUET_SLACK) return there;
    if (!make_room(c, size + FL_PARQUET_SLACK)) return NULL;
    to = c->unpacked;
  }
  if (!to) return NULL;
  memset(to + size, 0, FL_PARQUET_SLACK);
  return fl_parquet_unpack(codec, p->at + skip, p->packed - skip, to, size) ? to : NULL;
}

/* n plain values, which are all that the page holds, where they are to be: those of the file and those that
 * are wanted have one size. */
static bool take_at(const Chunk *c, const FlParquetPage *p, int64_t skip, int64_t n, char *to) {
  const int64_t size = p->size - skip;
  uint8_t *at = (uint8_t *)to;
  return fl_parquet_unpack(p->compressed ? c->codec : 0, p->at + skip, p->packed - skip, at, size) &&
         fl_parquet_values(c->column, c->w->dtype, at, size, n, to);
}

static bool fits(const Chunk *c, int64_t bytes, int64_t n) {
  return c->column->kind != FL_PARQUET_TEXT && fl_parquet_width(c->column) == c->bytes &&
         bytes == n * c->bytes;
}

/* ---- codes of texts ----------------------------------------------------------------------------------- */

static void drop_codes(Chunk *c) {
  fl_dictionary_unref(c->texts);
  fl_buffer_unref(c->codes);
  fl_counted_free(c->place);
  c->texts = NULL;
  c->codes = NULL;
  c->place = NULL;
}

/* The rows before `row` are texts that stand for themselves. */
static void leave_codes(Chunk *c, int64_t row) {
  const FlTextCodes known = {c->texts, c->codes, c->width};
  if (c->codes && c->alone) fl_texts_of_codes(&known, c->codes->data, row, c->w->values->data);
  drop_codes(c);
}

/* Room for the codes of all rows, where the dictionary is small against them. */
static bool make_codes(Chunk *c, FlCtx *ctx, int64_t rows) {
  enum { MOST_CODES = 1 << 12 };
  if (c->n_dictionary > MOST_CODES || c->n_dictionary > rows / 4) return true;
  c->place = fl_counted_new(c->pool, (size_t)(c->n_dictionary + 1) * sizeof *c->place);
  if (c->place)
    c->texts = fl_text_places(ctx, (const FlText *)(const void *)c->dictionary, c->n_dictionary, c->place);
  c->width = fl_text_codes_width(c->n_dictionary);
  if (c->texts) c->codes = fl_buffer_new(ctx, rows * c->width);
  return c->codes || missing(c);
}

/* The codes of n rows from `row` on: of n indices, or of the same one each time. */
static void put_codes(const Chunk *c, const uint32_t *numbers, bool same, int64_t n, int64_t row) {
  uint8_t *narrow = (uint8_t *)c->codes->data + row;
  uint16_t *wide = (uint16_t *)c->codes->data + row;
  if (c->width == 1 && same) memset(narrow, (int)c->place[*numbers], (size_t)n);
  else if (c->width == 1)
    for (int64_t k = 0; k < n; k++) narrow[k] = (uint8_t)c->place[numbers[k]];
  else
    for (int64_t k = 0; k < n; k++) wide[k] = (uint16_t)c->place[numbers[same ? 0 : k]];
}

static bool take_dictionary(Chunk *c, const FlParquetPage *p) {
  const bool here = fits(c, p->size, p->n_values);
  if (c->dictionary || p->n_values > p->size)
    return false; /* a value takes a byte at least: of bools there is no dictionary */
  const uint8_t *at = here ? NULL : unpack(c, p, 0);
  if (!at && !here) return false;
  c->dictionary = fl_counted_new(c->pool, (size_t)(p->n_values * c->bytes + 1));
  if (!c->dictionary) return missing(c);
  c->n_dictionary = p->n_values;
  if (here) return take_at(c, p, 0, p->n_values, c->dictionary);
  return fl_parquet_values(c->column, c->w->dtype, at, p->size, p->n_values, c->dictionary);
}

/* ---- the values of a page ----------------------------------------------------------------------------- */

/* Values of the dictionary: by n numbers, or the same one each time. */
#define FL_GATHER(type)                                                                                      \
  {                                                                                                          \
    const type *from = (const type *)(const void *)c->dictionary;                                            \
    type *into = (type *)(void *)to;                                                                         \
    for (int64_t k = 0; k < n; k++) into[k] = from[same ? *numbers : numbers[k]];                            \
  }

static void gather(const Chunk *c, const uint32_t *numbers, bool same, int64_t n, char *to) {
  switch (c->bytes) {
  case 1: FL_GATHER(uint8_t) break;
  case 2: FL_GATHER(uint16_t) break;
  case 4: FL_GATHER(uint32_t) break;
  case 8: FL_GATHER(uint64_t) break;
  default: FL_GATHER(FlText)
  }
}

static bool take_indices(const Chunk *c, const uint8_t *at, const uint8_t *end, int64_t n, char *to) {
  uint32_t numbers[FL_PARQUET_BLOCK], most = 0;
  FlParquetRuns runs;
  if (!c->dictionary || end - at < 1 || !fl_parquet_runs(at + 1, end, *at, &runs)) return false;
  for (int64_t some; n > 0; n -= some, to += some * c->bytes) {
    some = fl_parquet_next(&runs, n, numbers, &most);
    if (some == 0 || most >= c->n_dictionary) return false;
    const uint32_t *which = runs.packed ? numbers : &runs.number;
    if (!c->codes || !c->alone) gather(c, which, !runs.packed, some, to);
    if (c->codes) put_codes(c, which, !runs.packed, some, (to - (char *)c->w->values->data) / c->bytes);
  }
  return true;
}

/* n numbers of one bit, as a byte each where `to` is; how many are 1; -1: they are not there. */
static int64_t take_bits(const uint8_t *at, const uint8_t *end, int64_t n, uint8_t *to) {
  uint32_t numbers[FL_PARQUET_BLOCK], most = 0;
  FlParquetRuns runs;
  int64_t ones = 0;
  if (!fl_parquet_runs(at, end, 1, &runs)) return -1;
  for (int64_t some, done = 0; done < n; done += some) {
    some = fl_parquet_next(&runs, n - done, numbers, &most);
    if (some == 0) return -1;
    for (int64_t k = 0; k < some && runs.packed; k++) ones += numbers[k];
    if (!runs.packed) ones += runs.number ? some : 0;
    if (to && !runs.packed) memset(to + done, (int)runs.number, (size_t)some);
    for (int64_t k = 0; k < some && to && runs.packed; k++) to[done + k] = (uint8_t)numbers[k];
  }
  return ones;
}

/* n values that are not null, one behind the other. */
static bool take_values(const Chunk *c, int32_t encoding, const uint8_t *at, const uint8_t *end, int64_t n,
                        char *to) {
  if (encoding == FL_PARQUET_PLAIN) return fl_parquet_values(c->column, c->w->dtype, at, end - at, n, to);
  if (!n) return true;
  if (encoding == FL_PARQUET_RLE && c->column->kind == FL_PARQUET_BOOL)
    return end - at >= 4 && take_bits(at + 4, end, n, (uint8_t *)to) >= 0;
  return by_index(encoding) && take_indices(c, at, end, n, to);
}

/* Moves m values to the rows that are valid, of n; the others become zero. */
static void spread(const Chunk *c, char *to, const uint8_t *valid, int64_t n, int64_t m) {
  const size_t bytes = (size_t)c->bytes;
  for (int64_t k = n - 1; k >= 0; k--) {
    if (!valid[k]) memset(to + (size_t)k * bytes, 0, bytes);
    else if (--m != k) memcpy(to + (size_t)k * bytes, to + (size_t)m * bytes, bytes);
  }
}

static int64_t levels_before(const FlParquetPage *p) { return p->levels < 0 ? 0 : p->levels; }

/* The values of a page of data from *at to *end, after its levels, which say which of its rows have one:
 * `valid`, unless it is NULL. Returns how many there are; -1: they are not there. */
static int64_t open_page(Chunk *c, const FlParquetPage *p, const uint8_t **at, const uint8_t **end,
                         uint8_t *valid) {
  const int64_t n = p->n_values, skip = levels_before(p);
  *at = unpack(c, p, skip);
  if (!*at) return -1;
  *end = *at + p->size - skip;
  const uint8_t *levels = p->at, *levels_end = p->at + skip;
  if (c->column->nullable && p->levels < 0) {
    uint32_t size;
    if (*end - *at < 4) return -1;
    memcpy(&size, *at, sizeof size);
    levels = *at + 4;
    if ((int64_t)size > *end - levels) return -1;
    *at = levels_end = levels + size;
  }
  if (c->column->nullable) return take_bits(levels, levels_end, n, valid);
  if (valid) memset(valid, 1, (size_t)n);
  return n;
}

/* The rows of a page of data, which are those from row `row` of the array on, and their validities. */
static bool take_page(Chunk *c, const FlParquetPage *p, int64_t row, char *to, uint8_t *valid) {
  const int64_t n = p->n_values, skip = levels_before(p);
  const uint8_t *at, *end;
  if (!c->column->nullable && p->encoding == FL_PARQUET_PLAIN && fits(c, p->size - skip, n)) {
    if (valid) memset(valid, 1, (size_t)n);
    return take_at(c, p, skip, n, to);
  }
  const int64_t m = open_page(c, p, &at, &end, valid);
  if (m < 0 || (m < n && !valid) || !take_values(c, p->encoding, at, end, m, to)) return false;
  if (m < n || !by_index(p->encoding)) leave_codes(c, row + (by_index(p->encoding) ? m : 0));
  if (m < n) spread(c, to, valid, n, m);
  return true;
}

/* Rows [from, to) of a page of numbers. Where it has a plain value of each row, no others are looked at. */
static bool take_some(Chunk *c, const FlParquetPage *p, int64_t from, int64_t to, char *values,
                      uint8_t *valid) {
  const int64_t n = p->n_values, rows = to - from, width = fl_parquet_width(c->column);
  const uint8_t *at, *end;
  if (p->encoding == FL_PARQUET_PLAIN && width > 0 && open_page(c, p, &at, &end, NULL) == n) {
    if (valid) memset(valid, 1, (size_t)rows);
    return (end - at) / width >= n &&
           fl_parquet_values(c->column, c->w->dtype, at + from * width, rows * width, rows, values);
  }
  char *all = fl_counted_new(c->pool, (size_t)(n * (c->bytes + 1)));
  if (!all) return missing(c);
  uint8_t *says = valid ? (uint8_t *)all + n * c->bytes : NULL;
  const bool ok = take_page(c, p, 0, all, says);
  if (ok) memcpy(values, all + from * c->bytes, (size_t)(rows * c->bytes));
  if (ok && valid) memcpy(valid, says + from, (size_t)rows);
  fl_counted_free(all);
  return ok;
}

/* Those rows of a page of data that are wanted; `at` of the chunk's rows are before it. */
static bool take_wanted(Chunk *c, const FlParquetPage *p, int64_t at, FlParquetRows wanted) {
  const int64_t from = at < wanted.from ? wanted.from - at : 0, end = wanted.to - at;
  const int64_t to = end < p->n_values ? end : p->n_values, row = wanted.first + at;
  if (from >= to) return true;
  uint8_t *valid = c->w->valid ? (uint8_t *)c->w->valid->data + row + from : NULL;
  char *values = (char *)c->w->values->data + (row + from) * c->bytes;
  if (from == 0 && to == p->n_values) return take_page(c, p, row, values, valid);
  return take_some(c, p, from, to, values, valid);
}

static Chunk open_chunk(FlCtx *ctx, const FlInput *in, const FlParquetColumn *column,
                        const FlParquetChunk *chunk, FlTableWanted *w) {
  return (Chunk){.pool = fl_ctx_pool(ctx),
                 .column = column,
                 .end = (const uint8_t *)in->data + in->size,
                 .codec = chunk->codec,
                 .w = w,
                 .bytes = fl_dtype_info[w->dtype].bytes};
}

static void close_chunk(Chunk *c) {
  drop_codes(c);
  fl_counted_free(c->dictionary);
  fl_counted_free(c->unpacked);
}

int fl_parquet_take(FlCtx *ctx, const FlInput *in, const FlParquetColumn *column, const FlParquetChunk *chunk,
                    FlHeap *heap, FlTableWanted *w, FlParquetRows rows) {
  Chunk c = open_chunk(ctx, in, column, chunk, w);
  c.heap = heap;
  c.alone = w->coded && chunk->n_values >= fl_unwritten_from();
  const uint8_t *begin = (const uint8_t *)in->data + chunk->offset;
  FlThrift t = {begin, begin + chunk->bytes, false};
  int64_t done = 0;
  bool ok = true;
  while (ok && done < rows.to) {
    FlParquetPage page;
    ok = fl_parquet_page(&t, &page) && (page.dictionary || page.n_values <= chunk->n_values - done);
    if (!ok) break;
    ok = page.dictionary ? take_dictionary(&c, &page) : take_wanted(&c, &page, done, rows);
    bool codes = page.dictionary && w->dtype == FL_TEXT && w->values->dims[0] == chunk->n_values;
    if (ok && codes) ok = make_codes(&c, ctx, chunk->n_values);
    done += page.dictionary ? 0 : page.n_values;
  }
  if (ok && c.codes) {
    fl_array_give_codes(ctx, &w->values, (FlTextCodes){c.texts, c.codes, c.width}, c.alone);
    c.texts = NULL;
    c.codes = NULL;
  }
  close_chunk(&c);
  return ok ? 0 : c.no_memory ? FL_E_MEMORY : FL_E_VALUE;
}

/* ---- values in their order ---------------------------------------------------------------------------- */

struct FlParquetValues {
  Chunk c;
  FlThrift t;              /* behind the page that is open */
  int64_t rows, row;       /* of the chunk; the next one */
  int64_t page_end;        /* row where the page that is open ends */
  const uint8_t *at, *end; /* its values that were not given yet, plain ones of so many bytes; */
  int64_t width, left;     /* width 0: as they are wanted */
  char *room;              /* where those are, */
  int64_t room_rows;       /* as many as there is room for */
};

/* The values of a page that are not plain, or not of one size. */
static bool take_whole_page(FlParquetValues *v, const FlParquetPage *page) {
  Chunk *c = &v->c;
  if (v->room_rows < page->n_values) {
    fl_counted_free(v->room);
    v->room_rows = 0;
    v->room = fl_counted_new(c->pool, (size_t)(page->n_values * c->bytes));
    if (!v->room) return missing(c);
    v->room_rows = page->n_values;
  }
  if (!take_page(c, page, 0, v->room, NULL)) return false;
  v->at = (const uint8_t *)v->room;
  v->width = 0;
  return true;
}

static void skip(FlParquetValues *v, int64_t n) {
  v->at += n * (v->width ? v->width : v->c.bytes);
  v->left -= n;
}

static bool open_values(FlParquetValues *v, const FlParquetPage *page) {
  Chunk *c = &v->c;
  const int64_t n = page->n_values;
  v->width = fl_parquet_width(c->column);
  if (page->encoding != FL_PARQUET_PLAIN || v->width == 0) {
    if (!take_whole_page(v, page)) return false;
  } else if (open_page(c, page, &v->at, &v->end, NULL) != n || (v->end - v->at) / v->width < n) {
    return false;
  }
  v->left = n;
  skip(v, v->row - (v->page_end - n));
  return true;
}

/* Opens the page that has the next row; those before it are not looked at. */
static bool next_page(FlParquetValues *v) {
  FlParquetPage page;
  while (v->page_end <= v->row) {
    if (!fl_parquet_page(&v->t, &page)) return false;
    if (page.dictionary) {
      if (!take_dictionary(&v->c, &page)) return false;
      continue;
    }
    if (page.n_values > v->rows - v->page_end) return false;
    v->page_end += page.n_values;
    if (v->page_end > v->row && !open_values(v, &page)) return false;
  }
  return true;
}

FlParquetValues *fl_parquet_values_open(FlCtx *ctx, const FlInput *in, const FlParquetColumn *column,
                                        const FlParquetChunk *chunk, FlTableWanted *w, int64_t from) {
  FlParquetValues *v = calloc(1, sizeof *v);
  if (!v) return NULL;
  const uint8_t *begin = (const uint8_t *)in->data + chunk->offset;
  v->c = open_chunk(ctx, in, column, chunk, w);
  v->t = (FlThrift){begin, begin + chunk->bytes, false};
  v->rows = chunk->n_values;
  v->row = from;
  return v;
}

int fl_parquet_values_next(FlParquetValues *v, int64_t n, char *to) {
  Chunk *c = &v->c;
  for (int64_t some; n > 0; n -= some, to += some * c->bytes) {
    bool ok = v->left > 0 || next_page(v);
    some = n < v->left ? n : v->left;
    v->row += some;
    if (ok && v->width) ok = fl_parquet_values(c->column, c->w->dtype, v->at, v->end - v->at, some, to);
    else if (ok) memcpy(to, v->at, (size_t)(some * c->bytes));
    if (!ok) return c->no_memory ? FL_E_MEMORY : FL_E_VALUE;
    skip(v, some);
  }
  return 0;
}

void fl_parquet_values_close(FlParquetValues *v) {
  if (!v) return;
  close_chunk(&v->c);
  fl_counted_free(v->room);
  free(v);
}
