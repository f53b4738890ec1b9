/* flowdata.c: any value in a file: the operators save_value and load_value.
 *
 *   file    := magic version:u32 n-parts:u32 type-length:u64 payload-length:u64 digest type zeros payload
 *   magic   := "flowdata"
 *   digest  := XXH3-128 of all that follows
 *   type    := text as in data/value_type.h
 *   zeros   := to a multiple of 64
 *   payload := as in data/codec.c
 *
 * Integers are little-endian. What always holds: a file appears whole or not at all; loading trusts nothing
 * in it: lengths, digest, type, structure and the value itself are checked before anybody sees them. */
#include "io/io_internal.h"
#include "io/value_check.h"
#include "data/codec.h"
#include "data/data.h"
#include "exec/exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { VERSION = 1, MAX_TYPE = 1 << 22 };

typedef struct Head {
  char magic[8];
  uint32_t version, n_parts;
  uint64_t type_len, payload_len;
  XXH128_canonical_t digest;
} Head;

static const char magic[8] = {'f', 'l', 'o', 'w', 'd', 'a', 't', 'a'};

static uint64_t type_end(uint64_t type_len) {
  return (sizeof(Head) + type_len + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

enum { BREATH = 2 << 20 }; /* bytes between two looks at the memory that is left */
static const char zeros[FL_ALIGN];

static bool write_all(FlOutput *out, const Head *head, const char *type, const FlEncoded *encoded,
                      FlIoError *e) {
  size_t padding = (size_t)(type_end(head->type_len) - sizeof *head - head->type_len);
  bool ok = fl_output_write(out, head, sizeof *head, e) && fl_output_write(out, type, head->type_len, e) &&
            fl_output_write(out, zeros, padding, e);
  for (int32_t k = 0; ok && k < encoded->n_pieces; k++)
    ok = fl_output_write(out, encoded->pieces[k].iov_base, encoded->pieces[k].iov_len, e);
  return ok;
}

/* What `save` writes. */
typedef struct Saving {
  const char *type;
  const FlSlot *parts;
  const FlType1 *types;
  int32_t n_parts;
} Saving;

static bool put_encoded(FlOutput *out, const char *type, const FlEncoded *encoded, int32_t n_parts,
                        FlIoError *e) {
  Head head = {.version = VERSION, .n_parts = (uint32_t)n_parts};
  memcpy(head.magic, magic, sizeof magic);
  head.type_len = strlen(type);
  head.payload_len = (uint64_t)encoded->bytes;
  XXH3_state_t *state = XXH3_createState();
  if (!state) return fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  XXH3_128bits_reset(state);
  XXH3_128bits_update(state, type, head.type_len);
  XXH3_128bits_update(state, zeros, type_end(head.type_len) - sizeof head - head.type_len);
  for (int32_t k = 0; k < encoded->n_pieces; k++) {
    const struct iovec *piece = &encoded->pieces[k];
    for (size_t at = 0, n; at < piece->iov_len; at += n) {
      n = piece->iov_len - at < BREATH ? piece->iov_len - at : BREATH;
      if (out->ctx) fl_pool_breathe(fl_ctx_pool(out->ctx));
      XXH3_128bits_update(state, (const char *)piece->iov_base + at, n);
    }
  }
  XXH128_canonicalFromHash(&head.digest, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  return write_all(out, &head, type, encoded, e);
}

/* An FlPutFn of a Saving. */
static bool put_value(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const Saving *s = what;
  FlEncoded encoded = {0};
  bool ok = fl_codec_encode(ctx, s->parts, s->types, s->n_parts, &encoded) ||
            fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  ok = ok && put_encoded(out, s->type, &encoded, s->n_parts, e);
  fl_codec_reset(&encoded);
  return ok;
}

FlStatus fl_rt_save_value(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  Saving s = {desc->s, args + 1, desc->arg_types + 1, desc->n_args - 1};
  return fl_io_write_file(ctx, desc, args[0].t, put_value, &s);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool damaged(FlIoError *e, const char *path, const char *why) {
  fl_io_error(e, FL_E_FLOWDATA, "`%s` %s", path, why);
  fl_io_help(e, "write it again with `save(...)`");
  return false;
}

static bool check_head(const Head *h, int64_t size, const char *path, FlIoError *e) {
  if (size < (int64_t)sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
    return fl_io_error(e, FL_E_FLOWDATA, "`%s` is not a file that `save` has written", path);
  if (h->version != VERSION) return damaged(e, path, "was written by another version of flow");
  if (h->type_len > MAX_TYPE || h->payload_len > INT64_MAX - type_end(h->type_len) ||
      (int64_t)(type_end(h->type_len) + h->payload_len) != size)
    return damaged(e, path, "is damaged: it has another length than it says");
  return true;
}

char *fl_io_saved_type(const char *path, FlIoError *e) {
  struct stat found;
  Head h;
  memset(e, 0, sizeof *e);
  int fd = fl_input_file(NULL, path, &found, e);
  if (fd < 0) return NULL;
  char *type = NULL;
  bool ok = pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h;
  if (check_head(&h, ok ? found.st_size : 0, path, e)) {
    type = malloc(h.type_len + 1);
    if (!type) {
      fl_io_error(e, FL_E_MEMORY, "out of memory");
    } else if (pread(fd, type, h.type_len, sizeof h) != (ssize_t)h.type_len || memchr(type, 0, h.type_len)) {
      damaged(e, path, "is damaged");
      free(type);
      type = NULL;
    } else {
      type[h.type_len] = '\0';
    }
  }
  close(fd);
  return type;
}

static bool check_type(const Head *h, const char *text, const char *want, const char *path, FlValueType **out,
                       FlIoError *e) {
  FlValueType *wanted = fl_value_type_new(want, strlen(want)), *have = fl_value_type_new(text, h->type_len);
  bool ok = have && wanted && fl_value_type_fits(have, wanted);
  if (!have && errno != ENOMEM) damaged(e, path, "is damaged");
  else if (!have || !wanted) fl_io_error(e, FL_E_MEMORY, "out of memory"); /* the compiler wrote `want` */
  else if (!ok) {
    fl_io_error(e, FL_E_SAVED_TYPE, "`%s` holds %.*s, and %s is wanted", path,
                (int)(h->type_len < 200 ? h->type_len : 200), text, want);
    fl_io_help(
        e, "the type of what is saved and of what is loaded must be the same; save it again, or change the "
           "type here");
  }
  *out = ok ? have : NULL;
  if (!ok) fl_value_type_free(have);
  fl_value_type_free(wanted);
  return ok;
}

static void release_buffer(void *buffer) { fl_buffer_unref(buffer); }

/* Texts that are scalars are copied out of the file's bytes. */
static void keep_texts(FlCtx *ctx, const FlType1 *types, int32_t n, FlSlot *results) {
  for (int32_t k = 0; k < n; k++) {
    FlType1 t = types[k];
    if (t.rank || t.depth || t.dtype != FL_TEXT) continue;
    results[k].t = fl_heap_text(fl_ctx_heap(ctx), results[k].t.ptr, results[k].t.len);
  }
}

static void release(const FlType1 *types, int32_t n, FlSlot *results) {
  for (int32_t k = 0; k < n; k++)
    if (types[k].rank || types[k].depth) fl_array_unref(results[k].a);
}

static bool load_open(FlCtx *ctx, const FlInput *in, const char *path, const char *want, const FlType1 *types,
                      int32_t n, FlSlot *results, FlIoError *e) {
  Head h = {.version = 0};
  if (in->size >= (int64_t)sizeof h) memcpy(&h, in->data, sizeof h);
  if (!check_head(&h, in->size, path, e)) return false;
  const char *text = in->data + sizeof h, *payload = in->data + type_end(h.type_len);
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(text, (size_t)(in->size - (int64_t)sizeof h)));
  if (memcmp(&digest, &h.digest, sizeof digest) != 0)
    return damaged(e, path, "is damaged: its content is not what was written");
  FlValueType *type;
  if (!check_type(&h, text, want, path, &type, e)) return false;
  FlBuffer *keep = NULL;
  bool ok = (uint32_t)type->n_parts == h.n_parts && type->n_parts == n;
  if (ok) {
    ok = fl_codec_decode(payload, (int64_t)h.payload_len, release_buffer, fl_buffer_ref(in->buffer), types, n,
                         results, &keep);
    if (ok && !fl_value_check(type, results)) {
      release(types, n, results);
      ok = false;
    }
    if (ok) keep_texts(ctx, types, n, results);
  }
  fl_buffer_unref(keep);
  fl_value_type_free(type);
  return ok || damaged(e, path, "is damaged: it is not the value that it says");
}

bool fl_flowdata_load(FlCtx *ctx, const char *path, const char *want, const FlType1 *types, int32_t n,
                      FlSlot *results, FlIoError *e) {
  FlInput in;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = load_open(ctx, &in, path, want, types, n, results, e);
  if (ok && !fl_input_check(&in, path, e)) {
    release(types, n, results);
    ok = false;
  }
  fl_input_close(&in);
  return ok;
}

/* An FlTakeFn. */
static bool take_value(FlCtx *ctx, const FlOpDesc *desc, const char *path, FlSlot *results, FlIoError *e) {
  return fl_flowdata_load(ctx, path, desc->s, desc->result_types, desc->n_results, results, e);
}

FlStatus fl_rt_load_value(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_io_read_file(ctx, desc, args[0].t, take_value, results);
}
