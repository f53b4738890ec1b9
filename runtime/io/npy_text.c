/* npy_text.c: the elements of NPY arrays of texts: NumPy's types U (code points of 4 bytes) and S (bytes).
 *
 * Each element has the same size, filled up with zeros, which are not part of the text. What always holds: a
 * text is UTF-8 afterwards, or its file an error; a text that ends with NUL is never written, since it would
 * not read back. */
#include "io/npy.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

enum { FL_SOME = 1 << 18 }; /* bytes of the file in one piece, or one element */

/* ---- reading ------------------------------------------------------------------------------------------ */

typedef enum Failure { NONE, SHORT, NO_TEXT, NO_MEMORY } Failure;

typedef struct Reading {
  const FlNpySource *from;
  const FlNpy *h;
  FlArray *out;
  FlHeap *heap;
  int64_t step; /* elements of a piece */
  _Atomic int failure;
} Reading;

/* Bytes of an element without what fills it up. */
static int64_t filled(const char *at, int64_t size, int32_t unit) {
  while (size && at[size - 1] == 0) size--;
  return (size + unit - 1) / unit * unit;
}

static Failure take(const Reading *r, const char *at, char *scratch, FlText *to) {
  const FlNpy *h = r->h;
  int64_t bytes = filled(at, h->size, h->unit), len = bytes;
  const char *text = at;
  if (!bytes) return NONE;
  if (h->unit == 4) {
    len = fl_utf8_of_units(at, bytes / 4, 4, h->big_endian, scratch);
    text = scratch;
  } else if (fl_utf8_check(at, bytes) != bytes) {
    len = -1;
  }
  if (len < 0) return NO_TEXT;
  *to = fl_heap_text(r->heap, text, len);
  return NONE;
}

static void take_pieces(void *env, int64_t begin, int64_t end, int worker) {
  Reading *r = env;
  const FlNpy *h = r->h;
  (void)worker;
  Failure failure = NONE;
  char *some = malloc((size_t)(r->step * h->size)), *scratch = malloc((size_t)h->size);
  if (!some || !scratch) failure = NO_MEMORY;
  for (int64_t p = begin; !failure && p < end; p++) {
    int64_t first = p * r->step, n = h->count - first < r->step ? h->count - first : r->step;
    if (!fl_npy_bytes(r->from, some, n * h->size, h->data + first * h->size)) failure = SHORT;
    for (int64_t k = 0; !failure && k < n; k++)
      failure = take(r, some + k * h->size, scratch, (FlText *)r->out->data + fl_npy_place(h, first + k));
  }
  free(some);
  free(scratch);
  if (failure)
    atomic_store_explicit(&r->failure, (int)failure, memory_order_relaxed); /* read after the loop */
}

bool fl_npy_texts(FlCtx *ctx, const char *label, const FlNpySource *from, const FlNpy *h, FlArray *out,
                  FlIoError *e) {
  if (!h->size || !h->count) return true;
  Reading r = {from, h, out, fl_heap_new(ctx), h->size < FL_SOME ? FL_SOME / h->size : 1, NONE};
  if (fl_array_keep(ctx, out, r.heap, NULL, 0) != 0) r.failure = NO_MEMORY;
  else fl_parallel_for(ctx, (h->count + r.step - 1) / r.step, 1, take_pieces, &r);
  fl_heap_unref(r.heap);
  switch ((Failure)r.failure) {
  case NONE: return true;
  case SHORT: return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", label);
  case NO_MEMORY: return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
  case NO_TEXT: break;
  }
  fl_io_error(e, FL_E_UTF8, "`%s` holds a text that is not %s", label,
              h->unit == 4 ? "Unicode: a number in it is no character" : "UTF-8");
  if (h->unit == 1)
    fl_io_help(e, "in Python: numpy.char.decode(x, \"latin-1\") gives texts that can be saved");
  return false;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static int64_t count_points(FlText t) {
  int64_t n = 0;
  for (int64_t k = 0; k < t.len; k++) n += (t.ptr[k] & 0xc0) != 0x80;
  return n;
}

int64_t fl_npy_text_width(const FlText *texts, int64_t n) {
  int64_t most = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t points = count_points(texts[k]);
    if (points > most) most = points;
  }
  return most;
}

/* The code point that UTF-8 has at s, and how many bytes it takes. */
static uint32_t point_at(const unsigned char *s, int64_t *bytes) {
  *bytes = *s < 0x80 ? 1 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
  uint32_t c = *bytes == 1 ? *s : *s & (0x7fu >> *bytes);
  for (int k = 1; k < *bytes; k++) c = c << 6 | (s[k] & 0x3f);
  return c;
}

/* The code points of a text, 4 bytes each, little-endian; what is behind them is zero already. */
static void put_points(FlText t, unsigned char *to) {
  const unsigned char *s = (const unsigned char *)t.ptr;
  for (int64_t at = 0, step; at < t.len; at += step, to += 4) {
    uint32_t c = point_at(s + at, &step);
    memcpy(to, &c, 4);
  }
}

bool fl_npy_put_texts(FlOutput *out, const FlText *texts, int64_t n, int64_t width, FlIoError *e) {
  if (width > INT32_MAX / 4)
    return fl_io_error(e, FL_E_WRITE, "a text of %lld characters is too long for an NPY file",
                       (long long)width);
  int64_t bytes = 4 * width, step = bytes < FL_SOME ? FL_SOME / bytes : 1;
  unsigned char *some = malloc((size_t)(step * bytes));
  bool ok = some || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  for (int64_t first = 0; ok && first < n; first += step) {
    int64_t m = n - first < step ? n - first : step;
    memset(some, 0, (size_t)(m * bytes));
    for (int64_t k = 0; ok && k < m; k++) {
      FlText t = texts[first + k];
      put_points(t, some + k * bytes);
      if (t.len && !t.ptr[t.len - 1])
        ok = fl_io_error(e, FL_E_WRITE, "a text that ends with a NUL character cannot be in an NPY file");
    }
    ok = ok && fl_output_write(out, some, (size_t)(m * bytes), e);
  }
  free(some);
  return ok;
}
