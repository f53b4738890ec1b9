/* unpack.h: gzip and zstd, in both directions.
 *
 * What is compressed is told by the first bytes of a file, never by its name; how to compress is told by the
 * name of the file that is written. RFC 1952 (gzip; several members follow each other), RFC 8878 (zstd;
 * several frames). */
#ifndef FL_UNPACK_H
#define FL_UNPACK_H

#include "io/io_internal.h"

typedef enum FlPacking { FL_PACKING_NONE, FL_PACKING_GZIP, FL_PACKING_ZSTD } FlPacking;

/* What the bytes say they are. */
FlPacking fl_packing_of_bytes(const char *s, int64_t n);
/* What a file of that name is to be: .gz, .zst. */
FlPacking fl_packing_of_path(FlText path);

/* ---- unpacking, a piece at a time: memory is that of the format's window, at most 128 MiB ------------- */

typedef struct FlUnpack FlUnpack;
/* `bytes` must stay while it is used. NULL: out of memory. `path`: for messages. */
FlUnpack *fl_unpack_new(FlPacking packing, const char *bytes, int64_t n, const char *path);
void fl_unpack_free(FlUnpack *u); /* NULL is allowed */
/* Writes up to `room` bytes, as many as there are; fewer only at the end. Returns how many, -1: e says why
 * (damaged, cut short, a bomb: more than a thousand times its size). */
int64_t fl_unpack_next(FlUnpack *u, char *to, int64_t room, FlIoError *e);

/* Replaces the bytes of an input that is compressed by what they unpack to; others stay as they are. At most
 * `most` bytes, then *more says whether there were more; NULL: all, or an error. The input stays as it was on
 * failure. */
bool fl_input_unpack(FlCtx *ctx, FlInput *in, const char *path, int64_t most, bool *more, FlIoError *e);

/* ---- packing ------------------------------------------------------------------------------------------ */

/* Adds bytes as one member or frame of their own; members after each other are one file. The same bytes give
 * the same. false: out of memory. */
bool fl_pack_add(FlPacking packing, const char *bytes, size_t n, FlBytes *to);

#endif
