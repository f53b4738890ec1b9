/* keep.c: which buffers keep which alive: those that texts point into.
 *
 * In: buffers and arrays whose texts lie in others. Out: the keeps of a buffer, a reference each, in the
 * order in which they were first asked for. Always holds: no buffer stands twice among the keeps of another,
 * however many sources of an array share one; many at once take time in proportion to their number. */
#include "data/data_internal.h"

#include <stdint.h>
#include <stdlib.h>

/* So many are looked through one by one. */
enum { FEW = 16 };

static bool append(FlBuffer *b, FlBuffer *kept) {
  /* The room in `keeps` is the next power of two: it grows when the count is one. */
  if ((b->n_keeps & (b->n_keeps - 1)) == 0) {
    size_t room = b->n_keeps ? (size_t)b->n_keeps * 2 : 1;
    FlBuffer **grown = realloc(b->keeps, room * sizeof *grown);
    if (!grown) return false;
    b->keeps = grown;
  }
  b->keeps[b->n_keeps++] = fl_buffer_ref(kept);
  return true;
}

bool fl_buffer_keep(FlBuffer *b, FlBuffer *kept) {
  if (!kept || kept == b) return true;
  for (int32_t k = 0; k < b->n_keeps; k++) {
    if (b->keeps[k] == kept) return true;
  }
  return append(b, kept);
}

/* Buffers by address, in a table of 2^bits places that is never full. */
typedef struct Set {
  FlBuffer **place;
  int bits;
} Set;

/* false: it is there already. */
static bool add(Set *set, FlBuffer *b) {
  size_t mask = ((size_t)1 << set->bits) - 1;
  size_t at = (size_t)(((uint64_t)(uintptr_t)b * 0x9e3779b97f4a7c15u) >> (64 - set->bits));
  for (; set->place[at]; at = (at + 1) & mask) {
    if (set->place[at] == b) return false;
  }
  set->place[at] = b;
  return true;
}

/* What `from` keeps, also inside a list. */
static int64_t count_kept(const FlArray *from) {
  if (!from) return 0;
  int64_t n = from->buffer->n_keeps;
  if (from->dtype != FL_LIST) return n;
  FlArray *const *elements = from->data;
  for (int64_t k = 0; k < fl_array_count(from); k++) n += count_kept(elements[k]);
  return n;
}

/* `b` keeps what `from` keeps; `set`, where there is one, has what it keeps already. */
static bool keep_all_of(FlBuffer *b, const FlArray *from, Set *set) {
  if (!from) return true;
  for (int32_t k = 0; k < from->buffer->n_keeps; k++) {
    FlBuffer *kept = from->buffer->keeps[k];
    bool ok = set ? kept == b || !add(set, kept) || append(b, kept) : fl_buffer_keep(b, kept);
    if (!ok) return false;
  }
  if (from->dtype != FL_LIST) return true;
  FlArray *const *elements = from->data;
  for (int64_t k = 0; k < fl_array_count(from); k++) {
    if (!keep_all_of(b, elements[k], set)) return false;
  }
  return true;
}

static bool keep_sources(FlBuffer *b, FlArray *const *from, int32_t n_from) {
  int64_t n = b->n_keeps;
  for (int32_t k = 0; k < n_from; k++) n += count_kept(from[k]);
  Set set = {NULL, 5}, *used = NULL;
  if (n > FEW) {
    while (((int64_t)1 << set.bits) < 2 * n) set.bits++;
    set.place = calloc((size_t)1 << set.bits, sizeof(FlBuffer *));
    if (!set.place) return false;
    for (int32_t k = 0; k < b->n_keeps; k++) add(&set, b->keeps[k]);
    used = &set;
  }
  bool ok = true;
  for (int32_t k = 0; ok && k < n_from; k++) ok = keep_all_of(b, from[k], used);
  free(set.place);
  return ok;
}

FlStatus fl_array_keep(FlCtx *ctx, FlArray *a, FlHeap *heap, FlArray *const *from, int32_t n_from) {
  if (a->dtype == FL_LIST) {
    FlArray *const *elements = a->data;
    for (int64_t k = 0; k < fl_array_count(a); k++) {
      FlStatus bad = elements[k] ? fl_array_keep(ctx, elements[k], heap, from, n_from) : 0;
      if (bad) return bad;
    }
    return 0;
  }
  if (a->dtype != FL_TEXT && a->dtype != FL_FILE) return 0;
  bool ok = !heap || fl_buffer_keep(a->buffer, fl_heap_buffer(heap));
  if (ok && keep_sources(a->buffer, from, n_from)) return 0;
  fl_data_no_memory(ctx, a->buffer->n_keeps);
  return 1;
}
