/* value_codes.c: order codes of the values of one column: read, sorted, and made values again.
 *
 * Always holds: codes compare as unsigned integers as the values do in the order that is asked for, NaN last
 * in both directions; values that are equal have one code. */
#include "part/sort_values.h"
#include "part/sort_vectors.h"

enum {
  SLICE = 1 << 12, /* values that are made at once */
  FEW = 32         /* codes that are inserted at once */
};

/* The codes of n rows. */
void fl_values_codes(const void *env, int64_t row, int64_t n, uint64_t *code) {
  const FlValues *s = env;
  fl_part_read_code(&s->from, row, n, code);
  if (s->flip == 0) return;
  bool is_float = fl_dtype_info[s->from.dtype].kind == FL_KIND_FLOAT;
  for (int64_t i = 0; i < n; i++) code[i] = is_float && code[i] == UINT64_MAX ? code[i] : ~code[i];
}

static double f64_of(uint64_t code) {
  static const uint64_t nan = UINT64_C(0x7ff8) << 48;
  double v;
  if (code != UINT64_MAX) return fl_part_of_code(code);
  memcpy(&v, &nan, sizeof v);
  return v;
}

static float f32_of(uint64_t code) {
  uint32_t ordered = (uint32_t)code, bits = code == UINT64_MAX
                                                ? UINT32_C(0x7fc00000)
                                                : (ordered >> 31 ? ordered ^ UINT32_C(1) << 31 : ~ordered);
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* The values that have these codes, at `at` of the result. */
void fl_values_write(const FlValues *s, FlSlices *slices, const uint64_t *code, int64_t n, int64_t at) {
  int64_t size = (int64_t)fl_dtype_info[s->from.dtype].bytes, some;
  FlKind kind = fl_dtype_info[s->from.dtype].kind;
  bool is_signed = kind == FL_KIND_SIGNED || kind == FL_KIND_TIME || kind == FL_KIND_DECIMAL;
  uint64_t sign = is_signed ? UINT64_C(1) << 63 : 0;
  for (; n > 0; n -= some, code += some, at += some) {
    void *v = fl_slice(slices, (char *)s->out->data + at * size);
    some = fl_part_min(n, SLICE);
    if (kind == FL_KIND_FLOAT) {
      for (int64_t i = 0; i < some; i++) {
        uint64_t c = code[i] == UINT64_MAX ? code[i] : code[i] ^ s->flip;
        if (size == 8) ((double *)v)[i] = f64_of(c);
        else ((float *)v)[i] = f32_of(c);
      }
    } else {
      for (int64_t i = 0; i < some; i++) {
        uint64_t bits = code[i] ^ s->flip ^ sign;
        if (size == 8) ((uint64_t *)v)[i] = bits;
        else if (size == 4) ((uint32_t *)v)[i] = (uint32_t)bits;
        else if (size == 2) ((uint16_t *)v)[i] = (uint16_t)bits;
        else ((uint8_t *)v)[i] = (uint8_t)bits;
      }
    }
    fl_slice_done(slices, some * size);
  }
}

static void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift) {
  enum { DIGITS = 1 << 8 };
  int64_t place[DIGITS] = {0}, at = 0;
  for (int64_t i = 0; i < n; i++) place[from[i] >> shift & (DIGITS - 1)]++;
  for (int k = 0; k < DIGITS; k++) {
    int64_t count = place[k];
    place[k] = at;
    at += count;
  }
  for (int64_t i = 0; i < n; i++) to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* False: it would take many moves. */
static bool insert_all(uint64_t *p, int64_t n) {
  int64_t moves = 0, most = 8 * n + FEW * FEW;
  for (int64_t i = 1; i < n && moves <= most; i++) {
    uint64_t x = p[i];
    int64_t j = i;
    for (; j > 0 && p[j - 1] > x; j--) p[j] = p[j - 1];
    p[j] = x;
    moves += i - j;
  }
  return moves <= most;
}

/* By as many of the highest bits that differ as tell most of them apart, lowest digit first, then by
 * insertion; by all bits where that leaves too many in their places. The result is in `p`. */
static void sort_by_digits(uint64_t *p, uint64_t *spare, int64_t n) {
  enum { DIGIT = 8 };
  uint64_t differ = 0, falls = 0;
  for (int64_t i = 1; i < n; i++) {
    differ |= p[i] ^ p[0];
    falls |= p[i] < p[i - 1];
  }
  if (falls == 0) return;
  int top = fl_part_bits(differ), digits = n > FEW ? fl_part_bits((uint64_t)n) / DIGIT + 1 : 0;
  for (;; digits = (top + DIGIT - 1) / DIGIT) {
    int low = (int)fl_part_max(0, top - digits * DIGIT);
    uint64_t *from = p, *to = spare;
    for (int k = 0; k < digits; k++) {
      sort_digit(from, to, n, low + k * DIGIT);
      uint64_t *other = from;
      from = to;
      to = other;
    }
    if (from != p) memcpy(p, from, (size_t)n * sizeof *p);
    if (insert_all(p, n)) return;
  }
}

void fl_values_sort_codes(uint64_t *p, uint64_t *spare, int64_t n) {
  if (fl_cpu_level() >= 4) fl_vectors_sort(FL_LANE_U64, p, (size_t)n);
  else sort_by_digits(p, spare, n);
}

FlSlices fl_values_slices(FlCtx *ctx, const FlValues *s) {
  return fl_part_slices(ctx, s->out->data, SLICE * (int64_t)fl_dtype_info[s->from.dtype].bytes, 1);
}
