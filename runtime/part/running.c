/* running.c: what runs along the rows of each group: sums, products, minima, maxima and counts so far.
 *
 * Comes in: the group of each row, a column. Goes out: for each row what its group's rows up to it give.
 * Nulls are passed over, and have zero. Also which row of the group was the last where something held. Always
 * holds: what part.h says of each; the order of work decides nothing.
 *
 * Rows are cut in pieces, each with a state for every group. A first walk gives the state after each piece
 * alone; joined from left to right they are the states before each piece, and a second walk writes; one
 * worker goes through all once, where cuts cannot be seen. A state of zero bytes is that of no rows. */
#include "part/running_internal.h"
#include "data/text_order.h"

/* ---- whole numbers: 128 bits -------------------------------------------------------------------------- */

static void int_sum_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  __int128 *sums = states;
  int64_t x[FL_PART_BATCH], *out = write ? (int64_t *)r->out->data : NULL;
  bool is_unsigned = r->col.dtype == FL_U64, to_unsigned = write && r->out->dtype == FL_U64;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_i64(&r->col, row, count, x);
    for (int64_t i = 0; i < count; i++) {
      __int128 *sum = &sums[r->id != NULL ? r->id[row + i] : 0];
      *sum += is_unsigned ? (__int128)(uint64_t)x[i] : (__int128)x[i];
      if (!write) continue;
      bool fits = to_unsigned ? *sum == (__int128)(uint64_t)*sum : *sum == (__int128)(int64_t)*sum;
      if (!fits) fl_part_first(r->overflow, row + i);
      out[row + i] = fl_part_valid(r->col.valid, row + i) ? (int64_t)*sum : 0;
    }
  }
}

static void int_sum_join(void *prefix, const void *next) { *(__int128 *)prefix += *(const __int128 *)next; }

typedef struct IntProduct {
  __int128 v;         /* alone, a piece may pass what fits: what is before it may be 0 or -1 */
  bool started, over; /* over: it is beyond 2^64 whatever is before it, unless that is 0 */
} IntProduct;

static void int_product_step(IntProduct *p, __int128 x) {
  if (!p->started) {
    p->v = x;
    p->started = true;
  } else if (x == 0) {
    p->v = 0;
  } else if (!p->over) {
    __int128 most = (__int128)1 << 64;
    p->over = __builtin_mul_overflow(p->v, x, &p->v) || p->v > most || p->v < -most;
  }
}

static void int_product_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  IntProduct *products = states;
  int64_t x[FL_PART_BATCH], *out = write ? (int64_t *)r->out->data : NULL;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_i64(&r->col, row, count, x);
    for (int64_t i = 0; i < count; i++) {
      bool valid = fl_part_valid(r->col.valid, row + i);
      IntProduct *p = &products[r->id != NULL ? r->id[row + i] : 0];
      if (valid) int_product_step(p, r->to_unsigned ? (__int128)(uint64_t)x[i] : (__int128)x[i]);
      if (!write) continue;
      bool fits = r->to_unsigned ? p->v == (__int128)(uint64_t)p->v : p->v == (__int128)(int64_t)p->v;
      if (valid && (p->over || !fits)) fl_part_first(r->overflow, row + i);
      out[row + i] = valid ? (int64_t)p->v : 0;
    }
  }
}

static void int_product_join(void *prefix, const void *next) {
  IntProduct *p = prefix;
  const IntProduct *q = next;
  if (!q->started) return;
  if (q->over && !(p->started && p->v == 0)) *p = *q;
  else int_product_step(p, q->v);
}

/* ---- products of floats: twice the bits, and an exponent of their own ---------------------------------- */

/* (high + low) * 2^exponent; high is in [1, 2) but for its sign, or 0, an infinity or NaN. */
typedef struct FloatProduct {
  double high, low;
  int64_t exponent;
  bool started;
} FloatProduct;

