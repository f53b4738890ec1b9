/* rows.c: keeping rows by a mask.
 *
 * Comes in: a mask, arrays of any type and rank. Goes out: new arrays of the rows that are kept, in order;
 * the arrays themselves where all are kept. Always holds: rows of texts keep the bytes of their source alive,
 * and its codes when it has any (data/text_codes.h); rows of lists hold their own references. */
#include "part/part_internal.h"
#include "part/spell.h"
#include "data/text_codes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

size_t fl_part_row_word(const void *from, size_t row_bytes) {
  size_t unit = row_bytes < sizeof(uint64_t) ? row_bytes : sizeof(uint64_t);
  return unit > 0 && (uintptr_t)from % unit == 0 ? row_bytes : 0;
}

bool fl_part_goes_by_codes(const FlArray *a, int64_t n) {
  const bool many = n >= FL_PART_FEW_ROWS || n >= fl_coded_from();
  return a->dtype == FL_TEXT && a->rank == 1 && (many || fl_array_is_coded(a));
}

FlArray *fl_part_new_rows(FlCtx *ctx, FlArray *like, int64_t m) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, like->dims, sizeof dims);
  dims[0] = m;
  FlArray *a = fl_array_new(ctx, like->dtype, like->rank, dims);
  if (a != NULL && fl_dtype_is_text(a->dtype) && fl_array_keep(ctx, a, NULL, &like, 1) != 0) {
    fl_array_unref(a);
    return NULL;
  }
  return a;
}

typedef struct Filter {
  const uint8_t *mask;
  int64_t n;
  int64_t *place; /* [chunks + 1] */
  const char *from;
  char *to;
  size_t row_bytes;
  bool list, wide; /* the processor has vectors of 64 bytes that close gaps */
} Filter;

enum { EIGHT = 8, FEW = 16 }; /* FEW: of so many rows one is kept, at most */
static const uint64_t ALL_EIGHT = UINT64_C(0x0101010101010101);

int64_t fl_part_count_true(const uint8_t *mask, int64_t n) {
  enum { WORD = 8, MOST = UINT8_MAX }; /* words until a byte of their sum is full */
  const uint64_t low = ALL_EIGHT * INT8_MAX, evens = UINT64_C(0x00ff00ff00ff00ff),
                 sum_up = UINT64_C(0x0001000100010001);
  int64_t ones = 0, i = 0;
  while (i + WORD <= n) {
    uint64_t sum = 0, word;
    int64_t last = fl_part_min(n / WORD * WORD, i + WORD * MOST);
    for (; i < last; i += WORD) {
      memcpy(&word, mask + i, sizeof word);
      sum += (((word & low) + low) | word) >> 7 & ALL_EIGHT; /* of each byte: is it more than 0 */
    }
    ones += (int64_t)(((sum & evens) + (sum >> 8 & evens)) * sum_up >> 48);
  }
  for (; i < n; i++) ones += mask[i] != 0;
  return ones;
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Filter *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    fl_part_chunk(c, f->n, &from, &to);
    f->place[c + 1] = fl_part_count_true(f->mask + from, to - from);
  }
  return 0;
}

#if defined(__x86_64__)
/* The first row from i on of which one of 64 may be kept, where few are; `to`: behind the last of the chunk.
 */
__attribute__((target("avx512f,avx512bw"))) static inline int64_t skip_dropped(const uint8_t *mask, int64_t i,
                                                                               int64_t to) {
  enum { ROWS = 64 };
  while (i + ROWS <= to &&
         _mm512_test_epi8_mask(_mm512_loadu_si512(mask + i), _mm512_loadu_si512(mask + i)) == 0)
    i += ROWS;
  return i;
}

/* Rows by vectors, while as many as a vector has are still to be kept, so that nothing is written behind the
 * chunk's places: where the others begin. `kept`: a bit for each row of the vector that is kept. */
