/* places.c: what operators and loops did, added up by where they stand in the source.
 *
 * In: each run of one. Out: sums of a place and an operator. What always holds: a table belongs to one
 * worker, the only one that writes it; who reads meanwhile sees sums of a moment ago. Threads that are no
 * workers of the run's pool are not counted but for the one that runs the script. */
#include "base/high.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

/* Calls of a place that are all timed; of later ones each EACH-th is, and counts for so many. */
enum { ALWAYS = 64, EACH = 16 };

int fl_report_table(const FlReport *r, int worker) {
  return worker < 0 || worker >= r->n_tables ? r->n_tables - 1 : worker;
}

static FlPlaceTable *table_of(FlReport *r, int k) {
  FlPlaceTable *t =
      atomic_load_explicit(&r->tables[k], memory_order_relaxed); /* written by this thread alone */
  if (!t && (t = calloc(1, sizeof *t)))
    atomic_store_explicit(&r->tables[k], t, memory_order_release); /* who reads it sees zeros */
  return t;
}

/* Of one of the first `n`, or the next one, once its block is there. */
static FlPlaceCount *place_of(const FlPlaceTable *t, int32_t i) {
  return &t->at[i / FL_TABLE_BLOCK][i % FL_TABLE_BLOCK];
}

/* NULL: there are too many, or no memory. */
static FlPlaceCount *new_place(FlPlaceTable *t, const char *name, int32_t site) {
  int32_t n = atomic_load_explicit(&t->n, memory_order_relaxed);
  if (n == FL_TABLE_PLACES) return NULL;
  FlPlaceCount **block = &t->at[n / FL_TABLE_BLOCK];
  if (!*block && !(*block = calloc(FL_TABLE_BLOCK, sizeof **block))) return NULL;
  FlPlaceCount *p = place_of(t, n);
  p->name = name;
  p->site = site;
  /* who sees the number sees name, site and block */
  atomic_store_explicit(&t->n, n + 1, memory_order_release);
  return p;
}

static FlPlaceCount *find(FlPlaceTable *t, const char *name, int32_t site) {
  uint32_t h = ((uint32_t)(uintptr_t)name ^ (uint32_t)site * 0x9e3779b1u) * 0x85ebca6bu;
  for (uint32_t i = h >> 16;; i++) {
    uint16_t *slot = &t->slot[i % FL_TABLE_SLOTS];
    FlPlaceCount *p = *slot ? place_of(t, *slot - 1) : NULL;
    if (p && p->name == name && p->site == site) return p;
    if (p) continue;
    if ((p = new_place(t, name, site))) *slot = (uint16_t)atomic_load_explicit(&t->n, memory_order_relaxed);
    return p;
  }
}

static void add(_Atomic int64_t *to, int64_t n) {
  atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n, memory_order_relaxed);
}

FlPlaceMark fl_report_begin(FlReport *r, int worker, const char *name, int32_t site) {
  int k = fl_report_table(r, worker);
  FlPlaceTable *t = r->options.counts ? table_of(r, k) : NULL;
  FlPlaceMark mark = {.place = t ? find(t, name, site) : NULL, .begin = -1, .weight = 1, .table = k};
  if (mark.place) mark.held = fl_highs_begin(r->options.highs, k);
  int64_t calls = mark.place ? atomic_load_explicit(&mark.place->calls, memory_order_relaxed) : 0;
  if (calls >= ALWAYS) mark.weight = calls % EACH ? 0 : EACH;
  if (mark.weight || fl_report_wants_kernels(r)) {
    mark.begin = fl_report_now(r);
    fl_report_save_if_due(r, mark.begin);
  }
  return mark;
}

