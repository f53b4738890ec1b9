/* texts.c: texts cut into arrays of texts, and arrays of texts joined.
 *
 * Comes in: texts and arrays of texts. Goes out: arrays that keep a copy of the text they were cut from, and
 * texts in the heap of the run. Always holds: pieces stand in their order, n separators make n + 1 pieces. */
#include "part/part_internal.h"

#include "kern/kern.h"
#include "kern/regex.h"

#include <stdlib.h>
#include <string.h>

/* Pieces being collected; views into one text. */
typedef struct Pieces {
  FlText *at;
  int64_t n, room;
  bool failed; /* there was no memory */
} Pieces;

static void add_piece(Pieces *p, FlText t) {
  if (p->n == p->room && !p->failed) {
    int64_t room = p->room * 2 + 16;
    FlText *at = realloc(p->at, (size_t)room * sizeof *p->at);
    p->failed = at == NULL;
    if (at != NULL) p->at = at, p->room = room;
  }
  if (!p->failed) p->at[p->n++] = t;
}

/* The pieces as an array, with a copy of `whole`, which they point into. Gives up `p`. */
static FlStatus finish(FlCtx *ctx, Pieces *p, FlText whole, FlArray **out) {
  FlArray *a = p->failed ? NULL : fl_array_new(ctx, FL_TEXT, 1, &p->n);
  if (p->failed) fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
  FlHeap *heap = a != NULL && whole.len > 0 ? fl_heap_new(ctx) : NULL;
  char *copy = heap != NULL ? fl_heap_alloc(heap, whole.len) : NULL;
  if (copy != NULL) {
    memcpy(copy, whole.ptr, (size_t)whole.len);
    for (int64_t i = 0; i < p->n; i++)
      p->at[i].ptr = p->at[i].len > 0 ? copy + (p->at[i].ptr - whole.ptr) : NULL;
  }
  FlStatus status = a == NULL;
  if (a != NULL && p->n > 0) memcpy(a->data, p->at, (size_t)p->n * sizeof *p->at);
  if (a != NULL) status = fl_array_keep(ctx, a, heap, NULL, 0);
  fl_heap_unref(heap);
  free(p->at);
  if (status != 0) fl_array_unref(a);
  else *out = a;
  return status;
}

FlStatus fl_rt_split_text(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  FlText whole = args[0].t, sep = args[1].t, left = whole;
  Pieces p = {0};
  for (const char *cut; sep.len > 0 && left.len >= sep.len &&
                        (cut = memmem(left.ptr, (size_t)left.len, sep.ptr, (size_t)sep.len)) != NULL;) {
    add_piece(&p, (FlText){left.ptr, cut - left.ptr});
    left = (FlText){cut + sep.len, left.len - (cut - left.ptr) - sep.len};
  }
  add_piece(&p, left);
  return finish(ctx, &p, whole, &results[0].a);
}

FlStatus fl_rt_extract_all(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlText whole = args[0].t, found;
  Pieces p = {0};
  int32_t fault = 0;
  FlRegexWalk walk = {0};
  while (fl_regex_next(&walk, whole.ptr, whole.len, args[1].t.ptr, args[1].t.len, &found, &fault))
    add_piece(&p, found);
  if (fault == 0) return finish(ctx, &p, whole, &results[0].a);
  free(p.at);
  return fl_fail(ctx, fault, desc->site, FL_TEXT, args[0], args[1]);
}

static char *put(char *at, FlText t) {
  if (t.len > 0) memcpy(at, t.ptr, (size_t)t.len);
  return at + t.len;
}

FlStatus fl_rt_join_text(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  const FlText *t = args[0].a->data;
  const uint8_t *take = desc->n_args > 2 ? args[2].a->data : NULL;
  FlText sep = args[1].t;
  int64_t n = args[0].a->dims[0], total = 0, taken = 0;
  for (int64_t i = 0; i < n; i++)
    if (take == NULL || take[i]) total += t[i].len + (taken++ > 0 ? sep.len : 0);
  char *out = fl_heap_alloc(fl_ctx_heap(ctx), total), *at = out;
  if (out == NULL) return fl_fail_stopped(ctx);
  bool first = true;
  for (int64_t i = 0; i < n; i++) {
    if (take != NULL && !take[i]) continue;
    if (!first) at = put(at, sep);
    at = put(at, t[i]);
    first = false;
  }
  results[0].t = (FlText){out, total};
  return 0;
}
