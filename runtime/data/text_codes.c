/* text_codes.c: codes of texts that hang on the buffer of the texts; see text_codes.h. */
#include "data/text_codes.h"

#include "data/data_internal.h"

#include <stdlib.h>

FlDictionary *fl_dictionary_new(FlCtx *ctx, int64_t n) {
  FlDictionary *d = malloc(sizeof *d + (size_t)n * sizeof *d->texts);
  if (!d) {
    if (ctx) fl_fail(ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){.i = n}, (FlSlot){0});
    return NULL;
  }
  atomic_init(&d->refs, 1);
  d->n = n;
  return d;
}

FlDictionary *fl_dictionary_ref(FlDictionary *d) {
  atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
  return d;
}

void fl_dictionary_unref(FlDictionary *d) {
  /* acq_rel: whoever frees sees every other owner's last use. */
  if (d && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) free(d);
}

static void codes_free(FlTextCodes *c) {
  fl_dictionary_unref(c->dictionary);
  fl_buffer_unref(c->codes);
  free(c);
}

void fl_buffer_forget_codes(FlBuffer *b) {
  FlTextCodes *c = atomic_exchange_explicit(&b->codes, NULL, memory_order_acq_rel);
  if (c) codes_free(c);
}

const FlTextCodes *fl_text_codes(const FlArray *a, const void **codes) {
  if (a->dtype != FL_TEXT) return NULL;
  /* acquire: pairs with the release of whoever attached them. */
  const FlTextCodes *c = atomic_load_explicit(&a->buffer->codes, memory_order_acquire);
  if (!c) return NULL;
  int64_t first = (const FlText *)a->data - (const FlText *)a->buffer->data;
  *codes = (const char *)c->codes->data + first * c->width;
  return c;
}

bool fl_text_codes_attach(const FlArray *a, FlDictionary *dictionary, FlBuffer *codes, int32_t width) {
  FlTextCodes *mine = dictionary->n > 0 ? malloc(sizeof *mine) : NULL, *none = NULL;
  if (mine) *mine = (FlTextCodes){dictionary, codes, width};
  if (mine && atomic_compare_exchange_strong_explicit(&a->buffer->codes, &none, mine, memory_order_acq_rel,
                                                      memory_order_acquire))
    return true;
  fl_dictionary_unref(dictionary);
  fl_buffer_unref(codes);
  free(mine);
  return false;
}
