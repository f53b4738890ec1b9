/* sort_values.c: the values of one column in order, where nobody asks for the rows that they come from.
 *
 * Comes in: a column of numbers, truths or times without nulls, ascending or descending. Goes out: its values
 * as sort_perm would order them. Always holds: bit for bit what taking the rows of sort_perm gives; of values
 * that are equal and yet differ in bits, zeros of both signs and NaNs, those that come first stay first.
 *
 * Where the processor has the vectors for it, one worker sorts the values themselves, where the result is
 * (sort_vectors.cc). Else a value is its order code alone (value_codes.c), half of a pair of key and row: few
 * are sorted at once, many by buckets (value_buckets.c). Zeros and NaNs are written once more afterwards,
 * where there are several. What is in order, or falls all the way, is only copied. */
#include <math.h>

#include "part/sort_values.h"
#include "part/sort_vectors.h"

enum {
  AT_ONCE = 1 << 12,    /* values that are copied at once */
  ONE_WORKER = 1 << 16, /* values that one of several workers sorts alone */
  ONE_BUCKET = 1 << 15  /* rows of which the codes, twice, fit in a cache */
};

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

/* ---- in memory ----------------------------------------------------------------------------------------- */

/* As vectors sort them; false: there are none for them. */
static bool lane_of(FlDtype dtype, FlLane *lane) {
  FlKind kind = fl_dtype_info[dtype].kind;
  bool is_signed = kind == FL_KIND_SIGNED || kind == FL_KIND_TIME || kind == FL_KIND_DECIMAL;
  switch (fl_dtype_info[dtype].bytes) {
  case 2: *lane = is_signed ? FL_LANE_I16 : FL_LANE_U16; return true;
  case 4: *lane = kind == FL_KIND_FLOAT ? FL_LANE_F32 : is_signed ? FL_LANE_I32 : FL_LANE_U32; return true;
  case 8: *lane = kind == FL_KIND_FLOAT ? FL_LANE_F64 : is_signed ? FL_LANE_I64 : FL_LANE_U64; return true;
  default: return false;
  }
}

/* The bits that turn the order of values over: all, of floats the sign; for a word of values. */
static uint64_t turning(const FlValues *s) {
  if (s->flip == 0) return 0;
  if (s->from.dtype == FL_F64) return UINT64_C(1) << 63;
  return s->from.dtype == FL_F32 ? UINT64_C(1) << 63 | UINT64_C(1) << 31 : UINT64_MAX;
}

/* Copies the values, with these bits of them turned over. */
FL_PART_WIDE static void copy_turned(void *to, const void *from, int64_t bytes, uint64_t mask) {
  uint64_t word;
  int64_t at = 0;
  for (; at + (int64_t)sizeof word <= bytes; at += (int64_t)sizeof word) {
    memcpy(&word, (const char *)from + at, sizeof word);
    word ^= mask;
    memcpy((char *)to + at, &word, sizeof word);
  }
  for (; at < bytes; at++)
    ((char *)to)[at] = (char)(((const char *)from)[at] ^ (char)(mask >> 8 * (at % (int64_t)sizeof word)));
}

/* Puts NaNs behind all others; how many are none. */
static int64_t put_nans_last(const FlValues *s) {
  int64_t n = 0;
  if (s->from.dtype == FL_F64) {
    double *v = s->out->data;
    for (int64_t i = 0; i < s->n; i++)
      if (v[i] == v[i]) v[n++] = v[i];
    for (int64_t i = n; i < s->n; i++) v[i] = NAN;
  } else {
    float *v = s->out->data;
    for (int64_t i = 0; i < s->n; i++)
      if (v[i] == v[i]) v[n++] = v[i];
    for (int64_t i = n; i < s->n; i++) v[i] = NAN;
  }
  return n;
}

/* Where the result is, as the values that they are. */
static void sort_by_vectors(const FlValues *s, FlLane lane, bool *differ) {
  int64_t size = (int64_t)fl_dtype_info[s->from.dtype].bytes, n = s->n;
  uint64_t mask = turning(s);
  *differ = false;
  for (int64_t at = 0, some; at < s->n; at += some) {
    some = fl_part_min(AT_ONCE, s->n - at);
    copy_turned((char *)s->out->data + at * size, (const char *)s->from.data + at * size, some * size, mask);
    *differ |= fl_part_differ(&s->from, at, some);
  }
  if (*differ) n = put_nans_last(s);
  fl_vectors_sort(lane, s->out->data, (size_t)n);
  if (mask != 0) copy_turned(s->out->data, s->out->data, n * size, mask);
}

/* So few that a cache holds them are one bucket, which nobody has to look for. */
static FlStatus sort_few(FlPartMem *m, const FlValues *s, bool *differ) {
  uint64_t *code = fl_part_near(m, 2 * s->n, sizeof *code);
  if (code == NULL) return 1;
  FlSlices slices = fl_values_slices(m->ctx, s);
  fl_values_codes(s, 0, s->n, code);
  fl_values_sort_codes(code, code + s->n, s->n);
  fl_values_write(s, &slices, code, s->n, 0);
  fl_slices_end(&slices);
  fl_part_release(m, code);
  *differ = fl_part_differ(&s->from, 0, s->n);
  return 0;
}

static FlStatus sort_all(FlPartMem *m, const FlValues *s) {
  FlLane lane;
  bool differ;
  FlStatus status = 0;
  bool few = s->n <= (fl_ctx_workers(m->ctx) > 1 ? ONE_WORKER : INT64_MAX);
  if (few && fl_cpu_level() >= 4 && lane_of(s->from.dtype, &lane) && !fl_buffer_in_file(s->out->buffer))
    sort_by_vectors(s, lane, &differ);
  else if (s->n <= ONE_BUCKET) status = sort_few(m, s, &differ);
  else status = fl_values_by_buckets(m, s, &differ);
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

/* Of values that fall each is less than the one before, so none have to stay in their order. */
static FlStatus put_in_order(FlPartMem *m, FlValues *s) {
  int way;
  if (fl_part_in_order(m->ctx, fl_values_codes, s, s->n, &way) != 0) return 1;
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
  *out = s.out = fl_array_new(m->ctx, s.from.dtype, 1, &s.n);
  if (s.out == NULL) return 1;
  FlStatus status = s.n > 0 ? put_in_order(m, &s) : 0;
  return status;
}

FlStatus fl_rt_sort_values(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, sorted_values);
}
