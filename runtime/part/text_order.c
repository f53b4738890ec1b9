/* text_order.c: rows of texts by ascending bytes.
 *
 * Comes in: numbers of rows, in the order that rows of equal texts are to have. Goes out: the rows in order,
 * and which of them begin another text. Always holds: bytes compare unsigned, a text comes before its own
 * extensions, equal ones stay in their order.
 *
 * Each round sorts a run of texts that agree so far by the next seven bytes and how many bytes there are (8
 * for more than seven) as one word; runs of words ending in 8 go on to the next round. What all texts of a
 * long run begin with is passed over at once, and few texts are inserted by all their bytes. All workers sort
 * a large run; small ones go to whoever is free, and are sorted by six bytes, behind which a word has room
 * for the place of its text. */
#include "part/part_internal.h"
#include "data/text_order.h"

enum {
  STEP = 7,
  INDEX_BITS = 13,
  SMALL = 1 << INDEX_BITS, /* whose words and places among them stay in a cache */
  SMALL_STEP = 6,          /* bytes beside such a place */
  SMALL_MORE = 7,
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
  enum { NEAR = 20, FAR = 40 }; /* texts whose bytes, and whose places, are asked for */
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

typedef struct Common {
  const FlPartTexts *texts;
  const FlPartPair *items;
  int64_t depth;
  _Atomic int64_t *most;
} Common;

static int32_t common_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Common *c = env;
  FlText first = fl_part_text(c->texts, c->items[0].row);
  int64_t most = atomic_load_explicit(c->most, memory_order_relaxed), seen = most;
  (void)ctx;
  for (int64_t i = begin; i < end && most > 0; i++)
    most = agree(first, fl_part_text(c->texts, c->items[i].row), c->depth, most);
  while (most < seen && !atomic_compare_exchange_weak_explicit(c->most, &seen, most, memory_order_relaxed,
                                                               memory_order_relaxed)) {}
  return 0;
}

/* How many bytes all n texts have in common from `depth` on, or 0 where a few of them show that it is not
 * worth looking at all. */
static int64_t common(FlCtx *ctx, const FlPartTexts *texts, const FlPartPair *items, int64_t n,
                      int64_t depth) {
  enum { SAMPLES = 8, WORTH = 2 * STEP };
  FlText first = fl_part_text(texts, items[0].row);
  _Atomic int64_t found;
  int64_t most = first.len - depth;
  for (int64_t k = 1; k <= SAMPLES && most > WORTH; k++)
    most = agree(first, fl_part_text(texts, items[(n - 1) * k / SAMPLES].row), depth, most);
  if (most <= WORTH) return 0;
  atomic_init(&found, most);
  Common c = {texts, items, depth, &found};
  if (n <= SMALL) (void)common_body(ctx, &c, 0, n);
  else if (fl_part_for(ctx, common_body, &c, n, 4.0) != 0) return 0; /* whoever sorts sees that, too */
  return atomic_load(&found);
}

/* ---- runs -----------------------------------------------------------------------------------------------
 */

/* Items that agree up to `depth` and are still to be sorted. */
typedef struct Run {
  int64_t begin, end, depth;
} Run;

typedef struct Runs {
  Run *runs;
  int64_t n, capacity;
  bool full; /* there was no memory for more */
} Runs;

static void push(Runs *s, Run run) {
  if (s->n == s->capacity) {
    int64_t capacity = s->capacity == 0 ? 256 : s->capacity * 2;
    Run *runs = realloc(s->runs, (size_t)capacity * sizeof *runs);
    if (runs == NULL) {
      s->full = true;
      return;
    }
    s->runs = runs;
    s->capacity = capacity;
  }
  s->runs[s->n++] = run;
}

/* Sorted by their words, items say which begin another text; what agrees in all bytes of the words goes on to
 * `small` or `large`. */
static void mark_large(FlPartPair *items, Run run, Runs *small, Runs *large) {
  for (int64_t i = run.begin, j; i < run.end; i = j) {
    const uint64_t word = items[i].key;
    for (j = i + 1; j < run.end && items[j].key == word; j++) items[j].key = 0;
    items[i].key = 1;
    if (j - i > 1 && (word & 0xff) > STEP) push(j - i > SMALL ? large : small, (Run){i, j, run.depth + STEP});
  }
}

/* The order of what is behind the words of two items. */
static int order_behind(const FlPartTexts *texts, const FlPartPair *x, const FlPartPair *y, int64_t depth) {
  FlText a = fl_part_text(texts, x->row), b = fl_part_text(texts, y->row);
  int64_t at = depth + STEP;
  if ((x->key & 0xff) <= STEP) return 0;
  return fl_text_order((FlText){a.ptr + at, a.len - at}, (FlText){b.ptr + at, b.len - at});
}

