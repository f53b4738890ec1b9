/* levels.c: categories at run time: texts as codes of levels, and levels compared.
 *
 * Comes in: texts and levels (texts too, each once, in their order). Goes out: codes, which are positions
 * among the levels, and messages about what does not fit. Always holds: the code of a text depends on the
 * levels alone; of several rows that do not fit the first is named. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "part/part_internal.h"
#include "data/text_order.h"
#include "base/bytes.h"

enum { MOST_LEVELS_SHOWN = 8 };

/* Open addresses; a slot is 0 or a level's position + 1. At most half of them are taken. */
typedef struct Table {
  const FlText *level;
  uint64_t mask;
  int32_t *slot;
} Table;

/* The slot of `t`: its level's, or the free one where it would stand. */
static inline uint64_t find_slot(const Table *t, FlText text) {
  uint64_t at = XXH3_64bits(text.ptr, (size_t)text.len) & t->mask;
  while (t->slot[at] != 0 && !fl_text_same(t->level[t->slot[at] - 1], text)) at = (at + 1) & t->mask;
  return at;
}

static int32_t find_level(const FlText *level, int64_t k, FlText text) { /* one look: no table */
  for (int64_t i = 0; i < k; i++)
    if (fl_text_same(level[i], text)) return (int32_t)i;
  return -1;
}

/* ---- messages ----------------------------------------------------------------------------------------- */

static void add_quoted(FlBytes *out, FlText t) {
  fl_bytes_addz(out, "\"");
  fl_bytes_add(out, t.ptr, (size_t)t.len);
  fl_bytes_addz(out, "\"");
}

/* `"hgih" is not one of the levels "low", "high"; did you mean "high"?` */
static void add_unknown(FlCtx *ctx, FlBytes *out, FlText text, const FlText *level, int64_t k) {
  add_quoted(out, text);
  if (k == 0) {
    fl_bytes_addz(out, " is not a level: there are no levels");
    return;
  }
  fl_bytes_addz(out, k == 1 ? " is not the level " : " is not one of the levels ");
  for (int64_t i = 0; i < k && i < MOST_LEVELS_SHOWN; i++) {
    if (i) fl_bytes_addz(out, ", ");
    add_quoted(out, level[i]);
  }
  if (k > MOST_LEVELS_SHOWN) fl_bytes_addf(out, " and %lld more", (long long)(k - MOST_LEVELS_SHOWN));
  FlPartMem mem = {.ctx = ctx};
  char **names = fl_part_zalloc(&mem, k + 1, sizeof *names);
  bool have = true;
  for (int64_t i = 0; names != NULL && i <= k; i++) {
    FlText t = i < k ? level[i] : text;
    names[i] = strndup(t.len ? t.ptr : "", (size_t)t.len);
    if (names[i] == NULL) have = false;
  }
  const char *near =
      names && have && k < 10000 ? fl_closest_name(names[k], (const char *const *)names, (int)k) : NULL;
  if (near) fl_bytes_addf(out, "; did you mean \"%s\"?", near);
  for (int64_t i = 0; names != NULL && i <= k; i++) free(names[i]);
  fl_part_mem_reset(&mem);
}

/* The message as a text scalar; frees it. */
static FlStatus keep_message(FlCtx *ctx, FlBytes *b, FlText *out) {
  FlStatus status = b->failed ? fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory") : 0;
  *out = fl_heap_text(fl_ctx_heap(ctx), b->at, status ? 0 : (int64_t)b->len);
  fl_bytes_reset(b);
  return status;
}

static FlStatus fail(FlCtx *ctx, const FlOpDesc *desc, int fault, FlBytes *message) {
  FlStatus status = fl_fail_text(ctx, desc->site, fault, "%.*s", (int)message->len, message->at);
  fl_bytes_reset(message);
  return status;
}

/* ---- one text ----------------------------------------------------------------------------------------- */

FlStatus fl_rt_level_code(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  const FlText *level = args[0].a->data;
  int64_t k = args[0].a->dims[0];
  FlBytes message = {0};
  int32_t code = find_level(level, k, args[1].t);
  if (code < 0) add_unknown(ctx, &message, args[1].t, level, k);
  results[0].i = code;
  return keep_message(ctx, &message, &results[1].t);
}

/* ---- many texts --------------------------------------------------------------------------------------- */

typedef struct Encode {
  Table table;
  const FlPartCol *texts;
  int32_t *code;
  _Atomic int64_t bad; /* first row whose text is no level */
} Encode;

