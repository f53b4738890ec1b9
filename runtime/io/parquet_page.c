/* parquet_page.c: the pages of a chunk: their headers, what unpacks them, and numbers in runs.
 *
 * What always holds: a page lies within its chunk; what is unpacked has exactly the size that was said. */
#include "io/parquet.h"

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

/* A number of bytes, 1 to 4. */
static uint32_t load(const uint8_t *at, int n) {
  uint32_t v = 0;
  for (int k = 0; k < n; k++) v |= (uint32_t)at[k] << 8 * k;
  return v;
}

/* What was written `back` bytes before, again; both may overlap. `room` bytes may be written. */
static void repeat(uint8_t *to, int64_t back, int64_t n, int64_t room) {
  if (n <= 16 && back >= 16 && room >= 16) memcpy(to, to - back, 16); /* faster than as many as there are */
  else if (back >= n) memcpy(to, to - back, (size_t)n);
  else
    for (int64_t k = 0; k < n; k++) to[k] = to[k - back];
}

/* n bytes that stand in the text itself; so many may be read and written. */
static void copy(uint8_t *to, const uint8_t *at, int64_t n, int64_t readable, int64_t room) {
  if (n <= 16 && readable >= 16 && room >= 16) memcpy(to, at, 16);
  else memcpy(to, at, (size_t)n);
}

/* Snappy (github.com/google/snappy, format_description.txt): the size, then bytes and references to those
 * before. */
static bool unpack_snappy(const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  FlThrift t = {at, at + n, false}; /* a varint is the same there */
  if (fl_thrift_unsigned(&t) != (uint64_t)size || t.bad) return false;
  const uint8_t *end = at + n;
  int64_t done = 0;
  for (at = t.at; at < end;) {
    const uint8_t tag = *at++;
    const int kind = tag & 3;
    int64_t len = tag >> 2;
    const int more = kind ? 1 << (kind - 1) : len >= 60 ? (int)len - 59 : 0;
    if (more > end - at) return false;
    int64_t number = load(at, more);
    at += more;
    if (kind == 0) {
      len = (more ? number : len) + 1;
      if (len > end - at || len > size - done) return false;
      copy(to + done, at, len, end - at, size - done);
      at += len;
    } else {
      if (kind == 1) number |= (int64_t)(tag >> 5) << 8;
      len = kind == 1 ? (len & 7) + 4 : len + 1;
      if (number == 0 || number > done || len > size - done) return false;
      repeat(to + done, number, len, size - done);
    }
    done += len;
  }
  return done == size;
}

static bool unpack_gzip(const uint8_t *at, int64_t n, uint8_t *to, int64_t size) {
  z_stream z = {
      .next_in = (Bytef *)(uintptr_t)at, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)size};
  if (inflateInit2(&z, 32 + MAX_WBITS) != Z_OK) return false;
  bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
  inflateEnd(&z);
  return ok;
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

/* ---- numbers in runs ---------------------------------------------------------------------------------- */

/* n numbers of `width` bits, the first at bit 0 of `at`: of few bits eight in a word, which begins at a byte
 * again. */
static void unpack_bits(const uint8_t *at, int width, uint32_t *to, int64_t n) {
  const uint64_t mask = ((uint64_t)1 << width) - 1;
  int64_t k = 0;
  uint64_t word;
  for (; width <= 8 && k + 8 <= n; k += 8, at += width) {
    memcpy(&word, at, sizeof word);
    for (int i = 0; i < 8; i++) to[k + i] = (uint32_t)(word >> i * width & mask);
  }
  for (int64_t bit = 0; k < n; k++, bit += width) {
    memcpy(&word, at + bit / 8, sizeof word);
    to[k] = (uint32_t)(word >> bit % 8 & mask);
  }
}

bool fl_parquet_runs(const uint8_t *at, const uint8_t *end, int width, uint32_t *to, int64_t n) {
  if (width < 0 || width > 32) return false;
  const uint32_t mask = (uint32_t)(((uint64_t)1 << width) - 1);
  for (FlThrift t = {at, end, false}; n > 0;) {
    uint64_t head = fl_thrift_unsigned(&t), count = head >> 1;
    if (t.bad || count > INT32_MAX) return false;
    int64_t run = (int64_t)count, bytes = head & 1 ? run * width : (width + 7) / 8;
    if (bytes > t.end - t.at) return false;
    if (head & 1) run *= 8;
    if (run > n) run = n;
    if (head & 1) {
      unpack_bits(t.at, width, to, run);
    } else {
      uint32_t v = load(t.at, (int)bytes) & mask;
      for (int64_t k = 0; k < run; k++) to[k] = v;
    }
    t.at += bytes;
    to += run;
    n -= run;
  }
  return true;
}
