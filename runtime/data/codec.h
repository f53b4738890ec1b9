/* codec.h: values as bytes and back, for whatever stores or sends them.
 *
 * What comes in: slots with their types (scalars, arrays, lists nested to any depth up to FL_CODEC_DEPTH).
 * What goes out: pieces that point into the values, or values that point into the bytes: a numeric array
 * decodes to a view of the mapped bytes, texts to views of bytes in them; nothing of an array's size is
 * copied but the (ptr, len) pairs of texts. What always holds: decoding what encoding gave yields equal
 * values; equal values encode to equal bytes (digests that are already known travel along behind the values
 * and are not part of that); decoding trusts no size, offset or type in the bytes.
 *
 * The format is a grammar at the top of codec.c. Integers and elements are little-endian, as every supported
 * CPU. */
#ifndef FL_CODEC_H
#define FL_CODEC_H

#include "flow/abi.h"

#include <sys/uio.h>

enum {
  FL_CODEC_DEPTH = 72, /* types are nested at most 64 deep (compiler/types/types.h), and have elements */
  FL_CODEC_VERSION = 1
};

/* The payload is the concatenation of the pieces. They point into the values, which must outlive them. */
typedef struct FlEncoded {
  struct iovec *pieces;
  int32_t n_pieces;
  int64_t bytes; /* of all pieces */
  void *own;     /* freed by reset */
} FlEncoded;

/* What it makes (texts one behind the other) is memory of ctx, which may be NULL. False: out of memory, which
 * ctx says; *out is then empty. */
bool fl_codec_encode(FlCtx *ctx, const FlSlot *values, const FlType1 *types, int32_t n, FlEncoded *out);
void fl_codec_reset(FlEncoded *e);

/* Makes owned values of exactly these types out of `bytes`, which must be 64-byte aligned and stay valid and
 * unchanged until `release(arg)`. Release is called once: when the last array into the bytes goes, or before
 * return when nothing refers to them. Text scalars point into the bytes too: `*keep` (one reference, or NULL)
 * holds them; the caller unrefs it when the texts are no longer used. False: the bytes are not such values
 * (or memory ran out); `release` was called and nothing is owned. */
bool fl_codec_decode(const void *bytes, int64_t len, void (*release)(void *arg), void *arg,
                     const FlType1 *types, int32_t n, FlSlot *values, FlBuffer **keep);

#endif
