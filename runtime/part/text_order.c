/* text_order.c: distinct texts by ascending bytes.
 *
 * Comes in: rows of texts, no two equal. Goes out: the rows in order. Always holds: bytes compare unsigned,
 * and a text comes before its own extensions.
 *
 * Each round sorts a run of texts that agree so far by the next seven bytes and how many bytes there are (8
 * for more than seven) as one word; runs of words ending in 8 go on to the next round. */
#include "part/part_internal.h"

enum { STEP = 7, SMALL = 2048 };

static inline uint64_t word_at(FlText t, int64_t depth) {
  uint64_t word = 0;
  int64_t left = t.len - depth;
  int64_t take = left < STEP ? left : STEP;
  const unsigned char *bytes = (const unsigned char *)t.ptr;
  for (int64_t k = 0; k < take; k++) word |= (uint64_t)bytes[depth + k] << (56 - 8 * k);
  return word | (uint64_t)(left > STEP ? STEP + 1 : left);
}

typedef struct Fill {
  const FlPartTexts *texts;
  FlPartPair *items;
  int64_t depth;
} Fill;

static int32_t fill_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Fill *f = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    f->items[i].key = word_at(fl_part_text(f->texts, f->items[i].row), f->depth);
  }
  return 0;
}

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

static FlStatus sort_run(FlPartMem *m, const FlPartTexts *texts, FlPartPair *items, FlPartPair *spare,
                         Run run) {
  int64_t n = run.end - run.begin;
  Fill fill = {texts, items + run.begin, run.depth};
  if (n <= SMALL) {
    (void)fill_body(m->ctx, &fill, 0, n);
    fl_part_sort_small(fill.items, spare + run.begin, n);
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
    status = sort_run(m, texts, items, spare, run);
    for (int64_t i = run.begin; status == 0 && room && i < run.end;) {
      int64_t j = i + 1;
      while (j < run.end && items[j].key == items[i].key) j++;
      if (j - i > 1 && (items[i].key & 0xff) > STEP) room = push(&stack, (Run){i, j, run.depth + STEP});
      i = j;
    }
  }
  free(stack.runs);
  if (!room) return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
  return status;
}
