/* arrow.c: fuzz target: any bytes as an Arrow stream or file; what is read of it is read to the last element.
 */
#include "io/arrow.h"
#include "data/data.h"

#include <stdlib.h>

static volatile uint64_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* the columns of the seeds, each by itself: a stream has them or not */
  static const char *const columns[] = {"i:i64?",   "f:f64?",         "v:f64[]",   "vl:bool[]",   "ls:text?",
                                        "sv:text?", "when:datetime?", "d64:date?", "c:category?", "cat:text?",
                                        "nul:i32?", "z:bool?",        "name:text?"};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
    FlTableWanted w;
    FlInput in;
    FlIoError e;
    int64_t rows;
    (void)fl_table_wanted(columns[k], &w);
    if (!fl_input_of_bytes(NULL, (const char *)data, size, "stream", &in, &e)) abort();
    bool ok = fl_arrow_read(NULL, &in, "stream", k % 2, &w, 1, &rows, &e);
    fl_input_close(&in);
    if (!ok) continue;
    sink += fl_array_digest(w.values).lo;
    if (w.levels) sink += fl_array_digest(w.levels).lo;
    fl_table_wanted_reset(&w);
  }
  return 0;
}
