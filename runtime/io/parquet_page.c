/* parquet_page.c: the pages of a chunk: their headers, and what unpacks them.
 *
 * What always holds: a page lies within its chunk; what is unpacked has exactly the size that was said. */
#include "io/parquet.h"

#include <libdeflate.h>
#include <lz4.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { DATA = 0, DICTIONARY = 2, DATA_2 = 3 };                   /* of PageType */
enum { PLAIN = 0, SNAPPY = 1, GZIP = 2, ZSTD = 6, LZ4_RAW = 7 }; /* of CompressionCodec */
enum { SNAPPY_RATIO = 64, GZIP_RATIO = 1040, LZ4_RATIO = 256, ZSTD_RATIO = 1 << 15 };

/* ---- headers ------------------------------------------------------------------------------------------ */

/* DataPageHeader, DictionaryPageHeader and DataPageHeaderV2 begin alike: the number of values, then of the
 * last of them those of nulls and rows, then the encoding. */
static void read_values(FlThrift *t, int which, FlParquetPage *p, int64_t *levels, int64_t *repeated) {
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    bool second = which == DATA_2;
    if (id == 1) p->n_values = fl_thrift_number(t, type);
    else if (id == (second ? 4 : 2)) p->encoding = (int32_t)fl_thrift_number(t, type);
    else if (second && id == 5) *levels = fl_thrift_number(t, type);
    else if (second && id == 6) *repeated = fl_thrift_number(t, type);
    else if (second && id == 7) p->compressed = fl_thrift_number(t, type) != 0;
    else if (which == DATA && id == 3) t->bad = t->bad || fl_thrift_number(t, type) != FL_PARQUET_RLE;
    else fl_thrift_skip(t, type);
  }
}

static bool read_page(FlThrift *t, FlParquetPage *p, int *kind) {
  int64_t levels = 0, repeated = 0;
  bool head = false;
  *p = (FlParquetPage){.compressed = true, .encoding = -1, .n_values = -1, .packed = -1, .size = -1};
  *kind = -1;
  for (int id = 0, type; fl_thrift_field(t, &id, &type);) {
    if (id == 1) {
      *kind = (int)fl_thrift_number(t, type);
    } else if (id == 2) {
      p->size = fl_thrift_number(t, type);
    } else if (id == 3) {
      p->packed = fl_thrift_number(t, type);
    } else if (type == FL_THRIFT_STRUCT && ((id == 5 && *kind == DATA) || (id == 7 && *kind == DICTIONARY) ||
                                            (id == 8 && *kind == DATA_2))) {
      read_values(t, *kind, p, &levels, &repeated);
      head = true;
    } else {
      fl_thrift_skip(t, type);
    }
  }
  if (t->bad || p->packed < 0 || p->packed > t->end - t->at || p->size < 0 || p->size > INT32_MAX)
    return false;
  p->at = t->at;
  t->at += p->packed;
  p->dictionary = *kind == DICTIONARY;
  p->levels = *kind == DATA_2 ? levels : -1;
  if (*kind != DATA && *kind != DICTIONARY && *kind != DATA_2) return true;
  return head && p->n_values >= 0 && p->n_values <= INT32_MAX && repeated == 0 && levels >= 0 &&
         levels <= p->packed && levels <= p->size;
}

bool fl_parquet_page(FlThrift *t, FlParquetPage *out) {
  int kind;
  do
    if (t->at >= t->end || !read_page(t, out, &kind)) return false;
  while (kind != DATA && kind != DICTIONARY && kind != DATA_2);
  return true;
}

/* ---- unpacking ---------------------------------------------------------------------------------------- */

bool fl_parquet_codec_known(int32_t codec) {
  return codec == PLAIN || codec == SNAPPY || codec == GZIP || codec == ZSTD || codec == LZ4_RAW;
}

/* Snappy (github.com/google/snappy, format_description.txt): bytes and references to those before, as far as
 * `at` and `to` went. */
typedef struct Snappy {
  const uint8_t *at, *end;
  uint8_t *to;
  const uint8_t *begin, *stop;
} Snappy;