static inline void float_product_step(FloatProduct *p, double x, double x_low, int64_t x_exponent) {
  if (!p->started) {
    *p = (FloatProduct){x, x_low, x_exponent, true};
    return;
  }
  double high = p->high * x;
  if (high == 0.0 || !(fabs(high) < INFINITY)) {
    *p = (FloatProduct){high, 0.0, 0, true};
    return;
  }
  double low = fma(p->high, x, -high) + (p->low * x + p->high * x_low);
  double sum = high + low;
  low = low - (sum - high);
  p->exponent += x_exponent;
  if (fabs(sum) >= 2.0) {
    sum *= 0.5;
    low *= 0.5;
    p->exponent++;
  }
  p->high = sum;
  p->low = low;
}

static inline double mantissa_of(double x, int64_t *exponent) {
  int field = fl_fixed_exponent(x), e = 0;
  *exponent = 0;
  if (field == 0x7ff || x == 0.0) return x;
  double m = frexp(x, &e);
  *exponent = e - 1;
  return m * 2.0;
}

static inline double float_product_value(const FloatProduct *p) {
  int64_t e = fl_part_max(-1200, fl_part_min(p->exponent, 1200));
  return p->high != p->high ? NAN : ldexp(p->high, (int)e);
}

static void float_product_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  FloatProduct *products = states;
  double x[FL_PART_BATCH], *out = write ? (double *)r->out->data : NULL;
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    fl_part_read_f64(&r->col, row, count, x);
    for (int64_t i = 0; i < count; i++) {
      bool valid = fl_part_valid(r->col.valid, row + i);
      FloatProduct *p = &products[r->id != NULL ? r->id[row + i] : 0];
      int64_t e;
      double mantissa = mantissa_of(x[i], &e);
      if (valid) float_product_step(p, mantissa, 0.0, e);
      if (write) out[row + i] = valid ? float_product_value(p) : 0.0;
    }
  }
}

static void float_product_join(void *prefix, const void *next) {
  const FloatProduct *q = next;
  if (q->started) float_product_step(prefix, q->high, q->low, q->exponent);
}

/* ---- minima and maxima: the row that has it ------------------------------------------------------------ */

typedef struct Best {
  uint64_t code; /* the lower wins */
  int64_t row;   /* from 1; 0: none */
} Best;

static void read_codes(const FlRunning *r, int64_t row, int64_t n, uint64_t *code) {
  fl_part_read_code(&r->col, row, n, code);
  if (r->greatest) { /* NaN has the highest code */
    for (int64_t i = 0; i < n; i++) code[i] = ~code[i];
  } else if (fl_dtype_is_float(r->col.dtype)) {
    for (int64_t i = 0; i < n; i++) code[i]++; /* NaN becomes 0; no number has the highest code */
  }
}

#define COPY(T)                                                                                              \
  {                                                                                                          \
    const T *from = (const T *)r->col.data;                                                                  \
    T *to = (T *)r->out->data + row;                                                                         \
    for (int64_t i = 0; i < n; i++) to[i] = best[i] == 0 ? (T){0} : from[best[i] - 1];                       \
    break;                                                                                                   \
  }

static void write_rows(const FlRunning *r, int64_t row, int64_t n, const int64_t *best) {
  switch (fl_dtype_info[r->col.dtype].bytes) {
  case 1: COPY(uint8_t)
  case 2: COPY(uint16_t)
  case 4: COPY(uint32_t)
  case 8: COPY(uint64_t)
  default: COPY(FlText)
  }
}

static bool text_wins(const FlRunning *r, int64_t row, int64_t other) {
  FlText a = ((const FlText *)r->col.data)[row], b = ((const FlText *)r->col.data)[other];
  int order = fl_text_order(a, b);
  return r->greatest ? order > 0 : order < 0;
}

static void best_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  Best *bests = states;
  bool text = r->col.dtype == FL_TEXT;
  uint64_t code[FL_PART_BATCH] = {0};
  int64_t picked[FL_PART_BATCH];
  for (int64_t row = begin; row < end; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, end - row);
    if (!text) read_codes(r, row, count, code);
    for (int64_t i = 0; i < count; i++) {
      bool valid = fl_part_valid(r->col.valid, row + i);
      Best *best = &bests[r->id != NULL ? r->id[row + i] : 0];
      bool wins = best->row == 0 || (text ? text_wins(r, row + i, best->row - 1) : code[i] < best->code);
      if (valid && wins) *best = (Best){code[i], row + i + 1};
      picked[i] = valid ? best->row : 0;
    }
    if (write) write_rows(r, row, count, picked);
  }
}

