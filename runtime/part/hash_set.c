/* hash_set.c: the distinct values of a column, found by all workers in one table.
 *
 * Comes in: words, or texts. Goes out: an entry number for each row, and for each entry its word (or hash)
 * and its least row. Always holds: rows have the same entry exactly when their values are equal; which number
 * an entry has depends on the schedule, so callers order entries by value before anything shows.
 *
 * The table has open addresses. A slot is 0 or holds 16 bits of the hash and an entry number + 1; it changes
 * once, from 0, by a compare-and-swap that releases the entry written before it; probes acquire it. Two
 * workers that meet at one slot with the same new value: the loser sees the winner's entry and keeps its own
 * unused entry for the next new value; what is left over is given up with first = -1. Rows go in batches of
 * at most half the free places, so the table never fills; between batches it may grow. Texts hash by XXH3
 * (github.com/Cyan4973/xxHash). */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "part/part_internal.h"
#include "data/text_order.h"

enum { GRAIN = 4096, TAG_SHIFT = 48, FIRST_BITS = 10, FIRST_BITS_MAX = 20 };
enum { FAR_BITS = 15 }; /* a table with so many slots, and what it points to, is far away */

typedef struct Set {
  int64_t n;
  const uint64_t *word; /* NULL: texts */
  const FlPartTexts *texts;
  const uint8_t *const *valid; /* texts: validity of each side */
  int64_t *id;
  int64_t start, stop; /* rows of this batch */
  int bits;            /* the table has 2^bits slots */
  bool alone;          /* one worker fills it, and waits for nobody */
  _Atomic uint64_t *slots;
  FlPartEntry *entries;
  _Atomic int64_t n_entries;
} Set;

/* An entry that nobody has. */
static inline int64_t take_entry(Set *s, bool alone) {
  if (!alone) return atomic_fetch_add_explicit(&s->n_entries, 1, memory_order_relaxed);
  int64_t n = atomic_load_explicit(&s->n_entries, memory_order_relaxed);
  atomic_store_explicit(&s->n_entries, n + 1, memory_order_relaxed);
  return n;
}

/* Fills a slot that was seen to be empty; false: another worker has, *seen is what is there. */
static inline bool fill_slot(_Atomic uint64_t *slot, uint64_t wanted, uint64_t *seen, bool alone) {
  if (!alone)
    return atomic_compare_exchange_strong_explicit(slot, seen, wanted, memory_order_acq_rel,
                                                   memory_order_acquire);
  atomic_store_explicit(slot, wanted, memory_order_relaxed);
  return true;
}

static inline void lower_first(FlPartEntry *e, int64_t row) {
  int64_t seen = atomic_load_explicit(&e->first, memory_order_relaxed);
  while (row < seen && !atomic_compare_exchange_weak_explicit(&e->first, &seen, row, memory_order_relaxed,
                                                              memory_order_relaxed)) {}
}

/* The entry of `row`; *spare is an unused entry of this task or -1. */
static inline int64_t find_or_add(Set *s, uint64_t code, uint64_t hash, int64_t row, int64_t *spare,
                                  bool alone) {
  uint64_t mask = (UINT64_C(1) << s->bits) - 1, tag = hash >> TAG_SHIFT << TAG_SHIFT;
  for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
    uint64_t slot = atomic_load_explicit(&s->slots[at], memory_order_acquire);
    if (slot == 0) {
      if (*spare < 0) *spare = take_entry(s, alone);
      FlPartEntry *mine = &s->entries[*spare];
      mine->code = code;
      atomic_store_explicit(&mine->first, row, memory_order_relaxed);
      uint64_t wanted = tag | (uint64_t)(*spare + 1);
      if (fill_slot(&s->slots[at], wanted, &slot, alone)) {
        int64_t id = *spare;
        *spare = -1;
        return id;
      }
    }
    if ((slot ^ tag) >> TAG_SHIFT != 0) continue;
    int64_t id = (int64_t)(slot & ((UINT64_C(1) << TAG_SHIFT) - 1)) - 1;
    FlPartEntry *e = &s->entries[id];
    if (e->code != code) continue;
    if (s->word == NULL) {
      int64_t other = atomic_load_explicit(&e->first, memory_order_relaxed);
      if (!fl_text_same(fl_part_text(s->texts, row), fl_part_text(s->texts, other))) continue;
    }
    lower_first(e, row);
    return id;
  }
}

