/* zip_write.c: writing ZIP archives; see zip.h. The same members give the same bytes: there are no times but
 * the first that the format can say. */
#include "io/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FL_VERSION = 45, FL_DAY = 1 << 5 | 1, FL_NAMES_ARE_UTF8 = 1 << 11 };

static void put(FlBytes *b, int bytes, uint64_t v) { fl_bytes_add(b, (const char *)&v, (size_t)bytes); }

static uint64_t low(uint64_t v) { return v < UINT32_MAX ? v : UINT32_MAX; }

typedef struct Member {
  const char *name;
  uint64_t packed, size, header;
  uint32_t crc;
  bool deflated;
} Member;

/* What local and central headers share: from the version that is needed to the length of the extra field. */
static void put_common(FlBytes *b, const Member *m, uint64_t extra) {
  put(b, 2, FL_VERSION);
  put(b, 2, FL_NAMES_ARE_UTF8);
  put(b, 2, m->deflated ? 8 : 0);
  put(b, 2, 0);
  put(b, 2, FL_DAY);
  put(b, 4, m->crc);
  put(b, 4, low(m->packed));
  put(b, 4, low(m->size));
  put(b, 2, strlen(m->name));
  put(b, 2, extra);
}

/* The ZIP64 field with those of the sizes that need it; a local header has both or none. */
static void put_extra(FlBytes *b, uint64_t n, const uint64_t *values) {
  if (!n) return;
  put(b, 2, 1);
  put(b, 2, n * 8);
  for (uint64_t k = 0; k < n; k++) put(b, 8, values[k]);
}

static void put_local(FlBytes *b, const Member *m) {
  bool large = m->packed >= UINT32_MAX || m->size >= UINT32_MAX;
  Member said = *m;
  if (large) said.packed = said.size = UINT32_MAX;
  put(b, 4, 0x04034b50);
  put_common(b, &said, large ? 20 : 0);
  fl_bytes_addz(b, m->name);
  put_extra(b, large ? 2 : 0, (const uint64_t[]){m->size, m->packed});
}

static void put_central(FlBytes *b, const Member *m) {
  uint64_t large[3], n = 0;
  if (m->size >= UINT32_MAX) large[n++] = m->size;
  if (m->packed >= UINT32_MAX) large[n++] = m->packed;
  if (m->header >= UINT32_MAX) large[n++] = m->header;
  put(b, 4, 0x02014b50);
  put(b, 2, FL_VERSION);
  put_common(b, m, n ? 4 + 8 * n : 0);
  put(b, 2, 0); /* comment, disk, attributes */
  put(b, 2, 0);
  put(b, 2, 0);
  put(b, 4, 0);
  put(b, 4, low(m->header));
  fl_bytes_addz(b, m->name);
  put_extra(b, n, large);
}

static bool no_memory(const FlZipWriter *w, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", w->out->path);
}

static bool put_out(FlZipWriter *w, const void *bytes, size_t n, FlIoError *e) {
  w->at += (int64_t)n;
  return fl_output_write(w->out, bytes, n, e);
}

/* false: out of memory. */
static bool deflate_all(const char *bytes, size_t n, FlBytes *out) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  for (int got = Z_OK; got != Z_STREAM_END && !out->failed;) {
    char *room = fl_bytes_room(out, 1 << 18);
    if (!room) break;
    uInt some = (uInt)(n < 1 << 30 ? n : 1 << 30);
    z.avail_in = some;
    z.next_out = (Bytef *)room;
    z.avail_out = 1 << 18;
    got = deflate(&z, n == some ? Z_FINISH : Z_NO_FLUSH);
    n -= some - z.avail_in;
    out->len += (1 << 18) - z.avail_out;
  }
  deflateEnd(&z);
  return !out->failed;
}

bool fl_zip_add(FlZipWriter *w, const char *name, const char *bytes, size_t n, bool deflate, FlIoError *e) {
  FlBytes packed = fl_output_bytes(w->out), head = {0};
  Member m = {.name = name, .size = n, .packed = n, .header = (uint64_t)w->at, .deflated = deflate};
  m.crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const Bytef *)bytes, n);
  bool ok = !deflate || deflate_all(bytes, n, &packed) || no_memory(w, e);
  if (deflate) m.packed = packed.len;
  put_local(&head, &m);
  put_central(&w->central, &m);
  ok = ok && (!head.failed || no_memory(w, e)) && put_out(w, head.at, head.len, e);
  ok = ok && (deflate ? put_out(w, packed.at, packed.len, e) : put_out(w, bytes, n, e));
  fl_bytes_reset(&packed);
  fl_bytes_reset(&head);
  w->n++;
  return ok;
}

bool fl_zip_end(FlZipWriter *w, FlIoError *e) {
  uint64_t at = (uint64_t)w->at, size = w->central.len, n = (uint64_t)w->n;
  FlBytes *b = &w->central;
  if (at >= UINT32_MAX || size >= UINT32_MAX || n >= UINT16_MAX) {
    uint64_t end64 = at + size;
    put(b, 4, 0x06064b50);
    put(b, 8, 44);
    put(b, 2, FL_VERSION);
    put(b, 2, FL_VERSION);
    put(b, 4, 0);
    put(b, 4, 0);
    put(b, 8, n);
    put(b, 8, n);
    put(b, 8, size);
    put(b, 8, at);
    put(b, 4, 0x07064b50);
    put(b, 4, 0);
    put(b, 8, end64);
    put(b, 4, 1);
  }
  put(b, 4, 0x06054b50);
  put(b, 4, 0);
  put(b, 2, n < UINT16_MAX ? n : UINT16_MAX);
  put(b, 2, n < UINT16_MAX ? n : UINT16_MAX);
  put(b, 4, low(size));
  put(b, 4, low(at));
  put(b, 2, 0);
  return (!b->failed || no_memory(w, e)) && put_out(w, b->at, b->len, e);
}

void fl_zip_writer_reset(FlZipWriter *w) { fl_bytes_reset(&w->central); }