/* A number of bytes, 1 to 4. */
static uint32_t load(const uint8_t *at, int n) {
  uint32_t v = 0;
  for (int k = 0; k < n; k++) v |= (uint32_t)at[k] << 8 * k;
  return v;
}

static bool take_bytes(Snappy *s, int64_t len) {
  if (len > s->end - s->at || len > s->stop - s->to) return false;
  memcpy(s->to, s->at, (size_t)len);
  s->at += len;
  s->to += len;
  return true;
}

/* What was written `back` bytes before, again; both may overlap. */
static bool repeat(Snappy *s, int64_t back, int64_t len) {
  if (back == 0 || back > s->to - s->begin || len > s->stop - s->to) return false;
  for (int64_t k = 0; k < len; k++) s->to[k] = s->to[k - back];
  s->to += len;
  return true;
}

static bool next_element(Snappy *s) {
  const uint8_t tag = *s->at++;
  const int kind = tag & 3, top = tag >> 2, more = kind ? 1 << (kind - 1) : top >= 60 ? top - 59 : 0;
  if (more > s->end - s->at) return false;
  int64_t number = load(s->at, more);
  s->at += more;
  if (kind == 0) return take_bytes(s, (more ? number : top) + 1);
  if (kind == 1) return repeat(s, number | (int64_t)(tag >> 5) << 8, (top & 7) + 4);
  return repeat(s, number, top + 1);
}

enum {
  NEAR = 16,       /* bytes that are moved at once */
  READ = 8 + NEAR, /* of a tag and all that may be read with it */
  FREE = 64 + NEAR /* that an element may write */
};

/* What the tag of a reference says: `back` is its own high bits, and of the bytes behind it those of the
 * mask. The tag of something else, or of more bytes than NEAR, has a length, and goes back by less. */
typedef struct Reference {
  uint16_t mask, high;
  uint32_t len;
} Reference;
#define NEAR_TAG(t) (((t) & 3) == 2 && (t) >> 2 < NEAR)
#define BACK_TAG(t) (((t) & 3) == 1)
#define MASK(t) (BACK_TAG(t) ? UINT8_MAX : NEAR_TAG(t) * UINT16_MAX)
#define LEN(t) (BACK_TAG(t) ? ((t) >> 2 & 7) + 4 : NEAR_TAG(t) ? ((t) >> 2) + 1 : UINT8_MAX)
#define TAG(t) [t] = {MASK(t), BACK_TAG(t) * ((t) >> 5 << 8), LEN(t)}
#define TAGS(t) TAG(t), TAG((t) + 1), TAG((t) + 2), TAG((t) + 3)
#define MORE_TAGS(t) TAGS(t), TAGS((t) + 4), TAGS((t) + 8), TAGS((t) + 12)
#define ALL_TAGS(t) MORE_TAGS(t), MORE_TAGS((t) + 16), MORE_TAGS((t) + 32), MORE_TAGS((t) + 48)
static const Reference references[] = {ALL_TAGS(0), ALL_TAGS(64), ALL_TAGS(128), ALL_TAGS(192)};
#undef ALL_TAGS
#undef MORE_TAGS
#undef TAGS
#undef TAG
#undef LEN
#undef MASK
#undef BACK_TAG
#undef NEAR_TAG

/* Elements of at most NEAR bytes, as nearly all are, while so much is there that NEAR can be read and written
 * for each: the first that is not one of these is left. Mostly, as in dictionaries of numbers, up to four
 * bytes and a reference behind them: one word has both, and where the next ones begin follows from it by few
 * instructions, for all others wait for that. What is referred to is loaded before the bytes are stored, so
 * that it does not wait for these. */
