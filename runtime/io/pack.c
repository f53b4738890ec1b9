/* pack.c: bytes compressed with gzip or zstd; see unpack.h. In a file of its own, since programs that only
 * read need none of it. What always holds: the same bytes give the same, without time or name of a file. */
#define ZLIB_CONST
#include "io/unpack.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

static bool ends_with(FlText t, const char *end) {
  int64_t n = (int64_t)strlen(end);
  return t.len > n && memcmp(t.ptr + t.len - n, end, (size_t)n) == 0;
}

FlPacking fl_packing_of_path(FlText path) {
  if (ends_with(path, ".gz")) return FL_PACKING_GZIP;
  return ends_with(path, ".zst") ? FL_PACKING_ZSTD : FL_PACKING_NONE;
}

static bool pack_gzip(const char *bytes, size_t n, FlBytes *to) {
  z_stream z = {0};
  if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  size_t bound = deflateBound(&z, n);
  char *room = fl_bytes_room(to, bound);
  bool ok = room != NULL;
  if (ok) {
    z.next_in = (const unsigned char *)bytes;
    z.avail_in = (unsigned)n;
    z.next_out = (unsigned char *)room;
    z.avail_out = (unsigned)bound;
    ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
    to->len += z.total_out;
  }
  deflateEnd(&z);
  return ok;
}

static bool pack_zstd(const char *bytes, size_t n, FlBytes *to) {
  enum { LEVEL = 3 };
  ZSTD_CCtx *z = ZSTD_createCCtx();
  size_t bound = ZSTD_compressBound(n);
  char *room = z ? fl_bytes_room(to, bound) : NULL;
  bool ok = room && !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL)) &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1));
  size_t made = ok ? ZSTD_compress2(z, room, bound, bytes, n) : 0;
  ok = ok && !ZSTD_isError(made);
  if (ok) to->len += made;
  ZSTD_freeCCtx(z);
  return ok;
}

bool fl_pack_add(FlPacking packing, const char *bytes, size_t n, FlBytes *to) {
  enum { STEP = 1 << 30 }; /* zlib counts in unsigned int */
  if (packing == FL_PACKING_ZSTD) return pack_zstd(bytes, n, to);
  do {
    size_t now = n < STEP ? n : STEP;
    if (!pack_gzip(bytes, now, to)) return false;
    bytes += now;
    n -= now;
  } while (n);
  return true;
}
