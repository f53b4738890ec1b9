/* seen.c: what values are seen as, as the numbers that fl_seen reads. In: values of host code. Out: a list of
 * numbers (flow/abi.h). What always holds: a value that is no column, as one of rows with arrays, is not in
 * it. */
#include "plan/plan.h"

static bool is_column(const FlValue *v) { return v->seen && v->type.rank == 1 && !v->type.depth; }

static void add(FlArena *arena, FlSeenList *list, int32_t n) { fl_vec_push(arena, &list->numbers, n); }

static size_t name_words(const FlSeen *s) { return strlen(s->name) / sizeof(int32_t) + 1; }

/* The numbers of a list have room for it. */
static bool fits(const FlSeen *s, int value) {
  return value <= UINT16_MAX && s->n_columns <= UINT16_MAX && name_words(s) <= UINT8_MAX;
}

static void add_column(FlArena *arena, FlSeenList *list, const FlSeen *s, int value, int site) {
  size_t len = strlen(s->name), words = name_words(s);
  const FlSeenColumn c = {.site = site,
                          .value = (uint16_t)value,
                          .n_columns = (uint16_t)s->n_columns,
                          .column = (uint8_t)s->column,
                          .dtype = (uint8_t)s->dtype,
                          .part = (uint8_t)s->part,
                          .n_parts = (uint8_t)s->n_parts,
                          .flags =
                              (uint8_t)((s->let ? FL_SEEN_LET : 0) | (s->if_first ? FL_SEEN_IF_FIRST : 0) |
                                        (s->outer ? FL_SEEN_OUTER : 0) | (s->looped ? FL_SEEN_LOOPED : 0)),
                          .name = (uint8_t)words};
  for (size_t k = 0; k < sizeof c; k += sizeof(int32_t)) {
    int32_t n;
    memcpy(&n, (const char *)&c + k, sizeof n);
    add(arena, list, n);
  }
  for (size_t k = 0; k < words * sizeof(int32_t); k += sizeof(int32_t)) {
    int32_t n = 0;
    memcpy(&n, s->name + k, len - k < sizeof n ? len - k : sizeof n);
    add(arena, list, n);
  }
}

static bool same_place(FlSpan a, FlSpan b) {
  return a.file == b.file && a.start == b.start && a.len == b.len && a.call == b.call;
}

/* Columns of few tables are met one after the other. */
static int site_of(FlSeenList *list, FlSpan at, int (*site)(void *env, FlSpan at), void *env) {
  for (int k = 0; k < FL_SEEN_RECENT && k < list->n_recent; k++)
    if (same_place(list->recent[k], at)) return list->site[k];
  int k = list->n_recent++ % FL_SEEN_RECENT;
  list->recent[k] = at;
  return list->site[k] = site(env, at);
}

int fl_plan_see(FlArena *arena, FlSeenList *list, int n, FlValue *const *values, const int *at,
                int (*site)(void *env, FlSpan at), void *env) {
  int from = 0;
  for (int i = 0; i < n; i++) {
    if (!is_column(values[i]) || (at && at[i] < 0)) continue;
    if (!list->numbers.n) add(arena, list, 0);
    if (!from) {
      from = list->numbers.n;
      add(arena, list, from);
      add(arena, list, 0);
    }
    int value = at ? at[i] : i;
    for (const FlSeen *s = values[i]->seen; s; s = s->next) {
      if (!fits(s, value)) continue;
      add_column(arena, list, s, value, site_of(list, s->at, site, env));
      list->numbers.at[from + 1]++;
    }
  }
  return from;
}