static void best_join(void *prefix, const void *next) {
  Best *p = prefix;
  const Best *q = next;
  if (q->row != 0 && (p->row == 0 || q->code < p->code)) *p = *q;
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static void count_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  int64_t *counts = states, *out = write ? (int64_t *)r->out->data : NULL;
  for (int64_t i = begin; i < end; i++) {
    int64_t *count = &counts[r->id != NULL ? r->id[i] : 0];
    if (write) out[i] = *count;
    ++*count;
  }
}

static void count_join(void *prefix, const void *next) { *(int64_t *)prefix += *(const int64_t *)next; }

/* ---- the row that is held ------------------------------------------------------------------------------ */

enum { EIGHT = 8 };

/* States: that row, from 1; 0: there is none. */
static void held_walk(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write) {
  const uint8_t *is = (const uint8_t *)r->col.data;
  int64_t *held = states, *out = write ? (int64_t *)r->out->data : NULL;
  if (r->id != NULL) {
    for (int64_t i = begin; i < end; i++) {
      int64_t *last = &held[r->id[i]];
      *last = is[i] ? i + 1 : *last;
      if (write) out[i] = *last - 1;
    }
    return;
  }
  for (int64_t i = end; !write && *held == 0 && i > begin; i--) *held = is[i - 1] ? i : 0;
  int64_t last = *held - 1;
  for (int64_t i = begin; write && i < end;) {
    int64_t stop = fl_part_min(i + EIGHT, end);
    uint64_t some = 1;
    if (stop == i + EIGHT) memcpy(&some, is + i, sizeof some);
    if (some == 0) { /* nothing waits for what was before */
      for (; i < stop; i++) out[i] = last;
    } else {
      for (; i < stop; i++) out[i] = last = is[i] ? i : last;
    }
  }
}

static void held_join(void *prefix, const void *next) {
  const int64_t *last = next;
  if (*last != 0) *(int64_t *)prefix = *last;
}

/* ---- the two walks ------------------------------------------------------------------------------------- */

static char *states_of(const FlRunning *r, int64_t piece) {
  return r->states + (size_t)(piece * r->g) * r->way->size;
}

static int32_t walk_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlRunning *r = env;
  (void)ctx;
  for (int64_t p = begin; p < end; p++)
    r->way->walk(r, states_of(r, p), p * r->piece, fl_part_min((p + 1) * r->piece, r->n), r->writing);
  return 0;
}

/* The states before each piece from those of the pieces alone: texts are compared by row, so by group and
 * with the column at hand. */
static int32_t join_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlRunning *r = env;
  bool text = r->col.dtype == FL_TEXT;
  size_t size = r->way->size;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) {
    _Alignas(16) char prefix[FL_RUNNING_STATE] = {0}, alone[FL_RUNNING_STATE];
    for (int64_t p = 0; p < r->pieces; p++) {
      char *state = states_of(r, p) + (size_t)k * size;
      memcpy(alone, state, size);
      memcpy(state, prefix, size);
      if (text) {
        Best *a = (Best *)(void *)prefix, *b = (Best *)(void *)alone;
        if (b->row != 0 && (a->row == 0 || text_wins(r, b->row - 1, a->row - 1))) *a = *b;
      } else {
        r->way->join(prefix, alone);
      }
    }
  }
  return 0;
}

static int32_t turn_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const FlRunning *r = env;
  (void)ctx;
  if (begin < end)
    r->way->walk(r, r->states, r->turn * r->piece, fl_part_min((r->turn + 1) * r->piece, r->n), true);
  return 0;
}

/* By one worker the pieces follow each other, and what is before each is there. */
static FlStatus walk_in_turn(FlRunning *r) {
  r->states = fl_part_zalloc(r->m, r->g, r->way->size);
  if (r->states == NULL) return 1;
  for (r->turn = 0; r->turn < r->pieces; r->turn++)
    if (fl_part_for(r->m->ctx, turn_body, r, 1, 4.0 * (double)r->piece) != 0) return 1;
  return 0;
}

