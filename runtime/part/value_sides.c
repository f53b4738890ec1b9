/* value_sides.c: the values of one column in order, as they are, by vectors.
 *
 * Comes in: a column in no order. Goes out: its values in order; or word that it must be done otherwise: the
 * processor has no such vectors, the result lives in a file, or some value is a NaN or a negative zero, of
 * which vectors do not tell which is which. Always holds: workers and sides cannot be seen in the result.
 *
 * One worker copies the values to the result and sorts them there, or where they are. Several cut them into
 * as many sides by a sample: a first sweep counts the values of each side in each chunk, a second one writes
 * them where their side stands in the result, where each is sorted. Where the order is descending, bits of
 * the values are turned over that turn their order over, and back again afterwards. */
#include "part/sort_values.h"
#include "part/sort_vectors.h"

enum {
  AT_ONCE = 1 << 11,    /* values that are copied at once */
  ONE_WORKER = 1 << 16, /* values that one of several workers sorts alone */
  CHUNK = 1 << 18,
  MOST_SIDES = 16,
  SAMPLED = 1 << 7, /* values a side */
  WIDEST = 8        /* bytes of a value */
};

typedef struct Sides {
  const FlValues *of;
  FlLane lane;
  uint64_t mask; /* the bits that are turned over, of a word of values */
  int64_t size;
  int n_sides;
  uint64_t *cuts; /* n_sides - 1 values; before that the sample */
  int64_t *at;    /* [chunks][n_sides] counts, then places in the result */
  int64_t start[MOST_SIDES + 1];
  _Atomic int32_t differ; /* some value is no number, or a negative zero */
} Sides;

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

/* Some values as they are sorted; false: they are not. */
static bool read_turned(const Sides *s, int64_t row, int64_t n, void *to) {
  copy_turned(to, (const char *)s->of->from.data + row * s->size, n * s->size, s->mask);
  return !fl_part_differ(&s->of->from, row, n);
}

static void sort_at(const Sides *s, int64_t from, int64_t n) {
  char *v = (char *)s->of->out->data + from * s->size;
  fl_vectors_sort(s->lane, v, (size_t)n);
  if (s->mask != 0) copy_turned(v, v, n * s->size, s->mask);
}

static bool sort_alone(const Sides *s) {
  const FlValues *of = s->of;
  for (int64_t row = 0, n; row < of->n; row += n) {
    n = fl_part_min(AT_ONCE, of->n - row);
    if (!read_turned(s, row, n, (char *)of->out->data + row * s->size)) return false;
  }
  sort_at(s, 0, of->n);
  return true;
}

/* ---- by several workers -------------------------------------------------------------------------------- */

/* Cuts that a sample lets expect sides of one size. */
static bool find_cuts(Sides *s) {
  const int64_t n = (int64_t)s->n_sides * SAMPLED, each = s->of->n / n;
  char *cuts = (char *)s->cuts;
  uint64_t seed = (uint64_t)s->of->n;
  for (int64_t i = 0; i < n; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (!read_turned(s, i * each + (int64_t)((seed >> 33) % (uint64_t)each), 1, cuts + i * s->size))
      return false;
  }
  fl_vectors_sort(s->lane, cuts, (size_t)n);
  for (int k = 1; k < s->n_sides; k++)
    memmove(cuts + (k - 1) * s->size, cuts + k * SAMPLED * s->size, (size_t)s->size);
  return true;
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Sides *s = (Sides *)(uintptr_t)env;
  uint64_t some[AT_ONCE * WIDEST / sizeof(uint64_t)];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t last = fl_part_min((c + 1) * CHUNK, s->of->n), *count = s->at + c * s->n_sides;
    for (int64_t row = c * CHUNK, n; row < last; row += n) {
      n = fl_part_min(AT_ONCE, last - row);
      /* relaxed: read when the loop is over. */
      if (!read_turned(s, row, n, some)) atomic_store_explicit(&s->differ, 1, memory_order_relaxed);
      else fl_vectors_count(s->lane, some, (size_t)n, s->cuts, s->n_sides - 1, count);
    }
  }
  return 0;
}

static int32_t spread_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sides *s = env;
  uint64_t some[AT_ONCE * WIDEST / sizeof(uint64_t)];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t last = fl_part_min((c + 1) * CHUNK, s->of->n);
    for (int64_t row = c * CHUNK, n; row < last; row += n) {
      n = fl_part_min(AT_ONCE, last - row);
      (void)read_turned(s, row, n, some);
      fl_vectors_spread(s->lane, some, (size_t)n, s->cuts, s->n_sides - 1, s->at + c * s->n_sides,
                        s->of->out->data);
    }
  }
  return 0;
}

static int32_t sort_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sides *s = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) sort_at(s, s->start[k], s->start[k + 1] - s->start[k]);
  return 0;
}

static FlStatus sort_sides(FlPartMem *m, Sides *s, bool *done) {
  uint64_t cuts[MOST_SIDES * SAMPLED];
  s->cuts = cuts;
  int64_t chunks = (s->of->n + CHUNK - 1) / CHUNK, at = 0;
  double rows = (double)s->of->n / s->n_sides;
  if (!find_cuts(s)) return 0;
  s->at = fl_part_zalloc(m, chunks * s->n_sides, sizeof *s->at);
  if (s->at == NULL || fl_part_for(m->ctx, count_body, s, chunks, 1.0 * CHUNK) != 0) return 1;
  if (atomic_load_explicit(&s->differ, memory_order_relaxed)) return 0;
  for (int k = 0; k < s->n_sides; k++) {
    s->start[k] = at;
    for (int64_t c = 0; c < chunks; c++) {
      int64_t *place = &s->at[c * s->n_sides + k], count = *place;
      *place = at;
      at += count;
    }
  }
  s->start[s->n_sides] = at;
  *done = true;
  return fl_part_for(m->ctx, spread_body, s, chunks, 2.0 * CHUNK) != 0 ||
         fl_part_for(m->ctx, sort_body, s, s->n_sides, 7.0 * rows) != 0;
}

/* Whether there are vectors for values that go to `out`. */
static bool make_sides(const FlPartMem *m, const FlValues *of, const FlArray *out, Sides *s) {
  *s = (Sides){.of = of, .mask = turning(of), .size = (int64_t)fl_dtype_info[of->from.dtype].bytes};
  s->n_sides = of->n > ONE_WORKER ? (int)fl_part_min(fl_ctx_workers(m->ctx), MOST_SIDES) : 1;
  return fl_cpu_level() >= 4 && !fl_buffer_in_file(out->buffer) && lane_of(of->from.dtype, &s->lane);
}

FlStatus fl_values_by_vectors(FlPartMem *m, const FlValues *of, bool *done) {
  Sides s;
  *done = false;
  if (!make_sides(m, of, of->out, &s)) return 0;
  if (s.n_sides > 1) return sort_sides(m, &s, done);
  *done = sort_alone(&s);
  return 0;
}

void fl_values_sort_there(FlPartMem *m, FlValues *of, FlArray *column) {
  Sides s;
  if (column == NULL || !make_sides(m, of, column, &s) || s.n_sides > 1 ||
      fl_part_differ(&of->from, 0, of->n))
    return;
  of->out = fl_array_reuse(column);
  if (of->out == NULL) return;
  if (s.mask != 0) copy_turned(of->out->data, of->out->data, of->n * s.size, s.mask);
  sort_at(&s, 0, of->n);
}
