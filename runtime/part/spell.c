/* spell.c: writes texts of which there are codes alone, by all workers. See spell.h. */
#include "part/spell.h"

#include "data/text_codes.h"
#include "part/part_internal.h"

typedef struct Spell {
  const FlArray *array;
  int64_t begin; /* the first chunk */
} Spell;

static int32_t spell_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Spell *s = env;
  (void)ctx;
  for (int64_t k = begin; k < end; k++) fl_coded_write(s->array, s->begin + k);
  return 0;
}

FlStatus fl_part_spell(FlCtx *ctx, const FlArray *a) {
  int64_t end;
  Spell s = {.array = a};
  if (a == NULL || !fl_array_is_coded(a)) return 0;
  fl_coded_chunks(a, &s.begin, &end);
  if (s.begin == end) return 0;
  if (fl_coded_open(ctx, a, s.begin, end) != 0) return FL_FAULT_MEMORY;
  return fl_part_for(ctx, spell_body, &s, end - s.begin, 2.0 * FL_CODED_CHUNK);
}

bool fl_part_gives_codes(const FlCtx *ctx, const FlOpDesc *desc) {
  return (desc->codes & FL_CODES_GIVEN) && fl_ctx_cuts(ctx) == NULL;
}
