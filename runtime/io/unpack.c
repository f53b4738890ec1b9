/* unpack.c: see unpack.h. In: compressed bytes. Out: what they hold. What always holds: not more memory is
 * used than for what has been unpacked, whatever sizes the bytes claim. */
#define ZLIB_CONST
#include "base/machine.h"
#include "io/unpack.h"
#include "data/data.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { FL_BOMB_FACTOR = 1000, FL_BOMB_FREE = 64 << 20, FL_PAD = 64, FL_USUAL_FACTOR = 32 };

FlPacking fl_packing_of_bytes(const char *s, int64_t n) {
  const unsigned char *u = (const unsigned char *)s;
  if (n >= 2 && u[0] == 0x1f && u[1] == 0x8b) return FL_PACKING_GZIP;
  bool frame = n >= 4 && u[0] == 0x28 && u[1] == 0xb5 && u[2] == 0x2f && u[3] == 0xfd;
  bool skipped = n >= 4 && (u[0] & 0xf0) == 0x50 && u[1] == 0x2a && u[2] == 0x4d && u[3] == 0x18;
  return frame || skipped ? FL_PACKING_ZSTD : FL_PACKING_NONE;
}

/* ---- streams ------------------------------------------------------------------------------------------ */

struct FlUnpack {
  FlPacking packing;
  const char *bytes, *path;
  int64_t n, at, given; /* at: bytes taken in; given: bytes given out */
  z_stream gzip;
  ZSTD_DCtx *zstd;
  bool inside, ended; /* inside: a member or frame has begun and not ended */
};

FlUnpack *fl_unpack_new(FlPacking packing, const char *bytes, int64_t n, const char *path) {
  FlUnpack *u = calloc(1, sizeof *u);
  if (!u) return NULL;
  *u = (FlUnpack){.packing = packing, .bytes = bytes, .n = n, .path = path};
  bool ok = packing == FL_PACKING_GZIP ? inflateInit2(&u->gzip, 15 + 16) == Z_OK
                                       : (u->zstd = ZSTD_createDCtx()) != NULL;
  if (ok) return u;
  free(u);
  return NULL;
}

void fl_unpack_free(FlUnpack *u) {
  if (!u) return;
  if (u->packing == FL_PACKING_GZIP) inflateEnd(&u->gzip);
  ZSTD_freeDCtx(u->zstd);
  free(u);
}

static int64_t damaged(const FlUnpack *u, const char *why, FlIoError *e) {
  fl_io_error(e, FL_E_PACKED, "`%s` is compressed with %s and %s", u->path,
              u->packing == FL_PACKING_GZIP ? "gzip" : "zstd", why);
  return -1;
}

/* What follows a member is another one, or zeros that fill a tape block, or nothing. */
static bool end_of_gzip(FlUnpack *u) {
  int64_t at = u->at;
  while (at < u->n && u->bytes[at] == 0) at++;
  u->ended = at == u->n;
  return u->ended || fl_packing_of_bytes(u->bytes + u->at, u->n - u->at) == FL_PACKING_GZIP;
}

static int64_t next_gzip(FlUnpack *u, char *to, int64_t room, FlIoError *e) {
  enum { STEP = 1 << 30 }; /* zlib counts in unsigned int */
  int64_t done = 0;
  while (done < room && !u->ended) {
    int64_t in = u->n - u->at < STEP ? u->n - u->at : STEP;
    int64_t out = room - done < STEP ? room - done : STEP;
    u->gzip.next_in = (const unsigned char *)u->bytes + u->at;
    u->gzip.avail_in = (unsigned)in;
    u->gzip.next_out = (unsigned char *)to + done;
    u->gzip.avail_out = (unsigned)out;
    int said = inflate(&u->gzip, Z_NO_FLUSH);
    u->at += in - u->gzip.avail_in;
    done += out - u->gzip.avail_out;
    if (said == Z_MEM_ERROR) {
      fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", u->path);
      return -1;
    }
    if (said == Z_BUF_ERROR || (said == Z_OK && u->at == u->n && u->gzip.avail_out))
      return damaged(u, "is cut short", e);
    if (said == Z_STREAM_END) {
      if (!end_of_gzip(u)) return damaged(u, "followed by bytes that are not", e);
      if (!u->ended) inflateReset(&u->gzip);
    } else if (said != Z_OK) {
      return damaged(u, "damaged", e);
    }
  }
  return done;
}

static int64_t next_zstd(FlUnpack *u, char *to, int64_t room, FlIoError *e) {
  ZSTD_outBuffer out = {to, (size_t)room, 0};
  while (out.pos < out.size) {
    if (u->at == u->n && !u->inside) break;
    ZSTD_inBuffer in = {u->bytes, (size_t)u->n, (size_t)u->at};
    size_t before = out.pos, left = ZSTD_decompressStream(u->zstd, &out, &in);
    bool moved = (int64_t)in.pos > u->at || out.pos > before;
    u->at = (int64_t)in.pos;
    if (ZSTD_isError(left)) return damaged(u, "damaged", e);
    u->inside = left != 0;
    if (!moved && u->inside) return damaged(u, "is cut short", e);
  }
  return (int64_t)out.pos;
}

static bool is_bomb(const FlUnpack *u, int64_t given) {
  return given > FL_BOMB_FREE && given / FL_BOMB_FACTOR > u->n;
}