#define BY_VECTORS(NAME, FEATURES, T, N, KEPT, COMPRESS)                                                     \
  __attribute__((target("avx512f,avx512bw,avx512vl,popcnt" FEATURES))) static int64_t NAME(                  \
      const Filter *f, int64_t i, int64_t to_row, int64_t *place, int64_t end_at) {                          \
    const T *from = (const T *)(const void *)f->from;                                                        \
    const uint8_t *mask = f->mask;                                                                           \
    T *to = (T *)(void *)f->to;                                                                              \
    int64_t at = *place;                                                                                     \
    bool few = (end_at - at) * FEW < to_row - i;                                                             \
    for (; at + (N) <= end_at; i += (N)) {                                                                   \
      if (few) i = skip_dropped(mask, i, to_row);                                                            \
      uint64_t kept = KEPT;                                                                                  \
      _mm512_storeu_si512(to + at, COMPRESS(kept, _mm512_loadu_si512(from + i)));                            \
      at += __builtin_popcountll(kept);                                                                      \
    }                                                                                                        \
    *place = at;                                                                                             \
    return i;                                                                                                \
  }
#define KEPT_64 _mm512_test_epi8_mask(_mm512_loadu_si512(mask + i), _mm512_loadu_si512(mask + i))
#define KEPT_32                                                                                              \
  _mm256_test_epi8_mask(_mm256_loadu_si256((const __m256i *)(const void *)(mask + i)),                       \
                        _mm256_loadu_si256((const __m256i *)(const void *)(mask + i)))
#define KEPT_16                                                                                              \
  _mm_test_epi8_mask(_mm_loadu_si128((const __m128i *)(const void *)(mask + i)),                             \
                     _mm_loadu_si128((const __m128i *)(const void *)(mask + i)))
#define KEPT_8                                                                                               \
  _mm_test_epi8_mask(_mm_loadl_epi64((const __m128i *)(const void *)(mask + i)),                             \
                     _mm_loadl_epi64((const __m128i *)(const void *)(mask + i)))
#define KEPT_4 _mm_test_epi8_mask(_mm_loadu_si32(mask + i), _mm_loadu_si32(mask + i))
#define COMPRESS_8(k, x) _mm512_maskz_compress_epi8((__mmask64)(k), x)
#define COMPRESS_16(k, x) _mm512_maskz_compress_epi16((__mmask32)(k), x)
#define COMPRESS_32(k, x) _mm512_maskz_compress_epi32((__mmask16)(k), x)
#define COMPRESS_64(k, x) _mm512_maskz_compress_epi64((__mmask8)(k), x)
#define COMPRESS_128(k, x) _mm512_maskz_compress_epi64((__mmask8)(_pdep_u32((uint32_t)(k), 0x55) * 3), x)
BY_VECTORS(filter_bytes, ",avx512vbmi2", uint8_t, 64, KEPT_64, COMPRESS_8)
BY_VECTORS(filter_pairs, ",avx512vbmi2", uint16_t, 32, KEPT_32, COMPRESS_16)
BY_VECTORS(filter_halves, "", uint32_t, 16, KEPT_16, COMPRESS_32)
BY_VECTORS(filter_words, "", uint64_t, 8, KEPT_8, COMPRESS_64)
BY_VECTORS(filter_texts, ",bmi2", FlText, 4, KEPT_4, COMPRESS_128)

static int64_t by_vectors(const Filter *f, size_t word, int64_t i, int64_t to, int64_t *place,
                          int64_t end_at) {
  if (!f->wide) return i;
  const bool small = __builtin_cpu_supports("avx512vbmi2");
  switch (word) {
  case 1: return small ? filter_bytes(f, i, to, place, end_at) : i;
  case sizeof(uint16_t): return small ? filter_pairs(f, i, to, place, end_at) : i;
  case sizeof(uint32_t): return filter_halves(f, i, to, place, end_at);
  case sizeof(uint64_t): return filter_words(f, i, to, place, end_at);
  case sizeof(FlText): return filter_texts(f, i, to, place, end_at);
  default: return i;
  }
}
#endif

