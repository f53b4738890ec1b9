/* slices.c: see slices.h. What always holds: the first `bytes` bytes of the room are made, belong to `to`,
 * and are not written yet. */
#include "data/slices.h"

#include <string.h>

enum { PAGE = 4096, LONG = 1 << 18, SHARE = 8 };

FlSlices fl_slices(FlPool *pool, const void *block, int64_t bytes, int64_t many) {
  FlSlices s = {.pool = pool, .slice = bytes};
  if (bytes == 0 || !fl_pool_in_file(pool, block)) return s;
  int64_t share = many * SHARE, room = fl_pool_room(pool, share * LONG) / share;
  s.most = room < LONG ? room : LONG;
  if (s.most < bytes + PAGE) s.most = bytes + PAGE;
  s.room = fl_counted_new(pool, (size_t)s.most); /* without memory for it: in the block */
  return s;
}

/* Writes what is made; `whole`: but what follows the last whole page of its place. */
static void write_out(FlSlices *s, bool whole) {
  int64_t after = whole ? (int64_t)((uintptr_t)(s->to + s->bytes) % PAGE) : 0;
  if (after > s->bytes) after = 0;
  int64_t bytes = s->bytes - after;
  fl_pool_fill(s->pool, s->to, s->room, bytes);
  memmove(s->room, s->room + bytes, (size_t)after);
  s->to += bytes;
  s->bytes = after;
}

void *fl_slice_room(FlSlices *s, void *to) {
  if (s->bytes > 0 && to != s->to + s->bytes) write_out(s, false);
  if (s->bytes + s->slice > s->most) write_out(s, true);
  if (s->bytes == 0) s->to = to;
  return s->room + s->bytes;
}

void fl_slices_end(FlSlices *s) {
  if (s->room != NULL && s->bytes > 0) write_out(s, false);
  fl_counted_free(s->room);
}
