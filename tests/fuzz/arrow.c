/* arrow.c: fuzz target: any bytes as an Arrow stream; what is read of it is read to the last element. */
#include "io/arrow.h"
#include "data/data.h"

#include <stdlib.h>

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const columns[] = {"i:i64?",  "f:f64?",  "t:text?",    "v:f64[]",
                                        "b:bool?", "d:date?", "w:datetime?"};
  for (int32_t n = 1; n <= 7; n += 3) {
    FlTableWanted w[7];
    FlInput in;
    FlIoError e;
    int64_t rows;
    for (int32_t k = 0; k < n; k++) (void)fl_table_wanted(columns[k], &w[k]);
    if (!fl_input_of_bytes(NULL, (const char *)data, size, "stream", &in, &e)) abort();
    bool ok = fl_arrow_read(NULL, &in, "stream", w, n, &rows, &e);
    fl_input_close(&in);
    for (int32_t k = 0; ok && k < n; k++) {
      sink += fl_array_digest(w[k].values).lo;
      fl_array_unref(w[k].values);
      fl_array_unref(w[k].valid);
    }
  }
  return 0;
}
