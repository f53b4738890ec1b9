/* arrow_texts.c: many texts of an Arrow column at once.
 *
 * In: a leaf of texts, or of indices into a pool of them. Out: texts that point into the batch. What always
 * holds: what is given was checked (places, UTF-8); where anything is not as it should be, nothing is said
 * here but that each text is to be looked at by itself (arrow_column.c). */
#include "io/arrow.h"
#include "data/data.h"

#include <string.h>

/* Offsets of `bits` bits: what lies between the first and the last is checked as one. */
static inline bool of_offsets(const FlArrowLeaf *l, int64_t bits, int64_t first, int64_t n, FlText *to) {
  const uint8_t *offsets = l->data.at + first * (bits / 8);
  const char *texts = (const char *)l->texts.at;
  const int64_t from = fl_arrow_load(offsets, bits, true),
                last = fl_arrow_load(offsets + n * (bits / 8), bits, true);
  bool falls = false;
  if (from < 0 || last < from || last > l->texts.n) return false;
  for (int64_t k = 0, begin = from; k < n; k++) {
    const int64_t end = fl_arrow_load(offsets + (k + 1) * (bits / 8), bits, true);
    falls = falls || end < begin;
    /* As numbers: of offsets that fall later on, these may be anything; then nobody reads what was made. */
    const uintptr_t at = (uintptr_t)texts + (uintptr_t)begin;
    const int64_t len = (int64_t)((uint64_t)end - (uint64_t)begin);
    to[k] = end > begin ? (FlText){(const char *)at, len} : (FlText){NULL, 0};
    begin = end;
  }
  if (falls) return false;
  if (last == from || fl_utf8_is_ascii(texts + from, last - from)) return true;
  bool cut = false; /* a character that two texts share */
  for (int64_t k = 0; k < n; k++) cut = cut || (to[k].len && ((unsigned char)*to[k].ptr & 0xc0) == 0x80);
  return !cut && fl_utf8_check(texts + from, last - from) == last - from;
}

/* Views: short texts lie in them, of longer ones they say where. */
static bool of_views(const FlArrowBatch *b, const FlArrowLeaf *l, int64_t first, int64_t n, FlText *to) {
  FlArrowBytes buffer = {0};
  int64_t opened = -1;
  for (int64_t k = 0; k < n; k++) {
    const uint8_t *view = l->data.at + 16 * (first + k);
    const int64_t len = fl_arrow_load(view, 32, true);
    const char *at = (const char *)view + 4;
    if (len > 12) {
      const int64_t which = fl_arrow_load(view + 8, 32, true), begin = fl_arrow_load(view + 12, 32, true);
      if (which < 0 || which >= l->n_views) return false;
      if (which != opened && !fl_arrow_buffer(b, l->first_view + (uint32_t)which, &buffer)) return false;
      opened = which;
      if (begin < 0 || begin > buffer.n || len > buffer.n - begin) return false;
      at = (const char *)buffer.at + begin;
    }
    if (len < 0 || (!fl_utf8_is_ascii(at, len) && fl_utf8_check(at, len) != len)) return false;
    to[k] = len ? (FlText){at, len} : (FlText){NULL, 0};
  }
  return true;
}

/* Indices of `bits` bits into a pool, whose texts were checked. */
static inline bool of_indices(const FlArrowLeaf *l, const FlArrowPool *pool, int64_t bits, int64_t first,
                              int64_t n, FlText *to, uint8_t *valid) {
  const uint8_t *at = l->data.at + first * (bits / 8),
                *known = (const uint8_t *)pool->w.valid->data + l->pool;
  const FlText *texts = (const FlText *)pool->w.values->data + l->pool;
  const uint64_t end = fl_arrow_index_end(l, bits);
  uint8_t all = 1;
  for (int64_t k = 0; k < n; k++) {
    const uint64_t index = (uint64_t)fl_arrow_load(at + k * (bits / 8), bits, false);
    if (index >= end) return false;
    to[k] = texts[index];
    all &= known[index];
    if (valid) valid[k] = known[index];
  }
  return valid || all;
}

static bool of_pool(const FlArrowLeaf *l, const FlArrowPool *pool, int64_t first, int64_t n, FlText *to,
                    uint8_t *valid) {
  switch (fl_arrow_bits(l->field)) {
  case 8: return of_indices(l, pool, 8, first, n, to, valid);
  case 16: return of_indices(l, pool, 16, first, n, to, valid);
  case 32: return of_indices(l, pool, 32, first, n, to, valid);
  default: return of_indices(l, pool, 64, first, n, to, valid);
  }
}

bool fl_arrow_take_texts(const FlArrowBatch *b, const FlArrowLeaf *l, const FlArrowPool *pool, int64_t first,
                         int64_t n, FlText *to, uint8_t *valid) {
  if (l->valid && !valid) return false;
  if (valid) memset(valid, 1, (size_t)n);
  bool ok = false;
  if (pool) ok = of_pool(l, pool, first, n, to, valid);
  else if (l->field->type == FL_ARROW_UTF8) ok = of_offsets(l, 32, first, n, to);
  else if (l->field->type == FL_ARROW_LARGE_UTF8) ok = of_offsets(l, 64, first, n, to);
  else if (l->field->type == FL_ARROW_UTF8_VIEW) ok = of_views(b, l, first, n, to);
  for (int64_t k = 0; ok && l->valid && k < n; k++) {
    if (fl_arrow_bit(l->valid, first + k)) continue;
    valid[k] = 0;
    to[k] = (FlText){NULL, 0};
  }
  return ok;
}
