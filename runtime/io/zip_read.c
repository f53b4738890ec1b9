/* zip_read.c: what is in a ZIP archive, and members out of it; see zip.h. */
#include "io/zip.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FL_MEMBERS = 1 << 16, FL_RATIO = 1032, FL_CRC_PIECE = 1 << 22 };

static bool bad(const char *label, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_ZIP, "`%s` is no archive that can be read: %s", label, what);
}

static uint64_t load(const char *at, int bytes) {
  uint64_t v = 0;
  memcpy(&v, at, (size_t)bytes); /* little endian */
  return v;
}

/* ---- the end, which says where the central headers are ------------------------------------------------ */

typedef struct Directory {
  int64_t at, size, n;
} Directory;

/* The ZIP64 end, when the locator before the end at `end` tells of one. */
static bool read_end64(const FlInput *in, int64_t end, const char *label, Directory *d, FlIoError *e) {
  if (end < 20 || memcmp(in->data + end - 20, "PK\6\7", 4) != 0) return true;
  uint64_t at = load(in->data + end - 20 + 8, 8);
  if (at > (uint64_t)end || (uint64_t)end - at < 56 || memcmp(in->data + at, "PK\6\6", 4) != 0)
    return bad(label, "its end is damaged", e);
  d->n = (int64_t)load(in->data + at + 32, 8);
  d->size = (int64_t)load(in->data + at + 40, 8);
  d->at = (int64_t)load(in->data + at + 48, 8);
  return true;
}

static bool read_end(const FlInput *in, const char *label, Directory *d, FlIoError *e) {
  int64_t least = in->size - 22 - 0xffff;
  if (in->size < 4 || memcmp(in->data, "PK", 2) != 0) return bad(label, "it does not begin as one", e);
  for (int64_t at = in->size - 22; at >= 0 && at >= least; at--) {
    const char *s = in->data + at;
    if (memcmp(s, "PK\5\6", 4) != 0 || (int64_t)load(s + 20, 2) != in->size - at - 22) continue;
    if (load(s + 4, 2) || load(s + 6, 2)) return bad(label, "it goes on in other files", e);
    *d = (Directory){(int64_t)load(s + 16, 4), (int64_t)load(s + 12, 4), (int64_t)load(s + 10, 2)};
    if (!read_end64(in, at, label, d, e)) return false;
    if (d->at < 0 || d->size < 0 || d->at > at || d->size > at - d->at)
      return bad(label, "its end is damaged", e);
    if (d->n < 0 || d->n > FL_MEMBERS) return bad(label, "it has more than 65,536 members", e);
    return true;
  }
  return bad(label, "it is cut off", e);
}

/* ---- members ------------------------------------------------------------------------------------------ */

/* Sizes of more than 32 bits are in an extra field, those that need it in this order. */
static bool read_extra64(const char *extra, int64_t len, uint64_t *values[3]) {
  bool wanted = false;
  for (int k = 0; k < 3; k++) wanted = wanted || *values[k] == UINT32_MAX;
  for (int64_t at = 0; wanted && at + 4 <= len;) {
    int64_t n = (int64_t)load(extra + at + 2, 2), from = at + 4, end = from + n;
    if (end > len) return false;
    if (load(extra + at, 2) == 1) {
      for (int k = 0; k < 3; k++) {
        if (*values[k] != UINT32_MAX) continue;
        if (from + 8 > end) return false;
        *values[k] = load(extra + from, 8);
        from += 8;
      }
      return true;
    }
    at = end;
  }
  return !wanted;
}

/* Where a member's data is, from its local header; false: not within the archive. */
static bool find_data(const FlInput *in, int64_t end, FlZipMember *m) {
  if (m->header > end - 30 || memcmp(in->data + m->header, "PK\3\4", 4) != 0) return false;
  m->at = m->header + 30 + (int64_t)load(in->data + m->header + 26, 2) +
          (int64_t)load(in->data + m->header + 28, 2);
  return m->at <= end && m->packed <= end - m->at;
}

