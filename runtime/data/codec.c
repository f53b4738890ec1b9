/* codec.c: see codec.h.
 *
 *   payload := head zeros body
 *   head    := magic n-values head-bytes body-bytes value*
 *   magic   := "flv" and the byte FL_CODEC_VERSION
 *   n-values := u32
 *   head-bytes, body-bytes := u64       of head without the zeros; of body
 *   zeros   := to a multiple of 64; also between blobs
 *   value   := type content             type: 4 bytes: dtype rank depth 0
 *   content := u64                      a scalar: the slot's bits, NaN canonical
 *            | blob                     a scalar text or file
 *            | digest size{rank} data   an array
 *            | digest size value{size}  a list; its elements have depth - 1
 *   digest  := 16 bytes, fl_array_digest of the array
 *   size    := u64
 *   data    := blob                     elements as in memory, NaN canonical
 *            | blob blob                texts: n + 1 u64 offsets into the second, which holds their bytes
 *   blob    := u64 u64                  where in body, a multiple of 64; how many bytes
 *   body    := the blobs in the order of the head, zeros between them */
#include "data/codec.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char magic[4] = {'f', 'l', 'v', FL_CODEC_VERSION};
enum { HEAD_FIXED = 24 };

static int64_t align_up(int64_t n) { return (n + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN; }

/* ---- encoding -------------------------------------------------------------------------------------- */

/* Memory made while encoding, of the context: it counts as that of arrays does. Freed all at once. */
typedef struct Own {
  struct Own *next;
  FlBuffer *buffer;
} Own;

typedef struct Encoder {
  FlCtx *ctx; /* may be NULL */
  unsigned char *head;
  size_t head_len, head_cap;
  struct iovec *blobs; /* with zeros between them */
  int32_t n_blobs, cap_blobs;
  int64_t body;
  Own *own;
  bool failed;
} Encoder;

static const unsigned char zeros[FL_ALIGN];

static void *own_new(Encoder *e, int64_t bytes) {
  Own *own = malloc(sizeof *own);
  FlBuffer *buffer = own ? fl_buffer_new(e->ctx, bytes) : NULL;
  if (!buffer) {
    free(own);
    e->failed = true;
    return NULL;
  }
  *own = (Own){e->own, buffer};
  e->own = own;
  return buffer->data;
}

static void own_free(Own *own) {
  while (own) {
    Own *next = own->next;
    fl_buffer_unref(own->buffer);
    free(own);
    own = next;
  }
}

static void head_add(Encoder *e, const void *bytes, size_t len) {
  if (e->failed) return;
  if (e->head_len + len > e->head_cap) {
    size_t cap = e->head_cap ? e->head_cap : 256;
    while (cap < e->head_len + len) cap *= 2;
    unsigned char *grown = realloc(e->head, cap);
    if (!grown) {
      e->failed = true;
      return;
    }
    e->head = grown;
    e->head_cap = cap;
  }
  memcpy(e->head + e->head_len, bytes, len);
  e->head_len += len;
}

static void head_u64(Encoder *e, uint64_t v) { head_add(e, &v, sizeof v); }

static void add_piece(Encoder *e, const void *bytes, int64_t len) {
  if (e->failed || len == 0) return;
  if (e->n_blobs == e->cap_blobs) {
    int32_t cap = e->cap_blobs ? e->cap_blobs * 2 : 16;
    struct iovec *grown = realloc(e->blobs, (size_t)cap * sizeof *grown);
    if (!grown) {
      e->failed = true;
      return;
    }
    e->blobs = grown;
    e->cap_blobs = cap;
  }
  e->blobs[e->n_blobs++] = (struct iovec){(void *)(uintptr_t)bytes, (size_t)len};
  e->body += len;
}

static void add_blob(Encoder *e, const void *bytes, int64_t len) {
  head_u64(e, (uint64_t)e->body);
  head_u64(e, (uint64_t)len);
  add_piece(e, bytes, len);
  add_piece(e, zeros, align_up(len) - len);
}

/* The bits of canonical NaNs, whatever the sign or payload. */
static uint64_t canonical_f64(double x) {
  uint64_t bits = UINT64_C(0x7ff8000000000000);
  if (x == x) memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint32_t canonical_f32(float x) {
  uint32_t bits = UINT32_C(0x7fc00000);
  if (x == x) memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The elements with canonical NaNs: the array's own when they are. NULL: out of memory. */
static const void *float_elements(Encoder *e, const FlArray *a, int64_t n) {
  bool is_f64 = a->dtype == FL_F64;
  const uint64_t *bits64 = a->data;
  const uint32_t *bits32 = a->data;
  const double *f64 = a->data;
  const float *f32 = a->data;
  bool canonical = true;
  for (int64_t i = 0; i < n && canonical; i++)
    canonical = is_f64 ? bits64[i] == canonical_f64(f64[i]) : bits32[i] == canonical_f32(f32[i]);
  if (canonical) return a->data;
  void *copy = own_new(e, n * (is_f64 ? 8 : 4));
  for (int64_t i = 0; copy && i < n; i++) {
    if (is_f64) memcpy((char *)copy + 8 * i, &(uint64_t){canonical_f64(f64[i])}, 8);
    else memcpy((char *)copy + 4 * i, &(uint32_t){canonical_f32(f32[i])}, 4);
  }
  return copy;
}

static void encode_texts(Encoder *e, const FlText *texts, int64_t n) {
  enum { PIECE = 1 << 14 }; /* texts between two looks at the memory that is left */
  uint64_t *offsets = own_new(e, (n + 1) * (int64_t)sizeof *offsets);
  if (!offsets) return;
  offsets[0] = 0;
  for (int64_t i = 0; i < n; i++) offsets[i + 1] = offsets[i] + (uint64_t)texts[i].len;
  unsigned char *bytes = own_new(e, (int64_t)offsets[n]);
  if (!bytes) return;
  for (int64_t i = 0; i < n; i++) {
    if (i % PIECE == 0 && e->ctx) fl_pool_breathe(fl_ctx_pool(e->ctx));
    if (texts[i].len) memcpy(bytes + offsets[i], texts[i].ptr, (size_t)texts[i].len);
  }
  add_blob(e, offsets, (n + 1) * (int64_t)sizeof *offsets);
  add_blob(e, bytes, (int64_t)offsets[n]);
}

static void encode_scalar(Encoder *e, FlSlot v, int32_t dtype) {
  if (fl_dtype_is_text(dtype)) {
    add_blob(e, v.t.ptr, v.t.len);
  } else if (dtype == FL_F64) {
    head_u64(e, canonical_f64(v.f));
  } else if (dtype == FL_F32) {
    head_u64(e, canonical_f32(v.f32));
  } else {
    head_u64(e, v.u);
  }
}

static void encode_array(Encoder *e, FlArray *a, FlType1 type);

static void encode_value(Encoder *e, FlSlot v, FlType1 type) {
  unsigned char t[4] = {type.dtype, type.rank, type.depth, 0};
  head_add(e, t, sizeof t);
  if (type.rank == 0 && type.depth == 0) encode_scalar(e, v, type.dtype);
  else encode_array(e, v.a, type);
}

static void encode_array(Encoder *e, FlArray *a, FlType1 type) {
  FlDigest digest = fl_array_digest(a);
  head_u64(e, digest.lo);
  head_u64(e, digest.hi);
  for (int32_t k = 0; k < a->rank; k++) head_u64(e, (uint64_t)a->dims[k]);
  int64_t n = fl_array_count(a);
  if (type.depth > 0) {
    FlArray *const *elements = a->data;
    FlType1 inner = {type.dtype, type.rank, (uint8_t)(type.depth - 1), 0};
    for (int64_t i = 0; i < n && !e->failed; i++) encode_value(e, (FlSlot){.a = elements[i]}, inner);
  } else if (fl_dtype_is_text(a->dtype)) {
    encode_texts(e, a->data, n);
  } else {
    bool is_float = a->dtype == FL_F64 || a->dtype == FL_F32;
    const void *data = is_float ? float_elements(e, a, n) : a->data;
    add_blob(e, data, fl_array_bytes(a));
  }
}

bool fl_codec_encode(FlCtx *ctx, const FlSlot *values, const FlType1 *types, int32_t n, FlEncoded *out) {
  Encoder e = {.ctx = ctx};
  *out = (FlEncoded){0};
  unsigned char fixed[HEAD_FIXED] = {0};
  head_add(&e, fixed, sizeof fixed);
  for (int32_t i = 0; i < n && !e.failed; i++) encode_value(&e, values[i], types[i]);
  uint64_t head_bytes = e.head_len, body_bytes = (uint64_t)e.body;
  head_add(&e, zeros, (size_t)align_up((int64_t)e.head_len) - e.head_len);
  struct iovec *pieces = e.failed ? NULL : malloc(((size_t)e.n_blobs + 1) * sizeof *pieces);
  if (pieces) {
    memcpy(e.head, magic, sizeof magic);
    memcpy(e.head + 4, &n, sizeof n);
    memcpy(e.head + 8, &head_bytes, sizeof head_bytes);
    memcpy(e.head + 16, &body_bytes, sizeof body_bytes);
    unsigned char *head = own_new(&e, (int64_t)e.head_len);
    if (head) {
      memcpy(head, e.head, e.head_len);
      pieces[0] = (struct iovec){head, e.head_len};
      if (e.n_blobs) memcpy(pieces + 1, e.blobs, (size_t)e.n_blobs * sizeof *pieces);
      *out = (FlEncoded){pieces, e.n_blobs + 1, (int64_t)e.head_len + e.body, e.own};
    }
  }
  free(e.head);
  free(e.blobs);
  if (!out->own) {
    free(pieces);
    own_free(e.own);
  }
  return out->own != NULL;
}

void fl_codec_reset(FlEncoded *e) {
  free(e->pieces);
  own_free(e->own);
  *e = (FlEncoded){0};
}

/* ---- decoding -------------------------------------------------------------------------------------- */

typedef struct Decoder {
  const unsigned char *at, *end; /* the head that is left */
  unsigned char *body;
  uint64_t body_len;
  FlBuffer *buffer;
} Decoder;

static bool read_u64(Decoder *d, uint64_t *out) {
  if ((size_t)(d->end - d->at) < sizeof *out) return false;
  memcpy(out, d->at, sizeof *out);
  d->at += sizeof *out;
  return true;
}

static bool read_size(Decoder *d, int64_t *out) {
  uint64_t v;
  if (!read_u64(d, &v) || v > INT64_MAX) return false;
  *out = (int64_t)v;
  return true;
}

static bool read_blob(Decoder *d, unsigned char **bytes, int64_t *len) {
  int64_t offset;
  if (!read_size(d, &offset) || !read_size(d, len)) return false;
  if (offset % FL_ALIGN != 0 || (uint64_t)offset > d->body_len ||
      (uint64_t)*len > d->body_len - (uint64_t)offset)
    return false;
  *bytes = d->body + offset;
  return true;
}

/* Number of elements, when it and the number of their bytes are numbers at all. */
static bool count_elements(const int64_t *dims, int32_t rank, int64_t element, int64_t *n) {
  int64_t bytes = element;
  *n = 1;
  for (int32_t k = 0; k < rank; k++)
    if (dims[k] == 0) *n = 0;
  for (int32_t k = 0; k < rank && *n != 0; k++)
    if (__builtin_mul_overflow(bytes, dims[k], &bytes)) return false;
  if (*n != 0) *n = bytes / element;
  return true;
}

/* Texts over (offsets, bytes): the views are new memory, their bytes stay where they are. */
static FlArray *decode_texts(Decoder *d, FlType1 type, const int64_t *dims, int64_t n) {
  unsigned char *table, *bytes;
  int64_t table_len, len;
  if (!read_blob(d, &table, &table_len) || !read_blob(d, &bytes, &len)) return NULL;
  if (table_len % 8 != 0 || table_len / 8 != n + 1) return NULL;
  const uint64_t *offsets = (const uint64_t *)(const void *)table;
  if (offsets[0] != 0 || offsets[n] != (uint64_t)len) return NULL;
  for (int64_t i = 0; i < n; i++)
    if (offsets[i] > offsets[i + 1]) return NULL;
  FlArray *a = fl_array_new(NULL, type.dtype, type.rank, dims);
  if (!a) return NULL;
  FlText *texts = a->data;
  for (int64_t i = 0; i < n; i++) {
    int64_t length = (int64_t)(offsets[i + 1] - offsets[i]);
    texts[i] = (FlText){length ? (const char *)bytes + offsets[i] : NULL, length};
  }
  if (n && !fl_buffer_keep(a->buffer, d->buffer)) {
    fl_array_unref(a);
    return NULL;
  }
  return a;
}

static bool decode_value(Decoder *d, FlType1 type, FlSlot *out);

static FlArray *decode_list(Decoder *d, FlType1 type) {
  int64_t n;
  /* Each element takes at least its type, its digest and a size: what is left bounds what is allocated. */
  if (!read_size(d, &n) || n > (d->end - d->at) / 28) return NULL;
  FlArray *list = fl_array_new(NULL, FL_LIST, 1, &n);
  if (!list) return NULL;
  FlArray **elements = list->data;
  FlType1 inner = {type.dtype, type.rank, (uint8_t)(type.depth - 1), 0};
  for (int64_t i = 0; i < n; i++) {
    FlSlot v;
    if (!decode_value(d, inner, &v)) {
      fl_array_unref(list); /* with the elements so far */
      return NULL;
    }
    elements[i] = v.a;
  }
  return list;
}

static FlArray *decode_array(Decoder *d, FlType1 type) {
  int64_t dims[FL_MAX_RANK] = {0}, n;
  for (int32_t k = 0; k < type.rank; k++)
    if (!read_size(d, &dims[k])) return NULL;
  int64_t element = fl_dtype_info[type.dtype].bytes;
  if (!count_elements(dims, type.rank, element, &n)) return NULL;
  if (fl_dtype_is_text(type.dtype)) return decode_texts(d, type, dims, n);
  unsigned char *bytes;
  int64_t len;
  if (!read_blob(d, &bytes, &len) || len != n * element) return NULL;
  return fl_array_over(NULL, d->buffer, bytes, type.dtype, type.rank, dims);
}

static bool decode_scalar(Decoder *d, int32_t dtype, FlSlot *out) {
  unsigned char *bytes;
  *out = (FlSlot){.t = {NULL, 0}};
  if (!fl_dtype_is_text(dtype)) return read_u64(d, &out->u);
  if (!read_blob(d, &bytes, &out->t.len)) return false;
  out->t.ptr = out->t.len ? (const char *)bytes : NULL;
  return true;
}

static bool decode_value(Decoder *d, FlType1 type, FlSlot *out) {
  const unsigned char t[4] = {type.dtype, type.rank, type.depth, 0};
  if (d->end - d->at < 4 || memcmp(d->at, t, sizeof t) != 0) return false;
  d->at += 4;
  if (type.rank == 0 && type.depth == 0) return decode_scalar(d, type.dtype, out);
  FlDigest digest;
  if (!read_u64(d, &digest.lo) || !read_u64(d, &digest.hi)) return false;
  FlArray *a = type.depth > 0 ? decode_list(d, type) : decode_array(d, type);
  if (!a) return false;
  a->digest = digest;
  atomic_store_explicit(&a->has_digest, 1, memory_order_release); /* as fl_array_digest publishes it */
  out->a = a;
  return true;
}

/* The bytes as a buffer that calls back when nobody needs them any more. */
typedef struct LentBuffer {
  FlBuffer base;
  void (*release)(void *arg);
} LentBuffer;

static void release_lent(FlBuffer *b) { ((LentBuffer *)b)->release(b->release_arg); }

static bool read_head(const unsigned char *bytes, int64_t len, int32_t n, Decoder *d) {
  uint64_t head_bytes, body_bytes;
  uint32_t n_values;
  if (len < HEAD_FIXED || memcmp(bytes, magic, sizeof magic) != 0) return false;
  memcpy(&n_values, bytes + 4, sizeof n_values);
  memcpy(&head_bytes, bytes + 8, sizeof head_bytes);
  memcpy(&body_bytes, bytes + 16, sizeof body_bytes);
  if (n_values != (uint32_t)n || head_bytes < HEAD_FIXED || head_bytes > (uint64_t)len) return false;
  int64_t body = align_up((int64_t)head_bytes);
  if (body > len || body_bytes != (uint64_t)(len - body)) return false;
  d->at = bytes + HEAD_FIXED;
  d->end = bytes + head_bytes;
  d->body = (unsigned char *)(uintptr_t)bytes + body; /* never written: the buffer is not writable */
  d->body_len = body_bytes;
  return true;
}

bool fl_codec_decode(const void *bytes, int64_t len, void (*release)(void *arg), void *arg,
                     const FlType1 *types, int32_t n, FlSlot *values, FlBuffer **keep) {
  *keep = NULL;
  LentBuffer *lent = calloc(1, sizeof *lent);
  if (!lent) {
    release(arg);
    return false;
  }
  atomic_init(&lent->base.refs, 1);
  lent->base.data = (void *)(uintptr_t)bytes;
  lent->base.bytes = len;
  lent->base.kind = FL_BUFFER_LENT;
  lent->base.release = release_lent;
  lent->base.release_arg = arg;
  lent->release = release;
  Decoder d = {.buffer = &lent->base};
  bool ok = read_head(bytes, len, n, &d), texts = false;
  int32_t done = 0;
  for (; ok && done < n; done += ok) {
    ok = decode_value(&d, types[done], &values[done]);
    texts |= !fl_type_is_array(types[done]) && fl_dtype_is_text(types[done].dtype);
  }
  if (d.at != d.end) ok = false;
  if (!ok)
    for (int32_t i = 0; i < done; i++)
      if (fl_type_is_array(types[i])) fl_array_unref(values[i].a);
  if (ok && texts) *keep = fl_buffer_ref(&lent->base);
  fl_buffer_unref(&lent->base);
  return ok;
}
