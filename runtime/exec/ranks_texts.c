/* ranks_texts.c: numbers that stand for the texts by which rows go from rank to rank (ranks_trade.c).
 *
 * In: texts of which each rank has some. Out: a number for each of the own ones. What always holds: they are
 * made of the bytes of the texts alone, and so the same wherever a text is. In the order of some texts that
 * all know (`known`, ascending, each once) a text that is among these has the odd number 2 * i + 1, and all
 * that stand before the i-th and behind the one before it have 2 * i: whether a text is before one of them,
 * or is it, is the same of the numbers. */
#include "data/text_order.h"
#include "exec/ranks_trade.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 12 };

static FlStatus no_memory(FlCtx *ctx) { return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory"); }

/* ---- the texts that all know --------------------------------------------------------------------------- */

typedef struct Known {
  FlArray *all;    /* which holds them */
  FlText *texts;   /* in it, in order, each once */
  uint64_t *heads; /* of each the eight bytes behind those that all of them begin with */
  int64_t n, same; /* bytes that all of them begin with */
} Known;

static int by_bytes(const void *a, const void *b) {
  return fl_text_order(*(const FlText *)a, *(const FlText *)b);
}

/* The eight bytes of a text from `from` on, as a number that grows with them. */
static uint64_t head_of(FlText t, int64_t from) {
  unsigned char bytes[sizeof(uint64_t)] = {0};
  int64_t n = t.len - from;
  if (n > 0) memcpy(bytes, t.ptr + from, (size_t)(n < (int64_t)sizeof bytes ? n : (int64_t)sizeof bytes));
  uint64_t head = 0;
  for (size_t k = 0; k < sizeof bytes; k++) head = head << 8 | bytes[k];
  return head;
}

/* In order, each once. */
static void put_in_order(Known *k) {
  int64_t n = 0;
  if (k->n > 0) qsort(k->texts, (size_t)k->n, sizeof *k->texts, by_bytes);
  for (int64_t i = 0; i < k->n; i++)
    if (n == 0 || !fl_text_same(k->texts[n - 1], k->texts[i])) k->texts[n++] = k->texts[i];
  k->n = n;
  if (n == 0) return;
  FlText first = k->texts[0], last = k->texts[n - 1];
  while (k->same < first.len && k->same < last.len && first.ptr[k->same] == last.ptr[k->same]) k->same++;
  for (int64_t i = 0; i < n; i++) k->heads[i] = head_of(k->texts[i], k->same);
}

/* Those of all ranks, n[k] of rank k: the own ones, which `rows` says, come to their places and go to all. */
static FlStatus learn(FlCtx *ctx, int32_t site, FlArray *texts, const int64_t *rows, const int64_t *n,
                      Known *k) {
  FlRanks *r = ctx->ranks;
  for (int32_t i = 0; i < r->n; i++) r->slots[i].values[3] = n[i];
  const FlCut *cut = fl_rows_cut_by(ctx, 3);
  if (cut) k->n = fl_cut_rows(cut);
  FlArray *a = k->all = cut ? fl_array_new_part(ctx, FL_TEXT, 1, &k->n, cut) : NULL;
  for (int64_t i = 0; a && i < n[r->here]; i++)
    ((FlText *)a->data)[fl_cut_from(cut) + i] = ((const FlText *)texts->data)[rows[i]];
  k->heads = calloc((size_t)k->n + 1, sizeof *k->heads);
  FlStatus s = !a ? FL_STATUS_MEMORY : !k->heads ? no_memory(ctx) : fl_array_keep(ctx, a, NULL, &texts, 1);
  s = fl_rows_meet(ctx, site, s);
  if (!s) s = fl_rows_gather(ctx, site, a);
  if (!s) k->texts = a->data;
  return s;
}

static void forget(Known *k) {
  fl_array_unref(k->all);
  free(k->heads);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* The first of the heads from..to that is no less, or, `behind`, that is greater. */
static int64_t search(const uint64_t *heads, int64_t from, int64_t to, uint64_t head, bool behind) {
  while (from < to) {
    int64_t middle = from + (to - from) / 2;
    bool before = heads[middle] < head || (behind && heads[middle] == head);
    from = before ? middle + 1 : from;
    to = before ? to : middle;
  }
  return from;
}

static int64_t number_of(const Known *k, FlText t) {
  if (k->n == 0) return 0;
  int64_t n = t.len < k->same ? t.len : k->same;
  int order = n > 0 ? memcmp(t.ptr, k->texts[0].ptr, (size_t)n) : 0;
  if (order || n < k->same) return order > 0 ? 2 * k->n : 0;
  uint64_t head = head_of(t, k->same);
  int64_t low = search(k->heads, 0, k->n, head, false), high = low;
  if (low < k->n && k->heads[low] == head) high = search(k->heads, low, k->n, head, true);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int side = fl_text_order(k->texts[middle], t);
    if (side == 0) return 2 * middle + 1;
    if (side < 0) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

typedef struct Numbers {
  const Known *known; /* NULL: hashes */
  const FlText *texts;
  int64_t *to;
} Numbers;

static uint64_t hash(FlText t) {
  uint64_t h = (uint64_t)t.len * UINT64_C(0x9E3779B97F4A7C15);
  for (int64_t at = 0; at < t.len; at += (int64_t)sizeof(uint64_t)) {
    h = (h ^ head_of(t, at)) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
  }
  return h;
}

static void number_body(void *env, int64_t from, int64_t to, int worker) {
  const Numbers *k = env;
  (void)worker;
  for (int64_t i = from; i < to; i++)
    k->to[i] = k->known ? number_of(k->known, k->texts[i]) : (int64_t)hash(k->texts[i]);
}

static FlArray *number(FlCtx *ctx, const FlArray *texts, const Known *known) {
  FlArray *numbers = fl_array_new(ctx, FL_I64, 1, texts->dims);
  if (!numbers) return NULL;
  Numbers k = {known, texts->data, numbers->data};
  fl_parallel_for(ctx, texts->dims[0], CHUNK, number_body, &k);
  return numbers;
}

FlArray *fl_texts_hashed(FlCtx *ctx, const FlArray *texts) { return number(ctx, texts, NULL); }

FlStatus fl_texts_in_order(FlCtx *ctx, int32_t site, FlArray *texts, const int64_t *rows, const int64_t *n,
                           FlArray **numbers) {
  Known k = {0};
  FlStatus s = learn(ctx, site, texts, rows, n, &k);
  if (!s) {
    put_in_order(&k);
    *numbers = number(ctx, texts, &k);
    s = fl_rows_meet(ctx, site, *numbers ? 0 : FL_STATUS_MEMORY);
  }
  forget(&k);
  return s;
}