/* Writes every row at the next place and moves on if it is kept; stops when the chunk's places are full.
 * Eight rows at once where all or none of them are kept. */
#define FILTER(T)                                                                                            \
  {                                                                                                          \
    const T *from = (const T *)(const void *)f->from;                                                        \
    T *to = (T *)(void *)f->to;                                                                              \
    int64_t i = first;                                                                                       \
    for (uint64_t kept; at + EIGHT <= end_at; i += EIGHT) {                                                  \
      memcpy(&kept, f->mask + i, sizeof kept);                                                               \
      if (kept == 0) continue;                                                                               \
      if (kept == ALL_EIGHT) {                                                                               \
        memcpy(to + at, from + i, EIGHT * sizeof *to);                                                       \
        at += EIGHT;                                                                                         \
        continue;                                                                                            \
      }                                                                                                      \
      for (int64_t k = i; k < i + EIGHT; k++) {                                                              \
        to[at] = from[k];                                                                                    \
        at += f->mask[k] != 0;                                                                               \
      }                                                                                                      \
    }                                                                                                        \
    for (; at < end_at; i++) {                                                                               \
      to[at] = from[i];                                                                                      \
      at += f->mask[i] != 0;                                                                                 \
    }                                                                                                        \
    break;                                                                                                   \
  }

static void filter_chunk(const Filter *f, int64_t first, int64_t at, int64_t end_at) {
  if (f->list) {
    FlArray *const *from = (FlArray *const *)(const void *)f->from;
    FlArray **to = (FlArray **)(void *)f->to;
    int64_t width = (int64_t)(f->row_bytes / sizeof *from);
    for (int64_t i = first; at < end_at; i++) {
      if (!f->mask[i]) continue;
      for (int64_t k = 0; k < width; k++) to[at * width + k] = fl_array_ref(from[i * width + k]);
      at++;
    }
    return;
  }
  size_t word = fl_part_row_word(f->from, f->row_bytes);
#if defined(__x86_64__)
  first = by_vectors(f, word, first, fl_part_min(f->n, first + FL_PART_CHUNK), &at, end_at);
#endif
  switch (word) {
  case 1: FILTER(uint8_t)
  case 2: FILTER(uint16_t)
  case 4: FILTER(uint32_t)
  case 8: FILTER(uint64_t)
  case 16: FILTER(FlText)
  default: {
    int64_t row_bytes = (int64_t)f->row_bytes;
    for (int64_t i = first; at < end_at; i++) {
      if (f->mask[i]) memcpy(f->to + at++ * row_bytes, f->from + i * row_bytes, f->row_bytes);
    }
  }
  }
}

static int32_t filter_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Filter *f = env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++) filter_chunk(f, c * FL_PART_CHUNK, f->place[c], f->place[c + 1]);
  return 0;
}

static FlStatus filter_all(FlPartMem *m, const Filter *f) {
  return fl_part_for(m->ctx, filter_body, f, fl_part_chunks(f->n),
                     FL_PART_CHUNK * (0.7 + 0.1 * (double)f->row_bytes));
}

/* The kept rows' codes of texts. NULL: out of memory, recorded. */
static FlBuffer *compress_codes(FlPartMem *m, const Filter *of, const FlTextCodes *known, const void *codes,
                                int64_t kept) {
  Filter f = *of;
  FlBuffer *to = fl_buffer_new(m->ctx, kept * known->width);
  if (to == NULL) return NULL;
  f.from = codes;
  f.to = to->data;
  f.row_bytes = (size_t)known->width;
  if (filter_all(m, &f) == 0) return to;
  fl_buffer_unref(to);
  return NULL;
}

/* Texts by their codes. */
typedef struct Expand {
  const FlTextCodes *known;
  const void *codes;
  FlText *to;
} Expand;

