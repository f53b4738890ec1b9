/* arrow_unpack.c: the buffers of Arrow batches that are compressed.
 *
 *   buffer := size:i64 frame        size: when unpacked; -1: what follows is not packed; of an empty buffer
 * nothing
 *
 * Only the buffers of columns that are read are unpacked, in parallel, into one piece of memory a batch. What
 * always holds: no size is believed that a frame of that many bytes cannot have. */
#include "io/arrow.h"
#include "data/data.h"
#include "exec/exec.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { FL_LZ4_RATIO = 256, FL_ZSTD_RATIO = 1 << 15, FL_ALIGNED = 64 };

typedef struct Item {
  FlArrowBatch *b;
  uint32_t buffer; /* which one of it */
  FlArrowBytes packed;
  char *to; /* at `offset` of the batch's memory */
  int64_t offset, size;
  bool failed;
} Item;

typedef struct Unpacking {
  FlCtx *ctx;
  const char *label;
  Item *items;
  int64_t n, room;
} Unpacking;

static bool no_memory(const Unpacking *u, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", u->label);
}

/* ---- which buffers, and where they go ------------------------------------------------------------------ */

static bool add_item(Unpacking *u, Item item, FlIoError *e) {
  if (u->n == u->room) {
    int64_t room = u->room ? 2 * u->room : 64;
    Item *grown = realloc(u->items, (size_t)room * sizeof *grown);
    if (!grown) return no_memory(u, e);
    u->items = grown;
    u->room = room;
  }
  u->items[u->n++] = item;
  return true;
}

/* Buffer k of a batch: it lies there unpacked, or is an item whose place is `at` of the batch's memory. */
static bool add_buffer(Unpacking *u, FlArrowBatch *b, uint32_t k, FlArrowBytes *unpacked, int64_t *at,
                       FlIoError *e) {
  FlArrowBytes raw;
  int64_t size, ratio = b->codec == FL_ARROW_LZ4 ? FL_LZ4_RATIO : FL_ZSTD_RATIO;
  if (!fl_arrow_buffer(b, k, &raw)) return fl_arrow_damaged(b, e);
  if (raw.n == 0) return true;
  if (raw.n < 8) return fl_arrow_damaged(b, e);
  size = fl_arrow_load(raw.at, 64, true);
  raw = (FlArrowBytes){raw.at + 8, raw.n - 8};
  if (size == -1) {
    unpacked[k] = raw;
    return true;
  }
  if (size < 0 || size / ratio > raw.n) return fl_arrow_damaged(b, e);
  Item item = {.b = b, .buffer = k, .packed = raw, .offset = *at, .size = size};
  *at += (size + FL_ALIGNED - 1) / FL_ALIGNED * FL_ALIGNED;
  return add_item(u, item, e);
}

/* The buffers of a batch that belong to those of its fields which are wanted (NULL: all). */
static bool add_batch(Unpacking *u, FlArrowBatch *b, const FlArrowField *fields, int32_t n,
                      const bool *wanted, FlIoError *e) {
  FlArrowBatch walk = *b;
  int64_t first = u->n, size = 0;
  FlArrowBytes *unpacked = calloc((size_t)b->n_buffers + 1, sizeof *unpacked);
  bool ok = unpacked || no_memory(u, e);
  for (int32_t k = 0; ok && k < n; k++) {
    uint32_t from = walk.buffer;
    ok = fl_arrow_skip(&walk, &fields[k], e);
    for (uint32_t i = from; ok && (!wanted || wanted[k]) && i < walk.buffer; i++)
      ok = add_buffer(u, b, i, unpacked, &size, e);
  }
  b->owner = ok ? fl_buffer_new(u->ctx, size + FL_ALIGNED) : NULL;
  if (ok && !b->owner) ok = no_memory(u, e);
  for (int64_t i = first; ok && i < u->n; i++) {
    Item *item = &u->items[i];
    item->to = (char *)b->owner->data + item->offset;
    unpacked[item->buffer] = (FlArrowBytes){(const uint8_t *)item->to, item->size};
  }
  b->unpacked = unpacked; /* freed with the file */
  return ok;
}

/* ---- unpacking ---------------------------------------------------------------------------------------- */

static bool unpack_lz4(const Item *item) {
  LZ4F_dctx *state = NULL;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION))) return false;
  const uint8_t *from = item->packed.at;
  size_t left = (size_t)item->packed.n, done = 0, hint = 1;
  while (hint && left) {
    size_t in = left, out = (size_t)item->size - done;
    hint = LZ4F_decompress(state, item->to + done, &out, from, &in, NULL);
    if (LZ4F_isError(hint) || (in == 0 && out == 0)) break;
    from += in;
    left -= in;
    done += out;
  }
  LZ4F_freeDecompressionContext(state);
  return hint == 0 && done == (size_t)item->size;
}

static bool unpack_zstd(const Item *item) {
  size_t got = ZSTD_decompress(item->to, (size_t)item->size, item->packed.at, (size_t)item->packed.n);
  return !ZSTD_isError(got) && got == (size_t)item->size;
}

static void unpack_items(void *env, int64_t begin, int64_t end, int worker) {
  Unpacking *u = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    Item *item = &u->items[k];
    item->failed = !(item->b->codec == FL_ARROW_LZ4 ? unpack_lz4(item) : unpack_zstd(item));
  }
}

bool fl_arrow_unpack(FlCtx *ctx, FlArrowFile *file, const bool *wanted, FlIoError *e) {
  Unpacking u = {.ctx = ctx, .label = file->label};
  bool ok = true;
  for (int32_t k = 0; ok && k < file->n_batches; k++)
    if (file->batches[k].codec)
      ok = add_batch(&u, &file->batches[k], file->root.children, file->root.n_children, wanted, e);
  for (int32_t k = 0; ok && k < file->n_dictionaries; k++) {
    FlArrowDictionary *d = &file->dictionaries[k];
    for (int32_t i = 0; ok && d->values.codec && !d->values.owner && i < file->root.n_children; i++) {
      FlArrowField plain = file->root.children[i];
      if (!plain.dictionary || plain.dictionary_id != d->id || !wanted[i]) continue;
      plain.dictionary = false;
      ok = add_batch(&u, &d->values, &plain, 1, NULL, e);
    }
  }
  if (ok) fl_parallel_for(ctx, u.n, 1, unpack_items, &u);
  for (int64_t k = 0; ok && k < u.n; k++) ok = !u.items[k].failed || fl_arrow_damaged(u.items[k].b, e);
  free(u.items);
  return ok;
}