/* One central header at *at, which then is behind it. */
static bool read_member(FlZip *zip, const Directory *d, int64_t *at, char **names, FlZipMember *m,
                        FlIoError *e) {
  const char *s = zip->in->data + *at;
  int64_t left = d->at + d->size - *at;
  if (left < 46 || memcmp(s, "PK\1\2", 4) != 0) return bad(zip->label, "its list of members is damaged", e);
  int64_t name = (int64_t)load(s + 28, 2), extra = (int64_t)load(s + 30, 2),
          method = (int64_t)load(s + 10, 2);
  int64_t whole = 46 + name + extra + (int64_t)load(s + 32, 2);
  uint64_t packed = load(s + 20, 4), size = load(s + 24, 4), header = load(s + 42, 4);
  if (whole > left || memchr(s + 46, 0, (size_t)name) || fl_utf8_check(s + 46, name) != name)
    return bad(zip->label, "its list of members is damaged", e);
  if (!read_extra64(s + 46 + name, extra, (uint64_t *[]){&size, &packed, &header}))
    return bad(zip->label, "its list of members is damaged", e);
  if (load(s + 8, 2) & 1) return bad(zip->label, "it is encrypted", e);
  if (method != 0 && method != 8)
    return bad(zip->label, "a member is compressed in another way than deflate", e);
  uint64_t end = (uint64_t)d->at;
  if (packed > end || header > end || size > (packed + 1) * FL_RATIO || (method == 0 && size != packed))
    return bad(zip->label, "the sizes of a member do not fit the file", e);
  *m = (FlZipMember){.name = *names,
                     .deflated = method == 8,
                     .packed = (int64_t)packed,
                     .size = (int64_t)size,
                     .header = (int64_t)header,
                     .crc = (uint32_t)load(s + 16, 4)};
  memcpy(*names, s + 46, (size_t)name);
  (*names)[name] = '\0';
  *names += name + 1;
  *at += whole;
  return find_data(zip->in, d->at, m) || bad(zip->label, "the place of a member is not in the file", e);
}

static int by_place(const void *x, const void *y) {
  const FlZipMember *const *a = x, *const *b = y;
  return ((*a)->header > (*b)->header) - ((*a)->header < (*b)->header);
}

static int by_name(const void *x, const void *y) {
  const FlZipMember *const *a = x, *const *b = y;
  return strcmp((*a)->name, (*b)->name);
}

/* No byte belongs to two members, and no two have the same name. */
static bool check_members(const FlZip *zip, FlIoError *e) {
  const FlZipMember **sorted = malloc(((size_t)zip->n + 1) * sizeof *sorted);
  if (!sorted) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
  bool ok = true;
  for (int32_t k = 0; k < zip->n; k++) sorted[k] = &zip->members[k];
  qsort(sorted, (size_t)zip->n, sizeof *sorted, by_place);
  for (int32_t k = 1; ok && k < zip->n; k++)
    ok = sorted[k]->header >= sorted[k - 1]->at + sorted[k - 1]->packed ||
         bad(zip->label, "its members overlap", e);
  qsort(sorted, (size_t)zip->n, sizeof *sorted, by_name);
  for (int32_t k = 1; ok && k < zip->n; k++)
    ok = strcmp(sorted[k]->name, sorted[k - 1]->name) != 0 ||
         bad(zip->label, "two members have the same name", e);
  free(sorted);
  return ok;
}

