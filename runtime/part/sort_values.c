/* sort_values.c: the values of one column in order, where nobody asks for the rows that they come from.
 *
 * Comes in: a column of numbers, truths or times without nulls, ascending or descending. Goes out: its values
 * as sort_perm would order them. Always holds: bit for bit what taking the rows of sort_perm gives; of values
 * that are equal and yet differ in bits, zeros of both signs and NaNs, those that come first stay first.
 *
 * Where the processor has the vectors for it, the values themselves are sorted, where the result is, or
 * where they stand if nobody reads them afterwards (value_sides.c). Else, and where some are NaNs or negative
 * zeros, a value is its order code alone (value_codes.c), half of a pair of key and row: few are sorted at
 * once, many by buckets (value_buckets.c). Zeros and NaNs are written once more afterwards, where there are
 * several. What is in order, or falls all the way, is only copied, if that. */
#include "part/sort_values.h"

enum { ONE_BUCKET = 1 << 15 }; /* rows of which the codes, twice, fit in a cache */

/* ---- what is equal and differs ------------------------------------------------------------------------- */

/* How many values of the result are below `code`. */
static int64_t count_below(const FlValues *s, uint64_t code) {
  FlValues sorted = {.from = s->from, .flip = s->flip};
  sorted.from.data = s->out->data;
  int64_t low = 0, high = s->n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    uint64_t found;
    fl_values_codes(&sorted, middle, 1, &found);
    if (found < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Zeros and NaNs as they are, in the order in which they come. */
static void copy_differing(const FlValues *s) {
  static const double nothing = 0;
  uint64_t code;
  FlValues of_zero = {.from = s->from, .flip = s->flip};
  of_zero.from.data = &nothing; /* of a float, too */
  fl_values_codes(&of_zero, 0, 1, &code);
  int64_t zero = count_below(s, code), nan = count_below(s, UINT64_MAX);
  if (s->from.dtype == FL_F64) {
    const double *v = s->from.data;
    double *out = s->out->data;
    for (int64_t i = 0; i < s->n; i++) {
      if (v[i] != v[i]) out[nan++] = v[i];
      else if (v[i] == 0) out[zero++] = v[i];
    }
  } else {
    const float *v = s->from.data;
    float *out = s->out->data;
    for (int64_t i = 0; i < s->n; i++) {
      if (v[i] != v[i]) out[nan++] = v[i];
      else if (v[i] == 0) out[zero++] = v[i];
    }
  }
}

/* ---- all ----------------------------------------------------------------------------------------------- */

/* So few that a cache holds them are one bucket, which nobody has to look for. */
static FlStatus sort_few(FlPartMem *m, const FlValues *s, bool *differ) {
  uint64_t *code = fl_part_near(m, 2 * s->n, sizeof *code);
  if (code == NULL) return 1;
  FlSlices slices = fl_values_slices(m->ctx, s);
  fl_values_codes(s, 0, s->n, code);
  fl_part_sort_near_words(code, code + s->n, s->n);
  fl_values_write(s, &slices, code, s->n, 0);
  fl_slices_end(&slices);
  fl_part_release(m, code);
  *differ = fl_part_differ(&s->from, 0, s->n);
  return 0;
}

static FlStatus sort_all(FlPartMem *m, const FlValues *s) {
  bool differ = false, done = false;
  if (fl_values_by_vectors(m, s, &done) != 0) return 1;
  if (done) return 0;
  FlStatus status = s->n <= ONE_BUCKET ? sort_few(m, s, &differ) : fl_values_by_buckets(m, s, &differ);
  if (status == 0 && differ) copy_differing(s);
  return status;
}

/* ---- what is in order ---------------------------------------------------------------------------------- */

static void turn(const FlValues *s) {
  int64_t n = s->n, last = s->n - 1;
  const void *from = s->from.data;
  void *to = s->out->data;
  switch (fl_dtype_info[s->from.dtype].bytes) {
  case 1:
    for (int64_t i = 0; i < n; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[last - i];
    break;
  case 2:
    for (int64_t i = 0; i < n; i++) ((uint16_t *)to)[i] = ((const uint16_t *)from)[last - i];
    break;
  case 4:
    for (int64_t i = 0; i < n; i++) ((uint32_t *)to)[i] = ((const uint32_t *)from)[last - i];
    break;
  default:
    for (int64_t i = 0; i < n; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[last - i];
  }
}

/* Of values that fall each is less than the one before, so none have to stay in their order. `last`: the
 * column, where nobody reads it afterwards. */
static FlStatus put_in_order(FlPartMem *m, FlValues *s, FlArray *last) {
  int way;
  if (fl_part_in_order(m->ctx, fl_values_codes, s, s->n, &way) != 0) return 1;
  if (way > 0) s->out = fl_array_reuse(last);
  else fl_values_sort_there(m, s, last);
  if (s->out != NULL) return 0;
  s->out = fl_array_new(m->ctx, s->from.dtype, 1, &s->n);
  if (s->out == NULL) return 1;
  if (way == 0) return sort_all(m, s);
  if (way > 0)
    fl_pool_fill(s->pool, s->out->data, s->from.data, s->n * (int64_t)fl_dtype_info[s->from.dtype].bytes);
  else turn(s);
  return 0;
}

/* Some places of the result, by the rows that stand there. */
static FlStatus sorted_share(FlPartMem *m, const FlPartKey *key, const FlOpDesc *desc, const FlSlot *args,
                             FlArray **out) {
  FlPartCodes codes;
  FlSlot taken, from[2] = {{.a = NULL}, args[0]};
  const FlOpDesc take = {.site = desc->site, .n_args = 2, .i = FL_TAKE_PROVEN};
  FlStatus status = fl_part_encode(m, key, 1, 1, true, &codes);
  if (status == 0) status = fl_part_order(m, &codes, &from[0].a);
  if (status == 0) status = fl_rt_take(m->ctx, &take, from, &taken);
  if (status == 0) *out = taken.a;
  fl_array_unref(from[0].a);
  return status;
}

static FlStatus sorted_values(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlPartKey *key;
  if (fl_part_keys(m, desc, args, &key) != 0) return 1;
  if (fl_part_order_told(m, key, desc)) return 0;
  if (fl_ctx_op_part(m->ctx)) return sorted_share(m, key, desc, args, out);
  FlValues s = {.from = key->side[0],
                .pool = fl_part_pool(m),
                .flip = key->descending ? UINT64_MAX : 0,
                .n = key->side[0].n};
  FlStatus status = put_in_order(m, &s, desc->i & FL_SORT_LAST ? args[0].a : NULL);
  *out = s.out;
  return status;
}

FlStatus fl_rt_sort_values(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, sorted_values);
}