static int32_t expand_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Expand *x = env;
  (void)ctx;
  fl_texts_of_codes(x->known, (const char *)x->codes + begin * x->known->width, end - begin, x->to + begin);
  return 0;
}

/* The kept rows of texts that have codes; *done: they are written, or need not be, as `alone` says that codes
 * are enough. They are written by their codes, where these are of so few texts that a cache holds them, as a
 * row is then a byte or two to read in place of a text's sixteen, and where there is nothing else. */
static FlStatus compress_coded(FlPartMem *m, const Filter *f, FlArray *from, int64_t kept, bool alone,
                               FlArray **to, bool *done) {
  enum { CACHED = 1 << 11 };
  const void *codes;
  const FlTextCodes *known = fl_part_goes_by_codes(from, kept) ? fl_text_codes(from, &codes) : NULL;
  if (known == NULL) return 0;
  FlBuffer *to_codes = compress_codes(m, f, known, codes, kept);
  if (to_codes == NULL) return 1;
  if (alone && kept >= fl_coded_from()) *to = fl_array_new_coded(m->ctx, kept, from, known, to_codes);
  *done = *to != NULL;
  if (!*done) *to = fl_part_new_rows(m->ctx, from, kept);
  FlStatus status = *to == NULL;
  if (status == 0 && !*done && (known->dictionary->n <= CACHED || fl_array_is_coded(from))) {
    Expand x = {.known = known, .codes = to_codes->data, .to = (*to)->data};
    status = fl_part_for(m->ctx, expand_body, &x, kept, 0.5);
    *done = true;
  }
  if (status == 0 && !fl_array_is_coded(*to)) {
    (void)fl_text_codes_attach(*to, fl_dictionary_ref(known->dictionary), to_codes, known->width);
    return 0;
  }
  fl_buffer_unref(to_codes);
  return status;
}

static FlStatus compress_one(FlPartMem *m, const FlOpDesc *desc, Filter *f, FlArray *from, int64_t kept,
                             FlArray **out) {
  bool done = false;
  if (from->dims[0] != f->n) return fl_part_fail_shape(m->ctx, desc, f->n, from->dims[0]);
  if (kept == f->n) {
    *out = fl_array_ref(from);
    return 0;
  }
  if (compress_coded(m, f, from, kept, fl_part_gives_codes(m->ctx, desc), out, &done) != 0) return 1;
  if (*out == NULL) *out = fl_part_new_rows(m->ctx, from, kept);
  if (*out == NULL) return 1;
  f->from = from->data;
  f->to = (*out)->data;
  f->row_bytes = (size_t)fl_array_row_count(from) * (size_t)fl_dtype_info[from->dtype].bytes;
  f->list = from->dtype == FL_LIST;
  return done || f->row_bytes == 0 ? 0 : filter_all(m, f);
}

FlStatus fl_rt_compress(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  Filter f = {.mask = args[0].a->data, .n = args[0].a->dims[0], .wide = fl_cpu_level() >= 4};
  int64_t chunks = fl_part_chunks(f.n);
  int32_t n_arrays = desc->n_args - 1;
  f.place = fl_part_alloc(&mem, chunks + 1, sizeof *f.place);
  FlStatus status = f.place == NULL ? 1 : fl_part_for(ctx, count_body, &f, chunks, 0.2 * FL_PART_CHUNK);
  if (status == 0) {
    f.place[0] = 0;
    for (int64_t c = 0; c < chunks; c++) f.place[c + 1] += f.place[c];
  }
  for (int32_t k = 0; k < n_arrays; k++) results[1 + k].a = NULL;
  for (int32_t k = 0; k < n_arrays && status == 0; k++) {
    status = compress_one(&mem, desc, &f, args[1 + k].a, f.place[chunks], &results[1 + k].a);
  }
  if (status == 0) {
    results[0].i = f.place[chunks];
  } else {
    for (int32_t k = 0; k < n_arrays; k++) fl_array_unref(results[1 + k].a);
  }
  fl_part_mem_reset(&mem);
  return status;
}