static inline bool has_text(const Set *s, int64_t row) {
  int side = row >= s->texts->n0;
  return fl_part_valid(s->valid[side], side ? row - s->texts->n0 : row);
}

/* Asks for what a batch of texts will be compared with, step by step, so that they come side by side: the
 * entry in each one's first slot, the text of the entry's row, its bytes. Only a guess: what the slots hold
 * may change meanwhile, and the text may stand further on. */
static void ask_ahead(const Set *s, const uint64_t *code, int64_t count) {
  const FlPartEntry *entry[FL_PART_BATCH];
  const FlText *text[FL_PART_BATCH];
  const uint64_t mask = (UINT64_C(1) << s->bits) - 1, number = (UINT64_C(1) << TAG_SHIFT) - 1;
  for (int64_t i = 0; i < count; i++) {
    uint64_t slot = atomic_load_explicit(&s->slots[code[i] & mask], memory_order_acquire);
    bool same = slot != 0 && (slot ^ code[i]) >> TAG_SHIFT == 0;
    entry[i] = same ? &s->entries[(int64_t)(slot & number) - 1] : NULL;
    if (same) __builtin_prefetch((const void *)entry[i]);
  }
  for (int64_t i = 0; i < count; i++) {
    text[i] = NULL;
    if (entry[i] == NULL || entry[i]->code != code[i]) continue;
    int64_t row = atomic_load_explicit(&entry[i]->first, memory_order_relaxed);
    text[i] = row < s->texts->n0 ? &s->texts->side[0][row] : &s->texts->side[1][row - s->texts->n0];
    __builtin_prefetch(text[i]);
  }
  for (int64_t i = 0; i < count; i++) {
    if (text[i] == NULL) continue;
    __builtin_prefetch(text[i]->ptr);
    if (text[i]->len > FL_ALIGN) __builtin_prefetch(text[i]->ptr + FL_ALIGN);
  }
}

static inline void find_batch(Set *s, const uint64_t *code, const uint64_t *hash, int64_t row, int64_t count,
                              int64_t *spare, bool alone) {
  for (int64_t i = 0; i < count; i++) {
    bool wanted = s->word != NULL || has_text(s, row + i);
    s->id[row + i] = wanted ? find_or_add(s, code[i], hash[i], row + i, spare, alone) : -1;
  }
}

static int32_t batch_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Set *s = (Set *)(uintptr_t)env;
  uint64_t code[FL_PART_BATCH], hash[FL_PART_BATCH], mask = (UINT64_C(1) << s->bits) - 1;
  int64_t spare = -1;
  int64_t last = fl_part_min(s->start + end * GRAIN, s->stop);
  (void)ctx;
  for (int64_t row = s->start + begin * GRAIN; row < last; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, last - row);
    for (int64_t i = 0; i < count; i++) {
      if (s->word != NULL) {
        code[i] = s->word[row + i];
        hash[i] = fl_part_mix(code[i]);
      } else {
        FlText t = fl_part_text(s->texts, row + i);
        code[i] = hash[i] = XXH3_64bits(t.ptr, (size_t)t.len);
      }
      __builtin_prefetch((const void *)&s->slots[hash[i] & mask]);
    }
    if (s->word == NULL && s->bits >= FAR_BITS) ask_ahead(s, code, count);
    if (s->alone) find_batch(s, code, hash, row, count, &spare, true);
    else find_batch(s, code, hash, row, count, &spare, false);
  }
  if (spare >= 0) atomic_store_explicit(&s->entries[spare].first, -1, memory_order_relaxed);
  return 0;
}