/* Texts that agree up to `depth`, by insertion: by their words, then by all bytes. */
static void insert_few(const FlPartTexts *texts, FlPartPair *p, int64_t n, int64_t depth) {
  for (int64_t i = 1; i < n; i++) {
    FlPartPair x = p[i];
    int64_t j = i;
    for (; j > 0; j--) {
      if (x.key > p[j - 1].key) break;
      if (x.key == p[j - 1].key && order_behind(texts, &x, &p[j - 1], depth) >= 0) break;
      p[j] = p[j - 1];
    }
    p[j] = x;
  }
  for (int64_t i = n - 1; i > 0; i--)
    p[i].key = p[i].key != p[i - 1].key || order_behind(texts, &p[i], &p[i - 1], depth) != 0;
  p[0].key = 1;
}

typedef struct Order {
  FlPartMem *m;
  const FlPartTexts *texts;
  FlPartPair *items, *spare;
  Runs small, large;
} Order;

/* Sorts items by their words of a small run, in which the bytes of the texts are less by one so that the
 * place of an item has room below them; then as mark_large. `spare`: room for as many items. */
static void sort_words(FlPartPair *items, FlPartPair *spare, Run run, Runs *left) {
  int64_t n = run.end - run.begin;
  uint64_t *word = (uint64_t *)spare, place = (1 << INDEX_BITS) - 1;
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = items[i].key, count = key & 0xff;
    word[i] =
        (key & ~UINT64_C(0xffff)) | (count > SMALL_STEP ? SMALL_MORE : count) << INDEX_BITS | (uint64_t)i;
    items[i].key = (uint64_t)items[i].row;
  }
  fl_part_sort_near_words(word, word + n, n);
  for (int64_t i = 0; i < n; i++) items[i].row = (int64_t)items[word[i] & place].key;
  for (int64_t i = 0, j; i < n; i = j) {
    items[i].key = 1;
    for (j = i + 1; j < n && word[j] >> INDEX_BITS == word[i] >> INDEX_BITS; j++) items[j].key = 0;
    if (j - i > 1 && (word[i] >> INDEX_BITS & 7) == SMALL_MORE)
      push(left, (Run){run.begin + i, run.begin + j, run.depth + SMALL_STEP});
  }
}

/* A small run and all that is in it, by one worker. */
static void sort_small(FlCtx *ctx, const Order *o, Run run) {
  Run room[SMALL / 2 + 1]; /* each has two items or more, and no two have one in common */
  Runs left = {.runs = room, .capacity = SMALL / 2 + 1};
  push(&left, run);
  while (left.n > 0) {
    run = left.runs[--left.n];
    int64_t n = run.end - run.begin;
    FlPartPair *items = o->items + run.begin;
    if (n >= MANY) run.depth += common(ctx, o->texts, items, n, run.depth);
    Fill fill = {o->texts, items, n, run.depth};
    (void)fill_body(ctx, &fill, 0, n);
    if (n <= FEW) {
      insert_few(o->texts, items, n, run.depth);
    } else {
      sort_words(items, o->spare + run.begin, run, &left);
    }
  }
}

static int32_t small_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Order *o = env;
  for (int64_t k = begin; k < end; k++) sort_small(ctx, o, o->small.runs[k]);
  return 0;
}

/* Sorts a large run by its next words, and the small ones in it. */
static FlStatus sort_large(Order *o, Run run) {
  FlCtx *ctx = o->m->ctx;
  int64_t n = run.end - run.begin;
  FlPartPair *sorted, *items = o->items + run.begin;
  run.depth += common(ctx, o->texts, items, n, run.depth);
  Fill fill = {o->texts, items, n, run.depth};
  if (fl_part_for(ctx, fill_body, &fill, n, 8.0) != 0) return 1;
  if (fl_part_sort_pairs(o->m, items, o->spare + run.begin, n, 64, &sorted) != 0) return 1;
  if (sorted != items) memcpy(items, sorted, (size_t)n * sizeof *sorted);
  o->small.n = 0;
  mark_large(o->items, run, &o->small, &o->large);
  if (o->small.n == 0) return 0;
  return fl_part_for(ctx, small_body, o, o->small.n, 50.0 * (double)n / (double)o->small.n);
}

FlStatus fl_part_order_texts(FlPartMem *m, const FlPartTexts *texts, FlPartPair *items, FlPartPair *spare,
                             int64_t n) {
  Order o = {.m = m, .texts = texts, .items = items, .spare = spare};
  FlStatus status = 0;
  if (n > SMALL) push(&o.large, (Run){0, n, 0});
  else if (n > 0) sort_small(m->ctx, &o, (Run){0, n, 0});
  while (status == 0 && o.large.n > 0) status = sort_large(&o, o.large.runs[--o.large.n]);
  bool full = o.small.full || o.large.full;
  free(o.small.runs);
  free(o.large.runs);
  return full ? fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0}) : status;
}