bool fl_zip_open(const FlInput *in, const char *label, FlZip *out, FlIoError *e) {
  Directory d = {0};
  *out = (FlZip){.in = in, .label = label};
  if (in->size == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", label);
  if (!read_end(in, label, &d, e)) return false;
  out->members = calloc((size_t)d.n + 1, sizeof *out->members);
  out->names = malloc((size_t)d.size + (size_t)d.n + 1);
  if (!out->members || !out->names)
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
  char *names = out->names;
  int64_t at = d.at;
  for (; out->n < d.n; out->n++)
    if (!read_member(out, &d, &at, &names, &out->members[out->n], e)) return false;
  return check_members(out, e);
}

void fl_zip_close(FlZip *zip) {
  free(zip->members);
  free(zip->names);
}

/* ---- bytes of members --------------------------------------------------------------------------------- */

static bool damaged(const FlZip *zip, const FlZipMember *m, FlIoError *e) {
  return fl_io_error(e, FL_E_ZIP, "the member `%s` of `%s` is damaged", m->name, zip->label);
}

/* Goes on until `room` bytes are there; sizes of zlib are 32 bits. *ended: that was all. */
static bool inflate_some(z_stream *z, int64_t packed, int64_t room, bool *ended) {
  int64_t in = packed, out = room;
  for (;;) {
    uInt some_in = (uInt)(in < 1 << 30 ? in : 1 << 30), some_out = (uInt)(out < 1 << 30 ? out : 1 << 30);
    z->avail_in = some_in;
    z->avail_out = some_out;
    int got = inflate(z, Z_NO_FLUSH);
    in -= some_in - z->avail_in;
    out -= some_out - z->avail_out;
    *ended = got == Z_STREAM_END && in == 0;
    if (got == Z_STREAM_END) return out == 0;
    if (got != Z_OK || (some_in == z->avail_in && some_out == z->avail_out)) return out == 0;
  }
}

static bool unpack(const FlZip *zip, const FlZipMember *m, char *to, int64_t room, bool *ended,
                   FlIoError *e) {
  char none;
  z_stream z = {.next_in = (Bytef *)(uintptr_t)(zip->in->data + m->at),
                .next_out = (Bytef *)(room ? to : &none)};
  *ended = false;
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
  bool ok = inflate_some(&z, m->packed, room, ended);
  inflateEnd(&z);
  return ok || damaged(zip, m, e);
}

static uint32_t sum_of(const char *bytes, int64_t n) {
  return (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const Bytef *)bytes, (size_t)n);
}

bool fl_zip_inflate(const FlZip *zip, const FlZipMember *m, char *to, FlIoError *e) {
  bool ended;
  if (!unpack(zip, m, to, m->size, &ended, e)) return false;
  return (ended && sum_of(to, m->size) == m->crc) || damaged(zip, m, e);
}

bool fl_zip_begin(const FlZip *zip, const FlZipMember *m, char *to, int64_t room, FlIoError *e) {
  bool ended;
  return unpack(zip, m, to, m->size < room ? m->size : room, &ended, e);
}

typedef struct Sums {
  const char *bytes;
  int64_t n;
  uint32_t *sums;
} Sums;

static void sum_pieces(void *env, int64_t begin, int64_t end, int worker) {
  Sums *s = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    int64_t from = k * FL_CRC_PIECE, n = s->n - from < FL_CRC_PIECE ? s->n - from : FL_CRC_PIECE;
    s->sums[k] = sum_of(s->bytes + from, n);
  }
}

bool fl_zip_check(FlCtx *ctx, const FlZip *zip, const FlZipMember *m, FlIoError *e) {
  int64_t pieces = (m->size + FL_CRC_PIECE - 1) / FL_CRC_PIECE;
  Sums s = {zip->in->data + m->at, m->size, malloc(((size_t)pieces + 1) * sizeof *s.sums)};
  if (!s.sums) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
  fl_parallel_for(ctx, pieces, 1, sum_pieces, &s);
  uint32_t sum = (uint32_t)crc32_z(0, NULL, 0);
  for (int64_t k = 0; k < pieces; k++) {
    int64_t n = s.n - k * FL_CRC_PIECE < FL_CRC_PIECE ? s.n - k * FL_CRC_PIECE : FL_CRC_PIECE;
    sum = (uint32_t)crc32_combine64(sum, s.sums[k], (z_off64_t)n);
  }
  free(s.sums);
  return sum == m->crc || damaged(zip, m, e);
}
