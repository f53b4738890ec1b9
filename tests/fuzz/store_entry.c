/* store_entry.c: fuzz target: the bytes of a store file, as found and as a damaged payload behind good
 * checksums.
 *
 * The first byte chooses what types the caller of the codec expects. What decodes is read to its last
 * element. */
#include "data/codec.h"
#include "data/data.h"
#include "memo/entry.h"

#include <stdlib.h>
#include <string.h>

static const FlType1 shapes[][3] = {
    {{FL_I64, 0, 0, 0}, {FL_F64, 1, 0, 0}, {FL_TEXT, 0, 0, 0}},
    {{FL_TEXT, 1, 0, 0}, {FL_BOOL, 2, 0, 0}, {FL_F32, 0, 0, 0}},
    {{FL_F64, 2, 2, 0}, {FL_TEXT, 1, 1, 0}, {FL_I8, 3, 0, 0}},
    {{FL_F64, 8, 0, 0}, {FL_I16, 1, FL_CODEC_DEPTH, 0}, {FL_DATE, 1, 0, 0}},
};

static volatile uint64_t sink;

static void touch(const FlArray *a, int depth) {
  int64_t n = fl_array_count(a);
  if (depth > 0) {
    for (int64_t i = 0; i < n; i++) touch(((FlArray **)a->data)[i], depth - 1);
  } else if (a->dtype == FL_TEXT) {
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = 0; k < ((FlText *)a->data)[i].len; k++)
        sink += (uint64_t)((FlText *)a->data)[i].ptr[k];
  } else {
    for (int64_t i = 0; i < fl_array_bytes(a); i++) sink += ((unsigned char *)a->data)[i];
  }
}

static void release(void *arg) { free(arg); }

static unsigned char *aligned_copy(const unsigned char *bytes, size_t len) {
  unsigned char *copy = aligned_alloc(FL_ALIGN, (len + FL_ALIGN) / FL_ALIGN * FL_ALIGN);
  if (!copy) abort();
  memcpy(copy, bytes, len);
  return copy;
}

static void decode(const unsigned char *payload, size_t len, const FlType1 *types) {
  FlSlot values[3];
  FlBuffer *keep;
  unsigned char *copy = aligned_copy(payload, len);
  if (!fl_codec_decode(copy, (int64_t)len, release, copy, types, 3, values, &keep)) return;
  for (int i = 0; i < 3; i++)
    if (types[i].rank > 0 || types[i].depth > 0) {
      touch(values[i].a, types[i].depth);
      fl_array_unref(values[i].a);
    }
  fl_buffer_unref(keep);
}

/* A good payload of two lists of arrays and a few texts, edited at the places that `edits` names (two bytes
 * where, one what): damage that still looks like a payload. */
static void decode_edited(const uint8_t *edits, size_t n) {
  FlType1 types[3] = {{FL_F64, 1, 1, 0}, {FL_TEXT, 1, 0, 0}, {FL_TEXT, 0, 0, 0}};
  int64_t two = 2, three = 3;
  FlArray *list = fl_array_new(NULL, FL_LIST, 1, &two), *texts = fl_array_new(NULL, FL_TEXT, 1, &three);
  for (int i = 0; i < 2; i++) ((FlArray **)list->data)[i] = fl_array_zeros(NULL, FL_F64, 1, &three);
  for (int i = 0; i < 3; i++) ((FlText *)texts->data)[i] = (FlText){"text", i + 1};
  FlSlot values[3] = {{.a = list}, {.a = texts}, {.t = {"scalar", 6}}};
  FlEncoded e;
  if (!fl_codec_encode(NULL, values, types, 3, &e)) abort();
  unsigned char *bytes = malloc((size_t)e.bytes), *p = bytes;
  if (!bytes) abort();
  for (int32_t i = 0; i < e.n_pieces; p += e.pieces[i++].iov_len)
    memcpy(p, e.pieces[i].iov_base, e.pieces[i].iov_len);
  for (; n >= 3; edits += 3, n -= 3) bytes[(size_t)(edits[0] + edits[1] * 256) % (size_t)e.bytes] = edits[2];
  decode(bytes, (size_t)e.bytes, types);
  free(bytes);
  fl_codec_reset(&e);
  fl_array_unref(list);
  fl_array_unref(texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const FlType1 *types = shapes[data[0] % 4];
  data++;
  size--;
  FlEntryHeader h;
  if (!fl_entry_check(data, (int64_t)size, NULL, 0, &h))
    decode(data + fl_entry_payload_offset(&h), (size_t)h.payload_bytes, types);

  /* With the header's checksum put right, the fields behind it are reached. */
  if (size >= FL_ENTRY_HEADER) {
    unsigned char *copy = aligned_copy(data, size);
    FlDigest sum = fl_memo_digest(copy, FL_ENTRY_HEADER - 16);
    memcpy(copy + FL_ENTRY_HEADER - 16, &sum, sizeof sum);
    if (!fl_entry_check(copy, (int64_t)size, NULL, 0, &h))
      decode(copy + fl_entry_payload_offset(&h), (size_t)h.payload_bytes, types);
    free(copy);
  }
  decode(data, size, types);
  decode_edited(data, size);
  return 0;
}
