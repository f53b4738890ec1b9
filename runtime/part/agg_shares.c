/* agg_shares.c: aggregates of groups of rows that several have in parts, by one key of whole numbers.
 *
 * Comes in: rows that are here, what all have said of theirs. Goes out: a table of words for each number that
 * a key may be, of which others add theirs, and what the aggregates of some of the numbers are. Always holds:
 * what a group has is an integer, or an order code, which add up to the same in any order, so that the bits
 * are those of all rows at one place; all decide alike. */
#include "part/agg_shares.h"

#include "part/agg_sweep.h"

#include <stdlib.h>

struct FlAggShares {
  FlPartMem mem;
  FlPartKey key;
  FlPartDigit digit;
  FlPartWord word;
  FlPartCodes codes;
  FlSweep *sweep; /* NULL: numbers are far more than rows */
  int64_t all, row, *table;
};

bool fl_agg_shares_key(int32_t dtype) {
  FlKind kind = fl_dtype_info[dtype].kind;
  return kind == FL_KIND_SIGNED || kind == FL_KIND_UNSIGNED || kind == FL_KIND_TIME ||
         kind == FL_KIND_DECIMAL;
}

/* Whether a few rows say that there are more numbers than all rows. */
static bool is_sparse(const FlAggShares *s) {
  enum { SOME = 64 };
  const FlPartCol *col = &s->key.side[0];
  uint64_t least = UINT64_MAX, greatest = 0, code;
  for (int64_t k = 0; k < SOME && col->n > 0; k++) {
    fl_part_read_code(col, fl_part_sampled(col->n * k / SOME, col->n * (k + 1) / SOME, k), 1, &code);
    least = code < least ? code : least;
    greatest = code > greatest ? code : greatest;
  }
  return least < greatest && greatest - least > (uint64_t)s->all;
}

static FlStatus look(FlAggShares *s, const FlOpDesc *desc, const FlSlot *args, FlAggSaid *said) {
  *said = (FlAggSaid){.greatest = UINT64_MAX};
  if (is_sparse(s)) return 0;
  if (fl_part_key_range(&s->mem, &s->key, &said->least, &said->greatest) != 0) return 1;
  bool far = said->least < said->greatest && said->greatest - said->least > (uint64_t)s->all;
  if (far) return 0;
  if ((s->sweep = fl_sweep_new(&s->mem, desc, args, &s->codes, s->all)) == NULL) return 1;
  fl_sweep_most(s->sweep, said->most);
  said->words = fl_sweep_words(s->sweep);
  said->row = fl_dtype_info[s->key.side[0].dtype].bytes + 8 * fl_sweep_columns(s->sweep);
  int64_t wanted = s->all * said->row;
  said->room = fl_pool_room(fl_part_pool(&s->mem), wanted);
  return 0;
}

FlAggShares *fl_agg_shares_new(FlCtx *ctx, const FlOpDesc *desc, FlArray *key, const FlSlot *args,
                               int64_t all, FlAggSaid *said) {
  FlAggShares *s = calloc(1, sizeof *s);
  if (s == NULL) {
    fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
    return NULL;
  }
  s->mem = (FlPartMem){.ctx = ctx, .desc = desc};
  s->all = all;
  s->key.side[0] = (FlPartCol){.dtype = key->dtype, .n = key->dims[0], .data = key->data, .array = key};
  s->digit.key = &s->key;
  s->word.n_digits = 1;
  s->codes = (FlPartCodes){
      .n = key->dims[0], .n_left = key->dims[0], .n_words = 1, .words = &s->word, .digits = &s->digit};
  if (look(s, desc, args, said) == 0) return s;
  fl_agg_shares_free(s);
  return NULL;
}

void fl_agg_shares_free(FlAggShares *s) {
  if (s != NULL) fl_part_mem_reset(&s->mem);
  free(s);
}

int64_t fl_agg_shares_size(const FlAggShares *s) {
  return fl_sweep_words(s->sweep) * (int64_t)sizeof *s->table;
}

int64_t fl_agg_shares_agree(FlAggShares *s, const FlAggSaid *said, int32_t n) {
  FlAggSaid all = said[0];
  for (int32_t k = 0; k < n; k++) {
    const FlAggSaid *its = &said[k];
    if (its->words == 0 || its->words != all.words) return 0;
    all.least = its->least < all.least ? its->least : all.least;
    all.greatest = its->greatest > all.greatest ? its->greatest : all.greatest;
    all.room = fl_part_min(its->room, all.room);
    all.row = fl_part_max(its->row, all.row);
    for (int p = 0; p < FL_PART_SWEEP; p++)
      all.most[p] = its->most[p] > all.most[p] ? its->most[p] : all.most[p];
  }
  /* No more is sent, and looked up, than rows are. */
  int64_t most = fl_part_min(s->all / n * all.row, all.room / 2) / (all.words * (int64_t)sizeof *s->table);
  if (all.least > all.greatest || all.greatest - all.least >= (uint64_t)most) return 0;
  s->row = all.row;
  s->digit.least = all.least;
  s->digit.greatest = all.greatest;
  s->word.max = all.greatest - all.least;
  s->word.bits = fl_part_bits(s->word.max);
  return fl_sweep_agree(s->sweep, all.most) ? (int64_t)s->word.max + 1 : 0;
}

FlStatus fl_agg_shares_run(FlAggShares *s, char **table, bool *whole) {
  int64_t places = (int64_t)s->word.max + 1, rows = s->codes.n * s->row;
  int64_t pieces = fl_part_min(fl_ctx_workers(s->mem.ctx), rows / (places * fl_agg_shares_size(s)));
  if (fl_sweep_run(s->sweep, places, fl_part_max(pieces, 1), &s->table, whole) != 0) return 1;
  *table = (char *)s->table;
  return 0;
}

FlStatus fl_agg_shares_add(FlAggShares *s, int64_t from, int64_t to, const char *theirs) {
  return fl_sweep_add(s->sweep, from, to, (const int64_t *)(const void *)theirs);
}

FlArray *fl_agg_shares_give(FlAggShares *s, int64_t from, int64_t to, FlSlot *results) {
  FlDtype d = (FlDtype)s->key.side[0].dtype;
  int64_t words = fl_sweep_words(s->sweep), g = 0, size = fl_dtype_info[d].bytes;
  for (int64_t k = from; k < to; k++) g += s->table[k * words] > 0;
  FlArray *keys = fl_array_new(s->mem.ctx, d, 1, &g);
  if (keys == NULL) return NULL;
  uint64_t sign = fl_dtype_info[d].kind == FL_KIND_UNSIGNED ? 0 : UINT64_C(1) << 63;
  char *out = keys->data;
  int64_t *to_place = s->table + from * words;
  for (int64_t k = from; k < to; k++) { /* the low bytes of a number are the value */
    const int64_t *place = s->table + k * words;
    if (place[0] == 0) continue;
    uint64_t value = (s->digit.least + (uint64_t)k) ^ sign;
    memcpy(out, &value, (size_t)size);
    memmove(to_place, place, (size_t)words * sizeof *place);
    out += size;
    to_place += words;
  }
  if (fl_sweep_store(s->sweep, from, g, results) == 0) return keys;
  fl_array_unref(keys);
  return NULL;
}
