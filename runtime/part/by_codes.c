/* by_codes.c: the operators text_values and by_codes: what is computed of texts is computed of the different
 * ones of a column, where it knows them (data/text_codes.h), and then looked up for each row.
 *
 * In: a column of texts; what each of its values gives. Out: the values; what each row gives. What always
 * holds: codes are used by both or by neither, also where they are found in between: only where values are
 * fewer than rows. */
#include "data/text_codes.h"
#include "part/part_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS_A_VALUE = 4 }; /* least */

FlStatus fl_rt_text_values(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  FlArray *a = args[0].a;
  const void *codes;
  const FlTextCodes *c = fl_text_codes(a, &codes);
  if (c == NULL || c->dictionary->n == 0 || c->dictionary->n > a->dims[0] / ROWS_A_VALUE) {
    results[0].a = fl_array_ref(a);
    return 0;
  }
  FlArray *out = fl_array_new(ctx, FL_TEXT, 1, &c->dictionary->n);
  if (out == NULL) return 1;
  memcpy(out->data, c->dictionary->texts, (size_t)c->dictionary->n * sizeof(FlText));
  if (fl_array_keep(ctx, out, NULL, &a, 1) != 0) {
    fl_array_unref(out);
    return 1;
  }
  results[0].a = out;
  return 0;
}

typedef struct Look {
  const void *codes, *of;
  void *out;
  int64_t n; /* of `of` */
  int32_t width;
  size_t bytes; /* of a value */
} Look;

/* Rows with codes of a type; under a null a code may be of nothing. */
#define LOOK(Code, T)                                                                                        \
  for (int64_t i = begin; i < end; i++) {                                                                    \
    const int64_t code = ((const Code *)l->codes)[i];                                                        \
    ((T *)l->out)[i] = ((const T *)l->of)[code < l->n ? code : 0];                                           \
  }                                                                                                          \
  return 0;

#define LOOK_UP(T)                                                                                           \
  switch (l->width) {                                                                                        \
  case 1: LOOK(uint8_t, T)                                                                                   \
  case 2: LOOK(uint16_t, T)                                                                                  \
  default: LOOK(uint32_t, T)                                                                                 \
  }

#if defined(__x86_64__)
/* Bytes of at most SHUFFLED texts, of rows of whole vectors; the row behind them. */
enum { SHUFFLED = 16 };
__attribute__((target("avx2"))) static int64_t look_shuffled(const Look *l, int64_t begin, int64_t end) {
  enum { ROWS = 32 };
  uint8_t table[SHUFFLED] = {0};
  memcpy(table, l->of, (size_t)l->n);
  const __m256i of = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)),
                last = _mm256_set1_epi8((char)(l->n - 1));
  for (; begin + ROWS <= end; begin += ROWS) {
    __m256i code = _mm256_loadu_si256((const __m256i *)(const void *)((const uint8_t *)l->codes + begin));
    __m256i proper = _mm256_cmpeq_epi8(_mm256_min_epu8(code, last), code); /* others are as code 0 */
    _mm256_storeu_si256((__m256i *)(void *)((uint8_t *)l->out + begin),
                        _mm256_shuffle_epi8(of, _mm256_and_si256(code, proper)));
  }
  return begin;
}
#endif

static int32_t look_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Look *l = env;
  (void)ctx;
#if defined(__x86_64__)
  if (l->bytes == 1 && l->width == 1 && l->n <= SHUFFLED && fl_cpu_level() >= 3)
    begin = look_shuffled(l, begin, end);
#endif
  switch (l->bytes) {
  case 1: LOOK_UP(uint8_t)
  case 2: LOOK_UP(uint16_t)
  case 4: LOOK_UP(uint32_t)
  default: LOOK_UP(uint64_t)
  }
}

FlStatus fl_rt_by_codes(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  FlArray *of = args[0].a, *a = args[1].a;
  if (of->dims[0] == a->dims[0]) { /* of the rows themselves */
    results[0].a = fl_array_ref(of);
    return 0;
  }
  Look l = {.of = of->data, .n = of->dims[0], .bytes = (size_t)fl_dtype_info[of->dtype].bytes};
  const FlTextCodes *c = fl_text_codes(a, &l.codes);
  FlArray *out = fl_array_new(ctx, of->dtype, 1, a->dims);
  if (out == NULL) return 1;
  l.out = out->data;
  l.width = c->width;
  if (fl_part_for(ctx, look_body, &l, a->dims[0], 0.5) != 0) {
    fl_array_unref(out);
    return 1;
  }
  results[0].a = out;
  return 0;
}