static void next_short_ones(Snappy *s) {
  enum { PAIR = 0xf3 /* no bit of these is in the tag of up to four bytes */ };
  const uint8_t *at = s->at, *const last = s->end - READ;
  uint8_t *to = s->to, *const stop = s->to + (s->stop - s->to) - FREE;
  const uintptr_t begin = (uintptr_t)s->begin;
  while (at <= last && to <= stop) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    if ((word & PAIR) == 0) {
      const uint64_t bytes = word >> 8, n = (word >> 2 & 3) + 1;
      const uint64_t bits = word + word; /* the lowest six of it are 8 (n - 1) */
      const uint64_t behind = word >> 16 >> (bits & 63);
      at += 1 + n + 1;
      const Reference r = references[behind & 0xff];
      const uint64_t both = n + r.len, back = (behind >> 8 & r.mask) | r.high;
      const uintptr_t from = (uintptr_t)to + n - back;
      if (back >= both && from >= begin) {
        uint8_t again[NEAR];
        memcpy(again, (const void *)from, NEAR);
        memcpy(to, &bytes, sizeof bytes);
        memcpy(to + n, again, NEAR);
        at += behind & 3;
        to += both;
        continue;
      }
      memcpy(to, &bytes, sizeof bytes);
      at--;
      to += n;
      if ((behind & 3) == 0) continue;
      memcpy(&word, at, sizeof word);
    } else if ((word & 3) == 0) {
      const int64_t n = (word >> 2 & 63) + 1;
      if (n > NEAR) break;
      memcpy(to, at + 1, NEAR);
      at += 1 + n;
      to += n;
      continue;
    }
    const Reference r = references[word & 0xff];
    const int64_t back = (int64_t)(word >> 8 & r.mask) | r.high;
    if (back < r.len || back > to - s->begin) break;
    memcpy(to, to - back, NEAR);
    at += 1 + (word & 3);
    to += r.len;
  }
  s->at = at;
  s->to = to;
}

static bool unpack_snappy(const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  FlThrift t = {at, at + n, false}; /* a varint is the same there */
  if (fl_thrift_unsigned(&t) != (uint64_t)size || t.bad) return false;
  Snappy s = {t.at, at + n, to, to, to + size};
  for (bool ok = true; s.at < s.end;) {
    if (s.end - s.at > READ && s.stop - s.to > FREE) next_short_ones(&s);
    if (s.at < s.end) ok = next_element(&s);
    if (!ok) return false;
  }
  return s.to == s.stop;
}

const uint8_t *fl_parquet_lies(int32_t codec, const uint8_t *at, int64_t n, int64_t size) {
  if (codec == PLAIN) return n == size ? at : NULL;
  FlThrift t = {at, at + n, false};
  if (codec != SNAPPY || fl_thrift_unsigned(&t) != (uint64_t)size || t.bad || t.at >= t.end) return NULL;
  const uint8_t tag = *t.at++;
  const int top = tag >> 2, more = top >= 60 ? top - 59 : 0;
  if ((tag & 3) != 0 || more > t.end - t.at) return NULL;
  const int64_t len = (int64_t)(more ? load(t.at, more) : (uint32_t)top) + 1;
  t.at += more;
  return len == size && t.end - t.at == size ? t.at : NULL;
}

/* What libdeflate does not take; it takes members of gzip that stand alone. */
static bool unpack_stream(const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  z_stream z = {
      .next_in = (Bytef *)(uintptr_t)at, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)size};
  if (inflateInit2(&z, 32 + MAX_WBITS) != Z_OK) return false;
  bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
  inflateEnd(&z);
  return ok;
}

static bool unpack_gzip(const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
  bool ok = d && libdeflate_gzip_decompress(d, at, (size_t)n, to, (size_t)size, NULL) == LIBDEFLATE_SUCCESS;
  libdeflate_free_decompressor(d);
  return ok || unpack_stream(at, n, to, size);
}

bool fl_parquet_unpack(int32_t codec, const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  if (n == 0 && size == 0) return true;
  switch (codec) {
  case PLAIN:
    if (n == size) memcpy(to, at, (size_t)n);
    return n == size;
  case SNAPPY: return size / SNAPPY_RATIO <= n && unpack_snappy(at, n, to, size);
  case GZIP: return size / GZIP_RATIO <= n && unpack_gzip(at, n, to, size);
  case ZSTD:
    return size / ZSTD_RATIO <= n && ZSTD_decompress(to, (size_t)size, at, (size_t)n) == (size_t)size;
  case LZ4_RAW:
    return size / LZ4_RATIO <= n &&
           LZ4_decompress_safe((const char *)at, (char *)to, (int)n, (int)size) == (int)size;
  }
  return false;
}
