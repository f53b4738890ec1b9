/* value_codes.c: order codes of the values of one column: read, and made values again.
 *
 * Always holds: codes compare as unsigned integers as the values do in the order that is asked for, NaN last
 * in both directions; values that are equal have one code. */
#include "part/sort_values.h"

enum { SLICE = 1 << 12 }; /* values that are made at once */

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

FlSlices fl_values_slices(FlCtx *ctx, const FlValues *s) {
  return fl_part_slices(ctx, s->out->data, SLICE * (int64_t)fl_dtype_info[s->from.dtype].bytes, 1);
}
