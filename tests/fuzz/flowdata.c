/* flowdata.c: saved values from anybody: the type's text, the bytes of the value, and both together. */
#include "data/codec.h"
#include "data/data.h"
#include "data/value_type.h"
#include "io/value_check.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(void *arg) { (void)arg; }

/* input := length of the type's text:u8 text value */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size - 1 < data[0]) return 0;
  FlValueType *t = fl_value_type_new((const char *)data + 1, data[0]);
  if (!t) return 0;
  size_t n = size - 1 - data[0], room = (n + 63) / 64 * 64 + 64;
  void *bytes = aligned_alloc(64, room);
  FlType1 *types = calloc((size_t)t->n_parts + 1, sizeof *types);
  FlSlot *values = calloc((size_t)t->n_parts + 1, sizeof *values);
  FlBuffer *keep = NULL;
  if (bytes && types && values) {
    memcpy(bytes, data + 1 + data[0], n);
    fl_value_type_parts(t, types);
    if (fl_codec_decode(bytes, (int64_t)n, nothing, NULL, types, t->n_parts, values, &keep)) {
      fl_value_check(t, values);
      for (int32_t k = 0; k < t->n_parts; k++)
        if (types[k].rank || types[k].depth) fl_array_unref(values[k].a);
      fl_buffer_unref(keep);
    }
  }
  free(bytes);
  free(types);
  free(values);
  fl_value_type_free(t);
  return 0;
}
