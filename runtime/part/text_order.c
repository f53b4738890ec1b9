/* text_order.c: distinct texts by ascending bytes.
 *
 * Comes in: rows of texts, no two equal. Goes out: the rows in order. Always holds: bytes compare unsigned,
 * and a text comes before its own extensions.
 *
 * Each round sorts a run of texts that agree so far by the next seven bytes and how many bytes there are (8
 * for more than seven) as one word; runs of words ending in 8 go on to the next round. What all texts of a
 * long run begin with is passed over at once, and few texts are inserted by all their bytes. */
#include "part/part_internal.h"
#include "data/text_order.h"

enum {
  STEP = 7,
  SMALL = 2048,
  FEW = 16, /* that are inserted */
  MANY = 64 /* that may begin alike for long */
};

static inline uint64_t load8(const char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

static inline uint64_t word_at(FlText t, int64_t depth) {
  int64_t left = t.len - depth;
  if (left > STEP) return (load8(t.ptr + depth) & ~UINT64_C(0xff)) | (STEP + 1);
  if (left == 0) return 0;
  uint64_t word = 0;
  if (t.len >= (int64_t)sizeof word) word = load8(t.ptr + t.len - 8) << (8 * (8 - left));
  for (int64_t k = 0; t.len < (int64_t)sizeof word && k < left; k++)
    word |= (uint64_t)(unsigned char)t.ptr[depth + k] << (56 - 8 * k);
  return word | (uint64_t)left;
}

typedef struct Fill {
  const FlPartTexts *texts;
  FlPartPair *items;
  int64_t n, depth;
} Fill;

static const FlText *place_of(const FlPartTexts *t, int64_t row) {
  return row < t->n0 ? &t->side[0][row] : &t->side[1][row - t->n0];
}

static int32_t fill_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  enum { NEAR = 8, FAR = 16 }; /* texts whose bytes, and whose places, are asked for */
  const Fill *f = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    if (i + FAR < f->n) __builtin_prefetch(place_of(f->texts, f->items[i + FAR].row));
    if (i + NEAR < f->n) {
      const FlText *t = place_of(f->texts, f->items[i + NEAR].row);
      __builtin_prefetch(t->ptr + f->depth);
    }
    f->items[i].key = word_at(*place_of(f->texts, f->items[i].row), f->depth);
  }
  return 0;
}

/* ---- what all begin with --------------------------------------------------------------------------------
 */

/* How many bytes of a and b agree from `depth` on, at most `most`. */
static int64_t agree(FlText a, FlText b, int64_t depth, int64_t most) {
  int64_t end = fl_part_min(fl_part_min(a.len, b.len), depth + most), at = depth;
  for (; at + 8 <= end; at += 8) {
    uint64_t differ = load8(a.ptr + at) ^ load8(b.ptr + at);
    if (differ) return at - depth + __builtin_clzll(differ) / 8;
  }
  while (at < end && a.ptr[at] == b.ptr[at]) at++;
  return at - depth;
}

/* How many bytes all n texts have in common from `depth` on, or 0 where a few of them show that it is not
 * worth looking at all. */
static int64_t common(const FlPartTexts *texts, const FlPartPair *items, int64_t n, int64_t depth) {
  enum { SAMPLES = 8, WORTH = 2 * STEP };
  FlText first = fl_part_text(texts, items[0].row);
  int64_t most = first.len - depth;
  for (int64_t k = 1; k <= SAMPLES && most > WORTH; k++)
    most = agree(first, fl_part_text(texts, items[(n - 1) * k / SAMPLES].row), depth, most);
  if (most <= WORTH) return 0;
  for (int64_t i = 1; i < n && most > 0; i++)
    most = agree(first, fl_part_text(texts, items[i].row), depth, most);
  return most;
}

/* ---- runs -----------------------------------------------------------------------------------------------
 */

/* A run still to be sorted. Runs live on a stack of their own, so that long common beginnings cannot overflow
 * ours. */
typedef struct Run {
  int64_t begin, end, depth;
} Run;

typedef struct Stack {
  Run *runs;
  int64_t n, capacity;
} Stack;

static bool push(Stack *s, Run run) {
  if (s->n == s->capacity) {
    int64_t capacity = s->capacity == 0 ? 256 : s->capacity * 2;
    Run *runs = realloc(s->runs, (size_t)capacity * sizeof *runs);
    if (runs == NULL) return false;
    s->runs = runs;
    s->capacity = capacity;
  }
  s->runs[s->n++] = run;
  return true;
}

/* Texts that agree up to `depth`, by insertion: by their words, then by all bytes. */
static void insert_few(const FlPartTexts *texts, FlPartPair *p, int64_t n, int64_t depth) {
  for (int64_t i = 1; i < n; i++) {
    FlPartPair x = p[i];
    int64_t j = i;
    for (; j > 0; j--) {
      bool before = x.key < p[j - 1].key;
      if (x.key == p[j - 1].key && (x.key & 0xff) > STEP) {
        FlText a = fl_part_text(texts, x.row), b = fl_part_text(texts, p[j - 1].row);
        int64_t at = depth + STEP;
        before = fl_text_order((FlText){a.ptr + at, a.len - at}, (FlText){b.ptr + at, b.len - at}) < 0;
      }
      if (!before) break;
      p[j] = p[j - 1];
    }
    p[j] = x;
  }
}

/* Sorts a run by its next words; *depth: where these begin. Few texts are in order then. */
static FlStatus sort_run(FlPartMem *m, const FlPartTexts *texts, FlPartPair *items, FlPartPair *spare,
                         Run run, int64_t *depth) {
  int64_t n = run.end - run.begin;
  *depth = run.depth + (n >= MANY ? common(texts, items + run.begin, n, run.depth) : 0);
  Fill fill = {texts, items + run.begin, n, *depth};
  if (n <= SMALL) {
    (void)fill_body(m->ctx, &fill, 0, n);
    if (n <= FEW) insert_few(texts, fill.items, n, *depth);
    else fl_part_sort_small(fill.items, spare + run.begin, n);
    return 0;
  }
  if (fl_part_for(m->ctx, fill_body, &fill, n, 8.0) != 0) return 1;
  FlPartPair *sorted;
  if (fl_part_sort_pairs(m, fill.items, spare + run.begin, n, 64, &sorted) != 0) return 1;
  if (sorted != fill.items) memcpy(fill.items, sorted, (size_t)n * sizeof *sorted);
  return 0;
}

FlStatus fl_part_order_texts(FlPartMem *m, const FlPartTexts *texts, FlPartPair *items, FlPartPair *spare,
                             int64_t n) {
  Stack stack = {0};
  FlStatus status = 0;
  bool room = n < 2 || push(&stack, (Run){0, n, 0});
  while (room && status == 0 && stack.n > 0) {
    Run run = stack.runs[--stack.n];
    int64_t depth;
    status = sort_run(m, texts, items, spare, run, &depth);
    if (run.end - run.begin <= FEW) continue;
    for (int64_t i = run.begin; status == 0 && room && i < run.end;) {
      int64_t j = i + 1;
      while (j < run.end && items[j].key == items[i].key) j++;
      if (j - i > 1 && (items[i].key & 0xff) > STEP) room = push(&stack, (Run){i, j, depth + STEP});
      i = j;
    }
  }
  free(stack.runs);
  if (!room) return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
  return status;
}