static int32_t rehash_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Set *s = (Set *)(uintptr_t)env;
  uint64_t mask = (UINT64_C(1) << s->bits) - 1;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    const FlPartEntry *e = &s->entries[k];
    if (atomic_load_explicit(&e->first, memory_order_relaxed) < 0) continue;
    uint64_t hash = s->word != NULL ? fl_part_mix(e->code) : e->code, at = hash & mask;
    uint64_t wanted = hash >> TAG_SHIFT << TAG_SHIFT | (uint64_t)(k + 1), empty = 0;
    while (!atomic_compare_exchange_strong_explicit(&s->slots[at], &empty, wanted, memory_order_relaxed,
                                                    memory_order_relaxed)) {
      empty = 0;
      at = (at + 1) & mask;
    }
  }
  return 0;
}

/* A table of 2^bits slots holding the entries so far. Half the slots may be used; each task may give up one
 * entry. */
static FlStatus resize(FlPartMem *m, Set *s, int bits) {
  int64_t slots = INT64_C(1) << bits, count = atomic_load(&s->n_entries);
  int64_t room = slots / 2 + slots / 2 / GRAIN + 64;
  FlPartEntry *entries = fl_part_alloc(m, room, sizeof *entries);
  if (s->slots != NULL) fl_part_release(m, (const void *)s->slots);
  s->slots = fl_part_zalloc(m, slots, sizeof *s->slots);
  if (entries == NULL || s->slots == NULL) return 1;
  if (count > 0) memcpy((void *)entries, (const void *)s->entries, (size_t)count * sizeof *entries);
  if (s->entries != NULL) fl_part_release(m, s->entries);
  s->entries = entries;
  s->bits = bits;
  return fl_part_for(m->ctx, rehash_body, s, count, 10.0);
}

static FlStatus run(FlPartMem *m, Set *s, FlPartEntry **entries, int64_t *n_entries) {
  /* Words may be few; texts of one column that has no codes are mostly different (dictionary.c). */
  bool many = s->word == NULL && s->texts->side[1] == NULL;
  int bits = fl_part_bits((uint64_t)(many ? 2 * s->n : s->n / 8));
  bits = bits < FIRST_BITS ? FIRST_BITS : bits > FIRST_BITS_MAX ? FIRST_BITS_MAX : bits;
  s->alone = fl_ctx_workers(m->ctx) == 1;
  if (resize(m, s, bits) != 0) return 1;
  while (s->stop < s->n) {
    int64_t slots = INT64_C(1) << s->bits, count = atomic_load(&s->n_entries);
    if (count > slots / 4) {
      if (resize(m, s, s->bits + 2) != 0) return 1;
      slots = INT64_C(1) << s->bits;
    }
    s->start = s->stop;
    s->stop = fl_part_min(s->n, s->start + fl_part_max(slots / 2 - count, slots / 4));
    int64_t pieces = (s->stop - s->start + GRAIN - 1) / GRAIN;
    if (fl_part_for(m->ctx, batch_body, s, pieces, 15.0 * GRAIN) != 0) return 1;
  }
  fl_part_release(m, (const void *)s->slots);
  *entries = s->entries;
  *n_entries = atomic_load(&s->n_entries);
  return 0;
}

FlStatus fl_part_hash_words(FlPartMem *m, const uint64_t *word, int64_t n, int64_t *id, FlPartEntry **entries,
                            int64_t *n_entries) {
  Set s = {.n = n, .word = word, .id = id};
  return run(m, &s, entries, n_entries);
}

FlStatus fl_part_hash_texts(FlPartMem *m, const FlPartTexts *texts, const uint8_t *const valid[2], int64_t n,
                            int64_t *id, FlPartEntry **entries, int64_t *n_entries) {
  Set s = {.n = n, .texts = texts, .valid = valid, .id = id};
  return run(m, &s, entries, n_entries);
}