int64_t fl_report_end(FlReport *r, FlPlaceMark mark, int64_t rows_in, int64_t rows_out, int64_t bytes,
                      int64_t moved) {
  int64_t end = mark.begin < 0 ? -1 : fl_report_now(r);
  FlPlaceCount *p = mark.place;
  if (!p) return end;
  int64_t held = fl_highs_end(r->options.highs, mark.table, mark.held);
  if (held > atomic_load_explicit(&p->held, memory_order_relaxed))
    atomic_store_explicit(&p->held, held, memory_order_relaxed);
  add(&p->calls, 1);
  if (end >= 0) add(&p->ns, (end - mark.begin) * mark.weight);
  if (fl_report_times(mark)) {
    if (moved > 0) add(&p->moved, moved * mark.weight);
    if (moved < 0) add(&p->unmoved, 1);
  }
  if (rows_in > 0) add(&p->rows_in, rows_in);
  if (rows_out >= 0) {
    add(&p->rows_out, rows_out);
    add(&p->counted, 1);
  }
  if (bytes > 0) add(&p->bytes, bytes);
  return end;
}

void fl_report_later(FlReport *r, int worker, const char *name, int32_t site, int64_t ns) {
  FlPlaceTable *t = r->options.counts ? table_of(r, fl_report_table(r, worker)) : NULL;
  FlPlaceCount *p = t ? find(t, name, site) : NULL;
  if (p) add(&p->ns, ns);
}

static int by_place(const void *a, const void *b) {
  const FlPlaceSum *x = a, *y = b;
  return x->site != y->site ? (x->site > y->site) - (x->site < y->site) : strcmp(x->name, y->name);
}

/* Sums of one place and operator become one. */
static int32_t merge(FlPlaceSum *sums, int32_t n) {
  int32_t kept = 0;
  qsort(sums, (size_t)n, sizeof *sums, by_place);
  for (int32_t i = 0; i < n; i++) {
    if (!kept || by_place(&sums[kept - 1], &sums[i]) != 0) {
      sums[kept++] = sums[i];
      continue;
    }
    FlPlaceSum *to = &sums[kept - 1];
    to->calls += sums[i].calls;
    to->ns += sums[i].ns;
    to->rows_in += sums[i].rows_in;
    to->rows_out += sums[i].rows_out;
    to->counted += sums[i].counted;
    to->bytes += sums[i].bytes;
    to->moved += sums[i].moved;
    to->unmoved += sums[i].unmoved;
    if (sums[i].held > to->held) to->held = sums[i].held;
  }
  return kept;
}

FlPlaceSum *fl_report_places(const FlReport *r, int32_t *n) {
  FlPlaceSum *sums = NULL;
  int32_t have = 0, room = 0;
  for (int k = 0; k < r->n_tables; k++) {
    const FlPlaceTable *t = atomic_load_explicit(&r->tables[k], memory_order_acquire);
    int32_t places = t ? atomic_load_explicit(&t->n, memory_order_acquire) : 0;
    for (int32_t i = 0; i < places; i++) {
      const FlPlaceCount *p = place_of(t, i);
      if (!atomic_load_explicit(&p->calls, memory_order_relaxed)) continue;
      if (have == room) {
        room = room ? 2 * room : 256;
        FlPlaceSum *larger = realloc(sums, (size_t)room * sizeof *sums);
        if (!larger) break;
        sums = larger;
      }
      sums[have++] = (FlPlaceSum){p->name,
                                  p->site,
                                  atomic_load_explicit(&p->calls, memory_order_relaxed),
                                  atomic_load_explicit(&p->ns, memory_order_relaxed),
                                  atomic_load_explicit(&p->rows_in, memory_order_relaxed),
                                  atomic_load_explicit(&p->rows_out, memory_order_relaxed),
                                  atomic_load_explicit(&p->counted, memory_order_relaxed),
                                  atomic_load_explicit(&p->bytes, memory_order_relaxed),
                                  atomic_load_explicit(&p->held, memory_order_relaxed),
                                  atomic_load_explicit(&p->moved, memory_order_relaxed),
                                  atomic_load_explicit(&p->unmoved, memory_order_relaxed)};
    }
  }
  *n = sums ? merge(sums, have) : 0;
  return sums;
}

void fl_report_places_free(FlReport *r) {
  for (int k = 0; k < r->n_tables; k++) {
    FlPlaceTable *t = atomic_load_explicit(&r->tables[k], memory_order_relaxed);
    for (int i = 0; t && i < FL_TABLE_PLACES / FL_TABLE_BLOCK; i++) free(t->at[i]);
    free(t);
  }
  free((void *)r->tables);
}