static int32_t encode_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Encode *e = (Encode *)(uintptr_t)env;
  const FlText *text = e->texts->data;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    bool valid = fl_part_valid(e->texts->valid, i);
    int32_t code = valid ? e->table.slot[find_slot(&e->table, text[i])] - 1 : 0;
    if (code < 0) fl_part_first(&e->bad, i);
    e->code[i] = code;
  }
  return 0;
}

static FlStatus make_table(FlPartMem *m, const FlOpDesc *desc, const FlArray *levels, Table *t) {
  int64_t k = levels->dims[0];
  if (k >= INT32_MAX / 4) return fl_fail_text(m->ctx, desc->site, FL_FAULT_LEVEL, "too many levels");
  t->level = levels->data;
  t->mask = (UINT64_C(2) << fl_part_bits((uint64_t)k)) - 1;
  t->slot = fl_part_zalloc(m, (int64_t)t->mask + 1, sizeof *t->slot);
  if (t->slot == NULL) return 1;
  for (int64_t i = 0; i < k; i++) {
    uint64_t at = find_slot(t, t->level[i]);
    if (t->slot[at] != 0) {
      FlBytes message = {0};
      fl_bytes_addz(&message, "the level ");
      add_quoted(&message, t->level[i]);
      fl_bytes_addz(&message, " is there twice");
      return fail(m->ctx, desc, FL_FAULT_LEVEL, &message);
    }
    t->slot[at] = (int32_t)(i + 1);
  }
  return 0;
}

static FlStatus encode(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlPartCol texts;
  int32_t at = 0;
  if (fl_part_col(m->ctx, desc, args, &at, &desc->columns[0], &texts) != 0) return 1;
  const FlArray *levels = args[at].a;
  Encode e = {.texts = &texts};
  *out = fl_array_new(m->ctx, FL_I32, 1, &texts.n);
  if (*out == NULL || make_table(m, desc, levels, &e.table) != 0) return 1;
  e.code = (*out)->data;
  atomic_init(&e.bad, INT64_MAX);
  if (fl_part_for(m->ctx, encode_body, &e, texts.n, 12.0) != 0) return 1;
  int64_t bad = atomic_load_explicit(&e.bad, memory_order_relaxed);
  if (bad == INT64_MAX || desc->i == 1) return 0;
  FlBytes message = {0};
  fl_bytes_addf(&message, "row %lld: ", (long long)(bad + fl_ctx_first_row(m->ctx)));
  add_unknown(m->ctx, &message, ((const FlText *)texts.data)[bad], levels->data, levels->dims[0]);
  return fail(m->ctx, desc, FL_FAULT_LEVEL, &message);
}

FlStatus fl_rt_encode_levels(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, encode);
}

/* ---- levels against levels ---------------------------------------------------------------------------- */

/* Appends what makes b's levels other ones than a's; nothing when they are the same. */
static void add_difference(FlBytes *out, const FlArray *a, const FlArray *b) {
  const FlArray *side[2] = {a, b};
  static const char *const lacks[2] = {"the first lacks ", "the second lacks "};
  bool same = a->dims[0] == b->dims[0];
  for (int64_t i = 0; same && i < a->dims[0]; i++)
    same = fl_text_same(((const FlText *)a->data)[i], ((const FlText *)b->data)[i]);
  if (same) return;
  fl_bytes_addz(out, "these categories have different levels: ");
  for (int s = 1; s >= 0; s--) {
    const FlText *has = side[1 - s]->data;
    for (int64_t i = 0; i < side[1 - s]->dims[0]; i++) {
      if (find_level(side[s]->data, side[s]->dims[0], has[i]) >= 0) continue;
      fl_bytes_addz(out, lacks[s]);
      add_quoted(out, has[i]);
      return;
    }
  }
  fl_bytes_addz(out, "they are the same in another order");
}

FlStatus fl_rt_same_levels(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  FlBytes message = {0};
  if (args[0].a != args[1].a) add_difference(&message, args[0].a, args[1].a);
  results[0].i = message.len == 0;
  return keep_message(ctx, &message, &results[1].t);
}

FlStatus fl_rt_list_levels(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlArray *const *of = args[0].a->data;
  int64_t n = args[0].a->dims[0], none = 0;
  for (int64_t k = 1; k < n; k++) {
    FlBytes message = {0};
    if (of[k] != of[0]) add_difference(&message, of[0], of[k]);
    if (message.len > 0) return fail(ctx, desc, FL_FAULT_LEVELS, &message);
  }
  results[0].a = n > 0 ? fl_array_ref(of[0]) : fl_array_new(ctx, FL_TEXT, 1, &none);
  return results[0].a == NULL;
}
