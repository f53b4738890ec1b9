/* fill.c: writes arrays that are not written yet, by all workers. See fill.h. */
#include "part/fill.h"

#include "data/unwritten.h"
#include "part/part_internal.h"

typedef struct Fill {
  const FlArray *array;
  int64_t begin; /* the first chunk */
} Fill;

static int32_t fill_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Fill *f = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) fl_unwritten_write(f->array, f->begin + k);
  return 0;
}

FlStatus fl_part_fill(FlCtx *ctx, const FlArray *a) {
  int64_t end;
  Fill f = {.array = a};
  if (a == NULL || !fl_array_is_unwritten(a)) return 0;
  fl_unwritten_chunks(a, &f.begin, &end);
  if (f.begin == end) return 0;
  if (fl_unwritten_open(ctx, a, f.begin, end) != 0) return FL_FAULT_MEMORY;
  return fl_part_for(ctx, fill_body, &f, end - f.begin, 2.0 * (double)fl_unwritten_chunk(a));
}

bool fl_part_gives_codes(const FlCtx *ctx, const FlOpDesc *desc) {
  return (desc->codes & FL_CODES_GIVEN) && fl_ctx_cuts(ctx) == NULL;
}

/* Where memory is limited both would count, the rows and what they are taken from. */
bool fl_part_gives_apart(FlCtx *ctx, const FlOpDesc *desc, int32_t of) {
  const int64_t bit = INT64_C(1) << (of < FL_LAST_APART ? of : FL_LAST_APART);
  return (desc->apart & bit) && fl_ctx_cuts(ctx) == NULL && !fl_pool_is_limited(fl_ctx_pool(ctx));
}