FlStatus fl_running_walk(FlRunning *r) {
  FlCtx *ctx = r->m->ctx;
  r->pieces = fl_window_pieces(r->n, r->g);
  r->piece = (r->n + r->pieces - 1) / r->pieces;
  if (r->way->exact && fl_ctx_workers(ctx) == 1) return walk_in_turn(r);
  r->states = fl_part_zalloc(r->m, r->pieces * r->g, r->way->size);
  if (r->states == NULL) return 1;
  double cost = 4.0 * (double)r->piece;
  r->writing = false;
  if (r->pieces > 1) {
    if (fl_part_for(ctx, walk_body, r, r->pieces - 1, cost) != 0) return 1;
    if (fl_part_for(ctx, join_body, r, r->g, 10.0 * (double)r->pieces) != 0) return 1;
  }
  r->writing = true;
  return fl_part_for(ctx, walk_body, r, r->pieces, cost);
}

static const FlRunningWay int_sum = {int_sum_walk, int_sum_join, sizeof(__int128), true},
                          int_product = {int_product_walk, int_product_join, sizeof(IntProduct), false},
                          float_product = {float_product_walk, float_product_join, sizeof(FloatProduct),
                                           false},
                          best = {best_walk, best_join, sizeof(Best), false},
                          count = {count_walk, count_join, sizeof(int64_t), true},
                          held = {held_walk, held_join, sizeof(int64_t), false};

static FlStatus fail_overflow(FlRunning *r, int64_t row) {
  FlStatus status =
      fl_fail_op(r->m->ctx, r->desc, FL_FAULT_OVERFLOW, "integer overflow: the running %s does not fit %s",
                 r->desc->s, fl_dtype_info[r->out->dtype].name);
  fl_fail_position(r->m->ctx, 1, &row);
  return status;
}

static FlStatus running(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlRunning call = {.m = m, .desc = desc}, *r = &call;
  FlCtx *ctx = m->ctx;
  _Atomic int64_t overflow = INT64_MAX;
  int32_t at = 2;
  bool one = desc->i == 1;
  r->g = one ? 1 : args[0].i;
  r->id = one ? NULL : args[1].a->data;
  r->n = args[1].a->dims[0];
  r->overflow = &overflow;
  if (desc->n_columns > 0 && fl_part_col(ctx, desc, args, &at, &desc->columns[0], &r->col) != 0) return 1;
  if (desc->n_columns > 0 && r->col.n != r->n) return fl_part_fail_shape(ctx, desc, r->n, r->col.n);
  *out = r->out = fl_array_new(ctx, desc->result_types[0].dtype, 1, &r->n);
  if (r->out == NULL) return 1;
  r->to_unsigned = r->out->dtype == FL_U64;
  bool floats = r->out->dtype == FL_F64;
  if (r->n == 0) return 0;
  if (strcmp(desc->s, "sum") == 0) {
    if (floats) return fl_running_float_sum(r);
    r->way = &int_sum;
  } else if (strcmp(desc->s, "product") == 0) {
    r->way = floats ? &float_product : &int_product;
  } else if (strcmp(desc->s, "min") == 0 || strcmp(desc->s, "max") == 0) {
    r->way = &best;
    r->greatest = strcmp(desc->s, "max") == 0;
    if (r->col.dtype == FL_TEXT && fl_array_keep(ctx, r->out, NULL, &r->col.array, 1) != 0) return 1;
  } else if (strcmp(desc->s, "count") == 0) {
    r->way = &count;
  } else if (strcmp(desc->s, "held") == 0) {
    r->way = &held;
  } else {
    return fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "nothing called %s runs along rows", desc->s);
  }
  if (fl_running_walk(r) != 0) return 1;
  int64_t row = atomic_load(&overflow);
  return row == INT64_MAX ? 0 : fail_overflow(r, row);
}

FlStatus fl_rt_running(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, running);
}
