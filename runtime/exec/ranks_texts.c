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
  FlText *texts;
  uint64_t *heads; /* of each the eight bytes behind those that all of them begin with */
  int64_t n, same; /* bytes that all of them begin with */
  FlArray **of;    /* [ranks] which hold them */
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

/* The own ones of them. */
static FlArray *pick(FlCtx *ctx, FlArray *texts, const int64_t *rows, int64_t n) {
  FlArray *a = fl_array_new(ctx, texts->dtype, 1, &n);
  for (int64_t i = 0; a && i < n; i++) ((FlText *)a->data)[i] = ((const FlText *)texts->data)[rows[i]];
  if (!a || !fl_array_keep(ctx, a, NULL, &texts, 1)) return a;
  fl_array_unref(a);
  return NULL;
}

/* Those of all ranks, to all. */
static FlStatus learn(FlCtx *ctx, int32_t site, FlArray *own, const int64_t *n, Known *k) {
  FlRanks *r = ctx->ranks;
  FlParcel mine = {0};
  const FlType1 type = {.dtype = FL_TEXT, .rank = 1};
  FlStatus s = 0;
  for (int32_t i = 0; i < r->n; i++) k->n += n[i];
  k->texts = calloc((size_t)k->n + 1, sizeof *k->texts);
  k->heads = calloc((size_t)k->n + 1, sizeof *k->heads);
  k->of = calloc((size_t)r->n, sizeof *k->of);
  if (!k->texts || !k->heads || !k->of) s = no_memory(ctx);
  if (!s && (!own || !fl_parcel_pack(ctx, &(FlSlot){.a = own}, &type, 1, &mine))) s = FL_STATUS_MEMORY;
  FlRankSlot slot = {.step = FL_RANKS_ROWS,
                     .site = site,
                     .failed = !s           ? 0
                               : ctx->error ? ctx->error->status
                                            : FL_STATUS_MEMORY,
                     .bytes = mine.bytes};
  s = fl_ranks_together(ctx, &slot);
  int64_t at = 0;
  for (int32_t i = 0; i < r->n && !s; at += n[i++]) {
    FlParcel theirs = {0};
    FlBuffer *keep = NULL;
    FlSlot came = {0};
    s = fl_parcel_send(ctx, i, i == r->here ? &mine : &theirs);
    if (!s && i == r->here) came.a = fl_array_ref(own);
    else if (!s) s = fl_parcel_open(ctx, &theirs, &type, 1, &came, &keep);
    fl_buffer_unref(keep);
    k->of[i] = came.a;
    if (!s && n[i]) memcpy(k->texts + at, came.a->data, (size_t)n[i] * sizeof *k->texts);
  }
  fl_parcel_reset(&mine);
  return s;
}

static void forget(Known *k, int32_t ranks) {
  for (int32_t i = 0; k->of && i < ranks; i++) fl_array_unref(k->of[i]);
  free(k->of);
  free(k->heads);
  free(k->texts);
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
  FlArray *own = pick(ctx, texts, rows, n[ctx->ranks->here]);
  FlStatus s = learn(ctx, site, own, n, &k);
  if (!s) {
    put_in_order(&k);
    *numbers = number(ctx, texts, &k);
    s = fl_rows_meet(ctx, site, *numbers ? 0 : FL_STATUS_MEMORY);
  }
  forget(&k, ctx->ranks->n);
  fl_array_unref(own);
  return s;
}
