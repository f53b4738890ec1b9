/* coded.c: arrays of texts of which there are codes alone (data/text_codes.h), until somebody reads them.
 *
 * In: codes and their dictionary. Out: an unwritten array (unwritten.h). What always holds: the codes are
 * those of its buffer, and stay when the texts are written. */
#include "data/unwritten_internal.h"

static void write_texts(FlUnwritten *u, int64_t first, int64_t n, void *to) {
  const FlTextCodes *codes = atomic_load_explicit(&u->base.codes, memory_order_acquire);
  fl_texts_of_codes(codes, (const char *)codes->codes->data + first * codes->width, n, to);
}

static bool read_texts(FlUnwritten *u, int64_t first, int64_t n, void *to) {
  write_texts(u, first, n, to);
  return true;
}

static const FlUnwrittenHow by_codes = {.write = write_texts, .read = read_texts};

FlArray *fl_array_new_coded(FlCtx *ctx, int64_t n, FlArray *like, const FlTextCodes *known, FlBuffer *codes) {
  FlArray *a = fl_array_new_unwritten(ctx, n, like, &by_codes);
  if (a && fl_text_codes_attach(a, fl_dictionary_ref(known->dictionary), fl_buffer_ref(codes), known->width))
    return a;
  fl_array_unref(a);
  return NULL;
}

void fl_array_give_codes(FlCtx *ctx, FlArray **a, FlTextCodes codes, bool alone) {
  const int64_t n = (*a)->dims[0];
  FlArray *coded = alone ? fl_array_new_coded(ctx, n, *a, &codes, codes.codes) : NULL;
  if (coded) {
    fl_array_unref(*a);
    *a = coded;
    fl_dictionary_unref(codes.dictionary);
    fl_buffer_unref(codes.codes);
    return;
  }
  if (alone) fl_texts_of_codes(&codes, codes.codes->data, n, (*a)->data);
  (void)fl_text_codes_attach(*a, codes.dictionary, codes.codes, codes.width);
}

bool fl_array_is_coded(const FlArray *a) {
  const FlUnwritten *u = fl_unwritten_of(a);
  return u && u->how == &by_codes;
}

/* Under a null a code may be of nothing. */
#define TEXTS_OF(T)                                                                                          \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    const int64_t code = ((const T *)codes)[i];                                                              \
    to[i] = d->texts[code < d->n ? code : 0];                                                                \
  }                                                                                                          \
  break;

void fl_texts_of_codes(const FlTextCodes *known, const void *codes, int64_t n, FlText *to) {
  const FlDictionary *d = known->dictionary;
  switch (known->width) {
  case 1: TEXTS_OF(uint8_t)
  case 2: TEXTS_OF(uint16_t)
  default: TEXTS_OF(uint32_t)
  }
}
#undef TEXTS_OF