int64_t fl_unpack_next(FlUnpack *u, char *to, int64_t room, FlIoError *e) {
  int64_t n = u->packing == FL_PACKING_GZIP ? next_gzip(u, to, room, e) : next_zstd(u, to, room, e);
  if (n > 0) u->given += n;
  if (n > 0 && is_bomb(u, u->given)) {
    fl_io_error(e, FL_E_BOMB, "`%s` unpacks to more than %d times its size", u->path, FL_BOMB_FACTOR);
    fl_io_help(e, "if its content is known to be good, unpack it before");
    return -1;
  }
  return n;
}

/* ---- whole inputs ------------------------------------------------------------------------------------- */

/* Bytes that are mapped anew as they grow; what is not used yet is not backed by memory. When memory is
 * limited they are buffers instead, which may live in files. */
typedef struct FlGrowing {
  FlCtx *ctx;
  char *base;
  FlBuffer *buffer; /* what base is in; NULL: a mapping of its own */
  int64_t size, room;
} FlGrowing;

static bool grow_buffer(FlGrowing *g, int64_t room) {
  FlBuffer *next = fl_buffer_new(g->ctx, room);
  if (!next) return false;
  if (g->size) memcpy(next->data, g->base, (size_t)g->size);
  fl_buffer_unref(g->buffer);
  g->buffer = next;
  g->base = next->data;
  g->room = room;
  return true;
}

static bool grow(FlGrowing *g, int64_t room) {
  if (g->ctx && fl_pool_is_limited(fl_ctx_pool(g->ctx))) return grow_buffer(g, room);
  int64_t page = sysconf(_SC_PAGESIZE);
  room = (room + page - 1) / page * page;
  char *base = g->base ? mremap(g->base, (size_t)g->room, (size_t)room, MREMAP_MAYMOVE)
                       : mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return false;
  g->base = base;
  g->room = room;
  return true;
}

/* More than three quarters of the memory of the machine or control group would end in swapping, or in the
 * system ending us. */
static bool too_large(int64_t size) { return size > fl_machine_memory() / 4 * 3; }

/* ---- whole members of gzip ---------------------------------------------------------------------------- */

/* What the last member says that it unpacks to, in 32 bits; 0 where that is more than is usual. */
static int64_t said_size(const FlUnpack *u) {
  uint32_t said = 0;
  if (u->n < (int64_t)sizeof said) return 0;
  for (int k = 1; k <= 4; k++) said = said << 8 | (unsigned char)u->bytes[u->n - k];
  return said / FL_USUAL_FACTOR <= u->n ? said : 0;
}

/* Members that libdeflate unpacks, which takes half the time of a stream and wants room for all that a member
 * holds. What it does not take, for whatever reason, is left to the stream, which says what is wrong. */
static void members_at_once(FlUnpack *u, FlGrowing *g) {
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
  int64_t want = said_size(u) + FL_PAD + 1;
  if (d && want > g->room && !too_large(want)) (void)grow(g, want);
  while (d && !u->ended) {
    size_t in = 0, out = 0;
    int said = libdeflate_gzip_decompress_ex(d, u->bytes + u->at, (size_t)(u->n - u->at), g->base + g->size,
                                             (size_t)(g->room - FL_PAD - g->size), &in, &out);
    if (said != LIBDEFLATE_SUCCESS || is_bomb(u, u->given + (int64_t)out)) break;
    FlUnpack before = *u;
    u->at += (int64_t)in;
    if (!end_of_gzip(u)) {
      *u = before;
      break;
    }
    u->given += (int64_t)out;
    g->size += (int64_t)out;
  }
  libdeflate_free_decompressor(d);
}

static bool unpack_all(FlUnpack *u, FlGrowing *g, int64_t most, bool *more, FlIoError *e) {
  for (;;) {
    int64_t want = g->room - FL_PAD - g->size;
    if (more && want > most + 1 - g->size) want = most + 1 - g->size;
    int64_t n = fl_unpack_next(u, g->base + g->size, want, e);
    if (n < 0) return false;
    g->size += n;
    if (more) *more = g->size > most;
    if (n < want || (more && *more)) break;
    if (!g->buffer && too_large(g->size))
      return fl_io_error(e, FL_E_RESOURCE, "`%s` unpacks to more than this machine's memory can hold",
                         u->path);
    if (!grow(g, g->room * 2))
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", u->path);
  }
  if (more && *more) g->size = most;
  memset(g->base + g->size, 0, FL_PAD);
  return true;
}

bool fl_input_unpack(FlCtx *ctx, FlInput *in, const char *path, int64_t most, bool *more, FlIoError *e) {
  FlPacking packing = fl_packing_of_bytes(in->data, in->size);
  if (more) *more = false;
  if (packing == FL_PACKING_NONE) return true;
  int64_t room = in->size * 4 + FL_PAD + 1;
  FlGrowing g = {.ctx = ctx};
  FlBuffer *buffer = NULL;
  FlUnpack *u = fl_unpack_new(packing, in->data, in->size, path);
  bool ok = u && grow(&g, more && room > most + 2 + FL_PAD ? most + 2 + FL_PAD : room);
  if (!ok) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  if (ok && packing == FL_PACKING_GZIP && !more) members_at_once(u, &g);
  ok = ok && unpack_all(u, &g, most, more, e);
  fl_unpack_free(u);
  if (ok) {
    if (!g.buffer) grow(&g, g.size + FL_PAD); /* gives back what was too much */
    buffer = g.buffer ? g.buffer : fl_buffer_of_map(ctx, g.base, g.room, 0);
    ok = buffer || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  }
  if (!ok) {
    fl_buffer_unref(g.buffer);
    if (g.base && !g.buffer) munmap(g.base, (size_t)g.room);
    return false;
  }
  fl_buffer_unref(in->buffer);
  in->buffer = buffer;
  in->data = g.base;
  in->size = g.size;
  return true;
}
