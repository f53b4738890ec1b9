/* entry.c: see entry.h. Works on bytes in memory only; the fuzz target tests/fuzz/store_entry.c calls it
 * directly. */
#include "memo/entry.h"

#include <string.h>

static const char magic[8] = {'f', 'l', 'o', 'w', 'm', 'e', 'm', 'o'};

static void put_u32(unsigned char **p, uint32_t v) {
  for (int i = 0; i < 4; i++) *(*p)++ = (unsigned char)(v >> (8 * i));
}

static void put_u64(unsigned char **p, uint64_t v) {
  for (int i = 0; i < 8; i++) *(*p)++ = (unsigned char)(v >> (8 * i));
}

static void put_digest(unsigned char **p, FlDigest d) {
  put_u64(p, d.lo);
  put_u64(p, d.hi);
}

static uint32_t get_u32(const unsigned char **p) {
  uint32_t v = 0;
  for (int i = 0; i < 4; i++) v |= (uint32_t)*(*p)++ << (8 * i);
  return v;
}

static uint64_t get_u64(const unsigned char **p) {
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v |= (uint64_t)*(*p)++ << (8 * i);
  return v;
}

static FlDigest get_digest(const unsigned char **p) {
  FlDigest d;
  d.lo = get_u64(p);
  d.hi = get_u64(p);
  return d;
}

int64_t fl_entry_payload_offset(const FlEntryHeader *h) {
  return (FL_ENTRY_HEADER + h->label_bytes + h->key_bytes + FL_ALIGN - 1) / FL_ALIGN * FL_ALIGN;
}

void fl_entry_write_header(const FlEntryHeader *h, unsigned char out[FL_ENTRY_HEADER]) {
  unsigned char *p = out;
  memcpy(p, magic, sizeof magic);
  p += sizeof magic;
  put_u32(&p, FL_ENTRY_VERSION);
  put_u32(&p, FL_ABI_VERSION);
  put_u32(&p, (uint32_t)h->kind);
  put_u32(&p, (uint32_t)h->label_bytes);
  put_u64(&p, (uint64_t)h->key_bytes);
  put_u64(&p, (uint64_t)h->payload_bytes);
  put_u64(&p, (uint64_t)h->created);
  put_u64(&p, 0);
  put_digest(&p, h->key);
  put_digest(&p, h->meta);
  put_digest(&p, h->payload);
  memset(p, 0, (size_t)(out + FL_ENTRY_HEADER - 16 - p));
  p = out + FL_ENTRY_HEADER - 16;
  put_digest(&p, fl_memo_digest(out, FL_ENTRY_HEADER - 16));
}

const char *fl_entry_read_header(const unsigned char *bytes, int64_t n_bytes, int64_t file_bytes,
                                 FlEntryHeader *out) {
  if (n_bytes < FL_ENTRY_HEADER) return "it is cut short";
  const unsigned char *p = bytes;
  if (memcmp(p, magic, sizeof magic) != 0) return "it is not an entry of a flow store";
  p += sizeof magic;
  uint32_t version = get_u32(&p), abi = get_u32(&p);
  const unsigned char *sum = bytes + FL_ENTRY_HEADER - 16;
  if (!fl_memo_digest_same(get_digest(&sum), fl_memo_digest(bytes, FL_ENTRY_HEADER - 16)))
    return "its header is damaged";
  if (version != FL_ENTRY_VERSION || abi != FL_ABI_VERSION) return "another version of flow wrote it";
  uint32_t kind = get_u32(&p), label_bytes = get_u32(&p);
  uint64_t key_bytes = get_u64(&p), payload_bytes = get_u64(&p);
  out->created = (int64_t)get_u64(&p);
  uint64_t reserved = get_u64(&p);
  out->key = get_digest(&p);
  out->meta = get_digest(&p);
  out->payload = get_digest(&p);
  if (kind < FL_ENTRY_RESULT || kind > FL_ENTRY_RECORD || reserved != 0 || label_bytes > FL_ENTRY_LABEL ||
      key_bytes > (uint64_t)file_bytes || payload_bytes > (uint64_t)file_bytes)
    return "its header is damaged";
  out->kind = (FlEntryKind)kind;
  out->label_bytes = (int64_t)label_bytes;
  out->key_bytes = (int64_t)key_bytes;
  out->payload_bytes = (int64_t)payload_bytes;
  if (fl_entry_payload_offset(out) + out->payload_bytes != file_bytes)
    return "it is cut short or has bytes too many";
  return NULL;
}

const char *fl_entry_check(const unsigned char *file, int64_t file_bytes, const void *key, int64_t key_bytes,
                           FlEntryHeader *out) {
  const char *why = fl_entry_read_header(file, file_bytes, file_bytes, out);
  if (why) return why;
  const unsigned char *meta = file + FL_ENTRY_HEADER, *stored_key = meta + out->label_bytes;
  int64_t payload = fl_entry_payload_offset(out);
  if (!fl_memo_digest_same(out->meta, fl_memo_digest(meta, payload - FL_ENTRY_HEADER)))
    return "its key is damaged";
  if (!fl_memo_digest_same(out->key, fl_memo_digest(stored_key, out->key_bytes))) return "its key is damaged";
  if (key && (key_bytes != out->key_bytes || memcmp(stored_key, key, (size_t)key_bytes) != 0))
    return "it belongs to another key";
  if (!fl_memo_digest_same(out->payload, fl_memo_digest(file + payload, out->payload_bytes)))
    return "its contents are damaged";
  return NULL;
}
